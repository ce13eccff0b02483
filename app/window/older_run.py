"""Message that the current run is older than the machine, shown once per run, with a button that computes the run
again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.background.signals import Lifetime

if TYPE_CHECKING:
    from app.dialogs.messages import MessageCard
    from app.document.revision import DocumentState
    from app.document.run_tree import RunRecord
    from app.workbench import Workbench


class OutdatedRunNotice:
    """Watches the machine and the current run. There is no message while runs are recomputed live."""

    def __init__(self, bench: Workbench, messages: MessageCard) -> None:
        self._bench, self._session, self._messages = bench, bench.session, messages
        self._told: RunRecord | None = None
        self._words = ""
        self._life = Lifetime()
        self._life.listen(
            (self._session.changed, self._on_document_changed), (self._session.runs.changed, self._on_runs_changed)
        )

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        record = self._session.runs.current
        if old.model is new.model or record is None or record.growing or self._bench.runs.recomputes_on_change:
            return
        ran = record.run.mech.model.machine
        if ran == new.model.machine:
            self._hide_message()
        elif ran == old.model.machine and (self._told is None or self._told.id != record.id):
            self._told = record
            self._words = f"{record.name} is out of date: the machine has been changed since it was computed."
            self._messages.show_message(
                "hint", self._words, {"Compute again": lambda: self._bench.run_command("simulation.run")}
            )

    def _on_runs_changed(self) -> None:
        current = self._session.runs.current
        if self._told is not None and (current is None or current.id != self._told.id):
            self._hide_message()

    def _hide_message(self) -> None:
        """Hide the message once it no longer applies."""
        if self._words and self._messages.text == self._words:
            self._messages.dismiss()
        self._words = ""
