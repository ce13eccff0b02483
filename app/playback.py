"""Results in the scene: poses all at once or one after another, with a small bar to play, hold and step them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from psygnal import Signal
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSlider, QToolButton

from app.icons import icon
from core.functions.results import EllipsoidField, PoseSequence, Result, leaves

if TYPE_CHECKING:
    from app.viewport import Viewport

RATE = 25
"""Poses shown per second when there are many; a sequence lasts at least `SHORTEST` ms."""
SHORTEST = 2500
LONGEST_STEP = 500
MARGIN = 12


class Playback(QFrame):
    """Appears at the lower edge of the viewport while a sequence is open."""

    changed = Signal()

    def __init__(self, view: Viewport) -> None:
        super().__init__(view)
        self.setObjectName("overlay")
        self._view = view
        self._poses: PoseSequence | None = None
        self._field: EllipsoidField | None = None
        self._arrays: list[np.ndarray] = []
        self._names: tuple[str, ...] = ()
        self._foreign = False
        self.index = 0
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._tick)
        self._build()
        view.session.changed.connect(self._session_changed)
        view.session.moved.connect(self._session_moved)
        self.hide()

    def close(self) -> bool:
        """Listen no more."""
        self._view.session.changed.disconnect(self._session_changed)
        self._view.session.moved.disconnect(self._session_moved)
        return super().close()

    def _build(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 4, 6, 4)
        self.play = QToolButton(icon=icon("play"), autoRaise=True, toolTip="Play / pause (Space)")
        self.play.clicked.connect(self.toggle)
        back = QToolButton(icon=icon("step_back"), autoRaise=True, toolTip="One pose back (←)")
        back.clicked.connect(lambda: self.step(-1))
        forward = QToolButton(icon=icon("step_forward"), autoRaise=True, toolTip="One pose forward (→)")
        forward.clicked.connect(lambda: self.step(1))
        self.scrub = QSlider(Qt.Orientation.Horizontal)
        self.scrub.setMinimumWidth(180)
        self.scrub.valueChanged.connect(self._scrubbed)
        self.label = QLabel()
        stop = QToolButton(icon=icon("close"), autoRaise=True, toolTip="Close the sequence")
        stop.clicked.connect(self.close_sequence)
        self._moving = (self.play, back, self.scrub, forward)
        for widget in (self.play, back, self.scrub, forward, self.label, stop):
            row.addWidget(widget)

    # ----------------------------------------------------------------------------- showing

    @property
    def active(self) -> bool:
        """True while a sequence is open."""
        return self._poses is not None

    @property
    def animated(self) -> bool:
        """True while a sequence is open that is shown pose by pose."""
        return self._poses is not None and self._poses.display == "animate" and len(self._arrays) > 1

    @property
    def playing(self) -> bool:
        """True while poses follow one another."""
        return self._timer.isActive()

    def show_result(self, result: Result) -> None:
        """Show what a result has for the scene, if anything."""
        for part in leaves(result):
            if isinstance(part, EllipsoidField):
                self._open(part.poses, part)
            elif isinstance(part, PoseSequence):
                self._open(part, None)

    def _open(self, poses: PoseSequence, field: EllipsoidField | None) -> None:
        if len(poses.q) == 1 and field is not None:
            self._close()
            self._view.show_ellipsoids("result", [glyph(field, 0)] if field.graphics else [])
            self._field = field
            return
        self._close()
        view = self._view
        mech = view.session.mech
        self._foreign = poses.model is not None and poses.model != view.session.model
        if self._foreign:
            mech = mech.updated(poses.model)
        self._poses, self._field, self._names = poses, field, mech.frame_names
        self._arrays = [np.asarray(mech.poses(np.array(q), p=dict(p))) for q, p in zip(poses.q, poses.p, strict=True)]
        animated = self.animated
        for widget in self._moving:
            widget.setVisible(animated)
        self.scrub.setRange(0, len(poses.q) - 1)
        self.index = 0
        if animated:
            self._show(0)
            self.toggle()
        else:
            self._show_all()
        self.show()
        self.place()
        self.changed.emit()

    def _show_all(self) -> None:
        assert self._poses is not None
        view = self._view
        view.scene.overlays.ghosts(self._names, self._arrays, parameters=self._poses.p, model=self._poses.model)
        if self._field is not None and self._field.graphics:
            glyphs = [glyph(self._field, k) for k in range(len(self._field.ellipsoids))]
            view.show_ellipsoids("result", glyphs)
        self.label.setText(f"{self._poses.title or 'Sequence'} · {len(self._arrays)} poses")
        view.update()

    def _show(self, index: int) -> None:
        assert self._poses is not None
        view = self._view
        self.index = index
        if self._foreign or any(self._poses.p):
            view.scene.show(self._poses.model or view.session.model, dict(self._poses.p[index]))
        view.scene.move(self._names, self._arrays[index])
        if self._field is not None and self._field.graphics:
            view.show_ellipsoids("result", [glyph(self._field, index)])
        self.scrub.setValue(index)
        self.label.setText(self._words(index))
        view.update()

    def _words(self, index: int) -> str:
        assert self._poses is not None
        ranges = self._poses.ranges
        count = len(self._arrays)
        text = f"{index + 1} / {count}"
        return f"{text}  {', '.join(str(each[0]) for each in ranges)}" if ranges else text

    # ----------------------------------------------------------------------------- playing

    def toggle(self) -> None:
        """Play or hold."""
        if not self.animated:
            return
        if self.playing:
            self._timer.stop()
        else:
            if self.index >= len(self._arrays) - 1:
                self._show(0)
            self._timer.start(min(LONGEST_STEP, max(1000 // RATE, SHORTEST // max(1, len(self._arrays)))))
        self.play.setIcon(icon("pause" if self.playing else "play"))

    def _tick(self) -> None:
        if self.index + 1 >= len(self._arrays):
            self.toggle()
            return
        self._show(self.index + 1)

    def step(self, count: int) -> None:
        """So many poses on."""
        if self.active:
            self._hold()
            self._show(min(max(self.index + count, 0), len(self._arrays) - 1))

    def to(self, index: int) -> None:
        """The pose of an index; −1 is the last."""
        if self.active:
            self._hold()
            self._show(index % len(self._arrays))

    def _hold(self) -> None:
        if self.playing:
            self.toggle()

    def _scrubbed(self, index: int) -> None:
        if self.active and index != self.index:
            self._hold()
            self._show(index)

    # ----------------------------------------------------------------------------- closing

    def close_sequence(self) -> None:
        """Remove everything and show the session's pose again."""
        was = self.active
        self._close()
        if was:
            session, view = self._view.session, self._view
            view.scene.show(session.model, session.p)
            view.scene.move(session.mech.frame_names, session.mech.poses(session.q, p=session.p))
            view.update()
            self.changed.emit()

    def _close(self) -> None:
        self._timer.stop()
        self.play.setIcon(icon("play"))
        self._poses = self._field = None
        self._arrays = []
        self._view.scene.overlays.ghosts((), [])
        self._view.show_ellipsoids("result", [])
        self.hide()

    def _session_changed(self, old: Any, new: Any) -> None:
        if old.model is not new.model and self.active and self._names != self._view.session.mech.frame_names:
            self.close_sequence()

    def _session_moved(self) -> None:
        if self.playing:
            self.toggle()

    def place(self) -> None:
        """Stay at the lower edge, in the middle."""
        self.adjustSize()
        host = self.parentWidget()
        self.move((host.width() - self.width()) // 2, host.height() - self.height() - MARGIN)


def glyph(field: EllipsoidField, index: int) -> tuple[Any, Any, Any, str]:
    """Centre, axes, radii and kind of one ellipsoid as it is drawn."""
    drawn = field.drawn(index)
    return drawn.center, np.array(drawn.axes), np.array(drawn.radii), field.kind
