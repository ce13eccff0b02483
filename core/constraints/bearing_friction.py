"""Bearing friction that grows with a joint's own reaction, F = F₀ + μ (r |f⊥| + …): bearing loads at a state, their
consistent solution with friction, and messages if there is no solution or more than one.

Accelerations and multipliers follow from friction, the loads of bearings from them, friction from the loads: a fixed
point. Where loads grow slower than friction does (self-locking factor κ < 1) it is the only one; beyond, a machine
locks or has several answers (Painlevé).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.joint_modes import NOWHERE, JointRowTable
from core.constraints.joint_rows import JointRows
from core.constraints.multipliers import solve_constrained_motion
from core.errors import SimulationError
from core.mechanics.multibody.parameter_values import Values
from core.numerics.fixed_points import fixed_point
from core.numerics.rank import null_space
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]

STEP_FRACTION = 1e-3
"""Size of the test change of non-unique constraint forces, as a fraction of all constraint forces."""
NOT_UNIQUE_FRACTION = 1e-7
"""Change of a bearing load, relative to the test change, up to which the load counts as unique."""


def compute_bearing_loads(
    compiled: CompiledModel,
    q: Array,
    v: Array,
    a: Array,
    multipliers: Array,
    closing: Array | None,
    p: Values,
    t: Any = 0.0,
    x: Any = None,
) -> Array:
    """Compute the (…, bearings) friction force of each bearing per unit friction coefficient. closing : (…, n) forces
    along coordinates of loop-closing joints"""
    given = [q, v, a]
    if compiled.rows:
        given.append(multipliers)
    if count := len(compiled.program.symbolic.cut_coordinates):
        given.append(np.zeros(count) if closing is None else closing)
    return np.asarray(compiled.call("bearing_loads", *given, p=p, t=t, x=x))


def joint_rows_under_load(joint_rows: JointRows, loads: Array) -> JointRows:
    """Return the joint rows with their friction computed from the bearing loads."""
    rows = tuple(
        row if row.bearing == NOWHERE else row.with_bearing_load(float(loads[row.bearing])) for row in joint_rows.rows
    )
    return joint_rows._replace(rows=rows)


def consistent_bearing_loads(
    compiled: CompiledModel, modes: JointRowTable, loads: Callable[[Array], Array], start: Array | None = None
) -> Array:
    """(bearings,) loads that are consistent with the friction they cause: the fixed point of `loads`. start :
    (bearings,) initial value. Raises SimulationError if there is none."""
    found = fixed_point(loads, np.zeros(len(compiled.program.symbolic.bearings)) if start is None else start)
    if not found.found:
        raise no_solution_error(modes)
    return found.x


def no_solution_error(modes: JointRowTable) -> SimulationError:
    """Error for reaction-dependent friction that has no consistent solution."""
    names, most = joints_with_bearing_friction(modes), max(row.coefficient for row in modes.rows_with_bearing_friction)
    return SimulationError(
        f"Reaction-dependent friction with coefficient {most:g} locks the joint: no friction force is consistent with "
        "the reaction it causes (Painlevé paradox).",
        where=names,
        remedy="Reduce friction, move the bearings farther apart, or model a compliant contact or stop.",
    )


LOCKING = "locks or has several solutions"


def multiple_solutions_note(modes: JointRowTable, t: float, factor: float) -> str:
    """Note of a run for reaction-dependent friction with more than one solution."""
    most = max(row.coefficient for row in modes.rows_with_bearing_friction)
    return (
        f"{joints_with_bearing_friction(modes)}: reaction-dependent friction with coefficient {most:g} {LOCKING} at "
        f"t = {t:.6g} s "
        f"(self-locking factor {factor:.3g}, Painlevé paradox): the run continues with the solution that was found; "
        "only a compliant contact or stop makes it unique."
    )


def joints_with_bearing_friction(modes: JointRowTable) -> str:
    """List, as text, of the joints whose friction grows with their reaction."""
    owners = dict.fromkeys(row.owner for row in modes.rows_with_bearing_friction)
    return ", ".join(f"joint '{name}'" for name in owners)


def require_unique_bearing_loads(
    compiled: CompiledModel, modes: JointRowTable, q: Array, v: Array, p: Values, t: float = 0.0, x: Any = None
) -> None:
    """Raise SimulationError if redundant constraints leave the bearing loads undetermined at a state without joint
    forces. In a planar loop only out-of-plane forces are undetermined; if there are none, the smallest possible loads
    are used and the loop is accepted."""
    if not (compiled.constrained and modes.rows_with_bearing_friction):
        return
    free = null_space(np.asarray(compiled.call("constraint_jacobian", q, p=p)).T)
    if not free.shape[1]:
        return
    a, least = solve_constrained_motion(compiled, q, v, np.zeros(compiled.nv), p, True, t, x, smooth=True)
    more = free @ np.random.default_rng(0).standard_normal(free.shape[1])
    more *= STEP_FRACTION * max(float(np.linalg.norm(least)), 1.0)
    ahead, behind = (compute_bearing_loads(compiled, q, v, a, least + step, None, p, t, x) for step in (more, -more))
    size = float(np.linalg.norm(more))
    for row in modes.rows_with_bearing_friction:
        if abs(ahead[row.bearing] - behind[row.bearing]) > NOT_UNIQUE_FRACTION * size:
            raise SimulationError(
                "The joint's friction depends on its reaction, which is not unique because constraints are redundant.",
                where=f"joint '{row.owner}', friction_coefficient",
                remedy="Release the redundant constraints (as isostatic_model does), or give its friction as a number.",
            )


def refuse_bearing_friction(
    modes: JointRowTable, computation: str, remedy: str = "Give its friction as a number, or leave it out."
) -> None:
    """Raise SimulationError if any friction grows with reactions, for computations that do not support it. computation
    : its name, as the subject of the sentence"""
    if modes.rows_with_bearing_friction:
        raise SimulationError(
            f"{computation} does not support friction that depends on a joint's own reaction.",
            where=joints_with_bearing_friction(modes),
            remedy=remedy,
        )


def joint_rows_at_rest(
    compiled: CompiledModel, modes: JointRowTable, rows: JointRows, q: Array, p: Values, t: float = 0.0, x: Any = None
) -> JointRows:
    """Joint rows of an open chain with the bearing friction of its static loads; rows of a machine with loops are
    returned unchanged, since their loads depend on friction."""
    if not modes.rows_with_bearing_friction or compiled.constrained:
        return rows
    still = np.zeros(compiled.nv)
    return joint_rows_under_load(rows, compute_bearing_loads(compiled, q, still, still, np.zeros(0), None, p, t, x))
