"""The user's preferences: units (messages of the kernel in radians are converted), theme, view, recent files; and the
folders for persistent data, with the message shown if one of them is not writable."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs
from PySide6.QtCore import QByteArray, QSettings

from app.background.signals import Signal
from core.errors import join_words

if TYPE_CHECKING:
    from core.model import Finding
    from core.model.units import DisplayUnit


RECENT_LIMIT = 12

VIEW_FLAGS = {
    "grid": True,
    "axes": False,
    "gravity": False,
    "joints": False,
    "frames": False,
    "labels": False,
    "com": False,
    "inertia": False,
    "collision": False,
    "handles": False,
    "forces": True,
    "sensors": True,
    "marks": True,
    "layers": True,
    "dimensions": True,
    "mobility": False,
}
"""Items of the scene that can be shown or hidden, with their defaults."""


def settings_folder() -> Path:
    """Return the folder of the settings file."""
    return Path(platformdirs.user_config_dir("kinetostat", appauthor=False))


def recovery_folder() -> Path:
    """Return the folder of recovery copies of unsaved work."""
    return Path(platformdirs.user_state_dir("kinetostat", appauthor=False)) / "recovery"


class Settings:
    """The user's preferences; every change is stored at once and announced by `changed(key)`."""

    changed = Signal(str)

    def __init__(self, path: Path | None = None) -> None:
        self._store = QSettings(str(path or settings_folder() / "settings.ini"), QSettings.Format.IniFormat)
        self._texts: dict[str, object] = {}  # what was read; units are asked for at every movement

    # ----------------------------------------------------------------------------- any value

    def value(self, key: str, default: Any = None) -> Any:
        """Return a stored value (anything JSON can hold), or the default."""
        if key not in self._texts:
            self._texts[key] = self._store.value(key)
        text = self._texts[key]
        if not isinstance(text, str):
            return default
        try:
            return json.loads(text)
        except ValueError:
            return default

    def remember(self, key: str, value: Any) -> None:
        """Store a value (anything JSON can hold) under a key."""
        if self.value(key) != value:
            text = self._texts[key] = json.dumps(value)
            self._store.setValue(key, text)
            self.changed.emit(key)

    def stored_bytes(self, key: str) -> QByteArray | None:
        """Return stored bytes, such as the layout of the docks; None if there are none."""
        value = self._store.value(key)
        return value if isinstance(value, QByteArray) else None

    def remember_bytes(self, key: str, value: QByteArray) -> None:
        """Store bytes under a key."""
        self._store.setValue(key, value)

    def forget(self, key: str) -> None:
        """Delete a key and all keys below it."""
        self._store.remove(key)
        self._texts.clear()

    def flush(self) -> None:
        """Write the settings to disk now."""
        self._store.sync()

    # ----------------------------------------------------------------------------- units

    @property
    def degrees(self) -> bool:
        """True if angles are shown in degrees (else radians)."""
        return bool(self.value("units/degrees", True))

    @degrees.setter
    def degrees(self, on: bool) -> None:
        self.remember("units/degrees", bool(on))

    @property
    def millimetres(self) -> bool:
        """True if lengths are shown in millimetres (else metres)."""
        return bool(self.value("units/millimetres", False))

    @millimetres.setter
    def millimetres(self, on: bool) -> None:
        self.remember("units/millimetres", bool(on))

    def display(self, dimension: str) -> DisplayUnit:
        """Return the display unit's symbol and factor for a dimension (shown = SI / factor)."""
        from core.model.units import display_unit

        return display_unit(dimension, degrees=self.degrees, millimetres=self.millimetres)

    def format_value(self, value: float, dimension: str) -> str:
        """Format a value in the display unit, e.g. "30.0°" or "0.500 m"."""
        from core.model.formula.numerals import format_readable

        unit = self.display(dimension)
        digits = {"°": 1, "mm": 1, "rad": 4, "m": 4, "": 4}.get(unit.symbol)
        amount = value / unit.factor + 0.0
        number = f"{amount:.4g}" if digits is None else f"{amount:.{digits}f}"
        number = "0" + number[2:] if not float(number) and number.startswith("-0") else number
        gap = "" if unit.symbol.startswith("°") or not unit.symbol else "\u202f"
        return f"{format_readable(number)}{gap}{unit.symbol}"

    def in_display_units(self, text: str) -> str:
        """Return a message of the kernel with its angles in the display unit."""
        return convert_angles(text, self.degrees)

    # ----------------------------------------------------------------------------- look and view

    @property
    def look(self) -> str:
        """The theme: "system", "light" or "dark"."""
        look = self.value("look", "system")
        return look if look in ("system", "light", "dark") else "system"

    @look.setter
    def look(self, look: str) -> None:
        self.remember("look", look)

    def view_flag(self, name: str) -> bool:
        """Return True if an item of `VIEW_FLAGS` is shown in the scene."""
        return bool(self.value(f"view/{name}", VIEW_FLAGS[name]))

    def set_view_flag(self, name: str, on: bool) -> None:
        """Show or hide an item of `VIEW_FLAGS` in the scene."""
        self.remember(f"view/{name}", bool(on))

    # ----------------------------------------------------------------------------- files

    @property
    def keeps_older(self) -> bool:
        """True if saving keeps the previous version as name.kst~."""
        return bool(self.value("files/older", True))

    @keeps_older.setter
    def keeps_older(self, on: bool) -> None:
        self.remember("files/older", bool(on))

    @property
    def shows_hands(self) -> bool:
        """True if an animated hand demonstrates a tool when it is first chosen."""
        return bool(self.value("hands", True))

    @shows_hands.setter
    def shows_hands(self, on: bool) -> None:
        self.remember("hands", bool(on))

    @property
    def recent_files(self) -> tuple[Path, ...]:
        """Recently opened files that still exist, newest first."""
        return tuple(path for path in map(Path, self.value("recent", [])) if path.is_file())

    def add_recent(self, path: str | Path) -> None:
        """Put a file at the top of the recent files."""
        new = str(Path(path).resolve())
        kept = [new, *(old for old in self.value("recent", []) if old != new)]
        self.remember("recent", kept[:RECENT_LIMIT])

    def clear_recent(self) -> None:
        """Clear the list of recent files."""
        self.remember("recent", [])


