"""Accelerations and constraint multipliers of machines with loops, constraints and drivers.

    M a + h = τ + Gᵀ λ,   G a = −(Ġ v − f̈)   (Featherstone, RBDA 8.4–8.5; Siciliano 7.4)

Without constraints a₀ = M⁻¹ (τ − h); they change it by the least there is in the metric of M (Gauss's principle):
a = a₀ + M⁻¹ Gᵀ λ with G M⁻¹ Gᵀ λ = −(Ġ v − f̈) − G a₀. Redundant rows of G (a planar loop of revolute joints has two)
leave a unique; λ is then the solution of least norm. Where bodies without mass make M singular, the support
M + ρ Gᵀ G takes its place: with G a given both have the same a, and λ grows by ρ (Ġ v − f̈).

Large machines with few entries are solved by sparse elimination, from the rows that `core.numerics.fronts` finds
independent. `core.simulation.equations.constrained` is the compiled form of the same for runs,
`core.simulation.equations.reduced` its reduction to independent speeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.consistent_motion import BARELY, choose_independent_speeds
from core.constraints.named_values import broadcast_to_states, unknown_name_error
from core.errors import SimulationError
from core.mechanics.multibody.parameter_values import Values
from core.numerics.fronts import FrontalFactorisation
from core.numerics.matrix_forms import Matrix
from core.numerics.rank import factorise_sparse, nonzero_row_mask, null_space, pseudoinverse
from core.numerics.tolerances import NEGLIGIBLE_PIVOT, REGULAR_FRACTION
from core.programs.compiled import CompiledModel
from core.programs.not_finite import singularity_error

Array = NDArray[np.float64]


def _solve_multipliers(M: Array, rhs: Array, G: Array, G_bias: Array) -> tuple[Array, Array]:
    """(a, λ) of M a − Gᵀ λ = rhs, G a = −G_bias, over leading axes; not finite if values overflow."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a huge mass leaves no singular value
        try:
            L = np.linalg.cholesky(M)
        except np.linalg.LinAlgError:
            return _solve_with_singular_mass(M, rhs, G, G_bias)
        return _solve_with_definite_mass(L, rhs, G, G_bias)


def _solve_with_definite_mass(L: NDArray[np.floating[Any]], rhs: Array, G: Array, G_bias: Array) -> tuple[Array, Array]:
    """Solve for (a, λ) with M = L Lᵀ, from the singular value decomposition L⁻¹ Gᵀ = U Σ Vᵀ; forming G M⁻¹ Gᵀ would
    square the condition number and cost half of the digits of λ near singular positions. The rank is that of G alone: a
    light body next to a heavy one makes no row redundant."""
    rows = nonzero_row_mask(G)
    G, bias = G[..., rows, :], G_bias[..., rows, None]
    L, G = (np.broadcast_to(each, (*G_bias.shape[:-1], *each.shape[-2:])) for each in (L, G))
    solved = np.linalg.solve(L, np.concatenate([rhs[..., None], np.swapaxes(G, -1, -2)], axis=-1))
    free, sides = solved[..., :1], solved[..., 1:]
    U, sizes, VT = _thin_svd(sides)
    weights = np.zeros_like(sizes)
    held = _thin_svd(G)[1]
    number = (held > REGULAR_FRACTION * np.max(held, axis=-1, keepdims=True, initial=0.0)).sum(axis=-1, keepdims=True)
    kept = np.arange(sizes.shape[-1]) < number
    np.divide(1.0, sizes, out=weights, where=kept)
    weights = weights[..., None]
    given = weights * (VT @ bias)
    taken = np.where(kept[..., None], np.swapaxes(U, -1, -2) @ free, 0.0)
    a = np.linalg.solve(np.swapaxes(L, -1, -2), free - U @ (taken + given))[..., 0]
    multipliers = np.zeros(G_bias.shape)
    multipliers[..., rows] = -(np.swapaxes(VT, -1, -2) @ (weights * (taken + given)))[..., 0]
    return np.asarray(a, dtype=float), multipliers


