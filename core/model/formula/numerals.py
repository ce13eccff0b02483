"""Numbers as users write them: without rounding error, with a true minus sign, with powers of ten instead of e
notation."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PLAIN, _HIGH = "-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED, _LEVEL = str.maketrans(_PLAIN, _HIGH), str.maketrans(_HIGH, _PLAIN)
_POWER = re.compile(rf"(?<![\d.])(?:(\d++(?:\.\d*+)?)·)?10([{_HIGH}]++)")


def without_noise(value: float) -> float:
    """Return a measured number rounded to 1e-9."""
    return round(float(value), 9) + 0.0  # −0 is 0


def vector_without_noise(values: Iterable[float]) -> tuple[float, float, float]:
    """Return a measured position (m) or direction (3,), rounded to 1e-9."""
    x, y, z = map(without_noise, values)
    return x, y, z


def level(text: str) -> str:
    """Convert superscript digits to ordinary ones: "⁻⁵" → "-5"."""
    return text.translate(_LEVEL)


def readable(text: str) -> str:
    """Return a number formatted by Python in readable form: "-5.4e-05" → "−5.4·10⁻⁵", "1e+07" → "10⁷", "-2.5" →
    "−2.5"."""
    digits, _, exponent = text.partition("e")
    if exponent and exponent.lstrip("+-").isdigit():
        if not digits.strip("-0."):
            return "0"
        power = f"10{str(int(exponent)).translate(_RAISED)}" if int(exponent) else ""
        one = {"1": "", "-1": "−"}.get(digits) if power else None
        digits = one if one is not None else digits + ("·" if power else "")
        return digits.replace("-", "−") + power
    return text.replace("-", "−")


def typed(text: str) -> str:
    """Return the text with every number written by `readable` in machine-readable form: "−5.4·10⁻⁵" → "-5.4e-5"."""
    plain = _POWER.sub(lambda match: f"{match[1] or '1'}e{level(match[2])}", text)
    return plain.replace("−", "-")
