"""Cache of LLVM bitcode, one file per entry point, written on first use or when the program is built.

A file is bound to its own content by a hash, and names what it was made from: a hash over the texts of the modules that
its function comes from, with all that they import of `core.simulation` and `core.numerics`, and a hash of LLVM's text.
Where a text has changed since, it is translated again, and compiled again only if that led to another text of LLVM's.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding as llvm

FOLDER = Path(__file__).with_name("intermediate_code")
"""Folder with the bitcode in a checkout and in an installed package."""
_CACHED = "integrators"
"""Folder in the user's cache, used if the first one is not writable."""
FINAL, QUICK = ".bc", ".quick"
"""Endings of files with optimised bitcode, and with bitcode compiled quickly, which serves until the former is made."""
_HASH = 32
_CORE = __package__.rpartition(".")[0]
_PLACE = Path(__file__).parents[1]
"""Package name and folder of `core`, whose rooms are hashed."""
ROOMS = ("constraints", "simulation")
"""Rooms of `core` that have entry points."""
_FORCES = "constraints.(?:factorised_constraints|(?:admissible|friction_disk|resting)_forces)"
_NEWTON = "constraints.newton.(?:attaining|displacement|loop_closing|reaching|shortest_steps)"
_HASHED = f"joints.quaternions|machine_code|numerics|programs.native_function|{_FORCES}|{_NEWTON}|simulation"
"""Rooms and modules whose sources are hashed."""
_IMPORTED = re.compile(rf"^from {re.escape(_CORE)}(\.(?:{_HASHED})\b[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)
_ENTRY = re.compile(r"^@entry\ndef (\w+)", re.MULTILINE)
_INSTALLED = re.compile(rb"\bkinetostat\.(?=(?:app|core|resources|viz)\b)")
"""Prefix that `setup.py` adds to module names."""
_COMPILER = ("compiler", "translation", "arrays", "llvm_writer", "value_types")
"""Modules that determine the compiled result."""


class StoredCode(NamedTuple):
    """Bitcode of an entry point with its metadata."""

    bitcode: bytes
    needed: list[str]
    """C library functions that it calls."""
    sources: str
    """Hash of the sources that it was compiled from."""
    text: str
    """Hash of the LLVM IR that it was compiled from."""
    llvm: list[int]
    """Version of LLVM that wrote it; later versions can read it."""
    llvmlite: str
    """Version of the llvmlite package that contains this LLVM."""


class UnusableCode(ValueError):
    """Error: bitcode is missing or unusable; its text gives the reason."""


@cache
def installed_llvmlite_version() -> str:
    """Return the version of the installed llvmlite package."""
    return version("llvmlite")


def entry_point_names() -> list[str]:
    """Return the names of all entry points, such as "simulation.methods.radau.step_entry"; in an installation without
    sources, of those with stored bitcode."""
    found = [
        ".".join((*path.relative_to(_PLACE).with_suffix("").parts, name))
        for room in ROOMS
        for path in sorted((_PLACE / room).rglob("*.py"))
        for name in _ENTRY.findall(path.read_text(encoding="utf-8"))
    ]
    return found or sorted(path.stem for path in FOLDER.glob("*.bc"))


# ------------------------------------------------------------------------------- files


def bitcode_folders() -> Iterator[Path]:
    """Yield the folders in which bitcode may be stored, in order of preference."""
    yield FOLDER
    from core.codegen import object_cache

    if (cached := object_cache.cache_folder()) is not None:
        yield cached / _CACHED


def writable_folder() -> Path:
    """Return the first writable bitcode folder, created if necessary. Raises OSError if there is none."""
    reason: OSError | None = None
    for place in bitcode_folders():
        try:
            place.mkdir(exist_ok=True)
            if os.access(place, os.W_OK):
                return place
        except OSError as error:
            reason = error
    raise reason or PermissionError(f"{FOLDER} is not writable")


def find_stored_code(name: str) -> StoredCode:
    """Return the stored bitcode of an entry point, even if outdated. Raises UnusableCode with the reason from the first
    folder."""
    reason: UnusableCode | None = None
    for place in bitcode_folders():
        try:
            return _read_stored(place / f"{name}{FINAL}")
        except UnusableCode as error:
            reason = reason or error
    raise reason or UnusableCode("is missing")


def _read_stored(path: Path) -> StoredCode:
    try:
        data = path.read_bytes()
    except OSError:
        raise UnusableCode("is missing") from None
    head, body = data[:_HASH], data[_HASH:]
    if hashlib.sha256(body).digest() != head:
        raise UnusableCode("is damaged")
    facts, _, bitcode = body.partition(b"\n")
    try:
        code = StoredCode(bitcode, **json.loads(facts))
    except (TypeError, ValueError):
        raise UnusableCode("was written by another version of Kinetostat") from None
    if code.llvm > list(llvm.llvm_version_info):
        made, here = (".".join(map(str, version)) for version in (code.llvm, llvm.llvm_version_info))
        raise UnusableCode(f"was written by LLVM {made}, but LLVM {here} is installed")
    return code


def read(name: str, ending: str = FINAL) -> StoredCode:
    """Return the stored bitcode of an entry point if it is up to date. Raises UnusableCode otherwise."""
    reason: UnusableCode | None = None
    for place in bitcode_folders():
        try:
            code = _read_stored(place / f"{name}{ending}")
            if is_current_code(name, code):
                return code
            raise UnusableCode("was compiled from other sources")
        except UnusableCode as error:
            reason = reason or error
    raise reason or UnusableCode("is missing")


def is_current_code(name: str, code: StoredCode) -> bool:
    """Return True if the bitcode was compiled from the present sources, or if there are no sources here."""
    return code.sources == (hash_sources(name.rpartition(".")[0]) or code.sources)


def write_code(name: str, code: StoredCode, ending: str = FINAL) -> None:
    """Store bitcode in an atomic write; optimised bitcode replaces that compiled quickly. Raises OSError."""
    facts = code._asdict()
    body = facts.pop("bitcode")
    body = json.dumps(facts, sort_keys=True).encode() + b"\n" + body
    place = writable_folder()
    handle, temporary = tempfile.mkstemp(dir=place, suffix=".part")
    with os.fdopen(handle, "wb") as file:
        file.write(hashlib.sha256(body).digest() + body)
    os.chmod(temporary, 0o644)
    os.replace(temporary, place / f"{name}{ending}")
    if ending == FINAL:
        (place / f"{name}{QUICK}").unlink(missing_ok=True)


def find_unusable_code(names: Sequence[str]) -> dict[str, str]:
    """Return, with the reason, those of these entry points whose bitcode is missing, damaged or outdated."""
    found = {}
    for name in names:
        try:
            read(name)
        except UnusableCode as reason:
            found[name] = str(reason)
    return found


# ------------------------------------------------------------------------------- texts


@cache
def hash_sources(module: str) -> str:
    """Return a hash of a module of `core`, of the modules that it imports, and of the compiler; empty in an
    installation without sources. The hash is the same before and after installation."""
    texts = _source_files(module)
    return hashlib.sha256(b"\0".join(map(_normalised_source, texts))).hexdigest() if texts else ""


def sources_changed_since(module: str, time: float) -> bool:
    """Return True if any source file on which a module's entry points depend was changed after a time (s)."""
    return any(path.stat().st_mtime >= time for path in _source_files(module))


def _source_files(module: str) -> list[Path]:
    """Return the files of a module of `core`, of what it imports, and of the compiler, sorted."""
    texts: set[Path] = set()
    ahead = [*_module_files(f".{module}", ())]
    if not ahead:
        return []
    ahead += [Path(__file__).with_name(f"{each}.py") for each in _COMPILER]
    while ahead:
        path = ahead.pop()
        if path not in texts:
            texts.add(path)
            ahead += _imported_files(path)
    return sorted(texts)


@cache
def _normalised_source(path: Path) -> bytes:
    return _INSTALLED.sub(b"", path.read_bytes().replace(b"\r\n", b"\n"))


@cache
def _imported_files(path: Path) -> tuple[Path, ...]:
    """Return the source files that a file imports from the hashed rooms."""
    found = _IMPORTED.findall(path.read_text(encoding="utf-8"))
    return tuple(file for module, names in found for file in _module_files(module, re.findall(r"\w+", names)))


def _module_files(module: str, names: Sequence[str]) -> list[Path]:
    """Return the source file of a module such as ".simulation.methods.radau"; for a package, the files of those
    imported names that are modules."""
    path = _PLACE.joinpath(*module.split("."))
    own = path.with_suffix(".py")
    return [own] if own.is_file() else [each for name in names if (each := path / f"{name}.py").is_file()]


def clear_source_hashes() -> None:
    """Clear the cache of source hashes, since the sources may have changed."""
    for function in (hash_sources, _imported_files, _normalised_source):
        function.cache_clear()


# ------------------------------------------------------------------------------- one maker at a time


@contextlib.contextmanager
def lock_while_compiling(name: str) -> Iterator[None]:
    """Context that locks an entry point so that no other process compiles it meanwhile; without file locks it may be
    compiled twice, with the same result."""
    if os.name != "posix":
        yield
        return
    import fcntl

    handle = os.open(writable_folder() / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    place = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX, 1, place)
        yield
    finally:
        os.close(handle)
