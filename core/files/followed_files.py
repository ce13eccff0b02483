"""References from a model to other files (meshes, sub-assemblies, recorded signals, textures).

Their paths as written in the model's file stay valid when it is saved in another folder; fingerprints of their contents
serve in cache keys.
"""

from __future__ import annotations

import os
from pathlib import Path

from core.files.meshes.lookup import resolve_mesh
from core.files.regular_file import SIGNAL, fingerprint
from core.model import Driver, Figures, Finding, Mesh, Model, SubAssembly
from core.model.bodies import PLAIN_LINE
from core.model.fields import Element, map_elements


def relative_path(path: Path, folder: str) -> str:
    """Return the path from a folder to a file, with forward slashes; the full path on another drive."""
    try:
        return Path(os.path.relpath(path.resolve(), Path(folder).resolve())).as_posix()
    except ValueError:
        return path.resolve().as_posix()


def resolve_document_path(file: str, document: str) -> str:
    """Return the path of a file that a document refers to: absolute, in the home folder (~), or relative to the
    document."""
    path = os.path.expanduser(file)
    return path if os.path.isabs(path) else os.path.join(os.path.dirname(document), path)


def rebase_file_references(model: Model, folder: str) -> tuple[Model, tuple[Finding, ...]]:
    """Return the model to be saved in `folder`, with its file references adapted to that folder, and a finding if any
    reference changed.

    A name that leads to the same file from there stays as the person wrote it; else it becomes a path relative to
    the folder (absolute on another drive). Names that lead nowhere stay. Full paths of sub-assemblies become relative
    when a model is saved for the first time.
    """
    if model.origin and Path(model.origin).absolute().parent == Path(folder):
        return model, ()
    changed: list[str] = []

    def figures(element: Figures) -> dict[str, str]:
        names = {which: getattr(element, which) for which in ("revolute", "prismatic", "link")}
        files = {which: name for which, name in names.items() if name not in ("", PLAIN_LINE)}
        moved = {which: _rebase_path(name, model, folder) for which, name in files.items()}
        found = {which: name for which, name in moved.items() if name != files[which]}
        changed.extend(files[which] for which in found if model.origin)
        return found

    def rebased_file_fields(element: Element) -> dict[str, str]:
        if isinstance(element, Figures):
            return figures(element)
        file = getattr(element, "file", "")
        if not isinstance(element, Mesh | SubAssembly | Driver) or not file:
            return {}
        new = _rebase_mesh_path(file, model, folder) if isinstance(element, Mesh) else _rebase_path(file, model, folder)
        if new == file:
            return {}
        if model.origin:
            changed.append(file)
        return {"file": new}

    moved = map_elements(model, rebased_file_fields)
    if not changed:
        return moved, ()
    text = f"{len(changed)} file names were changed to paths from the new folder, e.g. '{changed[0]}'."
    return moved, (Finding("hint", text, "Include these files when you share the machine."),)


def _rebase_mesh_path(file: str, model: Model, folder: str) -> str:
    """Return the path of a mesh file as a model saved in `folder` has to refer to it."""
    now = resolve_mesh(file, model.origin) if model.origin else None
    later = resolve_mesh(file, os.path.join(folder, "model"))
    if now is None or (later is not None and later.resolve() == now.resolve()):
        return file
    return relative_path(now, folder)


def _rebase_path(file: str, model: Model, folder: str) -> str:
    """Return the path of a file, given relative to the model's present file, as a model saved in `folder` has to refer
    to it."""
    place = Path(file)
    if place.is_absolute():
        return relative_path(place, folder) if not model.origin else file
    if not model.origin:
        return file
    now = Path(os.path.dirname(os.path.abspath(model.origin)), place)
    return relative_path(now, folder) if now.is_file() else file


def content_fingerprints(model: Model) -> tuple[str, ...]:
    """Return the fingerprints of the files whose content affects the motion: tables of drivers and meshes that
    contribute mass; "" for a missing file."""
    plain = model.expanded
    tables = [
        fingerprint(resolve_document_path(driver.file, model.origin), SIGNAL) for driver in plain.drivers if driver.file
    ]
    weighing = [shape for body in plain.bodies if body.density is not None for shape in body.shapes]
    return (
        *tables,
        *(_mesh_content_fingerprint(shape.file, model.origin) for shape in weighing if isinstance(shape, Mesh)),
    )


def _mesh_content_fingerprint(file: str, origin: str) -> str:
    from core.files.meshes.lookup import resolve_mesh
    from core.files.meshes.meshes import mesh_fingerprint

    place = resolve_mesh(file, origin)
    return "" if place is None else mesh_fingerprint(place)
