"""New elements with default values that make them visible.

Forces, sensors, constraints and drivers between selected elements fit the machine's current pose: springs are relaxed,
rods have the current length, constrained sensors and drivers begin at their current value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core.errors import KinetostatError, ModelError
from core.joints import JOINT_KINDS, Free, Revolute
from core.later import dataclass
from core.model.bodies import WORLD, Body, Frame
from core.model.chains import DHChain, DHRow
from core.model.constraints import Constraint, Driver
from core.model.edits.edits import add, dependents, remove, unused_name
from core.model.forces import Force, Junction
from core.model.formula.numerals import round_measured_number, round_measured_vector
from core.model.joints import Joint
from core.model.model import Model
from core.model.parameters import Parameter, evaluate_field
from core.model.sensors import SENSOR_KINDS, Sensor
from core.model.shapes import IDENTITY, Box, Material, Pose, Shape
from core.model.signal_elements import BLOCK_KINDS, BlockInput, ControlledJoint, Signal, TablePoint

GRAVITY = 9.81
SAG = 0.1
"""Deflection of a new spring under the machine's weight, as a fraction of its length."""
DAMPING_RATIO = 0.2
ARM = 0.1
"""Lever arm in m at which a new torsion spring carries the machine's weight."""
STROKE = 0.05
"""Deflection (m) of a new spring in a prismatic joint under the machine's weight, and amplitude of a new driver."""


@dataclass(frozen=True)
class Surroundings:
    """Data from which defaults are derived: distance between two points (m), mass of the machine (kg), current
    coordinates of the joint or value of the sensor (SI)."""

    distance: float = 0.0
    mass: float = 1.0
    values: tuple[float, ...] = ()

    def stiffness(self) -> float:
        """Return the spring rate in N/m at which a spring of this length deflects by `SAG` of its length under the
        machine's weight."""
        return round_to_one_digit(self.mass * GRAVITY / (SAG * (self.distance or 1.0)))

    def damping(self, stiffness: float) -> float:
        """Return the damping rate for `DAMPING_RATIO` times the critical damping 2 √(k m)."""
        return round_to_one_digit(2.0 * DAMPING_RATIO * math.sqrt(stiffness * self.mass))


def round_to_one_digit(value: float) -> float:
    """Return the number with one significant digit; 1 if it is not positive and finite."""
    return float(f"{value:.0e}") if value > 0.0 and math.isfinite(value) else 1.0


def _end_name(name: str) -> str:
    return "" if name == WORLD else name


def _order_ground_first(a: str, b: str) -> tuple[str, str]:
    """Return both ends, the ground first if it is one of them."""
    if a == b:
        raise ModelError("Both ends are the same.", remedy="Select two different bodies, frames or junctions.")
    return (_end_name(b), a) if b == WORLD else (_end_name(a), b)


# ------------------------------------------------------------------------------- forces


def line_force(model: Model, kind: str, a: str, b: str, surroundings: Surroundings) -> Force:
    """Return a spring, damper, spring_damper, series or line_force (10 N) between two points, relaxed in the current
    pose."""
    a, b = _order_ground_first(a, b)
    k = surroundings.stiffness()
    fields: dict[str, Any] = (
        {} if kind in ("damper", "line_force") else {"rest": round_measured_number(surroundings.distance)}
    )
    if kind in ("spring", "spring_damper", "series"):
        fields["stiffness"] = k
    if kind in ("damper", "spring_damper", "series"):
        fields["damping"] = surroundings.damping(k)
    if kind == "line_force":
        fields["law"] = 10.0
    name = unused_name(model, "forces", f"{kind}1")
    return Force(name=name, kind="series" if kind == "series" else "line", a=a, b=b, **fields)


def wrench(model: Model, quantity: str, b: str) -> Force:
    """Return a constant force (10 N upward) or torque (1 N·m about z) on a body or frame."""
    if b == WORLD:
        raise ModelError("A force on the ground has no effect.", remedy="Select a body or frame.")
    value = {"force": (0.0, 0.0, 10.0)} if quantity == "force" else {"torque": (0.0, 0.0, 1.0)}
    return Force(name=unused_name(model, "forces", f"{quantity}1"), kind="wrench", b=b, **value)  # type: ignore[arg-type]


