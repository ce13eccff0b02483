"""Forces at one point of contact: a spring with damping along the normal, and dry friction with elastic stick across.

Normal force at the penetration p ≥ 0: N = k p + b ṗ p/(p + p₀), never negative. That is a spring and damper whose force
begins continuously; p₀ is the depth at rest. The damping b follows from the coefficient of
restitution e = exp(−2 α cot α) with b = 2 cos α √(k m) (Schwager and Pöschel, *Granular Matter* 9, 2007).

Friction is that of a spring and damper in parallel, k s + d ṡ, behind a slider that slips at μ N: with u = k s + d v,
the force against the slip velocity v is P, the point nearest to u with |P| ≤ μ N, and ṡ = v − (u − P)/d. Below μ N, the
spring takes the whole displacement, so that a load at rest is held without creep; above, friction is μ N opposite to
the slider's speed (u − P)/d. The power that is lost, N ṗ − k p ṗ and P · (u − P)/d + d ṡ², is never negative.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from core.numerics.spatial.scalar import Scalar, apply, is_zero, sqrt
from core.numerics.spatial.vector import ZERO, Vector3

DESIGN_DEPTH = 2e-3
"""Fraction of its size by which a contact yields at its design speed."""
STANDARD_GRAVITY = 9.80665
"""m/s²: gravity for which contacts are designed where there is none."""
LEAST_RESTITUTION, MOST_LOST = 0.01, 2.0 - 1e-6
"""Bounds of e and −ln e for which damping is found; the second is that of critical damping."""
ONSET = 1.0
"""Depth at which the damping reaches half of its value, in depths at rest."""
STICKING = 0.25
"""Damping ratio of friction that sticks."""
SLOW_ONSET = 1e-3
"""Default Stribeck speed as a fraction of the design speed."""
RELAXING = 50.0
"""Time constant with which the spring of friction relaxes while nothing touches, in units of d/k."""
TINY = 1e-30
ROUNDS = 6
"""Number of Newton iterations for the damping ratio."""


class ContactLaw(NamedTuple):
    """Numbers of a contact, SI."""

    stiffness: Scalar
    damping: Scalar
    """N·s/m: b of the normal force."""
    onset: Scalar
    """m: p₀."""
    friction_damping: Scalar
    """N·s/m: d of friction."""
    friction: Scalar
    static_friction: Scalar
    stribeck_speed: Scalar


class Touch(NamedTuple):
    """Forces at one point, in the axes of a: `pressure` is the normal force, `friction` acts on b."""

    place: Vector3
    normal: Vector3
    pressure: Scalar
    friction: Vector3
    sliding: Vector3
    """m/s: velocity of b's material relative to a's across the normal."""
    stretch_rate: Vector3
    stored: Scalar
    lost: Scalar
    """Energy of the springs, J, and power that becomes heat, W."""


def design_law(
    given: ContactLaw, restitution: Scalar, mass: Scalar, size: Scalar, gravity: Scalar, together: int
) -> ContactLaw:
    """Return a law with defaults for all that is given as 0: the contact yields by a five hundredth of its size after
    a fall of its size. given : numbers of the document, with 0 for what the law derives; together : number of points
    that press together"""
    fallen = gravity if not is_zero(gravity) else STANDARD_GRAVITY
    speed = sqrt(2.0 * fallen * size)
    share = mass / together
    stiffness = _default(given.stiffness, share * (speed / (DESIGN_DEPTH * size)) ** 2)
    critical = 2.0 * sqrt(stiffness * share)
    return ContactLaw(
        stiffness,
        find_damping_ratio(restitution) * critical,
        ONSET * share * fallen / stiffness,
        STICKING * critical,
        given.friction,
        apply("fmax", given.static_friction, given.friction),
        _default(given.stribeck_speed, SLOW_ONSET * speed),
    )


def _default(given: Scalar, default: Scalar) -> Scalar:
    if isinstance(given, int | float):
        return given if given > 0.0 else default
    return apply("if_else", apply("gt", given, 0.0), given, default)


def find_damping_ratio(restitution: Scalar) -> Scalar:
    """Return ζ = cos α by Newton's method on 2 α cot α = −ln e, at most that of critical damping."""
    lost = apply("fmin", -apply("log", apply("fmin", apply("fmax", restitution, LEAST_RESTITUTION), 1.0)), MOST_LOST)
    alpha = 0.5 * math.pi * sqrt(1.0 - 0.5 * lost)
    for _ in range(ROUNDS):
        sine, cosine = apply("sin", alpha), apply("cos", alpha)
        value = 2.0 * alpha * cosine / sine - lost
        alpha = alpha - value * sine * sine / (2.0 * (cosine * sine - alpha))
    return apply("cos", alpha)


def touch(law: ContactLaw, gap: Scalar, place: Vector3, normal: Vector3, v: Vector3, stretch: Vector3 | None) -> Touch:
    """Return the forces at a point, all vectors in the axes of a. v : velocity of b's material at the point relative to
    a's; stretch : displacement of the spring of friction; None: there is no friction"""
    depth, rate = apply("fmax", -gap, 0.0), normal.dot(v)
    spring = law.stiffness * depth
    pressure = apply("fmax", spring - law.damping * rate * depth / (depth + law.onset), 0.0)
    sliding = v - normal.scaled(rate)
    stored, lost = 0.5 * spring * depth, (spring - pressure) * rate
    if stretch is None:
        return Touch(place, normal, pressure, ZERO, sliding, ZERO, stored, lost)
    across = stretch - normal.scaled(normal.dot(stretch))
    trial = across.scaled(law.stiffness) + sliding.scaled(law.friction_damping)
    size = sqrt(trial.dot(trial) + TINY)
    share = apply("fmin", 1.0, friction_coefficient(law, sliding) * pressure / size)
    excess = trial.scaled((1.0 - share) / law.friction_damping)
    off = (stretch - across).scaled(law.stiffness / law.friction_damping)
    relaxing = law.stiffness / (RELAXING * law.friction_damping)
    rates = [
        apply("if_else", apply("gt", gap, 0.0), -relaxing * s, moved)
        for s, moved in zip(stretch, sliding - excess - off, strict=True)
    ]
    held, moving = trial.scaled(share), Vector3(*rates)
    stored = stored + 0.5 * law.stiffness * stretch.dot(stretch)
    lost = lost + held.dot(sliding) - law.stiffness * stretch.dot(moving)
    return Touch(place, normal, pressure, -held, sliding, moving, stored, lost)


def friction_coefficient(law: ContactLaw, sliding: Vector3) -> Scalar:
    """Return the coefficient of friction, which falls from static to sliding friction as the speed grows."""
    if law.static_friction is law.friction or is_zero(law.static_friction - law.friction):
        return law.friction
    square = sliding.dot(sliding) / (law.stribeck_speed * law.stribeck_speed)
    return law.friction + (law.static_friction - law.friction) * apply("exp", -square)
