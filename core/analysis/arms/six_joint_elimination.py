"""All positions of a general six-joint arm for a pose: elimination of five unknowns, eigenvalues for the sixth.

The loop E₁ K₁ … E₆ K₆ = 1 is parted into K₂ E₃ K₃ E₄ K₄ E₅ K₅ = E₂⁻¹ K₁⁻¹ E₁⁻¹ K₆⁻¹ E₆⁻¹. The line on the axis of
joint 6, with a point p and the direction l, does not depend on E₆; p, l, p·p, p·l, p × l and (p·p) l − 2 (p·l) p are 14
equations that are linear in the products of sines and cosines of joints 1 and 2, and in those of joints 4 and 5
(M. Raghavan, B. Roth, J. Mechanical Design 115, 1993). The eight products of joints 1 and 2 are eliminated; what is
left is a matrix polynomial of second degree in the tangent of half the third angle, or in the third displacement, whose
eigenvectors give joints 4 and 5 (D. Manocha, J. F. Canny, IEEE Trans. Robotics and Automation 10, 1994). Its
coefficients are found from values at three angles of each joint. Newton's method on the chain confirms every solution.

Any joint of the loop can be the third. The sets of two are compared: only where they agree they are called complete.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.pose_errors import pose_errors
from core.analysis.arms.screw_chain import ScrewChain, axis_frames, chain_jacobian

Array = NDArray[np.float64]

MOST_SOLUTIONS = 16
"""Largest number of positions of a general six-joint arm for a pose."""
ALMOST_REAL = 0.03
"""Imaginary part (rad, machine sizes) of a root above which it is not tried as a real one."""
STEPS = 12
"""Most Newton steps to a solution."""
SETTLED, CONFIRMED = 1e-13, 1e-10
"""Error (rad, machine sizes) of a solution at which the steps end, and up to which it is one."""
FIRST_STEPS, FAR = 3, 0.03
"""Steps after which a candidate that is still farther than this from the target is given up."""
SAME = 1e-5
"""Difference (rad, machine sizes) of all joints below which two solutions are the same."""
NEAR_DOUBLE = 1e-5
"""Smallest singular value of the Jacobian (rad, machine sizes) below which a root is nearly double."""
ANGLES = np.array([0.0, 2.0, 4.0]) * np.pi / 3.0
_WAVES = np.column_stack([np.ones(3), np.cos(ANGLES), np.sin(ANGLES)])
_FROM_VALUES = np.linalg.inv(_WAVES)
"""Coefficients of 1, cos, sin from values at three angles."""
_HALF_TANGENT = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, -1.0], [0.0, 2.0, 0.0]])
"""(1 + x²) times 1, cos, sin as polynomials in x = tan(θ/2), rows; columns: 1, x, x²."""
_OTHER_ZEROS = (0.0, 0.7, 1.9, -1.3, 2.8)
"""Angles (rad) from which the hidden one is counted, tried in turn until the leading matrix is regular."""
_WELL_CONDITIONED = 1e9


class EliminationResult(NamedTuple):
    """Positions (K, 6) and True if they are certainly all."""

    q: Array
    is_complete: bool


def can_eliminate(chain: ScrewChain) -> bool:
    """Return True for six joints, at most one of them prismatic."""
    return len(chain.kinds) == 6 and chain.kinds.count("P") < 2


def eliminate(chain: ScrewChain, X: Array) -> EliminationResult:
    """Find all positions (K, 6) with the frame at the pose X (4, 4)."""
    target = np.asarray(X, dtype=float)
    sets: list[Array] = []
    union = np.zeros((0, 6))
    for loop, third in _readings(chain, target):
        found = _confirm(chain, _solve_reading(loop, third), target)
        sets.append(found)
        union = _merge(chain, union, found)
        if sum(len(each) == len(union) for each in sets) > 1:
            break
    agree = sum(len(each) == len(union) for each in sets) > 1
    return EliminationResult(union, agree and len(union) % 2 == 0 and not _has_double(chain, union))


class _Loop(NamedTuple):
    """Loop E₁ K₁ … E₆ K₆ = 1: known poses (6, 4, 4) with lengths in machine sizes, and for each of its joints the index
    in the chain, the sign of its motion and the value from which it counts."""

    K: Array
    kinds: str
    joints: tuple[int, ...]
    signs: Array


def _readings(chain: ScrewChain, X: Array) -> list[tuple[_Loop, int]]:
    """Ways to read the loop: forwards and backwards, with the index of the joint that is hidden."""
    frames, signs = axis_frames(chain)
    inverse = np.linalg.inv(frames)
    closing = inverse[-1] @ chain.X @ np.linalg.inv(X) @ frames[0]
    K = np.concatenate([inverse[:-1] @ frames[1:], closing[None]])
    K[:, :3, 3] /= chain.size
    ahead = _Loop(K, chain.kinds, tuple(range(6)), signs)
    # 1 = E₁ K₁ … E₆ K₆ read from the end: E₆ᵇ K₅⁻¹ … with opposite motions
    order = (5, 4, 3, 2, 1, 0)
    back = _Loop(np.linalg.inv(K)[[4, 3, 2, 1, 0, 5]], chain.kinds[::-1], order, -signs[list(order)])
    hidden = (chain.kinds.index("P"),) if "P" in chain.kinds else (2, 3, 1, 4, 0, 5)
    return [(loop, loop.joints.index(k)) for k in hidden for loop in (ahead, back)]


def _apply(K: Array, p: Array, u: Array) -> tuple[Array, Array]:
    return p @ K[:3, :3].T + K[:3, 3], u @ K[:3, :3].T


def _turned(p: Array, angles: Array) -> Array:
    """(m, n, 3) vectors p (n, 3) turned about z by each angle (m,)."""
    c, s = np.cos(angles)[:, None], np.sin(angles)[:, None]
    return np.stack([c * p[:, 0] - s * p[:, 1], s * p[:, 0] + c * p[:, 1], np.ones_like(c) * p[:, 2]], axis=-1)


def _move(p: Array, u: Array, angles: Array) -> tuple[Array, Array]:
    return _turned(p, angles).reshape(-1, 3), _turned(u, angles).reshape(-1, 3)


def _fourteen(p: Array, u: Array) -> Array:
    """(n, 14) quantities of lines with points p and directions u (n, 3)."""
    pp, pu = np.sum(p * p, axis=1)[:, None], np.sum(p * u, axis=1)[:, None]
    return np.hstack([p, u, pp, pu, np.cross(p, u), pp * u - 2.0 * pu * p])


def _solve_reading(loop: _Loop, third: int) -> Array:
    """Candidates (k, 6) of the loop's motions, in the order of the chain, with the joint `third` of the loop hidden."""
    at = [(third - 2 + k) % 6 for k in range(6)]
    K = loop.K[at]
    inverse = np.linalg.inv(K)
    start = np.zeros((1, 3)), np.array([[0.0, 0.0, 1.0]])
    p, u = _move(*_apply(inverse[5], *start), ANGLES)  # −θ₁ at the three angles
    p, u = _move(*_apply(inverse[0], p, u), ANGLES)  # −θ₂ first axis, θ₁ second
    right = np.einsum("ai,bj,ijk->kab", _FROM_VALUES, _FROM_VALUES, _fourteen(p, u).reshape(3, 3, 14))
    slides = loop.kinds[at[2]] == "P"
    p, u = _move(*_apply(K[4], *start), ANGLES)
    p, u = _move(*_apply(K[3], p, u), ANGLES)
    p, u = _apply(K[2], p, u)
    if slides:
        shift = np.array([-1.0, 0.0, 1.0])
        moved = np.stack([p + np.array([0.0, 0.0, d]) for d in shift]).reshape(-1, 3)
        p, u = _apply(K[1], moved, np.tile(u, (3, 1)))
        hidden = np.linalg.inv(np.vander(shift, 3, increasing=True))
    else:
        p, u = _apply(K[1], *_move(p, u, ANGLES))
        hidden = _FROM_VALUES
    left = np.einsum("hm,ai,bj,mijk->khab", hidden, _FROM_VALUES, _FROM_VALUES, _fourteen(p, u).reshape(3, 3, 3, 14))
    left[:, 0, 0, 0] -= right[:, 0, 0]
    products = right.reshape(14, 9)[:, 1:]
    basis, _ = np.linalg.qr(products, mode="complete")
    free = np.einsum("ke,khab->ehab", basis[:, 8:], left)
    roots, vectors, zero = _hidden_roots(free, slides)
    real = np.abs(np.imag(roots)) < ALMOST_REAL
    return _back_substitute(loop, at, np.real(roots[real]), vectors[:, real], (left, products, zero, slides))


