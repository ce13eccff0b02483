"""A map in the scene: shown with its card, hidden, taken by a click, in the colours of the look."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF

from app.panels.output.map_part import MapPart
from core.functions import call
from core.functions.diagrams import SpaceMap
from core.studies.workspace.mapping import workspace


@pytest.fixture
def shown(bench):
    """An arm with a map of where its tool can be, in a plane; its card is the newest."""
    bench.example("scara")
    found = workspace(bench.session.mech, kind="isotropy", over=["joint1", "joint2"], samples=600)
    bench.session.produced.emit(SpaceMap.of(found))
    bench.wait(lambda: bench.view.maps.shown is not None)
    bench.draw()
    yield bench
    bench.session.mapped.emit(None)


def part_of(bench):
    return bench.window.findChildren(MapPart)[-1]


def test_a_map_stands_in_the_scene_with_its_scale(shown):
    scene, legend = shown.view.scene, shown.view.map_legend
    assert scene.map.visible_actors
    assert legend.isVisible()
    found = part_of(shown).part.map
    assert legend.size_label.text() == found.size_text
    assert float(legend.low.text()) == pytest.approx(found.range[0], rel=5e-3)
    assert legend.geometry().bottom() < shown.view.height()


def test_a_click_takes_the_pose_that_reaches_the_place(shown):
    """The place is beside the machine in the picture; one step takes it back."""
    found, scene, session = part_of(shown).part.map, shown.view.scene, shown.session
    before, ratio = session.q.copy(), scene.pixel_ratio
    free = None
    for sample in found.shown:
        x, y = scene.project(found.points[sample])
        if (
            scene.pick(x, y) is None
            and shown.view.maps.sample_under(shown.view.to_pointer(QPointF(x / ratio, y / ratio))) is not None
        ):
            free = x / ratio, y / ratio
            break
    assert free is not None
    shown.click(*free)
    place = np.asarray(session.mech.frame(session.q, found.frame))[:3, 3]
    x, y = scene.project(place)
    assert np.hypot(x / ratio - free[0], y / ratio - free[1]) < 30.0
    assert (np.abs(found.q - session.q).max(axis=1) < 1e-9).any()
    assert not np.allclose(before, session.q)
    session.undo()
    assert np.allclose(before, session.q)


def test_the_map_goes_with_its_card(shown):
    part = part_of(shown)
    part.shown.click()
    assert shown.view.maps.shown is None
    assert not shown.view.map_legend.isVisible()
    assert not shown.view.scene.map.visible_actors
    part.shown.click()
    assert shown.view.scene.map.visible_actors
    part.close()
    assert shown.view.maps.shown is None


def test_another_document_has_no_map(shown):
    shown.example("pendulum")
    assert shown.view.maps.shown is None
    assert not shown.view.scene.map.visible_actors


def test_a_map_after_a_change_is_compared_with_the_one_before(shown):
    first = part_of(shown).part.map
    found = workspace(
        shown.session.mech,
        kind="isotropy",
        over=["joint1", "joint2"],
        samples=600,
        p={"a2": 0.9 * float(shown.session.p["a2"])},
    )
    shown.session.produced.emit(SpaceMap.of(found))
    part = part_of(shown)
    assert part.compare.isVisibleTo(part)
    assert part.part.map is found
    part.compare.click()
    change = shown.view.maps.shown.result.map
    assert change.area == pytest.approx(found.area - first.area, rel=1e-9)
    assert change.title.startswith("Change")


def test_a_map_is_written_from_its_card(shown, tmp_path):
    part = part_of(shown)
    part.write_map(str(tmp_path / "map.csv"))
    assert len((tmp_path / "map.csv").read_text(encoding="utf-8").splitlines()) == 1 + len(part.part.map.points)
    part.write_map(str(tmp_path / "map.doc"))
    assert "format" in shown.messages("error")[-1]


def test_an_edit_makes_the_map_old_and_update_asks_again(bench):
    bench.example("two_link")
    context = bench.session.context()
    bench.session.produced.emit(call("workspace", context, samples=300))
    bench.wait(lambda: bench.view.maps.shown is not None)
    legend = bench.view.map_legend
    first = bench.view.maps.shown.result.map
    assert not legend.note.words
    name = bench.session.model.parameters[0].name
    bench.session.preview(parameters={name: 2.0 * float(bench.session.p[name])})
    bench.session.commit("Longer")
    bench.wait(lambda: bool(legend.note.words))
    assert legend.note.words.startswith("Outdated: ")
    assert name in legend.note.words
    assert legend.update_button.isVisible()
    legend.update_button.click()
    bench.wait(lambda: not bench.view.maps.old)
    bench.wait(lambda: not bench.window.jobs.unfinished_jobs)
    second = bench.view.maps.shown.result.map
    assert second is not first
    assert second.complete
    assert second.area == pytest.approx(workspace(bench.session.mech, samples=300, p=bench.session.p).area)
    assert not legend.note.words
    assert not legend.update_button.isVisible()
    bench.session.undo()
    bench.wait(lambda: bool(legend.note.words))
    bench.session.mapped.emit(None)


def test_a_map_gets_finer_on_one_card_and_keeps_its_look(bench, monkeypatch):
    monkeypatch.setattr("core.studies.workspace.grown_samples.LEAST_PAUSE", 0.0)
    bench.example("scara")
    bench.session.mapped.emit(None)
    seen = []
    bench.session.mapped.connect(lambda shown: seen.append(shown))
    bench.window.panels.open_function("workspace")
    job = bench.window.functions.run()
    bench.wait(lambda: bool(seen))
    part = part_of(bench)
    part.form.setCurrentIndex(part.form.findData("surface"))
    part.form.activated.emit(part.form.currentIndex())
    bench.wait(lambda: job not in bench.window.jobs.unfinished_jobs)
    bench.wait(lambda: bench.view.maps.shown.result.map.complete)
    assert part_of(bench) is part
    assert bench.view.maps.shown.form == "surface"
    assert part.part.map is bench.view.maps.shown.result.map
    assert bench.view.maps.shown.result.size
    bench.session.mapped.emit(None)


def test_a_stopped_map_stays_with_what_there_is(bench):
    bench.example("scara")
    bench.session.mapped.emit(None)
    bench.window.panels.open_function("workspace")
    form = bench.window.functions.form
    form.show_options({**form.options(), "samples": 400_000})
    job = bench.window.functions.run()
    bench.wait(lambda: bench.view.maps.shown is not None)
    form.stopped.emit()
    bench.wait(lambda: job not in bench.window.jobs.unfinished_jobs)
    found = bench.view.maps.shown.result.map
    assert not found.complete
    assert not found.growing
    assert any("stopped" in note for note in found.notes)
    assert "stopped" in bench.view.map_legend.size_label.text()
    bench.session.mapped.emit(None)
