"""What every traced function takes, and the shape of what it gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.codegen.signature import Signature
from core.mechanics.crba import SCREW

if TYPE_CHECKING:
    from core.traces.tracer import Tracer

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


def signature_of(tracer: Tracer, name: str) -> Signature:
    """Arguments and shape of a function, e.g. "jacobian:tool"."""
    kind, _, detail = name.partition(":")
    arguments, shape = {**_of_motion(tracer, detail), **_of_forces(tracer), **_of_closure(tracer)}[kind]
    if kind in _LOADED and tracer.elements.forces:
        arguments += "xt"
    sizes = tracer.sizes
    taken = tuple(word for word in arguments if word not in "lxt" or sizes[word])
    return Signature(taken, shape, kind in _CHECKED)


def _of_motion(tracer: Tracer, detail: str) -> Shapes:
    nq, nv = tracer.tree.nq, tracer.tree.nv
    return {
        "poses": ("q", (len(tracer.machine.frames) - 1, 4, 4)),
        "joint_poses": ("q", (len(tracer.machine.joints), 2, 4, 4)),
        "jacobian": ("q", (6, nv)),
        "frames_jacobian": ("q", (len(tracer.machine.frames) - 1, 6, nv)),
        "screws": ("q", (sum(link.law.nv for link in tracer.tree.links), SCREW)),
        "frame_acceleration": ("qvu", (6,)),
        "center": ("q", (3,)),
        "rate": ("qv", (nq,)),
        "sensor": ("qvu", (3, tracer.components(detail))),
        "joint_measure": ("qvu", (_measured(tracer, detail),)),
    }


def _measured(tracer: Tracer, joint: str) -> int:
    """Coordinates, speeds and accelerations of a joint that closes a loop."""
    law = tracer.machine.laws[joint][0] if joint in tracer.machine.laws else None
    return 0 if law is None else law.nq + 2 * law.nv


def _of_forces(tracer: Tracer) -> Shapes:
    nq, nv, rows = tracer.tree.nq, tracer.tree.nv, len(tracer.constraints.rows)
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
        "wrenches": ("qvu", (len(tracer.machine.joints), 6)),
        "wrenches_ideal": ("qvu", (len(tracer.machine.joints), 6)),
        "stretched": ("qvxt", (tracer.nx,)),
        "states": ("qvxt", (tracer.nx,)),
        "settle": ("qvxt", (tracer.nx,)),
        "junctions": ("qvxt", (3 * len(tracer.elements.junctions),) * 2),
        "balance": ("qvxt", (3 * len(tracer.elements.junctions), 1 + 3 * len(tracer.elements.junctions))),
        "forces": ("qvxt", (tracer.observed,)),
        "event_indicators": ("qvxt", (len(tracer.elements.mode_variables.numbers),)),
        "slopes": ("qvulxt", (nq + nv + tracer.nx, nq + nv + rows + tracer.nx)),
    }


def _of_closure(tracer: Tracer) -> Shapes:
    nv, rows = tracer.tree.nv, len(tracer.constraints.rows)
    return {
        "constraint_residual": ("qt", (rows,)),
        "constraint_jacobian": ("q", (rows, nv)),
        "constraint_bias": ("qvt", (rows,)),
        "constraint_time": ("t", (rows,)),
        "constraint_motion": ("q", (sum(side.stop - side.start for _, _, side in tracer.constraints.sides()), 6)),
        "constraint_origins": ("q", (sum(1 for _ in tracer.constraints.sides()), 3)),
    }
