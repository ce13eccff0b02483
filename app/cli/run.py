"""kinetostat run FILE -o run.h5: simulate a machine without a window."""

from __future__ import annotations

import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

import click

from app.cli.machine import (
    FILE,
    READING,
    QuantityType,
    build_context,
    named_quantities,
    pose_options,
    read,
    reading_options,
    split_pairs,
)
from app.cli.terminal import say, say_progress
from core.simulation.methods import METHODS
from core.simulation.methods.method import ATOL, AUTOMATIC, RTOL
from core.simulation.run.settings import FACTORISATIONS

STOPPED = 130
"""Exit code of a command ended by Ctrl+C, as in shells."""


class Interruption:
    """Context manager in which Ctrl+C asks the computation to end (`asked`); a second Ctrl+C, or one before the
    computation has `begun`, ends the program at once."""

    def __init__(self) -> None:
        self.asked = self.begun = self._said = False
        self._hears = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Interruption:
        if self._hears:
            self._before = signal.signal(signal.SIGINT, self._on_interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        if self._hears:
            signal.signal(signal.SIGINT, self._before)

    def _on_interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if self.asked or not self.begun:
            raise KeyboardInterrupt
        self.asked = True

    def should_stop(self) -> bool:
        """Return True if the computation should end now; the first time, print a message. (The signal handler prints
        nothing because it may interrupt other output.)"""
        if self.asked and not self._said:
            self._said = True
            say("\nStopping. Press Ctrl+C again to end at once and discard data not yet written.", err=True)
        return self.asked


@click.command("run")
@FILE
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="Write the run: .h5 (complete), .csv or .sim (SIMNON); - for CSV on the output stream.",
)
@click.option("--duration", type=QuantityType("time"), default=10.0, show_default=True, help="Simulated time, in s.")
@click.option("--method", type=click.Choice(tuple(METHODS)), default=AUTOMATIC, show_default=True, help="Integrator.")
@click.option("--step", type=QuantityType("time"), help="Step size, or largest step of variable-step methods, in s.")
@click.option("--rtol", type=QuantityType("none"), default=RTOL, show_default=True, help="Relative tolerance per step.")
@click.option(
    "--atol", type=QuantityType("none"), default=ATOL, show_default=True, help="Absolute tolerance per step, SI."
)
@click.option("--sample", type=QuantityType("time"), help="Time between samples, in s.")
@click.option("--q0", multiple=True, metavar="JOINT=VALUE", help="Initial coordinate, in the form of --pose (repeat).")
@click.option(
    "--v0",
    "--speed",
    "speeds",
    multiple=True,
    metavar="JOINT=VALUE",
    help='Initial speed, e.g. joint1="30 deg/s" (repeat).',
)
@click.option("--point", metavar="NAME", help="Start at this operating point of the document, with its forces.")
@click.option(
    "--closed-forms/--no-closed-forms",
    default=True,
    show_default=True,
    help="Close loops analytically where possible, or all of them by iteration.",
)
@click.option(
    "--closing",
    type=QuantityType("none"),
    help="Iterative loop closure after each step: a number below 1 is the tolerance (rad, m), 1, 2 … the "
    "number of Gauss-Newton steps. Default: tolerance 1e-12.",
)
@click.option(
    "--factorisation",
    type=click.Choice(FACTORISATIONS, case_sensitive=False),
    default=FACTORISATIONS[0],
    show_default=True,
    help="Solver for loops without analytic closure: rank-revealing (automatic) detects redundant "
    "constraints, Cholesky is slightly faster but fails if constraints are dependent.",
)
@click.option(
    "--torque",
    "torques",
    multiple=True,
    metavar="JOINT=FORMULA",
    help='Joint force, N·m or N: a number or a formula such as "10*sin(t) - 2*joint1.v" (repeat).',
)
@click.option("--channels", metavar="NAME,NAME…", help="Channels to write, e.g. tool.position,energy.total.")
@pose_options
@reading_options
def command(
    model_file: str,
    output: str | None,
    speeds: tuple[str, ...],
    torques: tuple[str, ...],
    channels: str | None,
    sample: float | None,
    sets: tuple[str, ...],
    pose: tuple[str, ...],
    q0: tuple[str, ...],
    point: str | None,
    **options: Any,
) -> int:
    """Simulate a machine under gravity and the given joint forces, and write the motion.

    An .h5 file is written while the run goes on and stays readable whatever happens. Ctrl+C ends the run; what it
    did until then is written.
    """
    from core.errors import SimulationError
    from core.machine_code.supply import report_waiting
    from core.simulation import simulate

    reading = {name: options.pop(name) for name in READING}
    machine = build_context(read(model_file, **reading).model, sets, (*pose, *q0))
    names = [name.strip() for name in (channels or "").split(",") if name.strip()]
    growing = output is not None and output.lower().endswith((".h5", ".hdf5"))
    _check_output(machine, output, names)
    interruption = Interruption()
    progress = _Progress(sys.stderr.isatty(), interruption)
    try:
        with interruption, report_waiting(announce):
            mech, begin = _machine_and_start(machine, speeds, torques, point)
            run = simulate(
                mech,
                **begin,
                output=sample,
                file=output if growing else None,
                channels=names if growing else (),
                progress=progress,
                cancelled=interruption.should_stop,
                **options,
            )
    except SimulationError as error:
        if output and error.run is not None:
            if not growing:
                _write_run(error.run, output, names)
            say(f"The motion up to then is in {output}.", err=True)
        raise
    if output and not growing:
        _write_run(run, output, names)
    _print_summary(run, output, names)
    return STOPPED if run.statistics.ended else 0


