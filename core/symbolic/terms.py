"""From an element of a ring to terms with collected angle sums: C1 C2 − S1 S2 becomes C12.

Within a group of angles about parallel axes, products of sines and cosines become sums of sines and cosines of sums
(Fourier form: unique, so that everything that cancels is gone). Single angles keep their powers; 1 − C² becomes S².
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product as combinations
from typing import Any, NamedTuple

from core.symbolic.forms import Form, Number, Symbol, Trig, power, product
from core.symbolic.ring import Element

Atom = Symbol | Trig
Factors = tuple[tuple[Atom, int], ...]
Groups = Sequence[Sequence[str]]


class Term(NamedTuple):
    """coefficient · Π atom^power."""

    coefficient: Fraction
    factors: Factors

    def form(self) -> Form:
        """As a written product: number, plain symbols, sines and cosines."""
        parts = [power(atom, exponent) for atom, exponent in self.factors]
        return product(Number(self.coefficient), *parts)

    def __str__(self) -> str:
        from core.symbolic.notation import text

        return text(self.form())


Wave = tuple[str, tuple[int, ...]]
"""("cos" or "sin", whole factors of the angles of a group); cos of zero is 1."""


@lru_cache(maxsize=100_000)
def _waves(powers: tuple[tuple[int, int], ...]) -> tuple[tuple[Fraction, Wave], ...]:
    """Π sin(θ_i)^s cos(θ_i)^c as a sum of waves; powers: (s, c) of every angle of the group."""
    zero = tuple(0 for _ in powers)
    result: dict[Wave, Fraction] = {("cos", zero): Fraction(1)}
    for i, (s, c) in enumerate(powers):
        unit = tuple(int(k == i) for k in range(len(powers)))
        for kind in ["sin"] * s + ["cos"] * c:
            result = _times(result, kind, unit)
    return tuple((value, wave) for wave, value in result.items() if value)


def _times(waves: dict[Wave, Fraction], kind: str, unit: tuple[int, ...]) -> dict[Wave, Fraction]:
    """Product-to-sum rules: sin a sin b = ½ (cos(a−b) − cos(a+b)) and the like."""
    result: dict[Wave, Fraction] = {}
    for (own, angle), value in waves.items():
        plus = tuple(a + b for a, b in zip(angle, unit, strict=True))
        minus = tuple(a - b for a, b in zip(angle, unit, strict=True))
        half = value / 2
        if own == kind:
            pieces = [("cos", minus, half), ("cos", plus, half if kind == "cos" else -half)]
        elif own == "sin":
            pieces = [("sin", plus, half), ("sin", minus, half)]
        else:
            pieces = [("sin", plus, half), ("sin", minus, -half)]
        for name, sum_of, amount in pieces:
            wave, sign = _oriented(name, sum_of)
            if sign:
                result[wave] = result.get(wave, Fraction(0)) + sign * amount
    return result


def _oriented(kind: str, angle: tuple[int, ...]) -> tuple[Wave, int]:
    """The wave with its first factor positive, and the sign that takes; sin 0 is nothing."""
    first = next((k for k in angle if k), 0)
    if first == 0:
        return ("cos", angle), int(kind == "cos")
    if first > 0:
        return (kind, angle), 1
    return (kind, tuple(-k for k in angle)), 1 if kind == "cos" else -1


def terms_of(x: Any, groups: Groups = ()) -> list[Term]:
    """The terms of an element (or number), angle sums of the groups collected."""
    if not isinstance(x, Element):
        value = Fraction(x).limit_denominator(1_000_000) if not isinstance(x, Fraction) else x
        return [Term(value, ())] if value else []
    ring = x.ring
    n = len(ring.angles)
    wide = [[ring.angles.index(name) for name in group if name in ring.angles] for group in groups]
    wide = [group for group in wide if len(group) > 1]
    single = [i for i in range(n) if not any(i in group for group in wide)]
    sums: dict[tuple[Any, ...], Fraction] = {}
    for exponents, coefficient in x.polynomial.terms():
        powers = tuple(map(int, exponents))
        value = Fraction(int(coefficient.p), int(coefficient.q))
        rest = (tuple((powers[i], powers[n + i]) for i in single), tuple(powers[2 * n :]))
        choices = [_waves(tuple((powers[i], powers[n + i]) for i in group)) for group in wide]
        for choice in combinations(*choices):
            amount = value
            for factor, _ in choice:
                amount *= factor
            key = (*rest, tuple(wave for _, wave in choice))
            sums[key] = sums.get(key, Fraction(0)) + amount
    sums = {key: value for key, value in sums.items() if value}
    sums = _squares_of_waves(_squares_of_sines(sums))
    terms = [Term(value, _factors(ring, single, wide, key)) for key, value in sums.items()]
    return sorted(terms, key=_order)


def _squares_of_sines(sums: dict[tuple[Any, ...], Fraction]) -> dict[tuple[Any, ...], Fraction]:
    """k − k C² becomes k S² for single angles."""
    for key in sorted(sums, key=str):
        single, plain, waves = key
        for i, (s, c) in enumerate(single):
            if key not in sums or c < 2:
                continue
            lower = ((*single[:i], (s, c - 2), *single[i + 1 :]), plain, waves)
            if sums.get(lower) == -sums[key]:
                raised = ((*single[:i], (s + 2, c - 2), *single[i + 1 :]), plain, waves)
                sums[raised] = sums.get(raised, Fraction(0)) + sums.pop(lower)
                del sums[key]
                if not sums[raised]:
                    del sums[raised]
    return sums


def _squares_of_waves(sums: dict[tuple[Any, ...], Fraction]) -> dict[tuple[Any, ...], Fraction]:
    """k + Σ a cos 2α with k = Σ ± a becomes Σ 2a cos²α or −2a sin²α: squares are marked by a third entry."""
    families: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for key in sums:
        single, plain, waves = key
        for g, (kind, angle) in enumerate(waves):
            if kind == "cos" and any(angle) and all(k % 2 == 0 for k in angle):
                still = (*waves[:g], ("cos", tuple(0 for _ in angle)), *waves[g + 1 :])
                families.setdefault((g, (single, plain, still)), []).append(key)
    for (g, constant), keys in families.items():
        if constant not in sums or len(keys) > 4 or not all(key in sums for key in keys):
            continue
        for signs in combinations((1, -1), repeat=len(keys)):
            if sums[constant] == sum(sign * sums[key] for sign, key in zip(signs, keys, strict=True)):
                for sign, (single, plain, waves) in zip(signs, keys, strict=True):
                    half = tuple(k // 2 for k in waves[g][1])
                    square = ("cos²" if sign > 0 else "sin²", half)
                    value = sums.pop((single, plain, waves))
                    sums[(single, plain, (*waves[:g], square, *waves[g + 1 :]))] = 2 * sign * value
                del sums[constant]
                break
    return sums


def _factors(ring: Any, single: list[int], wide: list[list[int]], key: tuple[Any, ...]) -> Factors:
    powers, plain, waves = key
    factors: list[tuple[Atom, int]] = [(Symbol(ring.plain[i]), k) for i, k in enumerate(plain) if k]
    for i, (s, c) in zip(single, powers, strict=True):
        factors += [(Trig(f, ((ring.angles[i], 1),)), k) for f, k in (("cos", c), ("sin", s)) if k]
    for group, (kind, multiples) in zip(wide, waves, strict=True):
        angle = tuple((ring.angles[i], k) for i, k in zip(group, multiples, strict=True) if k)
        if angle:
            factors.append((Trig(kind[:3], angle), 2 if kind.endswith("²") else 1))
    return tuple(factors)


def _order(term: Term) -> tuple[Any, ...]:
    """Terms without sines first, then by their symbols."""
    trig = [(a.angle, a.function, k) for a, k in term.factors if isinstance(a, Trig)]
    plain = [(a.name, k) for a, k in term.factors if isinstance(a, Symbol)]
    return len(trig), trig, plain


def expanded(terms: Iterable[Term]) -> list[Form]:
    """The written terms."""
    return [term.form() for term in terms]
