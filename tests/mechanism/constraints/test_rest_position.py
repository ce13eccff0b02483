"""Rest positions that joints state are kept; joints that state none are cut and move first; what is not met is told."""

from __future__ import annotations

import dataclasses
import re
from itertools import combinations

import numpy as np
import pytest

from core.constraints.mobility.findings import examine_mobility
from core.design import linkage
from core.files import check, load
from core.mechanics.multibody.topology import build_topology
from core.mechanism import Mechanism
from core.model import Body, Driver, Inertia, Joint, Model
from resources import examples
from tests.constraints.mobility import overconstrained
from tests.walks import walk

DRAWN = {"quick_return", "watt_six_bar", "stephenson_six_bar", "pantograph", "planetary_stage", "jansen_leg"}
"""Examples made by verbs of `core.design.linkage`."""
MACHINES = {
    "planar": (overconstrained.planar_fourbar, 0.9),
    "bennett": (overconstrained.bennett, 1.2),
    "bennett, far": (overconstrained.bennett, 2.5),
    "sarrus": (overconstrained.sarrus, 0.5),
    "bricard": (lambda: overconstrained.bricard_reference()[0], 0.8),
    "bricard, plane": (overconstrained.bricard_plane_symmetric, 0.4),
}
"""How it is made, and where its first joint stands in the pose whose coordinates are stated."""


def stating(model: Model, rests: dict[str, tuple[float, ...]]) -> Model:
    return dataclasses.replace(
        model,
        joints=tuple(dataclasses.replace(joint, rest=rests.get(joint.name, ())) for joint in model.joints),
    )


def closed_pose(name: str) -> tuple[Model, dict[str, float]]:
    """A machine, and the coordinates of all its joints at a closed pose away from zero."""
    build, lead = MACHINES[name]
    model = build()
    mech = Mechanism(model)
    q = mech.move(mech.neutral(), {mech.q_names[0]: lead})
    assert np.max(np.abs(mech.constraint_residual(q))) < 1e-8
    return model, {joint.name: float(mech.coordinate(q, joint.name)[0]) for joint in model.joints}


def apart(mech: Mechanism, joint: str, stated: float) -> float:
    """Angle between where a joint stands at rest and what it states."""
    return float(abs(np.angle(np.exp(1j * (mech.coordinate(mech.rest(), joint)[0] - stated)))))


@pytest.mark.parametrize("name", walk(MACHINES, quick=MACHINES.keys() - {"bricard, plane", "sarrus"}))
def test_what_some_joints_state_is_kept(name):
    """Of one joint, of pairs, of all but one: the machine has one freedom, and all are of one pose."""
    model, pose = closed_pose(name)
    names = list(pose)
    for some in [*combinations(names, 1), *combinations(names, 2), *combinations(names, len(names) - 1)]:
        mech = Mechanism(stating(model, {joint: (pose[joint],) for joint in some}))
        assert np.max(np.abs(mech.constraint_residual(mech.rest()))) < 1e-8
        for joint in some:
            assert apart(mech, joint, pose[joint]) < 1e-6, some
        assert not [
            each for each in examine_mobility(mech.compiled)[1] if (each.collection, each.field) == ("joints", "rest")
        ]


@pytest.mark.parametrize("name", ["planar", "bennett"])
def test_rest_positions_with_some_digits_are_nearly_kept(name):
    model, pose = closed_pose(name)
    for some in combinations(pose, 2):
        mech = Mechanism(stating(model, {joint: (round(pose[joint], 4),) for joint in some}))
        assert np.max(np.abs(mech.constraint_residual(mech.rest()))) < 1e-8
        assert max(apart(mech, joint, pose[joint]) for joint in some) < 0.01


def test_what_is_not_met_is_told_with_values_and_units():
    """Two angles of a four-bar that do not go together."""
    model, pose = closed_pose("planar")
    stated = {"J1": pose["J1"], "J2": pose["J2"] + 0.5}
    mech = Mechanism(stating(model, {joint: (value,) for joint, value in stated.items()}))
    found = {each.name: each for each in examine_mobility(mech.compiled)[1] if each.field == "rest"}
    moved = {joint: apart(mech, joint, value) for joint, value in stated.items()}
    assert set(found) == {joint for joint, way in moved.items() if way > 1e-3}
    assert max(moved.values()) > 0.05
    for joint, finding in found.items():
        assert finding.severity == "warning"
        assert finding.collection == "joints"
        assert f"{np.degrees(moved[joint]):.4g}° away" in finding.text
        assert f"{np.degrees(stated[joint]):.4g}°" in finding.text


def test_a_length_that_cannot_be_had_is_told_in_millimetres():
    model = stating(overconstrained.slider_crank(), {"J4": (2.0,), "J1": (0.1,)})
    mech = Mechanism(model)
    at = float(mech.coordinate(mech.rest(), "J4")[0])
    (finding,) = [each for each in examine_mobility(mech.compiled)[1] if each.name == "J4" and each.field == "rest"]
    assert "2000 mm" in finding.text
    assert (
        f"the nearest closed position found has {1000.0 * at:.4g} mm, {1000.0 * (2.0 - at):.4g} mm away" in finding.text
    )


