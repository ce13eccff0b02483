"""Input of the third-party mesh readers: the bytes of one file, converted to UTF-8, and the files in its folder.

A file is refused here whose few bytes would make a reader build far more than they hold: entities and archives in DAE,
nodes placed within one another time and again, accessors and lists of more numbers than there are bytes for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from core.errors import FileError
from core.files.regular_file import MESH, PICTURE, read_content

MOST_NUMBERS = 60_000_000
"""Maximum number of coordinates and indices of all parts of a mesh together."""
MOST_PLACES = 20_000
"""Maximum number of placed parts in a mesh."""

_HEAD = 100_000
"""Bytes of the longest header of a PLY file."""
_TEXTS = (".obj", ".off", ".gltf", ".mtl")
_FACET = 50
"""Bytes per triangle of a binary STL file; 84 bytes precede the first triangle."""
_ELEMENT = re.compile(rb"^element\s+\S+\s+(\S+)", re.MULTILINE)
_MATERIAL = re.compile(rb"^[ \t]*usemtl[ \t]+([^\r\n]*)", re.MULTILINE)
_COMPONENT_TYPES = (5120, 5121, 5122, 5123, 5125, 5126)
_COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
"""glTF 2.0, 3.6.2: types of components, components of an element."""
_FEW = 3
"""Maximum number of elements of an accessor without data (all zeros)."""


class MeshFolderFiles:
    """Files that a mesh reader requests from the folder of the mesh or below: regular files only, with a limit on their
    total size."""

    def __init__(self, file: str) -> None:
        self._folder = Path(file).absolute().parent.resolve()
        self._left = MESH.most
        self.file_name = Path(file).name

    def get(self, name: str) -> bytes:
        """Return the content of a file. Raises FileError."""
        for place in self._possible_paths(str(name).strip()):
            kind = PICTURE if place.suffix.lower() not in (".bin", ".mtl", ".glbin") else MESH
            data = read_content(place, kind)
            self._left -= len(data)
            if self._left < 0:
                raise FileError(
                    f"The files that the mesh refers to have more than {MESH.most / 1e6:.0f} MB in total.",
                    file=str(place),
                    remedy=MESH.smaller,
                )
            return as_utf8(data) if place.suffix.lower() in _TEXTS else data
        raise FileError(f"There is no file '{name[:200]}' in the folder of the mesh.", remedy="Copy it there.")

    __getitem__ = get

    def _possible_paths(self, name: str) -> Iterable[Path]:
        """Yield possible paths of a file: as named, then by its file name only."""
        if "://" in name or "\0" in name or len(name) > 4096:
            return
        for each in dict.fromkeys((name, unquote(name), Path(name.replace("\\", "/")).name)):
            try:
                place = Path(self._folder, each.lstrip("/")).resolve()
                if place.is_relative_to(self._folder) and place.is_file():
                    yield place
            except (OSError, RuntimeError):
                continue


def check_mesh_header(data: bytes, suffix: str, file: str) -> bytes:
    """Return the bytes to pass to a mesh reader. Raises FileError for a file whose header declares more data than it
    contains."""
    if suffix in _TEXTS or (suffix == ".stl" and not _is_binary_stl(data)):
        data = as_utf8(data)
    if suffix == ".ply":
        return _check_ply(data, file)
    if suffix == ".obj" and len(set(_MATERIAL.findall(data))) * data.count(b"\nv ") > 20 * MOST_NUMBERS:
        raise unreadable_mesh_error("it has too many materials", file)
    if suffix == ".dae":
        _check_dae(data, file)
    if suffix in (".glb", ".gltf"):
        _check_gltf_sizes(_read_gltf_json(data, suffix, file), file)
    return data


def as_utf8(data: bytes) -> bytes:
    """Return text as UTF-8; bytes that are not UTF-8 are taken as Latin-1, the encoding that older programs use for
    names and comments."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1").encode("utf-8")
    return data


def unreadable_mesh_error(reason: str, file: str) -> FileError:
    """Return the error about a mesh that cannot be read."""
    return FileError(
        f"The mesh cannot be read: {reason}.", file=file, remedy="Export it again, preferably as binary STL or glTF."
    )


def _is_binary_stl(data: bytes) -> bool:
    return len(data) >= 84 and len(data) == 84 + _FACET * int.from_bytes(data[80:84], "little")


def _check_ply(data: bytes, file: str) -> bytes:
    """Return a PLY file with its header in UTF-8. Raises FileError if the header declares more rows than the file has
    bytes."""
    end = data.find(b"end_header", 0, _HEAD)
    if end < 0:
        raise unreadable_mesh_error("its header is incomplete", file)
    for count in _ELEMENT.findall(data, 0, end):
        if not (count.isdigit() and len(count) < 12 and int(count) <= len(data)):
            raise unreadable_mesh_error(f"it has fewer than {count[:20].decode('latin-1')} rows", file)
    return as_utf8(data[:end]) + data[end:]


