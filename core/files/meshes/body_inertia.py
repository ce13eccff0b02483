"""Mass properties of bodies: given explicitly, or computed from shapes and mesh files with a density."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from core.errors import KinetostatError, ModelError
from core.later import dataclass
from core.model import Body, Mesh, Shape
from core.model.fields import Value
from core.model.formula.evaluation import FieldEvaluator
from core.numerics.spatial import inertia as inertias
from core.numerics.spatial.inertia import Inertia, Symmetric3, inertia_from_center
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import Vector3


def body_inertia(body: Body, numbers: FieldEvaluator) -> Inertia:
    """Return the mass properties of a body in its own frame: those given explicitly, or those of its shapes if it has a
    density."""
    where = f"body '{body.name}'"
    if body.density is not None:
        density = numbers.scalar(body.density, f"{where}, density")
        sizes = _ShapeEvaluator(numbers, f"{where}, shapes")
        return combine_inertias(
            [sizes.inertia_in_body(shape, density) for shape in body.shapes if shape.role != "collision"]
        )
    mass = numbers.scalar(body.mass, f"{where}, mass")
    I = body.inertia
    entries = (I.ixx, I.iyy, I.izz, I.ixy, I.ixz, I.iyz)
    tensor = Symmetric3(*(numbers.scalar(entry, f"{where}, inertia") for entry in entries))
    return inertia_from_center(mass, numbers.vector(body.center_of_mass, f"{where}, center_of_mass"), tensor)


@dataclass(frozen=True)
class _ShapeEvaluator:
    """Evaluator of a body's shapes at given parameter values; mesh files are looked up relative to the model's file."""

    values: FieldEvaluator
    where: str

    def inertia_in_body(self, shape: Shape, density: Scalar) -> Inertia:
        """Return the mass properties of a shape in the body's frame."""
        own = shape.mass_properties(density, self)
        return own if own is inertias.ZERO else own.transformed_to_parent(self.values.pose(shape.pose, self.where))

    def number(self, value: Value) -> Scalar:
        """Return the value of a number or formula (see `core.model.shapes.SizeEvaluator`)."""
        return self.values.scalar(value, self.where)

    def mesh_inertia(self, mesh: Mesh, density: Scalar) -> Inertia:
        """Return the mass properties of the volume enclosed by a mesh (see `core.model.shapes.SizeEvaluator`)."""
        scale = [self.number(value) for value in mesh.scale]
        if not all(isinstance(value, float) for value in scale):
            raise ModelError(
                "The mass of a mesh cannot be computed if its scale contains formulas.",
                where=self.where,
                remedy="Write numbers for the scale, or give the mass properties.",
            )
        try:
            volume, center, tensor = _mesh_volume(mesh.file, self.values.origin, tuple(scale))
        except KinetostatError as error:
            raise error.at(where=self.where) from None
        from core.numerics.spatial import inertia

        return inertia.inertia_from_volume(density, volume, center, tensor)


def combine_inertias(parts: list[Inertia]) -> Inertia:
    """Return the combined mass properties of several parts."""
    result = inertias.ZERO
    for part in parts:
        result = result + part
    return result


def _mesh_volume(file: str, origin: str, scale: tuple[float, ...]) -> tuple[float, Vector3, Symmetric3]:
    """Return volume (m³), centre (m) and second-moment tensor about the centre per density (m⁵) of a mesh file in its
    current state."""
    from core.files.meshes.lookup import find_mesh_problem, resolve_mesh
    from core.files.meshes.meshes import mesh_fingerprint

    path = resolve_mesh(file, origin)
    if path is None:
        problem = find_mesh_problem(file, origin)
        why = "is not found" if problem is None or "is not found" in problem[0] else "has an unsupported format"
        raise ModelError(
            f"The mesh '{file}' {why}, so its mass cannot be computed.",
            remedy="Correct the path, or give mass and inertia instead of a density.",
        )
    return _mesh_volume_from_content(str(path), mesh_fingerprint(path), file, scale)


@lru_cache(maxsize=256)
def _mesh_volume_from_content(
    path: str, content: str, file: str, scale: tuple[float, ...]
) -> tuple[float, Vector3, Symmetric3]:
    """Return volume, centre and tensor of a mesh file with this content; messages name it `file`."""
    from trimesh import Trimesh

    from core.files.meshes.meshes import load_mesh

    data = load_mesh(path)
    mesh: Any = Trimesh(data.vertices, data.faces)
    mesh.apply_scale(scale)
    volume = float(mesh.volume)
    if not volume > 0.0:
        raise ModelError(
            f"The mesh '{file}' encloses no volume, so its mass cannot be computed.",
            remedy="Close its surface, or give mass and inertia instead of a density.",
        )
    mesh.density = 1.0
    I = mesh.moment_inertia
    tensor = Symmetric3(*(float(I[i]) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))
    return volume, Vector3(*map(float, mesh.center_mass)), tensor
