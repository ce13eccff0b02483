"""Collection of sums in velocity ratios as written by hand: m3 (r² + 2 r r3x C3 (1 + k3) + r3x² (1 + k3)²).

Terms alike but for ratios are one, whose polynomial in the ratios is written in its factors; terms with the same mass
or moment of inertia stand in one bracket.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Any

import flint

from core.symbolic.factoring import factored
from core.symbolic.forms import Form, Number, Power, Sum, Symbol, power, product, summed
from core.symbolic.terms import Factors, Term


def collected(terms: Sequence[Term], ratios: Collection[str], outer: Collection[str]) -> Form:
    """Write a sum of terms with collected factors. ratios : symbols whose polynomials are factored; outer : symbols
    factored out before brackets"""
    brackets: dict[str, dict[Factors, list[Term]]] = {}
    for term in terms:
        name = next((a.name for a, k in term.factors if isinstance(a, Symbol) and a.name in outer and k == 1), "")
        own = tuple((a, k) for a, k in term.factors if not (isinstance(a, Symbol) and a.name == name))
        rest = tuple((a, k) for a, k in own if not (isinstance(a, Symbol) and a.name in ratios))
        inner = tuple((a, k) for a, k in own if isinstance(a, Symbol) and a.name in ratios)
        brackets.setdefault(name, {}).setdefault(rest, []).append(Term(term.coefficient, inner))
    made: list[Form] = []
    for name, groups in brackets.items():
        inside = [_scaled_product(_factors(group), rest) for rest, group in groups.items()]
        if name and len(inside) > 1:
            shared, inside = _common_factors(list(groups.items()))
            made.append(product(Symbol(name), *shared, summed(inside)))
        else:
            made += [product(Symbol(name), each) if name else each for each in inside]
    return summed(made)


def _common_factors(groups: list[tuple[Factors, list[Term]]]) -> tuple[list[Form], list[Form]]:
    """Return the factors common to all groups, and the groups divided by them."""
    common = [
        (atom, min(dict(rest).get(atom, 0) for rest, _ in groups)) for atom, _ in groups[0][0]
    ]  # each atom stands once in a term
    common = [(atom, k) for atom, k in common if k]
    taken = dict(common)
    left = []
    for rest, group in groups:
        fewer = tuple((atom, k - taken.get(atom, 0)) for atom, k in rest if k > taken.get(atom, 0))
        left.append(_scaled_product(_factors(group), fewer))
    return [power(atom, k) for atom, k in common], left


def _scaled_product(front: Sequence[Form], rest: Factors) -> Form:
    """Return the product number · rest · brackets."""
    number, brackets = front[0], front[1:]
    return product(number, *(power(atom, k) for atom, k in rest), *brackets)


def _factors(terms: Sequence[Term]) -> list[Form]:
    """Factor a polynomial in velocity ratios into a number and other factors."""
    names = sorted({atom.name for term in terms for atom, _ in term.factors if isinstance(atom, Symbol)})
    if not names:
        return [Number(sum((term.coefficient for term in terms), Fraction(0)))]
    context = flint.fmpq_mpoly_ctx.get(tuple(names), flint.Ordering.degrevlex)
    powers = {}
    for term in terms:
        own = {atom.name: k for atom, k in term.factors if isinstance(atom, Symbol)}
        powers[tuple(own.get(name, 0) for name in names)] = flint.fmpq(
            term.coefficient.numerator, term.coefficient.denominator
        )
    number, parts = context.from_dict(powers).factor()
    found = Fraction(int(number.p), int(number.q))
    forms: list[Form] = []
    for part, multiplicity in parts:
        form, sign = _written_factor(part, names)
        found *= sign ** int(multiplicity)
        forms.append(power(form, int(multiplicity)))
    return [Number(found), *sorted(forms, key=lambda form: isinstance(form, Sum) or _is_power_of_sum(form))]


def _is_power_of_sum(form: Form) -> bool:
    return isinstance(form, Power) and isinstance(form.base, Sum)


def _written_factor(part: Any, names: Sequence[str]) -> tuple[Form, int]:
    """Write a factor with constants first and its first term positive; return it with the sign taken out."""
    terms = [
        Term(
            Fraction(int(c.p), int(c.q)),
            tuple((Symbol(name), int(k)) for name, k in zip(names, powers, strict=True) if k),
        )
        for powers, c in part.terms()
    ]
    terms.sort(key=lambda term: (sum(k for _, k in term.factors), str(term.factors)))
    sign = -1 if terms[0].coefficient < 0 else 1
    terms = [term._replace(coefficient=sign * term.coefficient) for term in terms]
    return summed([term.form() for term in terms]) if len(terms) <= 4 else factored(terms), sign
