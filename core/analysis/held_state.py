"""Everything that holds a machine at one state: constraints, joints' contact states (sticking, sliding, pressed against
a stop, at the motor's speed limit), and the rows they add to its equations.

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

from core.constraints.bearing_friction import refuse
from core.constraints.elastic_stops import PressedStops, compressed_stops, pressed
from core.constraints.joint_modes import NOWHERE, JointModes, JointRow, joint_modes
from core.constraints.joint_rows import AT_REST_SPEED, JointRows, row_biases_at, rows_at
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.motor_limits import given, has_motor, saturated, withheld_force
from core.constraints.named_values import unknown_name_error
from core.errors import ModelError
from core.mechanism import Mechanism
from core.numerics.bounded_forces import resolved
from core.numerics.matrix_forms import stacked
from core.numerics.rank import least, solver
from core.numerics.tolerances import RANK_TOLERANCE
from core.programs.derivatives import Equations
from core.programs.not_finite import singular

Array = NDArray[np.float64]


JUST_MORE = 1e-10
"""Relative increase of friction bounds, so that poses found at the limit of friction count as held."""
STEP = 1e-6
"""Displacement (rad or machine sizes) of finite differences for the rotation of rows."""


class PoseModes(NamedTuple):
    """Contact states of all joint rows at a state.

    at : the rows; stuck : indices of those that stick; limited : of those whose motors keep their limit of speed;
    sliding : row → sign of the speed that it has or gets; stops : those that press; given : (rows,) forces that follow
    from the state, N·m or N along growth, beside those of the traces: of stops, of friction that begins to slide, and
    of what motors withhold; idle : rows whose motors give nothing, as loads are faster than they may drive
    """

    modes: JointModes
    at: JointRows
    stuck: list[int]
    sliding: dict[int, int]
    stops: PressedStops
    given: Array
    limited: list[int]
    idle: list[int]

    @property
    def kept(self) -> list[int]:
        """Rows whose accelerations are constrained to zero."""
        return [*self.stuck, *self.limited]

    @property
    def W(self) -> Array:
        """(held, nv) directions of the held rows."""
        return self.at.W[self.kept]

    def names(self, which: list[int]) -> tuple[str, ...]:
        """Coordinate names of rows."""
        return tuple(self.at.rows[i].name for i in which)


def contact_states_at(
    constraints: PositionConstraints,
    state: tuple[Array, Array, Array],
    load: Array,
    drift: Array,
    friction: bool,
    asked: Array | None = None,
) -> PoseModes:
    """Contact states at a closed state q, v, x. load : (nv,) τ − h; drift : (nv,) accelerations that the constraints
    require; friction : False if no joint may stick; asked : (nv,) motor commands, subject to speed limits; None if τ
    acts on the joints directly"""
    compiled, p, (q, v, x) = constraints.compiled, constraints.p, state
    modes = joint_modes(compiled, p)
    refuse(modes, "Linearisation")
    at, N = rows_at(compiled, modes, q, p, constraints.t, v, x), constraints.motions(q)
    rates, met = at.W @ v, compressed_stops(at)
    stops = pressed(compiled, modes, at, met, N, q, p)
    given = np.zeros(len(at.rows))
    for (i, _), push in zip(met, stops.pushes(v), strict=True):
        given[i] += push
    rubbing, speeds = np.flatnonzero(at.rubs), at.sizes(rates)
    resting = [int(i) for i in rubbing if speeds[i] < AT_REST_SPEED]
    sliding = {int(i): int(np.sign(rates[i])) for i in rubbing if i not in resting}
    limits, idle = _at_speed_limits(at, rates, asked, given)
    held = [*(resting if friction else ()), *limits]
    if not held:
        return PoseModes(modes, at, [], sliding, stops, given, [], idle)
    M = N.T @ compiled.mass_matrix(q, p) @ N
    carried = compiled.mass_matrix(q, p) @ drift
    own = row_biases_at(compiled, at, q, v, p)[held] + at.W[held] @ drift
    bounds = _held_force_bounds(at.chosen(held), [limits.get(i) for i in held])
    broken = _broken_loose_rows(at.chosen(held), M, N, N.T @ (load + at.W.T @ given - carried), own, bounds)
    for k, (sign, force) in broken.items():
        given[held[k]] += force
        if held[k] not in limits:
            sliding[held[k]] = sign
        elif force != 0.0:
            idle.append(held[k])
    left = [i for k, i in enumerate(held) if k not in broken]
    stuck, limited = [i for i in left if i not in limits], [i for i in left if i in limits]
    return PoseModes(modes, at, stuck, sliding, stops, given, limited, idle)


def _at_speed_limits(
    at: JointRows, rates: Array, asked: Array | None, given: Array
) -> tuple[dict[int, tuple[float, float]], list[int]]:
    """Bounds of the withheld force for each row whose motor may hold its speed limit, and rows whose motors give
    nothing; for these, `given` is updated."""
    limits, idle = dict[int, tuple[float, float]](), list[int]()
    if asked is None:
        return limits, idle
    for i, row in enumerate(at.rows):
        keeps, low, high = withheld_force(row, float(rates[i]), float(asked[row.at_v]) if row.at_v != NOWHERE else 0.0)
        if keeps:
            limits[i] = low, high
        elif low != 0.0:
            given[i] += low
            idle.append(i)
    return limits, idle


class _HeldForceBounds(NamedTuple):
    """(n, 2) smallest and largest forces of rows that may be held, at rest and while they slide."""

    rest: tuple[Array, Array]
    sliding: tuple[Array, Array]


def _held_force_bounds(held: JointRows, limits: list[tuple[float, float] | None]) -> _HeldForceBounds:
    """Force bounds of held rows. limits : for a row at a speed limit, the bounds of the force its motor may withhold;
    None if friction holds the row"""
    rest, sliding = ([each.copy() for each in both] for both in (held.static_bounds, held.sliding_bounds))
    for k, own in enumerate(limits):
        if own is None:
            for bound in rest:
                bound[k] *= 1.0 + JUST_MORE
        else:
            for low, high in (rest, sliding):
                low[k], high[k] = own
    return _HeldForceBounds((rest[0], rest[1]), (sliding[0], sliding[1]))


def _broken_loose_rows(
    held: JointRows, M: Array, N: Array, load: Array, biases: Array, bounds: _HeldForceBounds
) -> dict[int, tuple[int, float]]:
    """Rows (indices in `held`) that break loose → sign of the resulting speed, and the force along the row."""
    if not len(M):
        return {}
    sizes, axes = np.linalg.eigh(M)
    light = sizes > 1e-12 * max(float(np.max(np.abs(sizes))), 1e-300)
    root = axes[:, light] / np.sqrt(sizes[light])
    W = held.W @ N @ root
    c = W @ (root.T @ load) + biases
    found, broken = resolved(W @ W.T, c, bounds.rest, bounds.sliding, held.shares)
    slides = np.flatnonzero(broken & (found.side != 0.0))
    return {int(i): (int(np.sign(found.rates[i])), float(found.forces[i])) for i in slides}


class RowSlopes(NamedTuple):
    """Derivatives, along displacements, of rows that carry forces, (nv, nv), and of held rows, (held, nv): force : of
    Wᵀ λ; speed : of W v; acceleration, by_speed : of W a + Ẇ v, and of that by speeds"""

    force: Array
    speed: Array
    acceleration: Array
    by_speed: Array


def row_slopes(
    constraints: PositionConstraints, found: PoseModes, q: Array, v: Array, a: Array, forces: Array
) -> RowSlopes:
    """Derivatives of the row directions with respect to the pose, by finite differences; zero for tree joints. forces :
    (rows,) along the rows"""
    compiled, nv, held = constraints.compiled, constraints.compiled.nv, found.kept
    result = RowSlopes(np.zeros((nv, nv)), *(np.zeros((len(held), nv)) for _ in range(3)))
    if found.modes.own == len(found.modes.rows):
        return result

    def at(pose: Array, speeds: Array) -> tuple[Array, Array, Array]:
        rows = rows_at(compiled, found.modes, pose, constraints.p, constraints.t)
        bias = row_biases_at(compiled, rows, pose, speeds, constraints.p)
        return rows.W.T @ forces, rows.W[held] @ v, rows.W[held] @ a + bias[held]

    for j in range(nv):
        step = STEP * constraints.units[j]
        displacement = np.zeros(nv)
        displacement[j] = step
        ahead, behind = at(constraints.moved(q, displacement), v), at(constraints.moved(q, -displacement), v)
        for derivative, high, low in zip(result[:3], ahead, behind, strict=True):
            derivative[:, j] = (high - low) / (2.0 * step)
        if held and v.any():
            ahead, behind = at(q, v + displacement), at(q, v - displacement)
            result.by_speed[:, j] = (ahead[2] - behind[2]) / (2.0 * step)
    return result


def well_conditioned_speeds(constraints: PositionConstraints, N: Array) -> list[int]:
    """Indices of speeds that determine the others well, earlier joints preferred."""
    import scipy.linalg

    preference = (1.0 + 1.0 / (1.0 + np.arange(len(N)))) / constraints.units
    _, _, pivots = scipy.linalg.qr(N.T * preference, mode="economic", pivoting=True)
    return sorted(int(i) for i in pivots[: N.shape[1]])


def speeds_named(mech: Mechanism, names: Sequence[str], N: Array) -> list[int]:
    """Indices of the named speeds. Raises ModelError if they do not determine the others."""
    for name in names:
        if name not in mech.v_names:
            raise unknown_name_error(mech.compiled, "v", name)
    chosen = [mech.v_names.index(name) for name in names]
    if len(chosen) != N.shape[1] or np.linalg.matrix_rank(N[chosen], tol=1e-7) < len(chosen):
        raise ModelError(
            f"{', '.join(names)} do not determine the motion: {N.shape[1]} independent ones are needed.",
            remedy="Name other coordinates, or none to have them chosen automatically.",
        )
    return chosen


class HeldState:
    """A state of a machine with its constraints and the joint rows that are held there.

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
        self.tau = given(compiled, tau, p) if motors else tau
        self.silent = saturated(compiled, tau, p) if motors else np.zeros(compiled.nv, dtype=bool)
        self._saturated = self.silent.copy()
        self.G = constraints.jacobian(q) if constraints.rows else np.zeros((0, compiled.nv))
        bias = compiled.call("constraint_bias", q, v, p=p, t=t)[constraints.kept] if constraints.rows else np.zeros(0)
        self.load = self.tau - compiled.call("bias", q, v, p=p, t=t, x=x)
        asked = self.tau if motors else None
        self.modes = contact_states_at(constraints, (q, v, x), self.load, solver(self.G)(-bias), friction, asked)
        self.silent[[row.at_v for row in self._joint_rows(self.modes.idle) if has_motor(row)]] = True
        self.rows = stacked(self.G, self.modes.W) if self.modes.kept else self.G
        self.bias = np.concatenate([bias, row_biases_at(compiled, self.modes.at, q, v, p)[self.modes.kept]])
        self.load = self.load + self.modes.at.W.T @ self.modes.given

    def _joint_rows(self, which: list[int]) -> list[JointRow]:
        return [self.modes.at.rows[i] for i in which]

    @property
    def saturated(self) -> tuple[str, ...]:
        """Speeds whose motors are at their effort limit."""
        names = self.constraints.compiled.v_names
        return tuple(name for name, full in zip(names, self._saturated, strict=True) if full)

    @property
    def stuck(self) -> tuple[str, ...]:
        """Coordinates that dry friction holds at rest."""
        return tuple(dict.fromkeys(self.modes.names(self.modes.stuck)))

    @property
    def limited(self) -> tuple[str, ...]:
        """Coordinates whose motors hold them at their speed limit."""
        return self.modes.names(self.modes.limited)

    @property
    def overrun(self) -> tuple[str, ...]:
        """Coordinates that loads drive at or above their motor's speed limit, so that the motor gives nothing."""
        return self.modes.names(self.modes.idle)

    @property
    def motions(self) -> Array:
        """(nv, k) speeds that remain free."""
        import scipy.linalg

        N = self.constraints.motions(self.q)
        if not self.modes.kept or not N.shape[1]:
            return N
        return np.asarray(N @ scipy.linalg.null_space(self.modes.W @ N, rcond=RANK_TOLERANCE))

    def particular(self, B: Array, chosen: list[int]) -> Callable[[Array], Array]:
        """Function target → x (nv,) that moves the held rows by the target, with x = 0 in the independent
        coordinates."""
        solve = solver(self.rows)

        def solved(target: Array) -> Array:
            x = solve(target)
            return np.asarray(x - B @ x[chosen])

        return solved

    def motion(self, B: Array, chosen: list[int]) -> tuple[Array, Array, Array]:
        """Accelerations a = B ü + c, multipliers, and (rows,) forces along the joint rows; tree bodies may lack mass as
        long as Bᵀ M B is nonsingular."""
        compiled, p = self.constraints.compiled, self.constraints.p
        mass = compiled.mass_matrix(self.q, p)
        c = self.particular(B, chosen)(-self.bias)
        M = B.T @ mass @ B
        if len(M) and np.linalg.eigvalsh(M)[0] <= 1e-12 * np.max(np.diag(M)):
            raise singular(compiled, self.q, p)
        a = np.asarray(B @ np.linalg.solve(M, B.T @ (self.load - mass @ c)) + c)
        found = least(self.rows.T, mass @ a - self.load)
        carried = self.modes.given.copy()
        carried[self.modes.kept] += found[self.constraints.rows :]
        return a, found[: self.constraints.rows], carried

    def slopes(self, slopes: Equations, a: Array, carried: Array) -> Equations:
        """Derivatives extended by those of the joint rows, which carry these forces (rows,)."""
        stops, turning = self.modes.stops, row_slopes(self.constraints, self.modes, self.q, self.v, a, carried)
        still = np.zeros((len(self.modes.kept), slopes.f_p.shape[1]))
        springs, dampers = (stops.rows.T @ (each[:, None] * stops.rows) for each in (stops.stiffness, stops.damping))
        return slopes._replace(
            f_q=slopes.f_q + springs - turning.force,
            f_v=slopes.f_v + dampers,
            g_q=np.concatenate([slopes.g_q, turning.acceleration]),
            g_v=np.concatenate([slopes.g_v, turning.by_speed]),
            Gv_q=np.concatenate([slopes.Gv_q, turning.speed]),
            **{name: np.concatenate([getattr(slopes, name), still]) for name in ("g_p", "Gv_p", "s_p")},
        )
