"""Manipulability ellipsoids and scalar manipulability measures.

T. Yoshikawa, "Manipulability of robotic mechanisms", Int. J. Robotics Research 4(2), 1985. Actuator speeds of unit
norm, |u| = 1, move the frame with velocities on the ellipsoid vᵀ (J Jᵀ)⁻¹ v = 1: with J = U Σ Vᵀ its axes are the
columns of U, its radii the singular values σ. Actuator forces of unit norm hold forces on Fᵀ (J Jᵀ) F = 1: same axes,
radii 1/σ. Measures as in Robotica (R9): volume, eccentricity (σ_min/σ_max; 1 = sphere), smallest radius, geometric
mean. All are taken in the m dimensions in which the frame moves at general poses, so that Yoshikawa's index is the
product of m singular values: √det(J Jᵀ) where J has m rows, √det(Jᵀ J) where it has m columns.

Translation and rotation have different units. Each is measured apart; both together with a characteristic length, by
which velocities are divided (J. Angeles, "Fundamentals of Robotic Mechanical Systems", 4.9).

Directions in which a frame can translate are Robotica's `Planar` (R10). The code is the sum of 1 (x), 2 (y) and 4 (z)
for each axis along which some joint moves the frame at some pose: row k of the translational Jacobian is not
identically zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.actuators import HELD_TOLERANCE, Actuators, actuator_transmission, default_actuators
from core.constraints.assembly import random_pose
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.later import dataclass
from core.mechanism import Mechanism
from core.numerics.tolerances import RANK_TOLERANCE
from core.programs.compiled import CompiledModel, cache_per_model

Array = NDArray[np.float64]
Kind = Literal["velocity", "force"]
Part = Literal["translation", "rotation"]
Space = Literal["translation", "rotation", "both"]

SAMPLES = 4
"""Number of random poses at which the dimension of the frame's velocities is determined."""
IMMOBILE = 1e-12
"""Singular value (m or 1) below which a frame counts as immobile."""

WORDS = ("none", "x", "y", "xy", "z", "xz", "yz", "xyz")
"""Code → description of the axes along which the frame can move."""
PLANARITY_SAMPLES = 8
TOLERANCE = 1e-9
"""Entry of the Jacobian, relative to the largest, below which it counts as zero."""


@dataclass(frozen=True)
class EllipsoidMeasures:
    """Scalar measures of an ellipsoid of dimension m, from its m largest singular values σ.

    volume : c_m ∏r with c_m = π^(m/2)/Γ(m/2 + 1) (an area for m = 2, a length for m = 1)
    eccentricity : smallest radius / largest radius, 1 for a sphere
    smallest, geometric_mean : radii; yoshikawa : ∏σ; condition : σ_max/σ_min
    """

    volume: float
    eccentricity: float
    smallest: float
    geometric_mean: float
    yoshikawa: float
    condition: float


@dataclass(frozen=True)
class Manipulability:
    """An ellipsoid at a pose: centre (3,) m, world; axes (3, 3), columns, world, right-handed; radii (3,) of the
    velocity or force ellipsoid, in the order of the axes, largest first; singular (3,) values σ of the axes.

    loose : (nv, r) speeds that the actuators neither cause nor stop; where they move the frame, σ is infinite.
    """

    center: Array
    axes: Array
    radii: Array
    singular: Array
    measures: EllipsoidMeasures
    loose: Array


class ActuatedJacobian(NamedTuple):
    """Jacobian of a frame with respect to actuator speeds: matrix (6, k), rows [ω; v], world axes; loose (nv, r), see
    `ActuatorTransmission`, and uncontrolled (6, r), the frame's velocities in these motions."""

    matrix: Array
    loose: Array
    uncontrolled: Array

    def part(self, space: Space, length: float = 1.0) -> tuple[Array, Array]:
        """Rows of `matrix` and `uncontrolled` for translation, rotation, or both as [ω; v / length]."""
        if space == "both":
            scale = np.repeat([1.0, 1.0 / length], 3)[:, None]
            return scale * self.matrix, scale * self.uncontrolled
        return jacobian_rows(self.matrix, space), jacobian_rows(self.uncontrolled, space)


def jacobian_rows(jacobian: Array, part: Part) -> Array:
    """(3, nv) translational or rotational rows of a 6×nv Jacobian [ω; v]."""
    return jacobian[3:] if part == "translation" else jacobian[:3]


