"""Physically consistent inertial parameters that are as near to an estimate as its covariance demands.

A body is possible if its pseudo-inertia J = [Σ h; hᵀ m], Σ = ½ tr(I) 1 − I about the frame's origin, is positive
definite (P. Wensing, S. Kim, J.-J. Slotine, IEEE RA-L 3(1), 2018); damping, friction, armature and stiffness are
never negative. That is a convex set, so the nearest point is found by Newton steps with a barrier −log det J from its
Cholesky factors (S. Boyd, L. Vandenberghe, Convex Optimization, 2004, 11.3). What the estimate leaves open stays near
the model's values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.mechanism.regressor import LinearParameters

Array = NDArray[np.float64]

PRIOR_WEIGHT = 1e-4
"""Weight of the model's values relative to the estimate's, each scaled by its size; they determine only what the data
leave undetermined."""
LEAST_BARRIER = 1e-6
"""Final weight of the barrier, in squares of standard deviations: about the distance per body by which the fit misses
the optimum."""
BARRIER_FACTOR = 0.2
STEPS_AT_EACH = 8
SMALL_STEP = 1e-3
"""Newton decrement, relative to the barrier's weight, below which the weight is reduced."""
LEAST_FRACTION = 1e-3
"""Initial mass of a massless body as a fraction of the largest mass."""
SURE_FRACTION = 1e-9
"""Smallest standard deviation assumed for an estimate, as a fraction of the estimate."""
Owners = list[tuple[str, list[int], bool]]


