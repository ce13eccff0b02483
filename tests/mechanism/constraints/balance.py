"""All wrenches on each body of a machine, written down body by body from geometry (d'Alembert).

Own text, beside the recursions: momentum from a body's own motion, forces of elements from the points between which
they act and the size F that they show; only the wrenches of joints and of what holds come from the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.constraints import acting_states, row_forces
from core.constraints.multipliers import solve_constrained_motion
from core.files.meshes.body_inertia import body_inertia
from core.mechanism import Mechanism
from core.model.formula.evaluation import FieldEvaluator

Array = np.ndarray


def wrench(point: Array, force: Array, torque: Array | None = None) -> Array:
    """About the world's origin."""
    return np.concatenate([np.cross(point, force) + (0.0 if torque is None else torque), force])


def constraint_wrenches(
    mech: Mechanism, q: Array, multipliers: Array
) -> Iterator[tuple[str, tuple[str, str], Array, Array]]:
    """(cut joint or "", names of a and b, wrench on b, the point that it is about) of every side of what holds."""
    derivatives = mech.compiled.call("constraint_sides", q)
    start = 0
    for _, side, rows in mech.compiled.constraints.sides():
        part = derivatives[start : start + rows.stop - rows.start]
        start += len(part)
        yield side.joint, side.names, part[:, :6].T @ multipliers[rows], part[0, 6:]


