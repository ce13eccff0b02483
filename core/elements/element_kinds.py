"""Families of elements whose kinds the document knows by rows of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from typing import Any, ClassVar, Protocol, TypeVar

from core.kinds import Kinds


class _Element(Protocol):
    name: ClassVar[str]

    @classmethod
    def check(cls) -> None: ...
    @classmethod
    def in_document(cls) -> Any: ...


K = TypeVar("K", bound=_Element)


class ElementKinds(Kinds[K]):
    """A kind enters with what the document says of it.

    rows : where that stands, by the kind's name
    """

    def __init__(
        self,
        family: str,
        base: Callable[..., K],
        find: Callable[[], Iterable[type[K]]],
        rows: MutableMapping[str, Any],
    ) -> None:
        self.rows = rows
        super().__init__(family, base, find=find, check=lambda kind: kind.check())

    def take(self, kind: type[K]) -> type[K]:
        """See `Kinds`."""
        super().take(kind)
        self.rows[kind.name] = kind.in_document()
        return kind
