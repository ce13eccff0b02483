"""The proposal that makes an overconstrained machine isostatic: checked in the background, applied as one undo step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.background.jobs import Jobs
from app.document.mobility import mobility_of_session
from app.document.session import Session
from core.errors import KinetostatError
from core.programs.compiled import Compiled

if TYPE_CHECKING:
    from core.constraints.mobility.mobility import Mobility
    from core.model import Model


def proposed(session: Session) -> Mobility | None:
    """Return the mobility of the open model if it includes a proposal to make it isostatic; else None."""
    found = mobility_of_session(session).of(session.model)
    return found if found is not None and found.proposal else None


def make_isostatic(session: Session, jobs: Jobs) -> None:
    """Apply the proposal after a check that the changed machine moves as before and has no redundant constraints."""
    found, model = proposed(session), session.model
    if found is None:
        session.message.emit("hint", "This machine has no redundant constraints, as far as it has been analysed.")
        return

    def work(_progress: Any, _cancelled: Any) -> Model:
        from core.constraints.mobility.isostatic_model import isostatic_model

        return isostatic_model(Compiled(model), found)

    def apply(changed: Model) -> None:
        if session.model is not model:
            session.message.emit("hint", "The model was edited meanwhile, so the proposal is computed again.")
        elif session.apply("Make isostatic", lambda _model: changed):
            session.message.emit("done", _done_message(found))

    def failed(error: BaseException) -> None:
        if not isinstance(error, KinetostatError):
            raise error
        session.message.emit("error", str(error))

    job = jobs.start("Checking the proposal", work)
    job.succeeded.connect(apply)
    job.failed.connect(failed)


def _done_message(found: Mobility) -> str:
    count, dof = len(found.redundant), found.dof
    held = "constraint" if count == 1 else "constraints"
    freedoms = "degree" if dof == 1 else "degrees"
    advice = found.advice[:1].lower() + found.advice[1:]
    return f"Done: {advice} {count} redundant {held} removed; still {dof} {freedoms} of freedom (examined again)."
