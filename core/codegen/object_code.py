"""Compilation of LLVM IR to object code (cached on disk) and loading of the functions."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import ctypes.util
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache

import llvmlite.binding as llvm

from core.codegen import object_cache
from core.codegen.llvm_ir import LIBRARY
from core.codegen.processor import processor_features, processor_identification

PLAIN = "KINETOSTAT_PLAIN_CODE"
"""Environment variable that turns optimisation off: compiling takes a sixth of the time, code runs more slowly, results
are the same. For programs that compile much and run it little, such as tests."""
QUICK, FULL = 0, 2
"""LLVM's code generation levels. QUICK compiles in an eighth of the time, and skips the optimisation of IR text; code
takes one and a half times (text) to twice (bitcode) as long to run and gives identical results."""

_lock = threading.RLock()
"""Lock that admits one thread at a time to LLVM."""
_is_ending = threading.Event()
LAST_COMPILATION = 20.0
"""Largest time (s) for which the end of the program waits for a compilation in another thread."""


@contextlib.contextmanager
def _llvm_access() -> Iterator[None]:
    """Admit one thread at a time to LLVM; a background thread that asks for it while the program ends is ended."""
    with _lock:
        if _is_ending.is_set() and threading.current_thread() is not threading.main_thread():
            raise SystemExit
        yield


@atexit.register
def _close_llvm() -> None:
    """Let a compilation in another thread finish, and admit no further one: LLVM's global objects are destroyed after
    this, and a thread that still uses them would crash the process."""
    _is_ending.set()
    if _lock.acquire(timeout=LAST_COMPILATION):
        _lock.release()  # threads that wait for it find that the program is ending


@cache
def _initialise_llvm() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _target_machine(level: int = FULL) -> llvm.TargetMachine:
    """Return the target machine of this processor; an execution engine takes ownership of it."""
    _initialise_llvm()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=processor_features(), opt=level, jit=True
    )


def is_optimisation_skipped() -> bool:
    """Return True if optimisation is skipped, see `PLAIN`."""
    return bool(os.environ.get(PLAIN))


def _key(ir: str | bytes, level: int = FULL) -> str:
    return object_cache.cache_key(f"{processor_identification()}{' quick' * (_actual_level(ir, level) == QUICK)}", ir)


def _actual_level(ir: str | bytes, level: int) -> int:
    return QUICK if isinstance(ir, str) and is_optimisation_skipped() else level


def is_cached(ir: str | bytes) -> bool:
    """Return True if the object code of IR is in the cache."""
    return object_cache.load(_key(ir)) is not None


def object_code(ir: str | bytes, on_compile: Callable[[], object] = int, level: int = FULL) -> bytes:
    """Return the object code of IR, from the cache if possible; at FULL, IR text is optimised first, bitcode is taken
    as optimised.

    on_compile : called before it is made
    """
    key = _key(ir, level)
    found = object_cache.load(key)
    if found is not None:
        return found
    on_compile()
    level = _actual_level(ir, level)
    with _llvm_access():
        target = _target_machine(level)
        module = llvm.parse_assembly(ir) if isinstance(ir, str) else llvm.parse_bitcode(ir)
        module.triple = target.triple
        module.data_layout = str(target.target_data)
        if isinstance(ir, str) and level == FULL:
            _optimise(module, target)
        data = bytes(target.emit_object(module))
    object_cache.store_object_code(key, data)
    return data


def _optimise(module: llvm.ModuleRef, target: llvm.TargetMachine) -> None:
    """Optimise at level 1 without vectorisation; for thousands of straight lines, higher levels take ten times as long
    without gain."""
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = False
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)


def _called_library_functions(ir: str) -> list[str]:
    """Return the C library functions that IR calls."""
    names = {"sin", "cos", *(name for name, _ in LIBRARY.values())}
    return [name for name in names if f"call double @{name}(" in ir]


def _check_library_functions(names: Iterable[str]) -> None:
    """Check that C library functions exist; a missing one would make LLVM abort the process.

    Raises OSError naming one that is nowhere.
    """
    for name in names:
        if llvm.address_of_symbol(name) is not None:
            continue
        for library in ("m", "ucrtbase", "msvcrt", "c"):
            path = ctypes.util.find_library(library)
            function = getattr(ctypes.CDLL(path), name, None) if path else None
            if function is not None:
                llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
                break
        else:
            raise OSError(f"the C library does not provide the function {name}")


def _load_engine(data: bytes) -> llvm.ExecutionEngine:
    """Load object code into memory."""
    with _llvm_access():
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
        engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(data))
        engine.finalize_object()
    return engine


class LoadedLibrary:
    """Object code loaded into memory, whose functions can be called.

    ir : text, or bitcode that has been optimised and calls the functions `needed_functions` of the C library;
    on_compile : called before object code is made that was not kept; level : see `object_code`
    """

    def __init__(
        self,
        ir: str | bytes,
        needed_functions: Iterable[str] = (),
        on_compile: Callable[[], object] = int,
        level: int = FULL,
    ) -> None:
        data = object_code(ir, on_compile, level)
        _check_library_functions(_called_library_functions(ir) if isinstance(ir, str) else needed_functions)
        self._engine = _load_engine(data)

    def address(self, name: str) -> int:
        """Return the address of a function."""
        with _llvm_access():
            return int(self._engine.get_function_address(name))

    def variable_address(self, name: str) -> int:
        """Return the address of a global variable."""
        with _llvm_access():
            return int(self._engine.get_global_value_address(name))

    @classmethod
    def from_object_code(cls, data: bytes, needed_functions: Iterable[str] = ()) -> LoadedLibrary:
        """Load object code that calls these functions of the C library, apart from those checked before."""
        _check_library_functions(needed_functions)
        library = cls.__new__(cls)
        library._engine = _load_engine(data)
        return library
