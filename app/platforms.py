"""Check the Qt platform names in the environment: Qt aborts the program if it has none of these platforms."""

from __future__ import annotations

import os
from pathlib import Path

PLATFORM = "QT_QPA_PLATFORM"
"""Environment variable that lists platform names separated by ";", each optionally followed by a colon and arguments.
"""


def unknown_platforms() -> str:
    """Return an error message with a remedy if Qt has none of the platforms named in the environment; otherwise ""."""
    wanted = [each for each in os.environ.get(PLATFORM, "").split(";") if each.strip()]
    if not wanted:
        return ""
    known = _installed_platforms()
    if not known or any(each.partition(":")[0].strip().casefold() in known for each in wanted):
        return ""
    return (
        f"{PLATFORM} is set to “{'; '.join(wanted)}”, a platform that Qt does not have. "
        f"Unset {PLATFORM}, or set it to one of {', '.join(known)}."
    )


def _installed_platforms() -> list[str]:
    """Return the names of the installed platform plugins, read without loading them; an empty list if they cannot be
    determined."""
    from PySide6.QtCore import QLibraryInfo, QPluginLoader

    folder = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath), "platforms")
    if os.environ.get("QT_QPA_PLATFORM_PLUGIN_PATH") or not folder.is_dir():
        return []
    described = [QPluginLoader(str(file)).metaData().get("MetaData", {}) for file in folder.iterdir()]
    return sorted(str(key) for each in described for key in each.get("Keys", ()))
