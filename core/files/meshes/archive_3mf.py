"""3MF files (3MF Core Specification 1.3, Materials 1.2.1): triangles, placed objects, colours, and the unit of the
file.

The archive is read as a stream: what it unpacks to is counted, and never held at once.
"""

from __future__ import annotations

import io
import zipfile
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from core.files.meshes.sources import MOST_NUMBERS, MOST_PLACES, unreadable_mesh_error

Color = tuple[float, float, float, float]
Matrix = NDArray[np.float64]

METRES = {"micron": 1e-6, "millimeter": 1e-3, "centimeter": 1e-2, "inch": 0.0254, "foot": 0.3048, "meter": 1.0}
MOST_TEXT, MOST_UNPACKED, ROOM = 100_000_000, 50, 1_000_000
"""Bytes of all models of an archive, unpacked: at most MOST_TEXT, and at most ROOM + MOST_UNPACKED times the packed
bytes."""
MOST_NESTED = 32
"""Maximum nesting depth of objects."""
_START = "3D/3dmodel.model"
_RELATIONS = "_rels/.rels"
_MODEL = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"
_PRODUCTION = "{http://schemas.microsoft.com/3dmanufacturing/production/2015/06}path"


class PlacedObject(NamedTuple):
    """Placed object: the model and id that define it, and its transform, (4, 3) for row vectors."""

    model: str
    id: str
    transform: Matrix


@dataclass
class _MeshObject:
    """Object of a 3MF model: vertices, triangles with their colours, and nested objects."""

    color: tuple[str, int] | None = None
    vertices: array[float] = field(default_factory=lambda: array("d"))
    corners: array[int] = field(default_factory=lambda: array("q"))
    colors: list[tuple[str, int] | None] = field(default_factory=list)
    components: list[PlacedObject] = field(default_factory=list)


@dataclass
class _ArchiveModel:
    """Content of one model file of an archive, collected while the XML is parsed."""

    metres: float = METRES["millimeter"]
    objects: dict[str, _MeshObject] = field(default_factory=dict)
    colors: dict[str, list[Color]] = field(default_factory=dict)
    items: list[PlacedObject] = field(default_factory=list)
    current: _MeshObject = field(default_factory=lambda: _MeshObject())
    group: list[Color] = field(default_factory=list)

    def start_element(self, kind: str, tag: Any) -> None:
        """Handle the start of an element, given its kind and attributes."""
        if kind == "vertex":
            self.current.vertices.extend((float(tag["x"]), float(tag["y"]), float(tag["z"])))
        elif kind == "triangle":
            self.current.corners.extend((int(tag["v1"]), int(tag["v2"]), int(tag["v3"])))
            self.current.colors.append(_color_index(tag, "p1"))
        elif kind == "object":
            self.current = self.objects[tag["id"]] = _MeshObject(_color_index(tag, "pindex"))
        elif kind == "component":
            self.current.components.append(read_placed_object(tag))
        elif kind in ("basematerials", "colorgroup"):
            self.group = self.colors[tag["id"]] = []
        elif kind in ("base", "color"):
            self.group.append(_parse_color(tag.get("displaycolor") or tag["color"]))
        elif kind == "item":
            self.items.append(read_placed_object(tag))
        elif kind == "model":
            self.metres = METRES[tag.get("unit", "millimeter")]

    def end_element(self, kind: str) -> None:
        """Handle the end of an element."""
        if kind == "object":
            self.current = _MeshObject()


Part = tuple[NDArray[np.float64], NDArray[np.int64], Color | None]


