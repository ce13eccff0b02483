"""The Configurations panel: all positions of the arm with its tool where it is now, by name; the tool's pose in
numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from app.background.signals import Lifetime
from app.document.arm_configurations import ArmConfigurations, arm_configurations_of
from app.document.revision import DocumentState
from app.panels.configurations.configuration_list import ConfigurationList
from app.panels.configurations.pose_form import PoseForm
from app.panels.configurations.self_motion_row import SelfMotionRow
from app.panels.configurations.slowest_directions import SlowestDirections
from app.plain_text import escape_tip
from app.preferences.settings import Settings
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.label import Label
from app.widgets.panel_parts import create_panel_note, create_push_button, wrap_in_scroll_area
from core.mechanism.inverse_kinematics_results import InverseKinematics

if TYPE_CHECKING:
    from app.document.session import Session
    from app.viewport.stage import Stage
    from app.workbench import Workbench

AUTOMATIC = "automatic"
"""Word for the frame that is used if none is chosen: the selected one, or else the tool."""
LEAST_LIST_HEIGHT = 130
"""Height of the list, pixels, below which the panel is scrolled."""
UPDATE_PAUSE = 20
"""Milliseconds in which several changes are shown together."""


class ConfigurationsPanel(QWidget):
    """List of configurations with the pose of the frame. stage : the 3-D view, whose direction the thumbnails have"""

    def __init__(self, session: Session, settings: Settings, stage: Stage | None = None) -> None:
        super().__init__()
        self._session, self._settings, self._stage = session, settings, stage
        self.listed: ArmConfigurations = arm_configurations_of(session)
        self._said = ("", "")
        self._slowest: SlowestDirections | None = None
        self.frames = NarrowCombo(self)
        self.frames.setAccessibleName("Frame")
        self.frames.setToolTip(
            "Frame that is in the same place in all configurations; automatic: the selected frame, or the tool"
        )
        self.frames.activated.connect(lambda _: self.listed.choose_frame(str(self.frames.currentData() or "")))
        self.ghosts = QCheckBox("In the scene", toolTip="Show the configurations as transparent copies of the arm")
        self.ghosts.toggled.connect(self.listed.show_ghosts)
        self.take_button = create_push_button("Take", "Move the machine to the chosen configuration", self._take_chosen)
        self.note = create_panel_note()
        self.speeds = create_panel_note()
        self.speeds.setToolTip("Least speed of the frame as a share of its greatest, for unit joint speeds, world axes")
        self.list = ConfigurationList(self.listed, settings)
        self.list.taken.connect(self._take)
        self.form = PoseForm(self.listed, settings, self._say)
        self.self_motion = SelfMotionRow(self.listed, settings)
        self._lay_out()
        self._soon = QTimer(self, singleShot=True, interval=UPDATE_PAUSE)
        self._soon.timeout.connect(self._update)
        self._seen = QTimer(self, singleShot=True, interval=0)
        self._seen.timeout.connect(self._on_visibility_checked)
        self._life = Lifetime()
        self._life.callback(self._soon.stop)
        self._life.callback(self._seen.stop)
        self._life.callback(self.listed.show_for, self, False)
        self._life.listen(
            (self.listed.changed, self._update_soon),
            (self.listed.marked, self._on_marked),
            (self.listed.options_changed, self._on_options_changed),
            (session.moved, self._update_soon),
            (session.changed, self._on_document_changed),
            (session.selected, self._update_soon),
            (settings.changed, self._on_setting_changed),
        )
        self._fill_frames()
        self._on_options_changed()

    def _lay_out(self) -> None:
        """Arrange the controls, the pose, the note and the list from top to bottom."""
        row = QHBoxLayout()
        row.setContentsMargins(8, 6, 8, 4)
        row.addWidget(Label("Frame"))
        row.addWidget(self.frames, 1)
        below = QHBoxLayout()
        below.setContentsMargins(8, 0, 8, 4)
        below.addWidget(self.ghosts, 1)
        below.addWidget(self.take_button)
        page = QWidget()
        inside, column = QVBoxLayout(page), QVBoxLayout(self)
        for each in (inside, column):
            each.setContentsMargins(0, 0, 0, 0)
            each.setSpacing(0)
        for widget in (self.form, self.self_motion, self.speeds, self.note):
            inside.addWidget(widget)
        self.list.setMinimumHeight(LEAST_LIST_HEIGHT)
        inside.addWidget(self.list, 1)
        area = wrap_in_scroll_area(page)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column.addLayout(row)
        column.addLayout(below)
        column.addWidget(area, 1)

    def close(self) -> None:
        """Disconnect from all signals."""
        self.self_motion.close()
        self._life.close()

    def showEvent(self, event: QShowEvent) -> None:
        """Compute the list while it can be seen."""
        super().showEvent(event)
        self.check_visibility()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop computing the list."""
        super().hideEvent(event)
        self.check_visibility()

    def check_visibility(self, *_: object) -> None:
        """Check soon if the list can be seen: Qt also shows panels that are behind another one's tab."""
        self._seen.start()

    def _on_visibility_checked(self) -> None:
        is_seen = self.isVisible() and not self.visibleRegion().isEmpty()
        if is_seen != self.listed.is_wanted:
            self.listed.show_for(self, is_seen)

    def changeEvent(self, event: QEvent) -> None:
        """Update the colours after a change of theme."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.ApplicationPaletteChange, QEvent.Type.PaletteChange):
            QTimer.singleShot(0, self, self._update)

    # ----------------------------------------------------------------------------- showing

    def _update_soon(self, *_: object) -> None:
        self.check_visibility()
        if self.listed.is_wanted and not self._soon.isActive():
            self._soon.start()

    def _update(self) -> None:
        listed = self.listed
        self.form.show_pose()
        if not listed.is_old or not listed.solutions:
            self.list.show_list(self._picture_axes())
        self.list.setEnabled(not listed.is_old)
        self.frames.setItemText(0, f"{listed.frame} ({AUTOMATIC})")
        self._update_buttons()
        self._update_note()
        self._update_speeds()

    def _update_speeds(self) -> None:
        """Show how near the pose is to a singular one."""
        session, listed = self._session, self.listed
        if not listed.can_move:
            self.speeds.show_text("")
            return
        if self._slowest is None or (self._slowest.mech, self._slowest.frame) != (session.mech, listed.frame):
            self._slowest = SlowestDirections(session.mech, listed.frame, session.p)
        words, severity = self._slowest.describe(session.q, session.p)
        self.speeds.show_text(f"{listed.singularity} {words}".strip(), severity)

    def _picture_axes(self) -> NDArray[np.float64]:
        """(3, 3) right, up and towards the viewer, as columns."""
        if self._stage is None:
            return np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
        return np.asarray(self._stage.scene.view.axes)

    def _update_note(self) -> None:
        words, severity = self._said
        if not words:
            words, severity = state_of_list(self.listed)
        self.note.show_text(words, severity)
        found = self.listed.found
        self.note.setToolTip(escape_tip(_sentence(found.form) if found is not None else ""))

    def _update_buttons(self) -> None:
        chosen = self.listed.chosen
        self.take_button.setEnabled(chosen is not None and chosen != self.listed.present and not self.listed.is_old)

    def _say(self, words: str, severity: str) -> None:
        self._said = words, severity
        self._update_note()

    def _fill_frames(self) -> None:
        session, listed = self._session, self.listed
        self.frames.clear()
        self.frames.addItem(f"{listed.frame} ({AUTOMATIC})", "")
        for name in session.mech.frame_names:
            if name != "world":
                self.frames.addItem(name, name)
        self.frames.setCurrentIndex(max(0, self.frames.findData(listed.frame_choice)))

    # ----------------------------------------------------------------------------- hearing

    def _on_marked(self) -> None:
        self.list.show_chosen()
        self._update_buttons()

    def _on_options_changed(self) -> None:
        self.ghosts.blockSignals(True)
        self.ghosts.setChecked(self.listed.shows_ghosts)
        self.ghosts.blockSignals(False)
        self.frames.setCurrentIndex(max(0, self.frames.findData(self.listed.frame_choice)))
        self.form.show_options()
        self._update_soon()

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        self._said = "", ""
        if old.model is not new.model:
            self._fill_frames()
        self._update_soon()

    def _on_setting_changed(self, key: str) -> None:
        if key.startswith("units/"):
            self.form.refresh_units()
            self._update_soon()

    def _take(self, index: int) -> None:
        self._said = "", ""
        self.listed.take(index)

    def _take_chosen(self) -> None:
        if self.listed.chosen is not None:
            self._take(self.listed.chosen)


def state_of_list(listed: ArmConfigurations) -> tuple[str, str]:
    """Return a sentence about the list, how complete and how old it is, and its severity."""
    if listed.problem:
        return listed.problem, "warning"
    found = listed.found
    if found is None:
        return "Computing …", ""
    if listed.is_old:
        return "Old: the machine has moved since; the list follows when it rests.", "hint"
    return describe_list(listed.frame, found)


def describe_list(frame: str, found: InverseKinematics) -> tuple[str, str]:
    """Return a sentence about the solutions found: their number, those within limits, and how complete they are."""
    count = len(found.solutions)
    if not count:
        return f"No position was found with {frame} here ({found.form}).", "warning"
    within = sum(each.is_within_limits for each in found.solutions)
    noun = "configuration" if count == 1 else "configurations"
    limits = "" if within == count else f", {within} within the joint limits"
    continuum = found.continuum
    if found.complete == "all":
        words = f"{'The only' if count == 1 else f'All {count}'} {noun}{limits}."
    elif found.complete == "all for these self-motion values" and continuum is not None:
        held = f"with {continuum.parameter} held"
        words = f"{'The only' if count == 1 else f'All {count}'} {noun} {held}{limits}."
    else:
        these = "this" if count == 1 else f"these {count}"
        words = f"At least {these} {noun} with {frame} here{limits}; there may be others. ({_sentence(found.form)})"
    if continuum is not None:
        pose = "Singular pose: " if any(each.singularity for each in found.solutions) else ""
        words += f" {pose}{_list_joints(continuum.joints)} can move while {frame} stays."
    return words, "" if within else "warning"


def _list_joints(joints: tuple[str, ...]) -> str:
    return " and ".join(joints) if len(joints) < 4 else f"{joints[0]}, {joints[1]} … {joints[-1]}"


def _sentence(form: str) -> str:
    return form[:1].upper() + form[1:] + "."


def create_panel(bench: Workbench) -> ConfigurationsPanel:
    """Create the Configurations panel of a window."""
    return ConfigurationsPanel(bench.session, bench.settings, bench.stage)
