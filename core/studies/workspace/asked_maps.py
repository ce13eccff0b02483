"""Maps that solve inverse kinematics at the points of a grid: reachable orientations, and number of configurations.

Targets are solved all together (`core.studies.workspace.pose_solver`), from samples near the place whose orientation is
next to the wanted one, then from what was found for neighbouring places. Numeric inverse kinematics may miss a
solution, so the numbers are at least these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from core.analysis.manipulability import numerical_rank
from core.errors import ModelError
from core.studies.workspace.grown_samples import SETTING_OUT, plane_of_samples
from core.studies.workspace.joint_ranges import TURN, attitudes_from_points, evenly_spread_points
from core.studies.workspace.map_kinds import MapSpecification
from core.studies.workspace.map_task import ASKING, MapStopped, MapTask, Samples
from core.studies.workspace.planar_area import Plane
from core.studies.workspace.pose_solver import MappedMachine, PoseTargets, SolvedPoses, solve_in_pieces
from core.studies.workspace.space_cells import GridCells, build_cells
from core.studies.workspace.workspace_map import WorkspaceMap

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


Share = Callable[..., list[SolvedPoses]]
Reported = Callable[[NDArray[np.intp], Array, "Array | None"], object]
"""Callback (indices of finished points, values (n,) of all points, poses (n, nq) or None)."""

NEIGHBOURS = 32
"""Number of samples near a point from which initial poses are chosen."""
SAME_POSE = 1e-4
"""Difference, rad or machine sizes, below which two poses are equal."""
FURTHER_STARTS = 24
"""Number of random samples from which further configurations are searched, in addition to the nearby ones."""

PLACES = 500
"""Largest number of points at which inverse kinematics is solved for orientations and configurations."""
ORIENTATIONS = 48
"""Number of orientations tried at each point."""
ABOUT = {
    "orientations": "share of {count} orientations in which the frame reaches the point",
    "configurations": "number of configurations that reach the point",
}


def spread_orientations(jacobians: Array, rotations: Array, count: int, seed: int) -> Array:
    """Return (count, 3, 3) evenly spread orientations among those that the frame can attain: rotations about one axis
    if all its angular velocities are parallel, otherwise all rotations.

    jacobians : (n, 3, k) of rotation at samples; rotations : (n, 3, 3) there
    """
    sigma_axes = np.linalg.svd(np.concatenate(list(jacobians), axis=1))
    sizes = sigma_axes[1]
    if sizes[0] < 1e-9:
        raise ModelError(
            "The varied coordinates do not change the orientation of the frame.",
            where="workspace",
            remedy="Choose another kind of map, such as reach.",
        )
    if sizes[1] > 1e-9 * sizes[0]:
        return quaternion_matrices(attitudes_from_points(evenly_spread_points(0, count, 3, seed)))
    axis = sigma_axes[0][:, 0]
    angles = TURN * (np.arange(count) + 0.5) / count
    return _rotations_about_axis(axis, angles) @ rotations[0]


def _rotations_about_axis(axis: Array, angles: Array) -> Array:
    """Return (n, 3, 3) rotations about an axis (3,) (Rodrigues)."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    s, c = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    return np.asarray(np.eye(3) + s * K + (1.0 - c) * (K @ K))


def quaternion_matrices(quaternions: Array) -> Array:
    """Convert quaternions x, y, z, w (n, 4) to rotation matrices (n, 3, 3)."""
    v, w = quaternions[:, :3], quaternions[:, 3]
    K = np.zeros((len(v), 3, 3))
    K[:, 0, 1], K[:, 0, 2], K[:, 1, 2] = -v[:, 2], v[:, 1], -v[:, 0]
    K = K - np.swapaxes(K, 1, 2)
    return np.asarray(np.eye(3) + 2.0 * w[:, None, None] * K + 2.0 * K @ K)


