"""Background preparation of long formulas: readable numbers, operation counts, names for common subexpressions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from core.symbolic.factoring import extract_common_subexpressions
from core.symbolic.forms import Form, count_operations, names_in_form, subexpressions
from core.symbolic.notation import Kept, make_legible

LONG = 1_000
"""Number of parts of a formula above which the work is done in a thread; smaller formulas take a few milliseconds."""

WORTH = 2
"""Least number of operations for which a subexpression gets a name."""

Entries = Sequence[Sequence[Form]]


class PreparedEntries(NamedTuple):
    """Entries with readable numbers, and the number of operations of each."""

    entries: list[list[Form]]
    sizes: list[list[int]]


class NamedEntries(NamedTuple):
    """Entries written with names for repeated subexpressions, the definitions of these names, and the other names that
    each definition uses."""

    entries: list[list[Form]]
    meaning: dict[str, Form]
    used: frozenset[str]
    """Names that occur in the entries."""
    uses: dict[str, frozenset[str]]


class BackgroundWork:
    """Work in a background thread that does not use the window; its result is delivered on request once it has
    finished."""

    def __init__(self, work: Callable[[], Any], hand_over: Callable[[Any], None]) -> None:
        self._work, self._hand_over = work, hand_over
        self._made: Any = None
        self._thread = threading.Thread(target=self._run, name="formulas", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._made = self._work()

    @property
    def is_done(self) -> bool:
        """True when the work has finished."""
        return not self._thread.is_alive()

    def deliver_result(self) -> None:
        """Pass the result to the callback, in the window's thread."""
        self._hand_over(self._made)


def is_long(entries: Entries) -> bool:
    """Return True if the formulas have too many parts to be processed in the window's thread."""
    waiting = [form for row in entries for form in row]
    count = 0
    while waiting and count <= LONG:
        inner = subexpressions(waiting.pop())
        count += 1
        waiting += inner
    return count > LONG


def prepare_entries(entries: Entries) -> PreparedEntries:
    """Return the entries with readable numbers and their operation counts."""
    kept: Kept = {}
    counted: dict[int, int] = {}
    made = [[make_legible(form, cache=kept) for form in row] for row in entries]
    return PreparedEntries(made, [[count_operations(form, counted) for form in row] for row in made])


def name_subexpressions(entries: Entries) -> NamedEntries:
    """Return the entries with names for repeated subexpressions."""
    flat = [form for row in entries for form in row]
    taken = set().union(*map(names_in_form, flat)) if flat else set()
    stem = next(s for s in ("x", "t", "w", "sub") if not any(n.startswith(s) for n in taken))
    definitions, short = extract_common_subexpressions(flat, stem, WORTH)
    columns = len(entries[0])
    meaning = dict(definitions)
    rows = [short[i : i + columns] for i in range(0, len(short), columns)]
    used = frozenset().union(*map(names_in_form, short)) & meaning.keys()
    return NamedEntries(
        rows, meaning, used, {name: frozenset(names_in_form(form) & meaning.keys()) for name, form in definitions}
    )
