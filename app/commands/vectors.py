"""Commands that show vectors, plots and films of runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from app.commands.command import Command
from app.document.revision import Ref
from app.viewport.run_scene import VALUES, kinds_of
from viz.scene.vectors import KINDS

if TYPE_CHECKING:
    from app.workbench import Workbench

MENU = "View/Vectors"
ICONS = {
    "force": "vector",
    "torque": "vector_turning",
    "velocity": "vector",
    "acceleration": "vector",
    "omega": "vector_turning",
}
ALL = {"force": "joints and force elements", "torque": "joints and force elements"}
HELP = {
    "force": "The force that the parent side exerts on the child side of a joint, or a force element on what it pulls.",
    "torque": "The torque that the parent side exerts on the child side of a joint, or a force element.",
    "velocity": "The velocity of the origin.",
    "acceleration": "The acceleration of the origin.",
    "omega": "The angular velocity, along its axis.",
}


def _all_vectors_toggler(kind: str) -> Callable[[Workbench], object]:
    return lambda bench: bench.scenery.toggle_vectors(kind)


def _single_vector_toggler(kind: str) -> Callable[[Workbench], object]:
    return lambda bench: bench.scenery.toggle_vectors(kind, bench.session.selection)


def _applies_to_selection(kind: str) -> Callable[[Workbench], bool]:
    return lambda bench: kind in kinds_of(bench.session.selection)


def _is_shown(kind: str, of_selection: bool) -> Callable[[Workbench], bool]:
    return lambda w: w.scenery.shows_vectors(kind, w.session.selection if of_selection else None)


def trace_point(bench: Workbench) -> None:
    """Draw the path of the body's point at which the context menu was opened."""
    session, place = bench.session, bench.scenery.pointed
    ref = session.selection
    if ref is None or place is None:
        return
    pose = session.mech.frame(session.q, ref.name, p=session.p)
    x, y, z = (np.linalg.inv(pose) @ [*place, 1.0])[:3].round(9).tolist()
    bench.scenery.follow_point(ref.name, (x, y, z))


def _is_point_under_menu(bench: Workbench) -> bool:
    ref = bench.session.selection
    return bench.scenery.pointed is not None and ref is not None and ref.name in bench.session.mech.frame_names


def toggle_whole_paths(bench: Workbench) -> None:
    """Switch between drawing the paths of a run's points over the whole run and up to the playhead."""
    bench.settings.remember("traces/whole", not bench.settings.value("traces/whole", False))


def channels_of(ref: Ref | None, bench: Workbench) -> tuple[str, ...]:
    """Return the default channels to plot for an element."""
    if ref is None:
        return ()
    wanted = {
        "joints": (f"{ref.name}.q", f"{ref.name}.reaction"),
        "bodies": (f"{ref.name}.position",),
        "frames": (f"{ref.name}.position",),
        "sensors": (ref.name,),
        "forces": (f"{ref.name}.force",),
        "constraints": (f"{ref.name}.force",),
        "drivers": (f"{ref.name}.force",),
    }.get(ref.collection, ())
    record = bench.session.runs.current
    known = record.run.channels if record is not None else ()
    return next(((name,) for name in wanted if name in known), ())


def plot(bench: Workbench) -> None:
    """Plot the selected element's first channel in the active plot."""
    bench.panels.show("plots")
    bench.panels.plots.add(channels_of(bench.session.selection, bench))


def new_plot(bench: Workbench) -> None:
    """Add a plot and show it."""
    bench.panels.show("plots")
    bench.panels.plots.add_plot()


def _can_film(bench: Workbench) -> bool:
    return bench.player.ready


COMMANDS = (
    *(
        Command(
            f"vectors.{kind}",
            facts.title,
            _all_vectors_toggler(kind),
            MENU,
            icon=ICONS[kind],
            checked=_is_shown(kind, False),
            section="kinds",
            help=f"Show arrows for all {ALL.get(kind, 'bodies and frames')}. {HELP[kind]}",
        )
        for kind, facts in KINDS.items()
    ),
    *(
        Command(
            f"vectors.{kind}_here",
            f"Show {facts.title.lower()}",
            _single_vector_toggler(kind),
            "context",
            icon=ICONS[kind],
            when=_applies_to_selection(kind),
            checked=_is_shown(kind, True),
            context=facts.collections,
            help=f"An arrow at the selected element. {HELP[kind]}",
        )
        for kind, facts in KINDS.items()
    ),
    Command(
        "vectors.values",
        "Values at arrows",
        lambda w: w.settings.remember(VALUES, not w.settings.value(VALUES, True)),
        MENU,
        icon="labels",
        checked=lambda w: bool(w.settings.value(VALUES, True)),
        section="values",
        help="Write the size of each vector at the tip of its arrow; the legend says how long the arrows are drawn.",
    ),
    Command(
        "vectors.none",
        "Hide all vectors",
        lambda w: w.scenery.hide_vectors(),
        MENU,
        icon="clear",
        section="none",
        when=lambda w: w.scenery.vectors_shown,
        context=("scene",),
        help="Hide all arrows.",
    ),
    Command(
        "view.trace_point",
        "Path of this point",
        trace_point,
        "context",
        icon="trace",
        when=_is_point_under_menu,
        context=("bodies",),
        help="Draw the path of the point of the body under the pointer.",
    ),
    Command(
        "view.trace_whole",
        "Whole path of a run",
        toggle_whole_paths,
        "View/Paths",
        icon="trace",
        checked=lambda w: bool(w.settings.value("traces/whole", False)),
        help="Draw the paths of a run's points up to its end, instead of up to the playhead.",
    ),
    Command(
        "plots.add",
        "Plot",
        plot,
        "context",
        icon="plot",
        when=lambda w: bool(channels_of(w.session.selection, w)),
        context=("joints", "bodies", "frames", "sensors", "forces", "constraints", "drivers"),
        help="Draw the element's coordinate, position, value or force over time, in the active plot.",
    ),
    Command(
        "plots.new",
        "New plot",
        new_plot,
        "Simulation",
        icon="plot",
        section="plots",
        when=lambda w: w.session.runs.current is not None,
        help="Add a plot; channels chosen in the Plots panel go there.",
    ),
    Command(
        "file.export_plots",
        "Export plots…",
        lambda w: w.panels.plots.ask_export(),
        "File",
        icon="export",
        section="export",
        when=lambda w: w.panels.plotting,
        help="Write the plots as a picture (PNG), a drawing (SVG, PDF), or their numbers (CSV).",
        also=("CSV", "Excel", "spreadsheet"),
    ),
    Command(
        "file.export_film",
        "Export film…",
        lambda w: w.dialogs.film(),
        "File",
        icon="film",
        section="export",
        when=_can_film,
        help="Write the current run, or the sequence of poses that is played, as a film (MP4, GIF) or as pictures.",
        also=("video", "movie", "animation", "record"),
    ),
)
