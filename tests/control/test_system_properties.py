"""Poles, zeros, responses, modes by name, feedback and files of linear systems."""

import importlib.util

import numpy as np
import pytest
import scipy.io
import scipy.linalg
import scipy.signal

import kinetostat as ks
from core.control.feedback import lqr
from core.control.linear_system import LinearSystem, compute_invariant_zeros
from core.errors import FileError, ModelError
from tests.control.machines import cart_pole, mass_chain


def upright():
    model = cart_pole(1.2, 0.3, 0.4, 0.012, 9.81, 0.15)
    return model, ks.linearise(model, [0.0, 0.0], inputs=["x.tau"], outputs=["x.q", "th"])


def test_zeros_of_the_cart_are_those_of_the_locked_pole():
    """With the cart held, the pole is alone: its poles are the zeros from the force to the cart."""
    _, system = upright()
    expected = np.sqrt(0.3 * 9.81 * 0.4 / (0.012 + 0.3 * 0.16))
    np.testing.assert_allclose(np.sort(system.selected(outputs="x.q").zeros.real), [-expected, expected], rtol=1e-9)
    assert len(system.zeros) == 0  # both outputs at once have none


@pytest.mark.parametrize("shape", [(4, 1, 1), (5, 2, 2), (6, 2, 3), (6, 3, 2)])
def test_at_a_zero_the_rank_of_the_system_falls(shape):
    n, inputs, outputs = shape
    rng = np.random.default_rng(sum(shape))
    A, B, C = rng.normal(size=(n, n)), rng.normal(size=(n, inputs)), rng.normal(size=(outputs, n))
    if inputs != outputs:  # of systems that are not square most have none: a mode that no input reaches is one
        B[0] = 0.0
        A[0, 1:] = 0.0
        C[:, 0] = 0.0 if outputs > inputs else C[:, 0]
        A[1:, 0] = 0.0 if outputs > inputs else A[1:, 0]
    zeros = compute_invariant_zeros(A, B, C, np.zeros((outputs, inputs)))
    assert len(zeros) >= 1
    for zero in zeros:
        pencil = np.block([[A - zero * np.eye(n), B], [C, np.zeros((outputs, inputs))]])
        sigma = np.linalg.svd(pencil, compute_uv=False)
        assert sigma[-1] < 1e-9 * sigma[0]


def test_zeros_of_a_system_that_lets_its_input_through_are_poles_of_its_inverse():
    rng = np.random.default_rng(5)
    A, B, C, D = rng.normal(size=(4, 4)), rng.normal(size=(4, 2)), rng.normal(size=(2, 4)), np.diag([1.0, 2.0])
    expected = np.linalg.eigvals(A - B @ np.linalg.solve(D, C))
    np.testing.assert_allclose(
        np.sort_complex(compute_invariant_zeros(A, B, C, D)), np.sort_complex(expected), rtol=1e-8
    )


def test_responses_equal_those_of_scipy():
    chain = mass_chain([1.2, 0.7], [40.0, 25.0], [0.3, 0.1])
    system = ks.linearise(chain, inputs=["x0.tau"], outputs=["x1", "x0.a"], coordinates=["x0", "x1"])
    t = np.linspace(0.0, 4.0, 401)
    np.testing.assert_allclose(
        system.step_response(t)[:, :, 0], scipy.signal.step(system.to_scipy(), T=t)[1], atol=1e-9
    )
    impulse = scipy.signal.impulse(system.to_scipy(), T=t)[1]
    np.testing.assert_allclose(system.impulse_response(t)[:, :, 0], impulse, atol=1e-9)
    K = np.array([[40.0 + 25.0, -25.0], [-25.0, 25.0]])
    D = np.array([[0.3 + 0.1, -0.1], [-0.1, 0.1]])
    for omega in (0.5, 3.0, 20.0):
        stiffness = K + 1j * omega * D - omega**2 * np.diag([1.2, 0.7])
        expected = np.linalg.solve(stiffness, [1.0, 0.0])[1]
        assert system.frequency_response(omega)[0, 0, 0] == pytest.approx(expected, rel=1e-11)
    assert system.dc_gain()[0, 0] == pytest.approx(np.linalg.inv(K)[1, 0], rel=1e-12)
    with pytest.raises(ModelError, match="do not start at 0 with equal steps"):
        system.step_response([0.0, 1.0, 1.5])


def test_modes_that_inputs_do_not_reach_or_outputs_do_not_see_are_named():
    """Two equal carts held by equal springs to the ground and by one to each other: the sum and the difference."""
    carts = [ks.Body(name=f"m{i}", mass=1.0) for i in range(2)]
    joints = [
        ks.Joint(name=f"x{i}", kind="prismatic", parent="world", child=f"m{i}", axis=(1.0, 0.0, 0.0)) for i in range(2)
    ]
    laws = [f"9*x{i} + 8*(x{i} - x{1 - i})" for i in range(2)]
    forces = [ks.Force(name=f"f{i}", kind="joint", joint=f"x{i}", law=law) for i, law in enumerate(laws)]
    model = ks.Model(bodies=tuple(carts), joints=tuple(joints), forces=tuple(forces))
    whole = ks.linearise(model, inputs=["x0.tau"], outputs=["x0 + x1"])
    assert whole.controllable
    assert not whole.observable
    np.testing.assert_allclose(sorted({round(abs(pole), 9) for pole in whole.poles}), [3.0, 5.0])
    assert whole.remarks() == ("Mode 2, 0.796 Hz, is not observable from x0 + x1.",)
    views = whole.mode_views()
    assert views[0].observability == pytest.approx(1.0)
    assert views[1].observability == pytest.approx(0.0, abs=1e-9)


