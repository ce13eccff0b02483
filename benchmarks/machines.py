"""The machines that are measured: two arms, and chains of bodies, for Kinetostat, Pinocchio and MuJoCo alike."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.files import load
from core.model import Body, Inertia, Joint, Model, Pose

ARMS = {
    "UR5, 6 joints": "ur_description/urdf/ur5_robot.urdf",
    "Panda, 7 joints and 2 fingers": "panda_description/urdf/panda.urdf",
}
CHAINS = (10, 50, 200, 1000)
PINOCCHIO_LIMIT = 200
"""Bodies up to which Pinocchio is compared: its data grow with the cube of their number."""


class Machine(NamedTuple):
    """A model, and the URDF file it came from (none for chains)."""

    title: str
    bodies: int
    model: Model
    file: Path | None


def robots() -> Path | None:
    """Folder of the package example-robot-data."""
    for entry in map(Path, sys.path):
        folder = entry / "cmeel.prefix/share/example-robot-data/robots"
        if folder.is_dir():
            return folder
    return None


def machines(chains: tuple[int, ...] = CHAINS) -> list[Machine]:
    """Arms and chains."""
    result = []
    folder = robots()
    for title, file in ARMS.items() if folder is not None else ():
        path = folder / file
        model = load(path, mimic=False)
        result.append(Machine(title, sum(j.info.nv > 0 for j in model.joints), model, path))
    return [*result, *(Machine(f"chain of {n}", n, chain(n), None) for n in chains)]


def chain(count: int) -> Model:
    """Revolute joints about random axes, one body behind another."""
    rng = np.random.default_rng(count)
    bodies, joints = [], []
    for i in range(count):
        points = rng.normal(size=(6, 3)) * 0.1
        tensor = sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)
        xx, yy, zz, xy, xz, yz = (float(tensor[k]) for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        inertia = Inertia(ixx=xx, iyy=yy, izz=zz, ixy=xy, ixz=xz, iyz=yz)
        bodies.append(
            Body(name=f"b{i}", mass=float(rng.uniform(0.5, 2.0)), center_of_mass=_three(rng, 0.1), inertia=inertia)
        )
        a = Pose(position=_three(rng, 0.2), rotation=_three(rng, 1.0))
        parent = "world" if i == 0 else f"b{i - 1}"
        joints.append(Joint(name=f"j{i}", parent=parent, child=f"b{i}", a=a, axis=_three(rng, 1.0)))
    return Model(name=f"chain of {count}", bodies=tuple(bodies), joints=tuple(joints))


def _three(rng: np.random.Generator, size: float) -> tuple[float, float, float]:
    x, y, z = rng.uniform(-size, size, 3)
    return float(x), float(y), float(z)
