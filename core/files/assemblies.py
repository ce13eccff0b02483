"""Sub-assemblies: the files that a model imports, resolved from the folder of the importing file and read once each.
Import cycles are rejected.

A model keeps the name of the file as it was written; what the file holds comes along as `content` and is not saved,
so that a change in the file is seen when the model is opened again.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

from core.errors import FileError, KinetostatError
from core.files.meshes.lookup import resolve_mesh
from core.files.source import ReadOptions, ReadResult, source_from_file
from core.model import Driver, Finding, Material, Mesh, Model, SubAssembly
from core.model.fields import Element, map_elements

MAX_DEPTH = 32
"""Maximum nesting depth of imports."""
MOST_BODIES = 20_000
"""Maximum number of bodies in all imported machines together; a machine that is imported several times counts each
time."""


def read_sub_assembly(
    assembly: SubAssembly, importer: str, options: ReadOptions
) -> tuple[SubAssembly, tuple[Finding, ...]]:
    """Return the sub-assembly with the machine read from its file, and the findings of the file's reader.

    importer : path of the file that imports it, "" if there is none. Raises FileError with the chain of files.
    """
    place = find_assembly_file(assembly, importer)
    content, findings = _read_machine(place, assembly, importer, options)
    filled = dataclasses.replace(assembly, content=content)
    return filled, tuple(
        dataclasses.replace(finding, name=f"{assembly.name}.{finding.name}" if finding.name else finding.name)
        for finding in findings
    )


def body_count(model: Model | None, counted: dict[int, int] | None = None) -> int:
    """Return the number of bodies in a machine, including those of its sub-assemblies."""
    if model is None:
        return 0
    counted = {} if counted is None else counted
    if id(model) not in counted:
        inner = sum(body_count(each.content, counted) for each in model.assemblies)
        counted[id(model)] = inner + len(model.bodies) + sum(len(chain.rows) + 1 for chain in model.chains)
    return counted[id(model)]


def find_assembly_file(assembly: SubAssembly, importer: str) -> Path:
    """Return the path of a sub-assembly's file; relative paths are resolved from the importing file's folder. Raises
    FileError if there is no such file."""
    where = f"assembly '{assembly.name}', file"
    if not assembly.file:
        raise FileError("The sub-assembly has no file.", where=where, remedy="Choose a file.")
    if "\0" in assembly.file or len(assembly.file) > 4096:
        raise FileError("This is not a valid file name.", where=where, remedy="Choose a file.")
    named = Path(assembly.file.replace("\\", "/"))
    if not named.is_absolute() and not importer:
        raise FileError(
            f"'{assembly.file}' is relative to the machine's own file, which is not known.",
            where=where,
            remedy="Give a full path, or save the machine first.",
        )
    place = Path(os.path.dirname(os.path.abspath(importer)), named) if importer else named
    try:
        found = place.is_file()
    except (OSError, ValueError):
        found = False
    if not found:
        raise FileError(
            f"There is no file '{assembly.file}' (looked for at {place}).",
            where=where,
            remedy="Put the file there or correct its name.",
        )
    return Path(os.path.realpath(place))


def _read_machine(
    path: Path, assembly: SubAssembly, importer: str, options: ReadOptions
) -> tuple[Model, tuple[Finding, ...]]:
    assert options.read is not None, "files are imported while a file is read"
    key = os.path.realpath(path)
    chain = options.chain or ((os.path.realpath(importer),) if importer else ())
    if key in chain or len(chain) > MAX_DEPTH:
        names = [os.path.basename(file) for file in (*chain[chain.index(key) if key in chain else 0 :], key)]
        raise FileError(
            f"The files import each other in a cycle: {' → '.join(names)}.",
            where=f"assembly '{assembly.name}', file",
            remedy="Remove one of these imports.",
        )
    if (known := options.imported.get(key)) is not None:
        return known.model, ()
    inner = dataclasses.replace(options, floating=False, chain=(*chain, key))
    try:
        reading = options.read(source_from_file(path), inner)
    except KinetostatError as error:
        error.where = f"{error.where} (imported as '{assembly.name}')".lstrip()
        raise
    reading = ReadResult(_with_absolute_paths(reading.model, options), reading.findings)
    options.imported[key] = reading
    return reading.model, reading.findings


def _with_absolute_paths(model: Model, options: ReadOptions) -> Model:
    """Return the model with absolute file paths, so that they stay valid when it becomes part of a model in another
    folder."""
    folder = os.path.dirname(os.path.abspath(model.origin))

    def absolute_file_fields(element: Element) -> dict[str, str]:
        match element:
            case Mesh(file=file):
                place = resolve_mesh(file, model.origin, options.packages)
                return {} if place is None else {"file": place.absolute().as_posix()}
            case Material(texture=file) if file and "://" not in file:
                return {"texture": Path(folder, file).as_posix()}
            case Driver(file=file) if file:
                return {"file": Path(folder, file).as_posix()}
        return {}

    return map_elements(model, absolute_file_fields)
