"""Catalogue functions on machines that loops, rods, gears or drivers hold, against the kernel at consistent states.

Speeds and accelerations come from differences of closed poses, which are sought here from the residuals alone.

    python -m tests.functions.consistent_states        the table of functions and machines
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any
from unittest import mock

import numpy as np
from scipy.spatial.transform import Rotation

from core.analysis import branches
from core.files import load, loads
from core.functions import FUNCTIONS, Context, call
from core.functions.results import Matrix, PoseSequence, Result, Table, leaf_results
from core.mechanism import Mechanism
from core.model import Model
from resources import examples

RODS = """
kinetostat: 1
name: Rods
bodies:
  crank: {mass: 2, inertia: {ixx: 0.02, iyy: 0.03, izz: 0.01}, center_of_mass: [0.1, 0, 0]}
  lever: {mass: 1.5, inertia: {ixx: 0.02, iyy: 0.01, izz: 0.02}, center_of_mass: [0, 0, 0.2]}
  slide: {mass: 3}
frames:
  crank_end: {parent: crank, pose: {position: [0.2, 0, 0.02]}}
  lever_end: {parent: lever, pose: {position: [0, 0.03, 0.35]}}
  tool: {parent: slide, pose: {position: [0.1, 0.05, 0]}}
joints:
  crank_pin: {kind: revolute, parent: world, child: crank, axis: [0, 1, 0]}
  lever_pin: {kind: revolute, parent: world, child: lever, axis: [0.1, 1, 0], a: {position: [0.5, 0, -0.1]}}
  guide: {kind: prismatic, parent: world, child: slide, axis: [1, 0, 0.2], a: {position: [0.9, 0, 0.2]}}
constraints:
  link: {kind: rod, a: crank_end, b: lever_end, length: 0.42}
  pusher: {kind: rod, a: lever_end, b: slide, length: 0.45}
"""
GEARS = """
kinetostat: 1
name: Gears
bodies:
  wheel: {mass: 2, inertia: {ixx: 0.02, iyy: 0.03, izz: 0.01}, center_of_mass: [0.1, 0.02, 0]}
  planet: {mass: 1, inertia: {ixx: 0.01, iyy: 0.02, izz: 0.01}, center_of_mass: [0, 0.1, 0]}
  rack: {mass: 3}
  flap: {mass: 1, inertia: {ixx: 0.01, iyy: 0.02, izz: 0.01}, center_of_mass: [0.2, 0, 0]}
frames:
  tool: {parent: planet, pose: {position: [0.1, 0.15, 0.05]}}
joints:
  sun: {kind: revolute, parent: world, child: wheel, axis: [0, 1, 0]}
  planet_pin: {kind: revolute, parent: wheel, child: planet, axis: [0, 0.6, 0.8], a: {position: [0.3, 0, 0]}}
  rail: {kind: prismatic, parent: world, child: rack, axis: [0, 0, 1]}
  hinge: {kind: revolute, parent: rack, child: flap, axis: [1, 0, 0]}
constraints:
  mesh: {kind: gear, joint: planet_pin, leader: sun, ratio: -1.5, offset: 0.2}
  pinion: {kind: gear, joint: rail, leader: sun, ratio: 0.12}
"""
DRIVERS = """
kinetostat: 1
name: Drivers
bodies:
  one: {mass: 2, inertia: {ixx: 0.02, iyy: 0.03, izz: 0.01}, center_of_mass: [0.2, 0, 0]}
  two: {mass: 1, inertia: {ixx: 0.01, iyy: 0.02, izz: 0.01}, center_of_mass: [0.2, 0, 0]}
  carriage: {mass: 1}
  three: {mass: 0.5, inertia: {ixx: 0.01, iyy: 0.01, izz: 0.01}, center_of_mass: [0.1, 0, 0]}
frames:
  tool: {parent: three, pose: {position: [0.2, 0, 0.05]}}
