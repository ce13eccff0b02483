"""Turn two points into a joint: assemble the machine there, join the bodies in the present pose, or leave the joint
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

from app.document.connection_draft import Pick, connected, direction_at, posed, poses, sliding_direction
from app.document.locks import held
from app.document.revision import Ref, pose_of
from app.document.session import Session
from core.errors import AssemblyError, KinetostatError
from core.joints import JOINT_KINDS, Free
from core.later import dataclass
from core.mechanics.multibody.number_reader import Numbers
from core.mechanism import Mechanism
from core.model import WORLD, Joint, Model, new_elements
from core.model.edits import edits
from core.model.formula.numerals import vector_without_noise, without_noise
from core.model.new_elements import joined
from viz.placement import inverse, numbers, perpendicular, unit

Array = NDArray[np.float64]

CLOSE = "Close open joints"
"""Title of the command that closes open joints."""
SAME_PLACE = 1e-6
"""m: points nearer than this coincide."""
PARALLEL = 1e-12
"""Sine of the angle up to which axes are collinear."""
APART_ERROR = 1e-5
"""m or rad from which a joint is shown as open."""
SAME_DIRECTION = 1e-6
"""rad: axes that differ by less are parallel."""


class Gap(NamedTuple):
    """Distance (m) and angle (rad) between two joint frames."""

    distance: float
    angle: float

    @property
    def closed(self) -> bool:
        """True if the frames coincide within tolerance."""
        return self.distance < SAME_PLACE and self.angle < SAME_DIRECTION


@dataclass(frozen=True)
class Outcome:
    """One way to connect two points, with the resulting model and pose.

    q : (nq,) coordinates of the new machine; open : what is left open of its loops, None if they close
    """

    id: str
    title: str
    model: Model
    mech: Mechanism
    q: Array
    joint: str
    open: str = ""

    def take(self, session: Session) -> bool:
        """Commit the outcome, model and pose as one undo step, and select the joint."""
        label = f"Connect {self.joint}"
        pose = pose_of(self.mech, self.q)
        return session.apply(label, lambda _m: self.model, select=Ref("joints", self.joint), pose=pose)


def gap_of(session: Session, kind: str, picks: tuple[Pick, ...], flipped: bool = False) -> Gap:
    """Return the gap between the joint frames at two points; `flipped` reverses the second axis."""
    first, second = carrying(session, picks)
    a, b = directions(session, kind, first, second, flipped)
    return gap_between(kind, np.subtract(second.place, first.place), a, b)


def gap_between(kind: str, path: Array, a: Array, b: Array) -> Gap:
    """Return the gap of a joint of a kind whose frames are `path` (3,) apart, m, and whose axes have directions a and b
    (3,)."""
    along_axis, forbidden = a * float(path @ a), JOINT_KINDS[kind].forbidden
    parts = {"along": along_axis, "normal": along_axis, "across": path - along_axis, "none": np.zeros(3)}
    counts = path if forbidden is None else parts.get(forbidden.translations, path)
    turns = forbidden is None or forbidden.rotations != "none"
    angle = math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b)) if turns else 0.0
    return Gap(float(np.linalg.norm(counts)), angle)


def outcomes(session: Session, kind: str, picks: tuple[Pick, ...], flipped: bool = False) -> tuple[Outcome, ...]:
    """Return the possible outcomes: assemble, join in the present pose, leave open. Raises KinetostatError if none is
    possible."""
    found: list[Outcome] = []
    refusal: KinetostatError | None = None
    for make in (_assembled_outcome, _joined_here_outcome, _open_outcome):
        try:
            found.append(make(session, kind, picks, flipped))
        except KinetostatError as error:
            refusal = refusal or error
    if not found and refusal is not None:
        raise refusal
    return tuple(found)


def with_joint_here(session: Session, model: Model, kind: str, picks: tuple[Pick, ...]) -> Model:
    """Return the model with a joint at the first picked point, placed so that nothing moves."""
    parent, child = carrying(session, picks)
    return connected(session, model, picks, new_elements.connection(model, kind, parent.name, child.name))


def _joined_here_outcome(session: Session, kind: str, picks: tuple[Pick, ...], _flipped: bool) -> Outcome:
    model = with_joint_here(session, session.model, kind, picks)
    mech, q = _carried_coordinates(session, model)
    return Outcome("here", "Join here", model, mech, q, _new_joint_name(session, model))


def _new_joint_name(session: Session, model: Model) -> str:
    known = {joint.name for joint in session.model.joints}
    return next(joint.name for joint in model.joints if joint.name not in known)


def _assembled_outcome(session: Session, kind: str, picks: tuple[Pick, ...], flipped: bool) -> Outcome:
    joint, parent, child = _joint_with_frames(session, kind, picks, flipped)
    model = joined(session.model, joint)
    mech, q = _carried_coordinates(session, model)
    still = _fixed_joints(session, mech, parent, child)
    q = _with_former_values(session, mech, q, still)
    left = ""
    hands = Mechanism(held(model, mech, session.poses_of_locked_bodies)) if session.locked else mech
    try:
        q = np.asarray(hands.assemble(q, fixed=still))
    except AssemblyError as error:
        q = np.asarray(error.q) if error.q is not None else q
        left = error.what
    else:
        model = _with_rest_here(session, model, mech, q, joint.name)
        mech = session.mech.updated(model)
    return Outcome("assemble", "Assemble", model, mech, q, joint.name, left)


def _open_outcome(session: Session, kind: str, picks: tuple[Pick, ...], flipped: bool) -> Outcome:
    joint, *sides = _joint_with_frames(session, kind, picks, flipped)
    joint = dataclasses.replace(joint, cut="yes")
    model = edits.add(session.model, joint)
    mech = session.mech.updated(model)
    if _has_coordinates(mech, joint.name):  # nothing else holds one of the bodies: it stays free, where it stands
        model = edits.add(_with_free_joint_here(session, sides), joint)
        mech = session.mech.updated(model)
    known = [each.name for each in mech.compiled.model.expanded.joints if _has_coordinates(mech, each.name)]
    q = _with_former_values(session, mech, np.array(mech.rest(), dtype=float), known)
    return Outcome("apart", "Leave apart", model, mech, q, joint.name)


def _with_free_joint_here(session: Session, sides: Iterable[Pick]) -> Model:
    """Return the model in which the free machine of a picked body has a free joint whose reference configuration is the
    present pose; of two such machines, the second one."""
    of = _machine_namer(session)
    roots = {of(each.child): each for each in session.mech.implicit_joints}
    machines = [of(session.model.expanded.carrier(pick.name).name) for pick in sides]
    root = next(roots[own] for own in reversed(machines) if own in roots)
    rest = tuple(without_noise(x) for x in session.q[session.mech.joint_q(root.name)])
    name = edits.unused_name(session.model, "joints", root.child)
    return edits.add(session.model, Joint(name=name, kind=Free.name, parent=WORLD, child=root.child, rest=rest))


# ------------------------------------------------------------------------------- joints that were left apart


class OpenJoint(NamedTuple):
    """A joint whose frames are apart: their positions (3,) m, world, and the gap."""

    name: str
    a: Array
    b: Array
    gap: Gap


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
    axis = unit(numbers(joint.axis, values)) if "axis" in joint.info.uses else np.array([0.0, 0.0, 1.0])
    gap = gap_between(joint.kind, X_Wb[:3, 3] - X_Wa[:3, 3], X_Wa[:3, :3] @ axis, X_Wb[:3, :3] @ axis)
    return OpenJoint(joint.name, X_Wa[:3, 3], X_Wb[:3, 3], gap)


def closed(session: Session) -> Array:
    """Return the coordinates (nq,) with all loops closed: free machines move to the grounded one; if that is not
    enough, all bodies move as little as possible. Raises AssemblyError if the loops do not close."""
    mech = session.hands
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
    """Return a function that names the connected machine of a body: the ground, or one body of a free machine; joints
    in `without` do not connect."""
    model = session.model.expanded
    up = {name: name for name in (WORLD, *(body.name for body in model.bodies))}

    def of(name: str) -> str:
        while up[name] != name:
            name = up[name]
        return name

    for joint in model.joints:
        if joint.info.nv < 6 and joint.name not in without:
            parent, child = of(model.carrier(joint.parent).name), of(model.carrier(joint.child).name)
            if parent != child:
                kept, gone = (parent, child) if child != of(WORLD) else (child, parent)
                up[gone] = kept
    return of


def carrying(session: Session, picks: tuple[Pick, ...]) -> tuple[Pick, Pick]:
    """Return the picks ordered as (carrying side, other side): the ground carries first, then a side fixed to it or
    locked, then the heavier side; between equals the first pick."""
    model, of = session.model.expanded, _machine_namer(session)
    values, grounded = session.model.values(session.p), _fixed_machines(session, of)

    def weight(pick: Pick) -> tuple[bool, bool, float]:
        own = of(model.carrier(pick.name).name)
        return pick.name == WORLD, own in grounded, 0.0 if own in grounded else _machine_mass(session, own, of, values)

    first, second = picks
    return (second, first) if weight(second) > weight(first) else (first, second)


def _fixed_machines(session: Session, of: Callable[[str], str]) -> set[str]:
    """Return the ground and all free machines with a locked part."""
    return {of(WORLD), *(of(name) for name in session.locked)}


def _machine_mass(session: Session, machine: str, of: Callable[[str], str], values: Mapping[str, float]) -> float:
    total = 0.0
    for body in session.model.expanded.bodies:
        if of(body.name) == machine:
            try:
                total += float(Numbers(values, session.model.origin).inertia(body).mass)
            except KinetostatError:
                continue
    return total


def _fixed_joints(session: Session, mech: Mechanism, parent: Pick, child: Pick) -> list[str]:
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


def _carried_coordinates(session: Session, model: Model) -> tuple[Mechanism, Array]:
    """Return the new machine and its coordinates for the present poses of the bodies."""
    from core.constraints.rest_position import carried_pose

    mech = session.mech.updated(model)
    return mech, np.array(carried_pose(session.mech.compiled, session.q, mech.compiled, {}), dtype=float)


def _with_former_values(session: Session, mech: Mechanism, q: Array, joints: Iterable[str]) -> Array:
    """Return coordinates (nq,) in which the given joints have their former values."""
    q, old = q.copy(), dict(zip(session.mech.q_names, session.q.tolist(), strict=True))
    for joint in joints:
        for k in range(*mech.joint_q(joint).indices(mech.nq)):
            q[k] = old.get(mech.q_names[k], q[k])
    return q


def _with_rest_here(session: Session, model: Model, mech: Mechanism, q: Array, joint: str) -> Model:
    """Return the model whose reference configuration is the assembled pose, for the new joint and those of its loop."""
    loop = next((loop for loop in mech.loops if joint in loop.joints), None)
    names = [joint] if loop is None else [name for name in loop.joints if name != loop.cut]
    for name in names:
        own = next((each for each in model.joints if each.name == name), None)
        if own is None or own.mimic is not None or own.rest or own.stiffness != 0.0 or name not in mech.joint_names:
            continue
        rest = tuple(without_noise(x) for x in q[mech.joint_q(name)])
        if rest and rest != own.info.neutral:
            model = edits.change(model, "joints", name, rest=rest)
    return model


# ------------------------------------------------------------------------------- joint frames


def _joint_with_frames(session: Session, kind: str, picks: tuple[Pick, ...], flipped: bool) -> tuple[Joint, Pick, Pick]:
    """Return the joint with frame a at the carrying pick and b at the other, with their axes along the
    features there."""
    parent, child = carrying(session, picks)
    joint = new_elements.connection(session.model, kind, parent.name, child.name)
    along_a, along_b = directions(session, kind, parent, child, flipped)
    known = poses(session)
    if "second_axis" in joint.info.uses:
        joint = dataclasses.replace(joint, second_axis=vector_without_noise(perpendicular(along_a)))
    if "axis" in joint.info.uses:
        joint = dataclasses.replace(joint, axis=vector_without_noise(along_a))
    X_Wa, X_Wb = np.eye(4), np.eye(4)
    X_Wa[:3, 3], X_Wb[:3, 3] = parent.place, child.place
    X_Wb[:3, :3] = smallest_rotation(along_a, along_b)
    a, b = posed(inverse(known[parent.name]) @ X_Wa), posed(inverse(known[child.name]) @ X_Wb)
    return dataclasses.replace(joint, a=a, b=b), parent, child


def directions(session: Session, kind: str, first: Pick, second: Pick, flipped: bool = False) -> tuple[Array, Array]:
    """Return the joint's axis (3,) in the world at either point: as the user chose, or of the joints there, with the
    second in the nearer direction; else faces meet normal against normal; else the vertical."""
    if JOINT_KINDS[kind].is_slider():
        both = unit(np.array(sliding_direction((first, second))))
        own: list[Array | None] = [both, both]
    else:
        own = [direction_at(session, pick) for pick in (first, second)]
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


def smallest_rotation(start: Array, end: Array) -> Array:
    """Return the rotation (3, 3) by the smallest angle that takes one unit vector (3,) to another."""
    cross, cosine = np.cross(start, end), float(start @ end)
    if float(np.linalg.norm(cross)) < PARALLEL:
        aside = perpendicular(start)
        return np.eye(3) if cosine > 0.0 else 2.0 * np.outer(aside, aside) - np.eye(3)
    K = np.array([[0.0, -cross[2], cross[1]], [cross[2], 0.0, -cross[0]], [-cross[1], cross[0], 0.0]])
    return np.asarray(np.eye(3) + K + K @ K / (1.0 + cosine))
