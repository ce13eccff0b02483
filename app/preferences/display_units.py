"""Convert angles in messages of the kernel to the user's preferred unit; the kernel writes radians, sometimes both
units."""

from __future__ import annotations

import dataclasses
import math
import re

from core.model import Finding

_IN_DISPLAY_UNITS = re.compile(
    r"(?P<radians>[-+\N{MINUS SIGN}]?\d+(?:\.\d*)?(?:e[-+]?\d+)?) rad(?P<rate>/s²?)?"
    r"(?P<both> \([^()]*°[^()]*\))?(?![\w·/])"
)
"""Pattern of a number in radians, such as "0.5 rad", "2 rad/s", "0.5 rad (28.65°)"."""


def in_preferred_angles(text: str, degrees: bool) -> str:
    """Return the text with its angles in degrees, or in radians only."""

    def said(found: re.Match[str]) -> str:
        rate = found["rate"] or ""
        if not degrees:
            return f"{found['radians']} rad{rate}"
        value = math.degrees(float(found["radians"].replace("\N{MINUS SIGN}", "-")))
        return f"{value:.4g}°{rate}"

    return _IN_DISPLAY_UNITS.sub(said, text)


def finding_in_preferred_angles(finding: Finding, degrees: bool) -> Finding:
    """Return the finding with its angles in degrees, or in radians only."""
    text, remedy = (in_preferred_angles(each, degrees) for each in (finding.text, finding.remedy))
    return finding if text == finding.text else dataclasses.replace(finding, text=text, remedy=remedy)
