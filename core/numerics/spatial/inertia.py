"""Spatial inertia of a rigid body, and articulated-body inertia; mass properties of homogeneous solids in closed form
(e.g. Meriam and Kraige, Dynamics, table D/4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.scalar import Scalar, is_zero, minus, over, plus, times, total
from core.numerics.spatial.vector import ZERO as ZERO3
from core.numerics.spatial.vector import Force, Motion, Vector3


class Symmetric3(NamedTuple):
    """Symmetric 3×3 matrix, stored by its six entries."""

    xx: Scalar
    yy: Scalar
    zz: Scalar
    xy: Scalar
    xz: Scalar
    yz: Scalar

    def __add__(self, other: Symmetric3) -> Symmetric3:  # type: ignore[override]
        return Symmetric3(*map(plus, self, other))

    def __sub__(self, other: Symmetric3) -> Symmetric3:
        return Symmetric3(*map(minus, self, other))

    def act(self, v: Vector3) -> Vector3:
        """Multiply a vector by the matrix."""
        return Vector3(self.row_x.dot(v), self.row_y.dot(v), self.row_z.dot(v))

    @property
    def row_x(self) -> Vector3:
        """Return the first row."""
        return Vector3(self.xx, self.xy, self.xz)

    @property
    def row_y(self) -> Vector3:
        """Return the second row."""
        return Vector3(self.xy, self.yy, self.yz)

    @property
    def row_z(self) -> Vector3:
        """Return the third row."""
        return Vector3(self.xz, self.yz, self.zz)

    def rotated(self, R: Rotation) -> Symmetric3:
        """Return R S Rᵀ."""
        # rows of R S; S is symmetric, so (R S) by rows is S acting on R's rows
        x, y, z = (self.act(row) for row in R)
        return Symmetric3(x.dot(R.x), y.dot(R.y), z.dot(R.z), x.dot(R.y), x.dot(R.z), y.dot(R.z))


ZERO_SYMMETRIC = Symmetric3(*(0.0,) * 6)


def minus_cross_squared(v: Vector3) -> Symmetric3:
    """Return −[v]×² = |v|² 1 − v vᵀ."""
    xx, yy, zz = times(v.x, v.x), times(v.y, v.y), times(v.z, v.z)
    return Symmetric3(
        plus(yy, zz),
        plus(xx, zz),
        plus(xx, yy),
        minus(0.0, times(v.x, v.y)),
        minus(0.0, times(v.x, v.z)),
        minus(0.0, times(v.y, v.z)),
    )


class Inertia(NamedTuple):
    """Spatial inertia of a rigid body in a frame B: mass m (kg), first moment h = m c (kg·m), tensor about B's origin
    (kg·m²)."""

    mass: Scalar
    moment: Vector3
    tensor: Symmetric3

    def __add__(self, other: Inertia) -> Inertia:  # type: ignore[override]
        return Inertia(plus(self.mass, other.mass), self.moment + other.moment, self.tensor + other.tensor)

    def act(self, m: Motion) -> Force:
        """Return the momentum of the body at a velocity: [I ω + h × v; m v − h × ω] (RBDA 2.63)."""
        return Force(
            self.tensor.act(m.angular) + self.moment.cross(m.linear),
            m.linear.scaled(self.mass) - self.moment.cross(m.angular),
        )

    def transformed_to_parent(self, X_AB: Pose) -> Inertia:
        """Return the inertia in frame A, with the tensor about A's origin by Steiner's theorem (RBDA 2.66)."""
        h = X_AB.rotation.act(self.moment)
        p = X_AB.position
        # I_A = R I Rᵀ − [p]×[h]× − [h]×[p]× − m [p]×²  (h = m c in A's axes, from B's origin)
        tensor = self.tensor.rotated(X_AB.rotation)
        tensor = tensor + _mixed_cross_product(p, h) + _scaled_symmetric(minus_cross_squared(p), self.mass)
        return Inertia(self.mass, h + p.scaled(self.mass), tensor)


def _mixed_cross_product(p: Vector3, h: Vector3) -> Symmetric3:
    """Return −[p]×[h]× − [h]×[p]× = 2 (p·h) 1 − p hᵀ − h pᵀ."""
    xx, yy, zz = (times(2.0, times(a, b)) for a, b in zip(p, h, strict=True))
    return Symmetric3(
        plus(yy, zz),
        plus(xx, zz),
        plus(xx, yy),
        minus(0.0, plus(times(p.x, h.y), times(h.x, p.y))),
        minus(0.0, plus(times(p.x, h.z), times(h.x, p.z))),
        minus(0.0, plus(times(p.y, h.z), times(h.y, p.z))),
    )


def _scaled_symmetric(s: Symmetric3, factor: Scalar) -> Symmetric3:
    return Symmetric3(*(times(factor, entry) for entry in s))


ZERO = Inertia(0.0, ZERO3, ZERO_SYMMETRIC)


def inertia_from_center(mass: Scalar, center: Vector3, tensor: Symmetric3) -> Inertia:
    """Return the spatial inertia from mass, centre of mass c, and the tensor about c: I = I_c − m [c]×² (Steiner)."""
    return Inertia(mass, center.scaled(mass), tensor + _scaled_symmetric(minus_cross_squared(center), mass))


def split_inertia(inertia: Inertia) -> tuple[Scalar, Vector3, Symmetric3]:
    """Return mass, centre of mass c and tensor about c of a spatial inertia, the inverse of `inertia_from_center`: I_c
    = I + m [c]×² (c = 0 for a body without mass)."""
    c = ZERO3 if is_zero(inertia.mass) else center(inertia)
    return inertia.mass, c, inertia.tensor - _scaled_symmetric(minus_cross_squared(c), inertia.mass)


class ArticulatedInertia(NamedTuple):
    """Articulated-body inertia [I, H; Hᵀ, M]: force per acceleration of a body together with the bodies that it carries
    (RBDA 7.1). H is stored by rows."""

    I: Symmetric3
    H: Rotation
    M: Symmetric3

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:  # type: ignore[override]
        H = Rotation(*(a + b for a, b in zip(self.H, other.H, strict=True)))
        return ArticulatedInertia(self.I + other.I, H, self.M + other.M)

    def act(self, m: Motion) -> Force:
        """Return the force [I ω + H v; Hᵀ ω + M v] for an acceleration."""
        return Force(
            self.I.act(m.angular) + self.H.act(m.linear),
            self.H.act_back(m.angular) + self.M.act(m.linear),
        )

    def minus_outer_product(self, U: Force, W: Force) -> ArticulatedInertia:
        """Return this inertia minus U Wᵀ, which must be symmetric (one term of U D⁻¹ Uᵀ)."""
        (n, f), (m, g) = U, W
        I = Symmetric3(
            times(n.x, m.x), times(n.y, m.y), times(n.z, m.z), times(n.x, m.y), times(n.x, m.z), times(n.y, m.z)
        )
        H = Rotation(*(row - g.scaled(component) for row, component in zip(self.H, n, strict=True)))
        M = Symmetric3(
            times(f.x, g.x), times(f.y, g.y), times(f.z, g.z), times(f.x, g.y), times(f.x, g.z), times(f.y, g.z)
        )
        return ArticulatedInertia(self.I - I, H, self.M - M)

    def with_free_directions(self, directions: Sequence[Motion]) -> ArticulatedInertia:
        """Return the inertia with exact zeros for motions along the given directions, if these are literal coordinate
        axes; this removes the rounding error that `minus_outer_product` leaves along a free axis."""
        I, H, M = list(self.I), [list(row) for row in self.H], list(self.M)
        for direction in directions:
            k = _coordinate_axis((*direction.angular, *direction.linear))
            if k is None:
                continue
            block, axis = (I, k) if k < 3 else (M, k - 3)
            for entry in _ENTRIES[axis]:
                block[entry] = 0.0
            for other in range(3):
                if k < 3:
                    H[axis][other] = 0.0
                else:
                    H[other][axis] = 0.0
        return ArticulatedInertia(Symmetric3(*I), Rotation(*(Vector3(*row) for row in H)), Symmetric3(*M))

    def transformed_to_parent(self, X_AB: Pose) -> ArticulatedInertia:
        """Return the articulated inertia expressed in frame A: rotate, then H' = H + [p]× M, I' = I − H [p]× + [p]×
        H'ᵀ."""
        R, p = X_AB
        M = self.M.rotated(R)
        RH = R @ self.H
        H = Rotation(*(R.act(row) for row in RH))  # R H Rᵀ
        shifted = Rotation(*(_cross_rows(p, M, H)))
        # −H [p]×: row r gives p × r … ; [p]× H'ᵀ: column c of H'ᵀ is row c of H', so entry (i, j) = (p × H'_j)_i
        first = [p.cross(row) for row in H]
        second = [p.cross(row) for row in shifted]
        turned = self.I.rotated(R)

        def entry(i: int, j: int) -> Scalar:
            return plus(first[i][j], second[j][i])

        I = turned + Symmetric3(entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2))
        return ArticulatedInertia(I, shifted, M)


