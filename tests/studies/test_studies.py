"""Studies: the same rows anywhere, kept through what happens, statistics against closed forms."""

import dataclasses
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kinetostat as ks
from core import kinds
from core.joints import JOINT_KINDS
from core.kinds import register
from core.model import fields
from core.studies import row_file, study_work
from core.studies.backends import Chunk, ProcessBackend
from core.studies.declaration import (
    correlate_points,
    lognormal,
    normal,
    parse_distribution,
    triangular,
    uniform,
    unit_cube_points,
)
from core.studies.row_file import RowFile, RowTable, load
from core.studies.sample_rows import StudyMachine
from core.studies.study import Study, channel
from core.studies.study_result import RunningStatistics, StudyResult, wilson_interval
from tests.joints.made_up_kinds import Parabola

G, T = 9.81, 0.4
ROOT = Path(__file__).parents[2]


def falling() -> ks.Model:
    """A stone thrown up."""
    return ks.Model(
        name="fall",
        world=ks.World(gravity=ks.Gravity(acceleration=(0.0, 0.0, -G))),
        parameters=(ks.Parameter(name="m", value=2.0), ks.Parameter(name="f", value=0.0)),
        bodies=(ks.Body(name="stone", mass="m"),),
        joints=(ks.Joint(name="z", kind="prismatic", parent="world", child="stone", axis=(0.0, 0.0, 1.0)),),
        forces=(ks.Force(name="push", kind="joint", joint="z", law="-f"),),
    )


def arm() -> ks.Model:
    """Two links in a plane, l1 = 0.5 m, l2 = 0.35 m: the planar arm of the reference group `workspace`."""
    return ks.Model(
        name="arm",
        parameters=(ks.Parameter(name="l1", value=0.5), ks.Parameter(name="l2", value=0.35)),
        bodies=(ks.Body(name="a", mass=1.0), ks.Body(name="b", mass=1.0)),
        frames=(ks.Frame(name="tip", parent="b", pose=ks.Pose(position=("l2", 0.0, 0.0))),),
        joints=(
            ks.Joint(name="q1", parent="world", child="a", axis=(0.0, 0.0, 1.0)),
            ks.Joint(name="q2", parent="a", child="b", axis=(0.0, 0.0, 1.0), a=ks.Pose(position=("l1", 0.0, 0.0))),
        ),
    )


def study(rows: int = 12) -> Study:
    s = Study(falling(), duration=T, method="rk4", step=1e-3)
    s.sample(rows, {"z.v": normal(1.0, 0.3)}, m=uniform(1.0, 3.0), f=uniform(0.0, 2.0), seed=7)
    return s.record(end="at(z.q, end)", top="max(z.q)", path=channel("z.q", every=0.1))


@pytest.fixture
def own_kinds(monkeypatch):
    monkeypatch.setattr(JOINT_KINDS, "_kinds", dict(JOINT_KINDS))
    monkeypatch.setattr(kinds, "_own", {})
    monkeypatch.setattr(fields, "_named_by_files", set())


def test_rows_are_what_closed_forms_give():
    result = study().run()
    v, m, f = (result.varied[name] for name in ("z.v", "m", "f"))
    a = -2.0 * (result.table["end"] - v * T) / T**2
    assert np.allclose(np.abs(a - G), f / m, atol=1e-11)
    times, values = result.curve("path")
    assert np.allclose(values, v[:, None] * times - 0.5 * a[:, None] * times**2, atol=1e-12)


@pytest.mark.parametrize("aside", [False, True])
def test_processes_give_the_same_bits(monkeypatch, aside):
    monkeypatch.setattr(study_work, "WORTH", 0.0)
    here, there = study().run(), study().run(cores=1 if aside else 2, aside=aside)
    assert np.array_equal(here.rows.results, there.rows.results)
    assert here.rows.done.all()


def test_kinds_of_people_go_with_the_machine_and_those_of_the_console_are_computed_here(monkeypatch, own_kinds):
    class Local(Parabola):
        name = "local"

    monkeypatch.setattr(study_work, "WORTH", 0.0)
    begun = []

    class Counted(ProcessBackend):
        def __init__(self, *what):
            begun.append(self)
            super().__init__(*what)

    monkeypatch.setattr(study_work, "ProcessBackend", Counted)

    def rows(kind, **how):
        register(kind)
        bead = ks.Joint(name="x", kind=kind.name, parent="world", child="stone")
        s = Study(dataclasses.replace(falling(), joints=(bead,), forces=()), duration=T, method="rk4", step=1e-3)
        s.sample(12, {"x.v": normal(1.0, 0.3)}, m=uniform(1.0, 3.0), seed=7)
        return s.record(end="at(x.q, end)", energy="span(energy.total)").run(**how).rows

    here = rows(Parabola)
    assert not begun
    assert here.results[:, 1].max() < 1e-9
    for how in ({"cores": 2}, {"aside": True}):
        there = rows(Parabola, **how)
        assert np.array_equal(there.results, here.results)
    assert len(begun) == 2
    assert np.array_equal(rows(Local, aside=True).results, here.results)
    assert len(begun) == 2


