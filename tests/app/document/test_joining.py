"""Two points become a joint: what moves, what stays, and that the order of the points makes no difference."""

import dataclasses

import numpy as np
import pytest

from app.document.connection_draft import PickedItem, pick_new_frame
from app.document.joining import joining_outcomes, joint_gap_at_picks, smallest_rotation_between
from app.document.session import Session
from core.files import dumps, loads
from core.mechanism import Mechanism
from core.model import JOINT_KINDS, Body, Box, Inertia, Joint, Model, Pose
from core.model.edits import edits

KINDS = [kind for kind, info in JOINT_KINDS.items() if info.nv < 6]
PLACES = {
    "arm": (0.2, 0.0, 0.3),
    "part": (1.1, 0.02, 0.5),
    "light": (1.0, 1.0, 0.5),
    "world": (0.5, 0.5, 0.0),
    "rocker": (0.9, 0.0, 0.3),
}
"""Where bodies are pointed at, m, world."""


def machine(*more: Joint) -> Model:
    """An arm and a rocker on the ground, turning about −y; a free part of 2 kg, a free one of half a kilogram."""

    def body(name: str, mass: float) -> Body:
        inertia = Inertia(ixx=0.01, iyy=0.01, izz=0.01)
        return Body(name=name, mass=mass, shapes=(Box(size=(0.2, 0.1, 0.1)),), inertia=inertia)

    def pin(name: str, child: str, x: float) -> Joint:
        return Joint(name=name, parent="world", child=child, a=Pose(position=(x, 0, 0.3)), axis=(0, -1, 0))

    def free(child: str, *rest: float) -> Joint:
        return Joint(name=f"free_{child}", kind="free", parent="world", child=child, rest=rest)

    return Model(
        bodies=(body("arm", 1.0), body("rocker", 1.0), body("part", 2.0), body("light", 0.5)),
        joints=(
            pin("a", "arm", 0.0),
            pin("r", "rocker", 0.8),
            free("part", 1, 0, 0.5, 0, 0, 0, 1),
            free("light", 1, 1, 0.5, 0.1, 0, 0, 0.995),
            *more,
        ),
    )


def points(session: Session, *names: str) -> tuple[PickedItem, ...]:
    return tuple(pick_new_frame(session, name, np.array(PLACES[name])).as_body_pick for name in names)


def poses(session: Session) -> dict[str, np.ndarray]:
    return dict(zip(session.mech.frame_names, session.mech.poses(session.q), strict=True))


def taken(kind: str, outcome: str, *names: str) -> Session:
    session = Session(machine())
    found = next(each for each in joining_outcomes(session, kind, points(session, *names)) if each.id == outcome)
    assert found.apply_outcome(session)
    return session


@pytest.mark.parametrize("pair", [("arm", "part"), ("part", "light"), ("world", "light"), ("arm", "rocker")])
@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_the_points_makes_no_difference(kind: str, pair: tuple[str, str]) -> None:
    found = []
    for names in (pair, pair[::-1]):
        session = Session(machine())
        found.append(joining_outcomes(session, kind, points(session, *names)))
    assert [outcome.id for outcome in found[0]] == [outcome.id for outcome in found[1]] == ["assemble", "here", "apart"]
    for one, other in zip(*found, strict=True):
        first, second = (dict(zip(w.mech.frame_names, w.mech.poses(w.q), strict=True)) for w in (one, other))
        assert bool(one.open) == bool(other.open)
        for name in () if one.open else first.keys() | second.keys():
            np.testing.assert_allclose(first[name], second[name], atol=1e-6)
    assembled, mirrored = found[0][0], found[1][0]
    if not assembled.open:
        assert assembled.mech.mobility(assembled.q).dof == mirrored.mech.mobility(mirrored.q).dof


