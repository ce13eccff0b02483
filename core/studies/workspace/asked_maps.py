"""Maps that solve inverse kinematics at grid points: reachable orientations and number of configurations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.analysis.manipulability import rank
from core.errors import ModelError
from core.studies.workspace import orientation_maps
from core.studies.workspace.map_kinds import Wanted
from core.studies.workspace.map_task import ASKING, Samples, Stopped, Task
from core.studies.workspace.motion_of_frame import SETTING_OUT, plane_of_samples
from core.studies.workspace.planar_area import Plane
from core.studies.workspace.space_cells import Cells, cells_of
from core.studies.workspace.workspace_map import WorkspaceMap

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

PLACES = 500
"""Largest number of points at which inverse kinematics is solved for orientations and configurations."""
ORIENTATIONS = 48
"""Number of orientations tried at each point."""
ABOUT = {
    "orientations": "share of {count} orientations in which the frame reaches the point",
    "configurations": "number of configurations that reach the point",
}


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
        rotations = orientation_maps.orientation_set(angular, first, ORIENTATIONS, task.seed)
        values, q = orientation_maps.orientation_shares(
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


def _configurations(task: Task, wanted: Wanted, found: Samples, q: Array, report: orientation_maps.Reported) -> Array:
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
    return orientation_maps.configuration_counts(
        machine, poses, found.q, free == moves, task.accepts, task.watch.share, task.seed, report
    )
