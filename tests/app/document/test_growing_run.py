"""What grows at its end: the same numbers as in one piece, without copying the old ones for each new one."""

import numpy as np

from app.document.growing_run import GrowingArray, GrowingRun
from core.files import load
from core.simulation import simulate
from resources import examples


def test_rows_are_what_was_added_and_older_views_stay_as_they_were():
    rng = np.random.default_rng(5)
    pieces = [rng.normal(size=(count, 3)) for count in (4, 0, 1, 7, 30, 2)]
    array, views = GrowingArray(pieces[0]), []
    for piece in pieces[1:]:
        views.append((array.rows, array.rows.copy()))
        array.extend(piece)
    assert np.array_equal(array.rows, np.concatenate(pieces))
    assert all(np.array_equal(view, copy) for view, copy in views)
    rows = array.rows
    assert array.extend(np.zeros((0, 3))) is rows  # nothing new: nothing is drawn anew


def test_memory_is_moved_seldom():
    array, places = GrowingArray(np.zeros(1)), set()
    for k in range(10_000):
        array.extend(np.array([float(k)]))
        places.add(array.rows.__array_interface__["data"][0])
    assert len(places) < 20
    assert np.array_equal(array.rows[1:], np.arange(10_000.0))


def test_a_run_of_pieces_is_the_run():
    path = next(example.path for example in examples() if example.name == "double_pendulum")
    pieces = []
    run = simulate(load(path), 2.0, output=1e-3, watch=pieces.append)
    assert len(pieces) > 2
    grown = GrowingRun(pieces[0])
    for piece in pieces[1:]:
        grown.extend([piece])
    for name in ("time", "q", "v", "a", "tau", "x"):
        assert np.array_equal(getattr(grown.run, name), getattr(run, name))
    assert np.array_equal(grown.run["energy.total"], run["energy.total"])


def test_pieces_that_come_together_move_memory_once():
    array = GrowingArray(np.zeros(1))
    pieces = [np.full(count, float(count)) for count in (3, 1, 40, 500, 2)]
    array.extend(*pieces)
    assert np.array_equal(array.rows[1:], np.concatenate(pieces))
    assert len(array._memory) == 2 * len(array.rows), "twice what there is then; not twice what one of them left"
