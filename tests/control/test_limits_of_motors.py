"""Operating points and linear systems of machines whose motors have limits, against closed forms."""

import dataclasses

import numpy as np
import pytest

import kinetostat as ks
from core.control.linear_system import ConcatenatedSystems, SystemsFromArrays
from tests.analysis.four_bar import crank_load, four_bar
from tests.control.machines import cart_pole, pendulum

WEIGHT = 0.8 * 9.81 * 0.2
INERTIA = 0.8 * 0.4**2 / 3.0


def with_limit(model, joint, **limit):
    joints = tuple(
        dataclasses.replace(each, limits=(ks.Limit(**limit),)) if each.name == joint else each for each in model.joints
    )
    return dataclasses.replace(model, joints=joints)


def held_pendulum(most):
    op = ks.OperatingPoint(with_limit(pendulum(1), "j0", effort=most))
    op["j0.q"].fixed(0.7)
    op["j0.tau"].free()
    return op.solve()


def test_a_motor_that_is_strong_enough_holds():
    found = held_pendulum(1.2)
    assert found.solved, found.message
    assert found.inputs["j0.tau"] == pytest.approx(WEIGHT * np.sin(0.7), rel=1e-10)
    assert found.saturated == {}


def test_a_motor_that_is_too_weak_is_named_with_what_is_needed():
    found = held_pendulum(0.8)
    assert not found.solved
    needed = WEIGHT * np.sin(0.7)
    assert f"The motor of 'j0' would have to supply {needed:.4g} N·m, but is limited to 0.8 N·m." in found.message
    assert abs(found.inputs["j0.tau"]) <= 0.8


def test_a_target_is_met_as_far_as_the_motor_can():
    op = ks.OperatingPoint(with_limit(pendulum(1), "j0", effort=0.5))
    op["j0.q"].target(0.7)
    op["j0.tau"].free()
    found = op.solve()
    assert found.solved, found.message
    assert found.acting == ("j0.tau",)
    assert found.q[0] == pytest.approx(np.arcsin(0.5 / WEIGHT), rel=1e-6)
    np.testing.assert_allclose(found.system.B, 0.0)
    assert "The motor of j0 is at its effort limit" in " ".join(found.system.remarks())


def test_what_is_asked_beyond_the_limit_is_not_given():
    op = ks.OperatingPoint(with_limit(pendulum(1), "j0", effort=0.5), at=[0.2])
    op["j0.tau"].fixed(3.0)
    found = op.solve()
    assert found.solved, found.message
    assert found.q[0] == pytest.approx(np.arcsin(0.5 / WEIGHT), rel=1e-9)
    assert found.saturated == {"j0": (3.0, 0.5)}
    free = ks.OperatingPoint(with_limit(pendulum(1), "j0", effort=0.5), at=[0.2], motors=False)
    free["j0.q"].fixed(0.7)
    free["j0.tau"].free()
    assert free.solve().solved


@pytest.mark.parametrize("most", [0.7, 1.5])
def test_a_four_bar(most):
    op = ks.OperatingPoint(four_bar(effort=most))
    op["crank.q"].fixed(0.9 - 0.4)
    op["crank.tau"].free()
    found, needed = op.solve(), crank_load(0.5)
    assert found.solved == (most > needed)
    if found.solved:
        assert found.inputs["crank.tau"] == pytest.approx(needed, rel=1e-9)
    else:
        assert f"would have to supply {needed:.4g} N·m, but is limited to {most:g} N·m" in found.message


def test_no_motor_drives_faster_than_its_limit_of_speed():
    """A cart with damping 2 N·s/m needs 2 v to keep its speed."""
    model = with_limit(cart_pole(1.0, 0.2, 0.3, 0.01, 9.81, b=2.0), "x", velocity=3.0)

    def at(speed):
        op = ks.OperatingPoint(model, at=[0.0, np.pi])
        op["x.v"].fixed(speed)
        op["x.tau"].free()
        op["th.q"].fixed(np.pi)
        return op.solve()

    slow = at(2.0)
    assert slow.solved, slow.message
    assert slow.inputs["x.tau"] == pytest.approx(4.0, rel=1e-9)
    fast = at(3.5)
    assert not fast.solved
    assert "The motor of 'x' would have to drive at 3.5 m/s, but is limited to 3 m/s." in fast.message


