"""Conversion of elementary forms and machine parts (coil springs, spiral springs, gearwheels), but not of files and
compounds, to vtkPolyData with normals, cached."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import cos, pi, sin
from typing import Any

import numpy as np
from vtkmodules.vtkCommonDataModel import vtkPolyData

from viz.drawlist import geometry as g
from viz.look import LIGHT
from viz.meshes.polydata import (
    line_mesh,
    merge_data,
    revolve_profile,
    set_colours,
    surface_mesh,
    transform_polydata,
    tube_along_path,
    with_normals,
)
from viz.placement import Array, frame_along

TOOTH = (0.0, 0.16, 0.34, 0.5)
"""Positions within a pitch at which the flank of a tooth begins, its top begins and ends, and its other flank ends."""

ROUND = 48
"""Number of sides of round forms."""
COARSE = 12
"""Number of sides of round forms in simplified meshes."""


def side_count(fine_count: int, sides: int) -> int:
    """Return the number of sides of a thin round part, which is `fine_count` where other round forms have 48 sides."""
    return max(5, fine_count * sides // 48)


def coil_mesh(form: g.Coil, sides: int) -> vtkPolyData:
    """Return a wire that is straight, coiled, and straight again; computed at true size, then scaled to unit length in
    z."""
    low, high = (form.start - 0.5) * form.length, (form.end - 0.5) * form.length
    straight = form.ends * (high - low)
    t = np.linspace(0.0, 1.0, max(32, round(form.turns * max(10, side_count(20, sides)))) + 1)
    angle = 2.0 * pi * form.turns * t
    swell = np.minimum(1.0, np.minimum(t, 1.0 - t) * form.turns * 2.0)  # winds out from the middle within half a turn
    radius = form.radius * np.sin(swell * pi / 2.0)
    winding = np.stack(
        [radius * np.cos(angle), radius * np.sin(angle), low + straight + t * (high - low - 2.0 * straight)], axis=1
    )
    ends = np.array([[0.0, 0.0, low]]), np.array([[0.0, 0.0, high]])
    path = np.concatenate([ends[0], winding, ends[1]]) if straight > 0.0 else winding
    path[:, 0] += form.aside
    data = with_normals(tube_along_path(path, form.wire, side_count(8, sides)), 60.0)
    return transform_polydata(data, np.diag([1.0, 1.0, 1.0 / form.length, 1.0]))


def spiral_mesh(form: g.Spiral, sides: int) -> vtkPolyData:
    """Return a planar wire whose radius grows linearly (Archimedean spiral)."""
    t = np.linspace(0.0, 1.0, max(24, round(form.turns * side_count(32, sides))) + 1)
    angle, radius = 2.0 * pi * form.turns * t, form.inner + (form.outer - form.inner) * t
    path = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros_like(t)], axis=1)
    return with_normals(tube_along_path(path, form.tube, side_count(8, sides)), 60.0)


def gearwheel_mesh(form: g.Gearwheel, sides: int) -> vtkPolyData:
    """Return a gearwheel with teeth 2.25 modules high: the root is 1.25 modules below the pitch circle, the tip 1
    module above."""
    outline = gear_outline(form.radius, form.teeth)
    return with_normals(_prism(outline, form.bore, form.width), 30.0)


def gear_outline(radius: float, teeth: int) -> Array:
    """Return the corners (4·teeth, 2) of a gearwheel, counter-clockwise; the module is m = 2 radius / teeth."""
    module = 2.0 * radius / teeth
    tip, root = radius + module, radius - 1.25 * module
    corners = []
    for tooth in range(teeth):
        for share, r in zip(TOOTH, (root, tip, tip, root), strict=True):
            angle = 2.0 * pi * (tooth + share) / teeth
            corners.append((r * np.cos(angle), r * np.sin(angle)))
    return np.array(corners)


def _prism(outline: Array, bore: float, width: float) -> vtkPolyData:
    """Return a disc with a given outline and a bore: outer wall, faces between outline and bore, inner wall."""
    n, h = len(outline), width / 2.0
    angle = np.arctan2(outline[:, 1], outline[:, 0])
    inner = max(bore, 1e-3 * float(np.hypot(*outline[0]))) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rings = [np.column_stack([ring, np.full(n, z)]) for ring in (outline, inner) for z in (-h, h)]
    low, high, in_low, in_high = (np.arange(n) + k * n for k in range(4))
    faces = []
    for a, b in ((low, high), (in_high, in_low), (in_low, low), (high, in_high)):
        faces.append(np.stack([a, np.roll(a, -1), np.roll(b, -1), b], axis=1))
    return surface_mesh(np.concatenate(rings), np.concatenate(faces))


@lru_cache(maxsize=2048)
def form_mesh(form: g.Geometry, sides: int = ROUND) -> vtkPolyData:
    """Return the cached mesh of a form, with this number of sides if it is round; equal forms share one object, which
    must not be modified."""
    return _BUILDERS[type(form)](form, sides)


def _box(form: g.Box, sides: int) -> vtkPolyData:
    half = np.array(form.size) / 2.0
    cut = min(form.bevel, 0.45 * float(half.min()) * 2.0)
    if cut <= 0.0:
        return with_normals(_cuboid(half))
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    corners = np.concatenate([signs * (half - cut * (1 - np.eye(3)[k])) for k in range(3)])
    faces = _bevelled_faces()
    a, b, c = (corners[faces[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a) < 0
    faces[inward] = faces[inward][:, ::-1]
    return with_normals(surface_mesh(corners, faces), feature_angle=30.0)


def _bevelled_faces() -> np.ndarray:
    """Return the triangles (44, 3) of a box with chamfered edges, in either orientation. Point 8 k + c is at corner c,
    whose bits give the side in x, y, z; it lies in the face normal to axis k."""
    bits = (4, 2, 1)
    triangles = [[c, 8 + c, 16 + c] for c in range(8)]
    quads = []
    for k, (one, other) in enumerate(((1, 2), (0, 2), (0, 1))):
        u, v, w = bits[one], bits[other], bits[k]
        quads += [[8 * k + c for c in (s, s + u, s + u + v, s + v)] for s in (0, w)]
        for s in (0, u, v, u + v):
            quads.append([8 * one + s, 8 * one + s + w, 8 * other + s + w, 8 * other + s])
    triangles += [each for a, b, c, d in quads for each in ([a, b, c], [a, c, d])]
    return np.array(triangles)


def _cuboid(half_edges: np.ndarray) -> vtkPolyData:
    points = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float) * half_edges
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return surface_mesh(points, faces)


def _cylinder(form: g.Cylinder, sides: int) -> vtkPolyData:
    r, h, b = form.radius, form.length / 2.0, min(form.bevel, form.radius / 2.0, form.length / 4.0)
    corner = [(r, -h), (r, h)] if b <= 0 else [(r - b, -h), (r, -h + b), (r, h - b), (r - b, h)]
    return with_normals(revolve_profile([(0.0, -h), *corner, (0.0, h)], min(form.sides, sides)))


def _tube(form: g.Tube, sides: int) -> vtkPolyData:
    h = form.length / 2.0
    ring = [(form.outer, -h), (form.outer, h), (form.inner, h), (form.inner, -h)]
    return with_normals(revolve_profile(ring, sides, closed=True))


def _half_circle(radius: float, height: float, lower: bool, steps: int) -> list[tuple[float, float]]:
    start = -pi / 2 if lower else 0.0
    angles = [start + pi / 2 * i / steps for i in range(steps + 1)]
    return [(max(radius * cos(t), 0.0), height + radius * sin(t)) for t in angles]


def _sphere(form: g.Sphere, sides: int) -> vtkPolyData:
    steps = sides // 4
    profile = _half_circle(form.radius, 0.0, True, steps)[:-1] + _half_circle(form.radius, 0.0, False, steps)
    return with_normals(revolve_profile(profile, sides), 90.0)


def _ellipsoid(form: g.Ellipsoid, sides: int) -> vtkPolyData:
    return with_normals(transform_polydata(form_mesh(g.Sphere(1.0), sides), np.diag([*form.radii, 1.0])), 90.0)


def _capsule(form: g.Capsule, sides: int) -> vtkPolyData:
    h = form.length / 2.0
    steps = sides // 6
    lower, upper = _half_circle(form.radius, -h, True, steps), _half_circle(form.radius, h, False, steps)
    if form.length <= 0.0:
        lower = lower[:-1]
    return with_normals(revolve_profile(lower + upper, 2 * sides // 3), 90.0)


def _cone(form: g.Cone, sides: int) -> vtkPolyData:
    h = form.length / 2.0
    profile = [(0.0, -h), (form.radius, -h), (form.top, h)]
    return with_normals(revolve_profile(profile if form.top <= 0 else [*profile, (0.0, h)], sides))


def _arc(form: g.Arc, sides: int) -> vtkPolyData:
    whole = abs(form.end - form.start) >= 2.0 * pi - 1e-9
    steps = max(3, round(abs(form.end - form.start) / (2.0 * pi) * 1.5 * sides))
    angle = np.linspace(form.start, form.end, steps + 1)
    if whole:
        angle = angle[:-1]
    path = form.radius * np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    return with_normals(tube_along_path(path, form.tube, side_count(10, sides), closed=whole), 60.0)


def _sector(form: g.Sector, sides: int) -> vtkPolyData:
    steps = max(2, round(abs(form.end - form.start) / (2.0 * pi) * 1.5 * sides))
    angle = np.linspace(form.start, form.end, steps + 1)
    ray = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    i = np.arange(steps)
    faces = np.stack([i, i + steps + 1, i + steps + 2, i + 1], axis=1)
    return with_normals(surface_mesh(np.concatenate([form.inner * ray, form.outer * ray]), faces))


def _arrow(form: g.Arrow, sides: int) -> vtkPolyData:
    neck = form.length - form.head_length
    profile = [(0.0, 0.0), (form.shaft, 0.0), (form.shaft, neck), (form.head_radius, neck), (0.0, form.length)]
    return with_normals(revolve_profile(profile, side_count(24, sides)))


def _helix(form: g.Helix, sides: int) -> vtkPolyData:
    turns = form.length / abs(form.pitch)
    t = np.linspace(0.0, turns, max(8, round(turns * sides / 2)) + 1)
    angle = 2.0 * pi * t
    z = t * form.pitch - np.sign(form.pitch) * form.length / 2.0
    path = np.stack([form.radius * np.cos(angle), form.radius * np.sin(angle), z], axis=1)
    return with_normals(tube_along_path(path, form.tube, side_count(8, sides)), 60.0)


def _triad(form: g.Triad, sides: int) -> vtkPolyData:
    parts = []
    for axis, key in enumerate("xyz"):
        length = form.length * (form.z_factor if axis == 2 else 1.0)
        toward = np.eye(3)[axis]
        if form.heads:
            arrow = g.Arrow(length, 0.032 * form.length, 0.085 * form.length, 0.26 * form.length)
            one = transform_polydata(form_mesh(arrow, sides), frame_along(toward))
        else:
            rod = g.Cylinder(0.034 * form.length, length, 0.012 * form.length, 16)
            one = transform_polydata(form_mesh(rod, sides), frame_along(toward, toward * length / 2.0))
        parts.append(set_colours(one, LIGHT.palette[key]))
    ball = transform_polydata(form_mesh(g.Sphere(0.05 * form.length), sides), np.eye(4))
    return merge_data([*parts, set_colours(ball, LIGHT.palette["joint"])])


def _center_mark(form: g.CenterMark, sides: int) -> vtkPolyData:
    """Return a ball of eight octants, alternately black and white."""
    angles = np.linspace(0.0, pi / 2, 7)
    u, v = np.meshgrid(angles, angles, indexing="ij")
    patch = form.radius * np.stack([np.cos(u) * np.cos(v), np.cos(u) * np.sin(v), np.sin(u)], axis=-1).reshape(-1, 3)
    i, j = (index.ravel() for index in np.meshgrid(range(6), range(6), indexing="ij"))
    faces = np.stack([i * 7 + j, i * 7 + j + 1, i * 7 + j + 8, i * 7 + j + 7], axis=1)
    parts = []
    for x in (1.0, -1.0):
        for y in (1.0, -1.0):
            for z in (1.0, -1.0):
                order = faces if x * y * z > 0 else faces[:, ::-1]
                colour = LIGHT.palette["com_dark" if x * y * z > 0 else "com_light"]
                octant = with_normals(surface_mesh(patch * (x, y, z), order), 90.0, merge=False)
                parts.append(set_colours(octant, colour))
    return merge_data(parts)


def _missing_mesh(form: g.MissingMesh, sides: int) -> vtkPolyData:
    h = form.size / 2.0
    points = [(x, y, z) for x in (-h, h) for y in (-h, h) for z in (-h, h)]
    edges = [(0, 1), (0, 2), (0, 4), (1, 3), (1, 5), (2, 3), (2, 6), (3, 7), (4, 5), (4, 6), (5, 7), (6, 7)]
    crosses = [(0, 3), (1, 2), (4, 7), (5, 6), (0, 5), (1, 4), (2, 7), (3, 6), (0, 6), (2, 4), (1, 7), (3, 5)]
    return line_mesh(points, edges + crosses)


_BUILDERS: dict[type, Callable[[Any, int], vtkPolyData]] = {
    g.Box: _box,
    g.Cylinder: _cylinder,
    g.Tube: _tube,
    g.Sphere: _sphere,
    g.Ellipsoid: _ellipsoid,
    g.Capsule: _capsule,
    g.Cone: _cone,
    g.Arc: _arc,
    g.Sector: _sector,
    g.Arrow: _arrow,
    g.Helix: _helix,
    g.Coil: coil_mesh,
    g.Spiral: spiral_mesh,
    g.Gearwheel: gearwheel_mesh,
    g.Triad: _triad,
    g.CenterMark: _center_mark,
    g.MissingMesh: _missing_mesh,
}
