"""Error messages that explain why a run ended early, in terms of the user's machine.

Most particular causes come first (`REASONS`): friction without a solution, dependent constraint rows, steps that are
too long, a formula without a value, drivers that contradict each other, a loop in a toggle position. What none of them
explains is reported by the outcome of the step (`core.machine_code.outcome`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.bearing_friction import no_solution_error
from core.constraints.joint_rows import find_undefined_friction, first_invalid_friction_error
from core.constraints.redundant_drivers import (
    contradiction_error,
    find_contradiction,
    format_quantity,
    row_demands,
    row_unit,
)
from core.errors import KinetostatError, SimulationError
from core.machine_code.outcome import DRIFTED, NOT_FINITE, STEP_UNDERFLOW, TOO_MANY, WRONG_FRICTION
from core.mechanism import Mechanism
from core.model.formula.text import format_formula
from core.numerics.tolerances import OPEN_GAP, RANK_TOLERANCE, REGULAR_FRACTION
from core.programs.not_finite import REMEDY, find_undefined_element
from core.simulation.equations.compiled_equations import CompiledEquations
from core.simulation.equations.joint_forces import Torque, find_mode_variables
from core.simulation.events.sliding_modes import HIGH, LOW, VALUE
from core.simulation.methods.method import STIFF as STIFF_METHOD
from core.simulation.methods.step_state import STIFF_EVIDENCE, TOLD, StepState
from core.simulation.run.growing_rows import split_into_blocks
from core.simulation.run.run import Run
from core.simulation.run.settings import Settings

Array = NDArray[np.float64]
SHOWN = 3
"""Number of coordinates that describe a pose."""


SHARES = 0.1
"""Fraction of the largest coefficient of a linear dependence above which a row is mentioned in the message."""


def dependent_rows_error(mech: Mechanism, q: Array, p: Array, t: float) -> SimulationError:
    """Return the error for linearly dependent rows of G (rows, nv) at q (nq,); it names the loops, constraints and
    drivers involved.

    Combinations of rows with a singular value below REGULAR_FRACTION of the largest count as dependences, the least one
    in any case.
    """
    rows, G = mech.compiled.rows, np.asarray(mech.constraint_jacobian(q, p=p))
    left, singular, _ = np.linalg.svd(G)
    singular = np.concatenate([singular, np.zeros(len(rows) - len(singular))])
    count = max(int((singular < REGULAR_FRACTION * np.max(singular, initial=0.0)).sum()), 1)
    weights = np.linalg.norm(left[:, -count:], axis=1)
    taking = [rows[k] for k in np.flatnonzero(weights > SHARES * np.max(weights, initial=0.0))]
    names = list(dict.fromkeys(element_name(mech, row.collection, row.element) for row in taking))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    number = "one redundant row" if count == 1 else f"{count} redundant rows"
    error = SimulationError(
        f"At t = {t:.6g} s the constraints are redundant ({number} of {len(rows)}), but Cholesky's method requires "
        "independent ones.",
        where="; ".join(names[:SHOWN]) + more,
        remedy="Solve with factorisation='rank-revealing' (the default), or remove the redundant constraints: "
        "the function Mobility names them and proposes joints.",
    )
    error.time = t
    return error


LOST_FRACTION = 2e-3
"""Fraction of the largest singular value of the constraint Jacobian below which a direction of motion is about to be
lost; below RANK_TOLERANCE constraints are redundant everywhere."""
RACING_SPEED = 1e4
"""Speed (rad/s, m/s) that no machine reaches: a driver's function has a pole."""
TAKING_FRACTION = 0.1
"""Fraction of the largest component along the lost direction above which a driver counts as the cause."""


class TogglePosition(NamedTuple):
    """Toggle position of a loop: the element that cannot close, the pose, and the drivers that nevertheless move on."""

    where: str
    """Loop, constraint or driver."""
    pose: str
    """First independent coordinates, as text."""
    drivers: tuple[str, ...]
    """Names of the drivers that move on regardless."""


def find_toggle_position(mech: Mechanism, q: Array, p: Array, t: float) -> TogglePosition | None:
    """Return the toggle position at or near q; None if all loops close."""
    rows = mech.compiled.rows
    if not rows or not np.isfinite(q).all():
        return None
    try:
        gaps, G = mech.constraint_residual(q, p=p, t=t), mech.constraint_jacobian(q, p=p)
    except KinetostatError:
        return None
    if not (np.isfinite(gaps).all() and np.isfinite(G).all()):
        return None
    left, sizes, _ = np.linalg.svd(G, full_matrices=False)
    lost = np.flatnonzero((sizes > RANK_TOLERANCE * sizes[0]) & (sizes < LOST_FRACTION * sizes[0]))
    if np.max(np.abs(gaps)) > OPEN_GAP:
        worst = int(np.argmax(np.abs(gaps)))
    elif len(lost):
        worst = int(np.argmax(np.abs(left[:, lost[0]])))
    else:
        return None
    driven = [i for i, row in enumerate(rows) if row.collection == "drivers"]
    share = np.abs(left[driven, lost[0]]) if len(lost) else np.ones(len(driven))
    taking = [rows[i].element for i, x in zip(driven, share, strict=True) if x > TAKING_FRACTION * np.max(share)]
    where = element_name(mech, rows[worst].collection, rows[worst].element)
    return TogglePosition(where, _format_pose(mech, q), tuple(dict.fromkeys(taking)))


