"""Two points become a joint: the machine is assembled there, joined as it stands, or left apart.

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
from core.mechanism import Mechanism
from core.model import WORLD, Joint, Model
from core.model.connections import joined
from core.model.edits import edits, starters
from core.model.formula.numerals import vector_without_noise, without_noise
from core.multibody.number_reader import Numbers
from viz.placement import inverse, numbers, perpendicular, unit

Array = NDArray[np.float64]

CLOSE = "Close open joints"
"""The command that brings together what was left apart."""
SAME_PLACE = 1e-6
"""m: points nearer than this are one."""
PARALLEL = 1e-12
"""Sine of the angle up to which axes are one line."""
APART_ERROR = 1e-5
"""m or rad from which a joint is shown as open."""
SAME_DIRECTION = 1e-6
"""rad: axes that differ by less are one."""


class Gap(NamedTuple):
    """How far two joint frames are apart: m, rad."""

    distance: float
    angle: float

    @property
    def closed(self) -> bool:
        """Whether they are one."""
        return self.distance < SAME_PLACE and self.angle < SAME_DIRECTION


@dataclass(frozen=True)
class Outcome:
    """One of the ways to connect two points, and what comes of it.

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
        """Commit it, model and pose as one undo step, and select the joint."""
        label = f"Connect {self.joint}"
        pose = pose_of(self.mech, self.q)
        return session.apply(label, lambda _m: self.model, select=Ref("joints", self.joint), pose=pose)


def gap_of(session: Session, kind: str, picks: tuple[Pick, ...], flipped: bool = False) -> Gap:
    """How far the joint frames at two points are apart; `flipped` meets the second axis the other way round."""
    first, second = carrying(session, picks)
    a, b = directions(session, kind, first, second, flipped)
    return gap_between(kind, np.subtract(second.place, first.place), a, b)


def gap_between(kind: str, path: Array, a: Array, b: Array) -> Gap:
    """How far a joint of a kind is open whose frames are a path (3,) apart, m, and whose axis has directions (3,)."""
    along_axis, forbidden = a * float(path @ a), JOINT_KINDS[kind].forbidden
    parts = {"along": along_axis, "normal": along_axis, "across": path - along_axis, "none": np.zeros(3)}
    counts = path if forbidden is None else parts.get(forbidden.translations, path)
    turns = forbidden is None or forbidden.rotations != "none"
    angle = math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b)) if turns else 0.0
    return Gap(float(np.linalg.norm(counts)), angle)


def outcomes(session: Session, kind: str, picks: tuple[Pick, ...], flipped: bool = False) -> tuple[Outcome, ...]:
    """Assemble, join here, leave apart: what comes of each. Those that cannot be made are left out; raises
    KinetostatError if none can."""
    found: list[Outcome] = []
    refusal: KinetostatError | None = None
    for make in (_assembled, _here, _apart):
        try:
            found.append(make(session, kind, picks, flipped))
        except KinetostatError as error:
            refusal = refusal or error
    if not found and refusal is not None:
        raise refusal
    return tuple(found)


def joined_here(session: Session, model: Model, kind: str, picks: tuple[Pick, ...]) -> Model:
    """The model with a joint at the point that was meant first, so that nothing moves."""
    parent, child = carrying(session, picks)
    return connected(session, model, picks, starters.connection(model, kind, parent.name, child.name))


def _here(session: Session, kind: str, picks: tuple[Pick, ...], _flipped: bool) -> Outcome:
    model = joined_here(session, session.model, kind, picks)
    mech, q = _carried(session, model)
    return Outcome("here", "Join here", model, mech, q, _new_joint(session, model))


def _new_joint(session: Session, model: Model) -> str:
    known = {joint.name for joint in session.model.joints}
    return next(joint.name for joint in model.joints if joint.name not in known)


