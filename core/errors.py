"""Errors with a message to the user: what went wrong, where, why, and the remedy.

Everything the kernel raises on purpose is a `KinetostatError`; every surface (window, command line,
console) shows `str(error)` and never a traceback. Text from files is displayed with its control characters and
direction marks made visible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any


class KinetostatError(Exception):
    """An error with a message to the user.

    what   : one sentence, e.g. "The joint has no axis."
    where  : component and field, e.g. "joint 'elbow', axis"
    file   : path of the file concerned, if any
    line   : line number in that file (first line is 1)
    remedy : what the person can do, one sentence
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
        """Return the same error with missing location data filled in (for re-raising closer to the user)."""
        self.where = self.where or where
        self.file = self.file or file
        self.line = self.line if self.line is not None else line
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt_error, (type(self), self.__dict__.copy())


LONGEST = 600
"""Maximum characters shown of a part of a message."""


def _single_line(text: str) -> str:
    """Return a part of a message on one line, shortened in the middle if it is very long."""
    line = " ".join(text.split()) if not text.isprintable() else text
    return line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"


def _rebuilt_error(kind: type[KinetostatError], state: dict[str, object]) -> KinetostatError:
    error = kind.__new__(kind, state["what"])
    error.__dict__.update(state)
    return error


class ModelError(KinetostatError):
    """Inconsistent document: duplicate name, unknown reference, value of the wrong kind."""


class FileError(KinetostatError):
    """A file cannot be read or written."""


class CodeRefused(FileError):
    """A file requires its own code to be run, which the user has not allowed.

    allow : what allows it (`core.files.Trusted`), None if nothing does
    """

    allow: Any = None

    @property
    def message(self) -> str:
        """Return the message without its remedy, for a dialog that offers one."""
        return str(self).removesuffix(self.remedy).rstrip()


class ExpressionError(KinetostatError):
    """A formula cannot be parsed or has no value."""


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


def listed(words: Sequence[str]) -> str:
    """Return words joined with commas and "and"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def near_misses(name: str, names: Iterable[str]) -> str:
    """Return the remedy for an unknown name: the names that are likely meant, or some of the available ones."""
    known = sorted(names) if isinstance(names, set | frozenset) else list(names)
    if close := likely_meant(name, known):
        return f"Did you mean {', '.join(close)}?"
    inside = [each for each in known if each.startswith(f"{name.rpartition('.')[0]}.")]
    shown = inside or known
    return "Known: " + ", ".join(shown[:8]) + (" …" if len(shown) > 8 else ".") if known else "None is known."


def likely_meant(name: str, names: Iterable[str]) -> list[str]:
    """Return at most three known names that an unknown name may mean: differing only in case, synonyms in other
    programs, or similar spelling."""
    import difflib

    from core.synonyms import meant_by

    known = list(names)
    same = [each for each in known if each.casefold() == name.casefold()]
    return same[:3] or meant_by(name, known)[:3] or difflib.get_close_matches(name, known, 3, 0.5)


_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters (terminals take them as commands) but tab and new line
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # change the direction of writing
    "\u2028\u2029\ufeff"  # break lines or are nothing
    "\ud800-\udfff"  # bytes of file names that no encoding knows
    "]"
)


def visible(text: str) -> str:
    """Return the text with control characters and direction marks as escapes such as `\\u001b`, as in JSON."""
    return _UNSEEN.sub(_escape_sequence, text.replace("\r\n", "\n"))


def _escape_sequence(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
