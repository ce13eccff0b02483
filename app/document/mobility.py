"""Mobility of the open model, analysed in the background after every edit, for all panels that show it.

What the next movement of the machine needs is made first, in the same thread.
"""

from __future__ import annotations

import threading
import weakref
from contextlib import suppress
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from app.document.session import Session
from core.constraints.mobility.findings import examined
from core.constraints.mobility.mobility import Mobility
from core.errors import KinetostatError
from core.mechanism import Mechanism
from core.model import WORDS, Finding, Model
from core.programs.compiled import Compiled
from viz.scene.prefetch import prepare_motion_meshes

PAUSE_MS = 350
"""Pause in ms after an edit before the machine is analysed."""
LOOK_EVERY = 40
"""Milliseconds between two checks of the thread."""

_known: weakref.WeakKeyDictionary[Session, ModelMobility] = weakref.WeakKeyDictionary()


class _Analysis:
    """Task and result of the analysis thread."""

    def __init__(self, model: Model, mech: Mechanism) -> None:
        self.model: Model | None = model
        self.mech = mech
        self.outcome: tuple[Mobility | None, tuple[Finding, ...]] | None = None

    def run(self) -> None:
        """Analyse the model (in the thread)."""
        assert self.model is not None
        try:
            make_ready(self.mech)
            outcome = examined(Compiled(self.model))
        except KinetostatError:
            outcome = (None, ())
        self.outcome = outcome


def make_ready(mech: Mechanism) -> None:
    """Prepare in advance what pointing at the machine, the first drag of a joint and the first energy plot need. May
    run in a thread."""
    with suppress(KinetostatError):  # told where it is asked for
        if mech.constrained:
            from core.constraints.closed_forms.closed_forms import closed_forms_of

            closed_forms_of(mech.compiled.program).make_ready()
        mech.energy(mech.rest(), np.zeros(mech.nv))
    prepare_motion_meshes(mech.model)


class ModelMobility(QObject):
    """`mobility` and `findings` of the last model analysed; emits `ready` when they change."""

    ready = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = weakref.ref(session)
        self._ticket: _Analysis | None = None
        self._model: Model | None = None
        self.mobility: Mobility | None = None
        self._found: tuple[Finding, ...] = ()
        self._message = ""
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._begin_analysis)
        self._look = QTimer(self, interval=LOOK_EVERY)
        self._look.timeout.connect(self._check_thread)
        session.changed.connect(self._changed)
        self._pause.start()

    def findings(self, model: Model) -> tuple[Finding, ...]:
        """Return the findings of a model; none while its analysis is pending."""
        return self._found if self._model is model else ()

    def of(self, model: Model) -> Mobility | None:
        """Return the mobility of a model; None while its analysis is pending."""
        return self.mobility if self._model is model else None

    def _changed(self, old: Any, new: Any) -> None:
        if old.model is not new.model:
            self._pause.start()

    def _begin_analysis(self) -> None:
        session = self._session()
        if session is None or self._ticket is not None:
            return
        self._ticket = _Analysis(session.model, session.mech)
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
        self._report_open_loop(session)

    @property
    def open_loop_reason(self) -> str:
        """Return why the machine's loops do not close; '' if they do."""
        found = self._found[0] if self._found and self.mobility is None else None
        return "" if found is None else f"{WORDS[found.collection]} '{found.name}': {found.text} {found.remedy}".strip()

    def _report_open_loop(self, session: Session) -> None:
        """Report once that an edit or a file left a loop open."""
        words = self.open_loop_reason
        if words and words != self._message:
            session.message.emit("warning", words)
        self._message = words


def mobility_of_session(session: Session) -> ModelMobility:
    """Return the mobility analysis attached to a session."""
    found = _known.get(session)
    if found is None:
        found = _known[session] = ModelMobility(session)
    return found
