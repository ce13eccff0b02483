"""Singular poses by name: determinants, published null vectors, textbook poses of closed machines."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from core.errors import ModelError
from core.mechanism import Mechanism
from core.model import Body, Frame, Joint, Limit, Model, Pose
from tests.analysis.arms.six_axis_arms import OFFSET_SHOULDER, PUMA, STANFORD, UR5, arm, named_arm

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "ik_singular_poses_puma.json").read_text())
POSES = [name for name, value in REFERENCE["reference"].items() if "lost_twist_v_then_omega" in value]


@pytest.mark.parametrize("name", POSES)
def test_published_singular_poses(name):
    mech = arm([row[:3] for row in REFERENCE["parameters"]["dh"]])
    given = REFERENCE["reference"][name]
    q = np.array(given["q"])
    found = mech.singularities(q)
    nearest = found.nearest
    assert (nearest.name, nearest.kind, found.rank, found.full_rank) == (name, "type 1", given["rank"], 6)
    assert nearest.distance < 1e-9
    assert abs(nearest.measure) < 1e-9
    assert math.isinf(found.condition)
    twist = np.roll(nearest.lost.wrench, 3)  # force and torque
    published = np.array(given["lost_twist_v_then_omega"])
    np.testing.assert_allclose(twist / np.linalg.norm(twist), published * np.sign(published @ twist), atol=1e-8)
    rates = np.array(given["self_motion_joint_rates"])
    mine = nearest.speeds / np.linalg.norm(nearest.speeds)
    np.testing.assert_allclose(mine, rates * np.sign(rates @ mine), atol=1e-7)


@pytest.mark.parametrize("rows", [PUMA, OFFSET_SHOULDER, UR5], ids=["puma", "offset shoulder", "ur5"])
def test_every_part_leads_to_a_singular_pose(rows):
    """The change of one joint by the distance makes the determinant zero; the measure has its sign."""
    mech = arm(rows)
    rng = np.random.default_rng(4)
    signs = set()
    for _ in range(20):
        q = rng.uniform(-3.0, 3.0, 6)
        found = mech.singularities(q)
        assert {"elbow", "wrist"} <= {each.name for each in found.singularities}
        for each in found.singularities:
            J = mech.jacobian(each.q, "tool")
            assert abs(np.linalg.det(J)) < 1e-12
            np.testing.assert_allclose(each.lost.wrench @ J, 0.0, atol=1e-12)
            np.testing.assert_allclose(J @ each.speeds, 0.0, atol=1e-12)
            gone = np.abs(each.q - q)
            assert np.count_nonzero(gone > 1e-12) == 1
            if each.coordinate:
                assert gone[mech.joint_q(each.coordinate)][0] == pytest.approx(each.distance)
        if len(found.singularities) == 3:
            product = math.prod(each.measure for each in found.singularities)
            signs.add(np.sign(product * np.linalg.det(mech.jacobian(q, "tool"))))
    assert len(signs) == 1


def test_the_slide_of_a_stanford_arm_counts_in_metres():
    mech = named_arm("stanford")
    q = np.array([0.3, 0.7, 0.2, 0.4, -0.8, 0.5])
    each = mech.singularities(q)["joint3"]
    # behind the offset of 0.1 m along the slide the wrist is at the height of the shoulder
    assert (each.dimension, each.coordinate) == ("length", "joint3")
    assert each.distance == pytest.approx(q[2] + STANFORD[2][2])
    assert each.q[2] == pytest.approx(-STANFORD[2][2])


def test_positions_in_an_array():
    mech = arm(OFFSET_SHOULDER)
    Q = np.random.default_rng(1).uniform(-3.0, 3.0, (50, 6))
    found = mech.singularities(Q)
    assert found.names == ("shoulder", "elbow", "wrist")
    for k in (0, 7, 49):
        one = mech.singularities(Q[k])
        for column, name in enumerate(found.names):
            if name in {each.name for each in one.singularities}:
                assert found.measures[k, column] == pytest.approx(one[name].measure)
                assert found.distances[k, column] == pytest.approx(one[name].distance)
        np.testing.assert_allclose(found.sigma[k], one.sigma)


def test_a_planar_arm_and_its_manipulability():
    """w = l₁ l₂ |sin q₂| (Yoshikawa); stretched, the arm cannot move along itself."""
    mech = arm([(0.6, 0.0, 0.0), (0.4, 0.0, 0.0)], "RR")
    q = np.array([0.3, 0.2])
    found = mech.singularities(q)
    assert found.manipulability == (pytest.approx(0.6 * 0.4 * math.sin(0.2)), "m²")
    (each,) = found.singularities
    assert (each.distance, each.lost.part) == (pytest.approx(0.2), "translation")
    np.testing.assert_allclose(np.abs(each.lost.direction), [math.cos(0.3), math.sin(0.3), 0.0], atol=1e-7)
    folded = mech.singularities([0.3, math.pi - 0.1])
    assert folded.nearest.distance == pytest.approx(0.1)
    assert folded.nearest.text == "Elbow folded in 5.73°."


def test_a_redundant_arm_without_names():
    """A planar arm of four joints is singular where it is stretched or folded: all links on one line."""
    mech = arm([(0.4, 0.0, 0.0), (0.3, 0.0, 0.0), (0.2, 0.0, 0.0), (0.1, 0.0, 0.0)], "RRRR")
    each = mech.singularities([0.2, 0.3, -0.2, 0.1], part="translation").nearest
    np.testing.assert_allclose(np.sin(each.q[1:]), 0.0, atol=1e-8)
    along = each.q[0]
    np.testing.assert_allclose(np.abs(each.lost.direction), np.abs([math.cos(along), math.sin(along), 0.0]), atol=1e-7)


def test_scalings():
    """Joint speeds of 2 rad/s move the tool of a one-metre link at 2 m/s: eight times the wanted 0.25 m/s."""
    mech = arm([(1.0, 0.0, 0.0)], "R", limit=Limit(lower=-1.0, upper=1.0, velocity=2.0))
    assert mech.singularities([0.1]).sigma == pytest.approx([8.0])
    assert mech.singularities([0.1], tool_speeds=(1.0, 0.5)).sigma == pytest.approx([4.0])
    assert mech.singularities([0.1], scaling="length", length=0.5).sigma == pytest.approx([2.0])
    apart = mech.singularities([0.1], scaling="separate")
    assert apart.sigma.size == 0
    assert apart.translation == pytest.approx([1.0])
    with pytest.raises(ModelError, match="no speed limit|speed limit"):
        arm([(1.0, 0.0, 0.0)], "R").singularities([0.1], scaling="speeds")


# ------------------------------------------------------------------------------- closed machines

TURN = {"kind": "revolute", "axis": (0.0, 0.0, 1.0)}


def leg(number, base, first, second, crank, rod):
    """Bodies and joints of a leg with two links that starts at angles (rad) at a place (2,)."""
    bodies = (Body(name=f"crank{number}"), Body(name=f"rod{number}"))
    start = Pose(position=(*map(float, base), 0.0))
    elbow = Pose(position=(crank, 0.0, 0.0))
    joints = (
        Joint(name=f"m{number}", parent="world", child=bodies[0].name, a=start, rest=(first,), **TURN),
        Joint(name=f"e{number}", parent=bodies[0].name, child=bodies[1].name, a=elbow, rest=(second,), **TURN),
    )
    return bodies, joints, Pose(position=(rod, 0.0, 0.0))


def five_bar(crank=2.2, elbow=-1.74):
    """Two cranks of length 0.3 at (±0.2, 0), rods of length 0.42 that meet at the tool; angles of the left leg, the
    right one is about its mirror image."""
    bodies1, joints1, end1 = leg(1, (-0.2, 0.0), crank, elbow, 0.3, 0.42)
    bodies2, joints2, end2 = leg(2, (0.2, 0.0), math.pi - 0.1 - crank, -elbow, 0.3, 0.42)
    tip = Joint(name="tip", parent="rod1", child="rod2", a=end1, b=end2, **TURN)
    frames = (Frame(name="tool", parent="rod1", pose=end1),)
    return Mechanism(Model(bodies=(*bodies1, *bodies2), joints=(*joints1, *joints2, tip), frames=frames))


def three_legs():
    """3-RRR: a triangle on three legs in the plane."""
    bodies, joints = [Body(name="platform")], []
    for k in range(3):
        turn = 2.0 * math.pi * k / 3.0
        corner = 0.15 * np.array([math.cos(turn), math.sin(turn)])
        own, two, end = leg(k + 1, 4.0 * corner, turn + 2.2, 1.3, 0.35, 0.35)
        bodies += own
        at = Pose(position=(*map(float, corner), 0.0))
        joints += [*two, Joint(name=f"p{k + 1}", parent=f"rod{k + 1}", child="platform", a=end, b=at, **TURN)]
    return Mechanism(Model(bodies=tuple(bodies), joints=tuple(joints)))


def lines_of_rods(mech, q, count):
    """(count, 3) lines along the rods in homogeneous coordinates, of unit normals."""
    lines = []
    for k in range(count):
        X = mech.frame(q, f"rod{k + 1}")
        normal = X[:2, 1]
        lines.append([*normal, -normal @ X[:2, 3]])
    return np.array(lines)


def singular_five_bar(kind, *angles):
    """Mechanism and the singularity of a kind near its rest; the distance is the larger turn of the cranks."""
    mech = five_bar(*angles)
    q = mech.assemble(mech.rest())
    found = mech.singularities(q, "tool", actuators=("m1", "m2"), part="translation")
    each = next(each for each in found.singularities if each.kind == kind)
    turned = mech.difference(q, each.q)[[mech.joint_v(name).start for name in ("m1", "m2")]]
    assert each.distance == pytest.approx(float(np.max(np.abs(turned))))
    assert each.distance > 0.01
    return mech, each


def test_a_five_bar_with_rods_in_line():
    """Type 2 (Gosselin, Angeles 1990): the tip moves though the cranks are held."""
    mech, each = singular_five_bar("type 2", 2.2, -1.74)
    first, second = lines_of_rods(mech, each.q, 2)
    assert abs(first[0] * second[1] - first[1] * second[0]) < 1e-6
    assert each.lost is None
    assert each.joints == ("e1", "e2")


def test_a_five_bar_with_a_stretched_leg():
    """Type 1: the tip cannot move along the leg."""
    mech, each = singular_five_bar("type 1", 1.9, -0.9)
    legs = [abs(math.sin(float(mech.coordinate(each.q, name)[0]))) for name in ("e1", "e2")]
    assert min(legs) < 1e-6
    along = mech.frame(each.q, ("crank1", "crank2")[int(np.argmin(legs))])[:3, 0]
    assert abs(each.lost.direction @ along) == pytest.approx(1.0, abs=1e-9)


def test_the_rods_of_three_legs_meet_in_a_point():
    """Then the platform turns about it though the cranks are held: a singularity of type 2."""
    mech = three_legs()
    q = mech.assemble(mech.rest())
    found = mech.singularities(q, "platform", actuators=("m1", "m2", "m3"))
    assert (found.rank, found.full_rank) == (3, 3)
    there = next(each for each in found.singularities if each.kind == "type 2").q
    np.testing.assert_allclose(mech.constraint_residual(there), 0.0, atol=1e-8)
    assert abs(np.linalg.det(lines_of_rods(mech, there, 3))) < 1e-7
    assert abs(np.linalg.det(lines_of_rods(mech, q, 3))) > 1e-3
    here = mech.singularities(there, "platform", actuators=("m1", "m2", "m3")).nearest
    assert (here.kind, here.distance) == ("type 2", pytest.approx(0.0, abs=1e-6))


def test_an_open_loop_has_no_singularities():
    mech = five_bar()
    with pytest.raises(ModelError, match="loops do not close"):
        mech.singularities([0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize(
    ("q", "options", "words"),
    [
        ([math.nan] * 6, {}, "finite numbers"),
        ([0.0] * 5, {}, "6 finite numbers"),
        ([0.1] * 6, {"scaling": "best"}, "no scaling 'best'"),
        ([0.1] * 6, {"length": 0.0}, "positive number"),
        ([0.1] * 6, {"actuators": ("joint9",)}, "joint9"),
        ([0.1] * 6, {"frame": "world"}, "No joint moves"),
    ],
)
def test_bad_input(q, options, words):
    with pytest.raises(ModelError, match=words):
        arm(PUMA).singularities(q, **options)
