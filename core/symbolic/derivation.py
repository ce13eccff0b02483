"""Derivation of a robot's equations step by step, as plain values: formula, numbers and picture of each step. Pictures
consist of arrows and centres of mass computed by the compiled kernel.

Frames → A(i) → T(0, i) → Jacobian column by column → centres of mass → energies → M, C, G → equations of motion, in the
order of Spong and Vidyasagar, Robot Dynamics and Control (chapters 3, 5, 6).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.mechanics.multibody.number_reader import Numbers
from core.mechanism import Mechanism
from core.model.bodies import WORLD
from core.symbolic.proof import evaluate_forms as numbers_of
from core.symbolic.robot import SIGNS, Forms, Robot

Array = NDArray[np.float64]
SPEED = 1.0
"""Speed of every joint (rad/s, m/s) at which energies and C are evaluated; accelerations are zero."""
Part = Literal["Frames", "A matrices", "Forward kinematics", "Jacobian", "Centres of mass", "Energies", "Dynamics"]

Kind = Literal["x", "y", "z", "axis", "offset", "linear", "turning", "weight", "torque"]


@dataclass(frozen=True)
class DerivationStep:
    """One step of a derivation.

    what, indices : its result, as `Robot.form` takes it; "" for the frames
    column : the column of the result that the step is about (from 1); 0: all of it
    frames : numbers of the frames it is about, the new one last; joint, link : their numbers from 1, 0 for none
    """

    part: Part
    title: str
    text: str
    what: str = ""
    indices: tuple[int, ...] = ()
    column: int = 0
    frames: tuple[int, ...] = ()
    joint: int = 0
    link: int = 0

    @property
    def label(self) -> str:
        """Name of the result, such as T[0,2] or J[:,3]."""
        name = SIGNS.get(self.what, self.what)
        name += f"[{','.join(map(str, self.indices))}]" if self.indices else ""
        return f"{name}[:,{self.column}]" if self.column else name


def derivation_steps(robot: Robot) -> tuple[DerivationStep, ...]:
    """Return all steps of the derivation for a robot."""
    n = robot.n
    made = [DerivationStep("Frames", "Frames", _describe_frames(robot), frames=tuple(range(n + 1)))]
    made += [_link_transform_step(robot, i) for i in range(1, n + 1)]
    made += [_chain_transform_step(i) for i in range(1, n + 1)]
    made += [_jacobian_column_step(robot, k) for k in range(1, n + 1)]
    made += [_center_step(robot, i) for i in range(1, n + 1) if _has_polynomial_center(robot, i)]
    links = range(1, len(robot.chain.moved_links) + 1)
    made += [step(robot, i) for i in links for step in (_kinetic_step, _potential_step)]
    made += [
        DerivationStep("Energies", "Kinetic energy", "K = Σ K_i = ½ q̇ᵀ M(q) q̇, of all links.", "K"),
        DerivationStep(
            "Energies", "Potential energy", "P = Σ P_i, of all links and of the springs in their joints.", "P"
        ),
        DerivationStep(
            "Dynamics",
            "Mass matrix",
            "M(q) = Σ m_i Jvcᵀ Jvc + Jwcᵀ R I_i Rᵀ Jwc, symmetric and positive definite; "
            "rotor inertias stand on the diagonal.",
            "M",
        ),
        DerivationStep(
            "Dynamics",
            "Coriolis and centrifugal matrix",
            "C_kj = Σ_i c_ijk q̇_i with Christoffel symbols "
            "c_ijk = ½ (∂M_kj/∂q_i + ∂M_ki/∂q_j − ∂M_ij/∂q_k); Ṁ − 2C is skew-symmetric.",
            "C",
        ),
        DerivationStep("Dynamics", "Gravity vector", "G_j = ∂P/∂q_j: what the joints must hold at rest.", "G"),
        DerivationStep("Dynamics", "Equations of motion", "M q̈ + C q̇ + G = τ.", "tau"),
    ]
    return tuple(made)


def _describe_frames(robot: Robot) -> str:
    chain = robot.chain
    where = "; ".join(f"frame {i} on {name}" for i, name in enumerate(chain.frames))
    return f"{chain.n} joints, {chain.n + 1} frames: {where}. The tip is {chain.tip}."


def _link_transform_step(robot: Robot, i: int) -> DerivationStep:
    variable = robot.chain.variables[i - 1]
    verb = "turns about" if variable.turns else "slides along"
    text = f"Frame {i} in frame {i - 1}: joint {variable.joint} {verb} its axis by {variable.symbol}."
    return DerivationStep(
        "A matrices", f"A{i}", text + _format_dh_row(robot, variable.joint), "A", (i,), frames=(i - 1, i), joint=i
    )


def _format_dh_row(robot: Robot, joint: str) -> str:
    """Return the row of the DH table that defines a joint."""
    for table in robot.model.chains:
        for k, (row, symbol) in enumerate(zip(table.rows, table.variables(), strict=True), 1):
            if f"{table.prefix}joint{k}" != joint:
                continue
            theta, d = (row.theta, symbol) if row.kind == "prismatic" else (symbol, row.d)
            constant = row.d if row.kind == "prismatic" else row.theta
            more = f", constant {_format_value(constant)}" if constant else ""
            product = (
                "Rot(z, θ) Trans(z, d) Trans(x, a) Rot(x, α)"
                if table.convention == "standard"
                else ("Rot(x, α) Trans(x, a) Rot(z, θ) Trans(z, d)")
            )
            return (
                f" {table.convention.title()} Denavit–Hartenberg: A = {product} with θ = {_format_value(theta)}, "
                f"d = {_format_value(d)}, a = {_format_value(row.a)}, α = {_format_value(row.alpha)}{more}."
            )
    return ""


def _format_value(value: Any) -> str:
    text = value if isinstance(value, str) else f"{value:.6g}"
    return re.sub(r"\bpi\b", "π", text).replace("-", "−")


def _chain_transform_step(i: int) -> DerivationStep:
    before = f"T(0,{i - 1}) A{i}" if i > 1 else "A1"
    text = f"Frame {i} in frame 0: T(0,{i}) = {before}. The last column is where its origin is."
    return DerivationStep("Forward kinematics", f"T(0,{i})", text, "T", (0, i), frames=(0, i), joint=i)


def _jacobian_column_step(robot: Robot, k: int) -> DerivationStep:
    variable, tip = robot.chain.variables[k - 1], robot.chain.tip
    on = (
        k - 1 if _is_standard_dh_joint(robot, variable.joint) else k
    )  # the frame whose origin lies on the axis of joint k
    if variable.turns:
        rule = f"a revolute joint gives [z × (o − o_{on}); z], z along its axis, the vector o − o_{on} from it to {tip}"
    else:
        rule = "a prismatic joint gives [z; 0], z along its axis"
    text = f"Column {k}, velocity [v; ω] of {tip} when only {variable.joint} moves: {rule}."
    return DerivationStep("Jacobian", f"J, column {k}", text, "J", (), k, frames=(on, robot.n), joint=k)


def _is_standard_dh_joint(robot: Robot, joint: str) -> bool:
    """Return True if a joint belongs to a standard DH table, so that it turns about the z axis of the previous
    frame."""
    standard = (table for table in robot.model.chains if table.convention == "standard")
    return any(joint == f"{table.prefix}joint{k}" for table in standard for k in range(1, len(table.rows) + 1))


def _has_polynomial_center(robot: Robot, i: int) -> bool:
    """Return True if the centre of mass of a link is a polynomial; that of shapes with density and symbolic sizes is
    not."""
    try:
        robot.chain.center(i)
    except ModelError:
        return False
    return True


def _center_step(robot: Robot, i: int) -> DerivationStep:
    body = robot.chain.frames[i]
    text = f"Velocity of the centre of mass of {body} for each joint speed; joints behind it give zero."
    return DerivationStep("Centres of mass", f"Jvc({i})", text, "Jvc", (i,), frames=(i,), joint=i, link=i)


def _kinetic_step(robot: Robot, i: int) -> DerivationStep:
    body, link = robot.chain.link_body(i), robot.chain.machine.tree.links[robot.chain.moved_links[i - 1]]
    rotor = ", and that of the rotor of its joint" if link.armature != 0.0 else ""
    text = (
        f"Kinetic energy of {body}: the motion of its centre of mass and its turning about it, "
        f"K{i} = ½ m vᵀ v + ½ ωᵀ R I Rᵀ ω with v = Jvc q̇ and ω = Jwc q̇{rotor}."
    )
    return DerivationStep("Energies", f"K{i} of {body}", text, "Ki", (i,), link=i)


def _potential_step(robot: Robot, i: int) -> DerivationStep:
    body, link = robot.chain.link_body(i), robot.chain.machine.tree.links[robot.chain.moved_links[i - 1]]
    spring = ", and that of the spring in its joint" if link.stiffness != 0.0 else ""
    text = f"Potential energy of {body}: P{i} = −m gᵀ r with its mass m at r, zero at the world's origin{spring}."
    return DerivationStep("Energies", f"P{i} of {body}", text, "Pi", (i,), link=i)


# --------------------------------------------------------------------------------- formulas and numbers


def step_formula(robot: Robot, step: DerivationStep) -> Forms:
    """Return the formula of a step; () for the frames."""
    if not step.what:
        return ()
    entries = robot.form(step.what, *step.indices)
    return tuple((row[step.column - 1],) for row in entries) if step.column else entries


def parameter_values(robot: Robot, p: Mapping[str, float]) -> dict[str, float]:
    """Return the values of all parameters of the robot's model. p : values of some of them."""
    chain, model = robot.chain, robot.chain.model
    free = {each.name for each in model.parameters if each.independent}
    return dict(model.values({**{name: x for name, x in p.items() if name in free}, **chain.given}))


