"""Runs that follow a slider are computed in a way that keeps up with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from app.runs.what_if import LOOSEST_TOLERANCE, TIME_BUDGET, RunMethod, RunMethodTimes
from core.files import load
from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Model
from core.simulation import simulate
from resources import examples

WANTED: dict[str, Any] = {"duration": 1.0, "method": "rk54", "rtol": 1e-6, "atol": 1e-8, "step": None}


def test_as_wished_while_that_is_quick_enough() -> None:
    draft = RunMethodTimes(WANTED)
    assert draft.fastest_method == RunMethod("rk54")
    assert draft.fastest_method.apply_to(WANTED) is WANTED
    draft.record_time(RunMethod("rk54"), 0.5 * TIME_BUDGET)
    assert draft.untried_method is None
    assert draft.fastest_method == RunMethod("rk54")


def test_what_keeps_within_the_budget_is_taken_tight_tolerances_first() -> None:
    draft = RunMethodTimes(WANTED)
    draft.record_time(RunMethod("rk54"), 5.0 * TIME_BUDGET)
    assert draft.untried_method == RunMethod("radau")
    draft.record_time(RunMethod("radau"), 3.0 * TIME_BUDGET)
    assert draft.untried_method == RunMethod("radau", 100.0)
    draft.record_time(RunMethod("radau", 100.0), 0.5 * TIME_BUDGET)
    assert draft.untried_method is None
    assert draft.fastest_method == RunMethod("radau", 100.0)
    # Of another pose: the tighter tolerance is quick enough now.
    draft.record_time(RunMethod("radau"), 0.9 * TIME_BUDGET)
    assert draft.fastest_method == RunMethod("radau")


def test_the_quickest_where_none_is_quick_enough_and_never_one_that_failed() -> None:
    draft = RunMethodTimes(WANTED)
    for k, way in enumerate(draft.variants):
        draft.record_time(way, (5.0 - k) * TIME_BUDGET)
    assert draft.untried_method is None
    assert draft.fastest_method == draft.variants[-1]
    draft.record_time(draft.variants[-1], float("inf"))
    assert draft.fastest_method == draft.variants[-2]


def test_tolerances_are_loosened_together_up_to_a_limit_and_steps_are_chosen_for_variable_methods() -> None:
    loose = RunMethod("radau", 100.0).apply_to(WANTED)
    assert loose["method"] == "radau"
    assert (loose["rtol"], loose["atol"]) == pytest.approx((1e-4, 1e-6), rel=1e-12)
    assert RunMethod("rk54", 100.0).apply_to({**WANTED, "rtol": 1e-4})["rtol"] == LOOSEST_TOLERANCE
    assert RunMethod("rk54", 100.0).apply_to({**WANTED, "rtol": 1e-2})["rtol"] == 1e-2
    fixed = {**WANTED, "method": "rk4", "step": 1e-3}
    assert RunMethod("rk4").apply_to(fixed) is fixed
    assert RunMethod("radau").apply_to(fixed)["step"] is None


def test_the_stiff_way_shows_the_motion_that_was_wished_for_of_an_arm_in_syrup() -> None:
    arm = Body(name="arm", mass=1.0, center_of_mass=(0.0, 0.0, -0.5), inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1))
    pin = Joint(name="pin", kind="revolute", parent="world", child="arm", axis=(0.0, 1.0, 0.0), damping=2e3)
    mech = Mechanism(Model(name="arm", bodies=(arm,), joints=(pin,)))
    exact, quick = (simulate(mech, q0=[1.0], **way.apply_to(WANTED)) for way in (RunMethod("rk54"), RunMethod("radau")))
    assert np.abs(quick.q - exact.q).max() < 1e-4
    assert quick.statistics.steps < 0.1 * exact.statistics.steps


def test_a_growing_run_has_the_states_of_its_force_elements() -> None:
    path = next(example.path for example in examples() if example.name == "forces")
    mech = Mechanism(load(path))
    assert mech.nx > 0
    seen: list[Any] = []
    run = simulate(mech, 0.5, watch=seen.append)
    assert np.array_equal(seen[0].x, run.x[: len(seen[0])])
    assert np.array_equal(seen[-1].x, run.x)
    assert len(run.x) == len(run)
