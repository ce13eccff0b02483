"""Registry of the widgets that show each kind of result on a card."""

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
    """Context of a part on a card: session, settings and the whole result currently shown; renew(options) computes the
    result again with some options changed."""

    session: Session
    settings: Settings
    whole: Callable[[], Result]
    renew: Callable[[Mapping[str, Any]], object] = lambda _options: None


class Part(Protocol):
    """Protocol of widgets that show a part of a result on a card.

    One that takes long to make has a method `go_on() -> bool`, too, which makes a little more of it, until it is True.
    """

    def show_part(self, part: Any) -> None:
        """Show another result of the same kind."""

    def close(self) -> object:
        """Disconnect from all signals; does nothing by default."""


_MAKERS: dict[type[Result], Callable[[Any, Place], Any]] = {}


def card_of(kind: type[Any]) -> Callable[[Maker], Maker]:
    """Register the function that creates the widget (a `Part`) for a kind of result."""

    def registered(make: Maker) -> Maker:
        _MAKERS[kind] = make
        return make

    return registered


def part_of(result: Result, place: Place) -> QWidget:
    """Return the widget for a result: for its own kind, or the nearest kind it derives from (text for any other).

    Raises TypeError for what is no result.
    """
    make = next((_MAKERS[kind] for kind in type(result).__mro__ if kind in _MAKERS), None)
    if make is None:
        raise TypeError(f"A card shows results, not {type(result).__name__}.")
    return make(result, place)
