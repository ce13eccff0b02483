"""Passive forces and rotors of MJCF: polynomial springs and dampers, gravity compensation, time constants, actuators.

A spring pushes back with x (k + k₁ x + k₂ x²), a damper with v (d + d₁ |v| + d₂ v²)
(https://mujoco.readthedocs.io/en/stable/computation/index.html#polynomial-forces); both may be given by a time constant
and a damping ratio. Damping and rotor inertia of actuators are multiplied by the square of the gear ratio
(https://mujoco.readthedocs.io/en/stable/XMLreference.html#actuator-general-armature).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.files.xml_source import Tag, UniqueNames, XmlReader, local_name
from core.model import WORLD, Body, Force, Frame, Joint, Pose, Sensor

Array = NDArray[np.float64]
Coefficients = tuple[float, float, float]
NOTHING: Coefficients = (0.0, 0.0, 0.0)


def read_coefficients(reader: XmlReader, tag: Tag, attribute: str, where: str) -> Coefficients:
    """Return the linear, quadratic and cubic coefficient of an attribute; missing ones are 0."""
    count = len(tag.get(attribute, "").split())
    found = reader.numbers(tag, attribute, min(max(count, 1), 3), (0.0,), where)
    first, second, third = (*found, 0.0, 0.0)[:3]
    return first, second, third


def add_coefficients(base: Coefficients, added: Coefficients, factor: float = 1.0) -> Coefficients:
    """Return the coefficients base + factor · added."""
    first, second, third = (a + factor * b for a, b in zip(base, added, strict=True))
    return first, second, third


def spring_law(stiffness: Coefficients, stretch: str) -> str:
    """Return the nonlinear part of a spring's force as a formula of its stretch."""
    _, second, third = stiffness
    return _formula_sum((second, f"{stretch}*{stretch}"), (third, f"{stretch}*{stretch}*{stretch}"))


def damper_law(damping: Coefficients, rate: str = "rate") -> str:
    """Return the nonlinear part of a damper's force as a formula of its rate."""
    _, second, third = damping
    return _formula_sum((second, f"{rate}*abs({rate})"), (third, f"{rate}*{rate}*{rate}"))


def add_laws(*laws: str) -> str | None:
    """Return the sum of formulas, ignoring empty ones; None if all are empty."""
    return " + ".join(law for law in laws if law) or None


def _formula_sum(*terms: tuple[float, str]) -> str:
    return " + ".join(f"({factor!r})*{text}" for factor, text in terms if factor)


class JointSprings(NamedTuple):
    """Stiffness and damping of a joint; `relaxed` holds the coordinates at which the springs exert no force."""

    stiffness: Coefficients
    damping: Coefficients
    relaxed: tuple[float, ...] = ()

    @property
    def has_nonlinear_terms(self) -> bool:
        """Return True if stiffness or damping has nonlinear terms, for which joints have no fields."""
        return any((*self.stiffness[1:], *self.damping[1:]))


