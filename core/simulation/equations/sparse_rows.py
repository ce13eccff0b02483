"""Multifrontal QR factorisation Yᵀ = Q R of the constraint rows in the metric of the masses, Y = G L⁻¹
(`core.numerics.elimination`).

Within a front the row of which most remains is eliminated first (QR with column pivoting, Golub and Van Loan 5.4.2);
rows of which nothing remains are redundant and take no part. Where something goes on to another front this is done by
Householder's reflections, which give what goes on, and Q is kept as reflections, so that it does not fill. A last front
(that of a single loop) is done by modified Gram–Schmidt: its part of Q is small, and sooner applied.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.simulation.equations.elimination_places import load_sparse
from core.simulation.machine_code.language import address_of, merged, native, view

HELD_LEVELS = 2
"""Highest level (0 position, 1 speed, 2 acceleration) on which a row may act; rows of a higher level are inactive."""


@native
def fill(at: int, G: Any, links: Any, squares: Any) -> None:
    """Compute Y = G L⁻¹ into the fronts from the entries of G followed by those of `links`, and the squared norm of
    each row into `squares` (rows,). Needs the factor of M."""
    e = load_sparse(at)
    for i in range(len(e.matrices)):
        e.matrices[i] = 0.0
    for i in range(len(e.rows)):
        e.order[i] = e.rows[i]
    for group in range(len(e.blocks) - 1):
        gather_rows(at, group, G, links)
        multiply_rows(at, group, squares)


@merged
def gather_rows(at: int, group: int, G: Any, links: Any) -> None:
    """Copy the entries of a group of rows side by side into the workspace."""
    e = load_sparse(at)
    count, x = e.blocks[group + 1] - e.blocks[group], e.work
    for i in range(e.reaches[group], e.reaches[group + 1]):
        first = e.reached[i] * count
        for k in range(first, first + count):
            x[k] = 0.0
    for i in range(e.begins[group], e.begins[group + 1]):
        x[e.seats[i]] = G[i] if i < len(G) else links[i - len(G)]


@merged
def multiply_rows(at: int, group: int, squares: Any) -> None:
    """Multiply a group of rows by L⁻¹ and store the result in the fronts."""
    e = load_sparse(at)
    first_row, x = e.blocks[group], e.work
    count = e.blocks[group + 1] - first_row
    for r in range(count):
        squares[e.members[first_row + r]] = 0.0
    for i in range(e.reaches[group + 1] - 1, e.reaches[group] - 1, -1):
        k = e.reached[i]
        line, depth, own, scale = e.lines[k], e.depths[k], k * count, e.scales[k]
        target, stride = e.targets[i], e.strides[i]
        d = e.factor[line + depth]
        for r in range(count):
            y = x[own + r] * d
            x[own + r] = y
            squares[e.members[first_row + r]] += y * y
            e.matrices[target + r * stride] = y * scale
        for j in range(line, line + depth):
            d, other = e.factor[j], e.paths[j] * count
            for r in range(count):
                x[other + r] -= d * x[own + r]


@native
def glue(at: int, size: float) -> None:
    """Set the rows that tie copies of unknowns together, with entries of the given size."""
    e = load_sparse(at)
    for i in range(0, len(e.glue), 2):
        e.matrices[e.glue[i]] = size
        e.matrices[e.glue[i + 1]] = -size


@merged
def reflect_rows(A: Any, tall: int, width: int, column: int, row: int, height: int, remainders: Any) -> Any:
    """Apply a Householder reflection to the rows from `row` on, which zeroes a column below `row`, also to the columns
    after it; returns the reflection's factor and stores its vector (1, …) below `row`. remainders (width,): squared
    column norms from `row` on; on return those of later columns count from the next row on."""
    at = column * tall
    x = A[at + row]
    turned, square = 0.0, remainders[column]
    if square > x * x:
        length = -np.copysign(np.sqrt(square), x)
        longer = x - length
        ratio = 1.0 / (length * longer)
        for r in range(row + 1, height):
            A[at + r] *= ratio * length
        A[at + row] = length
        turned = -ratio * longer * longer
    for c in range(column + 1, width):
        other, left = c * tall, 0.0
        part = A[other + row]
        for r in range(row + 1, height):
            part += A[at + r] * A[other + r]
        part *= turned
        A[other + row] -= part
        for r in range(row + 1, height):
            x = A[other + r] - part * A[at + r]
            A[other + r] = x
            left += x * x
        remainders[c] = left
    return turned


@merged
def sum_of_squares(A: Any, first: int, last: int) -> Any:
    """Return the sum of squares of A[first:last]."""
    total = 0.0
    for i in range(first, last):
        total += A[i] * A[i]
    return total


@merged
def swap_columns(at: int, f: int, one: int, other: int) -> None:
    """Swap two columns of a front."""
    e = load_sparse(at)
    first, tall = e.column_begins[f], e.talls[f]
    e.order[first + one], e.order[first + other] = e.order[first + other], e.order[first + one]
    e.remainders[first + one], e.remainders[first + other] = e.remainders[first + other], e.remainders[first + one]
    a, b = e.matrix_begins[f] + one * tall, e.matrix_begins[f] + other * tall
    for r in range(tall):
        e.matrices[a + r], e.matrices[b + r] = e.matrices[b + r], e.matrices[a + r]


@merged
def orthogonalise_columns(A: Any, tall: int, width: int, column: int, height: int, remainders: Any) -> Any:
    """Orthogonalise the later columns of a last front against one column (modified Gram–Schmidt), storing R with unit
    diagonal below them; returns 1/|column|²."""
    at, triangle = column * tall, tall - width
    inverse = 1.0 / remainders[column]
    A[at + triangle + column] = 1.0
    for c in range(column + 1, width):
        other, part, left = c * tall, 0.0, 0.0
        for r in range(height):
            part += A[at + r] * A[other + r]
        part *= inverse
        A[other + triangle + column] = part
        for r in range(height):
            x = A[other + r] - part * A[at + r]
            A[other + r] = x
            left += x * x
        remainders[c] = left
    return inverse


@merged
def eliminate(at: int, f: int, levels: Any, least: float, part: float, sizes: Any) -> Any:
    """Eliminate the pivots of a front, largest remainder first, while its square is above `least` and above the share
    `part` of its row's `sizes` (rows,); returns the smallest share. The remainder goes on to the next front."""
    e = load_sparse(at)
    tall, width, height, rank, last = e.talls[f], e.widths[f], e.heights[f], 0, e.nexts[f] < 0
    A, first, smallest = view(address_of(e.matrices) + 8 * e.matrix_begins[f], tall * width), e.column_begins[f], 1.0
    remainders = view(address_of(e.remainders) + 8 * first, width)
    for c in range(width):
        remainders[c] = sum_of_squares(A, c * tall, c * tall + height)
    for step in range(e.pivots[f]):
        best, pivot = -1.0, step
        for c in range(step, e.pivots[f]):
            if remainders[c] > best and levels[e.order[first + c]] <= HELD_LEVELS:
                best, pivot = remainders[c], c
        whole = sizes[e.order[first + pivot]]
        if not best > least or best < part * whole:
            break
        smallest = min(smallest, best / whole)
        if pivot != step:
            swap_columns(at, f, step, pivot)
        if last:
            e.reflections[first + step] = orthogonalise_columns(A, tall, width, step, height, remainders)
        else:
            e.reflections[first + step] = reflect_rows(A, tall, width, step, step, height, remainders)
            A[step * tall + step] = 1.0 / A[step * tall + step]
        rank += 1
    e.ranks[f] = rank
    if not last:
        pass_remainder(at, f)
    return smallest


