"""A frame that is to meet a target, in machine code: Levenberg–Marquardt on the frame error, with loops kept closed.

S. Buss, "Introduction to inverse kinematics with Jacobian transpose, pseudoinverse and damped least squares methods",
2009: Δ = Jᵀ (J Jᵀ + λ I)⁻¹ e, λ falling with success, over the coordinates that no limit blocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.constraints.newton.displacement import clamp_coordinates, displace, load_manifold
from core.constraints.newton.loop_closing import close_within_limits, evaluate_all_rows, load_closing, sum_squares
from core.machine_code.entry import entry
from core.machine_code.language import loader, native, scratch
from core.machine_code.records import Fixed, Floats, Ints, Record
from core.programs.native_function import evaluate_function, put_argument, result_view

TOLERANCE = 1e-9
"""Residual (m, and rad times the length scale) at which a target counts as reached."""
FIRST_DAMPING, SMALLEST_DAMPING, LARGEST_DAMPING = 1e-3, 1e-12, 1e6
LARGEST_STEP = 0.5
"""Largest norm of one step (rad, m) per square root of the number of speeds, to keep the arm from jumping towards a
distant target."""
SHORTER = 0.25
"""Factor by which the next step is shortened after a step that did not bring the frame nearer."""
ON_LIMIT = 1e-12
"""Distance (rad, m) to a limit within which a coordinate is at it."""
DEPENDENT_ROW = 1e-7
"""Remainder of a constraint row, relative to the longest, below which it is dependent."""
NARROWEST, WIDEST = 0.01, 10.0
"""Limits of the length that counts like one radian, m."""
ROTATION_ONLY = 1e-9
SMALL_SINE = 1e-6


class ReachingProblem(Record):
    """A frame, its target, and the memory of the search."""

    manifold: Fixed
    closing: Fixed
    """Address of the problem of closing loops; 0: the machine has no constraints."""
    frame: Fixed
    """Address of the function with the frame's position, rotation and Jacobian."""
    oriented: int = 0
    """1: the target has an orientation."""
    position: Floats
    rotation: Floats
    point: Floats
    """(3,) and (9,) of the target, (3,) the point of the frame that is to be there, in its axes."""
    weight: float = 0.0
    """Length that counts like one radian, m; 0: the ratio of the frame's linear to its angular mobility."""
    settle: float = 0.0
    """Relative decrease of the squared error below which a step does not count as progress."""
    iterations: int = 0
    q: Floats
    trial: Floats
    """(nq,)"""
    error: Floats
    error_trial: Floats
    """(6,) orientation first."""
    J: Floats
    """(6 nv,)"""
    descent: Floats
    step: Floats
    """(nv,)"""
    free: Ints
    """(nv,) 1: the speed takes part in a step."""
    basis: Floats
    """(min(rows, nv) nv,) orthonormal rows of all constraints."""
    rest: Floats
    """(rows nv,) remainders of their rows."""
    taken: Ints
    """(rows,)"""
    position_error: float = 0.0
    orientation_error: float = 0.0


load_reaching = loader(ReachingProblem)


@native
def rotation_vector_into(R: Any, out: Any) -> float:
    """Compute axis times angle (3,) of a rotation matrix (9,); returns the angle, 0 … π."""
    for i in range(3):
        a, b = (i + 1) % 3, (i + 2) % 3
        out[i] = 0.5 * (R[3 * b + a] - R[3 * a + b])
    sine, cosine = np.sqrt(sum_squares(out)), 0.5 * (R[0] + R[4] + R[8] - 1.0)
    angle = np.arctan2(sine, cosine)
    if sine > SMALL_SINE:
        for i in range(3):
            out[i] *= angle / sine
    elif cosine <= 0.0:  # near half a turn R ≈ 2 n nᵀ − I: the longest column of R + I is along n
        widest = 0
        for i in range(1, 3):
            if R[4 * i] > R[4 * widest]:
                widest = i
        square, along = 0.0, 0.0
        for i in range(3):
            entry_value = R[3 * i + widest] + (1.0 if i == widest else 0.0)
            square += entry_value**2
            along += entry_value * out[i]
        size = angle / np.sqrt(square) if along >= 0.0 else -angle / np.sqrt(square)
        for i in range(3):
            out[i] = size * (R[3 * i + widest] + (1.0 if i == widest else 0.0))
    return angle


