"""Stewart platform, Delta robot and shaker of the reference problems: kinematics, Jacobians, driving forces."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from core.files import load
from core.mechanism import Mechanism
from core.model import Body, Frame, Gravity, Joint, Model, Pose, World
from resources import EXAMPLES

REFERENCE = Path(__file__).parents[1] / "reference"


def case(name):
    return json.loads((REFERENCE / f"{name}.json").read_text(encoding="utf-8"))


# ------------------------------------------------------------------------------- Stewart platform


def trajectory(p, t):
    """Position, rotation, and [ω; v], [ω̇; v̇] of the platform (world axes): R = Rz(e3) Ry(e2) Rx(e1)."""
    p = p["trajectory"]
    A, w, ph, c, eA, ew, eph = (np.array(p[k]) for k in ("A", "w", "ph", "c", "eA", "ew", "eph"))
    s, k = np.sin(w * t + ph), np.cos(w * t + ph)
    e, de, dde = eA * np.sin(ew * t + eph), eA * ew * np.cos(ew * t + eph), -eA * ew**2 * np.sin(ew * t + eph)
    omega, alpha = np.zeros(3), np.zeros(3)
    turn = np.eye(3)
    for i in (2, 1, 0):  # ω = Σ axis ė, ω̇ = Σ axis ë + (ω of the axis) × axis ė
        axis = turn[:, i]
        alpha = alpha + axis * dde[i] + np.cross(omega, axis) * de[i]
        omega = omega + axis * de[i]
        turn = turn @ Rotation.from_rotvec(np.eye(3)[i] * e[i]).as_matrix()
    X = np.eye(4)
    X[:3, 3], X[:3, :3] = c + A * s, turn
    return X, np.concatenate([omega, A * w * k]), np.concatenate([alpha, -A * w**2 * s])


def stewart_pose(mech, X):
    """The nearest closed pose with the platform at X: legs pointed from their feet, then assembled."""
    q = mech.rest()
    target = {}
    p = case("stewart_platform")["parameters"]
    lengths = []
    for i, (B, P) in enumerate(zip(np.array(p["base_points"]), np.array(p["platform_points"]), strict=True), 1):
        lengths.append(float(np.linalg.norm(X[:3, 3] + X[:3, :3] @ P - B)))
        target[f"leg{i}.slide"] = lengths[-1]
    return mech.move(q, target), np.array(lengths)


def bare_platform():
    """The example without the servos in its legs."""
    model = load(EXAMPLES / "stewart.kst")
    legs = tuple(replace(leg, content=replace(leg.content, forces=())) for leg in model.assemblies)
    return replace(model, assemblies=legs)


def test_stewart_platform():
    data = case("stewart_platform")
    columns, rows = data["reference"]["columns"], np.array(data["reference"]["rows"])
    table = dict(zip(columns, rows.T, strict=True))
    mech = Mechanism(bare_platform())
    lengths = [name for name in columns if name.startswith("L") and name[1:].isdigit()]
    assert len(lengths) == 6
    for k in range(0, len(rows), 8):
        X, _, _ = trajectory(data["parameters"], table["t"][k])
        q, found = stewart_pose(mech, X)
        wanted = np.array([table[name][k] for name in lengths])
        np.testing.assert_allclose(found, wanted, atol=data["tolerances"]["length_abs"])
        slides = [float(np.squeeze(mech.coordinate(q, f"leg{i}.slide"))) for i in range(1, 7)]
        np.testing.assert_allclose(slides, wanted, atol=1e-9)
        np.testing.assert_allclose(mech.frame(q, "platform"), X, atol=data["tolerances"]["pose_abs"])


def test_leg_forces_of_the_stewart_platform():
    """Inverse dynamics of the slides for the platform's motion, legs without mass."""
    data = case("stewart_platform")
    table = dict(zip(data["reference"]["columns"], np.array(data["reference"]["rows"]).T, strict=True))
    mech = Mechanism(bare_platform())
    light = {f"leg{i}.m": 0.0 for i in range(1, 7)}
    actuators = tuple(f"leg{i}.slide" for i in range(1, 7))
    for k in range(0, len(table["t"]), 10):
        X, twist, rate = trajectory(data["parameters"], table["t"][k])
        q, _ = stewart_pose(mech, X)
        qv, qa = motion_of(mech, q, twist, rate)
        tau = mech.inverse_dynamics(q, qv, qa, p=light, actuators=actuators)
        found = [tau[mech.joint_v(name)][0] for name in actuators]
        np.testing.assert_allclose(
            found, [table[f"f{i}"][k] for i in range(1, 7)], atol=data["tolerances"]["force_abs"]
        )


def motion_of(mech, q, twist, rate):
    """Speeds and accelerations of the joints for a motion of the platform; loops obeyed."""
    J, G = mech.jacobian(q, "platform"), mech.constraint_jacobian(q)
    rows = np.vstack([J, G])
    v = np.linalg.lstsq(rows, np.concatenate([twist, np.zeros(len(G))]), rcond=None)[0]
    h = 1e-6
    ahead, back = mech.integrate(q, v, h), mech.integrate(q, v, -h)
    drift = np.concatenate(
        [
            (mech.jacobian(ahead, "platform") - mech.jacobian(back, "platform")) @ v / (2 * h),
            (mech.constraint_jacobian(ahead) - mech.constraint_jacobian(back)) @ v / (2 * h),
        ]
    )
    a = np.linalg.lstsq(rows, np.concatenate([rate, np.zeros(len(G))]) - drift, rcond=None)[0]
    return v, a


# ------------------------------------------------------------------------------- Delta robot


