"""Rates ẏ = f(t, y, p) of open chains and of loops with analytic closure, with exact derivatives as machine code.

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
from core.codegen.graph_symbols import along, as_symbol, column, symbols
from core.constraints.closed_forms.closed_forms import ClosedForms
from core.mechanics.factor import Factors, factorise, solve
from core.mechanics.tree import inline
from core.mechanism import Mechanism
from core.programs.dynamics import inverse, mass_matrix
from core.programs.kinematics import rates
from core.programs.program import known_code
from core.simulation.equations.joint_forces import Law, Torque, mode_variables_of, traced

Array = NDArray[np.float64]


class Slopes(NamedTuple):
    """Rates and derivatives at N states: f (N, n), rows of ∂f/∂y (N, n − still, n) and of ∂f/∂p (N, n − still, m); the
    first `still` rows, those of q̇ = v, are left out."""

    f: Array
    by_y: Array
    by_p: Array


class IndicatorValues(NamedTuple):
    """Event indicators at N states (N, k), and their derivatives by y (N, k, n), p (N, k, m) and t (N, k)."""

    g: Array
    by_y: Array
    by_p: Array
    by_t: Array


class EvaluationPoints(NamedTuple):
    """Points of evaluation: t (N,), y (N, n), sides of mode variables (N, k): 0 as computed, ±1 held fixed."""

    t: Array
    y: Array
    sides: Array

    def rows(self, first: int, last: int) -> EvaluationPoints:
        """Return a range of the points."""
        return EvaluationPoints(self.t[first:last], self.y[first:last], self.sides[first:last])


class Arguments:
    """Arguments of the compiled functions: y, clock, time and mode variables of joint forces, constant joint forces."""

    def __init__(self, mech: Mechanism, torque: Torque, constant: Array | None, p: Array) -> None:
        self.mech, self.torque, self.p = mech, torque, p
        self.of_law = constant is None
        """True if joint forces are formulas."""
        self.constant = np.zeros(mech.nv) if constant is None else constant
        clock = mech.compiled.program.symbolic.clock
        self.clock = clock.size
        self.modes = clock.modes if clock.size else 0
        self.modes_of_law = len(mode_variables_of(mech, torque).numbers) if self.of_law else 0
        said = torque.plain() if isinstance(torque, Law) else torque
        self.key: Hashable = repr(sorted(said.items())) if self.of_law and isinstance(said, Mapping) else ""
        """Key that distinguishes joint forces."""
        self._repeated: dict[int, Array] = {}

    @property
    def switches(self) -> int:
        """Number of event indicators: those of the machine, then those of joint forces."""
        return self.modes + self.modes_of_law

    def __call__(self, at: EvaluationPoints) -> list[Array]:
        """Return the arguments for N points."""
        count, modes = len(at.t), self.modes
        clock = np.zeros((count, 0))
        if self.clock:
            clock = np.array(np.broadcast_to(self.mech.compiled.time_argument(at.t, self.p), (count, self.clock)))
        if modes:
            clock[:, self.clock - modes :] = at.sides[:, :modes]
        apart = at.t[:, None]
        if self.modes_of_law:
            apart = np.concatenate([apart, at.sides[:, modes:]], axis=1)
        if count not in self._repeated:
            self._repeated[count] = np.repeat(self.constant[None], count, axis=0)
        return [at.y, clock, apart, self._repeated[count]]


class SymbolicState:
    """Symbols of y, of time with mode variables, and of parameters, with the machine's quantities as expressions of
    them."""

    def __init__(self, given: Arguments) -> None:
        mech = self.mech = given.mech
        context = self.context = mech.compiled.program.symbolic
        self.q, self.v, self.own = symbols("q", mech.nq), symbols("v", mech.nv), symbols("x", context.nx)
        self.clock = symbols("t", given.clock)
        self.p = list(context.p)
        self.modes = given.modes
        self.apart = symbols("s", 1 + given.modes_of_law)
        """The time and mode variables as formulas of joint forces take them."""
        inputs: dict[str, list[Any]] = {"q": self.q, "v": self.v, "t": self.clock}
        self.x_rate: list[Any] = []
        if context.nx:
            still = {**inputs, "x": [*self.own, *[0.0] * context.nx]}
            self.x_rate = context.body("states", still, "", inline)
            inputs["x"] = [*self.own, *self.x_rate]
        self.inputs = inputs
        self.u_numbers = symbols("u", mech.nv)
        self._law = None
        if given.of_law:
            sources, forces, indicators = traced(mech, given.torque)  # type: ignore[arg-type]
            self._law = ca.Function("law", sources, [forces, indicators])

    @property
    def y(self) -> Any:
        """State as a column (n,)."""
        return column([*self.q, *self.v, *self.own])

    @property
    def arguments(self) -> list[Any]:
        """Symbols in the order of `Arguments`, then p."""
        return [self.y, *map(column, (self.clock, self.apart, self.u_numbers, self.p))]

    def by(self, parameters: Sequence[int]) -> Any:
        """Return some parameters as a column."""
        return column([self.p[k] for k in parameters])

    @property
    def q_rate(self) -> Any:
        """Rate q̇ as a column."""
        return rates(self.context, {"q": self.q, "v": self.v})

    @property
    def masses(self) -> list[list[Any]]:
        """Mass matrix M, row by row."""
        flat, nv = mass_matrix(self.context, {"q": self.q}, ""), self.mech.nv
        return [flat[i * nv : (i + 1) * nv] for i in range(nv)]

    def forces(self) -> Any:
        """Return the joint forces (nv,) as a column."""
        return column(self.u_numbers) if self._law is None else self._law_results[0]

    @property
    def _law_results(self) -> Any:
        arguments = (self.apart[:1], self.q, self.v, self.apart[1:], self.p)
        return self._law(*(column(list(each)) for each in arguments))  # type: ignore[misc]

    def crossings(self, parameters: Sequence[int]) -> FlatCode:
        """Return code for the event indicators g, of the machine, then of joint forces, and their derivatives by y, p
        and t."""
        found: list[Any] = []
        if self.modes:
            found += self.context.body("event_indicators", self.inputs, "", inline)
        if self._law is not None and len(self.apart) > 1:
            found += ca.vertsplit(self._law_results[1])
        g = ca.densify(column(found))
        of_clock: list[Any] = [1.0] if self.clock else []
        for k in range(1, len(self.clock) - self.modes, 3):
            of_clock += [self.clock[k + 1], self.clock[k + 2], 0.0]
        by_t = along(g, column(list(self.clock)), column([*of_clock, *[0.0] * self.modes]))
        by_t = by_t + along(g, column(list(self.apart)), column([1.0, *[0.0] * (len(self.apart) - 1)]))
        slopes = [ca.jacobian(g, self.y), ca.jacobian(g, self.by(parameters)), by_t]
        return FlatCode(self.arguments, [g, *slopes])


class _Equations(NamedTuple):
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
    """Explicit rates of a mechanism. by : indices of parameters; forms : analytic closure of all loops, None if there
    are no loops"""

    by_iteration = False

    def __init__(self, given: Arguments, by: tuple[int, ...], forms: ClosedForms | None = None) -> None:
        self.given, self.mech, self.p, self.by = given, given.mech, given.p, by
        self._forms = forms
        self.n = self.mech.nq + self.mech.nv + self.mech.nx
        self.still = self.mech.nv if forms is None and self.mech.nq == self.mech.nv else 0
        self.projects = forms is not None or bool(self.mech.compiled.coordinates.quaternions)

    # ------------------------------------------------------------------------------------------- expressions

    @cached_property
    def _symbolic_state(self) -> SymbolicState:
        return SymbolicState(self.given)

    @cached_property
    def _equations(self) -> _Equations:
        return self._open_chain_equations() if self._forms is None else self._reduced_equations()

    def _open_chain_equations(self) -> _Equations:
        s, a = self._symbolic_state, symbols("a", self.mech.nv)
        u = s.forces()
        balance = column(inverse(s.context, {**s.inputs, "u": a}, "", smooth=True)) - u
        solution = s.context.body("forward_dynamics_smooth", {**s.inputs, "u": ca.vertsplit(u)}, "", inline)
        unknown = column(list(a))
        return _Equations(balance, unknown, column(solution), factorise(s.masses), unknown, s.q, s.v)

    def _reduced_equations(self) -> _Equations:
        assert self._forms is not None
        s, structure = self._symbolic_state, self._forms.layout.structure
        nq, nv, count = self.mech.nq, self.mech.nv, len(structure.columns)
        r = self._forms.reduced_equations(s.inputs)
        at, Phi = nq + 2 * nv, ca.SX.zeros(nv, count)
        for i, entries in enumerate(structure.columns):
            for k, entry in zip(entries, r[at : at + len(entries)], strict=True):
                Phi[k, i] = as_symbol(entry)
            at += len(entries)
        M: list[list[Any]] = [[0.0] * count for _ in range(count)]
        for (i, j), entry in zip(structure.pairs, r[at : at + len(structure.pairs)], strict=True):
            M[i][j] = M[j][i] = entry
        load = column(r[at + len(structure.pairs) : at + len(structure.pairs) + count])
        Phi = ca.sparsify(Phi)
        wanted, own = Phi.T @ s.forces() - load, column(list(symbols("a", count)))
        inertia = ca.vertcat(*(ca.horzcat(*map(as_symbol, row)) for row in M))
        factors = factorise(M)
        solution = column(list(solve(factors, ca.vertsplit(ca.densify(wanted)))))
        a = column(r[nq + nv : nq + 2 * nv]) + Phi @ own
        return _Equations(inertia @ own - wanted, own, solution, factors, a, r[:nq], r[nq : nq + nv])

    def _rates_expression(self) -> Any:
        """Return f as an expression of y and the unknown accelerations."""
        e, s = self._equations, self._symbolic_state
        q_rate = rates(s.context, {"q": e.q, "v": e.v})
        return ca.vertcat(q_rate, e.accelerations, column(s.x_rate))

    def _slopes_by(self, by: Any) -> list[Any]:
        """Return f and its derivatives by the given symbols."""
        e, f = self._equations, self._rates_expression()
        wanted = ca.densify(ca.jacobian(e.residual, by))
        columns = [column(list(solve(e.factors, ca.vertsplit(wanted[:, k])))) for k in range(wanted.size2())]
        own = -ca.horzcat(*columns) if columns else ca.SX(wanted.size1(), 0)
        f_by = ca.jacobian(f, by) + ca.jacobian(f, e.unknown) @ own
        return list(ca.substitute([f, f_by], [e.unknown], [e.solution]))

    def _state_slopes_code(self) -> FlatCode:
        return FlatCode(
            self._symbolic_state.arguments, self._without_trivial_rows(self._slopes_by(self._symbolic_state.y))
        )

    def _without_trivial_rows(self, found: list[Any]) -> list[Any]:
        """Remove the rows of q̇ = v."""
        return [each[self.still :, :] for each in found]

    def _all_slopes_code(self) -> FlatCode:
        s = self._symbolic_state
        return FlatCode(s.arguments, self._without_trivial_rows(self._slopes_by(ca.vertcat(s.y, s.by(self.by)))))

    def _push_code(self) -> FlatCode:
        """Return code for F_pᵀ w, by the balance of forces: f_pᵀ w − R_pᵀ M⁻¹ f_sᵀ w."""
        e, s, f = self._equations, self._symbolic_state, self._rates_expression()
        w, held = column(list(symbols("w", self.n))), column(list(symbols("m", e.unknown.numel())))
        pull = ca.vertsplit(ca.densify(ca.jtimes(f, e.unknown, w, True)))
        gradient = ca.gradient(ca.dot(w, f) - ca.dot(held, e.residual), s.by(self.by))
        gradient = ca.substitute(gradient, held, column(list(solve(e.factors, pull))))
        gradient = ca.substitute(gradient, e.unknown, e.solution)
        *before, p = s.arguments
        return FlatCode([*before, w, p], [gradient])

    def _projection_code(self) -> FlatCode:
        """Return code for the projected y and its derivatives."""
        s = self._symbolic_state
        e = self._equations if self._forms is not None else None
        q, v = list(e.q if e else s.q), list(e.v if e else s.v)
        for first in self.mech.compiled.coordinates.quaternions:
            size = ca.sqrt(sum(as_symbol(x) ** 2 for x in q[first : first + 4]))
            q[first : first + 4] = [as_symbol(x) / size for x in q[first : first + 4]]
        after = column([*q, *v, *s.own])
        return FlatCode(s.arguments, [after, ca.jacobian(after, s.y), ca.jacobian(after, s.by(self.by))])

    def _indicators_code(self) -> FlatCode:
        return self._symbolic_state.crossings(self.by)

    def _code(self, name: str, make: Callable[[], FlatCode], parameters: bool = True) -> FlatCode:
        by = self.by if parameters else ()
        key = (name, self._forms is not None, self.given.key, by)
        return known_code(self.mech.compiled.program, key, make)

    # ------------------------------------------------------------------------------------------- numbers

    @property
    def switches(self) -> int:
        """Number of event indicators."""
        return self.given.switches

    def slopes(self, at: EvaluationPoints, parameters: bool) -> Slopes:
        """Return f and its derivatives by y, and by p if `parameters`."""
        whole = parameters and bool(self.by)
        code = (
            self._code("all", self._all_slopes_code) if whole else self._code("state", self._state_slopes_code, False)
        )
        f, by = code(self.given(at), self.p)
        values = np.concatenate([at.y[:, self.still : 2 * self.still], f[:, :, 0]], axis=1)
        return Slopes(values, by[:, :, : self.n], by[:, :, self.n :])

    def push(self, at: EvaluationPoints, w: Array) -> Array:
        """Return F_pᵀ w, (N, m), for w (N, n)."""
        return self._code("push", self._push_code)([*self.given(at), w], self.p)[0][:, :, 0]

    def projected(self, at: EvaluationPoints) -> tuple[Array, Array, Array]:
        """Return y after projection (N, n), and its derivatives by y (N, n, n) and p (N, n, m) before projection."""
        after, by_y, by_p = self._code("projection", self._projection_code)(self.given(at), self.p)
        return after[:, :, 0], by_y, by_p

    def crossings(self, at: EvaluationPoints) -> IndicatorValues:
        """Return the event indicators with derivatives."""
        g, by_y, by_p, by_t = self._code("crossings", self._indicators_code)(self.given(at), self.p)
        return IndicatorValues(g[:, :, 0], by_y, by_p, by_t[:, :, 0])
