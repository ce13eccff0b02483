"""MJCF geoms read as shapes, and body mass properties: given explicitly, or computed from geoms (solid or thin shells).

https://mujoco.readthedocs.io/en/stable/XMLreference.html#body-geom-shellinertia
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from math import pi
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from core.errors import KinetostatError, suggest_names
from core.files.meshes.body_inertia import combine_inertias
from core.files.meshes.lookup import MESH_SUFFIXES
from core.files.mjcf.defaults import CompilerSettings, pose_between
from core.files.mjcf.meshes import SHELL, MeshTable, fit_primitive
from core.files.source import ReadOptions
from core.files.xml_source import Tag, UniqueNames, XmlReader
from core.model import Body, Box, Capsule, Cylinder, Inertia, Material, Mesh, Pose, Shape, Sphere
from core.model.fields import Value
from core.numerics.spatial import inertia as inertias
from core.numerics.spatial.inertia import Symmetric3, inertia_from_center, split_inertia
from core.numerics.spatial.vector import Vector3

Array = NDArray[np.float64]
Sizes = tuple[float, ...]
THOMSEN = 1.6075
"""Exponent of Thomsen's approximation of the area of an ellipsoid."""
SKIN = 1e-6
"""Thickness (m) of the layer between two ellipsoids that approximates a thin shell."""
COUNTS = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
"""Number of sizes of each primitive: radius and half length, or half sizes."""


class MassGeometry(NamedTuple):
    """Volume (m³) or area (m²), and moments of inertia per unit mass (m²) about x, y, z."""

    amount: float
    moments: Array


def solid_properties(kind: str, sizes: Sizes) -> MassGeometry:
    """Return volume and moments of a solid primitive of uniform density."""
    if kind in ("box", "ellipsoid"):
        squares = np.square(sizes)
        if kind == "box":
            return MassGeometry(8.0 * float(np.prod(sizes)), (squares.sum() - squares) / 3.0)
        return MassGeometry(4.0 / 3.0 * pi * float(np.prod(sizes)), (squares.sum() - squares) / 5.0)
    r = sizes[0]
    ball = 4.0 / 3.0 * pi * r**3
    if kind == "sphere":
        return MassGeometry(ball, np.full(3, 0.4 * r * r))
    h = sizes[1]
    tube = 2.0 * pi * r * r * h
    across, along = (3.0 * r * r + 4.0 * h * h) / 12.0, r * r / 2.0
    if kind == "cylinder":
        return MassGeometry(tube, np.array([across, across, along]))
    ends = 0.4 * r * r
    whole = np.array([ends + h * h + 0.75 * r * h] * 2 + [ends])
    return _combine_parts((tube, np.array([across, across, along])), (ball, whole))


def shell_properties(kind: str, sizes: Sizes) -> MassGeometry:
    """Return area and moments of a primitive's surface of uniform mass per area."""
    if kind == "box":
        return _box_shell_properties(sizes)
    if kind == "ellipsoid":
        return _ellipsoid_shell_properties(sizes)
    r = sizes[0]
    ball = 4.0 * pi * r * r
    if kind == "sphere":
        return MassGeometry(ball, np.full(3, 2.0 / 3.0 * r * r))
    h = sizes[1]
    tube = 4.0 * pi * r * h, np.array([(6.0 * r * r + 4.0 * h * h) / 12.0] * 2 + [r * r])
    if kind == "cylinder":
        lids = 2.0 * pi * r * r, np.array([r * r / 4.0 + h * h] * 2 + [r * r / 2.0])
        return _combine_parts(tube, lids)
    ends = 2.0 / 3.0 * r * r  # of hemispheres, whose centres of mass are r/2 from their edges
    return _combine_parts(tube, (ball, np.array([ends + h * h + r * h] * 2 + [ends])))


def _combine_parts(*parts: tuple[float, Array]) -> MassGeometry:
    """Combine several parts with a common centre."""
    amount = sum(part[0] for part in parts)
    moments = sum((share * own for share, own in parts), np.zeros(3))
    return MassGeometry(amount, moments / amount if amount > 0.0 else moments)