# ------------------------------------------------------------------------------------------ COLLADA


def _check_dae(data: bytes, file: str) -> None:
    """Raise FileError for a DAE file with XML entities, an archive, or too many nested node instances."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    root = etree.fromstring(data, parser)
    if root.getroottree().docinfo.internalDTD is not None:
        raise unreadable_mesh_error("it declares XML entities, which are not expanded here", file)
    named = {tag.get("id"): tag for tag in root.iter("{*}node", "{*}geometry", "{*}visual_scene") if tag.get("id")}
    _InstanceCounter(named, file).count_below(root)


class _InstanceCounter:
    """Counts the geometry instances, and the characters of their indices, when every node instance is followed."""

    def __init__(self, named: dict[str, Any], file: str) -> None:
        self.named, self.file = named, file
        self.known: dict[Any, tuple[int, int]] = {}
        self.open: set[Any] = set()

    def count_below(self, tag: Any) -> tuple[int, int]:
        """Return (instances, characters) below an element. Raises FileError if there are too many or if they are nested
        endlessly."""
        if tag in self.known:
            return self.known[tag]
        if tag in self.open:
            raise unreadable_mesh_error("its nodes contain each other in a cycle", self.file)
        self.open.add(tag)
        places = characters = 0
        for each in tag.iter("{*}instance_node", "{*}instance_geometry", "{*}instance_visual_scene"):
            target = self.named.get(each.get("url", "")[1:])
            if target is not None:
                more = (
                    (1, _count_index_characters(target)) if each.tag.endswith("geometry") else self.count_below(target)
                )
                places, characters = places + more[0], characters + more[1]
            if places > MOST_PLACES or characters > MESH.most:
                raise unreadable_mesh_error(f"it has more than {MOST_PLACES} placed parts", self.file)
        self.open.discard(tag)
        self.known[tag] = places, characters
        return places, characters


def _count_index_characters(geometry: Any) -> int:
    """Return the number of characters of a geometry's indices."""
    return sum(len(each.text or "") for each in geometry.iter("{*}p", "{*}ph"))


# ------------------------------------------------------------------------------------------ glTF


def _read_gltf_json(data: bytes, suffix: str, file: str) -> dict[str, Any]:
    """Return the JSON part of a glTF file (2.0, 4.4: after five words in a binary file)."""
    text = data
    if suffix == ".glb" and data.startswith(b"glTF"):
        text = data[20 : 20 + int.from_bytes(data[12:16], "little")]
    try:
        head = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise unreadable_mesh_error(f"its description is not valid JSON ({str(error)[:100]})", file) from None
    if not isinstance(head, dict):
        raise unreadable_mesh_error("its description is not a JSON object", file)
    return head


def _check_gltf_sizes(data: dict[str, Any], file: str) -> None:
    """Raise FileError if views, accessors and parts together are too large; readers copy overlapping ones."""
    try:
        views = sum(int(view["byteLength"]) for view in data.get("bufferViews", []))
        sizes = [_accessor_value_count(each) for each in data.get("accessors", [])]
        parts = [part for mesh in data.get("meshes", []) for part in mesh["primitives"]]
        packed = any("bufferView" not in each and int(each["count"]) > _FEW for each in data.get("accessors", []))
        wanted = sum(_primitive_value_count(part, sizes) for part in parts)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise unreadable_mesh_error(f"its description lacks {str(error)[:100] or 'an entry'}", file) from None
    if packed:
        raise unreadable_mesh_error("its data are compressed, or missing", file)
    if views > 2 * MESH.most or max(sum(sizes), wanted) > 2 * MOST_NUMBERS:
        raise unreadable_mesh_error("it declares more numbers than a mesh may have", file)
    if max(len(parts), len(data.get("nodes", []))) > MOST_PLACES:
        raise unreadable_mesh_error(f"it has more than {MOST_PLACES} parts or nodes", file)


def _accessor_value_count(accessor: dict[str, Any]) -> int:
    count = int(accessor["count"])
    if count < 0 or accessor["componentType"] not in _COMPONENT_TYPES:
        raise ValueError("a valid count or component type")
    return count * _COMPONENTS[accessor["type"]]


def _primitive_value_count(primitive: dict[str, Any], sizes: list[int]) -> int:
    """Return the number of values that a part takes from accessors."""
    used = [*primitive["attributes"].values(), *([primitive["indices"]] if "indices" in primitive else [])]
    return sum(sizes[k] for k in used)
