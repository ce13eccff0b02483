"""Speeds and accelerations of which some are given: these are kept, all others follow, what contradicts is an error."""

import numpy as np
import pytest

from core.constraints.assembly import random_pose
from core.errors import AssemblyError, ModelError
from core.files import load
from core.mechanism import Mechanism
from core.simulation import simulate
from core.simulation.run.recorded import build_recorded_run
from resources import EXAMPLES
from tests.functions.consistent_states import SMALL, model_of


@pytest.fixture(scope="module")
def four_bar():
    return Mechanism(load(EXAMPLES / "four_bar.kst"))


def test_a_named_speed_is_kept_and_the_loop_follows(four_bar):
    q = four_bar.rest()
    for name in four_bar.v_names:
        v = four_bar.speeds(q, {name: 0.5})
        assert v[four_bar.v_names.index(name)] == 0.5
        np.testing.assert_allclose(four_bar.constraint_jacobian(q) @ v, 0.0, atol=1e-14)


def test_assembly_keeps_speeds_as_simulation_does(four_bar):
    q = four_bar.rest()
    by_name = four_bar.assemble(q, {"crank_pin": 3.0})[1]
    assert by_name[0] == 3.0
    np.testing.assert_allclose(four_bar.assemble(q, [3.0, 0.0, 0.0])[1], by_name, atol=1e-14)
    for v0 in ({"crank_pin": 3.0}, [3.0, 0.0, 0.0]):
        run = simulate(four_bar.model, 0.01, v0=v0)
        np.testing.assert_allclose(run.v[0], by_name, atol=1e-12)


def test_whole_speeds_that_do_not_agree_become_the_nearest(four_bar):
    q, given = four_bar.rest(), np.ones(3)
    v = four_bar.assemble(q, given)[1]
    G = four_bar.constraint_jacobian(q)
    np.testing.assert_allclose(v, given - np.linalg.pinv(G) @ G @ given, atol=1e-12)
    np.testing.assert_allclose(four_bar.assemble(q, v)[1], v, atol=1e-12)


def test_fixed_joints_keep_their_speeds(four_bar):
    q = four_bar.rest()
    for name in four_bar.v_names:
        v = four_bar.assemble(q, [0.3, 0.2, 0.1], fixed=[name])[1]
        at = four_bar.v_names.index(name)
        assert v[at] == pytest.approx([0.3, 0.2, 0.1][at], abs=1e-14)
        np.testing.assert_allclose(four_bar.constraint_jacobian(q) @ v, 0.0, atol=1e-13)
    with pytest.raises(AssemblyError, match="rocker_pin"):
        four_bar.assemble(q, [0.3, 0.2, 0.1], fixed=["crank_pin", "rocker_pin"])


@pytest.mark.parametrize("given", [{"crank_pin": 1.0, "rocker_pin": 0.0}, {"crank_pin": 0.0, "rocker_pin": 1.0}])
def test_what_contradicts_is_an_error_that_says_what_fits(four_bar, given):
    with pytest.raises(AssemblyError, match="rocker_pin") as told:
        four_bar.speeds(four_bar.rest(), given)
    assert "follows" in told.value.remedy
    fitting = four_bar.speeds(four_bar.rest(), {"crank_pin": given["crank_pin"]})[2]
    assert f"{fitting:.4g} rad/s" in told.value.what
    with pytest.raises(AssemblyError, match="rocker_pin"):
        simulate(four_bar.model, 0.01, v0=given)


def test_what_agrees_to_printed_digits_is_no_contradiction(four_bar):
    q = four_bar.rest()
    v = four_bar.speeds(q, {"crank_pin": 1.0})
    printed = {name: float(f"{x:.6g}") for name, x in zip(four_bar.v_names, v, strict=True)}
    np.testing.assert_allclose(four_bar.speeds(q, printed), v, atol=2e-6)


@pytest.mark.parametrize("given", [{"nobody": 1.0}, {"crank_pin": np.nan}])
def test_bad_names_and_numbers_are_messages(four_bar, given):
    with pytest.raises(ModelError):
        four_bar.speeds(four_bar.rest(), given)


def test_other_legs_of_a_platform_stand_still():
    mech = Mechanism(load(EXAMPLES / "stewart.kst"))
    v = dict(zip(mech.v_names, mech.speeds(mech.rest(), {"leg1.slide": 0.1}), strict=True))
    assert v["leg1.slide"] == 0.1
    assert max(abs(v[f"leg{k}.slide"]) for k in range(2, 7)) < 1e-12


def test_in_a_tree_what_is_not_named_is_zero():
    mech = Mechanism(load(EXAMPLES / "puma560.kst"))
    np.testing.assert_array_equal(mech.speeds(mech.rest(), {"joint2": 2.0}), [0, 2, 0, 0, 0, 0])
    v = mech.speeds(mech.rest(), {"joint2": 2.0})
    np.testing.assert_array_equal(mech.accelerations(mech.rest(), v, {"joint3": 1.0}), [0, 0, 1, 0, 0, 0])


def test_accelerations_follow_and_given_speeds_stay_steady(four_bar):
    q = four_bar.rest()
    v = four_bar.speeds(q, {"rocker_pin": 1.0})
    a = four_bar.accelerations(q, v, {}, steady=["rocker_pin"])
    assert a[2] == 0.0
    own = four_bar.accelerations(q, v, {"crank_pin": 2.0}, steady=["rocker_pin"])
    assert own[0] == pytest.approx(2.0, abs=1e-14)
    for each in (a, own):  # with these accelerations the loop stays closed to third order
        ways = [q + v * h + 0.5 * each * h * h for h in (1e-2, 1e-3)]
        moved = [four_bar.assemble(way) - way for way in ways]
        assert np.max(np.abs(moved[1])) < 2e-3 * np.max(np.abs(moved[0])) + 1e-12


@pytest.mark.parametrize("machine", SMALL)
def test_random_poses_are_closed(machine):
    mech = Mechanism(model_of(machine))
    for seed in range(5):
        q = random_pose(mech.compiled, np.random.default_rng(seed))
        assert np.max(np.abs(mech.constraint_residual(q))) < 1e-8


@pytest.mark.parametrize(("machine", "name"), [("rods", "crank_pin"), ("gears", "sun"), ("drivers", "wrist")])
def test_recorded_runs_follow_what_holds_the_machine(machine, name):
    mech = Mechanism(model_of(machine))
    time = np.linspace(0.0, 0.5, 51)
    start = mech.rest()[mech.q_names.index(name)]
    column = start + 0.1 * np.sin(2.0 * time)
    run = build_recorded_run(mech, {}, ("t", name), np.column_stack([time, column]), {}, "recorded")
    assert np.max(np.abs(mech.constraint_residual(run.q, t=time))) < 1e-7
    rates = np.gradient(run.q, time, axis=0, edge_order=2)
    np.testing.assert_allclose(run.v, rates, atol=2e-3)
    np.testing.assert_allclose(run.a, np.gradient(run.v, time, axis=0, edge_order=2), atol=2e-2)
    own = mech.v_names.index(name)
    np.testing.assert_allclose(run.v[:, own], 0.2 * np.cos(2.0 * time), atol=1e-4)
    follows = mech.forward_dynamics(run.q, run.v, run.tau, t=time)
    np.testing.assert_allclose(follows, run.a, atol=1e-6)
