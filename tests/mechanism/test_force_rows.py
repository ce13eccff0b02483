"""Jacobian by forces: rows found joint by joint from unit wrenches equal the columns of speeds."""

import numpy as np
import pytest

from core.errors import ModelError
from core.files import load
from core.mechanism import Mechanism
from resources import EXAMPLES


@pytest.mark.parametrize("name", ["ur5", "panda", "joint_kinds", "dual_arm"])
def test_rows_equal_columns(name):
    """Every frame of trees, with joints of several freedoms and joints that follow others, at several states."""
    mech = Mechanism(load(EXAMPLES / f"{name}.kst"))
    q = np.array([mech.random(np.random.default_rng(k)) for k in range(3)])
    for frame in mech.frame_names:
        np.testing.assert_allclose(mech.jacobian(q, frame, by="force"), mech.jacobian(q, frame), atol=1e-12)


def test_points_axes_and_parts():
    """The transmission from one frame to another, at a point, in other axes."""
    mech = Mechanism(load(EXAMPLES / "ur5.kst"))
    q = mech.random(np.random.default_rng(7))
    inner = next(branch.outer for branch in mech.compiled.topology.branches if branch.joint.name == "joint2")
    options = {"point": (0.1, -0.2, 0.3), "reference": "tool", "axes": inner, "relative_to": inner}
    by_speed = mech.jacobian(q, "tool", **options)
    np.testing.assert_allclose(mech.jacobian(q, "tool", by="force", **options), by_speed, atol=1e-13)
    one = mech.jacobian(q, "tool", actuators=["joint2"], by="force")
    np.testing.assert_allclose(one, mech.jacobian(q, "tool", actuators=["joint2"]), atol=1e-13)


def test_actuators_of_a_platform():
    """Forces at six legs that balance unit wrenches on a platform, against speeds through closed loops."""
    mech = Mechanism(load(EXAMPLES / "stewart.kst"))
    legs = [f"leg{k}.slide" for k in range(1, 7)]
    q = mech.assemble(mech.rest())
    by_speed = mech.jacobian(q, "platform", actuators=legs)
    np.testing.assert_allclose(mech.jacobian(q, "platform", actuators=legs, by="force"), by_speed, atol=1e-9)


def test_unknown_way():
    """Neither speeds nor forces."""
    mech = Mechanism(load(EXAMPLES / "ur5.kst"))
    with pytest.raises(ModelError, match='"speed" or "force"'):
        mech.jacobian(mech.rest(), "tool", by="power")
