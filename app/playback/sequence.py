"""The open sequence of poses, and the pose that is currently shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.background.signals import Signal
from core.functions.results import EllipsoidField, PoseSequence
from viz.film.footage import shown_pose_index

if TYPE_CHECKING:
    from app.document.session import Session
    from core.mechanism import Mechanism

RATE = 25
"""Poses per second for long sequences; a sequence lasts at least `SHORTEST` s, and each pose at most `LONGEST_STEP` s.
"""
SHORTEST = 2.5
LONGEST_STEP = 0.5
SAME_PLACE_TOLERANCE = 1e-9
"""Tolerance within which the entries of two pose matrices (m, or rotation matrix) count as equal."""


class PosePlayback:
    """Sequence of poses that the player can play."""

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

    def open_sequence(self, poses: PoseSequence, field: EllipsoidField | None) -> None:
        """Open a sequence and go to its first pose."""
        self.foreign = poses.model is not None and poses.model != self._session.model
        self.poses, self.field, self.index = poses, field, 0
        mech = self.mechanism
        self.names = mech.frame_names
        self.arrays = self._frame_poses(poses)

    def is_still_valid(self) -> bool:
        """Return True if the poses are still valid for the machine in its current state."""
        poses = self.poses
        mech = self._session.mech
        if poses is None or self.names != mech.frame_names:
            return False
        known = set(mech.p_names)
        fits = all(len(q) == mech.nq and known.issuperset(p) for q, p in zip(poses.q, poses.p, strict=True))
        return self.foreign or (fits and np.allclose(self.arrays, self._frame_poses(poses), 0.0, SAME_PLACE_TOLERANCE))

    def _frame_poses(self, poses: PoseSequence) -> list[np.ndarray]:
        """Return the poses of all frames, (n, 4, 4) each."""
        mech = self.mechanism
        return [np.asarray(mech.poses(np.array(q), p=dict(p))) for q, p in zip(poses.q, poses.p, strict=True)]

    def open_ellipsoid(self, poses: PoseSequence, field: EllipsoidField) -> None:
        """Open an ellipsoid at the current pose of the machine."""
        self.poses, self.field = poses, field

    def clear(self) -> None:
        """Clear the sequence without emitting signals."""
        self.poses = self.field = None
        self.arrays = []
        self._time = 0.0

    def close_sequence(self) -> None:
        """Close the open sequence and remove its result from the scene."""
        was = self.is_open
        self.left.emit()
        if was:
            self.changed.emit()

    # ----------------------------------------------------------------------------- what it is

    @property
    def mechanism(self) -> Mechanism:
        """Machine to which the poses apply."""
        own = self._session.mech
        return own.updated(self.poses.model) if self.foreign and self.poses is not None else own

    @property
    def is_open(self) -> bool:
        """True while a sequence is open."""
        return self.poses is not None

    @property
    def is_animated(self) -> bool:
        """True while the open sequence is shown pose by pose."""
        return self.poses is not None and self.poses.display == "animate" and len(self.arrays) > 1

    @property
    def can_step(self) -> bool:
        """True while several valid poses are shown in the scene at once and the user can step through them."""
        several = self.poses is not None and not self.is_animated and len(self.arrays) > 1
        return several and self.field is None and not self.foreign

    @property
    def shown_pose(self) -> np.ndarray | None:
        """The pose shown, (nq,); None if the machine has been edited and cannot be put into this pose."""
        if self.poses is None or self.foreign or not self.arrays:
            return None
        now = self._session.p
        if any(now.get(name) != value for name, value in self.poses.p[self.index].items()):
            return None  # of other parameter values
        return np.array(self.poses.q[self.index], dtype=float)

    # ----------------------------------------------------------------------------- the strip

    @property
    def pose_duration(self) -> float:
        """Time for which each pose is shown, s."""
        return min(LONGEST_STEP, max(1.0 / RATE, SHORTEST / max(1, len(self.arrays))))

    @property
    def time_range(self) -> tuple[float, float]:
        """First and last time, s."""
        return 0.0, self.pose_duration * max(len(self.arrays) - 1, 0)

    @property
    def time(self) -> float:
        """Time of the playhead, s."""
        return self._time

    @property
    def sample_count(self) -> int:
        """Return the number of poses that are played."""
        return len(self.arrays) if self.is_animated or self.can_step else 0

    def seek(self, time: float) -> None:
        """Show the pose at a time."""
        if self.is_open:
            self._time = time
            index = shown_pose_index(time, self.pose_duration, len(self.arrays))
            if index != self.index:
                self.show_pose(index)

    def step_by(self, count: int) -> None:
        """Move by a number of poses."""
        if self.is_open:
            index = min(max(self.index + count, 0), len(self.arrays) - 1)
            self._time = index * self.pose_duration
            self.show_pose(index)

    def show_pose(self, index: int) -> None:
        """Show a pose."""
        self.index = index
        self.stepped.emit()
        self.changed.emit()

    def description(self) -> str:
        """Return the number of the pose shown and the total number of poses, as text."""
        if self.poses is None:
            return ""
        count = len(self.poses.q)
        title = self.field.title if self.field is not None else self.poses.title
        if count == 1:
            return title or "Pose"
        if self.can_step:
            return f"{title or 'Pose'} · {self.index + 1} / {count}"
        if not self.is_animated:
            return f"{title or 'Sequence'} · {count} poses"
        ranges = self.poses.ranges
        text = f"{self.index + 1} / {count}"
        return f"{text}  {', '.join(str(each[0]) for each in ranges)}" if ranges else text
