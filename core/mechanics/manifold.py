"""Motion on the manifold of joint coordinates: arrays of positions along a leading axis.

Plain coordinates add. A quaternion (x, y, z, w) is multiplied by the exponential of half the rotation vector; a free
body follows the screw of its constant velocity [ω; v] in its own axes (Murray, Li, Sastry 1994, 2.36).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SERIES_ANGLE = 1e-4
"""Angle (rad) below which series replace quotients; the next term is then below 1e-17."""


def unit(quaternion: Array) -> Array:
    """(…, 4) the quaternion at length one; (0, 0, 0, 1) for the zero quaternion."""
    with np.errstate(over="ignore"):
        length = np.linalg.norm(quaternion, axis=-1, keepdims=True)
    if not np.isfinite(length).all():  # their squares are out of range
        quaternion = quaternion / np.maximum(np.max(np.abs(quaternion), axis=-1, keepdims=True), 1.0)
        length = np.linalg.norm(quaternion, axis=-1, keepdims=True)
    neutral = np.array([0.0, 0.0, 0.0, 1.0])
    return np.where(length > 0.0, quaternion / np.where(length > 0.0, length, 1.0), neutral)


def product(p: Array, q: Array) -> Array:
    """(…, 4) p ⊗ q."""
    pv, pw, qv, qw = p[..., :3], p[..., 3:], q[..., :3], q[..., 3:]
    vector = pw * qv + qw * pv + np.cross(pv, qv)
    return np.concatenate([vector, pw * qw - np.sum(pv * qv, axis=-1, keepdims=True)], axis=-1)


def exponential(rotation: Array) -> Array:
    """(…, 4) quaternion of a rotation vector (…, 3), rad."""
    half = 0.5 * np.linalg.norm(rotation, axis=-1, keepdims=True)
    # sin(h)/(2h) = np.sinc(h/π)/2
    return np.concatenate([0.5 * np.sinc(half / np.pi) * rotation, np.cos(half)], axis=-1)


def logarithm(quaternion: Array) -> Array:
    """(…, 3) rotation vector (rad, length at most π) of a quaternion."""
    q = np.where(quaternion[..., 3:] < 0.0, -quaternion, quaternion)
    length = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(length, q[..., 3:])
    w = np.where(q[..., 3:] == 0.0, 1.0, q[..., 3:])
    factor = np.where(length > 1e-12, angle / np.where(length > 0.0, length, 1.0), 2.0 / w)
    return factor * q[..., :3]


def rotated(quaternion: Array, vector: Array) -> Array:
    """(…, 3) R(q) vector."""
    u, w = quaternion[..., :3], quaternion[..., 3:]
    t = 2.0 * np.cross(u, vector)
    return vector + w * t + np.cross(u, t)


def conjugate(quaternion: Array) -> Array:
    """(…, 4) the inverse rotation."""
    return quaternion * np.array([-1.0, -1.0, -1.0, 1.0])


def moved(kind: str, q: Array, step: Array) -> Array:
    """(…, nq) q of one joint after the displacement `step` (…, nv): speeds times time, rad or m."""
    if kind == "spherical":
        return unit(product(q, exponential(step)))
    if kind == "free":
        turn, shift = step[..., :3], step[..., 3:]
        position = q[..., :3] + rotated(unit(q[..., 3:]), _shift(turn, shift))
        return np.concatenate([position, unit(product(q[..., 3:], exponential(turn)))], axis=-1)
    return q + step


def between(kind: str, q0: Array, q1: Array) -> Array:
    """(…, nv) the displacement of one joint that takes q0 to q1."""
    if kind == "spherical":
        return logarithm(product(conjugate(unit(q0)), unit(q1)))
    if kind == "free":
        start = unit(q0[..., 3:])
        turn = logarithm(product(conjugate(start), unit(q1[..., 3:])))
        shift = rotated(conjugate(start), q1[..., :3] - q0[..., :3])
        return np.concatenate([turn, _unshift(turn, shift)], axis=-1)
    return q1 - q0


def _shift(turn: Array, shift: Array) -> Array:
    """V v with V = 1 + (1 − cos φ)/φ² [ω]× + (φ − sin φ)/φ³ [ω]×²."""
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    small = angle < SERIES_ANGLE
    safe = np.where(small, 1.0, angle)
    first = np.where(small, 0.5 - angle**2 / 24.0, (1.0 - np.cos(safe)) / safe**2)
    second = np.where(small, 1.0 / 6.0 - angle**2 / 120.0, (safe - np.sin(safe)) / safe**3)
    once = np.cross(turn, shift)
    return shift + first * once + second * np.cross(turn, once)


def _unshift(turn: Array, shift: Array) -> Array:
    """V⁻¹ v with V⁻¹ = 1 − [ω]×/2 + (1 − (φ/2) cot(φ/2))/φ² [ω]×²."""
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    small = angle < SERIES_ANGLE
    safe = np.where(small, 1.0, angle)
    factor = np.where(small, 1.0 / 12.0 + angle**2 / 720.0, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    once = np.cross(turn, shift)
    return shift - 0.5 * once + factor * np.cross(turn, once)
