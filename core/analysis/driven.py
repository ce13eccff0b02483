"""Drivers against the freedoms they take: which act, which only repeat, which contradict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.analysis.closure_rank import Closure
from core.kernel import constraints
from core.kernel.closures import Row

Array = NDArray[np.float64]

TAKES = 1e-6
"""Part of a driver's row (in machine units) that must move something that is not driven yet."""
DIFFERS = 1e-8
"""Speed (rad/s, machine sizes per second) or gap by which two demands contradict each other."""


@dataclass(frozen=True)
class Drive:
    """What drivers do at a pose: names of the rows that take a freedom; sentences about the others."""

    effective: tuple[str, ...]
    superfluous: tuple[str, ...]
    inconsistent: tuple[str, ...]


def drive(closure: Closure, q: Array, N: Array) -> Drive:
    """Drivers of a machine (all rows in `closure`) against its free motions N (nv, k) at a closed pose q."""
    rows = [(k, row) for k, row in enumerate(closure.names) if row.collection == "drivers"]
    if not rows:
        return Drive((), (), ())
    units = closure.row_units
    G = closure.jacobian(q) / units[:, None]
    wanted = -constraints.speed_gap(closure.mech, closure.t, closure.p)[closure.kept] / units
    gaps = closure.mech.gaps(q, p=closure.p, t=closure.t)[closure.kept] / units
    taken: list[tuple[int, Row]] = []
    superfluous: list[str] = []
    inconsistent: list[str] = []
    for k, row in rows:
        own = G[k] @ N
        before = np.array([G[i] @ N for i, _ in taken]).reshape(len(taken), N.shape[1])
        share = np.linalg.lstsq(before.T, own, rcond=1e-9)[0] if taken else np.zeros(0)
        if np.linalg.norm(own - share @ before) > TAKES * max(float(np.linalg.norm(G[k] * closure.units)), 1e-12):
            taken.append((k, row))
            continue
        sources = [i for i, part in zip((i for i, _ in taken), share, strict=True) if abs(part) > 1e-6]
        parts = share[np.abs(share) > 1e-6]
        speed = 0.0 if row.level == 2 else abs(float(wanted[k] - parts @ wanted[sources]))
        gap = abs(float(gaps[k] - parts @ gaps[sources])) if row.level == 0 else 0.0
        names = [str(closure.names[i]) for i in sources]
        contradicts = max(speed, gap) > DIFFERS
        (inconsistent if contradicts else superfluous).append(_sentence(str(row), names, contradicts))
    return Drive(tuple(str(row) for _, row in taken), tuple(superfluous), tuple(inconsistent))


def _sentence(name: str, others: list[str], contradicts: bool) -> str:
    if not others:
        return f"Driver {name} moves what the joints hold fixed" if contradicts else (
            f"Driver {name} has nothing to move: the joints hold it")  # fmt: skip
    already = f"what {' and '.join(others)} drive{'s' if len(others) == 1 else ''} already"
    return f"Driver {name} moves {already}, and differently" if contradicts else f"Driver {name} moves {already}"