@pytest.mark.parametrize("kind", ["revolute", "spherical", "fixed", "universal"])
def test_what_is_free_comes_to_what_the_ground_holds(kind: str) -> None:
    before = poses(Session(machine()))
    session = taken(kind, "assemble", "part", "arm")
    for name in ("arm", "rocker", "light"):
        np.testing.assert_allclose(poses(session)[name], before[name], atol=1e-12)
    joint = session.model.joints[-1]
    a, b = session.mech.joint_poses(session.q)[joint.name]
    np.testing.assert_allclose(a[:3, 3], PLACES["arm"], atol=1e-6)
    np.testing.assert_allclose(b[:3, 3], PLACES["arm"], atol=1e-6)
    on_part = np.linalg.inv(before["part"]) @ np.array([*PLACES["part"], 1.0])
    np.testing.assert_allclose((poses(session)["part"] @ on_part)[:3], PLACES["arm"], atol=1e-6)


def test_of_two_free_parts_the_lighter_one_moves() -> None:
    before = poses(Session(machine()))
    after = poses(taken("revolute", "assemble", "light", "part"))
    np.testing.assert_allclose(after["part"], before["part"], atol=1e-12)
    assert not np.allclose(after["light"], before["light"])


def test_the_ground_itself_never_moves_and_always_carries() -> None:
    joint = taken("revolute", "assemble", "light", "world").model.joints[-1]
    assert (joint.parent, joint.child) == ("world", "light")


def test_two_parts_that_are_both_held_meet_as_their_joints_allow() -> None:
    """The ends of two cranks, 0.2 m and 0.1 m long, on pins 0.8 m apart cannot meet; those of longer ones do."""
    session = Session(machine())
    (assembled, *_) = joining_outcomes(session, "revolute", points(session, "arm", "rocker"))
    assert assembled.id == "assemble"
    assert "the gap is" in assembled.open
    near = Session(machine())
    picks = (
        pick_new_frame(near, "arm", np.array([0.5, 0.0, 0.3])).as_body_pick,
        pick_new_frame(near, "rocker", np.array([1.4, 0.0, 0.3])).as_body_pick,
    )  # 0.5 m and 0.6 m reach over 0.8 m
    (closed, *_) = joining_outcomes(near, "revolute", picks)
    assert not closed.open
    assert closed.apply_outcome(near)
    a, b = near.mech.joint_poses(near.q)[closed.joint]
    np.testing.assert_allclose(a[:3, 3], b[:3, 3], atol=1e-9)
    assert np.hypot(a[0, 3], a[2, 3] - 0.3) == pytest.approx(0.5, abs=1e-6)
    assert np.hypot(a[0, 3] - 0.8, a[2, 3] - 0.3) == pytest.approx(0.6, abs=1e-6)


@pytest.mark.parametrize("outcome", ["assemble", "here", "apart"])
def test_one_undo_step_restores_model_and_pose(outcome: str) -> None:
    session = Session(machine())
    q = session.q.copy()
    q[0] = 0.4
    session.pose("Bend", q)
    model, before = session.model, poses(session)
    found = next(
        each for each in joining_outcomes(session, "revolute", points(session, "part", "arm")) if each.id == outcome
    )
    assert found.apply_outcome(session)
    after = poses(session)
    session.undo()
    assert session.model == model
    for name, X in before.items():
        np.testing.assert_array_equal(poses(session)[name], X)
    session.redo()
    for name, X in after.items():
        np.testing.assert_allclose(poses(session)[name], X, atol=1e-12)


def test_left_apart_nothing_moves_until_something_does() -> None:
    before = poses(Session(machine()))
    session = taken("spherical", "apart", "arm", "part")
    for name, X in before.items():
        np.testing.assert_allclose(poses(session)[name], X, atol=1e-9)
    joint = session.model.joints[-1]
    a, b = session.mech.joint_poses(session.q)[joint.name]
    apart = np.linalg.norm(np.subtract(PLACES["arm"], PLACES["part"]))
    assert np.linalg.norm(a[:3, 3] - b[:3, 3]) == pytest.approx(apart, abs=1e-6)
    session.preview_coordinates({"a": 0.3})
    a, b = session.mech.joint_poses(session.q)[joint.name]
    np.testing.assert_allclose(a[:3, 3], b[:3, 3], atol=1e-6)


