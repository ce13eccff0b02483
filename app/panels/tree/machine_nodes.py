"""The machine in the model tree, as plain nodes, from the ground outward; what else there is: `tree_sections`.

A serial run stands flat (joint, body, joint, body …), so that long chains stay readable; a body from which
several joints go out holds one branch per joint. Joints that close a loop are marked where they begin.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import field
from pathlib import PurePath

from app.document.chain_members import assembled, brought_by
from app.document.session import Ref
from core.later import dataclass
from core.model import WORLD, Body, DHChain, Frame, Joint, Model, SubAssembly


@dataclass
class Node:
    """A row of the tree. `key` stays the same while the element keeps its name."""

    key: str
    text: str
    detail: str = ""
    icon: str = ""
    ref: Ref | None = None
    derived: bool = False
    """Brought by a DH chain or a sub-assembly: cannot be renamed or deleted by itself."""
    selects_model: bool = False
    """The row of the ground: choosing it selects the model itself."""
    color: tuple[float, ...] | None = None
    help: str = ""
    channels: tuple[str, ...] = ()
    """Names of the channels of a run that dragging the row hands over."""
    folded: bool = False
    """Folded at first."""
    children: list[Node] = field(default_factory=list)


class Machine:
    """The kinematic tree of a model, from the ground outward."""

    def __init__(self, model: Model, cut: frozenset[str]) -> None:
        self.model = model
        expanded = model.expanded
        self.bodies: dict[str, Body] = {body.name: body for body in expanded.bodies}
        self.cut = cut
        self.chain_of: dict[tuple[str, str], DHChain] = {}
        for chain in model.chains:
            self.chain_of.update(dict.fromkeys(brought_by(chain), chain))
        self.joints: dict[str, list[Joint]] = defaultdict(list)
        for joint in expanded.joints:
            self.joints[self.body_of(joint.parent)].append(joint)
            if joint.name not in cut and self.body_of(joint.child) != self.body_of(joint.parent):
                self.joints[self.body_of(joint.child)].append(joint)
        self.frames_on: dict[str, list[Frame]] = defaultdict(list)
        for frame in expanded.frames:
            self.frames_on[frame.parent].append(frame)
        self.assembly_of = {ref: assembly for assembly in model.assemblies for ref in assembled(assembly)}
        self.assembly_rows: dict[str, Node] = {}
        self.seen: set[str] = {WORLD}
        self.passed: set[str] = set()
        self.opened: set[str] = set()

    def body_of(self, name: str) -> str:
        """The body (or the ground) to which a frame finally belongs."""
        return self.model.carrier(name).name

    def ground(self) -> Node:
        """The row of the ground with everything that hangs on it; bodies without a joint come last, free."""
        gravity = self.model.world.gravity.kind
        node = Node(
            "#world",
            WORLD,
            "" if gravity == "uniform" else f"gravity: {gravity}",
            "ground",
            selects_model=True,
            help="The ground, gravity, name and notes of the model",
        )
        node.children = self._on(WORLD)
        for name in self.bodies:
            if name not in self.seen:
                self.seen.add(name)
                assembly = self.assembly_of.get(Ref("bodies", name))
                holder = node if assembly is None else self.assembly_row(assembly)
                holder.children += self._run_from_body(name, free=True)
        shown = {id(row) for row in walk(node.children)}
        node.children += [row for row in map(self.assembly_row, self.model.assemblies) if id(row) not in shown]
        return node

    def _frame_nodes(self, holder: str) -> list[Node]:
        found = []
        for frame in self.frames_on[holder]:
            node = Node(
                f"frames:{frame.name}",
                frame.name,
                "frame",
                "frame",
                Ref("frames", frame.name),
                self._derived("frames", frame.name),
                channels=(f"{frame.name}.position",),
            )
            node.children = self._frame_nodes(frame.name)
            assembly = self.assembly_of.get(Ref("frames", frame.name))
            if assembly is None or self._brought(holder, assembly):
                found.append(node)
                continue
            if frame.name == assembly.ground:
                node.detail, node.icon = f"ground of {assembly.name}", "ground"
            if assembly.name not in self.assembly_rows:
                found.append(self.assembly_row(assembly))
            self.assembly_row(assembly).children.append(node)
        return found

    def _brought(self, holder: str, assembly: SubAssembly) -> bool:
        """Whether a body or frame belongs to a sub-assembly."""
        return any(self.assembly_of.get(Ref(collection, holder)) is assembly for collection in ("bodies", "frames"))

    def _outgoing(self, body: str) -> list[Joint]:
        """Joints that lead from a body to bodies not met before, and those that close a loop here."""
        return [joint for joint in self.joints[body] if self._leads_on(joint, body)]

    def _leads_on(self, joint: Joint, body: str) -> bool:
        if joint.name in self.passed:
            return False
        return joint.name in self.cut or self._far_side(joint, body) not in self.seen

    def _far_side(self, joint: Joint, body: str) -> str:
        child = self.body_of(joint.child)
        return self.body_of(joint.parent) if child == body else child

    def _on(self, body: str) -> list[Node]:
        """Everything that hangs on a body, one group per joint."""
        found = self._frame_nodes(body)
        for joint in self._outgoing(body):
            if joint.name not in self.passed and (
                joint.name in self.cut or self._far_side(joint, body) not in self.seen
            ):
                found += self._branch(joint, body)
        return found

    def _branch(self, joint: Joint, body: str) -> list[Node]:
        """A joint as a row that holds the run behind it; the joints of a chain stand under the chain's row."""
        chain = self.chain_of.get(("joints", joint.name))
        assembly = self.assembly_of.get(Ref("joints", joint.name))
        if assembly is not None and self.assembly_of.get(Ref("bodies", body)) is not assembly:
            return self._into(assembly, joint, body)
        if chain is not None and chain.name not in self.opened:
            self.opened.add(chain.name)
            count = len(chain.rows)
            row = Node(
                f"chains:{chain.name}",
                chain.name,
                f"{chain.convention} DH, {count} joints",
                "chain",
                Ref("chains", chain.name),
            )
            row.children = self._run(joint, body)
            return [row]
        run = self._run(joint, body)
        run[0].children += run[1:]
        return run[:1]

    def _into(self, assembly: SubAssembly, joint: Joint, body: str) -> list[Node]:
        """A branch of a sub-assembly, in the sub-assembly's one row; [] if that row stands already."""
        known = self.assembly_rows.get(assembly.name)
        row = known or self.assembly_row(assembly)
        run = self._run(joint, body)
        run[0].children += run[1:]
        row.children.append(run[0])
        return [] if known is not None else [row]

    def assembly_row(self, assembly: SubAssembly) -> Node:
        """The row of a sub-assembly, made when it is first asked for."""
        if assembly.name not in self.assembly_rows:
            words = assembly.description or f"The machine of the file {assembly.file}"
            self.assembly_rows[assembly.name] = Node(
                f"assemblies:{assembly.name}",
                assembly.name,
                PurePath(assembly.file).name,
                "assembly",
                Ref("assemblies", assembly.name),
                help=words,
            )
        return self.assembly_rows[assembly.name]

    def _derived(self, collection: str, name: str) -> bool:
        return (collection, name) in self.chain_of or Ref(collection, name) in self.assembly_of

    def _run(self, joint: Joint, body: str) -> list[Node]:
        """A joint and what follows it, flat as long as it does not branch."""
        found: list[Node] = []
        current: Joint | None = joint
        while current is not None:
            self.passed.add(current.name)
            found.append(self._joint_node(current, body))
            if current.name in self.cut:
                return found
            other = self._far_side(current, body)
            self.seen.add(other)
            node, current = self._body_node(other)
            found.append(node)
            body = other
            if current is not None and (self._begins_chain(current) or self._begins_assembly(current, body)):
                found += self._branch(current, body)
                current = None
        return found

    def _begins_chain(self, joint: Joint) -> bool:
        chain = self.chain_of.get(("joints", joint.name))
        return chain is not None and chain.name not in self.opened

    def _begins_assembly(self, joint: Joint, body: str) -> bool:
        assembly = self.assembly_of.get(Ref("joints", joint.name))
        return assembly is not None and self.assembly_of.get(Ref("bodies", body)) is not assembly

    def _run_from_body(self, name: str, free: bool) -> list[Node]:
        node, following = self._body_node(name)
        node.detail = "free" if free else node.detail
        return [node, *(self._run(following, name) if following is not None else [])]

    def _body_node(self, name: str) -> tuple[Node, Joint | None]:
        """The row of a body with its frames, and the one joint with which the run goes on (None: it ends or
        branches; then the branches are in the row)."""
        body = self.bodies.get(name)
        node = Node(
            f"bodies:{name}",
            name,
            "",
            "body",
            Ref("bodies", name),
            self._derived("bodies", name),
            channels=(f"{name}.position",),
        )
        if body is None:
            return node, None
        outgoing = self._outgoing(name)
        closing = [joint for joint in outgoing if joint.name in self.cut]
        onward = [joint for joint in outgoing if joint.name not in self.cut]
        node.children = self._frame_nodes(name)
        if len(onward) == 1:
            for joint in closing:
                node.children += self._branch(joint, name)
            return node, onward[0]
        for joint in outgoing:
            if self._leads_on(joint, name):
                node.children += self._branch(joint, name)
        return node, None

    def _joint_node(self, joint: Joint, body: str) -> Node:
        detail, icon = joint.kind, joint.kind
        other = self._far_side(joint, body)
        if joint.name in self.cut:
            detail, icon = f"loop to {other}", "loop"
        elif joint.mimic is not None:
            detail = f"{joint.kind}, follows {joint.mimic.leader}"
        channels = (f"{joint.name}.reaction",) if joint.name in self.cut or not joint.info.nq else (f"{joint.name}.q",)
        words = f"{joint.kind} joint that closes a loop to {other}" if joint.name in self.cut else ""
        return Node(
            f"joints:{joint.name}",
            joint.name,
            detail,
            icon,
            Ref("joints", joint.name),
            self._derived("joints", joint.name),
            help=words,
            channels=channels,
        )


def walk(rows: Iterable[Node]) -> Iterable[Node]:
    """All nodes, depth first."""
    for row in rows:
        yield row
        yield from walk(row.children)
