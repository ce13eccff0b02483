"""The mechanisms among the examples against published runs, closed forms and other engines."""

from __future__ import annotations

import json
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import root
from scipy.spatial.transform import Rotation

from core.files import load
from core.mechanism import Mechanism
from core.model.edits import edits
from core.simulation import simulate
from resources import EXAMPLES

REFERENCE = Path(__file__).parents[1] / "reference"
TIGHT = {"method": "rk853", "rtol": 1e-11, "atol": 1e-12}
UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Takes vectors of the references with y up to ours with z up."""


def example(name):
    return load(EXAMPLES / f"{name}.kst")


def published(name):
    """Columns of a reference table by name."""
    reference = json.loads((REFERENCE / f"{name}.json").read_text(encoding="utf-8"))["reference"]
    rows = np.array(reference.get("rows_own_high_accuracy", reference.get("rows")))
    return dict(zip(reference["columns"], rows.T, strict=True))


def compared(run, channels, table, tolerance, end=np.inf):
    """Channels of a run against columns of a table, relative to each column's range."""
    chosen = table["t"] <= end
    for channel, column in channels.items():
        wanted = table[column][chosen]
        found = np.interp(table["t"][chosen], run.time, run[channel]) if len(run.time) != chosen.sum() else run[channel]
        scale = max(np.ptp(table[column]), 1e-9)
        np.testing.assert_allclose(found / scale, wanted / scale, atol=tolerance, err_msg=channel)


def run_like(model, table, end=np.inf, **options):
    times = table["t"][table["t"] <= end]
    return simulate(model, float(times[-1]), output=float(times[1] - times[0]), **{**TIGHT, **options})


def test_damped_pendulum_is_the_solution_of_its_equation():
    """(m l²/3) φ̈ = −m g l/2 sin φ − k φ − d φ̇."""
    model = example("damped_pendulum")
    p = model.values()
    run = simulate(model, 5.0, output=0.1, **TIGHT)
    inertia = p["m"] * p["l"] ** 2 / 3

    def rate(_, y):
        torque = -p["m"] * 9.81 * p["l"] / 2 * np.sin(y[0]) - p["k"] * y[0] - p["d"] * y[1]
        return y[1], torque / inertia

    exact = solve_ivp(rate, (0, 5), (np.deg2rad(100), 0), rtol=1e-11, atol=1e-12, t_eval=run.time, method="DOP853")
    np.testing.assert_allclose(run["pin.q"], exact.y[0], atol=1e-8)


def test_double_pendulum_of_the_modelica_library():
    table = published("msl_DoublePendulum")
    run = run_like(example("double_pendulum"), table)
    compared(run, {"phi1.q": "phi1", "phi1.v": "w1", "phi2.q": "phi2", "phi2.v": "w2"}, table, 1e-6)


TRIPLE = """<mujoco><compiler angle="radian"/><default><joint axis="0 -1 0"/><geom type="capsule" density="7850"/>
  </default><worldbody><body><joint name="pin1"/><geom fromto="0 0 0 0 0 -.4" size=".018"/>
  <body pos="0 0 -.4"><joint name="pin2"/><geom fromto="0 0 0 0 0 -.3" size=".018"/>
  <body pos="0 0 -.3"><joint name="pin3"/><geom fromto="0 0 0 0 0 -.25" size=".018"/></body></body></body></worldbody>
</mujoco>"""


def test_triple_pendulum_accelerates_as_in_mujoco():
    mech = Mechanism(example("triple_pendulum"))
    model = mujoco.MjModel.from_xml_string(TRIPLE)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    for _ in range(5):
        data.qpos[:], data.qvel[:] = rng.normal(size=3), 3 * rng.normal(size=3)
        mujoco.mj_forward(model, data)
        found = mech.forward_dynamics(data.qpos, data.qvel, np.zeros(3))
        np.testing.assert_allclose(found, data.qacc, rtol=1e-9, atol=1e-9)


def test_triple_pendulum_keeps_its_energy():
    run = simulate(example("triple_pendulum"), 10.0, output=0.1, **TIGHT)
    energy = run["energy.total"]
    assert np.ptp(run["energy.kinetic"]) > 1.0
    np.testing.assert_allclose(energy, energy[0], atol=1e-7)


