"""Contact of shapes in runs against closed forms: bounces, rest, friction on slopes, rolling, energy."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.c_code.generate import generate_c
from core.errors import ModelError, SimulationError
from core.files import loads
from core.mechanics.elements.contact_law import STANDARD_GRAVITY, find_damping_ratio
from core.mechanism import Mechanism
from core.model.validation.model import check
from core.simulation.simulator import simulate

G = 9.81
"""m/s²: gravity of documents that say nothing."""
EDGE = 0.2
SHAPES = {
    "ball": ("{sphere: {radius: 0.1}}", 0.004),
    "box": ("{box: {size: [0.2, 0.2, 0.2]}}", 0.2**2 / 6.0),
    "rod": ("{capsule: {radius: 0.1, length: 0.3}}", 0.01),
    "can": ("{cylinder: {radius: 0.1, length: 0.2}}", 0.01),
}


def machine(shape: str, height: float, slope: float = 0.0, friction: float = 0.5, **settings: float) -> Mechanism:
    """A free body of 1 kg at a height above a plane that is inclined about y."""
    form, inertia = SHAPES[shape]
    given = {"friction": friction, **settings}
    text = f"""kinetostat: 1
name: contact
bodies:
  body: {{mass: 1, inertia: {{ixx: {inertia}, iyy: {inertia}, izz: {inertia}}}, shapes: [{form}]}}
frames:
  plane: {{parent: world, pose: {{rotation: [0, {slope!r}, 0]}}}}
joints:
  free: {{kind: free, parent: plane, child: body, rest: [0, 0, {height!r}, 0, 0, 0, 1]}}
forces:
  floor: {{kind: contact, a: plane, b: body, settings: {{{", ".join(f"{k}: {v!r}" for k, v in given.items())}}}}}