@pytest.mark.parametrize(("asked", "gain"), [(0.3, 1.0), (0.5, 0.0), (2.0, 0.0), (-2.0, 0.0)])
def test_the_input_of_a_motor_at_its_limit_changes_nothing(asked, gain):
    """I q̈ + m g l sin q = τ: B = 1/I, or 0; the stiffness stays."""
    model = with_limit(pendulum(1), "j0", effort=0.5)
    found = ks.linearise(model, [0.2], inputs=["j0.tau", "gravity.x"], outputs=["j0.a", "j0.tau"], tau=[asked])
    given = float(np.clip(asked, -0.5, 0.5))
    np.testing.assert_allclose(found.A, [[0.0, 1.0], [-WEIGHT * np.cos(0.2) / INERTIA, 0.0]], atol=1e-9)
    np.testing.assert_allclose(found.B[:, 0], [0.0, gain / INERTIA], atol=1e-12)
    assert abs(found.B[1, 1]) > 1.0
    np.testing.assert_allclose(found.D[:, 0], [gain / INERTIA, gain], atol=1e-12)
    np.testing.assert_allclose(found.y0, [(given - WEIGHT * np.sin(0.2)) / INERTIA, given], rtol=1e-10)
    np.testing.assert_allclose(found.residual[1], (given - WEIGHT * np.sin(0.2)) / INERTIA, rtol=1e-10)
    assert found.saturated == ("j0",) * (gain == 0.0)
    assert any("effort limit" in each for each in found.remarks()) == (gain == 0.0)
    assert found.u0[0] == asked


def test_a_speed_at_its_limit_is_held():
    """The cart keeps 3 m/s, whatever its motor is asked for: the pole swings alone, l q̈ = g sin q of a point."""
    model = with_limit(cart_pole(1.0, 0.2, 0.3, 0.01, 9.81, b=2.0), "x", velocity=3.0)
    found = ks.linearise(model, [0.0, np.pi], inputs=["x.tau"], v=[3.0, 0.0], tau=[50.0, 0.0])
    pull, inertia = 0.2 * 9.81 * 0.3, 0.01 + 0.2 * 0.3**2
    np.testing.assert_allclose(found.A, [[0.0, 1.0], [-pull / inertia, 0.0]], atol=1e-9)
    np.testing.assert_allclose(found.B, 0.0, atol=1e-12)
    assert (found.limited, found.saturated) == (("x",), ())


def test_along_a_run_inputs_have_no_effect_while_the_motor_is_at_its_limit():
    """A rotor that is asked for 4 sin t N·m, of which 2 come."""
    model = with_limit(pendulum(1), "j0", effort=2.0)
    run = ks.simulate(model, 3.0, torque={"j0": "4*sin(t)"}, q0=[0.0])
    systems = ks.linearise(run, inputs=["j0.tau"])
    at_limit = 4.0 * np.sin(run.time) >= 2.0 * (1.0 - 1e-9)
    gains = np.array([each.B[1, 0] for each in systems.systems])
    assert at_limit.any()
    assert not at_limit.all()
    np.testing.assert_allclose(gains, np.where(at_limit, 0.0, 1.0 / INERTIA), atol=1e-9)


