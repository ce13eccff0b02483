"""Velocity ratios of a symbolic linkage, and its equations of motion in independent coordinates.

M = Φᵀ M_tree Φ, Christoffel symbols of M from those of the tree and the derivatives of Φ, G = Φᵀ G_tree. Of one freedom
I(q) q̈ + ½ I′(q) q̇² + G(q) = τ (Burton Paul, Kinematics and Dynamics of Planar Machinery, 1979, chapter 12).

Ratios follow step by step, by the kernel's solvers of closed chains. A ratio can be written in several manners, all
equal where the loop is closed: of the chain begun at each of its joints, and of its joints placed along one part of the
loop or the other, the one is taken that is shortest to write. For a four-bar that is a sin(θ3 − θ2) over c sin(θ4 −
θ3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from core.constraints.closed_forms.families import PLANAR
from core.constraints.closed_forms.families import Form as LoopForm
from core.constraints.closed_forms.graph import LINK, ends
from core.constraints.closed_forms.velocities import Axis, Flow, Solver, axis_of
from core.mechanics.tree import inline
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar, all_zero, is_zero, negated, over, plus, times
from core.numerics.spatial.vector import Motion, Vector3
from core.symbolic.forms import ZERO, Form, Number, Symbol, operations, power, product, summed
from core.symbolic.linkage_symbols import LinkageSymbols
from core.symbolic.long_forms import Part, length
from core.symbolic.loop_ring import Definition, Ratio

LONGEST = 200
"""Largest number of terms of an entry that is written as a whole; longer ones are written part by part."""


class Speeds:
    """Velocity ratios of a linkage, added step by step."""

    def __init__(self, linkage: LinkageSymbols) -> None:
        self.linkage = linkage
        self.flow = Flow(list(linkage.placed.root), inline)
        self.axes = {i: axis_of(edge, linkage.placed, linkage.q) for i, edge in enumerate(linkage.edges)}
        self.columns: list[list[Scalar]] = [[0.0] * len(linkage.places) for _ in linkage.variables]
        self.ratios: dict[tuple[int, int], Ratio] = {}

    def ratio_name(self, i: int, a: int) -> str:
        """Return the name of ∂q_i/∂q_a; "" if it is a number."""
        return self.linkage.ratio_names[i, a] if (i, a) in self.ratios else ""

    def slope_name(self, i: int, a: int, b: int) -> str:
        """Return the name of ∂²q_i/∂q_a∂q_b; "" if it is zero because a first derivative is a number."""
        return self.linkage.ratio_names[i, a, b] if {(i, a), (i, b)} <= self.ratios.keys() else ""

    def add_independent(self, i: int) -> None:
        """Add an independent joint."""
        edge = self.linkage.edges[i]
        if not edge.nv:
            self.flow.join(edge, {})
            return
        at = self.linkage.number_of(edge)
        place = self.linkage.places.index(at)
        self.columns[at][place] = 1.0
        self.flow.join(edge, {place: self.axes[i].columns[0].scaled(edge.ratio)})

    def add_geared(self, form: LoopForm, pairs: Mapping[int, tuple[int, int]]) -> list[Definition]:
        """Add a joint driven by a gear; return the definitions of its ratios."""
        (i, _), (k, forward) = form.chain
        gear, source = self.linkage.edges[k], self.linkage.edges[pairs[k][1 if forward else 0]]
        at = self.linkage.number_of(source)
        factor = times(gear.ratio, source.ratio) if forward else over(source.ratio, gear.ratio)
        found = {a: self.linkage.ring.ratio(times(factor, x)) for a, x in enumerate(self.columns[at]) if not is_zero(x)}
        return self._add_tree_joint(i, found)

    def _add_tree_joint(self, i: int, found: Mapping[int, Ratio]) -> list[Definition]:
        """Add the ratios and motion of a tree joint; return definitions of ratios that are not numbers."""
        edge, made = self.linkage.edges[i], []
        at = self.linkage.number_of(edge)
        across_: dict[int, Motion] = {}
        for a, ratio in found.items():
            value: Scalar = ratio.top
            if not (isinstance(ratio.top, float) and isinstance(ratio.bottom, float)):
                definition = self.linkage.ratio_definition(at, a, ratio)
                made.append(definition)
                self.ratios[at, a] = ratio
                value = self.linkage.ring.symbol(definition.name)
            else:
                value = ratio.top / ratio.bottom
            self.columns[at][a] = value
            if not is_zero(value):
                across_[a] = self.axes[i].columns[0].scaled(value)
        self.flow.join(edge, across_)
        return made

    def add_closed_chain(self, form: LoopForm, chains: Sequence[Any]) -> list[Definition]:
        """Add the joints of a closed chain, each ratio by the variant that is shortest to write."""
        best: dict[int, dict[int, Ratio]] = {}
        costs: dict[tuple[int, int], int] = {}
        for chain in chains:
            for axes in self._axis_arrangements(form.family, chain):
                for i, row in self._solve_chain(form._replace(chain=chain), axes).items():
                    for a, ratio in row.items():
                        cost = operations(self.linkage.written_ratio(ratio))
                        if cost < costs.get((i, a), cost + 1):
                            costs[i, a] = cost
                            best.setdefault(i, {})[a] = ratio
        made: list[Definition] = []
        edges = self.linkage.edges
        members = [i for i, _ in form.chain if self.linkage.edges[i].kind != LINK]
        for i in sorted(members, key=lambda i: (edges[i].cut, edges[i].cut or self.linkage.number_of(edges[i]))):
            edge = self.linkage.edges[i]
            if not edge.cut:
                made += self._add_tree_joint(i, best.get(i, {}))
            elif self.flow.root[edge.a] != self.flow.root[edge.b] and edge.kind in ("R", "P"):
                column = self.axes[i].columns[0]
                values = {a: over(*ratio) for a, ratio in best.get(i, {}).items()}
                self.flow.join(edge, {a: column.scaled(x) for a, x in values.items()})
        return made

    def _solve_chain(self, form: LoopForm, axes: list[Axis]) -> dict[int, dict[int, Ratio]]:
        """Solve a closed chain; return edge → place → ratio."""
        edges, ring = self.linkage.edges, self.linkage.ring
        solver = Solver(form, "".join(edges[i].kind for i, _ in form.chain), axes)
        found: dict[int, dict[int, Ratio]] = {}
        for a, known in self.flow.around(form, edges).items():
            if all_zero((*known.angular, *known.linear)):
                continue
            values, _, _ = solver.solve(known)
            for (i, forward), value in zip(form.chain, values, strict=True):
                if value is None or isinstance(value, Vector3):
                    continue
                found.setdefault(i, {})[a] = ring.ratio(value if forward else negated(value))
        ring.release_quotients()
        return found

    def _axis_arrangements(self, family: str, chain: Any) -> Iterator[list[Axis]]:
        """Yield arrangements of the axes of a chain; in a planar chain joints are placed along different links, which
        gives different expressions."""
        own = [self.axes[i] for i, _ in chain]
        kinds = "".join(self.linkage.edges[i].kind for i, _ in chain)
        if family != PLANAR or kinds == "RPP":
            yield own
            return
        base = 0 if kinds == "RRR" else 1
        for start in self._joint_positions(chain[base][0]):
            if kinds == "RRR":
                placements = [
                    {
                        0: start,
                        1: start + self._vector_to_next_joint(chain, 0),
                        2: start - self._vector_to_next_joint(chain, 2),
                    }
                ]
            else:
                along = (
                    self._vector_to_next_joint(chain, 2)
                    + self._vector_across_joint(*chain[0])
                    + self._vector_to_next_joint(chain, 0)
                )
                placements = [{1: start, 2: start + self._vector_to_next_joint(chain, 1)}, {1: start, 2: start - along}]
            for places in placements:
                yield [
                    axis._replace(pose=Pose(axis.pose.rotation, places[k])) if k in places else axis
                    for k, axis in enumerate(own)
                ]

    def _joint_positions(self, i: int) -> list[Vector3]:
        """Return the position of a joint, reached from either of its sides."""
        edge, pose = self.linkage.edges[i], self.linkage.placed.pose
        return [(pose[edge.b] @ edge.B).position, (pose[edge.a] @ edge.A).position][: 2 if edge.cut else 1]

    def _vector_across_joint(self, i: int, forward: bool) -> Vector3:
        """Return the vector from where a chain enters a joint to where it leaves the joint."""
        enter, near, leave, far = ends(self.linkage.edges[i], forward)
        pose = self.linkage.placed.pose
        return (pose[leave] @ far).position - (pose[enter] @ near).position

    def _vector_to_next_joint(self, chain: Any, k: int) -> Vector3:
        """Return the vector from joint k to the next one, across the rigid part between them."""
        (i, forward), (n, onward) = chain[k], chain[(k + 1) % len(chain)]
        edges, pose = self.linkage.edges, self.linkage.placed.pose
        _, _, leave, far = ends(edges[i], forward)
        enter, near, _, _ = ends(edges[n], onward)
        return (pose[enter] @ near).position - (pose[leave] @ far).position


class ReducedEquations:
    """Reduced equations of motion of one linkage."""

    def __init__(self, linkage: LinkageSymbols, speeds: Speeds) -> None:
        self.linkage, self.speeds = linkage, speeds

    def definitions(self) -> tuple[Definition, ...]:
        """Return I, I′, G and τ for one independent coordinate; M, C, G and τ for several."""
        n = len(self.linkage.places)
        return self._definitions_of_one() if n == 1 else self._definitions_of_several(n)

    def _definitions_of_one(self) -> tuple[Definition, ...]:
        variable = self.linkage.independent[0]
        at = self.linkage.places[0]
        I, slope, G, tau = (self.linkage.named(name) for name in ("I", "I_prime", "G", "tau"))
        q, rate, acceleration = variable.symbol, self.linkage.rates[at], self.linkage.accelerations[at]
        half = product(Number(Fraction(1, 2)), Symbol(slope), power(Symbol(rate), 2))
        equation = summed([product(Symbol(I), Symbol(acceleration)), half, Symbol(G)])
        return (
            Definition(I, self._written_sum(self._inertia_parts(0, 0)), "reduced inertia"),
            Definition(slope, self._written_sum(self._christoffel_parts(0, 0, 0, 2)), f"dI/d{q}"),
            Definition(G, self._written_sum(self._gravity_parts(0)), f"dP/d{q}"),
            Definition(tau, equation, f"force at {q}"),
        )

    def _definitions_of_several(self, n: int) -> tuple[Definition, ...]:
        made: list[Definition] = []
        M: dict[tuple[int, int], str] = {}
        C: dict[tuple[int, int], str] = {}
        G: list[str] = []
        for a in range(n):
            for b in range(a + 1):
                M[a, b] = M[b, a] = self.linkage.named(f"M{b + 1}{a + 1}")
                made.append(Definition(M[a, b], self._written_sum(self._inertia_parts(a, b)), "reduced mass matrix"))
        rates = [self.linkage.rates[i] for i in self.linkage.places]
        for c in range(n):
            for a in range(n):
                C[c, a] = self.linkage.named(f"C_{c + 1}{a + 1}")
                parts = [
                    part._replace(symbols=(*part.symbols, rates[b]))
                    for b in range(n)
                    for part in self._christoffel_parts(c, a, b, 1)
                ]
                made.append(Definition(C[c, a], self._written_sum(parts), "from Christoffel symbols"))
        for c in range(n):
            G.append(self.linkage.named(f"G{c + 1}"))
            made.append(
                Definition(G[c], self._written_sum(self._gravity_parts(c)), f"∂P/∂{self.linkage.independent[c].symbol}")
            )
        for c in range(n):
            terms = [
                product(Symbol(M[c, a]), Symbol(self.linkage.accelerations[i]))
                for a, i in enumerate(self.linkage.places)
            ]
            terms += [product(Symbol(C[c, a]), Symbol(rates[a])) for a in range(n)]
            name = self.linkage.named(f"tau{c + 1}")
            made.append(
                Definition(name, summed([*terms, Symbol(G[c])]), f"force at {self.linkage.independent[c].symbol}")
            )
        return tuple(made)

    def _times_ratio(self, i: int, a: int, element: Scalar) -> tuple[Scalar, tuple[str, ...]]:
        """Multiply an element by Φ_ia; return the product, with the name of Φ_ia kept apart if it is a symbol."""
        name = self.speeds.ratio_name(i, a)
        if name:
            return element, (name,)
        return times(element, self.speeds.columns[i][a]), ()

    def _times_ratios(self, element: Scalar, *factors: tuple[int, int]) -> tuple[Scalar, tuple[str, ...]]:
        symbols: tuple[str, ...] = ()
        for i, a in factors:
            element, more = self._times_ratio(i, a, element)
            symbols += more
        return element, symbols

    def _inertia_parts(self, a: int, b: int) -> list[Part]:
        """Return the parts of Σ_ij Φ_ia M_ij Φ_jb."""
        M, n = self.linkage.mass_matrix, self.linkage.n
        return [
            Part(Fraction(1), *self._times_ratios(M[i][j], (i, a), (j, b)))
            for i in range(n)
            for j in range(n)
            if not is_zero(M[i][j])
        ]

    def _christoffel_parts(self, c: int, a: int, b: int, factor: int) -> list[Part]:
        """Return the parts of the Christoffel symbol c_abc of the reduced mass matrix: Σ Φ_ic (M_ij ∂Φ_ja/∂q_b + c_mji
        Φ_ma Φ_jb)."""
        M, n, made = self.linkage.mass_matrix, self.linkage.n, []
        for i in range(n):
            for j in range(n):
                slope = self.speeds.slope_name(j, a, b)
                if slope and not is_zero(M[i][j]):
                    element, symbols = self._times_ratios(M[i][j], (i, c))
                    made.append(Part(Fraction(factor), element, (*symbols, slope)))
                for m in range(n):
                    found = self.linkage.christoffel(max(m, j), min(m, j), i)
                    if not is_zero(found):
                        made.append(Part(Fraction(factor), *self._times_ratios(found, (i, c), (m, a), (j, b))))
        return made

    def _gravity_parts(self, a: int) -> list[Part]:
        """Return the parts of Σ_i Φ_ia G_i."""
        found = enumerate(self.linkage.gravity)
        return [Part(Fraction(1), *self._times_ratios(G, (i, a))) for i, G in found if not is_zero(G)]

    def _written_sum(self, parts: Sequence[Part]) -> Form:
        """Write the sum of parts, as a whole if it is short, else part by part."""
        parts = _merged_parts([part for part in parts if not is_zero(part.element)])
        if not parts:
            return ZERO
        if sum(length(part.element) for part in parts) > LONGEST:
            return self.linkage.writer.sum(list(parts))
        whole: Scalar = 0.0
        for part in parts:
            element = times(self.linkage.ring.constant(part.factor), part.element)
            for symbol in part.symbols:
                element = times(element, self.linkage.ring.symbol(symbol))
            whole = plus(whole, element)
        return self.linkage.polynomial(whole)


def _merged_parts(parts: Sequence[Part]) -> list[Part]:
    """Combine parts with the same symbols."""
    found: dict[tuple[str, ...], Scalar] = {}
    for factor, element, symbols in parts:
        key = tuple(sorted(symbols))
        whole = element if factor == 1 else times(float(factor), element)
        found[key] = plus(found.get(key, 0.0), whole)
    return [Part(Fraction(1), element, symbols) for symbols, element in found.items() if not is_zero(element)]
