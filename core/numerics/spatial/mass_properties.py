"""Mass properties of homogeneous solids in closed form (e.g. Meriam and Kraige, Dynamics, table D/4)."""

from __future__ import annotations

import math

from core.numerics.spatial.inertia import Inertia, Symmetric3, about_center
from core.numerics.spatial.scalar import Scalar, over, plus, times, total
from core.numerics.spatial.vector import ZERO, Vector3


def _principal(mass: Scalar, xx: Scalar, yy: Scalar, zz: Scalar, center: Vector3 = ZERO) -> Inertia:
    return about_center(mass, center, Symmetric3(xx, yy, zz, 0.0, 0.0, 0.0))


def box(density: Scalar, x: Scalar, y: Scalar, z: Scalar) -> Inertia:
    """Return the inertia of a centred cuboid with edges x, y, z (m): I_xx = m (y² + z²)/12 …"""
    mass = times(density, times(x, times(y, z)))
    xx, yy, zz = (over(times(mass, times(e, e)), 12.0) for e in (x, y, z))
    return _principal(mass, plus(yy, zz), plus(xx, zz), plus(xx, yy))


def cylinder(density: Scalar, radius: Scalar, length: Scalar) -> Inertia:
    """Return the inertia of a centred cylinder along z: I_zz = m r²/2, I_xx = m (3 r² + l²)/12."""
    rr = times(radius, radius)
    mass = times(times(density, math.pi), times(rr, length))
    across = over(times(mass, plus(times(3.0, rr), times(length, length))), 12.0)
    return _principal(mass, across, across, times(0.5, times(mass, rr)))


def sphere(density: Scalar, radius: Scalar) -> Inertia:
    """Return the inertia of a solid sphere about its centre: I = 2 m r²/5."""
    rr = times(radius, radius)
    mass = times(times(density, 4.0 / 3.0 * math.pi), times(rr, radius))
    moment = times(0.4, times(mass, rr))
    return _principal(mass, moment, moment, moment)


def capsule(density: Scalar, radius: Scalar, length: Scalar) -> Inertia:
    """Return the inertia of a cylinder of `length` along z with hemispherical ends.

    Both half balls: I_zz = 2 m r²/5, I_xx = m (2 r²/5 + l²/4 + 3 l r/8).
    """
    rr = times(radius, radius)
    middle = cylinder(density, radius, length)
    mass = sphere(density, radius).mass
    axial = times(0.4, times(mass, rr))
    more = total((over(times(length, length), 4.0), times(0.375, times(length, radius))))
    across = plus(axial, times(mass, more))
    return middle + _principal(mass, across, across, axial)


def cone(density: Scalar, radius: Scalar, length: Scalar) -> Inertia:
    """Return the inertia of a cone along z, apex up, with the origin at half its height; its centre of mass is at −l/4.

    About the centre: I_zz = 3 m r²/10, I_xx = 3 m (r² + l²/4)/20.
    """
    rr = times(radius, radius)
    mass = times(times(density, math.pi / 3.0), times(rr, length))
    across = times(0.15, times(mass, plus(rr, over(times(length, length), 4.0))))
    return _principal(mass, across, across, times(0.3, times(mass, rr)), Vector3(0.0, 0.0, times(-0.25, length)))


def from_volume(density: Scalar, volume: float, center: Vector3, tensor: Symmetric3) -> Inertia:
    """Return the inertia of a solid from its volume (m³), centre, and tensor about its centre for unit density (m⁵)."""
    return about_center(times(density, volume), center, Symmetric3(*(times(density, entry) for entry in tensor)))