def coarse_to_fine_groups(points: Array) -> list[NDArray[np.intp]]:
    """Group indices of points (n, 3) into an eighth, another eighth, a quarter and a half. Each point is the farthest
    from all earlier ones, so that the groups so far always cover the whole map."""
    n = len(points)
    away, order = np.full(n, np.inf), np.zeros(n, dtype=np.intp)
    last = int(np.argmin(np.sum((points - points.mean(axis=0)) ** 2, axis=1)))
    for k in range(n):
        order[k] = last
        away = np.minimum(away, np.sum((points - points[last]) ** 2, axis=1))
        last = int(np.argmax(away))
    return [each for each in np.split(order, [-(-n // 8), -(-n // 4), -(-n // 2)]) if len(each)]


def reachable_orientation_shares(
    machine: MappedMachine,
    points: Array,
    rotations: Array,
    q: Array,
    accepts: Callable[[Array], Flags],
    share: Share | None,
    report: Reported,
) -> tuple[Array, Array]:
    """Compute the share (n,) of the rotations (m, 3, 3) in which the frame reaches each point (n, 3), and a pose (n,
    nq) for each point.

    q : (s, nq) samples; report : is given what is known of the groups of `coarse_to_fine_groups` so far
    """
    n, m = len(points), len(rotations)
    poses = machine.poses(q)
    tree = cKDTree(poses[:, :3, 3])
    near = tree.query(points, k=min(NEIGHBOURS, len(q)))[1].reshape(n, -1)
    likeness = np.einsum("nkij,mij->nkm", poses[near][..., :3, :3], rotations)
    order = np.argsort(-likeness, axis=1)
    place = np.repeat(np.arange(n), m)
    turn = np.tile(np.arange(m), n)
    met = np.zeros(n * m, dtype=bool)
    found = np.empty((n * m, q.shape[1]))

    def shares_and_poses() -> tuple[Array, Array]:
        own = met.reshape(n, m)
        first = np.argmax(own, axis=1)
        known = found.reshape(n, m, -1)[np.arange(n), first]
        return own.mean(axis=1), np.where(np.reshape(own.any(axis=1), (n, 1)), known, q[near[:, 0]])

    groups = coarse_to_fine_groups(points)
    for number, group in enumerate(groups):
        for attempt in range(2):
            left = (group[:, None] * m + np.arange(m)).ravel()
            left = left[~met[left]]
            chosen = near[place[left], order[place[left], min(attempt, order.shape[1] - 1), turn[left]]]
            _solve_targets(
                machine, left, q[chosen], points[place[left]], rotations[turn[left]], (met, found), accepts, share
            )
        report(np.concatenate(groups[: number + 1]), *shares_and_poses())
    for _ in range(3):
        left, starts = _unsolved_targets_near_solved(points, met.reshape(n, m), found.reshape(n, m, -1))
        if not len(left):
            break
        _solve_targets(machine, left, starts, points[place[left]], rotations[turn[left]], (met, found), accepts, share)
    return shares_and_poses()


def _solve_targets(
    machine: MappedMachine,
    indices: NDArray[np.intp],
    starts: Array,
    points: Array,
    rotations: Array,
    met_and_poses: tuple[Flags, Array],
    accepts: Callable[[Array], Flags],
    share: Share | None,
) -> None:
    """Solve inverse kinematics for some targets, and store the solutions of those that are met."""
    if not len(indices):
        return
    solved = solve_in_pieces(machine, starts, PoseTargets(place=points, rotation=rotations), share)
    good = solved.met & accepts(solved.q)
    met_and_poses[0][indices[good]] = True
    met_and_poses[1][indices[good]] = solved.q[good]


def _unsolved_targets_near_solved(points: Array, met: Flags, poses: Array) -> tuple[NDArray[np.intp], Array]:
    """Return the unsolved targets next to a point where the same orientation is solved, with the pose found there."""
    m = met.shape[1]
    left, starts = [], []
    for k in range(m):
        known, open_ = np.flatnonzero(met[:, k]), np.flatnonzero(~met[:, k])
        if not len(known) or not len(open_):
            continue
        distance, nearest = cKDTree(points[known]).query(points[open_])
        close = distance < 2.5 * _mean_point_spacing(points)
        left.append(open_[close] * m + k)
        starts.append(poses[known[nearest[close]], k])
    if not left:
        return np.zeros(0, dtype=np.intp), np.zeros((0, poses.shape[2]))
    return np.concatenate(left), np.concatenate(starts)


def _mean_point_spacing(points: Array) -> float:
    """Return the mean distance from each point to its nearest neighbour, m."""
    if len(points) < 2:
        return 1.0
    return float(np.mean(cKDTree(points).query(points, k=2)[0][:, 1]))


def count_configurations(
    machine: MappedMachine,
    poses: Array,
    q: Array,
    position_only: bool,
    accepts: Callable[[Array], Flags],
    share: Share | None,
    seed: int,
    report: Reported,
) -> Array:
    """Count the configurations (n,) in which the machine attains each pose (n, 4, 4), or only its position. q : (s, nq)
    samples; report : called with the indices of the finished groups of points"""
    n = len(poses)
    places = np.ascontiguousarray(poses[:, :3, 3])
    every = PoseTargets(place=places) if position_only else PoseTargets(place=places, rotation=poses[:, :3, :3])
    near = cKDTree(machine.frame_positions(q)).query(places, k=min(NEIGHBOURS, len(q)))[1].reshape(n, -1)
    anywhere = np.random.default_rng(seed).integers(len(q), size=(n, FURTHER_STARTS))
    starts = np.concatenate([near, anywhere], axis=1)
    known = np.full((n, starts.shape[1], q.shape[1]), np.nan)
    count = np.zeros(n, dtype=np.intp)
    groups = coarse_to_fine_groups(places)
    for number, group in enumerate(groups):
        tries = starts.shape[1]
        solved = solve_in_pieces(machine, q[starts[group].T.ravel()], every.select(np.tile(group, tries)), share)
        met = (solved.met & accepts(solved.q)).reshape(tries, -1)
        for poses_of_try, good in zip(solved.q.reshape(tries, len(group), -1), met, strict=True):
            with np.errstate(invalid="ignore"):
                away = _largest_pose_differences(machine, known[group], poses_of_try)
                new = good & ~(away < SAME_POSE).any(axis=1)
            own = group[new]
            known[own, count[own]] = poses_of_try[new]
            count[own] += 1
        report(np.concatenate(groups[: number + 1]), count.astype(float), None)
    return count.astype(float)


def _largest_pose_differences(machine: MappedMachine, known_poses: Array, q: Array) -> Array:
    """Return the largest differences of coordinates (n, k), angles modulo full turns; NaN for missing poses."""
    dimensions = [coordinate.dimension for coordinate in machine.mech.coordinates]
    angle = np.array([dimension == "angle" for dimension in dimensions])
    away = known_poses - q[:, None]
    away = np.where(angle, away - TURN * np.round(away / TURN), away)
    lengths = np.array([machine.size if dimension == "length" else 1.0 for dimension in dimensions])
    return np.asarray(np.max(np.abs(away) / lengths, axis=2))


class _GridPointMap:
    """Map at known points, whose values are computed from coarse to fine."""

    def __init__(self, task: MapTask, samples: Samples, plane: Plane | None) -> None:
        self.task, self.plane = task, plane
        self.flat = samples.points if plane is None else plane.to_plane_coordinates(samples.points)
        cells = build_cells(self.flat, np.zeros(len(self.flat)), "largest")
        while len(cells.best) > PLACES:
            cells = build_cells(self.flat, np.zeros(len(self.flat)), "largest", 1.12 * cells.size)
        self.cells, self.places, self.q = cells, samples.points[cells.best], samples.q[cells.best]
        self.done: tuple[NDArray[np.intp], Array, Array | None] | None = None

    def build_map(self, q: Array, values: Array, cells: GridCells, points: Array, notes: list[str]) -> WorkspaceMap:
        """Build the map of some of the points."""
        task = self.task
        return WorkspaceMap(
            machine=task.machine.mech.name,
            frame=task.machine.frame,
            kind=task.name,
            title=ASKING[task.name],
            about=ABOUT[task.name].format(count=ORIENTATIONS),
            unit="",
            points=points,
            q=q,
            values=values,
            names=tuple(task.machine.mech.q_names),
            over=task.ranges.all_names,
            cells=cells,
            plane=self.plane,
            notes=(*notes, "Numeric inverse kinematics: the counts are lower bounds."),
        )

    def store_and_show(self, indices: NDArray[np.intp], values: Array, poses: Array | None) -> None:
        """Store the values of some points and show the map so far."""
        self.done = indices, values, poses
        watch, count = self.task.watch, len(self.places)
        watch.step(0.5 + 0.45 * len(indices) / count, "Inverse kinematics")
        if watch.shown is not None:
            watch.shown(
                replace(self.map_of_finished_points([f"{len(indices)} of {count} points so far"]), growing=True)
            )

    def map_of_finished_points(self, notes: list[str]) -> WorkspaceMap:
        """Build the coarser map of the points that are finished."""
        assert self.done is not None
        some, values, poses = self.done
        size = self.cells.size * (len(self.places) / len(some)) ** (1.0 / self.flat.shape[1])
        own = build_cells(self.flat[self.cells.best[some]], values[some], "largest", size)
        pose = (self.q if poses is None else poses)[some]
        cells = GridCells(own.origin, own.size, own.filled, np.arange(len(own.best)))
        found = self.build_map(pose[own.best], values[some][own.best], cells, self.places[some][own.best], notes)
        return replace(found, complete=False)

    def map_of_all_points(self, q: Array, values: Array, notes: list[str]) -> WorkspaceMap:
        """Build the map of all points."""
        cells = self.cells
        own = GridCells(cells.origin, cells.size, cells.filled, np.arange(len(q)))
        return self.build_map(q, values, own, self.places, notes)


def compute_inverse_kinematics_map(
    task: MapTask, samples: Samples, specification: MapSpecification, stopped: bool
) -> WorkspaceMap:
    """Compute a map that solves inverse kinematics at the points of a grid."""
    of = _GridPointMap(task, samples, plane_of_samples(task, samples, specification))
    try:
        if stopped:
            raise MapStopped
        task.watch.step(0.5, "Inverse kinematics")
        if task.name == "configurations":
            return of.map_of_all_points(
                of.q, _count_task_configurations(task, specification, samples, of.q, of.store_and_show), []
            )
        angular = specification._replace(part="rotation").jacobians(samples.q[:SETTING_OUT])
        first = task.machine.poses(samples.q[:1])[:, :3, :3]
        rotations = spread_orientations(angular, first, ORIENTATIONS, task.seed)
        values, q = reachable_orientation_shares(
            task.machine, of.places, rotations, samples.q, task.accepts, task.watch.process_pieces, of.store_and_show
        )
    except MapStopped:
        words = ["The map was stopped before inverse kinematics was finished."]
        if of.done is not None:
            return of.map_of_finished_points(words)
        return replace(of.map_of_all_points(of.q, np.full(len(of.q), np.nan), words), complete=False)
    size, d = of.cells.size, of.flat.shape[1]
    dexterous = float(np.count_nonzero(values >= 1.0)) * size**d
    unit = "m²" if of.plane is not None else "m³"
    return of.map_of_all_points(
        q,
        values,
        [f"Reached in all {len(rotations)} orientations tried: {dexterous:.3g} {unit} of cells of {size:.3g} m."],
    )


def _count_task_configurations(
    task: MapTask, specification: MapSpecification, samples: Samples, q: Array, report: Reported
) -> Array:
    """Count the configurations for each point, or for each pose if the orientation is prescribed."""
    machine = task.machine
    linear = specification._replace(part="translation").jacobians(samples.q[:SETTING_OUT])
    angular = specification._replace(part="rotation").jacobians(samples.q[:SETTING_OUT])
    size = machine.size
    whole = max(numerical_rank(np.concatenate([a, v / size])) for a, v in zip(angular, linear, strict=True))
    moves = max(numerical_rank(each) for each in linear)
    free = task.ranges.count
    if free not in (moves, whole):
        raise ModelError(
            f"{free} coordinates move '{machine.frame}' in {whole} dimensions: infinitely many poses reach each point.",
            where="workspace",
            remedy="Vary fewer coordinates (over), or choose orientations.",
        )
    poses = machine.poses(q)
    return count_configurations(
        machine, poses, samples.q, free == moves, task.accepts, task.watch.process_pieces, task.seed, report
    )
