"""Input of a file reader (the bytes and the name of a file) and its result (a model and findings)."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import BinaryIO

from core.errors import FileError
from core.files.regular_file import MODEL, REPORT, path_as_string, read_content
from core.later import dataclass
from core.model import Finding, Model

_BOMS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


@dataclass(frozen=True)
class Source:
    """Content of a file to be read.

    data    : the bytes
    file    : path or title for messages and for finding meshes beside it; "" if there is none
    decoded : the bytes were made from text here, as UTF-8, whatever an XML declaration in them says
    """

    data: bytes
    file: str = ""
    decoded: bool = False

    @property
    def text(self) -> str:
        """Return the content as text. Raises FileError naming the byte that is not valid UTF-8."""
        data = self.data.removeprefix(b"\xef\xbb\xbf")
        if (encoding := _BOMS.get(data[:2])) is not None:
            raise FileError(f"The file is encoded in {encoding}.", file=self.file, remedy="Save it as UTF-8 text.")
        if (at := data.find(b"\0")) >= 0:
            raise FileError(
                f"Byte {at} is a NUL byte: this is not a text file.",
                file=self.file,
                line=self._line_number_at(at),
                remedy="Choose a text file of a known format.",
            )
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise FileError(
                f"Byte {error.start} is not UTF-8 text.",
                file=self.file,
                line=self._line_number_at(error.start),
                remedy="Save the file as UTF-8 text.",
            ) from None

    def _line_number_at(self, offset: int) -> int:
        return self.data.count(b"\n", 0, offset) + 1

    @property
    def stem(self) -> str:
        """Return the file's name without folder and suffixes; "" if there is no file."""
        return Path(self.file).name.partition(".")[0] if self.file else ""


@dataclass(frozen=True)
class TrustedFile:
    """File, identified by its content, that the user allows to run code.

    file   : its full path
    digest : SHA-256 of its bytes
    """

    file: str
    digest: str

    @classmethod
    def of(cls, source: Source) -> TrustedFile:
        """Return the permission for this file to run code."""
        return cls(os.path.realpath(source.file), hashlib.sha256(source.data).hexdigest())


@dataclass(frozen=True)
class ReadOptions:
    """Reading options that the user can choose (see `core.files.load`)."""

    floating: bool | None = None
    mimic: bool = True
    packages: Mapping[str, str] = field(default_factory=dict)
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Of a Xacro file that is opened: argument → value."""
    trusted: frozenset[TrustedFile] = frozenset()
    """Files that may run their code."""
    chain: tuple[str, ...] = ()
    """Files that led here by importing one another, as full paths."""
    imported: dict[str, ReadResult] = field(default_factory=dict)
    """Imported files that were already read; each is read once."""
    read: Callable[[Source, ReadOptions], ReadResult] | None = None
    """Reader of imported files, of any format; None outside of a reading."""


@dataclass(frozen=True)
class ReadResult:
    """Model and the findings of its file's reader."""

    model: Model
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class WriteResult:
    """Text of a file, and findings about the content of the model that it could not hold."""

    text: str
    findings: tuple[Finding, ...] = ()


def source_from_text(text: str, file: str = "") -> Source:
    """Return a source made from text. Raises FileError if the text cannot be encoded."""
    return Source(encode_utf8(text, file), file, decoded=True)


def source_from_file(path: str | os.PathLike[str]) -> Source:
    """Return the content of a regular file within the size limit. Raises FileError."""
    return Source(read_content(path, MODEL), path_as_string(path))


def encode_utf8(text: str, file: str = "") -> bytes:
    """Encode a string as UTF-8. Raises FileError for characters that UTF-8 cannot encode, and for objects that are not
    strings."""
    if not isinstance(text, str):
        raise FileError(
            f"A string is needed, not {type(text).__name__}.",
            file=file,
            remedy="Give the content of the file as a string.",
        )
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FileError(
            f"Character {error.start} ({text[error.start]!r}) cannot be stored as UTF-8.",
            file=file,
            remedy="Remove it.",
        ) from None


def write_atomically(
    path: str | os.PathLike[str], data: bytes | Callable[[BinaryIO], object], *, backup: bool = False
) -> None:
    """Write a file completely or not at all: temporary file in the same folder, flush, rename, flush of the folder.

    data : the content, or what writes it into the open file, piece by piece
    Permissions of a file that is replaced are kept; a symbolic link stays a link. With a backup the old content is kept
    beside it, its name followed by ~. Raises FileError, and the old content is then untouched.
    """
    file = path_as_string(path)
    try:
        target = Path(os.path.realpath(file))
        if target.is_dir():
            raise FileError("This is a folder, not a file.", file=file, remedy="Give a file name.")
        mode = _permissions_of_target(target, file)
        _replace_file(target, data, mode, backup and mode is not None)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(
            f"The file cannot be written: {reason}.", file=file, remedy="Save it in another folder."
        ) from None


def append_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Append text to a file, completely or not at all. Raises FileError."""
    before = read_content(path, REPORT) if os.path.exists(path_as_string(path)) else b""
    write_atomically(path, before + encode_utf8(text, path_as_string(path)))


def _permissions_of_target(target: Path, file: str) -> int | None:
    """Return the permissions of the file to be replaced, None if there is none. Raises FileError if it must not be
    replaced."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise FileError("This is not a regular file.", file=file, remedy="Give another name.")
    if not os.access(target, os.W_OK):
        raise FileError(
            "The file is write-protected.", file=file, remedy="Save under another name or change its permissions."
        )
    return status.st_mode & 0o7777


def _replace_file(target: Path, data: bytes | Callable[[BinaryIO], object], mode: int | None, backup: bool) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "w+b") as stream:
            if isinstance(data, bytes):
                stream.write(data)
            else:
                data(stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, _new_file_mode() if mode is None else mode)
        if backup:
            _keep_backup(target)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    _flush_folder(target.parent)


def _keep_backup(target: Path) -> None:
    """Keep the file to be replaced under its name plus ~, as a hard link if possible, else as a copy."""
    kept = target.with_name(f"{target.name}~")
    kept.unlink(missing_ok=True)
    try:
        os.link(target, kept)
    except OSError:
        shutil.copy2(target, kept)


def _flush_folder(folder: Path) -> None:
    """Flush a folder to disk, where the system supports that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _new_file_mode() -> int:
    """Return the permissions that the user's umask gives to a new file."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
