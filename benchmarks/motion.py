"""`python -m benchmarks.motion`: 10 s of a six-joint arm by RK4 at 1 ms, beside Pinocchio stepped from Python.

Prints milliseconds, the least of several repeats in one process, and how far the two ends are apart.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks.machines import machines  # noqa: E402
from benchmarks.measure import once  # noqa: E402
from benchmarks.peers import Pinocchio  # noqa: E402
from core.kernel import Mechanism  # noqa: E402
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
    first = once(lambda: simulate(mech, 0.1, **options))
    times = [once(lambda: simulate(mech, DURATION, output=0.01, **options)) for _ in range(7)]
    every = [once(lambda: simulate(mech, DURATION, **options)) for _ in range(7)]
    ends: list[Any] = []
    theirs = min(
        once(lambda: ends.append(rk4(peer, np.concatenate([start, np.zeros(peer.nv)]), round(PEER_DURATION / STEP))))
        for _ in range(3)
    ) * (DURATION / PEER_DURATION)  # fmt: skip
    mine = simulate(mech, PEER_DURATION, **options)
    apart = np.max(np.abs(np.concatenate([mine.q[-1], mine.v[-1]]) - ends[-1]))
    print(f"{machine.title}: {DURATION:g} s by RK4 at {1e3 * STEP:g} ms")
    print(f"  first run of this process, code cached or not  {1e3 * first:9.1f} ms")
    print(f"  samples every 10 ms                            {1e3 * min(times):9.1f} ms")
    print(f"  samples every step                             {1e3 * min(every):9.1f} ms")
    print(f"  Pinocchio's aba, RK4 in Python                 {1e3 * theirs:9.1f} ms  ({theirs / min(times):.0f} times)")
    print(f"  apart after {PEER_DURATION:g} s: {apart:.1e}")


if __name__ == "__main__":
    main()
