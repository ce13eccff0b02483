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


SAMPLED = {"kp": 20.0, "kd": 1.5}
TIME_CONSTANT = ks.Setting(parameter="time_constant", value=0.2)


def sampled_by_hand(T, kp, kd, delay, duration, r=0.5):
    """Exact motion of the rotor under a sampled PD law, whose torque is held: (times, angle, torque) at samples."""
    from collections import deque

    q = v = tau = 0.0
    waiting, t, k, rows = deque(), 0.0, 0, []
    while True:
        if abs(t - k * T) < 1e-12:
            waiting.append((t + delay, kp * (r - q) - kd * v))
            k += 1
        while waiting and waiting[0][0] <= t + 1e-12:
            tau = waiting.popleft()[1]
        rows.append((t, q, tau))
        if t >= duration - 1e-12:
            return np.array(rows).T
        h = min([k * T, *(each[0] for each in waiting)]) - t
        q, v = q + h * v + 0.5 * h * h * tau / J, v + h * tau / J
        t += h


@pytest.mark.parametrize(("method", "delay"), [("rk54", 0.0), ("rk54", 0.03), ("rk4", 0.012), ("radau", 0.012)])
def test_sampled_torque_is_held(method, delay):
    """Between samples the torque is constant, so that the motion is made of parabolas."""
    T = 0.02
    law = controller("pd", {"reference": 0.5}, period=T, delay=delay, **SAMPLED)
    run = ks.simulate(rotor(law), 0.5, method=method, output=0.005, rtol=1e-8, atol=1e-10)
    times, angle, torque = sampled_by_hand(T, 20.0, 1.5, delay, 0.5)
    at = np.searchsorted(run.time, times - 1e-9)
    same = np.abs(run.time[np.minimum(at, len(run.time) - 1)] - times) < 1e-9
    assert same.sum() > 20
    assert np.allclose(run["axis.q"][at[same]], angle[same], atol=1e-10)
    assert np.allclose(run["c.axis.tau"][at[same]], torque[same], atol=1e-9)


def test_sampled_pid_is_the_difference_equation():
    """Its integral advances by ki T e (forward Euler), as SciPy's discrete transfer function does."""
    from scipy.signal import dlsim

    T, ki = 0.1, 3.0
    total = ks.Signal(name="total", kind="pid_block", input="sin(2*t)", kp=2.0, ki=ki, period=T)
    run = ks.simulate(rotor(total), 2.0, output=T)
    error = np.sin(2.0 * run.time)
    _, expected = dlsim(([2.0, ki * T - 2.0], [1.0, -1.0], T), error)  # 2 + ki T/(z - 1)
    assert np.allclose(run["total"], expected[:, 0], atol=1e-9)


@pytest.mark.parametrize("method", ["rk54", "rk4"])
def test_signals_of_several_periods_see_what_others_gave_last(method):
    """A slow sampler of a ramp, later by 2.5 of its periods, and a fast one that counts what it sees of it."""
    signals = (
        ks.Signal(name="slow", kind="sample_hold", input="t", period=0.04, delay=0.1, phase=0.01),
        ks.Signal(name="fast", kind="integrator", input="slow", period=0.01),
    )
    run = ks.simulate(rotor(*signals), 0.5, method=method, output=0.01)
    t = np.round(run.time, 12)
    slow = np.maximum(np.floor((t - 0.11) / 0.04 + 1e-9) * 0.04 + 0.01, 0.0)
    assert np.allclose(run["slow"], slow, atol=1e-12)
    assert np.allclose(run["fast"][1:], 0.01 * np.cumsum(slow)[:-1], atol=1e-12)


def test_only_functions_and_noise_are_evaluated_outside_the_step_loop(monkeypatch):
    """300 samples of a law in formulas need Python at the start only; with noise once more, for further noise."""
    from core.simulation.run.sampled_laws import SampledLaws

    calls = []
    evaluate = SampledLaws.evaluate
    monkeypatch.setattr(SampledLaws, "evaluate", lambda self, state: calls.append(state.time) or evaluate(self, state))
    law = controller("pd", {"reference": 0.5}, period=0.001, **SAMPLED)
    ks.simulate(rotor(law), 0.3, output=0.3)
    assert calls == [0.0]
    calls.clear()
    ks.simulate(rotor(replace(law, noise=0.01)), 0.3, output=0.3)
    assert calls == pytest.approx([0.0, 0.256])


