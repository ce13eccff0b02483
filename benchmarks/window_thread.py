"""Load of the window's thread: the longest turn of its event loop in typical steps of a user.

    python -m benchmarks.window_thread [STEP ...]
    python -m benchmarks.window_thread --write

Milliseconds for each step: processor and wall time of the longest turn, in which no key, movement or picture comes
through; processor time of all turns together; and of drawing the scene, which is left out of the others. The longest
turn also in pieces of a work that took a millisecond where the goal of 50 ms was set: a busy or a slow machine does not
change that. Files, and machine code made before, come from the disk's cache.

--write   take all steps and put the table into docs/responsiveness.md
"""

from __future__ import annotations

import app  # noqa: F401  # isort: skip (the environment of the program, before NumPy is there)

import gc
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.document import tell
from benchmarks.watch import Cost, Watch, ended, opened, turn
from benchmarks.window_answers import answers
from benchmarks.window_searches import searches

if TYPE_CHECKING:
    from app.document.run_tree import RunRecord
    from app.window.window import Window
    from core.simulation import Run

ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
DOCUMENT = Path(__file__).parents[1] / "docs" / "responsiveness.md"
SAMPLES = 10_001
LONG = 100_001
MOVES = 30
BEFORE = 8
"""Movements in which the quickest way of computing is found."""
Rows = Iterator[tuple[str, Cost]]


def ready(window: Window) -> Watch:
    """The window at rest."""
    watch = Watch(window)
    turn(1.5)
    return watch


def recorded(window: Window, samples: int = SAMPLES, scale: float = 1.0) -> Run:
    """A run of 10 s with so many samples."""
    from core.simulation import simulate

    mech = window.session.mech
    v = np.full(mech.nv, 0.1 * scale) if not mech.constrained else None
    return simulate(mech, 10.0, output=10.0 / (samples - 1), v0=v)


def shown(window: Window, run: Run) -> RunRecord:
    """A run in the session, the plots in front."""
    window.docks.show_panel("plots")
    record = window.session.runs.add(run)
    turn(0.5)
    return record


def drawn(window: Window) -> Callable[[], bool]:
    """Return True if the plots show all curves."""
    return lambda: not window.plots.has_pending_changes


# ------------------------------------------------------------------------------- plots


def charts() -> Rows:
    """Eight channels in one plot, and one channel after another."""
    from app.plotting.curves import Plot

    window = opened("puma560")
    watch = ready(window)
    shown(window, recorded(window, 1001))
    channels = tuple(f"{name}.{what}" for what in "qv" for name in window.session.mech.q_names)[:8]
    yield "chart of eight channels", watch.step(lambda: window.plots.add_plot(Plot(channels)), drawn(window))
    window.plots.add_plot()
    turn(0.5)
    each = [watch.step(lambda c=c: window.plots.add([c]), drawn(window), 0.05) for c in channels]  # type: ignore[misc]
    yield "a channel more in a plot (worst of eight)", max(each, key=lambda cost: cost.longest)
    yield "a plot taken away", watch.step(lambda: window.plots.remove_plot(0), drawn(window))
    ended(window)


def long_channels() -> Rows:
    """Channels that are computed of 10⁴ samples."""
    for name in ("stewart", "puma560", "engine_v6"):
        yield from long_channels_of(opened(name), name)


def long_channels_of(window: Window, name: str) -> Rows:
    """See `long_channels`."""
    from app.plotting.curves import Plot

    watch = ready(window)
    joint = window.session.mech.joint_names[-1]
    shown(window, recorded(window))
    for title, channel in (("energy", "energy.total"), ("reaction", f"{joint}.reaction")):
        plot = Plot((channel,))
        step = watch.step(lambda plot=plot: window.plots.add_plot(plot), drawn(window))  # type: ignore[misc]
        yield f"{title} of {SAMPLES} samples, {name}", step
    ended(window)


def six_plots() -> Rows:
    """A run added to six plots; another look."""
    for samples in (1001, SAMPLES):
        yield from six_plots_with(opened("puma560"), samples)


