"""Vector friction (friction disks) at the beginning of sliding.

Friction F opposite to what slides with the speed v, along d, turns d at the rate A F/v, A its response: without end
where it begins. Until then it goes on along the d for which what accelerates it other than along d is what turns it:
A λ + c = s d + v ḋ, λ = −F d, with any s (as of the slow manifold of a stiff equation: Hairer and Wanner, Solving
ODE II, VI.3; without ḋ it is the least of A on a sphere, of which s tells the multiplier: Moré and Sorensen, SIAM
Journal on Scientific and Statistical Computing 4, 1983).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.constraints.admissible_forces import find_regularisation, solve_by_elimination
from core.constraints.friction_disk_forces import solve_disk_forces, vector_norm
from core.machine_code.language import native, scratch
from core.simulation.equations.contact_rows import MOVING, has_friction, load_rows, sliding_friction, vector_magnitude

ROUNDS, WELL = 20, 1e-12
"""Largest number of Newton iterations; relative tolerance between the force magnitude and F."""
SHARP_TURN = 1e-3
"""Change of direction within the time `LATER` above which the direction is taken to jump and to have no rate ḋ."""
LATER = 1e-6
"""s: time increment for the difference quotient of ḋ."""
LOOKS = 2
"""Number of fixed-point iterations between the direction d and its rate ḋ."""


@native
def is_disk_beginning(rows: int, k: int) -> Any:
    """Return true if row k belongs to a friction disk that begins to slide."""
    r = load_rows(rows)
    first = r.leader[k]
    return r.zone[first] > 0.0 and abs(r.mode[first]) == MOVING and r.free[first] == 0 and has_friction(rows, first)


@native
def is_any_disk_beginning(rows: int) -> Any:
    """Return true if any friction disk begins to slide."""
    r, some = load_rows(rows), False
    for k in range(r.count if r.disks == 1 else 0):
        some = some or is_disk_beginning(rows, k)
    return some


@native
def set_force_bounds(rows: int, selected_rows: Any, low: Any, high: Any, shares: Any) -> None:
    """Set the force bounds of the chosen rows: a common friction bound for rows of a friction disk, no bounds for
    others."""
    r = load_rows(rows)
    for i in range(len(selected_rows)):
        k = int(selected_rows[i])
        low[i], high[i], shares[i] = -np.inf, np.inf, 1
        if is_disk_beginning(rows, k):
            first, shares[i] = r.leader[k], r.shares[k]
            speed = vector_magnitude(rows, first, r.rate)
            high[i] = sliding_friction(r.static_onward[first], r.kinetic_onward[first], r.stribeck[first], speed)


@native
def add_diagonal(A: Any, extra: Any, D: Any, n: int) -> None:
    """Compute D ← A + diag(more)."""
    for i in range(n):
        for j in range(n):
            D[i * n + j] = A[i * n + j] + (extra[i] if i == j else 0.0)


@native
def inverse_radius_errors(shares: Any, high: Any, x: Any, out: Any) -> bool:
    """Compute 1/|λ| − 1/F of all friction disks for the forces x, into out (disks,); returns true if all forces have
    the magnitude F."""
    b, well = 0, True
    for i in range(len(shares)):
        if shares[i] > 1.0:
            size = vector_norm(x, i, int(shares[i]))
            out[b] = 1.0 / size - 1.0 / high[i] if size > 0.0 else np.inf
            well = well and abs(size - high[i]) <= WELL * high[i]
            b += 1
    return well


@native
def solve_slowing_forces(A: Any, c: Any, shares: Any, high: Any, g: Any, lam: Any, n: int) -> bool:
    """Compute forces λ of magnitude F on all friction disks if friction could hold some of them, so that they
    decelerate (negative multipliers s), by Newton's method on 1/|λ|. Returns false if there is no solution nearby. g
    (n,): γ̇ for the given λ."""
    D, more, x, turned, b = scratch(n * n), scratch(n), scratch(n), scratch(n), 0
    M, change, epsilon = scratch(n * n), scratch(n), find_regularisation(A, n)
    for i in range(n):
        x[i], more[i] = lam[i], epsilon
    for i in range(n):
        for j in range(i, i + int(shares[i])):
            more[j] += vector_norm(g, i, int(shares[i])) / high[i] if shares[i] > 1.0 else 0.0
        b += 1 if shares[i] > 1.0 else 0
    for _ in range(ROUNDS):
        if inverse_radius_errors(shares, high, x, change):
            return copy_if_aligned(shares, x, lam)
        column = 0
        for first in range(n):
            if shares[first] > 1.0:
                for i in range(n):
                    turned[i] = x[i] if first <= i < first + int(shares[first]) else 0.0
                add_diagonal(A, more, D, n)
                solve_by_elimination(D, turned, n)
                inverse_radius_derivatives(shares, x, turned, column, b, M)
                column += 1
        solve_by_elimination(M, change, b)
        column = 0
        for i in range(n):
            for j in range(i, i + int(shares[i])):
                more[j] -= change[column] if shares[i] > 1.0 else 0.0
            column += 1 if shares[i] > 1.0 else 0
        for i in range(n):
            x[i] = epsilon * x[i] - c[i]
        add_diagonal(A, more, D, n)
        solve_by_elimination(D, x, n)
    return False


@native
def inverse_radius_derivatives(shares: Any, x: Any, force_derivatives: Any, column: int, count: int, out: Any) -> None:
    """Compute the derivative of 1/|λ| of all friction disks by one multiplier, into a column of out (count count,);
    turned (n,): −∂λ by that multiplier."""
    row = 0
    for i in range(len(shares)):
        if shares[i] > 1.0:
            total = 0.0
            for j in range(i, i + int(shares[i])):
                total += x[j] * force_derivatives[j]
            out[row * count + column] = total / vector_norm(x, i, int(shares[i])) ** 3
            row += 1


@native
def copy_if_aligned(shares: Any, x: Any, lam: Any) -> bool:
    """Copy the forces x to lam and return true, provided that no friction force in x points against the one in lam."""
    for i in range(len(shares)):
        if shares[i] > 1.0:
            along = 0.0
            for j in range(i, i + int(shares[i])):
                along += x[j] * lam[j]
            if not along > 0.0:
                return False
    for i in range(len(shares)):
        lam[i] = x[i]
    return True


@native
def solve_onset_forces(rows: int, direction_rates: Any, selected_rows: Any, A: Any, c: Any, lam: Any, n: int) -> None:
    """Compute the increments λ of n unknown row forces: those of active rows and of friction disks that begin to slide.
    turning (count,): rates ḋ of sliding directions; c (n,): present γ̇ without the returning term; c is overwritten."""
    r, known, inside = load_rows(rows), scratch(n), False
    low, high, shares, side, g = scratch(n), scratch(n), scratch(n), scratch(n), scratch(n)
    for j in range(n):
        known[j] = r.force[int(selected_rows[j])] if is_disk_beginning(rows, int(selected_rows[j])) else 0.0
        c[j] -= vector_magnitude(rows, r.leader[int(selected_rows[j])], r.rate) * direction_rates[int(selected_rows[j])]
        for i in range(n):
            c[i] -= A[i * n + j] * known[j]
    set_force_bounds(rows, selected_rows, low, high, shares)
    solve_disk_forces(A, c, low, high, shares, lam, side, g, n)
    for i in range(n):
        inside = inside or (shares[i] > 1.0 and side[i] == 0.0)
    if inside:
        slows = solve_slowing_forces(A, c, shares, high, g, lam, n)
        for i in range(n):
            if shares[i] != 1.0:  # of a ball
                stays = slows or side[i] != 0.0
                lam[i] = low[i] = high[i] = lam[i] if stays else -high[i] * r.aim[int(selected_rows[i])]
        for i in range(n):
            shares[i] = 1
        solve_disk_forces(A, c, low, high, shares, lam, side, g, n)
    for i in range(n):
        lam[i] -= known[i]


@native
def compute_directions(rows: int, out: Any) -> None:
    """Compute the sliding directions d (count,) of friction disks that begin to slide, from the last evaluated forces;
    zero for other rows."""
    r = load_rows(rows)
    for k in range(r.count):
        out[k] = 0.0
        if is_disk_beginning(rows, k):
            size = vector_magnitude(rows, r.leader[k], r.force)
            out[k] = -r.force[k] / size if size > 0.0 else 0.0


@native
def compute_direction_rates(rows: int, earlier_directions: Any, out: Any) -> None:
    """Compute ḋ into out (count,) from the difference between the present directions and those `earlier_directions` a
    time `LATER` before."""
    compute_directions(rows, out)
    for k in range(len(out)):
        turned = out[k] - earlier_directions[k]
        out[k] = turned / LATER if abs(turned) < SHARP_TURN else 0.0
