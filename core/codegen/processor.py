"""Processor for which machine code is compiled."""

from __future__ import annotations

import platform
from functools import cache
from typing import Any

WITH_FEATURE = ("x86_64", "amd64", "i386", "i686")
"""Architectures on which only processors with the feature `fma` have a fused multiply–add; elsewhere all have it."""


@cache
def processor_features() -> str:
    """Return the features of this processor as LLVM takes them."""
    return str(_llvm().get_host_cpu_features().flatten())


@cache
def has_fused_multiply_add() -> bool:
    """Return True if this processor multiplies and adds with a single rounding in one instruction."""
    return platform.machine().lower() not in WITH_FEATURE or "+fma" in processor_features().split(",")


@cache
def vector_width() -> int:
    """Return the number of doubles in one of this processor's registers, and at least 4: LLVM splits longer vectors."""
    return 8 if "+avx512f" in processor_features().split(",") else 4


def processor_identification() -> str:
    """Return the identification of the target that object code is valid for: LLVM version, processor, features."""
    llvm = _llvm()
    version = ".".join(map(str, llvm.llvm_version_info))
    return f"{version} {llvm.get_process_triple()} {llvm.get_host_cpu_name()} {processor_features()}"


def _llvm() -> Any:
    """Return LLVM's functions, imported on first use: a first picture compiles nothing."""
    import llvmlite.binding

    return llvmlite.binding