def _assembled(session: Session, kind: str, picks: tuple[Pick, ...], flipped: bool) -> Outcome:
    joint, parent, child = _framed(session, kind, picks, flipped)
    model = joined(session.model, joint)
    mech, q = _carried(session, model)
    still = _still(session, mech, parent, child)
    q = _as_before(session, mech, q, still)
    left = ""
    hands = Mechanism(held(model, mech, session.standing_locked)) if session.locked else mech
    try:
        q = np.asarray(hands.assemble(q, fixed=still))
    except AssemblyError as error:
        q = np.asarray(error.q) if error.q is not None else q
        left = error.what
    else:
        model = _at_rest(session, model, mech, q, joint.name)
        mech = session.mech.updated(model)
    return Outcome("assemble", "Assemble", model, mech, q, joint.name, left)


def _apart(session: Session, kind: str, picks: tuple[Pick, ...], flipped: bool) -> Outcome:
    joint, *sides = _framed(session, kind, picks, flipped)
    joint = dataclasses.replace(joint, cut="yes")
    model = edits.add(session.model, joint)
    mech = session.mech.updated(model)
    if _has(mech, joint.name):  # nothing else holds one of the bodies: it stays free, where it stands
        model = edits.add(_standing(session, sides), joint)
        mech = session.mech.updated(model)
    known = [each.name for each in mech.compiled.model.expanded.joints if _has(mech, each.name)]
    q = _as_before(session, mech, np.array(mech.rest(), dtype=float), known)
    return Outcome("apart", "Leave apart", model, mech, q, joint.name)


def _standing(session: Session, sides: Iterable[Pick]) -> Model:
    """The model in which the free machine of a body that is pointed at has a free joint that rests where it stands; of
    two such bodies, that of the second."""
    of = _machine_of(session)
    roots = {of(each.child): each for each in session.mech.implicit_joints}
    machines = [of(session.model.expanded.carrier(pick.name).name) for pick in sides]
    root = next(roots[own] for own in reversed(machines) if own in roots)
    rest = tuple(without_noise(x) for x in session.q[session.mech.joint_q(root.name)])
    name = edits.unused_name(session.model, "joints", root.child)
    return edits.add(session.model, Joint(name=name, kind=Free.name, parent=WORLD, child=root.child, rest=rest))


# ------------------------------------------------------------------------------- joints that were left apart


class OpenJoint(NamedTuple):
    """A joint whose frames are apart: where they are, (3,) m, world, and how far."""

    name: str
    a: Array
    b: Array
    gap: Gap


def open_joints(session: Session) -> tuple[OpenJoint, ...]:
    """The joints that are open as the machine stands."""
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
    """(nq,) the machine with all loops closed: what is free comes to what the ground holds; where that is not enough,
    all moves as little as it can. Raises AssemblyError where they do not close."""
    mech = session.hands
    of = _machine_of(session, [each.name for each in open_joints(session)])
    joints = (*mech.implicit_joints, *session.model.expanded.joints)
    still = [each.name for each in joints if _has(mech, each.name) and of(each.child) in _held_machines(session, of)]
    try:
        return np.asarray(mech.assemble(session.q, fixed=still, p=session.p))
    except AssemblyError:
        return np.asarray(mech.assemble(session.q, p=session.p))


# ------------------------------------------------------------------------------- who holds, who moves


def _machine_of(session: Session, without: Collection[str] = ()) -> Callable[[str], str]:
    """A function that names what a body hangs together with: the ground, or a free machine by one of its bodies; some
    joints do not count."""
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
    """The point on the side that carries, and that on the other: the ground, then what it or a lock holds, then what is
    heavier; between equals that which was meant first."""
    model, of = session.model.expanded, _machine_of(session)
    values, grounded = session.model.values(session.p), _held_machines(session, of)

    def weight(pick: Pick) -> tuple[bool, bool, float]:
        own = of(model.carrier(pick.name).name)
        return pick.name == WORLD, own in grounded, 0.0 if own in grounded else _mass(session, own, of, values)

    first, second = picks
    return (second, first) if weight(second) > weight(first) else (first, second)


def _held_machines(session: Session, of: Callable[[str], str]) -> set[str]:
    """The ground, and free machines of which a part is locked."""
    return {of(WORLD), *(of(name) for name in session.locked)}