@native
def evaluate_frame(problem: int, q: Any) -> None:
    """Compute position, rotation and Jacobian of the frame at q."""
    s = load_reaching(problem)
    put_argument(s.frame, 0, q)
    evaluate_function(s.frame)


@native
def find_error(problem: int, out: Any) -> None:
    """Compute the weighted error (3 or 6,) of the frame as evaluated last; also sets the errors of place and angle."""
    s, turn, product = load_reaching(problem), scratch(3), scratch(9)
    found, first, square = result_view(s.frame, 12), 3 * s.oriented, 0.0
    R = found[3:12]
    for i in range(3):
        place = found[i]
        for j in range(3):
            place += R[3 * i + j] * s.point[j]
        out[first + i] = s.position[i] - place
        square += out[first + i] ** 2
    s.position_error = np.sqrt(square)
    if s.oriented == 0:
        return
    for i in range(3):
        for j in range(3):
            total = 0.0
            for k in range(3):
                total += s.rotation[3 * i + k] * R[3 * j + k]
            product[3 * i + j] = total
    s.orientation_error = rotation_vector_into(product, turn)
    for i in range(3):
        out[i] = s.weight * turn[i]


@native
def find_weight(problem: int) -> float:
    """Return the ratio of the frame's linear to its angular mobility, m, as evaluated last."""
    s = load_reaching(problem)
    n = len(s.step)
    J, angular, linear = result_view(s.frame, 12 + 6 * n), 0.0, 0.0
    for i in range(3 * n):
        angular += J[12 + i] ** 2
        linear += J[12 + 3 * n + i] ** 2
    if not np.sqrt(angular) > ROTATION_ONLY:
        return 1.0
    return min(max(np.sqrt(linear / angular), NARROWEST), WIDEST)


@native
def find_frame_jacobian(problem: int, q: Any) -> None:
    """Compute the derivative J of minus the error at q, where the frame was evaluated last."""
    s, arm = load_reaching(problem), scratch(3)
    n, first = len(s.step), 3 * s.oriented
    found = result_view(s.frame, 12 + 6 * n)
    for i in range(3):
        arm[i] = 0.0
        for j in range(3):
            arm[i] += found[3 + 3 * i + j] * s.point[j]
    for j in range(n):
        x, y, z = found[12 + j], found[12 + n + j], found[12 + 2 * n + j]
        s.J[first * n + j] = found[12 + 3 * n + j] + (y * arm[2] - z * arm[1])
        s.J[(first + 1) * n + j] = found[12 + 4 * n + j] + (z * arm[0] - x * arm[2])
        s.J[(first + 2) * n + j] = found[12 + 5 * n + j] + (x * arm[1] - y * arm[0])
        if s.oriented == 1:
            s.J[j], s.J[n + j], s.J[2 * n + j] = s.weight * x, s.weight * y, s.weight * z
    if s.closing != 0:
        project_on_constraints(problem, q)


@native
def project_on_constraints(problem: int, q: Any) -> None:
    """Remove from the rows of J what constraints do not admit at q: J ← J (1 − G⁺ G)."""
    s = load_reaching(problem)
    rank = find_row_basis(problem, evaluate_all_rows(s.closing, q))
    n = len(s.step)
    for i in range(3 + 3 * s.oriented):
        row = s.J[i * n : i * n + n]
        for k in range(rank):
            remove_along(s.basis[k * n : k * n + n], row)


@native
def remove_along(direction: Any, x: Any) -> None:
    """Remove from x its component along a unit vector."""
    part = 0.0
    for j in range(len(x)):
        part += direction[j] * x[j]
    if part != 0.0:
        for j in range(len(x)):
            x[j] -= part * direction[j]


