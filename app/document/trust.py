"""Files that ask to run their own code: the user is told and may allow it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from core.errors import CodeRefused
from core.files import Trusted

WORDS = (
    "If you trust the author of {}, you can let it run its code: it can then read, change and send "
    "everything that you can on this computer. The permission holds for the present content of the file, "
    "while it is open."
)


class Messages(Protocol):
    """The place where messages are shown to the user."""

    def tell(self, severity: str, text: str, choices: dict[str, Callable[[], object]] | None = None) -> None:
        """Show a message; `choices` maps button titles to callbacks."""


def offer(messages: Messages, error: BaseException, then: Callable[[Trusted], object]) -> bool:
    """Report that a file was refused, with a button to trust it; returns False if the error is of another kind."""
    if not isinstance(error, CodeRefused) or error.allow is None:
        return False
    words = f"{error.message} {WORDS.format(Path(error.allow.file).name)}"
    messages.tell("error", words, {"Open and run its code": lambda: then(error.allow)})
    return True
