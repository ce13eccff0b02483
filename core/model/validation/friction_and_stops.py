"""Findings about dry friction and stops of joints that are meaningless or have no effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from core.joints import Free
from core.model.joints import LEVELS, Joint, Limit, friction_levels_by_direction
from core.model.units import format_with_unit
from core.model.validation.findings import Finding, Severity

AT_LIMIT = 1e-9
"""Distance (rad or m) within which a reference position counts as at a limit."""

Number = Callable[[Any], float]


def check(joint: Joint, number: Number, limits_act: bool) -> Iterator[Finding]:
    """Yield findings about the friction and stops of one joint. number : the value of a field, NaN if it has none"""
    yield from _check_friction(joint, number)
    yield from _check_reaction_friction(joint, number)
    for index, limit in enumerate(joint.limits):
        if joint.info.nq != joint.info.nv:
            yield _joint_finding(
                joint,
                "warning",
                f"The rotation of a {joint.kind} joint is a quaternion, which cannot have limits: no stop acts.",
                "Remove the limits, or build the joint of revolute ones.",
                "limits",
            )
            return
        yield from _check_stops(joint, limit)
        if limits_act and limit.stop != "off" and index < len(joint.info.coordinate_dimensions):
            yield from _check_starts_at_stop(joint, limit, index, number)


def _check_friction(joint: Joint, number: Number) -> Iterator[Finding]:
    directions = [tuple(map(number, levels)) for levels in friction_levels_by_direction(joint)]
    if number(joint.stribeck_speed) > 0.0 and all(static == kinetic for kinetic, static in directions):
        yield _joint_finding(
            joint,
            "hint",
            "The Stribeck speed has no effect because static and kinetic friction are equal.",
            "Give a larger static friction, or remove the speed.",
            "stribeck_speed",
        )
    backward = [field for field in LEVELS[2:] if getattr(joint, field) is not None]
    if backward and joint.info.nq != joint.info.nv:
        yield _joint_finding(
            joint,
            "warning",
            f"A {joint.kind} joint turns about any axis, so it has no backward direction: the forward friction is "
            "used.",
            "Remove it, or build the joint of revolute ones.",
            backward[0],
        )
    elif backward and joint.info.balls:
        words = " and ".join(joint.info.coordinates[k] for ball in joint.info.balls for k in ball)
        yield _joint_finding(
            joint,
            "hint",
            f"Friction along {words} is a vector without a backward direction: the forward friction is used.",
            "Keep it if it is meant for the other coordinates only; otherwise remove it.",
            backward[0],
        )
    if joint.info is Free and any(level > 0.0 for levels in directions for level in levels):
        yield _joint_finding(
            joint,
            "warning",
            "Friction in a free joint brakes a body in the air, where nothing touches it.",
            "Remove it, or connect the body to its contact partner by a joint or a damper.",
            "friction",
        )


def _check_reaction_friction(joint: Joint, number: Number) -> Iterator[Finding]:
    """Check friction that is proportional to the joint's own reaction."""
    if not joint.has_reaction_friction:
        return
    if joint.info.bearing == "none":
        text = (
            f"A {joint.kind} joint cannot have reaction-dependent friction: the load sharing of its bearings is not "
            "known."
        )
        remedy = "Give its friction as a number or a formula, or build it of revolute and prismatic joints."
        yield _joint_finding(joint, "error", text, remedy, "friction_coefficient")
        return
    turns = set(joint.info.speed_dimensions) == {"angular_velocity"}
    if turns and number(joint.bearing_radius) == 0.0 and not number(joint.thrust_radius) > 0.0:
        text = "Its friction coefficient has no effect: the bearing's radius is 0."
        yield _joint_finding(joint, "warning", text, "Give the radius of the pin.", "bearing_radius")


def _check_stops(joint: Joint, limit: Limit) -> Iterator[Finding]:
    spare = [field for field in ("stiffness", "damping") if getattr(limit, field) is not None]
    if limit.stop == "hunt_crossley" and limit.damping is not None:
        text = "The damping of a Hunt–Crossley stop follows from its restitution; the given damping has no effect."
        yield _joint_finding(joint, "hint", text, "Make it elastic, or remove the damping.", "limits")
    elif limit.stop == "rigid" and spare:
        yield _joint_finding(
            joint,
            "hint",
            f"A rigid stop has no {' and no '.join(spare)}.",
            "Make it elastic, or remove the unused values.",
            "limits",
        )
    elif limit.stop == "elastic" and limit.damping is not None and limit.restitution is not None:
        text = "The damping of its stop replaces the restitution, which has no effect."
        yield _joint_finding(joint, "hint", text, "Remove one of them.", "limits")


def _check_starts_at_stop(joint: Joint, limit: Limit, index: int, number: Number) -> Iterator[Finding]:
    """Report a stated reference position that lies at a stop."""
    rest = number(joint.rest[index]) if index < len(joint.rest) else float("nan")
    for which, bound in (("lower", number(limit.lower)), ("upper", number(limit.upper))):
        if abs(rest - bound) <= AT_LIMIT:
            measure = joint.info.coordinate_dimensions[index]
            yield _joint_finding(
                joint,
                "hint",
                f"It starts at its stop: the reference position is the {which} limit, "
                f"{format_with_unit(bound, measure)}.",
                "Keep it if it is meant to start there; otherwise move it inside, or disable the stop.",
                "rest",
            )


def _joint_finding(joint: Joint, severity: Severity, text: str, remedy: str, field: str) -> Finding:
    return Finding(severity, text, remedy, "joints", joint.name, field)
