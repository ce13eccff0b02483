"""Rotor inertia, springs and dampers of joints count alike whichever joint of a loop is cut."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest
import sympy as sp

from core.analysis.linearisation import linearise
from core.constraints.closed_forms.closed_forms import get_analytic_closure
from core.constraints.cut_coordinates import cut_joint_motion
from core.mechanism import Mechanism
from core.model import Body, Force, Gravity, Inertia, Joint, Model, Parameter, Pose, World
from core.model.forces import LineMass
from core.simulation import simulate
from tests.simulation.equations.test_cut_coordinates import RINGS, loop
from tests.walks import slow

ROTORS = (0.3, 0.1, 0.5, 0.2, 0.7, 0.25, 0.15)
FREE_RING = ("revolute", "free", "prismatic", "spherical")


def cut_at(model: Model, name: str) -> Mechanism:
    joints = tuple(dataclasses.replace(j, cut="yes" if j.name == name else "auto") for j in model.joints)
    mech = Mechanism(dataclasses.replace(model, joints=joints))
    assert [each.cut for each in mech.loops] == [name]
    return mech


def sprung(kinds: tuple[str, ...], seed: int = 3) -> Model:
    """A ring with everything in every joint."""
    model = loop(kinds, seed)
    return dataclasses.replace(
        model,
        joints=tuple(
            dataclasses.replace(j, armature=J, damping=0.2 + J, stiffness=3.0 * J, friction=0.1 * J)
            for j, J in zip(model.joints, ROTORS, strict=False)
        ),
    )


def bodies_motion(mech: Mechanism, q: np.ndarray) -> np.ndarray:
    return np.concatenate([mech.jacobian(q, body.name) for body in mech.model.bodies])


def state(mech: Mechanism, wanted: np.ndarray | None, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the ring is closed; speeds with which its bodies move as wanted (or at random)."""
    q = mech.neutral()
    G = mech.constraint_jacobian(q)
    free = np.linalg.svd(G)[2][np.linalg.matrix_rank(G) :].T
    J = bodies_motion(mech, q)
    if wanted is None:
        wanted = J @ free @ np.random.default_rng(seed).normal(size=free.shape[1])
    v = free @ np.linalg.lstsq(J @ free, wanted, rcond=None)[0]
    np.testing.assert_allclose(J @ v, wanted, atol=1e-9)
    return q, v, wanted


@pytest.mark.parametrize("kinds", [*slow(*((ring,) for ring in RINGS[:2])), *RINGS[2:], FREE_RING])
def test_motion_energy_and_reactions_do_not_know_the_cut(kinds: tuple[str, ...]) -> None:
    model = sprung(kinds)
    wanted, shown = None, None
    for joint in model.joints:
        mech = cut_at(model, joint.name)
        q, v, wanted = state(mech, wanted, 5)
        q = mech.assemble(q, v)[0]
        tau = np.zeros(mech.nv)
        a = mech.forward_dynamics(q, v, tau)
        energy = mech.energy(q, v)
        accelerations = [mech.compiled.call(f"frame_acceleration:{body.name}", q, v, a) for body in model.bodies]
        forces = mech.reactions(q, v, tau)
        found = [
            np.concatenate(accelerations),
            np.array([energy.kinetic, energy.potential]),
            np.concatenate([forces[j.name] for j in model.joints]),
        ]
        assert not forces.note
        if shown is None:
            shown = found
        for one, other in zip(found, shown, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-9 * max(1.0, np.max(np.abs(other))))


def test_drive_torque_does_not_know_the_cut() -> None:
    model, wanted, drives = sprung(RINGS[0]), None, []
    for joint in model.joints[1:]:
        mech = cut_at(model, joint.name)
        q, v, wanted = state(mech, wanted, 2)
        a = mech.forward_dynamics(q, v, 2.5 * np.eye(mech.nv)[mech.joint_v("j0").start])
        tau = mech.inverse_dynamics(q, v, a, actuators=["j0"])
        drives.append(tau[mech.joint_v("j0")])
    np.testing.assert_allclose(drives, 2.5, rtol=1e-9)


