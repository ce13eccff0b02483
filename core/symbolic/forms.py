"""Expression forms: small immutable trees as they will be written, which can be displayed, measured, printed and turned
into code.

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
class SineOrCosine:
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
    """Function call: sqrt of one form, atan2 of two (y, x), or sin and cos where no short name is to be used."""

    name: str
    arguments: tuple[Form, ...]


Form = Number | Symbol | SineOrCosine | Power | Product | Sum | Quotient | Function

ZERO = Number(Fraction(0))
ONE = Number(Fraction(1))
MINUS_ONE = Number(Fraction(-1))


def make_product(*factors: Form) -> Form:
    """Multiply forms into a flat product with the numbers combined in front."""
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


def make_power(base: Form, exponent: int) -> Form:
    """Return base^exponent."""
    return base if exponent == 1 else Power(base, exponent)


def make_quotient(numerator: Form, denominator: Form) -> Form:
    """Return numerator / denominator with any minus sign moved to the front."""
    if denominator == ONE or numerator == ZERO:
        return numerator
    negative, positive = split_sign(numerator)
    made = Quotient(positive, denominator)
    return make_product(MINUS_ONE, made) if negative else made


def make_sum(terms: list[Form]) -> Form:
    """Add forms into a flat sum."""
    flat: list[Form] = []
    for term in terms:
        flat += term.terms if isinstance(term, Sum) else () if term == ZERO else (term,)
    return ZERO if not flat else flat[0] if len(flat) == 1 else Sum(tuple(flat))


def split_sign(form: Form) -> tuple[bool, Form]:
    """Return (True if the form is written with a minus sign, the form without it)."""
    if isinstance(form, Product):
        first = form.factors[0]
        if isinstance(first, Number) and first.value.numerator < 0:
            return True, make_product(Number(-first.value), *form.factors[1:])
    elif isinstance(form, Number) and form.value.numerator < 0:
        return True, Number(-form.value)
    return False, form


def subexpressions(form: Form) -> tuple[Form, ...]:
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


def with_subexpressions(form: Form, parts: Sequence[Form]) -> Form:
    """Return the form with its immediate subexpressions replaced, in the order of `subexpressions`."""
    if isinstance(form, Sum):
        return Sum(tuple(parts))
    if isinstance(form, Product):
        return Product(tuple(parts))
    if isinstance(form, Quotient):
        return Quotient(*parts)
    if isinstance(form, Function):
        return Function(form.name, tuple(parts))
    return Power(parts[0], form.exponent) if isinstance(form, Power) else form


def walk_subexpressions(form: Form) -> Iterator[Form]:
    """Yield the form and all its subexpressions."""
    yield form
    for child in subexpressions(form):
        yield from walk_subexpressions(child)


def names_in_form(form: Form) -> set[str]:
    """Return the symbols and angles that occur in a form."""
    found: set[str] = set()
    met: set[int] = set()
    waiting = [form]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Symbol):
            found.add(part.name)
        elif isinstance(part, SineOrCosine):
            found.update(name for name, _ in part.angle)
        elif id(part) not in met:
            met.add(id(part))
            waiting += subexpressions(part)
    return found


def count_operations(form: Form, cache: dict[int, int] | None = None) -> int:
    """Count the multiplications and additions needed to evaluate the form as written (a sine or a root counts as one).

    cache : counts of sums met before, for forms of which parts are the same objects
    """
    if isinstance(form, Sum):
        if cache is not None and id(form) in cache:
            return cache[id(form)]
        found = len(form.terms) - 1 + sum(count_operations(split_sign(term)[1], cache) for term in form.terms)
        if cache is not None:
            cache[id(form)] = found
        return found
    if isinstance(form, Product):
        own = len(form.factors) - 1 - int(form.factors[0] == MINUS_ONE)
        return own + sum(count_operations(factor, cache) for factor in form.factors)
    if isinstance(form, Power):
        return form.exponent - 1 + count_operations(form.base, cache)
    if isinstance(form, Quotient | Function):
        return 1 + sum(count_operations(part, cache) for part in subexpressions(form))
    if isinstance(form, SineOrCosine):
        return 1 + sum(int(abs(k) > 1) for _, k in form.angle) + len(form.angle) - 1
    return 0


def evaluate(form: Form, values: Mapping[str, Any], cache: dict[Any, Any] | None = None) -> Any:
    """Evaluate the form over any kind of scalar: floats, arrays, CasADi symbols, elements of a ring. `cache` keeps
    sines by angle and sums by object identity, so the forms must outlive it."""
    if isinstance(form, Number):
        return float(form.value)
    if isinstance(form, Symbol):
        return values[form.name]
    if isinstance(form, Power):
        return reduce(mul, [evaluate(form.base, values, cache)] * form.exponent)
    if isinstance(form, Product):
        return reduce(mul, (evaluate(part, values, cache) for part in form.factors))
    if isinstance(form, Quotient):
        return evaluate(form.top, values, cache) / evaluate(form.bottom, values, cache)
    if isinstance(form, Function):
        return apply(form.name, *(evaluate(part, values, cache) for part in form.arguments))
    key: Any = form if isinstance(form, SineOrCosine) else id(form)
    if cache is not None and key in cache:
        return cache[key]
    if isinstance(form, SineOrCosine):
        found = apply(form.function, _evaluate_angle(form, values))
    else:
        found = reduce(add, (evaluate(part, values, cache) for part in form.terms))
    if cache is not None:
        cache[key] = found
    return found


def _evaluate_angle(form: SineOrCosine, values: Mapping[str, Any]) -> Any:
    total: Any = 0.0
    for name, times in form.angle:
        total = total + (values[name] if times == 1 else float(times) * values[name])
    return total
