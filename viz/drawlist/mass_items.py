"""Items that show mass: the quartered ball at a body's centre of mass, its inertia ellipsoid, and the centre of mass of
the whole machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from core.errors import KinetostatError
from core.mechanics.multibody.number_reader import Numbers
from core.model import Body, Model
from core.numerics.spatial.inertia import split_inertia
from viz.drawlist import geometry as g
from viz.placement import Array, to_placement, translation


def inertia_radii(mass: float, tensor: ArrayLike) -> tuple[Array, Array]:
    """Return principal axes (columns of a right-handed (3, 3)) and semi-axes (3,), m, of the homogeneous solid
    ellipsoid with this mass (kg) and inertia tensor about its centre (kg·m²).

    I_i = m/5 (a_j² + a_k²), so a_i² = 5/(2m) (I_j + I_k − I_i); where an unphysical tensor makes it negative, 0.
    """
    principal, axes = np.linalg.eigh(np.asarray(tensor, dtype=float))
    if np.linalg.det(axes) < 0.0:
        axes[:, 2] = -axes[:, 2]
    square = 2.5 / mass * (principal.sum() - 2.0 * principal)
    return axes, np.sqrt(np.maximum(square, 0.0))


def mass_items(body: Body, values: Mapping[str, float], radius: float, origin: str = "") -> Iterator[dict[str, Any]]:
    """Yield the fields of the items that show the mass of a body; none for a massless body."""
    mass, center, tensor = mass_properties(body, values, origin)
    if mass <= 0.0:
        return
    ref = ("bodies", body.name)
    yield {
        "id": f"com/{body.name}",
        "ref": ref,
        "frame": body.name,
        "geometry": g.CenterMark(0.75 * radius),
        "role": "com",
        "colour": "com_light",
        "placement": to_placement(translation(*center)),
        "shown": False,
    }
    axes, radii = inertia_radii(mass, tensor)
    if radii.max() <= 1e-9:
        return
    pose = translation(*center)
    pose[:3, :3] = axes
    x, y, z = np.maximum(radii, 0.01 * radii.max()).tolist()
    yield {
        "id": f"inertia/{body.name}",
        "ref": ref,
        "frame": body.name,
        "geometry": g.Ellipsoid((x, y, z)),
        "role": "inertia",
        "colour": "inertia",
        "placement": to_placement(pose),
        "shown": False,
        "opacity": 0.45,
    }


def mass_properties(body: Body, values: Mapping[str, float], origin: str = "") -> tuple[float, Array, Array]:
    """Return mass (kg), centre of mass (3,) m, and inertia tensor (3, 3) kg·m² about it, in body axes, as in the
    kernel.

    A body whose mass cannot be found (a mesh is missing) counts as having none; the kernel says why.
    """
    try:
        mass, center, tensor = split_inertia(Numbers(values, origin).inertia(body))
    except KinetostatError:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    return float(mass), np.array(center, dtype=float), _symmetric_matrix(*map(float, tensor))


def _symmetric_matrix(xx: float, yy: float, zz: float, xy: float, xz: float, yz: float) -> Array:
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


class MassDistribution:
    """Masses and centres of mass of all bodies of a machine."""

    def __init__(self, model: Model, values: Mapping[str, float]) -> None:
        found = [(body.name, *mass_properties(body, values, model.origin)[:2]) for body in model.expanded.bodies]
        self._bodies = [(name, mass, centre) for name, mass, centre in found if mass > 0.0]

    def mass_center(self, poses: Mapping[str, ArrayLike]) -> Array | None:
        """Return the centre of mass (3,), m, c = Σ mᵢ (pᵢ + Rᵢ cᵢ) / Σ mᵢ; None for a machine without mass."""
        total, moment = 0.0, np.zeros(3)
        for name, mass, centre in self._bodies:
            pose = np.asarray(poses.get(name, np.eye(4)), dtype=float)
            total += mass
            moment += mass * (pose[:3, 3] + pose[:3, :3] @ centre)
        return moment / total if total > 0.0 else None
