"""Exceptions with a message for the user: what went wrong, where, and the remedy.

Everything the kernel raises on purpose is a `KinetostatError`; every surface (window, command line,
console) shows `str(error)` and never a traceback. Text from files is displayed with its control characters and
direction marks made visible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any


class KinetostatError(Exception):
    """An error with a message for the user.

    what   : one sentence, e.g. "The joint has no axis."
    where  : component and field, e.g. "joint 'elbow', axis"
    file   : path of the file concerned, if any
    line   : line number in that file (first line is 1)
    remedy : what the user can do, one sentence
    """

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        remedy: str = "",
        file: str = "",
        line: int | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        self.file = file
        self.line = line
        super().__init__(what)

    def __str__(self) -> str:
        """Return the message on one line of limited length."""
        place = self.file
        if self.line is not None:
            place = f"{place}:{self.line}" if place else f"line {self.line}"
        head = ", ".join(part for part in (place, _single_line(self.where)) if part)
        text = f"{head}: {_single_line(self.what)}" if head else _single_line(self.what)
        return f"{text} {_single_line(self.remedy)}" if self.remedy else text

    def at(self, *, where: str = "", file: str = "", line: int | None = None) -> KinetostatError:
        """Return the same error with missing location data filled in, to be raised again where the location is
        known."""
        self.where = self.where or where
        self.file = self.file or file
        self.line = self.line if self.line is not None else line
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_error, (type(self), self.__dict__.copy())


LONGEST = 600
"""Largest number of characters shown of each part of a message."""


def _single_line(text: str) -> str:
    """Return a part of a message on one line, shortened in the middle if it is very long."""
    line = " ".join(text.split()) if not text.isprintable() else text
    return line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"


def _rebuild_error(kind: type[KinetostatError], state: dict[str, object]) -> KinetostatError:
    error = kind.__new__(kind, state["what"])
    error.__dict__.update(state)
    return error


class ModelError(KinetostatError):
    """Inconsistent model: duplicate name, unknown reference, value of the wrong type."""


class FileError(KinetostatError):
    """A file cannot be read or written."""


class CodeRefused(FileError):
    """A file contains code that must be run to read it, and the user has not allowed that.

    allow : what allows it (`core.files.TrustedFile`), None if nothing does
    """

    allow: Any = None

    @property
    def message(self) -> str:
        """Return the message without its remedy, for a dialog that offers the remedy as a button."""
        return str(self).removesuffix(self.remedy).rstrip()


class ExpressionError(KinetostatError):
    """A formula cannot be parsed or evaluated."""


class AssemblyError(KinetostatError):
    """The loops of a mechanism cannot be closed.

    q        : the best position found (nq,), None if there is none
    together : places of all elements that cannot hold together, e.g. ("constraint 'rod1'", "constraint 'rod2'")
    """

    q: Any = None
    together: tuple[str, ...] = ()


class SimulationError(KinetostatError):
    """A simulation cannot start or continue.

    run  : what was computed until then (`core.simulation.Run`), None if it never started
    time : simulated time of the failure, s
    """

    run: Any = None
    time: float | None = None


def join_words(words: Sequence[str]) -> str:
    """Join words with commas and a final "and"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def suggest_names(name: str, names: Iterable[str]) -> str:
    """Return the remedy for an unknown name: the names that were probably meant, or some of the available names."""
    known = sorted(names) if isinstance(names, set | frozenset) else list(names)
    if close := find_likely_names(name, known):
        return f"Did you mean {', '.join(close)}?"
    inside = [each for each in known if each.startswith(f"{name.rpartition('.')[0]}.")]
    shown = inside or known
    return "Known: " + ", ".join(shown[:8]) + (" …" if len(shown) > 8 else ".") if known else "None is known."


def find_likely_names(name: str, names: Iterable[str]) -> list[str]:
    """Return at most three known names that were probably meant by an unknown name: names that differ only in case,
    names with that synonym in other programs, or names of similar spelling."""
    import difflib

    from core.synonyms import find_meant_names

    known = list(names)
    same = [each for each in known if each.casefold() == name.casefold()]
    return same[:3] or find_meant_names(name, known)[:3] or difflib.get_close_matches(name, known, 3, 0.5)


_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters (terminals take them as commands) but tab and new line
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # change the direction of writing
    "\u2028\u2029\ufeff"  # break lines or are nothing
    "\ud800-\udfff"  # bytes of file names that no encoding knows
    "]"
)


def escape_control_characters(text: str) -> str:
    """Escape control characters and text-direction marks, as in JSON: `\\u001b`."""
    return _UNSEEN.sub(_format_escape, text.replace("\r\n", "\n"))


def _format_escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
