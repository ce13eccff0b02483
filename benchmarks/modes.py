"""`python -m benchmarks.modes [WORD] [--write]`: joints that stick, slip and meet stops, beside MuJoCo and Exudyn (`pip
install exudyn`; left out where it is not there).

Processor time of a run and its error in the end, against closed forms and published references: ours by method and
tolerance, MuJoCo by integrator, step and stiffness of stops, Exudyn by step and stiffness of what sticks or stops; of
each what is quickest at an error. WORD chooses problems.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import sys  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from itertools import zip_longest  # noqa: E402

from benchmarks import modes_in_exudyn, modes_in_mujoco  # noqa: E402
from benchmarks.document import tell  # noqa: E402
from benchmarks.measure import Result, least  # noqa: E402
from benchmarks.mode_problems import PROBLEMS, STEPS, Problem, Sample, error_of  # noqa: E402

METHODS = ("rk54", "rk853", "adams")
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
ERRORS = (1e-2, 1e-3, 1e-4, 1e-6)
"""m or rad."""
MOST_STEPS = 1_000_000
GOAL = 0.1
"""Of the time of the quickest peer."""


def our_runs(problem: Problem) -> Iterator[Sample]:
    """Of methods and tolerances; made ready once, as those of others, and begun anew for each run."""
    from core.mechanism import Mechanism
    from core.simulation.live import SliceIntegrator
    from core.simulation.run.initial_state import start_state

    mech, end = Mechanism(problem.model), problem.duration
    y = start_state(mech, problem.q0, problem.v0, mech.parameter_values())
    whole = {"torque": problem.torque, "start": 0.0, "duration": end, "parameters": None, "step": None}
    for method in METHODS:
        for tolerance in TOLERANCES:
            accuracy = {"method": method, "rtol": tolerance, "atol": 1e-2 * tolerance}
            slices = SliceIntegrator(mech, y, end, closed_forms=None, max_steps=MOST_STEPS, **whole, **accuracy)

            def work(slices: SliceIntegrator = slices) -> Result:
                run = slices.integrate_slice(y, 0.0, end)
                return run.statistics.cpu, error_of(problem, run.q[-1], run.v[-1])

            yield Sample(method, f"{method}, {tolerance:g}", *least(work))


PROGRAMS = {"Kinetostat": our_runs, "MuJoCo": modes_in_mujoco.runs, "Exudyn": modes_in_exudyn.runs}


def found(problem: Problem, program: str) -> list[Sample]:
    """Time of a program; None if it is not installed."""
    try:
        return without_luck(list(PROGRAMS[program](problem)))
    except ImportError:
        return []


def without_luck(samples: list[Sample]) -> list[Sample]:
    """With the error of the next finer run of the family where that is larger: long steps may end near by chance."""
    return [
        each._replace(error=max(each.error, after.error)) if after is not None and after.family == each.family else each
        for each, after in zip_longest(samples, samples[1:])
    ]


def quickest(samples: list[Sample], error: float) -> tuple[float, str]:
    """(processor seconds, setting) of the quickest run with at most this error; infinite: there is none."""
    return min(((each.seconds, each.setting) for each in samples if each.error <= error), default=(float("inf"), ""))


def at_equal_error(mine: list[Sample], others: list[Sample]) -> str:
    """The most of their time that a run of ours takes which no other of ours betters, beside the quickest of theirs
    with at most its error."""
    front = [each for each in mine if not any(one.seconds < each.seconds and one.error <= each.error for one in mine)]
    share, sample = max(((each.seconds / quickest(others, each.error)[0], each) for each in front), key=lambda x: x[0])
    return f"{share:.2g} ({sample.error:.0e})" if share else "–"


def rows(problem: Problem) -> Iterator[str]:
    """Of the table: a row for each program."""
    results = {program: found(problem, program) for program in PROGRAMS}
    mine = [quickest(results["Kinetostat"], error)[0] for error in ERRORS]
    for program, each in results.items():
        if not each:
            continue
        cells = []
        for error, ours in zip(ERRORS, mine, strict=True):
            seconds, setting = quickest(each, error)
            times = "" if program == "Kinetostat" else f" ({ours / seconds:.2g})"
            cells.append("–" if not setting else f"{1e3 * seconds:.3g}{times}")
        cells.append("" if program == "Kinetostat" else at_equal_error(results["Kinetostat"], each))
        best = min(each, key=lambda sample: sample.error)
        cells.append(f"{best.error:.0e}: {best.setting}")
        yield f"| {problem.title} | {program} | {' | '.join(cells)} |"


def main() -> None:
    """Measure and print."""
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    lines = [
        "Processor time in ms of a run whose final error, with this and with the next finer setting, is at most",
        "the given one (m or rad; a speed is converted to the corresponding distance); in brackets our time",
        "divided by theirs. *At equal error*: the largest ratio of the time of one of our runs to that of the",
        f"fastest run of the others with at most the same error, which is named after it (goal: {GOAL:g}). Last",
        "column: the smallest error reached with any setting. The steps of the others are",
        f"{STEPS[0]:g} to {STEPS[-1]:g} s. MuJoCo's `frictionloss` has one level for rest and motion, so the",
        "motions of blocks and belt differ there; its limits are soft by design. Exudyn's stops pull until they",
        "are left. All programs are prepared once and restarted for each run. If errors of 1e-2 are allowed,",
        "spring and belt take more than a tenth of the fastest: changes of the contact state are located",
        "regardless of the tolerance, so our runs are more accurate than required, and none takes less than some",
        "tens of µs.",
        "",
        "| problem | program | " + " | ".join(f"{error:g}" for error in ERRORS) + " | equal error | least error |",
        "| --- | --- |" + " ---: |" * (len(ERRORS) + 1) + " --- |",
    ]
    for make in PROBLEMS:
        problem = make()
        if not words or any(word in problem.title for word in words):
            for row in rows(problem):
                lines.append(row)
                print(row, file=sys.stderr, flush=True)
    tell("Friction and stops", "modes", lines)


if __name__ == "__main__":
    main()
