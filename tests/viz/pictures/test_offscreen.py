"""Pictures without a window."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOImage import vtkPNGReader

from core.errors import FileError, KinetostatError
from core.mechanism import Mechanism
from core.model import Body, Box, Joint, Model
from viz.camera import CameraView
from viz.pictures.offscreen import render
from viz.pictures.picture_files import write_png

MODEL = Model(
    bodies=(Body(name="door", shapes=(Box(size=(1.0, 0.1, 1.0), color=(1.0, 0.0, 0.0, 1.0)),)),),
    joints=(Joint(name="hinge", parent="world", child="door"),),
)


def read(path: Path) -> np.ndarray:
    reader = vtkPNGReader()
    reader.SetFileName(str(path))
    reader.Update()
    width, height, _ = reader.GetOutput().GetDimensions()
    return vtk_to_numpy(reader.GetOutput().GetPointData().GetScalars()).reshape(height, width, -1)[::-1]


def red(picture: np.ndarray) -> np.ndarray:
    return (picture[..., 0] > 90) & (picture[..., 1] < 60)


def test_the_file_holds_the_picture_at_the_size_asked_for(tmp_path: Path) -> None:
    picture = render(MODEL, path=tmp_path / "door.png", size=(321, 200))
    assert picture.shape == (200, 321, 4)
    assert (read(tmp_path / "door.png") == picture).all()
    assert [path.name for path in tmp_path.iterdir()] == ["door.png"]


def test_seen_from_the_front_a_square_door_is_a_square_in_the_middle() -> None:
    mask = red(render(MODEL, size=(400, 300), view="front", parallel=True, ground=False))
    rows, columns = np.nonzero(mask)
    assert np.ptp(rows) == pytest.approx(np.ptp(columns), abs=1)
    assert rows.mean() == pytest.approx(149.5, abs=1)
    assert columns.mean() == pytest.approx(199.5, abs=1)
    assert mask.sum() == pytest.approx((np.ptp(rows) + 1) ** 2, rel=0.01)


def test_a_pose_is_drawn() -> None:
    mech = Mechanism(MODEL)
    view = CameraView((0, 0, 0), 5.0, -np.pi / 2, 0.0, parallel=True)
    widths = [
        np.ptp(np.nonzero(red(render(MODEL, q=[angle], mech=mech, view=view, size=(300, 300))))[1])
        for angle in (0.0, np.pi / 3, np.pi / 2)
    ]
    scale = widths[0] / 1.0  # pixels per metre, of the closed door
    assert widths[1] == pytest.approx(scale * (0.5 + 0.1 * np.sqrt(0.75)), abs=2)
    assert widths[2] == pytest.approx(scale * 0.1, abs=2)


def test_transparent_leaves_only_the_machine() -> None:
    picture = render(MODEL, size=(200, 150), transparent=True, ground=False)
    assert (picture[[0, 0, -1, -1], [0, -1, 0, -1], 3] == 0).all()
    assert picture[75, 100, 3] == 255


def test_light_and_dark_pictures() -> None:
    light, dark = (render(MODEL, size=(160, 120), look=look) for look in ("light", "dark"))  # type: ignore[arg-type]
    assert light[0, 0, :3].min() > 200
    assert dark[0, 0, :3].max() < 80


@pytest.mark.parametrize(
    "wrong", [{"size": (0, 100)}, {"size": (100, 10**6)}, {"view": "sideways"}, {"look": "pink"}], ids=str
)
def test_what_cannot_be_drawn_is_said(wrong: dict) -> None:
    with pytest.raises(KinetostatError) as caught:
        render(MODEL, **wrong)
    assert caught.value.remedy


def test_a_picture_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        render(MODEL, path=tmp_path / "absent" / "door.png", size=(80, 60))
    assert "absent" in caught.value.file
    assert caught.value.remedy


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "door.png"
    write_png(np.zeros((4, 4, 4), np.uint8), target)
    old = target.read_bytes()

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(FileError, match="disk full"):
        write_png(np.ones((4, 4, 4), np.uint8), target)
    assert target.read_bytes() == old
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="screens are named by DISPLAY on Linux")
def test_no_screen_is_needed(tmp_path: Path) -> None:
    script = (
        "from core.model import *; from viz.pictures.offscreen import render; "
        "p = render(Model(bodies=(Body(name='b', shapes=(Sphere(radius=1.0),)),)), size=(80, 60), path='ball.png'); "
        "print(p.shape, len(set(map(tuple, p.reshape(-1, 4).tolist()))) > 50)"
    )
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment["PYTHONPATH"] = str(Path(__file__).parents[3])
    run = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.stdout.strip() == "(60, 80, 4) True"
    assert run.stderr == ""
