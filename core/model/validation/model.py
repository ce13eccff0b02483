"""Findings about physically questionable parts of a model, each with a remedy; no finding here rejects a model.

    check(model) -> tuple[Finding, …]

What solvers need (every part that moves on its own has inertia), and what is likely a slip; numbers that no machine has
are those of `core.model.validation.possible_numbers`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from core.joints import UnknownJoint
from core.model.bodies import WORLD, Body, Gravity, Inertia
from core.model.constraints import Constraint, UnknownConstraint
from core.model.fields import Element, declared_fields, nested_elements
from core.model.forces import UnknownForce
from core.model.joints import NO_RATE, RATES, Joint, Limit
from core.model.model import WORDS, Model, elements_of_unknown_kind, require_model, unknown_kind_reason
from core.model.sensors import UNKNOWN_SENSOR
from core.model.shapes import Mesh, Pose
from core.model.signal_elements import UnknownBlock
from core.model.units import format_with_unit
from core.model.validation import forces, friction_and_stops
from core.model.validation.circular_references import find_cycles
from core.model.validation.findings import Finding, Severity
from core.model.validation.formulas import (
    check_formula_values,
    check_parameters,
    check_quantity_names,
    check_units,
    evaluate_or_nan,
    find_angles_in_degrees,
    format_range,
)
from core.model.validation.possible_numbers import (
    NO_INERTIA,
    find_impossible_numbers,
    find_impossible_questions,
    find_oversized_hollows,
    principal_moments,
    relax_for_fixed_bodies,
)

PERPENDICULAR_TOLERANCE = 1e-6
UNIT_TOLERANCE = 1e-3
FAR = 3.0
"""Distance of a centre of mass from all shapes of its body, in radii of the shape, beyond which it is reported."""

FARTHEST_REST = {"angle": 3600.0, "length": 1e5}
"""Reference position (rad or m) beyond which it is certainly a mistake."""
NOTHING = Inertia()

ProblemOf = Callable[[str, str], tuple[str, str] | None]
"""Function (file, origin) → problem with a mesh file and its remedy; None if the file is found."""


def check(model: Model, problem_of: ProblemOf | None = None) -> tuple[Finding, ...]:
    """Return findings about questionable parts of a model. With `find_mesh_problem`, missing mesh files are reported
    too."""
    checks = _ModelChecks(require_model(model).expanded, problem_of)
    elements = forces.check(model.expanded, checks.values)
    return (
        *_check_unknown_kinds(model.expanded),
        *_check_unused_fields(model),
        *check_formula_values(model),
        *check_units(model),
        *check_quantity_names(model),
        *find_impossible_questions(model, checks.evaluate_or_nan),
        *find_angles_in_degrees(model),
        *check_parameters(model),
        *forces.check_sub_assemblies(model),
        *checks.all_findings(),
        *elements,
    )


def _check_unknown_kinds(model: Model) -> Iterator[Finding]:
    """Yield findings for elements of unknown kinds."""
    for collection, element in elements_of_unknown_kind(model):
        yield Finding("error", *unknown_kind_reason(collection, element), collection, element.name, "kind")


_OPTIONAL_FIELDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "joints": ("joint", UnknownJoint.uses),
    "sensors": ("sensor", UNKNOWN_SENSOR.uses),
    "forces": ("force", (*UnknownForce.uses, "masses", "inertia", "strands")),
    "constraints": ("constraint", UnknownConstraint.uses),
    "signals": ("signal", UnknownBlock.uses),
}
"""Collection → noun, and the fields that only some kinds use."""


def _check_unused_fields(model: Model) -> Iterator[Finding]:
    """Yield a hint for each element with values in fields that its kind does not use."""
    for collection, (noun, every_field) in _OPTIONAL_FIELDS.items():
        for element in getattr(model, collection):
            for field in (each for each in every_field if each not in element.info.uses):
                if getattr(element, field) != getattr(type(element), field, None):
                    text = f"'{field}' has no effect on a {noun} of kind {element.kind}."
                    remedy = "Remove it, or choose a kind that uses it."
                    yield Finding("hint", text, remedy, collection, element.name, field)


# ------------------------------------------------------------------------------- bodies, joints


class _ModelChecks:
    """Checks of a model without chains, at the current parameter values."""

    def __init__(self, model: Model, problem_of: ProblemOf | None) -> None:
        self.model = model
        self.values = model.values()
        self.problem_of = problem_of

    def all_findings(self) -> Iterator[Finding]:
        """Yield all findings, in the order of the tree."""
        yield from self.check_gravity(self.model.world.gravity)
        for material in self.model.materials:
            if material.texture:
                yield from self.check_mesh_file(material.texture, "materials", material.name, "texture")
        for body in self.model.bodies:
            yield from relax_for_fixed_bodies(
                find_impossible_numbers(body, self.evaluate_or_nan), self.model, self.values
            )
            yield from self.check_mass(body)
            yield from self.check_shapes(body)
        for _, element in self.model.elements():
            yield from self.check_rotations(element)
        for joint in self.model.joints:
            yield from find_impossible_numbers(joint, self.evaluate_or_nan)
            yield from self.check_axes(joint)
            yield from self.check_limits(joint)
            yield from self.check_reference_position(joint)
            yield from friction_and_stops.check(joint, self.evaluate_or_nan, self.model.world.limits == "act")
        yield from self.check_couplings()
        yield from self.check_massless_parts()
        yield from self.check_point_masses()
        yield from self.check_unconnected_bodies()
        yield from self.check_missing_contacts()

    def evaluate_or_nan(self, value: Any) -> float:
        return evaluate_or_nan(value, self.values)

    def evaluate_vector(self, values: Any) -> np.ndarray:
        return np.array([self.evaluate_or_nan(value) for value in values])

    def check_gravity(self, gravity: Gravity) -> Iterator[Finding]:
        if gravity.kind == "point" and self.evaluate_or_nan(gravity.mu) <= 0.0:
            yield Finding(
                "warning",
                "The gravitational parameter of the point field is not positive.",
                "Give mu, e.g. 3.986e14 for the Earth.",
                "world",
                "",
                "gravity",
            )

    def check_rotations(self, element: Element) -> Iterator[Finding]:
        for inner in nested_elements(element):
            if isinstance(inner, Pose) and len(inner.rotation) == 4 and not any(self.evaluate_vector(inner.rotation)):
                collection = next(c for c in WORDS if element in getattr(self.model, c))
                yield Finding(
                    "error",
                    "A quaternion of length zero is not a rotation.",
                    "Write 0, 0, 0, 1.",
                    collection,
                    getattr(element, "name", ""),
                    "rotation",
                )

    # ------------------------------------------------------------------------------- mass

    def check_mass(self, body: Body) -> Iterator[Finding]:
        """Check mass and inertia of one body."""
        if body.density is not None:
            if not body.shapes:
                yield _element_finding(
                    body, "warning", "It has a density but no shape, so it has no mass.", "Add a shape.", "density"
                )
            return
        mass = self.evaluate_or_nan(body.mass)
        moments = principal_moments(body.inertia, self.evaluate_or_nan)
        if moments[2] > NO_INERTIA and mass == 0.0:
            yield _element_finding(body, "warning", "It has inertia but no mass.", "Give its mass.", "mass")

    def check_missing_contacts(self) -> Iterator[Finding]:
        """Report free bodies, and bodies with collision shapes only, that are near others, but in no contact."""
        touching = {end for force in self.model.forces if force.is_contact for end in (force.a, force.b)}
        group = self.rigid_groups()
        solid = {group[body.name] for body in self.model.bodies if any(s.role != "visual" for s in body.shapes)}
        only = {group[body.name] for body in self.model.bodies if any(s.role == "collision" for s in body.shapes)}
        free = [joint for joint in self.model.joints if joint.kind == "free" and group.get(joint.child) in solid]
        free = [joint for joint in free if joint.child not in touching]
        text = "Shapes touch only in forces of the kind 'contact'; without one, bodies pass through one another."
        remedy = "Add a contact of shapes, or use limits where motion must be stopped."
        if free and len(solid) > 1:
            yield Finding("hint", text, remedy, "bodies", free[0].child, "shapes")
        elif len(only) > 1 and not touching:
            yield Finding("hint", text, remedy, field="shapes")

    def check_massless_parts(self) -> Iterator[Finding]:
        """Report parts that can move independently but have no mass; their accelerations would be unbounded."""
        bodies = {body.name: body for body in self.model.bodies}
        if not any(self.has_mass(body) for body in bodies.values()):
            if bodies and all(body.mass == 0.0 and body.inertia == NOTHING for body in bodies.values()):
                yield Finding("hint", "No body has mass: kinematics only.", "Give masses before you use dynamics.")
            return
        group = self.rigid_groups()
        heavy = {group[name] for name, body in bodies.items() if self.has_mass(body)} | {group[WORLD]}
        joints = [j for j in self.model.joints if j.info.nv]
        ends = [(group.get(j.parent, ""), group.get(j.child, ""), j) for j in joints]
        held = {group[end] for end in forces.constrained_frames(self.model) if end in group}
        for name in bodies:
            if group[name] in heavy:
                continue
            touching = [j for a, b, j in ends if group[name] in (a, b) and a != b]
            carried = any(self.evaluate_or_nan(j.armature) > 0.0 for j in touching)
            if len(touching) < 2 and not carried and group[name] not in held:
                heavy.add(group[name])  # one message per group
                yield _element_finding(
                    bodies[name],
                    "warning",
                    "It moves but has no mass: forward dynamics cannot be computed.",
                    "Give it mass, or fix it to its neighbour.",
                    "mass",
                )

    def check_point_masses(self) -> Iterator[Finding]:
        """Report end bodies that can rotate without moving any inertia."""
        group = self.rigid_groups()
        members = Counter(group[body.name] for body in self.model.bodies)
        moving: dict[str, list[Joint]] = {part: [] for part in members}
        for joint in self.model.joints:
            for part in {group[joint.parent], group[joint.child]} & members.keys() if joint.info.nv else ():
                moving[part].append(joint)
        held = {
            group[end]
            for each in self.model.constraints
            for end in self.bodies_kept_from_rotating(each)
            if end in group
        }
        for body in self.model.bodies:
            part = group[body.name]
            joints = moving[part]
            if part in (group[WORLD], *held) or members[part] > 1 or len(joints) > 1 or not self.is_point_mass(body):
                continue
            if joints and not self.can_turn_without_inertia(joints[0]):
                continue
            how = f"in the {joints[0].kind} joint '{joints[0].name}'" if joints else "freely"
            yield _element_finding(
                body,
                "warning",
                f"It is a point mass that turns {how} without any inertia: the mass matrix is singular.",
                "Give it the inertia of a small sphere, 2/5·m·r², or a joint in which it does not turn.",
                "inertia",
            )

    def is_point_mass(self, body: Body) -> bool:
        """Return True if a body has mass, but no inertia about its centre of mass."""
        moments = self.evaluate_vector([getattr(body.inertia, field.name) for field in declared_fields(Inertia)])
        return (
            body.density is None and self.evaluate_or_nan(body.mass) > 0.0 and bool((abs(moments) < NO_INERTIA).all())
        )

    def bodies_kept_from_rotating(self, constraint: Constraint) -> Iterator[str]:
        """Yield bodies and frames that a constraint may keep from rotating: all but those attached at their centre of
        mass."""
        points = {body.name for body in self.model.bodies if not self.evaluate_vector(body.center_of_mass).any()}
        for pair in constraint.connected_frames(self.model.sensors):
            yield from (end for end in pair if constraint.kind != "rod" or end not in points)

    def can_turn_without_inertia(self, joint: Joint) -> bool:
        """Return True if a point mass can rotate at its joint without moving any mass: joints with three or more
        degrees of freedom, some of them rotations. (A point has at most three degrees of freedom, and two about another
        point.)"""
        turns = "angular_velocity" in joint.info.speed_dimensions and joint.info.nv > 2
        return turns and not self.evaluate_or_nan(joint.armature) > 0.0

    def check_unconnected_bodies(self) -> Iterator[Finding]:
        """Report bodies without any joint, force or constraint, next to a machine with joints."""
        if not self.model.joints:
            return
        group = self.rigid_groups()
        ends = [
            end
            for each in (*self.model.joints, *self.model.forces, *self.model.constraints)
            for end in _connected_names(each)
        ]
        ends += forces.constrained_frames(self.model)
        sensors = {each.sensor for each in self.model.forces} | {each.sensor for each in self.model.drivers}
        ends += [end for sensor in self.model.sensors if sensor.name in sensors for end in (sensor.a, sensor.b)]
        held = {group[end] for end in ends if end in group}
        for body in self.model.bodies:
            if group[body.name] not in held:
                yield _element_finding(
                    body,
                    "hint",
                    "It is not connected to anything: it moves freely.",
                    "Connect it by a joint, unless it is meant to be free.",
                    "name",
                )

    def has_mass(self, body: Body) -> bool:
        return body.density is not None or self.evaluate_or_nan(body.mass) > 0.0

    def rigid_groups(self) -> dict[str, str]:
        """Return body or frame → representative of the rigid group that contains it."""
        leader = {name: name for name in (WORLD, *self.model.index("frame"))}

        def find_representative(name: str) -> str:
            while leader[name] != name:
                leader[name] = leader[leader[name]]
                name = leader[name]
            return name

        ties = [(frame.parent, frame.name) for frame in self.model.frames]
        ties += [(joint.parent, joint.child) for joint in self.model.joints if not joint.info.nv]
        for a, b in ties:
            leader[find_representative(a)] = find_representative(b)
        return {name: find_representative(name) for name in leader}

    # ------------------------------------------------------------------------------- shapes

    def check_shapes(self, body: Body) -> Iterator[Finding]:
        """Check the sizes and files of shapes, and whether the centre of mass lies far outside."""
        for number, shape in enumerate(body.shapes, 1):
            for name, given in shape.own_sizes():
                may_be_zero = name in shape.may_be_zero
                if (self.evaluate_vector(given) < (0.0 if may_be_zero else 1e-300)).any():
                    words = name.replace("_", " ")
                    said = f"{words} is negative" if may_be_zero else f"{words} is not positive"
                    remedy = "Give 0 or more." if may_be_zero else "Give a positive value."
                    yield _element_finding(body, "warning", f"Shape {number}: its {said}.", remedy, "shapes")
            if body.density is None:
                for text, remedy in find_oversized_hollows(shape, self.evaluate_or_nan):
                    yield _element_finding(body, "warning", f"Shape {number}: {text}", remedy, "shapes")
            if isinstance(shape, Mesh):
                yield from self.check_mesh_file(shape.file, "bodies", body.name, "shapes")
        yield from self.check_center_of_mass(body)

    def check_mesh_file(self, file: str, collection: str, name: str, field: str) -> Iterator[Finding]:
        if not file:
            yield Finding("warning", "The mesh has no file.", "Choose a file.", collection, name, field)
        elif self.problem_of is not None and field == "shapes":
            problem = self.problem_of(file, self.model.origin)
            if problem is not None:
                yield Finding("warning", *problem, collection, name, field)

    def check_center_of_mass(self, body: Body) -> Iterator[Finding]:
        if not body.shapes or body.density is not None or self.evaluate_or_nan(body.mass) <= 0.0:
            return
        if any(isinstance(shape, Mesh) for shape in body.shapes):
            return
        center = self.evaluate_vector(body.center_of_mass)
        distances = [
            math.dist(center, self.evaluate_vector(shape.pose.position))
            / max(shape.bounding_radius(self.evaluate_or_nan), 1e-300)
            for shape in body.shapes
        ]
        if min(distances) > FAR:
            yield _element_finding(
                body,
                "hint",
                "The centre of mass lies far outside its shapes.",
                "Check that it is given in metres, in the body's frame.",
                "center_of_mass",
            )

    # ------------------------------------------------------------------------------- joints

    def check_axes(self, joint: Joint) -> Iterator[Finding]:
        """Check the directions of a joint's axes."""
        if "axis" not in joint.info.uses:
            return
        axis = self.evaluate_vector(joint.axis)
        length = math.hypot(*axis)
        if length == 0.0:
            yield _element_finding(
                joint, "error", "Its axis has length zero.", "Give a direction such as 0, 0, 1.", "axis"
            )
            return
        if abs(length - 1.0) > UNIT_TOLERANCE:
            yield _element_finding(
                joint,
                "hint",
                f"Its axis has length {length:.4g}; only its direction is used.",
                "Give a unit vector.",
                "axis",
            )
        if "second_axis" in joint.info.uses:
            second = self.evaluate_vector(joint.second_axis)
            cosine = float((axis / length) @ (second / max(math.hypot(*second), 1e-300)))
            if abs(cosine) > 1.0 - PERPENDICULAR_TOLERANCE or not second.any():
                yield _element_finding(
                    joint,
                    "error",
                    "Its second axis is parallel to the first.",
                    "Choose it perpendicular to the first.",
                    "second_axis",
                )
            elif abs(cosine) > PERPENDICULAR_TOLERANCE:
                yield _element_finding(
                    joint,
                    "warning",
                    "Its axes are not perpendicular; the joint turns about both as given.",
                    "Choose the second perpendicular to the first.",
                    "second_axis",
                )
        if "pitch" in joint.info.uses and self.evaluate_or_nan(joint.pitch) == 0.0:
            yield _element_finding(
                joint, "warning", "A screw of pitch 0 does not advance.", "Give a pitch, or make it revolute.", "pitch"
            )

    def check_limits(self, joint: Joint) -> Iterator[Finding]:
        """Check bounds and reference position."""
        suffixes = joint.info.coordinates
        for number, limit in enumerate(joint.limits[: len(suffixes)]):  # unknown kinds have none
            low, high = self.evaluate_or_nan(limit.lower), self.evaluate_or_nan(limit.upper)
            measure = joint.info.coordinate_dimensions[number]
            which = f" of coordinate {suffixes[number]}" if len(suffixes) > 1 else ""
            yield from self.check_motor_limits(joint, limit, which)
            rest = self.evaluate_or_nan(joint.rest[number]) if number < len(joint.rest) else np.nan
            if rest < low or rest > high:
                yield _element_finding(
                    joint,
                    "warning",
                    f"The reference position{which} ({format_with_unit(rest, measure)}) lies outside "
                    f"the limits {format_range(low, high, measure)}.",
                    "Move it inside the limits.",
                    "rest",
                )

    def check_reference_position(self, joint: Joint) -> Iterator[Finding]:
        """Report implausible reference positions."""
        for value, measure in zip(joint.rest, joint.info.coordinate_dimensions, strict=False):
            rest, farthest = self.evaluate_or_nan(value), FARTHEST_REST.get(measure, math.inf)
            if farthest < abs(rest) < math.inf:
                yield _element_finding(
                    joint,
                    "warning",
                    f"The rest position {format_with_unit(rest, measure)} is implausible: more than "
                    f"{format_with_unit(farthest, measure)}.",
                    "Give it in rad or m, or with its unit.",
                    "rest",
                )
        first = joint.info.quaternion
        if joint.rest and first is not None:
            length = math.hypot(*(self.evaluate_or_nan(x) for x in joint.rest[first : first + 4]))
            if abs(length - 1.0) > UNIT_TOLERANCE:
                yield _element_finding(
                    joint,
                    "warning",
                    f"The quaternion of the reference position has length {length:g}, not 1.",
                    "Give (0, 0, 0, 1) for no rotation.",
                    "rest",
                )

    def check_motor_limits(self, joint: Joint, limit: Limit, coordinate: str) -> Iterator[Finding]:
        for field in RATES:
            value = self.evaluate_or_nan(getattr(limit, field))
            if value in NO_RATE:
                yield _element_finding(
                    joint,
                    "hint",
                    f"The largest {field}{coordinate} is {value:g}: runs treat it as unlimited.",
                    "Give a positive value, or leave it empty for no limit.",
                    "limits",
                )

    def check_couplings(self) -> Iterator[Finding]:
        """Report invalid leaders, and cycles of followers."""
        joints = {joint.name: joint for joint in self.model.joints}
        followers = {joint.name: joint.mimic.leader for joint in self.model.joints if joint.mimic is not None}
        circle_of = {name: circle for circle in find_cycles(followers) for name in circle}
        for joint in self.model.joints:
            if joint.mimic is None:
                continue
            leader = joints[joint.mimic.leader]
            if leader.info.nq != 1:
                yield _element_finding(
                    joint,
                    "error",
                    f"It follows '{leader.name}', which has {leader.info.nq} coordinates.",
                    "Follow a joint with one coordinate.",
                    "mimic",
                )
            if joint.name in circle_of:
                text = f"Joints follow each other in a cycle: {' → '.join(circle_of[joint.name])}."
                yield _element_finding(joint, "error", text, "Remove one of the couplings.", "mimic")
            elif self.evaluate_or_nan(joint.mimic.ratio) == 0.0:
                yield _element_finding(joint, "hint", "With ratio 0 it does not move.", "Give a ratio.", "mimic")


def _connected_names(element: Element) -> Iterator[str]:
    """Yield the names that an element connects."""
    for field in ("parent", "child", "a", "b", "frame"):
        end = getattr(element, field, "")
        if isinstance(end, str):
            yield end


def _element_finding(element: Body | Joint, severity: Severity, text: str, remedy: str, field: str) -> Finding:
    collection = "bodies" if isinstance(element, Body) else "joints"
    return Finding(severity, text, remedy, collection, element.name, field)
