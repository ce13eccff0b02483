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

from core.machine_code.language import address_of, merged, native, view
from core.simulation.equations.elimination_places import load_sparse

HELD_LEVELS = 2
"""Highest level (0 position, 1 speed, 2 acceleration) on which a row may act; rows of a higher level are inactive."""


@native
def fill_fronts(factors: int, G: Any, links: Any, squares: Any) -> None:
    """Compute Y = G L⁻¹ into the fronts, from the entries of G followed by those of `links` (the rows that join
    segments), and the squared norm of each row into `squares` (rows,). Needs the factor of M."""
    e = load_sparse(factors)
    for i in range(len(e.matrices)):
        e.matrices[i] = 0.0
    for i in range(len(e.rows)):
        e.order[i] = e.rows[i]
    for group in range(len(e.blocks) - 1):
        gather_rows(factors, group, G, links)
        multiply_rows(factors, group, squares)


@merged
def gather_rows(factors: int, group: int, G: Any, links: Any) -> None:
    """Copy the entries of a group of rows side by side into the workspace."""
    e = load_sparse(factors)
    count, x = e.blocks[group + 1] - e.blocks[group], e.work
    for i in range(e.reaches[group], e.reaches[group + 1]):
        first = e.reached[i] * count
        for k in range(first, first + count):
            x[k] = 0.0
    for i in range(e.begins[group], e.begins[group + 1]):
        x[e.seats[i]] = G[i] if i < len(G) else links[i - len(G)]


@merged
def multiply_rows(factors: int, group: int, squares: Any) -> None:
    """Multiply a group of rows by L⁻¹ and store the result in the fronts."""
    e = load_sparse(factors)
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
def set_copy_rows(factors: int, entry_size: float) -> None:
    """Set the rows that equate copies of unknowns, with entries of the given size."""
    e = load_sparse(factors)
    for i in range(0, len(e.glue), 2):
        e.matrices[e.glue[i]] = entry_size
        e.matrices[e.glue[i + 1]] = -entry_size


@merged
def reflect_rows(A: Any, column_length: int, width: int, column: int, row: int, height: int, remainders: Any) -> Any:
    """Apply a Householder reflection to the rows from `row` on, which zeroes a column below `row`, also to the columns
    after it; returns the reflection's factor and stores its vector (1, …) below `row`. remainders (width,): squared
    column norms from `row` on; on return those of later columns count from the next row on."""
    at = column * column_length
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
        other, left = c * column_length, 0.0
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
def swap_columns(factors: int, front: int, one: int, other: int) -> None:
    """Swap two columns of a front."""
    e = load_sparse(factors)
    first, tall = e.column_begins[front], e.talls[front]
    e.order[first + one], e.order[first + other] = e.order[first + other], e.order[first + one]
    e.remainders[first + one], e.remainders[first + other] = e.remainders[first + other], e.remainders[first + one]
    a, b = e.matrix_begins[front] + one * tall, e.matrix_begins[front] + other * tall
    for r in range(tall):
        e.matrices[a + r], e.matrices[b + r] = e.matrices[b + r], e.matrices[a + r]


@merged
def orthogonalise_columns(A: Any, column_length: int, width: int, column: int, height: int, remainders: Any) -> Any:
    """Orthogonalise the later columns of a last front against one column (modified Gram–Schmidt), storing R with unit
    diagonal below them; returns 1/|column|²."""
    at, triangle = column * column_length, column_length - width
    inverse = 1.0 / remainders[column]
    A[at + triangle + column] = 1.0
    for c in range(column + 1, width):
        other, part, left = c * column_length, 0.0, 0.0
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
def eliminate_front(
    factors: int, front: int, levels: Any, smallest_pivot: float, smallest_share: float, sizes: Any
) -> Any:
    """Eliminate the pivots of a front, always the largest remainder first, while its square is above `smallest_pivot`
    and above the fraction `smallest_share` of its row's squared norm in `sizes` (rows,); returns the smallest fraction.
    The remainder goes to the next front."""
    e = load_sparse(factors)
    tall, width, height, rank, last = e.talls[front], e.widths[front], e.heights[front], 0, e.nexts[front] < 0
    A, first, smallest = (
        view(address_of(e.matrices) + 8 * e.matrix_begins[front], tall * width),
        e.column_begins[front],
        1.0,
    )
    remainders = view(address_of(e.remainders) + 8 * first, width)
    for c in range(width):
        remainders[c] = sum_of_squares(A, c * tall, c * tall + height)
    for step in range(e.pivots[front]):
        best, pivot = -1.0, step
        for c in range(step, e.pivots[front]):
            if remainders[c] > best and levels[e.order[first + c]] <= HELD_LEVELS:
                best, pivot = remainders[c], c
        whole = sizes[e.order[first + pivot]]
        if not best > smallest_pivot or best < smallest_share * whole:
            break
        smallest = min(smallest, best / whole)
        if pivot != step:
            swap_columns(factors, front, step, pivot)
        if last:
            e.reflections[first + step] = orthogonalise_columns(A, tall, width, step, height, remainders)
        else:
            e.reflections[first + step] = reflect_rows(A, tall, width, step, step, height, remainders)
            A[step * tall + step] = 1.0 / A[step * tall + step]
        rank += 1
    e.ranks[front] = rank
    if not last:
        pass_remainder_on(factors, front)
    return smallest