def contact(model: Model, a: str, b: str) -> Force:
    """Return a contact of two bodies, or of a body and the ground, the xy plane of the world."""
    first, second = (b, a) if b == WORLD else (a, b)
    if second == first:
        raise ModelError("A body does not touch itself.", remedy="Select another body, or the ground.")
    name = unused_name(model, "forces", "contact1")
    return Force(name=name, kind="contact", a="" if first == WORLD else first, b=second)


def joint_spring(model: Model, joint: str, surroundings: Surroundings) -> Force:
    """Return a spring and damper in a joint, relaxed in the current pose."""
    found = model.joint(joint)
    if not found.info.coordinates or found.info.nq != found.info.nv:
        raise ModelError(
            f"A {found.kind} joint has no coordinate for a spring.",
            where=f"joint '{joint}'",
            remedy="Choose a revolute or prismatic joint, or add a spring between two points.",
        )
    turns = found.info.coordinate_dimensions[0] == "angle"
    k = round_to_one_digit(surroundings.mass * GRAVITY * ARM if turns else surroundings.mass * GRAVITY / STROKE)
    c = round_to_one_digit(0.1 * k * (0.1 if turns else 0.2))
    coordinate = found.info.coordinates[0] if found.info.nq > 1 else ""
    return Force(
        name=unused_name(model, "forces", "joint_spring1"),
        kind="joint",
        joint=joint,
        coordinate=coordinate,
        stiffness=k,
        damping=c,
        rest=round_measured_number(surroundings.values[0]) if surroundings.values else 0.0,
    )


def add_junction(
    model: Model, names: Sequence[str], positions: Sequence[Sequence[float]], surroundings: Surroundings
) -> Model:
    """Return the model with a junction at the mean of several points, and a spring from each point to the junction."""
    if len(set(names)) < 2:
        raise ModelError("A junction joins at least two points.", remedy="Select two different points.")
    middle = round_measured_vector(sum(place[i] for place in positions) / len(positions) for i in range(3))
    point = unused_name(model, "junctions", "junction1")
    model = add(model, Junction(name=point, guess=middle))
    for name, place in zip(names, positions, strict=True):
        half = Surroundings(math.dist(place, middle), surroundings.mass)
        spring = line_force(model, "spring", name, point, half)
        model = add(model, spring)
    return model


# ------------------------------------------------------------------------------- sensors


def sensor(model: Model, kind: str, names: Sequence[str]) -> Sensor:
    """Return a sensor of a kind between two frames, at one frame, or at a joint."""
    name = unused_name(model, "sensors", f"{kind}1")
    if "joint" in SENSOR_KINDS[kind].uses:
        return Sensor(name=name, kind=kind, joint=names[0])
    if len(names) == 1:
        if names[0] == WORLD:
            raise ModelError(
                "The ground does not move, so there is nothing to measure.", remedy="Select a body or frame."
            )
        return Sensor(name=name, kind=kind, b=names[0])
    a, b = _order_ground_first(*names)
    return Sensor(name=name, kind=kind, a=a, b=b)


# ------------------------------------------------------------------------------- constraints and drivers


def hold_sensor_value(model: Model, sensor: str, surroundings: Surroundings) -> Constraint:
    """Return a constraint that keeps a sensor at its current value."""
    value = round_measured_number(surroundings.values[0]) if len(surroundings.values) == 1 else 0.0
    return Constraint(name=unused_name(model, "constraints", "hold1"), kind="hold", sensor=sensor, value=value)


