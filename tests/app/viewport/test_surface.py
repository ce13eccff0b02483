"""VTK frees memory of a view in that view's own context, whichever is current."""

import pytest
from PySide6.QtGui import QOpenGLContext

from app.document.session import Session
from app.preferences.settings import Settings
from app.preferences.theme import Theme
from app.tools import TOOLS
from app.viewport.viewport import Viewport
from core.files import load
from core.model import Model
from resources import EXAMPLES


@pytest.fixture
def views(drawn, qtbot, tmp_path):
    settings = Settings(tmp_path / "look.ini")
    made = [Viewport(Session(load(EXAMPLES / "puma560.kst")), settings, Theme(settings), TOOLS) for _ in range(2)]
    for view in made:
        qtbot.addWidget(view)
        view.resize(300, 240)
        view.show()
        view.grabFramebuffer()
    yield made
    for view in made:
        view.close()


def test_what_one_view_frees_is_not_another_views(views):
    """Both contexts number their objects alike: freed in the wrong one, the other view's picture would be gone."""
    first, second = views
    before = second.grabFramebuffer()
    second.makeCurrent()
    first.session.start(Model(name="untitled"))
    first.grabFramebuffer()
    assert second.grabFramebuffer() == before
    assert second.ready


def test_vtk_asks_for_its_own_context(views):
    first, second = views
    second.makeCurrent()
    first.vtk.MakeCurrent()
    assert QOpenGLContext.currentContext() is first.context()
