"""Searches in a process of their own: the same numbers, and what crashes or hangs there is a row here."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from core import kinds
from core.apart import work_process
from core.apart.work_process import WorkProcess
from core.design.path_synthesis import select_best, synthesise
from core.design.search_apart import CurveTask, optimise_in_subprocess, search_linkages_in_subprocess
from core.design.target_curves import target
from core.design.topologies import TOPOLOGIES
from core.errors import ExpressionError, SimulationError
from core.files import load, loads
from core.joints import JOINT_KINDS
from core.kinds import register
from core.model import Aim, DesignVariable, fields
from resources import EXAMPLES
from tests.design.test_design import PENDULUM
from tests.joints.made_up_kinds import Parabola

ROOT = Path(__file__).parents[2]
HEARD = 60.0
"""Seconds in which Stop is heard, also on a busy machine: a small part of what the searches would take."""
signals = pytest.mark.skipif(sys.platform == "win32", reason="processes are ended by signals")

SAME = """
from core.design.asked_designs import design_from_aim
from core.design.search_apart import optimise_in_subprocess
from core.apart.work_process import WorkProcess
from core.files import dumps, load, loads
from core.model import Aim, DesignVariable, FunctionRow, RequiredRow
from resources import EXAMPLES
from tests.design.test_design import PENDULUM

bar = load(EXAMPLES / "four_bar.kst")
pulled = loads(PENDULUM.replace("stiffness: k", "stiffness: k, rest: [0.6], spring_rest: [0.0]"))
lengths = tuple(DesignVariable(parameter=name) for name in "acd")
turn = {"coordinate": "crank_pin", "vary": lengths}
high = "rms(coupler_point.position.z - 0.35)"
rows = tuple(FunctionRow(x=0.5 * k, y=0.6 + 0.03 * k) for k in range(8))
need = (RequiredRow(formula="c + d < 0.6"),)
cases = (
    (bar, Aim(name="high", minimise=high, over="sweep", **turn), "auto"),
    (bar, Aim(name="narrow", minimise=high, over="sweep", require=need, **turn), "IPOPT"),
    (bar, Aim(name="function", kind="function", output="rocker_pin.q", function=rows, **turn), "auto"),
    (pulled, Aim(name="run", vary=(DesignVariable(parameter="k"),), over="run", duration=0.3,
                          minimise="(at(pin.q, end) - 0.1)^2"), "auto"),
)
process = WorkProcess()
for model, aim, solver in cases:
    there = optimise_in_subprocess(process, model, aim, 3, solver, 7).designed
    here = design_from_aim(model, aim, "design").solve(3, solver, 7)
    assert there.table == here.table, (aim.name, there.table, here.table)
    assert (there.sensitivities, there.alike) == (here.sensitivities, here.alike)
    assert (there.solver, there.reason, there.slopes) == (here.solver, here.reason, here.slopes)
    assert dumps(there.model) == dumps(here.model)
