"""3MF files (3MF Core Specification 1.3, Materials 1.2.1): triangles, placed objects, colours, the stated unit.

The archive is read as a stream: what it unpacks to is counted, and never held at once.
"""

from __future__ import annotations

import io
import zipfile
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any, NamedTuple

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from core.files.mesh_sources import MOST_NUMBERS, MOST_PLACES, refusal

Color = tuple[float, float, float, float]
Matrix = NDArray[np.float64]

METRES = {"micron": 1e-6, "millimeter": 1e-3, "centimeter": 1e-2, "inch": 0.0254, "foot": 0.3048, "meter": 1.0}
MOST_TEXT = 250_000_000
"""Bytes of all models of an archive, unpacked."""
MOST_NESTED = 32
"""Objects within one another."""
_START = "3D/3dmodel.model"
_RELATIONS = "_rels/.rels"
_MODEL = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"
_PRODUCTION = "{http://schemas.microsoft.com/3dmanufacturing/production/2015/06}path"


class Placed(NamedTuple):
    """An object where it is: the model and the id that say it, and the transform, (4, 3) for row vectors."""

    model: str
    id: str
    transform: Matrix


@dataclass
class _Object:
    """Vertices, triangles with the colour of each, and objects within."""

    color: tuple[str, int] | None = None
    vertices: array[float] = field(default_factory=lambda: array("d"))
    corners: array[int] = field(default_factory=lambda: array("q"))
    colors: list[tuple[str, int] | None] = field(default_factory=list)
    components: list[Placed] = field(default_factory=list)


@dataclass
class _Model:
    """What one model of an archive says."""

    metres: float = METRES["millimeter"]
    objects: dict[str, _Object] = field(default_factory=dict)
    colors: dict[str, list[Color]] = field(default_factory=dict)
    items: list[Placed] = field(default_factory=list)


Part = tuple[NDArray[np.float64], NDArray[np.int64], Color | None]