def test_a_sampled_signal_that_is_no_number_ends_the_run():
    root = ks.Signal(name="root", input="sqrt(0.25 - t)", period=0.1)
    with pytest.raises(ks.SimulationError, match=r"'root.* is not a finite number at t = 0.3 s") as raised:
        ks.simulate(rotor(root), 1.0, output=0.05)
    assert raised.value.run.time[-1] == pytest.approx(0.3, abs=0.051)


def test_noise_is_seeded_and_a_quantised_coordinate_is_a_multiple():
    law = controller("pd", {"reference": 0.5}, period=0.01, noise=0.1, resolution=0.05, seed=3, **SAMPLED)
    one, again = (ks.simulate(rotor(law), 0.3, output=0.01) for _ in range(2))
    other = ks.simulate(rotor(replace(law, seed=4)), 0.3, output=0.01)
    assert np.array_equal(one.q, again.q)
    assert not np.array_equal(one.q, other.q)
    steps = (one["c.axis.reference"] - one["c.axis.error"]) / 0.05
    assert np.allclose(steps, np.round(steps), atol=1e-9)
    assert np.std(one["c.axis.noise"]) == pytest.approx(0.1, rel=0.5)


def test_a_python_law_is_the_sampled_kind():
    """The same law as a function gives the same run as the kind, step by step."""
    kind = controller("pd", {"reference": 0.5}, period=0.02, **SAMPLED)

    def law(t, y, state):
        state["calls"] = state.get("calls", 0) + 1
        assert state["calls"] == round(t / 0.02) + 1
        return {"axis": 20.0 * (0.5 - y.q[0]) - 1.5 * y.v[0]}

    one = ks.simulate(rotor(kind), 0.5, output=0.01)
    other = ks.simulate(rotor(), 0.5, output=0.01, control=law, period=0.02)
    assert np.allclose(one.q, other.q, atol=1e-12)
    script = controller("script", {"reference": 0.5}, period=0.02)
    named = ks.simulate(
        rotor(script), 0.5, output=0.01, controllers={"c": lambda t, y, s: 20 * (y.reference - y.q) - 1.5 * y.v}
    )
    assert np.allclose(one.q, named.q, atol=1e-12)
    alone = ks.simulate(rotor(script), 0.1)
    assert np.all(alone.q == 0.0)
    assert any("No function was given" in note for note in alone.statistics.notes)


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (lambda t, y, s: [1.0, 2.0], "returned list of shape \\(2,\\) at t = 0 s, not 1 numbers"),
        (lambda t, y, s: None, "returned nothing"),
        (lambda t, y, s: {"elbow": 1.0}, "a force for 'elbow', in which it does not act"),
        (lambda t, y, s: np.nan if t > 0.05 else 0.0, "returned nan for 'axis' at t = 0.051 s"),
        (lambda t, y, s: 1.0 / (t - t), r"ZeroDivisionError: .* \(.*test_controllers.py, line \d+\)"),
        (lambda t: 0.0, "does not take three arguments"),
    ],
)
def test_wrong_laws_are_messages(law, words):
    with pytest.raises(ks.SimulationError, match=words):
        ks.simulate(rotor(), 0.1, control=law)


def test_a_law_that_never_returns_is_stopped(monkeypatch):
    from core.simulation.run import python_laws

    def law(t, y, state):
        while t > 0.05:
            pass
        return 0.0

    monkeypatch.setattr(python_laws, "LONGEST_CALL", 0.2)
    with pytest.raises(ks.SimulationError, match="did not return within 0.2 s at t = 0.051 s") as raised:
        ks.simulate(rotor(), 0.1, output=0.01, control=law)
    assert raised.value.run.time[-1] == pytest.approx(0.05)  # what was computed stays


def test_the_energy_balance_counts_controllers_and_saturation_is_noted():
    pd = controller("pd", {"reference": 1.0, "limit": 0.8}, kp=4.0, kd=0.2)
    run = ks.simulate(rotor(pd), 2.0, output=0.01, rtol=1e-9, atol=1e-11)
    kinetic = 0.5 * J * run["axis.v"] ** 2
    assert np.allclose(run["energy.controllers"], kinetic, atol=1e-6)  # nothing else acts about the vertical axis
    assert np.ptp(run["energy.balance"]) < 1e-6
    assert any("'c' in 'axis' was limited" in note and "first at t = 0 s" in note for note in run.statistics.notes)