def find_diverging_driver(mech: Mechanism, p: Array, t: float) -> tuple[str, str] | None:
    """Return (driver, speed) of the fastest driver if its function diverges at t; None otherwise."""
    speeds = np.abs(row_demands(mech.compiled, mech.neutral(), None, p, t)[1]) if mech.compiled.rows else np.zeros(0)
    driven = [(speeds[i], row) for i, row in enumerate(mech.compiled.rows) if row.collection == "drivers"]
    fastest, row = max(driven, key=lambda pair: pair[0], default=(0.0, None))
    if row is None or not fastest > RACING_SPEED:
        return None
    return f"driver '{row.element}'", format_quantity(fastest, row_unit(mech.compiled, row), "/s")


def element_name(mech: Mechanism, collection: str, element: str) -> str:
    """Return the name of a cut joint's loop, or of a constraint or driver."""
    for loop in mech.loops:
        if loop.cut == element and collection == "joints":
            return str(loop)
    return f"{collection.rstrip('s')} '{element}'"


def _format_pose(mech: Mechanism, q: Array) -> str:
    """Return the values of the first independent coordinates as text."""
    independent = [name for step in mech.solution_order if step.kind == "independent" for name in step.joints]
    chosen = [c for name in independent for c in mech.coordinates if c.joint == name] or list(mech.coordinates)
    return ", ".join(f"{c.name} = {_format_coordinate(c.dimension, float(q[c.index]))}" for c in chosen[:SHOWN])


def _format_coordinate(dimension: str, x: float) -> str:
    """Return a coordinate as text, angles in both degrees and radians."""
    if dimension == "angle":
        return f"{x:.5g} rad ({math.degrees(x):.4g}°)"
    return f"{x:.5g}" + (" m" if dimension == "length" else "")


AT_BORDER = 1e-6
"""Magnitude of an event indicator below which its formula is close to a jump."""
CHATTERING_REMEDY = (
    "Add hysteresis, a delay or a smooth transition to the switching law, e.g. tanh(x/0.001) instead of sign(x); "
    "or choose a method with fixed steps, which steps over the switching."
)
BROKEN = (NOT_FINITE, STEP_UNDERFLOW, DRIFTED)
"""Outcomes that a formula without a finite value, or a loop in a toggle position, can cause."""


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
        """Return the opening words of the message, which contain the time."""
        return f"At t = {self.state.time:.6g} s "

    @property
    def parts(self) -> tuple[Array, Array, Array]:
        """Return q, v and x."""
        q, v, x = np.split(self.state.y, [self.mech.nq, self.mech.nq + self.mech.nv])
        return q, v, x


def early_end_error(ended_run: EndedRun, outcome: int) -> SimulationError:
    """Return the error that explains why a run ended early."""
    for reason in REASONS:
        error = reason(ended_run, outcome)
        if error is not None:
            break
    else:
        error = generic_error(ended_run, outcome)
    if error.time is None:
        error.time = ended_run.state.time
    return error


def jamming_error(ended_run: EndedRun, _: int) -> SimulationError | None:
    """Return the error for friction that depends on reactions and has no solution (jamming); None if that is not the
    cause."""
    if not ended_run.equations.is_jammed:
        return None
    error = no_solution_error(ended_run.equations.joint_modes)
    error.what = f"{ended_run.at}{error.what[0].lower()}{error.what[1:]}"
    return error


def dependent_constraints_error(ended_run: EndedRun, _: int) -> SimulationError | None:
    """Return the error for constraint rows that depend on one another, so that Cholesky's method fails; None if that is
    not the cause."""
    return (
        dependent_rows_error(ended_run.mech, ended_run.parts[0], ended_run.p, ended_run.state.time)
        if ended_run.dependent
        else None
    )


