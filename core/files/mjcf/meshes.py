"""MJCF meshes: their surfaces, and their mass properties by each of MuJoCo's inertia modes.

https://mujoco.readthedocs.io/en/stable/XMLreference.html#asset-mesh
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from core.errors import FileError, ModelError
from core.files.meshes.lookup import resolve_mesh
from core.files.meshes.meshes import load_mesh
from core.files.mjcf.defaults import CompilerSettings, quaternion_matrix
from core.files.regular_file import MESH, read_content
from core.files.source import ReadOptions
from core.files.xml_source import Tag, XmlReader

Array = NDArray[np.float64]
LEGACY, CONVEX, SHELL, EXACT = "legacy", "convex", "shell", "exact"
LEAST_VOLUME = 1e-15
"""Volume (m³) or area (m²) below which MuJoCo rejects a mesh."""
FARTHEST = 1e15
"""Largest coordinate (m) and largest scale of a mesh; moments of inertia grow with the fifth power of both."""
_FACE, _POINT = re.compile(rb"^[ \t]*+f[ \t]", re.M), re.compile(rb"^[ \t]*+v[ \t]++(.*)$", re.M)
MSH = ".msh"
"""Suffix of MuJoCo's own binary mesh files."""


class Surface(NamedTuple):
    """Triangle mesh: points (n, 3) in m, and faces (m, 3), indices of points counter-clockwise seen from outside."""

    points: Array
    faces: NDArray[np.int64]

    @property
    def triangles(self) -> Array:
        """Return the corners of all triangles, (m, 3 corners, 3)."""
        return self.points[self.faces]


class MeshMassGeometry(NamedTuple):
    """Volume (m³) or area (m²), centre (3,), and second moments (3, 3) about the centre per density."""

    amount: float
    center: Array
    moments: Array


class MeshTable:
    """Meshes of an MJCF file by name."""

    def __init__(self, reader: XmlReader, settings: CompilerSettings, options: ReadOptions, root: Tag) -> None:
        self.reader, self.settings, self.options = reader, settings, options
        self.tags: dict[str, Tag] = {}
        self._surfaces: dict[str, Surface] = {}
        for asset in reader.children(root, "asset"):
            for tag in reader.children(asset, "mesh"):
                stem = tag.get("file", "").replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
                self.tags.setdefault(tag.get("name", stem), tag)

    def file(self, name: str) -> str:
        """Return the file name of a mesh, relative to the main file; "" if it has none."""
        given = self.tags[name].get("file", "")
        return self.settings.mesh_path(given) if given else ""

    def mesh_path(self, name: str) -> str | None:
        """Return the path of a mesh's file; None if it is missing."""
        file = self.file(name)
        if file.lower().endswith(MSH):
            place = Path(os.path.dirname(os.path.abspath(self.reader.file)) if self.reader.file else "", file)
            return str(place) if place.is_file() else None
        found = resolve_mesh(file, self.reader.file, self.options.packages)
        return None if found is None else str(found)

    def scale(self, name: str) -> tuple[float, float, float]:
        """Return the scale factors of a mesh along x, y, z."""
        return self.reader.vector(self.tags[name], "scale", (1.0, 1.0, 1.0), f"mesh '{name}'")

    def reference_frame(self, name: str) -> tuple[Array, Array]:
        """Return position (3,) and rotation (3, 3) of the mesh's reference frame in the axes of its file."""
        tag, where = self.tags[name], f"mesh '{name}'"
        position = np.array(self.reader.vector(tag, "refpos", (0.0, 0.0, 0.0), where))
        w, x, y, z = self.reader.numbers(tag, "refquat", 4, (1.0, 0.0, 0.0, 0.0), where)
        return position, quaternion_matrix((x, y, z, w))

    def surface(self, name: str) -> Surface:
        """Return the surface of a mesh as used by geoms. Raises KinetostatError if it cannot be read."""
        if name not in self._surfaces:
            points, faces = self._points_and_faces(name)
            position, R = self.reference_frame(name)
            scale = np.array(self.scale(name))
            if not _is_within_range(points) or not _is_within_range(position) or not _is_within_range(scale):
                raise ModelError(
                    f"The mesh '{name}' has coordinates, a scale or a reference beyond {FARTHEST:g}.",
                    remedy="Correct the numbers of its file and of its element.",
                )
            points = points.astype(np.float32).astype(float)  # what MuJoCo computes with
            if not len(faces):
                faces = convex_hull_faces(points)
            if np.prod(scale) < 0.0:
                faces = faces[:, [0, 2, 1]]
            self._surfaces[name] = Surface(((points - position) @ R) * scale, faces)
        return self._surfaces[name]

    def _points_and_faces(self, name: str) -> tuple[Array, NDArray[np.int64]]:
        tag, where = self.tags[name], f"mesh '{name}'"
        if tag.get("vertex") is not None:
            count = len(tag.get("vertex", "").split())
            points = np.array(self.reader.numbers(tag, "vertex", count - count % 3, None, where)).reshape(-1, 3)
            words = tag.get("face", "").split()
            corners = self.reader.numbers(tag, "face", len(words) - len(words) % 3, (), where) if words else ()
            faces = np.array(corners, dtype=float).astype(np.int64).reshape(-1, 3)
            if faces.size and not (faces.min() >= 0 and faces.max() < len(points)):
                raise self.reader.error(tag, "A face refers to a missing vertex.", f"{where}, face", "Count from 0.")
            return points, faces
        path = self.mesh_path(name) if self.file(name) else None
        if path is None:
            raise ModelError(
                f"The mesh '{self.file(name) or name}' is not found.",
                remedy="Put the mesh file in this place, or correct its name.",
            )
        if Path(path).suffix.lower() == MSH:
            return read_msh(path)
        points = read_points_without_faces(path)
        if len(points):
            return points, np.zeros((0, 3), np.int64)
        data = load_mesh(path)
        return data.vertices, data.faces

    def content(self, name: str) -> MeshMassGeometry:
        """Return volume or area of a mesh with its moments, by the mesh's inertia mode. Raises KinetostatError."""
        return surface_mass_geometry(self.surface(name), self.inertia_mode(name), name)

    def inertia_mode(self, name: str) -> str:
        """Return the inertia mode of a mesh: legacy, convex, shell or exact."""
        return str(self.tags[name].get("inertia", LEGACY))


