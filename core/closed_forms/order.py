"""In which order the loops of a machine are closed, and which joints stay independent.

The search is greedy, over clusters of bodies whose poses among each other are known (`core.closed_forms.graph`):

1. Every closed chain of unknown joints through different clusters that has a closed form is taken at once, short ones
   first (`close_all`, `closed_chains`): its joints become known, its clusters one. Gears make joints known, too.
2. Where none is left, some joints are chosen to be independent so that the rest of a loop has a closed form
   (`choices`): as few freedoms as possible, joints with drivers first, revolutes before others, joints of many loops,
   joints near the ground. Then 1 again (`complete`).
3. The first `FOLLOWED` choices are followed to the end; the one that leaves least to iteration wins.
4. What is left of the tree is independent; what is left of the cut joints is left to iteration (`solved`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from core.closed_forms.families import GEARED, ROD, Form, Sample, form_of, samples_of
from core.closed_forms.graph import BESIDE, GEAR, OWN, Chain, Edge, ends, geared
from core.multibody.topology import Topology

LONGEST_CHAIN = 6
"""Elementary joints of the longest closed form."""
LONGEST_LOOP = 12
"""Elementary joints of the longest loop in which independent joints are sought."""
MOST_LOOPS = 160
FOLLOWED = 4
"""First choices that are followed to the end."""
PER_LOOP = 6
"""Choices kept of each loop."""
FREE_OF = {3: ("RRR", "PRR", "PPR"), 4: ("PRRS", "RRRS"), 6: ("PRRRRR", "RRRRRR"), 2: ("LR", "LP")}
"""Kinds (sorted) of chains that can have a closed form, by length; with two balls: RSS and PSS; L: a massless rod."""
_POSSIBLE = {*FREE_OF[2], *FREE_OF[3], *FREE_OF[4], *FREE_OF[6], "RSS", "PSS"}


@dataclass
class Search:
    """How far the machine is known."""

    topology: Topology
    samples: list[Sample]
    free: list[int]
    """Edges whose motion is not known yet."""
    steps: list[Form | int]
    """Forms, and independent edges (by number), in the order in which they become known."""
    left_open: bool = False
    """True if some loop is left whose joints all have coordinates: cut joints elsewhere must then be watched."""
    apart: bool = False
    """True if rods must not determine cut joints, without coordinates in which a loop left open could keep that."""

    @property
    def edges(self) -> list[Edge]:
        """All elementary joints."""
        return self.samples[0].edges

    def copy(self) -> Search:
        """Another that may go on differently."""
        return Search(
            self.topology, [s.copy() for s in self.samples], list(self.free), list(self.steps), apart=self.apart
        )

    def together(self, i: int) -> bool:
        """True if an edge lies inside a cluster."""
        edge = self.edges[i]
        return self.samples[0].clusters.together(edge.a, edge.b)

    def join(self, i: int) -> None:
        """The edge's motion is known: its clusters are one."""
        for sample in self.samples:
            if not sample.clusters.together(sample.edges[i].a, sample.edges[i].b):
                sample.clusters.join(sample.edges[i], sample.values[i])
        self.free.remove(i)

    def choose(self, i: int) -> None:
        """Make a tree edge independent; all edges that follow it, or that it follows, become known with it."""
        first = self.edges[i].q
        for k in [k for k in self.free if k == i or (self.edges[k].q == first and self.edges[k].nv == 1)]:
            self.steps.append(k)
            self.join(k)

    def coupled(self, i: int) -> bool:
        """True if other edges share the coordinate."""
        edge = self.edges[i]
        return not edge.cut and sum(e.q == edge.q and e.nv > 0 for e in self.edges) > 1

    def close(self, form: Form) -> None:
        """Take a closed form."""
        self.steps.append(form)
        members = [i for i, _ in form.chain]
        skipped = next((i for i in reversed(members) if self.edges[i].cut), members[-1])
        for i in members:
            if i != skipped:
                self.join(i)
        self.free.remove(skipped)

    @property
    def left(self) -> int:
        """Freedoms' worth of constraints that are left to iteration."""
        return sum(6 - self.edges[i].nv for i in self.free if self.edges[i].cut)

    @property
    def chosen(self) -> int:
        """Independent freedoms."""
        return sum(self.edges[step].nv for step in self.steps if isinstance(step, int)) + sum(
            step.family == ROD for step in self.steps if isinstance(step, Form)
        )


