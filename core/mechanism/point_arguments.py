"""Points of frames, momenta and Christoffel coefficients, as `Mechanism` asks for them: names of compiled functions and
their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError, SimulationError
from core.mechanics.multibody.parameter_values import Values
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]

CENTER = "center"
"""Word for the centre of mass among the points of a momentum."""
WHOLE = "center of mass"
"""The same in names of compiled functions (`core.programs.coriolis`); no frame has such a name."""
ORIGIN: Array = np.zeros(3)
ORIGIN.flags.writeable = False


class PointOfFrame(NamedTuple):
    """Point of a moving frame: detail of the names of compiled functions about it (`core.programs.frame_motion`), and
    its coordinates (…, 3) in the reference frame, m."""

    detail: str
    point: Array


def describe_point(
    compiled: CompiledModel, frame: str, reference: str, axes: str, point: Any, relative_to: str | None
) -> PointOfFrame:
    """Check the names and coordinates that describe a Jacobian; without a point the frame's origin is meant."""
    base = "world" if relative_to is None else relative_to
    for name in (frame, reference, axes, base):
        compiled.check_frame_name(name)
    if point is None:
        return PointOfFrame(f"{frame} {frame} {axes} {base}", ORIGIN)
    return PointOfFrame(f"{frame} {reference} {axes} {base}", read_vectors(point, 3, "point", "x, y, z in m"))


def read_vectors(value: Any, size: int, where: str, meaning: str) -> Array:
    """Return an array (…, size) of finite numbers. Raises ModelError."""
    try:
        found = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ModelError("This is not an array of numbers.", where=where, remedy=f"Give {meaning}.") from None
    if found.shape[-1:] != (size,) or not np.isfinite(found).all():
        trouble = "numbers that are not finite" if found.shape[-1:] == (size,) else f"shape {found.shape}"
        raise ModelError(
            f"{size} finite numbers are needed; there are {trouble}.", where=where, remedy=f"Give {meaning}."
        )
    return found


def find_momentum(
    compiled: CompiledModel,
    function: str,
    states: tuple[Any, ...],
    about: str | Sequence[float] | Array,
    p: Values,
) -> Array:
    """Evaluate the momentum, or its matrix, about a point."""
    point, place = ORIGIN, "world"
    if isinstance(about, str):
        place = WHOLE if about == CENTER else compiled.check_frame_name(about)
    else:
        point = read_vectors(about, 3, "about", 'x, y, z in m, the name of a frame, or "center"')
    try:
        return compiled.call(f"{function}:{place}", *states, point, p=p)
    except SimulationError:
        if place != WHOLE or not all(np.isfinite(np.asarray(each, dtype=float)).all() for each in states):
            raise
        raise ModelError(
            "Nothing has mass, so there is no centre of mass.",
            where="about",
            remedy='Give a body a mass, or name a frame, for example about="world".',
        ) from None


def christoffel_coefficients(compiled: CompiledModel, q: Any, p: Values) -> Array:
    """(…, nv, nv, nv) coefficients Γ with C_ij = Σ_k Γ_ijk v_k. C is linear in v, so its columns at unit speeds are
    exact."""
    q, values = np.asarray(q, dtype=float), compiled.parameter_values(p)
    if not compiled.nv:
        return np.zeros((*np.broadcast_shapes(q.shape[:-1], values.shape[:-1]), 0, 0, 0))
    each = None if p is None else values[..., None, :] if values.ndim > 1 else values
    by_speed = compiled.call("coriolis", q[..., None, :], np.eye(compiled.nv), p=each)
    return np.ascontiguousarray(np.moveaxis(by_speed, -3, -1))
