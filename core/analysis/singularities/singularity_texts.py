"""Sentences on singularities."""

from __future__ import annotations

import math

STRETCHED = {"elbow": ("stretched", "folded"), "wrist": ("aligned", "folded back")}
"""Part of an arm → its state at its two borders."""
AT = 1e-6
"""Distance (rad, m) up to which a position is at the singularity."""


def distance_text(distance: float, dimension: str) -> str:
    """Distance in ° or mm."""
    return f"{math.degrees(distance):.3g}°" if dimension == "angle" else f"{distance * 1e3:.3g} mm"


def part_text(part: str, distance: float, dimension: str, is_far: bool, centre: str) -> str:
    """Sentence on a named part of an arm. centre : words for the point that belongs to the shoulder"""
    if part == "shoulder":
        place = "the plane through axis 1 along axis 2"
        if distance < AT:
            return f"Shoulder: {centre} is in {place}."
        return f"Shoulder: {centre} is {distance_text(distance, dimension)} from {place}."
    state = STRETCHED[part][is_far] if part in STRETCHED else "at the border of its two solutions"
    name = part.capitalize() if part in STRETCHED else part
    return f"{name} {state}." if distance < AT else f"{name} {state} in {distance_text(distance, dimension)}."


def general_text(kind: str, joints: tuple[str, ...], distance: float, dimension: str, coordinate: str) -> str:
    """Sentence on a singularity without a name."""
    moving = ", ".join(joints)
    what = {
        "type 1": f"{moving} move while the frame is at rest",
        "type 2": f"{moving} move though all actuators are held",
        "type 3": f"{moving} move though all actuators are held, and the frame loses a direction",
        "constraints": f"branches of the loops meet, which {moving} can leave either way",
    }[kind]
    if distance < AT:
        return f"Singular: {what}."
    return f"Singular in {distance_text(distance, dimension)} of {coordinate}: {what}."
