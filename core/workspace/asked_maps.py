"""Maps that ask inverse kinematics at places of cells: orientations and configurations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.analysis.manipulability import rank
from core.errors import ModelError
from core.workspace import orientation_maps
from core.workspace.map_kinds import Wanted
from core.workspace.map_task import ASKING, Samples, Stopped, Task
from core.workspace.motion_of_frame import SETTING_OUT, plane_of_samples
from core.workspace.space_cells import Cells, cells_of
from core.workspace.workspace_map import WorkspaceMap

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

PLACES = 500
"""Places at most at which inverse kinematics is asked for orientations and configurations."""
ORIENTATIONS = 48
"""Orientations that are tried at each."""
ABOUT = {
    "orientations": "share of {count} orientations in which the frame gets there",
    "configurations": "number of poses that bring the frame there",
}


def asked(task: Task, found: Samples, wanted: Wanted, stopped: bool) -> WorkspaceMap:
    """Maps that ask inverse kinematics at places of cells."""
    machine, watch = task.machine, task.watch
    plane = plane_of_samples(task, found, wanted)
    flat = found.points if plane is None else plane.down(found.points)
    cells = cells_of(flat, np.zeros(len(flat)), "largest")
    while len(cells.best) > PLACES:
        cells = cells_of(flat, np.zeros(len(flat)), "largest", 1.12 * cells.size)
    places = found.points[cells.best]
    q, values, count = found.q[cells.best], np.full(len(cells.best), np.nan), ORIENTATIONS
    notes = ["Numeric inverse kinematics: the numbers are at least these."]

    def made(q: Array, values: Array, cells: Cells, places: Array, words: list[str]) -> WorkspaceMap:
        return WorkspaceMap(
            machine=machine.mech.name,
            frame=machine.frame,
            kind=task.name,
            title=ASKING[task.name],
            about=ABOUT[task.name].format(count=count),
            unit="",
            points=places,
            q=q,
            values=values,
            names=tuple(machine.mech.q_names),
            over=task.ranges.all_names,
            cells=cells,
            plane=plane,
            notes=(*words, *notes),
        )

    done: tuple[NDArray[np.intp], Array, Array | None] | None = None

    def told(some: NDArray[np.intp], known: Array, poses: Array | None) -> None:
        nonlocal done
        done = some, known, poses
        watch.step(0.5 + 0.45 * len(some) / len(places), "Inverse kinematics")
        if watch.shown is not None:
            watch.shown(replace(so_far([f"{len(some)} of {len(places)} places so far"]), growing=True))

    def so_far(words: list[str]) -> WorkspaceMap:
        assert done is not None
        some, known, poses = done
        size = cells.size * (len(places) / len(some)) ** (1.0 / flat.shape[1])
        own = cells_of(flat[cells.best[some]], known[some], "largest", size)
        pose = (q if poses is None else poses)[some]
        coarse = Cells(own.origin, own.size, own.filled, np.arange(len(own.best)))
        map_ = made(pose[own.best], known[some][own.best], coarse, places[some][own.best], words)
        return replace(map_, complete=False)

    try:
        if stopped:
            raise Stopped
        watch.step(0.5, "Inverse kinematics")
        if task.name == "orientations":
            angular = wanted._replace(part="rotation").jacobians(found.q[:SETTING_OUT])
            rotations = orientation_maps.orientation_set(
                angular, machine.poses(found.q[:1])[:, :3, :3], count, task.seed
            )
            values, q = orientation_maps.orientation_shares(
                machine, places, rotations, found.q, task.accepts, watch.share, told
            )
        else:
            values = _configurations(task, wanted, found, q, told)
    except Stopped:
        words = "It was stopped before inverse kinematics was done."
        if done is not None:
            return so_far([words])
        notes.append(words)
        stopped = True
    if task.name == "orientations" and not stopped:
        dexterous = float(np.count_nonzero(values >= 1.0)) * cells.size ** flat.shape[1]
        unit = "m²" if plane is not None else "m³"
        notes.insert(0, f"In all orientations: {dexterous:.3g} {unit} of cells of {cells.size:.3g} m.")
    own = Cells(cells.origin, cells.size, cells.filled, np.arange(len(q)))
    return replace(made(q, values, own, places, []), complete=not stopped)


def _configurations(task: Task, wanted: Wanted, found: Samples, q: Array, told: orientation_maps.Told) -> Array:
    """Number of poses for each place, or for each pose where orientation counts."""
    machine = task.machine
    linear = wanted._replace(part="translation").jacobians(found.q[:SETTING_OUT])
    angular = wanted._replace(part="rotation").jacobians(found.q[:SETTING_OUT])
    size = machine.size
    whole = max(rank(np.concatenate([a, v / size])) for a, v in zip(angular, linear, strict=True))
    moves = max(rank(each) for each in linear)
    free = task.ranges.count
    if free not in (moves, whole):
        raise ModelError(
            f"{free} coordinates move '{machine.frame}' in {whole} dimensions: infinitely many poses reach each place.",
            where="workspace",
            remedy="Let fewer coordinates run (over), or choose orientations.",
        )
    poses = machine.poses(q)
    return orientation_maps.configuration_counts(
        machine, poses, found.q, free == moves, task.accepts, task.watch.share, task.seed, told
    )
