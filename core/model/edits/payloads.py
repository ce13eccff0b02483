"""A payload on a frame: a body whose mass, centre of mass and inertia are parameters of the model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from core.errors import ModelError, suggest_names
from core.model.bodies import Body, Inertia
from core.model.edits.edits import add, replace
from core.model.joints import Joint
from core.model.model import Model
from core.model.parameters import Parameter

BODY, MOUNT = "payload", "payload_mount"
_CENTER = ("payload_x", "payload_y", "payload_z")
_MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
MASS = "payload_mass"


def with_payload(
    model: Model, mass: float, center: Sequence[float] = (0.0, 0.0, 0.0), inertia: Any = None, frame: str = ""
) -> Model:
    """Return the model with a payload on a frame, or with other numbers for the payload that is there.

    mass : kg; center : of mass in the frame, m; inertia : about it in the frame's axes, kg·m²: (3, 3), or three
    moments; None: a point mass
    """
    values = dict(zip((MASS, *_CENTER), (mass, *_vector(center)), strict=True)) | _moments(inertia)
    for name, value in values.items():
        _check(name, value)
    there = next((joint for joint in model.joints if joint.name == MOUNT and joint.child == BODY), None)
    if there is not None:
        if frame not in ("", there.parent):
            raise ModelError(
                f"There is a payload on '{there.parent}' already.",
                where=f"joint '{MOUNT}'",
                remedy="Remove it, or name its frame.",
            )
        for name, value in values.items():
            old = next(each for each in model.parameters if each.name == name)
            model = replace(model, old, Parameter(name=name, value=value, dimension=old.dimension, minimum=old.minimum))
        return model
    whole = model.expanded
    carriers = [*(body.name for body in whole.bodies), *(each.name for each in whole.frames)]
    if frame not in carriers:
        raise ModelError(f"There is no frame '{frame}'.", where="frame", remedy=suggest_names(frame, carriers))
    parameters = [
        Parameter(name=name, value=value, dimension=_dimension(name), minimum=0.0 if name == MASS else None)
        for name, value in values.items()
    ]
    body = Body(
        name=BODY,
        mass=MASS,
        center_of_mass=_CENTER,
        inertia=Inertia(**{name: f"payload_{name}" for name in _MOMENTS}),
        description="What the tool carries",
    )
    return add(model, *parameters, body, Joint(name=MOUNT, kind="fixed", parent=frame, child=BODY))


def _dimension(name: str) -> str:
    return "mass" if name == MASS else "length" if name in _CENTER else "inertia"


def _vector(numbers: Sequence[float]) -> tuple[float, float, float]:
    try:
        x, y, z = (float(each) for each in numbers)
    except (TypeError, ValueError):
        raise ModelError("A centre of mass is three numbers x, y, z in m.", where="center") from None
    return x, y, z


def _moments(inertia: Any) -> dict[str, float]:
    """Parameters of an inertia: none, three moments, or a symmetric matrix."""
    if inertia is None:
        rows = [[0.0] * 3 for _ in range(3)]
    else:
        given = inertia.tolist() if hasattr(inertia, "tolist") else list(inertia)
        try:
            plain = [float(each) for each in given] if not isinstance(given[0], list | tuple) else None
            rows = (
                [[plain[i] if i == k else 0.0 for k in range(3)] for i in range(3)]
                if plain is not None
                else [[float(given[i][k]) for k in range(3)] for i in range(3)]
            )
        except (TypeError, ValueError, IndexError):
            raise ModelError("An inertia is three moments or a matrix 3×3, kg·m².", where="inertia") from None
    if any(
        abs(rows[i][k] - rows[k][i]) > 1e-9 * (abs(rows[i][k]) + abs(rows[k][i])) for i in range(3) for k in range(i)
    ):
        raise ModelError("The inertia's matrix is not symmetric.", where="inertia")
    numbers = (rows[0][0], rows[1][1], rows[2][2], rows[0][1], rows[0][2], rows[1][2])
    return {f"payload_{name}": number for name, number in zip(_MOMENTS, numbers, strict=True)}


def _check(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ModelError(f"{value!r} is not a finite number.", where=name)
    if name == MASS and value < 0.0:
        raise ModelError("A payload's mass is not negative.", where=name)
