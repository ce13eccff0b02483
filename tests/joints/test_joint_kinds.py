"""Joint laws against the derivatives of their own poses."""

import math

import numpy as np
import pytest

from core.errors import ModelError
from core.joints import JOINT_KINDS, Free, Planar
from core.joints.reversed import Reversed
from core.mechanics.kinematics import span

AXIS, SECOND, PITCH = (0.3, -0.5, 0.8), (0.9, 0.2, 0.4), 0.7
KINDS = sorted(JOINT_KINDS)


def law_of(kind, is_reversed=False):
    law = JOINT_KINDS[kind].read(AXIS, SECOND, PITCH)[0]
    return Reversed(law) if is_reversed else law


def state(kind, seed=0):
    rng = np.random.default_rng(seed)
    info = JOINT_KINDS[kind]
    q = rng.uniform(-1.0, 1.0, info.nq)
    if info.nq > info.nv:
        q[-4:] /= np.linalg.norm(q[-4:])
    return q, rng.uniform(-1.0, 1.0, info.nv)


def numbers(q):
    return [float(x) for x in q]


def matrix(law, q):
    X = law.pose(numbers(q))
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = np.array(X.rotation, dtype=float), np.array(X.position, dtype=float)
    return out


def velocity(law, q, v):
    V = span(law.subspace(numbers(q)), numbers(v))
    return np.array([*V.angular, *V.linear], dtype=float)


@pytest.mark.parametrize("is_reversed", [False, True], ids=["forward", "reversed"])
@pytest.mark.parametrize("kind", KINDS)
def test_velocity_is_the_derivative_of_the_pose(kind, is_reversed):
    """In b's axes: [ω]× = Rᵀ Ṙ, v = Rᵀ ṗ."""
    law, (q, v), h = law_of(kind, is_reversed), state(kind), 1e-6
    ahead, behind = matrix(law, JOINT_KINDS[kind].moved(q, h * v)), matrix(law, JOINT_KINDS[kind].moved(q, -h * v))
    rate = np.linalg.inv(matrix(law, q)) @ (ahead - behind) / (2 * h)
    V = velocity(law, q, v) if law.nv else np.zeros(6)
    np.testing.assert_allclose([rate[2, 1], rate[0, 2], rate[1, 0], *rate[:3, 3]], V, atol=1e-8)


@pytest.mark.parametrize("is_reversed", [False, True], ids=["forward", "reversed"])
@pytest.mark.parametrize("kind", KINDS)
def test_bias_is_the_rate_of_the_columns(kind, is_reversed):
    law, (q, v), h = law_of(kind, is_reversed), state(kind, 1), 1e-6
    rate = (
        velocity(law, JOINT_KINDS[kind].moved(q, h * v), v) - velocity(law, JOINT_KINDS[kind].moved(q, -h * v), v)
    ) / (2 * h)
    c = law.bias(numbers(q), numbers(v))
    np.testing.assert_allclose(np.array([*c.angular, *c.linear], dtype=float), rate, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_rate_and_difference_fit_integration(kind):
    law, (q, v), h = law_of(kind), state(kind, 2), 1e-6
    rate = (JOINT_KINDS[kind].moved(q, h * v) - JOINT_KINDS[kind].moved(q, -h * v)) / (2 * h)
    np.testing.assert_allclose(np.array(law.rate(numbers(q), numbers(v)), dtype=float), rate, atol=1e-8)
    np.testing.assert_allclose(JOINT_KINDS[kind].between(q, JOINT_KINDS[kind].moved(q, v)), v, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_springs_pull_along_the_displacement(kind):
    """The displacement from rest has the square of the distance as potential: d(½|x|²)/dt = x·v."""
    law, (q, v), h = law_of(kind), state(kind, 3), 1e-6
    rest = JOINT_KINDS[kind].neutral

    def half_square(q):
        return 0.5 * sum(float(x) ** 2 for x in law.displacement(numbers(q), rest))

    slope = (half_square(JOINT_KINDS[kind].moved(q, h * v)) - half_square(JOINT_KINDS[kind].moved(q, -h * v))) / (2 * h)
    assert sum(float(x) * y for x, y in zip(law.displacement(numbers(q), rest), v, strict=True)) == pytest.approx(
        slope, abs=1e-8
    )


@pytest.mark.parametrize("kind", KINDS)
def test_closure_vanishes_on_the_joints_own_motion_and_nowhere_near(kind):
    law, (q, _) = law_of(kind), state(kind, 4)
    gaps = law.residual(law.pose(numbers(q)))
    assert len(gaps) == JOINT_KINDS[kind].constraints
    np.testing.assert_allclose(np.array(gaps, dtype=float), 0.0, atol=1e-12)
    # a general displacement is felt in as many independent ways as the joint has constraints
    h, free = 1e-6, Free()
    columns = []
    for k in range(6):
        step = np.zeros(6)
        step[k] = h
        off = law.pose(numbers(q)) @ free.pose(numbers(Free.moved(np.array([0.0] * 6 + [1.0]), step)))
        columns.append(np.array(law.residual(off), dtype=float) / h)
    if gaps:
        assert np.linalg.matrix_rank(np.array(columns), tol=1e-3) == len(gaps)


def test_conventions():
    """Screw: pitch per revolution; universal: a's axis, then b's; planar: x, y, angle; free: position first."""
    screw = law_of("screw")
    assert float(screw.pose([2.0 * math.pi]).position.z) == pytest.approx(PITCH)
    planar = Planar().pose([0.3, -0.2, math.pi / 2])
    np.testing.assert_allclose(np.array(planar.position, dtype=float), [0.3, -0.2, 0.0])
    np.testing.assert_allclose(np.array(planar.rotation.columns()[0], dtype=float), [0.0, 1.0, 0.0], atol=1e-15)
    free = Free().pose([1.0, 2.0, 3.0, 0.0, 0.0, math.sin(0.5), math.cos(0.5)])
    np.testing.assert_allclose(np.array(free.position, dtype=float), [1.0, 2.0, 3.0])
    assert math.atan2(free.rotation.y.x, free.rotation.x.x) == pytest.approx(1.0)


def test_parallel_axes_of_a_universal_joint_are_refused():
    with pytest.raises(ModelError, match="parallel"):
        JOINT_KINDS["universal"].read((0.0, 0.0, 2.0), (0.0, 0.0, -1.0), 0.0)
