"""Machines whose mobility cannot be counted, drawn in space with joints as workshops have them.

Bodies' frames lie in the world's origin in the drawn pose, so joints are given by points and axes in the world.
"""

import json
from pathlib import Path

import numpy as np

from core.model import Body, Inertia, Joint, Limit, Mimic, Model, Pose

ROD = Inertia(ixx=0.01, iyy=0.01, izz=0.01)
REFERENCE = Path(__file__).parents[2] / "reference"


def body(name):
    return Body(name=name, mass=1.0, inertia=ROD)


def joint(name, kind, parent, child, point, axis=(0.0, 0.0, 1.0), **more):
    place = Pose(position=tuple(map(float, point)))
    return Joint(
        name=name, kind=kind, parent=parent, child=child, a=place, b=place, axis=tuple(map(float, axis)), **more
    )


def machine(name, *joints):
    bodies = dict.fromkeys(side for j in joints for side in (j.parent, j.child) if side != "world")
    return Model(name=name, bodies=tuple(map(body, bodies)), joints=joints)


def ring(name, kinds, points, axes):
    """A single loop of joints J1 … Jn from the world round to the world."""
    n = len(kinds)
    bodies = ["world", *(f"link{i}" for i in range(1, n)), "world"]
    return machine(
        name, *(joint(f"J{i + 1}", kinds[i], bodies[i], bodies[i + 1], points[i], axes[i]) for i in range(n))
    )


def planar_fourbar(axis=(0.0, 0.0, 1.0)):
    points = np.array([(0.0, 0.0, 0.0), (0.1, 1.0, 0.0), (2.0, 1.5, 0.0), (2.2, 0.0, 0.0)])
    return ring("fourbar", ["revolute"] * 4, points @ _turn(axis).T, [axis] * 4)


def _turn(axis):
    z = np.array(axis) / np.linalg.norm(axis)
    x = np.cross((0.3, 0.8, 0.5), z)
    x /= np.linalg.norm(x)
    return np.eye(3) if abs(z[2]) == 1.0 else np.column_stack([x, np.cross(z, x), z])


def slider_crank():
    points = [(0.0, 0.0, 0.0), (0.1, 0.2, 0.0), (0.7, 0.0, 0.0), (0.7, 0.0, 0.0)]
    return ring("slider_crank", ["revolute"] * 3 + ["prismatic"], points, [(0, 0, 1)] * 3 + [(1, 0, 0)])


def bennett(a=1.0, alpha=0.6, b=0.7):
    """Opposite links alike, a / sin α = b / sin β (Bennett 1903); a closed pose by the angle at J1."""
    beta = np.arcsin(b * np.sin(alpha) / a)
    theta = 1.0
    # tan(θ1/2) tan(θ2/2) = sin((β+α)/2) / sin((β−α)/2), angles θ3 = 2π − θ1, θ4 = 2π − θ2 (Denavit–Hartenberg)
    other = 2.0 * np.arctan(np.sin(0.5 * (beta + alpha)) / np.sin(0.5 * (beta - alpha)) / np.tan(0.5 * theta))
    X, points, axes = np.eye(4), [], []
    for angle, length, twist in ((theta, a, alpha), (other, b, beta), (-theta, a, alpha), (-other, b, beta)):
        points.append(X[:3, 3].copy())
        axes.append(X[:3, 2].copy())
        X = X @ dh(angle, length, twist)
    assert np.allclose(X, np.eye(4), atol=1e-12)
    return ring("bennett", ["revolute"] * 4, points, axes)


def dh(theta, a, alpha):
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, 0], [0, 0, 0, 1]])


def sarrus():
    """Two folding pairs of plates at right angles guide the upper plate straight up."""
    x, y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    points = [(0, 1, 0), (0, 1.6, 0.8), (0, 1, 1.6), (1, 0, 1.6), (1.6, 0, 0.8), (1, 0, 0)]
    return ring("sarrus", ["revolute"] * 6, points, [x, x, x, y, y, y])


def bricard_reference():
    """IFToMM A04."""
    data = json.loads((REFERENCE / "iftomm_A04_bricard.json").read_text())
    axes = data["parameters"]["joint_axes_world_initial"]
    return ring("bricard", ["revolute"] * 6, data["parameters"]["points_initial"], axes), data["reference"]


def bricard_plane_symmetric():
    """Six revolutes, mirror images in the plane y = 0 (Bricard 1927)."""
    half = [((-0.9, 0.6, 0.2), (0.3, 0.5, 0.9)), ((0.1, 1.1, -0.3), (0.8, 0.1, 0.4))]
    mirror = np.array([1.0, -1.0, 1.0])
    # the axes of J1 and J4 lie in the plane; a mirrored axis is the mirror image of the line
    first, last = ((-1.2, 0.0, 0.0), (0.2, 0.0, 1.0)), ((1.0, 0.0, 0.1), (0.5, 0.0, 0.7))
    lines = [first, *half, last, *((p * mirror, d * mirror) for p, d in (map(np.array, line) for line in half[::-1]))]
    return ring("bricard_plane", ["revolute"] * 6, [p for p, _ in lines], [d for _, d in lines])


