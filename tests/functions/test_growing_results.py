"""Results in symbols appear while they are derived, stop in time or when asked, and go on from where they were."""

import dataclasses
import threading

import pytest

from app.background import jobs as jobs_module
from app.background.jobs import Jobs
from app.document.session import Session
from app.panels.functions.panel import FunctionPanel
from app.panels.output.panel import OutputPanel
from app.preferences.settings import Settings
from app.runs.answers import ResultUpdater
from core.files import load
from core.functions import Context, call
from core.functions.context import Cancelled
from core.functions.results import Formulas, Message, leaf_results
from core.functions.subjects import symbols
from core.symbolic.forms import Symbol
from resources import EXAMPLES

WAITING = Symbol(symbols.WAITING)


@pytest.fixture(autouse=True)
def shown_often(monkeypatch):
    """Every row is shown; nothing is known from another test."""
    from core.functions.subjects import robot_formulas

    monkeypatch.setattr(symbols, "SHOW_EVERY", 0.0)
    robot_formulas._kept.clear()


def context(seen, name="puma560.kst", **more):
    return dataclasses.replace(Context.of(load(EXAMPLES / name)), show=seen.append, **more)


def labels(result):
    return [part.label for part in leaf_results(result) if isinstance(part, Formulas)]


def test_a_report_shows_each_result_as_soon_as_it_is_there():
    seen = []
    whole = call("symbolic_dynamics", context(seen))
    assert labels(whole) == ["P", "M", "CM", "G"]
    stages = [labels(result) for result in seen]
    assert stages[0] == ["P"]
    assert ["P", "M"] in stages
    assert stages == sorted(stages, key=len)
    final = {part.label: part.entries for part in whole.parts}
    half = next(r for r in seen if labels(r) == ["P", "M", "CM"] and WAITING in r.parts[-1].entries[-1])
    there = [row for row in half.parts[-1].entries if WAITING not in row]
    assert there
    assert tuple(there) == final["CM"][: len(there)]
    assert half.parts[-1].proved is None
    assert all(part.proved for part in whole.parts)


def test_when_time_is_over_what_is_there_is_the_result_and_more_time_goes_on(monkeypatch):
    ticks = iter(range(10**6))
    monkeypatch.setattr(symbols.time, "monotonic", lambda: float(next(ticks)))
    here = context([])
    stopped = call("symbolic_dynamics", here, seconds=100.0)
    assert labels(stopped)[0] == "P"
    message = stopped.parts[-1]
    assert isinstance(message, Message)
    assert message.severity == "warning"
    assert "The time limit of 100 s passed in" in message.text
    assert "Allow more time" in message.text
    assert len(labels(stopped)) < 4 or any(WAITING in row for row in stopped.parts[-2].entries)
    assert labels(call("symbolic_dynamics", here, seconds=1e9)) == ["P", "M", "CM", "G"]


@pytest.mark.parametrize("after", [1, 5, 40])
def test_a_derivation_stops_between_entries_when_asked(after):
    asked = iter(range(10**6))
    here = context([], cancelled=lambda: next(asked) >= after)
    with pytest.raises(Cancelled):
        call("derive", here, what="C", symbols="all")


@pytest.fixture
def window(qtbot, tmp_path):
    session, jobs = Session(load(EXAMPLES / "puma560.kst")), Jobs()
    settings = Settings(tmp_path / "settings.ini")
    answers = ResultUpdater(session, jobs)
    panels = FunctionPanel(session, jobs, answers, settings), OutputPanel(session, answers, settings)
    for panel in panels:
        qtbot.addWidget(panel)
        panel.show()
    yield panels
    for panel in panels:
        panel.close()
    assert jobs.close()


@pytest.fixture
def each_seen(monkeypatch, window):
    """The derivation goes on when the window has taken what it showed, however fast the machine is."""
    taken, show = threading.Event(), jobs_module._JobState.show

    def show_and_wait(ticket, made):
        taken.clear()
        show(ticket, made)
        assert taken.wait(30)

    monkeypatch.setattr(jobs_module._JobState, "show", show_and_wait)
    window[0]._session.produced.connect(lambda _: taken.set())


@pytest.mark.usefixtures("each_seen")
def test_one_card_grows_and_ends_whole(qtbot, window):
    functions, output = window
    functions.choose("symbolic_dynamics")
    shown = []

    def note():
        """What stands on the card: the matrices, and how many entries are still awaited."""
        card = output.cards[0]
        waiting = sum(WAITING in row for part in leaf_results(card.result) for row in part.entries)
        shown.append((tuple(labels(card.result)), waiting, len(card._parts)))

    job = functions.run()
    job.grown.connect(lambda _: note())
    with qtbot.waitSignal(job.ended):
        pass
    assert len(output.cards) == 1
    whole = ("P", "M", "CM", "G")
    assert [names for names, _, _ in shown] == sorted((names for names, _, _ in shown), key=len)
    assert {whole[:1], whole[:2], whole[:3]} <= {names for names, _, _ in shown}
    assert any(waiting for _, waiting, _ in shown)
    assert all(len(names) == parts for names, _, parts in shown)
    assert labels(output.cards[0].result) == list(whole)
    assert not any(WAITING in row for part in leaf_results(output.cards[0].result) for row in part.entries)
    assert len(output.cards[0]._parts) == 4


def test_a_stopped_card_keeps_what_was_there_and_says_so(qtbot, window):
    functions, output = window
    functions.open_function("symbolic_dynamics")
    job = functions.run()
    job.grown.connect(lambda _: functions.stop())
    with qtbot.waitSignal(job.ended):
        pass
    assert [card.result.title for card in output.cards] == ["Euler–Lagrange equations (stopped)"]
    assert labels(output.cards[0].result)[0] == "P"


def test_two_runs_have_two_cards(qtbot, window):
    functions, output = window
    functions.open_function("symbolic_dynamics")
    for _ in range(2):
        with qtbot.waitSignal(functions.run().ended):
            pass
    assert len(output.cards) == 2
