"""Samples of a map and their values, added round by round, so that each round makes a coarser map: poses over the
ranges of the varied coordinates, on the branch, with the orientation and in the plane requested or found from the first
samples.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.analysis.manipulability import rank
from core.errors import ModelError
from core.studies.workspace.joint_ranges import spread
from core.studies.workspace.map_kinds import Values, Wanted
from core.studies.workspace.map_task import ASKING, Samples, Stopped, Task
from core.studies.workspace.planar_area import Plane, plane_of
from core.studies.workspace.pose_solver import in_pieces

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


SETTING_OUT = 32
"""Number of samples used to determine the dimension of the motion."""

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
LEAST_PAUSE = 0.15
"""Shortest interval between two intermediate maps, s."""


def wanted_of(task: Task, some: Array, found: Samples) -> Wanted:
    """Determine the frame's motion as measures need it."""
    wanted = Wanted(task.machine, task.part, 3, None, task.chosen, task.length, error=task.error)
    J = wanted.jacobians(some)
    m = max(rank(each) for each in J)
    linear = wanted._replace(part="translation").jacobians(some)
    normal = None
    directions, sigma, _ = np.linalg.svd(np.concatenate(list(linear), axis=1))
    if sigma[2] < 1e-9 * max(float(sigma[0]), 1e-12) < sigma[1]:
        normal = directions[:, 2]
    if m == 0 and (task.kind is None or task.kind.of_part):
        raise ModelError(
            f"'{task.machine.frame}' has no {task.part}.",
            where="part",
            remedy="Choose the other part, or another frame.",
        )
    moves = max(rank(each) for each in linear)
    return wanted._replace(m=max(m, 1), normal=normal, moves=moves)


def plane_of_samples(task: Task, found: Samples, wanted: Wanted) -> Plane | None:
    """Return the plane that contains the points; None if there is none."""
    if task.restriction.plane is not None:
        return task.restriction.plane
    return (
        plane_of(found.points[:: max(len(found.points) // 4096, 1)], wanted.normal) if len(found.points) > 3 else None
    )


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


class Valued(NamedTuple):
    """Samples of a piece with their values (n,)."""

    samples: Samples
    values: Array


class GrownSamples:
    """Samples of a task gathered so far."""

    def __init__(self, task: Task, share: float) -> None:
        """Start without samples. share : fraction of the whole work that sampling takes."""
        self.task, self._share = task, share
        self.wanted: Wanted | None = None
        self.unit = ""
        self._compute: Values | None = None
        self._parts: list[Valued] = []
        self._taken = 0
        self._shown = time.perf_counter()

    def grow(self, shown: Callable[[], object]) -> bool:
        """Run all rounds; return True if stopped. shown() is called after some rounds, and after the last."""
        task, watch = self.task, self.task.watch
        machine = task.machine
        known = [task.start[None]]
        machine.mech.compiled.compile("poses", f"jacobian:{machine.frame}")
        try:
            for pieces in rounds(task.samples):
                for (_, count), part in zip(pieces, pieces_of(task, pieces, known, self._with_values), strict=False):
                    self._parts.append(part)
                    self._taken += count
                    watch.step(self._share * self._taken / task.samples, "Poses")
                self._update_dimension()
                if self._parts and self._picture_due:
                    shown()
                    self._shown = time.perf_counter()
        except Stopped:
            self._update_dimension()
            return True
        return False

    @property
    def _picture_due(self) -> bool:
        return self._taken == self.task.samples or time.perf_counter() - self._shown > LEAST_PAUSE

    @property
    def samples(self) -> Samples:
        """All samples so far."""
        nq = self.task.machine.mech.nq
        q = [np.zeros((0, nq)), *(each.samples.q for each in self._parts)]
        return Samples(
            np.concatenate(q), np.concatenate([np.zeros((0, 3)), *(each.samples.points for each in self._parts)])
        )

    @property
    def values(self) -> Array:
        """Values (n,) of all samples so far."""
        return np.concatenate([np.zeros(0), *(each.values for each in self._parts)])

    def values_of(self, q: Array) -> Array:
        """Compute the values (n,) of poses (n, nq)."""
        assert self._compute is not None
        return self._compute(q)

    # ------------------------------------------------------------------------------ how the frame moves

    def _with_values(self, found: Samples) -> Valued:
        """Add values to samples, once the measured quantity is determined."""
        if self._compute is None:
            return Valued(found, np.full(len(found.q), np.nan))
        return Valued(found, self._compute(found.q))

    def _update_dimension(self) -> None:
        """Update the dimension of the frame's motion from the samples so far; it may grow with more samples."""
        found = self.samples
        if not len(found.q):
            return
        wanted = wanted_of(self.task, found.q[:: max(len(found.q) // SETTING_OUT, 1)], found)
        before, self.wanted = self.wanted, wanted
        alike = before is not None and (before.m, before.moves) == (wanted.m, wanted.moves)
        if self.task.name in ASKING or (alike and _same_plane(before, wanted)):
            return
        assert self.task.kind is not None
        self._compute, self.unit = self.task.kind.make(wanted)
        self._compute(found.q[:1])
        self.task.machine.mech.compiled.compile()
        self._parts = [Valued(each.samples, self._compute(each.samples.q)) for each in self._parts]


def _same_plane(before: Wanted | None, after: Wanted) -> bool:
    return before is not None and (before.normal is None) == (after.normal is None)
