"""Mass that a frame opposes to accelerations, dynamically consistent inverse and null space of its Jacobian.

With M = L Lᵀ, constraints G v = 0 and u = Lᵀ v, admissible speeds are those with (L⁻¹ Gᵀ)ᵀ u = 0; U spans the columns
of L⁻¹ Gᵀ. The frame moves with Yᵀ u, Y = (1 − U Uᵀ) L⁻¹ Jᵀ = P Σ Qᵀ (singular values that are not zero). So

    Λ = (YᵀY)⁺ = Q Σ⁻² Qᵀ,   J̄ = L⁻ᵀ P Σ⁻¹ Qᵀ,   N = L⁻ᵀ (1 − U Uᵀ − P Pᵀ) Lᵀ

(Khatib, IEEE J. Robotics and Automation 3, 1987, without constraints). Where massless bodies make M singular, M + ρ GᵀG
takes its place, which is the same for admissible speeds (`core.constraints.multipliers`).
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.mechanics.multibody.parameter_values import Values
from core.numerics.tolerances import RANK_TOLERANCE
from core.programs.compiled import CompiledModel
from core.programs.not_finite import singularity_error

Array = NDArray[np.float64]
Part = Literal["both", "translation", "rotation"]
_ROWS: dict[str, slice] = {"both": slice(0, 6), "rotation": slice(0, 3), "translation": slice(3, 6)}


class OperationalMass(NamedTuple):
    """Mass Λ (…, m, m) of a frame, kg·m², kg·m, kg, and dynamically consistent inverse J̄ (…, nv, m) of its
    Jacobian."""

    mass: Array
    inverse: Array


class _Task(NamedTuple):
    """Decomposition of a frame's motion: L, U, and Y = P Σ Qᵀ with the inverse singular values 1/σ, zero for those
    that are zero."""

    L: Array
    U: Array
    P: Array
    inverse_sizes: Array
    QT: Array


def select_rows(J: Array, part: Part) -> Array:
    """(…, m, nv) rows of a Jacobian [ω; v]."""
    if part not in _ROWS:
        raise ModelError(f"There is no part '{part}'.", where="part", remedy="Give both, translation or rotation.")
    return J[..., _ROWS[part], :]


def compute_operational_mass(compiled: CompiledModel, q: Any, J: Array, p: Values) -> OperationalMass:
    """Compute Λ and J̄ of a task with Jacobian J (…, m, nv)."""
    task = _decompose(compiled, q, J, p)
    scaled = task.inverse_sizes[..., None] * task.QT
    inverse = np.linalg.solve(_transpose(task.L), task.P @ scaled)
    return OperationalMass(_transpose(scaled) @ scaled, np.asarray(inverse))


def project_to_null_space(compiled: CompiledModel, q: Any, J: Array, p: Values) -> Array:
    """(…, nv, nv) projection on admissible speeds v with J v = 0, orthogonal in the metric of M."""
    task = _decompose(compiled, q, J, p)
    P = task.P * (task.inverse_sizes > 0.0)[..., None, :]
    free = np.eye(compiled.nv) - task.U @ _transpose(task.U) - P @ _transpose(P)
    return np.asarray(np.linalg.solve(_transpose(task.L), free @ _transpose(task.L)))


def _transpose(A: Array) -> Array:
    return np.swapaxes(A, -1, -2)


def _decompose(compiled: CompiledModel, q: Any, J: Array, p: Values) -> _Task:
    q = np.asarray(q, dtype=float)
    M = compiled.mass_matrix(q, p)
    if not np.isfinite(J).all():
        raise singularity_error(compiled, q, p)
    leading = np.broadcast_shapes(M.shape[:-2], J.shape[:-2])
    G = compiled.call("constraint_jacobian", q, p=p) if compiled.constrained else np.zeros((0, compiled.nv))
    M, J, G = (np.broadcast_to(each, (*leading, *each.shape[-2:])) for each in (M, J, G))
    L = _factorise_mass(compiled, q, M, G, p)
    Y, U = np.linalg.solve(L, _transpose(J)), np.zeros((*leading, compiled.nv, 0))
    if compiled.constrained:  # the rank is that of G itself: a light body next to a heavy one makes no row redundant
        U, _, _ = np.linalg.svd(np.linalg.solve(L, _transpose(G)), full_matrices=False)
        U = U * _nonzero_mask(np.linalg.svd(G, compute_uv=False))[..., None, :]
    free = Y - U @ (_transpose(U) @ Y)
    P, sizes, QT = np.linalg.svd(free, full_matrices=False)
    largest = np.linalg.norm(Y, axis=(-2, -1))[..., None]
    inverse_sizes = np.zeros(sizes.shape)
    np.divide(1.0, sizes, out=inverse_sizes, where=(sizes > RANK_TOLERANCE * largest) & (sizes > 0.0))
    return _Task(L, U, P, inverse_sizes, QT)


def _nonzero_mask(sizes: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
    return np.asarray(sizes > RANK_TOLERANCE * np.max(sizes, axis=-1, keepdims=True, initial=0.0))


def _factorise_mass(compiled: CompiledModel, q: Array, M: Array, G: Array, p: Values) -> Array:
    """Return L (…, nv, nv) with M = L Lᵀ. Raises SimulationError that names the joint that moves no mass."""
    try:
        return np.asarray(np.linalg.cholesky(M))
    except np.linalg.LinAlgError:
        pass
    GTG = _transpose(G) @ G
    sizes = (np.trace(each, axis1=-2, axis2=-1) for each in (M, GTG))
    masses, rows = (np.where(size > 0.0, size, 1.0) for size in sizes)
    try:
        return np.asarray(np.linalg.cholesky(M + (masses / rows)[..., None, None] * GTG))
    except np.linalg.LinAlgError:
        raise singularity_error(compiled, q, p) from None
