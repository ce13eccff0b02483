"""Published simulation problems as models, with their numbers read from tests/reference."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from core.model import Body, Force, Frame, Gravity, Inertia, Joint, Model, Pose, World

REFERENCE = Path(__file__).parents[1] / "tests" / "reference"


class Problem(NamedTuple):
    """A machine, where it begins, what drives it, and what was published."""

    model: Model
    duration: float
    q0: Any
    v0: Any
    torque: Any
    columns: dict[str, Any]
    case: dict[str, Any]
    stiff: bool = False


def read(name: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """(parameters, columns of the reference, the whole case)."""
    case = json.loads((REFERENCE / f"{name}.json").read_text(encoding="utf-8"))
    reference = case["reference"]
    rows = np.array(reference.get("rows", reference.get("rows_own_high_accuracy")), dtype=float)
    return case["parameters"], dict(zip(reference["columns"], rows.T, strict=True)), case


def _at(*position: float, turn: float = 0.0) -> Pose:
    x, y, z = (*map(float, position), 0.0, 0.0)[:3]
    return Pose(position=(x, y, z), rotation=(0.0, 0.0, turn))


def _body(name: str, mass: float, center: Sequence[float], diagonal: Sequence[float]) -> Body:
    ixx, iyy, izz = map(float, diagonal)
    x, y, z = (*map(float, center), 0.0)[:3]
    return Body(name=name, mass=float(mass), center_of_mass=(x, y, z), inertia=Inertia(ixx=ixx, iyy=iyy, izz=izz))


def _world(g: Sequence[float]) -> World:
    x, y, z = map(float, g)
    return World(gravity=Gravity(acceleration=(x, y, z)))


def andrews_squeezer() -> Problem:
    """Seven bodies in the plane, three loops; the joints at E close them."""
    p, columns, case = read("andrews_squeezer_ivp")
    centers = [
        (p["ra"], 0),
        (-p["da"], 0),
        (p["sb"], -p["sa"]),
        (0, p["ea"] - p["e"]),
        (p["ta"], p["tb"]),
        (p["zf"] - p["fa"], 0),
        (-p["ub"], -p["ua"]),
    ]
    bodies = [
        _body(f"K{i + 1}", m, c, (0, 0, I)) for i, (m, c, I) in enumerate(zip(p["m"], centers, p["I"], strict=True))
    ]
    A, B = _at(p["xa"], p["ya"]), _at(p["xb"], p["yb"])
    joints = [
        Joint(name="beta", parent="world", child="K1"),
        Joint(name="Theta", parent="K1", child="K2", a=_at(p["rr"])),
        Joint(name="gamma", parent="world", child="K3", a=B),
        Joint(name="Phi", parent="K5", child="K4", a=_at(p["zt"])),
        Joint(name="delta", parent="world", child="K5", a=A),
        Joint(name="Omega", parent="K7", child="K6", a=_at(0, -p["u"])),
        Joint(name="epsilon", parent="world", child="K7", a=A),
    ]
    ends = {"K3": (0, -p["ss"]), "K4": (0, -p["e"]), "K6": (p["zf"], 0)}
    joints += [
        Joint(name=f"E{body[1]}", parent="K2", child=body, a=_at(-p["d"]), b=_at(*end), cut="yes")
        for body, end in ends.items()
    ]
    frames = (
        Frame(name="C", parent="world", pose=_at(p["xc"], p["yc"])),
        Frame(name="D", parent="K3", pose=_at(p["sd"], -p["sc"])),
    )
    spring = Force(name="spring", kind="line", a="C", b="D", stiffness=float(p["c0"]), rest=float(p["l0"]))
    model = Model(
        name="Andrews' squeezer",
        world=_world((0, 0, 0)),
        bodies=tuple(bodies),
        joints=tuple(joints),
        frames=frames,
        forces=(spring,),
    )
    names = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")
    return Problem(model, 0.03, dict(zip(names, p["q0"], strict=True)), None, {"beta": p["mom"]}, columns, case)


def flyball_governor() -> Problem:
    """A tree; stiff springs and dampers stand for the couplers."""
    p, columns, case = read("iftomm_A05_flyball_governor")
    rod, spring = p["rods"], p["spring"]
    slim = (rod["I_axial"], rod["I_transverse"], rod["I_transverse"])
    slider = p["slider"]
    bodies, joints, frames, forces = (
        [
            _body("shaft", p["shaft"]["mass"], (0, 0, p["shaft"]["length"] / 2), p["shaft"]["I"]),
            _body("slider", slider["mass"], (0, 0, 0), (slider["I"],) * 3),
        ],
        [
            Joint(name="phi", parent="world", child="shaft"),
            Joint(name="s", kind="prismatic", parent="shaft", child="slider"),
        ],
        [],
        [],
    )
    for side, (x, turn) in enumerate(((1, 0.0), (-1, math.pi)), 1):
        hinge = _at(x * rod["hinge_x"], 0, rod["hinge_z"], turn=turn)
        bodies += [
            _body(f"rod{side}", rod["mass"], (rod["length"] / 2, 0, 0), slim),
            _body(f"ball{side}", p["tip_masses_kg"], (0, 0, 0), (0, 0, 0)),
        ]
        joints += [
            Joint(name=f"beta{side}", parent="shaft", child=f"rod{side}", a=hinge, axis=(0.0, 1.0, 0.0)),
            Joint(name=f"tip{side}", kind="fixed", parent=f"rod{side}", child=f"ball{side}", a=_at(rod["length"])),
        ]
        frames += [
            Frame(name=f"ear{side}", parent="slider", pose=_at(*spring["on_slider"][side - 1])),
            Frame(name=f"middle{side}", parent=f"rod{side}", pose=_at(rod["length"] / 2)),
        ]
        forces.append(
            Force(
                name=f"coupler{side}",
                kind="line",
                a=f"ear{side}",
                b=f"middle{side}",
                damping=spring["C"],
                stiffness=spring["K"],
                rest=spring["rest_length"],
            )
        )
    model = Model(
        name="flyball governor",
        world=_world(p["gravity"]),
        bodies=tuple(bodies),
        joints=tuple(joints),
        frames=tuple(frames),
        forces=tuple(forces),
    )
    angle = rod["angle_below_horizontal_rad"]
    return Problem(
        model,
        p["t_end_s"],
        {"s": slider["s0"], "beta1": angle, "beta2": angle},
        {"phi": p["omega0"]},
        None,
        columns,
        case,
        stiff=True,
    )


def bricard() -> Problem:
    """Five rods and six revolute joints whose axes make one constraint redundant; all frames begin with world axes."""
    p, columns, case = read("iftomm_A04_bricard")
    points, axes = np.array(p["points_initial"]), np.array(p["joint_axes_world_initial"], dtype=float)
    inertia = p["rod_inertia_about_com"]
    bodies, joints = [], []
    for i in range(5):
        along = points[i + 1] - points[i]
        diagonal = [inertia["axial"] if abs(x) > 0.5 else inertia["transverse"] for x in along]
        bodies.append(_body(f"rod{i + 1}", p["rod_mass_kg"], along / 2, diagonal))
        offset = points[i] - points[max(i - 1, 0)]
        joints.append(
            Joint(
                name=f"R{i}",
                parent=f"rod{i}" if i else "world",
                child=f"rod{i + 1}",
                a=_at(*offset),
                axis=tuple(axes[i]),
            )
        )
    joints.append(
        Joint(
            name="R5",
            parent="rod5",
            child="world",
            a=_at(*(points[5] - points[4])),
            b=_at(*points[5]),
            axis=tuple(axes[5]),
        )
    )
    model = Model(name="Bricard", world=_world(p["gravity"]), bodies=tuple(bodies), joints=tuple(joints))
    return Problem(model, p["t_end_s"], None, None, None, columns, case)


def four_bar() -> Problem:
    """A crank-rocker under gravity, let go with a speed."""
    lengths = {"crank": 0.1, "coupler": 0.3, "rocker": 0.25}
    ground = 0.28
    bodies = tuple(_body(name, 10 * L, (L / 2, 0), (0, 0, 10 * L**3 / 12)) for name, L in lengths.items())
    joints = (
        Joint(name="A", parent="world", child="crank"),
        Joint(name="B", parent="crank", child="coupler", a=_at(lengths["crank"])),
        Joint(name="D", parent="world", child="rocker", a=_at(ground)),
        Joint(name="C", parent="coupler", child="rocker", a=_at(lengths["coupler"]), b=_at(lengths["rocker"])),
    )
    model = Model(name="four-bar", world=_world((0, -9.81, 0)), bodies=bodies, joints=joints)
    return Problem(model, 2.0, {"A": 1.0}, {"A": 12.0}, None, {}, {})


def double_pendulum() -> Problem:
    """Two rods let go from the horizontal; in the plane only izz counts, but not every program takes zeros."""
    rods = tuple(_body(f"rod{i}", 1.0, (0.5, 0), (1 / 12, 1 / 12, 1 / 12)) for i in (1, 2))
    joints = (
        Joint(name="phi1", parent="world", child="rod1"),
        Joint(name="phi2", parent="rod1", child="rod2", a=_at(1.0)),
    )
    model = Model(name="double pendulum", world=_world((0, -9.81, 0)), bodies=rods, joints=joints)
    return Problem(model, 3.0, None, None, None, {}, {})
