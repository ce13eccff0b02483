"""Forward and inverse dynamics at rest, in motion and beyond a limit: `python -m benchmarks.resting [EXAMPLE …]`.

Processor time of whole calls from Python, interleaved, in µs a state; *arrays*: 500 states in one call.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial

import numpy as np

from benchmarks.measure import together
from core.files import load
from core.mechanism import Mechanism
from resources import EXAMPLES

COUNT = 500
STARTS = {"in motion": (0.0, 1.0), "at rest": (0.0, 0.0), "beyond a limit": (10.0, 1.0)}
"""Distance of the first coordinate from its place of rest, and all speeds."""


def rows(name: str) -> None:
    """Print the times of one example."""
    mech = Mechanism(load(EXAMPLES / f"{name}.kst"))
    rng, calls = np.random.default_rng(0), {}
    for start, (beyond, speed) in STARTS.items():
        q = np.tile(mech.rest(), (COUNT, 1))
        q[:, 0] += beyond
        v, u = np.full((COUNT, mech.nv), speed), rng.uniform(-50.0, 50.0, (COUNT, mech.nv))
        for word, function in (("forward", mech.forward_dynamics), ("inverse", mech.inverse_dynamics)):
            alone = q[0].copy(), v[0].copy(), u[0].copy()
            calls[f"{word} {start}"] = partial(function, *alone)
            calls[f"{word} {start}, arrays"] = partial(function, q, v, u)
    for call in calls.values():
        call()
    mech.compile()
    for what, time in together(calls).items():
        print(f"{name:12s} {what:32s} {time.least * 1e6 / (COUNT if 'arrays' in what else 1):9.3g}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for each in sys.argv[1:] or ["puma560"]:
        rows(each)
