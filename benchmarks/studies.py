"""`python -m benchmarks.studies [--runs 10000] [--cluster] [--write]`: runs of a UR5 in a study beside its loop alone.

The loop alone is the compiled loop of one run of 1 s, Runge–Kutta 4 with 1 ms, between two samples of which there is no
Python. A study varies two lengths and records the tool's place at the end and a joint's largest speed. Here the
processor time of a row is compared with the loop's, taking turns; on several cores the time that passes with that of a
loop while each core has one, times the number of runs through the number of cores; and the processor time of all
processes, which a busy computer changes less. --write puts the table into docs/studies.md. With --cluster also on a
Dask scheduler and as many workers, which are started here. Once with the limits of the joints as the example has them,
once without.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import kinetostat as ks
import resources
from benchmarks.document import tell
from core.machine_code.records import array_address
from core.simulation.run.begun_run import begin_contact_states
from core.studies.sample_rows import StudyMachine

PAGE = Path(__file__).parents[1] / "docs" / "studies.md"
TURNS = 12
"""In which rows and loops alone are measured, one after the other."""
EACH = 20
"""Rows of a turn."""
LOOPS_FOR = 4.0
"""Seconds for which loops run on all cores."""


def study(limits: str, runs: int) -> ks.Study:
    """Of the UR5, with its limits as "act" or "ideal" says."""
    model = ks.load(next(each.path for each in resources.examples() if each.path.stem == "ur5"))
    model = replace(model, world=replace(model.world, limits=limits))
    found = ks.Study(model, duration=1.0, method="rk4", step=1e-3)
    found.sample(runs, a2=ks.normal(0.425, 0.01), a3=ks.normal(0.392, 0.01), seed=1)
    return found.record(tip="at(tool.position, end)", worst="max(abs(joint2.v))")


def loop_of(machine: StudyMachine) -> Callable[[], None]:
    """The compiled loop of one run."""
    runs = machine.prepared
    p = machine.mech.parameter_values()
    assert runs.run({}, {}, {}, lambda: False) is not None
    made, advance, times = runs.reset_memory(p)
    room = np.empty((len(times), len(made.state.y)))

    def once() -> None:
        runs.reset_memory(p)
        begin_contact_states(made)
        made.state.budget = 1_000_000
        advance(made.state.place, array_address(room), len(times))

    return once


def processor_times(machine: StudyMachine, values: Any) -> tuple[float, float]:
    """(row, loop) least processor seconds, in turns."""
    once = loop_of(machine)
    machine.rows(values[:2])
    row, loop = [], []
    for _ in range(TURNS):
        began = time.process_time()
        machine.rows(values[:EACH])
        row.append((time.process_time() - began) / EACH)
        began = time.process_time()
        for _ in range(EACH):
            once()
        loop.append((time.process_time() - began) / EACH)
    return min(row), min(loop)


def loops_for(limits: str) -> None:
    """Wait for a line, then run the loop alone for some seconds, and tell the seconds of one."""
    once = loop_of(study(limits, 3).check())
    once()
    print("ready", flush=True)
    sys.stdin.readline()
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < LOOPS_FOR:
        once()
        count += 1
    print((time.perf_counter() - began) / count, flush=True)


def loop_on_all_cores(limits: str, cores: int) -> float:
    """Seconds of a loop alone while each core has one: two threads of one core are slower than two cores."""
    call = [sys.executable, "-m", "benchmarks.studies", "--loops", limits]
    piped: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(call, **piped) for _ in range(cores)]
    for each in processes:
        each.stdout.readline()
    for each in processes:
        each.stdin.write("\n")
        each.stdin.flush()
    return float(np.mean([float(each.communicate()[0]) for each in processes]))


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """The address of a scheduler with workers, in processes of their own."""
    from distributed import Client

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(each or os.getcwd() for each in sys.path)}
        quiet: dict[str, Any] = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        dask = [sys.executable, "-m", "dask"]
        begin = ["scheduler", "--host", "localhost", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
        worker = ["worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-dashboard", "--no-nanny"]
        processes = [subprocess.Popen([*dask, *each], **quiet) for each in (begin, *[worker] * workers)]
        try:
            make: Any = Client
            while not file.exists() and processes[0].poll() is None:
                os.sched_yield()
            with make(scheduler_file=str(file), timeout=60, set_as_default=False) as client:
                client.wait_for_workers(workers, timeout=60)
                address = str(client.scheduler.address)
            yield address
        finally:
            for each in processes:
                each.kill()
                each.wait()


class Spent(NamedTuple):
    """Seconds that passed, processor seconds of all processes, what the work gave."""

    seconds: float
    processor: float
    found: ks.StudyResult


def processor_seconds() -> float:
    """Of this process, and of those that it began and that have ended."""
    each = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in each)


def spent(work: Callable[[], tuple[float, ks.StudyResult]]) -> Spent:
    """Cost of a study; `work` returns the seconds that count."""
    before = processor_seconds()
    seconds, found = work()
    return Spent(seconds, processor_seconds() - before, found)


def timed(run: Callable[[], ks.StudyResult]) -> tuple[float, ks.StudyResult]:
    """Seconds that pass, and the result."""
    began = time.perf_counter()
    found = run()
    return time.perf_counter() - began, found


def on_cluster(asked: ks.Study, few: ks.Study, workers: int) -> tuple[float, ks.StudyResult]:
    """On a cluster that is there already, and has done a few rows of another study: its beginning, and that its workers
    read what they compute with, do not count."""
    with cluster(workers) as address:
        few.run(cluster=address)
        return timed(lambda: asked.run(cluster=address))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--loops", choices=("act", "ideal"), help="run the loop alone, for others")
    chosen = parser.parse_args()
    if chosen.loops:
        loops_for(chosen.loops)
        return
    cores = os.cpu_count() or 1
    columns = [dict(compare(limits, chosen.runs, cores, chosen.cluster)) for limits in ("act", "ideal")]
    rows = [f"| {what} | {' | '.join(column[what] for column in columns)} |" for what in columns[0]]
    words = (
        f"{chosen.runs:,} runs of a UR5 (1 s, Runge–Kutta 4 with 1 ms) as a study, beside its compiled loop alone; "
        f"{cores} cores that other programs use, too ({os.getloadavg()[0]:.1f} at a time before)."
    )
    tell("What it costs", "studies", [words, "", "| | limits act | limits ideal |", "| --- | --- | --- |", *rows], PAGE)


def compare(limits: str, runs: int, cores: int, with_cluster: bool) -> Iterator[tuple[str, str]]:
    """Measure one machine: what, and how much."""
    asked = study(limits, runs)
    machine = asked.check()
    row, loop = processor_times(machine, asked.declaration.values())
    yield (
        "processor time of a row; of the loop alone",
        f"{1e3 * row:.2f}; {1e3 * loop:.2f} ms: {row / loop:.2f} times",
    )
    smaller = study(limits, max(runs // 10, 3))
    few = smaller.run()
    places = {f"{cores} processes": lambda: timed(lambda: asked.run(cores=cores))}
    if with_cluster:
        places[f"Dask, {cores} workers"] = lambda: on_cluster(asked, smaller, cores)
    for title, work in places.items():
        before = loop_on_all_cores(limits, cores)
        cost = spent(work)
        together = 0.5 * (before + loop_on_all_cores(limits, cores))
        same = np.array_equal(cost.found.rows.results[: len(few)], few.rows.results)
        bound = runs * together
        yield (
            f"{title}: time that passes; processor time",
            f"{cost.seconds:.1f} s, {cost.seconds * cores / bound:.2f} times the loops alone on all cores; "
            f"{cost.processor:.1f} s, {cost.processor / bound:.2f} times theirs (a loop then {1e3 * together:.2f} ms)",
        )
        yield f"{title}: rows beside those of one process", "equal bit for bit" if same else "**DIFFERENT**"


if __name__ == "__main__":
    main()