def test_names_follow_a_renaming():
    from core.model.edits import edits

    rows = {"force": "c.z - ref.axis.q*gravity.axis + M[1,1]*lag", "reference": "axis.v"}
    law = controller("formulas", rows, states=(ks.OwnState(name="z", rate="ref.axis.q - axis"),))
    model = rotor(law, ks.Signal(name="lag", kind="first_order", input="axis + c.axis.error"))
    new = edits.rename(edits.rename(model, "joints", "axis", "hinge"), "signals", "c", "law")
    row = new.signals[0].joints[0]
    assert row.joint == "hinge"
    assert row.force == "law.z - ref.hinge.q*gravity.hinge + M[1,1]*lag"
    assert new.signals[1].input == "hinge + law.hinge.error"
    new.validate()


def test_a_closed_loop_is_linear_in_its_states():
    """The linearised PID loop has the characteristic polynomial J s³ + kd s² + kp s + ki."""
    kp, ki, kd = 4.0, 6.0, 1.0
    from core.control.linearise import linearise

    poles = np.linalg.eigvals(linearise(rotor(controller("pid", kp=kp, ki=ki, kd=kd)), inputs=()).A)
    assert np.allclose(np.sort_complex(poles), np.sort_complex(np.roots([J, kd, kp, ki])), atol=1e-8)


def test_a_payload_that_computed_torque_does_not_know_makes_it_sag():
    """At rest M̂ kp e = τ_g − τ̂_g, for a mass m at the end of a massless arm of length r."""
    r, m, assumed, kp = 0.5, 3.0, 2.0, 100.0
    body = ks.Body(name="arm", mass="m", center_of_mass=(r, 0.0, 0.0), inertia=ks.Inertia(ixx=1e-9, iyy=1e-9, izz=1e-9))
    joint = ks.Joint(name="axis", kind="revolute", parent="world", child="arm", axis=(0.0, 1.0, 0.0))
    law = controller("computed_torque", kp=kp, kd=20.0, nominal=(ks.NominalValue(parameter="m", value=assumed),))
    model = ks.Model(parameters=(ks.Parameter(name="m", value=m),), bodies=(body,), joints=(joint,), signals=(law,))
    run = ks.simulate(model, 5.0, output=0.5, rtol=1e-10, atol=1e-12)
    error = run["c.axis.error"][-1]
    sag = (m - assumed) * 9.81 * r * np.cos(error) / (assumed * r * r * kp)
    assert abs(error) == pytest.approx(sag, rel=1e-6)


def test_what_sampled_laws_do_not_have_is_said(tmp_path):
    from core.c_code.generate import generate_c
    from core.control.linearise import linearise

    model = rotor(controller("pd", period=0.01, kp=1.0))
    for make in (lambda: linearise(model), lambda: generate_c(model, tmp_path)):
        with pytest.raises(ModelError, match="The sampled signal 'c' holds its output between samples"):
            make()


def test_c_code_runs_the_controllers(tmp_path):
    """The compiled step equals the reference of the generator, and that the run with the same steps."""
    from core.c_code.generate import generate_c

    law = controller("pid", {"reference": "0.5*sin(t)", "limit": 3.0}, kp=20.0, ki=2.0, kd=1.5)
    lag = ks.Signal(name="lag", kind="first_order", input="c.axis.error", settings=(TIME_CONSTANT,))
    made = generate_c(rotor(law, lag), tmp_path / "c")
    assert made.difference is not None
    assert made.difference < 1e-12
    assert made.trial.passed in (True, None)  # None: there is no compiler


def test_interactive_runs_have_the_same_controllers():
    """Slices of an interactive run follow a run, with a sampled law too."""
    from core.simulation.live import Live

    for law in (
        controller("pd", {"reference": 0.5}, **SAMPLED),
        controller("pd", {"reference": 0.5}, period=0.01, **SAMPLED),
    ):
        live = Live(ks.Mechanism(rotor(law)), rtol=1e-9, atol=1e-11)
        live.advance(0.5)
        run = ks.simulate(rotor(law), 0.5, output=0.5, rtol=1e-9, atol=1e-11)
        assert live.q[0] == pytest.approx(run["axis.q"][-1], abs=1e-7)


