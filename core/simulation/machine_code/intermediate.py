"""The intermediate code of entries: a file each beside this one, made where the program is built, read where it runs.

Each file says of what it was made: a hash over the texts of the modules that its function comes from, with all that
they import of `core.simulation` and `core.numerics`. Where a text has changed since, as in a checkout, entries are made
anew when they are next called for, if the compiler is there; else a message says what to do.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import llvmlite.binding as llvm

from core.errors import SimulationError

if TYPE_CHECKING:
    from core.codegen.object_code import Library

FOLDER = Path(__file__).with_name("intermediate_code")
LONGEST = 600.0
"""s that the compiler may take."""
BY_NAME = ("pow", "memcpy", "memmove", "memset")
"""Functions of the C library that object code calls where intermediate code has operations."""
WHERE = "integrators"
REINSTALL = "Install Kinetostat anew: pip install --force-reinstall kinetostat"
BUILD = "Make it with `pip install -e .` in the checkout, or install its compiler: pip install numba"

_HASH = 32
_ROOM = __package__.rpartition(".")[0]
_CORE = _ROOM.rpartition(".")[0]
_ROOT = Path(__file__).parents[2 + _CORE.count(".") + 1]
_PLACE = Path(__file__).parents[2]
"""Name and folder of what the rooms stand in whose texts count: `core.simulation` and `core.numerics`."""
_IMPORTED = re.compile(
    rf"^from {re.escape(_CORE)}(\.(?:simulation|numerics)\b[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE
)
_ENTRY = re.compile(r"^@entry\ndef (\w+)", re.MULTILINE)
_INSTALLED = re.compile(rb"\bkinetostat\.(?=(?:app|core|resources|viz)\b)")
"""What `setup.py` writes before names of modules."""

Tell = Callable[[str], None]
_listener: ContextVar[tuple[Tell, set[str]] | None] = ContextVar("listener", default=None)


@contextlib.contextmanager
def telling(tell: Tell) -> Iterator[None]:
    """Inside, whatever waits for machine code of the integrators that this computer does not have yet says so before,
    once for each reason."""
    before = _listener.set((tell, set()))
    try:
        yield
    finally:
        _listener.reset(before)


def _tell(words: str) -> None:
    listener = _listener.get()
    if listener is not None and words not in listener[1]:
        listener[1].add(words)
        listener[0](words)


# ------------------------------------------------------------------------------- files


class Code(NamedTuple):
    """The intermediate code of an entry."""

    bitcode: bytes
    needed: list[str]
    """Functions of the C library that it calls."""
    sources: str
    """Hash of the texts that it was made from."""
    made_by: dict[str, str]
    """Versions of numba and llvmlite."""
    llvm: list[int]
    """The version of LLVM that wrote it; later ones read it, too."""


class Unfit(ValueError):
    """Code that is not there, or of no use: why."""


def entries() -> list[str]:
    """The names of all entries, such as "methods.radau.step_entry"; of programs without texts those that are kept."""
    folder = Path(__file__).parents[1]
    found = [
        ".".join((*path.relative_to(folder).with_suffix("").parts, name))
        for path in sorted(folder.rglob("*.py"))
        for name in _ENTRY.findall(path.read_text(encoding="utf-8"))
    ]
    return found or sorted(path.stem for path in FOLDER.glob("*.bc"))


def read(name: str) -> Code:
    """The code of an entry. Raises Unfit."""
    try:
        data = (FOLDER / f"{name}.bc").read_bytes()
    except OSError:
        raise Unfit("is missing") from None
    head, body = data[:_HASH], data[_HASH:]
    if hashlib.sha256(body).digest() != head:
        raise Unfit("is damaged")
    facts, _, bitcode = body.partition(b"\n")
    code = Code(bitcode, **json.loads(facts))
    if code.sources != (sources_of(name.rpartition(".")[0]) or code.sources):
        raise Unfit("was made of another text")
    if code.llvm > list(llvm.llvm_version_info):
        made, here = (".".join(map(str, version)) for version in (code.llvm, llvm.llvm_version_info))
        raise Unfit(f"was written by LLVM {made}, and here is {here}")
    return code


def write(name: str, code: Code) -> None:
    """Keep it, whole or not at all."""
    facts = code._asdict()
    body = facts.pop("bitcode")
    body = json.dumps(facts, sort_keys=True).encode() + b"\n" + body
    FOLDER.mkdir(exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=FOLDER, suffix=".part")
    with os.fdopen(handle, "wb") as file:
        file.write(hashlib.sha256(body).digest() + body)
    os.chmod(temporary, 0o644)
    os.replace(temporary, FOLDER / f"{name}.bc")


def unfit(names: Sequence[str]) -> dict[str, str]:
    """Those of these entries that are not there as they should be, and why."""
    found = {}
    for name in names:
        try:
            read(name)
        except Unfit as reason:
            found[name] = str(reason)
    return found


# ------------------------------------------------------------------------------- texts


@cache
def sources_of(module: str) -> str:
    """A hash of the text of a module of `core.simulation` and of those that it calls or takes numbers from; empty where
    the program has no texts. The same before and after installation."""
    texts: set[Path] = set()
    ahead = [Path(__file__).with_name("compiler.py"), *_files(f".simulation.{module}", ())]
    if len(ahead) == 1:
        return ""
    while ahead:
        path = ahead.pop()
        if path not in texts:
            texts.add(path)
            ahead += _imported(path)
    parts = (_INSTALLED.sub(b"", path.read_bytes().replace(b"\r\n", b"\n")) for path in sorted(texts))
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


@cache
def _imported(path: Path) -> tuple[Path, ...]:
    """The files of the modules of these rooms that a file imports."""
    found = _IMPORTED.findall(path.read_text(encoding="utf-8"))
    return tuple(file for module, names in found for file in _files(module, re.findall(r"\w+", names)))


def _files(module: str, names: Sequence[str]) -> list[Path]:
    """The file of ".simulation.stepping.step_loop"; of a folder those of the names taken from it that are modules."""
    path = _PLACE.joinpath(*module.split("."))
    own = path.with_suffix(".py")
    return [own] if own.is_file() else [each for name in names if (each := path / f"{name}.py").is_file()]


# ------------------------------------------------------------------------------- what runs


def library_of(name: str) -> Library:
    """The machine code of an entry, from the cache or made now.

    Raises SimulationError with the remedy if there is no code that fits.
    """
    from core.codegen.object_code import Library

    def making() -> None:
        _tell("Making machine code of the integrators: once on this computer …")

    code = _current(name)
    try:
        return Library(code.bitcode, [*code.needed, *BY_NAME], making)
    except RuntimeError as error:  # LLVM cannot read it
        if compiler_is_there():
            _make_anew(name, "cannot be read")
            code = _current(name)
            return Library(code.bitcode, [*code.needed, *BY_NAME], making)
        here, made = llvm.llvm_version_info, code.made_by["llvmlite"]
        raise SimulationError(
            f"LLVM {'.'.join(map(str, here))} cannot read the code of '{name}', which llvmlite {made} has written.",
            where=WHERE,
            remedy=f"Install that one: pip install llvmlite=={made}",
        ) from error


def _current(name: str) -> Code:
    """The code of an entry, made anew if need be."""
    try:
        return read(name)
    except Unfit as reason:
        if not compiler_is_there():
            raise SimulationError(f"The code of '{name}' {reason}.", where=WHERE, remedy=_remedy(str(reason))) from None
        _make_anew(name, str(reason))
    return read(name)


def _remedy(reason: str) -> str:
    if "LLVM" in reason:
        return "Install a later one: pip install --upgrade llvmlite"
    return BUILD if (_ROOT / "pyproject.toml").exists() else REINSTALL


def compiler_is_there() -> bool:
    """Whether entries can be made here."""
    return find_spec("numba") is not None and not getattr(sys, "frozen", False)


def _make_anew(name: str, reason: str) -> None:
    """Another process makes all entries of the same module that are not as they should be."""
    module = name.rpartition(".")[0]
    _tell(f"Compiling '{module}', whose code {reason}: up to half a minute …")
    sources_of.cache_clear()
    _imported.cache_clear()
    wanted = {name, *unfit([each for each in entries() if each.rpartition(".")[0] == module])}
    make(sorted(wanted))


def make(names: Sequence[str]) -> None:
    """Make the code of these entries (none: of all that are not as they should be) in a process of its own.

    Raises SimulationError.
    """
    paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-P", "-m", f"{__package__}.making", *names],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )
    if done.returncode != 0:
        last: Any = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise SimulationError(
            f"The code of {', '.join(names) or 'the integrators'} could not be made: {last}",
            where=WHERE,
            remedy=f"Where texts were changed, mend what the compiler names; else: {_remedy('')}",
        )
