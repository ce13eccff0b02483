"""States and estimated errors brought back onto the manifold: by the least change in the metric of M."""

import ctypes
import dataclasses

import numpy as np
import pytest

from core.machine_code.outcome import Outcome
from core.mechanism import Mechanism
from core.model import Body, Driver, Inertia, Joint, Model
from core.simulation.equations.compiled_equations import CompiledEquations
from core.simulation.equations.constrained import BRANCH_JUMP_ERROR
from tests.constraints.mobility import overconstrained

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_double, ctypes.c_int64, ctypes.c_int64)
TIME = 0.4
"""s"""
SMALL = 1e-5
"""Distance from the manifold (rad, m, or per s) of which squares count as nothing."""


def driven(motion):
    """A four-bar whose crank's angle, or its speed, is 0.3 t²."""
    driver = Driver(name="motor", joint="J1", motion=motion, function="0.3*t^2")
    return dataclasses.replace(overconstrained.planar_fourbar(), drivers=(driver,))


def seated():
    """A floating body that only turns about an axis."""
    joints = (
        Joint(name="loose", kind="free", parent="world", child="body"),
        Joint(name="seat", parent="world", child="body", axis=(0.6, 0.0, 0.8), cut="yes"),
    )
    solid = Inertia(ixx=0.1, iyy=0.2, izz=0.3, ixy=0.02)
    return Model(
        name="seated",
        bodies=(Body(name="body", mass=2.0, center_of_mass=(0.1, 0.3, 0.2), inertia=solid),),
        joints=joints,
    )


MACHINES = {
    "four-bar": (overconstrained.planar_fourbar, 0.0),
    "driven angle": (lambda: driven("position"), 0.6 * TIME),
    "driven speed": (lambda: driven("velocity"), 0.3 * TIME**2),
    "quaternion": (seated, 0.0),
}
"""Model, and the speed that its driver prescribes at TIME."""


class Projection:
    """The entry that projects, called from Python with a state near the manifold and an estimate of its error."""

    def __init__(self, name, leap=0.0):
        model, self.speed = MACHINES[name]
        self.mech = mech = Mechanism(model())
        rng = np.random.default_rng(3)
        q, v = mech.assemble(mech.rest(t=TIME), rng.normal(size=mech.nv), t=TIME)
        self.q, self.v = mech.integrate(q, SMALL * rng.normal(size=mech.nv)), v + rng.normal(size=mech.nv)
        self.error = SMALL * rng.normal(size=mech.nq + mech.nv)
        self.error[0] += leap
        self.left, y = self.error.copy(), np.concatenate([self.q, self.v])
        equations = CompiledEquations(mech, None, mech.parameter_values(), y, closed_forms=False)
        place = equations.system.place
        self.happened = ENTRY(int(equations.project))(place, TIME, y.ctypes.data, self.left.ctypes.data)
        self.closed, self.moving = np.split(y, [mech.nq])
        self.G, self.M = mech.constraint_jacobian(self.closed), mech.mass_matrix(self.closed)
        self.levels = np.array([row.level for row in mech.compiled.rows])
        self.wanted = np.array([self.speed * (row.collection == "drivers") for row in mech.compiled.rows])

    def nearest(self, x, level, wanted=0.0):
        """The x nearest in the metric of M with G x = wanted, but unchanged in rows that do not hold on a level."""
        G, weights = self.G, np.linalg.inv(self.M)
        way = np.where(self.levels <= level, wanted - G @ x, 0.0)
        return x + weights @ G.T @ np.linalg.pinv(G @ weights @ G.T, rcond=1e-9) @ way


@pytest.fixture(scope="module", params=MACHINES)
def projection(request):
    made = Projection(request.param)
    assert made.happened == Outcome.FINE
    return made


def test_positions_close_by_the_least_change(projection):
    mech = projection.mech
    gaps = mech.constraint_residual(projection.q, t=TIME)
    assert np.max(np.abs(gaps)) > 0.1 * SMALL
    assert np.max(np.abs(mech.constraint_residual(projection.closed, t=TIME)[projection.levels == 0])) < 1e-12
    moved = mech.difference(projection.q, projection.closed)
    least = projection.nearest(np.zeros(mech.nv), 0, -gaps)
    np.testing.assert_allclose(moved, least, atol=100.0 * SMALL**2)


def test_speeds_follow_drivers_by_the_least_change(projection):
    np.testing.assert_allclose(
        projection.moving, projection.nearest(projection.v, 1, projection.wanted), rtol=0, atol=1e-9
    )


def test_of_errors_stays_what_the_manifold_leaves(projection):
    """Errors follow no driver: what it prescribes is known. Positions with quaternions keep theirs."""
    nq = projection.mech.nq
    positions, speeds = np.split(projection.error, [nq])
    left = projection.left
    np.testing.assert_allclose(left[nq:], projection.nearest(speeds, 1), rtol=0, atol=1e-9 * SMALL)
    if nq > projection.mech.nv:
        assert list(left[:nq]) == list(positions)
    else:
        np.testing.assert_allclose(left[:nq], projection.nearest(positions, 0), rtol=0, atol=1e-9 * SMALL)
        assert np.linalg.norm(left[:nq] - positions) > 0.1 * SMALL


@pytest.mark.parametrize("leap", [0.5 * BRANCH_JUMP_ERROR, 3.0 * BRANCH_JUMP_ERROR])
def test_a_position_too_uncertain_is_not_projected(leap):
    made = Projection("four-bar", leap)
    assert made.happened == (Outcome.FINE if leap < BRANCH_JUMP_ERROR else Outcome.DRIFTED)
    assert (list(made.closed) == list(made.q)) == (leap > BRANCH_JUMP_ERROR)
