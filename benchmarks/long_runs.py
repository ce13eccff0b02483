"""Long runs: memory while they are made, opened and plotted; how long that takes.

    python -m benchmarks.long_runs [--large] [MACHINE]

Memory: megabytes of the process that belong to no file and so cannot be given away (Linux: RssAnon), before and at
most. Times: processor seconds. Pictures: of a plot of three channels whose whole width is moved by hand. Small: 10⁶
samples; --large: 10⁷ samples, as the figures of docs/responsiveness.md.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from core.simulation import Run

STEP = 1e-3
"""s, of the integrator and between samples."""
PICTURES = 60
LOOK = 0.01
"""Seconds between two looks at the memory."""


def own_memory() -> float:
    """Megabytes of the process that lie in no file; 0 where the system does not tell."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1000.0 for line in lines if line.startswith("RssAnon")), 0.0)


@contextmanager
def watched(title: str) -> Iterator[None]:
    """Print what something costs."""
    most, over = [own_memory()], threading.Event()

    def look() -> None:
        while not over.wait(LOOK):
            most.append(own_memory())

    thread = threading.Thread(target=look, daemon=True)
    before, began = most[0], time.process_time()
    thread.start()
    yield
    spent = time.process_time() - began
    over.set()
    thread.join()
    print(f"{title:44} {spent:8.2f} s   {before:6.0f} → {max(most):.0f} MB", flush=True)


def made(name: str, samples: int) -> Run:
    """A run of so many samples."""
    from core.files import load
    from core.mechanism import Mechanism
    from core.simulation import simulate
    from resources import examples

    mech = Mechanism(load(next(example.path for example in examples() if example.name == name)))
    simulate(mech, 0.1, method="rk4")
    speeds = np.full(mech.nv, 0.1) if not mech.constrained else None
    with watched(f"a run of {samples:,} samples"):
        return simulate(mech, samples * STEP, method="rk4", step=STEP, output=STEP, v0=speeds)


def filed(run: Run, folder: Path) -> Run:
    """Saved, opened again, exported."""
    from core.simulation import Run as Runs

    path = folder / "run.h5"
    with watched("saved"):
        run.save(path)
    with watched(f"opened, {path.stat().st_size / 1e6:,.0f} MB"):
        found = Runs.load(path)
    channel, joint = "energy.total", run.mech.q_names[0]
    with watched(f"{channel} computed"):
        found[channel]
    with watched("two channels as CSV"):
        found.save(folder / "run.csv", [f"{joint}.q", channel])
    return found


def pictures(run: Run, name: str) -> None:
    """A plot is moved by hand."""
    from app.plotting.curves import Plot
    from benchmarks.watch import opened, turn

    window = opened(name)
    turn(2.0)
    window.docks.show_panel("plots")
    first = run.mech.q_names[0]
    plot = Plot((f"{first}.q", f"{first}.v", "energy.total"))
    with watched("plotted"):
        window.session.runs.add(run)
        window.plots.add_plot(plot)
        while window.plots.has_pending_changes:
            turn(0.005)
    turn(0.5)
    chart = window.plots.charts[0]
    low, high = chart.visible_range
    for share in (1.0, 0.1, 0.001):
        begin = low + 0.3 * (high - low)
        chart.box.setXRange(begin, begin + share * (high - low), padding=0.0)
        turn(0.3)
        spent = [taken(lambda share=share: moved(chart, 0.002 * share * (high - low))) for _ in range(PICTURES)]  # type: ignore[misc]
        rate = 1.0 / float(np.median(spent))
        print(f"{share:g} of it moved: {rate:.0f} pictures a second of processor time, worst {1e3 * max(spent):.0f} ms")
    window.dispose()


def moved(chart: Any, by: float) -> None:
    """The plot by some seconds, and its picture."""
    chart.box.translateBy(x=by)
    chart.view.viewport().repaint()


def taken(action: Callable[[], object]) -> float:
    """Processor seconds of the window's thread."""
    began = time.thread_time()
    action()
    return time.thread_time() - began


def main() -> None:
    """Print the figures."""
    os.environ.setdefault("QT_QPA_PLATFORM", "xcb")
    arguments = [each for each in sys.argv[1:] if not each.startswith("--")]
    name, samples = arguments[0] if arguments else "puma560", 10_000_000 if "--large" in sys.argv else 1_000_000
    with tempfile.TemporaryDirectory(dir="/var/tmp" if os.path.isdir("/var/tmp") else None) as folder:
        run = filed(made(name, samples), Path(folder))
        pictures(run, name)


if __name__ == "__main__":
    main()
