"""Names of an arm's configurations: the signs of the factors of its Jacobian determinant.

A name changes exactly where the arm passes the singularity of its factor.

- shoulder, front or rear: side of the wrist's centre (three parallel axes: of the point where the last two meet) from
  the plane through axis 1 and the direction of axis 2. Front is where axis 2 lies, or else where the centre is with all
  joints at zero.
- elbow, up or down: sign of the derivative of the distance from shoulder to wrist by the elbow's angle; up if the elbow
  is above the line from shoulder to wrist with the arm in front, up being along z of the arm's base. SCARA: left or
  right of this line, seen from above.
- wrist, no flip or flip: sign of sin θ₅, with θ₅ = 0 where axes 4 and 6 point in the same direction.
- a slide, + or −: direction in which the wrist is from the shoulder.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.arm_families import (
    CYLINDRICAL,
    SLIDING,
    THREE_PARALLEL,
    ClosedArm,
    meeting_point,
)
from core.analysis.arms.configuration_borders import Borders, find_borders
from core.analysis.arms.screw_chain import ScrewChain, chain_jacobian
from core.analysis.arms.task_chain import FREE_NAME, PHANTOM_NAME
from core.mechanism.inverse_kinematics_results import Configuration

Array = NDArray[np.float64]

BORDER_TOLERANCE = 1e-6
"""Factor (of unit size) below which a configuration is at its border: a singular pose."""
REACHED_TOLERANCE = 1e-7
"""Deviation (of pose matrices) below which a branch exists at a pose tried."""
POSES_TRIED = 24
"""Number of random poses at which the names of the roots' sides are read."""

_FRONT, _UP, _FLIP = ("front", "rear"), ("up", "down"), ("no flip", "flip")


