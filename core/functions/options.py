"""Options of user-facing functions: typed, with defaults, units and ranges.

Each option turns what a surface hands over — SI numbers from the panel, Python values from the console, text from
the command line — into the one value the function gets, or raises a message. A text may be a formula in the model's
parameters and may carry a unit ("30 deg", "2*l1").
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from core.errors import KinetostatError, ModelError
from core.functions.context import Context
from core.functions.option_texts import (
    check_name_in_list,
    format_name_list,
    format_range,
    parse_name_value_pairs,
    parse_quantity,
    shorten_for_message,
    split_items,
    split_name_and_value,
    split_outside_brackets,
)
from core.later import dataclass

DIVISIONS = 5
"""Number of divisions of a range if none is given (Robotica's default)."""
MAX_DIVISIONS = 10_000


class Range(NamedTuple):
    """Range of a coordinate or parameter from start to stop (SI) in equal divisions (divisions + 1 poses)."""

    name: str
    start: float
    stop: float
    divisions: int = DIVISIONS


@dataclass(frozen=True)
class Option:
    """An option of a function. `id` is the keyword and `title` the label; `only` = (another option, the values of it
    for which this option has an effect), () if it always has one."""

    id: str
    title: str
    help: str = ""
    default: Any = None
    only: tuple[str, tuple[Any, ...]] | tuple[()] = field(default=(), kw_only=True)

    def has_effect(self, option_values: Mapping[str, Any]) -> bool:
        """Return True if the option has an effect, given the values of the other options."""
        return not self.only or option_values.get(self.only[0]) in self.only[1]

    def coerce(self, value: Any, context: Context) -> Any:
        """Convert a value from the panel, the command line or a script to the value that the function receives. Raises
        ModelError for an invalid value."""
        try:
            return self._parse(value, context)
        except KinetostatError:
            raise
        except (TypeError, ValueError, LookupError, OverflowError):
            raise self.make_error(
                f"{shorten_for_message(value)} is not a valid value here.", f"{self.help or self.title}."
            ) from None

    def _parse(self, value: Any, context: Context) -> Any:
        """Convert a value of a plausible type to the value that the function receives."""
        raise NotImplementedError

    @property
    def is_repeatable(self) -> bool:
        """True if the option may be repeated on the command line."""
        return False

    @property
    def is_machine_specific(self) -> bool:
        """True if the values are specific to one machine: names of its elements, points in its space, values of its
        coordinates."""
        return False

    def make_error(self, problem: str, remedy: str = "") -> ModelError:
        """Create an error whose message names this option."""
        return ModelError(problem, where=f"option '{self.id}'", remedy=remedy)


@dataclass(frozen=True)
class Number(Option):
    """A number with a dimension and a range; optional if the default is None."""

    dimension: str = "none"
    minimum: float = -math.inf
    maximum: float = math.inf

    def _parse(self, value: Any, context: Context) -> float | None:
        if (value is None or value == "") and self.default is None:
            return None
        number = parse_quantity(value, context, self)
        if not self.minimum <= number <= self.maximum:
            raise self.make_error(f"{number:g} is out of range.", f"Give {format_range(self.minimum, self.maximum)}.")
        return number


@dataclass(frozen=True)
class Integer(Option):
    """A whole number within a range."""

    minimum: int = 0
    maximum: int = 1_000_000

    def _parse(self, value: Any, context: Context) -> int:
        number = parse_quantity(value, context, self)
        if number != int(number) or not self.minimum <= number <= self.maximum:
            raise self.make_error(
                f"{shorten_for_message(value)} is not a whole number in range.",
                f"Give {format_range(self.minimum, self.maximum)}.",
            )
        return int(number)


@dataclass(frozen=True)
class Flag(Option):
    """An option that is yes or no."""

    default: Any = False

    def _parse(self, value: Any, context: Context) -> bool:
        if isinstance(value, str):
            word = value.strip().lower()
            if word in ("yes", "true", "on", "1"):
                return True
            if word in ("no", "false", "off", "0"):
                return False
        elif isinstance(value, bool) or value in (0, 1):
            return bool(value)
        raise self.make_error(f"{shorten_for_message(value)} is not yes or no.", "Give yes or no.")


@dataclass(frozen=True)
class Choice(Option):
    """One of several words. `titles` : labels of the choices; default: the words themselves."""

    choices: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)

    def choice_label(self, choice: str) -> str:
        """Return the label of a choice."""
        return self.titles.get(choice, choice[:1].upper() + choice[1:])

    def _parse(self, value: Any, context: Context) -> str:
        return check_name_in_list(self, value, self.choices, "choice")


