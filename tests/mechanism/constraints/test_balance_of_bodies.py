"""D'Alembert body by body: joints, what holds, force elements, weight and inertia cancel on every body."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import resources
from core.files import load
from core.mechanism import Mechanism
from core.model import Constraint, Driver, Force, LineMass, Model, Sensor
from tests.mechanism.constraints.balance import Balance
from tests.mechanism.constraints.test_cut_rotors import RINGS, sprung

EXAMPLES = [each for each in resources.examples() if each.name not in ("three_link", "ramp")]
"""All with masses; the points at which shapes touch are found in `tests/simulation/run/test_contact.py`."""


def states(mech: Mechanism, count: int, t: float):  # type: ignore[no-untyped-def]
    """Closed states near the rest position, moving at random, with random joint forces."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        near = mech.integrate(mech.rest(t=t), 0.05 * seed * rng.normal(size=mech.nv))
        q, v = mech.assemble(near, rng.normal(size=mech.nv), t=t)
        yield q, v, rng.normal(size=mech.nv)


def check(mech: Mechanism, count: int = 3, t: float = 0.0) -> None:
    for q, v, tau in states(mech, count, t):
        name, left = Balance(mech, q, v, tau, t).worst()
        assert left < 1e-9, f"{name}: {left:.2g}"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_every_body_of_the_examples_is_in_balance(example: resources.Example) -> None:
    check(Mechanism(load(example.path)), t=0.3)


@pytest.mark.parametrize("kinds", RINGS)
@pytest.mark.parametrize("cut", [0, 1])
def test_rings_with_rotors_springs_and_dampers(kinds: tuple[str, ...], cut: int) -> None:
    model = sprung(kinds)
    joints = tuple(dataclasses.replace(j, cut="yes" if k == cut else "auto") for k, j in enumerate(model.joints))
    check(Mechanism(dataclasses.replace(model, joints=joints)))


def busy(cut: str) -> Model:
    """A ring of seven revolutes with everything that can act in it or hold it, cut at a joint that is geared, driven or
    neither."""
    model = sprung(RINGS[0])
    joints = tuple(dataclasses.replace(j, cut="yes" if j.name == cut else "auto") for j in model.joints)
    sensors = (Sensor(name="reach", kind="distance", a="b0", b="b4"), Sensor(name="far", kind="distance", b="b3"))
    forces = (
        Force(
            name="line",
            kind="line",
            a="b1",
            b="b4",
            stiffness=30.0,
            rest=0.2,
            damping=2.0,
            masses=(
                LineMass(mass=0.7, place=0.3),
                LineMass(mass=0.4, at="from_a", place=0.1),
                LineMass(mass=0.5, at="from_b", place=0.2),
            ),
        ),
        Force(name="series", kind="series", b="b2", stiffness=30.0, rest=0.2, damping=2.0),
        Force(name="inner", kind="joint", joint="j6", stiffness=3.0, rest=0.2, law="2*sin(t) - 0.1*j6.v"),
        Force(name="along", kind="sensor", sensor="reach", stiffness=12.0, rest=0.1, damping=0.3),
        Force(name="push", kind="wrench", a="b1", b="b5", resolve="b2", force=("1", "2*t", "far"), torque=(1.0, 0, 2)),
    )
    return dataclasses.replace(model, joints=joints, sensors=sensors, forces=forces)


@pytest.mark.parametrize("cut", ["j0", "j3", "j6"])
def test_forces_of_all_kinds_in_a_loop(cut: str) -> None:
    check(Mechanism(busy(cut)), t=0.4)


@pytest.mark.parametrize("cut", ["j0", "j3", "j6"])
@pytest.mark.parametrize("held", ["driver", "gear", "rod", "hold"])
def test_what_holds_the_last_freedom(cut: str, held: str) -> None:
    """The loop's one freedom is taken by a driver (of j0), a gear (j0 and j6), a rod or a held distance; also where the
    joint in which it acts is cut."""
    model = busy(cut)
    mech = Mechanism(model)
    length = float(np.linalg.norm(np.subtract(*(mech.frame(mech.neutral(), n)[:3, 3] for n in ("b0", "b4")))))
    taken = {
        "driver": {"drivers": (Driver(name="motor", joint="j0", function="0.2*t"),)},
        "gear": {"constraints": (Constraint(name="gears", kind="gear", joint="j0", leader="j6", ratio=-0.7),)},
        "rod": {"constraints": (Constraint(name="rod", kind="rod", a="b0", b="b4", length=length),)},
        "hold": {"constraints": (Constraint(name="tie", sensor="reach", value=length),)},
    }[held]
    mech = Mechanism(dataclasses.replace(model, **taken))  # type: ignore[arg-type]
    q, v = mech.assemble(mech.neutral(), np.zeros(mech.nv))
    tau = np.random.default_rng(1).normal(size=mech.nv)
    name, left = Balance(mech, q, v, tau).worst()
    assert left < 1e-9, f"{name}: {left:.2g}"


def test_reactions_of_driven_and_geared_joints_do_not_know_the_cut() -> None:
    shown = []
    for cut in ("j0", "j3", "j6"):
        drive = (Driver(name="motor", joint="j0", function="0.2*t + t^2"),)
        mech = Mechanism(dataclasses.replace(busy(cut), drivers=drive))
        q, v = mech.assemble(mech.neutral(), np.zeros(mech.nv))
        forces = mech.reactions(q, v, np.zeros(mech.nv), x=mech.x_rest(q))
        shown.append(np.concatenate([forces[f"j{k}"] for k in range(7)]))
    for other in shown[1:]:
        np.testing.assert_allclose(other, shown[0], atol=1e-8 * np.max(np.abs(shown[0])))
