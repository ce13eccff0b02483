"""Definition of a tour: steps that each wait for an action of the user, done in any way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from app.document.analyses import mobility_of_session
from core.later import dataclass

if TYPE_CHECKING:
    from app.workbench import Workbench
    from core.constraints.mobility.mobility import Mobility
    from core.functions.results import Result
    from core.model import Model

MOVED = 0.2
"""Distance a coordinate must move (rad or m) to count as moved by hand."""


@dataclass
class Seen:
    """The state when a step of a tour began, and the user's actions since."""

    bench: Workbench
    model: Model = field(init=False)
    runs: frozenset[int] = field(init=False)
    asked: set[str] = field(default_factory=set)
    """Functions that gave a result since."""
    moved: float = 0.0
    """Largest movement since, without edits (rad or m)."""

    def __post_init__(self) -> None:
        session = self.bench.session
        self.model = session.model
        self._q = np.array(session.q)
        self.runs = frozenset(id(record) for record in session.runs.items)

    def look(self) -> None:
        """Record how far the machine was moved."""
        session = self.bench.session
        q = np.asarray(session.q)
        if session.model is not self.model and len(q) != len(self._q):
            self._q = np.array(q)
        elif len(q):
            self.moved = max(self.moved, float(np.max(np.abs(q - self._q))))

    def heard(self, result: Result) -> None:
        """Record that a function gave a result."""
        if result.function:
            self.asked.add(result.function)

    @property
    def now(self) -> Model:
        """The present model, with sub-assemblies and chains expanded."""
        return self.bench.session.model.expanded

    @property
    def mobility(self) -> Mobility | None:
        """The mobility of the present model; None until it is known."""
        return mobility_of_session(self.bench.session).of(self.bench.session.model)

    @property
    def new_run(self) -> bool:
        """True if a simulation was run since."""
        return any(id(record) not in self.runs for record in self.bench.session.runs.items)


@dataclass(frozen=True)
class Step:
    """One card of a tour.

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
    """A sequence of steps that teach the program; the user works in an ordinary document."""

    id: str
    title: str
    about: str
    steps: tuple[Step, ...]


def lengths_changed(before: Model, now: Model) -> bool:
    """Return True if a parameter of both models has another value."""
    old = {each.name: each.value for each in before.parameters}
    return any(each.name in old and each.value != old[each.name] for each in now.parameters)
