"""Constraints on a machine at one state: loops and drivers, contact states of joints (sticking, sliding, pressed
against a stop, at the motor's speed limit), and the rows that they add to the equations.

Its motions in independent coordinates: v = B u, B the motions that are left, each 1 in one of the chosen speeds.

Forces of joints at rest are those of Gauss's principle: the least acceleration, in the metric of M, that friction
within its bounds allows. Joints that begin to move all the same are given the friction of sliding, all together, until
no more of them break away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.bearing_friction import refuse_bearing_friction
from core.constraints.elastic_stops import PressedStops, find_compressed_stops, pressed_stop_springs
from core.constraints.joint_modes import NOWHERE, JointRow, JointRowTable, build_joint_row_table
from core.constraints.joint_rows import JointRows, evaluate_joint_rows, row_biases
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.motor_limits import (
    clip_to_effort_limits,
    compute_withheld_force,
    has_motor,
    saturated_motors_mask,
)
from core.constraints.named_values import unknown_name_error
from core.errors import ModelError
from core.mechanism import Mechanism
from core.numerics.bounded_forces import resolve_sliding_rows
from core.numerics.matrix_forms import stack_rows
from core.numerics.rank import least_squares_solver, solve_least_squares
from core.numerics.tolerances import AT_REST_SPEED, RANK_TOLERANCE
from core.programs.derivatives import EquationDerivatives
from core.programs.not_finite import singularity_error

Array = NDArray[np.float64]


JUST_MORE = 1e-10
"""Relative increase of friction bounds, so that friction still holds the machine in poses that were found at the limit
of friction."""
STEP = 1e-6
"""Displacement (rad or machine sizes) of finite differences for the rotation of rows."""


class ContactStates(NamedTuple):
    """Contact states of all joint rows at a state.

    at : the rows; stuck : indices of those that stick; limited : of those whose motors keep their limit of speed;
    sliding : row → sign of the speed that it has or gets; stops : those that press; given : (rows,) forces that follow
    from the state, N·m or N along growth, beside those of the traces: of stops, of friction that begins to slide, and
    of what motors withhold; idle : rows whose motors give nothing, as loads are faster than they may drive
    """

    modes: JointRowTable
    at: JointRows
    stuck: list[int]
    sliding: dict[int, int]
    stops: PressedStops
    given: Array
    limited: list[int]
    idle: list[int]

    @property
    def constrained_rows(self) -> list[int]:
        """Rows whose accelerations are constrained to zero."""
        return [*self.stuck, *self.limited]

    @property
    def W(self) -> Array:
        """(held, nv) directions of the rows whose accelerations are constrained to zero."""
        return self.at.W[self.constrained_rows]

    def coordinate_names(self, rows: list[int]) -> tuple[str, ...]:
        """Coordinate names of rows."""
        return tuple(self.at.rows[i].name for i in rows)


def find_contact_states(
    constraints: PositionConstraints,
    state: tuple[Array, Array, Array],
    load: Array,
    drift: Array,
    friction: bool,
    commanded: Array | None = None,
) -> ContactStates:
    """Find the contact states at a closed state q, v, x. load : (nv,) τ − h; drift : (nv,) accelerations that the
    constraints require; friction : False if no joint may stick; commanded : (nv,) motor commands, subject to speed
    limits; None if τ acts on the joints directly"""
    compiled, p, (q, v, x) = constraints.compiled, constraints.p, state
    modes = build_joint_row_table(compiled, p)
    refuse_bearing_friction(modes, "Linearisation")
    at, N = evaluate_joint_rows(compiled, modes, q, p, constraints.t, v, x), constraints.free_motions(q)
    rates, met = at.W @ v, find_compressed_stops(at)
    stops = pressed_stop_springs(compiled, modes, at, met, N, q, p)
    given = np.zeros(len(at.rows))
    for (i, _), push in zip(met, stops.contact_forces(v), strict=True):
        given[i] += push
    rubbing, speeds = np.flatnonzero(at.friction_mask), at.row_magnitudes(rates)
    resting = [int(i) for i in rubbing if speeds[i] < AT_REST_SPEED]
    sliding = {int(i): int(np.sign(rates[i])) for i in rubbing if i not in resting}
    limits, idle = _find_rows_at_speed_limits(at, rates, commanded, given)
    held = [*(resting if friction else ()), *limits]
    if not held:
        return ContactStates(modes, at, [], sliding, stops, given, [], idle)
    M = N.T @ compiled.mass_matrix(q, p) @ N
    carried = compiled.mass_matrix(q, p) @ drift
    own = row_biases(compiled, at, q, v, p)[held] + at.W[held] @ drift
    bounds = _held_force_bounds(at.select(held), [limits.get(i) for i in held])
    broken = _find_breakaway_rows(at.select(held), M, N, N.T @ (load + at.W.T @ given - carried), own, bounds)
    for k, (sign, force) in broken.items():
        given[held[k]] += force
        if held[k] not in limits:
            sliding[held[k]] = sign
        elif force != 0.0:
            idle.append(held[k])
    left = [i for k, i in enumerate(held) if k not in broken]
    stuck, limited = [i for i in left if i not in limits], [i for i in left if i in limits]
    return ContactStates(modes, at, stuck, sliding, stops, given, limited, idle)


def _find_rows_at_speed_limits(
    joint_rows: JointRows, rates: Array, commanded: Array | None, supplied: Array
) -> tuple[dict[int, tuple[float, float]], list[int]]:
    """Find the rows whose motor may maintain its speed limit, with the bounds of the force it withholds, and the rows
    whose motor delivers no force; for these, `supplied` is updated."""
    limits, idle = dict[int, tuple[float, float]](), list[int]()
    if commanded is None:
        return limits, idle
    for i, row in enumerate(joint_rows.rows):
        keeps, low, high = compute_withheld_force(
            row, float(rates[i]), float(commanded[row.at_v]) if row.at_v != NOWHERE else 0.0
        )
        if keeps:
            limits[i] = low, high
        elif low != 0.0:
            supplied[i] += low
            idle.append(i)
    return limits, idle


class HeldRowBounds(NamedTuple):
    """(n, 2) smallest and largest forces of rows that may be held at rest: while they rest, and while they slide."""

    rest: tuple[Array, Array]
    sliding: tuple[Array, Array]


def _held_force_bounds(held_rows: JointRows, limits: list[tuple[float, float] | None]) -> HeldRowBounds:
    """Force bounds of held rows. limits : for a row at a speed limit, the bounds of the force its motor may withhold;
    None if friction keeps the row at rest"""
    rest, sliding = ([each.copy() for each in both] for both in (held_rows.static_bounds, held_rows.sliding_bounds))
    for k, own in enumerate(limits):
        if own is None:
            for bound in rest:
                bound[k] *= 1.0 + JUST_MORE
        else:
            for low, high in (rest, sliding):
                low[k], high[k] = own
    return HeldRowBounds((rest[0], rest[1]), (sliding[0], sliding[1]))


def _find_breakaway_rows(
    held_rows: JointRows, M: Array, N: Array, load: Array, biases: Array, bounds: HeldRowBounds
) -> dict[int, tuple[int, float]]:
    """Find the rows (indices in `held_rows`) that break loose → sign of the resulting speed, and the force along the
    row."""
    if not len(M):
        return {}
    sizes, axes = np.linalg.eigh(M)
    light = sizes > 1e-12 * max(float(np.max(np.abs(sizes))), 1e-300)
    root = axes[:, light] / np.sqrt(sizes[light])
    W = held_rows.W @ N @ root
    c = W @ (root.T @ load) + biases
    found, broken = resolve_sliding_rows(W @ W.T, c, bounds.rest, bounds.sliding, held_rows.vector_group_sizes)
    slides = np.flatnonzero(broken & (found.side != 0.0))
    return {int(i): (int(np.sign(found.rates[i])), float(found.forces[i])) for i in slides}


class RowDerivatives(NamedTuple):
    """Derivatives, with respect to displacements, of rows that carry forces, (nv, nv), and of held rows, (held, nv):
    force : of Wᵀ λ; speed : of W v; acceleration, by_speed : of W a + Ẇ v, and its derivative with respect to speeds"""

    force: Array
    speed: Array
    acceleration: Array
    by_speed: Array


def row_derivatives(
    constraints: PositionConstraints, contact_states: ContactStates, q: Array, v: Array, a: Array, forces: Array
) -> RowDerivatives:
    """Derivatives of the row directions with respect to the pose, by finite differences; zero for tree joints. forces :
    (rows,) along the rows"""
    compiled, nv, held = constraints.compiled, constraints.compiled.nv, contact_states.constrained_rows
    result = RowDerivatives(np.zeros((nv, nv)), *(np.zeros((len(held), nv)) for _ in range(3)))
    if contact_states.modes.tree_row_count == len(contact_states.modes.rows):
        return result

    def at(pose: Array, speeds: Array) -> tuple[Array, Array, Array]:
        rows = evaluate_joint_rows(compiled, contact_states.modes, pose, constraints.p, constraints.t)
        bias = row_biases(compiled, rows, pose, speeds, constraints.p)
        return rows.W.T @ forces, rows.W[held] @ v, rows.W[held] @ a + bias[held]

    for j in range(nv):
        step = STEP * constraints.speed_units[j]
        displacement = np.zeros(nv)
        displacement[j] = step
        ahead, behind = at(constraints.displace(q, displacement), v), at(constraints.displace(q, -displacement), v)
        for derivative, high, low in zip(result[:3], ahead, behind, strict=True):
            derivative[:, j] = (high - low) / (2.0 * step)
        if held and v.any():
            ahead, behind = at(q, v + displacement), at(q, v - displacement)
            result.by_speed[:, j] = (ahead[2] - behind[2]) / (2.0 * step)
    return result


def well_conditioned_speeds(constraints: PositionConstraints, N: Array) -> list[int]:
    """Indices of speeds that determine all others with good conditioning; joints early in the document are
    preferred."""
    import scipy.linalg

    preference = (1.0 + 1.0 / (1.0 + np.arange(len(N)))) / constraints.speed_units
    _, _, pivots = scipy.linalg.qr(N.T * preference, mode="economic", pivoting=True)
    return sorted(int(i) for i in pivots[: N.shape[1]])


def speeds_by_name(mech: Mechanism, names: Sequence[str], N: Array) -> list[int]:
    """Indices of the named speeds. Raises ModelError if they do not determine the others."""
    for name in names:
        if name not in mech.v_names:
            raise unknown_name_error(mech.compiled, "v", name)
    chosen = [mech.v_names.index(name) for name in names]
    if len(chosen) != N.shape[1] or np.linalg.matrix_rank(N[chosen], tol=1e-7) < len(chosen):
        raise ModelError(
            f"{', '.join(names)} do not determine the motion: {N.shape[1]} independent coordinates are needed.",
            remedy="Name other coordinates, or none to have them chosen automatically.",
        )
    return chosen


class ConstrainedState:
    """A state of a machine with its constraints and the joint rows that friction, stops or motors hold there.

    tau : (nv,) joint forces, with `motors` what these give of what they are asked for; silent : (nv,) which of them do
    not change with what is asked: motors at their limit of effort, or overrun at that of speed
    """

    def __init__(
        self,
        constraints: PositionConstraints,
        q: Array,
        v: Array,
        tau: Array,
        x: Array,
        friction: bool,
        motors: bool = True,
    ) -> None:
        self.constraints, self.q, self.v = constraints, q, v
        compiled, p, t = constraints.compiled, constraints.p, constraints.t
        self.tau = clip_to_effort_limits(compiled, tau, p) if motors else tau
        self.silent = saturated_motors_mask(compiled, tau, p) if motors else np.zeros(compiled.nv, dtype=bool)
        self._saturated = self.silent.copy()
        self.G = constraints.jacobian(q) if constraints.rows else np.zeros((0, compiled.nv))
        bias = compiled.call("constraint_bias", q, v, p=p, t=t)[constraints.kept] if constraints.rows else np.zeros(0)
        self.load = self.tau - compiled.call("bias", q, v, p=p, t=t, x=x)
        asked = self.tau if motors else None
        self.modes = find_contact_states(
            constraints, (q, v, x), self.load, least_squares_solver(self.G)(-bias), friction, asked
        )
        self.silent[[row.at_v for row in self._joint_rows(self.modes.idle) if has_motor(row)]] = True
        self.rows = stack_rows(self.G, self.modes.W) if self.modes.constrained_rows else self.G
        self.bias = np.concatenate([bias, row_biases(compiled, self.modes.at, q, v, p)[self.modes.constrained_rows]])
        self.load = self.load + self.modes.at.W.T @ self.modes.given

    def _joint_rows(self, indices: list[int]) -> list[JointRow]:
        return [self.modes.at.rows[i] for i in indices]

    @property
    def saturated_speeds(self) -> tuple[str, ...]:
        """Speeds whose motors are at their effort limit."""
        names = self.constraints.compiled.v_names
        return tuple(name for name, full in zip(names, self._saturated, strict=True) if full)

    @property
    def stuck_coordinates(self) -> tuple[str, ...]:
        """Coordinates that dry friction keeps at rest."""
        return tuple(dict.fromkeys(self.modes.coordinate_names(self.modes.stuck)))

    @property
    def speed_limited_coordinates(self) -> tuple[str, ...]:
        """Coordinates whose motors keep them at their speed limit."""
        return self.modes.coordinate_names(self.modes.limited)

    @property
    def overrun_coordinates(self) -> tuple[str, ...]:
        """Coordinates that loads drive at or above their motor's speed limit, so that the motor delivers no force."""
        return self.modes.coordinate_names(self.modes.idle)

    @property
    def free_motions(self) -> Array:
        """(nv, k) speeds that constraints and held rows admit."""
        import scipy.linalg

        N = self.constraints.free_motions(self.q)
        if not self.modes.constrained_rows or not N.shape[1]:
            return N
        return np.asarray(N @ scipy.linalg.null_space(self.modes.W @ N, rcond=RANK_TOLERANCE))

    def particular_solution(self, B: Array, independent: list[int]) -> Callable[[Array], Array]:
        """Return the function target → x (nv,) that moves the held rows by the target, with x = 0 in the independent
        coordinates."""
        solve = least_squares_solver(self.rows)

        def solved(target: Array) -> Array:
            x = solve(target)
            return np.asarray(x - B @ x[independent])

        return solved

    def motion(self, B: Array, independent: list[int]) -> tuple[Array, Array, Array]:
        """Accelerations a = B ü + c, multipliers, and (rows,) forces along the joint rows; tree bodies may lack mass as
        long as Bᵀ M B is nonsingular."""
        compiled, p = self.constraints.compiled, self.constraints.p
        mass = compiled.mass_matrix(self.q, p)
        c = self.particular_solution(B, independent)(-self.bias)
        M = B.T @ mass @ B
        if len(M) and np.linalg.eigvalsh(M)[0] <= 1e-12 * np.max(np.diag(M)):
            raise singularity_error(compiled, self.q, p)
        a = np.asarray(B @ np.linalg.solve(M, B.T @ (self.load - mass @ c)) + c)
        found = solve_least_squares(self.rows.T, mass @ a - self.load)
        carried = self.modes.given.copy()
        carried[self.modes.constrained_rows] += found[self.constraints.rows :]
        return a, found[: self.constraints.rows], carried

    def extend_derivatives(self, slopes: EquationDerivatives, a: Array, row_forces: Array) -> EquationDerivatives:
        """Derivatives of the equations, extended by those of the joint rows. row_forces : (rows,) forces along the
        joint rows"""
        stops, turning = self.modes.stops, row_derivatives(self.constraints, self.modes, self.q, self.v, a, row_forces)
        still = np.zeros((len(self.modes.constrained_rows), slopes.f_p.shape[1]))
        springs, dampers = (stops.rows.T @ (each[:, None] * stops.rows) for each in (stops.stiffness, stops.damping))
        return slopes._replace(
            f_q=slopes.f_q + springs - turning.force,
            f_v=slopes.f_v + dampers,
            g_q=np.concatenate([slopes.g_q, turning.acceleration]),
            g_v=np.concatenate([slopes.g_v, turning.by_speed]),
            Gv_q=np.concatenate([slopes.Gv_q, turning.speed]),
            **{name: np.concatenate([getattr(slopes, name), still]) for name in ("g_p", "Gv_p", "s_p")},
        )
