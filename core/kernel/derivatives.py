"""Exact derivatives of the equations of motion by positions and speeds, taken from the traces (interpreted).

With f(q, v, a, λ) = M a + h − Gᵀ λ and g(q, v, a) = G a + Ġ v the motion obeys f = τ, g = 0.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.kernel.program import Program
from core.kernel.symbols import column, symbols
from core.mechanics.steps import inline

Array = NDArray[np.float64]

_known: weakref.WeakKeyDictionary[Program, Derivatives] = weakref.WeakKeyDictionary()


class Equations(NamedTuple):
    """Derivatives of f and g along displacements ξ of q (nv directions) and by v, and of G v and q̇ along ξ.

    f_q, f_v : (nv, nv); g_q, g_v, Gv_q : (rows, nv); turn : (nv, nv) with ξ̇ = δv + turn · ξ
    """

    f_q: Array
    f_v: Array
    g_q: Array
    g_v: Array
    Gv_q: Array
    turn: Array


class Derivatives:
    """Derivatives of one program's traces."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._inputs: dict[str, list[Any]] = {}
        self._function = self._traced()

    def __call__(self, values: Mapping[str, Any], multipliers: Array, p: Array) -> Equations:
        """At values of the traces' arguments (q, v, u: accelerations, …)."""
        arguments = [np.asarray(values[name], dtype=float) for name in self._inputs]
        results = self._function(*arguments, multipliers, p)
        return Equations(*(np.array(result, dtype=float) for result in results))

    def _body(self, name: str) -> Any:
        """A trace as a column, over this object's symbols."""
        tracer = self._program.tracer
        signature = tracer.signature(name)
        for argument, size in zip(signature.arguments, self._program._sizes(signature), strict=False):
            self._inputs.setdefault(argument, symbols(argument, size))
        return ca.densify(column(tracer._body(name, self._inputs, "", inline)))

    def _traced(self) -> Any:
        tracer = self._program.tracer
        nv = tracer.tree.nv
        forces, rate = self._body("inverse_dynamics"), self._body("rate")
        q, v, a = (column(self._inputs[name]) for name in "qvu")
        rows = tracer.signature("closure").shape[0]
        multipliers = ca.SX.sym("lambda", rows)
        N = ca.densify(ca.jacobian(rate, v))
        g = gaps = ca.SX.zeros(rows)
        if rows:
            G = self._body("closure_jacobian").reshape((nv, rows)).T
            forces = forces - G.T @ multipliers
            gaps = G @ v
            g = G @ a + self._body("closure_bias")
        # q̇ = N v, δq = N ξ: N ξ̇ = (∂q̇/∂q N − Ṅ) ξ + N δv
        N_rate = ca.jtimes(ca.vec(N), q, rate).reshape(N.shape)
        turn = ca.solve(N.T @ N, N.T @ (ca.jacobian(rate, q) @ N - N_rate)) if nv else ca.SX.zeros(0, 0)
        outputs = [ca.jacobian(forces, q) @ N, ca.jacobian(forces, v), ca.jacobian(g, q) @ N, ca.jacobian(g, v),
                   ca.jacobian(gaps, q) @ N, turn]  # fmt: skip
        arguments = [column(list(symbols)) for symbols in self._inputs.values()]
        return ca.Function("derivatives", [*arguments, multipliers, column(tracer.p)], list(map(ca.densify, outputs)),
                           {"cse": True})  # fmt: skip


def derivatives(program: Program) -> Derivatives:
    """The derivatives of a program, traced once."""
    found = _known.get(program)
    if found is None:
        found = _known[program] = Derivatives(program)
    return found
