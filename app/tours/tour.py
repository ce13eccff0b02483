"""What a tour is: steps that each wait for an act of the person, in whatever way it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from app.document.mobility import standing_mobility
from core.later import dataclass

if TYPE_CHECKING:
    from app.workbench import Workbench
    from core.functions.results import Result
    from core.mobility.mobility import Mobility
    from core.model import Model

MOVED = 0.2
"""How far a coordinate must go (rad or m) to count as moved by hand."""


@dataclass
class Seen:
    """What there was when a step began, and what came since."""

    bench: Workbench
    model: Model = field(init=False)
    runs: frozenset[int] = field(init=False)
    asked: set[str] = field(default_factory=set)
    """Functions that gave a result since."""
    moved: float = 0.0
    """How far the machine was moved since, at most, without being changed (rad or m)."""

    def __post_init__(self) -> None:
        session = self.bench.session
        self.model = session.model
        self._q = np.array(session.q)
        self.runs = frozenset(id(record) for record in session.runs.items)

    def look(self) -> None:
        """Notice how far the machine was moved."""
        session = self.bench.session
        q = np.asarray(session.q)
        if session.model is not self.model and len(q) != len(self._q):
            self._q = np.array(q)
        elif len(q):
            self.moved = max(self.moved, float(np.max(np.abs(q - self._q))))

    def heard(self, result: Result) -> None:
        """A function gave a result."""
        if result.function:
            self.asked.add(result.function)

    @property
    def now(self) -> Model:
        """The machine as it is, sub-assemblies and chains written out."""
        return self.bench.session.model.expanded

    @property
    def mobility(self) -> Mobility | None:
        """Its freedoms, once they are known."""
        return standing_mobility(self.bench.session).of(self.bench.session.model)

    @property
    def new_run(self) -> bool:
        """Whether something was simulated since."""
        return any(id(record) not in self.runs for record in self.bench.session.runs.items)


@dataclass(frozen=True)
class Step:
    """One card.

    text : what to do and why, with the keys; more than one way may lead there
    done : whether it was done, whichever way
    said : what is told then
    """

    title: str
    text: str
    done: Callable[[Seen], bool]
    said: str = "Done."


@dataclass(frozen=True)
class Tour:
    """Steps on which one learns the program; what one makes is an ordinary document."""

    id: str
    title: str
    about: str
    steps: tuple[Step, ...]


def lengths_changed(before: Model, now: Model) -> bool:
    """Whether a parameter that both have has another value."""
    old = {each.name: each.value for each in before.parameters}
    return any(each.name in old and each.value != old[each.name] for each in now.parameters)


def any_named(names: Iterable[str], *wanted: str) -> bool:
    """Whether one of the names is wanted."""
    return bool(set(names) & set(wanted))
