"""The code of a first run is made once for each opened machine, while the window is idle, and given up for any job."""

import threading

import pytest

from app.document.session import Session
from app.runs import run_preparation
from app.runs.job import Simulation
from app.runs.run_preparation import RunPreparation
from core.model import Model
from core.simulation import simulate
from tests.app.conftest import pump


class Process:
    """Stands in for a worker process."""

    def __init__(self):
        self.ended = threading.Event()

    def close(self):
        self.ended.set()


@pytest.fixture
def asked(monkeypatch):
    """What was to be prepared; a preparation lasts until its process ends."""
    asked = []

    def prepare_run(process, mech, options):
        asked.append((process, mech, options))
        process.ended.wait(60.0)

    monkeypatch.setattr("core.apart.work_process.WorkProcess", Process)
    monkeypatch.setattr("core.simulation.prepared_code.prepare_run", prepare_run)
    monkeypatch.setattr(run_preparation, "IDLE", 1)
    return asked


@pytest.fixture
def prepared(settings, jobs, asked):
    """Begin to prepare the machine of a session."""
    begun = []

    def begin(session):
        simulation = Simulation(session, settings, jobs)
        begun.extend((RunPreparation(session, simulation, jobs), simulation))
        begun[-2].begin()
        return begun[-2]

    yield begin
    for each in begun:
        each.close()


def test_an_opened_machine_is_prepared_once_with_the_settings_of_its_run(session, prepared, asked):
    prepared(session)
    assert pump(lambda: asked)
    _, mech, options = asked[0]
    assert mech is session.mech
    assert len(simulate(mech, **options, cancelled=lambda: True)) > 1
    session.moved.emit()
    pump(lambda: False, 0.05)
    assert len(asked) == 1


def test_any_job_ends_the_preparation(session, prepared, asked, jobs):
    prepared(session)
    assert pump(lambda: asked)
    assert not asked[0][0].ended.is_set()
    jobs.start("Work", lambda progress, cancelled: None)
    assert asked[0][0].ended.is_set()
    assert pump(lambda: not jobs.unfinished_jobs)


def test_nothing_is_prepared_while_a_job_runs(session, prepared, asked, jobs):
    goes_on = threading.Event()
    jobs.start("Work", lambda progress, cancelled: goes_on.wait(60.0))
    prepared(session)
    pump(lambda: False, 0.05)
    assert not asked
    goes_on.set()
    assert pump(lambda: asked)


def test_a_machine_that_cannot_move_is_not_prepared(prepared, asked):
    preparation = prepared(Session(Model(name="nothing")))
    assert pump(lambda: not preparation._timer.isActive())
    assert not asked


def test_closing_ends_the_preparation(session, prepared, asked):
    preparation = prepared(session)
    assert pump(lambda: asked)
    preparation.close()
    assert asked[0][0].ended.is_set()
