"""Rewriting of forms with readable numbers: factors with long denominators are multiplied into sums as plain decimals.

Exact all the same; `number` writes a number with few digits.
"""

from __future__ import annotations

from fractions import Fraction

from core.model.formula.numerals import readable
from core.symbolic.forms import (
    ONE,
    Form,
    Function,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    children,
    product,
    rebuilt,
    summed,
)

SHORT_DENOMINATOR, SHORT_NUMERATOR = 64, 99_999
"""Largest denominator and numerator of a number that is written as a fraction."""
DIGITS = 6


def is_short(x: Fraction) -> bool:
    """Return True if a number is short enough to be written as a fraction."""
    return x.denominator <= SHORT_DENOMINATOR and abs(x.numerator) <= SHORT_NUMERATOR


_MADE_OF_PARTS = (Quotient, Function)

Kept = dict[tuple[int, Fraction], tuple[Form, Form]]
"""Cache of sums made legible: (id of the sum, factor) → (legible form, the sum itself)."""


def legible(form: Form, factor: Fraction = ONE.value, kept: Kept | None = None) -> Form:
    """Return the form times a factor, with unwieldy numbers multiplied into sums.

    kept : remembers sums, for forms that have some in common (they stay in common)
    """
    if isinstance(form, Number):
        return form if factor is ONE.value else Number(form.value * factor)
    if isinstance(form, Sum):
        kept = {} if kept is None else kept
        key = id(form), factor
        if key not in kept:
            kept[key] = summed([legible(term, factor, kept) for term in form.terms]), form
        return kept[key][0]
    if isinstance(form, Power):
        return product(Number(factor), Power(legible(form.base, kept=kept), form.exponent))
    if isinstance(form, _MADE_OF_PARTS):
        inner = rebuilt(form, [legible(part, kept=kept) for part in children(form)])
        return inner if factor == 1 else product(Number(factor), inner)
    if not isinstance(form, Product):
        return form if factor == 1 else product(Number(factor), form)
    number, rest = factor, []
    for part in form.factors:
        if isinstance(part, Number):
            number = part.value if number is ONE.value else number * part.value
        else:
            rest.append(part)
    at = next((k for k, part in enumerate(rest) if isinstance(part, Sum)), None)
    if at is None or is_short(number):
        return product(Number(number), *(legible(part, kept=kept) for part in rest)) if rest else Number(number)
    inside = [legible(part, number if k == at else ONE.value, kept) for k, part in enumerate(rest)]
    return product(*inside) if inside else ONE


def number(x: Fraction) -> str:
    """Write a number as a decimal with few digits."""
    return readable(f"{float(x):.{DIGITS}g}")
