"""Machines with modes and right answers, for `benchmarks.modes`: along lines, or one arm about a pin."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.problems import REFERENCE, read
from core.model import Body, Force, Inertia, Joint, Limit, Model

Array = NDArray[np.float64]
HEAVY = 1e9
"""kg of what moves at a given speed in programs of others."""
LENGTH = 0.35
"""m: of arms, by which their moments are divided."""
STEPS = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)
"""s, of programs of others."""


class Sample(NamedTuple):
    """A run: what is the same in finer ones, its setting, processor seconds, and error in m or rad."""

    family: str
    setting: str
    seconds: float
    error: float


LONGEST = 4.0
"""Processor seconds of one run after which no shorter steps are tried."""


class Problem(NamedTuple):
    """Machine with its motion and its final state."""

    title: str
    case: str
    p: Mapping[str, Any]
    model: Model
    duration: float
    q0: tuple[float, ...]
    v0: tuple[float, ...]
    torque: Any
    right: Array
    """Positions (rad, m), and speeds as the ways that belong to them where they are asked for, too."""
    measure: Callable[[Array, Array], Array]
    """(q, v) → what is compared with it."""
    puller: float = 0.0
    """m/s of what pulls springs."""


def error_of(problem: Problem, q: Any, v: Any) -> float:
    """Largest difference from what is right; infinite where the motion broke down."""
    apart = problem.measure(np.asarray(q, dtype=float), np.asarray(v, dtype=float)) - problem.right
    return float(np.max(np.abs(apart))) if np.isfinite(apart).all() else math.inf


def _positions(q: Array, _v: Array) -> Array:
    return q


def _slide(mass: float, index: int, **fields: Any) -> tuple[Body, Joint]:
    body = Body(name=f"block{index}", mass=mass, inertia=Inertia(ixx=1e-3, iyy=1e-3, izz=1e-3))
    return body, Joint(
        name=f"x{index}", kind="prismatic", parent="world", child=body.name, axis=(1.0, 0.0, 0.0), **fields
    )


def _machine(*pairs: tuple[Body, Joint], **more: Any) -> Model:
    return Model(name="modes", bodies=tuple(b for b, _ in pairs), joints=tuple(j for _, j in pairs), **more)


def spring_with_friction() -> Problem:
    """Swings until friction holds it, off its middle."""
    p, _, case = read("fric_spring_mass_decay")
    model = _machine(_slide(p["mass"], 1, friction=p["kinetic_friction"], stiffness=p["stiffness"]))
    right = np.array([case["reference"]["final_position"]])
    return Problem("spring and friction", "spring", p, model, p["t_end"], (p["x0"],), (0.0,), None, right, _positions)


def two_blocks() -> Problem:
    """Pulled along by springs; 39 changes of modes."""
    p, columns, _ = read("fric_two_blocks_driver")
    levels = zip(p["kinetic_friction"], p["static_limit"], strict=True)
    model = _machine(*(_slide(1.0, i, friction=k, static_friction=s) for i, (k, s) in enumerate(levels, start=1)))
    driver, between, speed = p["k_driver"][0], p["k_coupling"], p["driver_speed"]
    torque = {f"x{i}": f"{driver}*({speed}*t - x{i}) + {between}*(x{3 - i} - x{i})" for i in (1, 2)}
    right = np.array([columns["x1"][-1], columns["x2"][-1]])
    start = tuple(p["x0"])
    return Problem("two blocks", "blocks", p, model, p["t_end"], start, (0.0, 0.0), torque, right, _positions, speed)


def belt() -> Problem:
    """Sticks to a belt and slips, in a frame that moves with the belt: there the spring's end moves backward."""
    p, columns, _ = read("fric_belt_stick_slip")
    press, speed = p["normal_force"], p["belt_speed"]
    levels = {"friction": p["mu_kinetic"] * press, "static_friction": p["mu_static"] * press}
    model = _machine(_slide(p["m"], 1, **levels))
    torque = {"x1": f"-{p['k']}*(x1 + {speed}*t)"}
    right = np.array([columns["x"][-1] - speed * p["t_end"]])
    return Problem("block on a belt", "belt", p, model, p["t_end"], (0.0,), (0.0,), torque, right, _positions, -speed)


