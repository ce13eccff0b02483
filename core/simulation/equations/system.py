"""Data of the equations of motion in machine code: the mechanism's functions and their work memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core.machine_code.language import loader, merged, native
from core.machine_code.records import Fixed, FloatRows, Floats, Ints, Record
from core.numerics.tolerances import CLOSED_GAP
from core.programs.native_function import evaluate_function, load_function, put_argument, result_view

_stages: Any = np.arange(3)
POSITION, SPEED, ACCELERATION = _stages
"""Level of constraints to be satisfied; rows that act only from a higher level on do not count. NumPy integers, like
those below: Numba would compile the callers again for each literal."""
AT_Q: Any = np.int64(0)
"""Index of q among the arguments of a function; v follows."""
BEHIND_TIME: Any = np.int64(1)
"""Index of q among the arguments of joint forces, whose first argument is time."""


class Functions(Record):
    """Address of each `Function`, by its name in `core.programs.function_builder`; 0: the machine does not have it."""

    torque: Fixed = 0
    """Joint forces u(t, q, v)."""
    rate: Fixed = 0
    """Coordinate rates q̇."""
    forward_dynamics_smooth: Fixed = 0
    """Accelerations a."""
    mass_entries: Fixed = 0
    """Entries of the mass matrix M."""
    bias_smooth: Fixed = 0
    """Bias forces h."""
    constraint_residual: Fixed = 0
    constraint_entries: Fixed = 0
    """Entries of the constraint Jacobian G."""
    segment_entries: Fixed = 0
    """Entries of the rows that join segments of a deep machine (`core.mechanics.segments`)."""
    constraint_bias: Fixed = 0
    """Constraint bias Ġ v − f̈."""
    constraint_time: Fixed = 0
    """Time derivative −ḟ of the drivers."""
    reduced: Fixed = 0
    """Equations in independent speeds (`core.constraints.closed_forms.closed_forms.ReducedEquationsLayout`)."""
    states: Fixed = 0
    """Rates ẋ of force element states."""
    settle: Fixed = 0
    """Newton step that balances massless junctions."""
    slopes: Fixed = 0
    """Derivatives for the exact Jacobian, see `core.programs.derivatives`."""
    torque_slopes: Fixed = 0
    """Derivatives of u by q and v."""
    event_indicators: Fixed = 0
    """Event indicators of force elements."""
    signal_updates: Fixed = 0
    """States of sampled signals after a sample."""
    torque_event_indicators: Fixed = 0
    """Event indicators of u."""


class System(Functions):
    """Functions, constants and work memory of one machine's equations. It is stored once and passed by address, because
    passing it by value would take longer to compile than the functions that receive it."""

    derivative: Fixed
    """Address of the function (`core.simulation.equations.entry_points`) that computes ẏ."""
    full: Fixed
    """Address of the function that computes ẏ where analytic loop closure does not apply."""
    full_project: Fixed
    """Address of the function that projects where analytic loop closure does not apply."""
    nq: Fixed
    nv: Fixed
    rows: Fixed
    """Number of residuals of cut joints, constraints and drivers."""
    span: Fixed
    """Size of a work vector: enough for q, the unknowns or all active rows."""
    by_matrix: Fixed
    """1: accelerations by the mass matrix instead of the articulated-body recursion."""
    quaternions: Ints
    """(k,) index of the first entry of each quaternion in q."""
    u: Floats
    """(nv,) constant joint forces."""
    room: Floats
    """Work vectors, see `core.simulation.equations.constrained`."""
    weight: float = 0.0
    """ρ of M + ρ Gᵀ G if that replaced M; else 0."""
    largest_rank: int = 0
    """Largest rank of G encountered."""
    least_sine: float = 1.0
    """Smallest squared share of an independent row that is not spanned by earlier rows, relative to its largest norm.
    """
    factored: Floats
    """(nq,) pose at which masses and rows were last factored."""
    factored_rank: int = -1
    """Rank of the rows at that pose; −1: never factored, or no longer valid."""
    crossing: int = 0
    """1 while a pose with dependent rows is being crossed
    (`core.simulation.equations.constrained.interpolate_accelerations`)."""
    sparse: Fixed
    """Address of the factors of masses and rows (`core.simulation.equations.elimination_places.Sparse`)."""
    independent: Fixed
    """Number of independent speeds under analytic loop closure (`core.simulation.equations.reduced`); 0: not used."""
    masses: Fixed
    """Address of the factor of the reduced mass matrix, an `elimination_places.Sparse`."""
    moves: Ints
    """(independent + 1,) offsets in `moved` of the speeds that each independent speed moves."""
    moved: Ints
    """Indices of these speeds in v."""
    kept: Ints
    """Rows of G that analytic loop closure leaves to iteration."""
    nx: Fixed
    """Number of states of force elements; y = (q, v, x)."""
    levels: Ints
    """Level from which on a row acts: 0 position, 1 speed, 2 acceleration; constraint rows first, then the rows that
    join segments and copies (`core.simulation.equations.elimination_places`)."""
    now: Floats
    """(nt,) time argument (`core.mechanics.elements.time_argument`), as set by `tick`."""
    own: Floats
    """(2 nx,) x and ẋ, as set by `put_states`."""
    reduced_at: float = math.nan
    """s: time at which the reduced equations were last evaluated; NaN: never."""
    modes: Fixed
    """Number of mode variables in forces; they are the last entries of `now`."""
    points: Ints
    """(signals + 1,) offset of each recorded signal's points."""
    times: Floats
    """(points,) times of the points of recorded signals, s."""
    polynomials: FloatRows
    """(points, 6) coefficients of `core.mechanics.elements.time_argument.Splines`."""
    closings: int = 0
    """Gauss–Newton iterations that close positions and balance junctions after each step; 0: until `closed_gap` is
    reached."""
    closed_gap: float = CLOSED_GAP
    """Residual (rad, m) below which positions count as closed."""
    products: Fixed = 0
    """Address of the Cholesky data of the rows (`core.simulation.equations.row_products`); 0: rank-revealing factors
    are used."""
    dependent: int = 0
    """1 if rows were found dependent at the last Cholesky factorisation."""
    contact_rows: Fixed = 0
    """Address of the contact rows of joints (`core.simulation.equations.contact_rows`); 0: there are none."""


