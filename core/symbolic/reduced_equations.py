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
from core.constraints.closed_forms.families import ChainSolution as LoopForm
from core.constraints.closed_forms.graph import LINK, edge_ends
from core.constraints.closed_forms.velocities import ChainVelocitySolver, ClusterMotions, WorldAxis, world_axis_of_edge
from core.mechanics.tree import inline
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar, all_zero, is_zero, negated, over, plus, times
from core.numerics.spatial.vector import Motion, Vector3
from core.symbolic.forms import ZERO, Form, Number, Symbol, count_operations, make_power, make_product, make_sum
from core.symbolic.linkage_symbols import LinkageSymbols
from core.symbolic.long_forms import Summand, term_count
from core.symbolic.loop_ring import Definition, Ratio

LONGEST = 200
"""Largest number of terms of an entry that is written as a whole; longer entries are written part by part."""


class VelocityRatios:
    """Velocity ratios of a linkage, added one loop step at a time."""

    def __init__(self, linkage: LinkageSymbols) -> None:
        self.linkage = linkage
        self.flow = ClusterMotions(list(linkage.world_poses.root), inline)
        self.axes = {
            i: world_axis_of_edge(edge, linkage.world_poses, linkage.q) for i, edge in enumerate(linkage.edges)
        }
        self.columns: list[list[Scalar]] = [[0.0] * len(linkage.places) for _ in linkage.variables]
        self.ratios: dict[tuple[int, int], Ratio] = {}

    def ratio_name(self, i: int, a: int) -> str:
        """Return the name of ∂q_i/∂q_a; "" if it is a number."""
        return self.linkage.ratio_names[i, a] if (i, a) in self.ratios else ""

    def ratio_derivative_name(self, i: int, a: int, b: int) -> str:
        """Return the name of ∂²q_i/∂q_a∂q_b; "" if it is zero because a first derivative is a number."""
        return self.linkage.ratio_names[i, a, b] if {(i, a), (i, b)} <= self.ratios.keys() else ""

    def add_independent(self, i: int) -> None:
        """Add an independent joint."""
        edge = self.linkage.edges[i]
        if not edge.nv:
            self.flow.join(edge, {})
            return
        at = self.linkage.variable_index(edge)
        place = self.linkage.places.index(at)
        self.columns[at][place] = 1.0
        self.flow.join(edge, {place: self.axes[i].columns[0].scaled(edge.ratio)})

    def add_geared_joint(self, form: LoopForm, pairs: Mapping[int, tuple[int, int]]) -> list[Definition]:
        """Add a joint driven by a gear; return the definitions of its ratios."""
        (i, _), (k, forward) = form.chain
        gear, source = self.linkage.edges[k], self.linkage.edges[pairs[k][1 if forward else 0]]
        at = self.linkage.variable_index(source)
        factor = times(gear.ratio, source.ratio) if forward else over(source.ratio, gear.ratio)
        found = {
            a: self.linkage.ring.to_ratio(times(factor, x)) for a, x in enumerate(self.columns[at]) if not is_zero(x)
        }
        return self._add_tree_joint(i, found)

    def _add_tree_joint(self, i: int, ratios: Mapping[int, Ratio]) -> list[Definition]:
        """Add the ratios and motion of a tree joint; return definitions of ratios that are not numbers."""
        edge, made = self.linkage.edges[i], []
        at = self.linkage.variable_index(edge)
        across_: dict[int, Motion] = {}
        for a, ratio in ratios.items():
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
        """Add the joints of a closed chain; each ratio is written in the shortest of its variants."""
        best: dict[int, dict[int, Ratio]] = {}
        costs: dict[tuple[int, int], int] = {}
        for chain in chains:
            for axes in self._axis_arrangements(form.family, chain):
                for i, row in self._solve_chain(form._replace(chain=chain), axes).items():
                    for a, ratio in row.items():
                        cost = count_operations(self.linkage.write_ratio(ratio))
                        if cost < costs.get((i, a), cost + 1):
                            costs[i, a] = cost
                            best.setdefault(i, {})[a] = ratio
        made: list[Definition] = []
        edges = self.linkage.edges
        members = [i for i, _ in form.chain if self.linkage.edges[i].kind != LINK]
        for i in sorted(members, key=lambda i: (edges[i].cut, edges[i].cut or self.linkage.variable_index(edges[i]))):
            edge = self.linkage.edges[i]
            if not edge.cut:
                made += self._add_tree_joint(i, best.get(i, {}))
            elif self.flow.root[edge.a] != self.flow.root[edge.b] and edge.kind in ("R", "P"):
                column = self.axes[i].columns[0]
                values = {a: over(*ratio) for a, ratio in best.get(i, {}).items()}
                self.flow.join(edge, {a: column.scaled(x) for a, x in values.items()})
        return made

    def _solve_chain(self, form: LoopForm, axes: list[WorldAxis]) -> dict[int, dict[int, Ratio]]:
        """Solve a closed chain; return edge → place → ratio."""
        edges, ring = self.linkage.edges, self.linkage.ring
        solver = ChainVelocitySolver(form, "".join(edges[i].kind for i, _ in form.chain), axes)
        found: dict[int, dict[int, Ratio]] = {}
        for a, known in self.flow.known_chain_motion(form, edges).items():
            if all_zero((*known.angular, *known.linear)):
                continue
            values, _, _ = solver.solve(known)
            for (i, forward), value in zip(form.chain, values, strict=True):
                if value is None or isinstance(value, Vector3):
                    continue
                found.setdefault(i, {})[a] = ring.to_ratio(value if forward else negated(value))
        ring.release_quotients()
        return found

    def _axis_arrangements(self, family: str, chain: Any) -> Iterator[list[WorldAxis]]:
        """Yield arrangements of the axes of a chain; in a planar chain the positions of joints can be computed along
        different links, which gives different expressions."""
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
        """Return the position of a joint, computed from either of its sides."""
        edge, pose = self.linkage.edges[i], self.linkage.world_poses.pose
        return [(pose[edge.b] @ edge.B).position, (pose[edge.a] @ edge.A).position][: 2 if edge.cut else 1]

    def _vector_across_joint(self, i: int, forward: bool) -> Vector3:
        """Return the vector from the point at which a chain enters a joint to the point at which it leaves it."""
        enter, near, leave, far = edge_ends(self.linkage.edges[i], forward)
        pose = self.linkage.world_poses.pose
        return (pose[leave] @ far).position - (pose[enter] @ near).position

    def _vector_to_next_joint(self, chain: Any, k: int) -> Vector3:
        """Return the vector from joint k to the next one, across the rigid part between them."""
        (i, forward), (n, onward) = chain[k], chain[(k + 1) % len(chain)]
        edges, pose = self.linkage.edges, self.linkage.world_poses.pose
        _, _, leave, far = edge_ends(edges[i], forward)
        enter, near, _, _ = edge_ends(edges[n], onward)
        return (pose[enter] @ near).position - (pose[leave] @ far).position


