"""Every card is true or says that it is old: what it shows equals a fresh call of its function, whatever moves."""

import dataclasses
import re

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication

from app.document.provenance import options_for_repeat
from app.document.run_pose import RunPoseFollower
from app.document.session import Session
from app.panels.output.panel import OutputPanel
from app.panels.output.parts import PosesPart
from app.panels.output.tables import TableView
from app.runs.answers import ResultUpdater, new_card
from core.errors import KinetostatError, ModelError
from core.files import load
from core.functions import FUNCTIONS, call
from core.functions.diagrams import Diagram
from core.functions.results import PoseSequence, leaf_results
from core.functions.text import format_cell
from core.model.edits import edits
from core.simulation.simulator import simulate
from resources import EXAMPLES
from tests.functions.short_searches import FEW
from tests.walks import walk as quick_walk

TREE, CLOSED = "puma560", ("four_bar", "slider_crank", "stewart", "shaker_chord", "scara_mobile", "forces")
SHORT = FEW | {"response": {"end": 0.05, "steps": 5}}
WRITES_FILES, SWITCHES = {"picture"}, {"trig_notation"}


@dataclasses.dataclass
class Desk:
    """A session with its output, and nothing else."""

    qtbot: object
    session: Session
    jobs: object
    settings: object
    answers: ResultUpdater
    panel: OutputPanel

    def settle(self):
        """Wait until nothing is computed any more and cards have been compared."""

        def idle():
            asked = self.jobs.unfinished_jobs or self.answers._soon.isActive()
            return not (asked or self.panel._late.isActive() or self.panel._unsure)

        self.qtbot.waitUntil(idle)

    def live(self, function, **options):
        """The card of a function that follows."""
        card = new_card()
        self.answers.start_live_updates(FUNCTIONS[function], options, card)
        self.settle()
        return self.card(card)

    def once(self, function, **options):
        """The card of a function that was called once."""
        self.session.produced.emit(call(function, self.session.context(), **options))
        return self.panel.cards[-1]

    def card(self, number):
        return next(card for card in self.panel.cards if card.result.card == number)

    def fresh(self, card):
        """What its function says of the machine as it is now."""
        result = card.result
        return call(
            result.function,
            self.session.context(),
            **options_for_repeat(result.function, result.asked, self.session.model),
        )


@pytest.fixture
def desk_of(qtbot, jobs, settings):
    desks = []

    def make(example):
        session = Session()
        session.start_document(load(EXAMPLES / f"{example}.kst"))
        answers = ResultUpdater(session, jobs)
        panel = OutputPanel(session, answers, settings)
        qtbot.addWidget(panel)
        panel.resize(800, 500)
        panel.show()
        desks.append((answers, panel))
        return Desk(qtbot, session, jobs, settings, answers, panel)

    yield make
    for answers, panel in desks:
        panel.close()
        answers.close()


def cells_of(card):
    """The texts in the tables of a card, as they are seen."""
    return [
        [said(view.content.index(i, k).data()) for k in range(view.content.columnCount())]
        for view in card.findChildren(TableView)
        for i in range(view.content.rowCount())
    ]


def cells_in(result, units):
    """The texts that tables of a result should show; diagrams are drawn."""
    parts = [part for part in result.shown() if not isinstance(part, Diagram)]
    tables = [table for part in parts if (table := part.to_table()) is not None]
    return [
        [said(format_cell(cell, column, **units)) for cell, column in zip(row, table.columns, strict=True)]
        for table in tables
        for row in table.rows
    ]


DUST = re.compile(r"−?[\d.]+·10⁻(?:⁹|[¹²][⁰¹²³⁴⁵⁶⁷⁸⁹])")


def said(text):
    """A text without rounding errors, and without how well formulas agree with the kernel, which is tried at other
    random poses each time."""
    words = DUST.sub("0", re.sub(r"within \S+", "", text)).replace("─", "")
    return " ".join(words.split())


