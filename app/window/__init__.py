"""The window: it puts all the rest together."""

from app.window.later_patterns import later_patterns

with later_patterns():
    import PySide6.QtCore  # noqa: F401
