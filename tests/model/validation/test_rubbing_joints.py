"""Findings about dry friction and stops: each with its place and a remedy."""

from dataclasses import replace

import pytest

from core.constraints.mobility.findings import examine_mobility
from core.errors import KinetostatError, ModelError
from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Limit, Model, Parameter
from core.model.validation.model import check
from core.simulation import simulate


def machine(*parameters, kind="revolute", **fields):
    """A body of inertia 0.6 kg·m² on one joint."""
    body = Body(name="arm", mass=2.0, center_of_mass=(0.5, 0.0, 0.0), inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1))
    joint = Joint(name="pin", kind=kind, parent="world", child="arm", **fields)
    return Model(name="arm", parameters=parameters, bodies=(body,), joints=(joint,))


def told(model):
    """(severity, field, text, remedy) of its findings about the joint."""
    return [(f.severity, f.field, f.text, f.remedy) for f in check(model) if f.name == "pin"]


NEGATIVE = Parameter(name="f", value=-1.0)

CASES = {
    "negative friction": (machine(friction=-1.0), "error", "friction", "negative"),
    "a formula that is negative": (machine(NEGATIVE, friction="f"), "error", "friction", "negative"),
    "static formula below": (machine(NEGATIVE, static_friction="f"), "error", "static_friction", "negative"),
    "kinetic formula above": (
        machine(Parameter(name="f", value=3.0), friction="f", static_friction=2.0),
        "error",
        "static_friction",
        "less than kinetic friction",
    ),
    "negative Stribeck speed": (machine(friction=1.0, stribeck_speed=-0.1), "error", "stribeck_speed", "negative"),
    "idle Stribeck speed": (machine(friction=1.0, stribeck_speed=0.1), "hint", "stribeck_speed", "has no effect"),
    "negative backward friction": (machine(NEGATIVE, backward_friction="f"), "error", "backward_friction", "negative"),
    "less at rest backward": (
        machine(Parameter(name="f", value=1.0), friction=0.5, backward_friction="3*f", backward_static_friction="f"),
        "error",
        "backward_static_friction",
        "kinetic friction backward (3)",
    ),
    "backward friction of a ball": (
        machine(kind="spherical", friction=1.0, backward_friction=2.0),
        "warning",
        "backward_friction",
        "no backward direction",
    ),
    "friction in a free joint": (machine(kind="free", friction=1.0), "warning", "friction", "nothing touches"),
    "restitution above one": (
        machine(limits=(Limit(upper=1.0, restitution=1.2),)),
        "error",
        "limits",
        "would add energy",
    ),
    "restitution below zero": (
        machine(limits=(Limit(upper=1.0, restitution=-0.2),)),
        "error",
        "limits",
        "is meaningless",
    ),
    "a stop that feeds energy in": (
        machine(limits=(Limit(upper=1.0, damping=-2.0),)),
        "error",
        "limits",
        "damping of its stop is negative",
    ),
    "a rigid stop with stiffness": (
        machine(limits=(Limit(upper=1.0, stop="rigid", stiffness=2.0),)),
        "hint",
        "limits",
        "no stiffness",
    ),
    "damping beside restitution": (
        machine(limits=(Limit(upper=1.0, damping=2.0, restitution=0.5),)),
        "hint",
        "limits",
        "replaces the restitution",
    ),
    "a stop where no coordinate is": (
        machine(kind="spherical", limits=(Limit(upper=1.0, stop="rigid"),)),
        "warning",
        "limits",
        "no stop acts",
    ),
    "a start on a stop": (machine(limits=(Limit(lower=0.5, upper=1.0),), rest=(0.5,)), "hint", "rest", "at its stop"),
    "a start outside": (machine(limits=(Limit(lower=0.5, upper=1.0),), rest=(0.2,)), "warning", "rest", "outside"),
}


@pytest.mark.parametrize("case", CASES)
def test_each_doubt_has_its_place_and_a_remedy(case):
    model, severity, field, words = CASES[case]
    found = [each for each in told(model) if each[:2] == (severity, field) and words in each[2]]
    assert len(found) == 1
    assert found[0][3]


def test_sound_joints_have_none():
    sound = machine(
        friction=1.0,
        static_friction=2.0,
        stribeck_speed=0.1,
        limits=(Limit(lower=-1.0, upper=1.0, stop="rigid", restitution=1.0),),
    )
    assert told(sound) == []
    off = machine(limits=(Limit(lower=0.5, upper=1.0, stop="off"),), rest=(0.5,))
    assert told(off) == []


def test_less_friction_at_rest_is_refused_at_reading():
    with pytest.raises(ModelError, match=r"joint 'pin', static_friction.*static friction at least as large"):
        machine(friction=2.0, static_friction=1.0)


def test_a_run_refuses_formulas_that_are_negative_for_its_parameters():
    model = machine(Parameter(name="f", value=1.0), friction="f")
    with pytest.raises(KinetostatError, match="joint 'pin', friction"):
        simulate(model, 0.1, parameters={"f": -1.0})
    with pytest.raises(KinetostatError, match="joint 'pin', friction"):
        Mechanism(model).inverse_dynamics_ranges([0.0], [0.0], [0.0], p={"f": -1.0})


@pytest.mark.parametrize(("stiffness", "soft"), [(5000.0, True), (200000.0, False), (None, False)])
def test_a_soft_stop_is_told(stiffness, soft):
    """Hit with v it gives way by v √(J/k): J = 0.6 kg·m², v = 2 rad/s, 1 % of 1 rad at k = 24,000 N·m/rad."""
    limit = Limit(lower=0.0, upper=1.0, velocity=2.0, stiffness=stiffness)
    found = [f for f in examine_mobility(Mechanism(machine(limits=(limit,))).compiled)[1] if "soft" in f.text]
    assert bool(found) == soft
    if soft:
        assert (found[0].name, found[0].field) == ("pin", "limits")
        assert "2 rad/s" in found[0].text
    ideal = machine(limits=(limit,))
    ideal = replace(ideal, world=replace(ideal.world, limits="ideal"))
    assert not [f for f in examine_mobility(Mechanism(ideal).compiled)[1] if "soft" in f.text]
