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
    clip,
    items,
    listed,
    one_of,
    pair,
    pairs_of,
    quantity,
    range_text,
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
    """An option of a function. `id` is the keyword, `title` the label; `only` = (another option, those of its values
    for which this option has an effect), () if it always has."""

    id: str
    title: str
    help: str = ""
    default: Any = None
    only: tuple[str, tuple[Any, ...]] | tuple[()] = field(default=(), kw_only=True)

    def matters(self, chosen: Mapping[str, Any]) -> bool:
        """Return True if the option has an effect, given the chosen values of the other options."""
        return not self.only or chosen.get(self.only[0]) in self.only[1]

    def coerce(self, value: Any, context: Context) -> Any:
        """Convert a value of any type to the value that the function gets. Raises ModelError for an invalid value."""
        try:
            return self._parse(value, context)
        except KinetostatError:
            raise
        except (TypeError, ValueError, LookupError, OverflowError):
            raise self.refuse(f"{clip(value)} is not a valid value here.", f"{self.help or self.title}.") from None

    def _parse(self, value: Any, context: Context) -> Any:
        """Convert a value of a plausible type to the value that the function gets."""
        raise NotImplementedError

    @property
    def many(self) -> bool:
        """True if the command line may repeat the option."""
        return False

    @property
    def of_machine(self) -> bool:
        """True if its values belong to one machine: names of its elements, places in its space, values of its
        coordinates."""
        return False

    def refuse(self, what: str, remedy: str = "") -> ModelError:
        """Return an error with a message about this option."""
        return ModelError(what, where=f"option '{self.id}'", remedy=remedy)


@dataclass(frozen=True)
class Number(Option):
    """A number with a dimension and a range; optional if the default is None."""

    dimension: str = "none"
    minimum: float = -math.inf
    maximum: float = math.inf

    def _parse(self, value: Any, context: Context) -> float | None:
        if (value is None or value == "") and self.default is None:
            return None
        number = quantity(value, context, self)
        if not self.minimum <= number <= self.maximum:
            raise self.refuse(f"{number:g} is out of range.", f"Give {range_text(self.minimum, self.maximum)}.")
        return number


@dataclass(frozen=True)
class Integer(Option):
    """A whole number within a range."""

    minimum: int = 0
    maximum: int = 1_000_000

    def _parse(self, value: Any, context: Context) -> int:
        number = quantity(value, context, self)
        if number != int(number) or not self.minimum <= number <= self.maximum:
            raise self.refuse(
                f"{clip(value)} is not a whole number in range.", f"Give {range_text(self.minimum, self.maximum)}."
            )
        return int(number)


@dataclass(frozen=True)
class Flag(Option):
    """Yes or no."""

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
        raise self.refuse(f"{clip(value)} is not yes or no.", "Give yes or no.")


@dataclass(frozen=True)
class Choice(Option):
    """One of several words. `titles` : labels of the choices; default: the words themselves."""

    choices: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)

    def title_of(self, choice: str) -> str:
        """Return the label of a choice."""
        return self.titles.get(choice, choice[:1].upper() + choice[1:])

    def _parse(self, value: Any, context: Context) -> str:
        return one_of(self, value, self.choices, "choice")


@dataclass(frozen=True)
class Text(Option):
    """Free text. `joined` : separator that joins several texts into one list; "" if only one text is allowed."""

    default: Any = ""
    joined: str = field(default="", kw_only=True)

    @property
    def many(self) -> bool:
        return bool(self.joined)

    def _parse(self, value: Any, context: Context) -> str:
        if self.joined and isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
            return self.joined.join(value)
        if not isinstance(value, str):
            raise self.refuse(f"A string is needed, not {clip(value)}.")
        return value


@dataclass(frozen=True)
class OutputFile(Option):
    """Path of a file to write; empty for none. `suffixes` are the formats offered."""

    default: Any = ""
    suffixes: tuple[str, ...] = (".png",)

    def _parse(self, value: Any, context: Context) -> str:
        path = str(value)
        if path and not path.lower().endswith(self.suffixes):
            raise self.refuse(f"'{path}' has no supported suffix.", f"Use {' or '.join(self.suffixes)}.")
        return path


@dataclass(frozen=True)
class OutputFolder(OutputFile):
    """Path of a folder to write; empty for none."""

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
            raise self.refuse(f"{clip(value)} is not a file path.", "Give the name of a file.")
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
    def of_machine(self) -> bool:
        return True

    def _parse(self, value: Any, context: Context) -> str:
        if not value:
            return context.tool if self.fallback == "tool" else "world"
        return one_of(self, value, self.names(context), "body or frame")

    def names(self, context: Context) -> tuple[str, ...]:
        """Names that the user may choose from."""
        return ("world", *(name for name in context.mech.frame_names if name != "world"))


