"""Text of files reaches no place that reads more than letters in it: the window's helpers are used everywhere."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.sources import parsed

ROOT = Path(__file__).parents[2]
TIPS = {"escape_tip", "format_tip", "toolTip"}
"""Calls whose result is a tip already."""
OWN_WORDS = {
    "dialogs/about.py",
    "dialogs/help.py",
    "dialogs/keyboard.py",
    "dialogs/licences.py",
    "panels/derivation/page.py",
    "panels/simulation/run_list.py",
    "widgets/label.py",
}
"""Files of `app` in which the program's own words have markup."""


@cache
def nodes(room: str) -> tuple[list[tuple[str, str, ast.Call]], list[tuple[str, ast.ClassDef]]]:
    """(place, name called, call) of every call in a room; (file, class) of every class."""
    calls_, classes = [], []
    for path in sorted((ROOT / room).rglob("*.py")):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Call):
                calls_.append((f"{path.relative_to(ROOT)}:{node.lineno}", called(node), node))
            elif isinstance(node, ast.ClassDef):
                classes.append((path.name, node))
    return calls_, classes


def calls(room: str) -> list[tuple[str, str, ast.Call]]:
    return nodes(room)[0]


def called(node: ast.AST) -> str:
    """The last word of the name of what is called; '' for anything but a call."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def is_written_here(node: ast.expr) -> bool:
    """Whether a text stands in the program, letter by letter."""
    if isinstance(node, ast.IfExp):
        return is_written_here(node.body) and is_written_here(node.orelse)
    if isinstance(node, ast.BinOp):
        return is_written_here(node.left) and is_written_here(node.right)
    return isinstance(node, ast.Constant)


def tips(name: str, call: ast.Call) -> Iterator[ast.expr]:
    """What a call gives away as a tool tip."""
    if name == "setToolTip":
        yield call.args[-1]
    elif name in ("showText", "setItemData", "setData") and (name == "showText" or "ToolTipRole" in ast.unparse(call)):
        yield call.args[1]
    yield from (keyword.value for keyword in call.keywords if keyword.arg == "toolTip")


def test_tool_tips_are_made_by_escape_tip():
    wrong = [
        place
        for place, name, call in calls("app")
        for tip in tips(name, call)
        if not is_written_here(tip) and called(tip) not in TIPS
    ]
    assert not wrong


def test_labels_are_ours():
    assert not [place for place, name, _ in calls("app") if name == "QLabel"]
    labels = {file for file, kind in nodes("app")[1] if "QLabel" in map(ast.unparse, kind.bases)}
    assert labels == {"label.py"}


@pytest.mark.parametrize(
    "name",
    [
        "MarkupLabel",
        "QTextBrowser",
        "QTextEdit",
        "QTextDocument",
        "setHtml",
        "setMarkdown",
        "insertHtml",
        "appendHtml",
        "setRichText",
    ],
)
def test_markup_is_in_the_programs_own_words_only(name):
    places = {place.partition(":")[0].removeprefix("app/") for place, called_, _ in calls("app") if called_ == name}
    assert places <= OWN_WORDS


def test_titles_of_windows_are_made_by_escape_title():
    wrong = [
        place
        for place, name, call in calls("app")
        if name == "setWindowTitle" and not is_written_here(call.args[0]) and "escape_title(" not in ast.unparse(call)
    ]
    assert not wrong


def test_letters_of_the_scene_are_no_formulas():
    inputs = [(place, call) for place, name, call in calls("viz") if name == "SetInput"]
    assert inputs
    assert all("escape_label(" in ast.unparse(call) or ast.unparse(call.args[0]) == "words" for _, call in inputs)


def test_the_command_line_speaks_by_say():
    spoken = {place.partition(":")[0] for place, name, _ in calls("app/cli") if name in ("echo", "secho", "print")}
    assert spoken == {"app/cli/terminal.py"}