@merged
def remaining_unknowns(at: int, f: int) -> Any:
    """Return the number of unknowns passed on to the next front; its columns are reflected first if they are fewer."""
    e = load_sparse(at)
    return min(e.heights[f] - e.ranks[f], e.widths[f] - e.pivots[f])


@merged
def reflected_columns(at: int, f: int) -> Any:
    """Return the number of columns after the pivots that are reflected, so that no more unknowns than columns are
    passed on."""
    e = load_sparse(at)
    return e.widths[f] - e.pivots[f] if e.heights[f] - e.ranks[f] > e.widths[f] - e.pivots[f] else 0


@merged
def pass_remainder(at: int, f: int) -> None:
    """Copy the remainder of a front to the next front."""
    e = load_sparse(at)
    tall, width, rank, first, following = e.talls[f], e.widths[f], e.ranks[f], e.column_begins[f], e.nexts[f]
    A = view(address_of(e.matrices) + 8 * e.matrix_begins[f], tall * width)
    triangular, remainders = reflected_columns(at, f), view(address_of(e.remainders) + 8 * first, width)
    for c in range(triangular):
        column = e.pivots[f] + c
        e.reflections[first + column] = reflect_rows(A, tall, width, column, rank + c, e.heights[f], remainders)
    left, base = remaining_unknowns(at, f), e.heights[following]
    for c in range(e.pivots[f], width):
        to = e.matrix_begins[following] + e.lifts[first + c] * e.talls[following] + base
        for r in range(min(left, c - e.pivots[f] + 1) if triangular > 0 else left):
            e.matrices[to + r] = A[c * tall + rank + r]
    e.bases[f] = base
    e.heights[following] = base + left