def six_plots_with(window: Window, samples: int) -> Rows:
    """See `six_plots`."""
    watch = ready(window)
    run, other = recorded(window, samples), recorded(window, samples, 2.0)
    filled(window, run)
    yield (
        f"a run of {samples} samples into six plots",
        watch.step(lambda: window.session.runs.add(other), drawn(window)),
    )
    yield (
        f"another run of {samples} samples chosen",
        watch.step(lambda: window.session.runs.select(window.session.runs.items[0]), drawn(window)),
    )
    yield (
        f"another look, {samples} samples",
        watch.step(lambda: setattr(window.settings, "look", "dark"), drawn(window)),
    )
    ended(window)


def filled(window: Window, run: Run) -> None:
    """Six plots of a run."""
    from app.plotting.channels import suggest_plots
    from app.plotting.curves import Plot

    shown(window, run)
    plots = [Plot(channels, x) for x, channels in suggest_plots(run).values()]
    plots.append(Plot(tuple(f"{name}.a" for name in run.mech.joint_names[:6])))
    for plot in plots[:6]:
        window.plots.add_plot(plot)
        turn(0.3)


def playhead() -> Rows:
    """The timeline scrubbed with six plots, 10⁴ samples."""
    window = opened("puma560")
    watch = ready(window)
    filled(window, recorded(window))
    turn(1.0)
    cost = Cost()
    for k in range(MOVES):
        cost |= watch.step(lambda k=k: window.session.runs.seek(0.1 * k), calm=0.03)  # type: ignore[misc]
    yield "timeline scrubbed, six plots", cost
    ended(window)


# ------------------------------------------------------------------------------- results, elements


def derivation() -> Rows:
    """The card of a long derivation, and of equations of motion; garbage is collected with them there."""
    from core.functions import call

    window = opened("puma560")
    watch = ready(window)
    window.docks.show_panel("output")
    context = window.session.context()
    for name in ("derivation", "derive"):
        result = call(name, context)
        yield f"card: {name}", watch.step(lambda r=result: window.session.produced.emit(r), calm=1.0)  # type: ignore[misc]
    yield "full collection of garbage then", watch.turn(lambda: gc.collect(2))
    ended(window)


def link() -> Rows:
    """A link added, for the first time and again; taken back."""
    for name in ("two_link", "panda", "engine_v6"):
        yield from links(opened(name), name)


def links(window: Window, name: str) -> Rows:
    """See `link`."""
    from app.commands.elements import add_link

    watch = ready(window)
    for title in ("the first", "the next"):
        yield f"a link added to {name}, {title}", watch.step(lambda: add_link(window.session), calm=1.0)
    yield f"  taken back, {name}", watch.step(window.session.undo, calm=1.0)
    yield f"  done again, {name}", watch.step(window.session.redo, calm=1.0)
    ended(window)


def opening() -> Rows:
    """Files opened, from the smallest to a humanoid with meshes (where example-robot-data is installed)."""
    from resources import examples

    window = opened("two_link")
    watch, documents = ready(window), window.files
    over = lambda: not documents.opening.is_busy  # noqa: E731
    files = {each.name: each.path for each in examples() if each.name in ("puma560", "stewart", "engine_v6")}
    for name, path in {
        **files,
        **{path.stem: path for path in ROBOTS.glob("talos_data/robots/talos_reduced.urdf")},
    }.items():
        yield f"{name} opened", watch.step(lambda path=path: documents.open(path), over, 1.0)  # type: ignore[misc]
    ended(window)


def elements() -> Rows:
    """Elements chosen, each kind for the first time."""
    from app.document.session import ElementRef

    window = opened("forces")
    watch = ready(window)
    model = window.session.model
    for collection in ("joints", "bodies", "frames", "forces", "sensors"):
        found = getattr(model, collection)
        if found:
            ref = ElementRef(collection, found[0].name)
            cost = watch.step(lambda ref=ref: window.session.select(ref), calm=0.4)  # type: ignore[misc]
            yield f"first of {collection} chosen", cost
    ended(window)


# ------------------------------------------------------------------------------- movements


def pulled() -> Rows:
    """A body pulled by hand with the move tool to where it cannot go."""
    for name, body in (("stewart", "platform"), ("puma560", "tool"), ("engine_v6", "piston6")):
        yield from pulled_of(opened(name), name, body)