def begin(topology: Topology, *, apart: bool = False) -> Search:
    """With welded bodies joined."""
    samples = samples_of(topology)
    search = Search(topology, samples, list(range(len(samples[0].edges))), [], apart=apart)
    for i in list(search.free):
        if search.edges[i].kind == "W" and not search.edges[i].cut:
            search.join(i)
    return search


def solved(topology: Topology) -> Search:
    """The machine as far as closed forms lead; what is left of the tree is independent, what is left of the cut joints
    is left to iteration."""
    search = _finished(begin(topology))
    if search.left_open and any(_determines_cut(search, step.chain) for step in search.steps if isinstance(step, Form)):
        search = _finished(begin(topology, apart=True))
    return search


def _finished(search: Search) -> Search:
    search = complete(search)
    for i in list(search.free):
        if i in search.free and not search.edges[i].cut:
            if search.together(i):
                search.left_open = True
            search.choose(i)
            close_gears(search)
    return search


def _determines_cut(search: Search, chain: Sequence[tuple[int, bool]]) -> bool:
    """Whether a closed form would give a rod's constraint to a joint that was cut."""
    edges = [search.edges[i] for i, _ in chain]
    return any(edge.kind in BESIDE for edge in edges) and any(edge.cut and edge.kind not in BESIDE for edge in edges)


def complete(search: Search, *, first: bool = True) -> Search:
    """Close what can be closed, choosing independent joints as they are needed."""
    close_all(search)
    options = list(itertools.islice(choices(search), FOLLOWED if first else 1))
    if not options:
        return search
    results = []
    for number, (independent, form) in enumerate(options):
        trial = _with_independent(search, independent)
        assert trial is not None, "as when the form was found"
        trial.close(form)
        results.append((complete(trial, first=False), number))
    return min(results, key=lambda pair: (pair[0].left, pair[0].chosen, pair[1]))[0] if results else search


def close_all(search: Search) -> None:
    """Take every closed form there is, and what it makes possible."""
    close_gears(search)
    while (form := _next_form(search)) is not None:
        search.close(form)
        close_gears(search)


def close_gears(search: Search) -> None:
    """Joints that gears couple to known ones."""
    while (form := _next_gear(search)) is not None:
        search.close(form)


def _next_gear(search: Search) -> Form | None:
    for i in search.free:
        gear = search.edges[i]
        if gear.kind != GEAR:
            continue
        joint, leader = geared(search.edges, gear)
        for dependent, source, forward in ((joint, leader, True), (leader, joint, False)):
            turns = forward or all(abs(sample.edges[i].ratio) > 0.0 for sample in search.samples)
            open_ = dependent in search.free and source not in search.free
            if open_ and turns and not search.together(dependent) and not search.coupled(dependent):
                return Form(GEARED, ((dependent, True), (i, forward)))
    return None


def _next_form(search: Search) -> Form | None:
    for chain in closed_chains(search, LONGEST_CHAIN, lambda kinds: _promising(kinds)):
        barred = search.apart and _determines_cut(search, chain)
        if _kinds(search, chain) in _POSSIBLE and not barred and not any(search.coupled(i) for i, _ in chain):
            form = form_of(chain, search.samples, lambda i: not search.edges[i].cut)
            if form is not None:
                return form
    return None


def _kinds(search: Search, chain: Sequence[tuple[int, bool]]) -> str:
    return "".join(sorted(search.edges[i].kind for i, _ in chain))


def _promising(kinds: str) -> bool:
    """True if some closed form has these kinds and perhaps others."""
    return any(all(kinds.count(k) <= form.count(k) for k in "RPSHFL") for form in _POSSIBLE)


def closed_chains(search: Search, longest: int, promising: Callable[[str], bool] = lambda _: True) -> Iterator[Chain]:
    """Closed chains of unknown edges through different clusters, short ones first; each once."""
    root = search.samples[0].clusters.root
    around: dict[str, list[tuple[int, bool, str]]] = {}
    for i in search.free:
        a, b = root[search.edges[i].a], root[search.edges[i].b]
        if a != b and search.edges[i].kind not in ("F", GEAR, OWN):
            around.setdefault(a, []).append((i, True, b))
            around.setdefault(b, []).append((i, False, a))
    seen: set[frozenset[int]] = set()
    for length in range(2, longest + 1):
        for start in around:
            for chain in _closed_chains_from(search, around, start, length, promising):
                members = frozenset(i for i, _ in chain)
                if members not in seen:
                    seen.add(members)
                    yield chain


