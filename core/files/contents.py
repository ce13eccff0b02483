"""Fingerprints of the files that affect a machine's motion, used in cache keys."""

from __future__ import annotations

from core.files.places import beside
from core.files.regular_file import SIGNAL, fingerprint
from core.model import Mesh, Model


def content_fingerprints(model: Model) -> tuple[str, ...]:
    """Return the fingerprints of the tables of a model's drivers and of the meshes that contribute mass; "" for a
    missing file."""
    plain = model.expanded
    tables = [fingerprint(beside(driver.file, model.origin), SIGNAL) for driver in plain.drivers if driver.file]
    weighing = [shape for body in plain.bodies if body.density is not None for shape in body.shapes]
    return (*tables, *(_mesh_content(shape.file, model.origin) for shape in weighing if isinstance(shape, Mesh)))


def _mesh_content(file: str, origin: str) -> str:
    from core.files.meshes.lookup import resolve_mesh
    from core.files.meshes.meshes import mesh_fingerprint

    place = resolve_mesh(file, origin)
    return "" if place is None else mesh_fingerprint(place)
