"""Functions that a window has done in a process: what they give, show and raise is what they do here."""

import os
import signal
import sys

import pytest

from core.apart.work_process import WorkProcess
from core.errors import ModelError, SimulationError
from core.files import load
from core.functions import FUNCTIONS, Context, call
from core.functions.catalogue import call_in_worker
from core.functions.context import Cancelled
from resources import EXAMPLES
from tests.functions.test_surfaces import data, same
from tests.walks import walk

ASKED = {
    "linear_system": ("four_bar", {"outputs": ("rocker_pin.q",)}),
    "lqr": ("pendulum", {}),
    "root_locus": ("four_bar", {"ranges": (("crank_pin", 0.2, 0.4, 4),)}),
    "trim": ("four_bar", {"fixed": {"crank_pin.q": 0.6}, "free": {"crank_pin.tau": (-10.0, 10.0)}}),
    "run_derivatives": ("pendulum", {"duration": 0.2}),
    "write_c_code": ("pendulum", {}),
    "loop_symbols": ("slider_crank", {"what": "ratios"}),
    "write_loop_equations": ("slider_crank", {"language": "python"}),
    "excitation": ("puma560", {"kinds": "damping", "harmonics": 2, "rate": 4.0}),
}
"""Of functions done apart: a machine and options that do not take long."""
LONG = ("identify", "fit_run", "optimise", "path_synthesis")
"""Those that need files, or take long: their parts are tried in tests/identification and tests/design."""


@pytest.fixture(scope="module")
def process():
    made = WorkProcess()
    yield made
    made.close()


def machine(name):
    return Context.of(load(EXAMPLES / f"{name}.kst"))


def test_all_of_them_are_tried():
    assert {each.id for each in FUNCTIONS.values() if each.apart} == {*ASKED, *LONG}


@pytest.mark.parametrize("id", walk(ASKED, quick=ASKED.keys() - {"linear_system", "root_locus", "loop_symbols"}))
def test_they_give_what_they_give_here(id, process):
    name, options = ASKED[id]
    context = machine(name)
    told = {}
    context = Context(context.model, context.mech, context.q, context.p, progress=lambda *what: told.update({what: 0}))
    here, before = call(id, context, **options), list(told)
    told.clear()
    there = call_in_worker(process, id, context, **options)
    assert list(told) == before
    assert same(data(there), data(here))
    assert there.call == here.call
    assert there.asked.context.mech is context.mech
    assert there.asked.options == here.asked.options


def test_what_makes_no_sense_is_refused_as_here(process):
    with pytest.raises(ModelError) as here:
        call("linear_system", machine("pendulum"), outputs=("pinn.q",))
    with pytest.raises(ModelError) as there:
        call_in_worker(process, "linear_system", machine("pendulum"), outputs=("pinn.q",))
    assert str(there.value) == str(here.value)


def test_a_stopped_function_ends(process):
    context = machine("pendulum")
    context = Context(context.model, context.mech, context.q, context.p, cancelled=lambda: True)
    with pytest.raises(Cancelled):
        # a short one may be over before it is stopped
        call_in_worker(process, "run_derivatives", context, duration=1000.0)


@pytest.mark.skipif(sys.platform == "win32", reason="processes are ended by signals")
def test_a_crash_is_said_and_the_next_call_is_answered(process):
    def crash(*_):
        os.kill(process.id, signal.SIGSEGV)

    context = machine("pendulum")
    context = Context(context.model, context.mech, context.q, context.p, progress=crash)
    with pytest.raises(SimulationError, match="The worker process ended unexpectedly .signal 11"):
        call_in_worker(process, "linear_system", context)
    assert call_in_worker(process, "linear_system", machine("pendulum")).title == "Linear system"
