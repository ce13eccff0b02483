"""Point masses on the line of a force element: p = a + f (b − a), or at a fixed distance d from one end, p = a + d e.

Their inertia acts on the ends: with p̈ from those of the ends, −(∂p/∂a)ᵀ m (p̈ − g) on a and −(∂p/∂b)ᵀ m (p̈ − g) on b.
To the mass matrix they add m J_pᵀ J_p, J_p = ∂p/∂a J_a + ∂p/∂b J_b.
"""

from __future__ import annotations

from typing import NamedTuple

from core.later import dataclass
from core.mechanics.elements.force_state import Loads
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.kinematics import jacobian
from core.mechanics.tree import Gravity, LinkFrame
from core.numerics.spatial.relative_measures import TINY
from core.numerics.spatial.scalar import Scalar, all_zero, minus, negated, over, plus, sqrt, times
from core.numerics.spatial.vector import ZERO, Force, Vector3

FRACTION, FROM_A, FROM_B = "fraction", "from_a", "from_b"


class DisplacementFactors(NamedTuple):
    """Coefficients by which the displacements of the ends displace the mass: p' = (α + β e eᵀ) a' + (γ + δ e eᵀ) b'."""

    on_a: tuple[Scalar, Scalar]
    on_b: tuple[Scalar, Scalar]
    direction: Vector3


@dataclass(frozen=True)
class LineMass:
    """Point mass on the line between two frames."""

    name: str
    a: LinkFrame
    b: LinkFrame
    mass: Scalar
    at: str
    place: Scalar

    def inertia(self, kinematics: KinematicState, loads: Loads) -> None:
        """Add the forces of its inertia and weight on the ends to the loads."""
        run, (a, b) = kinematics.run, (kinematics.frame(self.a).position, kinematics.frame(self.b).position)
        p = run(_points[self.at], self.place, a, b)
        shares = run(_shares[self.at], self.place, a, b)
        speeds = kinematics.motion(self.a).linear, kinematics.motion(self.b).linear
        changes = kinematics.acceleration(self.a), kinematics.acceleration(self.b)
        acceleration = run(_accelerations[self.at], self.place, a, b, *speeds, *changes)
        field = kinematics.tree.gravity
        if field.is_point:
            acceleration = run(subtract_attraction, (field.mu, field.center), p, acceleration)
        for end, point, share in ((self.a, a, shares.on_a), (self.b, b, shares.on_b)):
            force = run(inertia_force, self.mass, share, shares.direction, acceleration)
            loads.add_wrench(end, point, Force(ZERO, force))

    def columns(self, kinematics: KinematicState) -> list[Vector3]:
        """Return J_p, one column per speed."""
        run, (a, b) = kinematics.run, (kinematics.frame(self.a).position, kinematics.frame(self.b).position)
        shares = run(_shares[self.at], self.place, a, b)
        result: list[Vector3] = [ZERO] * kinematics.tree.nv
        for end, share in ((self.a, shares.on_a), (self.b, shares.on_b)):
            if end.link < 0:
                continue
            rows = jacobian(kinematics.tree, kinematics.q, end.link, end.pose, run)[3:]
            for k in range(kinematics.tree.nv):
                column = Vector3(rows[0][k], rows[1][k], rows[2][k])
                if not all_zero(column):
                    result[k] = run(add_displacement, result[k], share, shares.direction, column)
        return result

    def energy(self, kinematics: KinematicState) -> tuple[Scalar, Scalar]:
        """Return (kinetic, potential) energy, J."""
        run, (a, b) = kinematics.run, (kinematics.frame(self.a).position, kinematics.frame(self.b).position)
        velocity = self.velocity(kinematics)
        field = kinematics.tree.gravity
        p = run(_points[self.at], self.place, a, b)
        return run(kinetic_energy, self.mass, velocity), run(
            _Potential(field.is_point), _field_numbers(field), self.mass, p
        )

    def velocity(self, kinematics: KinematicState) -> Vector3:
        """Return ṗ, world axes."""
        run, (a, b) = kinematics.run, (kinematics.frame(self.a).position, kinematics.frame(self.b).position)
        shares, velocity = run(_shares[self.at], self.place, a, b), ZERO
        for end, share in ((self.a, shares.on_a), (self.b, shares.on_b)):
            velocity = run(add_displacement, velocity, share, shares.direction, kinematics.motion(end).linear)
        return velocity

    def position(self, kinematics: KinematicState) -> Vector3:
        """Return p, world axes."""
        a, b = kinematics.frame(self.a).position, kinematics.frame(self.b).position
        return kinematics.run(_points[self.at], self.place, a, b)


def _field_numbers(field: Gravity) -> tuple[Vector3, Scalar, Vector3]:
    return field.acceleration, field.mu, field.center


