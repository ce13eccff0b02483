"""`python -m benchmarks.motion [--write]`: 10 s of a six-joint arm by RK4 at 1 ms, beside Pinocchio in Python.

Prints milliseconds of processor time, the least of several repeats in one process, and how far the two ends are apart.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks.document import tell  # noqa: E402
from benchmarks.machines import machines  # noqa: E402
from benchmarks.measure import processor_time  # noqa: E402
from benchmarks.peers import Pinocchio  # noqa: E402
from core.mechanism import Mechanism  # noqa: E402
from core.simulation import simulate  # noqa: E402

DURATION, STEP = 10.0, 1e-3
PEER_DURATION = 1.0
"""Pinocchio is stepped for less, and its time scaled."""


def rk4(peer: Pinocchio, y: Any, steps: int) -> Any:
    """RK4 in Python around Pinocchio's aba."""
    pin, n, h, tau = peer.pin, peer.nq, STEP, np.zeros(peer.nv)

    def f(y: Any) -> Any:
        return np.concatenate([y[n:], pin.aba(peer.model, peer.data, y[:n], y[n:], tau)])

    for _ in range(steps):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def main() -> None:
    """Measure and print."""
    machine = next(m for m in machines(()) if "6 joints" in m.title)
    mech, peer = Mechanism(machine.model), Pinocchio(machine)
    start = np.linspace(0.1, 0.9, mech.nq)
    options: dict[str, Any] = {"method": "rk4", "step": STEP, "q0": start}
    simulate(mech, 0.1, **options)
    times = [simulate(mech, DURATION, output=0.01, **options).statistics.cpu for _ in range(7)]
    every = [simulate(mech, DURATION, **options).statistics.cpu for _ in range(7)]
    y = np.concatenate([start, np.zeros(peer.nv)])
    seconds, end = processor_time(lambda: rk4(peer, y, round(PEER_DURATION / STEP)))
    theirs = seconds * DURATION / PEER_DURATION
    mine = simulate(mech, PEER_DURATION, **options)
    apart = np.max(np.abs(np.concatenate([mine.q[-1], mine.v[-1]]) - end))
    lines = [
        f"{machine.title}, {DURATION:g} s by RK4 at {1e3 * STEP:g} ms; after {PEER_DURATION:g} s {apart:.0e} apart.",
        "",
        "| | processor time |",
        "| --- | ---: |",
        f"| samples every 10 ms | {1e3 * min(times):.1f} ms |",
        f"| samples every step | {1e3 * min(every):.1f} ms |",
        f"| Pinocchio's aba, RK4 in Python | {1e3 * theirs:.0f} ms, {theirs / min(times):.0f} times |",
    ]
    tell("Fixed steps", "motion", lines)


if __name__ == "__main__":
    main()
