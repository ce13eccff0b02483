"""Arithmetic of quaternions x, y, z, w and displacements of orientations, over arrays with leading axes.

A quaternion is multiplied by the exponential of half the rotation vector; a body that turns and moves at constant
velocity in its own axes follows a screw (Murray, Li, Sastry 1994, 2.36).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SERIES_ANGLE = 1e-4
"""Angle (rad) below which series replace quotients; the next term is then below 1e-17."""


def vector_length(vector: Array) -> Array:
    """Return the length (…, 1) of vectors (…, n); much faster than NumPy's general norm."""
    return np.sqrt(np.add.reduce(vector * vector, axis=-1, keepdims=True))


def normalise_quaternion(quaternion: Array) -> Array:
    """Normalise a quaternion (…, 4); (0, 0, 0, 1) for the zero quaternion."""
    with np.errstate(over="ignore"):
        size = vector_length(quaternion)
    if not (np.isfinite(size).all() and size.all()):  # their squares are out of range
        largest = np.max(np.abs(quaternion), axis=-1, keepdims=True)
        quaternion = quaternion / np.where(largest > 0.0, largest, 1.0)
        size = vector_length(quaternion)
    if size.all():
        return quaternion / size
    neutral = np.array([0.0, 0.0, 0.0, 1.0])
    return np.where(size > 0.0, quaternion / np.where(size > 0.0, size, 1.0), neutral)


def cross(a: Array, b: Array) -> Array:
    """Return a × b (…, 3); much faster than NumPy's for single vectors."""
    x, y, z, u, v, w = a[..., 0], a[..., 1], a[..., 2], b[..., 0], b[..., 1], b[..., 2]
    result = np.empty(np.broadcast_shapes(a.shape, b.shape))
    result[..., 0], result[..., 1], result[..., 2] = y * w - z * v, z * u - x * w, x * v - y * u
    return result


def multiply_quaternions(p: Array, q: Array) -> Array:
    """Return p ⊗ q (…, 4)."""
    pv, pw, qv, qw = p[..., :3], p[..., 3:], q[..., :3], q[..., 3:]
    vector = pw * qv + qw * pv + cross(pv, qv)
    return np.concatenate([vector, pw * qw - np.sum(pv * qv, axis=-1, keepdims=True)], axis=-1)


def quaternion_from_vector(rotation: Array) -> Array:
    """Return the quaternion (…, 4) of a rotation vector (…, 3), rad."""
    half = 0.5 * vector_length(rotation)
    # sin(h)/(2h) = np.sinc(h/π)/2
    return np.concatenate([0.5 * np.sinc(half / np.pi) * rotation, np.cos(half)], axis=-1)


def vector_from_quaternion(quaternion: Array) -> Array:
    """Return the rotation vector (…, 3) of a quaternion, rad, of length at most π."""
    q = np.where(quaternion[..., 3:] < 0.0, -quaternion, quaternion)
    sine, w = vector_length(q[..., :3]), q[..., 3:]
    angle = 2.0 * np.arctan2(sine, w)
    small = sine <= 1e-12
    if not small.any():
        return angle / sine * q[..., :3]
    factor = np.where(small, 2.0 / np.where(w == 0.0, 1.0, w), angle / np.where(small, 1.0, sine))
    return factor * q[..., :3]


def rotate_vector(quaternion: Array, vector: Array) -> Array:
    """Rotate a vector by a quaternion: R(q) vector, (…, 3)."""
    u, w = quaternion[..., :3], quaternion[..., 3:]
    t = 2.0 * cross(u, vector)
    return vector + w * t + cross(u, t)


def conjugate_quaternion(quaternion: Array) -> Array:
    """Return the quaternion (…, 4) of the inverse rotation."""
    return quaternion * np.array([-1.0, -1.0, -1.0, 1.0])


def rotate_quaternion(quaternion: Array, turn: Array) -> Array:
    """Return the unit quaternion (…, 4) after a rotation by the rotation vector `turn` (…, 3) in b's axes."""
    return normalise_quaternion(multiply_quaternions(quaternion, quaternion_from_vector(turn)))


def rotation_vector_between(q0: Array, q1: Array) -> Array:
    """Return the rotation vector (…, 3), in b's axes, that takes q0 to q1."""
    return vector_from_quaternion(
        multiply_quaternions(conjugate_quaternion(normalise_quaternion(q0)), normalise_quaternion(q1))
    )


def concatenate_parts(first: Array, second: Array) -> Array:
    """Concatenate two parts of coordinates along the last axis."""
    return np.concatenate([first, second], axis=-1)


def screw_displacement(turn: Array, shift: Array) -> Array:
    """Return the displacement (…, 3) of b's origin, in the axes of its first pose, on the screw with rotation vector
    `turn` and velocity times time `shift`: V v with V = 1 + (1 − cos φ)/φ² [ω]× + (φ − sin φ)/φ³ [ω]×²."""
    angle = vector_length(turn)
    small = angle < SERIES_ANGLE
    safe = np.where(small, 1.0, angle)
    first = np.where(small, 0.5 - angle**2 / 24.0, (1.0 - np.cos(safe)) / safe**2)
    second = np.where(small, 1.0 / 6.0 - angle**2 / 120.0, (safe - np.sin(safe)) / safe**3)
    once = cross(turn, shift)
    return shift + first * once + second * cross(turn, once)


def screw_velocity(turn: Array, shift: Array) -> Array:
    """Return velocity times time (…, 3) for which the displacement is `shift`, the inverse of `screw_displacement`: V⁻¹
    v with V⁻¹ = 1 − [ω]×/2 + (1 − (φ/2) cot(φ/2))/φ² [ω]×²."""
    angle = vector_length(turn)
    small = angle < SERIES_ANGLE
    safe = np.where(small, 1.0, angle)
    factor = np.where(small, 1.0 / 12.0 + angle**2 / 720.0, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    once = cross(turn, shift)
    return shift - 0.5 * once + factor * cross(turn, once)
