"""Numbers as people write them: without the noise of computing, with a true minus sign, with powers of ten instead of
the computer's e."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PLAIN, _HIGH = "-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED, _LEVEL = str.maketrans(_PLAIN, _HIGH), str.maketrans(_HIGH, _PLAIN)
_POWER = re.compile(rf"(?<![\d.])(?:(\d++(?:\.\d*+)?)·)?+10([{_HIGH}]++)")


def without_noise(value: float) -> float:
    """A measured number as a person would write it, to 1e-9."""
    return round(float(value), 9) + 0.0  # −0 is 0


def vector_without_noise(values: Iterable[float]) -> tuple[float, float, float]:
    """(3,) a measured place (m) or direction, each to 1e-9."""
    x, y, z = map(without_noise, values)
    return x, y, z


def level(text: str) -> str:
    """Raised digits as ordinary ones: "⁻⁵" → "-5"."""
    return text.translate(_LEVEL)


def readable(text: str) -> str:
    """A number that was formatted by Python, to be read: "-5.4e-05" → "−5.4·10⁻⁵", "1e+07" → "10⁷", "-2.5" → "−2.5"."""
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
    """The text with every number that `readable` wrote as a computer reads it: "−5.4·10⁻⁵" → "-5.4e-5"."""
    plain = _POWER.sub(lambda match: f"{match[1] or '1'}e{level(match[2])}", text)
    return plain.replace("−", "-")
