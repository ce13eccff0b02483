"""Register the program in menus and file managers of Linux and similar systems: a desktop entry, an icon and a MIME
type.

They lie in the user's data home, as the specifications of freedesktop.org (XDG base directories, desktop entries,
shared MIME info, icon themes) say. Each file bears a sign, by which it is known again.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from core.apart.starting import find_program, run_command
from core.errors import FileError, KinetostatError
from resources import ICONS

MIME_TYPE = "application/x-kinetostat"
SIGN = "Written by kinetostat --register; kinetostat --unregister removes it."
ENTRY = "applications/kinetostat.desktop"
ICON = "icons/hicolor/scalable/apps/kinetostat.svg"
TYPE = "mime/packages/kinetostat.xml"
FILES = {ICON: "icon", TYPE: "MIME type", ENTRY: "desktop entry"}
"""Files in the data home, with their names in messages; the desktop entry, which refers to the others, comes last."""
_RECORD = "X-Kinetostat-Made"
"""Key of the desktop entry that lists the folders and caches created with it, relative to the data home."""
_LONGEST = 60.0
"""Longest time for a program to update a cache, s."""


class Updater(NamedTuple):
    """Program that builds caches of the files in a folder.

    program : its name
    package : the Debian package that brings it
    folder  : in the data home, given to the program
    sources : the files that the caches are made of
    without : the consequence of its absence
    """

    program: str
    package: str
    folder: str
    sources: str
    without: str


UPDATERS = (
    Updater(
        "update-mime-database",
        "shared-mime-info",
        "mime",
        "packages/*.xml",
        "until it has run, file managers do not know .kst files",
    ),
    Updater(
        "update-desktop-database",
        "desktop-file-utils",
        "applications",
        "*.desktop",
        "until it has run, file managers may not offer Kinetostat for .kst files",
    ),
)


def write_entry(command: Sequence[str]) -> list[str]:
    """Write desktop entry, icon and MIME type, all or none of them; return the lines to print. Raises KinetostatError.

    command : the words that start the program
    """
    home = data_home()
    for file in FILES:
        _require_ours(home / file)
    before = _present_paths(home)
    made = _recorded_paths(home)
    texts = {ICON: icon(), TYPE: mime_type_xml(), ENTRY: entry_text(command, made)}
    _write_files(home, texts)
    lines = ["Registered Kinetostat for this user:", *(f"  {home / file} ({FILES[file]})" for file in texts)]
    lines += [_run_updater(home, each) for each in UPDATERS]
    _refresh_icons(home)
    made = sorted({*made, *(_present_paths(home) - before - set(FILES))})
    _write_files(home, {ENTRY: entry_text(command, made)})
    return [*lines, f"It starts {' '.join(command)}", "To undo this: kinetostat --unregister"]


def remove_entry() -> list[str]:
    """Remove the files written by `write_entry`, and the folders and caches created with them; return the lines to
    print."""
    home = data_home()
    made = _recorded_paths(home)
    present = [home / file for file in FILES if (home / file).is_file()]
    ours = [place for place in present if _is_ours(place)]
    others = [f"{place} was not written by kinetostat --register: it stays." for place in present if place not in ours]
    if not ours:
        return [f"Nothing is registered in {home}.", *others]
    for place in ours:
        with _reporting_errors(place, "removed"):
            place.unlink()
    lines = ["Removed:", *(f"  {place} ({FILES[place.relative_to(home).as_posix()]})" for place in ours), *others]
    for each in UPDATERS:
        if any((home / each.folder).glob(each.sources)):
            lines.append(_run_updater(home, each))
        else:
            _remove_caches(home, made, each.folder)
    _refresh_icons(home)
    for folder in sorted(made, reverse=True):
        with contextlib.suppress(OSError):  # others use it by now
            (home / folder).rmdir()
    return lines


def data_home() -> Path:
    """Return the folder for the user's data (XDG data home). Raises KinetostatError if there is none."""
    named = os.environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(named):  # others are to be ignored
        return Path(named)
    try:
        return Path.home() / ".local" / "share"
    except RuntimeError:
        raise KinetostatError(
            "There is no home folder in which to register.", remedy="Set XDG_DATA_HOME to the full path of a folder."
        ) from None


# ------------------------------------------------------------------------------------------ texts


def entry_text(command: Sequence[str], created_paths: Sequence[str] = ()) -> str:
    """Return the text of the desktop entry. created_paths : folders and caches created with it, see `_RECORD`"""
    words = ("/usr/bin/env", *command) if "%" in command[0] else command  # desktops seek the first one as it is written
    rows = {
        "Type": "Application",
        "Version": "1.0",
        "Name": "Kinetostat",
        "GenericName": "Robots and mechanisms",
        "Comment": "Design, study and teach robots and mechanisms",
        "TryExec": _escape_value(command[0]),
        "Exec": f"{_escape_value(' '.join(map(_quote_exec_word, words)))} %f",
        "Icon": "kinetostat",
        "Terminal": "false",
        "Categories": "Science;Engineering;Robotics;",
        "Keywords": "robot;mechanism;linkage;kinematics;dynamics;simulation;URDF;",
        "MimeType": f"{MIME_TYPE};",
        "StartupWMClass": "Kinetostat",
    }
    if created_paths:
        rows[_RECORD] = "".join(f"{each};" for each in created_paths)
    return "\n".join([f"# {SIGN}", "[Desktop Entry]", *(f"{key}={value}" for key, value in rows.items()), ""])


