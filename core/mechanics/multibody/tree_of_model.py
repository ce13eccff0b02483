"""Construction of the kinematic tree from a topology, over numbers or symbols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from core.errors import ModelError, near_misses
from core.files.meshes.body_inertia import sum_of
from core.joints.kind import Reversed
from core.later import dataclass
from core.mechanics.dry_friction import NO_FRICTION, friction_of, is_controlled
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.multibody.topology import Branch, Topology
from core.mechanics.tree import Coupling, Gravity, Link, Place, PointMass, Tree
from core.model import WORLD, Joint
from core.numerics.spatial.inertia import Inertia
from core.numerics.spatial.pose import IDENTITY, Pose
from core.numerics.spatial.scalar import Scalar, is_zero, plus, times
from core.numerics.spatial.vector import ZERO


@dataclass(frozen=True)
class Machine:
    """Kinematic tree, and the location of every element of the document on it."""

    tree: Tree
    frames: Mapping[str, Place]
    """Places of bodies, frames and the world."""
    joints: Mapping[str, tuple[Place, Place]]
    """Frames a and b of every joint."""
    laws: Mapping[str, tuple[Any, Place, Place]]
    """Joint law and canonical frames a and b of every cut joint."""
    ground: tuple[PointMass, ...]
    """Bodies fixed to the world."""
    carried: Mapping[str, int]
    """Link moved by each tree joint (fixed joints only if links are not merged)."""
    members: tuple[Joint, ...]
    """Joints of the document and the implicit free ones."""

    def member(self, name: str) -> Joint:
        """Return a joint by name. Raises ModelError."""
        if name not in self._by_name:
            raise ModelError(f"There is no joint '{name}'.", remedy=near_misses(name, list(self._by_name)))
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.members}


class Offsets(NamedTuple):
    """Index of the first coordinate and first speed of each joint."""

    q: Mapping[str, int]
    v: Mapping[str, int]
    nq: int
    nv: int


def offsets(topology: Topology) -> Offsets:
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


def machine_of(topology: Topology, numbers: Numbers, *, merged: bool = True) -> Machine:
    """Build the machine over the scalars of `numbers`; `merged` joins bodies that fixed joints connect into one
    link."""
    builder = _Builder(topology, numbers, merged)
    for branch in topology.branches:
        builder.attach(branch)
    return builder.machine()


def sides_of(topology: Topology, numbers: Numbers) -> dict[str, tuple[Any, Pose, Pose]]:
    """Return joint → law, and its canonical frames a and b in the bodies that carry them; implicit free joints
    included."""
    builder = _Builder(topology, numbers, False)
    return {joint.name: builder.sides(joint) for joint in builder.all_joints()}


def poses_in_bodies(topology: Topology, numbers: Numbers, names: Iterable[str]) -> dict[str, Pose]:
    """Return the poses of bodies and frames in the bodies that carry them."""
    builder = _Builder(topology, numbers, False)
    return {name: builder.on_body(name) for name in names}


class _Builder:
    def __init__(self, topology: Topology, numbers: Numbers, merged: bool) -> None:
        self.topology, self.numbers, self.merged = topology, numbers, merged
        self.offsets = offsets(topology)
        self.places: dict[str, Place] = {WORLD: Place(-1, IDENTITY)}
        self.laws: dict[str, tuple[Any, Pose, Pose]] = {}
        self.branches: list[tuple[Branch, Any, Pose]] = []
        self.bodies: dict[int, list[Inertia]] = {-1: []}
        self.carried: dict[str, int] = {}
        self._known: dict[Any, Pose] = {}

    def on_body(self, name: str) -> Pose:
        """Return the pose of a body or frame in the body that carries it."""
        if name not in self._known:
            pose = IDENTITY
            for frame in reversed(self.topology.model.placement(name).frames):
                pose = _composed_pose(self.numbers.pose(frame.pose, f"frame '{frame.name}', pose"), pose)
            self._known[name] = pose
        return self._known[name]

    def own_frame(self, joint: Joint, side: str) -> Pose:
        """Return frame a or b of a joint in the body or frame in which the document gives it."""
        if (joint.name, side) not in self._known:
            given = joint.a if side == "a" else joint.b
            self._known[joint.name, side] = self.numbers.pose(given, f"joint '{joint.name}', {side}")
        return self._known[joint.name, side]

    def sides(self, joint: Joint) -> tuple[Any, Pose, Pose]:
        """Return the joint law, and canonical frames a and b in the bodies that carry them."""
        law, R_ac = self.numbers.law(joint)
        turn = Pose(R_ac, ZERO)
        a = _composed_pose(self.on_body(joint.parent), self.own_frame(joint, "a"), turn)
        b = _composed_pose(self.on_body(joint.child), self.own_frame(joint, "b"), turn)
        return law, a, b

    def attach(self, branch: Branch) -> None:
        """Put the body that a joint moves on a link."""
        law, a, b = self.sides(branch.joint)
        fixed_side, moving_side = (b, a) if branch.reversed else (a, b)
        inner = self.places[branch.inner]
        placement = _composed_pose(inner.pose, fixed_side)
        body_in_side = _composed_pose(moving_side.inverse())
        if branch.reversed:
            law = Reversed(law)
        if self.merged and not law.nv:
            place = Place(inner.link, _composed_pose(placement, law.pose(()), body_in_side))
        else:
            place = Place(len(self.branches), body_in_side)
            self.carried[branch.joint.name] = place.link
            self.branches.append((branch, law, placement))
            self.bodies[place.link] = []
        self.places[branch.outer] = place
        inertia = self.numbers.inertia(self.topology.model.body(branch.outer))
        self.bodies[place.link].append(_moved_inertia(inertia, place.pose))

    def machine(self) -> Machine:
        """Return the machine, once every branch is attached."""
        model = self.topology.model
        uniform, mu, middle = self.numbers.gravity(model.world.gravity)
        gravity = Gravity(uniform, mu, middle, model.world.gravity.kind == "point")
        links = tuple(self.link(i) for i in range(len(self.branches)))
        tree = Tree(links, self.offsets.nq, self.offsets.nv, gravity)
        frames = {name: self.frame(name) for name in self.topology.carriers}
        joints = {joint.name: self.joint_frames(joint) for joint in self.all_joints()}
        return Machine(
            tree,
            frames,
            joints,
            {j.name: self.cut(j) for j in self.topology.cuts},
            _point_masses(self.bodies[-1]),
            self.carried,
            tuple(self.all_joints()),
        )

    def all_joints(self) -> list[Joint]:
        """Return the document's joints and the implicit free ones."""
        declared = {joint.name for joint in self.topology.model.joints}
        implicit = [b.joint for b in self.topology.branches if b.joint.name not in declared]
        return [*implicit, *self.topology.model.joints]

    def frame(self, name: str) -> Place:
        """Return the place of a body or frame."""
        place = self.places[self.topology.carriers[name]]
        return Place(place.link, _composed_pose(place.pose, self.on_body(name)))

    def joint_frames(self, joint: Joint) -> tuple[Place, Place]:
        """Return frames a and b as the document gives them."""
        sides = []
        for name, side in ((joint.parent, "a"), (joint.child, "b")):
            place = self.frame(name)
            sides.append(Place(place.link, _composed_pose(place.pose, self.own_frame(joint, side))))
        return sides[0], sides[1]

    def cut(self, joint: Joint) -> tuple[Any, Place, Place]:
        """Return the law and canonical frames of a joint that closes a loop."""
        law, a, b = self.sides(joint)
        inner, outer = (self.places[self.topology.carriers[name]] for name in (joint.parent, joint.child))
        return law, Place(inner.link, _composed_pose(inner.pose, a)), Place(outer.link, _composed_pose(outer.pose, b))

    def link(self, index: int) -> Link:
        """Return the link of a branch."""
        branch, law, placement = self.branches[index]
        joint, where, scalar = branch.joint, f"joint '{branch.joint.name}'", self.numbers.scalar
        leader, coupling = self.leader(joint)
        controlled = is_controlled(joint, self.numbers.values)  # a brake: an element of its own
        return Link(
            name=joint.name,
            parent=self.places[branch.inner].link,
            law=law,
            placement=placement,
            inertia=sum_of(self.bodies[index]),
            first_q=self.offsets.q[leader],
            first_v=self.offsets.v[leader],
            coupling=coupling,
            bodies=_point_masses(self.bodies[index]),
            armature=scalar(joint.armature, f"{where}, armature"),
            damping=scalar(joint.damping, f"{where}, damping"),
            friction=NO_FRICTION if controlled else friction_of(joint, scalar, where),
            stiffness=scalar(joint.stiffness, f"{where}, stiffness"),
            rest=tuple(scalar(value, f"{where}, spring_rest") for value in joint.relaxed),
        )

    def leader(self, joint: Joint) -> tuple[str, Coupling | None]:
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


def _composed_pose(*poses: Pose) -> Pose:
    """Return X₁ X₂ …, skipping identities, with literal entries tidied."""
    result = IDENTITY
    for pose in poses:
        if pose.is_identity():
            continue
        result = pose if result is IDENTITY else result @ pose
    return result if result is IDENTITY else Pose(result.rotation.tidied(), result.position)


def _moved_inertia(inertia: Inertia, pose: Pose) -> Inertia:
    return inertia if pose.is_identity() else inertia.moved(pose)


def _point_masses(parts: list[Inertia]) -> tuple[PointMass, ...]:
    return tuple(PointMass(part.mass, part.moment) for part in parts if not is_zero(part.mass))
