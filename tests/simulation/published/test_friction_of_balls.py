"""Dry friction along several coordinates as one vector, of ball joints and in planes: closed forms, turned frames, and
in joints that close loops what it does in a tree."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from core.analysis.equilibrium import equilibrium
from core.constraints import friction_disk_forces
from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Model
from core.model.shapes import Pose
from core.numerics.bounded_forces import solve_norm_bounded_forces
from core.simulation import simulate
from core.simulation.equations import sliding_onset
from tests.simulation.published.test_friction_and_stops import FINE, METHODS
from tests.walks import slow

G = 9.81
MILLISECOND = {"method": "rk4", "step": 1e-3}
EVERY = [*({"method": method, **FINE} for method in METHODS), MILLISECOND]
PULL = np.array([1.0, -2.0])
MASS, KINETIC, STATIC = 2.0, 4.0, 6.0


def plate(turned=0.0, **fields):
    """A block of 2 kg on a plane whose axes are turned by an angle about its normal."""
    body = Body(name="plate", mass=MASS, inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1))
    frame = Pose(rotation=(0.0, 0.0, turned))
    levels = {"friction": KINETIC, "static_friction": STATIC} | fields
    table = Joint(name="table", kind="planar", parent="world", child="plate", axis=(0.0, 0.0, 1.0), a=frame, **levels)
    return Model(name="plate", bodies=(body,), joints=(table,))


def slides(_, y):
    """Rates of its place and its velocity while it is pulled."""
    w = y[2:]
    return [*w, *((PULL - KINETIC * w / np.linalg.norm(w)) / MASS)]


def turned_back(vector, angle):
    """Components in axes that are turned."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s], [-s, c]]) @ vector


@pytest.mark.parametrize("angle", [0.0, 0.7])
@pytest.mark.parametrize("settings", EVERY, ids=lambda each: each["method"])
def test_a_block_pulled_aside_comes_to_rest(settings, angle):
    """m w' = g − r w/|w|: r |w| + g·w falls at the rate (r² − g²)/m; the way as SciPy integrates it."""
    start = np.array([3.0, 4.0])
    stopped = MASS * (KINETIC * 5.0 + PULL @ start) / (KINETIC**2 - PULL @ PULL)
    v0, torque = ([*turned_back(x, angle), 0.0] for x in (start, PULL))
    run = simulate(plate(angle), 5.0, v0=v0, torque=torque, output=0.05, **settings)
    assert not run.notes
    assert [(each.joint, each.what) for each in run.events] == [("table", "stuck")]
    assert run.events[0].time == pytest.approx(stopped, abs=1e-4 if "step" in settings else 1e-8)
    np.testing.assert_array_equal(run.v[-1], 0.0)
    way = solve_ivp(slides, (0.0, stopped - 1e-9), [0.0, 0.0, *start], method="LSODA", rtol=1e-11, atol=1e-13).y[:2, -1]
    np.testing.assert_allclose(turned_back(run.q[-1, :2], -angle), way, atol=3e-8)
    assert np.ptp(run["energy.balance"]) < 1e-6
    np.testing.assert_allclose(run["table.friction.force"][-1], -turned_back(PULL, angle), atol=1e-10)


@pytest.mark.parametrize("settings", EVERY, ids=lambda each: each["method"])
def test_a_pull_that_grows_breaks_a_disc_where_its_length_does(settings):
    """3 t and 4 t break 6 N at 1.2 s, though each is below it until 1.5 s; then m a = 5 t − 4."""
    run = simulate(plate(), 2.0, torque={"table.x": "3*t", "table.y": "4*t"}, output=0.05, **settings)
    assert run.events[0].time == pytest.approx(1.2, abs=1e-9)
    t, t0 = 2.0, 1.2
    speed = (2.5 * (t * t - t0 * t0) - KINETIC * (t - t0)) / MASS
    np.testing.assert_allclose(run.v[-1], [0.6 * speed, 0.8 * speed, 0.0], atol=1e-8)
    np.testing.assert_array_equal(np.unique(run["table.friction.mode"]), ["slide", "stick"])