def announce(text: str) -> None:
    """Print what is about to be computed, because it may take a while."""
    say(text, err=True)


STREAM = "-"
"""File name that stands for the standard output."""


def _write_run(run: Any, output: str, names: list[str]) -> None:
    """Write a run that was not already written during the computation."""
    if output != STREAM:
        run.save(output, names)
        return
    from core.simulation.run.run_file import format_csv

    for text in format_csv(run, names):
        say(text, nl=False)


def _check_output(machine: Any, output: str | None, names: list[str]) -> None:
    """Check, before a long run, that the channels exist and the file can be written. Raises KinetostatError."""
    from core.simulation.run.resampling import equilibrium_run
    from core.simulation.run.run_file import check_writable

    if output and output != STREAM:
        check_writable(output)
    if names:
        list(equilibrium_run(machine.mech, machine.q).table(names))


SOON = 0.5
"""Time after which the time left can be estimated, s."""


class _Progress:
    """Progress of a run: on a terminal a line on stderr with percentage and time left."""

    def __init__(self, counts: bool, interruption: Interruption | None = None) -> None:
        self.counts, self.interruption = counts, interruption or Interruption()
        self.first: tuple[float, float] | None = None

    def __call__(self, part: float) -> None:
        self.interruption.begun = True
        now = time.monotonic()
        began, before = self.first = self.first or (now, part)
        if not self.counts:
            return
        left = (now - began) * (1.0 - part) / max(part - before, 1e-9)
        said = ""
        if part < 1.0 and now - began >= SOON:
            said = f"   {left:.0f} s left" if left < 100.0 else f"   {left / 60.0:.0f} min left"
        say_progress(f"{100 * part:3.0f} %{said:16}", end=part >= 1.0)


def _machine_and_start(
    machine: Any, speeds: tuple[str, ...], torques: tuple[str, ...], point: str | None
) -> tuple[Any, dict[str, Any]]:
    """Return the machine and the initial values of its run: those of the options, which take precedence over an
    operating point."""
    begin = {"q0": machine.q, "v0": _parse_start_speeds(speeds, machine), "torque": parse_joint_forces(torques)}
    if not point:
        return machine.mech, begin
    if speeds or torques:
        raise click.UsageError("--point sets speeds and joint forces itself: omit --v0 and --torque.")
    from core.control.operating_point import OperatingPoint

    found = (
        OperatingPoint(machine.mech, machine.q, name=point, p=dict(machine.p) or None).solve().raise_unless_fulfilled()
    )
    return found.mech, found.start


def _parse_start_speeds(assignments: tuple[str, ...], machine: Any) -> dict[str, float] | None:
    """Return initial speeds by name, rad/s and m/s; None if none are given. Raises click.UsageError."""
    speeds: dict[str, float] = {}
    for name, text in split_pairs(assignments, "--v0").items():
        speeds |= named_quantities(machine.mech, "v", name, text, machine.values, f"--v0 {name}")
    return speeds or None


def parse_joint_forces(assignments: tuple[str, ...]) -> dict[str, str] | None:
    """Return the formulas of joint forces by joint; None if none are given. Raises click.UsageError."""
    return split_pairs(assignments, "--torque") or None


def _print_summary(run: Any, output: str | None, names: list[str]) -> None:
    """Print the computing cost of the run and the final values of the motion or of the requested channels; on stderr if
    the data go to stdout."""
    aside = output == STREAM
    s = run.statistics
    implicit = f", {s.jacobians} Jacobians, {s.factorizations} factorisations" if s.jacobians else ""
    if s.ended:
        say(f"Stopped at {run.time[-1]:.6g} s of {run.settings.start + run.settings.duration:g} s.", err=aside)
    span = float(run.time[-1] - run.time[0])
    say(
        f"{span:g} s in {s.seconds:.3g} s: {s.steps} steps, {s.rejected} rejected,"
        f" {s.evaluations} evaluations{implicit}, {len(run)} samples",
        err=aside,
    )
    for note in run.notes:
        say(note, err=True)
    if aside:
        return
    for name, values in run.table(names or [f"{name}.q" for name in run.mech.q_names]):
        say(f"{name:>24} {values[-1]: .9g}")
    if output:
        say(f"Wrote {output}")
