"""Rates ẏ = f(t, y, p) of machines whose loops, constraints and drivers are closed by iteration, with exact
derivatives.

With R = M a + h − u − Gᵀ λ = 0 and g = G a + Ġ v − f̈ = 0 a change of y or p changes the motion by M δa − Gᵀ δλ = −∂R,
G δa = −∂g: both are traced, the equations are solved by NumPy. A step ends with a projection, whose derivative is that
of what it converges to: in the metric of M, δq ← δq − M⁻¹Gᵀ(G M⁻¹Gᵀ)⁻¹ (G δq + g_p δp), and so for speeds. What the
projection itself moves, which is as small as the error of a step, is not differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen.flat_code import FlatCode
from core.codegen.graph_symbols import build_column, scalar_symbols, to_symbol
from core.identification.sensitivities.explicit_rates import (
    CompiledArguments,
    EvaluationPoints,
    IndicatorValues,
    RateDerivatives,
    SymbolicState,
)
from core.mechanics.elements.constraints.kinematic_constraint import POSITION, VELOCITY
from core.mechanics.tree import inline
from core.numerics.tolerances import REGULAR_FRACTION
from core.programs.constraint_equations import constraint_bias, speed_jacobian
from core.programs.dynamics import inverse
from core.programs.program import cached_code

Array = NDArray[np.float64]


class ConstrainedEquations:
    """Factored equations of motion with constraints at N states, for solving M δa − Gᵀ δλ = force, G δa = target."""

    def __init__(self, M: Array, G: Array) -> None:
        self.G = G
        try:
            self._L = np.linalg.cholesky(M)
            self._weight: Array | None = None
        except np.linalg.LinAlgError:  # bodies without mass: with G δa given, M + ρ GᵀG has the same solution
            square = np.swapaxes(G, -1, -2) @ G
            size = np.trace(M, axis1=-2, axis2=-1) / np.maximum(np.trace(square, axis1=-2, axis2=-1), 1e-300)
            self._weight = np.where(size > 0.0, size, 1.0)[:, None, None]
            self._L = np.linalg.cholesky(M + self._weight * square)
        sides = np.linalg.solve(self._L, np.swapaxes(G, -1, -2))
        self._U, sizes, self._VT = np.linalg.svd(sides, full_matrices=False)
        own = np.linalg.svd(G, compute_uv=False)
        number = (own > REGULAR_FRACTION * np.max(own, axis=-1, keepdims=True, initial=0.0)).sum(axis=-1)
        self._kept = np.arange(sizes.shape[-1]) < number[:, None]
        self.rank = number
        self._inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=self._kept)[..., None]

    def __call__(self, force_change: Array, constraint_change: Array) -> tuple[Array, Array]:
        """Return δa (N, nv, c) and the δλ of minimum norm (N, rows, c)."""
        if self._weight is not None:
            force_change = force_change + self._weight * (np.swapaxes(self.G, -1, -2) @ constraint_change)
        free = np.linalg.solve(self._L, force_change)
        taken = np.where(self._kept[..., None], np.swapaxes(self._U, -1, -2) @ free, 0.0)
        wanted = self._inverse * (self._VT @ constraint_change)
        a = np.linalg.solve(np.swapaxes(self._L, -1, -2), free + self._U @ (wanted - taken))
        multipliers = np.swapaxes(self._VT, -1, -2) @ (self._inverse * (wanted - taken))
        if self._weight is not None:
            multipliers = multipliers - self._weight * constraint_change
        return a, multipliers


class ForceBalanceSolution(NamedTuple):
    """Solution of the force balance at N states: accelerations and multipliers with their derivatives with respect to
    (y, p), and q̇, ẋ with theirs."""

    a: Array
    multipliers: Array
    a_by: Array
    multipliers_by: Array
    q_rate: Array
    x_rate: Array
    q_rate_by: Array
    x_rate_by: Array


class ConstraintManifold(NamedTuple):
    """Constraint manifold at one state: G (rows, nv), N (nq, nv), ∂g/∂p of position constraints, derivatives of G v − ḟ
    with respect to q and p."""

    G: Array
    N: Array
    gaps_p: Array
    moving_q: Array
    moving_p: Array


class ConstrainedRates:
    """Rates of a constrained mechanism; see `ExplicitRates`."""

    by_iteration = True
    still = 0

    def __init__(self, arguments: CompiledArguments, parameter_indices: tuple[int, ...]) -> None:
        mech = self.mech = arguments.mech
        self.given, self.p, self.by = arguments, arguments.p, parameter_indices
        self.n = mech.nq + mech.nv + mech.nx
        self.rows = len(mech.compiled.rows)
        self.projects = bool(self.rows or mech.compiled.coordinates.quaternions)
        levels = np.asarray(mech.compiled.levels)
        self._at_positions = np.flatnonzero(levels <= POSITION)
        self._at_speeds = np.flatnonzero(levels <= VELOCITY)

    # ------------------------------------------------------------------------------------------- expressions

    @cached_property
    def _symbolic_state(self) -> SymbolicState:
        return SymbolicState(self.given)

    @cached_property
    def _constraint_matrix(self) -> Any:
        return (
            speed_jacobian(self._symbolic_state.context, self._symbolic_state.q)
            if self.rows
            else ca.SX(0, self.mech.nv)
        )

    @property
    def _mass_matrix(self) -> Any:
        return ca.vertcat(*(ca.horzcat(*map(to_symbol, row)) for row in self._symbolic_state.masses))

    def _constraint_bias(self) -> Any:
        return (
            build_column(constraint_bias(self._symbolic_state.context, self._symbolic_state.inputs, ""))
            if self.rows
            else ca.SX(0, 1)
        )

    def _force_balance_residual(self, a: list[Any]) -> Any:
        """Return the residual M a + h − u."""
        s = self._symbolic_state
        return build_column(inverse(s.context, {**s.inputs, "u": a}, "", smooth=True)) - s.forces()

    def _equation_values_code(self) -> FlatCode:
        """Return code for M, h − u, G, Ġ v − f̈, q̇, ẋ."""
        s = self._symbolic_state
        h = self._force_balance_residual([0.0] * self.mech.nv)
        return FlatCode(
            s.arguments,
            [self._mass_matrix, h, self._constraint_matrix, self._constraint_bias(), s.q_rate, build_column(s.x_rate)],
        )

    def _equation_derivatives_code(self) -> FlatCode:
        """Return code for the derivatives ∂R, ∂g, ∂q̇, ∂ẋ with respect to y and p, at given a and λ."""
        s = self._symbolic_state
        a, multipliers = scalar_symbols("a", self.mech.nv), scalar_symbols("l", self.rows)
        held = build_column(list(multipliers))
        R = self._force_balance_residual(list(a)) - (self._constraint_matrix.T @ held if self.rows else 0.0)
        g = self._constraint_matrix @ build_column(list(a)) + self._constraint_bias() if self.rows else ca.SX(0, 1)
        by = ca.vertcat(s.y, s.by(self.by))
        *before, p = s.arguments
        parts = [ca.jacobian(each, by) for each in (R, g, s.q_rate, build_column(s.x_rate))]
        return FlatCode([*before, build_column(list(a)), held, p], parts)

    def _constraint_manifold_code(self) -> FlatCode:
        """Return code for M, G, N of q̇ = N v, g_p of position constraints, and the derivatives of G v − ḟ with respect
        to q and p."""
        s = self._symbolic_state
        N = ca.jacobian(s.q_rate, build_column(list(s.v)))
        gaps = moving = ca.SX(0, 1)
        if self.rows:
            expressions = s.context.row_expressions
            gaps = build_column(expressions.residual({"q": s.q, "t": s.clock}, inline))
            moving = self._constraint_matrix @ build_column(list(s.v)) + build_column(
                expressions.time({"t": s.clock}, inline)
            )
        by_q, by_p = ca.jacobian(moving, build_column(list(s.q))), ca.jacobian(moving, s.by(self.by))
        return FlatCode(
            s.arguments, [self._mass_matrix, self._constraint_matrix, N, ca.jacobian(gaps, s.by(self.by)), by_q, by_p]
        )

    def _indicators_code(self) -> FlatCode:
        return self._symbolic_state.indicator_code(self.by)

    def _cached_code(self, name: str, build: Callable[[], FlatCode]) -> FlatCode:
        return cached_code(self.mech.compiled.program, (f"held {name}", self.given.key, self.by), build)

    # ------------------------------------------------------------------------------------------- numbers

    @property
    def indicator_count(self) -> int:
        """Number of event indicators."""
        return self.given.indicator_count

    def solve_force_balance(self, points: EvaluationPoints) -> ForceBalanceSolution:
        """Solve for accelerations and multipliers with their derivatives with respect to (y, p)."""
        given = self.given(points)
        M, h, G, drift, q_rate, x_rate = self._cached_code("numbers", self._equation_values_code)(given, self.p)
        held = ConstrainedEquations(M, G)
        a, multipliers = held(-h, -drift)
        derivatives = self._cached_code("derivatives", self._equation_derivatives_code)
        found = derivatives([*given, a[:, :, 0], multipliers[:, :, 0]], self.p)
        a_by, multipliers_by = held(-found[0], -found[1])
        flat = (a[:, :, 0], multipliers[:, :, 0], a_by, multipliers_by)
        return ForceBalanceSolution(*flat, q_rate[:, :, 0], x_rate[:, :, 0], found[2], found[3])

    def rates_with_derivatives(self, points: EvaluationPoints, parameters: bool) -> RateDerivatives:
        """Return f and its derivatives."""
        b = self.solve_force_balance(points)
        f = np.concatenate([b.q_rate, b.a, b.x_rate], axis=1)
        by = np.concatenate([b.q_rate_by, b.a_by, b.x_rate_by], axis=1)
        return RateDerivatives(f, by[:, :, : self.n], by[:, :, self.n :] if parameters else by[:, :, :0])

    def parameter_adjoint_product(self, points: EvaluationPoints, w: Array) -> Array:
        """Return F_pᵀ w, (N, m)."""
        return np.einsum("kim,ki->km", self.rates_with_derivatives(points, True).by_p, w)

    def project_with_derivatives(self, points: EvaluationPoints) -> tuple[Array, Array, Array]:
        """Return y unchanged, and the derivatives of its projection with respect to y and p."""
        nq, nv, m, count = self.mech.nq, self.mech.nv, len(self.by), len(points.t)
        M, G, N, gaps_p, moving_q, moving_p = self._cached_code("places", self._constraint_manifold_code)(
            self.given(points), self.p
        )
        by_y = np.zeros((count, self.n, self.n + m))
        by_y[:, np.arange(self.n), np.arange(self.n)] = 1.0
        along = np.linalg.pinv(N) if nv else np.zeros((count, 0, nq))
        xi = along @ by_y[:, :nq]
        speeds = by_y[:, nq : nq + nv].copy()
        rows = self._at_positions
        if len(rows):
            target = -(G[:, rows] @ xi)
            target[:, :, self.n :] -= gaps_p[:, rows]
            xi = xi + ConstrainedEquations(M, G[:, rows])(np.zeros_like(xi), target)[0]
        turned = N @ xi
        rows = self._at_speeds
        if len(rows):
            target = -(G[:, rows] @ speeds) - moving_q[:, rows] @ turned
            target[:, :, self.n :] -= moving_p[:, rows]
            speeds = speeds + ConstrainedEquations(M, G[:, rows])(np.zeros_like(speeds), target)[0]
        by_y[:, :nq], by_y[:, nq : nq + nv] = turned, speeds
        return points.y, by_y[:, :, : self.n], by_y[:, :, self.n :]

    def constraint_manifold(self, points: EvaluationPoints) -> ConstraintManifold:
        """Return the constraint manifold at the first of the given states."""
        return ConstraintManifold(
            *(
                each[0]
                for each in self._cached_code("places", self._constraint_manifold_code)(self.given(points), self.p)[1:]
            )
        )

    def indicators_with_derivatives(self, points: EvaluationPoints) -> IndicatorValues:
        """Return the event indicators with derivatives."""
        g, by_y, by_p, by_t = self._cached_code("crossings", self._indicators_code)(self.given(points), self.p)
        return IndicatorValues(g[:, :, 0], by_y, by_p, by_t[:, :, 0])
