"""The user's preferences: units (also for angles in messages of the kernel, which writes radians), theme, view, recent
files; and the folders for persistent data, with the message if one of them is not writable."""

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
from core.errors import listed

if TYPE_CHECKING:
    from core.model import Finding
    from core.model.units import Display


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
"""Optional contents of the scene, each with its default."""


def settings_folder() -> Path:
    """Return the folder of the settings file."""
    return Path(platformdirs.user_config_dir("kinetostat", appauthor=False))


def recovery_folder() -> Path:
    """Return the folder of recovery copies of unsaved work."""
    return Path(platformdirs.user_state_dir("kinetostat", appauthor=False)) / "recovery"


class Settings:
    """The user's preferences; every change is stored at once and signalled by `changed(key)`."""

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

    def bytes(self, key: str) -> QByteArray | None:
        """Return stored bytes, such as the arrangement of the docks; None if there are none."""
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
        """Write to disk now."""
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

    def display(self, dimension: str) -> Display:
        """Return the unit symbol and factor in which a dimension is shown (shown = SI / factor)."""
        from core.model.units import display

        return display(dimension, degrees=self.degrees, millimetres=self.millimetres)

    def shown(self, value: float, dimension: str) -> str:
        """Return a value as text in the preferred unit, e.g. "30.0°" or "0.500 m"."""
        from core.model.formula.numerals import readable

        unit = self.display(dimension)
        digits = {"°": 1, "mm": 1, "rad": 4, "m": 4, "": 4}.get(unit.symbol)
        amount = value / unit.factor + 0.0
        number = f"{amount:.4g}" if digits is None else f"{amount:.{digits}f}"
        number = "0" + number[2:] if not float(number) and number.startswith("-0") else number
        gap = "" if unit.symbol.startswith("°") or not unit.symbol else "\u202f"
        return f"{readable(number)}{gap}{unit.symbol}"

    def in_display_units(self, text: str) -> str:
        """Return a text of the kernel with its angles in the preferred unit."""
        return in_preferred_angles(text, self.degrees)

    # ----------------------------------------------------------------------------- look and view

    @property
    def look(self) -> str:
        """The theme: "system", "light" or "dark"."""
        look = self.value("look", "system")
        return look if look in ("system", "light", "dark") else "system"

    @look.setter
    def look(self, look: str) -> None:
        self.remember("look", look)

    def flag(self, name: str) -> bool:
        """Return True if the scene shows one of `VIEW_FLAGS`."""
        return bool(self.value(f"view/{name}", VIEW_FLAGS[name]))

    def set_flag(self, name: str, on: bool) -> None:
        """Show or hide one of `VIEW_FLAGS` in the scene."""
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
    def recent(self) -> tuple[Path, ...]:
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
    """Return why a folder cannot be used, creating it if needed; "" if it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"kept")
            file.flush()
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    return ""


def data_folders() -> dict[str, Path]:
    """Return the folders of persistent data, by what they hold."""
    return {"settings": settings_folder(), "recovery copies": recovery_folder()}


def unwritable_folders_message(kept: Mapping[str, Path]) -> str:
    """Return one message on what cannot be saved, why, and the remedy; "" if everything can."""
    against = {name: reason for name, folder in kept.items() if (reason := reason_not_writable(folder))}
    if not against:
        return ""
    first = next(iter(against))
    names = listed(list(against))
    return (
        f"{names[0].upper()}{names[1:]} cannot be kept: {against[first]} ({kept[first]}). Everything else works; "
        "save what you need yourself, or make your home folder writable."
    )


_IN_DISPLAY_UNITS = re.compile(
    r"(?P<radians>[-+\N{MINUS SIGN}]?\d+(?:\.\d*)?(?:e[-+]?\d+)?) rad(?P<rate>/s²?)?"
    r"(?P<both> \([^()]*°[^()]*\))?(?![\w·/])"
)
"""Pattern of a number in radians, such as "0.5 rad", "2 rad/s", "0.5 rad (28.65°)"."""


def in_preferred_angles(text: str, degrees: bool) -> str:
    """Return the text with its angles in degrees, or in radians only."""

    def said(found: re.Match[str]) -> str:
        rate = found["rate"] or ""
        if not degrees:
            return f"{found['radians']} rad{rate}"
        value = math.degrees(float(found["radians"].replace("\N{MINUS SIGN}", "-")))
        return f"{value:.4g}°{rate}"

    return _IN_DISPLAY_UNITS.sub(said, text)


def finding_in_preferred_angles(finding: Finding, degrees: bool) -> Finding:
    """Return the finding with its angles in degrees, or in radians only."""
    text, remedy = (in_preferred_angles(each, degrees) for each in (finding.text, finding.remedy))
    return finding if text == finding.text else dataclasses.replace(finding, text=text, remedy=remedy)
