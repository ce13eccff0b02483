"""Commands that show results in scene and plots: manipulability ellipsoid, paths of points, vectors, channels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from app.commands.command import Command, Run
from app.document.revision import ElementRef
from app.viewport.ellipsoids import FIRST
from app.viewport.run_scene import VALUES, vector_kinds_of
from core.analysis.tool_frame import tool_frame
from viz.scene.vectors import KINDS

if TYPE_CHECKING:
    from app.workbench import Workbench


ELLIPSOID_MENU = "View/Manipulability"


def toggle_ellipsoid(bench: Workbench) -> None:
    """Show or hide the manipulability ellipsoid."""
    bench.settings.remember("ellipsoid/shown", not bench.settings.value("ellipsoid/shown", False))


def _ellipsoid_setter(key: str, value: object) -> Run:
    def apply_value(bench: Workbench) -> None:
        bench.settings.remember(f"ellipsoid/{key}", value)
        bench.settings.remember("ellipsoid/shown", True)

    return apply_value


_ELLIPSOID_CHOICES = (
    ("kind", "velocity", "Velocity ellipsoid", "Velocities of the frame for joint speeds of unit norm."),
    ("kind", "force", "Force ellipsoid", "Forces at the frame that joint torques of unit norm can balance."),
    ("part", "translation", "Translational", "Linear velocity, or force."),
    ("part", "rotation", "Rotational", "Angular velocity, or torque."),
)

ELLIPSOID_COMMANDS = (
    Command(
        "view.ellipsoid",
        "Manipulability ellipsoid",
        toggle_ellipsoid,
        ELLIPSOID_MENU,
        "E",
        "ellipsoid",
        checked=lambda w: bool(w.settings.value("ellipsoid/shown", False)),
        section="show",
        context=("bodies", "frames"),
        help="The ellipsoid of the selected body or frame, else of the tool, updated with every movement.",
    ),
    *(
        Command(
            f"view.ellipsoid_{value}",
            title,
            _ellipsoid_setter(key, value),
            ELLIPSOID_MENU,
            section=key,
            checked=lambda w, key=key, value=value: w.settings.value(f"ellipsoid/{key}", FIRST[key]) == value,
            help=text,
        )
        for key, value, title, text in _ELLIPSOID_CHOICES
    ),
)


PATH_MENU = "View/Paths"


def _selected_frame(bench: Workbench) -> str:
    """Return the selected body or frame, or else the tool; "" if there is neither."""
    ref, names = bench.session.selection, bench.session.mech.frame_names
    if ref is not None and ref.collection in ("bodies", "frames") and ref.name in names:
        return ref.name
    return tool_frame(bench.session.model) or ""


def toggle_path(bench: Workbench) -> None:
    """Start or stop drawing the path of the selected frame."""
    followed, frame = bench.scenery.path_frames, _selected_frame(bench)
    others = [name for name in followed if name != frame]
    bench.scenery.draw_paths(*others, *(() if frame in followed else (frame,)))


def restart_paths(bench: Workbench) -> None:
    """Clear all paths and continue drawing them from the current pose."""
    bench.scenery.restart_paths()


def remove_paths(bench: Workbench) -> None:
    """Remove all paths and stop drawing them."""
    bench.scenery.draw_paths()


PATH_COMMANDS = (
    Command(
        "view.trace",
        "Path",
        toggle_path,
        PATH_MENU,
        "T",
        "trace",
        when=lambda w: bool(_selected_frame(w)),
        checked=lambda w: _selected_frame(w) in w.scenery.path_frames,
        context=("bodies", "frames"),
        help="Draw the path of the origin of the selected body or frame, else of the tool, during every movement.",
        also=("trace", "coupler curve", "locus", "trail", "orbit of a point"),
    ),
    Command(
        "view.trace_forget",
        "Restart paths",
        restart_paths,
        PATH_MENU,
        icon="repeat",
        when=lambda w: bool(w.scenery.path_frames),
        help="Clear the paths drawn so far and continue from here.",
    ),
    Command(
        "view.trace_end",
        "Remove all paths",
        remove_paths,
        PATH_MENU,
        icon="clear",
        when=lambda w: bool(w.scenery.path_frames),
        context=("scene",),
        help="Remove all paths and stop drawing them.",
    ),
)


VECTOR_MENU = "View/Vectors"
VECTOR_ICONS = {
    "force": "vector",
    "torque": "vector_turning",
    "velocity": "vector",
    "acceleration": "vector",
    "omega": "vector_turning",
}
ALL_OF_KIND = {"force": "joints and force elements", "torque": "joints and force elements"}
VECTOR_HELP = {
    "force": "The force of the parent side on the child side of a joint, or of a force element on the body it pulls.",
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
    return lambda bench: kind in vector_kinds_of(bench.session.selection)


def _is_shown(kind: str, of_selection: bool) -> Callable[[Workbench], bool]:
    return lambda w: w.scenery.shows_vectors(kind, w.session.selection if of_selection else None)


def trace_point(bench: Workbench) -> None:
    """Draw the path of the point on the body at which the context menu was opened."""
    session, place = bench.session, bench.scenery.context_menu_point
    ref = session.selection
    if ref is None or place is None:
        return
    pose = session.mech.frame(session.q, ref.name, p=session.p)
    x, y, z = (np.linalg.inv(pose) @ [*place, 1.0])[:3].round(9).tolist()
    bench.scenery.draw_point_path(ref.name, (x, y, z))


def _is_point_under_menu(bench: Workbench) -> bool:
    ref = bench.session.selection
    return (
        bench.scenery.context_menu_point is not None and ref is not None and ref.name in bench.session.mech.frame_names
    )


def toggle_whole_paths(bench: Workbench) -> None:
    """Switch between drawing the paths of a run in full and up to the playhead."""
    bench.settings.remember("traces/whole", not bench.settings.value("traces/whole", False))


def default_channels(ref: ElementRef | None, bench: Workbench) -> tuple[str, ...]:
    """Return the channels that are plotted by default for an element."""
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


def plot_selected(bench: Workbench) -> None:
    """Plot the default channel of the selected element in the active plot."""
    bench.panels.show_panel("plots")
    bench.panels.plots.add(default_channels(bench.session.selection, bench))


def add_plot(bench: Workbench) -> None:
    """Add a plot and show it."""
    bench.panels.show_panel("plots")
    bench.panels.plots.add_plot()


VECTOR_COMMANDS = (
    *(
        Command(
            f"vectors.{kind}",
            facts.title,
            _all_vectors_toggler(kind),
            VECTOR_MENU,
            icon=VECTOR_ICONS[kind],
            checked=_is_shown(kind, False),
            section="kinds",
            help=f"Show arrows for all {ALL_OF_KIND.get(kind, 'bodies and frames')}. {VECTOR_HELP[kind]}",
        )
        for kind, facts in KINDS.items()
    ),
    *(
        Command(
            f"vectors.{kind}_here",
            f"Show {facts.title.lower()}",
            _single_vector_toggler(kind),
            "context",
            icon=VECTOR_ICONS[kind],
            when=_applies_to_selection(kind),
            checked=_is_shown(kind, True),
            context=facts.collections,
            help=f"An arrow at the selected element. {VECTOR_HELP[kind]}",
        )
        for kind, facts in KINDS.items()
    ),
    Command(
        "vectors.values",
        "Values at arrows",
        lambda w: w.settings.remember(VALUES, not w.settings.value(VALUES, True)),
        VECTOR_MENU,
        icon="labels",
        checked=lambda w: bool(w.settings.value(VALUES, True)),
        section="values",
        help="Write the size of each vector at the tip of its arrow; the legend says how long the arrows are drawn.",
    ),
    Command(
        "vectors.none",
        "Hide all vectors",
        lambda w: w.scenery.hide_vectors(),
        VECTOR_MENU,
        icon="clear",
        section="none",
        when=lambda w: w.scenery.has_visible_vectors,
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
        PATH_MENU,
        icon="trace",
        checked=lambda w: bool(w.settings.value("traces/whole", False)),
        help="Draw the paths of a run's points up to its end, instead of up to the playhead.",
    ),
    Command(
        "plots.add",
        "Plot",
        plot_selected,
        "context",
        icon="plot",
        when=lambda w: bool(default_channels(w.session.selection, w)),
        context=("joints", "bodies", "frames", "sensors", "forces", "constraints", "drivers"),
        help="Draw the element's coordinate, position, value or force over time, in the active plot.",
    ),
    Command(
        "plots.new",
        "New plot",
        add_plot,
        "Simulation",
        icon="plot",
        section="plots",
        when=lambda w: w.session.runs.current is not None,
        help="Add a plot; channels chosen in the Plots panel go there.",
    ),
)

COMMANDS = (*ELLIPSOID_COMMANDS, *PATH_COMMANDS, *VECTOR_COMMANDS)
