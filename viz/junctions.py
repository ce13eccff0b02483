"""Where massless junctions stand: at their guess, or where the forces that meet there are in balance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from core.errors import KinetostatError
from core.kernel import Mechanism
from core.model import Model
from viz.placement import Array, numbers, shifted


def guesses(model: Model, values: Mapping[str, float]) -> dict[str, Array]:
    """(4, 4) world ← junction of every junction where its guess puts it."""
    return {j.name: shifted(*numbers(j.guess, values)) for j in model.expanded.junctions}


def in_balance(mech: Mechanism, q: ArrayLike, p: Any = None) -> dict[str, Array]:
    """(4, 4) world ← junction of every junction with the machine at rest at q; {} where there is no balance."""
    names = [junction.name for junction in mech.model.expanded.junctions]
    if not names:
        return {}
    try:
        x = dict(zip(mech.x_names, np.asarray(mech.x_rest(np.asarray(q, dtype=float), p=p)).tolist(), strict=True))
    except KinetostatError:
        return {}
    found = {name: [x.get(f"{name}.{axis}", np.nan) for axis in "xyz"] for name in names}
    return {name: shifted(*place) for name, place in found.items() if np.isfinite(place).all()}
