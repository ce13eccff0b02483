"""A kind of result is its class: one made up here is shown, copied and saved without another file."""

import json
from dataclasses import dataclass

import pytest

from app.background.jobs import Jobs
from app.cli.function_command import show_result
from app.panels.output.panel import OutputPanel
from app.panels.output.parts import CardContext, TextPart, create_part, register_part_creator
from app.runs.answers import ResultUpdater
from app.widgets.label import Label
from core.errors import ModelError
from core.functions import Context
from core.functions.results import Message, PoseSequence, Report, Result, SceneParts, Table
from core.functions.text import Column


@dataclass(frozen=True, kw_only=True)
class Beat(Result):
    """Made up: two frequencies, and the poses in which they were heard."""

    low: float
    high: float
    poses: PoseSequence

    def to_text(self, **style):
        return f"{self.title}: beats at {self.high - self.low} Hz"

    def to_table(self):
        return Table(columns=(Column("low", "frequency"), Column("high", "frequency")), rows=((self.low, self.high),))

    def scene_parts(self):
        return SceneParts(poses=self.poses)


@pytest.fixture
def beat(session):
    poses = PoseSequence(q=(tuple(session.q), tuple(session.q)), p=({}, {}))
    return Beat(title="Beat", low=440.0, high=443.5, poses=poses)


@pytest.fixture
def context(session):
    return Context(session.model, session.mech, session.q, dict(session.p))


def test_it_is_shown_and_copied(qtbot, session, settings, beat):
    panel = OutputPanel(session, ResultUpdater(session, Jobs()), settings)
    qtbot.addWidget(panel)
    session.produced.emit(Report(title="Heard", parts=(beat,)))
    (card,) = panel.cards
    assert [part.text() for part in card._parts if isinstance(part, TextPart)] == ["Beat: beats at 3.5 Hz"]
    assert card.format_text() == f"{session.model.name}\nBeat: beats at 3.5 Hz"
    assert card.format_csv() == "low [Hz],high [Hz]\n440.0,443.5\n"
    panel.close()


def test_it_is_saved(tmp_path, beat, context):
    for suffix in ("txt", "csv", "json", "py", "tex", "png"):
        show_result(beat, context, False, str(tmp_path / f"beat.{suffix}"))
    assert (tmp_path / "beat.txt").read_text() == "Beat: beats at 3.5 Hz\n"
    assert (tmp_path / "beat.csv").read_text().splitlines()[1] == "440.0,443.5"
    written = json.loads((tmp_path / "beat.json").read_text())
    assert (written["kind"], written["low"], written["high"]) == ("Beat", 440.0, 443.5)
    assert "live" not in written
    assert (tmp_path / "beat.py").read_text() == "# Beat: beats at 3.5 Hz\n"
    assert (tmp_path / "beat.png").read_bytes().startswith(b"\x89PNG")


def test_what_has_no_poses_cannot_be_drawn(tmp_path, context):
    with pytest.raises(ModelError, match="nothing to draw"):
        show_result(Message(text="Silence."), context, False, str(tmp_path / "nothing.png"))


def test_a_widget_registers_for_its_kind(qtbot, session, settings, beat):
    place = CardContext(session, settings, lambda: beat)

    @dataclass(frozen=True, kw_only=True)
    class LoudBeat(Beat):
        """Made up: has a widget of its own."""

    @register_part_creator(LoudBeat)
    def loud(part, place):
        return Label(part.to_text().upper())

    widget = create_part(LoudBeat(title="Beat", low=1.0, high=2.0, poses=beat.poses), place)
    qtbot.addWidget(widget)
    assert widget.text() == "BEAT: BEATS AT 1.0 HZ"


def test_what_is_no_result_is_refused_by_name(session, settings):
    with pytest.raises(TypeError, match="not dict"):
        create_part({}, CardContext(session, settings, lambda: None))


def test_a_kind_says_how_it_is_written():
    @dataclass(frozen=True, kw_only=True)
    class Mute(Result):
        """Made up: without a text."""

    with pytest.raises(TypeError, match="to_text"):
        Mute()
