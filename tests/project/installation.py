"""The program built and installed as one package, into an environment that does not see the checkout.

`python -m tests.project.installation [OPTIONS OF PYTEST]` runs the tests there, under the names that are installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path

from setup import HOME, ROOMS, installed

ROOT = Path(__file__).parents[2]
SOURCES = (*ROOMS, f"{HOME}.py", "setup.py", "pyproject.toml", "README.md", "LICENSE")
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
"""Of programs in an environment of their own."""

_IMPORTED = re.compile(rf"(?<!{HOME} )((?:\b|(?<=\\n))(?:from|import) )(?=(?:{'|'.join(ROOMS)})\b)")
_STARTED = re.compile(r'("-m",\s+")(?=app")')


def copied(folder: Path) -> Path:
    """What belongs to the distribution, in another folder."""
    folder.mkdir(parents=True)
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder)
    return folder


def built(kind: str, source: Path, folder: Path) -> Path:
    """The "wheel", "sdist" or "editable" wheel of a source folder."""
    code = f"from setuptools import build_meta; build_meta.build_{kind}({str(folder)!r})"
    _run(sys.executable, "-c", code, cwd=source)
    (made,) = folder.glob("*.tar.gz" if kind == "sdist" else "*.whl")
    return made


def unpacked(sdist: Path, folder: Path) -> Path:
    """The source folder in an sdist."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (source,) = folder.iterdir()
    return source


def environment(folder: Path, wheel: Path) -> Path:
    """The programs of a new environment with a wheel. A .pth file there puts the libraries of this environment on the
    path; .pth files among these, of which one leads to the checkout, are not read then."""
    venv.create(folder, symlinks=os.name != "nt")
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = (sys.executable, "-m", "pip", "--python", str(programs / "python"), "--disable-pip-version-check", "-q")
    _run(*pip, "install", "--no-index", "--no-deps", "--no-compile", str(wheel), cwd=folder)
    (packages,) = {path.parent for path in folder.rglob(HOME) if path.is_dir()}
    libraries = [each for each in sys.path if each.startswith(sysconfig.get_path("purelib"))]
    (packages / "libraries.pth").write_text("\n".join(libraries), encoding="utf-8")
    return programs


def tests_of_the_installed(folder: Path) -> None:
    """Tests, and what they use besides the program, written for its installed names."""
    for name in ("tests", "benchmarks", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "project"))
    for path in folder.rglob("*.py"):
        text = _IMPORTED.sub(rf"\1{HOME}.", installed(path.read_text(encoding="utf-8")))
        path.write_text(_STARTED.sub(rf"\1{HOME}.", text), encoding="utf-8")
    shutil.copy(ROOT / "pyproject.toml", folder)


def _run(*command: str, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def main(options: list[str]) -> int:
    """The command."""
    folder = ROOT / "build" / "installed"
    shutil.rmtree(folder, ignore_errors=True)
    programs = environment(folder / "environment", built("wheel", copied(folder / "source"), folder))
    work = folder / "work"
    tests_of_the_installed(work)
    (resources,) = (folder / "environment").rglob(f"{HOME}/resources")
    (work / "resources").symlink_to(resources)
    cache = {"KINETOSTAT_CACHE": os.environ.get("KINETOSTAT_CACHE", str(ROOT / "build" / "test-cache"))}
    return subprocess.call([programs / "python", "-m", "pytest", *options], cwd=work, env={**ENVIRONMENT, **cache})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
