"""Runs of machines with controllers, against closed forms of their closed loops and against independent solvers."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinetostat as ks
from core.errors import ModelError
from core.files.named import load

J = 0.5 * 0.4**2 + 0.01
"""Inertia of the rotor about its axis, kg·m²."""


def rotor(*signals, **more):
    """Body on a vertical revolute joint `axis`, with a mass off the axis: a double integrator with inertia J."""
    body = ks.Body(
        name="arm", mass=0.5, center_of_mass=(0.4, 0.0, 0.0), inertia=ks.Inertia(izz=0.01, ixx=0.01, iyy=0.01)
    )
    joint = ks.Joint(name="axis", kind="revolute", parent="world", child="arm", **more)
    return ks.Model(name="rotor", bodies=(body,), joints=(joint,), signals=signals)


def controller(kind, row=(), **fields):
    return ks.Signal(name="c", kind=kind, joints=(ks.ControlledJoint(joint="axis", **dict(row)),), **fields)


@pytest.mark.parametrize("method", ["rk54", "radau", "rk4"])
def test_pd_makes_a_second_order_system(method):
    """With kp = J w², kd = 2 D w J the angle obeys x'' + 2 D w x' + w² x = w² r."""
    w, D, r = 8.0, 0.3, 0.7
    pd = controller("pd", {"reference": r}, kp=J * w * w, kd=2 * D * w * J)
    run = ks.simulate(rotor(pd), 1.0, method=method, output=0.05, rtol=1e-10, atol=1e-12)
    t, wd = run.time, w * np.sqrt(1 - D * D)
    x = r - r * np.exp(-D * w * t) * (np.cos(wd * t) + D * w / wd * np.sin(wd * t))
    assert np.allclose(run["axis.q"], x, atol=1e-8)
    assert np.allclose(run["c.axis.error"], r - x, atol=1e-8)
    assert np.allclose(run["c.axis.tau"], J * run["axis.a"], atol=1e-8)


def test_pid_integrates_the_error_away_and_follows_a_limit():
    """Against SciPy's solution of the same equations, with back-calculation where the torque is limited."""
    kp, ki, kd, most, r = 4.0, 6.0, 1.0, 0.5, 1.0
    pid = controller("pid", {"reference": r, "limit": most}, kp=kp, ki=ki, kd=kd)
    run = ks.simulate(rotor(pid), 3.0, output=0.1, rtol=1e-9, atol=1e-11)

    def rates(_, y):
        q, v, integral = y
        u = kp * (r - q) - kd * v + integral
        tau = np.clip(u, -most, most)
        return [v, tau / J, ki * (r - q) + (tau - u) * ki / kp]

    y = solve_ivp(rates, (0, 3), [0, 0, 0], t_eval=run.time, rtol=1e-10, atol=1e-12, max_step=1e-3).y
    assert np.allclose(run["axis.q"], y[0], atol=1e-7)
    assert np.allclose(run["c.axis.integral"], y[2], atol=1e-6)
    assert run["c.axis.saturated"][0] == 1.0
    assert run["c.axis.saturated"][-1] == 0.0


def test_the_effort_limit_of_the_joint_is_kept():
    pd = controller("pd", {"reference": 1.0}, kp=100.0, kd=1.0)
    run = ks.simulate(rotor(pd, limits=(ks.Limit(effort=2.0),)), 0.05, output=0.01)
    assert np.max(np.abs(run["c.axis.tau"])) == 2.0
    assert run["axis.a"][0] == pytest.approx(2.0 / J)


def test_computed_torque_places_the_poles_of_every_joint():
    """On an arm that follows a motion: the errors decay as e^(-λt)(1 + λt) with both poles at −λ."""
    model = load("ur5")
    joints = tuple(ks.ControlledJoint(joint=joint.name) for joint in model.expanded.joints if joint.kind == "revolute")
    law = ks.Signal(name="c", kind="computed_torque", motion="pick", joints=joints, kp=225.0, kd=30.0)
    motion = ks.plan(ks.Mechanism(model), "pick")
    run = ks.simulate(
        replace(model, signals=(law,)), 0.5, q0=motion.at(0.0)[0] + 0.01, output=0.02, rtol=1e-9, atol=1e-11
    )
    decay = -0.01 * np.exp(-15.0 * run.time) * (1.0 + 15.0 * run.time)
    for joint in joints:
        assert np.allclose(run[f"c.{joint.joint}.error"], decay, atol=1e-6)