def unstable_steps_error(ended_run: EndedRun, outcome: int) -> SimulationError | None:
    """Return the error for fixed time steps with which the numerical solution itself diverges; None if that is not the
    cause."""
    if outcome not in (NOT_FINITE, DRIFTED) or ended_run.chosen.integration_method.adaptive:
        return None
    begun = find_divergence_time(ended_run)
    if begun is None:
        return None
    step = f"{ended_run.chosen.step:.6g} s" if ended_run.chosen.step else "this length"
    what = f"From t = {begun:.6g} s on, speeds grow without bound: the solution is unstable with steps of {step}."
    remedy = "Take shorter steps, or use a method with variable steps, such as radau for stiff machines."
    error = SimulationError(what, where=ended_run.chosen.integration_method.title, remedy=remedy)
    error.time = float(ended_run.run.time[-1]) if ended_run.run is not None else ended_run.state.time
    return error


def find_divergence_time(ended_run: EndedRun) -> float | None:
    """Return the time, s, at which speeds exceeded all bounds; None if they did not."""
    if ended_run.run is None:
        speeds = np.abs(ended_run.parts[1])
        return ended_run.state.time if np.isfinite(speeds).all() and speeds.max(initial=0.0) > RACING_SPEED else None
    for times, speeds in zip(split_into_blocks(ended_run.run.time), split_into_blocks(ended_run.run.v), strict=True):
        fast = np.abs(speeds).max(axis=1, initial=0.0) > RACING_SPEED
        if fast.any():
            return float(times[np.argmax(fast)])
    return None


def undefined_formula_error(ended_run: EndedRun, outcome: int) -> SimulationError | None:
    """Return the error that names the force, constraint or driver whose formula has no finite value at the last valid
    state or just after it; None if there is none."""
    mech, y, t = ended_run.mech, ended_run.state.y, ended_run.state.time
    if outcome not in BROKEN or not np.isfinite(y).all():
        return None
    q, v, x = ended_run.parts
    culprit = find_undefined_element(mech.compiled, q, v, ended_run.p, t, x)
    culprit = culprit or find_undefined_friction(mech.compiled, ended_run.equations.joint_modes.rows, t, y, ended_run.p)
    if not culprit:
        return None
    return SimulationError(ended_run.at + "its formula does not have a finite value.", where=culprit, remedy=REMEDY)


def chattering_error(ended_run: EndedRun, outcome: int) -> SimulationError | None:
    """Return the error for an event indicator, of the machine's formulas or of joint forces, that changes sign again
    and again; None if there is none."""
    if outcome not in (STEP_UNDERFLOW, TOO_MANY) or not ended_run.state.events.size:
        return None
    sizes = np.abs(ended_run.state.events[[LOW, HIGH, VALUE]]).min(axis=0)
    k = int(np.argmin(sizes))
    machine, forces = (
        ended_run.mech.compiled.elements.mode_variables,
        find_mode_variables(ended_run.mech, ended_run.torque),
    )
    nodes = [*machine.indicators, *forces.indicators]
    if not sizes[k] < AT_BORDER or k >= len(nodes):
        return None
    what = (
        f"{ended_run.at}the side of '{format_formula(nodes[k])} = 0' switches faster and faster without end "
        f"(chattering)."
    )
    return SimulationError(what, where="formula", remedy=CHATTERING_REMEDY)


def contradicting_drivers_error(ended_run: EndedRun, _: int) -> SimulationError | None:
    """Return the error for drivers that contradict each other; None if they do not."""
    return (
        contradiction_error_at(ended_run.mech, ended_run.p, ended_run.state.time, ended_run.state.y)
        if ended_run.watched
        else None
    )


def contradiction_error_at(mech: Mechanism, p: Array, t: float, y: Array) -> SimulationError | None:
    """Return the error for drivers that contradict each other at the state y; None if they do not."""
    q, v = y[: mech.nq], y[mech.nq : mech.nq + mech.nv]
    found = find_contradiction(mech.compiled, q, v, p, t) if np.isfinite(y).all() else None
    if found is None:
        return None
    said = contradiction_error(mech.compiled, found)
    error = SimulationError(f"At t = {t:.6g} s: {said.what}", where=said.where, remedy=said.remedy)
    error.time = t
    return error


def racing_driver_error(ended_run: EndedRun, _: int) -> SimulationError | None:
    """Return the error for a driver that prescribes an unbounded speed; None if there is none."""
    runaway = find_diverging_driver(ended_run.mech, ended_run.p, ended_run.state.time)
    if runaway is None:
        return None
    remedy = "The driver's function may have a pole here: end the run earlier, or change the function."
    return SimulationError(f"{ended_run.at}it prescribes a speed of {runaway[1]}.", where=runaway[0], remedy=remedy)


