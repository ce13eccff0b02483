"""The places where the window shows messages to the user."""

from __future__ import annotations

from typing import NamedTuple

from app.background.guard import Guard
from app.dialogs.messages import MessageCard
from app.window.notices import Notices
from app.window.status import StatusLine


class MessagePlaces(NamedTuple):
    """The message card, the notices, the status line, and the guard that turns failures into messages."""

    messages: MessageCard
    notices: Notices
    status: StatusLine
    guard: Guard
