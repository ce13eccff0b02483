"""The worked examples of Robotica's manual, against closed forms and against textbook equations integrated by SciPy."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from core.files import load
from core.functions import Context, call
from core.functions.results import EllipsoidField, Message, Motion, leaf_results
from core.robotica.robotica_session import Session
from core.robotica.workspace import ScriptHost
from resources import examples

EXAMPLES = {example.name: example for example in examples()}
GIVEN = {
    "a1": 3.0,
    "a2": 3.0,
    "m1": 10.0,
    "m2": 5.0,
    "I1": 0.833,
    "I2": 0.417,
    "g": 9.8,
    "om": 1.0,
    "kp": 400.0,
    "kd": 40.0,
}


def machine(name):
    return Context.of(load(EXAMPLES[name].path))


def run_of(result):
    return next(part.run for part in leaf_results(result) if isinstance(part, Motion))


# ------------------------------------------------------------------------------- one link and its sine tracker


@pytest.mark.parametrize(("k1", "k2"), [(400.0, 40.0), (100.0, 20.0)])
def test_one_link_tracks_the_sine_as_the_closed_form_says(k1, k2):
    (torques,) = EXAMPLES["one_link"].torques
    result = call(
        "response",
        machine("one_link"),
        torques=str(torques),
        values={"k1": k1, "k2": k2},
        initial={"q1": 1.0},
        end=10.0,
    )
    run, w = run_of(result), np.sqrt(k1)
    # unit inertia: the error obeys e'' + k2 e' + k1 e = 0, here critically damped; e(0) = −1, e'(0) = 3
    expected = (-1.0 + (3.0 - w) * run.time) * np.exp(-w * run.time)
    np.testing.assert_allclose(3.0 * np.sin(run.time) - run["joint1.q"], expected, atol=1e-7)


# ------------------------------------------------------------------------------- two links and their circle


def textbook(t, y):
    """Rates of (q, v) of the two-link arm under the circle controller, every formula written out by hand."""
    a1, a2, m1, m2, i1, i2, g = (GIVEN[name] for name in ("a1", "a2", "m1", "m2", "I1", "I2", "g"))
    (q1, q2), v = y[:2], y[2:]
    c2, s2 = np.cos(q2), np.sin(q2)
    mass = np.array(
        [
            [
                i1 + i2 + a1**2 * m1 / 4 + a1**2 * m2 + a1 * a2 * m2 * c2 + a2**2 * m2 / 4,
                i2 + a1 * a2 * m2 * c2 / 2 + a2**2 * m2 / 4,
            ],
            [i2 + a1 * a2 * m2 * c2 / 2 + a2**2 * m2 / 4, i2 + a2**2 * m2 / 4],
        ]
    )
    h = a1 * a2 * m2 * s2 / 2
    bias = np.array([-h * (2 * v[0] * v[1] + v[1] ** 2), h * v[0] ** 2])
    bias += g * np.array(
        [m1 * a1 / 2 * np.cos(q1) + m2 * (a1 * np.cos(q1) + a2 / 2 * np.cos(q1 + q2)), m2 * a2 / 2 * np.cos(q1 + q2)]
    )
    wanted, rate, second = reference(t)
    tau = mass @ (second + GIVEN["kp"] * (wanted - y[:2]) + GIVEN["kd"] * (rate - v)) + bias
    return np.concatenate([v, np.linalg.solve(mass, tau - bias)])


def reference(t):
    """Joint angles of the circle's point and their two rates, by differences of the law of cosines."""
    step = 1e-3
    q = [angles(t + k * step) for k in (-2, -1, 0, 1, 2)]
    first = (q[0] - 8 * q[1] + 8 * q[3] - q[4]) / (12 * step)
    second = (-q[0] + 16 * q[1] - 30 * q[2] + 16 * q[3] - q[4]) / (12 * step**2)
    return q[2], first, second


def angles(t):
    x, y, a = 2 + np.cos(t), 2 + np.sin(t), 3.0
    q2 = np.arccos((x * x + y * y - 2 * a * a) / (2 * a * a))
    return np.array([np.arctan2(y, x) - np.arctan2(a * np.sin(q2), a + a * np.cos(q2)), q2])


