"""The open sequence of poses, and the pose that is currently shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.background.signals import Signal
from core.functions.results import EllipsoidField, PoseSequence
from viz.film.footage import shown_pose

if TYPE_CHECKING:
    from app.document.session import Session
    from core.mechanism import Mechanism

RATE = 25
"""Poses per second when there are many; a sequence lasts at least `SHORTEST` s, a pose at most `LONGEST_STEP` s."""
SHORTEST = 2.5
LONGEST_STEP = 0.5
SAME_PLACE_TOLERANCE = 1e-9
"""Difference below which entries of poses (m, or of a rotation matrix) count as equal."""


class Sequence:
    """Sequence of poses; a `Strip` of the player while it is shown pose by pose."""

    changed = Signal()
    """Emitted when another sequence is opened or closed, or another pose is shown."""
    stepped = Signal()
    """Emitted with the index of the pose to be shown."""
    left = Signal()
    """Emitted when the result should be removed from the scene."""

    growing = False

    def __init__(self, session: Session) -> None:
        self._session = session
        self.poses: PoseSequence | None = None
        self.field: EllipsoidField | None = None
        """Ellipsoids that go along with the poses."""
        self.arrays: list[np.ndarray] = []
        """Poses of all frames, (n, 4, 4) each."""
        self.names: tuple[str, ...] = ()
        """The frames."""
        self.foreign = False
        """True if the poses belong to another machine than the open one."""
        self.index = 0
        self._time = 0.0

    def open(self, poses: PoseSequence, field: EllipsoidField | None) -> None:
        """Open a sequence at its first pose."""
        self.foreign = poses.model is not None and poses.model != self._session.model
        self.poses, self.field, self.index = poses, field, 0
        mech = self.mech
        self.names = mech.frame_names
        self.arrays = self._frame_poses(poses)

    def holds(self) -> bool:
        """Return True if the poses still apply to the machine in its current state."""
        poses = self.poses
        mech = self._session.mech
        if poses is None or self.names != mech.frame_names:
            return False
        known = set(mech.p_names)
        fits = all(len(q) == mech.nq and known.issuperset(p) for q, p in zip(poses.q, poses.p, strict=True))
        return self.foreign or (fits and np.allclose(self.arrays, self._frame_poses(poses), 0.0, SAME_PLACE_TOLERANCE))

    def _frame_poses(self, poses: PoseSequence) -> list[np.ndarray]:
        """Return the poses of all frames, (n, 4, 4) each."""
        mech = self.mech
        return [np.asarray(mech.poses(np.array(q), p=dict(p))) for q, p in zip(poses.q, poses.p, strict=True)]

    def open_single(self, poses: PoseSequence, field: EllipsoidField) -> None:
        """Open an ellipsoid at the machine's own pose."""
        self.poses, self.field = poses, field

    def clear(self) -> None:
        """Clear the sequence without emitting a signal."""
        self.poses = self.field = None
        self.arrays = []
        self._time = 0.0

    def leave(self) -> None:
        """Close the open sequence and remove its result from the scene."""
        was = self.active
        self.left.emit()
        if was:
            self.changed.emit()

    # ----------------------------------------------------------------------------- what it is

    @property
    def mech(self) -> Mechanism:
        """Return the machine to which the poses apply."""
        own = self._session.mech
        return own.updated(self.poses.model) if self.foreign and self.poses is not None else own

    @property
    def active(self) -> bool:
        """True while a sequence is open."""
        return self.poses is not None

    @property
    def animated(self) -> bool:
        """True while the open sequence is shown pose by pose."""
        return self.poses is not None and self.poses.display == "animate" and len(self.arrays) > 1

    @property
    def steppable(self) -> bool:
        """True while several valid poses are shown in the scene at once, each of which can be stepped to."""
        several = self.poses is not None and not self.animated and len(self.arrays) > 1
        return several and self.field is None and not self.foreign

    @property
    def pose(self) -> np.ndarray | None:
        """Return the shown pose (nq,), or None if the edited machine cannot take it."""
        if self.poses is None or self.foreign or not self.arrays:
            return None
        now = self._session.p
        if any(now.get(name) != value for name, value in self.poses.p[self.index].items()):
            return None  # of other parameter values
        return np.array(self.poses.q[self.index], dtype=float)

    # ----------------------------------------------------------------------------- the strip

    @property
    def interval(self) -> float:
        """Return the time for which a pose is shown, s."""
        return min(LONGEST_STEP, max(1.0 / RATE, SHORTEST / max(1, len(self.arrays))))

    @property
    def ends(self) -> tuple[float, float]:
        """Return first and last time, s."""
        return 0.0, self.interval * max(len(self.arrays) - 1, 0)

    @property
    def time(self) -> float:
        """Return the time of the playhead, s."""
        return self._time

    @property
    def times(self) -> int:
        """Return the number of poses that are played."""
        return len(self.arrays) if self.animated or self.steppable else 0

    def seek(self, time: float) -> None:
        """Show the pose at a time."""
        if self.active:
            self._time = time
            index = shown_pose(time, self.interval, len(self.arrays))
            if index != self.index:
                self.show(index)

    def step(self, count: int) -> None:
        """Move by a number of poses."""
        if self.active:
            index = min(max(self.index + count, 0), len(self.arrays) - 1)
            self._time = index * self.interval
            self.show(index)

    def show(self, index: int) -> None:
        """Show a pose."""
        self.index = index
        self.stepped.emit()
        self.changed.emit()

    def words(self) -> str:
        """Return the number of the shown pose and their total as text."""
        if self.poses is None:
            return ""
        count = len(self.poses.q)
        title = self.field.title if self.field is not None else self.poses.title
        if count == 1:
            return title or "Pose"
        if self.steppable:
            return f"{title or 'Pose'} · {self.index + 1} / {count}"
        if not self.animated:
            return f"{title or 'Sequence'} · {count} poses"
        ranges = self.poses.ranges
        text = f"{self.index + 1} / {count}"
        return f"{text}  {', '.join(str(each[0]) for each in ranges)}" if ranges else text
