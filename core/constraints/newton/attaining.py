"""Poses that attain what is asked of a frame and of coordinates, in machine code: `core.studies.workspace.pose_solver`.

Levenberg–Marquardt on the gaps of loops and the distances from place, attitude, plane and values together, all in units
of the machine: Δ = (JᵀJ + λ)⁻¹ Jᵀ r over the coordinates that no limit blocks.
"""

from __future__ import annotations

from typing import Any

from core.constraints.newton.displacement import clamp_coordinates, displace, load_manifold
from core.constraints.newton.loop_closing import sum_squares
from core.constraints.newton.reaching import ON_LIMIT, rotation_vector_into, solve_symmetric
from core.machine_code.entry import entry
from core.machine_code.language import loader, native, scratch, view
from core.machine_code.records import Fixed, Floats, Ints, Record
from core.programs.native_function import evaluate_function, put_argument, result_view

TOLERANCE = 1e-10
"""Residual (rad, or machine sizes) at which a target counts as met."""
FIRST_DAMPING, LARGEST_DAMPING, SMALLEST_DAMPING = 1e-4, 1e3, 1e-13
LONGEST = 0.7
"""Largest entry of a step (rad, or machine sizes)."""


class AttainingProblem(Record):
    """Targets of a search, and its memory."""

    manifold: Fixed
    residual: int = 0
    jacobian: int = 0
    frame: int = 0
    """Addresses of functions of q: residuals of constraints and their derivative, position, rotation and Jacobian of
    the frame; 0: not needed."""
    rows: Fixed
    """Number of constraint rows of the functions."""
    kept: Ints
    row_units: Floats
    """(m,) rows that are to be zero, and their units."""
    speed_units: Floats
    """(nv,)"""
    scales: Floats
    """(m nv,) units of speeds over those of rows."""
    moving: Ints
    """(nv,) 1: the speed may take part in a step."""
    sequence: Ints
    """(nv,) speeds in the order in which they are eliminated: those with few constraint rows first."""
    length: float = 1.0
    """Size of the machine, m."""
    places: int = 0
    rotations: int = 0
    values: int = 0
    """Addresses of targets (n, 3), (n, 9) and (n, k); 0: not asked."""
    has_plane: int = 0
    plane: Floats
    """(4,) normal and offset, m, of the plane in which the frame is to be."""
    at_q: Ints
    at_v: Ints
    """(k,) coordinates that are to have values, and their speeds."""
    iterations: int = 0
    settle: float = 0.0
    q: Floats
    trial: Floats
    """(nq,)"""
    r: Floats
    r_trial: Floats
    """(rows asked,)"""
    J: Floats
    """(rows asked nv,)"""
    descent: Floats
    step: Floats
    """(nv,)"""
    free: Ints
    """(nv,) speeds that take part in a step."""
    entries: Ints
    """(nv,) which of them have an entry in a row."""
    gram: Floats
    right: Floats


load_attaining = loader(AttainingProblem)


@native
def find_asked_residual(problem: int, k: int, q: Any, r: Any) -> int:
    """Compute the residuals of target k at q; returns their number."""
    s = load_attaining(problem)
    n, count = len(s.kept), len(s.at_q)
    if n > 0:
        put_argument(s.residual, 0, q)
        evaluate_function(s.residual)
        found = result_view(s.residual, s.rows)
        for i in range(n):
            r[i] = -found[s.kept[i]] / s.row_units[i]
    if s.frame != 0:
        put_argument(s.frame, 0, q)
        evaluate_function(s.frame)
        n = find_frame_residual(problem, k, r, n)
    if s.values != 0:
        values = view(s.values + 8 * k * count, count)
        for i in range(count):
            r[n + i] = (values[i] - q[s.at_q[i]]) / s.speed_units[s.at_v[i]]
        n += count
    return n


