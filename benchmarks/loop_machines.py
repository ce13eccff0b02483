"""Machines of any number of loops: four-bars in a row and apart, a chain of Stewart platforms, a tracked vehicle."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from core.model import Body, Force, Frame, Gravity, Inertia, Joint, Model, Pose, World

ROD = 1.0 / 12.0
"""Moment of inertia of a slender rod of 1 m and 1 kg about its middle, kg·m²."""
GRAVITY = 9.81
PLATE, STAGE = 0.5, 0.9
"""Of a Stewart platform: radius of its plates and height of a stage, m."""
PITCH, BEND = 0.1, 8
"""Length of a link of a track, m; links of a half-turn around the first or last wheel."""
HUB = PITCH / 2.0 / math.sin(math.pi / 2.0 / BEND)
"""Radius of the wheels, and height of their hubs over the lower run, m."""
LINK = Inertia(ixx=1e-3, iyy=2e-3, izz=2e-3)


def _at(x: float, y: float, z: float = 0.0) -> Pose:
    return Pose(position=(float(x), float(y), float(z)))


def _rod(name: str, x: float, y: float) -> Body:
    """A slender rod of 1 m and 1 kg from its frame's origin to twice (x, y)."""
    inertia = Inertia(ixx=ROD, iyy=ROD, izz=ROD)
    return Body(name=name, mass=1.0, center_of_mass=(x, y, 0.0), inertia=inertia)


def four_bars(count: int) -> Model:
    """The N-four-bar of the IFToMM library (A02): count + 1 upright cranks A0 …, joined at their tips by couplers of
    their length. All parallelograms fall together through their flat pose."""
    bodies = [_rod("crank0", 0.0, 0.5)]
    joints = [Joint(name="A0", parent="world", child="crank0")]
    for k in range(1, count + 1):
        bodies += [_rod(f"coupler{k}", 0.5, 0.0), _rod(f"crank{k}", 0.0, 0.5)]
        joints += [
            Joint(name=f"B{k}", parent=f"crank{k - 1}", child=f"coupler{k}", a=_at(0, 1)),
            Joint(name=f"A{k}", parent="world", child=f"crank{k}", a=_at(k, 0)),
            Joint(name=f"C{k}", parent=f"coupler{k}", child=f"crank{k}", a=_at(1, 0), b=_at(0, 1)),
        ]
    world = World(gravity=Gravity(acceleration=(0.0, -GRAVITY, 0.0)))
    return Model(name=f"{count} four-bars", world=world, bodies=tuple(bodies), joints=tuple(joints))


def separate_four_bars(count: int) -> Model:
    """Parallelograms of two upright cranks and a coupler beside one another, joined by nothing but the ground."""
    one = four_bars(1)
    bodies, joints = [], []
    for k in range(count):
        bodies += [replace(body, name=f"{body.name}_{k}") for body in one.bodies]
        for joint in one.joints:
            moved = replace(joint, name=f"{joint.name}_{k}", child=f"{joint.child}_{k}")
            if joint.parent == "world":
                joints.append(replace(moved, a=_at(2 * k + joint.a.position[0], 0)))
            else:
                joints.append(replace(moved, parent=f"{joint.parent}_{k}"))
    return replace(one, name=f"{count} separate four-bars", bodies=tuple(bodies), joints=tuple(joints))


def in_a_line(count: int) -> dict[str, float]:
    """Angles by joint of the flat pose, rad."""
    turned = {f"A{k}": -math.pi / 2.0 for k in range(count + 1)}
    return turned | {f"B{k}": math.pi / 2.0 for k in range(1, count + 1)}


def falling(count: int) -> dict[str, float]:
    """Speeds by joint with which the four-bars are let go: tips at 1 m/s."""
    return {f"A{k}": -1.0 for k in range(count + 1)} | {f"B{k}": 1.0 for k in range(1, count + 1)}


def crank_angle(count: int, duration: float) -> float:
    """q of every crank at the end, rad: all in phase they are one pendulum, integrated on its own."""
    from scipy.integrate import solve_ivp

    inertia, moment = (count + 1) / 3.0 + count, ((count + 1) / 2.0 + count) * GRAVITY

    def rate(_: float, y: Any) -> Any:
        return [y[1], moment / inertia * math.sin(y[0])]

    return float(solve_ivp(rate, (0.0, duration), [0.0, -1.0], "DOP853", rtol=1e-13, atol=1e-14).y[0, -1])


