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
from core.numerics import position_solver
from core.numerics.tolerances import ACCEPTED_GAP

Array = NDArray[np.float64]

STARTS = 400
"""Number of random initial poses."""
QUIET = 60
"""Number of consecutive starts without a new branch after which the search ends; at least 3 times as many as the last
new branch needed."""
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
    rng = np.random.default_rng(seed)
    found: list[Array] = []
    marks: list[Array] = []
    mark_of = PoseFingerprint(constraints)
    last = 0
    for k in range(starts):
        step(k, starts)
        trial = guess if k == 0 else _random_guess(mech, guess, held, rng)
        pose, gap = position_solver.solve_position(
            constraints.oriented_problem, trial, 1.0 / constraints.speed_units, held
        )
        if not gap < ACCEPTED_GAP or not constraints.position_problem.fits(pose):
            continue
        if not found:
            _check_fixed_coordinates(constraints, pose, held)
        pose = constraints.close_precisely(pose, held)
        mark = mark_of(pose)
        if all(np.max(np.abs(mark - other)) > APART for other in marks):
            found.append(shift_to_nearest_turns(mech, pose, guess))
            marks.append(mark)
            last = k
        elif k > max(QUIET, 4 * last):
            break
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


def _random_guess(mech: Mechanism, guess: Array, fixed: NDArray[np.bool_], rng: np.random.Generator) -> Array:
    """A random pose with the fixed coordinates as in the guess."""
    trial = mech.random(rng)
    for coordinate in mech.coordinates:
        at = mech.joint_v(coordinate.joint)
        if fixed[at].all():
            trial[coordinate.index] = guess[coordinate.index]
    for k, name in coordinates_by_speed(mech).items():
        if fixed[k]:
            trial[mech.q_names.index(name)] = guess[mech.q_names.index(name)]
    return trial