@dataclass(frozen=True)
class Text(Option):
    """Free text. `joined` : separator that joins several strings into one list; "" if only one string is allowed."""

    default: Any = ""
    joined: str = field(default="", kw_only=True)

    @property
    def is_repeatable(self) -> bool:
        return bool(self.joined)

    def _parse(self, value: Any, context: Context) -> str:
        if self.joined and isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
            return self.joined.join(value)
        if not isinstance(value, str):
            raise self.make_error(f"A string is needed, not {shorten_for_message(value)}.")
        return value


@dataclass(frozen=True)
class OutputFile(Option):
    """Path of a file to write; empty for none. `suffixes` are the formats offered."""

    default: Any = ""
    suffixes: tuple[str, ...] = (".png",)

    def _parse(self, value: Any, context: Context) -> str:
        path = str(value)
        if path and not path.lower().endswith(self.suffixes):
            raise self.make_error(f"'{path}' has no supported suffix.", f"Use {' or '.join(self.suffixes)}.")
        return path


@dataclass(frozen=True)
class OutputFolder(OutputFile):
    """Path of a folder to write into; empty for none."""

    suffixes: tuple[str, ...] = ()

    def _parse(self, value: Any, context: Context) -> str:
        return str(value)


@dataclass(frozen=True)
class InputFile(Option):
    """Path of a file to read, relative to the working folder or to the machine's file; empty for none.

    `near` lists files that a user may mean for a machine.
    """

    default: Any = ""
    suffixes: tuple[str, ...] = ()
    near: Callable[[Context], Sequence[str]] = lambda _: ()

    def _parse(self, value: Any, context: Context) -> str:
        if not isinstance(value, str | os.PathLike):
            raise self.make_error(f"{shorten_for_message(value)} is not a file path.", "Give the name of a file.")
        path, origin = os.fspath(value), context.model.origin
        beside = os.path.join(os.path.dirname(origin), path) if origin and path else ""
        return beside if beside and not os.path.exists(path) and os.path.exists(beside) else path


@dataclass(frozen=True)
class FrameName(Option):
    """Name of a body or frame, or `world`; empty for the tool."""

    default: Any = ""
    fallback: str = "tool"
    """Meaning of an empty value: "tool" or "world"."""

    @property
    def is_machine_specific(self) -> bool:
        return True

    def _parse(self, value: Any, context: Context) -> str:
        if not value:
            return context.tool if self.fallback == "tool" else "world"
        return check_name_in_list(self, value, self.selectable_names(context), "body or frame")

    def selectable_names(self, context: Context) -> tuple[str, ...]:
        """Names among which the user may choose."""
        return ("world", *(name for name in context.mech.frame_names if name != "world"))


@dataclass(frozen=True)
class ElementName(Option):
    """Name of an element in the document's collection `collection`; empty for none, shown with the label `none`."""

    default: Any = ""
    collection: str = "operating_points"
    none: str = "None"

    @property
    def is_machine_specific(self) -> bool:
        return True

    def _parse(self, value: Any, context: Context) -> str:
        if not value:
            return ""
        from core.model import WORDS

        return check_name_in_list(self, value, self.selectable_names(context), WORDS[self.collection])

    def selectable_names(self, context: Context) -> tuple[str, ...]:
        """Names among which the user may choose."""
        return tuple(element.name for element in getattr(context.model, self.collection))


@dataclass(frozen=True)
class FrameNames(Option):
    """Names of several bodies or frames; empty for the tool."""

    default: Any = ()

    @property
    def is_machine_specific(self) -> bool:
        return True

    @property
    def is_repeatable(self) -> bool:
        return True

    def _parse(self, value: Any, context: Context) -> tuple[str, ...]:
        names = split_items(value)
        if not names:
            return (context.tool,)
        if names == ("all",):
            return tuple(context.mech.frame_names)
        return tuple(check_name_in_list(self, name, self.selectable_names(context), "body or frame") for name in names)

    def selectable_names(self, context: Context) -> tuple[str, ...]:
        """Names among which the user may choose."""
        return tuple(context.mech.frame_names)


