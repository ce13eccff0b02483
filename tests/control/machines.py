"""Machines of which the linear equations are known in closed form."""

import kinetostat as ks


def cart_pole(M, m, l, J, g, b=0.0):
    """Cart along x, pole about y; its angle from upright, positive to +x."""
    return ks.Model(
        name="cart_pole",
        world=ks.World(gravity=ks.Gravity(acceleration=(0.0, 0.0, -g))),
        bodies=(
            ks.Body(name="cart", mass=M),
            ks.Body(name="pole", mass=m, center_of_mass=(0.0, 0.0, l), inertia=ks.Inertia(ixx=J, iyy=J, izz=0.0)),
        ),
        frames=(ks.Frame(name="tip", parent="pole", pose=ks.Pose(position=(0.0, 0.0, 2.0 * l))),),
        joints=(
            ks.Joint(name="x", kind="prismatic", parent="world", child="cart", axis=(1.0, 0.0, 0.0), damping=b),
            ks.Joint(name="th", kind="revolute", parent="cart", child="pole", axis=(0.0, 1.0, 0.0)),
        ),
    )


def mass_chain(masses, stiffness, damping):
    """Masses along x, each held to the one before, the first to the ground."""
    bodies, joints, forces = [], [], []
    for i, mass in enumerate(masses):
        bodies.append(ks.Body(name=f"m{i}", mass=mass))
        joints.append(ks.Joint(name=f"x{i}", kind="prismatic", parent="world", child=f"m{i}", axis=(1.0, 0.0, 0.0)))
        law = f"{stiffness[i]}*x{i} + {damping[i]}*x{i}.v"
        if i:
            law = f"{stiffness[i]}*(x{i} - x{i - 1}) + {damping[i]}*(x{i}.v - x{i - 1}.v)"
            forces.append(ks.Force(name=f"back{i}", kind="joint", joint=f"x{i - 1}", law=f"-({law})"))
        forces.append(ks.Force(name=f"spring{i}", kind="joint", joint=f"x{i}", law=law))
    return ks.Model(name="chain", bodies=tuple(bodies), joints=tuple(joints), forces=tuple(forces))


def pendulum(n, length=0.4, mass=0.8):
    """n rods that hang, joints about y; relative angles."""
    J = mass * length**2 / 12.0
    bodies = tuple(
        ks.Body(
            name=f"l{i}", mass=mass, center_of_mass=(0.0, 0.0, -0.5 * length), inertia=ks.Inertia(ixx=J, iyy=J, izz=0.0)
        )
        for i in range(n)
    )
    joints = tuple(
        ks.Joint(
            name=f"j{i}",
            parent=f"l{i - 1}" if i else "world",
            child=f"l{i}",
            a=ks.Pose(position=(0.0, 0.0, -length if i else 0.0)),
            axis=(0.0, 1.0, 0.0),
        )
        for i in range(n)
    )
    end = ks.Frame(name="end", parent=f"l{n - 1}", pose=ks.Pose(position=(0.0, 0.0, -length)))
    return ks.Model(name="pendulum", bodies=bodies, joints=joints, frames=(end,))
