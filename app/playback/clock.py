"""Player that moves a playhead along a run or a sequence of poses, in real time or at another speed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QTimer

from app.background.signals import Signal

if TYPE_CHECKING:
    from app.document.run_tree import RunTree

TICK = 16
"""Shortest interval between two frames, ms."""
SPEEDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
BLINK, WATCHED = 0.5, 3.0
"""Duration below which a run is too short to watch, and the least time it is then played for, s."""
"""Ratios of shown to real time that can be chosen."""
LONGEST_GAP = 0.5
"""Longest time step between two frames, s; after a longer stall of the window the motion continues from where it was.
"""
FRAMES = 200
"""Number of frames for a run that is played as fast as possible."""


class Playable(Protocol):
    """Interface of anything that can be played: a run or a sequence of poses."""

    @property
    def time_range(self) -> tuple[float, float]:
        """First and last time, s."""
        ...

    @property
    def time(self) -> float:
        """Time of the playhead, s."""
        ...

    @property
    def growing(self) -> bool:
        """True while samples are still being added at the end."""
        ...

    @property
    def sample_count(self) -> int:
        """Return the number of samples."""
        ...

    def seek(self, time: float) -> None:
        """Move the playhead."""
        ...

    def step_by(self, count: int) -> None:
        """Move the playhead by a number of samples."""
        ...

    def description(self) -> str:
        """Return a description of what is being shown."""
        ...


class RunPlayback:
    """Playback of the current run of a session."""

    def __init__(self, runs: RunTree) -> None:
        self._runs = runs

    @property
    def time_range(self) -> tuple[float, float]:
        """First and last time, s."""
        record = self._runs.current
        if record is None:
            return 0.0, 0.0
        return float(record.run.time[0]), float(record.run.time[-1])

    @property
    def time(self) -> float:
        """Time of the playhead, s."""
        return self._runs.time

    @property
    def growing(self) -> bool:
        """True while the run is being computed."""
        return self._runs.current is not None and self._runs.current.growing

    @property
    def sample_count(self) -> int:
        """Return the number of samples."""
        return len(self._runs.current.run) if self._runs.current is not None else 0

    def seek(self, time: float) -> None:
        """Move the playhead."""
        self._runs.seek(time)

    def step_by(self, count: int) -> None:
        """Move the playhead by a number of samples."""
        record = self._runs.current
        if record is None:
            return
        times, now = record.run.time, self._runs.time
        near = 1e-9 * max(1.0, abs(now))
        # the last sample not behind the playhead going on, the first not before it going back
        index = times.searchsorted(now + near) - 1 if count > 0 else times.searchsorted(now - near)
        self._runs.seek(float(times[min(max(int(index) + count, 0), len(times) - 1)]))

    def description(self) -> str:
        """Return the name of the run."""
        return self._runs.current.name if self._runs.current is not None else ""


class Player(QObject):
    """Plays, pauses and steps through a run or a sequence of poses."""

    changed = Signal()
    """Emitted when playback starts or stops, when something else is played, or when the settings of playback change."""

    def __init__(self, runs: RunTree, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs = RunPlayback(runs)
        self._other: Playable | None = None
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
        self._timer.timeout.connect(self._advance_playhead)
        self._last = 0.0

    @property
    def playable(self) -> Playable:
        """The sequence of poses being played while one is open, otherwise the current run."""
        return self._other or self._runs

    def set_playable(self, playable: Playable | None) -> None:
        """Play this instead of the current run; None: return to the run."""
        self.pause()
        self._other = playable
        self.span = None
        self.changed.emit()

    @property
    def has_content(self) -> bool:
        """True if there is something to play."""
        return self.playable.sample_count > 1

    @property
    def is_playing(self) -> bool:
        """True while the playhead is moving by itself."""
        return self._timer.isActive()

    @property
    def time_range(self) -> tuple[float, float]:
        """First and last time of what is being played, s."""
        first, last = self.playable.time_range
        if self.span is None:
            return first, last
        low, high = max(first, self.span[0]), min(last, self.span[1])
        return (low, high) if low < high else (first, last)

    # ------------------------------------------------------------------------------- verbs

    def toggle_playback(self) -> None:
        """Start or pause playback."""
        self.pause() if self.is_playing else self.play()

    def play(self) -> None:
        """Start playback; from the beginning if at the end."""
        if not self.has_content or self.is_playing:
            return
        first, last = self.time_range
        if not first <= self.playable.time < last and not self.playable.growing:
            self.playable.seek(first)
        self._last = time.monotonic()
        self._timer.start()
        self.changed.emit()

    def play_new_run(self, duration: float) -> None:
        """Play a new run of this duration, s; a very short run is played in slow motion, unless the user has chosen a
        speed."""
        if self.speed == 1.0 or self._slowed:
            slow = max((speed for speed in SPEEDS if speed * WATCHED <= duration), default=SPEEDS[0])
            self.set_speed(slow if duration < BLINK else 1.0)
            self._slowed = duration < BLINK
        self.play()

    def pause(self) -> None:
        """Pause playback at the current time."""
        if self._timer.isActive():
            self._timer.stop()
            self.changed.emit()

    def step_by(self, count: int) -> None:
        """Move the playhead by a number of samples."""
        self.pause()
        self.playable.step_by(count)

    def go_to_start(self) -> None:
        """Move the playhead to the start."""
        self.pause()
        self.playable.seek(self.time_range[0])

    def go_to_end(self) -> None:
        """Move the playhead to the end."""
        self.pause()
        self.playable.seek(self.time_range[1])

    def scrub(self, time: float) -> None:
        """Move the playhead to a time as the user drags it."""
        self.pause()
        self.playable.seek(time)

    def set_speed(self, speed: float) -> None:
        """Set the ratio of simulated to real time."""
        self._slowed = False
        self.speed = min(max(speed, SPEEDS[0]), SPEEDS[-1])
        self.changed.emit()

    def change_speed(self, steps: int) -> None:
        """Change the speed by a number of steps in the list of speeds, up or down."""
        nearest = min(range(len(SPEEDS)), key=lambda k: abs(SPEEDS[k] / self.speed - 1.0))
        self.set_speed(SPEEDS[min(max(nearest + steps, 0), len(SPEEDS) - 1)])

    def set_looping(self, on: bool) -> None:
        """Set whether playback starts over at the end."""
        self.loops = on
        self.changed.emit()

    def set_real_time(self, on: bool) -> None:
        """Set whether playback follows real time or runs as fast as possible."""
        self.paced = on
        self.changed.emit()

    def set_interval(self, interval: tuple[float, float] | None) -> None:
        """Set the time interval that is played; None: the whole range."""
        self.span = interval if interval is None or interval[0] < interval[1] else None
        self.changed.emit()

    def close(self) -> None:
        """Stop playback permanently."""
        self._timer.stop()

    # ------------------------------------------------------------------------------- inside

    def _advance_playhead(self) -> None:
        now = time.monotonic()
        passed, self._last = min(now - self._last, LONGEST_GAP), now
        first, last = self.time_range
        wanted = self.playable.time + (passed * self.speed if self.paced else (last - first) / FRAMES)
        if wanted < last:
            self.playable.seek(max(wanted, first))
            return
        if self.playable.growing and self.span is None:
            self.playable.seek(last)
        elif self.loops and last > first:
            self.playable.seek(first + (wanted - last) % (last - first))
        else:
            self.playable.seek(last)
            self.pause()
