"""The runs of a session: records in the form of a tree, the one that is played, and the playhead. Knows no Qt.

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
"""Colours of runs, one after another; they stand apart on light and on dark ground."""
FAINT = 3
"""Faint runs (what a slider showed before) that are kept."""


@dataclass(eq=False)
class Record:
    """A run as the session keeps it; only `Runs` changes it.

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
        """What a run is and is called: as long as it stays there is nothing new to be saved."""
        return self.version, self.name, self.note, self.color, self.parent, self.from_time, self.growing


class Listing(NamedTuple):
    """The runs of a document at one moment, with what each had branched from."""

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
        """A new run; it becomes the current one, with the playhead at its start, unless `select` is False. Of faint
        runs only the last few are kept."""
        number = next(self._ids)
        taken = {record.color for record in self.items if not record.faint}
        color = next((color for color in COLORS if color not in taken), COLORS[number % len(COLORS)])
        parent = parent.id if isinstance(parent, Record) else parent
        record = Record(
            number, self._free(name) if name else self._numbered(), run, color, True, faint, parent, from_time
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
        """Take runs out; their branches stay, as branches of what they came from."""
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
        """The list as it is, to be put back."""
        return Listing(self.items, tuple(record.parent for record in self.items), self.current)

    def put_back(self, listing: Listing) -> None:
        """The list as it was, with the runs that were added since."""
        for record, parent in zip(listing.items, listing.parents, strict=True):
            record.parent = parent
        self.items = (*listing.items, *(record for record in self.items if record not in listing.items))
        if listing.current is self.current:
            self.changed.emit()
        else:
            self.select(listing.current)

    def clear(self) -> None:
        """No runs any more: another document was opened."""
        self.remove(*self.items)

    def annotate(self, record: Record, note: str) -> None:
        """Another note."""
        if note != record.note:
            record.note = note
            self.changed.emit()

    def rename(self, record: Record, name: str) -> None:
        """Another name; names are unique, a number is appended to one that is taken."""
        name = name.strip()
        if name and name != record.name:
            record.name = self._free(name)
            self.changed.emit()

    def paint(self, record: Record, color: str) -> None:
        """Another colour, "#rrggbb"."""
        if color != record.color:
            record.color = color
            self.changed.emit()

    def show(self, record: Record, visible: bool) -> None:
        """Show or hide a run in plots and scene."""
        if visible != record.visible:
            record.visible = visible
            self.changed.emit()

    def replace(self, record: Record, run: Run, growing: bool = False) -> None:
        """The run has grown, was finished, or was computed anew; the playhead stays where it is if it can."""
        other = run is not record.run
        record.run, record.growing = run, growing
        if other:  # at last: who sees the number in another thread sees these samples
            record.version, record.source = record.version + 1, ""
        if record is self.current:
            self.time = self._inside(self.time)
        self.changed.emit()
        if record is self.current:
            self.moved.emit(self.time)

    def find(self, number: int | None) -> Record | None:
        """The run of an id."""
        return next((record for record in self.items if record.id == number), None)

    def children(self, record: Record | None) -> tuple[Record, ...]:
        """Runs that branched from one; of None: those that branched from none."""
        return tuple(r for r in self.items if r.parent == (record.id if record is not None else None))

    # ------------------------------------------------------------------------------- the playhead

    def select(self, record: Record | None) -> None:
        """Make a run the current one (None: none is played); the playhead keeps its time if it can."""
        if record is self.current:
            return
        self.current = record
        self.time = self._inside(self.time)
        self.changed.emit()
        self.moved.emit(self.time)

    def seek(self, time: float) -> None:
        """Put the playhead to a time of the current run, s; outside of it: to its start or end."""
        time = self._inside(time)
        if time != self.time:
            self.time = time
            self.moved.emit(time)

    @property
    def pose(self) -> Array | None:
        """(nq,) position of the current run at the playhead; None without a run."""
        return None if self.current is None else self.current.run.at(self.time)

    def _inside(self, time: float) -> float:
        if self.current is None or not len(self.current.run):
            return 0.0
        times = self.current.run.time
        return float(min(max(time, times[0]), times[-1]))

    def _numbered(self) -> str:
        """The next "Run n" of this document."""
        numbers = (record.name.removeprefix("Run ") for record in self.items if record.name.startswith("Run "))
        return f"Run {1 + max((int(number) for number in numbers if number.isdecimal()), default=0)}"

    def _free(self, name: str) -> str:
        taken = {record.name for record in self.items}
        if name not in taken:
            return name
        return next(new for k in itertools.count(2) if (new := f"{name} ({k})") not in taken)
