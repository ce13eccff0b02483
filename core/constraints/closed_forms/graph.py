"""Graph of a machine's elementary joints, on which analytic solutions are searched and evaluated.

Joints with several freedoms are taken apart as their kinds say (cylindrical: a revolute and a prismatic on one axis …)
with massless nodes between, tree joints and cut joints alike. Clusters
are sets of nodes whose poses among each other are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from core.constraints.closed_forms.dyads import Turn
from core.joints.kind import Elementary
from core.mechanics.elements.constraints import CONSTRAINTS
from core.mechanics.elements.constraints.constraint_kind import Distance, Ratio
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.multibody.topology import Topology
from core.mechanics.multibody.tree_of_model import assign_offsets, joint_sides, poses_in_bodies
from core.mechanics.tree import Runner, inline
from core.model import WORLD, Joint
from core.numerics.spatial.pose import IDENTITY, Pose
from core.numerics.spatial.rotation import Rotation, about_z, from_quaternion
from core.numerics.spatial.scalar import Scalar, plus, times
from core.numerics.spatial.vector import ZERO, Vector3

LINK, GEAR = "L", "G"
FREEDOMS = {"R": 1, "P": 1, "H": 1, "S": 3, "F": 6, "W": 0, LINK: 5, GEAR: 5}
"""Degrees of freedom by kind: R revolute, P prismatic, H helical, S spherical, F free, W welded; and constraints: a
massless rod between two points, a gear between two tree joints (its nodes a and b stand for the joints, not for
bodies)."""
OWN = "O"
"""Kind of a joint that is not composed of elementary ones; it has its own motion law and is part of no analytic
solution."""
BESIDE = (LINK, GEAR)
"""Kinds that are constraints."""


class Edge(NamedTuple):
    """An elementary joint: X_ab = A · motion about or along z · B⁻¹."""

    joint: str
    kind: str
    a: str
    b: str
    A: Pose
    B: Pose
    q: int
    """Index of the first coordinate; −1 for a cut joint."""
    v: int
    """Index of the first speed; −1 for a cut joint."""
    place: int
    """Index among the elementary joints of its joint."""
    ratio: Scalar
    offset: Scalar
    """Ratio and offset of a mimic joint or gear: q = ratio · q_leader + offset."""
    advance: Scalar
    """Advance of a screw, m/rad; length of a rod, m."""
    law: Any = None
    """Motion law of the joint; None for a constraint."""

    @property
    def cut(self) -> bool:
        """True if the edge has no coordinate in q."""
        return self.q < 0

    @property
    def nv(self) -> int:
        """Number of degrees of freedom of the edge."""
        return int(self.law.nv) if self.kind == OWN else FREEDOMS[self.kind]


def elementary_edges(topology: Topology, numbers: Numbers) -> list[Edge]:
    """All elementary joints, in the order of the document (implicit free joints first), then rods and gears; free
    joints that close a loop are omitted, since they impose no constraint."""
    own = assign_offsets(topology)
    cut = {joint.name for joint in topology.cuts}
    table = {joint.name: joint for joint in topology.model.joints}
    table |= {branch.joint.name: branch.joint for branch in topology.branches}
    result: list[Edge] = []
    for name, (law, a, b) in joint_sides(topology, numbers).items():
        joint = table[name]
        if name in cut:
            result += _elementary_joints(topology, joint, law, a, b, -1, -1, 1.0, 0.0)
            continue
        leader, ratio, offset = _leader_coupling(joint, table, numbers)
        result += _elementary_joints(topology, joint, law, a, b, own.q[leader], own.v[leader], ratio, offset)
    return [edge for edge in result if not (edge.cut and edge.kind == "F")] + [
        *_rod_edges(topology, numbers),
        *_gear_edges(topology, numbers),
    ]


def _rod_edges(topology: Topology, numbers: Numbers) -> list[Edge]:
    """Massless rods, which have no coordinates and keep the distance of their ends."""
    rods = equivalent_rods(topology)
    own = poses_in_bodies(topology, numbers, {name or WORLD for rod in rods for name in (rod.a, rod.b)})
    result = []
    for rod in rods:
        a, b = rod.a or WORLD, rod.b or WORLD
        length: Scalar = 0.0
        for value, where in rod.length:
            length = plus(length, numbers.scalar(value, where))
        nodes = topology.carriers[a], topology.carriers[b]
        result.append(Edge(rod.name, LINK, *nodes, own[a], own[b], -1, -1, 0, 1.0, 0.0, length))
    return result


def _elementary_constraints(topology: Topology) -> Iterator[Distance | Ratio | None]:
    """Yield for each constraint the rod or gear to which it is equivalent; None if it is neither."""
    model = topology.model
    return (CONSTRAINTS[each.kind].closure_equivalent(each, model) for each in model.constraints)


def equivalent_rods(topology: Topology) -> list[Distance]:
    """Constraints equivalent to massless rods."""
    return [each for each in _elementary_constraints(topology) if isinstance(each, Distance)]


def _gear_edges(topology: Topology, numbers: Numbers) -> list[Edge]:
    """Gears between tree joints."""
    result = []
    for gear in equivalent_gears(topology):
        where = f"constraint '{gear.name}'"
        ratio, offset = numbers.scalar(gear.ratio, f"{where}, ratio"), numbers.scalar(gear.offset, f"{where}, offset")
        ends_ = f"\0{gear.joint}", f"\0{gear.leader}"
        result.append(Edge(gear.name, GEAR, *ends_, IDENTITY, IDENTITY, -1, -1, 0, ratio, offset, 0.0))
    return result


def equivalent_gears(topology: Topology) -> list[Ratio]:
    """Gears between two joints that both have a coordinate of their own."""
    tree = {branch.joint.name for branch in topology.branches if branch.joint.info.nq == 1}
    return [
        each
        for each in _elementary_constraints(topology)
        if isinstance(each, Ratio) and {each.joint, each.leader} <= tree and each.joint != each.leader
    ]


def geared_pairs(edges: list[Edge]) -> dict[int, tuple[int, int]]:
    """Gear → the two edges it couples: the driven joint's and its leader's."""
    of = {f"\0{edge.joint}": i for i, edge in enumerate(edges) if not edge.cut}
    return {i: (of[edge.a], of[edge.b]) for i, edge in enumerate(edges) if edge.kind == GEAR}


def _leader_coupling(joint: Joint, table: dict[str, Joint], numbers: Numbers) -> tuple[str, Scalar, Scalar]:
    ratio: Scalar = 1.0
    offset: Scalar = 0.0
    while joint.mimic is not None:
        where = f"joint '{joint.name}', mimic"
        offset = plus(offset, times(ratio, numbers.scalar(joint.mimic.offset, where)))
        ratio = times(ratio, numbers.scalar(joint.mimic.ratio, where))
        joint = table[joint.mimic.leader]
    return joint.name, ratio, offset


def _elementary_joints(
    topology: Topology, joint: Joint, law: Any, a: Pose, b: Pose, q: int, v: int, ratio: Scalar, offset: Scalar
) -> list[Edge]:
    """Elementary joints of a joint; a single edge of kind OWN if it has none."""
    nodes = [topology.carriers[joint.parent], topology.carriers[joint.child]]
    stages = law.elementary() or (Elementary(OWN),)
    count = len(stages)
    between = [f"{joint.name}\0{k}" for k in range(1, count)]
    ends = [nodes[0], *between, nodes[1]]
    result = []
    for k, (kind, frame, at, advance) in enumerate(stages):
        A = a @ frame if k == 0 else frame
        B = b @ frame if k == count - 1 else frame
        own_q, own_v = (-1, -1) if q < 0 else (q + at, v + at)
        result.append(Edge(joint.name, kind, ends[k], ends[k + 1], A, B, own_q, own_v, k, ratio, offset, advance, law))
    return result


def edge_motion(edge: Edge, value: Any) -> Pose:
    """Motion between the edge's frames; value : a number, a `Turn`, a rotation, or coordinates of S, F and OWN"""
    if edge.kind in ("W", *BESIDE):
        return IDENTITY
    if edge.kind == OWN:
        return edge.law.pose(value)
    if edge.kind == "R":
        return Pose(value.rotation() if isinstance(value, Turn) else about_z(value), ZERO)
    if edge.kind == "P":
        return Pose(IDENTITY.rotation, Vector3(0.0, 0.0, value))
    if edge.kind == "H":
        return Pose(about_z(value), Vector3(0.0, 0.0, times(edge.advance, value)))
    if edge.kind == "S":
        return Pose(value if isinstance(value, Rotation) else from_quaternion(value), ZERO)
    return Pose(from_quaternion(value[3:]), Vector3(*value[:3]))


