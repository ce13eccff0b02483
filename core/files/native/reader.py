"""Reader of the native format: YAML that users can write by hand (see docs/native_file.md).

What may stand where comes from one table, `core.model.fields.fields_of`; nothing about single elements is
said here. Files of older versions are migrated first, one version at a time: a migration takes the tree of a file of
version n and returns the tree of version n + 1; lines are kept, so that messages still point into the user's file.

Version 0 (the draft): collections were lists of entries with a `name`; gravity stood at the top as a vector. Version 1:
collections are mappings name → fields; gravity is a part of `world`.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from core.errors import ExpressionError, FileError, ModelError, near_misses
from core.files.native.yaml_tree import NULLS, Entries, Items, Node, Text, tree_of
from core.files.source import Options, Reading, Source
from core.model import (
    COLLECTIONS,
    SHAPE_TYPES,
    WORDS,
    Annotation,
    Finding,
    Mesh,
    Model,
    Parameter,
    Setting,
    Shape,
    SubAssembly,
)
from core.model.fields import (
    ColorKind,
    Element,
    FamilyKind,
    Field,
    FlagKind,
    FormulaKind,
    FormulaVectorKind,
    Kind,
    PartKind,
    PartsKind,
    ScalarKind,
    VectorKind,
    fields_of,
)
from core.model.units import with_compound_unit

VERSION = 1
"""Version that is written."""

_NAMED = ("parameters", "materials", "bodies", "frames", "joints", "chains")


def _from_0(tree: Entries) -> Entries:
    items = dict(tree.items)
    for collection in _NAMED:
        line, node = items.get(collection, (0, None))
        if isinstance(node, Items):
            items[collection] = (line, _entries_by_name(node))
    if "gravity" in items:
        line, vector = items.pop("gravity")
        gravity = Entries({"acceleration": (line, vector)}, line)
        items["world"] = (line, Entries({"gravity": (line, gravity)}, line))
    return Entries(items, tree.line)


def _entries_by_name(node: Items) -> Entries:
    items: dict[str, tuple[int, Node]] = {}
    for item in node.items:
        name = item.items.get("name", (0, None))[1] if isinstance(item, Entries) else None
        if not isinstance(item, Entries) or not isinstance(name, Text):
            raise FileError("This entry has no name.", line=item.line, remedy="Add name: …")
        if name.value in items:
            raise FileError(f"'{name.value}' is given twice.", line=item.line, remedy="Rename one of them.")
        fields = {key: value for key, value in item.items.items() if key != "name"}
        items[name.value] = (name.line, Entries(fields, item.line))
    return Entries(items, node.line)


MIGRATIONS: dict[int, Callable[[Entries], Entries]] = {0: _from_0}


def migrated(
    tree: Entries, version: int, to: int = VERSION, steps: dict[int, Callable[[Entries], Entries]] | None = None
) -> Entries:
    """Return the tree converted to version `to`. Raises FileError if a step is missing."""
    steps = MIGRATIONS if steps is None else steps
    for number in range(version, to):
        if number not in steps:
            raise FileError(
                f"Files of version {number} can no longer be read.",
                line=tree.line,
                remedy="Open it with an older release and save it again.",
            )
        tree = steps[number](tree)
    return tree


HEADER = "kinetostat"
_QUOTED = re.compile(r"'([^']*)'")
_HIDDEN = {"name"}
"""Fields written as the key of a mapping, not inside it."""


def read_native(source: Source, options: Options) -> Reading:
    """The model of a native text. Raises FileError naming line, component and field."""
    tree = tree_of(source)
    try:
        build = _Builder(source.file, options)
        model = build.model(_checked_version(tree))
        return Reading(model, (*truncation_finding(source), *build.findings, *build.missing_meshes(model)))
    except FileError as error:
        error.file = error.file or source.file
        raise


def truncation_finding(source: Source) -> tuple[Finding, ...]:
    """Return a finding if a file ends within a line: the writer ends every line, so the rest may be lost, leaving a
    valid file of a smaller machine."""
    if source.decoded or source.data.endswith(b"\n"):
        return ()
    line = source.data.count(b"\n") + 1
    text, remedy = (
        "The last line of the file is incomplete: the file may be truncated.",
        "Compare it with a backup copy.",
    )
    return (Finding("warning", text, remedy, file=source.file, line=line),)


def _checked_version(tree: Node) -> Entries:
    """Return the tree in the current version, without its header."""
    if not isinstance(tree, Entries) or HEADER not in tree.items:
        raise FileError("This is not a Kinetostat file.", line=1, remedy=f"It begins with '{HEADER}: {VERSION}'.")
    line, header = tree.items[HEADER]
    text = header.value.strip() if isinstance(header, Text) else ""
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        raise FileError(
            "The version must be a whole number.", where=HEADER, line=line, remedy=f"Write '{HEADER}: {VERSION}'."
        )
    version = int(text)
    if version > VERSION:
        raise FileError(
            f"The file has version {version}; this program supports versions up to {VERSION}.",
            where=HEADER,
            line=line,
            remedy="Open it with a newer release.",
        )
    rest = Entries({key: value for key, value in tree.items.items() if key != HEADER}, tree.line)
    return migrated(rest, version)


class _Builder:
    """Builder of elements from YAML nodes; remembers the line of every component and field for messages."""

    def __init__(self, file: str, options: Options) -> None:
        self.file = file
        self.options = options
        self.findings: list[Finding] = []
        self.lines: dict[str, int] = {}
        self.texts: list[tuple[str, str, int]] = []
        """(component and field, text, line) of every single value."""
        self.brought = 0
        """Bodies of imported machines so far."""
        self.parameters: frozenset[str] = frozenset()

    # ------------------------------------------------------------------------------- the model

    def model(self, tree: Entries) -> Model:
        fields: dict[str, Any] = {}
        known = {field.name: field for field in fields_of(Model)}
        _, parameters = tree.items.get("parameters", (0, None))
        self.parameters = frozenset(parameters.items) if isinstance(parameters, Entries) else frozenset()
        for key, (line, node) in tree.items.items():
            field = known.get(key)
            if field is None:
                raise self.unknown_key_error(key, line, "", known)
            if isinstance(node, Text) and node.empty:
                continue
            if key in COLLECTIONS:
                fields[key] = self.collection(key, node)
            elif key == "annotations":
                fields[key] = tuple(
                    self.element(Annotation, n, "annotations") for n in _list_items(node, "annotations")
                )
            else:
                fields[key] = self.value(field, node, key, line)
        try:
            return Model(**fields, origin=self.file)
        except ModelError as error:
            raise self.located_error(error, 1) from None

    def collection(self, key: str, node: Node) -> tuple[Any, ...]:
        word, kind = WORDS[key], COLLECTIONS[key]
        if not isinstance(node, Entries):
            raise FileError(
                f"'{key}' needs entries of the form 'name: …'.",
                where=key,
                line=node.line,
                remedy=f"Give every {word} a name followed by a colon.",
            )
        elements = []
        for name, (line, inner) in node.items.items():
            where = f"{word} '{name[:80]}'"
            self.lines[where] = line
            element = self.element(kind, inner, where, line, {"name": name})
            elements.append(self.with_imported_machine(element, where, line) if key == "assemblies" else element)
        return tuple(elements)

    # ------------------------------------------------------------------------------- elements

    def element(self, kind: Any, node: Node, where: str, line: int = 0, given: dict[str, Any] | None = None) -> Any:
        """Return an element of a class built from a mapping (or, for `Shape`, from `word: mapping`)."""
        given = given or {}
        line = line or node.line
        if isinstance(kind, types.UnionType) or kind is Shape or typing.get_origin(kind) is typing.Union:
            kind, node = self.shape(node, where)
        if isinstance(node, Text) and node.empty:
            node = Entries({}, node.line)
        if kind is Parameter and isinstance(node, Text):
            node = Entries({"value": (node.line, node)}, node.line)
        if not isinstance(node, Entries):
            raise FileError(
                "Fields of the form 'name: value' are needed here.",
                where=where,
                line=node.line,
                remedy=f"Fields: {', '.join(_field_names(kind))}.",
            )
        known = {field.name: field for field in fields_of(kind) if field.name not in given}
        values = dict(given)
        for key, (at, inner) in node.items.items():
            if key not in known:
                raise self.unknown_key_error(key, at, where, known)
            self.lines[f"{where}, {key}"] = at
            if not (type(inner) is Text and inner.plain and inner.value in NULLS):
                values[key] = self.value(known[key], inner, f"{where}, {key}", at)
        for field in known.values():
            if field.required and field.name not in values:
                raise FileError(
                    f"'{field.name}' is missing.",
                    where=where,
                    line=line,
                    remedy=f"Add {field.name}: {field.help[:1].lower()}{field.help[1:]}.",
                )
        try:
            return kind(**values)
        except (ModelError, ExpressionError) as error:
            raise self.located_error(error, line, where) from None

    def shape(self, node: Node, where: str) -> tuple[type[Shape], Node]:
        if isinstance(node, Entries) and len(node.items) == 1:
            word, (line, inner) = next(iter(node.items.items()))
            if word in SHAPE_TYPES:
                return SHAPE_TYPES[word], inner
            raise self.unknown_key_error(word, line, where, SHAPE_TYPES, "shape")
        raise FileError(
            "A shape must be written as '- box: {size: [1, 1, 1]}'.",
            where=where,
            line=node.line,
            remedy=f"Shapes: {', '.join(SHAPE_TYPES)}.",
        )

    def with_imported_machine(self, made: SubAssembly, where: str, line: int) -> SubAssembly:
        """Return a sub-assembly with the machine read from its file."""
        from core.files.assemblies import MOST_BODIES, body_count, with_content

        try:
            filled, findings = with_content(made, self.file, self.options)
        except FileError as error:
            if not error.file:
                error.line = self.lines.get(error.where, line)
            raise
        except ModelError as error:
            raise self.located_error(error, line, where) from None
        self.findings += findings
        self.brought += body_count(filled.content)
        if self.brought > MOST_BODIES:
            raise FileError(
                f"The imported machines have more than {MOST_BODIES} bodies together.",
                file=self.file,
                line=line,
                where=where,
                remedy="Import fewer of them.",
            )
        return filled

    # ------------------------------------------------------------------------------- fields

    def value(self, field: Field, node: Node, where: str, line: int) -> Any:
        """Return a field's value, checked by its kind."""
        kind = field.kind
        if type(kind) is ScalarKind and type(node) is Text and _is_number(node.value):
            self.texts.append((where, node.value, node.line))
            return float(node.value)
        if self.is_short_form(kind, node):
            return self.stored_value(kind, self.nested_texts(node, where), node, where)
        if isinstance(kind, PartKind):
            return self.element(kind.element, node, where, line)
        if isinstance(kind, PartsKind):
            if kind.element is Setting and isinstance(node, Entries):
                return self.settings(node, where)
            return tuple(
                self.element(kind.element, item, f"{where} {number}", item.line)
                for number, item in enumerate(_list_items(node, where), 1)
            )
        raw: Any
        if isinstance(kind, VectorKind | ColorKind):
            single = isinstance(kind, VectorKind) and not kind.sizes and isinstance(node, Text)
            items = (node,) if single else _list_items(node, where)
            raw = self.vector_components(kind, items, where)
        elif isinstance(kind, FlagKind):
            raw = {"true": True, "false": False}.get(
                self.single_text(node, where).lower(), self.single_text(node, where)
            )
        else:
            raw = (
                self.number_text(kind, node, where).strip()
                if isinstance(kind, ScalarKind)
                else self.single_text(node, where)
            )
        return self.stored_value(kind, raw, node, where)

    def stored_value(self, kind: Kind, raw: Any, node: Node, where: str) -> Any:
        """Convert a raw value of the file to the value that a field stores."""
        try:
            if isinstance(kind, FamilyKind):
                kind.keep(raw)
            return kind.coerce(raw)
        except (ModelError, ExpressionError) as error:
            raise FileError(error.what, where=where, remedy=error.remedy, line=node.line) from None

    def is_short_form(self, kind: Kind, node: Node) -> bool:
        """Return True if a node is the short form of an element or vector (a list, or a text)."""
        if isinstance(kind, VectorKind):
            if kind.spelled is None:
                return False
            return isinstance(node, Text) or (isinstance(node, Items) and Items in map(type, node.items))
        if not isinstance(node, Items) or not getattr(getattr(kind, "element", None), "forms", ""):
            return False
        return isinstance(kind, PartKind) or any(not isinstance(item, Entries) for item in node.items)

    def nested_texts(self, node: Node, where: str) -> Any:
        """Return the texts of a list and of nested lists."""
        if isinstance(node, Items):
            return tuple(self.nested_texts(item, where) for item in node.items)
        return self.single_text(node, where)

    def settings(self, node: Entries, where: str) -> tuple[Setting, ...]:
        """Return the settings in a mapping of `name: value`."""
        return tuple(
            self.element(Setting, Entries({"value": (line, inner)}, line), f"{where} {name}", line, {"parameter": name})
            for name, (line, inner) in node.items.items()
        )

    def single_text(self, node: Node, where: str) -> str:
        """Return a single value as text."""
        if not isinstance(node, Text):
            raise FileError(
                "A single value is needed here.",
                where=where,
                line=node.line,
                remedy="Remove the brackets or the indented lines.",
            )
        self.texts.append((where, node.value, node.line))
        return node.value

    def vector_components(self, kind: VectorKind | ColorKind, items: Iterable[Node], where: str) -> tuple[Any, ...]:
        """Return the components of a vector; those of a colour are plain numbers."""
        found: list[Any] = []
        for item in items:
            if isinstance(item, Text) and _is_number(item.value):  # nearly all of them
                self.texts.append((where, item.value, item.line))
                found.append(float(item.value) if isinstance(kind, ColorKind) else item.value)
            else:
                text = self.number_text(kind, item, where)
                found.append(_float_or_text(text) if isinstance(kind, ColorKind) else text)
        return tuple(found)

    def number_text(self, kind: Any, node: Node, where: str) -> str:
        """Return the text of a number; values with a compound unit are converted to SI (except in formulas of time and
        state, where t and others are variables)."""
        text = self.single_text(node, where)
        if isinstance(kind, FormulaKind | FormulaVectorKind | ColorKind) or _is_number(text):
            return text
        try:
            return with_compound_unit(text, kind.dimension, self.parameters)
        except FileError as error:
            raise FileError(error.what, where=where, remedy=error.remedy, line=node.line) from None

    # ------------------------------------------------------------------------------- messages

    def missing_meshes(self, model: Model) -> Iterator[Finding]:
        """Yield a finding for every missing mesh file (those of sub-assemblies are reported by their readers)."""
        from core.files.meshes.lookup import problem_of

        brought = {body.name for assembly in model.assemblies for body in assembly.brought["bodies"]}
        for body in (b for b in model.expanded.bodies if b.name not in brought):
            for shape in body.shapes:
                if not isinstance(shape, Mesh):
                    continue
                problem = problem_of(shape.file, self.file, self.options.packages)
                if problem is not None:
                    line = self.lines.get(f"body '{body.name}', shapes")
                    yield Finding("warning", *problem, "bodies", body.name, "shapes", self.file, line)

    def line_of(self, error: ModelError | ExpressionError, where: str) -> int | None:
        """Return the line of the field named by an error; inside nested elements, the line of the value it quotes."""
        component, _, field = error.where.rpartition(", ")
        quoted = set(_QUOTED.findall(error.what))
        for place, text, line in self.texts:
            if text in quoted and place.startswith(f"{component}, ") and place.endswith(f", {field}"):
                return line
        for candidate in (error.where, f"{where}, {field}", component):
            if candidate in self.lines:
                return self.lines[candidate]
        return None

    def unknown_key_error(
        self, key: str, line: int, where: str, known: Iterable[str], word: str = "field"
    ) -> FileError:
        known = [name for name in known if name not in _HIDDEN or not where]
        return FileError(f"'{key[:60]}' is not a known {word}.", where=where, line=line, remedy=near_misses(key, known))

    def located_error(self, error: ModelError | ExpressionError, line: int, where: str = "") -> FileError:
        """Return the error with the line of the component it names, as closely as known."""
        place = where if where and not error.where.startswith(where) else error.where
        line = self.line_of(error, where) or line
        return FileError(error.what, where=place or error.where, remedy=error.remedy, line=line)


_is_number = re.compile(r"\s*[-+]?\d+(\.\d*)?([eE][-+]?\d{1,2})?\s*").fullmatch
"""Match a text that is a number without a unit, the most frequent case."""


def _float_or_text(text: str) -> float | str:
    """Return the number that a text is, in any notation of Python; otherwise the text."""
    try:
        return float(text)
    except ValueError:
        return text


def _field_names(kind: type[Element]) -> list[str]:
    return [field.name for field in fields_of(kind)]


def _list_items(node: Node, where: str) -> tuple[Node, ...]:
    if isinstance(node, Text) and node.empty:
        return ()
    if not isinstance(node, Items):
        raise FileError(
            "A list is needed here.",
            where=where,
            line=node.line,
            remedy="Write it as [a, b, c] or with one '- ' line per entry.",
        )
    return node.items
