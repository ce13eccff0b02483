"""Bearing friction that grows with a joint's own reaction, F = F₀ + μ (r |f⊥| + …): bearing loads at a state, the
friction consistent with them, and messages if there is no solution or more than one.

Accelerations and multipliers follow from friction, the loads of bearings from them, friction from the loads: a fixed
point. Where loads grow slower than friction does (self-locking factor κ < 1) it is the only one; beyond, a machine
locks or has several answers (Painlevé).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.joint_modes import NOWHERE, JointModes
from core.constraints.joint_rows import JointRows
from core.constraints.multipliers import constrained_motion
from core.errors import SimulationError
from core.mechanics.multibody.parameter_values import Values
from core.numerics.fixed_points import fixed_point
from core.numerics.rank import null_space
from core.programs.compiled import Compiled

Array = NDArray[np.float64]

STEP_FRACTION = 1e-3
"""Size of the test change of non-unique constraint forces, as a fraction of all constraint forces."""
NOT_UNIQUE_FRACTION = 1e-7
"""Change of a bearing load, as a fraction of the test change, up to which the load counts as unique."""


def bearing_loads_at(
    compiled: Compiled,
    q: Array,
    v: Array,
    a: Array,
    multipliers: Array,
    closing: Array | None,
    p: Values,
    t: Any = 0.0,
    x: Any = None,
) -> Array:
    """(…, bearings) friction force of each bearing per unit friction coefficient. closing : (…, n) forces along
    coordinates of loop-closing joints"""
    given = [q, v, a]
    if compiled.rows:
        given.append(multipliers)
    if count := len(compiled.program.symbolic.cut_coordinates):
        given.append(np.zeros(count) if closing is None else closing)
    return np.asarray(compiled.call("bearing_loads", *given, p=p, t=t, x=x))


def loaded(at: JointRows, loads: Array) -> JointRows:
    """Joint rows with their friction set from the bearing loads."""
    rows = tuple(row if row.bearing == NOWHERE else row.loaded(float(loads[row.bearing])) for row in at.rows)
    return at._replace(rows=rows)


def consistent_bearing_loads(
    compiled: Compiled, modes: JointModes, loads: Callable[[Array], Array], start: Array | None = None
) -> Array:
    """(bearings,) loads that are consistent with the friction they cause, the fixed point of `loads`. start :
    (bearings,) first guess. Raises SimulationError if there is none."""
    found = fixed_point(loads, np.zeros(len(compiled.program.symbolic.bearings)) if start is None else start)
    if not found.found:
        raise no_solution_error(modes)
    return found.x


def no_solution_error(modes: JointModes) -> SimulationError:
    """Error for reaction-dependent friction that has no consistent solution."""
    names, most = joints_with_bearing_friction(modes), max(row.coefficient for row in modes.bearings)
    return SimulationError(
        f"Reaction-dependent friction with coefficient {most:g} locks the joint: no friction force is consistent with "
        "the reaction it causes (Painlevé paradox).",
        where=names,
        remedy="Reduce friction, move the bearings farther apart, or model a compliant contact or stop.",
    )


LOCKING = "locks or has several solutions"


def locking_note(modes: JointModes, t: float, factor: float) -> str:
    """Note of a run for reaction-dependent friction with more than one solution."""
    most = max(row.coefficient for row in modes.bearings)
    return (
        f"{joints_with_bearing_friction(modes)}: reaction-dependent friction with coefficient {most:g} {LOCKING} at "
        f"t = {t:.6g} s "
        f"(self-locking factor {factor:.3g}, Painlevé paradox): the run continues with the solution that was found; "
        "only a compliant contact or stop makes it unique."
    )


def joints_with_bearing_friction(modes: JointModes) -> str:
    """List, as text, of the joints whose friction grows with their reaction."""
    owners = dict.fromkeys(row.owner for row in modes.bearings)
    return ", ".join(f"joint '{name}'" for name in owners)


def require_unique_bearing_loads(
    compiled: Compiled, modes: JointModes, q: Array, v: Array, p: Values, t: float = 0.0, x: Any = None
) -> None:
    """Raise SimulationError if redundant constraints leave the bearing loads undetermined at a state without joint
    forces. In a planar loop only out-of-plane forces are undetermined: where there are none, the loads are the smallest
    possible ones and pass."""
    if not (compiled.constrained and modes.bearings):
        return
    free = null_space(np.asarray(compiled.call("constraint_jacobian", q, p=p)).T)
    if not free.shape[1]:
        return
    a, least = constrained_motion(compiled, q, v, np.zeros(compiled.nv), p, True, t, x, smooth=True)
    more = free @ np.random.default_rng(0).standard_normal(free.shape[1])
    more *= STEP_FRACTION * max(float(np.linalg.norm(least)), 1.0)
    ahead, behind = (bearing_loads_at(compiled, q, v, a, least + step, None, p, t, x) for step in (more, -more))
    size = float(np.linalg.norm(more))
    for row in modes.bearings:
        if abs(ahead[row.bearing] - behind[row.bearing]) > NOT_UNIQUE_FRACTION * size:
            raise SimulationError(
                "Its friction depends on its reaction, which is not unique because constraints are redundant.",
                where=f"joint '{row.owner}', friction_coefficient",
                remedy="Release the redundant constraints (isostatic_model does), or give its friction as a number.",
            )


def refuse(modes: JointModes, what: str, remedy: str = "Give its friction as a number, or leave it out.") -> None:
    """Raise SimulationError if any friction grows with reactions, for computations that do not support it. what : the
    computation, as the subject of the sentence"""
    if modes.bearings:
        raise SimulationError(
            f"{what} does not support friction that depends on a joint's own reaction.",
            where=joints_with_bearing_friction(modes),
            remedy=remedy,
        )


def rows_at_rest(
    compiled: Compiled, modes: JointModes, at: JointRows, q: Array, p: Values, t: float = 0.0, x: Any = None
) -> JointRows:
    """Joint rows of an open chain with the bearing friction of its static loads; rows of a machine with loops are
    returned unchanged, since their loads depend on friction."""
    if not modes.bearings or compiled.constrained:
        return at
    still = np.zeros(compiled.nv)
    return loaded(at, bearing_loads_at(compiled, q, still, still, np.zeros(0), None, p, t, x))
