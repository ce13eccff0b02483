"""The session's runs: a tree of records and a playhead that stays inside."""

import numpy as np
import pytest

from app.document.run_tree import FAINT, RunTree
from core.model import Body, Joint, Model
from core.simulation import simulate


@pytest.fixture(scope="module")
def run():
    bob = Body(name="bob", mass=1.0, center_of_mass=(1.0, 0.0, 0.0))
    pin = Joint(name="pin", kind="revolute", parent="world", child="bob", axis=(0.0, 1.0, 0.0))
    return simulate(Model(name="pendulum", bodies=(bob,), joints=(pin,)), 1.0, output=0.25)


@pytest.fixture
def runs():
    return RunTree()


def test_new_run_is_current_and_listeners_are_told(runs, run):
    heard = []
    runs.changed.connect(lambda: heard.append("changed"))
    runs.moved.connect(heard.append)
    record = runs.add(run, "drop")
    assert runs.current is record
    assert runs.items == (record,)
    assert heard == ["changed", 0.0]


def test_playhead_stays_inside_the_run(runs, run):
    runs.add(run)
    runs.seek(99.0)
    assert runs.time == 1.0
    runs.seek(-1.0)
    assert runs.time == 0.0
    runs.seek(0.3)
    assert np.allclose(runs.pose_at_playhead, run.at(0.3))


def test_names_and_colours_differ(runs, run):
    records = [runs.add(run, "same") for _ in range(4)]
    assert len({r.name for r in records}) == 4
    assert len({r.color for r in records}) == 4
    runs.rename(records[0], records[1].name)
    assert len({r.name for r in records}) == 4


def test_branches_of_a_removed_run_hang_on_its_parent(runs, run):
    a = runs.add(run)
    b = runs.add(run, parent=a, from_time=0.5)
    c = runs.add(run, parent=b, from_time=0.7)
    runs.remove(b)
    assert c.parent == a.id
    assert runs.branches_of(a) == (c,)
    assert runs.branches_of(None) == (a,)
    runs.remove(c)
    assert runs.current is a


def test_a_faint_run_is_added_as_one_change_and_only_the_last_are_kept(runs, run):
    front = runs.add(run)
    changes = []
    runs.changed.connect(lambda: changes.append(len(runs.items)))
    added = [runs.add(run, "before", faint=True, select=False) for _ in range(5)]
    assert len(changes) == 5
    assert runs.items == (front, *added[-FAINT:])
    assert all(record.faint for record in added)
    assert runs.current is front


def test_run_that_grew_shorter_takes_the_playhead_along(runs, run):
    record = runs.add(run)
    runs.seek(1.0)
    short = simulate(run.mech, 0.5, output=0.25)
    runs.replace(record, short)
    assert runs.time == 0.5
