"""Path synthesis beside SciPy: `python -m benchmarks.design [CURVES]`. Processor time, one core.

LInK's solver is not run here: its published 2.75 million poses a second (NumPy, the same four-bar) is only quoted.
"""

from __future__ import annotations

import os
import sys
import time

os.environ.setdefault("KINETOSTAT_THREADS", "1")

import numpy as np
from scipy.optimize import least_squares

from core.design.atlas import GRID, Atlas, atlas_of
from core.design.path_fit import PathFit
from core.design.path_synthesis import drawn_curve, synthesise
from core.design.target_curves import target

QUOTED = 2.75e6
"""Poses a second of LInK's NumPy solver, as published."""
POSES = 200_000
SCIPY_CURVES, SCIPY_STARTS = 2, 30
"""With 120 starts each curve takes four times as long."""


def cpu(work, times: int = 1) -> float:
    """Least processor time of some runs, s."""
    best = np.inf
    for _ in range(times):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return float(best)


def main(count: int) -> None:
    """Print the figures."""
    atlas = atlas_of("four_bar")
    swept = atlas.swept
    made = Atlas(atlas.topology, seed=1)
    swept.poses(swept.guesses(np.zeros(2), np.zeros(swept.mech.nq)), atlas.p(np.ones((2, 5))))
    print(f"atlas of 100,000 x 64 poses and their terms: {cpu(made._made):.2f} s")
    q = swept.guesses(np.linspace(0.0, 6.0, POSES), atlas.start[0])
    p = atlas.p(atlas.shapes[:1])[0]
    rates = {
        name: POSES / cpu(lambda name=name: getattr(swept, name)(q, p), 7) for name in ("points", "poses", "slopes")
    }
    for name, rate in rates.items():
        print(f"{name}: {rate / 1e6:.1f} M poses/s per core, {rate / QUOTED:.1f} x the quoted 2.75 M")
    unseen = Atlas(atlas.topology, members=count, seed=77)
    shapes, start, _, _ = unseen._made()
    w = 0.05 * unseen._curves(shapes, start) * np.exp(0.7j)
    for timed in (True, False):
        hits, spent, tried = 0, [], w if timed else w[: max(1, len(w) // 5)]
        for k, row in enumerate(tried):
            z = np.roll(row if k % 2 else row[::-1], 11)
            goal = target(np.column_stack([z.real, z.imag]), timed=timed)
            began = time.process_time()
            found = synthesise(goal, count=1)[0]
            spent.append(time.process_time() - began)
            hits += found.relative < 1e-6 and not found.defects
        kind = "timed" if timed else "untimed"
        each = f"{np.mean(spent):.2f} s each, {max(spent):.2f} s at most"
        print(f"{kind}: {hits} of {len(tried)} unseen curves to 1e-6, {each}", flush=True)
    _beside_scipy(w)


def _beside_scipy(w) -> None:
    """Some of the curves by SciPy alone: a closed form in NumPy, finite differences, random starts."""
    names = ("a", "b", "c", "d", "px", "py", "x0", "z0", "turn", "first")
    rng = np.random.default_rng(0)
    hits, spent = 0, []
    for row in w[:SCIPY_CURVES]:
        points = np.column_stack([row.real, row.imag])
        size = float(np.sqrt(np.mean(np.abs(row - row.mean()) ** 2)))

        def off(x, points=points, size=size):
            values = dict(zip(names, x, strict=True))
            found = drawn_curve(values, GRID + values["first"])
            return np.nan_to_num((found - points) / size, nan=10.0).ravel()

        began = time.process_time()
        best = np.inf
        for _ in range(SCIPY_STARTS):
            x = np.concatenate([size * np.exp(rng.uniform(0, 2, 4)), size * rng.normal(size=4), rng.uniform(-3, 3, 2)])
            found = least_squares(off, x, method="lm", max_nfev=200)
            best = min(best, float(np.sqrt(2 * found.cost / len(points))))
        spent.append(time.process_time() - began)
        hits += best < 1e-6
    each = f"{hits} of {SCIPY_CURVES} timed curves, {np.mean(spent):.1f} s each"
    print(f"SciPy, finite differences, {SCIPY_STARTS} random starts: {each}", flush=True)
    goal = target(np.column_stack([w[0].real, w[0].imag]), timed=True)
    fit = PathFit(atlas_of("four_bar"), goal)
    print(f"ours, 120 starts of the atlas: {cpu(lambda: fit.solved(120), 3):.2f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
