"""Normalisation of search text and of the texts it is compared with."""

from __future__ import annotations

import re


def normalised_search_text(text: str) -> str:
    """Return a text in lower case with single blanks, hyphens replaced by blanks: "Four-bar" and "four bar" become
    equal."""
    return " ".join(re.sub(r"[-–_]", " ", text).casefold().split())
