"""Definition of a tour: steps that each wait for an action of the user, whichever way it is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from app.document.analyses import model_analysis_of
from core.later import dataclass

if TYPE_CHECKING:
    from app.workbench import Workbench
    from core.constraints.mobility.mobility import Mobility
    from core.functions.results import Result
    from core.model import Model

MOVED = 0.2
"""Change of a coordinate (rad or m) above which it counts as moved by hand."""


@dataclass
class StepProgress:
    """State at the beginning of a tour step, and the user's actions since then."""

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

    def record_movement(self) -> None:
        """Record how far the machine has been moved."""
        session = self.bench.session
        q = np.asarray(session.q)
        if session.model is not self.model and len(q) != len(self._q):
            self._q = np.array(q)
        elif len(q):
            self.moved = max(self.moved, float(np.max(np.abs(q - self._q))))

    def record_result(self, result: Result) -> None:
        """Record that a function has given a result."""
        if result.function:
            self.asked.add(result.function)

    @property
    def current_model(self) -> Model:
        """The current model, with sub-assemblies and chains expanded."""
        return self.bench.session.model.expanded

    @property
    def mobility(self) -> Mobility | None:
        """Mobility of the current model; None until it has been computed."""
        return model_analysis_of(self.bench.session).mobility_of(self.bench.session.model)

    @property
    def has_new_run(self) -> bool:
        """True if a run was added since the step began."""
        return any(id(record) not in self.runs for record in self.bench.session.runs.items)


@dataclass(frozen=True)
class Step:
    """One step of a tour: title, instructions, the condition that completes it, and a confirmation.

    text : what to do and why, with the keys; more than one way may lead there
    done : whether it was done, whichever way
    said : what is told then
    """

    title: str
    text: str
    done: Callable[[StepProgress], bool]
    said: str = "Done."


@dataclass(frozen=True)
class Tour:
    """Sequence of steps that introduce a part of the program; the user works in an ordinary document."""

    id: str
    title: str
    about: str
    steps: tuple[Step, ...]


def has_changed_parameter(before: Model, now: Model) -> bool:
    """Return True if the value of a parameter that both models have differs."""
    old = {each.name: each.value for each in before.parameters}
    return any(each.name in old and each.value != old[each.name] for each in now.parameters)