@dataclass(frozen=True)
class Vector(Option):
    """Several numbers of one dimension; optional if the default is None."""

    dimension: str = "none"
    labels: tuple[str, ...] = ("x", "y", "z")

    @property
    def is_machine_specific(self) -> bool:
        return True

    def _parse(self, value: Any, context: Context) -> tuple[float, ...] | None:
        if value is None or (isinstance(value, str) and not value.strip()):
            if self.default is None:
                return None
            value = self.default
        parts = split_items(value)
        if len(parts) != len(self.labels):
            raise self.make_error(
                f"{len(self.labels)} numbers are needed, {len(parts)} given.",
                f"Give {', '.join(self.labels)} separated by commas.",
            )
        missing = [label for label, part in zip(self.labels, parts, strict=True) if part is None or part == ""]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            raise self.make_error(f"{', '.join(missing)} {verb} missing.", "Give all numbers.")
        return tuple(
            self._parse_component(label, part, context) for label, part in zip(self.labels, parts, strict=True)
        )

    def _parse_component(self, label: str, component: Any, context: Context) -> float:
        """Convert one component. Raises ModelError naming the component."""
        try:
            return parse_quantity(component, context, self)
        except ModelError as error:
            raise self.make_error(f"{label}: {error.what}", error.remedy) from None


@dataclass(frozen=True)
class Values(Option):
    """Values of some coordinates or speeds by name; those not named are zero.

    Taken as a mapping, as a sequence of all of them, or as texts `name=value`.
    """

    default: Any = ()
    of: str = "speeds"
    """"speeds" (names of v) or "coordinates" (names of q)."""
    rate: int = 1
    """Order of the time derivative: 0 positions, 1 speeds, 2 accelerations, −1 forces."""

    @property
    def is_machine_specific(self) -> bool:
        return True

    @property
    def is_repeatable(self) -> bool:
        return True

    def selectable_names(self, context: Context) -> tuple[str, ...]:
        """Names that the user may set."""
        return tuple(context.mech.v_names if self.of == "speeds" else context.mech.q_names)

    def _parse(self, value: Any, context: Context) -> dict[str, float]:
        names = self.selectable_names(context)
        if isinstance(value, Mapping):
            pairs: list[tuple[str, Any]] = list(value.items())
        elif isinstance(value, str) or all(isinstance(item, str) and "=" in item for item in value):
            pairs = parse_name_value_pairs(self, split_items(value))
        else:
            numbers = [float(item) for item in value]
            if len(numbers) != len(names):
                raise self.make_error(
                    f"{len(names)} numbers are needed, {len(numbers)} given.", f"Names: {format_name_list(names)}."
                )
            pairs = list(zip(names, numbers, strict=True))
        known = {alias: name for alias, name in self.symbol_aliases(context).items() if alias not in names}
        return {
            check_name_in_list(self, known.get(name, name), names, "coordinate"): parse_quantity(item, context, self)
            for name, item in pairs
        }

    def symbol_aliases(self, context: Context) -> dict[str, str]:
        """Symbols of DH joint variables that are accepted in place of the names of coordinates and speeds."""
        from core.analysis.sweep import coordinate_aliases

        return coordinate_aliases(context.model)


@dataclass(frozen=True)
class SymbolValues(Option):
    """Values of symbols in formulas by name, as a mapping or as strings `name=value`.

    `needed(context, options)` tells which symbols want one with the other options as given: None, or what is assumed.
    """

    default: Any = ()
    needed: Callable[[Context, Mapping[str, Any]], Mapping[str, float | None]] = lambda *_: {}

    @property
    def is_machine_specific(self) -> bool:
        return True

    @property
    def is_repeatable(self) -> bool:
        return True

    def _parse(self, value: Any, context: Context) -> dict[str, float]:
        pairs = value.items() if isinstance(value, Mapping) else parse_name_value_pairs(self, split_items(value or ()))
        return {str(name): parse_quantity(item, context, self) for name, item in pairs}


