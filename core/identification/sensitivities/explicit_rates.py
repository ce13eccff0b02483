"""Rates ẏ = f(t, y, p) of open chains, and of loops with analytic closure, with exact derivatives as machine code.

Forward dynamics is not differentiated: with R = M a + h − u the balance of forces, ∂a = −M⁻¹ ∂R at the accelerations a
(Carpentier and Mansard, RSS 2018). Of closed loops the same is done with the reduced equations,
Φᵀ M Φ a_i = Φᵀ u − Φᵀ (M b + h) and a = b + Φ a_i, in which everything follows from the independent coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen.flat_code import FlatCode
from core.codegen.graph_symbols import build_column, directional_derivative, scalar_symbols, to_symbol
from core.constraints.closed_forms.closed_forms import AnalyticClosure
from core.mechanics.factor import Factors, factorise, solve
from core.mechanics.tree import inline
from core.mechanism import Mechanism
from core.programs.dynamics import inverse, mass_matrix
from core.programs.kinematics import coordinate_rates
from core.programs.program import cached_code
from core.simulation.equations.joint_forces import ForceLaw, Torque, build_expressions, find_mode_variables

Array = NDArray[np.float64]


class RateDerivatives(NamedTuple):
    """Rates and their derivatives at N states: f (N, n), rows of ∂f/∂y (N, n − still, n) and of ∂f/∂p (N, n − still,
    m); the first `still` rows, those of q̇ = v, are omitted."""

    f: Array
    by_y: Array
    by_p: Array


class IndicatorValues(NamedTuple):
    """Event indicators at N states (N, k), and their derivatives with respect to y (N, k, n), p (N, k, m) and t (N,
    k)."""

    g: Array
    by_y: Array
    by_p: Array
    by_t: Array


class EvaluationPoints(NamedTuple):
    """Points of evaluation: t (N,), y (N, n), sides of mode variables (N, k): 0 as computed, ±1 fixed."""

    t: Array
    y: Array
    sides: Array

    def rows(self, first: int, last: int) -> EvaluationPoints:
        """Return a range of the points."""
        return EvaluationPoints(self.t[first:last], self.y[first:last], self.sides[first:last])


class CompiledArguments:
    """Arguments of the compiled functions: y, clock, time and mode variables of joint forces, constant joint forces."""

    def __init__(self, mech: Mechanism, torque: Torque, constant: Array | None, p: Array) -> None:
        self.mech, self.torque, self.p = mech, torque, p
        self.of_law = constant is None
        """True if joint forces are formulas."""
        self.constant = np.zeros(mech.nv) if constant is None else constant
        clock = mech.compiled.program.symbolic.clock
        self.clock = clock.size
        self.modes = clock.modes if clock.size else 0
        self.modes_of_law = len(find_mode_variables(mech, torque).numbers) if self.of_law else 0
        said = torque.plain() if isinstance(torque, ForceLaw) else torque
        self.key: Hashable = repr(sorted(said.items())) if self.of_law and isinstance(said, Mapping) else ""
        """Key that distinguishes joint forces."""
        self._repeated: dict[int, Array] = {}

    @property
    def indicator_count(self) -> int:
        """Number of event indicators: those of the machine, then those of joint forces."""
        return self.modes + self.modes_of_law

    def __call__(self, points: EvaluationPoints) -> list[Array]:
        """Return the arguments for N points."""
        count, modes = len(points.t), self.modes
        clock = np.zeros((count, 0))
        if self.clock:
            clock = np.array(np.broadcast_to(self.mech.compiled.time_argument(points.t, self.p), (count, self.clock)))
        if modes:
            clock[:, self.clock - modes :] = points.sides[:, :modes]
        apart = points.t[:, None]
        if self.modes_of_law:
            apart = np.concatenate([apart, points.sides[:, modes:]], axis=1)
        if count not in self._repeated:
            self._repeated[count] = np.repeat(self.constant[None], count, axis=0)
        return [points.y, clock, apart, self._repeated[count]]


class SymbolicState:
    """Symbols of y, of time with mode variables, and of parameters, and the machine's quantities as expressions of
    them."""

    def __init__(self, arguments: CompiledArguments) -> None:
        mech = self.mech = arguments.mech
        context = self.context = mech.compiled.program.symbolic
        self.q, self.v, self.own = (
            scalar_symbols("q", mech.nq),
            scalar_symbols("v", mech.nv),
            scalar_symbols("x", context.nx),
        )
        self.clock = scalar_symbols("t", arguments.clock)
        self.p = list(context.p)
        self.modes = arguments.modes
        self.apart = scalar_symbols("s", 1 + arguments.modes_of_law)
        """The time and mode variables as formulas of joint forces take them."""
        inputs: dict[str, list[Any]] = {"q": self.q, "v": self.v, "t": self.clock}
        self.x_rate: list[Any] = []
        if context.nx:
            still = {**inputs, "x": [*self.own, *[0.0] * context.nx]}
            self.x_rate = context.build_body("states", still, "", inline)
            inputs["x"] = [*self.own, *self.x_rate]
        self.inputs = inputs
        self.u_numbers = scalar_symbols("u", mech.nv)
        self._law = None
        if arguments.of_law:
            sources, forces, indicators = build_expressions(mech, arguments.torque)  # type: ignore[arg-type]
            self._law = ca.Function("law", sources, [forces, indicators])

    @property
    def y(self) -> Any:
        """State as a column (n,)."""
        return build_column([*self.q, *self.v, *self.own])

    @property
    def arguments(self) -> list[Any]:
        """Symbols in the order of `CompiledArguments`, then p."""
        return [self.y, *map(build_column, (self.clock, self.apart, self.u_numbers, self.p))]

    def by(self, parameters: Sequence[int]) -> Any:
        """Return the given parameters as a column."""
        return build_column([self.p[k] for k in parameters])

    @property
    def q_rate(self) -> Any:
        """Rates q̇ as a column."""
        return coordinate_rates(self.context, {"q": self.q, "v": self.v})

    @property
    def masses(self) -> list[list[Any]]:
        """Mass matrix M, row by row."""
        flat, nv = mass_matrix(self.context, {"q": self.q}, ""), self.mech.nv
        return [flat[i * nv : (i + 1) * nv] for i in range(nv)]

    def forces(self) -> Any:
        """Return the joint forces (nv,) as a column."""
        return build_column(self.u_numbers) if self._law is None else self._law_results[0]

    @property
    def _law_results(self) -> Any:
        arguments = (self.apart[:1], self.q, self.v, self.apart[1:], self.p)
        return self._law(*(build_column(list(each)) for each in arguments))  # type: ignore[misc]

    def indicator_code(self, parameters: Sequence[int]) -> FlatCode:
        """Return code for the event indicators g (of the machine, then of joint forces) and their derivatives with
        respect to y, p and t."""
        found: list[Any] = []
        if self.modes:
            found += self.context.build_body("event_indicators", self.inputs, "", inline)
        if self._law is not None and len(self.apart) > 1:
            found += ca.vertsplit(self._law_results[1])
        g = ca.densify(build_column(found))
        of_clock: list[Any] = [1.0] if self.clock else []
        for k in range(1, len(self.clock) - self.modes, 3):
            of_clock += [self.clock[k + 1], self.clock[k + 2], 0.0]
        by_t = directional_derivative(g, build_column(list(self.clock)), build_column([*of_clock, *[0.0] * self.modes]))
        by_t = by_t + directional_derivative(
            g, build_column(list(self.apart)), build_column([1.0, *[0.0] * (len(self.apart) - 1)])
        )
        slopes = [ca.jacobian(g, self.y), ca.jacobian(g, self.by(parameters)), by_t]
        return FlatCode(self.arguments, [g, *slopes])


class _AccelerationEquations(NamedTuple):
    """Accelerations as explicit functions of unknown symbols s: R(y, p, s) = 0 with M = ∂R/∂s, solved by s =
    solution."""

    residual: Any
    unknown: Any
    solution: Any
    factors: Factors
    accelerations: Any
    q: list[Any]
    v: list[Any]


class ExplicitRates:
    """Explicit rates of a mechanism. parameter_indices : indices of parameters; forms : analytic closure of all loops,
    None if there are no loops"""

    by_iteration = False

    def __init__(
        self, arguments: CompiledArguments, parameter_indices: tuple[int, ...], forms: AnalyticClosure | None = None
    ) -> None:
        self.given, self.mech, self.p, self.by = arguments, arguments.mech, arguments.p, parameter_indices
        self._forms = forms
        self.n = self.mech.nq + self.mech.nv + self.mech.nx
        self.still = self.mech.nv if forms is None and self.mech.nq == self.mech.nv else 0
        self.projects = forms is not None or bool(self.mech.compiled.coordinates.quaternions)

    # ------------------------------------------------------------------------------------------- expressions

    @cached_property
    def _symbolic_state(self) -> SymbolicState:
        return SymbolicState(self.given)

    @cached_property
    def _acceleration_equations(self) -> _AccelerationEquations:
        return self._open_chain_equations() if self._forms is None else self._reduced_equations()

    def _open_chain_equations(self) -> _AccelerationEquations:
        s, a = self._symbolic_state, scalar_symbols("a", self.mech.nv)
        u = s.forces()
        balance = build_column(inverse(s.context, {**s.inputs, "u": a}, "", smooth=True)) - u
        solution = s.context.build_body("forward_dynamics_smooth", {**s.inputs, "u": ca.vertsplit(u)}, "", inline)
        unknown = build_column(list(a))
        return _AccelerationEquations(balance, unknown, build_column(solution), factorise(s.masses), unknown, s.q, s.v)

    def _reduced_equations(self) -> _AccelerationEquations:
        assert self._forms is not None
        s, structure = self._symbolic_state, self._forms.output_layout.structure
        nq, nv, count = self.mech.nq, self.mech.nv, len(structure.columns)
        r = self._forms.reduced_equations(s.inputs)
        at, Phi = nq + 2 * nv, ca.SX.zeros(nv, count)
        for i, entries in enumerate(structure.columns):
            for k, entry in zip(entries, r[at : at + len(entries)], strict=True):
                Phi[k, i] = to_symbol(entry)
            at += len(entries)
        M: list[list[Any]] = [[0.0] * count for _ in range(count)]
        for (i, j), entry in zip(structure.pairs, r[at : at + len(structure.pairs)], strict=True):
            M[i][j] = M[j][i] = entry
        load = build_column(r[at + len(structure.pairs) : at + len(structure.pairs) + count])
        Phi = ca.sparsify(Phi)
        wanted, own = Phi.T @ s.forces() - load, build_column(list(scalar_symbols("a", count)))
        inertia = ca.vertcat(*(ca.horzcat(*map(to_symbol, row)) for row in M))
        factors = factorise(M)
        solution = build_column(list(solve(factors, ca.vertsplit(ca.densify(wanted)))))
        a = build_column(r[nq + nv : nq + 2 * nv]) + Phi @ own
        return _AccelerationEquations(inertia @ own - wanted, own, solution, factors, a, r[:nq], r[nq : nq + nv])

    def _rates_expression(self) -> Any:
        """Return f as an expression of y and the unknown accelerations."""
        e, s = self._acceleration_equations, self._symbolic_state
        q_rate = coordinate_rates(s.context, {"q": e.q, "v": e.v})
        return ca.vertcat(q_rate, e.accelerations, build_column(s.x_rate))

    def _rates_and_derivatives(self, symbols: Any) -> list[Any]:
        """Return f and its derivatives with respect to the given symbols."""
        e, f = self._acceleration_equations, self._rates_expression()
        wanted = ca.densify(ca.jacobian(e.residual, symbols))
        columns = [build_column(list(solve(e.factors, ca.vertsplit(wanted[:, k])))) for k in range(wanted.size2())]
        own = -ca.horzcat(*columns) if columns else ca.SX(wanted.size1(), 0)
        f_by = ca.jacobian(f, symbols) + ca.jacobian(f, e.unknown) @ own
        return list(ca.substitute([f, f_by], [e.unknown], [e.solution]))

    def _state_slopes_code(self) -> FlatCode:
        return FlatCode(
            self._symbolic_state.arguments,
            self._remove_trivial_rows(self._rates_and_derivatives(self._symbolic_state.y)),
        )

    def _remove_trivial_rows(self, expressions: list[Any]) -> list[Any]:
        """Remove the rows of q̇ = v."""
        return [each[self.still :, :] for each in expressions]

    def _all_slopes_code(self) -> FlatCode:
        s = self._symbolic_state
        return FlatCode(
            s.arguments, self._remove_trivial_rows(self._rates_and_derivatives(ca.vertcat(s.y, s.by(self.by))))
        )

    def _transposed_product_code(self) -> FlatCode:
        """Return code for F_pᵀ w, from the balance of forces: f_pᵀ w − R_pᵀ M⁻¹ f_sᵀ w."""
        e, s, f = self._acceleration_equations, self._symbolic_state, self._rates_expression()
        w, held = (
            build_column(list(scalar_symbols("w", self.n))),
            build_column(list(scalar_symbols("m", e.unknown.numel()))),
        )
        pull = ca.vertsplit(ca.densify(ca.jtimes(f, e.unknown, w, True)))
        gradient = ca.gradient(ca.dot(w, f) - ca.dot(held, e.residual), s.by(self.by))
        gradient = ca.substitute(gradient, held, build_column(list(solve(e.factors, pull))))
        gradient = ca.substitute(gradient, e.unknown, e.solution)
        *before, p = s.arguments
        return FlatCode([*before, w, p], [gradient])

    def _projection_code(self) -> FlatCode:
        """Return code for the projected y and its derivatives."""
        s = self._symbolic_state
        e = self._acceleration_equations if self._forms is not None else None
        q, v = list(e.q if e else s.q), list(e.v if e else s.v)
        for first in self.mech.compiled.coordinates.quaternions:
            size = ca.sqrt(sum(to_symbol(x) ** 2 for x in q[first : first + 4]))
            q[first : first + 4] = [to_symbol(x) / size for x in q[first : first + 4]]
        after = build_column([*q, *v, *s.own])
        return FlatCode(s.arguments, [after, ca.jacobian(after, s.y), ca.jacobian(after, s.by(self.by))])

    def _indicators_code(self) -> FlatCode:
        return self._symbolic_state.indicator_code(self.by)

    def _cached_code(self, name: str, build: Callable[[], FlatCode], parameters: bool = True) -> FlatCode:
        by = self.by if parameters else ()
        key = (name, self._forms is not None, self.given.key, by)
        return cached_code(self.mech.compiled.program, key, build)

    # ------------------------------------------------------------------------------------------- numbers

    @property
    def indicator_count(self) -> int:
        """Number of event indicators."""
        return self.given.indicator_count

    def rates_with_derivatives(self, points: EvaluationPoints, parameters: bool) -> RateDerivatives:
        """Return f and its derivatives with respect to y, and on request to p."""
        whole = parameters and bool(self.by)
        code = (
            self._cached_code("all", self._all_slopes_code)
            if whole
            else self._cached_code("state", self._state_slopes_code, False)
        )
        f, by = code(self.given(points), self.p)
        values = np.concatenate([points.y[:, self.still : 2 * self.still], f[:, :, 0]], axis=1)
        return RateDerivatives(values, by[:, :, : self.n], by[:, :, self.n :])

    def parameter_adjoint_product(self, points: EvaluationPoints, w: Array) -> Array:
        """Return F_pᵀ w, (N, m), for w (N, n)."""
        return self._cached_code("push", self._transposed_product_code)([*self.given(points), w], self.p)[0][:, :, 0]

    def project_with_derivatives(self, points: EvaluationPoints) -> tuple[Array, Array, Array]:
        """Return y after projection (N, n), and its derivatives with respect to y (N, n, n) and p (N, n, m) before
        projection."""
        after, by_y, by_p = self._cached_code("projection", self._projection_code)(self.given(points), self.p)
        return after[:, :, 0], by_y, by_p

    def indicators_with_derivatives(self, points: EvaluationPoints) -> IndicatorValues:
        """Return the event indicators with derivatives."""
        g, by_y, by_p, by_t = self._cached_code("crossings", self._indicators_code)(self.given(points), self.p)
        return IndicatorValues(g[:, :, 0], by_y, by_p, by_t[:, :, 0])
