"""Factoring of sums into short forms: common factors are taken out, the most frequent first (multivariate Horner,
Ceberio and Kreinovich).

`written` decides: few terms stand as in a textbook, term by term; many are grouped if that saves operations.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import accumulate, chain

from core.symbolic.forms import (
    ZERO,
    Form,
    Function,
    Number,
    Power,
    Symbol,
    Trig,
    children,
    operations,
    power,
    product,
    rebuilt,
    summed,
)
from core.symbolic.terms import Atom, Term, expanded

TEXTBOOK = 8
"""Largest number of terms of a sum that is left expanded."""
COMPARED = 60
"""Largest number of terms for which the expanded and the factored form are compared; longer sums are always factored.
"""


def written(terms: list[Term], *, textbook: int = TEXTBOOK) -> Form:
    """Write a sum of terms, factored where that is shorter."""
    if len(terms) > COMPARED:
        return factored(terms)
    plain = summed(expanded(terms))
    if len(terms) <= textbook:
        return plain
    grouped = factored(terms)
    return grouped if operations(grouped) < operations(plain) else plain


def factored(terms: Iterable[Term]) -> Form:
    """Write the sum with common factors taken out."""
    terms = list(terms)
    return product(Number(Fraction(1, _common_denominator(terms))), _Sum(terms).form()) if terms else ZERO


def _common_denominator(terms: list[Term]) -> int:
    return math.lcm(*(term.coefficient.denominator for term in terms))


Group = list[int]
"""Indices of terms."""


class _Sum:
    """Sum of terms with integer coefficients; each factor is stored as marks: atom² has two marks, (atom, 1) and (atom,
    2)."""

    def __init__(self, terms: list[Term]) -> None:
        scale = _common_denominator(terms)
        self.coefficients = [term.coefficient.numerator * (scale // term.coefficient.denominator) for term in terms]
        atoms = sorted({atom for term in terms for atom, _ in term.factors}, key=_atom_order)
        highest: dict[Atom, int] = {}
        for term in terms:
            for atom, k in term.factors:
                highest[atom] = max(highest.get(atom, 0), k)
        self.atoms = [atom for atom in atoms for _ in range(highest[atom])]
        """The atom of each mark."""
        first = dict(zip(atoms, accumulate((highest[atom] for atom in atoms), initial=0), strict=False))
        self.marks = [{first[atom] + level for atom, k in term.factors for level in range(k)} for term in terms]

    def form(self) -> Form:
        """Return the factored form of the whole sum."""
        everything = list(range(len(self.marks)))
        return self._group_form(everything, self._mark_counts(everything), frozenset(), 1)

    def _mark_counts(self, group: Group) -> Counter[int]:
        """Count the terms of a group that have each mark."""
        return Counter(chain.from_iterable(self.marks[i] for i in group))

    def _group_form(self, group: Group, counts: Counter[int], out: frozenset[int], divided: int) -> Form:
        """Factor the sum of a group of terms. out, divided : marks and number already taken out of it"""
        shared_by_all = [mark for mark in sorted(counts) if counts[mark] == len(group) and mark not in out]
        sign = 1 if divided > 0 else -1
        content = sign * math.gcd(*(self.coefficients[i] for i in group))
        if all(sign * self.coefficients[i] < 0 for i in group):
            content = -content
        front = [Number(Fraction(content, divided)), *self._powers(shared_by_all)]
        if len(group) == 1:
            return product(*front)
        out = out.union(shared_by_all)
        chosen = self._most_frequent(counts, out)
        if chosen is None:
            body = summed([self._group_form([i], self._mark_counts([i]), out, content) for i in group])
            return product(*front, body)
        inside = [i for i in group if chosen in self.marks[i]]
        outside = [i for i in group if chosen not in self.marks[i]]
        fewer = self._mark_counts(min(inside, outside, key=len))
        found = [fewer, counts - fewer] if len(inside) <= len(outside) else [counts - fewer, fewer]
        return product(
            *front,
            summed(
                [self._group_form(part, its, out, content) for part, its in zip((inside, outside), found, strict=True)]
            ),
        )

    def _powers(self, marks: list[int]) -> list[Form]:
        """Return the product of marks as powers of atoms."""
        return [power(atom, k) for atom, k in Counter(self.atoms[mark] for mark in marks).items()]

    @staticmethod
    def _most_frequent(counts: Counter[int], out: frozenset[int]) -> int | None:
        """Return the mark in most terms (at least two). Ties go to later marks, the sines and cosines, so that
        parameters are grouped."""
        best, most = None, 1
        for mark, count in counts.items():
            if mark not in out and (count > most or (count == most > 1 and best is not None and mark > best)):
                best, most = mark, count
        return best


def _atom_order(atom: Atom) -> tuple[bool, str]:
    return isinstance(atom, Trig), atom.name if isinstance(atom, Symbol) else str((atom.angle, atom.function))


def shared(forms: Iterable[Form], stem: str = "x", least: int = 0) -> tuple[list[tuple[str, Form]], list[Form]]:
    """Extract common subexpressions of several forms: (name, definition) in order of use, and the forms in terms of
    these names.

    least : multiplications and additions that a definition takes at least (a sine takes none): for people, who read
        S2 or 2 a1 as easily as a name
    """
    census = _SubexpressionTable()
    roots = [census.number(form) for form in forms]
    census.uses.update(roots)
    definitions: list[tuple[str, Form]] = []
    named: dict[int, Form] = {}

    def replaced(number: int) -> Form:
        if number in named:
            return named[number]
        form, inner = census.nodes[number]
        result = rebuilt(form, [replaced(child) for child in inner])
        if census.uses[number] > 1 and not isinstance(form, Number | Symbol) and _operation_count(result) >= least:
            definitions.append((f"{stem}{len(definitions) + 1}", result))
            result = Symbol(definitions[-1][0])
        named[number] = result
        return result

    return definitions, [replaced(root) for root in roots]


class _SubexpressionTable:
    """Numbers subexpressions, with equal numbers for equal ones, and counts how often each is used."""

    def __init__(self) -> None:
        self.nodes: list[tuple[Form, tuple[int, ...]]] = []
        self.uses: Counter[int] = Counter()
        self._known: dict[object, int] = {}
        self._met: dict[int, tuple[int, Form]] = {}
        """id of a form → its number, and the form, that no other takes its id."""

    def number(self, form: Form) -> int:
        """Return the number of a form; each shared object is visited only once."""
        if id(form) not in self._met:
            self._met[id(form)] = self._number(form), form
        return self._met[id(form)][0]

    def _number(self, form: Form) -> int:
        inner = tuple(self.number(child) for child in children(form))
        own = form.exponent if isinstance(form, Power) else form.name if isinstance(form, Function) else 0
        key: object = (type(form), inner, own) if inner else form
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append((form, inner))
            for child in set(inner):
                self.uses[child] += inner.count(child)
        return self._known[key]


def _operation_count(form: Form) -> int:
    """Count multiplications and additions, except inside sines and cosines."""
    if isinstance(form, Power):
        return form.exponent - 1 + _operation_count(form.base)
    inner = () if isinstance(form, Trig) else children(form)
    return max(len(inner) - 1, int(isinstance(form, Function))) + sum(map(_operation_count, inner))
