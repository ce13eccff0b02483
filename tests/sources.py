"""Syntax trees of the project's files, parsed once for all tests that read them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

READERS = frozenset(
    f"tests/{name}.py"
    for name in (
        "app/background/test_qt_types",
        "apart/test_no_other_starts",
        "project/test_architecture_page",
        "project/test_import_circles",
        "project/test_private_names",
        "project/test_sizes",
        "project/test_text_as_it_is",
        "project/test_words",
    )
)
"""The files of these tests. One process runs them, and forgets the trees after them."""


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))
