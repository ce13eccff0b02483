"""Runs and interactive dynamics of the window begin at the pose that is shown, of every machine with loops."""

import numpy as np
import pytest

from app.document.session import Session
from app.runs.run_settings import RunSettings, find_initial_state, simulate_arguments
from core.errors import AssemblyError
from core.simulation.live import Live
from core.simulation.run.initial_state import start_state
from tests.mechanism.test_poses_by_name import LOOPED, closed_poses, machine


@pytest.mark.parametrize("name", LOOPED)
def test_a_run_begins_at_the_pose_that_is_shown(name):
    mech = machine(name)
    session = Session(mech.model)
    for q in closed_poses(mech, 2):
        session.pose("Pose", q)
        np.testing.assert_allclose(session.q, q, rtol=0.0, atol=1e-9)
        settings = RunSettings()
        given = simulate_arguments(settings, session, find_initial_state(settings, session))
        p = session.mech.parameter_values(given["parameters"])
        state = start_state(session.mech, given["q0"], given["v0"], p)
        np.testing.assert_allclose(state[: mech.nq], q, rtol=0.0, atol=1e-9)
        live = Live(session.mech, session.q)
        np.testing.assert_allclose(live.q, q, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(
            Live(session.mech, dict(zip(mech.q_names, q, strict=True))).q, q, rtol=0.0, atol=1e-9
        )


@pytest.mark.parametrize("name", LOOPED)
def test_coordinates_by_all_their_names_are_the_pose_that_is_shown(name):
    mech = machine(name)
    session = Session(mech.model)
    for q in closed_poses(mech, 2):
        session.preview_coordinates(dict(zip(mech.q_names, q, strict=True)))
        session.commit("Pose")
        np.testing.assert_allclose(session.q, q, rtol=0.0, atol=1e-9)


def test_speeds_that_are_typed_are_kept_or_an_error():
    """Of a four-bar's crank the others follow; two that contradict each other are told, not averaged."""
    mech = machine("four_bar")
    session = Session(mech.model)
    p = mech.parameter_values()

    def begun(**speeds):
        settings = RunSettings(speeds=speeds)
        given = simulate_arguments(settings, session, find_initial_state(settings, session))
        return start_state(session.mech, given["q0"], given["v0"], p)[mech.nq :]

    v = begun(crank_pin=1.0)
    assert v[0] == 1.0
    np.testing.assert_allclose(mech.constraint_jacobian(session.q) @ v, 0.0, atol=1e-9)
    np.testing.assert_allclose(begun(crank_pin=1.0, rocker_pin=float(v[2])), v, atol=1e-6)
    with pytest.raises(AssemblyError, match="rocker_pin|crank_pin"):
        begun(crank_pin=1.0, rocker_pin=float(v[2]) + 0.5)
    with pytest.raises(AssemblyError):
        begun(crank_pin=1.0, rocker_pin=0.0)