def assert_true(desk, card, where):
    """The card shows what a fresh call gives, or says that it is old."""
    if card.note.words:
        assert card.note.words.startswith("Outdated: "), (where, card.note.words)
        assert not desk.answers.is_live(card.result.card) or desk.answers.update_problem(card.result.card), where
        return
    assert card.is_complete
    units = {"degrees": desk.settings.degrees, "millimetres": desk.settings.millimetres}
    fresh = desk.fresh(card)
    assert said(card.result.to_text(**units)) == said(fresh.to_text(**units)), where
    if fresh.function != "write_equations":
        assert cells_of(card) == cells_in(fresh, units), where
    if FUNCTIONS[fresh.function].reads != "pose" or not card.result.live:
        return
    at = card.result.asked.context
    np.testing.assert_array_equal(at.q, desk.session.q)
    assert at.p == desk.session.p


def moves(desk):
    """What a person does to a machine, one thing after another."""
    session, settings = desk.session, desk.settings
    mech = session.mech
    driven = {driver.joint for driver in session.model.expanded.drivers}
    free = [c.name for c in mech.coordinates if c.dimension in ("angle", "length") and c.joint not in driven]
    name = (free or mech.q_names)[0]
    for k in range(3):
        session.preview_coordinates({name: float(session.q[mech.q_names.index(name)]) + 0.05})
        yield f"drag {k}"
    session.commit("drag")
    yield "commit"
    session.undo()
    yield "undo"
    session.redo()
    yield "redo"
    for parameter in mech.p_names[:1]:
        session.preview(parameters={parameter: 1.01 * session.p[parameter]})
        yield "slider"
        session.commit("slider")
        yield "slider let go"
    body = session.model.bodies[-1].name if session.model.bodies else ""
    if body:
        session.apply("mass", lambda model: edits.change(model, "bodies", body, mass=0.7, density=None))
        yield "edit"
        session.undo()
        yield "edit undone"
    settings.degrees = not settings.degrees
    settings.millimetres = not settings.millimetres
    yield "units"


def walk(desk, cards):
    for where in moves(desk):
        desk.settle()
        for card in cards:
            assert_true(desk, card, (where, card.result.call))


@pytest.mark.parametrize("example", quick_walk([TREE, *CLOSED], quick=[TREE, "four_bar", "shaker_chord"]))
def test_live_cards_equal_a_fresh_call_wherever_the_machine_goes(desk_of, example):
    desk = desk_of(example)
    live = [f for f in FUNCTIONS.values() if f.live and not f.unavailability_reason(desk.session.context())]
    cards = []
    for function in live:
        try:
            call(function.id, desk.session.context())
        except ModelError:  # e.g. there is no motion of which a screw could be told
            continue
        cards.append(desk.live(function.id))
    assert len(cards) >= 6
    walk(desk, cards)
    assert all(desk.answers.is_live(card.result.card) for card in cards)


@pytest.mark.slow
def test_cards_of_one_call_are_true_or_say_that_they_are_old(desk_of):
    desk = desk_of(TREE)
    left_out = WRITES_FILES | SWITCHES
    wanted = [
        f for f in FUNCTIONS.values() if f.id not in left_out and not f.unavailability_reason(desk.session.context())
    ]
    cards = [desk.once(function.id, **SHORT.get(function.id, {})) for function in wanted]
    desk.qtbot.waitUntil(lambda: all(card.is_complete for card in cards))
    walked = []
    for where in moves(desk):
        desk.settle()
        walked.append(where)
        for card in cards:
            if FUNCTIONS[card.result.function].reads == "pose" and where in ("drag 0", "commit", "slider"):
                assert card.note.words.startswith("Outdated: "), (where, card.result.call)
        if where in ("drag 2", "undo"):  # symbolic answers take a while
            for card in cards:
                assert_true(desk, card, (where, card.result.call))
    assert "slider let go" in walked


@pytest.mark.parametrize("example", [TREE, "four_bar"])
def test_what_does_not_read_the_pose_is_the_same_at_every_pose(desk_of, example):
    session = desk_of(example).session
    rest = session.context()
    name = session.mech.q_names[0]
    session.preview_coordinates({name: float(session.q[0]) + 0.4})
    moved = session.context()
    assert not np.allclose(rest.q, moved.q)
    for function in FUNCTIONS.values():
        if function.reads != "pose" and function.id not in SWITCHES and not function.unavailability_reason(rest):
            few = SHORT.get(function.id, {})
            texts = [said(call(function.id, context, **few).to_text()) for context in (rest, moved)]
            assert texts[0] == texts[1], function.id


