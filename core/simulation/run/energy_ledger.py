"""Where the energy of a machine goes, J since the run began.

energy.friction : lost by dry friction in joints; energy.stops: lost in their stops, impacts too
energy.in_stops : stored in stops now, a part of energy.potential
energy.dampers : lost in dampers and force elements (negative where these bring energy)
energy.motors : work of joint forces; energy.drivers: of drivers
energy.balance : energy.total + friction + stops + dampers - motors - drivers, which stays what it was

Friction, stops and motors are integrated with the run where joints have modes; the rest is integrated over its samples,
from one jump to the next.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.simulation.run.mode_columns import FRICTION_LOSS, STOP_WORK, STORED

Array = NDArray[np.float64]

LEDGER = (
    *("energy.friction", "energy.stops", "energy.in_stops", "energy.dampers"),
    *("energy.motors", "energy.drivers", "energy.balance"),
)


def sums_up(text: str) -> bool:
    """Whether a channel, or a formula of channels, has sums since the run began, so that no part of it tells it."""
    return any(name in text for name in LEDGER)


def account(channels: Any, channel: str) -> Array:
    """(n,) one of `LEDGER`."""
    modes = channels.modes
    match channel.partition(".")[2]:
        case "friction":
            return modes.total(FRICTION_LOSS)
        case "stops":
            return modes.total(STOP_WORK) - modes.total(STORED)
        case "in_stops":
            return modes.total(STORED)
        case "dampers":
            return _damped(channels)
        case "motors":
            s, work = channels.samples, modes.motor_work
            return integrated(s.time, np.sum(s.tau * s.v, axis=1)) if work is None else work
        case "drivers":
            return integrated(channels.samples.time, _driving(channels))
        case _:
            plus, minus = ("total", "friction", "stops", "dampers"), ("motors", "drivers")
            kept = sum((channels[f"energy.{name}"] for name in plus), np.zeros(len(channels.samples.time)))
            return np.asarray(kept - sum(channels[f"energy.{name}"] for name in minus))


GAUSS = tuple(zip(0.5 + 0.5 * np.array([-(0.6**0.5), 0.0, 0.6**0.5]), np.array([5.0, 8.0, 5.0]) / 18.0, strict=True))
"""Parts of a step, and their weights."""


def _damped(channels: Any) -> Array:
    """(n,) J that dampers and force elements took: their power at three points between any two samples, where positions
    and speeds are cubic in time."""
    s, mech = channels.samples, channels.mech
    h, energy = np.diff(s.time), np.zeros(len(s.time))
    if not len(h):
        return energy
    rates, kept = np.asarray(mech.rate(s.q, s.v)), channels.elements.states["x"]
    changes = None if kept is None or not mech.nx else mech.x_rate(s.q, s.v, kept, p=channels.p, t=s.time)
    for x, weight in GAUSS:
        q, v = _between(s.q, rates, h, x), _between(s.v, s.a, h, x)
        states = None if changes is None else _between(kept, changes, h, x)
        power = mech.compiled.call("lost_power", q, v, p=channels.p, t=s.time[:-1] + x * h, x=states)
        energy[1:] += weight * h * np.reshape(power, len(h))
    return np.cumsum(energy)


def _between(y: Array, rate: Array, h: Array, x: float) -> Array:
    """(n - 1, m) cubic in time, at a part of each step."""
    growth, begin, end = y[1:] - y[:-1], rate[:-1], rate[1:]
    turn = x * (1.0 - x) * h[:, None] * ((1.0 - x) * begin - x * end)
    return np.asarray(y[:-1] + x * x * (3.0 - 2.0 * x) * growth + turn)


def _driving(channels: Any) -> Array:
    """(n,) W of drivers."""
    count, model = len(channels.samples.time), channels.mech.model.expanded
    power = np.zeros(count)
    for driver in model.drivers:
        force = channels[f"{driver.name}.force"].reshape(count, -1)
        rate = channels[f"{driver.joint}.v" if driver.joint else f"{driver.sensor}.rate"].reshape(count, -1)
        if driver.joint:
            joint, where = model.find("joints", driver.joint), f"driver '{driver.name}'"
            at = channels.mech.compiled.elements.coordinate_index(joint, driver.coordinate, where)
            rate = rate[:, at : at + 1]
        power = power + np.sum(force * rate, axis=1)
    return power


def integrated(time: Array, power: Array) -> Array:
    """(n,) J: the integral from the first sample, by cubic splines between jumps (samples of the same time)."""
    from scipy.interpolate import CubicSpline

    jumps = np.flatnonzero(np.diff(time) <= 0.0) + 1
    energy, before = np.zeros(len(time)), 0.0
    for part in np.split(np.arange(len(time)), jumps):
        t, p = time[part], power[part]
        if len(part) > 3:
            energy[part] = CubicSpline(t, p).antiderivative()(t)
        else:
            energy[part] = np.concatenate([[0.0], np.cumsum(0.5 * (p[1:] + p[:-1]) * np.diff(t))])
        energy[part] += before
        before = energy[part[-1]]
    return energy
