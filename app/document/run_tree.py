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
"""Colours of successive runs; distinguishable on light and dark backgrounds."""
FAINT = 3
"""Number of faint runs (shown while a slider moved) that are kept."""


@dataclass(eq=False)
class Record:
    """A run in the list of a session; only `Runs` changes it.

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
    def facts(self) -> tuple[object, ...]:
        """The name and properties of a run: while they stay, there is nothing new to save."""
        return self.version, self.name, self.note, self.color, self.parent, self.from_time, self.growing


class Listing(NamedTuple):
    """The runs of a document at one moment, each with the run it branched from."""

    items: tuple[Record, ...]
    parents: tuple[int | None, ...]
    current: Record | None


class Runs:
    """The runs of the open document."""

    changed = Signal()
    """Runs were added, removed, renamed, shown or hidden, have grown, or another one is current."""
    moved = Signal(float)
    """The playhead moved: time in the current run, s."""

    def __init__(self) -> None:
        self.items: tuple[Record, ...] = ()
        self.current: Record | None = None
        self.time = 0.0
        """The playhead, s."""
        self._ids = itertools.count(1)

    # ------------------------------------------------------------------------------- the list

    def add(
        self,
        run: Run,
        name: str = "",
        parent: int | Record | None = None,
        from_time: float | None = None,
        *,
        faint: bool = False,
        growing: bool = False,
        select: bool = True,
    ) -> Record:
        """Add a run; unless `select` is False it becomes the current one, with the playhead at its start. Only the last
        few faint runs are kept."""
        number = next(self._ids)
        taken = {record.color for record in self.items if not record.faint}
        color = next((color for color in COLORS if color not in taken), COLORS[number % len(COLORS)])
        parent = parent.id if isinstance(parent, Record) else parent
        record = Record(
            number, self._free(name) if name else self._next_default_name(), run, color, True, faint, parent, from_time
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

    def remove(self, *records: Record) -> None:
        """Remove runs; their branches stay, attached to the run that the removed one came from."""
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

    def listing(self) -> Listing:
        """Return the list in its present state, to be restored later."""
        return Listing(self.items, tuple(record.parent for record in self.items), self.current)

    def put_back(self, listing: Listing) -> None:
        """Restore an earlier list, keeping runs added since."""
        for record, parent in zip(listing.items, listing.parents, strict=True):
            record.parent = parent
        self.items = (*listing.items, *(record for record in self.items if record not in listing.items))
        if listing.current is self.current:
            self.changed.emit()
        else:
            self.select(listing.current)

    def clear(self) -> None:
        """Remove all runs, as another document was opened."""
        self.remove(*self.items)

    def annotate(self, record: Record, note: str) -> None:
        """Change the note of a run."""
        if note != record.note:
            record.note = note
            self.changed.emit()

    def rename(self, record: Record, name: str) -> None:
        """Rename a run; a number is appended to a name in use."""
        name = name.strip()
        if name and name != record.name:
            record.name = self._free(name)
            self.changed.emit()

    def paint(self, record: Record, color: str) -> None:
        """Change the colour of a run, "#rrggbb"."""
        if color != record.color:
            record.color = color
            self.changed.emit()

    def show(self, record: Record, visible: bool) -> None:
        """Show or hide a run in plots and scene."""
        if visible != record.visible:
            record.visible = visible
            self.changed.emit()

    def replace(self, record: Record, run: Run, growing: bool = False) -> None:
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

    def find(self, number: int | None) -> Record | None:
        """Return the record with an id; None if there is none."""
        return next((record for record in self.items if record.id == number), None)

    def children(self, record: Record | None) -> tuple[Record, ...]:
        """Return the runs that branched from a run; for None the runs without a parent."""
        return tuple(r for r in self.items if r.parent == (record.id if record is not None else None))

    # ------------------------------------------------------------------------------- the playhead

    def select(self, record: Record | None) -> None:
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
    def pose(self) -> Array | None:
        """Return the position (nq,) of the current run at the playhead; None without a run."""
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

    def _free(self, name: str) -> str:
        taken = {record.name for record in self.items}
        if name not in taken:
            return name
        return next(new for k in itertools.count(2) if (new := f"{name} ({k})") not in taken)