def cardan_shaft():
    """Two universal joints with a sliding middle shaft between parallel shafts."""
    return machine(
        "cardan",
        joint("bearing1", "revolute", "world", "input", (0, 0, 0), (1, 0, 0)),
        joint("joint1", "universal", "input", "tube", (0.3, 0, 0), (0, 1, 0), second_axis=(0.0, 0.0, 1.0)),
        joint("slip", "prismatic", "tube", "fork", (0.8, 0, 0), (1, 0, 0)),
        joint("joint2", "universal", "fork", "output", (1.3, 0, 0), (0, 1, 0), second_axis=(0.0, 0.0, 1.0)),
        joint("bearing2", "revolute", "world", "output", (1.6, 0, 0), (1, 0, 0)),
    )


def stewart(lower="universal", upper="spherical"):
    """Six legs between the points of the reference platform."""
    data = json.loads((REFERENCE / "stewart_platform.json").read_text())["parameters"]
    base, top = np.array(data["base_points"]), np.array(data["platform_points"]) + data["trajectory"]["c"]
    joints = []
    for i, (p, r) in enumerate(zip(base, top, strict=True), 1):
        along = (r - p) / np.linalg.norm(r - p)
        first = np.cross(along, (0.1, 0.2, 1.0))
        first /= np.linalg.norm(first)
        second = tuple(map(float, np.cross(along, first)))
        joints += [
            joint(f"base{i}", lower, "world", f"lower{i}", p, first, second_axis=second),
            joint(f"leg{i}", "prismatic", f"lower{i}", f"upper{i}", 0.5 * (p + r), along),
            joint(f"top{i}", upper, f"upper{i}", "platform", r),
        ]
    return machine("stewart", *joints)


def parallelogram(cranks=3):
    """A coupler on several equal parallel cranks."""
    joints = []
    for i in range(1, cranks + 1):
        joints += [
            joint(f"foot{i}", "revolute", "world", f"crank{i}", (i, 0, 0)),
            joint(f"head{i}", "revolute", f"crank{i}", "coupler", (i + 0.3, 1.0, 0)),
        ]
    return machine("parallelogram", *joints)


def double_parallel():
    """Two four-bar parallelograms one above the other, the upper plate on the lower one's coupler."""
    joints = []
    for level, (below, above) in enumerate((("world", "middle"), ("middle", "top"))):
        for i in (1, 2):
            arm = f"arm{level}{i}"
            foot = (i + 0.3 * level, level, 0.0)
            head = (i + 0.3 * (level + 1), level + 1, 0.0)
            joints += [
                joint(f"foot{level}{i}", "revolute", below, arm, foot),
                joint(f"head{level}{i}", "revolute", arm, above, head),
            ]
    return machine("double_parallel", *joints)


def truss(bars=3, flat=False):
    """Planar triangle frame: a point held by bars to the ground, pins between."""
    feet = [(0.0, 0.0), (2.0, 0.0), (1.0, -1.0), (0.4, 2.2)][:bars]
    top = np.array((1.0, 0.0 if flat else 1.0, 0.0))
    joints = []
    for i, foot in enumerate(feet, 1):
        joints.append(joint(f"foot{i}", "revolute", "world", f"bar{i}", (*foot, 0.0)))
    for i in range(2, bars + 1):
        joints.append(joint(f"knot{i}", "revolute", "bar1", f"bar{i}", top))
    return machine("truss", *joints)


def geared():
    """Two wheels on a carrier, geared, and their axles' distance held twice."""
    return machine(
        "geared",
        joint("axle1", "revolute", "world", "wheel1", (0, 0, 0)),
        joint("axle2", "revolute", "world", "wheel2", (1, 0, 0), mimic=Mimic(leader="axle1", ratio=-2.0)),
        joint("pin1", "revolute", "wheel1", "rod", (0.2, 0.1, 0)),
        joint("block", "revolute", "rod", "slide", (0.8, 0.3, 0)),
        joint(
            "guide", "prismatic", "wheel2", "slide", (0.8, 0.3, 0), (1, 0, 0), limits=(Limit(lower=-5.0, upper=5.0),)
        ),
    )


def engine(cylinders=6):
    """A crankshaft with so many slider-cranks in planes behind one another, in a V."""
    joints = [joint("bearing", "revolute", "world", "crank", (0, 0, 0), (0, 1, 0))]
    for i in range(cylinders):
        y, turn = np.array((0.0, 0.1 * i, 0.0)), 2.0 * np.pi * i / 3.0
        pin = 0.05 * np.array((np.cos(turn), 0.0, np.sin(turn)))
        along = np.array((np.sin((-1) ** i * np.pi / 4.0), 0.0, np.cos(np.pi / 4.0)))
        foot = float(pin @ along)
        top = along * (foot + np.sqrt(0.15**2 - (pin @ pin - foot**2)))
        joints += [
            joint(f"big{i + 1}", "revolute", "crank", f"rod{i + 1}", pin + y, (0, 1, 0)),
            joint(f"small{i + 1}", "revolute", f"rod{i + 1}", f"piston{i + 1}", top + y, (0, 1, 0)),
            joint(f"cylinder{i + 1}", "prismatic", "world", f"piston{i + 1}", top + y, along),
        ]
    return machine("engine", *joints)
