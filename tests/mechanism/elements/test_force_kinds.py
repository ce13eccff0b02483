"""Every kind of force element, and one that people make: power and energy, action and reaction, balance at junctions,
what is shown, seen and saved."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from core.errors import ModelError
from core.files import dumps, loads
from core.mechanics.elements.forces import FORCES
from core.mechanics.elements.forces.force_element import output_count
from core.mechanics.elements.forces.line import OnLine
from core.mechanism import Mechanism
from core.model import FORCE_KINDS, Force, Junction, Model, Setting, Strand
from core.model.shapes import Sphere
from core.programs import program
from core.programs.dynamics import force_state
from core.simulation.run.element_channels import ElementChannels
from tests.mechanism.elements import kind_machines as machines
from tests.mechanism.elements import own_kinds_page
from viz.drawlist.draw_list import build_draw_list
from viz.drawlist.elements import LOOKS

STIFFNESS, REST, DAMPING = 8.0, 0.2, 1.5
SETTINGS = {
    "kelvin": {"stiffness": STIFFNESS, "rest": REST, "further_stiffness": 2.0 * STIFFNESS, "damping": DAMPING},
    "contact": {"stiffness": STIFFNESS, "friction": 0.4, "static_friction": 0.5},
}
BALL = Sphere(radius=5.0)
"""Shape of `b0` that surrounds the tip, so that contact between them presses."""


@pytest.fixture(autouse=True)
def kelvin(monkeypatch: pytest.MonkeyPatch):
    """The kind that the page about own kinds makes."""
    own_kinds_page.register(monkeypatch)
    yield
    program.drop_programs()


ALL = (*FORCES, "kelvin")
every = pytest.mark.parametrize("kind", ALL)
smooth = pytest.mark.parametrize("kind", [kind for kind in ALL if kind != "clutch"])
"""Kinds whose force is a function of the state; a clutch's has modes in runs, whose channels tell its power."""
everywhere = pytest.mark.parametrize("shape", machines.SHAPES)


def element(kind: str, joint: str = "j1", coordinate: str = "2", **more: object) -> Force:
    """An element of a kind between b0 and tip, along `distance`, or in a joint."""
    given = {
        "a": "b0",
        "b": "tip",
        "sensor": "distance",
        "joint": joint,
        "coordinate": coordinate,
        "stiffness": STIFFNESS,
        "rest": REST,
        "damping": DAMPING,
        "force": (1.0, "2*sin(t)", -0.5),
        "torque": (0.3, 0.0, "distance"),
        "leader": "j4",
        "ratio": 1.3,
        "friction": 0.7,
        "strands": (Strand(sensor="distance", factor=1.5), Strand(joint="j4", factor=-0.7)),
        "settings": tuple(Setting(parameter=name, value=value) for name, value in SETTINGS.get(kind, {}).items()),
        **more,
    }
    if kind == "clutch":
        given["joint"] = "j3"
    return Force(name="f", kind=kind, **{name: given[name] for name in FORCE_KINDS[kind].uses if name in given})


def with_force(model: Model, *forces: Force) -> Mechanism:
    bodies = tuple(dataclasses.replace(b, shapes=(BALL,)) if b.name == "b0" else b for b in model.bodies)
    return Mechanism(dataclasses.replace(model, forces=forces, bodies=bodies))


def at(kind: str, shape: str, seed: int):
    """(machine with the element, without it, q, v, x near its rest)"""
    model = machines.machine(shape, seed)
    in_joint = {"joint": "guide", "coordinate": "displacement"} if shape == "loop" else {}
    mech, bare = with_force(model, element(kind, **in_joint)), Mechanism(model)
    q, v = machines.state(bare, seed)
    x = mech.x_rest(q) + 0.1 * np.random.default_rng(seed).normal(size=mech.nx)
    return mech, bare, q, v, x


def shown(mech: Mechanism, q, v, x, t: float = 0.4) -> dict[str, np.ndarray]:
    """The channels of the first element by name."""
    numbers, found = mech.compiled.call("forces", q, v, t=t, x=x), {}
    for channel in FORCES[mech.model.forces[0].kind].channels(""):
        count = len(channel.components)
        found[channel.name], numbers = np.squeeze(numbers[:count]), numbers[count:]
    return found


