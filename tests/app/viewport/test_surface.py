"""The picture of a view: in its own context, drawn when asked for, the same however the window is put together."""

import gc
import sys

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QImage, QOpenGLContext

from app.document.session import Session
from app.preferences.settings import Settings
from app.preferences.theme import Theme
from app.tools import TOOLS
from app.viewport import surface
from app.viewport.viewport import Viewport
from core.files import load
from core.model import Model
from resources import EXAMPLES
from tests.walks import slow
from viz.pictures.offscreen import open_offscreen_scene
from viz.scene import quality


@pytest.fixture
def views(drawn, qtbot, tmp_path):
    settings = Settings(tmp_path / "look.ini")
    made = [Viewport(Session(load(EXAMPLES / "puma560.kst")), settings, Theme(settings), TOOLS) for _ in range(2)]
    for view in made:
        qtbot.addWidget(view)
        view.resize(300, 240)
        view.show()
        view.grab_picture()
    yield made
    for view in made:
        view.close()


def test_what_one_view_frees_is_not_another_views(views):
    """Both contexts number their objects alike: freed in the wrong one, the other view's picture would be gone."""
    first, second = views
    before = second.grab_picture()
    second.make_current()
    first.session.start_document(Model(name="untitled"))
    first.grab_picture()
    assert second.grab_picture() == before
    assert second.ready


def test_vtk_asks_for_its_own_context(views):
    first, second = views
    first.make_current()
    own = QOpenGLContext.currentContext()
    second.make_current()
    first.vtk.MakeCurrent()
    assert QOpenGLContext.currentContext() is own


@pytest.fixture
def view(drawn, qtbot, tmp_path):
    made = viewport(tmp_path)
    qtbot.addWidget(made)
    qtbot.waitExposed(made)
    yield made
    made.close()


def viewport(folder):
    settings = Settings(folder / "look.ini")
    made = Viewport(Session(load(EXAMPLES / "puma560.kst")), settings, Theme(settings), TOOLS)
    made.resize(300, 240)
    made.show()
    return made


@pytest.mark.parametrize("name", ["forces.kst", *slow("stewart.kst", "engine_v6.kst")])
def test_a_view_that_goes_and_a_picture_of_vtks_own_take_nothing_along(view, qtbot, tmp_path, name):
    """What they free while this view's context was taken last."""
    model = view.session.model

    def anew():
        view.session.start_document(Model(name="untitled"))
        view.session.start_document(model)
        view.viewpoint.fit_next_picture()
        return view.grab_picture()

    before = anew()
    other = viewport(tmp_path)
    other.session.start_document(load(EXAMPLES / name))
    other.grab_picture()
    with open_offscreen_scene((300, 240)) as scene:
        scene.show_model(load(EXAMPLES / name))
        scene.render()
        view.session.start_document(Model(name="untitled"))
    other.close()
    other.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    del other, scene
    gc.collect()
    assert anew() == before


@pytest.mark.skipif(sys.platform != "linux", reason="the tests' screen is drawn by the processor on Linux")
def test_painted_and_composed_pictures_are_the_same(view, qtbot, tmp_path, monkeypatch):
    painted = view.grab_picture()
    assert not view.is_hardware_composed
    monkeypatch.setattr(surface, "supported_quality", lambda: "fine")
    other = viewport(tmp_path)
    qtbot.addWidget(other)
    qtbot.waitExposed(other)
    assert other.is_hardware_composed
    composed = other.grab_picture()
    formats = QImage.Format.Format_RGB32
    assert composed.convertToFormat(formats) == painted.convertToFormat(formats)
    other.close()


def test_a_picture_is_drawn_when_it_is_asked_for_and_painted_as_often_as_one_likes(view, monkeypatch):
    if view.is_hardware_composed:
        pytest.skip("graphics hardware keeps the picture")
    drawn = []
    monkeypatch.setattr(type(view.scene), "render", lambda scene, fast=False: drawn.append(fast))
    view._calm.stop()
    view.canvas.repaint()
    drawn.clear()
    view.annotations.show_value_at_pointer("1.5", 20.0, 20.0)
    view.annotations.repaint()
    view.canvas.repaint()
    assert drawn == []
    view.repaint()
    assert len(drawn) == 1


def test_a_picture_fills_the_view_after_it_was_made_larger(view):
    view.resize(320, 260)
    view.repaint()
    assert view.scene.size == view.size_in_pixels == view.vtk.GetSize()
    image = view.grab_picture()
    assert (image.width(), image.height()) == view.size_in_pixels


def test_the_still_picture_after_a_drag_is_the_one_without(smoothed, view):
    """Drawn in haste while the joint moves; afterwards pixel for pixel what it was."""
    session = view.session
    view._redraw_in_high_quality()
    before = view.grab_picture()
    assert not view.scene.hasty
    for value in (0.2, 0.4, 0.1):
        session.preview_coordinates({session.mech.q_names[1]: value})
        view._resting = False
        view.repaint()
        assert view.scene.hasty == (not view.is_hardware_composed)
    session.cancel_preview()
    view._redraw_in_high_quality()
    assert view.grab_picture() == before
    assert not view.scene.hasty


@pytest.mark.parametrize("scale", [1, 2])
def test_a_picture_that_is_kept_shows_nothing_of_the_haste_before_it(view, monkeypatch, scale):
    """Words, lines and pixels are those of the view at rest."""
    view._calm.stop()
    view.scene.set_display(labels=True, frames=True)
    still = view.grab_image(scale)
    monkeypatch.setattr(quality, "MOST_PIXELS", 10_000)
    monkeypatch.setattr(quality, "FEW_PIXELS", 10_000)
    view._resting = False
    view.repaint()
    assert view.scene.hasty
    assert view.scene.window.GetSize() != view.scene.size
    assert view.grab_image(scale) == still
