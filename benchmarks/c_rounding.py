"""Reasons for the difference between generated C of the published squeezer and the program's run: the distance over
time, compared with runs from neighbouring start poses and with half the step.

    python -m benchmarks.c_rounding [--write]

All with the constant joint forces, start and steps of the code's own test. `--write` puts the table into
docs/c_code.md.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kinetostat as ks
from benchmarks import problems
from benchmarks.document import tell
from core.c_code.generate import generate_c

Array = NDArray[np.float64]

STEP = 1e-3
"""s"""
AWAY = (1e-15, 1e-12)
"""rad"""
SHOWN = (0.02, 0.06, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
"""s"""
PAGE = Path(__file__).parents[1] / "docs" / "c_code.md"


def code_samples(mech: ks.Mechanism, closing: int = 2) -> tuple[Array, Array]:
    """(n,) times and (n, nq + nv) states of the reference with which the code's test compares every sample."""
    with tempfile.TemporaryDirectory() as room:
        found = generate_c(mech, Path(room) / "code", step=STEP, closing=closing, trial=False)
        lines = (found.folder / f"{found.name}_reference.csv").read_text(encoding="utf-8").splitlines()[1:]
    rows = np.array([[float.fromhex(each) for each in line.split(",")] for line in lines])
    assert not rows[:, 1 : 1 + mech.nv].any()  # nothing holds the squeezer but its spring
    return rows[:, 0] * STEP, rows[:, 1 + mech.nv :]


def run_samples(mech: ks.Mechanism, time: Array, q: Any, step: float = STEP) -> Array:
    """(n, nq + nv) states of the program's run at these times."""
    run = ks.simulate(mech, float(time[-1]), method="rk4", step=step, output=float(time[1]), q0=mech.assemble(q))
    at = [int(np.argmin(np.abs(run.time - t))) for t in time]
    return np.concatenate([run.q[at], run.v[at]], axis=1)


def apart(one: Array, other: Array) -> Array:
    """(n,) how far samples are apart, as a part of their size."""
    return np.asarray(np.max(np.abs(one - other), axis=1) / np.maximum(1.0, np.max(np.abs(one), axis=1)))


def table(mech: ks.Mechanism) -> list[str]:
    """Lines of it."""
    time, code = code_samples(mech)
    start = code[0, : mech.nq]
    own, rows = run_samples(mech, time, start), [apart(run_samples(mech, time, start), code)]
    for each in AWAY:
        beside = start.copy()
        beside[0] += each
        rows.append(apart(own, run_samples(mech, time, beside)))
    rows.append(apart(own, run_samples(mech, time, start, STEP / 2.0)))
    heads = ["code", *(f"start {each:.0e} rad away" for each in AWAY), "half the step"]
    lines = [f"| s | {' | '.join(heads)} | rad/s |", f"| ---: |{' ---: |' * (len(heads) + 1)}"]
    for t in SHOWN:
        k = int(np.argmin(np.abs(time - t)))
        shown = " | ".join(f"{row[k]:.0e}" for row in rows)
        lines.append(f"| {t:g} | {shown} | {np.max(np.abs(own[k, mech.nq :])):.0f} |")
    ends = {closing: apart(code, code_samples(mech, closing)[1])[-1] for closing in (1, 4)}
    words = ", ".join(f"`closing={closing}` {far:.0e}" for closing, far in ends.items())
    share = float(np.median(rows[0][1:] / rows[1][1:]))
    lines += ["", f"Difference of the code with other numbers of closing steps from that with two: {words}. In the"]
    lines += [f"median of all samples the code differs {share:.2f} times as much as the run whose start is"]
    lines += [f"{AWAY[0]:.0e} rad away."]
    return lines


def main() -> None:
    """The table."""
    tell("The squeezer's rounding", "c_rounding", table(ks.Mechanism(problems.andrews_squeezer().model)), PAGE)


if __name__ == "__main__":
    main()
