"""Forces within bounds that hold rows where they can: λ in [low, high] with γ̇ = A λ + c zero inside, not positive at
the upper bound, not negative at the lower one. These are the conditions for the least ½ λᵀ A λ + cᵀ λ within bounds,
Gauss's principle for rows with friction and stops; γ̇ is unique, λ need not be. Where some rows are bounded together:
`core.simulation.equations.ball_forces`.

`bounded` : block principal pivoting (Júdice and Pires, Computers & Operations Research 21, 1994), one least index at a
time (Murty) where the number of infeasible rows stops falling, which ends for A + ε I; from there on without ε.
"""

from __future__ import annotations

from typing import Any

from core.simulation.machine_code.language import native, scratch

REGULARISATION = 1e-8
"""Part of the mean diagonal of A that chooses among forces that are not unique."""
TRIES = 8
"""Rounds of blocks without fewer infeasible rows, before one row at a time is turned."""
SWEEPS = 50
"""Of projected Gauss–Seidel, which give the sides that single pivots begin with."""
POLISHES = 3
MOVES = 1e-11
"""Part of all that accelerates a row, above which its acceleration is not rounding."""


@native
def eliminate(D: Any, x: Any, n: int) -> None:
    """x ← D⁻¹ x by Gauss with pivots; D (n n,) is spoilt, what is singular gives no finite numbers."""
    for j in range(n):
        p = j
        for i in range(j + 1, n):
            if abs(D[i * n + j]) > abs(D[p * n + j]):
                p = i
        x[j], x[p] = x[p], x[j]
        for k in range(n):
            D[j * n + k], D[p * n + k] = D[p * n + k], D[j * n + k]
        for i in range(j + 1, n):
            part = D[i * n + j] / D[j * n + j]
            x[i] -= part * x[j]
            for k in range(j, n):
                D[i * n + k] -= part * D[j * n + k]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= D[i * n + k] * x[k]
        x[i] /= D[i * n + i]


@native
def shift(A: Any, n: int) -> float:
    """ε of A + ε I."""
    total = 0.0
    for i in range(n):
        total += A[i * n + i]
    return REGULARISATION * (total / max(n, 1) + 1e-300)


@native
def correct(A: Any, g: Any, lam: Any, side: Any, n: int) -> None:
    """λ of rows that are inside (side 0) by one step toward γ̇ = 0, which is g now."""
    if n == 1:
        lam[0] -= g[0] / A[0] if side[0] == 0.0 and A[0] != 0.0 else 0.0
        return
    m = 0
    for i in range(n):
        if side[i] == 0.0:
            m += 1
    if m == 0:
        return
    D, x, row, epsilon = scratch(m * m), scratch(m), 0, shift(A, n)
    for i in range(n):
        if side[i] == 0.0:
            column = 0
            for j in range(n):
                if side[j] == 0.0:
                    D[row * m + column] = A[i * n + j] + (epsilon if i == j else 0.0)
                    column += 1
            x[row] = -g[i]
            if A[i * n + i] == 0.0:  # no force moves it
                D[row * m + row], x[row] = 1.0, 0.0
            row += 1
    eliminate(D, x, m)
    row = 0
    for i in range(n):
        if side[i] == 0.0:
            lam[i] += x[row]
            row += 1


@native
def motion(A: Any, c: Any, lam: Any, g: Any, n: int) -> None:
    """γ̇ = A λ + c into g."""
    for i in range(n):
        total = c[i]
        for j in range(n):
            total += A[i * n + j] * lam[j]
        g[i] = total


@native
def sum_of_sizes(A: Any, c: Any, lam: Any, i: int, n: int) -> float:
    """Σ |A_ij λ_j| + |c_i|: what rounding of γ̇_i is a part of."""
    total = abs(c[i])
    for j in range(n):
        total += abs(A[i * n + j] * lam[j])
    return total


