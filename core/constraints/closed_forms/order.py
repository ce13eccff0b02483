"""Order in which the loops of a machine are solved, and choice of independent joints.

Each group of joints that can help each other (`group_edges`) is sought through by itself. The search is greedy,
over clusters of bodies whose poses among each other are known (`core.constraints.closed_forms.graph`):

1. Every closed chain of unknown joints through different clusters that has a closed form is taken at once, short ones
   first (`close_solvable_chains`, `closed_chains`): its joints become known, its clusters one. Gears make joints known,
   too.
2. Where none is left, some joints are chosen to be independent so that the rest of a loop has a closed form
   (`choices`): as few freedoms as possible, joints with drivers first, revolutes before others, joints of many loops,
   joints near the ground. Then 1 again (`complete`).
3. The first `FOLLOWED` choices are followed to the end; the one that leaves least to iteration wins.
4. What is left of the tree is independent; what is left of the cut joints is left to iteration (`solved`).
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from core.constraints.closed_forms.closed_chains import ChainGraph, group_edges
from core.constraints.closed_forms.families import GEARED, ROD, ChainSolution, find_chain_solution, random_samples
from core.constraints.closed_forms.graph import BESIDE, GEAR, OWN, Chain, Edge, edge_ends, geared_pairs
from core.mechanics.multibody.topology import Topology

LONGEST_CHAIN = 6
"""Largest number of elementary joints in an analytic solution."""
LONGEST_LOOP = 12
"""Largest number of elementary joints in a loop searched for independent joints."""
MOST_LOOPS = 160
FOLLOWED = 4
"""Number of best first choices that are followed to a complete solution."""
PER_LOOP = 6
"""Number of choices kept for each loop."""
FREE_OF = {3: ("RRR", "PRR", "PPR"), 4: ("PRRS", "RRRS"), 6: ("PRRRRR", "RRRRRR"), 2: ("LR", "LP")}
"""Kinds (sorted) of chains that may have an analytic solution, by length; also RSS and PSS, with two ball joints; L : a
massless rod"""
_POSSIBLE = {*FREE_OF[2], *FREE_OF[3], *FREE_OF[4], *FREE_OF[6], "RSS", "PSS"}
_PROMISING = {
    "".join(part)
    for kinds in _POSSIBLE
    for count in range(len(kinds))
    for part in itertools.combinations(sorted(kinds), count)
}
"""Kinds (sorted) of partial chains that some solvable chain contains."""
Split = tuple[tuple[float, ...], tuple[int, ...], Chain]
"""Cost, edges to make independent, and the remaining edges of a closed chain."""


class EdgeFacts:
    """Fixed data of the edges (gears, couplings, preferences), and cached results for chains."""

    def __init__(self, topology: Topology, edges: list[Edge]) -> None:
        self.topology, self.edges = topology, edges
        sharing = Counter(edge.q for edge in edges if edge.nv > 0)
        self.coupled = [not edge.cut and edge.nv > 0 and sharing[edge.q] > 1 for edge in edges]
        """True for edges that share their coordinate with others."""
        self.sharing: dict[int, list[int]] = {}
        for i, edge in enumerate(edges):
            if edge.nv == 1 and not edge.cut:
                self.sharing.setdefault(edge.q, []).append(i)
        self.pairs = geared_pairs(edges)
        self.gears: dict[int, list[int]] = {}
        """Edge → its gears."""
        for gear, pair in self.pairs.items():
            for i in pair:
                self.gears.setdefault(i, []).append(gear)
        self.forms: dict[Chain, ChainSolution | None] = {}
        """Of closed chains: poses inside clusters stay what they are, so that an answer holds as long as the chain."""
        self.rests: dict[tuple[tuple[int, ...], Chain], ChainSolution | None] = {}
        """Of parts of closed chains whose other edges are independent; no gears and couplings about."""
        self.splits: dict[Chain, list[Split]] = {}

    @cached_property
    def preference_ranks(self) -> dict[int, tuple[float, ...]]:
        """Preference of each edge as an independent one; smaller is better."""
        return _preference_ranks(self.topology, self.edges)


class SolutionSearch:
    """State of the search for an order of solution: known clusters, remaining edges, steps found so far."""

    def __init__(self, topology: Topology, *, separately: bool = False) -> None:
        self.topology = topology
        self.samples = random_samples(topology)
        edges = self.edges
        self.facts = EdgeFacts(topology, edges)
        self.free: dict[int, None] = dict.fromkeys(range(len(edges)))
        """Edges whose motion is not known yet."""
        self.steps: list[ChainSolution | int] = []
        """Forms, and independent edges (by number), in the order in which they become known."""
        self.left_open = False
        """True if some loop is left whose joints all have coordinates: cut joints elsewhere must then be watched."""
        self.apart = separately
        """True if rods must not determine cut joints, without coordinates in which a loop left open could keep that."""
        closing = {i: (e.a, e.b) for i, e in enumerate(edges) if e.kind not in ("F", GEAR, OWN) and e.a != e.b}
        self.graph = ChainGraph(edges, closing)
        self.chains: list[tuple[tuple[int, ...], Chain]] | None = None
        """Closed chains that may have a closed form, a heap; None before they are asked for."""
        self.ready: list[int] = []
        """Gears one of whose joints is known, a heap."""

    @property
    def edges(self) -> list[Edge]:
        """All elementary joints."""
        return self.samples[0].edges

    def copy(self) -> SolutionSearch:
        """An independent copy."""
        other = object.__new__(SolutionSearch)
        other.topology, other.facts, other.apart = self.topology, self.facts, self.apart
        other.samples, other.graph = [sample.copy() for sample in self.samples], self.graph.copy()
        other.free, other.steps, other.left_open = dict(self.free), list(self.steps), False
        other.chains, other.ready = None if self.chains is None else list(self.chains), list(self.ready)
        return other

    def parts(self) -> Iterator[SolutionSearch]:
        """Separate searches for independent groups of joints, none of them started."""
        tied = [[gear, *pair] for gear, pair in self.facts.pairs.items()]
        tied += [sharing for sharing in self.facts.sharing.values() if len(sharing) > 1]
        for group in group_edges(self.graph.links, tied):
            links = {i: self.graph.links[i] for i in group if i in self.graph.links}
            nodes = [node for i in group for node in (self.edges[i].a, self.edges[i].b)]
            part = object.__new__(SolutionSearch)
            part.topology, part.facts, part.apart = self.topology, self.facts, self.apart
            part.samples = [sample.part(nodes) for sample in self.samples]
            part.graph = ChainGraph(self.edges, links)
            part.free, part.steps, part.left_open = dict.fromkeys(i for i in group if i in self.free), [], False
            part.chains, part.ready = None, []
            yield part

    def connects_one_cluster(self, i: int) -> bool:
        """Return True if both ends of an edge are in one cluster."""
        edge = self.edges[i]
        return self.samples[0].clusters.are_connected(edge.a, edge.b)

    def join(self, i: int) -> None:
        """Mark an edge as known and merge its clusters."""
        self.mark_known(i)
        edge, root = self.edges[i], self.samples[0].clusters.root
        a, b = root[edge.a], root[edge.b]
        if a == b:
            return
        if self.chains is not None:
            for chain in self.graph.chains_between(a, b, LONGEST_CHAIN, self.is_promising):
                self._queue_chain(chain)
        for sample in self.samples:
            sample.join(i)
        first = root[edge.a]
        self.graph.merge_clusters(first, b if first == a else a)

    def mark_known(self, i: int) -> None:
        """Mark an edge as known."""
        del self.free[i]
        self.graph.remove(i)
        for gear in self.facts.gears.get(i, ()):
            heapq.heappush(self.ready, gear)

    def is_promising(self, chain: Chain) -> bool:
        """Return True if the kinds of a partial chain occur in a solvable chain."""
        return sorted_kinds(self.edges, chain) in _PROMISING

    def _queue_chain(self, chain: Chain) -> None:
        if sorted_kinds(self.edges, chain) in _POSSIBLE and not any(self.facts.coupled[i] for i, _ in chain):
            assert self.chains is not None
            heapq.heappush(self.chains, self.graph.canonical_chain(chain))

    def next_chain(self) -> Chain | None:
        """Next closed chain that may have an analytic solution, short ones first; a chain is repeated only after the
        clusters change."""
        if self.chains is None:
            self.chains = []
            for length in range(2, LONGEST_CHAIN + 1):
                for chain in self.graph.closed_chains_of_length(length, self.is_promising):
                    self._queue_chain(chain)
        while self.chains:
            key, chain = heapq.heappop(self.chains)
            if not self.graph.is_valid(chain):
                continue
            now = self.graph.canonical_chain(chain)
            if self.chains and now > self.chains[0] and now[0] > key:
                heapq.heappush(self.chains, now)
                continue
            return now[1]
        return None

    def make_independent(self, i: int) -> None:
        """Make a tree edge independent; coupled edges become known with it."""
        for k in sorted({i, *self.facts.sharing.get(self.edges[i].q, ())}):
            if k in self.free:
                self.append_step(k)

    def append_step(self, step: ChainSolution | int) -> None:
        """Append a step: a chain solution, or an edge that becomes independent."""
        if isinstance(step, ChainSolution):
            self.close(step)
            return
        self.steps.append(step)
        self.join(step)

    def close(self, form: ChainSolution) -> None:
        """Append a chain solution."""
        self.steps.append(form)
        members = [i for i, _ in form.chain]
        skipped = next((i for i in reversed(members) if self.edges[i].cut), members[-1])
        for i in members:
            if i != skipped:
                self.join(i)
        self.mark_known(skipped)

    @property
    def remaining_equations(self) -> int:
        """Number of constraint equations left to iteration."""
        return sum(6 - self.edges[i].nv for i in self.free if self.edges[i].cut)

    @property
    def independent_dof(self) -> int:
        """Number of independent degrees of freedom."""
        return sum(self.edges[step].nv for step in self.steps if isinstance(step, int)) + sum(
            step.family == ROD for step in self.steps if isinstance(step, ChainSolution)
        )


def begin_search(topology: Topology, *, separately: bool = False) -> SolutionSearch:
    """Create a search in which welded bodies are merged already."""
    search = SolutionSearch(topology, separately=separately)
    for i in list(search.free):
        if search.edges[i].kind == "W" and not search.edges[i].cut:
            search.join(i)
    return search


def solve_order(topology: Topology) -> SolutionSearch:
    """Search for an order of solution: tree joints that remain become independent, cut joints that remain are left to
    iteration."""
    search = _complete_parts(begin_search(topology))
    if search.left_open and any(
        _determines_cut(search, step.chain) for step in search.steps if isinstance(step, ChainSolution)
    ):
        search = _complete_parts(begin_search(topology, separately=True))
    return search


def _complete_parts(search: SolutionSearch) -> SolutionSearch:
    for part in list(search.parts()):
        for step in complete_search(part).steps:
            search.append_step(step)
    for i in list(search.free):
        if i in search.free and not search.edges[i].cut:
            if search.connects_one_cluster(i):
                search.left_open = True
            search.make_independent(i)
            solve_geared_joints(search)
    return search


def _determines_cut(search: SolutionSearch, chain: Sequence[tuple[int, bool]]) -> bool:
    """Return True if a solution would let a rod's constraint determine a cut joint."""
    edges = [search.edges[i] for i, _ in chain]
    return any(edge.kind in BESIDE for edge in edges) and any(edge.cut and edge.kind not in BESIDE for edge in edges)


