"""Every kind of constraint and driver, and one that people make: derivatives, power, closed forms against
iteration, what is seen and saved."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from core.constraints.multipliers import solve_constrained_motion
from core.errors import ModelError
from core.files import dumps, loads
from core.mechanics.elements.constraints import CONSTRAINTS
from core.mechanics.elements.constraints.constraint_kind import ConstraintElement
from core.mechanics.elements.drivers import DRIVERS
from core.mechanism import Mechanism
from core.model import CONSTRAINT_KINDS, Constraint, Driver, Model, Setting
from core.programs import program
from core.simulation import simulate
from tests.mechanism.constraints.balance import constraint_wrenches
from tests.mechanism.elements import kind_machines as machines
from tests.mechanism.elements import own_kinds_page
from viz.drawlist.draw_list import build_draw_list
from viz.drawlist.elements import LOOKS


@pytest.fixture(autouse=True)
def on_parabola(monkeypatch: pytest.MonkeyPatch):
    """The kind that the page about own kinds makes."""
    own_kinds_page.register(monkeypatch)
    yield
    program.drop_programs()


ALL = (*CONSTRAINTS, "on_parabola")
GIVEN = {
    "a": "b0",
    "b": "tip",
    "length": 0.7,
    "axis": (0.0, 1.0, 0.0),
    "sensor": "distance",
    "value": 0.6,
    "joint": "j3",
    "leader": "j0",
    "ratio": 0.5,
    "offset": 0.1,
    "settings": (Setting(parameter="curvature", value=0.7),),
}


def constraint(kind: str, **more: object) -> Constraint:
    given = {**GIVEN, **more}
    return Constraint(name="c", kind=kind, **{name: given[name] for name in CONSTRAINT_KINDS[kind].uses})


CONSTRAINED = {
    **{kind: constraint(kind) for kind in CONSTRAINTS},
    "hold an angle": constraint("hold", sensor="angle", value=0.2),
    "hold a position": constraint("hold", sensor="position", value=0.1),
    "hold an orientation": constraint("hold", sensor="orientation", value=0.3),
    "on_parabola": "on_parabola",
}
DRIVEN = {
    "coordinate": Driver(name="c", joint="j0", function="sin(2*t)"),
    "rate": Driver(name="c", joint="j0", function="sin(2*t)", motion="velocity"),
    "second rate": Driver(name="c", joint="j0", function="sin(2*t)", motion="acceleration"),
    "speed": Driver(name="c", joint="j2", coordinate="wy", function="cos(t)", motion="velocity"),
    "sensor": Driver(name="c", sensor="distance", function="0.6 + 0.1*sin(t)"),
    "component": Driver(name="c", sensor="position", coordinate="y", function=0.2),
    "angle": Driver(name="c", sensor="angle", times=(0.0, 0.5, 1.0), values=(0.0, 0.2, 0.1)),
}
HOLDS = (*CONSTRAINED, *DRIVEN)
everything = pytest.mark.parametrize("what", HOLDS)
everywhere = pytest.mark.parametrize("shape", machines.SHAPES)
T = 0.4


def holding(what: str, model: Model) -> Model:
    if what in DRIVEN:
        return dataclasses.replace(model, drivers=(DRIVEN[what],))
    found = CONSTRAINED[what]
    return dataclasses.replace(model, constraints=(constraint(found) if isinstance(found, str) else found,))


def at(what: str, shape: str, seed: int) -> tuple[Mechanism, np.ndarray, np.ndarray]:
    """(machine, any position, any speeds): its equations have derivatives wherever it is."""
    mech = Mechanism(holding(what, machines.machine(shape, seed)))
    rng = np.random.default_rng(seed)
    q, v = mech.random(rng), rng.normal(size=mech.nv)
    return mech, q, v


def own_rows(mech: Mechanism) -> np.ndarray:
    return np.array([row.element == "c" for row in mech.compiled.rows])


@everything
@everywhere
@pytest.mark.parametrize("seed", range(2))
def test_values_change_as_the_jacobian_says(what: str, shape: str, seed: int) -> None:
    mech, q, v = at(what, shape, seed)
    rows, h = own_rows(mech), 1e-6
    on_positions = rows & (mech.compiled.levels == 0)
    G = mech.constraint_jacobian(q)
    assert np.abs(G[rows]).max() > 1e-3
    ahead, behind = (mech.constraint_residual(mech.integrate(q, v, s), t=T) for s in (h, -h))
    change = (ahead - behind) / (2.0 * h)
    assert change[on_positions] == pytest.approx((G @ v)[on_positions], rel=1e-6, abs=1e-6)
    assert np.all(mech.constraint_residual(q, t=T)[rows & ~on_positions] == 0.0)


@everything
@everywhere
def test_speeds_change_as_the_bias_says(what: str, shape: str) -> None:
    """d/dt (G v + rate of the function) along the motion, against Ġ v − f̈."""
    mech, q, v = at(what, shape, 2)
    rows, h = own_rows(mech), 1e-5

    def speed(s: float) -> np.ndarray:
        there = mech.integrate(q, v, s)
        return mech.constraint_jacobian(there) @ v + mech.compiled.call("constraint_time", t=T + s)

    bias = mech.compiled.call("constraint_bias", q, v, t=T)
    kept = rows & (mech.compiled.levels < 2)
    assert ((speed(h) - speed(-h)) / (2.0 * h))[kept] == pytest.approx(bias[kept], rel=1e-6, abs=1e-6)


@everything
@everywhere
def test_what_it_exerts_has_the_power_of_its_multipliers(what: str, shape: str) -> None:
    """Wrenches between bodies do the power λ · G v at any speeds, so none at those that it allows."""
    mech, q, v = at(what, shape, 3)
    rows = own_rows(mech)
    multipliers = np.where(rows, np.random.default_rng(4).normal(size=len(rows)), 0.0)
    sides = [each for each in constraint_wrenches(mech, q, multipliers) if np.any(each[2])]
    if not sides:  # a force on speeds of the tree alone
        assert what in ("gear", "coordinate", "rate", "second rate", "speed")
        return
    poses = dict(zip(mech.frame_names, mech.poses(q), strict=True)) | {"world": np.eye(4)}

    def motion(name: str, point: np.ndarray) -> np.ndarray:
        if name == "world":
            return np.zeros(6)
        V = mech.frame_velocity(q, v, name)
        return np.concatenate([V[:3], V[3:] + np.cross(V[:3], point - poses[name][:3, 3])])

    power = sum(F @ (motion(b, point) - motion(a, point)) for _, (a, b), F, point in sides)
    assert power == pytest.approx(multipliers @ mech.constraint_jacobian(q) @ v, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("what", "shape"), [*((what, "tree") for what in HOLDS), ("gear", "loop"), ("rod", "loop")])
def test_a_short_run_is_the_same_with_closed_forms_and_without(what: str, shape: str) -> None:
    model = holding(what, machines.machine(shape, 1))
    mech = Mechanism(model)
    q, v = mech.assemble(mech.rest(), np.zeros(mech.nv))
    runs = [
        simulate(mech, 0.02, q0=q, v0=v, rtol=1e-12, atol=1e-13, output=0.01, closed_forms=closed)
        for closed in (True, False)
    ]
    assert np.max(np.abs(runs[0].q[-1] - q)) > 1e-6
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-9)
    np.testing.assert_allclose(runs[0].v, runs[1].v, atol=1e-9)
    a, multipliers = solve_constrained_motion(
        mech.compiled, runs[0].q[-1], runs[0].v[-1], np.zeros(mech.nv), None, True, 0.02, None
    )
    G = mech.constraint_jacobian(runs[0].q[-1])
    assert G @ a == pytest.approx(
        -mech.compiled.call("constraint_bias", runs[0].q[-1], runs[0].v[-1], t=0.02), abs=1e-6
    )
    assert np.isfinite(multipliers).all()


@everything
def test_it_is_seen_saved_and_read_back(what: str) -> None:
    model = holding(what, machines.machine("tree", 0))
    collection = "drivers" if what in DRIVEN else "constraints"
    seen = [item for item in build_draw_list(model) if item.ref == (collection, "c")]
    assert seen
    assert len({item.id for item in seen}) == len(seen)
    again = loads(dumps(model))
    assert getattr(again, collection) == getattr(model, collection)


@pytest.mark.parametrize("kind", ALL)
def test_what_it_needs_must_be_given(kind: str) -> None:
    for field in CONSTRAINT_KINDS[kind].needs:
        assert field in CONSTRAINT_KINDS[kind].uses
        with pytest.raises(ModelError, match=f"The {field} is missing"):
            constraint(kind, **{field: ""})


@pytest.mark.parametrize("kind", ALL)
def test_it_is_documented(kind: str) -> None:
    assert CONSTRAINT_KINDS[kind].title
    assert CONSTRAINTS[kind].__doc__


def test_each_kind_of_the_program_has_its_look_and_each_driver_its_field() -> None:
    assert set(LOOKS["constraints"]) == set(CONSTRAINTS) - {"on_parabola"}
    fields = {field.name for field in dataclasses.fields(Driver)}
    assert set(DRIVERS) <= fields


def test_a_kind_that_there_is_not_is_refused() -> None:
    with pytest.raises(ModelError, match="'belt' is not one of"):
        Constraint(name="c", kind="belt", b="tip")
    with pytest.raises(ModelError, match="belt"):
        CONSTRAINTS["belt"]


def test_an_incomplete_kind_cannot_enter_the_family() -> None:
    class Half(ConstraintElement):
        name = "half"

    with pytest.raises(TypeError, match=r"lacks title, uses, needs, read, sides, values"):
        CONSTRAINTS.add(Half)
