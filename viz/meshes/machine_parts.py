"""Meshes of machine parts: coil springs, spiral springs, gearwheels."""

from __future__ import annotations

from math import pi

import numpy as np
from vtkmodules.vtkCommonDataModel import vtkPolyData

from viz.drawlist import geometry as g
from viz.meshes.polydata import moved, surface, swept, with_normals
from viz.placement import Array

TOOTH = (0.0, 0.16, 0.34, 0.5)
"""Positions within the pitch at which a tooth's flank begins, its top begins and ends, its other flank ends."""


def around(fine: int, sides: int) -> int:
    """Return the number of sides of a thin round piece, `fine` where round forms have 48."""
    return max(5, fine * sides // 48)


def coil(form: g.Coil, sides: int) -> vtkPolyData:
    """Return a wire that runs straight, winds, and runs straight again; computed in true size, then scaled to unit
    length in z."""
    low, high = (form.start - 0.5) * form.length, (form.end - 0.5) * form.length
    straight = form.ends * (high - low)
    t = np.linspace(0.0, 1.0, max(32, round(form.turns * max(10, around(20, sides)))) + 1)
    angle = 2.0 * pi * form.turns * t
    swell = np.minimum(1.0, np.minimum(t, 1.0 - t) * form.turns * 2.0)  # winds out from the middle within half a turn
    radius = form.radius * np.sin(swell * pi / 2.0)
    winding = np.stack(
        [radius * np.cos(angle), radius * np.sin(angle), low + straight + t * (high - low - 2.0 * straight)], axis=1
    )
    ends = np.array([[0.0, 0.0, low]]), np.array([[0.0, 0.0, high]])
    path = np.concatenate([ends[0], winding, ends[1]]) if straight > 0.0 else winding
    path[:, 0] += form.aside
    data = with_normals(swept(path, form.wire, around(8, sides)), 60.0)
    return moved(data, np.diag([1.0, 1.0, 1.0 / form.length, 1.0]))


def spiral(form: g.Spiral, sides: int) -> vtkPolyData:
    """Return a planar wire whose radius grows linearly (Archimedean spiral)."""
    t = np.linspace(0.0, 1.0, max(24, round(form.turns * around(32, sides))) + 1)
    angle, radius = 2.0 * pi * form.turns * t, form.inner + (form.outer - form.inner) * t
    path = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros_like(t)], axis=1)
    return with_normals(swept(path, form.tube, around(8, sides)), 60.0)


def gearwheel(form: g.Gearwheel, sides: int) -> vtkPolyData:
    """Return a gearwheel with teeth of 2.25 modules: root and tip are 1.25 and 1 module from the pitch circle."""
    outline = gear_outline(form.radius, form.teeth)
    return with_normals(_prism(outline, form.bore, form.width), 30.0)


def gear_outline(radius: float, teeth: int) -> Array:
    """Return the corners (4·teeth, 2) of a gearwheel, counter-clockwise; module m = 2 radius / teeth."""
    module = 2.0 * radius / teeth
    tip, root = radius + module, radius - 1.25 * module
    corners = []
    for tooth in range(teeth):
        for share, r in zip(TOOTH, (root, tip, tip, root), strict=True):
            angle = 2.0 * pi * (tooth + share) / teeth
            corners.append((r * np.cos(angle), r * np.sin(angle)))
    return np.array(corners)


def _prism(outline: Array, bore: float, width: float) -> vtkPolyData:
    """Return a disc with this outline and a bore: outer wall, faces between outline and bore, inner wall."""
    n, h = len(outline), width / 2.0
    angle = np.arctan2(outline[:, 1], outline[:, 0])
    inner = max(bore, 1e-3 * float(np.hypot(*outline[0]))) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rings = [np.column_stack([ring, np.full(n, z)]) for ring in (outline, inner) for z in (-h, h)]
    low, high, in_low, in_high = (np.arange(n) + k * n for k in range(4))
    faces = []
    for a, b in ((low, high), (in_high, in_low), (in_low, low), (high, in_high)):
        faces.append(np.stack([a, np.roll(a, -1), np.roll(b, -1), b], axis=1))
    return surface(np.concatenate(rings), np.concatenate(faces))
