"""Traces of what holds: residuals of cut joints, constraints and drivers, their derivatives and wrenches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca

from core.codegen.graph_symbols import along, as_symbol, column, symbols
from core.elements.constraints.kinematic_constraint import ACCELERATION, POSITION, ConstraintState, Target
from core.mechanics.kinematics import rate
from core.mechanics.runner import Runner, inline
from core.spatial.attitude import within_half_a_turn
from core.spatial.scalar import Scalar, minus, negated
from core.traces.kinematics import rates
from core.traces.trace_context import TraceContext

Inputs = Mapping[str, list[Any]]


def constraint_values(context: TraceContext, q: Sequence[Scalar]) -> list[Scalar]:
    """s(q) of every row; zero for rows of speeds."""
    state = ConstraintState(context.standing(q))
    return [x for constraint in context.constraints.table for x in constraint.values(state)]


def targets(context: TraceContext, x: Inputs) -> list[Target]:
    """f, ḟ, f̈ of every row."""
    return [target for constraint in context.constraints.table for target in constraint.targets(x.get("t") or (0.0,))]


def constraint_residual(context: TraceContext, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """s − f; zero for rows that hold on higher levels only."""
    result: list[Scalar] = []
    values, wanted = iter(constraint_values(context, x["q"])), iter(targets(context, x))
    for constraint in context.constraints.table:
        for row in constraint.rows:
            gap = minus(next(values), next(wanted).value)
            gap = within_half_a_turn(gap) if constraint.turns else gap
            result.append(gap if row.level == POSITION else 0.0)
    return result


def speed_jacobian(context: TraceContext, q: Sequence[Any]) -> ca.SX:
    """G with ṡ = G v: the derivative by q, times q̇ = N v."""
    v = symbols("w", context.tree.nv)
    N = ca.jacobian(column(rate(context.tree, q, v)), column(list(v)))
    G = ca.densify(ca.jacobian(column(constraint_values(context, q)), column(list(q))) @ N)
    row = 0
    for constraint in context.constraints.table:
        following = row + len(constraint.rows)
        speeds = constraint.speeds(context.tree, v)
        if speeds is not None:
            G[row:following, :] = ca.jacobian(column(list(map(as_symbol, speeds))), column(list(v)))
        row = following
    return G


def constraint_jacobian(context: TraceContext, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """G, row by row."""
    return ca.vertsplit(ca.vec(speed_jacobian(context, x["q"]).T))


def constraint_bias(context: TraceContext, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Ġ v − f̈: G a = −this."""
    q = column(list(x["q"]))
    speeds = speed_jacobian(context, x["q"]) @ column(list(x["v"]))
    drift = along(speeds, q, rates(context, x))
    second = column([target.second for target in targets(context, x)])
    return ca.vertsplit(ca.densify(drift - second))


def constraint_time(context: TraceContext, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """−ḟ: the residual on the level of speeds is G v plus this; zero for rows that hold on accelerations only."""
    return [
        0.0 if row.level == ACCELERATION else negated(target.rate)
        for row, target in zip(context.constraints.rows, targets(context, x), strict=True)
    ]


def constraint_motion(context: TraceContext, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Derivative of the rows of every side by the motion [ω; v] of its b against a, at b's origin in world axes."""
    kinematics = context.standing(x["q"])
    result: list[Any] = []
    for constraint, side, _rows in context.constraints.sides():
        motion = symbols("m", 6)
        values = constraint.values(ConstraintState(kinematics, {id(side): motion}))
        R = ca.jacobian(column(values), column(motion))
        R = ca.substitute(R, column(motion), ca.DM.zeros(6))
        result += ca.vertsplit(ca.vec(ca.densify(R).T))
    return result


def constraint_origins(context: TraceContext, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """b's origin of every side, world axes."""
    kinematics = context.standing(x["q"])
    return [entry for _h, side, _rows in context.constraints.sides() for entry in kinematics.frame(side.b).position]
