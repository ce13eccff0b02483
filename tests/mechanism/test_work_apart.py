"""Work with a machine in a process: the same as here, with the machine of whoever asked; crash, Stop, errors."""

import os
import pickle
import signal
import sys
import time
from functools import partial

import numpy as np
import pytest

from core import kinds
from core.apart.talk import Progress
from core.apart.work_process import WorkProcess
from core.control.operating_point import OperatingPoint
from core.errors import KinetostatError, SimulationError
from core.files import load, loads
from core.joints import JOINT_KINDS
from core.kinds import register
from core.mechanism import Mechanism
from core.mechanism.work_apart import WorkStoppedError, run_in_worker
from core.model import fields
from resources import EXAMPLES
from tests.joints.made_up_kinds import Parabola

signals = pytest.mark.skipif(sys.platform == "win32", reason="processes are ended by signals")
HEARD = 30.0
"""Seconds in which Stop is heard, also on a busy machine."""


@pytest.fixture(scope="module")
def process():
    made = WorkProcess()
    yield made
    made.close()
    assert made.process_id is None


@pytest.fixture(scope="module")
def four_bar():
    return Mechanism(load(EXAMPLES / "four_bar.kst"))


def masses(mech, line, q):
    line.tell(Progress(0.5, "half"))
    line.tell({"mech": mech, "model": mech.model})
    return mech, mech.mass_matrix(q)


def waits(mech, line, heeds):
    while not (heeds and line.should_stop()):
        time.sleep(0.01)
    return "so far"


def fails(mech, line):
    return mech.assemble({"crank_pin": 0.3, "rocker_pin": 3.0})


def ends(mech, line):
    os.kill(os.getpid(), signal.SIGSEGV)


def unpicklable(mech, line):
    return lambda: mech


def test_what_comes_of_it_is_that_of_here_with_the_machine_of_whoever_asked(process, four_bar):
    heard = []
    q = four_bar.rest()
    mech, M = run_in_worker(process, four_bar, partial(masses, q=q), hear=heard.append)
    assert mech is four_bar
    np.testing.assert_array_equal(M, four_bar.mass_matrix(q))
    assert heard[0] == Progress(0.5, "half")
    assert heard[1]["mech"] is four_bar
    assert heard[1]["model"] is four_bar.model


def test_an_operating_point_is_found_as_here(process, four_bar):
    problem = OperatingPoint(four_bar)
    problem["crank_pin.q"].fixed(0.6)
    problem["crank_pin.tau"].free()
    here = problem.solve()
    there = run_in_worker(process, four_bar, problem.work())
    assert there.mech is four_bar
    assert there.values == pytest.approx(here.values, rel=1e-12)  # linear algebra has another number of threads
    np.testing.assert_allclose(there.q, here.q, rtol=1e-12)
    np.testing.assert_allclose(there.system.A, here.system.A, rtol=1e-9, atol=1e-9)
    assert there.summary_text == here.summary_text


def test_errors_come_as_they_are(process, four_bar):
    with pytest.raises(KinetostatError) as here:
        fails(four_bar, None)
    with pytest.raises(type(here.value)) as there:
        run_in_worker(process, four_bar, fails)
    assert str(there.value) == str(here.value)


def every_error(kind=KinetostatError):
    return [kind, *(each for more in kind.__subclasses__() for each in every_error(more))]


@pytest.mark.parametrize("kind", every_error())
def test_every_error_travels(kind):
    try:
        error = kind("What.", where="here", remedy="Do.")
    except TypeError:
        error = kind.__new__(kind)
        error.__dict__.update(KinetostatError("What.", where="here").__dict__)
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)


@signals
def test_a_crash_is_said_and_the_next_work_is_done(process, four_bar):
    with pytest.raises(SimulationError, match="ended unexpectedly .signal 11"):
        run_in_worker(process, four_bar, ends)
    assert run_in_worker(process, four_bar, partial(masses, q=four_bar.rest()))[0] is four_bar


def test_what_cannot_travel_is_an_error_and_no_silence(process, four_bar):
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError), match="lambda|local"):
        run_in_worker(process, four_bar, unpicklable)


@pytest.mark.parametrize("heeds", [True, False])
def test_stop_is_heard_soon_and_work_that_heeds_it_gives_what_it_has(process, four_bar, heeds):
    begun = []

    def stop():
        begun.append(time.monotonic())
        return process.is_busy and len(begun) > 20

    work = partial(waits, heeds=heeds)
    began = time.monotonic()
    if heeds:
        assert run_in_worker(process, four_bar, work, cancelled=stop, patience=HEARD) == "so far"
    else:
        with pytest.raises(WorkStoppedError):
            run_in_worker(process, four_bar, work, cancelled=stop)
    assert time.monotonic() - began < 2 * HEARD


def test_machines_with_kinds_of_people_go_along_and_those_of_the_console_are_asked_here(monkeypatch):
    monkeypatch.setattr(JOINT_KINDS, "_kinds", dict(JOINT_KINDS))
    monkeypatch.setattr(kinds, "_own", {})
    monkeypatch.setattr(fields, "_named_by_files", set())
    process = WorkProcess()

    class Local(Parabola):
        name = "local"

    for kind, apart in ((Local, False), (Parabola, True)):
        register(kind)
        text = (EXAMPLES / "pendulum.kst").read_text(encoding="utf-8").replace("kind: continuous", f"kind: {kind.name}")
        mech = Mechanism(loads(text))
        q = np.full(mech.nq, 0.2)
        found, M = run_in_worker(process, mech, partial(masses, q=q))
        assert found is mech
        np.testing.assert_array_equal(M, mech.mass_matrix(q))
        assert (process.process_id is not None) is apart
    process.close()
