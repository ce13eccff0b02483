"""Items picked for a new connection, and the state of the machine around them."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from app.document.hand_freedom import joint_that_moves
from app.document.revision import ElementRef, element_after_edit, is_present
from app.document.session import Session
from core.errors import KinetostatError
from core.later import dataclass
from core.mechanics.multibody.number_reader import Numbers
from core.model import WORLD, Frame, Joint, Model, Pose, SubAssembly
from core.model.edits import edits
from core.model.formula.numerals import round_measured_number, round_measured_vector
from core.model.new_elements import Surroundings, add_joint
from core.model.shapes import pose_from_matrix
from viz.drawlist.elements.sensor_looks import SensorLabels, format_si
from viz.drawlist.junction_items import balanced_poses, guessed_poses
from viz.drawlist.shape_forms import snap_points
from viz.placement import evaluate_vector, inverse_pose, unit_vector

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PickedItem:
    """A picked item: its name, its position (m, world), and the frame to be created there, if any."""

    name: str
    place: tuple[float, float, float] = (0.0, 0.0, 0.0)
    frame: Frame | None = None
    what: str = "point"
    direction: tuple[float, float, float] | None = None
    """Unit vector in the world along which the user wants the axis of a joint."""
    normal: tuple[float, float, float] | None = None
    """Normal of the picked face, in the world."""
    word: str = ""
    """Description of the picked feature: a hole, a corner …"""

    @property
    def as_body_pick(self) -> PickedItem:
        """Return the same point as a pick of the body (or ground) itself, for elements such as joints that create their
        own frames."""
        return self if self.frame is None else dataclasses.replace(self, name=self.frame.parent, frame=None)


def update_pick_after_edit(old: Model, new: Model, pick: PickedItem) -> PickedItem | None:
    """Return a pick with the name that its element has after an edit; None if the element is gone."""
    named = pick.as_body_pick.name
    if named == WORLD:
        return pick
    homes = {"joint": ("joints",), "sensor": ("sensors",)}.get(pick.what, ("bodies", "frames", "junctions"))
    home = next((each for each in homes if is_present(old, ElementRef(each, named))), homes[0])
    ref = element_after_edit(old, new, ElementRef(home, named))
    if ref is None:
        return None
    if pick.frame is None:
        return dataclasses.replace(pick, name=ref.name)
    return dataclasses.replace(pick, frame=dataclasses.replace(pick.frame, parent=ref.name))


def update_pick_positions(session: Session, picks: tuple[PickedItem, ...]) -> tuple[PickedItem, ...]:
    """Return the picks at their present positions; frames to be created get names that are not in use."""
    known, found = present_poses(session), list[PickedItem]()
    for pick in picks:
        if pick.what == "point" and pick.frame is None:
            pick = dataclasses.replace(pick, place=pick_origin(session, pick.name, known).place)
        elif pick.frame is not None:
            x, y, z = (known[pick.frame.parent] @ np.array([*evaluate_vector(pick.frame.pose.position, {}), 1.0]))[
                :3
            ].tolist()
            name = _unused_frame_name(session, pick.frame.name, tuple(each.name for each in found))
            pick = dataclasses.replace(
                pick, name=name, place=(x, y, z), frame=dataclasses.replace(pick.frame, name=name)
            )
        found.append(pick)
    return tuple(found)


def present_poses(session: Session) -> dict[str, Array]:
    """Return (4, 4) world ← each body, frame and junction in the present pose, by name."""
    found: dict[str, Array] = {WORLD: np.eye(4), **guessed_poses(session.model, session.model.values(session.p))}
    arrays = np.asarray(session.mech.poses(session.q, p=session.p), dtype=float)
    found.update(zip(session.mech.frame_names, arrays, strict=True))
    found.update(balanced_poses(session.mech, session.q, session.p))
    return found


def posed(X: Array) -> Pose:
    """Return the pose for a matrix (4, 4), without rounding errors."""
    pose = pose_from_matrix(X)
    x, y, z, *angles = (round(float(number), 12) + 0.0 for number in (*pose.position, *pose.rotation))
    return Pose(position=(x, y, z), rotation=tuple(angles))


def measure_surroundings(session: Session, picks: tuple[PickedItem, ...]) -> Surroundings:
    """Return the distance of the picked points, the mass of the machine, and the present values of the picked joints or
    sensor."""
    points = [pick.place for pick in picks if pick.what == "point"]
    distance = math.dist(points[0], points[1]) if len(points) == 2 else 0.0
    values: tuple[float, ...] = ()
    for pick in picks:
        if pick.what == "joint":
            values += tuple(float(x) for x in session.mech.coordinate(session.q, pick.name)[:1])
        elif pick.what == "sensor":
            values += measure_sensor(session, pick.name)
    return Surroundings(distance, known_total_mass(session), values)


def measure_sensor(session: Session, sensor: str) -> tuple[float, ...]:
    """Return the present value of a geometric sensor with one component, in SI, as a tuple; () for other sensors."""
    found = session.model.expanded.find("sensors", sensor)
    value = SensorLabels(session.model, session.model.values(session.p), format_si).sensor_value(
        found, present_poses(session)
    )
    return (value,) if math.isfinite(value) else ()


def known_total_mass(session: Session) -> float:
    """Return the total mass of all bodies whose mass is known, kg; 1 if there are none."""
    values, total = session.model.values(session.p), 0.0
    for body in session.model.expanded.bodies:
        try:
            total += float(Numbers(values, session.model.origin).inertia(body).mass)
        except KinetostatError:
            continue
    return total if total > 0.0 else 1.0


def pick_origin(session: Session, name: str, known_poses: dict[str, Array] | None = None) -> PickedItem:
    """Return a pick of the origin of a body, frame, junction or the ground; `known_poses` are the poses, if already
    computed."""
    x, y, z = (known_poses or present_poses(session))[name][:3, 3].tolist()
    return PickedItem(name, (x, y, z))


def pick_new_frame(session: Session, body: str, position: Array, used_names: tuple[str, ...] = ()) -> PickedItem:
    """Return a pick of a point on a body (or the ground), where a new frame is to be created."""
    local = inverse_pose(present_poses(session)[body]) @ np.array([*position, 1.0])
    name = _unused_frame_name(session, f"{body}_point" if body != WORLD else "ground_point", used_names)
    a, b, c = (round(float(x), 6) + 0.0 for x in local[:3])
    x, y, z = (present_poses(session)[body] @ np.array([a, b, c, 1.0]))[:3].tolist()
    return PickedItem(name, (x, y, z), Frame(name=name, parent=body, pose=Pose(position=(a, b, c))))


def _unused_frame_name(session: Session, stem: str, used_names: tuple[str, ...]) -> str:
    """Return a name for a new frame that neither the model nor the frames about to be created use."""
    name = edits.unused_name(session.model, "frames", stem)
    while name in used_names:
        name += "_b"
    return name


def shape_landmarks(session: Session, body: str) -> Array:
    """Return the centres, ends and face centres (n, 3) of a body's shapes, in m, world; none for the ground."""
    found = next((each for each in session.model.expanded.bodies if each.name == body), None)
    if found is None:
        return np.zeros((0, 3))
    X_WB = present_poses(session)[body]
    return np.asarray(snap_points(found, session.model.values(session.p)) @ X_WB[:3, :3].T + X_WB[:3, 3])


