"""Planned motions as cubic splines over time, which controllers follow."""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.mechanism import Mechanism
from core.model import Model
from core.model.fields import Element, declared_fields, nested_elements
from core.motions.laws import PolynomialLaw
from core.motions.paths import StraightPath
from core.motions.plan import plan
from core.motions.trajectory import Piece, Trajectory

Array = NDArray[np.float64]

WORD = re.compile(r"[^\W\d]\w*")
MOST_KEPT = 8
"""Number of plans that are kept."""
_kept: dict[tuple[int, tuple[tuple[str, float], ...], tuple[str, ...]], tuple[Model, list[tuple[Array, Array]]]] = {}
_lock = threading.Lock()
PARTS = 256
"""Number of cubics for a phase of a law that is not a cubic itself."""


def reference_splines(model: Model, values: Mapping[str, float], names: Sequence[str]) -> list[tuple[Array, Array]]:
    """Return (times, coefficients (n, 4) of (t − t_k)³ … 1) of coordinates of motions, named motion.coordinate.

    values : of all parameters. Those that only signals use, gains for example, do not let motions be planned again.
    Raises ModelError for a motion that is not possible, or a coordinate without a motion.
    """
    bare = dataclasses.replace(model, signals=(), origin=model.origin)
    used = _used_names(bare)
    own = {each.name: values[each.name] for each in bare.expanded.parameters if each.independent}
    key = id(model), tuple(sorted((name, value) for name, value in own.items() if name in used)), tuple(names)
    with _lock:
        kept = _kept.get(key)
    if kept is not None and kept[0] is model:
        return kept[1]
    planned: dict[str, tuple[Trajectory, Array, Array, Array]] = {}
    found = []
    for name in names:
        motion, _, coordinate = name.partition(".")
        if motion not in planned:
            planned[motion] = _with_knots(plan(Mechanism(bare), motion, p=own))
        trajectory, times, q, v = planned[motion]
        at_q, at_v = _columns(trajectory, coordinate, name)
        found.append((times, _hermite_rows(times, q[:, at_q], v[:, at_v])))
    with _lock:
        while len(_kept) >= MOST_KEPT:
            _kept.pop(next(iter(_kept)))
        _kept[key] = model, found
    return found


def _used_names(model: Model) -> set[str]:
    """Return all words in texts of a model, with those in the formulas of parameters that are among them: every
    parameter that motions can depend on is one of them."""
    formulas = {each.name: set(WORD.findall(str(each.value))) for each in model.expanded.parameters}
    used: set[str] = set()
    elements = [element for collection, element in model.expanded.elements() if collection != "parameters"]
    waiting = {
        word
        for element in (model.expanded.world, *elements)
        for inner in nested_elements(element)
        for text in _texts(inner)
        for word in WORD.findall(text)
    }
    while waiting:
        used |= waiting
        waiting = {word for name in waiting for word in formulas.get(name, ())} - used
    return used


def _texts(element: Element) -> Iterator[str]:
    """Yield all texts in the fields of an element."""
    waiting: list[object] = [getattr(element, field.name) for field in declared_fields(type(element))]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple):
            waiting += value


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


def _with_knots(trajectory: Trajectory) -> tuple[Trajectory, Array, Array, Array]:
    """Return a trajectory with its knots, and positions and speeds there."""
    times = np.concatenate([*(piece.start + _knots(piece) for piece in trajectory.pieces), [trajectory.duration]])
    times = times[np.concatenate([np.diff(times) > 1e-12, [True]])]
    q, v, _ = trajectory.at(times)
    return trajectory, times, q, v


def _hermite_rows(times: Array, y: Array, w: Array) -> Array:
    """Return the coefficients (n, 4) of the cubics with these positions and speeds at the knots."""
    rows = np.zeros((len(times), 4))
    rows[:, 3] = y
    if len(times) > 1:
        h, rise = np.diff(times), np.diff(y)
        rows[:-1, 2] = w[:-1]
        rows[:-1, 1] = (3.0 * rise / h - 2.0 * w[:-1] - w[1:]) / h
        rows[:-1, 0] = (w[:-1] + w[1:] - 2.0 * rise / h) / h**2
    return rows
