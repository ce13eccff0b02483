"""Rings and arrows against the kernel's own motion of every joint kind."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from core.mechanics.multibody.number_reader import Numbers
from core.mechanism import Mechanism
from core.model import JOINT_KINDS, Body, Joint, Limit, Model, Pose
from tests.joints.made_up_kinds import Parabola
from viz.drawlist.draw_list import build_draw_list
from viz.drawlist.joint_handles import JointHandle
from viz.drawlist.joint_look import HandlePart, JointLook
from viz.drawlist.joints import find_look
from viz.drawlist.skeleton import Skeleton

PARTS = {
    "revolute": "t",
    "continuous": "t",
    "prismatic": "s",
    "screw": "t",
    "cylindrical": "ts",
    "universal": "tt",
    "planar": "sst",
    "spherical": "ttt",
    "free": "sssttt",
    "fixed": "",
}


@pytest.fixture
def parabola(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JOINT_KINDS, "_kinds", {**dict(JOINT_KINDS), Parabola.name: Parabola})


def machine(kind: str) -> tuple[Mechanism, JointHandle]:
    joint = Joint(
        name="j",
        kind=kind,
        parent="world",
        child="b",
        axis=(0.3, -0.5, 0.8),
        second_axis=(0.9, 0.4, 0.1),
        pitch=0.05,
        a=Pose(position=(0.2, 0.1, 0.5), rotation=(0.4, -0.3, 1.1)),
        b=Pose(position=(0.05, 0.02, -0.1), rotation=(0.2, 0.6, -0.4)),
    )
    model = Model(bodies=(Body(name="b", mass=1.0),), joints=(joint,))
    return Mechanism(model), JointHandle(Skeleton(model, {}), joint)


def frames(mech: Mechanism, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    a, b = mech.joint_poses(q)["j"]
    return np.asarray(a), np.asarray(b)


def random_pose(mech: Mechanism, seed: int = 4) -> np.ndarray:
    return mech.integrate(mech.neutral(), np.random.default_rng(seed).uniform(-0.9, 0.9, mech.nv), 1.0)


@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_every_kind_has_its_parts(kind: str) -> None:
    _, handle = machine(kind)
    assert "".join(part.kind[0] for part in handle.parts) == PARTS[kind]


@pytest.mark.parametrize("kind", [kind for kind in JOINT_KINDS if kind != "fixed"])
def test_a_part_shows_the_value_of_its_coordinate(kind: str) -> None:
    mech, handle = machine(kind)
    q = random_pose(mech)
    for part in handle.parts:
        spot = handle.part_position(part, *frames(mech, q))
        if part.coordinate is None:
            assert spot.value is None
        else:
            assert spot.value == pytest.approx(q[part.coordinate], abs=1e-9)


@pytest.mark.parametrize("kind", [kind for kind in JOINT_KINDS if kind != "fixed"])
def test_moving_along_a_part_moves_the_child_about_or_along_its_axis(kind: str) -> None:
    mech, handle = machine(kind)
    q, step = random_pose(mech), 1e-5
    a, b = frames(mech, q)
    for part in handle.parts:
        spot = handle.part_position(part, a, b)
        moved = moved_by(mech, q, part, step)
        _, after = frames(mech, moved)
        turn = Rotation.from_matrix(after[:3, :3] @ b[:3, :3].T).as_rotvec() / step
        slide = (after[:3, 3] - b[:3, 3]) / step
        if part.kind == "turn":
            assert turn == pytest.approx(spot.axis, abs=1e-4)
        else:
            assert turn == pytest.approx(np.zeros(3), abs=1e-6)
            assert slide == pytest.approx(spot.axis, abs=1e-4)


def moved_by(mech: Mechanism, q: np.ndarray, part: HandlePart, amount: float) -> np.ndarray:
    if part.coordinate is not None:
        moved = q.copy()
        moved[part.coordinate] += amount
        return moved
    v = np.zeros(mech.nv)
    v[part.speed] = 1.0
    return mech.integrate(q, v, amount)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "cylindrical", "universal", "planar"])
def test_zero_of_the_scale_is_where_the_value_is_zero(kind: str) -> None:
    mech, handle = machine(kind)
    q = random_pose(mech)
    for part in handle.parts:
        if part.kind == "slide":
            spot = handle.part_position(part, *frames(mech, q))
            rest = q.copy()
            rest[part.coordinate] = 0.0
            assert frames(mech, rest)[1][:3, 3] == pytest.approx(spot.zero, abs=1e-9)


@pytest.mark.parametrize("kind", [*JOINT_KINDS, Parabola.name])
def test_a_kind_without_a_look_is_handled_along_its_own_motion(kind: str, parabola: None) -> None:
    mech, handle = machine(kind)
    law, R_ac = Numbers({}).law(handle.joint)
    handles = JointLook().handles("j", law, np.array(R_ac, dtype=float))
    assert [each.part.speed for each in handles] == list(range(law.nv))
    q, step = random_pose(mech), 1e-5
    a, b = frames(mech, q)
    for each in handles:
        spot = each.part_position(a, b, q)
        v = np.zeros(mech.nv)
        v[each.part.speed] = 1.0
        after = frames(mech, mech.integrate(q, v, step))[1]
        turned = Rotation.from_matrix(after[:3, :3] @ b[:3, :3].T).as_rotvec() / step
        moved = turned if each.part.kind == "turn" else (after[:3, 3] - b[:3, 3]) / step
        assert moved / np.linalg.norm(moved) == pytest.approx(spot.axis, abs=1e-4)
        assert (turned == pytest.approx(np.zeros(3), abs=1e-6)) == (each.part.kind == "slide")
        if each.part.coordinate is not None:
            assert spot.value == pytest.approx(q[each.part.coordinate], abs=1e-9)


def test_a_kind_without_a_look_is_drawn_plainly(parabola: None) -> None:
    assert isinstance(find_look(Parabola), JointLook)
    assert type(find_look(Parabola)) is JointLook
    assert type(find_look(JOINT_KINDS["continuous"])) is type(find_look(JOINT_KINDS["revolute"])) is not JointLook
    mech, _ = machine("parabola")
    drawn = {item.id: item.frame for item in build_draw_list(mech.model)}
    assert drawn["joint/j/socket"] == "world"
    assert drawn["joint/j/block"] == "b"
    assert drawn["ground/j"] == "world"


def test_limits_belong_to_their_coordinates() -> None:
    limits = (Limit(lower=-1.0, upper=2.0), Limit(upper=0.3))
    joint = Joint(name="j", kind="cylindrical", parent="world", child="b", limits=limits)
    handle = JointHandle(Skeleton(Model(bodies=(Body(name="b"),), joints=(joint,)), {}), joint)
    turn, slide = handle.parts
    assert handle.limits[turn] == (-1.0, 2.0)
    assert handle.limits[slide] == (None, 0.3)


@pytest.mark.parametrize("kind", ["revolute", "cylindrical"])
def test_a_joint_that_is_open_and_upside_down_has_its_handle_where_frame_a_is(kind: str) -> None:
    """No angle about the axis leads from one frame to the other: the handle stands as at zero."""
    joint = Joint(name="j", kind=kind, parent="world", child="b")
    handle = JointHandle(Skeleton(Model(bodies=(Body(name="b", mass=1.0),), joints=(joint,)), {}), joint)
    for part in handle.parts:
        assert handle.part_position(part, np.eye(4), np.diag((1.0, -1.0, -1.0, 1.0))).value == 0.0
