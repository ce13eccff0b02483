"""Expressions on the line: products of matrices, entries of entries, printed sines, values, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

import resources
from core.errors import ExpressionError, KinetostatError
from core.files.mathematica.meaning import format_tree, read_ranges
from core.files.mathematica.syntax import parse, parse_all
from core.robotica.robotica_session import Session
from core.robotica.workspace import ScriptHost

TWO_LINK = next(entry.path for entry in resources.examples() if Path(entry.path).stem == "two_link")


@pytest.fixture
def session(tmp_path):
    made = Session(ScriptHost(TWO_LINK))
    made.state.folder = str(tmp_path)
    return made


def said(session, line):
    return "\n".join(result.to_text() for result in session.run(line)).strip()


@pytest.mark.parametrize(
    ("line", "short"),
    [
        ("T[0,2][[1,4]]", "a1 C1 + a2 C12"),
        ("T[0,2][1,4]", "a1 C1 + a2 C12"),
        ("(A[1] . A[2] - T[0,2])[[2,4]]", "0"),
        ("(A[1].A[2])[[1,1]]", "C12"),
        ("(Transpose[J] . J)[[2,2]]", "1 + a2^2"),
        ("(-2 M)[[2,2]]", "-2 I2 - 1/2 a2^2 m2"),
        ("(M/2 + M)[[2,2]]", "3/2 I2 + 3/8 a2^2 m2"),
        ("G[[2]]", "1/2 a2 g m2 C12"),
        ("SimplifyExpression[S1 C2 + C1 S2]", "S12"),
        ("C12^2 + S12^2", "1"),
        ("cos(q1)^2 + sin(q1)^2", "1"),
        ("sin(q1)*cos(q2) + cos(q1)*sin(q2)", "S12"),
        ("2 cos(60 deg) atan2(0, 1) + Sqrt(4)", "2"),
        ("C12 C1 + S12 S1", "C2"),
        ("C1", "C1"),
        ("Cos[q1] - C1", "0"),
        ("Dq1 + Dq1", "2 Dq1"),
        ("arm_length 2", "2 arm_length"),
        ("3 − 5", "-2"),
    ],
)
def test_expressions_are_shortened(session, line, short):
    assert said(session, line).rpartition(" = ")[2] == short


def test_products_are_those_of_the_numbers(session):
    """A1 A2 of the arm, multiplied by hand at a pose."""
    shown = said(session, 'EPrint[A[1] . A[2], "B"]')
    a1, a2, q1, q2 = 0.7, 0.4, 0.3, -1.1
    known = {"a1": a1, "a2": a2, "C12": np.cos(q1 + q2), "S12": np.sin(q1 + q2), "C1": np.cos(q1), "S1": np.sin(q1)}
    found = {
        line.split(" = ")[0]: eval(
            line.split(" = ")[1].replace(" C", "*C").replace(" S", "*S").replace("+*", "+"), known
        )
        for line in shown.splitlines()
    }

    def link(a, q):
        return np.array([[np.cos(q), -np.sin(q), a * np.cos(q)], [np.sin(q), np.cos(q), a * np.sin(q)], [0, 0, 1]])

    product = link(a1, q1) @ link(a2, q2)
    for i in range(2):
        for j, column in enumerate((1, 2, 4)):
            assert found[f"B[[{i + 1},{column}]]"] == pytest.approx(product[i, j])


def test_values_stand_in_equations_until_they_are_cleared(session):
    """As in Mathematica: a symbol that has a value is that number in all that is shown; coordinates stay symbols."""
    symbols = said(session, "M[1,1]")
    session.run("a1 = 3; m1 = 2; q2 = 50 Degree")
    assert said(session, "M[1,1]").endswith("9/2 + I1 + I2 + 1/4 a2^2 m2 + 9 m2 + 3 a2 m2 C2")
    assert said(session, "SimplifyExpression[c[1,2,1]]").endswith("-3/2 a2 m2 S2")
    assert "3 C1" in said(session, 'MPrint[A[1], "A1"]')
    assert said(session, "Sqrt[a1^2 + 16]").endswith("= 5")
    session.run("Clear[a1, m1]")
    assert said(session, "M[1,1]") == symbols
    session.run("k1 = 4")
    assert said(session, "k1 a2").endswith("= 4 a2")


def test_torques_keep_their_symbols(session, tmp_path):
    """Values given before a torque file is read do not take its references away."""
    (tmp_path / "hold").write_text("tau[[1]] = G[1] + M[1,1] a1\ntau[[2]] = G[2]")
    session.run('a1 = 2; a2 = 1; GetInputTau["hold"]; Response[{0, 0.1}, {q1[0] == 0.3}]')
    run = session.state.run
    p = session.context().p
    g1 = (p["m1"] / 2 + p["m2"]) * 9.81 * 2.0 * np.cos(0.3) + p["m2"] * 9.81 * 0.5 * np.cos(0.3)
    m11 = p["I1"] + p["I2"] + p["m1"] + 4 * p["m2"] + p["m2"] / 4 + 2 * p["m2"]
    assert run["joint1.tau"][0] == pytest.approx(g1 + 2.0 * m11)


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        ("FKin", 1, "'FKin' is a function"),
        ("MPrint(T[0,1])", 1, r"Write MPrint\[T"),
        ("fkin[]", 1, "Did you mean FKin"),
        ("T", 1, "'T' takes 2 indices"),
        ("FKin[3]", 1, "takes no argument"),
        ("  MPrint[]", 3, "takes 1 to 3 arguments"),
        ("M . A[1]", 1, "A 2 × 2 matrix . a 4 × 4 matrix"),
        ("M M", 1, "the matrix product with a point"),
        ("M + 1", 1, "same number of rows"),
        ("3 + Sin[M]", 5, "not matrices"),
        ("2 / M", 1, "Divide by one entry"),
        ("T[0,2][[5,4]]", 1, "outside the 4 × 4 matrix"),
        ("T[0,2][[4]]", 1, "needs a row and a column"),
        ("nix", 1, "'nix' has no value"),
        ("1/a1", 1, "Give the divisor a value"),
        ("2 + Tan[q1]", 5, r"'Tan\[q1\]' cannot be written exactly"),
        ("M = 5", 1, "is a reserved name"),
        ("Pi = 3", 1, "is a reserved name"),
        ("q1 == 3", 1, "write name = number"),
        ("RElp[{{q1, 0, 90 degree}}]", 18, "Did you mean Degree"),
        ("RElp[{{q1, 0, 1, 100000}}]", 18, "from 1 to 10000"),
        ("RElp[{{q1, 0, 1}}, {file}]", 21, 'Write file -> "name"'),
        ("RElp[{{q1, 0, 1}}, {scale -> 2}]", 21, "'scale' takes no value"),
        ("ShowRobot[{{q1,0,1,3},{q2,0,1,4}}]", 11, "different numbers of divisions"),
        ("FKin[] (* no end", 8, r"no closing '\*\)'"),
        ('MPrint[M, "M]', 11, "no closing quotation mark"),
        ("Response[{5, 1}]", 10, "The end must be after the start"),
        ("Response[{0, 1}, {q1[1] == 0}]", 19, r"Write q1\[0\] == 0"),
        ("Response[{0, 1}, {q1'[0] == 0, q1'[0] == 1}]", 32, "second condition for q1'"),
    ],
)
def test_mistakes_are_told_with_place_and_remedy(session, line, column, words):
    with pytest.raises(KinetostatError, match=words) as caught:
        session.run(line)
    assert caught.value.where == f"column {column}"
    assert caught.value.remedy


def test_signs_of_word_processors_and_questions(session):
    session.run("a2 = −2")
    assert session.context().p["a2"] == -2.0
    assert said(session, "MPrint[G[2], “weight”]").startswith("weight = ")
    assert said(session, "?FKin") == said(session, "Help[FKin]") == said(session, "?? FKin")


def test_rates_and_torques_are_plotted_by_every_name(session):
    session.run("Response[{0, 1}, {q1[0] == 0.1}]")
    (plotted,) = session.run("SimPlot[t, {Dq1, q1', tau[1], tau[[1]], tau1, DDq1}]")
    curves = [y for _, y in plotted.parts[0].curves]
    assert curves == ["joint1.v", "joint1.v", "joint1.tau", "joint1.tau", "joint1.tau", "joint1.a"]
    with pytest.raises(ExpressionError, match="and tau1"):
        session.run("SimPlot[t, {tau[7]}]")


def test_measures_are_stored_in_a_file_of_a_plain_name(session, tmp_path):
    session.run("RElp[{{q1, 0, 1}}, {monly, file -> measures}]")
    assert "Eccentricity" in (tmp_path / "measures").read_text()


@pytest.mark.parametrize("line", ["M", "MPrint[J]", "CM", "G", "T[0,2]", "A[1]", "c[1,2,1]", "Jvc[2]", "EPrint[MU]"])
def test_results_are_compared_with_the_compiled_kernel(session, line):
    session.run("a1 = 3")
    (found,) = session.run(line)
    assert found.proved
    assert "agrees with the compiled kernel" in found.proof
    assert found.conventions
    assert ("joints", "joint2") in found.owners["q2"]
    assert "agrees" not in found.to_text()  # the text is the manual's


def test_a_result_that_differs_from_the_kernel_says_so(session, monkeypatch):
    right = session.robot.form("M")
    monkeypatch.setitem(session.robot._forms, ("M",), ((right[0][1], right[0][1]), right[1]))
    (found,) = session.run("M")
    assert found.proved is False
    assert "DIFFERS" in found.to_text()


def test_long_entries_are_told_by_their_length_where_that_is_wished(session):
    (found,) = session.run("M")
    assert "M[[1,1]] = … " not in found.to_text()
    short = found.to_text(longest=8)
    assert "operations, shown on the card" in short
    assert "I2 + 1/4 a2^2 m2" in short


@pytest.mark.parametrize("line", ["sin q1", "cos^2(q1)", "Sqrt[q1^2]", "a1 = cos", "sin = 3"])
def test_what_is_no_number_of_a_function_is_refused(session, line):
    with pytest.raises(ExpressionError, match=r"function|reserved name|written exactly"):
        session.run(line)


def test_lists_have_names(session):
    assert said(session, "simlist = {q1, q2}; simlist") == "simlist = {q1, q2}"
    line = "turns = {{q1, 0, 1}, {q2, 0, 1}, 3}; ShowRobot[turns]"
    assert said(session, line) == said(session, "ShowRobot[{{q1, 0, 1, 3}, {q2, 0, 1, 3}}]")
    assert said(session, "simlist = 3; simlist") == "simlist = 3"
    with pytest.raises(ExpressionError, match="turns"):
        session.run("Clear[turns]; turns")


@pytest.mark.parametrize(
    "written", ["{q1, 0, 1}, {q2, 0, 1, 4}", "{q1, 0, 1}, {q2, 0, 1}, 4", "{q1, 0, 1, 4}, {q2, 0, 1}, 4"]
)
def test_divisions_may_be_given_once(session, written):
    assert read_ranges(parse("{" + written + "}"), session.symbol_value) == [("q1", 0.0, 1.0, 4), ("q2", 0.0, 1.0, 4)]


def test_a_number_between_ranges_is_refused(session):
    with pytest.raises(ExpressionError, match="'3' is not a range"):
        session.run("ShowRobot[{{q1, 0, 1}, 3, {q2, 0, 1}}]")


def test_places_are_counted_within_their_line_after_a_comment_of_several_lines():
    with pytest.raises(ExpressionError) as caught:
        parse_all("a = 1 (* one\n  two *) )")
    assert (caught.value.line, caught.value.where) == (2, "column 10")


@pytest.mark.parametrize("source", ["1 + (*", "1 + (*)", "1 + (* two", "1 + " + "(*" * 20_000])
def test_a_comment_without_end_is_refused_where_it_begins(source):
    with pytest.raises(ExpressionError, match="no closing") as caught:
        parse(source)
    assert (caught.value.line, caught.value.where) == (1, "column 5")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a - (b - c)", "a - (b - c)"),
        ("-a b - c", "-a b - c"),
        ("(a^b)^c", "(a^b)^c"),
        ("a/(b c)", "a/(b c)"),
    ],
)
def test_expressions_are_written_with_the_parentheses_they_need(source, text):
    assert format_tree(parse(source)) == text
    assert format_tree(parse(text)) == text


def test_long_sums_are_written_without_recursion():
    text = " + ".join(f"a{k}" for k in range(5_000))
    assert format_tree(parse(text)) == text