@pytest.mark.parametrize(("load", "gain"), [(0.0, 1.0), (0.01, 1.0), (-0.01, 0.0)])
def test_loads_may_be_faster_than_a_motor(load, gain):
    """An arm falls faster than its motor may drive: what brakes, and a motor that is asked for nothing, has its whole
    effect; one that would drive has none."""
    model = with_limit(pendulum(1), "j0", velocity=1.0)
    run = ks.simulate(model, 0.4, torque={"j0": f"{load}"}, q0=[2.0], v0=[-2.0], output=0.02)
    assert (run.v[:, 0] < -1.0).all()
    found = ks.linearise(run, inputs=["j0.tau"])
    np.testing.assert_allclose(found.B[:, 1, 0], gain / INERTIA, atol=1e-9)
    np.testing.assert_allclose(found.A[:, 1, 0], -WEIGHT * np.cos(run.q[:, 0]) / INERTIA, atol=1e-9)
    np.testing.assert_allclose(found.residual[:, 1], (gain * load - WEIGHT * np.sin(run.q[:, 0])) / INERTIA, atol=1e-9)


@pytest.mark.parametrize("torque", ["4*sin(9*t)", "2.5", "-2.5"])
def test_all_at_once_is_each_alone_where_motors_are_full_and_overrun(torque):
    """The first joint meets its limit of effort, and loads overrun the second."""
    model = with_limit(with_limit(pendulum(2), "j0", effort=2.0), "j1", velocity=0.5)
    run = ks.simulate(model, 0.6, torque={"j0": torque, "j1": "-0.02"}, q0=[0.5, 1.0], v0=[0.0, -2.0], output=0.02)
    asked = {"inputs": ["j0.tau", "j1.tau", "gravity.x"], "outputs": ["j0.a", "j0.tau", "j1.tau", "energy.total"]}
    found = ks.linearise(run, **asked)
    assert isinstance(found.systems, SystemsFromArrays)
    assert {each.saturated for each in found} >= {("j0",)}
    assert {each.overrun for each in found} >= {("j1",)}
    for each, time in zip(found, run.time, strict=True):
        alone = ks.linearise(run, at=float(time), **asked)
        assert (each.saturated, each.overrun, each.limited) == (alone.saturated, alone.overrun, alone.limited)
        for name in ("A", "B", "C", "D", "x0", "u0", "y0", "residual", "tau"):
            np.testing.assert_allclose(getattr(each, name), getattr(alone, name), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("limits", "torque", "kinds"),
    [
        ((0.4, 0.2), {"j0": "2.5", "j1": "0.6"}, {("j0",), ("j1",), ("j0", "j1"), ()}),
        pytest.param((0.4, 9.0), {"j0": "2.5"}, {("j0",), ()}, marks=pytest.mark.slow),
        pytest.param(
            (0.3, 0.2), {"j0": "3*sin(5*t)", "j1": "0.3*cos(4*t)"}, {("j0",), ("j1",), ()}, marks=pytest.mark.slow
        ),
    ],
)
def test_all_at_once_is_each_alone_where_motors_keep_their_limits_of_speed(limits, torque, kinds):
    """Double pendulum whose motors reach, keep and leave their limits of speed one after the other."""
    model = with_limit(with_limit(pendulum(2), "j0", velocity=limits[0]), "j1", velocity=limits[1])
    run = ks.simulate(model, 1.2, torque=torque, q0=[0.5, 0.3], output=0.01)
    asked = {"inputs": ["j0.tau", "j1.tau", "gravity.x"], "outputs": ["j0.a", "j0.tau", "j1.tau", "energy.total"]}
    found = ks.linearise(run, **asked)
    assert isinstance(found.systems, ConcatenatedSystems)
    assert {each.limited for each in found} == kinds
    for each, time in zip(found, run.time, strict=True):
        alone = ks.linearise(run, at=float(time), **asked)
        assert (each.saturated, each.overrun, each.limited) == (alone.saturated, alone.overrun, alone.limited)
        assert (each.coordinates, each.state_names) == (alone.coordinates, alone.state_names)
        for name in ("A", "B", "C", "D", "x0", "u0", "y0", "residual", "tau", "basis", "a"):
            np.testing.assert_allclose(getattr(each, name), getattr(alone, name), rtol=1e-9, atol=1e-9)
    turns = [0, *(k for k in range(1, len(found)) if found[k].coordinates != found[k - 1].coordinates)]
    assert [names for _, names in found.changes] == [found[k].coordinates for k in turns]
