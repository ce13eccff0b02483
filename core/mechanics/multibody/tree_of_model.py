"""Construction of the kinematic tree from a topology, over numbers or symbols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from core.errors import ModelError, suggest_names
from core.files.meshes.body_inertia import combine_inertias
from core.joints.kind import ReversedJoint
from core.later import dataclass
from core.mechanics.dry_friction import NO_FRICTION, friction_of, is_controlled
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.multibody.topology import Branch, Topology
from core.mechanics.tree import Coupling, Gravity, Link, LinkFrame, PointMass, Tree
from core.model import WORLD, Joint
from core.numerics.spatial.inertia import Inertia
from core.numerics.spatial.pose import IDENTITY, Pose
from core.numerics.spatial.scalar import Scalar, is_zero, plus, times
from core.numerics.spatial.vector import ZERO


@dataclass(frozen=True)
class Machine:
    """Kinematic tree, and the position of every element of the document on it."""

    tree: Tree
    frames: Mapping[str, LinkFrame]
    """Frame of each body, frame and the world on the tree."""
    joints: Mapping[str, tuple[LinkFrame, LinkFrame]]
    """Frames a and b of every joint."""
    laws: Mapping[str, tuple[Any, LinkFrame, LinkFrame]]
    """Joint law and canonical frames a and b of every cut joint."""
    ground: tuple[PointMass, ...]
    """Bodies fixed to the world."""
    carried: Mapping[str, int]
    """Link moved by each tree joint (fixed joints only if links are not merged)."""
    members: tuple[Joint, ...]
    """Joints of the document and the implicit free ones."""

    def find_joint(self, name: str) -> Joint:
        """Return a joint by name. Raises ModelError."""
        if name not in self._joints_by_name:
            raise ModelError(f"There is no joint '{name}'.", remedy=suggest_names(name, list(self._joints_by_name)))
        return self._joints_by_name[name]

    @cached_property
    def _joints_by_name(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.members}


class Offsets(NamedTuple):
    """Index of the first coordinate and first speed of each joint."""

    q: Mapping[str, int]
    v: Mapping[str, int]
    nq: int
    nv: int


def assign_offsets(topology: Topology) -> Offsets:
    """Assign indices in q and v: free bodies first, then the joints as the document lists them; coupled joints have
    none."""
    q, v, nq, nv = {}, {}, 0, 0
    declared = {joint.name: place for place, joint in enumerate(topology.model.joints)}
    for branch in sorted(topology.branches, key=lambda b: declared.get(b.joint.name, -1)):
        joint = branch.joint
        if joint.mimic is None:
            q[joint.name], v[joint.name] = nq, nv
            nq, nv = nq + joint.info.nq, nv + joint.info.nv
    return Offsets(q, v, nq, nv)


def build_machine(topology: Topology, numbers: Numbers, *, merged: bool = True) -> Machine:
    """Build the machine over the scalars of `numbers`; `merged` joins bodies that fixed joints connect into one
    link."""
    builder = _MachineBuilder(topology, numbers, merged)
    for branch in topology.branches:
        builder.attach_body(branch)
    return builder.finish_machine()


def joint_sides(topology: Topology, numbers: Numbers) -> dict[str, tuple[Any, Pose, Pose]]:
    """Return joint → (law, canonical frames a and b in the bodies that carry them), implicit free joints included."""
    builder = _MachineBuilder(topology, numbers, False)
    return {joint.name: builder.joint_sides_in_bodies(joint) for joint in builder.all_joints()}


def poses_in_bodies(topology: Topology, numbers: Numbers, names: Iterable[str]) -> dict[str, Pose]:
    """Return the poses of bodies and frames in the bodies that carry them."""
    builder = _MachineBuilder(topology, numbers, False)
    return {name: builder.pose_on_body(name) for name in names}


class _MachineBuilder:
    def __init__(self, topology: Topology, numbers: Numbers, merged: bool) -> None:
        self.topology, self.numbers, self.merged = topology, numbers, merged
        self.offsets = assign_offsets(topology)
        self.places: dict[str, LinkFrame] = {WORLD: LinkFrame(-1, IDENTITY)}
        self.laws: dict[str, tuple[Any, Pose, Pose]] = {}
        self.branches: list[tuple[Branch, Any, Pose]] = []
        self.bodies: dict[int, list[Inertia]] = {-1: []}
        self.carried: dict[str, int] = {}
        self._known: dict[Any, Pose] = {}

    def pose_on_body(self, name: str) -> Pose:
        """Return the pose of a body or frame in the body that carries it."""
        if name not in self._known:
            pose = IDENTITY
            for frame in reversed(self.topology.model.placement(name).frames):
                pose = _compose_poses(self.numbers.pose(frame.pose, f"frame '{frame.name}', pose"), pose)
            self._known[name] = pose
        return self._known[name]

    def joint_frame(self, joint: Joint, side: str) -> Pose:
        """Return frame a or b of a joint in the body or frame in which the document gives it."""
        if (joint.name, side) not in self._known:
            given = joint.a if side == "a" else joint.b
            self._known[joint.name, side] = self.numbers.pose(given, f"joint '{joint.name}', {side}")
        return self._known[joint.name, side]

    def joint_sides_in_bodies(self, joint: Joint) -> tuple[Any, Pose, Pose]:
        """Return the joint law, and canonical frames a and b in the bodies that carry them."""
        law, R_ac = self.numbers.law(joint)
        turn = Pose(R_ac, ZERO)
        a = _compose_poses(self.pose_on_body(joint.parent), self.joint_frame(joint, "a"), turn)
        b = _compose_poses(self.pose_on_body(joint.child), self.joint_frame(joint, "b"), turn)
        return law, a, b

    def attach_body(self, branch: Branch) -> None:
        """Attach the body that a joint moves to a link."""
        law, a, b = self.joint_sides_in_bodies(branch.joint)
        fixed_side, moving_side = (b, a) if branch.reversed else (a, b)
        inner = self.places[branch.inner]
        placement = _compose_poses(inner.pose, fixed_side)
        body_in_side = _compose_poses(moving_side.inverse())
        if branch.reversed:
            law = ReversedJoint(law)
        if self.merged and not law.nv:
            place = LinkFrame(inner.link, _compose_poses(placement, law.pose(()), body_in_side))
        else:
            place = LinkFrame(len(self.branches), body_in_side)
            self.carried[branch.joint.name] = place.link
            self.branches.append((branch, law, placement))
            self.bodies[place.link] = []
        self.places[branch.outer] = place
        inertia = self.numbers.inertia(self.topology.model.body(branch.outer))
        self.bodies[place.link].append(_transform_inertia(inertia, place.pose))

    def finish_machine(self) -> Machine:
        """Return the machine, once every branch is attached."""
        model = self.topology.model
        uniform, mu, middle = self.numbers.gravity(model.world.gravity)
        gravity = Gravity(uniform, mu, middle, model.world.gravity.kind == "point")
        links = tuple(self.build_link(i) for i in range(len(self.branches)))
        tree = Tree(links, self.offsets.nq, self.offsets.nv, gravity)
        frames = {name: self.link_frame(name) for name in self.topology.carriers}
        joints = {joint.name: self.joint_frames(joint) for joint in self.all_joints()}
        return Machine(
            tree,
            frames,
            joints,
            {j.name: self.cut_joint_frames(j) for j in self.topology.cuts},
            _point_masses(self.bodies[-1]),
            self.carried,
            tuple(self.all_joints()),
        )

    def all_joints(self) -> list[Joint]:
        """Return the document's joints and the implicit free ones."""
        declared = {joint.name for joint in self.topology.model.joints}
        implicit = [b.joint for b in self.topology.branches if b.joint.name not in declared]
        return [*implicit, *self.topology.model.joints]

    def link_frame(self, name: str) -> LinkFrame:
        """Return the place of a body or frame."""
        place = self.places[self.topology.carriers[name]]
        return LinkFrame(place.link, _compose_poses(place.pose, self.pose_on_body(name)))

    def joint_frames(self, joint: Joint) -> tuple[LinkFrame, LinkFrame]:
        """Return frames a and b as the document gives them."""
        sides = []
        for name, side in ((joint.parent, "a"), (joint.child, "b")):
            place = self.link_frame(name)
            sides.append(LinkFrame(place.link, _compose_poses(place.pose, self.joint_frame(joint, side))))
        return sides[0], sides[1]

    def cut_joint_frames(self, joint: Joint) -> tuple[Any, LinkFrame, LinkFrame]:
        """Return the law and canonical frames of a joint that closes a loop."""
        law, a, b = self.joint_sides_in_bodies(joint)
        inner, outer = (self.places[self.topology.carriers[name]] for name in (joint.parent, joint.child))
        return (
            law,
            LinkFrame(inner.link, _compose_poses(inner.pose, a)),
            LinkFrame(outer.link, _compose_poses(outer.pose, b)),
        )

    def build_link(self, index: int) -> Link:
        """Return the link of a branch."""
        branch, law, placement = self.branches[index]
        joint, where, scalar = branch.joint, f"joint '{branch.joint.name}'", self.numbers.scalar
        leader, coupling = self.find_leader(joint)
        controlled = is_controlled(joint, self.numbers.values)  # a brake: an element of its own
        return Link(
            name=joint.name,
            parent=self.places[branch.inner].link,
            law=law,
            placement=placement,
            inertia=combine_inertias(self.bodies[index]),
            first_q=self.offsets.q[leader],
            first_v=self.offsets.v[leader],
            coupling=coupling,
            bodies=_point_masses(self.bodies[index]),
            armature=scalar(joint.armature, f"{where}, armature"),
            damping=scalar(joint.damping, f"{where}, damping"),
            friction=NO_FRICTION if controlled else friction_of(joint, scalar, where),
            stiffness=scalar(joint.stiffness, f"{where}, stiffness"),
            rest=tuple(scalar(value, f"{where}, spring_rest") for value in joint.relaxed_coordinates),
        )

    def find_leader(self, joint: Joint) -> tuple[str, Coupling | None]:
        """Return the joint whose coordinates a joint uses, and its coupling to it (chains of couplings are
        composed)."""
        if joint.mimic is None:
            return joint.name, None
        ratio: Scalar = 1.0
        offset: Scalar = 0.0
        table = {j.name: j for j in self.topology.model.joints}
        while joint.mimic is not None:
            # q = ratio (r q_leader + o) + offset
            where = f"joint '{joint.name}', mimic"
            offset = plus(offset, times(ratio, self.numbers.scalar(joint.mimic.offset, where)))
            ratio = times(ratio, self.numbers.scalar(joint.mimic.ratio, where))
            joint = table[joint.mimic.leader]
        return joint.name, Coupling(ratio, offset)


def _compose_poses(*poses: Pose) -> Pose:
    """Return the product X₁ X₂ …; identities are skipped and literal entries of the rotation are tidied
    (`Rotation.with_rounded_literals`)."""
    result = IDENTITY
    for pose in poses:
        if pose.is_identity():
            continue
        result = pose if result is IDENTITY else result @ pose
    return result if result is IDENTITY else Pose(result.rotation.with_rounded_literals(), result.position)


def _transform_inertia(inertia: Inertia, pose: Pose) -> Inertia:
    return inertia if pose.is_identity() else inertia.transformed_to_parent(pose)


def _point_masses(parts: list[Inertia]) -> tuple[PointMass, ...]:
    return tuple(PointMass(part.mass, part.moment) for part in parts if not is_zero(part.mass))