def test_what_was_assembled_opens_as_it_stood() -> None:
    session = taken("revolute", "assemble", "arm", "part")
    again = Mechanism(loads(dumps(session.model, "kst"), "kst"))
    there = dict(zip(again.frame_names, again.poses(again.rest()), strict=True))
    for name, X in poses(session).items():
        np.testing.assert_allclose(there[name], X, atol=1e-8)


def test_faces_meet_normal_against_normal_and_may_be_turned_round() -> None:
    """Two free parts, pointed at on faces that look along x and along z."""
    session = Session(edits.remove(edits.remove(machine(), "bodies", "arm"), "bodies", "rocker"))
    first, second = points(session, "part", "light")
    picks = (
        dataclasses.replace(first, normal=(1.0, 0.0, 0.0)),
        dataclasses.replace(second, normal=(0.0, 0.0, 1.0)),
    )
    for flipped, sign in ((False, -1.0), (True, 1.0)):
        assert joint_gap_at_picks(session, "revolute", picks, flipped).angle == pytest.approx(np.pi / 2)
        (outcome, *_) = joining_outcomes(session, "revolute", picks, flipped)
        poses_after = dict(zip(outcome.mech.frame_names, outcome.mech.poses(outcome.q), strict=True))
        turn = poses_after["light"][:3, :3] @ poses(session)["light"][:3, :3].T
        np.testing.assert_allclose(turn @ (0.0, 0.0, 1.0), (sign, 0.0, 0.0), atol=1e-9)


def test_points_at_one_place_with_one_direction_have_no_gap() -> None:
    session = Session(machine())
    place = np.array([1.0, 0.0, 0.5])
    picks = tuple(pick_new_frame(session, name, place).as_body_pick for name in ("part", "arm"))
    assert joint_gap_at_picks(session, "revolute", picks).is_closed
    slid = (
        pick_new_frame(session, "world", place).as_body_pick,
        pick_new_frame(session, "part", place + np.array([0.1, 0, 0])).as_body_pick,
    )
    assert joint_gap_at_picks(session, "prismatic", slid).is_closed


def test_the_smallest_turn_takes_one_direction_to_the_other() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        a, b = (v / np.linalg.norm(v) for v in rng.normal(size=(2, 3)))
        R = smallest_rotation_between(a, b)
        np.testing.assert_allclose(R @ a, b, atol=1e-12)
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
        assert np.trace(R) == pytest.approx(1.0 + 2.0 * float(a @ b), abs=1e-9)
    np.testing.assert_allclose(
        smallest_rotation_between(np.array([0, 0, 1.0]), np.array([0, 0, -1.0])) @ (0, 0, 1), (0, 0, -1)
    )


@pytest.mark.parametrize("order", [("loose", "light"), ("light", "loose")])
@pytest.mark.parametrize("mass", [0.1, 5.0])
def test_left_apart_a_body_that_no_joint_holds_stays_where_it_stands(order: tuple[str, str], mass: float) -> None:
    """Whichever of both is heavier: the other one has a free joint of its own."""
    model = machine()
    model = edits.add(model, dataclasses.replace(model.body("light"), name="loose", mass=mass))
    session = Session(model)
    session.pose("Move", session.q + 0.3 * np.eye(session.mech.nq)[session.mech.joint_q("loose").start])
    before = poses(session)
    places = {"light": (1.0, 1.0, 0.5), "loose": (0.3, 0.05, 0.0)}
    picks = tuple(pick_new_frame(session, name, np.array(places[name])).as_body_pick for name in order)
    apart = next(each for each in joining_outcomes(session, "universal", picks) if each.id == "apart")
    assert apart.apply_outcome(session)
    assert loads(dumps(session.model)) == session.model
    for name, X in poses(session).items():
        np.testing.assert_allclose(X, before[name], atol=1e-9)