@pytest.mark.parametrize("angle", [0.0, 0.4, 1.3])
def test_forces_of_a_disc_outside_runs_do_not_depend_on_its_axes(angle):
    mech, still = Mechanism(plate(angle)), np.zeros(3)
    for pull, expected in ((5.9, 0.0), (6.1, 1.05)):
        tau = [*turned_back([0.6 * pull, 0.8 * pull], angle), 0.0]
        a = mech.forward_dynamics(still, still, tau)
        np.testing.assert_allclose(turned_back(a[:2], -angle), [0.6 * expected, 0.8 * expected], atol=1e-12)
    moving = [*turned_back([3.0, 4.0], angle), 0.0]
    tau = mech.inverse_dynamics(still, moving, still)
    np.testing.assert_allclose(turned_back(tau[:2], -angle), [0.6 * KINETIC, 0.8 * KINETIC], atol=1e-12)
    begins = mech.inverse_dynamics(still, still, moving)
    np.testing.assert_allclose(turned_back(begins[:2], -angle), [2.4 + 6.0, 3.2 + 8.0], atol=1e-12)
    ranges = mech.inverse_dynamics_ranges(still, still, still)
    np.testing.assert_allclose(ranges.tau_max[:2], [STATIC, STATIC])


@pytest.mark.parametrize("angle", [0.0, 0.5])
def test_a_disc_holds_a_load_up_to_its_length(angle):
    load = turned_back([3.0, 4.0], angle)
    found = equilibrium(Mechanism(plate(angle)), tau=[*load, 0.0], friction=True)
    assert found.stability == "held"
    assert found.friction.safety == pytest.approx(6.0 / 5.0, rel=1e-8)
    np.testing.assert_allclose([found.friction.forces[f"table.{x}"] for x in "xy"], -load, atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_spins_down_about_the_axis_that_it_has(method):
    """A round body at 7 rad/s about any axis, without weight: I ω' = −r, whatever its axes are."""
    ball = Body(name="ball", mass=1.0, inertia=Inertia(ixx=0.2, iyy=0.2, izz=0.2))
    joint = Joint(name="hub", kind="spherical", parent="world", child="ball", friction=0.5)
    run = simulate(
        Model(name="ball", bodies=(ball,), joints=(joint,)),
        4.0,
        v0=[2.0, 3.0, 6.0],
        method=method,
        output=0.05,
        **FINE,
    )
    assert run.events[0].time == pytest.approx(7.0 * 0.2 / 0.5, abs=1e-9)
    assert run["hub.friction.loss"][-1] == pytest.approx(0.5 * 0.2 * 49.0, rel=1e-9)


def problems(count):
    """Random ones with intervals, discs and balls, of any rank."""
    luck = np.random.default_rng(3)
    for _ in range(count):
        sizes = luck.integers(1, 4, size=luck.integers(1, 5))
        shares = np.concatenate([[size, *[0] * (size - 1)] for size in sizes])
        W = luck.normal(size=(len(shares), luck.integers(1, len(shares) + 3)))
        W *= 10.0 ** luck.uniform(-1.0, 1.0, size=(len(shares), 1))
        high = np.repeat(10.0 ** luck.uniform(-1.5, 1.0, size=len(sizes)), sizes)
        yield W @ W.T, W @ luck.normal(size=W.shape[1]), high, shares


def test_forces_in_balls_are_those_of_the_least_acceleration():
    """γ̇ = 0 inside, opposite to λ at the end; both programs agree on γ̇."""
    for A, c, high, shares in problems(150):
        found, n = solve_norm_bounded_forces(A, c, -high, high, shares), len(c)
        sizes = np.abs(A) @ np.abs(found.forces) + np.abs(c)
        for first in np.flatnonzero(shares):
            own = slice(first, first + shares[first])
            force, rate, radius = found.forces[own], found.rates[own], high[first]
            assert np.linalg.norm(force) <= radius * (1.0 + 1e-12)
            against = rate + np.linalg.norm(rate) * force / radius
            assert np.linalg.norm(against) <= 1e-11 * np.linalg.norm(sizes[own])
        lam, side, g = np.zeros(n), np.zeros(n), np.zeros(n)
        assert friction_disk_forces.solve_disk_forces(A.ravel(), c, -high, high, shares, lam, side, g, n)
        np.testing.assert_allclose(g, found.rates, atol=1e-10 * np.max(sizes))


def slowing_down(count):
    """Random balls that slow down or go faster, and rows that are held: A, c, sizes, shares, λ of known multipliers."""
    luck = np.random.default_rng(1)
    for _ in range(count):
        sizes, held = luck.integers(2, 4, size=luck.integers(1, 4)), luck.integers(0, 3)
        shares = np.concatenate([*([size, *[0] * (size - 1)] for size in sizes), np.ones(held)])
        W = luck.normal(size=(len(shares), len(shares) + 2))
        A, lam, pace, high = W @ W.T, luck.normal(size=len(shares)), np.zeros(len(shares)), np.full(len(shares), np.inf)
        least = np.linalg.eigvalsh(A)[0]
        for first in np.flatnonzero(shares > 1):
            own = slice(first, first + int(shares[first]))
            high[own] = 10.0 ** luck.uniform(-0.5, 0.5)
            lam[own] *= high[first] / np.linalg.norm(lam[own])
            pace[own] = luck.uniform(-0.05 * least, 0.0) if luck.random() < 0.7 else luck.uniform(0.0, 1.0)
        yield A, -(A @ lam + pace * lam), high, shares, lam


def test_balls_that_slow_down_have_negative_multipliers():
    """(A + s) λ = −c with the λ of each ball as long as its friction, from where those that could be held are."""
    tried = 0
    for A, c, high, shares, lam in slowing_down(400):
        n = len(c)
        found, side, g = np.zeros(n), np.zeros(n), np.zeros(n)
        friction_disk_forces.solve_disk_forces(A.ravel(), c, -high, high, shares, found, side, g, n)
        if np.any((shares > 1) & (side == 0.0)):
            tried += 1
            assert sliding_onset.solve_slowing_forces(A.ravel(), c, shares, high, g, found, n)
            np.testing.assert_allclose(found, lam, atol=1e-9 * np.abs(lam).max())
    assert tried > 200


def spatial_slider_crank(cut, aside=0.0, **ball):
    """A crank about y, a rod on a ball, a fork to a slider along x, so far aside of the plane of the crank; the joint
    named is the one that is cut."""

    def moving(name, center):
        return Body(name=name, mass=1.0, center_of_mass=center, inertia=Inertia(ixx=0.02, iyy=0.03, izz=0.04))

    def at(*position):
        return Pose(position=position)

    on_wheel, on_rod, side = at(0.3, 0.1, 0.0), at(0.0, 0.1, 0.0), at(1.1, aside, 0.0)

    joints = (
        Joint(name="crank", parent="world", child="wheel", axis=(0.0, 1.0, 0.0)),
        Joint(name="ball", kind="spherical", parent="wheel", child="rod", a=on_wheel, b=on_rod, **ball),
        Joint(name="fork", kind="universal", parent="rod", child="slider", axis=(0.0, 1.0, 0.0),
              second_axis=(0.0, 0.0, 1.0), a=at(0.8, 0.0, 0.0)),
        Joint(name="slide", kind="prismatic", parent="world", child="slider", axis=(1.0, 0.0, 0.0), a=side),
    )  # fmt: skip
    joints = tuple(replace(joint, cut="yes" if joint.name == cut else "no") for joint in joints)
    bodies = (moving("wheel", (0.2, 0.0, 0.0)), moving("rod", (0.4, 0.05, 0.0)), moving("slider", (0.0, 0.0, 0.0)))
    return Model(name="spatial slider-crank", bodies=bodies, joints=joints)


def start(model):
    """Its assembled pose with the crank at 0.5 rad."""
    mech = Mechanism(model)
    return mech, mech.move(mech.rest(), {"crank": 0.5}, exact=True)


def pendulum(closed, **ball):
    """A body that hangs on a ball; or one that is free, and the ball closes the loop."""
    body = Body(name="bob", mass=2.0, center_of_mass=(0.1, 0.0, -0.4), inertia=Inertia(ixx=0.02, iyy=0.03, izz=0.01))
    hangs = Joint(name="ball", kind="spherical", parent="world", child="bob", **ball)
    if not closed:
        return Model(name="pendulum", bodies=(body,), joints=(hangs,))
    free = Joint(name="float", kind="free", parent="world", child="bob", cut="no")
    return Model(name="pendulum", bodies=(body,), joints=(free, replace(hangs, cut="yes")))


@pytest.mark.parametrize("method", ["rk54", "rk853", "adams", "radau"])
def test_a_ball_that_closes_a_loop_rubs_as_one_in_the_tree(method):
    """It swings, and comes to rest away from the vertical at once in all its components."""
    runs = []
    for closed in (False, True):
        mech = Mechanism(pendulum(closed, friction=0.5, static_friction=0.7))
        name = "float" if closed else "ball"
        v0 = {f"{name}.wx": 3.0, f"{name}.wy": 1.0, f"{name}.wz": 2.0}
        run = simulate(mech, 5.0, method=method, v0=v0, output=0.05, rtol=1e-9, atol=1e-11)
        assert not run.notes
        assert np.ptp(run["energy.balance"]) < 1e-6 * np.ptp(run["energy.total"])
        runs.append(run)
    tree, loop = ([event for event in run.events if event.what in ("slipped", "stuck")] for run in runs)
    assert [(each.joint, each.what) for each in tree] == [(each.joint, each.what) for each in loop]
    assert [each.what for each in tree] == ["stuck"]
    np.testing.assert_allclose([each.time for each in loop], [each.time for each in tree], atol=1e-6)
    poses = [run.mech.frame(run.q[-1], "bob") for run in runs]
    np.testing.assert_allclose(poses[1], poses[0], atol=1e-6)
    np.testing.assert_array_equal(runs[0].v[-1], 0.0)
    np.testing.assert_allclose(runs[1].v[-1], 0.0, atol=1e-9)


def test_a_ball_holds_a_loop_without_creep():
    mech, q = start(spatial_slider_crank("ball", friction=20.0))
    run = simulate(mech, 1000.0, q0=q, output=100.0)
    np.testing.assert_allclose(run["crank.q"], run["crank.q"][0], rtol=0.0, atol=1e-9)
    np.testing.assert_array_equal(np.unique(run["ball.friction.mode"]), ["stick"])


@pytest.mark.parametrize("aside", [0.25, *slow((0.0,))])
def test_three_components_on_one_freedom(aside):
    """Where the machine is planar two of them never move, else all pass through rest while it goes on: none of that
    holds it, all methods come to one motion, and to rest, wherever the loop is cut."""
    asked, cranks = np.arange(0.0, 3.0, 0.05) - 1e-9, []
    for method in ("rk54", "rk853", "adams", "radau"):
        for cut in ("ball", "fork"):
            mech, q = start(spatial_slider_crank(cut, aside, friction=0.6, static_friction=0.9))
            run = simulate(mech, 3.0, method=method, q0=q, output=0.05, rtol=1e-9, atol=1e-11)
            assert not run.notes
            assert np.ptp(run["energy.balance"]) < 1e-6
            assert run["energy.kinetic"][-1] == pytest.approx(0.0, abs=1e-15)
            # what is lost is what the weight gave until then
            given = run["energy.potential"][0] - run["energy.potential"][-1]
            assert run["energy.friction"][-1] == pytest.approx(given)
            cranks.append(run["crank.q"][np.searchsorted(run.time, asked)])
    np.testing.assert_allclose(cranks, np.tile(cranks[0], (len(cranks), 1)), atol=1e-7)


@pytest.mark.parametrize("level", [0.3, 20.0])
def test_forces_at_rest_do_not_depend_on_where_a_loop_is_cut(level):
    found = []
    for cut in ("ball", "fork"):
        mech, q = start(spatial_slider_crank(cut, friction=level))
        still = np.zeros(mech.nv)
        a = mech.forward_dynamics(q, still, still)
        found.append((a[mech.joint_v("crank")][0], mech.reactions(q, still, still)))
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-8)
    assert (abs(found[0][0]) < 1e-8) == (level == 20.0)
    for name in found[0][1]:
        np.testing.assert_allclose(found[0][1][name], found[1][1][name], atol=1e-6)