def edge_value(edge: Edge, q: Any) -> Any:
    """Return the value of a tree joint's edge at q; for a mimic joint it is computed from its leader's."""
    if edge.kind == "S":
        return tuple(q[edge.q + k] for k in range(4))
    if edge.kind == "F":
        return tuple(q[edge.q + k] for k in range(7))
    if edge.kind == OWN:
        return tuple(plus(times(edge.ratio, q[edge.q + k]), edge.offset) for k in range(edge.law.nq))
    return 0.0 if edge.kind in ("W", *BESIDE) else plus(times(edge.ratio, q[edge.q]), edge.offset)


def pose_across_edge(A: Pose, motion: Pose, B: Pose) -> Pose:
    """X_ab of an edge with a motion E."""
    return A @ motion @ B.inverse()


def _cluster_pose(X_Ra: Pose, X_ab: Pose, X_Sb: Pose) -> Pose:
    """X_RS of the first nodes R and S of two clusters."""
    return X_Ra @ X_ab @ X_Sb.inverse()


def _relocated_pose(X_Ra: Pose, X_ab: Pose, X_Sb: Pose, X_Sc: Pose) -> Pose:
    """X_Rc from X_Ra, X_ab, X_Sb and X_Sc."""
    return X_Ra @ X_ab @ X_Sb.inverse() @ X_Sc


