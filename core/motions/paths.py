"""Paths of a machine over s from 0 to 1: straight in its coordinates, or a tool along a line or an arc.

A path gives position, q′ and q″ at many s at once. Where coordinates follow a tool, or loops, the path is the solution
of residuals r(q, s) = 0: a continuation puts knots along it, and between knots Newton's method starts from the cubic
through their positions and slopes. With rows J of the residuals and twist W = dX/ds of the tool

    J q′ = W        J q″ = W′ − J′ q′        (minimum changes against the cubic where rows leave q′ open)
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.pose_errors import pose_errors
from core.errors import ModelError
from core.mechanism import Mechanism

Array = NDArray[np.float64]

FIRST_STEP, MOST_KNOTS = 1.0 / 16.0, 4096
"""Step of the parameter to the second knot, and the largest number of knots."""
FARTHEST, NEAREST = 0.05, 0.005
"""Newton correction (rad, m) of the next knot above which the step to it is halved, and below which the next one is
doubled."""
SHORTEST_STEP = 1e-7
"""Step of the parameter below which a path cannot go on."""
TOLERANCE = 1e-10
"""Residual (m, rad) of a position on the path."""
STEPS = 12
"""Largest number of Newton steps from the cubic to the path."""
SINGULAR = 1e-7
"""Singular value relative to the largest below which a direction of the tool is lost."""
PASSING, DAMPING = 201, 0.02
"""Points of the rest of a path, and damping (m, rad), with which the deviation past a singularity is found."""
FASTEST = 1e4
"""Largest |q′| (rad or m per unit of s) before a path is called singular."""


class Moving(NamedTuple):
    """Positions (N, nq), first and second derivatives (N, nv) with respect to s."""

    q: Array
    rate: Array
    change: Array


class Path(Protocol):
    """A path over s in [0, 1]; `tool_length` : m, `tool_angle` : rad, of the tool along it, where it follows one."""

    tool_length: float
    tool_angle: float

    def at(self, s: Array) -> Moving:
        """Return the path at parameters (N,)."""
        ...


class StraightPath:
    """Straight in the coordinates of a tree, from q0 to q1 (nq,)."""

    tool_length = tool_angle = 0.0

    def __init__(self, mech: Mechanism, q0: Array, q1: Array) -> None:
        self._mech, self._q0, self.displacement = mech, q0, mech.difference(q0, q1)

    def at(self, s: Array) -> Moving:
        steps = s[:, None] * self.displacement
        q = self._mech.integrate(np.broadcast_to(self._q0, (len(s), len(self._q0))), steps)
        return Moving(q, np.broadcast_to(self.displacement, steps.shape), np.zeros(steps.shape))


class ToolCurve(NamedTuple):
    """Curve of a pose: start (4, 4), world axes; rotation : (3,) rad, from start to end, world axes; centre, radius
    vectors u, w (3,) and angle of an arc; for a line, displacement (3,) and angle 0."""

    start: Array
    rotation: Array
    displacement: Array
    centre: Array
    u: Array
    w: Array
    angle: float

    def at(self, s: Array) -> tuple[Array, Array, Array]:
        """Return poses (N, 4, 4), twists dX/ds (N, 6) [angular; linear], and their derivatives (N, 6)."""
        from scipy.spatial.transform import Rotation

        X = np.broadcast_to(np.eye(4), (len(s), 4, 4)).copy()
        X[:, :3, :3] = Rotation.from_rotvec(s[:, None] * self.rotation).as_matrix() @ self.start[:3, :3]
        twist, change = np.zeros((len(s), 6)), np.zeros((len(s), 6))
        twist[:, :3] = self.rotation
        if self.angle == 0.0:
            X[:, :3, 3] = self.start[:3, 3] + s[:, None] * self.displacement
            twist[:, 3:] = self.displacement
            return X, twist, change
        sine, cosine = np.sin(self.angle * s)[:, None], np.cos(self.angle * s)[:, None]
        X[:, :3, 3] = self.centre + cosine * self.u + sine * self.w
        twist[:, 3:] = self.angle * (cosine * self.w - sine * self.u)
        change[:, 3:] = -(self.angle**2) * (cosine * self.u + sine * self.w)
        return X, twist, change

    @property
    def length(self) -> float:
        """Return the length of the curve of the origin, m."""
        return float(np.linalg.norm(self.u) * abs(self.angle) if self.angle else np.linalg.norm(self.displacement))


def line_between(start: Array, end: Array) -> ToolCurve:
    """Return the straight line between two poses (4, 4), turning by the shortest rotation."""
    none = np.zeros(3)
    return ToolCurve(start, shortest_rotation(start, end), end[:3, 3] - start[:3, 3], none, none, none, 0.0)


def arc_through(start: Array, via: Array, end: Array, where: str) -> ToolCurve:
    """Return the arc from a pose (4, 4) through a point (3,) to a pose. Raises ModelError if the points are in line."""
    a, b, c = start[:3, 3], via, end[:3, 3]
    ab, ac = b - a, c - a
    normal = np.cross(ab, ac)
    size = float(np.linalg.norm(normal))
    if size <= 1e-9 * max(float(ab @ ab), float(ac @ ac), 1e-300):
        raise ModelError(
            "Start, via point and end of the arc are on one line.", where=where, remedy="Move the via point aside."
        )
    # circumcentre of the triangle
    centre = a + (np.cross(normal, ab) * (ac @ ac) + np.cross(ac, normal) * (ab @ ab)) / (2.0 * size**2)
    u = a - centre
    w = np.cross(normal / size, u)
    end_angle = float(np.arctan2((c - centre) @ w, (c - centre) @ u)) % (2.0 * np.pi)
    return ToolCurve(start, shortest_rotation(start, end), c - a, centre, u, w, end_angle)


def shortest_rotation(start: Array, end: Array) -> Array:
    """(3,) rotation vector, world axes, rad, from the axes of one pose (4, 4) to those of another."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(end[:3, :3] @ start[:3, :3].T).as_rotvec())


