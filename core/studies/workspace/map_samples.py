"""Sampling of a map: poses over the ranges of the varied coordinates, on the branch, with the orientation and in the
plane requested."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.studies.workspace.joint_ranges import spread
from core.studies.workspace.map_task import Samples, Task
from core.studies.workspace.pose_solver import in_pieces

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Part = TypeVar("Part")

PIECE = 2048
"""Samples per work unit of one core."""
FIRST = 128
"""Samples of the first round."""
GROWS = 4
"""Growth factor of the number of samples from round to round."""
PLANE_SHARE = 0.12
"""Largest distance of a sample from a plane, relative to the extent of all samples, for which it is moved into the
plane."""


def rounds(samples: int) -> Iterator[list[tuple[int, int]]]:
    """Return rounds of pieces (first, count); after each, the samples so far are evenly spread, so that they make a
    coarser map."""
    first = 0
    while first < samples:
        end = min(max(FIRST, GROWS * first), samples)
        yield [(at, min(PIECE, end - at)) for at in range(first, end, PIECE)]
        first = end


def pieces_of(
    task: Task, pieces: list[tuple[int, int]], known: list[Array], then: Callable[[Samples], Part]
) -> Iterator[Part]:
    """Yield the results of `then` for the samples of each piece. known : poses of machines with loops found so far, to
    which new ones are added. Raises Stopped."""
    if task.branch is None:
        yield from task.watch.done(lambda piece: then(_tree_piece(task, *piece)), pieces)
        return
    for piece in pieces:
        task.watch.look()
        each = _branch_piece(task, *piece, np.concatenate(known))
        known.append(each.q)
        yield then(_restricted_samples(task, each.q))


def _tree_piece(task: Task, first: int, count: int) -> Samples:
    u = spread(first, count, task.ranges.count, task.seed)
    return _restricted_samples(task, task.ranges.put(np.tile(task.start, (count, 1)), u))


def _branch_piece(task: Task, first: int, count: int, known: Array) -> Samples:
    ranges = task.ranges
    assert task.branch is not None
    u = spread(first, count, ranges.count, task.seed)
    q, good = task.branch.spread_from(ranges.lower + u * (ranges.upper - ranges.lower), known)
    return Samples(q[good], task.machine.places(q[good]))


def _restricted_samples(task: Task, q: Array) -> Samples:
    """Move samples to the requested orientation and plane; drop those that cannot be moved."""
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
