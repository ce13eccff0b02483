"""The derivation of a robot's equations, step by step, as plain values: what each step is, its numbers, its picture.

Frames → A(i) → T(0, i) → Jacobian column by column → centres of mass → energies → M, C, G → equations of motion, in the
order of Spong and Vidyasagar, Robot Dynamics and Control (chapters 3, 5, 6).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.kernel import Mechanism
from core.kernel.reading import Numbers
from core.spatial.inertia import center as center_of
from core.symbolic.forms import evaluate
from core.symbolic.robot import Forms, Robot

Array = NDArray[np.float64]
SPEED = 1.0
"""Speed of every joint (rad/s, m/s) at which energies and C are given in numbers; accelerations are zero."""
Part = Literal["Frames", "A matrices", "Forward kinematics", "Jacobian", "Centres of mass", "Energies", "Dynamics"]


@dataclass(frozen=True)
class Step:
    """One step.

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
        """Name of its result, as in T[0,2] or J[:,3]."""
        name = self.what + (f"[{','.join(map(str, self.indices))}]" if self.indices else "")
        return f"{name}[:,{self.column}]" if self.column else name


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


def steps(robot: Robot) -> tuple[Step, ...]:
    """All steps for a robot."""
    n = robot.n
    made = [Step("Frames", "Frames", _frames_text(robot), frames=tuple(range(n + 1)))]
    made += [_a_step(robot, i) for i in range(1, n + 1)]
    made += [_t_step(robot, i) for i in range(1, n + 1)]
    made += [_column_step(robot, k) for k in range(1, n + 1)]
    made += [_center_step(robot, i) for i in range(1, n + 1) if _has_center(robot, i)]
    made += [
        Step("Energies", "Kinetic energy", "K = ½ q̇ᵀ M(q) q̇: of every link the motion of its centre of mass and its "
             "turning about it, K_i = ½ m_i vᵀ v + ½ ωᵀ R I_i Rᵀ ω.", "K"),
        Step("Energies", "Potential energy", "P = − Σ m_i gᵀ r_i of all links, and the springs in joints.", "P"),
        Step("Dynamics", "Mass matrix", "M(q) = Σ m_i Jvcᵀ Jvc + Jwcᵀ R I_i Rᵀ Jwc, symmetric and positive definite; "
             "rotor inertias stand on the diagonal.", "M"),
        Step("Dynamics", "Coriolis and centrifugal matrix", "C_kj = Σ_i c_ijk q̇_i with Christoffel symbols "
             "c_ijk = ½ (∂M_kj/∂q_i + ∂M_ki/∂q_j − ∂M_ij/∂q_k); Ṁ − 2C is skew-symmetric.", "C"),
        Step("Dynamics", "Gravity vector", "G_j = ∂P/∂q_j: what the joints must hold at rest.", "G"),
        Step("Dynamics", "Equations of motion", "M q̈ + C q̇ + G = τ.", "tau"),
    ]  # fmt: skip
    return tuple(made)


def _frames_text(robot: Robot) -> str:
    chain = robot.chain
    where = "; ".join(f"frame {i} on {name}" for i, name in enumerate(chain.frames))
    return f"{chain.n} joints, {chain.n + 1} frames: {where}. The tip is {chain.tip}."


def _a_step(robot: Robot, i: int) -> Step:
    variable = robot.chain.variables[i - 1]
    way = "turns about" if variable.turns else "slides along"
    text = f"Frame {i} in frame {i - 1}: joint {variable.joint} {way} its axis by {variable.symbol}."
    return Step("A matrices", f"A{i}", text + _row_text(robot, variable.joint), "A", (i,), frames=(i - 1, i), joint=i)


