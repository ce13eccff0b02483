"""Exact derivatives of the equations of motion with respect to positions, speeds and states.

With f(q, v, a, λ) = M a + h − Gᵀ λ and g(q, v, a) = G a + Ġ v the motion obeys f = τ, g = 0.

Forward dynamics of open chains is not differentiated: with b = M a + h the inverse dynamics, ∂a = −M⁻¹ ∂b at the
accelerations a, and ∂a/∂τ = M⁻¹ (Carpentier and Mansard, RSS 2018). Derivatives by q are along displacements ξ,
δq = N ξ with q̇ = N v.

For implicit integrators (`slopes`) accelerations a and multipliers λ are held: q̇ = N v, b = M a + h − Gᵀ λ,
g = G a + Ġ v − f̈ and ẋ are differentiated by q, v and x, with the effect of ẋ on the forces. Accelerations then change
by M δa = Gᵀ δλ − δb, G δa = −δg (`core.simulation.equations.jacobian`).
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen.flat_code import FlatCode
from core.codegen.graph_symbols import column, symbols
from core.mechanics.factor import factorise, solve
from core.mechanics.tree import Runner, inline
from core.numerics.spatial.scalar import Scalar
from core.programs.constraint_equations import constraint_bias, speed_jacobian
from core.programs.dynamics import energy, forward, inverse, mass_matrix
from core.programs.junctions import forces, states
from core.programs.kinematics import rates
from core.programs.machine_symbols import MachineSymbols
from core.programs.program import Program

Array = NDArray[np.float64]

_known: weakref.WeakKeyDictionary[Program, dict[tuple[int, ...], Derivatives]] = weakref.WeakKeyDictionary()


class Equations(NamedTuple):
    """Derivatives of f and g along displacements ξ of q (nv directions) and with respect to v, of G v and q̇ along ξ,
    and of all with respect to the m selected parameters.

    f_q, f_v : (nv, nv); f_x : (nv, nx); g_q, g_v, Gv_q : (rows, nv); turn : (nv, nv) with ξ̇ = δv + turn · ξ
    f_p : (nv, m); g_p, Gv_p, s_p : (rows, m), s the residuals of positions; x_p : (nx, m); sum_p : (nj, m)
    """

    f_q: Array
    f_v: Array
    f_x: Array
    g_q: Array
    g_v: Array
    Gv_q: Array
    turn: Array
    x_q: Array
    x_v: Array
    x_x: Array
    follow: Array
    """(nj, nv) displacement of junctions (the first nj states) per displacement ξ, when they stay in equilibrium."""
    sum_q: Array
    """(nj, nv), (nj, nx), (nj, nj): derivatives of the forces on junctions with respect to displacements, states and
    the junctions' speeds."""
    sum_x: Array
    sum_w: Array
    f_p: Array
    g_p: Array
    Gv_p: Array
    s_p: Array
    x_p: Array
    sum_p: Array


