"""Inverse kinematics as scripts call it (`Mechanism.inverse_kinematics`): closed form, otherwise the numeric search.

Every solution is confirmed by the machine's forward kinematics; a branch of the closed form whose error is above
rounding gets a Newton step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.arm_families import THREE_PARALLEL, ClosedArm
from core.analysis.arms.arm_reading import read_arm
from core.analysis.arms.configuration_names import ConfigurationNames
from core.analysis.arms.joint_turns import (
    all_turns,
    count_turns,
    distance_beyond_limits,
    find_violations,
    nearest_turns,
)
from core.analysis.arms.pose_errors import largest_errors, polish
from core.analysis.arms.self_motions import find_self_motion
from core.analysis.arms.targets import read_target
from core.analysis.inverse_kinematics import IKResult, coordinates_at_limits, solve_inverse_kinematics
from core.analysis.tool_frame import tool_frame
from core.errors import ModelError
from core.mechanism import Mechanism
from core.mechanism.inverse_kinematics_results import (
    Complete,
    Configuration,
    InverseKinematics,
    InverseKinematicsArray,
    NearestPose,
    SelfMotion,
    Solution,
)

Array = NDArray[np.float64]

SAME_ROTATION = 1e-6
"""Difference (rad, m) of all joints, up to whole turns, below which two solutions are the same."""
RESTARTS, RESTARTS_FOR_NEAREST = 20, 4
"""Number of random poses from which the numeric search starts: for solutions; for the nearest pose out of reach."""
OTHER_ANGLES = tuple(sign * k * np.pi / 12.0 for k in range(1, 13) for sign in (1.0, -1.0))
"""Changes (rad) of an open angle that are tried in turn."""
ROWS_AT_ONCE = 4096
"""Number of targets of an array that are solved together, which bounds the memory."""


def find_solutions(
    mech: Mechanism,
    target: Any,
    frame: str | None = None,
    *,
    reference: str = "world",
    q: Any = None,
    p: Any = None,
    t: float = 0.0,
    all: bool = True,
    configuration: Any = None,
    turns: str = "nearest",
    tolerance: float = 1e-9,
    restarts: int = RESTARTS,
    step: Any = None,
) -> InverseKinematics | InverseKinematicsArray:
    """Find joint positions that bring a frame to a target; see `Mechanism.inverse_kinematics`.

    restarts : of the numeric search; `step(done, total)` is called before each of them
    """
    problem = _Problem(mech, tool_frame(mech.model) if frame is None else frame, q, p, t, tolerance)
    X = read_target(target)
    if reference != "world":
        X_WR = np.asarray(mech.frame(problem.q, reference, p=problem.p))
        X = X_WR @ X if X.shape != (3,) else X_WR[:3, :3] @ X + X_WR[:3, 3]
    if turns not in ("nearest", "limits"):
        raise ModelError(f"Unknown turns '{turns}'.", where="turns", remedy='Give "nearest" or "limits".')
    wanted = _read_configuration(configuration, problem)
    if X.ndim == 3:
        return problem.solve_array(X)
    found = problem.solve_closed_form(X, wanted, turns) if X.shape == (4, 4) else None
    if found is None:
        found = problem.search(X, restarts if all else min(restarts, RESTARTS_FOR_NEAREST), step)
    if all or len(found.solutions) < 2:
        return found
    return InverseKinematics(
        found.solutions[:1], found.complete, found.form, found.joints, found.continuum, found.nearest
    )


def find_closed_form_solutions(
    mech: Mechanism, target: Array, frame: str, q: Any, p: Any, t: float = 0.0, tolerance: float = 1e-9
) -> InverseKinematics | None:
    """Find all solutions for a pose (4, 4) in closed form; None for machines without one, and where it does not reach
    the pose."""
    problem = _Problem(mech, frame, q, p, t, tolerance)
    if problem.reading.arm is None:
        return None
    found = problem.solve_closed_form(read_target(target), None, "nearest")
    return found if found is not None and found.is_reached else None


def _read_configuration(given: Any, problem: _Problem) -> dict[str, str] | None:
    """Names by part that a configuration must have, from what the user gives; None if all are wanted."""
    if given is None:
        return None
    names = problem.reading.names
    if names is None:
        raise ModelError(
            "This machine's configurations have no names, since its inverse kinematics is not known in closed form.",
            where="configuration",
            remedy="Leave the configuration out.",
        )
    if given == "keep":
        return dict(names.read_configuration(problem.q[names.chain.at]).parts)
    if isinstance(given, str):
        match = next((each for each in names.configurations if str(each) == given), None)
        if match is None:
            raise ModelError(
                f"There is no configuration '{given}'.",
                where="configuration",
                remedy=f"The machine has: {', '.join(map(str, names.configurations))}.",
            )
        return dict(match.parts)
    parts = dict(given.parts if isinstance(given, Configuration) else given if isinstance(given, Mapping) else ())
    if not parts or not any(parts.items() <= dict(each.parts).items() for each in names.configurations):
        raise ModelError(
            f"There is no configuration {given!r}.",
            where="configuration",
            remedy=f"The machine has: {', '.join(map(str, names.configurations))}.",
        )
    return parts


class _Branches(NamedTuple):
    """Positions (N, K, nq) of all branches, their errors (N, K, 6), (N, K) True where they meet the targets, and the
    joints' values (N, K, n) by the closed form; is_doubtful : (N,) True where rounding may hide branches, next to an
    aligned wrist."""

    q: Array
    errors: Array
    is_valid: NDArray[np.bool_]
    own: Array
    is_doubtful: NDArray[np.bool_] = np.zeros(0, dtype=bool)


class _Problem:
    """Machine, frame and position of a call, the same for all its targets."""

    def __init__(self, mech: Mechanism, frame: str, q: Any, p: Any, t: float, tolerance: float) -> None:
        self.mech, self.t, self.tolerance = mech, t, tolerance
        self.frame = mech.compiled.check_frame_name(frame)
        self.given = p
        self.p = mech.parameter_values(p)
        self.q = np.array(mech.rest(p, t=t) if q is None else q, dtype=float)
        if self.q.shape != (mech.nq,) or not np.isfinite(self.q).all():
            raise ModelError(
                f"q is not a position of {mech.nq} finite numbers.", where="q", remedy="Give mech.rest(), for example."
            )
        self.reading = read_arm(mech, self.frame, self.p)
        if not self.reading.joints:
            raise ModelError(f"No joint moves '{self.frame}'.", where="frame", remedy="Choose another frame.")

    def solve_closed_form(self, X: Array, wanted: Mapping[str, str] | None, turns: str) -> InverseKinematics | None:
        """Solutions for one pose (4, 4); None if there is no closed form, or if it fails at this pose."""
        arm, names = self.reading.arm, self.reading.names
        if arm is None or names is None:
            return None
        branches = self._solve_branches(arm, names, X[None])
        Q, errors = branches.q, branches.errors
        own, met = Q[0][:, names.chain.at], np.flatnonzero(branches.is_valid[0])
        if not len(met):
            return self._search_nearest(X)
        singular = [names.name_singularity(each) for each in names.factors(own)]
        is_even = len(_distinct_rows(met, own, names)) % 2 == 0
        is_certain = self.reading.is_exact and not branches.is_doubtful[0]
        is_all = is_certain and (is_even or any(singular[k] for k in met))
        complete: Complete = "all" if is_all else "at least these"
        if wanted is not None:
            met = np.array([k for k in met if wanted.items() <= dict(names.configurations[k].parts).items()], dtype=int)
        found = [
            self._solution(names, Q[0, k], names.configurations[k], errors[0, k], singular[k])
            for k in _distinct_rows(met, own, names)
        ]
        found.sort(key=lambda each: (bool(each.violations), each.distance))
        continuum = next((m for m in (self._self_motion(each, X) for each in found if each.singularity) if m), None)
        if turns == "limits":
            found = [turned for each in found for turned in self._all_turns(names, each)]
        return InverseKinematics(tuple(found), complete, self.reading.words, self.reading.joints, continuum, None)

    def solve_array(self, X: Array) -> InverseKinematicsArray:
        """Solutions for poses (N, 4, 4)."""
        arm, names = self.reading.arm, self.reading.names
        if arm is None or names is None:
            raise ModelError(
                f"Arrays of targets need a closed form; here inverse kinematics is {self.reading.words}.",
                where="target",
                remedy="Call it for one target after the other.",
            )
        Q = np.empty((len(X), arm.branches, self.mech.nq))
        is_valid, beyond = np.empty(Q.shape[:2], dtype=bool), np.zeros(Q.shape)
        is_certain = self.reading.is_exact
        for first in range(0, len(X), ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            found = self._solve_branches(arm, names, X[rows])
            Q[rows], is_valid[rows] = found.q, found.is_valid
            is_certain = is_certain and not found.is_doubtful.any()
        beyond[..., names.chain.at] = distance_beyond_limits(names.chain, Q[..., names.chain.at])
        beyond[~is_valid] = Q[~is_valid] = np.nan
        complete: Complete = "all" if is_certain else "at least these"
        return InverseKinematicsArray(Q, is_valid, beyond, names.configurations, complete, self.reading.words)

    def _solve_branches(self, arm: ClosedArm, names: ConfigurationNames, X: Array) -> _Branches:
        """Solve all branches for poses (N, 4, 4), in the order of the names, with angles nearest to q."""
        near = self.q[names.chain.at]
        found = self._confirmed_branches(arm, names, X, near)
        is_open = names.is_wrist_aligned(found.own) & ~found.is_valid
        if arm.family == THREE_PARALLEL and is_open.any():
            # the first angles tried for the aligned wrist leave the parallel joints no solution: others may
            rows = np.flatnonzero(is_open.any(axis=1))
            for turned in OTHER_ANGLES:
                other = self._confirmed_branches(arm, names, X[rows], near + turned * np.eye(len(near))[3])
                better = is_open[rows] & other.is_valid & ~found.is_valid[rows]
                for whole, part in zip(found[:4], other[:4], strict=True):
                    whole[rows] = np.where(better.reshape(better.shape + (1,) * (part.ndim - 2)), part, whole[rows])
        is_doubtful = np.asarray((is_open & ~found.is_valid).any(axis=1))
        at = names.chain.at
        found.q[~found.is_valid] = self.q
        found.q[..., at] = nearest_turns(names.chain, found.q[..., at], near)
        return found._replace(is_doubtful=is_doubtful)

    def _confirmed_branches(self, arm: ClosedArm, names: ConfigurationNames, X: Array, near: Array) -> _Branches:
        """Branches that are tested by forward kinematics. near : (n,) angles of joints that a singular pose leaves
        open"""
        own = arm.solve(X, near)[:, names.order]
        Q = np.empty((len(X), arm.branches, self.mech.nq))
        Q[:] = self.q
        Q[..., names.chain.at] = own
        speeds = np.array([self.mech.joint_v(joint).start for joint in names.chain.joints], dtype=np.intp)
        targets = np.repeat(X, arm.branches, axis=0)
        refine = not self.reading.is_exact
        flat, errors = polish(
            self.mech, self.frame, Q.reshape(-1, self.mech.nq), targets, self.p, speeds, refine=refine
        )
        is_valid = (largest_errors(errors) <= self.tolerance).reshape(Q.shape[:2])
        return _Branches(flat.reshape(Q.shape), errors.reshape(*Q.shape[:2], 6), is_valid, own)

    def _solution(
        self, names: ConfigurationNames, q: Array, configuration: Configuration, errors: Array, part: str | None
    ) -> Solution:
        chain = names.chain
        own = q[chain.at]
        return Solution(
            q=q,
            configuration=configuration,
            violations=find_violations(chain, own),
            position_error=float(np.linalg.norm(errors[3:])),
            orientation_error=float(np.linalg.norm(errors[:3])),
            distance=float(np.linalg.norm(own - self.q[chain.at])),
            singularity=part,
            method="closed form",
            turns=count_turns(chain, own),
        )

    def _all_turns(self, names: ConfigurationNames, found: Solution) -> list[Solution]:
        """The solution with all whole turns of its joints within limits, nearest first."""
        chain, result = names.chain, []
        for own in all_turns(chain, found.q[chain.at]):
            q = found.q.copy()
            q[chain.at] = own
            distance = float(np.linalg.norm(own - self.q[chain.at]))
            result.append(replace(found, q=q, distance=distance, turns=count_turns(chain, own)))
        return sorted(result, key=lambda each: each.distance)

    def _self_motion(self, found: Solution, X: Array) -> SelfMotion | None:
        chain = None if self.reading.names is None else self.reading.names.chain
        return find_self_motion(self.mech, found.q, self.frame, X, self.p, self.t, chain)

    # ----------------------------------------------------------------------------- numeric search

    def search(self, X: Array, restarts: int, step: Any) -> InverseKinematics:
        """Solutions for a position (3,) or pose (4, 4) that the numeric search comes upon."""
        attempts = self._attempts(X, restarts, step)
        found = [self._searched_solution(each) for each in attempts if each.is_reached]
        words = self.reading.words if X.shape == (4, 4) else "numeric: only a position is asked for"
        if words == self.reading.words and self.reading.arm is not None:
            words = "numeric: the closed form fails at this pose"
        return InverseKinematics(
            tuple(found),
            "at least these",
            words,
            self.reading.joints,
            self._self_motion(found[0], X) if found else None,
            None if found else self._nearest_pose(attempts[0]),
        )

    def _search_nearest(self, X: Array) -> InverseKinematics | None:
        """Answer for a pose that no branch of the closed form meets; None if the search reaches it all the same."""
        best = self._attempts(X, RESTARTS_FOR_NEAREST, None)[0]
        if best.is_reached:
            return None
        complete: Complete = "all" if self.reading.is_exact else "at least these"
        return InverseKinematics((), complete, self.reading.words, self.reading.joints, None, self._nearest_pose(best))

    def _attempts(self, X: Array, restarts: int, step: Any) -> tuple[IKResult, ...]:
        mech, given = self.mech, self.given
        values = dict(given) if isinstance(given, Mapping) else dict(zip(mech.p_names, self.p.tolist(), strict=True))
        return solve_inverse_kinematics(mech, self.q, self.frame, X, values, restarts=restarts, step=step, t=self.t)

    def _searched_solution(self, found: IKResult) -> Solution:
        return Solution(
            q=found.q,
            configuration=None,
            violations=(),
            position_error=found.position_error,
            orientation_error=found.orientation_error,
            distance=float(np.linalg.norm(self.mech.difference(self.q, found.q))),
            singularity=None,
            method="numeric",
            turns=(),
        )

    def _nearest_pose(self, best: IKResult) -> NearestPose:
        prevents = coordinates_at_limits(self.mech, best.q, 1e-6)
        moving = {c.name for c in self.mech.coordinates if c.joint in self.reading.joints}
        return NearestPose(
            best.q,
            best.position_error,
            best.orientation_error,
            tuple(name for name in prevents if name in moving or name not in self.mech.q_names),
        )


def _distinct_rows(rows: NDArray[np.intp], q: Array, names: ConfigurationNames) -> list[int]:
    """Rows of q (K, n) without those that equal an earlier one up to whole turns."""
    rotates = np.array([kind == "R" for kind in names.chain.kinds])
    kept: list[int] = []
    for k in rows.tolist():
        difference = q[kept] - q[k]
        difference = np.where(rotates, np.remainder(difference + np.pi, 2.0 * np.pi) - np.pi, difference)
        if not (np.max(np.abs(difference), axis=1, initial=0.0) < SAME_ROTATION).any():
            kept.append(k)
    return kept
