"""The arm under control: errors that its controllers leave are those of statics, and vanish where they should."""

import numpy as np
import pytest

import kinetostat as ks
from core.files.named import load
from core.simulation.simulator import simulate


@pytest.fixture(scope="module")
def arm():
    return ks.Mechanism(load("tracking_arm"))


@pytest.mark.parametrize("loads", [{}, {"load": 4.0, "Ts": 0.004}])
def test_the_arm_sags_by_what_its_controller_does_not_know_of_the_load(arm, loads):
    """At rest M̂ kp e = G − Ĝ holds for shoulder and elbow, whose accelerations the controller asks for."""
    run = simulate(arm, 8.0, parameters=loads, output=0.1)
    given = dict(zip(arm.p_names, arm.parameter_values(loads).tolist(), strict=True))
    assumed = arm.parameter_values({**given, "load": given["assumed"]})
    q = run.q[-1]
    assert np.abs(run.v[-1]).max() < 1e-3
    M = arm.mass_matrix(q, p=assumed)[:2, :2]
    missing = arm.gravity(q, p=arm.parameter_values(loads))[:2] - arm.gravity(q, p=assumed)[:2]
    error = [run[f"track.{joint}.error"][-1] for joint in ("shoulder", "elbow")]
    assert np.allclose(error, np.linalg.solve(M, missing) / given["kp"], rtol=2e-3)
    assert np.abs(error).max() > 0.01
    assert abs(run["level.wrist.error"][-1]) < 2 * np.pi / 65536 + 1e-4


def test_it_follows_its_motion_with_the_true_load(arm):
    run = simulate(arm, 5.0, parameters={"load": 2.0}, output=0.05)
    planned = ks.plan(arm, "lift", p={"load": 2.0})
    q = np.array([planned.at(t)[0] for t in run.time])
    assert np.abs(run.q[:, :2] - q[:, :2]).max() < 0.005