def _hidden_roots(free: Array, slides: bool) -> tuple[NDArray[np.complex128], NDArray[np.complex128], float]:
    """Roots of the hidden joint (angles counted from `zero`, or displacements) and eigenvectors (12, roots)."""
    best: tuple[float, Array, float] | None = None
    for zero in (0.0,) if slides else _OTHER_ZEROS:
        polynomial = _matrix_polynomial(free, slides, zero)
        condition = float(np.linalg.cond(polynomial[2]))
        if best is None or condition < best[0]:
            best = condition, polynomial, zero
        if condition < _WELL_CONDITIONED:
            break
    assert best is not None
    condition, (one, two, three), zero = best
    if condition < _WELL_CONDITIONED:
        companion = np.zeros((24, 24))
        companion[:12, 12:] = np.eye(12)
        companion[12:] = -np.linalg.solve(three, np.hstack([one, two]))
        values, vectors = np.linalg.eig(companion)
    else:
        from scipy.linalg import eig

        A, B = np.zeros((24, 24)), np.eye(24)
        A[:12, 12:], A[12:, :12], A[12:, 12:], B[12:, 12:] = np.eye(12), -one, -two, three
        values, vectors = eig(A, B)
    with np.errstate(all="ignore"):
        keep = np.isfinite(values) & (np.abs(values) < 1e8)
        values, vectors = values[keep], vectors[:, keep]
        roots = values if slides else np.where(np.abs(values**2 + 1.0) > 1e-6, 2.0 * np.arctan(values), 1j)
    # of the two halves (v, x v) of an eigenvector the larger is taken
    halves = np.where(np.abs(values) > 1.0, vectors[12:], vectors[:12])
    return np.asarray(roots, dtype=complex), np.asarray(halves, dtype=complex), zero


