"""The commands that start the program: `kinetostat`, `python -m kinetostat`; and what keeps it from starting."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import kinetostat
import setup

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMMAND = "import sys; from kinetostat import main; sys.argv[0] = 'kinetostat'; sys.exit(main())"
"""The script that pip writes for the command."""


def outcome(*words, folder, path=()):
    """Exit code, output and error output of a new process, in which the checkout is found after `path`."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (*path, ROOT)))}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--version",), 0, f"Kinetostat {kinetostat.__version__}"),
        (("check", "missing.kst"), 1, "missing.kst: There is no such file"),
        (("chek", "missing.kst"), 2, "Did you mean check"),
    ],
)
def test_the_module_does_what_the_command_does(words, code, said, tmp_path):
    command = outcome("-c", COMMAND, *words, folder=tmp_path)
    assert outcome("-m", "kinetostat", *words, folder=tmp_path) == command
    assert command[0] == code
    assert said in "".join(command[1:])


@pytest.mark.parametrize("start", [("-m", "kinetostat"), ("-c", COMMAND)], ids=["module", "command"])
def test_a_file_that_hides_a_package_is_one_sentence(start, tmp_path):
    (tmp_path / "core.py").write_text("raise SystemExit('loaded')")
    code, output, errors = outcome(*start, "--version", folder=tmp_path, path=[tmp_path])
    assert (code, output) == (1, "")
    assert re.fullmatch(r"Error: Kinetostat's own 'core' is hidden by .*core\.py\. Rename that, or .*\n", errors)


@pytest.mark.parametrize(
    ("version", "wanted"),
    [
        ((3, 10, 13), "needs Python 3.11 or newer"),
        ((3, 6, 15), "needs Python 3.11 or newer"),
        ((3, 14, 1), "needs Python 3.13 or older, because CasADi has no safe version for newer ones"),
    ],
)
def test_a_python_that_does_not_fit_is_one_sentence(version, wanted, monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", version)
    kinetostat._require_suitable_python.cache_clear()
    assert kinetostat.main() == 1
    number = ".".join(map(str, version))
    assert f"{wanted}; {sys.executable} is Python {number}. Install" in capsys.readouterr().err
    with pytest.raises(ImportError, match=re.escape(wanted)):
        kinetostat.__getattr__("load")


def test_an_old_python_can_read_the_module():
    """Of what came after 3.6 the parser refuses assignments in expressions and the like; annotations of a function are
    values there, so none may be of a kind that came later."""
    tree = ast.parse((ROOT / "kinetostat.py").read_text(encoding="utf-8"), feature_version=(3, 6))
    oldest, newest = kinetostat._OLDEST, kinetostat._NEWEST
    assert PROJECT["requires-python"] == f">={oldest[0]}.{oldest[1]},<{newest[0]}.{newest[1] + 1}"
    futures = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    evaluated = [
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for each in (function.returns, *(argument.annotation for argument in function.args.args))
        for node in ast.walk(each or ast.Constant(None))
        if isinstance(node, ast.Subscript | ast.BinOp)
    ]
    assert not futures + evaluated


def test_a_32_bit_python_is_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr(sys, "maxsize", 2**31 - 1)
    kinetostat._require_suitable_python.cache_clear()
    assert kinetostat.window() == 1
    assert "needs a 64-bit Python" in capsys.readouterr().err


HALF_MADE = """
import sys
class Missing:
    def find_spec(self, name, *_):
        if name == {library!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
"""


@pytest.mark.parametrize(
    ("library", "words", "named"),
    [
        ("click", ("--version",), "click"),
        ("yaml", ("info", "pendulum"), "PyYAML"),
        ("core.mechanism.mechanism", ("info", "pendulum"), "core.mechanism.mechanism"),
    ],
)
def test_a_half_made_environment_is_one_sentence(library, words, named, tmp_path):
    code, output, errors = outcome("-c", HALF_MADE.format(library=library) + COMMAND, *words, folder=tmp_path)
    assert (code, output) == (1, "")
    assert named in errors
    assert f"{sys.executable} -m pip install " in errors
    assert len(errors.splitlines()) == 1


def test_libraries_have_the_names_by_which_they_are_installed():
    required = {re.match(r"[\w-]+", each).group() for each in PROJECT["dependencies"]}
    assert set(kinetostat._DISTRIBUTIONS.values()) <= required
    assert kinetostat._ROOMS == setup.ROOMS


def test_a_library_that_does_not_load_is_to_be_installed_again():
    error = ImportError("undefined symbol: PyNothing", name="h5py.defs")
    assert kinetostat.import_error_message(error) == (
        f"The library h5py cannot be loaded: undefined symbol: PyNothing. Install it again: {sys.executable} -m pip "
        "install --force-reinstall h5py"
    )
