"""Closed positions near given ones in machine code: the steps of `core.numerics.position_solver` for dense constraints.

Residuals of directions of reversible joints are replaced beyond a right angle, so that they do not vanish for reversed
axes (`core.constraints.closed_positions`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.constraints.newton.displacement import displace, find_room, leaves_room
from core.constraints.newton.shortest_steps import find_shortest_step, load_memory
from core.machine_code.entry import entry
from core.machine_code.language import loader, native, view
from core.machine_code.records import Fixed, Floats, Ints, Record
from core.numerics.position_solver import (
    BAD_RATIO,
    FIRST_RADIUS,
    GOOD_RATIO,
    HOPELESS_FRACTION,
    LONGEST_STEP,
    MAX_STEPS,
    PATIENCE,
)
from core.numerics.tolerances import ACCEPTED_GAP, SOLVED_GAP
from core.programs.native_function import evaluate_function, put_argument, result_view

SMALLEST_RADIUS = 1e-12
BEYOND = 1e-9
"""Distance (rad or m) beyond a limit up to which a coordinate counts as inside."""
SHORTEST_DIRECTION = 1e-9
"""Length of a direction's residual below which the direction of a reversed axis is not known."""


class ClosingProblem(Record):
    """Constraints that are to be satisfied, and the memory of the search."""

    manifold: Fixed
    memory: Fixed
    """Addresses of the coordinates and of the memory for steps."""
    residual: Fixed
    jacobian: Fixed
    facing: Fixed
    """Addresses of functions of q; facing: cosines of reversible joints, 0: there are none."""
    rows: Fixed
    """Number of constraint rows."""
    kept: Ints
    """(m,) those that are to be satisfied."""
    oriented: int = 0
    """1: residuals of reversed joints do not vanish."""
    shifted: int = 0
    """1: residuals are those of the constraints minus `left`."""
    left: Floats
    """(m,)"""
    limited: int = 0
    """1: a row for each limit of a loop-closing joint follows: how far its coordinate is beyond it."""
    cut_values: Fixed
    cut_entries: Fixed
    """Addresses of functions of q: coordinates of loop-closing joints and nonzero entries of their derivatives; 0: none
    has limits."""
    cuts: Fixed
    cut_entry_count: Fixed
    """Lengths of their results."""
    at_cut: Ints
    first_entry: Ints
    entry_number: Ints
    turning: Ints
    lowest: Floats
    highest: Floats
    base: Floats
    """Of each limited coordinate: its index, first entry and number of entries, 1 for an angle known up to whole turns,
    limits that hold, value relative to which turns are resolved."""
    limit_lowest: Floats
    limit_highest: Floats
    limit_base: Floats
    """The model's own limits."""
    entry_columns: Ints
    """(cut_entry_count,) columns of the entries."""
    limit_values: Floats
    """Of each limited coordinate: its value at the position evaluated last."""
    first: Ints
    number: Ints
    """Rows of the directions of each reversible joint among the kept ones; number 0: they are not kept."""
    fixed: Ints
    """(nv,) 1: the speed stays zero."""
    weights: Floats
    """(nv,) how unwilling a coordinate is to move."""
    q: Floats
    trial: Floats
    begin: Floats
    """(nq,)"""
    r: Floats
    r_trial: Floats
    """(m + limits,)"""
    G: Floats
    """((m + limits) nv,)"""
    step: Floats
    low: Floats
    high: Floats
    """(nv,)"""
    free: Ints
    columns: Ints
    """(nv,) 1: the speed takes part in a step; which these are."""


load_closing = loader(ClosingProblem)


@native
def count_rows(problem: int) -> int:
    """Return the number of rows that are to be satisfied."""
    s = load_closing(problem)
    return len(s.kept) + (len(s.at_cut) if s.limited == 1 else 0)


