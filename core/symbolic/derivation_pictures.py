"""What the scene shows for each step of a derivation: arrows and centres of mass, from the compiled kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.kernel import Mechanism
from core.kernel.reading import Numbers
from core.spatial.inertia import center as center_of
from core.symbolic.derivation import SPEED, Step, known_values
from core.symbolic.robot import Robot

Array = NDArray[np.float64]
Kind = Literal["x", "y", "z", "axis", "offset", "linear", "turning", "weight", "torque"]


@dataclass(frozen=True)
class Arrow:
    """An arrow of a picture: origin (3,) m and vector (3,), world axes; axes of frames and joints are unit vectors,
    "offset" is in m, "linear" in m (per rad or m), "turning" without unit, "weight" in N, "torque" in N·m or N."""

    kind: Kind
    origin: Array
    vector: Array
    faint: bool = False


@dataclass(frozen=True)
class Picture:
    """What the scene shows for a step: arrows, and centres of mass (n, 3) m."""

    arrows: tuple[Arrow, ...] = ()
    centers: Array | None = None


def picture(robot: Robot, mech: Mechanism, step: Step, q: Array, p: Mapping[str, float]) -> Picture:
    """What the scene shows for a step at a pose. mech : the machine the robot was made of."""
    draw = _Draw(robot, mech, q, p)
    arrows: list[Arrow] = []
    for k, i in enumerate(step.frames):
        arrows += draw.triad(i, faint=step.what != "" and k < len(step.frames) - 1)
    if step.what in ("A", "T"):
        first, last = (draw.frame(i)[:3, 3] for i in step.frames)
        arrows += [draw.axis(step.joint), Arrow("offset", first, last - first)]
    if step.what == "J":
        arrows = [draw.axis(step.joint), *draw.column(step.joint)]
    if step.what == "Jvc":
        return Picture((*arrows, *draw.center_columns(step.link)), draw.center(step.link)[None])
    if step.what == "Ki":
        return Picture(tuple(draw.link_motion(step.link)), draw.link_center(step.link)[None])
    if step.what == "Pi":
        return Picture(tuple(draw.link_weight(step.link)), draw.link_center(step.link)[None])
    if step.what in ("K", "M", "C", "tau"):
        return Picture(tuple(draw.velocities()), draw.centers())
    if step.what in ("P", "G"):
        return Picture((*draw.weights(), *(draw.torques() if step.what == "G" else ())), draw.centers())
    return Picture(tuple(arrows))


class _Draw:
    """Arrows from the compiled kernel at one pose."""

    def __init__(self, robot: Robot, mech: Mechanism, q: Array, p: Mapping[str, float]) -> None:
        self.robot, self.chain, self.mech = robot, robot.chain, mech
        self.q, self.p = np.asarray(q, dtype=float), {name: x for name, x in p.items() if name in mech.p_names}
        self.poses = dict(zip(mech.frame_names, mech.poses(self.q, p=self.p), strict=True))
        self.joints = mech.joint_poses(self.q, p=self.p)
        self.numbers = Numbers(known_values(robot, p), robot.chain.model.origin)

    def frame(self, i: int) -> Array:
        return np.asarray(self.poses[self.chain.frames[i]])

    def triad(self, i: int, *, faint: bool) -> list[Arrow]:
        """The axes of frame i."""
        X = self.frame(i)
        names: tuple[Kind, ...] = ("x", "y", "z")
        return [Arrow(name, X[:3, 3], X[:3, k], faint) for k, name in enumerate(names)]

    def axis(self, k: int) -> Arrow:
        """The axis of joint k."""
        variable = self.chain.variables[k - 1]
        column = self.mech.jacobian(self.q, self.chain.tip, p=self.p)[:, variable.v]
        origin = np.asarray(self.joints[variable.joint][0])[:3, 3]
        return Arrow("axis", origin, column[:3] if variable.turns else column[3:])

    def column(self, k: int) -> list[Arrow]:
        """Velocity of the tip by joint k, and the turning."""
        variable = self.chain.variables[k - 1]
        column = self.mech.jacobian(self.q, self.chain.tip, p=self.p)[:, variable.v]
        tip = np.asarray(self.poses[self.chain.tip])[:3, 3]
        origin = np.asarray(self.joints[variable.joint][0])[:3, 3]
        made = [Arrow("linear", tip, column[3:]), Arrow("turning", tip, column[:3])]
        return [*made, Arrow("offset", origin, tip - origin)] if variable.turns else made

    def center(self, i: int) -> Array:
        """Centre of mass of link i."""
        body = self.chain.topology.model.body(self.chain.frames[i])
        local = self.numbers.vector(body.center_of_mass) if body.density is None else center_of(
            self.numbers.inertia(body))  # fmt: skip
        X = self.frame(i)
        return np.asarray(X[:3, :3] @ np.array([float(x) for x in local]) + X[:3, 3])

    def centers(self) -> Array:
        return np.array([self.center(i) for i in range(1, self.robot.n + 1)])

    def _center_jacobian(self, i: int) -> Array:
        """3×n, world axes."""
        J = self.mech.jacobian(self.q, self.chain.frames[i], p=self.p)[:, [v.v for v in self.chain.variables]]
        return np.asarray(J[3:] + np.cross(J[:3].T, self.center(i) - self.frame(i)[:3, 3]).T)

    def center_columns(self, i: int) -> list[Arrow]:
        columns = self._center_jacobian(i).T
        return [Arrow("linear", self.center(i), column) for column in columns[:i]]

    def _moment(self, body: str) -> tuple[float, Array]:
        """Mass of a body, and its first moment in world axes about the world's origin."""
        inertia, X = self.numbers.inertia(self.chain.topology.model.body(body)), np.asarray(self.poses[body])
        mass = float(inertia.mass)
        return mass, mass * X[:3, 3] + X[:3, :3] @ np.array([float(x) for x in inertia.moment])

    def _whole(self, i: int) -> tuple[float, Array]:
        """Mass and centre of mass of moved link i; without mass: the origin of its body."""
        moments = [self._moment(body) for body in self.chain.link_bodies(i)]
        mass = sum(m for m, _ in moments)
        center = (
            sum((h for _, h in moments), np.zeros(3)) / mass if mass else self.poses[self.chain.link_body(i)][:3, 3]
        )
        return mass, np.asarray(center)

    def link_center(self, i: int) -> Array:
        """Centre of mass of moved link i."""
        return self._whole(i)[1]

    def link_motion(self, i: int) -> list[Arrow]:
        """Velocity of its centre of mass and its turning when every joint moves with unit speed."""
        body, center = self.chain.link_body(i), self.link_center(i)
        J = self.mech.jacobian(self.q, body, p=self.p)[:, [v.v for v in self.chain.variables]]
        turning, linear = SPEED * J[:3].sum(axis=1), SPEED * J[3:].sum(axis=1)
        linear = linear + np.cross(turning, center - np.asarray(self.poses[body])[:3, 3])
        return [Arrow("linear", center, linear), Arrow("turning", center, turning)]

    def link_weight(self, i: int) -> list[Arrow]:
        """Its weight, and the way to its centre of mass from the world's origin."""
        mass, center = self._whole(i)
        return [Arrow("weight", center, mass * self._gravity(center)), Arrow("offset", np.zeros(3), center)]

    def velocities(self) -> list[Arrow]:
        """Of all centres when every joint moves with unit speed."""
        return [Arrow("linear", self.center(i), SPEED * self._center_jacobian(i).sum(axis=1))
                for i in range(1, self.robot.n + 1)]  # fmt: skip

    def weights(self) -> list[Arrow]:
        made = []
        for i in range(1, self.robot.n + 1):
            center = self.center(i)
            mass, pull = self._mass(i), self._gravity(center)
            made.append(Arrow("weight", center, mass * pull))
        return made

    def _mass(self, i: int) -> float:
        body = self.chain.topology.model.body(self.chain.frames[i])
        return float(self.numbers.inertia(body).mass)

    def _gravity(self, center: Array) -> Array:
        gravity = self.chain.topology.model.world.gravity
        if gravity.kind != "uniform":
            return np.zeros(3)
        return np.array([float(x) for x in self.numbers.vector(gravity.acceleration)])

    def torques(self) -> list[Arrow]:
        """What the joints hold, along their axes."""
        held = self.mech.gravity(self.q, p=self.p)
        axes = [self.axis(k) for k in range(1, self.robot.n + 1)]
        return [Arrow("torque", axis.origin, held[variable.v] * axis.vector)
                for variable, axis in zip(self.chain.variables, axes, strict=True)]  # fmt: skip
