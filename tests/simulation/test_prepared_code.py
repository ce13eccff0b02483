"""A worker process makes the code of a run ahead, once for the same machine and settings."""

import pytest

from core.apart.work_process import WorkProcess
from core.files import load
from core.mechanism import Mechanism
from core.simulation import prepared_code
from core.simulation.prepared_code import prepare_run
from resources import EXAMPLES


@pytest.fixture
def process():
    """A worker process, ended at the end."""
    process = WorkProcess()
    yield process
    process.close()


def test_the_code_of_a_run_is_made_once_by_another_process(process, tmp_path, monkeypatch):
    monkeypatch.setenv("KINETOSTAT_CACHE", str(tmp_path / "cache"))
    mech = Mechanism(load(EXAMPLES / "pendulum.kst"))
    assert not prepare_run(process, mech, {"duration": -1.0})  # as a run would be refused
    assert prepare_run(process, mech, {"duration": 1.0})
    assert len(list((tmp_path / "cache").glob("*.o"))) > 2  # functions of the machine, and the mark
    monkeypatch.setattr(prepared_code, "run_in_worker", None)
    assert not prepare_run(process, mech, {"duration": 1.0})


def test_where_nothing_can_be_kept_nothing_is_made(process, monkeypatch):
    monkeypatch.setenv("KINETOSTAT_CACHE", "")
    assert not prepare_run(process, Mechanism(load(EXAMPLES / "pendulum.kst")), {"duration": 1.0})
    assert process.process_id is None