def symbol_values_at(robot: Robot, q: Array, p: Mapping[str, float], speed: float = SPEED) -> dict[str, float]:
    """Return the values of all symbols at a pose of the whole machine. q : (nq,); p : values of parameters."""
    chain = robot.chain
    known = parameter_values(robot, p)
    values = {name: float(known[name]) for name in chain.values}
    for variable, rate, acceleration in zip(chain.variables, chain.rates, chain.accelerations, strict=True):
        values[variable.symbol] = float(q[variable.q])
        values[rate], values[acceleration] = speed, 0.0
    return values | {"sqrt(2)": math.sqrt(2.0), "sqrt(3)": math.sqrt(3.0)}


def evaluate_step(robot: Robot, step: DerivationStep, values: Mapping[str, float]) -> Array:
    """Evaluate the formula of a step; the result has the shape of its entries. values : of every symbol, SI."""
    return numbers_of(step_formula(robot, step), values)


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


def build_picture(robot: Robot, mech: Mechanism, step: DerivationStep, q: Array, p: Mapping[str, float]) -> Picture:
    """Return the scene content for a step at a pose. mech : the machine from which the robot was derived."""
    draw = _ArrowMaker(robot, mech, q, p)
    arrows: list[Arrow] = []
    names = []
    for k, i in enumerate(step.frames):
        known = step.what != "" and k < len(step.frames) - 1
        arrows += draw.frame_axes(i, faint=known)
        names.append((draw.frame_pose(i)[:3, 3], f"{{{i}}}", known))
    if not step.what:
        arrows += [draw.joint_axis(k, faint=True) for k in range(1, robot.n + 1)]
    if step.what in ("A", "T"):
        first, last = (draw.frame_pose(i)[:3, 3] for i in step.frames)
        arrows += [draw.joint_axis(step.joint), Arrow("offset", first, last - first)]
    if step.what == "J":
        arrows, names = [draw.joint_axis(step.joint), *draw.jacobian_column(step.joint)], []
    if step.what == "Jvc":
        return Picture((*arrows, *draw.center_jacobian_columns(step.link)), draw.body_center_of_mass(step.link)[None])
    if step.what == "Ki":
        return Picture(tuple(draw.link_motion_arrows(step.link)), draw.link_center(step.link)[None])
    if step.what == "Pi":
        return Picture(tuple(draw.link_weight_arrows(step.link)), draw.link_center(step.link)[None])
    if step.what in ("K", "M", "C", "tau"):
        return Picture(tuple(draw.velocity_arrows()), draw.link_centers())
    if step.what in ("P", "G"):
        return Picture(
            (*draw.weight_arrows(), *(draw.gravity_torques() if step.what == "G" else ())), draw.link_centers()
        )
    return Picture(tuple(arrows), names=tuple(names))


