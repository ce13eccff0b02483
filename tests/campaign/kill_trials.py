"""The window killed at a random moment: no file is torn, and the recovery copy holds what was there shortly before."""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from core.errors import KinetostatError
from core.files import load
from tests.campaign.hashes import fingerprint
from tests.campaign.kill_child import LOG
from tests.campaign.trials import Unexpected
from tests.campaign.worker import ROOT

OLDEST = 5.0
"""s of work that a crash may cost"""
START = 120.0
"""s in which the window must be ready"""
LIFE = (1.0, 14.0)
"""s of work before the end"""


class KillTrials:
    """Starts a window, lets it work, kills it, looks at what it left."""

    patience = 240.0
    long = 60.0

    def __init__(self, folder: Path) -> None:
        """Nothing is kept between the trials."""

    def trial(self, luck: random.Random, folder: Path) -> str:
        """One life."""
        (folder / "files").mkdir()
        command = [sys.executable, "-m", "tests.campaign.kill_child", str(folder), str(luck.randrange(1 << 30))]
        state = {name: str(folder / name.lower()) for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME")}
        with open(folder / "said.txt", "wb") as said:
            child = subprocess.Popen(command, cwd=ROOT, stdout=said, stderr=said, env={**os.environ, **state})
        try:
            watched(child, folder / LOG, luck.uniform(*LIFE))
        finally:
            child.kill()
            killed = time.monotonic()
            child.wait()
        lines = [json.loads(line) for line in (folder / LOG).read_text("utf-8").splitlines() if line.endswith("}")]
        if (words := (folder / "said.txt").read_text("utf-8", "replace")).strip():
            raise Unexpected(f"Written to the terminal: {words[:300]}")
        files_whole(folder / "files", lines)
        return recovered(folder / "xdg_state_home" / "kinetostat" / "recovery", lines, killed)

    def close(self) -> None:
        """Nothing is open."""


TRIALS = KillTrials
Line = dict[str, Any]


def watched(child: subprocess.Popen[bytes], log: Path, life: float) -> None:
    """Wait until the window is ready, and then so long."""
    end = time.monotonic() + START
    while not (log.is_file() and '"ready"' in log.read_text("utf-8")):
        if time.monotonic() > end or child.poll() is not None:
            raise Unexpected("The window does not get ready")
        time.sleep(0.1)
    try:
        child.wait(life)
    except subprocess.TimeoutExpired:
        return
    raise Unexpected(f"The window ends by itself ({child.returncode})")


def files_whole(folder: Path, lines: list[Line]) -> None:
    """Every file holds what was saved last, or what was being saved when the end came."""
    saved: dict[str, list[str]] = {}
    done: dict[str, int] = {}
    for line in lines:
        if line["what"] == "saving":
            saved.setdefault(line["file"], []).append(line["hash"])
        elif line["what"] == "saved":
            done[line["file"]] = len(saved[line["file"]])
    for path in sorted(folder.glob("*.kst")):
        try:
            found = fingerprint(load(path))
        except KinetostatError as error:
            raise Unexpected(f"A file is torn: {path.name}") from error
        known = saved.get(path.name, [])
        allowed = known[max(done.get(path.name, 0) - 1, 0) :]
        if known and found not in allowed and (path.name in done or path.name in ("a.kst", "b.kst", "c.kst")):
            raise Unexpected(f"The file {path.name} holds what was not saved last")


def recovered(folder: Path, lines: list[Line], killed: float) -> str:
    """Whether the copy holds a state that was open in the last seconds, where there must be a copy."""
    states = [line for line in lines if line["what"] == "state" and line["time"] <= killed]
    recent = [
        line
        for line, after in zip(states, [*states[1:], None], strict=True)
        if after is None or after["time"] >= killed - OLDEST
    ]
    copies = sorted(folder.glob("*.kst"), key=lambda path: path.stat().st_mtime) if folder.is_dir() else []
    if not all(line["unsaved"] for line in recent):
        return "killed, saved shortly before"
    if states[0] is recent[0]:
        return "killed early"
    if not copies:
        raise Unexpected("There is no copy of work that was never saved in the last seconds")
    try:
        found = fingerprint(load(copies[-1]))
    except KinetostatError as error:
        raise Unexpected("The recovery copy is torn") from error
    if found not in {line["hash"] for line in recent}:
        age = next(
            (killed - after["time"] for line, after in itertools.pairwise(states) if line["hash"] == found), None
        )
        raise Unexpected("The recovery copy holds what was open " + ("never" if age is None else "too long ago"))
    return "killed, recovered"
