"""Joining of two points by a joint: assemble the machine there, join the bodies in the present pose, or leave the joint
open.

The order in which the points were meant makes no difference: the ground carries, then what hangs on it, then what is
heavier. What the ground holds never moves for what is free; where both sides are held, all moves as the joints allow,
as little as it can.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.document.connection_draft import (
    PickedItem,
    add_joint_at_picks,
    joint_direction_at,
    posed,
    present_poses,
    sliding_direction,
)
from app.document.locks import fix_bodies_to_ground
from app.document.revision import ElementRef, pose_from_coordinates
from app.document.session import Session
from core.errors import AssemblyError, KinetostatError
from core.joints import JOINT_KINDS, Free
from core.later import dataclass
from core.mechanics.multibody.number_reader import Numbers
from core.mechanism import Mechanism
from core.model import WORLD, Joint, Model, new_elements
from core.model.edits import edits
from core.model.formula.numerals import round_measured_number, round_measured_vector
from core.model.new_elements import add_joint
from viz.placement import evaluate_vector, inverse_pose, perpendicular_unit_vector, unit_vector

Array = NDArray[np.float64]

CLOSE = "Close open joints"
"""Title of the command that closes open joints."""
SAME_PLACE = 1e-6
"""Points nearer than this coincide, m."""
PARALLEL = 1e-12
"""Sine of the angle up to which axes are collinear."""
APART_ERROR = 1e-5
"""Gap in m or rad from which a joint is shown as open."""
SAME_DIRECTION = 1e-6
"""Axes whose directions differ by less than this are parallel, rad."""


class JointGap(NamedTuple):
    """Gap between two joint frames: distance (m) and angle (rad)."""

    distance: float
    angle: float

    @property
    def is_closed(self) -> bool:
        """True if the frames coincide within tolerance."""
        return self.distance < SAME_PLACE and self.angle < SAME_DIRECTION


@dataclass(frozen=True)
class JoiningOutcome:
    """One possible way to join two points, with the resulting model and pose.

    q : (nq,) coordinates of the new machine; open : what is left open of its loops, None if they close
    """

    id: str
    title: str
    model: Model
    mech: Mechanism
    q: Array
    joint: str
    open: str = ""

    def apply_outcome(self, session: Session) -> bool:
        """Commit the outcome, model and pose as one undo step, and select the joint."""
        label = f"Connect {self.joint}"
        pose = pose_from_coordinates(self.mech, self.q)
        return session.apply(label, lambda _m: self.model, select=ElementRef("joints", self.joint), pose=pose)


def joint_gap_at_picks(session: Session, kind: str, picks: tuple[PickedItem, ...], flipped: bool = False) -> JointGap:
    """Return the gap between the joint frames at two points; `flipped` reverses the second axis."""
    first, second = order_picks_by_carrier(session, picks)
    a, b = joint_axis_directions(session, kind, first, second, flipped)
    return joint_gap(kind, np.subtract(second.place, first.place), a, b)


def joint_gap(kind: str, displacement: Array, a: Array, b: Array) -> JointGap:
    """Return the gap of a joint whose frames are displaced by `displacement` (3,), m, and whose axes have directions a
    and b (3,)."""
    along_axis, forbidden = a * float(displacement @ a), JOINT_KINDS[kind].forbidden
    parts = {"along": along_axis, "normal": along_axis, "across": displacement - along_axis, "none": np.zeros(3)}
    counts = displacement if forbidden is None else parts.get(forbidden.translations, displacement)
    turns = forbidden is None or forbidden.rotations != "none"
    angle = math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b)) if turns else 0.0
    return JointGap(float(np.linalg.norm(counts)), angle)


def joining_outcomes(
    session: Session, kind: str, picks: tuple[PickedItem, ...], flipped: bool = False
) -> tuple[JoiningOutcome, ...]:
    """Return the possible outcomes: assemble, join in the present pose, leave open. Raises KinetostatError if none is
    possible."""
    found: list[JoiningOutcome] = []
    refusal: KinetostatError | None = None
    for make in (_assembled_outcome, _join_in_place_outcome, _open_joint_outcome):
        try:
            found.append(make(session, kind, picks, flipped))
        except KinetostatError as error:
            refusal = refusal or error
    if not found and refusal is not None:
        raise refusal
    return tuple(found)


def add_joint_in_place(session: Session, model: Model, kind: str, picks: tuple[PickedItem, ...]) -> Model:
    """Return the model with a joint at the first picked point, placed so that nothing moves."""
    parent, child = order_picks_by_carrier(session, picks)
    return add_joint_at_picks(session, model, picks, new_elements.new_joint(model, kind, parent.name, child.name))


def _join_in_place_outcome(
    session: Session, kind: str, picks: tuple[PickedItem, ...], _flipped: bool
) -> JoiningOutcome:
    model = add_joint_in_place(session, session.model, kind, picks)
    mech, q = _coordinates_in_new_machine(session, model)
    return JoiningOutcome("here", "Join here", model, mech, q, _new_joint_name(session, model))


def _new_joint_name(session: Session, model: Model) -> str:
    known = {joint.name for joint in session.model.joints}
    return next(joint.name for joint in model.joints if joint.name not in known)


def _assembled_outcome(session: Session, kind: str, picks: tuple[PickedItem, ...], flipped: bool) -> JoiningOutcome:
    joint, parent, child = _build_joint_with_frames(session, kind, picks, flipped)
    model = add_joint(session.model, joint)
    mech, q = _coordinates_in_new_machine(session, model)
    still = _fixed_joints(session, mech, parent, child)
    q = _keep_former_coordinates(session, mech, q, still)
    left = ""
    hands = (
        Mechanism(fix_bodies_to_ground(model, mech, session.poses_of_locked_bodies)) if session.locked_bodies else mech
    )
    try:
        q = np.asarray(hands.assemble(q, fixed=still))
    except AssemblyError as error:
        q = np.asarray(error.q) if error.q is not None else q
        left = error.what
    else:
        model = _set_reference_to_assembled(session, model, mech, q, joint.name)
        mech = session.mech.updated(model)
    return JoiningOutcome("assemble", "Assemble", model, mech, q, joint.name, left)


def _open_joint_outcome(session: Session, kind: str, picks: tuple[PickedItem, ...], flipped: bool) -> JoiningOutcome:
    joint, *sides = _build_joint_with_frames(session, kind, picks, flipped)
    joint = dataclasses.replace(joint, cut="yes")
    model = edits.add(session.model, joint)
    mech = session.mech.updated(model)
    if _has_coordinates(mech, joint.name):  # nothing else holds one of the bodies: it stays free, where it stands
        model = edits.add(_add_free_joint_in_place(session, sides), joint)
        mech = session.mech.updated(model)
    known = [each.name for each in mech.compiled.model.expanded.joints if _has_coordinates(mech, each.name)]
    q = _keep_former_coordinates(session, mech, np.array(mech.rest(), dtype=float), known)
    return JoiningOutcome("apart", "Leave apart", model, mech, q, joint.name)


def _add_free_joint_in_place(session: Session, sides: Iterable[PickedItem]) -> Model:
    """Return the model in which the free machine of a picked body gets a free joint whose reference configuration is
    the present pose; of two such machines, the second one."""
    of = _machine_namer(session)
    roots = {of(each.child): each for each in session.mech.implicit_joints}
    machines = [of(session.model.expanded.carrier(pick.name).name) for pick in sides]
    root = next(roots[own] for own in reversed(machines) if own in roots)
    rest = tuple(round_measured_number(x) for x in session.q[session.mech.joint_q(root.name)])
    name = edits.unused_name(session.model, "joints", root.child)
    return edits.add(session.model, Joint(name=name, kind=Free.name, parent=WORLD, child=root.child, rest=rest))


# ------------------------------------------------------------------------------- joints that were left apart


class OpenJoint(NamedTuple):
    """A joint whose frames do not coincide: their positions (3,) in m, world, and the gap."""

    name: str
    a: Array
    b: Array
    gap: JointGap


def open_joints(session: Session) -> tuple[OpenJoint, ...]:
    """Return the joints that are open in the present pose."""
    mech = session.mech
    if not mech.constrained:
        return ()
    gaps = np.abs(mech.constraint_residual(session.q, p=session.p))
    rows = zip(mech.compiled.rows, gaps, strict=True)
    names = dict.fromkeys(row.element for row, gap in rows if row.collection == "joints" and gap > APART_ERROR)
    if not names:
        return ()
    known, values = mech.joint_poses(session.q, p=session.p), session.model.values(session.p)
    return tuple(_open_joint(session.model.expanded.joint(name), known[name], values) for name in names)


def _open_joint(joint: Joint, frames: tuple[Array, Array], values: Mapping[str, float]) -> OpenJoint:
    X_Wa, X_Wb = map(np.asarray, frames)
    axis = unit_vector(evaluate_vector(joint.axis, values)) if "axis" in joint.info.uses else np.array([0.0, 0.0, 1.0])
    gap = joint_gap(joint.kind, X_Wb[:3, 3] - X_Wa[:3, 3], X_Wa[:3, :3] @ axis, X_Wb[:3, :3] @ axis)
    return OpenJoint(joint.name, X_Wa[:3, 3], X_Wb[:3, 3], gap)


def close_open_loops(session: Session) -> Array:
    """Return the coordinates (nq,) with all loops closed: free machines move to the grounded one; if that is not
    sufficient, all bodies move as little as possible. Raises AssemblyError if the loops do not close."""
    mech = session.mech_with_locks
    of = _machine_namer(session, [each.name for each in open_joints(session)])
    joints = (*mech.implicit_joints, *session.model.expanded.joints)
    still = [
        each.name
        for each in joints
        if _has_coordinates(mech, each.name) and of(each.child) in _fixed_machines(session, of)
    ]
    try:
        return np.asarray(mech.assemble(session.q, fixed=still, p=session.p))
    except AssemblyError:
        return np.asarray(mech.assemble(session.q, p=session.p))


# ------------------------------------------------------------------------------- who holds, who moves


def _machine_namer(session: Session, without: Collection[str] = ()) -> Callable[[str], str]:
    """Return a function that names the connected machine to which a body belongs: the ground, or one body of a free
    machine; joints in `without` do not connect."""
    model = session.model.expanded
    up = {name: name for name in (WORLD, *(body.name for body in model.bodies))}

    def machine_name(name: str) -> str:
        while up[name] != name:
            name = up[name]
        return name

    for joint in model.joints:
        if joint.info.nv < 6 and joint.name not in without:
            parent, child = (
                machine_name(model.carrier(joint.parent).name),
                machine_name(model.carrier(joint.child).name),
            )
            if parent != child:
                kept, gone = (parent, child) if child != machine_name(WORLD) else (child, parent)
                up[gone] = kept
    return machine_name


def order_picks_by_carrier(session: Session, picks: tuple[PickedItem, ...]) -> tuple[PickedItem, PickedItem]:
    """Return the two picks ordered as (carrying side, other side): the ground carries first, then a side that is fixed
    to it or locked, then the heavier side; if equal, the first pick."""
    model, of = session.model.expanded, _machine_namer(session)
    values, grounded = session.model.values(session.p), _fixed_machines(session, of)

    def carrier_rank(pick: PickedItem) -> tuple[bool, bool, float]:
        own = of(model.carrier(pick.name).name)
        return pick.name == WORLD, own in grounded, 0.0 if own in grounded else _machine_mass(session, own, of, values)

    first, second = picks
    return (second, first) if carrier_rank(second) > carrier_rank(first) else (first, second)


def _fixed_machines(session: Session, machine_name: Callable[[str], str]) -> set[str]:
    """Return the names of the ground and of all free machines with a locked part."""
    return {machine_name(WORLD), *(machine_name(name) for name in session.locked_bodies)}


def _machine_mass(
    session: Session, machine: str, machine_name: Callable[[str], str], values: Mapping[str, float]
) -> float:
    total = 0.0
    for body in session.model.expanded.bodies:
        if machine_name(body.name) == machine:
            try:
                total += float(Numbers(values, session.model.origin).inertia(body).mass)
            except KinetostatError:
                continue
    return total


def _fixed_joints(session: Session, mech: Mechanism, parent: PickedItem, child: PickedItem) -> list[str]:
    """Return the joints that must not move: those of the carrying side, unless both sides are connected or fixed."""
    model, of = session.model.expanded, _machine_namer(session)
    own, other = (of(model.carrier(pick.name).name) for pick in (parent, child))
    if own == other or {own, other} <= _fixed_machines(session, of):
        return []
    known = (*session.mech.implicit_joints, *model.joints)
    return [
        each.name for each in known if of(model.carrier(each.child).name) == own and _has_coordinates(mech, each.name)
    ]


def _has_coordinates(mech: Mechanism, joint: str) -> bool:
    """Return True if a joint has coordinates."""
    try:
        at = mech.joint_q(joint)
    except KinetostatError:
        return False
    return at.stop > at.start


def _coordinates_in_new_machine(session: Session, model: Model) -> tuple[Mechanism, Array]:
    """Return the mechanism of the new model and its coordinates for the present poses of the bodies."""
    from core.constraints.rest_position import transfer_pose

    mech = session.mech.updated(model)
    return mech, np.array(transfer_pose(session.mech.compiled, session.q, mech.compiled, {}), dtype=float)


def _keep_former_coordinates(session: Session, mech: Mechanism, q: Array, joints: Iterable[str]) -> Array:
    """Return coordinates (nq,) in which the given joints have their former values."""
    q, old = q.copy(), dict(zip(session.mech.q_names, session.q.tolist(), strict=True))
    for joint in joints:
        for k in range(*mech.joint_q(joint).indices(mech.nq)):
            q[k] = old.get(mech.q_names[k], q[k])
    return q


def _set_reference_to_assembled(session: Session, model: Model, mech: Mechanism, q: Array, joint: str) -> Model:
    """Return the model whose reference configuration is the assembled pose, for the new joint and those of its loop."""
    loop = next((loop for loop in mech.loops if joint in loop.joints), None)
    names = [joint] if loop is None else [name for name in loop.joints if name != loop.cut]
    for name in names:
        own = next((each for each in model.joints if each.name == name), None)
        if own is None or own.mimic is not None or own.rest or own.stiffness != 0.0 or name not in mech.joint_names:
            continue
        rest = tuple(round_measured_number(x) for x in q[mech.joint_q(name)])
        if rest and rest != own.info.neutral:
            model = edits.change(model, "joints", name, rest=rest)
    return model


# ------------------------------------------------------------------------------- joint frames


def _build_joint_with_frames(
    session: Session, kind: str, picks: tuple[PickedItem, ...], flipped: bool
) -> tuple[Joint, PickedItem, PickedItem]:
    """Return the joint with frame a at the carrying pick and frame b at the other, with their axes along the features
    there."""
    parent, child = order_picks_by_carrier(session, picks)
    joint = new_elements.new_joint(session.model, kind, parent.name, child.name)
    along_a, along_b = joint_axis_directions(session, kind, parent, child, flipped)
    known = present_poses(session)
    if "second_axis" in joint.info.uses:
        joint = dataclasses.replace(joint, second_axis=round_measured_vector(perpendicular_unit_vector(along_a)))
    if "axis" in joint.info.uses:
        joint = dataclasses.replace(joint, axis=round_measured_vector(along_a))
    X_Wa, X_Wb = np.eye(4), np.eye(4)
    X_Wa[:3, 3], X_Wb[:3, 3] = parent.place, child.place
    X_Wb[:3, :3] = smallest_rotation_between(along_a, along_b)
    a, b = posed(inverse_pose(known[parent.name]) @ X_Wa), posed(inverse_pose(known[child.name]) @ X_Wb)
    return dataclasses.replace(joint, a=a, b=b), parent, child


def joint_axis_directions(
    session: Session, kind: str, first: PickedItem, second: PickedItem, flipped: bool = False
) -> tuple[Array, Array]:
    """Return the world axis (3,) of the joint at each of the two points: as the user chose, or the axes of joints
    there, with the second in the nearer direction; else the normals of faces, facing each other; else the vertical."""
    if JOINT_KINDS[kind].is_slider():
        both = unit_vector(np.array(sliding_direction((first, second))))
        own: list[Array | None] = [both, both]
    else:
        own = [joint_direction_at(session, pick) for pick in (first, second)]
    known = [each for each in own if each is not None]
    if known:
        a, b = (known[0] if each is None else each for each in own)
        b = b if float(a @ b) >= 0.0 else -b
    else:
        faces = [np.array(pick.normal) for pick in (first, second) if pick.normal is not None]
        a = faces[0] if faces else np.array([0.0, 0.0, 1.0])
        b = -faces[1] if len(faces) == 2 else a
    sense = np.sign(a[int(np.argmax(np.abs(a)))])
    return sense * a, (-sense if flipped else sense) * b


def smallest_rotation_between(start: Array, end: Array) -> Array:
    """Return the rotation (3, 3) by the smallest angle that turns one unit vector (3,) into another."""
    cross, cosine = np.cross(start, end), float(start @ end)
    if float(np.linalg.norm(cross)) < PARALLEL:
        aside = perpendicular_unit_vector(start)
        return np.eye(3) if cosine > 0.0 else 2.0 * np.outer(aside, aside) - np.eye(3)
    K = np.array([[0.0, -cross[2], cross[1]], [cross[2], 0.0, -cross[0]], [-cross[1], cross[0], 0.0]])
    return np.asarray(np.eye(3) + K + K @ K / (1.0 + cosine))
