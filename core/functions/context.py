"""Input of a user-facing function: the machine in its present state, and callbacks for progress, cancelling and partial
results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from core.errors import KinetostatError
from core.later import dataclass

if TYPE_CHECKING:
    from core.functions.results import Result
    from core.mechanism import Mechanism
    from core.model import Model


class Cancelled(KinetostatError):
    """Raised when the user stops a function."""

    def __init__(self) -> None:
        super().__init__("Stopped.")


def _ignore_progress(fraction: float, text: str = "") -> None:
    """Ignore progress; the default callback."""


def _never_cancelled() -> bool:
    return False


def _ignore_result(result: Result) -> None:
    """Ignore a partial result; the default callback."""


_latest: list[Mechanism] = []
"""Machine of the latest model that a context was asked for."""


@dataclass(frozen=True)
class Context:
    """Machine, pose and parameter values with which a function is called, and the callbacks of the call.

    q : (nq,) coordinates (rad, m); p : values of independent parameters (SI); t : time (s) at which drivers hold.
    ranges : the part of space that pictures show, as in `ViewRanges`; millimetres : the unit of lengths in pictures
    (else metres).
    document : the number of the open document it belongs to, None: to none; moment : of what the pose is a moment
    ("t = 1.2 s of run 2"), "": of nothing that runs.
    `progress(fraction, text)` reports, `cancelled()` tells whether to stop, `show(result)` shows what is there already.
    """

    model: Model
    mech: Mechanism
    q: Any
    p: Mapping[str, float] = field(default_factory=dict)
    progress: Callable[..., None] = field(default=_ignore_progress, repr=False)
    cancelled: Callable[[], bool] = field(default=_never_cancelled, repr=False)
    show: Callable[[Result], None] = field(default=_ignore_result, repr=False)
    ranges: tuple[tuple[float, float], ...] = ()
    millimetres: bool = False
    t: float = 0.0
    document: int | None = None
    moment: str = ""

    @staticmethod
    def of(model: Model, *, parameters: Mapping[str, float] | None = None) -> Context:
        """Return a context of a model in its home configuration; one after another of one model share the machine."""
        from core.mechanism import Mechanism

        mech = next((each for each in _latest if each.model is model), None) or Mechanism(model)
        _latest[:] = [mech]
        values = model.values(parameters)
        p = {name: values[name] for name in mech.p_names}
        return Context(model, mech, mech.rest(p) if parameters else mech.rest(), p)

    def without_callbacks(self) -> Context:
        """Return the same context without callbacks."""
        return replace(self, progress=_ignore_progress, cancelled=_never_cancelled, show=_ignore_result)

    @cached_property
    def values(self) -> Mapping[str, float]:
        """Value of every parameter, by name."""
        return self.model.values(self.p)

    @cached_property
    def assumed(self) -> tuple[str, ...]:
        """Names of the parameters that have a default value because neither the file nor the user gave one."""
        from core.files.dh.table import assumed_parameters

        likely = [p for p in self.model.parameters if p.assumed]
        first = {p.name: p.value for p in assumed_parameters([p.name for p in likely])}
        return tuple(p.name for p in likely if self.values[p.name] == first.get(p.name))

    def assumed_values_text(self, given: Iterable[str] = (), among: Iterable[str] | None = None) -> str:
        """Return a sentence that lists the parameters whose values are only assumed; '' if there are none.

        given : names that have got one; among : names that matter, default: all.
        """
        wanted = set(self.assumed if among is None else among) - set(given)
        taken = [f"{name} = {self.values[name]:g}" for name in self.assumed if name in wanted]
        return f"The file gives no values for these parameters; assumed: {', '.join(taken)}." if taken else ""

    @cached_property
    def tool(self) -> str:
        """Name of the default frame, used when the call names none."""
        from core.analysis.tool_frame import tool_frame

        return tool_frame(self.model)

    def step(self, done: int, total: int, text: str = "") -> None:
        """Report progress. Raises `Cancelled` if the user has stopped the function."""
        if self.cancelled():
            raise Cancelled
        self.progress(done / max(total, 1), text)


@dataclass(frozen=True)
class FunctionCall:
    """Record of a call: the options as given, and the context."""

    options: Mapping[str, Any]
    context: Context
