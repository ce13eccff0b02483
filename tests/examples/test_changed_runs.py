"""Shipped machines whose runs limits change are those that the document of modes names."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from core.files import load
from core.simulation import simulate
from resources import examples

MADE_FOR_STOPS = "bouncing_pendulum"
SECTION = "## In shipped machines"
LIMITED = [
    each
    for each in examples()
    if each.name != MADE_FOR_STOPS and any(joint.limits for joint in load(each.path).expanded.joints)
]


def named():
    """Cells of the first column, and machines of which the lines below say that nothing changes."""
    text = (Path(__file__).parents[2] / "docs" / "friction_and_stops.md").read_text(encoding="utf-8").split(SECTION)[1]
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| ")][2:]
    changed = {name.strip() for cell in cells for name in cell.split(",")}
    (words,) = (line for line in text.splitlines() if line.startswith("Other examples"))
    return changed, {name.strip() for name in words.partition(":")[2].rstrip(".").split(";")}


def test_each_limited_machine_is_told_of():
    changed, same = named()
    assert changed | same == {each.title for each in LIMITED}
    assert not changed & same


@pytest.mark.parametrize("example", LIMITED, ids=lambda each: each.name)
def test_runs_change_where_it_is_said(example):
    """Three seconds from rest, with limits and without."""
    model = load(example.path)
    ideal = dataclasses.replace(model, world=dataclasses.replace(model.world, limits="ideal"))
    acts, free = (simulate(each, 3.0, output=0.1) for each in (model, ideal))
    apart = max(float(np.abs(acts.at(t) - free.at(t)).max()) for t in np.linspace(0.0, 3.0, 31))
    assert (apart > 1e-6) == (example.title in named()[0])
    assert bool(acts.events) == (example.title in named()[0])
