"""Long results as sums of parts, each of which is written only once: C from Christoffel symbols, torques from M, C and
G.

The matrix C of a seven-joint arm has 70 000 terms, its different Christoffel symbols have a third of them; whoever
computes numbers or code finds the same form in all its places.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from core.numerics.spatial.scalar import Scalar
from core.symbolic.factoring import TEXTBOOK, shortest_form
from core.symbolic.forms import ZERO, Form, Number, Sum, Symbol, make_power, make_product, make_sum
from core.symbolic.ring import RingElement
from core.symbolic.terms import Groups, collect_terms

if TYPE_CHECKING:
    from core.symbolic.chain import SymbolicChain

LONG = 60
"""Number of terms of an entry above which it is written as a sum of parts."""


class Summand(NamedTuple):
    """Summand: factor · element · Π symbols."""

    factor: Fraction
    element: Scalar
    symbols: tuple[str, ...]


def term_count(x: Scalar) -> int:
    """Return the number of terms of an element."""
    return len(x.polynomial) if isinstance(x, RingElement) else int(x != 0.0)


class CachedFormWriter:
    """Writer of elements as forms; elements that are equal up to their sign are written only once."""

    def __init__(self, groups: Groups, on_progress: Callable[[], None]) -> None:
        self._groups, self._watch = groups, on_progress
        self._known: dict[tuple[Any, ...], list[tuple[Any, Form]]] = {}

    def write_element(self, x: Scalar) -> Form:
        """Write an element with angle sums collected and with common factors extracted where that is shorter."""
        if not isinstance(x, RingElement) or term_count(x) <= TEXTBOOK:
            return self._write_new_element(x)
        negative = x.polynomial.leading_coefficient() < 0
        found = self._write_once(-x if negative else x)
        return make_product(Number(Fraction(-1)), found) if negative else found

    def _write_once(self, x: RingElement) -> Form:
        polynomial = x.polynomial
        key = len(polynomial), tuple(map(int, polynomial.degrees())), str(polynomial.leading_coefficient())
        alike = self._known.setdefault(key, [])
        for other, form in alike:
            if other == polynomial:
                return form
        alike.append((polynomial, self._write_new_element(x)))
        return alike[-1][1]

    def _write_new_element(self, x: Scalar) -> Form:
        self._watch()
        return shortest_form(collect_terms(x, self._groups))

    def write_sum(self, parts: list[Summand]) -> Form:
        """Write the sum of parts; short parts are combined, long ones written separately."""
        short: Scalar = 0.0
        forms: list[Form] = []
        for factor, element, symbols in parts:
            if isinstance(element, RingElement) and term_count(element) > TEXTBOOK:
                forms.append(_multiply_form(factor, symbols, self.write_element(element)))
            else:
                ring_of = next(p.element.ring for p in parts if isinstance(p.element, RingElement))
                whole: Any = element * ring_of.to_element(factor)
                for symbol in symbols:
                    whole = whole * ring_of.symbol(symbol)
                short = short + whole
        together = self._write_new_element(short) if short != 0.0 else ZERO
        return make_sum([together, *forms])


def _multiply_form(factor: Fraction, symbols: tuple[str, ...], form: Form) -> Form:
    """Return factor · Π symbols · form."""
    powers = [make_power(Symbol(name), symbols.count(name)) for name in dict.fromkeys(symbols)]
    if form == ZERO:
        return ZERO
    return make_product(Number(factor), *powers, form) if powers or factor != 1 or not isinstance(form, Sum) else form


# --------------------------------------------------------------------------------- what results consist of

ONE, HALF = Fraction(1), Fraction(1, 2)


def coriolis_parts(chain: SymbolicChain, k: int, j: int) -> list[Summand]:
    """Return the parts of C_kj = Σ_i c_ijk q̇_i."""
    return [Summand(ONE, chain.christoffel(max(i, j), min(i, j), k), (chain.rates[i],)) for i in range(chain.n)]


def torque_parts(chain: SymbolicChain, k: int) -> list[Summand]:
    """Return the parts of τ_k = Σ_j M_kj q̈_j + Σ_ij c_ijk q̇_i q̇_j + G_k."""
    n, v = chain.n, chain.rates
    made = [Summand(ONE, chain.mass_matrix[k][j], (chain.accelerations[j],)) for j in range(n)]
    made += [
        Summand(Fraction(1 if i == j else 2), chain.christoffel(i, j, k), (v[i], v[j]))
        for i in range(n)
        for j in range(i + 1)
    ]
    return [*made, Summand(ONE, chain.gravity[k], ())]


def kinetic_parts(chain: SymbolicChain) -> list[Summand]:
    """Return the parts of K = ½ Σ_i M_ii q̇_i² + Σ_i>j M_ij q̇_i q̇_j."""
    v = chain.rates
    return [
        Summand(HALF if i == j else ONE, chain.mass_matrix[i][j], (v[i], v[j]))
        for i in range(chain.n)
        for j in range(i + 1)
    ]


def entry_parts(chain: SymbolicChain, result: str, row: int, column: int) -> list[Summand]:
    """Return the parts of an entry of a result; empty if the result is not written as a sum of parts."""
    if result == "C":
        return coriolis_parts(chain, row, column)
    if result == "tau":
        return torque_parts(chain, row)
    return kinetic_parts(chain) if result == "K" else []
