"""The runs of a session: a tree of records, the current run, and the playhead. Independent of Qt.

Timeline, plots, film and vectors all listen to this; none of them knows another.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.background.signals import Signal
from core.later import dataclass
from core.simulation.run.run import Run

Array = NDArray[np.float64]

COLORS = ("#1f77b4", "#d1495b", "#2e933c", "#e08d1c", "#7b4fb3", "#8c5a3c", "#c94f9b", "#4d908e", "#8a8d1f", "#27a9c4")
"""Colours of successive runs, distinguishable on light and dark backgrounds."""
FAINT = 3
"""Number of faint runs (shown while a slider is moved) that are kept."""


@dataclass(eq=False)
class RunRecord:
    """A run in the list of a session; changed only by `RunTree`.

    color : "#rrggbb"; parent, from_time (s): id of the run it branched from, and when; faint: shown behind the others;
    source : file it was loaded from or saved in; growing: still being computed; note : what the person says of it
    version : counts its samples: another number, other samples
    """

    id: int
    name: str
    run: Run
    color: str
    visible: bool = True
    faint: bool = False
    parent: int | None = None
    from_time: float | None = None
    source: str = ""
    growing: bool = False
    note: str = ""
    version: int = 0

    @property
    def saved_properties(self) -> tuple[object, ...]:
        """Name and properties of a run that are saved; while they are unchanged, there is nothing new to save."""
        return self.version, self.name, self.note, self.color, self.parent, self.from_time, self.growing


class RunListSnapshot(NamedTuple):
    """Snapshot of the runs of a document, each with the run from which it branched."""

    items: tuple[RunRecord, ...]
    parents: tuple[int | None, ...]
    current: RunRecord | None


class RunTree:
    """The runs of the open document."""

    changed = Signal()
    """Runs were added, removed, renamed, shown or hidden, have grown, or another one is current."""
    moved = Signal(float)
    """The playhead moved: time in the current run, s."""

    def __init__(self) -> None:
        self.items: tuple[RunRecord, ...] = ()
        self.current: RunRecord | None = None
        self.time = 0.0
        """The playhead, s."""
        self._ids = itertools.count(1)

    # ------------------------------------------------------------------------------- the list

    def add(
        self,
        run: Run,
        name: str = "",
        parent: int | RunRecord | None = None,
        from_time: float | None = None,
        *,
        faint: bool = False,
        growing: bool = False,
        select: bool = True,
    ) -> RunRecord:
        """Add a run; unless `select` is False it becomes the current run, with the playhead at its start. Only the last
        few faint runs are kept."""
        number = next(self._ids)
        taken = {record.color for record in self.items if not record.faint}
        color = next((color for color in COLORS if color not in taken), COLORS[number % len(COLORS)])
        parent = parent.id if isinstance(parent, RunRecord) else parent
        record = RunRecord(
            number,
            self._unused_name(name) if name else self._next_default_name(),
            run,
            color,
            True,
            faint,
            parent,
            from_time,
        )
        record.growing = growing
        self.items = (*self.items, record)
        if faint:
            gone = [r for r in self.items if r.faint][:-FAINT]
            self.items = tuple(r for r in self.items if r not in gone)
        if select or self.current is None:
            self.current, self.time = record, float(run.time[0])
            self.changed.emit()
            self.moved.emit(self.time)
        else:
            self.changed.emit()
        return record

    def remove(self, *records: RunRecord) -> None:
        """Remove runs; runs that branched from them are attached to the run from which the removed one came."""
        gone = {record.id: record for record in records if record in self.items}
        if not gone:
            return
        self.items = tuple(record for record in self.items if record.id not in gone)
        for record in self.items:
            while record.parent in gone:
                record.parent = gone[record.parent].parent
        if self.current is not None and self.current.id in gone:
            self.current = next((r for r in reversed(self.items) if not r.faint), None)
            self.time = float(self.current.run.time[0]) if self.current is not None else 0.0
        self.changed.emit()
        self.moved.emit(self.time)

    def take_snapshot(self) -> RunListSnapshot:
        """Return a snapshot of the list, to be restored later."""
        return RunListSnapshot(self.items, tuple(record.parent for record in self.items), self.current)

    def restore_snapshot(self, snapshot: RunListSnapshot) -> None:
        """Restore an earlier list, keeping runs that were added since."""
        for record, parent in zip(snapshot.items, snapshot.parents, strict=True):
            record.parent = parent
        self.items = (*snapshot.items, *(record for record in self.items if record not in snapshot.items))
        if snapshot.current is self.current:
            self.changed.emit()
        else:
            self.select(snapshot.current)

    def clear(self) -> None:
        """Remove all runs, because another document was opened."""
        self.remove(*self.items)

    def set_note(self, record: RunRecord, note: str) -> None:
        """Change the note of a run."""
        if note != record.note:
            record.note = note
            self.changed.emit()

    def rename(self, record: RunRecord, name: str) -> None:
        """Rename a run; a number is appended to a name that is in use."""
        name = name.strip()
        if name and name != record.name:
            record.name = self._unused_name(name)
            self.changed.emit()

    def set_color(self, record: RunRecord, color: str) -> None:
        """Change the colour of a run, "#rrggbb"."""
        if color != record.color:
            record.color = color
            self.changed.emit()

    def set_visible(self, record: RunRecord, visible: bool) -> None:
        """Show or hide a run in plots and scene."""
        if visible != record.visible:
            record.visible = visible
            self.changed.emit()

    def replace(self, record: RunRecord, run: Run, growing: bool = False) -> None:
        """Replace the data of a run that has grown, finished or been recomputed; the playhead keeps its time if
        possible."""
        other = run is not record.run
        record.run, record.growing = run, growing
        if other:  # at last: who sees the number in another thread sees these samples
            record.version, record.source = record.version + 1, ""
        if record is self.current:
            self.time = self._clamped_time(self.time)
        self.changed.emit()
        if record is self.current:
            self.moved.emit(self.time)

    def find_record(self, record_id: int | None) -> RunRecord | None:
        """Return the record with an id; None if there is none."""
        return next((record for record in self.items if record.id == record_id), None)

    def branches_of(self, record: RunRecord | None) -> tuple[RunRecord, ...]:
        """Return the runs that branched from a run; for None the runs without a parent."""
        return tuple(r for r in self.items if r.parent == (record.id if record is not None else None))

    # ------------------------------------------------------------------------------- the playhead

    def select(self, record: RunRecord | None) -> None:
        """Make a run the current one (None: no run); the playhead keeps its time if possible."""
        if record is self.current:
            return
        self.current = record
        self.time = self._clamped_time(self.time)
        self.changed.emit()
        self.moved.emit(self.time)

    def seek(self, time: float) -> None:
        """Move the playhead to a time of the current run, s, limited to its start and end."""
        time = self._clamped_time(time)
        if time != self.time:
            self.time = time
            self.moved.emit(time)

    @property
    def pose_at_playhead(self) -> Array | None:
        """Coordinates (nq,) of the current run at the playhead; None if there is no run."""
        return None if self.current is None else self.current.run.at(self.time)

    def _clamped_time(self, time: float) -> float:
        if self.current is None or not len(self.current.run):
            return 0.0
        times = self.current.run.time
        return float(min(max(time, times[0]), times[-1]))

    def _next_default_name(self) -> str:
        """Return the next default name "Run n" of this document."""
        numbers = (record.name.removeprefix("Run ") for record in self.items if record.name.startswith("Run "))
        return f"Run {1 + max((int(number) for number in numbers if number.isdecimal()), default=0)}"

    def _unused_name(self, name: str) -> str:
        taken = {record.name for record in self.items}
        if name not in taken:
            return name
        return next(new for k in itertools.count(2) if (new := f"{name} ({k})") not in taken)
