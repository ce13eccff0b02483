"""Kinds of element fields: one table for validation, files, property editor and help.

An element is a frozen dataclass deriving from `Element`; each field is declared with one of the
functions below (`scalar`, `vector`, `name`, `reference` …), whose *kind* coerces and validates values.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import re
from abc import ABCMeta
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

from core.errors import ExpressionError, ModelError, find_likely_names, suggest_names
from core.kinds import PACKAGE_REMEDY, load_installed_kind
from core.later import dataclass
from core.model.formula.expression import parse
from core.model.plain_lists import is_list, plain_value

Value = float | str
"""A number in SI units, or the text of an expression in the model's parameters."""

Vector = tuple[Value, Value, Value]

Rule = Callable[[tuple[Any, ...], Any, "int | None"], str]
"""rule(owners, model, index): the dimension of a number field of the last owner (`core.model.dimensions`)."""

_NAME = re.compile(r"(?=.*[^\W\d])\w[\w\-]*(?:[./:|][\w\-]+)*")
MAX_NAME = 200
MAX_SIGNAL = 4000


@dataclass(frozen=True)
class FieldKind:
    """Kind of value that a field takes. `coerce` returns the stored form or raises ModelError."""

    def coerce(self, value: Any) -> Any:
        return value


@dataclass(frozen=True)
class ScalarKind(FieldKind):
    """A number in SI or an expression; `dimension` is a key of `units.SI`; `by`, if given, is the rule of
    `core.model.dimensions` that determines the dimension from other fields; optional fields may be None."""

    dimension: str = "none"
    optional: bool = False
    by: Rule | None = None

    def coerce(self, value: Any) -> Value | None:
        if value is None and self.optional:
            return None
        return coerce_value(value)


@dataclass(frozen=True)
class VectorKind(FieldKind):
    """Several numbers. `sizes` are the allowed counts; if empty, any count is allowed and a single number needs no
    brackets. `spelled` converts alternative notations to numbers."""

    dimension: str = "none"
    sizes: tuple[int, ...] = (3,)
    labels: tuple[str, ...] = ("x", "y", "z")
    by: Rule | None = None
    spelled: Callable[[Any], Any] | None = None

    def coerce(self, value: Any) -> tuple[Value, ...]:
        value = self.spelled(value) if self.spelled is not None else value
        plain = type(value) is tuple and {*map(type, value)} == {float} and all(map(math.isfinite, value))
        if plain and (not self.sizes or len(value) in self.sizes):
            return tuple(value)  # as files, defaults and edits have them
        single = not self.sizes and not is_list(value)
        items = (value,) if single else _coerce_sequence(value)
        if self.sizes and len(items) not in self.sizes:
            wanted = " or ".join(map(str, self.sizes))
            raise ModelError(f"{wanted} numbers are needed, {len(items)} given.", remedy=f"Give {wanted} numbers.")
        return tuple([x if type(x) is float and math.isfinite(x) else coerce_value(x) for x in items])


@dataclass(frozen=True)
class FormulaKind(ScalarKind):
    """A number, or a formula that may also use time and, if `states`, coordinates, speeds and sensors.

    `own` names what the element itself brings (`length`, `rate` …).
    """

    states: bool = True
    own: tuple[str, ...] = ("length", "rate")


@dataclass(frozen=True)
class FormulaVectorKind(VectorKind):
    """Several numbers or formulas of time, coordinates, speeds and sensors."""


@dataclass(frozen=True)
class NameKind(FieldKind):
    """The element's own name."""

    def coerce(self, value: Any) -> str:
        return check_name(value)


@dataclass(frozen=True)
class ReferenceKind(FieldKind):
    """The name of another element; `target` is "body", "frame" (a body or a frame), "point" (these or a junction),
    "joint", "material", "sensor" or "force"."""

    target: str = "frame"
    optional: bool = False

    def coerce(self, value: Any) -> str:
        if value in (None, "") and self.optional:
            return ""
        return check_name(value)


