"""Random machines with joint friction, stops, and limits of speed and effort, for the campaign.

There are `SHAPES` of them, trees and loops, in which all that matters here is a parameter: values are chosen at random,
the machine is compiled once.
"""

from __future__ import annotations

import functools
import math
import random
from dataclasses import dataclass, replace

import numpy as np

from core.mechanism import Mechanism
from core.model import Body, Gravity, Inertia, Joint, Limit, Model, Parameter, Pose, World
from tests.mechanism.random_machines import tree

SHAPES = 40
LOOPS = 12
"""Those of them that close."""
FRICTION = ("kinetic", "static", "back", "stribeck", "viscous")
STOPS = ("lower", "upper", "k", "e")
NUMBERS = (*FRICTION, *STOPS, "fast", "effort", "amp", "omega", "load")
"""Parameters of a joint."""
SIMPLE = ("revolute", "prismatic")
KINDS = (*SIMPLE * 3, "cylindrical", "universal", "spherical", "planar")


@dataclass(frozen=True)
class Shape:
    """A machine without its numbers."""

    model: Model
    rigid: tuple[str, ...]
    """Joints whose stops are."""
    driven: tuple[str, ...]
    closed: bool

    @property
    def torque(self) -> dict[str, str]:
        """Joint forces, whose sizes are parameters."""
        return {name: f"amp_{name}*sin(omega_{name}*t) + load_{name}" for name in self.driven}


def shape(index: int) -> Shape:
    """One of `SHAPES`."""
    luck = random.Random(f"modal {index}")
    if index < LOOPS:
        model = _linkage(luck)
    else:
        model = tree(index, KINDS, luck.choice((1, 2, 2, 3, 3, 4)), chain=luck.random() < 0.5)
    joints, rigid = [], []
    for joint in model.joints:
        straight = joint.info.nq == joint.info.nv
        stiff = straight and luck.random() < 0.35
        rigid += [joint.name] * stiff
        bounded = range(joint.info.nq) if straight else ()
        limits = tuple(_limit(joint.name, k == 0, stiff, joint.name == "close") for k in bounded)
        joints.append(
            replace(
                joint,
                friction=f"kinetic_{joint.name}",
                static_friction=f"static_{joint.name}",
                backward_friction=f"back_{joint.name}*kinetic_{joint.name}" if straight else None,
                backward_static_friction=f"back_{joint.name}*static_{joint.name}" if straight else None,
                stribeck_speed=f"stribeck_{joint.name}",
                damping=f"viscous_{joint.name}",
                limits=limits,
            )
        )
    parameters = tuple(
        Parameter(name=f"{number}_{joint.name}", value=-1.0 if number == "lower" else 1.0)
        for joint in joints
        for number in NUMBERS
    )
    driven = tuple(joint.name for joint in joints if joint.kind in SIMPLE and joint.name != "close")
    model = replace(model, joints=tuple(joints), parameters=parameters, frames=())
    return Shape(model, tuple(rigid), driven[:1] if index < LOOPS else driven, index < LOOPS)


def _limit(name: str, first: bool, rigid: bool, free: bool) -> Limit:
    """The bounds of a coordinate, of the first one only."""
    if not first:
        return Limit()
    motor = {} if free else {"velocity": f"fast_{name}", "effort": f"effort_{name}"}
    if rigid:
        return Limit(lower=f"lower_{name}", upper=f"upper_{name}", stop="rigid", restitution=f"e_{name}", **motor)
    return Limit(lower=f"lower_{name}", upper=f"upper_{name}", stiffness=f"k_{name}", restitution=f"e_{name}", **motor)


def _bar(name: str, length: float) -> Body:
    mass = 0.2 + length
    inertia = Inertia(ixx=0.001, iyy=mass * length**2 / 12, izz=mass * length**2 / 12)
    return Body(name=name, mass=mass, center_of_mass=(length / 2, 0.0, 0.0), inertia=inertia)


def _at(x: float, angle: float) -> Pose:
    return Pose(position=(x, 0.0, 0.0), rotation=(0.0, 0.0, angle))


