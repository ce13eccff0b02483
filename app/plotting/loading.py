"""Preloads the charting library step by step in the window's thread.

A thread must not load it: pyqtgraph makes hundreds of Qt types. On Python 3.11 Shiboken keeps types in one table
without a lock, in which Qt looks types up while the window's thread has released the interpreter: the window crashes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module

MODULES = ("QtCore", "QtGui", "QtWidgets", "QtOpenGL", "QtSvg", "QtTest")
"""PySide modules whose types pyqtgraph uses; they account for half of the loading time."""


def load_chart_modules() -> Iterator[None]:
    """Load the charting modules in short steps, one per iteration; the last steps, which load pyqtgraph itself and the
    charts, take longer."""
    if "pyqtgraph" not in sys.modules:
        for name in MODULES:
            module = import_module(f"PySide6.{name}")
            for each in dir(module):
                getattr(module, each, None)  # PySide makes a type when it is first asked for
                yield
        import_module("pyqtgraph")
        yield
    import_module("app.plotting.chart")
