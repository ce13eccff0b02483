"""Modes, events and the account of energy of runs: as channels, in files, in slices; against closed forms."""

import csv
from dataclasses import replace

import numpy as np
import pytest

import resources
from core import files
from core.errors import KinetostatError
from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Limit, Model
from core.simulation import Run, simulate
from core.simulation.live import SLICE, Live
from core.simulation.methods.method import ATOL, RTOL
from tests.simulation.published.test_friction_and_stops import METHODS, block, blocks

FIXED = "rk4"
ALL = (*METHODS, FIXED)


def pushed(**fields):
    """A block of 2 kg."""
    return blocks(block(2.0, **fields))


@pytest.mark.parametrize("method", ALL)
def test_a_block_slips_where_the_force_exceeds_static_friction(method):
    """F = 2 t against 4 N at rest and 3 N in motion: it slips at 2 s, then ẍ = (2 t − 3)/2."""
    run = simulate(
        pushed(friction=3.0, static_friction=4.0), 3.0, method=method, torque={"x": "2*t"}, output=0.25, rtol=1e-9
    )
    assert [(event.joint, event.what) for event in run.events] == [("x", "slipped")]
    assert run.events[0].time == pytest.approx(2.0, abs=1e-9)
    before, after = np.flatnonzero(run.time == run.events[0].time)
    assert after == before + 1
    assert list(run["x.friction.mode"][[before, after]]) == ["stick", "slide+"]
    np.testing.assert_allclose(run["x.friction.force"][[before, after]], [-4.0, -3.0], atol=1e-6)
    np.testing.assert_allclose(run["x.a"][[before, after]], [0.0, 0.5], atol=1e-6)
    stuck = run.time < 2.0
    np.testing.assert_allclose(run["x.friction.force"][stuck], -2.0 * run.time[stuck], atol=1e-9)
    # what friction takes is 3 N times the way
    np.testing.assert_allclose(run["x.friction.loss"], 3.0 * run["x.q"], atol=1e-8)
    np.testing.assert_allclose(run["energy.friction"], run["x.friction.loss"])


@pytest.mark.parametrize("method", ALL)
def test_a_linear_stop_stores_and_takes_energy(method):
    """With a spring alone nothing is lost, ½ k p² is stored, and the block comes back as fast as it came."""
    run = simulate(
        pushed(limits=(Limit(upper=0.5, stiffness=800.0, damping=0.0),)),
        1.0,
        method=method,
        v0=[1.0],
        output=0.05,
        rtol=1e-9,
    )
    half = np.pi / 20.0  # half a swing of ω = 20/s
    assert [event.what for event in run.events] == ["hit upper stop", "left upper stop"]
    np.testing.assert_allclose([event.time for event in run.events], [0.5, 0.5 + half], atol=1e-7)
    depth = np.maximum(run["x.q"] - 0.5, 0.0)
    np.testing.assert_allclose(run["x.stop.stored"], 400.0 * depth**2, atol=1e-9)
    np.testing.assert_allclose(run["x.stop.force"], -800.0 * depth, atol=1e-4)
    np.testing.assert_allclose(run["x.stop.loss"], 0.0, atol=1e-4)
    assert set(run["x.stop.mode"]) == {"open", "closed"}