def test_formulas_reproduce_the_kinds():
    """The same PD law with gravity as formulas, and computed torque by entries of the mass matrix, on two links."""
    model = load("double_pendulum")
    joints = [joint.name for joint in model.expanded.joints if joint.info.nv]
    wanted = {"reference": "0.3*sin(2*t)"}
    rows = tuple(ks.ControlledJoint(joint=joint, **wanted) for joint in joints)
    kinds = ks.Signal(name="c", kind="pd", joints=rows, kp=30.0, kd=5.0, gravity=True)
    text = "30*(ref.{0}.q - {0}) + 5*(ref.{0}.v - {0}.v) + gravity.{0}"
    by_text = tuple(ks.ControlledJoint(joint=joint, force=text.format(joint), **wanted) for joint in joints)
    formulas = ks.Signal(name="c", kind="formulas", joints=by_text)
    one, other = (ks.simulate(replace(model, signals=(each,)), 1.0, output=0.1) for each in (kinds, formulas))
    assert np.allclose(one.q, other.q, atol=1e-12)


def test_blocks_give_their_closed_forms():
    def settings(**numbers):
        return tuple(ks.Setting(parameter=name, value=value) for name, value in numbers.items())

    signals = (
        ks.Signal(name="lag", kind="first_order", input="2", settings=settings(gain=3.0, time_constant=0.5)),
        ks.Signal(name="tf", kind="transfer_function", input="1", numerator=(1.0, 3.0), denominator=(1.0, 3.0, 2.0)),
        ks.Signal(name="late", kind="delay", input="sin(3*t)", delay=0.2, initial="steady"),
        ks.Signal(name="level", kind="lookup", input="t", points=([0.0, 1.0], [0.5, 3.0], [1.0, 2.0])),
        ks.Signal(name="pulses", kind="pulse", settings=settings(cycle=0.4, share=0.25)),
        ks.Signal(name="total", kind="integrator", input="pulses"),
    )
    run = ks.simulate(rotor(*signals), 2.0, output=0.05, rtol=1e-10, atol=1e-12)
    t = run.time
    assert np.allclose(run["lag"], 6.0 * (1.0 - np.exp(-t / 0.5)), atol=1e-8)
    assert np.allclose(run["tf"], 1.5 - 2.0 * np.exp(-t) + 0.5 * np.exp(-2.0 * t), atol=1e-8)  # (s+3)/(s+1)(s+2)/s
    assert np.allclose(run["late"][t > 1.0], np.sin(3.0 * (t[t > 1.0] - 0.2)), atol=1e-6)
    assert np.allclose(run["level"], np.interp(t, [0.0, 0.5, 1.0], [1.0, 3.0, 2.0]), atol=1e-12)
    assert np.allclose(
        run["total"], 0.1 * np.floor(t / 0.4 + 1e-9) + np.minimum(t - 0.4 * np.floor(t / 0.4 + 1e-9), 0.1), atol=1e-8
    )


def test_wrong_signals_are_refused():
    with pytest.raises(ModelError, match=r"a → b → a"):
        rotor(ks.Signal(name="a", input="b + 1"), ks.Signal(name="b", input="2*a")).validate()
    rotor(ks.Signal(name="a", input="b"), ks.Signal(name="b", kind="integrator", input="a")).validate()  # has a state
    twice = controller("pd")
    with pytest.raises(ModelError, match="Two controllers act in 'axis'"):
        rotor(twice, replace(twice, name="d")).validate()
    with pytest.raises(ModelError, match="'nothing' is not defined"):
        rotor(ks.Signal(name="a", input="nothing")).validate()
    with pytest.raises(ModelError, match="There is no motion 'pick'"):
        rotor(controller("pd", motion="pick")).validate()
    with pytest.raises(ModelError, match="degree of the numerator"):
        rotor(
            ks.Signal(name="a", kind="transfer_function", numerator=(1.0, 0.0, 0.0), denominator=(1.0, 1.0))
        ).validate()
