r"""Associate .kst files with Kinetostat on Windows: registry keys below HKEY_CURRENT_USER\Software\Classes.

Tests try this with a registry of their own; nobody tried it on Windows so far.
"""

from __future__ import annotations

import contextlib
import importlib
import subprocess
from collections.abc import Sequence
from typing import Any

from core.errors import KinetostatError

CLASSES = "Software\\Classes"
PROGRAM = "Kinetostat.Model"
"""ProgID of the file type in the registry; all keys below it belong to Kinetostat."""
UNTRIED = "This has not been tested on Windows yet: please report problems."
_KEYS = (f"{PROGRAM}\\shell\\open\\command", f"{PROGRAM}\\shell\\open", f"{PROGRAM}\\shell", PROGRAM)
"""Registry keys written by Kinetostat, innermost first."""


def associate(command: Sequence[str]) -> list[str]:
    """Write the registry keys, all or none of them; return the lines to print. Raises KinetostatError.

    command : the words that start the program
    """
    from core.files import NATIVE

    opening = f'{_command_line(command)} "%1"'
    lines = [f"Registered Kinetostat for this user, in HKEY_CURRENT_USER\\{CLASSES}:"]
    try:
        _write_value(PROGRAM, "", NATIVE.title)
        _write_value(f"{PROGRAM}\\shell\\open\\command", "", opening)
        lines.append(f"  {PROGRAM}: {opening}")
        for suffix in NATIVE.suffixes:
            _write_value(f"{suffix}\\OpenWithProgids", PROGRAM, "")
            other = _read_value(suffix, "")
            if other in ("", PROGRAM):
                _write_value(suffix, "", PROGRAM)
                lines.append(f"  {suffix}: opened with Kinetostat")
            else:
                lines.append(f"  {suffix}: offered in Open with; {other} still opens such files")
    except OSError as error:
        with contextlib.suppress(OSError):
            _remove_own_keys()
        raise KinetostatError(
            f"The registry cannot be written: {error.strerror or error}; nothing was changed.",
            where=f"HKEY_CURRENT_USER\\{CLASSES}",
            remedy="Open files from the window, or by: kinetostat FILE",
        ) from None
    _notify_explorer()
    return [*lines, UNTRIED, "To undo this: kinetostat --unregister"]


def dissociate() -> list[str]:
    """Remove the registry keys written by Kinetostat; return the lines to print. Raises KinetostatError."""
    try:
        removed = _remove_own_keys()
    except OSError as error:
        raise KinetostatError(
            f"The registry cannot be written: {error.strerror or error}.",
            where=f"HKEY_CURRENT_USER\\{CLASSES}",
            remedy=f"Remove {PROGRAM} there with regedit.",
        ) from None
    if not removed:
        return ["Nothing is registered for this user."]
    _notify_explorer()
    return [f"Removed from HKEY_CURRENT_USER\\{CLASSES}:", *(f"  {each}" for each in removed)]


def _command_line(words: Sequence[str]) -> str:
    """Quote words such that Windows splits them again correctly; the program is always in quotation marks."""
    return " ".join((f'"{words[0]}"', subprocess.list2cmdline(words[1:])))


def _remove_own_keys() -> list[str]:
    """Remove the keys and values written by Kinetostat, and keys that are empty afterwards."""
    from core.files import NATIVE

    removed = []
    for suffix in NATIVE.suffixes:
        if _read_value(suffix, "") == PROGRAM:
            _delete_value(suffix, "")
            removed.append(suffix)
        _delete_value(f"{suffix}\\OpenWithProgids", PROGRAM)
        for key in (f"{suffix}\\OpenWithProgids", suffix):
            _delete_empty_key(key)
    removed += [PROGRAM] if _key_exists(PROGRAM) else []
    for key in _KEYS:
        _delete_value(key, "")
        _delete_empty_key(key)
    return removed


# ------------------------------------------------------------------------------------------ registry


def _winreg_module() -> Any:
    """Return the module `winreg`, which exists only on Windows."""
    return importlib.import_module("winreg")


def _key_path(key: str) -> str:
    return f"{CLASSES}\\{key}"


def _write_value(key: str, name: str, value: str) -> None:
    registry = _winreg_module()
    with registry.CreateKeyEx(registry.HKEY_CURRENT_USER, _key_path(key), 0, registry.KEY_WRITE) as handle:
        registry.SetValueEx(handle, name, 0, registry.REG_SZ, value)


def _read_value(key: str, name: str) -> str:
    """Return the text of a registry value; "" if there is none."""
    registry = _winreg_module()
    try:
        with registry.OpenKey(registry.HKEY_CURRENT_USER, _key_path(key)) as handle:
            return str(registry.QueryValueEx(handle, name)[0])
    except FileNotFoundError:
        return ""


def _key_exists(key: str) -> bool:
    registry = _winreg_module()
    try:
        registry.OpenKey(registry.HKEY_CURRENT_USER, _key_path(key)).Close()
    except FileNotFoundError:
        return False
    return True


def _delete_value(key: str, name: str) -> None:
    registry = _winreg_module()
    with (
        contextlib.suppress(FileNotFoundError),
        registry.OpenKey(registry.HKEY_CURRENT_USER, _key_path(key), 0, registry.KEY_WRITE) as handle,
    ):
        registry.DeleteValue(handle, name)


def _delete_empty_key(key: str) -> None:
    registry = _winreg_module()
    with contextlib.suppress(FileNotFoundError):
        with registry.OpenKey(registry.HKEY_CURRENT_USER, _key_path(key)) as handle:
            keys, values, _ = registry.QueryInfoKey(handle)
        if not keys + values:
            registry.DeleteKey(registry.HKEY_CURRENT_USER, _key_path(key))


def _notify_explorer() -> None:
    """Notify Explorer that associations changed (SHCNE_ASSOCCHANGED)."""
    import ctypes

    with contextlib.suppress(AttributeError, OSError):  # there is no windll elsewhere
        ctypes.windll.shell32.SHChangeNotify(0x08000000, 0, None, None)  # type: ignore[attr-defined]