@smooth
@everywhere
@pytest.mark.parametrize("seed", range(2))
def test_what_it_exerts_has_the_power_that_it_shows(kind: str, shape: str, seed: int) -> None:
    """The force on the speeds of the machine, found by leaving the element out."""
    mech, bare, q, v, x = at(kind, shape, seed)
    Q = bare.bias(q, v, t=0.4) - mech.bias(q, v, t=0.4, x=x)
    assert np.max(np.abs(Q)) > 1e-3
    assert Q @ v == pytest.approx(float(shown(mech, q, v, x)["power"]), rel=1e-9, abs=1e-9)


DISSIPATED = {
    "line": lambda f: DAMPING * f["rate"] ** 2,
    "sensor": lambda f: DAMPING * f["rate"] ** 2,
    "joint": lambda f: DAMPING * f["rate"] ** 2,
    "tendon": lambda f: DAMPING * f["rate"] ** 2,
    "series": lambda f: f["force"] ** 2 / DAMPING,
    "kelvin": lambda f: (f["force"] - STIFFNESS * (f["length"] - REST)) ** 2 / DAMPING,
    "wrench": lambda f: -f["power"],
    "contact": lambda f: f["dissipation"],
}
"""Power that a kind turns into heat, from its law; a wrench stores nothing."""


@smooth
@everywhere
def test_power_is_what_it_no_longer_stores_less_what_it_dissipates(kind: str, shape: str) -> None:
    mech, bare, q, v, x = at(kind, shape, 3)
    rate = mech.x_rate(q, v, x, t=0.4) if mech.nx else x

    def stored(h: float) -> float:
        there = bare.integrate(q, v, h)
        whole = mech.energy(there, v, t=0.4, x=x + h * rate).potential
        return float(whole - bare.energy(there, v).potential)

    h = 1e-5
    change = (stored(h) - stored(-h)) / (2.0 * h)
    found = shown(mech, q, v, x)
    assert found["power"] == pytest.approx(-change - DISSIPATED[kind](found), rel=1e-7, abs=1e-7)


@every
def test_action_is_reaction(kind: str) -> None:
    """Nothing that acts between bodies changes the momentum and the moment of momentum of a machine that floats."""
    model = machines.floating(5)
    mech = with_force(model, element(kind))
    q, v = machines.state(mech, 5)
    x = mech.x_rest(q) + 0.1
    a = mech.forward_dynamics(q, v, np.zeros(mech.nv), t=0.4, x=x)
    assert np.max(np.abs(a - Mechanism(model).forward_dynamics(q, v, np.zeros(mech.nv)))) > 1e-3
    h = 1e-6
    after, before = (mech.compiled.call("momentum", mech.integrate(q, v + 0.5 * s * a, s), v + s * a) for s in (h, -h))
    assert (after - before) / (2.0 * h) == pytest.approx(np.zeros(6), abs=1e-6 * np.max(np.abs(a)))


@every
@everywhere
def test_the_forces_at_its_ends_are_opposite(kind: str, shape: str) -> None:
    mech, _, q, v, x = at(kind, shape, 7)
    context = mech.compiled.program.symbolic
    s = force_state(context, {"q": list(q), "v": list(v), "x": [*x, *np.zeros(len(x))], "t": [0.4]})
    (found,) = context.elements.named_forces
    assert len(found.ends()) == len(found.end_forces(s))
    assert len(found.ends()) or found.joint or kind == "clutch"  # which acts in two joints
    total = sum((np.array([float(c) for c in force]) for force in found.end_forces(s)), np.zeros(3))
    assert total == pytest.approx(np.zeros(3), abs=1e-12)