@dataclass(frozen=True)
class ChoiceKind(FieldKind):
    """One of a few words, or of the words of a table that may grow."""

    among: Collection[str] = dataclasses.field(default=(), hash=False)

    @property
    def options(self) -> tuple[str, ...]:
        """Return the words available now."""
        return tuple(self.among)

    def coerce(self, value: Any) -> str:
        if value not in self.among:
            close = find_likely_names(value, self.options) if isinstance(value, str) else []
            remedy = f"Did you mean {', '.join(close)}?" if close else "Choose one of these."
            raise ModelError(f"'{value}' is not one of {', '.join(self.options)}.", remedy=remedy)
        return str(value)


@dataclass(frozen=True)
class FamilyKind(ChoiceKind):
    """Name of a kind in a family, or a name read from a file, whose kind may be installed later."""

    def coerce(self, value: Any) -> str:
        if isinstance(value, str) and value not in self.among:
            trouble = load_installed_kind(value)
            if value in _named_by_files:
                return value
            if trouble:
                raise ModelError(trouble, remedy=PACKAGE_REMEDY)
        return super().coerce(value)

    def allow_unknown_kind(self, value: str) -> None:
        """Accept the name of an unknown kind found in a file. Raises ModelError if it is not a valid name."""
        if value not in self.among:
            _named_by_files.add(check_name(value))


_named_by_files: set[str] = set()
"""Kinds that files named although they were unknown when read."""


@dataclass(frozen=True)
class TextKind(FieldKind):
    """Free text (`role` "text"), or the path or URI of a file (`role` "file")."""

    role: str = "text"

    def coerce(self, value: Any) -> str:
        if not isinstance(value, str):
            raise ModelError(f"A string is needed, not {_format_value(value)}.", remedy="Write a string.")
        return value


@dataclass(frozen=True)
class SignalKind(TextKind):
    """Names of quantities of the machine, or a formula of them (`core.model.signal_texts`). Renaming an element updates
    them. An unknown name is only reported as a finding, because requirements remain when an element is deleted.
    `optional`: may be empty."""

    optional: bool = False

    def coerce(self, value: Any) -> str:
        text = super().coerce(value).strip()
        if not text and self.optional:
            return text
        if not text or len(text) > MAX_SIGNAL:
            what = "A quantity is missing." if not text else f"A quantity has at most {MAX_SIGNAL} characters."
            raise ModelError(what, remedy="Name one, such as joint.q, joint.tau or a parameter.")
        return text


@dataclass(frozen=True)
class FlagKind(FieldKind):
    """True or false."""

    def coerce(self, value: Any) -> bool:
        value = plain_value(value)
        if not isinstance(value, bool):
            raise ModelError(f"true or false is needed, not {_format_value(value)}.", remedy="Write true or false.")
        return value


@dataclass(frozen=True)
class ColorKind(FieldKind):
    """Red, green, blue, opacity in 0 … 1, or None for the default colour."""

    def coerce(self, value: Any) -> tuple[float, ...] | None:
        if value is None:
            return None
        items = _coerce_sequence(value)
        if len(items) == 3:
            items = (*items, 1.0)
        if len(items) != 4:
            raise ModelError("A colour has 3 or 4 numbers: red, green, blue, opacity.", remedy="Give 3 or 4 numbers.")
        return tuple(min(1.0, max(0.0, coerce_float(item))) for item in items)


@dataclass(frozen=True)
class NestedElementKind(FieldKind):
    """One nested element of type `element` (or None if optional)."""

    element: Any = None
    optional: bool = False

    def coerce(self, value: Any) -> Any:
        if value is None and self.optional:
            return None
        return _coerce_element(self.element, value)


