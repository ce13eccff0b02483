"""Mesh files (STL, OBJ, DAE, glTF, PLY, OFF through trimesh, 3MF) read as triangles with colours.

Units: numbers of STL, OBJ, PLY and OFF files are taken as metres (a model's `scale` says otherwise); DAE and 3MF files
state their unit and it is applied; glTF is metres, y up, and is turned z up. The up-axis that a DAE states is applied,
too (iCub's meshes need it), except in files of MeshLab, which writes Y_UP beside any data (TIAGo's must not be turned).
Textures are replaced by their mean colour; those too large for memory are ignored.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import FileError
from core.files.meshes.archive_3mf import Color, Part, read_parts
from core.files.meshes.lookup import MESH_SUFFIXES
from core.files.meshes.sources import (
    MOST_NUMBERS,
    MOST_PLACES,
    MeshFolderFiles,
    check_mesh_header,
    unreadable_mesh_error,
)
from core.files.regular_file import MESH, fingerprint, read_content, read_status

TEXTURES = (
    "baseColorTexture",
    "image",
    "emissiveTexture",
    "normalTexture",
    "occlusionTexture",
    "metallicRoughnessTexture",
)
"""Attributes of materials that hold textures; the first two determine the colour."""
MOST_PIXELS = 1 << 25
"""Maximum number of pixels of a texture; larger ones are dropped from their materials."""
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TGA", "WEBP", "TIFF", None)
"""Image formats that may be decoded; decoders of other formats may call external programs."""


@cache
def limit_texture_decoding() -> None:
    """Prevent the mesh readers from decoding images that are too large or that need an external program."""
    from PIL import EpsImagePlugin, Image

    Image.MAX_IMAGE_PIXELS = MOST_PIXELS // 2
    """Pillow refuses twice as many, and warns before."""
    warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)
    EpsImagePlugin.gs_binary = False


def shrink_textures(materials: Iterable[Any]) -> None:
    """Replace each texture by one pixel of its mean colour, before it is copied."""
    done: dict[int, Any] = {}
    for material in materials:
        for name in TEXTURES:
            image = getattr(material, name, None)
            if image is not None and id(image) not in done:
                done[id(image)] = image, _mean_pixel(image) if name in TEXTURES[:2] else None
            if image is not None:
                setattr(material, name, done[id(image)][1])


def _mean_pixel(image: Any) -> Any:
    """Return one pixel of the mean colour; None for an image that is too large or damaged."""
    width, height = image.size
    if image.format not in FORMATS or width * height > MOST_PIXELS:
        return None
    try:
        return image.convert("RGB").resize((1, 1))
    except Exception:  # readers of pictures raise whatever a broken one provokes
        return None


_Y_UP = (".gltf", ".glb")
_TO_Z_UP = {
    b"Y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    b"X": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]),
}
"""Rotations to z up, by the file's up axis (COLLADA 1.4.1, up_axis: right, up and inward axes)."""
_UP_AXIS = re.compile(rb"<up_axis>\s*([XYZ])_UP\s*</up_axis>")
_WITH_OTHERS = (".gltf", ".obj")
_NAMES = re.compile(rb'(?:"uri"\s*:\s*"(?!data:)([^"]{1,300})"|^mtllib\s+(\S.{0,300}?)\s*$)', re.M)
_MOST_NAMES = 100
_ASSET = 65536
"""Number of bytes at the start of a DAE file in which its unit and up axis are searched."""


@dataclass(frozen=True, eq=False)
class MeshPart:
    """Triangles of a mesh with one colour.

    vertices : (n, 3) m
    faces    : (m, 3) indices of vertices, counter-clockwise seen from outside
    color    : red, green, blue, opacity in 0 … 1; None if the file gives none
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]
    color: Color | None = None


@dataclass(frozen=True, eq=False)
class MeshData:
    """Parts of a mesh file."""

    parts: tuple[MeshPart, ...]

    @property
    def vertices(self) -> NDArray[np.float64]:
        """Return all vertices, (n, 3) in m."""
        return np.concatenate([part.vertices for part in self.parts])

    @property
    def faces(self) -> NDArray[np.int64]:
        """Return all triangles, (m, 3) indices into `vertices`."""
        starts = np.cumsum([0, *(len(part.vertices) for part in self.parts)])
        return np.concatenate([part.faces + start for part, start in zip(self.parts, starts, strict=False)])

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the smallest and largest x, y, z in m."""
        return (
            np.min([part.vertices.min(axis=0) for part in self.parts], axis=0),
            np.max([part.vertices.max(axis=0) for part in self.parts], axis=0),
        )


def load_mesh(path: str | os.PathLike[str]) -> MeshData:
    """Return the triangles of a mesh file; the same object is returned as long as the file is unchanged. Raises
    FileError."""
    place = Path(path)
    file = os.fspath(path)
    if place.suffix.lower() not in MESH_SUFFIXES:
        raise FileError(
            f"'{place.suffix}' is not a mesh format.", file=file, remedy=f"Known: {' '.join(MESH_SUFFIXES)}."
        )
    read_status(file, MESH)  # raises the message about what is no file
    return _load_mesh_content(file, mesh_fingerprint(file))


def mesh_fingerprint(path: str | os.PathLike[str]) -> str:
    """Return the fingerprint of a mesh file together with the files it references for geometry or colours."""
    file = os.fspath(path)
    own = fingerprint(file, MESH)
    if Path(file).suffix.lower() not in _WITH_OTHERS:
        return own
    beside = (Path(file).parent / name for name in _find_referenced_files(file, own))
    return " ".join((own, *(fingerprint(each, MESH) for each in beside)))


