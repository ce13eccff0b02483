"""Symbolic wrenches of joints and constraints; and bearing loads: for each speed of a joint whose friction grows with
its reaction, the friction force (N) or torque (N·m) at a friction coefficient of one.

f, n : the joint's reaction on its child side, at b's origin; f has parts along its axis (f_z) and across (f⊥).
Σ|f⊥| is that of two bearings at the distance d about b, f⊥/2 ± (n⊥ × axis)/d, or |f⊥| where there is one.

pin : r Σ|f⊥| + r_t |f_z| (r: radius of the pin, r_t: of its shoulder)
guide : Σ|f⊥| along its axis, r Σ|f⊥| about it
plane : |f_z| in its plane, r |f_z| about its normal
point : r |f|

A constraint row's wrench depends on the poses of its frames alone, so that like constraints share one expression.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen.graph_symbols import build_column, scalar_symbols
from core.codegen.instructions import ExpressionForm, extract_form, rebuild_form
from core.mechanics import kinematics
from core.mechanics.dry_friction import NOTHING
from core.mechanics.elements.constraints.kinematic_constraint import ConstraintState, KinematicConstraint, Side
from core.mechanics.elements.force_state import ExchangedWrench
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.multibody.topology import Topology
from core.mechanics.rnea import rnea
from core.mechanics.tree import LinkFrame, Runner, Tree, inline
from core.model import Joint
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.scalar import Scalar, is_zero, over, plus, sqrt, times
from core.numerics.spatial.vector import Force, Vector3
from core.programs.dynamics import force_state, sum_force_loads
from core.programs.machine_symbols import MachineSymbols

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

Inputs = Mapping[str, list[Any]]


class BearingPairs(NamedTuple):
    """Pairs of a joint and a constraint row whose wrench it transmits, sorted by joint: joint, row, row within the
    sides, and sign."""

    joints: Integers
    rows: Integers
    side_rows: Integers
    signs: Array
    moved: NDArray[np.bool_]
    """True if the wrench must be moved to the joint's frame b (a cut joint's is there already)."""
    starts: Integers
    """Index of the first pair of each joint."""


def find_bearing_pairs(
    topology: Topology, index: Mapping[str, int], sides: Sequence[tuple[Side, Sequence[int]]]
) -> BearingPairs:
    """Return the pairs for sides of constraints with their row numbers. index : joint → its number"""
    turned = {branch.joint.name: branch.reversed for branch in topology.branches}
    found: list[tuple[int, int, int, float, bool]] = []
    first = 0
    for side, rows in sides:
        bearing = [(side.joint, 1.0, False)] if side.joint else []
        on_a, on_b = (topology.path(name) for name in side.names)
        while on_a and on_b and on_a[-1] == on_b[-1]:
            on_a.pop()
            on_b.pop()
        for path, sign in ((on_b, -1.0), (on_a, 1.0)):
            bearing += [(name, -sign if turned[name] else sign, True) for name in path]
        for name, sign, moved in bearing:
            found += [(index[name], row, first + k, sign, moved) for k, row in enumerate(rows)]
        first += len(rows)
    found.sort(key=lambda pair: pair[0])
    numbers = np.array([pair[:3] for pair in found], dtype=np.int64).reshape(-1, 3)
    signs, moves = np.array([pair[3] for pair in found]), np.array([pair[4] for pair in found], dtype=bool)
    joints, borne, side_rows = numbers.T
    return BearingPairs(joints, borne, side_rows, signs, moves, np.flatnonzero(np.diff(joints, prepend=-1)))


Step = Callable[..., tuple[Scalar, ...]]


class _LinkCoordinates(dict[int, list[Any]]):
    """Symbols for the coordinates of links, created when first used."""

    def __init__(self, tree: Tree) -> None:
        super().__init__()
        self._tree = tree

    def __missing__(self, link: int) -> list[Any]:
        self[link] = scalar_symbols(f"q{link}_", self._tree.links[link].law.nq)
        return self[link]


class _SymbolicFrames:
    """Symbolic frames and coordinates that replace a kinematic state."""

    def __init__(self, sides: Sequence[Side], tree: Tree) -> None:
        self.coordinates = _LinkCoordinates(tree)
        self.places = list({id(place): place for side in sides for place in (side.a, side.b)}.values())
        self.symbols = scalar_symbols("X", 12 * len(self.places))
        self._poses = {id(place): _read_pose(self.symbols[12 * k : 12 * k + 12]) for k, place in enumerate(self.places)}

    def frame(self, place: LinkFrame) -> Pose:
        """Return X_WF."""
        return self._poses[id(place)]


def _read_pose(entries: Sequence[Any]) -> Pose:
    rows = [Vector3(*entries[k : k + 3]) for k in range(0, 12, 3)]
    return Pose(Rotation(*rows[:3]), rows[3])


def constraint_sides(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the derivative of each side's rows with respect to the motion [ω; v] of its frame b relative to a, at b's
    origin in world axes, and that origin."""
    return _side_wrenches(context, context.constraints.table, inputs, run)


