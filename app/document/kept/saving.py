"""Save a document to its file and describe the outcome. Independent of Qt."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from app.document.kept.seen_files import Sources
from core.errors import FileError
from core.files import save
from core.model import Model


class Saved(NamedTuple):
    """Outcome of saving. `whole`: the file holds all of the document; severity and text of the message."""

    whole: bool
    severity: str
    words: str


def saved(model: Model, path: Path, known: Sources, *, over: bool, backup: bool) -> Saved:
    """Write a model to a file completely or not at all, in the format given by the suffix, and return the outcome.

    A file that another program has changed meanwhile is written only if `over`; with `backup` what it held before is
    kept beside it. Raises KinetostatError.
    """
    if not over and known.changed(path):
        raise FileError(
            "Another program changed this file since it was read here, so it was not overwritten.",
            file=str(path),
            remedy="Save under another name, or reload the file.",
        )
    left_out = save(model, path, backup=backup)
    whole = all(finding.severity == "hint" for finding in left_out)
    if not left_out:
        return Saved(True, "done", f"Saved {path}")
    more = f" (and {len(left_out) - 1} more)" if len(left_out) > 1 else ""
    said = f"{left_out[0].text}{more}"
    return Saved(True, "hint", f"Saved {path}: {said}") if whole else Saved(False, "warning", f"{path}: {said}")
