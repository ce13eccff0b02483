"""Functions of a machine for generated code, each as one expression graph.

    rates     ẏ = (q̇, a, ẋ) at (q, v, x, t, u, p), and how near to singular the machine is
    closed    q and v of loops that close in closed form
    masses    factors of M, which the next two take
    positions one Gauss–Newton step q ← q ⊕ −M⁻¹Gᵀ(G M⁻¹Gᵀ)⁻¹ g towards where the loops close
    speeds    v ← v − M⁻¹Gᵀ(G M⁻¹Gᵀ)⁻¹ (G v − ḟ)
    settled   one step of junctions towards balance

They are those that runs are made of (`core.simulation.equations`): what runs iterate until it is exact is here done a
number of times that is fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.c_code.joint_resistance import SmoothedResistance, resisting_forces
from core.c_code.small_systems import (
    FactoredRows,
    OrderedFactors,
    build_symmetric,
    dot,
    factorise_mass,
    factorise_rows,
    solve_mass,
)
from core.codegen.graph_symbols import build_column, scalar_symbols, to_symbol
from core.constraints.closed_forms.closed_forms import AnalyticClosure, get_analytic_closure
from core.mechanics.elements.constraints.kinematic_constraint import POSITION, VELOCITY
from core.mechanics.factor import Factors, factorise
from core.mechanics.factor import solve as solve_factored
from core.mechanics.tree import inline
from core.mechanism import Mechanism
from core.numerics.spatial.scalar import Scalar, minus, plus, times, total
from core.numerics.tolerances import SINGULAR_SINE
from core.programs import dynamics
from core.programs.kinematics import rate
from core.simulation.equations.reduced import REGULAR_SINE, STEEP_RATIO
from core.simulation.equations.singular_masses import may_be_singular

Array = NDArray[np.float64]
LETTERS = {"q": "q", "v": "v", "x": "x", "t": "t", "u": "u", "p": "p", "f": "m", "a": "a", "n": "now"}
"""C names of arguments by their names here; f : factors of M, n : the time."""


class TracedFunction:
    """Function with one flat result: its arguments in order and its expression graph."""

    def __init__(self, arguments: str, graph: ca.Function) -> None:
        self.arguments, self.graph = arguments, graph
        self._call: Callable[[dict[str, Array]], Array] | None = None

    def __call__(self, **given: Array) -> Array:
        """Evaluate the function with CasADi's interpreter."""
        if self._call is None:
            self._call = self._buffered_graph()
        return self._call(given)

    def _buffered_graph(self) -> Callable[[dict[str, Array]], Array]:
        """Graph with preallocated buffers, because thousands of steps call it and creating matrices would take longer
        than the evaluation."""
        both: Any = self.graph.buffer()
        buffer, trigger = both
        inputs = {word: np.zeros(self.graph.numel_in(i)) for i, word in enumerate(self.arguments)}
        for i, array in enumerate(inputs.values()):
            if array.size:
                buffer.set_arg(i, memoryview(array))  # type: ignore[arg-type]
        values = np.zeros(self.graph.numel_out(0))
        if values.size:
            buffer.set_res(0, memoryview(values))  # type: ignore[arg-type]

        def call(given: dict[str, Array], _: Any = buffer) -> Array:
            for word, array in inputs.items():
                array[:] = given[word]
            trigger()
            return values.copy()

        return call


