"""Symbols of a linkage: names of coordinates and velocity ratios, its joints over a ring, and writing of ring
elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from core.constraints.closed_forms.graph import OWN, Clusters, Edge, elementary_edges, pose_across_edge
from core.constraints.closed_forms.graph import edge_motion as motion_of
from core.constraints.closed_forms.graph import edge_value as coordinates_at
from core.constraints.closed_forms.order import SolutionSearch, solve_order
from core.constraints.closed_forms.wording import ITERATION, solution_steps
from core.errors import ModelError
from core.mechanics.multibody.topology import Topology
from core.model import Model
from core.numerics.spatial.scalar import Scalar, minus, negated, plus
from core.numerics.spatial.vector import Vector3
from core.symbolic.factoring import collect_factors, shortest_form
from core.symbolic.forms import Form as Written
from core.symbolic.forms import (
    Number,
    SineOrCosine,
    Sum,
    Symbol,
    count_operations,
    make_product,
    make_quotient,
    make_sum,
    split_sign,
)
from core.symbolic.long_forms import CachedFormWriter, term_count
from core.symbolic.loop_ring import Definition, LoopRing, Ratio
from core.symbolic.ring import RingElement
from core.symbolic.symbolic_machine import SymbolicCoordinate, SymbolicMachine, joint_variables
from core.symbolic.terms import Groups, collect_terms

LETTERS = "abcdefghijklmnopqrstuvwxyz"
"""Letters of the independent coordinates in the names of ratios if there are several: k3b = ∂q3/∂q_b."""
LONGEST_COMPARED = 200
"""Largest number of terms for which several ways of writing a polynomial are compared."""
COLLECTED = 0.7
"""Weight of an operation in sums of squares such as m (1 + k)², which are easier to read and therefore preferred."""
MOST_INDEPENDENT = 6
"""Largest number of independent coordinates for which equations are written."""


class LinkageSymbols(SymbolicMachine):
    """Machine with loops over a ring. `variables` are all coordinates of its tree; `places` are the indices of the
    independent ones."""

    ring_kind = LoopRing
    ring: LoopRing

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model.name!r})"

    def __init__(self, model: Model, values: Mapping[str, float] | None = None, *, recognise: bool = True) -> None:
        super().__init__(model, values)
        self.search = find_loop_solution(self.topology, self.model)
        joints = [branch.joint.name for branch in self.topology.branches]
        variables = joint_variables(self.model, self.topology, joints)
        self._edges_at_rest = self.search.edges
        cuts = [i for i, edge in enumerate(self._edges_at_rest) if edge.cut and edge.kind in ("R", "P")]
        self.taken = {p.name for p in self.model.parameters} | {v.symbol for v in variables}
        self.cut_names = {i: self.named(f"u{n}") for n, i in enumerate(cuts, 1)}
        turning = [self.cut_names[i] for i in cuts if self._edges_at_rest[i].kind == "R"]
        sliding = [self.cut_names[i] for i in cuts if self._edges_at_rest[i].kind == "P"]
        at = {variable.v: k for k, variable in enumerate(variables)}
        chosen = [at[self._edges_at_rest[i].v] for i in self.search.steps if isinstance(i, int)]
        self.places = tuple(sorted(set(chosen)))
        """Numbers of the independent variables, in order."""
        if len(self.places) > MOST_INDEPENDENT:
            raise ModelError(
                f"The machine has {len(self.places)} independent coordinates; symbolic equations are limited "
                f"to {MOST_INDEPENDENT}.",
                where="symbolic",
                remedy="Fix joints that need not move, or use the numeric functions.",
            )
        self.ratio_names = self._ratio_names(variables)
        self.begin(
            variables,
            angles=turning,
            plain_symbols=[*sliding, *self.ratio_names.values()],
            recognise=recognise,
        )
        self.edges = elementary_edges(self.topology, self.numbers)
        self._at = at
        self.branches: dict[str, str] = {}
        """Displacements that have the sign of a branch, and the sign's name."""

    def named(self, name: str) -> str:
        """Return a unique name: the given one, with underscores appended if it is taken."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _ratio_names(self, variables: Sequence[SymbolicCoordinate]) -> dict[tuple[int, ...], str]:
        """Return (variable, a) → name of the ratio with respect to independent coordinate a, and (variable, a, b) →
        name of its derivative."""
        made: dict[tuple[int, ...], str] = {}
        single = len(self.places) == 1
        for i in range(len(variables)):
            if i in self.places:
                continue
            for a in range(len(self.places)):
                made[i, a] = self.named(f"k{i + 1}" + ("" if single else LETTERS[a]))
            for a in range(len(self.places)):
                for b in range(a + 1):
                    name = f"{made[i, a]}_prime" if single else f"k{i + 1}{LETTERS[b]}{LETTERS[a]}"
                    made[i, a, b] = made[i, b, a] = self.named(name)
        return made

    @property
    def independent(self) -> tuple[SymbolicCoordinate, ...]:
        """Independent variables, which determine the others."""
        return tuple(self.variables[i] for i in self.places)

    # ------------------------------------------------------------------------------- writing

    def written(self, x: Scalar) -> Written:
        """Write an element, with quotients combined into one fraction."""
        return self.write_ratio(self.ring.to_ratio(x))

    def write_ratio(self, ratio: Ratio) -> Written:
        """Write a quotient so that its denominator does not begin with a minus sign."""
        bottom = self.write_polynomial(ratio.bottom)
        first = bottom.terms[0] if isinstance(bottom, Sum) else bottom
        if split_sign(first)[0]:
            return make_quotient(
                self.write_polynomial(negated(ratio.top)), self.write_polynomial(negated(ratio.bottom))
            )
        return make_quotient(self.write_polynomial(ratio.top), bottom)

    def write_polynomial(self, x: Scalar) -> Written:
        """Write a polynomial in the shortest of three ways: with products of sines, with sines of sums, or as sums with
        factored ratios."""
        self.watch()
        own = self.form_writer.write_element(x)
        if term_count(x) > LONGEST_COMPARED or not isinstance(x, RingElement):
            return own
        ratios, masses = frozenset(self.ratio_names.values()), self._mass_parameters
        found = [(float(count_operations(own)), own)]
        for terms in (collect_terms(x, self.parallel_angle_groups), collect_terms(x)):
            for form, worth in ((shortest_form(terms), 1.0), (collect_factors(terms, ratios, masses), COLLECTED)):
                found.append((worth * count_operations(form), form))
        return min(found, key=lambda pair: pair[0])[1]

    @cached_property
    def form_writer(self) -> CachedFormWriter:
        return CachedFormWriter(self.parallel_angle_groups, lambda: self.watch())

    @cached_property
    def _mass_parameters(self) -> frozenset[str]:
        """Names of parameters that are masses or moments of inertia."""
        return frozenset(p.name for p in self.model.parameters if p.dimension in ("mass", "inertia"))

    @cached_property
    def parallel_angle_groups(self) -> Groups:
        """Groups of angles about parallel axes, whose sums are collected."""
        groups: list[tuple[tuple[Scalar, ...], list[str]]] = []
        clusters = self.world_poses
        for i, edge in enumerate(self.edges):
            if edge.kind not in ("R", "H") or (edge.cut and i not in self.cut_names):
                continue
            name = self.cut_names[i] if edge.cut else self.variables[self.variable_index(edge)].symbol
            axis = tuple((clusters.pose[edge.b] @ edge.B).rotation.act(Vector3(0.0, 0.0, 1.0)))
            own = next((names_ for other, names_ in groups if _are_parallel(axis, other)), None)
            if own is None:
                groups.append((axis, [name]))
            elif name not in own:
                own.append(name)
        order = {each.symbol: k for k, each in enumerate(self.variables)}
        return tuple(tuple(sorted(names_, key=lambda name: order.get(name, self.n))) for _, names_ in groups)

    def reduce_direction(self, *elements: Scalar) -> tuple[list[str], list[Scalar]]:
        """Divide the components of a direction by common positive lengths and by common displacements that carry a
        branch sign; return the names of these signs and the components."""
        given: list[Scalar] = list(elements)
        lengths = [p.name for p in self.model.parameters if p.dimension == "length"]
        for name in lengths:
            if self.values.get(name, 0.0) > 0.0:
                _, given = self.ring.divide_by_common_power(name, given)
        signs: list[str] = []
        for name, sigma in self.branches.items():
            power_, given = self.ring.divide_by_common_power(name, given)
            signs += [sigma] * (power_ % 2)
        return signs, self.ring.clear_fractions(given)

    def clear_fractions(self, *elements: Scalar) -> list[Scalar]:
        """Multiply elements by a common number that clears simple fractions."""
        return self.ring.clear_fractions(elements)

    def recognise_angle_sum(self, sine: Scalar, cosine: Scalar) -> Written | None:
        """Return the sum of angles that has this sine and cosine; None if it is not recognised."""
        (s_minus, s), (_, c) = (split_sign(self.written(x)) for x in (sine, cosine))
        if (
            not isinstance(c, SineOrCosine)
            or not isinstance(s, SineOrCosine)
            or s.angle != c.angle
            or (s.function, c.function)
            != (
                "sin",
                "cos",
            )
        ):
            return None
        if split_sign(self.written(cosine))[0]:
            return None
        sign = -1 if s_minus else 1
        return make_sum([make_product(Number(Fraction(sign * k)), Symbol(name)) for name, k in s.angle])

    # ------------------------------------------------------------------------------- joints

    def edge_coordinates(self, i: int) -> Any:
        """Return the coordinates of an edge in symbols."""
        edge = self.edges[i]
        return self.ring.symbol(self.cut_names[i]) if edge.cut else coordinates_at(edge, self.q)

    def join(self, clusters: Clusters, i: int) -> None:
        edge = self.edges[i]
        if not clusters.are_connected(edge.a, edge.b):
            clusters.join(edge, pose_across_edge(edge.A, motion_of(edge, self.edge_coordinates(i)), edge.B))

    def join_all_bodies(self, clusters: Clusters, numbers: Sequence[int]) -> None:
        """Join the bodies of tree joints first, then those of cut joints that are not yet connected."""
        for i in sorted(numbers, key=lambda i: self.edges[i].cut):
            if not self.edges[i].cut or i in self.cut_names:
                self.join(clusters, i)

    @cached_property
    def world_poses(self) -> Clusters:
        """Poses of all bodies in the world."""
        clusters = Clusters(self.edges)
        self.join_all_bodies(clusters, range(len(self.edges)))
        return clusters

    def variable_index(self, edge: Edge) -> int:
        """Return the index of the variable of a tree joint."""
        return self._at[edge.v]

    def ratio_definition(self, i: int, a: int, ratio: Ratio) -> Definition:
        """Return the definition of a velocity ratio."""
        sign = "d" if len(self.places) == 1 else "∂"
        about = f"{sign}{self.variables[i].symbol}/{sign}{self.independent[a].symbol}"
        return Definition(self.ratio_names[i, a], self.write_ratio(ratio), about)

    def edge_name(self, i: int) -> str:
        edge = self.edges[i]
        return self.cut_names[i] if edge.cut else self.variables[self.variable_index(edge)].symbol

    def edge_number_text(self, i: int) -> str:
        edge = self.edges[i]
        return self.cut_names[i] if edge.cut else str(self.variable_index(edge) + 1)


def _are_parallel(a: Sequence[Scalar], b: Sequence[Scalar]) -> bool:
    """Return True if two axes are equal or opposite for all coordinates."""
    same = all(_is_zero(minus(x, y)) for x, y in zip(a, b, strict=True))
    return same or all(_is_zero(plus(x, y)) for x, y in zip(a, b, strict=True))


def _is_zero(x: Scalar) -> bool:
    return isinstance(x, float) and abs(x) < 1e-12


def find_loop_solution(topology: Topology, model: Model) -> SolutionSearch:
    """Find the steps of the loop solution. Raises ModelError if a loop has no analytic closure in symbols."""
    if not topology.cuts and not topology.model.constraints:
        raise ModelError(
            "The machine has no closed loop.",
            where="symbolic",
            remedy="For open chains use Derive in symbols (symbolic.robot).",
        )
    search = solve_order(topology)
    for edge in search.edges:
        if not edge.cut and edge.kind in ("S", "F", OWN):
            raise ModelError(
                f"The coordinates of joint '{edge.joint}' are not angles or displacements (a quaternion, or a custom "
                "joint law), so the loop cannot be solved symbolically.",
                where=f"joint '{edge.joint}'",
                remedy="Cut the loop at this joint (field cut), or replace it by revolute joints.",
            )
    for step in solution_steps(topology, search):
        if step.kind == ITERATION:
            what = ", ".join(f"'{name}'" for name in step.joints)
            raise ModelError(
                f"The loop of {what} is closed only by iteration, so it cannot be solved symbolically.",
                where="symbolic",
                remedy="The function Loops lists how each loop is closed.",
            )
    return search