@dataclass(frozen=True)
class Ranges(Option):
    """Ranges of coordinates or parameters: `name = start … stop` in `divisions`.

    Taken as `Range`s, tuples (name, start, stop[, divisions]), mappings with these keys, or texts
    `name=start:stop[:divisions]`.
    """

    default: Any = ()

    @property
    def is_machine_specific(self) -> bool:
        return True

    @property
    def is_repeatable(self) -> bool:
        return True

    def selectable_names(self, context: Context) -> tuple[str, ...]:
        """Coordinates, parameters and DH entries that the user may vary."""
        from core.analysis.sweep import sweepable_variables

        return tuple(sweepable_variables(context.model, context.mech))

    def _parse(self, value: Any, context: Context) -> tuple[Range, ...]:
        if isinstance(value, str | Mapping) or (value and isinstance(value[0], str) and "=" not in value[0]):
            value = (value,)
        ranges = tuple(self._parse_range(item, context) for item in value)
        twice = {r.name for r in ranges if sum(other.name == r.name for other in ranges) > 1}
        if twice and self.id == "ranges":
            raise self.make_error(f"'{min(twice)}' has two ranges.", "Give one range per name.")
        return ranges

    def _parse_range(self, range_value: Any, context: Context) -> Range:
        if isinstance(range_value, str):
            name, text = split_name_and_value(self, range_value)
            range_value = (name, *text.split(":"))
        elif isinstance(range_value, Mapping):
            range_value = (
                range_value["name"],
                range_value["start"],
                range_value["stop"],
                range_value.get("divisions", DIVISIONS),
            )
        if not 3 <= len(range_value) <= 4:
            given = "=".join((str(range_value[0]), ":".join(map(str, range_value[1:]))))
            raise self.make_error(
                f"{shorten_for_message(given)} is not a range.", "Write name=start:stop or name=start:stop:divisions."
            )
        name = check_name_in_list(self, range_value[0], self.selectable_names(context), "coordinate or parameter")
        start, stop = (parse_quantity(end, context, self) for end in range_value[1:3])
        divisions = parse_quantity(range_value[3], context, self) if len(range_value) == 4 else DIVISIONS
        if divisions != int(divisions) or not 1 <= divisions <= MAX_DIVISIONS:
            raise self.make_error(
                f"{range_value[3]} is not a number of divisions.", f"Give a whole number from 1 to {MAX_DIVISIONS}."
            )
        return Range(name, start, stop, int(divisions))


@dataclass(frozen=True)
class Signals(Option):
    """Signals by name, or formulas of them, as a sequence or a comma-separated text. `of` : "inputs" or "outputs" of
    linear systems, "quantities" of operating points, or "run parameters", by which runs are differentiated."""

    default: Any = ()
    of: str = "outputs"

    @property
    def is_machine_specific(self) -> bool:
        return True

    @property
    def is_repeatable(self) -> bool:
        return True

    def selectable_names(self, context: Context) -> tuple[str, ...]:
        """Names among which the user may choose."""
        from core.control import inputs, outputs

        if self.of == "run parameters":
            from core.identification.sensitivities.start_state_derivatives import derivative_variable_names

            return derivative_variable_names(context.mech)
        found = inputs.input_names(context.mech) if self.of in ("inputs", "quantities") else ()
        if self.of in ("outputs", "quantities"):
            found += outputs.list_outputs(context.mech, context.mech.parameter_values(dict(context.p) or None))
        return tuple(dict.fromkeys(found))

    def _parse(self, value: Any, context: Context) -> Any:
        parts = (value,) if isinstance(value, str) else tuple(value or ())
        if not all(isinstance(part, str) for part in parts):
            raise self.make_error(
                f"{shorten_for_message(value)} is not a list of names.", "Give names of signals separated by commas."
            )
        return tuple(name for part in parts for name in split_outside_brackets(part))


@dataclass(frozen=True)
class SignalValues(Signals):
    """Values of signals with units, as a mapping or as strings `name=value`; with `ranges`, bounds `name=low:high` or
    just a name."""

    default: Any = ()
    of: str = "quantities"
    ranges: bool = False

    def _parse(self, value: Any, context: Context) -> dict[str, Any]:
        if isinstance(value, Mapping):
            pairs: list[tuple[str, Any]] = list(value.items())
        else:
            texts = super()._parse(value, context)
            pairs = parse_name_value_pairs(
                self, [f"{text}=" if self.ranges and "=" not in text else text for text in texts]
            )
        return {str(name): self._parse_value_or_bounds(str(name), given, context) for name, given in pairs}

    def parse_signal_value(self, name: str, value: Any, context: Context) -> float:
        """Convert the value of a signal to SI. Raises ModelError for a unit of another dimension."""
        from core.model.trims import signal_dimension
        from core.model.validation.formulas import find_wrong_dimension

        if isinstance(value, str):
            try:
                said = find_wrong_dimension(value, signal_dimension(context.model, name))
            except KinetostatError:
                said = None  # no formula: told below
            if said is not None:
                raise self.make_error(f"{name}: {said[0]}", said[1])
        return parse_quantity(value, context, self)

    def _parse_value_or_bounds(self, name: str, value: Any, context: Context) -> Any:
        if not self.ranges:
            return self.parse_signal_value(name, value, context)
        ends: list[Any] = value.split(":") if isinstance(value, str) else list(value or ())
        ends = ["", ""] if ends in ([], [""]) else ends
        if len(ends) != 2:
            raise self.make_error(
                f"{shorten_for_message(value)} is not a pair of bounds.", "Write name, or name=low:high."
            )
        low, high = (None if end in ("", None) else self.parse_signal_value(name, end, context) for end in ends)
        return -math.inf if low is None else low, math.inf if high is None else high
