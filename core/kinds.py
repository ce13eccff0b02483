"""Families of kinds (of joints, forces, constraints): each kind is one class that defines everything the program needs.

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

from core.errors import KinetostatError, ModelError, listed, near_misses
from core.synonyms import meant_by

K = TypeVar("K")
AnyKind = TypeVar("AnyKind", bound=type)

PACKAGE_REMEDY = "Repair or update the package, then restart the program."
GROUP = "kinetostat.kinds"
"""Entry-point group through which installed packages provide kinds."""


class UnknownKind(ModelError, KeyError):
    """A kind that the family does not have."""

    __str__ = ModelError.__str__


class KindError(ModelError, TypeError):
    """A class that is not a valid kind: incomplete, inconsistent, or with a name already taken."""

    __str__ = ModelError.__str__


class Kinds(Mapping[str, type[K]], Generic[K]):
    """The kinds of one family by name, in display order.

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
            self.take(kind)
        if check is not None:
            _open.append(self)

    def add(self, kind: type[K]) -> type[K]:
        """Add a kind and return it; a redefined kind (its module was run again) replaces the earlier one. Raises
        KindError if it is incomplete, or its name is taken."""
        self._found()  # its own kinds come first
        return self.take(kind)

    def _found(self) -> dict[str, type[K]]:
        """Return all kinds, discovering them on first use."""
        if self._find is not None:
            for kind in self._find():
                self.take(kind)
            self._find = None
        return self._kinds

    def take(self, kind: type[K]) -> type[K]:
        """Add a kind, built-in or user-defined."""
        if not (isinstance(kind, type) and issubclass(kind, self.base)):
            raise KindError(f"{kind!r} is not a kind of {self.family}: it does not derive from {self.base.__name__}.")
        if lacking := missing_members(kind):
            raise KindError(f"The {self.family} kind {kind.__name__} lacks {', '.join(lacking)}.")
        name = getattr(kind, self.named_by)
        if _module_and_name(self._kinds.get(name, kind)) != _module_and_name(kind):
            raise KindError(
                f"There are two kinds of {self.family} called '{name}'.", remedy="Give the new one another name."
            )
        self._kinds[name] = kind
        return kind

    def __getitem__(self, name: str) -> type[K]:
        kinds = self._kinds if self._find is None else self._found()
        if name not in kinds:
            raise UnknownKind(
                f"There is no kind of {self.family} called '{name}'.",
                where=self.family,
                remedy=near_misses(name, list(kinds)),
            )
        return kinds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())


def declared_objects(package: str, folder: Iterable[str], word: str) -> list[Any]:
    """Return the objects that a package's modules declare under a word, such as `LOOK`, sorted by their names."""
    modules = [import_module(f"{package}.{each.name}") for each in iter_modules(folder)]
    return [getattr(module, word) for module in modules if hasattr(module, word)]


def declared_kinds(package: str, base: type[K]) -> list[type[K]]:
    """Import a package's modules and return the kinds that they define, sorted by module: classes that derive from
    `base` and state a name or a title of their own."""
    found: list[type[K]] = []
    for each in iter_modules(import_module(package).__path__):
        module = import_module(f"{package}.{each.name}")
        own = [kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__]
        found += [kind for kind in own if issubclass(kind, base) and not {"name", "title"}.isdisjoint(vars(kind))]
    return found


def missing_members(kind: type[Any]) -> list[str]:
    """Return what a class leaves undefined: abstract methods, and class variables declared without a value."""
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
"""Name → reason why the package that declares the kind could not provide it; empty if no package declares it."""


def register(kind: AnyKind) -> AnyKind:
    """Register a user-defined kind of joint, force or constraint for use in documents, and return it (usable as a class
    decorator). Registering again, as when a script is rerun, replaces the earlier one.

    Raises KindError naming the kind and what it lacks, or what is wrong with it.
    """
    family = next((each for each in _open if isinstance(kind, type) and issubclass(kind, each.base)), None)
    if family is None:
        bases = listed([f"{each.base.__name__} ({each.family})" for each in _open])
        raise KindError(f"{kind!r} is not a kind of any family.", remedy=f"Derive it from one of {bases}.")
    if not missing_members(kind) and family.check is not None:
        family.check(kind)
    family.add(kind)
    _own[family.family, kind.name] = kind  # type: ignore[attr-defined]
    return kind


def own_kinds(named: Iterable[tuple[str, str]]) -> dict[tuple[str, str], type[Any]]:
    """Return those of the given (family, name) that are user-defined, with their classes."""
    return {each: _own[each] for each in dict.fromkeys(named) if each in _own}


def load_installed_kind(name: str) -> str:
    """Register the kind of this name if an installed package provides it, once; return the error of that package, or
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


def why_unknown(family: str, name: str, known: Iterable[str]) -> tuple[str, str]:
    """Return (problem, remedy) about an unknown kind named in a document."""
    if trouble := _sought.get(name):
        return trouble, PACKAGE_REMEDY
    what = f"There is no kind of {family} called '{name}'."
    bring = "nstall the package that provides it, or register it before the document is opened."
    if close := meant_by(name, known):
        return what, f"Did you mean {', '.join(close)}? If not, i{bring}"
    return what, f"I{bring} {near_misses(name, known)}"


def kinds_for_other_processes(kinds: Iterable[type[K]]) -> tuple[type[K], ...]:
    """Return the kinds to send to another process, which imports their modules and registers them. Raises KindError for
    one that no other process can import."""
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