class Rows(Protocol):
    """Residuals that hold along a path."""

    def at(self, s: Array, q: Array) -> tuple[Array, Array, Array]:
        """Return residuals (N, m), their rows (N, m, nv), and the wanted rates (N, m) at parameters and positions."""
        ...

    def changes(self, s: Array, q: Array, rate: Array) -> Array:
        """(N, m) what the rows times q″ have to be."""
        ...


class ToolRows:
    """A frame follows a curve; with loops, they stay closed."""

    def __init__(self, mech: Mechanism, frame: str, curve: ToolCurve, p: Array | None) -> None:
        self._mech, self._frame, self._curve, self._p = mech, frame, curve, p

    def at(self, s: Array, q: Array) -> tuple[Array, Array, Array]:
        X, twist, _ = self._curve.at(s)
        error = -pose_errors(np.asarray(self._mech.frame(q, self._frame, p=self._p)), X)
        J = np.asarray(self._mech.jacobian(q, self._frame, p=self._p))
        return _with_loops(self._mech, q, self._p, error, J, twist)

    def changes(self, s: Array, q: Array, rate: Array) -> Array:
        wanted = self._curve.at(s)[2]
        still = np.zeros(rate.shape)
        own = wanted - np.asarray(self._mech.frame_acceleration(q, rate, still, self._frame, p=self._p))
        return _with_loop_changes(self._mech, q, rate, self._p, own)


class CoordinateRows:
    """Some coordinates move straight, the loops stay closed. chosen : (k,) indices of speeds; displacement : (k,)"""

    def __init__(
        self, mech: Mechanism, q0: Array, chosen: NDArray[np.intp], displacement: Array, p: Array | None
    ) -> None:
        self._mech, self._q0, self._chosen, self._displacement, self._p = mech, q0, chosen, displacement, p
        self._rows = np.eye(mech.nv)[chosen]

    def at(self, s: Array, q: Array) -> tuple[Array, Array, Array]:
        moved = self._mech.difference(np.broadcast_to(self._q0, q.shape), q)[:, self._chosen]
        rows = np.broadcast_to(self._rows, (len(s), *self._rows.shape))
        wanted = np.broadcast_to(self._displacement, moved.shape)
        return _with_loops(self._mech, q, self._p, moved - s[:, None] * self._displacement, rows, wanted)

    def changes(self, s: Array, q: Array, rate: Array) -> Array:
        return _with_loop_changes(self._mech, q, rate, self._p, np.zeros((len(s), len(self._chosen))))


def _with_loops(
    mech: Mechanism, q: Array, p: Array | None, error: Array, rows: Array, wanted: Array
) -> tuple[Array, Array, Array]:
    if not mech.constrained:
        return error, rows, wanted
    G = np.asarray(mech.constraint_jacobian(q, p=p))
    error = np.concatenate([error, np.asarray(mech.constraint_residual(q, p=p))], axis=1)
    return error, np.concatenate([rows, G], axis=1), np.concatenate([wanted, np.zeros(G.shape[:2])], axis=1)