def _matrix_polynomial(free: Array, slides: bool, zero: float) -> Array:
    """(3, 12, 12) coefficients of 1, x, x² for the hidden joint, rows: six equations, and the same times x₄; columns:
    x₄^i x₅^j with i < 4, j < 3."""
    if slides:
        hidden = np.eye(3)
    else:
        c, s = np.cos(zero), np.sin(zero)
        shifted = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])  # 1, cos, sin of zero + θ
        hidden = shifted @ _HALF_TANGENT
    in_x = np.einsum("ehab,hx,ai,bj->xeij", free, hidden, _HALF_TANGENT, _HALF_TANGENT)
    result = np.zeros((3, 12, 4, 3))
    result[:, :6, :3] = in_x
    result[:, 6:, 1:] = in_x
    return result.reshape(3, 12, 12)


def _back_substitute(
    loop: _Loop,
    at: list[int],
    hidden: Array,
    vectors: NDArray[np.complex128],
    given: tuple[Array, Array, float, bool],
) -> Array:
    """Values (k, 6) in the order of the chain, from the hidden joint's (k,) and the eigenvectors (12, k)."""
    left, products, zero, slides = given
    grid = vectors.reshape(4, 3, -1)
    fourth = 2.0 * np.arctan(_ratio(grid[1:].reshape(9, -1), grid[:-1].reshape(9, -1)))
    fifth = 2.0 * np.arctan(_ratio(grid[:, 1:].reshape(8, -1), grid[:, :-1].reshape(8, -1)))
    third = hidden if slides else hidden + zero
    powers = np.stack([np.ones_like(third), third, third**2]) if slides else _waves(third)
    values = np.einsum("khab,hn,an,bn->kn", left, powers, _waves(fourth), _waves(fifth))
    y = np.linalg.lstsq(products, values, rcond=None)[0]  # c₁, s₁, c₂, c₂c₁, c₂s₁, s₂ … of −θ₁ and −θ₂
    motions = [-np.arctan2(y[1], y[0]), -np.arctan2(y[5], y[2]), third, fourth, fifth]
    before = np.broadcast_to(np.eye(4), (len(third), 4, 4))
    for k, motion in enumerate(motions):
        before = before @ _motion_along_z(loop.kinds[at[k]], motion) @ loop.K[at[k]]
    rest = np.linalg.inv(before @ np.eye(4)) @ np.linalg.inv(loop.K[at[5]])
    motions.append(np.arctan2(rest[:, 1, 0], rest[:, 0, 0]))
    result = np.zeros((len(third), 6))
    for k, motion in enumerate(motions):
        result[:, loop.joints[at[k]]] = loop.signs[at[k]] * motion
    return result


def _waves(angle: Array) -> Array:
    return np.stack([np.ones_like(angle), np.cos(angle), np.sin(angle)])


