"""Order of the implicit and of the multistep method, at step ends and between them; stiff machines."""

import numpy as np
import pytest

from core.model import Body, Inertia, Joint, Model
from core.simulation import simulate, simulator
from tests.simulation.methods.test_integrators import START, G, slope, swing
from tests.simulation.published import published_machines as machines

END = 1.9


def errors(method, tolerances, output):
    """Mean steps, and the largest errors at the samples."""
    model, steps, wrong = machines.point_pendulum(g=G), [], []
    for tolerance in tolerances:
        run = simulate(model, END, method=method, rtol=tolerance, atol=tolerance, q0=[START], output=output)
        steps.append(END / run.statistics.steps)
        wrong.append(np.max(np.abs(run.q[:, 0] - swing(run.time))))
    return steps, wrong


def test_radau_has_order_five_at_the_ends_of_steps():
    steps, wrong = errors("radau5", (1e-5, 1e-6, 1e-7, 1e-8), END)
    assert slope(steps, wrong) == pytest.approx(5.0, abs=0.6)


def test_radau_has_order_three_between_steps():
    """The collocation polynomial is cubic: its error is of the fourth power of the step."""
    steps, wrong = errors("radau5", (1e-5, 1e-6, 1e-7, 1e-8), END / 97)
    assert slope(steps, wrong) == pytest.approx(4.0, abs=0.5)


@pytest.fixture
def fixed_order(monkeypatch):
    """Adams methods that grow up to a certain order, from a step that does no harm."""
    begun = simulator.allocate_run

    def choose(order):
        def limited(*arguments, **options):
            started = begun(*arguments, **options)
            started.state.highest, started.state.step = order, 1e-9
            return started

        monkeypatch.setattr(simulator, "allocate_run", limited)

    return choose


@pytest.mark.parametrize(
    ("order", "counts"),
    [(1, (160, 320, 640)), (2, (160, 320, 640)), (3, (160, 320, 640)), (4, (160, 320, 640)), (5, (80, 160, 320))],
)
@pytest.mark.parametrize("output", [END, END / 37])
def test_adams_corrects_to_one_order_more_than_it_predicts(fixed_order, order, counts, output):
    fixed_order(order)
    wrong = []
    for n in counts:
        run = simulate(
            machines.point_pendulum(g=G),
            END,
            method="adams",
            rtol=1e6,
            atol=1e6,
            step=END / n,
            q0=[START],
            output=output,
        )
        wrong.append(np.max(np.abs(run.q[:, 0] - swing(run.time))))
    assert slope([1 / n for n in counts], wrong) == pytest.approx(order + 1, abs=0.4)


@pytest.mark.parametrize("method", ["radau", "radau5", "adams"])
def test_error_follows_the_tolerance(method):
    for tolerance, most in ((1e-5, 4000), (1e-8, 20000)):
        run = simulate(
            machines.point_pendulum(g=G), 10.0, method=method, rtol=tolerance, atol=tolerance, q0=[START], output=0.0123
        )
        assert np.max(np.abs(run.q[:, 0] - swing(run.time))) < 300 * tolerance
        assert run.statistics.evaluations < most


def test_adams_needs_fewer_evaluations_than_runge_kutta():
    options = {"rtol": 1e-11, "atol": 1e-12, "q0": [START], "output": 10.0}
    costs = {m: simulate(machines.point_pendulum(g=G), 10.0, method=m, **options) for m in ("adams", "rk54")}
    assert costs["adams"].statistics.evaluations < 0.3 * costs["rk54"].statistics.evaluations
    for run in costs.values():
        assert abs(run.q[-1, 0] - swing(10.0)) < 1e-7


STIFF, DAMPER, INERTIA = 1e3, 1e4, 0.01


def stiff_wheel():
    """I θ̈ + d θ̇ + k θ = 0, time constants 1e-6 s and 10 s."""
    wheel = Body(name="wheel", mass=1.0, inertia=Inertia(ixx=INERTIA, iyy=INERTIA, izz=INERTIA))
    return Model(
        name="stiff",
        bodies=(wheel,),
        joints=(Joint(name="axle", parent="world", child="wheel", stiffness=STIFF, damping=DAMPER),),
    )


def test_stiff_machine_takes_few_implicit_steps():
    run = simulate(stiff_wheel(), 20.0, method="radau5", q0=[1.0])
    roots = np.roots([INERTIA, DAMPER, STIFF])
    fast, slow = sorted(roots.real)
    t = run.time
    exact = (slow * np.exp(fast * t) - fast * np.exp(slow * t)) / (slow - fast)
    np.testing.assert_allclose(run["axle.q"], exact, atol=2e-7)
    assert run.statistics.steps < 400
    assert run.statistics.jacobians < 20
    assert run.statistics.factorizations < run.statistics.steps


def test_explicit_steps_on_the_same_machine_are_bound_by_stability():
    """The time constant of 1e-6 s allows steps of about 3.3e-6 s."""
    run = simulate(stiff_wheel(), 0.02, method="rk54", q0=[1.0])
    assert run.statistics.steps > 0.02 / 5e-6


@pytest.mark.parametrize("method", ["radau", "radau5", "adams"])
def test_quaternions_and_loops(method):
    from core.files import load
    from resources import examples

    p, x, case = machines.read("heavy_top_bruls")
    run = simulate(
        machines.heavy_top(p),
        float(x["t"][-1]),
        method=method,
        output=float(x["t"][1]),
        rtol=1e-9,
        atol=1e-10,
        v0=p["w0_body"],
    )
    expected = np.stack([x["wx"], x["wy"], x["wz"]], 1)
    np.testing.assert_allclose(run["ball.v"], expected, atol=10 * case["tolerances"]["w_abs"])
    np.testing.assert_allclose(np.linalg.norm(run["ball.q"], axis=1), 1.0, atol=1e-14)
    model = load(next(e.path for e in examples() if e.name == "four_bar"))
    loop = simulate(model, 2.0, method=method, rtol=1e-9, atol=1e-10)
    assert np.max(loop["constraint.residual"]) < 1e-11
    assert np.ptp(loop["energy.total"]) < 1e-6
