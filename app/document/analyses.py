"""Background analyses of the open model after every edit, run once for all panels that show them: findings, mobility,
and the proposal that makes an overconstrained machine isostatic.

The next movement needs some preparation of the machine, which is made first, in the thread of the mobility.
"""

from __future__ import annotations

import threading
import weakref
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from app.background.jobs import Jobs, Worker
from app.document.session import Session
from core.constraints.mobility.findings import examine_mobility
from core.constraints.mobility.mobility import Mobility
from core.errors import KinetostatError
from core.files import check
from core.mechanism import Mechanism
from core.model import WORDS, Finding, Model
from core.programs.compiled import CompiledModel
from viz.scene.prefetch import prepare_motion_meshes

if TYPE_CHECKING:
    from core.constraints.mobility.mobility import Mobility
    from core.model import Model


MOBILITY_PAUSE_MS = 350
"""Pause in ms between an edit and the analysis of the machine."""
MOBILITY_LOOK_MS = 40
"""Milliseconds between two checks of the thread."""

_known: weakref.WeakKeyDictionary[Session, ModelAnalysis] = weakref.WeakKeyDictionary()


class _AnalysisTask:
    """Task and result of the analysis thread."""

    def __init__(self, model: Model, mech: Mechanism) -> None:
        self.model: Model | None = model
        self.mech = mech
        self.outcome: tuple[Mobility | None, tuple[Finding, ...]] | None = None
        self.error: BaseException | None = None
        """Unexpected error, to be raised in the window's thread, where it is reported."""

    def run(self) -> None:
        """Analyse the model (in the thread)."""
        assert self.model is not None
        outcome: tuple[Mobility | None, tuple[Finding, ...]] = (None, ())
        try:
            precompute_for_interaction(self.mech)
            outcome = examine_mobility(CompiledModel(self.model))
        except KinetostatError:
            pass
        except BaseException as error:  # as the program ends, imports and threads fail here, too
            self.error = error
        self.outcome = outcome


def precompute_for_interaction(mech: Mechanism) -> None:
    """Compute in advance what hovering over the machine, the first drag of a joint and the first energy plot need. May
    run in a thread."""
    with suppress(KinetostatError):  # reported where it is used
        if mech.constrained:
            from core.constraints.closed_forms.closed_forms import get_analytic_closure

            get_analytic_closure(mech.compiled.program).compile_closing_code()
        mech.energy(mech.rest(), np.zeros(mech.nv))
    prepare_motion_meshes(mech.model)


class ModelAnalysis(QObject):
    """Background analysis of a session's model: the mobility and findings of the last model analysed; emits `ready`
    when they change."""

    ready = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = weakref.ref(session)
        self._ticket: _AnalysisTask | None = None
        self._model: Model | None = None
        self.mobility: Mobility | None = None
        self._found: tuple[Finding, ...] = ()
        self._message = ""
        self._is_held = False
        self._pause = QTimer(self, singleShot=True, interval=MOBILITY_PAUSE_MS)
        self._pause.timeout.connect(self._begin_analysis)
        self._look = QTimer(self, interval=MOBILITY_LOOK_MS)
        self._look.timeout.connect(self._check_thread)
        session.changed.connect(self._on_document_changed)
        self._pause.start()

    def findings_for(self, model: Model) -> tuple[Finding, ...]:
        """Return the findings of a model; none while its analysis is pending."""
        return self._found if self._model is model else ()

    def mobility_of(self, model: Model) -> Mobility | None:
        """Return the mobility of a model; None while its analysis is pending."""
        return self.mobility if self._model is model else None

    def _on_document_changed(self, old: Any, new: Any) -> None:
        if old.model is not new.model:
            self._pause.start()

    def hold(self) -> None:
        """Begin no analysis until `release`, so that it takes no time from the window's first picture."""
        self._is_held = True

    def release(self) -> None:
        """Begin the analysis that was held."""
        self._is_held = False
        self._pause.start()

    def _begin_analysis(self) -> None:
        session = self._session()
        if session is None or self._ticket is not None or self._is_held:
            return
        self._ticket = _AnalysisTask(session.model, session.mech)
        threading.Thread(target=self._ticket.run, name="mobility", daemon=True).start()
        self._look.start()

    def _check_thread(self) -> None:
        ticket, session = self._ticket, self._session()
        if session is None or ticket is None:
            self._look.stop()
            return
        if ticket.outcome is None:
            return
        self._ticket = None
        self._look.stop()
        if ticket.model is not session.model:
            self._begin_analysis()
            return
        self._model = ticket.model
        self.mobility, self._found = ticket.outcome
        self.ready.emit()
        if ticket.error is not None:
            raise ticket.error
        self._report_open_loop(session)

    @property
    def open_loop_reason(self) -> str:
        """Reason why the machine's loops do not close; '' if they do."""
        found = self._found[0] if self._found and self.mobility is None else None
        return "" if found is None else f"{WORDS[found.collection]} '{found.name}': {found.text} {found.remedy}".strip()

    def _report_open_loop(self, session: Session) -> None:
        """Report once that an edit or a file has left a loop open."""
        words = self.open_loop_reason
        if words and words != self._message:
            session.message.emit("warning", words)
        self._message = words


