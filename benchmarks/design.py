"""Path synthesis beside SciPy: `python -m benchmarks.design [CURVES] [--write]`. Processor time, one core; --write puts
the table into docs/design.md.

LInK's solver is not run here: its published 2.75 million poses a second (NumPy, the same four-bar) is only quoted.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("KINETOSTAT_THREADS", "1")

import numpy as np
from scipy.optimize import least_squares

from benchmarks.document import tell
from core.design.atlas import GRID, Atlas, get_atlas
from core.design.path_fit import PathFit
from core.design.path_synthesis import four_bar_coupler_curve, synthesise
from core.design.target_curves import target

PAGE = Path(__file__).parents[1] / "docs" / "design.md"
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
    """Measure and tell."""
    lines = ["Processor time of one core, which other programs used as well.", "", "| what | figure |", "| --- | --- |"]
    for what, figure in figures(count):
        lines.append(f"| {what} | {figure} |")
        print(lines[-1], flush=True)
    tell("Figures", "design", lines, PAGE)


def figures(count: int) -> Iterator[tuple[str, str]]:
    """Measured quantities with their values."""
    atlas = get_atlas("four_bar")
    swept = atlas.swept
    made = Atlas(atlas.topology, seed=1)
    swept.poses(swept.guesses_at_angles(np.zeros(2), np.zeros(swept.mech.nq)), atlas.p(np.ones((2, 5))))
    yield "atlas of 100,000 × 64 poses with terms in time and in length", f"{cpu(made._compute_members):.1f} s once"
    q = swept.guesses_at_angles(np.linspace(0.0, 6.0, POSES), atlas.start[0])
    p = atlas.p(atlas.shapes[:1])[0]
    rates = {
        name: POSES / cpu(lambda name=name: getattr(swept, name)(q, p), 7) for name in ("points", "poses", "slopes")
    }
    yield (
        "a four-bar's point: value; whole pose; value and derivatives with respect to five lengths and the crank",
        "; ".join(f"{rates[name] / 1e6:.1f}" for name in ("points", "poses", "slopes")) + " M poses/s",
    )
    yield "LInK's NumPy solver for the same linkage (published, not run here)", f"{QUOTED / 1e6:.2f} M poses/s"
    unseen = Atlas(atlas.topology, members=count, seed=77)
    shapes, start, _, _ = unseen._compute_members()
    w = 0.05 * unseen._compute_curves(shapes, start) * np.exp(0.7j)
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
        yield f"{len(tried)} unseen {kind} curves, to 1e-6 of their size", f"{hits}, {each}"
    yield from _beside_scipy(w)


def _beside_scipy(w) -> Iterator[tuple[str, str]]:
    """Some of the curves by SciPy alone: a closed form in NumPy, finite differences, random starts."""
    names = ("a", "b", "c", "d", "px", "py", "x0", "z0", "turn", "first")
    rng = np.random.default_rng(0)
    hits, spent = 0, []
    for row in w[:SCIPY_CURVES]:
        points = np.column_stack([row.real, row.imag])
        size = float(np.sqrt(np.mean(np.abs(row - row.mean()) ** 2)))

        def off(x, points=points, size=size):
            values = dict(zip(names, x, strict=True))
            found = four_bar_coupler_curve(values, GRID + values["first"])
            return np.nan_to_num((found - points) / size, nan=10.0).ravel()

        began = time.process_time()
        best = np.inf
        for _ in range(SCIPY_STARTS):
            x = np.concatenate([size * np.exp(rng.uniform(0, 2, 4)), size * rng.normal(size=4), rng.uniform(-3, 3, 2)])
            found = least_squares(off, x, method="lm", max_nfev=200)
            best = min(best, float(np.sqrt(2 * found.cost / len(points))))
        spent.append(time.process_time() - began)
        hits += best < 1e-6
    yield (
        f"SciPy alone on {SCIPY_CURVES} of the timed ones, finite differences, {SCIPY_STARTS} random starts each",
        f"{hits}, {np.mean(spent):.1f} s each",
    )
    goal = target(np.column_stack([w[0].real, w[0].imag]), timed=True)
    fit = PathFit(get_atlas("four_bar"), goal)
    yield "120 starts of the atlas for one of them", f"{cpu(lambda: fit.solved(120), 3):.2f} s"


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:] if each.isdigit()]
    main(numbers[0] if numbers else 100)
