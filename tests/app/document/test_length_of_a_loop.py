"""The length of a link in a loop, changed wherever: what joints state of rest closes with it, and nothing is found."""

from dataclasses import replace

import numpy as np
import pytest

from app.document.link_lengths import LinkLength, resize_link
from app.document.session import Session
from core.design import linkage
from core.design.linkage import ground
from core.model import Model
from core.model.validation.model import check


def test_stated_rests_close_with_the_new_length_and_the_motor_begins_there():
    drawn = linkage.link(Model(name="four-bar"), [(0.0, 0.0), (0.04, 0.08), (0.2, 0.14), ground(0.24, 0.0)])
    session = Session(linkage.motor(drawn, "A"))
    assert session.apply("length", lambda _model: resize_link(session, "link2", LinkLength(0.19, "C")))
    model, mech = session.model, session.mech
    stands = {name: float(mech.coordinate(mech.rest(), name)[0]) for name in "ABC"}
    assert {name: float(model.joint(name).rest[0]) for name in "ABC"} == pytest.approx(stands, abs=1e-9)
    far = np.asarray(mech.joint_poses(mech.rest())["C"][0])[:3, 3]
    near = np.asarray(mech.joint_poses(mech.rest())["B"][0])[:3, 3]
    assert np.linalg.norm(far - near) == pytest.approx(0.19, abs=1e-9)
    assert near == pytest.approx((0.04, 0.0, 0.08), abs=1e-9), "the crank, which the motor holds, stays"
    assert model.joint("D").rest == ()
    assert check(model) == check(drawn)


def test_rests_that_did_not_close_before_are_left_as_they_were_stated():
    drawn = linkage.link(Model(name="four-bar"), [(0.0, 0.0), (0.04, 0.08), (0.2, 0.14), ground(0.24, 0.0)])
    odd = replace(drawn, joints=tuple(replace(j, rest=(0.3,)) if j.name == "C" else j for j in drawn.joints))
    session = Session(odd)
    assert session.apply("length", lambda _model: resize_link(session, "link2", LinkLength(0.19, "C")))
    assert [joint.rest for joint in session.model.joints] == [joint.rest for joint in odd.joints]
