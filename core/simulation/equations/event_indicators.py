"""Event indicators of formulas that switch, and the mode variables that fix the side of each comparison during a
step."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.machine_code.language import native
from core.programs.native_function import evaluate_function, load_function, put_argument, result_view
from core.simulation.equations.contact_rows import load_rows
from core.simulation.equations.system import (
    AT_Q,
    BEHIND_TIME,
    copy_array,
    load_system,
    put_states,
    put_states_and_time,
    set_time,
)


@native
def evaluate_indicators(system: int, t: float, y: Any, out: Any) -> None:
    """Compute all indicators at a state into out."""
    s = load_system(system)
    last = s.nq + s.nv
    set_time(system, t)
    if s.event_indicators != 0:
        put_states(system, y[: s.nq], y[s.nq : last], y[last:])
        put_argument(s.event_indicators, AT_Q, y[:last])
        put_states_and_time(system, s.event_indicators)
        evaluate_function(s.event_indicators)
        copy_array(result_view(s.event_indicators, s.modes), out[: s.modes])
    if s.torque_event_indicators != 0:
        load_function(s.torque_event_indicators).memory[0] = t
        put_argument(s.torque_event_indicators, BEHIND_TIME, y[:last])
        evaluate_function(s.torque_event_indicators)
        count = len(out) - s.modes
        copy_array(result_view(s.torque_event_indicators, count), out[s.modes :])


@native
def set_modes(system: int, modes: Any) -> None:
    """Set the mode variables (count,): ±1, 0: free."""
    s = load_system(system)
    first = len(s.now) - s.modes
    for k in range(s.modes):
        s.now[first + k] = modes[k]
    for k in range(s.modes, len(modes)):
        at = 1 + s.nq + s.nv + k - s.modes
        torque = s.torque if s.contact_rows == 0 else load_rows(s.contact_rows).torque
        load_function(torque).memory[at] = modes[k]
        if s.torque_slopes != 0:
            load_function(s.torque_slopes).memory[at] = modes[k]
    s.reduced_at = np.nan  # what was evaluated last was something else
