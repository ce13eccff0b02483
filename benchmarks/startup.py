"""From the command to its answer, and to the first picture of the machine.

    python -m benchmarks.startup [--write] [FILE]

Processor time of all threads, time on the clock, resident memory and modules of new processes: sub-commands of the
command line, and the window on a file (or the first example) at its first frame, its first picture with the machine,
and when everything can be used (a panel that is not made yet is made for who looks at it). What was compiled before is
there (bytecode, machine code), as at every start but the first; `--first`: nothing is. The commands take turns, the
median is told.

--write   put the table into docs/responsiveness.md
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.document import tell
from resources import EXAMPLES, examples

if TYPE_CHECKING:
    from app.window.window import Window

PICTURE, MOTION = "window: first picture", "window: motion after F5"
TIMES = 7
SETTLED = 4000
"""Milliseconds after the first picture at which memory is read."""
BEGAN = "KINETOSTAT_BEGAN"
"""Environment variable with the time of the call (s)."""
DOCUMENT = Path(__file__).parents[1] / "docs" / "responsiveness.md"


class Sample(NamedTuple):
    """Resources used by a process up to a step: processor time (s), wall time (s), memory (MB) and modules (0:
    unknown)."""

    seconds: float
    wall: float
    megabytes: float
    modules: int = 0


# ------------------------------------------------------------------------------- in the program


def report(step: str) -> None:
    """A step is done."""
    wall = time.time() - float(os.environ[BEGAN])
    print(step, time.process_time(), wall, resident(), len(sys.modules), sep="\t", flush=True)


def resident() -> float:
    """Memory of this process, MB; where the system does not tell, the most it ever had."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def watched(file: str, simulate: bool = False) -> None:
    """The window: tell the steps, and end; with `simulate`, F5 at the first picture, up to the first motion."""
    from PySide6.QtCore import QTimer

    from app.window import start

    appear, begin = start.SplashFrame.show_at_once, start.start_deferred_services

    def seen(frame: start.SplashFrame) -> None:
        appear(frame)
        report("window: a frame with the file's name")

    def begun(window: Window) -> None:
        report(PICTURE)
        begin(window)
        if simulate:
            press_f5(window)
            return
        QTimer.singleShot(0, lambda: report("window: everything usable"))
        QTimer.singleShot(SETTLED, lambda: (report("window: four seconds later"), os._exit(0)))

    start.SplashFrame.show_at_once, start.start_deferred_services = seen, begun  # type: ignore[method-assign, assignment]
    start.run_program(file, ["kinetostat"])


def press_f5(window: Window) -> None:
    """Simulate; end when the playhead moves over computed samples."""
    from PySide6.QtGui import QAction

    runs = window.session.runs

    def look() -> None:
        if runs.current is not None and len(runs.current.run.time) > 1:
            report(MOTION)
            os._exit(0)

    runs.changed.connect(look)
    next(action for action in window.findChildren(QAction) if action.shortcut().toString() == "F5").trigger()


# ------------------------------------------------------------------------------- around it


def commands(file: str) -> dict[str, Sequence[str]]:
    """Commands that are measured."""
    picture = str(Path(tempfile.gettempdir()) / "kinetostat-startup.png")
    pendulum, machine = str(EXAMPLES / "pendulum.kst"), Path(file).stem
    return {
        "python": ["-c", "pass"],
        "--help": ["-m", "app", "--help"],
        f"info {machine}": ["-m", "app", "info", file],
        f"check {machine}": ["-m", "app", "check", file],
        "run pendulum": ["-m", "app", "run", pendulum],
        f"render {machine}": ["-m", "app", "render", file, "-o", picture],
    }


def command_line(arguments: Sequence[str], environment: dict[str, str]) -> Sample:
    """A command from its start to its end."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}.")
    return Sample(usage.ru_utime + usage.ru_stime, time.perf_counter() - began, usage.ru_maxrss / 1e3)


def window(
    file: str,
    environment: dict[str, str],
    *options: str,
    python: str | Path = sys.executable,
    folder: Path | None = None,
) -> dict[str, Sample]:
    """The window's steps; python, folder : of another checkout."""
    arguments = [str(python), "-m", "benchmarks.startup", "--watched", *options, file]
    environment = environment | {BEGAN: str(time.time())}
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, env=environment, cwd=folder)
    lines = (line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 4)
    return {step: Sample(float(s), float(wall), float(mb), int(count)) for step, s, wall, mb, count in lines}


def measured(file: str, first: bool) -> dict[str, list[Sample]]:
    """Samples of all steps."""
    found: dict[str, list[Sample]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(1 if first else TIMES + 1):
            environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
            environment |= {"PYTHONPYCACHEPREFIX": f"{folder}/bytecode", "XDG_STATE_HOME": f"{folder}/state{turn}"}
            if first:
                environment |= {"KINETOSTAT_CACHE": f"{folder}/code", "NUMBA_CACHE_DIR": f"{folder}/code"}
            now = {step: command_line(each, environment) for step, each in commands(file).items()}
            now |= window(file, environment)
            if turn or first:  # before, bytecode is made
                for step, sample in now.items():
                    found.setdefault(step, []).append(sample)
    return found


def main() -> None:
    """Measure and print; write when asked."""
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    file = words[0] if words else str(examples()[0].path)
    if "--watched" in sys.argv:
        watched(file, "--simulate" in sys.argv)
        return
    lines = ["| step | processor, s | clock, s | memory, MB | modules |", "| --- | ---: | ---: | ---: | ---: |"]
    for step, samples in measured(file, "--first" in sys.argv).items():
        seconds, wall, megabytes = (statistics.median(each[k] for each in samples) for k in (0, 1, 2))
        lines.append(f"| {step} | {seconds:.2f} | {wall:.2f} | {megabytes:.0f} | {samples[-1].modules or ''} |")
    tell("Start", "startup", lines, DOCUMENT)


if __name__ == "__main__":
    main()
