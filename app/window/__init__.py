"""The window: it puts all the rest together."""

from core.later import patterns

with patterns("shibokensupport."):  # of signatures and stubs
    import PySide6.QtCore  # noqa: F401
