"""Mesh names that still lead to their files when a model is saved in another folder."""

from __future__ import annotations

import os
from pathlib import Path

from core.files.mesh_lookup import resolve_mesh
from core.model import Finding, Mesh, Model
from core.model.fields import Element, mapped


def with_meshes_from(model: Model, folder: str) -> tuple[Model, tuple[Finding, ...]]:
    """The model as it must be written into `folder`, and a finding if a mesh is named differently there.

    A name that leads to the same file from there stays as the person wrote it; else it becomes a path relative to
    the folder (absolute on another drive). Names that lead nowhere stay.
    """
    changed: list[str] = []

    def renamed(element: Element) -> dict[str, str]:
        if not isinstance(element, Mesh) or not model.origin:
            return {}
        now = resolve_mesh(element.file, model.origin)
        later = resolve_mesh(element.file, os.path.join(folder, "model"))
        if now is None or (later is not None and later.resolve() == now.resolve()):
            return {}
        changed.append(element.file)
        return {"file": _relative(now, folder)}

    if model.origin and Path(model.origin).absolute().parent == Path(folder):
        return model, ()
    moved = mapped(model, renamed)
    if not changed:
        return model, ()
    text = f"{len(changed)} mesh files are named by their path from the new folder, e.g. '{changed[0]}'."
    return moved, (Finding("hint", text, "Copy the meshes along when you pass the file on."),)


def _relative(place: Path, folder: str) -> str:
    try:
        return Path(os.path.relpath(place.resolve(), Path(folder).resolve())).as_posix()
    except ValueError:
        return place.resolve().as_posix()
