"""Turns a recorded trace into a run of a machine, which can be played, plotted and saved like any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.constraints.consistent_motion import nearest_accelerations, nearest_speeds
from core.constraints.force_ranges import compute_joint_forces
from core.errors import AssemblyError, FileError, suggest_names
from core.mechanics.elements.recorded_signals import ANGLES, LENGTHS, TIMES, column_scale, strip_unit
from core.simulation.methods.method import RECORDED
from core.simulation.run.run import Run, Statistics
from core.simulation.run.settings import Array, Settings

if TYPE_CHECKING:
    from core.mechanism import Mechanism

TIME = ("t", "time")


RECORDED_TOLERANCE = 1e-2
"""Largest distance (rad, m) of recorded coordinates from a closed position, to allow for measuring errors."""
UNWILLING = 1e3
"""Weight of recorded coordinates relative to others when loops are closed: recorded coordinates are changed least."""


def build_recorded_run(
    mech: Mechanism,
    p: Mapping[str, float],
    names: Sequence[str],
    numbers: Array,
    aliases: Mapping[str, str],
    title: str,
) -> Run:
    """Return the run whose coordinates follow the columns of a trace; all others stay at rest or follow from the
    constraints.

    names, numbers : column names, with units where they are not of SI ("q1 [deg]", "q1_deg", "t_ms"), (n, columns)
    aliases : column name → coordinate, beside the coordinates' own names and `joint.q`
    Speeds and accelerations are those of cubic splines through the columns, of others those that follow.
    Raises FileError when no column is a coordinate, or the time does not grow.
    """
    known = {**{f"{name}.q": name for name in mech.q_names}, **{name: name for name in mech.q_names}, **aliases}
    plain = [strip_unit(name, known) for name in names]
    at = next((k for k, name in enumerate(plain) if name.lower() in TIME), 0)
    time = _read_times(numbers[:, at], names[at], title)
    places = {k: known[name] for k, name in enumerate(plain) if k != at and name in known}
    if not places:
        raise FileError(
            "No column of the recorded trace is a coordinate of the machine.",
            file=title,
            remedy=suggest_names(next((n for n in names if n != names[at]), ""), list(known)),
        )
    numbers = _convert_to_si(
        mech, numbers, {k: name for k, name in places.items() if names[k] != plain[k]}, names, title
    )
    q = np.tile(mech.rest(dict(p)), (len(time), 1))
    for column, name in places.items():
        q[:, mech.q_names.index(name)] = numbers[:, column]
    if mech.constrained:
        for k in range(len(q)):
            values = {name: numbers[k, c] for c, name in places.items()}
            q[k] = _close_position(mech, q[max(k - 1, 0)], values, dict(p), float(time[k]))
            far = np.abs(q[k, [mech.q_names.index(name) for name in places.values()]] - numbers[k, list(places)])
            if np.max(far) > RECORDED_TOLERANCE:
                raise FileError(
                    f"At {time[k]:.6g} s the recorded coordinates violate the loop closure by "
                    f"{np.max(far):.3g} (rad or m).",
                    file=title,
                    where=f"column '{names[list(places)[int(np.argmax(far))]]}'",
                    remedy="Use the machine and the parameter values with which the trace was recorded.",
                )
    v, a = _compute_spline_rates(mech, time, q)
    if mech.constrained:
        recorded = [name for name in places.values() if name in mech.v_names]
        v, a = _consistent_motion(mech, p, time, q, v, a, recorded)
    tau = compute_joint_forces(mech.compiled, q, v, a, None, dict(p), True, time)
    settings = Settings(
        method=RECORDED.id,
        duration=float(time[-1] - time[0]),
        step=None,
        rtol=0.0,
        atol=0.0,
        output=float(np.min(np.diff(time))),
        start=float(time[0]),
        parameters=dict(p),
        torque=title,
        max_steps=0,
    )
    return Run(mech, settings, time, q, v, a, np.asarray(tau), Statistics())


def _read_times(column: Array, name: str, title: str) -> Array:
    """Return the times (s) of a column. Raises FileError where they do not increase."""
    time = column * column_scale(name, TIMES, title)
    if len(time) < 2 or not np.all(np.diff(time) > 0.0):
        raise FileError(
            "The times of the recorded trace do not increase.",
            file=title,
            where=f"column '{name}'",
            remedy="Give at least two rows, sorted by time.",
        )
    return np.asarray(time)


def _convert_to_si(
    mech: Mechanism, numbers: Array, column_coordinates: Mapping[int, str], names: Sequence[str], title: str
) -> Array:
    """Convert the columns of coordinates that name a unit to SI. column_coordinates : column → coordinate"""
    measured = {"angle": ANGLES, "length": LENGTHS}
    kinds = {coordinate.name: measured.get(coordinate.dimension, ()) for coordinate in mech.coordinates}
    numbers = numbers.copy()
    for column, name in column_coordinates.items():
        numbers[:, column] *= column_scale(names[column], kinds[name], title)
    return numbers


def _close_position(
    mech: Mechanism, previous_position: Array, recorded: Mapping[str, float], p: Mapping[str, float], t: float
) -> Array:
    """Return the closed position with the recorded coordinates, or the one nearest to them."""
    try:
        return mech.move(previous_position, recorded, p, t=t, exact=True)
    except AssemblyError:
        q = previous_position.copy()
        q[[mech.q_names.index(name) for name in recorded]] = list(recorded.values())
        joints = {c.joint for c in mech.coordinates if c.name in recorded}
        return np.asarray(mech.assemble(q, p=p, t=t, weights=dict.fromkeys(joints, UNWILLING)))


def _compute_spline_rates(mech: Mechanism, time: Array, q: Array) -> tuple[Array, Array]:
    """Return speeds and accelerations (n, nv) of cubic splines through positions (n, nq)."""
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(time, q)
    if mech.nq == mech.nv:
        return spline(time, 1), spline(time, 2)
    rates = [mech.rate(np.tile(pose, (mech.nv, 1)), np.eye(mech.nv)) for pose in q]
    v = np.array([np.linalg.lstsq(N.T, rate, rcond=None)[0] for N, rate in zip(rates, spline(time, 1), strict=True)])
    return v, CubicSpline(time, v)(time, 1)


def _consistent_motion(
    mech: Mechanism, p: Mapping[str, float], time: Array, q: Array, v: Array, a: Array, recorded: Sequence[str]
) -> tuple[Array, Array]:
    """Return consistent speeds and accelerations (n, nv): recorded speeds are kept and others follow; where dependent
    recorded speeds disagree, the nearest consistent ones are taken."""
    at = [mech.v_names.index(name) for name in recorded]
    for k, t in enumerate(map(float, time)):
        moving, speeding = (dict(zip(recorded, map(float, x[k, at]), strict=True)) for x in (v, a))
        try:
            v[k] = mech.speeds(q[k], moving, p=dict(p), t=t)
            a[k] = mech.accelerations(q[k], v[k], speeding, p=dict(p), t=t)
        except AssemblyError:
            v[k] = nearest_speeds(mech.compiled, q[k], v[k], np.ones(mech.nv), dict(p), t)
            a[k] = nearest_accelerations(mech.compiled, q[k], v[k], a[k], dict(p), t)
    return v, a
