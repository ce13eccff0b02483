"""Catalogue of user-facing functions: each is declared once; panel, menus, command line, console and help are made from
the declaration."""

from typing import TYPE_CHECKING

from core import later

if TYPE_CHECKING:
    from core.functions.catalogue import FUNCTIONS, call, find
    from core.functions.context import Context
    from core.functions.function import Function

__all__ = ["FUNCTIONS", "Context", "Function", "call", "find"]

__getattr__ = later.names(
    __name__, {"catalogue": ("FUNCTIONS", "call", "find"), "context": ("Context",), "function": ("Function",)}
)
