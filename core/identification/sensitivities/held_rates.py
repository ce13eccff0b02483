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
from core.codegen.graph_symbols import as_symbol, column, symbols
from core.identification.sensitivities.explicit_rates import (
    Arguments,
    EvaluationPoints,
    IndicatorValues,
    Slopes,
    SymbolicState,
)
from core.mechanics.elements.constraints.kinematic_constraint import POSITION, VELOCITY
from core.mechanics.tree import inline
from core.numerics.tolerances import REGULAR_FRACTION
from core.programs.constraint_equations import constraint_bias, speed_jacobian
from core.programs.dynamics import inverse
from core.programs.program import known_code

Array = NDArray[np.float64]


class Held:
    """Factored equations of M and G at N states, to solve M δa − Gᵀ δλ = force, G δa = target."""

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

    def __call__(self, force: Array, target: Array) -> tuple[Array, Array]:
        """Return δa (N, nv, c) and the δλ of minimum norm (N, rows, c)."""
        if self._weight is not None:
            force = force + self._weight * (np.swapaxes(self.G, -1, -2) @ target)
        free = np.linalg.solve(self._L, force)
        taken = np.where(self._kept[..., None], np.swapaxes(self._U, -1, -2) @ free, 0.0)
        wanted = self._inverse * (self._VT @ target)
        a = np.linalg.solve(np.swapaxes(self._L, -1, -2), free + self._U @ (wanted - taken))
        multipliers = np.swapaxes(self._VT, -1, -2) @ (self._inverse * (wanted - taken))
        if self._weight is not None:
            multipliers = multipliers - self._weight * target
        return a, multipliers


class Balance(NamedTuple):
    """Solution at N states: accelerations and multipliers with derivatives by (y, p), and q̇, ẋ with theirs."""

    a: Array
    multipliers: Array
    a_by: Array
    multipliers_by: Array
    q_rate: Array
    x_rate: Array
    q_rate_by: Array
    x_rate_by: Array


class Place(NamedTuple):
    """Constraint manifold at one state: G (rows, nv), N (nq, nv), ∂g/∂p of positions, ∂(G v − ḟ) by q and p."""

    G: Array
    N: Array
    gaps_p: Array
    moving_q: Array
    moving_p: Array


