"""Prepared runs kept with a machine: what does not change between two runs is made by the first of them.

Equations, states and logs are kept as they were before the run began (`RunMemory`), so that another run begins as if it
were the first, with its own parameter values and its own initial state. Its numbers are those of a run that was
prepared alone. A run in progress is not among those kept: runs at the same time have memory of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from core.constraints.joint_modes import build_joint_row_table
from core.machine_code.entry import code_generation
from core.mechanism import Mechanism
from core.simulation.equations.singular_masses import may_be_singular
from core.simulation.run.begun_run import PreparedRun, limit_stop_stiffness
from core.simulation.run.memory_image import restore_entry, take_image

if TYPE_CHECKING:
    from core.simulation.run.settings import Settings

Array = NDArray[np.float64]
Kept = TypeVar("Kept")

CONSTANT = frozenset(("A", "rows", "P", "points"))
"""Record arrays that runs only read, or read only where they have written before; `rows` of logs among them."""
MOST_KEPT = 4
"""Largest number of runs kept with a machine."""
LONGEST_LOG = 1 << 20
"""Largest amount of numbers in the log of such a run."""


class RunMemory:
    """Memory of a run that others may use after it: equations, states and log as they are before the run begins.

    Made between `allocate_run` and `begin_contact_states`; p, y: parameter values and initial state of the run.
    """

    def __init__(self, mech: Mechanism, prepared: PreparedRun, p: Array, y: Array) -> None:
        self.prepared, equations = prepared, prepared.equations
        self._p, self._q = p.tobytes(), y[: mech.nq].tobytes()
        self._modes = equations.joint_modes
        self._parameters = [each.parameters(len(p)) for each in equations.entries.values()]
        self._bearings = bool(equations.joint_modes.rows_with_bearing_friction)
        too_long = prepared.log is not None and prepared.log.rows.size > LONGEST_LOG
        self._image = None if too_long or equations.notes else take_image(self._changeable_arrays())
        # only of what is kept: of loops whose closed forms are still being made nothing is waited for
        self._shape = () if self._image is None else self._structure(mech, p, y)
        self.is_usable = self._image is not None
        """True if another run may use the memory."""

    def _changeable_arrays(self) -> Iterator[NDArray[Any]]:
        """Yield all arrays that a run may change."""
        state, equations, log = self.prepared
        for record in (state, log, equations.contact_rows, equations.contact_problem, *equations.records):
            if record is None:
                continue
            yield record.words
            for field in record.fields:
                constant = field.name in CONSTANT or (field.name == "times" and record is state)
                if field.dimensions and not constant:
                    yield getattr(record, field.name)

    def _structure(self, mech: Mechanism, p: Array, y: Array) -> tuple[bool, ...]:
        """Return the conditions on numbers that determine the structure of the equations."""
        if not mech.constrained:
            return ()
        q = y[: mech.nq]
        return self.prepared.equations.can_use_closed_forms(q, p), may_be_singular(mech.compiled, p, q)

    def restore(self, mech: Mechanism, settings: Settings, p: Array, y: Array) -> bool:
        """Restore the memory for a run with parameter values p that begins at y. Returns False if that run needs other
        equations."""
        same = self._p == p.tobytes() and self._q == y[: mech.nq].tobytes()
        if self._image is None or not (same or (not self._bearings and self._structure(mech, p, y) == self._shape)):
            return False
        restore_entry.call(self._image.place)
        state, equations, _ = self.prepared
        state.y[:] = state.new[:] = y
        equations.joint_modes = self._modes
        return same or self._replace_numbers(mech, settings, p, y)

    def _replace_numbers(self, mech: Mechanism, settings: Settings, p: Array, y: Array) -> bool:
        """Replace the parameter values and what follows from them and from the initial position."""
        equations, compiled = self.prepared.equations, mech.compiled
        for place in self._parameters:
            place[:] = p
        if compiled.program.symbolic.clock.size:
            points, times, polynomials = compiled.splines(p)[:3]
            if not np.array_equal(points, equations.system.points):
                return False
            equations.system.times[:], equations.system.polynomials[:] = times, polynomials
        modes = build_joint_row_table(compiled, p)
        if modes == self._modes and not mech.constrained:
            return True
        if modes.rows_with_bearing_friction or not equations.update_contact_rows(compiled, modes, y[: mech.nq], p):
            return False
        equations.joint_modes = modes
        limit_stop_stiffness(equations, settings)
        return True


class KeptRuns(Generic[Kept]):
    """Runs that are kept with machines, by what they were asked for; each is given to one user at a time."""

    def __init__(self) -> None:
        self._of: WeakKeyDictionary[Mechanism, dict[Any, Kept]] = WeakKeyDictionary()
        self._once = threading.Lock()
        self._generation = 0

    def take(self, mech: Mechanism, key: Any) -> Kept | None:
        """Take a run out of those kept; None if there is none."""
        with self._once:
            if self._generation != code_generation():
                self._of.clear()
                self._generation = code_generation()
            runs = self._of.get(mech)
            return None if runs is None else runs.pop(key, None)

    def keep(self, mech: Mechanism, key: Any, run: Kept) -> None:
        """Keep a run that refers to no machine; the one that was used longest ago is forgotten."""
        with self._once:
            runs = self._of.setdefault(mech, {})
            runs[key] = run
            while len(runs) > MOST_KEPT:
                runs.pop(next(iter(runs)))


def hashable(values: Any) -> Any:
    """Return values by name or in order in a form that can be compared, with the types of numbers; raises TypeError for
    what cannot be."""
    if values is None or isinstance(values, str | float | int):
        return type(values), values
    if isinstance(values, Mapping):
        return dict, tuple([(name, type(value), value) for name, value in values.items()])
    if isinstance(values, np.ndarray):
        return values.dtype, values.shape, values.tobytes()
    if isinstance(values, list | tuple):
        return list, tuple([(type(value), value) for value in values])
    raise TypeError(values)
