"""Conversion of joints given in world axes at the assembled reference pose to the frames of their bodies.

With X_WB the pose of a body in the reference pose and X_Wj the joint's frame there, at q = 0:

    X_Ba = X_WB⁻¹ X_Wj   on either side,        axis in a = R_Wjᵀ · axis in the world

Positions and axes may be formulas; rotations must be plain numbers, so that the results are formulas again. A frame is
carried by the body, the ground or the junction to which its chain of frames is attached.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.model.bodies import WORLD, Body, Frame, World
from core.model.fields import Value
from core.model.forces import Junction
from core.model.formula.expression import (
    Binary,
    Negative,
    Node,
    Number,
    evaluate,
    format_formula,
    names_in_formula,
    parse,
)
from core.model.joints import Joint
from core.model.shapes import IDENTITY, Pose

Carrier = Body | World | Junction
"""An element that carries frames: body, ground or junction."""


class Placement(NamedTuple):
    """Position of a body, frame or junction relative to its carrier."""

    carrier: Carrier
    frames: tuple[Frame, ...] = ()
    """Frames from the carrier outwards, the frame itself last. The product of their poses is the frame's pose on the
    carrier; they may contain formulas, so that a single pose of the document could not express it."""


def compute_placements(
    world: World, carriers: Iterable[Body | Junction], frames: Iterable[Frame]
) -> dict[str, Placement]:
    """Return name → placement of the ground and of all bodies, junctions and frames."""
    by_name = {frame.name: frame for frame in frames}
    found = {WORLD: Placement(world), **{each.name: Placement(each) for each in carriers}}
    for name in by_name:
        below = carrier_and_frames(name, by_name)[1]
        found[name] = Placement(found[below[0].parent].carrier, below)
    return found


def carrier_and_frames(name: str, frames: Mapping[str, Frame]) -> tuple[str, tuple[Frame, ...]]:
    """Return the name of the carrier of `name`, and the frames from the carrier outwards.

    Frames that hang on each other in a circle (which a model is not allowed) are walked once.
    """
    below: dict[str, Frame] = {}
    while name in frames and name not in below:
        below[name] = frames[name]
        name = frames[name].parent
    return name, tuple(reversed(below.values()))


Matrix = NDArray[np.float64]
_TINY = 4e-16
"""Entries of a rotation below this are rounding errors."""


def joint_in_body_frames(joint: Joint, bodies: Mapping[str, Body], frames: Mapping[str, Frame]) -> Joint:
    """Return the joint with a, b and axis given in the frames of its bodies (the joint itself if they already are).

    Raises ModelError when a body has no reference pose, or a rotation is a formula with names.
    """
    if joint.given_in == "frames":
        return joint
    where = f"joint '{joint.name}', given_in"
    R_Wj, at = _rotation_matrix(joint.a, where), joint.a.position
    sides = {}
    for side, name in (("parent", joint.parent), ("child", joint.child)):
        body, _ = carrier_and_frames(name, frames)
        reference = _reference_pose(body, bodies, where)
        R_WB = _rotation_matrix(reference, f"body '{body}', reference")
        offset = [subtract(p, o) for p, o in zip(at, reference.position, strict=True)]
        sides[side] = (
            body,
            Pose(position=rotate_vector(R_WB.T, offset), rotation=_quaternion_from_matrix(R_WB.T @ R_Wj)),
        )
    return dataclasses.replace(
        joint,
        parent=sides["parent"][0],
        child=sides["child"][0],
        a=sides["parent"][1],
        b=sides["child"][1],
        axis=rotate_vector(R_Wj.T, joint.axis),
        second_axis=rotate_vector(R_Wj.T, joint.second_axis),
        given_in="frames",
    )


def _reference_pose(body: str, bodies: Mapping[str, Body], where: str) -> Pose:
    if body == WORLD or body not in bodies:
        return IDENTITY
    reference = bodies[body].reference
    if reference is None:
        raise ModelError(
            f"The joint is given in world axes, but '{body}' has no reference pose.",
            where=where,
            remedy=f"Give '{body}' a reference pose, or the joint in the bodies' frames.",
        )
    return reference


def _rotation_matrix(pose: Pose, where: str) -> Matrix:
    """Return the (3, 3) rotation of a pose that does not depend on parameters."""
    numbers = []
    for value in pose.rotation:
        if isinstance(value, str) and names_in_formula(parse(value)):
            raise ModelError(
                f"A rotation that depends on parameters ('{value}') cannot be used here.",
                where=where,
                remedy="Give the rotation in numbers, or the joint in the bodies' frames.",
            )
        numbers.append(float(evaluate(parse(value), {})) if isinstance(value, str) else value)
    if len(numbers) == 4:
        if not any(numbers):
            raise ModelError("A quaternion of length zero is not a rotation.", where=where, remedy="Use 0, 0, 0, 1.")
        return _remove_rounding_errors(_scipy_rotation().from_quat(numbers).as_matrix())
    return _remove_rounding_errors(_scipy_rotation().from_euler("xyz", numbers).as_matrix())


def _remove_rounding_errors(matrix: Matrix) -> Matrix:
    nearest = np.round(matrix)
    return np.where(abs(matrix - nearest) < _TINY, nearest, matrix)


def _quaternion_from_matrix(matrix: Matrix) -> tuple[Value, ...]:
    if abs(matrix - np.eye(3)).max() < _TINY:
        return (0.0, 0.0, 0.0)
    return tuple(float(x) for x in _scipy_rotation().from_matrix(matrix).as_quat())


# ------------------------------------------------------------------------------- numbers and formulas


def rotate_vector(matrix: Matrix, vector: Iterable[Value]) -> tuple[Value, Value, Value]:
    """Return matrix · vector; the vector may contain formulas."""
    items = tuple(vector)
    x, y, z = (_weighted_sum(zip(row, items, strict=True)) for row in matrix)
    return x, y, z


def subtract(a: Value, b: Value) -> Value:
    """Return a − b of numbers or formulas."""
    return _weighted_sum(((1.0, a), (-1.0, b)))


def _weighted_sum(terms: Iterable[tuple[float, Value]]) -> Value:
    number, total = 0.0, None
    for factor, value in terms:
        if isinstance(value, str) and factor != 0.0:
            total = _add_term(total, float(factor), parse(value))
        elif not isinstance(value, str):
            number += factor * value
    if total is None:
        return float(number)
    if number != 0.0:
        total = Binary("+" if number > 0.0 else "-", total, Number(abs(float(number))))
    return format_formula(total)


def _add_term(total: Node | None, factor: float, node: Node) -> Node:
    part = node if abs(factor) == 1.0 else Binary("*", Number(abs(factor)), node)
    if total is None:
        return part if factor > 0.0 else Negative(part)
    return Binary("+" if factor > 0.0 else "-", total, part)


def _scipy_rotation() -> Any:
    """Return SciPy's rotation class, imported on first use."""
    from scipy.spatial.transform import Rotation

    return Rotation
