"""Runs with closed forms: as by iteration, through poses where branches meet, on the published branch."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.engine import engine
from core.constraints.closed_forms.closed_forms import get_analytic_closure
from core.errors import SimulationError
from core.files import load
from core.mechanism import Mechanism
from core.model import Body, Driver, Gravity, Inertia, Joint, Model, Pose, World
from core.simulation import simulate
from resources import examples
from tests.simulation.published import published_machines as machines

LOOPED = (
    "four_bar",
    "slider_crank",
    "engine_v6",
    "stewart",
    "macpherson",
    "squeezer",
    "n_four_bar",
    "shaker",
    "spatial_four_bar",
)
FAST = {"squeezer": 0.01}
PATHS = {example.name: example.path for example in examples()}


def both(mech, duration, **options):
    """Runs with closed forms, and without."""
    options = {"rtol": 1e-9, "atol": 1e-10, "output": duration / 10, **options}
    return [simulate(mech, duration, closed_forms=wanted, **options) for wanted in (True, False)]


@pytest.mark.parametrize("name", LOOPED)
def test_examples_move_alike_with_closed_forms_and_without(name):
    model = load(PATHS[name])
    # pressures that jump at dead centres would limit what two runs can agree on
    mech = Mechanism(replace(model, forces=()) if name == "engine_v6" else model)
    assert get_analytic_closure(mech.compiled.program).has_solutions
    own, other = both(mech, FAST.get(name, 0.4))
    np.testing.assert_allclose(mech.difference(own.q, other.q), 0.0, atol=2e-6)
    np.testing.assert_allclose(own.v, other.v, atol=2e-6 * max(1.0, np.max(np.abs(other.v))))
    assert np.max(np.abs([mech.constraint_residual(q, t=t) for q, t in zip(own.q, own.time, strict=True)])) < 1e-10


def four_bars(p, n):
    """Rods, couplers to the right of each; angles from +x of the rods are q + π/2."""
    L, I = p["L_m"], p["rod_inertia_about_com_kg_m2"]
    tip, bodies, joints = Pose(position=(0.0, L, 0.0)), [], []
    for k in range(n + 1):
        bodies.append(machines.body(f"rod{k}", p["m_kg"], (0, L / 2, 0), (0, 0, I)))
        joints.append(Joint(name=f"A{k}", parent="world", child=f"rod{k}", a=Pose(position=(k * L, 0.0, 0.0))))
    for k in range(n):
        bodies.append(machines.body(f"coupler{k}", p["m_kg"], (L / 2, 0, 0), (0, 0, I)))
        joints.append(Joint(name=f"B{k}", parent=f"rod{k}", child=f"coupler{k}", a=tip))
        joints.append(
            Joint(name=f"C{k}", parent=f"coupler{k}", child=f"rod{k + 1}", a=Pose(position=(L, 0.0, 0.0)), b=tip)
        )
    return Model(name="four-bars", world=machines.world(0, -p["g_m_s2"], 0), bodies=tuple(bodies), joints=tuple(joints))


@pytest.mark.parametrize("n", [1, 2])
def test_the_branch_goes_on_through_collinear_poses(n):
    p, table, case = machines.read(f"iftomm_A02_nfourbar_N{n}")
    mech = Mechanism(four_bars(p, n))
    run = simulate(
        mech,
        p["t_end_s"],
        v0={"A0": -p["B0_velocity0"][0] / p["L_m"]},
        q0=np.zeros(mech.nq),
        rtol=1e-9,
        atol=1e-9,
        output=0.1,
    )
    tolerances = case["tolerances"]
    x = np.interp(run.time, table["t"], table["B0x"])
    np.testing.assert_allclose(-np.sin(run["A0.q"]), x, atol=tolerances["position_abs"])
    energy = run["energy.total"]
    assert np.max(np.abs(energy - energy[0])) < tolerances["energy_drift_J"]
    for k in range(n):
        np.testing.assert_allclose(np.sin(run[f"A{k + 1}.q"] - run["A0.q"]), 0.0, atol=1e-6)
        np.testing.assert_allclose(np.cos(run[f"A{k + 1}.q"] - run["A0.q"]), 1.0, atol=1e-6)


def test_a_double_rocker_goes_through_the_dead_points_of_what_is_independent():
    """Neither rocker turns round: wherever the one that is independent turns back, the other goes on."""
    thin = Inertia(ixx=1e-3, iyy=1e-3, izz=5e-3)
    at = lambda x: Pose(position=(x, 0.0, 0.0))  # noqa: E731
    bodies = tuple(
        Body(name=n, mass=1.0, center_of_mass=(c, 0.0, 0.0), inertia=thin)
        for n, c in (("left", 0.25), ("coupler", 0.15), ("right", 0.25))
    )
    joints = (
        Joint(name="A", parent="world", child="left"),
        Joint(name="B", parent="left", child="coupler", a=at(0.5)),
        Joint(name="C", parent="coupler", child="right", a=at(0.3), b=at(0.5)),
        Joint(name="D", parent="world", child="right", a=at(0.6)),
    )
    world = World(gravity=Gravity(acceleration=(0.0, -9.81, 0.0)))
    mech = Mechanism(Model(name="rockers", world=world, bodies=bodies, joints=joints))
    start = mech.assemble([-1.2, 1.2, -1.9])
    index = get_analytic_closure(mech.compiled.program).independent_speeds[0].v
    own, other = both(mech, 2.0, q0=start, v0={mech.v_names[index]: 2.5}, output=0.01)
    assert np.min(own.v[:, index]) < 0.0 < np.max(own.v[:, index])
    np.testing.assert_allclose(own.q, other.q, atol=1e-5)
    energy = own["energy.total"]
    assert np.ptp(energy) < 1e-6 * np.ptp(own["energy.kinetic"])


def test_the_v6_engine_has_nothing_left_to_iteration():
    mech = Mechanism(engine())
    kinds = [step.kind for step in mech.solution_order]
    assert kinds == ["independent", *["RRP dyad"] * 6]
    assert mech.solution_order[0].joints == ("shaft",)
    own, other = both(mech, 0.5, v0={"shaft": 10.0})
    np.testing.assert_allclose(own.q, other.q, atol=1e-7)
    assert np.ptp(own["energy.total"]) < 1e-6 * own["energy.kinetic"][0]
    assert own.statistics.evaluations < 1.2 * other.statistics.evaluations


def test_the_v6_example_runs_up_as_published():
    """Modelica's gas forces and load, in the example's own parameters."""
    case = json.loads((Path(__file__).parents[2] / "reference" / "msl_EngineV6.json").read_text(encoding="utf-8"))
    reference = case["reference"]
    table = dict(zip(reference["columns"], np.array(reference["rows_own_high_accuracy"]).T, strict=True))
    run = simulate(load(PATHS["engine_v6"]), table["t"][-1], rtol=1e-8, atol=1e-8, output=1e-4)
    speed, angle = (np.interp(table["t"], run.time, run[f"shaft.{what}"]) for what in "vq")
    np.testing.assert_allclose(speed, table["load.w"], rtol=case["tolerances"]["load_w_rel"])
    np.testing.assert_allclose(angle, table["load.phi"], rtol=case["tolerances"]["load_w_rel"], atol=1e-6)


@pytest.mark.parametrize("closed_forms", [True, False])
def test_a_loop_driven_beyond_its_reach_stops_with_time_loop_and_pose(closed_forms):
    """A slider pulled out at a steady speed: crank and rod come into line at 0.3 m, after 0.5 s."""
    thin = Inertia(ixx=1e-3, iyy=1e-3, izz=5e-3)
    at = lambda x: Pose(position=(x, 0.0, 0.0))  # noqa: E731
    bodies = tuple(Body(name=n, mass=1.0, inertia=thin) for n in ("crank", "rod", "slider"))
    joints = (
        Joint(name="shaft", parent="world", child="crank", rest=(0.8632,)),
        Joint(name="pin", parent="crank", child="rod", a=at(0.1), rest=(-1.253,)),
        Joint(name="wrist", parent="rod", child="slider", a=at(0.2), rest=(0.3898,)),
        Joint(name="guide", kind="prismatic", parent="world", child="slider", axis=(1.0, 0.0, 0.0), rest=(0.25,)),
    )
    pull = Driver(name="pull", joint="guide", function="0.25 + 0.1*t")
    mech = Mechanism(Model(name="m", bodies=bodies, joints=joints, drivers=(pull,)))
    message = r"At t = 0\.[45]\d* s the loop cannot close any further, at guide = 0\.\d+ m"
    with pytest.raises(SimulationError, match=message) as caught:
        simulate(mech, 2.0, output=0.01, closed_forms=closed_forms)
    assert "loop 1" in caught.value.where or "pull" in caught.value.where
    run = caught.value.run
    assert run.time[-1] == pytest.approx(0.5, abs=0.03)
    np.testing.assert_allclose(run["guide.q"], 0.25 + 0.1 * run.time, atol=1e-7)


def one_cylinder(p):
    """Modelica's Engine1a: crank pin up at phi = 0, cylinder along y, shaft along x."""
    x = (1.0, 0.0, 0.0)
    mass = sum(part["m"] for part in p["crank_bodies"])
    moment = sum(part["m"] * part["radius"] for part in p["crank_bodies"])
    turning = p["J_flywheel"] + sum(part["Ixx"] + part["m"] * part["radius"] ** 2 for part in p["crank_bodies"])
    y = moment / mass
    crank = machines.body("crank", mass, (0, y, 0), (turning - mass * y**2, 1, 1))
    rod = machines.body("rod", p["rod"]["m"], (0, p["l"] / 2, 0), (p["rod"]["Ixx"], 1, 1))
    piston = machines.body("piston", p["piston"]["m"], (0, p["piston"]["length"] / 2, 0), (1, 1, 1))
    joints = (
        Joint(name="phi", parent="world", child="crank", axis=x),
        Joint(name="pin", parent="crank", child="rod", axis=x, a=Pose(position=(0.0, p["r"], 0.0))),
        Joint(name="wrist", parent="rod", child="piston", axis=x, a=Pose(position=(0.0, p["l"], 0.0))),
        Joint(
            name="cylinder",
            kind="prismatic",
            parent="world",
            child="piston",
            axis=(0.0, 1.0, 0.0),
            rest=(p["r"] + p["l"],),
        ),
    )
    return Model(name="engine", world=machines.world(0, -p["g"], 0), bodies=(crank, rod, piston), joints=joints)