def slider_stop() -> Problem:
    """Pressed against a spring and a damper that never pull."""
    p, columns, _ = read("limit_slider_stop")
    limit = Limit(upper=p["x_stop"], stiffness=p["k_stop"], damping=p["d_stop"])
    model = _machine(_slide(p["mass"], 1, limits=(limit,)))
    end = 0.96 * p["t_end"]  # a row of the reference between two hits
    k = int(np.argmin(np.abs(columns["t"] - end)))
    right = np.array([columns["x"][k]])
    return Problem(
        *("slider at a stop", "slider", p, model, float(columns["t"][k])),
        *((0.0,), (p["v0"],), [p["force"]], right, _positions),
    )


def pendulum_stop() -> Problem:
    """Bounces off a rigid stop; compared where it turns back after the fifth impact."""
    case = json.loads((REFERENCE / "limit_pendulum_bounce.json").read_text(encoding="utf-8"))
    p, rows = case["parameters"], case["reference"]["restitution"]["rows"]
    limit = Limit(lower=p["q_stop"], stop="rigid", restitution=p["restitution"])
    mass = p["mass_times_l_com"] / LENGTH
    own = p["J"] - mass * LENGTH**2
    inertia = Inertia(ixx=own, iyy=own, izz=1e-3)
    arm = Body(name="arm", mass=mass, center_of_mass=(0.0, 0.0, -LENGTH), inertia=inertia)
    pin = Joint(name="pin", kind="revolute", parent="world", child="arm", axis=(0.0, 1.0, 0.0), limits=(limit,))
    end, pace = 0.5 * (rows[4][0] + rows[5][0]), math.sqrt(p["g"] / p["L_equivalent"])

    def both(q: Array, v: Array) -> Array:
        return np.array([q[0], v[0] / pace])

    right = np.array([rows[4][3], 0.0])
    return Problem(
        "pendulum at a stop", "pendulum", p, _machine((arm, pin)), end, (p["q0"],), (0.0,), None, right, both
    )


def clutch() -> Problem:
    """Two rotors at constant torques, coupled by 90 N·m of friction: slip, then both turn alike."""
    p = {"J1": 0.4, "J2": 0.9, "motor": 20.0, "load": 10.0, "friction": 90.0, "speed": 100.0}
    end, bodies, joints = 2.0, [], []
    for i in (1, 2):
        J = p[f"J{i}"]
        bodies.append(Body(name=f"rotor{i}", mass=1.0, inertia=Inertia(ixx=J, iyy=J, izz=J)))
        joints.append(Joint(name=f"r{i}", parent="world", child=f"rotor{i}", axis=(1.0, 0.0, 0.0)))
    coupling = Force(name="clutch", kind="clutch", joint="r1", leader="r2", friction=p["friction"])
    a1, a2 = (-p["motor"] - p["friction"]) / p["J1"], (p["friction"] - p["load"]) / p["J2"]
    lock = p["speed"] / (a2 - a1)
    rest, together = end - lock, (-p["motor"] - p["load"]) / (p["J1"] + p["J2"])
    after = a2 * lock * rest + 0.5 * together * rest**2
    right = np.array([p["speed"] * lock + 0.5 * a1 * lock**2 + after, 0.5 * a2 * lock**2 + after])
    model = Model(name="clutch", bodies=tuple(bodies), joints=tuple(joints), forces=(coupling,))
    torque = [-p["motor"], -p["load"]]
    return Problem("clutch", "clutch", p, model, end, (0.0, 0.0), (p["speed"], 0.0), torque, right, _positions)


PROBLEMS = (spring_with_friction, two_blocks, belt, slider_stop, pendulum_stop, clutch)
