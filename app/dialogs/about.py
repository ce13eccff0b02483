"""The About dialog: version and system."""

from __future__ import annotations

import platform

from PySide6.QtCore import Qt, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QVBoxLayout, QWidget
from vtkmodules.vtkCommonCore import vtkVersion

from app.preferences.icons import icon
from app.widgets.label import Label, MarkupLabel
from kinetostat import __version__


class About(QDialog):
    """Dialog with the program's name, version and system."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("About Kinetostat")
        picture = Label(pixmap=icon("kinetostat").pixmap(72, 72))
        facts = versions()
        words = MarkupLabel(
            f"<h2>Kinetostat {__version__}</h2><p>Design, study and teach robots and mechanisms.</p>"
            f"<p>{'<br>'.join(facts)}</p><p>BSD 3-Clause licence.</p>"
        )
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = QHBoxLayout()
        row.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        row.addSpacing(12)
        row.addWidget(words, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        copy = buttons.addButton("Copy", QDialogButtonBox.ButtonRole.ActionRole)
        text = "\n".join([f"Kinetostat {__version__}", *facts])
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(text))
        column = QVBoxLayout(self)
        column.addLayout(row)
        column.addWidget(buttons)


def versions() -> list[str]:
    """Return the versions of the system and libraries the program runs on."""
    return [
        f"Python {platform.python_version()}, Qt {qVersion()}, VTK {vtkVersion.GetVTKVersion()}",
        f"{platform.system()} {platform.release()}, {platform.machine()}",
    ]
