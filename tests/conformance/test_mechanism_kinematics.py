"""Cardan joint and spatial four-bar (tests/reference/kin_*.json), driven in runs and closed by hand."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from core.mechanism import Mechanism
from core.model import Body, Constraint, Driver, Frame, Inertia, Joint, Model, Pose
from core.simulation import Run, simulate

FOLDER = Path(__file__).parents[1] / "reference"
SOLID = Inertia(ixx=0.02, iyy=0.02, izz=0.02)
Numbers = tuple[float, ...]


def read(name: str) -> tuple[dict[str, Any], dict[str, np.ndarray], float]:
    """Parameters, columns, tolerance."""
    case = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    reference = case["reference"]
    return (
        case["parameters"],
        dict(zip(reference["columns"], np.array(reference["rows"]).T, strict=True)),
        case["tolerances"]["abs"],
    )


def floats(values: Any) -> Numbers:
    return tuple(float(value) for value in values)


def turned(run: Run, joint: str, angles: np.ndarray) -> list[np.ndarray]:
    """Position, speed and acceleration of a joint at angles of the one that is driven at 1 rad/s."""
    np.testing.assert_allclose(run.time, angles - angles[0], atol=1e-9)
    return [run[f"{joint}.{what}"] for what in "qva"]


def cardan(p: dict[str, Any]) -> Model:
    """Input shaft along z, output shaft bent by β about y; between them a cross in two plain pins: x in, y out."""
    beta = p["beta"]
    bodies = tuple(Body(name=name, mass=1.0, inertia=SOLID) for name in ("input", "cross", "output"))
    joints = (
        Joint(name="theta_in", parent="world", child="input"),
        Joint(name="pin1", parent="input", child="cross", axis=(1.0, 0.0, 0.0)),
        Joint(name="pin2", parent="cross", child="output", axis=(0.0, 1.0, 0.0), b=Pose(rotation=(0.0, -beta, 0.0))),
        Joint(name="theta_out", parent="world", child="output", a=Pose(rotation=(0.0, beta, 0.0))),
    )
    return Model(
        name="cardan",
        bodies=bodies,
        joints=joints,
        drivers=(Driver(name="turn", joint="theta_in", function=f"{p['omega_in']!r}*t"),),
    )


@pytest.mark.parametrize("how", ["pins", "universal"])
def test_cardan_joint(how: str) -> None:
    p, table, tolerance = read("kin_cardan_joint_30")
    beta = p["beta"]
    model = cardan(p)
    if how == "universal":
        knuckle = Joint(
            name="knuckle",
            kind="universal",
            parent="input",
            child="output",
            axis=(1.0, 0.0, 0.0),
            second_axis=(0.0, 1.0, 0.0),
            b=Pose(rotation=(0.0, -beta, 0.0)),
        )
        model = dataclasses.replace(
            model, bodies=(model.bodies[0], model.bodies[2]), joints=(model.joints[0], knuckle, model.joints[3])
        )
    mech = Mechanism(model)
    q = mech.assemble(mech.neutral())
    angles = table["theta_in"]
    run = simulate(mech, angles[-1], q0=q, rtol=1e-10, atol=1e-12, output=angles[1])
    q, v, a = turned(run, "theta_out", angles)
    np.testing.assert_allclose(q, np.unwrap(table["theta_out"]), atol=tolerance)
    np.testing.assert_allclose(v, table["omega_out"], atol=tolerance)
    np.testing.assert_allclose(a, table["alpha_out"], atol=10 * tolerance)


def rssr(p: dict[str, Any], how: str) -> Model:
    """Cranks turn about u and v; the coupler is a rod, or a body between two ball joints."""
    a, c = p["a"], p["c"]
    b1, b2, v = (np.array(p[name]) for name in ("b1", "b2", "v"))
    upright = floats(Rotation.from_matrix(np.stack([b1, b2, np.cross(b1, b2)], axis=1)).as_quat())
    about = floats(np.stack([b1, b2, np.cross(b1, b2)], axis=1).T @ v)
    bodies = [Body(name=name, mass=1.0, inertia=SOLID) for name in ("crank", "rocker")]
    joints = [
        Joint(name="theta", parent="world", child="crank", axis=floats(p["u"]), a=Pose(position=floats(p["P"]))),
        Joint(
            name="psi", parent="world", child="rocker", axis=about, a=Pose(position=floats(p["Q"]), rotation=upright)
        ),
    ]
    frames = (
        Frame(name="A", parent="crank", pose=Pose(position=(a, 0.0, 0.0))),
        Frame(name="B", parent="rocker", pose=Pose(position=(c, 0.0, 0.0))),
    )
    constraints: tuple[Constraint, ...] = ()
    if how == "rod":
        constraints = (Constraint(name="coupler", kind="rod", a="A", b="B", length=p["b"]),)
    else:
        bodies.append(Body(name="bar", mass=1.0, center_of_mass=(p["b"] / 2, 0.0, 0.0), inertia=SOLID))
        second = "universal" if how == "universal" else "spherical"
        joints += [
            Joint(name="ball_a", kind="spherical", parent="A", child="bar"),
            Joint(name="ball_b", kind=second, parent="bar", child="B", cut="yes", a=Pose(position=(p["b"], 0.0, 0.0))),
        ]
    return Model(
        name="rssr",
        bodies=tuple(bodies),
        joints=tuple(joints),
        frames=frames,
        constraints=constraints,
        drivers=(Driver(name="turn", joint="theta", function="t"),),
    )


@pytest.mark.parametrize("how", ["rod", "spherical", "universal"])
def test_spatial_four_bar(how: str) -> None:
    """R-S-S-R, and R-S-U-R, whose coupler cannot spin about its own axis."""
    p, table, tolerance = read("kin_rssr")
    mech = Mechanism(rssr(p, how))
    angles = table["theta"]
    guess = mech.neutral()
    guess[mech.joint_q("psi")] = 2.5
    if how != "rod":
        A, B = (np.array([table[f"{end}{axis}"][0] for axis in "xyz"]) for end in "AB")
        guess[mech.joint_q("ball_a")] = Rotation.align_vectors([B - A], [[1.0, 0.0, 0.0]])[0].as_quat()
    start = mech.assemble(guess)
    run = simulate(mech, angles[-1], q0=start, rtol=1e-10, atol=1e-12, output=angles[1])
    q, v, a = turned(run, "psi", angles)
    np.testing.assert_allclose(q, np.unwrap(table["psi"]), atol=tolerance)
    np.testing.assert_allclose(v, table["psi_dot"], atol=tolerance)
    np.testing.assert_allclose(a, table["psi_ddot"], atol=10 * tolerance)
    for end in "AB":
        expected = np.stack([table[f"{end}{axis}"] for axis in "xyz"], axis=1)
        np.testing.assert_allclose(run[f"{end}.position"], expected, atol=tolerance)


@pytest.mark.parametrize("method", ["rk54", "rk853", "rk32", "radau", "radau5", "adams", "rk4"])
def test_coarse_tolerances_leave_driven_loops_on_their_branch(method: str) -> None:
    """Nothing is free, so nothing limits the steps but that they must not leave the branch."""
    p, table, tolerance = read("kin_rssr")
    mech = Mechanism(rssr(p, "rod"))
    guess = mech.neutral()
    guess[mech.joint_q("psi")] = 2.5
    angles = table["theta"]
    run = simulate(mech, angles[-1], q0=mech.assemble(guess), method=method, rtol=1e-3, atol=1e-5, output=angles[1])
    np.testing.assert_allclose(run["psi.q"], np.unwrap(table["psi"]), atol=tolerance)
    np.testing.assert_allclose(run["psi.v"], table["psi_dot"], atol=tolerance)
