"""Strategy of executing the steps of a recursion.

Every recursion is a sequence of *steps*: calls `run(step, *arguments)` of plain functions of structures of scalars.
`inline` executes them where they stand, so that constants fold and the trace is specialised for the machine.
`core.codegen.blocks` instead translates each distinct step once and strings the calls into a table, so that the
translation of a thousand links costs no more than that of ten. The text of the mechanics is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")


class Runner(Protocol):
    """Executes one step of a recursion."""

    def __call__(self, step: Callable[..., Any], *arguments: Any) -> Any: ...


def inline(step: Callable[..., Result], *arguments: Any) -> Result:
    """Execute the step by calling it directly."""
    return step(*arguments)
