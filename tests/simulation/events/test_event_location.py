"""Steps that end where conditions in formulas switch: forces that jump and bend, against closed forms to 1e-10."""

import numpy as np
import pytest

from core.mechanics.elements.mode_variables import ModeVariables
from core.mechanism import Mechanism
from core.model import Body, Driver, Force, Frame, Gravity, Joint, Model, Pose, World
from core.model.formula.expression import parse
from core.simulation import simulate
from tests.simulation.methods.test_integrators import slope

METHODS = ("rk54", "rk853", "adams", "radau", "radau5")
MASS = 2.0


def slider(*laws):
    joint = Joint(name="guide", kind="prismatic", parent="world", child="block", axis=(1.0, 0.0, 0.0))
    forces = tuple(Force(name=f"f{k}", kind="joint", joint="guide", law=law) for k, law in enumerate(laws))
    return Mechanism(
        Model(
            name="slider",
            bodies=(Body(name="block", mass=MASS),),
            joints=(joint,),
            forces=forces,
            world=World(gravity=Gravity(kind="none")),
        )
    )


def bang_bang(t, switch):
    """Position from rest under +6 N until the switch, −6 N after it."""
    a, later = 6.0 / MASS, np.maximum(t - switch, 0.0)
    return 0.5 * a * np.minimum(t, switch) ** 2 + a * switch * later - 0.5 * a * later**2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "formula",
    [
        "if(t < 0.3, 6, -6)",
        "-6*sign(t - 0.3)",
        "6 - 12*step(t - 0.3)",
        "6*(t < 0.3) - 6*(0.3 <= t)",
        "if(not t >= 0.3, 6, -6)",
    ],
)
def test_bang_bang(method, formula):
    """Pieces are parabolas, which every method here integrates exactly: what is left is where the force switched."""
    run = simulate(slider(), 1.0, method=method, torque={"guide": formula}, output=0.01)
    np.testing.assert_allclose(run["guide.q"], bang_bang(run.time, 0.3), atol=1e-12)
    assert run.statistics.steps < (40 if method == "adams" else 20)  # Adams begins twice, with order one