@pytest.fixture(scope="module")
def circle():
    (torques,) = EXAMPLES["two_link"].torques
    return run_of(call("response", machine("two_link"), torques=str(torques), values=GIVEN))


def test_the_way_onto_the_circle_is_that_of_the_textbook_equations(circle):
    times = circle.time[circle.time <= 1.5]
    found = solve_ivp(textbook, (0.0, 1.5), np.zeros(4), "DOP853", times, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(circle.q[: len(times)], found.y[:2].T, atol=2e-6)
    np.testing.assert_allclose(circle.v[: len(times)], found.y[2:].T, atol=2e-5)


def test_joint_curves_settle_and_the_tip_runs_round_the_circle(circle):
    late = circle.time > 1.5
    wanted = np.array([angles(t) for t in circle.time[late]])
    np.testing.assert_allclose(circle.q[late], wanted, atol=1e-7)
    tip = circle["tool.position"][late, :2] - 2.0
    np.testing.assert_allclose(np.linalg.norm(tip, axis=1), 1.0, atol=1e-6)
    turned = np.unwrap(np.arctan2(tip[:, 1], tip[:, 0]))
    np.testing.assert_allclose(np.diff(turned), np.diff(circle.time[late]), atol=1e-6)  # 1 rad/s


def test_without_values_the_symbols_are_named_and_assumed_ones_said():
    context = machine("two_link")
    (torques,) = EXAMPLES["two_link"].torques
    needed = call_needed(context, torques)
    assert {name for name, value in needed.items() if value is None} == {"om", "kp", "kd"}
    assert {name for name, value in needed.items() if value is not None} == {"a1", "a2", "m1", "m2", "I1", "I2", "g"}
    hints = [
        p.text for p in leaf_results(call("response", context, end=0.1, values={"a1": 3.0})) if isinstance(p, Message)
    ]
    assert any("a2 = 1" in text and "a1" not in text for text in hints)


def call_needed(context, torques):
    from core.functions import FUNCTIONS

    return FUNCTIONS["response"].option("values").needed(context, {"torques": str(torques)})


# ------------------------------------------------------------------------------- ellipsoids


def tip_jacobian(q1, q2, d3):
    """3×3 of the three-link arm, by complex steps through the product of its A matrices."""

    def a_matrix(theta, d, alpha):
        c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        return np.array([[c, -s * ca, s * sa, 0], [s, c * ca, -c * sa, 0], [0, sa, ca, d], [0, 0, 0, 1]])

    def tip(x):
        half = np.pi / 2
        return (a_matrix(x[0], 5.0, half) @ a_matrix(x[1], 10.0, half) @ a_matrix(half, x[2], 0.0))[:3, 3]

    steps = np.array([q1, q2, d3]) + 1e-30j * np.eye(3)
    return np.array([tip(x).imag / 1e-30 for x in steps]).T


def test_three_link_ellipsoids():
    session = Session(ScriptHost(str(EXAMPLES["three_link"].path)))
    session.run("q2 = 50 Degree;")
    (field,) = session.run("RElp[{{q1, 0, 90 Degree}, {d3, 3, 8}}, {scale, measures}]")
    assert isinstance(field, EllipsoidField)
    assert len(field.ellipsoids) == 6
    for k, ellipsoid in enumerate(field.ellipsoids):
        J = tip_jacobian(k * np.pi / 10, np.radians(50.0), 3.0 + k)
        axes, sigma, _ = np.linalg.svd(J)
        np.testing.assert_allclose(ellipsoid.radii, sigma, rtol=1e-10)
        np.testing.assert_allclose(np.abs(np.sum(np.array(ellipsoid.axes) * axes, axis=0)), 1.0, atol=1e-9)
        assert field.measures.column("Volume")[k] == pytest.approx(4 / 3 * np.pi * abs(np.linalg.det(J)))
        assert field.measures.column("Eccentricity")[k] == pytest.approx(sigma[2] / sigma[0])
        assert max(field.drawable_ellipsoid(k).radii) == pytest.approx(1.0)  # the largest axis is two units long


def test_planar_ellipses_over_lengths_and_angles():
    session = Session(ScriptHost(str(EXAMPLES["two_link"].path)))
    session.run("a1 = 2; q2 = 40 Degree;")
    (field,) = session.run("RElp[{{theta1, 0, 90 Degree}, {a2, 1, 3}}, {monly}]")
    assert field.dimension == 2
    for k in range(6):
        a2 = 1.0 + 0.4 * k
        assert field.measures.column("Area")[k] == pytest.approx(np.pi * 2.0 * a2 * np.sin(np.radians(40.0)))
        assert abs(np.array(field.ellipsoids[k].axes)[2, 2]) == pytest.approx(1.0)  # flat, in the plane
        assert field.ellipsoids[k].radii[2] == pytest.approx(0.0, abs=1e-12)
    assert not field.graphics
    assert "Singular" not in field.remark


def test_singular_poses_are_said():
    session = Session(ScriptHost(str(EXAMPLES["two_link"].path)))
    (field,) = session.run("RElp[{{q2, -90 Degree, 90 Degree, 2}, {q1, 0, 0, 2}}, {measures}]")
    assert "Singular at 1 of 3 poses (q2 = 0°, q1 = 0°): the frame cannot move along (1, 0, 0)" in field.remark
    assert "a1 = 1" in field.remark


def test_stanford_arm_runs_over_entries_that_are_no_joint_variables():
    session = Session(ScriptHost(str(EXAMPLES["stanford"].path)))
    session.run("q2 = 40 Degree; d3 = 0.5;")
    (field,) = session.run("RElp[{{alpha1, -90 Degree, -60 Degree, 3}, {d2, 0.1, 0.4, 3}}, {measures}]")
    fixed = load(EXAMPLES["stanford"].path).chains[0].rows
    for k in range(4):
        alpha, d2 = np.radians(-90.0 + 10.0 * k), 0.1 + 0.1 * k
        np.testing.assert_allclose(field.ellipsoids[k].radii, stanford_radii(alpha, d2, fixed), rtol=1e-9)


def stanford_radii(alpha1, d2, rows):
    """Singular values of the tip's Jacobian, by complex steps."""
    table = [(0.0, alpha1, 0.412), (0.0, np.pi / 2, d2), (rows[2].a, 0.0, None)]

    def tip(x):
        T = np.eye(4, dtype=complex)
        for (a, alpha, d), theta in zip(table, (x[0], x[1], -np.pi / 2), strict=True):
            c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
            d = x[2] if d is None else d
            T = T @ np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]])
        return T[:3, 3]

    steps = np.array([0.0, np.radians(40.0), 0.5]) + 1e-30j * np.eye(3)
    return np.linalg.svd(np.array([tip(x).imag / 1e-30 for x in steps]).T, compute_uv=False)


