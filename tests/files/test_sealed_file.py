"""The seal of a file: any changed bit, byte or length is found; files without one are as they were."""

import io
import random
import subprocess
import sys

import h5py
import numpy as np
import pytest

import kinetostat as ks
from core.files import hdf5_file, sealed_file
from core.files.sealed_file import append_checksums, is_intact, with_checksums
from core.identification.measured_trace import read_columns
from core.mechanism import Mechanism
from core.simulation.run import run_file
from core.studies import row_file

PENDULUM = """kinetostat: 1
name: pendulum
bodies: {b: {mass: 1, center_of_mass: [0, 0, -0.5], inertia: {ixx: 0.1, iyy: 0.1, izz: 0.1}}}
joints: {j: {parent: world, child: b, axis: [0, 1, 0], rest: [1]}}
"""


@pytest.fixture(params=[b"", b"x", b"0123456789" * 5], ids=len)
def content(request, monkeypatch):
    monkeypatch.setattr(sealed_file, "BLOCK", 16)
    return request.param


def test_any_changed_bit_and_any_cut_is_found(tmp_path, content):
    whole, path = with_checksums(content), tmp_path / "file"
    path.write_bytes(whole)
    assert whole.startswith(content)
    assert is_intact(path)
    end = len(whole) - len(sealed_file.END)  # without its last mark it is a file without a seal
    for place in range(end):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        with pytest.raises(ks.FileError, match="The file is damaged: .* Restore it"):
            is_intact(path)
    path.write_bytes(whole[: end - 1] + whole[end:])
    with pytest.raises(ks.FileError, match="damaged"):
        is_intact(path)


def test_files_without_a_seal_are_no_damaged_ones(tmp_path):
    path = tmp_path / "file"
    for content in (b"", b"x" * 7, b"x" * 1000):
        path.write_bytes(content)
        assert not is_intact(path)


def test_every_block_of_a_long_file_is_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(sealed_file, "BLOCK", 16)
    path, stream = tmp_path / "file", io.BytesIO(bytes(16 * 100))
    append_checksums(stream)
    for place in range(7, 16 * 100, 16):
        changed = bytearray(stream.getvalue())
        changed[place] = 1
        path.write_bytes(changed)
        with pytest.raises(ks.FileError, match="damaged"):
            is_intact(path)


@pytest.fixture(scope="module")
def run():
    return ks.simulate(Mechanism(ks.loads(PENDULUM)), 0.5)


@pytest.fixture(params=["grown", "saved"])
def kept(request, run, tmp_path):
    """The file of a run that grew with it, or was saved."""
    path = tmp_path / "run.h5"
    if request.param == "saved":
        run.save(path)
    else:
        ks.simulate(run.mech, 0.5, file=str(path))
    return path


def test_a_run_with_any_changed_bit_is_refused(kept):
    whole, dice = kept.read_bytes(), random.Random(7)
    assert is_intact(kept)
    for _ in range(40):
        changed = bytearray(whole)
        changed[dice.randrange(len(whole) - len(sealed_file.END))] ^= 1 << dice.randrange(8)
        kept.write_bytes(changed)
        with pytest.raises(ks.FileError, match="damaged|no HDF5 file"):
            ks.Run.load(kept)


def test_files_of_before_and_files_that_others_change_still_open(kept, run):
    with h5py.File(kept, "r+") as file:
        file.attrs["remark"] = "by somebody else"
    assert not is_intact(kept)
    np.testing.assert_array_equal(ks.Run.load(kept).q, run.q)


@pytest.mark.parametrize(
    ("work", "said"),
    [
        ("import time; time.sleep(100)", "reading it did not end within 1 s"),
        pytest.param(
            "import os; os.kill(os.getpid(), 11)",
            r"reading it fails \(signal 11\)",
            marks=pytest.mark.skipif(sys.platform == "win32", reason="signals"),
        ),
        ("raise SystemExit('no room')", r"reading it fails \(no room\)"),
    ],
)
def test_a_file_without_a_seal_that_hangs_or_ends_hdf5_is_refused(kept, monkeypatch, work, said):
    with h5py.File(kept, "r+") as file:
        file.attrs["remark"] = "by somebody else"
    monkeypatch.setattr(hdf5_file, "PATIENCE", 0.5)
    monkeypatch.setattr(hdf5_file, "module_command", lambda module, path: [sys.executable, "-c", work])
    for read in (ks.Run.load, row_file.load, read_columns):
        with pytest.raises(ks.FileError, match=f"run.h5: The file is not opened, because .*{said}"):
            read(str(kept))


