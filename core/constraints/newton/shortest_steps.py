"""Shortest steps that reduce linearised residuals, within a trust region, in machine code.

C Cᵀ = L Lᵀ by Cholesky's factorisation with the largest remainder first; rows without remainder are redundant. With the
orthonormal rows Q of C = L Q the step is y = Qᵀ w, (LᵀL + μ) w = Lᵀ target, μ from Hebden's iteration on 1/|y| (Moré,
Sorensen 1983), as `core.numerics.position_solver` finds it from eigenvalues.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.machine_code.language import loader, native
from core.machine_code.records import Floats, Ints, Record
from core.numerics.position_solver import REDUNDANT_FRACTION

TRIES = 12
"""Largest number of iterations for μ."""
LONGER = 1.05
"""Length of a step relative to the trust radius up to which it is accepted."""


class StepMemory(Record):
    """Memory for steps of at most m rows and n columns."""

    C: Floats
    """(m n,) rows, one after the other, of as many columns as there are at a time."""
    target: Floats
    """(m,) what C y is to be."""
    y: Floats
    """(n,) the step."""
    S: Floats
    L: Floats
    A: Floats
    """(m m,) C Cᵀ, its factor, LᵀL + μ and its factor."""
    order: Ints
    """(m,) rows in the order of the factorisation."""
    rest: Floats
    right: Floats
    w: Floats
    z: Floats
    """(m,) each."""


load_memory = loader(StepMemory)


def step_memory(rows: int, columns: int) -> StepMemory:
    """Return memory for steps of so many rows and columns."""
    square, each = np.zeros(rows * rows), np.zeros(rows)
    return StepMemory(
        C=np.zeros(rows * columns),
        target=each,
        y=np.zeros(columns),
        S=square,
        L=square.copy(),
        A=square.copy(),
        order=np.zeros(rows, dtype=np.int64),
        rest=each.copy(),
        right=each.copy(),
        w=each.copy(),
        z=each.copy(),
    )


@native
def square_rows(memory: int, k: int, f: int) -> float:
    """Compute C Cᵀ (k k,) of k rows with f columns on and below the diagonal; returns its trace."""
    m, trace = load_memory(memory), 0.0
    for i in range(k):
        row = m.C[i * f : i * f + f]
        for j in range(i + 1):
            other, total = m.C[j * f : j * f + f], 0.0
            for c in range(f):
                total += row[c] * other[c]
            m.S[i * k + j] = total
        trace += m.S[i * k + i]
    return trace


@native
def factorise_rows(memory: int, k: int, smallest: float) -> int:
    """Factorise C Cᵀ = L Lᵀ, the largest remainder first; returns the number of rows with a remainder above
    `smallest`."""
    m, rank = load_memory(memory), 0
    for i in range(k):
        m.rest[i] = m.S[i * k + i]
    while rank < k:
        p, most = -1, smallest
        for i in range(k):
            if m.rest[i] > most:
                p, most = i, m.rest[i]
        if p < 0:
            return rank
        m.order[rank], pivot = p, np.sqrt(most)
        m.rest[p] = -1.0
        own = m.L[p * k : p * k + k]
        for i in range(k):
            row = m.L[i * k : i * k + k]
            if m.rest[i] >= 0.0:
                total = m.S[i * k + p] if i > p else m.S[p * k + i]
                for j in range(rank):
                    total -= row[j] * own[j]
                row[rank] = total / pivot
                m.rest[i] = max(m.rest[i] - row[rank] ** 2, 0.0)
            else:
                row[rank] = 0.0
        own[rank] = pivot
        rank += 1
    return rank


@native
def combine_rows(memory: int, k: int, f: int, rank: int) -> None:
    """Compute y = Qᵀ w."""
    m = load_memory(memory)
    for c in range(f):
        m.y[c] = 0.0
    for b in range(rank):
        j = rank - 1 - b
        p, total = m.order[j], m.w[j]
        for i in range(j + 1, rank):
            total -= m.L[m.order[i] * k + j] * m.z[i]
        m.z[j] = total / m.L[p * k + j]
        row = m.C[p * f : p * f + f]
        for c in range(f):
            m.y[c] += m.z[j] * row[c]


@native
def solve_in_order(memory: int, k: int) -> float:
    """Compute w with L w = target, where no row is redundant; returns its squared length."""
    m, square = load_memory(memory), 0.0
    for j in range(k):
        row, total = m.L[m.order[j] * k : m.order[j] * k + k], m.target[m.order[j]]
        for i in range(j):
            total -= row[i] * m.w[i]
        m.w[j] = total / row[j]
        square += m.w[j] ** 2
    return square


@native
def solve_damped(memory: int, k: int, rank: int, mu: float) -> Any:
    """Compute w with (LᵀL + μ) w = Lᵀ target; returns wᵀ w and wᵀ (LᵀL + μ)⁻¹ w."""
    m, square, slope = load_memory(memory), 0.0, 0.0
    for a in range(rank):
        m.w[a] = m.right[a]
        for b in range(a + 1):
            total = m.S[a * k + b] + (mu if a == b else 0.0)
            for c in range(b):
                total -= m.A[a * k + c] * m.A[b * k + c]
            m.A[a * k + b] = total / m.A[b * k + b] if b < a else np.sqrt(max(total, 1e-300))
    for a in range(rank):
        for b in range(a):
            m.w[a] -= m.A[a * k + b] * m.w[b]
        m.w[a] /= m.A[a * k + a]
    for b in range(rank):
        a = rank - 1 - b
        for c in range(a + 1, rank):
            m.w[a] -= m.A[c * k + a] * m.w[c]
        m.w[a] /= m.A[a * k + a]
        square += m.w[a] ** 2
    for a in range(rank):
        total = m.w[a]
        for b in range(a):
            total -= m.A[a * k + b] * m.z[b]
        m.z[a] = total / m.A[a * k + a]
        slope += m.z[a] ** 2
    return square, slope


@native
def prepare_damped(memory: int, k: int, rank: int) -> None:
    """Compute LᵀL on and below the diagonal, in place of C Cᵀ, and Lᵀ target."""
    m = load_memory(memory)
    for a in range(rank):
        m.right[a] = 0.0
        for b in range(a + 1):
            total = 0.0
            for i in range(k):
                total += m.L[i * k + a] * m.L[i * k + b]
            m.S[a * k + b] = total
        for i in range(k):
            m.right[a] += m.L[i * k + a] * m.target[i]


@native
def find_shortest_step(memory: int, k: int, f: int, radius: float) -> None:
    """Compute the shortest y (f,) that minimises |C y − target| within |y| ≤ radius, for k rows."""
    m = load_memory(memory)
    for c in range(f):
        m.y[c] = 0.0
    trace = square_rows(memory, k, f)
    if not trace < np.inf:
        return
    rank = factorise_rows(memory, k, REDUNDANT_FRACTION * trace)
    if rank == 0:
        return
    if rank == k and solve_in_order(memory, k) <= (LONGER * radius) ** 2:
        combine_rows(memory, k, f, rank)
        return
    prepare_damped(memory, k, rank)
    mu = 0.0
    square, slope = solve_damped(memory, k, rank, mu)
    for _ in range(TRIES):
        size = np.sqrt(square)
        if not (size > LONGER * radius and slope > 0.0):
            break
        mu += (size - radius) / radius * square / slope
        square, slope = solve_damped(memory, k, rank, mu)
    combine_rows(memory, k, f, rank)
