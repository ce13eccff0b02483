"""Friction that grows with a joint's own reaction, F = F₀ + μ (r |f⊥| + …): what bearings bear at a state, the friction
with which that is so, and what to say where there is none, or more than one.

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
from core.multibody.parameter_values import Values
from core.numerics.fixed_points import fixed_point
from core.numerics.rank import null_space
from core.traces.compiled import Compiled

Array = NDArray[np.float64]

STEP_FRACTION = 1e-3
"""Part of all forces that hold, by which those that are not unique are changed to see what that does."""
NOT_UNIQUE_FRACTION = 1e-7
"""Part of that change by which loads may change and count as unique."""


def loads_at(
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
    """(…, bearings) friction for a coefficient of one. closing : (…, n) along coordinates of joints that close loops"""
    given = [q, v, a]
    if compiled.rows:
        given.append(multipliers)
    if count := len(compiled.program.tracer.cut_coordinates):
        given.append(np.zeros(count) if closing is None else closing)
    return np.asarray(compiled.call("bearing_loads", *given, p=p, t=t, x=x))


def loaded(at: JointRows, loads: Array) -> JointRows:
    """Rows with the friction that their bearings have."""
    rows = tuple(row if row.bearing == NOWHERE else row.loaded(float(loads[row.bearing])) for row in at.rows)
    return at._replace(rows=rows)


def settled(
    compiled: Compiled, modes: JointModes, loads: Callable[[Array], Array], start: Array | None = None
) -> Array:
    """(bearings,) loads that the friction by them leaves, of a function that gives those that friction by other loads
    leaves. start : (bearings,) where to look first. Raises SimulationError where there are none."""
    found = fixed_point(loads, np.zeros(len(compiled.program.tracer.bearings)) if start is None else start)
    if not found.found:
        raise no_answer(modes)
    return found.x


def no_answer(modes: JointModes) -> SimulationError:
    """The message where friction by reactions has no answer."""
    names, most = named(modes), max(row.coefficient for row in modes.bearings)
    return SimulationError(
        f"Friction of {most:g} by the joint's own reaction locks: no friction is in balance with the reaction that it "
        "makes (Painlevé).",
        where=names,
        remedy="A compliant contact or stop decides; less friction, or bearings farther apart, have one answer.",
    )


LOCKING = "locks or has several answers"


def locking_note(modes: JointModes, t: float, factor: float) -> str:
    """What a run tells where its friction has more than one answer."""
    most = max(row.coefficient for row in modes.bearings)
    return (
        f"{named(modes)}: friction of {most:g} by its own reaction {LOCKING} at t = {t:.6g} s (self-locking factor "
        f"{factor:.3g}, Painlevé): the answer that was found is used; a compliant contact or stop decides."
    )


def named(modes: JointModes) -> str:
    """The joints whose friction grows with their reaction."""
    owners = dict.fromkeys(row.owner for row in modes.bearings)
    return ", ".join(f"joint '{name}'" for name in owners)


def require_unique(
    compiled: Compiled, modes: JointModes, q: Array, v: Array, p: Values, t: float = 0.0, x: Any = None
) -> None:
    """A SimulationError where constraints share forces in more than one way, and what bearings bear at a state without
    joint forces changes by that. In a plane loop only forces out of the plane are shared: where none act, loads are the
    least there are, and do not change at once."""
    if not (compiled.constrained and modes.bearings):
        return
    free = null_space(np.asarray(compiled.call("constraint_jacobian", q, p=p)).T)
    if not free.shape[1]:
        return
    a, least = constrained_motion(compiled, q, v, np.zeros(compiled.nv), p, True, t, x, smooth=True)
    more = free @ np.random.default_rng(0).standard_normal(free.shape[1])
    more *= STEP_FRACTION * max(float(np.linalg.norm(least)), 1.0)
    ahead, behind = (loads_at(compiled, q, v, a, least + step, None, p, t, x) for step in (more, -more))
    size = float(np.linalg.norm(more))
    for row in modes.bearings:
        if abs(ahead[row.bearing] - behind[row.bearing]) > NOT_UNIQUE_FRACTION * size:
            raise SimulationError(
                "Its friction grows with its reaction, which is not unique: other joints hold the same.",
                where=f"joint '{row.owner}', friction_coefficient",
                remedy="Free what is held twice (isostatic_model proposes how), or give its friction as a number.",
            )


def refuse(modes: JointModes, what: str, remedy: str = "Give its friction as a number, or leave it out.") -> None:
    """A SimulationError where friction grows with reactions, and that is not counted: it has no meaning there, or only
    with more than is known. what : what does not count it, as the subject of the sentence"""
    if modes.bearings:
        raise SimulationError(
            f"{what} does not count friction that grows with a joint's own reaction.",
            where=named(modes),
            remedy=remedy,
        )


def at_rest(
    compiled: Compiled, modes: JointModes, at: JointRows, q: Array, p: Values, t: float = 0.0, x: Any = None
) -> JointRows:
    """Rows of a tree with the friction that their bearings have while all stands still: loads tell it. Those of loops,
    where it depends on friction itself, as they are."""
    if not modes.bearings or compiled.constrained:
        return at
    still = np.zeros(compiled.nv)
    return loaded(at, loads_at(compiled, q, still, still, np.zeros(0), None, p, t, x))
