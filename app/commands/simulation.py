"""Commands that compute runs: simulation, live what-if, interactive dynamics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands.command import Command
from app.document.kept.run_keeper import KEEPS
from app.runs.interactive import DAMPINGS

if TYPE_CHECKING:
    from app.workbench import Workbench

MENU = "Simulation"


def _can_move(bench: Workbench) -> bool:
    return bench.session.mech.nv > 0


def _simulate(bench: Workbench) -> None:
    bench.panels.show_panel("simulation")
    if not bench.panels.apply_pending_input():
        return
    bench.runs.simulation.start()
    if bench.panels.is_output_empty:
        bench.panels.show_panel("plots")  # in the place of a panel that is empty


def _switch_what_if(bench: Workbench) -> None:
    on = not bench.runs.recomputes_on_change
    bench.runs.set_recompute_on_change(on)
    if on:
        bench.panels.show_panel("sliders")
        bench.stage.show_hint("Live what-if: move a slider, and the whole run follows")


def _simulate_from_playhead(bench: Workbench) -> None:
    bench.panels.show_panel("simulation")
    if bench.panels.apply_pending_input():
        bench.runs.simulation.change_settings(start="moment")
        bench.runs.simulation.start()


def _has_run(bench: Workbench) -> bool:
    return bench.session.runs.current is not None and not bench.runs.simulation.is_running


_DAMPING = tuple(
    Command(
        f"simulation.damping_{key}",
        f"{title}, {rate:g} per second" if rate else title,
        lambda w, key=key: w.runs.set_damping(key),
        f"{MENU}/Artificial damping",
        checked=lambda w, key=key: w.runs.damping == key,
        help=f"Interactive dynamics: damp all motion at {rate:g} per second, in addition to the machine's own damping. "
        "The status line and the name of the run say so."
        if rate
        else "Interactive dynamics moves as in a simulation: no damping is added to the machine's own.",
    )
    for key, (title, rate) in DAMPINGS.items()
)


def _annotate_run(bench: Workbench) -> None:
    record = bench.session.runs.current
    if record is not None:
        bench.panels.run_list.annotate(record)


_KEEPING = tuple(
    Command(
        f"runs.keep_{key}",
        title,
        lambda w, key=key: setattr(w.runs, "save_policy", key),
        f"{MENU}/Keep runs with the machine",
        checked=lambda w, key=key: w.runs.save_policy == key,
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
        when=lambda w: _can_move(w) and not w.runs.simulation.is_running,
        help="Simulate the machine under gravity and its forces, as set in the Simulation panel. "
        "The run is shown and played while it is computed.",
        also=("run", "play", "solve", "analyse", "analyze", "start"),
    ),
    Command(
        "simulation.stop",
        "Stop simulating",
        lambda w: w.runs.simulation.cancel(),
        MENU,
        "Shift+F5",
        "stop",
        when=lambda w: w.runs.simulation.is_running,
        help="Stop; the motion up to then is kept as a run.",
        also=("stop", "pause", "abort"),
    ),
    Command(
        "simulation.branch",
        "Simulate from playhead",
        _simulate_from_playhead,
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
        when=_can_move,
        checked=lambda w: w.runs.recomputes_on_change,
        section="live",
        toolbar="simulation",
        help="While you move a joint, a parameter, a start speed or a joint force, the whole run is computed again: "
        "plots and a ghost in the scene follow during the movement, the last runs stay faint.",
    ),
    Command(
        "simulation.interactive",
        "Interactive dynamics",
        lambda w: w.runs.start_or_end_live(),
        MENU,
        "F6",
        "interactive",
        when=_can_move,
        checked=lambda w: w.runs.is_live,
        section="live",
        toolbar="simulation",
        help="Run in real time, from the start and with the settings of the Simulation panel: drag any body to pull "
        "it, pause, rearrange by hand, continue with the speed of the hand. The motion is kept as a run.",
    ),
    Command(
        "simulation.pause",
        "Pause / continue",
        lambda w: w.runs.pause_or_resume_live(),
        MENU,
        "",
        "pause",
        when=lambda w: w.runs.is_live,
        section="live",
        help="Pause the interactive machine (Space), rearrange it by hand, and continue.",
    ),
    *_DAMPING,
    Command(
        "simulation.settings",
        "Simulation settings",
        lambda w: w.panels.show_panel("simulation"),
        MENU,
        "",
        "settings",
        section="panel",
        help="Duration, method, tolerances, start and joint forces; the list of runs.",
    ),
    Command(
        "runs.load",
        "Load run…",
        lambda w: w.panels.run_list.load(),
        MENU,
        "",
        "open",
        section="files",
        help="Load a run saved as HDF5 and play it here.",
    ),
    Command(
        "runs.save",
        "Save run…",
        lambda w: w.panels.run_list.save(),
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
        _annotate_run,
        MENU,
        "",
        "rename",
        section="files",
        when=lambda w: w.session.runs.current is not None,
        help="Write a note on the current run; it is saved with the run.",
    ),
    Command(
        "runs.clear",
        "Delete all runs",
        lambda w: w.panels.run_list.clear(),
        MENU,
        "",
        "clear",
        section="files",
        when=lambda w: bool(w.session.runs.items),
        help="Delete all runs in the list. Undo restores them.",
    ),
    *_KEEPING,
)
