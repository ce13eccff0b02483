"""Long runs: the same numbers as short ones, in bounded memory; files that are mapped, joined, and read again."""

import itertools
import tracemalloc

import h5py
import numpy as np
import pytest

from core.codegen import background
from core.files import load
from core.mechanism import Mechanism
from core.simulation import Run, simulate, simulator
from core.simulation.run import channels, growing_rows, run_file
from core.simulation.run.growing_rows import is_long
from core.simulation.run.run_file import RunFile
from resources import examples
from tests.walks import walk

MACHINES = ("double_pendulum", "four_bar", "forces", "joint_kinds", "stewart", "shaker")
QUICKER = ("double_pendulum", "four_bar", "joint_kinds", "shaker")


def machine(name):
    return Mechanism(load(next(example.path for example in examples() if example.name == name)))


@pytest.fixture
def short_blocks(monkeypatch):
    """Runs of more than 16 samples count as long."""
    for module in (channels, growing_rows, growing_rows, run_file, run_file, run_file):
        monkeypatch.setattr(module, "BLOCK", 16)


@pytest.fixture
def small_memory(monkeypatch):
    """Arrays of more than 1 kB lie in files."""
    for module in (growing_rows, run_file, run_file):
        monkeypatch.setattr(module, "IN_MEMORY", 1000)


def again(run):
    """The run with nothing computed of it yet."""
    return Run(run.mech, run.settings, run.time, run.q, run.v, run.a, run.tau, run.statistics, run.x, run.modes)


@pytest.mark.parametrize("name", walk([each.name for each in examples() if each.name in MACHINES], quick=QUICKER))
def test_channels_block_by_block_are_those_of_all_samples_at_once(name, request):
    run = simulate(machine(name), 0.2, output=0.0025, v0=None)
    names = [each for each in run.channels if not each.endswith((".a", ".alpha"))]
    whole = {}
    for each in names:
        try:
            whole[each] = run[each]
        except Exception as error:  # joints without freedom have no motion
            whole[each] = str(error)
    request.getfixturevalue("short_blocks")
    parts = again(run)
    for each in names:
        if isinstance(whole[each], str):
            with pytest.raises(Exception, match=r"."):
                parts[each]
        elif whole[each].dtype.kind == "U":
            np.testing.assert_array_equal(parts[each], whole[each])
        else:
            np.testing.assert_allclose(parts[each], whole[each], rtol=1e-9, atol=1e-9, err_msg=each)
            assert not parts[each].flags.writeable


def test_whole_turns_and_signs_go_on_from_block_to_block():
    angle, attitude = np.linspace(0.0, 40.0, 201), np.random.default_rng(3).normal(size=(50, 4))
    wrapped = np.mod(angle[99:] + np.pi, 2.0 * np.pi) - np.pi
    turns = np.unwrap(wrapped)
    np.testing.assert_allclose(growing_rows.continue_values(angle[99], turns), angle[99:], atol=1e-12)
    np.testing.assert_array_equal(growing_rows.continue_values(attitude[10], -attitude[10:]), attitude[10:])
    np.testing.assert_array_equal(growing_rows.continue_values(attitude[10], attitude[10:]), attitude[10:])


def test_formulas_and_components_of_a_long_run(short_blocks):
    run = simulate(machine("double_pendulum"), 1.0, output=0.01)
    phi, rate = run["phi1.q"], run["phi1.v"]
    assert np.allclose(run["sin(phi1.q) + 2*phi1.v"], np.sin(phi) + 2.0 * rate)
    assert np.allclose(run["tip.velocity.magnitude"], np.linalg.norm(run["tip.velocity"], axis=1))
    assert np.array_equal(run["tip.position.x"], run["tip.position"][:, 0])
    assert run["phi1.q"].base is not None, "samples are looked at where they lie"


@pytest.mark.slow
def test_memory_does_not_grow_with_the_samples(monkeypatch):
    """In pieces as long as they may be: those of a quick machine."""
    monkeypatch.setattr(simulator, "PIECE", 1e9)
    background.delay_compilation()
    mech = machine("double_pendulum")
    simulate(mech, 0.1, method="rk4")
    peaks = []
    for samples in (400_000, 1_600_000):
        tracemalloc.start()
        run = simulate(mech, samples * 1e-3, method="rk4", step=1e-3, output=1e-3)
        run["energy.total"]
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert is_long(run.q)
    assert not run.q.flags.owndata
    samples_in_memory = 8 * 9 * 1_600_000  # time, q, v, a, tau of two joints
    assert peaks[1] < 0.8 * samples_in_memory
    assert peaks[1] < 2.0 * peaks[0], "four times the samples"


