"""Singular values of a frame's Jacobian in three scalings, its rank, condition and manipulability."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.mechanism import Mechanism
from core.mechanism.operational_space import Part, select_rows
from core.mechanism.singularity_results import Scaling
from core.model.joints import effective_motor_limit
from core.numerics.tolerances import RANK_TOLERANCE

Array = NDArray[np.float64]

TOOL_SPEEDS = (1.0, 0.25)
"""Wanted speeds of a tool by default: rad/s, and m/s (ISO 10218's reduced speed)."""


class JacobianMeasures(NamedTuple):
    """As in `Singularities`, for one position or many (leading axes)."""

    translation: Array
    rotation: Array
    sigma: Array
    rank: NDArray[np.intp]
    condition: Array


def choose_scaling(scaling: str | None, speed_limits: Array) -> Scaling:
    """Scaling that is asked for; by default "speeds" where all actuators (k,) have a speed limit, else "length".
    Raises ModelError for others, and for "speeds" without limits."""
    known = bool(len(speed_limits)) and bool(np.isfinite(speed_limits).all())
    if scaling is None:
        return "speeds" if known else "length"
    if scaling not in ("speeds", "length", "separate"):
        raise ModelError(
            f"There is no scaling '{scaling}'.", where="scaling", remedy="Give speeds, length or separate."
        )
    if scaling == "speeds" and not known:
        raise ModelError(
            "Not all joints that move the frame have a speed limit.",
            where="scaling",
            remedy='Set the limits (field "velocity"), or ask for scaling="length".',
        )
    return scaling  # type: ignore[return-value]


def read_speed_limits(mech: Mechanism, columns: NDArray[np.intp]) -> Array:
    """(k,) largest speeds of the joints, infinite for those without limit."""
    numbers, found = mech.compiled.coordinates.numbers, np.full(mech.nv, np.inf)
    for name, joint in mech.compiled.coordinates.joints.items():
        for k, limit in zip(range(mech.nv)[mech.joint_v(name)], joint.limits, strict=False):
            if limit.velocity is not None:
                value = numbers.scalar(limit.velocity, f"joint '{name}', limits")
                found[k] = effective_motor_limit(value)
    return found[columns]


class MeasuredMotion(NamedTuple):
    """Motion of a frame that is measured, and how. part : that counts as the whole; ranks : of translation, rotation
    and the part at general poses; slides : (k,) True for actuators in m/s; limits : (k,) their largest speeds; wanted :
    speeds of the tool, rad/s, m/s; length : m that counts like 1 rad"""

    part: Part
    ranks: tuple[int, int, int]
    slides: NDArray[np.bool_]
    limits: Array
    wanted: tuple[float, float]
    scaling: Scaling
    length: float

    def measure(self, J: Array) -> JacobianMeasures:
        """Measure Jacobians (…, 6, k) with respect to the actuators' speeds."""
        of_translation, of_rotation, rank = self.ranks
        weighed = J * np.where(self.slides, self.length, 1.0)
        translation = _singular_values(weighed[..., 3:, :], of_translation)
        rotation = _singular_values(weighed[..., :3, :], of_rotation)
        scale = np.repeat([1.0, 1.0 / self.length], 3)[:, None]
        sigma = _singular_values(select_rows(scale * weighed, self.part), rank)
        kept = np.sum(sigma > RANK_TOLERANCE * sigma[..., :1], axis=-1).astype(np.intp)
        if self.scaling == "separate":
            conditions = np.array([_condition(each) for each in (translation, rotation) if each.shape[-1]])
            return JacobianMeasures(translation, rotation, sigma[..., :0], kept, conditions.max(axis=0))
        if self.scaling == "speeds":
            scaled = J * self.limits / np.repeat(self.wanted, 3)[:, None]
            sigma = _singular_values(select_rows(scaled, self.part), rank)
        return JacobianMeasures(translation, rotation, sigma, kept, _condition(sigma))


def _singular_values(matrices: Array, count: int) -> Array:
    return np.asarray(np.linalg.svd(matrices, compute_uv=False)[..., :count], dtype=np.float64)


def _condition(sigma: Array) -> Array:
    """(…) largest over smallest singular value; infinite where the smallest is a rounding error."""
    if not sigma.shape[-1]:
        return np.full(sigma.shape[:-1], np.inf)
    lost = sigma[..., -1] <= RANK_TOLERANCE * sigma[..., 0]
    return np.where(lost, np.inf, sigma[..., 0] / np.where(lost, 1.0, sigma[..., -1]))
