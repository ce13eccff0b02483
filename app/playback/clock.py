"""Player that moves a playhead in real time along a run or a sequence of poses."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QTimer

from app.background.signals import Signal

if TYPE_CHECKING:
    from app.document.run_tree import Runs

TICK = 16
"""Shortest interval between two pictures, ms."""
SPEEDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
BLINK, WATCHED = 0.5, 3.0
"""Duration below which a run is too short to watch, and the least time it is then played for, s."""
"""Ratios of shown to real time that can be chosen."""
LONGEST_GAP = 0.5
"""Longest time step between two pictures, s; after a longer stall of the window the motion continues where it was."""
FRAMES = 200
"""Number of pictures for a run played as fast as possible."""


class Strip(Protocol):
    """Protocol of anything with a playhead."""

    @property
    def ends(self) -> tuple[float, float]:
        """Return first and last time, s."""
        ...

    @property
    def time(self) -> float:
        """Return the time of the playhead, s."""
        ...

    @property
    def growing(self) -> bool:
        """True while samples are still being added at the end."""
        ...

    @property
    def times(self) -> int:
        """Return the number of samples."""
        ...

    def seek(self, time: float) -> None:
        """Move the playhead."""
        ...

    def step(self, count: int) -> None:
        """Move the playhead by a number of samples."""
        ...

    def words(self) -> str:
        """Return a description of what is shown."""
        ...


class RunPlayback:
    """The current run of a session."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    @property
    def ends(self) -> tuple[float, float]:
        """Return first and last time, s."""
        record = self._runs.current
        if record is None:
            return 0.0, 0.0
        return float(record.run.time[0]), float(record.run.time[-1])

    @property
    def time(self) -> float:
        """Return the time of the playhead, s."""
        return self._runs.time

    @property
    def growing(self) -> bool:
        """True while the run is being computed."""
        return self._runs.current is not None and self._runs.current.growing

    @property
    def times(self) -> int:
        """Return the number of samples."""
        return len(self._runs.current.run) if self._runs.current is not None else 0

    def seek(self, time: float) -> None:
        """Move the playhead."""
        self._runs.seek(time)

    def step(self, count: int) -> None:
        """Move the playhead by a number of samples."""
        record = self._runs.current
        if record is None:
            return
        times, now = record.run.time, self._runs.time
        near = 1e-9 * max(1.0, abs(now))
        # the last sample not behind the playhead going on, the first not before it going back
        index = times.searchsorted(now + near) - 1 if count > 0 else times.searchsorted(now - near)
        self._runs.seek(float(times[min(max(int(index) + count, 0), len(times) - 1)]))

    def words(self) -> str:
        """Return the run's name."""
        return self._runs.current.name if self._runs.current is not None else ""


class Player(QObject):
    """Plays, pauses and steps a `strip`, a run or a sequence of poses."""

    changed = Signal()
    """Emitted when playback starts or stops, another strip is played, or its settings change."""

    def __init__(self, runs: Runs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs = RunPlayback(runs)
        self._other: Strip | None = None
        self.speed = 1.0
        """Shown time per real time."""
        self._slowed = False
        """The speed was chosen for a short run, not by the person."""
        self.loops = False
        self.paced = True
        """Paced to the wall's time; else as fast as pictures can be made."""
        self.keeps_on = False
        """It plays on while joints and parameters are moved (their run is computed anew)."""
        self.span: tuple[float, float] | None = None
        """The part that is played, s; None: all."""
        self._timer = QTimer(self, interval=TICK)
        self._timer.timeout.connect(self._tick)
        self._last = 0.0

    @property
    def strip(self) -> Strip:
        """Return the strip being played: a sequence of poses while one is open, otherwise the current run."""
        return self._other or self._runs

    def show_strip(self, strip: Strip | None) -> None:
        """Play this strip instead of the current run; None: play the run again."""
        self.hold()
        self._other = strip
        self.span = None
        self.changed.emit()

    @property
    def ready(self) -> bool:
        """True if there is something to play."""
        return self.strip.times > 1

    @property
    def playing(self) -> bool:
        """True while the playhead moves on its own."""
        return self._timer.isActive()

    @property
    def ends(self) -> tuple[float, float]:
        """Return first and last time of the strip, s."""
        first, last = self.strip.ends
        if self.span is None:
            return first, last
        low, high = max(first, self.span[0]), min(last, self.span[1])
        return (low, high) if low < high else (first, last)

    # ------------------------------------------------------------------------------- verbs

    def toggle(self) -> None:
        """Start or pause playback."""
        self.hold() if self.playing else self.play()

    def play(self) -> None:
        """Start playback; from the beginning if at the end."""
        if not self.ready or self.playing:
            return
        first, last = self.ends
        if not first <= self.strip.time < last and not self.strip.growing:
            self.strip.seek(first)
        self._last = time.monotonic()
        self._timer.start()
        self.changed.emit()

    def present(self, duration: float) -> None:
        """Play a new run of this duration, s; a very short one is played in slow motion, unless the user chose a
        speed."""
        if self.speed == 1.0 or self._slowed:
            slow = max((speed for speed in SPEEDS if speed * WATCHED <= duration), default=SPEEDS[0])
            self.set_speed(slow if duration < BLINK else 1.0)
            self._slowed = duration < BLINK
        self.play()

    def hold(self) -> None:
        """Pause at the current time."""
        if self._timer.isActive():
            self._timer.stop()
            self.changed.emit()

    def step(self, count: int) -> None:
        """Move the playhead by a number of samples."""
        self.hold()
        self.strip.step(count)

    def to_start(self) -> None:
        """Move the playhead to the start."""
        self.hold()
        self.strip.seek(self.ends[0])

    def to_end(self) -> None:
        """Move the playhead to the end."""
        self.hold()
        self.strip.seek(self.ends[1])

    def scrub(self, at: float) -> None:
        """Move the playhead as the user drags it."""
        self.hold()
        self.strip.seek(at)

    def set_speed(self, speed: float) -> None:
        """Set the ratio of simulated to real time."""
        self._slowed = False
        self.speed = min(max(speed, SPEEDS[0]), SPEEDS[-1])
        self.changed.emit()

    def faster(self, places: int) -> None:
        """Change to the next speed in the list, up or down."""
        nearest = min(range(len(SPEEDS)), key=lambda k: abs(SPEEDS[k] / self.speed - 1.0))
        self.set_speed(SPEEDS[min(max(nearest + places, 0), len(SPEEDS) - 1)])

    def set_loops(self, on: bool) -> None:
        """Set whether playback repeats from the start."""
        self.loops = on
        self.changed.emit()

    def set_paced(self, on: bool) -> None:
        """Set whether playback follows real time or runs as fast as possible."""
        self.paced = on
        self.changed.emit()

    def set_span(self, span: tuple[float, float] | None) -> None:
        """Set the time interval that is played; None: all."""
        self.span = span if span is None or span[0] < span[1] else None
        self.changed.emit()

    def close(self) -> None:
        """Stop playback permanently."""
        self._timer.stop()

    # ------------------------------------------------------------------------------- inside

    def _tick(self) -> None:
        now = time.monotonic()
        passed, self._last = min(now - self._last, LONGEST_GAP), now
        first, last = self.ends
        wanted = self.strip.time + (passed * self.speed if self.paced else (last - first) / FRAMES)
        if wanted < last:
            self.strip.seek(max(wanted, first))
            return
        if self.strip.growing and self.span is None:
            self.strip.seek(last)
        elif self.loops and last > first:
            self.strip.seek(first + (wanted - last) % (last - first))
        else:
            self.strip.seek(last)
            self.hold()
