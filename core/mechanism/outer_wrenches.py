"""Wrenches that act on frames from outside, as joint forces Jᵀ F."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.mechanics.multibody.parameter_values import Values
from core.mechanism.point_arguments import read_vectors
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]


def find_joint_forces(compiled: CompiledModel, q: Any, wrenches: Mapping[str, Any], p: Values, passive: bool) -> Array:
    """(…, nv) joint forces Σ Jᵀ F with the power of the wrenches, frame → (…, 6) [torque; force]."""
    if not isinstance(wrenches, Mapping):
        raise ModelError("Wrenches are given by frame.", where="wrenches", remedy='Give {"tool": (…, 6) numbers}.')
    if passive and compiled.program.symbolic.bearings:
        raise ModelError(
            "The friction of some joints grows with their reactions, which wrenches from outside change.",
            where="wrenches",
            remedy="Give passive=False, or let a force element act on the frame.",
        )
    total: Any = 0.0
    for frame, wrench in wrenches.items():
        F = _read_wrench(frame, wrench)
        J = compiled.call(f"jacobian:{compiled.check_frame_name(frame)}", q, p=p)
        total = total + (F[..., None, :] @ J)[..., 0, :]
    return np.asarray(total, dtype=float)


def find_equivalent_forces(
    compiled: CompiledModel,
    q: Any,
    wrenches: Mapping[str, Any],
    actuators: Sequence[str] | None,
    p: Values,
    passive: bool,
) -> Array:
    """(…, nv) forces at the actuators with the power of the wrenches in all motions that the machine admits."""
    forces = find_joint_forces(compiled, q, wrenches, p, passive)
    if actuators is None and not compiled.constrained:
        return forces
    from core.constraints.multipliers import equivalent_actuator_forces

    return equivalent_actuator_forces(compiled, q, forces, actuators, p)


def find_joint_wrenches(compiled: CompiledModel, q: Any, wrenches: Mapping[str, Any], p: Values) -> Array:
    """(…, joints, 6) what the wrenches add to the wrench of the parent side on the child side of each tree joint, at
    b's origin, world axes: the joints between a frame and the world bear the opposite of the frame's wrench."""
    topology, poses = compiled.topology, compiled.joint_poses(q, p)
    reversed_joints = {branch.joint.name for branch in topology.branches if branch.reversed}
    frames = compiled.call("poses", q, p=p)
    read = {frame: _read_wrench(frame, wrench) for frame, wrench in wrenches.items()}
    leading = np.broadcast_shapes(frames.shape[:-3], *(F.shape[:-1] for F in read.values()))
    total = np.zeros((*leading, len(compiled.joint_names), 6))
    for frame, F in read.items():
        for joint in topology.path(frame) if frame != "world" else ():
            origin = frames[..., compiled.program.frame_index[frame], :3, 3]
            moment = F[..., :3] + np.cross(origin - poses[joint][1][..., :3, 3], F[..., 3:])
            sign = 1.0 if joint in reversed_joints else -1.0
            total[..., compiled.program.joint_index[joint], :3] += sign * moment
            total[..., compiled.program.joint_index[joint], 3:] += sign * F[..., 3:]
    return total


def _read_wrench(frame: str, wrench: Any) -> Array:
    return read_vectors(wrench, 6, f"wrenches['{frame}']", "torque x, y, z in N·m, then force x, y, z in N")


def refuse_motors(motors: bool) -> None:
    """Raise ModelError if motor limits are asked for together with wrenches."""
    if motors:
        raise ModelError(
            "Wrenches from outside cannot be combined with the limits of motors.",
            where="wrenches",
            remedy="Leave out motors=True, or let a force element act on the frame.",
        )
