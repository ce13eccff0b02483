"""Shapes of joints and links: how files are read, where shapes stand, that the document keeps them."""

import re
from pathlib import Path

import numpy as np
import pytest

import resources
from core.errors import FileError
from core.files import load, save
from core.mechanism import Mechanism
from core.model.formula.expression import evaluate, parse
from core.robotica.robotica_session import Session
from core.robotica.shape_file import read_shape
from core.robotica.workspace import ScriptHost
from viz.drawlist.draw_list import build_draw_list
from viz.drawlist.item import SpanBatch
from viz.meshes.meshes import get_mesh
from viz.meshes.polydata import point_array
from viz.placement import to_matrix

PATHS = {Path(entry.path).stem: entry.path for entry in resources.examples()}
DIAMOND = "Line[{{0, 0, 0}, {.5, .5, 0}, {1, 0, 0}, {.5, -.5, 0}, {0, 0, 0}}]"
FLAG = "{Polygon[{{0, 0, 0}, {1, 0, 0}, {1, 0, 1}}], Line[{{0,0,0}, {0,0,1}}]} (* at x *)"
STL = (
    "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 2 0\nendloop\nendfacet\nendsolid a\n"
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "diamond").write_text(DIAMOND)
    (tmp_path / "flag").write_text(FLAG)
    (tmp_path / "plate.stl").write_text(STL)
    return tmp_path


def session(folder, robot="two_link"):
    made = Session(ScriptHost(str(PATHS[robot])))
    made.state.folder = str(folder)
    return made


def turn_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def drawn(context, q, name):
    """World ← item (4, 4) of an item of the draw list, and its form."""
    poses = dict(zip(context.mech.frame_names, context.mech.poses(q, p=context.p), strict=True))
    item = next(item for item in build_draw_list(context.model, context.p, layers=False) if item.id == name)
    if item.moves_rigidly:
        return poses[item.frame] @ to_matrix(item.placement), item.geometry
    return SpanBatch([item]).poses(poses)[0], item.geometry


def test_a_revolute_shape_turns_with_its_joint(folder):
    made = session(folder)
    made.run('RevJoint["flag"]')
    context = made.context()
    q = np.array([0.4, 1.1])
    A1 = turn_z(q[0])
    A1[:3, 3] = context.p["a1"] * A1[:3, 0]
    for joint, expected in (("joint1", turn_z(q[0])), ("joint2", A1 @ turn_z(q[1]))):
        pose, form = drawn(context, q, f"joint/{joint}/figure")
        np.testing.assert_allclose(pose, expected, atol=1e-12)
    points = point_array(get_mesh(form))
    assert points[:, 0].max() == pytest.approx(1.0)


def test_a_prismatic_shape_moves_with_its_joint(folder):
    made = session(folder, "stanford")
    made.run('PrisJoint["flag"]')
    context = made.context()
    row = context.model.chains[0].rows[2]
    assert row.kind == "prismatic"
    q = np.array([0.3, 0.7, 0.25, 0.0, 0.0, 0.0])
    before = np.array(context.mech.poses(q, p=context.p))[context.mech.frame_names.index("link2")]
    pose, _ = drawn(context, q, "joint/joint3/figure")
    moved = turn_z(float(evaluate(parse(str(row.theta)), context.values)))
    moved[2, 3] = q[2]
    np.testing.assert_allclose(pose, before @ moved, atol=1e-9)


def test_links_are_stretched_to_a_along_x_and_to_d_along_z(folder):
    made = session(folder)
    made.run('LinkShape["diamond"]')
    context = made.context()
    for a1 in (0.5, 3.0):
        made.run(f"a1 = {a1}")
        context = made.context()
        pose, form = drawn(context, np.array([0.4, 1.1]), "link/link1")
        world = point_array(get_mesh(form)) @ pose[:3, :3].T + pose[:3, 3]
        along = world @ turn_z(0.4)[:3, 0]
        thick = form.parts[0].geometry.thickness
        assert along.max() == pytest.approx(a1, abs=1.01 * thick)
        assert along.max() > a1 - 1e-9
        across = world @ turn_z(0.4)[:3, 1]
        assert across.max() == pytest.approx(0.5, abs=2.5 * thick)  # y is not stretched
    arm = session(folder, "stanford")
    arm.run('LinkShape["flag"]')
    context = arm.context()
    q = np.array([0.3, 0.7, 0.25, 0.0, 0.0, 0.0])
    pose, form = drawn(context, q, "joint/joint3/slide")
    ends = pose @ np.array([[0, 0, -0.5, 1], [0, 0, 0.5, 1.0]]).T
    assert np.linalg.norm(ends[:3, 1] - ends[:3, 0]) == pytest.approx(0.25)
    assert point_array(get_mesh(form))[:, 2].min() == pytest.approx(-0.5, abs=1e-6)