_ENTRIES = ((0, 3, 4), (1, 3, 5), (2, 4, 5))
"""Indices of row k's entries in a Symmetric3."""


def _coordinate_axis(components: Sequence[Scalar]) -> int | None:
    """Return the index of the only component that is not a literal zero; None if there are several or none, or if it is
    not a literal."""
    present = [k for k, component in enumerate(components) if not is_zero(component)]
    return present[0] if len(present) == 1 and isinstance(components[present[0]], float) else None


def _cross_rows(p: Vector3, M: Symmetric3, H: Rotation) -> list[Vector3]:
    """Return the rows of H + [p]× M."""
    x, y, z = M.row_x, M.row_y, M.row_z
    crossed = (
        z.scaled(p.y) - y.scaled(p.z),
        x.scaled(p.z) - z.scaled(p.x),
        y.scaled(p.x) - x.scaled(p.y),
    )
    return [row + more for row, more in zip(H, crossed, strict=True)]


def articulated_from_rigid(inertia: Inertia) -> ArticulatedInertia:
    """Return a rigid body's inertia as an articulated one: H = [h]×, M = m 1."""
    h, m = inertia.moment, inertia.mass
    H = Rotation(
        Vector3(0.0, minus(0.0, h.z), h.y), Vector3(h.z, 0.0, minus(0.0, h.x)), Vector3(minus(0.0, h.y), h.x, 0.0)
    )
    return ArticulatedInertia(inertia.tensor, H, Symmetric3(m, m, m, 0.0, 0.0, 0.0))