class PassiveForces:
    """Collector of the elements that model passive forces; `names` are those of bodies and frames."""

    def __init__(self, names: UniqueNames) -> None:
        self.names, self.force_names, self.sensor_names = names, UniqueNames(), UniqueNames()
        self.forces: list[Force] = []
        self.sensors: list[Sensor] = []
        self.frames: list[Frame] = []

    def add_force(self, name: str, **fields: object) -> None:
        """Add a force."""
        self.forces.append(Force(name=self.force_names.add(name), **fields))  # type: ignore[arg-type]

    def add_sensor(self, name: str, kind: str, a: str, b: str) -> str:
        """Add a sensor between two frames and return its name."""
        given = self.sensor_names.add(name)
        self.sensors.append(Sensor(name=given, kind=kind, a="" if a == WORLD else a, b=b))
        return given

    def add_frame(self, name: str, parent: str, pose: Pose) -> str:
        """Add a frame and return its name."""
        given = self.names.add(name)
        self.frames.append(Frame(name=given, parent=parent, pose=pose))
        return given

    # ------------------------------------------------------------------------------- joints

    def add_joint_forces(self, joint: Joint, springs: JointSprings) -> None:
        """Add forces for the nonlinear terms of a joint's springs and dampers."""
        if joint.info.nq == 1:
            rest = springs.relaxed[0] if springs.relaxed else 0.0
            stretch = f"(length - ({rest!r}))" if rest else "length"
            law = add_laws(spring_law(springs.stiffness, stretch), damper_law(springs.damping))
            self.add_force(joint.name, kind="joint", joint=joint.name, law=law)
            return
        if any(springs.damping[1:]):
            for coordinate in ("wx", "wy", "wz"):
                law = damper_law(springs.damping)
                self.add_force(
                    f"{joint.name}_{coordinate}", kind="joint", joint=joint.name, coordinate=coordinate, law=law
                )
        if any(springs.stiffness[1:]):
            self._add_rotational_spring(joint, springs)
        if joint.kind == "free":
            self._add_translational_forces(joint, springs)

    def _add_rotational_spring(self, joint: Joint, springs: JointSprings) -> None:
        """Add a torque against the rotation vector from the relaxed orientation, in the child's axes."""
        turn = springs.relaxed[3:] if joint.kind == "free" else joint.a.rotation
        a = self.add_frame(f"{joint.name}_relaxed", joint.parent, Pose(rotation=turn)) if len(turn) else joint.parent
        sensor = self.add_sensor(f"{joint.name}_turn", "orientation", a, joint.child)
        values = [f"{sensor}.{axis}" for axis in "xyz"]
        torque = _restoring_components(values, springs.stiffness)
        self.add_force(
            f"{joint.name}_turn",
            kind="wrench",
            a=_frame_or_empty(joint.parent),
            b=joint.child,
            resolve=joint.child,
            torque=torque,
        )

    def _add_translational_forces(self, joint: Joint, springs: JointSprings) -> None:
        """Add forces on the origin of a free body against its displacement and velocity, in world axes."""
        force = ["0"] * 3
        if any(springs.stiffness[1:]):
            sensor = self.add_sensor(f"{joint.name}_place", "position", WORLD, joint.child)
            away = [f"({sensor}.{axis} - ({rest!r}))" for axis, rest in zip("xyz", springs.relaxed, strict=False)]
            force = list(_restoring_components(away, springs.stiffness))
        if any(springs.damping[1:]):
            sensor = self.add_sensor(f"{joint.name}_velocity", "velocity", WORLD, joint.child)
            laws = [damper_law(springs.damping, f"{sensor}.{axis}") for axis in "xyz"]
            force = [f"{before} - ({law})" for before, law in zip(force, laws, strict=True)]
        self.add_force(joint.name, kind="wrench", b=joint.child, force=tuple(force))

    # ------------------------------------------------------------------------------- gravity

    def add_gravity_compensation(self, body: Body, fraction: float, gravity: Sequence[float]) -> None:
        """Add a force at a body's centre of mass that compensates a fraction of its weight."""
        center = tuple(float(x) for x in body.center_of_mass)
        b = body.name
        if any(center):
            b = self.add_frame(f"{body.name}_com", body.name, Pose(position=center))  # type: ignore[arg-type]
        lift = tuple(-fraction * float(body.mass) * g for g in gravity)
        self.add_force(f"{body.name}_gravcomp", kind="wrench", b=b, force=lift)


def _restoring_components(values: Sequence[str], stiffness: Coefficients) -> tuple[str, ...]:
    """Return the components −x_i (k₁ r + k₂ r²) as formulas, r being the length of x."""
    square = " + ".join(f"{value}*{value}" for value in values)
    _, second, third = stiffness
    factor = _formula_sum((second, f"sqrt({square} + 1e-30)"), (third, f"({square})"))
    return tuple(f"-{value}*({factor})" for value in values)


def _frame_or_empty(frame: str) -> str:
    return "" if frame == WORLD else frame


class MotionAxis(NamedTuple):
    """Motion axis of a joint in the world at the reference values of all joints: the moved body, a rotation axis
    through a point or a direction of translation, and the rotor inertia."""

    joint: str
    body: str
    axis: Array
    point: Array | None
    armature: float


def effective_inertia(
    motion_axes: Sequence[MotionAxis],
    bodies: Sequence[Body],
    poses: Mapping[str, Array],
    parents: Mapping[str, str],
    joints: Set[str],
) -> dict[str, float]:
    """Return the effective inertia of joints at the reference values: the number of degrees of freedom over the sum of
    their diagonal entries of M⁻¹. Joints without a finite one are left out.

    poses : world ← body; parents : body → the body that carries it; joints : names of joints
    """
    trees: dict[str, list[MotionAxis]] = {}
    for freedom in motion_axes:
        trees.setdefault(_root_body(freedom.body, parents), []).append(freedom)
    carried: dict[str, list[Body]] = {}
    for body in bodies:
        if body.name in poses:
            carried.setdefault(_root_body(body.name, parents), []).append(body)
    found: dict[str, float] = {}
    for root, own in trees.items():
        if joints & {freedom.joint for freedom in own}:
            found |= _effective_inertia_in_tree(own, carried.get(root, []), poses, parents)
    return {joint: inertia for joint, inertia in found.items() if joint in joints}


