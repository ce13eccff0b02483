"""Fuzzy matching of typed text against names, and suggestions of similar names if none matches."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher


def normalised_search_text(text: str) -> str:
    """Return a text in lower case with single blanks, hyphens replaced by blanks: "Four-bar" and "four bar" become
    equal."""
    return " ".join(re.sub(r"[-–_]", " ", text).casefold().split())


EXACT, BEGUN, WORD, PARTS, ALIKE = 1000.0, 800.0, 600.0, 400.0, 200.0
"""Scores of a text that equals the typed text, begins with it as whole words, has a word beginning with it, has words
beginning with each typed word, or matches as an abbreviation or a typing error."""
WHOLE, FIRST, SHORT = 80.0, 40.0, 40.0
"""Bonus scores if the typed words are whole words of the text, if the text begins with them, and (at most) for a short
text."""
A_SLIP = 6
"""Least word length for which one wrong letter is tolerated; shorter words are too often similar ("share", "shape")."""
NEAR_FRACTION = 0.75
"""Least similarity at which a word is suggested if nothing matches."""
STEM = 4
"""Least length of a word that matches longer typed words beginning with it ("drawing" matches "draw")."""


def match_score(typed: str, text: str) -> float | None:
    """Return how well the typed text matches a text: higher is better, None for no match. Letters merely scattered
    through the text do not match: "contact" does not match "Exciting motion"."""
    plain, words = normalised_search_text(typed), split_words(text)
    if not plain:
        return 0.0
    together, joined = plain.replace(" ", ""), "".join(words)
    typed_words = plain.split()
    if together == joined:
        points = EXACT + (plain == normalised_search_text(text))
    elif words[: len(typed_words)] == typed_words:
        points = BEGUN
    elif any("".join(words[k:]).startswith(together) for k in range(len(words))):
        whole = f" {' '.join(typed_words)} " in f" {' '.join(words)} "
        points = WORD + WHOLE * whole + FIRST * joined.startswith(together)
    elif all(any(word.startswith(each) for word in words) for each in typed_words):
        points = PARTS
    elif _abbreviates(together, text) or all(_matches_beginning_or_slip(each, words) for each in typed_words):
        points = ALIKE
    else:
        return None
    return points + SHORT * 20.0 / (20.0 + len(joined))


def split_words(text: str) -> list[str]:
    """Split a text into lower-case words; a capital inside a word starts a new one ("SimPlot": sim, plot)."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    return re.findall(r"\w+", normalised_search_text(parted))


def _matches_beginning_or_slip(typed: str, words: list[str]) -> bool:
    return any(word.startswith(typed) or _differs_by_slip(typed, word) for word in words)


def _differs_by_slip(typed: str, word: str) -> bool:
    """Return True if a typed word differs from another one by one missing, extra or wrong letter or by two swapped
    letters."""
    if min(len(typed), len(word)) < A_SLIP or abs(len(typed) - len(word)) > 1 or typed[0] != word[0]:
        return False
    k = next((k for k, (a, b) in enumerate(zip(typed, word, strict=False)) if a != b), min(len(typed), len(word)))
    a, b = typed[k:], word[k:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[1::-1] == b[:2] and a[2:] == b[2:])


def _abbreviates(letters: str, text: str) -> bool:
    """Return True if letters are the initials of a text's words, or beginnings of some of its words, in order ("fk":
    forward kinematics, "expic": export picture)."""
    initials = "".join(word[0] for word in re.findall(r"\w+", normalised_search_text(text)))
    return letters == initials or _are_word_beginnings(letters, split_words(text))


def _are_word_beginnings(letters: str, words: list[str]) -> bool:
    if not letters:
        return True
    for k, word in enumerate(words):
        begun = 0
        while begun < min(len(word), len(letters)) and word[begun] == letters[begun]:
            begun += 1
        if any(_are_word_beginnings(letters[n:], words[k + 1 :]) for n in range(begun, 1, -1)):
            return True
    return False


def best_similarity(typed: str, texts: Iterable[str]) -> float:
    """Return the similarity between the typed words and the words of some texts; 0 for none. Short words are
    ignored."""
    words = {word for text in texts for word in split_words(text) if len(word) >= STEM}
    return sum(
        max((_similarity(each, word) for word in words), default=0.0)
        for each in split_words(typed)
        if len(each) >= STEM
    )


def _similarity(typed: str, word: str) -> float:
    shorter, longer = sorted((typed, word), key=len)
    if longer.startswith(shorter):
        return 1.0
    alike = SequenceMatcher(None, typed, word)
    if typed[0] != word[0] or alike.real_quick_ratio() < NEAR_FRACTION:
        return 0.0
    return ratio if (ratio := alike.ratio()) >= NEAR_FRACTION else 0.0
