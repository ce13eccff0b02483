"""Jacobian by rows: the joint forces that unit wrenches on a frame cause, one joint after the other.

Each joint between the frame and the ground passes the wrench on and takes the part of it that has power in its own
motion. By the principle of virtual work the rows are those of the Jacobian that the columns of speeds give.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.mechanics.multibody.parameter_values import Values
from core.mechanism.point_arguments import read_vectors
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]
METHODS = ("speed", "force")


def check_method(by: str) -> None:
    """Raise ModelError unless `by` is one of METHODS."""
    if by not in METHODS:
        raise ModelError(f"A Jacobian is not computed by '{by}'.", where="by", remedy='Give "speed" or "force".')


def force_rows(
    compiled: CompiledModel,
    q: Any,
    frame: str,
    *,
    reference: str = "world",
    axes: str = "world",
    point: Any = None,
    relative_to: str | None = None,
    p: Values = None,
) -> Array:
    """(…, 6, nv) joint forces for unit torques and forces on a frame, along `axes`, at its origin or a point, with the
    reaction on the frame `relative_to`; options as of `Mechanism.jacobian`."""
    for name in (frame, reference, axes, *([] if relative_to is None else [relative_to])):
        compiled.check_frame_name(name)
    q = np.asarray(q, dtype=float)
    at = _pose(compiled, q, frame, p)[..., :3, 3]
    if point is not None:
        X = _pose(compiled, q, reference, p)
        given = read_vectors(point, 3, "point", "x, y, z in m")
        at = (X[..., :3, :3] @ given[..., None])[..., 0] + X[..., :3, 3]
    rows = _rows_at(compiled, q, frame, at, p)
    if relative_to is not None:
        rows = rows - _rows_at(compiled, q, relative_to, at, p)
    if axes == "world":
        return rows
    back = np.swapaxes(_pose(compiled, q, axes, p)[..., :3, :3], -1, -2)
    return np.concatenate([back @ rows[..., :3, :], back @ rows[..., 3:, :]], axis=-2)


def force_rows_of_actuators(
    compiled: CompiledModel, q: Any, rows: Array, columns: Sequence[int], names: Sequence[str], p: Values
) -> Array:
    """(…, 6, m) forces at the actuators, loops closed, that are equivalent to the joint forces of rows (…, 6, nv)."""
    if not compiled.constrained:
        return np.asarray(rows[..., list(columns)])
    from core.constraints.multipliers import equivalent_forces_of_columns

    found = equivalent_forces_of_columns(compiled, q, np.swapaxes(rows, -1, -2), names, p)
    return np.asarray(np.swapaxes(found, -1, -2)[..., list(columns)])


def _pose(compiled: CompiledModel, q: Array, frame: str, p: Values) -> Array:
    if frame == "world":
        return np.eye(4)
    return np.asarray(compiled.call("poses", q, p=p)[..., compiled.program.frame_index[frame], :, :])


def _rows_at(compiled: CompiledModel, q: Array, frame: str, at: Array, p: Values) -> Array:
    """Joint forces for unit wrenches on a frame at a point (…, 3), world axes."""
    leading = np.broadcast_shapes(q.shape[:-1], at.shape[:-1])
    rows = np.zeros((*leading, 6, compiled.nv))
    if frame == "world":
        return rows
    branches = {branch.joint.name: branch for branch in compiled.topology.branches}
    for joint in compiled.topology.path(frame):
        own = compiled.joint_v(joint)
        if own.start == own.stop:
            continue
        inner, outer = branches[joint].inner, branches[joint].outer
        place = _pose(compiled, q, outer, p)[..., :3, 3]
        motion = compiled.call(f"jacobian:{outer}", q, p=p)[..., own]
        if inner != "world":  # a joint that follows another one has its speed
            carried = compiled.call(f"jacobian:{inner}", q, p=p)[..., own]
            motion = motion - _shift_forces(carried, place - _pose(compiled, q, inner, p)[..., :3, 3])
        rows[..., own] += _shift_forces(motion, at - place)
    return rows


def _shift_forces(motion: Array, arm: Array) -> Array:
    """Joint forces (…, 6, k) for unit torques and forces at the end of an arm (…, 3), by those at its beginning."""
    turning = motion[..., :3, :]
    torque = np.swapaxes(np.cross(np.swapaxes(turning, -1, -2), arm[..., None, :]), -1, -2)
    return np.concatenate([turning, motion[..., 3:, :] + torque], axis=-2)
