"""The plane of a map is moved and turned by its handle, and the map follows."""

import numpy as np
import pytest

from core.functions import call
from viz.camera import metres_per_pixel
from viz.scene.axis_handle import ARROW
from viz.scene.plane_handle import PARTS, PlanePosition

MOVE, ABOUT_U, ABOUT_V = PARTS


@pytest.fixture
def sliced(bench):
    """A PUMA with the map of a section across y."""
    bench.example("puma560")
    bench.session.produced.emit(call("workspace", bench.session.context(), samples=800, slice="y", at=0.1))
    bench.wait(lambda: bench.view.maps.shown is not None)
    bench.draw()
    yield bench
    bench.session.mapped.emit(None)


def waits_for_another(bench, before):
    bench.wait(lambda: bench.view.maps.shown.result.map is not before and not bench.window.jobs.unfinished_jobs)
    bench.draw()
    return bench.view.maps.shown.result.map


def tip(bench):
    """The pixel of the arrow's head, in units of the window."""
    scene = bench.view.scene
    place = scene.plane_handle.place
    scale = metres_per_pixel(scene.view, scene.size, place.centre) * scene.pixel_ratio
    x, y = scene.project(place.centre + 0.85 * ARROW * scale * place.axes_and_normal[:, 2])
    return x / scene.pixel_ratio, y / scene.pixel_ratio


def test_the_arrow_moves_the_plane_along_its_normal(sliced):
    scene, before = sliced.view.scene, sliced.view.maps.shown.result.map
    assert scene.plane_handle.place is not None
    x, y = tip(sliced)
    held = scene.plane_handle.place
    assert scene.plane_handle.pick(scene.ray(x * scene.pixel_ratio, y * scene.pixel_ratio)) is MOVE
    end = held.centre + 0.15 * held.axes_and_normal[:, 2]
    a, b = (np.array(scene.project(point)) / scene.pixel_ratio for point in (held.centre, end))
    sliced.drag([(x, y), (x + b[0] - a[0], y + b[1] - a[1])])
    found = waits_for_another(sliced, before)
    sign = held.axes_and_normal[1, 2]
    assert found.points[:, 1] == pytest.approx(np.full(len(found.points), 0.1 + 0.15 * sign), abs=0.03)
    assert np.ptp(found.points[:, 1]) < 1e-9
    assert sliced.view.maps.shown.result.asked.options["at"] == pytest.approx(found.points[0, 1], abs=1e-8)
    assert scene.plane_handle.place.centre[1] == pytest.approx(found.points[0, 1], abs=1e-9)


def test_a_turned_plane_is_asked_for_by_its_normal(sliced):
    before, handle = sliced.view.maps.shown.result.map, sliced.view.scene.plane_handle
    place = handle.place.moved_by(ABOUT_U, np.radians(25.0))
    sliced.view.maps.request_in_plane(place)
    found = waits_for_another(sliced, before)
    normal = place.axes_and_normal[:, 2]
    assert (found.points - place.centre) @ normal == pytest.approx(np.zeros(len(found.points)), abs=1e-5)
    options = sliced.view.maps.shown.result.asked.options
    assert options["slice"] == "normal"
    back = handle.place.moved_by(PARTS[1 + int(np.argmax(np.abs(handle.place.axes @ place.axes[0])))], 0.0)
    assert back.axes_and_normal == pytest.approx(handle.place.axes_and_normal)


def test_escape_leaves_the_map_as_it_was(sliced):
    scene, before = sliced.view.scene, sliced.view.maps.shown.result.map
    centre = scene.plane_handle.place.centre.copy()
    from app.tools.drag_handles import drag_map_plane

    x, y = tip(sliced)
    from PySide6.QtCore import QPointF

    gesture = drag_map_plane(sliced.view, MOVE, sliced.view.to_pointer(QPointF(x, y)))
    next(gesture)
    gesture.send(sliced.view.to_pointer(QPointF(x + 40.0, y + 30.0)))
    assert not np.allclose(scene.plane_handle.place.centre, centre)
    gesture.close()
    assert scene.plane_handle.place.centre == pytest.approx(centre)
    assert not sliced.window.jobs.unfinished_jobs
    assert sliced.view.maps.shown.result.map is before


def test_a_map_of_all_has_no_handle(bench):
    bench.example("puma560")
    bench.session.produced.emit(call("workspace", bench.session.context(), samples=300))
    bench.wait(lambda: bench.view.maps.shown is not None)
    bench.draw()
    assert bench.view.scene.plane_handle.place is None
    bench.session.mapped.emit(None)


def test_parts_turn_about_their_own_axis():
    place = PlanePosition(np.array([0.1, 0.2, 0.3]), np.eye(3)[:2], 0.5)
    for part, axis in ((ABOUT_U, 0), (ABOUT_V, 1)):
        turned = place.moved_by(part, 0.4)
        c, s = np.cos(0.4), np.sin(0.4)
        wanted = np.array([0.0, -s, c]) if axis == 0 else np.array([s, 0.0, c])  # Rx(0.4) z, Ry(0.4) z
        assert turned.axes_and_normal[:, 2] == pytest.approx(wanted, abs=1e-15)
        assert turned.centre == pytest.approx(place.centre)
    assert place.moved_by(MOVE, 0.25).centre == pytest.approx([0.1, 0.2, 0.55])