def test_the_one_cylinder_engine_turns_as_published():
    p, table, _ = machines.read("msl_Engine1a")
    mech = Mechanism(one_cylinder(p))
    assert [step.kind for step in mech.solution_order] == ["independent", "RRP dyad"]
    t = table["t"]
    run = simulate(mech, t[-1], v0={"phi": p["w0"]}, rtol=1e-10, atol=1e-10, output=t[1] - t[0])
    for channel, column in (("phi.q", "phi"), ("phi.v", "w")):
        expected = np.interp(run.time, t, table[column])
        np.testing.assert_allclose(run[channel], expected, atol=1e-6 * np.ptp(table[column]))


@pytest.mark.parametrize("straight", [False, True])
def test_a_rigid_frame_stands_still(straight):
    """Two bars and the ground: nothing is left to integrate (straight: shaky, all determinants are zero)."""
    foot = Pose(position=(0.4 if straight else 0.3, 0.0, 0.0))
    joints = (
        Joint(name="j1", parent="world", child="a", rest=(0.0 if straight else 0.7,)),
        Joint(name="j2", parent="a", child="b", a=Pose(position=(0.2, 0.0, 0.0)), rest=(0.0 if straight else -1.4,)),
        Joint(name="j3", parent="b", child="world", a=Pose(position=(0.2, 0.0, 0.0)), b=foot),
    )
    bodies = tuple(machines.body(name, 1.0, (0.1, 0, 0), (0.01, 0.01, 0.01)) for name in "ab")
    mech = Mechanism(Model(name="triangle", bodies=bodies, joints=joints))
    run = simulate(mech, 0.2, output=0.1)
    assert not run.statistics.ended
    np.testing.assert_allclose(run.q, run.q[:1].repeat(3, axis=0), atol=1e-9)