def _effective_inertia_in_tree(
    motion_axes: Sequence[MotionAxis], bodies: Sequence[Body], poses: Mapping[str, Array], parents: Mapping[str, str]
) -> dict[str, float]:
    """Return the effective inertia of each joint of one kinematic tree."""
    with np.errstate(over="ignore", invalid="ignore"):  # sizes of files may have any exponent
        M = _mass_matrix(motion_axes, bodies, poses, parents)
    if not np.isfinite(M).all():
        return {}
    try:
        weights = np.diag(np.linalg.inv(M))
    except np.linalg.LinAlgError:
        return {}
    sums: dict[str, list[float]] = {}
    for freedom, weight in zip(motion_axes, weights, strict=True):
        sums.setdefault(freedom.joint, []).append(float(weight))
    return {joint: len(each) / sum(each) for joint, each in sums.items() if 0.0 < sum(each) < math.inf}


def _mass_matrix(
    motion_axes: Sequence[MotionAxis], bodies: Sequence[Body], poses: Mapping[str, Array], parents: Mapping[str, str]
) -> Array:
    """Return the mass matrix M (n, n) of the motion axes of a tree."""
    M = np.diag([freedom.armature for freedom in motion_axes]).astype(float)
    axes = np.array([freedom.axis for freedom in motion_axes], dtype=float)
    rotates = np.array([freedom.point is not None for freedom in motion_axes])
    points = np.array([np.zeros(3) if freedom.point is None else freedom.point for freedom in motion_axes])
    for body in bodies:
        I = body.inertia
        own = np.array([[I.ixx, I.ixy, I.ixz], [I.ixy, I.iyy, I.iyz], [I.ixz, I.iyz, I.izz]], dtype=float)
        if not (float(body.mass) or own.any()):
            continue
        X = poses[body.name]
        center = X[:3, :3] @ np.array(body.center_of_mass, dtype=float) + X[:3, 3]
        carriers = set(_carrying_bodies(body.name, parents))
        moving = np.flatnonzero([freedom.body in carriers for freedom in motion_axes])
        turn = axes[moving] * rotates[moving, None]
        shift = np.where(rotates[moving, None], np.cross(axes[moving], center - points[moving]), axes[moving])
        tensor = X[:3, :3] @ own @ X[:3, :3].T
        M[np.ix_(moving, moving)] += turn @ tensor @ turn.T + float(body.mass) * shift @ shift.T
    return M


def _root_body(body: str, parents: Mapping[str, str]) -> str:
    """Return the first body of the tree that contains a body."""
    *_, root = _carrying_bodies(body, parents) if body in parents else (body,)
    return root


def _carrying_bodies(body: str, parents: Mapping[str, str]) -> Iterator[str]:
    while body in parents:
        yield body
        body = parents[body]


class Rotor(NamedTuple):
    """Inertia and damping that actuators add to the joint or tendon they drive."""

    armature: float = 0.0
    damping: Coefficients = NOTHING


class ActuatorRotors:
    """Rotors by the names of joints and tendons in the file."""

    def __init__(self, reader: XmlReader, root: Tag) -> None:
        self.joints: dict[str, Rotor] = {}
        self.tendons: dict[str, Rotor] = {}
        self.count = 0
        for section in reader.children(root, "actuator"):
            for tag in section:
                if local_name(tag):
                    self.count += 1
                    self._add_actuator(reader, tag)

    def _add_actuator(self, reader: XmlReader, tag: Tag) -> None:
        where = f"{local_name(tag)} '{tag.get('name', '')}'".replace(" ''", "")
        armature = reader.number(tag, "armature", 0.0, where)
        damping = read_coefficients(reader, tag, "damping", where)
        if not (armature or any(damping)):
            return
        words = tag.get("gear", "1").split()
        tag.set("gear", " ".join(words[:1]))
        square = reader.number(tag, "gear", 1.0, where) ** 2
        joint = tag.get("joint") or tag.get("jointinparent")
        driven, name = (self.joints, joint) if joint else (self.tendons, tag.get("tendon", ""))
        before = driven.get(name, Rotor())
        driven[name] = Rotor(before.armature + square * armature, add_coefficients(before.damping, damping, square))
