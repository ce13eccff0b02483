"""Exact state derivatives of the equations of motion, for implicit integrators.

With accelerations a and multipliers λ held, q̇ = N v, b = M a + h − Gᵀ λ, g = G a + Ġ v − f̈ and ẋ are differentiated
by q, v and x; what ẋ does to the forces is followed. Accelerations then change by M δa = Gᵀ δλ − δb, G δa = −δg
(`core.simulation.equations.jacobian`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from core.codegen.graph_symbols import column
from core.mechanics.tree import Runner, inline
from core.numerics.spatial.scalar import Scalar
from core.programs.constraint_equations import constraint_bias, speed_jacobian
from core.programs.dynamics import energy, inverse
from core.programs.junctions import states
from core.programs.kinematics import rates
from core.programs.trace_context import TraceContext

Inputs = Mapping[str, list[Any]]


def slopes(context: TraceContext, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
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


def lost_power(context: TraceContext, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
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
