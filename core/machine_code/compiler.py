"""Compiler: turns an entry point and all functions that it calls into one LLVM bitcode module.

Each function is translated once for given types of its arguments, whatever number of entries call it; an entry's
functions are optimised together, once. The result is bound to no machine: it fits any processor with addresses of eight
bytes, and any later LLVM (`docs/decisions/integrators_machine_code.md`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import llvmlite.binding as llvm

from core.machine_code import language
from core.machine_code.llvm_writer import DECLARATIONS, INTRINSICS
from core.machine_code.translation import LanguageError, Translation
from core.machine_code.value_types import INT, SCALARS, Type

LEVEL = 3
"""LLVM optimisation level: level 2 compiles in two thirds of the time, and runs take 2 to 5 % longer."""
FEW_PASSES = ("sroa", "instruction_combine", "simplify_cfg", "global_dead_code_eliminate", "strip_dead_prototype")
"""LLVM passes used while a caller waits for the code: they take a thirtieth of the time and speed up code generation.
Results are identical bit by bit; nothing is inlined, so that runs take up to twice as long."""
ATTRIBUTES = {"native": "nounwind", "merged": "nounwind alwaysinline", "inserted": "nounwind alwaysinline"}
"""LLVM attributes of functions, by their decorator."""
LIBRARY_NAMES = {f"llvm.{name}.f64": name for name in INTRINSICS if name not in ("fabs", "copysign")}
"""C library functions that replace LLVM intrinsics on processors without a matching instruction."""


class Compilable(Protocol):
    """Protocol for compilable functions, such as an `Entry` of `core.machine_code.entry`."""

    function: Callable[..., int]
    arguments: list[str]
    """Argument types, "int" or "float" each."""


class TranslatedFunction:
    """A function translated to LLVM IR for given argument types."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Type, ...], mark: str) -> None:
        self.arguments = arguments
        self.name = f"{function.__module__}.{function.__name__}({','.join(map(str, arguments))})"
        written = Translation(function, arguments, find_translation)
        assert written.result is not None
        self.result: Type = written.result
        self.text = written.text(self.name, ATTRIBUTES[mark])
        self.called = [each for each in dict.fromkeys(written.called) if isinstance(each, TranslatedFunction)]


_translated: dict[tuple[Callable[..., Any], tuple[Type, ...]], TranslatedFunction | None] = {}
"""Functions translated in this process; None: translation in progress."""


def find_translation(function: Callable[..., Any], arguments: tuple[Type, ...], mark: str = "") -> TranslatedFunction:
    """Return the translation of a function for these argument types, from the cache or made now.

    Raises LanguageError, also of a function that calls itself: it would need a stack of unknown depth.
    """
    key = function, arguments
    if key in _translated:
        known = _translated[key]
        if known is None:
            raise LanguageError(
                f"{function.__module__}.{function.__name__} calls itself, but recursion is not supported"
            )
        return known
    _translated[key] = None
    try:
        made = _translated[key] = TranslatedFunction(function, arguments, mark or language.marks[function])
    finally:
        if _translated[key] is None:
            del _translated[key]
    return made


def build_ir(entry: Compilable) -> str:
    """Return the LLVM IR of an entry point with all functions that it calls; the function to be called from C is
    `entry`. The first line gives the optimisation settings."""
    types = tuple(SCALARS[each] for each in entry.arguments)
    first = find_translation(entry.function, types, "native")
    reached = [first]
    for each in reached:
        reached += [called for called in each.called if called not in reached]
    given = ", ".join(f"{kind.llvm} %a{k}" for k, kind in enumerate(types))
    around = (
        f"define {INT.llvm} @entry({given}) nounwind {{\n"
        f'  %result = call {INT.llvm} @"{first.name}"({given})\n  ret {INT.llvm} %result\n}}'
    )
    return "\n\n".join([f"; level {LEVEL}", DECLARATIONS, *(each.text for each in reversed(reached)), around])


def compile_entry(entry: Compilable, quickly: bool = False) -> tuple[bytes, list[str]]:
    """Return (bitcode, names of the C library functions it may call) of an entry point. Raises LanguageError.

    quickly : only with `FEW_PASSES`
    """
    module = llvm.parse_assembly(build_ir(entry))
    module.verify()
    _optimise_module(module, quickly)
    for k, each in enumerate(module.functions):
        if not each.is_declaration and each.name != "entry":
            each.name = f"f{k}"
    declared = [each.name for each in module.functions if each.is_declaration]
    needed = [LIBRARY_NAMES.get(name, name) for name in declared]
    return module.as_bitcode(), [name for name in needed if not name.startswith("llvm.")]


def _optimise_module(module: llvm.ModuleRef, quickly: bool) -> None:
    """Run all optimisation passes except vectorisation: loops here are only a few iterations long, and vectorised they
    would take three times as long and compile more slowly."""
    llvm.initialize_native_target()
    target = llvm.Target.from_default_triple().create_target_machine(cpu="generic", opt=LEVEL)
    options = llvm.create_pipeline_tuning_options(speed_level=LEVEL)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(target, options)
    manager = llvm.create_new_module_pass_manager() if quickly else builder.getModulePassManager()
    for name in FEW_PASSES if quickly else ():
        getattr(manager, f"add_{name}_pass")()
    manager.run(module, builder)
