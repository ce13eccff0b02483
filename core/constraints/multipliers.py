"""Loops in motion: accelerations, forces and speeds of a mechanism whose cut joints hold.

M a + h = τ + Gᵀ λ,  G a = −Ġ v  (Featherstone, RBDA 8.4–8.5; Siciliano 7.4). Redundant rows of G (a planar loop of
revolute joints has two) leave a unique: λ is the least-norm solution.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.constraints import failures
from core.constraints.axis_orientation import wrong_way_round
from core.constraints.cut_limits import outside, widened
from core.constraints.redundant_drivers import contradiction, told
from core.constraints.undefined_formulas import REMEDY, broken
from core.errors import KinetostatError, ModelError, SimulationError
from core.multibody.parameter_values import Values
from core.numerics import position_solver

if TYPE_CHECKING:
    from core.mechanism.mechanism import Mechanism

Array = NDArray[np.float64]
RANK = 1e-9
"""Singular values below this part of the largest count as zero."""


def one_state(mech: Mechanism, q: Any) -> Array:
    """q as one state (nq,), or a ModelError."""
    array = _array(q, mech.nq, "q")
    if array.ndim > 1:
        raise ModelError(f"q has shape {array.shape}; one state is needed.", remedy="Give the states one by one.")
    return array


def _array(given: Any, size: int, word: str) -> Array:
    """One state or an array of states, as a copy."""
    try:
        array = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{word} is not an array of numbers.") from None
    if array.shape[-1:] != (size,):
        raise ModelError(
            f"{word} has shape {array.shape}; {size} numbers are needed.",
            remedy=f"mech.{word}_names lists them in order.",
        )
    return array


def _rows(array: Array, leading: tuple[int, ...]) -> Array:
    """The array once for every state, (n, size)."""
    size = array.shape[-1]
    return np.broadcast_to(array, (*leading, size)).reshape(math.prod(leading), size)


def _multipliers(M: Array, rhs: Array, G: Array, G_bias: Array) -> tuple[Array, Array]:
    """(a, λ) of M a − Gᵀ λ = rhs, G a = −G_bias, over leading axes; not finite where sizes are beyond all numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            np.linalg.cholesky(M)
        except np.linalg.LinAlgError:
            return _supported_multipliers(M, rhs, G, G_bias)
        return _definite_multipliers(M, rhs, G, G_bias)


def _definite_multipliers(M: Array, rhs: Array, G: Array, G_bias: Array) -> tuple[Array, Array]:
    """The same where M is positive definite."""
    GT = np.swapaxes(G, -1, -2)
    solved = np.linalg.solve(M, np.concatenate([rhs[..., None], GT], axis=-1))
    free, M_GT = solved[..., :1], solved[..., 1:]
    # G M⁻¹ Gᵀ λ = −Ġ v − G M⁻¹ (τ − h)
    multipliers = np.linalg.pinv(G @ M_GT, rcond=RANK, hermitian=True) @ (-G_bias[..., None] - G @ free)
    return (free + M_GT @ multipliers)[..., 0], multipliers[..., 0]


def _supported_multipliers(M: Array, rhs: Array, G: Array, G_bias: Array) -> tuple[Array, Array]:
    """Where bodies without mass make M singular: M + ρ Gᵀ G has the same accelerations, since G a is given, and
    λ = λ′ + ρ (Ġ v). Raises LinAlgError if that is singular, too."""
    GTG = np.swapaxes(G, -1, -2) @ G
    n = M.shape[-1]
    size = np.trace(M, axis1=-2, axis2=-1) / n
    weight = np.where(size > 0.0, size, 1.0) * n / np.maximum(np.trace(GTG, axis1=-2, axis2=-1), 1e-300)
    supported = M + weight[..., None, None] * GTG
    values = np.linalg.eigvalsh(supported)
    if not (values[..., 0] > 1e-14 * values[..., -1]).all():
        raise np.linalg.LinAlgError
    a, multipliers = _definite_multipliers(supported, rhs, G, G_bias)
    return a, multipliers + weight[..., None] * G_bias


def motion(
    mech: Mechanism, q: Any, v: Any, tau: Any, p: Values, passive: bool, t: Any = 0.0, x: Any = None
) -> tuple[Array, Array]:
    """(…, nv) accelerations, and (…, rows) multipliers of what holds."""
    q, v, tau = (np.asarray(each, dtype=float) for each in (q, v, tau))
    rhs = tau - mech.bias(q, v, p=p, passive=passive, t=t, x=x)
    M = mech.mass_matrix(q, p=p)
    try:
        if not mech.held:
            return np.linalg.solve(M, rhs[..., None])[..., 0], np.zeros((*rhs.shape[:-1], 0))
        G, G_bias = mech.loop_jacobian(q, p=p), mech._call("closure_bias", p, q, v, t=t)
        leading = np.broadcast_shapes(M.shape[:-2], rhs.shape[:-1], G.shape[:-2], G_bias.shape[:-1])
        M, G = (np.broadcast_to(each, (*leading, *each.shape[-2:])) for each in (M, G))
        rhs, G_bias = (np.broadcast_to(each, (*leading, each.shape[-1])) for each in (rhs, G_bias))
        return _multipliers(M, rhs, G, G_bias)
    except np.linalg.LinAlgError:
        raise singular(mech, q, p) from None


