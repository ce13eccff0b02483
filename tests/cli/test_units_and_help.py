"""Numbers with units on the command line, numbers for pipelines, and help whose lines can be copied."""

from __future__ import annotations

import csv
import io
import shlex
from math import pi

import click
import pytest

from app.cli.machine import parse_quantity
from app.cli.main import COMMANDS, HELP_EXAMPLES, cli, group
from core.functions import FUNCTIONS
from resources import EXAMPLES as FOLDER

PENDULUM = str(FOLDER / "pendulum.kst")


@pytest.mark.parametrize(
    ("text", "dimension", "si"),
    [
        ("2", "time", 2.0),
        ("500 ms", "time", 0.5),
        ("1 min", "time", 60.0),
        ("180 deg/s", "angular_velocity", pi),
        ("36 km/h", "velocity", 10.0),
        ("0,5", "length", 0.5),
        ("2*l1", "length", 0.8),
        ("pi/2", "angle", pi / 2),
    ],
)
def test_numbers_take_units_and_formulas(text: str, dimension: str, si: float) -> None:
    assert parse_quantity(text, dimension, {"l1": 0.4}) == pytest.approx(si, rel=1e-14)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("3 kg", "--x: 'kg' is a unit for a mass"),
        ("3 apples", "'apples'"),
        ("", "--x"),
        ("nan", "The name 'nan' is not defined"),
    ],
)
def test_what_is_no_time_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(click.UsageError) as refused:
        parse_quantity(text, "time", where="--x")
    assert said in refused.value.message


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--duration", "-1 s"], "'-1 s' is not above zero"),
        (["--duration", "2 mm"], "'mm' is a unit for a length"),
        (["--sample", "0"], "not above zero"),
        (["--v0", "pin=1 m"], "--v0 pin: 'm' is a unit for a length"),
        (["--v0", "crank=1"], "There is no speed 'crank'. Known: "),
        (["--v0", "pin"], "not of the form NAME=VALUE"),
    ],
)
def test_wrong_numbers_are_wrong_usage(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["run", PENDULUM, *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_run_is_written_to_the_output_stream_for_other_programs(capsys: pytest.CaptureFixture[str]) -> None:
    joint = _joint()
    arguments = ["--duration", "20 ms", "--sample", "5 ms", "--v0", f"{joint}=90 deg/s", "--channels", f"{joint}.v"]
    assert cli(["run", PENDULUM, *arguments, "-o", "-"]) == 0
    out, err = capsys.readouterr()
    rows = list(csv.reader(io.StringIO(out)))
    assert rows[0] == ["time", f"{joint}.v"]
    assert [float(row[0]) for row in rows[1:]] == pytest.approx([0.0, 0.005, 0.01, 0.015, 0.02])
    assert float(rows[1][1]) == pytest.approx(1.5707963267948966)
    assert "samples" in err


def _joint() -> str:
    from core.files import load
    from core.mechanism import Mechanism

    return Mechanism(load(PENDULUM)).v_names[0]


def test_the_examples_of_help_are_right() -> None:
    assert set(HELP_EXAMPLES) <= {*COMMANDS, *FUNCTIONS}
    for name, lines in HELP_EXAMPLES.items():
        for line in lines:
            words = shlex.split(line.partition(" | ")[0])
            command = group.get_command(click.Context(group), words[0])
            assert command is not None, line
            assert f"kinetostat {line}" in (command.epilog or ""), name
            command.make_context(words[0], words[1:])  # raises where an option or a value is wrong


def test_help_ends_with_a_line_to_copy_and_begins_with_own_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["jacobian", "--help"]) == 0
    told = capsys.readouterr().out
    assert told.index("--frame") < told.index("--json") < told.index("--pose JOINT")
    assert told.rstrip().endswith('kinetostat jacobian arm.kst --pose joint1="30 deg" --json')
    assert cli(["--help"]) == 0
    assert "Exit code 0: done" in capsys.readouterr().out
