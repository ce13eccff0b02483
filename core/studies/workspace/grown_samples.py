"""Samples of a map and their values, added round by round, so that each round gives a finer map: poses over the ranges
of the varied coordinates, on the assembly branch, with the orientation and in the plane that are requested or found
from the first samples."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.analysis.manipulability import numerical_rank
from core.errors import ModelError
from core.studies.workspace.joint_ranges import evenly_spread_points
from core.studies.workspace.map_kinds import MapSpecification, Values
from core.studies.workspace.map_task import ASKING, MapStopped, MapTask, Samples
from core.studies.workspace.planar_area import Plane, fit_plane
from core.studies.workspace.pose_solver import solve_in_pieces

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


SETTING_OUT = 32
"""Number of samples from which the dimension of the motion is determined."""

Part = TypeVar("Part")
PIECE = 2048
"""Number of samples that one core processes at a time."""
FIRST = 128
"""Number of samples in the first round."""
GROWS = 4
"""Factor by which the number of samples grows from round to round."""
PLANE_SHARE = 0.12
"""Largest distance of a sample from a plane, relative to the extent of all samples, up to which it is moved into the
plane."""
LEAST_PAUSE = 0.15
"""Shortest interval between two intermediate maps, s."""


def determine_map_specification(task: MapTask, few_poses: Array, samples: Samples) -> MapSpecification:
    """Determine the properties of the frame's motion that the measures need."""
    wanted = MapSpecification(task.machine, task.part, 3, None, task.varied_speeds, task.length, error=task.error)
    J = wanted.jacobians(few_poses)
    m = max(numerical_rank(each) for each in J)
    linear = wanted._replace(part="translation").jacobians(few_poses)
    normal = None
    directions, sigma, _ = np.linalg.svd(np.concatenate(list(linear), axis=1))
    if sigma[2] < 1e-9 * max(float(sigma[0]), 1e-12) < sigma[1]:
        normal = directions[:, 2]
    if m == 0 and (task.kind is None or task.kind.of_part):
        raise ModelError(
            f"The varied coordinates cause no {task.part} of '{task.machine.frame}'.",
            where="part",
            remedy="Choose the other part, or another frame.",
        )
    moves = max(numerical_rank(each) for each in linear)
    return wanted._replace(m=max(m, 1), normal=normal, moves=moves)


