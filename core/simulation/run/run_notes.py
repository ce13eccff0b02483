"""Notes of a run: discontinuities of formulas that it did not locate, and joints that drivers moved beyond their
limits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from core.constraints.elastic_stops import PassedLimit, find_passed_limits
from core.constraints.failures import format_coordinate
from core.mechanics.elements.mode_variables import MOST, ModeVariables, has_unlocated_jumps
from core.mechanics.elements.turn_counters import formulas_by_element
from core.mechanism.mechanism import Mechanism
from core.model.formula.expression import parse
from core.simulation.equations.joint_forces import Torque
from core.simulation.run.run import Run
from core.simulation.run.settings import Settings

FIXED_STEPS = (
    "Fixed steps do not end at discontinuities in formulas of {}: "
    "a force switched on and off within one step is missed, "
    "and steps that contain a discontinuity are less accurate."
)
JUMPS = (
    "Formulas of {} jump (at ==, !=, floor or ceil): the run does not locate these jumps; a force switched on and "
    "off within one step is missed."
)


def find_switch_notes(mech: Mechanism, torque: Torque, settings: Settings) -> tuple[str, ...]:
    """Return notes on the discontinuities that a run with these settings does not locate, by element: with fixed steps
    all of them, otherwise those without an event indicator."""
    formulas = _element_formulas(mech, torque)
    if not formulas:
        return ()
    constant = frozenset(mech.compiled.elements.numbers.values)
    if not settings.integration_method.adaptive:
        return _format_notes(
            [name for name, text in formulas if _event_indicators([text], constant).numbers], FIXED_STEPS
        )
    notes = _format_notes([name for name, text in formulas if has_unlocated_jumps(parse(text), constant)], JUMPS)
    variables = _event_indicators([text for _, text in formulas], constant)
    if count := len(variables.beyond):
        notes += (f"Formulas switch in {MOST + count} places, but the run locates only {MOST} of the switches.",)
    return notes


def _element_formulas(mech: Mechanism, torque: Torque) -> list[tuple[str, str]]:
    """Return (element, formula) of forces, friction, drivers and joint forces."""
    model = mech.compiled.elements.model
    drivers = [(driver.name, driver.function) for driver in model.drivers if isinstance(driver.function, str)]
    forces = list(torque.items()) if isinstance(torque, Mapping) else []
    return [*formulas_by_element(model), *drivers, *((name, text) for name, text in forces if isinstance(text, str))]


def _event_indicators(formulas: Iterable[str], constant: Collection[str]) -> ModeVariables:
    """Return the event indicators of formulas, each of a separate element."""
    return ModeVariables((), constant, {str(k): parse(text) for k, text in enumerate(formulas)})


def _format_notes(names: Iterable[str], template: str) -> tuple[str, ...]:
    quoted = ", ".join(f"'{name}'" for name in dict.fromkeys(names))
    return (template.format(quoted),) if quoted else ()


LEAST_PASSING = 1e-6
"""Smallest distance (rad or m) beyond a limit that is noted."""


def find_exceeded_limits(run: Run) -> tuple[str, ...]:
    """Return a sentence for each coordinate that a driver moved beyond a limit, with the amount and the time."""
    driven = {driver.joint for driver in run.model.expanded.drivers if driver.joint}
    if not driven or not len(run.time):
        return ()
    compiled = run.mech.compiled
    p = run.settings.values_of(run.mech.p_names)
    found = []
    for passed in find_passed_limits(compiled, run.q, p, LEAST_PASSING):
        joint = next((name for name in driven if passed.name == name or passed.name.startswith(f"{name}.")), None)
        if joint is None or passed.name not in compiled.q_names:
            continue
        since = _find_passing_time(run.time, run.q[:, compiled.q_names.index(passed.name)], passed)
        limit, most = (format_coordinate(x, passed.dimension) for x in (passed.limit, passed.by))
        found.append(
            f"A driver moves '{passed.name}' beyond its limit {limit}, from t = {since:.4g} s on, by up to {most}:"
            " change its function or the limit, or end the run before that time."
        )
    return tuple(found)


def find_saturated_controllers(run: Run) -> tuple[str, ...]:
    """Return a sentence for each controlled coordinate whose force was limited, with the share of the time and when."""
    found = []
    for signal, row, name in run.mech.compiled.elements.model.signal_table.forces:
        limited = run[f"{name.removesuffix('.tau')}.saturated"] > 0.0
        if limited.any():
            share = 100.0 * float(np.mean(limited))
            found.append(
                f"The force of '{signal.name}' in '{row.component}' was limited at {share:.2g} % of the samples, first "
                f"at t = {float(run.time[int(np.argmax(limited))]):.4g} s."
            )
    return tuple(found)


def find_long_delays(mech: Mechanism, settings: Settings) -> tuple[str, ...]:
    """Return a sentence for each signal whose delay is longer than the run."""
    numbers, found = mech.compiled.coordinates.numbers, []
    for signal in mech.compiled.elements.model.signals:
        if "delay" in signal.info.uses and signal.delay != 0.0:
            delay = float(numbers.scalar(signal.delay, f"signal '{signal.name}', delay"))
            if delay > settings.duration:
                found.append(
                    f"The delay of '{signal.name}', {delay:.4g} s, is longer than the run: its output stays as at the "
                    "start."
                )
    return tuple(found)


def _find_passing_time(time: NDArray[np.float64], q: NDArray[np.float64], exceeded: PassedLimit) -> float:
    """Return the time of the first sample beyond the limit, s."""
    outward = 1.0 if np.isclose(float(np.max(q)) - exceeded.limit, exceeded.by) else -1.0
    return float(time[int(np.argmax(outward * (q - exceeded.limit) > LEAST_PASSING))])
