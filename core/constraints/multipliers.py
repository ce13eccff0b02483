"""Loops in motion: accelerations, forces and speeds of a mechanism whose cut joints hold.

M a + h = τ + Gᵀ λ,  G a = −Ġ v  (Featherstone, RBDA 8.4–8.5; Siciliano 7.4). Redundant rows of G (a planar loop of
revolute joints has two) leave a unique: λ is the least-norm solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.assembly import per_state
from core.constraints.undefined_formulas import REMEDY, undefined_formula
from core.errors import KinetostatError, ModelError, SimulationError
from core.multibody.parameter_values import Values
from core.numerics.tolerances import RANK_TOLERANCE

if TYPE_CHECKING:
    from core.mechanism.mechanism import Mechanism

Array = NDArray[np.float64]


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
    multipliers = np.linalg.pinv(G @ M_GT, rcond=RANK_TOLERANCE, hermitian=True) @ (-G_bias[..., None] - G @ free)
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


def constrained_motion(
    mech: Mechanism, q: Any, v: Any, tau: Any, p: Values, passive: bool, t: Any = 0.0, x: Any = None
) -> tuple[Array, Array]:
    """(…, nv) accelerations, and (…, rows) multipliers of what holds."""
    q, v, tau = (np.asarray(each, dtype=float) for each in (q, v, tau))
    rhs = tau - mech.bias(q, v, p=p, passive=passive, t=t, x=x)
    M = mech.mass_matrix(q, p=p)
    try:
        if not mech.constrained:
            return np.linalg.solve(M, rhs[..., None])[..., 0], np.zeros((*rhs.shape[:-1], 0))
        G, G_bias = mech.constraint_jacobian(q, p=p), mech._call("constraint_bias", p, q, v, t=t)
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
        return constrained_motion(self.mech, q, v, tau, None, True)[0]


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
    if v is not None and np.ndim(v) == 1 and (culprit := undefined_formula(mech, states[0], v, p, t, x)):
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
    named = (actuators,) if isinstance(actuators, str) else actuators
    leading = np.broadcast_shapes(q.shape[:-1], tau.shape[:-1], values.shape[:-1])
    states, forces, rows = (per_state(x, leading) for x in (q, tau, values))
    lasting = np.array([row.collection != "drivers" for row in mech._program.constraint_rows], dtype=bool)
    result = np.zeros(forces.shape)
    for k, (state, force, row) in enumerate(zip(states, forces, rows, strict=True)):
        G = mech.constraint_jacobian(state, p=row)[lasting]
        chosen = independent(G) if named is None else [_speed(mech, name) for name in named]
        _, sizes, right = np.linalg.svd(G)
        motions = right[np.count_nonzero(sizes > RANK_TOLERANCE * np.max(sizes, initial=0.0)) :]
        wanted = motions @ force
        result[k, chosen] = np.linalg.pinv(motions[:, chosen], rcond=RANK_TOLERANCE) @ wanted
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
    rank = np.linalg.matrix_rank(G, tol=RANK_TOLERANCE * max(largest, 1e-300))
    dependent: list[int] = []
    for k in range(nv - 1, -1, -1):
        if len(dependent) == rank:
            break
        if np.linalg.matrix_rank(G[:, [*dependent, k]], tol=1e-7 * largest) == len(dependent) + 1:
            dependent.append(k)
    return [k for k in range(nv) if k not in dependent]