def plane_of_samples(task: MapTask, samples: Samples, specification: MapSpecification) -> Plane | None:
    """Return the plane that contains all points; None if there is none."""
    if task.restriction.plane is not None:
        return task.restriction.plane
    return (
        fit_plane(samples.points[:: max(len(samples.points) // 4096, 1)], specification.normal)
        if len(samples.points) > 3
        else None
    )


def sampling_rounds(sample_count: int) -> Iterator[list[tuple[int, int]]]:
    """Return rounds of pieces (first, count); after each round the samples so far are evenly spread, so that they make
    a coarse map."""
    first = 0
    while first < sample_count:
        end = min(max(FIRST, GROWS * first), sample_count)
        yield [(at, min(PIECE, end - at)) for at in range(first, end, PIECE)]
        first = end


def process_pieces(
    task: MapTask, pieces: list[tuple[int, int]], known_poses: list[Array], process: Callable[[Samples], Part]
) -> Iterator[Part]:
    """Process the samples of each piece and yield the results. For machines with loops new poses are found from the
    known ones and added to them. Raises MapStopped."""
    if task.branch is None:
        yield from task.watch.iterate_processed_pieces(lambda piece: process(_open_chain_samples(task, *piece)), pieces)
        return
    for piece in pieces:
        task.watch.look()
        each = _branch_samples(task, *piece, np.concatenate(known_poses))
        known_poses.append(each.q)
        yield process(_restricted_samples(task, each.q))


def _open_chain_samples(task: MapTask, first: int, count: int) -> Samples:
    u = evenly_spread_points(first, count, task.ranges.count, task.seed)
    return _restricted_samples(task, task.ranges.set_coordinates(np.tile(task.start, (count, 1)), u))


def _branch_samples(task: MapTask, first: int, count: int, known_poses: Array) -> Samples:
    ranges = task.ranges
    assert task.branch is not None
    u = evenly_spread_points(first, count, ranges.count, task.seed)
    q, good = task.branch.solve_outward(ranges.lower + u * (ranges.upper - ranges.lower), known_poses)
    return Samples(q[good], task.machine.frame_positions(q[good]))


def _restricted_samples(task: MapTask, q: Array) -> Samples:
    """Move samples to the requested orientation and into the plane; drop those for which that is impossible."""
    machine, restriction = task.machine, task.restriction
    points = machine.frame_positions(q)
    if (restriction.rotation is None and restriction.plane is None) or not len(q):
        return Samples(q, points)
    if restriction.plane is not None:
        plane = restriction.plane
        extent = max(float(np.ptp(points, axis=0).max()), machine.size)
        near = np.abs((points - plane.origin) @ plane.normal) < PLANE_SHARE * extent
        q = q[near]
    if not len(q):
        return Samples(q, points[:0])
    solved = solve_in_pieces(machine, q, restriction.targets(len(q)))
    good = solved.met & task.accepts(solved.q)
    return Samples(solved.q[good], machine.frame_positions(solved.q[good]))


class SamplesWithValues(NamedTuple):
    """Samples of a piece with their values (n,)."""

    samples: Samples
    values: Array


class GrownSamples:
    """Samples of a task collected so far."""

    def __init__(self, task: MapTask, work_fraction: float) -> None:
        """Start without samples. The given fraction of the whole work is spent on sampling."""
        self.task, self._share = task, work_fraction
        self.wanted: MapSpecification | None = None
        self.unit = ""
        self._compute: Values | None = None
        self._parts: list[SamplesWithValues] = []
        self._taken = 0
        self._shown = time.perf_counter()

    def run_all_rounds(self, show_map: Callable[[], object]) -> bool:
        """Run all rounds; return True if the user stopped them. The callback shows the map after some rounds and after
        the last one."""
        task, watch = self.task, self.task.watch
        machine = task.machine
        known = [task.start[None]]
        machine.mech.compiled.compile("poses", f"jacobian:{machine.frame}")
        try:
            for pieces in sampling_rounds(task.samples):
                for (_, count), part in zip(
                    pieces, process_pieces(task, pieces, known, self._add_values), strict=False
                ):
                    self._parts.append(part)
                    self._taken += count
                    watch.step(self._share * self._taken / task.samples, "Poses")
                self._update_dimension()
                if self._parts and self._is_display_due:
                    show_map()
                    self._shown = time.perf_counter()
        except MapStopped:
            self._update_dimension()
            return True
        return False

    @property
    def _is_display_due(self) -> bool:
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

    def compute_values(self, q: Array) -> Array:
        """Compute the values (n,) of poses (n, nq)."""
        assert self._compute is not None
        return self._compute(q)

    # ------------------------------------------------------------------------------ how the frame moves

    def _add_values(self, samples: Samples) -> SamplesWithValues:
        """Add values to samples, once the measured quantity is determined."""
        if self._compute is None:
            return SamplesWithValues(samples, np.full(len(samples.q), np.nan))
        return SamplesWithValues(samples, self._compute(samples.q))

    def _update_dimension(self) -> None:
        """Update the dimension of the frame's motion from the samples so far; it may grow with more samples."""
        found = self.samples
        if not len(found.q):
            return
        wanted = determine_map_specification(self.task, found.q[:: max(len(found.q) // SETTING_OUT, 1)], found)
        before, self.wanted = self.wanted, wanted
        alike = before is not None and (before.m, before.moves) == (wanted.m, wanted.moves)
        if self.task.name in ASKING or (alike and _is_same_plane(before, wanted)):
            return
        assert self.task.kind is not None
        self._compute, self.unit = self.task.kind.make(wanted)
        self._compute(found.q[:1])
        self.task.machine.mech.compiled.compile()
        self._parts = [SamplesWithValues(each.samples, self._compute(each.samples.q)) for each in self._parts]


def _is_same_plane(earlier: MapSpecification | None, later: MapSpecification) -> bool:
    return earlier is not None and (earlier.normal is None) == (later.normal is None)
