"""Exact polynomials in parameters, coordinates and the sines and cosines of angles, used as scalars in mechanics.

Every result of the recursions of `core.mechanics` is a polynomial in parameters, sliding coordinates and the pairs
(sin θ, cos θ). In this ring, reduced by sin² θ + cos² θ = 1, the form of an element is unique: equal results have
equal forms, and what cancels is gone. The arithmetic is FLINT's (fmpq_mpoly); degrees and monomials are in the
order: sines, cosines, then the plain symbols.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import flint
from flint.utils.flint_exceptions import DomainError

from core.errors import ModelError
from core.model.formula.nodes import COMPARISONS, FUNCTIONS, LOGIC
from core.numerics.spatial import scalar

LARGEST_DENOMINATOR = 10_000
CLOSE = 1e-12
"""Relative difference within which a float is replaced by a fraction with a small denominator: 0.1 + 0.2 becomes 3/10.
"""
DIGITS = 13
"""Number of significant digits up to which a float is taken for a decimal number typed by the user."""
ROUNDING = 4.0 * 2.0**-52
"""Relative rounding error of products and sums of typed numbers: 4.25 · 0.6447 is 2.739975, not 2.7399750000000003."""
ROOTS = {2: "sqrt(2)", 3: "sqrt(3)"}
"""Square roots kept exact, needed for sines of multiples of 30° and 45°."""


def exact_fraction(x: float) -> Fraction:
    """Return the fraction that a float represents according to its decimal digits."""
    written = float(f"{x:.{DIGITS}g}")
    if abs(written - x) <= ROUNDING * abs(x):
        return Fraction(repr(written))
    near = Fraction(x).limit_denominator(LARGEST_DENOMINATOR)
    return near if abs(float(near) - x) <= CLOSE * abs(x) else Fraction(repr(x))


class Ring:
    """Polynomial ring over the symbols, with sin² + cos² = 1 and the squares of roots as relations.

    angles : symbols whose sine and cosine occur; plain : all others (and angles that also occur by themselves)
    """

    def __init__(self, angles: Iterable[str], plain: Iterable[str]) -> None:
        self.angles = tuple(angles)
        self.plain = (*plain, *ROOTS.values())
        names = [f"sin({a})" for a in self.angles] + [f"cos({a})" for a in self.angles] + list(self.plain)
        self.context = flint.fmpq_mpoly_ctx.get(tuple(f"x{i}" for i in range(len(names))), flint.Ordering.degrevlex)
        gens = self.context.gens()
        n = len(self.angles)
        self.sines, self.cosines = gens[:n], gens[n : 2 * n]
        self._plain = dict(zip(self.plain, gens[2 * n :], strict=True))
        self._relations = [
            (i, 2, s * s + c * c - 1) for i, (s, c) in enumerate(zip(self.sines, self.cosines, strict=True))
        ]
        first = 2 * n + len(self.plain) - len(ROOTS)
        for k, square in enumerate(ROOTS):
            root = gens[first + k]
            self._relations.append((first + k, 2, root * root - square))
        self._numbers: dict[float, Any] = {}
        self._angle_index = {name: i for i, name in enumerate(self.angles)}

    def symbol(self, name: str) -> RingElement:
        """Return the element for a plain symbol, or for an angle itself."""
        return RingElement(self, self._plain[name])

    def to_exact_number(self, x: Any) -> Any:
        """Convert a float or fraction to an exact number."""
        if isinstance(x, Fraction):
            return flint.fmpq(x.numerator, x.denominator)
        found = self._numbers.get(x)
        if found is None:
            value = exact_fraction(float(x))
            found = self._numbers[x] = flint.fmpq(value.numerator, value.denominator)
        return found

    def to_element(self, x: Any) -> RingElement:
        """Convert a number to an element."""
        return RingElement(self, self.context.constant(self.to_exact_number(x)))

    def reduce(self, polynomial: Any) -> Any:
        """Reduce a polynomial to its unique form, by replacing squares of sines and roots."""
        degrees = polynomial.degrees()
        for index, power, relation in self._relations:
            if degrees[index] >= power:
                polynomial = divmod(polynomial, relation)[1]
        return polynomial

    def as_scalar(self, polynomial: Any) -> scalar.Scalar:
        """Return a polynomial as an element, or as a float if it is a constant that a float represents exactly; zeros
        and ones then disappear in later operations."""
        if polynomial.is_constant():
            value = _constant_value(polynomial)
            if float(value) == value:
                return float(value)
        return RingElement(self, polynomial)

    def quotient_element(self, numerator: RingElement, denominator: RingElement) -> RingElement:
        """Raise ModelError for a quotient of two elements that is not a polynomial."""
        raise ModelError(
            f"A quotient by '{denominator}' is not a polynomial.",
            where="symbolic",
            remedy="Give the divisor a value, or define a parameter for the quotient.",
        )

    # ------------------------------------------------------------------------------- sines and cosines

    def sin_cos(self, x: RingElement) -> tuple[scalar.Scalar, scalar.Scalar]:
        """Return the sine and cosine of an integer combination of angles plus a constant.

        Raises ModelError for any other argument.
        """
        sine, cosine = self._sin_cos_of_constant(x)
        for (name, times), index in (
            (pair, self._angle_index.get(pair[0])) for pair in self._linear_coefficients(x).items()
        ):
            if index is None or times.denominator != 1:
                raise ModelError(
                    f"The sine of '{times}·{name}' cannot be written exactly.",
                    where="symbolic",
                    remedy="Use only integer multiples of angles in rotations.",
                )
            s1, c1 = self.sines[index], self.cosines[index]
            if times < 0:
                s1 = -s1
            for _ in range(abs(int(times))):
                sine, cosine = self.reduce(sine * c1 + cosine * s1), self.reduce(cosine * c1 - sine * s1)
        return self.as_scalar(sine), self.as_scalar(cosine)

    def _linear_coefficients(self, x: RingElement) -> dict[str, Fraction]:
        """Return the coefficients of the plain symbols in a linear polynomial, without its constant."""
        first = 2 * len(self.angles)
        factors: dict[str, Fraction] = {}
        for powers, coefficient in x.polynomial.terms():
            if sum(powers) > 1 or any(powers[:first]):
                raise ModelError(
                    f"The sine of '{x}' cannot be written exactly.",
                    where="symbolic",
                    remedy="Use only sums of angles in rotations.",
                )
            if any(powers):
                factors[self.plain[powers.index(1) - first]] = Fraction(int(coefficient.p), int(coefficient.q))
        return factors

    def _sin_cos_of_constant(self, x: RingElement) -> tuple[Any, Any]:
        """Return sine and cosine of the constant part, exact for multiples of 30° and 45°."""
        constant = x.polynomial[(0,) * self.context.nvars()]
        value = float(Fraction(int(constant.p), int(constant.q)))
        return tuple(self._exact_sine(angle) for angle in (value, value + 0.5 * math.pi))

    def _exact_sine(self, angle: float) -> Any:
        twelfths = 12.0 * angle / math.pi
        if abs(twelfths - round(twelfths)) < 1e-9:
            sign, rest = _sine_in_first_quadrant(round(twelfths))
            half = {0: (0, 0), 2: (1, 0), 3: (1, 2), 4: (1, 3), 6: (2, 0)}.get(rest)
            if half is not None:
                factor, root = half
                value = self.context.constant(flint.fmpq(sign * factor, 2))
                return value * self._plain[ROOTS[root]] if root else value
        return self.context.constant(self.to_exact_number(math.sin(angle)))


def _sine_in_first_quadrant(twelfths: int) -> tuple[int, int]:
    """Return (sign, n) with sin(twelfths · 15°) = sign · sin(n · 15°), 0 ≤ n ≤ 6."""
    n = twelfths % 24
    sign = 1 if n <= 12 else -1
    n = n if n <= 12 else n - 12
    return sign, min(n, 12 - n)


def _constant_value(polynomial: Any) -> Fraction:
    for _, coefficient in polynomial.terms():
        return Fraction(int(coefficient.p), int(coefficient.q))
    return Fraction(0)


class RingElement:
    """Element of a ring, used as a scalar in mechanics."""

    __slots__ = ("polynomial", "ring")

    def __init__(self, ring: Ring, polynomial: Any) -> None:
        self.ring, self.polynomial = ring, polynomial

    def _to_operand(self, other: Any) -> Any:
        return other.polynomial if isinstance(other, RingElement) else self.ring.to_exact_number(other)

    def __add__(self, other: Any) -> Any:
        return self.ring.as_scalar(self.polynomial + self._to_operand(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self.ring.as_scalar(self.polynomial - self._to_operand(other))

    def __rsub__(self, other: Any) -> Any:
        return self.ring.as_scalar(self._to_operand(other) - self.polynomial)

    def __neg__(self) -> RingElement:
        return RingElement(self.ring, -self.polynomial)

    def __mul__(self, other: Any) -> Any:
        product = self.polynomial * self._to_operand(other)
        return self.ring.as_scalar(self.ring.reduce(product) if isinstance(other, RingElement) else product)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, RingElement):
            quotient, rest = divmod(self.polynomial, other.polynomial)
            return self.ring.as_scalar(quotient) if rest.is_zero() else self.ring.quotient_element(self, other)
        return RingElement(self.ring, self.polynomial / self.ring.to_exact_number(other))

    def __rtruediv__(self, other: Any) -> Any:
        return self.ring.to_element(other) / self

    def __pow__(self, exponent: Any) -> Any:
        n = int(exponent)
        if n != exponent or n < 0:
            raise ModelError(
                f"The power {exponent} of '{self}' is not a polynomial.",
                where="symbolic",
                remedy="Give the base a value, or define a parameter for the power.",
            )
        result: Any = 1.0
        for _ in range(n):
            result = self * result
        return result

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RingElement | int | float | Fraction):
            return NotImplemented
        return bool((self.polynomial - self._to_operand(other)).is_zero())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return _written(self)

    def derivative(self, symbol: str) -> Any:
        """Differentiate with respect to a plain symbol, or to an angle including its sine and cosine."""
        ring = self.ring
        at = 2 * len(ring.angles)
        result = ring.context.constant(0)
        if symbol in ring._plain:
            result = self.polynomial.derivative(at + ring.plain.index(symbol))
        i = ring._angle_index.get(symbol)
        if i is not None:
            n = len(ring.angles)
            by_sine, by_cosine = self.polynomial.derivative(i), self.polynomial.derivative(n + i)
            result = result + by_sine * ring.cosines[i] - by_cosine * ring.sines[i]
        return ring.as_scalar(ring.reduce(result))


_written: Callable[[RingElement], str] = object.__repr__


def register_formatter(format_element: Callable[[RingElement], str]) -> None:
    """Register the function that formats elements as text; it is also used in messages."""
    global _written
    _written = format_element


_AS_WRITTEN = {
    **{ours: sign for sign, ours in (COMPARISONS | LOGIC).items()},
    **{ours: written for written, (ours, _) in FUNCTIONS.items()},
}
"""Elementary function → its spelling in formulas."""


def _apply_function(name: str, *arguments: Any) -> Any:
    """Apply an elementary function to an element."""
    x = arguments[0]
    if name in ("sin", "cos") and isinstance(x, RingElement):
        return x.ring.sin_cos(x)[0 if name == "sin" else 1]
    if name == "sqrt" and isinstance(x, RingElement) and (root := _square_root(x)) is not None:
        if _is_positive(root):
            return x.ring.as_scalar(root)
        if _is_positive(-root):
            return x.ring.as_scalar(-root)
        raise ModelError(
            f"The root of '{x}' is '{RingElement(x.ring, root)}' or its negative, depending on its sign.",
            where="symbolic",
            remedy=f"Write '{RingElement(x.ring, root)}' if it is positive.",
        )
    name = _AS_WRITTEN.get(name, name)
    raise ModelError(
        f"'{name}' of a symbol cannot be written as a polynomial.",
        where="symbolic",
        remedy="Give the symbol a value, or define a parameter for the whole formula.",
    )


def _square_root(x: RingElement) -> Any:
    """Return a polynomial whose square is x; None if there is none."""
    try:
        return x.polynomial.sqrt()
    except (ArithmeticError, ValueError, DomainError):
        return None


def _is_positive(polynomial: Any) -> bool:
    """Return True if a polynomial is non-negative for all values of the symbols, because all its powers are even and
    its coefficients positive (the roots of 2 and 3, the last symbols, are positive)."""
    return all(
        coefficient >= 0 and not any(power % 2 for power in powers[: -len(ROOTS)])
        for powers, coefficient in polynomial.terms()
    )


scalar.register_functions(RingElement, _apply_function)
