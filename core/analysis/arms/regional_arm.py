"""Arms of three joints of any kinds with a spherical wrist: a polynomial of fourth degree for the third joint.

The first joint leaves two numbers of the wrist's centre unchanged: its height along the axis and its distance from a
point on it, or for a slide its two coordinates across. With the second joint they give two equations, linear in the
cosine and sine of its angle (or they give its displacement); what is left is of second degree in the cosine and sine of
the third angle, or of fourth in its displacement (D. L. Pieper, "The kinematics of manipulators under computer
control", 1968). If the first two axes are parallel, the height alone gives the third joint, and the distance the
second; if they meet, the arm is one of the families.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.arm_families import MEETING_TOLERANCE, meeting_point
from core.analysis.arms.screw_chain import PARALLEL_TOLERANCE, ScrewChain, axis_frames

Array = NDArray[np.float64]

REGIONAL_WORDS = "closed form: three joints, spherical wrist"
REGULAR = 1e-6
"""Determinant (of unit size) of the equations for the second joint below which they are not solvable."""
ON_CIRCLE = 1e-3
"""Distance of a root from the unit circle, or from the real axis, up to which it counts as real."""
SAMPLES = 2.0 * np.pi * np.arange(5) / 5.0


def is_regional_arm(chain: ScrewChain) -> bool:
    """Return True if the last three joints are a spherical wrist and the first two can be solved for."""
    if len(chain.kinds) != 6 or chain.kinds[3:] != "RRR":
        return False
    one, two = meeting_point(chain, 3, 4), meeting_point(chain, 4, 5)
    if one is None or two is None or np.linalg.norm(one - two) > MEETING_TOLERANCE * chain.size:
        return False
    return RegionalArm(chain).is_regular


class RegionalArm:
    """Solver of one such arm, for arrays of targets; branches in no lasting order."""

    branches = 8

    def __init__(self, chain: ScrewChain) -> None:
        self.chain = chain
        frames, self._signs = axis_frames(chain)
        self._frames = frames[:3]
        inverse = np.linalg.inv(frames[:3])
        K1 = inverse[0] @ frames[1]
        self._R1, self._p1 = K1[:3, :3], K1[:3, 3]
        self._K2 = inverse[1] @ frames[2]
        centre = meeting_point(chain, 3, 4)
        assert centre is not None
        self._centre = inverse[2, :3, :3] @ centre + inverse[2, :3, 3]
        self._to_first, self._world_centre = inverse[0], centre
        rows = self._R1[:2]
        if chain.kinds[0] == "R":
            rows = np.array([self._R1[2], 2.0 * (self._R1.T @ self._p1) / chain.size])
        self._N = rows[:, :2] * np.array([[1.0], [1.0 if chain.kinds[0] == "P" else chain.size]])
        if chain.kinds[1] == "R":
            self.is_regular = abs(float(np.linalg.det(rows[:, :2]))) > REGULAR
        else:
            self.is_regular = float(np.max(np.abs(self._slide_row()))) > REGULAR
        self._is_parallel = chain.kinds[:2] == "RR" and float(np.max(np.abs(rows[0, :2]))) < PARALLEL_TOLERANCE
        self.is_regular = self.is_regular or (self._is_parallel and float(np.max(np.abs(rows[1, :2]))) > REGULAR)
        self.is_regular = self.is_regular and self._has_finite_roots()

    def _slide_row(self) -> Array:
        """Coefficients of the second displacement in the linear equations: height, or both coordinates."""
        return self._R1[2:, 2] if self.chain.kinds[0] == "R" else self._R1[:2, 2]

    def _has_finite_roots(self) -> bool:
        """Return True if the equation for the third joint depends on it."""
        rng = np.random.default_rng(7)
        c = self._world_centre[None] + self.chain.size * rng.uniform(-0.3, 0.3, (3, 3))
        values = np.stack([self._condition(np.full(3, x), c)[0] for x in (0.3, 1.1, 2.4)])
        return bool(np.min(np.ptp(values, axis=0)) > 1e-9)

    def _third(self, x: Array) -> Array:
        """(m, 3) centre of the wrist behind the second joint at values x (m,) of the third."""
        c = np.tile(self._centre, (len(x), 1))
        if self.chain.kinds[2] == "R":
            cosine, sine = np.cos(x), np.sin(x)
            c = np.stack([cosine * c[:, 0] - sine * c[:, 1], sine * c[:, 0] + cosine * c[:, 1], c[:, 2]], axis=-1)
        else:
            c = c + x[:, None] * np.array([0.0, 0.0, 1.0])
        return np.asarray(c @ self._K2[:3, :3].T + self._K2[:3, 3])

    def _condition(self, x: Array, centre: Array, side: float = 1.0) -> tuple[Array, Array]:
        """Residuals (m,) of the equation for the third joint at its values x (m,), and (m,) the second joint's; side :
        of its root, where it has two"""
        c = centre @ self._to_first[:3, :3].T + self._to_first[:3, 3]
        f = self._third(x)
        R1, p1, first, second = self._R1, self._p1, self.chain.kinds[0], self.chain.kinds[1]
        m = R1.T @ p1
        if first == "R":
            e1 = c[:, 2] - p1[2] - R1[2, 2] * f[:, 2]
            e2 = np.sum(c * c, axis=1) - p1 @ p1 - np.sum(f * f, axis=1) - 2.0 * m[2] * f[:, 2]
        else:
            e1 = c[:, 0] - p1[0] - R1[0, 2] * f[:, 2]
            e2 = c[:, 1] - p1[1] - R1[1, 2] * f[:, 2]
        if self._is_parallel:
            A, B = (self._N[1] @ f[:, :2].T, self._N[1, 1] * f[:, 0] - self._N[1, 0] * f[:, 1])
            half = np.arccos(np.clip(e2 / np.maximum(np.hypot(A, B), 1e-300), -1.0, 1.0))
            return np.asarray(e1 / self.chain.size), np.asarray(np.arctan2(B, A) + side * half)
        if second == "R":
            g = np.linalg.solve(self._N, np.stack([e1, e2]))
            found = np.arctan2(f[:, 0] * g[1] - f[:, 1] * g[0], f[:, 0] * g[0] + f[:, 1] * g[1])
            return np.asarray((g[0] ** 2 + g[1] ** 2 - f[:, 0] ** 2 - f[:, 1] ** 2) / self.chain.size**2), found
        flat = self._N @ f[:, :2].T
        if first == "P":
            r1, r2 = e1 - flat[0], e2 - flat[1]
            row = self._slide_row()
            found = (row[0] * r1 + row[1] * r2) / (row @ row)
            return np.asarray((row[1] * r1 - row[0] * r2) / self.chain.size), found
        found = (e1 - flat[0]) / R1[2, 2]
        square = found**2 + 2.0 * found * (f[:, 2] + m[2]) - (e2 - flat[1])
        return np.asarray(square / self.chain.size**2), found

    def _roots(self, centre: Array) -> Array:
        """(m, 4) values of the third joint, NaN where there are fewer."""
        count, size = len(centre), self.chain.size
        if self.chain.kinds[2] == "R":
            values = np.stack([self._condition(np.full(count, x), centre)[0] for x in SAMPLES], axis=1)
            waves = values @ np.exp(-1j * np.outer(SAMPLES, np.arange(-2, 3))) / 5.0  # of e^{ikθ}, k = −2 … 2
        else:
            shifts = np.arange(-2.0, 3.0) * 0.5
            values = np.stack([self._condition(np.full(count, x * size), centre)[0] for x in shifts], axis=1)
            waves = values @ np.linalg.inv(np.vander(shifts, 5, increasing=True)).T
        result = np.full((count, 4), np.nan)
        for row, each in enumerate(waves):
            scale = np.max(np.abs(each))
            kept = each[: int(np.max(np.flatnonzero(np.abs(each) > 1e-12 * scale), initial=0)) + 1]
            found = np.roots(kept[::-1])
            if self.chain.kinds[2] == "R":
                found = found[np.abs(np.abs(found) - 1.0) < ON_CIRCLE]
                result[row, : len(found)] = np.angle(found)[:4]
            else:
                found = np.real(found[np.abs(np.imag(found)) < ON_CIRCLE])
                result[row, : len(found)] = found[:4] * size
        return result

    def solve(self, targets: Array, near: Array) -> Array:
        """Values (m, 8, 6) of the joints for targets (m, 4, 4), NaN where there are fewer solutions."""
        chain, count = self.chain, len(targets)
        X = targets @ np.linalg.inv(chain.X)
        centre = X[:, :3, :3] @ self._world_centre + X[:, :3, 3]
        third = self._roots(centre).reshape(-1)
        spread = np.repeat(centre, 4, axis=0)
        with np.errstate(invalid="ignore"):
            second = self._condition(third, spread)[1]
            if self._is_parallel:  # two values of the third joint with two of the second each
                third = np.tile(third.reshape(count, 4)[:, :2], (1, 2)).reshape(-1)
                both = (self._condition(third, spread, side)[1].reshape(count, 4) for side in (1.0, -1.0))
                second = np.hstack([each[:, :2] for each in both]).reshape(-1)
        first = self._first(second, third, spread)
        values = np.stack([first, second, third], axis=-1) * self._signs[:3] + chain.start[:3]
        wanted = np.repeat(np.broadcast_to(near, (count, 6)), 4, axis=0)
        wrist = self._wrist(values, np.repeat(X, 4, axis=0), wanted)
        every = np.concatenate([np.repeat(values[:, None], 2, axis=1), wrist], axis=-1)
        return np.asarray(every.reshape(count, 8, 6))

    def _first(self, second: Array, third: Array, centre: Array) -> Array:
        f = self._third(third)
        if self.chain.kinds[1] == "R":
            c, s = np.cos(second), np.sin(second)
            f = np.stack([c * f[:, 0] - s * f[:, 1], s * f[:, 0] + c * f[:, 1], f[:, 2]], axis=-1)
        else:
            f = f + second[:, None] * np.array([0.0, 0.0, 1.0])
        r = f @ self._R1.T + self._p1
        c0 = centre @ self._to_first[:3, :3].T + self._to_first[:3, 3]
        if self.chain.kinds[0] == "P":
            return np.asarray(c0[:, 2] - r[:, 2])
        return np.asarray(np.arctan2(c0[:, 1], c0[:, 0]) - np.arctan2(r[:, 1], r[:, 0]))

    def _wrist(self, values: Array, X: Array, near: Array) -> Array:
        """(m, 2, 3) angles of the last three joints for the rotations of X (m, 4, 4) relative to the start."""
        chain = self.chain
        held = np.tile(chain.start, (len(values), 1))
        held[:, :3] = np.where(np.isfinite(values), values, chain.start[:3])
        start_pose = chain.axes(held)[2] @ np.linalg.inv(chain.X)
        R = np.swapaxes(start_pose[:, :3, :3], 1, 2) @ X[:, :3, :3]
        u4, u5, u6 = chain.direction[3:]
        target = R @ u6
        # u₄ · exp(u₅ θ₅) u₆ = u₄ · R u₆
        along = u5 * float(u5 @ u6)
        A, B = float(u4 @ (u6 - along)), float(u4 @ np.cross(u5, u6))
        C = target @ u4 - float(u4 @ along)
        length, angle = np.hypot(A, B), np.arctan2(B, A)
        with np.errstate(invalid="ignore"):
            half = np.arccos(np.clip(C / length, -1.0, 1.0))
        result = np.empty((len(values), 2, 3))
        for side, sign in enumerate((1.0, -1.0)):
            fifth = angle + sign * half
            moved = _rotate(u5, fifth, u6)
            fourth = _angle_about(u4, moved, target, near[:, 3] - chain.start[3])
            back = _rotate_all(u5, -fifth, _rotate_all(u4, -fourth, R))
            across = np.cross(u6, np.eye(3)[int(np.argmin(np.abs(u6)))])
            sixth = _angle_about(u6, np.tile(across, (len(values), 1)), back @ across, 0.0)
            result[:, side] = np.stack([fourth, fifth, sixth], axis=-1) + chain.start[3:]
        return result


def _rotate(w: Array, angle: Array, v: Array) -> Array:
    """(m, 3) vector v (3,) turned about w by angles (m,)."""
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return np.asarray(c * v + s * np.cross(w, v) + (1.0 - c) * float(w @ v) * w)


def _rotate_all(w: Array, angle: Array, R: Array) -> Array:
    """(m, 3, 3) rotations R (m, 3, 3) followed by turns about w by angles (m,)."""
    columns = np.stack([_rotate(w, angle, each) for each in np.eye(3)], axis=-1)
    return np.asarray(columns @ R)


def _angle_about(w: Array, a: Array, b: Array, otherwise: float | Array) -> Array:
    """(m,) angles about w that bring a (m, 3) to b (m, 3), seen along w; `otherwise` where a is along w."""
    ahead = np.einsum("mi,i->m", np.cross(a, b), w)
    along = np.sum(a * b, axis=1) - (a @ w) * (b @ w)
    return np.asarray(np.where(np.hypot(ahead, along) > 1e-12, np.arctan2(ahead, along), otherwise))