def test_update_asks_the_same_of_the_machine_as_it_is_now(desk_of):
    desk = desk_of("four_bar")
    card = desk.once("gravity")
    desk.session.preview_coordinates({"crank_pin": 1.1})
    desk.session.commit("move")
    desk.settle()
    assert card.note.words == "Outdated: moved: crank_pin, moving_pin_a, rocker_pin."
    assert card.update_button.isVisible()
    card.update_button.click()
    desk.settle()
    assert desk.panel.cards == [card]
    assert not card.note.words
    assert not card.update_button.isVisible()
    assert card.result.to_text() == call("gravity", desk.session.context()).to_text()


def test_a_card_names_machine_and_pose_in_the_persons_units(desk_of):
    desk = desk_of("four_bar")
    card = desk.live("coordinates")
    assert card.origin.text() == f"{desk.session.model.name}, reference configuration"
    desk.session.preview_coordinates({"crank_pin": np.radians(40.0)})
    desk.settle()
    shown = dict(zip((row[0] for row in cells_of(card)), (row[2] for row in cells_of(card)), strict=True))
    assert shown["crank_pin"] == "40°"
    assert card.origin.text() == f"{desk.session.model.name}, " + ", ".join(f"{k} = {v}" for k, v in shown.items())
    desk.settings.degrees = False
    assert "crank_pin = 0.698132 rad" in card.origin.text()


def test_a_card_names_the_moment_of_a_run(desk_of):
    desk = desk_of("pendulum")
    session = desk.session
    follower = RunPoseFollower(session)
    session.runs.add(simulate(session.mech, 0.5))
    session.runs.seek(0.25)
    card = desk.live("gravity")
    assert card.origin.text() == f"{session.model.name}, t = 0.25 s of {session.runs.current.name}"
    session.runs.seek(0.5)
    desk.settle()
    assert f"t = 0.5 s of {session.runs.current.name}" in card.origin.text()
    assert_true(desk, card, "run")
    follower.close()


def test_cards_of_a_machine_that_is_gone_say_so_and_keep_their_numbers(desk_of):
    desk = desk_of("four_bar")
    live, once = desk.live("jacobian"), desk.once("gravity")
    before = live.result.to_text(), once.result.to_text(), live.origin.text()
    desk.session.start_document(load(EXAMPLES / "slider_crank.kst"))
    desk.settle()
    for card in (live, once):
        assert card.note.words == "The machine of this result is no longer open."
        assert not card.update_button.isVisible()
        assert not card.live.isVisible()
    desk.session.preview_coordinates({desk.session.mech.q_names[0]: 0.6})
    desk.settle()
    assert (live.result.to_text(), once.result.to_text(), live.origin.text()) == before
    new = desk.live("jacobian")
    assert new is not live
    assert new.origin.text().startswith(desk.session.model.name)


def test_poses_of_another_machine_are_not_taken(desk_of):
    """Two machines with as many coordinates."""
    desk = desk_of("four_bar")
    card = desk.once("show_robot", ranges=["crank_pin=0:1:3"])
    told = []
    desk.session.message.connect(lambda severity, text: told.append(text))
    desk.session.start_document(load(EXAMPLES / "slider_crank.kst"))
    before = desk.session.q.copy()
    part = card.findChild(PosesPart)
    part._number.setCurrentIndex(2)
    part.use_pose()
    np.testing.assert_array_equal(desk.session.q, before)
    assert "another machine" in told[-1]


def test_each_of_several_sequences_is_named_and_shown_again_itself(desk_of, qtbot):
    """Modes of a linear system: each has a film."""
    desk = desk_of("double_pendulum")
    card = desk.once("linear_system")
    qtbot.waitUntil(lambda: card.is_complete)
    sequences = [part for part in leaf_results(card.result) if isinstance(part, PoseSequence)]
    rows = card.findChildren(PosesPart)
    assert [row._name.text() for row in rows] == [each.title for each in sequences]
    assert len(rows) > 1
    asked = []
    desk.session.shown_again.connect(lambda _, poses: asked.append(poses))
    for row in rows:
        assert not row._name.isHidden()
        row._show_in_scene()
    assert all(a is b for a, b in zip(asked, sequences, strict=True))


def test_shown_again_poses_stay_on_their_card(desk_of):
    desk = desk_of("four_bar")
    card = desk.once("show_robot", ranges=["crank_pin=0:1:3"])
    card.findChild(PosesPart)._show_in_scene()
    assert desk.panel.cards == [card]


