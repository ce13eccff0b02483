"""Arms of the families with closed-form inverse kinematics, as rows of DH tables: a, α, d per joint."""

import math

from core.mechanism import Mechanism
from core.model import DHChain, DHRow, Model

H = math.pi / 2
PUMA = ((0.0, H, 0.67), (0.4318, 0.0, 0.0), (0.0203, -H, 0.15005), (0.0, H, 0.4318), (0.0, -H, 0.0), (0.0, 0.0, 0.1))
"""Axes 1 and 2 meet, 2 and 3 are parallel."""
OFFSET_SHOULDER = (
    (0.025, -H, 0.4),
    (0.455, 0.0, 0.0),
    (0.035, -H, 0.0),
    (0.0, H, 0.42),
    (0.0, -H, 0.0),
    (0.0, 0.0, 0.08),
)
"""As most industrial arms: axes 1 and 2 do not meet."""
UR5 = ((0.0, H, 0.0892), (-0.425, 0.0, 0.0), (-0.392, 0.0, 0.0), (0.0, H, 0.109), (0.0, -H, 0.0947), (0.0, 0.0, 0.082))
SKEW = ((0.0, 1.1, 0.3), (0.4, 0.5, 0.1), (0.05, -1.3, 0.15), (0.0, 1.2, 0.4), (0.0, -0.9, 0.0), (0.02, 0.3, 0.1))
"""Axes 1 and 2 meet, no axes are parallel, none at right angles."""
STANFORD = ((0.0, -H, 0.412), (0.0, H, 0.154), (0.0, 0.0, 0.1), (0.0, -H, 0.0), (0.0, H, 0.0), (0.0, 0.0, 0.26))
SCARA = ((0.325, 0.0, 0.4), (0.225, math.pi, 0.0), (0.0, 0.0, 0.1), (0.0, 0.0, 0.05))
ARMS = {
    "puma": (PUMA, "RRRRRR"),
    "offset shoulder": (OFFSET_SHOULDER, "RRRRRR"),
    "ur5": (UR5, "RRRRRR"),
    "skew": (SKEW, "RRRRRR"),
    "stanford": (STANFORD, "RRPRRR"),
    "scara": (SCARA, "RRPR"),
    "scara, slide first": (((0.0, 0.0, 0.1), (0.3, 0.0, 0.2), (0.2, 0.0, 0.0), (0.0, 0.0, 0.0)), "PRRR"),
}


def arm(rows, kinds="RRRRRR", *, limit=None, thetas=None):
    """Mechanism of a DH table."""
    thetas = thetas or [0.0] * len(rows)
    chain = DHChain(
        name="arm",
        rows=tuple(
            DHRow(kind="revolute" if kind == "R" else "prismatic", a=a, alpha=alpha, d=d, theta=theta, limit=limit)
            for kind, (a, alpha, d), theta in zip(kinds, rows, thetas, strict=True)
        ),
    )
    return Mechanism(Model(name="arm", chains=(chain,)))


def named_arm(name):
    """Mechanism of one of `ARMS`."""
    return arm(*ARMS[name])
