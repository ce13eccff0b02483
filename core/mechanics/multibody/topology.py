"""Topology of a machine: joints that form the spanning tree, and cut joints that close loops.

The graph has the bodies and the world as nodes and the joints as edges. The tree is grown from the world: it prefers
joints with few freedoms (fixed, coupled, geared and driven joints and those with a rotor inertia or a spring, which
counts turns there, are not cut if it can be avoided; spherical ones are cut first, then universal and cylindrical ones,
so that shafts keep coordinates that users name), then short paths, which make small
loops, then the order in the document; where like joints of one loop do and do not state a rest position, one that does
not is cut. Where a joint says whether it is to be cut, that goes before everything else. A body that no joint reaches
is free in space: it hangs on the world by an implicit free joint that carries the body's name.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from core.errors import ModelError
from core.joints import Free
from core.later import dataclass
from core.model import WORLD, Joint, Model
from core.model.forces import JOINT
from core.model.model import check_kinds_known


@dataclass(frozen=True)
class Branch:
    """Joint of the tree, which connects the body nearer to the root with the one farther from it."""

    joint: Joint
    inner: str
    """Body (or world) nearer to the root."""
    outer: str
    """Body farther from the root, moved by the joint."""
    reversed: bool
    """True if the inner body is on the joint's child side."""


@dataclass(frozen=True)
class Loop:
    """Closed chain: the names of its joints, the cut one last."""

    joints: tuple[str, ...]
    cut: str
    number: int = 1
    """Number of the loop, from 1."""

    def __str__(self) -> str:
        return f"loop {self.number}: {' '.join(self.joints)}, cut at {self.cut}"


@dataclass(frozen=True)
class Topology:
    """Machine as a tree (parents before children) and cut joints."""

    model: Model
    """Model with its chains expanded to bodies and joints."""
    branches: tuple[Branch, ...]
    cuts: tuple[Joint, ...]
    carriers: dict[str, str]
    """Body (or world) that carries each body and frame."""

    @property
    def loops(self) -> tuple[Loop, ...]:
        """Return the fundamental loop of every cut joint."""
        return tuple(
            Loop((*self._joints_around_loop(joint), joint.name), joint.name, number)
            for number, joint in enumerate(self.cuts, 1)
        )

    @cached_property
    def _branches_by_outer_body(self) -> dict[str, Branch]:
        return {branch.outer: branch for branch in self.branches}

    def path(self, name: str) -> list[str]:
        """Return the tree joints from a body or frame to the world."""
        body, path = self.carriers[name], []
        while body in self._branches_by_outer_body:
            path.append(self._branches_by_outer_body[body].joint.name)
            body = self._branches_by_outer_body[body].inner
        return path

    def _joints_around_loop(self, cut: Joint) -> Iterator[str]:
        left, right = self.path(cut.parent), self.path(cut.child)
        while left and right and left[-1] == right[-1]:
            left.pop()
            right.pop()
        yield from left
        yield from reversed(right)


def build_topology(model: Model) -> Topology:
    """Return the spanning tree of a model.

    Raises ModelError when the kind of an element is not known, when a joint connects a body to itself, when a coupling
    cannot be in the tree, or when joints of a loop contradict each other in whether they are to be cut.
    """
    plain = model.expanded
    check_kinds_known(plain)
    names = (WORLD, *(body.name for body in plain.bodies), *(frame.name for frame in plain.frames))
    carriers = {name: plain.carrier(name).name for name in names}
    edges: dict[str, list[tuple[Joint, str, bool]]] = {name: [] for name in (WORLD, *(b.name for b in plain.bodies))}
    rank = _tree_costs(plain)
    for joint in plain.joints:
        inner, outer = carriers[joint.parent], carriers[joint.child]
        if inner == outer:
            raise ModelError(
                f"The joint connects '{inner}' with itself.",
                where=f"joint '{joint.name}'",
                remedy="Connect two different bodies.",
            )
        edges[inner].append((joint, outer, False))
        edges[outer].append((joint, inner, True))
    topology = _build_spanning_tree(plain, carriers, edges, rank)
    if yielding := _choose_cuts_without_rest(topology, rank):
        others = {
            name: (1 + reluctance if name in yielding else reluctance, at) for name, (reluctance, at) in rank.items()
        }
        topology = _build_spanning_tree(plain, carriers, edges, others)
    _check_couplings(plain, {joint.name for joint in topology.cuts})
    _check_chosen_cuts(topology)
    return topology


def _build_spanning_tree(
    plain: Model,
    carriers: dict[str, str],
    edges: dict[str, list[tuple[Joint, str, bool]]],
    rank: dict[str, tuple[int, int]],
) -> Topology:
    branches: list[Branch] = []
    reached = {WORLD}
    _grow_tree(WORLD, edges, rank, reached, branches)
    taken = {joint.name for joint in plain.joints}
    for root in _floating_roots(plain, carriers):
        if root not in reached:
            branches.append(Branch(_implicit_free_joint(root, taken), WORLD, root, False))
            reached.add(root)
            _grow_tree(root, edges, rank, reached, branches)
    used = {branch.joint.name for branch in branches}
    cuts = tuple(joint for joint in plain.joints if joint.name not in used)
    return Topology(plain, tuple(branches), cuts, carriers)


def _choose_cuts_without_rest(topology: Topology, rank: dict[str, tuple[int, int]]) -> set[str]:
    """Return the joints to cut in place of cut joints that state a rest position: joints of the same cost in the same
    loop and no other, without a stated rest position or choice of cut."""
    stated = {joint.name for joint in topology.model.joints if joint.rest}
    loops = topology.loops
    chosen = {joint.name for joint in topology.model.joints if joint.cut != "auto"}
    uses = Counter(name for loop in loops for name in loop.joints)
    found = set()
    for loop in loops:
        free = [
            name
            for name in loop.joints[:-1]
            if rank[name][0] == rank[loop.cut][0] and uses[name] == 1 and name not in stated and name not in chosen
        ]
        if free and rank[loop.cut][0] and loop.cut in stated - chosen:
            found.add(free[-1])
    return found


