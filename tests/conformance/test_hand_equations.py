"""Force elements, couplings, rods and drivers in motion, against equations of motion derived here by other means:
Lagrange's equations in symbols, multipliers written out, balances of momentum, Kepler's and Euler's laws."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

from core.files import load, loads
from core.mechanism import Mechanism
from core.model import Model
from core.simulation import Run, simulate
from resources import EXAMPLES

TIGHT = {"rtol": 1e-11, "atol": 1e-12}
SOLVER = {"rtol": 1e-12, "atol": 1e-13, "method": "DOP853"}


def machine(text: str) -> Model:
    """A model from the body of a native file."""
    return loads("kinetostat: 1\nname: Machine\n" + text, "kst")


def lagrangian(T, V, Q, q, t):
    """(q, v) → accelerations by Lagrange's equations; Q: generalised forces, one for each of the functions q(t)."""
    plain = sp.symbols(f"p0:{len(q)} v0:{len(q)} a0:{len(q)}")
    n = len(q)
    known = [
        *((x.diff(t, 2), s) for x, s in zip(q, plain[2 * n :], strict=True)),
        *((x.diff(t), s) for x, s in zip(q, plain[n : 2 * n], strict=True)),
        *zip(q, plain[:n], strict=True),
    ]
    rows = [((T - V).diff(x.diff(t)).diff(t) - (T - V).diff(x) - f).subs(known) for x, f in zip(q, Q, strict=True)]
    M = sp.Matrix(rows).jacobian(plain[2 * n :])
    rest = sp.Matrix(rows).subs(dict.fromkeys(plain[2 * n :], 0))
    M_of, rest_of = sp.lambdify(plain[: 2 * n], M), sp.lambdify(plain[: 2 * n], rest)
    return lambda _, y: [*y[n:], *np.linalg.solve(M_of(*y), -rest_of(*y)).ravel()]


@pytest.mark.parametrize(
    ("at", "place"),
    [("fraction", 0.3), *(pytest.param(*each, marks=pytest.mark.slow) for each in (("from_a", 0.25), ("from_b", 0.2)))],
)
def test_a_spring_that_carries_two_masses(at, place) -> None:
    """A bob in a plane on a damped spring with point masses on its line."""
    run = simulate(
        machine(f"""
bodies: {{h: {{}}, s: {{mass: 2}}}}
joints:
  x: {{kind: prismatic, parent: world, child: h, axis: [1, 0, 0], rest: [0.8]}}
  y: {{kind: prismatic, parent: h, child: s, axis: [0, 0, 1], rest: [-0.5]}}
frames: {{o: {{parent: world}}}}
forces:
  f:
    {{a: o, b: s, stiffness: 80, rest: 0.7, damping: 0.5,
     masses: [{{mass: 0.7, at: {at}, place: {place}}}, {{mass: 0.3, at: from_b, place: 0.1}}]}}
"""),
        1.5,
        v0={"x": 0.5, "y": -1.0},
        output=0.05,
        **TIGHT,
    )
    t = sp.Symbol("t")
    x, y = sp.Function("x")(t), sp.Function("y")(t)
    r, length = sp.Matrix([x, y]), sp.sqrt(x**2 + y**2)
    first = {"fraction": place * r, "from_a": place * r / length, "from_b": r - place * r / length}[at]
    carried = ((2.0, r), (0.7, first), (0.3, r - 0.1 * r / length))
    T = sum(m * (p.diff(t).T * p.diff(t))[0] / 2 for m, p in carried)
    V = sum(m * 9.81 * p[1] for m, p in carried) + 40.0 * (length - 0.7) ** 2
    Q = [-0.5 * length.diff(t) * length.diff(each) for each in (x, y)]
    by_hand = solve_ivp(lagrangian(T, V, Q, (x, y), t), (0.0, 1.5), [0.8, -0.5, 0.5, -1.0], t_eval=run.time, **SOLVER)
    np.testing.assert_allclose(np.stack([run["x.q"], run["y.q"]]), by_hand.y[:2], atol=1e-8)


WRENCHES = """
world: {gravity: {kind: none}}
bodies:
  a: {mass: 1.5, center_of_mass: [0.1, 0.2, -0.1], inertia: {ixx: 0.3, iyy: 0.5, izz: 0.6, ixy: 0.05}}
  b: {mass: 0.8, center_of_mass: [-0.1, 0.05, 0.1], inertia: {ixx: 0.2, iyy: 0.1, izz: 0.15, iyz: 0.01}}
  c: {mass: 0.8, inertia: {ixx: 0.2, iyy: 0.1, izz: 0.15}}
frames:
  fa: {parent: a, pose: {position: [0, 0.1, 0.5], rotation: [0.1, -0.4, 0.1]}}
  fb: {parent: b, pose: {position: [0.3, 0.1, 0], rotation: [0.3, 0.2, 0.1]}}
sensors: {d: {a: fa, b: fb}}
forces:
  third: {kind: wrench, a: fa, b: fb, resolve: c, force: ["2*sin(t)", 1, "d"], torque: [0.3, "0.1*d.rate", -0.2]}
  own: {kind: wrench, a: fa, b: fb, resolve: fb, force: [1, 0.5, 0], torque: [0, 0.1, 0]}
"""