def complete_search(search: SolutionSearch) -> SolutionSearch:
    """Close all solvable chains, choosing independent joints as needed."""
    close_solvable_chains(search)
    results: list[SolutionSearch] = []
    for independent, form in itertools.islice(ranked_choices(search), FOLLOWED):
        trial = _make_edges_independent(search, independent)
        assert trial is not None, "as when the form was found"
        trial.close(form)
        followed = _complete_greedily(trial, results)
        if followed is not None:
            results.append(followed)
    return min(results, key=lambda each: (each.remaining_equations, each.independent_dof)) if results else search


def _complete_greedily(search: SolutionSearch, rivals: Sequence[SolutionSearch]) -> SolutionSearch | None:
    """Complete the search by always taking the best choice; None once it cannot have more independent degrees of
    freedom than a complete alternative."""
    enough = min((other.independent_dof for other in rivals if not other.remaining_equations), default=math.inf)
    while search.independent_dof < enough:
        close_solvable_chains(search)
        best = next(ranked_choices(search), None)
        if best is None:
            return search
        chosen = _make_edges_independent(search, best[0])
        assert chosen is not None, "as when the form was found"
        search = chosen
        search.close(best[1])
    return None


def close_solvable_chains(search: SolutionSearch) -> None:
    """Apply every chain solution, and those that become possible thereby."""
    solve_geared_joints(search)
    while (form := _next_solution(search)) is not None:
        search.close(form)
        solve_geared_joints(search)