def _linkage(luck: random.Random) -> Model:
    """A four-bar linkage or a slider–crank, closed where all coordinates are 0."""
    crank, coupler = luck.uniform(0.1, 0.25), luck.uniform(0.5, 0.8)
    first = luck.uniform(0.3, 2.8)
    x, y = crank * math.cos(first), crank * math.sin(first)
    bodies = [_bar("crank", crank), _bar("coupler", coupler)]
    joints = [Joint(name="crank_pin", parent="world", child="crank", a=_at(0.0, first))]
    if luck.random() < 0.5:
        second = math.asin(-y / coupler)
        bodies.append(Body(name="slider", mass=0.5, inertia=Inertia(ixx=1e-3, iyy=1e-3, izz=1e-3)))
        end = x + coupler * math.cos(second)
        along = {"kind": "prismatic", "axis": (1.0, 0.0, 0.0)}
        joints.append(Joint(name="slide", parent="world", child="slider", a=_at(end, 0.0), **along))
        closing = Joint(name="close", parent="coupler", child="slider", a=_at(coupler, -second))
    else:
        ground, rocker = luck.uniform(0.5, 0.7), luck.uniform(0.4, 0.6)
        way, tilt = math.hypot(ground - x, y), math.atan2(-y, ground - x)
        inner = math.acos((coupler**2 + way**2 - rocker**2) / (2 * coupler * way))
        second = tilt + inner
        px, py = x + coupler * math.cos(second), y + coupler * math.sin(second)
        third = math.atan2(py, px - ground)
        bodies.append(_bar("rocker", rocker))
        joints.append(Joint(name="rocker_pin", parent="world", child="rocker", a=_at(ground, third)))
        ends = {"a": _at(coupler, third - second), "b": _at(rocker, 0.0)}
        closing = Joint(name="close", parent="coupler", child="rocker", **ends)
    joints.insert(1, Joint(name="knee", parent="crank", child="coupler", a=_at(crank, second - first)))
    gravity = Gravity(acceleration=(0.0, -luck.choice((0.0, 9.81)), 0.0))
    return Model(name="linkage", world=World(gravity=gravity), bodies=tuple(bodies), joints=(*joints, closing))


@functools.cache
def machine(index: int) -> tuple[Shape, Mechanism]:
    """A shape and what was compiled of it."""
    made = shape(index)
    return made, Mechanism(made.model)


def numbers(luck: random.Random, made: Shape, method: str) -> dict[str, float]:
    """Values of all parameters; nothing acts along about every third coordinate. Fixed steps meet soft stops only."""
    values = {}
    driven = luck.random() < 0.6
    for joint in made.model.joints:
        rubs, limited = luck.random() < 0.7, luck.random() < 0.6
        size = 10.0 ** luck.uniform(-1.5, 1.0) if rubs else 0.0
        own = {
            "kinetic": size,
            "static": size * luck.choice((1.0, 1.0, 1.2, 2.0)),
            "back": 1.0,
            "stribeck": luck.choice((0.0, 0.0, 0.1, 0.01)),
            "viscous": luck.choice((0.0, 0.05, 0.5)),
            "lower": -luck.uniform(0.05, 0.5) if limited else -1e6,
            "upper": luck.uniform(0.05, 0.5) if limited else 1e6,
            "k": 10.0 ** luck.uniform(2.0, 2.5 if method == "rk4" else 5.0),
            "e": luck.choice((0.0, 0.3, 0.7, 0.95) if joint.name in made.rigid else (0.3, 0.7, 0.95)),
            "fast": luck.uniform(0.3, 3.0) if luck.random() < 0.3 else 0.0,
            "effort": luck.uniform(0.5, 10.0) if luck.random() < 0.3 else 0.0,
            "amp": luck.uniform(0.0, 15.0) * (driven and luck.random() < 0.7),
            "omega": luck.uniform(0.5, 15.0),
            "load": luck.uniform(-5.0, 5.0) * (driven and luck.random() < 0.4),
        }
        values |= {f"{name}_{joint.name}": float(value) for name, value in own.items()}
    for joint in made.model.joints:  # last, so that a seed means what it meant
        if joint.info.nq == joint.info.nv:
            values[f"back_{joint.name}"] = luck.choice((1.0, 1.0, 0.0, 0.3, 3.0))
    return values


def start(luck: random.Random, made: Shape, mech: Mechanism, values: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Within limits, with random speeds, or at rest."""
    q = mech.rest(mech.parameter_values(values))
    v = np.zeros(mech.nv)
    moving = luck.random() < 0.7
    if made.closed:
        speed = mech.speeds(q, {"crank_pin.v": luck.uniform(-5.0, 5.0)}, p=values) if moving else v
        return q, np.asarray(speed)
    if moving:
        v = np.array([luck.uniform(-2.0, 2.0) for _ in range(mech.nv)])
    return q, v
