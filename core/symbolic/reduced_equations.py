"""Symbolic equations of motion of a linkage in its independent coordinates.

M = Φᵀ M_tree Φ, Christoffel symbols of M from those of the tree and the derivatives of Φ, G = Φᵀ G_tree. Of one freedom
I(q) q̈ + ½ I′(q) q̇² + G(q) = τ (Burton Paul, Kinematics and Dynamics of Planar Machinery, 1979, chapter 12).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from core.numerics.spatial.scalar import Scalar, is_zero, plus, times
from core.symbolic.forms import ZERO, Form, Number, Symbol, power, product, summed
from core.symbolic.linkage_symbols import LinkageSymbols
from core.symbolic.long_forms import Part, length
from core.symbolic.loop_rules import Definition
from core.symbolic.loop_speeds import Speeds

LONGEST = 200
"""Largest number of terms of an entry that is written as a whole; longer ones are written part by part."""


class ReducedEquations:
    """Reduced equations of motion of one linkage."""

    def __init__(self, linkage: LinkageSymbols, speeds: Speeds) -> None:
        self.linkage, self.speeds = linkage, speeds

    def definitions(self) -> tuple[Definition, ...]:
        """Return I, I′, G and τ for one independent coordinate; M, C, G and τ for several."""
        n = len(self.linkage.places)
        return self._definitions_of_one() if n == 1 else self._definitions_of_several(n)

    def _definitions_of_one(self) -> tuple[Definition, ...]:
        variable = self.linkage.independent[0]
        at = self.linkage.places[0]
        I, slope, G, tau = (self.linkage.named(name) for name in ("I", "I_prime", "G", "tau"))
        q, rate, acceleration = variable.symbol, self.linkage.rates[at], self.linkage.accelerations[at]
        half = product(Number(Fraction(1, 2)), Symbol(slope), power(Symbol(rate), 2))
        equation = summed([product(Symbol(I), Symbol(acceleration)), half, Symbol(G)])
        return (
            Definition(I, self._written_sum(self._inertia_parts(0, 0)), "reduced inertia"),
            Definition(slope, self._written_sum(self._christoffel_parts(0, 0, 0, 2)), f"dI/d{q}"),
            Definition(G, self._written_sum(self._gravity_parts(0)), f"dP/d{q}"),
            Definition(tau, equation, f"force at {q}"),
        )

    def _definitions_of_several(self, n: int) -> tuple[Definition, ...]:
        made: list[Definition] = []
        M: dict[tuple[int, int], str] = {}
        C: dict[tuple[int, int], str] = {}
        G: list[str] = []
        for a in range(n):
            for b in range(a + 1):
                M[a, b] = M[b, a] = self.linkage.named(f"M{b + 1}{a + 1}")
                made.append(Definition(M[a, b], self._written_sum(self._inertia_parts(a, b)), "reduced mass matrix"))
        rates = [self.linkage.rates[i] for i in self.linkage.places]
        for c in range(n):
            for a in range(n):
                C[c, a] = self.linkage.named(f"C_{c + 1}{a + 1}")
                parts = [
                    part._replace(symbols=(*part.symbols, rates[b]))
                    for b in range(n)
                    for part in self._christoffel_parts(c, a, b, 1)
                ]
                made.append(Definition(C[c, a], self._written_sum(parts), "from Christoffel symbols"))
        for c in range(n):
            G.append(self.linkage.named(f"G{c + 1}"))
            made.append(
                Definition(G[c], self._written_sum(self._gravity_parts(c)), f"∂P/∂{self.linkage.independent[c].symbol}")
            )
        for c in range(n):
            terms = [
                product(Symbol(M[c, a]), Symbol(self.linkage.accelerations[i]))
                for a, i in enumerate(self.linkage.places)
            ]
            terms += [product(Symbol(C[c, a]), Symbol(rates[a])) for a in range(n)]
            name = self.linkage.named(f"tau{c + 1}")
            made.append(
                Definition(name, summed([*terms, Symbol(G[c])]), f"force at {self.linkage.independent[c].symbol}")
            )
        return tuple(made)

    def _times_ratio(self, i: int, a: int, element: Scalar) -> tuple[Scalar, tuple[str, ...]]:
        """Multiply an element by Φ_ia; return the product, with the name of Φ_ia kept apart if it is a symbol."""
        name = self.speeds.ratio_name(i, a)
        if name:
            return element, (name,)
        return times(element, self.speeds.columns[i][a]), ()

    def _times_ratios(self, element: Scalar, *factors: tuple[int, int]) -> tuple[Scalar, tuple[str, ...]]:
        symbols: tuple[str, ...] = ()
        for i, a in factors:
            element, more = self._times_ratio(i, a, element)
            symbols += more
        return element, symbols

    def _inertia_parts(self, a: int, b: int) -> list[Part]:
        """Return the parts of Σ_ij Φ_ia M_ij Φ_jb."""
        M, n = self.linkage.mass_matrix, self.linkage.n
        return [
            Part(Fraction(1), *self._times_ratios(M[i][j], (i, a), (j, b)))
            for i in range(n)
            for j in range(n)
            if not is_zero(M[i][j])
        ]

    def _christoffel_parts(self, c: int, a: int, b: int, factor: int) -> list[Part]:
        """Return the parts of the Christoffel symbol c_abc of the reduced mass matrix: Σ Φ_ic (M_ij ∂Φ_ja/∂q_b + c_mji
        Φ_ma Φ_jb)."""
        M, n, made = self.linkage.mass_matrix, self.linkage.n, []
        for i in range(n):
            for j in range(n):
                slope = self.speeds.slope_name(j, a, b)
                if slope and not is_zero(M[i][j]):
                    element, symbols = self._times_ratios(M[i][j], (i, c))
                    made.append(Part(Fraction(factor), element, (*symbols, slope)))
                for m in range(n):
                    found = self.linkage.christoffel(max(m, j), min(m, j), i)
                    if not is_zero(found):
                        made.append(Part(Fraction(factor), *self._times_ratios(found, (i, c), (m, a), (j, b))))
        return made

    def _gravity_parts(self, a: int) -> list[Part]:
        """Return the parts of Σ_i Φ_ia G_i."""
        found = enumerate(self.linkage.gravity)
        return [Part(Fraction(1), *self._times_ratios(G, (i, a))) for i, G in found if not is_zero(G)]

    def _written_sum(self, parts: Sequence[Part]) -> Form:
        """Write the sum of parts, as a whole if it is short, else part by part."""
        parts = _merged_parts([part for part in parts if not is_zero(part.element)])
        if not parts:
            return ZERO
        if sum(length(part.element) for part in parts) > LONGEST:
            return self.linkage.writer.sum(list(parts))
        whole: Scalar = 0.0
        for part in parts:
            element = times(self.linkage.ring.constant(part.factor), part.element)
            for symbol in part.symbols:
                element = times(element, self.linkage.ring.symbol(symbol))
            whole = plus(whole, element)
        return self.linkage.polynomial(whole)


def _merged_parts(parts: Sequence[Part]) -> list[Part]:
    """Combine parts with the same symbols."""
    found: dict[tuple[str, ...], Scalar] = {}
    for factor, element, symbols in parts:
        key = tuple(sorted(symbols))
        whole = element if factor == 1 else times(float(factor), element)
        found[key] = plus(found.get(key, 0.0), whole)
    return [Part(Fraction(1), element, symbols) for symbols, element in found.items() if not is_zero(element)]
