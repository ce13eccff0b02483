"""Look of an element kind: its items in the scene and its icon in lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from viz.drawlist.item import Item
from viz.drawlist.skeleton import Skeleton


class Look(NamedTuple):
    """Look of one element kind: items in the scene and icon."""

    items: Callable[[Skeleton, Any], Iterator[Item]]
    """Function that yields the items of an element."""
    kind_icon: str
    """Icon name of the kind."""
    icon: Callable[[Any], str] | None = None
    """Function returning an element's icon name, if that depends on its values."""
    of: tuple[str, str] = ("", "")
    """Collection and kind of the elements with this look, in modules for a single kind."""

    def icon_of(self, element: Any) -> str:
        """Return the icon name of an element."""
        return self.kind_icon if self.icon is None else self.icon(element)
