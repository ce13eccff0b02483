"""Table of file formats; loading and saving, with the format chosen by suffix or content."""

from __future__ import annotations

import dataclasses
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from core.errors import FileError, KinetostatError
from core.files.base import WITH_BASE, set_base
from core.files.foreign import recognise_unsupported_format, unsupported_format_error
from core.files.regular_file import path_as_string
from core.files.source import (
    ReadOptions,
    ReadResult,
    Source,
    TrustedFile,
    WriteResult,
    encode_utf8,
    source_from_file,
    source_from_text,
    write_atomically,
)
from core.model import Finding, Model, SubAssembly
from core.model.model import require_model
from core.model.shapes import IDENTITY, Pose


class FileFormat(NamedTuple):
    """File format. `read` and `write` are None where the program does not support it."""

    id: str
    title: str
    suffixes: tuple[str, ...]
    read: Callable[[Source, ReadOptions], ReadResult] | None
    write: Callable[[Model], WriteResult] | None
    sign: re.Pattern[bytes]
    """Pattern at the beginning of such a file, used for files with another suffix."""
    complete: bool = False
    """True if the format holds all of a model."""


def _line_pattern(prefix: bytes) -> re.Pattern[bytes]:
    """Return a pattern for a line that begins with these bytes, in a file that is not XML (in XML, an attribute may
    begin a line)."""
    return re.compile(rb"\A(?:\xef\xbb\xbf)?(?!\s*<)(?s:.*?)^" + prefix, re.M | re.I)


# readers and writers are loaded with the first file of their format


def _read_native(source: Source, options: ReadOptions) -> ReadResult:
    from core.files.native.reader import read_native

    return read_native(source, options)


def _write_native(model: Model) -> WriteResult:
    from core.files.native.writer import write_native

    return write_native(model)


def _read_urdf(source: Source, options: ReadOptions) -> ReadResult:
    from core.files.urdf.reader import read_urdf

    return read_urdf(source, options)


def _write_urdf(model: Model) -> WriteResult:
    from core.files.urdf.writer import write_urdf

    return write_urdf(model)


def _read_xacro(source: Source, options: ReadOptions) -> ReadResult:
    from core.files.xacro.reader import read_xacro

    return read_xacro(source, options)


def _read_mjcf(source: Source, options: ReadOptions) -> ReadResult:
    from core.files.mjcf.reader import read_mjcf

    return read_mjcf(source, options)


def _read_robotica(source: Source, options: ReadOptions) -> ReadResult:
    from core.files.dh.robotica_reader import read_robotica

    return read_robotica(source, options)


def _write_robotica(model: Model) -> WriteResult:
    from core.files.dh.robotica_reader import write_robotica

    return write_robotica(model)


def _read_csv(source: Source, options: ReadOptions) -> ReadResult:
    from core.files.dh.csv_table import read_csv

    return read_csv(source, options)


def _write_csv(model: Model) -> WriteResult:
    from core.files.dh.csv_table import write_csv

    return write_csv(model)


def _read_toml(source: Source, options: ReadOptions) -> ReadResult:
    from core.files.dh.toml_table import read_toml

    return read_toml(source, options)


def _write_toml(model: Model) -> WriteResult:
    from core.files.dh.toml_table import write_toml

    return write_toml(model)


def _write_python(model: Model) -> WriteResult:
    from core.files.python_script import write_python

    return write_python(model)