class Derivatives:
    """Derivatives of one program's functions; parameters : indices of the parameters to differentiate by."""

    def __init__(self, program: Program, parameters: tuple[int, ...] = ()) -> None:
        self._program = program
        self._by = column([program.symbolic.p[k] for k in parameters])
        self._inputs: dict[str, list[Any]] = {}
        self._code = self._build_code()

    def __call__(self, values: Mapping[str, Any], multipliers: Array, p: Array) -> Equations:
        """Evaluate at one state: q, v, u (accelerations), t (time argument) and x (states of force elements)."""
        one = {name: np.asarray(values[name], dtype=float).reshape(1, -1) for name in (*self._inputs, "x")}
        return Equations(*(each[0] for each in self.many(one, np.reshape(multipliers, (1, -1)), p)))

    def many(self, values: Mapping[str, Any], multipliers: Array, p: Array) -> Equations:
        """Evaluate at many states (n, …) and one set of parameters; each derivative has the states as first axis."""
        return Equations(*self._code([*(values[name] for name in (*self._inputs, "x")), multipliers], p))

    def _symbolic_column(self, name: str) -> Any:
        """Return a symbolic function as a column, over this object's symbols."""
        symbolic = self._program.symbolic
        for argument in symbolic.signature(name).arguments:
            if argument != "x":
                self._inputs.setdefault(argument, symbols(argument, symbolic.sizes[argument]))
        return ca.densify(column(symbolic.body(name, {**self._inputs, "x": self._states}, "", inline)))

    def _build_code(self) -> FlatCode:
        symbolic = self._program.symbolic
        nv, nx = symbolic.tree.nv, symbolic.nx
        x = symbols("x", nx)
        self._states = [*x, *[0.0] * nx]
        x_rate = self._symbolic_column("states") if nx else ca.SX.zeros(0)
        self._states = [*x, *ca.vertsplit(x_rate)]  # forces may depend on ẋ, which follows from the rest
        forces, rate = self._symbolic_column("inverse_dynamics"), self._symbolic_column("rate")
        q, v, a = (column(self._inputs[name]) for name in "qvu")
        rows = symbolic.signature("constraint_residual").shape[0]
        multipliers = ca.SX.sym("lambda", rows)
        N = ca.sparsify(ca.jacobian(rate, v))
        g = gaps = positions = ca.SX.zeros(rows)
        if rows:
            positions = self._symbolic_column("constraint_residual")
            G = speed_jacobian(symbolic, self._inputs["q"])
            forces = forces - G.T @ multipliers
            gaps = G @ v
            g = G @ a + self._symbolic_column("constraint_bias")
        # q̇ = N v, δq = N ξ: N ξ̇ = (∂q̇/∂q N − Ṅ) ξ + N δv
        N_rate = ca.jtimes(ca.vec(N), q, rate).reshape(N.shape)
        turn = ca.solve(N.T @ N, N.T @ (ca.jacobian(rate, q) @ N - N_rate)) if nv else ca.SX.zeros(0, 0)
        own = column(list(x))
        slopes = ((forces, (q, v, own)), (g, (q, v)), (gaps, (q,)))
        outputs = [_derivative(f, by, q, N) for f, arguments in slopes for by in arguments]
        outputs += [
            turn,
            *(_derivative(x_rate, by, q, N) for by in (q, v, own)),
            self._junction_displacements(own, q, N),
        ]
        outputs += self._junction_derivatives(own, x_rate, q, N)
        outputs += [ca.jacobian(each, self._by) for each in (forces, g, gaps, positions, x_rate)]
        outputs += [self._junction_parameter_derivatives(x_rate, own)]
        arguments = [*(column(list(given)) for given in self._inputs.values()), own, multipliers, column(symbolic.p)]
        return FlatCode(arguments, outputs, later=True)

    def _junction_derivatives(self, x: Any, x_rate: Any, q: Any, N: Any) -> list[Any]:
        """Return ∂f/∂q N, ∂f/∂x, ∂f/∂w of the forces f on junctions, where w are the junctions' speeds."""
        symbolic = self._program.symbolic
        count = 3 * len(symbolic.elements.junctions)
        if not count:
            return [ca.SX.zeros(0, symbolic.tree.nv), ca.SX.zeros(0, symbolic.nx), ca.SX.zeros(0, 0)]
        w = ca.SX.sym("w", count)
        f = forces(symbolic, {**self._inputs, "x": ca.vertsplit(x)}, w)
        slopes = (ca.jacobian(f, q) @ N, ca.jacobian(f, x), ca.jacobian(f, w))
        return [ca.densify(ca.substitute(each, w, x_rate[:count])) for each in slopes]

    def _junction_parameter_derivatives(self, x_rate: Any, x: Any) -> Any:
        """Return ∂f/∂p of the forces f on junctions."""
        symbolic = self._program.symbolic
        count = 3 * len(symbolic.elements.junctions)
        if not count:
            return ca.SX.zeros(0, self._by.numel())
        w = ca.SX.sym("w", count)
        f = forces(symbolic, {**self._inputs, "x": ca.vertsplit(x)}, w)
        return ca.densify(ca.substitute(ca.jacobian(f, self._by), w, x_rate[:count]))

    def _junction_displacements(self, x: Any, q: Any, N: Any) -> Any:
        """Return −(∂f/∂x)⁻¹ ∂f/∂q N of the forces f on junctions."""
        symbolic = self._program.symbolic
        count = 3 * len(symbolic.elements.junctions)
        if not count:
            return ca.SX.zeros(0, symbolic.tree.nv)
        f = self._symbolic_column("balance")[:count]
        return -ca.solve(ca.densify(ca.jacobian(f, x[:count])), ca.densify(ca.jacobian(f, q) @ N))


def _derivative(f: Any, by: Any, q: Any, N: Any) -> Any:
    """Return ∂f/∂by; for q along displacements, δq = N ξ."""
    return ca.jacobian(f, by) @ N if by is q else ca.jacobian(f, by)


