"""The convex problem at one instant of a simulation: which contact rows stick, and with what forces.

Minimise ½ λᵀ A λ + cᵀ λ over admissible λ (Gauss's principle), with A = W ∂a/∂λ and c the accelerations along the rows
without their forces: γ̇ = A λ + c is then zero along rows that stick. Rows that static friction cannot hold break away
and get the bounds of kinetic friction (`resolved`). Forces within bounds are found by
`core.constraints.admissible_forces`, with vector friction by `core.constraints.friction_disk_forces`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.constraints.admissible_forces import MOVES, acceleration_scale, solve_within_bounds
from core.constraints.friction_disk_forces import solve_disk_forces, vector_norm
from core.machine_code.language import loader, native, scratch
from core.machine_code.records import Fixed, Floats, Record


class ContactProblem(Record):
    """Memory of the problem, for up to all contact rows of a machine; only the first `count` entries are in use."""

    capacity: Fixed
    count: int = 0
    """Number of candidates: rows that may stick, rest on a stop, or stay at a speed limit."""
    chosen: Floats
    """Index of each candidate among the contact rows."""
    shares: Floats
    """Number of rows of the friction disk that begins at a candidate (these are bounded together); 0 for the disk's
    other rows."""
    responses: Floats
    """Accelerations (nv,) per unit force of each candidate, one after another."""
    A: Floats
    """(count count,) response matrix W ∂a/∂λ, row by row."""
    base: Floats
    """(n,) ẏ without the forces of the candidates."""
    c: Floats
    """Accelerations γ̇ along the candidates without their forces."""
    static_low: Floats
    static_high: Floats
    kinetic_low: Floats
    kinetic_high: Floats
    """Smallest and largest force at rest, and while sliding."""
    broken: Floats
    """1: the candidate has exceeded its static friction and slides."""
    excess: Floats
    """Force by which the bounds are narrowed where a located row is slightly beyond them."""
    force: Floats
    """λ, N·m or N."""
    side: Floats
    """Bound at which λ is: −1 lower, 1 upper (of a friction disk: its rim), 0 inside."""
    rate: Floats
    """γ̇ with λ."""


load_problem = loader(ContactProblem)


def allocate_problem(count: int, nv: int, n: int) -> ContactProblem:
    """Allocate the problem of a machine with `count` contact rows, nv speeds and n states."""
    arrays: dict[str, Any] = {field.name: np.zeros(count) for field in ContactProblem.fields if field.dimensions}
    arrays |= {"A": np.zeros(count * count), "responses": np.zeros(count * nv), "base": np.zeros(n)}
    return ContactProblem(capacity=count, **arrays)


@native
def set_bounds(problem: int, low: Any, high: Any) -> None:
    """Compute the bounds of the candidates' forces: static friction at rest, kinetic friction where they have broken
    away."""
    p = load_problem(problem)
    for i in range(p.count):
        slides = p.broken[i] > 0.0
        least = p.kinetic_low[i] if slides else p.static_low[i]
        most = p.kinetic_high[i] if slides else p.static_high[i]
        less = min(p.excess[i], 0.5 * (most - least))
        low[i], high[i] = least + less, most - less


@native
def resolve_breakaway(problem: int) -> Any:
    """Decide which candidates start to slide: those that exceed their static friction get their kinetic friction as
    bounds, until no further one breaks away.

    At most count + 1 rounds, since broken rows only become more. Returns False if the forces are approximate.
    """
    p = load_problem(problem)
    n = p.count
    low, high, well, alone = scratch(n), scratch(n), True, True
    for i in range(n):
        alone = alone and int(p.shares[i]) == 1
    while True:
        set_bounds(problem, low, high)
        if alone:
            well = solve_within_bounds(p.A, p.c, low, high, p.force, p.side, p.rate, n) and well
        else:
            well = solve_disk_forces(p.A, p.c, low, high, p.shares, p.force, p.side, p.rate, n) and well
        more = 0
        for i in range(n):
            count, size = int(p.shares[i]), 0.0
            for j in range(i, i + count):
                size += acceleration_scale(p.A, p.c, p.force, j, n) ** 2
            if count > 0 and p.broken[i] == 0.0 and vector_norm(p.rate, i, count) > MOVES * np.sqrt(size):
                more += 1
                for j in range(i, i + count):
                    p.broken[j] = 1.0
        if more == 0:
            return well
