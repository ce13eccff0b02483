"""Commands that make runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands.command import Command
from app.document.kept.run_keeper import KEEPS
from app.runs.interactive import DAMPINGS

if TYPE_CHECKING:
    from app.window.window import Window

MENU = "Simulation"


def _moves(window: Window) -> bool:
    return window.session.mech.nv > 0


def _simulate(window: Window) -> None:
    window.docks.show("simulation")
    if not window.simulation_panel.finish_typing():
        return
    window.simulation.start()
    if not (window.output.cards or window.output.visibleRegion().isEmpty()):
        window.docks.show("plots")  # in the place of a panel that is empty


def _switch_what_if(window: Window) -> None:
    on = not window.what_if.on
    window.what_if.switch(on)
    if on:
        window.docks.show("sliders")
        window.viewport.say("Live what-if: move a slider, and the whole run follows")


def _branch(window: Window) -> None:
    window.docks.show("simulation")
    if window.simulation_panel.finish_typing():
        window.simulation.choose(start="moment")
        window.simulation.start()


def _has_run(window: Window) -> bool:
    return window.session.runs.current is not None and not window.simulation.running


_DAMPING = tuple(
    Command(
        f"simulation.damping_{key}",
        title,
        lambda w, key=key: w.interactive.set_damping(key),
        f"{MENU}/Damping",
        checked=lambda w, key=key: w.interactive.damping == key,
        help=f"Interactive dynamics: slow all motion down at {rate:g} per second."
        if rate
        else "Interactive dynamics without damping but that of the joints.",
    )
    for key, (title, rate) in DAMPINGS.items()
)


def _annotate(window: Window) -> None:
    record = window.session.runs.current
    if record is not None:
        window.simulation_panel.runs.annotate(record)


_KEEPING = tuple(
    Command(
        f"runs.keep_{key}",
        title,
        lambda w, key=key: setattr(w.run_keeper, "keeps", key),
        f"{MENU}/Keep runs with the machine",
        checked=lambda w, key=key: w.run_keeper.keeps == key,
        help=words,
    )
    for key, (title, words) in KEEPS.items()
)

COMMANDS = (
    Command(
        "simulation.run",
        "Simulate",
        _simulate,
        MENU,
        "F5",
        "simulate",
        toolbar="simulation",
        when=lambda w: _moves(w) and not w.simulation.running,
        help="Let the machine move under gravity and its forces, as set in the Simulation panel. "
        "The run appears at once and plays while it is computed.",
    ),
    Command(
        "simulation.stop",
        "Stop simulating",
        lambda w: w.simulation.cancel(),
        MENU,
        "Shift+F5",
        "stop",
        when=lambda w: w.simulation.running,
        help="Stop; the motion until then stays as a run.",
    ),
    Command(
        "simulation.branch",
        "Simulate from this moment",
        _branch,
        MENU,
        "Ctrl+F5",
        "branch",
        when=_has_run,
        help="A new run that begins at the playhead of the current one, with its speeds; runs form a tree.",
    ),
    Command(
        "simulation.what_if",
        "Live what-if",
        lambda w: _switch_what_if(w),
        MENU,
        "Ctrl+Shift+F5",
        "whatif",
        when=_moves,
        checked=lambda w: w.what_if.on,
        section="live",
        toolbar="simulation",
        help="While you move a joint, a parameter, a start speed or a joint force, the whole run is computed anew: "
        "plots and a ghost in the scene follow during the movement, the last runs stay faint.",
    ),
    Command(
        "simulation.interactive",
        "Interactive dynamics",
        lambda w: w.interactive.start(),
        MENU,
        "F6",
        "interactive",
        when=_moves,
        checked=lambda w: w.interactive.on,
        section="live",
        toolbar="simulation",
        help="Run in real time: drag any body to pull it, pause, rearrange by hand, go on with the hand's speed. "
        "What moved is kept as a run.",
    ),
    Command(
        "simulation.pause",
        "Pause / go on",
        lambda w: w.interactive.toggle(),
        MENU,
        "",
        "pause",
        when=lambda w: w.interactive.on,
        section="live",
        help="Hold the interactive machine (Space), rearrange it by hand, and go on.",
    ),
    *_DAMPING,
    Command(
        "simulation.settings",
        "Simulation settings",
        lambda w: w.docks.show("simulation"),
        MENU,
        "",
        "settings",
        section="panel",
        help="Duration, method, tolerances, start and joint forces; the list of runs.",
    ),
    Command(
        "runs.load",
        "Load run…",
        lambda w: w.simulation_panel.runs.load(),
        MENU,
        "",
        "open",
        section="files",
        help="Load a run saved as HDF5 and play it here.",
    ),
    Command(
        "runs.save",
        "Save run…",
        lambda w: w.simulation_panel.runs.save(),
        MENU,
        "",
        "save",
        section="files",
        when=lambda w: w.session.runs.current is not None,
        help="Save the current run: HDF5 (everything), CSV or SIMNON (columns of numbers).",
    ),
    Command(
        "runs.note",
        "Note on the run…",
        _annotate,
        MENU,
        "",
        "rename",
        section="files",
        when=lambda w: w.session.runs.current is not None,
        help="Write down what is to be said of the current run; it is kept with it.",
    ),
    Command(
        "runs.clear",
        "Delete all runs",
        lambda w: w.simulation_panel.runs.clear(),
        MENU,
        "",
        "clear",
        section="files",
        when=lambda w: bool(w.session.runs.items),
        help="Take all runs out of the list. Undo brings them back.",
    ),
    *_KEEPING,
)
