"""Radau IIA with 3, 5 and 7 stages: coefficients, the order of each, linear systems, the choice of the order."""

import numpy as np
import pytest

from benchmarks import problems
from core.model import Body, Gravity, Inertia, Joint, Model, World
from core.simulation import simulate, simulator
from core.simulation.methods import radau_stages
from tests.simulation.methods.test_integrators import START, G, slope, swing
from tests.simulation.methods.test_order import stiff_wheel
from tests.simulation.published import published_machines as machines

STAGES = radau_stages.STAGES


def test_three_stages_are_those_of_the_book():
    """Hairer and Wanner, Solving ODE II, table IV.5.6."""
    r = np.sqrt(6.0)
    A = [[(88 - 7 * r) / 360, (296 - 169 * r) / 1800, (-2 + 3 * r) / 225],
         [(296 + 169 * r) / 1800, (88 + 7 * r) / 360, (-2 - 3 * r) / 225],
         [(16 - r) / 36, (16 + r) / 36, 1 / 9]]  # fmt: skip
    np.testing.assert_allclose(radau_stages.collocation_matrix(radau_stages.collocation_nodes(3)), A, atol=1e-15)


@pytest.mark.parametrize("s", STAGES)
def test_order_conditions_and_transformation(s):
    """B(2s − 1) and C(s), from which the order 2s − 1 follows (IV.5.3); T brings A⁻¹ to blocks; the error's weights
    belong to a formula of order s."""
    T, back, _ = (table[radau_stages.BLOCK * STAGES.index(s) :] for table in radau_stages.build_tables())
    c = T[radau_stages.MOST_STAGES, :s]
    A, k = radau_stages.collocation_matrix(c), np.arange(1, 2 * s)
    np.testing.assert_allclose(A[-1] @ c[:, None] ** (k - 1), 1.0 / k, atol=1e-13)
    np.testing.assert_allclose(A @ c[:, None] ** (k[:s] - 1), c[:, None] ** k[:s] / k[:s], atol=1e-13)
    spectrum = back[radau_stages.MOST_STAGES, :s]
    blocks = np.diag([spectrum[0], *np.repeat(spectrum[1::2], 2)])
    for i in range(1, s, 2):
        blocks[i, i + 1], blocks[i + 1, i] = spectrum[i + 1], -spectrum[i + 1]
    np.testing.assert_allclose(T[:s, :s] @ blocks @ back[:s, :s], np.linalg.inv(A), atol=1e-10)
    weights = T[radau_stages.MOST_STAGES + 1, :s] @ A / spectrum[0] + A[-1]
    moments = np.append(weights.sum() + 1.0 / spectrum[0], weights @ c[:, None] ** np.arange(1, s))
    np.testing.assert_allclose(moments, 1.0 / np.arange(1, s + 1), atol=1e-12)


@pytest.mark.parametrize("value", [3.0, 2.0 - 1.5j])
@pytest.mark.parametrize("c", [0, 3])
def test_eliminated_coordinates_change_no_solution(value, c):
    rng = np.random.default_rng(4)
    J = rng.normal(size=(8, 8))
    J[:3] = 0.0
    J[:3, 3:6] = np.eye(3)
    kind = type(value)
    A, pivots, x = np.zeros((8, 8), kind), np.zeros(8, dtype=np.int64), np.zeros(8, kind)
    r = rng.normal(size=8).astype(kind)
    wanted = np.linalg.solve(value * np.eye(8) - J, r)
    radau_stages.fill_shifted_matrix(J, c, value, A)
    assert radau_stages.lu_factorise(A, pivots, 8 - c)
    radau_stages.solve_shifted_system(J, c, value, A, pivots, r, x)
    np.testing.assert_allclose(x, wanted, rtol=1e-12)


def test_singular_systems_are_told():
    assert not radau_stages.lu_factorise(np.ones((3, 3)), np.zeros(3, dtype=np.int64), 3)


@pytest.fixture
def fixed_stages(monkeypatch):
    """Radau with a number of stages that stays, and steps of the longest that is allowed from the start."""
    begun = simulator.allocate_run

    def choose(s):
        def limited(*arguments, **options):
            started = begun(*arguments, **options)
            started.state.stage = started.state.lowest = started.state.highest = s
            started.state.step = started.state.limit
            return started

        monkeypatch.setattr(simulator, "allocate_run", limited)

    return choose


