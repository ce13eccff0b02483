"""Maps get finer while they are made, and can be stopped at any time."""

import math

import numpy as np
import pytest

import kinetostat as ks
from core.files import load
from core.studies.workspace.asked_maps import coarse_to_fine_groups
from core.studies.workspace.mapping import workspace
from resources import EXAMPLES


@pytest.fixture(scope="module")
def puma():
    return ks.Mechanism(load(EXAMPLES / "puma560.kst"))


def growing(mech, monkeypatch, **options):
    """The maps on the way, all of them, and the whole."""
    monkeypatch.setattr("core.studies.workspace.grown_samples.LEAST_PAUSE", 0.0)
    seen = []
    return seen, workspace(mech, shown=seen.append, **options)


def test_each_picture_is_of_more_poses_than_the_one_before(puma, monkeypatch):
    seen, whole = growing(puma, monkeypatch, kind="isotropy", samples=6000)
    counts = [len(each.points) for each in seen]
    assert counts == sorted(set(counts))
    assert len(counts) >= 3
    assert counts[-1] == 6000
    assert all(each.growing and not each.complete for each in seen)
    assert whole.complete
    assert not whole.growing
    for each in seen:
        assert np.array_equal(each.q, whole.q[: len(each.q)])
        assert each.values == pytest.approx(whole.values[: len(each.values)], rel=1e-12)
    sizes = [each.cells.size for each in seen]
    assert sizes == sorted(sizes, reverse=True)


def test_who_looks_on_changes_nothing(puma, monkeypatch):
    _, seen = growing(puma, monkeypatch, kind="manipulability", samples=3000, slice=("z", 0.6))
    alone = workspace(puma, kind="manipulability", samples=3000, slice=("z", 0.6))
    assert np.array_equal(seen.q, alone.q)
    assert np.array_equal(seen.values, alone.values)
    assert seen.area == alone.area


@pytest.mark.parametrize("kind", ["orientations", "configurations"])
def test_inverse_kinematics_begins_with_places_far_apart(puma, monkeypatch, kind):
    seen, whole = growing(puma, monkeypatch, kind=kind, samples=400)
    assert len(seen) == 4
    assert [len(each.points) for each in seen] == sorted(len(each.points) for each in seen)
    for each in seen:
        places = {tuple(point) for point in whole.points}
        assert all(tuple(point) in places for point in each.points)
        assert np.isfinite(each.values).all()


def test_places_come_from_coarse_to_fine():
    """On a line of 17 places the first groups leave gaps that are half as wide each time."""
    places = np.stack([np.arange(17.0), np.zeros(17), np.zeros(17)], axis=1)
    groups = coarse_to_fine_groups(places)
    assert sorted(np.concatenate(groups)) == list(range(17))
    known = np.concatenate(groups[:2])
    gaps = np.diff(np.sort(places[known, 0]))
    assert gaps.max() <= 2.0 * gaps.min()


@pytest.mark.parametrize("kind", ["isotropy", "orientations", "configurations"])
@pytest.mark.parametrize("after", [2, 12, 60])
def test_stopped_anywhere_it_keeps_what_there_is(puma, kind, after):
    asked = []

    def cancelled():
        asked.append(1)
        return len(asked) > after

    found = workspace(puma, kind=kind, samples=6000, workers=1, cancelled=cancelled)
    assert not found.complete
    assert not found.growing
    assert len(found.points) == len(found.values) > 0
    assert math.isnan(found.volume)
    assert any("stopped" in note for note in found.notes)


def test_a_stopped_map_asks_for_nothing_more(puma):
    """Once it is stopped no further inverse kinematics runs: whoever stops waits for one iteration at most."""
    asked = []

    def cancelled():
        asked.append(1)
        return len(asked) > 3

    workspace(puma, kind="orientations", samples=400, workers=1, cancelled=cancelled)
    assert len(asked) == 4
