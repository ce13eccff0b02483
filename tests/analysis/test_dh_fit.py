"""DH tables of chains: published tables come out of the machines they describe, random chains fit to rounding."""

import math
from pathlib import Path

import numpy as np
import pytest

import resources
from core.analysis.dh_fit import fit
from core.errors import ModelError
from core.files import load
from core.mechanism import Mechanism
from core.model import Body, Frame, Joint, Mimic, Model, Pose
from tests.functions.consistent_states import model_of


def example(name):
    return load(next(entry.path for entry in resources.examples() if Path(entry.path).stem == name))


def test_the_puma_gives_its_own_table():
    model = example("puma560")
    own, values = model.chains[0].rows, model.values()
    for row, found in zip(own, fit(Mechanism(model)).rows, strict=True):
        given = [values.get(x, 0.0) if isinstance(x, str) and x in values else None for x in (row.a, row.d)]
        for amount, theirs in zip(given, (found.a, found.d), strict=True):
            assert amount is None or theirs == pytest.approx(amount, abs=1e-12)
    assert [round(math.degrees(r.alpha), 9) for r in fit(Mechanism(model)).rows] == [90, 0, -90, 90, -90, 0]


def test_the_panda_gives_its_modified_table():
    rows = fit(Mechanism(example("panda")), convention="modified").rows
    assert [round(r.d, 9) for r in rows[:5]] == [0.333, 0, 0.316, 0, 0.384]
    assert [abs(round(r.a, 9)) for r in rows] == [0, 0, 0, 0.0825, 0.0825, 0, 0.088]
    assert all(round(abs(math.degrees(r.alpha)), 9) in (0, 90) for r in rows)


def random_chain(seed):
    """Joints of random kinds and places; some axes parallel, some meeting."""
    rng = np.random.default_rng(seed)
    bodies, joints, before = [], [], "world"
    for i in range(6):
        axis = rng.normal(size=3) if rng.random() < 0.6 else np.eye(3)[rng.integers(3)]
        place = rng.normal(size=3) * (rng.random(3) < 0.7)
        turn = rng.choice([0.0, math.pi / 2, 0.3], size=3)
        bodies.append(Body(name=f"b{i}", mass=1.0))
        kind = str(rng.choice(["revolute", "revolute", "prismatic"]))
        a = Pose(position=tuple(place), rotation=tuple(turn))
        joints.append(Joint(name=f"j{i}", kind=kind, parent=before, child=f"b{i}", axis=tuple(axis), a=a))
        before = f"b{i}"
    tool = Frame(name="tool", parent=before, pose=Pose(position=(0.1, 0.2, 0.3), rotation=(0.4, 0.5, 0.6)))
    return Model(bodies=tuple(bodies), joints=tuple(joints), frames=(tool,))


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("seed", range(12))
def test_random_chains_fit_to_rounding_and_as_models_move_alike(seed, convention):
    model = random_chain(seed)
    found = fit(Mechanism(model), convention=convention)
    assert found.position < 1e-12
    assert found.rotation < 1e-12
    ours, theirs = Mechanism(Model(chains=(found.to_dh_chain(),))), Mechanism(model)
    q = theirs.random(3)
    np.testing.assert_allclose(ours.frame(q, "tool"), theirs.frame(q, "tool"), atol=1e-11)


def test_what_no_table_can_hold_is_named():
    ball = Model(bodies=(Body(name="b"),), joints=(Joint(name="ball", kind="spherical", parent="world", child="b"),))
    with pytest.raises(ModelError, match="spherical joint cannot be represented by a row") as error:
        fit(Mechanism(ball))
    assert error.value.where == "joint 'ball'"
    follower = Model(
        bodies=(Body(name="a"), Body(name="b")),
        joints=(
            Joint(name="one", parent="world", child="a"),
            Joint(name="two", parent="a", child="b", mimic=Mimic(leader="one")),
        ),
    )
    with pytest.raises(ModelError, match="is coupled to another"):
        fit(Mechanism(follower), "b")
    with pytest.raises(ModelError, match="closed loop"):
        fit(Mechanism(example("four_bar")))


@pytest.mark.parametrize("machine", ["rods", "gears"])
def test_joints_that_rods_or_gears_tie_have_no_table(machine):
    with pytest.raises(ModelError, match=r"coupled by constraint '(mesh|pusher)'"):
        fit(Mechanism(model_of(machine)), "tool")
