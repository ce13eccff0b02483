"""Padlock marks on locked bodies, at the middle of their joints and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.background.lifetime import Lifetime
from app.document.locks import places

if TYPE_CHECKING:
    from app.viewport.stage import Stage


class LockMarks:
    """Draws padlocks over the scene as the machine moves."""

    def __init__(self, view: Stage) -> None:
        self._view = view
        self._life = Lifetime()
        session = view.session
        self._life.listen((session.changed, self._changed), (session.moved, self._changed))

    def close(self) -> None:
        """Disconnect from the session."""
        self._life.close()

    def _changed(self, *_: object) -> None:
        session, notes = self._view.session, self._view.annotations
        found: dict[str, list[np.ndarray]] = {name: [] for name in sorted(session.locked)}
        if found:
            for (body, _name), X in places(session.mech, session.q, session.p, session.locked).items():
                found[body].append(X[:3, 3])
        marks = tuple(
            (float(x), float(y), float(z)) for x, y, z in (np.mean(at, axis=0) for at in found.values() if at)
        )
        if marks != notes.locks:
            notes.locks = marks
            notes.update()