def _ratio(upper: NDArray[np.complex128], lower: NDArray[np.complex128]) -> Array:
    """Common ratio of the rows' pairs (m, k), real: the least-squares one."""
    square = np.sum(np.abs(lower) ** 2, axis=0)
    return np.asarray(np.real(np.sum(upper * np.conj(lower), axis=0)) / np.maximum(square, 1e-300))


def _motion_along_z(kind: str, value: Array) -> Array:
    """(k, 4, 4) turns about z, or displacements along it."""
    result = np.tile(np.eye(4), (len(value), 1, 1))
    if kind == "P":
        result[:, 2, 3] = value
        return result
    c, s = np.cos(value), np.sin(value)
    result[:, 0, 0], result[:, 0, 1], result[:, 1, 0], result[:, 1, 1] = c, -s, s, c
    return result


def _unit_of(chain: ScrewChain) -> Array:
    """(6,) rad for revolutes, the machine's size for slides."""
    return np.where([kind == "P" for kind in chain.kinds], chain.size, 1.0)


def _confirm(chain: ScrewChain, candidates: Array, X: Array) -> Array:
    """Solutions (K, 6), each once, to which Newton's method leads from candidates (k, 6) of the motions."""
    unit, rows = _unit_of(chain), np.array([1.0, 1.0, 1.0, *([1.0 / chain.size] * 3)])
    q = chain.start + candidates * unit
    q = q[np.isfinite(q).all(axis=1)]
    solved = [np.zeros((0, 6))]
    for step in range(STEPS + 1):
        J, reached = chain_jacobian(chain, q)
        error = pose_errors(reached, np.broadcast_to(X, reached.shape)) * rows
        size = np.max(np.abs(error), axis=1, initial=0.0)
        is_done = size < (CONFIRMED if step == STEPS else SETTLED)
        solved.append(q[is_done])
        left = ~is_done & (size < (FAR if step > FIRST_STEPS else np.inf))
        q, J, error = q[left], J[left], error[left]
        if step == STEPS or not len(q):
            break
        scaled = J * rows[:, None] * unit
        change = (np.linalg.pinv(scaled, rcond=1e-12) @ error[..., None])[..., 0]
        q = q + unit * np.clip(change, -0.3, 0.3)
    return _merge(chain, np.zeros((0, 6)), np.concatenate(solved))


def _merge(chain: ScrewChain, known: Array, found: Array) -> Array:
    """Known solutions (k, 6) and those of `found` that are not among them, with angles within half a turn."""
    rotates, unit = np.array([kind == "R" for kind in chain.kinds]), _unit_of(chain)
    kept = list(known)
    for q in found:
        q = np.where(rotates, np.remainder(q + np.pi, 2.0 * np.pi) - np.pi, q)
        gap = np.array(kept).reshape(-1, 6) - q
        gap = np.where(rotates, np.remainder(gap + np.pi, 2.0 * np.pi) - np.pi, gap) / unit
        if not (np.max(np.abs(gap), axis=1, initial=0.0) < SAME).any():
            kept.append(q)
    return np.array(kept).reshape(-1, 6)


def _has_double(chain: ScrewChain, q: Array) -> bool:
    """Return True if a solution is next to a singular pose, where two roots meet."""
    if not len(q):
        return False
    J, _ = chain_jacobian(chain, q)
    J[:, 3:] /= chain.size
    return bool(np.min(np.linalg.svd(J * _unit_of(chain), compute_uv=False)) < NEAR_DOUBLE)


class GeneralArm:
    """Solver of a general six-joint arm, for arrays of targets."""

    branches = MOST_SOLUTIONS

    def __init__(self, chain: ScrewChain) -> None:
        self.chain = chain
        self.is_complete = np.zeros(0, dtype=bool)
        """True for each target of the last call whose positions are certainly all."""

    def solve(self, targets: Array, near: Array) -> Array:
        """Values (m, 16, 6) of the joints for targets (m, 4, 4), NaN where there are fewer solutions."""
        values = np.full((len(targets), MOST_SOLUTIONS, 6), np.nan)
        self.is_complete = np.zeros(len(targets), dtype=bool)
        for row, X in enumerate(targets):
            found = eliminate(self.chain, X)
            count = min(len(found.q), MOST_SOLUTIONS)
            values[row, :count] = found.q[:count]
            self.is_complete[row] = found.is_complete and count == len(found.q)
        return values
