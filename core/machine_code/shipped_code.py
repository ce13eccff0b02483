"""Object code that a wheel brings for computers like the one that built it, so that the first run does not compile.

It is compiled quickly from the stored bitcode, for any processor of the architecture. Its results are those of the code
compiled for this processor, which replaces it (`core.machine_code.supply`). Each file is bound to its
bitcode by a hash. Writing it needs llvmlite only: it is done where the program is built.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import tempfile
from collections.abc import Iterable

import llvmlite.binding as llvm

from core.machine_code.intermediate import FOLDER, find_stored_code

_HASH = 32
LEVEL = 0
"""LLVM code generation level."""


def _ending() -> str:
    """Return the ending of files with object code for computers like this one."""
    return f".{platform.machine().lower()}-{sys.platform}.o"


def _digest(bitcode: bytes) -> bytes:
    return hashlib.sha256(f"level {LEVEL}\n".encode() + bitcode).digest()


def find_shipped_code(name: str, bitcode: bytes) -> bytes | None:
    """Return the object code of an entry point that was shipped for this bitcode; None if there is none."""
    try:
        data = (FOLDER / f"{name}{_ending()}").read_bytes()
    except OSError:
        return None
    digest, body, checksum = data[:_HASH], data[_HASH:-_HASH], data[-_HASH:]
    intact = digest == _digest(bitcode) and checksum == hashlib.sha256(body).digest()
    return body if intact else None


def target_machine() -> llvm.TargetMachine:
    """Return the target of shipped code: LLVM's generic processor of this architecture, not the one that builds it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(cpu="generic", features="", opt=LEVEL, jit=True)


def write_shipped_code(names: Iterable[str]) -> None:
    """Compile the bitcode of entry points to object code and store it, where that is not done. Raises OSError."""
    target = target_machine()
    for name in names:
        bitcode = find_stored_code(name).bitcode
        if find_shipped_code(name, bitcode) is None:
            module = llvm.parse_bitcode(bitcode)
            module.triple, module.data_layout = target.triple, str(target.target_data)
            body = bytes(target.emit_object(module))
            _write(name, _digest(bitcode) + body + hashlib.sha256(body).digest())


def _write(name: str, data: bytes) -> None:
    """Write a file in one step."""
    handle, temporary = tempfile.mkstemp(dir=FOLDER, suffix=".part")
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    os.chmod(temporary, 0o644)
    os.replace(temporary, FOLDER / f"{name}{_ending()}")
