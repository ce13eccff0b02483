"""Random closed loops of every listed type: drawn closed, permuted, turned round, cut anywhere, coupled."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.spatial.transform import Rotation

from core.model import Body, Gravity, Inertia, Joint, Model, Pose, World

PLANAR = ("RRR", "RRP", "RPR", "PRR", "RPP", "PRP", "PPR")
SPATIAL = ("SSR", "RSS", "SRS", "SSP", "SPS", "USR", "URS", "SUR", "USP", "UPS", "SUP")
BALLS = ("QSR", "USQ", "QUR", "UPQ", "TSR", "UQP")
"""Q: three revolutes through a point; T: two revolutes that meet instead of a universal joint."""
OTHERS = ("DDD", "SCR", "SRC")
"""D: revolutes through one point; C parallel to R: revolutes and a slide, all parallel, and a ball."""


def matrix(rotation, position):
    X = np.eye(4)
    X[:3, :3] = rotation
    X[:3, 3] = position
    return X


def frame(rng, z, position):
    """A frame at a point with this z, turned at random about it."""
    z = np.asarray(z) / np.linalg.norm(z)
    x = np.cross(z, rng.normal(size=3))
    x /= np.linalg.norm(x)
    return matrix(np.column_stack([x, np.cross(z, x), z]), position)


def pose(X):
    angles = Rotation.from_matrix(X[:3, :3]).as_euler("xyz")
    return Pose(position=tuple(map(float, X[:3, 3])), rotation=tuple(map(float, angles)))


def rigid(rng, name):
    points = rng.normal(size=(6, 3)) * 0.15
    I = sum(np.dot(p, p) * np.eye(3) - np.outer(p, p) for p in points) * 0.3
    inertia = Inertia(
        ixx=float(I[0, 0]),
        iyy=float(I[1, 1]),
        izz=float(I[2, 2]),
        ixy=float(I[0, 1]),
        ixz=float(I[0, 2]),
        iyz=float(I[1, 2]),
    )
    return Body(
        name=name,
        mass=float(rng.uniform(0.5, 2.0)),
        inertia=inertia,
        center_of_mass=tuple(map(float, rng.normal(size=3) * 0.1)),
    )


class Builder:
    """Bodies where they are when everything is closed, and joints that fit there at zero."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.where = {"world": np.eye(4)}
        self.bodies, self.joints = [], []
        self.normal = self.rng.normal(size=3)
        self.normal /= np.linalg.norm(self.normal)

    def body(self):
        name = f"b{len(self.bodies)}"
        R = Rotation.random(random_state=int(self.rng.integers(1 << 30))).as_matrix()
        self.where[name] = matrix(R, self.rng.normal(size=3) * 0.3)
        self.bodies.append(rigid(self.rng, name))
        return name

    def joint(self, kind, one, two, X, second=(0.0, 1.0, 0.0), **more):
        """A joint at the world frame X, drawn in either direction."""
        turned = self.rng.random() < 0.5
        parent, child = (two, one) if turned else (one, two)
        a, b = (pose(np.linalg.inv(self.where[side]) @ X) for side in (parent, child))
        name = f"j{len(self.joints)}"
        self.joints.append(
            Joint(name=name, kind=kind, parent=parent, child=child, a=a, b=b, second_axis=second, **more)
        )
        return name

    def point(self, size=1.0):
        return self.rng.uniform(-size, size, 3)

    def in_plane(self):
        v = self.rng.normal(size=3)
        v -= self.normal * (v @ self.normal)
        return v / np.linalg.norm(v)

    def add(self, letter, one, two, centre):
        """One joint, or the joints that stand for it; their names."""
        rng, n = self.rng, self.normal
        if letter == "r":
            return [self.joint("revolute", one, two, frame(rng, n, self.point()))]
        if letter == "p":
            return [self.joint("prismatic", one, two, frame(rng, self.in_plane(), self.point()))]
        if letter == "d":
            return [self.joint("revolute", one, two, frame(rng, rng.normal(size=3), centre))]
        simple = {"R": "revolute", "P": "prismatic", "S": "spherical"}
        if letter in simple:
            return [self.joint(simple[letter], one, two, frame(rng, rng.normal(size=3), self.point()))]
        if letter in "Cc":
            kind = "cylindrical" if letter == "C" else "revolute"
            return [self.joint(kind, one, two, frame(rng, n, self.point()))]
        if letter == "U":
            second = tuple(map(float, rng.normal(size=3)))
            return [self.joint("universal", one, two, frame(rng, rng.normal(size=3), self.point()), second)]
        middle = [self.body() for _ in range(1 if letter == "T" else 2)]
        p, stops = self.point(), [one, *middle, two]
        return [self.joint("revolute", i, o, frame(rng, rng.normal(size=3), p)) for i, o in itertools.pairwise(stops)]

    def loop(self, letters, start="world", end="world", centre=(0.0, 0.0, 0.0)):
        """A chain of joints from one body to another; the groups of names and the bodies between."""
        stops = [start, *(self.body() for _ in letters[1:]), end]
        names = [
            self.add(letter, one, two, np.asarray(centre))
            for letter, one, two in zip(letters, stops, stops[1:], strict=False)
        ]
        return names, stops

    def model(self, cut=None, name="loops"):
        joints = [j if j.name != cut else Joint(**{**vars(j), "cut": "yes"}) for j in self.joints]
        self.rng.shuffle(joints)
        gravity = Gravity(acceleration=tuple(map(float, self.rng.normal(size=3) * 5)))
        return Model(name=name, world=World(gravity=gravity), bodies=tuple(self.bodies), joints=tuple(joints))


def letters_of(kind):
    """Letters of the joints of a type: small ones are parallel to a common normal, or lie across it, or meet."""
    if kind in PLANAR:
        return kind.lower()
    if kind == "DDD":
        return "ddd"
    return kind.replace("R", "c") if "C" in kind else kind


def driver_of(kind):
    """A joint that, with the type, makes a loop of one freedom."""
    return {True: "r", False: "R"}[kind in PLANAR] if kind != "DDD" else "d"


def single(kind, seed):
    """A driven joint and one assembly, anywhere in the loop, cut at any joint of the assembly."""
    builder = Builder(seed)
    rng = builder.rng
    letters = driver_of(kind) + letters_of(kind)
    shift = int(rng.integers(len(letters)))
    letters = letters[shift:] + letters[:shift]
    names, _ = builder.loop(letters, centre=builder.point(0.3))
    driver = names[(len(letters) - shift) % len(letters)][0]
    others = [name for group in names for name in group if name != driver]
    cut = None if rng.random() < 0.3 else str(rng.choice(others))
    return builder.model(cut, kind), driver


def coupled(kinds, seed):
    """A loop with a driver, and further assemblies between any two bodies that are there: each closes a loop more."""
    builder = Builder(seed)
    rng = builder.rng
    names, stops = builder.loop(driver_of(kinds[0]) + letters_of(kinds[0]))
    level = ["world", *stops[1:-1]]
    bodies, others = list(level), list(names[1:])
    for kind in kinds[1:]:
        among = level if kind in PLANAR else bodies
        start, end = rng.choice(len(among), 2, replace=False)
        names_, stops_ = builder.loop(letters_of(kind), among[start], among[end])
        bodies += stops_[1:-1]
        if kind in PLANAR:
            level += stops_[1:-1]
        others += names_
    cut = str(rng.choice([name for group in others for name in group]))
    return builder.model(cut if rng.random() < 0.7 else None, "+".join(kinds)), names[0][0]
