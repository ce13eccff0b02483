"""Motion of a map's frame, determined from samples: its dimension and its plane."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.analysis.manipulability import rank
from core.errors import ModelError
from core.studies.workspace.map_kinds import Wanted
from core.studies.workspace.map_task import Samples, Task
from core.studies.workspace.planar_area import Plane, plane_of

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

SETTING_OUT = 32
"""Number of samples used to determine the dimension of the motion."""


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
