"""Families of kinds (of joints, forces, constraints). Each kind is a class that defines everything the program needs to
know about it.

A family is made from an abstract base class. A kind enters it only when it has every member that the base leaves
open: abstract methods, and facts that are declared without a value (`title: ClassVar[str]`). Who asks for a kind that
there is not gets an error that names it, never another kind.

To a family that is `open` people add kinds of their own: a script by `register`, an installed package by an entry
point of the group `kinetostat.kinds` (name: the kind's name, value: "module:Class"), which is loaded when a document
names the kind and not before.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, ClassVar, Generic, TypeVar, get_origin

from core.errors import KinetostatError, ModelError, join_words, suggest_names
from core.synonyms import find_meant_names

K = TypeVar("K")
AnyKind = TypeVar("AnyKind", bound=type)

PACKAGE_REMEDY = "Repair or update the package, then restart the program."
GROUP = "kinetostat.kinds"
"""Entry-point group under which installed packages provide kinds."""


class UnknownKind(ModelError, KeyError):
    """Reference to a kind that the family does not have."""

    __str__ = ModelError.__str__


class KindError(ModelError, TypeError):
    """Class that is not a valid kind: incomplete, inconsistent, or with a name that is already taken."""

    __str__ = ModelError.__str__


class Kinds(Mapping[str, type[K]], Generic[K]):
    """Kinds of one family by name, in the order in which they are displayed.

    family : what the kinds are kinds of, in words ("joint"); base : the abstract class of all; find : gives further
    kinds when somebody first asks for one; check : tries a kind that people add, and raises KindError; it makes the
    family open to such kinds; named_by : the fact that is a kind's name
    """

    def __init__(
        self,
        family: str,
        base: Callable[..., K],
        *kinds: type[K],
        find: Callable[[], Iterable[type[K]]] | None = None,
        check: Callable[[type[K]], object] | None = None,
        named_by: str = "name",
    ) -> None:
        assert isinstance(base, type)
        self.family, self.base, self.check, self.named_by = family, base, check, named_by
        self._kinds: dict[str, type[K]] = {}
        self._find = find
        for kind in kinds:
            self.add_kind(kind)
        if check is not None:
            _open.append(self)

    def add(self, kind: type[K]) -> type[K]:
        """Add a user-defined kind and return it. A kind that is defined again, because its module was run again,
        replaces the earlier one. Raises KindError if it is incomplete or its name is taken."""
        self._discover()  # its own kinds come first
        return self.add_kind(kind)

    def _discover(self) -> dict[str, type[K]]:
        """Return all kinds, discovering them on first use."""
        if self._find is not None:
            for kind in self._find():
                self.add_kind(kind)
            self._find = None
        return self._kinds

    def add_kind(self, kind: type[K]) -> type[K]:
        """Check a built-in or user-defined kind and add it."""
        if not (isinstance(kind, type) and issubclass(kind, self.base)):
            raise KindError(f"{kind!r} is not a kind of {self.family}: it does not derive from {self.base.__name__}.")
        if lacking := find_missing_members(kind):
            raise KindError(f"The {self.family} kind {kind.__name__} lacks {', '.join(lacking)}.")
        name = getattr(kind, self.named_by)
        if _module_and_name(self._kinds.get(name, kind)) != _module_and_name(kind):
            raise KindError(
                f"There are two kinds of {self.family} called '{name}'.", remedy="Give the new one another name."
            )
        self._kinds[name] = kind
        return kind

    def __getitem__(self, name: str) -> type[K]:
        kinds = self._kinds if self._find is None else self._discover()
        if name not in kinds:
            raise UnknownKind(
                f"There is no kind of {self.family} called '{name}'.",
                where=self.family,
                remedy=suggest_names(name, list(kinds)),
            )
        return kinds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._discover())

    def __len__(self) -> int:
        return len(self._discover())


def find_declared_objects(package: str, folder: Iterable[str], attribute: str) -> list[Any]:
    """Return the objects that the modules of a package declare under a given name, such as `LOOK`, sorted by module."""
    modules = [import_module(f"{package}.{each.name}") for each in iter_modules(folder)]
    return [getattr(module, attribute) for module in modules if hasattr(module, attribute)]


def find_declared_kinds(package: str, base: type[K]) -> list[type[K]]:
    """Import the modules of a package and return the kinds that they define, sorted by module: classes that derive from
    `base` and have a name or title of their own."""
    found: list[type[K]] = []
    for each in iter_modules(import_module(package).__path__):
        module = import_module(f"{package}.{each.name}")
        own = [kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__]
        found += [kind for kind in own if issubclass(kind, base) and not {"name", "title"}.isdisjoint(vars(kind))]
    return found


def find_missing_members(kind: type[Any]) -> list[str]:
    """Return the names of members that a class does not define: abstract methods, and class variables that are declared
    without a value."""
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


def _module_and_name(kind: type[Any]) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__


# ------------------------------------------------------------------------------- kinds of people

_open: list[Kinds[Any]] = []
"""Families that accept user-defined kinds."""
_own: dict[tuple[str, str], type[Any]] = {}
"""(family, name) → user-defined kind."""
_sought: dict[str, str] = {}
"""Name of a kind → reason why the package that declares it could not provide it; "" if no package declares it."""


def register(kind: AnyKind) -> AnyKind:
    """Register a user-defined kind of joint, force or constraint for use in documents, and return it (usable as a class
    decorator). Registering again, as when a script is rerun, replaces the earlier one.

    Raises KindError naming the kind and what it lacks, or what is wrong with it.
    """
    family = next((each for each in _open if isinstance(kind, type) and issubclass(kind, each.base)), None)
    if family is None:
        bases = join_words([f"{each.base.__name__} ({each.family})" for each in _open])
        raise KindError(f"{kind!r} is not a kind of any family.", remedy=f"Derive it from one of {bases}.")
    if not find_missing_members(kind) and family.check is not None:
        family.check(kind)
    family.add(kind)
    _own[family.family, kind.name] = kind  # type: ignore[attr-defined]
    return kind


def find_user_defined_kinds(kind_names: Iterable[tuple[str, str]]) -> dict[tuple[str, str], type[Any]]:
    """Return the user-defined kinds among the given (family, name) pairs, with their classes."""
    return {each: _own[each] for each in dict.fromkeys(kind_names) if each in _own}


def load_installed_kind(name: str) -> str:
    """If an installed package provides a kind of this name, register it (once); return the error of that package, or
    ""."""
    if name in _sought:
        return _sought[name]
    _sought[name] = ""
    from importlib.metadata import entry_points  # reads what is installed: not before somebody asks

    for entry in entry_points(group=GROUP, name=name):
        package = entry.dist.name if entry.dist is not None else entry.value
        try:
            kind = register(entry.load())
        except KinetostatError as error:
            _sought[name] = f"The kind '{name}' of the package '{package}' is refused: {error}"
        except Exception as error:
            said = f"{type(error).__name__}: {error}".rstrip(": ")
            _sought[name] = f"The kind '{name}' of the package '{package}' cannot be loaded ({said})."
        else:
            if kind.name != name:
                _sought[name] = f"The package '{package}' declares '{name}', but provides '{kind.name}'."
    return _sought[name]


def explain_unknown_kind(family: str, name: str, known: Iterable[str]) -> tuple[str, str]:
    """Return (problem, remedy) for an unknown kind that a document refers to."""
    if trouble := _sought.get(name):
        return trouble, PACKAGE_REMEDY
    what = f"There is no kind of {family} called '{name}'."
    bring = "nstall the package that provides it, or register it before the document is opened."
    if close := find_meant_names(name, known):
        return what, f"Did you mean {', '.join(close)}? If not, i{bring}"
    return what, f"I{bring} {suggest_names(name, known)}"


def check_importable_kinds(kinds: Iterable[type[K]]) -> tuple[type[K], ...]:
    """Return the kinds to be sent to another process, which imports their modules and registers the kinds. Raises
    KindError for a kind that no other process can import."""
    handed = tuple(kinds)
    for kind in handed:
        module = inspect.getmodule(kind)
        if module is None or module.__name__ == "__main__" or "<locals>" in kind.__qualname__:
            raise KindError(
                f"The kind '{kind.name}' was defined in the console or in the running script, "  # type: ignore[attr-defined]
                "so another process cannot import it.",
                remedy="Put its class into a separate module and import that.",
            )
    return handed
