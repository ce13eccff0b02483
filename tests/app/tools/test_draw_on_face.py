"""The working plane is taken from a flat face that is pointed at, with real mouse events."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.tools.draw.bar import NO_FACE, FacePlaneSubTool
from app.tools.draw.tool import draw_controller
from core.mechanism import Mechanism
from core.model import Body, Box, Cylinder, Inertia, Joint, Mesh, Model, Pose
from core.model.edits import edits

SOLID = Inertia(ixx=0.01, iyy=0.01, izz=0.01)
STANDS = (0.05, -0.02, 0.1)
WEDGE = """solid wedge
facet normal 0 0 0
 outer loop
  vertex 0 0 0.1
  vertex 0.2 0 0.2
  vertex 0.2 0.2 0.2
 endloop
endfacet
facet normal 0 0 0
 outer loop
  vertex 0 0 0.1
  vertex 0.2 0.2 0.2
  vertex 0 0.2 0.1
 endloop
endfacet
facet normal 0 0 0
 outer loop
  vertex 0 0 0.1
  vertex 0.2 0 0
  vertex 0.2 0 0.2
 endloop
endfacet
endsolid wedge
"""
"""Two sides of a solid, the upper one sloping."""


@pytest.fixture
def part(bench, tmp_path):
    """Opens a part of one shape, turned about its own z by a joint, and chooses Draw on a face."""

    def opened(shape):
        if isinstance(shape, str):
            (tmp_path / "wedge.stl").write_text(shape, encoding="utf-8")
            shape = Mesh(file=str(tmp_path / "wedge.stl"))
        body = Body(name="part", mass=1.0, inertia=SOLID, shapes=(shape,))
        carrier = Joint(
            name="J", parent="world", child="part", a=Pose(position=STANDS), axis=(0, 0, 1), rest=("20 deg",)
        )
        bench.session.start_document(Model(name="one part", bodies=(body,), joints=(carrier,)))
        bench.view.viewpoint.look_from("iso")
        bench.view.viewpoint.fit_next_picture()
        bench.draw()
        bench.window.run_command("draw.on_face")
        bench.draw()
        return bench

    return opened


def pixel(bench, local):
    """Where a point of the part, in its own axes, is seen."""
    X = np.asarray(bench.session.mech.frame(bench.session.q, "part"))
    x, y = np.array(bench.view.scene.project(X[:3, :3] @ local + X[:3, 3])) / bench.view.devicePixelRatioF()
    return float(x), float(y)


def click_in_plane(bench, point):
    """Move to a point of the working plane and click."""
    x, y, z = draw_controller(bench.view).drawing.world_point(point).tolist()
    place = bench.view.annotations.pixel((x, y, z))
    bench.move(place.x(), place.y())
    bench.click(place.x(), place.y())


@pytest.mark.parametrize(
    ("shape", "at", "middle", "normal", "first"),
    [
        (Box(size=(0.1, 0.3, 0.06)), (0.02, 0.05, 0.03), (0, 0, 0.03), (0, 0, 1), (0, 1, 0)),
        (Box(size=(0.1, 0.3, 0.06)), (0.0, -0.15, 0.0), (0, -0.15, 0), (0, -1, 0), (1, 0, 0)),
        (Cylinder(radius=0.1, length=0.2), (0.03, -0.04, 0.1), (0, 0, 0.1), (0, 0, 1), (1, 0, 0)),
        (WEDGE, (0.1, 0.1, 0.15), (0.1, 0.1, 0.15), np.array((-1, 0, 2)) / 5**0.5, np.array((2, 0, 1)) / 5**0.5),
    ],
)
def test_the_plane_lies_in_the_face_that_is_clicked_and_what_is_drawn_stands_on_its_body(
    part, shape, at, middle, normal, first
):
    bench = part(shape)
    hand = draw_controller(bench.view)
    before = bench.session.model
    bench.move(*pixel(bench, at))
    assert bench.view.annotations.value == "face of part"
    outline = np.array([each.start for each in bench.view.annotations.lines])
    X = np.asarray(bench.session.mech.frame(bench.session.q, "part"))
    away = (outline - X[:3, 3]) @ X[:3, :3] - middle
    assert np.abs(away @ normal).max() < 1e-6, "all that is shown lies in the face"
    assert bench.session.model is before, "shown before anything is made"
    bench.click(*pixel(bench, at))
    frame = bench.session.model.find("frames", hand.plane.parent)
    assert frame.parent == "part"
    X_BF = np.linalg.inv(X) @ hand.drawing.X_WD
    assert X_BF[:3, 3] == pytest.approx(middle, abs=1e-6)
    assert X_BF[:3, 2] == pytest.approx(normal, abs=1e-6)
    assert X_BF[:3, 0] == pytest.approx(first, abs=1e-6)
    bench.draw()
    assert bench.view.scene.view.axes[:, 2] == pytest.approx(hand.drawing.X_WD[:3, 2], abs=1e-6), (
        "seen flat, from outside"
    )
    for point in ((0.02, 0.02), (0.05, 0.04)):
        click_in_plane(bench, point)
    pin = bench.session.model.joints[-1]
    mech = Mechanism(bench.session.model)
    X_Wa = np.asarray(mech.joint_poses(bench.session.q)[pin.name][0])
    assert bench.session.model.carrier(pin.parent).name == "part"
    assert X[:3, :3].T @ X_Wa[:3, :3] @ pin.axis == pytest.approx(normal, abs=1e-6)
    while bench.session.undo_label:
        bench.session.undo()
    assert bench.session.model == before


def test_a_face_is_chosen_before_the_tool(part):
    """Shift+D takes the face under the pointer; where there is none, one is asked for."""
    bench = part(Box(size=(0.1, 0.3, 0.06)))
    bench.window.run_command("tool.select")
    bench.view.viewpoint.look_from("iso")
    bench.view.viewpoint.fit_next_picture()
    bench.draw()
    hand = draw_controller(bench.view)
    bench.move(3.0, 3.0)
    bench.window.run_command("draw.on_this_face")
    assert bench.session.model.frames == ()
    assert bench.messages("hint")[-1] == NO_FACE
    assert isinstance(hand.sub, FacePlaneSubTool)
    bench.window.run_command("tool.select")
    bench.view.viewpoint.look_from("iso")
    bench.view.viewpoint.fit_next_picture()
    bench.draw()
    bench.move(*pixel(bench, (0.02, 0.05, 0.03)))
    QTest.keyClick(bench.view, Qt.Key.Key_D, Qt.KeyboardModifier.ShiftModifier)
    frame = bench.session.model.find("frames", hand.plane.parent)
    assert frame.parent == "part"
    X = np.asarray(bench.session.mech.frame(bench.session.q, "part"))
    assert (np.linalg.inv(X) @ hand.drawing.X_WD)[:3, 2:] == pytest.approx(
        np.array([[0, 0], [0, 0], [1, 0.03]]), abs=1e-6
    )
    assert hand.sub.key == "l"


def test_where_there_is_no_flat_face_none_is_taken_and_escape_leads_back(part):
    bench = part(Cylinder(radius=0.1, length=0.2))
    hand = draw_controller(bench.view)
    before, side = hand.plane, pixel(bench, (0.07, -0.07, 0.0))
    bench.move(*side)
    assert not bench.view.annotations.lines
    bench.click(*side)
    assert bench.messages("hint")[-1] == NO_FACE
    assert bench.session.model.frames == ()
    QTest.keyClick(bench.view, Qt.Key.Key_Escape)
    assert (hand.sub.key, hand.plane, bench.view.gestures.tool.id) == ("l", before, "draw")
    bench.draw()
    assert abs(bench.view.scene.view.axes[:, 2] @ hand.drawing.X_WD[:3, 2]) == pytest.approx(1.0)


def test_the_same_face_again_takes_the_frame_that_is_there(part):
    bench = part(Box(size=(0.1, 0.3, 0.06)))
    for _ in range(2):
        bench.window.run_command("draw.on_face")
        bench.draw()
        top = pixel(bench, (0.02, 0.05, 0.03))
        bench.move(*top)
        bench.click(*top)
    assert [frame.name for frame in bench.session.model.frames] == ["plane1"]


def test_a_body_that_is_deleted_while_one_draws_on_it_takes_its_plane_along(part):
    """What stood on it goes with it, drawing goes on in a plane that is there, and undo brings all back."""
    bench = part(Box(size=(0.1, 0.3, 0.06)))
    hand = draw_controller(bench.view)
    at = (0.02, 0.05, 0.03)
    bench.move(*pixel(bench, at))
    bench.click(*pixel(bench, at))
    bench.draw()
    click_in_plane(bench, (0.02, 0.02))
    session = bench.session
    drawn = session.model
    session.apply("Delete", lambda model: edits.remove(model, "bodies", "part"))
    bench.draw()
    assert not bench.messages("error")
    assert hand.plane.parent in ("world", *(frame.name for frame in session.model.frames))
    click_in_plane(bench, (0.02, 0.02))
    click_in_plane(bench, (0.05, 0.04))
    assert len(session.model.bodies) == 1
    assert session.model.joints[-1].parent == "world"
    while session.model is not drawn and session.undo_label:
        session.undo()
    assert session.model == drawn
