"""`python -m benchmarks.drift [--write]`: how far loops come apart over 10⁶ steps."""

from __future__ import annotations

import numpy as np

from benchmarks import problems
from benchmarks.document import tell
from core.simulation import simulate

STEPS, STEP = 1_000_000, 1e-3


def main() -> None:
    """Measure and print."""
    lines = [f"{STEPS:g} steps of {1e3 * STEP:g} ms by RK4, projected after each:", ""]
    lines += ["| machine | loops by | largest gap | change of energy | time |", "| --- | --- | ---: | ---: | ---: |"]
    for title, make in (("planar four-bar", problems.four_bar), ("Bricard", problems.bricard)):
        problem = make()
        for closed_forms in (True, False):
            run = simulate(
                problem.model,
                STEPS * STEP,
                method="rk4",
                step=STEP,
                output=1.0,
                q0=problem.q0,
                v0=problem.v0,
                closed_forms=closed_forms,
            )
            gap, energy = np.max(run["constraint.residual"]), np.ptp(run["energy.total"])
            how = "closed forms" if closed_forms else "iteration"
            lines.append(f"| {title} | {how} | {gap:.1e} | {energy:.1e} J | {run.statistics.cpu:.1f} s |")
    tell("Drift", "drift", lines)


if __name__ == "__main__":
    main()
