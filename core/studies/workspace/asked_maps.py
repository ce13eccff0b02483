"""Maps that solve inverse kinematics at grid points: reachable orientations and number of configurations.

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

from core.analysis.manipulability import rank
from core.errors import ModelError
from core.studies.workspace.grown_samples import SETTING_OUT, plane_of_samples
from core.studies.workspace.joint_ranges import TURN, attitudes, spread
from core.studies.workspace.map_kinds import Wanted
from core.studies.workspace.map_task import ASKING, Samples, Stopped, Task
from core.studies.workspace.planar_area import Plane
from core.studies.workspace.pose_solver import Machine, Solved, Targets, in_pieces
from core.studies.workspace.space_cells import Cells, cells_of
from core.studies.workspace.workspace_map import WorkspaceMap

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


Share = Callable[..., list[Solved]]
Reported = Callable[[NDArray[np.intp], Array, "Array | None"], object]
"""Callback report(indices of finished points, values (n,) of all, poses (n, nq) or None)."""

NEIGHBOURS = 32
"""Number of samples near a point from which starts are chosen."""
SAME_POSE = 1e-4
"""Difference, rad or machine sizes, below which two poses are equal."""
FURTHER_STARTS = 24
"""Number of random samples from which configurations are sought in addition to the near ones."""

PLACES = 500
"""Largest number of points at which inverse kinematics is solved for orientations and configurations."""
ORIENTATIONS = 48
"""Number of orientations tried at each point."""
ABOUT = {
    "orientations": "share of {count} orientations in which the frame reaches the point",
    "configurations": "number of configurations that reach the point",
}


def orientation_set(jacobians: Array, rotations: Array, count: int, seed: int) -> Array:
    """Return (count, 3, 3) evenly spread orientations among those the frame can attain: rotations about one axis if all
    its angular velocities are parallel, otherwise all rotations.

    jacobians : (n, 3, k) of rotation at samples; rotations : (n, 3, 3) there
    """
    sigma_axes = np.linalg.svd(np.concatenate(list(jacobians), axis=1))
    sizes = sigma_axes[1]
    if sizes[0] < 1e-9:
        raise ModelError(
            "The frame keeps its orientation.", where="workspace", remedy="Choose another kind of map, such as reach."
        )
    if sizes[1] > 1e-9 * sizes[0]:
        return quaternion_matrices(attitudes(spread(0, count, 3, seed)))
    axis = sigma_axes[0][:, 0]
    angles = TURN * (np.arange(count) + 0.5) / count
    return _rotations_about(axis, angles) @ rotations[0]


def _rotations_about(axis: Array, angles: Array) -> Array:
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


def coarse_to_fine(places: Array) -> list[NDArray[np.intp]]:
    """Group indices of points (n, 3): an eighth, another eighth, a quarter, a half. Each point is the farthest from
    those before it, so that the groups so far cover the whole map."""
    n = len(places)
    away, order = np.full(n, np.inf), np.zeros(n, dtype=np.intp)
    last = int(np.argmin(np.sum((places - places.mean(axis=0)) ** 2, axis=1)))
    for k in range(n):
        order[k] = last
        away = np.minimum(away, np.sum((places - places[last]) ** 2, axis=1))
        last = int(np.argmax(away))
    return [each for each in np.split(order, [-(-n // 8), -(-n // 4), -(-n // 2)]) if len(each)]


def orientation_shares(
    machine: Machine,
    places: Array,
    rotations: Array,
    q: Array,
    accepts: Callable[[Array], Flags],
    share: Share | None,
    report: Reported,
) -> tuple[Array, Array]:
    """Compute (share (n,) of rotations (m, 3, 3) in which the frame reaches each point (n, 3), a pose (n, nq) for
    each).

    q : (s, nq) samples; report : is given what is known of the groups of `coarse_to_fine` so far
    """
    n, m = len(places), len(rotations)
    poses = machine.poses(q)
    tree = cKDTree(poses[:, :3, 3])
    near = tree.query(places, k=min(NEIGHBOURS, len(q)))[1].reshape(n, -1)
    likeness = np.einsum("nkij,mij->nkm", poses[near][..., :3, :3], rotations)
    order = np.argsort(-likeness, axis=1)
    place = np.repeat(np.arange(n), m)
    turn = np.tile(np.arange(m), n)
    met = np.zeros(n * m, dtype=bool)
    found = np.empty((n * m, q.shape[1]))

    def result() -> tuple[Array, Array]:
        own = met.reshape(n, m)
        first = np.argmax(own, axis=1)
        known = found.reshape(n, m, -1)[np.arange(n), first]
        return own.mean(axis=1), np.where(np.reshape(own.any(axis=1), (n, 1)), known, q[near[:, 0]])

    groups = coarse_to_fine(places)
    for number, group in enumerate(groups):
        for attempt in range(2):
            left = (group[:, None] * m + np.arange(m)).ravel()
            left = left[~met[left]]
            chosen = near[place[left], order[place[left], min(attempt, order.shape[1] - 1), turn[left]]]
            _solve_targets(
                machine, left, q[chosen], places[place[left]], rotations[turn[left]], (met, found), accepts, share
            )
        report(np.concatenate(groups[: number + 1]), *result())
    for _ in range(3):
        left, starts = _neighbouring_targets(places, met.reshape(n, m), found.reshape(n, m, -1))
        if not len(left):
            break
        _solve_targets(machine, left, starts, places[place[left]], rotations[turn[left]], (met, found), accepts, share)
    return result()


def _solve_targets(
    machine: Machine,
    which: NDArray[np.intp],
    starts: Array,
    places: Array,
    rotations: Array,
    known: tuple[Flags, Array],
    accepts: Callable[[Array], Flags],
    share: Share | None,
) -> None:
    """Solve some targets, and store those met."""
    if not len(which):
        return
    solved = in_pieces(machine, starts, Targets(place=places, rotation=rotations), share)
    good = solved.met & accepts(solved.q)
    known[0][which[good]] = True
    known[1][which[good]] = solved.q[good]


def _neighbouring_targets(places: Array, met: Flags, found: Array) -> tuple[NDArray[np.intp], Array]:
    """Return unsolved targets next to a point where the same orientation was met, with the pose found there."""
    m = met.shape[1]
    left, starts = [], []
    for k in range(m):
        known, open_ = np.flatnonzero(met[:, k]), np.flatnonzero(~met[:, k])
        if not len(known) or not len(open_):
            continue
        distance, nearest = cKDTree(places[known]).query(places[open_])
        close = distance < 2.5 * _spacing(places)
        left.append(open_[close] * m + k)
        starts.append(found[known[nearest[close]], k])
    if not left:
        return np.zeros(0, dtype=np.intp), np.zeros((0, found.shape[2]))
    return np.concatenate(left), np.concatenate(starts)


def _spacing(places: Array) -> float:
    """Return the mean distance of points to their nearest neighbours, m."""
    if len(places) < 2:
        return 1.0
    return float(np.mean(cKDTree(places).query(places, k=2)[0][:, 1]))


def configuration_counts(
    machine: Machine,
    poses: Array,
    q: Array,
    of_place: bool,
    accepts: Callable[[Array], Flags],
    share: Share | None,
    seed: int,
    report: Reported,
) -> Array:
    """Count the configurations (n,) of the machine for each pose (n, 4, 4), or only its position; q : (s, nq) samples;
    report : called with the indices of the finished groups of `coarse_to_fine`."""
    n = len(poses)
    places = np.ascontiguousarray(poses[:, :3, 3])
    every = Targets(place=places) if of_place else Targets(place=places, rotation=poses[:, :3, :3])
    near = cKDTree(machine.places(q)).query(places, k=min(NEIGHBOURS, len(q)))[1].reshape(n, -1)
    anywhere = np.random.default_rng(seed).integers(len(q), size=(n, FURTHER_STARTS))
    starts = np.concatenate([near, anywhere], axis=1)
    known = np.full((n, starts.shape[1], q.shape[1]), np.nan)
    count = np.zeros(n, dtype=np.intp)
    groups = coarse_to_fine(places)
    for number, group in enumerate(groups):
        tries = starts.shape[1]
        solved = in_pieces(machine, q[starts[group].T.ravel()], every.some(np.tile(group, tries)), share)
        met = (solved.met & accepts(solved.q)).reshape(tries, -1)
        for poses_of_try, good in zip(solved.q.reshape(tries, len(group), -1), met, strict=True):
            with np.errstate(invalid="ignore"):
                away = _distances(machine, known[group], poses_of_try)
                new = good & ~(away < SAME_POSE).any(axis=1)
            own = group[new]
            known[own, count[own]] = poses_of_try[new]
            count[own] += 1
        report(np.concatenate(groups[: number + 1]), count.astype(float), None)
    return count.astype(float)


def _distances(machine: Machine, known: Array, q: Array) -> Array:
    """Return (n, k) largest differences of coordinates, angles modulo full turns; NaN for missing poses."""
    dimensions = [coordinate.dimension for coordinate in machine.mech.coordinates]
    angle = np.array([dimension == "angle" for dimension in dimensions])
    away = known - q[:, None]
    away = np.where(angle, away - TURN * np.round(away / TURN), away)
    lengths = np.array([machine.size if dimension == "length" else 1.0 for dimension in dimensions])
    return np.asarray(np.max(np.abs(away) / lengths, axis=2))


class _GridPointMap:
    """Map with known points, whose values are computed from coarse to fine."""

    def __init__(self, task: Task, found: Samples, plane: Plane | None) -> None:
        self.task, self.plane = task, plane
        self.flat = found.points if plane is None else plane.down(found.points)
        cells = cells_of(self.flat, np.zeros(len(self.flat)), "largest")
        while len(cells.best) > PLACES:
            cells = cells_of(self.flat, np.zeros(len(self.flat)), "largest", 1.12 * cells.size)
        self.cells, self.places, self.q = cells, found.points[cells.best], found.q[cells.best]
        self.done: tuple[NDArray[np.intp], Array, Array | None] | None = None

    def made(self, q: Array, values: Array, cells: Cells, places: Array, words: list[str]) -> WorkspaceMap:
        """Build the map of some points."""
        task = self.task
        return WorkspaceMap(
            machine=task.machine.mech.name,
            frame=task.machine.frame,
            kind=task.name,
            title=ASKING[task.name],
            about=ABOUT[task.name].format(count=ORIENTATIONS),
            unit="",
            points=places,
            q=q,
            values=values,
            names=tuple(task.machine.mech.q_names),
            over=task.ranges.all_names,
            cells=cells,
            plane=self.plane,
            notes=(*words, "Numeric inverse kinematics: the counts are lower bounds."),
        )

    def report(self, some: NDArray[np.intp], values: Array, poses: Array | None) -> None:
        """Store the values of some points, and show the map so far."""
        self.done = some, values, poses
        watch, count = self.task.watch, len(self.places)
        watch.step(0.5 + 0.45 * len(some) / count, "Inverse kinematics")
        if watch.shown is not None:
            watch.shown(replace(self.so_far([f"{len(some)} of {count} points so far"]), growing=True))

    def so_far(self, words: list[str]) -> WorkspaceMap:
        """Build the coarser map of the finished points."""
        assert self.done is not None
        some, values, poses = self.done
        size = self.cells.size * (len(self.places) / len(some)) ** (1.0 / self.flat.shape[1])
        own = cells_of(self.flat[self.cells.best[some]], values[some], "largest", size)
        pose = (self.q if poses is None else poses)[some]
        cells = Cells(own.origin, own.size, own.filled, np.arange(len(own.best)))
        found = self.made(pose[own.best], values[some][own.best], cells, self.places[some][own.best], words)
        return replace(found, complete=False)

    def whole(self, q: Array, values: Array, words: list[str]) -> WorkspaceMap:
        """Build the map of all points."""
        cells = self.cells
        own = Cells(cells.origin, cells.size, cells.filled, np.arange(len(q)))
        return self.made(q, values, own, self.places, words)


def asked(task: Task, found: Samples, wanted: Wanted, stopped: bool) -> WorkspaceMap:
    """Compute a map that solves inverse kinematics at grid points."""
    of = _GridPointMap(task, found, plane_of_samples(task, found, wanted))
    try:
        if stopped:
            raise Stopped
        task.watch.step(0.5, "Inverse kinematics")
        if task.name == "configurations":
            return of.whole(of.q, _configurations(task, wanted, found, of.q, of.report), [])
        angular = wanted._replace(part="rotation").jacobians(found.q[:SETTING_OUT])
        first = task.machine.poses(found.q[:1])[:, :3, :3]
        rotations = orientation_set(angular, first, ORIENTATIONS, task.seed)
        values, q = orientation_shares(
            task.machine, of.places, rotations, found.q, task.accepts, task.watch.share, of.report
        )
    except Stopped:
        words = ["The map was stopped before inverse kinematics was finished."]
        if of.done is not None:
            return of.so_far(words)
        return replace(of.whole(of.q, np.full(len(of.q), np.nan), words), complete=False)
    size, d = of.cells.size, of.flat.shape[1]
    dexterous = float(np.count_nonzero(values >= 1.0)) * size**d
    unit = "m²" if of.plane is not None else "m³"
    return of.whole(q, values, [f"In all orientations: {dexterous:.3g} {unit} of cells of {size:.3g} m."])


def _configurations(task: Task, wanted: Wanted, found: Samples, q: Array, report: Reported) -> Array:
    """Count the configurations for each point, or for each pose if orientation counts."""
    machine = task.machine
    linear = wanted._replace(part="translation").jacobians(found.q[:SETTING_OUT])
    angular = wanted._replace(part="rotation").jacobians(found.q[:SETTING_OUT])
    size = machine.size
    whole = max(rank(np.concatenate([a, v / size])) for a, v in zip(angular, linear, strict=True))
    moves = max(rank(each) for each in linear)
    free = task.ranges.count
    if free not in (moves, whole):
        raise ModelError(
            f"{free} coordinates move '{machine.frame}' in {whole} dimensions: infinitely many poses reach each point.",
            where="workspace",
            remedy="Vary fewer coordinates (over), or choose orientations.",
        )
    poses = machine.poses(q)
    return configuration_counts(
        machine, poses, found.q, free == moves, task.accepts, task.watch.share, task.seed, report
    )
