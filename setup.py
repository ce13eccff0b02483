"""Builds what is installed: one package `kinetostat`, which holds `app`, `core`, `resources` and `viz` of the checkout.

So no `core.py` of a person can take the place of ours. `kinetostat.py` becomes the package itself, and names of modules
are written anew as files are copied: `from core.files import load` becomes `from kinetostat.core.files import load`.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).parent
HOME = "kinetostat"
MAIN = f"import sys\n\nfrom {HOME} import main\n\nif __name__ == '__main__':\n    sys.exit(main())\n"
"""The package's `__main__.py`: in a checkout `python -m kinetostat` runs `kinetostat.py` itself."""
ROOMS = ("app", "core", "resources", "viz")
_ROOM = f"(?:{'|'.join(ROOMS)})"
_DOTTED = re.compile(rf"{_ROOM}(?:\.\w+)+")
_BEGUN = re.compile(rf"{_ROOM}\.[\w.]*")
_MENTIONED = re.compile(rf"(?<![\w./-])(?={_ROOM}\.[a-zA-Z_])".encode())


def installed(text: str) -> str:
    """The text of a module as it is installed: with the new names in imports, in docstrings, and in strings that are
    nothing but the name of a module. Raises ValueError where a name stands in a form that could not be kept."""
    names = _Names(text)
    names.visit(ast.parse(text))
    pieces, end = [], 0
    for place in sorted(names.inserted):
        pieces += [names.source[end:place], names.inserted[place]]
        end = place
    return b"".join((*pieces, names.source[end:])).decode()


class _Names(ast.NodeVisitor):
    """Finds where in a module's bytes something is to be inserted."""

    def __init__(self, text: str) -> None:
        self.source = text.encode()
        self.inserted: dict[int, bytes] = {}
        self._lines = [0, *(match.end() for match in re.finditer(b"\n", self.source))]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """`from core.files import load`"""
        if node.level == 0 and _is_ours(node.module or ""):
            self._prefix(node, len("from "), node.module or "")

    def visit_Import(self, node: ast.Import) -> None:
        """`import core.files as files` and `import core`, but not `import core.files`, which binds `core`."""
        for alias in filter(lambda alias: _is_ours(alias.name), node.names):
            if alias.asname:
                self._prefix(alias, 0, alias.name)
            elif alias.name in ROOMS and len(node.names) == 1:
                self.inserted[self._place(node)] = f"from {HOME} ".encode()
            else:
                raise ValueError(f"Line {node.lineno}: write `from {alias.name} import …`, a line of its own.")

    def visit_Expr(self, node: ast.Expr) -> None:
        """A docstring mentions names anywhere."""
        if isinstance(node.value, ast.Constant):
            begin, end = self._place(node), self._at(node.end_lineno, node.end_col_offset)
            for match in _MENTIONED.finditer(self.source, begin, end):
                self.inserted[match.start()] = f"{HOME}.".encode()
        else:
            self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """A name put together when the program runs should begin with `__package__`."""
        for part in node.values:
            if not isinstance(part, ast.Constant):
                self.visit(part)
            elif _BEGUN.fullmatch(part.value):
                raise ValueError(f"Line {node.lineno}: begin {part.value!r} with __package__ or __name__ instead.")

    def visit_Constant(self, node: ast.Constant) -> None:
        """`"core.files"`"""
        if isinstance(node.value, str) and _DOTTED.fullmatch(node.value):
            self._prefix(node, 1, node.value)

    def _prefix(self, node: ast.stmt | ast.expr | ast.alias, offset: int, name: str) -> None:
        place = self._place(node) + offset
        if not self.source.startswith(name.encode(), place):
            raise ValueError(f"Line {node.lineno}: write {name} with one space, or in one string.")
        self.inserted[place] = f"{HOME}.".encode()

    def _place(self, node: ast.stmt | ast.expr | ast.alias) -> int:
        return self._at(node.lineno, node.col_offset)

    def _at(self, line: int | None, column: int | None) -> int:
        return self._lines[(line or 0) - 1] + (column or 0)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in ROOMS


def description(readme: str) -> str:
    """The README as it is read outside the repository: without pictures, and with the text of links into it alone."""
    without = re.sub(r"<!-- pictures.*?<!-- end of pictures -->\n+", "", readme, flags=re.DOTALL)
    return re.sub(r"\[([^]]+)\]\((?![a-z]+:)[^)\s]+\)", r"\1", without)


def make_code() -> None:
    """Make the integrators' code in the checkout, where it is not up to date."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = (sys.executable, "-B", "-m", "core.machine_code.making", "--ship")
    subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, check=True)


class BuildOnePackage(build_py):
    """Copies modules and data into one package. An editable installation finds them in the checkout as they are."""

    def run(self) -> None:
        """Nothing of an earlier build gets in; type checkers are told that the package has annotations. A checkout that
        is entered into an environment makes the integrators' code when it is first asked for."""
        if not self.editable_mode:
            make_code()
            shutil.rmtree(self.build_lib, ignore_errors=True)
            self.build_lib = str(Path(self.build_lib, HOME))
        super().run()
        if not self.editable_mode:
            Path(self.build_lib, "py.typed").touch()
            Path(self.build_lib, "__main__.py").write_text(MAIN, encoding="utf-8", newline="\n")

    def build_module(self, module: str, module_file: str, package: str) -> tuple[str, bool]:
        """Copy a module under its new names."""
        copied = super().build_module(module, module_file, package)
        text = installed(Path(module_file).read_text(encoding="utf-8"))
        Path(copied[0]).write_text(text, encoding="utf-8", newline="\n")
        return copied

    def get_module_outfile(self, build_dir: str, package: Sequence[str], module: str) -> str:
        """`kinetostat.py` is the package itself."""
        name = "__init__" if module == HOME and not self.editable_mode else module
        return super().get_module_outfile(build_dir, package, name)


class SourcesWithCode(sdist):
    """The integrators' code goes with the sources: who installs these needs no compiler for it."""

    def run(self) -> None:
        """Make it before files are counted."""
        make_code()
        super().run()


class OnePackage(Distribution):
    """Tells its one name to whoever asks what a distribution installs."""

    def iter_distribution_names(self) -> Iterator[str]:
        """Names of packages and modules, of which the first parts are noted."""
        yield HOME


if __name__ == "__main__":
    setup(
        distclass=OnePackage,
        cmdclass={"build_py": BuildOnePackage, "sdist": SourcesWithCode},
        long_description=description((ROOT / "README.md").read_text(encoding="utf-8")),
        long_description_content_type="text/markdown",
    )