def _row_text(robot: Robot, joint: str) -> str:
    """The row of a DH table that a joint comes from."""
    for table in robot.model.chains:
        for k, (row, symbol) in enumerate(zip(table.rows, table.variables(), strict=True), 1):
            if f"{table.prefix}joint{k}" != joint:
                continue
            theta, d = (row.theta, symbol) if row.kind == "prismatic" else (symbol, row.d)
            constant = row.d if row.kind == "prismatic" else row.theta
            more = f", constant {_shown(constant)}" if constant else ""
            product = "Rot(z, θ) Trans(z, d) Trans(x, a) Rot(x, α)" if table.convention == "standard" else (
                "Rot(x, α) Trans(x, a) Rot(z, θ) Trans(z, d)")  # fmt: skip
            return (f" {table.convention.title()} Denavit–Hartenberg: A = {product} with θ = {_shown(theta)}, "
                    f"d = {_shown(d)}, a = {_shown(row.a)}, α = {_shown(row.alpha)}{more}.")  # fmt: skip
    return ""


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"


def _t_step(robot: Robot, i: int) -> Step:
    before = f"T(0,{i - 1}) A{i}" if i > 1 else "A1"
    text = f"Frame {i} in frame 0: T(0,{i}) = {before}. The last column is where its origin is."
    return Step("Forward kinematics", f"T(0,{i})", text, "T", (0, i), frames=(0, i), joint=i)


def _column_step(robot: Robot, k: int) -> Step:
    variable, tip = robot.chain.variables[k - 1], robot.chain.tip
    if variable.turns:
        rule = f"a turning joint gives [z × (o − o_{k}); z] with its axis z and the way o − o_{k} from it to {tip}"
    else:
        rule = "a sliding joint gives [z; 0] with its axis z"
    text = f"Column {k}, velocity [v; ω] of {tip} when only {variable.joint} moves: {rule}."
    return Step("Jacobian", f"J, column {k}", text, "J", (), k, frames=(k, robot.n), joint=k)


def _has_center(robot: Robot, i: int) -> bool:
    """Whether a link's centre of mass is a polynomial (of shapes with density and symbols for sizes it is not)."""
    try:
        robot.chain.center(i)
    except ModelError:
        return False
    return True


def _center_step(robot: Robot, i: int) -> Step:
    body = robot.chain.frames[i]
    text = f"Velocity of the centre of mass of {body} for each joint speed; joints behind it give zero."
    return Step("Centres of mass", f"Jvc({i})", text, "Jvc", (i,), frames=(i,), joint=i, link=i)


# --------------------------------------------------------------------------------- formulas and numbers


def forms(robot: Robot, step: Step) -> Forms:
    """The formula of a step; () for the frames."""
    if not step.what:
        return ()
    entries = robot.form(step.what, *step.indices)
    return tuple((row[step.column - 1],) for row in entries) if step.column else entries


def known_values(robot: Robot, p: Mapping[str, float]) -> dict[str, float]:
    """Values of all parameters of the robot's model. p : values of some."""
    chain, model = robot.chain, robot.chain.model
    free = {each.name for each in model.parameters if not isinstance(each.value, str)}
    return dict(model.values({**{name: x for name, x in p.items() if name in free}, **chain.given}))


def values_at(robot: Robot, q: Array, p: Mapping[str, float], speed: float = SPEED) -> dict[str, float]:
    """Numbers of all symbols at a pose of the whole machine. q : (nq,); p : values of parameters."""
    chain = robot.chain
    known = known_values(robot, p)
    values = {name: float(known[name]) for name in chain.values}
    for variable, rate, acceleration in zip(chain.variables, chain.rates, chain.accelerations, strict=True):
        values[variable.symbol] = float(q[variable.q])
        values[rate], values[acceleration] = speed, 0.0
    return values | {"sqrt(2)": math.sqrt(2.0), "sqrt(3)": math.sqrt(3.0)}


def numbers(robot: Robot, step: Step, values: Mapping[str, float]) -> Array:
    """A step's formula in numbers."""
    kept: dict[Any, Any] = {}
    return np.array([[float(evaluate(form, values, kept)) for form in row] for row in forms(robot, step)])


# --------------------------------------------------------------------------------- pictures


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
