"""Direct kinematics of closed machines: the assembly modes for given coordinates, grouped by the pose of a frame.

The loops are closed from many random poses (`core.analysis.branches`). Closed poses with the frame at the same place
are one mode: they differ by turns, by the flips of crosses, or by parts that do not carry the frame. Modes are numbered
by the frame's place, so that a number does not depend on the pose from which the search starts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.branches import STARTS, find_branches
from core.analysis.equal_poses import APART
from core.analysis.manipulability import characteristic_length
from core.analysis.tool_frame import tool_frame
from core.constraints.closed_forms.wording import INDEPENDENT
from core.errors import ModelError
from core.mechanism import Mechanism
from core.mechanism.inverse_kinematics_results import (
    Complete,
    Configuration,
    InverseKinematics,
    Solution,
)

Array = NDArray[np.float64]


def find_assembly_modes(
    mech: Mechanism,
    given: Mapping[str, float] | Sequence[str],
    frame: str | None = None,
    *,
    q: Any = None,
    p: Any = None,
    t: float = 0.0,
    all: bool = True,
    starts: int = STARTS,
    step: Callable[[int, int], None] = lambda done, total: None,
) -> InverseKinematics:
    """Find the poses of a frame for given coordinates; see `Mechanism.direct_kinematics`."""
    name = mech.compiled.check_frame_name(tool_frame(mech.model) if frame is None else frame)
    guess = mech.rest(p, t=t) if q is None else np.array(q, dtype=float)
    names, values = tuple(given), _read_values(mech, given, guess)
    if not mech.constrained:
        found = [_with_values(mech, guess, values)]
    elif all:
        found = find_branches(mech, values or names, guess, p, t, starts=_check_starts(starts), step=step)
    else:
        found = find_branches(mech, values or names, guess, p, t, starts=1)
    modes = _group_by_pose(mech, found, name, p)
    solutions = [_solution(mech, group, guess, number) for number, group in enumerate(modes, 1)]
    solutions.sort(key=lambda each: each.distance)
    return InverseKinematics(
        tuple(solutions),
        _is_complete(mech, names, len(found)) if all else "at least these",
        _words(mech, len(found), len(modes)),
        names,
        None,
        None,
    )


def _read_values(mech: Mechanism, given: Mapping[str, float] | Sequence[str], q: Array) -> dict[str, float]:
    """Coordinate → value, of those given by name only that of q; none if joints of several coordinates are named."""
    if isinstance(given, str):
        raise ModelError(f"'{given}' is text.", where="given", remedy=f'Give values by name: {{"{given}": 0.1}}.')
    if isinstance(given, Mapping):
        values = {}
        for name, value in given.items():
            try:
                values[name] = float(value)
            except (TypeError, ValueError):
                values[name] = math.nan
            if not math.isfinite(values[name]):
                raise ModelError(f"{value!r} is not a finite number.", where=f"coordinate '{name}'")
        return values
    return {}


def _with_values(mech: Mechanism, q: Array, values: Mapping[str, float]) -> Array:
    moved = q.copy()
    for name, value in values.items():
        if name not in mech.q_names:
            raise ModelError(f"There is no coordinate '{name}'.", where="given", remedy=f"Known: {mech.q_names}.")
        moved[mech.q_names.index(name)] = value
    return moved


def _check_starts(starts: Any) -> int:
    if isinstance(starts, bool) or not isinstance(starts, int) or starts < 1:
        raise ModelError("The number of starts is a positive whole number.", where="starts")
    return starts


def _group_by_pose(mech: Mechanism, found: Sequence[Array], frame: str, p: Any) -> list[list[Array]]:
    """Positions by the pose of a frame, in the order of its place: from above, then along x and y, then by rotation."""
    size = characteristic_length(mech, p)
    marks: list[Array] = []
    groups: list[list[Array]] = []
    for q in found:
        X = np.asarray(mech.frame(q, frame, p=p))
        mark = np.concatenate([X[:3, 3][[2, 0, 1]] / size, X[:3, :3].ravel()])
        at = next((k for k, other in enumerate(marks) if np.max(np.abs(mark - other)) < APART), None)
        if at is None:
            marks.append(mark)
            groups.append([q])
        else:
            groups[at].append(q)
    order = sorted(range(len(marks)), key=lambda k: tuple(np.round(-marks[k] / APART)))
    return [groups[k] for k in order]


def _solution(mech: Mechanism, group: list[Array], guess: Array, number: int) -> Solution:
    q = group[0]
    return Solution(
        q=q,
        configuration=Configuration((("mode", f"mode {number}"),)),
        violations=(),
        position_error=0.0,
        orientation_error=0.0,
        distance=float(np.linalg.norm(mech.difference(guess, q))),
        singularity=None,
        method="numeric" if mech.constrained else "closed form",
        turns=(),
        variants=len(group),
    )


def _is_complete(mech: Mechanism, names: Sequence[str], found: int) -> Complete:
    """ "all" for open machines, and where loops that follow from the given coordinates, each with two branches, have
    as many branches as they can."""
    if not mech.constrained:
        return "all"
    steps = mech.solution_order
    independent = {joint for step in steps if step.kind == INDEPENDENT for joint in step.joints}
    dyads = [step for step in steps if step.kind.endswith("dyad")]
    closed = len(dyads) == sum(step.kind != INDEPENDENT for step in steps) == len(mech.loops)
    return "all" if closed and independent == set(names) and found == 2 ** len(dyads) else "at least these"


def _words(mech: Mechanism, found: int, modes: int) -> str:
    if not mech.constrained:
        return "closed form: an open chain"
    if found == modes:
        return "numeric: loops closed from random poses"
    return f"numeric: loops closed from random poses; {found} branches, of which some differ in other parts only"
