"""The window: whatever hands do, work goes on; undo leads back to the beginning, redo to the end."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from core.errors import KinetostatError
from core.model import Model
from tests.campaign.trials import Unexpected

ACTIONS = 25
"""of one trial"""


class WindowTrials:
    """Random actions on one window, in turns that begin anew."""

    patience = 240.0
    long = 120.0
    memory = 48 << 30
    """Bytes of address space: libraries of graphics reserve far more than they use."""
    growth = 1500 << 20
    lasting = False
    """After a failure another window is opened."""

    def __init__(self, folder: Path) -> None:
        from app.window.start import create_application
        from tests.campaign.hands import answer_questions

        self.application = create_application(["campaign"])
        self.luck, self.folder = random.Random(0), folder
        answer_questions(lambda: self.luck, lambda: self.folder)
        self.caught: list[BaseException] = []
        self._catch()
        self._open(folder)

    def _open(self, folder: Path) -> None:
        from tests.app.conftest import new_bench

        self.bench = new_bench(folder / "settings.ini")
        self.opened: Model = self.bench.session.model
        self.document = self.bench.session.document
        self.bench.session.changed.connect(self._changed)

    def _catch(self) -> None:
        """What the window's guard reports as unexpected is known here with all its details."""
        from app.background.guard import Guard

        report, caught = Guard.report, self.caught

        def listened(guard: Guard, error: BaseException) -> None:
            cause = error.__cause__ if type(error).__name__ == "EmitLoopError" and error.__cause__ else error
            if not isinstance(cause, KinetostatError):
                caught.append(cause)
            report(guard, error)

        Guard.report = listened  # type: ignore[method-assign]

    def _changed(self, old: Any, new: Any) -> None:
        if self.bench.session.document != self.document:
            self.document, self.opened = self.bench.session.document, new.model

    def trial(self, luck: random.Random, folder: Path) -> str:
        """A turn: actions from a fresh start, then all of them undone and done again."""
        from tests.app.conftest import fresh
        from tests.campaign.hands import SMALL, Hands

        self.luck, self.folder = luck, folder
        self._close_dialogs()
        fresh(self.bench)
        if luck.random() < 0.9:
            self.bench.example(luck.choice(SMALL[:-1]))
        hands = Hands(self.bench, luck, folder)
        for _ in range(ACTIONS):
            hands.act()
            self._look()
        self._close_dialogs()
        self._settle()
        self._look()
        self._there_and_back()
        self._look()
        return "turn"

    def _look(self) -> None:
        """Nothing unexpected was reported."""
        if self.caught:
            error = self.caught[0]
            self.caught.clear()
            raise error
        for message in self.bench.window.messages.log:
            if "unexpectedly" in message.text or "Traceback" in message.text:
                raise Unexpected(f"Told in the window: {message.text[:200]}")

    def _close_dialogs(self) -> None:
        """Nothing stands in the way."""
        from PySide6.QtWidgets import QApplication, QDialog

        from tests.campaign.hands import pause

        for _ in range(20):
            place = QApplication.activePopupWidget() or QApplication.activeModalWidget()
            if place is None:
                return
            place.reject() if isinstance(place, QDialog) else place.close()
            pause(0.01)

    def _settle(self) -> None:
        """What goes on by itself ends."""
        from tests.app.conftest import pump, settle

        window = self.bench.window
        window.interactive.stop()
        window.viewport.gestures.cancel_gesture()
        window.run_command("simulation.stop")
        pump(lambda: not window.files.opening.is_busy and not window.simulation.is_running, 30.0)
        settle()
        if window.focusWidget() is not None:  # what was typed and not entered yet is an edit, too
            window.focusWidget().clearFocus()
        window.session.cancel_preview()

    def _there_and_back(self) -> None:
        """Undo leads to the model that was opened, redo to the last one."""
        session = self.bench.session
        last, steps = session.model, 0
        while session.undo_label and steps < 1000:
            session.undo()
            steps += 1
        if session.model != self.opened:
            raise Unexpected("Undoing everything leads to another model than the one that was opened")
        while session.redo_label and steps > 0:
            session.redo()
            steps -= 1
        if session.model != last:
            raise Unexpected("Doing everything again leads to another model than the last")

    def close(self) -> None:
        """Close the window."""
        from tests.app.conftest import end

        end(self.bench)


TRIALS = WindowTrials
