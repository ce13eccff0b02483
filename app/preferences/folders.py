"""Folders for persistent data, and the message if one of them is not writable."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from app.preferences import settings
from core.errors import listed


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


def places() -> dict[str, Path]:
    """Return the folders of persistent data, by what they hold."""
    return {"settings": settings.folder(), "recovery copies": settings.recovery_folder()}


def obstacle(kept: Mapping[str, Path]) -> str:
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
