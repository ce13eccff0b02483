"""Results of `Mechanism.inverse_kinematics`: configurations by name, solutions, violated limits, self-motions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.later import dataclass

Array = NDArray[np.float64]

WITHIN = 1e-9
"""Distance (rad, m) beyond a limit up to which a joint counts as within."""
Complete = Literal["all", "all for these self-motion values", "at least these"]


@dataclass(frozen=True)
class Configuration:
    """A configuration of an arm by the side of each of its roots: part → name, e.g. elbow → up.

    `str` gives the names in order, "front up no-flip".
    """

    parts: tuple[tuple[str, str], ...]

    def side(self, part: str) -> str | None:
        """Name of a part's side; None for an arm without this part."""
        return dict(self.parts).get(part)

    @property
    def shoulder(self) -> str | None:
        """ "front" or "rear"."""
        return self.side("shoulder")

    @property
    def elbow(self) -> str | None:
        """ "up" or "down"; of a SCARA "left" or "right"."""
        return self.side("elbow")

    @property
    def wrist(self) -> str | None:
        """ "no flip" or "flip"."""
        return self.side("wrist")

    def __str__(self) -> str:
        return " ".join(
            name.replace(" ", "-") if len(name) > 1 else f"{part.replace(' ', '-')}{name}" for part, name in self.parts
        )


@dataclass(frozen=True)
class Violation:
    """A joint beyond its limit: value and limit (rad, m), and the distance between them, `by` > 0."""

    joint: str
    value: float
    limit: float
    by: float


@dataclass(frozen=True)
class SelfMotion:
    """A motion that leaves the frame where it is: its joints; the `parameter`, one of them; `rates`, the rates of the
    joints per rate of the parameter at this solution; `ranges`, values of the parameter (rad, m) within the limits of
    its joints, empty where they are not known in closed form."""

    joints: tuple[str, ...]
    parameter: str
    rates: tuple[float, ...]
    ranges: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class SelfMotionCurve:
    """Positions in which a frame keeps its pose, as a curve.

    q : (m, nq) positions along it, the one asked for among them; length : (m,) along the curve from its first position,
    rad and machine sizes; is_closed : True if the last position is the first one, up to whole turns; ends : why it does
    not go on before the first and after the last position, empty if it is closed; joints : that take part
    """

    q: Array
    length: Array
    is_closed: bool
    ends: tuple[str, str]
    joints: tuple[str, ...]
    refine: Callable[[Array], Array | None]

    def range_of(self, index: int) -> tuple[float, float]:
        """Smallest and largest value of a coordinate, by its index in q, at the computed positions."""
        return float(self.q[:, index].min()), float(self.q[:, index].max())

    def at(self, length: float) -> Array:
        """(nq,) position at a length along the curve, within its ends; on a closed one any length."""
        whole = float(self.length[-1])
        s = float(length) % whole if self.is_closed and whole > 0.0 else min(max(float(length), 0.0), whole)
        k = min(int(np.searchsorted(self.length, s, side="right")), len(self.length) - 1)
        before, behind = self.length[k - 1], self.length[k]
        share = (s - before) / (behind - before) if behind > before else 0.0
        near = (1.0 - share) * self.q[k - 1] + share * self.q[k]
        refined = self.refine(near)
        return near if refined is None else refined


@dataclass(frozen=True)
class Solution:
    """A position of the machine in which the frame meets the target.

    q : (nq,); configuration : None if the machine's configurations have no names; violations : joints beyond their
    limits; position_error : m; orientation_error : rad, both by forward kinematics; distance : from the given q, norm
    of the joints' differences (rad, m); singularity : the part of the configuration that is at its border here, else
    None; method : "closed form", "elimination" or "numeric"; turns : whole turns of each joint of the chain, from the
    angle within ±π; variants : of an assembly mode, number of closed poses with the frame at the same place
    """

    q: Array
    configuration: Configuration | None
    violations: tuple[Violation, ...]
    position_error: float
    orientation_error: float
    distance: float
    singularity: str | None
    method: str
    turns: tuple[int, ...]
    variants: int = 1

    @classmethod
    def of_fields(cls, fields: dict[str, object]) -> Solution:
        """Create a solution of all its fields, in a fraction of the constructor's time."""
        found = cls.__new__(cls)
        found.__dict__.update(fields)
        return found

    @property
    def is_within_limits(self) -> bool:
        """True if no joint is beyond its limits."""
        return not self.violations


@dataclass(frozen=True)
class NearestPose:
    """The best position for a target that is not reached: q (nq,), what is missing (m, rad), and `prevents`: joints at
    their limits, empty if the lengths of the links do; or the redundant joints whose given values do, with nothing
    missing at others."""

    q: Array
    position_error: float
    orientation_error: float
    prevents: tuple[str, ...]

    def __str__(self) -> str:
        if self.prevents and self.position_error == self.orientation_error == 0.0:
            return f"reaches the target with other values of {', '.join(self.prevents)}"
        text = f"misses the target by {self.position_error * 1e3:.4g} mm and {np.degrees(self.orientation_error):.4g}°"
        if self.prevents:
            return f"{text}; at their limits: {', '.join(self.prevents)}"
        return f"{text}; no joint is at a limit: the links do not reach"


@dataclass(frozen=True)
class InverseKinematics:
    """Solutions of an inverse kinematics problem.

    solutions : those within limits first, nearest to q first; complete : "all" if no other solution exists (up to whole
    turns, and continua at singular poses); of a redundant machine "all for these self-motion values"; of a
    given configuration all that have it; else "at least these", as with all=False if there are others; form : how they
    were found, in words; joints : the joints of the chain that moves the frame; continuum : a motion that leaves the
    frame at the target; nearest : for a target that is not reached
    """

    solutions: tuple[Solution, ...]
    complete: Complete
    form: str
    joints: tuple[str, ...]
    continuum: SelfMotion | None
    nearest: NearestPose | None

    @property
    def is_reached(self) -> bool:
        """True if there is a solution, possibly beyond limits."""
        return bool(self.solutions)


@dataclass(frozen=True)
class InverseKinematicsArray:
    """Solutions for N targets, one column per configuration.

    q : (N, K, nq), NaN where there is no solution; is_valid : (N, K) True where the frame meets the target;
    configurations : (K,); form : in words; lower, upper : (nq,) limits of the joints that are solved for. Where two
    configurations meet (a singular pose) both columns have the same q.
    """

    q: Array
    is_valid: NDArray[np.bool_]
    configurations: tuple[Configuration, ...]
    complete: Complete
    form: str
    lower: Array
    upper: Array

    @cached_property
    def violations(self) -> Array:
        """Return the distances (N, K, nq) beyond the limits, rad or m: 0 within the limits, NaN without a solution."""
        beyond = np.maximum(np.maximum(self.lower - self.q, self.q - self.upper), 0.0)
        return np.asarray(np.where(beyond <= WITHIN, 0.0, beyond))