_TABLE = (
    FileFormat(
        "kst",
        "Kinetostat model",
        (".kst",),
        _read_native,
        _write_native,
        re.compile(rb"^kinetostat\s*:", re.M),
        complete=True,
    ),
    FileFormat(
        "urdf",
        "URDF robot",
        (".urdf",),
        _read_urdf,
        _write_urdf,
        re.compile(rb"<(?:\w+:)?robot[\s>]"),
    ),
    FileFormat("xacro", "Xacro robot", (".xacro",), _read_xacro, None, re.compile(rb"<xacro:\w+")),
    FileFormat(
        "mjcf",
        "MuJoCo model (MJCF)",
        (".mjcf", ".xml"),
        _read_mjcf,
        None,
        re.compile(rb"<mujoco[\s>]"),
    ),
    FileFormat(
        "robotica",
        "Robotica data file",
        (".rob", ".robotica"),
        _read_robotica,
        _write_robotica,
        _line_pattern(rb"\s*DOF\s*="),
    ),
    FileFormat(
        "csv",
        "DH table (CSV)",
        (".csv",),
        _read_csv,
        _write_csv,
        _line_pattern(rb"#\s*convention\s*[:=]"),
    ),
    FileFormat(
        "toml",
        "DH table (TOML)",
        (".toml",),
        _read_toml,
        _write_toml,
        _line_pattern(rb"\s*convention\s*="),
    ),
    FileFormat(
        "python",
        "Python script",
        (".py",),
        None,
        _write_python,
        re.compile(rb"^import kinetostat\b", re.M),
        complete=True,
    ),
)

FORMATS: dict[str, FileFormat] = {each.id: each for each in _TABLE}
"""Formats by id, in the order in which dialogs list them. Dialogs, `convert` and messages are generated from this
table."""

NATIVE = FORMATS["kst"]
_HEAD = 20_000
_XML = (".xml", ".urdf", ".xacro", ".mjcf")
LOGGER = "kinetostat.files"


def detect_format(source: Source) -> FileFormat:
    """Return the format of a file by its suffix, else by its content. Raises FileError."""
    name = source.file.lower()
    by_suffix = [f for f in _TABLE for suffix in f.suffixes if name.endswith(suffix)]
    known = any(f.sign.search(source.data[:_HEAD]) for f in _TABLE)
    if (
        not known
        and (not by_suffix or name.endswith(_XML))
        and (other := recognise_unsupported_format(source)) is not None
    ):
        raise unsupported_format_error(other, source)
    if by_suffix and not (name.endswith(".xml") and known):
        return by_suffix[-1]
    for candidate in reversed(_TABLE):
        if candidate.sign.search(source.data[:_HEAD]):
            return candidate
    raise FileError(
        "The format of this file is not known.", file=source.file, remedy=_list_known_suffixes(reading=True)
    )


def _list_known_suffixes(*, reading: bool) -> str:
    able = [f for f in _TABLE if (f.read if reading else f.write) is not None]
    listed = ", ".join(f"{' '.join(f.suffixes)} ({f.title})" for f in able)
    return f"Known formats: {listed}."


# ------------------------------------------------------------------------------------------ reading


def read(
    path: str | os.PathLike[str],
    *,
    floating: bool | None = None,
    mimic: bool = True,
    packages: Mapping[str, str] | None = None,
    arguments: Mapping[str, str] | None = None,
    trust: bool | Iterable[TrustedFile] = False,
) -> ReadResult:
    """Return the model in a file and the findings of its reader.

    floating : True: the base of a URDF or MJCF file moves freely; False: it is fixed to the ground; None: as the file
        says, a URDF's root is then fixed, with a hint where the links look like feet or wheels
    mimic    : keep the couplings of a URDF (False: the followers move on their own)
    packages : package name → folder, for meshes named package://…
    arguments : those of a Xacro, name → value
    trust    : let this file run its code (expressions of a Xacro as Python), or those that `CodeRefused.allow` names
    Raises FileError naming file, line, component and remedy.
    """
    source = source_from_file(path)
    trusted = (TrustedFile.of(source),) if trust is True else trust or ()
    options = ReadOptions(floating, mimic, dict(packages or {}), dict(arguments or {}), frozenset(trusted))
    kind = detect_format(source)
    if arguments and kind.id != "xacro":
        raise FileError(
            f"A {kind.title} takes no arguments.",
            file=source.file,
            remedy="Leave them out; only Xacro files take arguments.",
        )
    found = read_with_format(kind, source, options)
    return found if floating is None or kind.id not in WITH_BASE else set_base(found, floating)


