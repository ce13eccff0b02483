"""Ranges of the coordinates varied in a map, and evenly spread points over them.

The points are those of an additive recurrence u_k = frac(u_0 + k α) with α from the root of x^(d+1) = x + 1 (M.
Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018; in one dimension the golden ratio): any
piece of it can be computed by itself, and the same seed gives the same points. Attitudes of spherical joints are
spread evenly over all rotations (K. Shoemake, "Uniform random rotations", Graphics Gems III, 1992).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.actuators import default_actuators
from core.constraints.assembly import random_pose
from core.errors import ModelError, suggest_names
from core.mechanics.multibody.coordinates import Coordinate
from core.mechanism import Mechanism

Array = NDArray[np.float64]
Over = Sequence[str] | Mapping[str, tuple[float, float]] | None
"""Coordinates to vary, with bounds if these differ from the limits; None: all that move the frame."""

TURN = 2.0 * math.pi
MOVES = 1e-9
"""Fraction of the largest Jacobian entry below which a coordinate does not move a frame."""
POSES = 4


@dataclass(frozen=True)
class JointRanges:
    """Ranges of varied coordinates. names : of scalar coordinates; index, speed : their indices in q and v; lower,
    upper : (d,) rad or m; balls : first indices in q of the quaternions of spherical joints that cover all attitudes,
    by joint.

    periodic : (d,) whether a range is a whole turn
    """

    names: tuple[str, ...]
    index: NDArray[np.intp]
    speed: NDArray[np.intp]
    lower: Array
    upper: Array
    periodic: NDArray[np.bool_]
    balls: Mapping[str, int]

    @property
    def count(self) -> int:
        """Number of components of a sample point."""
        return len(self.names) + 3 * len(self.balls)

    @property
    def all_names(self) -> tuple[str, ...]:
        """Names of the varied coordinates, and of the spherical joints that cover all attitudes."""
        return (*self.names, *self.balls)

    def set_coordinates(self, q: Array, u: Array) -> Array:
        """Set the varied coordinates of poses q (n, nq) to the values at points u (n, count) of the unit cube."""
        placed = np.array(q, dtype=float)
        d = len(self.names)
        placed[:, self.index] = self.lower + u[:, :d] * (self.upper - self.lower)
        for k, first in enumerate(self.balls.values()):
            placed[:, first : first + 4] = attitudes_from_points(u[:, d + 3 * k : d + 3 * k + 3])
        return placed


def evenly_spread_points(first: int, count: int, dimension: int, seed: int = 0) -> Array:
    """Return (count, dimension) evenly spread points of the unit cube, from index `first` on."""
    root = 2.0
    for _ in range(64):
        root = (1.0 + root) ** (1.0 / (dimension + 1.0))
    alpha = root ** -np.arange(1.0, dimension + 1.0)
    start = np.random.default_rng(seed).uniform(size=dimension)
    return np.asarray(np.mod(start + np.arange(first + 1, first + count + 1)[:, None] * alpha, 1.0))


def attitudes_from_points(u: Array) -> Array:
    """Map points u (n, 3) of the unit cube to evenly distributed quaternions x, y, z, w (n, 4)."""
    small, large = np.sqrt(1.0 - u[:, 0]), np.sqrt(u[:, 0])
    first, second = TURN * u[:, 1], TURN * u[:, 2]
    return np.stack(
        [small * np.sin(first), small * np.cos(first), large * np.sin(second), large * np.cos(second)], axis=1
    )


def determine_joint_ranges(
    mech: Mechanism, frame: str, varied: Over, p: Array, *, with_rotation: bool = True
) -> JointRanges:
    """Determine the coordinates to vary and their ranges.

    Of open chains those that move the frame (with_rotation : or turn it), of closed machines the actuators'. Angles
    without limits run over one turn. Raises ModelError naming a coordinate that has no bounds, or is none.
    """
    known = {coordinate.name: coordinate for coordinate in mech.coordinates}
    given = dict(varied) if isinstance(varied, Mapping) else {}
    names = list(varied) if varied else _coordinates_moving_frame(mech, frame, p, with_rotation)
    if not names:
        raise ModelError(
            f"No joint moves '{frame}'.",
            where="workspace",
            remedy="Choose a frame that a joint moves, such as the tool.",
        )
    balls = {name: mech.joint_q(name).start for name in names if _is_spherical_joint(mech, name)}
    plain = [name for name in names if name not in balls]
    for name in plain:
        if name not in known or known[name].dimension == "none":
            possible = [each.name for each in mech.coordinates if each.dimension != "none"]
            raise ModelError(
                f"There is no coordinate '{name}' that can be varied.",
                where="over",
                remedy=suggest_names(name, possible),
            )
    mech.compiled.coordinates.check_limit_order()
    bounds = [_bounds_of_coordinate(known[name], given.get(name)) for name in plain]
    lower, upper = (np.array(each, dtype=float) for each in (zip(*bounds, strict=True) if bounds else ((), ())))
    angles = np.array([known[name].dimension == "angle" for name in plain], dtype=bool)
    return JointRanges(
        tuple(plain),
        np.array([known[name].index for name in plain], dtype=np.intp),
        np.array([mech.v_names.index(name) for name in plain], dtype=np.intp),
        lower,
        upper,
        angles & (upper - lower > TURN - 1e-9),
        balls,
    )


def _is_spherical_joint(mech: Mechanism, name: str) -> bool:
    joint = mech.compiled.coordinates.joints.get(name)
    return joint is not None and joint.info.quaternion is not None and joint.info.nv == 3


def _coordinates_moving_frame(mech: Mechanism, frame: str, p: Array, with_rotation: bool) -> list[str]:
    """Return the coordinates and spherical joints that move the frame in some pose."""
    if mech.compiled.lasting.any():
        speeds = [mech.v_names[k] for k in default_actuators(mech.compiled).indices]
    else:
        rng = np.random.default_rng(1)
        q = np.array([random_pose(mech.compiled, rng) for _ in range(POSES)])
        J = np.asarray(mech.jacobian(q, frame, p=p))
        size = np.abs(J if with_rotation else J[:, 3:]).max(axis=(0, 1))
        speeds = [name for name, x in zip(mech.v_names, size, strict=True) if x > MOVES * max(float(size.max()), 1e-9)]
    names: list[str] = []
    for speed in speeds:
        joint = speed if speed in mech.compiled.coordinates.joints else speed.rpartition(".")[0]
        name = joint if joint in mech.compiled.coordinates.joints and _is_spherical_joint(mech, joint) else speed
        if name not in mech.q_names and name != joint:
            raise ModelError(
                f"'{joint}' leaves a body free in space, so that '{frame}' can reach any point.",
                where="workspace",
                remedy="Join the body to the ground, or name the coordinates to vary (over).",
            )
        if name not in names:
            names.append(name)
    return names


def _bounds_of_coordinate(coordinate: Coordinate, user_bounds: Any) -> tuple[float, float]:
    """Return the bounds of a varied coordinate."""
    where = f"coordinate '{coordinate.name}'"
    if user_bounds is not None:
        low, high = (float(x) for x in user_bounds)
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ModelError(f"{low:g} … {high:g} is not a range.", where=where, remedy="Give the lower bound first.")
        return low, high
    low = -math.inf if coordinate.lower is None else coordinate.lower
    high = math.inf if coordinate.upper is None else coordinate.upper
    if coordinate.dimension == "angle" and high - low >= TURN:
        middle = 0.0 if low <= -math.pi and high >= math.pi else 0.5 * (low + high)
        middle = middle if math.isfinite(middle) else (low + math.pi if math.isfinite(low) else high - math.pi)
        return middle - math.pi, middle + math.pi
    if coordinate.dimension == "angle":
        low = low if math.isfinite(low) else high - TURN
        high = high if math.isfinite(high) else low + TURN
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ModelError(
            "The coordinate has no limits, so that the workspace would be infinite.",
            where=where,
            remedy="Give the joint limits, or name the coordinates to vary with their bounds (over).",
        )
    return low, high