# ------------------------------------------------------------------------------- a four-bar by hand

CRANK, COUPLER, ROCKER, BASE = 0.2, 0.8, 0.5, 0.7
DOWN = World(gravity=Gravity(acceleration=(0.0, -9.81, 0.0)))
IZZ, MASS, CENTRE = 0.04, 1.3, 0.15


def four_bar(rotors: tuple[float, ...] = (0.3, 0.2, 0.15, 0.4), **more: object) -> Model:
    at = lambda x: Pose(position=(x, 0.0, 0.0))  # noqa: E731
    solid = Inertia(ixx=0.02, iyy=0.03, izz=IZZ)
    bodies = tuple(Body(name=n, mass=MASS, center_of_mass=(CENTRE, 0.0, 0.0), inertia=solid) for n in "ckr")
    joints = (
        Joint(name="A", parent="world", child="c", rest=(1.2,), armature=rotors[0]),
        Joint(name="B", parent="c", child="k", a=at(CRANK), rest=(-0.9,), armature=rotors[1]),
        Joint(name="C", parent="k", child="r", a=at(COUPLER), b=at(ROCKER), rest=(0.9,), armature=rotors[2]),
        Joint(name="D", parent="world", child="r", a=at(BASE), rest=(1.3,), armature=rotors[3]),
    )
    return Model(name="four-bar", bodies=bodies, joints=joints, world=DOWN, **more)


@cache
def by_hand(rotors: tuple[float, ...]):  # type: ignore[no-untyped-def]
    """(θ, θ̇) → (θ̈, kinetic energy), by Lagrange's equation of the crank's angle alone."""
    th, rate = sp.symbols("theta omega")
    p = sp.Matrix([CRANK * sp.cos(th), CRANK * sp.sin(th)])
    away = sp.Matrix([BASE, 0.0]) - p
    d = sp.sqrt(away.dot(away))
    # the triangle of coupler, rocker and the diagonal: cosine rule
    coupler = sp.atan2(away[1], away[0]) + sp.acos((d**2 + COUPLER**2 - ROCKER**2) / (2 * d * COUPLER))
    end = p + COUPLER * sp.Matrix([sp.cos(coupler), sp.sin(coupler)])
    rocker = sp.atan2(end[1], end[0] - BASE)
    centres = (
        CENTRE * sp.Matrix([sp.cos(th), sp.sin(th)]),
        p + CENTRE * sp.Matrix([sp.cos(coupler), sp.sin(coupler)]),
        sp.Matrix([BASE, 0.0]) + CENTRE * sp.Matrix([sp.cos(rocker), sp.sin(rocker)]),
    )
    inertia = sum(MASS * c.diff(th).dot(c.diff(th)) for c in centres)
    inertia += sum(IZZ * angle.diff(th) ** 2 for angle in (th, coupler, rocker))
    turns = (th, coupler - th, rocker - coupler, rocker)
    inertia += sum(J * angle.diff(th) ** 2 for J, angle in zip(rotors, turns, strict=True))
    weight = sum(MASS * 9.81 * c[1] for c in centres)
    second = -(inertia.diff(th) * rate**2 / 2 + weight.diff(th)) / inertia
    return sp.lambdify((th, rate), (second, inertia * rate**2 / 2))


