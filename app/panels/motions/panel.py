"""The Motions panel: stored poses and targets, points of a motion over time, and its quantities over their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QPoint, Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QInputDialog, QLineEdit, QSplitter, QVBoxLayout, QWidget

from app.background.signals import Lifetime
from app.document.motion_plans import MotionPlans, motion_plans_of
from app.panels.motions.motion_chart import MotionChart
from app.panels.motions.places import PlaceList, rename_element
from app.panels.motions.point_menu import build_point_menu
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.panel_parts import create_icon_button, create_panel_note
from core.motions import keyframes

if TYPE_CHECKING:
    from app.workbench import Workbench

NO_MOTION = "No motion. New leads one through all stored poses."
SHORTEST = 0.01
"""Shortest duration (s) of a segment that is set by dragging."""


class MotionsPanel(QWidget):
    """List of poses and targets next to the chart of a motion, below a row of buttons."""

    def __init__(self, bench: Workbench) -> None:
        super().__init__()
        self._bench, self._session = bench, bench.session
        self.plans: MotionPlans = motion_plans_of(bench.session)
        self.motions = NarrowCombo(self)
        self.motions.setAccessibleName("Motion")
        self.motions.setToolTip("Motion that is shown, played and extended by storing poses")
        self.motions.activated.connect(lambda _: self.plans.show_motion(str(self.motions.currentData() or "")))
        self.new = create_icon_button("new", "New motion through all stored poses and targets", self.plans.add_motion)
        self.store = create_icon_button(
            "pose", "Store the present pose (K); the motion that is shown also leads there", self.store_pose
        )
        self.play = create_icon_button("play", "Play the motion (Space pauses)", self.play_motion)
        self.note = create_panel_note()
        self.places = PlaceList(self.plans)
        self.chart = MotionChart(self.plans, bench.theme)
        self.chart.sought.connect(self._seek)
        self.chart.dragged.connect(self._on_dragged)
        self.chart.named.connect(self._ask_name)
        self.chart.menu_wanted.connect(self._open_menu)
        self._lay_out()
        self._seen = QTimer(self, singleShot=True, interval=0)
        self._seen.timeout.connect(self._on_visibility_checked)
        self._life = Lifetime()
        self._life.callback(self._seen.stop)
        self._life.callback(self.plans.show_for, self, False)
        self._life.listen(
            (self.plans.changed, self.refresh),
            (self.plans.marked, self._show_chosen),
            (bench.session.changed, self.refresh),
            (bench.session.runs.moved, self._show_time),
            (bench.session.runs.changed, self._show_time),
        )
        self.refresh()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(8, 4, 8, 2)
        row.setSpacing(4)
        self.motions.setMaximumWidth(220)
        for each in (self.motions, self.new, self.store, self.play):
            row.addWidget(each)
        row.addWidget(self.note, 100)
        row.addStretch(1)  # while the note is hidden
        self.split = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        self.split.addWidget(self.places)
        self.split.addWidget(self.chart)
        self.split.setSizes([150, 600])
        self.split.setStretchFactor(1, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(self.split, 1)

    def close(self) -> None:
        """Disconnect from all signals."""
        self._life.close()

    # ----------------------------------------------------------------------------- visibility

    def showEvent(self, event: QShowEvent) -> None:
        """Plan the motion while the panel can be seen."""
        super().showEvent(event)
        self.check_visibility()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop planning."""
        super().hideEvent(event)
        self.check_visibility()

    def check_visibility(self, *_: object) -> None:
        """Check soon if the panel can be seen: Qt also shows panels that are behind another one's tab."""
        self._seen.start()

    def _on_visibility_checked(self) -> None:
        is_seen = self.isVisible() and not self.visibleRegion().isEmpty()
        if is_seen != self.plans.is_wanted:
            self.plans.show_for(self, is_seen)

    def changeEvent(self, event: QEvent) -> None:
        """Update the colours after a change of theme."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.ApplicationPaletteChange, QEvent.Type.PaletteChange):
            self.chart.update()

    # ----------------------------------------------------------------------------- showing

    def refresh(self, *_: object) -> None:
        """Show poses, motions and the plan."""
        plans = self.plans
        self.places.show_places()
        names = [each.name for each in self._session.model.motions]
        if names != [self.motions.itemData(k) for k in range(self.motions.count())]:
            self.motions.clear()
            for name in names:
                self.motions.addItem(name, name)
        motion = plans.motion
        self.motions.setCurrentIndex(-1 if motion is None else names.index(motion.name))
        self.motions.setPlaceholderText("no motion")
        self.play.setEnabled(motion is not None and not plans.problem)
        self.chart.show_plan()
        self.note.show_text(*self._note())
        self._show_time()

    def _note(self) -> tuple[str, str]:
        plans = self.plans
        if plans.motion is None:
            return NO_MOTION, ""
        if plans.problem:
            return plans.problem, "warning"
        if plans.planned is None:
            return "Planning …", ""
        above = [lane.title.lower() for lane in self.chart.lanes if lane.is_exceeded]
        if above:
            return f"Beyond its limits: {', '.join(above)}.", "warning"
        return "", ""

    def _show_chosen(self) -> None:
        self.chart.update()

    def _show_time(self, *_: object) -> None:
        runs = self._session.runs
        is_played = runs.current is not None and runs.current is self.plans.record
        self.chart.show_time(runs.time if is_played else None)

    # ----------------------------------------------------------------------------- verbs

    def store_pose(self) -> None:
        """Store the present pose."""
        self._bench.run_command("motion.store_pose")

    def play_motion(self) -> None:
        """Play the motion from its start, once it is planned."""
        self._bench.run_command("motion.play")

    def _seek(self, time: float) -> None:
        is_current = self.plans.record is not None and self._session.runs.current is self.plans.record
        if not is_current and not self.plans.show_run():
            return
        self._bench.player.scrub(time)

    def _on_dragged(self, point: int, time: float, copies: bool) -> None:
        planned, motion = self.plans.planned, self.plans.motion
        if planned is None or motion is None:
            return
        others = np.delete(planned.points, point)
        to = int(np.searchsorted(others, time))
        if copies or to != point or not point:
            label = "Copy a point" if copies else "Move a point"
            self.plans.change(label, lambda model, name: keyframes.move_point(model, name, point, to, copy=copies))
            return
        duration = max(round(time - float(planned.points[point - 1]), 2), SHORTEST)
        self.plans.change(
            "Duration", lambda model, name: keyframes.change_segment(model, name, point, duration=duration)
        )

    def _ask_name(self, point: int) -> None:
        motion = self.plans.motion
        place = keyframes.place_at(motion, point) if motion is not None else ""
        if not place:
            return
        collection = "poses" if any(each.name == place for each in self._session.model.poses) else "targets"
        name, agreed = QInputDialog.getText(self, "Rename", "Name", QLineEdit.EchoMode.Normal, place)
        if agreed and name.strip() and name.strip() != place:
            rename_element(self.plans, collection, place, name.strip())

    def _open_menu(self, point: int, position: QPoint) -> None:
        motion = self.plans.motion
        if motion is not None and point <= len(motion.segments):
            build_point_menu(self.plans, motion, point, self).popup(position)


def create_panel(bench: Workbench) -> MotionsPanel:
    """Create the Motions panel of a window."""
    return MotionsPanel(bench)
