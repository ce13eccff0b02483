"""Exact derivatives of the equations of motion with respect to positions and speeds.

With f(q, v, a, λ) = M a + h − Gᵀ λ and g(q, v, a) = G a + Ġ v the motion obeys f = τ, g = 0.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen.flat_code import FlatCode
from core.codegen.graph_symbols import column, symbols
from core.mechanics.tree import inline
from core.programs.constraint_equations import speed_jacobian
from core.programs.junctions import forces
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
        self._by = column([program.tracer.p[k] for k in parameters])
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
        tracer = self._program.tracer
        for argument in tracer.signature(name).arguments:
            if argument != "x":
                self._inputs.setdefault(argument, symbols(argument, tracer.sizes[argument]))
        return ca.densify(column(tracer.body(name, {**self._inputs, "x": self._states}, "", inline)))

    def _build_code(self) -> FlatCode:
        tracer = self._program.tracer
        nv, nx = tracer.tree.nv, tracer.nx
        x = symbols("x", nx)
        self._states = [*x, *[0.0] * nx]
        x_rate = self._symbolic_column("states") if nx else ca.SX.zeros(0)
        self._states = [*x, *ca.vertsplit(x_rate)]  # forces may depend on ẋ, which follows from the rest
        forces, rate = self._symbolic_column("inverse_dynamics"), self._symbolic_column("rate")
        q, v, a = (column(self._inputs[name]) for name in "qvu")
        rows = tracer.signature("constraint_residual").shape[0]
        multipliers = ca.SX.sym("lambda", rows)
        N = ca.sparsify(ca.jacobian(rate, v))
        g = gaps = positions = ca.SX.zeros(rows)
        if rows:
            positions = self._symbolic_column("constraint_residual")
            G = speed_jacobian(tracer, self._inputs["q"])
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
        arguments = [*(column(list(given)) for given in self._inputs.values()), own, multipliers, column(tracer.p)]
        return FlatCode(arguments, outputs, later=True)

    def _junction_derivatives(self, x: Any, x_rate: Any, q: Any, N: Any) -> list[Any]:
        """Return ∂f/∂q N, ∂f/∂x, ∂f/∂w of the forces f on junctions, where w are the junctions' speeds."""
        tracer = self._program.tracer
        count = 3 * len(tracer.elements.junctions)
        if not count:
            return [ca.SX.zeros(0, tracer.tree.nv), ca.SX.zeros(0, tracer.nx), ca.SX.zeros(0, 0)]
        w = ca.SX.sym("w", count)
        f = forces(tracer, {**self._inputs, "x": ca.vertsplit(x)}, w)
        slopes = (ca.jacobian(f, q) @ N, ca.jacobian(f, x), ca.jacobian(f, w))
        return [ca.densify(ca.substitute(each, w, x_rate[:count])) for each in slopes]

    def _junction_parameter_derivatives(self, x_rate: Any, x: Any) -> Any:
        """Return ∂f/∂p of the forces f on junctions."""
        tracer = self._program.tracer
        count = 3 * len(tracer.elements.junctions)
        if not count:
            return ca.SX.zeros(0, self._by.numel())
        w = ca.SX.sym("w", count)
        f = forces(tracer, {**self._inputs, "x": ca.vertsplit(x)}, w)
        return ca.densify(ca.substitute(ca.jacobian(f, self._by), w, x_rate[:count]))

    def _junction_displacements(self, x: Any, q: Any, N: Any) -> Any:
        """Return −(∂f/∂x)⁻¹ ∂f/∂q N of the forces f on junctions."""
        tracer = self._program.tracer
        count = 3 * len(tracer.elements.junctions)
        if not count:
            return ca.SX.zeros(0, tracer.tree.nv)
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