def test_lqr_of_a_double_integrator_is_its_closed_form():
    body = ks.Model(
        bodies=(ks.Body(name="m", mass=1.0),),
        joints=(ks.Joint(name="x", kind="prismatic", parent="world", child="m", axis=(1.0, 0.0, 0.0)),),
    )
    system = ks.linearise(body, inputs=["x.tau"])
    found = lqr(system, {"x.q": 1.0}, {"x.tau": 1.0})
    np.testing.assert_allclose(found.K, [[1.0, np.sqrt(2.0)]], rtol=1e-12)
    np.testing.assert_allclose(sorted(found.poles, key=lambda s: s.imag), np.sqrt(0.5) * np.array([-1 - 1j, -1 + 1j]))


def test_the_applied_feedback_holds_the_pole_up_as_the_linear_system_says():
    model, system = upright()
    found = lqr(system, {"x.q": 10.0, "th.q": 100.0}, {"x.tau": 0.1})
    held = found.applied(model)
    assert len(held.parameters) == 4
    run = ks.simulate(held, duration=5.0, q0=[0.0, 1e-3], output=0.05)
    linear = found.closed_loop().free_response(run.time, [0.0, 1e-3, 0.0, 0.0])
    # the next term is of third order: 1e-9
    np.testing.assert_allclose(run.q, linear, atol=1e-8)
    closed = ks.linearise(held, [0.0, 0.0])
    np.testing.assert_allclose(np.sort_complex(closed.poles), np.sort_complex(found.poles), rtol=1e-8)


def test_lqr_says_what_the_inputs_do_not_reach():
    model = cart_pole(1.2, 0.3, 0.4, 0.012, 9.81)
    apart = ks.edits.add(
        model,
        ks.Body(name="stick", mass=1.0, center_of_mass=(0.0, 0.0, 0.5)),
        ks.Joint(name="alone", parent="world", child="stick", axis=(0.0, 1.0, 0.0), armature=0.1),
    )
    system = ks.linearise(apart, np.zeros(3), inputs=["x.tau"])
    with pytest.raises(ModelError, match=r"not controllable from x\.tau"):
        lqr(system)
    with pytest.raises(ModelError, match="x.q"):
        lqr(system, {"x.r": 1.0})


def test_files_hold_all_and_are_refused_when_they_hold_something_else(tmp_path):
    _, system = upright()
    path = tmp_path / "cart.npz"
    system.to_npz(path)
    again = LinearSystem.from_npz(path)
    for name in ("A", "B", "C", "D", "x0", "u0", "y0"):
        np.testing.assert_array_equal(getattr(again, name), getattr(system, name))
    assert again.state_names == system.state_names
    assert again.units == system.units
    system.to_mat(tmp_path / "cart.mat")
    found = scipy.io.loadmat(tmp_path / "cart.mat", simplify_cells=True)
    np.testing.assert_array_equal(found["A"], system.A)
    assert list(found["state_names"]) == list(system.state_names)
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    with pytest.raises(FileError, match="not contain a linear system"):
        LinearSystem.from_npz(tmp_path / "bad.npz")


def test_python_control_has_the_same_system():
    control = pytest.importorskip("control")
    _, system = upright()
    theirs = system.to_control()
    np.testing.assert_allclose(np.sort_complex(theirs.poles()), np.sort_complex(system.poles), atol=1e-9)
    assert theirs.input_labels == ["x_tau"]
    K = control.lqr(theirs, np.diag([10.0, 100.0, 0.0, 0.0]), [[0.1]])[0]
    np.testing.assert_allclose(lqr(system, {"x.q": 10.0, "th.q": 100.0}, [0.1]).K, K, rtol=1e-7)
    back = LinearSystem.from_control(theirs)
    np.testing.assert_array_equal(back.A, system.A)
    assert back.output_names == ("x_q", "th")
    # a mass chain is the feedback of its masses by its springs
    chain = ks.linearise(
        mass_chain([1.2, 0.7], [40.0, 25.0], [0.3, 0.1]), inputs=["x0.tau"], outputs=["x1"], coordinates=["x0", "x1"]
    )
    free = mass_chain([1.2, 0.7], [0.0, 0.0], [0.0, 0.0])
    masses = ks.linearise(
        free, inputs=["x0.tau", "x1.tau"], outputs=["x0", "x1", "x0.v", "x1.v"], coordinates=["x0", "x1"]
    )
    springs = control.ss([], [], [], [[65.0, -25.0, 0.4, -0.1], [-25.0, 25.0, -0.1, 0.1]])
    loop = control.feedback(masses.to_control(), springs)
    np.testing.assert_allclose(chain.A, loop.A, atol=1e-12)
    np.testing.assert_allclose(chain.B, loop.B[:, :1], atol=1e-12)


@pytest.mark.skipif(importlib.util.find_spec("control") is not None, reason="it is installed")
def test_without_python_control_the_message_says_how_to_get_it():
    _, system = upright()
    with pytest.raises(ModelError, match="pip install control"):
        system.to_control()
