"""Camera of the scene: an immutable view, and pure functions that return a changed one.

World z is up (turntable). Pixels count from the upper left corner of the picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import atan2, cos, pi, radians, sin, tan
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from vtkmodules.vtkRenderingCore import vtkCamera

from core.later import dataclass
from viz.placement import Array, corners
from viz.placement import extent as extent

FIELD_OF_VIEW = radians(26.0)
"""Vertical field of view, narrow enough that parallel axes look parallel."""
MARGIN = 1.12
"""Size of the picture relative to its fitted content."""
MAX_ELEVATION = pi / 2.0

PRESETS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "iso": (radians(-52.0), radians(26.0)),
        "front": (radians(-90.0), 0.0),
        "back": (radians(90.0), 0.0),
        "right": (0.0, 0.0),
        "left": (radians(180.0), 0.0),
        "top": (radians(-90.0), MAX_ELEVATION),
        "bottom": (radians(-90.0), -MAX_ELEVATION),
    }
)
"""Azimuth and elevation (rad) of the eye as seen from the target; the front view looks along +y, x to the right."""


class Ray(NamedTuple):
    """Line of sight: (3,) origin in m and (3,) unit direction, world axes."""

    origin: Array
    direction: Array

    def at(self, distance: float) -> Array:
        """Return the point (3,) at a distance along the ray."""
        return self.origin + distance * self.direction


@dataclass(frozen=True)
class View:
    """Camera view. target (m), the point looked at; distance (m) of the eye; azimuth and elevation (rad) of the eye
    about it."""

    target: tuple[float, float, float] = (0.0, 0.0, 0.0)
    distance: float = 3.0
    azimuth: float = PRESETS["iso"][0]
    elevation: float = PRESETS["iso"][1]
    parallel: bool = False

    @property
    def axes(self) -> Array:
        """Camera axes (3, 3), columns right, up, toward the eye, in world axes."""
        ca, sa, ce, se = cos(self.azimuth), sin(self.azimuth), cos(self.elevation), sin(self.elevation)
        return np.array([[-sa, -se * ca, ce * ca], [ca, -se * sa, ce * sa], [0.0, ce, se]])

    @property
    def eye(self) -> Array:
        """Position of the eye (3,), m."""
        return np.array(self.target) + self.distance * self.axes[:, 2]

    @property
    def half_height(self) -> float:
        """Half the height of the visible area at the target's depth, m."""
        return self.distance * tan(FIELD_OF_VIEW / 2.0)


def orbit(view: View, yaw: float, pitch: float, pivot: ArrayLike | None = None) -> View:
    """Rotate the view about z by `yaw` and tilt it by `pitch` (rad) about the target or a pivot point."""
    elevation = min(max(view.elevation + pitch, -MAX_ELEVATION), MAX_ELEVATION)
    turned = replace(view, azimuth=_wrapped_angle(view.azimuth + yaw), elevation=elevation)
    if pivot is None:
        return turned
    arm = view.axes.T @ (np.array(view.target) - np.asarray(pivot, dtype=float))
    return replace(turned, target=_point(np.asarray(pivot) + turned.axes @ arm))


def pan(view: View, right: float, up: float) -> View:
    """Move the view in its own plane by fractions of the picture's height, so that the content moves by that much."""
    shift = view.axes[:, :2] @ np.array([right, up]) * 2.0 * view.half_height
    return replace(view, target=_point(np.array(view.target) - shift))


def zoom(view: View, factor: float, at: ArrayLike | None = None) -> View:
    """Move the view `factor` times nearer (> 1) or farther; the point `at` keeps its position in the picture."""
    distance = min(max(view.distance / factor, 1e-6), 1e9)
    scale = distance / view.distance
    target = np.array(view.target)
    fixed = target if at is None else np.asarray(at, dtype=float)
    return replace(view, distance=distance, target=_point(fixed + scale * (target - fixed)))


def preset(view: View, name: str) -> View:
    """Return the view from a named side (a key of PRESETS), with unchanged target and distance."""
    azimuth, elevation = PRESETS[name]
    return replace(view, azimuth=azimuth, elevation=elevation)


def toward(view: View, direction: ArrayLike) -> View:
    """Return the view with the eye in a direction (3,) from the target."""
    x, y, z = np.asarray(direction, dtype=float)
    flat = float(np.hypot(x, y))
    azimuth = atan2(y, x) if flat > 1e-6 else PRESETS["top"][0]
    return replace(view, azimuth=azimuth, elevation=atan2(z, flat))


