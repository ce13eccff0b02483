"""An element that becomes one of another kind takes the references which that kind needs."""

import dataclasses

import pytest

from core.errors import ModelError
from core.files import loads
from core.model import FORCE_KINDS
from core.model.edits.rewiring import dependent_field_changes

MODEL = loads("""
kinetostat: 1
bodies:
  arm: {mass: 1}
  hand: {mass: 1}
joints:
  shoulder: {parent: world, child: arm}
  elbow: {parent: arm, child: hand, a: {position: [1, 0, 0]}}
sensors:
  reach: {kind: distance, b: hand}
forces:
  spring: {b: hand, stiffness: 1}
""")
(SPRING,) = MODEL.forces
NEEDED = {"clutch": {"joint", "leader"}, "joint": {"joint"}, "sensor": {"sensor"}, "tendon": {"strands"}}


@pytest.mark.parametrize("kind", FORCE_KINDS)
def test_a_spring_becomes_any_kind_of_force(kind):
    changes = dependent_field_changes(MODEL, SPRING, "kind", kind)
    assert set(changes) - {"kind", "coordinate"} == NEEDED.get(kind, set())
    changed = dataclasses.replace(SPRING, **changes)
    assert dataclasses.replace(MODEL, forces=(changed,)).forces[0].kind == kind


def test_the_two_joints_of_a_clutch_differ_whichever_is_given():
    clutch = dataclasses.replace(SPRING, leader="shoulder")
    assert dependent_field_changes(MODEL, clutch, "kind", "clutch")["joint"] == "elbow"
    clutch = dataclasses.replace(SPRING, joint="elbow")
    assert dependent_field_changes(MODEL, clutch, "kind", "clutch")["leader"] == "shoulder"


def test_without_a_second_joint_there_is_no_clutch():
    model = dataclasses.replace(MODEL, joints=MODEL.joints[:1], bodies=MODEL.bodies[:1], sensors=(), forces=())
    with pytest.raises(ModelError, match="second joint"):
        dependent_field_changes(model, SPRING, "kind", "clutch")
