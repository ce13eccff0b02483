"""Log of contact rows during a run: requested samples, both sides of each contact change (two samples of the same
time), and ends of steps in which a stop is compressed and no other sample lies; with row forces and energies.

Energies are integrals of powers, which are smooth within a step: from their values at its quarters (Boole's rule, and
within the step the integral of the same polynomial of degree four). What impacts take is counted when they happen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.machine_code.entry import entry
from core.machine_code.language import loader, native, scratch, view
from core.machine_code.outcome import FINE
from core.machine_code.records import Fixed, FloatRows, Floats, Record
from core.simulation.equations.contact_rows import (
    AGAINST,
    AT_SPEED,
    HELD,
    LEAVING,
    OVERRUN,
    PRESSED,
    load_rows,
    total_friction,
    total_stop_force,
)
from core.simulation.equations.system import copy_array, load_system
from core.simulation.events.contact_columns import (
    BOUNCES,
    CLIPPED,
    CUT,
    EACH_ROW,
    FRICTION,
    FRICTION_LOSS,
    MODE,
    RESTS,
    STOP,
    STOP_FORCE,
    STOP_WORK,
    STORED,
    WITHHELD,
)
from core.simulation.methods.step_state import compute_derivative, load_state

QUARTERS = 4
"""Number of parts of a step at whose ends powers are known."""
BY_FRICTION, BY_STOP, WITHHOLDING, POWERS = range(4)
"""Powers of a row, and their number; the power of joint forces follows those of all rows."""


class ContactLog(Record):
    """Log entries in order of time: t, y, v̇, joint forces, then the columns of
    `core.simulation.events.contact_columns`."""

    rows: FloatRows
    used: int = 0
    """Number of entries written."""
    broken: int = 0
    """1: some entry has states, accelerations or joint forces that are not finite."""
    most: Fixed
    """Largest number of entries for changes before the present piece of the run ends."""
    changes: int = 0
    """Number of change entries."""
    last: float = np.nan
    """Time of the last entry, s."""
    after: int = 0
    """1: the last entry is the state after a change of contact state."""
    begun: int = 0
    """1: the log has an entry."""
    powers: FloatRows
    """(5, powers) powers at the quarters of the step taken, W."""
    spent: Floats
    """(powers,) energy up to its beginning, J."""
    begin: float = 0.0
    length: float = 0.0
    """Beginning and length of that step, s; length 0: there is none."""


load_log = loader(ContactLog)


@native
def quarter_weights(part: float, out: Any) -> None:
    """Compute the integration weights of the quarters from 0 to a fraction of the step, for a step of length 1, into
    out (5,)."""
    s = 4.0 * part
    s2, s3, s4, s5 = s * s, s * s * s, s * s * s * s, s * s * s * s * s
    out[0] = (s5 / 5.0 - 10.0 * s4 / 4.0 + 35.0 * s3 / 3.0 - 25.0 * s2 + 24.0 * s) / 96.0
    out[1] = -(s5 / 5.0 - 9.0 * s4 / 4.0 + 26.0 * s3 / 3.0 - 12.0 * s2) / 24.0
    out[2] = (s5 / 5.0 - 2.0 * s4 + 19.0 * s3 / 3.0 - 6.0 * s2) / 16.0
    out[3] = -(s5 / 5.0 - 7.0 * s4 / 4.0 + 14.0 * s3 / 3.0 - 4.0 * s2) / 24.0
    out[4] = (s5 / 5.0 - 1.5 * s4 + 11.0 * s3 / 3.0 - 3.0 * s2) / 96.0


@native
def withheld_force(rows: int, k: int) -> float:
    """Return the force by which a speed limit changes the motor force."""
    r = load_rows(rows)
    if abs(r.mode[k]) == AT_SPEED:
        return r.carried[k]
    if abs(r.mode[k]) == OVERRUN:
        return -max(r.asked[k], 0.0) if r.mode[k] > 0 else -min(r.asked[k], 0.0)
    return 0.0


@native
def record_powers(state: int, quarter: int, y: Any) -> None:
    """Record the present powers of rows at a state y as those at a quarter of the step."""
    w = load_state(state)
    s, g = load_system(w.system), load_log(w.log)
    r, total = load_rows(s.contact_rows), 0.0
    for k in range(r.count):
        rate = 0.0 if r.mode[k] == HELD else r.rate[k]
        g.powers[quarter, POWERS * k + BY_FRICTION] = -total_friction(s.contact_rows, k) * rate
        g.powers[quarter, POWERS * k + BY_STOP] = -total_stop_force(s.contact_rows, k) * rate
        g.powers[quarter, POWERS * k + WITHHOLDING] = withheld_force(s.contact_rows, k) * rate
    for i in range(s.nv):
        total += r.given[i] * y[s.nq + i]
    g.powers[quarter, POWERS * r.count] = total


@native
def add_step_energies(state: int) -> None:
    """Add the energies of the step taken to the totals."""
    g = load_log(load_state(state).log)
    if g.length == 0.0:
        return
    for i in range(len(g.spent)):
        ends, quarters = g.powers[0, i] + g.powers[4, i], g.powers[1, i] + g.powers[3, i]
        g.spent[i] += g.length * (7.0 * ends + 32.0 * quarters + 12.0 * g.powers[2, i]) / 90.0
    g.length = 0.0


@native
def stored_energy(rows: int, k: int) -> float:
    """Return the energy in a compressed stop, J; for a stop that is separating, it is lost while the stop recovers."""
    r = load_rows(rows)
    if abs(r.stop[k]) not in (PRESSED, LEAVING):
        return 0.0
    depth = r.value[k] - (r.upper[k] if r.stop[k] > 0 else r.lower[k])
    return 0.5 * r.stiffness[k] * depth * depth


@native
def write_row(state: int, out: Any, t: float, first: int) -> None:
    """Write states, forces and energies of all rows, as evaluated last, into out from `first` on."""
    w = load_state(state)
    s, g = load_system(w.system), load_log(w.log)
    r, weight, spent = load_rows(s.contact_rows), scratch(5), scratch(len(g.spent))
    copy_array(g.spent, spent)
    if g.length > 0.0:
        quarter_weights((t - g.begin) / g.length, weight)
        for i in range(len(spent)):
            for quarter in range(QUARTERS + 1):
                spent[i] += g.length * weight[quarter] * g.powers[quarter, i]
    work = spent[POWERS * r.count]
    for k in range(r.count):
        at = first + EACH_ROW * k
        out[at + MODE], out[at + STOP], out[at + CLIPPED] = r.mode[k], r.stop[k], r.clipped[k]
        out[at + BOUNCES], out[at + RESTS] = r.bounces[k], 1.0 if r.ends[k] == 1 and abs(r.stop[k]) == AGAINST else 0.0
        out[at + FRICTION], out[at + STOP_FORCE] = (
            total_friction(s.contact_rows, k),
            total_stop_force(s.contact_rows, k),
        )
        out[at + WITHHELD], out[at + CUT] = withheld_force(s.contact_rows, k), 0.0
        if np.isfinite(r.strongest[k]):
            out[at + CUT] = r.asked[k] - r.wished[k]
        out[at + FRICTION_LOSS] = spent[POWERS * k + BY_FRICTION]
        out[at + STOP_WORK] = spent[POWERS * k + BY_STOP] + r.struck[k]
        out[at + STORED] = stored_energy(s.contact_rows, k)
        work += spent[POWERS * k + WITHHOLDING]
    out[first + EACH_ROW * r.count] = work


@native
def write_entry(state: int, t: float, y: Any) -> Any:
    """Write a log entry for the present state."""
    w = load_state(state)
    s, g, n = load_system(w.system), load_log(w.log), len(y)
    f = scratch(n)
    compute_derivative(state, t, y, f)
    out = g.rows[g.used]
    g.used += 1
    g.last = out[0] = t
    r, total = load_rows(s.contact_rows), 0.0
    for j in range(n):
        out[1 + j] = y[j]
        total += 0.0 * y[j]
    for i in range(s.nv):
        out[1 + n + i] = f[s.nq + i]
        out[1 + n + s.nv + i] = r.given[i]
        total += 0.0 * f[s.nq + i] + 0.0 * r.given[i]
    if total != 0.0:  # not a number
        g.broken = 1
    write_row(state, out, t, 1 + n + 2 * s.nv)


@entry
def keep_entry(state: int, t: float, y: int, nothing: int) -> int:
    """Write a log entry for the requested sample y."""
    write_entry(state, t, view(y, len(load_state(state).y)))
    load_log(load_state(state).log).after = 0
    return FINE


@native
def assign_powers_to_step(state: int, t: float, h: float) -> None:
    """Assign the powers evaluated last to the step of length h that begins at t."""
    g = load_log(load_state(state).log)
    g.begin, g.length = t, h


@native
def begin_log(state: int) -> None:
    """Begin the log of a run with the energy of stops already compressed."""
    w = load_state(state)
    s, g = load_system(w.system), load_log(w.log)
    r = load_rows(s.contact_rows)
    g.length, g.last, g.after = 0.0, np.nan, 0
    if g.begun == 0:
        for k in range(r.count):
            g.spent[POWERS * k + BY_STOP] = stored_energy(s.contact_rows, k)
        g.begun = 1


@native
def log_compressed_stop(state: int) -> None:
    """Log the end of the step taken if an elastic stop is compressed and no sample lies in the step, because a contact
    may be shorter than the sample spacing."""
    w = load_state(state)
    s, g = load_system(w.system), load_log(w.log)
    r, presses = load_rows(s.contact_rows), False
    if g.length == 0.0 or g.last > g.begin or g.changes >= g.most:
        return
    for k in range(r.count):
        presses = presses or abs(r.stop[k]) == PRESSED
    if presses:
        g.changes += 1
        write_entry(state, w.time, w.y)
        g.after = 0
        if 2 * g.changes > g.most:
            w.budget = 0


@native
def log_before_change(state: int) -> int:
    """Log the state before a contact change, unless it is logged already; returns 1 if it was written now."""
    w = load_state(state)
    g = load_log(w.log)
    add_step_energies(state)
    g.begin = w.time
    if g.last == w.time or g.changes >= g.most:
        return 0
    g.changes += 1
    write_entry(state, w.time, w.y)
    g.after = 0
    return 1


@native
def log_after_change(state: int, entry_before_written: int) -> None:
    """Log the state after a contact change, replacing entries after earlier changes at the same instant. If no contact
    state has changed, the entry before it is removed as well (`entry_before_written`: it was just written). Ends the
    piece of the run when the log is nearly full."""
    w = load_state(state)
    g = load_log(w.log)
    if g.changes >= g.most:
        return
    again = g.after == 1 and g.last == w.time and g.used > 0
    if again:
        g.used -= 1
    g.changes += 1
    write_entry(state, w.time, w.y)
    g.after = 1
    if entry_before_written == 1 and not again and not contact_states_differ(state):
        g.used -= 2
        g.changes -= 2
        g.last, g.after = np.nan, 0
    if 2 * g.changes > g.most:
        w.budget = 0


@native
def contact_states_differ(state: int) -> Any:
    """Return true if the contact states of the last two entries differ."""
    w = load_state(state)
    s, g = load_system(w.system), load_log(w.log)
    first = 1 + len(w.y) + 2 * s.nv
    one, other = g.rows[g.used - 2], g.rows[g.used - 1]
    for k in range(load_rows(s.contact_rows).count):
        for column in (MODE, STOP, CLIPPED, BOUNCES, RESTS):
            if one[first + EACH_ROW * k + column] != other[first + EACH_ROW * k + column]:
                return True
    return False
