"""kinetostat film RUN.h5|MODEL -o film.mp4: film a motion without a window."""

from __future__ import annotations

import sys
from math import radians
from pathlib import Path
from typing import Any

import click

from app.cli.machine import FILE, READING, QuantityType, build_context, pose_options, read, reading_options
from app.cli.render import SizeType
from app.cli.terminal import say, say_progress
from core.functions.subjects.sequences import VIEWS
from core.simulation.methods.method import AUTOMATIC

ARROWS = ("force", "torque", "velocity", "acceleration", "omega")


@click.command("film")
@FILE
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False),
    help="Film to write: .mp4, .gif, or .png for one numbered picture per frame.",
)
@click.option(
    "--duration", type=QuantityType("time"), default=10.0, show_default=True, help="Simulated time of a model, in s."
)
@click.option("--fps", type=click.FloatRange(0.1, 240), default=30.0, show_default=True, help="Frames per second.")
@click.option("--size", type=SizeType(), default="1280x720", show_default=True, help="Pixels.")
@click.option("--speed", type=float, default=1.0, show_default=True, help="Ratio to real time: 0.1 is slow motion.")
@click.option("--from", "start", type=QuantityType("time", False), help="Begin at this time of the run, in s.")
@click.option("--to", "end", type=QuantityType("time", False), help="End at this time of the run, in s.")
@click.option(
    "--camera",
    "--view",
    "view",
    type=click.Choice(VIEWS),
    default="iso",
    show_default=True,
    help="Direction from which the camera looks.",
)
@click.option("--turn", type=float, default=0.0, metavar="DEGREES", help="Rotation of the camera per second of film.")
@click.option("--look", type=click.Choice(["light", "dark"]), default="light", show_default=True, help="Colours.")
@click.option("--caption/--no-caption", default=True, show_default=True, help="Show the time in the corner.")
@click.option("--trace", "followed", multiple=True, metavar="FRAME", help="Draw the path of a body or frame (repeat).")
@click.option(
    "--arrows",
    "arrows",
    multiple=True,
    metavar="KIND[:NAME]",
    help=f"Show vectors: {', '.join(ARROWS)}; of one element, or of all (repeat).",
)
@click.option("--method", default=AUTOMATIC, show_default=True, help="Integrator for a model.")
@click.option("--torque", "torques", multiple=True, metavar="JOINT=FORMULA", help="Joint force on a model (repeat).")
@pose_options
@reading_options
def command(
    model_file: str,
    output: str,
    size: tuple[int, int],
    look: Any,
    followed: tuple[str, ...],
    arrows: tuple[str, ...],
    turn: float,
    **options: Any,
) -> None:
    """Film a run (.h5), or a model that is simulated first; frame times and picture size are exact."""
    run = _run_to_film(model_file, options)
    from viz.film.film import render_film
    from viz.film.footage import FollowedPoint, footage_of_run

    filmed = {name: options[name] for name in ("fps", "speed", "start", "end", "view", "caption")}
    made = footage_of_run(
        run,
        turn=radians(turn),
        paths=[FollowedPoint(name) for name in followed],
        arrows=_requested_vectors(run.model, arrows),
        **filmed,
    )
    count = render_film(
        made, output, fps=options["fps"], size=size, look=look, progress=_show_progress if sys.stderr.isatty() else None
    )
    say(f"Wrote {output}: {count} frames, {size[0]} × {size[1]} pixels, {count / options['fps']:.3g} s")


def _run_to_film(file: str, options: dict[str, Any]) -> Any:
    """Return the run in an HDF5 file, or simulate a model and return its run."""
    from core.machine_code.supply import report_waiting
    from core.simulation import Run, simulate

    if Path(file).suffix.lower() in (".h5", ".hdf5"):
        return Run.load(file)
    from app.cli.run import announce, parse_joint_forces

    reading = {name: options[name] for name in READING}
    machine = build_context(read(file, **reading).model, options["sets"], options["pose"])
    if sys.stderr.isatty():
        say("Simulating …", err=True)
    with report_waiting(announce):
        run = simulate(
            machine.mech,
            options["duration"],
            q0=machine.q,
            method=options["method"],
            torque=parse_joint_forces(options["torques"]),
            output=min(1.0 / options["fps"], 0.01),
        )
    for note in run.notes:
        say(note, err=True)
    return run


def _requested_vectors(model: Any, arrows: tuple[str, ...]) -> list[Any]:
    """Return the requested vectors: those of one element, or of all elements that have vectors."""
    from viz.scene.vectors import possible_arrows

    found = []
    for text in arrows:
        kind, _, name = text.partition(":")
        if kind not in ARROWS:
            raise click.UsageError(f"--arrows: '{kind}' is not one of {', '.join(ARROWS)}.")
        every = possible_arrows(model, kind)
        chosen = [each for each in every if name in ("", each.name)]
        if not chosen:
            listed = ", ".join(each.name for each in every[:12]) or "none"
            raise click.UsageError(f"--arrows: '{name}' has no {kind}. There are: {listed}.")
        found += chosen
    return found


def _show_progress(fraction: float) -> None:
    say_progress(f"{100 * fraction:3.0f} %", end=fraction >= 1.0)