@dataclass(frozen=True)
class NestedElementsKind(FieldKind):
    """A tuple of nested elements of type `element` (a class or a union of classes)."""

    element: Any = None

    def coerce(self, value: Any) -> tuple[Any, ...]:
        if type(value) is tuple and {*map(type, value)} == {self.element}:
            return value
        if not is_list(value):
            wanted = _noun_with_article(self.element).lower()
            raise ModelError(f"A list is needed, not {_format_value(value)}.", remedy=f"Put {wanted} in brackets.")
        items = tuple(value)
        if (single := self.element_from_list(items)) is not None:
            return (single,)
        return tuple(_coerce_element(self.element, item) for item in items)

    def element_from_list(self, items: tuple[Any, ...]) -> Any:
        """Return the nested element for a list of plain numbers, such as [lower, upper] for a limit; None if there is
        none."""
        numbers = items and not any(is_list(item) or isinstance(item, Element | dict) for item in items)
        of_list = getattr(self.element, "of_list", None)
        return of_list(items) if numbers and of_list is not None else None


# --------------------------------------------------------------------------------- declaring fields


def scalar(
    dimension: str = "none",
    default: Value | None = 0.0,
    help: str = "",
    *,
    by: Rule | None = None,
    required: bool = False,
) -> Any:
    """Declare a number or expression with a given dimension, or one determined by a rule; a default of None makes the
    field optional."""
    return _declared_field(ScalarKind(dimension, default is None, by), help, default, required)


def vector(
    dimension: str = "none",
    default: Sequence[Value] = (0.0, 0.0, 0.0),
    help: str = "",
    *,
    sizes: tuple[int, ...] = (3,),
    labels: tuple[str, ...] = ("x", "y", "z"),
    by: Rule | None = None,
    spelled: Callable[[Any], Any] | None = None,
) -> Any:
    """Declare several numbers or expressions; `sizes=()` allows any count, `spelled` alternative notations."""
    return _declared_field(VectorKind(dimension, sizes, labels, by, spelled), help, tuple(default))


def formula(
    dimension: str = "none",
    default: Value | Sequence[Value] | None = None,
    help: str = "",
    *,
    states: bool = True,
    own: tuple[str, ...] = FormulaKind.own,
    by: Rule | None = None,
) -> Any:
    """Declare a number or formula (or three) of time and, if `states`, of coordinates, speeds and sensors."""
    if isinstance(default, tuple):
        return _declared_field(FormulaVectorKind(dimension), help, default)
    return _declared_field(FormulaKind(dimension, default is None, by, states, own), help, default)


def name(help: str = "Unique name") -> Any:
    """Declare the element's name."""
    return _declared_field(NameKind(), help, required=True)


def reference(target: str, help: str = "", *, optional: bool = False) -> Any:
    """Declare a reference to another element by name."""
    return _declared_field(ReferenceKind(target, optional), help, "", required=not optional)


def choice(among: Collection[str], help: str = "", default: str | None = None) -> Any:
    """Declare one of a few words."""
    return _declared_field(ChoiceKind(among), help, default, required=default is None)


def kind_of_family(family: Collection[str], help: str, default: str) -> Any:
    """Declare the name of a kind of a family."""
    return _declared_field(FamilyKind(family), help, default)


def text(help: str = "", default: str = "", *, role: str = "text") -> Any:
    """Declare free text or a file path."""
    return _declared_field(TextKind(role), help, default)


def signal(help: str = "", *, optional: bool = False) -> Any:
    """Declare quantities of the machine by name, or a formula of them."""
    return _declared_field(SignalKind(optional=optional), help, "", required=not optional)


def flag(help: str = "", default: bool = False) -> Any:
    """Declare a value that is true or false."""
    return _declared_field(FlagKind(), help, default)


def color(help: str = "Red, green, blue, opacity; empty for the default") -> Any:
    """Declare a colour or None."""
    return _declared_field(ColorKind(), help, None)


def part(element: Any, help: str = "", default: Any = None) -> Any:
    """Declare a nested element; without a default the field is optional."""
    return _declared_field(NestedElementKind(element, default is None), help, default)


def parts(element: Any, help: str = "") -> Any:
    """Declare a tuple of nested elements."""
    return _declared_field(NestedElementsKind(element), help, ())


def _declared_field(kind: FieldKind, help: str, default: Any = None, required: bool = False) -> Any:
    metadata = {"kind": kind, "help": help}
    if required:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