def _is_within_range(numbers: Array) -> bool:
    """Return True if sums and products of all numbers stay finite."""
    return not numbers.size or bool(np.abs(numbers).max() <= FARTHEST)


def read_points_without_faces(path: str) -> Array:
    """Return the points (n, 3) of an OBJ file without faces, which represents their convex hull; no points for any
    other file."""
    if Path(path).suffix.lower() != ".obj" or _FACE.search(data := read_content(path, MESH)):
        return np.zeros((0, 3))
    try:
        return np.array([line.split()[:3] for line in _POINT.findall(data)], dtype=float).reshape(-1, 3)
    except ValueError:
        raise FileError(
            "The mesh has points that do not consist of three numbers.", file=path, remedy="Export it again."
        ) from None


def read_msh(path: str) -> tuple[Array, NDArray[np.int64]]:
    """Read points and faces from a file in MuJoCo's own format. Raises FileError."""
    data = read_content(path, MESH)
    counts = np.frombuffer(data, "<i4", 4) if len(data) >= 16 else np.zeros(4, int)
    points, normals, places, faces = (int(count) for count in counts)
    if points < 1 or min(normals, places, faces) < 0:
        raise FileError("The mesh contains no points.", file=path, remedy="Export it again.")
    if len(data) != 16 + 4 * (3 * points + 3 * normals + 2 * places + 3 * faces):
        raise FileError("The mesh file is truncated, or has another format.", file=path, remedy="Export it again.")
    corners = np.frombuffer(data, "<i4", 3 * faces, len(data) - 12 * faces).reshape(-1, 3).astype(np.int64)
    if corners.size and not (corners.min() >= 0 and corners.max() < points):
        raise FileError("A face refers to a missing point.", file=path, remedy="Export it again.")
    return np.frombuffer(data, "<f4", 3 * points, 16).reshape(-1, 3).astype(float), corners