def velocity_dimension(
    mech: Mechanism, frame: str, part: Space = "translation", p: Mapping[str, float] | None = None
) -> int:
    """Dimension of the space of frame velocities at generic poses: for translation 3, 2 for planar arms, 1, or 0 if the
    frame cannot move; up to 6 for both parts together.

    The largest numerical rank at a few random poses (always the same ones).
    """
    return velocity_dimensions(mech, frame, p)[part]


def velocity_dimensions(mech: Mechanism, frame: str, p: Mapping[str, float] | None = None) -> dict[Space, int]:
    """Dimension of the frame's velocities for translation, rotation and both; see `dimension`."""
    known = _dimension_cache(mech.compiled)
    key = (frame, tuple(mech.parameter_values(p)))
    if key not in known:
        known[key] = _compute_dimensions(mech, frame, p)
    return known[key]


@cache_per_model
def _dimension_cache(compiled: CompiledModel) -> dict[tuple[object, ...], dict[Space, int]]:
    """Cache of `dimensions`."""
    return {}


def _compute_dimensions(mech: Mechanism, frame: str, p: Mapping[str, float] | None) -> dict[Space, int]:
    if not mech.nv:
        return {"translation": 0, "rotation": 0, "both": 0}
    rng = np.random.default_rng(1)
    poses = [random_pose(mech.compiled, rng, p) for _ in range(SAMPLES)]
    moved = [free_jacobian(mech, q, frame, p) for q in poses]
    size = characteristic_length(mech, p)
    return {
        "translation": max(numerical_rank(J[3:]) for J in moved),
        "rotation": max(numerical_rank(J[:3]) for J in moved),
        "both": max(numerical_rank(np.concatenate([J[:3], J[3:] / size])) for J in moved),
    }


def characteristic_length(mech: Mechanism, p: Mapping[str, float] | None = None) -> float:
    """Characteristic length of the machine, m, that relates lengths and angles by default."""
    return PositionConstraints(mech.compiled, p).size


def numerical_rank(matrix: Array) -> int:
    """Numerical rank of a matrix (r, c): singular values above RANK_TOLERANCE of the largest."""
    sigma = np.linalg.svd(matrix, compute_uv=False)
    return int(np.sum(sigma > RANK_TOLERANCE * sigma[0])) if len(sigma) and sigma[0] > IMMOBILE else 0


def free_jacobian(mech: Mechanism, q: Array, frame: str, p: Mapping[str, float] | None = None) -> Array:
    """(6, k) Jacobian of a frame, rows [ω; v], with respect to the free motions, which are orthonormal in units of the
    machine."""
    motions = PositionConstraints(mech.compiled, p, drivers=False).free_motions(q)
    return np.asarray(mech.jacobian(q, frame, p=p)) @ motions


def actuated_jacobian(
    mech: Mechanism,
    q: Array,
    frame: str,
    actuators: Actuators | None = None,
    p: Mapping[str, float] | None = None,
) -> ActuatedJacobian:
    """Jacobian of a frame with respect to actuator speeds, by default those of `default_actuators`."""
    speeds, loose = actuator_transmission(mech, q, actuators or default_actuators(mech.compiled), p)
    J = np.asarray(mech.jacobian(q, frame, p=p))
    return ActuatedJacobian(J @ speeds, loose, J @ loose)


def manipulability(
    mech: Mechanism,
    q: Array,
    frame: str,
    *,
    kind: Kind = "velocity",
    part: Part = "translation",
    p: Mapping[str, float] | None = None,
    m: int | None = None,
    actuators: Actuators | None = None,
    length: float = 1.0,
) -> Manipulability:
    """Manipulability ellipsoid of a frame at a pose.

    q : (nq,) rad, m. m : its dimension where known (see `dimension`); None: the rank at this pose.
    actuators : whose speeds and forces are of unit norm, default `core.analysis.actuators.default_actuators`.
    length : metres that count like one radian, where some actuators slide and others turn.
    Velocity radii are m/s (or rad/s) per unit actuator speed; force radii N (or N·m) per unit actuator force, infinite
    in directions in which the frame cannot move.
    """
    chosen = actuators or default_actuators(mech.compiled)
    jacobian = actuated_jacobian(mech, q, frame, chosen, p)
    center = np.array(mech.frame(q, frame, p=p))[:3, 3]
    matrix, uncontrolled = jacobian.part(part)
    slides = chosen.translating_mask(mech)
    weighed = matrix * np.where(slides & ~slides.all(), length, 1.0)
    return ellipsoid_of_jacobian(weighed, center, kind, m, uncontrolled, jacobian.loose)