@native
def sweep(A: Any, c: Any, low: Any, high: Any, lam: Any, side: Any, n: int) -> None:
    """Sides as projected Gauss–Seidel sweeps find them."""
    epsilon = shift(A, n)
    for _ in range(SWEEPS):
        for i in range(n):
            total = c[i] + epsilon * lam[i]
            for j in range(n):
                total += A[i * n + j] * lam[j]
            lam[i] = min(max(lam[i] - total / (A[i * n + i] + epsilon), low[i]), high[i])
    for i in range(n):
        side[i] = -1.0 if lam[i] <= low[i] else 1.0 if lam[i] >= high[i] else 0.0


@native
def found_at(A: Any, c: Any, low: Any, high: Any, lam: Any, side: Any, g: Any, polishes: int, n: int) -> None:
    """λ and γ̇ with each row at its bound, or held inside."""
    for i in range(n):
        lam[i] = high[i] if side[i] > 0.0 else low[i] if side[i] < 0.0 else 0.0
    motion(A, c, lam, g, n)
    for _ in range(1 + polishes):
        correct(A, g, lam, side, n)
        motion(A, c, lam, g, n)


@native
def mark(A: Any, c: Any, low: Any, high: Any, lam: Any, side: Any, g: Any, epsilon: float, bad: Any, n: int) -> int:
    """Rows that are not feasible as they are (1, others 0) into bad (n,); their number."""
    count = 0
    for i in range(n):
        rate, moves = g[i] + epsilon * lam[i], MOVES * sum_of_sizes(A, c, lam, i, n)
        force = moves / A[i * n + i] if A[i * n + i] > 0.0 else 0.0
        bad[i] = 1.0 if infeasible(low[i], high[i], lam[i], side[i], rate, force, moves) else 0.0
        count += int(bad[i])
    return count


@native
def turn(high: Any, lam: Any, side: Any, bad: Any, single: bool, n: int) -> None:
    """Infeasible rows to the bound that they are beyond, or back inside; only the first of them if single."""
    for i in range(n):
        if bad[i] > 0.0:
            side[i] = 0.0 if side[i] != 0.0 else 1.0 if lam[i] > high[i] else -1.0
            if single:
                return


@native
def pivoted(A: Any, c: Any, low: Any, high: Any, lam: Any, side: Any, g: Any, exactly: bool, n: int) -> Any:
    """λ and γ̇, from the sides given on, of A + ε I or of A. False if rounds ran out."""
    bad, fewest, tries = scratch(n), n + 1, TRIES
    epsilon = 0.0 if exactly else shift(A, n)
    for _ in range(50 + 20 * n):
        found_at(A, c, low, high, lam, side, g, POLISHES if exactly else 0, n)
        count = mark(A, c, low, high, lam, side, g, epsilon, bad, n)
        if count == 0:
            return True
        if count < fewest:
            fewest, tries = count, TRIES
        else:
            tries -= 1
        if tries == 0 and not exactly:
            for i in range(n):
                lam[i] = min(max(lam[i], low[i]), high[i])
            sweep(A, c, low, high, lam, side, n)
        else:
            turn(high, lam, side, bad, tries < 0, n)
    return False


@native
def bounded(A: Any, c: Any, low: Any, high: Any, lam: Any, side: Any, g: Any, n: int) -> Any:
    """λ, the bound at which each row is (−1, 0, 1) and γ̇; A (n n,) row by row. False if rounds ran out."""
    chosen = scratch(n)
    for i in range(n):
        side[i] = 0.0
    well = pivoted(A, c, low, high, lam, side, g, False, n)
    for i in range(n):
        chosen[i] = side[i]
    if not pivoted(A, c, low, high, lam, side, g, True, n):  # forces that are not unique: as ε chose
        for i in range(n):
            side[i] = chosen[i]
        found_at(A, c, low, high, lam, side, g, POLISHES, n)
    return well


@native
def infeasible(low: float, high: float, lam: float, side: float, g: float, force: float, rate: float) -> Any:
    """Whether a row is beyond a bound, or held back by one that should let it go."""
    if side == 0.0:
        return lam < low - force or lam > high + force
    return g > rate if side > 0.0 else g < -rate