def rod(model: Model, kind: str, a: str, b: str, surroundings: Surroundings) -> Constraint:
    """Return a rod between two points, as long as their current distance."""
    if not surroundings.distance > 1e-9:
        raise ModelError(
            "The two points coincide: a rod between them has no length.",
            remedy="Join them by a spherical joint instead.",
        )
    a, b = _order_ground_first(a, b)
    return Constraint(
        name=unused_name(model, "constraints", "rod1"),
        kind=kind,
        a=a,
        b=b,
        length=round_measured_number(surroundings.distance),
    )


def gear(model: Model, leader: str, joint: str, surroundings: Surroundings) -> Constraint:
    """Return a gear constraint that couples two joints like external gears of equal size, at their current angles."""
    _check_couplable(model, leader, joint, "A joint cannot follow itself.")
    first, second = surroundings.values if len(surroundings.values) == 2 else (0.0, 0.0)
    return Constraint(
        name=unused_name(model, "constraints", "gear1"),
        kind="gear",
        joint=joint,
        leader=leader,
        ratio=-1.0,
        offset=round_measured_number(first + second),
    )


def _check_couplable(model: Model, leader: str, joint: str, same_joint_message: str) -> None:
    """Raise ModelError unless the names are those of two different joints with one coordinate each. same_joint_message
    : message for one joint named twice"""
    if leader == joint:
        raise ModelError(same_joint_message, remedy="Select two different joints.")
    for name in (leader, joint):
        if model.joint(name).info.nq != 1:
            raise ModelError(
                f"'{name}' has {model.joint(name).info.nq} coordinates, not one.",
                where=f"joint '{name}'",
                remedy="Couple joints with one coordinate.",
            )


def clutch(model: Model, leader: str, joint: str, surroundings: Surroundings) -> Force:
    """Return a clutch (dry friction between two joints) whose torque or force carries a tenth of the machine's
    weight."""
    _check_couplable(model, leader, joint, "Both sides are the same joint.")
    return Force(
        name=unused_name(model, "forces", "clutch1"),
        kind="clutch",
        joint=joint,
        leader=leader,
        friction=round_to_one_digit(0.1 * surroundings.mass * GRAVITY * ARM),
    )


def driver(model: Model, joint: str, surroundings: Surroundings) -> Driver:
    """Return a driver of a joint's first coordinate from its current value: a rotation at 1 rad/s, or a reciprocating
    translation."""
    found = model.joint(joint)
    if not found.info.coordinates or found.info.nq != found.info.nv:
        raise ModelError(
            f"A {found.kind} joint has no single coordinate to be driven.",
            where=f"joint '{joint}'",
            remedy="Drive a sensor, or use a revolute or prismatic joint.",
        )
    turns = found.info.coordinate_dimensions[0] == "angle"
    start = (
        _format_number(surroundings.values[0], turns)
        if surroundings.values and abs(surroundings.values[0]) > 1e-9
        else ""
    )
    motion = "t" if turns else f"{STROKE:g}*sin(2*pi*t)"
    coordinate = found.info.coordinates[0] if found.info.nq > 1 else ""
    return Driver(
        name=unused_name(model, "drivers", f"{joint}_drive"),
        joint=joint,
        coordinate=coordinate,
        function=f"{start} + {motion}" if start else motion,
    )


def signal(model: Model, kind: str, joint: str = "") -> Signal:
    """Return a signal of a kind. A controller acts in a joint, or in all joints of the tree with one coordinate; it
    follows the first motion if there is one. Raises ModelError if there is no such joint."""
    name = unused_name(model, "signals", f"{kind}1")
    if not BLOCK_KINDS[kind].acts:
        points = (TablePoint(input=0.0, output=0.0), TablePoint(input=1.0, output=1.0))
        several = (BlockInput(value=1.0), BlockInput(value=0.0))
        lag = {"numerator": (1.0,), "denominator": (1.0, 1.0)}
        needed: dict[str, Any] = {"points": points, "inputs": several, "resolution": 0.01, **lag}
        return Signal(
            name=name, kind=kind, **{field: needed[field] for field in needed if field in BLOCK_KINDS[kind].needs}
        )
    joints = [joint] if joint else _controllable_joints(model)
    if not joints:
        raise ModelError(
            "There is no joint with one coordinate that a controller could act in.",
            where="joints",
            remedy="Add a revolute or prismatic joint first.",
        )
    follows = "motion" in BLOCK_KINDS[kind].uses and model.motions and not joint
    frame = model.expanded.joint(joints[-1]).child if "frame" in BLOCK_KINDS[kind].needs else ""
    return Signal(
        name=name,
        kind=kind,
        motion=model.motions[0].name if follows else "",
        joints=tuple(ControlledJoint(joint=each) for each in joints),
        kp=POSITION_GAIN,
        kd=SPEED_GAIN,
        frame=frame,
    )


