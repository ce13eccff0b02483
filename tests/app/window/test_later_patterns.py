"""PySide without what it compiles for others: it loads less, and does the same."""

import re
import subprocess
import sys

import pytest

from core.later import LazyPattern, lazy_patterns

LOADED = """
import re, sys
from re import _compiler
made, compiled = [], _compiler.compile
_compiler.compile = lambda pattern, flags=0: (made.append(str(pattern)), compiled(pattern, flags))[1]
import app.window
from PySide6.QtCore import QPoint
print(max(map(len, made)) < 2000, isinstance(re.compile("a"), re.Pattern))
try:
    QPoint("a", "b", "c")
except TypeError as error:
    print(error)
from PySide6.support.signature.lib.pyi_generator import Formatter
print(Formatter.split("a(b,c)d"))
"""


def test_pyside_is_loaded_without_the_patterns_of_its_stubs_and_finds_them_when_asked():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    first, *others = done.stdout.splitlines()
    assert first == "True True"  # those that are left out have 6,000 letters
    assert "QPoint" in others[0]
    assert others[-1].startswith("['")
    assert not done.stderr


def test_only_patterns_of_pyside_are_later_ones():
    inside = {"__name__": "shibokensupport.anything", "re": re}
    with lazy_patterns("shibokensupport."):
        exec("made = re.compile('b+', re.I)", inside)
        outside = re.compile("b+")
    assert isinstance(inside["made"], LazyPattern)
    assert isinstance(outside, re.Pattern)
    assert isinstance(re.compile("c"), re.Pattern)
    assert inside["made"].sub("x", "aBbc") == "axc"
    assert (inside["made"].pattern, inside["made"].flags & re.I) == ("b+", re.I)
    with pytest.raises(AttributeError):
        _ = inside["made"].__isabstractmethod__