load_system = loader(System)


@merged
def put_states_and_time(system: int, function: int) -> None:
    """Copy x, ẋ and time into the arguments of a function that takes them."""
    s, f = load_system(system), load_function(function)
    if f.states >= 0:
        put_argument(function, f.states, s.own)
    if f.time >= 0:
        put_argument(function, f.time, s.now)


@merged
def put_all_arguments(system: int, function: int, q: Any, v: Any) -> None:
    """Copy q, v, x, ẋ and time into the arguments of a function."""
    put_argument(function, AT_Q, q)
    put_argument(function, len(q), v)
    put_states_and_time(system, function)


@native
def set_time(system: int, t: float) -> None:
    """Set the time in the time argument to t."""
    s = load_system(system)
    if len(s.now) == 0:
        return
    s.now[0] = t
    for k in range(len(s.points) - 1):
        first, last = s.points[k], s.points[k + 1] - 1
        at, h, inside = last, 0.0, 0.0
        if t < s.times[first]:
            at = first
        elif t < s.times[last]:
            inside = 1.0
            low, high = first, last
            while high - low > 1:
                middle = (low + high) // 2
                if s.times[middle] <= t:
                    low = middle
                else:
                    high = middle
            at = low
            h = t - s.times[at]
        c = s.polynomials[at]
        value, rate, bend = c[0], 0.0, 0.0
        for i in range(1, len(c)):
            bend = 2.0 * rate + h * bend
            rate = value + h * rate
            value = c[i] + h * value
        s.now[3 * k + 1], s.now[3 * k + 2], s.now[3 * k + 3] = value, inside * rate, inside * bend


@native
def put_states(system: int, q: Any, v: Any, x: Any) -> Any:
    """Compute x and ẋ into `own`; returns false if they are not finite."""
    s = load_system(system)
    if s.nx == 0:
        return True
    for i in range(s.nx):
        s.own[i] = x[i]
    put_all_arguments(system, s.states, q, v)
    evaluate_function(s.states)
    speeds, total = result_view(s.states, s.nx), 0.0
    for i in range(s.nx):
        s.own[s.nx + i] = speeds[i]
        total += speeds[i] * 0.0
    return total == 0.0


@native
def compute_rates(system: int, q: Any, v: Any, out: Any) -> None:
    """Compute q̇ into out."""
    s = load_system(system)
    x = v
    if len(s.quaternions) > 0:
        put_argument(s.rate, AT_Q, q)
        put_argument(s.rate, s.nq, v)
        evaluate_function(s.rate)
        x = result_view(s.rate, s.nq)
    for i in range(s.nq):
        out[i] = x[i]


@native
def normalise(system: int, q: Any) -> None:
    """Scale quaternions in q to unit length."""
    s = load_system(system)
    for first in s.quaternions:
        square = 0.0
        for i in range(first, first + 4):
            square += q[i] * q[i]
        if square > 0.0:
            for i in range(first, first + 4):
                q[i] /= np.sqrt(square)


@merged
def copy_array(source: Any, target: Any) -> None:
    """Copy source (n,) to target."""
    for j in range(len(target)):
        target[j] = source[j]
