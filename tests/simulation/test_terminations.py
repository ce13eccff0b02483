"""Runs that cannot go on: what, when, where, why, what to do; and the past is kept."""

import dataclasses

import numpy as np
import pytest

from core.errors import KinetostatError, SimulationError
from core.files import load
from core.model import Body, Constraint, Driver, Frame, Inertia, Joint, Model, Parameter, Pose, Sphere
from core.simulation import METHODS, simulate
from resources import EXAMPLES
from tests.simulation.published import published_machines as machines
from tests.walks import walk

ADAPTIVE = [name for name, method in METHODS.items() if method.adaptive]


def four_bar(*drivers, masses=(1.0, 1.0, 1.0)):
    """A crank of 0.3 m that cannot turn round: the coupler and the rocker are too short."""
    lengths = (0.3, 0.35, 0.2)
    bodies = tuple(
        Body(
            name=name,
            mass=m,
            center_of_mass=(L / 2, 0.0, 0.0),
            inertia=Inertia(ixx=0.01 * m, iyy=0.01 * m, izz=0.01 * m),
        )
        for name, L, m in zip(("crank", "coupler", "rocker"), lengths, masses, strict=True)
    )
    joints = (
        Joint(name="A", parent="world", child="crank"),
        Joint(name="B", parent="crank", child="coupler", a=Pose(position=(0.3, 0.0, 0.0))),
        Joint(name="D", parent="world", child="rocker", a=Pose(position=(0.4, 0.0, 0.0))),
        Joint(
            name="C",
            parent="coupler",
            child="rocker",
            a=Pose(position=(0.35, 0.0, 0.0)),
            b=Pose(position=(0.2, 0.0, 0.0)),
        ),
    )
    return Model(name="four-bar", bodies=bodies, joints=joints, drivers=drivers, world=machines.world(0, -9.81, 0))


def failed(*arguments, **options):
    with pytest.raises(SimulationError) as caught:
        simulate(*arguments, **options)
    error = caught.value
    assert error.where or error.remedy
    return error


@pytest.mark.parametrize("method", ADAPTIVE)
def test_step_collapses_at_a_pole(method):
    error = failed(
        machines.point_pendulum(), 2.0, method=method, q0=[1.0], torque={"theta": "1/(1 - t)^2"}, max_steps=200_000
    )
    assert error.time == pytest.approx(1.0, abs=1e-2)
    assert "theta" in str(error) + str(error.where)
    assert len(error.run) > 10
    assert np.isfinite(error.run.q).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_formula_without_value_names_its_joint(method):
    error = failed(machines.point_pendulum(), 2.0, method=method, q0=[1.0], torque={"theta": "log(1 - t)"})
    assert error.time == pytest.approx(1.0, abs=0.02)
    assert "theta" in error.where
    assert np.isfinite(error.run.q).all()


@pytest.mark.parametrize("closed_forms", [True, False])
@pytest.mark.parametrize("method", ["rk54", "rk4", "radau5"])
def test_a_loop_that_is_driven_too_far_tears(method, closed_forms):
    driver = Driver(name="motor", joint="A", function="1 + t")
    with pytest.raises(KinetostatError) as caught:
        simulate(
            four_bar(driver),
            6.0,
            method=method,
            step=1e-2 if method == "rk4" else None,
            q0={"A": 1.0},
            closed_forms=closed_forms,
        )
    error = caught.value
    assert any(name in f"{error} {error.where}" for name in ("'C'", "motor", "A", "B", "D"))
    assert 0.0 < error.time < 3.0
    run = error.run
    assert len(run) > 5
    assert np.max(run["constraint.residual"]) < 1e-9
    np.testing.assert_allclose(run["A.q"], 1.0 + run.time, atol=1e-9)


def test_a_machine_without_mass_is_named_in_a_loop_too():
    with pytest.raises(KinetostatError) as caught:
        simulate(four_bar(masses=(1.0, 0.0, 0.0)), 1.0, q0={"A": 1.0}, closed_forms=False)
    error = caught.value
    assert any(name in f"{error} {error.where}" for name in ("B", "C", "D", "coupler", "rocker"))


def test_a_free_body_without_mass_is_called_a_body():
    model = Model(name="chip", bodies=(Body(name="chip"),))
    with pytest.raises(KinetostatError) as caught:
        simulate(model, 1.0)
    assert caught.value.where == "body 'chip'"
    assert "fix it" in caught.value.remedy


@pytest.mark.parametrize(("field", "shapes"), [("mass", ()), ("density", (Sphere(radius=0.1),))])
def test_a_negative_mass_is_refused(field, shapes):
    bob = Body(name="bob", shapes=shapes, inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1), **{field: "m - 3"})
    model = Model(
        name="pendulum",
        parameters=(Parameter(name="m", value=5.0),),
        bodies=(bob,),
        joints=(Joint(name="hinge", parent="world", child="bob"),),
    )
    simulate(model, 0.1)
    with pytest.raises(SimulationError, match="negative|not positive") as caught:
        simulate(model, 0.1, parameters={"m": 1.0})
    assert caught.value.where == f"body 'bob', {field}"