def convex_hull_faces(points: Array) -> NDArray[np.int64]:
    """Return the faces (m, 3) of the convex hull. Raises ModelError."""
    try:
        found = ConvexHull(points)
    except (QhullError, ValueError):
        raise ModelError("The points of a mesh lie in one plane.", remedy="Give the body its inertia.") from None
    a, b, c = (points[found.simplices[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) < 0.0
    faces = found.simplices.astype(np.int64)
    faces[inward] = faces[inward][:, [0, 2, 1]]
    return faces


def surface_mass_geometry(surface: Surface, mode: str, name: str) -> MeshMassGeometry:
    """Return volume or area of a surface with centre and moments. Raises ModelError.

    exact: pyramids over the faces, counted with their signs; legacy: all as positive, from the middle of the surface,
    so that hollows count too; convex: of the hull; shell: the surface itself.
    """
    triangles = surface.triangles
    middle = _centroid(triangles)
    if mode == CONVEX:
        triangles = surface.points[convex_hull_faces(surface.points)]
    amounts = _areas_or_volumes(triangles, middle, mode)
    total = float(amounts.sum())
    if not total >= LEAST_VOLUME:
        what = "has no area" if mode == SHELL else "encloses no volume"
        raise ModelError(f"The mesh '{name}' {what}.", remedy="Close its surface, or give the body its inertia.")
    center = amounts @ (0.75 * triangles.mean(axis=1) + 0.25 * middle) / total
    corners = triangles - center
    amounts = _areas_or_volumes(corners, np.zeros(3), mode)
    twice = np.einsum("n,nij,nik->jk", amounts, corners, corners)
    sums = corners.sum(axis=1)
    products = (twice + np.einsum("n,nj,nk->jk", amounts, sums, sums)) / (12.0 if mode == SHELL else 20.0)
    return MeshMassGeometry(float(amounts.sum()), center, np.trace(products) * np.eye(3) - products)


def _area_vectors(triangles: Array) -> Array:
    """Return the (m, 3) area vectors (normal times area) of triangles."""
    return 0.5 * np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])


def _centroid(triangles: Array) -> Array:
    """Return the centroid (3,) of a surface."""
    areas = np.linalg.norm(_area_vectors(triangles), axis=1)
    return np.asarray(areas @ triangles.mean(axis=1) / max(float(areas.sum()), LEAST_VOLUME))


def _areas_or_volumes(triangles: Array, apex: Array, mode: str) -> Array:
    """Return the (m,) areas of triangles, or the volumes of tetrahedra between them and a point."""
    normals = _area_vectors(triangles)
    if mode == SHELL:
        return np.asarray(np.linalg.norm(normals, axis=1))
    volumes = np.einsum("ij,ij->i", triangles.mean(axis=1) - apex, normals) / 3.0
    return np.abs(volumes) if mode == LEGACY else volumes


# ------------------------------------------------------------------------------- fitted primitives


def fit_primitive(
    kind: str, content: MeshMassGeometry, surface: Surface, use_bounding_box: bool
) -> tuple[Array, tuple[float, float, float]]:
    """Return the pose (4, 4) in the mesh and the half sizes in MJCF's order of a primitive fitted to a mesh.

    use_bounding_box : around its bounding box in its principal axes; else of the box of equal inertia
    """
    moments, axes = np.linalg.eigh(content.moments)
    moments, axes = moments[::-1], axes[:, ::-1]
    axes = axes * np.array([1.0, 1.0, np.sign(np.linalg.det(axes))])
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = axes, content.center
    if not use_bounding_box:
        squares = 6.0 * (moments.sum() - 2.0 * moments) / content.amount
        x, y, z = (float(value) for value in 0.5 * np.sqrt(np.maximum(squares, 0.0)))
        sizes = {
            "sphere": ((x + y + z) / 3.0, 0.0, 0.0),
            "capsule": ((x + y) / 2.0, max(0.0, z - (x + y) / 4.0), 0.0),
            "cylinder": ((x + y) / 2.0, z, 0.0),
        }
        return pose, sizes.get(kind, (x, y, z))
    own = (surface.points - content.center) @ axes
    low, high = own.min(axis=0), own.max(axis=0)
    pose[:3, 3] += axes @ ((low + high) / 2.0)
    x, y, z = (float(value) for value in (high - low) / 2.0)
    sizes = {
        "sphere": (max(x, y, z), 0.0, 0.0),
        "capsule": (max(x, y), z - max(x, y), 0.0),
        "cylinder": (max(x, y), z, 0.0),
    }
    return pose, sizes.get(kind, (x, y, z))