def _with_loop_changes(mech: Mechanism, q: Array, rate: Array, p: Array | None, own: Array) -> Array:
    """Append −G′ q′, by central differences of G along the path (no kernel function has it)."""
    if not mech.constrained:
        return own
    size = np.maximum(np.max(np.abs(rate), axis=1, initial=0.0), 1e-12)
    step = 1e-5 / size
    ahead, behind = (
        np.asarray(mech.constraint_jacobian(mech.integrate(q, sign * rate * step[:, None]), p=p))
        for sign in (1.0, -1.0)
    )
    G_rate = (ahead - behind) / (2.0 * step)[:, None, None]
    return np.concatenate([own, -(G_rate @ rate[..., None])[..., 0]], axis=1)


class FollowedPath:
    """A path given by residuals, from q0 (nq,) at s = 0. Raises ModelError naming where and why it cannot go on."""

    def __init__(self, mech: Mechanism, rows: Rows, q0: Array, where: str, lengths: tuple[float, float]) -> None:
        self._mech, self._rows, self._where = mech, rows, where
        self.tool_length, self.tool_angle = lengths
        self._s, self._q, self._rate = self._continue(q0)
        self._free = self._choose_free()

    def _continue(self, q0: Array) -> tuple[Array, Array, Array]:
        """Put knots along the path, closer where the cubic leaves it."""
        s, q = [0.0], [self._newton(np.zeros(1), q0[None])[0]]
        rate = [self._rates(np.zeros(1), q[0][None])[0]]
        step = FIRST_STEP
        while s[-1] < 1.0:
            if len(s) > MOST_KNOTS:
                raise self._stuck(s[-1], q[-1])
            step = min(step, 1.0 - s[-1])
            after = 1.0 if step == 1.0 - s[-1] else s[-1] + step
            guess = self._mech.integrate(q[-1][None], step * rate[-1][None])
            found, is_met = self._newton_tried(np.array([after]), guess)
            size = float(np.max(np.abs(self._mech.difference(guess, found)), initial=0.0))
            if not is_met[0] or size > FARTHEST:
                step *= 0.5
                if step < SHORTEST_STEP:
                    raise self._stuck(s[-1], q[-1])
                continue
            s.append(after)
            q.append(found[0])
            rate.append(self._rates(np.array([after]), found)[0])
            if np.max(np.abs(rate[-1])) > FASTEST:
                raise self._stuck(s[-1], q[-1])
            step *= 2.0 if size < NEAREST else 1.0
        return np.array(s), np.array(q), np.array(rate)

    def _rates(self, s: Array, q: Array) -> Array:
        _, J, wanted = self._rows.at(s, q)
        return _minimum_norm(J, wanted)

    def _newton(self, s: Array, q: Array, free: Array | None = None) -> Array:
        found, is_met = self._newton_tried(s, q, free)
        if not is_met.all():
            k = int(np.flatnonzero(~is_met)[0])
            raise self._stuck(float(s[k]), q[k])
        return found

    def _newton_tried(self, s: Array, q: Array, free: Array | None = None) -> tuple[Array, NDArray[np.bool_]]:
        start, is_met = q, np.zeros(len(s), dtype=bool)
        for _ in range(STEPS):
            error, J, _ = self._rows.at(s, q)
            is_met = np.max(np.abs(error), axis=1, initial=0.0) < TOLERANCE
            if is_met.all() or not np.isfinite(error).all():
                break
            if free is not None:
                J, error = _append_rows(J, error, free, self._mech.difference(start, q))
            q = self._mech.integrate(q, _minimum_norm(J, -error))
        return q, is_met

    def _stuck(self, s: float, q: Array) -> ModelError:
        _, J, _wanted = self._rows.at(np.array([s]), q[None])
        values = np.linalg.svd(J[0], compute_uv=False)
        far = f"after {100.0 * s:.3g} % of the path"
        if len(values) and values[-1] < 1e-3 * values[0]:
            return ModelError(
                f"The tool cannot follow the path {far}: the machine is near a singularity (its smallest singular "
                f"value is {values[-1] / values[0]:.2g} of the largest).{self._deviation(s, q)}",
                where=self._where,
                remedy="Move in joint space here, or choose another start configuration.",
            )
        return ModelError(
            f"The tool cannot follow the path {far}: no position of the machine meets the next point.",
            where=self._where,
            remedy="Keep the path within reach, or choose another start configuration.",
        )

    def _deviation(self, s: float, q: Array) -> str:
        """Return a sentence with the deviation from the path with which the machine would pass: damped least squares
        along the rest of the path, until it is on it again."""
        rotation = translation = 0.0
        for place in np.linspace(s, 1.0, PASSING)[1:]:
            at = np.array([place])
            for _ in range(STEPS):
                error, J, _ = self._rows.at(at, q[None])
                damped = J[0] @ J[0].T + DAMPING**2 * np.eye(J.shape[1])
                q = self._mech.integrate(q, -J[0].T @ np.linalg.solve(damped, error[0]))
            error = self._rows.at(at, q[None])[0]
            rotation = max(rotation, float(np.linalg.norm(error[0, :3])))
            translation = max(translation, float(np.linalg.norm(error[0, 3:6])))
        last = self._rows.at(np.ones(1), q[None])[0]
        if not np.max(np.abs(last)) < 1e-3:
            return " No small deviation leads past it."
        return f" A path that deviates by {1e3 * translation:.3g} mm and {np.degrees(rotation):.2g}° would pass it."

    def at(self, s: Array) -> Moving:
        guess, slope, bend, free = self._cubic(s)
        q = self._newton(s, guess, free)
        _, J, wanted = self._rows.at(s, q)
        rate = _minimum_norm(*_append_rows(J, wanted, free, slope))
        change = _minimum_norm(*_append_rows(J, self._rows.changes(s, q, rate), free, bend))
        return Moving(q, rate, change)

    def _choose_free(self) -> Array:
        """(K − 1, f, nv) rows of the coordinates that follow the cubic between two knots, since the path leaves f
        directions open: those in which these directions are largest."""
        from scipy.linalg import qr

        mids = 0.5 * (self._s[1:] + self._s[:-1])
        _, J, _ = self._rows.at(
            mids, self._mech.integrate(self._q[:-1], self._rate[:-1] * (mids - self._s[:-1])[:, None])
        )
        _, values, V = np.linalg.svd(J)
        ranks = np.sum(values > SINGULAR * values[:, :1], axis=1)
        count = self._mech.nv - int(ranks.max())
        chosen = np.zeros((len(mids), count, self._mech.nv))
        if count:
            for k, open_directions in enumerate(V[:, -count:]):
                pivots = qr(open_directions, mode="r", pivoting=True)[1][:count]
                chosen[k, np.arange(count), pivots] = 1.0
        return chosen

    def _cubic(self, s: Array) -> tuple[Array, Array, Array, Array]:
        """Return positions, first and second derivatives of the cubic through the knots, and rows that follow it."""
        k = np.clip(np.searchsorted(self._s, s, side="right") - 1, 0, len(self._s) - 2)
        h = self._s[k + 1] - self._s[k]
        x = ((s - self._s[k]) / h)[:, None]
        h = h[:, None]
        displacement = self._mech.difference(self._q[k], self._q[k + 1])
        m0, m1 = h * self._rate[k], h * self._rate[k + 1]
        b, c = 3.0 * displacement - 2.0 * m0 - m1, m0 + m1 - 2.0 * displacement
        q = self._mech.integrate(self._q[k], x * (m0 + x * (b + x * c)))
        return q, (m0 + x * (2.0 * b + 3.0 * x * c)) / h, (2.0 * b + 6.0 * x * c) / h**2, self._free[k]

    @property
    def end(self) -> Array:
        """Return the last position (nq,)."""
        return self._q[-1]


def _append_rows(J: Array, right: Array, free: Array, values: Array) -> tuple[Array, Array]:
    """Return J and right-hand sides with the rows of free coordinates, which have the given values (N, nv)."""
    if not free.shape[1]:
        return J, right
    return np.concatenate([J, free], axis=1), np.concatenate([right, (free @ values[..., None])[..., 0]], axis=1)


def _minimum_norm(J: Array, right: Array) -> Array:
    """(N, nv) shortest solutions of J x = right, without directions that J has lost."""
    if J.shape[1] == J.shape[2]:
        with np.errstate(all="ignore"):
            try:
                found = np.linalg.solve(J, right[..., None])[..., 0]
            except np.linalg.LinAlgError:
                found = np.full((len(J), J.shape[2]), np.nan)
        if np.isfinite(found).all() and np.max(np.abs(found), initial=0.0) < 1e3:
            return np.asarray(found)
    return np.asarray((np.linalg.pinv(J, rcond=SINGULAR) @ right[..., None])[..., 0])
