"""What is made ahead of the first picture is what is shown, once: files of meshes may come and go later."""

import pytest

from core.files import load
from resources import EXAMPLES
from viz.drawlist.draw_list import items
from viz.scene import prefetch


@pytest.fixture
def model():
    return load(EXAMPLES / "puma560.kst")


def test_the_draw_list_made_ahead_is_shown_once(model, monkeypatch):
    counted = []
    monkeypatch.setattr(prefetch, "items", lambda *given: counted.append(given) or items(*given))
    prefetch.prepare(model)
    assert prefetch.draw_list(model, model.values()) == items(model)
    assert len(counted) == 1
    assert prefetch.draw_list(model, None) == items(model)
    assert len(counted) == 2


def test_another_machine_and_other_parameters_are_drawn_as_they_are(model):
    other = load(EXAMPLES / "pendulum.kst")
    prefetch.prepare(model)
    assert prefetch.draw_list(other, None) == items(other)
    name = next(iter(parameter.name for parameter in model.parameters if parameter.independent))
    longer = {**model.values(), name: 2.0 * model.values()[name] + 0.1}
    prefetch.prepare(model)
    assert prefetch.draw_list(model, longer) == items(model, longer) != items(model)
