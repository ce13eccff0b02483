"""Reports of measurements as tables of pages."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.machines import CHAINS, Machine, machines
from benchmarks.measure import Time, once, together
from benchmarks.native_pinocchio import native
from benchmarks.peers import FUNCTIONS, peers
from core.mechanism import Mechanism
from core.programs import program

METHODS = {
    "forward dynamics": "forward_dynamics",
    "inverse dynamics": "inverse_dynamics",
    "mass matrix": "mass_matrix",
    "Jacobian": "jacobian",
}


DOCUMENT = """# Benchmarks

Made by `.venv/bin/python -m benchmarks --write` (`make bench` prints the same): all programs run alternately in one
process; processor time, minimum of 7 repeats (3 for 1000 bodies).

{head}

Times are µs per evaluation. *single*: one call from Python; *arrays*: per state of one call on an array of states;
*inside*: per state of the loop in machine code. *C++*: per state of a loop over Pinocchio's algorithms, compiled for
this processor with `-O3 -march=native` if a compiler is available (`benchmarks/native`); it runs in a separate process,
alternating with the others. Pinocchio and MuJoCo: one call from their own Python interfaces, including an overhead
of about 0.5 to 1 µs. MuJoCo's forward dynamics also prepare actuation and sensors, of which there are none here;
contacts and constraints are off. States are within the joint limits, beyond which our machines have stops and the
others do not.

| machine | function | single | arrays | inside | C++ | Pinocchio | MuJoCo | inside ÷ C++ | arrays ÷ | single ÷ |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{rows}

## From a model to results

Forward dynamics of a new machine (no cache), milliseconds. *First*: topology, trace and one evaluation
by the interpreter; *machine code*: from the trace to callable code, in the background.

| machine | first result | machine code |
| --- | ---: | ---: |
{starts}

## Goals and results

{goals}
"""


class Row(NamedTuple):
    """One machine and function: seconds per evaluation."""

    machine: str
    function: str
    single: Time
    arrays: Time
    inside: Time | None
    native: Time | None
    theirs: dict[str, Time]


class Start(NamedTuple):
    """Seconds from a model to results, and of compiling."""

    machine: str
    first: float
    compiled: float


def _states(mech: Mechanism, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    low = np.array([-1.0 if c.lower is None or c.upper is None else c.lower for c in mech.coordinates])
    high = np.array([1.0 if c.lower is None or c.upper is None else c.upper for c in mech.coordinates])
    v, u = (rng.uniform(-1.0, 1.0, (count, mech.nv)) for _ in range(2))
    return rng.uniform(low, high, (count, mech.nq)), v, u


def _call(mech: Mechanism, function: str) -> Callable[[Any, Any, Any], Any]:
    method = getattr(mech, METHODS[function])
    if function == "mass matrix":
        return lambda q, v, u: method(q)
    if function == "Jacobian":
        tip = mech.model.bodies[-1].name
        return lambda q, v, u: method(q, tip)
    return method


def _inside(mech: Mechanism, function: str, states: tuple[np.ndarray, ...]) -> Callable[[], Any] | None:
    """The loop over states in machine code alone, without Python's conversions."""
    name = METHODS[function] if function != "Jacobian" else "jacobian:" + mech.model.bodies[-1].name
    if mech.compiled.is_very_long and function == "mass matrix":
        return None  # it ends in NumPy
    evaluator = mech.compiled.evaluator(name)
    inputs = list(states[: len(evaluator.sizes)])
    out, code, p = np.empty((len(states[0]), evaluator.size)), evaluator.code, evaluator.p
    return lambda: code.evaluate_batch(inputs, p, out)


