"""Robotica's command line: the manual's examples and command reference, and what it says to mistakes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import resources
from core.errors import ExpressionError, FileError, KinetostatError, ModelError
from core.functions.results import EllipsoidField, Formulas, Motion, PoseSequence, Report, leaf_results
from core.model import ControlledJoint, Signal
from core.robotica.robotica_session import Session
from core.robotica.workspace import ScriptHost
from core.simulation import simulate

TWO_LINK = next(entry.path for entry in resources.examples() if Path(entry.path).stem == "two_link")
TORQUES = Path(TWO_LINK).parent / "torques"

ONE_LINK = """One link without weight
DOF=1
joints
joint1 = revolute
a1 = 1
alpha1 = 0
d1 = 0
theta1 = q1
DYNAMICS
links
gravity vector = {0, 0, 0}
mass1 = 0
center of mass = {0, 0, 0}
inertia matrix = {0, 0, 0, 0, 0, 1}
"""


@pytest.fixture
def session(tmp_path):
    made = Session(ScriptHost(str(TWO_LINK)))
    made.state.folder = str(tmp_path)
    return made


def said(session, line):
    return "\n".join(result.to_text() for result in session.run(line))


def test_command_reference_of_the_manual(session, tmp_path):
    (tmp_path / "twodof").write_text(Path(TWO_LINK).read_text())
    assert "State Reset" in said(session, 'DataFile["twodof"]')
    assert said(session, "FKin[]").splitlines()[0] == "A Matrices Formed: A[1], A[2]"
    assert "T Matrices Formed: T[0,1], T[0,2], T[1,2]" in said(session, "FKin[]")
    assert "J (6×2)" in said(session, "FKin[]")
    said(session, "ELDynamics[]")
    assert "c[1,1,1] = 0" in said(session, "SimplifyExpression[c[1,1,1]]")
    assert "T01 =" in said(session, 'MPrint[T[0,1], "T01"]')
    assert "3  xy" in said(session, "Planar[]")
    (field,) = session.run("RElp[{{q1,0,90 Degree},{a2,3,8}}, {scale}]")
    assert isinstance(field, EllipsoidField)
    assert field.scaled
    assert len(field.ellipsoids) == 6
    (poses,) = session.run("ShowRobot[{{q1, 20 Degree, 90 Degree, 8}}, {animate}]")
    assert isinstance(poses, PoseSequence)
    assert (len(poses.q), poses.display) == (9, "animate")
    assert poses.q[0][0] == pytest.approx(np.radians(20.0))


def test_prints_are_appended_and_a_star_means_the_default_file(session, tmp_path):
    session.run('EPrint[M, "MM", "out.txt"]')
    session.run('CPrint["CM", "*"]')
    lines = (tmp_path / "out.txt").read_text().splitlines()
    assert lines[0] == "MM[[1,1]] = I1 + I2 + 1/4 a1^2 m1 + a1^2 m2 + 1/4 a2^2 m2 + a1 a2 m2 C2"
    assert "CM[[2,1]] = 1/2 a1 a2 m2 Dq1 S2" in lines


def test_sine_tracker_follows_the_sine(tmp_path):
    (tmp_path / "one.rob").write_text(ONE_LINK)
    session = Session(ScriptHost())
    session.state.folder = str(tmp_path)
    session.run('DataFile["one.rob"]')
    shown = said(session, f'GetInputTau["{TORQUES / "sine_tracker.tau"}"]')
    assert "Without a value: k1, k2" in shown
    with pytest.raises(ExpressionError, match="without a value: k1, k2"):
        session.run("Response[{0, 10}, {q1[0] == 0}]")
    session.run("k1 = 400\nk2 = 40\nResponse[{0, 10, 100000}, {q1[0] == 1, q1'[0] == 0}]")
    run = session.state.run
    # unit inertia: the error obeys e'' + k2 e' + k1 e = 0, critically damped with ω = 20 1/s
    error = 3.0 * np.sin(run.time) - run["joint1.q"]
    expected = (-1.0 + (3.0 - 20.0) * run.time) * np.exp(-20.0 * run.time)
    np.testing.assert_allclose(error, expected, atol=1e-7)
    text = "400*(ref.joint1.q - joint1) + 40*(ref.joint1.v - joint1.v) + ref.joint1.a"
    row = ControlledJoint(joint="joint1", reference="3*sin(t)", force=text)
    again = respond_again(run, Signal(name="tracker", kind="formulas", joints=(row,)))
    np.testing.assert_allclose(again.q, run.q, atol=1e-9)


def respond_again(run, signal):
    """The run of the machine with a controller of the document in place of the torques, with the same settings."""
    s = run.settings
    start = {"q0": run.q[0], "v0": run.v[0], "parameters": s.parameters, "rtol": s.rtol, "atol": s.atol}
    return simulate(replace(run.model, signals=(signal,)), s.duration, output=s.output, method=s.method, **start)


def test_circle_controller_leads_the_tip_round_the_circle(session):
    session.run("a1=3; a2=3; m1=10; m2=5; I1=0.833; I2=0.417; g=9.8; om=1; kp=400; kd=40")
    session.run(f'GetInputTau["{TORQUES / "circle.tau"}"]')
    session.run("Response[{0, 10, 100000}, {q1[0]==0, q2[0]==0, q1'[0]==0, q2'[0]==0}]")
    run = session.state.run
    tip = run["tool.position"]
    wanted = 2.0 + np.stack([np.cos(run.time), np.sin(run.time)], axis=1)
    late = run.time > 1.5
    assert np.max(np.abs(tip[late, :2] - wanted[late])) < 1e-6
    # errors obey e'' + 40 e' + 400 e = 0 in joint space: they decay as (a + b t) exp(−20 t)
    early = np.argmin(np.abs(run.time - 0.5))
    assert np.linalg.norm(tip[early, :2] - wanted[early]) < 1e-2
    x, y, elbow = "(2 + cos(t))", "(2 + sin(t))", "acos(((2 + cos(t))^2 + (2 + sin(t))^2 - 18)/18)"
    shoulder = f"atan2({y}, {x}) - atan2(3*sin({elbow}), 3 + 3*cos({elbow}))"
    rows = [ControlledJoint(joint=f"joint{k}", reference=text) for k, text in ((1, shoulder), (2, elbow))]
    again = respond_again(run, Signal(name="circle", kind="computed_torque", kp=400.0, kd=40.0, joints=rows))
    np.testing.assert_allclose(again.q, run.q, atol=1e-9)


def test_responses_are_saved_read_and_plotted(session, tmp_path):
    session.run("Response[{0, 2}, {{q1, 0.5, 0}, {q2, 0.1, 0}}]")
    energy = session.state.run["energy.total"]
    assert np.max(np.abs(energy - energy[0])) < 1e-6
    assert "21 rows" in said(session, 'SaveResponse["free.sim", {0, 2}]')
    head = (tmp_path / "free.sim").read_text().splitlines()[0]
    assert head == '" t q1 q2'
    before = session.state.run
    (shown,) = session.run('SimDrive["free.sim", {trace, arm, 0.2}]')
    driven, arms = shown.parts
    assert isinstance(driven, Motion)
    assert (driven.trace, driven.animate) == (True, False)
    assert isinstance(arms, PoseSequence)
    assert len(arms.q) == 11
    np.testing.assert_allclose(arms.q[1], before.at(0.2), atol=1e-12)
    np.testing.assert_allclose(driven.run["joint1.q"], [before.at(t)[0] for t in driven.run.time], atol=1e-12)
    (plotted,) = session.run("SimPlot[t, {q1, q2, q1'}, {1.5}]")
    assert isinstance(plotted, Report)
    motion = next(part for part in leaf_results(plotted) if isinstance(part, Motion))
    assert motion.curves == (("time", "joint1.q"), ("time", "joint2.q"), ("time", "joint1.v"))
    assert motion.aspect == 1.5


@pytest.mark.parametrize("head", ['" t_ms q1_deg q2', "t [ms];q1 [deg];q2", "t;q1;q2\nms;deg;rad"])
def test_columns_of_a_trace_are_read_in_the_units_of_their_heads(session, tmp_path, head):
    mark = ";" if ";" in head else " "
    rows = "".join(mark.join((f"{100 * k}", f"{9 * k}", f"{0.1 * k:.1f}")) + "\n" for k in range(11))
    (tmp_path / "free.sim").write_text(f"{head}\n{rows}")
    session.run('SimDrive["free.sim"]')
    run = session.state.run
    np.testing.assert_allclose(run.time, np.linspace(0.0, 1.0, 11), atol=1e-12)
    np.testing.assert_allclose(run.q, np.outer(run.time, [np.pi / 2.0, 1.0]), atol=1e-12)


def test_a_trace_in_units_of_something_else_is_refused(session, tmp_path):
    (tmp_path / "free.sim").write_text("t;q1 [mm];q2\n0;1;1\n1;2;2\n")
    with pytest.raises(FileError, match="'mm' is not a unit of an angle"):
        session.run('SimDrive["free.sim"]')


def test_expressions_and_values(session):
    (shown,) = session.run("Sin[q1] Cos[q2] + Cos[q1] Sin[q2]")
    assert isinstance(shown, Formulas)
    assert shown.to_text().startswith("Sin[q1] Cos[q2] + Cos[q1] Sin[q2] = S12")
    assert "z[1] =" in said(session, "z[1]")
    session.run("a1 = 2")
    assert session.context().p["a1"] == 2.0
    session.run("Clear[a1]")
    assert session.context().p["a1"] == session.host.context().p["a1"]
    assert session.run("q1 = 90 Degree;") == []
    assert session.context().q[0] == pytest.approx(np.pi / 2)


@pytest.mark.parametrize(
    ("line", "kind", "words"),
    [
        ("FKin[", ExpressionError, "column 6"),
        ("Foo[1]", ExpressionError, "no function 'Foo'"),
        ("T[0,9]", ModelError, "outside 0 … 2"),
        ("T[1]", ExpressionError, "takes 2 indices"),
        ("M[3,1]", ExpressionError, "outside M"),
        ("MPrint[x]", ExpressionError, "is not a matrix"),
        ('MPrint[M, "a", "*"]', ExpressionError, "no default file"),
        ("RElp[{{q1, 0}}]", ExpressionError, "not a range"),
        ("ShowRobot[{{q1,0,1,3},{q2,0,1,4}}]", ExpressionError, "different numbers of divisions"),
        ("Response[{1, 0}]", ExpressionError, "not a range of times"),
        ("Response[{0, 1}, {q7[0] == 1}]", ExpressionError, "not a joint coordinate"),
        ("Response[{0, 1}, {q1[0] = 1}]", ExpressionError, "not an initial condition"),
        ('GetInputTau["nothing.tau"]', FileError, "cannot be read"),
        ('SimDrive["nothing.sim"]', FileError, "cannot be read"),
        ("SimPlot[t, {q1}]", ModelError, "no response"),
        ("2 = 3", ExpressionError, "cannot be given a value"),
        ("k9 + k8 M[1,1]", ExpressionError, "not a symbol of the robot"),
        ("1/0", ExpressionError, "no finite value"),
        ("DataFile[]", ExpressionError, "file name is missing"),
    ],
)
def test_mistakes_have_messages_and_lose_nothing(session, line, kind, words):
    session.run("om = 1")
    with pytest.raises(kind, match=words):
        session.run(line)
    assert session.state.given == {"om": 1.0}


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("RElp[{{q1, 0, 1}}, {scal}]", None, 21),
        ("RElp[{{q1, 0, zz}}]", None, 15),
        ("ShowRobot[{{q1, 0, 1, 2.5}}]", None, 23),
        ("om = 3\nResponse[{0, 1},\n  {q7[0] == 1}]\nom = 4", 3, 4),
        ("om = 3\nSimPlot[t, {q1}]\nom = 4", 2, 0),
        ("om = 3\nM[1,\n1.5]", 3, 1),
        ("om = 3\nFoo[1]\nom = 4", 2, 1),
        ("om = 3\nMPrint[T[0,9]]", 2, 8),
        ("om = 3\nz[7]", 2, 1),
        ("om = 3\nRElp[{{q9, 0, 1}}]", 2, 6),
        ("om = 3\nSeqShowRobot[{{q9, 0, 1}}]", 2, 14),
        ("om = 3\nRElp[{{q1, 0, 1}\nom = 4", 3, 7),
        ("om = 3\n#", 2, 1),
    ],
)
def test_statements_run_up_to_the_first_mistake_which_is_told_with_its_place(session, text, line, column):
    with pytest.raises(KinetostatError) as caught:
        session.run(text)
    assert (caught.value.line, caught.value.where) == (line, f"column {column}" if column else "")
    assert session.state.given == ({"om": 3.0} if text.startswith("om") else {})


def test_a_bracket_that_is_left_open_is_told_with_its_own_place(session):
    with pytest.raises(ExpressionError, match=r"'}' for the '{' of line 2, column 6 was expected, not the end"):
        session.run("a1 = 1\nRElp[{{q1, 0, 1}\nFKin[]")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("tau[[1]] = q9[t]", 1, "not known"),
        ("a = b\nb = a\ntau[[1]] = a", 2, "depends on itself"),
        ("\ntau[[0]] = 1", 2, "is not the torque of a joint"),
        ("x + 1", 1, "no assignment"),
        ("tau[[1]] = M[3,1]", 1, "outside M"),
        ("tau[[1]] = q1''[t]", 1, "acceleration"),
        ("tau[[5]] = 1", 1, "belongs to no joint"),
        ("tau[[1]] = 3 +", 1, "expected"),
    ],
)
def test_torque_files_are_refused_with_their_line(session, tmp_path, text, line, words):
    (tmp_path / "bad.tau").write_text(text)
    with pytest.raises(FileError, match=words.replace("no assignment", "not an assignment")) as error:
        session.run('GetInputTau["bad.tau"]')
    assert error.value.line == line
    assert error.value.where.startswith("column") or "belongs to no joint" in error.value.what
    assert session.state.torques is None


def test_later_assignments_are_allowed(session, tmp_path):
    (tmp_path / "late.tau").write_text("tau[[1]] = -k q1'[t]\nk = 2 d\nd = 3")
    session.run('GetInputTau["late.tau"]\nResponse[{0, 0.2}, {q1\'[0] == 1}]')
    run = session.state.run
    np.testing.assert_allclose(run["joint1.tau"], -6.0 * run["joint1.v"], rtol=1e-12)


def test_any_text_gives_results_or_a_message(session):
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    letters = st.text(alphabet="FKinTMq12t'[]{}(),=->+*/^\" \n;abDegree.", max_size=60)

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(letters)
    def tried(text):
        try:
            results = session.run(text)
        except KinetostatError as error:
            results = [error.what]
        assert all(results)

    tried()


def test_files_are_found_beside_the_robot(tmp_path, monkeypatch):
    (tmp_path / "robots").mkdir()
    (tmp_path / "robots" / "arm.rob").write_text(Path(TWO_LINK).read_text())
    (tmp_path / "robots" / "push.tau").write_text("tau[[1]] = 2")
    monkeypatch.chdir(tmp_path)
    session = Session(ScriptHost("robots/arm.rob"))
    assert said(session, 'GetInputTau["push.tau"]').startswith("tau[[1]] = 2")
    (tmp_path / "push.tau").write_text("tau[[1]] = 3")
    assert said(session, 'GetInputTau["push.tau"]').startswith("tau[[1]] = 3")


@pytest.mark.parametrize(
    ("times", "remedy"),
    [("{0, 5, 20}", "{0, 5, 200}"), ("{0, 2 2, 3}", "{0, 2 2, 30}"), ("{0, 3, 1}", "{0, 3, 10}")],
)
def test_the_limit_of_steps_is_told_in_the_words_that_were_typed(session, times, remedy):
    """Also where nothing was computed yet: no `max_steps`, which one cannot type there."""
    session.run("a1 = 2; a2 = 1")
    try:
        words = said(session, f"Response[{times}, {{q1[0] == 0.3}}]")
    except KinetostatError as error:
        words = str(error)
    assert f"Allow more steps: {remedy}." in words
    assert "max_steps" not in words
