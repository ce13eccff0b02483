"""Symbols belong to the joints they move and the bodies whose numbers hold them."""

from pathlib import Path

import resources
from core.files import load
from core.model import Body, Joint, Model, Parameter
from core.model.shapes import Pose
from core.symbolic import robot
from core.symbolic.conventions import parameter_owners, symbol_owners


def example(name):
    return load(next(path.path for path in resources.examples() if Path(path.path).stem == name))


def test_symbols_of_the_two_link_arm():
    found = symbol_owners(robot(example("two_link")))
    assert found["q2"] == found["Dq2"] == found["DDq2"] == (("joints", "joint2"),)
    assert found["m1"] == found["I1"] == (("bodies", "link1"),)
    assert set(found["a1"]) == {("bodies", "link1"), ("joints", "joint1")}


def test_every_symbol_of_a_robot_has_an_owner():
    made = robot(example("puma560"), symbols="all")
    found = symbol_owners(made)
    assert set(made.chain.parameters) - {"g"} <= set(found)
    assert {place for name in ("m3", "r3x", "I3zz") for place in found[name]} == {("bodies", "link3")}


def test_parameters_own_through_others():
    model = Model(
        parameters=tuple(Parameter(name=n, value=x) for n, x in (("l", 0.3), ("half", "l / 2"), ("w", 1.0))),
        bodies=(Body(name="arm", mass=1.0, center_of_mass=("half", 0, 0)),),
        joints=(Joint(name="pivot", kind="revolute", parent="world", child="arm", a=Pose(position=(0, 0, "l"))),),
    )
    found = parameter_owners(model)
    assert set(found["l"]) == {("bodies", "arm"), ("joints", "pivot")}
    assert found["half"] == (("bodies", "arm"),)
    assert "w" not in found
