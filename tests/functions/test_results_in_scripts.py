"""Answers in scripts: cells are numbers, reports have their table, data is JSON, and consoles show a line."""

import dataclasses
import json
import math

import pytest

import kinetostat as ks
from core.functions.results import Message, Report, Table, tables_in_result
from core.functions.text import Amount, Column
from kinetostat import linkage

ROWS = (("joint1", Amount(0.5, "angle")), ("joint2", Amount(None)))
TABLE = Table(title="Angles", columns=(Column("Joint"), Column("Value")), rows=ROWS)
REPORT = Report(title="Answer", parts=(Message(text="Two."), TABLE))


def test_cells_are_numbers():
    assert float(TABLE.rows[0][1]) == 0.5
    assert math.isnan(float(TABLE.rows[1][1]))


def test_a_report_has_its_first_table_and_data_for_json():
    assert REPORT.to_table() is TABLE
    assert Report(parts=(Message(text="None."),)).to_table() is None
    assert tables_in_result(Report(parts=(REPORT, REPORT))) == [TABLE, TABLE]
    data = json.loads(json.dumps(REPORT.to_data()))
    assert data["parts"][1]["rows"][0] == ["joint1", {"value": 0.5, "dimension": "angle"}]


@pytest.mark.parametrize(
    "made",
    [
        lambda: ks.load("ur5"),
        lambda: ks.load("ur5").chains[0],
        lambda: ks.Mechanism(ks.load("four_bar")).mobility(),
        lambda: ks.Context.of(ks.load("four_bar")),
        lambda: ks.Study(ks.load("four_bar")),
        lambda: ks.Design(ks.load("four_bar")),
        lambda: ks.OperatingPoint(ks.load("four_bar")),
        lambda: ks.symbolic.robot(ks.load("two_link")),
        lambda: dataclasses.replace(REPORT, parts=REPORT.parts * 1000),
    ],
)
def test_what_consoles_show_fits_on_a_screen(made):
    text = repr(made())
    assert len(text) <= 2000
    assert " at 0x" not in text


def test_scripts_check_what_the_shell_checks(tmp_path, capsys):
    from app.cli.main import cli

    drawn = linkage.link(ks.Model(name="four-bar"), [(0, 0), (0.03, 0.1), (0.3, 0.2), linkage.ground(0.32, 0)])
    path = tmp_path / "open.kst"
    ks.save(ks.edits.change(drawn, "parameters", "l1", value=0.12), path)
    found = ks.check(ks.load(path))
    assert any(each.severity == "warning" and each.collection == "joints" for each in found)
    capsys.readouterr()
    cli(["check", str(path), "--json"])
    shell = json.loads(capsys.readouterr().out)["findings"]
    assert {each["text"] for each in shell} == {each.text for each in found}