def _thin_svd(A: Array) -> tuple[Array, Array, Array]:
    """Thin U, Σ, Vᵀ; NaN if A is not finite."""
    try:
        return np.linalg.svd(A, full_matrices=False)
    except np.linalg.LinAlgError:
        m, n = A.shape[-2:]
        small = min(m, n)
        return tuple(np.full((*A.shape[:-2], *shape), np.nan) for shape in ((m, small), (small,), (small, n)))  # type: ignore[return-value]


def _solve_with_singular_mass(M: Array, rhs: Array, G: Array, G_bias: Array) -> tuple[Array, Array]:
    """Solve for (a, λ) with M + ρ Gᵀ G in place of a singular M. Raises LinAlgError if that matrix is singular, too."""
    GTG = np.swapaxes(G, -1, -2) @ G
    n = M.shape[-1]
    size = np.trace(M, axis1=-2, axis2=-1) / n
    weight = np.where(size > 0.0, size, 1.0) * n / np.maximum(np.trace(GTG, axis1=-2, axis2=-1), 1e-300)
    supported = M + weight[..., None, None] * GTG
    values = np.linalg.eigvalsh(supported)
    if not (values[..., 0] > NEGLIGIBLE_PIVOT * values[..., -1]).all():
        raise np.linalg.LinAlgError
    a, multipliers = _solve_with_definite_mass(np.linalg.cholesky(supported), rhs, G, G_bias)
    return a, multipliers + weight[..., None] * G_bias


def solve_constrained_motion(
    compiled: CompiledModel,
    q: Any,
    v: Any,
    tau: Any,
    p: Values,
    passive: bool,
    t: Any = 0.0,
    x: Any = None,
    smooth: bool = False,
) -> tuple[Array, Array]:
    """(…, nv) accelerations and (…, rows) constraint multipliers. smooth : without dry friction of joints"""
    which = "_smooth" if smooth else "" if passive else "_ideal"
    if not compiled.by_mass_matrix:
        a = compiled.call(f"forward_dynamics{which}", q, v, tau, p=p, t=t, x=x)
        return a, a[..., :0]
    q, v, tau = (np.asarray(each, dtype=float) for each in (q, v, tau))
    if compiled.is_sparse and (found := _solve_sparse_motion(compiled, q, v, tau, p, which, t, x)) is not None:
        return found
    rhs = tau - compiled.call(f"bias{which}", q, v, p=p, t=t, x=x)
    M = compiled.mass_matrix(q, p)
    try:
        if not compiled.constrained:
            return np.linalg.solve(M, rhs[..., None])[..., 0], np.zeros((*rhs.shape[:-1], 0))
        G, G_bias = compiled.call("constraint_jacobian", q, p=p), compiled.call("constraint_bias", q, v, p=p, t=t)
        leading = np.broadcast_shapes(M.shape[:-2], rhs.shape[:-1], G.shape[:-2], G_bias.shape[:-1])
        M, G = (np.broadcast_to(each, (*leading, *each.shape[-2:])) for each in (M, G))
        rhs, G_bias = (np.broadcast_to(each, (*leading, each.shape[-1])) for each in (rhs, G_bias))
        return _solve_multipliers(M, rhs, G, G_bias)
    except np.linalg.LinAlgError:
        raise singularity_error(compiled, q, p) from None


def _solve_sparse_motion(
    compiled: CompiledModel, q: Array, v: Array, tau: Array, p: Values, bias_function: str, t: Any, x: Any
) -> tuple[Array, Array] | None:
    """Accelerations and multipliers of a large machine with sparse matrices; None if the rank of the constraints is
    ambiguous, or massless bodies make M singular."""
    values = compiled.parameter_values(p)
    rhs = tau - compiled.call(f"bias{bias_function}", q, v, p=p, t=t, x=x)
    bias = compiled.call("constraint_bias", q, v, p=p, t=t)
    leading = np.broadcast_shapes(rhs.shape[:-1], bias.shape[:-1])
    states, parameters, loads, biases = (broadcast_to_states(each, leading) for each in (q, values, rhs, bias))
    accelerations, multipliers = np.empty((len(states), compiled.nv)), np.empty((len(states), len(compiled.rows)))
    for k, (state, row) in enumerate(zip(states, parameters, strict=True)):
        known = factorise_sparse(compiled.constraint_matrix(state, row))
        solved = known and _solve_sparse_multipliers(compiled.mass_entries(state, row), known, loads[k], biases[k])
        if not solved:
            return None
        accelerations[k], multipliers[k] = solved
    return accelerations.reshape(*leading, -1), multipliers.reshape(*leading, -1)


