"""Frame shown while the program loads, with its name and the file to open. Imports nothing but Qt and the theme."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFrame, QVBoxLayout

from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.preferences.theme import PALETTES, wanted_look
from app.widgets.label import Label

SIZE = (420, 190)
ICON = 56


class OpeningFrame(QFrame):
    """A frame at the centre of the screen until the window shows the machine."""

    def __init__(self, settings: Settings, words: str) -> None:
        super().__init__(None, Qt.WindowType.SplashScreen | Qt.WindowType.FramelessWindowHint)
        colors = PALETTES[wanted_look(settings)]
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("opening")
        self.setStyleSheet(
            f"#opening {{ background: {colors.window}; border: 1px solid {colors.line}; }}"
            f"QLabel {{ color: {colors.text}; }} #muted {{ color: {colors.muted}; }}"
        )
        self.setWindowTitle("Kinetostat")
        picture, name, self.words = Label(), Label("Kinetostat"), Label(words)
        picture.setPixmap(icon("kinetostat").pixmap(ICON, ICON))
        font = name.font()
        font.setPointSizeF(1.7 * font.pointSizeF())
        name.setFont(font)
        self.words.setObjectName("muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 20)
        for label in (picture, name, self.words):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(label)
        self.setFixedSize(*SIZE)
        middle = self.screen().availableGeometry().center()
        self.move(middle - self.rect().center())

    def appear(self) -> None:
        """Show the frame at once, before anything else is done."""
        self.show()
        QApplication.processEvents()
        self.repaint()
        QApplication.processEvents()
