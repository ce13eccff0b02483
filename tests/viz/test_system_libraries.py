"""Libraries that the system lacks are named, with the packages that bring them, before VTK or Qt crash on them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.__main__ import obstacle_to_window
from app.platforms import unknown_platforms
from core.errors import KinetostatError
from core.model import Model
from resources import SYSTEM_LIBRARIES
from viz import system_libraries
from viz.pictures import offscreen

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems bring everything")


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A system on which two libraries, for pictures and for the window, are not to be found."""
    table = tmp_path / "libraries.txt"
    table.write_text(
        "# file package use\nlibc.so.6 libc6 picture\nlibnoGL.so.1 libnogl1 picture\nlibnoxcb.so.0 nox window\n"
    )
    monkeypatch.setattr(system_libraries, "SYSTEM_LIBRARIES", table)
    system_libraries.find_missing_libraries.cache_clear()
    yield
    system_libraries.find_missing_libraries.cache_clear()


def test_each_line_names_a_file_a_package_and_a_use() -> None:
    lines = [line.split() for line in SYSTEM_LIBRARIES.read_text().splitlines() if not line.startswith("#")]
    assert all(".so" in file and use in ("picture", "chart", "window", "driver") for file, _, use in lines)
    assert len({file for file, _, _ in lines}) == len(lines) > 20


def test_nothing_is_missing_where_the_program_draws() -> None:
    assert system_libraries.find_missing_libraries("chart") == ()


@pytest.mark.usefixtures("bare")
def test_a_picture_asks_for_what_it_needs_alone() -> None:
    assert system_libraries.find_missing_libraries("picture") == (("libnoGL.so.1", "libnogl1"),)
    with pytest.raises(KinetostatError, match=r"missing: libnoGL\.so\.1\. .*apt-get install libnogl1$"):
        offscreen.render(Model())


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({}, "There is no display"),
        ({"DISPLAY": ":0"}, "libnogl1 nox"),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, "install libnogl1"),
        ({"WAYLAND_DISPLAY": "wayland-0", "QT_QPA_PLATFORM": "xcb"}, "libnogl1 nox"),
        ({"QT_QPA_PLATFORM": "offscreen"}, "install libnogl1"),
    ],
)
def test_the_window_says_what_keeps_it_from_appearing(
    variables: dict[str, str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert told in obstacle_to_window()
    assert ("nox" in obstacle_to_window()) == ("nox" in told)


@pytest.fixture
def screens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A session with one compositor that answers, wayland-1, and no X server at display :987."""
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(str(tmp_path / "wayland-1"))
        line.listen()
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "QT_QPA_PLATFORM"):
            monkeypatch.delenv(name, raising=False)
        yield


@pytest.mark.usefixtures("screens")
@pytest.mark.parametrize(
    ("variables", "silent"),
    [
        ({"DISPLAY": ":987"}, "DISPLAY=:987"),
        ({"WAYLAND_DISPLAY": "wayland-2"}, "WAYLAND_DISPLAY=wayland-2"),
        ({"WAYLAND_DISPLAY": "wayland-2", "DISPLAY": ":987"}, "WAYLAND_DISPLAY=wayland-2, DISPLAY=:987"),
        ({"WAYLAND_DISPLAY": "wayland-1", "DISPLAY": ":987"}, ""),
        ({"WAYLAND_DISPLAY": "wayland-1", "DISPLAY": ":987", "QT_QPA_PLATFORM": "xcb"}, "DISPLAY=:987"),
        ({"DISPLAY": ":987", "QT_QPA_PLATFORM": "xcb;offscreen"}, ""),
        ({"QT_QPA_PLATFORM": "offscreen"}, ""),
    ],
)
def test_a_screen_that_does_not_answer_is_named(
    variables: dict[str, str], silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Qt would end the program with a dump of its memory."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    told = obstacle_to_window()
    assert (f"does not respond ({silent})" in told) if silent else told == ""


@pytest.mark.parametrize(
    ("platforms", "told"), [("nonsense", True), ("nonsense:size=2;other", True), ("no;minimal", False)]
)
def test_a_platform_that_qt_does_not_have_is_named(platforms: str, told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Qt would end the program with a dump of its memory."""
    monkeypatch.setenv("QT_QPA_PLATFORM", platforms)
    words = unknown_platforms()
    assert (platforms.split(";")[0] in words and "offscreen" in words) if told else words == ""


def test_the_program_ends_with_a_sentence_where_qt_has_no_such_platform() -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "nonsense"}
    done = subprocess.run([sys.executable, "-m", "app"], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "“nonsense”, a platform that Qt does not have" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
