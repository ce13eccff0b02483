"""Makes the trace of the PUMA 560 that ships with the examples: python -m docs.make_trace.

The arm that is measured is not the one of `puma560.kst`: it carries a load, and the grease of two axes has grown old.
It runs an exciting motion of 10 s; its angles are read to a thousandth of a degree, its torques with noise. The motion
is found by a search, so it may differ a little where another processor makes it.
"""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np

from core.files import load
from core.identification.excitation import excitation
from core.mechanism import Mechanism
from core.model import Model
from core.model.edits import edits
from resources import EXAMPLES

TRACE = EXAMPLES / "traces" / "puma560.csv"
LOAD = {"mass": 1.59, "center_of_mass": (0.0, 0.0, 0.08)}
"""The sixth link with a load of 1.5 kg: kg, m."""
WORN = {2: {"damping": 14.0, "friction": 16.0}, 4: {"friction": 3.0}}
"""Joints whose damping (N·m·s/rad) and dry friction (N·m) have grown."""
NOISE = np.array([0.5, 0.5, 0.3, 0.05, 0.05, 0.05])
"""Standard deviations of the torques' noise, N·m."""
SEED = 1
RATE = 50.0
"""Rows a second."""


def measured(model: Model) -> Model:
    """The arm that was measured, by that of the example."""
    chain = model.chains[0]
    changes = {**WORN, 6: LOAD}
    rows = tuple(replace(row, **changes.get(k, {})) for k, row in enumerate(chain.rows, 1))
    return edits.replace(model, chain, replace(chain, rows=rows))


def main() -> None:
    """Make it."""
    mech = Mechanism(measured(load(EXAMPLES / "puma560.kst")))
    motion = excitation(mech, period=10.0, rate=RATE, speed=1.5, acceleration=4.0, starts=1, iterations=15, seed=SEED)
    torque = motion.tau + NOISE * np.random.default_rng(SEED).normal(size=motion.tau.shape)
    joints = range(1, mech.nv + 1)
    heads = ["time [s]", *(f"angle_{k} [deg]" for k in joints), *(f"torque_{k} [N·m]" for k in joints)]
    columns = [(motion.time, 2), *((q, 3) for q in np.degrees(motion.q).T), *((tau, 3) for tau in torque.T)]
    TRACE.parent.mkdir(exist_ok=True)
    with open(TRACE, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(heads)
        writer.writerows(zip(*([f"{x:.{digits}f}" for x in values] for values, digits in columns), strict=True))
    print(TRACE.name)


if __name__ == "__main__":
    main()