# ------------------------------------------------------------------------------- traces


def test_simdrive_draws_by_time_and_by_the_way_of_the_tool(tmp_path):
    session = Session(ScriptHost(str(EXAMPLES["two_link"].path)))
    session.state.folder = str(tmp_path)
    times = np.linspace(0.0, 4.0, 81)
    q = np.stack([0.5 * times, 0.2 * times**2], axis=1)
    rows = [" ".join(map(repr, map(float, (t, *x)))) for t, x in zip(times, q, strict=True)]
    (tmp_path / "swing.sim").write_text("\n".join(['" t q1 q2', '" a comment', *rows, ""]))

    def tip(q1, q2):
        return np.array([np.cos(q1) + np.cos(q1 + q2), np.sin(q1) + np.sin(q1 + q2)])

    (by_time,) = session.run('SimDrive["swing.sim", {arm, 0.5}]')
    arms = np.array(by_time.parts[1].q)
    expected = 0.5 * np.arange(9)
    np.testing.assert_allclose(arms, np.stack([0.5 * expected, 0.2 * expected**2], axis=1), atol=1e-9)
    (by_length,) = session.run('SimDrive["*", {arm, distance -> 0.3}]')
    drawn = [tuple(x) for x in by_length.parts[1].q]
    places = [int(np.argmin(np.abs(q - x).sum(axis=1))) for x in drawn]
    assert places[0] == 0
    for a, b in pairwise(places):
        assert np.linalg.norm(tip(*q[b]) - tip(*q[a])) >= 0.3 - 1e-9
        assert all(np.linalg.norm(tip(*q[k]) - tip(*q[a])) < 0.3 for k in range(a, b))
