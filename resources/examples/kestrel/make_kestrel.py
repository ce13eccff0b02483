"""Makes the Kestrel arm: the meshes of its links, its inertias, its URDF.

    python resources/examples/kestrel/make_kestrel.py

Kestrel is no machine one can buy; it was drawn for Kinetostat and may be used like the program itself. At zero its
upper arm stands upright, its forearm points along x, and every link's frame is parallel to the world's. A casting is
the convex hull of discs with rounded edges; a link's mass is spread evenly over the volume of its parts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import trimesh
from trimesh import Trimesh

FOLDER = Path(__file__).parent
AXES = {"x": (0.0, math.pi / 2, 0.0), "y": (-math.pi / 2, 0.0, 0.0), "z": (0.0, 0.0, 0.0)}
COLORS = {
    "casting": (0.90, 0.90, 0.88),
    "cover": (0.33, 0.36, 0.41),
    "accent": (0.05, 0.58, 0.60),
    "steel": (0.66, 0.69, 0.72),
}
Point = tuple[float, float, float]


# ------------------------------------------------------------------------------------ building blocks


def disc(axis: str, centre: Point, radius: float, length: float, fillet: float = 0.008, sides: int = 44) -> Trimesh:
    """A disc about an axis through its centre with rounded edges; m."""
    half = length / 2
    fillet = min(fillet, half, radius)
    arc = np.linspace(0.0, math.pi / 2, 5)
    lower = [(radius - fillet + fillet * math.sin(t), -half + fillet - fillet * math.cos(t)) for t in arc]
    upper = [(r, -z) for r, z in reversed(lower)]
    profile = [(0.0, -half), *lower, *upper, (0.0, half)]
    mesh = trimesh.creation.revolve(np.array(profile), sections=sides)
    mesh.apply_transform(trimesh.transformations.euler_matrix(*AXES[axis]))
    mesh.apply_translation(centre)
    return mesh


def hull(*parts: Trimesh) -> Trimesh:
    """The casting that wraps the parts."""
    return trimesh.util.concatenate(parts).convex_hull


def block(centre: Point, size: Point, fillet: float = 0.012) -> Trimesh:
    """A box with rounded upright edges."""
    x, y = size[0] / 2 - fillet, size[1] / 2 - fillet
    corners = [(sx * x + centre[0], sy * y + centre[1], centre[2]) for sx in (-1, 1) for sy in (-1, 1)]
    return hull(*(disc("z", corner, fillet, size[2], fillet=fillet / 2, sides=20) for corner in corners))


def bolts(axis: str, centre: Point, circle: float, count: int, radius: float = 0.005, height: float = 0.005) -> Trimesh:
    """Bolt heads evenly on a circle about an axis."""
    turn = trimesh.transformations.euler_matrix(*AXES[axis])[:3, :3]
    heads = []
    for k in range(count):
        angle = 2 * math.pi * (k + 0.5) / count
        place = turn @ (circle * math.cos(angle), circle * math.sin(angle), 0.0) + centre
        heads.append(disc(axis, tuple(place), radius, height, fillet=0.001, sides=10))
    return trimesh.util.concatenate(heads)


# -------------------------------------------------------------------------------------------- links


@dataclass
class Link:
    """A link: mass in kg and parts by colour, in the link's frame."""

    name: str
    mass: float
    parts: dict[str, list[Trimesh]] = field(default_factory=dict)

    def add(self, color: str, *parts: Trimesh) -> None:
        """Put parts of a colour on the link."""
        self.parts.setdefault(color, []).extend(parts)

    def mass_properties(self) -> tuple[np.ndarray, np.ndarray]:
        """Centre of mass (3,) in m and inertia (3, 3) about it in kg·m², from the volumes of all parts."""
        parts = [part for group in self.parts.values() for part in group]
        density = self.mass / sum(part.volume for part in parts)
        centre = sum(part.volume * part.center_mass for part in parts) * density / self.mass
        inertia = np.zeros((3, 3))
        for part in parts:
            offset = part.center_mass - centre
            steiner = part.volume * (offset @ offset * np.eye(3) - np.outer(offset, offset))
            inertia += density * (part.moment_inertia + steiner)
        return centre, inertia


def base() -> Link:
    """Foot, pedestal, plug panel."""
    link = Link("base_link", 18.0)
    link.add("casting", hull(disc("z", (0, 0, 0.05), 0.128, 0.05), disc("z", (0, 0, 0.135), 0.106, 0.03)))
    link.add("casting", block((-0.125, 0, 0.078), (0.11, 0.15, 0.10)))
    link.add("cover", block((0, 0, 0.0125), (0.30, 0.27, 0.025), 0.03))
    link.add("cover", disc("z", (0, 0, 0.157), 0.112, 0.018, 0.004))
    link.add("cover", disc("x", (-0.185, -0.035, 0.085), 0.019, 0.02), disc("x", (-0.185, 0.03, 0.085), 0.025, 0.02))
    for x in (-0.12, 0.12):
        for y in (-0.105, 0.105):
            link.add("steel", disc("z", (x, y, 0.028), 0.011, 0.012, 0.002, 20))
    return link


