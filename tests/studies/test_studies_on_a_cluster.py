"""A real scheduler and workers of `distributed`, in processes of their own."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import kinetostat as ks
from core.studies.distributions import normal, uniform
from core.studies.study import Study

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


def test_a_cluster_gives_the_same_bits_and_its_loss_is_told(cluster, tmp_path):
    address, processes = cluster
    model = ks.Model(
        name="fall",
        parameters=(ks.Parameter(name="m", value=2.0),),
        bodies=(ks.Body(name="stone", mass="m"),),
        joints=(ks.Joint(name="z", kind="prismatic", parent="world", child="stone", axis=(0.0, 0.0, 1.0)),),
    )
    s = Study(model, duration=0.2, method="rk4", step=1e-3)
    s.sample(24, {"z.v": normal(1.0, 0.3)}, m=uniform(1.0, 3.0), seed=7).record(
        end="at(z.q, end)", e="max(energy.total)"
    )
    here, there = s.run(), s.run(cluster=address)
    assert there.rows.done.all()
    assert np.array_equal(here.rows.results, there.rows.results)
    processes[0].kill()
    processes[0].wait()
    with pytest.raises(ks.SimulationError, match="compute here"):
        s.run(str(tmp_path / "study.h5"), cluster=address)
    assert np.array_equal(s.resume(str(tmp_path / "study.h5")).rows.results, here.rows.results)