@pytest.mark.parametrize("method", ALL)
def test_a_rigid_stop_takes_what_the_impact_loses(method):
    limit = Limit(lower=0.0, stop="rigid", restitution=0.5)
    run = simulate(pushed(limits=(limit,)), 1.5, method=method, q0=[1.0], v0=[-2.0], output=0.1, rtol=1e-9)
    hit = run.events[0]
    assert (hit.what, len(run.events)) == ("hit lower stop", 1)
    before, after = np.flatnonzero(run.time == hit.time)[-2:]
    np.testing.assert_allclose(run["x.v"][[before, after]], [-2.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(run["x.stop.loss"][[before, after]], [0.0, 3.0], atol=1e-8)


def test_limits_of_effort_and_speed_are_located():
    """8 sin t N, 4 N at most: beyond it from π/6 to 5π/6."""
    run = simulate(pushed(limits=(Limit(effort=4.0),)), 3.0, torque={"x": "8*sin(t)"}, output=0.1)
    assert [event.what for event in run.events] == ["reached effort limit", "left effort limit"]
    np.testing.assert_allclose([event.time for event in run.events], [np.pi / 6, 5 * np.pi / 6], atol=1e-9)
    np.testing.assert_allclose(run["x.tau"], np.minimum(8.0 * np.sin(run.time), 4.0), atol=1e-9)
    np.testing.assert_allclose(run["x.effort_limit.force"], run["x.tau"] - 8.0 * np.sin(run.time), atol=1e-9)
    run = simulate(pushed(limits=(Limit(velocity=3.0),)), 2.0, torque=[4.0], output=0.1)
    assert [(event.what, round(event.time, 9)) for event in run.events] == [("reached speed limit", 1.5)]
    assert run["x.speed_limit.mode"][-1] == "at limit"
    assert run["x.speed_limit.force"][-1] == pytest.approx(-4.0)
    assert run["energy.motors"][-1] == pytest.approx(9.0)


@pytest.mark.parametrize("method", ALL)
def test_friction_holds_against_an_elastic_stop(method):
    """10 N, a stop of 100 N/m at 0.1 m, friction 1 N: it rests where 10 − 100 p is within ± 1 N, and stays there."""
    limit = Limit(upper=0.1, stiffness=100.0, restitution=0.5)
    run = simulate(pushed(friction=1.0, limits=(limit,)), 6.0, method=method, torque=[10.0], output=0.1)
    stuck = run.time >= run.events[-1].time
    assert run.events[-1].what == "stuck"
    assert 0.19 - 1e-9 <= run.q[-1, 0] <= 0.21 + 1e-9
    np.testing.assert_allclose(run.q[stuck, 0], run.q[-1, 0], atol=1e-9)
    assert run["x.stop.force"][-1] + run["x.friction.force"][-1] == pytest.approx(-10.0)
    assert run["x.stop.force"][-1] == pytest.approx(-100.0 * (run.q[-1, 0] - 0.1))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("e", [0.05, 0.3, 0.8, 1.0])
def test_an_elastic_stop_gives_back_its_restitution_at_any_speed(method, e):
    """A spring and a damper that never pull; also with a stiffness of one's own."""
    for speed, stiffness in ((0.1, None), (1.0, None), (1.0, 5e3)):
        limit = Limit(lower=-0.1, upper=0.1, stiffness=stiffness, restitution=e)
        run = simulate(
            pushed(limits=(limit,)), 0.25 / speed, method=method, v0=[speed], output=0.05, rtol=1e-10, atol=1e-13
        )
        assert run.v[-1, 0] == pytest.approx(-e * speed, rel=1e-6)
        assert run["x.stop.loss"][-1] == pytest.approx(speed**2 * (1.0 - e**2), rel=1e-5, abs=1e-6)
        assert "leaving" in run["x.stop.mode"] or e == 1.0


@pytest.mark.parametrize("e", [0.1, 0.3, 0.8, 1.0])
def test_the_law_of_hunt_and_crossley_gives_back_its_restitution_at_the_speed_limits_are_made_for(e):
    """Its force begins at nothing, and ends there where the stop is left."""
    limit = Limit(lower=-0.1, upper=0.1, velocity=2.0, stop="hunt_crossley", restitution=e)
    run = simulate(pushed(limits=(limit,)), 0.1, v0=[2.0], output=0.05, rtol=1e-10, atol=1e-13)
    assert run.v[-1, 0] == pytest.approx(-2.0 * e, rel=1e-6)
    hit = np.flatnonzero(run.time == run.events[0].time)
    np.testing.assert_allclose(run["x.stop.force"][hit], 0.0, atol=1e-3)
    assert "leaving" not in run["x.stop.mode"]


@pytest.mark.parametrize("method", METHODS)
def test_an_elastic_stop_rests_until_its_load_changes(method):
    """10 N press a block of 2 kg into a stop: it rests where 5·10⁴ p = 10, in few steps. From 2 s on they fall by 4 N a
    second: the stop is left at 4.5 s, then ẍ = −2 (t − 4.5)."""
    limit = Limit(upper=0.1, stiffness=5e4)
    force = {"x": "10 - 4*max(t - 2, 0)"}
    run = simulate(pushed(limits=(limit,)), 5.5, method=method, torque=force, output=0.1)
    resting = (run.time > 1.0) & (run.time < 2.0)
    np.testing.assert_allclose(run.q[resting, 0], 0.1002, atol=2e-7)
    np.testing.assert_allclose(run.v[resting, 0], 0.0, atol=1e-15)
    np.testing.assert_allclose(run["x.stop.force"][resting], -10.0, atol=1e-6)
    assert run.events[-1].what == "left upper stop"
    # the force ends as early or late as a difference of the spring by the tolerance makes it
    ends = run.time[(run["x.stop.mode"] == "leaving") & (run.time > 1.0)].min()
    assert ends == pytest.approx(4.5, abs=5e4 * (ATOL + 0.1 * RTOL) / 4.0)
    assert run.q[-1, 0] == pytest.approx(0.1 - 1.0 / 3.0, abs=1e-3)
    still = simulate(pushed(limits=(limit,)), 1e3, method=method, torque=[10.0], output=100.0)
    assert still.statistics.steps < 1000


def test_reactions_are_those_of_the_motion_at_the_stop():
    """A rod turned into a stop, at rest there: its bearing carries its weight and the stop's moment."""
    body = Body(name="arm", mass=2.0, center_of_mass=(0.5, 0.0, 0.0), inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1))
    limit = Limit(upper=0.0, stop="rigid", restitution=0.0)
    pin = Joint(name="pin", kind="revolute", parent="world", child="arm", axis=(0.0, 1.0, 0.0), limits=(limit,))
    run = simulate(Model(name="m", bodies=(body,), joints=(pin,)), 1.0, output=0.1)
    np.testing.assert_allclose(run["pin.a"], 0.0, atol=1e-9)
    # weight 19.62 N at 0.5 m turns it onward, the stop holds
    np.testing.assert_allclose(run["pin.stop.force"][1:], -9.81, atol=1e-8)
    np.testing.assert_allclose(run["pin.reaction"][1:, 5], 19.62, atol=1e-8)


def test_modes_and_events_come_back_from_a_file(tmp_path):
    run = simulate(pushed(friction=3.0, limits=(Limit(upper=0.4),)), 3.0, torque={"x": "2*t"}, output=0.1)
    run.save(tmp_path / "run.h5", channels=["x.friction.mode"])
    back = Run.load(tmp_path / "run.h5")
    assert back.events == run.events
    assert back.notes == run.notes
    for channel in ("x.friction.mode", "x.stop.mode", "x.stop.force", "energy.balance"):
        np.testing.assert_array_equal(back[channel], run[channel])
    import h5py

    with h5py.File(tmp_path / "run.h5") as file:
        kept = [(float(t), joint.decode(), what.decode()) for t, joint, what in file["events"]]
        assert kept == [tuple(event) for event in run.events]
        assert [word.decode() for word in file["channels/x.friction.mode"]] == list(run["x.friction.mode"])


def test_words_in_tables(tmp_path):
    run = simulate(pushed(friction=3.0), 2.0, torque={"x": "2*t"}, output=0.5)
    run.save(tmp_path / "run.csv", channels=["x.q", "x.friction.mode"])
    with open(tmp_path / "run.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["x.friction.mode"] for row in rows] == list(run["x.friction.mode"])
    with pytest.raises(KinetostatError, match="are text"):
        run.save(tmp_path / "run.sim", channels=["x.friction.mode"])
    with pytest.raises(KinetostatError, match="are text"):
        run["2*x.friction.mode"]


def test_a_stop_that_nobody_described_is_told():
    """Its inertia is that of the block: 2 kg."""
    run = simulate(pushed(limits=(Limit(upper=0.1),)), 1.0, torque=[1.0], output=0.1)
    note = next(note for note in run.notes if "Stop of 'x'" in note)
    assert "derived from the effective inertia of 2 kg" in note
    given = simulate(pushed(limits=(Limit(upper=0.1, stiffness=1e3),)), 1.0, torque=[1.0], output=0.1)
    assert not any("Stop of" in note for note in given.notes)


def test_slices_tell_what_a_whole_run_tells():
    """A live machine that nobody touches, beside a run: the same events, forces and energies."""
    model = pushed(friction=3.0, static_friction=4.0, limits=(Limit(upper=0.2, stiffness=1e3, damping=5.0),))
    for method in ("rk54", FIXED):
        live = Live(Mechanism(model), torque={"x": "2*t"}, method=method, duration=3.0)
        for _ in range(15):
            live.advance(0.2)
        record, run = live.run(), simulate(model, 3.0, torque={"x": "2*t"}, method=method, output=0.004)
        assert [event.what for event in record.events] == [event.what for event in run.events]
        np.testing.assert_allclose(
            [event.time for event in record.events], [event.time for event in run.events], atol=1e-6
        )
        assert record["energy.friction"][-1] == pytest.approx(run["energy.friction"][-1], abs=1e-6)
        assert np.ptp(record["energy.balance"]) < 1e-5


def test_a_pull_slips_a_block_in_a_live_machine():
    """The hand's spring is stretched until it exceeds static friction: the event stands in the record."""
    live = Live(Mechanism(pushed(friction=30.0, static_friction=40.0)))
    live.grab("block", np.zeros(3), np.zeros(3))
    forces, told = [], []
    for k in range(200):
        live.hold([0.002 * k, 0.0, 0.0])
        live.advance(0.004)
        forces.append(live.pull.force[0])
        if live.contact_states["x.friction"] == "stick" and live.first_slip:
            told.append(live.first_slip)
    run = live.run()
    slip = run.events[0]
    assert slip.what == "slipped"
    held = np.array(forces)[: int(slip.time / 0.004)]
    assert held.max() <= 40.0 + 1e-6
    assert held.max() > 39.0
    assert len(told) > 10
    assert {joint for joint, _ in told} == {"x"}
    np.testing.assert_allclose([force for _, force in told], 40.0, rtol=1e-6)  # gravity is across, all of it counts
    assert np.ptp(run["energy.balance"]) < 1e-3


@pytest.mark.parametrize("body", ["lower", "upper"])
def test_what_a_pull_makes_slip_is_told_whatever_else_grows(body):
    """The lower block is pulled by 3 t, too: it slips at 15 − 3 t, the upper one, which it takes along, at 21 − 3 t.
    Between the blocks 2 N are carried, and no pull at the upper one, which then slides, brings the lower one more."""
    live = Live(Mechanism(files.load(resources.EXAMPLES / "block_on_block.kst")))
    live.grab(body, np.zeros(3), np.zeros(3))
    told = []
    for k in range(60):
        live.hold([0.0005 * k, 0.0, 0.0])
        live.advance(SLICE)
        sticks = tuple(live.contact_states[f"{joint}.friction"] == "stick" for joint in ("below", "above"))
        told.append((sticks, live.first_slip, live.time))
    assert told[0][1] is None  # nothing pulls yet
    for sticks, found, time in told[1:]:
        if body == "upper":
            expected = ("above", 2.0) if all(sticks) else None
        else:
            name, force = ("below", 15.0) if all(sticks) else ("above", 21.0)
            expected = (name, force - 3.0 * time)
        assert found == (expected and (expected[0], pytest.approx(expected[1])))
    assert {sticks for sticks, _, _ in told} == {(True, True), (body == "upper", body == "lower")}


def limited(example):
    """Whether a machine has joints with friction or limits; work under sampled signals is known at samples only."""
    model = files.load(str(example.path)).expanded
    joints = () if model.signal_table.sampled else model.joints
    return any(joint.friction != 0.0 or joint.limits for joint in joints)


@pytest.mark.parametrize(
    "example", [each for each in resources.examples() if limited(each)], ids=lambda each: each.name
)
def test_the_account_of_energy_closes_on_every_example(example):
    """Falling from its rest position: what is lost and stored, and what motors and drivers do, is what is missing."""
    run = simulate(files.load(str(example.path)), 0.6, output=0.002, rtol=1e-8)
    turned = np.ptp(run["energy.kinetic"]) + np.ptp(run["energy.potential"]) + 1e-3
    assert np.ptp(run["energy.balance"]) < 1e-5 * turned


@pytest.mark.parametrize("seed", range(12))
def test_the_account_of_energy_closes_on_random_machines(seed):
    random = np.random.default_rng(seed)
    bodies, joints, parent = [], [], "world"
    for k in range(3):
        center, axis = tuple(random.uniform(-0.3, 0.3, 3)), tuple(random.normal(size=3))
        inertia = Inertia(ixx=0.1, iyy=0.12, izz=0.15)
        bodies.append(Body(name=f"b{k}", mass=random.uniform(0.5, 2.0), center_of_mass=center, inertia=inertia))
        lower, upper = -random.uniform(0.1, 0.6), random.uniform(0.1, 0.6)
        e = random.uniform(0.2, 0.9)
        soft, rigid = {"stiffness": random.uniform(200.0, 2e3), "restitution": e}, {"stop": "rigid", "restitution": e}
        stop = ({}, soft, rigid)[random.integers(3)]
        limit = Limit(lower=lower, upper=upper, effort=3.0, **stop)
        kind = str(random.choice(["revolute", "prismatic"]))
        rubbing = {"friction": random.uniform(0.0, 1.0), "damping": random.uniform(0.0, 0.3), "limits": (limit,)}
        joints.append(Joint(name=f"j{k}", kind=kind, parent=parent, child=f"b{k}", axis=axis, **rubbing))
        parent = f"b{k}"
    model = Model(name="random", bodies=tuple(bodies), joints=tuple(joints))
    run = simulate(model, 2.0, torque={"j1": "5*sin(7*t)"}, output=0.005, rtol=1e-8, atol=1e-11)
    assert run.events
    assert np.ptp(run["energy.balance"]) < 1e-5 * np.ptp(run["energy.kinetic"])
    assert np.all(np.diff(run["energy.friction"]) >= -1e-9)
    assert np.all(np.diff(run["energy.stops"]) >= -1e-6)


def test_the_account_of_energy_closes_in_a_driven_loop():
    """A slider-crank with friction in all joints, turned by a driver: the driver's work is lost there."""
    model = files.load(str(next(each.path for each in resources.examples() if each.name == "slider_crank")))
    rubbing = tuple(replace(joint, friction=0.2) if joint.info.nv == 1 else joint for joint in model.joints)
    model = replace(model, joints=rubbing)
    run = simulate(model, 1.0, v0={Mechanism(model).v_names[0]: 20.0}, output=0.002, rtol=1e-9)
    assert run["energy.friction"][-1] > 0.0
    assert np.ptp(run["energy.balance"]) < 1e-5 * (np.ptp(run["energy.total"]) + run["energy.friction"][-1])


@pytest.mark.parametrize("method", ["rk4", "euler", "semi_implicit_euler"])
@pytest.mark.parametrize("name", ["scara", "joint_kinds"])
def test_fixed_steps_bear_stops_whose_stiffness_is_derived(name, method):
    run = simulate(files.load(resources.EXAMPLES / f"{name}.kst"), 0.6, method=method, step=1e-3, output=0.01)
    assert any("derived from" in note for note in run.statistics.notes)
    assert np.max(np.abs(run.v)) < 50.0  # nothing is thrown about


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
def test_fixed_steps_between_limits_are_those_of_the_ideal_machine(method):
    """An arm that meets no limit moves as without them, to the last bit; what its motors give is what it has."""
    model = files.load(resources.EXAMPLES / "ur5.kst")
    joints = tuple(replace(joint, damping=0.0) for joint in model.expanded.joints)
    model = replace(model.expanded, joints=joints)
    ideal = replace(model, world=replace(model.world, limits="ideal"))
    names = Mechanism(model).v_names
    speeds, torque = [0.3] * 6, {names[0]: "20*sin(7*t)", names[2]: "9 - 60*t"}
    chosen = {"method": method, "step": 1e-3, "output": 0.05, "v0": speeds, "torque": torque}
    run, other = (simulate(each, 0.2, **chosen) for each in (model, ideal))
    assert not run.events
    np.testing.assert_array_equal(run.q, other.q)
    np.testing.assert_array_equal(run.v, other.v)
    if (
        method == "rk4"
    ):  # forces are linear within a step: of 20 sin 7t N·m they miss h²/8 · 980 N·m, at 1 rad/s for 0.2 s
        assert np.ptp(run["energy.total"]) > 1.0
        assert np.ptp(run["energy.balance"]) < 3e-5
