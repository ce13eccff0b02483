"""Interpolates positions between samples of a run along the shortest path, with loops, constraints and drivers
satisfied.

The path between two samples is straight in the coordinates, so that loops gape on it, the more the further samples lie
apart. From the nearer sample the independent coordinates go to their interpolated values in steps so short that no
branch is mistaken, and what holds is fulfilled after each. Whole turns make no difference to the pose: they are left
out on the path and given back at its end.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.errors import KinetostatError
from core.mechanism import Mechanism
from core.numerics.tolerances import OPEN_GAP
from core.simulation.run.settings import Array

if TYPE_CHECKING:
    from core.simulation.run.run import Run


Places = NDArray[np.intp]
"""Indices of samples."""
LONGEST_STEP = 0.25
"""Largest change of a coordinate (rad or m) between two loop closures."""
MOST_STEPS = 100
"""Largest number of loop closures for one position, so that drawing does not have to wait."""


def interpolate_positions(run: Run, times: Array) -> tuple[Array, Places, Places, Array]:
    """Return positions (m, nq) at times (m,), s, inside the run, with the samples (m,) before and after and the
    fraction (m,) of the path between them."""
    count = len(run.time)
    if count < 2:
        none = np.zeros(len(times), dtype=np.intp)
        return run.q[none], none, none, np.zeros(len(times))
    first = np.clip(np.searchsorted(run.time, times, side="right") - 1, 0, count - 2)
    last = first + 1
    part = np.clip((times - run.time[first]) / (run.time[last] - run.time[first]), 0.0, 1.0)
    mech = run.mech
    displacement = np.reshape(mech.difference(run.q[first], run.q[last]), (len(times), mech.nv))
    q = np.reshape(mech.integrate(run.q[first], displacement, part), (len(times), mech.nq))
    if mech.constrained:
        _close_positions(run, q, np.where(part < 0.5, first, last), (part > 0.0) & (part < 1.0), times)
    return q, first, last, part


def _close_positions(run: Run, q: Array, nearest_samples: Places, inside: NDArray[np.bool_], times: Array) -> None:
    """Close the loops of positions (m, nq) that have gaps; where that fails, use the nearer sample."""
    mech, p = run.mech, run.settings.parameters or None
    for k in np.flatnonzero(inside):
        t, sample = float(times[k]), nearest_samples[k]
        if _largest_gap(mech, q[k], p, t) > OPEN_GAP:
            start, began = run.q[sample], float(run.time[sample])
            try:
                q[k] = _follow_position(mech, start, began, q[k], t, p)
            except KinetostatError:
                q[k] = start


def _follow_position(
    mech: Mechanism, start: Array, start_time: float, goal: Array, t: float, p: dict[str, float] | None
) -> Array:
    """Return the closed position (nq,) at time t with the independent coordinates of the goal, on the branch of the
    start at time `start_time`. Raises AssemblyError; returns the start if the path is too long to follow."""
    whole = _whole_turns(mech, goal - start)
    if _largest_gap(mech, start + whole, p, start_time) > OPEN_GAP:  # gears and drivers count turns
        whole = np.zeros(mech.nq)
    displacement = np.asarray(mech.difference(start, goal - whole))
    from core.constraints.closed_forms.closed_forms import get_analytic_closure

    forms = get_analytic_closure(mech.compiled.program)
    if forms.has_solutions and not forms.rows_left_to_iteration:
        displacement = np.where(forms.dependent_speeds_mask, 0.0, displacement)
    steps = max(math.ceil(float(np.max(np.abs(displacement), initial=0.0)) / LONGEST_STEP), 1)
    if steps > MOST_STEPS:
        return start
    q = start
    for k in range(1, steps + 1):
        q = _close_position(
            mech, np.asarray(mech.integrate(q, displacement / steps)), p, start_time + (t - start_time) * k / steps
        )
    counted = q + _whole_turns(mech, goal - q)
    return counted if _largest_gap(mech, counted, p, t) < OPEN_GAP else q + whole


def _close_position(mech: Mechanism, q: Array, p: dict[str, float] | None, t: float) -> Array:
    """Return the closed position (nq,) nearest to q. Raises AssemblyError."""
    from core.constraints.closed_forms.closed_forms import close_analytically

    explicit = close_analytically(mech.compiled, q, np.zeros(mech.nv, dtype=bool), p)
    return explicit if explicit is not None else np.asarray(mech.assemble(q, p=p, t=t, limits=False))


def _largest_gap(mech: Mechanism, q: Array, p: dict[str, float] | None, t: float) -> float:
    """Return the largest gap, m or rad."""
    return float(np.max(np.abs(mech.constraint_residual(q, p=p, t=t)), initial=0.0))


def _whole_turns(mech: Mechanism, displacement: Array) -> Array:
    """Return the whole turns in a displacement (nq,), rad; zero for coordinates that are not angles."""
    angles = [coordinate.dimension == "angle" for coordinate in mech.coordinates]
    return np.where(angles, 2.0 * math.pi * np.round(displacement / (2.0 * math.pi)), 0.0)