class ConstrainedRates:
    """Rates of a constrained mechanism; see `ExplicitRates`."""

    by_iteration = True
    still = 0

    def __init__(self, given: Arguments, by: tuple[int, ...]) -> None:
        mech = self.mech = given.mech
        self.given, self.p, self.by = given, given.p, by
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
    def _G(self) -> Any:
        return (
            speed_jacobian(self._symbolic_state.context, self._symbolic_state.q)
            if self.rows
            else ca.SX(0, self.mech.nv)
        )

    @property
    def _M(self) -> Any:
        return ca.vertcat(*(ca.horzcat(*map(as_symbol, row)) for row in self._symbolic_state.masses))

    def _constraint_bias(self) -> Any:
        return (
            column(constraint_bias(self._symbolic_state.context, self._symbolic_state.inputs, ""))
            if self.rows
            else ca.SX(0, 1)
        )

    def _balance_residual(self, a: list[Any]) -> Any:
        """Return the residual M a + h − u."""
        s = self._symbolic_state
        return column(inverse(s.context, {**s.inputs, "u": a}, "", smooth=True)) - s.forces()

    def _numbers_code(self) -> FlatCode:
        """Return code for M, h − u, G, Ġ v − f̈, q̇, ẋ."""
        s = self._symbolic_state
        h = self._balance_residual([0.0] * self.mech.nv)
        return FlatCode(s.arguments, [self._M, h, self._G, self._constraint_bias(), s.q_rate, column(s.x_rate)])

    def _derivatives_code(self) -> FlatCode:
        """Return code for ∂R, ∂g, ∂q̇, ∂ẋ by y and p, at given a and λ."""
        s = self._symbolic_state
        a, multipliers = symbols("a", self.mech.nv), symbols("l", self.rows)
        held = column(list(multipliers))
        R = self._balance_residual(list(a)) - (self._G.T @ held if self.rows else 0.0)
        g = self._G @ column(list(a)) + self._constraint_bias() if self.rows else ca.SX(0, 1)
        by = ca.vertcat(s.y, s.by(self.by))
        *before, p = s.arguments
        parts = [ca.jacobian(each, by) for each in (R, g, s.q_rate, column(s.x_rate))]
        return FlatCode([*before, column(list(a)), held, p], parts)

    def _places_code(self) -> FlatCode:
        """Return code for M, G, N of q̇ = N v, g_p of positions, and the derivatives of G v − ḟ by q and p."""
        s = self._symbolic_state
        N = ca.jacobian(s.q_rate, column(list(s.v)))
        gaps = moving = ca.SX(0, 1)
        if self.rows:
            expressions = s.context.row_expressions
            gaps = column(expressions.residual({"q": s.q, "t": s.clock}, inline))
            moving = self._G @ column(list(s.v)) + column(expressions.time({"t": s.clock}, inline))
        by_q, by_p = ca.jacobian(moving, column(list(s.q))), ca.jacobian(moving, s.by(self.by))
        return FlatCode(s.arguments, [self._M, self._G, N, ca.jacobian(gaps, s.by(self.by)), by_q, by_p])

    def _indicators_code(self) -> FlatCode:
        return self._symbolic_state.crossings(self.by)

    def _code(self, name: str, make: Callable[[], FlatCode]) -> FlatCode:
        return known_code(self.mech.compiled.program, (f"held {name}", self.given.key, self.by), make)

    # ------------------------------------------------------------------------------------------- numbers

    @property
    def switches(self) -> int:
        """Number of event indicators."""
        return self.given.switches

    def balance(self, at: EvaluationPoints) -> Balance:
        """Solve for accelerations and multipliers with their derivatives by (y, p)."""
        given = self.given(at)
        M, h, G, drift, q_rate, x_rate = self._code("numbers", self._numbers_code)(given, self.p)
        held = Held(M, G)
        a, multipliers = held(-h, -drift)
        derivatives = self._code("derivatives", self._derivatives_code)
        found = derivatives([*given, a[:, :, 0], multipliers[:, :, 0]], self.p)
        a_by, multipliers_by = held(-found[0], -found[1])
        flat = (a[:, :, 0], multipliers[:, :, 0], a_by, multipliers_by)
        return Balance(*flat, q_rate[:, :, 0], x_rate[:, :, 0], found[2], found[3])

    def slopes(self, at: EvaluationPoints, parameters: bool) -> Slopes:
        """Return f and its derivatives."""
        b = self.balance(at)
        f = np.concatenate([b.q_rate, b.a, b.x_rate], axis=1)
        by = np.concatenate([b.q_rate_by, b.a_by, b.x_rate_by], axis=1)
        return Slopes(f, by[:, :, : self.n], by[:, :, self.n :] if parameters else by[:, :, :0])

    def push(self, at: EvaluationPoints, w: Array) -> Array:
        """Return F_pᵀ w, (N, m)."""
        return np.einsum("kim,ki->km", self.slopes(at, True).by_p, w)

    def projected(self, at: EvaluationPoints) -> tuple[Array, Array, Array]:
        """Return y unchanged, and the derivatives of its projection by y and p."""
        nq, nv, m, count = self.mech.nq, self.mech.nv, len(self.by), len(at.t)
        M, G, N, gaps_p, moving_q, moving_p = self._code("places", self._places_code)(self.given(at), self.p)
        by_y = np.zeros((count, self.n, self.n + m))
        by_y[:, np.arange(self.n), np.arange(self.n)] = 1.0
        along = np.linalg.pinv(N) if nv else np.zeros((count, 0, nq))
        xi = along @ by_y[:, :nq]
        speeds = by_y[:, nq : nq + nv].copy()
        rows = self._at_positions
        if len(rows):
            target = -(G[:, rows] @ xi)
            target[:, :, self.n :] -= gaps_p[:, rows]
            xi = xi + Held(M, G[:, rows])(np.zeros_like(xi), target)[0]
        turned = N @ xi
        rows = self._at_speeds
        if len(rows):
            target = -(G[:, rows] @ speeds) - moving_q[:, rows] @ turned
            target[:, :, self.n :] -= moving_p[:, rows]
            speeds = speeds + Held(M, G[:, rows])(np.zeros_like(speeds), target)[0]
        by_y[:, :nq], by_y[:, nq : nq + nv] = turned, speeds
        return at.y, by_y[:, :, : self.n], by_y[:, :, self.n :]

    def constraint_manifold(self, at: EvaluationPoints) -> Place:
        """Return the constraint manifold at the first of these states."""
        return Place(*(each[0] for each in self._code("places", self._places_code)(self.given(at), self.p)[1:]))

    def crossings(self, at: EvaluationPoints) -> IndicatorValues:
        """Return the event indicators with derivatives."""
        g, by_y, by_p, by_t = self._code("crossings", self._indicators_code)(self.given(at), self.p)
        return IndicatorValues(g[:, :, 0], by_y, by_p, by_t[:, :, 0])
