"""Mobility: degrees of freedom, redundant constraints and free motions of a machine; degrees of freedom taken up by
drivers, or left while dry friction or a brake locks its joints.

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
from core.constraints.joint_rows import rows_with_friction
from core.constraints.mobility import isostatic
from core.constraints.mobility.bifurcation import branch_at, branches_meeting_at
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.mobility.free_motions import FreeMotion, free_motions
from core.constraints.mobility.isostatic import Release
from core.constraints.mobility.self_stress import Component, Stresses, redundant_constraints_in_order, stresses
from core.constraints.named_values import one_state
from core.constraints.redundant_drivers import LEVELS, demanded, disagreement, repeated_drivers
from core.constraints.rest_position import rest
from core.errors import AssemblyError, listed
from core.joints import JointKind
from core.later import dataclass
from core.mechanics.multibody.parameter_values import Values
from core.numerics import position_solver
from core.numerics.matrix_forms import Matrix, dense
from core.numerics.tolerances import ACCEPTED_GAP, RANK_TOLERANCE
from core.programs.compiled import Compiled

Array = NDArray[np.float64]


class Held(NamedTuple):
    """Effect of friction at a pose: names : coordinates whose friction removes a degree of freedom each; idle :
    friction on joints that are immobile anyway, in words; motions : (nv, k) remaining motions"""

    names: tuple[str, ...]
    idle: tuple[str, ...]
    motions: Array


def held_freedoms(constraints: PositionConstraints, q: Array) -> Held:
    """Effect of friction at a pose, joint by joint in the order of the model."""
    N = constraints.motions(q)
    rubbing = rows_with_friction(constraints.compiled, q, constraints.p, constraints.t)
    W = rubbing.W @ N
    sizes = np.maximum(np.linalg.norm(rubbing.W * constraints.units, axis=1), 1e-300)
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
            f"a motion that {listed(others)} already hold{'s' * (len(others) == 1)}"
            if others
            else "a coordinate that cannot move here"
        )
        idle.append(f"{row.name}: its friction holds {already}")
    left = (N - N @ basis.T @ basis) / constraints.units[:, None]
    axes = np.linalg.svd(left, full_matrices=False)[0]
    return Held(tuple(names), tuple(idle), constraints.units[:, None] * axes[:, : N.shape[1] - len(names)])


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
class Drive:
    """Effect of the drivers at a pose: names of rows that take up a degree of freedom, and faults of the others."""

    effective: tuple[str, ...]
    faults: tuple[DriverFault, ...]


def drive(constraints: PositionConstraints, q: Array) -> Drive:
    """Effect of a machine's drivers (all rows in `constraints`) at a closed pose q, with the prescribed speeds."""
    rows = constraints.names
    if not any(row.collection == "drivers" for row in rows):
        return Drive((), ())
    compiled, units = constraints.compiled, constraints.row_units
    G = dense(constraints.scaled(q))
    still, alike = np.zeros(compiled.nv), np.ones(compiled.nv)
    v = nearest_speeds(compiled, q, still, alike, constraints.p, constraints.t)
    demands = [each[constraints.kept] / units for each in demanded(compiled, q, v, constraints.p, constraints.t)]
    taken, repeated = repeated_drivers(G, rows)
    faults = []
    for each in repeated:
        found = disagreement(each, rows, demands)
        others = [rows[i] for i in each.drivers]
        text = _fault_text(str(rows[each.row]), [str(row) for row in others], None if found is None else found[0])
        names = tuple(dict.fromkeys(row.element for row in others))
        faults.append(DriverFault(rows[each.row].element, names, found is not None, text))
    return Drive(tuple(str(rows[k]) for k in taken), tuple(faults))


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
class Redundant:
    """A constraint that the others already satisfy.

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
    def fixed_by(self) -> tuple[str, ...]:
        """Names of the elements that already impose it."""
        return tuple(name for _, name in self.others)

    @property
    def text(self) -> str:
        """The redundancy as one clause."""
        return f"{self.joint}: {self.component} is already fixed by {listed(self.fixed_by)}"


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
    redundant: tuple[Redundant, ...]
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
    """Infinitesimal degrees of freedom at generic poses, which permit no finite motion (a shaky frame)."""
    branch_freedoms: tuple[int, ...] = ()
    """Degrees of freedom of the branches of motion that meet at the pose, largest first; empty if there is only one. Of
    long machines, whose loops branch independently, only some are listed."""
    stuck: tuple[str, ...] = ()
    """Coordinates whose friction removes a degree of freedom each, if friction was asked for; all other results then
    refer to what remains."""
    idle_friction: tuple[str, ...] = ()
    """Joints with friction that are immobile anyway, in words."""

    @property
    def dof(self) -> int:
        """Degrees of freedom."""
        return self.degrees_of_freedom

    @property
    def inconsistent(self) -> tuple[str, ...]:
        """Drivers that contradict joints or other drivers, each with the reason in words."""
        return tuple(fault.text for fault in self.driver_faults if fault.contradicts)

    @property
    def idle_drivers(self) -> tuple[str, ...]:
        """Redundant drivers, each with the reason in words."""
        return tuple(fault.text for fault in self.driver_faults if not fault.contradicts)

    @property
    def idle(self) -> tuple[FreeMotion, ...]:
        """Motions in which a body only spins about its own axis."""
        return tuple(motion for motion in self.motions if motion.idle)

    @property
    def advice(self) -> str:
        """The proposal as a sentence; '' if nothing is redundant."""
        exchanged: dict[str, list[str]] = {}
        for change in self.proposal:
            if change.kind:
                exchanged.setdefault(change.kind, []).append(change.joint)
        makes = [f"{listed(names)} {kind}" for kind, names in exchanged.items()]
        freed: dict[str, list[str]] = {}
        others = []
        for change in self.proposal:
            if change.freed:
                freed.setdefault(change.joint, []).append(change.freed)
            elif not change.kind:
                others.append(change.text)
        frees = [f"free the {listed(words)} in {name}" for name, words in freed.items()]
        steps = [*([f"make {listed(makes)}"] if makes else []), *frees, *others]
        return _as_sentence("; ".join(steps)) if steps else ""

    def __str__(self) -> str:
        return "\n".join(_report_lines(self))


def mobility(
    compiled: Compiled, q: Array | None = None, p: Values = None, t: float = 0.0, friction: bool = False
) -> Mobility:
    """Mobility of a machine near a pose and at it.

    q : (nq,) the pose, default the rest pose; it is closed first. Limits of joints do not count.
    friction : joints with dry friction are held, as by brakes
    Raises AssemblyError when the machine cannot be closed near the pose.
    """
    try:
        return _new_mobility(compiled, q, p, t, friction)
    except np.linalg.LinAlgError:
        raise AssemblyError(
            "The dimensions of the machine are too large, or differ too much, to analyse its mobility.",
            remedy="Check the numbers and their units.",
        ) from None


def _new_mobility(compiled: Compiled, q: Array | None, p: Values, t: float, friction: bool) -> Mobility:
    start = rest(compiled, p) if q is None else one_state(compiled, q)
    constraints = PositionConstraints(compiled, p, t, drivers=False)
    pose = _closed_pose(constraints, start)
    N = constraints.motions(pose)
    found = _generic_pose(constraints, pose)
    # the tree fulfils its joints' constraints by its coordinates, the rest is in the constraint equations
    tree = 6 * len(compiled.model.expanded.bodies) - compiled.nv
    surplus = found.multipliers.shape[1]
    parts = _redundant_constraints(constraints, pose, found) if surplus else _NONE
    dof = found.freedoms
    driven = drive(PositionConstraints(compiled, p, t), pose)
    held = held_freedoms(constraints, found.q) if friction else Held((), (), N)
    at_pose = held_freedoms(constraints, pose).motions if friction else N
    dof -= len(held.names)
    return Mobility(
        degrees_of_freedom=dof,
        at_pose=at_pose.shape[1],
        equations=tree + constraints.rows,
        rank=tree + constraints.rows - surplus,
        count=compiled.nv - constraints.rows,
        redundant=parts[0],
        proposal=parts[1],
        motions=free_motions(constraints, pose, at_pose),
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
    pose, gap = position_solver.solve_from(constraints.oriented, q, 1.0 / constraints.units, flags)
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


def _generic_pose(constraints: PositionConstraints, q: Array) -> _GenericPose:
    """Generic pose on the branch of motion through q that has the most degrees of freedom."""
    if not constraints.rows:
        return _GenericPose(q, constraints.compiled.nv, 0, np.zeros((0, 0)))
    near = [branch_at(constraints, pose) for pose in constraints.poses_near(q)]
    if not near:  # nothing moves: what the velocities allow ends at once
        shaky = constraints.motions(q).shape[1]
        surplus = max(0, constraints.rows - constraints.compiled.nv)
        return _GenericPose(q, 0, shaky, constraints.finite_motions(q)[1][:, :surplus])
    # one smooth manifold has the same freedoms at q and all about it
    alike = {branch.kind for branch in (branch_at(constraints, q), *near)}
    through = branches_meeting_at(constraints, q) if len(alike) > 1 else ()
    best = through[0] if through else max(near, key=lambda branch: constraints.rank(branch.q))
    branch_freedoms = tuple(branch.freedoms for branch in through) if len(through) > 1 else ()
    return _GenericPose(
        best.q, best.freedoms, best.infinitesimal, constraints.finite_motions(best.q)[1], branch_freedoms
    )


_NONE: tuple[tuple[Redundant, ...], tuple[Release, ...]] = ((), ())


def _redundant_constraints(
    constraints: PositionConstraints, q: Array, found: _GenericPose
) -> tuple[tuple[Redundant, ...], tuple[Release, ...]]:
    through = stresses(constraints, q, found.q, found.multipliers)
    kinds = {joint.name: joint.info for joint in constraints.compiled.model.expanded.joints}
    order = _imposing_order(through, kinds, {joint.name for joint in constraints.compiled.cuts})
    found_ones = redundant_constraints_in_order(through, order)
    redundant = tuple(_described_redundancy(through, one.component, one.others, kinds) for one in found_ones)
    return redundant, isostatic.proposal(through, found_ones, kinds, order[::-1])


def _imposing_order(through: Stresses, kinds: dict[str, type[JointKind]], cuts: Collection[str]) -> list[int]:
    """Order in which a designer would impose the components: fixed joints that join bodies first, then joint by joint,
    other elements last; positions before directions."""

    def key(i: int) -> tuple[int, int]:
        part = through.components[i]
        if part.collection != "joints":
            return 2, i
        return (0 if not kinds[part.name].nv and part.name not in cuts else 1), i

    return sorted(range(len(through.components)), key=key)


def _described_redundancy(
    through: Stresses, index: int, others: Sequence[int], kinds: dict[str, type[JointKind]]
) -> Redundant:
    def moves(name: str) -> bool:
        return name not in kinds or kinds[name].nv > 0

    part = through.components[index]
    found = ((through.components[i].collection, through.components[i].name) for i in others)
    refs = dict.fromkeys(ref for ref in found if ref[1] != part.name)
    moving = [ref for ref in refs if moves(ref[1])] or list(refs)
    instead: dict[str, list[str]] = {}
    for i in others:
        component: Component = through.components[i]
        if moves(component.name):
            instead.setdefault(component.name, []).append(component.text)
    alternatives = tuple((name, tuple(texts)) for name, texts in instead.items())
    return Redundant(part.name, part.collection, part.text, part.direction, tuple(moving), alternatives, part.motion)


def _as_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _signed_text(count: int) -> str:
    return str(count).replace("-", "−")


def _branches_text(branch_freedoms: Sequence[int]) -> str:
    """Description of the branches at a singular pose."""
    different = list(dict.fromkeys(branch_freedoms))
    if len(different) == 1:
        plural = "s" if different[0] > 1 else ""
        return f"Branches of motion meet here, with {different[0]} degree{plural} of freedom each."
    several = listed([f"one with {different[0]} degrees of freedom", *(f"one with {count}" for count in different[1:])])
    return f"Branches of motion meet here, {several}: the machine is kinematotropic."


def _report_lines(found: Mobility) -> list[str]:
    """Lines of the report."""
    plural, several = ("" if count == 1 else "s" for count in (found.dof, found.equations))
    lines = [f"{found.dof} degree{plural} of freedom: {found.equations} constraint{several}, {found.rank} independent."]
    if found.count != found.dof:
        lines.append(f"Counting bodies and constraints (Grübler–Kutzbach) would give {_signed_text(found.count)}.")
    if found.infinitesimal:
        lines.append(f"{found.infinitesimal} more for infinitesimal motions only: the machine is shaky.")
    if found.singular:
        lines.append(f"This pose is singular: velocities have {found.at_pose} degrees of freedom.")
    if found.branch_freedoms:
        lines.append(_branches_text(found.branch_freedoms))
    lines += [f"{item.text}." for item in found.redundant]
    if found.proposal:
        kept = "keeps the motion" if found.dof else "keeps the frame rigid"
        lines.append(f"{found.advice} That removes the redundant constraints and {kept}.")
    if found.stuck:
        lines.append(f"Friction holds {len(found.stuck)}: {listed(found.stuck)}.")
    lines += [f"{text}." for text in found.idle_friction]
    if found.driven:
        lines.append(f"Drivers take up {len(found.driven)}: {listed(found.driven)}; {found.undriven} left.")
    lines += [f"{text}." for text in (*found.inconsistent, *found.idle_drivers)]
    lines += [f"Motion {i}: {motion.text}." for i, motion in enumerate(found.motions, 1)]
    return lines
