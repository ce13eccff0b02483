"""Geoms of MJCF as shapes, and what bodies weigh: as given, or from their geoms."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from core.errors import KinetostatError
from core.files.meshes.body_inertia import inertia_of, sum_of
from core.files.meshes.lookup import resolve_mesh
from core.files.mjcf.defaults import Settings, from_z
from core.files.source import Options
from core.files.xml_source import Names, Reader, Tag
from core.model import Body, Box, Capsule, Cylinder, Inertia, Material, Mesh, Pose, Shape, Sphere
from core.model.fields import Value
from core.model.formula.evaluation import Numbers
from core.spatial import inertia as inertias
from core.spatial.inertia import Symmetric3, about_center, split
from core.spatial.vector import Vector3

Matrix = NDArray[np.float64]
DENSITY = 1000.0
"""kg/m³ of a geom that says nothing else."""
_ENTRIES = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_GREY = "0.5 0.5 0.5 1"
_SPATIAL = ("plane", "hfield", "sdf")


def pose_of(matrix: Matrix) -> Pose:
    """A pose of the document; angles of zero where nothing is turned."""
    x, y, z = (float(x) for x in matrix[:3, 3])
    position = (x, y, z)
    if np.array_equal(matrix[:3, :3], np.eye(3)):
        return Pose(position=position)
    return Pose(position=position, rotation=tuple(float(x) for x in Rotation.from_matrix(matrix[:3, :3]).as_quat()))


class Geoms:
    """Reads geoms; knows the file's meshes and materials."""

    def __init__(self, reader: Reader, settings: Settings, options: Options, root: Tag) -> None:
        self.reader, self.settings, self.options = reader, settings, options
        self.names = Names()
        self.materials: dict[str, Material] = {}
        self.meshes: dict[str, Tag] = {}
        for asset in reader.children(root, "asset"):
            for tag in reader.children(asset, "material"):
                name = tag.get("name", "")
                color = reader.numbers(tag, "rgba", 4, (1.0, 1.0, 1.0, 1.0), f"material '{name}'")
                self.materials.setdefault(name, Material(name=self.names.add(name), color=color))
            for tag in reader.children(asset, "mesh"):
                file = tag.get("file", "")
                stem = file.replace("\\", "/").rpartition("/")[2].rpartition(".")[0] or file
                self.meshes.setdefault(tag.get("name", stem), tag)

    def shape(self, tag: Tag, body: str) -> Shape | None:
        """The shape of a geom; None with a finding if there is none like it here."""
        where, place = f"body '{body}', geom '{tag.get('name', '')}'".replace(" ''", ""), ("bodies", body)
        kind = tag.get("type", "sphere")
        common: dict[str, Any] = {"role": self._role(tag), **self._look(tag, where)}
        if kind in _SPATIAL:
            self.reader.note(tag, "hint", f"A geom of type {kind} is left out.", "", place, "shapes")
            return None
        if kind == "mesh":
            return self._mesh(tag, common, where, place)
        if kind not in ("sphere", "capsule", "cylinder", "box", "ellipsoid"):
            self.reader.note(tag, "warning", f"'{kind}' is not a type of geom; it is left out.", "", place, "shapes")
            return None
        matrix, sizes = self._placed(tag, kind, where)
        common["pose"] = pose_of(matrix)
        if kind == "sphere":
            return Sphere(radius=sizes[0], **common)
        if kind in ("capsule", "cylinder"):
            solid = Capsule if kind == "capsule" else Cylinder
            return solid(radius=sizes[0], length=2.0 * sizes[1], **common)
        if kind == "ellipsoid":
            self.reader.note(tag, "hint", "An ellipsoid is drawn as a box of its size.", "", place, "shapes")
        x, y, z = sizes
        return Box(size=(2.0 * x, 2.0 * y, 2.0 * z), **common)

    def _placed(self, tag: Tag, kind: str, where: str) -> tuple[Matrix, tuple[float, ...]]:
        """Pose and half sizes; `fromto` gives the place and length of long ones."""
        matrix = self.settings.pose(tag, where)
        count = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}[kind]
        given = tag.get("size", "").split()
        if tag.get("fromto") is None:
            if len(given) > count:
                tag.set("size", " ".join(given[:count]))
            return matrix, self.reader.numbers(tag, "size", count, None, where)
        ends = np.array(self.reader.numbers(tag, "fromto", 6, None, where))
        matrix = np.eye(4)
        matrix[:3, 3] = (ends[:3] + ends[3:]) / 2.0
        matrix[:3, :3] = from_z(ends[:3] - ends[3:])
        tag.set("size", " ".join(given[:1]))
        (width,) = self.reader.numbers(tag, "size", 1, None, where)
        half = float(np.linalg.norm(ends[3:] - ends[:3])) / 2.0
        return matrix, (width, half) if count == 2 else (width, width, half)

    def _mesh(self, tag: Tag, common: dict[str, Any], where: str, place: tuple[str, str]) -> Shape | None:
        asset = self.meshes.get(tag.get("mesh", ""))
        if asset is None or not asset.get("file"):
            self.reader.note(
                tag,
                "warning",
                f"There is no mesh file '{tag.get('mesh', '')}'; it is left out.",
                "Add it to <asset>.",
                place,
                "shapes",
            )
            return None
        folder = self.settings.mesh_folder.rstrip("/")
        file = f"{folder}/{asset.get('file')}" if folder else str(asset.get("file"))
        if resolve_mesh(file, self.reader.file, self.options.packages) is None:
            self.reader.note(
                tag,
                "warning",
                f"The mesh '{file}' is not found; a placeholder is shown.",
                "Put the file there.",
                place,
                "shapes",
            )
        scale = self.reader.vector(asset, "scale", (1.0, 1.0, 1.0), where)
        matrix = self.settings.pose(tag, where) @ np.linalg.inv(self._reference(asset, where))
        return Mesh(file=file, scale=scale, pose=pose_of(matrix), **common)

    def _reference(self, asset: Tag, where: str) -> Matrix:
        matrix = np.eye(4)
        matrix[:3, 3] = self.reader.numbers(asset, "refpos", 3, (0.0, 0.0, 0.0), where)
        w, x, y, z = self.reader.numbers(asset, "refquat", 4, (1.0, 0.0, 0.0, 0.0), where)
        matrix[:3, :3] = Rotation.from_quat((x, y, z, w)).as_matrix()
        return matrix

    def _role(self, tag: Tag) -> str:
        if tag.get("contype") == "0" and tag.get("conaffinity") == "0":
            return "visual"
        return "collision" if tag.get("group", "0").strip() in ("3", "4", "5") else "both"

    def _look(self, tag: Tag, where: str) -> dict[str, Any]:
        if tag.get("rgba") is not None and tag.get("rgba") != _GREY:
            return {"color": self.reader.numbers(tag, "rgba", 4, None, where)}
        known = self.materials.get(tag.get("material", ""))
        return {} if known is None else {"material": known.name}

    # ------------------------------------------------------------------------------- mass

    def mass(self, body: Tag, name: str, geoms: Sequence[tuple[Tag, Shape]]) -> dict[str, Any]:
        """Mass, centre and inertia of a body as fields, as the compiler's bounds make them."""
        return self._bounded(self._weighed(body, name, geoms))

    def _weighed(self, body: Tag, name: str, geoms: Sequence[tuple[Tag, Shape]]) -> dict[str, Any]:
        inertial = self.reader.child(body, "inertial", f"body '{name}'")
        if inertial is not None and self.settings.inertia_from_geom != "true":
            return self._given(inertial, f"body '{name}', inertial")
        if inertial is None and self.settings.inertia_from_geom == "false":
            return {}
        try:
            parts = [self._weight(tag, shape, name) for tag, shape in geoms if self._counts(tag, name)]
        except KinetostatError as error:
            self.reader.note(body, "warning", f"Its mass is left out: {error.what}", error.remedy, ("bodies", name))
            return {}
        parts = [part for part in parts if part.mass > 0.0]
        if not parts:
            return {}
        mass, center, tensor = split(sum_of(parts))
        return {"mass": mass, "center_of_mass": tuple(center), "inertia": _tensor(tensor)}

    def _counts(self, tag: Tag, name: str) -> bool:
        """Whether a geom adds to the mass of its body."""
        if tag.get("shellinertia") == "true" or tag.get("typeinertia") == "shell":
            self.reader.note(
                tag,
                "warning",
                "The mass of a geom is spread over its inside, not over its surface.",
                "Give the body its inertia.",
                ("bodies", name),
                "inertia",
            )
        return int(self.reader.number(tag, "group", 0.0, f"body '{name}', geom")) in self.settings.weighing_groups

    def _bounded(self, fields: dict[str, Any]) -> dict[str, Any]:
        """boundmass, boundinertia, balanceinertia of the compiler."""
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
        tensor = _tensor(Symmetric3(*(float(I[i]) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))))
        return {**fields, "mass": max(float(fields.get("mass", 0.0)), settings.least_mass), "inertia": tensor}

    def scaled(self, bodies: Sequence[Body]) -> list[Body]:
        """The bodies with the mass in all that the compiler is to set."""
        total, wanted = sum(float(body.mass) for body in bodies), self.settings.total_mass
        if wanted <= 0.0 or total <= 0.0:
            return list(bodies)
        factor = wanted / total
        found = []
        for body in bodies:
            entries = {entry: float(getattr(body.inertia, entry)) * factor for entry in _ENTRIES}
            found.append(dataclasses.replace(body, mass=float(body.mass) * factor, inertia=Inertia(**entries)))
        return found

    def _given(self, tag: Tag, where: str) -> dict[str, Any]:
        mass = self.reader.number(tag, "mass", None, where)
        matrix = self.settings.pose(tag, where)
        if tag.get("fullinertia") is not None:
            xx, yy, zz, xy, xz, yz = self.reader.numbers(tag, "fullinertia", 6, None, where)
            own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            own = np.diag(self.reader.numbers(tag, "diaginertia", 3, (0.0, 0.0, 0.0), where))
        I = matrix[:3, :3] @ own @ matrix[:3, :3].T
        tensor = Symmetric3(*(float(I[i]) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))
        return {"mass": mass, "center_of_mass": tuple(float(x) for x in matrix[:3, 3]), "inertia": _tensor(tensor)}

    def _weight(self, tag: Tag, shape: Shape, name: str) -> inertias.Inertia:
        """Mass properties of a geom in its body's frame."""
        where = f"body '{name}', geom"
        density = self.reader.number(tag, "density", DENSITY, where)
        given = self.reader.number(tag, "mass", 0.0, where) if tag.get("mass") is not None else None
        if given == 0.0 or (density == 0.0 and given is None):
            return inertias.ZERO
        numbers = Numbers({}, self.reader.file)
        if tag.get("type") == "ellipsoid" and isinstance(shape, Box):
            whole = _ellipsoid(shape, numbers)
        else:
            whole = inertia_of(Body(name="geom", density=1.0, shapes=(_plain(shape),)), numbers)
        mass, center, tensor = split(whole)
        if not (math.isfinite(mass) and (mass > 0.0 or given is None)):
            what = f"A {tag.get('type', 'sphere')} of this size has no volume that could have a mass."
            raise self.reader.error(tag, what, f"{where}, size", "Give sizes larger than 0.")
        factor = density if given is None else given / mass
        return about_center(mass * factor, center, Symmetric3(*(entry * factor for entry in tensor)))


def _plain(shape: Shape) -> Any:
    """The shape as one that has mass."""
    return dataclasses.replace(shape, role="both", material="")


def _ellipsoid(shape: Box, numbers: Numbers) -> inertias.Inertia:
    """m = 4/3 π abc, I_x = m (b² + c²)/5, per density."""
    a, b, c = (float(value) / 2.0 for value in shape.size)
    m = 4.0 / 3.0 * np.pi * a * b * c
    zero = Vector3(0.0, 0.0, 0.0)
    moments = Symmetric3(m * (b * b + c * c) / 5, m * (a * a + c * c) / 5, m * (a * a + b * b) / 5, 0.0, 0.0, 0.0)
    return about_center(m, zero, moments).moved(numbers.pose(shape.pose))


def _tensor(entries: Symmetric3) -> Inertia:
    values: list[Value] = [float(entry) for entry in entries]
    return Inertia(**dict(zip(_ENTRIES, values, strict=True)))
