"""Symbols of a linkage: names of coordinates and ratios, its joints over a ring, and how elements are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from core.constraints.closed_forms.graph import OWN, Clusters, Edge, across, edges_of
from core.constraints.closed_forms.graph import known as coordinates_at
from core.constraints.closed_forms.graph import motion as motion_of
from core.constraints.closed_forms.order import Search, solved
from core.constraints.closed_forms.wording import ITERATION, solution_steps
from core.errors import ModelError
from core.mechanics.multibody.topology import Topology
from core.model import Model
from core.numerics.spatial.scalar import Scalar, minus, negated, plus
from core.numerics.spatial.vector import Vector3
from core.symbolic.factoring import collected, written
from core.symbolic.forms import Form as Written
from core.symbolic.forms import Number, Sum, Symbol, Trig, operations, product, quotient, sign_of, summed
from core.symbolic.long_forms import Writer, length
from core.symbolic.loop_ring import Definition, LoopRing, Ratio
from core.symbolic.ring import Element
from core.symbolic.symbolic_machine import SymbolicMachine, Variable, variables_of
from core.symbolic.terms import Groups, terms_of

LETTERS = "abcdefghijklmnopqrstuvwxyz"
"""Letters for the independent coordinates in the names of ratios if there are several: k3b = ∂q3/∂q_b."""
LONGEST_COMPARED = 200
"""Largest number of terms for which several ways of writing are compared."""
COLLECTED = 0.7
"""Weight of an operation in sums of squares such as m (1 + k)², which are preferred since they are easier to read."""
MOST_INDEPENDENT = 6
"""Largest number of independent coordinates for which equations are written."""


class LinkageSymbols(SymbolicMachine):
    """Machine with loops over a ring. `variables` are all coordinates of its tree, `places` the indices of the
    independent ones."""

    ring_kind = LoopRing
    ring: LoopRing

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model.name!r})"

    def __init__(self, model: Model, given: Mapping[str, float] | None = None, *, recognise: bool = True) -> None:
        super().__init__(model, given)
        self.search = searched(self.topology, self.model)
        joints = [branch.joint.name for branch in self.topology.branches]
        variables = variables_of(self.model, self.topology, joints)
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
            plain=[*sliding, *self.ratio_names.values()],
            recognise=recognise,
        )
        self.edges = edges_of(self.topology, self.numbers)
        self._at = at
        self.branches: dict[str, str] = {}
        """Displacements that have the sign of a branch, and the sign's name."""

    def named(self, name: str) -> str:
        """Return a unique name, with underscores appended to the given one if it is taken."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _ratio_names(self, variables: Sequence[Variable]) -> dict[tuple[int, ...], str]:
        """Return (variable, place) → name of a ratio, and (variable, place, place) → name of its derivative."""
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
    def independent(self) -> tuple[Variable, ...]:
        """Independent variables, which determine the others."""
        return tuple(self.variables[i] for i in self.places)

    # ------------------------------------------------------------------------------- writing

    def written(self, x: Scalar) -> Written:
        """Write an element, with quotients combined into one fraction."""
        return self.written_ratio(self.ring.ratio(x))

    def written_ratio(self, ratio: Ratio) -> Written:
        """Write top / bottom, with no minus sign at the front of the bottom."""
        bottom = self.polynomial(ratio.bottom)
        first = bottom.terms[0] if isinstance(bottom, Sum) else bottom
        if sign_of(first)[0]:
            return quotient(self.polynomial(negated(ratio.top)), self.polynomial(negated(ratio.bottom)))
        return quotient(self.polynomial(ratio.top), bottom)

    def polynomial(self, x: Scalar) -> Written:
        """Write a polynomial by the shortest of products of sines, sines of sums, and sums with factored ratios."""
        self.watch()
        own = self.writer.form(x)
        if length(x) > LONGEST_COMPARED or not isinstance(x, Element):
            return own
        ratios, masses = frozenset(self.ratio_names.values()), self._mass_parameters
        found = [(float(operations(own)), own)]
        for terms in (terms_of(x, self.groups), terms_of(x)):
            for form, worth in ((written(terms), 1.0), (collected(terms, ratios, masses), COLLECTED)):
                found.append((worth * operations(form), form))
        return min(found, key=lambda pair: pair[0])[1]

    @cached_property
    def writer(self) -> Writer:
        return Writer(self.groups, lambda: self.watch())

    @cached_property
    def _mass_parameters(self) -> frozenset[str]:
        """Names of parameters that are masses or moments of inertia."""
        return frozenset(p.name for p in self.model.parameters if p.dimension in ("mass", "inertia"))

    @cached_property
    def groups(self) -> Groups:
        """Groups of angles about parallel axes, whose sums are collected."""
        groups: list[tuple[tuple[Scalar, ...], list[str]]] = []
        clusters = self.placed
        for i, edge in enumerate(self.edges):
            if edge.kind not in ("R", "H") or (edge.cut and i not in self.cut_names):
                continue
            name = self.cut_names[i] if edge.cut else self.variables[self.number_of(edge)].symbol
            axis = tuple((clusters.pose[edge.b] @ edge.B).rotation.act(Vector3(0.0, 0.0, 1.0)))
            own = next((names_ for other, names_ in groups if _parallel(axis, other)), None)
            if own is None:
                groups.append((axis, [name]))
            elif name not in own:
                own.append(name)
        order = {each.symbol: k for k, each in enumerate(self.variables)}
        return tuple(tuple(sorted(names_, key=lambda name: order.get(name, self.n))) for _, names_ in groups)

    def direction(self, *elements: Scalar) -> tuple[list[str], list[Scalar]]:
        """Divide the components of a direction by common positive lengths and by common displacements that carry a
        branch sign; return the names of these signs and the components."""
        given: list[Scalar] = list(elements)
        lengths = [p.name for p in self.model.parameters if p.dimension == "length"]
        for name in lengths:
            if self.values.get(name, 0.0) > 0.0:
                _, given = self.ring.divided_by_common_power(name, given)
        signs: list[str] = []
        for name, sigma in self.branches.items():
            power_, given = self.ring.divided_by_common_power(name, given)
            signs += [sigma] * (power_ % 2)
        return signs, self.ring.with_whole_coefficients(given)

    def scaled(self, *elements: Scalar) -> list[Scalar]:
        """Multiply elements by a number that clears simple fractions."""
        return self.ring.with_whole_coefficients(elements)

    def recognised_angle_sum(self, sine: Scalar, cosine: Scalar) -> Written | None:
        """Return the sum of angles with this sine and cosine; None if it is not recognised."""
        (s_minus, s), (_, c) = (sign_of(self.written(x)) for x in (sine, cosine))
        if (
            not isinstance(c, Trig)
            or not isinstance(s, Trig)
            or s.angle != c.angle
            or (s.function, c.function)
            != (
                "sin",
                "cos",
            )
        ):
            return None
        if sign_of(self.written(cosine))[0]:
            return None
        sign = -1 if s_minus else 1
        return summed([product(Number(Fraction(sign * k)), Symbol(name)) for name, k in s.angle])

    # ------------------------------------------------------------------------------- joints

    def value_of(self, i: int) -> Any:
        """Return the coordinates of an edge in symbols."""
        edge = self.edges[i]
        return self.ring.symbol(self.cut_names[i]) if edge.cut else coordinates_at(edge, self.q)

    def join(self, clusters: Clusters, i: int) -> None:
        edge = self.edges[i]
        if not clusters.together(edge.a, edge.b):
            clusters.join(edge, across(edge.A, motion_of(edge, self.value_of(i)), edge.B))

    def join_all(self, clusters: Clusters, numbers: Sequence[int]) -> None:
        """Join the bodies of tree joints first, then those of cut joints that are still unconnected."""
        for i in sorted(numbers, key=lambda i: self.edges[i].cut):
            if not self.edges[i].cut or i in self.cut_names:
                self.join(clusters, i)

    @cached_property
    def placed(self) -> Clusters:
        """Poses of all bodies in the world."""
        clusters = Clusters(self.edges)
        self.join_all(clusters, range(len(self.edges)))
        return clusters

    def number_of(self, edge: Edge) -> int:
        """Return the index of the variable of a tree joint."""
        return self._at[edge.v]

    def ratio_definition(self, i: int, a: int, ratio: Ratio) -> Definition:
        """Return the definition of a velocity ratio."""
        sign = "d" if len(self.places) == 1 else "∂"
        about = f"{sign}{self.variables[i].symbol}/{sign}{self.independent[a].symbol}"
        return Definition(self.ratio_names[i, a], self.written_ratio(ratio), about)

    def name_of(self, i: int) -> str:
        edge = self.edges[i]
        return self.cut_names[i] if edge.cut else self.variables[self.number_of(edge)].symbol

    def number_text(self, i: int) -> str:
        edge = self.edges[i]
        return self.cut_names[i] if edge.cut else str(self.number_of(edge) + 1)


def _parallel(a: Sequence[Scalar], b: Sequence[Scalar]) -> bool:
    """Return True if two axes are equal or opposite for all coordinates."""
    same = all(_vanishes(minus(x, y)) for x, y in zip(a, b, strict=True))
    return same or all(_vanishes(plus(x, y)) for x, y in zip(a, b, strict=True))


def _vanishes(x: Scalar) -> bool:
    return isinstance(x, float) and abs(x) < 1e-12


def searched(topology: Topology, model: Model) -> Search:
    """Return the steps of the loop solution. Raises ModelError if a loop has no analytic closure in symbols."""
    if not topology.cuts and not topology.model.constraints:
        raise ModelError(
            "The machine has no closed loop.",
            where="symbolic",
            remedy="For open chains use Derive in symbols (symbolic.robot).",
        )
    search = solved(topology)
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