def unoccupied_assembly_pose(session: Session, assembly: SubAssembly) -> Pose:
    """Return the pose of a new sub-assembly on the ground: next to others from the same file, in the direction of their
    shorter side; otherwise the pose given in its file."""
    twins = [each for each in session.model.assemblies if (each.file, each.parent) == (assembly.file, assembly.parent)]
    prefix = f"{twins[0].name}." if twins and not assembly.parent else None
    names = [each.name for each in session.model.expanded.bodies if prefix and each.name.startswith(prefix)]
    points = np.concatenate([np.zeros((0, 3)), *(shape_landmarks(session, name) for name in names)])
    if not len(points):
        return assembly.pose
    size = np.ptp(points[:, :2], axis=0)
    across, room = int(size[1] <= size[0]), 1.5 * float(size.min()) or float(size.max())
    step = np.zeros(3)
    step[across] = len(twins) * float(f"{room:.1g}")
    return dataclasses.replace(assembly.pose, position=round_measured_vector(step))


def add_joint_at_picks(session: Session, model: Model, picks: tuple[PickedItem, ...], joint: Joint) -> Model:
    """Return the model with a joint between two points. If the joint closes a loop, the present pose becomes the
    reference configuration of the loop's joints, so that the file opens in the pose in which it was built."""
    new = add_joint(model, place_joint_at_picks(session, picks, joint))
    return set_reference_to_present(session, new, joint.name)


