"""Consistency check of a joint kind before it is registered: its members must describe the same motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from core.joints.kind import JointKind
from core.kinds import KindError
from core.numerics.spatial.pose import Pose

Array = NDArray[np.float64]

AXIS, SECOND_AXIS, PITCH = (0.3, -0.5, 0.8), (0.9, 0.2, 0.4), 0.07
"""Axis, second axis and pitch of the joint that is checked."""
REACH = {"angular_velocity": 0.5, "velocity": 0.1}
"""Largest displacement from the neutral position in the check, by dimension of the speed: rad, m; `OTHER_REACH` for
other dimensions."""
OTHER_REACH = 0.5
POSES = 4
TRIAL_STEP = 1e-5
EXACT_TOLERANCE = 1e-9
"""Tolerance of direct comparisons (1, rad, m)."""
DIFFERENCE_TOLERANCE = 1e-6
"""Tolerance of comparisons with finite differences over `TRIAL_STEP`."""
RANK_TOLERANCE = 1e-6
"""Smallest singular value at which the columns count as independent."""


def check_joint_kind(kind: type[JointKind]) -> None:
    """Check a joint kind; raises KindError if a member fails or members contradict each other. The checks: the pose at
    the neutral coordinates is the identity; rotations are orthogonal; the subspace columns are independent and equal
    the derivatives of the pose; the bias is the rate of change of the columns times the speeds; the measured
    coordinates equal q."""
    trial = _KindConsistencyCheck(kind)
    trial.check_neutral_pose()
    rng = np.random.default_rng(1)
    reach = np.array([REACH.get(dimension, OTHER_REACH) for dimension in kind.speed_dimensions])
    for _ in range(POSES):
        q = kind.moved(np.array(kind.neutral, dtype=float), reach * rng.uniform(-1.0, 1.0, kind.nv))
        trial.check_state(q, rng.uniform(-1.0, 1.0, kind.nv))


class _KindConsistencyCheck:
    def __init__(self, kind: type[JointKind]) -> None:
        self.kind = kind
        self.law, _ = self.call_member("read", lambda: kind.read(AXIS, SECOND_AXIS, PITCH))

    def raise_kind_error(self, reason: str, remedy: str) -> NoReturn:
        raise KindError(f"The joint kind '{self.kind.name}' is refused: {reason}", remedy=remedy)

    def call_member(self, member: str, ask: Callable[[], Any], where: str = "") -> Any:
        """Call a member of the kind, turning its exceptions into a KindError."""
        try:
            return ask()
        except Exception as error:
            self.raise_kind_error(
                f"member '{member}' fails{where} ({type(error).__name__}: {error}).",
                "Use the functions of kinetostat.scalar and kinetostat.spatial, which work for numbers and symbols.",
            )

    def checked_pose(self, q: Array) -> Array:
        """Return the pose matrix (4, 4), checked."""
        where = f" at q = {_format_coordinates(q)}"
        X = self.call_member("pose", lambda: _pose_matrix(self.law.pose(q.tolist())), where)
        R = X[:3, :3]
        if not np.isfinite(X).all() or np.abs(R @ R.T - np.eye(3)).max() > EXACT_TOLERANCE or np.linalg.det(R) < 0.0:
            self.raise_kind_error(
                f"its pose{where} contains no valid rotation matrix.", "Compose it of rotations about axes."
            )
        return X

    def check_neutral_pose(self) -> None:
        """Check that frames a and b coincide at the neutral coordinates."""
        q = np.array(self.kind.neutral, dtype=float)
        if np.abs(self.checked_pose(q) - np.eye(4)).max() > EXACT_TOLERANCE:
            self.raise_kind_error(
                f"at its neutral coordinates {_format_coordinates(q)} frame b does not coincide with frame a.",
                "Define the neutral coordinates as those at which the frames coincide.",
            )

    def check_state(self, q: Array, v: Array) -> None:
        """Check the members at a state (q, v)."""
        kind, law, where = self.kind, self.law, f" at q = {_format_coordinates(q)}"
        S = self.checked_subspace(q)
        if kind.nv and np.linalg.svd(S, compute_uv=False)[-1] < RANK_TOLERANCE:
            self.raise_kind_error(
                f"its {kind.nv} speeds{where} give zero or linearly dependent motions.",
                "Give each speed an independent column of 'subspace'.",
            )
        X = self.checked_pose(q)
        ahead, behind = (self.checked_pose(kind.moved(q, step * v)) for step in (TRIAL_STEP, -TRIAL_STEP))
        rate = np.linalg.inv(X) @ (ahead - behind) / (2.0 * TRIAL_STEP)
        self.compare_member("subspace", S @ v, [rate[2, 1], rate[0, 2], rate[1, 0], *rate[:3, 3]], where)
        ahead, behind = (self.checked_subspace(kind.moved(q, step * v)) for step in (TRIAL_STEP, -TRIAL_STEP))
        bias = self.call_member("bias", lambda: _flatten_pair(law.bias(q.tolist(), v.tolist())), where)
        self.compare_member("bias", bias, (ahead - behind) @ v / (2.0 * TRIAL_STEP), where)
        found = self.call_member(
            "measure", lambda: np.array(law.measure(law.pose(q.tolist())).values, dtype=float), where
        )
        self.compare_member("measure", kind.between(found, q), np.zeros(kind.nv), where)
        if kind.closes_loops:
            rows = self.call_member(
                "residual", lambda: np.array(law.residual(law.pose(q.tolist())), dtype=float), where
            )
            if len(rows) != kind.constraints:
                self.raise_kind_error(
                    f"its 'residual' has {len(rows)} rows.",
                    f"Return {kind.constraints}: six minus the number of speeds.",
                )
            self.compare_member("residual", rows, np.zeros(len(rows)), where)

    def checked_subspace(self, q: Array) -> Array:
        """Return the motion subspace (6, nv)."""
        found = self.call_member("subspace", lambda: self.law.subspace(q.tolist()), f" at q = {_format_coordinates(q)}")
        if len(found) != self.kind.nv:
            self.raise_kind_error(f"its 'subspace' has {len(found)} columns.", f"Return one per speed: {self.kind.nv}.")
        return np.array([_flatten_pair(column) for column in found]).reshape(-1, 6).T

    def compare_member(self, member: str, value: Any, expected: Any, where: str) -> None:
        """Raise KindError if the values of a member differ from those derived from the poses."""
        if np.abs(np.asarray(value, dtype=float) - np.asarray(expected)).max(initial=0.0) > DIFFERENCE_TOLERANCE:
            self.raise_kind_error(f"its '{member}'{where} contradicts its 'pose'.", f"Correct '{member}' or 'pose'.")


def _flatten_pair(pair: Any) -> Array:
    return np.array([x for part in pair for x in part], dtype=float)


def _pose_matrix(X: Pose) -> Array:
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = np.array(X.rotation, dtype=float), np.array(X.position, dtype=float)
    return out


def _format_coordinates(q: Array) -> str:
    return ", ".join(f"{x:.3g}" for x in q)