def oscillator():
    """θ̈ + 2 δ θ̇ + ω² θ = 0 with ω = 3, δ = 0.5."""
    wheel = Body(name="wheel", mass=1.0, inertia=Inertia(ixx=1.0, iyy=1.0, izz=1.0))
    return Model(
        name="oscillator",
        bodies=(wheel,),
        joints=(Joint(name="axle", parent="world", child="wheel", stiffness=9.0, damping=1.0),),
    )


def oscillation(t):
    """θ(t) from θ = 1 at rest."""
    own = np.sqrt(9.0 - 0.25)
    return np.exp(-0.5 * t) * (np.cos(own * t) + 0.5 / own * np.sin(own * t))


@pytest.mark.parametrize(("s", "counts"), [(3, (8, 12, 16, 24)), (5, (4, 6, 8, 10)), (7, (2, 3, 4))])
def test_order_of_equal_steps(fixed_stages, s, counts):
    """The equations are linear: Newton's iterations leave nothing, however loose the tolerances."""
    fixed_stages(s)
    wrong = []
    for n in counts:
        run = simulate(oscillator(), 4.0, method="radau", rtol=1e6, atol=1e6, step=4.0 / n, q0=[1.0], output=4.0)
        assert run.statistics.steps == n
        wrong.append(np.max(np.abs(run.q[:, 0] - oscillation(run.time))))
    assert slope([1.0 / n for n in counts], wrong) == pytest.approx(2 * s - 1, abs=0.7)


@pytest.mark.parametrize(("s", "counts"), [(3, (16, 24, 36)), (5, (8, 12, 16)), (7, (5, 8, 11))])
def test_order_within_equal_steps(fixed_stages, s, counts):
    """The collocation polynomial has degree s: its error is of the power s + 1 of the step."""
    fixed_stages(s)
    wrong = []
    for n in counts:
        run = simulate(oscillator(), 4.0, method="radau", rtol=1e6, atol=1e6, step=4.0 / n, q0=[1.0], output=4.0 / 97)
        wrong.append(np.max(np.abs(run.q[:, 0] - oscillation(run.time))))
    assert slope([1.0 / n for n in counts], wrong) == pytest.approx(s + 1, abs=0.6)


def test_tight_tolerances_raise_the_order():
    """A pendulum of some ten swings: error at most 100 times the tolerance, far fewer evaluations than with order 5."""
    options = {"rtol": 1e-11, "atol": 1e-12, "q0": [START], "output": 0.05}
    own, five = (simulate(machines.point_pendulum(g=G), 20.0, method=m, **options) for m in ("radau", "radau5"))
    assert np.max(np.abs(own.q[:, 0] - swing(own.time))) < 1e-9
    assert own.statistics.evaluations < 0.4 * five.statistics.evaluations


@pytest.mark.parametrize("share", [1.0, 0.16])
def test_governor_in_few_steps(share):
    """Both editions of the governor; CVODES's BDF takes thousands of steps at such errors."""
    problem = problems.flyball_governor()
    options = {"q0": problem.q0, "v0": {"phi": share * 2.0 * np.pi}, "output": 0.5}
    sharp = simulate(problem.model, 10.0, method="radau5", rtol=1e-10, atol=1e-12, **options)
    run = simulate(problem.model, 10.0, method="radau", rtol=1e-6, atol=1e-8, **options)
    assert np.max(np.abs(run.q - sharp.q)) < 2e-5
    assert run.statistics.steps < 500


def test_stiff_wheel():
    run = simulate(stiff_wheel(), 20.0, method="radau", q0=[1.0])
    roots = np.roots([0.01, 1e4, 1e3])
    fast, slow = sorted(roots.real)
    exact = (slow * np.exp(fast * run.time) - fast * np.exp(slow * run.time)) / (slow - fast)
    np.testing.assert_allclose(run["axle.q"], exact, atol=2e-7)
    assert run.statistics.steps < 150


def test_something_rough_costs_no_more_than_with_order_five():
    """A force that jumps five times: refused steps bring back the lowest order."""
    mass = Body(name="mass", mass=1.0)
    model = Model(
        name="pushed",
        world=World(gravity=Gravity(acceleration=(0.0, 0.0, 0.0))),
        bodies=(mass,),
        joints=(Joint(name="rail", kind="prismatic", parent="world", child="mass", axis=(1.0, 0.0, 0.0)),),
    )
    options = {"torque": {"rail": "if(sin(3*t) > 0, 1, -1)"}, "rtol": 1e-8, "atol": 1e-9}
    own, five = (simulate(model, 5.5, method=m, **options) for m in ("radau", "radau5"))
    np.testing.assert_allclose(own.q, five.q, atol=1e-5)
    assert own.statistics.evaluations < 1.5 * five.statistics.evaluations
