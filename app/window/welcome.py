"""What an empty model shows in the viewport: what one can do now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QVBoxLayout

from app.document.session import State
from app.widgets.label import MarkupLabel

if TYPE_CHECKING:
    from app.viewport.stage import Stage

CHOICES = ("file.open", "file.examples", "add.link", "add.chain")


class Welcome(QFrame):
    """Stands in the middle of the viewport while the model has no part."""

    def __init__(self, view: Stage, actions: Mapping[str, QAction]) -> None:
        super().__init__(view.widget)
        self._view = view
        self.setObjectName("message")
        words = MarkupLabel("<b>Nothing here yet.</b><br>Drop a robot file on the window, or begin with one of these.")
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        row = QHBoxLayout()
        for name in CHOICES:
            button = QToolButton(autoRaise=True)
            button.setDefaultAction(actions[name])
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 14, 18, 10)
        column.addWidget(words)
        column.addLayout(row)
        view.session.changed.connect(self._changed)
        view.gestures.chosen.connect(self.refresh)
        view.widget.installEventFilter(self)
        self.refresh()

    def close(self) -> None:
        """Listen no more."""
        self._view.session.changed.disconnect(self._changed)
        self._view.gestures.chosen.disconnect(self.refresh)

    def _changed(self, old: State, new: State) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Show or hide, in the middle."""
        model = self._view.session.model
        drawing = self._view.gestures.tool.keeps_view
        self.setVisible(not drawing and not (model.bodies or model.chains or model.frames or model.assemblies))
        self.place()

    def eventFilter(self, host: QObject, event: QEvent) -> bool:
        """Stay in place when the viewport changes its size."""
        if event.type() == QEvent.Type.Resize:
            self.place()
        return False

    def place(self) -> None:
        """Stay in the middle."""
        self.adjustSize()
        host = self.parentWidget()
        self.move((host.width() - self.width()) // 2, (host.height() - self.height()) // 2)
