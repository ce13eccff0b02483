"""What the parts of the campaign have in common: a trial, its luck, and what counts as unexpected."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Protocol

from core.errors import KinetostatError

MAX_WORDS = 2000
"""Characters of a message to a person."""


class Unexpected(Exception):
    """What must not happen, in words."""


class Trials(Protocol):
    """One part of the campaign. Anything that `trial` raises is a finding."""

    patience: float
    """s, after which a trial that has not ended is one that hangs"""

    def trial(self, luck: random.Random, folder: Path) -> str:
        """One trial in an empty folder of its own, where it leaves its input; a word for how it ended."""
        ...

    def close(self) -> None:
        """End in order."""
        ...


def luck_of(seed: int, part: str, index: int) -> random.Random:
    """The random numbers of one trial, the same in any order and on any machine."""
    return random.Random(f"{seed} {part} {index}")


def message(error: KinetostatError) -> str:
    """The outcome of a message to a person. Raises Unexpected for one that says nothing, or far too much."""
    words = str(error)
    if not error.what.strip():
        raise Unexpected("A message without words")
    if "\n" in words:
        raise Unexpected("A message of several lines")
    if len(words) > MAX_WORDS:
        raise Unexpected("A message that is too long")
    return "message"