def pseudo_inertia_matrices(inertial_parameters: Array) -> Array:
    """Compute the pseudo-inertia matrix J (…, 4, 4) from the ten parameters (…, 10) of a body, ordered as in
    `core.programs.regressor.INERTIAL`."""
    m, x, y, z, xx, xy, yy, xz, yz, zz = np.moveaxis(np.asarray(inertial_parameters, dtype=float), -1, 0)
    half = 0.5 * (xx + yy + zz)
    rows = [[half - xx, -xy, -xz, x], [-xy, half - yy, -yz, y], [-xz, -yz, half - zz, z], [x, y, z, m]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


_UNIT_BODIES = pseudo_inertia_matrices(np.eye(10))


def consistency_by_owner(parameters: LinearParameters, values: Array) -> dict[str, bool]:
    """Map each owner to True if its values are physically consistent for a body (semi-definite is sufficient: point
    masses) or a joint."""
    found = {}
    for owner, places, inertial in _list_owners(parameters):
        own = values[places]
        if inertial and len(places) == 10:
            J = pseudo_inertia_matrices(own)
            found[owner] = bool(np.min(np.linalg.eigvalsh(J)) >= -1e-9 * max(float(np.trace(J)), 1e-12))
        else:
            found[owner] = bool(np.all(own >= 0.0)) or inertial
    return found


def _list_owners(parameters: LinearParameters) -> list[tuple[str, list[int], bool]]:
    """Return (owner, indices of its parameters, True for a body) of each owner."""
    groups: dict[tuple[str, bool], list[int]] = {}
    for k, each in enumerate(parameters.parameters):
        inertial = each.kind == "inertia"
        groups.setdefault((each.owner if inertial else f"{each.owner}.{each.kind}", inertial), []).append(k)
    return [(owner, places, inertial) for (owner, inertial), places in groups.items()]


def nearest_consistent_parameters(
    parameters: LinearParameters, matrix: Array, estimate: Array, covariance: Array
) -> Array:
    """Compute the physically consistent parameters (m,) for which matrix @ parameters is nearest to the estimate (r,)
    in the metric of its covariance, and which are otherwise near to the model's values."""
    prior, owners = parameters.values, _list_owners(parameters)
    scale = _parameter_scales(parameters, prior)
    size = np.sqrt(np.diag(covariance)) + SURE_FRACTION * float(np.max(np.abs(estimate), initial=0.0))
    R = np.linalg.inv(np.linalg.cholesky(covariance + np.diag(size**2) * 1e-6))
    A = np.vstack([R @ matrix * scale, PRIOR_WEIGHT * np.eye(len(prior))])
    b = np.concatenate([R @ estimate, PRIOR_WEIGHT * prior / scale])
    x = prior / scale
    for _, places, inertial in owners:
        x[places] = _consistent_initial_values(prior[places], inertial, prior, parameters) / scale[places]
    weight = max(1.0, float(np.sum((A @ x - b) ** 2)) / len(prior))
    while weight > LEAST_BARRIER:
        for _ in range(STEPS_AT_EACH):
            x, done = _barrier_newton_step(x, A, b, weight, owners, scale)
            if done:
                break
        weight *= BARRIER_FACTOR
    return np.asarray(x * scale)


def _barrier_newton_step(
    x: Array, A: Array, b: Array, weight: float, owners: Owners, scale: Array
) -> tuple[Array, bool]:
    """Compute a Newton step of ½ |A x − b|² − weight Σ log det J, and whether it was small. The Hessian of the barrier
    is BᵀB with B = L⁻¹ ∂J L⁻ᵀ, J = L Lᵀ, and its gradient −Bᵀ vec 1, so the step solves a least-squares problem."""
    rows, right = [A], [b - A @ x]
    for _, places, inertial in owners:
        B = np.zeros((16, len(x))) if inertial else np.zeros((len(places), len(x)))
        if inertial:
            inverse = np.linalg.inv(np.linalg.cholesky(pseudo_inertia_matrices(x[places] * scale[places])))
            slopes = inverse @ (_UNIT_BODIES * scale[places][:, None, None]) @ inverse.T
            B[:, places] = slopes.reshape(len(places), 16).T
            right.append(np.sqrt(weight) * np.eye(4).ravel())
        else:
            B[range(len(places)), places] = 1.0 / x[places]
            right.append(np.full(len(places), np.sqrt(weight)))
        rows.append(np.sqrt(weight) * B)
    step = np.linalg.lstsq(np.vstack(rows), np.concatenate(right), rcond=None)[0]
    before, part = _barrier_objective(x, A, b, weight, owners, scale), 1.0
    slope = -float(np.sum((np.vstack(rows) @ step) ** 2))
    while (
        part > 1e-10
        and not _barrier_objective(x + part * step, A, b, weight, owners, scale) <= before + 0.1 * part * slope
    ):
        part *= 0.5
    if part <= 1e-10:
        return x, True
    return x + part * step, -slope < SMALL_STEP * weight


def _barrier_objective(x: Array, A: Array, b: Array, weight: float, owners: Owners, scale: Array) -> float:
    """Evaluate ½ |A x − b|² − weight Σ log det J; infinite if a body or joint is inconsistent."""
    found = 0.5 * float(np.sum((A @ x - b) ** 2))
    for _, places, inertial in owners:
        own = x[places] * scale[places]
        if not inertial:
            if not np.all(own > 0.0):
                return np.inf
            found -= weight * float(np.sum(np.log(x[places])))
            continue
        try:
            diagonal = np.diag(np.linalg.cholesky(pseudo_inertia_matrices(own)))
        except np.linalg.LinAlgError:
            return np.inf
        found -= 2.0 * weight * float(np.sum(np.log(diagonal)))
    return found


def _parameter_scales(parameters: LinearParameters, prior: Array) -> Array:
    """Return the scale of each parameter: the largest value with the same unit."""
    units = np.array(parameters.units)
    return np.array([max(float(np.max(np.abs(prior[units == unit]))), 1e-3) for unit in units])


def _consistent_initial_values(values: Array, is_body: bool, prior: Array, parameters: LinearParameters) -> Array:
    """Return the values themselves if they are consistent, otherwise nearby consistent ones."""
    if not is_body:
        size = float(np.max(np.abs(values), initial=0.0))
        return np.maximum(values, 1e-3 * max(size, 1.0))
    J = pseudo_inertia_matrices(values)
    if np.min(np.linalg.eigvalsh(J)) > 1e-9 * np.trace(J):
        return values
    masses = [value for value, each in zip(prior, parameters.parameters, strict=True) if each.part == "m"]
    m = max(values[0], LEAST_FRACTION * max(*masses, 1e-3))
    x, y, z = center = values[1:4] / m if values[0] > 0.0 else np.zeros(3)
    about = m * max(0.05, 0.5 * float(np.sqrt(max(np.trace(J[:3, :3]), 0.0) / m))) ** 2
    square = float(center @ center)
    moments = (square - x * x, -x * y, square - y * y, -x * z, -y * z, square - z * z)
    return np.array([m, *(m * center), *(m * e + 2.0 * about * (k in (0, 2, 5)) for k, e in enumerate(moments))])