def reason_not_writable(folder: Path) -> str:
    """Return why a folder cannot be written, creating it if needed; "" if it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"kept")
            file.flush()
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    return ""


def data_folders() -> dict[str, Path]:
    """Return the folders of persistent data, keyed by a description of their contents."""
    return {"settings": settings_folder(), "recovery copies": recovery_folder()}


def unwritable_folders_message(folders: Mapping[str, Path]) -> str:
    """Return a message saying what cannot be saved, why, and what to do; "" if everything can be saved."""
    against = {name: reason for name, folder in folders.items() if (reason := reason_not_writable(folder))}
    if not against:
        return ""
    first = next(iter(against))
    names = join_words(list(against))
    return (
        f"{names[0].upper()}{names[1:]} cannot be saved: {against[first]} ({folders[first]}). Everything else works; "
        "save what you need yourself, or make your home folder writable."
    )


_IN_DISPLAY_UNITS = re.compile(
    r"(?P<radians>[-+\N{MINUS SIGN}]?\d+(?:\.\d*)?(?:e[-+]?\d+)?) rad(?P<rate>/s²?)?"
    r"(?P<both> \([^()]*°[^()]*\))?(?![\w·/])"
)
"""Pattern of an angle in radians, such as "0.5 rad", "2 rad/s", "0.5 rad (28.65°)"."""


def convert_angles(text: str, degrees: bool) -> str:
    """Return the text with its angles converted to degrees, or left in radians, as preferred."""

    def convert_match(match: re.Match[str]) -> str:
        rate = match["rate"] or ""
        if not degrees:
            return f"{match['radians']} rad{rate}"
        value = math.degrees(float(match["radians"].replace("\N{MINUS SIGN}", "-")))
        return f"{value:.4g}°{rate}"

    return _IN_DISPLAY_UNITS.sub(convert_match, text)


def convert_finding_angles(finding: Finding, degrees: bool) -> Finding:
    """Return the finding with the angles in its text converted to degrees, or left in radians, as preferred."""
    text, remedy = (convert_angles(each, degrees) for each in (finding.text, finding.remedy))
    return finding if text == finding.text else dataclasses.replace(finding, text=text, remedy=remedy)