@merged
def count_remaining_unknowns(factors: int, front: int) -> Any:
    """Return the number of unknowns passed on to the next front; if the remaining columns are fewer, they are reflected
    first."""
    e = load_sparse(factors)
    return min(e.heights[front] - e.ranks[front], e.widths[front] - e.pivots[front])


@merged
def count_reflected_columns(factors: int, front: int) -> Any:
    """Return the number of columns after the pivots that are reflected, so that no more unknowns than columns are
    passed on."""
    e = load_sparse(factors)
    return (
        e.widths[front] - e.pivots[front]
        if e.heights[front] - e.ranks[front] > e.widths[front] - e.pivots[front]
        else 0
    )


@merged
def pass_remainder_on(factors: int, front: int) -> None:
    """Copy the remainder of a front to the next front."""
    e = load_sparse(factors)
    tall, width, rank, first, following = (
        e.talls[front],
        e.widths[front],
        e.ranks[front],
        e.column_begins[front],
        e.nexts[front],
    )
    A = view(address_of(e.matrices) + 8 * e.matrix_begins[front], tall * width)
    triangular, remainders = count_reflected_columns(factors, front), view(address_of(e.remainders) + 8 * first, width)
    for c in range(triangular):
        column = e.pivots[front] + c
        e.reflections[first + column] = reflect_rows(A, tall, width, column, rank + c, e.heights[front], remainders)
    left, base = count_remaining_unknowns(factors, front), e.heights[following]
    for c in range(e.pivots[front], width):
        to = e.matrix_begins[following] + e.lifts[first + c] * e.talls[following] + base
        for r in range(min(left, c - e.pivots[front] + 1) if triangular > 0 else left):
            e.matrices[to + r] = A[c * tall + rank + r]
    e.bases[front] = base
    e.heights[following] = base + left


@native
def factor_fronts(factors: int, levels: Any, smallest_pivot: float, smallest_share: float, sizes: Any) -> Any:
    """Eliminate all fronts, see `eliminate`; returns (rank, smallest share left of an independent row)."""
    e = load_sparse(factors)
    rank, smallest = 0, 1.0
    for f in range(len(e.pivots)):
        e.heights[f] = e.own_begins[f + 1] - e.own_begins[f]
    for f in range(len(e.pivots)):
        smallest = min(smallest, eliminate_front(factors, f, levels, smallest_pivot, smallest_share, sizes))
        rank += e.ranks[f]
    return rank, smallest


@merged
def apply_reflection(factors: int, front: int, column: int, row: int) -> None:
    """Apply the reflection of a column to the vector of a front."""
    e = load_sparse(factors)
    turned = e.reflections[e.column_begins[front] + column]
    if turned == 0.0:
        return
    A, z = e.matrix_begins[front] + column * e.talls[front], e.vector_begins[front]
    part = e.vectors[z + row]
    for r in range(row + 1, e.heights[front]):
        part += e.matrices[A + r] * e.vectors[z + r]
    part *= turned
    e.vectors[z + row] -= part
    for r in range(row + 1, e.heights[front]):
        e.vectors[z + r] -= part * e.matrices[A + r]


@merged
def gather_components(factors: int, front: int, w: Any) -> None:
    """Compute a front's part of Qᵀ w, after those of earlier fronts. In a last front the components along its pivots
    are stored where R is in its columns."""
    e = load_sparse(factors)
    z, first, rank = e.vector_begins[front], e.own_begins[front], e.ranks[front]
    for i in range(e.own_begins[front + 1] - first):
        e.vectors[z + i] = w[e.own[first + i]] * e.shares[first + i]
    if e.nexts[front] < 0:
        for k in range(rank):
            A, part = e.matrix_begins[front] + k * e.talls[front], 0.0
            for r in range(e.heights[front]):
                part += e.matrices[A + r] * e.vectors[z + r]
            e.vectors[z + e.triangles[front] + k] = part
        return
    for k in range(rank):
        apply_reflection(factors, front, k, k)
    for c in range(count_reflected_columns(factors, front)):
        apply_reflection(factors, front, e.pivots[front] + c, rank + c)
    to = e.vector_begins[e.nexts[front]] + e.bases[front]
    for r in range(count_remaining_unknowns(factors, front)):
        e.vectors[to + r] = e.vectors[z + rank + r]


