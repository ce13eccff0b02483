"""Forms of the shapes of a document, one builder per kind; other kinds are drawn as bounding boxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from core.files.meshes.lookup import resolve_mesh
from core.model import Shape
from core.model import shapes as s
from core.model.fields import Value
from viz.drawlist import geometry as g
from viz.placement import number, placement, shifted

LEAST = 1e-9
"""Smallest drawn length, m; shorter ones are drawn as this."""


class Lengths:
    """Evaluation of shape sizes at parameter values, and the base path of files.

    size : of the placeholder of a missing file, m
    """

    def __init__(self, values: Mapping[str, float], origin: str, size: float) -> None:
        self.values, self.origin, self.size = values, origin, size

    def __call__(self, value: Value) -> float:
        """Return a length that can be drawn, m."""
        return max(abs(self.number(value)), LEAST)

    def number(self, value: Value) -> float:
        """Return a number without limiting it."""
        return number(value, self.values)


def shape_geometry(shape: Shape, origin: str, values: Mapping[str, float], size: float = 0.1) -> g.Geometry:
    """Return the form of a shape of the document; lengths below 1e-9 m are drawn as that."""
    return _BUILDERS.get(type(shape), _bounding_box)(shape, Lengths(values, origin, size))


def _bounding_box(shape: Shape, length: Lengths) -> g.Geometry:
    low, high = np.array(shape.bounds(length.number))
    x, y, z = np.maximum(high - low, LEAST).tolist()
    box = g.Box((x, y, z))
    return g.Compound((g.Placed(box, placement(shifted(*((low + high) / 2.0).tolist()))),))


def _box(shape: s.Box, length: Lengths) -> g.Geometry:
    x, y, z = map(length, shape.size)
    return g.Box((x, y, z))


def _sphere(shape: s.Sphere, length: Lengths) -> g.Geometry:
    return g.Sphere(length(shape.radius))


def _cylinder(shape: s.Cylinder, length: Lengths) -> g.Geometry:
    return g.Cylinder(length(shape.radius), length(shape.length))


def _capsule(shape: s.Capsule, length: Lengths) -> g.Geometry:
    return g.Capsule(length(shape.radius), length(shape.length))


def _cone(shape: s.Cone, length: Lengths) -> g.Geometry:
    return g.Cone(length(shape.radius), length(shape.length))


def _mesh(shape: s.Mesh, length: Lengths) -> g.Geometry:
    x, y, z = map(length.number, shape.scale)
    return mesh_form(shape.file, length.origin, (x, y, z), length.size)


def mesh_form(file: str, origin: str, scale: g.Point, size: float) -> g.MeshFile:
    """Return the form of a mesh file with its present content."""
    place = resolve_mesh(file, origin)
    if place is None:
        return g.MeshFile(file, origin, scale, size)
    from core.files.meshes.meshes import mesh_fingerprint

    return g.MeshFile(file, origin, scale, size, mesh_fingerprint(place))


def _pipe(shape: s.Pipe, length: Lengths) -> g.Geometry:
    outer = length(shape.radius)
    return g.Tube(min(length(shape.inner_radius), 0.999 * outer), outer, length(shape.length))


def _beam(shape: s.Beam, length: Lengths) -> g.Geometry:
    width, height, web = length(shape.width), length(shape.height), length(shape.web)
    flange, long = length(shape.flange), length(shape.length)
    plates = (
        g.Placed(g.Box((width, flange, long)), placement(shifted(0.0, y, 0.0)))
        for y in ((height - flange) / 2.0, (flange - height) / 2.0)
    )
    return g.Compound((g.Placed(g.Box((web, height - flange, long))), *plates))


def _gearwheel(shape: s.Gearwheel, length: Lengths) -> g.Geometry:
    teeth = int(np.clip(round(length.number(shape.teeth)), 4, 400))
    return g.Gearwheel(length(shape.radius), length(shape.width), teeth, length(shape.bore))


def _coil(shape: s.Coil, length: Lengths) -> g.Geometry:
    turns = float(np.clip(length.number(shape.turns), 0.5, 200.0))
    return g.Helix(length(shape.radius), length(shape.wire), length(shape.length) / turns, length(shape.length))


def _arrow(shape: s.Arrow, length: Lengths) -> g.Geometry:
    long, shaft = length(shape.length), length(shape.radius)
    return g.Arrow(long, shaft, min(2.6 * shaft, 0.5 * long), min(7.0 * shaft, 0.6 * long))


_BUILDERS: dict[type[Shape], Callable[[Any, Lengths], g.Geometry]] = {
    s.Box: _box,
    s.Cylinder: _cylinder,
    s.Sphere: _sphere,
    s.Capsule: _capsule,
    s.Cone: _cone,
    s.Mesh: _mesh,
    s.Pipe: _pipe,
    s.Beam: _beam,
    s.Gearwheel: _gearwheel,
    s.Coil: _coil,
    s.Arrow: _arrow,
}
