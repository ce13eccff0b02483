"""Numbers in the form users write: without rounding errors, with a true minus sign, with powers of ten instead of e
notation."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PLAIN, _HIGH = "-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED, _LEVEL = str.maketrans(_PLAIN, _HIGH), str.maketrans(_HIGH, _PLAIN)
_POWER = re.compile(rf"(?<![\d.])(?:(\d++(?:\.\d*+)?)·)?10([{_HIGH}]++)")


def round_measured_number(value: float) -> float:
    """Return a measured number rounded to 1e-9."""
    return round(float(value), 9) + 0.0  # −0 is 0


def round_measured_vector(values: Iterable[float]) -> tuple[float, float, float]:
    """Return a measured position (m) or direction (3,), rounded to 1e-9."""
    x, y, z = map(round_measured_number, values)
    return x, y, z


def superscripts_to_digits(text: str) -> str:
    """Convert superscript digits to normal ones: "⁻⁵" → "-5"."""
    return text.translate(_LEVEL)


def format_readable(text: str) -> str:
    """Format a number printed by Python for reading: "-5.4e-05" → "−5.4·10⁻⁵", "1e+07" → "10⁷", "-2.5" → "−2.5"."""
    digits, _, exponent = text.partition("e")
    if exponent and exponent.lstrip("+-").isdigit():
        if not digits.strip("-0."):
            return "0"
        power = f"10{str(int(exponent)).translate(_RAISED)}" if int(exponent) else ""
        one = {"1": "", "-1": "−"}.get(digits) if power else None
        digits = one if one is not None else digits + ("·" if power else "")
        return digits.replace("-", "−") + power
    return text.replace("-", "−")


def readable_to_input(text: str) -> str:
    """Convert every number formatted by `format_readable` back to input notation: "−5.4·10⁻⁵" → "-5.4e-5"."""
    plain = _POWER.sub(lambda match: f"{match[1] or '1'}e{superscripts_to_digits(match[2])}", text)
    return plain.replace("−", "-")