@dataclass(frozen=True)
class ElementName(Option):
    """Name of an element of the document's collection `collection`; empty for none, for which `none` is the label."""

    default: Any = ""
    collection: str = "operating_points"
    none: str = "None"

    @property
    def of_machine(self) -> bool:
        return True

    def _parse(self, value: Any, context: Context) -> str:
        if not value:
            return ""
        from core.model import WORDS

        return one_of(self, value, self.names(context), WORDS[self.collection])

    def names(self, context: Context) -> tuple[str, ...]:
        """Names that the user may choose from."""
        return tuple(element.name for element in getattr(context.model, self.collection))


@dataclass(frozen=True)
class FrameNames(Option):
    """Names of several bodies or frames; empty for the tool."""

    default: Any = ()

    @property
    def of_machine(self) -> bool:
        return True

    @property
    def many(self) -> bool:
        return True

    def _parse(self, value: Any, context: Context) -> tuple[str, ...]:
        names = items(value)
        if not names:
            return (context.tool,)
        if names == ("all",):
            return tuple(context.mech.frame_names)
        return tuple(one_of(self, name, self.names(context), "body or frame") for name in names)

    def names(self, context: Context) -> tuple[str, ...]:
        """Names that the user may choose from."""
        return tuple(context.mech.frame_names)


@dataclass(frozen=True)
class Vector(Option):
    """Several numbers of one dimension; optional if the default is None."""

    dimension: str = "none"
    labels: tuple[str, ...] = ("x", "y", "z")

    @property
    def of_machine(self) -> bool:
        return True

    def _parse(self, value: Any, context: Context) -> tuple[float, ...] | None:
        if value is None or (isinstance(value, str) and not value.strip()):
            if self.default is None:
                return None
            value = self.default
        parts = items(value)
        if len(parts) != len(self.labels):
            raise self.refuse(
                f"{len(self.labels)} numbers are needed, {len(parts)} given.",
                f"Give {', '.join(self.labels)} separated by commas.",
            )
        missing = [label for label, part in zip(self.labels, parts, strict=True) if part is None or part == ""]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            raise self.refuse(f"{', '.join(missing)} {verb} missing.", "Give all numbers.")
        return tuple(
            self._parse_component(label, part, context) for label, part in zip(self.labels, parts, strict=True)
        )

    def _parse_component(self, label: str, part: Any, context: Context) -> float:
        """Convert one component. Raises ModelError naming the component."""
        try:
            return quantity(part, context, self)
        except ModelError as error:
            raise self.refuse(f"{label}: {error.what}", error.remedy) from None


@dataclass(frozen=True)
class Values(Option):
    """Values of some coordinates or speeds by name; the others are zero.

    Taken as a mapping, as a sequence of all of them, or as texts `name=value`.
    """

    default: Any = ()
    of: str = "speeds"
    """"speeds" (names of v) or "coordinates" (names of q)."""
    rate: int = 1
    """Order of the time derivative: 0 positions, 1 speeds, 2 accelerations, −1 forces."""

    @property
    def of_machine(self) -> bool:
        return True

    @property
    def many(self) -> bool:
        return True

    def names(self, context: Context) -> tuple[str, ...]:
        """Names that the user may set."""
        return tuple(context.mech.v_names if self.of == "speeds" else context.mech.q_names)

    def _parse(self, value: Any, context: Context) -> dict[str, float]:
        names = self.names(context)
        if isinstance(value, Mapping):
            pairs: list[tuple[str, Any]] = list(value.items())
        elif isinstance(value, str) or all(isinstance(item, str) and "=" in item for item in value):
            pairs = pairs_of(self, items(value))
        else:
            numbers = [float(item) for item in value]
            if len(numbers) != len(names):
                raise self.refuse(f"{len(names)} numbers are needed, {len(numbers)} given.", f"Names: {listed(names)}.")
            pairs = list(zip(names, numbers, strict=True))
        known = {alias: name for alias, name in self.aliases(context).items() if alias not in names}
        return {
            one_of(self, known.get(name, name), names, "coordinate"): quantity(item, context, self)
            for name, item in pairs
        }

    def aliases(self, context: Context) -> dict[str, str]:
        """Symbols of DH joint variables, accepted in place of the names of coordinates and speeds."""
        from core.analysis.sweep import coordinate_aliases

        return coordinate_aliases(context.model)


@dataclass(frozen=True)
class SymbolValues(Option):
    """Values of symbols in formulas by name, as a mapping or as texts `name=value`.

    `needed(context, options)` tells which symbols want one with the other options as given: None, or what is assumed.
    """

    default: Any = ()
    needed: Callable[[Context, Mapping[str, Any]], Mapping[str, float | None]] = lambda *_: {}

    @property
    def of_machine(self) -> bool:
        return True

    @property
    def many(self) -> bool:
        return True

    def _parse(self, value: Any, context: Context) -> dict[str, float]:
        pairs = value.items() if isinstance(value, Mapping) else pairs_of(self, items(value or ()))
        return {str(name): quantity(item, context, self) for name, item in pairs}


