"""The card of a tour: it is shown over the live window and waits until the user has completed the current step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton, QVBoxLayout

from app.background.signals import Lifetime
from app.preferences.icons import icon
from app.tours.tour import StepProgress
from app.widgets.label import Label

if TYPE_CHECKING:
    from app.tours.tour import Tour
    from app.workbench import Workbench

WIDTH = 330
MARGIN = 14
LOOK_EVERY = 250
"""Interval between two checks of the user's actions, ms."""
TOLD = 2600
"""Time for which the confirmation of a completed step is shown, ms."""
RESTS = 500
"""Time without change after which a rotated view or a changed machine counts as at rest, ms."""
BELOW_MESSAGES = 80
"""Height at the top of the viewport that is left free for messages, pixels."""
ALONG = 12
"""Number of sample points along the longest side of a machine part, tested for being covered by the card."""
LEGEND = 100.0
"""Number of machine parts to which a covered legend or bar is equivalent."""
LESS = 0.5
"""The card moves to another corner if that covers less than this fraction of the parts it covers now."""


class TourCard(QFrame):
    """Card in a corner of the viewport: the lower left one, unless it covers the machine there more than elsewhere. An
    interrupted tour continues at the same step."""

    def __init__(self, bench: Workbench, tour: Tour) -> None:
        super().__init__(bench.stage.widget)
        self._bench, self.tour = bench, tour
        self.setObjectName("message")
        self.setAccessibleName(f"Tour: {tour.title}")
        self.step = min(int(bench.settings.value(self._settings_key, 0)), len(tour.steps) - 1)
        self.praised, self.seen = False, StepProgress(bench)
        """True if the step is done and the next one follows soon; the observer of what the user does."""
        self.on = True
        """True while the tour continues."""
        self._build()
        self._tell = QTimer(self, singleShot=True, interval=TOLD)
        self._tell.timeout.connect(self.go_to_next)
        self._looking = QTimer(self, interval=LOOK_EVERY)
        self._looking.timeout.connect(self.check_step)
        self._resting = QTimer(self, singleShot=True, interval=RESTS)
        self._resting.timeout.connect(self.move_to_free_corner)
        self._corner = 0
        self._life = Lifetime()
        self._life.listen(
            (bench.session.produced, self._on_result),
            (bench.session.changed, lambda _old, _new: self._resting.start()),
            (bench.stage.viewpoint.looked, self._resting.start),
        )
        bench.stage.widget.installEventFilter(self)
        self._begin_step()
        self._looking.start()
        self.show()

    @property
    def _settings_key(self) -> str:
        return f"tour/{self.tour.id}"

    def _build(self) -> None:
        self.count, self.title, self.text = Label(), Label(wordWrap=True), Label(wordWrap=True)
        self.count.setObjectName("muted")
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        shut = QToolButton(icon=icon("close"), toolTip="End the tour; Help ▸ Tours continues where you left it")
        shut.setAutoRaise(True)
        shut.clicked.connect(self.leave)
        self.back, self.skip = QPushButton("Back"), QPushButton("Skip")
        self.back.setToolTip("Go back to the previous step")
        self.skip.setToolTip("Skip this step")
        self.back.clicked.connect(lambda: self.go_to(self.step - 1))
        self.skip.clicked.connect(self.go_to_next)
        for button in (shut, self.back, self.skip):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keys with what is being done
        head, foot = QHBoxLayout(), QHBoxLayout()
        head.addWidget(self.count)
        head.addStretch(1)
        head.addWidget(shut)
        foot.addWidget(self.back)
        foot.addStretch(1)
        foot.addWidget(self.skip)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 8, 10, 12)
        column.addLayout(head)
        column.addWidget(self.title)
        column.addWidget(self.text)
        column.addLayout(foot)

    # ----------------------------------------------------------------------------- steps

    def go_to(self, step: int) -> None:
        """Show a step."""
        self.step, self.seen = max(step, 0), StepProgress(self._bench)
        self._begin_step()

    def go_to_next(self) -> None:
        """Show the next step; end the tour after the last one."""
        self._tell.stop()
        if self.step + 1 < len(self.tour.steps):
            self.step += 1
            self.seen = self.seen if self.praised else StepProgress(self._bench)
            self._begin_step()
        else:
            self._bench.settings.remember(self._settings_key, 0)
            self.leave()

    def check_step(self) -> None:
        """Check whether the step has been completed."""
        if self.praised or not self.isVisible():
            return
        self.seen.record_movement()
        step = self.tour.steps[self.step]
        if step.done(self.seen):
            self.praised, self.seen = True, StepProgress(self._bench)  # whoever is quick has begun with the next step
            self.text.setText(f"✓ {step.said}")
            last = self.step + 1 == len(self.tour.steps)
            self.skip.setText("Close" if last else "Next")
            self.move_to_free_corner()
            if not last:
                self._tell.start()

    def _begin_step(self) -> None:
        step = self.tour.steps[self.step]
        self._bench.settings.remember(self._settings_key, self.step)
        self.praised = False
        self.count.setText(f"{self.tour.title} · {self.step + 1} of {len(self.tour.steps)}")
        self.title.setText(step.title)
        self.text.setText(step.text)
        self.back.setEnabled(self.step > 0)
        self.skip.setText("Skip")
        self.move_to_free_corner()

    def _on_result(self, result: object) -> None:
        self.seen.record_result(result)  # type: ignore[arg-type]

    # ----------------------------------------------------------------------------- place, end

    def leave(self) -> None:
        """Close the card; the document is not changed."""
        self.on = False
        self.close_card()
        self.hide()
        self.deleteLater()

    def close_card(self) -> None:
        """Stop the timers and disconnect from signals."""
        self._looking.stop()
        self._tell.stop()
        self._resting.stop()
        self._life.close()

    def eventFilter(self, host: QObject, event: QEvent) -> bool:
        """Keep the card in its corner when the viewport is resized."""
        if event.type() == QEvent.Type.Resize:
            self.move_to_free_corner()
        return False

    def move_to_free_corner(self) -> None:
        """Move the card to the corner where it covers least of the machine, with the height its text needs."""
        host = self.parentWidget()
        width = min(WIDTH, host.width() - 2 * MARGIN)
        self.setFixedWidth(width)
        self.layout().activate()
        height = self.layout().totalHeightForWidth(width)
        self.resize(width, height)
        left, top = MARGIN, host.height() - height - MARGIN
        corners = [QRect(x, y, width, height) for x, y in ((left, top), (left, min(top, BELOW_MESSAGES)))]
        covered = [self._covered_parts(corner) for corner in corners]
        other = 1 - self._corner
        if covered[other] < LESS * covered[self._corner] or not any(covered):
            self._corner = other if any(covered) else 0
        self.move(corners[self._corner].topLeft())
        self.raise_()
        self.setCursor(Qt.CursorShape.ArrowCursor)

    def _covered_parts(self, rectangle: QRect) -> float:
        """Return the number of machine parts behind a rectangle, partly covered ones as fractions, estimated at sample
        points in their boxes; legends and bars count as several parts."""
        scene, annotations = self._bench.stage.scene, self._bench.stage.annotations
        direct = Qt.FindChildOption.FindDirectChildrenOnly
        legends = self.parentWidget().findChildren(QFrame, "overlay", direct)
        parts = LEGEND * sum(each.isVisible() and each.geometry().intersects(rectangle) for each in legends)
        for figure in scene.figures.table.values():
            if figure.item.role == "inertia" or not figure.data.GetNumberOfPoints():
                continue
            low, high = np.reshape(figure.data.GetBounds(), (3, 2)).T
            shares = np.full(3, 2)
            shares[int(np.argmax(high - low))] = ALONG
            grid = [np.linspace(low[k], high[k], shares[k]) for k in range(3)]
            points = np.stack(np.meshgrid(*grid), axis=-1).reshape(-1, 3) @ figure.pose[:3, :3].T + figure.pose[:3, 3]
            seen = [annotations.to_screen((x, y, z)) for x, y, z in points.tolist()]
            parts += sum(each is not None and rectangle.contains(each.toPoint()) for each in seen) / len(seen)
        return parts