def center(inertia: Inertia) -> Vector3:
    """Return the centre of mass h / m."""
    return Vector3(*(over(component, inertia.mass) for component in inertia.moment))


def _diagonal_inertia(mass: Scalar, xx: Scalar, yy: Scalar, zz: Scalar, center: Vector3 = ZERO3) -> Inertia:
    return inertia_from_center(mass, center, Symmetric3(xx, yy, zz, 0.0, 0.0, 0.0))


def box(density: Scalar, x: Scalar, y: Scalar, z: Scalar) -> Inertia:
    """Return the inertia of a centred cuboid with edges x, y, z (m): I_xx = m (y² + z²)/12 …"""
    mass = times(density, times(x, times(y, z)))
    xx, yy, zz = (over(times(mass, times(e, e)), 12.0) for e in (x, y, z))
    return _diagonal_inertia(mass, plus(yy, zz), plus(xx, zz), plus(xx, yy))


def cylinder(density: Scalar, radius: Scalar, length: Scalar) -> Inertia:
    """Return the inertia of a centred cylinder along z: I_zz = m r²/2, I_xx = m (3 r² + l²)/12."""
    rr = times(radius, radius)
    mass = times(times(density, math.pi), times(rr, length))
    across = over(times(mass, plus(times(3.0, rr), times(length, length))), 12.0)
    return _diagonal_inertia(mass, across, across, times(0.5, times(mass, rr)))


def sphere(density: Scalar, radius: Scalar) -> Inertia:
    """Return the inertia of a solid sphere about its centre: I = 2 m r²/5."""
    rr = times(radius, radius)
    mass = times(times(density, 4.0 / 3.0 * math.pi), times(rr, radius))
    moment = times(0.4, times(mass, rr))
    return _diagonal_inertia(mass, moment, moment, moment)


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
    return middle + _diagonal_inertia(mass, across, across, axial)


def cone(density: Scalar, radius: Scalar, length: Scalar) -> Inertia:
    """Return the inertia of a cone along z, apex up, with the origin at half its height; its centre of mass is at −l/4.

    About the centre: I_zz = 3 m r²/10, I_xx = 3 m (r² + l²/4)/20.
    """
    rr = times(radius, radius)
    mass = times(times(density, math.pi / 3.0), times(rr, length))
    across = times(0.15, times(mass, plus(rr, over(times(length, length), 4.0))))
    return _diagonal_inertia(mass, across, across, times(0.3, times(mass, rr)), Vector3(0.0, 0.0, times(-0.25, length)))


def inertia_from_volume(density: Scalar, volume: float, center: Vector3, tensor: Symmetric3) -> Inertia:
    """Return the inertia of a solid from its volume (m³), centre, and tensor about its centre for unit density (m⁵)."""
    return inertia_from_center(times(density, volume), center, Symmetric3(*(times(density, entry) for entry in tensor)))
