"""What is meant by pointing at a surface: against the sizes of the forms that are pointed at."""

from itertools import pairwise

import numpy as np
import pytest

from viz.drawlist import geometry as g
from viz.meshes.surface_features import find_features, find_flat_face

TURN = np.linspace(0.0, 2.0 * np.pi, 33)


def found(form, *place):
    return find_features(form, np.array(place))


def plate(path, radius, thickness, middle):
    """A file of a square plate, 0.2 m wide, with a hole along z at a place (x, y)."""
    inner = np.column_stack((np.cos(TURN), np.sin(TURN))) * radius + middle
    reach = 1.0 / np.maximum(np.abs(np.cos(TURN)), np.abs(np.sin(TURN)))
    outer = np.column_stack((np.cos(TURN), np.sin(TURN))) * (0.1 * reach)[:, None]
    triangles = []

    def quad(*corners):
        triangles.extend((corners[:3], (corners[0], *corners[2:])))

    for k in range(len(TURN) - 1):
        low = [np.append(each, 0.0) for each in (inner[k], inner[k + 1], outer[k + 1], outer[k])]
        a, b, c, d = low
        up = np.array([0.0, 0.0, thickness])
        quad(a, b, c, d)
        quad(d + up, c + up, b + up, a + up)
        quad(b, a, a + up, b + up)
        quad(d, c, c + up, d + up)
    rows = ["solid plate"]
    for each in triangles:
        corners = "\n".join(f"vertex {x:.9g} {y:.9g} {z:.9g}" for x, y, z in each)
        rows.append(f"facet normal 0 0 0\nouter loop\n{corners}\nendloop\nendfacet")
    path.write_text("\n".join([*rows, "endsolid plate"]))
    return g.MeshFile(file=str(path), origin="")


@pytest.mark.parametrize("end", [0.12, -0.15])
def test_the_side_of_a_cylinder_means_its_axis_at_the_nearest_of_both_ends_and_the_middle(end):
    one, two, three = found(g.Cylinder(0.1, 0.4), 0.06, 0.08, end)
    assert {each.word for each in (one, two, three)} == {"cylinder"}
    assert one.point == pytest.approx((0.0, 0.0, np.sign(end) * 0.2), abs=1e-6)
    assert three.point == pytest.approx((0.0, 0.0, -np.sign(end) * 0.2), abs=1e-6)
    assert two.point == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)
    for each in (one, two, three):
        assert each.direction == pytest.approx((0.0, 0.0, 1.0), abs=1e-6)


def test_the_inner_side_of_a_tube_is_a_hole():
    form = g.Tube(0.03, 0.05, 0.1)
    assert found(form, 0.03, 0.0, 0.02)[0].word == "hole"
    assert found(form, 0.05, 0.0, 0.02)[0].word == "cylinder"


def test_a_hole_in_a_mesh_file_is_found_from_its_side_and_from_its_rim(tmp_path):
    form = plate(tmp_path / "plate.stl", 0.03, 0.02, (0.02, -0.01))
    hole = found(form, 0.05, -0.01, 0.008)
    assert [each.word for each in hole] == ["hole"] * 3
    assert hole[0].point == pytest.approx((0.02, -0.01, 0.01), abs=1e-5)
    assert np.abs(hole[0].direction) == pytest.approx((0.0, 0.0, 1.0), abs=1e-4)
    face = found(form, 0.08, 0.08, 0.02)
    (circle,) = (each for each in face if each.word == "circle")
    assert circle.point == pytest.approx((0.02, -0.01, 0.02), abs=1e-5)
    assert np.linalg.norm(circle.outline - circle.point, axis=1) == pytest.approx(0.03, abs=1e-5)