def test_wrenches_between_free_bodies_keep_momentum_whatever_axes_they_are_given_in() -> None:
    model = machine(WRENCHES)
    run = simulate(model, 2.0, q0={"b.x": 1.0}, v0=0.3 * np.random.default_rng(0).normal(size=18), output=0.1, **TIGHT)
    linear, angular = np.zeros((len(run.time), 3)), np.zeros((len(run.time), 3))
    for body in model.bodies:
        X_WB, V_WB = run.mech.frame(run.q, body.name), run.mech.frame_velocity(run.q, run.v, body.name)
        R, i = X_WB[:, :3, :3], body.inertia
        local = np.array([[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]], dtype=float)
        arm = R @ np.array(body.center_of_mass, dtype=float)
        momentum = float(body.mass) * (V_WB[:, 3:] + np.cross(V_WB[:, :3], arm))
        spin = (R @ local @ np.swapaxes(R, 1, 2) @ V_WB[:, :3, None])[..., 0]
        linear += momentum
        angular += spin + np.cross(X_WB[:, :3, 3] + arm, momentum)
    assert np.ptp(run["a.velocity"], axis=0).max() > 0.1
    np.testing.assert_allclose(linear, linear[:1].repeat(len(linear), 0), atol=1e-8)
    np.testing.assert_allclose(angular, angular[:1].repeat(len(angular), 0), atol=1e-8)


def test_a_spring_law_along_an_angle_over_many_turns() -> None:
    run = simulate(
        machine("""
world: {gravity: {kind: none}}
bodies: {w: {mass: 1, inertia: {ixx: 0.1, iyy: 0.1, izz: 0.1}}}
joints: {j: {parent: world, child: w, kind: continuous}}
sensors: {turned: {kind: angle, b: w, axis: [0, 0, 1]}}
forces: {s: {kind: sensor, sensor: turned, damping: 0.01, law: "0.3*sin(2*turned)"}}
"""),
        10.0,
        v0={"j": 15.0},
        output=0.1,
        **TIGHT,
    )
    by_hand = solve_ivp(
        lambda _, y: [y[1], (-0.01 * y[1] - 0.3 * np.sin(2 * y[0])) / 0.1],
        (0.0, 10.0),
        [0.0, 15.0],
        t_eval=run.time,
        **SOLVER,
    )
    assert by_hand.y[0, -1] > 10 * 2 * np.pi
    np.testing.assert_allclose(run["j.q"], by_hand.y[0], atol=1e-6)
    np.testing.assert_allclose(run["turned"], run["j.q"], atol=1e-9)


@pytest.mark.parametrize("body", ["circler", "comet"])
def test_orbits_close_after_keplers_period(body) -> None:
    model = load(EXAMPLES / "point_gravity.kst")
    start = simulate(model, 1e-3)
    r, v = start[f"{body}.position"][0], start[f"{body}.velocity"][0]
    axis = -0.5 / (0.5 * v @ v - 1.0 / np.linalg.norm(r))
    period = 2.0 * np.pi * axis**1.5
    orbit = simulate(model, period, output=period / 20, **TIGHT)
    np.testing.assert_allclose(orbit[f"{body}.position"][-1], r, atol=1e-8)
    areas = np.cross(orbit[f"{body}.position"], orbit[f"{body}.velocity"])
    np.testing.assert_allclose(areas, areas[:1].repeat(len(areas), 0), atol=1e-9)


def test_a_body_that_turns_over_follows_eulers_equations() -> None:
    """Spun about its middle axis (Dzhanibekov); the centre of mass goes straight on, the quaternion stays unit."""
    run = simulate(
        machine("""
world: {gravity: {kind: none}}
bodies: {b: {mass: 1, inertia: {ixx: 1, iyy: 2, izz: 3}}}
"""),
        12.0,
        v0=[1e-3, 5.0, 1e-3, 0.1, 0.2, 0.3],
        output=0.1,
        **TIGHT,
    )
    euler = solve_ivp(
        lambda _, w: [-w[1] * w[2], w[2] * w[0], -w[0] * w[1] / 3],
        (0.0, 12.0),
        [1e-3, 5.0, 1e-3],
        t_eval=run.time,
        **SOLVER,
    )
    assert euler.y[1].min() < -4.9, "it turns over"
    np.testing.assert_allclose(run.v[:, :3], euler.y.T, atol=1e-6)
    np.testing.assert_allclose(run["b.position"], run.time[:, None] * np.array([0.1, 0.2, 0.3]), atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(run.q[:, 3:], axis=1), 1.0, atol=1e-14)


