"""Motions and joint forces with joint friction (sticking or sliding) and stops in contact, at one state or many.

Single states of machines without loops take up to three paths: equations without rows in machine code, where a guard
says that no row acts; machine code with rows (`core.constraints.compiled_forces`); and the general path in NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.codegen.evaluator import Evaluator, GuardedFunction
from core.codegen.single_state import Path
from core.constraints import acting_states, force_ranges, row_forces
from core.constraints.acting_states import default_resting_test
from core.constraints.compiled_forces import SingleCall, compiled_row_forces
from core.constraints.elastic_stops import warn_of_passed_limits
from core.constraints.multipliers import solve_constrained_motion
from core.constraints.named_values import broadcast_to_states
from core.mechanics.multibody.parameter_values import Values
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]


Motion = tuple[tuple[Array, Array], Array | None]
"""Accelerations (…, nv) and constraint multipliers (…, m), with forces along coordinates of loop-closing joints."""


def constrained_motion_with_rows(
    compiled: CompiledModel, q: Any, v: Any, tau: Any, p: Values, passive: bool, t: Any, x: Any, motors: bool = False
) -> Motion:
    """Accelerations and multipliers with static friction and stops in contact; among many states only those at which
    either may act are solved one by one."""
    free = partial(solve_constrained_motion, compiled, q, v, tau, p, passive, t, x)
    if not passive or not (motors or acting_states.has_friction_or_stops(compiled)):
        return free(), None
    which = None if motors else acting_states.acting_states_mask(compiled, q, v, p)
    if which is not None and not which.all():
        return _solve_marked_states(compiled, which, free(), q, v, tau, p, t, x)
    rows = row_forces.acting_forces(compiled, q, v, tau, p, t, x, motors)
    if rows is None:
        return free(), None
    given = np.asarray(tau) + rows.joint
    return solve_constrained_motion(compiled, q, v, given, p, True, t, x, smooth=True), rows.closing


def _solve_marked_states(
    compiled: CompiledModel,
    marked: NDArray[np.bool_],
    smooth_motion: tuple[Array, Array],
    q: Any,
    v: Any,
    tau: Any,
    p: Values,
    t: Any,
    x: Any,
) -> Motion:
    """Motion at many states, with friction and stops at those marked, and the smooth motion at the others."""
    if not marked.any():
        return smooth_motion, None
    given = [np.asarray(each, dtype=float) for each in (q, v, tau)]
    given += [np.asarray(t, dtype=float)[..., None]] + ([] if x is None else [np.asarray(x, dtype=float)])
    leading = np.broadcast_shapes(marked.shape, *(each.shape[:-1] for each in given))
    acts = np.flatnonzero(np.broadcast_to(marked, leading))
    states = [broadcast_to_states(each, leading)[acts] for each in given]
    own = states[4] if x is not None else None
    (a, multipliers), closing = constrained_motion_with_rows(
        compiled, states[0], states[1], states[2], p, True, states[3][:, 0], own
    )
    found = (
        _replace_states(smooth_motion[0], acts, a, leading),
        _replace_states(smooth_motion[1], acts, multipliers, leading),
    )
    return found, None if closing is None else _replace_states(
        np.zeros((*leading, closing.shape[-1])), acts, closing, leading
    )


def _replace_states(values: Array, indices: NDArray[np.int64], replacements: Array, leading: tuple[int, ...]) -> Array:
    """Return a (…, n) copy of `values` in which the rows of some states are replaced."""
    flat = np.array(broadcast_to_states(values, leading))
    flat[indices] = replacements
    return flat.reshape(*leading, -1)


# ------------------------------------------------------------------------------------------ quick calls


class GeneralPath(NamedTuple):
    """Substitute for a fast evaluator that always takes the general path."""

    call: Path


def forward_dynamics_fast_path(compiled: CompiledModel) -> Evaluator | GuardedFunction | GeneralPath:
    """(q, v, tau) → forward dynamics of a machine with default arguments; single states go straight to machine code,
    which tests for friction at rest and stops itself."""

    def general_path(q: Any, v: Any, tau: Any) -> Array:
        return constrained_motion_with_rows(compiled, q, v, tau, None, True, 0.0, None)[0][0]

    forces = compiled_row_forces(compiled)
    otherwise = general_path if forces is None else SingleCall(compiled, forces, True, general_path)
    return _quick_evaluator(compiled, "forward_dynamics", otherwise)


def inverse_dynamics_fast_path(compiled: CompiledModel) -> Evaluator | GuardedFunction | GeneralPath:
    """(q, v, a) → inverse dynamics of a machine with default arguments; single states go straight to machine code,
    unless a warning of passed limits is due."""

    def general_path(q: Any, v: Any, a: Any) -> Array:
        return forces_with_limit_warning(compiled, q, v, a, None, None, True)

    look, forces = default_resting_test(compiled), compiled_row_forces(compiled)
    if look is None or forces is None:
        return _quick_evaluator(compiled, "inverse_dynamics", general_path)

    def silent_path(q: Any, v: Any, a: Any) -> Array:
        return force_ranges.compute_joint_forces(compiled, q, v, a, None, None, True)

    beyond = SingleCall(compiled, forces, False, silent_path)

    def path_with_warning(q: Any, v: Any, a: Any) -> Array:
        tau: Array = beyond(q, v, a)
        warn_of_passed_limits(compiled, np.asarray(q, dtype=float), None, stack_level=5)
        return tau

    otherwise = SingleCall(compiled, forces, False, path_with_warning, look.silent_guard)
    return _quick_evaluator(compiled, "inverse_dynamics", otherwise)


def forces_with_limit_warning(
    compiled: CompiledModel,
    q: Any,
    v: Any,
    a: Any,
    actuators: Sequence[str] | None,
    p: Values,
    passive: bool,
    t: Any = 0.0,
    x: Any = None,
) -> Array:
    """Joint forces of a motion; warns of joints pressed far into elastic stops."""
    tau = force_ranges.compute_joint_forces(compiled, q, v, a, actuators, p, passive, t, x)
    if passive:
        warn_of_passed_limits(compiled, np.asarray(q, dtype=float), p)
    return tau


def _quick_evaluator(
    compiled: CompiledModel, function: str, general_path: Path
) -> Evaluator | GuardedFunction | GeneralPath:
    look, evaluator = acting_states.default_resting_test(compiled), compiled.evaluator(function)
    if look is None:
        return evaluator
    guard = look.guard()
    return GeneralPath(general_path) if guard is None else evaluator.build_guarded_function(guard, general_path)
