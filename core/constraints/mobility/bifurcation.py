"""Bifurcation analysis: the branches of motion that meet at a closed pose, and their degrees of freedom.

At most poses the closed poses nearby form one smooth manifold. Where they do not (a parallelogram in a line, Wren's
platform upright, other kinematotropic linkages: Wohlhart 1996, Galletti and Fanghella 2001) branches of different
freedom may meet. They are found on a small sphere about the pose, which closing cannot shrink to the pose itself, and
counted only if they lead back to it: closed poses on ever smaller spheres, in the same direction.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.constraints.mobility.constraint_rank import SETTLED, PositionConstraints, solve_double_root
from core.constraints.mobility.free_motions import decompose_free_motions
from core.constraints.mobility.second_order import TangentSpace
from core.later import dataclass
from core.numerics.matrix_forms import Matrix, stack_rows
from core.numerics.rank import null_space

Array = NDArray[np.float64]

RADII = (0.3, 0.1, 0.03)
"""Radii (rad, or machine sizes) of the spheres on which poses are searched, largest first."""
STARTS = 16
"""Number of random directions and of second-order tangent spaces that are tried."""
SPEEDS_IN_ALL, FEWEST = 500, 2
"""For large machines, the total number of speeds in all tangent spaces tried, and the smallest number of spaces."""
ABOUT = 6
"""Number of directions in which neighbours of a pose on a branch are checked; if most have other degrees of freedom,
the pose was not generic."""
ABOUT_SPACE = 2
"""The same number for a branch that follows a second-order tangent space."""
CHANCES = 3
"""Number of times a branch may be rejected by this check."""
SHARE = 0.35
"""Radius of the sphere of neighbours, relative to the distance from the original pose."""
BACK = (0.5, 0.25, 0.125)
"""Fractions of the radius at which a branch must still exist."""
SAME_BRANCH_FRACTION = 0.3
"""Distance from the expected pose, relative to the radius, above which a pose belongs to another branch."""
LONGEST = 0.3
"""Longest step, relative to the radius, while the loops are closed on a sphere."""
ALIKE = 0.98
"""Cosine of the angle between two branch directions above which they count as the same branch."""
ONE_DIRECTION = 1.0 - 1e-6
"""The same cosine for branches in different tangent spaces: among many loops a single one may differ."""


@dataclass(frozen=True)
class Branch:
    """A branch of motion through a pose.

    q : (nq,) a generic pose on it; freedoms : finite ones there; infinitesimal : further ones that end at once
    direction : (nv,) in which it leaves the pose, a unit in the machine's units; space : that of second order which it
    follows, if that tells ways apart
    """

    q: Array
    freedoms: int
    infinitesimal: int
    direction: Array
    space: TangentSpace | None = None

    @property
    def kind(self) -> tuple[int, int]:
        """(finite, infinitesimal) degrees of freedom."""
        return self.freedoms, self.infinitesimal


def classify_branch(constraints: PositionConstraints, q: Array) -> Branch:
    """Classify a pose, assumed to be generic, by its degrees of freedom."""
    N, _ = constraints.finite_motions(q)
    return Branch(
        q, N.shape[1], constraints.free_motions(q).shape[1] - N.shape[1], np.zeros(len(constraints.speed_units))
    )


def find_branches(constraints: PositionConstraints, q: Array, seed: int = 5) -> tuple[Branch, ...]:
    """Find the branches of motion that meet at a closed pose, sorted by decreasing degrees of freedom; among equal ones
    those without infinitesimal degrees of freedom first.

    Branches of one freedom are told apart by their directions, others by their freedoms.
    """
    rng = np.random.default_rng(seed)
    found: list[Branch] = []
    refused: list[Branch] = []
    for start, space in _start_directions(constraints, q, rng):
        queue = _find_branch_along(constraints, q, start, space, found)
        while queue:
            branch = queue.pop()
            if _is_known_branch(branch, found) or sum(_is_same_branch(branch, other) for other in refused) >= CHANCES:
                continue
            about = list(_neighbours_on_branch(constraints, q, branch, rng))
            alike = [near for near in about if near.kind == branch.kind]
            if 2 * len(alike) >= len(about):
                found.append([branch, *alike][-1])  # the first one may lie symmetrically
            else:  # a pose where branches meet, too
                refused.append(branch)
                queue += about
    return tuple(sorted(found, key=lambda branch: (-branch.freedoms, branch.infinitesimal)))


def _neighbours_on_branch(
    constraints: PositionConstraints, q: Array, branch: Branch, rng: np.random.Generator
) -> Iterator[Branch]:
    """Neighbouring poses on a branch, in random directions of its free motions."""
    radius = SHARE * float(
        np.linalg.norm(constraints.compiled.coordinates.speeds_between(q, branch.q) / constraints.speed_units)
    )
    N = _motions_without_idle_spin(constraints, branch.q)
    for _ in range(ABOUT if branch.space is None else ABOUT_SPACE):
        displacement = N @ rng.normal(size=N.shape[1])
        there = find_closed_pose_on_sphere(
            constraints, branch.q, displacement * (radius / np.linalg.norm(displacement))
        )
        if there is not None:
            yield dataclasses.replace(
                classify_branch(constraints, there), direction=branch.direction, space=branch.space
            )


def _motions_without_idle_spin(constraints: PositionConstraints, q: Array) -> Array:
    """(nv, k) free motions at q in the machine's units, without bodies spinning about their own axis, which occur on
    every branch."""
    N = constraints.free_motions(q)
    idle = [
        motion.speeds / constraints.speed_units for motion in decompose_free_motions(constraints, q, N) if motion.idle
    ]
    N = N / constraints.speed_units[:, None]
    if not idle:
        return N
    turning = np.array(idle) @ N
    across = null_space(turning, np.finfo(float).eps * max(turning.shape))
    return np.asarray(N @ across if across.shape[1] else N)


def _is_same_branch(one: Branch, other: Branch) -> bool:
    if one.kind != other.kind:
        return False
    apart = one.space is not None and other.space is not None and not one.space.is_same_as(other.space)
    if one.freedoms == 1:
        return abs(float(one.direction @ other.direction)) > (ONE_DIRECTION if apart else ALIKE)
    return not apart


def _is_known_branch(branch: Branch, others: Sequence[Branch]) -> bool:
    return any(_is_same_branch(branch, other) for other in others)


def _start_directions(
    constraints: PositionConstraints, q: Array, rng: np.random.Generator
) -> Iterator[tuple[Array, TangentSpace | None]]:
    """Directions (nv,) of free motions at q, in the machine's units: second-order ones with their tangent space; if
    second order excludes none, a basis, then random mixtures."""
    most = max(FEWEST, min(STARTS, SPEEDS_IN_ALL // constraints.compiled.nv))
    onward = constraints.second_order_directions(q, most, rng)
    if onward:
        yield from ((v / constraints.speed_units, space) for space, v in onward)
        return
    N = _motions_without_idle_spin(constraints, q)
    yield from ((v, None) for v in N.T[: 2 * STARTS])
    for _ in range(STARTS):
        mixed = N @ rng.normal(size=N.shape[1])
        yield mixed / np.linalg.norm(mixed), None


def _find_branch_along(
    constraints: PositionConstraints, q: Array, direction: Array, space: TangentSpace | None, known: Sequence[Branch]
) -> list[Branch]:
    """Find the branch in a direction; the list is empty if it is known already or does not lead back to q."""
    for radius in RADII:
        there = find_closed_pose_on_sphere(constraints, q, direction * radius)
        if there is None:
            continue
        displacement = constraints.compiled.coordinates.speeds_between(q, there) / constraints.speed_units
        branch = dataclasses.replace(
            classify_branch(constraints, there), direction=displacement / np.linalg.norm(displacement), space=space
        )
        if branch.freedoms > 1 and _is_known_branch(branch, known):
            return []
        tangent = _direction_from_pose(constraints, q, displacement)
        if tangent is not None:
            return [dataclasses.replace(branch, direction=tangent)]
    return []


def _direction_from_pose(constraints: PositionConstraints, q: Array, displacement: Array) -> Array | None:
    """Unit direction in which the branch leaves q; None if it does not lead to q."""
    last = displacement
    for share in BACK:
        expected = last * (share * np.linalg.norm(displacement) / np.linalg.norm(last))
        closer = find_closed_pose_on_sphere(constraints, q, expected)
        if closer is None:
            return None
        last = constraints.compiled.coordinates.speeds_between(q, closer) / constraints.speed_units
        if np.linalg.norm(last - expected) > SAME_BRANCH_FRACTION * np.linalg.norm(expected):
            return None
    return np.asarray(last / np.linalg.norm(last))


def find_closed_pose_on_sphere(constraints: PositionConstraints, centre: Array, displacement: Array) -> Array | None:
    """Closed pose near `centre` + `displacement` (nv,), at the same distance from the centre; None if there is none."""
    radius = float(np.linalg.norm(displacement))

    @lru_cache(maxsize=1)
    def displacement_from_centre(pose: bytes) -> Array:
        return constraints.compiled.coordinates.speeds_between(centre, np.frombuffer(pose)) / constraints.speed_units

    def residual(q: Array) -> Array:
        return np.append(constraints.scaled_residual(q), np.linalg.norm(displacement_from_centre(q.tobytes())) - radius)

    def jacobian(q: Array) -> Matrix:
        away = displacement_from_centre(q.tobytes())
        return stack_rows(
            constraints.scaled_position_jacobian(q), away[None] / max(float(np.linalg.norm(away)), 1e-300)
        )

    start = constraints.displace_scaled(centre, displacement)
    q, gap = solve_double_root(residual, jacobian, constraints.displace_scaled, start, LONGEST * radius)
    return q if gap < SETTLED else None
