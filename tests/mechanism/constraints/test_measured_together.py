"""Coordinates of joints that close loops: those that their motion has, measured all together."""

import numpy as np
import pytest

from core.constraints import cut_coordinates
from core.files import load
from core.mechanism import Mechanism
from resources import examples

LOOPS = ("four_bar", "engine_v6", "stewart", "macpherson", "squeezer", "bricard", "shaker_bodies")


@pytest.mark.parametrize("path", [each.path for each in examples() if each.name in LOOPS], ids=lambda path: path.stem)
def test_coordinates_are_those_of_the_motion(path):
    mech = Mechanism(load(path))
    q = np.array([mech.rest(), mech.move(mech.rest(), {mech.q_names[0]: mech.rest()[0] + 0.1})])
    still = np.zeros((2, mech.nv))
    cuts = [cut.name for cut in mech.compiled.cuts if cut_coordinates.closes_loop(mech.compiled, cut.name)]
    assert cuts
    for name in cuts:
        measured = cut_coordinates.cut_joint_motion(mech.compiled, name, q, still, still).q
        np.testing.assert_allclose(mech.coordinate(q, name), measured, atol=1e-12)
        np.testing.assert_allclose(mech.coordinate(q[0], name), measured[0], atol=1e-12)


def test_what_functions_have_in_common_is_traced_once(monkeypatch):
    from core.mechanics import kinematic_state

    path = next(each.path for each in examples() if each.name == "engine_v6")
    mech, counted = Mechanism(load(path)), []
    q, original = mech.rest(), kinematic_state.link_poses
    monkeypatch.setattr(kinematic_state, "link_poses", lambda *args: counted.append(1) or original(*args))
    mech.poses(q)
    mech.joint_poses(q)
    mech.coordinate(q, mech.compiled.cuts[0].name)
    assert not counted
