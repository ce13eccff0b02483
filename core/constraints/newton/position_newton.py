"""Position solver of a machine in machine code (`loop_closing`), for single positions and arrays."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from core.constraints.cut_coordinates import CutLimit, cut_limits
from core.constraints.newton.functions import MachineFunction
from core.constraints.newton.loop_closing import ClosingProblem, close_positions
from core.constraints.newton.machine_coordinates import build_manifold
from core.constraints.newton.shortest_steps import step_memory
from core.machine_code.records import array_address
from core.mechanics.multibody.parameter_values import Values
from core.numerics.tolerances import ACCEPTED_GAP
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Places = NDArray[np.int64]

FIRST_PIECE, LONGEST_PIECE = 8, 0.05
"""Number of positions before the first look at whether the work is to end; seconds between two such looks."""


class ClosedPositions(NamedTuple):
    """Positions that a search has found."""

    q: Array
    """(n, nq)"""
    gap: Array
    """(n,) largest remaining residuals."""
    reverse: Places
    """(n,) index among `reversible_cuts` of the first joint whose axis is reversed; −1: none, or not closed."""

    @property
    def valid(self) -> Flags:
        """(n,) True for closed positions without reversed axes."""
        return np.asarray((self.gap < ACCEPTED_GAP) & (self.reverse < 0))


class PositionNewton:
    """Search for closed positions with chosen constraint rows, for one thread at a time; see `borrow_newton`."""

    def __init__(self, compiled: CompiledModel, kept: Places) -> None:
        self._compiled = compiled
        self._lower, self._upper = compiled.coordinates.lower, compiled.coordinates.upper
        limits = cut_limits(compiled)
        self.manifold = build_manifold(compiled.coordinates)
        self._memory = step_memory(len(kept) + len(limits), compiled.nv)
        first, number = _direction_rows(compiled, kept)
        names = {"residual": "constraint_residual", "jacobian": "constraint_jacobian"}
        if number.any():
            names["facing"] = "cut_facing"
        if limits:
            names |= {"cut_values": "cut_values", "cut_entries": "cut_entries"}
        self._functions = {field: MachineFunction(compiled, name) for field, name in names.items()}
        self.problem = _build_problem(compiled, kept, limits, (first, number), self.manifold.place, self._memory.place)

    @property
    def is_compiled(self) -> bool:
        """Return True if machine code of all functions is ready."""
        return all(function.is_compiled for function in self._functions.values())

    def prepare(
        self,
        p: Array,
        clock: Array,
        weights: Array | float = 1.0,
        fixed: Flags | bool = False,
        *,
        bounded: bool,
        oriented: bool = False,
    ) -> None:
        """Set what holds for the next positions: parameters (n_p,), the time argument (nt,), weights and fixed speeds
        (nv,), whether limits of the tree's joints hold, whether residuals of reversed axes do not vanish."""
        problem = self.problem
        for field, function in self._functions.items():
            function.refresh()
            function.set_arguments(p, clock)
            setattr(problem, field, function.record.place)
        problem.weights[:], problem.fixed[:] = weights, fixed
        problem.oriented, problem.shifted, problem.limited = int(oriented), 0, 0
        self.manifold.lower[:] = self._lower if bounded else -np.inf
        self.manifold.upper[:] = self._upper if bounded else np.inf

    def keep_limits(self, limits: Sequence[CutLimit] | None) -> None:
        """Add the limits of loop-closing joints to what is to be satisfied (all limited coordinates, in their order);
        None: do not."""
        problem = self.problem
        problem.limited = int(bool(limits))
        for k, limit in enumerate(limits or ()):
            problem.lowest[k], problem.highest[k], problem.base[k] = limit.lower, limit.upper, limit.base

    def leave(self, left: Array | None) -> None:
        """Let residuals (rows,) remain; None: none."""
        problem = self.problem
        problem.shifted = int(left is not None)
        if left is not None:
            problem.left[: len(left)] = left

    def close(self, starts: Array) -> ClosedPositions:
        """Find the closed positions nearest to starts (n, nq)."""
        q = np.array(starts, dtype=float, ndmin=2, order="C")
        gap, reverse = np.empty(len(q)), np.empty(len(q))
        if len(q):
            addresses = (array_address(each) for each in (q, gap, reverse))
            close_positions(self.problem.place, *addresses, len(q))
        return ClosedPositions(q, gap, reverse.astype(np.int64))

    def close_in_pieces(self, starts: Array, step: Callable[[], None]) -> ClosedPositions:
        """Find the closed positions nearest to starts (n, nq); `step()` is called in between, and may raise."""
        found = [self.close(starts[:0])]
        done, number = 0, FIRST_PIECE
        while done < len(starts):
            step()
            began = time.monotonic()
            found.append(self.close(starts[done : done + number]))
            done += number
            spent = time.monotonic() - began
            number = max(1, min(2 * number, int(number * LONGEST_PIECE / max(spent, 1e-9))))
        return ClosedPositions(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


class NewtonSearch(NamedTuple):
    """Search of chosen constraint rows, as a position problem calls it."""

    compiled: CompiledModel
    kept: Places
    p: Values
    t: float
    bounded: bool
    oriented: bool = False
    limits: Sequence[CutLimit] | None = None
    left: Array | None = None

    def __call__(self, q: Array, weights: Array, fixed: Flags) -> tuple[Array, float]:
        """Find the closed position nearest to q (nq,), and the largest remaining residual."""
        values = self.compiled.parameter_values(self.p)
        clock = self.compiled.time_argument(self.t, values)
        with borrow_newton(self.compiled, self.kept) as newton:
            newton.prepare(values, clock, weights, fixed, bounded=self.bounded, oriented=self.oriented)
            newton.keep_limits(self.limits)
            newton.leave(self.left)
            found = newton.close(q)
        return found.q[0], float(found.gap[0])

    def leaving(self, remaining_residual: Array) -> NewtonSearch:
        """Return the search for positions at which this residual (rows,) remains."""
        return self._replace(left=remaining_residual)

    def with_axis_orientation(self) -> NewtonSearch:
        """Return the search with residuals that do not vanish for reversed joint axes."""
        return self._replace(oriented=True)

    def with_limits(self, limits: Sequence[CutLimit]) -> NewtonSearch | None:
        """Return the search that keeps these limits of loop-closing joints; None if they are not those of all."""
        own = [(limit.joint, limit.k) for limit in cut_limits(self.compiled)]
        return self._replace(limits=limits) if [(limit.joint, limit.k) for limit in limits] == own else None


def _build_problem(
    compiled: CompiledModel,
    kept: Places,
    limits: Sequence[CutLimit],
    directions: tuple[Places, Places],
    manifold: int,
    memory: int,
) -> ClosingProblem:
    nq, nv, rows = compiled.nq, compiled.nv, len(kept) + len(limits)
    lowest, highest, base = (
        np.array([getattr(limit, name) for limit in limits], dtype=float) for name in ("lower", "upper", "base")
    )
    at, first, number, columns = _limited_coordinates(compiled, limits)
    return ClosingProblem(
        manifold=manifold,
        memory=memory,
        residual=0,
        jacobian=0,
        facing=0,
        cut_values=0,
        cut_entries=0,
        rows=len(compiled.rows),
        kept=kept,
        left=np.zeros(rows),
        cuts=len(compiled.program.symbolic.cut_coordinates) if limits else 0,
        cut_entry_count=len(columns),
        at_cut=at,
        first_entry=first,
        entry_number=number,
        turning=np.array([limit.turns for limit in limits], dtype=np.int64),
        lowest=lowest,
        highest=highest,
        base=base,
        limit_lowest=lowest.copy(),
        limit_highest=highest.copy(),
        limit_base=base.copy(),
        limit_values=np.zeros(len(limits)),
        entry_columns=columns,
        first=directions[0],
        number=directions[1],
        fixed=np.zeros(nv, dtype=np.int64),
        weights=np.ones(nv),
        q=np.zeros(nq),
        trial=np.zeros(nq),
        begin=np.zeros(nq),
        r=np.zeros(rows),
        r_trial=np.zeros(rows),
        G=np.zeros(rows * nv),
        step=np.zeros(nv),
        low=np.zeros(nv),
        high=np.zeros(nv),
        free=np.zeros(nv, dtype=np.int64),
        columns=np.zeros(nv, dtype=np.int64),
    )


def _limited_coordinates(compiled: CompiledModel, limits: Sequence[CutLimit]) -> tuple[Places, Places, Places, Places]:
    """Return (index, first entry, number of entries) of limited coordinates of loop-closing joints, and the columns of
    all entries."""
    none = np.zeros(0, dtype=np.int64)
    if not limits:
        return none, none, none, none
    symbolic: Any = compiled.program.symbolic
    pattern = symbolic.cut_expressions.pattern
    index = {(each.owner, each.k): i for i, each in enumerate(symbolic.cut_coordinates)}
    at = np.array([index[limit.joint, limit.k] for limit in limits], dtype=np.int64)
    rows = np.asarray(pattern.rows)
    first = np.searchsorted(rows, at).astype(np.int64)
    return at, first, np.searchsorted(rows, at, "right") - first, np.asarray(pattern.columns, dtype=np.int64)


def _direction_rows(compiled: CompiledModel, kept: Places) -> tuple[Places, Places]:
    """Return (first, number) of the direction rows of each reversible cut joint among the kept rows."""
    places = {int(row): k for k, row in enumerate(kept)}
    begins = {row.element: k for k, row in reversed([*enumerate(compiled.rows)]) if row.collection == "joints"}
    laws = {joint.name: joint.info for joint in compiled.cuts}
    first: list[int] = []
    number: list[int] = []
    for name in compiled.program.symbolic.reversible_cuts:
        rows = laws[name].direction_rows
        assert rows is not None
        start = places.get(begins[name] + rows.start, -1)
        first.append(max(start, 0))
        number.append(rows.stop - rows.start if start >= 0 else 0)
    return np.array(first, dtype=np.int64), np.array(number, dtype=np.int64)


_free: WeakKeyDictionary[CompiledModel, dict[bytes, list[PositionNewton]]] = WeakKeyDictionary()


@contextlib.contextmanager
def borrow_newton(compiled: CompiledModel, kept: Places) -> Iterator[PositionNewton]:
    """Context of the position solver of chosen constraint rows that no other thread uses meanwhile."""
    free = _free.setdefault(compiled, {}).setdefault(kept.tobytes(), [])
    try:
        newton = free.pop()
    except IndexError:
        newton = PositionNewton(compiled, kept)
    yield newton
    free.append(newton)  # not after an exception: its memory may be in use
