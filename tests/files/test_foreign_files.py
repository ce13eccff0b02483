"""What a model names is opened only if it is a regular file of bearable size; nothing else is waited for."""

from __future__ import annotations

import os
import socket
import threading

import pytest

from core.errors import FileError, KinetostatError
from core.files import loads
from core.kernel import Mechanism

DRIVEN = """kinetostat: 1
name: D
bodies:
  a: {{mass: 1, inertia: {{ixx: 1, iyy: 1, izz: 1}}}}
joints:
  j: {{kind: revolute, parent: world, child: a}}
drivers:
  d: {{joint: j, file: {file}}}
"""
PATIENCE = 10.0
"""s until a reader counts as one that waits for ever."""

only_posix = pytest.mark.skipif(os.name != "posix", reason="pipes and devices have no names here")


def outcome(function, *arguments):
    """What a function returns or raises; TimeoutError if it does neither."""
    found = []

    def work():
        try:
            found.append(function(*arguments))
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return found[0] if found else TimeoutError(f"nothing after {PATIENCE} s")


@pytest.fixture
def odd_places(tmp_path):
    """Names of everything that is no regular file."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    listener = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(tmp_path)  # names of sockets are short
    try:
        listener.bind("socket")
    finally:
        os.chdir(here)
    yield [*(tmp_path / name for name in ("pipe", "folder", "dangling", "circle", "socket")), "/dev/zero"]
    listener.close()


def driven(file):
    return Mechanism(loads(DRIVEN.format(file=file)))


@only_posix
@pytest.mark.xfail(strict=True, reason="a pipe is waited for, and devices are read")
def test_a_driver_names_a_table_that_is_no_regular_file(odd_places):
    for place in odd_places:
        error = outcome(driven, place)
        assert isinstance(error, FileError), place
        assert error.file == str(place)
        assert error.remedy


TENSOR = "inertia: {ixx: 1, iyy: 1, izz: 1}"
HALF_ROUND = (
    "kinetostat: 1\nname: A\nbodies:\n  a: {mass: 1, %s, %s}\n"
    "joints:\n  j: {kind: revolute, parent: world, child: a%s}\n"
)
FLAT_BOX = """<mujoco><worldbody><body name="b"><freejoint/><geom type="box" size=".1 .2 0" mass="1"/></body>
</worldbody></mujoco>"""


def used(text, format):
    model = loads(text, format)
    mech = Mechanism(model)
    mech.poses(mech.rest())


@pytest.mark.parametrize(
    ("text", "format"),
    [
        pytest.param(FLAT_BOX, "mjcf", id="box of no height with a mass"),
        pytest.param(
            HALF_ROUND % (TENSOR, 'shapes: [box: {pose: {rotation: ["-pi/1e-320", 0, 0]}, size: [1, 1, 1]}]', ""),
            "kst",
            id="shape turned without end",
        ),
        pytest.param(
            HALF_ROUND % (TENSOR, "description: x", ', a: {rotation: ["-pi/1e-320", 0, 0]}'),
            "kst",
            id="joint turned without end",
        ),
    ],
)
@pytest.mark.xfail(strict=True, reason="numbers that overflow end in Python's own exceptions")
def test_numbers_without_sense_are_messages(text, format):
    with pytest.raises(KinetostatError) as caught:
        used(text, format)
    assert caught.value.where
