"""The scene follows an edited model in a turn of its own, and whoever looks at it finds the model as it is now."""

import pytest

from app.commands.elements import add_link
from app.document.session import ElementRef
from tests.app.conftest import settle
from viz.scene.scene import Scene


@pytest.fixture
def shown(monkeypatch):
    """The models that a scene was told to show."""
    models, show = [], Scene.show_model

    def record(scene, model, p=None):
        models.append(model)
        show(scene, model, p)

    monkeypatch.setattr(Scene, "show_model", record)
    return models


def test_edits_of_one_turn_are_drawn_once_after_it(bench, shown):
    bench.example("four_bar")
    shown.clear()
    add_link(bench.session)
    add_link(bench.session)
    assert shown == []
    settle()
    assert [model is bench.session.model for model in shown] == [True]


def test_whoever_looks_at_the_scene_finds_what_is_open(bench, shown):
    bench.example("four_bar")
    add_link(bench.session)
    body = bench.session.model.bodies[-1].name
    assert bench.view.scene.model is bench.session.model
    assert bench.view.scene.is_drawn(ElementRef("bodies", body))
    count = len(shown)
    settle()
    assert len(shown) == count


def test_the_view_is_fitted_to_what_is_open(bench):
    bench.example("four_bar")
    before = bench.view.viewpoint.fitted_view(bench.view.viewpoint.target_view)
    for _ in range(6):
        add_link(bench.session)
    wide = bench.view.viewpoint.fitted_view(bench.view.viewpoint.target_view)
    assert wide.half_height > 1.5 * before.half_height


def test_what_was_chosen_and_moved_meanwhile_is_seen(bench):
    bench.example("puma560")
    add_link(bench.session)
    name = bench.session.mech.q_names[0]
    bench.session.preview_coordinates({name: 0.7})
    settle()
    pose = bench.session.mech.frame(bench.session.q, "link1")
    assert bench.view.scene._poses["link1"] == pytest.approx(pose)
    bench.session.cancel_preview()
