"""Opening of files: a thread reads the file and prepares its mechanism and meshes, then the machine is shown. Also file
dialog filters, and the permission for a file to run its own code."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from app.background.jobs import BackgroundQueue
from app.document.analyses import model_findings
from app.document.kept import companion
from app.document.kept.companion import CompanionContent
from app.document.kept.seen_files import FileFingerprint, SourceFingerprints
from core.errors import CodeRefused, FileError
from core.files import ReadResult, TrustedFile, read
from core.files.formats import FORMATS
from core.files.named import ModelFile
from core.later import dataclass
from core.mechanism import Mechanism
from core.model import Finding, Model
from viz.scene.prefetch import prepare_model


@dataclass(frozen=True)
class OpenedFile:
    """Result of reading a file: a model with its mechanism, or the error."""

    path: Path
    model: Model | None = None
    mech: Mechanism | None = None
    findings: tuple[Finding, ...] = ()
    error: BaseException | None = None
    sources: SourceFingerprints = SourceFingerprints()
    """Fingerprints of the file and the files it includes, when they were read."""
    trusted: frozenset[TrustedFile] = frozenset()
    """Those of the files that were allowed to run their code."""
    kept: CompanionContent | None = None
    """The runs and views saved with the document."""


Then = Callable[[OpenedFile], object]


class FileOpener(QObject):
    """Reads one file at a time in a thread; `finished(OpenedFile)` is emitted in the window's thread. A newer request
    replaces an older one."""

    finished = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.errands = BackgroundQueue("opening", self)
        self._number = 0
        self._wanted: int | None = None

    @property
    def is_busy(self) -> bool:
        """True while a file is being read."""
        return self._wanted is not None

    def start_reading(
        self, path: Path, on_read: Then | None = None, read: Callable[[], OpenedFile] | None = None
    ) -> None:
        """Read a file (or call `read` instead); `on_read`, if given, gets the result instead of the listeners to
        `finished`."""
        self._number += 1
        number = self._wanted = self._number

        def deliver_result(found: OpenedFile) -> None:
            if number == self._wanted:
                self._wanted = None
                (on_read or self.finished.emit)(found)

        self.errands.submit(_catching_errors(read or (lambda: open_file(path))), deliver_result)

    def cancel_reading(self) -> None:
        """Ignore the result of the file that is being read."""
        self._wanted = None

    def close_and_wait(self) -> None:
        """Ignore the file that is being read and wait for the thread to end (when the program closes)."""
        self._wanted = None
        self.errands.close()


def _catching_errors(read: Callable[[], OpenedFile]) -> Callable[[], OpenedFile]:
    def read_catching_errors() -> OpenedFile:
        try:
            return read()
        except Exception as error:
            return OpenedFile(Path(), error=error)

    return read_catching_errors


_asked: dict[str, ModelFile] = {}
"""Package folders and Xacro arguments with which files were opened, by real path; they apply whenever such a file is
read again."""


def remember_import_options(options: ModelFile) -> None:
    """Remember the package folders and Xacro arguments with which a file is to be read."""
    _asked[os.path.realpath(options.file)] = options


def open_file(path: Path, trusted: frozenset[TrustedFile] = frozenset()) -> OpenedFile:
    """Read a file and build its mechanism; an error becomes part of the result."""
    own, asked = FileFingerprint.take_now(path), _asked.get(os.path.realpath(path), ModelFile(str(path)))
    found = open_with_reader(
        lambda: read(path, packages=asked.packages, arguments=asked.arguments, trust=trusted), path, trusted
    )
    if found.model is None:
        return found
    kept, doubts = _read_companion_of(path)
    taken_in = SourceFingerprints.take_now(path, found.model).files[1:]
    return replace(found, kept=kept, findings=(*found.findings, *doubts), sources=SourceFingerprints((own, *taken_in)))


def open_with_reader(
    reader: Callable[[], ReadResult], path: Path, trusted: frozenset[TrustedFile] = frozenset()
) -> OpenedFile:
    """Call a reader and build the mechanism of its model; an error becomes part of the result."""
    try:
        reading = reader()
        mech = Mechanism.to_show(reading.model)
        mech.poses(mech.rest())  # traces what the first picture needs
        prepare_model(reading.model)
        model_findings(reading.model)
        return OpenedFile(path, reading.model, mech, tuple(reading.findings), trusted=trusted)
    except Exception as error:  # our own messages and defects alike: the window tells them, what was open stays
        return OpenedFile(path, error=error, trusted=trusted)


def _read_companion_of(path: Path) -> tuple[CompanionContent | None, tuple[Finding, ...]]:
    """Return the runs saved with a native document, or a finding that explains why they cannot be used."""
    if path.suffix != ".kst":
        return None, ()
    try:
        return companion.read(companion.companion_folder(path)), ()
    except FileError as error:
        return None, (Finding("warning", error.what, error.remedy or "", file=error.file or ""),)


def _format_patterns(writing: bool) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for each in FORMATS.values():
        if (each.write if writing else each.read) is not None:
            table[each.title] = [f"*{suffix}" for suffix in each.suffixes]
    return table


def open_filter() -> str:
    """Return the file dialog filter of all formats that can be read."""
    table = _format_patterns(writing=False)
    single = [f"{title} ({' '.join(patterns)})" for title, patterns in table.items()]
    return ";;".join([f"All models ({readable_patterns()})", *single, "All files (*)"])


def readable_patterns() -> str:
    """Return the file name patterns of all formats that can be read: "*.csv *.kst …"."""
    return " ".join(sorted({pattern for patterns in _format_patterns(writing=False).values() for pattern in patterns}))


def save_filter(suffix: str = "") -> str:
    """Return the file dialog filter of all formats that can be written, the native format first; or only of the format
    with the given suffix."""
    table = _format_patterns(writing=True)
    table = {title: patterns for title, patterns in table.items() if not suffix or f"*{suffix}" in patterns}
    return ";;".join(f"{title} ({' '.join(patterns)})" for title, patterns in table.items())


DH_TABLES = ("kst", "csv", "toml", "robotica")
"""Formats that can hold a Denavit–Hartenberg table."""


def _build_filter(title: str, suffixes: Iterable[str]) -> str:
    return f"{title} ({' '.join(f'*{suffix}' for suffix in suffixes)})"


def dh_table_filter() -> str:
    """Return the file dialog filter of the formats in which a Denavit–Hartenberg table can be saved."""
    return ";;".join(_build_filter(FORMATS[name].title, FORMATS[name].suffixes) for name in DH_TABLES)


def mesh_filter() -> str:
    """Return the file dialog filter of mesh files."""
    from core.files.meshes.lookup import MESH_SUFFIXES

    return _build_filter("Meshes", MESH_SUFFIXES)


def signal_filter() -> str:
    """Return the file dialog filter of files with recorded signals."""
    from core.mechanics.elements.recorded_signals import SIGNAL_SUFFIXES

    return _build_filter("Recorded signals", SIGNAL_SUFFIXES)


TRUST_QUESTION = (
    "If you trust the author of {}, you can let it run its code: it can then read, change and send "
    "everything that you can on this computer. The permission applies to the present content of the file, "
    "as long as it is open."
)


class MessageDisplay(Protocol):
    """Interface of the part of the window that shows messages to the user."""

    def show_message(self, severity: str, text: str, choices: dict[str, Callable[[], object]] | None = None) -> None:
        """Show a message; `choices` maps button titles to callbacks."""


def offer_to_trust_file(
    messages: MessageDisplay, error: BaseException, on_trusted: Callable[[TrustedFile], object]
) -> bool:
    """Report that a file was refused because it contains code, with a button to trust it; returns False if the error is
    of another kind."""
    if not isinstance(error, CodeRefused) or error.allow is None:
        return False
    words = f"{error.message} {TRUST_QUESTION.format(Path(error.allow.file).name)}"
    messages.show_message("error", words, {"Open and run its code": lambda: on_trusted(error.allow)})
    return True
