"""One large move ends on the branch on which the machine is: against the closed form of the four-bar."""

import math
from dataclasses import replace

import numpy as np
import pytest

from core.errors import AssemblyError
from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Model, Pose

HEAVY = Inertia(ixx=1.0, iyy=1.0, izz=1.0)


def pins(lengths, angle):
    """Pins B and C of a four-bar from (0, 0) to (d, 0), C on the left of the line from B to D; None: it is open."""
    a, b, c, d = lengths
    B, D = a * np.array([math.cos(angle), math.sin(angle)]), np.array([d, 0.0])
    far = float(np.linalg.norm(D - B))
    if not abs(b - c) <= far <= b + c:
        return None
    turned = math.atan2(*(D - B)[::-1]) + math.acos((b * b + far * far - c * c) / (2.0 * b * far))
    return B, B + b * np.array([math.cos(turned), math.sin(turned)])


def placed(point):
    return Pose(position=(float(point[0]), 0.0, float(point[1])))


def hinge(name, parent, child, a, b=(0.0, 0.0)):
    return Joint(name=name, parent=parent, child=child, a=placed(a), b=placed(b), axis=(0.0, -1.0, 0.0))


def four_bars(lengths, angle, copies=1):
    """The same coupler and rocker `copies` times on one crank, drawn where it closes."""
    (B, C), D = pins(lengths, angle), np.array([lengths[3], 0.0])
    names, joints = ["crank"], [hinge("A", "world", "crank", (0.0, 0.0))]
    for k in range(copies):
        names += [f"coupler{k}", f"rocker{k}"]
        joints += [
            hinge(f"B{k}", "crank", f"coupler{k}", B),
            hinge(f"C{k}", f"coupler{k}", f"rocker{k}", C - B),
            hinge(f"D{k}", f"rocker{k}", "world", D - C, D),
        ]
    bodies = tuple(Body(name=name, mass=1.0, inertia=HEAVY) for name in names)
    return Mechanism(Model(name="four-bars", bodies=bodies, joints=tuple(joints)))


def off(mech, q, lengths, angle):
    """How far the pins C are from where they are on the branch as drawn, m."""
    C = pins(lengths, angle)[1]
    rockers = [name for name in mech.frame_names if name.startswith("rocker")]
    return max(float(np.max(np.abs(np.array(mech.frame(q, name))[[0, 2], 3] - C))) for name in rockers)


@pytest.mark.parametrize(
    ("lengths", "turns"),
    [
        ((1.0, 3.0, 2.5, 3.0), (-2.0, 3.0)),
        ((1.0, 2.002, 1.0, 2.0), (3.0, 5.0)),
        ((1.0, 1.0, 1.0, 1.02), (-0.6, -2.0)),
        ((0.3, 0.6, 0.3 + 3e-8, 0.6), (-1.5, 4.0)),
    ],
)
def test_a_large_move_past_a_near_change_point(lengths, turns):
    mech = four_bars(lengths, 0.5, copies=2)
    for turn in turns:
        assert off(mech, mech.move(mech.rest(), {"A": turn}), lengths, 0.5 + turn) < 1e-6


def test_an_exact_parallelogram_goes_straight_on():
    mech = four_bars((0.37, 0.74, 0.37, 0.74), 0.5)
    q = mech.move(mech.rest(), {"A": -1.5})
    C = np.array([0.74, 0.0]) + 0.37 * np.array([math.cos(-1.0), math.sin(-1.0)])
    np.testing.assert_allclose(np.array(mech.frame(q, "rocker0"))[[0, 2], 3], C, atol=1e-8)


def test_many_turns_end_where_one_part_of_a_turn_does():
    lengths = (0.3, 0.9, 0.75, 0.9)
    mech = four_bars(lengths, 0.5)
    q = mech.move(mech.rest(), {"A": 100.0})
    assert q[mech.q_names.index("A")] == 100.0
    assert off(mech, q, lengths, 100.5) < 1e-8


def test_the_end_of_a_loop_is_reached_however_far_beyond_it_is_asked():
    """Slider–crank with a rod shorter than the crank: its end is where they are at right angles."""
    rod = Joint(name="B", parent="crank", child="rod", a=placed((0.2, 0.0)), axis=(0.0, -1.0, 0.0), rest=(-0.7,))
    slide = Joint(name="S", kind="prismatic", parent="world", child="block", axis=(1.0, 0.0, 0.0))
    joints = (
        replace(hinge("A", "world", "crank", (0.0, 0.0)), rest=(0.3,)),
        rod,
        hinge("C", "rod", "block", (0.15, 0.0)),
        slide,
    )
    bodies = tuple(Body(name=name, mass=1.0, inertia=HEAVY) for name in ("crank", "rod", "block"))
    mech = Mechanism(Model(name="short rod", bodies=bodies, joints=joints))
    end = math.asin(0.75)
    for beyond in (1e-4, 0.01, 0.2, 1.0):
        q = mech.move(mech.rest(), {"A": end + beyond})
        assert float(mech.coordinate(q, "A")[0]) == pytest.approx(end, abs=1e-6)
        assert np.max(np.abs(mech.constraint_residual(q))) < 1e-9


def moved_or_refused(mech, turn):
    """The position, and the words of the refusal if there is one."""
    try:
        return mech.move(mech.rest(), {"A": turn}), ""
    except AssemblyError as error:
        return error.q, str(error)


@pytest.mark.parametrize("excess", [1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5])
@pytest.mark.parametrize("shape", [(0.4, 0.4, 0.4, 0.4), (0.4, 0.7, 0.4, 0.7)])
def test_branches_that_hardly_part_are_followed_or_refused_by_name(shape, excess):
    """The ground is longer than the coupler by an excess: the crank can pass, and C stays on its side."""
    lengths = (*shape[:3], shape[3] + excess)
    mech = four_bars(lengths, 0.7)
    q, refused = moved_or_refused(mech, -1.5)
    if excess > 5e-6 or not refused:
        assert off(mech, q, lengths, -0.8) < 1e-6
    else:
        assert all(name in refused for name in ("loop", "'A' at -40.1", "B0", "C0", "D0", "Also give a coordinate"))


@pytest.mark.parametrize("start", [0.0, math.pi])
def test_from_a_change_point_another_joint_decides(start):
    """All bars lie in a line: the crank can go on in a parallelogram, or against the rocker in an antiparallelogram."""
    lengths = (0.4, 0.8, 0.4, 0.8)
    mech = four_bars(lengths, start)
    with pytest.raises(AssemblyError, match="two branches"):
        mech.move(mech.rest(), {"A": 0.5})
    (B, C), D = pins(lengths, start + 0.5), np.array([0.8, 0.0])
    along = (D - B) / np.linalg.norm(D - B)
    mirrored = B + 2.0 * along * (along @ (C - B)) - (C - B)
    drawn = math.atan2(*(pins(lengths, start)[1] - D)[::-1])
    for end in (C, mirrored):
        turned = math.remainder(math.atan2(*(end - D)[::-1]) - drawn, 2.0 * math.pi)
        q = mech.move(mech.rest(), {"A": 0.5, "D0": -turned})  # of the world relative to the rocker
        np.testing.assert_allclose(np.array(mech.frame(q, "rocker0"))[[0, 2], 3], end, atol=1e-7)