def test_a_kind_whose_module_is_not_there_is_said(own_kinds):
    from core.files.sent_model import register_packed_kinds

    with pytest.raises(ks.ModelError, match="cannot be imported.*no_such_module.*Install its module"):
        register_packed_kinds(b"\x80\x04cno_such_module\nKind\n.")


def test_poses_of_the_planar_arm_have_its_manipulability():
    s = Study(arm(), "poses")
    s.grid({"q1": [0.0, 0.4], "q2": ["10 deg", 0.5, 1.0, 2.0]})
    result = s.record(w="tip.manipulability", x="tip.position.x").run()
    q1, q2 = result.varied["q1"], result.varied["q2"]
    assert np.allclose(result.table["w"], 0.5 * 0.35 * np.abs(np.sin(q2)), atol=1e-14)  # Yoshikawa 1985
    assert np.allclose(result.table["x"], 0.5 * np.cos(q1) + 0.35 * np.cos(q1 + q2), atol=1e-14)
    grid = result.map("w", "q1", "q2")
    assert grid.values.shape == (4, 2)
    assert not grid.failed.any()


def test_targets_out_of_reach_are_found_out():
    s = Study(arm(), "targets", frame="tip")
    result = s.grid(x=[0.3, 0.84, 0.9], y=[0.0]).run()
    assert result.table["reached"].tolist() == [1.0, 1.0, 0.0]
    assert result.table["distance"][2] == pytest.approx(0.05, abs=1e-6)


def test_a_failed_sample_is_a_row_with_its_reason():
    s = Study(falling(), duration=T, method="rk4", step=1e-3)
    result = s.list({"m": [1.0, -1.0, 2.0]}).record(end="at(z.q, end)").run()
    assert result.table["status"].tolist() == ["done", "refused", "done"]
    assert result.failed[0].component == "body 'stone', mass"
    assert "negative" in result.failed[0].message


def test_where_most_of_the_first_rows_fail_it_is_asked_whether_to_go_on():
    def asked_of(masses: list[float], answer: bool):
        s, asked = Study(falling(), duration=0.01, method="rk4", step=1e-3), []
        s.list({"m": masses}).record(end="at(z.q, end)")
        return s.run(failing=lambda progress: asked.append(progress) or answer), asked

    result, asked = asked_of([-1.0] * 150 + [1.0] * 100, False)
    assert [each.failed for each in asked] == [150]
    assert 200 <= len(result) < 250
    assert len(asked_of([-1.0] * 150 + [1.0] * 60, True)[0]) == 210
    assert asked_of([-1.0] * 90 + [1.0] * 120, False)[1] == []


def test_a_sample_that_takes_too_long_is_given_up():
    s = Study(falling(), duration=1e4, method="rk4", step=1e-4, output=1.0, limit=0.05, max_steps=10**9)
    result = s.grid(m=[1.0]).record(end="at(z.q, end)").run()
    assert result.table["status"].tolist() == ["limit"]


def test_a_killed_process_loses_nothing():
    s = study(40)
    machine = s.check()
    pool, values = ProcessBackend(s.declaration, 2), s.declaration.values()
    try:
        for first in range(0, 40, 10):
            pool.submit(Chunk(np.arange(first, first + 10), values[first : first + 10]))
        done: dict[int, np.ndarray] = {}
        while len(done) < 40:
            finished = pool.next_finished_chunk(60.0)
            assert finished is not None
            assert finished.error is None
            if not done:
                for each in pool.process_ids:
                    os.kill(each, signal.SIGKILL)
            done |= dict(zip(finished.chunk.places.tolist(), finished.rows.results, strict=True))
    finally:
        pool.close()
    assert np.array_equal(np.array([done[k] for k in range(40)]), machine.rows(values).results)


def test_a_program_that_is_killed_has_kept_its_chunks(tmp_path):
    s, path = study(30), tmp_path / "study.h5"
    machine = StudyMachine(s.declaration)
    table = RowTable(s.declaration, machine.columns)
    kept, places = RowFile(str(path), table, resume=False), np.arange(10)
    kept.append(places, machine.rows(s.declaration.values()[:10]))
    with open(tmp_path / "study.h5.part", "ab") as file:  # a record that was not finished
        file.write(b"\x99" * 37)
    kept.leave_journal()  # as the system does where the program is killed
    assert load(str(path)).done.sum() == 10
    result = Study.load(path).resume(path)
    assert np.array_equal(result.rows.results, s.run().rows.results)
    assert np.array_equal(StudyResult.load(path).rows.results, result.rows.results)
    assert not (tmp_path / "study.h5.part").exists()