def on_a_carriage(light):
    """A plate on a carriage that gives way along x: what a unit of force changes of its velocity differs between x and
    y, (2,) accelerations."""
    ground = plate(friction=KINETIC, static_friction=None)
    inertia = Inertia(ixx=0.1, iyy=0.1, izz=0.1)
    rail = Joint(name="rail", kind="prismatic", parent="world", child="carriage", axis=(1.0, 0.0, 0.0))
    bodies = (Body(name="carriage", mass=light, inertia=inertia), *ground.bodies)
    model = Model(name="carriage", bodies=bodies, joints=(rail, replace(ground.joints[0], parent="carriage")))
    return model, np.array([1.0 / light + 1.0 / MASS, 1.0 / MASS])


def straight(A, pull):
    """(κ, d) of the motions w = κ t d under a pull, to which friction turns others: A (p − F d) = κ d."""
    least = -KINETIC * A.min()
    pace = brentq(lambda x: np.linalg.norm(A * pull / (x + A * KINETIC)) - 1.0, 0.999 * least, 1e3, xtol=1e-14)
    return pace, A * pull / (pace + A * KINETIC)


@pytest.mark.parametrize("more", [1.01, 1.1])
@pytest.mark.parametrize("method", METHODS)
def test_a_plate_that_is_pulled_hardly_more_than_friction_holds_starts(method, more):
    """Straight, though friction turns it many times as quickly as its speed grows."""
    model, A = on_a_carriage(0.5)
    pull, end = more * KINETIC * np.array([0.6, 0.8]), 0.1
    pace, aim = straight(A, pull)
    torque = {"table.x": pull[0], "table.y": pull[1]}
    run = simulate(model, end, method=method, torque=torque, output=1e-2, max_steps=20_000, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(run.v[-1, 1:3], pace * end * aim, atol=1e-8)
    np.testing.assert_allclose(run.q[-1, 1:3], 0.5 * pace * end**2 * aim, atol=1e-9)


@pytest.mark.parametrize("less", [0.95, 0.8])
@pytest.mark.parametrize("method", METHODS)
def test_a_plate_that_is_pulled_hardly_less_than_friction_holds_comes_to_rest(method, less):
    """Straight, too, at the time v/κ; from another direction with the one that friction turns it to."""
    model, A = on_a_carriage(0.5)
    pull = less * KINETIC * np.array([0.6, 0.8])
    pace, aim = straight(A, pull)
    speed, settings = -0.5 * pace, {"rtol": 1e-8, "atol": 1e-10, "max_steps": 20_000}
    torque = {"table.x": pull[0], "table.y": pull[1]}
    for turned in (0.0, 0.8):
        w = speed * np.array([[np.cos(turned), -np.sin(turned)], [np.sin(turned), np.cos(turned)]]) @ aim
        v0 = {"table.x": w[0], "table.y": w[1]}
        run = simulate(model, 2.0, method=method, v0=v0, torque=torque, output=0.1, **settings)
        stuck = [each.time for each in run.events if each.what == "stuck"]
        assert len(stuck) == 1
        assert turned != 0.0 or stuck[0] == pytest.approx(0.5, abs=1e-7)
        np.testing.assert_array_equal(run.v[-1, 1:3], 0.0)


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
@pytest.mark.parametrize("share", [1.01, 1.1, 0.95, 0.8])
def test_fixed_steps_start_it_and_bring_it_to_rest_too(share, method):
    """Friction would turn it about within a step of 1 ms where it is slower than A F h."""
    model, A = on_a_carriage(0.5)
    pull = share * KINETIC * np.array([0.6, 0.8])
    pace, aim = straight(A, pull)
    v0 = dict(zip(("table.x", "table.y"), max(-0.5 * pace, 0.0) * aim, strict=True))
    torque = [0.0, *pull, 0.0]
    run = simulate(model, 1.0, method=method, step=1e-3, v0=v0, torque=torque, output=0.1)
    stuck = [each.time for each in run.events if each.what == "stuck"]
    if share > 1.0:
        assert not stuck
        np.testing.assert_allclose(run.v[-1, 1:3], pace * aim, rtol=1e-9)
    else:
        assert stuck == [pytest.approx(0.5, abs=1e-9)]
        np.testing.assert_array_equal(run.v[-1, 1:3], 0.0)


def test_fixed_steps_bring_it_to_rest_from_another_direction():
    """As steps of variable length do, within what steps of 1 ms err."""
    model, _ = on_a_carriage(0.5)
    pull = 0.95 * KINETIC * np.array([0.6, 0.8])
    settings = {"v0": {"table.x": -0.05, "table.y": 0.05}, "torque": [0.0, *pull, 0.0], "output": 0.1}
    ends = []
    for method in ({"method": "rk4", "step": 1e-3}, {"method": "radau", **FINE}):
        run = simulate(model, 2.0, **method, **settings)
        ends += [each.time for each in run.events if each.what == "stuck"]
        np.testing.assert_array_equal(run.v[-1, 1:3], 0.0)
    assert len(ends) == 2
    assert ends[0] == pytest.approx(ends[1], abs=1e-3)


def from_rest(A, begun, pull, end):
    """Where a plate is, and how fast, at the end, or where it comes to rest again, under a pull (SciPy; from the way
    out of rest, w = κ τ²/2 (d + x τ e), of which d is that of the pull and e across it)."""
    h, soon = 1e-6, 1e-6
    d, growth = pull(begun) / KINETIC, (pull(begun + h) - pull(begun - h)) / (2.0 * h)
    across = np.array([-d[1], d[0]])
    pace, x = np.linalg.solve(np.stack([d, A * KINETIC * across], axis=1), A * growth)

    def rates(t, y):
        return [*y[2:], *(A * (pull(t) - KINETIC * y[2:] / np.linalg.norm(y[2:])))]

    def slopes(t, y):
        speed, J = np.linalg.norm(y[2:]), np.zeros((4, 4))
        J[:2, 2:] = np.eye(2)
        J[2:, 2:] = -KINETIC / speed * A[:, None] * (np.eye(2) - np.outer(y[2:], y[2:]) / speed**2)
        return J

    def rests(t, y):
        return np.linalg.norm(y[2:]) - 1e-12

    rests.terminal, rests.direction = True, -1
    w = pace * soon**2 / 2.0 * (d + x * soon * across)
    settings = {"method": "Radau", "jac": slopes, "events": rests, "rtol": 1e-11, "atol": 1e-16}
    found = solve_ivp(rates, (begun + soon, end), [0.0, 0.0, *w], **settings)
    return found.t[-1], found.y[:2, -1], found.y[2:, -1]


@pytest.mark.parametrize(("turning", "growing"), [(1.0, 0.5), *slow((20.0, 2.0), (-3.0, 0.05))])
@pytest.mark.parametrize("method", METHODS)
def test_a_plate_begins_to_slide_under_a_pull_that_grows_and_turns(method, turning, growing):
    """Along the way out of rest, from which friction turns all else away without end: as exactly as tolerances say, in
    few steps, friction against the motion from the first sample on."""
    model, A = on_a_carriage(0.5)
    begun, end = 0.1 / growing, 0.1 / growing + 0.3

    def pull(t):
        return KINETIC * (0.9 + growing * t) * np.array([np.cos(0.5 + turning * t), np.sin(0.5 + turning * t)])

    _, place, speed = from_rest(A, begun, pull, end)
    size, angle = f"{KINETIC}*(0.9+{growing}*t)", f"(0.5+{turning}*t)"
    torque = {"table.x": f"{size}*cos{angle}", "table.y": f"{size}*sin{angle}"}
    run = simulate(model, end, method=method, torque=torque, output=0.01, max_steps=2_000, rtol=1e-8, atol=1e-10)
    assert [(each.joint, each.what) for each in run.events] == [("table", "slipped")]
    assert run.events[0].time == pytest.approx(begun, abs=1e-10)
    np.testing.assert_allclose(run.q[-1, 1:3], place, atol=2e-9)
    np.testing.assert_allclose(run.v[-1, 1:3], speed, atol=4e-9)
    v, force = run.v[:, 1:3], run["table.friction.force"][:, :2]
    moves = np.linalg.norm(v, axis=1) > 1e-11  # less is rounding
    assert moves.sum() > 25
    against = -KINETIC * v[moves] / np.linalg.norm(v[moves], axis=1, keepdims=True)
    np.testing.assert_allclose(force[moves], against, atol=1e-5)


@pytest.mark.parametrize(("turning", "beyond"), [(1.0, 1e-4), *slow((0.0, 1e-4), (5.0, 1e-4))])
@pytest.mark.parametrize("settings", EVERY, ids=lambda each: each["method"])
def test_a_pull_that_passes_friction_by_a_hair_moves_a_plate_by_a_hair(settings, turning, beyond):
    """It begins to slide, turns, and comes to rest again, all of it much more slowly than friction could turn it."""
    model, A = on_a_carriage(0.5)
    begun = 0.5 - np.sqrt(beyond)

    def pull(t):
        return KINETIC * (1.0 + beyond - (t - 0.5) ** 2) * np.array([np.cos(turning * t), np.sin(turning * t)])

    stopped, place, _ = from_rest(A, begun, pull, 1.0)
    size, angle = f"{KINETIC}*(1+{beyond}-(t-0.5)^2)", f"({turning}*t)"
    torque = {"table.x": f"{size}*cos{angle}", "table.y": f"{size}*sin{angle}"}
    run = simulate(model, 1.0, torque=torque, output=0.1, max_steps=2_000, **settings | {"rtol": 1e-8, "atol": 1e-10})
    assert [each.what for each in run.events] == ["slipped", "stuck"]
    loose = 100.0 if "step" in settings else 1.0
    assert run.events[1].time == pytest.approx(stopped, abs=1e-6 * loose)
    np.testing.assert_allclose(run.q[-1, 1:3], place, atol=1e-10 * loose)
    np.testing.assert_array_equal(run.v[-1, 1:3], 0.0)


def two_on_a_carriage(heavy):
    """Two plates on a carriage twice as heavy as that of one."""
    model, A = on_a_carriage(heavy)
    carriage, first = model.bodies
    (rail, table) = model.joints
    wide = replace(carriage, mass=2.0 * carriage.mass)
    second = replace(table, name="other", child="other_plate")
    return replace(model, bodies=(wide, first, replace(first, name="other_plate")), joints=(rail, table, second)), A


@pytest.mark.parametrize(("beyond", "turning"), [(1e-2, 1.0), *slow((1e-4, 1.0), (1e-4, 5.0))])
@pytest.mark.parametrize("method", METHODS)
def test_two_plates_that_begin_at_once_do_as_each_alone(method, beyond, turning):
    """On a carriage that is twice as heavy, under the same pull: they begin to slide, and slow down to rest."""
    (two, A), begun = two_on_a_carriage(0.5), 0.5 - np.sqrt(beyond)

    def pull(t):
        return KINETIC * (1.0 + beyond - (t - 0.5) ** 2) * np.array([np.cos(turning * t), np.sin(turning * t)])

    stopped, place, _ = from_rest(A, begun, pull, 1.0)
    size, angle = f"{KINETIC}*(1+{beyond}-(t-0.5)^2)", f"({turning}*t)"
    pulls = {"x": f"{size}*cos{angle}", "y": f"{size}*sin{angle}"}
    torque = {f"{plate}.{axis}": each for plate in ("table", "other") for axis, each in pulls.items()}
    run = simulate(two, 1.0, method=method, torque=torque, output=0.1, max_steps=20_000, rtol=1e-8, atol=1e-10)
    assert sorted((each.joint, each.what) for each in run.events) == [
        (plate, what) for plate in ("other", "table") for what in ("slipped", "stuck")
    ]
    for plate in ("table", "other"):
        assert [each.time for each in run.events if each.joint == plate][1] == pytest.approx(stopped, abs=1e-6)
        np.testing.assert_allclose(run.q[-1, run.mech.joint_q(plate)][:2], place, atol=1e-9)
