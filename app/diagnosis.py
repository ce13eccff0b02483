"""The findings of the open model, computed once per model for all panels that show them."""

from __future__ import annotations

from core.model import Finding, Model
from core.model.plausibility import check

_last: list[tuple[Model, tuple[Finding, ...]]] = []


def findings_of(model: Model) -> tuple[Finding, ...]:
    """What is questionable in a model; the last model's answer is kept."""
    if not _last or _last[0][0] is not model:
        _last[:] = [(model, tuple(check(model)))]
    return _last[0][1]
