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

from core.apart.starting import finished, program
from core.errors import FileError, KinetostatError
from resources import ICONS

MIME_TYPE = "application/x-kinetostat"
SIGN = "Written by kinetostat --register; kinetostat --unregister removes it."
ENTRY = "applications/kinetostat.desktop"
ICON = "icons/hicolor/scalable/apps/kinetostat.svg"
TYPE = "mime/packages/kinetostat.xml"
FILES = {ICON: "icon", TYPE: "MIME type", ENTRY: "desktop entry"}
"""Files in the data home, and their names in messages; the entry, which makes use of the others, comes last."""
_RECORD = "X-Kinetostat-Made"
"""Key of the desktop entry that lists folders and caches created for it, relative to the data home."""
_LONGEST = 60.0
"""Seconds that a program updating a cache may take."""


class Updater(NamedTuple):
    """A program that builds caches of the files in a folder.

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
    """Write the desktop entry, icon and MIME type, all or none of them; returns the lines to report. Raises
    KinetostatError.

    command : the words that start the program
    """
    home = data_home()
    for file in FILES:
        _require_ours(home / file)
    before = _present_paths(home)
    made = _recorded_paths(home)
    texts = {ICON: icon(), TYPE: mime_type(), ENTRY: entry(command, made)}
    _write_all(home, texts)
    lines = ["Registered Kinetostat for this user:", *(f"  {home / file} ({FILES[file]})" for file in texts)]
    lines += [_run_updater(home, each) for each in UPDATERS]
    _refresh_icons(home)
    made = sorted({*made, *(_present_paths(home) - before - set(FILES))})
    _write_all(home, {ENTRY: entry(command, made)})
    return [*lines, f"It starts {' '.join(command)}", "To undo this: kinetostat --unregister"]


def remove_entry() -> list[str]:
    """Remove the files that carry our mark, and the folders and caches created for them; returns the lines to
    report."""
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
    """Return the folder of the user's data. Raises KinetostatError if there is none."""
    named = os.environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(named):  # others are to be ignored
        return Path(named)
    try:
        return Path.home() / ".local" / "share"
    except RuntimeError:
        raise KinetostatError(
            "There is no home folder to register in.", remedy="Set XDG_DATA_HOME to the full path of a folder."
        ) from None


# ------------------------------------------------------------------------------------------ texts


def entry(command: Sequence[str], made: Sequence[str] = ()) -> str:
    """Return the text of the desktop entry. made : folders and caches created for it, see `_RECORD`"""
    words = ("/usr/bin/env", *command) if "%" in command[0] else command  # desktops seek the first one as it is written
    rows = {
        "Type": "Application",
        "Version": "1.0",
        "Name": "Kinetostat",
        "GenericName": "Robots and mechanisms",
        "Comment": "Design, study and teach robots and mechanisms",
        "TryExec": _escaped_value(command[0]),
        "Exec": f"{_escaped_value(' '.join(map(_quoted_exec_word, words)))} %f",
        "Icon": "kinetostat",
        "Terminal": "false",
        "Categories": "Science;Engineering;Robotics;",
        "Keywords": "robot;mechanism;linkage;kinematics;dynamics;simulation;URDF;",
        "MimeType": f"{MIME_TYPE};",
        "StartupWMClass": "Kinetostat",
    }
    if made:
        rows[_RECORD] = "".join(f"{each};" for each in made)
    return "\n".join([f"# {SIGN}", "[Desktop Entry]", *(f"{key}={value}" for key, value in rows.items()), ""])


def _quoted_exec_word(word: str) -> str:
    """Quote a word for the key Exec, in which % starts a code."""
    escaped = re.sub(r'(["`$\\])', r"\\\1", word)
    return f'"{escaped}"'.replace("%", "%%")


def _escaped_value(text: str) -> str:
    """Escape a text for use as the value of a key."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def mime_type() -> str:
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
def _reporting_errors(place: Path, done: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileError(
            f"It cannot be {done}: {error.strerror or error}.",
            file=str(place),
            remedy="Check the permissions of its folder, or name another data home by XDG_DATA_HOME.",
        ) from None


def _is_ours(place: Path) -> bool:
    with _reporting_errors(place, "read"):
        text = place.read_bytes()
    return any(sign.encode() in text for sign in (SIGN, SIGN.replace("--", "- -")))


def _require_ours(place: Path) -> None:
    if os.path.lexists(place) and not (place.is_file() and _is_ours(place)):
        raise FileError(
            "It exists already and was not written by kinetostat --register.",
            file=str(place),
            remedy="Move it away; nothing was changed.",
        )


def _write_all(home: Path, texts: dict[str, str]) -> None:
    """Write files with their folders. If one cannot be written, the files before it are restored."""
    earlier: dict[Path, bytes | None] = {}
    folders: list[Path] = []
    try:
        for file, text in texts.items():
            place = home / file
            with _reporting_errors(place, "written"):
                missing = [each for each in (*reversed(place.parents), place) if not os.path.lexists(each)]
                folders += [each for each in missing if each != place]
                place.parent.mkdir(parents=True, exist_ok=True)
                earlier[place] = place.read_bytes() if place.exists() else None
                _replace(place, text.encode())
    except BaseException:
        for place, content in earlier.items():
            with contextlib.suppress(OSError):
                place.unlink(missing_ok=True) if content is None else _replace(place, content)
        for folder in reversed(folders):
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def _replace(place: Path, content: bytes) -> None:
    """Write a file completely or not at all."""
    part = place.with_name(f".{place.name}.part")
    try:
        part.write_bytes(content)
        os.replace(part, place)
    finally:
        part.unlink(missing_ok=True)


def _present_paths(home: Path) -> set[str]:
    """Return the folders and files that registering may create and that exist now, relative to the data home."""
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


def _remove_caches(home: Path, made: Sequence[str], folder: str) -> None:
    """Remove the cache files in a folder that registering created."""
    for each in made:
        place = home / each
        if each.partition("/")[0] == folder and place.is_file() and not place.is_symlink():
            with _reporting_errors(place, "removed"):
                place.unlink()


# ------------------------------------------------------------------------------------------ caches


def _run_updater(home: Path, updater: Updater) -> str:
    """Run a program that updates caches and return the line to report."""
    found = program(updater.program)
    command = f"{updater.program} {home / updater.folder}"
    if found is None:
        return f"  {updater.program} is not installed: {updater.without} (Debian: apt-get install {updater.package})."
    try:
        done = finished([found, str(home / updater.folder)], limit=_LONGEST)
    except OSError as error:
        return f"  {command} failed ({error}): {updater.without}."
    if done.code:
        return f"  {command} failed ({done.last_words or done.code}): {updater.without}."
    return f"  {command}: done"


def _refresh_icons(home: Path) -> None:
    """Update the icon cache, if there is one; without a cache, desktops read the folders themselves."""
    folder = home / "icons" / "hicolor"
    found = program("gtk-update-icon-cache")
    if found is not None and (folder / "icon-theme.cache").is_file():
        with contextlib.suppress(OSError):
            finished([found, "-q", "-t", "-f", str(folder)], limit=_LONGEST)
