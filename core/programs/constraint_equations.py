"""Symbolic constraint equations of cut joints, constraints and drivers: residuals, their derivatives and wrenches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca

from core.codegen.graph_symbols import build_column
from core.mechanics.tree import Runner, inline
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar
from core.programs.machine_symbols import MachineSymbols

Inputs = Mapping[str, list[Any]]


def speed_jacobian(context: MachineSymbols, q: Sequence[Any]) -> ca.SX:
    """Return G with ṡ = G v, sparse."""
    rows, columns = context.row_expressions.pattern
    entries = context.row_expressions.entries({"q": list(q)}, inline)
    where = ca.Sparsity.triplet(context.tree.nv, context.row_expressions.count, columns.tolist(), rows.tolist())
    return ca.SX(where, build_column(entries)).T


def constraint_residual(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return s − f; zero for rows enforced only at speed or acceleration level."""
    return context.row_expressions.residual(inputs, run)


def constraint_entries(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the nonzero entries of G, row by row."""
    return context.row_expressions.entries(inputs, run)


def constraint_jacobian(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return G, row by row."""
    nv = context.tree.nv
    G: list[Scalar] = [0.0] * (context.row_expressions.count * nv)
    for row, at, entry in zip(
        *context.row_expressions.pattern, context.row_expressions.entries(inputs, run), strict=True
    ):
        G[row * nv + at] = entry
    return G


def constraint_bias(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return Ġ v − f̈, so that G a = −(Ġ v − f̈)."""
    return context.row_expressions.bias(inputs, run)


def constraint_time(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return −ḟ, so that the residual at speed level is G v − ḟ; zero for rows enforced only at acceleration level."""
    return context.row_expressions.time(inputs, run)


def cut_values(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the coordinates of cut joints, as rows along which forces act."""
    return context.cut_expressions.residual(inputs, run)


def cut_entries(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the nonzero entries of W; the rates of the cut joints' coordinates are W v."""
    return context.cut_expressions.entries(inputs, run)


def cut_drift(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return Ẇ v."""
    return context.cut_expressions.bias(inputs, run)


def cut_facing(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the cosine between the axes of each reversible cut joint."""
    state, found = context.state_at_zero_speed(inputs["q"], run), list[Scalar]()
    for name in context.reversible_cuts:
        law, a, b = context.machine.laws[name]
        found.append(run(law.facing, run(_relative_pose, state.frame(a), state.frame(b))))
    return found


def _relative_pose(X_Wa: Pose, X_Wb: Pose) -> Pose:
    return X_Wa.inverse() @ X_Wb
