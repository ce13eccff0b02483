"""The console: what is at hand, output, errors, stop, history, completion, and who touches the session."""

import threading

import numpy as np
import pytest
from PySide6.QtCore import Qt, QTimer

from app.panels.console.interpreter import find_completions
from app.panels.console.panel import ConsolePanel


@pytest.fixture
def console(qtbot, session, settings):
    console = ConsolePanel(session, settings)
    qtbot.addWidget(console)
    console.show()
    yield console
    console.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "console"]


@pytest.fixture
def say(qtbot, console):
    """Run a text; what was written after the echo of the input."""

    def run(text):
        console.clear()
        assert console.submit(text)
        qtbot.waitUntil(lambda: not console.interpreter.is_running)
        lines = console.transcript.toPlainText().splitlines()
        return "\n".join(line for line in lines if not line.startswith((">>> ", "... ")))

    return run


def test_names_at_hand(say, session):
    assert say("model.name") == repr(session.model.name)
    assert say("mech.nq, len(q), sorted(p) == sorted(mech.p_names)") == "(6, 6, True)"
    assert say("ks.__version__").strip("'")
    assert say("np.round(mech.frame(q, 'tool')[0, 3], 6)").endswith("0.596303)")
    assert "puma" in say("session").lower()


def test_functions_are_calls(say, session):
    produced = []
    session.produced.connect(produced.append)
    text = say('jacobian(frame="tool")')
    assert "joint6" in text
    assert produced[0].call == 'jacobian(frame="tool")'
    assert say("_.function") == "'jacobian'"
    assert "manipulability" in say("print(manipulability.__doc__[:0] + manipulability.__name__)")


def test_statements_prints_and_blocks(say):
    assert say("x = 3") == ""
    assert say("x + 1") == "4"
    assert say("for i in range(3):\n    print(i * x)") == "0\n3\n6"
    assert say("y = 5\ny") == "5"


def test_names_follow_the_session_unless_taken(say, session):
    session.pose("turn", session.q + 0.1)
    assert say("round(q[0], 3)").startswith("0.1") or "0.1" in say("round(q[0], 3)")
    say("q = 7")
    session.pose("turn", session.q + 0.1)
    assert say("q") == "7"


def test_own_errors_are_one_line_and_others_short(say):
    assert say('jacobian(frame="elbow")').startswith("option 'frame': There is no body or frame 'elbow'.")
    text = say("def f():\n    return 1 / 0\nf()")
    assert text.splitlines()[-1] == "ZeroDivisionError: division by zero"
    assert "line 2, in f" in text
    assert "interpreter.py" not in text
    assert "SyntaxError" in say("x = = 2")
    assert "stays open" in say("exit()")


def test_the_session_is_touched_in_the_windows_thread(say, session):
    threads = []
    session.moved.connect(lambda: threads.append(threading.get_ident()))
    say("session.pose('Home', mech.neutral())")
    assert set(threads) == {threading.get_ident()}
    np.testing.assert_array_equal(session.q, np.zeros(6))
    assert session.undo_label == "Home"
    assert "methods" in say("session.path = 3")


def test_stop(qtbot, console):
    console.submit("begun = True\nwhile True: pass")
    qtbot.waitUntil(lambda: "begun" in console.interpreter.namespace())
    assert console.interpreter.is_running
    assert console.stop_button.isEnabled()
    assert not console.submit("1"), "one at a time"
    qtbot.mouseClick(console.stop_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not console.interpreter.is_running)
    assert "Stopped." in console.transcript.toPlainText()


def test_the_window_lives_while_a_command_runs(qtbot, console):
    gate, ticks = threading.Event(), []
    console.interpreter.namespace()["gate"] = gate
    console.submit("opened = gate.wait(20)")
    ticking = QTimer(console, interval=1)
    ticking.timeout.connect(lambda: ticks.append(console.interpreter.is_running))
    ticking.start()
    qtbot.waitUntil(lambda: len(ticks) > 10)
    gate.set()
    qtbot.waitUntil(lambda: not console.interpreter.is_running)
    assert all(ticks[:10])
    assert console.interpreter.namespace()["opened"]


def test_history_is_remembered(qtbot, console, session, settings):
    for text in ("1", "2", "2"):
        console.submit(text)
        qtbot.waitUntil(lambda: not console.interpreter.is_running)
    console.input.setPlainText("draft")
    for expected in ("2", "1", "1"):
        qtbot.keyClick(console.input, Qt.Key.Key_Up)
        assert console.input.toPlainText() == expected
    for expected in ("2", "draft"):
        qtbot.keyClick(console.input, Qt.Key.Key_Down)
        assert console.input.toPlainText() == expected
    again = ConsolePanel(session, settings)
    qtbot.addWidget(again)
    assert again.history == ["1", "2"]
    again.close()


def test_enter_runs_and_blocks_go_on(qtbot, console):
    qtbot.keyClicks(console.input, "for i in range(2):")
    qtbot.keyClick(console.input, Qt.Key.Key_Return)
    assert console.input.toPlainText() == "for i in range(2):\n    "
    qtbot.keyClicks(console.input, "print('n', i)")
    qtbot.keyClick(console.input, Qt.Key.Key_Return)
    qtbot.keyClick(console.input, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "n 1" in console.transcript.toPlainText())
    assert console.input.toPlainText() == ""


def test_completion(qtbot, console):
    names = console.interpreter.namespace()
    assert "mech.jacobian(" in find_completions("x = mech.jac", names)[1]
    assert find_completions("jacobian(fr", names) == ("fr", ["frame="])
    assert find_completions('jacobian(frame="to', names) == ("to", ["tool"])
    assert find_completions('jacobian(axes="', names) == ("", ["world", "frame"])
    assert "session.undo(" in find_completions("session.und", names)[1]
    qtbot.keyClicks(console.input, "manipul")
    qtbot.keyClick(console.input, Qt.Key.Key_Tab)
    assert console.input.toPlainText().startswith("manipulability(")
