"""Initial state of a run: memory for the simulation loop, the equations of motion and the integration method."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from core.constraints.joint_modes import largest_resolvable_stiffness
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


class PreparedRun(NamedTuple):
    """Run that has been set up but has not taken a step yet."""

    state: StepState
    equations: CompiledEquations
    """The compiled equations; keeps alive the memory that addresses in `state` point to."""
    log: ContactLog | None = None
    """Log of the contact rows (friction, stops, limits); None if the machine has none."""


def prepare_run(equations: CompiledEquations, settings: Settings, y: Array) -> PreparedRun:
    """Set up a run that begins at state y, including its initial contact states."""
    made = allocate_run(equations, settings, y)
    begin_contact_states(made)
    return made


def begin_contact_states(prepared: PreparedRun) -> None:
    """Determine the initial contact states (stick, slide, at a stop) of a run, if the machine has contact rows."""
    if prepared.log is not None:
        from core.simulation.events import contact_steps

        contact_steps.begin_entry(prepared.state.place)


def allocate_run(equations: CompiledEquations, settings: Settings, y: Array) -> PreparedRun:
    """Allocate all memory for a run that will begin at state y, without determining its initial contact states."""
    n, system, indicators = len(y), equations.system, equations.indicators
    rule = settings.integration_method
    assert rule.begin is not None
    of_method = rule.begin(rule.begins_with or rule.id, n, equations)
    times = settings.times()
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
        most=settings.max_steps,
        end=settings.start + settings.duration,
        limit=settings.duration if settings.step is None else settings.step,
        rtol=settings.rtol,
        atol=settings.atol,
        stability=rule.stability,
        time=settings.start,
        projected=equations.projected,
        y=y.copy(),
        new=y.copy(),
        failed=np.zeros(n),
        times=times,
        events=np.zeros((sliding_modes.ROWS if indicators else 0, indicators)),
        slid=np.full((min(len(times), LARGEST_PIECE), n) if indicators else (0, 0), np.nan),
    )
    if settings.closing is not None:
        if settings.closing < 1.0:
            system.closed_gap = settings.closing
        else:
            system.closings = int(settings.closing)
    if settings.factorisation == CHOLESKY:
        equations.use_cholesky()
    log = None
    limit_stop_stiffness(equations, settings)
    if modal:
        log = _allocate_log(min(len(times), LARGEST_PIECE), n, equations)
        state.log, state.keep_of = log.place, contact_log.keep_entry.address
        if rule.adaptive:
            state.plain_step = switching or state.step_of
        else:
            state.parts_of = fixed_contact_steps.contact_parts.address
    return PreparedRun(state, equations, log)


def limit_stop_stiffness(equations: CompiledEquations, settings: Settings) -> None:
    """Limit derived stop stiffnesses to what fixed time steps can resolve."""
    if equations.contact_rows is not None and not settings.integration_method.adaptive and settings.step is not None:
        closing = equations.contact_rows.closing
        np.minimum(closing, largest_resolvable_stiffness(settings.step), out=closing)


def _allocate_log(samples: int, n: int, equations: CompiledEquations) -> ContactLog:
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
