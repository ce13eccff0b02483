"""Measured coordinates of a cut joint, which has no entry in q."""

from __future__ import annotations

from typing import Any

from core.joints.kind import JointKind
from core.numerics.spatial.force import Force
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import Measured


def coordinates_of(X_a: Pose, X_b: Pose, law: JointKind, _: Any) -> Measured:
    """Measure a joint's coordinates between its frames, and per speed the wrench on b about b's origin, world axes."""
    values, wrenches = law.measure(X_a.inverse() @ X_b)
    turn = X_a.rotation
    return Measured(values, tuple(Force(turn.act(W.moment), turn.act(W.force)) for W in wrenches))
