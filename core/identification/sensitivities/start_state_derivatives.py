"""Derivatives of the initial state of a run with respect to parameters and initial values.

Where it is given by numbers and nothing holds the machine, it does not. Else it is what `simulate` makes of what was
given: rest poses that are formulas, loops that are closed, force elements at rest. Of loops the independent coordinates
and speeds follow parameters as differences of that tell (fourth order); the rest follows from these exactly, on the
manifold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.held_state import well_conditioned_speeds
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.errors import ExpressionError, ModelError, suggest_names
from core.identification.sensitivities.explicit_rates import CompiledArguments, EvaluationPoints
from core.identification.sensitivities.held_rates import ConstrainedRates
from core.mechanism import Mechanism
from core.model.formula.expression import names_in_formula, parse
from core.numerics.rank import null_space
from core.numerics.tolerances import RANK_TOLERANCE
from core.simulation.run.initial_state import start_state
from core.simulation.run.settings import Values

Array = NDArray[np.float64]

PARAMETER_STEP_FRACTION = 1e-3
"""Difference step for the initial state, as a fraction of the parameter (of 0.1 if the parameter is 0)."""
START_STEP = 1e-3
"""Difference step of an initial position, rad or m, for the states of force elements."""


class InitialState(NamedTuple):
    """Initial state of a run in the form in which it was given.

    fixed : independent speeds of loops along which the first pose, a closed one, stays where it is whatever the
    parameters are
    """

    q0: Values
    v0: Values
    x0: Values
    time: float
    fixed: tuple[str, ...] = ()


class DerivativeVariable(NamedTuple):
    """Variable of differentiation: a parameter (its index, −1 for none), or q, v, x of the initial state with its
    index."""

    parameter: int
    kind: str = ""
    place: int = -1


def derivative_variable_names(mech: Mechanism) -> tuple[str, ...]:
    """Return all names with respect to which runs can be differentiated."""
    starts = (f"{name}.{end}" for end in "qv" for name in mech.v_names)
    return (*mech.p_names, *starts, *mech.x_names)


def parse_derivative_variables(mech: Mechanism, names: Sequence[str]) -> list[DerivativeVariable]:
    """Convert names to variables of differentiation: parameters, `elbow.q` and `elbow.v` of the initial state, states
    of force elements.

    Raises ModelError.
    """
    if isinstance(names, str):
        raise ModelError("by is a single string.", where="by", remedy=f"Write a list: by=['{names}'].")
    starts: dict[str, DerivativeVariable] = {
        name: DerivativeVariable(-1, "x", k) for k, name in enumerate(mech.x_names)
    }
    for k, name in enumerate(mech.v_names):
        starts[f"{name}.q"], starts[f"{name}.v"] = DerivativeVariable(-1, "q", k), DerivativeVariable(-1, "v", k)
    found = []
    for name in names:
        if name in mech.p_names:
            found.append(DerivativeVariable(mech.p_names.index(name)))
        elif name in starts:
            found.append(starts[name])
        else:
            raise ModelError(
                f"There is no independent parameter and no initial value '{name}'.",
                where="by",
                remedy=suggest_names(str(name), [*mech.p_names, *starts]),
            )
    if not found:
        raise ModelError(
            "No variables of differentiation are given.", where="by", remedy="Name parameters or initial values."
        )
    return found


def start_state_derivatives(
    mech: Mechanism, start: InitialState, y0: Array, p: Array, columns: Sequence[DerivativeVariable]
) -> Array:
    """Return the derivatives ∂y₀ with respect to each variable, (n, m)."""
    n, nq, nv = len(y0), mech.nq, mech.nv
    result = np.zeros((n, len(columns)))
    along = coordinate_rate_matrix(mech, y0[:nq])
    for k, column in enumerate(columns):
        if column.kind == "q":
            result[:nq, k] = along[:, column.place]
        elif column.kind == "v":
            result[nq + column.place, k] = 1.0
        elif column.kind == "x":
            result[nq + nv + column.place, k] = 1.0
    by_numbers = _is_given_by_numbers(mech, start, y0[:nq], p)
    if not by_numbers:
        for k, column in enumerate(columns):
            if column.parameter >= 0:
                result[:, k] = _parameter_difference_quotient(mech, start, y0, p, column.parameter)
    if mech.constrained:
        named = start.fixed or (list(start.q0) if by_numbers else ())  # type: ignore[arg-type]
        _set_dependent_derivatives(mech, start, y0, p, columns, result, named)
    if mech.nx and start.x0 is None:
        for k, column in enumerate(columns):
            if column.kind in ("q", "v"):
                result[nq + nv :, k] = _equilibrium_state_change(mech, y0, result[: nq + nv, k], p, start.time)
    return result


def coordinate_rate_matrix(mech: Mechanism, q: Array) -> Array:
    """Return the matrix N of q̇ = N v, (nq, nv)."""
    if mech.nq == mech.nv:
        return np.eye(mech.nv)
    unit = np.eye(mech.nv)
    found: Array = mech.compiled.call("rate", np.repeat(q[None], mech.nv, axis=0), unit).T
    return found


def _is_given_by_numbers(mech: Mechanism, start: InitialState, q: Array, p: Array) -> bool:
    """Return True if parameters affect the initial state only through the constraint manifold."""
    if mech.nx and start.x0 is None:
        return False
    if mech.constrained and not start.fixed and not _is_pose_determined(mech, start, q, p):
        return False
    joints, known = mech.model.expanded.joints, {each.name for each in mech.model.expanded.parameters}
    for given, field in ((start.q0, "rest"), (start.v0, "start_speed")):
        named = list(given.values()) if isinstance(given, Mapping) else [] if given is None else list(given)
        stated = [value for joint in joints for value in getattr(joint, field)]
        texts = [*named, *(stated if given is None or (isinstance(given, Mapping) and not mech.constrained) else ())]
        if any(_depends_on_parameters(each, known) for each in texts):
            return False
    return True


def _depends_on_parameters(value: Any, known: set[str]) -> bool:
    """Return True if a value is a formula in parameters, or a list that contains one."""
    if isinstance(value, list | tuple):
        return any(_depends_on_parameters(each, known) for each in value)
    if not isinstance(value, str):
        return False
    try:
        return not names_in_formula(parse(value)).isdisjoint(known)
    except ExpressionError:  # with a unit
        return any(name in known for name in re.findall(r"[A-Za-z_][\w.]*", value))


def _is_pose_determined(mech: Mechanism, start: InitialState, q: Array, p: Array) -> bool:
    """Return True if the named coordinates determine the pose, and the initial speeds are zero or given for the same
    names."""
    if not isinstance(start.q0, Mapping) or not all(name in mech.v_names for name in start.q0):
        return False
    motions = null_space(mech.constraint_jacobian(q, p=p))
    named = [mech.v_names.index(name) for name in start.q0]
    if len(named) < motions.shape[1] or np.linalg.matrix_rank(motions[named], tol=1e-7) < motions.shape[1]:
        return False
    if start.v0 is None:
        return not any(joint.start_speed for joint in mech.model.expanded.joints)
    return isinstance(start.v0, Mapping) and set(start.v0) == set(start.q0)


def _parameter_difference_quotient(mech: Mechanism, start: InitialState, y0: Array, p: Array, parameter: int) -> Array:
    """Return ∂y₀/∂p, (n,), by fourth-order differences."""
    h = PARAMETER_STEP_FRACTION * (abs(p[parameter]) or 0.1)

    def state_at(change: float) -> Array:
        other = np.array(p)
        other[parameter] += change
        return start_state(mech, start.q0, start.v0, other, start.time, start.x0)

    found: Array = (8.0 * (state_at(h) - state_at(-h)) - (state_at(2.0 * h) - state_at(-2.0 * h))) / (12.0 * h)
    return found


def _equilibrium_state_change(mech: Mechanism, y0: Array, change: Array, p: Array, t: float) -> Array:
    """Return the change (nx,) of the equilibrium states of force elements that is caused by a change of q and v."""
    nq, nv, h = mech.nq, mech.nv, START_STEP

    def state_at(fraction: float) -> Array:
        moved = y0[: nq + nv] + fraction * change
        return mech.x_rest(moved[:nq], p=p, t=t, v=moved[nq:], near=y0[nq + nv :])

    found: Array = (8.0 * (state_at(h) - state_at(-h)) - (state_at(2.0 * h) - state_at(-2.0 * h))) / (12.0 * h)
    return found


def _set_dependent_derivatives(
    mech: Mechanism,
    start: InitialState,
    y0: Array,
    p: Array,
    columns: Sequence[DerivativeVariable],
    result: Array,
    given_speeds: Sequence[str],
) -> None:
    """Set the derivatives of dependent positions and speeds from the constraints; those of independent ones are
    kept."""
    nq, nv = mech.nq, mech.nv
    parameters = tuple(column.parameter for column in columns if column.parameter >= 0)
    rates = ConstrainedRates(CompiledArguments(mech, None, np.zeros(nv), p), parameters)
    place = rates.constraint_manifold(
        EvaluationPoints(np.array([start.time]), y0[None], np.zeros((1, rates.indicator_count)))
    )
    preferred = [column.place for column in columns if column.kind in ("q", "v")]
    independent = choose_independent_speeds(
        mech, p, start.time, place.G, preferred, [mech.v_names.index(name) for name in given_speeds]
    )
    free = np.setdiff1d(np.arange(nv), independent)
    inverse = np.linalg.pinv(place.G[:, free], rcond=RANK_TOLERANCE)
    along = np.linalg.pinv(place.N)
    at = 0
    for k, column in enumerate(columns):
        gaps, moving = np.zeros(len(place.G)), np.zeros(len(place.G))
        if column.parameter >= 0:
            gaps, moving, at = place.gaps_p[:, at], place.moving_p[:, at], at + 1
        xi, speeds = along @ result[:nq, k], result[nq : nq + nv, k]
        xi[free] = -inverse @ (gaps + place.G[:, independent] @ xi[independent])
        result[:nq, k] = place.N @ xi
        drift = moving + place.moving_q @ result[:nq, k]
        speeds[free] = -inverse @ (drift + place.G[:, independent] @ speeds[independent])


def choose_independent_speeds(
    mech: Mechanism, p: Array, t: float, G: Array, requested_speeds: Sequence[int], given_speeds: Sequence[int]
) -> list[int]:
    """Choose independent speeds: first those whose initial values are requested, then those that were given."""
    motions = null_space(G)
    chosen: list[int] = []
    for index in (
        *requested_speeds,
        *given_speeds,
        *well_conditioned_speeds(PositionConstraints(mech.compiled, p, t), motions),
    ):
        if index in chosen:
            continue
        if np.linalg.matrix_rank(motions[[*chosen, index]], tol=1e-7) > len(chosen):
            chosen.append(index)
        elif index in requested_speeds:
            others = ", ".join(mech.v_names[each] for each in chosen)
            why = f"follows from {others}" if others else "is fixed by constraints"
            raise ModelError(
                f"The initial value of '{mech.v_names[index]}' {why}.",
                where="by",
                remedy="Name initial values of independent coordinates.",
            )
    return sorted(chosen)