@native
def factor(at: int, levels: Any, least: float, part: float, sizes: Any) -> Any:
    """Eliminate all fronts, see `eliminate`; returns (rank, smallest share left of an independent row)."""
    e = load_sparse(at)
    rank, smallest = 0, 1.0
    for f in range(len(e.pivots)):
        e.heights[f] = e.own_begins[f + 1] - e.own_begins[f]
    for f in range(len(e.pivots)):
        smallest = min(smallest, eliminate(at, f, levels, least, part, sizes))
        rank += e.ranks[f]
    return rank, smallest


@merged
def apply_reflection(at: int, f: int, column: int, row: int) -> None:
    """Apply the reflection of a column to the vector of a front."""
    e = load_sparse(at)
    turned = e.reflections[e.column_begins[f] + column]
    if turned == 0.0:
        return
    A, z = e.matrix_begins[f] + column * e.talls[f], e.vector_begins[f]
    part = e.vectors[z + row]
    for r in range(row + 1, e.heights[f]):
        part += e.matrices[A + r] * e.vectors[z + r]
    part *= turned
    e.vectors[z + row] -= part
    for r in range(row + 1, e.heights[f]):
        e.vectors[z + r] -= part * e.matrices[A + r]


@merged
def gather_components(at: int, f: int, w: Any) -> None:
    """Compute a front's part of Qᵀ w, after those of earlier fronts. In a last front the components along its pivots
    are stored where R is in its columns."""
    e = load_sparse(at)
    z, first, rank = e.vector_begins[f], e.own_begins[f], e.ranks[f]
    for i in range(e.own_begins[f + 1] - first):
        e.vectors[z + i] = w[e.own[first + i]] * e.shares[first + i]
    if e.nexts[f] < 0:
        for k in range(rank):
            A, part = e.matrix_begins[f] + k * e.talls[f], 0.0
            for r in range(e.heights[f]):
                part += e.matrices[A + r] * e.vectors[z + r]
            e.vectors[z + e.triangles[f] + k] = part
        return
    for k in range(rank):
        apply_reflection(at, f, k, k)
    for c in range(reflected_columns(at, f)):
        apply_reflection(at, f, e.pivots[f] + c, rank + c)
    to = e.vector_begins[e.nexts[f]] + e.bases[f]
    for r in range(remaining_unknowns(at, f)):
        e.vectors[to + r] = e.vectors[z + rank + r]


