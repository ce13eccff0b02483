"""Reading and setting of link lengths: the distance between two joints on a body, or between its only joint and its
tip.

A parameter that is the length takes a new one. Otherwise the far joint's place (or what stands at the tip: frames,
shapes), and every shape that spans exactly the two points, move along the line; formulas in them are kept unless one
says what shall become of them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from core.errors import ModelError
from core.model.bodies import Body
from core.model.fields import Value, coerce_value
from core.model.formula.expression import names_in_formula, parse
from core.model.formula.numerals import round_measured_number
from core.model.joints import Joint
from core.model.model import Model
from core.model.parameters import Parameter, evaluate_field, evaluate_finite_field
from core.model.shapes import Pose, Shape
from core.numerics.spatial.rotation import from_angles, from_quaternion

SPANNING = 1e-6
"""Tolerance, relative to the length, within which a shape is taken to reach from one point to the other."""
SAME = 1e-9
"""Relative difference below which a length is taken to be a function of a parameter (tested by varying the parameter).
"""
TRIALS = (1.0, 1.37, 0.71)
"""Factors applied to a parameter to test how a length depends on it."""

MOST_STEPS = 60

Formulas = Literal["keep", "offset", "number"]
Point = tuple[Value, Value, Value]


class JointPoint(NamedTuple):
    """Position (m) of a joint on a body, in the body's axes."""

    joint: str
    side: Literal["a", "b"]
    position: Point

    def at(self, values: Mapping[str, float]) -> tuple[float, ...]:
        """Return the position as numbers."""
        return tuple(float(evaluate_field(x, values)) for x in self.position)

    @property
    def defining_values(self) -> tuple[Value, ...]:
        """Return the values that determine the position."""
        return self.position

    @property
    def describe(self) -> str:
        """Return a description of the position as the document defines it."""
        return f"the joint '{self.joint}' is at ({', '.join(map(str, self.position))})"


class LinkTip(NamedTuple):
    """Free end of a link: the end of a shape that begins at the link's only joint. `sense` is its direction along the
    shape's axis."""

    shape: Shape
    axis: int
    sense: int
    joint: str = ""

    def at(self, values: Mapping[str, float]) -> tuple[float, ...]:
        """Return the position as numbers, m, in the body's axes."""
        ends = _shape_ends(self.shape, self.axis, self.shape.sizes_by_axis()[self.axis], values)
        return tuple(ends[1 if self.sense > 0 else 0])

    @property
    def defining_values(self) -> tuple[Value, ...]:
        """Return the values that determine the position."""
        return (*self.shape.pose.position, *self.shape.pose.rotation, self.shape.sizes_by_axis()[self.axis])

    @property
    def describe(self) -> str:
        """Return a description of the position as the document defines it."""
        return f"its {self.shape.word} is '{self.shape.sizes_by_axis()[self.axis]}' long"


LinkPoint = JointPoint | LinkTip


class AffineLength(NamedTuple):
    """A length that is an affine function of a parameter: slope · parameter + rest."""

    parameter: Parameter
    slope: float
    rest: float


def joint_points(model: Model, body: str) -> tuple[JointPoint, ...]:
    """Return the joints whose position on a body is stated explicitly, the parent joint first; of several joints at one
    position, only the first."""
    found: dict[tuple[float, ...], JointPoint] = {}
    values = model.values()
    for joint in sorted(model.joints, key=lambda joint: joint.child != body):
        if body not in (joint.parent, joint.child) or joint.given_in != "frames":
            continue
        side: Literal["a", "b"] = "a" if joint.parent == body else "b"
        point = JointPoint(joint.name, side, getattr(joint, side).position)
        place = point.at(values)
        if all(math.dist(place, other) > 0.0 for other in found):
            found[place] = point
    return tuple(found.values())


def link_points(model: Model, body: str) -> tuple[LinkPoint, ...]:
    """Return the points that define a body's lengths: its joints (see `joint_points`), and its tip if it has only one
    joint."""
    points = joint_points(model, body)
    moves = len(points) == 1 and 0 < model.find("joints", points[0].joint).info.nv < 6
    tip = link_tip(model, body, points[0]) if moves else None
    return points if tip is None else (*points, tip)