def derivatives(program: Program, parameters: tuple[int, ...] = ()) -> Derivatives:
    """Return the cached derivatives of a program; parameters : indices of the parameters to differentiate by."""
    known = _known.setdefault(program, {})
    if parameters not in known:
        known[parameters] = Derivatives(program, parameters)
    return known[parameters]


Inputs = Mapping[str, list[Any]]


def force_slopes(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return ∂τ/∂ξ and ∂τ/∂v, row by row; u: accelerations."""
    balance = column(inverse(context, x, ""))
    return [entry for part in _state_derivatives(context, x, balance) for entry in _entries_row_by_row(part)]


def force_slopes_by_parameters(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return ∂τ/∂p, row by row."""
    return _entries_row_by_row(ca.jacobian(column(inverse(context, x, "")), column(list(context.p))))


def motion_slopes(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return ∂a/∂ξ, ∂a/∂v and ∂a/∂τ = M⁻¹, row by row; u: joint forces."""
    nv = context.tree.nv
    a = symbols("a", nv)
    balance = column(inverse(context, {**x, "u": a}, ""))
    slopes = ca.horzcat(*_state_derivatives(context, x, balance))
    wanted = ca.horzcat(-_with_accelerations(context, x, slopes, a), ca.SX.eye(nv))
    found = _solve_mass_matrix(context, x, wanted)
    return [entry for part in range(3) for row in found for entry in row[part * nv : (part + 1) * nv]]


def motion_slopes_by_parameters(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return ∂a/∂p, row by row."""
    a = symbols("a", context.tree.nv)
    balance = column(inverse(context, {**x, "u": a}, ""))
    slopes = ca.jacobian(balance, column(list(context.p)))
    return [
        entry for row in _solve_mass_matrix(context, x, -_with_accelerations(context, x, slopes, a)) for entry in row
    ]


def _state_derivatives(context: MachineSymbols, x: Inputs, balance: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return ∂f/∂ξ and ∂f/∂v."""
    q, v = column(list(x["q"])), column(list(x["v"]))
    N = ca.jacobian(rates(context, x), v)
    return ca.jacobian(balance, q) @ N, ca.jacobian(balance, v)


def _with_accelerations(context: MachineSymbols, x: Inputs, slopes: ca.SX, a: list[Any]) -> ca.SX:
    """Substitute the accelerations that the forces x["u"] produce."""
    return ca.substitute(slopes, column(list(a)), column(forward(context, x, "")))


def _solve_mass_matrix(context: MachineSymbols, x: Inputs, wanted: ca.SX) -> list[list[Scalar]]:
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


def slopes(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return ∂(q̇, b, g, ẋ)/∂y for each entry of y = (q, v, x), column by column; u: a, l: λ."""
    own = list((x.get("x") or [])[: context.nx])
    x_rate = states(context, {**x, "x": [*own, *[0.0] * context.nx]}, "") if own else []
    seen = {**x, "x": [*own, *x_rate]} if own else x
    balance, drift = column(inverse(context, seen, "", smooth=True)), ca.SX(0, 1)
    if x.get("l"):
        G = speed_jacobian(context, x["q"])
        balance = balance - G.T @ column(list(x["l"]))
        drift = G @ column(list(x["u"])) + column(constraint_bias(context, x, ""))
    moving = ca.vertcat(rates(context, x), balance, drift, column(x_rate))
    by = column([*x["q"], *x["v"], *own])
    return ca.vertsplit(ca.vec(ca.densify(ca.jacobian(moving, by))))


def lost_power(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the power W that dampers and force elements dissipate, without dry friction: v · h, the power of joint
    forces at zero acceleration, minus the resulting rate of energy dE/dt."""
    own = list((x.get("x") or [])[: context.nx])
    x_rate = states(context, {**x, "x": [*own, *[0.0] * context.nx]}, "") if own else []
    seen = {**x, "x": [*own, *x_rate]} if own else x
    h = column(inverse(context, {**seen, "u": [0.0] * context.tree.nv}, "", smooth=True))
    whole = sum(energy(context, seen, ""))
    time = list(x.get("t") or ())[:1]
    moved = ca.vertcat(rates(context, x), column(x_rate), column([1.0] * len(time)))
    change = ca.jtimes(ca.SX(whole), column([*x["q"], *own, *time]), moved)
    return [ca.dot(column(list(x["v"])), h) - change]