@merged
def scatter_changes(at: int, f: int, w: Any) -> None:
    """Add Q times the changes along a front's pivots to w, after those of later fronts."""
    e = load_sparse(at)
    z, first, rank, height = e.vector_begins[f], e.own_begins[f], e.ranks[f], e.heights[f]
    if e.nexts[f] < 0:
        for r in range(height):
            e.vectors[z + r] = 0.0
        for k in range(rank):
            A = e.matrix_begins[f] + k * e.talls[f]
            x = e.vectors[z + e.triangles[f] + k] * e.reflections[e.column_begins[f] + k]
            for r in range(height):
                e.vectors[z + r] += x * e.matrices[A + r]
    else:
        left, back = remaining_unknowns(at, f), e.vector_begins[e.nexts[f]] + e.bases[f]
        for r in range(left):
            e.vectors[z + rank + r] = e.vectors[back + r]
        for r in range(rank + left, height):
            e.vectors[z + r] = 0.0
        for c in range(reflected_columns(at, f) - 1, -1, -1):
            apply_reflection(at, f, e.pivots[f] + c, rank + c)
        for k in range(rank - 1, -1, -1):
            apply_reflection(at, f, k, k)
    for i in range(e.own_begins[f + 1] - first):
        w[e.own[first + i]] += e.vectors[z + i] * e.shares[first + i]


@merged
def replace_components(at: int, f: int, wanted: Any, levels: Any, stage: int, begun: bool) -> None:
    """Replace the components of Qᵀ w along a front's pivots (all zero unless `begun`) by the changes that make Y w
    equal `wanted`, and subtract their effect from `wanted` of later rows."""
    e = load_sparse(at)
    z, first, tall = e.vector_begins[f] + e.triangles[f], e.column_begins[f], e.talls[f]
    for k in range(e.ranks[f]):
        line, row = e.matrix_begins[f] + e.triangles[f] + k, e.order[first + k]
        part, step = e.vectors[z + k] if begun else 0.0, wanted[row] * e.matrices[line + k * tall]
        if levels[row] <= stage:
            step -= part
        e.vectors[z + k] = step
        for c in range(k + 1, e.widths[f]):
            other = e.order[first + c]
            moved = step + part if levels[other] <= stage else step
            wanted[other] -= e.matrices[line + c * tall] * moved


@native
def satisfy_sparse_rows(at: int, wanted: Any, held: int, w: Any, levels: Any, stage: int, begun: bool) -> None:
    """Compute the smallest change of w (n,), which is zero unless `begun`, with Y w = wanted in the first `held` rows
    and zero in the others; rows that do not act at the level `stage` keep their value. Overwrites wanted (rows,)."""
    e = load_sparse(at)
    for row in range(held):
        if levels[row] > stage:
            wanted[row] = 0.0
    for row in range(held, len(levels)):
        wanted[row] = 0.0
    for f in range(len(e.pivots)):
        if begun:
            gather_components(at, f, w)
        replace_components(at, f, wanted, levels, stage, begun)
    for f in range(len(e.pivots) - 1, -1, -1):
        scatter_changes(at, f, w)


@native
def weights_of(at: int, w: Any, out: Any) -> None:
    """Compute the multipliers λ into out (rows,) such that Yᵀ λ is the component of w (n,) in the row space; zero for
    redundant rows."""
    e = load_sparse(at)
    for row in range(len(out)):
        out[row] = 0.0
    for f in range(len(e.pivots)):
        gather_components(at, f, w)
    for f in range(len(e.pivots) - 1, -1, -1):
        z, first, tall = e.vector_begins[f] + e.triangles[f], e.column_begins[f], e.talls[f]
        for k in range(e.ranks[f] - 1, -1, -1):
            line, x = e.matrix_begins[f] + e.triangles[f] + k, e.vectors[z + k]
            if e.nexts[f] < 0:
                x *= e.reflections[first + k]
            for c in range(k + 1, e.widths[f]):
                x -= e.matrices[line + c * tall] * out[e.order[first + c]]
            out[e.order[first + k]] = x * e.matrices[line + k * tall]
