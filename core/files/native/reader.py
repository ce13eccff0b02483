"""Reader of the native format: YAML that users can write by hand (see docs/native_file.md).

What may stand where comes from one table, `core.model.fields.declared_fields`; nothing about single elements is
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

from core.errors import ExpressionError, FileError, ModelError, suggest_names
from core.files.native.yaml_tree import NULLS, ListNode, MappingNode, Node, ScalarNode, parse_yaml
from core.files.source import ReadOptions, ReadResult, Source
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
    FieldKind,
    FlagKind,
    FormulaKind,
    FormulaVectorKind,
    NestedElementKind,
    NestedElementsKind,
    ScalarKind,
    VectorKind,
    declared_fields,
)
from core.model.units import convert_compound_unit

VERSION = 1
"""Version that is written."""

_NAMED = ("parameters", "materials", "bodies", "frames", "joints", "chains")


def _migrate_from_version_0(tree: MappingNode) -> MappingNode:
    items = dict(tree.items)
    for collection in _NAMED:
        line, node = items.get(collection, (0, None))
        if isinstance(node, ListNode):
            items[collection] = (line, _entries_by_name(node))
    if "gravity" in items:
        line, vector = items.pop("gravity")
        gravity = MappingNode({"acceleration": (line, vector)}, line)
        items["world"] = (line, MappingNode({"gravity": (line, gravity)}, line))
    return MappingNode(items, tree.line)


def _entries_by_name(node: ListNode) -> MappingNode:
    items: dict[str, tuple[int, Node]] = {}
    for item in node.items:
        name = item.items.get("name", (0, None))[1] if isinstance(item, MappingNode) else None
        if not isinstance(item, MappingNode) or not isinstance(name, ScalarNode):
            raise FileError("This entry has no name.", line=item.line, remedy="Add name: …")
        if name.value in items:
            raise FileError(f"'{name.value}' is given twice.", line=item.line, remedy="Rename one of them.")
        fields = {key: value for key, value in item.items.items() if key != "name"}
        items[name.value] = (name.line, MappingNode(fields, item.line))
    return MappingNode(items, node.line)


MIGRATIONS: dict[int, Callable[[MappingNode], MappingNode]] = {0: _migrate_from_version_0}


def migrate(
    tree: MappingNode,
    version: int,
    target_version: int = VERSION,
    steps: dict[int, Callable[[MappingNode], MappingNode]] | None = None,
) -> MappingNode:
    """Convert the tree to version `target_version`. Raises FileError if a conversion step is missing."""
    steps = MIGRATIONS if steps is None else steps
    for number in range(version, target_version):
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
"""Fields that are written as the key of a mapping instead of inside it."""


def read_native(source: Source, options: ReadOptions) -> ReadResult:
    """Return the model of a native text. Raises FileError naming line, component and field."""
    tree = parse_yaml(source)
    try:
        build = _ElementBuilder(source.file, options)
        model = build.build_model(_migrate_to_current(tree))
        return ReadResult(model, (*find_truncation(source), *build.findings, *build.find_missing_meshes(model)))
    except FileError as error:
        error.file = error.file or source.file
        raise


def find_truncation(source: Source) -> tuple[Finding, ...]:
    """Return a finding if a file ends within a line. The writer ends every line, so the rest may be missing and the
    file may describe an incomplete machine."""
    if source.decoded or source.data.endswith(b"\n"):
        return ()
    line = source.data.count(b"\n") + 1
    text, remedy = (
        "The last line of the file is incomplete: the file may be truncated.",
        "Compare it with a backup copy.",
    )
    return (Finding("warning", text, remedy, file=source.file, line=line),)


def _migrate_to_current(tree: Node) -> MappingNode:
    """Return the tree in the current version, without its header."""
    if not isinstance(tree, MappingNode) or HEADER not in tree.items:
        raise FileError("This is not a Kinetostat file.", line=1, remedy=f"It begins with '{HEADER}: {VERSION}'.")
    line, header = tree.items[HEADER]
    text = header.value.strip() if isinstance(header, ScalarNode) else ""
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
    rest = MappingNode({key: value for key, value in tree.items.items() if key != HEADER}, tree.line)
    return migrate(rest, version)


class _ElementBuilder:
    """Builder of elements from YAML nodes; remembers the line of every component and field for messages."""

    def __init__(self, file: str, options: ReadOptions) -> None:
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

    def build_model(self, tree: MappingNode) -> Model:
        fields: dict[str, Any] = {}
        known = {field.name: field for field in declared_fields(Model)}
        _, parameters = tree.items.get("parameters", (0, None))
        self.parameters = frozenset(parameters.items) if isinstance(parameters, MappingNode) else frozenset()
        for key, (line, node) in tree.items.items():
            field = known.get(key)
            if field is None:
                raise self.unknown_key_error(key, line, "", known)
            if isinstance(node, ScalarNode) and node.is_null:
                continue
            if key in COLLECTIONS:
                fields[key] = self.build_collection(key, node)
            elif key == "annotations":
                fields[key] = tuple(
                    self.build_element(Annotation, n, "annotations") for n in _list_items(node, "annotations")
                )
            else:
                fields[key] = self.build_field_value(field, node, key, line)
        try:
            return Model(**fields, origin=self.file)
        except (ModelError, ExpressionError) as error:
            raise self.add_line_to_error(error, 1) from None

    def build_collection(self, key: str, node: Node) -> tuple[Any, ...]:
        word, kind = WORDS[key], COLLECTIONS[key]
        if not isinstance(node, MappingNode):
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
            element = self.build_element(kind, inner, where, line, {"name": name})
            elements.append(self.import_machine(element, where, line) if key == "assemblies" else element)
        return tuple(elements)

    # ------------------------------------------------------------------------------- elements

    def build_element(
        self, kind: Any, node: Node, where: str, line: int = 0, preset_fields: dict[str, Any] | None = None
    ) -> Any:
        """Return an element of a class built from a mapping (or, for `Shape`, from `word: mapping`)."""
        preset_fields = preset_fields or {}
        line = line or node.line
        if isinstance(kind, types.UnionType) or kind is Shape or typing.get_origin(kind) is typing.Union:
            kind, node = self.find_shape_class(node, where)
        if isinstance(node, ScalarNode) and node.is_null:
            node = MappingNode({}, node.line)
        if kind is Parameter and isinstance(node, ScalarNode):
            node = MappingNode({"value": (node.line, node)}, node.line)
        if not isinstance(node, MappingNode):
            raise FileError(
                "Fields of the form 'name: value' are needed here.",
                where=where,
                line=node.line,
                remedy=f"Fields: {', '.join(_field_names(kind))}.",
            )
        known = {field.name: field for field in declared_fields(kind) if field.name not in preset_fields}
        values = dict(preset_fields)
        for key, (at, inner) in node.items.items():
            if key not in known:
                raise self.unknown_key_error(key, at, where, known)
            self.lines[f"{where}, {key}"] = at
            if not (type(inner) is ScalarNode and inner.plain and inner.value in NULLS):
                values[key] = self.build_field_value(known[key], inner, f"{where}, {key}", at)
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
            raise self.add_line_to_error(error, line, where) from None

    def find_shape_class(self, node: Node, where: str) -> tuple[type[Shape], Node]:
        if isinstance(node, MappingNode) and len(node.items) == 1:
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

    def import_machine(self, assembly: SubAssembly, where: str, line: int) -> SubAssembly:
        """Return a sub-assembly with the machine read from its file."""
        from core.files.assemblies import MOST_BODIES, body_count, read_sub_assembly

        try:
            filled, findings = read_sub_assembly(assembly, self.file, self.options)
        except FileError as error:
            if not error.file:
                error.line = self.lines.get(error.where, line)
            raise
        except ModelError as error:
            raise self.add_line_to_error(error, line, where) from None
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

    def build_field_value(self, field: Field, node: Node, where: str, line: int) -> Any:
        """Return a field's value, checked by its kind."""
        kind = field.kind
        if type(kind) is ScalarKind and type(node) is ScalarNode and _is_number(node.value):
            self.texts.append((where, node.value, node.line))
            return float(node.value)
        if self.is_short_form(kind, node):
            return self.convert_stored_value(kind, self.nested_strings(node, where), node, where)
        if isinstance(kind, NestedElementKind):
            return self.build_element(kind.element, node, where, line)
        if isinstance(kind, NestedElementsKind):
            if kind.element is Setting and isinstance(node, MappingNode):
                return self.build_settings(node, where)
            return tuple(
                self.build_element(kind.element, item, f"{where} {number}", item.line)
                for number, item in enumerate(_list_items(node, where), 1)
            )
        raw: Any
        if isinstance(kind, VectorKind | ColorKind):
            single = isinstance(kind, VectorKind) and not kind.sizes and isinstance(node, ScalarNode)
            items = (node,) if single else _list_items(node, where)
            raw = self.vector_components(kind, items, where)
        elif isinstance(kind, FlagKind):
            raw = {"true": True, "false": False}.get(
                self.scalar_string(node, where).lower(), self.scalar_string(node, where)
            )
        else:
            raw = (
                self.read_number_text(kind, node, where).strip()
                if isinstance(kind, ScalarKind)
                else self.scalar_string(node, where)
            )
        return self.convert_stored_value(kind, raw, node, where)

    def convert_stored_value(self, kind: FieldKind, raw: Any, node: Node, where: str) -> Any:
        """Convert a raw value of the file to the value that a field stores."""
        try:
            if isinstance(kind, FamilyKind):
                kind.allow_unknown_kind(raw)
            return kind.coerce(raw)
        except (ModelError, ExpressionError) as error:
            raise FileError(error.what, where=where, remedy=error.remedy, line=node.line) from None

    def is_short_form(self, kind: FieldKind, node: Node) -> bool:
        """Return True if a node is the short form of an element or vector (a list or a string)."""
        if isinstance(kind, VectorKind):
            if kind.spelled is None:
                return False
            return isinstance(node, ScalarNode) or (isinstance(node, ListNode) and ListNode in map(type, node.items))
        if not isinstance(node, ListNode) or not getattr(getattr(kind, "element", None), "forms", ""):
            return False
        return isinstance(kind, NestedElementKind) or any(not isinstance(item, MappingNode) for item in node.items)

    def nested_strings(self, node: Node, where: str) -> Any:
        """Return the strings in a list and in nested lists."""
        if isinstance(node, ListNode):
            return tuple(self.nested_strings(item, where) for item in node.items)
        return self.scalar_string(node, where)

    def build_settings(self, node: MappingNode, where: str) -> tuple[Setting, ...]:
        """Return the settings in a mapping of `name: value`."""
        return tuple(
            self.build_element(
                Setting, MappingNode({"value": (line, inner)}, line), f"{where} {name}", line, {"parameter": name}
            )
            for name, (line, inner) in node.items.items()
        )

    def scalar_string(self, node: Node, where: str) -> str:
        """Return a single value as text."""
        if not isinstance(node, ScalarNode):
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
            if isinstance(item, ScalarNode) and _is_number(item.value):  # nearly all of them
                self.texts.append((where, item.value, item.line))
                found.append(float(item.value) if isinstance(kind, ColorKind) else item.value)
            else:
                text = self.read_number_text(kind, item, where)
                found.append(_float_or_text(text) if isinstance(kind, ColorKind) else text)
        return tuple(found)

    def read_number_text(self, kind: Any, node: Node, where: str) -> str:
        """Return the text of a number; values with a compound unit are converted to SI (except in formulas of time and
        state, where t and others are variables)."""
        text = self.scalar_string(node, where)
        if isinstance(kind, FormulaKind | FormulaVectorKind | ColorKind) or _is_number(text):
            return text
        try:
            return convert_compound_unit(text, kind.dimension, self.parameters)
        except FileError as error:
            raise FileError(error.what, where=where, remedy=error.remedy, line=node.line) from None

    # ------------------------------------------------------------------------------- messages

    def find_missing_meshes(self, model: Model) -> Iterator[Finding]:
        """Yield a finding for every missing mesh file (those of sub-assemblies are reported by their readers)."""
        from core.files.meshes.lookup import find_mesh_problem

        brought = {body.name for assembly in model.assemblies for body in assembly.added_elements["bodies"]}
        for body in (b for b in model.expanded.bodies if b.name not in brought):
            for shape in body.shapes:
                if not isinstance(shape, Mesh):
                    continue
                problem = find_mesh_problem(shape.file, self.file, self.options.packages)
                if problem is not None:
                    line = self.lines.get(f"body '{body.name}', shapes")
                    yield Finding("warning", *problem, "bodies", body.name, "shapes", self.file, line)

    def find_error_line(self, error: ModelError | ExpressionError, where: str) -> int | None:
        """Return the line of the field named by an error; within nested elements, the line of the value that it
        quotes."""
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
        self, key: str, line: int, where: str, known: Iterable[str], noun: str = "field"
    ) -> FileError:
        known = [name for name in known if name not in _HIDDEN or not where]
        return FileError(
            f"'{key[:60]}' is not a known {noun}.", where=where, line=line, remedy=suggest_names(key, known)
        )

    def add_line_to_error(self, error: ModelError | ExpressionError, line: int, where: str = "") -> FileError:
        """Return the error with the line of the component that it names, as precisely as known."""
        place = where if where and not error.where.startswith(where) else error.where
        line = self.find_error_line(error, where) or line
        return FileError(error.what, where=place or error.where, remedy=error.remedy, line=line)


_is_number = re.compile(r"\s*[-+]?\d+(\.\d*)?([eE][-+]?\d{1,2})?\s*", re.ASCII).fullmatch
"""Match a text that is a number without a unit, the most frequent case."""


def _float_or_text(text: str) -> float | str:
    """Return the number if the string is a number in any Python notation; otherwise the string."""
    try:
        return float(text)
    except ValueError:
        return text


def _field_names(kind: type[Element]) -> list[str]:
    return [field.name for field in declared_fields(kind)]


def _list_items(node: Node, where: str) -> tuple[Node, ...]:
    if isinstance(node, ScalarNode) and node.is_null:
        return ()
    if not isinstance(node, ListNode):
        raise FileError(
            "A list is needed here.",
            where=where,
            line=node.line,
            remedy="Write it as [a, b, c] or with one '- ' line per entry.",
        )
    return node.items