def load(
    path: str | os.PathLike[str],
    *,
    floating: bool | None = None,
    mimic: bool = True,
    packages: Mapping[str, str] | None = None,
    arguments: Mapping[str, str] | None = None,
    trust: bool | Iterable[TrustedFile] = False,
) -> Model:
    """Return the model in a file of any known format (options as for `read`). The reader's findings go to the logger
    `kinetostat.files`. Raises FileError."""
    return log_findings(
        read(path, floating=floating, mimic=mimic, packages=packages, arguments=arguments, trust=trust)
    ).model


def log_findings(reading: ReadResult) -> ReadResult:
    """Write the reader's findings to the logger `kinetostat.files` and return the result unchanged."""
    log = logging.getLogger(LOGGER)
    for finding in reading.findings:
        log.log(logging.INFO if finding.severity == "hint" else logging.WARNING, "%s", finding)
    return reading


def loads(text: str, format: str = "kst", origin: str = "", *, trust: Iterable[TrustedFile] = ()) -> Model:
    """Return the model in a string of the given format (key of `FORMATS`); mesh files are looked up relative to the
    path `origin`.

    trust : files it takes in that may run their code. Raises FileError.
    """
    options = ReadOptions(trusted=frozenset(trust))
    return log_findings(read_with_format(_format_by_id(format), source_from_text(text, origin), options)).model


def reload_model(text: str, origin: str = "") -> Model:
    """Read a model from native text written by this program; the findings are not logged again."""
    return read_with_format(NATIVE, source_from_text(text, origin), ReadOptions()).model


def read_source(source: Source, options: ReadOptions) -> ReadResult:
    """Read a source of any known format. Raises FileError."""
    return read_with_format(detect_format(source), source, options)


def read_with_format(format: FileFormat, source: Source, options: ReadOptions) -> ReadResult:
    """Read a source with the reader of a format. Raises FileError."""
    if format.read is None:
        raise FileError(
            f"{format.title} files can only be written, not read.",
            file=source.file,
            remedy=_list_known_suffixes(reading=True),
        )
    try:
        return _record_left_out(format.read(source, dataclasses.replace(options, read=read_source)))
    except KinetostatError as error:
        raise error.at(file=source.file) from None
    except RecursionError:
        raise FileError("The file is nested too deeply.", file=source.file, remedy="Simplify it.") from None
    except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise FileError(
            f"The reader of {format.title} fails here ({type(error).__name__}: {error}).",
            file=source.file,
            line=_line_being_read(error.__traceback__),
            remedy="Check this line. If it is valid, report the problem together with the file: a reader should say "
            "what is wrong.",
        ) from error


def _line_being_read(traceback: TracebackType | None) -> int | None:
    """Return the line of the element at which a reader failed, taken from the innermost frame of the traceback that has
    one."""
    found: int | None = None
    while traceback is not None:
        for value in traceback.tb_frame.f_locals.values():
            for attribute in ("line", "sourceline"):  # of nodes of native files, and of XML tags
                line = getattr(value, attribute, None)
                found = line if isinstance(line, int) else found
        traceback = traceback.tb_next
    return found


def assembly(
    model: Model,
    name: str,
    path: str | os.PathLike[str],
    *,
    parent: str = "",
    pose: Pose = IDENTITY,
    settings: Iterable[Any] = (),
    trusted: Iterable[TrustedFile] = (),
) -> Model:
    """Return the model with the machine in a file added as a sub-assembly.

    path : of any readable file; it is kept relative to the model's own file, if that is known
    settings : `Setting`s of its parameters
    trusted  : files that may run their code. Raises FileError or ModelError.
    """
    from core.files.assemblies import read_sub_assembly
    from core.files.followed_files import relative_path
    from core.model.edits import edits

    folder = os.path.dirname(os.path.abspath(model.origin)) if model.origin else ""
    place = Path(folder, path).absolute()
    file = relative_path(place, folder) if folder else place.as_posix()
    made = SubAssembly(name=name, file=file, parent=parent, pose=pose, settings=tuple(settings))
    return edits.add(
        model, read_sub_assembly(made, model.origin, ReadOptions(trusted=frozenset(trusted), read=read_source))[0]
    )