def solve_geared_joints(search: SolutionSearch) -> None:
    """Solve joints that gears couple to known ones."""
    while (form := _next_gear(search)) is not None:
        search.close(form)


def _next_gear(search: SolutionSearch) -> ChainSolution | None:
    while search.ready:
        i = heapq.heappop(search.ready)
        joint, leader = search.facts.pairs[i]
        for dependent, source, forward in ((joint, leader, True), (leader, joint, False)):
            turns = forward or all(abs(sample.edges[i].ratio) > 0.0 for sample in search.samples)
            open_ = i in search.free and dependent in search.free and source not in search.free
            if open_ and turns and not search.connects_one_cluster(dependent) and not search.facts.coupled[dependent]:
                return ChainSolution(GEARED, ((dependent, True), (i, forward)))
    return None


def _next_solution(search: SolutionSearch) -> ChainSolution | None:
    while (chain := search.next_chain()) is not None:
        if search.apart and _determines_cut(search, chain):
            continue
        forms = search.facts.forms
        if chain not in forms:
            forms[chain] = find_chain_solution(chain, search.samples, lambda i: not search.edges[i].cut)
        if (form := forms[chain]) is not None:
            return form
    return None


def sorted_kinds(edges: list[Edge], chain: Sequence[tuple[int, bool]]) -> str:
    """Kinds of the chain's edges, sorted."""
    return "".join(sorted(edges[i].kind for i, _ in chain))