def _quote_exec_word(word: str) -> str:
    """Quote a word for the key Exec, in which % starts a field code."""
    escaped = re.sub(r'(["`$\\])', r"\\\1", word)
    return f'"{escaped}"'.replace("%", "%%")


def _escape_value(text: str) -> str:
    """Escape a text for use as the value of a key in the desktop entry."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def mime_type_xml() -> str:
    """Return the declaration of the MIME type of Kinetostat's own files."""
    from core.files import NATIVE

    globs = "".join(f"    <glob pattern={quoteattr(f'*{suffix}')}/>\n" for suffix in NATIVE.suffixes)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<!-- {SIGN.replace('--', '- -')} -->\n"
        '<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">\n'
        f"  <mime-type type={quoteattr(MIME_TYPE)}>\n"
        f"    <comment>{NATIVE.title}</comment>\n"
        '    <sub-class-of type="text/plain"/>\n'
        '    <icon name="kinetostat"/>\n'
        '    <magic priority="60"><match type="string" offset="0" value="kinetostat:"/></magic>\n'
        f"{globs}  </mime-type>\n</mime-info>\n"
    )


def icon() -> str:
    """Return the program's icon as SVG text."""
    drawing = (ICONS / "kinetostat.svg").read_text(encoding="utf-8").rstrip()
    return f"{drawing}\n<!-- {SIGN.replace('--', '- -')} -->\n"


# ------------------------------------------------------------------------------------------ files


@contextlib.contextmanager
def _reporting_errors(path: Path, action: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileError(
            f"The file cannot be {action}: {error.strerror or error}.",
            file=str(path),
            remedy="Check the permissions of its folder, or set XDG_DATA_HOME to another folder.",
        ) from None


def _is_ours(path: Path) -> bool:
    with _reporting_errors(path, "read"):
        text = path.read_bytes()
    return any(sign.encode() in text for sign in (SIGN, SIGN.replace("--", "- -")))


def _require_ours(path: Path) -> None:
    if os.path.lexists(path) and not (path.is_file() and _is_ours(path)):
        raise FileError(
            "The file exists already and was not written by kinetostat --register.",
            file=str(path),
            remedy="Move it away; nothing was changed.",
        )


def _write_files(home: Path, contents: dict[str, str]) -> None:
    """Write files, creating their folders; if one cannot be written, restore those written before."""
    earlier: dict[Path, bytes | None] = {}
    folders: list[Path] = []
    try:
        for file, text in contents.items():
            place = home / file
            with _reporting_errors(place, "written"):
                missing = [each for each in (*reversed(place.parents), place) if not os.path.lexists(each)]
                folders += [each for each in missing if each != place]
                place.parent.mkdir(parents=True, exist_ok=True)
                earlier[place] = place.read_bytes() if place.exists() else None
                _replace_file(place, text.encode())
    except BaseException:
        for place, content in earlier.items():
            with contextlib.suppress(OSError):
                place.unlink(missing_ok=True) if content is None else _replace_file(place, content)
        for folder in reversed(folders):
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def _replace_file(path: Path, content: bytes) -> None:
    """Replace a file atomically."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(content)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _present_paths(home: Path) -> set[str]:
    """Return the existing folders and files that registration may create, relative to the data home."""
    found = {Path(file).parent for file in FILES}
    found |= {folder for each in found for folder in each.parents if folder != Path()}
    there = {folder.as_posix() for folder in (Path(), *found) if (home / folder).is_dir()}
    for each in UPDATERS:
        there |= {path.relative_to(home).as_posix() for path in (home / each.folder).rglob("*")}
    return there


def _recorded_paths(home: Path) -> list[str]:
    """Return the folders and caches that an earlier registration created."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        text = (home / ENTRY).read_text(encoding="utf-8")
        if SIGN in text and (row := re.search(rf"^{_RECORD}=(.*)$", text, re.MULTILINE)):
            return [each for each in row[1].split(";") if each and ".." not in Path(each).parts]
    return []


def _remove_caches(home: Path, created_paths: Sequence[str], folder: str) -> None:
    """Remove the cache files in a folder that registering created."""
    for each in created_paths:
        place = home / each
        if each.partition("/")[0] == folder and place.is_file() and not place.is_symlink():
            with _reporting_errors(place, "removed"):
                place.unlink()


# ------------------------------------------------------------------------------------------ caches


def _run_updater(home: Path, updater: Updater) -> str:
    """Run a program that updates caches and return the lines to print."""
    found = find_program(updater.program)
    command = f"{updater.program} {home / updater.folder}"
    if found is None:
        return f"  {updater.program} is not installed: {updater.without} (Debian: apt-get install {updater.package})."
    try:
        done = run_command([found, str(home / updater.folder)], timeout=_LONGEST)
    except OSError as error:
        return f"  {command} failed ({error}): {updater.without}."
    if done.code:
        return f"  {command} failed ({done.last_error_line or done.code}): {updater.without}."
    return f"  {command}: done"


def _refresh_icons(home: Path) -> None:
    """Update the icon cache, if there is one; without a cache, desktops read the folders themselves."""
    folder = home / "icons" / "hicolor"
    found = find_program("gtk-update-icon-cache")
    if found is not None and (folder / "icon-theme.cache").is_file():
        with contextlib.suppress(OSError):
            run_command([found, "-q", "-t", "-f", str(folder)], timeout=_LONGEST)