@dataclass(frozen=True)
class _Potential:
    """Gravitational potential energy in a uniform field or a point field."""

    is_point: bool

    def __call__(self, field: tuple[Vector3, Scalar, Vector3], mass: Scalar, p: Vector3) -> Scalar:
        """Return −m g · p, or −m μ / r."""
        g, mu, center = field
        if not self.is_point:
            return negated(times(mass, g.dot(p)))
        away = center - p
        return negated(over(times(mass, mu), sqrt(away.dot(away))))


def kinetic_energy(mass: Scalar, v: Vector3) -> Scalar:
    """Return ½ m v²."""
    return times(0.5, times(mass, v.dot(v)))


def add_momentum(sum_so_far: tuple[Vector3, Vector3], mass: Scalar, p: Vector3, v: Vector3) -> tuple[Vector3, Vector3]:
    """Add a mass's momentum (angular about the world's origin, linear) to the sum."""
    linear = v.scaled(mass)
    return sum_so_far[0] + p.cross(linear), sum_so_far[1] + linear


def _length_and_direction(a: Vector3, b: Vector3) -> tuple[Scalar, Vector3]:
    u = b - a
    length = sqrt(plus(u.dot(u), TINY))
    return length, Vector3(*(over(x, length) for x in u))


def _position_at_fraction(f: Scalar, a: Vector3, b: Vector3) -> Vector3:
    return a.scaled(minus(1.0, f)) + b.scaled(f)


def _position_from_a(d: Scalar, a: Vector3, b: Vector3) -> Vector3:
    return a + _length_and_direction(a, b)[1].scaled(d)


def _position_from_b(d: Scalar, a: Vector3, b: Vector3) -> Vector3:
    return _position_from_a(d, b, a)


def _share_fraction(f: Scalar, a: Vector3, b: Vector3) -> DisplacementFactors:
    return DisplacementFactors((minus(1.0, f), 0.0), (f, 0.0), ZERO)


def _share_from_a(d: Scalar, a: Vector3, b: Vector3) -> DisplacementFactors:
    length, e = _length_and_direction(a, b)
    k = over(d, length)
    return DisplacementFactors((minus(1.0, k), k), (k, negated(k)), e)


def _share_from_b(d: Scalar, a: Vector3, b: Vector3) -> DisplacementFactors:
    far, near, e = _share_from_a(d, b, a)
    return DisplacementFactors(near, far, e)


def _accelerate_fraction(
    f: Scalar, a: Vector3, b: Vector3, v_a: Vector3, v_b: Vector3, a_a: Vector3, a_b: Vector3
) -> Vector3:
    return a_a.scaled(minus(1.0, f)) + a_b.scaled(f)


def _accelerate_from_a(
    d: Scalar, a: Vector3, b: Vector3, v_a: Vector3, v_b: Vector3, a_a: Vector3, a_b: Vector3
) -> Vector3:
    """Return ä + d ë, ë = (ü − e L̈ − 2 ė L̇)/L."""
    length, e = _length_and_direction(a, b)
    speed, change = v_b - v_a, a_b - a_a
    rate = e.dot(speed)
    turning = (speed - e.scaled(rate)).scaled(over(1.0, length))
    second = plus(e.dot(change), turning.dot(speed))
    bending = change - e.scaled(second) - turning.scaled(times(2.0, rate))
    return a_a + bending.scaled(over(d, length))


def _accelerate_from_b(
    d: Scalar, a: Vector3, b: Vector3, v_a: Vector3, v_b: Vector3, a_a: Vector3, a_b: Vector3
) -> Vector3:
    return _accelerate_from_a(d, b, a, v_b, v_a, a_b, a_a)


_points = {FRACTION: _position_at_fraction, FROM_A: _position_from_a, FROM_B: _position_from_b}
_shares = {FRACTION: _share_fraction, FROM_A: _share_from_a, FROM_B: _share_from_b}
_accelerations = {FRACTION: _accelerate_fraction, FROM_A: _accelerate_from_a, FROM_B: _accelerate_from_b}


def subtract_attraction(gravity: tuple[Scalar, Vector3], p: Vector3, acceleration: Vector3) -> Vector3:
    """Return a − μ (c − p)/r³: the acceleration minus that of the point field."""
    mu, center = gravity
    away = center - p
    r = sqrt(away.dot(away))
    return acceleration - away.scaled(over(mu, times(times(r, r), r)))


def add_displacement(sum_so_far: Vector3, share: tuple[Scalar, Scalar], e: Vector3, v: Vector3) -> Vector3:
    """Return the sum Σ plus the part of a displacement v of one end: Σ + (α + β e eᵀ) v."""
    return sum_so_far + v.scaled(share[0]) + e.scaled(times(share[1], e.dot(v)))


def inertia_force(mass: Scalar, share: tuple[Scalar, Scalar], e: Vector3, acceleration: Vector3) -> Vector3:
    """Return the inertia force −m (α + β e eᵀ) a on one end."""
    return -add_displacement(ZERO, share, e, acceleration).scaled(mass)
