"""Quick test for the states at which joint friction or stops may act: joints at rest with friction, and stops in
contact.

Of all others equations of motion know all, and go through arrays of states at the speed of machine code.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.codegen.single_state import Guard, RangeCheck
from core.constraints.elastic_stops import SMALL_PASSING, has_elastic_stop
from core.constraints.joint_modes import NOWHERE, JointRow, JointRowTable, build_joint_row_table
from core.constraints.named_values import as_states
from core.mechanics.multibody.parameter_values import Values
from core.model import Force, Joint
from core.numerics.tolerances import AT_REST_SPEED, TOUCH_TOLERANCE
from core.programs.compiled import CompiledModel, cache_per_model

Array = NDArray[np.float64]


class RestingTest:
    """Quick test of states, for one set of parameter values, that rules out active friction at rest and active stops
    without evaluating any joint row.

    nv : number of speeds; speeds : those of them in joints that rub; lower, upper : between which each entry of q is
    away from stops; always : whether there are rows of joints that close loops, which no look at q and v tells,
    or friction by reactions
    """

    def __init__(self, nv: int, speeds: tuple[int, ...], lower: Array, upper: Array, always: bool) -> None:
        self.nv, self.speeds, self.lower, self.upper, self.always = nv, speeds, lower, upper, always
        self.silent_guard = Guard()
        """Guard on the argument q that passes only states at which no passed limit is reported."""

    def may_act(self, q: Any, v: Any) -> bool:
        """Return True if friction at rest or a stop may act at any of the states q (…, nq), v (…, nv); v = None ignores
        speeds."""
        if self.always:
            return True
        q = as_states(q, len(self.lower), "q")
        v = None if v is None or not self.speeds else as_states(v, self.nv, "v")
        return bool(self._acting_mask(q, v).any())

    def guard(self) -> Guard | None:
        """Guard on the arguments q and v that passes only states at which neither friction at rest nor a stop acts;
        None if q and v alone cannot decide."""
        if self.always:
            return None
        bounds = enumerate(zip(self.lower.tolist(), self.upper.tolist(), strict=True))
        stops = [RangeCheck(0, k, low, high) for k, (low, high) in bounds if low > -np.inf or high < np.inf]
        slow = np.nextafter(AT_REST_SPEED, 0.0)
        return Guard((*stops, *(RangeCheck(1, k, -slow, slow, outside=True) for k in self.speeds)))

    def acting_mask(self, q: Any, v: Any) -> NDArray[np.bool_]:
        """(…) mask of the states q (…, nq), v (…, nv) at which friction at rest or a stop may act; v = None ignores
        speeds."""
        q = as_states(q, len(self.lower), "q")
        v = None if v is None else as_states(v, self.nv, "v")
        if self.always:
            return np.ones(np.broadcast_shapes(q.shape[:-1], () if v is None else v.shape[:-1]), dtype=bool)
        return self._acting_mask(q, v if self.speeds else None)

    def _acting_mask(self, q: Array, v: Array | None) -> NDArray[np.bool_]:
        found = _any_equal((self.lower <= q) & (q <= self.upper), False)
        return found if v is None else found | _any_equal(np.abs(v[..., self.speeds]) < AT_REST_SPEED, True)


def _any_equal(flags: NDArray[np.bool_], value: bool) -> NDArray[np.bool_]:
    """(…) mask, True where any entry of flags (…, n) has the given value; fast if no entry has it."""
    if not (flags.any() if value else not flags.all()):
        return np.zeros(flags.shape[:-1], dtype=bool)
    return np.asarray(np.any(flags == value, axis=-1))


@cache_per_model
def default_resting_test(compiled: CompiledModel) -> RestingTest | None:
    """Quick test of states for the model's own parameter values; None if no joint has friction or stops."""
    return _resting_test(compiled, default_joint_row_table(compiled))