def ranked_choices(search: SolutionSearch) -> Iterator[tuple[tuple[int, ...], ChainSolution]]:
    """Yield (edges to make independent, solution that then closes a loop), best first."""
    found: list[Split] = []
    for chain in itertools.islice(_closed_chains(search), MOST_LOOPS):
        if chain not in search.facts.splits:
            search.facts.splits[chain] = sorted(_chain_splits(search, chain))[: PER_LOOP * 4]
        found += search.facts.splits[chain]
    for _, independent, rest in sorted(found):
        form = _find_solution_for_rest(search, independent, rest)
        if form is not None:
            yield independent, form


def _closed_chains(search: SolutionSearch) -> Iterator[Chain]:
    """Closed chains, short ones first."""
    for length in range(2, LONGEST_LOOP + 1):
        for _, chain in sorted(map(search.graph.canonical_chain, search.graph.closed_chains_of_length(length))):
            yield chain


def _chain_splits(search: SolutionSearch, chain: Chain) -> Iterator[Split]:
    """Splits of a closed chain into tree edges to make independent and a rest that may have an analytic solution."""
    edges, coupled = search.edges, search.facts.coupled
    for count in (2, 3, 4, 6):
        for kept in itertools.combinations(range(len(chain)), count):
            rest = tuple(chain[k] for k in kept)
            if sorted_kinds(edges, rest) not in _POSSIBLE or any(coupled[i] for i, _ in rest):
                continue
            if search.apart and _determines_cut(search, rest):
                continue
            independent = tuple(chain[k][0] for k in range(len(chain)) if k not in kept)
            if not any(edges[i].cut for i in independent):
                yield _split_cost(search, independent, rest), independent, rest