class Report:
    """Measurements of all machines."""

    def __init__(self, *, quick: bool) -> None:
        self.machines = machines(CHAINS[:1] if quick else CHAINS)
        self.rows: list[Row] = []
        self.starts: list[Start] = []

    def measure(self, tell: Callable[[str], None]) -> None:
        """Measure everything."""
        self.starts = [self._start(machine) for machine in self.machines]
        for machine in self.machines:
            mech, others = Mechanism(machine.model), peers(machine)
            for function in FUNCTIONS:
                tell(f"{machine.title}: {function}")
                self.rows.append(self._row(machine, mech, function, others))

    def _start(self, machine: Machine) -> Start:
        """The first forward dynamics of a machine never seen before."""
        Mechanism(machines(())[0].model if machines(()) else machine.model)  # imports are done
        program.drop_programs()
        states: list[np.ndarray] = []

        def first() -> None:
            mech = Mechanism(machine.model)
            states.extend(s[0] for s in _states(mech, 1))
            mech.forward_dynamics(*states)
            made.append(mech)

        made: list[Mechanism] = []
        seconds = once(first)
        made[0].compile("forward_dynamics")
        return Start(machine.title, seconds, made[0].compile_times["forward_dynamics"])

    def _row(self, machine: Machine, mech: Mechanism, function: str, others: list[Any]) -> Row:
        count = max(20, 4000 // machine.bodies)
        if function in ("mass matrix", "Jacobian") and machine.bodies > 100:
            count = max(2, 400 // machine.bodies)
        states = _states(mech, count)
        q, v, u = (s[0].copy() for s in states)
        mine = _call(mech, function)
        mine(q, v, u)
        mech.compile()
        calls: dict[str, Callable[[], Any]] = {"single": lambda: mine(q, v, u), "arrays": lambda: mine(*states)}
        inside = _inside(mech, function, states)
        if inside is not None:
            calls["inside"] = inside
        for other in others:
            try:
                call = other.call(function)
            except ValueError:
                continue
            numbers = tuple(np.zeros(n) for n in (other.nq, other.nv, other.nv))
            for target, source in zip(numbers, (q, v, u), strict=True):
                target[: min(len(target), len(source))] = source[: min(len(target), len(source))]
            calls[other.name] = lambda call=call, numbers=numbers: call(*numbers)
        with native(others, states) as loops:
            if loops is not None:
                calls["C++"] = loops.call(function)
            times = together(calls, repeats=7 if machine.bodies <= 200 else 3)
        each = {
            name: Time(times[name].least / count, times[name].median / count)
            for name in ("arrays", "inside", "C++")
            if name in times
        }
        theirs = {other.name: times[other.name] for other in others if other.name in times}
        return Row(
            machine.title, function, times["single"], each["arrays"], each.get("inside"), each.get("C++"), theirs
        )

    # ----------------------------------------------------------------------------------- telling

    def text(self, head: str) -> str:
        """The document."""
        rows = "\n".join(map(_line, self.rows))
        starts = "\n".join(f"| {s.machine} | {1e3 * s.first:.0f} | {1e3 * s.compiled:.0f} |" for s in self.starts)
        return DOCUMENT.format(head=head, rows=rows, starts=starts, goals="\n".join(self._goals()))

    def _goals(self) -> list[str]:
        """Table of the goals and the values reached."""
        arms = [row for row in self.rows if "joints" in row.machine and "Pinocchio" in row.theirs]
        inside = [_ratio(row.inside, row.theirs["Pinocchio"]) for row in arms if row.inside]
        arrays = [_ratio(row.arrays, row.theirs["Pinocchio"]) for row in arms]
        single = [_ratio(row.single, row.theirs["Pinocchio"]) for row in arms]
        lines: list[str] = []
        if arms:
            lines += [
                *_inside_native(self.rows),
                f"- Arms, inside compiled code at most 1/4 of Pinocchio's call: {_span(inside)} of it.",
                f"- Arms, arrays of states at most 1/4 of a loop over Pinocchio: {_span(arrays)} of it.",
                f"- Arms, single calls from Python faster than Pinocchio's: {_span(single)} of its time.",
            ]
        long = next((r for r in self.rows if r.machine == "chain of 1000" and "MuJoCo" in r.theirs), None)
        if long is not None:
            ratio = _ratio(long.single, long.theirs["MuJoCo"])
            lines.append(f"- 1000 bodies no slower than MuJoCo's forward dynamics: {ratio:.1g} of its time.")
        forward = {r.machine: r.arrays.least for r in self.rows if r.function == "forward dynamics"}
        if {"chain of 50", "chain of 1000"} <= forward.keys():
            growth = math.log(forward["chain of 1000"] / forward["chain of 50"]) / math.log(20.0)
            lines.append(f"- Cost linear in the bodies: from 50 to 1000 bodies it grows with the power {growth:.2f}.")
        starts = {s.machine: s for s in self.starts}
        for title, first, compiled in (
            ("UR5, 6 joints", 0.1, 0.5),
            ("chain of 50", None, 3.0),
            ("chain of 1000", None, 10.0),
        ):
            if title in starts:
                goal = f"first result within {first} s: {starts[title].first:.2f} s; " if first else ""
                lines.append(f"- {title}: {goal}machine code within {compiled} s: {starts[title].compiled:.2f} s.")
        return lines


def _inside_native(rows: list[Row]) -> list[str]:
    """Beside Pinocchio from C++, where it could be compiled."""
    found = {
        who: [
            _ratio(row.inside, row.native)
            for row in rows
            if row.inside and row.native and ("joints" in row.machine) == arm
        ]
        for who, arm in (("Arms", True), ("Chains", False))
    }
    return [
        f"- {who}, inside compiled code, compared with a loop over Pinocchio in C++: {_span(ratios)} of its time."
        for who, ratios in found.items()
        if ratios
    ]


def _ratio(mine: Time, theirs: Time) -> float:
    return mine.least / theirs.least


def _span(ratios: list[float]) -> str:
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


def _micro(time: Time | None) -> str:
    return "" if time is None else f"{1e6 * time.least:.3g}"


def _line(row: Row) -> str:
    theirs = [_micro(row.theirs.get(name)) for name in ("Pinocchio", "MuJoCo")]
    best = min(row.theirs.values(), key=lambda t: t.least, default=None)
    inside = f"{_ratio(row.inside, row.native):.2f}" if row.inside and row.native else ""
    ratios = ["", ""] if best is None else [f"{_ratio(row.arrays, best):.2f}", f"{_ratio(row.single, best):.2f}"]
    own = [_micro(time) for time in (row.single, row.arrays, row.inside, row.native)]
    return f"| {' | '.join([row.machine, row.function, *own, *theirs, inside, *ratios])} |"
