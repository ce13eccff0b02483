"""Background processing of long formulas: readable numbers, operation counts, names for common subexpressions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from core.symbolic.factoring import shared
from core.symbolic.forms import Form, children, names, operations
from core.symbolic.notation import Kept, legible

LONG = 1_000
"""Formula size above which the work is done in a thread; smaller formulas take a few milliseconds."""

WORTH = 2
"""Number of operations from which a subexpression gets a name."""

Entries = Sequence[Sequence[Form]]


class Prepared(NamedTuple):
    """Entries with readable numbers, and the number of operations of each."""

    entries: list[list[Form]]
    sizes: list[list[int]]


class Names(NamedTuple):
    """Entries written with names for repeated subexpressions, the definitions of the names, and the other names that
    each one uses."""

    entries: list[list[Form]]
    meaning: dict[str, Form]
    used: frozenset[str]
    """Names that occur in the entries."""
    uses: dict[str, frozenset[str]]


class Beside:
    """Work in a background thread that does not use the window; `take` passes its result on when finished."""

    def __init__(self, work: Callable[[], Any], hand_over: Callable[[Any], None]) -> None:
        self._work, self._hand_over = work, hand_over
        self._made: Any = None
        self._thread = threading.Thread(target=self._run, name="formulas", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._made = self._work()

    @property
    def done(self) -> bool:
        """True when the work has ended."""
        return not self._thread.is_alive()

    def take(self) -> None:
        """Pass the result on."""
        self._hand_over(self._made)


def is_long(entries: Entries) -> bool:
    """Return True if there are more parts than can be processed in the window's thread."""
    waiting = [form for row in entries for form in row]
    count = 0
    while waiting and count <= LONG:
        inner = children(waiting.pop())
        count += 1
        waiting += inner
    return count > LONG


def prepared(entries: Entries) -> Prepared:
    """Return the entries as they are displayed."""
    kept: Kept = {}
    counted: dict[int, int] = {}
    made = [[legible(form, kept=kept) for form in row] for row in entries]
    return Prepared(made, [[operations(form, counted) for form in row] for row in made])


def named(entries: Entries) -> Names:
    """Return the entries with names for repeated subexpressions."""
    flat = [form for row in entries for form in row]
    taken = set().union(*map(names, flat)) if flat else set()
    stem = next(s for s in ("x", "t", "w", "sub") if not any(n.startswith(s) for n in taken))
    definitions, short = shared(flat, stem, WORTH)
    columns = len(entries[0])
    meaning = dict(definitions)
    rows = [short[i : i + columns] for i in range(0, len(short), columns)]
    used = frozenset().union(*map(names, short)) & meaning.keys()
    return Names(rows, meaning, used, {name: frozenset(names(form) & meaning.keys()) for name, form in definitions})
