"""Assembly branches: the distinct ways to close a machine's loops for given coordinates.

Closing is tried from many random poses with the given coordinates held; what closes is told apart by where joints and
bodies are, so that whole turns do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.analysis.equal_poses import APART, PoseFingerprint, coordinates_by_speed, shift_to_nearest_turns
from core.constraints.mobility.constraint_rank import PositionConstraints, rank_from_singular_values
from core.constraints.mobility.free_motions import decompose_free_motions
from core.constraints.named_values import single_state
from core.errors import AssemblyError, ModelError, suggest_names
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism

Array = NDArray[np.float64]

STARTS = 400
"""Number of random initial poses."""
QUIET = 60
"""Number of consecutive starts without a new branch after which the search ends; at least 3 times as many as the last
new branch needed."""
PIECE = 32
"""Number of starts between two looks at whether the search may end."""
SURELY = 0.25
"""Fraction of the distance between different poses within which a pose that is closed less precisely is surely known.
"""
WELL = (0.2, 1e-4)
"""Relative influence on the remaining motion that is required of an independent coordinate: first pass, second pass."""


def find_branches(
    mech: Mechanism,
    fixed: Sequence[str] | Mapping[str, float] = (),
    q: Array | None = None,
    p: Values = None,
    t: float = 0.0,
    *,
    starts: int = STARTS,
    seed: int = 3,
    step: Callable[[int, int], None] = lambda done, total: None,
) -> list[Array]:
    """Find the closed poses (nq,) in which the fixed coordinates have their values, the nearest to q first.

    fixed : names of coordinates (or of spherical and free joints), held at their values in q, or names with values;
    default: independent ones that leave nothing free. q : the guess, default the rest pose.
    Raises ModelError when more coordinates must be fixed, AssemblyError when nothing closes.
    """
    constraints = PositionConstraints(mech.compiled, p, t)
    guess = mech.rest(p) if q is None else single_state(mech.compiled, q)
    held, guess = _fixed_speeds_and_guess(mech, constraints, fixed, guess)
    search = _BranchSearch(mech, constraints, held, guess)
    rng = np.random.default_rng(seed)
    for k in range(0, starts, PIECE):
        trials = search.random_guesses(rng, min(PIECE, starts - k) - (k == 0))
        if k == 0:
            trials = np.concatenate([guess[None], trials])
        poses, closed = constraints.close_all(trials, held, lambda k=k: step(k, starts))  # type: ignore[misc]
        if not search.add_poses(k, poses, closed):
            break
    found = search.found
    if not found:
        raise AssemblyError(
            f"No position was found in which the loops close with these coordinates, from {starts} "
            f"start{'s' * (starts != 1)}.",
            where=", ".join(f"coordinate '{name}'" for name in fixed),
            remedy="Give them other values, or fix fewer of them.",
        )
    return sorted(found, key=lambda pose: float(np.linalg.norm(mech.difference(guess, pose) / constraints.speed_units)))


def independent_coordinates(mech: Mechanism, q: Array, p: Values = None, t: float = 0.0) -> tuple[str, ...]:
    """Independent coordinates, which determine the pose locally; well-conditioned ones that belong to joints with one
    coordinate, or to joints early in the document, are preferred."""
    constraints = PositionConstraints(mech.compiled, p, t)
    rows = constraints.free_motions(q) / constraints.speed_units[:, None]
    plain = coordinates_by_speed(mech)
    several = {c.name for c in mech.coordinates if len(range(mech.nv)[mech.joint_v(c.joint)]) > 1}
    order = sorted(range(mech.nv), key=lambda k: (k not in plain, plain.get(k) in several, k))
    chosen: list[int] = []
    for share in WELL:
        largest = float(np.max(np.linalg.norm(rows, axis=1), initial=0.0))
        for k in order:
            row = rows[k]
            if len(chosen) < rows.shape[1] and np.linalg.norm(row) > share * largest > 0.0:
                chosen.append(k)
                rows = rows - np.outer(rows @ row, row) / float(row @ row)
    whole = [c.joint for c in mech.coordinates if c.name not in plain.values()]
    whole = [name for name in dict.fromkeys(whole) if set(range(mech.nv)[mech.joint_v(name)]) <= set(chosen)]
    return (*(plain[k] for k in sorted(chosen) if k in plain), *whole)


def _fixed_speeds_and_guess(
    mech: Mechanism, constraints: PositionConstraints, fixed: Sequence[str] | Mapping[str, float], guess: Array
) -> tuple[NDArray[np.bool_], Array]:
    """Mask of the fixed speeds, and the initial guess with the given values."""
    guess = guess.copy()
    names = list(fixed) or list(
        independent_coordinates(mech, constraints.closed(guess)[0], constraints.p, constraints.t)
    )
    indices = {name: k for k, name in coordinates_by_speed(mech).items()}
    held = np.zeros(mech.nv, dtype=bool)
    for name in names:
        if name in mech.joint_names and name not in indices:
            held[mech.joint_v(name)] = True
            continue
        if name not in indices:
            raise ModelError(f"There is no coordinate '{name}' that can be fixed.", remedy=suggest_names(name, indices))
        held[indices[name]] = True
        if isinstance(fixed, Mapping):
            guess[mech.q_names.index(name)] = fixed[name]
    return held, guess


def _check_fixed_coordinates(constraints: PositionConstraints, q: Array, fixed: NDArray[np.bool_]) -> None:
    """Raise ModelError if the fixed coordinates leave any mobility other than bodies that spin about their own axis."""
    N = constraints.free_motions(q)
    _, sigma, vt = np.linalg.svd((N / constraints.speed_units[:, None])[fixed])
    left = N @ vt[rank_from_singular_values(sigma) :].T
    moving = (
        [motion for motion in decompose_free_motions(constraints, q, left) if not motion.idle] if left.shape[1] else []
    )
    if moving:
        name = moving[0].joints[0][0]
        count = f"{len(moving)} more coordinate{'s' * (len(moving) > 1)}"
        raise ModelError(
            f"{count} must be fixed: the machine can still move at '{name}'.",
            remedy="Fix as many coordinates as the machine has degrees of freedom.",
        )


class _BranchSearch:
    """Distinct poses that a search has found, and how long ago."""

    def __init__(
        self, mech: Mechanism, constraints: PositionConstraints, held: NDArray[np.bool_], guess: Array
    ) -> None:
        self._mech, self._constraints, self._held, self._guess = mech, constraints, held, guess
        self._mark_of = PoseFingerprint(constraints)
        self._marks: list[Array] = []
        self._last = 0
        self._held_coordinates = _held_coordinates(mech, held)
        self.found: list[Array] = []

    def random_guesses(self, rng: np.random.Generator, count: int) -> Array:
        """(count, nq) random poses with the fixed coordinates as in the guess."""
        trials = self._mech.compiled.coordinates.random(rng, count)
        trials[:, self._held_coordinates] = self._guess[self._held_coordinates]
        return trials

    def add_poses(self, first: int, poses: Array, closed: NDArray[np.bool_]) -> bool:
        """Add those of the poses (n, nq) from start `first` on that are new; returns False if the search may end."""
        rough = self._mark_of(poses)
        for k in np.flatnonzero(closed):
            pose, constraints = poses[k], self._constraints
            if not self.found:
                _check_fixed_coordinates(constraints, pose, self._held)
            if not self._is_known(rough[k], SURELY * APART):
                pose = constraints.close_precisely(pose, self._held)
                mark = self._mark_of(pose)
                if not self._is_known(mark, APART):
                    self.found.append(shift_to_nearest_turns(self._mech, pose, self._guess))
                    self._marks.append(mark)
                    self._last = first + int(k)
                    continue
            if first + k > max(QUIET, 4 * self._last):
                return False
        return True

    def _is_known(self, mark: Array, tolerance: float) -> bool:
        return any(np.max(np.abs(mark - other)) <= tolerance for other in self._marks)


def _held_coordinates(mech: Mechanism, fixed: NDArray[np.bool_]) -> list[int]:
    """Indices in q of what fixed speeds hold."""
    found = [c.index for c in mech.coordinates if fixed[mech.joint_v(c.joint)].all()]
    found += [mech.q_names.index(name) for k, name in coordinates_by_speed(mech).items() if fixed[k]]
    return sorted(set(found))