def _solve_sparse_multipliers(
    M: Matrix, G: FrontalFactorisation, rhs: Array, bias: Array
) -> tuple[Array, Array] | None:
    """Solve for (a, λ) of one state from the independent rows of G, with self-stresses removed so that λ has minimum
    norm. None if M is not positive definite."""
    import scipy.sparse
    from scipy.sparse.linalg import splu

    try:
        masses = splu(M, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:
        return None
    diagonal = masses.U.diagonal()
    if not (masses.perm_r == masses.perm_c).all() or not diagonal.min() > NEGLIGIBLE_PIVOT * diagonal.max():
        return None
    rows = G.matrix[G.kept]
    whole = scipy.sparse.block_array([[M, -rows.T], [rows, None]], format="csc")
    found = splu(whole).solve(np.concatenate([rhs, -bias[G.kept]]))
    multipliers = np.zeros(len(bias))
    multipliers[G.kept] = found[len(rhs) :]
    return found[: len(rhs)], multipliers - G.part_out_of_range(multipliers)


def equivalent_actuator_forces(
    compiled: CompiledModel, q: Any, tau: Array, actuators: Sequence[str] | None, p: Values
) -> Array:
    """Smallest forces f at the actuators equivalent to the tree's joint forces τ: B f + Gᵀ λ = τ, so that Nᵀ B f = Nᵀ τ
    for the motions N that joints and constraints admit (drivers exert no force here, since actuators take their place).
    """
    return equivalent_forces_of_columns(compiled, q, tau[..., None], actuators, p)[..., 0]


def equivalent_forces_of_columns(
    compiled: CompiledModel, q: Any, tau: Array, actuators: Sequence[str] | None, p: Values
) -> Array:
    """Equivalent actuator forces of several force vectors at each state, which are the columns of (…, nv, k)."""
    q, values = np.asarray(q, dtype=float), compiled.parameter_values(p)
    named = (actuators,) if isinstance(actuators, str) else actuators
    leading = np.broadcast_shapes(q.shape[:-1], tau.shape[:-2], values.shape[:-1])
    states, rows = (broadcast_to_states(x, leading) for x in (q, values))
    forces = np.broadcast_to(tau, (*leading, *tau.shape[-2:])).reshape(len(states), *tau.shape[-2:])
    result = np.zeros(forces.shape)
    for k, (state, force, row) in enumerate(zip(states, forces, rows, strict=True)):
        G = compiled.constraint_matrix(state, row)[compiled.lasting]
        motions = null_space(G).T
        chosen = (
            choose_independent_speeds(compiled, motions.T, shares=(BARELY,))
            if named is None
            else [_speed_index(compiled, name) for name in named]
        )
        wanted = motions @ force
        result[k, chosen] = pseudoinverse(motions[:, chosen]) @ wanted
        if np.max(np.abs(motions @ result[k] - wanted), initial=0.0) > 1e-6 * max(
            1.0, float(np.max(np.abs(force), initial=0.0))
        ):
            names = ", ".join(compiled.v_names[i] for i in chosen)
            raise SimulationError(
                f"Forces at {names} alone cannot produce these accelerations.",
                remedy="Name one actuator for each degree of freedom.",
            )
    return result.reshape(*leading, *tau.shape[-2:])


def _speed_index(compiled: CompiledModel, name: str) -> int:
    if name not in compiled.v_names:
        raise unknown_name_error(compiled, "v", name)
    return compiled.v_names.index(name)