def _relative_pose(X_Ra: Pose, X_Rb: Pose) -> Pose:
    return X_Ra.inverse() @ X_Rb


class Clusters:
    """Clusters of nodes whose relative poses are known: each node's pose in the first node of its cluster (in the world
    for the world's cluster)."""

    def __init__(self, edges: Iterable[Edge], runner: Runner = inline, identity: Any = IDENTITY) -> None:
        nodes = [WORLD, *(node for edge in edges for node in (edge.a, edge.b))]
        self.run, self.same = runner, identity
        self.root = {node: node for node in nodes}
        self.pose = dict.fromkeys(nodes, identity)
        self.members: dict[str, list[str]] = {node: [node] for node in nodes}

    def copy(self) -> Clusters:
        """An independent copy."""
        other = object.__new__(Clusters)
        other.run, other.same = self.run, self.same
        other.root, other.pose = dict(self.root), dict(self.pose)
        other.members = {node: list(own) for node, own in self.members.items()}
        return other

    def part(self, nodes: Iterable[str]) -> Clusters:
        """A copy restricted to some nodes and the first nodes of their clusters."""
        part = object.__new__(Clusters)
        part.run, part.same = self.run, self.same
        kept = dict.fromkeys(each for node in nodes for each in (self.root[node], node))
        part.root, part.pose = ({node: of[node] for node in kept} for of in (self.root, self.pose))
        part.members = {}
        for node, root in part.root.items():
            part.members.setdefault(root, []).append(node)
        return part

    def are_connected(self, a: str, b: str) -> bool:
        """True if the relative pose of the two nodes is known."""
        return self.root[a] == self.root[b]

    def relative_pose(self, a: str, b: str) -> Any:
        """X_ab of two nodes of one cluster."""
        return self.same if a == b else self.run(_relative_pose, self.pose[a], self.pose[b])

    def join(self, edge: Edge, X_ab: Any) -> None:
        """Merge two clusters, given the relative pose of an edge's nodes."""
        a, b, X = edge.a, edge.b, X_ab
        first, second = self.root[a], self.root[b]
        if second == WORLD or (first != WORLD and len(self.members[second]) > len(self.members[first])):
            a, b, X, first, second = b, a, self.run(type(X_ab).inverse, X_ab), second, first
        own, moved = self.members.pop(second), (self.pose[a], X, self.pose[b])
        if len(own) == 1:
            self.pose[own[0]] = self.run(_relocated_pose, *moved, self.pose[own[0]])
        else:
            step = self.run(_cluster_pose, *moved)
            for node in own:
                self.pose[node] = self.run(type(step).__matmul__, step, self.pose[node])
        for node in own:
            self.root[node] = first
            self.members[first].append(node)


Chain = tuple[tuple[int, bool], ...]
"""Edges of a closed chain with unknown values, in order; each with True if it is traversed from a to b."""


def edge_ends(edge: Edge, forward: bool) -> tuple[str, Pose, str, Pose]:
    """Return (node, frame) at which a chain enters an edge, and (node, frame) at which it leaves it."""
    return (edge.a, edge.A, edge.b, edge.B) if forward else (edge.b, edge.B, edge.a, edge.A)


def poses_between_edges(chain: Chain, edges: list[Edge], clusters: Clusters) -> list[Pose]:
    """Return the known poses K_i after each edge: the product of all (motion_i K_i) around the chain is the
    identity."""
    result = []
    for (i, forward), (k, onward) in zip(chain, chain[1:] + chain[:1], strict=True):
        _, _, leave, far = edge_ends(edges[i], forward)
        enter, near, _, _ = edge_ends(edges[k], onward)
        result.append(far.inverse() @ clusters.relative_pose(leave, enter) @ near)
    return result
