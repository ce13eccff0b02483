"""Editing of dimensions (lengths of links, angles of ground links, positions of ground pins) with loop closure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from core.design.linkage.closing import followed
from core.design.linkage.drawing import Drawing, Pin
from core.design.linkage.drawn_links import carrier_of
from core.design.linkage.plane import XZ, Plane, Point, written
from core.errors import ModelError
from core.model import Model
from core.model.edits.edits import change, rename, replace
from core.model.fields import Value
from core.model.parameters import value_of


def dimension(model: Model, parameter: str, value: Value) -> Model:
    """Set a parameter, such as the length of a link, to a number (SI) or formula; loops close again on their branch.
    Raises ModelError with the remaining gap and the range that would close."""
    old = model.find("parameters", parameter)
    before = model.values()[parameter]
    new = change(model, "parameters", parameter, value=value)
    after = float(new.values()[parameter])
    if old.dimension == "length" and not after > 0.0:
        raise ModelError(
            f"A link cannot be {after:g} m long.",
            where=f"parameter '{parameter}', value",
            remedy="Give a length greater than zero.",
        )

    def changed(x: float) -> Model:
        return new if x == after else change(model, "parameters", parameter, value=x)

    return followed(changed, before, after, old.dimension, f"parameter '{parameter}'")


def named_dimension(model: Model, parameter: str, name: str, value: Value) -> Model:
    """Set a parameter and rename it, as typed in the form `name = value`."""
    return dimension(rename(model, "parameters", parameter, name), name, value)


def link_angle(model: Model, joint: str, angle: Value, *, plane: Plane = XZ) -> Model:
    """Set the reference angle (rad) of a link at a ground pin, from the plane's first axis."""
    found = model.find("joints", joint)
    start = float(value_of(found.rest[0], model.values())) if found.rest else 0.0
    turned = Drawing(model, plane).angle(found.parent)
    wanted = math.remainder(float(value_of(angle, model.values(), "angle")) - turned - start, 2.0 * math.pi) + start
    from core.design.linkage.closing import rested, with_rest
    from core.mechanism import Mechanism

    moved = with_rest(model, found, wanted)
    mech = Mechanism(model)
    if not mech.constrained:
        return moved
    new = Mechanism(moved)
    free = Mechanism(dataclasses.replace(moved, drivers=()))
    return rested(moved, new, free.move(mech.rest(), {joint: wanted}, exact=True))


def ground_distance(model: Model, pin: str, other: str, distance: float, *, plane: Plane = XZ) -> Model:
    """Move a ground pin along the line from another one to a distance (m); all lengths are kept, and the loops close
    again."""
    drawing = Drawing(model, plane)
    moved, fixed = drawing.pin(pin), drawing.pin(other)
    line = math.dist(moved.point, fixed.point)
    number = float(value_of(distance, drawing.values, "length"))
    if not number > 0.0 or not line > 0.0:
        raise ModelError(
            f"Two pins cannot be {number:g} m apart.", where=f"pins {other} and {pin}", remedy="Give one above zero."
        )

    def changed(x: float) -> Model:
        share = x / line
        u, v = (a + share * (b - a) for a, b in zip(fixed.point, moved.point, strict=True))
        return ground_point(model, drawing, moved, (u, v))

    return followed(changed, line, number, "length", f"pins {other} and {pin}")


def ground_point(model: Model, drawing: Drawing, pin: Pin, point: Point) -> Model:
    """Move a ground pin, and others at the same point, to another point without closing loops."""
    x, y, z = (written(each) for each in drawing.local(pin.joint.parent, point))
    for each in drawing.pins_at(pin.point):
        joint = model.find("joints", each.name)
        if carrier_of(model, joint.parent) == carrier_of(model, pin.joint.parent):
            a = dataclasses.replace(joint.a, position=(x, y, z))
            model = replace(model, joint, dataclasses.replace(joint, a=a))
    return model


def ground_pins(drawing: Drawing) -> Sequence[Pin]:
    """Pins on the plane's parent body, one for each point."""
    stands, found = carrier_of(drawing.model, drawing.plane.parent), list[Pin]()
    for pin in drawing.pins:
        if carrier_of(drawing.model, pin.joint.parent) == stands and not any(
            math.dist(pin.point, other.point) < 1e-9 for other in found
        ):
            found.append(pin)
    return found
