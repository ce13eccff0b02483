"""Friction and limits of MJCF mean what they mean to MuJoCo: which way, how much at most, from which angle on."""

import numpy as np
import pytest

from core.constraints.elastic_stops import find_compressed_stops
from core.constraints.joint_modes import build_joint_row_table
from core.constraints.joint_rows import evaluate_joint_rows
from core.files import loads
from core.mechanism import Mechanism

mujoco = pytest.importorskip("mujoco")

BALL = '<geom size="0.1" pos="0.2 0.1 0" mass="1"/>'


def machine(joint):
    """A body on one joint, without weight, as text."""
    return f'<mujoco><option gravity="0 0 0"/><worldbody><body><joint {joint}/>{BALL}</body></worldbody></mujoco>'


def both(joint):
    """(our mechanism, MuJoCo's model, its data)."""
    text = machine(joint)
    model = mujoco.MjModel.from_xml_string(text)
    return Mechanism(loads(text, "mjcf")), model, mujoco.MjData(model)


@pytest.mark.parametrize("kind", ["hinge", "slide", "ball"])
@pytest.mark.parametrize("push", [2.0, -2.0, 50.0, -50.0])
def test_friction_at_rest_acts_against_the_push_up_to_the_same_bound(kind, push):
    """Below it MuJoCo's friction takes nearly all of the push (it is soft), above it just the bound."""
    mech, model, data = both(f'type="{kind}" axis="0 1 0" frictionloss="3"')
    data.qfrc_applied[0] = push
    mujoco.mj_forward(model, data)
    theirs = data.qfrc_constraint[0]
    still = np.zeros(mech.nv)
    found = mech.inverse_dynamics_ranges(mech.neutral(), still, still)
    assert (found.tau_min[0], found.tau_max[0]) == pytest.approx((-3.0, 3.0))
    if abs(push) > 3.0:
        assert theirs == pytest.approx(-np.sign(push) * found.tau_max[0], rel=1e-6)
    else:
        assert 0.85 < -theirs / push < 1.0


@pytest.mark.parametrize("speed", [1.5, -1.5])
def test_friction_of_sliding_has_their_direction_and_size(speed):
    mech, model, data = both('type="hinge" axis="0 1 0" frictionloss="3"')
    data.qvel[0] = speed
    mujoco.mj_forward(model, data)
    a = mech.forward_dynamics([0.0], [speed], [0.0])
    free = mech.forward_dynamics([0.0], [speed], [0.0], passive=False)
    ours = (mech.mass_matrix([0.0]) @ (a - free))[0]
    assert ours == pytest.approx(data.qfrc_constraint[0], rel=1e-6)


LIMITED = {
    "both": 'type="slide" axis="1 0 0" range="-0.2 0.5"',
    "degrees": 'type="hinge" axis="0 1 0" range="-20 30"',
    "counted from a reference": 'type="hinge" axis="0 1 0" range="-20 30" ref="10"',
    "off": 'type="hinge" axis="0 1 0" range="-20 30" limited="false"',
}


@pytest.mark.parametrize("case", LIMITED)
def test_limits_act_at_the_same_coordinates_in_the_same_direction(case):
    mech, model, data = both(LIMITED[case])
    modes = build_joint_row_table(mech.compiled, mech.compiled.parameter_values(None))
    for angle in np.linspace(-0.6, 0.7, 27):
        data.qpos[0], data.qvel[0] = angle, 0.0
        mujoco.mj_forward(model, data)
        at = evaluate_joint_rows(mech.compiled, modes, np.array([angle]))
        sides = [-side for _, side in find_compressed_stops(at)]
        assert sides == [int(s) for s in np.sign(data.qfrc_constraint) if s]


def test_what_all_motors_of_a_joint_may_give_is_its_effort():
    mech, model, _ = both('type="hinge" axis="0 1 0" actuatorfrcrange="-4 4" range="-20 30"')
    (limit,) = mech.model.joints[0].limits
    assert (limit.effort, limit.upper) == (model.jnt_actfrcrange[0, 1], pytest.approx(np.deg2rad(30.0)))
    reading = loads(machine('type="hinge" actuatorfrcrange="-4 7"'), "mjcf")
    assert reading.joints[0].limits[0].effort == 7.0
    off = loads(machine('type="hinge" actuatorfrcrange="-4 4" actuatorfrclimited="false"'), "mjcf")
    assert off.joints[0].limits == ()
