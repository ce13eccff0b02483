"""Dual numbers over any scalars: a value with its exact rate along one direction.

f(x + ε ẋ) = f(x) + ε f′(x) ẋ, ε² = 0. What is written over abstract scalars gives its derivative when it is read over
these. Their parts may be dual numbers of a lower level themselves, which gives second derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from core.numerics.spatial import scalar
from core.numerics.spatial.scalar import Scalar, apply, cos, minus, negated, over, plus, sin, sqrt, times


class Dual:
    """Dual number: a `value` and its `rate`. Dual numbers of a lower `level` are constants to those of a higher
    level."""

    __slots__ = ("level", "rate", "value")
    __array_ufunc__ = None
    """Makes NumPy defer operations with dual numbers to this class."""

    def __init__(self, value: Scalar, rate: Scalar, level: int) -> None:
        self.value, self.rate, self.level = value, rate, level

    def __add__(self, other: Scalar) -> Scalar:
        return _plus(self, other)

    def __radd__(self, other: Scalar) -> Scalar:
        return _plus(other, self)

    def __sub__(self, other: Scalar) -> Scalar:
        return _minus(self, other)

    def __rsub__(self, other: Scalar) -> Scalar:
        return _minus(other, self)

    def __mul__(self, other: Scalar) -> Scalar:
        return _times(self, other)

    def __rmul__(self, other: Scalar) -> Scalar:
        return _times(other, self)

    def __truediv__(self, other: Scalar) -> Scalar:
        return _over(self, other)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return _over(other, self)

    def __neg__(self) -> Scalar:
        return _dual_number(negated(self.value), negated(self.rate), self.level)

    def __pos__(self) -> Dual:
        return self

    def __pow__(self, exponent: Any) -> Scalar:
        """Raise to an integer or real power; x² and x³ are computed as products."""
        if not isinstance(exponent, int | float):
            return apply("exp", times(exponent, apply("log", self)))
        if exponent == 0:
            return 1.0
        if float(exponent).is_integer() and exponent > 0:
            lower = self ** (exponent - 1)
            return times(self, lower)
        return _dual_number(
            self.value**exponent, times(times(float(exponent), self.value ** (exponent - 1)), self.rate), self.level
        )

    def __rpow__(self, base: float) -> Scalar:
        return apply("exp", times(self, math.log(base)))


def _dual_number(value: Scalar, rate: Scalar, level: int) -> Scalar:
    """Return a dual number, or the literal itself where the value is a literal and the rate is zero."""
    return value if type(value) is float and scalar.is_zero(rate) else Dual(value, rate, level)


def value_at_level(x: Scalar, level: int) -> Scalar:
    """Return the value of a scalar at a level."""
    return x.value if isinstance(x, Dual) and x.level == level else x


def rate_at_level(x: Scalar, level: int) -> Scalar:
    """Return the rate of a scalar at a level; zero for a constant."""
    return x.rate if isinstance(x, Dual) and x.level == level else 0.0


def _highest_level(*arguments: Scalar) -> int:
    return max(x.level for x in arguments if isinstance(x, Dual))


def _plus(a: Scalar, b: Scalar) -> Scalar:
    level = _highest_level(a, b)
    return _dual_number(
        plus(value_at_level(a, level), value_at_level(b, level)),
        plus(rate_at_level(a, level), rate_at_level(b, level)),
        level,
    )


def _minus(a: Scalar, b: Scalar) -> Scalar:
    level = _highest_level(a, b)
    return _dual_number(
        minus(value_at_level(a, level), value_at_level(b, level)),
        minus(rate_at_level(a, level), rate_at_level(b, level)),
        level,
    )


def _times(a: Scalar, b: Scalar) -> Scalar:
    level = _highest_level(a, b)
    x, y = value_at_level(a, level), value_at_level(b, level)
    return _dual_number(times(x, y), plus(times(rate_at_level(a, level), y), times(x, rate_at_level(b, level))), level)


def _over(a: Scalar, b: Scalar) -> Scalar:
    level = _highest_level(a, b)
    x, y = value_at_level(a, level), value_at_level(b, level)
    quotient = over(x, y)
    return _dual_number(
        quotient, over(minus(rate_at_level(a, level), times(quotient, rate_at_level(b, level))), y), level
    )


def _square(x: Scalar) -> Scalar:
    return times(x, x)


_SLOPES: dict[str, Callable[[Scalar], Scalar]] = {
    "sin": cos,
    "cos": lambda x: negated(sin(x)),
    "tan": lambda x: over(1.0, _square(cos(x))),
    "asin": lambda x: over(1.0, sqrt(minus(1.0, _square(x)))),
    "acos": lambda x: over(-1.0, sqrt(minus(1.0, _square(x)))),
    "atan": lambda x: over(1.0, plus(1.0, _square(x))),
    "sinh": lambda x: apply("cosh", x),
    "cosh": lambda x: apply("sinh", x),
    "tanh": lambda x: over(1.0, _square(apply("cosh", x))),
    "sqrt": lambda x: over(0.5, sqrt(x)),
    "exp": lambda x: apply("exp", x),
    "log": lambda x: over(1.0, x),
    "fabs": lambda x: apply("sign", x),
}
"""Derivatives f′ of the elementary functions of one argument."""
_STEPS = {"sign", "floor", "ceil", "step", "lt", "le", "gt", "ge", "eq", "ne", "logic_and", "logic_or", "logic_not"}
"""Piecewise constant functions, whose derivative is zero."""


def _elementary_function(name: str, *arguments: Scalar) -> Scalar:
    """Evaluate an elementary function of dual numbers."""
    level = _highest_level(*arguments)
    values, rates = [value_at_level(x, level) for x in arguments], [rate_at_level(x, level) for x in arguments]
    value = apply(name, *values)
    if name in _STEPS:
        return value
    if name in _SLOPES:
        return _dual_number(value, times(_SLOPES[name](values[0]), rates[0]), level)
    if name == "atan2":
        y, x = values
        turned = minus(times(x, rates[0]), times(y, rates[1]))
        return _dual_number(value, over(turned, plus(_square(x), _square(y))), level)
    if name in ("fmin", "fmax"):
        first = apply("le" if name == "fmin" else "ge", *values)
        return _dual_number(value, apply("if_else", first, *rates), level)
    if name == "if_else":
        return _dual_number(value, apply("if_else", values[0], *rates[1:]), level)
    raise TypeError(f"'{name}' has no derivative rule for dual numbers.")


scalar.register_functions(Dual, _elementary_function)
scalar.register(Dual, scalar.Arithmetic(_plus, _minus, _times, _over, lambda a: -a))
