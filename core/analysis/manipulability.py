"""Manipulability ellipsoids and their measures.

T. Yoshikawa, "Manipulability of robotic mechanisms", Int. J. Robotics Research 4(2), 1985. Joint speeds of unit
norm, |q̇| = 1, move the frame with velocities on the ellipsoid vᵀ (J Jᵀ)⁻¹ v = 1: with J = U Σ Vᵀ its axes are the
columns of U, its radii the singular values σ. Joint torques of unit norm hold forces on Fᵀ (J Jᵀ) F = 1: same axes,
radii 1/σ. Measures as in Robotica (R9): volume, eccentricity (σ_min/σ_max; 1 = sphere), smallest radius, geometric
mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.mechanism import Mechanism
from core.mobility.random_pose import random_pose
from core.numerics.tolerances import RANK_TOLERANCE

Array = NDArray[np.float64]
Kind = Literal["velocity", "force"]
Part = Literal["translation", "rotation"]

SAMPLES = 4
"""Random poses at which the dimension of the reachable velocities is taken."""
LOOP_TOLERANCE = 1e-7
"""Share of the largest singular value below which others of the loop constraints count as zero: loops are only closed
to the tolerance of the assembly."""


@dataclass(frozen=True)
class Measures:
    """Scalar measures of an ellipsoid of dimension m (its m largest singular values σ).

    volume : c_m ∏r with c_m = π^(m/2)/Γ(m/2 + 1) (an area for m = 2, a length for m = 1)
    eccentricity : smallest radius / largest radius, 1 for a sphere
    smallest, geometric_mean : radii; yoshikawa : ∏σ = √det(J Jᵀ); condition : σ_max/σ_min
    """

    volume: float
    eccentricity: float
    smallest: float
    geometric_mean: float
    yoshikawa: float
    condition: float


@dataclass(frozen=True)
class Manipulability:
    """An ellipsoid at a pose: centre (3,) m, world; axes (3, 3), columns, world, right-handed; radii (3,), of the
    ellipsoid's kind, in the order of the axes: largest first; singular (3,) σ belonging to the axes."""

    center: Array
    axes: Array
    radii: Array
    singular: Array
    measures: Measures


def part_of(jacobian: Array, part: Part) -> Array:
    """(3, nv) the rows of a 6×nv Jacobian [ω; v] of translation or rotation."""
    return jacobian[3:] if part == "translation" else jacobian[:3]


def dimension(mech: Mechanism, frame: str, part: Part = "translation", p: Mapping[str, float] | None = None) -> int:
    """Dimension of the ellipsoid at a general pose: 3, 2 for planar arms, 1, or 0 if the frame cannot move.

    The largest numerical rank at a few random poses (always the same ones).
    """
    rng = np.random.default_rng(1)
    if not mech.nv:
        return 0
    ranks = [rank(motion(mech, random_pose(mech.compiled, rng, p), frame, part, p)) for _ in range(SAMPLES)]
    return max(ranks)


def rank(matrix: Array) -> int:
    """Numerical rank of a matrix (r, c): singular values above RANK_TOLERANCE of the largest."""
    sigma = np.linalg.svd(matrix, compute_uv=False)
    return int(np.sum(sigma > RANK_TOLERANCE * max(sigma[0], 1e-300))) if len(sigma) and sigma[0] > 1e-12 else 0


def motion(mech: Mechanism, q: Array, frame: str, part: Part, p: Mapping[str, float] | None = None) -> Array:
    """(3, k) the frame's velocity per unit of joint speed; see `free_jacobian`."""
    return part_of(free_jacobian(mech, q, frame, p), part)


def free_jacobian(mech: Mechanism, q: Array, frame: str, p: Mapping[str, float] | None = None) -> Array:
    """(6, k) rows [ω; v] of a frame for independent joint speeds of unit norm.

    In a tree these are the joint speeds, k = nv. In a machine with loops or constraints they are coordinates along an
    orthonormal basis N of the speeds that these leave: G N = 0, J N.
    """
    return np.asarray(mech.jacobian(q, frame, p=p)) @ closed_motions(mech, q, p)