def link_tip(model: Model, body: str, joint: JointPoint) -> LinkTip | None:
    """Return the end of the shapes that begin at a joint of a body; None if there are none, or several ends."""
    values = model.values()
    start = joint.at(values)
    found: list[LinkTip] = []
    for shape in next((each.shapes for each in model.bodies if each.name == body), ()):
        for axis, size in shape.sizes_by_axis().items():
            low, high = _shape_ends(shape, axis, size, values)
            tolerance = SPANNING * math.dist(low, high)
            if math.dist(low, start) < tolerance:
                found.append(LinkTip(shape, axis, 1))
            elif math.dist(high, start) < tolerance:
                found.append(LinkTip(shape, axis, -1))
    places = [tip.at(values) for tip in found]
    one = found and all(math.dist(place, places[0]) < SPANNING * math.dist(start, places[0]) for place in places)
    return found[0] if one else None


def link_ends(model: Model, body: str, far: str = "") -> tuple[LinkPoint, LinkPoint] | None:
    """Return a body's first joint and the named other joint (by default the next one), or its tip; None if there is no
    second point."""
    points = link_points(model, body)
    others = [point for point in points[1:] if point.joint == far or not far]
    return (points[0], others[0]) if others else None


def current_link_length(model: Model, body: str, far: str = "", values: Mapping[str, float] | None = None) -> float:
    """Return the distance (m) from a body's first joint to another one, or to its tip; nan if it has neither."""
    ends = link_ends(model, body, far)
    values = model.values() if values is None else values
    return math.nan if ends is None else _distance_between(ends, values)


def _distance_between(ends: tuple[LinkPoint, LinkPoint], values: Mapping[str, float]) -> float:
    return math.dist(*(end.at(values) for end in ends))


def length_parameter(model: Model, body: str, far: str = "") -> AffineLength | None:
    """Return the independent parameter that a link's length depends on, if there is only one and the dependence is
    affine."""
    ends = link_ends(model, body, far)
    if ends is None:
        return None
    moved = length_parameters(model, body, far)
    if len(moved) != 1:
        return None
    x, y = _lengths_at_test_values(model, body, far)[moved[0]]
    slope = (y[1] - y[0]) / (x[1] - x[0])
    if not slope or abs(y[0] + slope * (x[2] - x[0]) - y[2]) > SAME * max(y):
        return None
    return AffineLength(
        model.find("parameters", moved[0]), _remove_rounding_error(slope), _remove_rounding_error(y[0] - slope * x[0])
    )


def _remove_rounding_error(value: float) -> float:
    """Round a number so that floating-point rounding errors vanish."""
    return 0.0 if abs(value) < SAME else round_measured_number(float(f"{value:.10g}"))


def is_length_locked(model: Model, body: str, far: str = "") -> bool:
    """Return True if a length is determined by formulas but is not an affine function of a single parameter."""
    ends = link_ends(model, body, far)
    return ends is not None and _depends_on_parameters(ends) and length_parameter(model, body, far) is None


def _depends_on_parameters(ends: tuple[LinkPoint, LinkPoint]) -> bool:
    return any(_is_formula(x) for end in ends for x in end.defining_values)


def length_parameters(model: Model, body: str, far: str = "") -> tuple[str, ...]:
    """Return the independent parameters on which the length of a link depends."""
    return tuple(
        name for name, (_, y) in _lengths_at_test_values(model, body, far).items() if max(y) - min(y) > SAME * max(y)
    )


def _lengths_at_test_values(model: Model, body: str, far: str) -> dict[str, tuple[list[float], list[float]]]:
    """Return test values of each independent parameter and the lengths of the link for them, m."""
    ends, values, found = link_ends(model, body, far), model.values(), {}
    if ends is None or not _depends_on_parameters(ends):
        return {}
    for each in model.parameters:
        if not isinstance(each.value, str):
            x = [factor * (values[each.name] or 0.1) for factor in TRIALS]
            found[each.name] = x, [_distance_between(ends, model.values({each.name: value})) for value in x]
    return found