def _box_shell_properties(sizes: Sizes) -> MassGeometry:
    half = np.array(sizes)
    parts = []
    for k in range(3):
        flat = half * (np.arange(3) != k)
        squares = flat**2 / 3.0 + half**2 * (np.arange(3) == k)
        parts.append((8.0 * float(np.prod(np.delete(half, k))), squares.sum() - squares))
    return _combine_parts(*parts)


def _ellipsoid_shell_properties(sizes: Sizes) -> MassGeometry:
    a, b, c = sizes
    powers = ((a * b) ** THOMSEN + (b * c) ** THOMSEN + (c * a) ** THOMSEN) / 3.0
    inner, outer = (solid_properties("ellipsoid", tuple(size + skin for size in sizes)) for skin in (0.0, SKIN))
    thin = (outer.amount * outer.moments - inner.amount * inner.moments) / (outer.amount - inner.amount)
    return MassGeometry(4.0 * pi * powers ** (1.0 / THOMSEN), thin)


Matrix = NDArray[np.float64]
LARGEST_SIZE = 1e60
"""Largest accepted size (m); volumes and moments of larger ones overflow."""
UNMEASURABLE = MassGeometry(np.nan, np.zeros(3))
DENSITY = 1000.0
"""Default density of a geom, in kg/m³, or kg/m² for a shell."""
_ENTRIES = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_GREY = "0.5 0.5 0.5 1"
_WEIGHTLESS, _UNREAD = ("plane",), ("hfield", "sdf")


class Geom(NamedTuple):
    """Geom as read: pose in the body and half sizes, or mesh; `shape` is None if it has no native equivalent."""

    tag: Tag
    kind: str
    matrix: Matrix
    sizes: tuple[float, ...] = ()
    mesh: str = ""
    shape: Shape | None = None


def pose_from_matrix(matrix: Matrix) -> Pose:
    """Return a pose for the document; the rotation angles are zero if there is no rotation."""
    x, y, z = (float(x) for x in matrix[:3, 3])
    position = (x, y, z)
    if np.array_equal(matrix[:3, :3], np.eye(3)):
        return Pose(position=position)
    return Pose(position=position, rotation=tuple(float(x) for x in Rotation.from_matrix(matrix[:3, :3]).as_quat()))


