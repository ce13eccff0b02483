"""Dialogs about the program: version and system, and the licences of the program and its libraries, as stated by their
packages."""

from __future__ import annotations

import platform
import re
from html import escape
from importlib import metadata
from typing import Any, NamedTuple

from PySide6.QtCore import Qt, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QTextBrowser, QVBoxLayout, QWidget
from vtkmodules.vtkCommonCore import vtkVersion

from app.preferences.icons import icon
from app.widgets.label import Label, MarkupLabel
from kinetostat import __version__


class AboutDialog(QDialog):
    """Dialog with the program's name, its version, and the versions of system and libraries."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("About Kinetostat")
        picture = Label(pixmap=icon("kinetostat").pixmap(72, 72))
        facts = version_lines()
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


def version_lines() -> list[str]:
    """Return lines with the versions of the system and libraries in use."""
    return [
        f"Python {platform.python_version()}, Qt {qVersion()}, VTK {vtkVersion.GetVTKVersion()}",
        f"{platform.system()} {platform.release()}, {platform.machine()}",
    ]


DIRECT_LIBRARIES = (
    "PySide6-Essentials",
    "vtk",
    "pyqtgraph",
    "numpy",
    "scipy",
    "casadi",
    "llvmlite",
    "PyYAML",
    "lxml",
    "trimesh",
    "pycollada",
    "pillow",
    "platformdirs",
    "click",
)
"""Libraries that the program itself requires; the libraries they require are found from there."""


class Library(NamedTuple):
    """A library with its version and licence."""

    name: str
    version: str
    licence: str
    home: str


class LicencesDialog(QDialog):
    """Dialog with the program's own licence and a table of the libraries."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Licences")
        self.resize(680, 560)
        text = QTextBrowser(openExternalLinks=True)
        rows = "".join(
            f"<tr><td><b>{escape(each.name)}</b> {escape(each.version)}</td><td>{escape(each.licence)}</td>"
            f"<td>{_home_page_link(each.home)}</td></tr>"
            for each in find_libraries()
        )
        text.setHtml(
            "<h3>Kinetostat</h3><p>BSD 3-Clause: use, change and pass on freely; keep the notice; no warranty.</p>"
            "<h3>Font of formulas</h3><p>STIX Two Math: SIL Open Font License 1.1, "
            f"{_home_page_link('https://github.com/stipub/stixfonts')}</p>"
            f"<h3>Libraries</h3><table cellspacing='0' cellpadding='4'>{rows}</table>"
        )
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(text)
        column.addWidget(buttons)


def _home_page_link(home: str) -> str:
    return f"<a href='{escape(home, quote=True)}'>{escape(home)}</a>" if home.startswith("http") else ""


def find_libraries() -> list[Library]:
    """Return the installed libraries that the program uses, directly or indirectly, sorted by name."""
    found: dict[str, Library] = {}
    waiting = list(DIRECT_LIBRARIES)
    while waiting:
        name = waiting.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in found:
            continue
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        found[key] = _read_library(package)
        waiting += [_package_name(line) for line in package.requires or () if "extra ==" not in line]
    return sorted(found.values(), key=lambda each: each.name.lower())


def _package_name(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    return match.group() if match else requirement


def _read_library(package: metadata.Distribution) -> Library:
    facts: Any = package.metadata
    classifiers = [
        c.rsplit("::", 1)[-1].strip() for c in facts.get_all("Classifier") or () if c.startswith("License ::")
    ]
    stated = facts.get("License-Expression") or ""
    said = (facts.get("License") or "").strip()
    if not stated and not classifiers and re.search("[A-Za-z]", said.split("\n")[0]):
        stated = said.split("\n")[0][:90]
    stated = stated or (said if len(said) < 40 and not classifiers else "")
    homes = [url.split(",", 1)[-1].strip() for url in facts.get_all("Project-URL") or ()]
    home = facts.get("Home-page") or (homes[0] if homes else "")
    return Library(
        str(facts["Name"]), package.version, stated or ", ".join(classifiers) or "see its package", str(home)
    )
