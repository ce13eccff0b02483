"""Kinds of force elements and constraints, as declared for documents, forms, files and help.

Each kind is one class, in a file of its own in `core.mechanics.elements.forces` or `constraints`: it states its facts
for documents here in class variables, and its mechanics in the methods that the room above adds. Documents are below
mechanics, so a family only names the package of its kinds; it is imported when a kind is first asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, ClassVar, TypeVar

from core.errors import suggest_names
from core.kinds import KindError, Kinds, find_declared_kinds, find_missing_members
from core.model.declared_numbers import Quantity
from core.model.fields import Element, declared_fields


class ElementKind(ABC):
    """Declaration of a kind of force element or constraint. Members without a value here must be defined by every
    kind."""

    name: ClassVar[str]
    """Name of the kind in documents."""
    title: ClassVar[str]
    """Label of the kind in the window."""
    short_title: ClassVar[str] = ""
    """Label of the kind among others of its family; by default its name."""
    help: ClassVar[str] = ""
    """Sentences on the law and its signs."""
    uses: ClassVar[tuple[str, ...]]
    """Fields of the document element that the kind uses; `settings` is added if the kind declares numbers."""
    needs: ClassVar[tuple[str, ...]]
    """References, among those fields, that must be given."""
    numbers: ClassVar[tuple[Quantity, ...]] = ()
    """Additional numbers of the kind, whose values are stored in an element's `settings`."""
    rank: ClassVar[int] = 100
    """Position in lists of kinds; kinds of equal rank are sorted by title."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        uses = getattr(cls, "uses", None)
        if cls.numbers and isinstance(uses, tuple) and "settings" not in uses:
            cls.uses = (*uses, "settings")

    @classmethod
    @abstractmethod
    def element_class(cls) -> type[Element]:
        """Return the class of document elements whose fields the kind uses."""

    @classmethod
    def check(cls) -> None:
        """Check a user-defined kind before it is registered. Raises KindError naming the invalid member."""
        cls.check_facts()

    @classmethod
    def check_facts(cls) -> None:
        """Raise KindError, naming kind and member, if the declaration contradicts the document or itself."""
        document = cls.element_class()
        known = [field.name for field in declared_fields(document)]
        for member, among in (("uses", known), ("needs", list(cls.uses))):
            for field in getattr(cls, member):
                if field not in among:
                    missing = f"a {document.__name__} has no field" if member == "uses" else "'uses' does not list"
                    raise _kind_error(cls, member, f"{missing} '{field}'.", suggest_names(field, among))
        check_names(cls, "numbers", [number.name for number in cls.numbers])
        for number in cls.numbers:
            if not number.is_si:
                raise _kind_error(
                    cls,
                    "numbers",
                    f"'{number.unit}' of '{number.name}' is not an SI unit.",
                    "Use an SI unit such as m, N/m, N·m·s/rad or 1/m; leave it empty for a dimensionless number.",
                )


def _kind_error(kind: type[Any], member: str, problem: str, remedy: str = "") -> KindError:
    return KindError(f"The kind '{kind.name}' is rejected because of '{member}': {problem}", remedy=remedy)


def check_names(kind: type[Any], member: str, names: Iterable[str]) -> None:
    """Raise KindError unless names can be fields of a named tuple."""
    from collections import namedtuple

    try:
        namedtuple("Names", names)
    except ValueError as error:
        raise _kind_error(kind, member, f"{error}.") from None


E = TypeVar("E", bound=ElementKind)


class ElementKinds(Kinds[E]):
    """Family of kinds: those of force elements, or those of constraints.

    package : where the program's own kinds are, one per module; its `BASE` is the class from which they derive
    """

    def __init__(self, family: str, base: Callable[..., E], package: str) -> None:
        self.package = package
        super().__init__(family, base, find=self._declared_kinds, check=lambda kind: kind.check())

    def _declared_kinds(self) -> list[type[E]]:
        base: type[E] = import_module(self.package).BASE
        self.base = base
        kinds = find_declared_kinds(self.package, base)
        return sorted(kinds, key=lambda kind: (kind.rank, getattr(kind, "title", "")))

    def add_kind(self, kind: type[E]) -> type[E]:
        """Register a kind whose declaration agrees with the document."""
        if isinstance(kind, type) and issubclass(kind, self.base) and not find_missing_members(kind):
            kind.check_facts()
        return super().add_kind(kind)