def read_parts(data: bytes, file: str) -> list[Part]:
    """Return the parts (vertices (n, 3) m, faces (m, 3), colour) of all objects in the build. Raises FileError, or any
    error of the zip and XML libraries for a damaged archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return list(_Archive(archive, file, min(MOST_TEXT, ROOM + MOST_UNPACKED * len(data))).iterate_parts())


class _Archive:
    """Model files of an archive, each read when first referenced."""

    def __init__(self, archive: zipfile.ZipFile, file: str, left: int) -> None:
        self.archive, self.file, self.left = archive, file, left
        self.names = {name.lower(): name for name in archive.namelist()}
        self.models: dict[str, _ArchiveModel] = {}
        self.numbers = self.places = 0

    def iterate_parts(self) -> Iterator[Part]:
        start = self.start_model_name()
        for item in self.read_model(start).items:
            yield from self.placed_parts(item._replace(model=item.model or start), self.read_model(start).metres, 0)

    def start_model_name(self) -> str:
        """Return the name of the model to build, as given by the archive's relationships."""
        if _RELATIONS in self.names:
            relations: list[Any] = []
            self.parse_xml_file(_RELATIONS, lambda kind, tag: relations.append(tag), lambda kind: None)
            for each in relations:
                if each.get("Type") == _MODEL:
                    return str(each.get("Target", "")).lstrip("/")
        return _START

    def parse_xml_file(
        self, name: str, on_start: Callable[[str, Any], None], on_end: Callable[[str], None] = lambda kind: None
    ) -> None:
        """Parse an XML file of the archive, calling back at the start and end of each element."""
        real = self.names.get(name.lower())
        if real is None:
            raise unreadable_mesh_error(f"the archive contains no file '{name[:200]}'", self.file)
        parser = etree.XMLParser(
            target=_ParserTarget(on_start, on_end), resolve_entities=False, no_network=True, load_dtd=False
        )
        with self.archive.open(real) as stream:
            while data := stream.read(1 << 16):
                self.left -= len(data)
                if self.left < 0:
                    raise unreadable_mesh_error("the file's unpacked size is too large", self.file)
                parser.feed(data)
        parser.close()

    def read_model(self, name: str) -> _ArchiveModel:
        if name not in self.models:
            self.models[name] = _ArchiveModel()
            self.parse_xml_file(name, self.models[name].start_element, self.models[name].end_element)
        return self.models[name]

    def placed_parts(self, placed: PlacedObject, metres_per_unit: float, depth: int) -> Iterator[Part]:
        """Yield the parts of a placed object and of its nested objects. Raises FileError if there are too many."""
        model = self.read_model(placed.model)
        if depth > MOST_NESTED or placed.id not in model.objects:
            raise unreadable_mesh_error(f"object '{placed.id[:40]}' is missing, or contains itself", self.file)
        found = model.objects[placed.id]
        self.places += 1
        self.numbers += len(found.vertices) + len(found.corners)
        if self.places > MOST_PLACES or self.numbers > MOST_NUMBERS:
            raise unreadable_mesh_error(f"the file has more than {MOST_PLACES} placed parts", self.file)
        if found.corners:
            yield from _parts_by_color(found, model, placed.transform, metres_per_unit)
        for inner in found.components:
            transform = np.hstack([inner.transform, [[0.0], [0.0], [0.0], [1.0]]]) @ placed.transform
            yield from self.placed_parts(
                PlacedObject(inner.model or placed.model, inner.id, transform), metres_per_unit, depth + 1
            )


class _ParserTarget(NamedTuple):
    """Parser target that receives elements from lxml."""

    begun: Callable[[str, Any], None]
    ended: Callable[[str], None]

    def start(self, tag: str, attributes: Any) -> None:
        """Handle the start of an element."""
        self.begun(tag.rpartition("}")[2], attributes)

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        self.ended(tag.rpartition("}")[2])

    def close(self) -> None:
        """Handle the end of the file."""


def read_placed_object(tag: Any) -> PlacedObject:
    numbers = [float(word) for word in tag.get("transform", "1 0 0 0 1 0 0 0 1 0 0 0").split()]
    return PlacedObject(str(tag.get(_PRODUCTION, "")).lstrip("/"), tag["objectid"], np.array(numbers).reshape(4, 3))


def _color_index(tag: Any, attribute: str) -> tuple[str, int] | None:
    """Return the group and index of a colour, or None; a triangle without a group takes that of its object."""
    return None if tag.get(attribute) is None else (tag.get("pid", ""), int(tag.get(attribute)))


def _parse_color(text: str) -> Color:
    """Return the colour of a text #RRGGBB or #RRGGBBAA."""
    red, green, blue, opacity = bytes.fromhex(text.lstrip("#").ljust(8, "F"))[:4]
    return red / 255, green / 255, blue / 255, opacity / 255


def _parts_by_color(
    mesh: _MeshObject, model: _ArchiveModel, transform: Matrix, metres_per_unit: float
) -> Iterator[Part]:
    """Yield the triangles of an object, grouped by colour."""
    vertices = np.array(mesh.vertices).reshape(-1, 3)
    vertices = (vertices @ transform[:3] + transform[3]) * metres_per_unit
    faces = np.array(mesh.corners).reshape(-1, 3)
    if np.linalg.det(transform[:3]) < 0.0:
        faces = faces[:, ::-1]
    looks = [mesh.color if each is None else (each[0] or (mesh.color or ("",))[0], each[1]) for each in mesh.colors]
    kinds = {look: k for k, look in enumerate(dict.fromkeys(looks))}
    which = np.array([kinds[look] for look in looks])
    for look, k in kinds.items():
        group = model.colors.get(look[0], []) if look else []
        yield vertices, faces[which == k], group[look[1]] if look and 0 <= look[1] < len(group) else None
