"""Brakes and clutches: friction whose levels are formulas, by several methods, against closed forms."""

import dataclasses
import math

import numpy as np
import pytest

from core.errors import ModelError, SimulationError
from core.files import dumps, loads
from core.mechanism import Mechanism
from core.model import Body, Force, Inertia, Joint, Model
from core.simulation import simulate
from tests.simulation.published.test_friction_and_stops import FINE, METHODS, block, blocks, read, rotor, samples_at

MILLISECOND = {"method": "rk4", "step": 1e-3}
EVERY = [*({"method": method, **FINE} for method in METHODS), MILLISECOND]


def shaft(name, inertia):
    """(body, joint) of a shaft that turns about z."""
    turn = Joint(name=f"{name}_turn", kind="revolute", parent="world", child=name, axis=(0.0, 0.0, 1.0))
    return Body(name=name, mass=1.0, inertia=Inertia(ixx=inertia, iyy=inertia, izz=inertia)), turn


def coupled(first, second, **fields):
    """Two shafts of these inertias with a clutch between them."""
    clutch = Force(name="clutch", kind="clutch", joint="a_turn", leader="b_turn", **fields)
    return dataclasses.replace(blocks(shaft("a", first), shaft("b", second)), forces=(clutch,))


@pytest.mark.parametrize("settings", EVERY, ids=lambda each: each["method"])
def test_a_brake_that_is_applied_slowly_stops_a_block(settings):
    """F = 10 (t − 1) on 1 kg at 2 m/s: it stops √0.4 s after it began."""
    run = simulate(blocks(block(1.0, friction="10*max(t - 1, 0)")), 3.0, v0=[2.0], output=0.05, **settings)
    stopped = math.sqrt(0.4)
    assert run.q[-1, 0] == pytest.approx(2.0 + 2.0 * stopped - 10.0 * stopped**3 / 6.0, abs=1e-10)
    assert run.v[-1, 0] == 0.0


@pytest.mark.parametrize("settings", EVERY, ids=lambda each: each["method"])
def test_a_brake_that_fades_lets_go_when_it_must(settings):
    """F = 8 (1 − t/4) against 5 N holds 2 kg until 1.5 s; then a = (2 t − 3)/2."""
    run = simulate(blocks(block(2.0, friction="max(8*(1 - t/4), 0)")), 3.0, torque=[5.0], output=0.05, **settings)
    np.testing.assert_allclose(run.q[:, 0], np.maximum(run.time - 1.5, 0.0) ** 3 / 6.0, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_brake_that_is_released_lets_go_at_once(method):
    run = simulate(
        blocks(block(2.0, friction="if(t < 2, 8, 0)")), 3.0, method=method, torque=[5.0], output=0.05, **FINE
    )
    np.testing.assert_allclose(run.q[:, 0], 1.25 * np.maximum(run.time - 2.0, 0.0) ** 2, atol=2e-9)


@pytest.mark.parametrize("settings", EVERY, ids=lambda each: each["method"])
@pytest.mark.parametrize(
    ("friction", "load", "expected"),
    [("t", "2*t", 1 / 6), ("3*t", "2*t", 0.0), ("t", "0", 0.0), ("2*t", "1", 1 / 6), ("t^3", "t^2", 1 / 12 - 1 / 20)],
)
def test_friction_grows_from_nothing_at_rest(settings, friction, load, expected):
    """Against a load that grows faster, or slower, or is not there; on 1 kg, for a second."""
    run = simulate(blocks(block(1.0, friction=friction)), 1.0, torque={"x": load}, output=0.1, **settings)
    assert run.q[-1, 0] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_formulas_that_are_constant_are_numbers(method):
    data = read("fric_brake_arm_hold")
    p, ref = data["parameters"], data["reference"]
    model = rotor(p["mass"] * p["l_com"], p["J_pivot"], friction="11 + 0*t", static_friction="14 + 0*pin")
    run = simulate(model, 0.27, method=method, q0=[p["q0"]], v0=[p["qdot0"]], output=0.01, **FINE)
    assert run.q[-1, 0] == pytest.approx(ref["stop_angle"], abs=1e-9)
    assert run.v[-1, 0] == 0.0


@pytest.mark.parametrize("method", METHODS)
def test_friction_may_depend_on_the_place(method):
    """μ N grows with the way, F = k x: a block at v₀ stops at v₀ √(m/k), and stays."""
    run = simulate(blocks(block(4.0, friction="9*x")), 3.0, method=method, v0=[1.5], output=0.05, **FINE)
    assert run.q[-1, 0] == pytest.approx(1.5 * math.sqrt(4.0 / 9.0), abs=1e-9)
    assert run.v[-1, 0] == 0.0


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"friction": "1 - t"}, "friction is negative"),
        ({"friction": 4.0, "static_friction": "5 - t"}, r"static friction \(.*\) is less than kinetic friction \(4\)"),
    ],
)
def test_formulas_of_friction_without_meaning_are_named_with_the_time(fields, said):
    with pytest.raises(SimulationError, match=said) as caught:
        simulate(blocks(block(1.0, **fields)), 3.0, v0=[20.0], output=0.01)
    assert caught.value.where == "joint 'x', friction"
    assert caught.value.time == pytest.approx(1.0, abs=0.02)