@pytest.mark.parametrize(
    ("kind", "fields", "row"),
    [
        ("formulas", {}, {"force": "gravity.crank_pin"}),
        ("formulas", {}, {"force": "3*M[1,1]"}),
        ("impedance", {"frame": "crank", "stiffness": (1.0, 1.0, 1.0)}, {}),
        ("computed_torque", {"kp": 1.0, "kd": 1.0}, {}),
    ],
)
def test_what_is_of_open_trees_is_refused_in_loops(kind, fields, row):
    """Forces and masses of the cut tree would be wrong ones without a word."""
    joint = ks.ControlledJoint(joint="crank_pin", **row)
    model = replace(ks.load("four_bar"), signals=(ks.Signal(name="c", kind=kind, joints=(joint,), **fields),))
    with pytest.raises(ks.KinetostatError, match="not known for a machine with loops"):
        ks.simulate(model, 0.1)


def test_runs_under_sampled_laws_have_no_derivatives():
    run = ks.simulate(rotor(controller("pd", period=0.01, kp="2")), 0.1)
    with pytest.raises(ks.KinetostatError, match="Runs with sampled signals cannot be differentiated"):
        run.derivatives("axis.q", ["axis.v"])


def test_motions_are_planned_again_only_for_parameters_that_they_depend_on(monkeypatch):
    """Not for gains; the run follows the new pose where a parameter moves it."""
    from core.motions import references

    calls, plan = [], references.plan
    monkeypatch.setattr(references, "plan", lambda *given, **more: calls.append(more["p"]) or plan(*given, **more))
    pose = ks.StoredPose(name="there", values=(ks.JointValue(coordinate="axis", value="2*half"),))
    motion = ks.Motion(name="go", segments=(ks.Segment(to="there", law="quintic", duration=0.5),))
    law = controller("computed_torque", motion="go", kp="k", kd=20.0)
    parameters = tuple(ks.Parameter(name=name, value=value) for name, value in (("k", 100.0), ("half", 0.2)))
    made = replace(rotor(), poses=(pose,), motions=(motion,), parameters=parameters, signals=(law,))
    mech = ks.Mechanism(made)
    for k in (100.0, 150.0, 200.0):
        ks.simulate(mech, 0.1, parameters={"k": k})
    assert len(calls) == 1
    run = ks.simulate(mech, 1.0, parameters={"half": 0.3, "k": 150.0})
    assert len(calls) == 2
    assert run["axis.q"][-1] == pytest.approx(0.6, abs=1e-6)


def test_a_delay_longer_than_the_run_is_noted_and_its_output_stays():
    for late in (
        controller("pd", {"reference": 0.5}, period=0.01, delay=5.0, kp=20.0),
        controller("pd", {"reference": 0.5}, period=0.01, delay=1e9, kp=20.0),
    ):
        run = ks.simulate(rotor(late), 0.2, output=0.05)
        assert np.all(run["c.axis.tau"] == 0.0)
        assert np.all(run.q == 0.0)
        assert any("The delay of 'c'" in note and "longer than the run" in note for note in run.statistics.notes)


def test_periods_and_delays_that_are_impossible_are_messages():
    for wrong, words in (
        ({"period": 0.0}, "A period of 0 s is not possible"),
        ({"period": "-T"}, "A period of -0.1 s is not possible"),
        ({"period": 0.1, "delay": "-T"}, "A delay of -0.1 s is not possible"),
    ):
        model = replace(rotor(), parameters=(ks.Parameter(name="T", value=0.1),), signals=(controller("pd", **wrong),))
        with pytest.raises(ks.KinetostatError, match=words):
            ks.simulate(model, 0.2)


def test_files_name_no_python(tmp_path):
    """A function in a file is refused as an unknown field; a controller of kind script alone exerts nothing."""
    file, trace = tmp_path / "m.kst", tmp_path / "trace"
    script = f"open({str(trace)!r}, 'w')"
    file.write_text(
        "kinetostat: 1\nbodies:\n  arm: {mass: 1, center_of_mass: [0.4, 0, 0]}\n"
        "joints:\n  axis: {parent: world, child: arm}\n"
        f'signals:\n  c: {{kind: script, period: 0.01, joints: [{{joint: axis}}], function: "{script}"}}\n'
    )
    with pytest.raises(ks.KinetostatError, match="function"):
        ks.load(str(file))
    assert not trace.exists()
