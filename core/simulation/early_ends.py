"""Error messages that explain why a run ended early, in terms of the user's machine.

What is most particular is asked first (`REASONS`): friction without an answer, rows that depend on each other, steps
that are too long, a formula that breaks, drivers that contradict each other, a loop that closes no further. What none
of them explains is told by what happened to the step (`core.simulation.stepping.outcome`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from core.constraints.bearing_friction import no_solution_error
from core.constraints.joint_rows import first_invalid_friction_error, undefined
from core.constraints.redundant_drivers import contradiction, contradiction_error
from core.errors import KinetostatError, SimulationError
from core.mechanism import Mechanism
from core.model.formula.text import text_of
from core.programs.not_finite import REMEDY, element_with_undefined_formula
from core.simulation.dependent_rows import dependent_error
from core.simulation.equations.compiled_equations import CompiledEquations
from core.simulation.equations.joint_forces import Torque, mode_variables_of
from core.simulation.methods.method import STIFF as STIFF_METHOD
from core.simulation.run.growing_rows import blocks
from core.simulation.run.run import Run
from core.simulation.setup import Array, Settings
from core.simulation.stepping.outcome import DRIFTED, NOT_FINITE, STEP_UNDERFLOW, TOO_MANY, WRONG_FRICTION
from core.simulation.stepping.sliding_modes import HIGH, LOW, VALUE
from core.simulation.stepping.step_state import STIFF_EVIDENCE, TOLD, StepState
from core.simulation.toggle_positions import RACING_SPEED, diverging_driver, toggle_position

AT_BORDER = 1e-6
"""Magnitude of an event indicator below which its formula is about to jump."""
CHATTERING_REMEDY = (
    "Add hysteresis, a delay or a smooth transition to the switching law, e.g. tanh(x/0.001) instead of sign(x); "
    "or choose a method with fixed steps, which steps over the switching."
)
BROKEN = (NOT_FINITE, STEP_UNDERFLOW, DRIFTED)
"""Outcomes caused by a formula without a finite value, or by a loop in a toggle position."""


class EndedRun(NamedTuple):
    """State of a run at the moment it ended early.

    run : what there is of it, None: it is not kept; pieces : the last of them
    dependent : whether Cholesky's method met rows that depend on each other
    watched : whether several drivers move the same
    """

    mech: Mechanism
    chosen: Settings
    torque: Torque
    p: Array
    equations: CompiledEquations
    state: StepState
    run: Run | None
    pieces: Sequence[Run]
    dependent: bool
    watched: bool

    @property
    def at(self) -> str:
        """Return the opening words of the message, with the time."""
        return f"At t = {self.state.time:.6g} s "

    @property
    def parts(self) -> tuple[Array, Array, Array]:
        """Return q, v and x."""
        q, v, x = np.split(self.state.y, [self.mech.nq, self.mech.nq + self.mech.nv])
        return q, v, x


def early_end_error(stand: EndedRun, happened: int) -> SimulationError:
    """Return the error that explains why a run ended early."""
    for reason in REASONS:
        error = reason(stand, happened)
        if error is not None:
            break
    else:
        error = generic_error(stand, happened)
    if error.time is None:
        error.time = stand.state.time
    return error


def jamming_friction(stand: EndedRun, _: int) -> SimulationError | None:
    """Return the error for reaction-dependent friction that has no solution (jamming); None if that is not the
    cause."""
    if not stand.equations.locks:
        return None
    error = no_solution_error(stand.equations.joint_modes)
    error.what = f"{stand.at}{error.what[0].lower()}{error.what[1:]}"
    return error


def dependent(stand: EndedRun, _: int) -> SimulationError | None:
    """Return the error for constraint rows that Cholesky's method cannot solve because they depend on each other; None
    if that is not the cause."""
    return dependent_error(stand.mech, stand.parts[0], stand.p, stand.state.time) if stand.dependent else None


def unstable_steps(stand: EndedRun, happened: int) -> SimulationError | None:
    """Return the error for fixed time steps with which the numerical solution itself diverges; None if that is not the
    cause."""
    if happened not in (NOT_FINITE, DRIFTED) or stand.chosen.rule.adaptive:
        return None
    begun = divergence_time(stand)
    if begun is None:
        return None
    step = f"{stand.chosen.step:.6g} s" if stand.chosen.step else "this length"
    what = f"From t = {begun:.6g} s on, speeds grow without bound: the solution is unstable with steps of {step}."
    remedy = "Take shorter steps, or use a method with variable steps, such as radau for stiff machines."
    error = SimulationError(what, where=stand.chosen.rule.title, remedy=remedy)
    error.time = float(stand.run.time[-1]) if stand.run is not None else stand.state.time
    return error


def divergence_time(stand: EndedRun) -> float | None:
    """Return the time, s, at which speeds exceeded all bounds; None if they did not."""
    if stand.run is None:
        speeds = np.abs(stand.parts[1])
        return stand.state.time if np.isfinite(speeds).all() and speeds.max(initial=0.0) > RACING_SPEED else None
    for times, speeds in zip(blocks(stand.run.time), blocks(stand.run.v), strict=True):
        fast = np.abs(speeds).max(axis=1, initial=0.0) > RACING_SPEED
        if fast.any():
            return float(times[np.argmax(fast)])
    return None


def undefined_formula_error(stand: EndedRun, happened: int) -> SimulationError | None:
    """Return the error that names the force, constraint or driver whose formula has no finite value at the last good
    state or just after it; None if there is none."""
    mech, y, t = stand.mech, stand.state.y, stand.state.time
    if happened not in BROKEN or not np.isfinite(y).all():
        return None
    q, v, x = stand.parts
    culprit = element_with_undefined_formula(mech.compiled, q, v, stand.p, t, x)
    culprit = culprit or undefined(mech.compiled, stand.equations.joint_modes.rows, t, y, stand.p)
    if not culprit:
        return None
    return SimulationError(stand.at + "its formula has no finite value.", where=culprit, remedy=REMEDY)


def chattering_formula(stand: EndedRun, happened: int) -> SimulationError | None:
    """Return the error for an event indicator, of the machine's formulas or of joint forces, that changes sign again
    and again; None if there is none."""
    if happened not in (STEP_UNDERFLOW, TOO_MANY) or not stand.state.events.size:
        return None
    sizes = np.abs(stand.state.events[[LOW, HIGH, VALUE]]).min(axis=0)
    k = int(np.argmin(sizes))
    machine, forces = stand.mech.compiled.elements.mode_variables, mode_variables_of(stand.mech, stand.torque)
    nodes = [*machine.indicators, *forces.indicators]
    if not sizes[k] < AT_BORDER or k >= len(nodes):
        return None
    what = f"{stand.at}the side of '{text_of(nodes[k])} = 0' switches faster and faster without end (chattering)."
    return SimulationError(what, where="formula", remedy=CHATTERING_REMEDY)


def contradicting_drivers(stand: EndedRun, _: int) -> SimulationError | None:
    """Return the error for drivers that contradict each other; None if they do not."""
    return contradiction_at(stand.mech, stand.p, stand.state.time, stand.state.y) if stand.watched else None


def contradiction_at(mech: Mechanism, p: Array, t: float, y: Array) -> SimulationError | None:
    """Return the error for drivers that contradict each other at the state y; None if they do not."""
    q, v = y[: mech.nq], y[mech.nq : mech.nq + mech.nv]
    found = contradiction(mech.compiled, q, v, p, t) if np.isfinite(y).all() else None
    if found is None:
        return None
    said = contradiction_error(mech.compiled, found)
    error = SimulationError(f"At t = {t:.6g} s: {said.what}", where=said.where, remedy=said.remedy)
    error.time = t
    return error


def racing_driver(stand: EndedRun, _: int) -> SimulationError | None:
    """Return the error for a driver that prescribes an unbounded speed; None if there is none."""
    runaway = diverging_driver(stand.mech, stand.p, stand.state.time)
    if runaway is None:
        return None
    remedy = "The driver's function may have a pole here: end the run earlier, or change the function."
    return SimulationError(f"{stand.at}it prescribes a speed of {runaway[1]}.", where=runaway[0], remedy=remedy)


def loop_at_toggle(stand: EndedRun, happened: int) -> SimulationError | None:
    """Return the error for loops in a toggle position, naming the driver that moves on; None if all loops close."""
    if happened not in BROKEN:
        return None
    states = (stand.state.y, *(piece.q[-1] for piece in reversed(stand.pieces) if len(piece.time)))
    poses = (np.array(y[: stand.mech.nq]) for y in states)
    tried = (toggle_position(stand.mech, q, stand.p, stand.state.time) for q in poses)
    found = next((each for each in tried if each is not None), None)
    if found is None:
        return None
    drivers = " and ".join(f"'{name}'" for name in found.drivers)
    what = f"{stand.at}the loop cannot close any further, at {found.pose}"
    if not drivers:
        remedy = "Begin on another assembly branch, change link lengths, or drive the loop by another joint."
        return SimulationError(f"{what}.", where=found.where, remedy=remedy)
    moves = ("driver", "moves") if len(found.drivers) == 1 else ("drivers", "move")
    what += f"; {moves[0]} {drivers} {moves[1]} on."
    remedy = (
        "Keep the driver's function within the range in which the loop closes, begin on another assembly branch, or "
        "drive another joint."
    )
    return SimulationError(what, where=found.where, remedy=remedy)


def wrong_friction(stand: EndedRun, happened: int) -> SimulationError | None:
    """Return the error for friction formulas with invalid values; None if all are valid."""
    if happened != WRONG_FRICTION:
        return None
    rows, (q, v, x) = stand.equations.joint_modes.rows, (part[None, :] for part in stand.parts)
    return first_invalid_friction_error(stand.mech.compiled, rows, np.array([stand.state.time]), q, v, x, stand.p)


REASONS: tuple[Callable[[EndedRun, int], SimulationError | None], ...] = (
    jamming_friction,
    dependent,
    unstable_steps,
    undefined_formula_error,
    chattering_formula,
    contradicting_drivers,
    racing_driver,
    loop_at_toggle,
    wrong_friction,
)


def generic_error(stand: EndedRun, happened: int) -> SimulationError:
    """Return a generic error based only on the outcome code of the step."""
    if happened == NOT_FINITE:
        what, where, remedy = (
            "the accelerations are not finite.",
            worst_component(stand),
            singularity_reason(stand),
        )
    elif happened == STEP_UNDERFLOW:
        what, where = "the step size became too small.", worst_component(stand)
        remedy = (
            "Check for a very stiff spring, a discontinuous force, or tolerances that are too tight."
            + stiff_remedy(stand)
        )
    elif happened == DRIFTED:
        rows = dict.fromkeys(f"{row.collection.rstrip('s')} '{row.element}'" for row in stand.mech.compiled.rows)
        what, where = "the loops have opened and can no longer be closed.", ", ".join(rows)
        remedy = "The machine may be at a dead point: begin in another pose, or use smaller steps."
    else:
        what, where = f"the limit of {stand.chosen.max_steps} steps was reached.", worst_component(stand)
        remedy = "Raise max_steps, or loosen the tolerances." + stiff_remedy(stand)
    return SimulationError(stand.at + what, where=where, remedy=remedy)


def stiff_remedy(stand: EndedRun) -> str:
    """Return the remedy for a machine that proved stiff for the chosen method."""
    held = stand.state.stability != 0.0 and stand.state.stiff_steps in (TOLD, STIFF_EVIDENCE)
    return f" Stability, not accuracy, limits the step size: use {STIFF_METHOD}." if held else ""


def worst_component(stand: EndedRun) -> str:
    """Return the name of the coordinate or speed with the largest error."""
    mech = stand.mech
    names = [f"coordinate '{name}'" for name in mech.q_names]
    names += [f"speed '{name}'" for name in mech.v_names]
    names += [f"state '{name}'" for name in mech.x_names]
    for values in (stand.state.y, stand.state.failed):
        if not np.isfinite(values).all():
            return names[int(np.argmin(np.isfinite(values)))]
    return names[int(np.argmax(np.abs(stand.state.failed)))] if names else ""


def singularity_reason(stand: EndedRun) -> str:
    """Explain why the accelerations are not finite, as the mechanism reports it at the last good state."""
    last = next((piece for piece in reversed(stand.pieces) if len(piece.time)), None)
    if last is not None and np.isfinite(last.tau[-1]).all():
        try:
            stand.mech.forward_dynamics(last.q[-1], last.v[-1], last.tau[-1], p=stand.p)
        except KinetostatError as error:
            return str(error)
    kept = "; the run keeps all states until then" if stand.run is not None else ""
    return f"Look at the joint forces, the masses and the step{kept}."
