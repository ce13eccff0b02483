"""Long work of the window's thread is done in slices that all share."""

import time

import shiboken6
from PySide6.QtCore import QObject

from app.background import slices as module
from app.background.slices import Slices
from core.functions.results import Message, Report
from tests.app.conftest import pump


def worker(log, name, portions):
    """Work of so many portions, each of which takes a slice."""
    left = [portions]

    def work(seconds):
        end = time.perf_counter() + module.SLICE
        while time.perf_counter() < end:
            pass
        log.append(name)
        left[0] -= 1
        return left[0] == 0

    return work


def test_all_share_one_slice_and_none_is_forgotten(qapp):
    log, slices = [], Slices()
    owners = [QObject() for _ in range(3)]
    for k, owner in enumerate(owners):
        slices.add(owner, worker(log, k, 2))
    slices._run_next_slice()
    assert log == [0]  # one slice, not one for each
    assert pump(lambda: len(log) == 6, 5.0)
    assert log == [0, 1, 2, 0, 1, 2]
    assert not slices._timer.isActive()


def test_work_ends_with_its_owner(qapp):
    log, slices, owner = [], Slices(), QObject()
    other = QObject()
    slices.add(owner, worker(log, "gone", 2))
    slices.add(other, worker(log, "dropped", 2))
    shiboken6.delete(owner)
    slices.drop(other)
    assert pump(lambda: not slices._timer.isActive(), 5.0)
    assert log == []


def test_what_waits_is_not_added_again(qapp):
    log, slices, owner = [], Slices(), QObject()
    work = worker(log, "once", 1)
    slices.add(owner, work)
    slices.add(owner, work)
    assert pump(lambda: not slices._timer.isActive(), 5.0)
    assert log == ["once"]


def test_a_long_report_comes_by_and_by_and_whole(bench):
    parts = tuple(Message(text=f"Step {k}", severity="hint") for k in range(150))
    output = bench.window.output
    output.clear()
    bench.window.docks.show_panel("output")
    bench.session.produced.emit(Report(title="Long", parts=parts))
    (card,) = output.cards
    assert 0 < len(card._parts) < 150
    bench.wait(lambda: card.is_complete)
    assert [widget.words for widget in card._parts] == [part.text for part in parts]
    places = [card._layout.indexOf(widget) for widget in card._parts]
    assert places == list(range(places[0], places[0] + 150))
    output.clear()


def test_a_report_that_is_closed_while_it_comes_is_gone(bench):
    parts = tuple(Message(text=f"Step {k}", severity="hint") for k in range(150))
    output = bench.window.output
    output.clear()
    bench.window.docks.show_panel("output")
    bench.session.produced.emit(Report(title="Long", parts=parts))
    made = len(output.cards[0]._parts)
    card = output.cards[0]
    output.clear()
    assert pump(lambda: not module.shared_slices()._timer.isActive(), 5.0)
    assert made == len(card._parts)
