"""What a kind of element looks like: its items in the scene, its drawing in lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton


class Look(NamedTuple):
    """The look of one kind."""

    items: Callable[[Skeleton, Any], Iterator[Item]]
    """What is to be seen of an element."""
    kind_icon: str
    """Name of the drawing of the kind."""
    icon: Callable[[Any], str] | None = None
    """Name of the drawing of an element, where it depends on its values."""
    of: tuple[str, str] = ("", "")
    """Collection and kind of the elements that look so, where one file has the look of one kind."""

    def icon_of(self, element: Any) -> str:
        """Name of the drawing of an element."""
        return self.kind_icon if self.icon is None else self.icon(element)
