"""Opening of files: a thread reads the file and builds its mechanism and meshes, then the machine is shown. Also the
filters of file dialogs, and the permission for a file to run its own code."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from app.background.jobs import BackgroundQueue
from app.document.analyses import findings_of
from app.document.kept import companion
from app.document.kept.companion import Kept
from app.document.kept.seen_files import Seen, Sources
from core.errors import CodeRefused, FileError
from core.files import Reading, Trusted, read
from core.files.formats import FORMATS
from core.files.named import Place
from core.later import dataclass
from core.mechanism import Mechanism
from core.model import Finding, Model
from viz.scene.prefetch import prepare


@dataclass(frozen=True)
class Opened:
    """The result of reading a file: a model with its mechanism, or the error."""

    path: Path
    model: Model | None = None
    mech: Mechanism | None = None
    findings: tuple[Finding, ...] = ()
    error: BaseException | None = None
    sources: Sources = Sources()
    """Fingerprints of the file and the files it includes, when they were read."""
    trusted: frozenset[Trusted] = frozenset()
    """Those of the files that were allowed to run their code."""
    kept: Kept | None = None
    """The runs and views saved with the document."""


Then = Callable[[Opened], object]


class Opening(QObject):
    """Reads one file at a time; `finished(Opened)` is emitted in the window's thread. A newer request replaces an older
    one."""

    finished = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.errands = BackgroundQueue("opening", self)
        self._number = 0
        self._wanted: int | None = None

    @property
    def busy(self) -> bool:
        """True while a file is being read."""
        return self._wanted is not None

    def start(self, path: Path, then: Then | None = None, read: Callable[[], Opened] | None = None) -> None:
        """Read a file (or call `read` instead); `then` gets the result in place of the listeners to `finished`."""
        self._number += 1
        number = self._wanted = self._number

        def take(found: Opened) -> None:
            if number == self._wanted:
                self._wanted = None
                (then or self.finished.emit)(found)

        self.errands.do(_with_errors_caught(read or (lambda: opened(path))), take)

    def forget(self) -> None:
        """Drop the file that is being read."""
        self._wanted = None

    def wait(self) -> None:
        """Drop the file that is being read and wait for the end of the thread (when the program closes)."""
        self._wanted = None
        self.errands.close()


def _with_errors_caught(read: Callable[[], Opened]) -> Callable[[], Opened]:
    def guarded() -> Opened:
        try:
            return read()
        except Exception as error:
            return Opened(Path(), error=error)

    return guarded


_asked: dict[str, Place] = {}
"""Package folders and arguments with which files were asked for, by their real paths: they hold whenever such a file is
read again."""


def ask_for(place: Place) -> None:
    """Keep the package folders and the arguments of a Xacro with which a file is to be read."""
    _asked[os.path.realpath(place.file)] = place


def opened(path: Path, trusted: frozenset[Trusted] = frozenset()) -> Opened:
    """Read a file and build its mechanism; an error is part of the result."""
    own, asked = Seen.now(path), _asked.get(os.path.realpath(path), Place(str(path)))
    found = opened_by(
        lambda: read(path, packages=asked.packages, arguments=asked.arguments, trust=trusted), path, trusted
    )
    if found.model is None:
        return found
    kept, doubts = _companion_of(path)
    taken_in = Sources.now(path, found.model).files[1:]
    return replace(found, kept=kept, findings=(*found.findings, *doubts), sources=Sources((own, *taken_in)))


def opened_by(reader: Callable[[], Reading], path: Path, trusted: frozenset[Trusted] = frozenset()) -> Opened:
    """Return the model that a reader gives, with its mechanism; an error is part of the result."""
    try:
        reading = reader()
        mech = Mechanism.to_show(reading.model)
        mech.poses(mech.rest())  # traces what the first picture needs
        prepare(reading.model)
        findings_of(reading.model)
        return Opened(path, reading.model, mech, tuple(reading.findings), trusted=trusted)
    except Exception as error:  # our own messages and defects alike: the window tells them, what was open stays
        return Opened(path, error=error, trusted=trusted)


def _companion_of(path: Path) -> tuple[Kept | None, tuple[Finding, ...]]:
    """Return the runs saved with a native document, or a finding that says why they cannot be used."""
    if path.suffix != ".kst":
        return None, ()
    try:
        return companion.read(companion.folder_of(path)), ()
    except FileError as error:
        return None, (Finding("warning", error.what, error.remedy or "", file=error.file or ""),)


def _patterns(writing: bool) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for each in FORMATS.values():
        if (each.write if writing else each.read) is not None:
            table[each.title] = [f"*{suffix}" for suffix in each.suffixes]
    return table


def open_filter() -> str:
    """Return the file dialog filter of all formats that can be read."""
    table = _patterns(writing=False)
    single = [f"{title} ({' '.join(patterns)})" for title, patterns in table.items()]
    return ";;".join([f"All models ({every_pattern()})", *single, "All files (*)"])


def every_pattern() -> str:
    """Return the patterns of all formats that can be read: "*.csv *.kst …"."""
    return " ".join(sorted({pattern for patterns in _patterns(writing=False).values() for pattern in patterns}))


def save_filter(suffix: str = "") -> str:
    """Return the file dialog filter of all formats that can be written, the native format first; or of one format
    alone."""
    table = _patterns(writing=True)
    table = {title: patterns for title, patterns in table.items() if not suffix or f"*{suffix}" in patterns}
    return ";;".join(f"{title} ({' '.join(patterns)})" for title, patterns in table.items())


DH_TABLES = ("kst", "csv", "toml", "robotica")
"""Formats that hold a Denavit–Hartenberg table."""


def _titled_filter(title: str, suffixes: Iterable[str]) -> str:
    return f"{title} ({' '.join(f'*{suffix}' for suffix in suffixes)})"


def table_filter() -> str:
    """Return the file dialog filter of the formats in which a Denavit–Hartenberg table can be written."""
    return ";;".join(_titled_filter(FORMATS[name].title, FORMATS[name].suffixes) for name in DH_TABLES)


def mesh_filter() -> str:
    """Return the filter of the files that are read as meshes."""
    from core.files.meshes.lookup import MESH_SUFFIXES

    return _titled_filter("Meshes", MESH_SUFFIXES)


def signal_filter() -> str:
    """Return the filter of the files that are read as recorded signals."""
    from core.mechanics.elements.recorded_signals import SIGNAL_SUFFIXES

    return _titled_filter("Recorded signals", SIGNAL_SUFFIXES)


TRUST_QUESTION = (
    "If you trust the author of {}, you can let it run its code: it can then read, change and send "
    "everything that you can on this computer. The permission holds for the present content of the file, "
    "while it is open."
)


class MessagePlace(Protocol):
    """The place where messages are shown to the user."""

    def tell(self, severity: str, text: str, choices: dict[str, Callable[[], object]] | None = None) -> None:
        """Show a message; `choices` maps button titles to callbacks."""


def offer_trust(messages: MessagePlace, error: BaseException, then: Callable[[Trusted], object]) -> bool:
    """Report that a file was refused, with a button to trust it; returns False if the error is of another kind."""
    if not isinstance(error, CodeRefused) or error.allow is None:
        return False
    words = f"{error.message} {TRUST_QUESTION.format(Path(error.allow.file).name)}"
    messages.tell("error", words, {"Open and run its code": lambda: then(error.allow)})
    return True