class Accelerations:
    """Forward dynamics of a mechanism with loops, in the form of an evaluator."""

    def __init__(self, mech: Mechanism) -> None:
        self.mech = mech

    def call(self, q: Any, v: Any, tau: Any) -> Array:
        """(…, nv) accelerations at (q, v, τ)."""
        return motion(self.mech, q, v, tau, None, True)[0]


def singular(
    mech: Mechanism, q: Array, p: Values, v: Array | None = None, t: float = 0.0, x: Array | None = None
) -> KinetostatError:
    """The message for forward dynamics without a finite result: which joint, or which number."""
    from core.traces.tracer import massless

    states = q.reshape(-1, q.shape[-1])
    bad = ~np.isfinite(states).all(axis=1)
    if bad.any():
        name = mech.q_names[int(np.argmax(~np.isfinite(states[bad][0])))]
        return SimulationError(
            "The coordinate is not a finite number.",
            where=f"coordinate '{name}'",
            remedy="Begin from a finite position.",
        )
    if v is not None and np.ndim(v) == 1 and (culprit := broken(mech, states[0], v, p, t, x)):
        return SimulationError("Its formula gives no finite number.", where=culprit, remedy=REMEDY)
    for M in mech.mass_matrix(q, p=p).reshape(-1, mech.nv, mech.nv):
        if not np.isfinite(M).all():
            break
        values, vectors = np.linalg.eigh(M)
        if values[0] <= 1e-12 * max(values[-1], 1e-300):
            moved = mech.v_names[int(np.argmax(np.abs(vectors[:, 0])))]
            return massless(moved, [joint.name for joint in mech.implicit_joints])
    return SimulationError(
        "The accelerations are not finite numbers.", remedy="Look for extreme values of speeds, forces or parameters."
    )


def at_actuators(mech: Mechanism, q: Any, tau: Array, actuators: Sequence[str] | None, p: Values) -> Array:
    """Tree forces τ replaced by the smallest ones f at the actuators that do the same, B f + Gᵀ λ = τ: Nᵀ B f = Nᵀ τ
    with the motions N that joints and constraints leave (drivers give no force here: they are what actuators do)."""
    q, values = np.asarray(q, dtype=float), mech.parameter_values(p)
    wished = (actuators,) if isinstance(actuators, str) else actuators
    leading = np.broadcast_shapes(q.shape[:-1], tau.shape[:-1], values.shape[:-1])
    states, forces, rows = (_rows(x, leading) for x in (q, tau, values))
    holding = np.array([row.collection != "drivers" for row in mech._program.closure_rows], dtype=bool)
    result = np.zeros(forces.shape)
    for k, (state, force, row) in enumerate(zip(states, forces, rows, strict=True)):
        G = mech.loop_jacobian(state, p=row)[holding]
        chosen = independent(G) if wished is None else [_speed(mech, name) for name in wished]
        _, sizes, right = np.linalg.svd(G)
        motions = right[np.count_nonzero(sizes > RANK * np.max(sizes, initial=0.0)) :]
        wanted = motions @ force
        result[k, chosen] = np.linalg.pinv(motions[:, chosen], rcond=RANK) @ wanted
        if np.max(np.abs(motions @ result[k] - wanted), initial=0.0) > 1e-6 * max(
            1.0, float(np.max(np.abs(force), initial=0.0))
        ):
            names = ", ".join(mech.v_names[i] for i in chosen)
            raise SimulationError(
                f"Forces at {names} alone cannot produce these accelerations.",
                remedy="Name one actuator for each degree of freedom.",
            )
    return result.reshape(*leading, mech.nv)


def _speed(mech: Mechanism, name: str) -> int:
    if name not in mech.v_names:
        raise ModelError(f"There is no speed '{name}'.", remedy="mech.v_names lists them.")
    return mech.v_names.index(name)


def independent(G: Array) -> list[int]:
    """Indices of speeds that determine all others, for G (rows, nv). Dependent ones are sought from the last joint
    back, so that early joints are independent."""
    nv = G.shape[1]
    if not G.size:
        return list(range(nv))
    largest = float(np.linalg.norm(G, 2))
    rank = np.linalg.matrix_rank(G, tol=RANK * max(largest, 1e-300))
    dependent: list[int] = []
    for k in range(nv - 1, -1, -1):
        if len(dependent) == rank:
            break
        if np.linalg.matrix_rank(G[:, [*dependent, k]], tol=1e-7 * largest) == len(dependent) + 1:
            dependent.append(k)
    return [k for k in range(nv) if k not in dependent]