def parts_of(data: bytes, file: str) -> list[Part]:
    """(vertices (n, 3) m, faces (m, 3), colour) of everything that is built. Raises FileError, or whatever the
    libraries for archives and XML raise where they are damaged."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return list(_Archive(archive, file).parts())


class _Archive:
    """The models of an archive, each read when it is first named."""

    def __init__(self, archive: zipfile.ZipFile, file: str) -> None:
        self.archive, self.file = archive, file
        self.names = {name.lower(): name for name in archive.namelist()}
        self.models: dict[str, _Model] = {}
        self.left = MOST_TEXT
        self.numbers = self.places = 0

    def parts(self) -> Iterator[Part]:
        start = self.start()
        for item in self.model(start).items:
            yield from self.placed(item._replace(model=item.model or start), self.model(start).metres, 0)

    def start(self) -> str:
        """The name of the model that is built, which a relation of the archive says."""
        if _RELATIONS in self.names:
            for tag in self.elements(_RELATIONS):
                if tag.get("Type") == _MODEL:
                    return str(tag.get("Target", "")).lstrip("/")
        return _START

    def elements(self, name: str) -> Iterator[Any]:
        """Every element of an XML file of the archive when it is complete; then it is forgotten."""
        real = self.names.get(name.lower())
        if real is None:
            raise refusal(f"the archive holds no '{name[:200]}'", self.file)
        with self.archive.open(real) as stream:
            parser = etree.iterparse(_Counted(stream, self), no_network=True, resolve_entities=False, load_dtd=False)
            for _, tag in parser:
                yield tag
                if tag.tag.rpartition("}")[2] in ("vertex", "triangle") and (before := tag.getprevious()) is not None:
                    tag.getparent().remove(before)

    def model(self, name: str) -> _Model:
        if name not in self.models:
            self.models[name] = _read(self.elements(name), name)
        return self.models[name]

    def placed(self, place: Placed, metres: float, depth: int) -> Iterator[Part]:
        """The parts of an object and of those within it. Raises FileError where there are too many."""
        model = self.model(place.model)
        if depth > MOST_NESTED or place.id not in model.objects:
            raise refusal(f"object '{place.id[:40]}' is missing, or holds itself", self.file)
        found = model.objects[place.id]
        self.places += 1
        self.numbers += len(found.vertices) + len(found.corners)
        if self.places > MOST_PLACES or self.numbers > MOST_NUMBERS:
            raise refusal(f"it places its parts more than {MOST_PLACES} times", self.file)
        if found.corners:
            yield from _coloured(found, model, place.transform, metres)
        for inner in found.components:
            transform = np.hstack([inner.transform, [[0.0], [0.0], [0.0], [1.0]]]) @ place.transform
            yield from self.placed(Placed(inner.model or place.model, inner.id, transform), metres, depth + 1)


class _Counted:
    """A stream that ends in an error after too many bytes."""

    def __init__(self, stream: IO[bytes], archive: _Archive) -> None:
        self.stream, self.archive = stream, archive

    def read(self, count: int = -1) -> bytes:
        data = self.stream.read(min(count, 1 << 16) if count > 0 else 1 << 16)
        self.archive.left -= len(data)
        if self.archive.left < 0:
            raise refusal(f"it unpacks to more than {MOST_TEXT / 1e6:.0f} MB", self.archive.file)
        return data


def _read(elements: Iterator[Any], name: str) -> _Model:
    """A model, element by element: what stands within another comes before it."""
    model, current = _Model(), _Object()
    for tag in elements:
        kind = tag.tag.rpartition("}")[2]
        if kind == "vertex":
            current.vertices.extend((float(tag.get("x")), float(tag.get("y")), float(tag.get("z"))))
        elif kind == "triangle":
            current.corners.extend((int(tag.get("v1")), int(tag.get("v2")), int(tag.get("v3"))))
            current.colors.append(_index(tag, "p1"))
        elif kind == "component":
            current.components.append(_placed(tag))
        elif kind == "object":
            current.color = _index(tag, "pindex")
            model.objects[tag.get("id")], current = current, _Object()
        elif kind in ("basematerials", "colorgroup"):
            model.colors[tag.get("id")] = [_color(each.get("displaycolor") or each.get("color")) for each in tag]
        elif kind == "item":
            model.items.append(_placed(tag))
        elif kind == "model":
            model.metres = METRES[tag.get("unit", "millimeter")]
    return model


def _placed(tag: Any) -> Placed:
    numbers = [float(word) for word in tag.get("transform", "1 0 0 0 1 0 0 0 1 0 0 0").split()]
    return Placed(str(tag.get(_PRODUCTION, "")).lstrip("/"), tag.get("objectid"), np.array(numbers).reshape(4, 3))


def _index(tag: Any, place: str) -> tuple[str, int] | None:
    """Group and number of a colour; a triangle without a group takes that of its object."""
    return None if tag.get(place) is None else (tag.get("pid", ""), int(tag.get(place)))


def _color(text: str) -> Color:
    """#RRGGBB or #RRGGBBAA."""
    red, green, blue, opacity = bytes.fromhex(text.lstrip("#").ljust(8, "F"))[:4]
    return red / 255, green / 255, blue / 255, opacity / 255


def _coloured(found: _Object, model: _Model, transform: Matrix, metres: float) -> Iterator[Part]:
    """The triangles of an object, those of one colour together."""
    vertices = np.array(found.vertices).reshape(-1, 3)
    vertices = (vertices @ transform[:3] + transform[3]) * metres
    faces = np.array(found.corners).reshape(-1, 3)
    if np.linalg.det(transform[:3]) < 0.0:
        faces = faces[:, ::-1]
    looks = [found.color if each is None else (each[0] or (found.color or ("",))[0], each[1]) for each in found.colors]
    kinds = {look: k for k, look in enumerate(dict.fromkeys(looks))}
    which = np.array([kinds[look] for look in looks])
    for look, k in kinds.items():
        group = model.colors.get(look[0], []) if look else []
        yield vertices, faces[which == k], group[look[1]] if look and 0 <= look[1] < len(group) else None