"""
    return Mechanism(loads(text))


def law(mech: Mechanism) -> Any:
    return mech.compiled.elements.named_forces[0].law  # type: ignore[attr-defined]


@pytest.mark.parametrize("restitution", [0.3, 0.7])
def test_a_ball_bounces_as_high_as_its_restitution_says(restitution: float) -> None:
    """After a fall of h it rises e² h, less what weight does while the spring is compressed (of the order of the
    depth)."""
    run = simulate(machine("ball", 0.6, restitution=restitution), 0.9, output=1e-3)
    first = math.sqrt(2.0 * 0.5 / G)
    after = run.q[run.time > first + 0.01, 2]
    assert float(after.max()) - 0.1 == pytest.approx(restitution**2 * 0.5, rel=0.02)
    assert float(run["floor.gap"].min()) > -2e-3


@pytest.mark.parametrize("restitution", [1.0, 0.8, 0.4, 0.2])
def test_the_damping_ratio_gives_the_restitution_of_a_spring_and_damper(restitution: float) -> None:
    """e = |v| where the force of ẍ + 2 ζ ẋ + x = 0 with x = 0, ẋ = −1 at first vanishes, in closed form."""
    zeta = find_damping_ratio(restitution)
    w = math.sqrt(1.0 - zeta * zeta)
    t = math.acos(2.0 * zeta * zeta - 1.0) / w  # where 2 ζ ẋ + x = 0
    speed = math.exp(-zeta * t) * (math.cos(w * t) - zeta / w * math.sin(w * t))
    assert -speed == pytest.approx(restitution, abs=1e-9)


@pytest.mark.parametrize(("shape", "points"), [("ball", 1), ("box", 4), ("can", 3)])
def test_a_body_at_rest_lies_as_deep_as_its_weight_presses(shape: str, points: int) -> None:
    mech = machine(shape, 0.1, stiffness=1e4)
    run = simulate(mech, 2.0)
    assert 0.1 - run.q[-1, 2] == pytest.approx(G / (points * 1e4), rel=1e-6)
    assert run["floor.normal"][-1] == pytest.approx(G, rel=1e-6)
    assert np.abs(run.v[-1]).max() < 1e-6


def test_a_capsule_lies_on_both_ends() -> None:
    mech = machine("rod", 0.1, stiffness=1e4)
    q = np.array([0.0, 0.0, 0.1, 0.0, math.sin(math.pi / 4.0), 0.0, math.cos(math.pi / 4.0)])
    run = simulate(mech, 2.0, q0=q)
    assert 0.1 - run.q[-1, 2] == pytest.approx(G / 2e4, rel=1e-6)


def test_the_default_stiffness_yields_by_a_five_hundredth_of_the_size_after_a_fall_of_it() -> None:
    run = simulate(machine("ball", 0.1 + EDGE, restitution=1.0), 0.25, output=1e-5)
    assert -float(run["floor.gap"].min()) == pytest.approx(2e-3 * EDGE, rel=4e-3)


def test_a_block_sticks_below_the_angle_of_friction_without_creep() -> None:
    mu, angle = 0.4, math.atan(0.38)
    run = simulate(machine("box", 0.1, angle, mu), 20.0)
    late = run.time > 0.5
    assert float(np.ptp(run.q[late, 0])) < 1e-12
    assert run["floor.friction"][-1] == pytest.approx(G * math.sin(angle), rel=1e-9)
    assert run.statistics.steps < 1000


def test_a_block_slides_above_the_angle_of_friction() -> None:
    mu, angle = 0.4, math.atan(0.5)
    run = simulate(machine("box", 0.1, angle, mu), 1.0)
    slope = G * (math.sin(angle) - mu * math.cos(angle))
    assert (run.v[-1] - run.v[len(run.v) // 2])[3] == pytest.approx(0.5 * slope, rel=1e-5)


def test_static_friction_holds_what_would_go_on_sliding() -> None:
    """Between both angles a block at rest stays, a block that slides does not stop."""
    mech = machine("box", 0.1, math.atan(0.4), 0.2, static_friction=0.6)
    at_rest = simulate(mech, 1.0)
    assert abs(at_rest.q[-1, 0]) < 1e-6
    moving = simulate(mech, 1.0, v0={"free.vx": 0.5})
    slope = G * (math.sin(math.atan(0.4)) - 0.2 * math.cos(math.atan(0.4)))
    assert moving.v[-1, 3] == pytest.approx(0.5 + slope, rel=1e-3)


def test_a_sliding_box_stops_after_its_kinetic_energy_is_spent() -> None:
    run = simulate(machine("box", 0.1, friction=0.3), 1.0, v0={"free.vx": 1.5})
    assert run.q[-1, 0] == pytest.approx(1.5**2 / (2.0 * 0.3 * G), rel=1e-5)
    assert abs(run.v[-1, 3]) < 1e-9


def test_a_sliding_ball_ends_rolling_at_five_sevenths_of_its_speed() -> None:
    run = simulate(machine("ball", 0.1, friction=0.2), 1.0, v0={"free.vx": 1.0})
    assert np.linalg.norm(run.v[-1, 3:]) == pytest.approx(5.0 / 7.0, rel=1e-6)
    assert run.v[-1, 1] * 0.1 == pytest.approx(5.0 / 7.0, rel=1e-6)
    assert run["floor.sliding"][-1] < 1e-7


def test_energy_that_is_lost_is_accounted_for() -> None:
    run = simulate(machine("box", 0.3, friction=0.3), 0.6, v0={"free.vx": 1.0, "free.wy": 2.0})
    total, lost = run["energy.total"], run["floor.heat"]
    assert (run["floor.dissipation"] > -1e-9).all()
    assert total[0] - total[-1] > 1.0
    assert total + lost == pytest.approx(np.full(len(total), total[0]), abs=1e-4)
    assert np.ptp(run["energy.balance"]) < 1e-4


def test_two_balls_exchange_their_momentum() -> None:
    """A ball hits an equal one without gravity, off center, without friction: the speed along the line of centers is
    exchanged, that across it is kept."""
    text = """kinetostat: 1
name: balls
world: {gravity: {kind: none}}
bodies:
  one: {mass: 1, inertia: {ixx: 0.004, iyy: 0.004, izz: 0.004}, shapes: [{sphere: {radius: 0.1}}]}
  two: {mass: 1, inertia: {ixx: 0.004, iyy: 0.004, izz: 0.004}, shapes: [{sphere: {radius: 0.1}}]}