@merged
def scatter_changes(factors: int, front: int, w: Any) -> None:
    """Add Q times the changes along a front's pivots to w, after those of later fronts."""
    e = load_sparse(factors)
    z, first, rank, height = e.vector_begins[front], e.own_begins[front], e.ranks[front], e.heights[front]
    if e.nexts[front] < 0:
        for r in range(height):
            e.vectors[z + r] = 0.0
        for k in range(rank):
            A = e.matrix_begins[front] + k * e.talls[front]
            x = e.vectors[z + e.triangles[front] + k] * e.reflections[e.column_begins[front] + k]
            for r in range(height):
                e.vectors[z + r] += x * e.matrices[A + r]
    else:
        left, back = count_remaining_unknowns(factors, front), e.vector_begins[e.nexts[front]] + e.bases[front]
        for r in range(left):
            e.vectors[z + rank + r] = e.vectors[back + r]
        for r in range(rank + left, height):
            e.vectors[z + r] = 0.0
        for c in range(count_reflected_columns(factors, front) - 1, -1, -1):
            apply_reflection(factors, front, e.pivots[front] + c, rank + c)
        for k in range(rank - 1, -1, -1):
            apply_reflection(factors, front, k, k)
    for i in range(e.own_begins[front + 1] - first):
        w[e.own[first + i]] += e.vectors[z + i] * e.shares[first + i]


@merged
def replace_components(factors: int, front: int, targets: Any, levels: Any, level: int, is_nonzero: bool) -> None:
    """Replace the components of Qᵀ w along a front's pivots (all zero unless `is_nonzero`) by the changes that make Y w
    equal `targets`, and subtract their effect from `targets` of later rows."""
    e = load_sparse(factors)
    z, first, tall = e.vector_begins[front] + e.triangles[front], e.column_begins[front], e.talls[front]
    for k in range(e.ranks[front]):
        line, row = e.matrix_begins[front] + e.triangles[front] + k, e.order[first + k]
        part, step = e.vectors[z + k] if is_nonzero else 0.0, targets[row] * e.matrices[line + k * tall]
        if levels[row] <= level:
            step -= part
        e.vectors[z + k] = step
        for c in range(k + 1, e.widths[front]):
            other = e.order[first + c]
            moved = step + part if levels[other] <= level else step
            targets[other] -= e.matrices[line + c * tall] * moved


@native
def satisfy_sparse_rows(
    factors: int, targets: Any, active_rows: int, w: Any, levels: Any, level: int, is_nonzero: bool
) -> None:
    """Compute the smallest change of w (n,), which is zero unless `is_nonzero`, with Y w = wanted in the first
    `active_rows` rows and zero in the others; rows that do not act at the level `level` keep their value. Overwrites
    wanted (rows,)."""
    e = load_sparse(factors)
    for row in range(active_rows):
        if levels[row] > level:
            targets[row] = 0.0
    for row in range(active_rows, len(levels)):
        targets[row] = 0.0
    for f in range(len(e.pivots)):
        if is_nonzero:
            gather_components(factors, f, w)
        replace_components(factors, f, targets, levels, level, is_nonzero)
    for f in range(len(e.pivots) - 1, -1, -1):
        scatter_changes(factors, f, w)


@native
def compute_sparse_multipliers(factors: int, w: Any, out: Any) -> None:
    """Compute the multipliers λ into out (rows,) such that Yᵀ λ is the component of w (n,) in the row space; zero for
    redundant rows."""
    e = load_sparse(factors)
    for row in range(len(out)):
        out[row] = 0.0
    for f in range(len(e.pivots)):
        gather_components(factors, f, w)
    for f in range(len(e.pivots) - 1, -1, -1):
        z, first, tall = e.vector_begins[f] + e.triangles[f], e.column_begins[f], e.talls[f]
        for k in range(e.ranks[f] - 1, -1, -1):
            line, x = e.matrix_begins[f] + e.triangles[f] + k, e.vectors[z + k]
            if e.nexts[f] < 0:
                x *= e.reflections[first + k]
            for c in range(k + 1, e.widths[f]):
                x -= e.matrices[line + c * tall] * out[e.order[first + c]]
            out[e.order[first + k]] = x * e.matrices[line + k * tall]