def test_an_unknown_name_in_a_brake_is_told():
    with pytest.raises(ModelError, match="pedal"):
        simulate(blocks(block(1.0, friction="3*pedal")), 1.0)


def test_inverse_dynamics_counts_a_brake_at_its_time():
    mech = Mechanism(blocks(block(1.0, friction="10*t")))
    for t in (0.0, 0.5, 2.0):
        assert mech.inverse_dynamics([0.0], [1.0], [3.0], t=t) == pytest.approx([3.0 + 10.0 * t])


@pytest.mark.parametrize("method", METHODS)
def test_a_clutch_engages_locks_and_holds(method):
    data = read("fric_clutch_engage_slip")
    p, rows = data["parameters"], np.array(data["reference"]["rows"])
    normal = f"{p['cgeo_m']}*min({p['N_rate']}*t, {p['N_max']})"
    model = coupled(
        p["J1"], p["J2"], friction=f"{p['mu_kinetic']}*{normal}", static_friction=f"{p['mu_static']}*{normal}"
    )
    load = f"if(t < {p['t_step']}, {-p['load_torque']}, {-p['load_torque_after']})"
    torque = {"a_turn": p["motor_torque"], "b_turn": load}
    run = simulate(model, p["t_end"], method=method, v0=[100.0, 0.0], torque=torque, output=rows[1, 0], **FINE)
    np.testing.assert_allclose(run.v[samples_at(run, rows[:, 0])], rows[:, 1:3], atol=1e-7)
    locked = run.time > data["reference"]["lock_time"]
    np.testing.assert_allclose(run.v[locked, 0], run.v[locked, 1], atol=1e-7)
    # torques from outside alone change the momentum: the clutch engages without an impulse
    before = run.time <= p["t_step"]
    momentum = run.v[before] @ [p["J1"], p["J2"]]
    np.testing.assert_allclose(momentum, 100.0 * p["J1"] + 10.0 * run.time[before], atol=1e-7)