class Field(NamedTuple):
    """A declared field, as used by editors and files."""

    name: str
    kind: FieldKind
    help: str
    default: Any
    required: bool


_declared: dict[type, tuple[Field, ...]] = {}


def declared_fields(element: type) -> tuple[Field, ...]:
    """Return the declared fields of an element type, in order."""
    found = _declared.get(element)
    if found is None:
        found = _declared[element] = tuple(
            Field(f.name, f.metadata["kind"], f.metadata["help"], f.default, f.default is dataclasses.MISSING)
            for f in dataclasses.fields(element)
            if "kind" in f.metadata
        )
    return found


class ElementType(ABCMeta):
    """Metaclass of elements; it reports unknown or missing fields as a ModelError, as in files."""

    def __call__(cls, *given: Any, **fields: Any) -> Any:
        try:
            return super().__call__(*given, **fields)
        except TypeError:
            if (error := _find_argument_error(cls, given, fields)) is not None:
                raise error from None
            raise


def _find_argument_error(element: Any, positional: tuple[Any, ...], fields: Mapping[str, Any]) -> ModelError | None:
    """Return the error about invalid arguments to an element's constructor; None if they are valid."""
    where = _element_title(element, fields.get("name", ""))
    known = {field.name: field for field in dataclasses.fields(element)}
    if positional:
        example = f"{element.__name__}({next(iter(known))}={_format_value(positional[0])}, …)"
        return ModelError(
            "The fields of an element must be given by name.", where=where, remedy=f"For example {example}."
        )
    for name in fields:
        if name not in known:
            return ModelError(f"'{name[:60]}' is not a known field.", where=where, remedy=suggest_names(name, known))
    for field in declared_fields(element):
        if field.required and field.name not in fields:
            meaning = f"{field.help[:1].lower()}{field.help[1:]}"
            return ModelError(f"'{field.name}' is missing.", where=where, remedy=f"Add {field.name}: {meaning}.")
    return None


def _element_title(element: type, name: object) -> str:
    return f"{element.__name__.lower()} {name!r}".replace(" ''", "")


@dataclass(frozen=True)
class Element(metaclass=ElementType):
    """Base class of everything in a document: an immutable value whose fields are validated on construction."""

    forms: ClassVar[str] = ""
    """Description, for messages, of the lists that are accepted in place of such an element."""
    meaning: ClassVar[str] = ""
    """Description of such an element for the help; used for collections that state requirements on the machine."""

    @property
    def summary(self) -> str:
        """Return a few words shown next to the element's name in lists."""
        return ""

    @classmethod
    def of_list(cls, items: tuple[Any, ...]) -> Any:
        """Return the element for a plain list, if the size of the list is unambiguous; None otherwise."""
        return None

    def __post_init__(self) -> None:
        for field in _declared.get(type(self)) or declared_fields(type(self)):
            value = getattr(self, field.name)
            kind = field.kind
            if (
                (type(value) is float and type(kind) is ScalarKind and math.isfinite(value))
                or (value is field.default and (type(self), field.name) in _kept)
                or (type(kind) is NestedElementKind and type(value) is kind.element)
            ):
                continue  # most values of most elements; the check would change nothing
            try:
                coerced = kind.coerce(value)
            except (ModelError, ExpressionError) as error:
                where = f"{_element_title(type(self), getattr(self, 'name', ''))}, {field.name}"
                raise ModelError(error.what, where=where, remedy=error.remedy) from None
            if coerced is not value:
                object.__setattr__(self, field.name, coerced)
            elif value is field.default:
                _kept.add((type(self), field.name))
        self.validate()

    def validate(self) -> None:
        """Check relations between fields. Raises ModelError."""


# ------------------------------------------------------------------------------------- coercion


def coerce_value(value: Any) -> Value:
    """Return a float, or the text of a valid expression (text that is a plain number becomes a float)."""
    if isinstance(value, str):
        stripped = value.strip()
        parse(stripped)
        try:
            value = float(stripped)
        except ValueError:
            return stripped
    if type(value) is float and math.isfinite(value):  # nearly all numbers of files and edits
        return value
    return coerce_float(value)