def stewart_chain(count: int) -> Model:
    """Stewart platforms on one another: six legs of changing length each, universal below, ball above, springs in the
    legs that carry their weight."""
    bodies, joints, weight = [], [], 5.0 + 6 * 0.4
    for k in range(1, count + 1):
        plate, below = f"plate{k}", f"plate{k - 1}" if k > 1 else "world"
        bodies.append(Body(name=plate, mass=5.0, inertia=Inertia(ixx=0.3, iyy=0.3, izz=0.6)))
        for leg in range(6):
            foot, head = _ring(leg, 0.2, 0.0), _ring(leg, math.pi / 3 - 0.2, STAGE)
            along = (head - foot) / np.linalg.norm(head - foot)
            axis = tuple(map(float, along))
            stiffness = 3e4
            lower, upper = f"lower{k}_{leg}", f"upper{k}_{leg}"
            bodies += [_half(lower, along * 0.2), _half(upper, along * -0.2)]
            across = np.cross(along, [0.0, 0.0, 1.0])
            second = np.cross(along, across)
            joints += [
                Joint(
                    name=f"U{k}_{leg}",
                    kind="universal",
                    parent=below,
                    child=lower,
                    a=_at(*foot),
                    axis=_unit(across),
                    second_axis=_unit(second),
                ),
                Joint(
                    name=f"P{k}_{leg}",
                    kind="prismatic",
                    parent=lower,
                    child=upper,
                    a=_at(*(along * float(np.linalg.norm(head - foot)))),
                    axis=axis,
                    stiffness=stiffness,
                    damping=40.0,
                    spring_rest=(weight * (count - k + 1) * GRAVITY / (6.0 * stiffness * float(along[2])),),
                ),
                Joint(name=f"S{k}_{leg}", kind="spherical", parent=upper, child=plate, b=_at(head[0], head[1])),
            ]
    world = World(gravity=Gravity(acceleration=(0.0, 0.0, -GRAVITY)))
    return Model(name=f"{count} Stewart platforms", world=world, bodies=tuple(bodies), joints=tuple(joints))


def _ring(leg: int, turn: float, height: float) -> Any:
    """Attachment points of the legs on a plate at a height (m): in pairs, `turn` (rad) to either side of the thirds."""
    angle = 2.0 * math.pi * (leg // 2) / 3.0 + (turn if leg % 2 else -turn)
    return np.array([PLATE * math.cos(angle), PLATE * math.sin(angle), height])


def _unit(v: Any) -> tuple[float, float, float]:
    x, y, z = map(float, v / np.linalg.norm(v))
    return x, y, z


def _half(name: str, center: Any) -> Body:
    x, y, z = map(float, center)
    return Body(name=name, mass=0.2, center_of_mass=(x, y, z), inertia=Inertia(ixx=0.003, iyy=0.003, izz=0.003))


def tracked_vehicle(links: int) -> Model:
    """A hull on springs, and two tracks around it of half the links each: closed chains of pins, each of which a spring
    and a damper keep at its distance from the nearest of the hull's hubs."""
    half = links // 2
    bodies = [Body(name="hull", mass=20.0 * links)]
    joints = [
        Joint(
            name="hull",
            kind="prismatic",
            parent="world",
            child="hull",
            axis=(0.0, 1.0, 0.0),
            stiffness=5e3 * links,
            damping=500.0 * links,
        )
    ]
    frames, forces = [], []
    points, turns = _oval(half)
    hubs = [float(x) for x in np.linspace(min(points[:, 0]) + HUB, max(points[:, 0]) - HUB, 5)]
    for side, z in (("left", 1.0), ("right", -1.0)):
        frames += [Frame(name=f"{side}-hub{n}", parent="hull", pose=_at(x, HUB, z)) for n, x in enumerate(hubs)]
        for k, (x, y) in enumerate(points):
            name, turn = f"{side}{k}", float(turns[k] - turns[k - 1])
            bodies.append(Body(name=name, mass=2.0, center_of_mass=(PITCH / 2, 0.0, 0.0), inertia=LINK))
            if k == 0:
                pose = Pose(position=(float(x), float(y), z), rotation=(0.0, 0.0, float(turns[0])))
                joints.append(Joint(name=name, kind="planar", parent="hull", child=name, a=pose))
            else:
                joints.append(Joint(name=name, parent=f"{side}{k - 1}", child=name, a=_pin(turn)))
            hub = min(range(len(hubs)), key=lambda n: abs(hubs[n] - x))
            forces.append(
                Force(
                    name=f"{name}-wheel",
                    a=f"{side}-hub{hub}",
                    b=name,
                    stiffness=4e3,
                    damping=200.0,
                    rest=math.hypot(x - hubs[hub], y - HUB),
                )
            )
        last = Joint(
            name=f"{side}-end", parent=f"{side}{half - 1}", child=f"{side}0", a=_pin(float(turns[0] - turns[-1]))
        )
        joints.append(last)
    world = World(gravity=Gravity(acceleration=(0.0, -GRAVITY, 0.0)))
    return Model(
        name=f"tracked vehicle of {links} links",
        world=world,
        bodies=tuple(bodies),
        joints=tuple(joints),
        frames=tuple(frames),
        forces=tuple(forces),
    )


def _pin(turn: float) -> Pose:
    """Position of the successor's pin on a link, turned by an angle (rad)."""
    return Pose(position=(PITCH, 0.0, 0.0), rotation=(0.0, 0.0, turn))


def _oval(links: int) -> tuple[Any, Any]:
    """Pins (links, 2), m, and directions (links,), rad, of a closed track: two runs of equal length and two bends."""
    bend = BEND
    run = links // 2 - bend
    turning = [math.pi * (j + 0.5) / bend for j in range(bend)]
    turns = np.array([0.0] * run + turning + [math.pi] * run + [math.pi + turn for turn in turning])
    steps = PITCH * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    return np.cumsum(steps, axis=0) - steps, turns
