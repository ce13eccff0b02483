"""The main window, which connects all other parts."""

from core.later import patterns

with patterns("shibokensupport."):  # of signatures and stubs
    import PySide6.QtCore  # noqa: F401
