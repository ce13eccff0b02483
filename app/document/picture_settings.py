"""Settings for pictures of the open machine: the visible region of space and the unit of lengths."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from core.functions.context import Context

if TYPE_CHECKING:
    from app.document.session import Session
    from app.preferences.settings import Settings


class PictureSettings:
    """Picture settings of a session. `ranges`: the region of space that pictures show, as in `ViewRanges`."""

    def __init__(self, session: Session, settings: Settings) -> None:
        self._session, self._settings = session, settings
        self.ranges: tuple[tuple[float, float], ...] = ()

    def context(self) -> Context:
        """Return the machine as currently shown, for functions that may write pictures."""
        now = self._session.context()
        return dataclasses.replace(now, ranges=self.ranges, millimetres=self._settings.millimetres)
