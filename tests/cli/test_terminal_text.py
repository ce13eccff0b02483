"""Text of a file commands no terminal: what the command line prints has no control characters but new lines."""

import json
import unicodedata

import pytest

from app.cli.main import cli
from core.errors import escape_control_characters

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp.exe\u2066\x7f"
FILE = r"""
kinetostat: 1
name: "A \e]0;owned\a\e[2J\x9b31m\u202egnp.exe\u2066\x7f"
description: "D \e]0;owned\a\e[2J\x9b31m\u202egnp.exe\u2066\x7f"
bodies:
  a: {mass: 1, description: "\e[2J"}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / f"a{HOSTILE.replace('/', '')}.kst"
    path.write_text(FILE, encoding="utf-8")
    return str(path)


def unseen(text):
    """Control and format characters in a text, but new lines."""
    return {letter for letter in text if unicodedata.category(letter) in ("Cc", "Cf") and letter != "\n"}


@pytest.mark.parametrize(
    "words", [("info",), ("check",), ("info", "--json"), ("check", "--json"), ("convert", "{file}.urdf")]
)
def test_no_command_prints_what_a_terminal_obeys(file, words, capsys):
    cli([words[0], file, *(word.replace("{file}", file) for word in words[1:])])
    told = capsys.readouterr()
    assert "owned" in told.out + told.err
    assert not unseen(told.out + told.err)


def test_a_file_that_is_not_there_is_named_without_commands(capsys):
    assert cli(["info", f"/nowhere/{HOSTILE}.kst"]) != 0
    assert not unseen(capsys.readouterr().err)


def test_json_means_the_same(file, capsys):
    cli(["info", file, "--json"])
    assert json.loads(capsys.readouterr().out)["name"] == f"A {HOSTILE}"


@pytest.mark.parametrize("text", ["plain", "q̇₁ = 3·10⁻⁵ °", "مرحبا", "两连杆", "a\tb\nc", "👩‍🔧"])
def test_ordinary_letters_of_all_languages_stay(text):
    assert escape_control_characters(text) == text
