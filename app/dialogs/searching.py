"""What a person types to find something, and what it is compared with."""

from __future__ import annotations

import re


def plain_words(text: str) -> str:
    """Without capitals, with single blanks, hyphens as blanks: "Four-bar" and "four bar" are the same."""
    return " ".join(re.sub(r"[-–_]", " ", text).casefold().split())