@native
def find_residual(problem: int, q: Any, out: Any) -> None:
    """Compute the residuals (rows,) at q."""
    s = load_closing(problem)
    m = len(s.kept)
    put_argument(s.residual, 0, q)
    evaluate_function(s.residual)
    found = result_view(s.residual, s.rows)
    for i in range(m):
        out[i] = found[s.kept[i]]
    if s.oriented == 1 and s.facing != 0:
        put_argument(s.facing, 0, q)
        evaluate_function(s.facing)
        cosines = result_view(s.facing, len(s.first))
        for j in range(len(s.first)):
            if cosines[j] < 0.0 and s.number[j] > 0:
                continue_beyond_right_angle(out[s.first[j] : s.first[j] + s.number[j]])
    if s.limited == 1:
        measure_limited_coordinates(problem, q)
        for i in range(len(s.at_cut)):
            x = s.limit_values[i]
            out[m + i] = x - min(max(x, s.lowest[i]), s.highest[i])
    if s.shifted == 1:
        for i in range(count_rows(problem)):
            out[i] -= s.left[i]


@native
def measure_limited_coordinates(problem: int, q: Any) -> None:
    """Compute the coordinates of loop-closing joints that have limits, angles within half a turn of their bases."""
    s = load_closing(problem)
    put_argument(s.cut_values, 0, q)
    evaluate_function(s.cut_values)
    values = result_view(s.cut_values, s.cuts)
    for i in range(len(s.at_cut)):
        x = values[s.at_cut[i]]
        turns = np.round((s.base[i] - x) / (2.0 * np.pi)) if s.turning[i] == 1 else 0.0
        s.limit_values[i] = x + 2.0 * np.pi * turns


@native
def largest_excess(problem: int, q: Any) -> float:
    """Return how far loop-closing joints are beyond their limits at q, at most."""
    s, most = load_closing(problem), 0.0
    measure_limited_coordinates(problem, q)
    for i in range(len(s.at_cut)):
        most = max(most, s.lowest[i] - s.limit_values[i], s.limit_values[i] - s.highest[i])
    return most


@native
def reset_limits(problem: int) -> None:
    """Let the model's own limits of loop-closing joints hold."""
    s = load_closing(problem)
    for i in range(len(s.at_cut)):
        s.lowest[i], s.highest[i], s.base[i] = s.limit_lowest[i], s.limit_highest[i], s.limit_base[i]


@native
def widen_limits(problem: int, q: Any) -> None:
    """Widen the limits of loop-closing joints to what they are at q, from which angles are counted."""
    s = load_closing(problem)
    reset_limits(problem)
    measure_limited_coordinates(problem, q)
    for i in range(len(s.at_cut)):
        x = s.limit_values[i]
        s.lowest[i], s.highest[i], s.base[i] = min(s.lowest[i], x), max(s.highest[i], x), x


@native
def add_limit_rows(problem: int) -> None:
    """Compute the rows of G for limits at q: those that are passed or fix a coordinate; zero for others."""
    s = load_closing(problem)
    m, n = len(s.kept), len(s.step)
    measure_limited_coordinates(problem, s.q)
    put_argument(s.cut_entries, 0, s.q)
    evaluate_function(s.cut_entries)
    entries = result_view(s.cut_entries, s.cut_entry_count)
    for i in range(len(s.at_cut)):
        x, row = s.limit_values[i], s.G[(m + i) * n : (m + i) * n + n]
        for j in range(n):
            row[j] = 0.0
        if s.lowest[i] == s.highest[i] or x < s.lowest[i] or x > s.highest[i]:
            for k in range(s.first_entry[i], s.first_entry[i] + s.entry_number[i]):
                row[s.entry_columns[k]] += entries[k]


@native
def continue_beyond_right_angle(s: Any) -> None:
    """Replace the residual s of directions more than a right angle apart by (2 − |s|) s/|s|."""
    square = 0.0
    for i in range(len(s)):
        square += s[i] ** 2
    length = np.sqrt(square)
    for i in range(len(s)):
        direction = s[i] / length if length > SHORTEST_DIRECTION else 1.0 if i == 0 else 0.0
        s[i] = (2.0 - length) * direction


@native
def evaluate_all_rows(problem: int, q: Any) -> Any:
    """Return G at q with all constraint rows, (rows nv,)."""
    s = load_closing(problem)
    put_argument(s.jacobian, 0, q)
    evaluate_function(s.jacobian)
    return result_view(s.jacobian, s.rows * len(s.step))