@native
def find_row_basis(problem: int, G: Any) -> int:
    """Compute orthonormal rows that span those of G (rows nv,), the longest remainder first (Gram and Schmidt, twice);
    returns their number."""
    s, rank, longest = load_reaching(problem), 0, 0.0
    n, rows = len(s.step), len(s.taken)
    for i in range(rows * n):
        s.rest[i] = G[i]
    for i in range(rows):
        s.taken[i] = 0
    while rank < min(rows, n):
        best, most = -1, 0.0
        for i in range(rows):
            square = sum_squares(s.rest[i * n : i * n + n]) if s.taken[i] == 0 else 0.0
            if square > most:
                best, most = i, square
        longest = max(longest, most)
        if best < 0 or not most > DEPENDENT_ROW**2 * longest:
            return rank
        target, source = s.basis[rank * n : rank * n + n], s.rest[best * n : best * n + n]
        for j in range(n):
            target[j] = source[j]
        for k in range(rank):
            remove_along(s.basis[k * n : k * n + n], target)
        length = np.sqrt(sum_squares(target))
        for j in range(n):
            target[j] /= length
        s.taken[best] = 1
        for i in range(rows):
            if s.taken[i] == 0:
                remove_along(target, s.rest[i * n : i * n + n])
        rank += 1
    return rank


@native
def mark_free_speeds(problem: int) -> None:
    """Compute Jᵀ e, and mark the speeds that take part in a step: not those that a limit blocks."""
    s = load_reaching(problem)
    m, n = load_manifold(s.manifold), len(s.step)
    for j in range(n):
        s.descent[j], s.free[j] = 0.0, 1
        for i in range(3 + 3 * s.oriented):
            s.descent[j] += s.J[i * n + j] * s.error[i]
    for k in range(len(m.plain_q)):
        at, j = m.plain_q[k], m.plain_v[k]
        if s.q[at] <= m.lower[at] + ON_LIMIT and s.descent[j] < 0.0:
            s.free[j] = 0
        if s.q[at] >= m.upper[at] - ON_LIMIT and s.descent[j] > 0.0:
            s.free[j] = 0


@native
def is_settled(problem: int, square: float) -> Any:
    """Return True if the error stands across all that the frame can do."""
    s, gain, total = load_reaching(problem), 0.0, 0.0
    n = len(s.step)
    for j in range(n):
        if s.free[j] == 1:
            gain += s.descent[j] ** 2
            for i in range(3 + 3 * s.oriented):
                total += s.J[i * n + j] ** 2
    return gain <= s.settle * square * total


@native
def find_damped_step(problem: int, damping: float) -> float:
    """Compute the step Jᵀ (J Jᵀ + λ)⁻¹ e over the free speeds, at most as long as is allowed; returns its length."""
    s, L, x = load_reaching(problem), scratch(36), scratch(6)
    n, m, trace, square = len(s.step), 3 + 3 * s.oriented, 0.0, 0.0
    for a in range(m):
        for b in range(a + 1):
            total = 0.0
            for j in range(n):
                if s.free[j] == 1:
                    total += s.J[a * n + j] * s.J[b * n + j]
            L[a * 6 + b] = total
        trace += L[a * 6 + a]
    for a in range(m):
        L[a * 6 + a] += damping * (1e-6 + trace / m)
        x[a] = s.error[a]
    solve_symmetric(L, x, m, 6)
    for j in range(n):
        s.step[j] = 0.0
        for a in range(m):
            s.step[j] += s.J[a * n + j] * x[a] if s.free[j] == 1 else 0.0
        square += s.step[j] ** 2
    length, limit = np.sqrt(square), LARGEST_STEP * np.sqrt(max(1.0, float(n)))
    if length > limit:
        for j in range(n):
            s.step[j] *= limit / length
        return limit
    return length


