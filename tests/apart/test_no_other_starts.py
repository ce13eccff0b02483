"""One module starts the processes of the program: what it sees to is seen to for all."""

import ast

from core.apart.starting import ROOT
from tests.sources import parsed

ALLOWED = {
    "core/apart/starting.py": "it is the one",
    "core/apart/work_process.py": "a time that is over",
    "app/cli/windows_association.py": "words of a command, as Windows reads them",
}


def test_no_other_module_starts_processes():
    found = []
    for room in ("app", "core", "viz", "resources"):
        for path in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(parsed(path)):
                names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom):
                    names = [f"{node.module}.{each.name}" for each in node.names]
                if isinstance(node, ast.Attribute):
                    names = [f"os.{node.attr}"] if ast.unparse(node.value) == "os" else []
                found += [(path.relative_to(ROOT).as_posix(), name) for name in names if starts(name)]
    assert [(path, name) for path, name in found if path not in ALLOWED] == []


def starts(name):
    words = name.split(".")
    return (
        words[0] in ("subprocess", "multiprocessing", "pty")
        or name.endswith(".ProcessPoolExecutor")
        or (words[0] == "os" and words[-1].startswith(("fork", "spawn", "exec", "popen", "system", "posix_spawn")))
    ) and words[-1] != "get_exec_path"
