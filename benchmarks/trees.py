"""Trees of revolute and prismatic joints as other programs take them: one description, from which each makes its model,
so that all have the same machine."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from core.joints import Prismatic, Revolute
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.multibody.topology import build_topology
from core.mechanics.multibody.tree_of_model import build_machine
from core.model import Model
from core.numerics.spatial.inertia import split_inertia


class Part(NamedTuple):
    """One joint, moving about or along z of its own frame, and the rigid body behind it."""

    name: str
    parent: int
    """−1: the world."""
    revolute: bool
    position: Any
    """(3,) of the joint's frame in its parent's, m."""
    rotation: Any
    """(3, 3) parent ← own."""
    mass: float
    center: Any
    """(3,) m"""
    tensor: Any
    """(3, 3) about the centre, kg·m²"""
    index: int
    """Place among the coordinates of this program."""


class Spring(NamedTuple):
    """Spring and damper between points: (part, (3,) place in it) each; N/m, N·s/m, m."""

    ends: tuple[tuple[int, Any], tuple[int, Any]]
    stiffness: float
    damping: float
    rest: float


class Described(NamedTuple):
    """A tree, its springs, and gravity (3,), m/s²."""

    parts: tuple[Part, ...]
    springs: tuple[Spring, ...]
    gravity: Any


def described(model: Model) -> Described:
    """A tree in plain numbers. Raises ValueError for loops, other joints, friction and other forces."""
    topology = build_topology(model)
    machine = build_machine(topology, Numbers(model.expanded.values(), model.origin))
    plain = all(isinstance(link.law, Revolute | Prismatic) and link.coupling is None for link in machine.tree.links)
    rubbing = any(
        link.friction.has_friction or any((link.armature, link.damping, link.stiffness)) for link in machine.tree.links
    )
    if topology.cuts or not plain or rubbing or any(force.kind != "line" for force in model.forces):
        raise ValueError("a tree of frictionless revolute and prismatic joints is needed")
    springs = tuple(
        Spring(
            tuple(_place(machine.frames[name]) for name in (force.a, force.b)),
            float(force.stiffness),
            float(force.damping),
            float(force.rest),
        )
        for force in model.forces
    )
    return Described(
        tuple(map(_part, machine.tree.links)), springs, np.array(machine.tree.gravity.acceleration, dtype=float)
    )


def _place(place: Any) -> tuple[int, Any]:
    return place.link, np.array(place.pose.position, dtype=float)


def _part(link: Any) -> Part:
    mass, center, I = split_inertia(link.inertia)
    tensor = np.array([[I.xx, I.xy, I.xz], [I.xy, I.yy, I.yz], [I.xz, I.yz, I.zz]], dtype=float)
    rotation = np.array(link.placement.rotation, dtype=float)
    return Part(
        link.name,
        link.parent,
        isinstance(link.law, Revolute),
        np.array(link.placement.position, dtype=float),
        rotation,
        float(mass),
        np.array(center, dtype=float),
        tensor,
        link.first_v,
    )


def pinocchio_model(pin: Any, tree: Described) -> tuple[Any, Any]:
    """The tree in Pinocchio, without its springs; (n,) where its coordinates are among ours."""
    theirs, held = pin.Model(), []
    theirs.gravity.linear = tree.gravity
    for part in tree.parts:
        kind = pin.JointModelRZ() if part.revolute else pin.JointModelPZ()
        place = pin.SE3(part.rotation, part.position)
        held.append(theirs.addJoint(0 if part.parent < 0 else held[part.parent], kind, place, part.name))
        theirs.appendBodyToJoint(held[-1], pin.Inertia(part.mass, part.center, part.tensor), pin.SE3.Identity())
    order = np.zeros(len(held), dtype=int)
    for part, joint in zip(tree.parts, held, strict=True):
        order[theirs.joints[joint].idx_v] = part.index
    return theirs, order


def mujoco_model(mujoco: Any, tree: Described, integrator: Any, step: float) -> tuple[Any, Any]:
    """The tree in MuJoCo, without its springs; (n,) where its coordinates are among ours."""
    spec = mujoco.MjSpec()
    spec.option.integrator, spec.option.timestep, spec.option.gravity = integrator, step, list(tree.gravity)
    off = mujoco.mjtDisableBit
    spec.option.disableflags |= int(off.mjDSBL_CONTACT | off.mjDSBL_CONSTRAINT)
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
    spec.compiler.balanceinertia = False
    placed: list[Any] = []
    for part in tree.parts:
        quaternion, above = np.zeros(4), spec.worldbody if part.parent < 0 else placed[part.parent]
        mujoco.mju_mat2Quat(quaternion, part.rotation.ravel())
        I = part.tensor
        body = above.add_body(
            name=part.name,
            pos=part.position,
            quat=quaternion,
            explicitinertial=True,
            mass=part.mass,
            ipos=part.center,
            fullinertia=[I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]],
        )
        kind = mujoco.mjtJoint.mjJNT_HINGE if part.revolute else mujoco.mjtJoint.mjJNT_SLIDE
        body.add_joint(name=part.name, type=kind, axis=[0.0, 0.0, 1.0])
        placed.append(body)
    compiled = spec.compile()
    names = {part.name: part.index for part in tree.parts}
    return compiled, np.array([names[compiled.joint(k).name] for k in range(compiled.njnt)])


def exudyn_system(exudyn: Any, tree: Described, q: Any, v: Any) -> tuple[Any, int]:
    """The tree with its springs as one object in minimal coordinates of Exudyn, and its node; coordinates in the order
    of the parts."""
    import exudyn.itemInterface as item

    mbs, parts = exudyn.SystemContainer().AddSystem(), tree.parts
    order = [part.index for part in parts]
    node = mbs.AddNode(
        item.NodeGenericODE2(
            referenceCoordinates=[0.0] * len(parts),
            numberOfODE2Coordinates=len(parts),
            initialCoordinates=list(q[order]),
            initialCoordinates_t=list(v[order]),
        )
    )
    kinds = [exudyn.JointType.RevoluteZ if part.revolute else exudyn.JointType.PrismaticZ for part in parts]
    body = mbs.AddObject(
        item.ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=kinds,
            linkParents=[part.parent for part in parts],
            jointTransformations=exudyn.Matrix3DList([part.rotation for part in parts]),
            jointOffsets=exudyn.Vector3DList([part.position for part in parts]),
            linkInertiasCOM=exudyn.Matrix3DList([part.tensor for part in parts]),
            linkCOMs=exudyn.Vector3DList([part.center for part in parts]),
            linkMasses=[part.mass for part in parts],
            gravity=list(tree.gravity),
        )
    )
    for spring in tree.springs:
        ends = [
            mbs.AddMarker(item.MarkerKinematicTreeRigid(objectNumber=body, linkNumber=link, localPosition=list(at)))
            for link, at in spring.ends
        ]
        mbs.AddObject(
            item.ObjectConnectorSpringDamper(
                markerNumbers=ends, referenceLength=spring.rest, stiffness=spring.stiffness, damping=spring.damping
            )
        )
    mbs.Assemble()
    return mbs, node