process.close()
print("the same")
"""


@pytest.fixture(scope="module")
def four_bar():
    return load(EXAMPLES / "four_bar.kst")


@pytest.fixture(scope="module")
def process():
    """One that is given time, however busy the machine is. Where it ends, the next task begins another one."""
    made = WorkProcess(silence=60.0)
    yield made
    made.close()
    assert made.process_id is None


@pytest.fixture
def skipped(monkeypatch):
    """Seconds that whoever waits for a process takes to be over."""
    gone = [0.0]
    monkeypatch.setattr(work_process, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + gone[0]))
    return gone


@pytest.fixture
def own_kinds(monkeypatch):
    monkeypatch.setattr(JOINT_KINDS, "_kinds", dict(JOINT_KINDS))
    monkeypatch.setattr(kinds, "_own", {})
    monkeypatch.setattr(fields, "_named_by_files", set())


def high(formula="rms(coupler_point.position.z - 0.35)"):
    lengths = tuple(DesignVariable(parameter=name) for name in "acd")
    return Aim(name="high", vary=lengths, minimise=formula, over="sweep", coordinate="crank_pin")


def once(start, then):
    """Do something when this start has come to a value."""
    done = []

    def watch(what):
        if what.start == start and not done:
            done.append(what)
            then()

    return watch, done


def script(text, **more):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, "-c", text], env=environment, stdout=subprocess.PIPE, text=True, **more)


@pytest.mark.parametrize("cases", ["[1:2]", pytest.param("", marks=pytest.mark.slow)])
def test_numbers_are_those_of_a_search_here_to_the_last_bit(cases):
    """With one thread of linear algebra, as the window and the process have it."""
    said, _ = script(SAME.replace("in cases:", f"in cases{cases}:"), stderr=subprocess.STDOUT).communicate(timeout=300)
    assert said.strip().endswith("the same"), said


@signals
def test_a_start_over_which_the_process_crashes_is_a_row_and_the_others_go_on(four_bar, process):
    whole = {row.number: row for row in optimise_in_subprocess(process, four_bar, high(), 4, seed=7).designed.table}
    heard = []
    watch, done = once(1, lambda: os.kill(process.id, signal.SIGSEGV))
    found = optimise_in_subprocess(process, four_bar, high(), 4, seed=7, watch=watch, lost=heard.append)
    rows = {row.number: row for row in found.designed.table}
    assert set(rows) == {0, 1, 2, 3}
    assert rows[1].message == "The solver ended unexpectedly (signal 11)."
    assert (rows[1].state, rows[1].value <= done[0].value) == ("stopped", True)
    assert heard == list(found.lost) == [rows[1]]
    assert [rows[k] for k in (0, 2, 3)] == [whole[k] for k in (0, 2, 3)]
    assert found.designed.sensitivities


@signals
@pytest.mark.slow
def test_a_process_that_hangs_is_ended_and_its_start_a_row(four_bar, process, skipped):
    def hang():
        os.kill(process.id, signal.SIGSTOP)
        skipped[0] = 1.5 * process.silence

    watch, _ = once(0, hang)
    found = optimise_in_subprocess(process, four_bar, high(), 2, watch=watch)
    rows = {row.number: row for row in found.designed.table}
    assert rows[0].message == "The solver did not answer for 60 s and was ended."
    assert rows[1].state == "found"


@signals
@pytest.mark.parametrize("hangs", [False, True])
def test_stop_keeps_the_best_soon_also_of_a_process_that_hangs(four_bar, process, hangs):
    at = []

    def stop():
        if hangs:
            os.kill(process.id, signal.SIGSTOP)
        at.append(time.monotonic())

    watch, done = once(2, stop)
    found = optimise_in_subprocess(process, four_bar, high(), 1000, watch=watch, cancelled=lambda: bool(at))
    assert time.monotonic() - at[0] < HEARD
    rows = {row.number: row for row in found.designed.table}
    assert set(rows) == {0, 1, 2}
    assert rows[2].state == "stopped"
    assert rows[2].value <= done[0].value
    assert not found.lost
    again = optimise_in_subprocess(process, four_bar, high(), 1)  # what follows is not stopped
    assert again.designed.best.state == "found"


def test_a_paused_search_does_nothing_until_it_goes_on(four_bar, process, skipped):
    """It is paused for longer than a process may say nothing."""
    heard = []

    def waits():
        return len(heard) == 1 and not skipped[0]

    def asked():
        if waits():
            time.sleep(0.3)
            skipped[0] = 1.5 * process.silence
        return False

    found = optimise_in_subprocess(process, four_bar, high(), 2, watch=heard.append, cancelled=asked, paused=waits)
    assert skipped[0]
    assert not found.lost
    assert np.isfinite(found.designed.best.value)


@signals
def test_processes_that_end_before_a_search_is_prepared_are_said(four_bar, process):
    def crash():
        if process.id is not None:
            os.kill(process.id, signal.SIGSEGV)
        return False

    with pytest.raises(SimulationError, match="could not be prepared: The solver ended unexpectedly .signal 11"):
        optimise_in_subprocess(process, four_bar, high(), 3, cancelled=crash)
    assert optimise_in_subprocess(process, four_bar, high(), 1).designed.best.state == "found"


def test_what_makes_no_sense_is_refused_as_here(four_bar, process):
    with pytest.raises(ExpressionError, match="coupler_point"):
        optimise_in_subprocess(process, four_bar, high("rms(couplr_point.position.z)"), 3)


def test_kinds_of_people_go_with_the_machine_and_those_of_the_console_are_searched_here(own_kinds):
    process = WorkProcess(silence=60.0)

    class Local(Parabola):
        name = "local"

    def found(kind):
        register(kind)
        model = loads(PENDULUM.replace("kind: revolute", f"kind: {kind.name}"))
        aim = Aim(name="low", vary=(DesignVariable(parameter="k"),), minimise="(k - 2)^2")
        return optimise_in_subprocess(process, model, aim, 1).designed.best.parameters["k"]

    assert found(Local) == pytest.approx(2.0, abs=1e-5)
    assert process.process_id is None
    assert found(Parabola) == pytest.approx(2.0, abs=1e-5)
    assert process.process_id is not None
    process.close()
    assert process.id is None


LINKAGES = """
import numpy as np
from core.design.search_apart import search_linkages_in_subprocess
from core.design.path_synthesis import synthesise
from core.apart.work_process import WorkProcess
from core.design.search_apart import CurveTask
from core.design.target_curves import target
from core.files import dumps

