"""What is done to long formulas beside the window: numbers made legible, sizes counted, common parts named."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from core.symbolic.factoring import shared
from core.symbolic.forms import Form, children, names, operations
from core.symbolic.legible import Kept, legible

LONG = 1_000
"""Parts of formulas beyond which the work is done in a thread: less takes a few milliseconds."""

WORTH = 2
"""Operations from which on a name for a part is easier to read than the part."""

Entries = Sequence[Sequence[Form]]


class Prepared(NamedTuple):
    """Entries with legible numbers, and how many operations each takes."""

    entries: list[list[Form]]
    sizes: list[list[int]]


class Names(NamedTuple):
    """Entries in names of what occurs more than once; what the names stand for, and which others each uses."""

    entries: list[list[Form]]
    meaning: dict[str, Form]
    used: frozenset[str]
    """Names in the entries."""
    uses: dict[str, frozenset[str]]


class Beside:
    """Work in a thread that knows nothing of the window; once it is done, `take` hands over what it made."""

    def __init__(self, work: Callable[[], Any], hand_over: Callable[[Any], None]) -> None:
        self._work, self._hand_over = work, hand_over
        self._made: Any = None
        self._thread = threading.Thread(target=self._run, name="formulas", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._made = self._work()

    @property
    def done(self) -> bool:
        """Whether the work has ended."""
        return not self._thread.is_alive()

    def take(self) -> None:
        """Hand over the result."""
        self._hand_over(self._made)


def is_long(entries: Entries) -> bool:
    """Whether there are more parts than can be worked on in the window's thread."""
    waiting = [form for row in entries for form in row]
    count = 0
    while waiting and count <= LONG:
        inner = children(waiting.pop())
        count += 1
        waiting += inner
    return count > LONG


def prepared(entries: Entries) -> Prepared:
    """Entries as they are shown."""
    kept: Kept = {}
    counted: dict[int, int] = {}
    made = [[legible(form, kept=kept) for form in row] for row in entries]
    return Prepared(made, [[operations(form, counted) for form in row] for row in made])


def named(entries: Entries) -> Names:
    """Entries in names."""
    flat = [form for row in entries for form in row]
    taken = set().union(*map(names, flat)) if flat else set()
    stem = next(s for s in ("x", "t", "w", "sub") if not any(n.startswith(s) for n in taken))
    definitions, short = shared(flat, stem, WORTH)
    columns = len(entries[0])
    meaning = dict(definitions)
    rows = [short[i : i + columns] for i in range(0, len(short), columns)]
    used = frozenset().union(*map(names, short)) & meaning.keys()
    return Names(rows, meaning, used, {name: frozenset(names(form) & meaning.keys()) for name, form in definitions})
