"""Dry friction of a joint as a function of its speed: Stribeck curve from the static to the kinetic level
(Armstrong-Hélouvry, Dupont and Canudas de Wit, Automatica 30, 1994)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from core.model import Force, Joint
from core.model.formula.expression import names_in_formula, parse
from core.model.joints import LEVELS, friction_levels_by_direction
from core.numerics.spatial.scalar import Scalar, apply, is_zero, minus, negated, over, plus, sqrt, times

SMALLEST = 1e-24
"""Squared speed (rad/s or m/s) that keeps the Stribeck curve finite where the Stribeck speed is zero."""
NOTHING = 1e-60
"""Squared speed that keeps the direction of a vanishing velocity vector finite."""


class DryFriction(NamedTuple):
    """Kinetic and static friction levels, N·m or N, for forward and backward motion, and the Stribeck speed (rad/s or
    m/s) over which the static level falls to the kinetic one; 0: at once. Levels of brakes and clutches may be formulas
    (`core.mechanics.elements.force_state.Term`)."""

    kinetic: Scalar = 0.0
    static: Scalar = 0.0
    backward_kinetic: Scalar = 0.0
    backward_static: Scalar = 0.0
    stribeck: Scalar = 0.0

    @property
    def levels(self) -> tuple[Scalar, Scalar, Scalar, Scalar]:
        """Return all four levels, in the order of `core.model.joints.LEVELS`."""
        return self[:4]

    @property
    def has_friction(self) -> bool:
        """Return True if any friction level is not zero."""
        sliding = is_zero(self.kinetic) and is_zero(self.backward_kinetic)
        resting = is_zero(self.static) and is_zero(self.backward_static)
        return not (sliding and (resting or is_zero(self.stribeck)))

    @property
    def is_symmetric(self) -> bool:
        """Return True if friction is the same in both directions, as far as the levels show."""
        return self.backward_kinetic is self.kinetic and self.backward_static is self.static


NO_FRICTION = DryFriction()


def friction_of(element: Joint | Force, read: Callable[[Any, str], Scalar], where: str) -> DryFriction:
    """Read the dry friction of a joint or a clutch."""
    given = [value for direction in friction_levels_by_direction(element) for value in direction]
    known: dict[int, Scalar] = {}
    for name, value in zip(LEVELS, given, strict=True):
        if id(value) not in known:
            known[id(value)] = read(value, f"{where}, {name}")
    kinetic, static, backward, at_rest = (known[id(value)] for value in given)
    return DryFriction(kinetic, static, backward, at_rest, read(element.stribeck_speed, f"{where}, stribeck_speed"))


def owner_name(element: Joint | Force) -> str:
    """Return the name of the element that has friction, for use in messages."""
    return f"{'joint' if isinstance(element, Joint) else 'force'} '{element.name}'"


def is_controlled(element: Joint | Force, constant: Collection[str]) -> bool:
    """Return True if the friction levels vary: as formulas of names that are not constant (brakes and clutches), or
    because they grow with the joint's reaction."""
    if isinstance(element, Joint) and element.has_reaction_friction:
        return True
    levels = element.friction_levels
    return any(isinstance(level, str) and not names_in_formula(parse(level)) <= set(constant) for level in levels)


def stribeck_friction(kinetic: Scalar, static: Scalar, stribeck: Scalar, speed: Scalar) -> Scalar:
    """Return the friction level at a nonzero speed."""
    if is_zero(stribeck) or static is kinetic:
        return kinetic
    square = plus(times(stribeck, stribeck), SMALLEST)
    fall = apply("exp", negated(over(times(speed, speed), square)))
    return plus(kinetic, times(minus(static, kinetic), fall))


def friction_force(friction: DryFriction, speed: Scalar) -> Scalar:
    """Return the friction force on a coordinate, positive against its growth; zero at rest, where static friction
    balances the load."""
    if not friction.has_friction:
        return 0.0
    sign, stribeck = apply("sign", speed), friction.stribeck
    onward = stribeck_friction(friction.kinetic, friction.static, stribeck, speed)
    if friction.is_symmetric:
        return times(onward, sign)
    backward = stribeck_friction(friction.backward_kinetic, friction.backward_static, stribeck, speed)
    mean = times(0.5, plus(onward, backward))
    return plus(times(mean, sign), times(times(0.5, minus(onward, backward)), times(sign, sign)))


def vector_friction_force(friction: DryFriction, speeds: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Return the friction forces along coordinates whose speeds are components of one vector: opposite to that vector;
    zero at rest. The levels for forward motion apply."""
    if not friction.has_friction:
        return (0.0,) * len(speeds)
    square: Scalar = 0.0
    for speed in speeds:
        square = plus(square, times(speed, speed))
    size = sqrt(plus(square, NOTHING))
    force = stribeck_friction(friction.kinetic, friction.static, friction.stribeck, size)
    part = times(apply("sign", square), over(force, size))
    return tuple(times(part, speed) for speed in speeds)
