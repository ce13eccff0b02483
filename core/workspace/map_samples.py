"""Samples of a map: poses over the ranges of what runs, on the branch, with the orientation, in the plane asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.workspace.joint_ranges import spread
from core.workspace.map_task import Samples, Stopped, Task
from core.workspace.pose_solver import in_pieces

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

PIECE = 8192
"""Samples that one core takes at a time."""
PLANE_SHARE = 0.12
"""Part of the extent of all samples by which one may lie beside a plane to be brought into it."""


def samples_of(task: Task) -> tuple[Samples, bool]:
    """Poses of the map, and whether it was stopped on the way."""
    machine, watch = task.machine, task.watch
    pieces = [(first, min(PIECE, task.samples - first)) for first in range(0, task.samples, PIECE)]
    done: list[Samples] = []
    machine.mech.compiled.compile("poses", f"jacobian:{machine.frame}")
    try:
        if task.branch is None:
            for each in watch.done(lambda piece: _tree_piece(task, *piece), pieces):
                done.append(each)
                watch.step(0.5 * len(done) / len(pieces), "Samples")
        else:
            known = task.start[None]
            for piece in pieces:
                watch.step(0.5 * len(done) / len(pieces), "Samples")
                each = _branch_piece(task, *piece, known)
                known = np.concatenate([known, each.q])
                done.append(_restricted(task, each.q))
    except Stopped:
        return _together(task, done), True
    return _together(task, done), False


def _together(task: Task, done: list[Samples]) -> Samples:
    if not done:
        return Samples(np.zeros((0, task.machine.mech.nq)), np.zeros((0, 3)))
    return Samples(np.concatenate([each.q for each in done]), np.concatenate([each.points for each in done]))


def _tree_piece(task: Task, first: int, count: int) -> Samples:
    u = spread(first, count, task.ranges.count, task.seed)
    return _restricted(task, task.ranges.put(np.tile(task.start, (count, 1)), u))


def _branch_piece(task: Task, first: int, count: int, known: Array) -> Samples:
    ranges = task.ranges
    assert task.branch is not None
    u = spread(first, count, ranges.count, task.seed)
    q, good = task.branch.spread_from(ranges.lower + u * (ranges.upper - ranges.lower), known)
    return Samples(q[good], task.machine.places(q[good]))


def _restricted(task: Task, q: Array) -> Samples:
    """Samples brought to the orientation and into the plane that were asked for; those that cannot be are left out."""
    machine, restriction = task.machine, task.restriction
    points = machine.places(q)
    if (restriction.rotation is None and restriction.plane is None) or not len(q):
        return Samples(q, points)
    if restriction.plane is not None:
        plane = restriction.plane
        extent = max(float(np.ptp(points, axis=0).max()), machine.size)
        near = np.abs((points - plane.origin) @ plane.normal) < PLANE_SHARE * extent
        q = q[near]
    if not len(q):
        return Samples(q, points[:0])
    solved = in_pieces(machine, q, restriction.targets(len(q)))
    good = solved.met & task.accepts(solved.q)
    return Samples(solved.q[good], machine.places(solved.q[good]))