def cut_sides(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the derivatives as in `constraint_sides` for the coordinates of cut joints and of clutches between
    these."""
    return _side_wrenches(context, context.cut_coordinates, inputs, run)


def _side_wrenches(
    context: MachineSymbols, table: Sequence[KinematicConstraint], inputs: Inputs, run: Runner
) -> list[Scalar]:
    kinematics = context.state_at_zero_speed(inputs["q"], run)
    known: dict[ExpressionForm, Step] = {}
    alike: dict[Hashable, _SideDerivatives] = {}
    result: list[Scalar] = []
    for constraint in table:
        if not constraint.sides:
            continue
        frames = _SymbolicFrames(constraint.sides, context.tree)
        derived = alike.get(constraint.sharing_key) or _side_derivatives(constraint, frames, context.p, known)
        if constraint.sharing_key is not None:
            alike[constraint.sharing_key] = derived
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
    constraint: KinematicConstraint, frames: _SymbolicFrames, p: Sequence[Any], known_steps: dict[ExpressionForm, Step]
) -> _SideDerivatives:
    derived = build_column([entry for side in constraint.sides for entry in _side_rows(constraint, side, frames)])
    within = {symbol.element_hash() for symbol in ca.symvar(derived)}
    used = tuple(symbol for symbol in p if symbol.element_hash() in within)
    coordinates = [x for own in frames.coordinates.values() for x in own]
    form, constants = extract_form(
        [build_column(frames.symbols), build_column(coordinates), build_column(list(used))], [derived]
    )
    if form not in known_steps:
        known_steps[form] = _step_of_form(form)
    return _SideDerivatives(known_steps[form], tuple(frames.coordinates), used, tuple(constants))


def _side_rows(constraint: KinematicConstraint, side: Side, frames: _SymbolicFrames) -> Iterator[Any]:
    """Return the derivatives R, row by row."""
    motion = scalar_symbols("m", 6)
    values = constraint.values(ConstraintState(cast(KinematicState, frames), {id(side): motion}))
    R = ca.jacobian(build_column(values), build_column(motion))
    R = ca.substitute(R, build_column(motion), ca.DM.zeros(6))
    yield from ca.vertsplit(ca.vec(ca.densify(R).T))


def _step_of_form(form: ExpressionForm) -> Step:
    """Convert a form to a step (`core.mechanics.tree`)."""
    arguments, (derived,) = rebuild_form(form)
    function = ca.Function("f", arguments, [derived], {"cse": True})

    def step(poses: Sequence[Pose], *others: Sequence[Scalar]) -> tuple[Scalar, ...]:
        entries = [entry for X in poses for row in (*X.rotation, X.position) for entry in row]
        return tuple(ca.vertsplit(function(build_column(entries), *(build_column(list(each)) for each in others))))

    return step


def wrenches(
    context: MachineSymbols,
    inputs: Inputs,
    _: str,
    run: Runner = inline,
    *,
    resist: bool = True,
    smooth: bool = False,
) -> list[Scalar]:
    """Return the wrench of the parent side on the child side of every joint, at b's origin in world axes; for cut
    joints only the part of their own springs, dampers, forces and rotors, without constraint forces. u: accelerations;
    smooth : without dry friction"""
    machine = context.unmerged_machine
    loads = sum_force_loads(context, inputs, run, resist=resist, smooth=smooth, unmerged=True)
    external = () if loads is None else loads.external
    forces = rnea(machine.tree, inputs["q"], inputs["v"], inputs["u"], external=external, run=run).forces
    poses = kinematics.link_poses(machine.tree, inputs["q"], run)
    turned = {branch.joint.name: branch.reversed for branch in context.topology.branches}
    result: list[Scalar] = []
    for name, (_a, b) in machine.joints.items():
        link = machine.carried.get(name)
        if link is None:
            F = _wrench_of_own_elements(context, inputs, name, run, resist, smooth)
            result += [*F.moment, *F.force]
            continue
        p_b = b.pose.position if b.link < 0 else run(Pose.point, poses[b.link], b.pose.position)
        F = run(_reaction_at_link if turned[name] else _move_to_link, forces[link], poses[link], p_b)
        result += [*F.moment, *F.force]
    return result


def _wrench_of_own_elements(
    context: MachineSymbols, inputs: Inputs, joint: str, run: Runner, resist: bool, smooth: bool
) -> Force:
    """Return the wrench of a cut joint's own elements on its child side."""
    elements = context.unmerged_elements
    seen = force_state(context, inputs, run, smooth, elements)
    loads = ExchangedWrench(KinematicState(elements.machine.tree, inputs["q"], inputs["v"], run, inputs["u"]))
    for element in elements.force_elements_in(joint) if resist else ():
        element.add_loads(seen, loads)
    for rotor in elements.rotors:
        if rotor.name == joint:
            rotor.inertia(loads.kinematics, loads)
    return loads.on_b


def _move_to_link(force: Force, X_WL: Pose, p: Vector3) -> Force:
    """Move a force about the world point p, world axes, to a link's origin and axes."""
    return Pose(X_WL.rotation, X_WL.position - p).force(force)


def _reaction_at_link(force: Force, X_WL: Pose, p: Vector3) -> Force:
    """Return the reaction to a force, moved to a link's origin and axes."""
    return -_move_to_link(force, X_WL, p)


def bearing_loads(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return one load for each entry of `MachineSymbols.bearings`. u : accelerations; l : constraint multipliers; c :
    forces along coordinates of cut joints and clutches."""
    names, machine = list(context.unmerged_machine.joints), context.unmerged_machine
    flat = wrenches(context, inputs, "", run, smooth=True)
    forces = [_read_force(flat[6 * i : 6 * i + 6]) for i in range(len(names))]
    poses = kinematics.link_poses(machine.tree, inputs["q"], run)
    frames = {
        name: tuple(place.pose if place.link < 0 else poses[place.link] @ place.pose for place in pair)
        for name, pair in machine.joints.items()
    }
    index = {name: i for i, name in enumerate(names)}
    for letter, sides, wrenches_of in _constraint_groups(context):
        if inputs.get(letter):
            pairs = find_bearing_pairs(context.topology, index, sides)
            places = [frames[name][1].position for name in names]
            _add_transmitted_wrenches(
                forces, pairs, wrenches_of(context, {"q": inputs["q"]}, "", run), inputs[letter], places
            )
    result: list[Scalar] = []
    for joint, k in context.bearings:
        if k == 0:
            axis = frames[joint.name][0].rotation.act(context.numbers.law(joint)[1].columns()[2])
            loads = _friction_loads(context, joint, forces[index[joint.name]], axis)
        result.append(loads[k])
    return result


def _constraint_groups(context: MachineSymbols) -> list[tuple[str, list[Any], Any]]:
    """Return the groups of rows that exert wrenches: letter of their multipliers, their sides with row numbers, and the
    function of their wrenches."""
    held = [(side, list(range(rows.start, rows.stop))) for _, side, rows in context.constraints.sides()]
    closing = [(side, [i]) for i, coordinate in enumerate(context.cut_coordinates) for side in coordinate.sides]
    return [("l", held, constraint_sides), ("c", closing, cut_sides)]


def _add_transmitted_wrenches(
    forces: list[Force], pairs: BearingPairs, sides: list[Scalar], factors: list[Any], origins: list[Vector3]
) -> None:
    """Add the wrenches that row forces transmit through joints, at each joint's frame b in world axes."""
    for joint, row, side, sign, moved in zip(*pairs[:5], strict=True):
        own = sides[9 * side : 9 * side + 9]
        force = _read_force(own[:6])
        if moved:
            arm = Vector3(*own[6:]) - origins[joint]
            force = Force(force.moment + arm.cross(force.force), force.force)
        forces[joint] = forces[joint] + force.scaled(times(float(sign), factors[row]))


def _read_force(entries: list[Scalar]) -> Force:
    return Force(Vector3(*entries[:3]), Vector3(*entries[3:]))


def _norm(v: Vector3) -> Scalar:
    return sqrt(plus(v.dot(v), NOTHING))


def _friction_loads(context: MachineSymbols, joint: Joint, force: Force, axis: Vector3) -> list[Scalar]:
    """Return the friction per unit coefficient for each speed of a joint."""
    where, scalar = f"joint '{joint.name}'", context.numbers.scalar
    radius, shoulder = (
        scalar(getattr(joint, field), f"{where}, {field}") for field in ("bearing_radius", "thrust_radius")
    )
    along = force.force.dot(axis)
    match joint.info.bearing:
        case "pin":
            across = times(radius, _force_across_axis(context, joint, force, axis))
            normal = across if is_zero(shoulder) else plus(across, times(shoulder, _norm(Vector3(along, 0.0, 0.0))))
            return [normal]
        case "guide":
            normal = _force_across_axis(context, joint, force, axis)
        case "plane":
            normal = _norm(Vector3(along, 0.0, 0.0))
        case _:
            normal = _norm(force.force)
    turns = [dimension == "angular_velocity" for dimension in joint.info.speed_dimensions]
    return [times(radius, normal) if turn else normal for turn in turns]


def _force_across_axis(context: MachineSymbols, joint: Joint, force: Force, axis: Vector3) -> Scalar:
    """Return the sum Σ|f⊥| of the bearing forces normal to the joint's axis."""
    across = force.force - axis.scaled(force.force.dot(axis))
    if joint.bearing_distance is None:
        return _norm(across)
    distance = context.numbers.scalar(joint.bearing_distance, f"joint '{joint.name}', bearing_distance")
    pair = force.moment.cross(axis).scaled(over(1.0, distance))
    half = across.scaled(0.5)
    return plus(_norm(half + pair), _norm(half - pair))