def link_length(
    model: Model, body: str, length: Any, *, far: str = "", formulas: Formulas = "keep", parameter: str = ""
) -> Model:
    """Return the model with the length of a link set (a number in m, a text with a unit, or a formula).

    far      : the joint at its far end; the first after the one that carries the body, if none is named
    formulas : of the far joint's place and of shapes that reach there: `keep` them (a parameter that the length depends
               on evenly takes the value), add an `offset`, or write a `number` instead
    parameter: the one that shall be changed, whatever the formulas are
    Raises ModelError where a length makes no sense, or a formula would have to be overwritten.
    """
    where = f"body '{body}', length"
    model.find("bodies", body)
    ends = link_ends(model, body, far)
    if ends is None:
        raise ModelError(
            "The body has neither two joints at different positions nor a shape that extends from its joint "
            "to a single tip."
            if not far
            else f"The joint '{far}' is not at the far end of the body.",
            where=where,
            remedy="Connect the body by a second joint, given in the bodies' frames.",
        )
    value = coerce_value(length)
    wanted = float(evaluate_finite_field(value, model.values(), where))
    if wanted <= 0.0:
        raise ModelError(f"A link cannot be {wanted:g} m long.", where=where, remedy="Give a length above zero.")
    if parameter:
        return _solve_length_parameter(model, body, far, parameter, wanted)
    if formulas == "keep" and _depends_on_parameters(ends):
        return _set_length_parameter(model, body, far, value, wanted)
    return _move_far_end(model, model.find("bodies", body), ends, value, wanted, formulas)


def _set_length_parameter(model: Model, body: str, far: str, value: Value, target_length: float) -> Model:
    """Return the model with the length set through the parameter it depends on."""
    affine = length_parameter(model, body, far)
    if affine is None:
        ends = link_ends(model, body, far)
        assert ends is not None
        raise ModelError(
            f"The length follows from formulas: {ends[1].describe}.",
            where=f"body '{body}', length",
            remedy="Change one of their parameters, or choose to add an offset or to write a number instead.",
        )
    parameter, slope, rest = affine
    if (slope, rest) == (1.0, 0.0):
        new = value
    elif _is_formula(value):
        new = f"(({value}) - {rest!r})/{slope!r}"
    else:
        new = round_measured_number((target_length - rest) / slope)
    return _replace_element(model, "parameters", dataclasses.replace(parameter, value=new))


def _solve_length_parameter(model: Model, body: str, far: str, parameter: str, target_length: float) -> Model:
    """Return the model with a parameter adjusted so that a link has the target length; solved by the secant method from
    its current value."""
    x = float(model.values()[parameter])
    before, step = current_link_length(model, body, far) - target_length, 0.01 * (x or 0.1)
    for _ in range(MOST_STEPS):
        x += step
        error = current_link_length(model, body, far, model.values({parameter: x})) - target_length
        if abs(error) <= SAME * target_length:
            found: Parameter = model.find("parameters", parameter)
            return _replace_element(model, "parameters", dataclasses.replace(found, value=_remove_rounding_error(x)))
        if error == before:
            break
        before, step = error, -step * error / (error - before)
    raise ModelError(
        f"No value of '{parameter}' near its current value makes the link {target_length:g} m long.",
        where=f"body '{body}', length",
        remedy="Choose another parameter, add an offset, or write a number.",
    )


def _move_far_end(
    model: Model, body: Body, ends: tuple[LinkPoint, LinkPoint], value: Value, target_length: float, formulas: Formulas
) -> Model:
    """Return the model with the far end of a link moved along the line, and the shapes that reach from end to end
    resized."""
    values = model.values()
    near, far = (end.at(values) for end in ends)
    line = _LengthChange(near, far, value, target_length, formulas == "offset")
    shapes = tuple(line.resize_shape(shape, values, body.name, formulas) for shape in body.shapes)
    model = _replace_element(model, "bodies", dataclasses.replace(body, shapes=shapes))
    if isinstance(ends[1], LinkTip):
        return _move_tip(model, body.name, line, formulas)
    joint: Joint = model.find("joints", ends[1].joint)
    side: Pose = getattr(joint, ends[1].side)
    position = line.position_on_line(1.0, side.position)
    there: dict[str, Any] = {ends[1].side: dataclasses.replace(side, position=position)}
    moved = dataclasses.replace(joint, **there)
    return _replace_element(model, "joints", moved)


def _move_tip(model: Model, body: str, line: _LengthChange, formulas: Formulas) -> Model:
    """Return the model with the frames and shapes at the tip of a link moved along with it; `formulas` selects how
    their formulas change."""
    values = model.values()

    def moved_fields(part: Any) -> Any:
        position = part.pose.position
        kept = formulas == "keep" and any(map(_is_formula, position))
        if kept or math.dist([float(evaluate_field(x, values)) for x in position], line.far) > SPANNING * line.length:
            return part
        return dataclasses.replace(
            part, pose=dataclasses.replace(part.pose, position=line.position_on_line(1.0, position))
        )

    old: Body = model.find("bodies", body)
    new = dataclasses.replace(old, shapes=tuple(map(moved_fields, old.shapes)))
    frames = tuple(moved_fields(frame) if frame.parent == body else frame for frame in model.frames)
    return dataclasses.replace(_replace_element(model, "bodies", new), frames=frames)