def test_body_on_springs_of_the_modelica_library():
    table = published("msl_FreeBody")
    run = run_like(example("body_on_springs"), table)
    position = (run["body.position"] - (0.0, 0.0, 1.0)) @ UP
    speed = run["body.velocity"] @ UP
    for k in range(3):
        np.testing.assert_allclose(position[:, k], table[f"r{k + 1}"], atol=1e-6)
        np.testing.assert_allclose(speed[:, k], table[f"v{k + 1}"], atol=1e-6)
        np.testing.assert_allclose(run["free.v"][:, k], table[f"w{k + 1}"], atol=1e-6)


def test_three_springs_hang_where_their_forces_balance():
    """Knot and ball from the six equations of balance: there nothing accelerates."""
    model = example("three_springs")
    p = model.values()
    ends = np.array([(-0.3, 0.0, 1.0), (0.3, 0.0, 1.0)])

    def pull(c, rest, start, end):
        line = end - start
        return c * (1.0 - rest / np.linalg.norm(line)) * line

    def balance(x):
        knot, eye = x[:3], x[3:]
        down = pull(p["c3"], 0.1, knot, eye)
        knots = pull(p["c1"], 0.25, knot, ends[0]) + pull(p["c2"], 0.25, knot, ends[1]) + down
        return np.concatenate([knots, -down - (0.0, 0.0, p["m"] * 9.81)])

    least = root(balance, (0.0, 0.0, 0.7, 0.0, 0.0, 0.4), tol=1e-13).x
    mech = Mechanism(model)
    q = mech.neutral()
    q[:3] = least[3:] - (0.0, 0.0, 1.1)
    a = mech.forward_dynamics(q, np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(a, 0.0, atol=1e-8)
    np.testing.assert_allclose(mech.x_rest(q), least[:3], atol=1e-9)


def test_point_gravity_is_kepler_s():
    """r(t) of the ellipse by Kepler's equation E − e sin E = n t."""
    model = example("point_gravity")
    run = simulate(model, 10.0, output=0.1, **TIGHT)
    for body, joint in (("circler", "circle"), ("comet", "ellipse")):
        r, v = run[f"{body}.position"][0], run[f"{body}.velocity"][0]
        a = 1.0 / (2.0 / np.linalg.norm(r) - v @ v)
        h = np.cross(r, v)
        e = np.cross(v, h) - r / np.linalg.norm(r)
        size = np.linalg.norm(e)
        P = e / size if size > 1e-9 else r / np.linalg.norm(r)
        W = np.cross(h / np.linalg.norm(h), P)
        E0 = np.arctan2(r @ W / np.sqrt(1 - size**2), r @ P + a * size) if size > 1e-9 else 0.0
        E0 = np.arctan2((r @ W) / (a * np.sqrt(1 - size**2)), (r @ P) / a + size)
        M = E0 - size * np.sin(E0) + run.time / a**1.5
        E = M.copy()
        for _ in range(50):
            E -= (E - size * np.sin(E) - M) / (1 - size * np.cos(E))
        wanted = np.outer(a * (np.cos(E) - size), P) + np.outer(a * np.sqrt(1 - size**2) * np.sin(E), W)
        np.testing.assert_allclose(run[f"{body}.position"], wanted, atol=1e-7, err_msg=joint)


SCARA = """<mujoco><compiler angle="radian"/><option gravity="0 0 -9.81"/><default><joint axis="0 0 1"/></default>
 <worldbody>{}</worldbody></mujoco>"""
LINK = """<body pos="0 {} 0"><joint/><inertial mass="2.4" pos="0 .5 0" diaginertia="0.021 0.004 0.020"/>{}</body>"""


def test_scara_of_the_mobile_guide():
    """Torques at the guide's state: MuJoCo's, the program's, and the forces of the drivers in a run."""
    model = mujoco.MjModel.from_xml_string(SCARA.format(LINK.format(0, LINK.format(1, LINK.format(1, "")))))
    data = mujoco.MjData(model)
    q, v, a = np.array([0.0, 0.2, 0.3]), np.array([0.01, 1.0, 0.11]), np.array([0.2, 0.0, 0.25])
    data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
    mujoco.mj_inverse(model, data)
    driven = example("scara_mobile")
    free = driven
    for driver in driven.drivers:
        free = edits.remove(free, "drivers", driver.name)
    np.testing.assert_allclose(Mechanism(free).inverse_dynamics(q, v, a), data.qfrc_inverse, rtol=1e-10)
    run = simulate(driven, 1.0, output=0.5)
    for k in range(3):
        joint = f"beta{k + 1}"
        np.testing.assert_allclose(
            (run[f"{joint}.q"][0], run[f"{joint}.v"][0], run[f"{joint}.a"][0]), (q[k], v[k], a[k]), atol=1e-9
        )
        np.testing.assert_allclose(run[f"motor{k + 1}.force"][0], data.qfrc_inverse[k], rtol=1e-8)


def test_shaker_swings_alike_in_all_three_ways():
    """Released at rest (MOBILE guide 5.1.1, free motion): joints, bodies and chord give the published angles."""
    case = json.loads((REFERENCE / "shaker_mobile.json").read_text(encoding="utf-8"))
    table = dict(
        zip(case["reference"]["columns_free_motion"], np.array(case["reference"]["rows_free_motion"]).T, strict=True)
    )
    for way in ("shaker", "shaker_chord"):
        mech = Mechanism(example(way))
        q0 = mech.rest()
        for k in range(1, 5):
            q0[mech.joint_q(f"theta{k}")] = table[f"theta{k}"][0]
        run = simulate(example(way), 10.0, q0=q0, output=0.1, method="rk853", rtol=1e-13, atol=1e-14)
        for k in range(1, 5):
            found = np.unwrap(run[f"theta{k}.q"])
            np.testing.assert_allclose(found, table[f"theta{k}"], atol=1e-6, err_msg=f"{way} theta{k}")


def test_shaker_by_bodies_accelerates_as_by_joints():
    joints, bodies = Mechanism(example("shaker")), Mechanism(example("shaker_bodies"))
    q, p = joints.rest(), bodies.rest()
    for name in ("crank", "arm", "coupler"):
        np.testing.assert_allclose(bodies.frame(p, name), joints.frame(q, name), atol=1e-9)
    runs = [simulate(example(name), 0.5, output=0.05, **TIGHT) for name in ("shaker", "shaker_bodies")]
    np.testing.assert_allclose(runs[1]["coupler_end.position"], runs[0]["coupler_end.position"], atol=1e-7)


def test_spatial_four_bar_of_the_modelica_library():
    table = published("msl_Fourbar1")
    run = run_like(example("spatial_four_bar"), table)
    compared(run, {"j1.q": "j1.phi", "j1.v": "j1.w"}, table, 1e-6)


def test_squeezer_of_the_ivp_test_set():
    case = json.loads((REFERENCE / "andrews_squeezer_ivp.json").read_text(encoding="utf-8"))
    run = simulate(example("squeezer"), 0.03, output=0.005, **TIGHT)
    joints = ("beta", "theta", "gamma", "phi", "delta", "omega", "epsilon")
    found = [run[f"{joint}.q"][-1] for joint in joints]
    np.testing.assert_allclose(found, case["reference"]["published"]["q"], atol=case["tolerances"]["q_abs_at_0p03"])
    speeds = [run[f"{joint}.v"][-1] for joint in joints]
    np.testing.assert_allclose(speeds, case["reference"]["published"]["qd"], rtol=1e-5)


def test_n_four_bar_passes_its_collinear_poses():
    table = published("iftomm_A02_nfourbar_N2")
    run = run_like(example("n_four_bar"), table)
    np.testing.assert_allclose(run["B0.position"][:, 0] + 1.0, table["B0x"], atol=1e-5)
    np.testing.assert_allclose(run["B0.position"][:, 2] - 1.2, table["B0y"], atol=1e-5)


def test_bricard_moves():
    table = published("iftomm_A04_bricard")
    run = run_like(example("bricard"), table)
    found = (run["P3.position"] - (0.0, 0.5, 1.44)) @ UP
    wanted = np.column_stack([table[f"P3{axis}"] for axis in "xyz"])
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    assert Mechanism(example("bricard")).mobility().degrees_of_freedom == 1


def test_flyball_governor():
    table = published("iftomm_A05_flyball_governor")
    run = simulate(example("flyball_governor"), 2.0, output=0.05, method="radau5", rtol=1e-8, atol=1e-9)
    chosen = table["t"] <= 2.0 + 1e-9
    np.testing.assert_allclose(run["lift.q"], table["s"][chosen], atol=1e-5)
    np.testing.assert_allclose(run["turn.v"], table["omega"][chosen], atol=1e-4)
    np.testing.assert_allclose(run["left_hinge.q"], table["beta"][chosen], atol=1e-5)


def test_stewart_platform_stands_level_and_has_six_freedoms():
    mech = Mechanism(example("stewart"))
    q = mech.rest()
    X = mech.frame(q, "platform")
    np.testing.assert_allclose(X[:3, 3], (0.0, 0.0, 1.0), atol=1e-8)
    np.testing.assert_allclose(X[:3, :3], np.eye(3), atol=1e-8)
    assert mech.mobility().degrees_of_freedom == 6


def test_the_servos_carry_the_stewart_platform_and_tilt_it_round():
    """Small tilt of a stiff platform: legs that swing by s sin(ω t + φ), φ their azimuth, tilt the plate by a constant
    angle whose direction goes round with ω; a resting stroke leaves it level. What the plate's own turn adds is of the
    next order: of the tilt and its rate a share that falls with the stroke itself."""
    mech = Mechanism(example("stewart"))
    still = simulate(mech, 1.0, parameters={"stroke": 0.0}, output=0.25)
    for q in still.q:
        np.testing.assert_allclose(mech.frame(q, "platform")[:3, 3], (0.0, 0.0, 1.0), atol=1e-4)
    wide, narrow = (_unevenness_of_tilt(mech, stroke) for stroke in (0.02, 0.005))
    assert wide[0] < 0.005
    assert wide[1] < 0.015
    np.testing.assert_allclose(np.divide(wide, narrow), 4.0, rtol=0.05)


def _unevenness_of_tilt(mech: Mechanism, stroke: float) -> tuple[float, float]:
    """How much the tilt, and its direction's rate from 2 rad/s, differ at most from being constant, relative."""
    run = simulate(mech, 10.0, parameters={"stroke": stroke, "speed": 2.0}, output=0.05)
    normals = np.array([mech.frame(q, "platform")[:3, 2] for q in run.q])[run.time > 5.0]
    tilt = np.hypot(normals[:, 0], normals[:, 1])
    azimuth = np.unwrap(np.arctan2(normals[:, 1], normals[:, 0]))
    uneven = np.abs(np.abs(np.diff(azimuth)) / (2.0 * 0.05) - 1.0)
    return float(np.max(np.abs(tilt / tilt.mean() - 1.0))), float(np.max(uneven))


def test_macpherson_suspension_travels_and_steers():
    """Three freedoms: travel, steering, spin. The tie rod keeps its length, the strut passes through its mount."""
    model = example("macpherson")
    mech = Mechanism(model)
    found = mech.mobility()
    assert found.degrees_of_freedom == 3
    q0 = mech.rest()
    toe = []
    for rack in (-0.04, 0.0, 0.04):
        q = mech.move(q0, {"steering": rack})
        np.testing.assert_allclose(mech.constraint_residual(q), 0.0, atol=1e-8)
        turned = Rotation.from_matrix(mech.frame(q, "knuckle")[:3, :3]).as_rotvec()
        toe.append(turned[2])
        inner, outer = mech.joint_poses(q)["inner_joint"][0], mech.joint_poses(q)["outer_ball"][0]
        assert np.linalg.norm(outer[:3, 3] - inner[:3, 3]) == pytest.approx(0.36, abs=1e-7)
    assert min(abs(np.diff(toe))) > 0.1
    assert toe[0] * toe[2] < 0.0
    run = simulate(model, 3.0, output=0.01)
    height = run["hub.position"][:, 2]
    assert 0.02 < np.ptp(height) < 0.3
    assert abs(run["constraint.residual"]).max() < 1e-8
