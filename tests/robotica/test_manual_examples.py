"""Every example of the manual's command reference as it is typed there, and every usage that help quotes."""

from pathlib import Path

import numpy as np
import pytest

import resources
from core.errors import ExpressionError
from core.functions.results import EllipsoidField, Formulas, Motion, PoseSequence, leaf_results
from core.robotica.commands import COMMANDS
from core.robotica.robotica_session import Session
from core.robotica.workspace import ScriptHost

PATHS = {Path(entry.path).stem: entry.path for entry in resources.examples()}
POLAR = """A revolute and a prismatic joint
DOF=2
joints
joint1 = revolute
a1 = 0
alpha1 = 90 Degree
d1 = 0
theta1 = q1
joint2 = prismatic
a2 = 0
alpha2 = 0
d2 = d2
theta2 = 0
"""
"""The arm of the manual's ellipsoids: q1 and d2 move."""


@pytest.fixture
def session(tmp_path):
    made = Session(ScriptHost())
    made.state.folder = str(tmp_path)
    (tmp_path / "twodof").write_text(Path(PATHS["two_link"]).read_text())
    (tmp_path / "polar").write_text(POLAR)
    (tmp_path / "taul").write_text("tau[[1]] = -2 q1'[t]\ntau[[2]] = 0")
    for name in ("revolute", "prismatic", "link2"):
        (tmp_path / name).write_text("Line[{{0, 0, 0}, {1, 0, 0}, {1, 0, 1}}]")
    return made


def said(session, line):
    return "\n".join(result.to_text() for result in session.run(line))


def test_two_link_arm_as_in_the_reference(session, tmp_path):
    assert "State Reset" in said(session, 'DataFile["twodof"]')
    for line in ("FKin[]", "ELDynamics[]", "SDynamics[]", "PrintInputData[]", "DisplayTau[]"):
        assert said(session, line)
    assert "3  xy" in said(session, "Planar[]")
    said(session, 'APrint["amatrix"]')
    said(session, 'TPrint["tmatrix"]')
    assert (tmp_path / "amatrix").read_text().count("A[") == 2
    assert (tmp_path / "tmatrix").read_text().count("T[") == 3
    assert "CM matrix[[1,2]]" in said(session, 'CPrint["CM matrix"]')
    assert "Jacobian[[1,1]]" in said(session, 'EPrint[J, "Jacobian"]')
    assert "T01 =" in said(session, 'MPrint[T[0,1], "T01"]')
    assert "c[1,1,1] = 0" in said(session, "SimplifyExpression[c[1,1,1]]")
    assert "MU[[1,1]] = I1 + I2" in said(session, "SimplifyExpression[MU[1,1]]")


def test_motion_as_in_the_reference(session, tmp_path):
    session.run('DataFile["twodof"]; GetInputTau["taul"]')
    assert "tau[[1]] = -2" in said(session, "DisplayTau[]")
    session.run("Response[{0, 5}, {q1[0]==0, q2[0]==0, q1'[0]==0, q2'[0]==0}]")
    session.run('SaveResponse["sinres", {0, 5}, 0.01]')
    assert len((tmp_path / "sinres").read_text().splitlines()) == 502
    (driven,) = session.run('SimDrive["sinres", {trace}]')
    assert next(part for part in leaf_results(driven) if isinstance(part, Motion)).trace
    (arms,) = session.run('SimDrive["*", {arm}]')
    assert next(part for part in leaf_results(arms) if isinstance(part, PoseSequence))
    for line, curves in (
        ("SimPlot[t, {q1, q2}]", (("time", "joint1.q"), ("time", "joint2.q"))),
        ("SimPlot[t, q1]", (("time", "joint1.q"),)),
        ("SimPlot[q1, q2]", (("joint1.q", "joint2.q"),)),
    ):
        (plotted,) = session.run(line)
        assert next(part for part in leaf_results(plotted) if isinstance(part, Motion)).curves == curves