def closed_motions(mech: Mechanism, q: Array, p: Mapping[str, float] | None = None) -> Array:
    """(nv, k) orthonormal basis N of the joint speeds that joints and constraints leave, G N = 0; in a tree all.
    Drivers hold nothing here: they are what actuators do."""
    lasting = mech.compiled.lasting
    if not lasting.any():
        return np.eye(mech.nv)
    _, sigma, vt = np.linalg.svd(np.asarray(mech.constraint_jacobian(q, p=p))[lasting])
    closed = int(np.sum(sigma > LOOP_TOLERANCE * max(float(sigma[0]), 1e-9))) if len(sigma) else 0
    return vt[closed:].T


def independent_speeds(
    mech: Mechanism, q: Array, p: Mapping[str, float] | None = None
) -> tuple[tuple[int, ...], Array]:
    """Which joint speeds may be chosen freely, and the (nv, k) matrix B with v = B · (the chosen ones).

    The speeds are chosen by column-pivoted QR of Nᵀ (`closed_motions`), so that B is as well conditioned as it can
    cheaply be; a joint next to the ground is preferred where it serves nearly as well.
    """
    import scipy.linalg

    if not mech.compiled.lasting.any():
        return tuple(range(mech.nv)), np.eye(mech.nv)
    N = closed_motions(mech, q, p)
    preference = 1.0 + 1.0 / (1.0 + np.arange(mech.nv))
    _, _, pivots = scipy.linalg.qr(N.T * preference, mode="economic", pivoting=True)
    chosen = tuple(sorted(int(i) for i in pivots[: N.shape[1]]))
    return chosen, N @ np.linalg.inv(N[list(chosen)])


def manipulability(
    mech: Mechanism,
    q: Array,
    frame: str,
    *,
    kind: Kind = "velocity",
    part: Part = "translation",
    p: Mapping[str, float] | None = None,
    m: int | None = None,
) -> Manipulability:
    """The ellipsoid of a frame at a pose.

    q : (nq,) rad, m. m : its dimension where known (see `dimension`); None: the rank at this pose.
    Velocity radii are m/s (or rad/s) per unit joint speed; force radii N (or N·m) per unit joint torque, infinite in
    directions in which the frame cannot move.
    """
    jacobian = motion(mech, q, frame, part, p)
    center = np.array(mech.frame(q, frame, p=p))[:3, 3]
    return of_jacobian(jacobian, center, kind, m)


def of_jacobian(jacobian: Array, center: Array, kind: Kind = "velocity", m: int | None = None) -> Manipulability:
    """The ellipsoid of a (3, k) Jacobian of translation or rotation about a centre (3,)."""
    u, sigma, _ = np.linalg.svd(jacobian)
    sigma = np.concatenate([sigma, np.zeros(3 - len(sigma))])
    if np.linalg.det(u) < 0.0:
        u[:, 2] = -u[:, 2]
    if m is None:
        m = rank(jacobian)
    noise = RANK_TOLERANCE * max(float(sigma[0]), 1e-3)
    sigma = np.where(sigma > noise, sigma, 0.0)
    if kind == "velocity":
        return Manipulability(center, u, sigma, sigma, measures(sigma[:m], sigma[:m]))
    with np.errstate(divide="ignore"):
        radii = 1.0 / sigma
    within = measures(radii[:m], sigma[:m])
    order = [2, 1, 0]  # largest radius first; turning the middle axis keeps the axes right-handed
    axes = u[:, order]
    axes[:, 1] = -axes[:, 1]
    return Manipulability(center, axes, radii[order], sigma[order], within)


def measures(radii: Array, singular: Array) -> Measures:
    """Measures of an ellipsoid of these radii (m,), and of the singular values (m,) behind them."""
    m = len(radii)
    if m == 0:
        return Measures(0.0, 0.0, 0.0, 0.0, 0.0, math.inf)
    unit = math.pi ** (m / 2.0) / math.gamma(m / 2.0 + 1.0)
    product, smallest = float(np.prod(radii)), float(np.min(radii))
    low, high = float(np.min(singular)), float(np.max(singular))
    return Measures(
        volume=unit * product,
        eccentricity=low / high if high > 0.0 else 0.0,
        smallest=smallest,
        geometric_mean=product ** (1.0 / m),
        yoshikawa=float(np.prod(singular)),
        condition=high / low if low > 0.0 else math.inf,
    )
