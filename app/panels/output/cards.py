"""Which widget a card has for each kind of result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from PySide6.QtWidgets import QWidget

from core.functions.results import Result

if TYPE_CHECKING:
    from app.document.session import Session
    from app.preferences.settings import Settings

Maker = TypeVar("Maker", bound=Callable[..., Any])


@dataclass(frozen=True)
class Place:
    """Where a part stands: the session, the settings, the whole result that its card shows now; renew(options) asks the
    same again, with some options otherwise."""

    session: Session
    settings: Settings
    whole: Callable[[], Result]
    renew: Callable[[Mapping[str, Any]], object] = lambda _options: None


class Part(Protocol):
    """A widget of a card that shows a part of a result.

    One that takes long to make has a method `go_on() -> bool`, too, which makes a little more of it, until it is True.
    """

    def show_part(self, part: Any) -> None:
        """Show another result of its kind."""

    def close(self) -> object:
        """Listen no more, as every widget does that listens to nothing."""


_MAKERS: dict[type[Result], Callable[[Any, Place], Any]] = {}


def card_of(kind: type[Any]) -> Callable[[Maker], Maker]:
    """Register what makes the widget (a `Part`) of a kind of result."""

    def registered(make: Maker) -> Maker:
        _MAKERS[kind] = make
        return make

    return registered


def part_of(result: Result, place: Place) -> QWidget:
    """The widget for a result: that of its kind, or of the nearest kind it is derived from (any is shown as text).

    Raises TypeError for what is no result.
    """
    make = next((_MAKERS[kind] for kind in type(result).__mro__ if kind in _MAKERS), None)
    if make is None:
        raise TypeError(f"A card shows results, not {type(result).__name__}.")
    return make(result, place)
