"""Check the Qt platform names set in the environment: Qt ends the program if it has none of them."""

from __future__ import annotations

import os
from pathlib import Path

PLATFORM = "QT_QPA_PLATFORM"
"""Environment variable with platform names separated by ";", each optionally followed by a colon and arguments."""


def unknown_platforms() -> str:
    """Return a message with the remedy if the environment names only platforms that Qt does not have; else ""."""
    wanted = [each for each in os.environ.get(PLATFORM, "").split(";") if each.strip()]
    if not wanted:
        return ""
    known = _known()
    if not known or any(each.partition(":")[0].strip().casefold() in known for each in wanted):
        return ""
    return (
        f"Qt has no platform “{'; '.join(wanted)}”, which {PLATFORM} names. "
        f"Unset {PLATFORM}, or name one of {', '.join(known)}."
    )


def _known() -> list[str]:
    """Return the names of the installed platforms, read without loading them; an empty list if they cannot be found
    out."""
    from PySide6.QtCore import QLibraryInfo, QPluginLoader

    folder = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath), "platforms")
    if os.environ.get("QT_QPA_PLATFORM_PLUGIN_PATH") or not folder.is_dir():
        return []
    described = [QPluginLoader(str(file)).metaData().get("MetaData", {}) for file in folder.iterdir()]
    return sorted(str(key) for each in described for key in each.get("Keys", ()))