def test_renamed_elements_are_followed_and_deleted_ones_told(desk_of):
    desk = desk_of("four_bar")
    session = desk.session
    card = desk.live("forward_kinematics", frames=("rocker",), reference="crank")
    once = desk.once("jacobian", frame="rocker")
    session.apply("Rename", lambda model: edits.rename(model, "bodies", "rocker", "swing"))
    desk.settle()
    assert not card.note.words
    assert card.result.call == 'forward_kinematics(frames=("swing",), reference="crank")'
    assert once.note.words == "Outdated: edited: 'rocker' renamed to 'swing'."
    once.update_button.click()
    desk.settle()
    assert once.result.call == 'jacobian(frame="swing")'
    session.undo()
    desk.settle()
    assert card.result.call == 'forward_kinematics(frames=("rocker",), reference="crank")'
    gone = desk.live("jacobian", frame="coupler_point")
    session.apply("Delete", lambda model: edits.remove(model, "frames", "coupler_point"))
    desk.settle()
    assert gone.note.words.startswith("Outdated: edited: frame 'coupler_point'. It cannot be updated:")
    session.undo()
    desk.settle()
    assert not gone.note.words
    assert_true(desk, gone, "deletion undone")


def test_joints_in_a_text_of_names_are_followed_when_renamed(desk_of):
    desk = desk_of("four_bar")
    card = desk.live("jacobian", actuators="rocker_pin", frame="coupler")
    desk.session.apply("Rename", lambda model: edits.rename(model, "joints", "rocker_pin", "pin"))
    desk.settle()
    assert 'actuators="pin"' in card.result.call
    assert_true(desk, card, "renamed")


def test_two_live_cards_of_one_function_follow_beside_each_other(desk_of):
    desk = desk_of(TREE)
    first, second = desk.live("jacobian", frame="link3"), desk.live("jacobian", frame="link5")
    desk.session.preview(q=desk.session.q + 0.2)
    desk.settle()
    assert [card.result.call for card in (first, second)] == ['jacobian(frame="link3")', 'jacobian(frame="link5")']
    for card in (first, second):
        assert_true(desk, card, "moved")


def test_a_card_that_lives_no_longer_grows_old(desk_of):
    desk = desk_of("four_bar")
    card = desk.live("gravity")
    assert card.live.isChecked()
    card.live.click()
    desk.session.preview_coordinates({"crank_pin": 0.9})
    desk.settle()
    assert card.note.words.startswith("Outdated: moved: ")
    card.live.click()
    desk.settle()
    assert not card.note.words
    assert_true(desk, card, "live again")
    card.removed.emit()
    assert not desk.answers._following


def test_copies_say_what_is_shown(desk_of):
    desk = desk_of("four_bar")
    card = desk.once("coordinates")
    desk.session.preview_coordinates({"crank_pin": np.radians(40.0)})
    card = desk.live("coordinates")
    for degrees, shown in ((True, "40"), (False, "0.698132")):
        desk.settings.degrees = degrees
        assert shown in next(row[2] for row in cells_of(card))
        assert shown in card.format_text()
        assert shown in card.format_latex()
        value = card.format_csv().splitlines()[1].split(",")[2]
        assert float(value.split()[0]) == pytest.approx(np.radians(40.0) if not degrees else 40.0, abs=1e-9)
    menu = card._build_copy_menu(card)
    desk.settings.degrees = True
    next(action for action in menu.actions() if action.text() == "LaTeX").trigger()
    assert "40" in QGuiApplication.clipboard().text()


def test_a_failing_function_leaves_no_false_number(desk_of, monkeypatch):
    """A live function that cannot answer any more says why, and the pose on the card stays that of its numbers."""
    desk = desk_of("four_bar")
    card = desk.live("gravity")
    origin, text = card.origin.text(), card.result.to_text()

    def fails(context, **options):
        raise KinetostatError("The loop does not close here.")

    monkeypatch.setitem(FUNCTIONS, "gravity", dataclasses.replace(FUNCTIONS["gravity"], run=fails))
    desk.session.preview_coordinates({"crank_pin": 0.9})
    desk.settle()
    assert "The loop does not close here." in card.note.words
    assert (card.origin.text(), card.result.to_text()) == (origin, text)
