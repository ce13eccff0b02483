"""Conversion of ring elements to terms in which angle sums are collected: C1 C2 − S1 S2 becomes C12.

Within a group of angles about parallel axes, products of sines and cosines become sums of sines and cosines of sums
(Fourier form: unique, so that everything that cancels is gone). Single angles keep their powers; 1 − C² becomes S².
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product as combinations
from typing import Any, NamedTuple

from core.symbolic.forms import Form, Number, SineOrCosine, Symbol, make_power, make_product
from core.symbolic.ring import RingElement, exact_fraction, register_formatter

Atom = Symbol | SineOrCosine
Factors = tuple[tuple[Atom, int], ...]
Groups = Sequence[Sequence[str]]


class Term(NamedTuple):
    """Term coefficient · Π atom^power."""

    coefficient: Fraction
    factors: Factors

    def to_form(self) -> Form:
        """Write the term as a product of number, plain symbols, sines and cosines."""
        parts = [make_power(atom, exponent) for atom, exponent in self.factors]
        return make_product(Number(self.coefficient), *parts)

    def __str__(self) -> str:
        from core.symbolic.notation import format_form

        return format_form(self.to_form())


Wave = tuple[str, tuple[int, ...]]
"""Sine or cosine of an angle sum: ("cos" or "sin", integer multiples of the angles of a group); the cosine of zero is
1."""
Key = tuple[tuple[tuple[int, int], ...], tuple[int, ...], tuple[Wave, ...]]
"""Exponents of a term: (sine, cosine) powers of single angles, powers of plain symbols, and one wave per group."""


@lru_cache(maxsize=100_000)
def _expand_product_of_sines(powers: tuple[tuple[int, int], ...]) -> tuple[tuple[int, Wave], ...]:
    """Expand 2^m Π sin(θ_i)^s cos(θ_i)^c into a sum of sines and cosines of angle sums, with m the number of factors;
    powers: (s, c) of a group's angles."""
    zero = tuple(0 for _ in powers)
    result: dict[Wave, int] = {("cos", zero): 1}
    for i, (s, c) in enumerate(powers):
        unit = tuple(int(k == i) for k in range(len(powers)))
        for kind in ["sin"] * s + ["cos"] * c:
            result = _multiply_waves(result, kind, unit)
    return tuple((value, wave) for wave, value in result.items() if value)


def _multiply_waves(waves: dict[Wave, int], kind: str, factor_angle: tuple[int, ...]) -> dict[Wave, int]:
    """Multiply sines and cosines of angle sums by another one with the product-to-sum rules: 2 sin a sin b = cos(a−b) −
    cos(a+b) and the like."""
    result: dict[Wave, int] = {}
    for (own, angle), value in waves.items():
        plus = tuple(a + b for a, b in zip(angle, factor_angle, strict=True))
        minus = tuple(a - b for a, b in zip(angle, factor_angle, strict=True))
        if own == kind:
            pieces = [("cos", minus, value), ("cos", plus, value if kind == "cos" else -value)]
        elif own == "sin":
            pieces = [("sin", plus, value), ("sin", minus, value)]
        else:
            pieces = [("sin", plus, value), ("sin", minus, -value)]
        for name, sum_of, amount in pieces:
            wave, sign = _normalise_wave(name, sum_of)
            if sign:
                result[wave] = result.get(wave, 0) + sign * amount
    return result


def _normalise_wave(kind: str, angle: tuple[int, ...]) -> tuple[Wave, int]:
    """Return the sine or cosine with its first multiple positive, and the sign; the sign is 0 for sin 0."""
    first = next((k for k in angle if k), 0)
    if first == 0:
        return ("cos", angle), int(kind == "cos")
    if first > 0:
        return (kind, angle), 1
    return (kind, tuple(-k for k in angle)), 1 if kind == "cos" else -1


def collect_terms(x: Any, groups: Groups = ()) -> list[Term]:
    """Return the terms of an element (or number) with the angle sums of the groups collected."""
    if not isinstance(x, RingElement):
        value = x if isinstance(x, Fraction) else exact_fraction(float(x))
        return [Term(value, ())] if value else []
    ring = x.ring
    wide = [[ring.angles.index(name) for name in group if name in ring.angles] for group in groups]
    wide = [group for group in wide if len(group) > 1]
    single = [i for i in range(len(ring.angles)) if not any(i in group for group in wide)]
    sums, scale = _collect_coefficients(x, single, wide)
    sums = _merge_wave_squares(_merge_sine_squares(sums))
    atoms = _TermFactors(ring, single, wide)
    found = sorted(
        ((atoms.factors_of_term(key), value) for key, value in sums.items()), key=lambda pair: atoms.sort_key(pair[0])
    )
    return [Term(Fraction(value, scale), factors) for factors, value in found]