class GeomReader:
    """Reader of geoms, with the file's meshes and materials."""

    def __init__(self, reader: XmlReader, settings: CompilerSettings, options: ReadOptions, root: Tag) -> None:
        self.reader, self.settings = reader, settings
        self.meshes = MeshTable(reader, settings, options, root)
        self.names = UniqueNames()
        self.materials: dict[str, Material] = {}
        for asset in reader.children(root, "asset"):
            for tag in reader.children(asset, "material"):
                name = tag.get("name", "")
                color = reader.numbers(tag, "rgba", 4, (1.0, 1.0, 1.0, 1.0), f"material '{name}'")
                self.materials.setdefault(name, Material(name=self.names.add(name), color=color))

    def read(self, tag: Tag, body: str) -> Geom | None:
        """Return a geom of a body; None with a finding if it cannot be read at all."""
        where, place = f"body '{body}', geom '{tag.get('name', '')}'".replace(" ''", ""), ("bodies", body)
        kind = tag.get("type", "sphere")
        if kind in _WEIGHTLESS:
            self.reader.add_finding(tag, "hint", f"A geom of type {kind} is left out.", "", place, "shapes")
            return None
        if kind in _UNREAD:
            text = f"A geom of type {kind} is left out, together with its mass."
            self.reader.add_finding(tag, "warning", text, "Give the body its inertia.", place, "shapes")
            return None
        if kind != "mesh" and kind not in COUNTS:
            self.reader.add_finding(
                tag, "warning", f"'{kind}' is not a geom type; it is left out.", "", place, "shapes"
            )
            return None
        look: dict[str, Any] = {"role": self._shape_role(tag), **self._appearance(tag, where)}
        mesh = tag.get("mesh", "")
        if (mesh or kind == "mesh") and mesh not in self.meshes.tags:
            text = f"There is no mesh '{mesh}'; MuJoCo refuses that. The geom is left out, together with its mass."
            self.reader.add_finding(tag, "warning", text, suggest_names(mesh, self.meshes.tags), place, "shapes")
            return None
        if kind == "mesh":
            return self._mesh_geom(tag, mesh, look, where, place)
        try:
            matrix, sizes = (
                self._fit_primitive_to_mesh(tag, kind, mesh, where)
                if mesh
                else self._read_pose_and_sizes(tag, kind, where)
            )
        except KinetostatError as error:
            if not mesh:
                raise
            text = f"A {kind} fitted to a mesh is left out: {error.what}"
            self.reader.add_finding(tag, "warning", text, error.remedy, place, "shapes")
            return None
        return Geom(tag, kind, matrix, sizes, "", self._primitive_shape(tag, kind, matrix, sizes, look, place))

    def _primitive_shape(
        self,
        tag: Tag,
        kind: str,
        matrix: Matrix,
        sizes: tuple[float, ...],
        appearance: dict[str, Any],
        location: tuple[str, str],
    ) -> Shape:
        common = {"pose": pose_from_matrix(matrix), **appearance}
        if kind == "sphere":
            return Sphere(radius=sizes[0], **common)
        if kind in ("capsule", "cylinder"):
            solid = Capsule if kind == "capsule" else Cylinder
            return solid(radius=sizes[0], length=2.0 * sizes[1], **common)
        if kind == "ellipsoid":
            self.reader.add_finding(tag, "hint", "An ellipsoid is drawn as a box of its size.", "", location, "shapes")
        x, y, z = sizes
        return Box(size=(2.0 * x, 2.0 * y, 2.0 * z), **common)

    def _read_pose_and_sizes(self, tag: Tag, kind: str, where: str) -> tuple[Matrix, tuple[float, ...]]:
        """Return pose and half sizes; `fromto` gives the pose and length of elongated geoms."""
        count = COUNTS[kind]
        given = tag.get("size", "").split()
        if tag.get("fromto") is None:
            if len(given) > count:
                tag.set("size", " ".join(given[:count]))
            return self.settings.pose(tag, where), self.reader.numbers(tag, "size", count, None, where)
        matrix, half = pose_between(self.settings.read_end_points(tag, where))
        tag.set("size", " ".join(given[:1]))
        (width,) = self.reader.numbers(tag, "size", 1, None, where)
        return matrix, {1: (width,), 2: (width, half)}.get(count, (width, width, half))

    def _fit_primitive_to_mesh(self, tag: Tag, kind: str, mesh: str, where: str) -> tuple[Matrix, tuple[float, ...]]:
        """Return pose and half sizes of a primitive fitted to a mesh; sizes given in the file are ignored."""
        content, surface = self.meshes.content(mesh), self.meshes.surface(mesh)
        pose, sizes = fit_primitive(kind, content, surface, self.settings.fits_bounds)
        factor = self.reader.number(tag, "fitscale", 1.0, where)
        return self.settings.pose(tag, where) @ pose, tuple(factor * size for size in sizes[: COUNTS[kind]])

    def _mesh_geom(
        self, tag: Tag, mesh: str, appearance: dict[str, Any], where: str, location: tuple[str, str]
    ) -> Geom:
        matrix, file = self.settings.pose(tag, where), self.meshes.file(mesh)
        if not file.lower().endswith(tuple(MESH_SUFFIXES)):
            return Geom(tag, "mesh", matrix, (), mesh, self._bounding_box(tag, mesh, matrix, appearance, location))
        if self.meshes.mesh_path(mesh) is None:
            text = f"The mesh '{file}' is not found; a placeholder is shown."
            self.reader.add_finding(
                tag, "warning", text, "Put the mesh file in this place, or correct its name.", location, "shapes"
            )
        scale, (position, R) = self.meshes.scale(mesh), self.meshes.reference_frame(mesh)
        if len(set(scale)) > 1 and not np.array_equal(R, np.eye(3)):
            self.reader.add_finding(
                tag,
                "hint",
                "The mesh is rotated before it is scaled; it is drawn with its unrotated scale.",
                "",
                location,
            )
        own = np.eye(4)
        own[:3, :3], own[:3, 3] = R.T, -np.array(scale) * (R.T @ position)
        return Geom(
            tag,
            "mesh",
            matrix,
            (),
            mesh,
            Mesh(file=file, scale=scale, pose=pose_from_matrix(matrix @ own), **appearance),
        )

    def _bounding_box(
        self, tag: Tag, mesh: str, matrix: Matrix, appearance: dict[str, Any], location: tuple[str, str]
    ) -> Shape | None:
        """Return the bounding box of a mesh without a displayable file; None if the mesh cannot be read."""
        try:
            points = self.meshes.surface(mesh).points
        except KinetostatError as error:
            text = f"The mesh '{mesh}' cannot be read: {error.what}"
            self.reader.add_finding(tag, "warning", text, error.remedy, location, "shapes")
            return None
        low, high = points.min(axis=0), points.max(axis=0)
        middle = np.eye(4)
        middle[:3, 3] = (low + high) / 2.0
        self.reader.add_finding(tag, "hint", f"The mesh '{mesh}' is drawn as its bounding box.", "", location, "shapes")
        x, y, z = (float(size) for size in high - low)
        return Box(size=(x, y, z), pose=pose_from_matrix(matrix @ middle), **appearance)

    def _shape_role(self, tag: Tag) -> str:
        if tag.get("contype") == "0" and tag.get("conaffinity") == "0":
            return "visual"
        return "collision" if tag.get("group", "0").strip() in ("3", "4", "5") else "both"

    def _appearance(self, tag: Tag, where: str) -> dict[str, Any]:
        if tag.get("rgba") is not None and tag.get("rgba") != _GREY:
            return {"color": self.reader.numbers(tag, "rgba", 4, None, where)}
        known = self.materials.get(tag.get("material", ""))
        return {} if known is None else {"material": known.name}

    # ------------------------------------------------------------------------------- mass

    def read_mass_fields(self, body: Tag, name: str, geoms: Sequence[Geom]) -> dict[str, Any]:
        """Return mass, centre of mass and inertia of a body as fields, within the compiler's bounds."""
        return self._apply_mass_bounds(self._mass_from_geoms(body, name, geoms))

    def _mass_from_geoms(self, body: Tag, name: str, geoms: Sequence[Geom]) -> dict[str, Any]:
        inertial = self.reader.child(body, "inertial", f"body '{name}'")
        if inertial is not None and self.settings.inertia_from_geom != "true":
            return self._read_inertial(inertial, f"body '{name}', inertial")
        if inertial is None and self.settings.inertia_from_geom == "false":
            return {}
        try:
            parts = [self._geom_inertia(geom, name) for geom in geoms if self._adds_mass(geom.tag, name)]
        except KinetostatError as error:
            self.reader.add_finding(
                body, "warning", f"Its mass is left out: {error.what}", error.remedy, ("bodies", name)
            )
            return {}
        parts = [part for part in parts if part.mass > 0.0]
        if not parts:
            return {}
        mass, center, tensor = split_inertia(combine_inertias(parts))
        return {"mass": mass, "center_of_mass": tuple(center), "inertia": _build_inertia(tensor)}

    def _adds_mass(self, tag: Tag, name: str) -> bool:
        """Return True if a geom contributes to the mass of its body."""
        return int(self.reader.number(tag, "group", 0.0, f"body '{name}', geom")) in self.settings.weighing_groups

    def _apply_mass_bounds(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Apply the compiler's boundmass, boundinertia and balanceinertia to mass properties."""
        settings = self.settings
        if not (settings.least_mass or settings.least_inertia or settings.balanced):
            return fields
        given = fields.get("inertia", Inertia())
        xx, yy, zz, xy, xz, yz = (float(x) for x in (given.ixx, given.iyy, given.izz, given.ixy, given.ixz, given.iyz))
        moments, axes = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        moments = np.maximum(moments, settings.least_inertia)
        if settings.balanced and moments[0] + moments[1] < moments[2]:
            moments[:] = np.mean(moments)
        I = (axes * moments) @ axes.T
        tensor = _build_inertia(matrix_to_symmetric_entries(I))
        return {**fields, "mass": max(float(fields.get("mass", 0.0)), settings.least_mass), "inertia": tensor}

    def scale_to_total_mass(self, bodies: Sequence[Body]) -> list[Body]:
        """Return the bodies with masses scaled to the compiler's total mass (settotalmass)."""
        total, wanted = sum(float(body.mass) for body in bodies), self.settings.total_mass
        if wanted <= 0.0 or total <= 0.0:
            return list(bodies)
        factor = wanted / total
        found = []
        for body in bodies:
            entries = {entry: float(getattr(body.inertia, entry)) * factor for entry in _ENTRIES}
            found.append(dataclasses.replace(body, mass=float(body.mass) * factor, inertia=Inertia(**entries)))
        return found

    def _read_inertial(self, tag: Tag, where: str) -> dict[str, Any]:
        mass = self.reader.number(tag, "mass", None, where)
        matrix = self.settings.pose(tag, where)
        if tag.get("fullinertia") is not None:
            xx, yy, zz, xy, xz, yz = self.reader.numbers(tag, "fullinertia", 6, None, where)
            own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            own = np.diag(self.reader.numbers(tag, "diaginertia", 3, (0.0, 0.0, 0.0), where))
        I = matrix[:3, :3] @ own @ matrix[:3, :3].T
        return {
            "mass": mass,
            "center_of_mass": tuple(float(x) for x in matrix[:3, 3]),
            "inertia": _build_inertia(matrix_to_symmetric_entries(I)),
        }

    def _geom_inertia(self, geom: Geom, name: str) -> inertias.Inertia:
        """Return the mass properties of a geom in its body's frame."""
        where, tag = f"body '{name}', geom", geom.tag
        density = self.reader.number(tag, "density", DENSITY, where)
        given = self.reader.number(tag, "mass", 0.0, where) if tag.get("mass", "").strip() else None
        if given == 0.0 or (density == 0.0 and given is None):
            return inertias.ZERO
        center, R = geom.matrix[:3, 3], geom.matrix[:3, :3]
        if geom.kind == "mesh":
            amount, inside, moments = self.meshes.content(geom.mesh)
            center, per_mass = center + R @ inside, moments / amount
        else:
            thin = tag.get("shellinertia") == "true" or tag.get("typeinertia") == SHELL
            measurable = all(0.0 <= size <= LARGEST_SIZE for size in geom.sizes)
            amount, diagonal = (
                (shell_properties if thin else solid_properties)(geom.kind, geom.sizes) if measurable else UNMEASURABLE
            )
            per_mass = np.diag(diagonal)
        if not (np.isfinite(amount) and (amount > 0.0 or given is None)):
            what = f"A {geom.kind} of this size has no volume, and so no mass."
            raise self.reader.error(tag, what, f"{where}, size", "Give sizes larger than 0.")
        mass = density * amount if given is None else given
        return inertia_from_center(
            mass, Vector3(*(float(x) for x in center)), matrix_to_symmetric_entries(mass * (R @ per_mass @ R.T))
        )


def matrix_to_symmetric_entries(I: Matrix) -> Symmetric3:
    return Symmetric3(*(float(I[i]) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))


def _build_inertia(entries: Symmetric3) -> Inertia:
    values: list[Value] = [float(entry) for entry in entries]
    return Inertia(**dict(zip(_ENTRIES, values, strict=True)))
