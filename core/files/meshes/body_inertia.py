"""Mass properties of bodies: as given, or from their shapes and mesh files when they have a density."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from core.errors import KinetostatError, ModelError
from core.files.meshes.lookup import resolve_mesh
from core.model import Arrow, Beam, Body, Box, Capsule, Coil, Cone, Cylinder, Gearwheel, Mesh, Pipe, Shape, Sphere
from core.model.fields import Value
from core.model.formula.evaluation import Numbers
from core.spatial import inertia as inertias
from core.spatial import mass_properties
from core.spatial.inertia import Inertia, Symmetric3, about_center
from core.spatial.scalar import Scalar
from core.spatial.vector import Vector3


def inertia_of(body: Body, numbers: Numbers) -> Inertia:
    """Mass properties of a body in its own frame: given, or from its shapes when it has a density."""
    where = f"body '{body.name}'"
    if body.density is not None:
        density = numbers.scalar(body.density, f"{where}, density")
        parts = [_shape(shape, density, where, numbers) for shape in body.shapes if shape.role != "collision"]
        return sum_of(parts)
    mass = numbers.scalar(body.mass, f"{where}, mass")
    I = body.inertia
    entries = (I.ixx, I.iyy, I.izz, I.ixy, I.ixz, I.iyz)
    tensor = Symmetric3(*(numbers.scalar(entry, f"{where}, inertia") for entry in entries))
    return about_center(mass, numbers.vector(body.center_of_mass, f"{where}, center_of_mass"), tensor)


def _shape(shape: Shape, density: Scalar, where: str, numbers: Numbers) -> Inertia:
    def sizes(*values: Value) -> list[Scalar]:
        return [numbers.scalar(value, f"{where}, shapes") for value in values]

    if isinstance(shape, Mesh):
        own = _mesh(shape, density, where, numbers)
    elif isinstance(shape, Box):
        own = mass_properties.box(density, *sizes(*shape.size))
    elif isinstance(shape, Sphere):
        own = mass_properties.sphere(density, *sizes(shape.radius))
    elif isinstance(shape, Pipe):
        own = _hollow(density, *sizes(shape.radius, shape.inner_radius, shape.length))
    elif isinstance(shape, Gearwheel):
        own = _hollow(density, *sizes(shape.radius, shape.bore, shape.width))
    elif isinstance(shape, Beam):
        own = _beam(density, *sizes(shape.width, shape.height, shape.web, shape.flange, shape.length))
    elif isinstance(shape, Coil | Arrow):
        return inertias.ZERO
    else:
        assert isinstance(shape, Cylinder | Capsule | Cone)
        own = _ROUND[type(shape)](density, *sizes(shape.radius, shape.length))
    return own.moved(numbers.pose(shape.pose, f"{where}, shapes"))


def _hollow(density: Scalar, outer: Scalar, inner: Scalar, length: Scalar) -> Inertia:
    """A cylinder along z less the one that is cut out of it."""
    return mass_properties.cylinder(density, outer, length) + mass_properties.cylinder(-density, inner, length)


def _beam(density: Scalar, width: Scalar, height: Scalar, web: Scalar, flange: Scalar, length: Scalar) -> Inertia:
    """The whole cuboid, less that between the flanges, and the web."""
    between = height - 2.0 * flange
    whole = mass_properties.box(density, width, height, length)
    return (
        whole
        + mass_properties.box(-density, width, between, length)
        + mass_properties.box(density, web, between, length)
    )


def _mesh(shape: Mesh, density: Scalar, where: str, numbers: Numbers) -> Inertia:
    scale = [numbers.scalar(value, f"{where}, shapes") for value in shape.scale]
    if not all(isinstance(value, float) for value in scale):
        raise ModelError(
            "Mass properties of a mesh need a scale in plain numbers.",
            where=f"{where}, shapes",
            remedy="Write numbers for the scale, or give the mass properties.",
        )
    try:
        volume, center, tensor = _mesh_volume(shape.file, numbers.origin, tuple(scale))
    except KinetostatError as error:
        raise error.at(where=f"{where}, shapes") from None
    return mass_properties.from_volume(density, volume, center, tensor)


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

    from core.files.meshes.meshes import load_mesh

    path = resolve_mesh(file, origin)
    if path is None:
        raise ModelError(
            f"The mesh '{file}' is not found, so it gives no mass.",
            remedy="Correct the path, or give mass and inertia in place of a density.",
        )
    data = load_mesh(path)
    mesh: Any = Trimesh(data.vertices, data.faces)
    mesh.apply_scale(scale)
    volume = float(mesh.volume)
    if not volume > 0.0:
        raise ModelError(
            f"The mesh '{file}' encloses no volume, so it gives no mass.",
            remedy="Close its surface, or give mass and inertia in place of a density.",
        )
    mesh.density = 1.0
    I = mesh.moment_inertia
    tensor = Symmetric3(*(float(I[i]) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))
    return volume, Vector3(*map(float, mesh.center_mass)), tensor
