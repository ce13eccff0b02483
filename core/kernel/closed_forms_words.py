"""The order of solution in words: which loop follows from what, and what is left to iteration."""

from __future__ import annotations

from dataclasses import dataclass

from core.kernel.closed_forms_graph import Chain
from core.kernel.closed_forms_match import PARALLEL, PLANAR, ROD, SPHERICAL, Form, variants
from core.kernel.closed_forms_search import Search
from core.kernel.topology import Topology

INDEPENDENT, ITERATION, GEOMETRY = "independent", "iteration", "geometry"
LISTED = ("RRR", "RRP", "RPR", "PRR", "RPP", "PRP", "PPR", "SSR", "SSP", "USR", "USP", "UPS",
          "SRS", "SPS", "RSS", "PSS", "SUR", "URS", "SUP", "SPU", "PSU", "RSU", "PUS", "RUS")  # fmt: skip


@dataclass(frozen=True)
class Step:
    """One step of the solution.

    joints : those that become known, kind : "independent", "RRP dyad" …, "iteration", "geometry" (satisfied anyway)
    follows_from : the independent joints on which they depend; loops : numbers of the loops that close
    """

    joints: tuple[str, ...]
    kind: str
    follows_from: tuple[str, ...] = ()
    loops: tuple[int, ...] = ()

    def __str__(self) -> str:
        joints = ", ".join(self.joints)
        if self.kind == INDEPENDENT:
            return f"{joints}: independent"
        head = f"loop {', '.join(map(str, self.loops))}: " if self.loops else ""
        if self.kind == ITERATION:
            return f"{head}cut at {joints}: iteration"
        driven = f"; follows from {', '.join(self.follows_from)}" if self.follows_from else ""
        return f"{head}{joints} – {self.kind}{driven}"


def steps_of(topology: Topology, search: Search | None) -> tuple[Step, ...]:
    """The steps of a search; without one all loops are left to iteration."""
    numbers = {loop.cut: loop.number for loop in topology.loops}
    if search is None:
        return tuple(Step((name,), ITERATION, (), (number,)) for name, number in numbers.items())
    return _Words(search, numbers).steps()


class _Words:
    def __init__(self, search: Search, numbers: dict[str, int]) -> None:
        self.search, self.numbers = search, numbers
        self.edges = search.edges
        self.sources: dict[int, frozenset[str]] = {}
        self.around: dict[str, list[tuple[int, str]]] = {}

    def steps(self) -> tuple[Step, ...]:
        result: list[Step] = []
        for i, edge in enumerate(self.edges):
            if edge.kind == "W" and not edge.cut:
                self._know(i, frozenset())
        for step in self.search.steps:
            if isinstance(step, int):
                self._independent(step, result)
            else:
                result.append(self._closed(step))
        cut = [edge.joint for edge in self.edges if edge.cut]
        left = dict.fromkeys(cut if self.search.torn else (self.edges[i].joint for i in self.search.free))
        for name in left:
            result.append(Step((name,), ITERATION, (), (self.numbers[name],)))
        return tuple(result)

    def _know(self, i: int, sources: frozenset[str]) -> None:
        edge = self.edges[i]
        self.sources[i] = sources
        self.around.setdefault(edge.a, []).append((i, edge.b))
        self.around.setdefault(edge.b, []).append((i, edge.a))

    def _independent(self, i: int, result: list[Step]) -> None:
        name = self.edges[i].joint
        self._know(i, frozenset({name}))
        step = Step((name,), INDEPENDENT)
        if step not in result:
            result.append(step)

    def _closed(self, form: Form) -> Step:
        sources = frozenset().union(*(self._between(form.chain, k) for k in range(len(form.chain))))
        chain = self._from_what_drives(form.chain)
        joints = tuple(dict.fromkeys(self.edges[i].joint for i, _ in chain))
        loops = sorted({self.numbers[name] for name in joints if name in self.numbers})
        for i, _ in form.chain:
            self._know(i, sources)
        order = tuple(dict.fromkeys(edge.joint for edge in self.edges if edge.joint in sources))
        return Step(joints, self._kind(form, chain), order, tuple(loops))

    def _from_what_drives(self, chain: Chain) -> Chain:
        """The chain begun behind the part that moves, in the direction that has a usual name."""
        best = [way for way in variants(chain) if self._between(way, len(way) - 1)] or list(variants(chain))
        return min(best, key=lambda way: LISTED.index(n) if (n := self._letters(way)) in LISTED else len(LISTED))

    def _letters(self, chain: Chain) -> str:
        """One letter for each joint: two revolutes that meet are U, three through a point S."""
        kinds = "".join(self.edges[i].kind for i, _ in chain)
        if len(kinds) == 3:
            return kinds
        return kinds.replace("RRR", "S", 1 if "S" not in kinds else 0).replace("RR", "U", 1)

    def _kind(self, form: Form, chain: Chain) -> str:
        letters = self._letters(chain)
        names = {PLANAR: f"{letters} dyad", SPHERICAL: "spherical RRR", ROD: f"{letters} dyad",
                 PARALLEL: "parallel axes and a ball"}  # fmt: skip
        return names.get(form.family, f"{letters} dyad")

    def _between(self, chain: Chain, k: int) -> frozenset[str]:
        """What the known part behind the k-th joint depends on."""
        i, forward = chain[k]
        n, onward = chain[(k + 1) % len(chain)]
        start = self.edges[i].b if forward else self.edges[i].a
        goal = self.edges[n].a if onward else self.edges[n].b
        return self._path(start, goal)

    def _path(self, start: str, goal: str) -> frozenset[str]:
        seen: dict[str, frozenset[str]] = {start: frozenset()}
        queue = [start]
        while queue:
            node = queue.pop(0)
            for i, other in self.around.get(node, ()):
                if other not in seen:
                    seen[other] = seen[node] | self.sources[i]
                    queue.append(other)
        return seen.get(goal, frozenset())
