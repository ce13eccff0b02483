"""The tours: each step is played as a person would do it, and recognised whatever way it was done."""

import dataclasses

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.document.session import ElementRef
from app.tours import TOURS
from core.model import Driver
from core.model.edits import edits
from resources import examples

FOUR_BAR = next(each.path for each in examples() if each.name == "four_bar")


@pytest.fixture
def begin(bench, monkeypatch):
    """Begins a tour. Its card goes on when "Next" is pressed: on a busy machine it went on by itself twice between two
    looks of a test."""
    monkeypatch.setattr("app.tours.tour_card.TOLD", 10**6)

    def made(name):
        bench.window.settings.remember(f"tour/{name}", 0)
        bench.window.run_command(f"help.tour_{name}")
        return bench.window.dialogs.tour_card

    yield made
    if bench.window.dialogs.tour_card is not None:
        bench.window.dialogs.tour_card.leave()


def did(bench, card, act):
    """One step: not done before the act, done after it, and then comes the next."""
    step = card.step
    card.check_step()
    assert not card.praised, card.title.text()
    act()
    praised(bench, card)
    assert card.step == step
    if step + 1 < len(card.tour.steps):
        next_step(card)


def praised(bench, card):
    """The step is done by now, or will be, and the card says so."""
    bench.wait(lambda: card.check_step() or card.praised)
    assert card.text.text().startswith("✓")


def next_step(card):
    """Press Next."""
    step = card.step
    QTest.mouseClick(card.skip, Qt.MouseButton.LeftButton)
    assert (card.step, card.praised) == (step + 1, False)


def move(bench, name, angle):
    bench.session.preview_coordinates({name: angle})
    bench.session.commit("Move")


def test_a_tour_waits_for_each_act(bench, begin, tmp_path):
    window, session = bench.window, bench.session
    crank = lambda: float(session.mech.coordinate(session.q, "crank_pin")[0])  # noqa: E731
    window.run_command("file.new")
    card = begin("four_bar")
    assert not window.start_page.isVisible()
    did(bench, card, lambda: bench.open(FOUR_BAR))
    did(bench, card, lambda: move(bench, "crank_pin", crank() + 0.5))
    name = session.model.parameters[0].name
    value = session.model.parameters[0].value
    did(bench, card, lambda: session.apply("Length", lambda m: edits.change(m, "parameters", name, value=value * 1.02)))
    session.select(ElementRef("bodies", session.model.bodies[-1].name))
    did(bench, card, lambda: window.run_command("view.trace"))

    def motor_and_run():
        drivers = session.model.drivers
        if not drivers:
            session.apply("Motor", lambda m: edits.add(m, Driver(name="m", joint="crank_pin", function="2*pi*t")))
        window.run_command("simulation.run")

    did(bench, card, motor_and_run)
    if not window.panels.has_plotted_channels:
        did(bench, card, lambda: window.plots.add(("crank_pin",)))
    else:
        praised(bench, card)
        next_step(card)
    assert card.step == len(card.tour.steps) - 1
    did(bench, card, lambda: session.save(tmp_path / "mine.kst"))
    card.go_to_next()
    assert not card.on
    assert bench.window.settings.value("tour/four_bar") == 0


@pytest.mark.parametrize("name", sorted(TOURS))
def test_every_step_of_every_tour_can_be_read_and_skipped(bench, begin, name):
    window = bench.window
    card = begin(name)
    for k, step in enumerate(TOURS[name].steps):
        assert card.step == k
        bench.draw()
        assert card.title.text() == step.title
        assert (step.said if card.praised else step.text) in card.text.text()  # what is there already is praised
        host = window.viewport.widget
        assert host.rect().contains(card.geometry())
        assert card.text.height() >= card.text.heightForWidth(card.text.width()) - 1  # nothing is clipped
        card.go_to_next()
    assert not card.on


def test_a_tour_goes_on_where_it_was_left(bench, begin):
    card = begin("two_link_arm")
    card.go_to_next()
    card.go_to_next()
    card.leave()
    bench.window.run_command("help.tour_two_link_arm")
    card = bench.window.dialogs.tour_card
    assert card.step == 2
    card.go_to(1)
    assert card.count.text().endswith("2 of 5")


def test_another_tour_takes_its_place(bench, begin):
    first = begin("two_link_arm")
    second = begin("urdf_to_dh")
    assert not first.on
    assert second.on


def test_functions_asked_for_count_and_others_do_not(bench, begin):
    from core.functions import FUNCTIONS

    bench.example("two_link")
    card = begin("two_link_arm")
    card.go_to(2)

    def ask(name):
        bench.session.produced.emit(FUNCTIONS[name].run(bench.session.context()))

    from core.functions.catalogue import call

    result = call("coordinates", bench.session.context())
    bench.session.produced.emit(result)
    card.check_step()
    assert not card.praised
    bench.session.produced.emit(call("jacobian", bench.session.context()))
    card.check_step()
    assert card.praised


def test_a_machine_that_was_changed_is_not_taken_as_moved(bench, begin):
    bench.example("four_bar")
    card = begin("four_bar")
    card.go_to(1)
    bench.window.run_command("file.new")
    card.check_step()
    assert not card.praised
    assert np.isfinite(card.seen.moved)


def test_the_card_leaves_the_machine_free(bench, begin):
    """A machine that lies in the lower left quarter of the view; then one that fills its upper half."""
    bench.open(FOUR_BAR)
    card = begin("four_bar")
    bench.view.viewpoint.look_from("front")
    bench.draw()
    seen = bench.view.viewpoint.target_view

    def look(up):
        """The machine as far up or down as a third of what is seen."""
        target = np.array(seen.target) + seen.axes @ (seen.half_height / 3.0, -up * seen.half_height / 3.0, 0.0)
        bench.view.viewpoint.set_view(dataclasses.replace(seen, distance=2.0 * seen.distance, target=tuple(target)))

    for up in (-2.0, 2.0):
        look(up)
        below = up > 0.0
        bench.wait(lambda below=below: (card.geometry().center().y() > bench.view.height() / 2.0) == below)


def test_what_is_done_while_a_step_is_praised_counts_for_the_next(bench, begin, monkeypatch):
    """The card goes on by itself."""
    monkeypatch.setattr("app.tours.tour_card.TOLD", 50)
    bench.open(FOUR_BAR)
    card = begin("four_bar")
    bench.wait(lambda: card.check_step() or card.praised)
    move(bench, "crank_pin", float(bench.session.mech.coordinate(bench.session.q, "crank_pin")[0]) + 0.5)
    bench.wait(lambda: card.step == 1)
    bench.wait(lambda: card.check_step() or card.praised)


def test_the_tour_of_maps_is_played(bench, begin):
    window, session = bench.window, bench.session
    window.run_command("file.new")
    card = begin("workspace_map")
    did(bench, card, lambda: bench.open(next(each.path for each in examples() if each.name == "sprung_arm")))
    praised(bench, card)  # the example comes with a map
    next_step(card)
    bench.wait(lambda: not window.jobs.unfinished_jobs)
    maps = bench.view.maps
    here = maps.shown.result.map.q - session.q
    did(bench, card, lambda: maps.move_to_sample(int(np.argmax(np.abs(here).max(axis=1)))))

    def longer():
        session.preview(parameters={"upper": 0.7})
        session.commit("Length")
        bench.wait(lambda: bool(maps.old))
        bench.view.map_legend.update_button.click()

    did(bench, card, longer)
    bench.wait(lambda: not window.jobs.unfinished_jobs)
    session.mapped.emit(None)