@native
def find_jacobian(problem: int) -> None:
    """Compute G (rows nv,) at q."""
    s = load_closing(problem)
    n = len(s.step)
    found = evaluate_all_rows(problem, s.q)
    for i in range(len(s.kept)):
        for j in range(n):
            s.G[i * n + j] = found[s.kept[i] * n + j]
    if s.oriented == 1 and s.facing != 0:
        put_argument(s.facing, 0, s.q)
        evaluate_function(s.facing)
        cosines = result_view(s.facing, len(s.first))
        for k in range(len(s.first)):
            if cosines[k] < 0.0:
                for i in range(s.first[k] * n, (s.first[k] + s.number[k]) * n):
                    s.G[i] = -s.G[i]
    if s.limited == 1:
        add_limit_rows(problem)


@native
def largest_size(x: Any, count: int) -> float:
    """Return the largest absolute value of the first `count` numbers; NaN if any is NaN."""
    most = 0.0
    for i in range(count):
        size = abs(x[i])
        if not size <= most:
            most = size
            if not size >= 0.0:
                return size
    return most


@native
def fill_rows(problem: int, f: int) -> int:
    """Write the rows of G with any entry in the f columns that take part, per weight, and what they are to remove into
    the memory for steps; returns their number."""
    s, k = load_closing(problem), 0
    m, n = load_memory(s.memory), len(s.step)
    for i in range(count_rows(problem)):
        any_entry, row = False, s.G[i * n : i * n + n]
        for c in range(f):
            entry_value = row[s.columns[c]] / s.weights[s.columns[c]]
            m.C[k * f + c] = entry_value
            any_entry = any_entry or entry_value != 0.0
        if any_entry:
            total = s.r[i]
            for j in range(n):
                if s.free[j] == 0:
                    total += row[j] * s.step[j]
            m.target[k] = -total
            k += 1
    return k


@native
def list_free_columns(problem: int) -> int:
    """List the columns that take part in a step; returns their number."""
    s, f = load_closing(problem), 0
    for j in range(len(s.step)):
        if s.free[j] == 1:
            s.columns[f] = j
            f += 1
    return f


@native
def find_step(problem: int, radius: float) -> float:
    """Compute a step (nv,), and return its weighted length; coordinates that would pass their limits stop there, and
    the others compensate."""
    s = load_closing(problem)
    m, n = load_memory(s.memory), len(s.step)
    find_room(s.manifold, s.q, s.low, s.high)
    for j in range(n):
        s.step[j], s.free[j] = 0.0, 1 - s.fixed[j]
    for _ in range(n):
        f, outside = list_free_columns(problem), 0
        find_shortest_step(s.memory, fill_rows(problem, f), f, radius)
        for c in range(f):
            j = s.columns[c]
            s.step[j] = m.y[c] / s.weights[j]
            if leaves_room(s.step[j], s.low[j], s.high[j]):
                s.step[j] = min(max(s.step[j], s.low[j]), s.high[j])
                s.free[j] = 0
                outside += 1
        if outside == 0:
            break
    longest, square = largest_size(s.step, n), 0.0
    for j in range(n):
        if longest > LONGEST_STEP:
            s.step[j] *= LONGEST_STEP / longest
        square += (s.weights[j] * s.step[j]) ** 2
    return np.sqrt(square)


@native
def is_hopeless(problem: int, predicted: float, square: float, radius: float) -> Any:
    """Return True if a step promises little, although a step of its length could remove a tenth of the residual."""
    s, total = load_closing(problem), 0.0
    n = len(s.step)
    if not predicted < HOPELESS_FRACTION * square:
        return False
    for i in range(count_rows(problem)):
        for j in range(n):
            total += (s.G[i * n + j] / s.weights[j]) ** 2
    return 0.01 * square < radius**2 * total


