"""Mass properties of MJCF's primitives, solid or as thin shells, about their centres in their own axes.

https://mujoco.readthedocs.io/en/stable/XMLreference.html#body-geom-shellinertia
"""

from __future__ import annotations

from math import pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Sizes = tuple[float, ...]
THOMSEN = 1.6075
"""Exponent of Thomsen's approximation of the area of an ellipsoid."""
SKIN = 1e-6
"""m: thickness of the layer between two ellipsoids that approximates a thin shell."""
COUNTS = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
"""Number of sizes of a primitive: radius and half length, or half sizes."""


class Solid(NamedTuple):
    """Volume (m³) or area (m²), and moments of inertia per mass (m²) about x, y, z."""

    amount: float
    moments: Array


def solid_properties(kind: str, sizes: Sizes) -> Solid:
    """Return volume and moments of a solid primitive of uniform density."""
    if kind in ("box", "ellipsoid"):
        squares = np.square(sizes)
        if kind == "box":
            return Solid(8.0 * float(np.prod(sizes)), (squares.sum() - squares) / 3.0)
        return Solid(4.0 / 3.0 * pi * float(np.prod(sizes)), (squares.sum() - squares) / 5.0)
    r = sizes[0]
    ball = 4.0 / 3.0 * pi * r**3
    if kind == "sphere":
        return Solid(ball, np.full(3, 0.4 * r * r))
    h = sizes[1]
    tube = 2.0 * pi * r * r * h
    across, along = (3.0 * r * r + 4.0 * h * h) / 12.0, r * r / 2.0
    if kind == "cylinder":
        return Solid(tube, np.array([across, across, along]))
    ends = 0.4 * r * r
    whole = np.array([ends + h * h + 0.75 * r * h] * 2 + [ends])
    return _combined_solid((tube, np.array([across, across, along])), (ball, whole))


def shell_properties(kind: str, sizes: Sizes) -> Solid:
    """Return area and moments of a primitive's surface of uniform mass per area."""
    if kind == "box":
        return _box_shell(sizes)
    if kind == "ellipsoid":
        return _ellipsoid_shell(sizes)
    r = sizes[0]
    ball = 4.0 * pi * r * r
    if kind == "sphere":
        return Solid(ball, np.full(3, 2.0 / 3.0 * r * r))
    h = sizes[1]
    tube = 4.0 * pi * r * h, np.array([(6.0 * r * r + 4.0 * h * h) / 12.0] * 2 + [r * r])
    if kind == "cylinder":
        lids = 2.0 * pi * r * r, np.array([r * r / 4.0 + h * h] * 2 + [r * r / 2.0])
        return _combined_solid(tube, lids)
    ends = 2.0 / 3.0 * r * r  # of hemispheres, whose centres of mass are r/2 from their edges
    return _combined_solid(tube, (ball, np.array([ends + h * h + r * h] * 2 + [ends])))


def _combined_solid(*parts: tuple[float, Array]) -> Solid:
    """Combine several parts with a common centre."""
    amount = sum(part[0] for part in parts)
    moments = sum((share * own for share, own in parts), np.zeros(3))
    return Solid(amount, moments / amount if amount > 0.0 else moments)


def _box_shell(sizes: Sizes) -> Solid:
    half = np.array(sizes)
    parts = []
    for k in range(3):
        flat = half * (np.arange(3) != k)
        squares = flat**2 / 3.0 + half**2 * (np.arange(3) == k)
        parts.append((8.0 * float(np.prod(np.delete(half, k))), squares.sum() - squares))
    return _combined_solid(*parts)


def _ellipsoid_shell(sizes: Sizes) -> Solid:
    a, b, c = sizes
    powers = ((a * b) ** THOMSEN + (b * c) ** THOMSEN + (c * a) ** THOMSEN) / 3.0
    inner, outer = (solid_properties("ellipsoid", tuple(size + skin for size in sizes)) for skin in (0.0, SKIN))
    thin = (outer.amount * outer.moments - inner.amount * inner.moments) / (outer.amount - inner.amount)
    return Solid(4.0 * pi * powers ** (1.0 / THOMSEN), thin)
