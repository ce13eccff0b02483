"""`kinetostat robotica`: calls, scripts and an input stream without a window."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import resources
from app.cli.main import cli

TWO_LINK = str(next(entry.path for entry in resources.examples() if Path(entry.path).stem == "two_link"))


def test_calls_are_run_in_order(capsys):
    assert cli(["robotica", TWO_LINK, "-c", "a1 = 3;", "-c", 'FKin[]; MPrint[T[0,1], "T01"]']) == 0
    out = capsys.readouterr().out
    assert "a1 = 3" not in out  # a semicolon silences
    assert "T01 =" in out


def test_what_succeeded_is_seen_before_the_error(capsys):
    assert cli(["robotica", TWO_LINK, "-c", "M[1,2]\nNoSuchFunction[]"]) == 1
    said = capsys.readouterr()
    assert "1/2 a1 a2 m2 C2" in said.out
    assert "There is no function 'NoSuchFunction'" in said.err
    assert "Traceback" not in said.err


def test_script_loads_its_robot_and_speaks_json(tmp_path, capsys):
    script = tmp_path / "script.txt"
    script.write_text(f'DataFile["{TWO_LINK}"]\nRElp[{{{{q1,0,90 Degree,4}},{{a2,3,8,4}}}}, {{scale}}]\n')
    assert cli(["robotica", "--script", str(script), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 2
    assert len(lines[1]["ellipsoids"]) == 5


def test_a_script_runs_up_to_its_first_mistake_and_tells_the_place(tmp_path, capsys):
    script = tmp_path / "script.txt"
    script.write_text("M[1,2]\nRElp[{{q1, 0, 1}},\n   {scal}]\nM[2,2]\n")
    assert cli(["robotica", TWO_LINK, "--script", str(script)]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("M[[1,2]] = ")
    assert "M[[2,2]]" not in said.out
    assert f"{script}:3, column 5: RElp has no option 'scal'. Did you mean scale?" in said.err


def test_unreadable_script_is_a_message(tmp_path, capsys):
    assert cli(["robotica", "--script", str(tmp_path / "none.txt")]) == 1
    assert "The script cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(("lines", "code"), [("FKin[]\n", 0), ("Oops[]\nFKin[]\n", 1), ("FKin[]\nQuit[]\nOops[]\n", 0)])
def test_lines_of_a_stream_go_on_after_an_error(lines, code):
    done = subprocess.run(
        [sys.executable, "-m", "app", "robotica", TWO_LINK],
        input=lines,
        text=True,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code
    assert "Jacobian Formed: J (6×2)" in done.stdout
    assert ("Oops" in done.stderr) == (code == 1)


def test_simplot_writes_its_pictures_with_the_proportions_wanted(tmp_path, capsys, monkeypatch):
    from PySide6.QtGui import QImage

    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    script = "Response[{0, 1}, {q1[0] == 0.3}]; SimPlot[q1, {q2}, {0.5, mprint, print}]"
    monkeypatch.chdir(tmp_path)
    assert cli(["robotica", TWO_LINK, "-c", script]) == 0, capsys.readouterr().err
    assert "msimplot.png" in capsys.readouterr().out
    image = QImage(str(tmp_path / "msimplot.png"))
    assert image.width() >= 960
    grid = [image.pixelColor(x, image.height() // 3).name() for x in range(image.width())]
    assert len(set(grid)) > 1  # something is drawn
    assert (tmp_path / "simplot.pdf").read_bytes().startswith(b"%PDF")
