"""Initial state of a run: memory for the driver of the run, the equations of motion and the integration method."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from core.constraints.joint_modes import resolvable_stiffness
from core.simulation.equations.compiled_equations import CompiledEquations
from core.simulation.events import event_location, sliding_modes
from core.simulation.events.contact_columns import EACH_ROW
from core.simulation.methods.step_state import StepState
from core.simulation.run.settings import CHOLESKY, Array, Settings

if TYPE_CHECKING:
    from core.simulation.events.contact_log import ContactLog

LARGEST_PIECE = 20_000
"""Largest number of samples computed in one piece."""
MOST_CHANGES = 2048
"""Largest number of additional samples per piece at changes of contact state."""


class Begun(NamedTuple):
    """A run that has been set up but has taken no step yet."""

    state: StepState
    equations: CompiledEquations
    """The compiled equations; keeps alive the memory that addresses in `state` point to."""
    log: ContactLog | None = None
    """Log of the contact rows (friction, stops, limits); None if the machine has none."""


def begun(equations: CompiledEquations, chosen: Settings, y: Array) -> Begun:
    """Set up a run that begins at state y, including its initial contact states."""
    made = allocated_run(equations, chosen, y)
    begin_contact_states(made)
    return made


def begin_contact_states(made: Begun) -> None:
    """Determine the initial contact states (stick, slide, at a stop) of a run, if the machine has contact rows."""
    if made.log is not None:
        from core.simulation.events import contact_steps

        contact_steps.begin_entry(made.state.place)


def allocated_run(equations: CompiledEquations, chosen: Settings, y: Array) -> Begun:
    """Allocate all memory for a run that will begin at state y, without determining its initial contact states."""
    n, system, indicators = len(y), equations.system, equations.indicators
    rule = chosen.rule
    assert rule.begin is not None
    of_method = rule.begin(rule.begins_with or rule.id, n, equations)
    times = chosen.times()
    modal, switching = equations.contact_rows is not None, event_location.step_entry.address if indicators else 0
    if modal:
        from core.simulation.events import contact_log, contact_steps, fixed_contact_steps
    state = of_method(
        system=system.place,
        derivative=system.derivative,
        project=equations.project,
        switch_step=contact_steps.contact_step.address if modal and rule.adaptive else switching,
        refused=event_location.refused_entry.address if indicators else 0,
        slide=sliding_modes.sliding_entry.address if indicators else 0,
        speeds=system.nq,
        most=chosen.max_steps,
        end=chosen.start + chosen.duration,
        limit=chosen.duration if chosen.step is None else chosen.step,
        rtol=chosen.rtol,
        atol=chosen.atol,
        stability=rule.stability,
        time=chosen.start,
        projected=equations.projected,
        y=y.copy(),
        new=y.copy(),
        failed=np.zeros(n),
        times=times,
        events=np.zeros((sliding_modes.ROWS if indicators else 0, indicators)),
        slid=np.full((min(len(times), LARGEST_PIECE), n) if indicators else (0, 0), np.nan),
    )
    if chosen.closing is not None:
        if chosen.closing < 1.0:
            system.closed_gap = chosen.closing
        else:
            system.closings = int(chosen.closing)
    if chosen.factorisation == CHOLESKY:
        equations.use_cholesky()
    log = None
    limit_stop_stiffness(equations, chosen)
    if modal:
        log = _log(min(len(times), LARGEST_PIECE), n, equations)
        state.log, state.keep_of = log.place, contact_log.keep_entry.address
        if rule.adaptive:
            state.plain_step = switching or state.step_of
        else:
            state.parts_of = fixed_contact_steps.contact_parts.address
    return Begun(state, equations, log)


def limit_stop_stiffness(equations: CompiledEquations, chosen: Settings) -> None:
    """Limit derived stop stiffnesses to what fixed time steps can resolve."""
    if equations.contact_rows is not None and not chosen.rule.adaptive and chosen.step is not None:
        closing = equations.contact_rows.closing
        np.minimum(closing, resolvable_stiffness(chosen.step), out=closing)


def _log(samples: int, n: int, equations: CompiledEquations) -> ContactLog:
    """Allocate the log of contact rows for the given number of samples."""
    from core.simulation.events.contact_log import POWERS, QUARTERS, ContactLog

    rows = len(equations.joint_modes.rows)
    powers = POWERS * rows + 1
    return ContactLog(
        rows=np.zeros((samples + MOST_CHANGES, 1 + n + 2 * equations.system.nv + EACH_ROW * rows + 1)),
        most=MOST_CHANGES,
        powers=np.zeros((QUARTERS + 1, powers)),
        spent=np.zeros(powers),
    )