def test_shapes_come_from_meshes_too_and_are_cleared(folder):
    made = session(folder)
    made.run('RevJoint["plate.stl"]; LinkShape["plate.stl"]')
    context = made.context()
    _, form = drawn(context, np.zeros(2), "joint/joint1/figure")
    assert point_array(get_mesh(form))[:, 1].max() == pytest.approx(2.0)
    made.run("ClearRevJoint[]; ClearLinkShape[]")
    ids = {item.id for item in build_draw_list(made.context().model)}
    assert not any(name.startswith(("joint/joint1", "joint/joint2")) for name in ids)
    assert "link/link1" in ids
    made.run("RevJoint[]; LinkShape[]")
    assert made.context().model == load(PATHS["two_link"])


def test_the_document_keeps_them_and_files_follow(folder, tmp_path):
    made = session(folder)
    made.run('RevJoint["flag"]; LinkShape["diamond"]; ClearPrisJoint[]')
    model = made.context().model
    other = tmp_path / "elsewhere"
    other.mkdir()
    save(model, other / "arm.kst")
    back = load(other / "arm.kst")
    assert back.world.figures.prismatic == "line"
    context = session(folder).context()
    mech = Mechanism(back)
    found = next(item for item in build_draw_list(back) if item.id == "joint/joint2/figure")
    assert point_array(get_mesh(found.geometry))[:, 0].max() == pytest.approx(1.0)
    np.testing.assert_array_equal(mech.mass_matrix(mech.rest()), context.mech.mass_matrix(mech.rest()))


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("Line[{{0, 0}, {2, 2}}]", 1, 7, "three coordinates, 2 given"),
        ("{Line[{{0,0,0},{1,1,1}}],\n Circle[{0,0,0}]}", 2, 2, "'Circle' is not a known primitive"),
        ("Line[{{0,0,0}}]", 1, 1, "needs 2 points"),
        ("Polygon[{{0,0,0},{1,1,1}}]", 1, 1, "needs 3 points"),
        ("\n\nLine[{{0,0,a},{1,1,1}}]", 3, 12, "'a' has no value"),
        ("Line[{{0,0,0},{1,1,1}}", 1, 23, "']' is expected, not the end"),
        ("Line[{{0,0,1/0},{1,1,1}}]", 1, 12, "no finite value"),
        ("Line[{{0,0,1},{1,1,}}]", 1, 20, "expected"),
        ("(* nothing *)", 1, 14, "contains no Line"),
        ("5", 1, 1, "is expected"),
    ],
)
def test_malformed_shapes_are_refused_with_line_and_column(folder, text, line, column, words):
    (folder / "bad").write_text(text)
    made = session(folder)
    before = made.context().model
    with pytest.raises(FileError, match=re.escape(words)) as caught:
        made.run('RevJoint["bad"]')
    assert caught.value.line == line
    assert caught.value.where == f"column {column}"
    assert made.context().model is before


def test_what_mathematica_writes_is_read(tmp_path):
    path = tmp_path / "shape.m"
    path.write_text(
        "nut = Graphics3D[{RGBColor[1, 0, 0], EdgeForm[{Thickness[0.1]}],\n"
        " Line[{{{0,0,0},{1,1,1}}, {{2,2,2},{3,3,3}}}], Point[{{0,0,Pi/2},{Sqrt[4],-1*^-1,0}}]}];\n"
    )
    shape = read_shape(str(path))
    assert shape.lines == (((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)), ((2.0, 2.0, 2.0), (3.0, 3.0, 3.0)))
    assert shape.points == ((0.0, 0.0, np.pi / 2), (2.0, -0.1, 0.0))


def test_any_text_is_a_shape_or_refused(tmp_path):
    from hypothesis import given, settings
    from hypothesis import strategies as st

    path = tmp_path / "any"
    heads = ["Line[", "Polygon[", "Point[", "RGBColor[", "Pi", "x", "1e400", "1/2", "{0,0,0}"]
    pieces = st.sampled_from([*heads, *'{}[],="- \n\u00b5', "(*", "*)"])

    @settings(max_examples=400, deadline=None)
    @given(st.lists(pieces, max_size=25).map("".join))
    def tried(text):
        path.write_text(text, encoding="utf-8")
        try:
            shape = read_shape(str(path))
        except FileError:
            return
        assert shape.all_points
        assert np.isfinite(shape.all_points).all()

    tried()
