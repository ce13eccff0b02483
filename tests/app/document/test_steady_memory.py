"""What a long session leaves in memory: its undo, and as many programs as are kept, however long it lasts."""

import gc
import time
from collections import Counter

import numpy as np
import pytest

from app.document.session import Session
from core.codegen import background
from core.files import load
from core.model.edits import edits
from core.programs import program
from core.programs.program import Program
from core.simulation import simulate
from resources import EXAMPLES

pytestmark = pytest.mark.usefixtures("busy_compiler")
KINDS = (
    "Program",
    "FunctionBuilder",
    "Evaluator",
    "Library",
    "MachineCode",
    "Mechanism",
    "Compiled",
    "ClosedForms",
    "Run",
)
MACHINES = ("pendulum", "two_link", "four_bar", "slider_crank", "scara")


def looked_at(session):
    """As the window looks at a machine."""
    session.mech.poses(session.reference_configuration)
    session.mech.energy(session.reference_configuration, np.zeros(session.mech.nv))


def alive():
    """How many there are of what holds code, when all that was asked for is compiled."""
    for each in gc.get_objects():
        if isinstance(each, Program):
            each.wait()  # the background drops what nobody uses when its turn comes: how much depends on its pace
    end = time.monotonic() + 60.0
    while background.is_busy() and time.monotonic() < end:
        time.sleep(0.02)
    gc.collect()
    found = Counter(type(each).__name__ for each in gc.get_objects())
    return {kind: found[kind] for kind in KINDS}


def no_more(after, before):
    return all(after[kind] <= before[kind] for kind in KINDS)


def opened(name):
    path = next(EXAMPLES.glob(f"{name}.*"))
    return load(path)


def test_a_thousand_edits_of_values_leave_one_machine():
    session = Session(opened("four_bar"))
    name = next(each.name for each in session.model.parameters if each.independent)
    value = session.model.values()[name]

    def edit(count):
        for k in range(count):
            factor = 1.0 + 1e-7 * (k + 1)
            assert session.apply("Edit", lambda m, f=factor: edits.change(m, "parameters", name, value=f * value))
            if k % 50 == 0:
                looked_at(session)

    edit(100)
    before = alive()
    edit(900)
    assert no_more(alive(), before)


def test_edits_that_make_another_machine_leave_no_more_than_are_kept():
    session = Session(opened("pendulum"))
    body = session.model.bodies[0]

    def edit(start, count):
        for k in range(start, start + count):
            assert session.apply("Edit", lambda m, mass=1.0 + 0.01 * k: edits.change(m, "bodies", body.name, mass=mass))
            looked_at(session)

    program.drop_programs()
    of_others = alive()["Program"]
    edit(0, program.KEPT + 4)
    before = alive()
    assert before["Program"] - of_others <= program.KEPT + 1
    edit(100, program.KEPT + 4)
    after = alive()
    assert no_more(after, {kind: before[kind] + 2 for kind in KINDS})


def test_machines_opened_again_and_again_leave_what_they_left_first():
    session = Session(opened(MACHINES[0]))

    def open_all():
        for name in MACHINES:
            session.start_document(opened(name))
            looked_at(session)

    open_all()
    before = alive()
    for _ in range(8):
        open_all()
    assert no_more(alive(), before)


def test_a_hundred_runs_leave_none():
    mech = Session(opened("pendulum")).mech
    for _ in range(3):
        simulate(mech, 0.01)
    before = alive()
    for _ in range(100):
        simulate(mech, 0.01)
    assert no_more(alive(), before)
