"""Borders between the configurations of an arm: factors of its Jacobian determinant, and the way to their zeros.

Each factor is zero where two configurations meet, a singular pose. The way there is the change of one joint: the elbow
turns until shoulder, elbow and wrist are in line, the wrist until its first and last axes are, a slide moves until the
wrist is level with the shoulder. The shoulder's border is the plane through axis 1 and the direction of axis 2; the way
to it is the distance of the wrist's centre, and axis 2, or else axis 3, takes it there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.arm_families import CYLINDRICAL, ELBOW, SLIDING, THREE_PARALLEL
from core.analysis.arms.screw_chain import ScrewChain, trace_axes
from core.codegen.flat_code import FlatCode
from core.numerics.spatial.vector import Vector3

Array = NDArray[np.float64]

SMALL = 1e-12
"""Length (m) below which a divisor is replaced."""


class Borders(NamedTuple):
    """For each of m positions and each part of a configuration: factors (m, parts) of unit size; distances (m, parts)
    from the border, rad or m; changes (m, parts, 2) of the joints `border_joints` that lead there, NaN for none; is_far
    (m, parts) True where the nearest border is the folded one rather than the stretched one."""

    factors: Array
    distances: Array
    changes: Array
    is_far: NDArray[np.bool_]


def border_joints(family: str, kinds: str) -> tuple[tuple[int, ...], ...]:
    """Indices of the joints of a chain, one of which at a time leads to the border of each part."""
    if family == CYLINDRICAL:
        return ((_turning(kinds)[1],),)
    shoulder = (1, 2) if family in (ELBOW, THREE_PARALLEL) else (1,)
    return (shoulder, (2,), (4,))


def is_length(family: str) -> tuple[bool, ...]:
    """True for each part whose distance is a length."""
    return (False,) if family == CYLINDRICAL else (True, family == SLIDING, False)


def find_borders(family: str, chain: ScrewChain, q: Array) -> Borders:
    """Read the borders at positions q (m, n). In the chain the points of axis 2 and of the last axes are the shoulder
    and the wrist's centre."""
    fixed = np.concatenate([chain.parameters(), [chain.size]])
    (found,) = _traced_borders(family, chain.kinds)([q - chain.start], fixed)
    return Borders(found[..., 0], found[..., 1], found[..., 2:4], found[..., 4] > 0.5)


def _turning(kinds: str) -> tuple[int, ...]:
    return tuple(k for k, kind in enumerate(kinds) if kind == "R")


@lru_cache(maxsize=32)
def _traced_borders(family: str, kinds: str) -> FlatCode:
    """Function of displacements (n,), links and size with a row of five numbers for each part; see `Borders`."""
    n = len(kinds)
    moved, fixed = ca.SX.sym("moved", n), ca.SX.sym("fixed", 6 * n + 13)
    d, p, _ = trace_axes(kinds, moved, fixed)
    if family == CYLINDRICAL:
        one, two, three = _turning(kinds)
        rows = [_elbow(d[one], p[one], p[two], p[three])]
    else:
        centre = p[4 if family == THREE_PARALLEL else 3]
        end = p[3] if family == THREE_PARALLEL else centre
        middle = _slide(d[2], centre - p[1]) if family == SLIDING else _elbow(d[2], p[1], p[2], end)
        turning = border_joints(family, kinds)[0]
        rows = [_shoulder(d, p, centre, turning, fixed[6 * n + 12]), middle, _wrist(d[3], d[4], d[5])]
    return FlatCode([moved, fixed], [ca.vertcat(*(ca.horzcat(*row) for row in rows))], later=True)


def _shoulder(
    d: list[Vector3], p: list[Vector3], centre: Vector3, turning: tuple[int, ...], size: ca.SX
) -> list[ca.SX]:
    normal = d[1].cross(d[0])
    height = normal.dot(centre - p[0])
    changes = [_turn_to_plane(normal, d[k], p[k], centre, p[0]) for k in turning]
    changes += [ca.SX(np.nan)] * (2 - len(changes))
    return [height / size, ca.fabs(height) / ca.sqrt(normal.dot(normal)), *changes, ca.SX(0.0)]


def _turn_to_plane(normal: Vector3, axis: Vector3, at: Vector3, moved: Vector3, plane: Vector3) -> ca.SX:
    """Smallest turn about an axis within a plane's directions that takes a point into the plane; NaN if none does."""
    arm = moved - at
    along, across = normal.dot(arm), normal.dot(axis.cross(arm))
    centre, half = ca.atan2(across, along), ca.acos(-normal.dot(at - plane) / ca.sqrt(along**2 + across**2))
    turns = [_wrap(centre + sign * half) for sign in (1.0, -1.0)]
    return ca.if_else(ca.fabs(turns[0]) < ca.fabs(turns[1]), *turns)


def _wrap(angle: ca.SX) -> ca.SX:
    return angle - 2.0 * np.pi * ca.floor(angle / (2.0 * np.pi) + 0.5)


def _turn_to_line(angle: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Change with which an angle within ±π becomes a multiple of π, and 1 if this is an odd one."""
    half_turns = ca.floor(angle / np.pi + 0.5)
    return half_turns * np.pi - angle, ca.fabs(half_turns)


def _elbow(axis: Vector3, shoulder: Vector3, elbow: Vector3, end: Vector3) -> list[ca.SX]:
    """Row of an elbow. Its factor is the sine of the angle between the links before and behind it, up to positive
    factors: the derivative of the distance from shoulder to end by the elbow's angle."""
    upper, behind, ahead = (v - axis.scaled(axis.dot(v)) for v in (elbow - shoulder, end - elbow, end - shoulder))
    lengths = ca.sqrt(ahead.dot(ahead) * behind.dot(behind))
    factor = axis.dot(behind.cross(ahead)) / ca.fmax(lengths, SMALL)
    change, is_far = _turn_to_line(ca.atan2(axis.dot(upper.cross(behind)), upper.dot(behind)))
    return [factor, ca.fabs(change), change, ca.SX(np.nan), is_far]


def _slide(axis: Vector3, ahead: Vector3) -> list[ca.SX]:
    along = ahead.dot(axis)
    return [along / ca.fmax(ca.sqrt(ahead.dot(ahead)), SMALL), ca.fabs(along), -along, ca.SX(np.nan), ca.SX(0.0)]


def _wrist(first: Vector3, middle: Vector3, last: Vector3) -> list[ca.SX]:
    sine = middle.dot(first.cross(last))
    cosine = first.dot(last) - first.dot(middle) * last.dot(middle)
    change, is_far = _turn_to_line(ca.atan2(sine, cosine))
    return [sine, ca.fabs(change), change, ca.SX(np.nan), is_far]
