"""Scenes are drawn as they are, whatever tests of the window before have switched off."""

import pytest

from viz.scene import quality
from viz.scene.scene import Scene

DRAW, SMOOTH = Scene.render, quality.set_antialiasing


@pytest.fixture(autouse=True)
def _drawn_as_it_is(monkeypatch):
    monkeypatch.setattr(Scene, "render", DRAW)
    monkeypatch.setattr(quality, "set_antialiasing", SMOOTH)