def assembled(
    mech: Mechanism,
    q: Any,
    v: Any,
    p: Values,
    fixed: Sequence[str],
    weights: Mapping[str, float],
    t: float = 0.0,
    limits: bool = True,
) -> Any:
    """See `Mechanism.assemble`."""
    held, cost = np.zeros(mech.nv, dtype=bool), np.ones(mech.nv)
    for name in (fixed,) if isinstance(fixed, str) else fixed:
        held[mech.joint_v(name)] = True
    for name, weight in weights.items():
        if not 0.0 < weight < math.inf:
            raise ModelError(
                f"{weight} is not a positive number.",
                where=f"weight of joint '{name}'",
                remedy="Give 1 for the usual unwillingness to move, more for more.",
            )
        cost[mech.joint_v(name)] = weight
    q = _array(q, mech.nq, "q")
    q = mech.clamp(q) if limits else mech.integrate(q, np.zeros(mech.nv))
    if not np.isfinite(q).all():
        raise ModelError("q holds something that is not a finite number.", where="q", remedy="Begin from numbers.")
    speeds = None if v is None else _array(v, mech.nv, "v")
    values = mech.parameter_values(p)
    leading = np.broadcast_shapes(q.shape[:-1], () if speeds is None else speeds.shape[:-1], values.shape[:-1])
    states, rows = _rows(q, leading), _rows(values, leading)
    pairs = zip(states, rows, strict=True)
    closed = np.array([_assembled_state(mech, *pair, held, cost, t, limits) for pair in pairs])
    q = closed.reshape(*leading, mech.nq)
    if speeds is None:
        return q
    moving = zip(closed, _rows(speeds, leading), rows, strict=True)
    consistent = np.array([_moving_state(mech, state, speed, cost, row, t) for state, speed, row in moving])
    return q, consistent.reshape(*leading, mech.nv)


def _assembled_state(
    mech: Mechanism, q: Array, p: Array, held: NDArray[np.bool_], cost: Array, t: float, limits: bool
) -> Array:
    closed, gap = mech._closed(q, cost, held, p, anywhere=True, t=t, bounded=limits)
    if not gap < position_solver.ACCEPTABLE:
        raise failures.assembly_error(mech, closed, p, t)
    if limits and (found := outside(mech, mech.cut_limits, closed, p)) is not None:
        raise failures.beyond_limit(closed, *found)
    return closed


def _moving_state(mech: Mechanism, q: Array, v: Array, cost: Array, p: Array, t: float) -> Array:
    """Consistent speeds; AssemblyError where drivers contradict each other."""
    speeds = consistent_speeds(mech, q, v, cost, p, t)
    if (found := contradiction(mech, q, speeds, p, t)) is not None:
        raise told(mech, found)
    return speeds


def consistent_speeds(mech: Mechanism, q: Array, v: Array, weights: Array, p: Values, t: float = 0.0) -> Array:
    """(nv,) the speeds nearest to v that keep loops closed and follow drivers: G v = ḟ."""
    rows = mech._program.levels <= 1
    if not rows.any():
        return v
    columns = mech.loop_jacobian(q, p=p)[rows] / weights
    open_rate = columns @ (weights * v) + speed_gap(mech, t, p)[rows]
    return v - np.linalg.pinv(columns, rcond=RANK) @ open_rate / weights


def speed_gap(mech: Mechanism, t: Any, p: Values) -> Array:
    """(…, rows) what is to be added to G v: −ḟ of drivers."""
    if not mech._program.timed_closure:
        return np.zeros(len(mech._program.closure_rows))
    return mech._call("closure_time", p, t=t)


def closed_near(mech: Mechanism, q: Array, p: Values, t: float = 0.0, *, start: Array) -> Array | None:
    """(nq,) the position nearest to q that closes all loops; None if that is not found at once (`assembled` searches
    farther).

    start : (nq,) where the way began: limits of joints that close loops are kept, or passed no farther than there
    """
    weights, free = np.ones(mech.nv), np.zeros(mech.nv, dtype=bool)
    closed, gap = mech._closed(q, weights, free, p, t=t)
    limits = widened(mech, start, p) if gap < position_solver.ACCEPTABLE else ()
    if outside(mech, limits, closed, p):
        closed, gap = mech._closed(q, weights, free, p, t=t, limits=limits)
    return closed if gap < position_solver.ACCEPTABLE and not wrong_way_round(mech, closed, p) else None
