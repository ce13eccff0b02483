"""Options shared by all commands that work on a machine: options for reading files, parameter values and pose; numbers
with a unit ("500 ms", "30 deg/s", "62 N/mm"), or in SI without one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from app.cli.terminal import say
from core.errors import KinetostatError, suggest_names

if TYPE_CHECKING:
    from core.functions import Context
    from core.model import Model


def parse_quantity(text: str, dimension: str, values: Mapping[str, float] | None = None, where: str = "") -> float:
    """Return the value in SI of a number with a unit, or of a formula that may use `values`. Raises
    click.UsageError."""
    from app.widgets.quantities.quantity_text import Measure, SIUnits, read
    from core.model.formula.expression import evaluate, parse
    from core.model.validation.formulas import find_wrong_dimension

    try:
        number = read(text, Measure(dimension), SIUnits(), values or {}, fold=True)
        if isinstance(number, str) and (said := find_wrong_dimension(number, dimension)) is not None:
            raise KinetostatError(said[0], remedy=said[1])
        return float(evaluate(parse(number), values or {})) if isinstance(number, str) else float(number)
    except KinetostatError as error:
        raise click.UsageError(" ".join(filter(None, (where and f"{where}:", error.what, error.remedy)))) from None


class QuantityType(click.ParamType):
    """Click type of a number with a physical dimension, positive or not less than `least`."""

    name = "NUMBER"

    def __init__(self, dimension: str, positive: bool = True) -> None:
        self.dimension, self.positive = dimension, positive
        self.name = {"time": "TIME"}.get(dimension, "NUMBER")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number in SI."""
        if not isinstance(value, str):
            return float(value)
        try:
            number = parse_quantity(value, self.dimension)
        except click.UsageError as error:
            self.fail(error.message, param, ctx)
        if self.positive and number <= 0.0:
            self.fail(f"'{value}' is not above zero.", param, ctx)
        return number


FILE = click.argument("model_file", metavar="FILE", type=click.Path(dir_okay=False))


READING = ("floating", "mimic", "packages", "trust_code", "trusted")
"""Names of the options that control how a file is read."""


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --floating, --no-mimic, --package, --trust-code and --trust-code-of, which control how a file is read."""
    for option in (
        click.option(
            "--trust-code-of",
            "trusted",
            multiple=True,
            metavar="FILE",
            type=click.Path(dir_okay=False),
            help="Let a Xacro file that FILE imports run its code (repeat).",
        ),
        click.option(
            "--trust-code",
            is_flag=True,
            help="Let a Xacro FILE run its code: it can then do all that you can do on this computer.",
        ),
        click.option(
            "--package",
            "packages",
            multiple=True,
            metavar="NAME=FOLDER",
            help="Folder of a package in package:// addresses (repeat).",
        ),
        click.option(
            "--no-mimic",
            "mimic",
            is_flag=True,
            flag_value=False,
            default=True,
            help="Let coupled (mimic) joints of a URDF move independently.",
        ),
        click.option(
            "--floating/--fixed",
            "floating",
            default=None,
            help="Let the base of a URDF or MJCF file move freely, or fix it; otherwise it is as the file says.",
        ),
    ):
        command = option(command)
    return command


def pose_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --set and --pose: values of parameters and coordinates."""
    for option in (
        click.option(
            "--pose",
            "pose",
            multiple=True,
            metavar="JOINT=VALUE",
            help='Coordinate of the pose, e.g. joint1="30 deg" (repeat).',
        ),
        click.option(
            "--set",
            "sets",
            multiple=True,
            metavar="NAME=VALUE",
            help='Value of a parameter or coordinate, e.g. l1="50 mm" (repeat).',
        ),
    ):
        command = option(command)
    return command


def read(
    file: str,
    floating: bool | None = None,
    mimic: bool = True,
    packages: Sequence[str] = (),
    trust_code: bool = False,
    trusted: Sequence[str] = (),
) -> Any:
    """Read a model from a file, or a named example; return the model and the findings of the reader."""
    from core.files import TrustedFile
    from core.files import read as read_file
    from core.files.named import find_model_file
    from core.files.source import source_from_file

    place = find_model_file(file)
    folders = {**place.packages, **split_pairs(packages, "--package")}
    allowed = [TrustedFile.of(source_from_file(each)) for each in (*trusted, *([place.file] if trust_code else []))]
    return read_file(
        place.file, floating=floating, mimic=mimic, packages=folders, arguments=place.arguments, trust=allowed
    )


