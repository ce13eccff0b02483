"""Constraint rows as expressions of the joint coordinates between their frames, and their derivatives.

The constraints of a short machine are derived together, since they share much. A long one has many of few forms
(`core.codegen.instructions`): of each form residual, Jacobian and bias are derived once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from core.codegen.graph_symbols import build_column, directional_derivative, scalar_symbols
from core.codegen.instructions import ExpressionForm, extract_form, rebuild_form
from core.mechanics.elements.constraints.kinematic_constraint import (
    ACCELERATION,
    POSITION,
    ConstraintState,
    KinematicConstraint,
    Target,
)
from core.mechanics.kinematic_state import KinematicState, relative_state
from core.mechanics.tree import Runner, Tree
from core.numerics.elimination import Pattern
from core.numerics.spatial.rotation import wrap_angle
from core.numerics.spatial.scalar import Scalar

Step = Callable[..., tuple[Scalar, ...]]


class _RowKind(NamedTuple):
    """Properties of the rows of a form: their level, whether they are angles known up to whole turns, and whether they
    constrain speeds that are not rates of coordinates."""

    levels: tuple[int, ...]
    turns: tuple[bool, ...]
    of_speeds: tuple[bool, ...]


class _DerivedSteps(NamedTuple):
    """Steps over (q, v, t, p, constants) for residual, entries of G, bias and time derivative, and the positions of the
    entries."""

    residual: Step
    entries: Step
    bias: Step
    time: Step
    rows: tuple[int, ...]
    columns: tuple[int, ...]


class _ConstraintPart(NamedTuple):
    """Constraint of a given form: the derived steps and the indices of its arguments."""

    derived: _DerivedSteps
    first_row: int
    q: tuple[int, ...]
    """Indices in q, in v and in the time argument, parameters, constants."""
    v: tuple[int, ...]
    t: tuple[int, ...]
    p: tuple[Any, ...]
    constants: tuple[float, ...]


class RowExpressions:
    """Constraint rows of a tree. p : symbols of the parameters; clock_size : length of the time argument; separately :
    True to derive each constraint separately."""

    def __init__(
        self, tree: Tree, table: Sequence[KinematicConstraint], p: Sequence[Any], clock_size: int, separately: bool
    ) -> None:
        self.tree = tree
        self._q, self._v = scalar_symbols("q", tree.nq), scalar_symbols("v", tree.nv)
        self._t, self._p = scalar_symbols("t", clock_size), list(p)
        self._places = {
            symbol.element_hash(): (kind, k)
            for kind, every in (("q", self._q), ("v", self._v), ("t", self._t), ("p", self._p))
            for k, symbol in enumerate(every)
        }
        free = [link for link in tree.links if link.coupling is None]
        self._owners = {("q", k): link for link in free for k in range(link.q.start, link.q.stop)}
        self._owners |= {("v", k): link for link in free for k in range(link.v.start, link.v.stop)}
        self._state = KinematicState(tree, self._q)
        self._forms: dict[tuple[ExpressionForm, _RowKind], _DerivedSteps] = {}
        self._parts: list[_ConstraintPart] = []
        self.count = 0
        """Number of rows."""
        for some in [[each] for each in table] if separately else [table]:
            if count := sum(len(each.rows) for each in some):
                self._parts.append(self._build_constraint_part(some))
                self.count += count
        self.pattern = Pattern(
            np.array([part.first_row + row for part in self._parts for row in part.derived.rows], dtype=np.int64),
            np.array([part.v[k] for part in self._parts for k in part.derived.columns], dtype=np.int64),
        )
        """Pattern of G, in the order of `entries`."""

    def _build_constraint_part(self, constraints: Sequence[KinematicConstraint]) -> _ConstraintPart:
        values: list[Any] = []
        targets: list[Target] = []
        speeds: list[Any] = []
        for constraint in constraints:
            kinematics = self._state
            if constraint.relative:
                side = constraint.sides[0]
                kinematics = relative_state(self.tree, self._q, side.a.link, side.b.link)
            state = ConstraintState(kinematics)
            values += constraint.values(state)
            targets += constraint.targets(self._t or (0.0,))
            own = constraint.speeds(state, self._v, self._time_derivatives)
            speeds += [None] * len(constraint.rows) if own is None else own
        kind = _RowKind(
            tuple(row.level for each in constraints for row in each.rows),
            tuple(each.turns for each in constraints for _ in each.rows),
            tuple(speed is not None for speed in speeds),
        )
        wanted = [build_column([target[k] for target in targets]) for k in range(3)]
        results = [build_column(values), *wanted, build_column([0.0 if speed is None else speed for speed in speeds])]
        found = {self._places[symbol.element_hash()] for symbol in ca.symvar(ca.vertcat(*results))}
        links = {id(self._owners[each]): self._owners[each] for each in found if each[0] in "qv"}
        joints = sorted(links.values(), key=lambda link: link.first_v)
        q = tuple(k for link in joints for k in range(link.q.start, link.q.stop))
        v = tuple(k for link in joints for k in range(link.v.start, link.v.stop))
        t, p = (tuple(sorted(k for kind, k in found if kind == word)) for word in "tp")
        rates = [x for link in joints for x in link.law.rate(self._q[link.q], self._v[link.v])]
        arguments = [
            build_column([every[k] for k in chosen])
            for every, chosen in ((self._q, q), (self._v, v), (self._t, t), (self._p, p))
        ]
        form, constants = extract_form(arguments, [ca.densify(each) for each in (*results, build_column(rates))])
        if (form, kind) not in self._forms:
            self._forms[form, kind] = _derived_steps(form, kind)
        return _ConstraintPart(
            self._forms[form, kind], self.count, q, v, t, tuple(self._p[k] for k in p), tuple(constants)
        )

    def _time_derivatives(self, scalars: Sequence[Scalar]) -> list[Scalar]:
        """Differentiate scalars of q with respect to time."""
        free = sorted((link for link in self.tree.links if link.coupling is None), key=lambda link: link.q.start)
        rates = [x for link in free for x in link.law.rate(self._q[link.q], self._v[link.v])]
        return _split_column(
            directional_derivative(build_column(list(scalars)), build_column(self._q), build_column(rates))
        )

    def residual(self, x: Mapping[str, list[Any]], run: Runner) -> list[Scalar]:
        """Return s − f of every row; zero for rows enforced only at speed or acceleration level."""
        return self._rows_of_all_parts(
            lambda h: run(
                h.derived.residual, _select_entries(x, "q", h.q), _select_entries(x, "t", h.t), h.p, h.constants
            )
        )

    def entries(self, x: Mapping[str, list[Any]], run: Runner) -> list[Scalar]:
        """Return the entries of G in the order of `pattern`."""
        return self._rows_of_all_parts(lambda h: run(h.derived.entries, _select_entries(x, "q", h.q), h.p, h.constants))

    def bias(self, x: Mapping[str, list[Any]], run: Runner) -> list[Scalar]:
        """Return Ġ v − f̈ of every row."""
        return self._rows_of_all_parts(
            lambda h: run(
                h.derived.bias,
                _select_entries(x, "q", h.q),
                _select_entries(x, "v", h.v),
                _select_entries(x, "t", h.t),
                h.p,
                h.constants,
            )
        )

    def time(self, x: Mapping[str, list[Any]], run: Runner) -> list[Scalar]:
        """Return −ḟ of every row; zero for rows enforced only at acceleration level."""
        return self._rows_of_all_parts(lambda h: run(h.derived.time, _select_entries(x, "t", h.t), h.p, h.constants))

    def _rows_of_all_parts(self, evaluate: Callable[[_ConstraintPart], tuple[Scalar, ...]]) -> list[Scalar]:
        return [entry for part in self._parts for entry in evaluate(part)]


def _select_entries(x: Mapping[str, list[Any]], argument: str, indices: Sequence[int]) -> tuple[Any, ...]:
    return tuple(x[argument][k] for k in indices)


def _derived_steps(form: ExpressionForm, kind: _RowKind) -> _DerivedSteps:
    """Derive residual, entries of G, bias and −ḟ of a form."""
    (q, v, t, p, c), (values, target, rate, second, speeds, q_rate) = rebuild_form(form)
    gaps = ca.vertsplit(values - target)
    residual = build_column(
        [
            0.0 if level != POSITION else wrap_angle(gap) if turns else gap
            for gap, level, turns in zip(gaps, kind.levels, kind.turns, strict=True)
        ]
    )
    # ṡ = G v: the derivative by q, times q̇ = N v
    G = ca.jacobian(values, q) @ ca.jacobian(q_rate, v)
    for row in np.flatnonzero(kind.of_speeds).tolist():
        G[row, :] = ca.jacobian(speeds[row], v)
    transposed = ca.sparsify(ca.SX(G.T))
    columns, rows = transposed.sparsity().get_triplet()
    bias = directional_derivative(transposed.T @ v, q, q_rate) - second
    opposite = build_column(
        [0.0 if level == ACCELERATION else -r for level, r in zip(kind.levels, _split_column(rate), strict=True)]
    )
    return _DerivedSteps(
        _build_step([q, t, p, c], residual),
        _build_step([q, p, c], build_column(transposed.nonzeros())),
        _build_step([q, v, t, p, c], bias),
        _build_step([t, p, c], opposite),
        tuple(rows),
        tuple(columns),
    )


def _split_column(x: ca.SX) -> list[ca.SX]:
    return ca.vertsplit(x) if x.numel() else []


def _build_step(arguments: Sequence[ca.SX], result: ca.SX) -> Step:
    """Convert an expression to a step (`core.mechanics.tree`) that takes its arguments as tuples of scalars."""
    function = ca.Function("f", list(arguments), [ca.densify(result)], {"cse": True})

    def step(*given: Sequence[Scalar]) -> tuple[Scalar, ...]:
        return tuple(_split_column(function(*(build_column(list(each)) for each in given))))

    return step