def test_what_a_driver_moves_rests_where_it_says():
    model, _ = closed_pose("planar")
    driven = dataclasses.replace(
        stating(model, {"J1": (0.7,)}), drivers=(Driver(name="motor", joint="J1", function="0.2 + t"),)
    )
    mech = Mechanism(driven)
    assert mech.rest()[0] == pytest.approx(0.2, abs=1e-9)
    assert mech.rest(t=0.3)[0] == pytest.approx(0.5, abs=1e-9)


def test_of_like_joints_one_that_states_no_rest_position_is_cut():
    model, pose = closed_pose("planar")
    for free in pose:
        stated = {joint: (value,) for joint, value in pose.items() if joint != free}
        assert [joint.name for joint in build_topology(stating(model, stated)).cuts] == [free]
        chosen = stating(model, stated)
        wish = "J2" if free != "J2" else "J3"
        chosen = dataclasses.replace(
            chosen, joints=tuple(dataclasses.replace(j, cut="yes" if j.name == wish else "auto") for j in chosen.joints)
        )
        assert [joint.name for joint in build_topology(chosen).cuts] == [wish]


@pytest.mark.parametrize("example", [each.name for each in examples()])
def test_examples_rest_where_they_say(example):
    """No example states what cannot be had; which joints are cut does not hang on it, but where a linkage was drawn:
    there the pins that were drawn first state their rest."""
    model = load(next(each.path for each in examples() if each.name == example))
    assert not [
        each
        for each in (*check(model), *examine_mobility(Mechanism(model).compiled)[1])
        if (each.collection, each.field) == ("joints", "rest")
    ]
    if example not in DRAWN:
        plain = stating(model.expanded, {})
        assert [joint.name for joint in build_topology(plain).cuts] == [
            joint.name for joint in build_topology(model).cuts
        ]


@pytest.mark.parametrize(
    ("kind", "rest", "said"),
    [
        ("revolute", (1e4,), "10000 rad is implausible"),
        ("prismatic", (1e300,), "1e\\+300 m is implausible"),
        ("spherical", (0.0, 0.0, 0.0, 0.0), "quaternion of the reference position has length 0"),
        ("revolute", ("0/0",), "no finite value"),
        ("revolute", ("2*pi",), None),
    ],
)
def test_absurd_rest_positions_are_findings(kind, rest, said):
    joint = Joint(name="J", kind=kind, parent="world", child="b", rest=rest)
    found = [
        str(each) for each in check(Model(bodies=(Body(name="b", mass=1.0),), joints=(joint,))) if each.field == "rest"
    ]
    if said is None:
        assert found == []
    else:
        (text,) = found
        assert text.startswith(("warning: joint 'J', rest", "error: joint 'J', rest"))
        assert re.search(said, text)


def drawn_chain(count: int) -> Model:
    """Four-bars side by side, each drawn onto the last: the last pin of each states no rest position."""
    model = linkage.link(Model(name="chain"), [(0, 0), (0.03, 0.1), (0.2, 0.15), linkage.ground(0.2, 0)])
    for k in range(1, count):
        x = 0.2 + 0.15 * k
        model = linkage.link(model, [model.joints[-2].name, (x, 0.15), linkage.ground(x, 0.0)])
    return model


def test_what_is_stated_of_a_drawn_machine_is_its_rest_position_at_once(monkeypatch):
    """Nothing is sought, though joints of its tree state none: the bodies that the others place say where they are."""
    from core.constraints import named_positions

    monkeypatch.setattr(
        named_positions, "find_position_with_values", lambda *_: pytest.fail("The rest position was sought")
    )
    model = drawn_chain(5)
    mech = Mechanism(model)
    assert any(joint.rest for joint in mech.compiled.cuts)
    for joint in model.joints:
        if joint.rest:
            assert apart(mech, joint.name, joint.rest[0]) < 1e-9
    assert np.max(np.abs(mech.constraint_residual(mech.rest()))) < 1e-10


def test_machines_that_differ_in_where_they_rest_share_their_code_and_not_their_springs():
    """A joint's spring counts from its rest position: V = c (q - q0)²/2."""
    bar = Body(name="bar", mass=1.0)
    for stiffness in (0.0, 3.0):
        models = [
            Model(
                bodies=(bar,),
                joints=(Joint(name="A", parent="world", child="bar", rest=(rest,), stiffness=stiffness),),
            )
            for rest in (0.1, 0.4)
        ]
        one, other = (Mechanism(model) for model in models)
        assert (one.compiled.program is other.compiled.program) == (stiffness == 0.0)
        assert [one.rest()[0], other.rest()[0]] == [0.1, 0.4]
        for mech, rest in ((one, 0.1), (other, 0.4)):
            energy = mech.energy([1.0], [0.0]).potential
            assert energy == pytest.approx(0.5 * stiffness * (1.0 - rest) ** 2, abs=1e-12)


def test_a_hinge_between_parts_that_rest_upside_down_to_one_another_begins_at_zero():
    """Its angle has no value there: what closes best is taken, and told."""
    joints = (
        Joint(name="hinge", parent="world", child="part", axis=(0, 0, 1)),
        Joint(name="place", kind="free", parent="world", child="part", rest=(0, 0, 0, 1, 0, 0, 0)),
    )
    part = Body(name="part", mass=1.0, inertia=Inertia(ixx=0.01, iyy=0.01, izz=0.01))
    mech = Mechanism(Model(bodies=(part,), joints=joints))
    assert np.isfinite(mech.rest()).all()
