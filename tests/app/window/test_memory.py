"""What was closed is gone: machines, runs, their actors; what is done often stays as quick as it was."""

import gc
import weakref

import pytest
from PySide6.QtWidgets import QApplication

from core.codegen import background
from core.model.edits import edits

pytestmark = pytest.mark.usefixtures("busy_compiler")
MACHINES = ("pendulum", "four_bar", "puma560")


def opened_and_run(bench, name):
    """What could stay when another is opened."""
    bench.example(name)
    window = bench.window
    ends = []
    window.simulation.change_settings(duration=0.05, output=0.01)
    window.simulation.ended.connect(heard := lambda record, words: ends.append(record))
    window.simulation.start()
    bench.wait(lambda: ends)
    window.simulation.ended.disconnect(heard)
    run = ends.pop().run
    return weakref.ref(bench.session.mech), weakref.ref(run)


def edit_and_undo(session):
    """Another value of a parameter."""
    name = next(each.name for each in session.model.parameters if each.independent)
    value = 1.1 * session.model.values()[name]
    assert session.apply("Edit", lambda model: edits.change(model, "parameters", name, value=value))
    session.undo()


def in_the_window(bench):
    """How many actors and widgets there are."""
    return bench.view.scene.renderer.GetViewProps().GetNumberOfItems(), len(QApplication.allWidgets())


def test_machines_and_runs_that_were_left_are_forgotten(own_bench):
    """In a window of its own: what other tests still listen to holds what it hears."""
    bench = own_bench
    left = [opened_and_run(bench, name) for name in MACHINES]
    before = in_the_window(bench)
    left += [opened_and_run(bench, name) for _ in range(2) for name in MACHINES]
    after = in_the_window(bench)
    bench.example("two_link")
    bench.draw()
    assert after == before

    def alive():
        gc.collect()
        return [name for name, pair in zip(3 * MACHINES, left, strict=True) if any(each() is not None for each in pair)]

    bench.wait(lambda: not alive())  # what is still being compiled is held until it is
    assert alive() == []


def test_hours_of_work_leave_as_many_objects_as_the_first(own_bench):
    """`benchmarks.steady_memory` does the same two hundred times, and tells megabytes."""
    bench = own_bench

    def hour():
        for name in MACHINES:
            opened_and_run(bench, name)
            edit_and_undo(bench.session)
        bench.wait(lambda: not background.is_busy())
        bench.draw()
        gc.collect()
        return len(gc.get_objects())

    for _ in range(2):
        before = hour()
    after = [hour() for _ in range(4)]
    assert min(after) < 1.002 * before


def test_each_of_many_drags_is_undone_and_draws_no_more_than_the_first(bench):
    bench.example("puma560")
    session = bench.session
    name, first = session.mech.q_names[0], session.q.copy()
    before = in_the_window(bench)
    for k in range(200):
        session.preview_coordinates({name: first[0] + 0.01 * (k + 1)})
        session.commit("Drag")
    assert in_the_window(bench) == before
    for _ in range(200):
        session.undo()
    assert session.q[0] == first[0]