class ConfigurationNames:
    """Names of the branches of an arm, and the order in which they are listed.

    base : (4, 4) pose of the body on which the first joint is; by_joints : parts are called after the joints to which
    their roots belong, as for an arm that is read from the tool to the base. Roots of virtual joints have no names
    """

    is_named = True

    def __init__(self, arm: ClosedArm, base: Array, *, by_joints: bool = False) -> None:
        chain = arm.chain
        self.family = arm.family
        self._by_joints = by_joints
        self._turning = [k for k, kind in enumerate(chain.kinds) if kind == "R"]
        """Indices of the revolutes."""
        self._centre = 4 if arm.family == THREE_PARALLEL else 3
        points = chain.point.copy()
        if arm.family != CYLINDRICAL:
            centre = meeting_point(chain, self._centre, self._centre + 1)
            assert centre is not None
            points[self._centre] = centre
        hub = meeting_point(chain, 0, 1)
        if hub is not None:
            points[1] = hub  # distances to the wrist count from where the first two axes meet
        self.chain = chain._replace(point=points)
        self.parts = self._name_parts()
        self._signs = np.ones(len(self.parts))
        self._signs = self._orient(base)
        joints = [arm.chain.joints[k] for k in self._part_joints(arm.roots)]
        self._shown = [at for at, name in enumerate(joints) if not name.startswith((PHANTOM_NAME, FREE_NAME))]
        if by_joints:
            self.parts = tuple((joint, ("+", "−")) for joint in joints)
        self.order, self.configurations = self._list_branches(arm)

    @property
    def centre_words(self) -> str:
        """Words for the point whose side of the shoulder's plane counts."""
        return "the point where the last two axes meet" if self.family == THREE_PARALLEL else "the wrist's centre"

    @property
    def shown(self) -> tuple[int, ...]:
        """Indices of the parts that belong to joints of the machine."""
        return tuple(self._shown)

    def _name_parts(self) -> tuple[tuple[str, tuple[str, str]], ...]:
        if self.family == CYLINDRICAL:
            return (("elbow", ("left", "right")),)
        slides = self.family == SLIDING
        middle = (self.chain.joints[2], ("+", "−")) if slides else ("elbow", _UP)
        return (("shoulder", _FRONT), middle, ("wrist", _FLIP))

    def _part_joints(self, roots: tuple[int, ...]) -> tuple[int, ...]:
        """Indices of the joints to which the parts belong."""
        if self.family == CYLINDRICAL:
            return (self._turning[1],)
        return (roots[0], 2, 4)

    def factors(self, q: Array) -> Array:
        """(m, parts) factors at q (m, n), positive for the first name of each part, of unit size."""
        return np.asarray(self._signs * find_borders(self.family, self.chain, q).factors)

    def borders(self, q: Array) -> Borders:
        """Distances from the borders of all parts at q (m, n), and the way there; factors as `factors`."""
        found = find_borders(self.family, self.chain, q)
        return found._replace(factors=self._signs * found.factors)

    def _orient(self, base: Array) -> Array:
        """Signs with which the raw factors are positive for the first names."""
        if self._by_joints:
            return np.ones(len(self.parts))
        d, p = self.chain.direction, self.chain.point
        up = np.sign(float(d[0] @ base[:3, 2])) or 1.0
        if self.family == CYLINDRICAL:
            return np.array([up])
        ahead = np.cross(d[1], d[0])
        offsets = (float(ahead @ (p[1] - p[0])), float(ahead @ (p[self._centre] - p[0])))
        front = next((np.sign(x) for x in offsets if abs(x) > BORDER_TOLERANCE * self.chain.size), 1.0)
        if self.family == SLIDING:
            return np.array([front, 1.0, 1.0])
        above = float(d[2] @ np.cross(front * ahead, up * d[0]))
        return np.array([front, np.sign(above) if abs(above) > BORDER_TOLERANCE else 1.0, 1.0])

    def _list_branches(self, arm: ClosedArm) -> tuple[NDArray[np.intp], tuple[Configuration, ...]]:
        """Order of the branches by their names, with the names. Each part belongs to one root, and its factor has the
        sign of the root or the opposite one at all poses: this is seen at random poses."""
        roots = np.array(list(itertools.product((1.0, -1.0), repeat=len(arm.roots))))
        scale = np.where([kind == "R" for kind in self.chain.kinds], 1.0, self.chain.size)
        q = self.chain.start + scale * np.random.default_rng(3).uniform(-3.0, 3.0, (POSES_TRIED, len(scale)))
        X = self.chain.axes(q)[2]
        found = arm.solve(X, self.chain.start).reshape(-1, len(scale))
        exists = np.isfinite(found).all(axis=1)
        found[~exists] = self.chain.start
        missed = np.abs(self.chain.axes(found)[2] - np.repeat(X, len(roots), axis=0)).max(axis=(1, 2))
        exists &= missed < REACHED_TOLERANCE
        products = np.tile(roots, (POSES_TRIED, 1)) * np.sign(self.factors(found))
        sides = roots * np.where(products[exists].sum(axis=0) < 0.0, -1.0, 1.0) > 0.0
        order = sorted(range(len(sides)), key=lambda k: tuple(sides[k]), reverse=True)
        return np.array(order, dtype=np.intp), tuple(self._configuration(tuple(sides[k])) for k in order)

    def _configuration(self, sides: tuple[bool, ...]) -> Configuration:
        named = [(part, names[not side]) for (part, names), side in zip(self.parts, sides, strict=True)]
        return Configuration(tuple(named[at] for at in self._shown))

    def is_wrist_aligned(self, q: Array) -> NDArray[np.bool_]:
        """(…) True where the wrist is at its border at q (…, n); False for arms without one, and for NaN."""
        if self.family == CYLINDRICAL:
            return np.zeros(q.shape[:-1], dtype=bool)
        with np.errstate(invalid="ignore"):
            factors = self.factors(q.reshape(-1, q.shape[-1]))[:, -1]
            return np.asarray((np.abs(factors) < BORDER_TOLERANCE).reshape(q.shape[:-1]))

    def read_configuration(self, q: Array) -> Configuration:
        """Configuration at q (n,)."""
        return self._configuration(tuple((self.factors(q[None])[0] > 0.0).tolist()))

    def name_singularity(self, factors: Array) -> str | None:
        """Parts at their border, by their factors (parts,); None at a regular pose."""
        at_border = [self.parts[at][0] for at in self._shown if abs(factors[at]) < BORDER_TOLERANCE]
        return ", ".join(at_border) or None


class UnnamedBranches:
    """Branches of an arm whose solutions have no lasting order, and so no names; as `ConfigurationNames`."""

    is_named = False

    def __init__(self, chain: ScrewChain, count: int) -> None:
        self.chain = chain
        self.order = np.arange(count, dtype=np.intp)
        self.configurations = tuple(Configuration((("solution", str(k + 1)),)) for k in range(count))
        self._units = np.where([kind == "P" for kind in chain.kinds], chain.size, 1.0)

    def factors(self, q: Array) -> Array:
        """(m, 1) smallest singular value of the chain's Jacobian (rad, machine sizes) at q (m, n); NaN stays NaN."""
        result = np.full((len(q), 1), np.nan)
        finite = np.isfinite(q).all(axis=1)
        J, _ = chain_jacobian(self.chain, q[finite])
        J[:, 3:] /= self.chain.size
        result[finite, 0] = np.linalg.svd(J * self._units, compute_uv=False)[:, -1]
        return result

    def is_wrist_aligned(self, q: Array) -> NDArray[np.bool_]:
        """(…) True where all of a continuum may be hidden behind one solution."""
        factors = self.factors(q.reshape(-1, q.shape[-1]))[:, 0]
        with np.errstate(invalid="ignore"):
            return np.asarray((factors < BORDER_TOLERANCE).reshape(q.shape[:-1]))

    def name_singularity(self, factors: Array) -> str | None:
        """ "pose" at a singular pose."""
        return "pose" if float(factors[0]) < BORDER_TOLERANCE else None