def set_reference_to_present(session: Session, model: Model, joint: str) -> Model:
    """Return the model with the present pose as the reference configuration of the loop through a joint; unchanged if
    the joint closes no loop.

    Joints that have a rest position, or a spring about it, keep it.
    """
    mech = session.mech.updated(model)
    loop = next((loop for loop in mech.loops if joint in loop.joints), None)
    if loop is None:
        return model
    from core.constraints.rest_position import transfer_pose

    q = transfer_pose(session.mech.compiled, session.q, mech.compiled, {})
    for name in loop.joints:
        own = next((each for each in model.joints if each.name == name), None)
        if own is None or name == loop.cut or own.mimic is not None or own.rest or own.stiffness != 0.0:
            continue
        rest = tuple(round_measured_number(x) for x in q[mech.joint_q(name)])
        if rest != own.info.neutral:
            model = edits.change(model, "joints", name, rest=rest)
    return model


def place_joint_at_picks(session: Session, picks: tuple[PickedItem, ...], joint: Joint) -> Joint:
    """Return the joint placed at the first point so that nothing moves: frame a in its parent, frame b in its child. A
    turning joint is parallel to the joint that carries the first body (planar loops stay planar); a sliding joint
    points along the line between two bodies, or along x on the ground."""
    known = present_poses(session)
    X_WP, X_WC = known[joint.parent], known[joint.child]
    point = np.eye(4)
    point[:3, 3] = picks[0].place
    if joint.info.is_hinge():
        joint = dataclasses.replace(joint, axis=_joint_axis(session, picks))
    elif joint.info.slides_along_axis:
        joint = dataclasses.replace(joint, axis=sliding_direction(picks))
    return dataclasses.replace(joint, a=posed(inverse_pose(X_WP) @ point), b=posed(inverse_pose(X_WC) @ point))


def _joint_axis(session: Session, picks: tuple[PickedItem, ...]) -> tuple[float, float, float]:
    """Return the joint axis (components in world axes, as in frame a) at the first point that defines one; otherwise
    the vertical."""
    found = next((each for pick in picks if (each := joint_direction_at(session, pick)) is not None), None)
    return (0.0, 0.0, 1.0) if found is None else round_measured_vector(found)


def joint_direction_at(session: Session, pick: PickedItem) -> Array | None:
    """Return the world axis (3,) that a joint at a point would have: as the user chose, else the axis of the turning
    joint that carries its body (planar loops stay planar); None if there is neither."""
    if pick.direction is not None:
        return np.array(pick.direction)
    model = session.model.expanded
    name = joint_that_moves(model, ElementRef("bodies", model.carrier(pick.name).name), session.mech.implicit_joints)
    carrier = next((each for each in model.joints if each.name == name), None)
    if carrier is None or not carrier.info.is_hinge():
        return None
    X_Wa = np.asarray(session.mech.joint_poses(session.q, p=session.p)[carrier.name][0])
    return np.asarray(X_Wa[:3, :3] @ unit_vector(evaluate_vector(carrier.axis, session.model.values(session.p))))


def carrying_joint_axis(session: Session, picks: tuple[PickedItem, ...]) -> tuple[float, float, float]:
    """Return the axis of the turning joint that carries the first body that has one, in the axes of the first point;
    otherwise the vertical."""
    bodies = tuple(pick.as_body_pick for pick in picks)
    first = present_poses(session)[bodies[0].name]
    return round_measured_vector(first[:3, :3].T @ np.array(_joint_axis(session, bodies)))


def sliding_direction(picks: tuple[PickedItem, ...]) -> tuple[float, float, float]:
    """Return the unit vector from the first point to the second; x if they coincide or one is on the ground."""
    ground = any(pick.name == WORLD for pick in picks)
    line = np.subtract(picks[1].place, picks[0].place)
    if ground or not np.any(line):
        return 1.0, 0.0, 0.0
    return round_measured_vector(unit_vector(line))
