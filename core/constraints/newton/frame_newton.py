"""Search for poses in which a frame meets a target, in machine code (`core.constraints.newton.reaching`)."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from core.constraints.newton.functions import MachineFunction
from core.constraints.newton.machine_coordinates import build_manifold
from core.constraints.newton.position_newton import PositionNewton
from core.constraints.newton.reaching import ReachingProblem, reach_target_entry
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]


class ReachedPose(NamedTuple):
    """Pose that a search has found."""

    q: Array
    """(nq,)"""
    residual: float
    """Norm of the weighted error."""
    position_error: float
    orientation_error: float
    """m, rad"""
    steps: int


class FrameNewton:
    """Search of one frame, for one thread at a time; see `borrow_frame_newton`."""

    def __init__(self, compiled: CompiledModel, frame: str) -> None:
        nq, nv, rows = compiled.nq, compiled.nv, len(compiled.rows)
        self._closing = PositionNewton(compiled, np.flatnonzero(compiled.levels == 0)) if rows else None
        self._function = MachineFunction(compiled, f"pose_and_jacobian:{frame}")
        if self._closing is None:
            self._manifold = build_manifold(compiled.coordinates)
            self._manifold.lower[:], self._manifold.upper[:] = compiled.coordinates.lower, compiled.coordinates.upper
        else:
            self._manifold = self._closing.manifold
        self._problem = ReachingProblem(
            manifold=self._manifold.place,
            closing=0 if self._closing is None else self._closing.problem.place,
            frame=0,
            position=np.zeros(3),
            rotation=np.eye(3).ravel(),
            point=np.zeros(3),
            q=np.zeros(nq),
            trial=np.zeros(nq),
            error=np.zeros(6),
            error_trial=np.zeros(6),
            J=np.zeros(6 * nv),
            descent=np.zeros(nv),
            step=np.zeros(nv),
            free=np.zeros(nv, dtype=np.int64),
            basis=np.zeros(min(rows, nv) * nv),
            rest=np.zeros(rows * nv),
            taken=np.zeros(rows, dtype=np.int64),
        )

    def prepare(
        self,
        p: Array,
        clock: Array,
        position: Array,
        rotation: Array | None,
        point: Array,
        weight: float | None,
        settle: float,
    ) -> None:
        """Set what holds for the next searches: parameters (n_p,), the time argument (nt,), position (3,) and rotation
        (3, 3) of the target, the point (3,) of the frame, the length that counts like one radian (None: by mobility),
        and the relative decrease below which a step does not count as progress."""
        problem = self._problem
        if self._closing is not None:
            self._closing.prepare(p, clock, bounded=True)
        self._function.refresh()
        self._function.set_arguments(p, clock)
        problem.frame = self._function.record.place
        problem.position[:], problem.point[:] = position, point
        problem.oriented = int(rotation is not None)
        if rotation is not None:
            problem.rotation[:] = rotation.ravel()
        problem.weight, problem.settle = weight or 0.0, settle

    def reach(self, q: Array, iterations: int) -> ReachedPose:
        """Find the pose near q (nq,) in which the frame is as near to its target as can be."""
        problem = self._problem
        problem.q[:], problem.iterations = q, iterations
        steps = reach_target_entry(problem.place)
        residual = math.sqrt(problem.error @ problem.error)
        turned = problem.orientation_error if problem.oriented else 0.0
        return ReachedPose(problem.q.copy(), residual, problem.position_error, turned, steps)


_free: WeakKeyDictionary[CompiledModel, dict[str, list[FrameNewton]]] = WeakKeyDictionary()


@contextlib.contextmanager
def borrow_frame_newton(compiled: CompiledModel, frame: str) -> Iterator[FrameNewton]:
    """Context of a frame's search that no other thread uses meanwhile."""
    free = _free.setdefault(compiled, {}).setdefault(frame, [])
    try:
        newton = free.pop()
    except IndexError:
        newton = FrameNewton(compiled, frame)
    yield newton
    free.append(newton)  # not after an exception: its memory may be in use