POSITION_GAIN, SPEED_GAIN = 100.0, 20.0
"""Gains of new controllers; those of computed torque place both poles at −10/s."""


def _controllable_joints(model: Model) -> list[str]:
    """Return the joints of the tree with one coordinate that neither follow others nor are driven."""
    held = {driver.joint for driver in model.expanded.drivers}
    children: set[str] = set()
    found = []
    for joint in model.expanded.joints:
        closes = joint.cut == "yes" or joint.child in children
        children.add(joint.child)
        if joint.info.nq == joint.info.nv == 1 and joint.mimic is None and joint.name not in held and not closes:
            found.append(joint.name)
    return found


def _format_number(value: float, is_angle: bool) -> str:
    """Return a measured number as text for a formula; angles in degrees if that is shorter."""
    degrees = f"{math.degrees(value):.6g}"
    if is_angle and abs(math.radians(float(degrees)) - value) < 1e-9:
        return f"{degrees} deg"
    return f"{round_measured_number(value):.12g}"


def machine_name_from_file(path: str) -> str:
    """Return a name for the machine in a file, made from the file name: letters, digits and _ only."""
    stem = path.replace("\\", "/").rpartition("/")[2].partition(".")[0]
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in stem).strip("_")
    return name if name and not name[0].isdigit() else f"part_{name}".rstrip("_")


def add_joint(model: Model, joint: Joint) -> Model:
    """Return the model with a joint added; a free joint that only positioned one of its bodies is removed."""
    carried = {model.carrier(each.child).name: each for each in model.expanded.joints}
    sides = model.carrier(joint.child).name, model.carrier(joint.parent).name
    new = add(model, joint)
    for side, other in (sides, sides[::-1]):
        carrier = carried.get(side)
        holders = _body_and_parents(model, other, carried)
        held = side not in holders and (side == sides[0] or holders[-1] == WORLD)
        if carrier is not None and held and _only_places_body(model, carrier):
            return remove(new, "joints", carrier.name)
    return new


def _only_places_body(model: Model, joint: Joint) -> bool:
    """Return True if a joint of the document is a free joint that only positions a body."""
    if joint.kind != Free.name:
        return False
    plain = Joint(name=joint.name, kind=Free.name, parent=WORLD, child=joint.child, rest=joint.rest)
    return joint == plain and joint in model.joints and not dependents(model, "joints", joint.name)


def _body_and_parents(model: Model, body: str, parent_joints: Mapping[str, Joint]) -> list[str]:
    """Return a body, its parent body, and so on to the root."""
    found = [body]
    while found[-1] in parent_joints and (next_ := model.carrier(parent_joints[found[-1]].parent).name) not in found:
        found.append(next_)
    return found


LINK_LENGTH = 0.3
"""Length (m) of a new link on the ground; links attached to others are as long as their parent."""
SLENDERNESS = 8.0
SMALLEST = 1e-3
"""Length in m below which a body is ignored when the machine's size is estimated."""
WATER = 1000.0
"""Density of a new body in kg/m³, for plausible masses."""
ASIDE = 0.4
"""Distance (m) between machines that are started side by side on the ground."""
_ALONG = (1.0, 0.0, 0.0)
_UP = (0.0, 0.0, 1.0)


