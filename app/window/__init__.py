"""The main window, which creates and connects all other parts of the program."""

from core.later import lazy_patterns

with lazy_patterns("shibokensupport."):  # of signatures and stubs
    import PySide6.QtCore  # noqa: F401
