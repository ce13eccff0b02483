"""Lazy imports and lazily compiled definitions: at start the program loads and compiles only what it uses.

Functions import inside themselves what only they need. Tables and packages, which name more than anybody uses at a
time, say here where it is. Libraries compile their patterns when they use them. Families of dataclasses get their
methods when somebody calls them.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import reprlib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, FrozenInstanceError
from importlib import import_module
from typing import TYPE_CHECKING, Any


def lazy_function(package: str, qualified_name: str) -> Callable[..., Any]:
    """Return a wrapper of a function in a package ("module.function"); the module is imported at the first call."""
    module, _, name = qualified_name.rpartition(".")

    def found() -> Callable[..., Any]:
        """Return the function, imported."""
        named: Callable[..., Any] = getattr(import_module(f"{package}.{module}"), name)
        return named

    def call(*arguments: Any, **options: Any) -> Any:
        return found()(*arguments, **options)

    call.found = found  # type: ignore[attr-defined]
    return call


def lazy_attributes(package: str, module_names: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package that imports names from its modules on first use.

    module_names : module in the package → names that are imported from it when first used
    """
    place = {name: f"{package}.{module}" for module, offered in module_names.items() for name in offered}

    def import_attribute(name: str) -> Any:
        if name not in place:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value = getattr(import_module(place[name]), name)
        setattr(import_module(package), name, value)
        return value

    return import_attribute


# ------------------------------------------------------------------------------------------ patterns

_PATTERN_METHODS = {"findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"}