def fit(view: View, bounds: ArrayLike, aspect: float = 1.5, margin: float = MARGIN) -> View:
    """Return the view that centres a box (xmin, xmax, ymin, ymax, zmin, zmax) and shows it just within the picture.

    aspect : width / height of the picture
    """
    low, high = np.asarray(bounds, dtype=float).reshape(3, 2).T
    if not (np.isfinite(low).all() and np.isfinite(high).all()) or (high < low).any():
        return view
    middle = (low + high) / 2.0
    seen = (corners(bounds) - middle) @ view.axes
    slope = tan(FIELD_OF_VIEW / 2.0)
    need = np.maximum(np.abs(seen[:, 1]), np.abs(seen[:, 0]) / aspect) * margin
    depth = 0.0 if view.parallel else seen[:, 2]
    distance = float(np.max(need / slope + depth))
    return replace(view, target=_point(middle), distance=max(distance, 1e-4))


def sees(view: View, size: tuple[int, int], bounds: ArrayLike) -> bool:
    """Return True if a box (xmin, xmax, ymin, ymax, zmin, zmax) lies entirely inside a picture of this size."""
    pixels = [project(view, size, corner) for corner in corners(bounds)]
    return all(0.0 <= x <= size[0] and 0.0 <= y <= size[1] for x, y in pixels)


def between(start: View, end: View, t: float) -> View:
    """Interpolate between two views, t = 0 … 1: the shorter way round, eased at both ends."""
    s = t * t * (3.0 - 2.0 * t)
    turn = _wrapped_angle(end.azimuth - start.azimuth)
    target = (1.0 - s) * np.array(start.target) + s * np.array(end.target)
    return View(
        _point(target),
        start.distance ** (1.0 - s) * end.distance**s,
        _wrapped_angle(start.azimuth + s * turn),
        (1.0 - s) * start.elevation + s * end.elevation,
        end.parallel if s >= 0.5 else start.parallel,
    )


def ray(view: View, size: tuple[int, int], x: float, y: float) -> Ray:
    """Return the line of sight through a pixel of a picture of `size` (width, height)."""
    u = (2.0 * x - size[0]) / size[1]
    v = 1.0 - 2.0 * y / size[1]
    right, up, back = view.axes.T
    across = view.half_height * (u * right + v * up)
    if view.parallel:
        return Ray(np.array(view.target) + across + view.distance * back, -back)
    direction = across - view.distance * back
    return Ray(view.eye, direction / np.linalg.norm(direction))


def project(view: View, size: tuple[int, int], point: ArrayLike) -> tuple[float, float]:
    """Return the pixel of a point (3,), possibly outside the picture; nan behind the eye."""
    right, up, depth = (np.asarray(point, dtype=float) - np.array(view.target)) @ view.axes
    distance = view.distance if view.parallel else view.distance - depth
    if distance <= 0.0:
        return float("nan"), float("nan")
    scale = size[1] / (2.0 * distance * tan(FIELD_OF_VIEW / 2.0))
    return size[0] / 2.0 + right * scale, size[1] / 2.0 - up * scale


def metres_per_pixel(view: View, size: tuple[int, int], point: ArrayLike) -> float:
    """Return the length of one pixel at the depth of a point, m."""
    depth = float((np.asarray(point, dtype=float) - np.array(view.target)) @ view.axes[:, 2])
    distance = view.distance if view.parallel else max(view.distance - depth, 1e-9)
    return 2.0 * distance * tan(FIELD_OF_VIEW / 2.0) / size[1]


def apply(view: View, camera: vtkCamera) -> None:
    """Set VTK's camera to the view."""
    camera.SetPosition(*view.eye)
    camera.SetFocalPoint(*view.target)
    camera.SetViewUp(*view.axes[:, 1])
    camera.SetViewAngle(FIELD_OF_VIEW * 180.0 / pi)
    camera.SetParallelProjection(view.parallel)
    camera.SetParallelScale(view.half_height)


def _wrapped_angle(angle: float) -> float:
    return (angle + pi) % (2.0 * pi) - pi


def _point(values: ArrayLike) -> tuple[float, float, float]:
    x, y, z = np.asarray(values, dtype=float).tolist()
    return x, y, z
