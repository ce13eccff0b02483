"""Undoable deletion of data that belong to a document but not to its model, such as runs. Independent of Qt."""

from __future__ import annotations

from app.document.kept.recovery_copies import counted
from app.document.revision import Step
from app.document.run_tree import Record
from app.document.session import Session


def delete_runs(session: Session, *records: Record) -> None:
    """Remove runs from the list, as an undo step."""
    before = session.runs.listing()
    if records:
        label = f"Delete {records[0].name}" if len(records) == 1 else f"Delete {counted(len(records), 'run')}"
        step = Step(lambda: session.runs.remove(*records), lambda: session.runs.put_back(before))
        session.perform(label, step)
