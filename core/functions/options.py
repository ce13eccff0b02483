"""What options a function may have: typed, with defaults, units and ranges.

Each option turns what a surface hands over — SI numbers from the panel, Python values from the console, text from
the command line — into the one value the function gets, or raises a message. A text may be a formula in the model's
parameters and may carry a unit ("30 deg", "2*l1").
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from core.errors import KinetostatError, ModelError

if TYPE_CHECKING:
    from core.functions.function import Context

DIVISIONS = 5
"""Divisions of a range that does not say how many (Robotica's default)."""
MAX_DIVISIONS = 10_000


class Range(NamedTuple):
    """A coordinate or parameter running from start to stop (SI) in so many divisions (divisions + 1 poses)."""

    name: str
    start: float
    stop: float
    divisions: int = DIVISIONS


@dataclass(frozen=True)
class Option:
    """One option. `id` is the keyword, `title` what a person reads."""

    id: str
    title: str
    help: str = ""
    default: Any = None

    def coerce(self, value: Any, context: Context) -> Any:
        """The value the function gets; raises ModelError for anything that is none, of whatever type."""
        try:
            return self._read(value, context)
        except KinetostatError:
            raise
        except (TypeError, ValueError, LookupError, OverflowError):
            raise self.refuse(f"{_clip(value)} is no value for this.", f"{self.help or self.title}.") from None

    def _read(self, value: Any, context: Context) -> Any:
        """The value the function gets, for values of a sensible type."""
        raise NotImplementedError

    @property
    def many(self) -> bool:
        """True if the command line may repeat the option."""
        return False

    def refuse(self, what: str, remedy: str = "") -> ModelError:
        """A message about this option."""
        return ModelError(what, where=f"option '{self.id}'", remedy=remedy)


@dataclass(frozen=True)
class Number(Option):
    """A number of a dimension within a range; None as default makes it optional."""

    dimension: str = "none"
    minimum: float = -math.inf
    maximum: float = math.inf

    def _read(self, value: Any, context: Context) -> float | None:
        if (value is None or value == "") and self.default is None:
            return None
        number = quantity(value, context, self)
        if not self.minimum <= number <= self.maximum:
            raise self.refuse(f"{number:g} is out of range.", f"Give {_range_text(self.minimum, self.maximum)}.")
        return number


@dataclass(frozen=True)
class Integer(Option):
    """A whole number within a range."""

    minimum: int = 0
    maximum: int = 1_000_000

    def _read(self, value: Any, context: Context) -> int:
        number = quantity(value, context, self)
        if number != int(number) or not self.minimum <= number <= self.maximum:
            raise self.refuse(
                f"{_clip(value)} is not a whole number in range.", f"Give {_range_text(self.minimum, self.maximum)}."
            )
        return int(number)


@dataclass(frozen=True)
class Flag(Option):
    """Yes or no."""

    default: Any = False

    def _read(self, value: Any, context: Context) -> bool:
        if isinstance(value, str):
            word = value.strip().lower()
            if word in ("yes", "true", "on", "1"):
                return True
            if word in ("no", "false", "off", "0"):
                return False
        elif isinstance(value, bool) or value in (0, 1):
            return bool(value)
        raise self.refuse(f"{_clip(value)} is neither yes nor no.", "Give yes or no.")


@dataclass(frozen=True)
class Choice(Option):
    """One of a few words."""

    choices: tuple[str, ...] = ()

    def _read(self, value: Any, context: Context) -> str:
        return _one_of(self, value, self.choices, "choice")


@dataclass(frozen=True)
class Text(Option):
    """Free text."""

    default: Any = ""

    def _read(self, value: Any, context: Context) -> str:
        if not isinstance(value, str):
            raise self.refuse(f"Text is needed, not {_clip(value)}.")
        return value


@dataclass(frozen=True)
class OutputFile(Option):
    """The path of a file to write; empty: none. `suffixes` are the formats offered."""

    default: Any = ""
    suffixes: tuple[str, ...] = (".png",)

    def _read(self, value: Any, context: Context) -> str:
        path = str(value)
        if path and not path.lower().endswith(self.suffixes):
            raise self.refuse(f"'{path}' has no supported suffix.", f"Use {' or '.join(self.suffixes)}.")
        return path


@dataclass(frozen=True)
class FrameName(Option):
    """A body or frame, or `world`; empty: the tool."""

    default: Any = ""
    fallback: str = "tool"
    """What an empty value stands for: "tool" or "world"."""

    def _read(self, value: Any, context: Context) -> str:
        if not value:
            return context.tool if self.fallback == "tool" else "world"
        return _one_of(self, value, self.names(context), "body or frame")

    def names(self, context: Context) -> tuple[str, ...]:
        """Names a person may choose from."""
        return ("world", *(name for name in context.mech.frame_names if name != "world"))


@dataclass(frozen=True)
class FrameNames(Option):
    """Several bodies or frames; empty: the tool."""

    default: Any = ()

    @property
    def many(self) -> bool:
        return True

    def _read(self, value: Any, context: Context) -> tuple[str, ...]:
        names = _items(value)
        if not names:
            return (context.tool,)
        if names == ("all",):
            return tuple(context.mech.frame_names)
        return tuple(_one_of(self, name, self.names(context), "body or frame") for name in names)

    def names(self, context: Context) -> tuple[str, ...]:
        """Names a person may choose from."""
        return tuple(context.mech.frame_names)


@dataclass(frozen=True)
class Vector(Option):
    """Several numbers of one dimension; None as default makes it optional."""

    dimension: str = "none"
    labels: tuple[str, ...] = ("x", "y", "z")

    def _read(self, value: Any, context: Context) -> tuple[float, ...] | None:
        if value is None or (isinstance(value, str) and not value.strip()):
            if self.default is None:
                return None
            value = self.default
        items = _items(value)
        if len(items) != len(self.labels):
            raise self.refuse(
                f"{len(self.labels)} numbers are needed, {len(items)} given.",
                f"Give {', '.join(self.labels)} with commas between them.",
            )
        return tuple(quantity(item, context, self) for item in items)


@dataclass(frozen=True)
class Values(Option):
    """Numbers for some of the coordinates or speeds, by name; the others are zero.

    Taken as a mapping, as a sequence of all of them, or as texts `name=value`.
    """

    default: Any = ()
    of: str = "speeds"
    """"speeds" (names of v) or "coordinates" (names of q)."""
    rate: int = 1
    """Time derivatives: 0 positions, 1 speeds, 2 accelerations, −1 forces."""

    @property
    def many(self) -> bool:
        return True

    def names(self, context: Context) -> tuple[str, ...]:
        """Names a person may set."""
        return tuple(context.mech.v_names if self.of == "speeds" else context.mech.q_names)

    def _read(self, value: Any, context: Context) -> dict[str, float]:
        names = self.names(context)
        if isinstance(value, Mapping):
            pairs = list(value.items())
        elif isinstance(value, str) or all(isinstance(item, str) and "=" in item for item in value):
            pairs = [_pair(self, item) for item in _items(value)]
        else:
            items = [float(item) for item in value]
            if len(items) != len(names):
                raise self.refuse(f"{len(names)} numbers are needed, {len(items)} given.", f"Names: {_list(names)}.")
            pairs = list(zip(names, items, strict=True))
        return {_one_of(self, name, names, "coordinate"): quantity(item, context, self) for name, item in pairs}


@dataclass(frozen=True)
class Ranges(Option):
    """Ranges of coordinates or parameters: `name = start … stop` in `divisions`.

    Taken as `Range`s, tuples (name, start, stop[, divisions]), mappings with these keys, or texts
    `name=start:stop[:divisions]`.
    """

    default: Any = ()

    @property
    def many(self) -> bool:
        return True

    def names(self, context: Context) -> tuple[str, ...]:
        """Coordinates, parameters and DH entries a person may let run."""
        from core.analysis.sweep import variables

        return tuple(variables(context.model, context.mech))

    def _read(self, value: Any, context: Context) -> tuple[Range, ...]:
        if isinstance(value, str | Mapping) or (value and isinstance(value[0], str) and "=" not in value[0]):
            value = (value,)
        ranges = tuple(self._range(item, context) for item in value)
        twice = {r.name for r in ranges if sum(other.name == r.name for other in ranges) > 1}
        if twice and self.id == "ranges":
            raise self.refuse(f"'{min(twice)}' runs over two ranges at once.", "Give one range per name.")
        return ranges

    def _range(self, item: Any, context: Context) -> Range:
        if isinstance(item, str):
            name, text = _pair(self, item)
            item = (name, *text.split(":"))
        elif isinstance(item, Mapping):
            item = (item["name"], item["start"], item["stop"], item.get("divisions", DIVISIONS))
        if not 3 <= len(item) <= 4:
            given = "=".join((str(item[0]), ":".join(map(str, item[1:]))))
            raise self.refuse(f"{_clip(given)} is not a range.", "Write name=start:stop or name=start:stop:divisions.")
        name = _one_of(self, item[0], self.names(context), "coordinate or parameter")
        start, stop = (quantity(end, context, self) for end in item[1:3])
        divisions = quantity(item[3], context, self) if len(item) == 4 else DIVISIONS
        if divisions != int(divisions) or not 1 <= divisions <= MAX_DIVISIONS:
            raise self.refuse(
                f"{item[3]} is not a number of divisions.", f"Give a whole number from 1 to {MAX_DIVISIONS}."
            )
        return Range(name, start, stop, int(divisions))


# ------------------------------------------------------------------------------------- reading values


def quantity(value: Any, context: Context, option: Option) -> float:
    """A finite float from a number or from the text of a formula (with unit) in the model's parameters."""
    if isinstance(value, str):
        from core.model.expression import evaluate, parse
        from core.model.wrong_units import misfit

        try:
            if (said := misfit(value, getattr(option, "dimension", "none"))) is not None:
                raise option.refuse(*said)
            value = evaluate(parse(value), context.values)
        except KinetostatError as error:
            raise option.refuse(error.what, error.remedy) from None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise option.refuse(f"{_clip(value)} is not a number.", "Give a number or a formula.") from None
    if isinstance(value, bool) or not math.isfinite(number):
        raise option.refuse(f"{_clip(value)} is not a finite number.", "Give a finite number.")
    return number


def _clip(value: Any) -> str:
    """A value in a message, not longer than a line."""
    shown = repr(value)
    return shown if len(shown) < 60 else shown[:57] + "…"


def _items(value: Any) -> tuple[Any, ...]:
    """Items of a sequence, or of a text with commas; a sequence of one such text counts as that text."""
    if not isinstance(value, str) and isinstance(value, Iterable):
        items = tuple(value)
        if len(items) != 1 or not isinstance(items[0], str):
            return items
        value = items[0]
    text = str(value).strip().strip("()[]")
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _pair(option: Option, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise option.refuse(f"{_clip(text)} is not of the form name=value.", "Write a name, = and a value.")
    return name.strip(), value.strip()


def _one_of(option: Option, value: Any, names: Sequence[str], word: str) -> str:
    if value in names:
        return str(value)
    close = difflib.get_close_matches(str(value), names, 3, 0.5)
    remedy = f"Did you mean {', '.join(close)}?" if close else f"Use one of {_list(names)}."
    raise option.refuse(f"There is no {word} {_clip(value)}.", remedy)


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(names[:12])
    return f"{shown} …" if len(names) > 12 else shown or "(none)"


def _range_text(minimum: float, maximum: float) -> str:
    if math.isinf(minimum):
        return f"at most {maximum:g}" if not math.isinf(maximum) else "any number"
    return f"at least {minimum:g}" if math.isinf(maximum) else f"{minimum:g} … {maximum:g}"