HOLDING = """
import sys
import tests.studies.test_studies as studies
from core.studies.row_file import RowFile, RowTable

s = studies.study(6)
machine = s.check()
kept = RowFile(sys.argv[1], RowTable(s.declaration, machine.columns), resume=False)
kept.append(studies.np.arange(4), machine.rows(s.declaration.values()[:4]))
print("holds", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("how", [{"resume": True}, {}])
def test_a_file_that_another_program_writes_is_refused_until_that_ends(tmp_path, how):
    path = tmp_path / "study.h5"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    other = subprocess.Popen([sys.executable, "-c", HOLDING, str(path)], cwd=ROOT, **pipes)
    try:
        assert other.stdout.readline() == "holds\n"
        with pytest.raises(
            ks.FileError, match=r"Another study is writing to this file.*Wait until that study ends"
        ) as refused:
            study(6).run(str(path), **how)
        assert str(path) in str(refused.value)
    finally:
        other.kill()  # nothing is left behind
        other.communicate()
    rows = []
    result = study(6).resume(str(path), progress=lambda now: rows.append(now.done))
    assert rows[0] == 5  # four were kept
    assert np.array_equal(result.rows.results, study(6).run().rows.results)
    assert [each.name for each in tmp_path.iterdir()] == ["study.h5"]


def test_two_studies_of_one_program_do_not_write_one_file(tmp_path):
    path, said = str(tmp_path / "study.h5"), []

    def second(progress):
        with pytest.raises(ks.FileError, match="Another study is writing to this file"):
            study(5).resume(path)
        said.append(progress.done)

    study(5).run(path, progress=second)
    assert said == [1, 2, 3, 4, 5]
    assert study(5).resume(path).rows.done.all()


def test_a_journal_that_is_removed_while_it_is_opened_is_made_anew(tmp_path, monkeypatch):
    """The other study ended between the opening and the lock: its rows are taken up from its file."""
    path, lock = tmp_path / "study.h5", row_file._lock_file
    first = RowFile(str(path), RowTable(study(5).declaration, study(5).check().columns), resume=False)

    def end_first(file):
        monkeypatch.setattr(row_file, "_lock_file", lock)
        first.table.store_rows(np.arange(5), study(5).check().rows(study(5).declaration.values()))
        first.close()
        lock(file)

    monkeypatch.setattr(row_file, "_lock_file", end_first)
    rows = []
    assert study(5).resume(str(path), progress=rows.append).rows.done.all()
    assert not rows
    assert not (tmp_path / "study.h5.part").exists()


def test_a_refused_study_leaves_nothing(tmp_path):
    path = tmp_path / "study.h5"
    path.write_bytes(b"nothing of ours")
    with pytest.raises(ks.FileError, match="not a study file"):
        study(5).resume(str(path))
    assert [each.name for each in tmp_path.iterdir()] == ["study.h5"]


def test_another_declaration_is_refused_with_the_difference(tmp_path):
    path = str(tmp_path / "study.h5")
    study(4).run(path)
    with pytest.raises(ks.FileError, match=r"what is varied .*4 rows.*5"):
        study(5).resume(path)
    with pytest.raises(ks.FileError, match="record of more"):
        study(4).record(more="min(z.q)").resume(path)
    with pytest.raises(ks.FileError, match="already exists"):
        study(4).run(path)


def test_a_full_disk_asks_for_another_place(tmp_path, monkeypatch):
    append, broken = RowFile._write_record, tmp_path / "full.h5"

    def full(self, record):
        if self.path == broken and not record.startswith(b"kinetostat"):
            raise OSError(28, "No space left on device")
        append(self, record)

    monkeypatch.setattr(RowFile, "_write_record", full)
    asked = []
    result = study(5).run(str(broken), elsewhere=lambda e: asked.append(str(e)) or str(tmp_path / "other.h5"))
    assert "No space left" in asked[0]
    assert np.array_equal(StudyResult.load(tmp_path / "other.h5").rows.results, result.rows.results)


HOLDS = "import h5py, sys; f = h5py.File(sys.argv[1], 'a'); print('held', flush=True); sys.stdin.read()"


def test_a_file_that_another_program_keeps_is_said_and_nothing_is_lost(tmp_path):
    path = tmp_path / "kept.h5"
    result = study(5).run(str(path))
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "held\n"
        for ask in (lambda: StudyResult.load(path), lambda: study(5).resume(str(path))):
            with pytest.raises(
                ks.FileError, match=r"kept.h5: Another program is writing to this file\. Close the file there"
            ):
                ask()
        other.stdin.close()
    assert np.array_equal(StudyResult.load(path).rows.results, result.rows.results)
    assert study(5).resume(str(path)).rows.done.all()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (BlockingIOError(11, "unable to lock file"), "Another program has it open.*Close it there and resume"),
        (OSError(28, "No space left on device"), "No space left on device.*Make room and resume"),
    ],
)
def test_rows_are_kept_beside_a_file_that_cannot_be_closed_and_the_study_resumed(tmp_path, monkeypatch, error, said):
    path = tmp_path / "shut.h5"

    def refuse(*_):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(row_file.os, "replace", refuse)
        with pytest.raises(ks.FileError, match=said):
            study(5).run(str(path))
    assert load(str(path)).done.all()
    resumed = study(5).resume(str(path))
    assert path.exists()
    assert np.array_equal(resumed.rows.results, study(5).run().rows.results)


def test_what_cannot_be_meant_is_refused():
    with pytest.raises(ks.ModelError, match="There is no quantity 'mm' that can be varied"):
        Study(falling()).grid(mm=[1.0]).record(a="max(z.q)").run()
    with pytest.raises(ks.ModelError, match="The study records nothing"):
        Study(falling()).grid(m=[1.0]).run()
    with pytest.raises(ks.ModelError, match="varied twice"):
        Study(falling()).grid(m=[1.0]).sample(3, m=normal(1.0, 0.1))
    with pytest.raises(ks.KinetostatError, match="'zz.q', in column 5"):
        Study(falling()).grid(m=[1.0]).record(a="max(zz.q)").run()
    with pytest.raises(ks.ModelError, match="low must be less"):
        parse_distribution("uniform(2, 1)")


def test_csv_lists_name_the_line_of_what_is_wrong(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("m, z.v\n1.5, 2\n2.5, 3\n")
    assert Study(falling()).list(path).declaration.values().tolist() == [[1.5, 2.0], [2.5, 3.0]]
    path.write_text("m\n1.5\noops oops\n")
    with pytest.raises(ks.KinetostatError, match="rows.csv:3"):
        Study(falling()).list(path)


def test_quantiles_of_distributions_are_those_of_scipy():
    from scipy import stats

    u = np.linspace(0.01, 0.99, 23)
    assert np.allclose(normal(2.0, 0.5).quantile(u), stats.norm(2.0, 0.5).ppf(u))
    assert np.allclose(lognormal(2.0, 0.5).quantile(u), stats.lognorm(0.5, scale=2.0).ppf(u))
    assert np.allclose(triangular(1.0, 2.0, 4.0).quantile(u), stats.triang(1.0 / 3.0, 1.0, 3.0).ppf(u))


def test_random_rows_begin_as_shorter_ones_do_and_correlate():
    assert np.array_equal(unit_cube_points(50, 3, 5, "random")[:20], unit_cube_points(20, 3, 5, "random"))
    u = correlate_points(unit_cube_points(4096, 2, 1, "sobol"), [[1.0, 0.6], [0.6, 1.0]])
    scores = normal(0.0, 1.0).quantile(u)
    assert np.corrcoef(scores.T)[0, 1] == pytest.approx(0.6, abs=0.01)


def test_sobol_indices_of_a_known_function():
    # z(T) = v T - g T²/2 with m, f without influence on the part of v: its variance is that of v alone
    s = Study(falling(), duration=T, method="rk4", step=1e-2)
    s.sobol(64, {"z.v": uniform(0.0, 2.0), "m": uniform(1.0, 2.0)}, seed=3).record(end="at(z.q, end)")
    first, second = s.run().sobol("end")
    assert first.total == pytest.approx(1.0, abs=0.05)
    assert second.total == pytest.approx(0.0, abs=1e-12)


def test_running_statistics_and_wilsons_interval():
    rng = np.random.default_rng(1)
    x, running = rng.normal(1e6, 1.0, 1000), RunningStatistics()
    for part in np.array_split(x, 7):
        running.add(part)
    assert running.mean == pytest.approx(float(np.mean(x)), rel=1e-14)
    assert running.deviation == pytest.approx(float(np.std(x, ddof=1)), rel=1e-9)
    from scipy.stats import binomtest

    interval = binomtest(3, 50).proportion_ci(method="wilson")
    assert wilson_interval(3, 50)[1:] == pytest.approx((interval.low, interval.high), rel=1e-12)