def reread_sub_assemblies(model: Model, trusted: Iterable[TrustedFile] = ()) -> Model:
    """Return the model with the files of its sub-assemblies read again. Only `trusted` files may run code."""
    from core.files.assemblies import read_sub_assembly

    options = ReadOptions(trusted=frozenset(trusted), read=read_source)
    filled = tuple(read_sub_assembly(each, model.origin, options)[0] for each in model.assemblies)
    return dataclasses.replace(model, assemblies=filled)


def _record_left_out(reading: ReadResult) -> ReadResult:
    """Store the list of the file's unsupported content in the model, so that the notes of its runs can name it."""
    lost = tuple(dict.fromkeys(each.text for each in reading.findings if _is_loss(each)))
    return ReadResult(with_left_out_content(reading.model, lost), reading.findings) if lost else reading


def with_left_out_content(model: Model, left_out: tuple[str, ...]) -> Model:
    """Return the model with the list of file content that it does not represent."""
    if model.left_out == left_out:
        return model
    found: Model = object.__new__(type(model))  # as valid as the other one
    for field in dataclasses.fields(model):
        object.__setattr__(found, field.name, getattr(model, field.name))
    object.__setattr__(found, "left_out", left_out)
    return found


def _is_loss(finding: Finding) -> bool:
    """Return True if a finding is a warning that concerns more than the appearance."""
    return finding.severity == "warning" and finding.field != "shapes"


def _format_by_id(format: str) -> FileFormat:
    if format not in FORMATS:
        raise FileError(f"There is no format '{format}'.", remedy=f"Use one of {', '.join(FORMATS)}.")
    return FORMATS[format]


def check(model: Model) -> tuple[Finding, ...]:
    """Return the findings of `core.model.validation.model.check`, and findings about missing mesh files."""
    from core.files.meshes.lookup import find_mesh_problem
    from core.model.validation.model import check as check_model

    return check_model(model, find_mesh_problem)


# ------------------------------------------------------------------------------------------ writing


def save(model: Model, path: str | os.PathLike[str], *, backup: bool = False) -> tuple[Finding, ...]:
    """Write a model to a file, either completely or not at all, in the format given by the suffix. Returns findings
    about content that the format cannot represent.

    backup : keep what the file held before beside it, under its name with a ~ behind. Raises FileError.
    """
    from core.files.followed_files import rebase_file_references

    file = path_as_string(path)
    require_model(model)
    able = [f for f in _TABLE if f.write is not None and file.lower().endswith(f.suffixes)]
    if not able:
        raise FileError(
            f"Models cannot be written as '{Path(file).suffix or Path(file).name}' files.",
            file=file,
            remedy=_list_known_suffixes(reading=False),
        )
    model, moved = rebase_file_references(model, os.path.dirname(os.path.abspath(file)))
    result = format_model(model, able[-1].id)
    write_atomically(path, encode_utf8(result.text, file), backup=backup)
    return (*moved, *result.findings)


def dumps(model: Model, format: str = "kst") -> str:
    """Return a model as a string in a format (key of `FORMATS`). Raises FileError."""
    return format_model(model, format).text


def format_model(model: Model, format: str = "kst") -> WriteResult:
    """Return a model as text in a format, with findings about content that the format cannot represent."""
    chosen = _format_by_id(format)
    if chosen.write is None:
        raise FileError(f"Models cannot be written as {chosen.title}.", remedy=_list_known_suffixes(reading=False))
    result = chosen.write(require_model(model))
    findings = result.findings if chosen.complete else (*result.findings, *_loss_findings(model, chosen))
    if chosen.read is None:
        once = Finding("warning", f"{chosen.title} files can only be written, not read.", "Keep the .kst file too.")
        findings = (*findings, once)
    return WriteResult(result.text, findings)


def _loss_findings(model: Model, format: FileFormat) -> tuple[Finding, ...]:
    """Return findings about the parts of a model that only the native format can represent."""
    kinds = ("junctions", "sensors", "forces", "constraints", "drivers", "signals")
    lost = [f"{len(found)} {kind}" for kind in kinds if (found := getattr(model.expanded, kind))]
    if not lost:
        return ()
    text = f"{format.title} files cannot represent {', '.join(kinds)}: {', '.join(lost)} are left out."
    return (Finding("warning", text, "Keep the .kst file too."),)
