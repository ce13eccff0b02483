"""Symbolic model of a machine with analytic loop closure: positions, velocity ratios, reduced equations of motion.

1. The steps of the solution are those of the kernel (`core.constraints.closed_forms.order`). Each determines
   coordinates by subproblems, and every kind of subproblem is written in one manner (`Rule`): A cos q + B sin q = C, a
   distance, a direction, a value.
2. Velocity ratios k = ∂q_dependent/∂q_independent by the kernel's solvers (`core.constraints.closed_forms.velocities`),
   in the variant of the chain that is shortest to write; their derivatives by the quotient rule.
3. Equations of motion in the independent coordinates (`core.symbolic.reduced_equations`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.closed_forms.families import GEARED, PLANAR, ChainSolution, chain_variants
from core.constraints.closed_forms.graph import BESIDE, LINK, Clusters, geared_pairs, poses_between_edges
from core.constraints.closed_forms.graph import edge_value as coordinates_at
from core.constraints.closed_forms.wording import INDEPENDENT, solution_steps
from core.errors import ModelError, suggest_names
from core.mechanics.multibody.topology import build_topology
from core.model import Model
from core.numerics.spatial.scalar import Scalar, is_zero, minus, negated, over, plus, times
from core.symbolic.forms import (
    count_operations,
    evaluate,
    make_sum,
    names_in_form,
)
from core.symbolic.linkage_symbols import LinkageSymbols, find_loop_solution
from core.symbolic.loop_ring import RULES, Definition, derive_joint_equations, write_angles_in_full
from core.symbolic.naming import RecognisedNumber, apply_chosen_symbols
from core.symbolic.notation import to_sympy
from core.symbolic.reduced_equations import ReducedEquations, VelocityRatios
from core.symbolic.ring import RingElement
from core.symbolic.terms import collect_terms

SECTIONS = ("positions", "ratios", "derivatives", "dynamics")
"""Sections of the result; each depends on those before it."""
_ROOTS = {"sqrt(2)": math.sqrt(2.0), "sqrt(3)": math.sqrt(3.0)}


@dataclass(frozen=True)
class LoopStep:
    """One step of the loop solution: the joints it determines, its kind (as in the solution order), and definitions of
    positions and ratios in order of use."""

    joints: tuple[str, ...]
    kind: str
    positions: tuple[Definition, ...]
    ratios: tuple[Definition, ...]


class Linkage(LinkageSymbols):
    """Symbolic model of a machine with loops. `variables` are all coordinates of its tree; `independent` are those that
    determine the others.

    Raises ModelError where the loops have no closed form in symbols (`obstacle` says the same beforehand).
    """

    # ------------------------------------------------------------------------------- positions

    @cached_property
    def steps(self) -> tuple[LoopStep, ...]:
        """Steps of the loop solution, in order."""
        return self._solve_loops[0]

    @property
    def speeds(self) -> VelocityRatios:
        """Velocity ratios of all steps."""
        return self._solve_loops[1]

    @cached_property
    def _solve_loops(self) -> tuple[tuple[LoopStep, ...], VelocityRatios]:
        speeds = VelocityRatios(self)
        return tuple(self._derive_steps(speeds)), speeds

    def _derive_steps(self, speeds: VelocityRatios) -> Iterator[LoopStep]:
        edges, pairs = self.edges, geared_pairs(self.edges)
        clusters = Clusters(edges)
        for i, edge in enumerate(edges):
            if edge.kind == "W" and not edge.cut:
                self.join(clusters, i)
                speeds.flow.join(edge, {})
        words = [step for step in solution_steps(self.topology, self.search) if step.kind != INDEPENDENT]
        for step in self.search.steps:
            self.watch()
            if isinstance(step, int):
                self.join(clusters, step)
                speeds.add_independent(step)
                continue
            joints = {edges[i].joint for i, _ in step.chain}
            word = next((w for w in words if w.joints and set(w.joints) <= joints), None)
            kind = word.kind if word is not None else step.family
            if step.family == GEARED:
                made = self._gear_definitions(step, pairs)
                ratios = speeds.add_geared_joint(step, pairs)
            else:
                made = self._solve_closed_chain(step, clusters)
                ratios = speeds.add_closed_chain(step, self._chain_variants(step))
            self.join_all_bodies(clusters, [i for i, _ in step.chain if edges[i].kind not in BESIDE])
            self.ring.release_quotients()
            given = dict.fromkeys(edges[i].joint for i, _ in step.chain)
            yield LoopStep(tuple(given), kind, self._expand_definitions(made), self._expand_definitions(ratios))

    def _gear_definitions(self, form: ChainSolution, pairs: Mapping[int, tuple[int, int]]) -> list[Definition]:
        (i, _), (k, forward) = form.chain
        gear, source = self.edges[k], self.edges[pairs[k][1 if forward else 0]]
        led = coordinates_at(source, self.q)
        value = plus(times(gear.ratio, led), gear.offset) if forward else over(minus(led, gear.offset), gear.ratio)
        return [Definition(self.edge_name(i), self.written(value), "gear")]

    def _solve_closed_chain(self, form: ChainSolution, clusters: Clusters) -> list[Definition]:
        """Solve a closed chain for its joints, by the variant that is shortest to write."""
        best: tuple[tuple[int, int], list[Definition]] | None = None
        for chain in self._chain_variants(form):
            taken = set(self.taken)
            made = self._solve_chain_family(form.family, chain, clusters)
            cut = sum(self.edges[i].cut for i, _ in chain[:1])
            cost = cut, sum(count_operations(each.form) for each in made if each.side is None)
            self.ring.release_quotients()
            if best is None or cost < best[0]:
                best = cost, made
            self.taken = taken
        assert best is not None
        self.taken |= {each.name for each in best[1]}
        return best[1]

    def _chain_variants(self, form: ChainSolution) -> list[Any]:
        """Return the arrangements of the chain in which its family can be solved."""
        if form.family != PLANAR:
            return [form.chain]
        kinds = self._chain_kinds(form.chain)
        return [chain for chain in chain_variants(form.chain) if self._chain_kinds(chain) == kinds]

    def _chain_kinds(self, chain: Any) -> str:
        return "".join(self.edges[i].kind for i, _ in chain)

    def _solve_chain_family(self, family: str, chain: Any, clusters: Clusters) -> list[Definition]:
        edges = self.edges
        unknowns: list[Any] = []
        for i, forward in chain:
            if edges[i].kind == LINK:
                unknowns.append(edges[i].advance)
            elif edges[i].kind == "S":
                unknowns.append(None)
            else:
                value = self.ring.symbol(self.edge_name(i))
                unknowns.append(value if forward else negated(value))
        K = poses_between_edges(chain, edges, clusters)
        made: list[Definition] = []
        for answer in derive_joint_equations(self.ring, family, self._chain_kinds(chain), K, unknowns):
            i, forward = chain[answer.joint]
            rule = RULES[answer.kind](self.edge_name(i), self.edge_number_text(i), not forward, answer)
            made += rule.definitions(self)
        wanted = [
            i for i, _ in chain if edges[i].kind not in BESIDE and (not edges[i].cut or self._is_only_connection(i))
        ]
        return _needed_definitions(made, {self.edge_name(i) for i in wanted})

    def _is_only_connection(self, i: int) -> bool:
        """Return True if no other joint connects the two nodes of a cut joint."""
        edge = self.edges[i]
        return i in self.cut_names and ("\0" in edge.a or "\0" in edge.b)

    # ------------------------------------------------------------------------------- ratios

    @cached_property
    def columns(self) -> list[list[Scalar]]:
        """Matrix Φ: velocity ratios of all variables with respect to the independent ones, as symbols unless they are
        numbers."""
        return self.speeds.columns

    @cached_property
    def derivatives(self) -> tuple[Definition, ...]:
        """Derivatives of the velocity ratios by the independent coordinates."""
        made: list[Definition] = []
        for (i, a), ratio in self.speeds.ratios.items():
            for b in range(a + 1):
                self.watch()
                if not self.speeds.ratio_derivative_name(i, a, b):
                    continue
                k = self.columns[i][a]
                over_, under = (self._total_derivative(x, b) for x in ratio)
                # (N/D)′ = (N′ − k D′)/D
                found = self.ring.reduce_ratio(minus(over_, times(k, under)), ratio.bottom)
                name = self.ratio_names[i, a, b]
                made.append(Definition(name, self.write_ratio(found), self._derivative_label(i, a, b)))
        return self._expand_definitions(made)

    def _expand_definitions(self, definitions: Iterable[Definition]) -> tuple[Definition, ...]:
        names_ = {each.symbol for each in self.variables}
        return tuple(write_angles_in_full(each, names_) for each in definitions)

    def _derivative_label(self, i: int, a: int, b: int) -> str:
        by = self.independent[b].symbol
        return f"∂{self.ratio_names[i, a]}/∂{by}" if len(self.places) > 1 else f"d{self.ratio_names[i, a]}/d{by}"

    def _total_derivative(self, x: Scalar, b: int) -> Scalar:
        """Return dx/dq_b along the motion of the machine, in which derivatives of ratios appear by name."""
        if not isinstance(x, RingElement):
            return 0.0
        result: Scalar = 0.0
        for j, variable in enumerate(self.variables):
            if not is_zero(self.columns[j][b]):
                result = plus(result, times(x.derivative(variable.symbol), self.columns[j][b]))
        for j, c in self.speeds.ratios:
            slope = x.derivative(self.ratio_names[j, c])
            if not is_zero(slope):
                name = self.speeds.ratio_derivative_name(j, c, b)
                result = plus(result, times(slope, self.ring.symbol(name))) if name else result
        return result

    @cached_property
    def dynamics(self) -> tuple[Definition, ...]:
        """Reduced equations of motion: I, I′, G and τ for one independent coordinate; M, C, G and τ for several.

        Raises ModelError where forces have mass of their own.
        """
        _ = self.derivatives
        heavy = next(
            (f.name for f in self.model.forces if f.inertia != 0.0 or any(m.mass != 0.0 for m in f.masses)), ""
        )
        if heavy:
            raise ModelError(
                f"Force '{heavy}' has a mass of its own, which the symbolic equations of motion cannot include.",
                where=f"force '{heavy}'",
                remedy="Give the mass to a body, or use only positions and velocity ratios.",
            )
        return self._expand_definitions(ReducedEquations(self, self.speeds).definitions())

    @property
    def forces(self) -> tuple[str, ...]:
        """Names of the generalised forces at the independent coordinates."""
        return tuple(each.name for each in self.dynamics[-len(self.places) :])

    @property
    def cut_symbols(self) -> dict[str, str]:
        """Mapping from the symbols of cut joints in the equations to the names of these joints."""
        used = {each.name for each in self.positions}
        return {name: self.edges[i].joint for i, name in self.cut_names.items() if name in used}

    @property
    def ratio_joints(self) -> dict[str, str]:
        """Mapping from the names of ratios and their derivatives to the joints they belong to."""
        return {name: self.variables[key[0]].joint for key, name in self.ratio_names.items()}

    @property
    def recognised_numbers(self) -> tuple[RecognisedNumber, ...]:
        """Numbers that were recognised as multiples of π or simple fractions."""
        return tuple(self.recognised.values())

    @property
    def positions(self) -> tuple[Definition, ...]:
        """Definitions of the dependent coordinates, in order of use."""
        return tuple(each for step in self.steps for each in step.positions)

    @property
    def ratios(self) -> tuple[Definition, ...]:
        """Definitions of the velocity ratios, in order of use."""
        return tuple(each for step in self.steps for each in step.ratios)

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """Definitions of all sections, in order of use."""
        return (*self.positions, *self.ratios, *self.derivatives, *self.dynamics)

    def evaluated(self, values: Mapping[str, float], sections: Sequence[str] = SECTIONS) -> dict[str, float]:
        """Evaluate all names of the sections in SI units; return the given and the computed values.

        values : of the independent coordinates and the signs of branches (see `branch_signs`), for equations of motion
        of rates and accelerations, too; parameters not given have the model's values. Raises ModelError for a name
        without a value, and where the loop does not close.
        """
        found: dict[str, float] = {**_ROOTS, **self.values, **values}
        for name, form, _, side in self._definitions_in(sections):
            if name in found:
                continue
            missing = sorted(({name} if side is not None else names_in_form(form)) - found.keys())
            if missing:
                raise ModelError(
                    f"'{missing[0]}' has no value.", where=f"'{name}'", remedy="Give it a number in SI units."
                )
            try:
                found[name] = evaluate(form, found)
            except (ValueError, ZeroDivisionError):
                raise ModelError(
                    f"'{name}' has no real value: the loop cannot be closed in this position, or is singular.",
                    where=", ".join(f"{each.symbol} = {found[each.symbol]:g}" for each in self.independent),
                    remedy="Choose another position, or change lengths.",
                ) from None
        return found

    def _definitions_in(self, sections: Sequence[str]) -> Iterator[Definition]:
        for section in SECTIONS:
            if section in sections:
                yield from getattr(self, section)

    def branch_signs(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return the branch signs (+1 or −1) at a pose. values : of all coordinates; parameters not given have the
        values of the model."""
        found: dict[str, float] = {**_ROOTS, **self.values, **values}
        signs: dict[str, float] = {}
        for name, form, _, side in self.positions:
            if side is not None:
                signs[name] = found[name] = math.copysign(1.0, evaluate(side, found))
            elif name not in found:
                found[name] = evaluate(form, found)
        return signs

    def sympy(self, name: str) -> Any:
        """Return the definition of a name as a SymPy expression in parameters, coordinates and earlier names; symbols
        are real. Raises ModelError for an unknown name."""
        found = next((each for each in self.definitions if each.name == name and each.side is None), None)
        if found is None:
            known = [each.name for each in self.definitions if each.side is None]
            raise ModelError(f"There is no definition of '{name}'.", remedy=suggest_names(name, known))
        import sympy

        return to_sympy(found.form, lambda symbol: sympy.Symbol(symbol, real=True))

    def matrix(self, values: Mapping[str, float]) -> NDArray[np.float64]:
        """Evaluate Φ, (variables, independent); values : of all names."""
        return np.array([[self._evaluate_element(x, values) for x in row] for row in self.columns]).reshape(self.n, -1)

    def velocity_product_accelerations(
        self, values: Mapping[str, float], s: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return Φ̇ s, (variables,): the accelerations of all variables when the independent accelerations are zero. s
        : (independent,) speeds."""
        found = np.zeros(self.n)
        for i, a in self.speeds.ratios:
            slopes = [self.speeds.ratio_derivative_name(i, a, b) for b in range(len(s))]
            found[i] += sum(values[name] * s[a] * s[b] for b, name in enumerate(slopes) if name)
        return found

    @staticmethod
    def _evaluate_element(x: Scalar, values: Mapping[str, float]) -> float:
        return float(evaluate(make_sum([t.to_form() for t in collect_terms(x)]), values))


def _needed_definitions(definitions: Sequence[Definition], wanted_names: set[str]) -> list[Definition]:
    """Return the wanted definitions and those that they depend on."""
    wanted_names = set(wanted_names)
    kept: list[Definition] = []
    for each in reversed(definitions):
        if each.name in wanted_names:
            kept.append(each)
            wanted_names |= names_in_form(each.form) | (names_in_form(each.side) if each.side is not None else set())
    return kept[::-1]


def find_obstacle(model: Model) -> str:
    """Return the reason why a model's loops cannot be solved symbolically; '' if they can be solved."""
    try:
        find_loop_solution(build_topology(model), model)
    except ModelError as error:
        return f"The loops have no symbols: {error}"
    return ""


def linkage(
    model: Model,
    *,
    symbols: str | Iterable[str] | None = "masses",
    values: Mapping[str, float] | None = None,
    recognise: bool = True,
) -> Linkage:
    """Return the symbolic model of a machine with analytic loop closure.

    symbols : "masses" (default: the model's parameters stay symbols, and the mass, centre and inertia of every body
        becomes one), "named" (the model's parameters alone), "all" (lengths become symbols, too), "none", or names of
        parameters that stay symbols, the others taking their values
    values : parameters that take other values than the model's
    recognise : take numbers near multiples of π or simple fractions for these (listed in `recognised`)

    Raises ModelError for machines without loops, for loops that close by iteration, for joints with quaternions, and
    for formulas that are no polynomials.
    """
    named, given = apply_chosen_symbols(model, symbols, values)
    return Linkage(named, given, recognise=recognise)