def model_analysis_of(session: Session) -> ModelAnalysis:
    """Return the background analysis of a session's model, created on first use."""
    found = _known.get(session)
    if found is None:
        found = _known[session] = ModelAnalysis(session)
    return found


def isostatic_proposal(session: Session) -> Mobility | None:
    """Return the mobility of the open model if it includes a proposal to make the machine isostatic; otherwise None."""
    found = model_analysis_of(session).mobility_of(session.model)
    return found if found is not None and found.proposal else None


def make_isostatic(session: Session, jobs: Jobs) -> None:
    """Apply the proposal, after checking that the changed machine moves as before and has no redundant constraints."""
    found, model = isostatic_proposal(session), session.model
    if found is None:
        session.message.emit("hint", "No redundant constraints have been found in this machine.")
        return

    def build_isostatic_model(_progress: Any, _cancelled: Any) -> Model:
        from core.constraints.mobility.isostatic_model import isostatic_model

        return isostatic_model(CompiledModel(model), found)

    def apply_model(changed: Model) -> None:
        if session.model is not model:
            session.message.emit("hint", "The model was edited meanwhile, so the proposal is being computed again.")
        elif session.apply("Make isostatic", lambda _model: changed):
            session.message.emit("done", _isostatic_done_message(found))

    def on_failed(error: BaseException) -> None:
        if not isinstance(error, KinetostatError):
            raise error
        session.message.emit("error", str(error))

    job = jobs.start("Checking the proposal", build_isostatic_model)
    job.succeeded.connect(apply_model)
    job.failed.connect(on_failed)


def _isostatic_done_message(mobility: Mobility) -> str:
    count, dof = len(mobility.redundant), mobility.dof
    held = "constraint" if count == 1 else "constraints"
    freedoms = "degree" if dof == 1 else "degrees"
    advice = mobility.advice[:1].lower() + mobility.advice[1:]
    return f"Done: {advice} {count} redundant {held} removed; still {dof} {freedoms} of freedom (checked again)."


AT_ONCE = 24
"""Models with at most this many elements are checked at every edit (about 5 ms); larger ones later, in a thread."""
FINDINGS_PAUSE_MS = 200
FINDINGS_LOOK_MS = 10
"""Milliseconds between two checks of the thread."""

_last: list[tuple[Model, tuple[Finding, ...]]] = []
_asked: list[Model] = []
"""The model that the thread is checking or checked last."""
_checker = Worker("findings", lambda _error: None)
"""Thread that checks large models; an error in it is raised when the findings are next requested."""


def model_findings(model: Model) -> tuple[Finding, ...]:
    """Return the findings of a model. Those of the last two models are cached: the open one, and one that a thread
    prepares for opening."""
    found = _cached_findings(model)
    if found is None:
        found = tuple(check(model))
        _last[:] = [(model, found), *_last[:1]]
    return found


def _cached_findings(model: Model) -> tuple[Finding, ...] | None:
    return next((found for each, found in tuple(_last) if each is model), None)


def _request_findings(model: Model) -> bool:
    """Return True if the findings of a model are known, or if the thread, which this call starts, cannot provide
    them."""
    if _cached_findings(model) is not None:
        return True
    if not any(each is model for each in _asked):
        _asked[:] = [model]
        _checker.submit(partial(model_findings, model), "findings")
    return not _checker.is_busy


class PanelFindings(QObject):
    """Findings as shown in one panel. While a large model is being edited, the previous findings remain; `ready` is
    emitted when new ones are available."""

    ready = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._found: tuple[Finding, ...] = ()
        self._wanted: Model | None = None
        self._pause = QTimer(self, singleShot=True)
        self._pause.timeout.connect(self._update_findings)

    def findings_for(self, model: Model) -> tuple[Finding, ...]:
        """Return the findings of a model, or those of the previous model while the new ones are being computed."""
        known = _cached_findings(model) is not None
        first = self._wanted is None
        self._wanted = model
        if known or first or sum(1 for _ in model.elements()) <= AT_ONCE:
            self._pause.stop()
            self._found = model_findings(model)
        else:
            self._pause.start(FINDINGS_PAUSE_MS)
        return self._found

    def _update_findings(self) -> None:
        assert self._wanted is not None
        if not _request_findings(self._wanted):
            self._pause.start(FINDINGS_LOOK_MS)
            return
        before, self._found = self._found, model_findings(self._wanted)
        if self._found != before:
            self.ready.emit()
