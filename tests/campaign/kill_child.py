"""The window that is killed: edits, saves and simulates at random and says before and after what it does.

`python -m tests.campaign.kill_child FOLDER SEED` writes lines of JSON to a file in the folder, each with the time of
the system's clock: "ready"; "state" (the hash of the model that is open, and whether it is unsaved); "saving" and
"saved" (file and hash).
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QFileDialog

from core.model import Model
from tests.campaign.hashes import fingerprint

LOG = "log.txt"
KINDS = ("pendulum", "double_pendulum", "four_bar", "damped_pendulum", "three_springs")
PAUSES = (0.0, 0.02, 0.1, 0.3, 0.6)
"""s between two actions"""


class Victim:
    """A window at work."""

    def __init__(self, folder: Path, seed: int) -> None:
        from app.window.start import create_application

        self.application = create_application(["campaign"])
        from app.window.window import Window

        self.folder, self.luck = folder, random.Random(seed)
        self.log = open(folder / LOG, "w", encoding="utf-8", buffering=1)  # noqa: SIM115
        self.window = Window()
        self.window.show()
        self.session = self.window.session
        self.count = 0

    def say(self, what: str, **more: Any) -> None:
        """A line with the time."""
        self.log.write(json.dumps({"what": what, "time": time.monotonic(), **more}) + "\n")

    def state(self, *_: object) -> None:
        """What is open now."""
        self.say("state", hash=fingerprint(self.session.model), unsaved=self.session.is_unsaved)

    def work(self) -> None:
        """Until the end."""
        from resources import examples
        from tests.campaign.hands import answer_questions, pause

        answer_questions(lambda: self.luck, lambda: self.folder)
        for path in [each.path for each in examples() if each.name in KINDS]:
            (self.folder / "files" / path.name).write_bytes(path.read_bytes())
        self.session.changed.connect(self.state)
        self.session.saved_changed.connect(self.state)
        self.open()
        self.say("ready")
        while True:
            self.luck.choices((self.edit, self.save, self.simulate, self.undo), (30, 1, 3, 4))[0]()
            pause(self.luck.choice(PAUSES))

    def open(self) -> None:
        """A machine of the folder."""
        from tests.app.conftest import pump

        self.window.files.open(self.luck.choice(sorted((self.folder / "files").glob("*.kst"))))
        pump(lambda: not self.window.files.opening.is_busy, 20.0)

    def edit(self) -> None:
        """A body more, a parameter more, another name of the machine."""
        from core.model import Parameter
        from core.model.edits import edits

        self.count += 1
        number, value = self.count, self.luck.uniform(-5.0, 5.0)

        def changed(model: Model) -> Model:
            if number % 3 == 0:
                return edits.free_body(model)[0]
            return edits.add(model, Parameter(name=f"new{number}", value=value))

        self.session.apply("Change it", changed)

    def save(self) -> None:
        """Under the name it has, or another one."""
        name = self.luck.choice((None, "a.kst", "b.kst"))
        path = self.session.path
        if path is None or name is not None:
            path = self.folder / "files" / (name or "c.kst")
            QFileDialog.getSaveFileName = lambda *_, **__: (str(path), "")  # type: ignore[method-assign]
        self.say("saving", file=path.name, hash=fingerprint(self.session.model))
        self.window.run_command("file.save" if path == self.session.path else "file.save_as")
        if not self.session.is_unsaved and self.session.path == path:
            self.say("saved", file=path.name)

    def simulate(self) -> None:
        """A run, which is left to itself."""
        self.window.simulation.change_settings(duration=self.luck.choice((0.2, 1.0)))
        self.window.run_command(self.luck.choice(("simulation.run", "simulation.stop")))

    def undo(self) -> None:
        """Back, or forth."""
        self.window.run_command(self.luck.choice(("edit.undo", "edit.redo")))


if __name__ == "__main__":
    Victim(Path(sys.argv[1]), int(sys.argv[2])).work()
