"""Numbers that no machine has are refused by element and field, whoever gives them; what says "none" is none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinetostat as ks
from core.errors import KinetostatError
from core.model.aims import Aim
from core.model.validation.possible_numbers import BOUNDS
from resources import EXAMPLES

ROUND = ks.Inertia(ixx=0.1, iyy=0.1, izz=0.1)
PAGE = Path(__file__).parents[3] / "docs" / "possible_numbers.md"


def wheel(joint=None, body=None, **more):
    """A wheel on an axle, without gravity."""
    own = {"name": "b", "mass": 1.0, "inertia": ROUND, **(body or {})}
    axle = {"name": "j", "parent": "world", "child": "b", **(joint or {})}
    world = ks.World(gravity=ks.Gravity(kind="none"))
    return ks.Model(world=world, bodies=(ks.Body(**own),), joints=(ks.Joint(**axle),), **more)


def limited(**fields):
    return wheel({"limits": (ks.Limit(**fields),)})


REFUSED = {
    "mass": (wheel(body={"mass": -1.0}), "body 'b', mass"),
    "density": (wheel(body={"density": -1.0, "shapes": (ks.Sphere(),)}), "body 'b', density"),
    "size": (wheel(body={"density": 1.0, "shapes": (ks.Box(size=(1.0, -1.0, -1.0)),)}), "body 'b', shapes"),
    "moment": (wheel(body={"inertia": ks.Inertia(ixx=-0.1, iyy=0.1, izz=0.1)}), "body 'b', inertia"),
    "product": (wheel(body={"inertia": ks.Inertia(ixx=1.0, iyy=1.0, izz=1.0, ixz=1.1)}), "body 'b', inertia"),
    "hollow": (wheel(body={"density": 1.0, "shapes": (ks.Gearwheel(bore=0.06),)}), "body 'b', shapes"),
    "bore": (wheel(body={"density": 1.0, "shapes": (ks.Gearwheel(bore=-0.01),)}), "body 'b', shapes"),
    "flange": (wheel(body={"density": 1.0, "shapes": (ks.Beam(flange=0.04),)}), "body 'b', shapes"),
    "huge mass": (wheel(body={"mass": 1e200}), "body 'b', mass"),
    "huge formula": (wheel(body={"center_of_mass": ("2e61 * 1e30", 0.0, 0.0)}), "body 'b', center_of_mass"),
    "huge stop": (limited(upper=1.0, stiffness=1e308), "joint 'j', stiffness"),
    "deceleration": (limited(deceleration=-1.0), "joint 'j', limits"),
    "armature": (wheel({"armature": -0.01}), "joint 'j', armature"),
    "friction": (wheel({"friction": -1.0}), "joint 'j', friction"),
    "crossed": (limited(lower=1.0, upper=-1.0), "joint 'j', limits"),
    "effort": (limited(effort=-5.0), "joint 'j', limits"),
    "velocity": (limited(velocity=-0.5), "joint 'j', limits"),
    "restitution": (limited(upper=1.0, restitution=1.01), "joint 'j', limits"),
    "stop stiffness": (limited(upper=1.0, stiffness=-1.0), "joint 'j', limits"),
    "stop damping": (limited(upper=1.0, damping=-1.0), "joint 'j', limits"),
    "no number": (wheel(body={"mass": "sqrt(k)"}, parameters=(ks.Parameter(name="k", value=-2.0),)), "body 'b', mass"),
    "point": (
        wheel(forces=(ks.Force(name="s", kind="line", a="world", b="b", masses=(ks.LineMass(mass=-1.0),)),)),
        "force 's', masses",
    ),
    "tendon": (
        wheel(forces=(ks.Force(name="s", kind="tendon", strands=(ks.Strand(joint="j"),), inertia=-1.0),)),
        "force 's', inertia",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_runs_functions_and_check_refuse_the_same(case):
    model, where = REFUSED[case]
    mech = ks.Mechanism(model)
    errors = [finding for finding in ks.check(model) if finding.severity == "error"]
    assert [finding.place for finding in errors] == [where]
    for ask in (
        lambda: ks.simulate(model, 0.01),
        lambda: mech.forward_dynamics([0.0], [0.0], [0.0]),
        lambda: mech.inverse_dynamics([0.0], [0.0], [0.0]),
        lambda: mech.mass_matrix([0.0]),
        lambda: ks.call("mass_matrix", model),
    ):
        with pytest.raises(KinetostatError) as caught:
            ask()
        assert where in str(caught.value)
    assert np.isfinite(mech.poses([0.3])).all()  # it is still shown


def test_a_negative_moment_counts_with_what_is_fixed_to_the_body():
    """A rod of 1 kg·m² more turns about z with it; a lighter one does not make up for it, and the ground needs none."""
    plate = ks.Body(name="plate", mass=1.0, center_of_mass=(0.0, 2.0, 0.0))
    for distance, refused in ((1.0, False), (0.1, True)):
        offset = ks.Pose(position=(0.0, distance - 2.0, 0.0))
        model = wheel(body={"inertia": ks.Inertia(ixx=1.0, iyy=1.0, izz=-0.1)})
        weld = ks.Joint(name="weld", kind="fixed", parent="b", child="plate", a=offset)
        model = ks.Model(world=model.world, bodies=(*model.bodies, plate), joints=(*model.joints, weld))
        assert {f.severity for f in ks.check(model) if "negative" in f.text} == {"error" if refused else "warning"}
        if refused:
            with pytest.raises(KinetostatError, match="negative principal moment"):
                ks.Mechanism(model).mass_matrix([0.0])
        else:  # 1 kg at the distance from the axis
            assert ks.Mechanism(model).mass_matrix([0.0]).item() == pytest.approx(distance**2 - 0.1)
    ground = ks.Joint(name="j", kind="fixed", parent="world", child="b")
    still = ks.Model(bodies=(ks.Body(name="b", mass=1.0, inertia=ks.Inertia(izz=-1.0)),), joints=(ground,))
    assert [f.severity for f in ks.check(still) if "negative" in f.text] == ["warning"]


@pytest.mark.parametrize("value", [0.0, -1.0])
@pytest.mark.parametrize("field", ["effort", "velocity"])
def test_zero_and_minus_one_are_no_limit(field, value):
    """α = τ/I = 2 rad/s² from 3 rad/s on, as without limits."""
    model = limited(**{field: value})
    assert ks.Mechanism(model).forward_dynamics([0.0], [3.0], [0.2], motors=True) == pytest.approx([2.0])
    assert ks.simulate(model, 1.0, torque={"j": "0.2"}, v0={"j": 3.0})["j.q"][-1] == pytest.approx(4.0)
    assert "unlimited" in " ".join(finding.text for finding in ks.check(model))


def test_values_given_for_parameters_meet_the_same_gate():
    model = wheel(
        {"limits": (ks.Limit(lower="low", upper=1.0),)},
        {"inertia": ks.Inertia(ixx=0.1, iyy=0.1, izz="i")},
        parameters=(ks.Parameter(name="i", value=0.1), ks.Parameter(name="low", value=-1.0)),
    )
    mech = ks.Mechanism(model)
    state = [0.0], [0.0], [1.0]
    assert mech.forward_dynamics(*state, p={"i": 0.5}) == pytest.approx([2.0])
    for given, where in (({"i": -0.1}, "inertia"), ({"low": 2.0}, "limits"), ({"i": np.array([0.1, -0.1])}, "inertia")):
        with pytest.raises(KinetostatError, match=where):
            mech.mass_matrix(np.zeros((2, 1)), p=given)
    with pytest.raises(KinetostatError, match="principal moment"):
        ks.simulate(model, 0.01, parameters={"i": -0.1})
    bad = ks.Mechanism(wheel(body={"mass": "m"}, parameters=(ks.Parameter(name="m", value=-1.0),)))
    assert bad.forward_dynamics(*state, p={"m": 1.0}) == pytest.approx([10.0])
    with pytest.raises(KinetostatError, match="mass"):
        bad.forward_dynamics(*state)


def test_the_quick_look_lets_no_negative_moment_pass():
    """Against the eigenvalues of 500 random tensors; most possible ones pass."""
    names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    model = wheel(
        body={"inertia": ks.Inertia(**{name: name for name in names})},
        parameters=tuple(ks.Parameter(name=name, value=float(name in names[:3])) for name in names),
    )
    rows = np.random.default_rng(5).uniform(-1.0, 1.0, (500, 6)) + np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    compiled = ks.Mechanism(model).compiled
    xx, yy, zz, xy, xz, yz = rows[:, [compiled.p_names.index(name) for name in names]].T
    smallest = np.linalg.eigvalsh(np.moveaxis(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), 2, 0))[:, 0]
    assert np.array_equal(compiled.gate.is_certainly_possible(rows), smallest >= 0.0)
    assert 100 < (smallest >= 0.0).sum() < 400


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: ks.Mechanism(model).random(),
        lambda model: ks.workspace(model, "b", samples=20),
        lambda model: ks.call("inverse_kinematics", model, frame="b", position=(0.0, 0.0, 0.0)),
    ],
    ids=["random", "workspace", "inverse kinematics"],
)
def test_nothing_lies_between_crossed_limits(ask):
    with pytest.raises(KinetostatError, match="lies above the upper"):
        ask(limited(lower=1.0, upper=-1.0))


def test_what_feeds_energy_in_runs_with_a_warning():
    """ω = ω₀ exp(−d t/I)."""
    run = ks.simulate(wheel({"damping": -0.1}), 1.0, v0={"j": 1.0})
    assert run["j.v"][-1] == pytest.approx(np.e)
    assert any("damping" in note for note in run.notes)


def test_published_moments_that_break_the_triangle_inequality_run():
    """Armstrong, Khatib and Burdick's PUMA 560 (1986)."""
    model = ks.load(EXAMPLES / "puma560.kst")
    assert any("No real body" in finding.text for finding in ks.check(model))
    assert np.isfinite(ks.Mechanism(model).mass_matrix(np.zeros(6))).all()


