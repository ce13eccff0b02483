"""Locked parts stay where they are: in drags, edits, connections and drawings; runs and undo are free of it."""

import numpy as np
import pytest

from app.document.connection_draft import PickedItem, pick_new_frame
from app.document.hand_freedom import explain_immovable_joint
from app.document.joining import joining_outcomes
from app.document.session import Session
from core.analysis.inverse_kinematics import move_frame_to_target
from core.design import linkage
from core.design.linkage import ground
from core.mechanism import Mechanism
from core.model import Body, Box, Inertia, Joint, Model
from core.model.edits import edits

SOLID = Inertia(ixx=0.01, iyy=0.01, izz=0.01)


def told(session):
    said = []
    session.message.connect(lambda severity, text: said.append((severity, text)))
    return said


@pytest.fixture
def arm():
    """Three links, each 0.3 m from pin to pin, bent."""
    model = linkage.link(Model(name="arm"), [(0.0, 0.0), (0.3, 0.0), (0.3, 0.3), (0.6, 0.3)])
    return Session(model)


@pytest.fixture
def four_bar():
    return Session(linkage.link(Model(name="four-bar"), [(0.0, 0.0), (0.04, 0.08), (0.2, 0.14), ground(0.24, 0.0)]))


def pose_of(session, body):
    return np.asarray(session.mech.frame(session.q, body, p=session.p))


def test_what_is_between_a_locked_part_and_the_ground_stands_what_is_beyond_moves(arm):
    arm.set_locked("link2", True)
    before = pose_of(arm, "link2")
    arm.preview_coordinates({"A": 0.5})
    arm.commit("Move A")
    assert pose_of(arm, "link2") == pytest.approx(before, abs=1e-12)
    arm.preview_coordinates({"C": arm.q[2] + 0.5})
    arm.commit("Move C")
    assert arm.undo_label == "Move C"
    assert pose_of(arm, "link2") == pytest.approx(before, abs=1e-12)
    assert "unlock link2" in explain_immovable_joint(arm, "A")
    assert explain_immovable_joint(arm, "C") == ""


def test_a_pull_on_what_hangs_on_a_locked_part_goes_on_without_it(arm):
    arm.set_locked("link2", True)
    tip = pose_of(arm, "link3") @ [0.3, 0.0, 0.0, 1.0]
    found = move_frame_to_target(
        arm.mech_with_locks, arm.q, "link3", tip[:3] + np.array((0.1, 0.0, 0.1)), point=(0.3, 0.0, 0.0)
    )
    assert found.q[:2] == pytest.approx(arm.q[:2], abs=1e-9)
    assert abs(found.q[2] - arm.q[2]) > 0.05


def test_an_edit_that_would_move_a_locked_part_is_refused_in_words_and_others_are_not(arm):
    said = told(arm)
    arm.set_locked("link2", True)
    model = arm.model
    assert not arm.apply("longer", lambda m: linkage.dimension(m, "l1", 0.4))
    assert arm.model is model
    assert said[-1][0] == "error"
    assert "“link2” is locked" in said[-1][1]
    assert not arm.apply("longer", lambda m: linkage.dimension(m, "l2", 0.4)), "its far pin would be elsewhere"
    assert arm.apply("longer", lambda m: linkage.dimension(m, "l3", 0.4))
    arm.set_locked("link2", False)
    assert arm.apply("longer", lambda m: linkage.dimension(m, "l1", 0.4))


def test_undo_takes_a_lock_back_and_a_renamed_part_stays_locked(arm):
    arm.set_locked("link2", True)
    arm.apply("Rename", lambda m: edits.rename(m, "bodies", "link2", "boom"))
    assert arm.locked_bodies == {"boom"}
    assert not arm.apply("longer", lambda m: linkage.dimension(m, "l1", 0.4))
    arm.undo()
    assert arm.locked_bodies == {"link2"}
    arm.undo()
    assert arm.locked_bodies == frozenset()
    arm.redo()
    assert arm.locked_bodies == {"link2"}
    assert not arm.is_unsaved, "a lock is no edit of the machine"
    arm.apply("Delete", lambda m: edits.remove(m, "bodies", "link3"))
    arm.apply("Delete", lambda m: edits.remove(m, "bodies", "link2"))
    assert arm.locked_bodies == frozenset()