def test_a_clutch_by_fixed_steps():
    data = read("fric_clutch_engage_slip")
    p, rows = data["parameters"], np.array(data["reference"]["rows"])
    normal = f"{p['cgeo_m']}*min({p['N_rate']}*t, {p['N_max']})"
    model = coupled(p["J1"], p["J2"], friction=f"{p['mu_kinetic']}*{normal}")
    rows = rows[rows[:, 0] < p["t_step"]]
    torque = {"a_turn": p["motor_torque"], "b_turn": -p["load_torque"]}
    run = simulate(model, rows[-1, 0], method="rk4", step=5e-4, v0=[100.0, 0.0], torque=torque, output=rows[1, 0])
    np.testing.assert_allclose(run.v[samples_at(run, rows[:, 0])], rows[:, 1:3], atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_clutch_with_a_ratio_engages_to_the_speeds_that_momentum_asks(method):
    """Λ on one shaft is −ratio Λ on the other; nothing else acts. J₁ ratio ω₁ + J₂ ω₂ stays, ω₁ = ratio ω₂ at last."""
    first, second, ratio = 0.4, 0.9, -2.5
    run = simulate(coupled(first, second, friction=6.0, ratio=ratio), 20.0, method=method, v0=[30.0, 4.0], **FINE)
    total = first * ratio * 30.0 + second * 4.0
    end = total / (first * ratio**2 + second)
    np.testing.assert_allclose(run.v[-1], [ratio * end, end], atol=1e-9)


def test_a_clutch_on_a_joint_that_closes_a_loop():
    """Two shafts, one of them closed by a gear with a third: with the inertia of both behind the clutch."""
    from core.model import Constraint

    pairs = (shaft("a", 0.5), shaft("b", 0.3), shaft("c", 0.2))
    gear = Constraint(name="gear", kind="gear", joint="c_turn", leader="b_turn", ratio=2.0)
    clutch = Force(name="clutch", kind="clutch", joint="a_turn", leader="c_turn", friction=3.0)
    model = dataclasses.replace(blocks(*pairs), constraints=(gear,), forces=(clutch,))
    run = simulate(model, 10.0, v0=[10.0, 0.0, 0.0], **FINE)
    # behind c: J = 0.2 + 0.3/4
    end = 5.0 / (0.5 + 0.2 + 0.3 / 4.0)
    np.testing.assert_allclose(run.v[-1], [end, 0.5 * end, end], atol=1e-8)


def test_a_clutch_between_one_and_the_same_joint_is_refused():
    with pytest.raises(ModelError, match="are the same joint"):
        Force(name="c", kind="clutch", joint="a_turn", leader="a_turn")
    with pytest.raises(ModelError, match="The other joint .* is missing"):
        Force(name="c", kind="clutch", joint="a_turn")


def test_clutches_and_brakes_are_kept_in_files():
    model = coupled(0.4, 0.9, friction="min(60*t, 90)", static_friction="min(72*t, 108)", ratio="1/3")
    assert loads(dumps(model)) == model
    braked = blocks(block(1.0, friction="2*x.v^2", static_friction=None))
    assert loads(dumps(braked)) == braked


@pytest.mark.parametrize("method", METHODS)
def test_signs_in_formulas_are_the_friction_of_joints(method):
    """Two blocks joined by a spring, both stick and slide: one by its joint's friction, the other by −F sign(v)."""

    def runs(by_sign):
        fields, own = ({}, " - 3*sign(y.v)") if by_sign else ({"friction": 3.0}, "")
        model = Model(
            name="two",
            bodies=tuple(block(1.0, name)[0] for name in ("a", "b")),
            joints=(block(1.0, "a", "x", friction=3.0)[1], block(1.0, "b", "y", **fields)[1]),
        )
        torque = {"x": "6*sin(2*t) + 4*(y - x)", "y": f"1 - 4*(y - x){own}"}
        return simulate(model, 8.0, method=method, torque=torque, output=0.05, **FINE)

    by_friction, by_sign = runs(False), runs(True)
    assert (by_friction.v[:, 1] == 0.0).any()
    assert np.abs(by_friction.v[:, 1]).max() > 0.5
    asked = np.arange(161) * 0.05
    one, other = samples_at(by_sign, asked), samples_at(by_friction, asked)
    np.testing.assert_allclose(by_sign.q[one], by_friction.q[other], atol=1e-9)
    np.testing.assert_allclose(by_sign.v[one], by_friction.v[other], atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_clutch_that_turns_with_its_shafts_slips_when_the_load_jumps(method):
    """Locked at 50 rad/s under 20 N·m; from 3 s on −400 N·m on the second shaft, of which the clutch carries 90."""
    model = coupled(0.4, 0.9, friction=90.0)
    torque = {"a_turn": 20.0, "b_turn": "if(t < 3, -20, -400)"}
    run = simulate(model, 3.2, method=method, v0=[50.0, 50.0], torque=torque, output=0.1, **FINE)
    after = np.maximum(run.time - 3.0, 0.0)
    np.testing.assert_allclose(run.v[:, 0], 50.0 + (20.0 - 90.0) / 0.4 * after, atol=1e-8)
    np.testing.assert_allclose(run.v[:, 1], 50.0 + (90.0 - 400.0) / 0.9 * after, atol=1e-8)


def test_modes_of_a_brake_are_told():
    run = simulate(blocks(block(1.0, friction="10*max(t - 1, 0)")), 3.0, v0=[2.0], output=0.1, **FINE)
    mode = run["x.friction.mode"]
    assert mode[run.time < 0.95].tolist() == ["free"] * int((run.time < 0.95).sum())
    assert mode[-1] == "stick"
    np.testing.assert_allclose(
        run["x.friction.force"][(run.time > 1.05) & (run.time < 1.6)],
        -10.0 * (run.time[(run.time > 1.05) & (run.time < 1.6)] - 1.0),
        atol=1e-9,
    )
