"""One test over all functions: panel, command line and console give the same result on an example."""

import json
import re

import pytest
from pytestqt.qtbot import QtBot

from app.background.jobs import Jobs
from app.cli.main import cli
from app.document.session import Session
from app.panels.console.panel import ConsolePanel
from app.panels.functions.panel import FunctionPanel
from app.preferences.settings import Settings
from app.runs.answers import ResultUpdater
from core.files import load
from core.functions import FUNCTIONS
from core.functions.results import to_json
from resources import EXAMPLES

FILE = EXAMPLES / "puma560.kst"

OTHER_FILES = {
    "plan_motion": EXAMPLES / "ur5.kst",
    "closed_loop_poles": EXAMPLES / "tracking_arm.kst",
    **dict.fromkeys(("loop_symbols", "write_loop_equations"), EXAMPLES / "slider_crank.kst"),
}
"""Machines of functions that an arm does not have."""

CHOSEN = {
    "loop_symbols": ({"what": "ratios", "symbols": "r, l"}, ["--what", "ratios", "--symbols", "r, l"]),
    "write_loop_equations": ({"language": "python"}, ["--language", "python"]),
    "workspace": (
        {"kind": "isotropy", "samples": 300, "slice": "z", "at": 0.6},
        ["--kind", "isotropy", "--samples", "300", "--slice", "z", "--at", "0.6"],
    ),
    "excitation": (
        {"kinds": "damping", "harmonics": 2, "rate": 4.0},
        ["--kinds", "damping", "--harmonics", "2", "--rate", "4"],
    ),
    "dh_table": ({"numbers": "values"}, ["--numbers", "values"]),
    "write_c_code": ({"functions": "frame:tool", "step": 5e-4}, ["--functions", "frame:tool", "--step", "0.5 ms"]),
    "forward_kinematics": (
        {"frames": ("tool", "link3"), "reference": "link1"},
        ["--frames", "tool,link3", "--reference", "link1"],
    ),
    "jacobian": ({"frame": "link5", "axes": "frame"}, ["--frame", "link5", "--axes", "frame"]),
    "inverse_kinematics": (
        {"position": (0.4, 0.2, 0.5), "orientation": (0.1, 1.5, 0.2), "restarts": 6},
        ["--position", "0.4,0.2,0.5", "--orientation", "0.1,1.5,0.2", "--restarts", "6"],
    ),
    "planarity": ({"frame": "link2"}, ["--frame", "link2"]),
    "manipulability": (
        {
            "kind": "force",
            "part": "rotation",
            "ranges": (("joint5", 0.5, 1.0, 3),),
            "display": "animate",
            "scale": True,
        },
        ["--kind", "force", "--part", "rotation", "--ranges", "joint5=0.5:1:3", "--display", "animate", "--scale"],
    ),
    "energy": ({"speeds": {"joint1": 1.0}}, ["--speeds", "joint1=1"]),
    "inverse_dynamics": (
        {"speeds": {"joint1": 1.0}, "accelerations": {"joint2": 2.0, "joint3": -1.0}, "passive": False},
        ["--speeds", "joint1=1", "--accelerations", "joint2=2", "--accelerations", "joint3=-1", "--no-passive"],
    ),
    "response": (
        {
            "formulas": "tau[[1]] = G[[1]] - k q1'[t]",
            "values": {"k": 2.0},
            "initial": {"joint2": 0.3},
            "speeds": {"joint1": 0.5},
            "end": 0.2,
        },
        [
            "--formulas",
            "tau[[1]] = G[[1]] - k q1'[t]",
            "--values",
            "k=2",
            "--initial",
            "joint2=0.3",
            "--speeds",
            "joint1=0.5",
            "--end",
            "0.2",
        ],
    ),
    "show_robot": (
        {"ranges": (("joint1", 0.0, 1.0, 4), ("a2", 0.3, 0.5, 4))},
        ["--ranges", "joint1=0:1:4", "--ranges", "a2=0.3:0.5:4"],
    ),
    "show_in_sequence": (
        {"sequence": (("joint1", 0.0, 1.0, 4), ("alpha2", 0.0, 0.5, 2))},
        ["--sequence", "joint1=0:1:4", "--sequence", "alpha2=0:0.5:2"],
    ),
    "trig_notation": ({"notation": "full"}, ["--notation", "full"]),
    "picture": (
        {"width": 160, "height": 120, "view": "front", "look": "dark"},
        ["--width", "160", "--height", "120", "--view", "front", "--look", "dark"],
    ),
}
"""Options that differ from the defaults: for panel and console, and on the command line."""


DEVIATION = re.compile(r"[\d.]+·10⁻¹[⁴⁵⁶⁷⁸⁹]|\b0(?= \()")
"""What rounding leaves: other digits in the interpreter than in machine code."""


def same(a, b):
    """Equal data, numbers up to what two ways of computing them (interpreter, machine code) may differ."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, str) and isinstance(b, str):
        return DEVIATION.sub("", a) == DEVIATION.sub("", b)
    return a == pytest.approx(b, rel=1e-9, abs=1e-8) if isinstance(a, int | float) else a == b


def data(result):
    """A result as JSON data, without the line that tells how it was called (texts against numbers)."""
    found = json.loads(json.dumps(to_json(result) if not isinstance(result, dict) else result))
    found.pop("call")
    return found


@pytest.fixture
def file(function):
    return OTHER_FILES.get(function, FILE)


@pytest.fixture
def session(file):
    return Session(load(file))


@pytest.fixture
def settings(tmp_path):
    return Settings(tmp_path / "settings.ini")


def from_panel(qtbot: QtBot, session, settings, function, options):
    jobs = Jobs()
    panel = FunctionPanel(session, jobs, ResultUpdater(session, jobs), settings)
    qtbot.addWidget(panel)
    produced, told = [], []
    session.produced.connect(produced.append)
    session.message.connect(lambda severity, text: told.append(text))
    panel.open_function(function)
    panel.form.show_options(options)
    assert panel.run() is not None, panel.form.note.words
    qtbot.waitUntil(lambda: not jobs.unfinished_jobs)
    assert not told
    session.produced.disconnect(produced.append)
    panel.close()
    assert jobs.close()
    return produced[-1]


def from_console(qtbot: QtBot, session, settings, call):
    console = ConsolePanel(session, settings)
    qtbot.addWidget(console)
    produced = []
    session.produced.connect(produced.append)
    assert console.submit(call)
    qtbot.waitUntil(lambda: not console.interpreter.is_running)
    session.produced.disconnect(produced.append)
    console.close()
    assert produced, console.transcript.toPlainText()
    return produced[-1]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_panel_command_line_and_console_agree(qtbot, file, session, settings, function, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pictures go here
    options, arguments = CHOSEN.get(function, ({}, []))
    panel = from_panel(qtbot, session, settings, function, options)
    code, said = cli([FUNCTIONS[function].command, str(file), *arguments, "--json"]), capsys.readouterr().out
    assert code == int('"severity": "error"' in said)
    command_line = json.loads(said)
    console = from_console(qtbot, session, settings, panel.call)
    assert same(data(panel), data(command_line))
    assert same(data(panel), data(console))
    if function == "picture":
        assert (tmp_path / "picture.png").stat().st_size > 1000
