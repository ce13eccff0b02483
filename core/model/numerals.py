"""Numbers as people write them: a true minus sign, and powers of ten instead of the computer's e."""

from __future__ import annotations

import re

_PLAIN, _HIGH = "-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED, _LEVEL = str.maketrans(_PLAIN, _HIGH), str.maketrans(_HIGH, _PLAIN)
_POWER = re.compile(rf"(?:(\d+(?:\.\d*)?)·)?(?<![\d.])10([{_HIGH}]+)")


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
