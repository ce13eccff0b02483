"""What a joint forbids, for joints that close a loop: residuals that vanish when frames a and b fit together.

In canonical frames (axis along z), X_ab = (R, p): positions in m, directions and angles in rad.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from core.joints import laws
from core.spatial.pose import Pose
from core.spatial.rotation import Rotation
from core.spatial.scalar import Scalar, apply, minus, over, plus, times
from core.spatial.vector import Z


def _point(X: Pose) -> list[Scalar]:
    """Origins coincide."""
    return list(X.position)


def _on_axis(X: Pose) -> list[Scalar]:
    """b's origin lies on a's axis."""
    return [X.position.x, X.position.y]


def _parallel(R: Rotation) -> list[Scalar]:
    """b's z is parallel to a's: its x and y components in a vanish."""
    return [R.x.z, R.y.z]


def _aligned(R: Rotation) -> list[Scalar]:
    """No rotation at all: the axial vector of R (sin φ n)."""
    return [
        times(0.5, minus(R.z.y, R.y.z)),
        times(0.5, minus(R.x.z, R.z.x)),
        times(0.5, minus(R.y.x, R.x.y)),
    ]


def _screw(law: laws.Screw, X: Pose) -> list[Scalar]:
    """Advance and angle agree, at whatever number of turns."""
    angle = apply("atan2", X.rotation.y.x, X.rotation.x.x)
    gap = minus(X.position.z, times(law.advance, angle))
    turn = times(2.0 * math.pi, law.advance)
    whole = apply("floor", plus(over(gap, turn), 0.5))
    return [*_on_axis(X), *_parallel(X.rotation), minus(gap, times(whole, turn))]


def _universal(law: laws.Universal, X: Pose) -> list[Scalar]:
    """The angle between a's axis and b's second axis stays: z · R e = z · e."""
    second = X.rotation.act(law.second)
    return [*_point(X), minus(second.dot(Z), law.second.z)]


_RESIDUALS: dict[type, Callable[[Any, Pose], list[Scalar]]] = {
    laws.Revolute: lambda law, X: _point(X) + _parallel(X.rotation),
    laws.Prismatic: lambda law, X: _on_axis(X) + _aligned(X.rotation),
    laws.Cylindrical: lambda law, X: _on_axis(X) + _parallel(X.rotation),
    laws.Screw: _screw,
    laws.Universal: _universal,
    laws.Spherical: lambda law, X: _point(X),
    laws.Planar: lambda law, X: [X.position.z, *_parallel(X.rotation)],
    laws.Fixed: lambda law, X: _point(X) + _aligned(X.rotation),
    laws.Free: lambda law, X: [],
}


def residual(law: Any, X: Pose) -> list[Scalar]:
    """6 − nv numbers that are zero when frame b fits frame a as the joint demands."""
    return _RESIDUALS[type(law)](law, X)
