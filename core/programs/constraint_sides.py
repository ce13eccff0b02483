"""Symbolic wrenches of constraints: for each multiplier the wrench on each side, and its reference point.

A row's wrench depends on the poses of its frames alone, so what holds in like ways is derived once
(`core.codegen.instructions`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import casadi as ca

from core.codegen.graph_symbols import column, symbols
from core.codegen.instructions import Form, columns_of_form, form_of
from core.mechanics.elements.constraints.kinematic_constraint import ConstraintState, KinematicConstraint, Side
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import Place, Runner, Tree, inline
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import Vector3
from core.programs.trace_context import TraceContext

Step = Callable[..., tuple[Scalar, ...]]


class _Coordinates(dict[int, list[Any]]):
    """Symbols for the coordinates of links, created when first used."""

    def __init__(self, tree: Tree) -> None:
        super().__init__()
        self._tree = tree

    def __missing__(self, link: int) -> list[Any]:
        self[link] = symbols(f"q{link}_", self._tree.links[link].law.nq)
        return self[link]


class _Frames:
    """Symbolic frames and coordinates that replace a kinematic state."""

    def __init__(self, sides: Sequence[Side], tree: Tree) -> None:
        self.coordinates = _Coordinates(tree)
        self.places = list({id(place): place for side in sides for place in (side.a, side.b)}.values())
        self.symbols = symbols("X", 12 * len(self.places))
        self._poses = {id(place): _pose(self.symbols[12 * k : 12 * k + 12]) for k, place in enumerate(self.places)}

    def frame(self, place: Place) -> Pose:
        """Return X_WF."""
        return self._poses[id(place)]


def _pose(entries: Sequence[Any]) -> Pose:
    rows = [Vector3(*entries[k : k + 3]) for k in range(0, 12, 3)]
    return Pose(Rotation(*rows[:3]), rows[3])


def constraint_sides(context: TraceContext, x: Mapping[str, list[Any]], _: str, run: Runner = inline) -> list[Scalar]:
    """Return the derivative of each side's rows with respect to the motion [ω; v] of its frame b relative to a, at b's
    origin in world axes, and that origin."""
    return _side_wrenches(context, context.constraints.table, x, run)


def cut_sides(context: TraceContext, x: Mapping[str, list[Any]], _: str, run: Runner = inline) -> list[Scalar]:
    """Return the derivatives as in `constraint_sides` for the coordinates of cut joints and of clutches between
    these."""
    return _side_wrenches(context, context.cut_coordinates, x, run)


def _side_wrenches(
    context: TraceContext, table: Sequence[KinematicConstraint], x: Mapping[str, list[Any]], run: Runner
) -> list[Scalar]:
    kinematics = context.standing(x["q"], run)
    known: dict[Form, Step] = {}
    alike: dict[Hashable, _SideDerivatives] = {}
    result: list[Scalar] = []
    for constraint in table:
        if not constraint.sides:
            continue
        frames = _Frames(constraint.sides, context.tree)
        derived = alike.get(constraint.alike) or _side_derivatives(constraint, frames, context.p, known)
        if constraint.alike is not None:
            alike[constraint.alike] = derived
        poses = tuple(kinematics.frame(place) for place in frames.places)
        q = tuple(entry for link in derived.links for entry in kinematics.coordinates[link])
        wrenches = iter(run(derived.step, poses, q, derived.parameters, derived.constants))
        for side in constraint.sides:
            origin = kinematics.frame(side.b).position
            for _row in constraint.rows:
                result += [*(next(wrenches) for _ in range(6)), *origin]
    return result


class _SideDerivatives(NamedTuple):
    """Derivatives of all sides of a constraint: a step of (poses, coordinates of links, parameters, constants)."""

    step: Step
    links: tuple[int, ...]
    parameters: tuple[Any, ...]
    constants: tuple[float, ...]


def _side_derivatives(
    constraint: KinematicConstraint, frames: _Frames, p: Sequence[Any], known: dict[Form, Step]
) -> _SideDerivatives:
    derived = column([entry for side in constraint.sides for entry in _derivatives(constraint, side, frames)])
    within = {symbol.element_hash() for symbol in ca.symvar(derived)}
    used = tuple(symbol for symbol in p if symbol.element_hash() in within)
    coordinates = [x for own in frames.coordinates.values() for x in own]
    form, constants = form_of([column(frames.symbols), column(coordinates), column(list(used))], [derived])
    if form not in known:
        known[form] = _step_of_form(form)
    return _SideDerivatives(known[form], tuple(frames.coordinates), used, tuple(constants))


def _derivatives(constraint: KinematicConstraint, side: Side, frames: _Frames) -> Iterator[Any]:
    """Return the derivatives R, row by row."""
    motion = symbols("m", 6)
    values = constraint.values(ConstraintState(cast(KinematicState, frames), {id(side): motion}))
    R = ca.jacobian(column(values), column(motion))
    R = ca.substitute(R, column(motion), ca.DM.zeros(6))
    yield from ca.vertsplit(ca.vec(ca.densify(R).T))


def _step_of_form(form: Form) -> Step:
    """Convert a form to a step (`core.mechanics.tree`)."""
    arguments, (derived,) = columns_of_form(form)
    function = ca.Function("f", arguments, [derived], {"cse": True})

    def step(poses: Sequence[Pose], *others: Sequence[Scalar]) -> tuple[Scalar, ...]:
        entries = [entry for X in poses for row in (*X.rotation, X.position) for entry in row]
        return tuple(ca.vertsplit(function(column(entries), *(column(list(each)) for each in others))))

    return step
