"""`python -m benchmarks.work_precision [WORD] [--write]`: processor time against error, all programs in one process.

The error is that of the coordinates at the end, the largest, against this program's solution by a method of high order
with tolerances near the limit of the numbers (checked against a second method). WORD chooses machines by a word of
their title; --write puts the table into docs/work_precision.md.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import sys  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks import problems, solvers  # noqa: E402
from benchmarks.document import put  # noqa: E402
from benchmarks.measure import Result, least  # noqa: E402
from benchmarks.problems import Problem  # noqa: E402
from core.mechanism import Mechanism  # noqa: E402
from core.simulation import simulate  # noqa: E402

DOCUMENT = Path(__file__).parents[1] / "docs" / "work_precision.md"
HEAD = """# Work and precision

Made by `.venv/bin/python -m benchmarks.work_precision --write`: processor time of the integration alone against the
largest error of a coordinate at the end; all in one process, one after another, the least of several runs. Between
measured tolerances times are interpolated; –: an error that was not reached, or only by runs of more than a few
seconds. Goal: at equal error at most 1/10 of the fastest peer's time.

Pinocchio, MuJoCo and Exudyn have models of their own, made from one description; those of Pinocchio and MuJoCo must
give the same accelerations to 1e-10 before they are timed. IDAS, CVODES and SciPy's implicit methods get this program's
equations as CasADi's expressions, which CasADi interprets and differentiates.

{head}
"""
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
METHODS = {False: ("rk54", "rk853", "adams"), True: ("radau", "radau5", "rk54")}
"""Of ours, for machines that are stiff and others."""
LONGEST = 3.0
"""Processor seconds of all repeats of a peer at one setting after which no tighter one is tried."""
LEVELS = (1e-4, 1e-6, 1e-8)
"""Errors at which times are compared."""


class Point(NamedTuple):
    """One run: who, with which tolerance or step, how wrong, how long (processor seconds)."""

    who: str
    setting: float
    error: float
    seconds: float


def arm() -> Problem:
    """The UR5 let go from a bent pose, without friction."""
    from benchmarks.machines import machines

    model = next(m.model for m in machines(()) if "6 joints" in m.title)
    names = [joint.name for joint in model.joints if joint.info.nv]
    return Problem(model, 2.0, dict(zip(names, np.linspace(0.1, 0.9, len(names)), strict=True)), None, None, {}, {})


def slow_governor() -> Problem:
    """The flyball governor begins at the speed of Exudyn's example."""
    return problems.flyball_governor()._replace(v0={"phi": 0.16 * 2.0 * np.pi})


PROBLEMS = {
    "double pendulum, 3 s": (problems.double_pendulum, "rk853"),
    "UR5, 2 s": (arm, "rk853"),
    "planar four-bar, 2 s": (problems.four_bar, "rk853"),
    "Andrews' squeezer, 0.03 s": (problems.andrews_squeezer, "rk853"),
    "flyball governor, ω₀ = 2π (IFToMM library), 10 s, stiff": (problems.flyball_governor, "radau"),
    "flyball governor, ω₀ = 0.16 · 2π (Exudyn's example), 10 s, stiff": (slow_governor, "radau"),
}


def mine(mech: Mechanism, problem: Problem, method: str, tolerance: float) -> tuple[float, Any]:
    """Processor seconds of the integration, and the end."""
    options: dict[str, Any] = {"q0": problem.q0, "v0": problem.v0, "torque": problem.torque}

    def one() -> Result:
        run = simulate(
            mech,
            problem.duration,
            method=method,
            rtol=max(tolerance, 1e-13),
            atol=1e-2 * tolerance,
            output=problem.duration,
            **options,
        )
        return run.statistics.cpu, run.q[-1]

    return least(one)


def measured(problem: Problem, sharpest: str) -> list[Point]:
    """All programs on one machine."""
    mech = Mechanism(problem.model)
    options: dict[str, Any] = {"q0": problem.q0, "v0": problem.v0, "torque": problem.torque}
    sharp = simulate(
        mech, problem.duration, method=sharpest, rtol=1e-13, atol=1e-15, output=problem.duration, **options
    )
    start, end = np.concatenate([sharp.q[0], sharp.v[0]]), sharp.q[-1]
    points = []
    for method in METHODS[problem.stiff]:
        for tolerance in TOLERANCES:
            seconds, q = mine(mech, problem, method, tolerance)
            points.append(Point(f"Kinetostat {method}", tolerance, float(np.max(np.abs(q - end))), seconds))
    for kind in solvers.PEERS:
        try:
            peer = kind(mech, problem, start)
        except (ValueError, ImportError, StopIteration):
            continue
        points += _of_peer(kind.name, peer, end)
    return points


def _of_peer(name: str, peer: Any, end: Any) -> list[Point]:
    """A peer at its settings, the loosest first, until a run takes too long."""
    points = []
    for setting in peer.settings:
        began = time.process_time()
        try:
            seconds, q = peer(setting)
            points.append(Point(name, setting, float(np.max(np.abs(q[: len(end)] - end))), seconds))
        except Exception as error:  # a peer that fails is told, not hidden
            print(f"{name} at {setting:g}: {str(error)[:120]}", file=sys.stderr)
        if time.process_time() - began > LONGEST:
            break
    return points


def at_error(points: list[Point], who: str, level: float) -> float:
    """Processor seconds for an error, between measured points (log–log); NaN beyond them."""
    own = sorted((p.error, p.seconds) for p in points if p.who == who and p.error > 0.0)
    below = [pair for pair in own if pair[0] <= level]
    above = [pair for pair in own if pair[0] > level]
    if not below:
        return float("nan")
    if not above:
        return min(seconds for _, seconds in below)
    (e0, t0), (e1, t1) = below[-1], above[0]
    part = (np.log(level) - np.log(e0)) / (np.log(e1) - np.log(e0))
    return float(np.exp(np.log(t0) + part * (np.log(t1) - np.log(t0))))


def table(title: str, points: list[Point]) -> str:
    """Markdown of one machine."""
    names = list(dict.fromkeys(p.who for p in points))
    lines = [
        f"## {title}",
        "",
        "| program | " + " | ".join(f"error {level:g}" for level in LEVELS) + " |",
        "| --- |" + " ---: |" * len(LEVELS),
    ]
    times = {name: [at_error(points, name, level) for level in LEVELS] for name in names}
    for name, row in times.items():
        lines.append(f"| {name} | " + " | ".join("–" if np.isnan(t) else f"{1e3 * t:.3g} ms" for t in row) + " |")
    ratios = []
    for k in range(len(LEVELS)):
        own = [row[k] for name, row in times.items() if name.startswith("Kinetostat") and not np.isnan(row[k])]
        peers = [row[k] for name, row in times.items() if not name.startswith("Kinetostat") and not np.isnan(row[k])]
        ratios.append(f"{min(own) / min(peers):.3g}" if own and peers else "–")
    lines.append("| *best of ours ÷ fastest peer* | " + " | ".join(ratios) + " |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Measure, print, write when asked."""
    from benchmarks.__main__ import processor

    only = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    parts = [HEAD.format(head=f"{processor()}; one thread, load of the machine {os.getloadavg()[0]:.1f}.")]
    chosen = {title: given for title, given in PROBLEMS.items() if not only or only in title}
    for title, (make, sharpest) in chosen.items():
        print(title, file=sys.stderr, flush=True)
        parts.append(table(title, measured(make(), sharpest)))
        print(parts[-1], flush=True)
    text = "\n".join(parts)
    if "--write" in sys.argv and only:
        put(text, DOCUMENT)
    elif "--write" in sys.argv:
        DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