def delta(p):
    """Arms in vertical planes; one rod per parallelogram, and slides along x, y, z that keep the platform level."""
    F, E = p["f"] / (2 * np.sqrt(3)), p["e"] / (2 * np.sqrt(3))
    bodies = [Body(name="platform", mass=1.0)]
    frames, joints = [], []
    carrier = "world"
    for axis, name in zip(np.eye(3), "xyz", strict=True):
        child = "platform" if name == "z" else f"stage_{name}"
        bodies += [] if name == "z" else [Body(name=child)]
        joints.append(
            Joint(
                name=name,
                kind="prismatic",
                parent=carrier,
                child=child,
                axis=tuple(map(float, axis)),
                rest=(-1.0,) if name == "z" else (),
            )
        )
        carrier = child
    for i in range(3):
        turn = 2 * np.pi * i / 3
        c, s = float(np.cos(turn)), float(np.sin(turn))
        hinge = Pose(position=(F * c, F * s, 0.0), rotation=(0.0, 0.0, turn))
        bodies.append(Body(name=f"arm{i + 1}"))
        joints.append(Joint(name=f"theta{i + 1}", parent="world", child=f"arm{i + 1}", a=hinge, axis=(0.0, 1.0, 0.0)))
        frames.append(Frame(name=f"elbow{i + 1}", parent=f"arm{i + 1}", pose=Pose(position=(p["rf"], 0.0, 0.0))))
        frames.append(Frame(name=f"corner{i + 1}", parent="platform", pose=Pose(position=(E * c, E * s, 0.0))))
        bodies.append(Body(name=f"rod{i + 1}"))
        joints.append(
            Joint(
                name=f"upper{i + 1}",
                kind="universal",
                parent=f"elbow{i + 1}",
                child=f"rod{i + 1}",
                axis=(0.0, 1.0, 0.0),
                second_axis=(1.0, 0.0, 0.0),
            )
        )
        joints.append(
            Joint(
                name=f"lower{i + 1}",
                kind="spherical",
                parent=f"rod{i + 1}",
                child=f"corner{i + 1}",
                a=Pose(position=(0.0, 0.0, -p["re"])),
                cut="yes",
            )
        )
    return Model(
        world=World(gravity=Gravity(acceleration=(0.0, 0.0, -9.81))),
        bodies=tuple(bodies),
        frames=tuple(frames),
        joints=tuple(joints),
    )


def test_delta_robot():
    data = case("delta_robot_kinematics")
    atol = data["tolerances"]["abs"]
    mech = Mechanism(delta(data["parameters"]))
    names = [f"theta{i}" for i in (1, 2, 3)]
    q0 = mech.rest()
    for sample in data["reference"]["samples"]:
        wanted = dict(zip(names, sample["theta"], strict=True))
        start = mech.move(q0, dict(zip("xyz", sample["p"], strict=True)))
        q = mech.move(start, wanted)
        np.testing.assert_allclose(
            [float(np.squeeze(mech.coordinate(q, n))) for n in names], sample["theta"], atol=1e-8
        )
        np.testing.assert_allclose(mech.frame(q, "platform")[:3, 3], sample["p"], atol=atol)
        G = mech.constraint_jacobian(q)
        given = [mech.joint_v(n).start for n in names]
        rest = [i for i in range(mech.nv) if i not in given]
        dependent = -np.linalg.lstsq(G[:, rest], G[:, given], rcond=None)[0]
        full = np.zeros((mech.nv, 3))
        full[given], full[rest] = np.eye(3), dependent
        J = mech.jacobian(q, "platform")[3:] @ full
        np.testing.assert_allclose(J, sample["J_dp_dtheta"], atol=atol * 10)
        tau = mech.inverse_dynamics(q, np.zeros(mech.nv), np.zeros(mech.nv), actuators=names)
        np.testing.assert_allclose(tau[given], sample["static_torque_for_1kg"], atol=atol * 10)


# ------------------------------------------------------------------------------- shaker


def test_shaker_at_constant_speed():
    """Angles, speeds, accelerations of the four joints, crank torque and force in the ball joint."""
    data = case("shaker_mobile")
    reference, tolerances = data["reference"], data["tolerances"]
    rows = np.array(reference["rows_constant_speed"])
    table = dict(zip(reference["columns_constant_speed"], rows.T, strict=True))
    model = load(EXAMPLES / "shaker.kst")
    mech = Mechanism(model)
    names = [f"theta{i}" for i in range(1, 5)]
    at = [mech.joint_v(name).start for name in names]
    assert sorted(at) == list(range(4))
    for k in range(0, len(rows), 7):
        q = np.zeros(4)
        q[at] = [table[name][k] for name in names]
        v, a = np.zeros(4), np.zeros(4)
        v[at] = [table["omega"][k], *(table[f"{name}_dot"][k] for name in names[1:])]
        a[at] = [0.0, *(table[f"{name}_ddot"][k] for name in names[1:])]
        np.testing.assert_allclose(mech.constraint_residual(q), 0.0, atol=1e-10)
        np.testing.assert_allclose(mech.constraint_jacobian(q) @ v, 0.0, atol=1e-8 * max(1.0, abs(v).max()))
        tau = mech.inverse_dynamics(q, v, a, actuators=["theta1"])
        assert tau[at[0]] == pytest.approx(table["tau1"][k], abs=tolerances["tau_abs"])
        along = v / table["omega"][k] if table["omega"][k] else np.zeros(4)
        if along @ mech.mass_matrix(q) @ along < 1e-4:  # the crank moves no mass there (or stands): forces are free
            continue
        force = mech.reactions(q, v, tau)["ball"][3:]
        np.testing.assert_allclose(force, [table[f"sphere_f{c}"][k] for c in "xyz"], atol=2e-8)