def test_the_page_names_every_number_of_the_table():
    text = PAGE.read_text(encoding="utf-8")
    fields = {bound.field for bounds in BOUNDS.values() for bound in bounds if "backward" not in bound.field}
    assert not {field for field in fields if f"`{field}`" not in text}


def test_the_largest_number_means_no_bound():
    """Some programs write it for joints without limits."""
    free, huge = limited(), limited(lower=-1.7e308, upper=1.7e308, velocity=1e200, effort=1.7e308)
    assert not [each for each in ks.check(huge) if each.severity != "hint"]
    ends = [ks.simulate(model, 0.5, v0={"j": 2.0})["j.q"][-1] for model in (free, huge)]
    assert ends == pytest.approx([1.0, 1.0], abs=1e-9)


QUESTIONS = {
    "designs": (Aim(name="d", duration="- 1"), "duration"),
    "studies": (ks.StudyPlan(name="s", duration=-1.0), "duration"),
    "motions": (ks.Motion(name="m", joint_speed=-1.0), "joint_speed"),
}


@pytest.mark.parametrize("collection", QUESTIONS)
def test_impossible_numbers_of_questions_are_warnings(collection):
    element, field = QUESTIONS[collection]
    found = [each for each in ks.check(wheel(**{collection: (element,)})) if each.severity == "warning"]
    assert [(each.collection, each.field) for each in found] == [(collection, field)]


def test_values_that_a_kind_does_not_use_are_hints():
    plain, screw = wheel({"pitch": 0.1}), wheel({"kind": "screw", "pitch": 0.1})
    (found,) = [each for each in ks.check(plain) if "no effect" in each.text]
    assert (found.severity, found.place) == ("hint", "joint 'j', pitch")
    assert not [each for each in ks.check(screw) if "no effect" in each.text]


@pytest.mark.parametrize(("damping", "wrong"), [("2", False), ("2 kg", True), ("2 m", True), ("2 N", True)])
def test_units_of_what_has_only_compound_ones(damping, wrong):
    said = [each for each in ks.check(wheel({"damping": damping})) if "damping is required here" in each.text]
    assert bool(said) is wrong


def test_ratios_have_no_unit():
    (found,) = [each for each in ks.check(limited(upper=1.0, restitution="0.5 kg")) if each.severity == "warning"]
    assert "without one" in found.text
    assert not [each for each in ks.check(limited(upper=1.0, restitution="0.5")) if each.severity == "warning"]
