"""The process in which trials run: within bounds of memory, silent, and telling where it is.

`python -m tests.campaign.worker PART SEED FOLDER` reads the number of a trial from each line and answers with a line of
JSON when the trial has ended, so that whoever asked knows which one hangs or ends the process.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import json
import logging
import os
import re
import shutil
import sys
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from tests.campaign.trials import Trials, Unexpected, luck_of

PARTS = ("files", "formulas", "drawings", "sketches", "connections", "window", "starts", "kills", "modes", "switches")
MODULES = {
    "files": "tests.campaign.file_trials",
    "formulas": "tests.campaign.formula_trials",
    "drawings": "tests.campaign.drawing_trials",
    "sketches": "tests.campaign.sketch_trials",
    "connections": "tests.campaign.connection_trials",
    "window": "tests.campaign.window_trials",
    "starts": "tests.campaign.start_trials",
    "kills": "tests.campaign.kill_trials",
    "modes": "tests.campaign.modal_trials",
    "switches": "tests.campaign.switch_trials",
    "faults": "tests.campaign.fault_trials",
}
MEMORY = 6 << 30
"""Bytes of address space of a process."""
GROWTH = 600 << 20
"""Bytes by which the memory of a process may grow in one trial."""
LONG = 8.0
"""s of computing that a trial may take, where its part names no other bound."""
ROOT = Path(__file__).parents[2]


def limit_memory(size: int) -> None:
    """Let what asks for all memory of the machine fail here, where the system can (not on Windows)."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def peak() -> int:
    """Bytes of memory this process has had at most."""
    told = Path("/proc/self/status")  # what `resource` says may be of the process that started this one
    if told.exists() and (found := re.search(r"VmHWM:\s*(\d+) kB", told.read_text())):
        return int(found[1]) * 1024
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Silence:
    """What is written to standard output and standard error goes to a file; trials write nothing there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        os.dup2(self.file, 1)
        os.dup2(self.file, 2)
        faulthandler.enable()

    def said(self) -> str:
        """What was written since the last call."""
        size = os.fstat(self.file).st_size
        if not size:
            return ""
        text = os.pread(self.file, min(size, 4000), 0).decode("utf-8", "replace")
        os.ftruncate(self.file, 0)
        return text


def place(frames: Iterable[traceback.FrameSummary]) -> str:
    """Where in the project something came from: "core/files/source.py read"."""
    files = [(Path(frame.filename), frame.name) for frame in frames]
    own = [(path.relative_to(ROOT).as_posix(), name) for path, name in files if path.is_relative_to(ROOT)]
    found = [f"{path} {name}" for path, name in own if path.startswith(("core/", "viz/", "app/"))]
    return (found or [name for _, name in own] or [""])[-1]


def finding(error: BaseException) -> dict[str, str]:
    """A failure: what kind, so that like ones can be counted together, and all that is known of it."""
    where = place(traceback.extract_tb(error.__traceback__))
    kind = str(error) if isinstance(error, Unexpected) else f"{type(error).__name__} in {where}"
    return {"kind": kind[:300], "details": "".join(traceback.format_exception(error))[-6000:]}


@contextlib.contextmanager
def overheard() -> Iterator[list[str]]:
    """Warnings, with their places."""
    caught: list[str] = []

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        words = str(message)[:60].partition(" <")[0]
        caught.append(f"{category.__name__} in {place(traceback.extract_stack())}: {words}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)  # told to those who write libraries, shown to nobody
        warnings.showwarning = show
        yield caught


def tried(trials: Trials, luck: Any, folder: Path, silence: Silence) -> dict[str, Any]:
    """One trial with everything it may not do."""
    before, began = peak(), time.process_time()
    faulthandler.dump_traceback_later(0.8 * trials.patience)
    try:
        with overheard() as caught:
            outcome = trials.trial(luck, folder)
        if caught:
            raise Unexpected(caught[0])
        if said := silence.said():
            raise Unexpected(f"Written to the terminal: {said[:300]}")
        if (took := time.process_time() - began) > getattr(trials, "long", LONG):
            raise Unexpected(f"It computes for {took:.0f} s") from None
        if (grown := peak() - before) > getattr(trials, "growth", GROWTH):
            raise Unexpected(f"It takes {grown >> 20} MB of memory")
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        silence.said()
        return {"failure": finding(error)}
    finally:
        faulthandler.cancel_dump_traceback_later()
    return {"outcome": outcome}


def main(part: str, seed: int, folder: Path) -> None:
    """Answer until the input ends."""
    answers: TextIO = os.fdopen(os.dup(1), "w", buffering=1)
    silence = Silence(folder / "said.txt")
    logging.getLogger("kinetostat").addHandler(logging.NullHandler())  # what files lose is reported, and expected here
    kind = importlib.import_module(MODULES[part]).TRIALS
    limit_memory(getattr(kind, "memory", MEMORY))
    trials: Trials = kind(folder)
    answers.write(json.dumps({"patience": trials.patience}) + "\n")
    for line in sys.stdin:
        index = int(line)
        case = folder / "case" / str(index)
        case.mkdir(parents=True)
        end = {"end": index, **tried(trials, luck_of(seed, part, index), case, silence)}
        if "failure" in end:
            keep(case, part, seed, index, end["failure"])
            end["last"] = not getattr(trials, "lasting", True)
        answers.write(json.dumps(end) + "\n")
        shutil.rmtree(case, ignore_errors=True)
    trials.close()


def keep(case: Path, part: str, seed: int, index: int, failure: dict[str, str]) -> None:
    """The input of a trial that failed, and how, for whoever mends it."""
    kept = ROOT / "build" / "campaign" / f"{part}-{seed}-{index}"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(case, kept, ignore_dangling_symlinks=True)
    (kept / "failure.txt").write_text(f"{failure['kind']}\n\n{failure['details']}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
