"""Description of the order of solution: the coordinates on which each loop's solution depends, and the loops left to
iteration."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from core.constraints.closed_forms.families import (
    GEARED,
    PARALLEL,
    PLANAR,
    ROD,
    SPHERICAL,
    ChainSolution,
    chain_variants,
)
from core.constraints.closed_forms.graph import BESIDE, LINK, Chain
from core.constraints.closed_forms.order import SolutionSearch
from core.mechanics.multibody.topology import Topology
from core.model import WORLD, Constraint

INDEPENDENT, TIED, ITERATION = "independent", "coupled", "iteration"
LISTED = (
    "RRR",
    "RRP",
    "RPR",
    "PRR",
    "RPP",
    "PRP",
    "PPR",
    "SSR",
    "SSP",
    "USR",
    "USP",
    "UPS",
    "SRS",
    "SPS",
    "RSS",
    "PSS",
    "SUR",
    "URS",
    "SUP",
    "SPU",
    "PSU",
    "RSU",
    "PUS",
    "RUS",
)


@dataclass(frozen=True)
class SolutionStep:
    """One step of the order of solution.

    joints : those that become known, kind : "independent", "RRP dyad" …; "coupled": coordinates between which
    iteration finds an agreement; "iteration": the cut joint, or the constraint, that is left to it
    follows_from : the independent joints on which they depend; what ties; what is tied; loops : numbers of the loops
    that close
    """

    joints: tuple[str, ...]
    kind: str
    follows_from: tuple[str, ...] = ()
    loops: tuple[int, ...] = ()

    def __str__(self) -> str:
        joints = ", ".join(self.joints)
        if self.kind == INDEPENDENT:
            return f"{joints}: independent"
        if self.kind == TIED:
            return f"{joints}: coupled by iteration through {', '.join(self.follows_from)}"
        head = f"loop {', '.join(map(str, self.loops))}: " if self.loops else ""
        if self.kind == ITERATION:
            return f"{head}{'cut at ' if self.loops else ''}{joints}: iteration"
        driven = f"; follows from {', '.join(self.follows_from)}" if self.follows_from else ""
        return f"{head}{joints} – {self.kind}{driven}"


def solution_steps(topology: Topology, search: SolutionSearch | None) -> tuple[SolutionStep, ...]:
    """Describe the steps of a search; without a search all loops are left to iteration."""
    numbers = {loop.cut: loop.number for loop in topology.loops}
    if search is None:
        return tuple(SolutionStep((name,), ITERATION, (), (number,)) for name, number in numbers.items())
    return _StepWriter(search, numbers).write_steps()


def _merge_coupled_steps(steps: list[SolutionStep], iteration_steps: list[SolutionStep]) -> list[SolutionStep]:
    """Merge independent joints that iteration couples into one step for each connected group."""
    groups: list[tuple[set[str], list[str]]] = []
    for step in iteration_steps:
        joints, names = set(step.follows_from), list(step.joints)
        for group in [group for group in groups if group[0] & joints]:
            groups.remove(group)
            joints, names = joints | group[0], group[1] + names
        groups.append((joints, names))
    result = []
    for step in steps:
        found = next((g for g in groups if step.kind == INDEPENDENT and step.joints[0] in g[0]), None)
        if found is not None:
            order = tuple(s.joints[0] for s in steps if s.kind == INDEPENDENT and s.joints[0] in found[0])
            step = SolutionStep(order, TIED, tuple(found[1]))
        result.append(step)
    return list(dict.fromkeys(result))


class _StepWriter:
    def __init__(self, search: SolutionSearch, loop_numbers: dict[str, int]) -> None:
        self.search, self.numbers = search, loop_numbers
        self.edges = search.edges
        self.listed = {name: k for k, name in enumerate(dict.fromkeys(edge.joint for edge in self.edges))}
        """Joint → its place in the document."""
        self.sources: dict[int, frozenset[str]] = {}
        self.around: dict[str, list[tuple[int, str]]] = {}

    def write_steps(self) -> tuple[SolutionStep, ...]:
        result: list[SolutionStep] = []
        for i, edge in enumerate(self.edges):
            if edge.kind == "W" and not edge.cut:
                self._mark_known(i, frozenset())
        for step in self.search.steps:
            if isinstance(step, int):
                self._add_independent_step(step, result)
            elif step.family == GEARED:
                result.append(self._gear_step(step))
            else:
                result.append(self._chain_step(step))
        left = self._iteration_steps()
        return (*_merge_coupled_steps(list(dict.fromkeys(result)), left), *left)

    def _iteration_steps(self) -> list[SolutionStep]:
        """Steps for what is left to iteration, with the independent joints that it couples."""
        topology = self.search.topology
        loops = {loop.cut: loop for loop in topology.loops}
        cut = [i for i, edge in enumerate(self.edges) if edge.cut and edge.kind not in BESIDE]
        free = cut if self.search.left_open else [i for i in self.search.free if self.edges[i].kind not in BESIDE]
        result = []
        for name in dict.fromkeys(self.edges[i].joint for i in free):
            tied = self._independent_sources(loops[name].joints[:-1])
            result.append(SolutionStep((name,), ITERATION, tied, (self.numbers[name],)))
        closed = {
            self.edges[i].joint
            for form in self.search.steps
            if isinstance(form, ChainSolution)
            for i, _ in form.chain
            if self.edges[i].kind in BESIDE
        }
        for constraint in topology.model.constraints:
            if constraint.name not in closed:
                tied = self._independent_sources(self._joints_of_constraint(constraint))
                result.append(SolutionStep((constraint.name,), ITERATION, tied))
        return result

    def _joints_of_constraint(self, constraint: Constraint) -> set[str]:
        """Tree joints that a constraint depends on."""
        topology = self.search.topology
        loops = {loop.cut: loop.joints[:-1] for loop in topology.loops}
        joints = {name for joint in constraint.joints for name in loops.get(joint, (joint,))}
        pairs = constraint.connected_frames(topology.model.sensors)
        return joints.union(*({*topology.path(a or WORLD)} ^ {*topology.path(b or WORLD)} for a, b in pairs))

    def _independent_sources(self, joints: Iterable[str]) -> tuple[str, ...]:
        """Independent joints that the given joints depend on, in the order of the document."""
        wanted = set(joints)
        sources = frozenset().union(
            *(self.sources.get(i, frozenset()) for i, edge in enumerate(self.edges) if edge.joint in wanted)
        )
        return self._in_document_order(sources)

    def _in_document_order(self, joints: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(joints, key=self.listed.__getitem__))

    def _mark_known(self, i: int, sources: frozenset[str]) -> None:
        edge = self.edges[i]
        self.sources[i] = sources
        self.around.setdefault(edge.a, []).append((i, edge.b))
        self.around.setdefault(edge.b, []).append((i, edge.a))

    def _add_independent_step(self, i: int, result: list[SolutionStep]) -> None:
        name = self.edges[i].joint
        self._mark_known(i, frozenset({name}))
        result.append(SolutionStep((name,), INDEPENDENT))

    def _chain_step(self, form: ChainSolution) -> SolutionStep:
        sources = frozenset().union(*(self._sources_after_joint(form.chain, k) for k in range(len(form.chain))))
        chain = self._start_at_driving_part(form.chain)
        joints = tuple(dict.fromkeys(self.edges[i].joint for i, _ in chain if self.edges[i].kind != LINK))
        loops = sorted({self.numbers[name] for name in joints if name in self.numbers})
        for i, _ in form.chain:
            if self.edges[i].kind != LINK:
                self._mark_known(i, sources)
        return SolutionStep(joints, self._chain_name(form, chain), self._in_document_order(sources), tuple(loops))

    def _gear_step(self, form: ChainSolution) -> SolutionStep:
        (i, _), (k, forward) = form.chain
        sources = self.sources[self.search.facts.pairs[k][1 if forward else 0]]
        self._mark_known(i, sources)
        return SolutionStep((self.edges[i].joint,), f"gear {self.edges[k].joint}", self._in_document_order(sources))

    def _start_at_driving_part(self, chain: Chain) -> Chain:
        """The chain rotated to start after the moving part, in the direction with a conventional name."""
        best = [each for each in chain_variants(chain) if self._sources_after_joint(each, len(each) - 1)] or list(
            chain_variants(chain)
        )
        return min(best, key=lambda each: LISTED.index(n) if (n := self._dyad_letters(each)) in LISTED else len(LISTED))

    def _dyad_letters(self, chain: Chain) -> str:
        """One letter for each joint: U for two intersecting revolutes, S for three through a point."""
        kinds = "".join(self.edges[i].kind for i, _ in chain)
        if len(kinds) == 3:
            return kinds
        return kinds.replace("RRR", "S", 1 if "S" not in kinds else 0).replace("RR", "U", 1)

    def _chain_name(self, form: ChainSolution, chain: Chain) -> str:
        letters = self._dyad_letters(chain)
        rods = [self.edges[i].joint for i, _ in chain if self.edges[i].kind == LINK]
        if rods:
            return f"SS{letters.replace(LINK, '')} dyad with rod {rods[0]}"
        names = {
            PLANAR: f"{letters} dyad",
            SPHERICAL: "spherical RRR",
            ROD: f"{letters} dyad",
            PARALLEL: "parallel axes and a ball joint",
        }
        return names.get(form.family, f"{letters} dyad")

    def _sources_after_joint(self, chain: Chain, k: int) -> frozenset[str]:
        """Independent joints on which the known part after the k-th joint depends."""
        i, forward = chain[k]
        n, onward = chain[(k + 1) % len(chain)]
        start = self.edges[i].b if forward else self.edges[i].a
        goal = self.edges[n].a if onward else self.edges[n].b
        return self._sources_between(start, goal)

    def _sources_between(self, start: str, end: str) -> frozenset[str]:
        if len(self.around.get(start, ())) > len(self.around.get(end, ())):  # the world is met by many
            start, end = end, start
        seen: dict[str, frozenset[str]] = {start: frozenset()}
        queue = deque((start,))
        while queue and end not in seen:
            node = queue.popleft()
            for i, other in self.around.get(node, ()):
                if other not in seen:
                    seen[other] = seen[node] | self.sources[i]
                    queue.append(other)
        return seen.get(end, frozenset())