def _mass(session: Session, machine: str, of: Callable[[str], str], values: Mapping[str, float]) -> float:
    total = 0.0
    for body in session.model.expanded.bodies:
        if of(body.name) == machine:
            try:
                total += float(Numbers(values, session.model.origin).inertia(body).mass)
            except KinetostatError:
                continue
    return total


def _still(session: Session, mech: Mechanism, parent: Pick, child: Pick) -> list[str]:
    """Joints that must not move: those of the side that carries, unless both sides hang together or are held."""
    model, of = session.model.expanded, _machine_of(session)
    own, other = (of(model.carrier(pick.name).name) for pick in (parent, child))
    if own == other or {own, other} <= _held_machines(session, of):
        return []
    known = (*session.mech.implicit_joints, *model.joints)
    return [each.name for each in known if of(model.carrier(each.child).name) == own and _has(mech, each.name)]


def _has(mech: Mechanism, joint: str) -> bool:
    """Whether a joint has coordinates."""
    try:
        at = mech.joint_q(joint)
    except KinetostatError:
        return False
    return at.stop > at.start


def _carried(session: Session, model: Model) -> tuple[Mechanism, Array]:
    """The new machine, and its coordinates as the bodies stand."""
    from core.constraints.carried_pose import carried_pose

    mech = session.mech.updated(model)
    return mech, np.array(carried_pose(session.mech.compiled, session.q, mech.compiled, {}), dtype=float)


def _as_before(session: Session, mech: Mechanism, q: Array, joints: Iterable[str]) -> Array:
    """(nq,) with the coordinates that joints had before."""
    q, old = q.copy(), dict(zip(session.mech.q_names, session.q.tolist(), strict=True))
    for joint in joints:
        for k in range(*mech.joint_q(joint).indices(mech.nq)):
            q[k] = old.get(mech.q_names[k], q[k])
    return q


def _at_rest(session: Session, model: Model, mech: Mechanism, q: Array, joint: str) -> Model:
    """The model that opens as it was assembled: the new joint, and those of its loop, rest where they are."""
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


def _framed(session: Session, kind: str, picks: tuple[Pick, ...], flipped: bool) -> tuple[Joint, Pick, Pick]:
    """The joint with frame a at the point that carries and b at the other one, their axes along what is there."""
    parent, child = carrying(session, picks)
    joint = starters.connection(session.model, kind, parent.name, child.name)
    along_a, along_b = directions(session, kind, parent, child, flipped)
    known = poses(session)
    if "second_axis" in joint.info.uses:
        joint = dataclasses.replace(joint, second_axis=vector_without_noise(perpendicular(along_a)))
    if "axis" in joint.info.uses:
        joint = dataclasses.replace(joint, axis=vector_without_noise(along_a))
    X_Wa, X_Wb = np.eye(4), np.eye(4)
    X_Wa[:3, 3], X_Wb[:3, 3] = parent.place, child.place
    X_Wb[:3, :3] = smallest_turn(along_a, along_b)
    a, b = posed(inverse(known[parent.name]) @ X_Wa), posed(inverse(known[child.name]) @ X_Wb)
    return dataclasses.replace(joint, a=a, b=b), parent, child


def directions(session: Session, kind: str, first: Pick, second: Pick, flipped: bool = False) -> tuple[Array, Array]:
    """(3,), (3,) the joint's axis in the world as either point has it: as meant, or of the joints there, the second
    turned the nearer way round; else faces meet normal against normal; else the vertical."""
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


def smallest_turn(start: Array, end: Array) -> Array:
    """(3, 3) the rotation by the smallest angle that turns one unit vector (3,) into another."""
    cross, cosine = np.cross(start, end), float(start @ end)
    if float(np.linalg.norm(cross)) < PARALLEL:
        aside = perpendicular(start)
        return np.eye(3) if cosine > 0.0 else 2.0 * np.outer(aside, aside) - np.eye(3)
    K = np.array([[0.0, -cross[2], cross[1]], [cross[2], 0.0, -cross[0]], [-cross[1], cross[0], 0.0]])
    return np.asarray(np.eye(3) + K + K @ K / (1.0 + cosine))
