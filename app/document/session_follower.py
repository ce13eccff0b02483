"""Results for the present state of a session that a thread computes while somebody wants them."""

from __future__ import annotations

import weakref
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self, cast

from PySide6.QtCore import QObject, QTimer

from app.background.jobs import Worker
from app.background.signals import Lifetime
from app.document.session import Session

LOOK_EVERY = 15
"""Milliseconds between looks at what the thread has computed."""

_known: weakref.WeakKeyDictionary[Session, dict[type, SessionFollower]] = weakref.WeakKeyDictionary()
"""Followers that sessions have, by class."""


class SessionFollower(QObject):
    """Base of objects that follow a session: each session has one of a class, created on first use (`of_session`).

    A subclass submits work to `_worker` in `_request` and starts `_timer`, which calls `_check_thread` until it is
    stopped. task : name of the thread
    """

    def __init__(self, session: Session, task: str, on_failed: Callable[[Exception], None]) -> None:
        super().__init__()
        self._session_ref = weakref.ref(session)
        self._users: set[object] = set()
        self._asked: Any = None
        """Latest request; None: nothing is wanted."""
        self._worker = Worker(task, on_failed)
        self._timer = QTimer(self, interval=LOOK_EVERY)
        self._timer.timeout.connect(self._check_thread)
        self._life = Lifetime()
        self._life.callback(self._worker.close)
        self._life.callback(self._timer.stop)

    @classmethod
    def of_session(cls, session: Session) -> Self:
        """Return the session's follower of this class, created on first use."""
        followers = _known.setdefault(session, {})
        if cls not in followers:
            followers[cls] = cls(session)  # type: ignore[call-arg]
        return cast("Self", followers[cls])

    def close(self) -> None:
        """Disconnect and end the thread."""
        self._users.clear()
        self._asked = None
        self._life.close()
        session = self._session_ref()
        followers = _known.get(session, {}) if session is not None else {}
        if followers.get(type(self)) is self:
            del followers[type(self)]

    @property
    def session(self) -> Session:
        """The session that is followed."""
        session = self._session_ref()
        assert session is not None
        return session

    @property
    def is_wanted(self) -> bool:
        """True while the results are shown somewhere."""
        return bool(self._users)

    def show_for(self, user: object, wanted: bool) -> None:
        """Compute the results while any user, such as the visible panel, wants them."""
        if wanted == (user in self._users):
            return
        self._users.add(user) if wanted else self._users.discard(user)
        self._request()
        self._on_wanted_changed()

    def _on_wanted_changed(self) -> None:
        """Follow a change of the users."""

    @abstractmethod
    def _request(self) -> None:
        """Request the results for the present state."""

    @abstractmethod
    def _check_thread(self) -> None:
        """Take over what the thread has computed."""
