"""Compiled loops in the cache of machine code, in place of Numba's own files, which it unpickles whatever they hold.

Each version of a function is a file there, named by everything it depends on and guarded by a checksum.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, compiler, serialize

from core.codegen import object_cache

index_of: Any = caching.FunctionCache._index_key
rebuilt: Any = compiler.CompileResult._rebuild
dumps: Any = serialize.dumps
"""They have no types."""


Tell = Callable[[str], None]
MAKING = (
    ("methods.radau", "the implicit integrators", 20),
    ("methods.adams", "the Adams integrator", 5),
    ("equations", "the equations of motion of such machines", 15),
    ("", "the integrators", 10),
)
"""What is compiled by the beginning of its module's name, and about how long that takes, s."""
_listener: ContextVar[tuple[Tell, set[str]] | None] = ContextVar("listener", default=None)


@contextmanager
def telling(tell: Tell) -> Iterator[None]:
    """Inside, whatever waits for loops that this computer has not compiled yet says so before it does, once for each
    part: with what, and about how long. Who is told may wait until somebody else has made them."""
    before = _listener.set((tell, set()))
    try:
        yield
    finally:
        _listener.reset(before)


def _tell(module: str) -> None:
    """Say that loops of a module are compiled now."""
    listener = _listener.get()
    if listener is None:
        return
    tell, said = listener
    own = module.removeprefix(f"{_CORE}.simulation.")
    what, seconds = next((what, seconds) for begin, what, seconds in MAKING if own.startswith(begin))
    if what not in said:
        said.add(what)
        tell(f"Compiling {what}: once on this computer, about {seconds} s …")


class KeptLoops:
    """What Numba asks for compiled versions of a function."""

    cache_path = None

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_func = function  # by this name Numba's index asks for it
        self._name = f"{function.__module__}.{function.__qualname__} {function.__code__.co_firstlineno}"
        self._texts = _text_hash(function.__module__)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The version of a signature; None if it is not there."""
        target.refresh()
        index = self._index(signature, target.codegen())
        data = object_cache.load(self._key(index))
        if data is None:
            _tell(self._py_func.__module__)
            data = object_cache.load(self._key(index))
        if data is None:
            return None
        found, parts = pickle.loads(data)  # of a folder of this user alone, whole by its checksum
        return rebuilt(target, *parts) if found == index else None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a version."""
        if result.library.has_dynamic_globals or not all(each.can_cache for each in result.lifted):
            return
        index = self._index(signature, result.codegen)
        object_cache.store(self._key(index), dumps((index, result._reduce())))

    def enable(self) -> None:
        """It is."""

    disable = flush = enable

    def _index(self, signature: Any, codegen: Any) -> Any:
        return index_of(self, signature, codegen)

    def _key(self, index: Any) -> str:
        made_by = f"{numba.__version__} {sys.implementation.cache_tag}"
        return object_cache.key(made_by, "\n".join((self._name, self._texts, repr(index))))


_CORE = __name__.removesuffix(".simulation.stepping.loop_cache")
_FOLDER = Path(__file__).parents[2]
"""Name and folder of what the rooms stand in whose texts count: `core.simulation` and `core.numerics`."""
_IMPORTED = re.compile(
    rf"^from {re.escape(_CORE)}(\.(?:simulation|numerics)\b[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE
)


@cache
def _text_hash(module: str) -> str:
    """Of the text of a module of `core.simulation` and of those it calls or takes numbers from: Numba does not see that
    what stands in another file has changed."""
    texts: set[Path] = set()
    ahead = [Path(__file__).with_name("compilation.py"), *_files(module.removeprefix(_CORE), ())]
    while ahead:
        path = ahead.pop()
        if path not in texts:
            texts.add(path)
            ahead += _imported(path)
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(texts))).hexdigest()


@cache
def _imported(path: Path) -> tuple[Path, ...]:
    """The files of the modules of these rooms that a file imports."""
    found = _IMPORTED.findall(path.read_text(encoding="utf-8"))
    return tuple(file for module, names in found for file in _files(module, re.findall(r"\w+", names)))


def _files(module: str, names: Sequence[str]) -> list[Path]:
    """The file of ".simulation.stepping.driver"; of a folder those of the names taken from it that are modules."""
    path = _FOLDER.joinpath(*module.split("."))
    own = path.with_suffix(".py")
    return [own] if own.is_file() else [each for name in names if (each := path / f"{name}.py").is_file()]
