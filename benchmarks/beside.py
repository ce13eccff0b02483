"""`python -m benchmarks.beside CHECKOUT [NAME …] [--repeats N] [--methods rk4,radau]`: runs of the examples here beside
another checkout of the program.

Processor time an evaluation of runs by iteration (loops without closed forms), and of the whole call of `simulate`, in
two processes that take turns: the medians of the ratios, here over there, and whether both end at the same place.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

DURATIONS = {"rk4": 2.0, "rk853": 2.0, "radau": 1.0}
STEPS = (1e-3, 1e-4, 1e-5)
"""s, of fixed steps: the first with which both come to the end; stiff springs diverge with long ones."""
TARGET = 0.06
"""Seconds that one repeat lasts at least; runs are repeated until it is reached."""


def serve() -> None:
    """Answer each line, a machine, a method and a step (s), with what a repeat took or with why there is no run; in the
    checkout that is the folder."""
    sys.meta_path[:] = [
        finder for finder in sys.meta_path if "editable" not in repr(finder)
    ]  # of an installed checkout
    import kinetostat as ks
    from resources import examples

    paths = {example.path.stem: example.path for example in examples()}
    known: dict[str, Any] = {}
    for line in sys.stdin:
        name, method, step = line.split()
        mech = known.setdefault(name, None) or ks.Mechanism(ks.load(paths[name]))
        known[name] = mech
        fixed = {"step": float(step)} if method == "rk4" else {"rtol": 1e-6, "atol": 1e-8}
        spent = count = calls = 0
        began = time.thread_time()
        try:
            while spent < TARGET:
                run = ks.simulate(
                    mech, DURATIONS[method], method=method, output=DURATIONS[method], closed_forms=False, **fixed
                )
                spent, count = spent + run.statistics.cpu, count + run.statistics.evaluations
                calls += 1
            whole = (time.thread_time() - began) / calls
            answer = [spent / count, run.q[-1].tolist(), run.statistics.evaluations, whole]
        except ks.KinetostatError as error:
            answer = [str(error)]
        print(json.dumps(answer), flush=True)


class Checkout:
    """A process in a checkout."""

    def __init__(self, folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).resolve()), "--serve"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, name: str, method: str, step: float) -> list[Any]:
        """Seconds an evaluation, where the run ends, its evaluations, seconds a call. Raises ChildProcessError."""
        channel, answers = self._process.stdin, self._process.stdout
        assert channel is not None
        assert answers is not None
        channel.write(f"{name} {method} {step}\n")
        channel.flush()
        while answer := answers.readline():
            if answer.startswith("["):
                found = list(json.loads(answer))
                if isinstance(found[0], str):
                    raise ChildProcessError(found[0])
                return found
        raise ChildProcessError("the process ended")


def compare(other: Path, names: list[str], methods: list[str], repeats: int) -> None:
    """Print a row per machine and method."""
    here = Path(__file__).resolve().parent.parent
    pair = [Checkout(here), Checkout(other)]
    for name in names:
        for method in methods:
            for step in STEPS:
                try:
                    row = _row(pair, name, method, step, repeats)
                    break
                except ChildProcessError as error:
                    row = f"no run: {error}"
                    pair = [Checkout(here), Checkout(other)]
            print(f"{name:20} {method:6} {row}", flush=True)


def _row(pair: list[Checkout], name: str, method: str, step: float, repeats: int) -> str:
    """Time of one machine in both checkouts, as a row of the table."""
    first = [each.ask(name, method, step) for each in pair]
    rounds = [[each.ask(name, method, step) for each in pair] for _ in range(repeats)]
    ratio, calls = (statistics.median(a[k] / b[k] for a, b in rounds) for k in (0, -1))
    mine, others = (statistics.median(each[0] for each in side) for side in zip(*rounds, strict=True))
    apart = max((abs(a - b) for a, b in zip(first[0][1], first[1][1], strict=True)), default=0.0)
    times = f"{1e6 * mine:8.3f} {1e6 * others:8.3f} µs  ratio {ratio:.3f}  of calls {calls:.3f}  apart {apart:.0e}"
    shorter = f"  step {step:g} s" if step < STEPS[0] else ""
    return f"{times}  evaluations {first[0][2]} {first[1][2]}{shorter}"


def main() -> None:
    """Read the command line."""
    if sys.argv[1:] == ["--serve"]:
        serve()
        return
    from resources import examples

    parser = argparse.ArgumentParser()
    parser.add_argument("checkout", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--methods", default="rk4")
    given = parser.parse_args()
    names = given.names or [example.path.stem for example in examples() if example.path.suffix == ".kst"]
    compare(given.checkout.resolve(), names, given.methods.split(","), given.repeats)


if __name__ == "__main__":
    main()
