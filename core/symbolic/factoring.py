"""Factoring of sums into short forms: common factors are taken out, the most frequent first (multivariate Horner,
Ceberio and Kreinovich).

`written` decides: few terms stand as in a textbook, term by term; many are grouped if that saves operations.

Sums in velocity ratios are collected as by hand: m3 (r² + 2 r r3x C3 (1 + k3) + r3x² (1 + k3)²). Terms alike but for
ratios are one, whose polynomial in the ratios is written in its factors; terms with the same mass or moment of inertia
stand in one bracket.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from itertools import accumulate, chain
from typing import Any

import flint

from core.errors import ExpressionError, KinetostatError
from core.model.formula.expression import Binary, Call, Negative, Node, evaluate, names, parse
from core.model.formula.nodes import FUNCTIONS, MATHEMATICA_FUNCTIONS
from core.symbolic.forms import (
    ZERO,
    Form,
    Function,
    Number,
    Power,
    Sum,
    Symbol,
    Trig,
    children,
    operations,
    power,
    product,
    rebuilt,
    summed,
)
from core.symbolic.ring import Ring
from core.symbolic.terms import Atom, Factors, Term, expanded, terms_of

TEXTBOOK = 8
"""Largest number of terms of a sum that is left expanded."""
COMPARED = 60
"""Largest number of terms for which the expanded and the factored form are compared; longer sums are always factored.
"""

Group = list[int]
"""Indices of terms."""
_FUNCTIONS = {*FUNCTIONS, *MATHEMATICA_FUNCTIONS}


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
    ]  # each atom occurs once in a term
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


def simplified(text: str) -> Form:
    """Return the short form of an expression of numbers, names, sines and cosines: Sin[q1] Cos[q2] + Cos[q1] Sin[q2]
    becomes S12.

    Functions may be written in Robotica's or in ordinary notation, Cos[q1] or cos(q1).
    Raises ExpressionError where it is no polynomial of these.
    """
    node = parse(text, "mathematica")
    if function := next((name for name in sorted(names(node)) if name in _FUNCTIONS), ""):
        raise ExpressionError(
            f"'{function}' in '{text}' is a function without its argument.",
            remedy=f"Write {function}(q1) or {function}(q1)^2.",
        )
    angles = sorted(_angles(node))
    ring = Ring(angles, sorted(names(node)))
    try:
        value = evaluate(node, {name: ring.symbol(name) for name in names(node)})
    except KinetostatError as error:
        raise ExpressionError(error.what, remedy=error.remedy) from None
    return written(terms_of(value, [angles]))


def _angles(node: Node) -> set[str]:
    """Return the names inside sines and cosines."""
    if isinstance(node, Call):
        inner: set[str] = set().union(*map(names, node.arguments)) if node.function in ("sin", "cos") else set()
        return inner.union(*map(_angles, node.arguments))
    parts: tuple[Any, ...] = ()
    if isinstance(node, Binary):
        parts = (node.left, node.right)
    elif isinstance(node, Negative):
        parts = (node.operand,)
    return set().union(*map(_angles, parts))