def test_a_face_of_a_box_has_its_middle_edges_and_corners_whatever_is_cut_off_them():
    for form in (g.Box((0.2, 0.1, 0.06)), g.Box((0.2, 0.1, 0.06), bevel=0.01)):
        table = found(form, 0.03, 0.02, 0.03)
        (middle,) = (each for each in table if each.word == "face")
        assert middle.point == pytest.approx((0.0, 0.0, 0.03), abs=1e-7)
        assert middle.direction == pytest.approx((0.0, 0.0, 1.0), abs=1e-7)
        corners = {tuple(np.round(each.point, 6)) for each in table if each.word == "corner"}
        assert corners == {(x, y, 0.03) for x in (0.1, -0.1) for y in (0.05, -0.05)}
        edges = {tuple(np.round(each.point, 6) + 0.0): np.abs(each.direction) for each in table if each.word == "edge"}
        assert set(edges) == {(0.1, 0.0, 0.03), (-0.1, 0.0, 0.03), (0.0, 0.05, 0.03), (0.0, -0.05, 0.03)}
        assert edges[0.1, 0.0, 0.03] == pytest.approx((0.0, 1.0, 0.0), abs=1e-7)


@pytest.mark.parametrize("form", [g.Sphere(0.1), g.Ellipsoid((0.1, 0.2, 0.3)), g.Capsule(0.05, 0.0)])
def test_what_is_bent_both_ways_has_no_axis(form):
    from viz.meshes.meshes import get_mesh

    place = get_mesh(form).GetPoint(get_mesh(form).GetNumberOfPoints() // 3)
    assert found(form, *place) == ()


def test_a_rounded_edge_is_no_cylinder(tmp_path):
    """A quarter of a circle between two faces: a fillet."""
    turn = np.linspace(0.0, np.pi / 2.0, 13)
    line = [(-0.1, 0.1), *((0.08 + 0.02 * np.sin(a), 0.08 + 0.02 * np.cos(a)) for a in turn), (0.1, -0.1)]
    rows = ["solid strip"]
    for (x, y), (u, v) in pairwise(line):
        for corners in (((x, y, 0), (u, v, 0), (u, v, 0.1)), ((x, y, 0), (u, v, 0.1), (x, y, 0.1))):
            text = "\n".join(f"vertex {a:.9g} {b:.9g} {c:.9g}" for a, b, c in corners)
            rows.append(f"facet normal 0 0 0\nouter loop\n{text}\nendloop\nendfacet")
    path = tmp_path / "strip.stl"
    path.write_text("\n".join([*rows, "endsolid strip"]))
    middle = 0.08 + 0.02 * np.sqrt(0.5)
    assert not [
        each for each in found(g.MeshFile(file=str(path), origin=""), middle, middle, 0.05) if each.word == "cylinder"
    ]


def test_a_flat_face_has_its_middle_its_outward_normal_and_all_lines_around_it(tmp_path):
    top = find_flat_face(g.Box((0.3, 0.1, 0.06)), np.array((0.1, 0.02, 0.03)))
    assert top.point == pytest.approx((0.0, 0.0, 0.03), abs=1e-6)
    assert top.normal == pytest.approx((0.0, 0.0, 1.0), abs=1e-6)
    assert np.abs(top.along) == pytest.approx((1.0, 0.0, 0.0), abs=1e-6)
    (outline,) = top.outlines
    assert outline[0] == pytest.approx(outline[-1])
    assert np.abs(outline).max(axis=0) == pytest.approx((0.15, 0.05, 0.03), abs=1e-6)
    end = find_flat_face(g.Cylinder(0.1, 0.4), np.array((0.02, 0.03, -0.2)))
    assert (end.along, end.normal[2]) == (None, pytest.approx(-1.0))
    holed = find_flat_face(plate(tmp_path / "plate.stl", 0.03, 0.02, (0.02, 0.0)), np.array((-0.08, 0.05, 0.02)))
    around, hole = sorted(holed.outlines, key=lambda line: -np.ptp(line[:, 0]))
    assert np.abs(around[:, :2]).max(axis=1) == pytest.approx(0.1, abs=1e-6)
    assert np.hypot(hole[:, 0] - 0.02, hole[:, 1]) == pytest.approx(0.03, abs=1e-6)


@pytest.mark.parametrize("form", [g.Cylinder(0.1, 0.4), g.Sphere(0.1), g.Tube(0.1, 0.2, 0.4)])
def test_what_is_bent_has_no_flat_face(form):
    assert find_flat_face(form, np.array((0.06, 0.08, 0.01))) is None