def turret() -> Link:
    """Turns about joint 1, carries the shoulder bearing and two motors."""
    link = Link("link1", 11.0)
    foot = disc("z", (-0.005, 0, 0.028), 0.108, 0.05)
    link.add("casting", hull(foot, disc("y", (0.07, 0, 0.20), 0.082, 0.125, 0.012)))
    link.add(
        "cover", disc("y", (0.07, -0.105, 0.20), 0.064, 0.10, 0.016), disc("z", (-0.085, 0, 0.13), 0.048, 0.17, 0.014)
    )
    link.add("accent", disc("y", (0.07, 0.064, 0.20), 0.078, 0.012, 0.002))
    link.add("steel", bolts("y", (0.07, -0.157, 0.20), 0.048, 6))
    return link


def upper_arm() -> Link:
    """Between shoulder and elbow, on the left side of both."""
    link = Link("link2", 8.0)
    y = 0.104
    low, high = disc("y", (0, y, 0), 0.086, 0.064, 0.014), disc("y", (0, y, 0.34), 0.070, 0.058, 0.014)
    web = hull(disc("y", (0, y, 0.0), 0.066, 0.046, 0.016), disc("y", (0, y, 0.34), 0.052, 0.042, 0.016))
    link.add("casting", low, high, web)
    link.add(
        "cover", disc("y", (0, y + 0.034, 0), 0.062, 0.012, 0.004), disc("y", (0, y + 0.031, 0.34), 0.050, 0.012, 0.004)
    )
    link.add("steel", bolts("y", (0, y + 0.041, 0), 0.049, 8), bolts("y", (0, y + 0.038, 0.34), 0.039, 8, 0.004))
    link.add("accent", disc("y", (0, 0.0715, 0.34), 0.058, 0.010, 0.002))
    return link


def elbow() -> Link:
    """Turns about joint 3; behind it the motors of the wrist."""
    link = Link("link3", 7.0)
    link.add(
        "casting",
        hull(
            disc("y", (0, 0, 0), 0.068, 0.125, 0.014),
            disc("y", (0.01, 0, 0.045), 0.066, 0.120, 0.014),
            disc("x", (0.100, 0, 0.05), 0.058, 0.02, 0.006),
        ),
        hull(disc("x", (-0.05, 0, 0.05), 0.060, 0.02), disc("x", (-0.085, 0, 0.05), 0.052, 0.02)),
    )
    link.add("cover", disc("y", (0, -0.075, 0), 0.056, 0.036, 0.012))
    for y, z, radius, length in (
        (0.022, 0.052, 0.024, 0.085),
        (-0.024, 0.062, 0.019, 0.075),
        (-0.018, 0.026, 0.017, 0.065),
    ):
        link.add("cover", disc("x", (-0.125, y, z), radius, length, 0.007))
    link.add("accent", disc("x", (0.114, 0, 0.05), 0.0555, 0.012, 0.002))
    return link


def forearm() -> Link:
    """Turns about joint 4 and ends in a fork."""
    link = Link("link4", 4.5)
    link.add("casting", hull(disc("x", (0.011, 0, 0), 0.055, 0.022), disc("x", (0.140, 0, 0), 0.044, 0.02)))
    for side in (-1, 1):
        root = disc("y", (0.135, side * 0.036, 0), 0.036, 0.022, 0.007)
        link.add("casting", hull(root, disc("y", (0.23, side * 0.045, 0), 0.034, 0.02, 0.007)))
        link.add("cover", disc("y", (0.23, side * 0.057, 0), 0.025, 0.008, 0.003))
        link.add("steel", bolts("y", (0.23, side * 0.0615, 0), 0.018, 6, 0.0025, 0.003))
    return link


def wrist() -> Link:
    """Turns about joint 5 inside the fork."""
    link = Link("link5", 1.4)
    link.add("casting", hull(disc("y", (0, 0, 0), 0.033, 0.066, 0.006), disc("x", (0.045, 0, 0), 0.032, 0.02, 0.004)))
    link.add("accent", disc("x", (0.0585, 0, 0), 0.0305, 0.009, 0.002))
    return link