def add_attached_body(model: Model, parent: str = WORLD, kind: str = Revolute.name) -> tuple[Model, str]:
    """Return the model with a new link joined by a joint of a kind to the far end, along x, of a body, frame or the
    ground, and the link's name. Repeated on each new link, this builds an arm along x."""
    body = unused_name(model, "bodies", "link1")
    joint = unused_name(model, "joints", "joint1")
    end = _far_end(model, parent)
    length = end[0] if parent != WORLD and end[0] > SMALLEST else LINK_LENGTH
    width = round_measured_number(length / SLENDERNESS)
    shape = Box(size=(length, width, width), pose=Pose(position=(length / 2, 0.0, 0.0)))
    link = Body(name=body, density=WATER, shapes=(shape,))
    hung = Joint(
        name=joint,
        kind=kind,
        parent=parent,
        child=body,
        a=Pose(position=end),
        axis=_ALONG if JOINT_KINDS[kind].slides_along_axis else _UP,
    )
    return add(model, link, hung), body


def new_joint(model: Model, kind: str, parent: str, child: str, a: Pose = IDENTITY) -> Joint:
    """Return a joint of a kind between two bodies or frames, not yet in the model, under a free name."""
    return Joint(name=unused_name(model, "joints", "joint1"), kind=kind, parent=parent, child=child, a=a)


def add_frame(model: Model, parent: str = WORLD) -> tuple[Model, str]:
    """Return the model with a new frame at the far end of a body (or at a frame's origin), and its name."""
    name = unused_name(model, "frames", "frame1")
    is_body = any(body.name == parent for body in model.expanded.bodies)
    pose = Pose(position=_far_end(model, parent)) if is_body else IDENTITY
    return add(model, Frame(name=name, parent=parent, pose=pose)), name


def add_parameter(model: Model) -> tuple[Model, str]:
    """Return the model with a new length of 0.1 m, and its name."""
    name = unused_name(model, "parameters", "p1")
    return add(model, Parameter(name=name, value=0.1, dimension="length", minimum=0.0, maximum=1.0)), name


def add_material(model: Model) -> tuple[Model, str]:
    """Return the model with a new blue-grey material, and its name."""
    name = unused_name(model, "materials", "material1")
    return add(model, Material(name=name, color=(0.45, 0.55, 0.68, 1.0))), name


def new_chain(model: Model, convention: str = "standard", parent: str = "") -> DHChain:
    """Return a planar three-joint chain, not yet in the model, under a free name; its prefix keeps its bodies' names
    unique."""
    name = unused_name(model, "chains", "chain1")
    taken = {"base", "tool", "link1", "link2", "link3"} & model.expanded.index("frame").keys()
    taken |= {"base_joint", "joint1", "joint2", "joint3"} & model.expanded.index("joint").keys()
    rows = tuple(DHRow(a=LINK_LENGTH) for _ in range(3))
    return DHChain(name=name, convention=convention, rows=rows, parent=parent, prefix=f"{name}_" if taken else "")


# ------------------------------------------------------------------------------- where a body ends


def _far_end(model: Model, parent: str) -> tuple[float, float, float]:
    """Return the far end of a body on its x axis; for the ground, a free position next to the other machines."""
    if parent == WORLD:
        beside = sum(joint.parent == WORLD for joint in model.expanded.joints)
        return (0.0, ASIDE * beside, 0.0)
    body = next((body for body in model.expanded.bodies if body.name == parent), None)
    if body is None:
        return (0.0, 0.0, 0.0)
    try:
        values = model.values()
        ends = [_largest_x(shape, lambda value: float(evaluate_field(value, values))) for shape in body.shapes]
    except KinetostatError:
        ends = []
    return (round_measured_number(max(ends, default=0.0)), 0.0, 0.0)


def _largest_x(shape: Shape, value: Callable[[Any], float]) -> float:
    """Return the largest x of a shape; exact for axis-aligned shapes and spheres, an upper bound for rotated ones."""
    x = value(shape.pose.position[0])
    turned = any(item != 0.0 for item in shape.pose.rotation)
    return x + (shape.bounding_radius(value) if turned else shape.bounds(value)[1][0])
