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
from core.codegen.graph_symbols import build_column, scalar_symbols
from core.mechanics.elements.control_forces import ControlForce
from core.mechanics.factor import factorise, solve
from core.mechanics.tree import Runner, inline
from core.numerics.spatial.scalar import Scalar
from core.programs.constraint_equations import constraint_bias, speed_jacobian
from core.programs.dynamics import energy, force_state, forward, inverse, mass_matrix
from core.programs.junctions import junction_forces, states
from core.programs.kinematics import coordinate_rates
from core.programs.machine_symbols import MachineSymbols
from core.programs.program import Program

Array = NDArray[np.float64]

_known: weakref.WeakKeyDictionary[Program, dict[tuple[int, ...], Derivatives]] = weakref.WeakKeyDictionary()


class EquationDerivatives(NamedTuple):
    """Derivatives of f and g along displacements ξ of q (nv directions) and with respect to v; of G v and q̇ along ξ;
    and of all of these with respect to the m selected parameters.

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
    """Derivatives of one program's functions. parameters : indices of the parameters with respect to which they are
    differentiated."""

    def __init__(self, program: Program, parameters: tuple[int, ...] = ()) -> None:
        self._program = program
        self._by = build_column([program.symbolic.p[k] for k in parameters])
        self._inputs: dict[str, list[Any]] = {}
        self._code = self._build_code()

    def __call__(self, values: Mapping[str, Any], multipliers: Array, p: Array) -> EquationDerivatives:
        """Evaluate at one state: q, v, u (accelerations), t (time argument) and x (states of force elements)."""
        one = {name: np.asarray(values[name], dtype=float).reshape(1, -1) for name in (*self._inputs, "x")}
        return EquationDerivatives(*(each[0] for each in self.evaluate_many(one, np.reshape(multipliers, (1, -1)), p)))

    def evaluate_many(self, values: Mapping[str, Any], multipliers: Array, p: Array) -> EquationDerivatives:
        """Evaluate at many states (n, …) and one set of parameters; each derivative has the states as first axis."""
        return EquationDerivatives(*self._code([*(values[name] for name in (*self._inputs, "x")), multipliers], p))

    def _symbolic_column(self, name: str) -> Any:
        """Return a symbolic function as a column, over this object's symbols."""
        symbolic = self._program.symbolic
        for argument in symbolic.signature(name).arguments:
            if argument != "x":
                self._inputs.setdefault(argument, scalar_symbols(argument, symbolic.sizes[argument]))
        return ca.densify(build_column(symbolic.build_body(name, {**self._inputs, "x": self._states}, "", inline)))

    def _build_code(self) -> FlatCode:
        symbolic = self._program.symbolic
        nv, nx = symbolic.tree.nv, symbolic.nx
        x = scalar_symbols("x", nx)
        self._states = [*x, *[0.0] * nx]
        x_rate = self._symbolic_column("states") if nx else ca.SX.zeros(0)
        self._states = [*x, *ca.vertsplit(x_rate)]  # forces may depend on ẋ, which follows from the rest
        forces, rate = self._symbolic_column("inverse_dynamics"), self._symbolic_column("rate")
        q, v, a = (build_column(self._inputs[name]) for name in "qvu")
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
        own = build_column(list(x))
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
        arguments = [
            *(build_column(list(given)) for given in self._inputs.values()),
            own,
            multipliers,
            build_column(symbolic.p),
        ]
        return FlatCode(arguments, outputs, later=True)

    def _junction_derivatives(self, x: Any, x_rate: Any, q: Any, N: Any) -> list[Any]:
        """Return ∂f/∂q N, ∂f/∂x, ∂f/∂w of the forces f on junctions, where w are the junctions' speeds."""
        symbolic = self._program.symbolic
        count = 3 * len(symbolic.elements.junctions)
        if not count:
            return [ca.SX.zeros(0, symbolic.tree.nv), ca.SX.zeros(0, symbolic.nx), ca.SX.zeros(0, 0)]
        w = ca.SX.sym("w", count)
        f = junction_forces(symbolic, {**self._inputs, "x": ca.vertsplit(x)}, w)
        slopes = (ca.jacobian(f, q) @ N, ca.jacobian(f, x), ca.jacobian(f, w))
        return [ca.densify(ca.substitute(each, w, x_rate[:count])) for each in slopes]

    def _junction_parameter_derivatives(self, x_rate: Any, x: Any) -> Any:
        """Return ∂f/∂p of the forces f on junctions."""
        symbolic = self._program.symbolic
        count = 3 * len(symbolic.elements.junctions)
        if not count:
            return ca.SX.zeros(0, self._by.numel())
        w = ca.SX.sym("w", count)
        f = junction_forces(symbolic, {**self._inputs, "x": ca.vertsplit(x)}, w)
        return ca.densify(ca.substitute(ca.jacobian(f, self._by), w, x_rate[:count]))

    def _junction_displacements(self, x: Any, q: Any, N: Any) -> Any:
        """Return −(∂f/∂x)⁻¹ ∂f/∂q N of the forces f on junctions."""
        symbolic = self._program.symbolic
        count = 3 * len(symbolic.elements.junctions)
        if not count:
            return ca.SX.zeros(0, symbolic.tree.nv)
        f = self._symbolic_column("balance")[:count]
        return -ca.solve(ca.densify(ca.jacobian(f, x[:count])), ca.densify(ca.jacobian(f, q) @ N))


