"""Meshes of forms: sizes, volumes, normals outward, colours, mesh files."""

from __future__ import annotations

from math import pi
from pathlib import Path

import numpy as np
import pytest
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersCore import vtkMassProperties, vtkTriangleFilter

from viz.drawlist import geometry as g
from viz.meshes.mesh_files import mesh_problem
from viz.meshes.meshes import get_mesh
from viz.meshes.polydata import point_array
from viz.placement import to_placement, translation

SOLIDS = [
    (g.Box((0.2, 0.3, 0.4)), 0.024),
    (g.Cylinder(0.1, 0.5), pi * 0.005),
    (g.Tube(0.05, 0.1, 0.4), pi * 0.0075 * 0.4),
    (g.Sphere(0.3), 4 / 3 * pi * 0.027),
    (g.Ellipsoid((0.1, 0.2, 0.3)), 4 / 3 * pi * 0.006),
    (g.Capsule(0.1, 0.4), pi * 0.004 + 4 / 3 * pi * 0.001),
    (g.Cone(0.2, 0.6), pi / 3 * 0.04 * 0.6),
    (g.Cone(0.2, 0.6, 0.1), pi / 3 * 0.6 * (0.04 + 0.02 + 0.01)),
    (g.Arc(0.5, 0.05), 2 * pi * 0.5 * pi * 0.0025),
    (g.Arrow(1.0, 0.02, 0.05, 0.2), pi * 4e-4 * 0.8 + pi / 3 * 25e-4 * 0.2),
]


@pytest.mark.parametrize(("form", "volume"), SOLIDS, ids=lambda x: type(x).__name__)
def test_volume_and_outside(form: g.Geometry, volume: float) -> None:
    """VTK's signed volume is positive only when faces look outward."""
    triangles = vtkTriangleFilter()
    triangles.SetInputData(get_mesh(form))
    measure = vtkMassProperties()
    measure.SetInputConnection(triangles.GetOutputPort())
    share = {g.Arc: 0.93}.get(type(form), 0.985)  # polygons with 48 (tubes of rings: 10) corners inscribed in circles
    assert share * volume <= measure.GetVolume() <= volume * (1 + 1e-6)
    assert signed_volume(form) > 0


def signed_volume(form: g.Geometry) -> float:
    triangles = vtkTriangleFilter()
    triangles.SetInputData(get_mesh(form))
    triangles.Update()
    data = triangles.GetOutput()
    corners = vtk_to_numpy(data.GetPolys().GetConnectivityArray()).reshape(-1, 3)
    a, b, c = (point_array(data)[corners[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


@pytest.mark.parametrize("form", [form for form, _ in SOLIDS], ids=lambda x: type(x).__name__)
def test_normals_have_length_one(form: g.Geometry) -> None:
    normals = vtk_to_numpy(get_mesh(form).GetPointData().GetNormals())
    assert np.linalg.norm(normals, axis=1) == pytest.approx(1.0, abs=1e-4)


def test_a_beveled_box_keeps_its_size() -> None:
    assert np.array(get_mesh(g.Box((0.2, 0.3, 0.4), 0.02)).GetBounds())[1::2] == pytest.approx([0.1, 0.15, 0.2])


def test_equal_forms_share_a_mesh() -> None:
    assert get_mesh(g.Sphere(0.1)) is get_mesh(g.Sphere(0.1))
    assert get_mesh(g.Sphere(0.1)) is not get_mesh(g.Sphere(0.2))


def test_a_compound_puts_its_parts_in_place() -> None:
    parts = (
        g.PlacedShape(g.Box((1.0, 1.0, 1.0))),
        g.PlacedShape(g.Box((1.0, 1.0, 1.0)), to_placement(translation(3, 0, 0))),
    )
    assert get_mesh(g.Compound(parts)).GetBounds()[:2] == pytest.approx((-0.5, 3.5))


def test_helix_turns_by_the_right_hand_rule() -> None:
    points = point_array(get_mesh(g.Helix(1.0, 0.001, 0.5, 0.5)))
    quarter = points[np.abs(points[:, 2] + 0.125) < 0.02].mean(axis=0)  # a quarter turn up: at +y
    assert quarter[:2] == pytest.approx([0, 1], abs=0.1)


def test_the_quartered_ball_is_black_and_white_in_turn() -> None:
    data = get_mesh(g.CenterMark(1.0))
    colours = vtk_to_numpy(data.GetPointData().GetScalars())[:, :3].mean(axis=1)
    inner = (np.abs(point_array(data)) > 0.1).all(axis=1)
    dark = np.prod(np.sign(point_array(data)[inner]), axis=1) > 0
    assert (colours[inner][dark] < 64).all()
    assert (colours[inner][~dark] > 192).all()


CUBE = """solid c
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1000 0 0
vertex 0 1000 0
endloop
endfacet
endsolid c
"""


def test_a_mesh_file_is_scaled(tmp_path: Path) -> None:
    (tmp_path / "part.stl").write_text(CUBE)
    form = g.MeshFile("part.stl", str(tmp_path / "robot.urdf"), (0.001, 0.001, 0.001))
    assert mesh_problem(form) == ""
    assert get_mesh(form).GetBounds()[:4] == pytest.approx((0, 1, 0, 1))


def test_a_missing_mesh_is_a_wire_box_with_a_reason() -> None:
    form = g.MeshFile("absent.stl", "/nowhere/robot.urdf", size=0.2)
    assert get_mesh(form).GetBounds() == pytest.approx((-0.1, 0.1) * 3)
    assert get_mesh(form).GetNumberOfLines() > 0
    assert "absent.stl" in mesh_problem(form)


def test_a_broken_mesh_is_a_wire_box_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "part.stl").write_bytes(b"\x00" * 100)
    form = g.MeshFile("part.stl", str(tmp_path / "robot.urdf"), size=0.2)
    assert get_mesh(form).GetNumberOfPolys() == 0
    assert "part.stl" in mesh_problem(form)