def _closed_chains_from(
    search: Search,
    around: dict[str, list[tuple[int, bool, str]]],
    start: str,
    length: int,
    promising: Callable[[str], bool],
) -> Iterator[Chain]:
    stack: list[tuple[str, Chain, frozenset[str]]] = [(start, (), frozenset())]
    while stack:
        at, chain, passed = stack.pop()
        for i, forward, other in reversed(around[at]):
            if any(i == k for k, _ in chain):
                continue
            longer = (*chain, (i, forward))
            if other == start and len(longer) == length:
                yield longer
            elif other != start and other not in passed and len(longer) < length and promising(_kinds(search, longer)):
                stack.append((other, longer, passed | {other}))


def choices(search: Search) -> Iterator[tuple[tuple[int, ...], Form]]:
    """(edges to make independent, the form that then closes a loop), the best first."""
    rank = _ranks(search)
    found: list[tuple[tuple[float, ...], tuple[int, ...], Chain]] = []
    for chain in itertools.islice(closed_chains(search, LONGEST_LOOP), MOST_LOOPS):
        own = [(_cost(search, kept, rest, rank), kept, rest) for kept, rest in _splits(search, chain)]
        found += sorted(own)[: PER_LOOP * 4]
    for _, independent, rest in sorted(found):
        form = _form_with(search, independent, rest)
        if form is not None:
            yield independent, form


def _splits(search: Search, chain: Chain) -> Iterator[tuple[tuple[int, ...], Chain]]:
    """Parts of a closed chain that may have a closed form once its other edges, of the tree, are independent."""
    for count in (2, 3, 4, 6):
        for kept in itertools.combinations(range(len(chain)), count):
            rest = tuple(chain[k] for k in kept)
            if _kinds(search, rest) not in _POSSIBLE or any(search.coupled(i) for i, _ in rest):
                continue
            if search.apart and _determines_cut(search, rest):
                continue
            independent = tuple(chain[k][0] for k in range(len(chain)) if k not in kept)
            if not any(search.edges[i].cut for i in independent):
                yield independent, rest


def _cost(
    search: Search, independent: tuple[int, ...], rest: Chain, rank: dict[int, tuple[float, ...]]
) -> tuple[float, ...]:
    """Freedoms that become independent (a rod between two balls keeps its spin), then how little they recommend
    themselves."""
    each = sorted(rank[i] for i in independent)
    count = sum(search.edges[i].nv for i in independent) + (_kinds(search, rest) in ("RSS", "PSS"))
    return (float(count), *itertools.chain.from_iterable(each))


def _ranks(search: Search) -> dict[int, tuple[float, ...]]:
    """How little a tree edge recommends itself: not driven, a slide, in few loops, far from the ground, late."""
    topology = search.topology
    driven = {driver.joint for driver in topology.model.drivers}
    loops = [set(loop.joints) for loop in topology.loops]
    depth = {branch.joint.name: len(topology.path(branch.outer)) for branch in topology.branches}
    return {
        i: (
            float(edge.joint not in driven),
            float(edge.kind != "R"),
            -float(sum(edge.joint in loop for loop in loops)),
            float(depth.get(edge.joint, 0)),
            float(i),
        )
        for i, edge in enumerate(search.edges)
    }


def _form_with(search: Search, independent: tuple[int, ...], rest: Chain) -> Form | None:
    """The closed form of the rest of a loop when other joints of it are known."""
    trial = _with_independent(search, independent)
    if trial is None or any(i not in trial.free or trial.together(i) for i, _ in rest) or not _closes(trial, rest):
        return None
    return form_of(rest, trial.samples, lambda i: not search.edges[i].cut)


def _with_independent(search: Search, independent: tuple[int, ...]) -> Search | None:
    """The search with other joints known, and what gears make known with them; None where one of them lies between
    bodies whose places are known by then: nothing would close that loop."""
    trial = search.copy()
    for i in independent:
        if i in trial.free:
            if trial.together(i):
                return None
            trial.choose(i)
            close_gears(trial)
    return trial


def _closes(search: Search, rest: Chain) -> bool:
    """True if each edge ends in the cluster where the next begins."""
    clusters = search.samples[0].clusters
    for (i, forward), (k, onward) in zip(rest, rest[1:] + rest[:1], strict=True):
        if not clusters.together(ends(search.edges[i], forward)[2], ends(search.edges[k], onward)[0]):
            return False
    return True