class LazyPattern:
    """A regular expression that is compiled on first use."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # e.g. whether a member of a class is abstract
            raise AttributeError(name)
        return LazyMethod(self, name) if name in _PATTERN_METHODS else getattr(self.compiled(), name)

    def compiled(self) -> re.Pattern[str]:
        """Return the compiled pattern, cached by `re`."""
        return re.compile(self._pattern, self._flags)


class LazyMethod:
    """Method of a lazily compiled pattern."""

    def __init__(self, pattern: LazyPattern, name: str) -> None:
        self._pattern, self._name = pattern, name

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return getattr(self._pattern.compiled(), self._name)(*arguments, **options)


@contextmanager
def lazy_patterns(package: str) -> Iterator[None]:
    """Context for importing a library: regular expressions that its modules define are compiled on first use. Many of
    them are never used here, and compiling them takes longer than the rest of the import."""
    compiled = re.compile

    def compile_later(pattern: Any, flags: Any = 0) -> Any:
        frame = inspect.currentframe()
        caller = frame.f_back if frame is not None else None
        if caller is not None and str(caller.f_globals.get("__name__", "")).startswith(package):
            return LazyPattern(pattern, flags)
        return compiled(pattern, flags)

    re.compile = compile_later
    try:
        yield
    finally:
        re.compile = compiled


# ------------------------------------------------------------------------------------------ dataclasses

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, kw_only=False, slots=False):
        """Variant of `dataclasses.dataclass` whose methods are generated on first use. The program defines hundreds of
        classes at start and never calls most of their methods; compiling them would take a tenth of the start.
        `InitVar` is not supported."""

        def create_class(cls):
            own = set(vars(cls))
            hashed = "__hash__" in own and not (vars(cls)["__hash__"] is None and "__eq__" in own)
            with _unfrozen_bases(cls, frozen and not slots):  # classes with slots are made anew: the library does it
                cls = dataclasses.dataclass(
                    init=False, repr=False, eq=False, frozen=frozen and slots, kw_only=kw_only, slots=slots
                )(cls)
            facts = cls.__dataclass_params__
            facts.init, facts.repr, facts.eq, facts.frozen = True, True, eq, frozen
            if frozen and not slots:
                cls.__setattr__, cls.__delattr__ = _make_frozen_methods(cls)
            for name, make in _METHODS.items():
                if name not in own and (eq or name != "__eq__"):
                    setattr(cls, name, _DeferredMethod(cls, name, make))
            if eq and not hashed:
                cls.__hash__ = _DeferredMethod(cls, "__hash__", _make_hash) if frozen else None
            return cls

        return create_class if cls is None else create_class(cls)


_FACTS = "__dataclass_params__"
_defining = threading.RLock()
"""Lock that makes threads define classes one at a time while importing."""


@contextmanager
def _unfrozen_bases(cls: type[Any], frozen: bool) -> Iterator[None]:
    """Temporarily mark the base classes of a frozen class as not frozen, so that the library does not generate
    `__setattr__` and `__delattr__`; `_make_frozen_methods` provides them without compilation. Raises TypeError where
    the library would."""
    with _defining:
        bases = [vars(base)[_FACTS] for base in cls.__mro__[1:] if _FACTS in vars(base)]
        if frozen and not all(facts.frozen for facts in bases):
            raise TypeError("cannot inherit frozen dataclass from a non-frozen one")
        if not frozen:
            yield
            return
        for facts in bases:
            facts.frozen = False
        try:
            yield
        finally:
            for facts in bases:
                facts.frozen = True


class _DeferredMethod:
    """Placeholder for a method of a class, replaced when the method is first looked up."""

    def __init__(self, owner: type[Any], name: str, make: Callable[[type[Any]], Callable[..., Any]]) -> None:
        self._owner, self._name, self._make = owner, name, make

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
        method: Any = self._make(self._owner)
        method.__qualname__ = f"{self._owner.__qualname__}.{self._name}"
        setattr(self._owner, self._name, method)
        return method.__get__(instance, owner)


def compile_dataclasses(package: str) -> None:
    """Generate the methods of all dataclasses that a package has defined so far, for processes that must not compile
    later."""
    for name, module in list(sys.modules.items()):
        if f"{name}.".startswith(f"{package}."):
            for cls in [each for each in vars(module).values() if dataclasses.is_dataclass(each)]:
                for method in (*_METHODS, "__hash__"):
                    getattr(cls, method)


class _DefaultPlaceholder:
    """Placeholder, in signatures, for a default value made by a factory."""

    def __repr__(self) -> str:
        return "<factory>"


_DEFAULT = _DefaultPlaceholder()


def _compile_function(
    cls: type[Any], name: str, arguments: Iterable[str], body: Iterable[str], values: Mapping[str, Any]
) -> Any:
    """Return a function compiled from this source text, with `values` as its global variables."""
    lines = "".join(f"  {line}\n" for line in body)
    text = f"def make({', '.join(values)}):\n def {name}({', '.join(arguments)}):\n{lines} return {name}\n"
    made: dict[str, Any] = {}
    exec(text, vars(sys.modules[cls.__module__]), made)
    return made["make"](**values)


def _make_init(cls: type[Any]) -> Callable[..., None]:
    frozen, slots = cls.__dataclass_params__.frozen, "__slots__" in vars(cls)
    values: dict[str, Any] = {"_object": object, "_factory": _DEFAULT}
    arguments, named, body = ["self"], list[str](), list[str]()
    for field in dataclasses.fields(cls):
        default, given, value = f"_default_{field.name}", field.name, field.name
        if field.default_factory is not MISSING:
            values[default], given = field.default_factory, f"{field.name}=_factory"
            value = f"{default}() if {field.name} is _factory else {field.name}" if field.init else f"{default}()"
        elif field.default is not MISSING:
            values[default], given = field.default, f"{field.name}={default}"
            value = field.name if field.init else default if slots else ""
        elif not field.init:
            value = ""
        if field.init:
            (named if field.kw_only else arguments).append(given)
        if value:
            set_it = f"_object.__setattr__(self, {field.name!r}, {value})" if frozen else f"self.{field.name} = {value}"
            body.append(set_it)
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    made = _compile_function(cls, "__init__", [*arguments, *(["*", *named] if named else [])], body or ["pass"], values)
    made.__annotations__ = {field.name: field.type for field in dataclasses.fields(cls) if field.init} | {
        "return": None
    }
    return made


SHOWN, SHOWN_OF_ONE = 1200, 240
"""Maximum characters shown in a console of all fields of a value, and of one of them."""


def _make_repr(cls: type[Any]) -> Callable[..., str]:
    names = [field.name for field in dataclasses.fields(cls) if field.repr]

    @reprlib.recursive_repr()
    def __repr__(self: Any) -> str:
        values, room = list[str](), SHOWN
        for name in names:
            text = repr(getattr(self, name))
            values.append(f"{name}={text if len(text) <= SHOWN_OF_ONE else text[:SHOWN_OF_ONE] + '…'}")
            room -= len(values[-1])
            if room < 0:
                values.append("…")
                break
        return f"{self.__class__.__qualname__}({', '.join(values)})"

    return __repr__


def _make_eq(cls: type[Any]) -> Callable[..., Any]:
    mine, others = (
        _tuple_expression(who, [f.name for f in dataclasses.fields(cls) if f.compare]) for who in ("self", "other")
    )
    body = ["if other.__class__ is self.__class__:", f" return {mine} == {others}", "return NotImplemented"]
    return _compile_function(cls, "__eq__", ["self", "other"], body, {})


def _make_hash(cls: type[Any]) -> Callable[..., int]:
    names = [f.name for f in dataclasses.fields(cls) if (f.compare if f.hash is None else f.hash)]
    return _compile_function(cls, "__hash__", ["self"], [f"return hash({_tuple_expression('self', names)})"], {})


def _tuple_expression(owner: str, names: Iterable[str]) -> str:
    return f"({''.join(f'{owner}.{name},' for name in names)})"


def _make_frozen_methods(cls: type[Any]) -> tuple[Callable[..., None], Callable[..., None]]:
    names = frozenset(field.name for field in dataclasses.fields(cls))

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __setattr__, __delattr__


_METHODS = {"__init__": _make_init, "__repr__": _make_repr, "__eq__": _make_eq}
