"""Forms with numbers one can read: factors with long denominators go into the sums, where they make plain decimals.

Exact all the same; `number` writes a number with few digits.
"""

from __future__ import annotations

from fractions import Fraction

from core.symbolic.forms import ONE, Form, Number, Power, Product, Sum, product, summed

SHORT_DENOMINATOR, SHORT_NUMERATOR = 64, 99_999
"""Up to these a number is written as a fraction."""
DIGITS = 6


def is_short(x: Fraction) -> bool:
    """Whether a number is read best as it is."""
    return x.denominator <= SHORT_DENOMINATOR and abs(x.numerator) <= SHORT_NUMERATOR


def legible(form: Form, factor: Fraction = Fraction(1)) -> Form:
    """The form times a factor, with numbers that are hard to read multiplied into sums."""
    if isinstance(form, Number):
        return Number(form.value * factor)
    if isinstance(form, Sum):
        return summed([legible(term, factor) for term in form.terms])
    if isinstance(form, Power):
        return product(Number(factor), Power(legible(form.base), form.exponent))
    if not isinstance(form, Product):
        return form if factor == 1 else product(Number(factor), form)
    number, rest = factor, []
    for part in form.factors:
        if isinstance(part, Number):
            number *= part.value
        else:
            rest.append(part)
    at = next((k for k, part in enumerate(rest) if isinstance(part, Sum)), None)
    if at is None or is_short(number):
        return product(Number(number), *map(legible, rest)) if rest else Number(number)
    inside = [legible(part, number if k == at else Fraction(1)) for k, part in enumerate(rest)]
    return product(*inside) if inside else ONE


def number(x: Fraction) -> str:
    """A number as a decimal with few digits; exact where they suffice."""
    text = f"{float(x):.{DIGITS}g}"
    return text.replace("e-0", "e-").replace("e+0", "e").replace("e+", "e").replace("-", "−")
