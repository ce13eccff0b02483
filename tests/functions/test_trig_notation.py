"""SimplifyTrigNotation: C12 or cos(q1 + q2) in all output that follows, on cards, as text and from the command line."""

import subprocess
import sys

import pytest

from app.formulas.layout import Typesetter
from core.files import load
from core.functions import Context, call
from core.robotica.robotica_session import Session
from core.robotica.workspace import ScriptHost
from core.symbolic.notation import set_short_trig
from resources import EXAMPLES


@pytest.fixture(autouse=True)
def short_again():
    yield
    set_short_trig(True)


@pytest.fixture
def context():
    return Context.of(load(EXAMPLES / "two_link.rob"))


def test_it_switches_all_following_output_and_back(context):
    assert "S12" in call("derive", context, what="J").to_text()
    assert "in full" in call("trig_notation", context).text
    shown = call("derive", context, what="J")
    assert "Sin[q1 + q2]" in shown.to_text()
    assert "S12" not in shown.to_text()
    assert r"\sin(q_{1} + q_{2})" in shown.to_latex()
    assert "C1 for cos(q1)" in call("trig_notation", context).text
    assert "S12" in call("derive", context, what="J").to_text()


def test_simplified_expressions_follow(context):
    expression = "Sin[q1] Cos[q2] + Cos[q1] Sin[q2]"
    assert "S12" in call("simplify_expression", context, expression=expression).to_text()
    full = call("simplify_expression", context, expression=expression, notation="full")
    assert "Sin[q1 + q2]" in full.to_text()


def test_code_is_always_in_full(context):
    def code():
        text = call("write_equations", context, what="G", language="python").text
        return text[text.index("def G") :]

    before = code()
    call("trig_notation", context, notation="full")
    assert code() == before
    assert "cos(q1 + q2)" in before


def test_formulas_on_cards_are_set_so(context, qapp):
    def letters():
        form = call("derive", context, what="J").entries[0][1]
        return "".join(piece.text for token in Typesetter(17.0).form_tokens(form) for piece in token.pieces)

    assert "sin" not in letters()
    call("trig_notation", context, notation="full")
    assert "sin(" in letters()


def test_robotica_line():
    session = Session(ScriptHost(str(EXAMPLES / "two_link.rob")))
    assert "S12" in session.run("J")[-1].to_text()
    session.run("SimplifyTrigNotation[full]")
    assert "Sin[q1 + q2]" in session.run("J")[-1].to_text()
    for _ in range(2):  # the manual's call always means the short one
        session.run("SimplifyTrigNotation[]")
        assert "S12" in session.run("J")[-1].to_text()


def test_command_line():
    call_ = [sys.executable, "-m", "app", "derive", str(EXAMPLES / "two_link.rob"), "--what", "G"]
    for more, expected in (([], "C12"), (["--notation", "full"], "Cos[q1 + q2]")):
        done = subprocess.run([*call_, *more], capture_output=True, text=True, check=True)
        assert expected in done.stdout
