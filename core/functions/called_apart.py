"""Run catalogue functions in a worker process, for those whose computation blocks all other threads for long."""

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
"""Fields of the context, besides the machine and its parameters, that are sent to the worker process."""


def called(process: WorkProcess, id: str, context: Context, **options: Any) -> Result:
    """Call a function as `core.functions.call` does, in the worker process if its declaration asks for one. Raises the
    same errors, and SimulationError if the process cannot be started or ends unexpectedly."""
    if not catalogue.find(id).apart:
        return catalogue.call(id, context, **options)
    stands = {name: getattr(context, name) for name in STANDS} | {"p": dict(context.p)}

    def hear(what: Progress | Result) -> None:
        if isinstance(what, Progress):
            context.progress(*what)
        else:
            context.show(what)

    try:
        work = partial(_call_in_process, id=id, stands=stands, options=options)
        found: Result = work_apart(process, context.mech, work, cancelled=context.cancelled, hear=hear)
    except Stopped:
        raise Cancelled from None
    return dataclasses.replace(found, asked=Asked(options, context.without_callbacks()))


def _call_in_process(
    mech: Mechanism, line: Line, id: str, stands: Mapping[str, Any], options: Mapping[str, Any]
) -> Result:
    context = Context(
        mech.model,
        mech,
        **stands,
        progress=lambda fraction, text="": line.tell(Progress(fraction, text)),
        cancelled=line.asked,
        show=lambda made: line.tell(_without_context(made)),
    )
    return _without_context(catalogue.call(id, context, **options))


def _without_context(result: Result) -> Result:
    """Return the result without its context, which the caller already has."""
    return dataclasses.replace(result, asked=None)