BARS = """
bodies:
  c: {mass: 1, center_of_mass: [0.1, 0, 0], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.01}}
  r: {mass: 1.5, center_of_mass: [0.25, 0, 0], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.01}}
"""
COUPLER = "  k: {mass: 2, center_of_mass: [0.4, 0.1, 0], inertia: {ixx: 0.01, iyy: 0.03, izz: 0.01}}\n"
WHEEL = "  w: {mass: 0.5, inertia: {ixx: 0.02, iyy: 0.02, izz: 0.02}}\n"
LOOP = """
joints:
  A: {parent: world, child: c, axis: [0, -1, 0], rest: [1.2]}
  B: {parent: c, child: k, axis: [0, -1, 0], a: {position: [0.2, 0, 0]}, rest: [-0.9]}
  C: {parent: k, child: r, axis: [0, -1, 0], a: {position: [0.8, 0, 0]}, b: {position: [0.5, 0, 0]}, rest: [0.9]}
  D: {parent: world, child: r, axis: [0, -1, 0], a: {position: [0.7, 0, 0]}, rest: [1.3]}
"""


def spun(text: str) -> Run:
    """The machine moved for 2 s, begun with its crank at 1.2 rad and 3 rad/s."""
    mech = Mechanism(machine(text))
    return simulate(mech, 2.0, q0=mech.move(mech.rest(), {"A": 1.2}), v0={"A": 3.0}, output=0.1, **TIGHT)


def test_a_geared_wheel_on_the_crank_of_a_loop_is_inertia_of_the_crank() -> None:
    """Ratio −3 with 0.02 kg·m² weighs like 0.18 kg·m² on the crank, coupled in coordinates or by a gear's force."""
    wheel = BARS + COUPLER + WHEEL + LOOP + "  w: {parent: world, child: w, axis: [0, 1, 0]%s}\n"
    follows = spun(wheel % ", mimic: {leader: A, ratio: -3, offset: 0.2}")
    held = spun(
        wheel % ", rest: [-3.4]" + "constraints: {g: {kind: gear, joint: w, leader: A, ratio: -3, offset: 0.2}}\n"
    )
    heavy = spun(BARS + COUPLER + LOOP.replace("child: c,", "child: c, armature: 0.18,"))
    for run in (follows, held):
        np.testing.assert_allclose(run["A.q"], heavy["A.q"], atol=1e-8)
        np.testing.assert_allclose(run["w.q"], 0.2 - 3.0 * run["A.q"], atol=1e-8)
    force = held.mech.constraint_forces(held.q, held.v, np.zeros_like(held.v))["g"][:, 0]
    np.testing.assert_allclose(force, 0.02 * held["w.a"], atol=1e-8)


@pytest.mark.parametrize("rest", [1.3, -1.6])
def test_a_rod_between_crank_and_rocker_on_either_side(rest) -> None:
    """Open and crossed: the multiplier's equations written out for both angles."""
    run = simulate(
        machine(
            BARS
            + f"""
frames: {{p: {{parent: c, pose: {{position: [0.2, 0, 0]}}}}, q: {{parent: r, pose: {{position: [0.5, 0, 0]}}}}}}
joints:
  A: {{parent: world, child: c, axis: [0, -1, 0], rest: [1.2]}}
  D: {{parent: world, child: r, axis: [0, -1, 0], a: {{position: [0.7, 0, 0]}}, rest: [{rest}]}}
constraints: {{rod: {{kind: rod, a: p, b: q, length: 0.8}}}}
"""
        ),
        2.0,
        v0={"A": 4.0},
        output=0.1,
        **TIGHT,
    )
    assert np.sign(run["D.q"][0]) == np.sign(rest)

    def by_hand(_, y):
        a, d, va, vd = y
        P, Q = 0.2 * np.array([np.cos(a), np.sin(a)]), 0.5 * np.array([np.cos(d), np.sin(d)])
        across_P, across_Q = np.array([-P[1], P[0]]), np.array([-Q[1], Q[0]])
        rod, rate = Q + np.array([0.7, 0.0]) - P, across_Q * vd - across_P * va
        G = np.array([[-rod @ across_P, rod @ across_Q]])
        bias = rate @ rate + rod @ (P * va**2 - Q * vd**2)
        M = np.diag([0.01 + 0.1**2, 0.01 + 1.5 * 0.25**2])
        K = np.block([[M, G.T], [G, np.zeros((1, 1))]])
        weight = 9.81 * np.array([0.1 * np.cos(a), 1.5 * 0.25 * np.cos(d)])
        return [va, vd, *np.linalg.solve(K, [*-weight, -bias])[:2]]

    exact = solve_ivp(
        by_hand, (0.0, 2.0), [run[f"{x}"][0] for x in ("A.q", "D.q", "A.v", "D.v")], t_eval=run.time, **SOLVER
    )
    np.testing.assert_allclose(np.stack([run["A.q"], run["D.q"]]), exact.y[:2], atol=1e-7)


