"""Runs the trials of one part: a hang or a crash of the process they run in is a finding, not the end."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.campaign.worker import ROOT, keep

RESULTS = ROOT / "build" / "campaign"
CHUNKS = {
    "files": 100,
    "formulas": 1000,
    "drawings": 20,
    "connections": 4,
    "window": 2,
    "starts": 1,
    "kills": 1,
    "modes": 10,
}
"""Trials that are done or not done together."""
START = 120.0
"""s in which a process must be ready."""
LIFE = 4000
"""Trials after which a process makes place for a new one, which has collected nothing."""
MANY = 20
"""Failures of one kind after which further ones are only counted."""


@dataclass
class Report:
    """What is known of a part: outcomes by word, failures by kind, chunks that are done. Kept in a file."""

    part: str
    seed: int
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: dict[str, list[int]] = field(default_factory=dict)
    """kind → indices of trials"""
    done: list[int] = field(default_factory=list)
    """first trials of chunks"""

    @property
    def count(self) -> int:
        """Trials that have ended, one way or another."""
        return self.outcomes.total() + sum(map(len, self.failures.values()))

    @property
    def path(self) -> Path:
        return RESULTS / f"{self.part}-{self.seed}.json"

    def save(self) -> None:
        """Keep it for a later run."""
        RESULTS.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".part")
        new.write_text(json.dumps(vars(self), indent=1), encoding="utf-8")
        new.replace(self.path)

    @classmethod
    def load(cls, part: str, seed: int) -> Report:
        """What an earlier run left, or an empty one."""
        report = cls(part, seed)
        if report.path.is_file():
            known = json.loads(report.path.read_text(encoding="utf-8"))
            report = cls(part, seed, Counter(known["outcomes"]), known["failures"], known["done"])
        return report

    def add(self, end: dict[str, Any]) -> None:
        """The end of a trial."""
        if "outcome" in end:
            self.outcomes[end["outcome"]] += 1
            return
        kind = end["failure"]["kind"]
        known = self.failures.setdefault(kind, [])
        known.append(end["end"])
        if len(known) <= MANY:
            print(f"  {self.part} {self.seed} {end['end']}: {kind}", flush=True)

    def text(self) -> str:
        """Counts and every kind of failure."""
        words = ", ".join(f"{number} {word}" for word, number in self.outcomes.most_common())
        lines = [f"{self.part} (seed {self.seed}): {self.count} trials: {words or 'nothing'}"]
        for kind, where in self.failures.items():
            shown = ", ".join(map(str, where[:5])) + (" …" if len(where) > 5 else "")
            lines.append(f"  UNEXPECTED {len(where)} ×: {kind}\n      trials {shown}")
        return "\n".join(lines)


class Process:
    """A process in which trials run."""

    def __init__(self, part: str, seed: int, folder: Path) -> None:
        self.part, self.seed, self.folder, self.count = part, seed, folder, 0
        command = [sys.executable, "-m", "tests.campaign.worker", part, str(seed), str(folder)]
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=private(folder),
            start_new_session=True,
        )
        self.rest = b""
        first = self.line(START)
        if "patience" not in first:
            said = (folder / "said.txt").read_text(encoding="utf-8", errors="replace")
            self.stop()
            raise RuntimeError(f"The part '{part}' does not start: {said[-2000:]}")
        self.patience = float(first["patience"])

    def line(self, patience: float) -> dict[str, Any]:
        """The next line; {} if none comes in time, or ever again."""
        pipe = self.process.stdout
        assert pipe is not None
        end = time.monotonic() + patience
        while b"\n" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], left)[0]:
                return {}
            more = os.read(pipe.fileno(), 1 << 16)
            if not more:
                return {}
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)

    def trial(self, index: int) -> dict[str, Any]:
        """The end of a trial, also of one that never comes back; then the process is gone."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{index}\n".encode())
        self.process.stdin.flush()
        self.count += 1
        end = self.line(self.patience)
        if not end:
            end = self._lost(index)
        if end.get("last"):
            self.stop()
        return end

    def _lost(self, index: int) -> dict[str, Any]:
        """What is known of a trial that has not come back."""
        try:
            kind = f"It ends the process ({named(self.process.wait(0.5))})"
        except subprocess.TimeoutExpired:
            kind = f"It has not ended after {self.patience:.0f} s"
        failure = {"kind": kind, "details": (self.folder / "said.txt").read_text(encoding="utf-8", errors="replace")}
        case = self.folder / "case" / str(index)
        if case.is_dir():
            keep(case, self.part, self.seed, index, failure)
        return {"end": index, "failure": failure, "last": True}

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> None:
        """End the process and all it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


def named(code: int) -> str:
    """How a process ended."""
    return signal.Signals(-code).name if code < 0 else f"status {code}"


def private(folder: Path) -> dict[str, str]:
    """The environment of a process whose settings, caches and copies are nobody's."""
    own = {
        variable: str(folder / variable.lower())
        for variable in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "TMPDIR", "HOME")
    }
    for place in own.values():
        Path(place).mkdir(exist_ok=True)
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    cache = {"KINETOSTAT_CACHE": str(ROOT / "build" / "test-cache")}
    return {**os.environ, **own, **threads, **cache, "PYTHONPATH": str(ROOT)}


class Runner:
    """Hands out chunks of trials to processes until all are done or time is over."""

    def __init__(
        self, part: str, seed: int, *, processes: int = 1, minutes: float = 60.0, resume: bool = True, keep: bool = True
    ) -> None:
        self.report = Report.load(part, seed) if resume and keep else Report(part, seed)
        self.keep = keep
        self.processes, self.end = processes, time.monotonic() + 60.0 * minutes
        self.lock = threading.Lock()
        self.chunks: queue.Queue[tuple[int, int]] = queue.Queue()

    def run(self, count: int) -> Report:
        """All trials below `count` that are not done yet."""
        size = CHUNKS.get(self.report.part, 1)
        for first in range(0, count, size):
            if first not in self.report.done:
                self.chunks.put((first, min(first + size, count)))
        threads = [threading.Thread(target=self._work) for _ in range(self.processes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.report

    def _work(self) -> None:
        """Trials in one process after another, whole chunks."""
        with tempfile.TemporaryDirectory(prefix="kinetostat-campaign-", ignore_cleanup_errors=True) as folder:
            line = Line(self.report.part, self.report.seed, Path(folder))
            while time.monotonic() < self.end:
                try:
                    first, last = self.chunks.get_nowait()
                except queue.Empty:
                    break
                for index in range(first, last):
                    end = line.trial(index)
                    with self.lock:
                        self.report.add(end)
                with self.lock:
                    self.report.done.append(first)
                    if self.keep:
                        self.report.save()
            line.stop()


class Line:
    """Processes one after another: a new one when the old one has gone, or has done enough."""

    def __init__(self, part: str, seed: int, folder: Path) -> None:
        self.part, self.seed, self.folder = part, seed, folder
        self.process: Process | None = None
        self.number = 0

    def trial(self, index: int) -> dict[str, Any]:
        """One trial."""
        if self.process is None or not self.process.alive or self.process.count >= LIFE:
            self.stop()
            self.number += 1
            place = self.folder / str(self.number)
            place.mkdir()
            try:
                self.process = Process(self.part, self.seed, place)
            except RuntimeError as error:
                return {"end": index, "failure": {"kind": str(error)}}
        return self.process.trial(index)

    def stop(self) -> None:
        """End the process that runs."""
        if self.process is not None:
            self.process.stop()
            self.process = None