def toggle_error(ended_run: EndedRun, outcome: int) -> SimulationError | None:
    """Return the error for loops in a toggle position, naming the driver that moves on; None if all loops close."""
    if outcome not in BROKEN:
        return None
    states = (ended_run.state.y, *(piece.q[-1] for piece in reversed(ended_run.pieces) if len(piece.time)))
    poses = (np.array(y[: ended_run.mech.nq]) for y in states)
    tried = (find_toggle_position(ended_run.mech, q, ended_run.p, ended_run.state.time) for q in poses)
    found = next((each for each in tried if each is not None), None)
    if found is None:
        return None
    drivers = " and ".join(f"'{name}'" for name in found.drivers)
    what = f"{ended_run.at}the loop cannot close any further, at {found.pose}"
    if not drivers:
        remedy = "Start on another assembly branch, change link lengths, or drive another joint of the loop."
        return SimulationError(f"{what}.", where=found.where, remedy=remedy)
    moves = ("driver", "moves") if len(found.drivers) == 1 else ("drivers", "move")
    what += f"; {moves[0]} {drivers} {moves[1]} on."
    remedy = (
        "Keep the driver's function within the range in which the loop closes, start on another assembly branch, or "
        "drive another joint."
    )
    return SimulationError(what, where=found.where, remedy=remedy)


def wrong_friction_error(ended_run: EndedRun, outcome: int) -> SimulationError | None:
    """Return the error for friction formulas with invalid values; None if all are valid."""
    if outcome != WRONG_FRICTION:
        return None
    rows, (q, v, x) = ended_run.equations.joint_modes.rows, (part[None, :] for part in ended_run.parts)
    return first_invalid_friction_error(
        ended_run.mech.compiled, rows, np.array([ended_run.state.time]), q, v, x, ended_run.p
    )


REASONS: tuple[Callable[[EndedRun, int], SimulationError | None], ...] = (
    jamming_error,
    dependent_constraints_error,
    unstable_steps_error,
    undefined_formula_error,
    chattering_error,
    contradicting_drivers_error,
    racing_driver_error,
    toggle_error,
    wrong_friction_error,
)


def generic_error(ended_run: EndedRun, outcome: int) -> SimulationError:
    """Return a generic error based only on the outcome code of the step."""
    if outcome == NOT_FINITE:
        what, where, remedy = (
            "the accelerations are not finite.",
            find_worst_component(ended_run),
            explain_singularity(ended_run),
        )
    elif outcome == STEP_UNDERFLOW:
        what, where = "the step size became too small.", find_worst_component(ended_run)
        remedy = (
            "Check for a very stiff spring, a discontinuous force, or tolerances that are too tight."
            + stiffness_remedy(ended_run)
        )
    elif outcome == DRIFTED:
        rows = dict.fromkeys(f"{row.collection.rstrip('s')} '{row.element}'" for row in ended_run.mech.compiled.rows)
        what, where = "the loops have drifted open and can no longer be closed.", ", ".join(rows)
        remedy = "The machine may be at a dead point: start in another pose, or use smaller steps."
    else:
        what, where = f"the limit of {ended_run.chosen.max_steps} steps was reached.", find_worst_component(ended_run)
        remedy = "Raise max_steps, or loosen the tolerances." + stiffness_remedy(ended_run)
    return SimulationError(ended_run.at + what, where=where, remedy=remedy)


def stiffness_remedy(ended_run: EndedRun) -> str:
    """Return the remedy for a machine that proved stiff for the chosen method."""
    held = ended_run.state.stability != 0.0 and ended_run.state.stiff_steps in (TOLD, STIFF_EVIDENCE)
    return f" Stability, not accuracy, limits the step size: use {STIFF_METHOD}." if held else ""


def find_worst_component(ended_run: EndedRun) -> str:
    """Return the name of the coordinate or speed with the largest error."""
    mech = ended_run.mech
    names = [f"coordinate '{name}'" for name in mech.q_names]
    names += [f"speed '{name}'" for name in mech.v_names]
    names += [f"state '{name}'" for name in mech.x_names]
    for values in (ended_run.state.y, ended_run.state.failed):
        if not np.isfinite(values).all():
            return names[int(np.argmin(np.isfinite(values)))]
    return names[int(np.argmax(np.abs(ended_run.state.failed)))] if names else ""


def explain_singularity(ended_run: EndedRun) -> str:
    """Explain why the accelerations are not finite, from the mechanism's own diagnosis at the last valid state."""
    last = next((piece for piece in reversed(ended_run.pieces) if len(piece.time)), None)
    if last is not None and np.isfinite(last.tau[-1]).all():
        try:
            ended_run.mech.forward_dynamics(last.q[-1], last.v[-1], last.tau[-1], p=ended_run.p)
        except KinetostatError as error:
            return str(error)
    kept = "; the run contains all states up to this time" if ended_run.run is not None else ""
    return f"Check the joint forces, the masses and the step size{kept}."
