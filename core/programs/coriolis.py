"""Symbolic Coriolis matrix, and momentum as a linear function of the speeds.

C is that of the Levi-Civita connection of the mass matrix, whose coefficients are Christoffel's symbols where speeds
are rates of coordinates. With h(q, v) the terms of inverse dynamics that are quadratic in the speeds,

    C = ½ (∂h/∂v + M A),   A_lj = Σ_k c_lkj v_k,   c_kj = N⁺ (∂N_j/∂q N_k − ∂N_k/∂q N_j),

where N_k are the columns of N in q̇ = N v: the connection is without torsion, ∇_k e_j − ∇_j e_k = c_kj, which is zero
for all joints but those with quaternions. Hence C v = h, and Ṁ = C + Cᵀ.
"""

from __future__ import annotations

import casadi as ca

from core.codegen.graph_symbols import build_column
from core.mechanics.tree import Runner, inline
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import Vector3
from core.programs.dynamics import bias, mass_matrix, momentum_of
from core.programs.kinematics import Inputs, center
from core.programs.machine_symbols import MachineSymbols

CENTER = "center of mass"
"""Detail of a momentum's name for the centre of mass; no frame has such a name."""


def coriolis(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return C, row by row."""
    nv = context.tree.nv
    v, A = build_column(list(inputs["v"])), _speed_commutators(context, inputs)
    C = 0.5 * ca.jacobian(build_column(bias(context, inputs, "", resist=False)), v)
    if A.nnz():
        M = ca.densify(build_column(mass_matrix(context, inputs, ""))).reshape((nv, nv)).T
        C = C + 0.5 * (M @ A)
    return ca.vertsplit(ca.vec(ca.densify(C).T))


def _speed_commutators(context: MachineSymbols, inputs: Inputs) -> ca.SX:
    """Return A (nv, nv), sparse: −N⁺ (∂(N v)/∂q N − Ṅ), joint by joint."""
    A = ca.SX(context.tree.nv, context.tree.nv)
    for link in context.tree.links:
        if link.coupling is not None:
            continue
        speeds = inputs["v"][link.v]
        rates = link.law.rate(inputs["q"][link.q], speeds)
        if len(rates) == len(speeds) and all(own is speed for own, speed in zip(rates, speeds, strict=True)):
            continue
        q, v, rate = (build_column(list(each)) for each in (inputs["q"][link.q], speeds, rates))
        N = ca.sparsify(ca.jacobian(rate, v))
        N_rate = ca.jtimes(ca.vec(N), q, rate).reshape(N.shape)
        A[link.v, link.v] = ca.sparsify(ca.solve(N.T @ N, N.T @ (N_rate - ca.jacobian(rate, q) @ N)))
    return A


def momentum_about(context: MachineSymbols, inputs: Inputs, place: str, run: Runner = inline) -> list[Scalar]:
    """Return the momentum [angular; linear] about the point o of a frame, or about the centre of mass; world axes."""
    whole = build_column(momentum_of(context, inputs, "", run))
    if place == CENTER:
        point = build_column(center(context, inputs, "", run))
    else:
        pose = context.state_at_zero_speed(inputs["q"]).frame(context.machine.frames[place])
        point = build_column(list(pose.point(Vector3(*inputs["o"]))))
    return ca.vertsplit(ca.densify(ca.vertcat(whole[:3] - ca.cross(point, whole[3:]), whole[3:])))


def momentum_matrix(context: MachineSymbols, inputs: Inputs, place: str, run: Runner = inline) -> list[Scalar]:
    """Return the matrix A with A v = the momentum, row by row."""
    speeds = context.inputs("v")
    v = build_column(list(speeds["v"]))
    total = build_column(momentum_about(context, {**inputs, **speeds}, place, run))
    at_rest = ca.substitute(ca.jacobian(total, v), v, ca.SX.zeros(v.shape))
    return ca.vertsplit(ca.vec(ca.densify(at_rest).T))
