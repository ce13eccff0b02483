"""Camera of the scene: an immutable camera view, and pure functions that return a changed one.

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
from viz.placement import Array, box_corners

FIELD_OF_VIEW = radians(26.0)
"""Vertical field of view, narrow enough that parallel axes look parallel."""
MARGIN = 1.12
"""Size of the picture relative to the content that is fitted into it."""
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
    """Line of sight: origin (3,) in m and unit direction (3,), in world axes."""

    origin: Array
    direction: Array

    def at(self, distance: float) -> Array:
        """Return the point (3,) at a distance along the ray."""
        return self.origin + distance * self.direction


@dataclass(frozen=True)
class CameraView:
    """Camera view. target: the point looked at, m; distance of the eye from it, m; azimuth and elevation of the eye
    about it, rad."""

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


def orbit(view: CameraView, yaw: float, pitch: float, pivot: ArrayLike | None = None) -> CameraView:
    """Rotate the view about the vertical by `yaw` and tilt it by `pitch` (rad), about the target or a pivot point."""
    elevation = min(max(view.elevation + pitch, -MAX_ELEVATION), MAX_ELEVATION)
    turned = replace(view, azimuth=_wrapped_angle(view.azimuth + yaw), elevation=elevation)
    if pivot is None:
        return turned
    arm = view.axes.T @ (np.array(view.target) - np.asarray(pivot, dtype=float))
    return replace(turned, target=as_point(np.asarray(pivot) + turned.axes @ arm))


def pan(view: CameraView, right: float, up: float) -> CameraView:
    """Move the view parallel to the picture plane so that the content moves right and up by fractions of the picture's
    height."""
    shift = view.axes[:, :2] @ np.array([right, up]) * 2.0 * view.half_height
    return replace(view, target=as_point(np.array(view.target) - shift))


def zoom(view: CameraView, factor: float, fixed_point: ArrayLike | None = None) -> CameraView:
    """Move the eye closer by a factor (> 1) or away (< 1), keeping the position of a point in the picture if one is
    given."""
    distance = min(max(view.distance / factor, 1e-6), 1e9)
    scale = distance / view.distance
    target = np.array(view.target)
    fixed = target if fixed_point is None else np.asarray(fixed_point, dtype=float)
    return replace(view, distance=distance, target=as_point(fixed + scale * (target - fixed)))


def preset_view(view: CameraView, name: str) -> CameraView:
    """Return the view from a named side (a key of PRESETS) with the same target and distance."""
    azimuth, elevation = PRESETS[name]
    return replace(view, azimuth=azimuth, elevation=elevation)


def look_from(view: CameraView, direction: ArrayLike) -> CameraView:
    """Return the view with the eye in a direction (3,) from the target."""
    x, y, z = np.asarray(direction, dtype=float)
    flat = float(np.hypot(x, y))
    azimuth = atan2(y, x) if flat > 1e-6 else PRESETS["top"][0]
    return replace(view, azimuth=azimuth, elevation=atan2(z, flat))


def fit(view: CameraView, bounds: ArrayLike, aspect: float = 1.5, margin: float = MARGIN) -> CameraView:
    """Return the view that centres a box (xmin, xmax, ymin, ymax, zmin, zmax) and just contains it.

    aspect : width / height of the picture
    """
    low, high = np.asarray(bounds, dtype=float).reshape(3, 2).T
    if not (np.isfinite(low).all() and np.isfinite(high).all()) or (high < low).any():
        return view
    middle = (low + high) / 2.0
    seen = (box_corners(bounds) - middle) @ view.axes
    slope = tan(FIELD_OF_VIEW / 2.0)
    need = np.maximum(np.abs(seen[:, 1]), np.abs(seen[:, 0]) / aspect) * margin
    depth = 0.0 if view.parallel else seen[:, 2]
    distance = float(np.max(need / slope + depth))
    return replace(view, target=as_point(middle), distance=max(distance, 1e-4))


def contains_box(view: CameraView, size: tuple[int, int], bounds: ArrayLike) -> bool:
    """Return True if a box (xmin, xmax, ymin, ymax, zmin, zmax) lies entirely within a picture of this size."""
    pixels = [project(view, size, corner) for corner in box_corners(bounds)]
    return all(0.0 <= x <= size[0] and 0.0 <= y <= size[1] for x, y in pixels)


def interpolate_views(start: CameraView, end: CameraView, t: float) -> CameraView:
    """Interpolate between two views for t = 0 … 1, along the shorter rotation and with smooth acceleration at both
    ends."""
    s = t * t * (3.0 - 2.0 * t)
    turn = _wrapped_angle(end.azimuth - start.azimuth)
    target = (1.0 - s) * np.array(start.target) + s * np.array(end.target)
    return CameraView(
        as_point(target),
        start.distance ** (1.0 - s) * end.distance**s,
        _wrapped_angle(start.azimuth + s * turn),
        (1.0 - s) * start.elevation + s * end.elevation,
        end.parallel if s >= 0.5 else start.parallel,
    )


def line_of_sight(view: CameraView, size: tuple[int, int], x: float, y: float) -> Ray:
    """Return the line of sight through a pixel of a picture of `size` (width, height)."""
    u = (2.0 * x - size[0]) / size[1]
    v = 1.0 - 2.0 * y / size[1]
    right, up, back = view.axes.T
    across = view.half_height * (u * right + v * up)
    if view.parallel:
        return Ray(np.array(view.target) + across + view.distance * back, -back)
    direction = across - view.distance * back
    return Ray(view.eye, direction / np.linalg.norm(direction))


def project(view: CameraView, size: tuple[int, int], point: ArrayLike) -> tuple[float, float]:
    """Return the pixel coordinates of a point (3,), which may lie outside the picture; NaN if it is behind the eye."""
    right, up, depth = (np.asarray(point, dtype=float) - np.array(view.target)) @ view.axes
    distance = view.distance if view.parallel else view.distance - depth
    if distance <= 0.0:
        return float("nan"), float("nan")
    scale = size[1] / (2.0 * distance * tan(FIELD_OF_VIEW / 2.0))
    return size[0] / 2.0 + right * scale, size[1] / 2.0 - up * scale


def metres_per_pixel(view: CameraView, size: tuple[int, int], point: ArrayLike) -> float:
    """Return the length of one pixel at the depth of a point, m."""
    depth = float((np.asarray(point, dtype=float) - np.array(view.target)) @ view.axes[:, 2])
    distance = view.distance if view.parallel else max(view.distance - depth, 1e-9)
    return 2.0 * distance * tan(FIELD_OF_VIEW / 2.0) / size[1]


def apply_to_camera(view: CameraView, camera: vtkCamera) -> None:
    """Set VTK's camera to the view."""
    camera.SetPosition(*view.eye)
    camera.SetFocalPoint(*view.target)
    camera.SetViewUp(*view.axes[:, 1])
    camera.SetViewAngle(FIELD_OF_VIEW * 180.0 / pi)
    camera.SetParallelProjection(view.parallel)
    camera.SetParallelScale(view.half_height)


def _wrapped_angle(angle: float) -> float:
    return (angle + pi) % (2.0 * pi) - pi


def as_point(values: ArrayLike) -> tuple[float, float, float]:
    x, y, z = np.asarray(values, dtype=float).tolist()
    return x, y, z
