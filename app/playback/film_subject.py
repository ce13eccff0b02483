"""Source of a film: the open sequence of poses, otherwise the current run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from core.functions.results import EllipsoidField, PoseSequence

if TYPE_CHECKING:
    from app.document.run_tree import Record, Runs
    from app.playback.sequence import Sequence
    from core.mechanism import Mechanism


class Filmed(NamedTuple):
    """A sequence of poses with the data a film needs; interval : time for which a pose is shown, s."""

    poses: PoseSequence
    field: EllipsoidField | None
    mech: Mechanism
    interval: float


def film_subject(sequence: Sequence, runs: Runs) -> Record | Filmed | None:
    """Return the run or sequence to be filmed; None if there is none. A sequence is filmed only while it is shown pose
    by pose."""
    if sequence.poses is not None and sequence.animated:
        return Filmed(sequence.poses, sequence.field, sequence.mech, sequence.interval)
    record = runs.current
    return record if record is not None and len(record.run.time) else None