@native
def sum_squares(x: Any) -> float:
    """Return xᵀ x."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** 2
    return total


@native
def predict_square(problem: int) -> float:
    """Return the squared residual that the linear model promises after the step."""
    s, total = load_closing(problem), 0.0
    n = len(s.step)
    for i in range(count_rows(problem)):
        left = s.r[i]
        for j in range(n):
            left += s.G[i * n + j] * s.step[j]
        total += left**2
    return total


@native
def next_radius(radius: float, ratio: float, length: float) -> float:
    """Return the trust radius after a step of a length with a ratio of actual to predicted reduction."""
    if ratio < BAD_RATIO:
        return 0.25 * length
    return max(radius, 2.0 * length) if ratio > GOOD_RATIO else radius


@native
def close_position(problem: int) -> float:
    """Move q to the nearest position that satisfies the constraints; returns the largest remaining residual."""
    s = load_closing(problem)
    rows = count_rows(problem)
    find_residual(problem, s.q, s.r)
    radius, before, is_known = FIRST_RADIUS, np.inf, False
    for k in range(MAX_STEPS):
        gap = largest_size(s.r, rows)
        if gap < SOLVED_GAP or not np.isfinite(gap) or radius < SMALLEST_RADIUS:
            break
        if k % PATIENCE == PATIENCE - 1:
            if gap > 0.5 * before:
                break
            before = gap
        if not is_known:
            find_jacobian(problem)
            is_known = True
        length = find_step(problem, radius)
        displace(s.manifold, s.q, s.step, s.trial)
        find_residual(problem, s.trial, s.r_trial)
        square, square_trial = sum_squares(s.r[0:rows]), sum_squares(s.r_trial[0:rows])
        predicted = square - predict_square(problem)
        if is_hopeless(problem, predicted, square, radius):
            break
        ratio = (square - square_trial) / predicted if predicted > 0.0 else -1.0
        radius = next_radius(radius, ratio, length)
        if square_trial < square:
            for i in range(len(s.q)):
                s.q[i] = s.trial[i]
            for i in range(rows):
                s.r[i] = s.r_trial[i]
            is_known = False
        elif gap < ACCEPTED_GAP:
            break
    return largest_size(s.r, rows)


@native
def find_reversed(problem: int) -> int:
    """Return the index of the first reversible joint whose axis is reversed at q; −1 if there is none."""
    s = load_closing(problem)
    if s.facing == 0:
        return -1
    put_argument(s.facing, 0, s.q)
    evaluate_function(s.facing)
    cosines = result_view(s.facing, len(s.first))
    for k in range(len(s.first)):
        if cosines[k] < 0.0 and s.number[k] > 0:
            return k
    return -1


@native
def close_within_limits(problem: int, start: Any) -> Any:
    """Move q to the nearest closed position; limits of loop-closing joints are kept, or passed no farther than at
    `start`. Returns false if that is not found."""
    s = load_closing(problem)
    s.limited = 0
    for i in range(len(s.q)):
        s.begin[i] = s.q[i]
    gap = close_position(problem)
    if gap < ACCEPTED_GAP and s.cut_values != 0:
        widen_limits(problem, start)
        if largest_excess(problem, s.q) > BEYOND:
            for i in range(len(s.q)):
                s.q[i] = s.begin[i]
            s.limited = 1
            gap = close_position(problem)
            s.limited = 0
        reset_limits(problem)
    return gap < ACCEPTED_GAP and find_reversed(problem) < 0


@entry
def close_positions(problem: int, states: int, gaps: int, reverse: int, count: int) -> int:
    """Close `count` positions (nq,) in place; writes largest residuals, and indices of reversed joints (−1: none)
    where the residual is accepted. Returns how many are closed."""
    s, done = load_closing(problem), 0
    nq = len(s.q)
    remaining, reversed_joints = view(gaps, count), view(reverse, count)
    for k in range(count):
        q = view(states + 8 * k * nq, nq)
        for i in range(nq):
            s.q[i] = q[i]
        remaining[k], reversed_joints[k] = close_position(problem), -1.0
        for i in range(nq):
            q[i] = s.q[i]
        if remaining[k] < ACCEPTED_GAP:
            reversed_joints[k] = find_reversed(problem)
            done += 1
    return done
