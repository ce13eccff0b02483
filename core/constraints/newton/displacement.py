"""Displacement of coordinates on their manifold in machine code, as `core.mechanics.multibody.coordinates` does it."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.joints.quaternions import SERIES_ANGLE
from core.machine_code.language import loader, merged, native, scratch
from core.machine_code.records import Fixed, Floats, Ints, Record

ON_LIMIT = 1e-15
"""Distance beyond the room of a coordinate from which on a step counts as leaving it."""


class Manifold(Record):
    """Coordinates of a machine as numbers."""

    nq: Fixed
    nv: Fixed
    plain_q: Ints
    plain_v: Ints
    """Indices in q of the coordinates whose rates are speeds, and indices of these speeds in v."""
    lower: Floats
    upper: Floats
    """(nq,) limits, infinite where there are none."""
    quaternions: Ints
    turns: Ints
    places: Ints
    """Of each quaternion: index of its first component in q, of its rotation vector in v, of the position of the same
    free joint in q (−1: a ball joint has none; its translation follows the rotation vector in v)."""


load_manifold = loader(Manifold)


@native
def cross_into(a: Any, b: Any, out: Any) -> None:
    """Compute a × b (3,)."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@native
def normalise_at(q: Any, at: int) -> None:
    """Normalise the quaternion at an index of q; the zero quaternion becomes that of no rotation."""
    square = 0.0
    for i in range(4):
        square += q[at + i] ** 2
    size = np.sqrt(square)
    for i in range(4):
        q[at + i] = q[at + i] / size if size > 0.0 else 0.0
    if size == 0.0:
        q[at + 3] = 1.0


@native
def turn_quaternion(q: Any, at: int, turn: Any) -> None:
    """Rotate the quaternion at an index of q by the rotation vector `turn` (3,) in b's axes."""
    half = 0.5 * np.sqrt(turn[0] ** 2 + turn[1] ** 2 + turn[2] ** 2)
    factor = 0.5 if half == 0.0 else 0.5 * np.sin(half) / half
    w = np.cos(half)
    x, y, z = factor * turn[0], factor * turn[1], factor * turn[2]
    a, b, c, d = q[at], q[at + 1], q[at + 2], q[at + 3]
    q[at] = d * x + w * a + (b * z - c * y)
    q[at + 1] = d * y + w * b + (c * x - a * z)
    q[at + 2] = d * z + w * c + (a * y - b * x)
    q[at + 3] = d * w - (a * x + b * y + c * z)
    normalise_at(q, at)


@native
def shift_position(q: Any, at: int, place: int, turn: Any, shift: Any) -> None:
    """Move the position of a free joint on the screw with rotation vector `turn` and translation `shift`, both (3,) in
    the axes of its quaternion."""
    once, twice, u = scratch(3), scratch(3), scratch(3)
    angle = np.sqrt(turn[0] ** 2 + turn[1] ** 2 + turn[2] ** 2)
    first, second = 0.5 - angle**2 / 24.0, 1.0 / 6.0 - angle**2 / 120.0
    if angle >= SERIES_ANGLE:
        first, second = (1.0 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3
    cross_into(turn, shift, once)
    cross_into(turn, once, twice)
    for i in range(3):
        u[i] = shift[i] + first * once[i] + second * twice[i]
    axis, w = q[at : at + 3], q[at + 3]
    cross_into(axis, u, once)
    cross_into(axis, once, twice)
    for i in range(3):
        q[place + i] += u[i] + 2.0 * (w * once[i] + twice[i])


@native
def displace(manifold: int, q: Any, step: Any, out: Any) -> None:
    """Compute the position out (nq,) after a displacement step (nv,) from q, within the limits."""
    m = load_manifold(manifold)
    for i in range(m.nq):
        out[i] = q[i]
    for i in range(len(m.plain_q)):
        out[m.plain_q[i]] += step[m.plain_v[i]]
    for i in range(len(m.quaternions)):
        at, turn = m.quaternions[i], m.turns[i]
        if m.places[i] >= 0:
            normalise_at(out, at)
            shift_position(out, at, m.places[i], step[turn : turn + 3], step[turn + 3 : turn + 6])
        turn_quaternion(out, at, step[turn : turn + 3])
    clamp_coordinates(manifold, out)


@native
def clamp_coordinates(manifold: int, q: Any) -> None:
    """Clamp q (nq,) to the limits and normalise its quaternions."""
    m = load_manifold(manifold)
    for i in range(m.nq):
        if q[i] < m.lower[i]:
            q[i] = m.lower[i]
        elif q[i] > m.upper[i]:
            q[i] = max(m.lower[i], m.upper[i])
    for i in range(len(m.quaternions)):
        normalise_at(q, m.quaternions[i])


@native
def find_room(manifold: int, q: Any, low: Any, high: Any) -> None:
    """Compute the smallest and the largest displacement (nv,) that the limits of plain coordinates allow at q."""
    m = load_manifold(manifold)
    for j in range(m.nv):
        low[j], high[j] = -np.inf, np.inf
    for i in range(len(m.plain_q)):
        at = m.plain_q[i]
        low[m.plain_v[i]] = min(m.lower[at] - q[at], 0.0)
        high[m.plain_v[i]] = max(m.upper[at] - q[at], 0.0)


@merged
def leaves_room(step: float, low: float, high: float) -> Any:
    """Return True if a step goes beyond the room of its coordinate."""
    return step < low - ON_LIMIT or step > high + ON_LIMIT