@native
def find_frame_residual(problem: int, k: int, r: Any, first: int) -> int:
    """Write what target k asks of the frame, as evaluated last, to r from `first` on; returns the end."""
    s, n = load_attaining(problem), first
    X = result_view(s.frame, 12)
    if s.places != 0:
        place = view(s.places + 24 * k, 3)
        for i in range(3):
            r[n + i] = (place[i] - X[i]) / s.length
        n += 3
    if s.rotations != 0:
        find_turn_between(X[3:12], view(s.rotations + 72 * k, 9), r[n : n + 3])
        n += 3
    if s.has_plane == 1:
        along = s.plane[0] * X[0] + s.plane[1] * X[1] + s.plane[2] * X[2]
        r[n] = (s.plane[3] - along) / s.length
        n += 1
    return n


@native
def find_turn_between(R: Any, target: Any, out: Any) -> None:
    """Compute the rotation vector (3,), in world axes, from a rotation (9,) to a target (9,)."""
    product = scratch(9)
    for i in range(3):
        for j in range(3):
            total = 0.0
            for a in range(3):
                total += target[3 * i + a] * R[3 * j + a]
            product[3 * i + j] = total
    rotation_vector_into(product, out)


@native
def find_asked_slopes(problem: int) -> None:
    """Compute the derivatives of minus the residuals at q, where the frame was evaluated last."""
    s = load_attaining(problem)
    n, v = len(s.kept), len(s.step)
    if n > 0:
        put_argument(s.jacobian, 0, s.q)
        evaluate_function(s.jacobian)
        G = result_view(s.jacobian, s.rows * v)
        for i in range(n):
            for j in range(v):
                s.J[i * v + j] = G[s.kept[i] * v + j] * s.scales[i * v + j]
    if s.frame != 0:
        n = find_frame_slopes(problem, n)
    if s.values != 0:
        for i in range(len(s.at_v)):
            for j in range(v):
                s.J[(n + i) * v + j] = 1.0 if j == s.at_v[i] else 0.0


@native
def find_frame_slopes(problem: int, first: int) -> int:
    """Write the derivatives of what is asked of the frame to the rows of J from `first` on; returns the end."""
    s, n = load_attaining(problem), first
    v = len(s.step)
    X = result_view(s.frame, 12 + 6 * v)
    if s.places != 0:
        for i in range(3 * v):
            s.J[n * v + i] = X[12 + 3 * v + i] / s.length
        n += 3
    if s.rotations != 0:
        for i in range(3 * v):
            s.J[n * v + i] = X[12 + i]
        n += 3
    if s.has_plane == 1:
        for j in range(v):
            s.J[n * v + j] = 0.0
            for i in range(3):
                s.J[n * v + j] += s.plane[i] * X[12 + (3 + i) * v + j] / s.length
        n += 1
    for i in range(first, n):
        for j in range(v):
            s.J[i * v + j] *= s.speed_units[j]
    return n


@native
def list_moving_speeds(problem: int, rows: int) -> int:
    """Compute Jᵀ r, and list the speeds that no limit blocks; returns their number."""
    s, f = load_attaining(problem), 0
    m, v = load_manifold(s.manifold), len(s.step)
    for j in range(v):
        total = 0.0
        for i in range(rows):
            total += s.J[i * v + j] * s.r[i]
        s.descent[j], s.step[j] = total, float(s.moving[j])
    for i in range(len(m.plain_q)):
        at, j = m.plain_q[i], m.plain_v[i]
        if s.q[at] <= m.lower[at] + ON_LIMIT and s.descent[j] < 0.0:
            s.step[j] = 0.0
        if s.q[at] >= m.upper[at] - ON_LIMIT and s.descent[j] > 0.0:
            s.step[j] = 0.0
    for k in range(v):
        if s.step[s.sequence[k]] != 0.0:
            s.free[f] = s.sequence[k]
            f += 1
    return f