def test_ellipsoids_as_in_the_reference(session):
    session.run('DataFile["polar"]')
    (field,) = session.run("RElp[{{q1, 0, 90 Degree}, {d2, 3, 8}}, {scale}]")
    assert isinstance(field, EllipsoidField)
    assert field.scaled
    assert [round(q[1], 9) for q in field.poses.q] == [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    # the tool turns about the axis at the distance d2 and slides along its own: radii d2 and 1, scaled to 2 units long
    for ellipsoid, d2 in zip(field.ellipsoids, (3.0, 4.0, 5.0, 6.0, 7.0, 8.0), strict=True):
        np.testing.assert_allclose(sorted(ellipsoid.radii), [0.0, 1.0, d2], atol=1e-12)
        assert field.drawable_ellipsoid(field.ellipsoids.index(ellipsoid)).radii[0] == pytest.approx(1.0)
    (single,) = session.run("RElp[{{q1, 0, 90 Degree}, {d2, 3, 8}}, {single}]")
    assert len(single.ellipsoids) == 1
    session.run("d2 = 5")
    (held,) = session.run("RElp[{{q1, 0, 90 Degree}}]")
    assert {round(q[1], 9) for q in held.poses.q} == {5.0}


def test_pictures_as_in_the_reference(session):
    session.run('DataFile["twodof"]')
    (shown,) = session.run("ShowRobot[{{q1, 20 Degree, 90 Degree, 8}}]")
    assert len(shown.q) == 9
    session.run('DataFile["polar"]; PrisJoint["prismatic"]; RevJoint["revolute"]; LinkShape["link2"]')
    (sequence,) = session.run("SeqShowRobot[{{d2, 3, 6}, {d2, 6, 3}, {q1, 90 Degree, 20 Degree}}]")
    assert len(sequence.q) == 16  # each range begins where the one before it ended
    assert [round(x, 9) for x in (sequence.q[5][1], sequence.q[10][1])] == [6.0, 3.0]
    session.run("SetRanges[{-5, 5}, {-2, 4}, {0, 9}]")
    session.run('SaveAnim["anim1"]; LoadAnim["anim1"]')
    (played,) = session.run("ShowAnim[]")
    assert played.display == "animate"
    session.run("ClearRevJoint[]; ClearPrisJoint[]; ClearLinkShape[]")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_usage_that_help_quotes_runs(session, tmp_path, name):
    session.run('DataFile["twodof"]')
    command = COMMANDS[name]
    usage = command.usage.replace('"name"', '"twodof"')
    if command.arguments and command.arguments[0].kind == "read":
        usage = usage.replace(
            '"file"', '"taul"' if name == "GetInputTau" else '"trace"' if "Sim" in name else '"link2"'
        )
    session.run('Response[{0, 10}, {q1[0] == 0.1}]; SaveResponse["trace"]')
    session.run('SaveAnim["anim1"]')
    session.run("d3 = 5")
    results = session.run(usage)
    assert results
    assert usage.partition("[")[0] in COMMANDS
    assert not [
        part for result in results for part in leaf_results(result) if isinstance(part, Formulas) and not part.entries
    ]


def test_input_data_are_those_of_the_file(session):
    """Symbols as the file writes them, and its gravity vector, which points against the pull."""
    shown = said(session, 'DataFile["twodof"]')
    assert shown.partition("State Reset.")[2].strip() == said(session, "PrintInputData[]").strip()
    (gravity,) = (line for line in Path(PATHS["two_link"]).read_text().splitlines() if line.startswith("gravity"))
    assert gravity.partition("=")[2].strip() in shown
    for mass, length, inertia in (("m1", "a1", "I1"), ("m2", "a2", "I2")):
        line = next(line for line in shown.splitlines() if f"-1/2*{length}" in line)
        assert line.split(maxsplit=2)[:2] == ["link" + mass[1], mass]
        assert f"{{-1/2*{length}, 0, 0}}" in line
        assert line.endswith(f"{{0, 0, 0, 0, 0, {inertia}}}")


def test_input_data_of_a_machine_without_table(session):
    kestrel = PATHS["kestrel"]
    said(session, f'DataFile["{kestrel}"]')
    assert "Mass properties" in said(session, "PrintInputData[]")


def test_a_symbol_tells_its_value(session):
    said(session, 'DataFile["twodof"]')
    assert said(session, "a1") == "a1 = 1 (assumed)"
    said(session, "a1 = 2.5; q1 = 90 Degree; rate = 7")
    assert said(session, "a1") == "a1 = 2.5"
    assert said(session, "rate") == "rate = 7"
    assert said(session, "q1") == f"q1 = {np.pi / 2:g}"
    said(session, "Clear[a1]")
    assert "(assumed)" in said(session, "a1")
    with pytest.raises(ExpressionError, match="has no value"):
        session.run("nothing")
    with pytest.raises(ExpressionError, match="takes 2 indices"):
        session.run("M[[1]]")


def test_one_long_entry_keeps_its_own_name(session):
    path = PATHS["stanford"]
    said(session, f'DataFile["{path}"]')
    entry = said(session, "M[1,1]")
    assert len(entry) > 150
    assert entry.startswith("M[[1,1]] = ")
    assert said(session, "M").startswith("M[[1,1]] = ")


def test_entries_are_printed_column_by_column_as_in_the_manual(session):
    """Figures 3.6 and 5.6: T[0,1] and Jvc[1] of the two-link arm."""
    session.run('DataFile["twodof"]')
    lines = said(session, 'EPrint[T[0,1], "T01"]').splitlines()
    assert lines[:6] == [
        "T01[[1,1]] = C1",
        "T01[[2,1]] = S1",
        "T01[[3,1]] = 0",
        "T01[[4,1]] = 0",
        "T01[[1,2]] = -S1",
        "T01[[2,2]] = C1",
    ]
    assert lines[12:] == ["T01[[1,4]] = a1 C1", "T01[[2,4]] = a1 S1", "T01[[3,4]] = 0", "T01[[4,4]] = 1"]
    assert said(session, 'EPrint[Jvc[1], "Jvc1"]').splitlines() == [
        "Jvc1[[1,1]] = -1/2 a1 S1",
        "Jvc1[[2,1]] = 1/2 a1 C1",
        "Jvc1[[3,1]] = 0",
        "Jvc1[[1,2]] = 0",
        "Jvc1[[2,2]] = 0",
        "Jvc1[[3,2]] = 0",
    ]
