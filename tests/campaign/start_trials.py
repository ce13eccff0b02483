"""Starts of the window with work at once: none dies, and no thread makes types of Qt."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

from tests.campaign.start_child import ENDINGS
from tests.campaign.trials import Unexpected
from tests.campaign.worker import ROOT

EXAMPLES = ("four_bar", "puma560", "pendulum", "engine_v6", "stewart", "double_pendulum")
CRASH = "Current thread"
"""What faulthandler prints before the place of a crash."""


class StartTrials:
    """Starts the window, as a user with settings of nobody, and caches of the tests or, where it ends while compiling,
    none."""

    patience = 240.0
    long = 60.0

    def __init__(self, folder: Path) -> None:
        """Nothing is kept between the trials."""

    def trial(self, luck: random.Random, folder: Path) -> str:
        """One start."""
        example = luck.choice(EXAMPLES)
        seed, ending = str(luck.randrange(1 << 30)), luck.choice(ENDINGS)
        command = [sys.executable, "-m", "tests.campaign.start_child", example, seed, ending]
        own = {name: str(folder / name.lower()) for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
        if ending == "compiling":
            own["KINETOSTAT_CACHE"] = str(folder / "code")
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, env={**os.environ, **own}, timeout=0.7 * self.patience
        )
        words = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
        if words:
            (folder / "words.txt").write_text(words, encoding="utf-8")
        if done.returncode:
            at = words.find(CRASH)
            first = words if at < 0 else " ".join(words[at:].split()[:30])
            raise Unexpected(f"The window ends with {done.returncode}: {first[:250]}")
        if words:
            raise Unexpected(f"Written to the terminal: {words[:250]}")
        return f"{example}: ended, {ending}"

    def close(self) -> None:
        """Nothing is open."""


TRIALS = StartTrials
