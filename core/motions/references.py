"""Planned motions as cubic splines over time, which controllers follow."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.mechanism import Mechanism
from core.model import Model
from core.motions.laws import PolynomialLaw
from core.motions.paths import StraightPath
from core.motions.plan import plan
from core.motions.trajectory import Piece, Trajectory

Array = NDArray[np.float64]

PARTS = 256
"""Number of cubics for a phase of a law that is not a cubic itself."""


def reference_splines(model: Model, values: Mapping[str, float], names: Sequence[str]) -> list[tuple[Array, Array]]:
    """Return (times, coefficients (n, 4) of (t − t_k)³ … 1) of coordinates of motions, named motion.coordinate.

    values : of all parameters. Raises ModelError for a motion that is not possible, or a coordinate without a motion.
    """
    bare = dataclasses.replace(model, signals=(), origin=model.origin)
    own = {each.name: values[each.name] for each in bare.expanded.parameters if each.independent}
    planned: dict[str, Trajectory] = {}
    found = []
    for name in names:
        motion, _, coordinate = name.partition(".")
        if motion not in planned:
            planned[motion] = plan(Mechanism(bare), motion, p=own)
        found.append(_hermite_spline(planned[motion], *_columns(planned[motion], coordinate, name)))
    return found


def _columns(trajectory: Trajectory, coordinate: str, name: str) -> tuple[int, int]:
    """Return the indices in q and v of a coordinate. Raises ModelError."""
    mech = trajectory.mech
    for joint in mech.joint_names:
        try:
            q, v = mech.joint_q(joint), mech.joint_v(joint)
        except (ModelError, KeyError):
            continue
        if q.stop - q.start == v.stop - v.start:
            for k in range(v.stop - v.start):
                if mech.v_names[v.start + k] == coordinate:
                    return q.start + k, v.start + k
    raise ModelError(
        f"A controller cannot follow '{name}': it is no coordinate of the tree with one number.",
        where=f"motion '{trajectory.name}'",
        remedy="Control independent joints.",
    )


def _knots(piece: Piece) -> Array:
    """Return times in a piece: the breaks of its law, and more where it is not made of cubics."""
    law = piece.law
    breaks = np.asarray(law.breaks if isinstance(law, PolynomialLaw) else (0.0, law.duration), dtype=float)
    straight = isinstance(piece.path, StraightPath)
    cubic = isinstance(law, PolynomialLaw) and straight and law.coefficients.shape[1] <= 4
    parts = 1 if cubic else PARTS
    return np.concatenate(
        [np.linspace(a, b, parts, endpoint=False) for a, b in pairwise(breaks) if b > a] or [breaks[:1]]
    )


def _hermite_spline(trajectory: Trajectory, at_q: int, at_v: int) -> tuple[Array, Array]:
    """Return the cubics with the positions and speeds of the trajectory at knots."""
    times = np.concatenate([*(piece.start + _knots(piece) for piece in trajectory.pieces), [trajectory.duration]])
    times = times[np.concatenate([np.diff(times) > 1e-12, [True]])]
    q, v, _ = trajectory.at(times)
    y, w = q[:, at_q], v[:, at_v]
    rows = np.zeros((len(times), 4))
    rows[:, 3] = y
    if len(times) > 1:
        h, rise = np.diff(times), np.diff(y)
        rows[:-1, 2] = w[:-1]
        rows[:-1, 1] = (3.0 * rise / h - 2.0 * w[:-1] - w[1:]) / h
        rows[:-1, 0] = (w[:-1] + w[1:] - 2.0 * rise / h) / h**2
    return times, rows
