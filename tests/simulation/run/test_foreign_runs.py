"""Run files that others wrote: numbers of their own, no more than the file can hold, that fit the machine."""

import json
import os

import h5py
import numpy as np
import pytest

from core.errors import FileError
from core.files import loads
from core.simulation import Run, simulate

PENDULUM = """kinetostat: 1
name: P
parameters:
  m: 1
bodies:
  a: {mass: m, center_of_mass: [0, 0, -1]}
joints:
  j: {kind: revolute, parent: world, child: a, axis: [0, 1, 0], rest: [0.5]}
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a run file."""
    path = tmp_path_factory.mktemp("run") / "a.h5"
    simulate(loads(PENDULUM), 0.05).save(path)
    return path.read_bytes()


@pytest.fixture
def changed(whole, tmp_path):
    """A run file, open to be changed; then it is loaded."""
    path = tmp_path / "a.h5"
    path.write_bytes(whole)

    def loaded_after(change):
        with h5py.File(path, "r+") as file:
            change(file)
        return Run.load(path)

    return loaded_after


def replaced(name, **how):
    def change(file):
        del file[name]
        file.create_dataset(name, **how)

    return change


def linked(link):
    def change(file):
        del file["q"]
        file["q"] = link

    return change


def virtual(file):
    count = len(file["time"])
    layout = h5py.VirtualLayout((count, 1), "f8")
    layout[:] = h5py.VirtualSource("/dev/zero", "q", (count, 1))
    del file["q"]
    file.create_virtual_dataset("q", layout)


def settings(**changes):
    def change(file):
        file.attrs["settings"] = json.dumps({**json.loads(file.attrs["settings"]), **changes})

    return change


def test_what_is_unchanged_is_read(changed):
    assert len(changed(lambda file: None)) > 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (linked(h5py.ExternalLink("other.h5", "/q")), "'q' is a link"),
        (linked(h5py.SoftLink("/v")), "'q' is a link"),
        (virtual, "'q' contains no data in this file"),
        (
            replaced("q", shape=(51, 1), dtype="f8", external=[(os.devnull, 0, h5py.h5f.UNLIMITED)]),
            "no data in this file",
        ),
        (replaced("q", shape=(10**11, 1), dtype="f8", chunks=(1000, 1)), "claims 800000 MB"),
        (replaced("time", shape=(10**9,), dtype="f8", chunks=(1000,), compression="gzip"), "claims 8000 MB"),
        (replaced("q", data=np.zeros((51, 7))), r"rows of \(7,\) numbers, but the machine needs 1"),
        (replaced("q", data=np.array([b"x"] * 51)), "'q' contains no numbers"),
        (replaced("time", data=np.full(51, np.nan)), "the run's times are not increasing"),
        (replaced("time", data=np.arange(51.0)[::-1]), "the run's times are not increasing"),
        (replaced("model", data=np.zeros(5)), "'model' is not a valid text"),
        (replaced("model", data=np.array([b"x", b"y"])), "'model' is not a valid text"),
        (settings(method="leap"), "the run's method 'leap' is unknown"),
        (settings(parameters={}), "the run's parameters do not match the machine"),
        (settings(parameters={"m": "x"}), "the run's parameters do not match the machine"),
        (settings(parameters=[1]), "the run's parameters do not match the machine"),
        (settings(duration=float("nan")), "the run's settings are not numbers"),
        (settings(output=True), "the run's settings are not numbers"),
        (settings(more=1), "unexpected keyword argument 'more'"),
    ],
)
def test_what_does_not_belong_there_is_refused(changed, change, why):
    with pytest.raises(FileError, match=why) as caught:
        changed(change)
    assert caught.value.file
    assert caught.value.remedy


@pytest.mark.parametrize("text", ["[" * 100_000, "{}", "null", "x"])
def test_settings_of_another_form_are_refused(changed, text):
    with pytest.raises(FileError):
        changed(lambda file: file.attrs.modify("settings", text))


def test_numbers_packed_well_are_read(changed):
    """Compressed by another program, as many as the file could not hold otherwise."""
    count = 300_000
    columns = {"time": np.arange(count) / count, **{name: np.zeros((count, 1)) for name in ("q", "v", "a", "tau")}}

    def packed(file):
        for name, values in columns.items():
            del file[name]
            file.create_dataset(name, data=values, compression="gzip")

    assert len(changed(packed)) == count
