"""The instantaneous screw stands in the scene as a line and goes when the pose does."""

import numpy as np
import pytest

from app.preferences.settings import Settings
from app.window.window import Window
from core.functions.catalogue import call
from core.functions.context import Context
from tests.constraints.mobility import overconstrained as machines


@pytest.fixture
def window(qtbot, tmp_path):
    window = Window(settings=Settings(tmp_path / "settings.ini"))
    qtbot.addWidget(window)
    window.resize(900, 700)
    window.show()
    yield window
    window.session.start_document(window.session.model)
    window.dispose()


def test_the_axis_is_drawn_and_goes_with_the_pose(qtbot, window):
    window.session.start_document(machines.planar_fourbar())
    session = window.session
    context = Context(session.model, session.mech, session.q.copy(), dict(session.p))
    before = len(window.viewport.scene.overlays.visible_actors)
    session.produced.emit(call("instantaneous_screw", context, frame="link2"))
    assert len(window.viewport.scene.overlays.visible_actors) > before
    session.preview_coordinates({"J1": float(session.q[0]) + 0.1})
    assert len(window.viewport.scene.overlays.visible_actors) == before
    assert np.isfinite(session.q).all()
