"""Angles in what the kernel says, in the unit the person prefers: it speaks in radians, sometimes in both."""

from __future__ import annotations

import math
import re

_SPOKEN = re.compile(
    r"(?P<radians>[-+\N{MINUS SIGN}]?\d+(?:\.\d*)?(?:e[-+]?\d+)?) rad(?P<rate>/s²?)?"
    r"(?P<both> \([^()]*°[^()]*\))?(?![\w·/])"
)
"""A number of radians, as "0.5 rad", "2 rad/s", "0.5 rad (28.65°)"."""


def in_preferred_angles(text: str, degrees: bool) -> str:
    """The text with its angles in degrees, or in radians alone."""

    def said(found: re.Match[str]) -> str:
        rate = found["rate"] or ""
        if not degrees:
            return f"{found['radians']} rad{rate}"
        value = math.degrees(float(found["radians"].replace("\N{MINUS SIGN}", "-")))
        return f"{value:.4g}°{rate}"

    return _SPOKEN.sub(said, text)
