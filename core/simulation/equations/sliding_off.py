"""Friction of balls (vectors of speeds that rub together) that begin to slide.

Friction F opposite to what slides with the speed v, along d, turns d at the rate A F/v, A its response: without end
where it begins. Until then it goes on along the d for which what accelerates it other than along d is what turns it:
A λ + c = s d + v ḋ, λ = −F d, with any s (as of the slow manifold of a stiff equation: Hairer and Wanner, Solving
ODE II, VI.3; without ḋ it is the least of A on a sphere, of which s tells the multiplier: Moré and Sorensen, SIAM
Journal on Scientific and Statistical Computing 4, 1983).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.equations.admissible_forces import eliminate, shift
from core.simulation.equations.ball_forces import in_balls, length_of
from core.simulation.equations.mode_rows import MOVING, length, load_rows, rubs, sliding
from core.simulation.machine_code.language import native, scratch

ROUNDS, WELL = 20, 1e-12
"""Of Newton's method; part of F within which a force is as large."""
SHARP_TURN = 1e-3
"""What turns more within `LATER` jumps, and has no ḋ."""
LATER = 1e-6
"""s: the time over which ḋ is a difference."""
LOOKS = 2
"""How often ḋ is that of the d which it leads to."""


@native
def begins(rows: int, k: int) -> Any:
    """Whether row k is of a ball that begins to slide."""
    r = load_rows(rows)
    first = r.leader[k]
    return r.zone[first] > 0.0 and abs(r.mode[first]) == MOVING and r.free[first] == 0 and rubs(rows, first)


@native
def begins_any(rows: int) -> Any:
    """Whether there is such a ball."""
    r, some = load_rows(rows), False
    for k in range(r.count if r.balls == 1 else 0):
        some = some or begins(rows, k)
    return some


@native
def limit(rows: int, chosen: Any, low: Any, high: Any, shares: Any) -> None:
    """What rows may carry: those of a ball its friction together, others anything."""
    r = load_rows(rows)
    for i in range(len(chosen)):
        k = int(chosen[i])
        low[i], high[i], shares[i] = -np.inf, np.inf, 1
        if begins(rows, k):
            first, shares[i] = r.leader[k], r.shares[k]
            speed = length(rows, first, r.rate)
            high[i] = sliding(r.static_onward[first], r.kinetic_onward[first], r.stribeck[first], speed)


@native
def fill(A: Any, more: Any, D: Any, n: int) -> None:
    """D ← A + diag(more)."""
    for i in range(n):
        for j in range(n):
            D[i * n + j] = A[i * n + j] + (more[i] if i == j else 0.0)


@native
def slow_down(A: Any, c: Any, shares: Any, high: Any, g: Any, first: int, lam: Any, n: int) -> bool:
    """λ as long as F of a ball (its first row among n) that could be held, and is slowed down: the multiplier is
    negative, by Newton's method for 1/|λ|. False if there is none nearby. g (n,): motion of those that cannot."""
    D, more, x, turn = scratch(n * n), scratch(n), scratch(n), scratch(n)
    count, size, epsilon = int(shares[first]), length_of(lam, first, int(shares[first])), shift(A, n)
    for i in range(n):
        x[i], more[i] = lam[i], epsilon
    for i in range(n):
        for j in range(i, i + int(shares[i])):
            more[j] += length_of(g, i, int(shares[i])) / high[i] if shares[i] > 1.0 and i != first else 0.0
    for _ in range(ROUNDS):
        slope, along = 0.0, 0.0
        for i in range(n):
            turn[i] = x[i] if first <= i < first + count else 0.0
        fill(A, more, D, n)
        eliminate(D, turn, n)
        for i in range(first, first + count):
            slope += x[i] * turn[i]
        if not slope > 0.0 or size == 0.0:
            return False
        change = (1.0 / size - 1.0 / high[first]) * size**3 / slope
        for i in range(n):
            x[i] = -c[i]
            more[i] -= change if first <= i < first + count else 0.0
        fill(A, more, D, n)
        eliminate(D, x, n)
        size = length_of(x, first, count)
        if abs(size - high[first]) <= WELL * high[first]:
            for i in range(first, first + count):
                along += x[i] * lam[i]
                lam[i] = x[i]
            return along > 0.0
    return False


@native
def slide_off(rows: int, turning: Any, chosen: Any, A: Any, c: Any, lam: Any, n: int) -> None:
    """How much larger the forces λ of n chosen rows are, those that are held and those of balls that begin to slide,
    than until now. turning (count,): ḋ of rows; c (n,): γ̇ as it is until now, other than what they return to; it is
    changed."""
    r, known, inside = load_rows(rows), scratch(n), False
    low, high, shares, side, g = scratch(n), scratch(n), scratch(n), scratch(n), scratch(n)
    for j in range(n):
        known[j] = r.force[int(chosen[j])] if begins(rows, int(chosen[j])) else 0.0
        c[j] -= length(rows, r.leader[int(chosen[j])], r.rate) * turning[int(chosen[j])]
        for i in range(n):
            c[i] -= A[i * n + j] * known[j]
    limit(rows, chosen, low, high, shares)
    in_balls(A, c, low, high, shares, lam, side, g, n)
    for i in range(n):
        if shares[i] > 1.0 and side[i] == 0.0:
            inside = True
            slows = slow_down(A, c, shares, high, g, i, lam, n)
            for j in range(i, i + int(shares[i])):
                lam[j] = low[j] = high[j] = lam[j] if slows else -high[j] * r.aim[int(chosen[j])]
            for j in range(i, i + int(shares[i])):
                shares[j] = 1
    if inside:
        in_balls(A, c, low, high, shares, lam, side, g, n)
    for i in range(n):
        lam[i] -= known[i]


@native
def directions(rows: int, out: Any) -> None:
    """Where balls that begin to slide do, d of their rows (count,), as evaluated last; nothing of others."""
    r = load_rows(rows)
    for k in range(r.count):
        out[k] = 0.0
        if begins(rows, k):
            size = length(rows, r.leader[k], r.force)
            out[k] = -r.force[k] / size if size > 0.0 else 0.0


@native
def measure_turning(rows: int, begun: Any, out: Any) -> None:
    """ḋ into out (count,): d as it is now, as evaluated last, a time `LATER` ago `begun`."""
    directions(rows, out)
    for k in range(len(out)):
        turned = out[k] - begun[k]
        out[k] = turned / LATER if abs(turned) < SHARP_TURN else 0.0
