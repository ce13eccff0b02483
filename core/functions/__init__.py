"""Catalogue of user-facing functions. Each function is declared once; the panel, the menus, the command line, the
console and the help are generated from this declaration."""

from typing import TYPE_CHECKING

from core import later

if TYPE_CHECKING:
    from core.functions.catalogue import FUNCTIONS, call, find
    from core.functions.context import Context
    from core.functions.function import Function

__all__ = ["FUNCTIONS", "Context", "Function", "call", "find"]

__getattr__ = later.lazy_attributes(
    __name__, {"catalogue": ("FUNCTIONS", "call", "find"), "context": ("Context",), "function": ("Function",)}
)
