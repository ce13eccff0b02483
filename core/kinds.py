"""Families of kinds: a kind is one class, which says all that the program asks of it.

A family is made from an abstract base class. A kind enters it only when it has every member that the base leaves
open: abstract methods, and facts that are declared without a value (`title: ClassVar[str]`). Who asks for a kind that
there is not gets an error that names it, never another kind.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Generic, TypeVar, get_origin

from core.errors import ModelError, near_misses

K = TypeVar("K")


class UnknownKind(ModelError, KeyError):
    """A kind is named that the family does not have."""

    __str__ = ModelError.__str__


class Kinds(Mapping[str, type[K]], Generic[K]):
    """The kinds of one family by name, in the order in which they are shown.

    family : what the kinds are kinds of, in words ("joint"); base : the abstract class of all; named_by : the fact
    that is a kind's name
    """

    def __init__(self, family: str, base: Callable[..., K], *kinds: type[K], named_by: str = "name") -> None:
        assert isinstance(base, type)
        self.family, self.base, self.named_by = family, base, named_by
        self._kinds: dict[str, type[K]] = {}
        for kind in kinds:
            self.add(kind)

    def add(self, kind: type[K]) -> type[K]:
        """Take in a kind, and give it back. Raises TypeError if it is incomplete, or its name is taken."""
        if not (isinstance(kind, type) and issubclass(kind, self.base)):
            raise TypeError(f"{kind!r} is no kind of {self.family}: it does not derive from {self.base.__name__}.")
        if lacking := missing_members(kind):
            raise TypeError(f"The {self.family} kind {kind.__name__} lacks {', '.join(lacking)}.")
        name = getattr(kind, self.named_by)
        if self._kinds.get(name, kind) is not kind:
            raise TypeError(f"There are two kinds of {self.family} called '{name}'.")
        self._kinds[name] = kind
        return kind

    def __getitem__(self, name: str) -> type[K]:
        if name not in self._kinds:
            raise UnknownKind(
                f"There is no kind of {self.family} called '{name}'.",
                where=self.family,
                remedy=near_misses(name, list(self._kinds)),
            )
        return self._kinds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)


def missing_members(kind: type[Any]) -> list[str]:
    """What a class leaves open: abstract methods, and class variables declared without a value."""
    declared = {
        name: annotation
        for base in reversed(kind.__mro__)
        for name, annotation in inspect.get_annotations(base, eval_str=False).items()
    }
    open_facts = [
        name
        for name, annotation in declared.items()
        if (get_origin(annotation) is ClassVar or str(annotation).startswith(("ClassVar", "typing.ClassVar")))
        and not hasattr(kind, name)
    ]
    return [*open_facts, *sorted(getattr(kind, "__abstractmethods__", ()))]