@pytest.mark.parametrize("formula", ["1/t", "log(t)", "sqrt(-1 - t)"])
def test_a_driver_without_value_at_the_start_is_named(formula, recwarn):
    with pytest.raises(KinetostatError, match="no finite value") as caught:
        simulate(four_bar(Driver(name="motor", joint="A", function=formula)), 1.0, q0={"A": 1.0})
    assert caught.value.where == "driver 'motor'"
    assert caught.value.remedy
    assert not [w for w in recwarn if issubclass(w.category, RuntimeWarning)]


@pytest.mark.parametrize(("formula", "start"), [("1 + sqrt(0.25 - t) - 0.5", 1.0), ("1 - 0.1*sqrt(1 - 4*t)", 0.9)])
def test_a_driver_that_loses_its_value_is_told_as_such(formula, start):
    """Its speed grows beyond all bounds just before: yet it is no loop that is at its end."""
    error = failed(four_bar(Driver(name="motor", joint="A", function=formula)), 1.0, q0={"A": start})
    assert "does not have a finite value" in str(error)
    assert error.where == "driver 'motor'"


def test_rods_that_contradict_each_other_are_named_with_millimetres():
    """A point at 1 m from the hinge, the anchor at 2 m: rods of 1.2 and 1.5 m meet it at different angles."""
    frames = (
        Frame(name="tip", parent="bar", pose=Pose(position=(1.0, 0.0, 0.0))),
        Frame(name="anchor", parent="world", pose=Pose(position=(2.0, 0.0, 0.0))),
    )
    rods = tuple(
        Constraint(name=f"rod{k}", kind="rod", a="anchor", b="tip", length=length) for k, length in ((1, 1.2), (2, 1.5))
    )
    bar = Body(name="bar", mass=1.0, inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1))
    model = Model(
        name="rods",
        bodies=(bar,),
        frames=frames,
        constraints=rods,
        joints=(Joint(name="hinge", parent="world", child="bar"),),
    )
    with pytest.raises(KinetostatError, match=r"the gap is 1\d\d(\.\d+)? mm") as caught:
        simulate(model, 1.0)
    assert caught.value.where == "constraint 'rod1'"
    assert "'rod2'" in caught.value.what


def test_a_loop_that_does_not_close_at_the_start_is_named():
    model = four_bar()
    far = dataclasses.replace(model.joints[2], a=Pose(position=(4.0, 0.0, 0.0)))
    model = dataclasses.replace(model, joints=(*model.joints[:2], far, model.joints[3]))
    with pytest.raises(KinetostatError, match="mm"):
        simulate(model, 1.0)


@pytest.mark.parametrize("method", ADAPTIVE)
def test_limit_of_steps_keeps_the_past(method):
    error = failed(machines.point_pendulum(), 100.0, method=method, q0=[1.0], max_steps=50, output=0.01)
    assert "50 steps" in str(error)
    assert 0 < len(error.run) < 10_001


@pytest.mark.parametrize("method", walk(ADAPTIVE, quick=["rk54", "radau5", "auto"]))
def test_a_driver_that_runs_away_is_told(method):
    """Whatever stops the run first: the pole of 0.3/(1/2 − t) is the driver's fault."""
    model = load(EXAMPLES / "four_bar.kst")
    model = dataclasses.replace(model, drivers=(Driver(name="pole", joint="crank_pin", function="0.3/(0.5 - t)"),))
    error = failed(model, 2.0, method=method, max_steps=100_000)
    assert "driver 'pole'" in str(error)
    assert "pole here" in str(error)
    assert error.time == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("method", ADAPTIVE)
def test_pieces_change_nothing(method, monkeypatch):
    from core.simulation import simulator

    options = {"method": method, "q0": [1.0], "output": 0.01}
    whole = simulate(machines.point_pendulum(), 2.0, **options)
    monkeypatch.setattr(simulator, "FIRST_PIECE", 3)
    monkeypatch.setattr(simulator, "STEPS", 2)
    np.testing.assert_array_equal(simulate(machines.point_pendulum(), 2.0, **options).q, whole.q)


def test_the_command_line_knows_all_methods():
    from app.cli.run import METHODS as OFFERED

    assert set(OFFERED) == set(METHODS)


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ADAPTIVE])
def test_fixed_steps_that_are_too_long_are_told_as_such(method):
    """Explicit Euler's steps h of ẍ = −ω² x grow whenever ω h > 0, the others' when it is over 2 or 2.83: here 100."""
    model = machines.point_pendulum()
    stiff = {"theta": "-1e10*theta"}
    error = failed(model, 5.0, method=method, step=1e-2, q0=[0.1], torque=stiff)
    assert "unstable with steps of 0.01 s" in str(error)
    assert "radau" in error.remedy
    assert error.where == METHODS[method].title
    assert np.isfinite(error.run.q).all()