def test_a_coupled_joint_inside_a_loop() -> None:
    """Two cranks mirrored by a coupling, couplers pinned together: one freedom, Lagrange's equation in symbols."""
    text = """
bodies:
  l: {mass: 1, center_of_mass: [0.1, 0, 0], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.01}}
  r: {mass: 1, center_of_mass: [0.1, 0, 0], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.01}}
  kl: {mass: 0.5, center_of_mass: [0.2, 0, 0], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.01}}
  kr: {mass: 0.5, center_of_mass: [0.2, 0, 0], inertia: {ixx: 0.01, iyy: 0.01, izz: 0.01}}
joints:
  L: {parent: world, child: l, axis: [0, -1, 0], rest: [0.5]}
  R: {parent: world, child: r, axis: [0, -1, 0], a: {position: [0.6, 0, 0]}, mimic: {leader: L, ratio: -1, offset: pi}}
  KL: {parent: l, child: kl, axis: [0, -1, 0], a: {position: [0.3, 0, 0]}, rest: [0.5]}
  KR: {parent: r, child: kr, axis: [0, -1, 0], a: {position: [0.3, 0, 0]}, rest: [-0.5]}
  M: {parent: kl, child: kr, axis: [0, -1, 0], a: {position: [0.4, 0, 0]}, b: {position: [0.4, 0, 0]}}
"""
    run = simulate(machine(text), 0.4, v0={"L": 1.0}, output=0.02, **TIGHT)
    t = sp.Symbol("t")
    q = sp.Function("q")(t)
    pin = sp.Matrix([0.3 * sp.cos(q), 0.3 * sp.sin(q)])
    lift = sp.acos((0.3 - pin[0]) / 0.4)  # of the coupler, whose end stays in the middle
    middle = pin + 0.2 * sp.Matrix([sp.cos(lift), sp.sin(lift)])
    half = 0.5 * (0.01 + 1.0 * 0.1**2) * q.diff(t) ** 2 + 0.25 * (middle.diff(t).T * middle.diff(t))[0]
    T = half + 0.005 * lift.diff(t) ** 2
    V = 9.81 * (0.1 * sp.sin(q) + 0.5 * middle[1])
    exact = solve_ivp(
        lagrangian(T, V, [0], (q,), t), (0.0, 0.4), [run["L.q"][0], run["L.v"][0]], t_eval=run.time, **SOLVER
    )
    np.testing.assert_allclose(run["L.q"], exact.y[0], atol=1e-8)
    np.testing.assert_allclose(run["R.q"], np.pi - run["L.q"], atol=1e-12)


@pytest.mark.parametrize(
    ("motion", "function"),
    [("position", "1.2 + 2*t + 0.3*sin(3*t)"), ("velocity", "2 + 0.9*cos(3*t)"), ("acceleration", "-2.7*sin(3*t)")],
)
def test_a_driven_loop_needs_the_torque_of_inverse_dynamics(motion, function) -> None:
    driver = f'drivers: {{m: {{joint: A, motion: {motion}, function: "{function}"}}}}\n'
    mech = Mechanism(machine(BARS + COUPLER + LOOP + driver))
    start = mech.move(mech.rest(), {"A": 1.2})
    run = simulate(mech, 2.0, q0=start, v0={"A": 2.9}, output=0.05, **TIGHT)
    np.testing.assert_allclose(run["A.q"], 1.2 + 2.0 * run.time + 0.3 * np.sin(3.0 * run.time), atol=1e-8)
    motor = mech.constraint_forces(run.q, run.v, np.zeros_like(run.v), t=run.time)["m"][:, 0]
    a = np.stack([run[f"{name}.a"] for name in mech.v_names], axis=-1)
    undriven = Mechanism(machine(BARS + COUPLER + LOOP))
    torque = undriven.inverse_dynamics(run.q, run.v, a, actuators=["A"])
    np.testing.assert_allclose(motor, torque[:, 0], atol=1e-7)