def test_a_saved_long_run_is_mapped_and_the_same(tmp_path, small_memory, short_blocks):
    run = simulate(machine("forces"), 2.0, output=1e-3)
    path, told = tmp_path / "run.h5", []
    run.save(path, ["energy.total"], told.append)
    assert told[-1] == 1.0
    assert told == sorted(told)
    found = Run.load(path)
    for name in ("time", "q", "v", "a", "tau", "x"):
        assert np.array_equal(getattr(found, name), getattr(run, name)), name
    assert not found.q.flags.owndata
    assert not found.q.flags.writeable
    with h5py.File(path) as file:
        assert np.array_equal(file["channels/energy.total"], run["energy.total"])
    assert found.summary() == run.summary()
    found.save(path)  # in the place of the file that is mapped
    assert np.array_equal(found.q, run.q)


def test_a_run_that_was_written_while_it_went_on_lies_in_one_piece_once_it_is_over(tmp_path, small_memory):
    path = tmp_path / "grown.h5"
    run = simulate(machine("double_pendulum"), 2.0, output=1e-3, file=str(path), channels=["energy.total"])
    with h5py.File(path) as file:
        assert file["q"].chunks is None
        assert np.array_equal(file["q"], run.q)
        assert np.array_equal(file["channels/energy.total"], run["energy.total"])
    assert np.array_equal(Run.load(path).v, run.v)
    assert Run.load(path).complete


def test_a_long_file_whose_writer_was_killed_is_read_in_pieces(tmp_path, small_memory, short_blocks):
    run = simulate(machine("double_pendulum"), 2.0, output=1e-3)
    path = tmp_path / "killed.h5"
    growing = RunFile(str(path), run.mech, run.settings)
    growing.append(run)
    found = Run.load(path)
    assert np.array_equal(found.q, run.q)
    assert not found.complete
    growing.file.close()


def test_a_file_that_says_it_holds_more_than_it_does_is_no_crash(tmp_path, small_memory):
    run = simulate(machine("double_pendulum"), 2.0, output=1e-3)
    path = tmp_path / "run.h5"
    run.save(path)
    with h5py.File(path) as file:
        offset = file["tau"].id.get_offset()
    content = path.read_bytes()
    path.write_bytes(content[: offset + 100])
    with pytest.raises(Exception, match=r"damaged|cannot be read"):
        Run.load(path)


def test_what_raises_while_a_run_is_written_leaves_no_file(tmp_path):
    run = simulate(machine("double_pendulum"), 0.5)

    def stop(part):
        raise KeyboardInterrupt

    for suffix in (".h5", ".csv", ".sim"):
        with pytest.raises(KeyboardInterrupt):
            run.save(tmp_path / f"run{suffix}", progress=stop)
    assert not list(tmp_path.iterdir())


def test_tables_in_pieces_have_a_row_for_each_sample(tmp_path, short_blocks):
    run = simulate(machine("double_pendulum"), 1.0, output=0.01)
    path = tmp_path / "run.csv"
    run.save(path, ["phi1.q", "tip.position"])
    head, *rows = path.read_text().splitlines()
    assert head == "time,phi1.q,tip.position.x,tip.position.y,tip.position.z"
    numbers = np.array([[float(each) for each in row.split(",")] for row in rows])
    assert np.array_equal(numbers, np.column_stack((run.time, run["phi1.q"], run["tip.position"])))


def test_a_full_disk_ends_the_run_with_a_message_and_keeps_it_until_then(monkeypatch, small_memory):
    counted = itertools.count()
    real = growing_rows.open_scratch_file

    class Full:
        def __init__(self):
            self.file = real()

        def __getattr__(self, name):
            return getattr(self.file, name)

        def write(self, data):
            if next(counted) > 20:
                raise OSError(28, "No space left on device")
            return self.file.write(data)

    monkeypatch.setattr(growing_rows, "open_scratch_file", Full)
    with pytest.raises(Exception, match="There is no disk space to store the rest of the run: No space left") as told:
        simulate(machine("double_pendulum"), 50.0, output=1e-3, method="rk4")
    run = told.value.run
    assert len(run) > 1
    assert len(run.time) == len(run.q) == len(run.tau)
    assert "TMPDIR" in str(told.value)