joints:
  j1: {kind: free, parent: world, child: one, rest: [0, 0, 0, 0, 0, 0, 1]}
  j2: {kind: free, parent: world, child: two, rest: [0.5, 0.1, 0, 0, 0, 0, 1]}
forces:
  hit: {kind: contact, a: one, b: two, settings: {friction: 0, restitution: 1}}
"""
    run = simulate(Mechanism(loads(text)), 1.0, v0={"j1.vx": 1.0})
    normal = np.array([math.sqrt(0.03), 0.1]) / 0.2
    expected = np.concatenate([np.array([1.0, 0.0]) - normal * normal[0], normal * normal[0]])
    assert run.v[-1, [3, 4, 9, 10]] == pytest.approx(expected, abs=2e-3)
    assert run.v[-1, [3, 4]] + run.v[-1, [9, 10]] == pytest.approx([1.0, 0.0], abs=1e-9)


def test_contact_is_designed_for_standard_gravity_where_there_is_none() -> None:
    text = """kinetostat: 1
name: ball
world: {gravity: {kind: none}}
bodies:
  body: {mass: 2, inertia: {ixx: 1, iyy: 1, izz: 1}, shapes: [{sphere: {radius: 0.1}}]}
joints:
  free: {kind: free, parent: world, child: body}
forces:
  floor: {kind: contact, b: body}
"""
    speed = math.sqrt(2.0 * STANDARD_GRAVITY * EDGE)
    assert law(Mechanism(loads(text))).stiffness == pytest.approx(2.0 * (speed / (2e-3 * EDGE)) ** 2)


def test_fixed_steps_too_long_for_the_stiffness_are_refused_with_what_would_do() -> None:
    with pytest.raises(SimulationError, match="at most 2.5e\\+03 N/m"):
        simulate(machine("box", 0.12), 0.5, method="rk4", step=1e-3)
    mech = machine("box", 0.12, 0.3, 0.2, stiffness=2.5e3)
    fixed = simulate(mech, 0.5, method="rk4", step=1e-3)
    assert fixed.q[-1] == pytest.approx(simulate(mech, 0.5).q[-1], abs=2e-4)


def test_bodies_that_begin_deep_inside_each_other_are_noted() -> None:
    (note,) = simulate(machine("ball", 0.09), 0.01).notes
    assert "'floor' begin 0.01 m inside each other" in note
    assert not simulate(machine("ball", 0.1 - 1e-5), 0.01).notes


def test_numbers_that_no_contact_can_have_are_findings() -> None:
    found = [str(each) for each in check(machine("ball", 0.1, friction=-0.1, restitution=1.2).model)]
    assert any("friction of a contact cannot be negative" in each for each in found)
    assert any("restitution above 1" in each for each in found)
    assert not check(machine("ball", 0.1).model)


def test_c_code_contains_contact(tmp_path: Path) -> None:
    assert generate_c(machine("ball", 0.12, 0.1, stiffness=1e4).model, tmp_path, trial=False).difference < 1e-12
    with pytest.raises(SimulationError, match="too long for the stiffness"):
        generate_c(machine("ball", 0.12).model, tmp_path / "stiff", trial=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("b: body", "b: body, a: body"), "does not touch itself"),
        (("{sphere: {radius: 0.1}}", "{cone: {radius: 0.1, length: 0.2}}"), "no shape that can touch"),
    ],
)
def test_what_cannot_touch_is_refused_in_words(change: tuple[str, str], message: str) -> None:
    text = """kinetostat: 1
name: ball
bodies:
  body: {mass: 2, inertia: {ixx: 1, iyy: 1, izz: 1}, shapes: [{sphere: {radius: 0.1}}]}
frames:
  plane: {parent: world}
joints:
  free: {kind: free, parent: world, child: body}
forces:
  floor: {kind: contact, b: body}
"""
    with pytest.raises(ModelError, match=message):
        Mechanism(loads(text.replace(*change))).x_names  # noqa: B018