def _collect_coefficients(
    x: RingElement, single_angles: list[int], angle_groups: list[list[int]]
) -> tuple[dict[Key, int], int]:
    """Return integer coefficients of powers and waves, and their common divisor."""
    n = len(x.ring.angles)
    terms = [(tuple(map(int, powers)), int(c.p), int(c.q)) for powers, c in x.polynomial.terms()]
    denominator = math.lcm(*(q for _, _, q in terms))
    together = [i for group in angle_groups for i in group]
    halvings = [sum(powers[i] + powers[n + i] for i in together) for powers, _, _ in terms]
    most = max(halvings, default=0)
    sums: dict[Key, int] = {}
    for (powers, p, q), halved in zip(terms, halvings, strict=True):
        alone, plain = tuple((powers[i], powers[n + i]) for i in single_angles), powers[2 * n :]
        value = p * (denominator // q) << (most - halved)
        choices = [_expand_product_of_sines(tuple((powers[i], powers[n + i]) for i in group)) for group in angle_groups]
        for choice in combinations(*choices):
            key = alone, plain, tuple(wave for _, wave in choice)
            sums[key] = sums.get(key, 0) + value * math.prod(factor for factor, _ in choice)
    return {key: value for key, value in sums.items() if value}, denominator << most


def _merge_sine_squares(sums: dict[Key, int]) -> dict[Key, int]:
    """Replace k − k C² by k S² for single angles."""
    for key in sorted(key for key in sums if any(c > 1 for _, c in key[0])):
        single, plain, waves = key
        for i, (s, c) in enumerate(single):
            if key not in sums or c < 2:
                continue
            lower = ((*single[:i], (s, c - 2), *single[i + 1 :]), plain, waves)
            if sums.get(lower) == -sums[key]:
                raised = ((*single[:i], (s + 2, c - 2), *single[i + 1 :]), plain, waves)
                sums[raised] = sums.get(raised, 0) + sums.pop(lower)
                del sums[key]
                if not sums[raised]:
                    del sums[raised]
    return sums


def _merge_wave_squares(sums: dict[Key, int]) -> dict[Key, int]:
    """Replace k + Σ a cos 2α with k = Σ ± a by Σ 2a cos²α or −2a sin²α; squares are marked by a third entry."""
    families: dict[tuple[int, Key], list[Key]] = {}
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


class _TermFactors:
    """Factors of terms, each created only once, and the order of terms."""

    def __init__(self, ring: Any, single: list[int], wide: list[list[int]]) -> None:
        self._plain = [Symbol(name) for name in ring.plain]
        self._single = [tuple(SineOrCosine(f, ((ring.angles[i], 1),)) for f in ("cos", "sin")) for i in single]
        self._angles = [[ring.angles[i] for i in group] for group in wide]
        self._sum_of_waves: dict[tuple[int, Wave], tuple[tuple[Atom, int], ...]] = {}

    def factors_of_term(self, key: Key) -> Factors:
        """Return the factors of the term with this key."""
        powers, plain, waves = key
        factors: list[tuple[Atom, int]] = [(self._plain[i], k) for i, k in enumerate(plain) if k]
        for (cosine, sine), (s, c) in zip(self._single, powers, strict=True):
            if c:
                factors.append((cosine, c))
            if s:
                factors.append((sine, s))
        for g, wave in enumerate(waves):
            if (g, wave) not in self._sum_of_waves:
                self._sum_of_waves[g, wave] = self._wave_factor(g, *wave)
            factors += self._sum_of_waves[g, wave]
        return tuple(factors)

    def _wave_factor(self, g: int, kind: str, multiples: tuple[int, ...]) -> tuple[tuple[Atom, int], ...]:
        angle = tuple((name, k) for name, k in zip(self._angles[g], multiples, strict=True) if k)
        return ((SineOrCosine(kind[:3], angle), 2 if kind.endswith("²") else 1),) if angle else ()

    @staticmethod
    def sort_key(factors: Factors) -> tuple[Any, ...]:
        """Return a sort key for a term: terms without sines first, then by symbols."""
        trig = [(a.angle, a.function, k) for a, k in factors if isinstance(a, SineOrCosine)]
        plain = [(a.name, k) for a, k in factors if isinstance(a, Symbol)]
        return len(trig), trig, plain


def write_products(terms: Iterable[Term]) -> list[Form]:
    """Write the terms as products."""
    return [term.to_form() for term in terms]


def _format_element(x: RingElement) -> str:
    return " + ".join(str(term) for term in collect_terms(x)) or "0"


register_formatter(_format_element)