t = 2.0 * np.pi * np.arange(30) / 30
wanted = target(np.column_stack([0.1 * np.cos(t) + 0.03 * np.cos(2 * t), 0.06 * np.sin(t)]))
process = WorkProcess()
there = search_linkages_in_subprocess(process, CurveTask(wanted, "four_bar", 4))
process.close()
here = synthesise(wanted, "four_bar", count=4)
assert not there.lost
assert len(there.found) == len(here) >= 2
for one, other in zip(there.found, here):
    for name in ("lengths", "relative", "defects", "turns"):
        assert getattr(one, name) == getattr(other, name)
    np.testing.assert_array_equal(one.curve(), other.curve())
    assert dumps(one.model) == dumps(other.model)
print("the same")
"""


@pytest.mark.slow
def test_linkages_are_those_of_a_search_here_to_the_last_bit():
    said, _ = script(LINKAGES, stderr=subprocess.STDOUT).communicate(timeout=300)
    assert said.strip().endswith("the same"), said


@signals
def test_a_crash_keeps_the_linkages_that_were_found_before(process):
    t = 2.0 * np.pi * np.arange(30) / 30
    wanted = target(np.column_stack([0.1 * np.cos(t) + 0.03 * np.cos(2 * t), 0.06 * np.sin(t)]))
    heard = []

    def watch(now):
        heard.append(now)
        if now.best is not None:
            os.kill(process.id, signal.SIGSEGV)

    found = search_linkages_in_subprocess(process, CurveTask(wanted, "slider_crank", 4), on_better_linkage=watch)
    assert found.lost == "The solver ended unexpectedly (signal 11)."
    assert found.found == (heard[-1].best,)
    assert np.isfinite(found.found[0].curve()).all()

    def crash():
        os.kill(process.id, signal.SIGSEGV)
        return False

    with pytest.raises(SimulationError, match="No linkage was found: The solver ended unexpectedly .signal 11"):
        search_linkages_in_subprocess(process, CurveTask(wanted, "slider_crank", 4), cancelled=crash)


@signals
@pytest.mark.slow
def test_after_a_crash_over_one_kind_of_linkage_the_others_are_tried(process):
    """Those of the kinds before are kept, also that which the crashed kind had come to; what was found before goes on
    being told."""
    t = 2.0 * np.pi * np.arange(30) / 30
    wanted = target(np.column_stack([0.1 * np.cos(t) + 0.03 * np.cos(2 * t), 0.06 * np.sin(t)]))
    process.silence = 120.0  # atlases may have to be made
    whole = {kind: synthesise(wanted, kind, count=50) for kind in ("four_bar", "stephenson")}
    heard = []

    def watch(now):
        heard.append(now)
        if now.topology == "slider_crank":
            os.kill(process.id, signal.SIGSEGV)

    found = search_linkages_in_subprocess(process, CurveTask(wanted, "auto", 50), on_better_linkage=watch)
    assert found.lost == "Slider-crank: the solver ended unexpectedly (signal 11)."
    assert list(dict.fromkeys(now.topology for now in heard)) == list(TOPOLOGIES)
    crashed = [now for now in heard if now.topology == "slider_crank"][-1]
    kept = [each for each in found.found if each.topology == "slider_crank"]
    assert kept == [crashed.best]
    assert {each.topology for each in crashed.found} == {"four_bar"}
    assert {each.topology for each in heard[-1].found} == {"four_bar", "slider_crank", "swinging_block", "watt"}
    for kind, alone in whole.items():
        nearest = min(each.relative for each in found.found if each.topology == kind)
        assert nearest == pytest.approx(min(each.relative for each in alone), rel=1e-3)
    assert found.found == select_best(found.found, 50)


@signals
def test_a_crash_over_every_kind_of_linkage_is_said(process):
    t = 2.0 * np.pi * np.arange(30) / 30
    wanted = target(np.column_stack([0.1 * np.cos(t), 0.06 * np.sin(t)]))

    def crash():
        if process.process_id is not None:
            os.kill(process.process_id, signal.SIGSEGV)
        return False

    with pytest.raises(SimulationError, match=r"No linkage was found: Four-bar.*signal 11.*Stephenson's.*signal 11"):
        search_linkages_in_subprocess(process, CurveTask(wanted, "auto", 4), cancelled=crash)


@signals
def test_the_process_ends_with_whoever_began_it():
    text = "import time; from core.apart.work_process import WorkProcess as P; p = P(); p.begin()\n"
    owner = script(text + "print(p.process_id, flush=True); time.sleep(60)")
    number = int(owner.stdout.readline())
    time.sleep(0.3)  # in the middle of its imports
    owner.kill()
    owner.communicate()
    for _ in range(200):
        if not alive(number):
            return
        time.sleep(0.05)
    pytest.fail("it lives on")


def alive(number):
    """Whether a process lives; one that ended and whose end nobody has asked for does not."""
    try:
        os.kill(number, 0)
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return sys.platform != "linux"
