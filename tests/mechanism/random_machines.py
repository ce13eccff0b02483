"""Random trees of any joint kinds for tests, and random states of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.mechanism import Mechanism
from core.model import JOINT_KINDS, Body, Frame, Gravity, Inertia, Joint, Model, Pose, World

MOVING = tuple(kind for kind in JOINT_KINDS if kind != "fixed")


def vector(rng: np.random.Generator, size: float = 1.0) -> tuple[float, float, float]:
    x, y, z = rng.uniform(-size, size, 3)
    return float(x), float(y), float(z)


def direction(rng: np.random.Generator) -> tuple[float, float, float]:
    x = rng.normal(size=3)
    a, b, c = x / np.linalg.norm(x)
    return float(a), float(b), float(c)


def pose(rng: np.random.Generator) -> Pose:
    return Pose(position=vector(rng, 0.4), rotation=vector(rng, 1.5))


def body(rng: np.random.Generator, name: str) -> Body:
    """A body whose inertia a rigid body can have."""
    points = rng.normal(size=(6, 3)) * 0.2
    tensor = sum(np.dot(p, p) * np.eye(3) - np.outer(p, p) for p in points) * 0.3
    return Body(
        name=name,
        mass=float(rng.uniform(0.4, 3.0)),
        center_of_mass=vector(rng, 0.2),
        inertia=Inertia(
            ixx=float(tensor[0, 0]),
            iyy=float(tensor[1, 1]),
            izz=float(tensor[2, 2]),
            ixy=float(tensor[0, 1]),
            ixz=float(tensor[0, 2]),
            iyz=float(tensor[1, 2]),
        ),
    )


def tree(
    seed: int, kinds: Sequence[str] = (*MOVING, "fixed"), count: int = 6, *, chain: bool = False, **joint: float
) -> Model:
    """A random tree; joint i carries body i and has one of the kinds. Some joints are drawn child → parent."""
    rng = np.random.default_rng(seed)
    bodies, joints = [], []
    for i in range(count):
        bodies.append(body(rng, f"b{i}"))
        inner = "world" if i == 0 else f"b{i - 1 if chain else rng.integers(-1, i)}"
        inner = "world" if inner == "b-1" else inner
        kind = kinds[i % len(kinds)] if chain else str(rng.choice(kinds))
        ends = (inner, f"b{i}")
        if not chain and rng.random() < 0.3:
            ends = (f"b{i}", inner)
        joints.append(
            Joint(
                name=f"j{i}",
                kind=kind,
                parent=ends[0],
                child=ends[1],
                a=pose(rng),
                b=pose(rng),
                axis=direction(rng),
                second_axis=direction(rng),
                pitch=float(rng.uniform(-0.5, 0.5)),
                **joint,
            )
        )
    frames = (
        Frame(name="tip", parent=f"b{count - 1}", pose=pose(rng)),
        Frame(name="tipper", parent="tip", pose=pose(rng)),
    )
    gravity = Gravity(acceleration=vector(rng, 10.0))
    return Model(
        name=f"tree{seed}", world=World(gravity=gravity), bodies=tuple(bodies), joints=tuple(joints), frames=frames
    )


def state(mech: Mechanism, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q on the manifold, v, and another vector of speeds."""
    rng = np.random.default_rng(seed + 1000)
    return mech.random(rng), rng.normal(size=mech.nv), rng.normal(size=mech.nv)