@lru_cache(maxsize=512)
def _find_referenced_files(file: str, content: str) -> tuple[str, ...]:
    """Return the names of the files referenced in a mesh file."""
    names = {found[found.lastindex or 0] for found in _NAMES.finditer(read_content(file, MESH))} if content else set()
    texts = (name.decode("utf-8", "replace") for name in sorted(names)[:_MOST_NAMES])
    return tuple(name for name in texts if "\0" not in name)


@lru_cache(maxsize=512)
def _load_mesh_content(file: str, content: str) -> MeshData:
    data, suffix = read_content(file, MESH), Path(file).suffix.lower()
    try:
        with _silence_mesh_library():
            found = [_merge_vertices(*each, file) for each in _read_parts(data, suffix, file)]
    except FileError as error:
        raise error.at(file=file) from None
    except Exception as error:  # readers of mesh formats raise whatever a broken file provokes
        raise unreadable_mesh_error(_error_reason(error), file) from None
    parts = tuple(part for part in found if part is not None)
    if not parts:
        raise FileError("The mesh contains no triangles.", file=file, remedy="Export it again with its surfaces.")
    return MeshData(parts)


@contextlib.contextmanager
def _silence_mesh_library() -> Iterator[None]:
    """Suppress terminal output and numeric warnings of the mesh library; users get the mesh or an error message
    instead."""
    heard = logging.getLogger("trimesh")
    heard.propagate = False
    if not heard.handlers:
        heard.addHandler(logging.NullHandler())
    with np.errstate(all="ignore"):
        yield


def _read_parts(data: bytes, suffix: str, file: str) -> Iterable[Part]:
    """Return vertices (m, z up), faces and colour of every part."""
    if suffix == ".3mf":
        return read_parts(data, file)
    import trimesh  # takes 0.3 s: only when a mesh is needed

    data = check_mesh_header(data, suffix, file)
    limit_texture_decoding()
    beside: Any = MeshFolderFiles(file)
    scene = trimesh.load_scene(io.BytesIO(data), file_type=suffix[1:], resolver=beside)
    shrink_textures(getattr(mesh.visual, "material", None) for mesh in scene.geometry.values())
    _check_scene_size(scene, file)
    return _placed_meshes(scene, _rotation_to_z_up(data, suffix))


def _check_scene_size(scene: Any, file: str) -> None:
    """Raise FileError if the scene holds more copies of parts than fit in memory."""
    places = [scene.geometry[scene.graph[node][1]] for node in scene.graph.nodes_geometry]
    numbers = sum(3 * (len(each.vertices) + len(getattr(each, "faces", ()))) for each in places)
    if len(places) > MOST_PLACES or numbers > MOST_NUMBERS:
        raise unreadable_mesh_error(f"the file contains {numbers} numbers in {len(places)} placed parts", file)


def _error_reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0][:200] if lines else type(error).__name__).rstrip(".")


def _placed_meshes(scene: Any, rotation: NDArray[np.float64] | None) -> Iterable[Part]:
    """Yield every mesh of the scene in scene axes, with its colour."""
    for mesh in scene.dump():
        if hasattr(mesh, "faces"):
            vertices = np.array(mesh.vertices, dtype=float) * _metres_per_unit(mesh)
            yield vertices if rotation is None else vertices @ rotation.T, mesh.faces, _single_color(mesh.visual)


def _rotation_to_z_up(data: bytes, suffix: str) -> NDArray[np.float64] | None:
    """Return the (3, 3) rotation from the file's up axis to z; None if z is already up."""
    if suffix in _Y_UP:
        return _TO_Z_UP[b"Y"]
    head = data[:_ASSET] if suffix == ".dae" else b""
    stated = _UP_AXIS.search(head)
    return None if stated is None or b"MeshLab" in head else _TO_Z_UP.get(stated[1])


def _merge_vertices(vertices: NDArray[np.float64], faces: Any, color: Color | None, file: str) -> MeshPart | None:
    """Return a part with coincident vertices merged; None if it has no triangles. Raises FileError."""
    faces = np.array(faces, dtype=np.int64)
    if not len(faces):
        return None
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise unreadable_mesh_error("the file's triangles refer to missing vertices", file)
    if not np.isfinite(vertices).all():
        raise FileError("The mesh has vertices that are not finite numbers.", file=file, remedy="Export it again.")
    corners, index = np.unique(vertices, axis=0, return_inverse=True)
    faces = index.reshape(-1)[faces]
    corners.flags.writeable = faces.flags.writeable = False
    return MeshPart(corners, faces, color)


def _metres_per_unit(mesh: Any) -> float:
    """Return the metres per unit given in a DAE file ("0.001 * meters"); 1 if none are given."""
    factor, times, _ = str(mesh.metadata.get("units", "")).partition(" * ")
    return float(factor) if times else 1.0


def _single_color(visual: Any) -> Color | None:
    """Return a single colour for a mesh: its material's, its most common face colour, or the mean of its texture."""
    if not visual.defined:
        return None
    source = visual.material if visual.kind == "texture" else visual
    for name in TEXTURES[:2]:
        if (image := getattr(source, name, None)) is not None:
            red, green, blue = image.getpixel((0, 0))
            return red / 255, green / 255, blue / 255, 1.0
    red, green, blue, opacity = (float(x) / 255.0 for x in source.main_color)
    return red, green, blue, opacity or 1.0  # opacity 0 is a known slip of exporters