class Balance:
    """Sums of wrenches on bodies at a state; `scale` the largest of each body's."""

    def __init__(self, mech: Mechanism, q: Array, v: Array, tau: Array, t: float = 0.0) -> None:
        self.mech, self.model, self.q, self.v, self.t = mech, mech.model.expanded, q, v, t
        self.x = mech.x_rest(q, t=t, v=v) if mech.nx else None
        compiled = mech.compiled
        held = (
            row_forces.acting_forces(compiled, q, v, tau, None, t, self.x)
            if acting_states.has_friction_or_stops(compiled)
            else None
        )
        given = tau if held is None else tau + held.joint
        self.a, self.multipliers = solve_constrained_motion(
            compiled, q, v, given, None, True, t, self.x, held is not None
        )
        self.numbers = FieldEvaluator(self.model.values(), self.model.origin)
        self.frames = dict(zip(mech.frame_names, mech.poses(q), strict=True)) | {"world": np.eye(4)}
        self.sums = {body.name: np.zeros(6) for body in self.model.bodies}
        self.scale = {body.name: 1e-6 for body in self.model.bodies}
        self.parents = {frame.name: frame.parent for frame in self.model.frames}
        self._motion()
        self._joints(mech.reactions(q, v, tau, t=t, x=self.x))
        for cut, names, F, point in constraint_wrenches(mech, q, self.multipliers):
            if not cut:
                self.between(*names, wrench(point, F[3:], F[:3]))
        self._elements()

    def body(self, name: str) -> str:
        """The body that carries a frame; "" for the world."""
        while name in self.parents:
            name = self.parents[name]
        return name if name in self.sums else ""

    def on(self, name: str, W: Array) -> None:
        """A wrench on the body of a frame."""
        body = self.body(name)
        if body:
            self.sums[body] += W
            self.scale[body] = max(self.scale[body], float(np.max(np.abs(W))))

    def between(self, a: str, b: str, W: Array) -> None:
        """A wrench on b, its opposite on a."""
        self.on(b, W)
        self.on(a, -W)

    def moving(self, name: str) -> tuple[Array, Array, Array, Array, Array, Array]:
        """Origin, R, ω, velocity, ω̇ and acceleration of a frame."""
        X = self.frames[name]
        V = A = np.zeros(6)
        if name != "world":
            V = self.mech.frame_velocity(self.q, self.v, name)
            A = self.mech.compiled.call(f"frame_acceleration:{name}", self.q, self.v, self.a)
        return X[:3, 3], X[:3, :3], V[:3], V[3:], A[:3], A[3:]

    def field(self, point: Array) -> Array:
        """Gravity at a point, m/s²."""
        gravity = self.model.world.gravity
        if gravity.kind == "none":
            return np.zeros(3)
        if gravity.kind == "uniform":
            return np.array([self.numbers.scalar(g, "") for g in gravity.acceleration])
        away = np.array([self.numbers.scalar(c, "") for c in gravity.center]) - point
        return self.numbers.scalar(gravity.mu, "") * away / np.linalg.norm(away) ** 3

    def _motion(self) -> None:
        """Weight, and minus the rate of momentum."""
        for body in self.model.bodies:
            own = body_inertia(body, self.numbers)
            m = float(own.mass)
            p, R, w, _, dw, dv = self.moving(body.name)
            tensor = np.array([list(row) for row in matrix(own)])
            r = R @ (np.array([float(x) for x in own.moment]) / m if m else np.zeros(3))
            a_c = dv + np.cross(dw, r) + np.cross(w, np.cross(w, r))
            about_c = tensor - m * ((r @ r) * np.eye(3) - np.outer(R.T @ r, R.T @ r))
            I = R @ about_c @ R.T
            self.on(body.name, wrench(p + r, -m * a_c, -(I @ dw + np.cross(w, I @ w))))
            if m:
                self.on(body.name, wrench(p + r, m * self.field(p + r)))

    def _joints(self, reactions: dict[str, Array]) -> None:
        poses = self.mech.joint_poses(self.q)
        for joint in self.model.joints:
            F = reactions[joint.name]
            self.between(joint.parent, joint.child, wrench(poses[joint.name][1][:3, 3], F[3:], F[:3]))
        for name in set(reactions) - {joint.name for joint in self.model.joints}:  # implicit free joints
            F = reactions[name]
            self.on(name, wrench(self.frames[name][:3, 3], F[3:], F[:3]))

    def point(self, name: str) -> Array:
        """A frame's origin, or a junction."""
        names = [junction.name for junction in self.model.junctions]
        if name in names:
            return np.array(self.x[3 * names.index(name) : 3 * names.index(name) + 3])
        return self.frames[name or "world"][:3, 3]

    def _elements(self) -> None:
        if not self.model.forces:
            return
        shown, at = self.mech.compiled.call("forces", self.q, self.v, t=self.t, x=self.x), 0
        for force in self.model.forces:
            size = 7 if force.kind == "wrench" else 5
            part, at = shown[at : at + size], at + size
            if force.kind == "wrench":
                self.between(force.a or "world", force.b, wrench(self.point(force.b), part[:3], part[3:6]))
            elif force.kind in ("line", "series"):
                self._line(force.a or "world", force.b, float(part[2]))
                for mass in force.masses:
                    self._mass(force, mass)
            elif force.kind == "sensor":
                self._along(self.model.find("sensors", force.sensor), float(part[2]))

    def _line(self, a: str, b: str, F: float) -> None:
        p_a, p_b = self.point(a), self.point(b)
        e = (p_b - p_a) / np.linalg.norm(p_b - p_a)
        self.on(a, wrench(p_a, F * e))
        self.on(b, wrench(p_b, -F * e))

    def _along(self, sensor, F: float) -> None:  # type: ignore[no-untyped-def]
        """Distances, and angles between bodies that turn about the sensor's axis."""
        a, b = sensor.a or "world", sensor.b or "world"
        if sensor.kind == "distance":
            self._line(a, b, F)
            return
        assert sensor.kind == "angle"
        axis = np.array([self.numbers.scalar(x, "") for x in sensor.axis])
        e = self.frames[a][:3, :3] @ axis / np.linalg.norm(axis)
        w = self.moving(b)[2] - self.moving(a)[2]
        assert np.linalg.norm(np.cross(w, e)) <= 1e-9 * max(1.0, float(np.linalg.norm(w)))
        self.between(a, b, wrench(np.zeros(3), np.zeros(3), -F * e))

    def _mass(self, force, mass) -> None:  # type: ignore[no-untyped-def]
        """A point mass on a line: p = a + s (b − a) with s fixed, or s = d / length from an end."""
        m, place = (float(self.numbers.scalar(value, "")) for value in (mass.mass, mass.place))
        ends = [force.a or "world", force.b]
        if mass.at == "from_b":
            ends.reverse()
        (p_a, *_, v_a, _, a_a), (p_b, *_, v_b, _, a_b) = (self.moving(end) for end in ends)
        u, du, ddu = p_b - p_a, v_b - v_a, a_b - a_a
        L = np.linalg.norm(u)
        e = u / L
        across = np.eye(3) - np.outer(e, e)
        if mass.at == "fraction":
            on_b, p, a = place * np.eye(3), p_a + place * u, a_a + place * ddu
        else:
            de = across @ du / L
            dde = (ddu - 2.0 * de * (e @ du) - e * (e @ ddu + de @ du)) / L
            on_b, p, a = place / L * across, p_a + place * e, a_a + place * dde
        resisting = m * (self.field(p) - a)
        self.on(ends[0], wrench(p_a, (np.eye(3) - on_b).T @ resisting))
        self.on(ends[1], wrench(p_b, on_b.T @ resisting))

    def worst(self) -> tuple[str, float]:
        """The body whose wrenches leave most, in parts of the largest of them."""
        left = {name: float(np.max(np.abs(W))) / self.scale[name] for name, W in self.sums.items()}
        name = max(left, key=left.__getitem__)
        return name, left[name]


def matrix(inertia) -> Array:  # type: ignore[no-untyped-def]
    """Tensor about the frame's origin."""
    I = inertia.tensor
    return np.array([[I.xx, I.xy, I.xz], [I.xy, I.yy, I.yz], [I.xz, I.yz, I.zz]], dtype=float)
