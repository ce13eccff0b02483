"""kinetostat plot RUN.h5 CHANNEL… -o file: plot channels of runs without a window."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.cli.machine import QuantityType
from app.cli.render import SizeType
from app.cli.terminal import say
from app.plotting.formats import list_suffixes

if TYPE_CHECKING:
    from core.simulation import Run

RUN = click.Path(dir_okay=False)


@click.command("plot")
@click.argument("run_file", metavar="RUN.h5", type=RUN)
@click.argument("channels", metavar="CHANNEL…", nargs=-1)
@click.option("-o", "--output", type=RUN, help=f"File: {list_suffixes()}.")
@click.option(
    "--with",
    "others",
    multiple=True,
    metavar="RUN.h5",
    type=RUN,
    help="Another run to plot together with the first (repeat).",
)
@click.option("--x", "across", default="time", show_default=True, metavar="CHANNEL", help="The horizontal axis.")
@click.option("--apart", is_flag=True, help="Draw a separate plot for each channel, one above another.")
@click.option(
    "--size",
    type=SizeType(),
    default="960x420",
    show_default=True,
    help="Size of one plot in pixels; a PNG has twice the resolution.",
)
@click.option("--from", "start", type=QuantityType("time", False), help="Show the run from this time on, in s.")
@click.option("--to", "end", type=QuantityType("time", False), help="Show the run up to this time, in s.")
@click.option(
    "--look", type=click.Choice(["light", "dark"]), default="light", show_default=True, help="Colours of a PNG."
)
@click.option("--angles", type=click.Choice(["deg", "rad"]), default="deg", show_default=True, help="Unit of angles.")
@click.option("--lengths", type=click.Choice(["m", "mm"]), default="m", show_default=True, help="Unit of lengths.")
def command(
    run_file: str,
    channels: tuple[str, ...],
    output: str | None,
    others: tuple[str, ...],
    across: str,
    apart: bool,
    size: tuple[int, int],
    start: float | None,
    end: float | None,
    look: str,
    angles: str,
    lengths: str,
) -> None:
    """Draw channels of a run as the window does, or list the channels when none is given.

    A channel is a name (joint1.q), a component (tool.position.x) or a formula of them ("joint1.tau*joint1.v").
    """
    runs = [(Path(file).stem, _load_run(file)) for file in (run_file, *others)]
    if not channels:
        say("\n".join(runs[0][1].channels))
        return
    if output is None:
        raise click.UsageError(f"Name the file to write with -o: {list_suffixes()}.")
    from viz.system_libraries import require_libraries

    require_libraries("chart")
    from app.plotting.channels import plain_number_notes
    from app.plotting.headless import PlotDisplayUnits, PlotSettings, write_plots

    units = PlotDisplayUnits(angles == "deg", lengths == "mm")
    plot_settings = PlotSettings(channels, across, apart, size, start, end, look == "dark", units)
    count = write_plots(runs, plot_settings, output)
    say(f"Wrote {output}: {count} curve{'s' * (count != 1)}")
    for note in [note for name in (across, *channels) for note in plain_number_notes(runs[0][1], name, units)]:
        say(f"Note: {note}")


def _load_run(file: str) -> Run:
    """Read the run of an HDF5 file. Raises FileError."""
    from core.simulation import Run

    return Run.load(file)
