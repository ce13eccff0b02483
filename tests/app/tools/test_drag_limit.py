"""Stops at the limits of a joint are dragged with the mouse."""

import os

import numpy as np
import pytest

from app.document.session import ElementRef
from core.files import dumps
from core.model import Body, Inertia, Joint, Limit, Model
from viz.scene.handles import RING, WEDGE


@pytest.fixture
def arm(bench, tmp_path):
    """An arm between −0.5 and 1 rad, selected, seen from the side."""
    body = Body(name="arm", mass=1.0, center_of_mass=(0.5, 0.0, 0.0), inertia=Inertia(ixx=0.09, iyy=0.09, izz=0.09))
    limit = Limit(lower=-0.5, upper=1.0)
    pin = Joint(name="elbow", kind="revolute", parent="world", child="arm", axis=(0.0, 0.0, 1.0), limits=(limit,))
    path = tmp_path / "arm.kst"
    path.write_text(dumps(Model(name="arm", bodies=(body,), joints=(pin,))), encoding="utf-8")
    bench.open(path)
    bench.session.select(ElementRef("joints", "elbow"))
    bench.draw()
    return bench


def place_at(bench, angle):
    """Pixel on the ring's disc at an angle, in the middle of the stops."""
    scene = bench.view.scene
    (part,) = [each for each in scene.handles.visible_parts if each.joint == "elbow"]
    spot, scale = scene.handles.part_position(part), scene.handles._scales[part]
    aside = np.cross(spot.axis, spot.reference)
    point = spot.centre + 0.95 * RING * scale * (np.cos(angle) * spot.reference + np.sin(angle) * aside)
    return tuple(np.array(scene.project(point)) / bench.view.devicePixelRatioF())


def test_a_stop_follows_the_pointer_and_is_one_edit(arm):
    begin, end = place_at(arm, 1.0 + 0.5 * WEDGE), place_at(arm, 1.4 + 0.5 * WEDGE)
    if folder := os.environ.get("KINETOSTAT_PICTURES"):
        arm.window.grab().save(os.path.join(folder, "stop_handles.png"))
    arm.press(*begin)
    for share in (0.3, 0.6, 1.0):
        arm.move(*(np.array(begin) + share * (np.array(end) - np.array(begin))))
    shown = arm.view.scene.handles.get_limits(arm.view.scene.handles.visible_parts[0])
    assert shown == (-0.5, pytest.approx(1.4, abs=0.03))
    assert arm.session.model.find("joints", "elbow").limits[0].upper == 1.0  # not before it is let go
    arm.release(*end)
    assert arm.session.model.find("joints", "elbow").limits[0].upper == pytest.approx(1.4, abs=0.03)
    assert arm.session.undo_label == "Move the upper limit of elbow"
    arm.session.undo()
    assert arm.session.model.find("joints", "elbow").limits[0].upper == 1.0


def test_stops_do_not_pass_one_another(arm):
    begin, end = place_at(arm, -0.5 - 0.5 * WEDGE), place_at(arm, 1.8)
    arm.press(*begin)
    for share in np.linspace(0.1, 1.0, 12):
        arm.move(*place_at(arm, -0.6 + share * 2.4))
    arm.release(*end)
    limit = arm.session.model.find("joints", "elbow").limits[0]
    assert limit.lower < limit.upper == 1.0
    assert limit.lower == pytest.approx(1.0, abs=1e-5)