@native
def find_asked_step(problem: int, rows: int, damping: float) -> None:
    """Compute the step (nv,), in rad and m."""
    s = load_attaining(problem)
    f, v = list_moving_speeds(problem, rows), len(s.step)
    if rows < f:
        add_products_of_rows(problem, rows, f)
    else:
        add_products_of_columns(problem, rows, f)
    count, trace = min(rows, f), 0.0
    for a in range(count):
        trace += s.gram[a * count + a]
    for a in range(count):
        s.gram[a * count + a] += damping * (1e-9 + trace / count) + 1e-14
    if count > 0:
        solve_symmetric(s.gram, s.right, count, count)
    for j in range(v):
        s.step[j] = 0.0
    longest = 0.0
    for c in range(f):
        j, total = s.free[c], 0.0
        if rows < f:
            for i in range(rows):
                total += s.J[i * v + j] * s.right[i]
        else:
            total = s.right[c]
        s.step[j] = total
        longest = max(longest, abs(total))
    shorter = min(1.0, LONGEST / max(longest, 1e-300))
    for j in range(v):
        s.step[j] *= shorter * s.speed_units[j]


@native
def add_products_of_rows(problem: int, rows: int, f: int) -> None:
    """Compute J Jᵀ over the f speeds that take part, on and below the diagonal, and r."""
    s = load_attaining(problem)
    v = len(s.step)
    for a in range(rows):
        s.right[a] = s.r[a]
        for b in range(a + 1):
            total = 0.0
            for c in range(f):
                total += s.J[a * v + s.free[c]] * s.J[b * v + s.free[c]]
            s.gram[a * rows + b] = total


@native
def add_products_of_columns(problem: int, rows: int, f: int) -> None:
    """Compute JᵀJ over the f speeds that take part, on and below the diagonal, and Jᵀ r."""
    s = load_attaining(problem)
    v = len(s.step)
    for a in range(f):
        s.right[a] = s.descent[s.free[a]]
        for b in range(a + 1):
            s.gram[a * f + b] = 0.0
    for i in range(rows):
        row, some = s.J[i * v : i * v + v], 0
        for a in range(f):
            if row[s.free[a]] != 0.0:
                s.entries[some] = a
                some += 1
        for k in range(some):
            a = s.entries[k]
            own = row[s.free[a]]
            for j in range(k + 1):
                s.gram[a * f + s.entries[j]] += own * row[s.free[s.entries[j]]]


@native
def attain_target(problem: int, k: int) -> float:
    """Move q to where target k is attained; returns the squared residual that remains."""
    s, damping = load_attaining(problem), FIRST_DAMPING
    clamp_coordinates(s.manifold, s.q)
    rows = find_asked_residual(problem, k, s.q, s.r)
    square = sum_squares(s.r[0:rows])
    if not square > TOLERANCE**2:
        return square
    find_asked_slopes(problem)
    for _ in range(s.iterations):
        find_asked_step(problem, rows, damping)
        displace(s.manifold, s.q, s.step, s.trial)
        find_asked_residual(problem, k, s.trial, s.r_trial)
        found = sum_squares(s.r_trial[0:rows])
        gained = square - found
        if gained > 0.0:
            for i in range(len(s.q)):
                s.q[i] = s.trial[i]
            for i in range(rows):
                s.r[i] = s.r_trial[i]
            is_stuck, square, damping = gained < s.settle * square, found, max(0.1 * damping, SMALLEST_DAMPING)
            if square <= TOLERANCE**2 or is_stuck:
                break
            find_asked_slopes(problem)
        else:
            damping *= 10.0
            if not damping < LARGEST_DAMPING:
                break
    return square


@entry
def attain_targets(problem: int, states: int, squares: int, count: int) -> int:
    """Move `count` poses (nq,) in place to where their targets are attained; writes the squared residuals that
    remain. Returns how many are attained."""
    s, done = load_attaining(problem), 0
    nq = len(s.q)
    remaining = view(squares, count)
    for k in range(count):
        q = view(states + 8 * k * nq, nq)
        for i in range(nq):
            s.q[i] = q[i]
        remaining[k] = attain_target(problem, k)
        for i in range(nq):
            q[i] = s.q[i]
        done += 1 if remaining[k] <= TOLERANCE**2 else 0
    return done
