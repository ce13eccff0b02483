"""Factoring of sums into short forms: common factors are extracted, the most frequent first (multivariate Horner,
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
from core.model.formula.expression import Binary, Call, Negative, Node, evaluate, names_in_formula, parse
from core.model.formula.nodes import FUNCTIONS, MATHEMATICA_FUNCTIONS
from core.symbolic.forms import (
    ZERO,
    Form,
    Function,
    Number,
    Power,
    SineOrCosine,
    Sum,
    Symbol,
    count_operations,
    make_power,
    make_product,
    make_sum,
    subexpressions,
    with_subexpressions,
)
from core.symbolic.ring import Ring
from core.symbolic.terms import Atom, Factors, Term, collect_terms, write_products

TEXTBOOK = 8
"""Largest number of terms of a sum that is left expanded, as in textbooks."""
COMPARED = 60
"""Largest number of terms for which the expanded and the factored form are compared; longer sums are always factored.
"""

Group = list[int]
"""Indices of terms."""
_FUNCTIONS = {*FUNCTIONS, *MATHEMATICA_FUNCTIONS}


def shortest_form(terms: list[Term], *, textbook: int = TEXTBOOK) -> Form:
    """Write a sum of terms, factored where that is shorter."""
    if len(terms) > COMPARED:
        return factor_terms(terms)
    plain = make_sum(write_products(terms))
    if len(terms) <= textbook:
        return plain
    grouped = factor_terms(terms)
    return grouped if count_operations(grouped) < count_operations(plain) else plain


def factor_terms(terms: Iterable[Term]) -> Form:
    """Write the sum with common factors extracted."""
    terms = list(terms)
    return make_product(Number(Fraction(1, _common_denominator(terms))), _Sum(terms).factored_form()) if terms else ZERO


def _common_denominator(terms: list[Term]) -> int:
    return math.lcm(*(term.coefficient.denominator for term in terms))


class _Sum:
    """Sum of terms with integer coefficients. Each factor is stored as marks, one for each power: atom² has the marks
    (atom, 1) and (atom, 2)."""

    def __init__(self, terms: list[Term]) -> None:
        scale = _common_denominator(terms)
        self.coefficients = [term.coefficient.numerator * (scale // term.coefficient.denominator) for term in terms]
        atoms = sorted({atom for term in terms for atom, _ in term.factors}, key=_atom_sort_key)
        highest: dict[Atom, int] = {}
        for term in terms:
            for atom, k in term.factors:
                highest[atom] = max(highest.get(atom, 0), k)
        self.atoms = [atom for atom in atoms for _ in range(highest[atom])]
        """The atom of each mark."""
        first = dict(zip(atoms, accumulate((highest[atom] for atom in atoms), initial=0), strict=False))
        self.marks = [{first[atom] + level for atom, k in term.factors for level in range(k)} for term in terms]

    def factored_form(self) -> Form:
        """Return the factored form of the whole sum."""
        everything = list(range(len(self.marks)))
        return self._factor_group(everything, self._count_marks(everything), frozenset(), 1)

    def _count_marks(self, group: Group) -> Counter[int]:
        """Count the terms of a group that have each mark."""
        return Counter(chain.from_iterable(self.marks[i] for i in group))

    def _factor_group(
        self, group: Group, counts: Counter[int], extracted_marks: frozenset[int], extracted_number: int
    ) -> Form:
        """Factor the sum of a group of terms. extracted_marks, extracted_number : marks and number already extracted
        from it"""
        shared_by_all = [mark for mark in sorted(counts) if counts[mark] == len(group) and mark not in extracted_marks]
        sign = 1 if extracted_number > 0 else -1
        content = sign * math.gcd(*(self.coefficients[i] for i in group))
        if all(sign * self.coefficients[i] < 0 for i in group):
            content = -content
        front = [Number(Fraction(content, extracted_number)), *self._product_of_marks(shared_by_all)]
        if len(group) == 1:
            return make_product(*front)
        extracted_marks = extracted_marks.union(shared_by_all)
        chosen = self._most_frequent_mark(counts, extracted_marks)
        if chosen is None:
            body = make_sum([self._factor_group([i], self._count_marks([i]), extracted_marks, content) for i in group])
            return make_product(*front, body)
        inside = [i for i in group if chosen in self.marks[i]]
        outside = [i for i in group if chosen not in self.marks[i]]
        fewer = self._count_marks(min(inside, outside, key=len))
        found = [fewer, counts - fewer] if len(inside) <= len(outside) else [counts - fewer, fewer]
        return make_product(
            *front,
            make_sum(
                [
                    self._factor_group(part, its, extracted_marks, content)
                    for part, its in zip((inside, outside), found, strict=True)
                ]
            ),
        )

    def _product_of_marks(self, marks: list[int]) -> list[Form]:
        """Return the product of marks as powers of atoms."""
        return [make_power(atom, k) for atom, k in Counter(self.atoms[mark] for mark in marks).items()]

    @staticmethod
    def _most_frequent_mark(counts: Counter[int], extracted_marks: frozenset[int]) -> int | None:
        """Return the mark that occurs in most terms (at least two). In a tie later marks win, i.e. sines and cosines,
        so that parameters are grouped."""
        best, most = None, 1
        for mark, count in counts.items():
            if mark not in extracted_marks and (
                count > most or (count == most > 1 and best is not None and mark > best)
            ):
                best, most = mark, count
        return best


def _atom_sort_key(atom: Atom) -> tuple[bool, str]:
    return isinstance(atom, SineOrCosine), atom.name if isinstance(atom, Symbol) else str((atom.angle, atom.function))


def extract_common_subexpressions(
    forms: Iterable[Form], stem: str = "x", min_operations: int = 0
) -> tuple[list[tuple[str, Form]], list[Form]]:
    """Extract common subexpressions of several forms: (name, definition) in order of use, and the forms in terms of
    these names.

    min_operations : multiplications and additions that a definition takes at least (a sine takes none): for people, who
    read
        S2 or 2 a1 as easily as a name
    """
    census = _SubexpressionTable()
    roots = [census.number_of_form(form) for form in forms]
    census.uses.update(roots)
    definitions: list[tuple[str, Form]] = []
    named: dict[int, Form] = {}

    def replace_subexpression(number: int) -> Form:
        if number in named:
            return named[number]
        form, inner = census.nodes[number]
        result = with_subexpressions(form, [replace_subexpression(child) for child in inner])
        if (
            census.uses[number] > 1
            and not isinstance(form, Number | Symbol)
            and _operation_count(result) >= min_operations
        ):
            definitions.append((f"{stem}{len(definitions) + 1}", result))
            result = Symbol(definitions[-1][0])
        named[number] = result
        return result

    return definitions, [replace_subexpression(root) for root in roots]


class _SubexpressionTable:
    """Numbering of subexpressions, with equal numbers for equal ones, and counts of how often each is used."""

    def __init__(self) -> None:
        self.nodes: list[tuple[Form, tuple[int, ...]]] = []
        self.uses: Counter[int] = Counter()
        self._known: dict[object, int] = {}
        self._met: dict[int, tuple[int, Form]] = {}
        """id of a form → its number, and the form, that no other takes its id."""

    def number_of_form(self, form: Form) -> int:
        """Return the number of a form; an object that occurs several times is visited only once."""
        if id(form) not in self._met:
            self._met[id(form)] = self._assign_number(form), form
        return self._met[id(form)][0]

    def _assign_number(self, form: Form) -> int:
        inner = tuple(self.number_of_form(child) for child in subexpressions(form))
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
    inner = () if isinstance(form, SineOrCosine) else subexpressions(form)
    return max(len(inner) - 1, int(isinstance(form, Function))) + sum(map(_operation_count, inner))


def collect_factors(terms: Sequence[Term], ratio_symbols: Collection[str], outer_symbols: Collection[str]) -> Form:
    """Write a sum of terms with collected factors. ratio_symbols : symbols whose polynomials are factored;
    outer_symbols : symbols that are put in front of brackets"""
    brackets: dict[str, dict[Factors, list[Term]]] = {}
    for term in terms:
        name = next(
            (a.name for a, k in term.factors if isinstance(a, Symbol) and a.name in outer_symbols and k == 1), ""
        )
        own = tuple((a, k) for a, k in term.factors if not (isinstance(a, Symbol) and a.name == name))
        rest = tuple((a, k) for a, k in own if not (isinstance(a, Symbol) and a.name in ratio_symbols))
        inner = tuple((a, k) for a, k in own if isinstance(a, Symbol) and a.name in ratio_symbols)
        brackets.setdefault(name, {}).setdefault(rest, []).append(Term(term.coefficient, inner))
    made: list[Form] = []
    for name, groups in brackets.items():
        inside = [_build_product(_factor_polynomial(group), rest) for rest, group in groups.items()]
        if name and len(inside) > 1:
            shared, inside = _split_common_factors(list(groups.items()))
            made.append(make_product(Symbol(name), *shared, make_sum(inside)))
        else:
            made += [make_product(Symbol(name), each) if name else each for each in inside]
    return make_sum(made)


def _split_common_factors(groups: list[tuple[Factors, list[Term]]]) -> tuple[list[Form], list[Form]]:
    """Return the factors common to all groups, and the groups divided by them."""
    common = [
        (atom, min(dict(rest).get(atom, 0) for rest, _ in groups)) for atom, _ in groups[0][0]
    ]  # each atom occurs once in a term
    common = [(atom, k) for atom, k in common if k]
    taken = dict(common)
    left = []
    for rest, group in groups:
        fewer = tuple((atom, k - taken.get(atom, 0)) for atom, k in rest if k > taken.get(atom, 0))
        left.append(_build_product(_factor_polynomial(group), fewer))
    return [make_power(atom, k) for atom, k in common], left


def _build_product(front: Sequence[Form], factors: Factors) -> Form:
    """Return the product number · rest · brackets."""
    number, brackets = front[0], front[1:]
    return make_product(number, *(make_power(atom, k) for atom, k in factors), *brackets)


def _factor_polynomial(terms: Sequence[Term]) -> list[Form]:
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
        form, sign = _format_factor(part, names)
        found *= sign ** int(multiplicity)
        forms.append(make_power(form, int(multiplicity)))
    return [Number(found), *sorted(forms, key=lambda form: isinstance(form, Sum) or _is_power_of_sum(form))]


def _is_power_of_sum(form: Form) -> bool:
    return isinstance(form, Power) and isinstance(form.base, Sum)


def _format_factor(part: Any, names: Sequence[str]) -> tuple[Form, int]:
    """Write a factor with constants first and its first term positive; return the form and the sign that was
    extracted."""
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
    return make_sum([term.to_form() for term in terms]) if len(terms) <= 4 else factor_terms(terms), sign


def simplify_text(text: str) -> Form:
    """Return the short form of an expression of numbers, names, sines and cosines: Sin[q1] Cos[q2] + Cos[q1] Sin[q2]
    becomes S12.

    Functions may be written in Robotica's or in ordinary notation, Cos[q1] or cos(q1).
    Raises ExpressionError where it is no polynomial of these.
    """
    node = parse(text, "mathematica")
    if function := next((name for name in sorted(names_in_formula(node)) if name in _FUNCTIONS), ""):
        raise ExpressionError(
            f"'{function}' in '{text}' is a function without its argument.",
            remedy=f"Write {function}(q1) or {function}(q1)^2.",
        )
    angles = sorted(_angles_in_trig(node))
    ring = Ring(angles, sorted(names_in_formula(node)))
    try:
        value = evaluate(node, {name: ring.symbol(name) for name in names_in_formula(node)})
    except KinetostatError as error:
        raise ExpressionError(error.what, remedy=error.remedy) from None
    return shortest_form(collect_terms(value, [angles]))


def _angles_in_trig(node: Node) -> set[str]:
    """Return the names inside sines and cosines."""
    if isinstance(node, Call):
        inner: set[str] = (
            set().union(*map(names_in_formula, node.arguments)) if node.function in ("sin", "cos") else set()
        )
        return inner.union(*map(_angles_in_trig, node.arguments))
    parts: tuple[Any, ...] = ()
    if isinstance(node, Binary):
        parts = (node.left, node.right)
    elif isinstance(node, Negative):
        parts = (node.operand,)
    return set().union(*map(_angles_in_trig, parts))