class ReducedEquations:
    """Reduced equations of motion of one linkage."""

    def __init__(self, linkage: LinkageSymbols, speeds: VelocityRatios) -> None:
        self.linkage, self.speeds = linkage, speeds

    def definitions(self) -> tuple[Definition, ...]:
        """Return I, I′, G and τ for one independent coordinate; M, C, G and τ for several."""
        n = len(self.linkage.places)
        return self._single_dof_definitions() if n == 1 else self._multi_dof_definitions(n)

    def _single_dof_definitions(self) -> tuple[Definition, ...]:
        variable = self.linkage.independent[0]
        at = self.linkage.places[0]
        I, slope, G, tau = (self.linkage.named(name) for name in ("I", "I_prime", "G", "tau"))
        q, rate, acceleration = variable.symbol, self.linkage.rates[at], self.linkage.accelerations[at]
        half = make_product(Number(Fraction(1, 2)), Symbol(slope), make_power(Symbol(rate), 2))
        equation = make_sum([make_product(Symbol(I), Symbol(acceleration)), half, Symbol(G)])
        return (
            Definition(I, self._write_sum(self._inertia_parts(0, 0)), "reduced inertia"),
            Definition(slope, self._write_sum(self._christoffel_parts(0, 0, 0, 2)), f"dI/d{q}"),
            Definition(G, self._write_sum(self._gravity_parts(0)), f"dP/d{q}"),
            Definition(tau, equation, f"force at {q}"),
        )

    def _multi_dof_definitions(self, n: int) -> tuple[Definition, ...]:
        made: list[Definition] = []
        M: dict[tuple[int, int], str] = {}
        C: dict[tuple[int, int], str] = {}
        G: list[str] = []
        for a in range(n):
            for b in range(a + 1):
                M[a, b] = M[b, a] = self.linkage.named(f"M{b + 1}{a + 1}")
                made.append(Definition(M[a, b], self._write_sum(self._inertia_parts(a, b)), "reduced mass matrix"))
        rates = [self.linkage.rates[i] for i in self.linkage.places]
        for c in range(n):
            for a in range(n):
                C[c, a] = self.linkage.named(f"C_{c + 1}{a + 1}")
                parts = [
                    part._replace(symbols=(*part.symbols, rates[b]))
                    for b in range(n)
                    for part in self._christoffel_parts(c, a, b, 1)
                ]
                made.append(Definition(C[c, a], self._write_sum(parts), "from Christoffel symbols"))
        for c in range(n):
            G.append(self.linkage.named(f"G{c + 1}"))
            made.append(
                Definition(G[c], self._write_sum(self._gravity_parts(c)), f"∂P/∂{self.linkage.independent[c].symbol}")
            )
        for c in range(n):
            terms = [
                make_product(Symbol(M[c, a]), Symbol(self.linkage.accelerations[i]))
                for a, i in enumerate(self.linkage.places)
            ]
            terms += [make_product(Symbol(C[c, a]), Symbol(rates[a])) for a in range(n)]
            name = self.linkage.named(f"tau{c + 1}")
            made.append(
                Definition(name, make_sum([*terms, Symbol(G[c])]), f"force at {self.linkage.independent[c].symbol}")
            )
        return tuple(made)

    def _multiply_by_ratio(self, i: int, a: int, element: Scalar) -> tuple[Scalar, tuple[str, ...]]:
        """Multiply an element by Φ_ia. Return the product and, if Φ_ia is a symbol, its name as a separate factor."""
        name = self.speeds.ratio_name(i, a)
        if name:
            return element, (name,)
        return times(element, self.speeds.columns[i][a]), ()

    def _multiply_by_ratios(self, element: Scalar, *factors: tuple[int, int]) -> tuple[Scalar, tuple[str, ...]]:
        symbols: tuple[str, ...] = ()
        for i, a in factors:
            element, more = self._multiply_by_ratio(i, a, element)
            symbols += more
        return element, symbols

    def _inertia_parts(self, a: int, b: int) -> list[Summand]:
        """Return the parts of Σ_ij Φ_ia M_ij Φ_jb."""
        M, n = self.linkage.mass_matrix, self.linkage.n
        return [
            Summand(Fraction(1), *self._multiply_by_ratios(M[i][j], (i, a), (j, b)))
            for i in range(n)
            for j in range(n)
            if not is_zero(M[i][j])
        ]

    def _christoffel_parts(self, c: int, a: int, b: int, factor: int) -> list[Summand]:
        """Return the parts of the Christoffel symbol c_abc of the reduced mass matrix: Σ Φ_ic (M_ij ∂Φ_ja/∂q_b + c_mji
        Φ_ma Φ_jb)."""
        M, n, made = self.linkage.mass_matrix, self.linkage.n, []
        for i in range(n):
            for j in range(n):
                slope = self.speeds.ratio_derivative_name(j, a, b)
                if slope and not is_zero(M[i][j]):
                    element, symbols = self._multiply_by_ratios(M[i][j], (i, c))
                    made.append(Summand(Fraction(factor), element, (*symbols, slope)))
                for m in range(n):
                    found = self.linkage.christoffel(max(m, j), min(m, j), i)
                    if not is_zero(found):
                        made.append(Summand(Fraction(factor), *self._multiply_by_ratios(found, (i, c), (m, a), (j, b))))
        return made

    def _gravity_parts(self, a: int) -> list[Summand]:
        """Return the parts of Σ_i Φ_ia G_i."""
        found = enumerate(self.linkage.gravity)
        return [Summand(Fraction(1), *self._multiply_by_ratios(G, (i, a))) for i, G in found if not is_zero(G)]

    def _write_sum(self, parts: Sequence[Summand]) -> Form:
        """Write the sum of parts, as a whole if it is short, else part by part."""
        parts = _merge_parts([part for part in parts if not is_zero(part.element)])
        if not parts:
            return ZERO
        if sum(term_count(part.element) for part in parts) > LONGEST:
            return self.linkage.form_writer.write_sum(list(parts))
        whole: Scalar = 0.0
        for part in parts:
            element = times(self.linkage.ring.to_element(part.factor), part.element)
            for symbol in part.symbols:
                element = times(element, self.linkage.ring.symbol(symbol))
            whole = plus(whole, element)
        return self.linkage.write_polynomial(whole)


def _merge_parts(parts: Sequence[Summand]) -> list[Summand]:
    """Combine parts with the same symbols."""
    found: dict[tuple[str, ...], Scalar] = {}
    for factor, element, symbols in parts:
        key = tuple(sorted(symbols))
        whole = element if factor == 1 else times(float(factor), element)
        found[key] = plus(found.get(key, 0.0), whole)
    return [Summand(Fraction(1), element, symbols) for symbols, element in found.items() if not is_zero(element)]
