"""Catalogue functions in a process of their own: for those whose work lets no other thread run for long."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from core.apart.talk import Line, Progress
from core.apart.work_process import WorkProcess
from core.functions import catalogue
from core.functions.context import Asked, Cancelled, Context
from core.mechanism.work_apart import Stopped, work_apart

if TYPE_CHECKING:
    from core.functions.results import Result
    from core.mechanism import Mechanism

STANDS = ("q", "ranges", "millimetres", "t", "moment")
"""What a function knows of the machine beside it."""


def called(process: WorkProcess, id: str, context: Context, **options: Any) -> Result:
    """As `core.functions.call` with the same numbers, in a process if the function is one for it. Raises as that does,
    and SimulationError where the process ends unexpectedly or none can begin."""
    if not catalogue.find(id).apart:
        return catalogue.call(id, context, **options)
    stands = {name: getattr(context, name) for name in STANDS} | {"p": dict(context.p)}

    def hear(what: Progress | Result) -> None:
        if isinstance(what, Progress):
            context.progress(*what)
        else:
            context.show(what)

    try:
        work = partial(_call, id=id, stands=stands, options=options)
        found: Result = work_apart(process, context.mech, work, cancelled=context.cancelled, hear=hear)
    except Stopped:
        raise Cancelled from None
    return dataclasses.replace(found, asked=Asked(options, context.unwatched()))


def _call(mech: Mechanism, line: Line, id: str, stands: Mapping[str, Any], options: Mapping[str, Any]) -> Result:
    context = Context(
        mech.model,
        mech,
        **stands,
        progress=lambda fraction, text="": line.tell(Progress(fraction, text)),
        cancelled=line.asked,
        show=lambda made: line.tell(_bare(made)),
    )
    return _bare(catalogue.call(id, context, **options))


def _bare(result: Result) -> Result:
    """Without the machine that was asked, which whoever asks has."""
    return dataclasses.replace(result, asked=None)
