"""Mobility: degrees of freedom, redundant constraints and free motions of a machine; degrees of freedom taken up by
drivers, or locked by dry friction or a brake.

Counting (Grübler–Kutzbach) is wrong for planar loops drawn in space, for Bennett's, Sarrus' and Bricard's linkages and
for all that the count does not see. Here every number is a rank at assembled poses (`constraint_rank`), every name
comes from self-stresses (`self_stress`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints import failures
from core.constraints.consistent_motion import nearest_speeds
from core.constraints.joint_rows import friction_rows
from core.constraints.mobility import isostatic
from core.constraints.mobility.bifurcation import classify_branch, find_branches
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.mobility.free_motions import FreeMotion, decompose_free_motions
from core.constraints.mobility.isostatic import Release
from core.constraints.mobility.self_stress import Component, SelfStresses, compute_self_stresses, find_dependences
from core.constraints.named_values import single_state
from core.constraints.redundant_drivers import LEVELS, find_disagreement, row_demands, split_driver_rows
from core.constraints.rest_position import reference_position
from core.errors import AssemblyError, join_words
from core.joints import JointKind
from core.later import dataclass
from core.mechanics.multibody.parameter_values import Values
from core.numerics import position_solver
from core.numerics.matrix_forms import Matrix, to_dense
from core.numerics.tolerances import ACCEPTED_GAP, RANK_TOLERANCE
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]


class FrictionLocking(NamedTuple):
    """Effect of friction at a pose. names : coordinates whose friction removes a degree of freedom each; idle :
    descriptions of friction on joints that are immobile anyway; motions : (nv, k) remaining motions"""

    names: tuple[str, ...]
    idle: tuple[str, ...]
    motions: Array


def dof_locked_by_friction(constraints: PositionConstraints, q: Array) -> FrictionLocking:
    """Effect of friction at a pose, joint by joint in the order of the model."""
    N = constraints.free_motions(q)
    rubbing = friction_rows(constraints.compiled, q, constraints.p, constraints.t)
    W = rubbing.W @ N
    sizes = np.maximum(np.linalg.norm(rubbing.W * constraints.speed_units, axis=1), 1e-300)
    names, basis, kept, idle = list[str](), np.zeros((0, N.shape[1])), list[int](), list[str]()
    for i, row in enumerate(rubbing.rows):
        part = W[i] - basis.T @ (basis @ W[i])
        if np.linalg.norm(part) > RANK_TOLERANCE * sizes[i]:
            names.append(row.name)
            kept.append(i)
            basis = np.concatenate([basis, part[None] / np.linalg.norm(part)])
            continue
        shares = np.abs(np.linalg.lstsq(W[kept].T, W[i], rcond=RANK_TOLERANCE)[0]) if kept else np.zeros(0)
        others = [names[k] for k in np.flatnonzero(shares > RANK_TOLERANCE)]
        already = (
            f"a motion that {join_words(others)} already hold{'s' * (len(others) == 1)}"
            if others
            else "a coordinate that cannot move here"
        )
        idle.append(f"{row.name}: its friction locks {already}")
    left = (N - N @ basis.T @ basis) / constraints.speed_units[:, None]
    axes = np.linalg.svd(left, full_matrices=False)[0]
    return FrictionLocking(
        tuple(names), tuple(idle), constraints.speed_units[:, None] * axes[:, : N.shape[1] - len(names)]
    )


@dataclass(frozen=True)
class DriverFault:
    """A driver that takes up no degree of freedom because other drivers (by name) or the joints determine its motion.

    contradicts : it demands something else than they do; text : in words, without a full stop
    """

    driver: str
    others: tuple[str, ...]
    contradicts: bool
    text: str


@dataclass(frozen=True)
class DriverEffect:
    """Effect of the drivers at a pose: names of rows that take up a degree of freedom, and faults of the others."""

    effective: tuple[str, ...]
    faults: tuple[DriverFault, ...]


def analyse_drivers(constraints: PositionConstraints, q: Array) -> DriverEffect:
    """Find the effect of a machine's drivers (all rows in `constraints`) at a closed pose q, moving at the prescribed
    speeds."""
    rows = constraints.names
    if not any(row.collection == "drivers" for row in rows):
        return DriverEffect((), ())
    compiled, units = constraints.compiled, constraints.row_units
    G = to_dense(constraints.scaled_jacobian(q))
    still, alike = np.zeros(compiled.nv), np.ones(compiled.nv)
    v = nearest_speeds(compiled, q, still, alike, constraints.p, constraints.t)
    demands = [each[constraints.kept] / units for each in row_demands(compiled, q, v, constraints.p, constraints.t)]
    taken, repeated = split_driver_rows(G, rows)
    faults = []
    for each in repeated:
        found = find_disagreement(each, rows, demands)
        others = [rows[i] for i in each.drivers]
        text = _fault_text(str(rows[each.row]), [str(row) for row in others], None if found is None else found[0])
        names = tuple(dict.fromkeys(row.element for row in others))
        faults.append(DriverFault(rows[each.row].element, names, found is not None, text))
    return DriverEffect(tuple(str(rows[k]) for k in taken), tuple(faults))


def _fault_text(name: str, others: list[str], level: int | None) -> str:
    """Description of a driver that takes up no degree of freedom; level : level at which it contradicts others, None if
    it agrees"""
    if not others:
        return (
            f"Driver {name} drives a coordinate that cannot move: the joints fix it"
            if level is None
            else (f"Driver {name} prescribes a motion that the joints do not allow")
        )
    already = f"Driver {name} drives the same motion as {' and '.join(others)}"
    return already if level is None else f"{already}, but with a different {LEVELS[level]}"


@dataclass(frozen=True)
class RedundantConstraint:
    """A constraint that is already implied by the others.

    joint : joint (or other element) it belongs to; component : e.g. "rotation about y of the world"; direction : (3,)
    in the world at the pose; others : (collection, name) of those that fix it already; instead : text of other
    constraints that could be given up in its place, by joint; motion : "translation" or "rotation" that it forbids, ""
    if it has no direction
    """

    joint: str
    collection: str
    component: str
    direction: tuple[float, float, float]
    others: tuple[tuple[str, str], ...]
    instead: tuple[tuple[str, tuple[str, ...]], ...] = ()
    motion: str = ""

    @property
    def imposing_elements(self) -> tuple[str, ...]:
        """Names of the elements that already impose it."""
        return tuple(name for _, name in self.others)

    @property
    def text(self) -> str:
        """The redundancy as one clause."""
        return f"{self.joint}: {self.component} is already fixed by {join_words(self.imposing_elements)}"


@dataclass(frozen=True)
class Mobility:
    """Mobility of a machine near a pose and at it.

    degrees_of_freedom : finite freedoms at generic poses near the one given, drivers let go; where branches of motion
                         of different freedom part (kinematotropic linkages), those of the one that has most
    at_pose            : freedoms of the velocities at the pose itself; more than the above at a singular pose
    equations, rank    : scalar constraints of all joints and other elements, and how many of them are independent
    count              : freedoms by Grübler–Kutzbach: 6 per body less the equations
    redundant          : constraints that others already fulfil; proposal: changes that make the machine isostatic
    motions            : free motions at the pose, each moving as few joints as possible
    singular           : the pose is one where the rank drops or branches of motion part
    q                  : (nq,) the pose, closed
    """

    degrees_of_freedom: int
    at_pose: int
    equations: int
    rank: int
    count: int
    redundant: tuple[RedundantConstraint, ...]
    motions: tuple[FreeMotion, ...]
    proposal: tuple[Release, ...]
    singular: bool
    q: Array
    driven: tuple[str, ...] = ()
    """Driver rows that take up a degree of freedom each."""
    undriven: int = 0
    """Degrees of freedom without a driver."""
    driver_faults: tuple[DriverFault, ...] = ()
    """Drivers that contradict joints or other drivers, or are redundant."""
    infinitesimal: int = 0
    """Infinitesimal degrees of freedom at generic poses, which permit no finite motion (a shaky structure)."""
    branch_freedoms: tuple[int, ...] = ()
    """Degrees of freedom of the branches of motion that meet at the pose, largest first; empty if there is a single
    branch. For long machines, whose loops branch independently, not all are listed."""
    stuck: tuple[str, ...] = ()
    """Coordinates whose friction removes a degree of freedom each, if friction was included; all other results then
    refer to the degrees of freedom that remain."""
    idle_friction: tuple[str, ...] = ()
    """Descriptions of friction on joints that are immobile anyway."""

    @property
    def dof(self) -> int:
        """Degrees of freedom."""
        return self.degrees_of_freedom

    @property
    def inconsistent(self) -> tuple[str, ...]:
        """Drivers that contradict joints or other drivers, each with the reason."""
        return tuple(fault.text for fault in self.driver_faults if fault.contradicts)

    @property
    def idle_drivers(self) -> tuple[str, ...]:
        """Redundant drivers, each with the reason."""
        return tuple(fault.text for fault in self.driver_faults if not fault.contradicts)

    @property
    def idle(self) -> tuple[FreeMotion, ...]:
        """Motions in which a body only spins about its own axis."""
        return tuple(motion for motion in self.motions if motion.idle)

    @property
    def advice(self) -> str:
        """The proposed changes as a sentence; '' if no constraint is redundant."""
        exchanged: dict[str, list[str]] = {}
        for change in self.proposal:
            if change.kind:
                exchanged.setdefault(change.kind, []).append(change.joint)
        makes = [f"{join_words(names)} {kind}" for kind, names in exchanged.items()]
        freed: dict[str, list[str]] = {}
        others = []
        for change in self.proposal:
            if change.freed:
                freed.setdefault(change.joint, []).append(change.freed)
            elif not change.kind:
                others.append(change.text)
        frees = [f"free the {join_words(words)} in {name}" for name, words in freed.items()]
        steps = [*([f"make {join_words(makes)}"] if makes else []), *frees, *others]
        return _as_sentence("; ".join(steps)) if steps else ""

    def __str__(self) -> str:
        return "\n".join(_report_lines(self))


def mobility(
    compiled: CompiledModel, q: Array | None = None, p: Values = None, t: float = 0.0, friction: bool = False
) -> Mobility:
    """Mobility of a machine near a pose and at it.

    q : (nq,) the pose, default the rest pose; it is closed first. Limits of joints do not count.
    friction : joints with dry friction are held, as by brakes
    Raises AssemblyError when the machine cannot be closed near the pose.
    """
    try:
        return _compute_mobility(compiled, q, p, t, friction)
    except np.linalg.LinAlgError:
        raise AssemblyError(
            "The dimensions of the machine are too large, or too different in size, to analyse its mobility.",
            remedy="Check the numbers and their units.",
        ) from None


def _compute_mobility(compiled: CompiledModel, q: Array | None, p: Values, t: float, friction: bool) -> Mobility:
    start = reference_position(compiled, p) if q is None else single_state(compiled, q)
    constraints = PositionConstraints(compiled, p, t, drivers=False)
    pose = _closed_pose(constraints, start)
    N = constraints.free_motions(pose)
    found = _find_generic_pose(constraints, pose)
    # the tree fulfils its joints' constraints by its coordinates, the rest is in the constraint equations
    tree = 6 * len(compiled.model.expanded.bodies) - compiled.nv
    surplus = found.multipliers.shape[1]
    parts = _find_redundant_constraints(constraints, pose, found) if surplus else _NONE
    dof = found.freedoms
    driven = analyse_drivers(PositionConstraints(compiled, p, t), pose)
    held = dof_locked_by_friction(constraints, found.q) if friction else FrictionLocking((), (), N)
    at_pose = dof_locked_by_friction(constraints, pose).motions if friction else N
    dof -= len(held.names)
    return Mobility(
        degrees_of_freedom=dof,
        at_pose=at_pose.shape[1],
        equations=tree + constraints.rows,
        rank=tree + constraints.rows - surplus,
        count=compiled.nv - constraints.rows,
        redundant=parts[0],
        proposal=parts[1],
        motions=decompose_free_motions(constraints, pose, at_pose),
        q=pose,
        branch_freedoms=found.branch_freedoms,
        singular=at_pose.shape[1] > dof + found.infinitesimal or bool(found.branch_freedoms),
        infinitesimal=found.infinitesimal,
        driven=driven.effective,
        undriven=max(dof - len(driven.effective), 0),
        driver_faults=driven.faults,
        stuck=held.names,
        idle_friction=held.idle,
    )


def _closed_pose(constraints: PositionConstraints, q: Array) -> Array:
    if not constraints.rows:
        return q
    pose, gap = constraints.closed(q)
    if gap < ACCEPTED_GAP:
        return pose
    flags = np.zeros(constraints.compiled.nv, dtype=bool)
    pose, gap = position_solver.solve_with_restarts(
        constraints.oriented_problem, q, 1.0 / constraints.speed_units, flags
    )
    if not gap < ACCEPTED_GAP:
        raise failures.assembly_error(constraints.compiled, pose, constraints.p, constraints.t, drivers=False)
    return pose


@dataclass(frozen=True)
class _GenericPose:
    """A generic pose with its finite and infinitesimal degrees of freedom and its self-stresses (rows, k).

    branch_freedoms : freedoms of the branches of motion that part at the pose asked for; empty where there is but one
    """

    q: Array
    freedoms: int
    infinitesimal: int
    multipliers: Matrix
    branch_freedoms: tuple[int, ...] = ()


def _find_generic_pose(constraints: PositionConstraints, q: Array) -> _GenericPose:
    """Generic pose on the branch of motion through q that has the most degrees of freedom."""
    if not constraints.rows:
        return _GenericPose(q, constraints.compiled.nv, 0, np.zeros((0, 0)))
    near = [classify_branch(constraints, pose) for pose in constraints.sample_poses_near(q)]
    if not near:  # nothing moves: what the velocities allow ends at once
        shaky = constraints.free_motions(q).shape[1]
        surplus = max(0, constraints.rows - constraints.compiled.nv)
        return _GenericPose(q, 0, shaky, constraints.finite_motions(q)[1][:, :surplus])
    # one smooth manifold has the same freedoms at q and all about it
    alike = {branch.kind for branch in (classify_branch(constraints, q), *near)}
    through = find_branches(constraints, q) if len(alike) > 1 else ()
    best = through[0] if through else max(near, key=lambda branch: constraints.rank(branch.q))
    branch_freedoms = tuple(branch.freedoms for branch in through) if len(through) > 1 else ()
    return _GenericPose(
        best.q, best.freedoms, best.infinitesimal, constraints.finite_motions(best.q)[1], branch_freedoms
    )


_NONE: tuple[tuple[RedundantConstraint, ...], tuple[Release, ...]] = ((), ())


def _find_redundant_constraints(
    constraints: PositionConstraints, q: Array, generic: _GenericPose
) -> tuple[tuple[RedundantConstraint, ...], tuple[Release, ...]]:
    through = compute_self_stresses(constraints, q, generic.q, generic.multipliers)
    kinds = {joint.name: joint.info for joint in constraints.compiled.model.expanded.joints}
    order = _imposition_order(through, kinds, {joint.name for joint in constraints.compiled.cuts})
    found_ones = find_dependences(through, order)
    redundant = tuple(_describe_redundancy(through, one.component, one.others, kinds) for one in found_ones)
    return redundant, isostatic.propose_releases(through, found_ones, kinds, order[::-1])


def _imposition_order(stresses: SelfStresses, kinds: dict[str, type[JointKind]], cuts: Collection[str]) -> list[int]:
    """Order in which a designer would impose the components: fixed joints that join bodies first, then joint by joint,
    other elements last; positions before directions."""

    def sort_key(i: int) -> tuple[int, int]:
        part = stresses.components[i]
        if part.collection != "joints":
            return 2, i
        return (0 if not kinds[part.name].nv and part.name not in cuts else 1), i

    return sorted(range(len(stresses.components)), key=sort_key)


def _describe_redundancy(
    stresses: SelfStresses, index: int, others: Sequence[int], kinds: dict[str, type[JointKind]]
) -> RedundantConstraint:
    def is_movable(name: str) -> bool:
        return name not in kinds or kinds[name].nv > 0

    part = stresses.components[index]
    found = ((stresses.components[i].collection, stresses.components[i].name) for i in others)
    refs = dict.fromkeys(ref for ref in found if ref[1] != part.name)
    moving = [ref for ref in refs if is_movable(ref[1])] or list(refs)
    instead: dict[str, list[str]] = {}
    for i in others:
        component: Component = stresses.components[i]
        if is_movable(component.name):
            instead.setdefault(component.name, []).append(component.text)
    alternatives = tuple((name, tuple(texts)) for name, texts in instead.items())
    return RedundantConstraint(
        part.name, part.collection, part.text, part.direction, tuple(moving), alternatives, part.motion
    )


def _as_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _format_signed(count: int) -> str:
    return str(count).replace("-", "−")


def _branches_text(branch_freedoms: Sequence[int]) -> str:
    """Description of the branches at a singular pose."""
    different = list(dict.fromkeys(branch_freedoms))
    if len(different) == 1:
        plural = "s" if different[0] > 1 else ""
        return f"Branches of motion meet here, with {different[0]} degree{plural} of freedom each."
    several = join_words(
        [f"one with {different[0]} degrees of freedom", *(f"one with {count}" for count in different[1:])]
    )
    return f"Branches of motion meet here, {several}: the machine is kinematotropic."


def _report_lines(mobility: Mobility) -> list[str]:
    """Lines of the report."""
    plural, several = ("" if count == 1 else "s" for count in (mobility.dof, mobility.equations))
    lines = [
        f"{mobility.dof} degree{plural} of freedom: {mobility.equations} constraint{several}, {mobility.rank} "
        f"independent."
    ]
    if mobility.count != mobility.dof:
        lines.append(f"Counting bodies and constraints (Grübler–Kutzbach) would give {_format_signed(mobility.count)}.")
    if mobility.infinitesimal:
        lines.append(f"{mobility.infinitesimal} more for infinitesimal motions only: the machine is shaky.")
    if mobility.singular:
        lines.append(f"This pose is singular: velocities have {mobility.at_pose} degrees of freedom.")
    if mobility.branch_freedoms:
        lines.append(_branches_text(mobility.branch_freedoms))
    lines += [f"{item.text}." for item in mobility.redundant]
    if mobility.proposal:
        kept = "keeps the motion" if mobility.dof else "keeps the frame rigid"
        lines.append(f"{mobility.advice} That removes the redundant constraints and {kept}.")
    if mobility.stuck:
        lines.append(f"Friction holds {len(mobility.stuck)}: {join_words(mobility.stuck)}.")
    lines += [f"{text}." for text in mobility.idle_friction]
    if mobility.driven:
        lines.append(
            f"Drivers take up {len(mobility.driven)}: {join_words(mobility.driven)}; {mobility.undriven} left."
        )
    lines += [f"{text}." for text in (*mobility.inconsistent, *mobility.idle_drivers)]
    lines += [f"Motion {i}: {motion.text}." for i, motion in enumerate(mobility.motions, 1)]
    return lines
