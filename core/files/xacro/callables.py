"""Functions that Xacro expressions may call: a closed list, each with limits."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

from core.files.xacro.bounds import TooLargeError, check_integer_size, check_size
from core.files.xacro.operators import multiply
from core.files.xacro.values import AllowedFunction

MAX_FACTORIAL = 2_000
MAX_PLACES = 400
"""Decimal places to which numbers are rounded; no float has more."""


def _bounded_range(*arguments: Any) -> range:
    made = range(*arguments)
    try:
        check_size(len(made))
    except OverflowError:
        raise TooLargeError("the expression creates a range of too many numbers") from None
    return made


def _bounded_round(number: Any, *digits: Any, **keywords: Any) -> Any:
    if any(isinstance(n, int) and abs(n) > MAX_PLACES for n in (*digits, *keywords.values())):
        raise TooLargeError(f"the expression rounds to more than {MAX_PLACES} decimal places")
    return round(number, *digits, **keywords)


def _bounded_sum(parts: Iterable[Any], /, start: Any = 0) -> Any:
    """Return the sum of parts; numbers are summed by Python, which is more accurate than adding one by one."""
    known = list(parts)
    if all(isinstance(part, int | float | complex) for part in known):
        return sum(known, start)
    total = start
    for part in known:
        total = total + part
        check_size(len(total))
    return total


def _bounded_product(parts: Iterable[Any], /, *, start: Any = 1) -> Any:
    return functools.reduce(multiply, parts, start)


def _bounded_lcm(*numbers: Any) -> int:
    check_integer_size(sum(n.bit_length() for n in numbers if isinstance(n, int)))
    return math.lcm(*numbers)


def _limit_to_small_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    def checked_function(*numbers: Any) -> Any:
        if any(isinstance(n, int) and n > MAX_FACTORIAL for n in numbers):
            raise TooLargeError(f"the expression uses factorials or combinations above {MAX_FACTORIAL:,}")
        return function(*numbers)

    return checked_function


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

FUNCTIONS: dict[str, AllowedFunction] = {
    **{function.__name__: AllowedFunction(function.__name__, function) for function in _PLAIN},
    "range": AllowedFunction("range", _bounded_range),
    "round": AllowedFunction("round", _bounded_round),
    "sum": AllowedFunction("sum", _bounded_sum),
    "isinstance": AllowedFunction("isinstance", isinstance),
    "issubclass": AllowedFunction("issubclass", issubclass),
    "type": AllowedFunction("type", _type_of),
}

_MATHEMATICS = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh degrees dist erf erfc exp exp2
expm1 fabs floor fma fmod frexp fsum gamma gcd hypot isclose isfinite isinf isnan isqrt ldexp lgamma log log10 log1p
log2 modf nextafter pow radians remainder sin sinh sqrt sumprod tan tanh trunc ulp"""

MATHEMATICS: dict[str, Any] = {
    **{name: AllowedFunction(name, getattr(math, name)) for name in _MATHEMATICS.split() if hasattr(math, name)},
    **{name: getattr(math, name) for name in ("e", "inf", "nan", "pi", "tau")},
    **{
        name: AllowedFunction(name, _limit_to_small_numbers(getattr(math, name)))
        for name in ("comb", "factorial", "perm")
    },
    "lcm": AllowedFunction("lcm", _bounded_lcm),
    "prod": AllowedFunction("prod", _bounded_product),
}
