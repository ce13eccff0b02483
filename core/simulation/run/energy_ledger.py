"""Energy balance of a machine, J since the beginning of the run.

energy.friction : lost by dry friction in joints; energy.stops: lost in their stops, impacts too
energy.in_stops : stored in stops now, a part of energy.potential
energy.dampers : lost in dampers and force elements (negative where these bring energy)
energy.motors : work of joint forces; energy.drivers: of drivers
energy.balance : energy.total + friction + stops + dampers - motors - drivers, which stays what it was

Friction, stops and motors are integrated with the run where joints have modes; the rest is integrated between its
samples, whatever the time between them (`core.simulation.run.work_between_samples`). Samples too far apart for that
show as a balance that changes, which is a note of the run once the balance was asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.simulation.run.mode_columns import FRICTION_LOSS, STOP_WORK, STORED
from core.simulation.run.work_between_samples import work

Array = NDArray[np.float64]

LEDGER = (
    *("energy.friction", "energy.stops", "energy.in_stops", "energy.dampers"),
    *("energy.motors", "energy.drivers", "energy.balance"),
)
BALANCE = "energy.balance"
BALANCED_SHARE = 1e-4
"""Part of the largest of these energies by which the balance may change without a note."""


def needs_whole_run(text: str) -> bool:
    """Return True if a channel or formula contains sums since the beginning of the run, so that it needs the whole
    run."""
    return any(name in text for name in LEDGER)


def energy_account(channels: Any, channel: str) -> Array:
    """Return one of the energies of `LEDGER`, (n,)."""
    modes = channels.modes
    match channel.partition(".")[2]:
        case "friction":
            return modes.total(FRICTION_LOSS)
        case "stops":
            return modes.total(STOP_WORK) - modes.total(STORED)
        case "in_stops":
            return modes.total(STORED)
        case "dampers":
            return work(channels, _dissipated_power)
        case "motors":
            kept = modes.motor_work
            return work(channels, _joint_force_power) if kept is None else kept
        case "drivers":
            return (
                work(channels, _driver_power) if channels.mech.model.expanded.drivers else 0.0 * channels.samples.time
            )
        case _:
            plus, minus = ("total", "friction", "stops", "dampers"), ("motors", "drivers")
            left = sum((channels[f"energy.{name}"] for name in plus), np.zeros(len(channels.samples.time)))
            return np.asarray(left - sum(channels[f"energy.{name}"] for name in minus))


def balance_note(channels: Any, balance: Array) -> str:
    """Return a note on a balance that varies because work is integrated between samples; '' if there is none."""
    between = [channels[f"energy.{name}"] for name in ("dampers", "drivers")]
    if channels.modes.motor_work is None:
        between.append(channels["energy.motors"])
    worked = max((float(np.max(np.abs(each), initial=0.0)) for each in between), default=0.0)
    total = channels["energy.total"]
    change = float(np.ptp(balance)) if len(balance) else 0.0
    if not worked > 0.0 or not change > BALANCED_SHARE * max(worked, float(np.ptp(total))):
        return ""
    apart = float(np.max(np.diff(channels.samples.time), initial=0.0))
    return (
        f"energy.balance changes by {change:.2g} J: work of dampers, forces, drivers and motors is integrated between"
        f" samples, which are {apart:.2g} s apart. A shorter output step brings it nearer to constant."
    )


def _dissipated_power(channels: Any) -> Array:
    """Return the power (n,), W, dissipated or absorbed by dampers and force elements."""
    s, states = channels.samples, channels.elements.states
    power = channels.mech.compiled.call("lost_power", s.q, s.v, p=channels.p, t=s.time, x=states["x"])
    return np.reshape(power, len(s.time))


def _joint_force_power(channels: Any) -> Array:
    """Return the power (n,), W, of joint forces."""
    return np.asarray(np.sum(channels.samples.tau * channels.samples.v, axis=1))


def _driver_power(channels: Any) -> Array:
    """Return the power (n,), W, of drivers."""
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
