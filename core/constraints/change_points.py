"""Change points: positions at which two branches of a loop meet, or come closer than positions are resolved.

Beyond a change point the given coordinates no longer decide on which side a dyad is. Branches that meet exactly are
smooth there: a curve through the positions before and beyond closes the loops, and the move continues along it. Where
slightly different lengths separate them, the curve leaves a gap of the order of that difference, and the branch is
undecided.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.constraints.branch_sides import FOLLOWS_TOLERANCE, Followers
from core.constraints.failures import coordinate_text
from core.errors import AssemblyError, listed
from core.numerics.matrix_forms import is_sparse
from core.numerics.tolerances import SOLVED_GAP

Array = NDArray[np.float64]

PLACES = (0.3, 0.4, 0.5, 0.6, 0.7)
"""Fractions of the step at which the gap of the curve is evaluated."""
TURNING_SHARE = 0.05
"""Least entry of the undecided direction, as a fraction of its largest, of a joint that the message names."""


class UndecidedBranch(AssemblyError):
    """The move passes a change point beyond which the given coordinates do not decide the branch."""


def meet_exactly(before: Followers, behind: Followers, step: Array) -> bool:
    """Return True if the curve between two closed positions, with the rates of both, leaves the loops closed.

    step : (nv,) displacement of what is held from one to the other
    """
    compiled, p = before.compiled, before.p
    gone = compiled.coordinates.difference(before.q, behind.q)
    first, last = before.follow(step), behind.follow(step)
    for x in PLACES:
        cubic = gone * x * x * (3.0 - 2.0 * x) + first * x * (1.0 - x) ** 2 - last * x * x * (1.0 - x)
        at = compiled.coordinates.integrate_within_limits(before.q, cubic)
        gap = np.abs(compiled.call("constraint_residual", at, p=p)) * (compiled.levels == 0)
        if not float(np.max(gap, initial=0.0)) < SOLVED_GAP:
            return False
    return True


def loosened(here: Followers, behind: Array) -> tuple[float, Array]:
    """Return (ratio, (nv,) direction) of the dependent motion that constraints determine least here: its singular value
    over the largest. For machines with sparse equations, 1 and zeros."""
    free = ~here.kept
    direction = np.zeros(here.compiled.nv)
    if is_sparse(here.G) or not free.any():
        return 1.0, direction
    _, sizes, right = np.linalg.svd(here.matrix(behind)[:, free])
    following = right[: len(sizes)][sizes > FOLLOWS_TOLERANCE * np.max(sizes, initial=0.0)].T
    if not following.shape[1]:
        return 1.0, direction
    _, sizes, right = np.linalg.svd(here.G[:, free] @ following)
    direction[free] = following @ right[-1]
    least = sizes[-1] if len(sizes) == following.shape[1] else 0.0
    return float(least / np.max(sizes, initial=1e-300)), direction


def undecided(here: Followers, behind: Array) -> UndecidedBranch:
    """Return the error, with the given coordinates, the joints that could follow either branch, and their loops."""
    compiled, q = here.compiled, here.q
    turning = np.abs(loosened(here, behind)[1])
    joints = _of_speeds(here, turning > TURNING_SHARE * np.max(turning, initial=0.0))
    held = _of_speeds(here, here.kept)
    at = listed([f"'{each.name}' at {coordinate_text(x, each.dimension)}"
                 for x, each in zip(q, compiled.coordinates.table, strict=True) if each.joint in held])  # fmt: skip
    loops = [", ".join(loop.joints) for loop in compiled.loops if set(joints) & set(loop.joints)]
    names = listed([repr(name) for name in joints])
    error = UndecidedBranch(
        f"With {at}, {names} can follow either of two branches, and the given coordinates do not decide which.",
        where=f"loop{'s' if len(loops) > 1 else ''} {' and '.join(loops)}",
        remedy="Give a coordinate of one of these joints, too; or start beyond this position on the intended branch;"
        " or make the lengths equal, or more different.",
    )
    error.q = q
    return error


def _of_speeds(followers: Followers, speeds: NDArray[np.bool_]) -> list[str]:
    """Return the joints to which any of these speeds belongs."""
    own = followers.compiled.coordinates
    return [joint for joint in own.joints if speeds[own.slice_v(joint)].any()]
