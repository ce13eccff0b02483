"""A real scheduler and workers of `distributed`, in processes of their own."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import kinetostat as ks
from core import kinds
from core.joints import JOINT_KINDS
from core.kinds import KindError, register
from core.model import fields
from core.studies.declaration import normal, uniform
from core.studies.study import Study
from core.studies.study_result import StudyResult
from tests.joints.made_up_kinds import Parabola

pytest.importorskip("distributed")


@pytest.fixture
def cluster(tmp_path):
    """The address of a scheduler, and its processes: scheduler first, then two workers."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path)}
    quiet = {"env": environment, "cwd": tmp_path, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask, file = [sys.executable, "-m", "dask"], tmp_path / "scheduler.json"
    begin = ["scheduler", "--host", "localhost", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    processes = [subprocess.Popen([*dask, *begin], **quiet)]
    worker = ["worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    processes += [subprocess.Popen([*dask, *worker], **quiet) for _ in range(2)]
    try:
        from distributed import Client

        end = time.monotonic() + 60.0
        while not file.exists() and time.monotonic() < end:
            time.sleep(0.1)
        with Client(scheduler_file=str(file), timeout=60, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
            address = client.scheduler.address
        yield address, processes
    finally:
        for each in processes:
            each.kill()
            each.wait()


def fallen(rows, duration=0.2):
    model = ks.Model(
        name="fall",
        parameters=(ks.Parameter(name="m", value=2.0),),
        bodies=(ks.Body(name="stone", mass="m"),),
        joints=(ks.Joint(name="z", kind="prismatic", parent="world", child="stone", axis=(0.0, 0.0, 1.0)),),
    )
    s = Study(model, duration=duration, method="rk4", step=1e-3)
    s.sample(rows, {"z.v": normal(1.0, 0.3)}, m=uniform(1.0, 3.0), seed=7)
    return s.record(end="at(z.q, end)", e="max(energy.total)")


class Killing:
    """Kills a process once some rows are done."""

    def __init__(self, process, after):
        self.process, self.after, self.at = process, after, None

    def __call__(self, progress):
        if self.at is None and progress.done >= self.after:
            self.at = progress.done, progress.total
            self.process.kill()


@pytest.mark.slow
def test_a_worker_that_is_lost_while_rows_are_computed_loses_none(cluster):
    address, processes = cluster
    s, killing = fallen(600, 8.0), Killing(processes[1], 20)
    there = s.run(cluster=address, progress=killing)
    assert killing.at is not None
    assert killing.at[0] < killing.at[1]
    assert there.rows.done.all()
    assert not there.failed
    assert np.array_equal(s.run().rows.results, there.rows.results)


@pytest.mark.slow
def test_a_scheduler_that_is_lost_while_rows_are_computed_leaves_a_file_to_go_on_with(cluster, tmp_path):
    address, processes = cluster
    s, file, killing = fallen(600, 8.0), str(tmp_path / "study.h5"), Killing(processes[0], 20)
    with pytest.raises(ks.SimulationError, match="can no longer be reached.*Resume there, or on this computer"):
        s.run(file, cluster=address, progress=killing)
    kept = StudyResult.load(file)
    assert 20 <= kept.rows.done.sum() < 600
    whole = s.run()
    assert np.array_equal(kept.rows.results[kept.rows.done], whole.rows.results[kept.rows.done])
    assert np.array_equal(s.resume(file).rows.results, whole.rows.results)


def test_a_cluster_gives_the_same_bits_and_its_loss_is_told(cluster, tmp_path):
    address, processes = cluster
    s = fallen(24)
    here, there = s.run(), s.run(cluster=address)
    assert there.rows.done.all()
    assert np.array_equal(here.rows.results, there.rows.results)
    processes[0].kill()
    processes[0].wait()
    with pytest.raises(ks.SimulationError, match="compute here"):
        s.run(str(tmp_path / "study.h5"), cluster=address)
    assert np.array_equal(s.resume(str(tmp_path / "study.h5")).rows.results, here.rows.results)


def test_kinds_of_people_go_to_a_cluster_and_those_of_the_console_are_refused(cluster, monkeypatch):
    class Local(Parabola):
        name = "local"

    monkeypatch.setattr(JOINT_KINDS, "_kinds", dict(JOINT_KINDS))
    monkeypatch.setattr(kinds, "_own", {})
    monkeypatch.setattr(fields, "_named_by_files", set())

    def asked(kind):
        register(kind)
        bead = ks.Joint(name="x", kind=kind.name, parent="world", child="stone")
        model = ks.Model(name="bead", bodies=(ks.Body(name="stone", mass=1.0),), joints=(bead,))
        s = Study(model, duration=0.2, method="rk4", step=1e-3)
        return s.sample(20, {"x.v": normal(1.0, 0.3)}, seed=7).record(end="at(x.q, end)")

    address, _ = cluster
    assert np.array_equal(asked(Parabola).run().rows.results, asked(Parabola).run(cluster=address).rows.results)
    with pytest.raises(KindError, match="'local' was defined in the console"):
        asked(Local).run(cluster=address)
