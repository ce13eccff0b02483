"""All user-facing functions, with the single entry point for calling them.

Adding a function: write it in a module of its subject with its declaration at the end; it appears in the panel,
menus, palette, command line, console and help.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from core.apart.talk import Progress, TaskConnection
from core.apart.work_process import WorkProcess
from core.errors import ModelError, find_likely_names, suggest_names
from core.functions.context import Cancelled, Context, FunctionCall
from core.functions.function import Function
from core.functions.results import Result
from core.functions.subjects import (
    c_code,
    control,
    controllers,
    derivation,
    description,
    design,
    dynamics,
    ellipsoids,
    identification,
    kinematics,
    loop_symbols,
    loops,
    mobility,
    motions,
    operating_points,
    response,
    run_derivatives,
    sequences,
    singularities,
    statics,
    studies,
    symbols,
    workspaces,
)
from core.model import Model

if TYPE_CHECKING:
    from core.mechanism import Mechanism

GROUPS = ("Robot description", "Kinematics", "Mechanisms", "Control", "Ellipsoids", "Dynamics", "Symbols", "Pictures")
"""Groups of functions, in the order in which the panel shows them."""

_ALL = (
    *description.FUNCTIONS,
    *kinematics.FUNCTIONS,
    *singularities.FUNCTIONS,
    *workspaces.FUNCTIONS,
    *loops.FUNCTIONS,
    *design.FUNCTIONS,
    *mobility.FUNCTIONS,
    *statics.FUNCTIONS,
    *control.FUNCTIONS,
    *controllers.FUNCTIONS,
    *operating_points.FUNCTIONS,
    *motions.FUNCTIONS,
    *run_derivatives.FUNCTIONS,
    *studies.FUNCTIONS,
    *c_code.FUNCTIONS,
    *ellipsoids.FUNCTIONS,
    *dynamics.FUNCTIONS,
    *response.FUNCTIONS,
    *identification.FUNCTIONS,
    *symbols.FUNCTIONS,
    *loop_symbols.FUNCTIONS,
    *derivation.FUNCTIONS,
    *sequences.FUNCTIONS,
)
FUNCTIONS: dict[str, Function] = {function.id: function for function in _ALL}
"""Functions by id, in the order of their groups."""

SENT_FIELDS = ("q", "ranges", "millimetres", "t", "moment")
"""Fields of the context that are sent to the worker process in addition to the machine and its parameters."""


def find(id: str) -> Function:
    """Return the function with this id or command-line name. Raises ModelError that suggests similar names."""
    wanted = str(id).replace("-", "_")
    function = FUNCTIONS.get(wanted)
    if function is None:
        raise ModelError(f"There is no function '{id}'.", remedy=suggest_names(wanted, FUNCTIONS))
    return function


def call(id: str, context: Context | Model, **options: Any) -> Result:
    """Call a function with a context; a model stands for its home configuration. Omitted options take their defaults.

    Raises ModelError for an unknown option, a value out of range, or a machine the function is not for.
    """
    if not isinstance(id, str):
        raise ModelError(
            "The first argument must be the name of a function, the second the machine.",
            remedy='Write, for example, call("mobility", model).',
        )
    function = find(id)
    context = Context.of(context) if isinstance(context, Model) else context
    if not isinstance(context, Context):
        raise ModelError(
            f"The second argument must be a model or a context, not {type(context).__name__}.",
            remedy="Give the model, or Context.of(model).",
        )
    options = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in options.items()}
    values = validate_options(function, context, options)
    result = function.run(context, **values)
    asked = FunctionCall(options, context.without_callbacks())
    return dataclasses.replace(result, call=script_line(function, options), function=function.id, asked=asked)


def validate_options(function: Function, context: Context, options: dict[str, Any]) -> dict[str, Any]:
    """Check and convert the options of a function; return the value of every option, defaults included. Raises
    ModelError."""
    reason = function.unavailability_reason(context)
    if reason:
        raise ModelError(reason, where=function.title)
    known = {option.id for option in function.options}
    for unknown in options.keys() - known:
        every = ", ".join(option.id for option in function.options) or "none"
        close = find_likely_names(unknown, sorted(known))
        meant = f"Did you mean {close[0]}? " if close else ""
        raise ModelError(f"{function.title} has no option '{unknown}'.", remedy=f"{meant}Its options: {every}.")
    return {option.id: option.coerce(options.get(option.id, option.default), context) for option in function.options}


def script_line(function: Function, options: dict[str, Any]) -> str:
    """Write the call as one line of a script, with the options that differ from their defaults."""
    given = [
        f"{option.id}={_python_literal(options[option.id])}"
        for option in function.options
        if option.id in options and not _equals_default(options[option.id], option.default)
    ]
    return f"{function.id}({', '.join(given)})"


def _equals_default(value: Any, default: Any) -> bool:
    """Return True if a value is equivalent to the default; empty strings, tuples and mappings are all equivalent."""
    nothing: tuple[Any, ...] = ("", (), [], {}, None)
    return bool(value == default) or (value in nothing and default in nothing)


def _python_literal(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{name}": {_python_literal(item)}' for name, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        inner = ", ".join(_python_literal(item) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(value)


def call_in_worker(process: WorkProcess, id: str, context: Context, **options: Any) -> Result:
    """Call a function as `core.functions.call` does, but in the worker process if its declaration asks for one. Raises
    the same errors, and SimulationError if the process cannot be started or ends unexpectedly."""
    from core.mechanism.work_apart import WorkStoppedError, run_in_worker

    if not find(id).apart:
        return call(id, context, **options)
    fields = {name: getattr(context, name) for name in SENT_FIELDS} | {"p": dict(context.p)}

    def handle_message(message: Progress | Result) -> None:
        if isinstance(message, Progress):
            context.progress(*message)
        else:
            context.show(message)

    try:
        work = partial(_call_in_process, id=id, fields=fields, options=options)
        found: Result = run_in_worker(process, context.mech, work, cancelled=context.cancelled, hear=handle_message)
    except WorkStoppedError:
        raise Cancelled from None
    return dataclasses.replace(found, asked=FunctionCall(options, context.without_callbacks()))


def _call_in_process(
    mech: Mechanism, line: TaskConnection, id: str, fields: Mapping[str, Any], options: Mapping[str, Any]
) -> Result:
    context = Context(
        mech.model,
        mech,
        **fields,
        progress=lambda fraction, text="": line.report(Progress(fraction, text)),
        cancelled=line.should_stop,
        show=lambda made: line.report(_drop_context(made)),
    )
    return _drop_context(call(id, context, **options))


def _drop_context(result: Result) -> Result:
    """Return the result without its context, which the caller already has."""
    return dataclasses.replace(result, asked=None)
