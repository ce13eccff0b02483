"""The panel Identification: a trace with guessed columns, a fit of forces applied as one step, a run fitted, a motion
made, shown and saved; what is wrong is said."""

import os
import signal
import sys

import numpy as np
import pytest

import kinetostat as ks
from app.document.session import Session
from app.panels.identification.column_table import UNUSED
from app.panels.identification.panel import FORCES, MOTION, RUN, IdentificationPanel
from core.identification.measured_trace import guess_signals
from core.simulation import simulate
from resources import EXAMPLES, examples


def arm(**values):
    """Two links that swing in a plane, with named damping, and a spring at the elbow."""
    start = {"c": 0.3, "k": 2.0} | values
    inertia = ks.Inertia(ixx=0.02, iyy=0.02, izz=0.01)
    bodies = tuple(
        ks.Body(name=name, mass=mass, center_of_mass=(0, 0, -0.2), inertia=inertia)
        for name, mass in (("upper", 2.0), ("lower", 1.0))
    )
    joints = (
        ks.Joint(name="shoulder", parent="world", child="upper", axis=(0, 1, 0), damping="c"),
        ks.Joint(
            name="elbow", parent="upper", child="lower", axis=(0, 1, 0), damping="c", stiffness="k",
            a=ks.Pose(position=(0, 0, -0.4)),
        ),
    )  # fmt: skip
    parameters = tuple(ks.Parameter(name=name, value=value) for name, value in start.items())
    return ks.Model(name="arm", parameters=parameters, bodies=bodies, joints=joints)


@pytest.fixture
def panel(qtbot, jobs):
    made = IdentificationPanel(Session(arm()), jobs)
    qtbot.addWidget(made)
    made.resize(1100, 320)
    made.show()
    yield made
    made.close()


def ask(panel, kind):
    panel.kind.setCurrentIndex(panel.kind.findData(kind))


def ended(panel, qtbot):
    qtbot.waitUntil(lambda: panel.kind.isEnabled())


def write(path, heads, columns):
    rows = "\n".join(",".join(f"{x:.12g}" for x in row) for row in np.column_stack(columns))
    path.write_text(f"{','.join(heads)}\n{rows}\n", encoding="utf-8")


def swing(mass=1.5):
    """A motion with the forces of an arm whose lower link is heavier."""
    model = arm()
    true = ks.Mechanism(ks.edits.change(model, "bodies", "lower", mass=mass))
    t = np.linspace(0.0, 6.0, 400)
    parts = ((0.7, 1.7, 0.2, 4.1), (0.9, 2.3, 0.3, 5.0))
    q = np.column_stack([b * np.sin(w * t) + c * np.sin(u * t) for b, w, c, u in parts])
    v = np.column_stack([b * w * np.cos(w * t) + c * u * np.cos(u * t) for b, w, c, u in parts])
    a = np.column_stack([-b * w**2 * np.sin(w * t) - c * u**2 * np.sin(u * t) for b, w, c, u in parts])
    tau = true.inverse_dynamics(q, v, a) + 0.01 * np.random.default_rng(0).normal(size=(400, 2))
    return true, t, q, tau


def test_the_trace_of_the_examples_is_opened_with_its_headings_guessed(qtbot, jobs):
    (trace,) = next(each for each in examples() if each.name == "puma560").traces
    made = IdentificationPanel(Session(ks.load(EXAMPLES / "puma560.kst")), jobs)
    qtbot.addWidget(made)
    made.show()
    made.read_trace(trace)
    ended(made, qtbot)
    joints = range(1, 7)
    assert set(made.columns.assigned_signals()) == {f"joint{k}.{quantity}" for k in joints for quantity in ("q", "tau")}
    made.start()
    ended(made, qtbot)
    found = dict(zip(made.identified.names, made.identified.estimate, strict=True))
    assert found["d2"] == pytest.approx(14.0, abs=0.2)
    made.apply_results()
    assert made._session.model.chains[0].rows[1].damping == pytest.approx(14.0, abs=0.2)
    made.close()


def test_forces_are_identified_from_a_file_whose_headings_are_guessed(panel, qtbot, tmp_path):
    true, t, q, tau = swing()
    path = tmp_path / "log.csv"
    heads = ("t [ms]", "shoulder angle [deg]", "elbow angle [deg]", "torque_1", "torque_2", "battery")
    write(path, heads, (1e3 * t, np.degrees(q), tau, np.full(400, 12.0)))
    panel.read_trace(path)
    ended(panel, qtbot)
    assert panel.columns.assigned_signals() == ("shoulder.q", "elbow.q", "shoulder.tau", "elbow.tau")
    assert panel.columns.signal(5) == UNUSED
    assert panel.columns.item(1, 2).text() == "deg"
    assert panel.columns.item(3, 2).text() == "N·m"
    panel.start()
    ended(panel, qtbot)
    found = panel.identified
    assert np.max(found.validation.relative) < 0.02
    assert panel.estimates.rowCount() == len(found.names) + len(found.unseen)
    qtbot.waitUntil(lambda: panel.chart is not None and len(panel.chart.sheets) > 0)  # in a turn of its own
    assert [sheet.title for sheet in panel.chart.sheets] == ["shoulder.tau", "elbow.tau"]
    session, before = panel._session, panel._session.model
    panel.apply_button.click()
    better = ks.Mechanism(session.model)
    motion = np.array([0.3, -0.8]), np.array([1.0, 0.5]), np.array([2.0, -3.0])
    np.testing.assert_allclose(better.inverse_dynamics(*motion), true.inverse_dynamics(*motion), atol=0.03)
    assert panel.identified is found
    session.undo()
    assert session.model == before