@pytest.mark.parametrize(
    "kind", [*(kind for kind in FORCES if FORCE_KINDS[kind].needs == ("b",) and kind != "contact"), "kelvin"]
)
@everywhere
def test_a_junction_is_where_they_are_in_balance(kind: str, shape: str) -> None:
    """Three springs with dampers and the element meet at a point without mass: it moves so that their forces cancel (to
    what `core.programs.junctions` calls negligible damping)."""
    model = dataclasses.replace(machines.machine(shape, 2), junctions=(Junction(name="knot", guess=(0.1, 0.2, 0.3)),))
    holders = [
        Force(name=f"h{k}", kind="line", a=a, b="knot", stiffness=20.0, damping=2.0, rest=0.05)
        for k, a in enumerate(("", "b0", "b4"))
    ]
    mech = with_force(model, *holders, element(kind, b="knot", torque=(0.0, 0.0, 0.0)))
    q, v = machines.state(mech, 2)
    x = mech.x_rest(q, t=0.4)
    x[:3] = (0.6, -0.5, 0.4)
    rate = mech.x_rate(q, v, x, t=0.4)
    context = mech.compiled.program.symbolic
    s = force_state(context, {"q": list(q), "v": list(v), "x": [*x, *rate], "t": [0.4]})
    on_knot = [
        np.array([float(c) for c in force])
        for each in context.elements.named_forces
        for end, force in zip(each.ends(), each.end_forces(s), strict=True)
        if end == context.elements.junctions["knot"]
    ]
    assert len(on_knot) == 4
    assert np.max(np.abs(on_knot)) > 0.1
    assert sum(on_knot) == pytest.approx(np.zeros(3), abs=1e-4 * np.max(np.abs(on_knot)))


@every
@everywhere
def test_its_channels_are_whole_and_finite(kind: str, shape: str) -> None:
    mech, _, q, v, x = at(kind, shape, 1)
    samples = SimpleNamespace(
        time=np.array([0.0, 1e-3]), q=np.array([q, bare_step(mech, q, v)]), v=np.array([v, v]), x=np.array([x, x])
    )
    samples.tau = np.zeros_like(samples.v)
    table = ElementChannels(mech, None, samples).table
    for channel in FORCES[kind].channels("length"):
        assert (f"f.{channel.name}" in table) == channel.of_runs
        if channel.of_runs:
            values = table[f"f.{channel.name}"].compute()
            assert values.shape == ((2,) if channel.components == ("",) else (2, len(channel.components)))
            assert np.isfinite(values).all()
    assert mech.compiled.call("forces", q, v, t=0.0, x=x).shape == (output_count(FORCES[kind]),)
    assert [name for name in mech.x_names if name.startswith("f.")] == [
        f"f.{word}" for word in FORCES[kind].states_of(mech.model.forces[0], mech.model)
    ]


def bare_step(mech: Mechanism, q, v) -> np.ndarray:
    return np.asarray(mech.integrate(q, v, 1e-3))


@every
def test_it_is_seen_saved_and_read_back(kind: str) -> None:
    model = dataclasses.replace(machines.machine("tree", 0), forces=(element(kind),))
    seen = [item for item in build_draw_list(model) if item.ref == ("forces", "f")]
    assert seen
    assert len({item.id for item in seen}) == len(seen)
    assert loads(dumps(model)).forces == model.forces
    assert FORCE_KINDS[kind].title
    assert FORCES[kind].__doc__


@every
def test_what_it_needs_must_be_given(kind: str) -> None:
    with pytest.raises(ModelError, match="on which the force acts is missing"):
        Force(name="f", kind=kind)


def test_each_kind_of_the_program_has_its_look() -> None:
    assert set(LOOKS["forces"]) == set(FORCES) - {"kelvin"}


def test_a_kind_that_there_is_not_is_refused_by_the_document_and_by_the_family() -> None:
    with pytest.raises(ModelError, match="'magnet' is not one of"):
        Force(name="f", kind="magnet", b="tip")
    with pytest.raises(ModelError, match="magnet"):
        FORCES["magnet"]


def test_an_incomplete_kind_cannot_enter_the_family() -> None:
    class Half(OnLine):
        name = "half"

    with pytest.raises(TypeError, match="read"):
        FORCES.add(Half)
