"""The exact Jacobian of the equations of motion against central differences, and what implicit steps save by it."""

import ctypes

import numpy as np
import pytest

from benchmarks import problems
from core.mechanism import Mechanism
from core.model import Body, Force, Frame, Inertia, Joint, Model, Pose
from core.simulation import simulate, simulator
from core.simulation.equations.compiled_equations import CompiledEquations
from core.simulation.run.begun_run import prepare_run
from core.simulation.run.initial_state import start_state
from core.simulation.run.settings import check_settings
from tests.simulation.methods.test_integrators import arm
from tests.simulation.published import published_machines as machines

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_double, ctypes.c_int64, ctypes.c_int64)
STEP = 1e-5


class Equations:
    """The entries of a run, called from Python."""

    def __init__(self, model, torque=None, q0=None, v0=None, t=0.3, closed_forms=True):
        self.mech, self.t = Mechanism(model), t
        p = self.mech.parameter_values()
        self.y = start_state(self.mech, q0, v0, p, t)
        self.equations = CompiledEquations(self.mech, torque, p, self.y, closed_forms, slopes=True)
        chosen = check_settings(self.mech, 1.0, "radau5", None, 1e-7, 1e-9, None, t, None, torque, 1000)
        self.begun = prepare_run(self.equations, chosen, self.y)
        self.system = self.equations.system

    def call(self, address, y, size=0):
        out = np.zeros(max(size, 1))
        place = out.ctypes.data if size else 0
        assert ENTRY(int(address))(self.system.place, self.t, y.ctypes.data, place) == 0
        return out

    def constraint_manifold(self, y):
        y = y.copy()
        self.call(self.equations.project, y)
        return y

    def derivative(self, y):
        return self.call(self.system.derivative, y.copy(), len(y))

    def jacobian(self):
        n = len(self.y)
        J = self.call(self.begun.state.jacobian, self.y.copy(), n * n).reshape(n, n)
        assert "slopes" in self.equations.entries
        return J


def spring(name, a, b, **law):
    return Force(name=name, kind="line", a=a, b=b, **law)


def pulled_chain():
    """A planar chain with a spring and damper and friction."""
    rng = np.random.default_rng(1)
    inertia = Inertia(ixx=0.1, iyy=0.2, izz=0.3)
    bodies = [Body(name=f"b{i}", mass=1.0 + i, center_of_mass=(0.3, 0.1 * i, 0.05), inertia=inertia) for i in range(3)]
    joints = [
        Joint(
            name=f"j{i}",
            parent=f"b{i - 1}" if i else "world",
            child=f"b{i}",
            axis=tuple(map(float, rng.normal(size=3))),
            a=Pose(position=(0.5, 0.0, 0.1)),
            damping=0.3,
            stiffness=0.1 * i,
            friction=0.2,
        )
        for i in range(3)
    ]
    frames = (
        Frame(name="hook", parent="world", pose=Pose(position=(1.0, 1.0, 0.4))),
        Frame(name="end", parent="b2", pose=Pose(position=(0.4, 0.0, 0.0))),
    )
    forces = (spring("tow", "hook", "end", stiffness=400.0, rest=0.3, damping=5.0),)
    return Model(name="chain", bodies=tuple(bodies), joints=tuple(joints), frames=frames, forces=forces)


def with_state():
    """A spring and damper in series: a state of its own."""
    model = pulled_chain()
    return Model(
        name="series",
        bodies=model.bodies,
        joints=model.joints,
        frames=model.frames,
        forces=(Force(name="tow", kind="series", a="hook", b="end", stiffness=400.0, rest=0.3, damping=50.0),),
    )


SPEEDS = np.array([0.7, -1.1, 0.4])
CASES = {
    "tree with forces": lambda: Equations(pulled_chain(), q0=[0.3, 0.5, -0.2], v0=SPEEDS),
    "joint forces as formulas": lambda: Equations(
        pulled_chain(), {"j0": "3*sin(t) - 2*j0.v*j1.q", "j2": "-5*j2.q^2"}, [0.3, 0.5, -0.2], SPEEDS
    ),
    "state of a force": lambda: Equations(with_state(), q0=[0.3, 0.5, -0.2], v0=SPEEDS),
    "six joints": lambda: Equations(arm(), q0=np.linspace(0.1, 0.9, 6), v0=np.linspace(-1, 1, 6)),
    "quaternion": lambda: Equations(
        machines.heavy_top(machines.read("heavy_top_bruls")[0]), q0=[0.1, 0.7, -0.1, 0.7], v0=SPEEDS
    ),
    "governor": lambda: Equations(
        problems.flyball_governor().model, q0=problems.flyball_governor().q0, v0=problems.flyball_governor().v0
    ),
    "loop": lambda: Equations(
        problems.four_bar().model, None, problems.four_bar().q0, problems.four_bar().v0, closed_forms=False
    ),
    "loop in closed form": lambda: Equations(
        problems.four_bar().model, None, problems.four_bar().q0, problems.four_bar().v0
    ),
    "three loops and a spring": lambda: Equations(
        problems.andrews_squeezer().model,
        problems.andrews_squeezer().torque,
        problems.andrews_squeezer().q0,
        {"beta": 30.0},
        closed_forms=False,
    ),
    "spatial loop": lambda: Equations(
        problems.bricard().model, None, problems.bricard().q0, problems.bricard().v0, closed_forms=False
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_central_differences_along_every_motion(name):
    e = CASES[name]()
    e.y = e.constraint_manifold(e.y)
    J, rng = e.jacobian(), np.random.default_rng(0)
    scale = np.max(np.abs(e.derivative(e.y)))
    for _ in range(2 * len(e.y)):
        way = rng.normal(size=len(e.y)) * STEP
        ahead, behind = e.constraint_manifold(e.y + way), e.constraint_manifold(e.y - way)
        change = e.derivative(ahead) - e.derivative(behind)
        moved = ahead - behind
        np.testing.assert_allclose(J @ moved, change, rtol=0, atol=1e-6 * (np.max(np.abs(change)) + scale * STEP))


@pytest.fixture(scope="module")
def governor():
    """The governor by exact Jacobians and by differences: (run, run)."""
    problem, end = problems.flyball_governor(), 1.0
    options = {"method": "radau5", "rtol": 1e-6, "atol": 1e-8, "q0": problem.q0, "v0": problem.v0, "output": end}
    exact = simulate(problem.model, end, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulator, "CompiledEquations", lambda *a: CompiledEquations(*a[:5], slopes=False, events=a[6]))
        differences = simulate(problem.model, end, **options)
    return exact, differences


def test_exact_jacobians_save_evaluations(governor):
    exact, differences = (run.statistics for run in governor)
    assert exact.jacobians > 0
    assert exact.evaluations < differences.evaluations - (len(governor[0].q[0]) - 1) * exact.jacobians


def test_both_find_the_same_motion(governor):
    exact, differences = governor
    np.testing.assert_allclose(exact.q[-1], differences.q[-1], rtol=0, atol=1e-4)


def test_long_machines_do_without():
    model = arm(count=30)
    run = simulate(model, 0.01, method="radau5", rtol=1e-6, atol=1e-8, output=0.01)
    sharp = simulate(model, 0.01, method="rk853", rtol=1e-11, atol=1e-12, output=0.01)
    np.testing.assert_allclose(run.q[-1], sharp.q[-1], atol=1e-5)