def _derivative(f: Any, variables: Any, q: Any, N: Any) -> Any:
    """Return ∂f/∂by; for q along displacements, δq = N ξ."""
    return ca.jacobian(f, variables) @ N if variables is q else ca.jacobian(f, variables)


def program_derivatives(program: Program, parameters: tuple[int, ...] = ()) -> Derivatives:
    """Return the cached derivatives of a program; parameters : indices of the parameters to differentiate by."""
    known = _known.setdefault(program, {})
    if parameters not in known:
        known[parameters] = Derivatives(program, parameters)
    return known[parameters]


Inputs = Mapping[str, list[Any]]


def force_slopes(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return ∂τ/∂ξ and ∂τ/∂v, row by row; u: accelerations."""
    balance = build_column(inverse(context, inputs, ""))
    return [entry for part in _state_derivatives(context, inputs, balance) for entry in _entries_row_by_row(part)]


def force_slopes_by_parameters(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return ∂τ/∂p, row by row."""
    return _entries_row_by_row(ca.jacobian(build_column(inverse(context, inputs, "")), build_column(list(context.p))))


def motion_slopes(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return ∂a/∂ξ, ∂a/∂v and ∂a/∂τ = M⁻¹, row by row; u: joint forces."""
    nv = context.tree.nv
    a = scalar_symbols("a", nv)
    balance = build_column(inverse(context, {**inputs, "u": a}, ""))
    slopes = ca.horzcat(*_state_derivatives(context, inputs, balance))
    wanted = ca.horzcat(-_substitute_accelerations(context, inputs, slopes, a), ca.SX.eye(nv))
    found = _solve_mass_matrix(context, inputs, wanted)
    return [entry for part in range(3) for row in found for entry in row[part * nv : (part + 1) * nv]]


def motion_slopes_by_parameters(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return ∂a/∂p, row by row."""
    a = scalar_symbols("a", context.tree.nv)
    balance = build_column(inverse(context, {**inputs, "u": a}, ""))
    slopes = ca.jacobian(balance, build_column(list(context.p)))
    return [
        entry
        for row in _solve_mass_matrix(context, inputs, -_substitute_accelerations(context, inputs, slopes, a))
        for entry in row
    ]


def _state_derivatives(context: MachineSymbols, inputs: Inputs, balance: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return ∂f/∂ξ and ∂f/∂v."""
    q, v = build_column(list(inputs["q"])), build_column(list(inputs["v"]))
    N = ca.jacobian(coordinate_rates(context, inputs), v)
    return ca.jacobian(balance, q) @ N, ca.jacobian(balance, v)


def _substitute_accelerations(context: MachineSymbols, inputs: Inputs, slopes: ca.SX, a: list[Any]) -> ca.SX:
    """Substitute the accelerations that the forces x["u"] produce."""
    return ca.substitute(slopes, build_column(list(a)), build_column(forward(context, inputs, "")))


def _solve_mass_matrix(context: MachineSymbols, inputs: Inputs, right_sides: ca.SX) -> list[list[Scalar]]:
    """Return the rows of M⁻¹ times columns."""
    nv = context.tree.nv
    M = mass_matrix(context, inputs, "")
    factors = factorise([M[i * nv : (i + 1) * nv] for i in range(nv)])
    columns = [solve(factors, _entries_row_by_row(right_sides[:, k])) for k in range(right_sides.size2())]
    return [[own[i] for own in columns] for i in range(nv)]


def _entries_row_by_row(matrix: ca.SX) -> list[Scalar]:
    """Return the entries row by row; structural zeros as literals, so that nothing is computed with them."""
    rows, columns = matrix.size1(), matrix.size2()
    entries: Sequence[Scalar] = [0.0] * (rows * columns)
    found = list(entries)
    for (row, k), value in zip(_nonzero_indices(matrix), matrix.nonzeros(), strict=True):
        found[row * columns + k] = value
    return found


def _nonzero_indices(matrix: ca.SX) -> list[tuple[int, int]]:
    row, k = matrix.sparsity().get_triplet()
    return list(zip(row, k, strict=True))


def slopes(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the derivatives ∂(q̇, b, g, ẋ)/∂y for each entry of y = (q, v, x), column by column. u: a; l: λ."""
    own = list((inputs.get("x") or [])[: context.nx])
    x_rate = states(context, {**inputs, "x": [*own, *[0.0] * context.nx]}, "") if own else []
    seen = {**inputs, "x": [*own, *x_rate]} if own else inputs
    balance, drift = build_column(inverse(context, seen, "", smooth=True)), ca.SX(0, 1)
    if inputs.get("l"):
        G = speed_jacobian(context, inputs["q"])
        balance = balance - G.T @ build_column(list(inputs["l"]))
        drift = G @ build_column(list(inputs["u"])) + build_column(constraint_bias(context, inputs, ""))
    moving = ca.vertcat(coordinate_rates(context, inputs), balance, drift, build_column(x_rate))
    by = build_column([*inputs["q"], *inputs["v"], *own])
    return ca.vertsplit(ca.vec(ca.densify(ca.jacobian(moving, by))))


def control_power(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the power of all controllers, W."""
    s = force_state(context, inputs)
    power = ca.SX(0.0)
    for element in context.elements.forces:
        if isinstance(element, ControlForce):
            power += s.signal(element.value) * element.part.value_and_rate(s)[1]
    return [power]


def lost_power(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the power W that dampers and force elements dissipate, without dry friction, controllers and what elements
    integrate themselves: v · h (the power of joint forces at zero acceleration) minus the rate of energy dE/dt that
    results."""
    own = list((inputs.get("x") or [])[: context.nx])
    x_rate = states(context, {**inputs, "x": [*own, *[0.0] * context.nx]}, "") if own else []
    seen = {**inputs, "x": [*own, *x_rate]} if own else inputs
    h = build_column(inverse(context, {**seen, "u": [0.0] * context.tree.nv}, "", smooth=True))
    whole = sum(energy(context, seen, ""))
    time = list(inputs.get("t") or ())[:1]
    moved = ca.vertcat(coordinate_rates(context, inputs), build_column(x_rate), build_column([1.0] * len(time)))
    change = ca.jtimes(ca.SX(whole), build_column([*inputs["q"], *own, *time]), moved)
    counted = sum(x_rate[k] for k in context.elements.loss_states)
    return [ca.dot(build_column(list(inputs["v"])), h) - change + control_power(context, seen, "")[0] - counted]