def test_a_length_changes_about_a_locked_rocker(four_bar):
    """The crank, which stands else, turns: closed form of the two circles about the pins."""
    four_bar.set_locked("link3", True)
    before = pose_of(four_bar, "link3")
    assert four_bar.apply("l1", four_bar.edit_keeping_locks(lambda m: linkage.dimension(m, "l1", 0.1)))
    assert [joint.name for joint in four_bar.model.joints] == ["A", "B", "C", "D"]
    assert pose_of(four_bar, "link3") == pytest.approx(before, abs=1e-9)
    mech = Mechanism(four_bar.model)
    assert np.max(np.abs(mech.constraint_residual(mech.rest()))) < 1e-10
    pin = pose_of(four_bar, "link2")[:3, 3]
    assert np.linalg.norm(pin) == pytest.approx(0.1, abs=1e-9)
    assert np.linalg.norm(pin - [0.2, 0.0, 0.14]) == pytest.approx(four_bar.model.values()["l2"], abs=1e-9)


@pytest.mark.parametrize("first", [0, 1])
def test_assembling_moves_what_is_not_locked_whichever_was_meant_first(first):
    """The lighter of two free parts would come; locked it stays, and the heavier comes."""
    bodies, joints = [], []
    for k, mass in enumerate((1.0, 5.0)):
        bodies.append(Body(name=f"part{k}", mass=mass, inertia=SOLID, shapes=(Box(size=(0.2, 0.1, 0.06)),)))
        place = (0.5 * k, 0.1 * k, 0.3)
        joints.append(Joint(name=f"free{k}", kind="free", parent="world", child=f"part{k}", rest=(*place, 0, 0, 0, 1)))
    session = Session(Model(name="parts", bodies=tuple(bodies), joints=tuple(joints)))
    session.set_locked("part0", True)
    before = [pose_of(session, name) for name in ("part0", "part1")]
    picks: list[PickedItem] = [
        pick_new_frame(session, f"part{k}", before[k][:3, 3] + [0.0, 0.0, 0.03]).as_body_pick for k in (0, 1)
    ]
    picks = picks if first == 0 else picks[::-1]
    assembled = joining_outcomes(session, "revolute", tuple(picks))[0]
    assert (assembled.id, assembled.open) == ("assemble", "")
    assert assembled.apply_outcome(session)
    assert pose_of(session, "part0") == pytest.approx(before[0], abs=1e-9)
    assert np.abs(pose_of(session, "part1") - before[1]).max() > 0.1
    assert session.mech.mobility().dof == 7


def test_two_parts_that_are_held_meet_in_what_is_between(arm):
    """An arm of three links on the ground, its first link locked, comes to a pin on the ground with the others."""
    arm.set_locked("link1", True)
    before = pose_of(arm, "link1")
    tip = pick_new_frame(arm, "link3", (pose_of(arm, "link3") @ [0.3, 0.0, 0.0, 1.0])[:3]).as_body_pick
    goal = PickedItem("world", (0.5, 0.0, 0.35), direction=(0.0, -1.0, 0.0))
    made = joining_outcomes(arm, "revolute", (tip, goal))[0]
    assert (made.id, made.open) == ("assemble", "")
    assert made.apply_outcome(arm)
    assert pose_of(arm, "link1") == pytest.approx(before, abs=1e-9)
    assert (pose_of(arm, "link3") @ [0.3, 0.0, 0.0, 1.0])[:3] == pytest.approx((0.5, 0.0, 0.35), abs=1e-9)


@pytest.mark.parametrize("locked", ["loose", "link1", "link3"])
def test_hands_move_the_coordinates_of_the_machine_whatever_is_locked(four_bar, locked):
    """Also of bodies that no joint holds."""
    four_bar.apply("Add", lambda m: edits.add(m, Body(name="loose", mass=1.0, inertia=SOLID)))
    four_bar.set_locked(locked, True)
    assert four_bar.mech_with_locks.q_names == four_bar.mech.q_names
    q = four_bar.q + 0.1 * np.eye(four_bar.mech.nq)[four_bar.mech.joint_q("loose").start]
    four_bar.pose("Move", q)
    assert (pose_of(four_bar, "loose")[0, 3] > 0.05) == (locked != "loose")


def test_a_free_body_that_is_locked_stays_with_the_joint_that_it_has_not(tmp_path):
    session = Session(Model(name="one", bodies=(Body(name="part", mass=1.0, inertia=SOLID),)))
    session.set_locked("part", True)
    session.pose("Move", session.q + np.eye(session.mech.nq)[0])
    assert session.q[0] == 0.0
    session.save(tmp_path / "one.kst")
    assert "lock" not in (tmp_path / "one.kst").read_text(), "the file says only what the machine is"
