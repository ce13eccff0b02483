"""Search for arrays of poses that attain targets, in machine code (`core.constraints.newton.attaining`)."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from core.constraints.newton.attaining import TOLERANCE, AttainingProblem, attain_targets
from core.constraints.newton.functions import MachineFunction
from core.constraints.newton.machine_coordinates import build_manifold
from core.machine_code.records import array_address
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]

FIRST_PIECE, LONGEST_PIECE = 32, 0.05
"""Number of poses before the first look at whether the work is to end; seconds between two such looks."""


class AskedPoses(NamedTuple):
    """Targets of n poses, see `core.studies.workspace.pose_solver.PoseTargets`."""

    place: Array | None
    rotation: Array | None
    plane: tuple[Array, float] | None
    coordinates: tuple[Places, Places, Array] | None


class PoseUnits(NamedTuple):
    """Units of a search: rows of constraints that are to be zero and their units, units of speeds, size of the machine,
    m; free: (nv,) speeds that may take part."""

    kept: Places
    row_units: Array
    speed_units: Array
    size: float
    free: Flags | None


class PoseNewton:
    """Search for poses of one frame, for one thread at a time; see `borrow_pose_newton`."""

    def __init__(self, compiled: CompiledModel, frame: str, kept: int, coordinates: int) -> None:
        nq, nv, rows = compiled.nq, compiled.nv, kept + 7 + coordinates
        self._frame = MachineFunction(compiled, f"pose_and_jacobian:{frame}")
        self._rows = {}
        if kept:
            names = {"residual": "constraint_residual", "jacobian": "constraint_jacobian"}
            self._rows = {field: MachineFunction(compiled, name) for field, name in names.items()}
        self._manifold = build_manifold(compiled.coordinates)
        self._compiled, least = compiled, min(rows, nv)
        self._problem = AttainingProblem(
            manifold=self._manifold.place,
            rows=len(compiled.rows),
            kept=np.zeros(kept, dtype=np.int64),
            row_units=np.ones(kept),
            speed_units=np.ones(nv),
            scales=np.ones(kept * nv),
            moving=np.ones(nv, dtype=np.int64),
            sequence=_elimination_sequence(compiled),
            plane=np.zeros(4),
            at_q=np.zeros(coordinates, dtype=np.int64),
            at_v=np.zeros(coordinates, dtype=np.int64),
            q=np.zeros(nq),
            trial=np.zeros(nq),
            r=np.zeros(rows),
            r_trial=np.zeros(rows),
            J=np.zeros(rows * nv),
            descent=np.zeros(nv),
            step=np.zeros(nv),
            free=np.zeros(nv, dtype=np.int64),
            entries=np.zeros(nv, dtype=np.int64),
            gram=np.zeros(least * least),
            right=np.zeros(least),
        )

    def prepare(self, p: Array, bounds: tuple[Array, Array], units: PoseUnits, targets: AskedPoses) -> None:
        """Set what holds for the next search: parameters (n_p,), bounds of q, units, targets."""
        problem = self._problem
        self._manifold.lower[:], self._manifold.upper[:] = bounds
        problem.kept[:], problem.row_units[:], problem.speed_units[:] = units.kept, units.row_units, units.speed_units
        problem.scales[:] = (units.speed_units / units.row_units[:, None]).ravel()
        problem.moving[:], problem.length = True if units.free is None else units.free, units.size
        asks_frame = not (targets.place is None and targets.rotation is None and targets.plane is None)
        functions = {**self._rows, **({"frame": self._frame} if asks_frame else {})}
        problem.frame = 0
        for field, function in functions.items():
            function.refresh()
            function.set_arguments(p, self._compiled.time_argument(0.0, p))
            setattr(problem, field, function.record.place)
        problem.has_plane = int(targets.plane is not None)
        if targets.plane is not None:
            problem.plane[:3], problem.plane[3] = targets.plane
        if targets.coordinates is not None:
            problem.at_q[:], problem.at_v[:] = targets.coordinates[:2]
        self._targets = [
            np.zeros((0, 1)) if part is None else np.ascontiguousarray(part, dtype=float).reshape(len(part), -1)
            for part in (
                targets.place,
                targets.rotation,
                None if targets.coordinates is None else targets.coordinates[2],
            )
        ]

    def attain(self, q: Array, iterations: int, settle: float, look: Callable[[], object]) -> tuple[Array, Flags]:
        """Find poses near q (n, nq) that meet the targets; returns them and a mask (n,) of those that do. `look()` is
        called in between, and may raise."""
        q, square = np.array(q, dtype=float, order="C"), np.empty(len(q))
        problem = self._problem
        problem.iterations, problem.settle = iterations, settle
        done, number = 0, FIRST_PIECE
        while done < len(q):
            look()
            began = time.monotonic()
            piece = slice(done, done + number)
            parts = [array_address(part[piece]) for part in self._targets]
            problem.places, problem.rotations, problem.values = parts
            count = len(square[piece])
            attain_targets(problem.place, array_address(q[piece]), array_address(square[piece]), count)
            done += count
            spent = time.monotonic() - began
            number = max(1, min(4 * number, int(number * LONGEST_PIECE / max(spent, 1e-9))))
        return q, np.asarray(square <= TOLERANCE**2)


def _elimination_sequence(compiled: CompiledModel) -> NDArray[np.int64]:
    """Return the speeds (nv,), those with few constraint rows first, so that few zeros are filled."""
    if not compiled.rows:
        return np.arange(compiled.nv, dtype=np.int64)
    columns = compiled.program.symbolic.row_expressions.pattern.columns
    return np.argsort(np.bincount(columns, minlength=compiled.nv), kind="stable").astype(np.int64)


_free: WeakKeyDictionary[CompiledModel, dict[tuple[str, int, int], list[PoseNewton]]] = WeakKeyDictionary()


@contextlib.contextmanager
def borrow_pose_newton(compiled: CompiledModel, frame: str, kept: int, coordinates: int) -> Iterator[PoseNewton]:
    """Context of a search of a frame's poses that no other thread uses meanwhile. kept, coordinates : numbers of
    constraint rows and of coordinates with values"""
    free = _free.setdefault(compiled, {}).setdefault((frame, kept, coordinates), [])
    try:
        newton = free.pop()
    except IndexError:
        newton = PoseNewton(compiled, frame, kept, coordinates)
    yield newton
    free.append(newton)  # not after an exception: its memory may be in use