joints:
  turn: {kind: revolute, parent: world, child: one, axis: [0, 0, 1]}
  elbow: {kind: revolute, parent: one, child: two, axis: [0, 1, 0], a: {position: [0.4, 0, 0]}, rest: 0.9}
  wrist: {kind: revolute, parent: two, child: three, axis: [0.3, 1, 0], a: {position: [0.4, 0, 0]}, rest: 0.5}
  lift: {kind: prismatic, parent: world, child: carriage, axis: [0, 0, 1]}
sensors:
  reach: {kind: distance, a: world, b: tool}
drivers:
  motor: {joint: turn, function: 0.3 + 0.5*t + 0.2*t^2}
  pull: {sensor: reach, function: 0.75 + 0.1*t}
"""
SMALL = {"rods": RODS, "gears": GEARS, "drivers": DRIVERS}


def model_of(machine: str) -> Model:
    """The model of a small machine, or of an example."""
    if machine in SMALL:
        return loads(SMALL[machine])
    return load(next(example.path for example in examples() if example.name == machine))


def held_machines() -> list[str]:
    """The small machines, and all examples that anything holds."""
    return [*SMALL, *(e.name for e in examples() if Mechanism(load(e.path)).constrained)]


STEP, LONG_STEP = 1e-5, 5e-5
"""s between poses of first and of second differences."""


class State:
    """A machine at a closed pose away from rest: independent speeds `u` and accelerations `w` by name, and all others
    by differences of closed poses. lasting : without what drivers do."""

    def __init__(self, machine: str) -> None:
        self.model = model_of(machine)
        self.mech = mech = Mechanism(self.model)
        self.q = mech.rest()
        rng = np.random.default_rng(11)
        displaced = (self.posed(dict.fromkeys(self.free(), way)) for way in (0.05, 0.01))
        self.q = next(q for q in displaced if self.gap(q) < 1e-12)
        self.u, self.w = ({name: float(rng.uniform(0.4, 1.0)) for name in self.free()} for _ in range(2))
        p = {name: mech.model.values()[name] for name in mech.p_names}
        self.context = Context(self.model, mech, self.q, p)

    def rows(self, lasting: bool) -> np.ndarray:
        """Which constraint equations count."""
        return mech_rows(self.mech, lasting)

    def motions(self, lasting: bool = False, q: np.ndarray | None = None) -> np.ndarray:
        """(nv, k) the motions that are left."""
        G = np.asarray(self.mech.constraint_jacobian(self.q if q is None else q))[self.rows(lasting)]
        _, sigma, right = np.linalg.svd(np.concatenate([G, np.zeros((1, self.mech.nv))]))
        return right[int(np.sum(sigma > 1e-7 * max(1.0, sigma[0]))) :].T

    def free(self, lasting: bool = False) -> list[str]:
        """Names of independent speeds, one coordinate each where that can be."""
        N, chosen = self.motions(lasting), []
        plain = [k for k, name in enumerate(self.mech.v_names) if name in self.mech.q_names]
        for k in (*plain, *range(self.mech.nv)):
            if len(chosen) < N.shape[1] and np.linalg.svd(N[[*chosen, k]])[1][-1] > 0.05:
                chosen.append(k)
        return [self.mech.v_names[k] for k in chosen]

    def posed(self, gone: dict[str, float], time: float = 0.0, lasting: bool = False) -> Any:
        """(nq,) the closed pose at a time that is displaced so far along the named speeds, by the residuals alone."""
        mech, rows = self.mech, self.rows(lasting)
        level = np.asarray(mech.compiled.levels == 0) & rows
        picked = np.eye(mech.nv)[[mech.v_names.index(name) for name in gone]]
        way = np.array(list(gone.values()))
        q = mech.integrate(self.q, np.zeros(mech.nv))
        for _ in range(60):
            r = np.concatenate([mech.constraint_residual(q, t=time)[level], picked @ mech.difference(self.q, q) - way])
            if np.max(np.abs(r), initial=0.0) < 1e-14:
                break
            J = np.concatenate([np.asarray(mech.constraint_jacobian(q))[level], picked])
            q = mech.integrate(q, -np.linalg.pinv(J, rcond=1e-7) @ r)
        return np.asarray(q)

    def differences(self, way: dict[str, float], second: dict[str, float], lasting: bool = False) -> Any:
        """(v, a), (nv,) each, by differences of closed poses from now on (tables of drivers may begin here)."""

        def gone(t: float) -> Any:
            far = {name: speed * t + 0.5 * second.get(name, 0.0) * t * t for name, speed in way.items()}
            return self.mech.difference(self.q, self.posed(far, t, lasting))

        second_rate = (-104.0, 114.0, -56.0, 11.0)  # (12 h² ×) of what is zero now and known after 1 … 4 steps
        bent = sum(weight * gone(k * LONG_STEP) for k, weight in enumerate(second_rate, 1)) / (12.0 * LONG_STEP**2)
        return _rate(*(gone(k * STEP) for k in (1, 2, 3))), bent

    @cached_property
    def moving(self) -> Any:
        """(v, a) of the named speeds and accelerations, drivers at time 0."""
        return self.differences(self.u, self.w)

    def twist(self, frame: str, way: dict[str, float], lasting: bool = False) -> np.ndarray:
        """(6,) [ω; v] of a frame by differences of closed poses."""
        X = self.mech.frame(self.q, frame)
        gone = []
        for t in (STEP, 2.0 * STEP, 3.0 * STEP):
            Y = self.mech.frame(self.posed({name: x * t for name, x in way.items()}, t, lasting), frame)
            turn = Rotation.from_matrix(Y[:3, :3] @ X[:3, :3].T).as_rotvec()
            gone.append(np.concatenate([turn, Y[:3, 3] - X[:3, 3]]))
        return _rate(*gone)

    def gap(self, q: Any, lasting: bool = False) -> float:
        """Largest residual at a pose."""
        residual = self.mech.constraint_residual(np.asarray(q))[self.rows(lasting)]
        return float(np.max(np.abs(residual), initial=0.0))

    def called(self, id: str, **options: Any) -> Result:
        """The result of a function at this pose."""
        return call(id, self.context, **options)


def _rate(one: np.ndarray, two: np.ndarray, three: np.ndarray) -> np.ndarray:
    """The rate of what is zero now and these after one, two, three steps."""
    return (18.0 * one - 9.0 * two + 2.0 * three) / (6.0 * STEP)


def mech_rows(mech: Mechanism, lasting: bool) -> np.ndarray:
    """Which constraint equations count; lasting : not those of drivers."""
    return np.array([not (lasting and row.collection == "drivers") for row in mech.compiled.rows], dtype=bool)


def part(result: Result, kind: type, index: int = 0) -> Any:
    """A part of a result."""
    return [each for each in leaf_results(result) if isinstance(each, kind)][index]


def values(table: Table, title: str) -> np.ndarray:
    """A column as numbers."""
    return np.array([getattr(cell, "value", cell) for cell in table.column(title)], dtype=float)


def facts(table: Table) -> dict[str, float]:
    """A table of two columns by the first."""
    return {row[0]: getattr(row[1], "value", row[1]) for row in table.rows}


# ------------------------------------------------------------------------------------- what is compared


def energy(s: State) -> None:
    """½ vᵀ M v at differences of closed poses"""
    v = s.moving[0]
    found = facts(s.called("energy", speeds=s.u))["Kinetic energy"]
    assert np.isclose(found, 0.5 * v @ s.mech.mass_matrix(s.q) @ v, rtol=1e-6, atol=1e-12)


def inverse_dynamics(s: State) -> None:
    """v, a: differences of closed poses; power of τ in all free motions"""
    v, a = s.moving
    table = s.called("inverse_dynamics", speeds=s.u, accelerations=s.w)
    scale = 1.0 + np.max(np.abs(a))
    np.testing.assert_allclose(values(table, "Speed"), v, atol=1e-6 * (1.0 + np.max(np.abs(v))))
    np.testing.assert_allclose(values(table, "Acceleration"), a, atol=3e-5 * scale)
    a = values(table, "Acceleration")
    load = s.mech.mass_matrix(s.q) @ a + s.mech.bias(s.q, values(table, "Speed"))
    N = s.motions(lasting=True)
    power = N.T @ values(table, "Torque or force")
    np.testing.assert_allclose(power, N.T @ load, atol=1e-7 * (1.0 + np.abs(load).max()))


def gravity(s: State) -> None:
    """power of τ and of G(q) of the tree in all free motions"""
    table = s.called("gravity")
    N, G = s.motions(lasting=True), s.mech.gravity(s.q)
    tau = values(table, "Torque or force")
    np.testing.assert_allclose(N.T @ tau, N.T @ G, atol=1e-8 * (1.0 + np.abs(G).max()))
    if s.mech.compiled.lasting.any():
        assert np.count_nonzero(tau) <= N.shape[1]
        of_tree = values(table, "Of the tree with loops cut")
        np.testing.assert_allclose(of_tree, G, atol=1e-9 * (1.0 + np.abs(G).max()))


def mass_matrix(s: State) -> None:
    """½ uᵀ M u of independent speeds: ½ vᵀ M v at differences of closed poses"""
    matrix = part(s.called("mass_matrix"), Matrix)
    u = {name: 0.3 + 0.1 * k for k, name in enumerate(matrix.columns)}
    v = s.differences(u, {}, lasting=True)[0]
    own = np.array(list(u.values()))
    assert np.isclose(own @ np.array(matrix.entries) @ own, v @ s.mech.mass_matrix(s.q) @ v, rtol=1e-6, atol=1e-12)


def coriolis(s: State) -> None:
    """C + Cᵀ and C v: differences of M and of ½ vᵀ M v at closed poses"""
    result, v = s.called("coriolis", speeds=s.u), s.moving[0]
    C, M = np.array(part(result, Matrix).entries), np.asarray(s.mech.mass_matrix(s.q))
    poses = (s.posed({name: x * t for name, x in s.u.items()}, t) for t in (STEP, 2.0 * STEP, 3.0 * STEP))
    M_rate = _rate(*(np.asarray(s.mech.mass_matrix(q)) - M for q in poses))
    np.testing.assert_allclose(C + C.T, M_rate, atol=1e-5 * (1.0 + np.abs(M_rate).max()))
    forces = values(part(result, Table), "C q̇")
    bias = s.mech.bias(s.q, v, passive=False) - s.mech.gravity(s.q)
    np.testing.assert_allclose(forces, bias, atol=1e-5 * (1.0 + np.abs(bias).max()))


def momentum(s: State) -> None:
    """Σ m ċ and Σ R I Rᵀ ω + c × m ċ of bodies, by differences of closed poses (where nothing else has mass)"""
    found = facts(s.called("momentum", speeds=s.u, about="world"))
    if any(force.masses for force in s.model.expanded.forces):
        return
    mech, total, X0 = s.mech, np.zeros(6), s.mech.poses(s.q)
    moved = [mech.poses(s.posed({name: x * t for name, x in s.u.items()}, t)) for t in (STEP, 2.0 * STEP, 3.0 * STEP)]
    for name, m, *rest in part(s.called("mass_properties"), Table).rows:
        k = mech.frame_names.index(name)
        x, y, z, xx, yy, zz, xy, xz, yz = (float(getattr(cell, "value", cell)) for cell in rest)
        R, m = X0[k, :3, :3], float(getattr(m, "value", m))
        turn = _rate(*(Rotation.from_matrix(X[k, :3, :3] @ R.T).as_rotvec() for X in moved))
        center = X0[k] @ (x, y, z, 1.0)
        P = m * _rate(*((X[k] @ (x, y, z, 1.0) - center)[:3] for X in moved))
        L = R @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ R.T @ turn + np.cross(center[:3], P)
        total += np.concatenate([P, L])
    own = [found[f"{word} momentum {axis}"] for word in ("Linear", "Angular") for axis in "xyz"]
    np.testing.assert_allclose(own, total, atol=1e-5 * (1.0 + np.abs(total).max()))


def jacobian_rate(s: State) -> None:
    """velocity and acceleration of the frame: differences of closed poses"""
    table = part(s.called("jacobian_rate", speeds=s.u, accelerations=s.w), Table)
    X, weights, found = s.mech.frame(s.q, s.context.tool), (-104.0, 114.0, -56.0, 11.0), []
    for t in (k * LONG_STEP for k in range(1, 5)):
        way = {name: speed * t + 0.5 * s.w.get(name, 0.0) * t * t for name, speed in s.u.items()}
        Y = s.mech.frame(s.posed(way, t), s.context.tool)
        found.append(np.concatenate([Rotation.from_matrix(Y[:3, :3] @ X[:3, :3].T).as_rotvec(), Y[:3, 3] - X[:3, 3]]))
    acceleration = np.array(weights) @ found / (12.0 * LONG_STEP**2)
    np.testing.assert_allclose(values(table, "Velocity"), s.twist(s.context.tool, s.u), atol=1e-5)
    scale = 1.0 + np.abs(acceleration).max()
    np.testing.assert_allclose(values(table, "J q̈ + J̇ q̇"), acceleration, atol=1e-4 * scale)


def forward_kinematics(s: State) -> None:
    """pose of the frame in the kernel"""
    table = part(s.called("forward_kinematics", frames=s.context.tool), Table)
    place = [float(x) for x in table.rows[0][1:4]]
    np.testing.assert_allclose(place, s.mech.frame(s.q, s.context.tool)[:3, 3], atol=1e-9)


def jacobian(s: State) -> None:
    """every column: differences of closed poses"""
    found = part(s.called("jacobian"), Matrix)
    J = np.array(found.entries, dtype=float)
    for k, name in enumerate(found.columns):
        twist = s.twist(s.context.tool, _one(found.columns, name), lasting=True)
        np.testing.assert_allclose(J[:, k], twist, atol=1e-6 * (1.0 + np.abs(J).max()))


def _one(names: Iterable[str], chosen: str) -> dict[str, float]:
    """One speed of 1, all others of 0."""
    return {name: float(name == chosen) for name in names}


def singularities(s: State) -> None:
    """singular poses close the loops"""
    result = s.called("singularities")
    for each in leaf_results(result):
        if isinstance(each, PoseSequence):
            assert max(s.gap(q, lasting=True) for q in each.q) < 1e-7


def manipulability(s: State) -> None:
    """velocities of closed poses lie in the space of the axes"""
    field = s.called("manipulability")
    (ellipsoid,) = field.ellipsoids
    np.testing.assert_allclose(ellipsoid.center, s.mech.frame(s.q, s.context.tool)[:3, 3], atol=1e-9)
    axes, radii = np.array(ellipsoid.axes), np.array(ellipsoid.radii)
    across = axes[:, radii <= 1e-9 * radii.max()]
    names = s.free(lasting=True)
    speeds = [s.twist(s.context.tool, _one(names, name), lasting=True)[3:] for name in names]
    assert np.linalg.matrix_rank(np.array(speeds), tol=1e-6) == 3 - across.shape[1]
    assert np.abs(np.array(speeds) @ across).max(initial=0.0) < 1e-6


def planarity(s: State) -> None:
    """every direction in which closed poses move the frame is in the code"""
    names = s.free(lasting=True)
    speeds = np.array([s.twist(s.context.tool, _one(names, name), True)[3:] for name in names])
    moves = {axis for k, axis in enumerate("xyz") if np.abs(speeds[:, k]).max(initial=0.0) > 1e-6}
    (word,) = s.called("planarity").column("Directions")
    assert moves <= set(word)


def inverse_kinematics(s: State) -> None:
    """solutions are closed poses that meet the target to the error told"""
    target = s.mech.frame(s.posed(dict.fromkeys(s.u, 0.03)), s.context.tool)[:3, 3]
    result = s.called("inverse_kinematics", position=tuple(map(float, target)), restarts=3, show="all")
    poses, table = part(result, PoseSequence), part(result, Table)
    for q, error in zip(poses.q, values(table, "Position error"), strict=True):
        assert s.gap(q) < 1e-7
        assert abs(np.linalg.norm(s.mech.frame(np.array(q), s.context.tool)[:3, 3] - target) - error) < 1e-9
    assert values(table, "Position error")[0] < 1e-6


def loops(s: State) -> None:
    """number of loops; machines of rods and gears are not open"""
    result = s.called("loops")
    tables = [each for each in leaf_results(result) if isinstance(each, Table)]
    lasting = s.rows(True) & ~np.array([row.collection == "drivers" for row in s.mech.compiled.rows])
    assert bool(tables) == bool(lasting.any())
    if s.mech.loops:
        assert len(tables[0].rows) == len(s.mech.loops)


def mobility(s: State) -> None:
    """freedoms: nv − rank G, drivers let go; free motions are played through closed poses"""
    result = s.called("mobility")
    count = s.motions(lasting=True).shape[1]
    poses = [each for each in leaf_results(result) if isinstance(each, PoseSequence)]
    assert len(poses) == min(count, 12)
    for sequence in poses:
        assert max(s.gap(q, lasting=True) for q in sequence.q) < 1e-7


def assembly_branches(s: State) -> None:
    """branches are closed poses in which what is held stands still"""
    names = [name for name in s.free() if name in s.mech.q_names]
    if len(names) < s.motions().shape[1]:
        names = []
    with mock.patch.object(branches, "QUIET", 5):  # all of them take long
        result = s.called("assembly_branches", hold=",".join(names))
    sequences = [each for each in leaf_results(result) if isinstance(each, PoseSequence)]
    assert sequences or not names
    for q in sequences[0].q if sequences else ():
        assert s.gap(q) < 1e-7
        for name in names:
            at = s.mech.q_names.index(name)
            assert abs(q[at] - s.q[at]) < 1e-9


def instantaneous_screw(s: State) -> None:
    """twist by differences of closed poses"""
    twist = s.twist(s.context.tool, s.u)
    if not s.u:
        return
    found = facts(part(s.called("instantaneous_screw", speeds=s.u), Table))
    turn = float(np.linalg.norm(twist[:3]))
    if "Angular velocity" in found:
        assert np.isclose(found["Angular velocity"], turn, rtol=1e-6, atol=1e-8)
    along = twist[:3] @ twist[3:] / turn if "Angular velocity" in found else np.linalg.norm(twist[3:])
    assert np.isclose(found["Velocity along the axis"], along, rtol=1e-5, atol=1e-7)


def static_equilibrium(s: State) -> None:
    """the pose is closed, and in free motions no force is left"""
    sequences = [each for each in leaf_results(s.called("static_equilibrium")) if isinstance(each, PoseSequence)]
    for sequence in sequences:
        q = np.array(sequence.q[0])
        assert s.gap(q) < 1e-7
        if not any(c.lower is not None or c.upper is not None for c in (*s.mech.coordinates, *s.mech.cut_limits)):
            load = s.mech.bias(q, np.zeros(s.mech.nv))
            assert np.abs(s.motions(q=q).T @ load).max(initial=0.0) < 1e-5 * (1.0 + np.abs(load).max())


def linearise(s: State) -> None:
    """A: differences of accelerations at closed poses, speeds kept"""
    matrix = part(s.called("linearise", speeds=s.u), Matrix)
    A = np.array(matrix.entries, dtype=float)
    names = [name for name in matrix.columns if name in s.mech.v_names and f"{name}'" in matrix.columns]
    k, mech = len(names), s.mech
    at = [mech.v_names.index(name) for name in names]
    speeds = s.moving[0][at]

    def acceleration(place: np.ndarray, speed: np.ndarray) -> np.ndarray:
        q = s.posed(dict(zip(names, place, strict=True)))
        v = mech.speeds(q, dict(zip(names, speed, strict=True)))
        return np.asarray(mech.forward_dynamics(q, v, np.zeros(mech.nv)))[at]

    if mech.nx or any(name not in mech.q_names for name in names):
        return
    for j in range(k):
        step = 1e-5 * np.eye(k)[j]
        still = np.zeros(k)
        by_place = (acceleration(step, speeds) - acceleration(-step, speeds)) / 2e-5
        by_speed = (acceleration(still, speeds + step) - acceleration(still, speeds - step)) / 2e-5
        scale = 1.0 + np.abs(A).max()
        np.testing.assert_allclose(A[k : 2 * k, j], by_place, atol=1e-4 * scale)
        np.testing.assert_allclose(A[k : 2 * k, k + j], by_speed, atol=1e-4 * scale)


def _ranges(s: State) -> tuple[tuple[str, float, float, int], ...]:
    name = next((name for name in s.free() if name in s.mech.q_names), None)
    if name is None:
        return ()
    place = float(s.q[s.mech.q_names.index(name)])
    return ((name, place, place + 0.04, 2),)


def _shown(s: State, id: str, option: str) -> None:
    ranges = _ranges(s)
    sequence = part(s.called(id, **{option: ranges}), PoseSequence)
    for k, q in enumerate(sequence.q):
        assert s.gap(q) < 1e-7
        for name, start, stop, divisions in ranges:
            at = s.mech.q_names.index(name)
            assert abs(q[at] - (start + (stop - start) * k / divisions)) < 1e-7


def show_robot(s: State) -> None:
    """every pose is closed, the coordinate that runs has its value"""
    _shown(s, "show_robot", "ranges")


def show_in_sequence(s: State) -> None:
    """every pose is closed, the coordinate that runs has its value"""
    _shown(s, "show_in_sequence", "sequence")


def parameters(s: State) -> None:
    """values of the model"""
    known = s.model.values()
    rows = part(s.called("parameters"), Table).rows if s.model.parameters else ()
    assert {row[0]: getattr(row[2], "value", row[2]) for row in rows} == {
        x.name: known[x.name] for x in s.model.parameters
    }


def mass_properties(s: State) -> None:
    """½ Σ V·I V of bodies in a free motion and ½ vᵀ M v (where nothing else has inertia); centre of mass"""
    mech, q, kinetic, moment, mass = s.mech, s.q, 0.0, np.zeros(3), 0.0
    v = s.motions(lasting=True).sum(axis=1)
    for name, m, *rest in part(s.called("mass_properties"), Table).rows:
        x, y, z, xx, yy, zz, xy, xz, yz = (float(getattr(cell, "value", cell)) for cell in rest)
        X, V = np.asarray(mech.frame(q, name)), np.asarray(mech.jacobian(q, name)) @ v
        R, m = X[:3, :3], float(getattr(m, "value", m))
        arm, turning = R @ (x, y, z), R @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ R.T
        kinetic += 0.5 * m * np.sum((V[3:] + np.cross(V[:3], arm)) ** 2) + 0.5 * V[:3] @ turning @ V[:3]
        mass, moment = mass + m, moment + m * (X[:3, 3] + arm)
    if not any(force.masses for force in s.model.expanded.forces):
        np.testing.assert_allclose(moment, mass * np.asarray(mech.center_of_mass(q)), atol=1e-12 * (1.0 + mass))
        if not any(mech.compiled.elements.numbers.scalar(j.armature, j.name) for j in s.model.expanded.joints):
            assert np.isclose(kinetic, 0.5 * v @ mech.mass_matrix(q) @ v, rtol=1e-9, atol=1e-12)


def coordinates(s: State) -> None:
    """q"""
    table = part(s.called("coordinates"), Table)
    np.testing.assert_allclose(values(table, "Value")[: s.mech.nq], s.q, atol=1e-12)


def picture(s: State) -> None:
    """q"""
    np.testing.assert_array_equal(s.called("picture").q, s.q)


CHECKS: dict[str, Callable[[State], None]] = {
    check.__name__: check
    for check in (
        parameters,
        mass_properties,
        coordinates,
        forward_kinematics,
        jacobian,
        jacobian_rate,
        inverse_kinematics,
        planarity,
        loops,
        mobility,
        singularities,
        assembly_branches,
        instantaneous_screw,
        static_equilibrium,
        linearise,
        manipulability,
        energy,
        inverse_dynamics,
        gravity,
        mass_matrix,
        coriolis,
        momentum,
        show_robot,
        show_in_sequence,
        picture,
    )
}
"""Function → what compares it; the docstring says with what."""

COMPARED_ELSEWHERE = {
    "dh_table": "functions/test_catalogue.py",
    "link_transforms": "functions/test_catalogue.py",
    "fit_dh_table": "analysis/test_dh_fit.py",
    "workspace": "studies/workspace/test_workspace_values.py",
    "path_synthesis": "design/test_paths.py",
    "optimise": "design/test_design.py",
    "linear_system": "control/test_linear_systems.py",
    "lqr": "control/test_system_properties.py",
    "root_locus": "control/test_root_locus.py",
    "trim": "control/test_operating_points.py",
    "plan_motion": "motions/test_plan.py",
    "controller": "control/test_controller_design.py",
    "closed_loop_poles": "control/test_controller_design.py",
    "run_derivatives": "identification/sensitivities/test_gradients.py",
    "parameter_study": "functions/subjects/test_study_function.py",
    "write_c_code": "c_code/test_generated_code.py",
    "response": "conformance/test_robotica_manual.py",
    "identify": "identification/test_identify.py",
    "fit_run": "identification/test_fit_run.py",
    "excitation": "identification/test_identify.py",
    "derive": "symbolic/test_symbolic_robot.py",
    "symbolic_kinematics": "symbolic/test_symbolic_robot.py",
    "symbolic_dynamics": "symbolic/test_symbolic_robot.py",
    "write_equations": "symbolic/test_symbolic_export.py",
    "simplify_expression": "robotica/test_robotica_expressions.py",
    "trig_notation": "functions/test_trig_notation.py",
    "loop_symbols": "symbolic/test_linkage.py",
    "write_loop_equations": "symbolic/test_linkage.py",
    "derivation": "symbolic/test_derivation.py",
}
"""Functions that say nothing of one pose and its speeds (searches, runs, systems, symbols, chains without loops): the
tests that compare them with closed forms, published numbers or the kernel."""


def outcome(s: State, id: str) -> str:
    """What came of comparing a function on a machine: "✓", "–" where it is not for it; an AssertionError."""
    if FUNCTIONS[id].unavailability_reason(s.context):
        return "–"
    CHECKS[id](s)
    return "✓"


def main() -> None:
    """Print the table."""
    machines = held_machines()
    print("| function | compared with |", " | ".join(machines), "|")
    print("| --- | --- |" + " --- |" * len(machines))
    states = {machine: State(machine) for machine in machines}
    for function, check in CHECKS.items():
        cells = []
        for machine in machines:
            try:
                cells.append(outcome(states[machine], function))
            except AssertionError:
                cells.append("wrong")
        print(f"| {function} | {check.__doc__} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
