"""Loops with springs, dampers and drivers against an engine in maximal coordinates, whichever joint is cut."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from core.constraints.multipliers import solve_constrained_motion
from core.mechanism import Mechanism
from core.model import Driver, Force, Model
from core.simulation import simulate
from tests.simulation.equations.maximal_coordinates import Maximal
from tests.simulation.equations.test_cut_coordinates import loop

RINGS = {
    "seven revolutes": ("revolute",) * 7,
    "ball, slide, fork": ("revolute", "spherical", "prismatic", "universal", "revolute"),
    "plane": ("cylindrical", "spherical", "revolute", "planar"),
    "balls": ("revolute", "spherical", "revolute", "spherical"),
}


def busy(kinds: tuple[str, ...], seed: int, driven: str = "") -> Model:
    """A ring with springs and dampers in its revolutes and slides and on lines between its bodies."""
    model, rng = loop(kinds, seed), np.random.default_rng(100 + seed)
    joints = tuple(
        dataclasses.replace(
            j, stiffness=float(rng.uniform(1.0, 8.0)), damping=float(rng.uniform(0.1, 0.6)), rest=(0.0,)
        )
        if j.kind in ("revolute", "prismatic")
        else j
        for j in model.joints
    )
    forces = (
        Force(name="line", kind="line", a="b0", b="b2", stiffness=20.0, rest=0.3, damping=1.0),
        Force(name="ground", kind="line", a="world", b="b1", stiffness=30.0, rest=0.1, damping=0.5),
    )
    drivers = (Driver(name="motor", joint=driven, function="0.3*sin(4*t)"),) if driven else ()
    return dataclasses.replace(model, joints=joints, forces=forces, drivers=drivers)


def cut_at(model: Model, cut: int) -> Mechanism:
    joints = tuple(dataclasses.replace(j, cut="yes" if k == cut else "auto") for k, j in enumerate(model.joints))
    return Mechanism(dataclasses.replace(model, joints=joints))


def bodies(mech: Mechanism, engine: Maximal, q: np.ndarray, v: np.ndarray):  # type: ignore[no-untyped-def]
    """(R, c, V) of all bodies, as the kernel says."""
    names = [body.name for body in mech.model.bodies]
    poses = dict(zip(mech.frame_names, mech.poses(q), strict=True))
    R = np.array([poses[name][:3, :3] for name in names])
    arms = np.einsum("nij,nj->ni", R, engine.center)
    c = np.array([poses[name][:3, 3] for name in names]) + arms
    V = np.array([mech.frame_velocity(q, v, name) for name in names])
    V[:, 3:] += np.cross(V[:, :3], arms)
    return R, c, V


def second_rate(t: float) -> float:
    return -4.8 * math.sin(4.0 * t)


CASES = [
    ("seven revolutes", "", 1),
    ("ball, slide, fork", "j0", 2),
    ("ball, slide, fork", "j2", 1),
    ("plane", "j2", 2),
    ("balls", "", 2),
]


@pytest.mark.parametrize(
    ("name", "driven", "seed"),
    [case if case[2] == 2 and case[1] == "j0" else pytest.param(*case, marks=pytest.mark.slow) for case in CASES],
)
def test_motion_and_reactions_are_those_of_bodies_held_by_forces(name: str, driven: str, seed: int) -> None:
    kinds = RINGS[name]
    model = busy(kinds, seed, driven)
    engine = Maximal(model, {driven: second_rate} if driven else {})
    start = Mechanism(model)
    first = bodies(start, engine, *start.assemble(start.neutral(), np.random.default_rng(seed).normal(size=start.nv)))
    end = engine.run(*first, 0.15, 40)
    for cut in (0, len(kinds) // 2, len(kinds) - 1):
        mech = cut_at(model, cut)
        q, v = carried(mech, engine, first)
        R, c, V = bodies(mech, engine, q, v)
        for mine, theirs in zip((R, c, V), first, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-8)
        A, wrenches = engine.accelerations(R, c, V, 0.0)
        a, _ = solve_constrained_motion(mech.compiled, q, v, np.zeros(mech.nv), None, True, 0.0, None)
        step = 1e-5
        later, before = (bodies(mech, engine, mech.integrate(q, s * step * v), v + s * step * a)[2] for s in (1, -1))
        np.testing.assert_allclose((later - before) / (2.0 * step), A, atol=1e-4 * max(1.0, np.max(np.abs(A))))
        shown = mech.reactions(q, v, np.zeros(mech.nv))
        largest = max(np.max(np.abs(F)) for F in wrenches.values())
        for joint, F in wrenches.items():
            np.testing.assert_allclose(shown[joint], F, atol=2e-6 * largest, err_msg=f"{joint}, cut {cut}")
        run = simulate(mech, 0.15, q0=q, v0=v, rtol=1e-10, atol=1e-11, output=0.15)
        for mine, theirs in zip(bodies(mech, engine, run.q[-1], run.v[-1]), end, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=2e-5 * max(1.0, np.max(np.abs(theirs))))


def carried(mech: Mechanism, engine: Maximal, state) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[no-untyped-def]
    """(q, v) of a machine that is cut elsewhere, with bodies and speeds as they are: all coordinates are zero."""
    q = mech.neutral()
    names = [body.name for body in mech.model.bodies]
    arms = np.einsum("nij,nj->ni", state[0], engine.center)
    wanted = state[2].copy()
    wanted[:, 3:] -= np.cross(wanted[:, :3], arms)
    J = np.concatenate([mech.jacobian(q, name) for name in names])
    return q, np.linalg.lstsq(J, wanted.ravel(), rcond=None)[0]
