"""What is made ahead of the first picture is what is shown, once: files of meshes may come and go later."""

import pytest

from core.files import load
from resources import EXAMPLES
from viz.drawlist.draw_list import build_draw_list
from viz.scene import prefetch


@pytest.fixture
def model():
    return load(EXAMPLES / "puma560.kst")


def test_the_draw_list_made_ahead_is_shown_once(model, monkeypatch):
    counted = []
    monkeypatch.setattr(prefetch, "build_draw_list", lambda *given: counted.append(given) or build_draw_list(*given))
    prefetch.prepare_model(model)
    assert prefetch.get_draw_list(model, model.values()) == build_draw_list(model)
    assert len(counted) == 1
    assert prefetch.get_draw_list(model, None) == build_draw_list(model)
    assert len(counted) == 2


def test_another_machine_and_other_parameters_are_drawn_as_they_are(model):
    other = load(EXAMPLES / "pendulum.kst")
    prefetch.prepare_model(model)
    assert prefetch.get_draw_list(other, None) == build_draw_list(other)
    name = next(iter(parameter.name for parameter in model.parameters if parameter.independent))
    longer = {**model.values(), name: 2.0 * model.values()[name] + 0.1}
    prefetch.prepare_model(model)
    assert prefetch.get_draw_list(model, longer) == build_draw_list(model, longer) != build_draw_list(model)
