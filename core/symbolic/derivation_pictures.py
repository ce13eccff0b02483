"""Pictures for the steps of a derivation: arrows and centres of mass, computed by the compiled kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.mechanics.multibody.number_reader import Numbers
from core.mechanism import Mechanism
from core.model.bodies import WORLD
from core.symbolic.derivation import SPEED, Step, known_values
from core.symbolic.robot import Robot

Array = NDArray[np.float64]
Kind = Literal["x", "y", "z", "axis", "offset", "linear", "turning", "weight", "torque"]


@dataclass(frozen=True)
class Arrow:
    """Arrow in a picture: origin (3,) m and vector (3,), world axes. Axes of frames and joints are unit vectors,
    "offset" is in m, "linear" in m (per rad or m), "turning" without unit, "weight" in N, "torque" in N·m or N."""

    kind: Kind
    origin: Array
    vector: Array
    faint: bool = False


@dataclass(frozen=True)
class Picture:
    """Scene content for a step: arrows, centres of mass (n, 3) m, and labels: position (3,) m, name, and whether the
    label is dimmed."""

    arrows: tuple[Arrow, ...] = ()
    centers: Array | None = None
    names: tuple[tuple[Array, str, bool], ...] = ()


def picture(robot: Robot, mech: Mechanism, step: Step, q: Array, p: Mapping[str, float]) -> Picture:
    """Return the scene content for a step at a pose. mech : the machine that the robot was derived from."""
    draw = _ArrowMaker(robot, mech, q, p)
    arrows: list[Arrow] = []
    names = []
    for k, i in enumerate(step.frames):
        known = step.what != "" and k < len(step.frames) - 1
        arrows += draw.triad(i, faint=known)
        names.append((draw.frame(i)[:3, 3], f"{{{i}}}", known))
    if not step.what:
        arrows += [draw.axis(k, faint=True) for k in range(1, robot.n + 1)]
    if step.what in ("A", "T"):
        first, last = (draw.frame(i)[:3, 3] for i in step.frames)
        arrows += [draw.axis(step.joint), Arrow("offset", first, last - first)]
    if step.what == "J":
        arrows, names = [draw.axis(step.joint), *draw.column(step.joint)], []
    if step.what == "Jvc":
        return Picture((*arrows, *draw.center_columns(step.link)), draw.center(step.link)[None])
    if step.what == "Ki":
        return Picture(tuple(draw.link_motion(step.link)), draw.link_center(step.link)[None])
    if step.what == "Pi":
        return Picture(tuple(draw.link_weight(step.link)), draw.link_center(step.link)[None])
    if step.what in ("K", "M", "C", "tau"):
        return Picture(tuple(draw.velocities()), draw.link_centers())
    if step.what in ("P", "G"):
        return Picture((*draw.weights(), *(draw.torques() if step.what == "G" else ())), draw.link_centers())
    return Picture(tuple(arrows), names=tuple(names))


class _ArrowMaker:
    """Makes arrows from the compiled kernel at one pose."""

    def __init__(self, robot: Robot, mech: Mechanism, q: Array, p: Mapping[str, float]) -> None:
        self.robot, self.chain, self.mech = robot, robot.chain, mech
        self.q, self.p = np.asarray(q, dtype=float), {name: x for name, x in p.items() if name in mech.p_names}
        self.poses = {WORLD: np.eye(4), **dict(zip(mech.frame_names, mech.poses(self.q, p=self.p), strict=True))}
        self.joints = mech.joint_poses(self.q, p=self.p)
        self.numbers = Numbers(known_values(robot, p), robot.chain.model.origin)

    def frame(self, i: int) -> Array:
        return np.asarray(self.poses[self.chain.frames[i]])

    def triad(self, i: int, *, faint: bool) -> list[Arrow]:
        """Return the axes of frame i."""
        X = self.frame(i)
        names: tuple[Kind, ...] = ("x", "y", "z")
        return [Arrow(name, X[:3, 3], X[:3, k], faint) for k, name in enumerate(names)]

    def axis(self, k: int, *, faint: bool = False) -> Arrow:
        """Return the axis of joint k."""
        variable = self.chain.variables[k - 1]
        column = self._jacobian(self.chain.tip)[:, k - 1]
        origin = np.asarray(self.joints[variable.joint][0])[:3, 3]
        return Arrow("axis", origin, column[:3] if variable.turns else column[3:], faint)

    def column(self, k: int) -> list[Arrow]:
        """Return the linear and angular velocity of the tip due to joint k."""
        variable = self.chain.variables[k - 1]
        column = self._jacobian(self.chain.tip)[:, k - 1]
        tip = np.asarray(self.poses[self.chain.tip])[:3, 3]
        origin = np.asarray(self.joints[variable.joint][0])[:3, 3]
        made = [Arrow("linear", tip, column[3:]), Arrow("turning", tip, column[:3])]
        return [*made, Arrow("offset", origin, tip - origin)] if variable.turns else made

    def center(self, i: int) -> Array:
        """Return the centre of mass (3,) of the body of frame i."""
        local = np.array(self.numbers.center(self.chain.topology.model.body(self.chain.frames[i])), dtype=float)
        X = self.frame(i)
        return np.asarray(X[:3, :3] @ local + X[:3, 3])

    def center_columns(self, i: int) -> list[Arrow]:
        """Return the velocity of the centre of mass of the body of frame i due to each joint before it."""
        J, center = self._jacobian(self.chain.frames[i]), self.center(i)
        columns = J[3:] + np.cross(J[:3].T, center - self.frame(i)[:3, 3]).T
        return [Arrow("linear", center, column) for column in columns.T[:i]]

    def _jacobian(self, body: str) -> Array:
        """Return the 6×n Jacobian, rows [ω; v], of a body's origin, only for the joints of the chain."""
        return np.asarray(self.mech.jacobian(self.q, body, p=self.p)[:, [each.v for each in self.chain.variables]])

    def _mass_moment(self, body: str) -> tuple[float, Array]:
        """Return the mass of a body, and its first moment in world axes about the world's origin."""
        inertia, X = self.numbers.inertia(self.chain.topology.model.body(body)), np.asarray(self.poses[body])
        mass = float(inertia.mass)
        return mass, mass * X[:3, 3] + X[:3, :3] @ np.array(inertia.moment, dtype=float)

    def _mass_and_center(self, i: int) -> tuple[float, Array]:
        """Return mass and centre of mass of moved link i; without mass, the origin of its body."""
        moments = [self._mass_moment(body) for body in self.chain.link_bodies(i)]
        mass = sum(m for m, _ in moments)
        if not mass:
            return mass, np.asarray(self.poses[self.chain.link_body(i)])[:3, 3]
        return mass, np.asarray(sum(moment for _, moment in moments) / mass)

    @property
    def _link_numbers(self) -> range:
        """Numbers of the moved links, from 1."""
        return range(1, len(self.chain.links) + 1)

    def link_center(self, i: int) -> Array:
        """Return the centre of mass (3,) of moved link i."""
        return self._mass_and_center(i)[1]

    def link_centers(self) -> Array:
        """Return the centres of mass (links, 3) of all moved links."""
        return np.array([self.link_center(i) for i in self._link_numbers])

    def link_motion(self, i: int) -> list[Arrow]:
        """Return the velocity of the link's centre of mass and its angular velocity when every joint moves at
        `SPEED`."""
        body, center = self.chain.link_body(i), self.link_center(i)
        J = self._jacobian(body)
        turning, linear = SPEED * J[:3].sum(axis=1), SPEED * J[3:].sum(axis=1)
        linear = linear + np.cross(turning, center - np.asarray(self.poses[body])[:3, 3])
        return [Arrow("linear", center, linear), Arrow("turning", center, turning)]

    def link_weight(self, i: int) -> list[Arrow]:
        """Return the link's weight, and the vector from the world's origin to its centre of mass."""
        mass, center = self._mass_and_center(i)
        return [Arrow("weight", center, mass * self._gravity()), Arrow("offset", np.zeros(3), center)]

    def velocities(self) -> list[Arrow]:
        """Return the velocities of all centres of mass when every joint moves at `SPEED`."""
        return [self.link_motion(i)[0] for i in self._link_numbers]

    def weights(self) -> list[Arrow]:
        """Return the weights of all moved links."""
        return [self.link_weight(i)[0] for i in self._link_numbers]

    def _gravity(self) -> Array:
        """Return the acceleration (3,) of a uniform field, m/s²; zero for a point field."""
        gravity = self.chain.topology.model.world.gravity
        if gravity.kind != "uniform":
            return np.zeros(3)
        return np.array(self.numbers.vector(gravity.acceleration), dtype=float)

    def torques(self) -> list[Arrow]:
        """Return the joint forces that hold the robot against gravity, along the joint axes."""
        held = self.mech.gravity(self.q, p=self.p)
        axes = [self.axis(k) for k in range(1, self.robot.n + 1)]
        return [
            Arrow("torque", axis.origin, held[variable.v] * axis.vector)
            for variable, axis in zip(self.chain.variables, axes, strict=True)
        ]