def test_what_takes_too_much_memory_ends_the_process_that_reads_ahead(tmp_path):
    with h5py.File(tmp_path / "bomb.h5", "w") as file:
        few = file.create_dataset("few", (1,), h5py.string_dtype())
        few[0] = "x"
        file.create_dataset("many", (1 << 40,), "f8", chunks=(1 << 16,))  # said to be 8 TB: the reader refuses it
    hdf5_file.check_readable(str(tmp_path / "bomb.h5"))


@pytest.mark.parametrize("name", ["results", "head"])
def test_a_study_with_data_of_another_file_is_refused(tmp_path, name):
    path = str(tmp_path / "rows.h5")
    study = ks.Study(ks.loads(PENDULUM), duration=0.1, method="rk4", step=0.01)
    study.grid({"j.q": [0.1, 0.2]}).record(m="max(j.q)").run(path)
    with h5py.File(path, "r+") as file, h5py.File(tmp_path / "other.h5", "w") as other:
        file.copy(name, other)
        del file[name]
        file[name] = h5py.ExternalLink("other.h5", name)
    with pytest.raises(ks.FileError, match=f"'{name}' is a link"):
        row_file.load(path)


def test_an_unfinished_file_has_checksums_of_its_blocks(tmp_path, run):
    path = tmp_path / "run.h5"
    growing = run_file.RunFile(str(path), run.mech, run.settings)
    growing.append(run)
    place = growing.file["q"].id.get_chunk_info(0).byte_offset
    assert growing.file["q"].fletcher32
    growing.file.close()
    content = bytearray(path.read_bytes())
    content[place + 3] ^= 16
    path.write_bytes(content)
    with pytest.raises(ks.FileError, match="damaged"):
        ks.Run.load(path)


FULL = """
import resource, sys
sys.dont_write_bytecode = True  # nor any other file than the study's
import kinetostat as ks
model = ks.loads(sys.argv[3])
study = ks.Study(model, duration=0.1, method="rk4", step=0.01).grid({"j.q": [0.001 * k for k in range(400)]})
study.record(m="max(j.q)").check()
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    study.run(sys.argv[1])
except ks.FileError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files")
@pytest.mark.parametrize("most", [300, 3_000])
def test_a_study_on_a_full_disk_names_its_file_and_ends_well(tmp_path, most):
    command = [sys.executable, "-c", FULL, "rows.h5", str(most), PENDULUM]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "rows.h5" in done.stdout
    assert "File too large" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("damage", ["cut", "places", "shape", "status", "text", "zip"])
def test_a_journal_that_others_wrote_is_refused(tmp_path, damage):
    import json

    study = ks.Study(ks.loads(PENDULUM), duration=0.1, method="rk4", step=0.01)
    study.grid({"j.q": [0.1, 0.2, 0.3]}).record(m="max(j.q)")
    machine = study.check()
    table = row_file.RowTable(study.declaration, machine.columns)
    found = {"places": np.arange(2), "results": np.zeros((2, 1)), "status": np.zeros(2, np.int8)}
    found["messages"] = np.array(json.dumps({}))
    head = row_file._journal_header(table)
    match damage:
        case "places":
            found["places"] = np.array([0, 7])
        case "shape":
            found["results"] = np.zeros((2, 3))
        case "status":
            found["status"] = np.array([0, 99], np.int8)
        case "text":
            head = b'{"declaration": 7}'
    record = io.BytesIO()
    np.savez(record, **found)
    content = record.getvalue()
    if damage == "zip":
        content = content[:-30]
    journal = tmp_path / "rows.h5.part"
    journal.write_bytes(row_file.MAGIC + row_file._journal_record(head) + row_file._journal_record(content))
    if damage == "cut":  # a torn end is left out
        journal.write_bytes(journal.read_bytes()[:-5])
        assert not row_file.load(str(tmp_path / "rows.h5")).done.any()
        return
    with pytest.raises(ks.FileError, match=r"rows\.h5\.part: This journal of a study cannot be read"):
        row_file.load(str(tmp_path / "rows.h5"))
    with pytest.raises(ks.FileError, match="This journal of a study cannot be read"):
        study.resume(str(tmp_path / "rows.h5"))
