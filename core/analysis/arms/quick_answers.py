"""Inverse kinematics of one pose after another at machine speed: what depends on the machine and the frame only is
prepared once, and targets that need care are left to `inverse_kinematics_call`."""

from __future__ import annotations

import math
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.arm_families import ClosedArm
from core.analysis.arms.arm_reading import ArmReading, ArmSolver
from core.analysis.arms.branch_code import BranchCode
from core.analysis.arms.configuration_names import ConfigurationNames
from core.analysis.arms.joint_turns import count_turns, find_violations
from core.analysis.arms.screw_chain import ScrewChain
from core.mechanism import Mechanism
from core.mechanism.inverse_kinematics_results import WITHIN, InverseKinematics, Solution

Array = NDArray[np.float64]

REGULAR = 1e-3
"""Margin (of unit size) above which no two branches are the same and no part of the configuration is at its border."""
MOST_KEPT = 16
"""Number of frames per machine for which an arm stays prepared."""


_codes: WeakKeyDictionary[ClosedArm, BranchCode | None] = WeakKeyDictionary()


def branch_code(solver: ArmSolver | None, solved: ScrewChain | None) -> BranchCode | None:
    """Code of an exact closed form whose joints are all the machine's, with a name for each branch; else None."""
    if solver is None or solved is None or not isinstance(solver.arm, ClosedArm):
        return None
    if solver.arm not in _codes:
        _codes[solver.arm] = _make_code(solver, solver.arm, solved)
    return _codes[solver.arm]


def _make_code(solver: ArmSolver, arm: ClosedArm, solved: ScrewChain) -> BranchCode | None:
    names, at = solver.names, solver.chain.at
    whole = len(solved.at) == len(at) and isinstance(names, ConfigurationNames) and len(names.shown) == len(names.parts)
    if not (whole and solver.is_exact and isinstance(names, ConfigurationNames)):
        return None
    code = BranchCode(arm, names.order, is_reversed=solver.is_reversed)
    return code if code.is_possible else None


class PreparedArm:
    """Machine and frame, for which single targets are answered."""

    def __init__(self, mech: Mechanism, reading: ArmReading, code: BranchCode, solved: ScrewChain) -> None:
        assert reading.solver is not None
        self._rest, self._code, self._solved = np.array(mech.rest()), code, solved
        self._words, self._joints = reading.words, reading.joints
        self._names = reading.solver.names.configurations
        self._is_whole = mech.nq == code.count and bool(np.array_equal(solved.at, np.arange(mech.nq)))
        self._no_turns = (0,) * code.count

    def answer(self, target: Any, q: Any) -> InverseKinematics | None:
        """Answer for a target and a position as given; None if they are no arrays, or need care."""
        near = self._rest if q is None else q
        if type(target) is not np.ndarray or target.shape != (4, 4) or target.dtype != np.float64:
            return None
        if type(near) is not np.ndarray or near.shape != self._rest.shape or near.dtype != np.float64:
            return None
        return self._solve(np.ascontiguousarray(target), near)

    def _solve(self, target: Array, q: Array) -> InverseKinematics | None:
        """Answer for a pose, a contiguous (4, 4) array, with q (nq,) as start; None if it needs care."""
        code, own = self._code, q if self._is_whole else q[self._solved.at]
        row = code.solve_one(target, own)
        numbers = row.tolist()
        if numbers[-1] != 1.0:
            return None
        K, n = code.branches, code.count
        first, near = K * n, own.tolist()
        met = []
        for k in range(K):
            listed = numbers[n * k : n * k + n]
            if listed[0] == listed[0]:  # not NaN
                if numbers[first + 3 * K + k] < REGULAR:
                    return None
                met.append((numbers[first + 2 * K + k] > WITHIN, math.dist(listed, near), k, listed))
        if not met or (n == 6 and len(met) % 2):
            return None
        met.sort()
        chain = self._solved
        values = row[:first].reshape(K, n)
        solutions = tuple(
            Solution.of_fields(
                {
                    "q": values[k] if self._is_whole else self._position(values[k], q),
                    "configuration": self._names[k],
                    "violations": find_violations(chain, values[k]) if is_beyond else (),
                    "position_error": numbers[first + K + k],
                    "orientation_error": numbers[first + k],
                    "distance": distance,
                    "singularity": None,
                    "method": "closed form",
                    "turns": self._no_turns
                    if max(map(abs, listed)) < math.pi
                    else count_turns(self._solved, values[k]),
                    "variants": 1,
                }
            )
            for is_beyond, distance, k, listed in met
        )
        return InverseKinematics(solutions, "all", self._words, self._joints, None, None)

    def _position(self, values: Array, q: Array) -> Array:
        """(nq,) position with the chain's values."""
        result = q.copy()
        result[self._solved.at] = values
        return result


_arms: WeakKeyDictionary[Mechanism, dict[str | None, PreparedArm | None]] = WeakKeyDictionary()
"""Arms by the frame as asked for; None for those that are answered otherwise."""


def find_prepared_arm(mech: Mechanism, frame: str | None) -> PreparedArm | None:
    """Arm that was prepared for a frame, if there is one."""
    kept = _arms.get(mech)
    return None if kept is None else kept.get(frame)


def keep_prepared_arm(mech: Mechanism, frame: str | None, arm: PreparedArm) -> None:
    """Keep an arm for the next calls."""
    kept = _arms.setdefault(mech, {})
    if len(kept) >= MOST_KEPT:
        kept.clear()
    kept[frame] = arm
