"""Samples of signals within the step loop: outputs are held between samples, states change at samples only.

Each sampled signal k is evaluated at the times start + phase + n period, n = 0, 1, …; what sample n gives is applied
`delay` later. At one instant outputs that are due are applied first, then signals are evaluated in layers, so that a
signal sees the outputs of those that it uses. Machine code needs the host, which is Python, for functions of scripts
and for further noise; it returns with STOPPED then, and is called again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.machine_code.entry import entry
from core.machine_code.language import call_entry, loader, native
from core.machine_code.outcome import FINE, STOPPED
from core.machine_code.records import Fixed, FloatRows, Floats, Ints, Record
from core.programs.native_function import evaluate_function, result_view
from core.simulation.equations.system import copy_array, load_system, put_all_arguments, set_time
from core.simulation.methods.step_state import load_state
from core.simulation.stepping import free_modes, reset_history

SAME_TIME = 1e-9
"""Fraction of a period within which times of samples are the same."""
NOISES = 256
"""Number of samples for which the host draws noise at once."""
PERIOD, DELAY, PHASE = range(3)
"""Columns of `SampledSignals.timing`."""


class SampledSignals(Record):
    """All sampled signals of a run. Arrays (count,) have one entry per signal; `…_first` (count + 1,) are offsets."""

    layers: Fixed
    start: float
    """Start of the run, s."""
    last: float
    """End of the run, s."""
    timing: FloatRows
    """(count, 3) period, delay and phase, s."""
    layer: Ints
    hosted: Ints
    """1 if a function of a script gives the states."""
    number: Ints
    """Number of the next sample."""
    wanted: int = 0
    """Layer for which the host is needed."""
    served: int = -1
    """Layer for which the host has done its part; −1: none."""
    failed: int = -1
    """Index of an update that is not finite; −1: none."""
    state_first: Ints
    state_at: Ints
    state_from: Ints
    """Indices in x of the states, and of their new values among the updates."""
    output_first: Ints
    output_at: Ints
    output_from: Ints
    """The same for outputs."""
    queue_first: Ints
    capacity: Ints
    queued: Ints
    waiting: Floats
    """Outputs that are yet to be applied: those of sample n are in row n mod capacity."""
    noise_first: Ints
    noise_at: Ints
    noise_block: Ints
    """Number of the block of samples for which there is noise."""
    noises: FloatRows
    """(NOISES, noises) noise of these samples."""


load_samples = loader(SampledSignals)


@native
def sample_time(samples: int, k: int, n: int) -> float:
    """Return the time of sample n of signal k, s."""
    g = load_samples(samples)
    return g.start + g.timing[k, PHASE] + n * g.timing[k, PERIOD]


@native
def is_due(samples: int, k: int, layer: int, t: float) -> Any:
    """Return true if signal k belongs to a layer and is to be evaluated at t."""
    g = load_samples(samples)
    return g.layer[k] == layer and sample_time(samples, k, g.number[k]) <= t + SAME_TIME * g.timing[k, PERIOD]


@native
def apply_outputs(samples: int, t: float, x: Any) -> None:
    """Apply the outputs that are due at t."""
    g = load_samples(samples)
    now = t + 1e-12 * max(abs(t), 1.0)
    for k in range(len(g.number)):
        first, count = g.output_first[k], g.output_first[k + 1] - g.output_first[k]
        while g.queued[k] > 0:
            n = g.number[k] - g.queued[k]
            if sample_time(samples, k, n) + g.timing[k, DELAY] > now:
                break
            row = g.queue_first[k] + (n % g.capacity[k]) * count
            for j in range(count):
                x[g.output_at[first + j]] = g.waiting[row + j]
            g.queued[k] -= 1


@native
def next_stop(samples: int) -> float:
    """Return the time of the next sample or output, s."""
    g = load_samples(samples)
    first = np.inf
    for k in range(len(g.number)):
        first = min(first, sample_time(samples, k, g.number[k]))
        if g.queued[k] > 0:
            first = min(first, sample_time(samples, k, g.number[k] - g.queued[k]) + g.timing[k, DELAY])
    return first


@native
def count_due(samples: int, layer: int, t: float) -> int:
    """Return the number of signals of a layer that are due at t, negative if the host is needed for one of them."""
    g = load_samples(samples)
    count, needed = 0, 0
    for k in range(len(g.number)):
        if not is_due(samples, k, layer, t):
            continue
        count += 1
        has_noise = g.noise_first[k + 1] > g.noise_first[k]
        if g.hosted[k] == 1 or (has_noise and g.noise_block[k] != g.number[k] // NOISES):
            needed = 1
    return -count if needed == 1 else count


@native
def put_noise(samples: int, layer: int, t: float, x: Any) -> None:
    """Set the noise of the measured coordinates of signals that are due."""
    g = load_samples(samples)
    for k in range(len(g.number)):
        if is_due(samples, k, layer, t):
            row = g.number[k] % NOISES
            for j in range(g.noise_first[k], g.noise_first[k + 1]):
                x[g.noise_at[j]] = g.noises[row, j]


@native
def take_updates(samples: int, k: int, new: Any, x: Any) -> Any:
    """Take the updates of signal k: states at once, outputs into its queue. Returns false if one is not finite."""
    g = load_samples(samples)
    for j in range(g.state_first[k], g.state_first[k + 1]):
        value = new[g.state_from[j]]
        if value * 0.0 != 0.0:
            g.failed = g.state_from[j]
            return False
        x[g.state_at[j]] = value
    first, count = g.output_first[k], g.output_first[k + 1] - g.output_first[k]
    row = g.queue_first[k] + (g.number[k] % g.capacity[k]) * count
    for j in range(count):
        value = new[g.output_from[first + j]]
        if value * 0.0 != 0.0:
            g.failed = g.output_from[first + j]
            return False
        g.waiting[row + j] = value
    g.number[k] += 1
    g.queued[k] += 1
    return True


@native
def evaluate_layer(state: int, layer: int, t: float) -> Any:
    """Evaluate the signals of a layer that are due. Returns false if an update is not finite."""
    w = load_state(state)
    s, g = load_system(w.system), load_samples(w.samples)
    last = s.nq + s.nv
    x = w.y[last:]
    put_noise(w.samples, layer, t, x)
    set_time(w.system, t)
    for i in range(s.nx):  # rates of states are not among what signals use
        s.own[i] = x[i]
    put_all_arguments(w.system, s.signal_updates, w.y[: s.nq], w.y[s.nq : last])
    evaluate_function(s.signal_updates)
    new = result_view(s.signal_updates, len(g.state_at) + len(g.output_at))
    well = True
    for k in range(len(g.number)):
        well = well and (not is_due(w.samples, k, layer, t) or take_updates(w.samples, k, new, x))
    return well


@native
def set_stop(state: int) -> None:
    """Let integration stop at the next sample or output, or at the end of the run."""
    w = load_state(state)
    g = load_samples(w.samples)
    stop = next_stop(w.samples)
    w.stops, w.end = 1 if stop <= g.last else 0, min(stop, g.last)


@entry
def set_stop_entry(state: int, t: float, first: int, second: int) -> int:
    """Let integration stop at the next sample or output, or at the end of the run."""
    set_stop(state)
    return FINE


@entry
def sample_entry(state: int, t: float, first: int, second: int) -> int:
    """Apply outputs and evaluate signals that are due, and let integration go on to the next time. Returns STOPPED if
    the host is needed (`wanted`), or if an update is not finite (`failed`)."""
    w = load_state(state)
    s, g = load_system(w.system), load_samples(w.samples)
    x = w.y[s.nq + s.nv :]
    free_modes(state)
    apply_outputs(w.samples, t, x)
    for layer in range(g.layers):
        count = count_due(w.samples, layer, t)
        if count == 0:
            continue
        if count < 0 and g.served != layer:
            g.wanted = layer
            return STOPPED
        g.served = -1
        if not evaluate_layer(state, layer, t):
            return STOPPED
        apply_outputs(w.samples, t, x)
    copy_array(w.y, w.new)
    reset_history(state)
    if w.begins_of != 0:
        call_entry(w.begins_of, state, t, 0, 0)
    set_stop(state)
    return FINE
