"""Massless junctions of force elements: a small ball at each, at its guessed position or where its forces balance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from core.errors import KinetostatError
from core.mechanism import Mechanism
from core.model import Model
from viz.drawlist import geometry as g
from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton
from viz.placement import Array, evaluate_vector, translation


def guessed_poses(model: Model, values: Mapping[str, float]) -> dict[str, Array]:
    """Return the poses (4, 4) world ← junction of all junctions at their guessed positions."""
    return {j.name: translation(*evaluate_vector(j.guess, values)) for j in model.expanded.junctions}


def balanced_poses(mech: Mechanism, q: ArrayLike, p: Any = None) -> dict[str, Array]:
    """Return the poses (4, 4) world ← junction of all junctions in force balance at q; {} if there is no
    equilibrium."""
    if not mech.model.expanded.junctions:
        return {}
    try:
        x = np.asarray(mech.x_rest(np.asarray(q, dtype=float), p=p)).tolist()
    except KinetostatError:
        return {}
    return poses_from_states(mech, dict(zip(mech.x_names, x, strict=True)))


def junction_poses(
    mech: Mechanism, q: ArrayLike, p: Any = None, x: Mapping[str, float] | None = None
) -> dict[str, Array]:
    """Return the poses (4, 4) world ← junction for the states x by name; junctions without states are placed in force
    balance at q."""
    given = poses_from_states(mech, x or {})
    if len(given) == len(mech.model.expanded.junctions):
        return given
    return {**balanced_poses(mech, q, p), **given}


def poses_from_states(mech: Mechanism, x: Mapping[str, float]) -> dict[str, Array]:
    """Return the poses (4, 4) world ← junction, by name, of the junctions whose states are in x."""
    names = [junction.name for junction in mech.model.expanded.junctions]
    found = {name: [x.get(f"{name}.{axis}", np.nan) for axis in "xyz"] for name in names}
    return {name: translation(*place) for name, place in found.items() if np.isfinite(place).all()}


def junction_items(skeleton: Skeleton) -> Iterator[Item]:
    """Yield a small ball at every junction."""
    for junction in skeleton.model.junctions:
        yield Item(
            f"junction/{junction.name}",
            ("junctions", junction.name),
            junction.name,
            g.Sphere(0.42 * skeleton.glyph_size),
            "force",
            "spring",
        )
        yield Item(
            f"label/junctions/{junction.name}",
            ("junctions", junction.name),
            junction.name,
            g.Sphere(1e-3),
            "label",
            "text",
            shown=False,
            text=junction.name,
        )