def flange() -> Link:
    """Tool flange, turns about joint 6."""
    link = Link("link6", 0.25)
    link.add("cover", disc("x", (-0.004, 0, 0), 0.0315, 0.016, 0.003))
    link.add(
        "steel", disc("x", (0.006, 0, 0), 0.0285, 0.008, 0.001), bolts("x", (0.0105, 0, 0), 0.021, 6, 0.0028, 0.002)
    )
    return link


LINKS = (base, turret, upper_arm, elbow, forearm, wrist, flange)

# name, parent, child, origin of the child in the parent (m), axis, range (degrees), speed (degrees/s), torque (N·m)
JOINTS = (
    ("joint1", "base_link", "link1", (0.0, 0.0, 0.17), (0, 0, 1), (-170, 170), 250, 220.0),
    ("joint2", "link1", "link2", (0.07, 0.0, 0.20), (0, 1, 0), (-95, 135), 220, 220.0),
    ("joint3", "link2", "link3", (0.0, 0.0, 0.34), (0, 1, 0), (-150, 70), 260, 110.0),
    ("joint4", "link3", "link4", (0.12, 0.0, 0.05), (1, 0, 0), (-190, 190), 400, 40.0),
    ("joint5", "link4", "link5", (0.23, 0.0, 0.0), (0, 1, 0), (-120, 120), 360, 26.0),
    ("joint6", "link5", "link6", (0.075, 0.0, 0.0), (1, 0, 0), (-360, 360), 500, 14.0),
)
TOOL = (0.010, 0.0, 0.0)


# --------------------------------------------------------------------------------------------- URDF


def numbers(values: object) -> str:
    """Six significant digits, blank between."""
    return " ".join(f"{value:.6g}" for value in np.ravel(values) + 0.0)


def link_text(link: Link) -> list[str]:
    """The `link` element."""
    centre, tensor = link.mass_properties()
    entries = {
        "ixx": tensor[0, 0],
        "ixy": tensor[0, 1],
        "ixz": tensor[0, 2],
        "iyy": tensor[1, 1],
        "iyz": tensor[1, 2],
        "izz": tensor[2, 2],
    }
    entries = {key: 0.0 if abs(value) < 1e-9 else value for key, value in entries.items()}
    centre = np.where(abs(centre) < 1e-9, 0.0, centre)
    lines = [
        f'  <link name="{link.name}">',
        "    <inertial>",
        f'      <origin xyz="{numbers(centre)}"/>',
        f'      <mass value="{link.mass:g}"/>',
        "      <inertia " + " ".join(f'{key}="{value:.6g}"' for key, value in entries.items()) + "/>",
        "    </inertial>",
    ]
    for color in link.parts:
        lines += [
            "    <visual>",
            f'      <geometry><mesh filename="package://kestrel/meshes/{link.name}_{color}.stl"/></geometry>',
            f'      <material name="{color}"/>',
            "    </visual>",
        ]
    return [*lines, "  </link>"]


def joint_text(row: tuple) -> list[str]:
    """The `joint` element of a row of JOINTS."""
    name, parent, child, origin, axis, (lower, upper), speed, torque = row
    low, high, velocity = (math.radians(x) for x in (lower, upper, speed))
    return [
        f'  <joint name="{name}" type="revolute">',
        f'    <parent link="{parent}"/>',
        f'    <child link="{child}"/>',
        f'    <origin xyz="{numbers(origin)}"/>',
        f'    <axis xyz="{numbers(axis)}"/>',
        f'    <limit lower="{low:.6g}" upper="{high:.6g}" velocity="{velocity:.6g}" effort="{torque:g}"/>',
        '    <dynamics damping="0.1"/>',
        "  </joint>",
    ]


def urdf(links: list[Link]) -> str:
    """The whole file."""
    lines = ['<?xml version="1.0"?>', "<!-- Made by make_kestrel.py. -->", '<robot name="kestrel">']
    for name, rgb in COLORS.items():
        lines.append(f'  <material name="{name}"><color rgba="{numbers(rgb)} 1"/></material>')
    for link in links:
        lines += link_text(link)
    for row in JOINTS:
        lines += joint_text(row)
    lines += ['  <link name="tool0"/>', '  <joint name="tool_joint" type="fixed">', '    <parent link="link6"/>']
    lines += ['    <child link="tool0"/>', f'    <origin xyz="{numbers(TOOL)}"/>', "  </joint>", "</robot>"]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the meshes and the URDF beside this file."""
    links = [make() for make in LINKS]
    for link in links:
        for color, parts in link.parts.items():
            mesh = trimesh.util.concatenate(parts)
            mesh.export(FOLDER / "meshes" / f"{link.name}_{color}.stl")
    (FOLDER / "kestrel.urdf").write_text(urdf(links))


if __name__ == "__main__":
    main()
