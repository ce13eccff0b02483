"""Maps that ask inverse kinematics at places of cells: orientations and configurations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from core.analysis.manipulability import rank
from core.errors import ModelError
from core.workspace import orientation_maps
from core.workspace.map_kinds import Wanted
from core.workspace.map_task import ASKING, Samples, Stopped, Task, Watch
from core.workspace.motion_of_frame import SETTING_OUT, plane_of_samples
from core.workspace.pose_solver import Solved
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
    watch_now = Watch(None, None, watch.workers) if stopped else watch
    places = found.points[cells.best]
    if not stopped:
        watch.step(0.5, "Inverse kinematics")
    q, count = found.q[cells.best], ORIENTATIONS
    try:
        if task.name == "orientations":
            angular = wanted._replace(part="rotation").jacobians(found.q[:SETTING_OUT])
            rotations = orientation_maps.orientation_set(
                angular, machine.poses(found.q[:1])[:, :3, :3], count, task.seed
            )
            values, q = orientation_maps.orientation_shares(
                machine, places, rotations, found.q, task.accepts, watch_now.share
            )
        else:
            values = _configurations(task, wanted, found, q, watch_now.share)
    except Stopped:
        stopped, values = True, np.full(len(q), np.nan)
    own = Cells(cells.origin, cells.size, cells.filled, np.arange(len(q)))
    notes = ["Numeric inverse kinematics: the numbers are at least these."]
    if task.name == "orientations" and not stopped:
        dexterous = float(np.count_nonzero(values >= 1.0)) * cells.size ** flat.shape[1]
        unit = "m²" if plane is not None else "m³"
        notes.insert(0, f"In all orientations: {dexterous:.3g} {unit} of cells of {cells.size:.3g} m.")
    if stopped:
        notes.append("It was stopped before inverse kinematics was done.")
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
        cells=own,
        plane=plane,
        complete=not stopped,
        notes=tuple(notes),
    )


def _configurations(task: Task, wanted: Wanted, found: Samples, q: Array, share: Callable[..., list[Solved]]) -> Array:
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
    return orientation_maps.configuration_counts(machine, poses, found.q, free == moves, task.accepts, share, task.seed)
