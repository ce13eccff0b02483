"""Solids, whose inner side is not drawn, and stand-ins for what moves."""

import numpy as np
import pytest

from core.files import load
from resources import examples
from viz.drawlist import geometry as g
from viz.drawlist.draw_list import build_draw_list
from viz.drawlist.item import collect_forms
from viz.meshes.meshes import get_mesh, get_simplified_mesh, is_closed, is_solid, simplify_mesh_file
from viz.meshes.plain_forms import form_mesh
from viz.meshes.polydata import point_array, surface_mesh

CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
FACES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])


def sides():
    """Forms of all kinds that the examples show."""
    found = {}
    for example in examples():
        if example.path.suffix == ".kst":
            for form in collect_forms(build_draw_list(load(example.path))):
                found.setdefault(type(form), form)
    return [form for kind, form in found.items() if kind is not g.MeshFile]


def test_the_examples_show_what_is_told_of_each_form():
    for form in sides():
        assert is_solid(form) == is_closed(get_mesh(form)), form


def test_a_surface_with_a_hole_or_inside_out_is_no_solid():
    assert is_closed(surface_mesh(CUBE, FACES))
    assert not is_closed(surface_mesh(CUBE, FACES[1:]))
    assert not is_closed(surface_mesh(CUBE, FACES[:, ::-1]))
    assert not is_closed(surface_mesh(CUBE, np.concatenate([FACES[:3], FACES[3:, ::-1]])))


def test_forms_in_a_compound_are_solid_when_all_are():
    solid, flat = g.PlacedShape(g.Sphere(1.0)), g.PlacedShape(g.Sector(0.0, 1.0))
    assert is_solid(g.Compound((solid, solid)))
    assert not is_solid(g.Compound((solid, flat)))


@pytest.mark.parametrize("form", [f for f in sides() if not isinstance(f, g.Compound)], ids=lambda f: type(f).__name__)
def test_a_stand_in_has_fewer_polygons_and_the_same_place(form):
    fine, coarse = get_mesh(form), get_simplified_mesh(form)
    assert coarse.GetNumberOfPolys() <= fine.GetNumberOfPolys()
    box, other = np.array(fine.GetBounds()), np.array(coarse.GetBounds())
    assert np.abs(box - other).max() <= 0.1 * np.ptp(box.reshape(3, 2), axis=1).max()


def test_a_mesh_file_is_thinned_once_it_is_asked_for(tmp_path):
    ball = form_mesh(g.Sphere(1.0), 96)
    points = point_array(ball)
    count = ball.GetNumberOfPolys()
    with (tmp_path / "ball.obj").open("w", encoding="utf-8") as file:
        file.writelines(f"v {x} {y} {z}\n" for x, y, z in points)
        for k in range(count):
            cell = ball.GetCell(k)
            file.write("f " + " ".join(str(cell.GetPointId(i) + 1) for i in range(cell.GetNumberOfPoints())) + "\n")
    form = g.MeshFile("ball.obj", str(tmp_path / "model.kst"))
    assert get_simplified_mesh(form) is get_mesh(form)
    simplify_mesh_file(form)
    coarse = get_simplified_mesh(form)
    assert 0 < coarse.GetNumberOfPolys() < 0.5 * get_mesh(form).GetNumberOfPolys()
    radii = np.linalg.norm(point_array(coarse), axis=1)
    assert radii.min() > 0.95
    assert radii.max() < 1.05