def coerce_float(value: Any) -> float:
    """Return a finite float."""
    value = plain_value(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ModelError(f"A number or a formula is needed, not {_format_value(value)}.", remedy="Give a number.")
    number = float(value)
    if not math.isfinite(number):
        raise ModelError(f"{number} is not a finite number.", remedy="Give a finite number.")
    return number


def check_name(value: Any) -> str:
    """Return a valid name: letters, digits, _ and -, not digits alone, optionally several parts joined by . / :
    or |."""
    if isinstance(value, str) and len(value) <= MAX_NAME and _NAME.fullmatch(value):
        return str(value)
    raise ModelError(
        f"{_format_value(value)} is not a valid name.",
        remedy="Use letters, digits, _ and -, and not digits alone.",
    )


def _format_value(value: Any) -> str:
    text = f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else repr(value)
    return text if len(text) < 60 else text[:57] + "…"


def _noun_with_article(element: Any) -> str:
    """Return the noun for a class of elements in messages: "a shape"."""
    word = getattr(element, "__name__", "part").lower()
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}".capitalize()


def _coerce_sequence(value: Any) -> tuple[Any, ...]:
    if type(value) is tuple:
        return value
    if not is_list(value):
        raise ModelError(f"A list of numbers is needed, not {_format_value(value)}.", remedy="Write it as [a, b, c].")
    return tuple(plain_value(value))


def _coerce_element(kind: Any, value: Any) -> Any:
    """Return an element of a class, or of one of several classes, from an element or from a plain list."""
    if isinstance(value, kind):
        return value
    if isinstance(kind, type) and issubclass(kind, Element) and is_list(value):
        made = kind.of_list(tuple(plain_value(value)))
        if made is not None:
            return made
    if isinstance(value, float | int | str) and (of_number := getattr(kind, "of_number", None)) is not None:
        return of_number(value)
    forms = getattr(kind, "forms", "")
    remedy = f"Give one, or {forms}." if forms else "Give one."
    raise ModelError(f"{_noun_with_article(kind)} is needed, not {_format_value(value)}.", remedy=remedy)


_kept: set[tuple[type, str]] = set()
"""Element classes, and their fields whose default is stored as declared."""
_with_parts: dict[type, tuple[str, ...]] = {}
"""Element class → its fields that hold nested elements."""


def nested_elements(element: Element) -> list[Element]:
    """Return the element and all nested elements, depth first."""
    found, waiting = [], [element]
    while waiting:
        each = waiting.pop()
        found.append(each)
        names = _with_parts.get(type(each))
        if names is None:
            own = (
                field.name
                for field in declared_fields(type(each))
                if isinstance(field.kind, NestedElementKind | NestedElementsKind)
            )
            names = _with_parts[type(each)] = tuple(own)
        parts: list[Element] = []
        for name in names:
            value = getattr(each, name)
            if value is not None:
                parts += value if isinstance(value, tuple) else (value,)
        waiting += reversed(parts)
    return found


AnyElement = TypeVar("AnyElement", bound=Element)


def map_elements(element: AnyElement, change: Callable[[Element], Mapping[str, Any]]) -> AnyElement:
    """Return the element with the fields returned by `change(part)` replaced, in the element and in all nested
    elements.

    Elements without a change are kept as they are (the same object).
    """
    changes: dict[str, Any] = {}
    for field in declared_fields(type(element)):
        old = getattr(element, field.name)
        new = old
        if isinstance(old, Element):
            new = map_elements(old, change)
        elif isinstance(field.kind, NestedElementsKind):
            new = tuple(map_elements(item, change) for item in old)
            if all(a is b for a, b in zip(old, new, strict=True)):
                new = old
        if new is not old:
            changes[field.name] = new
    changes.update(change(element))
    return dataclasses.replace(element, **changes) if changes else element
