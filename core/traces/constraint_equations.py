"""Traces of what holds: residuals of cut joints, constraints and drivers, their derivatives and wrenches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca

from core.codegen.graph_symbols import along, as_symbol, column, symbols
from core.elements.constraint_kinds import ACCELERATION, POSITION, ConstraintState, KinematicConstraint, Target
from core.elements.force_element import within_half_a_turn
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.kinematics import rate
from core.mechanics.runner import Runner, inline
from core.spatial.scalar import Scalar, minus, negated
from core.traces.kinematics import rates

if TYPE_CHECKING:
    from core.traces.tracer import Tracer

Inputs = Mapping[str, list[Any]]


def _speed_row(tracer: Tracer, constraint: KinematicConstraint, v: Sequence[Scalar]) -> Scalar:
    """The speed itself, where no coordinate has it as its rate."""
    coordinate = constraint.coordinate  # type: ignore[attr-defined]
    return v[tracer.tree.links[coordinate.link].first_v + coordinate.k]


def _of_speed(constraint: KinematicConstraint) -> bool:
    return bool(getattr(constraint, "speed", False))


def constraint_values(tracer: Tracer, q: Sequence[Scalar]) -> list[Scalar]:
    """s(q) of every row; zero for rows of speeds."""
    state = ConstraintState(KinematicState(tracer.tree, q))
    return [
        x
        for constraint in tracer.constraints.table
        for x in ([0.0] if _of_speed(constraint) else constraint.values(state))
    ]


def targets(tracer: Tracer, x: Inputs) -> list[Target]:
    """f, ḟ, f̈ of every row."""
    return [target for constraint in tracer.constraints.table for target in constraint.targets(x.get("t") or (0.0,))]


def constraint_residual(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """s − f; zero for rows that hold on higher levels only."""
    result: list[Scalar] = []
    values, wanted = iter(constraint_values(tracer, x["q"])), iter(targets(tracer, x))
    for constraint in tracer.constraints.table:
        for row in constraint.rows:
            gap = minus(next(values), next(wanted).value)
            gap = within_half_a_turn(gap) if constraint.turns else gap
            result.append(gap if row.level == POSITION else 0.0)
    return result


def speed_jacobian(tracer: Tracer, q: Sequence[Any]) -> ca.SX:
    """G with ṡ = G v: the derivative by q, times q̇ = N v."""
    v = symbols("w", tracer.tree.nv)
    N = ca.jacobian(column(rate(tracer.tree, q, v)), column(list(v)))
    G = ca.densify(ca.jacobian(column(constraint_values(tracer, q)), column(list(q))) @ N)
    row = 0
    for constraint in tracer.constraints.table:
        if _of_speed(constraint):
            G[row, :] = ca.jacobian(as_symbol(_speed_row(tracer, constraint, v)), column(list(v)))
        row += len(constraint.rows)
    return G


def constraint_jacobian(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """G, row by row."""
    return ca.vertsplit(ca.vec(speed_jacobian(tracer, x["q"]).T))


def constraint_bias(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Ġ v − f̈: G a = −this."""
    q = column(list(x["q"]))
    speeds = speed_jacobian(tracer, x["q"]) @ column(list(x["v"]))
    drift = along(speeds, q, rates(tracer, x))
    second = column([target.second for target in targets(tracer, x)])
    return ca.vertsplit(ca.densify(drift - second))


def constraint_time(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """−ḟ: the residual on the level of speeds is G v plus this; zero for rows that hold on accelerations only."""
    return [
        0.0 if row.level == ACCELERATION else negated(target.rate)
        for row, target in zip(tracer.constraints.rows, targets(tracer, x), strict=True)
    ]


def constraint_motion(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Derivative of the rows of every side by the motion [ω; v] of its b against a, at b's origin in world axes."""
    kinematics = KinematicState(tracer.tree, x["q"])
    result: list[Any] = []
    for constraint, side, _rows in tracer.constraints.sides():
        motion = symbols("m", 6)
        values = constraint.values(ConstraintState(kinematics, {id(side): motion}))
        R = ca.jacobian(column(values), column(motion))
        R = ca.substitute(R, column(motion), ca.DM.zeros(6))
        result += ca.vertsplit(ca.vec(ca.densify(R).T))
    return result


def constraint_origins(tracer: Tracer, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """b's origin of every side, world axes."""
    kinematics = KinematicState(tracer.tree, x["q"])
    return [entry for _h, side, _rows in tracer.constraints.sides() for entry in kinematics.frame(side.b).position]
