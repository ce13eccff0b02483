"""Exact derivatives of inverse and forward dynamics of open chains, as compiled functions.

Forward dynamics is not differentiated: with b = M a + h the inverse dynamics, ∂a = −M⁻¹ ∂b at the accelerations a, and
∂a/∂τ = M⁻¹ (Carpentier and Mansard, RSS 2018). Derivatives by q are along displacements ξ, δq = N ξ with q̇ = N v.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca

from core.codegen.graph_symbols import column, symbols
from core.mechanics.factor import factorise, solve
from core.mechanics.tree import Runner, inline
from core.numerics.spatial.scalar import Scalar
from core.programs.dynamics import forward, inverse, mass_matrix
from core.programs.kinematics import rates
from core.programs.trace_context import TraceContext

Inputs = Mapping[str, list[Any]]


def force_slopes(context: TraceContext, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return ∂τ/∂ξ and ∂τ/∂v, row by row; u: accelerations."""
    balance = column(inverse(context, x, ""))
    return [entry for part in _state_derivatives(context, x, balance) for entry in _entries_row_by_row(part)]


def force_slopes_by_parameters(context: TraceContext, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return ∂τ/∂p, row by row."""
    return _entries_row_by_row(ca.jacobian(column(inverse(context, x, "")), column(list(context.p))))


def motion_slopes(context: TraceContext, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return ∂a/∂ξ, ∂a/∂v and ∂a/∂τ = M⁻¹, row by row; u: joint forces."""
    nv = context.tree.nv
    a = symbols("a", nv)
    balance = column(inverse(context, {**x, "u": a}, ""))
    slopes = ca.horzcat(*_state_derivatives(context, x, balance))
    wanted = ca.horzcat(-_with_accelerations(context, x, slopes, a), ca.SX.eye(nv))
    found = _solve_mass_matrix(context, x, wanted)
    return [entry for part in range(3) for row in found for entry in row[part * nv : (part + 1) * nv]]


def motion_slopes_by_parameters(context: TraceContext, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return ∂a/∂p, row by row."""
    a = symbols("a", context.tree.nv)
    balance = column(inverse(context, {**x, "u": a}, ""))
    slopes = ca.jacobian(balance, column(list(context.p)))
    return [
        entry for row in _solve_mass_matrix(context, x, -_with_accelerations(context, x, slopes, a)) for entry in row
    ]


def _state_derivatives(context: TraceContext, x: Inputs, balance: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return ∂f/∂ξ and ∂f/∂v."""
    q, v = column(list(x["q"])), column(list(x["v"]))
    N = ca.jacobian(rates(context, x), v)
    return ca.jacobian(balance, q) @ N, ca.jacobian(balance, v)


def _with_accelerations(context: TraceContext, x: Inputs, slopes: ca.SX, a: list[Any]) -> ca.SX:
    """Substitute the accelerations that the forces x["u"] produce."""
    return ca.substitute(slopes, column(list(a)), column(forward(context, x, "")))


def _solve_mass_matrix(context: TraceContext, x: Inputs, wanted: ca.SX) -> list[list[Scalar]]:
    """Return the rows of M⁻¹ times columns."""
    nv = context.tree.nv
    M = mass_matrix(context, x, "")
    factors = factorise([M[i * nv : (i + 1) * nv] for i in range(nv)])
    columns = [solve(factors, _entries_row_by_row(wanted[:, k])) for k in range(wanted.size2())]
    return [[own[i] for own in columns] for i in range(nv)]


def _entries_row_by_row(matrix: ca.SX) -> list[Scalar]:
    """Return the entries row by row; structural zeros as literals, so that nothing is computed with them."""
    rows, columns = matrix.size1(), matrix.size2()
    entries: Sequence[Scalar] = [0.0] * (rows * columns)
    found = list(entries)
    for (row, k), value in zip(_nonzero_places(matrix), matrix.nonzeros(), strict=True):
        found[row * columns + k] = value
    return found


def _nonzero_places(matrix: ca.SX) -> list[tuple[int, int]]:
    row, k = matrix.sparsity().get_triplet()
    return list(zip(row, k, strict=True))
