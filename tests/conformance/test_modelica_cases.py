"""Examples of the Modelica Standard Library (tests/reference/msl_*.json), each built as a person would draw it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.engine import engine
from core.mechanism import Mechanism
from core.model import Body, Force, Frame, Gravity, Inertia, Joint, Model, Pose, Sensor, World
from core.simulation import simulate

FOLDER = Path(__file__).parents[1] / "reference"
Numbers = tuple[float, ...]


def read(name: str) -> tuple[dict[str, Any], dict[str, np.ndarray], dict[str, Any]]:
    """Parameters, columns, the whole case."""
    case = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    reference = case["reference"]
    rows = np.array(reference["rows_own_high_accuracy"])
    return case["parameters"], dict(zip(reference["columns"], rows.T, strict=True)), case


def floats(values: Any) -> Numbers:
    return tuple(float(value) for value in values)


def at(*position: float, rotation: Numbers = (0.0, 0.0, 0.0)) -> Pose:
    return Pose(position=floats(position), rotation=rotation)


def earth(g: float) -> World:
    return World(gravity=Gravity(acceleration=(0.0, -g, 0.0)))


def agree(found: np.ndarray, expected: np.ndarray) -> None:
    """Within 1e-6 of the range of the signal, as the cases ask for."""
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.ptp(expected))


def test_spring_mass_system() -> None:
    """Downward is positive; one spring is a line force, the other belongs to its joint."""
    p, table, _ = read("msl_SpringMassSystem")
    down = (0.0, -1.0, 0.0)
    bodies = tuple(Body(name=name, mass=p["m"]) for name in ("m1", "m2"))
    joints = (
        Joint(name="s1", kind="prismatic", parent="world", child="m1", axis=down),
        Joint(name="s2", kind="prismatic", parent="world", child="m2", axis=down, a=at(0.5, 0.0, 0.0)),
    )
    forces = (
        Force(name="line", b="m1", stiffness=p["c"], rest=p["s0"]),
        Force(name="inside", kind="joint", joint="s2", stiffness=p["c"], rest=p["s0"]),
    )
    model = Model(bodies=bodies, joints=joints, forces=forces, world=earth(p["g"]))
    t = table["t"]
    run = simulate(model, t[-1], q0={"s1": table["s1"][0], "s2": table["s2"][0]}, rtol=1e-10, atol=1e-11, output=t[1])
    for i in "12":
        agree(run[f"s{i}.q"], table[f"s{i}"])
        agree(run[f"s{i}.v"], table[f"v{i}"])
    closed = p["s0"] + p["g"] / p["c"] * (1.0 - np.cos(math.sqrt(p["c"] / p["m"]) * run.time))
    np.testing.assert_allclose(run["s1.q"], closed, atol=1e-8)
    np.testing.assert_allclose(run["line.length"], run["s1.q"], atol=1e-12)


@pytest.mark.parametrize("how", ["tree", "cut"])
def test_revolute_constraint(how: str) -> None:
    """The joint holds the body as a tree joint, or as a cut joint of a body that flies freely."""
    p, table, _ = read("msl_RevoluteConstraint")
    turn = floats(Rotation.from_matrix(p["R0"]).as_quat())
    ixx, iyy, izz = floats(p["I_com"])
    body = Body(name="body", mass=p["m"], center_of_mass=floats(p["r_CM"]), inertia=Inertia(ixx=ixx, iyy=iyy, izz=izz))
    place = at(*p["joint_point"], rotation=turn)
    frames = (
        Frame(name="anchor", parent="world", pose=at(*p["spring"]["anchor"])),
        Frame(name="hook", parent="body", pose=at(*p["spring"]["body_point"])),
    )
    hinge = Joint(name="phi", parent="world", child="body", a=place, axis=(0.0, 1.0, 0.0))
    joints = [hinge]
    if how == "cut":
        start = (*floats(p["joint_point"]), *turn)
        joints = [
            Joint(name="flight", kind="free", parent="world", child="body", rest=start, cut="no"),
            Joint(name="phi", parent="world", child="body", a=place, axis=(0.0, 1.0, 0.0), cut="yes"),
        ]
    spin = Sensor(name="spin", kind="angular_velocity", b="body", resolve="body")
    model = Model(
        bodies=(body,),
        frames=frames,
        joints=tuple(joints),
        sensors=(spin,),
        world=earth(p["g"]),
        forces=(Force(name="spring", a="anchor", b="hook", stiffness=p["spring"]["c"]),),
    )
    mech = Mechanism(model)
    t = table["t"]
    run = simulate(mech, t[-1], rtol=1e-10, atol=1e-11, output=t[1])
    agree(run["spin.y"], table["bodyOfConstraint.body.w_a[2]"])
    agree(run["spin.y"], table["bodyOfJoint.body.w_a[2]"])
    np.testing.assert_allclose(run["spin"][:, [0, 2]], 0.0, atol=1e-9)
    if how == "tree":
        agree(run["phi.q"], table["joint.phi"])
    else:
        assert mech.nv == 6
        assert np.max(run["constraint.residual"]) < 1e-10
    np.testing.assert_allclose(run["energy.total"], run["energy.total"][0], atol=1e-7)


def planar_fourbar(p: dict[str, Any]) -> Model:
    """Angles of the bodies are those from where they were drawn."""
    r1, r2, r3 = (np.array(p[name]) for name in ("r1", "r2", "r3"))
    r4 = r1 + r2 - r3
    bodies = tuple(
        Body(name=name, mass=mass, center_of_mass=floats(r / 2.0), inertia=Inertia(ixx=1.0, iyy=1.0, izz=izz))
        for name, r, mass, izz in zip(("one", "two", "four"), (r1, r2, r4), p["masses"], p["Izz_com"], strict=True)
    )
    joints = (
        Joint(name="phi1", parent="world", child="one", damping=p["damper"]),
        Joint(name="phi2", parent="one", child="two", a=at(*r1)),
        Joint(name="phi4", parent="world", child="four", a=at(*r3)),
        Joint(name="last", parent="two", child="four", a=at(*r2), b=at(*r4)),
    )
    return Model(name="four-bar", bodies=bodies, joints=joints, world=earth(p["g"]))


@pytest.mark.parametrize("closed_forms", [True, False])
def test_planar_fourbar(closed_forms: bool) -> None:
    p, table, case = read("msl_PlanarFourbar")
    mech = Mechanism(planar_fourbar(p))
    t = table["t"]
    run = simulate(mech, t[-1], q0=np.zeros(mech.nq), rtol=1e-10, atol=1e-11, output=t[1], closed_forms=closed_forms)
    agree(run["phi1.q"], table["phi1"])
    agree(run["phi1.v"], table["w1"])
    others = case["reference"]["own_other_angles"]
    _, two, four = np.array(others).T
    agree(run["phi1.q"] + run["phi2.q"], two)
    agree(run["phi4.q"], four)


# -------------------------------------------------------------------------------------------- V6 engine

COMPRESSING = "177.4132*x^4 - 287.2189*x^3 + 151.8252*x^2 - 24.9973*x + 2.4"
EXPANDING = "145.930*x^4 - 131.707*x^3 + 17.3438*x^2 + 17.9272*x + 2.4"
"""Pressure (bar) over the filling x of a cylinder, x < 0.93: MSL GasForce2. These pistons stay below x = 0.91."""


def gas_law(cylinder: str, p: dict[str, Any]) -> str:
    """Force against the growth of the cylinder's coordinate; the pressure jumps at the dead centres."""
    c = p["cylinder"]
    x = f"(1 - ({c['top']!r} - 0.1 - {cylinder})/{c['L']!r})"
    up = f"(0.5 + 0.5*sign({cylinder}.v))"
    up_law, down_law = (law.replace("x", x) for law in (COMPRESSING, EXPANDING))
    return f"1e5*pi*0.1^2/4*(({up_law})*{up} + ({down_law})*(1 - {up}))"


@pytest.mark.parametrize("closed_forms", [True, False])
def test_engine_v6_turns_as_published(closed_forms: bool) -> None:
    """Six slider-cranks with gas forces and a load, all from one turning speed."""
    p, table, case = read("msl_EngineV6")
    plain = engine()
    forces = tuple(
        Force(name=f"gas{k}", kind="joint", joint=f"cylinder{k}", law=gas_law(f"cylinder{k}", p)) for k in range(1, 7)
    )
    model = Model(name="engine", bodies=plain.bodies, joints=plain.joints, world=plain.world, forces=forces)
    t = table["t"]
    run = simulate(
        model,
        t[-1],
        q0={"shaft": 0.0},
        v0={"shaft": p["w0"]},
        torque={"shaft": "-100*(shaft.v/200)^2"},
        rtol=1e-8,
        atol=1e-8,
        output=1e-4,
        closed_forms=closed_forms,
    )
    w, phi = (np.interp(t, run.time, run[f"shaft.{what}"]) for what in "vq")
    relative = case["tolerances"]["load_w_rel"]
    np.testing.assert_allclose(w, table["load.w"], rtol=relative)
    np.testing.assert_allclose(phi, table["load.phi"], rtol=relative, atol=1e-7)
