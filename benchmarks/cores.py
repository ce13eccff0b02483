"""`python -m benchmarks.cores`: calls on arrays of states with one thread, and with as many as there are cores.

Wall time per state, taking turns, the least of 15 repeats; on a machine that is busy otherwise it says little.
"""

from __future__ import annotations

import os
import time

import numpy as np

from benchmarks.machines import machines
from core.codegen import machine_code
from core.mechanism import Mechanism

STATES = 200_000
"""Times links: states of an array."""
REPEATS = 15


def main() -> None:
    """Measure and print."""
    os.environ.pop("KINETOSTAT_THREADS", None)
    cores = machine_code.thread_count()
    print(f"| machine | states | one thread, µs | {cores} threads, µs | ratio |\n| --- | ---: | ---: | ---: | ---: |")
    for machine in machines((10, 50, 200)):
        mech, count = Mechanism(machine.model), STATES // machine.bodies
        mech.compile("forward_dynamics")
        rng = np.random.default_rng(0)
        states = [rng.uniform(-1.0, 1.0, (count, n)) for n in (mech.nq, mech.nv, mech.nv)]
        least = dict.fromkeys((1, cores), float("inf"))
        for _ in range(REPEATS):
            for number in least:
                os.environ["KINETOSTAT_THREADS"] = str(number)
                began = time.perf_counter()
                mech.forward_dynamics(*states)
                least[number] = min(least[number], (time.perf_counter() - began) / count)
        one, all_ = least[1], least[cores]
        print(f"| {machine.title} | {count} | {1e6 * one:.3g} | {1e6 * all_:.3g} | {all_ / one:.2f} |", flush=True)


if __name__ == "__main__":
    main()