def bounced(t, v=1.5, touch=0.2, omega=20.0):
    """Free flight, half a period against a spring, free flight back."""
    leave = touch + np.pi / omega
    return np.where(
        t < touch,
        v * t,
        np.where(t < leave, touch * v + v / omega * np.sin(omega * (t - touch)), touch * v - v * (t - leave)),
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "law",
    [
        "if(guide > 0.3, 800*(guide - 0.3), 0)",
        "max(0, 800*(guide - 0.3))",
        "-min(800*(0.3 - guide), 0)",
        "400*(guide - 0.3 + abs(guide - 0.3))",
    ],
)
def test_a_one_sided_spring(method, law):
    run = simulate(slider(law), 1.0, method=method, q0=[0.0], v0=[1.5], rtol=1e-12, atol=1e-13, output=0.01)
    np.testing.assert_allclose(run["guide.q"], bounced(run.time), atol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_a_condition_of_what_only_its_force_knows(method):
    """Two blocks, each against a spring of its own behind a gap: the same words, each with its own length."""
    law = "max(0, 800*(length - 0.3))"
    blocks = [Body(name=name, mass=MASS) for name in ("one", "other")]
    joints = [
        Joint(name=f"to_{body.name}", kind="prismatic", parent="world", child=body.name, axis=(1.0, 0.0, 0.0))
        for body in blocks
    ]
    forces = [
        Force(name=f"buffer_{body.name}", kind="joint", joint=joint.name, law=law)
        for body, joint in zip(blocks, joints, strict=True)
    ]
    mech = Mechanism(
        Model(
            name="two",
            bodies=tuple(blocks),
            joints=tuple(joints),
            forces=tuple(forces),
            world=World(gravity=Gravity(kind="none")),
        )
    )
    run = simulate(mech, 1.0, method=method, q0=[0.0, -0.1], v0=[1.5, 1.0], rtol=1e-12, atol=1e-13, output=0.01)
    np.testing.assert_allclose(run["to_one.q"], bounced(run.time), atol=1e-10)
    np.testing.assert_allclose(run["to_other.q"], bounced(run.time, 1.0, 0.4) - 0.1, atol=1e-10)


def test_own_names_make_a_mode_variable_for_each_force():
    law = parse("max(0, 800*(length - 0.3))")
    assert not ModeVariables([law], ()).numbers  # nobody's
    assert ModeVariables([law], ("length",)).numbers == {}  # a parameter: no condition that changes
    assert len(ModeVariables([law], (), {"one": law, "other": law}).numbers) == 2
    assert len(ModeVariables([law], ("length",), {"one": law}).numbers) == 1  # its own length hides the parameter
    assert len(ModeVariables([parse("max(0, gap - 0.3)")], ()).numbers) == 1


@pytest.mark.parametrize("method", METHODS)
def test_a_mass_drops_on_a_one_sided_spring(method):
    """Let go a height h above it, it touches at √(2 h/g) with v = √(2 g h). On it the depth is
    g/ω² (1 − cos ω t) + v/ω sin ω t with ω² = k/m, for 2 (π − atan(v ω/g))/ω; then all is repeated. Energy is kept."""
    g, m, k, h = 9.81, 2.0, 5000.0, 0.5
    body = Body(name="bob", mass=m)
    joint = Joint(name="fall", kind="prismatic", parent="world", child="bob", axis=(0.0, 0.0, 1.0))
    ground = Frame(name="ground", parent="world", pose=Pose(position=(0.0, 0.0, -10.0)))
    under = Frame(name="under", parent="bob")
    spring = Force(name="buffer", kind="line", a="ground", b="under", law=f"if(length < 10, {k}*(length - 10), 0)")
    mech = Mechanism(
        Model(
            name="drop",
            bodies=(body,),
            joints=(joint,),
            frames=(ground, under),
            forces=(spring,),
            world=World(gravity=Gravity(acceleration=(0.0, 0.0, -g))),
        )
    )
    omega, speed, touch = np.sqrt(k / m), np.sqrt(2.0 * g * h), np.sqrt(2.0 * h / g)
    leave = touch + 2.0 * (np.pi - np.arctan(speed * omega / g)) / omega
    run = simulate(mech, 1.5 * (leave + touch), method=method, q0=[h], rtol=1e-12, atol=1e-13, output=0.001)
    period, t = leave + touch, run.time
    on = np.mod(t, period)
    under_way = g / omega**2 * (1.0 - np.cos(omega * (on - touch))) + speed / omega * np.sin(omega * (on - touch))
    wanted = np.where(
        on < touch,
        h - 0.5 * g * on**2,
        np.where(on < leave, -under_way, speed * (on - leave) - 0.5 * g * (on - leave) ** 2),
    )
    np.testing.assert_allclose(run["fall.q"], wanted, atol=1e-9)
    free = (on < touch) | (on > leave)
    energy = 0.5 * m * run["fall.v"] ** 2 + m * g * run["fall.q"] + np.where(free, 0.0, 0.5 * k * run["fall.q"] ** 2)
    np.testing.assert_allclose(energy, m * g * h, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_drivers_that_switch(method):
    """A driver's acceleration jumps, another's speed bends; what they drag along follows both to rounding."""
    joints = [
        Joint(name=name, kind="prismatic", parent="world", child=f"block_{name}", axis=(1.0, 0.0, 0.0))
        for name in ("x", "y")
    ]
    bodies = tuple(Body(name=joint.child, mass=MASS) for joint in joints)
    drivers = (
        Driver(name="jerk", joint="x", motion="acceleration", function="if(t < 0.3, 6, -6)/2"),
        Driver(name="ramp", joint="y", motion="velocity", function="min(max(t - 0.2, 0), 0.5)"),
    )
    mech = Mechanism(
        Model(
            name="driven",
            bodies=bodies,
            joints=tuple(joints),
            drivers=drivers,
            world=World(gravity=Gravity(kind="none")),
        )
    )
    run = simulate(mech, 1.0, method=method, rtol=1e-8, atol=1e-9, output=0.01)
    np.testing.assert_allclose(run["x.q"], bang_bang(run.time, 0.3), atol=1e-12)
    ramp, later = np.clip(run.time - 0.2, 0.0, 0.5), np.maximum(run.time - 0.7, 0.0)
    np.testing.assert_allclose(run["y.q"], 0.5 * ramp**2 + 0.5 * later, atol=1e-12)


def test_jumps_in_accepted_steps_are_found():
    """A jump of the force so small that no step is refused for it: its time is exact all the same."""
    law = "1e-6*(guide > 0.3)"
    run = simulate(slider(law), 1.0, q0=[0.0], v0=[1.0], rtol=1e-6, atol=1e-6, output=1.0)
    assert run.statistics.rejected == 1
    assert run["guide.v"][-1] - 1.0 == pytest.approx(-1e-6 / MASS * 0.7, rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_forces_that_depend_on_the_side_and_the_direction(method):
    """Up with 3 N against the motion, down with 1 N along it: v = 0 is passed, and the way back begins elsewhere."""
    law = "if(guide.v > 0, 6, 2)"
    run = simulate(slider(law), 2.0, method=method, q0=[0.0], v0=[1.5], rtol=1e-9, atol=1e-10, output=0.01)
    t, turn = run.time, 0.5
    wanted = np.where(t < turn, 1.5 * t - 1.5 * t**2, 0.375 - 0.5 * (t - turn) ** 2)
    np.testing.assert_allclose(run["guide.q"], wanted, atol=1e-10)


@pytest.mark.parametrize(
    ("method", "order", "tolerances"), [("rk32", 3, (1e-5, 1e-6, 1e-7, 1e-8)), ("rk54", 5, (1e-6, 1e-7, 1e-8, 1e-9))]
)
def test_order_is_kept_across_switches(method, order, tolerances):
    """Two springs that meet at 0.1: half periods of 10 and 20 rad/s. The error falls with the power of the mean step
    that it has on one spring alone."""
    law = "if(guide > 0.1, 800*(guide - 0.1), 200*(guide - 0.1))"
    wanted = 0.1 + np.sin(20.0 * (1.0 - 2.0 * (np.pi / 20.0 + np.pi / 10.0))) / 20.0  # twice out and back, and out
    steps, wrong = [], []
    for tolerance in tolerances:
        run = simulate(slider(law), 1.0, method=method, q0=[0.1], v0=[1.0], rtol=tolerance, atol=tolerance, output=1.0)
        steps.append(1.0 / run.statistics.steps)
        wrong.append(abs(run.q[-1, 0] - wanted))
    assert slope(steps, wrong) == pytest.approx(order, abs=0.4)


def test_switches_at_the_same_time():
    """Three conditions that turn over at once, and one a nanosecond later."""
    laws = ("if(t < 0.4, -1, 1)", "if(guide < 0.08, 0, 0)", "2*step(t - 0.4)", "if(t > 0.4 + 1e-9, 3, 0)")
    run = simulate(slider(*laws), 1.0, q0=[0.0], v0=[0.0], rtol=1e-9, atol=1e-10, output=0.1)
    t, later = run.time, np.maximum(run.time - 0.4, 0.0)
    wanted = 0.25 * np.minimum(t, 0.4) ** 2 + 0.2 * later - 0.5 * 3.0 * later**2
    np.testing.assert_allclose(run["guide.q"], wanted, atol=1e-8)


def test_samples_at_and_around_a_switch():
    """Samples between the ends of a step that was cut come from its own piece."""
    times = 0.1
    run = simulate(slider(), 1.0, torque={"guide": "if(t < 0.3, 6, -6)"}, output=times)
    np.testing.assert_allclose(
        run["guide.v"], np.where(run.time < 0.3, 3.0 * run.time, 1.8 - 3.0 * run.time), atol=1e-12
    )
    np.testing.assert_allclose(run["guide.a"][[1, 2, 4, 9]], [3.0, 3.0, -3.0, -3.0], atol=1e-12)


def test_pieces_of_a_run_change_nothing(monkeypatch):
    """A run that is advanced three steps at a time is the same run, to the last digit."""
    law = "if(guide > 0.3, 800*(guide - 0.3), 0)"
    options = {"q0": [0.0], "v0": [1.5], "rtol": 1e-8, "atol": 1e-9, "output": 0.05}
    whole = simulate(slider(law), 1.0, **options)
    from core.simulation import simulator

    monkeypatch.setattr(simulator, "FIRST_STEPS", 3)
    monkeypatch.setattr(simulator, "LEAST_STEPS", 3)
    monkeypatch.setattr(simulator, "STEPS", 3)
    np.testing.assert_array_equal(simulate(slider(law), 1.0, **options).q, whole.q)


def test_a_branch_without_value_beyond_its_border():
    """The root has none where the condition does not hold: steps are chosen by error alone there."""
    law = "if(not guide > 0.3, 0, 800*sqrt(guide - 0.3)*sqrt(guide - 0.3))"
    run = simulate(slider(law), 1.0, q0=[0.0], v0=[1.5], rtol=1e-10, atol=1e-12, output=0.01)
    np.testing.assert_allclose(run["guide.q"], bounced(run.time), atol=1e-8)


def test_formulas_without_comparisons_have_no_mode_variables():
    none = ModeVariables(map(parse, ("sin(q)*t", "if(heavy > 2, 1, 2)*q", "q == 2", "floor(q)")), {"heavy"})
    assert not none.indicators
    some = ModeVariables(map(parse, ("sign(q) + abs(q)", "q > 1 and q > 1", "max(q, t)")), ())
    assert some.indicators == tuple(map(parse, ("q", "q - 1", "q - t")))


def test_what_is_asked_beside_a_run_knows_no_modes():
    """Held conditions belong to steps: forces at a state are those of the formula."""
    mech = slider("if(guide > 0.3, 800*(guide - 0.3), 0)")
    assert mech.forward_dynamics([0.4], [0.0], [0.0])[0] == pytest.approx(-40.0)
    assert mech.forward_dynamics([0.2], [0.0], [0.0])[0] == 0.0
