"""Assembly modes: circles that meet, an octahedral platform, modes known from mirror images."""

import math

import numpy as np
import pytest

from core.errors import AssemblyError, ModelError
from core.files import load
from core.mechanism import Mechanism
from core.model import Body, Frame, Joint, Model, Pose
from resources import EXAMPLES

TURN = {"kind": "revolute", "axis": (0.0, 0.0, 1.0)}


def five_bar():
    """Two cranks of length 0.3 at (±0.2, 0), rods of length 0.5 that meet at the tool."""
    end = Pose(position=(0.5, 0.0, 0.0))
    bodies = tuple(Body(name=name) for name in ("crank1", "crank2", "rod1", "rod2"))
    joints = []
    for k, x, first, second in ((1, -0.2, 1.9, -0.9), (2, 0.2, 1.2, 0.9)):
        start = Pose(position=(x, 0.0, 0.0))
        elbow = Pose(position=(0.3, 0.0, 0.0))
        joints += [
            Joint(name=f"m{k}", parent="world", child=f"crank{k}", a=start, rest=(first,), **TURN),
            Joint(name=f"e{k}", parent=f"crank{k}", child=f"rod{k}", a=elbow, rest=(second,), **TURN),
        ]
    joints.append(Joint(name="tip", parent="rod1", child="rod2", a=end, b=end, **TURN))
    frames = (Frame(name="tool", parent="rod1", pose=end), Frame(name="pin", parent="crank1"))
    return Mechanism(Model(bodies=bodies, joints=tuple(joints), frames=frames))


def test_a_five_bar_has_two_modes():
    """The tip is where two circles about the crank pins meet."""
    mech = five_bar()
    m1, m2 = 1.9, 1.1
    found = mech.direct_kinematics({"m1": m1, "m2": m2}, "tool")
    pins = np.array([[-0.2 + 0.3 * math.cos(m1), 0.3 * math.sin(m1)], [0.2 + 0.3 * math.cos(m2), 0.3 * math.sin(m2)]])
    across = pins[1] - pins[0]
    half = np.linalg.norm(across) / 2
    height = math.sqrt(0.5**2 - half**2)
    normal = np.array([-across[1], across[0]]) / (2 * half)
    wanted = {tuple(np.round(pins.mean(axis=0) + sign * height * normal, 8)) for sign in (1.0, -1.0)}
    assert {tuple(np.round(mech.frame(each.q, "tool")[:2, 3], 8)) for each in found.solutions} == wanted
    assert (found.complete, {each.variants for each in found.solutions}) == ("all", {1})
    names = {str(each.configuration) for each in found.solutions}
    assert names == {"mode-1", "mode-2"}
    other = mech.direct_kinematics({"m1": m1, "m2": m2}, "tool", q=found.solutions[1].q)
    assert other.solutions[0].configuration == found.solutions[1].configuration  # numbers do not depend on q
    of_pin = mech.direct_kinematics({"m1": m1, "m2": m2}, "pin")
    assert [each.variants for each in of_pin.solutions] == [2]
    one = mech.direct_kinematics({"m1": m1, "m2": m2}, "tool", all=False)
    assert (len(one.solutions), one.complete) == (1, "at least these")


def test_a_six_legged_platform_has_eight_modes():
    """Equal legs: a mode below the base for each above it, its mirror image."""
    mech = Mechanism(load(EXAMPLES / "stewart.kst"))
    legs = {name: mech.rest()[k] for k, name in enumerate(mech.q_names) if name.endswith(".slide")}
    found = mech.direct_kinematics(legs, "platform")
    assert (len(found.solutions), found.complete) == (8, "at least these")
    places = np.array([mech.frame(each.q, "platform")[:3, 3] for each in found.solutions])
    for x, y, z in places:
        assert np.min(np.linalg.norm(places - (x, y, -z), axis=1)) < 1e-6
    for each in found.solutions:
        values = dict(zip(mech.q_names, each.q, strict=True))
        assert {name: values[name] for name in legs} == pytest.approx(legs)
        np.testing.assert_allclose(mech.constraint_residual(each.q), 0.0, atol=1e-8)


def test_an_open_chain_has_one_mode():
    mech = Mechanism(load(EXAMPLES / "two_link.rob"))
    values = dict(zip(mech.q_names, (0.3, 0.4), strict=True))
    found = mech.direct_kinematics(values)
    assert (len(found.solutions), found.complete) == (1, "all")
    np.testing.assert_allclose(found.solutions[0].q, (0.3, 0.4))


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"m1": math.nan, "m2": 1.0}, ModelError, "not a finite number"),
        ({"m9": 1.0}, ModelError, "m9"),
        ({"m1": 1.0}, ModelError, "must be fixed"),
        ({"m1": math.pi, "m2": 0.0, "e1": 0.0}, AssemblyError, "No position was found"),
        ("m1", ModelError, "is text"),
    ],
)
def test_bad_input(given, error, words):
    with pytest.raises(error, match=words):
        five_bar().direct_kinematics(given)
