"""Functions that Xacro expressions may call: a closed list, each with limits."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

from core.files.xacro.bounds import TooLargeError, require_bits, require_size
from core.files.xacro.operators import times
from core.files.xacro.values import Function

MAX_FACTORIAL = 2_000
MAX_PLACES = 400
"""Decimal places to which numbers are rounded; no float has more."""


def _bounded_range(*arguments: Any) -> range:
    made = range(*arguments)
    try:
        require_size(len(made))
    except OverflowError:
        raise TooLargeError("it creates a range of too many numbers") from None
    return made


def _bounded_round(number: Any, *places: Any, **named: Any) -> Any:
    if any(isinstance(n, int) and abs(n) > MAX_PLACES for n in (*places, *named.values())):
        raise TooLargeError(f"it rounds to more than {MAX_PLACES} places")
    return round(number, *places, **named)


def _bounded_sum(parts: Iterable[Any], /, start: Any = 0) -> Any:
    """Return the sum of parts; numbers are summed by Python, which is more accurate than adding one by one."""
    known = list(parts)
    if all(isinstance(part, int | float | complex) for part in known):
        return sum(known, start)
    total = start
    for part in known:
        total = total + part
        require_size(len(total))
    return total


def _bounded_product(parts: Iterable[Any], /, *, start: Any = 1) -> Any:
    return functools.reduce(times, parts, start)


def _bounded_lcm(*numbers: Any) -> int:
    require_bits(sum(n.bit_length() for n in numbers if isinstance(n, int)))
    return math.lcm(*numbers)


def _for_small_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    def of_small_numbers(*numbers: Any) -> Any:
        if any(isinstance(n, int) and n > MAX_FACTORIAL for n in numbers):
            raise TooLargeError(f"it computes factorials or combinations of numbers above {MAX_FACTORIAL:,}")
        return function(*numbers)

    return of_small_numbers


def _type_of(value: Any) -> type:
    return type(value)


TYPES: dict[str, type] = {
    kind.__name__: kind for kind in (bool, complex, dict, float, frozenset, int, list, set, str, tuple)
}
"""Types that `isinstance` may test and expressions may call."""

_PLAIN: tuple[Callable[..., Any], ...] = (
    abs,
    all,
    any,
    divmod,
    enumerate,
    filter,
    hash,
    len,
    map,
    max,
    min,
    ord,
    repr,
    reversed,
    slice,
    sorted,
    zip,
)

FUNCTIONS: dict[str, Function] = {
    **{function.__name__: Function(function.__name__, function) for function in _PLAIN},
    "range": Function("range", _bounded_range),
    "round": Function("round", _bounded_round),
    "sum": Function("sum", _bounded_sum),
    "isinstance": Function("isinstance", isinstance),
    "issubclass": Function("issubclass", issubclass),
    "type": Function("type", _type_of),
}

_MATHEMATICS = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh degrees dist erf erfc exp exp2
expm1 fabs floor fma fmod frexp fsum gamma gcd hypot isclose isfinite isinf isnan isqrt ldexp lgamma log log10 log1p
log2 modf nextafter pow radians remainder sin sinh sqrt sumprod tan tanh trunc ulp"""

MATHEMATICS: dict[str, Any] = {
    **{name: Function(name, getattr(math, name)) for name in _MATHEMATICS.split() if hasattr(math, name)},
    **{name: getattr(math, name) for name in ("e", "inf", "nan", "pi", "tau")},
    **{name: Function(name, _for_small_numbers(getattr(math, name))) for name in ("comb", "factorial", "perm")},
    "lcm": Function("lcm", _bounded_lcm),
    "prod": Function("prod", _bounded_product),
}