@native
def solve_symmetric(L: Any, x: Any, m: int, stride: int) -> None:
    """Solve A x ← x for a positive matrix A on and below the diagonal of L, which its factor replaces; pivots lost to
    rounding are kept above it. Zeros are skipped."""
    smallest = 1e-300
    for a in range(m):
        smallest = max(smallest, 1e-17 * L[a * stride + a])
    for c in range(m):
        pivot = np.sqrt(max(L[c * stride + c], smallest))
        L[c * stride + c] = pivot
        for a in range(c + 1, m):
            factor = L[a * stride + c]
            if factor != 0.0:
                factor /= pivot
                L[a * stride + c] = factor
                for b in range(c + 1, a + 1):
                    L[a * stride + b] -= factor * L[b * stride + c]
    for a in range(m):
        for b in range(a):
            x[a] -= L[a * stride + b] * x[b]
        x[a] /= L[a * stride + a]
    for k in range(m):
        a = m - 1 - k
        x[a] /= L[a * stride + a]
        for b in range(a):
            x[b] -= L[a * stride + b] * x[a]


@native
def promised_gain(problem: int) -> float:
    """Return twice eᵀ J Δ, the decrease of the squared error to first order."""
    s, total = load_reaching(problem), 0.0
    for j in range(len(s.step)):
        total += s.descent[j] * s.step[j]
    return 2.0 * total


@native
def go_along_step(problem: int) -> None:
    """Compute the position after the step, with loops closed; where that fails, it is q."""
    s = load_reaching(problem)
    displace(s.manifold, s.q, s.step, s.trial)
    if s.closing == 0:
        return
    c = load_closing(s.closing)
    for i in range(len(s.q)):
        c.q[i] = s.trial[i]
    closed = close_within_limits(s.closing, s.q)
    for i in range(len(s.q)):
        s.trial[i] = c.q[i] if closed else s.q[i]


@native
def accept_trial(problem: int) -> None:
    """Go on from the position that was tried."""
    s = load_reaching(problem)
    for i in range(len(s.q)):
        s.q[i] = s.trial[i]
    for i in range(6):
        s.error[i] = s.error_trial[i]
    find_frame_jacobian(problem, s.q)


@native
def begin_search(problem: int) -> None:
    """Evaluate error and Jacobian at q."""
    s = load_reaching(problem)
    for i in range(6):
        s.error[i] = s.error_trial[i] = 0.0
    clamp_coordinates(s.manifold, s.q)
    evaluate_frame(problem, s.q)
    if s.oriented == 1 and s.weight == 0.0:
        s.weight = find_weight(problem)
    find_error(problem, s.error)
    find_frame_jacobian(problem, s.q)


@native
def reach_target(problem: int) -> int:
    """Move q to where the frame is as near to its target as can be; returns the number of steps."""
    s = load_reaching(problem)
    damping, longest, done = FIRST_DAMPING, np.inf, 0
    begin_search(problem)
    for k in range(s.iterations):
        done, square = k, sum_squares(s.error)
        if square < TOLERANCE**2:
            break
        mark_free_speeds(problem)
        if is_settled(problem, square):
            break
        length = find_damped_step(problem, damping)
        while length > longest and damping < LARGEST_DAMPING:
            damping *= 10.0
            length = find_damped_step(problem, damping)
        if longest < np.inf and promised_gain(problem) < s.settle * square:
            break
        go_along_step(problem)
        evaluate_frame(problem, s.trial)
        find_error(problem, s.error_trial)
        gain = square - sum_squares(s.error_trial)
        if gain > 0.0:
            accept_trial(problem)
            damping, longest = max(damping * 0.1, SMALLEST_DAMPING), 2.0 * longest
            if gain < s.settle * square:
                break
        else:
            damping, longest = 10.0 * damping, SHORTER * length
            if damping > LARGEST_DAMPING:
                break
    evaluate_frame(problem, s.q)
    find_error(problem, s.error)
    return done


@entry
def reach_target_entry(problem: int) -> int:
    """Move q to where the frame is as near to its target as can be; returns the number of steps."""
    return reach_target(problem)
