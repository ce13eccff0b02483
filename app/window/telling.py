"""Where the window speaks to the person."""

from __future__ import annotations

from typing import NamedTuple

from app.background.guard import Guard
from app.dialogs.messages import MessageCard
from app.window.notices import Notices
from app.window.status import StatusLine


class Telling(NamedTuple):
    """The card of messages, what waits for an answer, the status line, and what turns failures into messages."""

    messages: MessageCard
    notices: Notices
    status: StatusLine
    guard: Guard
