"""Taking away what belongs to a document beside its model, so that undo brings it back. Knows no Qt."""

from __future__ import annotations

from app.document.kept.recovery_copies import counted
from app.document.revision import Step
from app.document.run_tree import Record
from app.document.session import Session


def delete_runs(session: Session, *records: Record) -> None:
    """Take runs out of the list."""
    before = session.runs.listing()
    if records:
        label = f"Delete {records[0].name}" if len(records) == 1 else f"Delete {counted(len(records), 'run')}"
        step = Step(lambda: session.runs.remove(*records), lambda: session.runs.put_back(before))
        session.perform(label, step)
