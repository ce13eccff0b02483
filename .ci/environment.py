"""An environment with what is pinned in `requirements`, and the checkout itself in it.

`.ci/setup` calls this with a Python that fits: `python -I .ci/environment.py run|dev FOLDER STAMP`. Nothing is resolved
where the pinned versions fit; elsewhere the bounds of `pyproject.toml` are. A set-up that was ended half-way leaves
`.unfinished` in the environment, and the next one begins with an empty one.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import shutil
import subprocess
import sys
import time
import tomllib
import venv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = {"run": (), "dev": ("dev", "xacro")}
PINNED = {"run": ("run.txt",), "dev": ("run.txt", "dev.txt")}
MADE, UNFINISHED = ".made-by-setup", ".unfinished"
QUIET = 10.0
"""Seconds after which a line says that the work goes on."""
LARGE = 1.0
"""MB from which on a download is named."""
SPACE = {"run": 2.0, "dev": 3.5}
"""GB on the disk that an environment takes with what is unpacked for it."""
UNREACHABLE = re.compile(
    r"from versions: none|NewConnectionError|(Connect|Read)Timeout|name resolution|Network is unreachable|ProxyError"
)
RETRY = "Retrying ("
_DOWNLOADED = re.compile(r"\s*Downloading \S*?([^/\s]+?)-(\d[^-\s]*)-\S+\.whl \(([\d.]+) (k|M|G)B\)")
_UNPACKING = re.compile(r"Installing collected packages: (.*)")


class SetupError(Exception):
    """The environment could not be made; its text says why and what to do."""


def main(kind: str, folder: str, stamp: str) -> None:
    """The command."""
    began = time.monotonic()
    place = Path(folder).absolute()
    with open(__file__) as lock:
        wait_for_others(lock.fileno())
        half = make(place, kind)
        pip = Pip(place, lock.fileno())
        install(pip, kind, ("--force-reinstall",) if half else ())
        enter_checkout(pip)
        if os.environ.get("PYTHONDONTWRITEBYTECODE"):
            compile_all(place)
        (place / UNFINISHED).unlink()
        for each in {"run", kind}:
            (place / f".ready-{each}").write_text(f"{stamp}\n")
    say(f"Ready after {time.monotonic() - began:.0f} s.")


def say(text: str) -> None:
    """A line for the user, at once."""
    print(text, flush=True)


def wait_for_others(lock: int) -> None:
    """One set-up at a time. pip inherits the lock, so that one that outlives its parent is waited for."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("Another set-up of this checkout is at work; waiting for it.")
        fcntl.flock(lock, fcntl.LOCK_EX)


# ------------------------------------------------------------------------------- the environment


def make(place: Path, kind: str) -> bool:
    """An environment that runs, marked as unfinished. True if an earlier set-up left it half-way."""
    half, mark = (place / UNFINISHED).exists(), place / MADE
    if mark.exists() and (why := "is incomplete" if half or not runs(place) else moved(place)):
        say(f"The environment in {shown(place)} {why}; it is made again.")
        remove(place)
        half = False
    if not place.exists() or not any(place.iterdir()):
        check_space(place, kind)
        say(f"Making an environment in {shown(place)} with Python {sys.version.split()[0]}")
        place.mkdir(parents=True, exist_ok=True)
        mark.write_text(f"{place}\n", encoding="utf-8")
        (place / UNFINISHED).touch()
        venv.create(place, symlinks=True, with_pip=True)
    elif not runs(place):
        raise SetupError(
            f"{shown(place)} holds no environment with Python 3.11 to 3.13; something else made what is there.\n"
            f"Remove it (rm -rf {shown(place)}) or name another folder: make run VENV=…"
        )
    elif not runs(place, "import pip"):
        subprocess.run([place / "bin" / "python", "-I", "-m", "ensurepip"], check=True, stdout=subprocess.DEVNULL)
    (place / UNFINISHED).touch()
    for ready in place.glob(".ready-*"):
        ready.unlink()
    return half


def runs(place: Path, code: str = "import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))") -> bool:
    """True if an environment's Python fits, or does what else is asked of it."""
    try:
        return subprocess.run([place / "bin" / "python", "-I", "-c", code], stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def moved(place: Path) -> str:
    """Programs of an environment name its folder."""
    before = (place / MADE).read_text(encoding="utf-8").strip()
    return "" if before == str(place) else f"was made as {before or 'an empty folder'}"


def remove(place: Path) -> None:
    """The mark that it is ours goes last, so that a removal can be interrupted, too."""
    for each in sorted(place.iterdir(), key=lambda path: path.name == MADE):
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()


def check_space(place: Path, kind: str) -> None:
    """Say so before an hour's download does not fit."""
    parent = next(each for each in place.parents if each.exists())
    free = shutil.disk_usage(parent).free / 1e9
    if free < SPACE[kind]:
        raise SetupError(
            f"An environment takes {SPACE[kind]} GB, and only {free:.1f} GB are free in {parent}.\n"
            "Make room, or name a folder elsewhere: make run VENV=…"
        )


def compile_all(place: Path) -> None:
    """Byte code of all packages, where Python is asked not to keep what it compiles at the first import."""
    began = time.monotonic()
    command = [str(place / "bin" / "python"), "-I", "-m", "compileall", "-q", "-j", "0", "-x", "/tests/"]
    command.append(str(place / "lib"))
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # some packages hold templates
    say(f"  compiled to byte code in {time.monotonic() - began:.0f} s")


def shown(place: Path) -> str:
    """A path as short as it can be said."""
    return str(place.relative_to(ROOT) if place.is_relative_to(ROOT) else place)


# ------------------------------------------------------------------------------- packages


class Pip:
    """pip of an environment, whose work is reported in few lines."""

    def __init__(self, place: Path, lock: int) -> None:
        self._command = (str(place / "bin" / "python"), "-I", "-m", "pip", "--disable-pip-version-check", "--no-input")
        self._lock = lock

    def install(self, *arguments: str) -> str:
        """Install; empty, or all that pip said where it failed."""
        command = (*self._command, "install", "--no-compile", "--progress-bar", "off", *arguments)
        environment = {**os.environ, "PIP_USER": "0"}
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=-1, stderr=-2, stdin=-3, pass_fds=[self._lock]
        )
        told: list[str] = []
        try:
            for line in lines(process):
                report(line, told)
                told.append(line)
            return "\n".join(told) if process.wait() else ""
        finally:  # of an interruption
            process.kill()
            process.wait()


