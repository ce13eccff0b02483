"""From the document's numbers to the scalars of mechanics: poses, inertias, joint laws."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from core.errors import KinetostatError, ModelError
from core.mechanics import joints, mass_properties
from core.model import Body, Box, Capsule, Cone, Cylinder, Gravity, Joint, Mesh, Shape, Sphere
from core.model import Pose as DocumentPose
from core.model.fields import Value
from core.model.parameters import value_of
from core.model.shapes import IDENTITY as NO_POSE
from core.spatial import inertia as inertias
from core.spatial.inertia import Inertia, Symmetric3, about_center
from core.spatial.pose import IDENTITY, Pose
from core.spatial.rotation import Rotation, from_angles, from_quaternion
from core.spatial.scalar import Scalar
from core.spatial.vector import Vector3


@dataclasses.dataclass(frozen=True)
class Numbers:
    """Values of the parameters: floats, or symbols."""

    values: Mapping[str, Scalar]
    origin: str = ""
    """Path of the model's file, beside which meshes are found."""

    def scalar(self, value: Value, where: str = "") -> Scalar:
        """The number of a field."""
        result = value_of(value, self.values, where)
        return float(result) if isinstance(result, (int, float)) else result

    def vector(self, values: tuple[Value, ...], where: str = "") -> Vector3:
        """Three numbers."""
        return Vector3(*(self.scalar(value, where) for value in values))

    def pose(self, pose: DocumentPose, where: str = "") -> Pose:
        """A pose of the document."""
        if pose is NO_POSE or pose == NO_POSE:
            return IDENTITY
        turn = [self.scalar(value, where) for value in pose.rotation]
        if len(turn) == 4 and all(isinstance(e, float) and e == 0.0 for e in turn):
            raise ModelError("A quaternion of length zero is no rotation.", where=where,
                             remedy="Use 0, 0, 0, 1 for no rotation.")  # fmt: skip
        rotation = from_quaternion(turn) if len(turn) == 4 else from_angles(turn)
        return Pose(rotation, self.vector(pose.position, where))

    def inertia(self, body: Body) -> Inertia:
        """Mass properties of a body in its own frame: given, or from its shapes when it has a density."""
        where = f"body '{body.name}'"
        if body.density is not None:
            density = self.scalar(body.density, f"{where}, density")
            parts = [self._shape(shape, density, where) for shape in body.shapes if shape.role != "collision"]
            return sum_of(parts)
        mass = self.scalar(body.mass, f"{where}, mass")
        I = body.inertia
        entries = (I.ixx, I.iyy, I.izz, I.ixy, I.ixz, I.iyz)
        tensor = Symmetric3(*(self.scalar(entry, f"{where}, inertia") for entry in entries))
        return about_center(mass, self.vector(body.center_of_mass, f"{where}, center_of_mass"), tensor)

    def _shape(self, shape: Shape, density: Scalar, where: str) -> Inertia:
        def numbers(*values: Value) -> list[Scalar]:
            return [self.scalar(value, f"{where}, shapes") for value in values]

        if isinstance(shape, Mesh):
            own = self._mesh(shape, density, where)
        elif isinstance(shape, Box):
            own = mass_properties.box(density, *numbers(*shape.size))
        elif isinstance(shape, Sphere):
            own = mass_properties.sphere(density, *numbers(shape.radius))
        else:
            assert isinstance(shape, Cylinder | Capsule | Cone)
            own = _ROUND[type(shape)](density, *numbers(shape.radius, shape.length))
        return own.moved(self.pose(shape.pose, f"{where}, shapes"))

    def _mesh(self, shape: Mesh, density: Scalar, where: str) -> Inertia:
        scale = [self.scalar(value, f"{where}, shapes") for value in shape.scale]
        if not all(isinstance(value, float) for value in scale):
            raise ModelError("Mass properties of a mesh need a scale in plain numbers.", where=f"{where}, shapes",
                             remedy="Write numbers for the scale, or give the mass properties.")  # fmt: skip
        try:
            volume, center, tensor = _mesh_volume(shape.file, self.origin, tuple(scale))
        except KinetostatError as error:
            raise error.at(where=f"{where}, shapes") from None
        return mass_properties.from_volume(density, volume, center, tensor)

    def law(self, joint: Joint) -> tuple[Any, Rotation]:
        """Joint law and rotation of its canonical frame in frame a."""
        where = f"joint '{joint.name}'"
        axis = self.vector(joint.axis, f"{where}, axis")
        second = self.vector(joint.second_axis, f"{where}, second_axis")
        try:
            return joints.canonical(joint.kind, axis, second, self.scalar(joint.pitch, f"{where}, pitch"))
        except ZeroDivisionError:
            raise ModelError("An axis of length zero has no direction.", where=f"{where}, axis",
                             remedy="Give a direction such as (0, 0, 1).") from None  # fmt: skip
        except ModelError as error:
            error.where = f"{where}, {error.where}" if error.where else where
            raise

    def gravity(self, gravity: Gravity) -> tuple[Vector3, Scalar, Vector3]:
        """Uniform acceleration, gravitational parameter, centre."""
        uniform = self.vector(gravity.acceleration, "world, gravity") if gravity.kind == "uniform" else Vector3(*ZEROS)
        return uniform, self.scalar(gravity.mu, "world, gravity"), self.vector(gravity.center, "world, gravity")


ZEROS = (0.0, 0.0, 0.0)
_ROUND: dict[type, Callable[[Scalar, Scalar, Scalar], Inertia]] = {
    Cylinder: mass_properties.cylinder,
    Capsule: mass_properties.capsule,
    Cone: mass_properties.cone,
}


def sum_of(parts: list[Inertia]) -> Inertia:
    """Several bodies as one."""
    result = inertias.ZERO
    for part in parts:
        result = result + part
    return result


@lru_cache(maxsize=256)
def _mesh_volume(file: str, origin: str, scale: tuple[float, ...]) -> tuple[float, Vector3, Symmetric3]:
    """Volume (m³), centre (m) and tensor about the centre per density (m⁵) of a mesh file."""
    from trimesh import Trimesh

    from core.files import load_mesh, resolve_mesh

    path = resolve_mesh(file, origin)
    if path is None:
        raise ModelError(f"The mesh '{file}' is not found, so it gives no mass.",
                         remedy="Correct the path, or give mass and inertia in place of a density.")  # fmt: skip
    data = load_mesh(path)
    mesh: Any = Trimesh(data.vertices, data.faces)
    mesh.apply_scale(scale)
    volume = float(mesh.volume)
    if not volume > 0.0:
        raise ModelError(f"The mesh '{file}' encloses no volume, so it gives no mass.",
                         remedy="Close its surface, or give mass and inertia in place of a density.")  # fmt: skip
    mesh.density = 1.0
    I = mesh.moment_inertia
    tensor = Symmetric3(*(float(I[i]) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))
    return volume, Vector3(*map(float, mesh.center_mass)), tensor