@dataclass(frozen=True)
class Ranges(Option):
    """Ranges of coordinates or parameters: `name = start … stop` in `divisions`.

    Taken as `Range`s, tuples (name, start, stop[, divisions]), mappings with these keys, or texts
    `name=start:stop[:divisions]`.
    """

    default: Any = ()

    @property
    def of_machine(self) -> bool:
        return True

    @property
    def many(self) -> bool:
        return True

    def names(self, context: Context) -> tuple[str, ...]:
        """Coordinates, parameters and DH entries that the user may vary."""
        from core.analysis.sweep import variables

        return tuple(variables(context.model, context.mech))

    def _parse(self, value: Any, context: Context) -> tuple[Range, ...]:
        if isinstance(value, str | Mapping) or (value and isinstance(value[0], str) and "=" not in value[0]):
            value = (value,)
        ranges = tuple(self._parse_range(item, context) for item in value)
        twice = {r.name for r in ranges if sum(other.name == r.name for other in ranges) > 1}
        if twice and self.id == "ranges":
            raise self.refuse(f"'{min(twice)}' has two ranges.", "Give one range per name.")
        return ranges

    def _parse_range(self, item: Any, context: Context) -> Range:
        if isinstance(item, str):
            name, text = pair(self, item)
            item = (name, *text.split(":"))
        elif isinstance(item, Mapping):
            item = (item["name"], item["start"], item["stop"], item.get("divisions", DIVISIONS))
        if not 3 <= len(item) <= 4:
            given = "=".join((str(item[0]), ":".join(map(str, item[1:]))))
            raise self.refuse(f"{clip(given)} is not a range.", "Write name=start:stop or name=start:stop:divisions.")
        name = one_of(self, item[0], self.names(context), "coordinate or parameter")
        start, stop = (quantity(end, context, self) for end in item[1:3])
        divisions = quantity(item[3], context, self) if len(item) == 4 else DIVISIONS
        if divisions != int(divisions) or not 1 <= divisions <= MAX_DIVISIONS:
            raise self.refuse(
                f"{item[3]} is not a number of divisions.", f"Give a whole number from 1 to {MAX_DIVISIONS}."
            )
        return Range(name, start, stop, int(divisions))


@dataclass(frozen=True)
class Signals(Option):
    """Signals by name, or formulas of them, as a sequence or a comma-separated text. `of` : "inputs" or "outputs" of
    linear systems, "quantities" of operating points, or "run parameters", by which runs are differentiated."""

    default: Any = ()
    of: str = "outputs"

    @property
    def of_machine(self) -> bool:
        return True

    @property
    def many(self) -> bool:
        return True

    def names(self, context: Context) -> tuple[str, ...]:
        """Names that the user may choose from."""
        from core.control import inputs, outputs

        if self.of == "run parameters":
            from core.identification.sensitivities.start_state_derivatives import column_names

            return column_names(context.mech)
        found = inputs.input_names(context.mech) if self.of in ("inputs", "quantities") else ()
        if self.of in ("outputs", "quantities"):
            found += outputs.all_outputs(context.mech, context.mech.parameter_values(dict(context.p) or None))
        return tuple(dict.fromkeys(found))

    def _parse(self, value: Any, context: Context) -> Any:
        parts = (value,) if isinstance(value, str) else tuple(value or ())
        if not all(isinstance(part, str) for part in parts):
            raise self.refuse(f"{clip(value)} is not a list of names.", "Give names of signals separated by commas.")
        return tuple(name for part in parts for name in split_outside_brackets(part))


@dataclass(frozen=True)
class SignalValues(Signals):
    """Values of signals with units, as a mapping or as texts `name=value`; with `ranges`, bounds `name=low:high` or a
    name alone."""

    default: Any = ()
    of: str = "quantities"
    ranges: bool = False

    def _parse(self, value: Any, context: Context) -> dict[str, Any]:
        if isinstance(value, Mapping):
            pairs: list[tuple[str, Any]] = list(value.items())
        else:
            texts = super()._parse(value, context)
            pairs = pairs_of(self, [f"{text}=" if self.ranges and "=" not in text else text for text in texts])
        return {str(name): self._parse_number(str(name), given, context) for name, given in pairs}

    def number(self, name: str, given: Any, context: Context) -> float:
        """Convert the value of a signal to SI. Raises ModelError for a unit of another dimension."""
        from core.model.trims import dimension_of_signal
        from core.model.validation.formulas import wrong_dimension

        if isinstance(given, str):
            try:
                said = wrong_dimension(given, dimension_of_signal(context.model, name))
            except KinetostatError:
                said = None  # no formula: told below
            if said is not None:
                raise self.refuse(f"{name}: {said[0]}", said[1])
        return quantity(given, context, self)

    def _parse_number(self, name: str, given: Any, context: Context) -> Any:
        if not self.ranges:
            return self.number(name, given, context)
        ends: list[Any] = given.split(":") if isinstance(given, str) else list(given or ())
        ends = ["", ""] if ends in ([], [""]) else ends
        if len(ends) != 2:
            raise self.refuse(f"{clip(given)} is not a pair of bounds.", "Write name, or name=low:high.")
        low, high = (None if end in ("", None) else self.number(name, end, context) for end in ends)
        return -math.inf if low is None else low, math.inf if high is None else high