def _split_cost(search: SolutionSearch, independent: tuple[int, ...], remaining: Chain) -> tuple[float, ...]:
    """Number of degrees of freedom that become independent (a rod between two balls keeps its spin), then the
    preference of their edges."""
    edges, rank = search.edges, search.facts.preference_ranks
    each = sorted(rank[i] for i in independent)
    count = sum(edges[i].nv for i in independent) + (sorted_kinds(edges, remaining) in ("RSS", "PSS"))
    return (float(count), *itertools.chain.from_iterable(each))


def _preference_ranks(topology: Topology, edges: list[Edge]) -> dict[int, tuple[float, ...]]:
    """Preference of each tree edge as independent, smaller is better: driven, revolute, in many loops, near the ground,
    early."""
    driven = {driver.joint for driver in topology.model.drivers}
    loops = Counter(joint for loop in topology.loops for joint in set(loop.joints))
    depth = {branch.joint.name: len(topology.path(branch.outer)) for branch in topology.branches}
    return {
        i: (
            float(edge.joint not in driven),
            float(edge.kind != "R"),
            -float(loops[edge.joint]),
            float(depth.get(edge.joint, 0)),
            float(i),
        )
        for i, edge in enumerate(edges)
    }


def _find_solution_for_rest(
    search: SolutionSearch, independent: tuple[int, ...], remaining: Chain
) -> ChainSolution | None:
    """Find the analytic solution of the remaining edges of a loop once its other joints are known."""
    facts = search.facts
    lasting = not (facts.pairs or any(facts.coupled[i] for i in independent))
    if lasting and (independent, remaining) in facts.rests:
        return facts.rests[independent, remaining]
    form, trial = None, _make_edges_independent(search, independent)
    if (
        trial is not None
        and not any(i not in trial.free or trial.connects_one_cluster(i) for i, _ in remaining)
        and _is_closed_chain(trial, remaining)
    ):
        form = find_chain_solution(remaining, trial.samples, lambda i: not search.edges[i].cut)
    if lasting:
        facts.rests[independent, remaining] = form
    return form


def _make_edges_independent(search: SolutionSearch, independent: tuple[int, ...]) -> SolutionSearch | None:
    """Return a copy of the search with further joints known, and those that gears couple to them; None if one of them
    connects bodies whose relative pose would be known already, so that its loop would stay open."""
    trial = search.copy()
    for i in independent:
        if i in trial.free:
            if trial.connects_one_cluster(i):
                return None
            trial.make_independent(i)
            solve_geared_joints(trial)
    return trial


def _is_closed_chain(search: SolutionSearch, edges: Chain) -> bool:
    """True if the edges are unknown, connect different clusters, and follow each other end to end."""
    clusters = search.samples[0].clusters
    if any(i not in search.free or search.connects_one_cluster(i) for i, _ in edges):
        return False
    for (i, forward), (k, onward) in zip(edges, edges[1:] + edges[:1], strict=True):
        if not clusters.are_connected(edge_ends(search.edges[i], forward)[2], edge_ends(search.edges[k], onward)[0]):
            return False
    return True
