"""A four-bar linkage in a vertical plane, and what its crank carries, in closed form."""

import numpy as np

from core.model import Body, Gravity, Inertia, Joint, Limit, Model, Pose, World

CRANK, COUPLER, ROCKER, GROUND, G = 0.2, 0.5, 0.4, 0.6, 9.81
MASSES = (0.5, 0.8, 0.7)


def four_bar(effort=None, **crank):
    """Joints about z, gravity along −y; each bar has its mass in its middle. crank : further fields of that joint"""
    bars = zip(("a", "b", "c"), (CRANK, COUPLER, ROCKER), MASSES, strict=True)
    bodies = tuple(
        Body(name=name, mass=m, center_of_mass=(0.5 * l, 0.0, 0.0), inertia=Inertia(izz=m * l * l / 12.0))
        for name, l, m in bars
    )

    def at(x):
        return Pose(position=(x, 0.0, 0.0))

    B, C = ends(0.9)
    first, last = np.arctan2(*(C - B)[::-1]), np.arctan2(*(C - [GROUND, 0.0])[::-1])
    limits = () if effort is None else (Limit(effort=effort),)
    joints = (
        Joint(name="crank", parent="world", child="a", rest=(0.9,), limits=limits, **crank),
        Joint(name="knee", parent="a", child="b", a=at(CRANK), rest=(float(first - 0.9),)),
        Joint(name="rocker", parent="world", child="c", a=at(GROUND), rest=(float(last),)),
        Joint(name="closing", parent="b", child="c", a=at(COUPLER), b=at(ROCKER)),
    )
    world = World(gravity=Gravity(acceleration=(0.0, -G, 0.0)))
    return Model(name="four_bar", world=world, bodies=bodies, joints=joints)


def ends(angle):
    """The ends of crank and rocker, the latter above the line between them."""
    B = CRANK * np.array([np.cos(angle), np.sin(angle)])
    across = np.array([GROUND, 0.0]) - B
    d = np.linalg.norm(across)
    along = (COUPLER**2 - ROCKER**2 + d * d) / (2.0 * d)
    normal = np.array([-across[1], across[0]]) / d
    return B, B + along * across / d + np.sqrt(COUPLER**2 - along**2) * normal


def ratios(angle):
    """dβ/dθ of the coupler's angle and dγ/dθ of the rocker's: b e(β) + a e(θ) = d + c e(γ), differentiated."""
    B, C = ends(angle)
    coupler, rocker = C - B, C - [GROUND, 0.0]
    turned = np.array([[-coupler[1], rocker[1]], [coupler[0], -rocker[0]]])
    return np.linalg.solve(turned, -np.array([-B[1], B[0]]))


def crank_load(angle):
    """dV/dθ: the torque that holds the crank against gravity."""
    B, C = ends(angle)
    coupler, rocker = ratios(angle)
    heights = (0.5 * B[0], B[0] + 0.5 * coupler * (C - B)[0], 0.5 * rocker * (C[0] - GROUND))
    return G * float(np.dot(MASSES, heights))
