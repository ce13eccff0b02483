"""Inverse kinematics as scripts call it (`Mechanism.inverse_kinematics`): closed form or elimination, otherwise the
numeric search.

Every solution is confirmed by the machine's forward kinematics; a branch of the closed form whose error is above
rounding gets a Newton step.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.arm_families import THREE_PARALLEL, ClosedArm
from core.analysis.arms.arm_reading import ArmReading, ArmSolver, Task, read_arm
from core.analysis.arms.branch_code import MET, BranchCode
from core.analysis.arms.branch_rows import Branches, choose_columns, columns_by_name, distinct_rows, inverse_poses
from core.analysis.arms.configuration_names import UnnamedBranches
from core.analysis.arms.joint_turns import (
    all_turns,
    count_turns,
    find_violations,
    nearest_turns,
)
from core.analysis.arms.pose_errors import POLISH_BELOW, largest_errors, polish
from core.analysis.arms.quick_answers import PreparedArm, branch_code, find_prepared_arm, keep_prepared_arm
from core.analysis.arms.self_motions import find_self_motion
from core.analysis.arms.six_joint_elimination import GeneralArm
from core.analysis.arms.targets import check_poses, read_target
from core.analysis.arms.task_chain import FREE_NAME, check_free_directions, free_motions, keep_joints
from core.analysis.inverse_kinematics import IKResult, coordinates_at_limits, solve_inverse_kinematics
from core.analysis.tool_frame import tool_frame
from core.errors import ModelError, suggest_names
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

USUAL_TOLERANCE = 1e-9
"""Tolerance (rad, m) of calls that give none."""
SMALLEST_TOLERANCE = 1e-13
"""Smallest tolerance (rad, m): rounding errors are not much smaller."""
RESTARTS, RESTARTS_FOR_NEAREST = 20, 4
"""Number of random poses from which the numeric search starts: for solutions; for the nearest pose out of reach."""
OTHER_ANGLES = tuple(sign * k * np.pi / 12.0 for k in range(1, 13) for sign in (1.0, -1.0))
"""Changes (rad) of an open angle that are tried in turn."""
ANY_ROTATION = np.array([[13.0, -26.0, 26.0], [34.0, 19.0, 2.0], [-14.0, 22.0, 29.0]]) / 39.0
"""Rotation of a target of which only the position counts."""
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
    free: Sequence[str] = (),
    locked: Sequence[str] = (),
    self_motion: Any = None,
    turns: str = "nearest",
    tolerance: float = USUAL_TOLERANCE,
    restarts: int = RESTARTS,
    step: Any = None,
) -> InverseKinematics | InverseKinematicsArray:
    """Find joint positions that bring a frame to a target; see `Mechanism.inverse_kinematics`.

    restarts : of the numeric search; `step(done, total)` is called before each of them
    """
    is_plain = p is None and t == 0.0 and reference == "world" and turns == "nearest" and self_motion is None
    if is_plain and all and configuration is None and not free and not locked and tolerance == USUAL_TOLERANCE:
        prepared = find_prepared_arm(mech, frame)
        quick = None if prepared is None else prepared.answer(target, q)
        if quick is not None:
            return quick
    asked, frame = frame, tool_frame(mech.model) if frame is None else frame
    X = read_target(target, is_array_checked=False)
    directions = check_free_directions(_read_names(free, "free"))
    if X.shape == (3,):
        X, directions = _with_rotation(X), tuple(dict.fromkeys((*directions, "rx", "ry", "rz")))
    problem = _Problem(mech, frame, q, p, t, _check_tolerance(tolerance), Task(directions, _check_locked(mech, locked)))
    if reference != "world":
        X = np.asarray(mech.frame(problem.q, reference, p=problem.p)) @ X
    if turns not in ("nearest", "limits"):
        raise ModelError(f"Unknown turns '{turns}'.", where="turns", remedy='Give "nearest" or "limits".')
    wanted = _read_configuration(configuration, problem)
    problems = problem.with_self_motions(self_motion)
    if X.ndim == 3:
        return problems[0].solve_array(X, wanted)
    if is_plain and not problem.reading.redundant and problem.code is not None:
        keep_prepared_arm(mech, asked, PreparedArm(mech, problem.reading, problem.code, problem.solved))
    answers = [
        each.solve(X, wanted, turns, restarts if all else min(restarts, RESTARTS_FOR_NEAREST), step)
        for each in problems
    ]
    found = _join(answers)
    return found if all else _nearest_only(found)


def _nearest_only(found: InverseKinematics) -> InverseKinematics:
    """Answer with the first solution only, which is not all if there are others."""
    if len(found.solutions) < 2:
        return found
    return replace(found, solutions=found.solutions[:1], complete="at least these")


def _check_tolerance(tolerance: Any) -> float:
    try:
        value = float(tolerance)
    except (TypeError, ValueError):
        value = math.nan
    if not SMALLEST_TOLERANCE <= value < math.inf:
        raise ModelError(
            f"{tolerance!r} is not a valid tolerance.",
            where="tolerance",
            remedy=f"Give a number of at least {SMALLEST_TOLERANCE:g} (rad, m); the default is 1e-9.",
        )
    return value


def _read_names(names: Any, where: str) -> tuple[str, ...]:
    """Names from one or several. Raises ModelError for anything else."""
    if isinstance(names, str):
        return (names,)
    try:
        found = tuple(names)
    except TypeError:
        found = (names,)
    if not builtins.all(isinstance(each, str) for each in found):
        raise ModelError(f"{names!r} is not a name, nor several.", where=where, remedy='Give names as text, ("rz",).')
    return found


def _with_rotation(position: Array) -> Array:
    """(4, 4) pose at a position, turned so that its axes are along no others: its rotation does not matter."""
    X = np.eye(4)
    X[:3, :3] = ANY_ROTATION
    X[:3, 3] = position
    return X


def _check_locked(mech: Mechanism, locked: Sequence[str]) -> tuple[str, ...]:
    names = _read_names(locked, "locked")
    for name in names:
        if name not in mech.joint_names:
            raise ModelError(
                f"There is no joint '{name}'.", where="locked", remedy=suggest_names(name, mech.joint_names)
            )
    return names


def _join(answers: Sequence[InverseKinematics]) -> InverseKinematics:
    """Answer of several values of a redundant joint: all solutions, nearest first."""
    first = answers[0]
    if len(answers) == 1:
        return first
    solutions = sorted((s for a in answers for s in a.solutions), key=lambda s: (bool(s.violations), s.distance))
    complete = next((a.complete for a in answers if a.complete == "at least these"), first.complete)
    continuum = next((a.continuum for a in answers if a.continuum is not None), None)
    nearest = None if solutions else min((a.nearest for a in answers if a.nearest), key=_missing, default=None)
    return replace(first, solutions=tuple(solutions), complete=complete, continuum=continuum, nearest=nearest)


def _missing(nearest: NearestPose) -> float:
    return nearest.position_error + nearest.orientation_error


def find_closed_form_solutions(
    mech: Mechanism, target: Array, frame: str, q: Any, p: Any, t: float = 0.0, tolerance: float = 1e-9
) -> InverseKinematics | None:
    """Find all solutions for a pose (4, 4) in closed form; None for machines without one, and where it does not reach
    the pose."""
    problem = _Problem(mech, frame, q, p, t, tolerance)
    if problem.reading.solver is None:
        return None
    found = problem.solve_branches(read_target(target), None, "nearest")
    return found if found is not None and found.is_reached else None


def _read_configuration(given: Any, problem: _Problem) -> dict[str, str] | None:
    """Names by part that a configuration must have, from what the user gives; None if all are wanted."""
    if given is None:
        return None
    solver = problem.reading.solver
    names = None if solver is None else solver.names
    if names is None or isinstance(names, UnnamedBranches):
        raise ModelError(
            "This machine's configurations have no names, since its inverse kinematics is not known in closed form.",
            where="configuration",
            remedy="Leave the configuration out.",
        )
    if given == "keep":
        return dict(names.read_configuration(problem.position_of_chain).parts)
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


class _Problem:
    """Machine, frame and position of a call, the same for all its targets."""

    def __init__(
        self, mech: Mechanism, frame: str, q: Any, p: Any, t: float, tolerance: float, task: Task | None = None
    ) -> None:
        self.mech, self.t, self.tolerance = mech, t, tolerance
        self.frame = mech.compiled.check_frame_name(frame)
        self.given = p
        self.p = mech.parameter_values(p)
        self.q = _read_position(mech, mech.rest(p, t=t) if q is None else q)
        self.task = Task() if task is None else task
        self._read(read_arm(mech, self.frame, self.p, self.q, self.task))
        if not self.reading.joints:
            words = " that is not locked" if self.task.locked else ""
            raise ModelError(f"No joint{words} moves '{self.frame}'.", where="frame", remedy="Choose another frame.")

    def _read(self, reading: ArmReading) -> None:
        self.reading = reading
        self.fixed = self.q
        """Position in which joints that are not solved for have their values."""
        if reading.solver is not None and reading.task is not None:
            self.solved = keep_joints(reading.task, reading.task.at >= 0)
            """Chain of the machine's joints that are solved for."""
            self.columns = reading.solver.columns(self.solved.joints)

    def with_self_motions(self, given: Any) -> list[_Problem]:
        """The problem for each value of its redundant joint: a number, an array, or numbers by joint."""
        if given is None:
            return [self]
        held = self.reading.redundant
        if not held:
            raise ModelError(
                "There is no redundant joint whose value could be chosen.",
                where="self_motion",
                remedy="Leave the self-motion out.",
            )
        if isinstance(given, Mapping):
            unknown = [name for name in given if name not in [each.removeprefix(FREE_NAME) for each in held]]
            if unknown:
                raise ModelError(
                    f"'{unknown[0]}' is not held.", where="self_motion", remedy=f"Held: {', '.join(held)}."
                )
            return [self._with_values(tuple((str(name), float(value)) for name, value in given.items()))]
        values = np.atleast_1d(np.asarray(given, dtype=float))
        if len(held) > 1 or values.ndim > 1 or not np.isfinite(values).all() or not len(values):
            raise ModelError(
                "A self-motion is given by one finite number, or several.",
                where="self_motion",
                remedy=f"With several redundant joints give numbers by name: {', '.join(held)}.",
            )
        return [self._with_values(((held[0].removeprefix(FREE_NAME), float(value)),)) for value in values]

    def _with_values(self, values: tuple[tuple[str, float], ...]) -> _Problem:
        other = copy(self)
        other.task = self.task._replace(values=values)
        other._read(read_arm(self.mech, self.frame, self.p, self.q, other.task))
        other.fixed = self.q.copy()
        for name, value in values:
            if name in self.mech.joint_names:
                other.fixed[self.mech.joint_q(name).start] = value
        return other

    @property
    def position_of_chain(self) -> Array:
        """(n,) values of the solver's chain at q, zero for virtual joints."""
        assert self.reading.solver is not None
        chain = self.reading.solver.chain
        return np.asarray(np.where(chain.at >= 0, self.fixed[chain.at], 0.0))

    def solve(
        self, X: Array, wanted: Mapping[str, str] | None, turns: str, restarts: int, step: Any
    ) -> InverseKinematics:
        """Solutions for one pose (4, 4), by branches or by the numeric search."""
        found = self.solve_branches(X, wanted, turns)
        if found is not None:
            return found
        free = self.task.free
        if free and free != ("rx", "ry", "rz"):
            raise ModelError(
                f"Free directions other than all rotations need a closed form; here inverse kinematics is "
                f"{self.reading.words}.",
                where="free",
                remedy="Ask for the whole pose or for the position only.",
            )
        if self.task.locked:
            raise ModelError(
                f"Locked joints need a closed form; here inverse kinematics is {self.reading.words}.",
                where="locked",
                remedy="Freeze the joints in the document instead.",
            )
        return self.search(X[:3, 3] if free else X, restarts, step)

    def solve_branches(self, X: Array, wanted: Mapping[str, str] | None, turns: str) -> InverseKinematics | None:
        """Solutions for one pose (4, 4); None if there is no closed form, or if it fails at this pose."""
        solver = self.reading.solver
        if solver is None:
            return None
        names, branches = solver.names, self._solve_branches(solver, X[None])
        Q, errors, met = branches.q, branches.errors, np.flatnonzero(branches.is_valid[0])
        if not len(met):
            return self._search_nearest(X, bool(branches.is_doubtful[0]))
        singular = [names.name_singularity(each) for each in names.factors(branches.own[0])]
        solved = Q[0][:, self.solved.at]
        is_even = len(self.solved.joints) < 6 or len(distinct_rows(met, solved, self.solved)) % 2 == 0
        is_certain = solver.is_exact and not branches.is_doubtful[0]
        is_all = is_certain and (is_even or any(singular[k] for k in met))
        if wanted is not None:
            met = np.array([k for k in met if wanted.items() <= dict(names.configurations[k].parts).items()], dtype=int)
        found = [
            self._solution(Q[0, k], names.configurations[k] if names.is_named else None, errors[0, k], singular[k])
            for k in distinct_rows(met, solved, self.solved)
        ]
        found.sort(key=lambda each: (bool(each.violations), each.distance))
        continuum = self._continuum(found, X)
        if turns == "limits":
            found = [turned for each in found for turned in self._all_turns(each)]
        words, joints = self.reading.words, self.reading.joints
        return InverseKinematics(tuple(found), self._complete(is_all), words, joints, continuum, None)

    def _complete(self, is_all: bool) -> Complete:
        if not is_all:
            return "at least these"
        return "all for these self-motion values" if self.reading.redundant else "all"

    def _continuum(self, found: list[Solution], X: Array) -> SelfMotion | None:
        if self.reading.redundant:
            motion = self._self_motion(found[0], X) if found else None
            held = self.reading.redundant[0].removeprefix(FREE_NAME)
            if motion is None or held not in motion.joints:
                return motion
            rates = np.array(motion.rates) / motion.rates[motion.joints.index(held)]
            return replace(motion, parameter=held, rates=tuple(rates.tolist()))
        return next((m for m in (self._self_motion(each, X) for each in found if each.singularity) if m), None)

    def solve_array(self, X: Array, wanted: Mapping[str, str] | None = None) -> InverseKinematicsArray:
        """Solutions for poses (N, 4, 4) as given. wanted : parts of the configurations whose columns are kept"""
        solver = self.reading.solver
        if solver is None:
            raise ModelError(
                f"Arrays of targets need a closed form; here inverse kinematics is {self.reading.words}.",
                where="target",
                remedy="Call it for one target after the other.",
            )
        columns = columns_by_name(solver, wanted)
        Q = np.empty((len(X), len(columns), self.mech.nq))
        is_valid, is_certain = np.empty(Q.shape[:2], dtype=bool), solver.is_exact
        for first in range(0, len(X), ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            found = self._solve_rows(solver, X[rows])
            choose_columns(columns, found, Q[rows], is_valid[rows])
            is_certain = is_certain and not found.is_doubtful.any()
        lower, upper = np.full(self.mech.nq, -np.inf), np.full(self.mech.nq, np.inf)
        lower[self.solved.at], upper[self.solved.at] = self.solved.lower, self.solved.upper
        complete = self._complete(bool(is_certain))
        return InverseKinematicsArray(Q, is_valid, tuple(columns), complete, self.reading.words, lower, upper)

    def _solve_rows(self, solver: ArmSolver, X: Array) -> Branches:
        """Solve all branches for poses (N, 4, 4) of an array: at once, then those that need care."""
        code = self.code
        if code is None or self.tolerance < MET:
            found = self._solve_branches(solver, check_poses(X))
            found.q[~found.is_valid] = np.nan
            return found
        quick = code.solve(X, self.q[self.solved.at])
        Q = quick.values
        if code.count < self.mech.nq or not np.array_equal(self.solved.at, np.arange(code.count)):
            Q = np.where(np.isnan(Q[..., :1]), np.nan, self.fixed)
            Q[..., self.solved.at] = quick.values
        is_valid, is_doubtful = ~np.isnan(quick.values[..., 0]), np.zeros(len(X), dtype=bool)
        hard = np.flatnonzero(~quick.is_simple)
        if len(hard):
            found = self._solve_branches(solver, check_poses(X[hard]))
            Q[hard], is_valid[hard], is_doubtful[hard] = found.q, found.is_valid, found.is_doubtful
            Q[hard] = np.where(found.is_valid[..., None], found.q, np.nan)
        return Branches(Q, np.zeros(0), is_valid, np.zeros(0), is_doubtful)

    @property
    def code(self) -> BranchCode | None:
        """Code of all branches in one function, if there is one."""
        return None if self.reading.solver is None else branch_code(self.reading.solver, self.solved)

    def _solve_branches(self, solver: ArmSolver, X: Array) -> Branches:
        """Solve all branches for poses (N, 4, 4), in the order of the names, with angles nearest to q."""
        near = self.position_of_chain
        found = self._confirmed_branches(solver, X, near)
        is_open = solver.names.is_wrist_aligned(found.own) & ~found.is_valid
        family = solver.arm.family if isinstance(solver.arm, ClosedArm) else None
        if family not in (None, THREE_PARALLEL):
            is_open &= largest_errors(found.errors) < POLISH_BELOW  # others are lost for another reason
        elif family == THREE_PARALLEL and is_open.any():
            # the first angles tried for the aligned wrist leave the parallel joints no solution: others may
            rows = np.flatnonzero(is_open.any(axis=1))
            for turned in OTHER_ANGLES:
                other = self._confirmed_branches(solver, X[rows], near + turned * np.eye(len(near))[3])
                better = is_open[rows] & other.is_valid & ~found.is_valid[rows]
                for whole, part in zip(found[:4], other[:4], strict=True):
                    whole[rows] = np.where(better.reshape(better.shape + (1,) * (part.ndim - 2)), part, whole[rows])
        is_doubtful = np.asarray((is_open & ~found.is_valid).any(axis=1))
        if isinstance(solver.arm, GeneralArm):
            is_doubtful = is_doubtful | ~solver.arm.is_complete
        elif not solver.names.is_named:  # next to a singular pose two roots may be lost together
            is_doubtful = is_doubtful | solver.names.is_wrist_aligned(found.own).any(axis=1)
        at = self.solved.at
        found.q[~found.is_valid] = self.q
        found.q[..., at] = nearest_turns(self.solved, found.q[..., at], self.q[at])
        return found._replace(is_doubtful=is_doubtful)

    def _confirmed_branches(self, solver: ArmSolver, X: Array, near: Array) -> Branches:
        """Branches that are tested by forward kinematics. near : (n,) angles of joints that a singular pose leaves
        open"""
        own = solver.arm.solve(inverse_poses(X) if solver.is_reversed else X, near)[:, solver.names.order]
        Q = np.empty((*own.shape[:2], self.mech.nq))
        Q[:] = self.fixed
        Q[..., self.solved.at] = own[..., self.columns]
        speeds = np.array([self.mech.joint_v(joint).start for joint in self.solved.joints], dtype=np.intp)
        targets = np.repeat(X, own.shape[1], axis=0)
        task = self.reading.task
        if task is not None and len(self.solved.joints) < len(task.joints):
            values = own[..., solver.columns(task.joints)].reshape(len(targets), -1)
            finite = np.isfinite(values).all(axis=1)
            targets[finite] = targets[finite] @ inverse_poses(free_motions(task, values[finite]))
        refine = not solver.is_exact
        flat, errors = polish(
            self.mech, self.frame, Q.reshape(-1, self.mech.nq), targets, self.p, speeds, refine=refine
        )
        is_valid = (largest_errors(errors) <= self.tolerance).reshape(Q.shape[:2])
        return Branches(flat.reshape(Q.shape), errors.reshape(*Q.shape[:2], 6), is_valid, own)

    def _solution(self, q: Array, configuration: Configuration | None, errors: Array, part: str | None) -> Solution:
        own = q[self.solved.at]
        return Solution(
            q=q,
            configuration=configuration,
            violations=find_violations(self.solved, own),
            position_error=float(np.linalg.norm(errors[3:])),
            orientation_error=float(np.linalg.norm(errors[:3])),
            distance=float(np.linalg.norm(q - self.q)),
            singularity=part,
            method="elimination" if self.reading.words.startswith("elimination") else "closed form",
            turns=count_turns(self.solved, own),
        )

    def _all_turns(self, found: Solution) -> list[Solution]:
        """The solution with all whole turns of its joints within limits, nearest first."""
        chain, result = self.solved, []
        for own in all_turns(chain, found.q[chain.at]):
            q = found.q.copy()
            q[chain.at] = own
            distance = float(np.linalg.norm(q - self.q))
            result.append(replace(found, q=q, distance=distance, turns=count_turns(chain, own)))
        return sorted(result, key=lambda each: each.distance)

    def _self_motion(self, found: Solution, X: Array) -> SelfMotion | None:
        chain = None if self.reading.solver is None or self.reading.redundant else self.solved
        target = X[:3, 3] if self.task.free == ("rx", "ry", "rz") and X.shape == (4, 4) else X
        return find_self_motion(self.mech, found.q, self.frame, target, self.p, self.t, chain)

    # ----------------------------------------------------------------------------- numeric search

    def search(self, X: Array, restarts: int, step: Any) -> InverseKinematics:
        """Solutions for a position (3,) or pose (4, 4) that the numeric search comes upon."""
        attempts = self._attempts(X, restarts, step)
        found = [self._searched_solution(each) for each in attempts if each.is_reached]
        words = self.reading.words if X.shape == (4, 4) else "numeric: only a position is asked for"
        if words == self.reading.words and self.reading.solver is not None:
            words = "numeric: the closed form fails at this pose"
        return InverseKinematics(
            tuple(found),
            "at least these",
            words,
            self.reading.joints,
            self._self_motion(found[0], X) if found else None,
            None if found else self._nearest_pose(attempts[0]),
        )

    def _search_nearest(self, X: Array, is_doubtful: bool) -> InverseKinematics | None:
        """Answer for a pose that no branch meets; None if the search reaches it all the same."""
        complete = self._complete(self.reading.solver is not None and self.reading.solver.is_exact and not is_doubtful)
        words, joints = self.reading.words, self.reading.joints
        if self.task.locked or (self.task.free and self.task.free != ("rx", "ry", "rz")):
            return InverseKinematics((), complete, words, joints, None, None)
        if self.task.free:
            X = X[:3, 3]
        best = self._attempts(X, RESTARTS_FOR_NEAREST, None)[0]
        if best.is_reached and self.task.values:
            nearest = NearestPose(best.q, 0.0, 0.0, tuple(name.removeprefix(FREE_NAME) for name, _ in self.task.values))
            return InverseKinematics((), complete, words, joints, None, nearest)
        if best.is_reached:
            return None
        if self.reading.redundant:
            complete = "at least these"
        return InverseKinematics((), complete, words, joints, None, self._nearest_pose(best))

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


def _read_position(mech: Mechanism, given: Any) -> Array:
    """(nq,) position as given. Raises ModelError."""
    try:
        q = np.array(given, dtype=float)
    except (TypeError, ValueError):
        q = np.zeros(0)
    if q.shape != (mech.nq,) or not np.isfinite(q).all():
        raise ModelError(
            f"q is not a position of {mech.nq} finite numbers.", where="q", remedy="Give mech.rest(), for example."
        )
    return q
