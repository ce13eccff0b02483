"""Written expressions: small immutable trees that can be shown, counted, printed and turned into code.

Number(1/4)  Symbol("m1")  Trig("cos", (("q1", 1), ("q2", 1)))  Power(base, 2)  Product(…)  Sum(…)
Quotient(top, bottom)  Function("atan2", (y, x))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add, mul
from typing import Any

from core.numerics.spatial.scalar import apply


@dataclass(frozen=True, slots=True)
class Number:
    """Exact number."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Symbol:
    """Parameter, coordinate, rate, or a root such as sqrt(2)."""

    name: str


@dataclass(frozen=True, slots=True)
class Trig:
    """Sine or cosine of an integer combination of angles."""

    function: str
    angle: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Power:
    """Base raised to an integer power ≥ 2."""

    base: Form
    exponent: int


@dataclass(frozen=True, slots=True)
class Product:
    """Product of two or more factors, a number first."""

    factors: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """Sum of two or more terms."""

    terms: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class Quotient:
    """Quotient top / bottom."""

    top: Form
    bottom: Form


@dataclass(frozen=True, slots=True)
class Function:
    """Function call: sqrt of one form, atan2 of two (y, x), or sin and cos where no short name is wanted."""

    name: str
    arguments: tuple[Form, ...]


Form = Number | Symbol | Trig | Power | Product | Sum | Quotient | Function

ZERO = Number(Fraction(0))
ONE = Number(Fraction(1))
MINUS_ONE = Number(Fraction(-1))


def product(*factors: Form) -> Form:
    """Multiply forms into a flat product with its numbers joined in front."""
    number, rest = ONE.value, []
    for factor in factors:
        for part in factor.factors if isinstance(factor, Product) else (factor,):
            if isinstance(part, Number):
                number = part.value if number is ONE.value else number * part.value
            else:
                rest.append(part)
    if not number:
        return ZERO
    parts = rest if number == 1 and rest else [Number(number), *rest]
    return parts[0] if len(parts) == 1 else Product(tuple(parts))


def power(base: Form, exponent: int) -> Form:
    """Return base^exponent."""
    return base if exponent == 1 else Power(base, exponent)


def quotient(top: Form, bottom: Form) -> Form:
    """Return top / bottom, with a minus sign in front."""
    if bottom == ONE or top == ZERO:
        return top
    negative, positive = sign_of(top)
    made = Quotient(positive, bottom)
    return product(MINUS_ONE, made) if negative else made


def summed(terms: list[Form]) -> Form:
    """Add terms into a flat sum."""
    flat: list[Form] = []
    for term in terms:
        flat += term.terms if isinstance(term, Sum) else () if term == ZERO else (term,)
    return ZERO if not flat else flat[0] if len(flat) == 1 else Sum(tuple(flat))


def sign_of(form: Form) -> tuple[bool, Form]:
    """Return (True if the form is written with a minus sign, the form without it)."""
    if isinstance(form, Product):
        first = form.factors[0]
        if isinstance(first, Number) and first.value.numerator < 0:
            return True, product(Number(-first.value), *form.factors[1:])
    elif isinstance(form, Number) and form.value.numerator < 0:
        return True, Number(-form.value)
    return False, form


def children(form: Form) -> tuple[Form, ...]:
    """Return the immediate subexpressions of a form."""
    if isinstance(form, Sum):
        return form.terms
    if isinstance(form, Product):
        return form.factors
    if isinstance(form, Quotient):
        return form.top, form.bottom
    if isinstance(form, Function):
        return form.arguments
    return (form.base,) if isinstance(form, Power) else ()


def rebuilt(form: Form, parts: Sequence[Form]) -> Form:
    """Return the form with its immediate subexpressions replaced, in the order of `children`."""
    if isinstance(form, Sum):
        return Sum(tuple(parts))
    if isinstance(form, Product):
        return Product(tuple(parts))
    if isinstance(form, Quotient):
        return Quotient(*parts)
    if isinstance(form, Function):
        return Function(form.name, tuple(parts))
    return Power(parts[0], form.exponent) if isinstance(form, Power) else form


def walk(form: Form) -> Iterator[Form]:
    """Yield the form and all its subexpressions."""
    yield form
    for child in children(form):
        yield from walk(child)


def names(form: Form) -> set[str]:
    """Return the symbols and angles that occur in a form."""
    found: set[str] = set()
    met: set[int] = set()
    waiting = [form]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Symbol):
            found.add(part.name)
        elif isinstance(part, Trig):
            found.update(name for name, _ in part.angle)
        elif id(part) not in met:
            met.add(id(part))
            waiting += children(part)
    return found


def operations(form: Form, kept: dict[int, int] | None = None) -> int:
    """Count the multiplications and additions needed to evaluate the form as written (a sine or a root counts one).

    kept : counts of sums met before, for forms of which parts are the same objects
    """
    if isinstance(form, Sum):
        if kept is not None and id(form) in kept:
            return kept[id(form)]
        found = len(form.terms) - 1 + sum(operations(sign_of(term)[1], kept) for term in form.terms)
        if kept is not None:
            kept[id(form)] = found
        return found
    if isinstance(form, Product):
        own = len(form.factors) - 1 - int(form.factors[0] == MINUS_ONE)
        return own + sum(operations(factor, kept) for factor in form.factors)
    if isinstance(form, Power):
        return form.exponent - 1 + operations(form.base, kept)
    if isinstance(form, Quotient | Function):
        return 1 + sum(operations(part, kept) for part in children(form))
    if isinstance(form, Trig):
        return 1 + sum(int(abs(k) > 1) for _, k in form.angle) + len(form.angle) - 1
    return 0


def evaluate(form: Form, values: Mapping[str, Any], kept: dict[Any, Any] | None = None) -> Any:
    """Evaluate the form over any scalars: floats, arrays, CasADi symbols, elements of a ring. `kept` caches sines, and
    sums by object identity, so that the forms must outlive it."""
    if isinstance(form, Number):
        return float(form.value)
    if isinstance(form, Symbol):
        return values[form.name]
    if isinstance(form, Power):
        return reduce(mul, [evaluate(form.base, values, kept)] * form.exponent)
    if isinstance(form, Product):
        return reduce(mul, (evaluate(part, values, kept) for part in form.factors))
    if isinstance(form, Quotient):
        return evaluate(form.top, values, kept) / evaluate(form.bottom, values, kept)
    if isinstance(form, Function):
        return apply(form.name, *(evaluate(part, values, kept) for part in form.arguments))
    key: Any = form if isinstance(form, Trig) else id(form)
    if kept is not None and key in kept:
        return kept[key]
    if isinstance(form, Trig):
        found = apply(form.function, _angle(form, values))
    else:
        found = reduce(add, (evaluate(part, values, kept) for part in form.terms))
    if kept is not None:
        kept[key] = found
    return found


def _angle(form: Trig, values: Mapping[str, Any]) -> Any:
    total: Any = 0.0
    for name, times in form.angle:
        total = total + (values[name] if times == 1 else float(times) * values[name])
    return total
