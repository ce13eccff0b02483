"""Long results as sums of parts that are written once: C from Christoffel symbols, torques from M, C and G.

The matrix C of a seven-joint arm has 70 000 terms, its different Christoffel symbols have a third of them; whoever
computes numbers or code finds the same form in all its places.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from core.numerics.spatial.scalar import Scalar
from core.symbolic.factoring import TEXTBOOK, written
from core.symbolic.forms import ZERO, Form, Number, Sum, Symbol, power, product, summed
from core.symbolic.ring import Element
from core.symbolic.terms import Groups, terms_of

if TYPE_CHECKING:
    from core.symbolic.chain import Chain

LONG = 60
"""Number of terms of an entry above which it is written as a sum of parts."""


class Part(NamedTuple):
    """Summand factor · element · Π symbols."""

    factor: Fraction
    element: Scalar
    symbols: tuple[str, ...]


def length(x: Scalar) -> int:
    """Return the number of terms of an element."""
    return len(x.polynomial) if isinstance(x, Element) else int(x != 0.0)


class Writer:
    """Writes elements as forms; equal elements, also up to sign, are written only once."""

    def __init__(self, groups: Groups, watch: Callable[[], None]) -> None:
        self._groups, self._watch = groups, watch
        self._known: dict[tuple[Any, ...], list[tuple[Any, Form]]] = {}

    def form(self, x: Scalar) -> Form:
        """Write an element with angle sums collected and common factors taken out where that is shorter."""
        if not isinstance(x, Element) or length(x) <= TEXTBOOK:
            return self._written_element(x)
        negative = x.polynomial.leading_coefficient() < 0
        found = self._form_once(-x if negative else x)
        return product(Number(Fraction(-1)), found) if negative else found

    def _form_once(self, x: Element) -> Form:
        polynomial = x.polynomial
        key = len(polynomial), tuple(map(int, polynomial.degrees())), str(polynomial.leading_coefficient())
        alike = self._known.setdefault(key, [])
        for other, form in alike:
            if other == polynomial:
                return form
        alike.append((polynomial, self._written_element(x)))
        return alike[-1][1]

    def _written_element(self, x: Scalar) -> Form:
        self._watch()
        return written(terms_of(x, self._groups))

    def sum(self, parts: list[Part]) -> Form:
        """Write the sum of parts, each by itself, short ones combined."""
        short: Scalar = 0.0
        forms: list[Form] = []
        for factor, element, symbols in parts:
            if isinstance(element, Element) and length(element) > TEXTBOOK:
                forms.append(_scaled_form(factor, symbols, self.form(element)))
            else:
                ring_of = next(p.element.ring for p in parts if isinstance(p.element, Element))
                whole: Any = element * ring_of.constant(factor)
                for symbol in symbols:
                    whole = whole * ring_of.symbol(symbol)
                short = short + whole
        together = self._written_element(short) if short != 0.0 else ZERO
        return summed([together, *forms])


def _scaled_form(factor: Fraction, symbols: tuple[str, ...], form: Form) -> Form:
    """Return factor · Π symbols · form."""
    powers = [power(Symbol(name), symbols.count(name)) for name in dict.fromkeys(symbols)]
    if form == ZERO:
        return ZERO
    return product(Number(factor), *powers, form) if powers or factor != 1 or not isinstance(form, Sum) else form


# --------------------------------------------------------------------------------- what results consist of

ONE, HALF = Fraction(1), Fraction(1, 2)


def coriolis_parts(chain: Chain, k: int, j: int) -> list[Part]:
    """Return the parts of C_kj = Σ_i c_ijk q̇_i."""
    return [Part(ONE, chain.christoffel(max(i, j), min(i, j), k), (chain.rates[i],)) for i in range(chain.n)]


def torque_parts(chain: Chain, k: int) -> list[Part]:
    """Return the parts of τ_k = Σ_j M_kj q̈_j + Σ_ij c_ijk q̇_i q̇_j + G_k."""
    n, v = chain.n, chain.rates
    made = [Part(ONE, chain.mass_matrix[k][j], (chain.accelerations[j],)) for j in range(n)]
    made += [
        Part(Fraction(1 if i == j else 2), chain.christoffel(i, j, k), (v[i], v[j]))
        for i in range(n)
        for j in range(i + 1)
    ]
    return [*made, Part(ONE, chain.gravity[k], ())]


def kinetic_parts(chain: Chain) -> list[Part]:
    """Return the parts of K = ½ Σ_i M_ii q̇_i² + Σ_i>j M_ij q̇_i q̇_j."""
    v = chain.rates
    return [
        Part(HALF if i == j else ONE, chain.mass_matrix[i][j], (v[i], v[j]))
        for i in range(chain.n)
        for j in range(i + 1)
    ]


def parts_of(chain: Chain, what: str, row: int, column: int) -> list[Part]:
    """Return the parts of an entry; empty if the result is not a sum of parts."""
    if what == "C":
        return coriolis_parts(chain, row, column)
    if what == "tau":
        return torque_parts(chain, row)
    return kinetic_parts(chain) if what == "K" else []
