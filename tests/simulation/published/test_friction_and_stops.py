"""Joints that stick, slide and meet their stops: published problems with closed forms, by several methods."""

import json

import numpy as np
import pytest

from core.errors import ModelError
from core.model import Body, Inertia, Joint, Limit, Model
from core.simulation import simulate
from tests.simulation.published.published_machines import FOLDER

METHODS = ("rk54", "rk853", "adams", "radau")
FINE = {"rtol": 1e-10, "atol": 1e-12}
LIGHT = Inertia(ixx=1e-3, iyy=1e-3, izz=1e-3)


def read(name):
    """A published problem."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def block(mass, name="block", joint="x", **fields):
    """(body, joint) of a block that slides along x."""
    slide = Joint(name=joint, kind="prismatic", parent="world", child=name, axis=(1.0, 0.0, 0.0), **fields)
    return Body(name=name, mass=mass, inertia=LIGHT), slide


def blocks(*pairs):
    """A machine of them."""
    return Model(name="blocks", bodies=tuple(body for body, _ in pairs), joints=tuple(joint for _, joint in pairs))


def rotor(moment, inertia, **fields):
    """An arm about y, hanging at 0, of the moment m l (kg·m) and the inertia about its pin."""
    length = 0.35
    mass = moment / length
    own = inertia - mass * length**2
    body = Body(name="arm", mass=mass, center_of_mass=(0.0, 0.0, -length), inertia=Inertia(ixx=own, iyy=own, izz=1e-3))
    pin = Joint(name="pin", kind="revolute", parent="world", child="arm", axis=(0.0, 1.0, 0.0), **fields)
    return Model(name="arm", bodies=(body,), joints=(pin,))


def compared(run, rows, atol):
    """Positions and speeds of the first coordinate beside reference rows (t, q, v, …)."""
    rows = np.array([row[:3] for row in rows])
    asked = samples_at(run, rows[:, 0])
    np.testing.assert_allclose(run.q[asked, 0], rows[:, 1], atol=atol)
    np.testing.assert_allclose(run.v[asked, 0], rows[:, 2], atol=100 * atol)


def samples_at(run, times):
    """The samples that were asked for, without those at changes of modes."""
    asked = np.searchsorted(run.time, times - 1e-9)
    np.testing.assert_allclose(run.time[asked], times, atol=1e-12)
    return asked


@pytest.mark.parametrize("method", METHODS)
def test_a_spring_with_dry_friction_comes_to_rest_where_it_must(method):
    data = read("fric_spring_mass_decay")
    p, rows = data["parameters"], data["reference"]["rows"]
    model = blocks(block(p["mass"], friction=p["kinetic_friction"], stiffness=p["stiffness"]))
    run = simulate(model, p["t_end"], method=method, q0=[p["x0"]], output=rows[1][0], **FINE)
    compared(run, rows, 1e-9)
    assert run.v[-1, 0] == 0.0
    assert abs(run.q[-1, 0] - data["reference"]["final_position"]) < 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_static_friction_above_kinetic_and_viscous(method):
    data = read("fric_revolute_dry_viscous")
    p, rows = data["parameters"], data["reference"]["rows"]
    model = rotor(
        1e-9,
        p["inertia"],
        friction=p["kinetic_friction"],
        static_friction=p["static_limit"],
        damping=p["viscous"],
        stiffness=p["stiffness"],
    )
    run = simulate(model, p["t_end"], method=method, q0=[p["phi0"]], output=rows[1][0], **FINE)
    compared(run, rows, 2e-8)  # the moment of the mass, 1e-9 kg·m, weighs 1e-8 N·m
    assert run.v[-1, 0] == 0.0


@pytest.mark.parametrize("method", METHODS)
def test_a_brake_stops_an_arm_and_holds_it(method):
    data = read("fric_brake_arm_hold")
    p, ref = data["parameters"], data["reference"]
    model = rotor(p["mass"] * p["l_com"], p["J_pivot"], friction=p["tau_kinetic"], static_friction=p["tau_static"])
    rows = ref["rows"]
    run = simulate(model, rows[-1][0], method=method, q0=[p["q0"]], v0=[p["qdot0"]], output=rows[1][0], **FINE)
    compared(run, rows, 1e-9)
    assert run.q[-1, 0] == pytest.approx(ref["stop_angle"], abs=1e-9)
    assert run.v[-1, 0] == 0.0


@pytest.mark.parametrize("method", METHODS)
def test_a_block_breaks_loose_and_stops(method):
    data = read("fric_ramped_block")
    p, rows = data["parameters"], data["reference"]["rows"]
    weight = p["mass"] * p["g"]
    model = blocks(block(p["mass"], friction=p["mu_kinetic"] * weight, static_friction=p["mu_static"] * weight))
    rate, peak = p["force_rate_N_per_s"], p["t_peak"]
    force = f"if(t < {peak}, {rate}*t, if(t < {2 * peak}, {rate}*({2 * peak} - t), 0))"
    run = simulate(model, p["t_end"], method=method, torque={"x": force}, output=rows[1][0], **FINE)
    compared(run, rows, 1e-7)
    assert run.v[-1, 0] == 0.0


@pytest.mark.parametrize("method", METHODS)
def test_two_blocks_on_a_driver_change_39_times(method):
    """Positions after all of them: an error of a switching time would show."""
    data = read("fric_two_blocks_driver")
    p, rows = data["parameters"], data["reference"]["rows"]
    pairs = zip(p["kinetic_friction"], p["static_limit"], strict=True)
    model = blocks(
        *(
            block(1.0, f"block{i}", f"x{i}", friction=kinetic, static_friction=static)
            for i, (kinetic, static) in enumerate(pairs, start=1)
        )
    )
    driver, between, speed = p["k_driver"][0], p["k_coupling"], p["driver_speed"]
    torque = {f"x{i}": f"{driver}*({speed}*t - x{i}) + {between}*(x{3 - i} - x{i})" for i in (1, 2)}
    run = simulate(model, p["t_end"], method=method, q0=p["x0"], torque=torque, output=rows[1][0], **FINE)
    expected = np.array([row[1:5] for row in rows])
    asked = samples_at(run, np.array([row[0] for row in rows]))
    np.testing.assert_allclose(run.q[asked], expected[:, :2], atol=1e-7)
    np.testing.assert_allclose(run.v[asked], expected[:, 2:], atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_stop_with_spring_and_damper(method):
    data = read("limit_slider_stop")
    p, rows = data["parameters"], data["reference"]["rows"]
    limit = Limit(upper=p["x_stop"], stiffness=p["k_stop"], damping=p["d_stop"])
    model = blocks(block(p["mass"], limits=(limit,)))
    run = simulate(model, p["t_end"], method=method, v0=[p["v0"]], torque=[p["force"]], output=rows[1][0], **FINE)
    compared(run, rows, 1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_a_pendulum_bounces_off_a_rigid_stop(method):
    data = read("limit_pendulum_bounce")
    p, impacts = data["parameters"], data["reference"]["restitution"]["rows"]
    limit = Limit(lower=p["q_stop"], stop="rigid", restitution=p["restitution"])
    model = rotor(p["mass_times_l_com"], p["J"], limits=(limit,))
    # just behind each impact the angle is what the speed after it has made of the time
    for t, _, after, _ in impacts:
        run = simulate(model, t + 1e-6, method=method, q0=[p["q0"]], output=t + 1e-6, **FINE)
        assert run.v[-1, 0] == pytest.approx(after, abs=1e-7)
        assert run.q[-1, 0] == pytest.approx(after * 1e-6, abs=1e-8)


@pytest.mark.parametrize("method", [*METHODS, "rk4"])
def test_bounces_that_accumulate_end_at_rest(method):
    data = read("limit_drop_zeno")
    p, ref = data["parameters"], data["reference"]
    limit = Limit(lower=0.0, stop="rigid", restitution=p["restitution"])
    model = blocks(block(1.0, limits=(limit,)))
    run = simulate(model, 4.0, method=method, q0=[p["h"]], torque=[-p["g"]], output=0.01, **FINE)
    resting = run.time > ref["T_inf"]
    np.testing.assert_allclose(run.q[resting, 0], 0.0, atol=1e-12)
    np.testing.assert_array_equal(run.v[resting, 0], 0.0)
    moving = (run.time > 2.0) & (run.time < ref["T_inf"] - 1e-5)
    assert np.abs(run.v[moving, 0]).min() > 0.0
    rest = run.events[-1]
    assert rest.what == "bounced to rest at lower stop"
    assert rest.time == pytest.approx(ref["T_inf"], abs=1e-5)


@pytest.mark.parametrize("method", [*METHODS, "rk4"])
def test_what_sticks_does_not_creep(method):
    model = blocks(block(1.0, friction=3.0))
    run = simulate(model, 1e3, method=method, torque=[2.999], output=100.0, step=0.05 if method == "rk4" else None)
    np.testing.assert_allclose(run.q, 0.0, atol=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_a_motor_gives_no_more_than_its_effort_and_no_more_speed_than_its_limit(method):
    model = blocks(block(2.0, limits=(Limit(velocity=3.0, effort=4.0),)))
    run = simulate(model, 2.0, method=method, torque=[10.0], output=0.5, **FINE)
    asked = samples_at(run, np.arange(5) * 0.5)
    np.testing.assert_allclose(run.v[asked, 0], [0.0, 1.0, 2.0, 3.0, 3.0], atol=1e-9)
    np.testing.assert_allclose(run.tau[:, 0], 4.0)


def test_limits_may_be_left_out():
    from dataclasses import replace

    model = blocks(block(1.0, limits=(Limit(upper=0.5, effort=1.0),)))
    ideal = replace(model, world=replace(model.world, limits="ideal"))
    run = simulate(ideal, 1.0, torque=[2.0], output=1.0)
    assert run.q[-1, 0] == pytest.approx(1.0)


def test_less_friction_at_rest_than_in_motion_is_refused():
    with pytest.raises(ModelError, match="static_friction"):
        simulate(blocks(block(1.0, friction=2.0, static_friction=1.0)), 1.0)
