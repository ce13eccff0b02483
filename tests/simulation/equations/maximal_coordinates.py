"""Machines in maximal coordinates, as a second opinion: every body has six speeds, every joint is rows of constraints.

Own text, which shares nothing with the kernel but the document: Newton and Euler for each body about its middle;
[M Jᵀ; J 0] solved with least norm, J̇ V from differences, classical Runge–Kutta on poses with quaternions.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation

from core.model import Model

Array = np.ndarray


def matrix(pose) -> Array:  # type: ignore[no-untyped-def]
    """(4, 4) of a document's pose in numbers."""
    X = np.eye(4)
    turn = pose.rotation
    R = Rotation.from_quat(turn) if len(turn) == 4 else Rotation.from_euler("xyz", turn)
    X[:3, :3], X[:3, 3] = R.as_matrix(), pose.position
    return X


def unit(vector) -> Array:  # type: ignore[no-untyped-def]
    return np.asarray(vector, float) / math.hypot(*vector)


def cross(a: Array, b: Array) -> Array:
    """a × b of three numbers each; numpy's own takes twenty times as long."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array((y * w - z * v, z * u - x * w, x * v - y * u))


def across(axis: Array) -> tuple[Array, Array]:
    x = unit(cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))]))
    return x, cross(axis, x)


class Maximal:
    """State: R (n, 3, 3), c (n, 3) centres of mass; V (n, 6) = [ω, ċ] in world axes. Numbers only, no parameters.

    driven : joint → f̈(t) of its angle or displacement
    """

    def __init__(self, model: Model, driven: dict[str, Callable[[float], float]] | None = None) -> None:
        self.model, self.driven = model, driven or {}
        self.index = {body.name: i for i, body in enumerate(model.bodies)}
        self.mass = np.array([body.mass for body in model.bodies])
        self.center = np.array([body.center_of_mass for body in model.bodies])
        self.inertia = np.array([_tensor(body.inertia) for body in model.bodies])
        self.gravity = (
            np.array(model.world.gravity.acceleration) if model.world.gravity.kind == "uniform" else np.zeros(3)
        )
        self.sides = {j.name: (matrix(j.a), matrix(j.b)) for j in model.joints}

    # ------------------------------------------------------------------------------------------------ geometry

    def frame(self, R: Array, c: Array, body: str, X: Array) -> tuple[Array, Array, Array]:
        """(rotation, point, arm from the centre of mass) of a frame on a body."""
        if body not in self.index:
            return X[:3, :3], X[:3, 3], np.zeros(3)
        i = self.index[body]
        arm = R[i] @ (X[:3, 3] - self.center[i])
        return R[i] @ X[:3, :3], c[i] + arm, arm

    def rows(self, R: Array, c: Array) -> dict[str, Array]:
        """joint → (m, 6 n) of its constraints, then one for what a driver moves."""
        return {
            joint.name: np.array(list(self._rows(joint, R, c))).reshape(-1, 6 * len(R)) for joint in self.model.joints
        }

    def _rows(self, joint, R: Array, c: Array):  # type: ignore[no-untyped-def]
        A, B = joint.parent, joint.child
        (Ra, pa, ra), (Rb, pb, rb) = (
            self.frame(R, c, body, X) for body, X in zip((A, B), self.sides[joint.name], strict=True)
        )
        d, axis = pb - pa, unit(joint.axis)
        x, y = across(axis)
        z_a, z_b = Ra @ axis, Rb @ axis

        def row(on_a: Array, at_a: Array, on_b: Array, at_b: Array) -> Array:
            """Coefficients of ω_A, ċ_A, ω_B, ċ_B."""
            result = np.zeros((len(R), 6))
            for body, w, f in ((A, on_a, at_a), (B, on_b, at_b)):
                if body in self.index:
                    result[self.index[body]] += np.concatenate([w, f])
            return result.ravel()

        def turned(u: Array, w: Array) -> Array:  # d/dt (u on A · w on B)
            n = cross(u, w)
            return row(n, np.zeros(3), -n, np.zeros(3))

        def shifted(u: Array) -> Array:  # d/dt (u on A · d)
            return row(cross(u, d) - cross(ra, u), -u, cross(rb, u), u)

        def apart(u: Array) -> Array:  # u · ḋ, u in the world
            return row(-cross(ra, u), -u, cross(rb, u), u)

        kind = joint.kind
        if kind in ("revolute", "spherical", "universal"):
            yield from (apart(e) for e in np.eye(3))
        if kind in ("revolute", "cylindrical", "planar"):
            yield from (turned(Ra @ u, z_b) for u in (x, y))
        if kind in ("prismatic", "cylindrical"):
            yield from (shifted(Ra @ u) for u in (x, y))
        if kind == "prismatic":
            yield from (turned(Ra @ u, Rb @ w) for u, w in ((x, y), (y, axis), (axis, x)))
        if kind == "planar":
            yield shifted(z_a)
        if kind == "universal":
            yield turned(z_a, Rb @ unit(joint.second_axis))
        if joint.name in self.driven:
            yield self.along(joint, R, c)

    def along(self, joint, R: Array, c: Array) -> Array:  # type: ignore[no-untyped-def]
        """(6 n,) of the speed of a revolute's angle or a prismatic's displacement."""
        (Ra, pa, ra), (_, pb, rb) = (
            self.frame(R, c, body, X)
            for body, X in zip((joint.parent, joint.child), self.sides[joint.name], strict=True)
        )
        z, d, result = Ra @ unit(joint.axis), pb - pa, np.zeros((len(R), 6))
        turns = joint.kind == "revolute"
        parts = (
            (joint.parent, -z if turns else cross(z, d) - cross(ra, z), 0.0 * z if turns else -z),
            (joint.child, z if turns else cross(rb, z), 0.0 * z if turns else z),
        )
        for body, w, f in parts:
            if body in self.index:
                result[self.index[body]] += np.concatenate([w, f])
        return result.ravel()

    def coordinate(self, joint, R: Array, c: Array) -> float:  # type: ignore[no-untyped-def]
        """Angle (within half a turn) or displacement."""
        (Ra, pa, _), (Rb, pb, _) = (
            self.frame(R, c, body, X)
            for body, X in zip((joint.parent, joint.child), self.sides[joint.name], strict=True)
        )
        axis = unit(joint.axis)
        if joint.kind == "prismatic":
            return float((Ra @ axis) @ (pb - pa))
        x, y = across(axis)
        turned = Ra.T @ Rb @ x
        return math.atan2(float(turned @ y), float(turned @ x))

    # ------------------------------------------------------------------------------------------------ forces

    def applied(self, R: Array, c: Array, V: Array) -> tuple[Array, dict[str, Array]]:
        """(6 n,) weight, gyroscopic moments, springs and dampers; and joint → force along its coordinate."""
        F = np.zeros((len(R), 6))
        for i in range(len(R)):
            world = R[i] @ self.inertia[i] @ R[i].T
            F[i, :3] = -cross(V[i, :3], world @ V[i, :3])
            F[i, 3:] = self.mass[i] * self.gravity
        total, own = F.ravel(), {}
        for joint in self.model.joints:
            if joint.kind in ("revolute", "prismatic") and (joint.stiffness or joint.damping):
                row = self.along(joint, R, c)
                rest = joint.rest[0] if joint.rest else 0.0
                force = -joint.stiffness * (self.coordinate(joint, R, c) - rest) - joint.damping * float(
                    row @ V.ravel()
                )
                total = total + force * row
                own[joint.name] = force * row
        for force in self.model.forces:
            total = total + self._line(force, R, c, V)
        return total, own

    def _line(self, force, R: Array, c: Array, V: Array) -> Array:  # type: ignore[no-untyped-def]
        ends = [(body, *self.frame(R, c, body, np.eye(4))[1:]) for body in (force.a, force.b)]
        speeds = [
            V[self.index[b], 3:] + cross(V[self.index[b], :3], arm) if b in self.index else np.zeros(3)
            for b, _, arm in ends
        ]
        d = ends[1][1] - ends[0][1]
        length = float(np.linalg.norm(d))
        e = d / length
        pull = force.stiffness * (length - force.rest) + force.damping * float(e @ (speeds[1] - speeds[0]))
        F = np.zeros((len(R), 6))
        for sign, (body, _, arm) in zip((1.0, -1.0), ends, strict=True):
            if body in self.index:
                F[self.index[body]] += sign * pull * np.concatenate([cross(arm, e), e])
        return F.ravel()

    # ------------------------------------------------------------------------------------------------ motion

    def accelerations(self, R: Array, c: Array, V: Array, t: float) -> tuple[Array, dict[str, Array]]:
        """(V̇ (n, 6), joint → wrench [torque; force] that the parent side exerts on the child at b's origin)."""
        n, h = len(R), 1e-5
        table = self.rows(R, c)
        J = np.concatenate(list(table.values()))
        ahead, behind = (np.concatenate(list(self.rows(*moved(R, c, V, s * h)).values())) for s in (1.0, -1.0))
        target = -(ahead - behind) @ V.ravel() / (2.0 * h)
        at = 0
        for name, rows in table.items():
            at += len(rows)
            if name in self.driven:
                target[at - 1] += self.driven[name](t)
        M = np.zeros((6 * n, 6 * n))
        for i in range(n):
            M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = R[i] @ self.inertia[i] @ R[i].T
            M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = self.mass[i] * np.eye(3)
        load, own = self.applied(R, c, V)
        W = np.linalg.inv(M)
        multipliers = np.linalg.lstsq(J @ W @ J.T, target - J @ (W @ load), rcond=1e-10)[0]
        A = W @ (load + J.T @ multipliers)
        wrenches, at = {}, 0
        for joint in self.model.joints:
            rows = table[joint.name]
            F = (rows.T @ multipliers[at : at + len(rows)] + own.get(joint.name, 0.0)).reshape(-1, 6)
            at += len(rows)
            wrenches[joint.name] = self._at_joint(joint, F, R, c)
        return A.reshape(-1, 6), wrenches

    def _at_joint(self, joint, F: Array, R: Array, c: Array) -> Array:  # type: ignore[no-untyped-def]
        """The wrench on the child at b's origin; from the reaction on the parent where the child is the world."""
        _, p, _ = self.frame(R, c, joint.child, self.sides[joint.name][1])
        body, sign = (joint.child, 1.0) if joint.child in self.index else (joint.parent, -1.0)
        i = self.index[body]
        return sign * np.concatenate([F[i, :3] + cross(c[i] - p, F[i, 3:]), F[i, 3:]])

    def run(self, R: Array, c: Array, V: Array, duration: float, steps: int) -> tuple[Array, Array, Array]:
        """(R, c, V) at the end."""
        h, t = duration / steps, 0.0
        quaternions = Rotation.from_matrix(R).as_quat()

        def rate(y: tuple[Array, Array, Array], t: float) -> tuple[Array, Array, Array]:
            q, c, V = y
            w = V[:, :3]
            turn = np.concatenate([q[:, 3:] * w + np.cross(w, q[:, :3]), -np.sum(w * q[:, :3], 1, keepdims=True)], 1)
            return 0.5 * turn, V[:, 3:], self.accelerations(Rotation.from_quat(q).as_matrix(), c, V, t)[0]

        y = (quaternions, c, V)
        for _ in range(steps):
            k1 = rate(y, t)
            k2 = rate(tuple(a + 0.5 * h * k for a, k in zip(y, k1, strict=True)), t + 0.5 * h)  # type: ignore[arg-type]
            k3 = rate(tuple(a + 0.5 * h * k for a, k in zip(y, k2, strict=True)), t + 0.5 * h)  # type: ignore[arg-type]
            k4 = rate(tuple(a + h * k for a, k in zip(y, k3, strict=True)), t + h)  # type: ignore[arg-type]
            y = tuple(a + h / 6.0 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(y, k1, k2, k3, k4, strict=True))  # type: ignore[assignment]
            t += h
        return Rotation.from_quat(y[0]).as_matrix(), y[1], y[2]


def moved(R: Array, c: Array, V: Array, h: float) -> tuple[Array, Array]:
    """Poses after a time h with these speeds."""
    return Rotation.from_rotvec(h * V[:, :3]).as_matrix() @ R, c + h * V[:, 3:]


def _tensor(inertia) -> Array:  # type: ignore[no-untyped-def]
    i = inertia
    return np.array([[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]])
