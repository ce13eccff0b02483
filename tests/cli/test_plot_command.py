"""kinetostat plot: channels of runs become pictures, drawings and numbers of the units and the size asked for."""

import csv
import dataclasses
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PySide6.QtGui import QColor, QImage

from app.cli.main import cli
from app.plotting import formats
from core.files import load
from core.mechanism import Mechanism
from core.simulation.run.resampling import equilibrium_run
from resources import examples

pytestmark = pytest.mark.usefixtures("qapp")
TIME = np.linspace(0.0, 1.0, 51)


def run_of(folder, name, amplitude):
    """A run in which the pendulum swings as a sine; nothing is integrated."""
    mech = Mechanism(load(next(each.path for each in examples() if each.name == "pendulum")))
    q, v = (np.outer(f(4.0 * TIME), np.ones(1)) for f in (np.sin, np.cos))
    path = folder / f"{name}.h5"
    dataclasses.replace(
        equilibrium_run(mech, amplitude * q[0]),
        time=TIME,
        q=amplitude * q,
        v=4.0 * amplitude * v,
        a=-16.0 * amplitude * q,
        tau=0.0 * v,
        x=np.zeros((51, 0)),
    ).save(path)
    return str(path)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return run_of(folder, "wide", 0.6), run_of(folder, "narrow", 0.2)


def numbers(path):
    with open(path, encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, np.array(rows, dtype=float).T, strict=True))


def test_numbers_are_written_in_the_units_asked_for(runs, tmp_path):
    assert cli(["plot", runs[0], "pin.q", "pin.q*pin.v", "-o", str(tmp_path / "a.csv")]) == 0
    found = numbers(tmp_path / "a.csv")
    np.testing.assert_array_equal(found["time [s]"], TIME)
    np.testing.assert_allclose(found["pin.q [°]"], np.degrees(0.6 * np.sin(4.0 * TIME)), atol=1e-12)
    np.testing.assert_allclose(
        found["pin.q*pin.v [s⁻¹·rad²]"], 1.44 * np.sin(4.0 * TIME) * np.cos(4.0 * TIME), atol=1e-12
    )
    assert (
        cli(
            [
                "plot",
                runs[0],
                "pin.q",
                "bob.position",
                "-o",
                str(tmp_path / "b.csv"),
                "--angles",
                "rad",
                "--lengths",
                "mm",
            ]
        )
        == 0
    )
    found = numbers(tmp_path / "b.csv")
    np.testing.assert_allclose(found["pin.q [rad]"], 0.6 * np.sin(4.0 * TIME), atol=1e-12)
    place = [found[f"bob.position.{axis} [mm]"] for axis in "xz"]
    np.testing.assert_allclose(np.hypot(place[0], place[1] - 900.0), 500.0)  # the rod is half a metre long


def test_formulas_have_the_unit_of_their_parts(runs, tmp_path, capsys):
    written, angle = str(tmp_path / "f.csv"), 0.6 * np.sin(4.0 * TIME)
    formulas = ["180 deg-abs(pin.q)", "180-pin.q", "pin.q*pin.tau", "pin.v*2 s", "atan2(bob.position.x, 2 m)"]
    assert cli(["plot", runs[0], *formulas, "-o", written]) == 0
    found = numbers(written)
    np.testing.assert_allclose(found["180 deg-abs(pin.q) [°]"], 180.0 - np.degrees(abs(angle)), atol=1e-10)
    np.testing.assert_allclose(found["180-pin.q [°]"], np.degrees(180.0 - angle), atol=1e-8)
    np.testing.assert_allclose(found["pin.v*2 s [°]"], np.degrees(4.8 * np.cos(4.0 * TIME)), atol=1e-10)
    assert "pin.q*pin.tau [J]" in found
    assert "atan2(bob.position.x, 2 m) [°]" in found
    said = capsys.readouterr().out
    assert "Note: In '180-pin.q', the number 180 is taken in rad; write 180 deg for °." in said
    assert said.count("Note") == 1
    assert cli(["plot", runs[0], "180-pin.q", "-o", written, "--angles", "rad"]) == 0
    assert "Note" not in capsys.readouterr().out
    assert "180-pin.q [rad]" in numbers(written)


