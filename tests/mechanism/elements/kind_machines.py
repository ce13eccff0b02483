"""Machines on which every kind of force, constraint and driver can act: a random tree, and one with a loop."""

from __future__ import annotations

import dataclasses

import numpy as np

from core.mechanism import Mechanism
from core.model import Gravity, Joint, Model, Sensor, World
from tests.mechanism import random_machines as machines

KINDS = ("revolute", "universal", "spherical", "prismatic", "revolute")
SHAPES = ("tree", "loop")


def machine(shape: str, seed: int) -> Model:
    """A chain of five bodies with sensors between `b0` and `tip`; as a loop its end is guided along a line of b0."""
    rng = np.random.default_rng(seed)
    model = machines.tree(seed, KINDS, len(KINDS), chain=True)
    sensors = tuple(
        Sensor(name=kind, kind=kind, a="b0", b="tip", axis=machines.direction(rng), axis_b=machines.direction(rng))
        for kind in ("distance", "angle", "point_plane", "position", "orientation")
    )
    joints = model.joints
    if shape == "loop":
        guide = Joint(
            name="guide",
            kind="cylindrical",
            parent="b0",
            child="b4",
            a=machines.pose(rng),
            b=machines.pose(rng),
            cut="yes",
        )
        joints = (*joints, guide)
    return dataclasses.replace(model, sensors=sensors, joints=joints)


def floating(seed: int) -> Model:
    """The same chain without ground and gravity: what acts inside of it changes neither momentum."""
    model = machine("tree", seed)
    first = dataclasses.replace(model.joints[0], kind="free")
    return dataclasses.replace(model, joints=(first, *model.joints[1:]), world=World(gravity=Gravity(kind="none")))


def state(mech: Mechanism, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A position that closes the loop, and speeds that keep it closed."""
    rng = np.random.default_rng(seed + 500)
    q = mech.random(rng)
    v = rng.normal(size=mech.nv)
    if mech.constrained:
        q = mech.assemble(q)
        G = mech.constraint_jacobian(q)
        v = v - np.linalg.pinv(G) @ (G @ v)
    return np.asarray(q), v