class _LengthChange:
    """Change of length along the line from the near joint to the far one; maps positions on the old line to the new
    one."""

    def __init__(
        self, near: Sequence[float], far: Sequence[float], value: Value, target_length: float, adds: bool = False
    ) -> None:
        self.near, self.far, self.value, self.wanted, self.adds = near, far, value, target_length, adds
        self.length = math.dist(near, far)
        self.direction = [_remove_rounding_error((b - a) / self.length) for a, b in zip(near, far, strict=True)]

    def position_on_line(self, fraction: float, old: Sequence[Value]) -> Point:
        """Return the position at a fraction of the new length; coordinates that do not change keep their old values."""
        x, y, z = (self._coordinate_at(k, fraction, each) for k, each in enumerate(old))
        return x, y, z

    def _coordinate_at(self, axis: int, fraction: float, old: Value) -> Value:
        slope = fraction * self.direction[axis]
        if slope == 0.0:
            return old
        if self.adds and _is_formula(old):
            return _add_to_formula(old, slope * (self.wanted - self.length))
        if isinstance(self.value, str) and _is_formula(self.value):
            return _format_affine(self.near[axis], slope, self.value)
        return round_measured_number(self.near[axis] + slope * self.wanted)

    def resize_shape(self, shape: Shape, values: Mapping[str, float], body: str, formulas: Formulas) -> Shape:
        """Return a shape that reaches from end to end with its new length; other shapes unchanged."""
        axis = next(
            (
                k
                for k, size in shape.sizes_by_axis().items()
                if self._reaches_end_to_end(_shape_ends(shape, k, size, values))
            ),
            None,
        )
        if axis is None:
            return shape
        size = shape.sizes_by_axis()[axis]
        if formulas == "keep" and any(_is_formula(x) for x in (*shape.pose.position, size)):
            raise ModelError(
                f"The size of a shape between the joints is a formula ('{size}').",
                where=f"body '{body}', length",
                remedy="Change its parameter, or choose to add an offset or to write a number instead.",
            )
        long: Value = self.value if _is_formula(self.value) else round_measured_number(self.wanted)
        if self.adds and _is_formula(size):
            long = _add_to_formula(size, self.wanted - self.length)
        pose = dataclasses.replace(shape.pose, position=self.position_on_line(0.5, shape.pose.position))
        return dataclasses.replace(shape.with_size_along(axis, long), pose=pose)

    def _reaches_end_to_end(self, ends: tuple[Sequence[float], Sequence[float]]) -> bool:
        tolerance = SPANNING * self.length
        pairs = ((self.near, self.far), (self.far, self.near))
        return any(all(math.dist(a, b) < tolerance for a, b in zip(ends, pair, strict=True)) for pair in pairs)


def _shape_ends(
    shape: Shape, axis: int, size: Value, values: Mapping[str, float]
) -> tuple[Sequence[float], Sequence[float]]:
    """Return both ends of a shape's size along one of its axes, (3,), (3,) m, in the body's axes."""
    middle = [float(evaluate_field(x, values)) for x in shape.pose.position]
    turn = [float(evaluate_field(x, values)) for x in shape.pose.rotation]
    R = from_quaternion(turn) if len(turn) == 4 else from_angles(turn)
    half = float(evaluate_field(size, values)) / 2.0
    step = [half * float(row[axis]) for row in R]
    return [m - s for m, s in zip(middle, step, strict=True)], [m + s for m, s in zip(middle, step, strict=True)]


def _is_formula(value: Value) -> bool:
    """Return True if a value depends on parameters."""
    return isinstance(value, str) and bool(names_in_formula(parse(value)))


def _add_to_formula(formula: Value, step: float) -> str:
    """Return the sum of a formula and a number (m)."""
    step = round_measured_number(step)
    return f"{formula} {'-' if step < 0.0 else '+'} {abs(step)!r}"


def _format_affine(start: float, slope: float, formula: str) -> str:
    """Return the formula start + slope · formula as text."""
    text = formula if slope == 1.0 else f"{slope!r}*({formula})"
    return text if start == 0.0 else f"{start!r} + {text}"


def _replace_element(model: Model, collection: str, new: Any) -> Model:
    old = getattr(model, collection)
    changed: dict[str, Any] = {collection: tuple(new if each.name == new.name else each for each in old)}
    return dataclasses.replace(model, **changed)
