"""Word of a run that is older than the machine: said once a run, with a button that computes it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.background.signals import Lifetime

if TYPE_CHECKING:
    from app.dialogs.messages import MessageCard
    from app.document.revision import State
    from app.document.run_tree import Record
    from app.workbench import Workbench


class OlderRun:
    """Watches the machine and the current run. Live what-if computes runs again by itself, so nothing is said then."""

    def __init__(self, bench: Workbench, messages: MessageCard) -> None:
        self._bench, self._session, self._messages = bench, bench.session, messages
        self._told: Record | None = None
        self._words = ""
        self._life = Lifetime()
        self._life.listen(
            (self._session.changed, self._on_changed), (self._session.runs.changed, self._on_runs_changed)
        )

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    def _on_changed(self, old: State, new: State) -> None:
        record = self._session.runs.current
        if old.model is new.model or record is None or record.growing or self._bench.runs.follows:
            return
        ran = record.run.mech.model.machine
        if ran == new.model.machine:
            self._end()
        elif ran == old.model.machine and (self._told is None or self._told.id != record.id):
            self._told = record
            self._words = f"{record.name} is older than the machine, which was changed since."
            self._messages.tell("hint", self._words, {"Compute it again": lambda: self._bench.run("simulation.run")})

    def _on_runs_changed(self) -> None:
        current = self._session.runs.current
        if self._told is not None and (current is None or current.id != self._told.id):
            self._end()

    def _end(self) -> None:
        """Hide the message once it no longer applies."""
        if self._words and self._messages.text == self._words:
            self._messages.dismiss()
        self._words = ""