def split_settings(model: Model, sets: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split settings into those of parameters and coordinates of the model, and those of symbols that the model does
    not have."""
    from core.analysis.sweep import coordinate_aliases

    machine = model.expanded
    names = {p.name for p in machine.parameters} | {joint.name for joint in machine.joints}
    names |= set(coordinate_aliases(model))
    own = [item for item in sets if {(name := split_pair(item, "--set")[0]), name.partition(".")[0]} & names]
    return own, [item for item in sets if item not in own]


def build_context(model: Model, sets: Sequence[str] = (), pose: Sequence[str] = ()) -> Context:
    """Return the machine with the requested pose and parameter values."""
    from core.functions import Context

    if not (sets or pose):
        return Context.of(model)
    from core.analysis.sweep import coordinate_aliases
    from core.model.edits import edits

    coordinates = list(split_pairs(pose, "--pose").items())
    names = {parameter.name: parameter.dimension for parameter in model.expanded.parameters}
    for name, text in split_pairs(sets, "--set").items():
        if name in names:
            model = edits.change(model, "parameters", name, value=_read_number(name, text, model, names[name]))
        else:
            coordinates.append((name, text))
    machine = Context.of(model)
    mech = machine.mech
    aliases = coordinate_aliases(model)
    known = mech.q_names
    values: dict[str, float] = {}
    for name, text in coordinates:
        own = aliases.get(name, name)
        if _is_unknown_name(mech, own):
            remedy = _similar_names(name, [*known, *sorted(names)])
            raise click.UsageError(f"There is no coordinate or parameter '{name}'. {remedy}")
        values |= named_quantities(mech, "q", own, text, model.values(), f"{name}={text}")
    if not values:
        return machine
    q = mech.move(machine.q, values, exact=True)
    _report_passed_limits(mech, q)
    return dataclasses.replace(machine, q=q)


def _is_unknown_name(mech: Any, name: str) -> bool:
    """Return True if a name is neither a coordinate nor a joint."""
    from core.constraints.named_values import resolve_name

    try:
        return not resolve_name(mech.compiled, "q", name)
    except KinetostatError:
        return name.removesuffix(".q") not in mech.joint_names


def _similar_names(name: str, names: Sequence[str]) -> str:
    return suggest_names(name, names).replace("There is:", "There are:")


def named_quantities(
    mech: Any, which: Literal["q", "v"], name: str, text: str, values: Mapping[str, float], where: str
) -> dict[str, float]:
    """Return the coordinates or speeds that belong to a name, with their values from a comma-separated text.

    Raises click.UsageError.
    """
    from core.constraints.named_values import dimension_of_name, resolve_name
    from core.constraints.other_cuts import cut_elsewhere

    compiled = mech.compiled
    try:
        other = cut_elsewhere(compiled, [name])
        compiled = compiled if other is None else other.compiled
        meant = resolve_name(compiled, which, name)
    except KinetostatError as error:
        known = mech.q_names if which == "q" else mech.v_names
        remedy = error.remedy if name.removesuffix(f".{which}") in mech.joint_names else _similar_names(name, known)
        raise click.UsageError(f"{where}: {error.what} {remedy}") from None
    parts = [part.strip() for part in text.split(",")] if len(meant) > 1 else [text]
    if len(parts) != len(meant):
        raise click.UsageError(f"{where}: {len(meant)} numbers are needed, with commas: {', '.join(meant)}.")
    return {
        each: parse_quantity(part, dimension_of_name(compiled, which, each), values, where)
        for each, part in zip(meant, parts, strict=True)
    }


def _report_passed_limits(mech: Any, q: Any) -> None:
    """Print a note for each coordinate beyond its limits; the values are used as given."""
    from core.constraints.cut_coordinates import BEYOND

    for each, x in zip(mech.coordinates, q, strict=True):
        for limit, side in ((each.lower, -1.0), (each.upper, 1.0)):
            if limit is not None and side * (x - limit) > BEYOND:
                say(f"Note: {each.name} = {x:.6g} lies beyond its limit {limit:.6g} (SI).", err=True)


def split_pair(text: str, option: str) -> tuple[str, str]:
    """Split NAME=VALUE into name and value. Raises click.UsageError."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise click.UsageError(f"{option}: '{text}' is not of the form NAME=VALUE.")
    return name.strip(), value.strip()


def split_pairs(arguments: Iterable[str], option: str) -> dict[str, str]:
    """Return name → value of several NAME=VALUE texts. Raises click.UsageError, also for a name with two values."""
    found: dict[str, str] = {}
    for name, value in (split_pair(text, option) for text in arguments):
        if name in found:
            raise click.UsageError(f"{option}: '{name}' is given twice: {found[name]} and {value}.")
        found[name] = value
    return found


def _read_number(name: str, text: str, model: Model, dimension: str) -> float:
    return parse_quantity(text, dimension, model.values(), f"{name}={text}")