def _resting_test(compiled: CompiledModel, modes: JointRowTable) -> RestingTest | None:
    rows, bearing = modes.rows, bool(modes.rows_with_bearing_friction)
    rubbing = [row for row in rows if row.has_dry_friction]
    stopped = [row for row in rows if np.isfinite([row.lower, row.upper]).any()]
    if not rubbing and not stopped:
        return None
    lower, upper = np.full(compiled.nq, -np.inf), np.full(compiled.nq, np.inf)
    for row in stopped:
        if row.at_q != NOWHERE:
            low, high = _leader_interval_off_stops(row)
            lower[row.at_q], upper[row.at_q] = max(lower[row.at_q], low), min(upper[row.at_q], high)
    test = RestingTest(
        compiled.nv,
        tuple({row.at_v for row in rubbing}),
        lower,
        upper,
        bearing or any(row.at_v == NOWHERE for row in (*rubbing, *stopped)),
    )
    reported = [row for row in stopped if row.at_q != NOWHERE and has_elastic_stop(row)]
    test.silent_guard = Guard(tuple(RangeCheck(0, row.at_q, *_silent_interval(row)) for row in reported))
    return test


def _silent_interval(row: JointRow) -> tuple[float, float]:
    """Interval of the leader's coordinate within which no passed limit of a row with elastic stops is reported."""
    return _leader_interval_off_stops(replace(row, lower=row.lower - SMALL_PASSING, upper=row.upper + SMALL_PASSING))


def _leader_interval_off_stops(row: JointRow) -> tuple[float, float]:
    """Interval of the leader's coordinate within which a mimic joint does not touch its stops."""
    if row.ratio == 0.0:
        return -np.inf, np.inf
    ends = sorted(((row.lower - row.offset) / row.ratio, (row.upper - row.offset) / row.ratio))
    hair = TOUCH_TOLERANCE / abs(row.ratio) if row.rigid else 0.0
    return ends[0] + hair, ends[1] - hair


@cache_per_model
def has_friction_or_stops(compiled: CompiledModel) -> bool:
    """Return True if a joint or clutch has friction or stops, if only for some parameter values."""
    model = compiled.model.expanded
    rubbing: tuple[Joint | Force, ...] = (*model.joints, *model.forces)
    levels = [level for element in rubbing for level in element.friction_levels]
    levels += [joint.friction_coefficient for joint in model.joints if joint.has_reaction_friction]
    levels += [bound for joint in model.joints for limit in joint.limits for bound in (limit.lower, limit.upper)]
    return any(isinstance(level, str) for level in levels) or default_resting_test(compiled) is not None


@cache_per_model
def default_joint_row_table(compiled: CompiledModel) -> JointRowTable:
    """Friction and stop rows of all joints at the model's own parameter values."""
    return build_joint_row_table(compiled, compiled.parameter_values(None))


def may_act(compiled: CompiledModel, q: Any, v: Any, p: Values) -> bool:
    look = _resting_test_for(compiled, p)
    return look is not None and look.may_act(q, v)


def _resting_test_for(compiled: CompiledModel, p: Values) -> RestingTest | None:
    """Quick test of states for parameter values p; it passes no state if p varies from state to state."""
    if p is None:
        return default_resting_test(compiled)
    if not has_friction_or_stops(compiled):
        return None
    values, nowhere = compiled.parameter_values(p), np.full(compiled.nq, np.inf)
    if values.ndim > 1:
        return RestingTest(compiled.nv, (), -nowhere, nowhere, always=True)
    return _resting_test(compiled, build_joint_row_table(compiled, values))


def acting_states_mask(compiled: CompiledModel, q: Any, v: Any, p: Values) -> NDArray[np.bool_] | None:
    """(…) mask of the states at which friction at rest or a stop may act (v None: at rest); None if nothing can act, or
    for a single state, which is not tested here."""
    if max(np.ndim(q), 1 if v is None else np.ndim(v)) < 2:
        return None
    look = _resting_test_for(compiled, p)
    return None if look is None else look.acting_mask(q, v)
