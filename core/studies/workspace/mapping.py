"""Computation of maps: samples of the joints, points of the frame, values there, and size of the workspace.

found = workspace(mech, "tool", kind="isotropy", samples=100_000)
found.points, found.q, found.values, found.volume, found.error, found.save("map.vtu")
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from core.analysis.manipulability import Part
from core.errors import ModelError
from core.mechanism import Mechanism
from core.model import Model
from core.studies.workspace.asked_maps import compute_inverse_kinematics_map
from core.studies.workspace.grown_samples import GrownSamples, plane_of_samples
from core.studies.workspace.joint_ranges import Over, determine_joint_ranges, evenly_spread_points
from core.studies.workspace.map_kinds import MapSpecification
from core.studies.workspace.map_task import (
    ASKING,
    MapStopped,
    MapTask,
    ProgressObserver,
    Samples,
    mechanism_with_values,
    validate_task,
)
from core.studies.workspace.planar_area import Plane, compute_planar_area
from core.studies.workspace.pose_solver import solve_in_pieces
from core.studies.workspace.space_cells import GridCells, build_cells, empty_cells_next_to_filled, measure_size
from core.studies.workspace.workspace_map import WorkspaceMap

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


SAMPLES_FOR_RANK = 2000
"""Number of samples that show whether the points are in a plane or on a line."""


def workspace(
    mech: Mechanism | Model,
    frame: str | None = None,
    *,
    over: Over = None,
    samples: int = 100_000,
    kind: str = "reach",
    part: Part = "translation",
    orientation: Any = None,
    slice: Any = None,
    q: Any = None,
    p: Mapping[str, float] | None = None,
    length: float = 1.0,
    error: float = 1e-3,
    seed: int = 0,
    workers: int | None = None,
    progress: Callable[..., object] | None = None,
    cancelled: Callable[[], bool] | None = None,
    shown: Callable[[WorkspaceMap], object] | None = None,
) -> WorkspaceMap:
    """Compute a map of a frame's reachable points and a performance measure there.

    frame : that moves, default the tool; over : coordinates that run, by name, with their bounds or within their
    limits, default all that move the frame (of closed machines their actuators)
    kind : of `ALL_KINDS`, or a formula of channels of a pose, as "energy.potential"
    part : of the velocities that measures are of; orientation : (3, 3), or angles about the fixed axes x, y, z, that
    the frame is to have; slice : ("z", 0.5) or (normal (3,), offset), a plane in which it is to lie
    q : (nq,) where what does not run stands, and the branch of loops, default the rest position; p : parameters
    length : metres of a slide that count like one radian, where actuators slide and turn
    error : of "accuracy": of each actuator, rad, of slides times `length`
    seed : the same gives the same samples; workers : threads, default one a core
    progress(fraction, text) : is told how far it is; cancelled() : whether to stop: what there is then is the result
    shown(map) : is given coarser maps on the way, each of more samples than the one before
    Raises KinetostatError naming what has no limits or cannot be measured.
    """
    watch = ProgressObserver(progress, cancelled, workers, shown)
    task = validate_task(
        mechanism_with_values(mech, p),
        frame,
        over,
        kind,
        part,
        orientation,
        slice,
        q,
        length,
        (samples, seed),
        watch,
        error,
    )
    grown = GrownSamples(task, 0.5 if task.name in ASKING else 0.7)
    stopped = grown.run_all_rounds(lambda: _show_intermediate_map(grown))
    if not len(grown.samples.q):
        raise ModelError(
            "No sample fulfils the conditions of the map."
            if not stopped
            else "The map was stopped before the first samples.",
            where="workspace",
            remedy="Use more samples, other limits, or another orientation, plane or initial pose.",
        )
    if task.name in ASKING:
        assert grown.wanted is not None
        return compute_inverse_kinematics_map(task, grown.samples, grown.wanted, stopped)
    return _build_complete_map(grown, stopped)


def _show_intermediate_map(samples_so_far: GrownSamples) -> None:
    """Show the intermediate map."""
    task = samples_so_far.task
    if task.watch.shown is None or task.name in ASKING:
        return
    found, values = samples_so_far.samples, samples_so_far.values
    words = f"{len(values):,} poses so far" if len(values) < task.samples else "The size is computed next."
    task.watch.shown(
        replace(_build_map(samples_so_far, found, values, _SizeOfReachableSet(), [words]), complete=False, growing=True)
    )


def _build_complete_map(samples_so_far: GrownSamples, stopped: bool) -> WorkspaceMap:
    """Build the map of all samples with values, cells and size."""
    task, found, values = samples_so_far.task, samples_so_far.samples, samples_so_far.values
    assert samples_so_far.wanted is not None
    notes: list[str] = []
    plane = plane_of_samples(task, found, samples_so_far.wanted)
    d = _dimension_of_reachable_set(samples_so_far.wanted, plane)
    size, cell = _SizeOfReachableSet(), None
    if not stopped:
        try:
            size = _compute_size(task, found, plane, d, notes)
            if plane is not None and d:
                assert task.kind is not None
                cells = build_cells(plane.to_plane_coordinates(found.points), values, task.kind.best)
                found, values = _fill_gaps(task, found, values, cells, plane, samples_so_far.compute_values)
                cell = cells.size
        except MapStopped:
            stopped = True
    if stopped:
        notes.append(f"The map was stopped after {len(values)} of {task.samples} samples.")
    return replace(_build_map(samples_so_far, found, values, size, notes, cell), complete=not stopped)


def _build_map(
    samples_so_far: GrownSamples,
    samples: Samples,
    values: Array,
    size: _SizeOfReachableSet,
    notes: list[str],
    cell_size: float | None = None,
) -> WorkspaceMap:
    """Build the map of the given samples; by default the cell size follows from their number."""
    task, machine = samples_so_far.task, samples_so_far.task.machine
    assert task.kind is not None
    assert samples_so_far.wanted is not None
    plane = plane_of_samples(task, samples, samples_so_far.wanted)
    flat = samples.points if plane is None else plane.to_plane_coordinates(samples.points)
    return WorkspaceMap(
        machine=machine.mech.name,
        frame=machine.frame,
        kind=task.name,
        title=task.kind.title + (f" ({task.part})" if task.kind.of_part else ""),
        about=task.kind.about,
        unit=samples_so_far.unit,
        points=samples.points,
        q=samples.q,
        values=values,
        names=tuple(machine.mech.q_names),
        over=task.ranges.all_names,
        cells=build_cells(flat, values, task.kind.best, cell_size),
        best=task.kind.best,
        plane=plane,
        notes=tuple(notes),
        **size._asdict(),
    )


def _fill_gaps(
    task: MapTask, samples: Samples, values: Array, cells: GridCells, plane: Plane, compute: Callable[[Array], Array]
) -> tuple[Samples, Array]:
    """Add samples at the centres of reachable empty cells next to filled ones, so that no cell is empty by chance."""
    flat = plane.to_plane_coordinates(samples.points)
    for _ in range(2):
        middles = cells.origin + (empty_cells_next_to_filled(cells) + 0.5) * cells.size
        starts = samples.q[cKDTree(flat).query(middles)[1]]
        targets = task.restriction.targets(len(middles))._replace(place=plane.to_world_points(middles), plane=None)
        solved = solve_in_pieces(task.machine, starts, targets, task.watch.process_pieces, only_met=True)
        met = solved.q[solved.met]
        q = met[task.accepts(met)]
        if not len(q):
            break
        samples = Samples(
            np.concatenate([samples.q, q]), np.concatenate([samples.points, task.machine.frame_positions(q)])
        )
        values = np.concatenate([values, compute(q)])
        flat = plane.to_plane_coordinates(samples.points)
        cells = build_cells(flat, values, "largest", cells.size)
    return samples, values


class _SizeOfReachableSet(NamedTuple):
    area: float = math.nan
    volume: float = math.nan
    error: float = math.nan
    boundary: Array = np.zeros((0, 2, 3))


def _dimension_of_reachable_set(specification: MapSpecification, plane: Plane | None) -> int:
    """Return the dimension of the reachable set: 3 a volume, 2 an area, 0 neither."""
    if specification.moves < 2:
        return 0
    if plane is not None:
        return 2
    return 3 if specification.moves == 3 and specification.normal is None else 0


def _compute_size(
    task: MapTask, samples: Samples, plane: Plane | None, d: int, notes: list[str]
) -> _SizeOfReachableSet:
    """Compute area or volume with its error, and boundary."""
    step = task.watch.step
    free = task.restriction.rotation is None and task.restriction.plane is None
    if plane is not None and free and d:
        ranges = determine_joint_ranges(
            task.machine.mech, task.machine.frame, _ranges_for_origin(task), task.machine.p, with_rotation=False
        )
        exact = compute_planar_area(
            task.machine, ranges, task.start, plane, lambda share: step(0.7 + 0.3 * share, "Boundary")
        )
        if exact is not None:
            return _SizeOfReachableSet(exact.area, math.nan, exact.error, exact.boundary)
    if d == 0:
        notes.append("The frame reaches only a curve or a surface, which has no volume.")
        return _SizeOfReachableSet()
    flat = samples.points if plane is None else plane.to_plane_coordinates(samples.points)
    some = flat[:: -(-len(flat) // SAMPLES_FOR_RANK)]
    if len(flat) < 64 or np.linalg.matrix_rank(some - some[0], tol=1e-9) < flat.shape[1]:
        notes.append("There are too few points to determine the size.")
        return _SizeOfReachableSet()

    def is_reached(points: Array, starts: NDArray[np.intp]) -> Flags:
        places = points if plane is None else plane.to_world_points(points)
        targets = task.restriction.targets(len(points))._replace(place=places, plane=None)
        solved = solve_in_pieces(task.machine, samples.q[starts], targets, task.watch.process_pieces, only_met=True)
        return solved.met & task.accepts(solved.q)

    done = measure_size(flat, is_reached, task.seed, lambda share: step(0.7 + 0.3 * share, "Size"))
    return (
        _SizeOfReachableSet(done.value, math.nan, done.error)
        if plane is not None
        else _SizeOfReachableSet(math.nan, done.value, done.error)
    )


def _ranges_for_origin(task: MapTask) -> Over:
    """Return the same coordinates with the same bounds, restricted to those that move the frame's origin."""
    ranges = task.ranges
    bounds = {
        name: (float(low), float(high))
        for name, low, high in zip(ranges.names, ranges.lower, ranges.upper, strict=True)
    }
    if task.machine.closing is not None:
        return bounds
    q = ranges.set_coordinates(np.tile(task.start, (8, 1)), evenly_spread_points(0, 8, ranges.count, task.seed))
    J = np.abs(task.machine.frame_jacobians(q)[:, 3:, ranges.speed]).max(axis=(0, 1))
    return {name: bounds[name] for name, size in zip(ranges.names, J, strict=True) if size > 1e-9 * max(J.max(), 1e-9)}
