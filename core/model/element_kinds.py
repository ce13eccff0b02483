"""Kinds of force elements and constraints as documents, forms, files and help know them.

Each kind is one class, in a file of its own in `core.mechanics.elements.forces` or `constraints`: it states its facts
for documents here in class variables, and its mechanics in the methods that the room above adds. Documents are below
mechanics, so a family only names the package of its kinds; it is imported when a kind is first asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, ClassVar, TypeVar

from core.errors import near_misses
from core.kinds import KindError, Kinds, declared_kinds, missing_members
from core.model.declared_numbers import Quantity
from core.model.fields import Element, fields_of


class ElementKind(ABC):
    """Facts of a kind of force element or constraint. Those without a value here must be stated."""

    name: ClassVar[str]
    """Name of the kind in documents."""
    title: ClassVar[str]
    """Label of the kind in the window."""
    short_title: ClassVar[str] = ""
    """Label of the kind among others of its family; by default its name."""
    help: ClassVar[str] = ""
    """Sentences on the law and its signs."""
    uses: ClassVar[tuple[str, ...]]
    """Fields of the document's element that the kind uses; `settings` come with its numbers."""
    needs: ClassVar[tuple[str, ...]]
    """References, of those fields, that must be given."""
    numbers: ClassVar[tuple[Quantity, ...]] = ()
    """Numbers of the kind's own, which an element's `settings` set."""
    rank: ClassVar[int] = 100
    """Place in lists of kinds; equal ones are sorted by title."""

    @classmethod
    @abstractmethod
    def document_type(cls) -> type[Element]:
        """Return the class of the document's elements, whose fields the kind uses."""

    @classmethod
    def check(cls) -> None:
        """Check a user-defined kind before it is registered; raises KindError, which names the unusable member."""
        cls.check_facts()

    @classmethod
    def check_facts(cls) -> None:
        """Raise KindError, which names kind and member, if the facts contradict the document or each other."""
        document = cls.document_type()
        known = [field.name for field in fields_of(document)]
        for member, among in (("uses", known), ("needs", list(cls.uses))):
            for field in getattr(cls, member):
                if field not in among:
                    missing = f"a {document.__name__} has no field" if member == "uses" else "'uses' does not list"
                    raise _refused(cls, member, f"{missing} '{field}'.", near_misses(field, among))
        check_names(cls, "numbers", [number.name for number in cls.numbers])
        for number in cls.numbers:
            if not number.is_si:
                raise _refused(
                    cls,
                    "numbers",
                    f"'{number.unit}' of '{number.name}' is not an SI unit.",
                    "Use an SI unit such as m, N/m, N·m·s/rad or 1/m; leave it empty for a dimensionless number.",
                )


def _refused(kind: type[Any], member: str, what: str, remedy: str = "") -> KindError:
    return KindError(f"The kind '{kind.name}' is refused: its '{member}': {what}", remedy=remedy)


def check_names(kind: type[Any], member: str, names: Iterable[str]) -> None:
    """Raise KindError unless names can be fields of a named tuple."""
    from collections import namedtuple

    try:
        namedtuple("Names", names)
    except ValueError as error:
        raise _refused(kind, member, f"{error}.") from None


E = TypeVar("E", bound=ElementKind)


class ElementKinds(Kinds[E]):
    """The kinds of force elements, or of constraints.

    package : where the program's own kinds are, one per module; its `BASE` is the class from which they derive
    """

    def __init__(self, family: str, base: Callable[..., E], package: str) -> None:
        self.package = package
        super().__init__(family, base, find=self._declared, check=lambda kind: kind.check())

    def _declared(self) -> list[type[E]]:
        base: type[E] = import_module(self.package).BASE
        self.base = base
        kinds = declared_kinds(self.package, base)
        return sorted(kinds, key=lambda kind: (kind.rank, getattr(kind, "title", "")))

    def take(self, kind: type[E]) -> type[E]:
        """Add a kind whose facts agree with the document."""
        if isinstance(kind, type) and issubclass(kind, self.base) and not missing_members(kind):
            kind.check_facts()
        return super().take(kind)