_KEPT, _CUT = -1, 9
"""Costs in the spanning tree of joints that should stay out of it, and of joints that should be cut."""


def _tree_costs(model: Model) -> dict[str, tuple[int, int]]:
    """Return (cost in the tree, position in the document) of each joint."""
    bound = {joint.name for joint in model.joints if joint.mimic is not None}
    bound |= {joint.mimic.leader for joint in model.joints if joint.mimic is not None}
    bound |= {driver.joint for driver in model.drivers if driver.joint}
    bound |= {joint.name for joint in model.joints if joint.armature != 0.0 or joint.stiffness != 0.0}
    bound |= {name for each in model.constraints for name in each.joints}
    bound |= {force.joint for force in model.forces if force.info.along == JOINT and force.stiffness != 0.0}
    bound |= {strand.joint for force in model.forces for strand in force.strands}
    chosen = {"no": _KEPT, "yes": _CUT}
    return {
        joint.name: (
            chosen.get(
                joint.cut if joint.info.closes_loops else "no",
                0 if not joint.info.nv or joint.name in bound else 2 * min(joint.info.nv, 3),
            ),
            index,
        )
        for index, joint in enumerate(model.joints)
    }


def _grow_tree(
    root: str,
    edges: dict[str, list[tuple[Joint, str, bool]]],
    rank: dict[str, tuple[int, int]],
    reached: set[str],
    branches: list[Branch],
) -> None:
    """Grow the tree from a root by Prim's algorithm; keys are (cost, depth, position in the document)."""
    queue: list[tuple[int, int, int, str, str, bool, Joint]] = []

    def push_edges(body: str, depth: int) -> None:
        for joint, other, is_reversed in edges[body]:
            if other not in reached:
                reluctance, place = rank[joint.name]
                heapq.heappush(queue, (reluctance, depth, place, body, other, is_reversed, joint))

    depths = {root: 0}
    push_edges(root, 0)
    while queue:
        _, depth, _, inner, outer, is_reversed, joint = heapq.heappop(queue)
        if outer in reached:
            continue
        reached.add(outer)
        branches.append(Branch(joint, inner, outer, is_reversed))
        depths[outer] = depth + 1
        push_edges(outer, depth + 1)


def _floating_roots(model: Model, carriers: dict[str, str]) -> Iterator[str]:
    """Iterate over the root bodies of floating machines, first those that are not a child of any joint."""
    children = {carriers[joint.child] for joint in model.joints}
    yield from (body.name for body in model.bodies if body.name not in children)
    yield from (body.name for body in model.bodies)


def _implicit_free_joint(body: str, used_names: set[str]) -> Joint:
    name = body if body not in used_names else f"{body}_free"
    while name in used_names:
        name += "_"
    used_names.add(name)
    return Joint(name=name, kind=Free.name, parent=WORLD, child=body)


def _check_chosen_cuts(topology: Topology) -> None:
    """Check that no loop is cut at a joint marked as not to be cut, and that every joint marked as cut is cut if it
    lies in a loop. Raises ModelError."""
    for joint, loop in zip(topology.cuts, topology.loops, strict=True):
        _check_closing(joint)
        if joint.cut == "no":
            others = ", ".join(f"'{name}'" for name in loop.joints[:-1])
            raise ModelError(
                "A loop must be cut at one of its joints, but all of them have cut = no.",
                where=f"joint '{joint.name}', cut",
                remedy=f"Set cut = auto for this joint or for one of {others}.",
            )
    wanted = {branch.joint.name: branch.joint for branch in topology.branches if branch.joint.cut == "yes"}
    for loop in topology.loops:
        for name in loop.joints[:-1]:
            if name in wanted:
                _check_closing(wanted[name])
                raise ModelError(
                    f"The joint cannot be cut, because its loop is already cut at '{loop.cut}'.",
                    where=f"joint '{name}', cut",
                    remedy="Set cut = yes for one joint of each loop only.",
                )


def _check_couplings(model: Model, cut: set[str]) -> None:
    leaders = {joint.name: joint.mimic.leader for joint in model.joints if joint.mimic is not None}
    kinds = {joint.name: joint for joint in model.joints}
    for name, leader in leaders.items():
        where = f"joint '{name}', mimic"
        if name in cut or leader in cut:
            raise ModelError(
                "The coupled joint closes a loop, so its coordinate cannot follow a leader.",
                where=where,
                remedy="Remove the coupling, or cut the loop at another joint.",
            )
        if leader in kinds and kinds[leader].info.nq != 1:
            raise ModelError(
                f"The leader '{leader}' has {kinds[leader].info.nq} coordinates, not one.",
                where=where,
                remedy="Choose a leader with one coordinate.",
            )
        seen = [name]
        while leader in leaders:
            if leader in seen:
                raise ModelError(
                    f"The couplings of the joints form a cycle: {' → '.join([*seen, leader])}.",
                    where=where,
                    remedy="Remove one of the couplings.",
                )
            seen.append(leader)
            leader = leaders[leader]


def _check_closing(joint: Joint) -> None:
    """Raise ModelError if a joint can never be cut because of its kind."""
    if not joint.info.closes_loops:
        raise ModelError(
            f"A joint of kind '{joint.kind}' cannot be cut, because this kind defines no constraint equations.",
            where=f"joint '{joint.name}', cut",
            remedy="Insert a massless body between the joint and its child, and fix it to the child by a joint "
            "that is cut.",
        )