def singular_values(matrix: Array, uncontrolled: Array, m: int) -> tuple[Array, Array]:
    """(m,) singular values, largest first, of a Jacobian (r, k) in the dimensions in which the frame moves at generic
    poses, and their directions (r, r) as columns. They are infinite along uncontrolled directions (r, l); rounding
    error is replaced by zero."""
    directions, sizes, _ = np.linalg.svd(uncontrolled)
    count = int(np.sum(sizes > HELD_TOLERANCE)) if uncontrolled.size else 0
    endless, across = directions[:, :count], directions[:, count:]
    u, sigma, _ = np.linalg.svd(across.T @ matrix)
    sigma = np.concatenate([np.full(count, math.inf), sigma, np.zeros(len(u) - len(sigma))])
    largest = float(np.max(sigma[count:], initial=0.0))
    sigma[count:][sigma[count:] <= RANK_TOLERANCE * max(largest, 1e-3)] = 0.0
    return sigma[:m], np.concatenate([endless, across @ u], axis=1)


def ellipsoid_of_jacobian(
    jacobian: Array,
    center: Array,
    kind: Kind = "velocity",
    m: int | None = None,
    uncontrolled: Array | None = None,
    free_speeds: Array | None = None,
) -> Manipulability:
    """The ellipsoid of a (3, k) Jacobian of translation or rotation about a centre (3,)."""
    free = np.zeros((3, 0)) if uncontrolled is None else uncontrolled
    sigma, u = singular_values(jacobian, free, 3)
    if np.linalg.det(u) < 0.0:
        u[:, 2] = -u[:, 2]
    if m is None:
        m = int(np.count_nonzero(sigma))
    still = np.zeros((0, 0)) if free_speeds is None else free_speeds
    if kind == "velocity":
        return Manipulability(center, u, sigma, sigma, compute_measures(sigma[:m], sigma[:m]), still)
    with np.errstate(divide="ignore"):
        radii = 1.0 / sigma
    within = compute_measures(radii[:m], sigma[:m])
    order = [2, 1, 0]  # largest radius first; turning the middle axis keeps the axes right-handed
    axes = u[:, order]
    axes[:, 1] = -axes[:, 1]
    return Manipulability(center, axes, radii[order], sigma[order], within, still)


def compute_measures(radii: Array, singular: Array) -> EllipsoidMeasures:
    """Scalar measures of an ellipsoid from its radii (m,) and singular values (m,)."""
    m = len(radii)
    if m == 0:
        return EllipsoidMeasures(0.0, 0.0, 0.0, 0.0, 0.0, math.inf)
    unit = math.pi ** (m / 2.0) / math.gamma(m / 2.0 + 1.0)
    low, high = float(np.min(singular)), float(np.max(singular))
    product = _product_of_radii(radii)
    return EllipsoidMeasures(
        volume=unit * product,
        eccentricity=low / high if 0.0 < high < math.inf else 0.0,
        smallest=float(np.min(radii)),
        geometric_mean=product ** (1.0 / m),
        yoshikawa=_product_of_radii(singular),
        condition=high / low if low > 0.0 and high < math.inf else math.inf,
    )


def _product_of_radii(values: Sequence[float] | Array) -> float:
    """Product of the radii; undefined if one is zero and another infinite."""
    with np.errstate(invalid="ignore"):
        return float(np.prod(values))


def translation_axes_code(
    mech: Mechanism, frame: str, reference: str = "world", p: Mapping[str, float] | None = None
) -> int:
    """Code 0 … 7 for the axes, of the reference frame in the reference configuration, along which a frame can
    translate: sum of 1 for x, 2 for y, 4 for z."""
    if not mech.nv:
        return 0
    rng = np.random.default_rng(1)
    R_WR = np.eye(3) if reference == "world" else np.array(mech.frame(mech.rest(), reference, p=p))[:3, :3]
    reach = np.zeros(3)
    for _ in range(PLANARITY_SAMPLES):
        jacobian = R_WR.T @ free_jacobian(mech, random_pose(mech.compiled, rng, p), frame, p)[3:]
        reach = np.maximum(reach, np.abs(jacobian).max(axis=1, initial=0.0))
    moves = reach > TOLERANCE * max(float(reach.max()), 1e-3)
    return int(moves @ np.array([1, 2, 4]))
