"""Configurations as makers of robots write them: turn bits, quadrants, letters.

All go by the angles of the six axes with the maker's zeros and signs, which are those of the model if it was made so;
the letters by the names of the configuration alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from core.errors import ModelError
from core.mechanism.inverse_kinematics_results import Configuration

ZERO = 1e-9
"""Angle (rad) below zero up to which an axis counts as at zero."""
_LETTERS = {
    "wrist": {"no flip": "N", "flip": "F"},
    "elbow": {"up": "U", "down": "D"},
    "shoulder": {"front": "T", "rear": "B"},
}


def turn_bits(angles: Sequence[float], configuration: Configuration | None = None) -> str:
    """Turn of KUKA's positions, binary: bit k − 1 is 1 where axis k is below zero. The last axis is the first digit."""
    return "".join("1" if angle < -ZERO else "0" for angle in reversed(_six(angles)))


def quadrants(angles: Sequence[float], configuration: Configuration | None = None) -> str:
    """Quadrants cf1, cf4, cf6 of ABB's robot positions: 0 from 0° to 90°, 1 up to 180°, −1 from 0° down to −90°."""
    six = _six(angles)
    return ", ".join(str(math.floor((six[k] + ZERO) / (0.5 * math.pi))) for k in (0, 3, 5))


def letters(angles: Sequence[float], configuration: Configuration | None) -> str:
    """Letters of FANUC's positions: N or F (no flip, flip), U or D (up, down), T or B (front, rear)."""
    names = {} if configuration is None else dict(configuration.parts)
    if not all(names.get(part) in table for part, table in _LETTERS.items()):
        raise ModelError(
            "The configuration has no shoulder, elbow and wrist.",
            where="configuration",
            remedy="Ask for the letters of arms with a named configuration of these parts only.",
        )
    return " ".join(table[names[part]] for part, table in _LETTERS.items())


FORMATS: dict[str, Callable[[Sequence[float], Configuration | None], str]] = {
    "turn bits": turn_bits,
    "quadrants": quadrants,
    "letters": letters,
}


def format_configuration(style: str, angles: Sequence[float], configuration: Configuration | None = None) -> str:
    """Text of a configuration in a maker's style, for the angles of six axes (rad)."""
    if style not in FORMATS:
        raise ModelError(f"There is no style '{style}'.", where="style", remedy=f"Known: {', '.join(FORMATS)}.")
    return FORMATS[style](angles, configuration)


def _six(angles: Sequence[float]) -> tuple[float, ...]:
    found = tuple(float(angle) for angle in angles)
    if len(found) != 6 or not all(map(math.isfinite, found)):
        raise ModelError("Six finite angles are needed, one for each axis.", where="angles")
    return found
