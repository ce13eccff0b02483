"""Runs that use the memory of the run before them give the numbers of runs that are prepared alone."""

from dataclasses import replace
from threading import Thread

import numpy as np
import pytest

from core.files import load
from core.mechanism import Mechanism
from core.model import Joint
from core.simulation import simulate
from core.simulation.run.run import STATES
from core.simulation.simulator import _kept
from resources import EXAMPLES


def example(name):
    model = load(EXAMPLES / f"{name}.kst")
    simulate(model, 0.01)  # the same code for all that follow
    return model


def assert_equal(one, other):
    for name in STATES:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.settings == other.settings
    assert one.notes == other.notes
    assert one.statistics.steps == other.statistics.steps


def changed(mech, **options):
    """Options with another value of each parameter, and with other speeds at the start."""
    p = np.asarray(mech.parameter_values())
    return [{}, {"parameters": 1.01 * p}, {"v0": np.full(mech.nv, 0.01)}, {}, {}]


@pytest.mark.parametrize("name", ["pendulum", "puma560", "stewart", "clutch", "slider_crank", "shaker"])
def test_further_runs_are_those_of_new_machines(name):
    model = example(name)
    mech = Mechanism(model)
    for options in changed(mech):
        assert_equal(simulate(mech, 0.1, **options), simulate(Mechanism(model), 0.1, **options))


@pytest.mark.parametrize("options", [{"method": "radau"}, {"method": "rk4"}, {"method": "adams"}, {"closing": 2}])
def test_methods_begin_as_if_for_the_first_time(options):
    model = example("four_bar")
    mech = Mechanism(model)
    for speed in (0.0, 0.1, 0.0):
        wanted = {**options, "v0": np.full(mech.nv, speed)}
        assert_equal(simulate(mech, 0.1, **wanted), simulate(Mechanism(model), 0.1, **wanted))


def test_what_a_run_holds_is_its_own():
    mech = Mechanism(example("puma560"))
    first = simulate(mech, 0.05)
    kept = {name: getattr(first, name).copy() for name in STATES}
    simulate(mech, 0.05, v0=np.ones(mech.nv))
    for name, before in kept.items():
        np.testing.assert_array_equal(getattr(first, name), before, err_msg=name)


def test_settings_of_equal_value_and_other_type_are_checked():
    mech = Mechanism(example("pendulum"))
    simulate(mech, 1.0)
    with pytest.raises(Exception, match="not a positive number"):
        simulate(mech, True)


def test_runs_at_the_same_time_do_not_share_memory():
    model = example("puma560")
    mech, found = Mechanism(model), []
    simulate(mech, 0.5)
    threads = [Thread(target=lambda: found.append(simulate(mech, 0.5))) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for run in found:
        assert_equal(run, found[0])


def test_a_machine_that_is_gone_keeps_no_runs():
    mech = Mechanism(example("pendulum"))
    simulate(mech, 0.01)
    before = len(_kept._of)
    del mech
    assert len(_kept._of) < before


def test_runs_that_change_their_method_begin_with_the_first_again():
    model = example("damped_pendulum")
    joints = tuple(replace(each, damping=1e5) if isinstance(each, Joint) else each for each in model.joints)
    mech = Mechanism(replace(model, joints=joints))
    one, other = simulate(mech, 10.0), simulate(mech, 10.0)
    assert any("stiff" in note for note in one.notes)
    assert_equal(one, other)