class _ArrowMaker:
    """Builder of arrows from the compiled kernel at one pose."""

    def __init__(self, robot: Robot, mech: Mechanism, q: Array, p: Mapping[str, float]) -> None:
        self.robot, self.chain, self.mech = robot, robot.chain, mech
        self.q, self.p = np.asarray(q, dtype=float), {name: x for name, x in p.items() if name in mech.p_names}
        self.poses = {WORLD: np.eye(4), **dict(zip(mech.frame_names, mech.poses(self.q, p=self.p), strict=True))}
        self.joints = mech.joint_poses(self.q, p=self.p)
        self.numbers = Numbers(parameter_values(robot, p), robot.chain.model.origin)

    def frame_pose(self, i: int) -> Array:
        return np.asarray(self.poses[self.chain.frames[i]])

    def frame_axes(self, i: int, *, faint: bool) -> list[Arrow]:
        """Return the axes of frame i."""
        X = self.frame_pose(i)
        names: tuple[Kind, ...] = ("x", "y", "z")
        return [Arrow(name, X[:3, 3], X[:3, k], faint) for k, name in enumerate(names)]

    def joint_axis(self, k: int, *, faint: bool = False) -> Arrow:
        """Return the axis of joint k."""
        variable = self.chain.variables[k - 1]
        column = self._jacobian(self.chain.tip)[:, k - 1]
        origin = np.asarray(self.joints[variable.joint][0])[:3, 3]
        return Arrow("axis", origin, column[:3] if variable.turns else column[3:], faint)

    def jacobian_column(self, k: int) -> list[Arrow]:
        """Return the linear and angular velocity of the tip due to joint k."""
        variable = self.chain.variables[k - 1]
        column = self._jacobian(self.chain.tip)[:, k - 1]
        tip = np.asarray(self.poses[self.chain.tip])[:3, 3]
        origin = np.asarray(self.joints[variable.joint][0])[:3, 3]
        made = [Arrow("linear", tip, column[3:]), Arrow("turning", tip, column[:3])]
        return [*made, Arrow("offset", origin, tip - origin)] if variable.turns else made

    def body_center_of_mass(self, i: int) -> Array:
        """Return the centre of mass (3,) of the body of frame i."""
        local = np.array(self.numbers.center(self.chain.topology.model.body(self.chain.frames[i])), dtype=float)
        X = self.frame_pose(i)
        return np.asarray(X[:3, :3] @ local + X[:3, 3])

    def center_jacobian_columns(self, i: int) -> list[Arrow]:
        """Return the velocity of the centre of mass of the body of frame i due to each joint before it."""
        J, center = self._jacobian(self.chain.frames[i]), self.body_center_of_mass(i)
        columns = J[3:] + np.cross(J[:3].T, center - self.frame_pose(i)[:3, 3]).T
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
        return range(1, len(self.chain.moved_links) + 1)

    def link_center(self, i: int) -> Array:
        """Return the centre of mass (3,) of moved link i."""
        return self._mass_and_center(i)[1]

    def link_centers(self) -> Array:
        """Return the centres of mass (links, 3) of all moved links."""
        return np.array([self.link_center(i) for i in self._link_numbers])

    def link_motion_arrows(self, i: int) -> list[Arrow]:
        """Return the velocity of the link's centre of mass and its angular velocity when every joint moves at
        `SPEED`."""
        body, center = self.chain.link_body(i), self.link_center(i)
        J = self._jacobian(body)
        turning, linear = SPEED * J[:3].sum(axis=1), SPEED * J[3:].sum(axis=1)
        linear = linear + np.cross(turning, center - np.asarray(self.poses[body])[:3, 3])
        return [Arrow("linear", center, linear), Arrow("turning", center, turning)]

    def link_weight_arrows(self, i: int) -> list[Arrow]:
        """Return the link's weight, and the vector from the world's origin to its centre of mass."""
        mass, center = self._mass_and_center(i)
        return [Arrow("weight", center, mass * self._uniform_gravity()), Arrow("offset", np.zeros(3), center)]

    def velocity_arrows(self) -> list[Arrow]:
        """Return the velocities of all centres of mass when every joint moves at `SPEED`."""
        return [self.link_motion_arrows(i)[0] for i in self._link_numbers]

    def weight_arrows(self) -> list[Arrow]:
        """Return the weights of all moved links."""
        return [self.link_weight_arrows(i)[0] for i in self._link_numbers]

    def _uniform_gravity(self) -> Array:
        """Return the acceleration (3,) of a uniform field, m/s²; zero for a point field."""
        gravity = self.chain.topology.model.world.gravity
        if gravity.kind != "uniform":
            return np.zeros(3)
        return np.array(self.numbers.vector(gravity.acceleration), dtype=float)

    def gravity_torques(self) -> list[Arrow]:
        """Return the joint forces that hold the robot against gravity, along the joint axes."""
        held = self.mech.gravity(self.q, p=self.p)
        axes = [self.joint_axis(k) for k in range(1, self.robot.n + 1)]
        return [
            Arrow("torque", axis.origin, held[variable.v] * axis.vector)
            for variable, axis in zip(self.chain.variables, axes, strict=True)
        ]
