"""Energy balance of a machine, J since the beginning of the run.

energy.friction : lost by dry friction in joints; energy.stops: lost in their stops, impacts too
energy.in_stops : stored in stops now, a part of energy.potential
energy.dampers : lost in dampers, contacts and force elements (negative where these bring energy)
energy.motors : work of joint forces; energy.drivers: of drivers
energy.balance : energy.total + friction + stops + dampers - motors - drivers, which stays what it was

Friction, stops and motors are integrated with the run where joints have modes, and what contacts lose is among the
states of the run; the rest is integrated between its samples, whatever the time between them. Samples too far apart for
that show as a balance that changes, which is a note of the run once the balance was asked for.

The motion between two samples is of fifth degree in time where positions, speeds and accelerations are known at both
(cubic where coordinates are quaternions), and brought to what holds there: what drivers move is then where their
functions say. Joint forces, and what rows of joints exert, are cubic splines from one jump to the next. Powers are
integrated by Gauss's rule of three points (sixth order) on parts of each step, which are halved until the work stays
what it is.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.row_forces import RowForces
from core.numerics.rank import pseudoinverse
from core.simulation.events.contact_columns import FRICTION_LOSS, STOP_WORK, STORED
from core.simulation.run.element_channels import ElementChannels

Array = NDArray[np.float64]


POINTS = 0.5 + 0.5 * np.array([-(0.6**0.5), 0.0, 0.6**0.5])
WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0
"""Nodes within a step at which power is evaluated, and their weights."""
SETTLED_FRACTION = 1e-9
"""Convergence tolerance: relative change of the work when steps are halved."""
MOST_PARTS = 8
"""Largest number of parts of a step."""
AT_ONCE = 1000
"""Number of steps processed at once: each needs a constraint matrix at each of its nodes."""
CLOSED_GAP = 1e-10
"""Largest gap (m, rad; m/s, rad/s) of a position and speeds between samples."""
CLOSINGS = 4
"""Number of Newton iterations to close a position."""


class _StepInstants(NamedTuple):
    """Times between samples: steps (k,), their lengths (k, 1), s, and the fraction (k, 1) of each step."""

    steps: NDArray[np.intp]
    h: Array
    at: Array


Power = Callable[[Any], Array]
"""Function of `core.simulation.run.channels.Channels` of states that returns a power (n,), W."""


def integrate_power(channels: Any, power: Power) -> Array:
    """Return the work (n,) of a power since the first sample, J."""
    time = channels.samples.time
    energy = np.zeros(len(time))
    steps = np.flatnonzero(np.diff(time) > 0.0)
    if not len(steps):
        return energy
    ends = _SampleValues(channels, power)
    for first in range(0, len(steps), AT_ONCE):
        chosen = steps[first : first + AT_ONCE]
        energy[chosen + 1] = _integrate_to_convergence(ends, chosen)
    return np.cumsum(energy)


def _integrate_to_convergence(ends: _SampleValues, steps: NDArray[np.intp]) -> Array:
    """Return the work (k,) in steps, J, refined until halving the parts no longer changes it."""
    parts = 1
    work = ends.integrate_steps(steps, parts)
    while parts < MOST_PARTS:
        parts *= 2
        finer = ends.integrate_steps(steps, parts)
        change = float(np.max(np.abs(finer - work), initial=0.0))
        work = finer
        if not change > SETTLED_FRACTION * float(np.sum(np.abs(work))):
            break
    return work


class _SampleValues:
    """Values at the samples, from which those between samples are interpolated."""

    def __init__(self, channels: Any, power: Power) -> None:
        self.kind, self.mech, self.p, self.power = type(channels), channels.mech, channels.p, power
        s = self.samples = channels.samples
        self.rates = np.asarray(self.mech.rate(s.q, s.v))
        self.plain = self.mech.nq == self.mech.nv
        kept = channels.elements.states["x"]
        self.x = None if kept is None or not self.mech.nx else np.asarray(kept)
        if self.x is not None:
            self.x_rates = np.asarray(self.mech.x_rate(s.q, s.v, self.x, p=self.p, t=s.time))
        self.tau = s.tau, _compute_spline_rates(s.time, s.tau)
        rows = channels.modes.row_forces()
        self.rows = None if rows is None else [(each, _compute_spline_rates(s.time, each)) for each in rows]

    def integrate_steps(self, steps: NDArray[np.intp], parts: int) -> Array:
        """Return the work (k,) in each of the steps, J, with the given number of parts."""
        points = np.concatenate([(k + POINTS) / parts for k in range(parts)])
        weights = np.tile(WEIGHTS, parts) / parts
        h = np.diff(self.samples.time)[steps]
        power = self._power_at(np.repeat(steps, len(points)), np.repeat(h, len(points)), np.tile(points, len(steps)))
        return np.asarray(h * (power.reshape(len(steps), -1) @ weights))

    def _power_at(self, steps: NDArray[np.intp], h: Array, fractions: Array) -> Array:
        """Return the power (k,), W, at a fraction of each step."""
        s = self.samples
        time = s.time[steps] + fractions * h
        place = _StepInstants(steps, h[:, None], fractions[:, None])
        q, v = self._project(*self._interpolate_motion(place), time)
        tau, x = _interpolate_cubically(*self.tau, place), s.x[:0]
        if self.x is not None:
            x = _interpolate_cubically(self.x, self.x_rates, place)
        states: Any = SimpleNamespace(time=time, q=q, v=v, a=s.a[steps], tau=tau, x=x, modes=s.modes[:0])
        rows = None if self.rows is None else RowForces(*(_interpolate_cubically(*each, place) for each in self.rows))
        found = self.kind(self.mech, self.mech.parameter_values() if self.p is None else self.p, states)
        found.elements = ElementChannels(self.mech, self.p, states, lambda: rows)
        return self.power(found)

    def _interpolate_motion(self, instants: _StepInstants) -> tuple[Array, Array]:
        s = self.samples
        if not self.plain:
            return _interpolate_cubically(s.q, self.rates, instants), _interpolate_cubically(s.v, s.a, instants)
        return _interpolate_quintically((s.q, s.v, s.a), instants)

    def _project(self, q: Array, v: Array, time: Array) -> tuple[Array, Array]:
        """Project positions and speeds onto the constraints."""
        compiled, p = self.mech.compiled, self.p
        chosen = compiled.levels == 0
        if not self.plain:
            q = np.asarray(self.mech.integrate(q, np.zeros_like(v), 0.0))
        for _ in range(CLOSINGS if chosen.any() else 0):
            gaps = np.asarray(compiled.call("constraint_residual", q, p=p, t=time))[..., chosen]
            if not float(np.max(np.abs(gaps), initial=0.0)) > CLOSED_GAP:
                break
            G = np.asarray(compiled.call("constraint_jacobian", q, p=p))[:, chosen]
            q = np.asarray(self.mech.integrate(q, -np.einsum("nij,nj->ni", pseudoinverse(G), gaps), 1.0))
        holds = compiled.levels <= 1
        if holds.any():
            G = np.asarray(compiled.call("constraint_jacobian", q, p=p))[:, holds]
            asked = np.asarray(compiled.call("constraint_time", t=time, p=p))[..., holds]
            off = np.einsum("nij,nj->ni", G, v) + asked
            if float(np.max(np.abs(off), initial=0.0)) > CLOSED_GAP:
                v = v - np.einsum("nij,nj->ni", pseudoinverse(G), off)
        return q, v


def _compute_spline_rates(time: Array, y: Array) -> Array:
    """Return the rates (n, m) of the cubic spline through the samples, separately between jumps (two samples at the
    same time)."""
    from scipy.interpolate import CubicSpline

    rates = np.zeros(y.shape)
    for part in np.split(np.arange(len(time)), np.flatnonzero(np.diff(time) <= 0.0) + 1):
        if len(part) > 3:
            rates[part] = CubicSpline(time[part], y[part]).derivative()(time[part])
        elif len(part) > 1:
            rates[part] = np.gradient(y[part], time[part], axis=0)
    return rates


def _interpolate_cubically(y: Array, rate: Array, instants: _StepInstants) -> Array:
    """Interpolate values (k, m) cubically in time."""
    steps, h, at = instants
    growth = y[steps + 1] - y[steps]
    turn = at * (1.0 - at) * h * ((1.0 - at) * rate[steps] - at * rate[steps + 1])
    return np.asarray(y[steps] + at * at * (3.0 - 2.0 * at) * growth + turn)


def _interpolate_quintically(samples: tuple[Array, Array, Array], instants: _StepInstants) -> tuple[Array, Array]:
    """Interpolate positions and speeds (k, m) with quintic polynomials in time. known: positions, speeds and
    accelerations at samples."""
    (y, v, a), (steps, h, s) = samples, instants
    begin, growth = y[steps], y[steps + 1] - y[steps]
    v0, v1, a0, a1 = v[steps] * h, v[steps + 1] * h, a[steps] * h * h, a[steps + 1] * h * h
    # y = y₀ + v₀ s + a₀ s²/2 + c₃ s³ + c₄ s⁴ + c₅ s⁵ with the end's values
    left = growth - v0 - 0.5 * a0, v1 - v0 - a0, a1 - a0
    c3 = 10.0 * left[0] - 4.0 * left[1] + 0.5 * left[2]
    c4 = -15.0 * left[0] + 7.0 * left[1] - left[2]
    c5 = 6.0 * left[0] - 3.0 * left[1] + 0.5 * left[2]
    position = begin + s * (v0 + s * (0.5 * a0 + s * (c3 + s * (c4 + s * c5))))
    speed = (v0 + s * (a0 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))) / h
    return np.asarray(position), np.asarray(speed)


LEDGER = (
    *("energy.friction", "energy.stops", "energy.in_stops", "energy.dampers"),
    *("energy.motors", "energy.drivers", "energy.controllers", "energy.balance"),
)
BALANCE = "energy.balance"
BALANCED_SHARE = 1e-4
"""The balance may change by this fraction of the largest of these energies without a note."""


def needs_whole_run(text: str) -> bool:
    """Return True if a channel or formula contains sums since the beginning of the run, so that it needs the whole
    run."""
    return any(name in text for name in LEDGER)


def compute_energy(channels: Any, channel: str) -> Array:
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
            return integrate_power(channels, _dissipated_power) + _integrated_loss(channels)
        case "motors":
            kept = modes.motor_work
            return integrate_power(channels, _joint_force_power) if kept is None else kept
        case "controllers":
            acts = bool(channels.mech.compiled.elements.model.signal_table.forces)
            return integrate_power(channels, _control_power) if acts else 0.0 * channels.samples.time
        case "drivers":
            return (
                integrate_power(channels, _driver_power)
                if channels.mech.model.expanded.drivers
                else 0.0 * channels.samples.time
            )
        case _:
            plus, minus = ("total", "friction", "stops", "dampers"), ("motors", "drivers", "controllers")
            left = sum((channels[f"energy.{name}"] for name in plus), np.zeros(len(channels.samples.time)))
            return np.asarray(left - sum(channels[f"energy.{name}"] for name in minus))


def balance_note(channels: Any, balance: Array) -> str:
    """Return a note for the user if the energy balance varies because work is integrated between samples; otherwise
    ''."""
    between = [channels[f"energy.{name}"] for name in ("dampers", "drivers", "controllers")]
    if channels.modes.motor_work is None:
        between.append(channels["energy.motors"])
    worked = max((float(np.max(np.abs(each), initial=0.0)) for each in between), default=0.0)
    total = channels["energy.total"]
    change = float(np.ptp(balance)) if len(balance) else 0.0
    if not worked > 0.0 or not change > BALANCED_SHARE * max(worked, float(np.ptp(total))):
        return ""
    apart = float(np.max(np.diff(channels.samples.time), initial=0.0))
    return (
        f"energy.balance changes by {change:.2g} J, more than {BALANCED_SHARE:.0e} of the largest energy:"
        " work of dampers, forces, drivers and motors is integrated between"
        f" samples, which are {apart:.2g} s apart. A shorter output step brings it nearer to constant."
    )


def _dissipated_power(channels: Any) -> Array:
    """Return the power (n,), W, dissipated or absorbed by dampers and force elements."""
    s, states = channels.samples, channels.elements.states
    power = channels.mech.compiled.call("lost_power", s.q, s.v, p=channels.p, t=s.time, x=states["x"])
    return np.reshape(power, len(s.time))


def _integrated_loss(channels: Any) -> Array:
    """Return the energy (n,), J, lost in force elements since the first sample, as far as it is among their states."""
    x, counted = channels.elements.states["x"], list(channels.mech.compiled.elements.loss_states)
    if x is None or not counted:
        return np.zeros(len(channels.samples.time))
    total = np.sum(np.asarray(x)[:, counted], axis=1)
    return np.asarray(total - total[0]) if len(total) else total


def _control_power(channels: Any) -> Array:
    """Return the power (n,), W, of controllers."""
    s, states = channels.samples, channels.elements.states
    power = channels.mech.compiled.call("control_power", s.q, s.v, p=channels.p, t=s.time, x=states["x"])
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
