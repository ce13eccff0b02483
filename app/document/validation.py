"""The findings of the open model, computed once per model for all panels that show them."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from app.background.worker import Worker
from core.files import check
from core.model import Finding, Model

AT_ONCE = 24
"""Models of at most this many elements are checked at every edit (about 5 ms); larger ones later, in a thread."""
PAUSE_MS = 200
LOOK_MS = 10
"""Milliseconds between two checks of the thread."""

_last: list[tuple[Model, tuple[Finding, ...]]] = []
_asked: list[Model] = []
"""The model that the thread is checking, or checked last."""
_checker = Worker("findings", lambda _error: None)
"""Thread that checks large models; a failure is raised when the findings are next requested."""


def findings_of(model: Model) -> tuple[Finding, ...]:
    """Return the findings of a model; those of the last two models are cached (the open one, and one that a thread
    prepares for opening)."""
    found = _cached_findings(model)
    if found is None:
        found = tuple(check(model))
        _last[:] = [(model, found), *_last[:1]]
    return found


def _cached_findings(model: Model) -> tuple[Finding, ...] | None:
    return next((found for each, found in tuple(_last) if each is model), None)


def _are_findings_due(model: Model) -> bool:
    """Return True if the findings of a model are known, or the thread, started here, cannot provide them."""
    if _cached_findings(model) is not None:
        return True
    if not any(each is model for each in _asked):
        _asked[:] = [model]
        _checker.do(partial(findings_of, model), "findings")
    return not _checker.busy


class Diagnosis(QObject):
    """Findings for one panel. While a large model is being edited the last findings stay; `ready` is emitted when new
    ones are known."""

    ready = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._found: tuple[Finding, ...] = ()
        self._wanted: Model | None = None
        self._pause = QTimer(self, singleShot=True)
        self._pause.timeout.connect(self._update_findings)

    def findings(self, model: Model) -> tuple[Finding, ...]:
        """Return the findings of a model, or for the moment those of the model before."""
        known = _cached_findings(model) is not None
        first = self._wanted is None
        self._wanted = model
        if known or first or sum(1 for _ in model.elements()) <= AT_ONCE:
            self._pause.stop()
            self._found = findings_of(model)
        else:
            self._pause.start(PAUSE_MS)
        return self._found

    def _update_findings(self) -> None:
        assert self._wanted is not None
        if not _are_findings_due(self._wanted):
            self._pause.start(LOOK_MS)
            return
        before, self._found = self._found, findings_of(self._wanted)
        if self._found != before:
            self.ready.emit()
