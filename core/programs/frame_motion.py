"""Symbolic Jacobian of a point of a frame, seen from any frame in any axes, and its rate along q̇ = N v.

At a point P of frame F, seen from frame B: J = J_F,P − J_B,P, with J_F,P = [J_ω; J_v − (p_P − p_F) × J_ω], in the axes
of a frame A: both halves times R_AW. The detail of a function's name is "F R A B"; argument o holds P's coordinates in
frame R, in which P rests, so that its motion in R counts as none in the rate. A name never contains a space.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from core.codegen.graph_symbols import build_column, directional_derivative
from core.mechanics.tree import Runner, inline
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import Vector3
from core.programs.kinematics import Inputs, coordinate_rates, jacobian
from core.programs.machine_symbols import MachineSymbols

WORLD = "world"


def _matrix_of_rows(entries: list[Scalar], rows: int, columns: int) -> ca.SX:
    """Return a (rows, columns) matrix from its entries row by row."""
    return ca.densify(build_column(entries)).reshape((columns, rows)).T


def _skew_matrix(r: ca.SX) -> ca.SX:
    """Return the (3, 3) matrix of the map x ↦ r × x."""
    return ca.skew(ca.densify(r))


def _jacobian_at_point(context: MachineSymbols, inputs: Inputs, frame: str, point: ca.SX) -> ca.SX:
    """Return the (6, nv) Jacobian of the point of a frame that lies at a world point (3,)."""
    nv = context.tree.nv
    if context.machine.frames[frame].link < 0:
        return ca.SX.zeros(6, nv)
    J = _matrix_of_rows(jacobian(context, inputs, frame), 6, nv)
    origin = context.state_at_zero_speed(inputs["q"]).frame(context.machine.frames[frame]).position
    arm = _skew_matrix(point - build_column(list(origin)))
    return ca.vertcat(J[:3, :], J[3:, :] - arm @ J[:3, :])


def _jacobian_matrix(context: MachineSymbols, inputs: Inputs, detail: str) -> ca.SX:
    """Return the (6, nv) Jacobian that the detail of a function's name describes."""
    frame, reference, axes, base = detail.split(" ")
    frames, state = context.machine.frames, context.state_at_zero_speed(inputs["q"])
    point = build_column(list(state.frame(frames[reference]).point(Vector3(*inputs["o"]))))
    J = _jacobian_at_point(context, inputs, frame, point) - _jacobian_at_point(context, inputs, base, point)
    if axes != WORLD:
        rows = state.frame(frames[axes]).rotation.transposed()
        R = _matrix_of_rows([entry for row in rows for entry in row], 3, 3)
        J = ca.vertcat(R @ J[:3, :], R @ J[3:, :])
    return ca.densify(J)


def point_jacobian(context: MachineSymbols, inputs: Inputs, detail: str, run: Runner = inline) -> list[Scalar]:
    """Return the Jacobian of a point, row by row."""
    return ca.vertsplit(ca.vec(_jacobian_matrix(context, inputs, detail).T))


def jacobian_rate(context: MachineSymbols, inputs: Inputs, detail: str, run: Runner = inline) -> list[Scalar]:
    """Return the rate of the Jacobian of a point, row by row."""
    return _rate(context, inputs, ca.vec(_jacobian_matrix(context, inputs, detail).T))


def jacobian_rate_times_speed(
    context: MachineSymbols, inputs: Inputs, detail: str, run: Runner = inline
) -> list[Scalar]:
    """Return J̇ v of a point."""
    return _rate(context, inputs, _jacobian_matrix(context, inputs, detail) @ build_column(list(inputs["v"])))


def _rate(context: MachineSymbols, inputs: Inputs, values: Any) -> list[Scalar]:
    """Return the derivative of a column along q̇, with v held."""
    q = build_column(list(inputs["q"]))
    return ca.vertsplit(ca.densify(directional_derivative(values, q, coordinate_rates(context, inputs))))
