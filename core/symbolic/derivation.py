"""Derivation of a robot's equations, step by step, as plain values: formula, numbers and picture of each step.

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
from core.symbolic.proof import numbers as numbers_of
from core.symbolic.robot import SIGNS, Forms, Robot

Array = NDArray[np.float64]
SPEED = 1.0
"""Speed of every joint (rad/s, m/s) at which energies and C are evaluated; accelerations are zero."""
Part = Literal["Frames", "A matrices", "Forward kinematics", "Jacobian", "Centres of mass", "Energies", "Dynamics"]


@dataclass(frozen=True)
class Step:
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


def steps(robot: Robot) -> tuple[Step, ...]:
    """Return all steps of the derivation for a robot."""
    n = robot.n
    made = [Step("Frames", "Frames", _frames_text(robot), frames=tuple(range(n + 1)))]
    made += [_link_transform_step(robot, i) for i in range(1, n + 1)]
    made += [_chain_transform_step(i) for i in range(1, n + 1)]
    made += [_column_step(robot, k) for k in range(1, n + 1)]
    made += [_center_step(robot, i) for i in range(1, n + 1) if _has_center(robot, i)]
    links = range(1, len(robot.chain.links) + 1)
    made += [step(robot, i) for i in links for step in (_kinetic_step, _potential_step)]
    made += [
        Step("Energies", "Kinetic energy", "K = Σ K_i = ½ q̇ᵀ M(q) q̇, of all links.", "K"),
        Step("Energies", "Potential energy", "P = Σ P_i, of all links and of the springs in their joints.", "P"),
        Step(
            "Dynamics",
            "Mass matrix",
            "M(q) = Σ m_i Jvcᵀ Jvc + Jwcᵀ R I_i Rᵀ Jwc, symmetric and positive definite; "
            "rotor inertias stand on the diagonal.",
            "M",
        ),
        Step(
            "Dynamics",
            "Coriolis and centrifugal matrix",
            "C_kj = Σ_i c_ijk q̇_i with Christoffel symbols "
            "c_ijk = ½ (∂M_kj/∂q_i + ∂M_ki/∂q_j − ∂M_ij/∂q_k); Ṁ − 2C is skew-symmetric.",
            "C",
        ),
        Step("Dynamics", "Gravity vector", "G_j = ∂P/∂q_j: what the joints must hold at rest.", "G"),
        Step("Dynamics", "Equations of motion", "M q̈ + C q̇ + G = τ.", "tau"),
    ]
    return tuple(made)


def _frames_text(robot: Robot) -> str:
    chain = robot.chain
    where = "; ".join(f"frame {i} on {name}" for i, name in enumerate(chain.frames))
    return f"{chain.n} joints, {chain.n + 1} frames: {where}. The tip is {chain.tip}."


def _link_transform_step(robot: Robot, i: int) -> Step:
    variable = robot.chain.variables[i - 1]
    verb = "turns about" if variable.turns else "slides along"
    text = f"Frame {i} in frame {i - 1}: joint {variable.joint} {verb} its axis by {variable.symbol}."
    return Step("A matrices", f"A{i}", text + _row_text(robot, variable.joint), "A", (i,), frames=(i - 1, i), joint=i)


def _row_text(robot: Robot, joint: str) -> str:
    """Return the row of the DH table that defines a joint."""
    for table in robot.model.chains:
        for k, (row, symbol) in enumerate(zip(table.rows, table.variables(), strict=True), 1):
            if f"{table.prefix}joint{k}" != joint:
                continue
            theta, d = (row.theta, symbol) if row.kind == "prismatic" else (symbol, row.d)
            constant = row.d if row.kind == "prismatic" else row.theta
            more = f", constant {_value_text(constant)}" if constant else ""
            product = (
                "Rot(z, θ) Trans(z, d) Trans(x, a) Rot(x, α)"
                if table.convention == "standard"
                else ("Rot(x, α) Trans(x, a) Rot(z, θ) Trans(z, d)")
            )
            return (
                f" {table.convention.title()} Denavit–Hartenberg: A = {product} with θ = {_value_text(theta)}, "
                f"d = {_value_text(d)}, a = {_value_text(row.a)}, α = {_value_text(row.alpha)}{more}."
            )
    return ""


def _value_text(value: Any) -> str:
    text = value if isinstance(value, str) else f"{value:.6g}"
    return re.sub(r"\bpi\b", "π", text).replace("-", "−")


def _chain_transform_step(i: int) -> Step:
    before = f"T(0,{i - 1}) A{i}" if i > 1 else "A1"
    text = f"Frame {i} in frame 0: T(0,{i}) = {before}. The last column is where its origin is."
    return Step("Forward kinematics", f"T(0,{i})", text, "T", (0, i), frames=(0, i), joint=i)


def _column_step(robot: Robot, k: int) -> Step:
    variable, tip = robot.chain.variables[k - 1], robot.chain.tip
    on = k - 1 if _is_standard(robot, variable.joint) else k  # the frame whose origin lies on the axis of joint k
    if variable.turns:
        rule = f"a revolute joint gives [z × (o − o_{on}); z], z along its axis, the vector o − o_{on} from it to {tip}"
    else:
        rule = "a prismatic joint gives [z; 0], z along its axis"
    text = f"Column {k}, velocity [v; ω] of {tip} when only {variable.joint} moves: {rule}."
    return Step("Jacobian", f"J, column {k}", text, "J", (), k, frames=(on, robot.n), joint=k)


def _is_standard(robot: Robot, joint: str) -> bool:
    """Return True if a joint comes from a standard DH table, so that it turns about the z axis of the frame before
    it."""
    standard = (table for table in robot.model.chains if table.convention == "standard")
    return any(joint == f"{table.prefix}joint{k}" for table in standard for k in range(1, len(table.rows) + 1))


def _has_center(robot: Robot, i: int) -> bool:
    """Return True if the centre of mass of a link is a polynomial, unlike that of shapes with density and symbolic
    sizes."""
    try:
        robot.chain.center(i)
    except ModelError:
        return False
    return True


def _center_step(robot: Robot, i: int) -> Step:
    body = robot.chain.frames[i]
    text = f"Velocity of the centre of mass of {body} for each joint speed; joints behind it give zero."
    return Step("Centres of mass", f"Jvc({i})", text, "Jvc", (i,), frames=(i,), joint=i, link=i)


def _kinetic_step(robot: Robot, i: int) -> Step:
    body, link = robot.chain.link_body(i), robot.chain.machine.tree.links[robot.chain.links[i - 1]]
    rotor = ", and that of the rotor of its joint" if link.armature != 0.0 else ""
    text = (
        f"Kinetic energy of {body}: the motion of its centre of mass and its turning about it, "
        f"K{i} = ½ m vᵀ v + ½ ωᵀ R I Rᵀ ω with v = Jvc q̇ and ω = Jwc q̇{rotor}."
    )
    return Step("Energies", f"K{i} of {body}", text, "Ki", (i,), link=i)


def _potential_step(robot: Robot, i: int) -> Step:
    body, link = robot.chain.link_body(i), robot.chain.machine.tree.links[robot.chain.links[i - 1]]
    spring = ", and that of the spring in its joint" if link.stiffness != 0.0 else ""
    text = f"Potential energy of {body}: P{i} = −m gᵀ r with its mass m at r, zero at the world's origin{spring}."
    return Step("Energies", f"P{i} of {body}", text, "Pi", (i,), link=i)


# --------------------------------------------------------------------------------- formulas and numbers


def forms(robot: Robot, step: Step) -> Forms:
    """Return the formula of a step; () for the frames."""
    if not step.what:
        return ()
    entries = robot.form(step.what, *step.indices)
    return tuple((row[step.column - 1],) for row in entries) if step.column else entries


def known_values(robot: Robot, p: Mapping[str, float]) -> dict[str, float]:
    """Return the values of all parameters of the robot's model. p : values of some of them."""
    chain, model = robot.chain, robot.chain.model
    free = {each.name for each in model.parameters if each.independent}
    return dict(model.values({**{name: x for name, x in p.items() if name in free}, **chain.given}))


def values_at(robot: Robot, q: Array, p: Mapping[str, float], speed: float = SPEED) -> dict[str, float]:
    """Return the values of all symbols at a pose of the whole machine. q : (nq,); p : values of parameters."""
    chain = robot.chain
    known = known_values(robot, p)
    values = {name: float(known[name]) for name in chain.values}
    for variable, rate, acceleration in zip(chain.variables, chain.rates, chain.accelerations, strict=True):
        values[variable.symbol] = float(q[variable.q])
        values[rate], values[acceleration] = speed, 0.0
    return values | {"sqrt(2)": math.sqrt(2.0), "sqrt(3)": math.sqrt(3.0)}


def numbers(robot: Robot, step: Step, values: Mapping[str, float]) -> Array:
    """Evaluate the formula of a step, in the shape of its entries; values : of every symbol, SI."""
    return numbers_of(forms(robot, step), values)