class MachineFunctions:
    """Functions of one mechanism at parameter values p and start state (q, v); assume_independent : True to treat the
    iterated constraint rows as independent, see `core.c_code.small_systems.held`."""

    def __init__(
        self,
        mech: Mechanism,
        p: Array,
        q: Array,
        resistance: SmoothedResistance,
        constants: bool = False,
        assume_independent: bool = False,
    ) -> None:
        self.mech, self.compiled, self.p, self.resistance = mech, mech.compiled, p, resistance
        self.context = mech.compiled.program.symbolic
        self.constants = constants
        self.nq, self.nv, self.nx = mech.nq, mech.nv, mech.nx
        forms = get_analytic_closure(mech.compiled.program)
        usable = forms.is_usable and not forms.rows_left_to_iteration and not forms.long and forms.fit(q, p)
        self.forms: AnalyticClosure | None = forms if usable else None
        """Closed forms of all loops; None: they are closed by iteration."""
        self.certain = assume_independent and self.forms is None
        self._weight = self._mass_regularisation(q)

    def _mass_regularisation(self, q: Array) -> float:
        """Return ρ of M + ρ Gᵀ G; 0 if M is never singular."""
        if not self.compiled.constrained or not may_be_singular(self.compiled, self.p, q):
            return 0.0
        diagonal = np.max(np.diag(np.atleast_2d(self.compiled.mass_matrix(q, self.p))), initial=0.0)
        G = self.compiled.call("constraint_jacobian", q, p=self.p)
        return float((diagonal or 1.0) / max(float(np.max(np.abs(G), initial=0.0)) ** 2, 1e-300))

    # ------------------------------------------------------------------------------------------ arguments

    @cached_property
    def symbols(self) -> dict[str, list[Any]]:
        """Symbols of every argument; x : states without their rates."""
        sizes = self.context.sizes
        found = {word: scalar_symbols(word, sizes[word]) for word in "qvut"}
        found["x"] = scalar_symbols("x", self.nx)
        found["a"] = scalar_symbols("a", self.nv)
        found["n"] = scalar_symbols("n", 1)
        return found

    @property
    def time_size(self) -> int:
        """Length of the time argument."""
        return self.context.clock.size

    def build_function(self, arguments: str, result: Sequence[Scalar], **further_symbols: list[Any]) -> TracedFunction:
        """Build the graph of a flat result; empty arguments are omitted; further_symbols : symbols of further
        arguments."""
        known = {**self.symbols, "p": list(self.context.p), **further_symbols}
        words = "".join(word for word in arguments if known[word])
        if self.constants:
            words = words.replace("p", "")
        expression = ca.densify(build_column(list(result)))
        if self.constants and self.context.p:
            expression = ca.substitute(expression, build_column(list(self.context.p)), ca.DM(self.p))
        return TracedFunction(
            words, ca.Function("f", [build_column(known[word]) for word in words], [expression], {"cse": True})
        )

    @cached_property
    def state_rates(self) -> list[Scalar]:
        """Return the state rates ẋ."""
        if not self.nx:
            return []
        s = self.symbols
        return self.context.build_body(
            "states", {**self._select_symbols("qvt"), "x": [*s["x"], *[0.0] * self.nx]}, "", inline
        )

    def _select_symbols(self, arguments: str) -> dict[str, list[Any]]:
        return {word: self.symbols[word] for word in arguments}

    @cached_property
    def force_inputs(self) -> dict[str, list[Any]]:
        """Return q, v, t, and x with its rates, as force elements take them."""
        return {**self._select_symbols("qvt"), "x": [*self.symbols["x"], *self.state_rates]}

    # ------------------------------------------------------------------------------------------ ẏ

    @cached_property
    def _resisting_forces(self) -> tuple[list[Scalar], list[Scalar]]:
        return resisting_forces(self.compiled, self.resistance, self.force_inputs)

    @cached_property
    def joint_forces(self) -> list[Scalar]:
        """Return joint forces (nv,): actuators within their limits, friction and stops."""
        effort = self.resistance.effort_limits(self.nv)
        asked = [
            ca.fmin(ca.fmax(to_symbol(u), -most), most) if np.isfinite(most) else u
            for u, most in zip(self.symbols["u"], effort, strict=True)
        ]
        return [plus(u, more) for u, more in zip(asked, self._resisting_forces[0], strict=True)]

    def limit_excess(self) -> TracedFunction:
        """Build the function that gives each joint's distance beyond its stops, rad or m."""
        return self.build_function("qvxtp", self._resisting_forces[1])

    def rates(self) -> TracedFunction:
        """Build ẏ for machines without loops or with constraint rows, followed by the squared remainder of each row
        after elimination of the earlier ones."""
        s = self.symbols
        if not self.compiled.by_mass_matrix:
            given = {**self.force_inputs, "u": self.joint_forces}
            a, least = self.context.build_body("forward_dynamics_smooth", given, "", inline), 1.0
        else:
            a, least = self._constrained_rates()
        q_rate = rate(self.context, self._select_symbols("qv"), "")
        return self.build_function("qvuxtp", [*q_rate, *a, *self.state_rates, least], u=s["u"])

    def _constrained_rates(self) -> tuple[list[Scalar], Scalar]:
        mass = self._factorise_mass(self.symbols["q"])
        h = self.context.build_body("bias_smooth", self.force_inputs, "", inline)
        remaining = [minus(u, each) for u, each in zip(self.joint_forces, h, strict=True)]
        a = solve_mass(mass, remaining)
        if not self.compiled.rows:
            return a, 1.0
        rows = self._factorise_rows(self.symbols["q"], mass, level=None)
        drift = self.context.row_expressions.bias(self._select_symbols("qvt"), inline)
        wanted = [times(-1.0, plus(drift[k], dot(rows.G[i], a))) for i, k in enumerate(self._nonzero_rows(None))]
        return [plus(x, y) for x, y in zip(a, rows.change(wanted, self.nv), strict=True)], rows.least

    def reduced_rates(self) -> TracedFunction:
        """Build ẏ by analytic loop closure, followed by 1 if that is valid, otherwise 0."""
        assert self.forms is not None
        forms, layout = self.forms, self.forms.output_layout
        r = forms.reduced_equations(self.force_inputs)
        nq, nv, structure = self.nq, self.nv, layout.structure
        q, v, b = r[:nq], r[nq : nq + nv], r[nq + nv : nq + 2 * nv]
        at = nq + 2 * nv
        columns: list[dict[int, Scalar]] = []
        for entries in structure.columns:
            columns.append(dict(zip(entries, r[at : at + len(entries)], strict=True)))
            at += len(entries)
        pairs = structure.pairs
        masses, at = r[at : at + len(pairs)], at + len(pairs)
        load = r[at : at + len(columns)]
        forces = self.joint_forces
        own = [
            minus(total(times(x, forces[k]) for k, x in col.items()), h) for col, h in zip(columns, load, strict=True)
        ]
        a_own = solve_factored(factorise(build_symmetric(masses, pairs, len(columns))), own)
        a = list(b)
        for col, x in zip(columns, a_own, strict=True):
            for k, entry in col.items():
                a[k] = plus(a[k], times(entry, x))
        q_rate = rate(self.context, {"q": q, "v": v}, "")
        return self.build_function("qvuxtp", [*q_rate, *a, *self.state_rates, self._is_valid(r)])

    def jacobian(self, rates: TracedFunction) -> TracedFunction:
        """Build J = ∂ẏ/∂y of `rates` or `reduced_rates`, row by row."""
        symbols_of = [rates.graph.sx_in(i) for i in range(rates.graph.n_in())]
        (result,) = rates.graph.call(symbols_of)
        size = self.nq + self.nv + self.nx
        full = ca.SX(size, 0)
        for word in "qvx":
            if word in rates.arguments:
                own = symbols_of[rates.arguments.index(word)]
                full = ca.horzcat(full, ca.jacobian(result[:size], own))
            else:
                count = {"q": self.nq, "v": self.nv, "x": self.nx}[word]
                full = ca.horzcat(full, ca.SX(size, count))
        flat = ca.densify(ca.reshape(full.T, -1, 1))
        return TracedFunction(rates.arguments, ca.Function("f", symbols_of, [flat], {"cse": True}))

    def closed(self) -> TracedFunction:
        """Build q and v by analytic loop closure, followed by 1 if that is valid, otherwise 0."""
        assert self.forms is not None
        r = self.forms.reduced_equations(self.force_inputs)
        return self.build_function("qvxtp", [*r[: self.nq + self.nv], self._is_valid(r)])

    def _is_valid(self, r: Sequence[Scalar]) -> Any:
        reach, sine, gain = map(to_symbol, r[-3:])
        near = ca.logic_and(sine > SINGULAR_SINE, gain < STEEP_RATIO)
        return ca.if_else(ca.logic_and(reach > 0.0, ca.logic_or(sine > REGULAR_SINE, near)), 1.0, 0.0)

    # ------------------------------------------------------------------------------------------ what holds

    def _nonzero_rows(self, level: int | None) -> list[int]:
        """Return the indices of constraint rows of this level and above (None: all) that are not identically zero."""
        moving = set(self.context.row_expressions.pattern.rows.tolist())
        levels = [row.level for row in self.compiled.rows]
        return [k for k in range(len(levels)) if k in moving and (level is None or levels[k] <= level)]

    def _constraint_jacobian(self, q: Sequence[Any], level: int | None) -> list[list[Scalar]]:
        pattern, entries = (
            self.context.row_expressions.pattern,
            self.context.row_expressions.entries({"q": list(q)}, inline),
        )
        lines: dict[int, list[Scalar]] = {k: [0.0] * self.nv for k in self._nonzero_rows(level)}
        for row, at, entry in zip(pattern.rows.tolist(), pattern.columns.tolist(), entries, strict=True):
            if row in lines:
                lines[row][at] = entry
        return list(lines.values())

    def _factorise_mass(self, q: Sequence[Any]) -> OrderedFactors:
        """Factorise M, or M + ρ Gᵀ G where M may be singular: on the constraint manifold both yield the same
        accelerations."""
        flat, nv = dynamics.mass_matrix(self.context, {"q": list(q)}, ""), self.nv
        M = [flat[i * nv : (i + 1) * nv] for i in range(nv)]
        if self._weight:
            for row in self._constraint_jacobian(q, None):
                for i in range(nv):
                    for j in range(i + 1):
                        M[i][j] = plus(M[i][j], times(times(self._weight, row[i]), row[j]))
        return factorise_mass(M)

    def _factorise_rows(self, q: Sequence[Any], mass: OrderedFactors, level: int | None) -> FactoredRows:
        return factorise_rows(self._constraint_jacobian(q, level), mass, self.certain)

    @cached_property
    def _factor_pattern(self) -> tuple[list[tuple[int, int]], OrderedFactors]:
        """Return the entries of L that may be nonzero, and the factors themselves."""
        mass = self._factorise_mass(self.symbols["q"])
        places = [(i, j) for i in range(self.nv) for j in range(i) if type(mass.factors.L[i][j]) is not float]
        return places, mass

    @cached_property
    def factor_size(self) -> int:
        """Number of scalars in the factors of M."""
        return self.nv + len(self._factor_pattern[0])

    def masses(self) -> TracedFunction:
        """Build the factors of M: reciprocals of D, then entries of L."""
        places, mass = self._factor_pattern
        return self.build_function("qp", [*mass.factors.reciprocals, *(mass.factors.L[i][j] for i, j in places)])

    @cached_property
    def _factors_as_argument(self) -> tuple[list[Any], OrderedFactors]:
        """Return the factors of M as an argument."""
        places, mass = self._factor_pattern
        given = scalar_symbols("m", self.factor_size)
        L: list[list[Scalar]] = [list(row) for row in mass.factors.L]
        for (i, j), entry in zip(places, given[self.nv :], strict=True):
            L[i][j] = entry
        return given, OrderedFactors(mass.order, Factors(tuple(map(tuple, L)), tuple(given[: self.nv])))

    def position_step(self) -> TracedFunction:
        """Build one Newton step of loop closure, which gives q, the largest residual before it (m, rad), and the
        smallest relative pivot."""
        given, mass = self._factors_as_argument
        q = self.symbols["q"]
        rows = self._factorise_rows(q, mass, POSITION)
        gaps = self.context.row_expressions.residual(self._select_symbols("qt"), inline)
        own = [gaps[k] for k in self._nonzero_rows(POSITION)]
        change = rows.change([times(-1.0, gap) for gap in own], self.nv)
        largest: Any = ca.SX(0.0)
        for gap in gaps:
            largest = ca.fmax(largest, ca.fabs(to_symbol(gap)))
        moved = [plus(x, dx) for x, dx in zip(q, rate(self.context, {"q": q, "v": change}, ""), strict=True)]
        return self.build_function("qftp", [*self.normalise_quaternions(moved), largest, rows.least], f=given)

    def speeds(self) -> TracedFunction:
        """Build the projection of v on the constraints: v, and the smallest relative pivot."""
        given, mass = self._factors_as_argument
        rows = self._factorise_rows(self.symbols["q"], mass, VELOCITY)
        opposite = self.context.row_expressions.time(self._select_symbols("t"), inline)
        v = self.symbols["v"]
        wanted = [
            times(-1.0, plus(dot(line, v), opposite[k]))
            for line, k in zip(rows.G, self._nonzero_rows(VELOCITY), strict=True)
        ]
        change = rows.change(wanted, self.nv)
        return self.build_function(
            "qvftp", [*(plus(x, y) for x, y in zip(v, change, strict=True)), rows.least], f=given
        )

    def normalise_quaternions(self, q: Sequence[Scalar]) -> list[Scalar]:
        """Return q with normalised quaternions."""
        result = list(q)
        for first in self.compiled.coordinates.quaternions:
            size = ca.sqrt(sum(to_symbol(x) ** 2 for x in result[first : first + 4]))
            result[first : first + 4] = [to_symbol(x) / size for x in result[first : first + 4]]
        return result

    def q_rate(self) -> TracedFunction:
        """Build q̇."""
        return self.build_function("qv", rate(self.context, self._select_symbols("qv"), ""))

    def normalised_position(self) -> TracedFunction:
        """Build q with normalised quaternions."""
        return self.build_function("q", self.normalise_quaternions(self.symbols["q"]))

    def junction_step(self) -> TracedFunction:
        """Build one Newton step of the junctions toward force balance, which gives x."""
        step = self.context.build_body("settle", self.force_inputs, "", inline)
        return self.build_function("qvxtp", [plus(x, dx) for x, dx in zip(self.symbols["x"], step, strict=True)])
