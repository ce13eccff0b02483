"""Closed forms that would take seconds to compile are made beside a run; what a person asked for is waited for."""

import threading

import numpy as np
import pytest

from benchmarks.loop_machines import crank_angle, falling, four_bars
from core.codegen import background
from core.constraints.closed_forms import closed_forms as room
from core.constraints.closed_forms.closed_forms import get_analytic_closure
from core.errors import SimulationError
from core.mechanism import Mechanism
from core.programs.program import drop_programs
from core.simulation import simulate
from core.simulation.equations.compiled_equations import CompiledEquations

BY_ITERATION = "Loops were closed by iteration"


@pytest.fixture
def mech(monkeypatch):
    """A machine whose closed forms nobody has made, in a program where making anything is thought to take long."""
    drop_programs()
    monkeypatch.setattr(room, "PATIENCE", 0.0)
    monkeypatch.setattr(room, "is_cached", lambda _: False)
    return Mechanism(four_bars(2))


@pytest.fixture
def waiting(monkeypatch):
    """Closed forms that were given to the background, which does not begin with them."""
    jobs, submit = [], background.submit_job

    def kept(job):
        of_forms = isinstance(getattr(job, "__self__", None), room.AnalyticClosure)
        (jobs.append if of_forms else submit)(job)

    monkeypatch.setattr(background, "submit_job", kept)
    return jobs


def independent(mech, closed_forms):
    """(how many speeds the equations of a run have, what there is to say)."""
    y = np.concatenate([mech.rest(), np.zeros(mech.nv)])
    equations = CompiledEquations(mech, None, mech.parameter_values(), y, closed_forms)
    return equations.system.independent, equations.notes


def run_of(mech, **options):
    return simulate(mech, 0.5, method="rk853", rtol=1e-9, v0=falling(2), output=0.5, **options)


def test_a_run_does_not_wait_and_the_next_one_uses_what_was_made(mech, waiting):
    first = run_of(mech)
    assert [BY_ITERATION in note and "for the next run" in note for note in first.notes] == [True]
    assert independent(mech, None)[0] == 0
    assert len(waiting) == 1  # asked for once
    waiting.pop()()
    assert independent(mech, None) == (1, ())
    second = run_of(mech)
    assert not second.notes
    for run in (first, second):
        assert run["A1.q"][-1] == pytest.approx(crank_angle(2, 0.5), abs=1e-6)


def test_the_thread_makes_them(mech, monkeypatch):
    made = threading.Event()
    own = room.AnalyticClosure._compile_reduction
    monkeypatch.setattr(room.AnalyticClosure, "_compile_reduction", lambda forms: (own(forms), made.set()))
    background.resume_compilation()
    assert run_of(mech).notes
    assert made.wait(60.0)
    assert not run_of(mech).notes


@pytest.mark.parametrize("wanted", [True, False])
def test_what_was_asked_for_is_done(mech, waiting, wanted):
    assert independent(mech, wanted) == (int(wanted), ())
    assert not waiting


def test_what_is_soon_compiled_is_waited_for(mech, waiting, monkeypatch):
    monkeypatch.setattr(room, "PATIENCE", 10.0)
    assert independent(mech, None) == (1, ())
    assert not waiting


def test_code_that_is_kept_is_not_made_beside(mech, waiting, monkeypatch):
    monkeypatch.setattr(room, "is_cached", lambda _: True)
    assert independent(mech, None) == (1, ())
    assert not waiting


def test_larger_machines_are_thought_to_take_longer(monkeypatch):
    seconds = []
    for count, long in ((2, 10**6), (4, 10**6), (2, 0), (4, 0)):
        monkeypatch.setattr(room, "LONG", long)
        seconds.append(
            room.AnalyticClosure(Mechanism(four_bars(count)).compiled.program.symbolic)._estimated_compile_time()
        )
    assert 0.0 < seconds[0] < seconds[1]
    assert 0.0 < seconds[2] < seconds[3]


def test_what_cannot_be_compiled_is_told(mech, waiting, monkeypatch):
    def fail(_):
        raise OSError("the C library has no function atan2")

    monkeypatch.setattr(room, "compile_code", fail)
    assert "for the next run" in run_of(mech).notes[0]
    waiting.pop()()
    (note,) = run_of(mech).notes
    assert BY_ITERATION in note
    assert "no function atan2" in note
    with pytest.raises(SimulationError, match=r"no function atan2.*closed_forms=False"):
        run_of(mech, closed_forms=True)


def test_the_end_of_the_program_ends_the_work(mech, waiting):
    assert run_of(mech).notes
    background._stopping.set()
    try:
        waiting.pop()()
    finally:
        background._stopping.clear()
    forms = get_analytic_closure(mech.compiled.program)
    assert not forms.failure
    assert forms._made is None
