"""Equilibrium poses: loads in units of the machine, and properties of an equilibrium."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.forces_at_rest import STEP, FrictionBalance, LimitActiveSet
from core.analysis.linearisation import Linearisation, eliminate_junctions, force_states_at_rest, linearise
from core.constraints.bearing_friction import compute_bearing_loads, joint_rows_at_rest, require_unique_bearing_loads
from core.constraints.elastic_stops import PressedStops, find_compressed_stops, has_elastic_stop, pressed_stop_springs
from core.constraints.joint_modes import NOWHERE, build_joint_row_table
from core.constraints.joint_rows import JointRows, cut_row_index, evaluate_joint_rows
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.errors import SimulationError
from core.mechanism import Mechanism
from core.numerics.matrix_forms import to_dense
from core.numerics.tolerances import RANK_TOLERANCE, TOUCH_TOLERANCE
from core.programs.derivatives import program_derivatives

Array = NDArray[np.float64]

LONGEST = 0.4
"""Longest step, rad or machine sizes."""
MAX_STEPS = 200
SOFT = 1e-9
"""Stiffness, relative to the largest, below which a direction counts as having no stiffness."""


@dataclass(frozen=True)
class Equilibrium:
    """A static equilibrium.

    q : (nq,); residual : largest generalised force left, as a part of the largest one at work; forces : (nv,) those
    that act in the joints of the tree, held by the constraints; stiffness : (k,) eigenvalues of the stiffness in units
    of the machine, smallest first;
    stability : "stable", "asymptotically stable", "indifferent", "unstable", or "held" by friction; linear : the motion
    about the pose (None where it rests against limits that do not give way, or friction holds it); limits : coordinate
    → force (N·m, N) with which its limit pushes, along its growth; friction : what friction holds (None: not asked)
    saturated : speed → (N·m or N that its motor is asked for, what it gives), of motors that can less
    """

    q: Array
    residual: float
    forces: Array
    stiffness: Array
    stability: str
    steps: int
    linear: Linearisation | None
    limits: dict[str, float] = field(default_factory=dict)
    friction: FrictionBalance | None = None
    saturated: dict[str, tuple[float, float]] = field(default_factory=dict)


class LoadBalance:
    """Loads at poses of a machine, in units of its size."""

    def __init__(self, constraints: PositionConstraints, tau: Array) -> None:
        self.constraints, self.tau, self.limits = constraints, tau, LimitActiveSet(constraints)
        self.near: Array | None = None
        self.modes = build_joint_row_table(constraints.compiled, constraints.p)
        self.springs: list[tuple[int, int]] | None = []
        """Rows, with the side, whose stops act as springs; None: all that are elastic, where they are pushed in."""
        self._states: tuple[bytes | None, Array] = None, np.zeros(0)
        self._load: tuple[bytes | None, Array] = None, np.zeros(0)
        """Those of the pose asked for last, and the pose."""
        self._loaded: tuple[Any, Callable[[Array], Array]] | None = None

    def states(self, q: Array) -> Array:
        """(nx,) states of force elements at rest; turn counters continue from the last pose."""
        if self._states[0] != q.tobytes():
            self._states = q.tobytes(), force_states_at_rest(self.constraints, q, self.near)
        return self._states[1]

    def set_reference_pose(self, q: Array) -> None:
        """Use this pose as the reference from which turns are counted."""
        self.near = self.states(q)
        self.limits.set_reference_pose(q)

    def load(self, q: Array) -> Array:
        """(nv,) h(q, 0) − τ, elastic stops included."""
        if self._load[0] != q.tobytes():
            stops = self.pressed_stops(q)
            self._load = q.tobytes(), self.load_without_stops(q) - stops.rows.T @ stops.forces
        return self._load[1]

    def load_without_stops(self, q: Array) -> Array:
        """(nv,) h(q, 0) − τ without elastic stops."""
        constraints = self.constraints
        still = np.zeros(constraints.compiled.nv)
        h = constraints.compiled.call("bias", q, still, p=constraints.p, t=constraints.t, x=self.states(q))
        return np.asarray(h - self.tau)

    def rows(self, q: Array) -> JointRows:
        """Rows of joints with friction and stops."""
        constraints, x = self.constraints, self.states(q) if self.modes.has_friction_formulas else None
        at = evaluate_joint_rows(constraints.compiled, self.modes, q, constraints.p, constraints.t, x=x)
        return joint_rows_at_rest(constraints.compiled, self.modes, at, q, constraints.p, constraints.t, x)

    @property
    def has_self_dependent_friction(self) -> bool:
        """True if friction grows with reactions that depend on that friction, as in loops."""
        return bool(self.modes.rows_with_bearing_friction) and self.constraints.compiled.constrained

    def bearing_load_function(self, q: Array) -> Callable[[Array], Array]:
        """Return the function from friction along rows (rows,) to the bearing loads (bearings,) of a loop at a pose.
        Raises SimulationError if the loads are not unique."""
        key = q.tobytes(), tuple(self.limits.active)
        if self._loaded is not None and self._loaded[0] == key:
            return self._loaded[1]
        constraints, x, at = self.constraints, self.states(q), self.rows(q)
        compiled, p, t, still = constraints.compiled, constraints.p, constraints.t, np.zeros(constraints.compiled.nv)
        require_unique_bearing_loads(compiled, self.modes, q, still, p, t, x)
        every = np.zeros((len(compiled.rows), 1 + len(at.rows)))
        every[constraints.kept] = self.solve_balancing_forces(q, np.column_stack([self.load(q), -at.W.T]))[0]
        own = np.zeros((len(compiled.program.symbolic.cut_coordinates), len(at.rows)))
        for i, row in enumerate(at.rows):
            if row.at_v == NOWHERE:
                own[cut_row_index(compiled, row), i] = 1.0

        def loads(friction: Array) -> Array:
            multipliers = every[:, 0] + every[:, 1:] @ friction
            return compute_bearing_loads(compiled, q, still, still, multipliers, own @ friction, p, t, x)

        self._loaded = key, loads
        return loads

    def pressed_stops(self, q: Array) -> PressedStops:
        """Stops that act as springs at a pose, with their spring data."""
        constraints, at = self.constraints, self.rows(q)
        met = find_compressed_stops(at) if self.springs is None else self.springs
        return pressed_stop_springs(
            constraints.compiled, self.modes, at, met, constraints.free_motions(q), q, constraints.p
        )

    def replace_limits_by_stops(self, q: Array) -> bool:
        """Replace active limits by their elastic stops; return True if there are any."""
        at, self.springs = self.rows(q), []
        for limit in list(self.limits.active):
            near = np.abs(at.excess_beyond_limit(int(limit.side))) < TOUCH_TOLERANCE
            for i in np.flatnonzero(near):
                row = at.rows[i]
                if has_elastic_stop(row) and (row.name == limit.name or row.at_v == limit.v != NOWHERE):
                    self.springs.append((int(i), int(limit.side)))
                    self.limits.remove_permanently(limit)
                    break
        self._load = None, np.zeros(0)
        return bool(self.springs)

    def load_along_motions(self, q: Array) -> tuple[Array, Array]:
        """Return N (nv, k) and g (k,): free motions, and the load along them."""
        N = self.limits.free_motions(q)
        return N, N.T @ self.load(q)

    def solve_balancing_forces(self, q: Array, h: Array) -> tuple[Array, Array, Array]:
        """(constraint multipliers, forces of active limits, unbalanced remainder) for loads h (nv,) or (nv, k)."""
        constraints = self.constraints
        G = to_dense(constraints.jacobian(q)) if constraints.rows else np.zeros((0, constraints.compiled.nv))
        rows = np.concatenate([G, self.limits.rows(q)])
        found = np.asarray(np.linalg.lstsq(rows.T, h, rcond=RANK_TOLERANCE)[0], dtype=float)
        return found[: len(G)], found[len(G) :], np.asarray(h - rows.T @ found)

    def stiffness(self, q: Array, N: Array, friction: Array | None = None) -> Array:
        """(k, k) stiffness of the loads along N: symmetric part, and complete matrix. friction : (rows,) constant
        forces in joints"""
        constraints, compiled = self.constraints, self.constraints.compiled
        stops = self.pressed_stops(q)
        held = np.zeros(len(self.modes.rows)) if friction is None else friction.copy()
        multipliers, pushes, _ = self.solve_balancing_forces(q, self.load(q) - self.rows(q).W.T @ held)
        for name, force in zip(stops.names, stops.forces, strict=True):
            held[[row.name for row in self.modes.rows].index(name)] += force
        still = np.zeros(compiled.nv)
        time = compiled.time_argument(constraints.t, constraints.p)
        state = {"q": q, "v": still, "u": still, "x": self.states(q), "t": time}
        slopes = program_derivatives(compiled.program)(state, multipliers, constraints.p)
        springs = (stops.rows @ N).T @ (stops.stiffness[:, None] * (stops.rows @ N))
        bending = self.limits.geometric_stiffness(q, N, pushes) + self._geometric_stiffness(q, N, held)
        return np.asarray(N.T @ eliminate_junctions(slopes).f_q @ N) + springs - bending

    def _geometric_stiffness(self, q: Array, N: Array, forces: Array) -> Array:
        """(k, k) geometric stiffness along N of forces along rows, due to their changing directions; zero for tree
        joints."""
        result = np.zeros((N.shape[1], N.shape[1]))
        if self.modes.tree_row_count < len(self.modes.rows) and forces[self.modes.tree_row_count :].any():
            moved, units = self.constraints.displace, self.constraints.speed_units
            for j, displacement in enumerate(N.T):
                step = STEP / max(float(np.linalg.norm(displacement / units)), 1e-300)
                ahead, behind = (forces @ self.rows(moved(q, sign * step * displacement)).W for sign in (1.0, -1.0))
                result[:, j] = N.T @ (ahead - behind) / (2.0 * step)
        return result


def force_scale(balance: LoadBalance, q: Array) -> float:
    """Reference force: the largest load; if the joints carry no load at this pose, the weight times the machine's
    size."""
    constraints = balance.constraints
    rng = np.random.default_rng(5)
    units = constraints.speed_units
    loads = [
        np.max(np.abs(balance.load_without_stops(x) * units), initial=0.0)
        for x in (q, constraints.displace(q, 0.3 * units * rng.normal(size=len(units))))
    ]
    return max(float(np.max(loads)), 1e-12)


def describe_equilibrium(mech: Mechanism, balance: LoadBalance, pose: Array, steps: int) -> Equilibrium:
    """Collect the properties of an equilibrium pose."""
    load, scale = balance.load(pose), force_scale(balance, pose)
    N = balance.limits.free_motions(pose)
    _, pushes, left = balance.solve_balancing_forces(pose, load)
    K = balance.stiffness(pose, N)
    eigenvalues = np.asarray(np.linalg.eigvalsh(0.5 * (K + K.T)), dtype=float)
    held, stops = balance.limits.active, balance.pressed_stops(pose)
    linear = None if held else _linearisation_or_none(mech, pose, balance)
    forces = {stop.name: float(push) for stop, push in zip(held, pushes, strict=True)}
    return Equilibrium(
        pose,
        float(np.max(np.abs(left * balance.constraints.speed_units), initial=0.0)) / scale,
        load - left,
        eigenvalues,
        _stability_verdict(eigenvalues, linear),
        steps,
        linear,
        forces | dict(zip(stops.names, map(float, stops.forces), strict=True)),
    )


def _linearisation_or_none(mech: Mechanism, q: Array, balance: LoadBalance) -> Linearisation | None:
    """Linearised motion about the pose; None if it fails because masses are missing."""
    constraints = balance.constraints
    try:
        p, t, near = constraints.p, constraints.t, balance.states(q)
        return linearise(mech, q, tau=balance.tau, p=p, t=t, near=near, friction=False, motors=False)
    except (SimulationError, np.linalg.LinAlgError):
        return None


def _stability_verdict(stiffness: Array, linear: Linearisation | None) -> str:
    scale = max(float(np.max(np.abs(stiffness), initial=0.0)), 1e-300)
    if linear is not None and linear.stability == "unstable":
        return "unstable"
    if len(stiffness) and stiffness[0] < -1e-7 * scale:
        return "unstable"
    if len(stiffness) and stiffness[0] < 1e-7 * scale:
        return "indifferent"
    return linear.stability if linear is not None and linear.stability != "indifferent" else "stable"
