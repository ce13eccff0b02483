"""Compiled loops in the cache of machine code, in place of Numba's own files, which it unpickles whatever they hold.

Each version of a function is a file there, named by everything it depends on and guarded by a checksum.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, compiler, serialize

from core.kernel import code_cache

index_of: Any = caching.FunctionCache._index_key
rebuilt: Any = compiler.CompileResult._rebuild
dumps: Any = serialize.dumps
"""They have no types."""


class KeptLoops:
    """What Numba asks for compiled versions of a function."""

    cache_path = None

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_func = function  # by this name Numba's index asks for it
        self._name = f"{function.__module__}.{function.__qualname__} {function.__code__.co_firstlineno}"
        self._texts = _text_hash(function.__module__.rpartition(".")[2])

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The version of a signature; None if it is not there."""
        target.refresh()
        index = self._index(signature, target.codegen())
        data = code_cache.load(self._key(index))
        if data is None:
            return None
        found, parts = pickle.loads(data)  # of a folder of this user alone, whole by its checksum
        return rebuilt(target, *parts) if found == index else None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a version."""
        if result.library.has_dynamic_globals or not all(each.can_cache for each in result.lifted):
            return
        index = self._index(signature, result.codegen)
        code_cache.store(self._key(index), dumps((index, result._reduce())))

    def enable(self) -> None:
        """It is."""

    disable = flush = enable

    def _index(self, signature: Any, codegen: Any) -> Any:
        return index_of(self, signature, codegen)

    def _key(self, index: Any) -> str:
        made_by = f"{numba.__version__} {sys.implementation.cache_tag}"
        return code_cache.key(made_by, "\n".join((self._name, self._texts, repr(index))))


@cache
def _text_hash(module: str) -> str:
    """Of the text of a module of this folder and of those it calls: Numba does not see that a function called from
    another file has changed."""
    paths = sorted({Path(__file__).with_name("native.py")} | _texts(module))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


@cache
def _texts(module: str) -> frozenset[Path]:
    """The file of a module of this folder, and those of the modules beside it that it imports."""
    path = Path(__file__).parent / f"{module}.py"
    found = {path}
    for other in re.findall(r"^from core\.simulation\.(\w+) import", path.read_text(encoding="utf-8"), re.MULTILINE):
        found |= _texts(other)
    return frozenset(found)
