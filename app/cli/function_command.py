"""Creates a sub-command for each function of the catalogue from its declaration."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from app.cli.machine import FILE, READING, build_context, pose_options, read, reading_options, split_settings
from app.cli.terminal import say
from core.functions.function import Function
from core.functions.options import (
    Choice,
    Flag,
    Integer,
    Number,
    Option,
    SymbolValues,
    Text,
    Vector,
)

if TYPE_CHECKING:
    from core.functions.results import Result

_METAVARS = {
    "Number": "NUMBER",
    "Integer": "N",
    "ElementName": "NAME",
    "FrameName": "FRAME",
    "FrameNames": "FRAMES",
    "Vector": "X,Y,Z",
    "Values": "NAME=VALUE",
    "SymbolValues": "NAME=VALUE",
    "Signals": "NAMES",
    "SignalValues": "NAME=VALUE",
    "Ranges": "NAME=START:STOP[:N]",
    "InputFile": "FILE",
    "OutputFile": "FILE",
    "OutputFolder": "FOLDER",
    "Text": "TEXT",
}


BEHIND = "behind"
"""Key of the positional argument after the machine's file."""


def build_command(function: Function) -> click.Command:
    """Return the command `kinetostat <function> FILE --option …` for a function."""

    def run(
        model_file: str, as_json: bool, output: str | None, sets: Sequence[str], pose: Sequence[str], **given: Any
    ) -> int:
        reading = {name: given.pop(name) for name in READING}
        behind = given.pop(BEHIND, None)
        if behind and given.get(function.argument) is None:
            given[function.argument] = behind
        joined = {option.id: option.joined for option in function.options if isinstance(option, Text) and option.joined}
        several = {name: joined.get(name, "") for name, value in given.items() if isinstance(value, tuple)}
        options = {
            name: value if name not in several else several[name].join(value) if several[name] else list(value)
            for name, value in given.items()
            if value is not None and value != ()
        }
        model = read(model_file, **reading).model
        symbols = next((option.id for option in function.options if isinstance(option, SymbolValues)), "")
        if symbols:
            sets, more = split_settings(model, sets)
            options[symbols] = [*options.get(symbols, ()), *more]
        machine = build_context(model, sets, pose)
        return show_result(_call_function(function, machine, options), machine, as_json, output)

    decorated: Any = pose_options(reading_options(run))
    decorated = click.option("--json", "as_json", is_flag=True, help="The result as JSON, SI units.")(decorated)
    decorated = click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False),
        help="Write the result: .txt, .json, .csv, .tex, .py, formulas as .c or .wl, a picture as .png.",
    )(decorated)
    for option in reversed(function.options):
        decorated = _click_option(option)(decorated)
    if function.argument:
        decorated = click.argument(BEHIND, metavar=f"[{function.argument.upper()}]", required=False)(decorated)
    decorated = FILE(decorated)
    return click.command(function.command, help=function.help, short_help=function.summary)(decorated)


def _click_option(option: Option) -> Any:
    """Return the click option for an option of a function; its value is checked later by the catalogue."""
    name = f"--{option.id.replace('_', '-')}"
    text = _option_help(option)
    if isinstance(option, Flag):
        return click.option(f"{name}/--no-{option.id.replace('_', '-')}", option.id, default=None, help=text)
    if isinstance(option, Choice):
        return click.option(name, option.id, type=click.Choice(option.choices), default=None, help=text)
    metavar = ",".join(option.labels).upper() if isinstance(option, Vector) else _METAVARS[type(option).__name__]
    return click.option(name, option.id, multiple=option.is_repeatable, default=None, metavar=metavar, help=text)


def _option_help(option: Option) -> str:
    from core.model.units import SI

    text = f"{option.help or option.title}."
    if isinstance(option, Number | Vector) and SI[option.dimension]:
        text += f" In {SI[option.dimension]}, or with a unit."
    if option.is_repeatable:
        text += " Repeat for more."
    if isinstance(option, Flag):
        return f"{text} Default: {'yes' if option.default else 'no'}."
    if option.default not in (None, "", ()):
        shown = ", ".join(map(str, option.default)) if isinstance(option.default, tuple) else option.default
        text += f" Default: {shown}."
    if isinstance(option, Integer):
        text += f" {option.minimum} … {option.maximum}."
    return text


def _call_function(function: Function, machine: Any, options: dict[str, Any]) -> Result:
    from core.errors import ModelError
    from core.functions import call
    from core.functions.catalogue import validate_options

    try:
        if not function.unavailability_reason(machine):
            validate_options(function, machine, options)
    except ModelError as error:
        raise click.UsageError(str(error)) from None
    return call(function.id, machine, **options)


def show_result(result: Result, machine: Any, as_json: bool, output: str | None) -> int:
    """Print a result, or write it to a file, together with the files it asks for; returns the exit code. Errors in a
    result (such as a point that was not reached) go to the error stream, the rest to the standard output."""
    from app.panels.output.result_pictures import write_pictures
    from core.functions.results import to_json

    wrong = _error_parts(result)
    write_pictures(result, machine)
    if output:
        _write_result(output, result, machine)
    elif as_json:
        say(json.dumps(to_json(result), indent=2, ensure_ascii=False))
    elif (rest := _without_parts(result, wrong)) is not None:
        say(rest.to_text(degrees=True))
    for each in wrong:
        say(f"Error: {each.to_text()}", err=True)
    return 1 if wrong else 0


def _error_parts(result: Result) -> list[Result]:
    """Return the parts of a result that report errors."""
    from core.functions.results import Message, leaf_results

    return [part for part in leaf_results(result) if isinstance(part, Message) and part.severity == "error"]


def _without_parts(result: Result, parts: list[Result]) -> Result | None:
    """Return a result without the given parts; None if nothing is left."""
    from dataclasses import replace

    from core.functions.results import Report

    if result in parts or not isinstance(result, Report):
        return None if result in parts else result
    left = tuple(rest for part in result.parts if (rest := _without_parts(part, parts)) is not None)
    return replace(result, parts=left) if left else None


def _write_result(path: str, result: Result, machine: Any) -> None:
    from pathlib import Path

    from core.files.source import write_atomically
    from core.functions.results import leaf_results, tables_in_result, to_json
    from core.symbolic.export import format_c_source, format_mathematica

    suffix = Path(path).suffix.lower()
    if suffix == ".png":
        from app.panels.output.result_pictures import write_result_picture

        write_result_picture(result, machine, path)
    elif suffix == ".csv":
        texts = [table.to_csv() for table in tables_in_result(result)]
        if not texts:
            raise click.UsageError("-o: this result holds no table; use .txt or .json.")
        write_atomically(path, "\n".join(texts).encode())
    elif suffix in (".c", ".wl"):
        formulas = [found for part in leaf_results(result) if (found := part.to_formulas()) is not None]
        if not formulas:
            raise click.UsageError("-o: this result holds no formulas; use .txt, .json or .py.")
        write = format_c_source if suffix == ".c" else format_mathematica
        write_atomically(path, ("\n".join(write(part.entries, part.label) for part in formulas) + "\n").encode())
    else:
        text = {
            ".json": lambda: json.dumps(to_json(result), indent=2, ensure_ascii=False),
            ".tex": lambda: result.to_latex(),
            ".py": lambda: result.to_python(),
            ".txt": lambda: result.to_text(degrees=True),
        }.get(suffix)
        if text is None:
            raise click.UsageError(f"-o: '{path}' should end in .txt, .json, .csv, .tex, .py, .c, .wl or .png.")
        write_atomically(path, (text() + "\n").encode())
    say(f"Wrote {path}")
