"""What `simulate` is asked for wrongly is refused by name before anything is computed; drivers nothing can follow."""

import dataclasses
import math

import pytest

from core.errors import ModelError, SimulationError
from core.mechanism import Mechanism
from core.model import Body, Driver, Joint, Model
from core.simulation import simulate
from tests.simulation.published import published_machines as machines
from tests.simulation.test_terminations import failed, four_bar

NAN = math.nan


@pytest.mark.parametrize("value", [0, -3, 2.5, "x", NAN, True, 10**30, None])
def test_max_steps_is_a_whole_number_above_zero(value):
    with pytest.raises(ModelError, match="max_steps: .* is not a positive whole number"):
        simulate(machines.point_pendulum(), 0.1, max_steps=value)


@pytest.mark.parametrize(
    ("option", "value", "where"),
    [
        ("duration", "x", "duration"),
        ("duration", None, "duration"),
        ("rtol", None, "rtol"),
        ("q0", {"theta": [1.0, 2.0]}, "q0 of 'theta'"),
        ("duration", NAN, "duration"),
        ("start", "x", "start"),
        ("start", NAN, "start"),
        ("rtol", NAN, "rtol"),
        ("atol", math.inf, "atol"),
        ("step", NAN, "step"),
        ("output", "1", "output"),
        ("q0", {"theta": "x"}, "q0 of 'theta'"),
        ("q0", {"theta": None}, "q0 of 'theta'"),
        ("v0", {"theta": "x"}, "v0 of 'theta'"),
        ("v0", {"theta": NAN}, "v0 of 'theta'"),
        ("torque", {"theta": NAN}, "torque of 'theta'"),
        ("torque", {"theta": None}, "torque of 'theta'"),
        ("torque", {"theta": math.inf}, "torque of 'theta'"),
    ],
)
def test_what_is_no_number_is_refused_by_name(option, value, where):
    with pytest.raises(ModelError) as caught:
        simulate(machines.point_pendulum(), **{"duration": 0.1, option: value})
    assert caught.value.where == where
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"step": 1e-300, "method": "rk4"}, "step"),
        ({"step": 1e-300}, "step"),
        ({"output": 1e-17}, "output"),
        ({"duration": 1e-300}, "duration"),
        ({"start": 1e9, "duration": 1e-6}, "duration"),
        ({"start": 1e9, "step": 1e-9, "method": "rk4"}, "step"),
        ({"rtol": 1e-17}, "rtol"),
    ],
)
def test_what_numbers_do_not_resolve_is_refused_by_name(options, where):
    with pytest.raises(ModelError) as caught:
        simulate(machines.point_pendulum(), **{"duration": 1.0, **options})
    assert caught.value.where == where
    assert caught.value.remedy


@pytest.mark.parametrize(("step", "output"), [(1e-3, None), (3e-3, 0.01), (10.0, None), (0.3, None)])
def test_the_settings_say_the_step_that_was_taken(step, output):
    """As many steps as equal parts, none longer than asked for, fit between two samples."""
    run = simulate(machines.point_pendulum(), 1.0, method="rk4", step=step, output=output)
    taken = run.settings.step
    assert taken <= step
    assert run.settings.output / taken == pytest.approx(round(run.settings.output / taken), rel=1e-9)
    between = math.ceil(run.settings.output / step - 1e-9)
    assert taken == pytest.approx(run.settings.output / between, rel=1e-9)
    assert run.statistics.steps == pytest.approx(1.0 / taken, abs=1.0)


def slider(**of_driver):
    joint = Joint(name="guide", kind="prismatic", parent="world", child="block", axis=(1.0, 0.0, 0.0))
    return Model(
        name="slider",
        bodies=(Body(name="block", mass=1.0),),
        joints=(joint,),
        drivers=(Driver(name="motor", joint="guide", **of_driver),),
    )


@pytest.mark.parametrize("t", ["x", None, NAN, True])
def test_a_time_that_is_none_is_refused(t):
    mech = Mechanism(slider(function="sin(t)"))
    with pytest.raises(ModelError, match="is not a finite time"):
        mech.constraint_residual(mech.neutral(), t=t)


@pytest.mark.parametrize("times", [(0.0, 1.0, 1.0), (0.0, 1.0, 0.5)])
def test_tables_whose_times_do_not_grow(times):
    with pytest.raises(ModelError, match="driver 'motor', times: The times of the table are not increasing"):
        slider(times=times, values=(0.0, 1.0, 2.0))


@pytest.mark.parametrize(
    ("function", "t"),
    [
        ("if(t < 1, 0, 1)", 1.0),
        ("step(t - 0.7)", 0.7),
        ("floor(3*t)/10", 1 / 3),
        ("t + 0.001*sign(t - 1.3)", 1.3),
        ("2*(t > 0.4) + t^2", 0.4),
    ],
)
@pytest.mark.parametrize("method", ["rk54", "rk4"])
def test_a_position_may_not_jump(function, t, method):
    with pytest.raises(
        SimulationError, match="the prescribed position jumps by .* m\\. Prescribe a continuous position"
    ) as caught:
        simulate(slider(function=function), 2.0, method=method)
    assert caught.value.where == "driver 'motor'"
    assert caught.value.time == pytest.approx(t, abs=1e-12)


def test_jumps_of_angles_are_told_in_both_units():
    model = machines.point_pendulum()
    driver = Driver(name="motor", joint="theta", function="if(t < 1, 0, 1)")
    with pytest.raises(SimulationError, match=r"At t = 1 s the prescribed position jumps by 1 rad \(57\.3°\)"):
        simulate(dataclasses.replace(model, drivers=(driver,)), 2.0)


@pytest.mark.parametrize(
    "function", ["if(t < 1, t^2/2, t - 1/2)", "min(t, 1)", "abs(sin(20*t))", "100*t*(t < 5)", "if(t < 3, 0, 1)"]
)
def test_positions_that_bend_or_jump_later_are_no_jumps(function):
    run = simulate(slider(function=function), 2.0, output=0.1)
    assert run.time[-1] == 2.0


def test_speeds_may_jump():
    run = simulate(slider(function="if(t < 1, 0, 2)", motion="velocity"), 2.0, output=0.1)
    assert run["guide.v"][-1] == pytest.approx(2.0)


@pytest.mark.parametrize("method", ["rk54", "rk4", "radau"])
def test_a_driver_beyond_the_reach_of_its_loop_is_named_with_time_and_pose(method):
    """The crank cannot turn round: its driver is what asks for more."""
    error = failed(four_bar(Driver(name="motor", joint="A", function="0.9 + 2*t")), 3.0, method=method, output=0.01)
    text = str(error)
    assert "driver 'motor' moves on" in text
    assert "°" in text
    assert f"t = {error.time:.6g} s" in text