def lines(process: subprocess.Popen[bytes]) -> Iterator[str]:
    """What a process writes, by lines; a sign of life where it is silent."""
    assert process.stdout
    began, rest = time.monotonic(), b""
    while True:
        if not select.select([process.stdout], [], [], QUIET)[0]:
            say(f"  … at work for {time.monotonic() - began:.0f} s")
            continue
        piece = os.read(process.stdout.fileno(), 65536)
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line.decode(errors="replace") for line in whole)
        if not piece:
            yield rest.decode(errors="replace")
            return


def report(line: str, before: list[str]) -> None:
    """Say what concerns the user of a line of pip's."""
    if found := _DOWNLOADED.match(line):
        name, version, number, unit = found.groups()
        size = float(number) * {"k": 1e-3, "M": 1.0, "G": 1e3}[unit]
        if size >= LARGE:
            say(f"  {name} {version}, {size:.0f} MB")
    elif found := _UNPACKING.match(line):
        count = found[1].count(",") + 1
        if count > 1:
            say(f"  unpacking {count} packages")
    elif RETRY in line and not any(RETRY in each for each in before):
        say("  no answer from the package index, trying again")


def install(pip: Pip, kind: str, options: Sequence[str] = ()) -> None:
    """All packages but our own: as pinned, or where that does not fit within the bounds of `pyproject.toml`."""
    began = time.monotonic()
    files = [f"requirements/{name}" for name in PINNED[kind]]
    say(f"Downloading and installing what is pinned in {' and '.join(files)}")
    pinned = [word for file in files for word in ("--requirement", file)]
    wrong = pip.install("--no-deps", "--only-binary", ":all:", *options, *pinned)
    if wrong:
        give_up_where_it_is_vain(wrong)
        say(f"The pinned versions do not fit here: {cause(wrong)}")
        say("Resolving the bounds of pyproject.toml instead; that takes longer.")
        wrong = pip.install(*options, *bounds(kind))
    if wrong:
        give_up_where_it_is_vain(wrong)
        raise SetupError(f"pip could not install what the program needs: {cause(wrong)}\n{REMEDY}")
    say(f"  done in {time.monotonic() - began:.0f} s")


REMEDY = "Wheels of everything exist for Python 3.11 to 3.13 on Linux with x86-64: make run PYTHON=/path/to/python3.13"


def bounds(kind: str) -> list[str]:
    """Requirements with the bounds that `pyproject.toml` has."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    needed = [project["build-system"]["requires"], project["project"]["dependencies"]]
    return [each for part in (*needed, *(extras[name] for name in EXTRAS[kind])) for each in part]


def enter_checkout(pip: Pip) -> None:
    """The program itself, as it is in the checkout, and its command. Nothing is downloaded for that."""
    say("Entering Kinetostat into the environment")
    wrong = pip.install("--no-deps", "--no-build-isolation", "--no-index", "--editable", ".")
    if wrong:
        raise SetupError(f"Kinetostat could not be installed: {cause(wrong)}\n{wrong[-2000:]}")


def give_up_where_it_is_vain(wrong: str) -> None:
    """Where no index answers or nothing can be written, other versions do not help."""
    if "CERTIFICATE_VERIFY_FAILED" in wrong:
        raise SetupError(
            "The package index showed a certificate that is not trusted here (of a proxy, perhaps). Name the file of\n"
            "certificates to trust (pip config set global.cert /path/to/file.pem); then the same command goes on."
        )
    if UNREACHABLE.search(wrong) and "No matching distribution" in wrong and not re.search(r"from versions: \d", wrong):
        raise SetupError(
            "No package index could be reached, so nothing could be downloaded. Connect to the network, or name a\n"
            "mirror or a proxy (pip config set global.index-url …, or HTTPS_PROXY); then the same command goes on."
        )
    if found := re.search(r"No space left on device|Permission denied|Read-only file system", wrong):
        raise SetupError(f"The packages could not be written: {found[0].lower()}. Mend that; the same command goes on.")


def cause(wrong: str) -> str:
    """The line in which pip says what was wrong."""
    said = [line.strip() for line in wrong.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in said if line.startswith("ERROR:")]
    return (errors or said or ["pip ended without a word"])[-1]


def ended(code: int, text: str) -> NoReturn:
    """End with a message."""
    print(text, file=sys.stderr, flush=True)
    sys.exit(code)


def guarded(command: Callable[..., None], arguments: Sequence[str]) -> None:
    """Run the command; what goes wrong is a message."""
    try:
        command(*arguments)
    except SetupError as error:
        ended(1, str(error))
    except KeyboardInterrupt:
        ended(130, "Interrupted. The same command begins again.")
    except (OSError, subprocess.CalledProcessError) as error:
        ended(1, f"The environment could not be made: {error}. Mend that; the same command goes on.")


if __name__ == "__main__":
    guarded(main, sys.argv[1:])
