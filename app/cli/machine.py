"""Options that all commands on a machine share: how to read it, which values and which pose."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from app.cli.quantity import quantity
from app.cli.terminal import say

if TYPE_CHECKING:
    from core.functions import Context
    from core.model import Model

FILE = click.argument("model_file", metavar="FILE", type=click.Path(dir_okay=False))


READING = ("floating", "mimic", "packages", "trust_code", "trusted")
"""Names of the options that say how a file is read."""


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--floating, --no-mimic, --package, --trust-code, --trust-code-of: how a file is read."""
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
            help="Let coupled joints of a URDF move on their own.",
        ),
        click.option("--floating", is_flag=True, help="Free the root of a URDF, which is otherwise fixed."),
    ):
        command = option(command)
    return command


def pose_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--set, --pose: values of parameters and coordinates."""
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
    floating: bool = False,
    mimic: bool = True,
    packages: Sequence[str] = (),
    trust_code: bool = False,
    trusted: Sequence[str] = (),
) -> Any:
    """The model of a file and the findings of its reader."""
    from core.files import Trusted
    from core.files import read as read_file
    from core.files.source import source_of_file

    folders = dict(pair_of(item, "--package") for item in packages)
    allowed = [Trusted.of(source_of_file(each)) for each in (*trusted, *([file] if trust_code else []))]
    return read_file(file, floating=floating, mimic=mimic, packages=folders, trust=allowed)


def known_sets(model: Model, sets: Sequence[str]) -> tuple[list[str], list[str]]:
    """(settings of parameters and coordinates of the model, settings of symbols it does not have)."""
    from core.analysis.sweep import coordinate_aliases

    machine = model.expanded
    names = {p.name for p in machine.parameters} | {joint.name for joint in machine.joints}
    names |= set(coordinate_aliases(model))
    own = [item for item in sets if {(name := pair_of(item, "--set")[0]), name.partition(".")[0]} & names]
    return own, [item for item in sets if item not in own]


def context(model: Model, sets: Sequence[str] = (), pose: Sequence[str] = ()) -> Context:
    """The machine at the pose and with the parameter values asked for."""
    from core.analysis.sweep import coordinate_aliases
    from core.functions import Context
    from core.model.edits import edits

    coordinates = [pair_of(item, "--pose") for item in pose]
    names = {parameter.name: parameter.dimension for parameter in model.expanded.parameters}
    for name, text in (pair_of(item, "--set") for item in sets):
        if name in names:
            model = edits.change(model, "parameters", name, value=_number(name, text, model, names[name]))
        else:
            coordinates.append((name, text))
    machine = Context.of(model)
    mech = machine.mech
    aliases = coordinate_aliases(model)
    known = {c.name: c for c in mech.coordinates}
    values = {}
    for name, text in coordinates:
        coordinate = known.get(aliases.get(name, name))
        if coordinate is None:
            listed = ", ".join([*known, *sorted(names)][:12]) or "none"
            raise click.UsageError(f"There is no coordinate or parameter '{name}'. There are: {listed}.")
        values[coordinate.name] = _number(name, text, model, coordinate.dimension)
    if not values:
        return machine
    q = mech.move(machine.q, values)
    _check_reached(mech, q, values)
    return dataclasses.replace(machine, q=q)


def _check_reached(mech: Any, q: Any, values: dict[str, float]) -> None:
    for name, x in zip(mech.q_names, q, strict=True):
        if name in values and abs(values[name] - x) > 1e-6:
            say(f"Note: {name} = {values[name]:.6g} is out of reach; it stands at {x:.6g} (SI).", err=True)


def pair_of(text: str, option: str) -> tuple[str, str]:
    """Name and value of NAME=VALUE. Raises click.UsageError."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise click.UsageError(f"{option}: '{text}' is not of the form NAME=VALUE.")
    return name.strip(), value.strip()


def _number(name: str, text: str, model: Model, dimension: str) -> float:
    return quantity(text, dimension, model.values(), f"{name}={text}")
