"""What every traced function takes, and the shape of what it gives."""

from __future__ import annotations

from core.codegen.signature import Signature
from core.mechanics.crba import SCREW
from core.traces.trace_context import TraceContext

Shapes = dict[str, tuple[str, tuple[int, ...]]]
"""Function → (arguments, shape)."""


_CHECKED = {"forward_dynamics", "forward_dynamics_ideal", "forward_dynamics_regularised", "center"}
_LOADED = {
    "inverse_dynamics",
    "forward_dynamics",
    "bias",
    "forward_dynamics_regularised",
    "bias_regularised",
    "wrenches",
    "energy",
}
"""Functions in which force elements count."""


def signature_of(context: TraceContext, name: str) -> Signature:
    """Arguments and shape of a function, e.g. "jacobian:tool"."""
    kind, _, detail = name.partition(":")
    arguments, shape = {**_of_motion(context, detail), **_of_forces(context), **_of_constraints(context)}[kind]
    if kind in _LOADED and context.elements.forces:
        arguments += "xt"
    sizes = context.sizes
    taken = tuple(word for word in arguments if word not in "lxt" or sizes[word])
    return Signature(taken, shape, kind in _CHECKED)


def _of_motion(context: TraceContext, detail: str) -> Shapes:
    nq, nv = context.tree.nq, context.tree.nv
    return {
        "poses": ("q", (len(context.machine.frames) - 1, 4, 4)),
        "joint_poses": ("q", (len(context.machine.joints), 2, 4, 4)),
        "jacobian": ("q", (6, nv)),
        "frames_jacobian": ("q", (len(context.machine.frames) - 1, 6, nv)),
        "screws": ("q", (sum(link.law.nv for link in context.tree.links), SCREW)),
        "frame_acceleration": ("qvu", (6,)),
        "center": ("q", (3,)),
        "rate": ("qv", (nq,)),
        "sensor": ("qvu", (3, context.components(detail))),
        "joint_measure": ("qvu", (_measured(context, detail),)),
    }


def _measured(context: TraceContext, joint: str) -> int:
    """Coordinates, speeds and accelerations of a joint that closes a loop."""
    law = context.machine.laws[joint][0] if joint in context.machine.laws else None
    return 0 if law is None else law.nq + 2 * law.nv


def _of_forces(context: TraceContext) -> Shapes:
    nq, nv, rows = context.tree.nq, context.tree.nv, len(context.constraints.rows)
    return {
        "mass_matrix": ("q", (nv, nv)),
        "inverse_dynamics": ("qvu", (nv,)),
        "inverse_dynamics_ideal": ("qvu", (nv,)),
        "forward_dynamics": ("qvu", (nv,)),
        "forward_dynamics_ideal": ("qvu", (nv,)),
        "bias": ("qv", (nv,)),
        "bias_ideal": ("qv", (nv,)),
        "forward_dynamics_regularised": ("qvu", (nv,)),
        "bias_regularised": ("qv", (nv,)),
        "gravity": ("q", (nv,)),
        "energy": ("qv", (2,)),
        "momentum": ("qv", (6,)),
        "wrenches": ("qvu", (len(context.machine.joints), 6)),
        "wrenches_ideal": ("qvu", (len(context.machine.joints), 6)),
        "stretched": ("qvxt", (context.nx,)),
        "states": ("qvxt", (context.nx,)),
        "settle": ("qvxt", (context.nx,)),
        "junctions": ("qvxt", (3 * len(context.elements.junctions),) * 2),
        "balance": ("qvxt", (3 * len(context.elements.junctions), 1 + 3 * len(context.elements.junctions))),
        "forces": ("qvxt", (context.observed,)),
        "event_indicators": ("qvxt", (len(context.elements.mode_variables.numbers),)),
        "slopes": ("qvulxt", (nq + nv + context.nx, nq + nv + rows + context.nx)),
    }


def _of_constraints(context: TraceContext) -> Shapes:
    nv, rows = context.tree.nv, len(context.constraints.rows)
    return {
        "constraint_residual": ("qt", (rows,)),
        "constraint_jacobian": ("q", (rows, nv)),
        "constraint_bias": ("qvt", (rows,)),
        "constraint_time": ("t", (rows,)),
        "constraint_motion": ("q", (sum(side.stop - side.start for _, _, side in context.constraints.sides()), 6)),
        "constraint_origins": ("q", (sum(1 for _ in context.constraints.sides()), 3)),
    }
