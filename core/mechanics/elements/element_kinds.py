"""Registries of element kinds, which also store the description of each kind for documents and forms."""

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
    """Registry of element kinds that stores each kind with its description for documents.

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
        """Register a kind and its description for documents."""
        super().take(kind)
        self.rows[kind.name] = kind.in_document()
        return kind