def closed(mech: Mechanism, theta: float, omega: float) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) with the crank at an angle and a speed."""
    p = CRANK * np.array([np.cos(theta), np.sin(theta)])
    away = np.array([BASE, 0.0]) - p
    d = np.hypot(*away)
    coupler = np.arctan2(away[1], away[0]) + np.arccos((d**2 + COUPLER**2 - ROCKER**2) / (2.0 * d * COUPLER))
    end = p + COUPLER * np.array([np.cos(coupler), np.sin(coupler)])
    rocker = np.arctan2(end[1], end[0] - BASE)
    angles = dict(zip("ABCD", (theta, coupler - theta, rocker - coupler, rocker), strict=True))
    q = np.array([angles[name] for name in mech.q_names])
    assert np.max(np.abs(mech.constraint_residual(q))) < 1e-12
    v = np.linalg.svd(mech.constraint_jacobian(q))[2][-1]
    return q, v * omega / (mech.jacobian(q, "c")[2] @ v)


@pytest.mark.parametrize("cut", "ABCD")
def test_four_bar_against_lagrange(cut: str) -> None:
    rotors = (0.3, 0.2, 0.15, 0.4)
    by_lagrange = by_hand(rotors)
    mech = cut_at(four_bar(rotors), cut)
    for theta, omega in ((1.2, 3.0), (2.9, -5.0), (-0.4, 2.0)):
        q, v = closed(mech, theta, omega)
        a = mech.forward_dynamics(q, v, np.zeros(mech.nv))
        second, kinetic = by_lagrange(theta, omega)
        assert mech.jacobian(q, "c")[2] @ a == pytest.approx(second, rel=1e-9)
        assert mech.energy(q, v).kinetic == pytest.approx(kinetic, rel=1e-12)


@pytest.mark.parametrize("closed_forms", [True, False])
def test_runs_do_not_know_the_cut(closed_forms: bool) -> None:
    model, shown = four_bar(), None
    for cut in "ABCD":
        mech = cut_at(model, cut)
        assert get_analytic_closure(mech.compiled.program).has_solutions
        q, v = closed(mech, 1.2, 1.0)
        run = simulate(mech, 2.0, q0=q, v0=v, output=0.25, rtol=1e-10, atol=1e-11, closed_forms=closed_forms)
        total = run["energy.kinetic"] + run["energy.potential"]
        np.testing.assert_allclose(total, total[0], atol=1e-7)
        angles = np.stack([run[f"{name}.q"] for name in "ABCD"])
        shown = angles if shown is None else shown
        np.testing.assert_allclose(angles, shown, atol=1e-6)
    assert np.ptp(shown[0]) > 0.5


def test_masses_on_lines_count_in_closed_forms() -> None:
    """The mass of a line between crank and rocker, closed forms against multipliers."""
    line = Force(
        name="line",
        kind="line",
        a="c",
        b="r",
        stiffness=5.0,
        rest=0.6,
        masses=(LineMass(mass=2.0, at="from_a", place=0.2), LineMass(mass=1.0, place=0.7)),
    )
    mech = Mechanism(four_bar(forces=(line,)))
    runs = [
        simulate(mech, 1.0, q0=mech.rest(), output=0.25, rtol=1e-10, atol=1e-11, closed_forms=how)
        for how in (True, False)
    ]
    np.testing.assert_allclose(runs[0]["A.q"], runs[1]["A.q"], atol=1e-6)
    for run in runs:
        total = run["energy.kinetic"] + run["energy.potential"]
        np.testing.assert_allclose(total, total[0], atol=1e-6)


def test_frequencies_do_not_know_the_cut() -> None:
    model = four_bar()
    model = dataclasses.replace(
        model, joints=tuple(dataclasses.replace(j, stiffness=30.0, damping=0.2) for j in model.joints)
    )
    found = []
    for cut in "ACD":
        mech = cut_at(model, cut)
        q, v = closed(mech, 1.2, 2.0)
        found.append(np.sort_complex(linearise(mech, q, v, coordinates=["B"]).eigenvalues))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-8)


def test_rotor_of_a_parameter_follows_its_value() -> None:
    model = dataclasses.replace(four_bar(), parameters=(Parameter(name="J", value=0.0),))
    model = dataclasses.replace(model, joints=tuple(dataclasses.replace(j, armature="J") for j in model.joints))
    mech = cut_at(model, "C")
    q, v = closed(mech, 0.7, 2.0)
    rates = np.array([*v, *cut_joint_motion(mech.compiled, "C", q, v, np.zeros(mech.nv)).v])
    added = mech.energy(q, v, p={"J": 2.0}).kinetic - mech.energy(q, v).kinetic
    assert added == pytest.approx(0.5 * 2.0 * rates @ rates, rel=1e-12)
