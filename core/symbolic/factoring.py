"""Short written forms: common factors taken out, the most frequent first (multivariate Horner, Ceberio and Kreinovich).

`written` decides: few terms stand as in a textbook, term by term; many are grouped if that saves operations.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from core.symbolic.forms import (
    ZERO,
    Form,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    Trig,
    children,
    operations,
    power,
    product,
    summed,
)
from core.symbolic.terms import Atom, Term, expanded

TEXTBOOK = 8
"""Sums of up to so many terms are left term by term."""


def written(terms: list[Term], *, textbook: int = TEXTBOOK) -> Form:
    """The form of a sum of terms that one would write down."""
    plain = summed(expanded(terms))
    if len(terms) <= textbook:
        return plain
    grouped = factored(terms)
    return grouped if operations(grouped) < operations(plain) else plain


def factored(terms: Iterable[Term]) -> Form:
    """The sum with common factors taken out."""
    terms = list(terms)
    scale = math.lcm(*(term.coefficient.denominator for term in terms)) if terms else 1
    atoms = sorted({atom for term in terms for atom, _ in term.factors}, key=_rank)
    number = {atom: i for i, atom in enumerate(atoms)}
    loose = [(int(term.coefficient * scale), {number[atom]: k for atom, k in term.factors}) for term in terms]
    return product(Number(Fraction(1, scale)), _factored(loose, atoms)) if loose else ZERO


Loose = tuple[int, dict[int, int]]
"""Coefficient, and powers of numbered atoms."""


def _factored(terms: list[Loose], atoms: list[Atom]) -> Form:
    content, common, rest = _common(terms)
    front = [Number(Fraction(content)), *(power(atoms[i], k) for i, k in sorted(common.items()))]
    if len(rest) == 1:
        coefficient, factors = rest[0]
        own = [power(atoms[i], k) for i, k in sorted(factors.items())]
        return product(*front, Number(Fraction(coefficient)), *own)
    chosen = _most_frequent(rest)
    if chosen is None:
        body = summed([_factored([term], atoms) for term in rest])
    else:
        inside = [term for term in rest if chosen in term[1]]
        outside = [term for term in rest if chosen not in term[1]]
        body = summed([_factored(inside, atoms), *([_factored(outside, atoms)] if outside else [])])
    return product(*front, body)


def _common(terms: list[Loose]) -> tuple[int, dict[int, int], list[Loose]]:
    """Number and atoms that all terms share, and what is left of the terms."""
    content = math.gcd(*(c for c, _ in terms))
    if all(c < 0 for c, _ in terms):
        content = -content
    shared_powers = dict(terms[0][1])
    for _, factors in terms[1:]:
        if not shared_powers:
            break
        shared_powers = {i: min(k, factors[i]) for i, k in shared_powers.items() if i in factors}
    if not shared_powers:
        return content, shared_powers, [(c // content, factors) for c, factors in terms]
    rest = [(c // content, {i: left for i, k in factors.items() if (left := k - shared_powers.get(i, 0))})
            for c, factors in terms]  # fmt: skip
    return content, shared_powers, rest


def _most_frequent(terms: list[Loose]) -> int | None:
    """The atom in most terms (at least two); later ones, sines and cosines, first, so that parameters gather inside."""
    counts = Counter(i for _, factors in terms for i in factors)
    best, count = max(counts.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    return best if count >= 2 else None


def _rank(atom: Atom) -> tuple[bool, str]:
    return isinstance(atom, Trig), atom.name if isinstance(atom, Symbol) else str((atom.angle, atom.function))


def shared(forms: Iterable[Form], stem: str = "x") -> tuple[list[tuple[str, Form]], list[Form]]:
    """Common subexpressions of several forms: (name, definition) in order of use, and the forms in these names."""
    census = _Census()
    roots = [census.number(form) for form in forms]
    definitions: list[tuple[str, Form]] = []
    named: dict[int, Form] = {}

    def replaced(number: int) -> Form:
        if number in named:
            return named[number]
        form, inner = census.nodes[number]
        result = _rebuilt(form, [replaced(child) for child in inner])
        if census.uses[number] > 1 and not isinstance(form, Number | Symbol):
            definitions.append((f"{stem}{len(definitions) + 1}", result))
            result = Symbol(definitions[-1][0])
        named[number] = result
        return result

    return definitions, [replaced(root) for root in roots]


class _Census:
    """Numbers for forms, equal for equal ones, and how often each stands in another."""

    def __init__(self) -> None:
        self.nodes: list[tuple[Form, tuple[int, ...]]] = []
        self.uses: Counter[int] = Counter()
        self._known: dict[object, int] = {}

    def number(self, form: Form) -> int:
        inner = tuple(self.number(child) for child in children(form))
        exponent = form.exponent if isinstance(form, Power) else 0
        key: object = (type(form), inner, exponent) if inner else form
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append((form, inner))
            for child in set(inner):
                self.uses[child] += inner.count(child)
        return self._known[key]


def _rebuilt(form: Form, parts: list[Form]) -> Form:
    if isinstance(form, Sum):
        return Sum(tuple(parts))
    if isinstance(form, Product):
        return Product(tuple(parts))
    return Power(parts[0], form.exponent) if isinstance(form, Power) else form
