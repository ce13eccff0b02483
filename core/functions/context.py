"""What a user-facing function is called with: the machine as it stands, and who watches."""

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
    """The person stopped the function."""

    def __init__(self) -> None:
        super().__init__("Stopped.")


def _no_progress(fraction: float, text: str = "") -> None:
    """Progress nobody watches."""


def _never() -> bool:
    return False


def _unseen(result: Result) -> None:
    """A result that is not finished, which nobody looks at."""


@dataclass(frozen=True)
class Context:
    """The machine as it stands when a function is called.

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
    progress: Callable[..., None] = field(default=_no_progress, repr=False)
    cancelled: Callable[[], bool] = field(default=_never, repr=False)
    show: Callable[[Result], None] = field(default=_unseen, repr=False)
    ranges: tuple[tuple[float, float], ...] = ()
    millimetres: bool = False
    t: float = 0.0
    document: int | None = None
    moment: str = ""

    @staticmethod
    def of(model: Model, *, parameters: Mapping[str, float] | None = None) -> Context:
        """A context at the rest pose of a model."""
        from core.mechanism import Mechanism

        mech = Mechanism(model)
        values = model.values(parameters)
        p = {name: values[name] for name in mech.p_names}
        return Context(model, mech, mech.rest(p) if parameters else mech.rest(), p)

    def unwatched(self) -> Context:
        """The same machine, when nobody watches any more."""
        return replace(self, progress=_no_progress, cancelled=_never, show=_unseen)

    @cached_property
    def values(self) -> Mapping[str, float]:
        """The value of every parameter."""
        return self.model.values(self.p)

    @cached_property
    def assumed(self) -> tuple[str, ...]:
        """Parameters to which neither the file nor anybody gave a value: they stand at what was assumed."""
        from core.files.dh.rows import assumed_parameters

        likely = [p for p in self.model.parameters if p.assumed]
        first = {p.name: p.value for p in assumed_parameters([p.name for p in likely])}
        return tuple(p.name for p in likely if self.values[p.name] == first.get(p.name))

    def assumed_words(self, given: Iterable[str] = (), among: Iterable[str] | None = None) -> str:
        """Which values are only assumed, in a sentence; '' if none is.

        given : names that have got one; among : names that matter, default: all.
        """
        wanted = set(self.assumed if among is None else among) - set(given)
        taken = [f"{name} = {self.values[name]:g}" for name in self.assumed if name in wanted]
        return f"The file gives these no value; assumed: {', '.join(taken)}." if taken else ""

    @cached_property
    def tool(self) -> str:
        """The frame meant when none is named."""
        from core.analysis.tool_frame import tool_frame

        return tool_frame(self.model)

    def step(self, done: int, total: int, text: str = "") -> None:
        """Report progress; raises `Cancelled` when the person stopped the function."""
        if self.cancelled():
            raise Cancelled
        self.progress(done / max(total, 1), text)


@dataclass(frozen=True)
class Asked:
    """What a function was asked: its options as they were given, and the machine as it stood."""

    options: Mapping[str, Any]
    context: Context