def pulled_of(window: Window, name: str, body: str) -> Rows:
    """See `pulled`."""
    from app.tools.move import ITERATIONS, SETTLE
    from core.analysis.inverse_kinematics import move_frame_to_target

    watch, session = ready(window), window.session
    start = np.asarray(session.mech.frame(session.q, body, p=session.p))[:3, 3]

    def pull(k: int) -> None:
        target = start + np.array([0.04 * k, 0.02 * k, 0.05 * k])
        found = move_frame_to_target(
            session.mech, session.q, body, target, session.p, point=np.zeros(3), iterations=ITERATIONS, settle=SETTLE
        )
        session.preview(q=found.q)

    costs = [watch.turn(lambda k=k: pull(k)) for k in range(MOVES)]  # type: ignore[misc]
    yield f"{body} of {name} pulled out of reach", max(costs, key=lambda cost: cost.longest)
    session.cancel_preview()
    ended(window)


def what_if() -> Rows:
    """A slider moves, the run of 10 s follows in two plots and the scene."""
    for name in ("puma560", "four_bar", "panda"):
        yield from what_if_of(opened(name), name)


def what_if_of(window: Window, name: str) -> Rows:
    """See `what_if`. All turns: of one movement, in the middle; drawing: of one movement."""
    from app.plotting.channels import suggest_plots
    from app.plotting.curves import Plot

    watch, session = ready(window), window.session
    heard: list[float] = []
    window.what_if.made.connect(heard.append)
    window.what_if.set_enabled(True)
    while not heard:
        turn(0.01)
    assert session.runs.current is not None
    window.docks.show_panel("plots")
    for x, channels in list(suggest_plots(session.runs.current.run).values())[:2]:
        window.plots.add_plot(Plot(channels, x))
    turn(1.0)
    first, costs = float(session.q[0]), []
    for k in range(MOVES + BEFORE):
        made, value = len(heard), first + 0.01 * k
        costs.append(
            watch.step(
                lambda value=value: session.preview_coordinates({session.mech.q_names[0]: value}),  # type: ignore[misc]
                lambda made=made: len(heard) > made and not window.plots.has_pending_changes,
                0.02,  # type: ignore[misc]
            )
        )
    costs = costs[BEFORE:]
    yield f"what-if, two plots, {name}: a movement", Cost.usual(costs)
    session.cancel_preview()
    ended(window)


def long_run() -> Rows:
    """A run of 10⁵ steps that grows in the window."""
    window = opened("puma560")
    watch = ready(window)
    window.docks.show_panel("plots")
    simulation = window.simulation
    simulation.change_settings(duration=100.0, method="rk4", step=1e-3, output=1e-3, start="rest")
    window.plots.add(["joint1.q", "energy.total"])
    cost = watch.step(simulation.start, lambda: not simulation.is_running and not window.plots.has_pending_changes, 1.0)
    assert window.session.runs.current is not None
    yield f"a run of {len(window.session.runs.current.run) - 1} steps grows in a plot", cost
    ended(window)


STEPS: dict[str, Callable[[], Rows]] = {
    "charts": charts,
    "long_channels": long_channels,
    "six_plots": six_plots,
    "playhead": playhead,
    "derivation": derivation,
    "link": link,
    "opening": opening,
    "elements": elements,
    "pulled": pulled,
    "what_if": what_if,
    "long_run": long_run,
    "answers": answers,
    "searches": searches,
}


def main() -> None:
    """Print the figures; write when asked."""
    os.environ.setdefault("QT_QPA_PLATFORM", "xcb")
    chosen = [word for word in sys.argv[1:] if not word.startswith("--")]
    if chosen and "--write" in sys.argv:
        raise SystemExit("--write takes all steps: leave the names out.")
    if unknown := [name for name in chosen if name not in STEPS]:
        raise SystemExit(f"There is no step {unknown[0]!r}. There are: {', '.join(STEPS)}.")
    print(f"{'step, ms':58} longest turn   (wall)   all turns   drawing   in pieces")
    lines = [
        "| step | longest turn, pieces | ms | wall | all turns | drawing |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name in chosen or STEPS:
        for title, cost in STEPS[name]():
            figures = (cost.longest, cost.longest_wall, cost.work, cost.drawing)
            shown = f"{title:58} {figures[0]:12.0f} {figures[1]:8.0f} {figures[2]:11.0f} {figures[3]:9.0f}"
            print(f"{shown} {cost.pieces:11.0f}", flush=True)
            lines.append(f"| {title.strip()} | {' | '.join(f'{each:.0f}' for each in (cost.pieces, *figures))} |")
    if not chosen:
        tell("Turns of the window's thread", "window_thread", lines, DOCUMENT)


if __name__ == "__main__":
    main()