def test_runs_over_one_another_and_against_another_channel(runs, tmp_path):
    assert cli(["plot", runs[0], "pin.v", "--x", "pin.q", "--with", runs[1], "-o", str(tmp_path / "a.csv")]) == 0
    found = numbers(tmp_path / "a.csv")
    for name, amplitude in (("wide", 0.6), ("narrow", 0.2)):
        q, v = found[f"pin.q [°] ({name})"], found[f"pin.v [°/s] ({name})"]
        np.testing.assert_allclose(np.hypot(q, v / 4.0), np.degrees(amplitude))


@pytest.mark.parametrize("look", ["light", "dark"])
def test_pictures_have_the_size_asked_for_and_show_the_curve(runs, tmp_path, look):
    path = tmp_path / "a.png"
    assert cli(["plot", runs[0], "pin.q", "-o", str(path), "--size", "400x200", "--look", look]) == 0
    image = QImage(str(path))
    assert abs(image.width() - 800) <= 8
    assert 400 <= image.height() <= 480  # the legend stands beneath
    ground = image.pixelColor(image.width() // 2, 8).lightness()
    assert (ground > 200) == (look == "light")
    colours = {image.pixel(x, y) for x in range(image.width()) for y in range(380)}
    assert any(abs((c >> 16 & 255) - 0x1F) + abs((c >> 8 & 255) - 0x77) + abs((c & 255) - 0xB4) < 20 for c in colours)


@pytest.mark.parametrize("suffix", [".svg", ".pdf"])
def test_drawings_are_written(runs, tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    assert cli(["plot", runs[0], "pin.q", "energy.total", "--apart", "-o", str(path)]) == 0
    assert path.read_bytes()[:4] in (b"<?xm", b"%PDF")


def test_drawings_are_drawn_alike_by_librsvg(runs, tmp_path):
    """It does not know `vector-effect`: curves under a scale would be a solid block there."""
    path, picture = tmp_path / "a.svg", tmp_path / "a.png"
    assert cli(["plot", runs[0], "pin.q", "-o", str(path)]) == 0
    for group in ET.parse(path).getroot().iter("{http://www.w3.org/2000/svg}g"):
        numbers_of = re.findall(r"[-+.\de]+", (group.get("transform") or "").partition("(")[2])
        scale = max(map(abs, map(float, numbers_of[:4])), default=1.0)
        assert scale == 1.0 or not [each for each in group if each.get("d")]
    program = shutil.which("rsvg-convert")
    if program is None:
        pytest.skip("librsvg is not installed")
    subprocess.run([program, str(path), "-o", str(picture)], check=True, timeout=60)
    image = QImage(str(picture))
    pixels = [QColor(image.pixel(x, y)) for x in range(image.width()) for y in range(image.height())]
    coloured = sum(each.saturation() > 100 for each in pixels)
    assert image.width() < coloured < 0.05 * len(pixels)  # a line from the left to the right


def test_without_channels_they_are_listed(runs, capsys):
    assert cli(["plot", runs[0]]) == 0
    assert {"pin.q", "energy.total", "bob.position"} <= set(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["pin.w", "-o", "{}/a.png"], "pin.v"),
        (["pin.q", "-o", "{}/a.bmp"], ".svg"),
        (["pin.q"], "-o"),
        (["pin.q", "--x", "pin.qq", "-o", "{}/a.png"], "pin.q"),
        (["pin.q", "-o", "{}/nowhere/a.png"], "nowhere"),
        (["pin.q", "--from", "2", "--to", "1", "-o", "{}/a.png"], "ends"),
        (["sqrt(", "-o", "{}/a.png"], "sqrt("),
    ],
)
def test_what_cannot_be_plotted_is_said(runs, tmp_path, capsys, arguments, words):
    assert cli(["plot", runs[0], *(each.format(tmp_path) for each in arguments)]) != 0
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_format_is_a_row(runs, tmp_path, monkeypatch, capsys):
    def names(charts):
        return "\n".join(curve.label for chart in charts for curve in chart.curves).encode()

    monkeypatch.setattr(formats, "FORMATS", [*formats.FORMATS, formats.PlotFormat(".lst", "Names", names)])
    assert formats.file_dialog_filter().endswith(";;Names (*.lst)")
    assert cli(["plot", runs[0], "pin.q", "pin.v", "-o", str(tmp_path / "curves.lst")]) == 0
    assert (tmp_path / "curves.lst").read_text() == "pin.q\npin.v"
    assert cli(["plot", runs[0], "pin.q", "-o", str(tmp_path / "curves.bmp")]) == 1
    assert ".csv, .lst" in capsys.readouterr().err