@pytest.mark.slow
def test_a_run_is_fitted_to_a_run_of_the_document(panel, qtbot):
    session = panel._session
    run = simulate(arm(c=0.15, k=3.0), 2.0, q0=[1.0, 0.4], output=0.02, rtol=1e-10, atol=1e-11)
    session.runs.add(run, "Measured")
    ask(panel, RUN)
    panel.source.setCurrentText("Measured")
    panel._on_source_chosen()
    ended(panel, qtbot)
    for name in panel.columns._names:
        if name.endswith((".tau", ".v", ".a")):
            panel.columns.assign_signal(name, UNUSED)
    panel.start()
    assert "No parameter is checked" in panel.note.text()
    panel.run_page.vary.check_rows("c", "k")
    panel.start()
    ended(panel, qtbot)
    assert panel.fitted.parameters == pytest.approx({"c": 0.15, "k": 3.0}, rel=1e-4)
    panel.show_button.click()
    assert session.runs.current.name == "Fitted run"
    panel.apply_button.click()
    assert session.model.values()["k"] == pytest.approx(3.0, rel=1e-4)
    session.undo()
    assert session.model.values()["k"] == 2.0


def test_an_exciting_motion_is_made_shown_and_saved(panel, qtbot, tmp_path):
    ask(panel, MOTION)
    lines = panel.motion_page.fields.lines
    for name, text in (("period", "4 s"), ("rate", "40"), ("harmonics", "3"), ("speed", "1.2")):
        lines[name].setText(text)
    panel.start()
    ended(panel, qtbot)
    motion = panel.motion
    assert np.max(np.abs(motion.v)) <= 1.2
    assert panel.limits.rowCount() == 2
    panel.show_button.click()
    assert panel._session.runs.current.name == "Exciting motion"
    panel.save_motion(tmp_path / "motion.csv")
    ask(panel, FORCES)
    panel.read_trace(tmp_path / "motion.csv")
    ended(panel, qtbot)
    assert len(panel.columns.assigned_signals()) == 8
    panel.start()
    ended(panel, qtbot)
    assert np.max(panel.identified.validation.relative) < 1e-4


def test_what_is_wrong_is_said(panel, qtbot, tmp_path):
    panel.start()
    assert "No trace has been read" in panel.note.text()
    panel.read_trace(tmp_path / "none.csv")
    ended(panel, qtbot)
    assert "cannot be read" in panel.note.text()
    write(tmp_path / "one.csv", ("t", "elbow.q", "x"), (np.arange(20.0), np.ones(20), np.ones(20)))
    panel.read_trace(tmp_path / "one.csv")
    ended(panel, qtbot)
    panel.columns.assign_signal("x", "elbow.q")
    panel.start()
    assert "are both assigned to elbow.q" in panel.note.text()
    panel.columns.assign_signal("x", "elbow.tau", "furlong")
    panel.start()
    ended(panel, qtbot)
    assert "'furlong' is not a known unit" in panel.note.text()
    panel.forces_page.fields.lines["held"].setText("99 %")
    panel.start()
    assert "is not a valid fraction of rows for validation" in panel.note.text()


def test_a_search_that_is_stopped_keeps_the_best(panel, qtbot):
    ask(panel, MOTION)
    panel.motion_page.fields.lines["starts"].setText("100")
    panel.start()
    qtbot.waitUntil(lambda: panel._job.fraction > 0.0)  # a motion has been found
    panel.stop_button.click()
    ended(panel, qtbot)
    assert panel.motion is not None


@pytest.mark.skipif(sys.platform == "win32", reason="processes are ended by signals")
def test_a_library_that_crashes_takes_no_window_with_it(panel, qtbot):
    process = panel._jobs.process
    ask(panel, MOTION)
    panel.motion_page.fields.lines["starts"].setText("100")
    panel.start()
    qtbot.waitUntil(lambda: process.is_busy and process.process_id is not None)
    os.kill(process.process_id, signal.SIGSEGV)
    ended(panel, qtbot)
    assert "ended unexpectedly (signal 11)" in panel.note.text()
    for name, text in (("starts", "1"), ("period", "4 s"), ("rate", "40"), ("harmonics", "2")):
        panel.motion_page.fields.lines[name].setText(text)
    panel.start()
    ended(panel, qtbot)
    assert panel.motion is not None


@pytest.mark.parametrize(
    ("heads", "signals"),
    [
        (("t", "q1", "tau1"), ("", "shoulder.q", "shoulder.tau")),
        (("time", "position.elbow", "effort.elbow"), ("", "elbow.q", "elbow.tau")),
        (("stamp", "pos_0", "pos_1", "vel_1 [rpm]"), ("", "shoulder.q", "elbow.q", "elbow.v")),
        (("time", "temperature", "torque"), ("", "", "")),
    ],
)
def test_guesses(heads, signals):
    found = guess_signals(ks.Mechanism(arm()), heads)
    assert tuple(signal for signal, _ in found) == signals
