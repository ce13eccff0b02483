"""Any torque file, trace, script or command line gives results or a message with its place, and ends."""

import contextlib
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import FileError, KinetostatError
from core.files.mathematica.meaning import evaluate_number, format_tree
from core.files.mathematica.syntax import Binary, Name, Negative, Number, parse
from core.functions.subjects.torque_file import read_torque_file
from core.mechanics.elements.recorded_signals import read_table
from core.robotica.robotica_session import Session
from core.robotica.workspace import ScriptHost
from resources import EXAMPLES
from tests.files.test_files_fuzz import MUTATION, mutated

CIRCLE = (EXAMPLES / "torques" / "circle.tau").read_bytes()
SINE = (EXAMPLES / "torques" / "sine_tracker.tau").read_bytes()
SIMNON = b'" t q1 q2\n" free motion\n' + b"".join(b"%.2f %.4f %.4f\n" % (0.1 * k, 0.02 * k, 0.04 * k) for k in range(9))
CSV = SIMNON.replace(b'" free motion\n', b"").replace(b'" ', b"").replace(b" ", b",")
TRACES = {"simnon": SIMNON, "csv": CSV}
CALLS = (
    "FKin[]",
    'MPrint[T[0,1], "T01"]',
    "EPrint[M]",
    "SimplifyExpression[c[1,1,1]]",
    "Planar[]",
    "a1 = 3; a2 = 2 a1",
    "RElp[{{q1, 0, 90 Degree, 2}, {a2, 3, 8, 2}}, {scale, measures}]",
    "RElp[{q2, 0, 1, 1}, {monly}]",
    "ShowRobot[{{q1, 20 Degree, 90 Degree, 2}}, {animate}]",
    "SeqShowRobot[{{q1, 0, 1, 1}, {q2, 0, 1, 1}}]",
    "DisplayTau[]",
    "GetInputTau[]",
    "Clear[a1]",
    'SimDrive["*", {trace, arm, distance -> 0.5}]',
    "SimPlot[t, {q1, q2'}, {0.7}]",
    "Response[{0, 0.1, 500}, {q1[0] == 0.2, q1'[0] == 0}]",
    "Help[RElp]",
    "Sin[q1] Cos[q2] + Cos[q1] Sin[q2]",
    "1/2 a1^2 + Sqrt[3] - ArcTan[1, 2]",
    "PrintInputData[]",
)

few = settings(max_examples=60, suppress_health_check=list(HealthCheck))


def check_message(error: KinetostatError, path: Path | None = None) -> None:
    assert error.what
    assert path is None or error.file == str(path)
    assert len(error.what) < 2000


@pytest.fixture(scope="module")
def robot():
    return Session(ScriptHost(str(EXAMPLES / "two_link.rob"))).robot


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    made = Session(ScriptHost(str(EXAMPLES / "two_link.rob")))
    made.state.folder = str(tmp_path_factory.mktemp("lines"))
    return made


@few
@given(seed=st.sampled_from((CIRCLE, SINE)), changes=st.lists(MUTATION, min_size=1, max_size=4))
def test_mutated_torque_files(robot, tmp_path_factory, seed, changes):
    path = tmp_path_factory.mktemp("torques") / "changed.tau"
    path.write_bytes(mutated(seed, changes))
    try:
        torques = read_torque_file(str(path))
        torques.check(robot.n)
        missing = torques.unknown_symbols(robot, set())
    except FileError as error:
        check_message(error, path)
        return
    assert len(missing) == len(set(missing))
    assert len(torques.display(robot.n)) == robot.n


@few
@given(name=st.sampled_from(sorted(TRACES)), changes=st.lists(MUTATION, min_size=1, max_size=4))
def test_mutated_traces(tmp_path_factory, name, changes):
    path = tmp_path_factory.mktemp("traces") / f"changed.{name}"
    path.write_bytes(mutated(TRACES[name], changes))
    try:
        names, numbers = read_table(str(path))
    except FileError as error:
        check_message(error, path)
        return
    assert numbers.shape[1] == len(names) >= 2
    assert np.isfinite(numbers).all()


@pytest.mark.parametrize("separator", [" ", ","])
@given(rows=st.integers(2, 8), bad=st.data())
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
def test_a_wrong_cell_of_a_trace_is_named_by_line_and_column(tmp_path_factory, separator, rows, bad):
    row, column = bad.draw(st.integers(1, rows - 1)), bad.draw(st.integers(0, 2))
    word = bad.draw(st.sampled_from(("x", "1.2.3", "nan", "inf", "--1")))
    cells = [[str(0.1 * k), str(0.2 * k), str(0.3 * k)] for k in range(rows)]
    cells[row][column] = word
    path = tmp_path_factory.mktemp("traces") / "wrong.sim"
    path.write_text("\n".join(['" t q1 q2', *(separator.join(line) for line in cells)]))
    with pytest.raises(FileError) as error:
        read_table(str(path))
    assert error.value.line == row + 2
    assert error.value.where == f"column {column + 1}"
    assert word in error.value.what


@few
@given(call=st.sampled_from(CALLS), changes=st.lists(MUTATION, min_size=1, max_size=3))
def test_mutated_lines(session, call, changes):
    line = mutated(call.encode(), changes).decode("utf-8", "replace")
    if any(word in line for word in ("e4", "Response", "99")):  # long ranges are no mistakes
        line = line.replace("Response", "Planar")
    before = sorted(Path(session.state.folder).iterdir())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            results = session.run(line)
        except KinetostatError as error:
            check_message(error)
        else:
            assert all(results)
    session.state.given.clear()
    assert len(sorted(Path(session.state.folder).iterdir())) <= len(before) + 2


LEAVES = st.sampled_from("abc").map(Name) | st.integers(0, 9).map(lambda n: Number(float(n)))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.builds(Binary, st.sampled_from("+-*/^"), inner, inner) | st.builds(Negative, inner),
    max_leaves=8,
)


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(tree=TREES)
def test_a_shown_formula_means_the_same(tree):
    known = {"a": 1.5, "b": -0.75, "c": 2.25}

    def amount(formula):
        with contextlib.suppress(KinetostatError, TypeError):  # no finite, or no real value
            return evaluate_number(formula, known.__getitem__)

    expected = amount(tree)
    if expected is not None:
        assert amount(parse(format_tree(tree))) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("-3*Sin[t]", "-3 Sin[t]"),
        ("a + -3 b", "a - 3 b"),
        ("a - (b - c)", "a - (b - c)"),
        ("(-a)^2", "(-a)^2"),
        ("-(a^2) b", "-a^2 b"),
        ("(a b) - ((c) d)", "a b - c d"),
        ("a/(b c)", "a/(b c)"),
        ("a^(b^c)", "a^b^c"),
    ],
)
def test_formulas_have_the_parentheses_they_need(text, short):
    assert format_tree(parse(text)) == short


@pytest.mark.parametrize(
    "text",
    [
        "{" * 5000,
        "(" * 5000,
        "-" * 5000,
        "q1" + "'" * 5000 + "[t]",
        "2^" * 3000 + "2",
        "[[" * 2000,
        '"' * 4001,
        "(*" * 2000,
        "10^10^10^10",
        "a=" * 2000 + "1",
        "f[" * 3000,
        "1e999999",
        "1e308 10",
        "x = 1e200^3",
        "RElp[{{q1,0,1,1000000000}}]",
    ],
)
def test_hostile_lines_end_in_a_message(session, text):
    with pytest.raises(KinetostatError) as error:
        session.run(text)
    check_message(error.value)
