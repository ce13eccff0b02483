"""What grows at its end: the same numbers as in one piece, without copying the old ones for each new one."""

import numpy as np
import pytest

from core.files import load
from core.simulation import simulate
from core.simulation.run import growing_rows
from core.simulation.run.growing_rows import GrowingRows
from resources import examples


def test_rows_are_what_was_added_and_older_views_stay_as_they_were():
    rng = np.random.default_rng(5)
    pieces = [rng.normal(size=(count, 3)) for count in (4, 0, 1, 7, 30, 2)]
    array, views = GrowingRows(pieces[0]), []
    for piece in pieces[1:]:
        views.append((array.rows, array.rows.copy()))
        array.extend(piece)
    assert np.array_equal(array.rows, np.concatenate(pieces))
    assert all(np.array_equal(view, copy) for view, copy in views)
    rows = array.rows
    assert array.extend(np.zeros((0, 3))) is rows  # nothing new: nothing is drawn anew


def test_memory_is_moved_seldom():
    array, places = GrowingRows(np.zeros(1)), set()
    for k in range(10_000):
        array.extend(np.array([float(k)]))
        places.add(array.rows.__array_interface__["data"][0])
    assert len(places) < 20
    assert np.array_equal(array.rows[1:], np.arange(10_000.0))


def test_who_watches_a_run_keeps_what_there_was_of_it():
    path = next(example.path for example in examples() if example.name == "double_pendulum")
    seen = []
    run = simulate(load(path), 2.0, output=1e-3, watch=lambda run: seen.append((run, run.q.copy())))
    assert len(seen) > 2
    assert [len(each) for each, _ in seen] == sorted(len(each) for each, _ in seen)
    for each, q in seen:
        assert np.array_equal(each.q, q)
        assert np.array_equal(each.q, run.q[: len(each)])
        assert np.array_equal(each.time, run.time[: len(each)])
    np.testing.assert_allclose(seen[-1][0]["energy.total"], run["energy.total"], rtol=1e-12)


def test_pieces_that_come_together_move_memory_once():
    array = GrowingRows(np.zeros(1))
    pieces = [np.full(count, float(count)) for count in (3, 1, 40, 500, 2)]
    array.extend(*pieces)
    assert np.array_equal(array.rows[1:], np.concatenate(pieces))
    assert len(array._memory) == 2 * len(array.rows), "twice what there is then; not twice what one of them left"


def test_many_rows_lie_in_a_file_and_older_views_stay_as_they_were(monkeypatch):
    monkeypatch.setattr(growing_rows, "IN_MEMORY", 1000)
    rng = np.random.default_rng(6)
    pieces = [rng.normal(size=(count, 3)) for count in (4, 30, 1, 0, 700, 2)]
    array, views = GrowingRows(pieces[0]), []
    for piece in pieces[1:]:
        views.append((array.rows, array.rows.copy()))
        array.extend(piece)
    assert np.array_equal(array.rows, np.concatenate(pieces))
    assert all(np.array_equal(view, copy) for view, copy in views)
    assert not array.rows.flags.writeable
    assert not array.rows.flags.owndata


def test_a_full_disk_leaves_the_rows_as_they_were(monkeypatch):
    monkeypatch.setattr(growing_rows, "IN_MEMORY", 1000)
    array = GrowingRows(np.ones((100, 3)))
    array.extend(np.ones((100, 3)))
    before, file = array.rows, array._file

    class Full:
        def seek(self, place):
            file.seek(place)

        def write(self, data):
            file.write(bytes(data)[:8])
            raise OSError(28, "No space left on device")

    array._file = Full()
    with pytest.raises(OSError, match="No space"):
        array.extend(2.0 * np.ones((50, 3)))
    assert array.rows is before
    array._file = file
    assert np.array_equal(array.extend(3.0 * np.ones((2, 3)))[-3:, 0], [1.0, 3.0, 3.0])
