"""After an edit of the spanning tree the bodies stand where they stood."""

import dataclasses

import numpy as np
import pytest

from core.constraints.rest_position import has_same_tree, transfer_pose
from core.mechanism import Mechanism
from core.model import Body, Frame, Inertia, Joint, Limit, Model, Pose
from core.model.edits import edits
from tests.mechanism.random_machines import tree


def link(name):
    return Body(name=name, mass=1.0, inertia=Inertia(ixx=0.01, iyy=0.01, izz=0.01))


def chain(*kinds):
    """Bodies b1, b2 … in a row, each 0.3 m along x from the one before, on joints j1, j2 …"""
    bodies = tuple(link(f"b{i}") for i in range(1, len(kinds) + 1))
    joints = tuple(
        Joint(
            name=f"j{i}",
            kind=kind,
            parent=f"b{i - 1}" if i > 1 else "world",
            child=f"b{i}",
            a=Pose(position=(0.3 if i > 1 else 0.0, 0.0, 0.0)),
        )
        for i, kind in enumerate(kinds, 1)
    )
    return Model(name="row", bodies=bodies, joints=joints)


def standing(mech, q):
    return dict(zip(mech.frame_names, np.asarray(mech.poses(q)), strict=True))


def test_a_joint_that_closes_a_loop_moves_nothing_though_the_tree_is_another():
    old = Mechanism(chain("revolute", "revolute", "revolute"))
    q = np.array([1.7, -1.4, -1.4])
    tip = (Frame(name="tip", parent="b3", pose=Pose(position=(0.3, 0.0, 0.0))),)
    opened = Mechanism(dataclasses.replace(old.model, frames=tip))
    X = opened.frame(q, "tip")
    ground = Pose(position=tuple(X[:3, 3]), rotation=(0.0, 0.0, float(np.arctan2(X[1, 0], X[0, 0]))))
    new = Mechanism(edits.add(opened.model, Joint(name="j4", kind="revolute", parent="world", child="tip", a=ground)))
    assert not has_same_tree(opened.compiled, new.compiled)
    assert {loop.cut for loop in new.loops} != {"j4"}  # another joint is the cut one now: the case that matters
    found = transfer_pose(opened.compiled, q, new.compiled, {})
    for name, X_old in standing(opened, q).items():
        np.testing.assert_allclose(new.frame(found, name), X_old, atol=1e-9)
    assert np.linalg.norm(new.constraint_residual(found)) < 1e-9


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "cylindrical", "universal", "planar", "spherical", "screw"])
def test_a_body_that_loses_its_joint_stays_where_it_is(kind):
    old = Mechanism(chain("revolute", kind, "revolute"))
    q = old.random(3)
    new = Mechanism(edits.remove(old.model, "joints", "j2"))
    found = transfer_pose(old.compiled, q, new.compiled, {})
    for name, X_old in standing(old, q).items():
        np.testing.assert_allclose(new.frame(found, name), X_old, atol=1e-9)
    back = transfer_pose(new.compiled, found, old.compiled, {})  # the joint, given back, is measured between the bodies
    for name, X_old in standing(old, q).items():
        np.testing.assert_allclose(old.frame(back, name), X_old, atol=1e-9)


def test_coordinates_that_are_still_there_keep_their_values_beyond_a_turn():
    old = Mechanism(chain("revolute", "revolute"))
    q = np.array([9.0, -8.0])
    model = edits.add(old.model, link("loose"))
    new = Mechanism(model)
    found = transfer_pose(old.compiled, q, new.compiled, {})
    np.testing.assert_array_equal(found[new.joint_q("j1")], 9.0)
    np.testing.assert_array_equal(found[new.joint_q("j2")], -8.0)


def test_a_renamed_joint_keeps_its_value():
    old = Mechanism(chain("revolute", "prismatic"))
    new = Mechanism(edits.rename(old.model, "joints", "j2", "lift"))
    found = transfer_pose(old.compiled, np.array([0.4, 0.2]), new.compiled, {"j2": "lift"})
    np.testing.assert_array_equal(found, [0.4, 0.2])


@pytest.mark.parametrize("seed", range(6))
def test_joints_of_other_names_are_measured_between_the_bodies(seed):
    old = Mechanism(tree(seed))
    q = old.random(seed)
    joints = tuple(dataclasses.replace(joint, name=f"new_{joint.name}") for joint in old.model.joints)
    new = Mechanism(dataclasses.replace(old.model, joints=joints))
    found = transfer_pose(old.compiled, q, new.compiled, {})
    for name, X_old in standing(old, q).items():
        np.testing.assert_allclose(new.frame(found, name), X_old, atol=1e-8)


@pytest.mark.parametrize(
    ("lower", "upper", "rest", "angle"),
    [
        (3.0, 9.0, 3.0, 2.0 * np.pi - 1.0),  # nearest to the rest position, and inside only one turn on
        (-9.0, -3.0, -8.0, -1.0 - 2.0 * np.pi),
        (0.5, 6.0, 0.5, 2.0 * np.pi - 1.0),  # nearest is −1, beyond the lower limit
        (-6.0, -0.5, -5.0, -1.0),  # nearest is −1 − 2π, beyond it, too
    ],
)
def test_a_joint_given_back_stands_at_the_turn_that_its_limits_allow(lower, upper, rest, angle):
    """Measured between the bodies an angle is known up to whole turns: −1 rad here."""
    free = Mechanism(chain("free"))
    q = free.rest()
    q[3:] = 0.0, 0.0, np.sin(-0.5), np.cos(-0.5)
    limited = dataclasses.replace(
        chain("revolute").joints[0], limits=(Limit(lower=lower, upper=upper),), rest=(rest,), name="pin"
    )
    new = Mechanism(dataclasses.replace(free.model, joints=(limited,)))
    assert transfer_pose(free.compiled, q, new.compiled, {}) == pytest.approx([angle])


@pytest.mark.parametrize("kind", ["revolute", "cylindrical"])
def test_a_body_upside_down_to_its_new_joint_takes_the_rest_of_it(kind):
    """Where the axes are opposite, no angle about them leads from one frame to the other."""
    turned = Pose(rotation=(np.pi, 0.0, 0.0))
    free = Joint(name="free", kind="free", parent="world", child="b1", rest=(0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0))
    old = Mechanism(Model(bodies=(link("b1"),), joints=(free,)))
    new = Mechanism(
        Model(bodies=(link("b1"),), joints=(Joint(name="j", kind=kind, parent="world", child="b1", b=turned),))
    )
    np.testing.assert_array_equal(transfer_pose(old.compiled, old.rest(), new.compiled, {}), new.rest())
