"""Machines of published simulation problems, with their numbers read from tests/reference."""

import json
from pathlib import Path

import numpy as np

from core.model import Body, Gravity, Inertia, Joint, Model, Pose, World

FOLDER = Path(__file__).parents[2] / "reference"


def read(name):
    case = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    reference = case["reference"]
    rows = np.array(reference.get("rows", reference.get("rows_own_high_accuracy")), dtype=float)
    return case["parameters"], dict(zip(reference["columns"], rows.T, strict=True)), case


def world(*g):
    return World(gravity=Gravity(acceleration=tuple(float(x) for x in g)))


def body(name, mass, center, diagonal):
    ixx, iyy, izz = map(float, diagonal)
    inertia = Inertia(ixx=ixx, iyy=iyy, izz=izz)
    return Body(name=name, mass=mass, center_of_mass=tuple(map(float, center)), inertia=inertia)


def msl_pendulum(p):
    link = body("rod", p["m"], p["r_CM"], p["I_com"])
    return Model(
        name="pendulum",
        world=world(0, -p["g"], 0),
        bodies=(link,),
        joints=(Joint(name="pin", parent="world", child="rod", damping=p["damper"]),),
    )


def msl_double_pendulum(p):
    rods = [body(f"rod{i}", p["m"], (p["L"] / 2, 0, 0), p["I_com"]) for i in (1, 2)]
    joints = (
        Joint(name="phi1", parent="world", child="rod1", damping=p["damper1"]),
        Joint(name="phi2", parent="rod1", child="rod2", a=Pose(position=(p["L"], 0, 0))),
    )
    return Model(name="double pendulum", world=world(0, -p["g"], 0), bodies=tuple(rods), joints=joints)


def point_pendulum(mass=1.0, length=1.0, g=9.81):
    """Angle from the downward vertical."""
    bob = body("bob", mass, (0, -length, 0), (0, 0, 0))
    return Model(
        name="pendulum",
        world=world(0, -g, 0),
        bodies=(bob,),
        joints=(Joint(name="theta", parent="world", child="bob"),),
    )


def heavy_top(p):
    top = body("top", p["m"], p["com"], p["J_com"])
    return Model(
        name="top",
        world=world(*p["g"]),
        bodies=(top,),
        joints=(Joint(name="ball", kind="spherical", parent="world", child="top"),),
    )


def free_body(p):
    flyer = body("body", p["mass"], (0, 0, 0), (p["I_transverse"], p["I_transverse"], p["J_axial"]))
    return Model(name="flight", world=world(0, 0, -p["g"]), bodies=(flyer,))


def floating_chain(p):
    bodies, joints = [], []
    for i, entry in enumerate(p["bodies"]):
        bodies.append(body(f"b{i}", entry["mass"], entry["com"], entry["I_com"]))
        if i:
            joints.append(
                Joint(
                    name=f"j{i}",
                    parent=f"b{i - 1}",
                    child=f"b{i}",
                    axis=tuple(entry["axis"]),
                    a=Pose(position=tuple(map(float, entry["offset_from_parent"]))),
                )
            )
    return Model(name="chain", world=world(*p["gravity"]), bodies=tuple(bodies), joints=tuple(joints))


def babyboot(p):
    rod = body("A", p["mA"], (0, 0, -p["LA"]), (p["IAx"], 0, 0))
    plate = body("B", p["mB"], (0, 0, -p["LB"]), (p["IBx"], p["IBy"], p["IBz"]))
    joints = (
        Joint(name="qA", parent="world", child="A", axis=(1.0, 0.0, 0.0)),
        Joint(name="qB", parent="A", child="B"),
    )
    return Model(name="babyboot", world=world(0, 0, -p["g"]), bodies=(rod, plate), joints=joints)


def n_four_bar(p):
    """Two vertical rods and a coupler; angles from +x of the rods are q + π/2."""
    L, I = p["L_m"], p["rod_inertia_about_com_kg_m2"]
    upright = {name: body(name, p["m_kg"], (0, L / 2, 0), (0, 0, I)) for name in ("left", "right")}
    bodies = (upright["left"], body("coupler", p["m_kg"], (L / 2, 0, 0), (0, 0, I)), upright["right"])
    tip = Pose(position=(0.0, L, 0.0))
    joints = (
        Joint(name="A0", parent="world", child="left"),
        Joint(name="B0", parent="left", child="coupler", a=tip),
        Joint(name="A1", parent="world", child="right", a=Pose(position=(L, 0.0, 0.0))),
        Joint(name="B1", parent="coupler", child="right", a=Pose(position=(L, 0.0, 0.0)), b=tip),
    )
    return Model(name="four-bar", world=world(0, -p["g_m_s2"], 0), bodies=bodies, joints=joints)
