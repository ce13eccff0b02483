"""DH tables as users write them: rows of columns (CSV) or keys (TOML), converted to a chain.

A table says which convention it follows; without that its numbers have no meaning, so it is refused. Entries are
numbers in SI or formulas with units ("90 deg", "400 mm", "l1/2"). The entry of a row's own variable is the constant
added to it, also in the form "q1 + pi/2"; a column `offset` is added to it. Symbols of a table are joint variables or
parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from core.errors import ExpressionError, FileError, KinetostatError, ModelError, suggest_names
from core.files.source import ReadResult, Source
from core.model import DHChain, DHRow, Finding, Gravity, Inertia, Limit, Model, Parameter, Pose, World
from core.model.chains import split_offset
from core.model.fields import Value, nested_elements
from core.model.formula.expression import Binary, Name, Node, Number, format_formula, names_in_formula, parse
from core.model.formula.formula_fields import list_formulas

_KINDS = {
    "r": "revolute",
    "revolute": "revolute",
    "rotational": "revolute",
    "rotary": "revolute",
    "p": "prismatic",
    "prismatic": "prismatic",
    "translational": "prismatic",
    "t": "prismatic",
}
_VARIABLE = re.compile(r"(?:q|theta|th|d|s)_?\d*|.*\d")
GRAVITY = 9.81
"""Gravity (m/s²) assumed where a formula contains g but no value is given."""


def joint_kind_from_word(word: str) -> str | None:
    """Return the native joint kind for a joint type as written in tables; None if it is unknown."""
    return _KINDS.get(word.strip().strip("\"'").lower())


class RowText(NamedTuple):
    """Row of a DH table as read from a file: the joint kind, and the formulas of its four DH parameters in the native
    notation."""

    kind: str
    a: str
    alpha: str
    d: str
    theta: str

    @property
    def variable_entry(self) -> str:
        """Return the DH parameter that contains the joint variable: theta or d."""
        return self.theta if self.kind == "revolute" else self.d

    @property
    def constant_entries(self) -> tuple[str, ...]:
        """Return the three DH parameters that do not contain the joint variable."""
        return (self.a, self.alpha, self.d if self.kind == "revolute" else self.theta)


def symbols_in_formulas(formulas: Iterable[str]) -> list[str]:
    """Return the names used in some formulas, in order of appearance."""
    found: dict[str, None] = {}
    for text in formulas:
        found.update(dict.fromkeys(sorted(names_in_formula(parse(text)), key=text.find)))
    return list(found)


def joint_variables(rows: Sequence[RowText], other_formulas: Iterable[str] = ()) -> list[str]:
    """Return the joint variable of each row, or "" for a row in which none is recognised.

    It is a symbol of the row's own entry that stands in no other entry (`other_formulas`: formulas besides the rows);
    of several, one named like a variable (q1, theta1, d3), else the first. Raises ExpressionError if the entry is not
    "variable + constant".
    """
    found = []
    for index, row in enumerate(rows):
        elsewhere = {name for other in other_formulas for name in names_in_formula(parse(other))}
        for number, other_row in enumerate(rows):
            for text in (
                other_row.constant_entries
                if number == index
                else (*other_row.constant_entries, other_row.variable_entry)
            ):
                elsewhere |= names_in_formula(parse(text))
        mine = [name for name in symbols_in_formulas([row.variable_entry]) if name not in elsewhere]
        fitting = [name for name in mine if split_offset(row.variable_entry, name) is not None]
        if mine and not fitting and any(_VARIABLE.fullmatch(name) for name in mine):
            raise ExpressionError(
                f"'{row.variable_entry}' is not of the form variable + constant.",
                remedy="Write the joint variable alone, or plus or minus a constant.",
            )
        fitting.sort(key=lambda name: _VARIABLE.fullmatch(name) is None)
        found.append(fitting[0] if fitting else "")
    return found


def build_row_fields(row: RowText, variable: str, number: int) -> dict[str, Any]:
    """Return the fields of a `DHRow`, given the joint variable of the row."""
    own: Value = split_offset(row.variable_entry, variable) if variable else row.variable_entry  # type: ignore[assignment]
    entries: dict[str, Value] = {"a": row.a, "alpha": row.alpha, "d": row.d, "theta": row.theta}
    entries["theta" if row.kind == "revolute" else "d"] = own
    return {"kind": row.kind, "variable": "" if variable == f"q{number}" else variable, **entries}


def assumed_parameters(formulas: Iterable[str], defined: Iterable[str] = ()) -> tuple[Parameter, ...]:
    """Return parameters for symbols in formulas that have no value: 9.81 for g, 1 for the others."""
    defined = set(defined)
    return tuple(
        Parameter(name=name, value=GRAVITY if name == "g" else 1.0, assumed=True)
        for name in symbols_in_formulas(formulas)
        if name not in defined
    )


def is_assumed_value(parameter: Parameter) -> bool:
    """Return True if the parameter has the value that a reader would assume anyway, so that a file need not state
    it."""
    return parameter == assumed_parameters([parameter.name])[0]


def format_variable_entry(row: DHRow, variable: str, dialect: Any = "native") -> str:
    """Return the DH parameter that contains the joint variable as text: "variable + constant"."""
    constant = row.theta if row.kind == "revolute" else row.d
    offset: Node = parse(constant) if isinstance(constant, str) else Number(abs(constant))
    if constant == 0.0:
        return format_formula(Name(variable), dialect)
    operator = "-" if isinstance(constant, float) and constant < 0.0 else "+"
    return format_formula(Binary(operator, Name(variable), offset), dialect)


CONVENTIONS = {
    "standard": "standard",
    "distal": "standard",
    "classic": "standard",
    "modified": "modified",
    "craig": "modified",
    "proximal": "modified",
}

ENTRIES = ("a", "alpha", "d", "theta")
VECTORS = {"center_of_mass": ("com_x", "com_y", "com_z")}
TENSOR = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
BOUNDS = ("lower", "upper", "velocity", "effort")
PLAIN = ("mass", "armature", "damping", "friction", "rest")
COLUMNS = ("joint", "type", *ENTRIES, "offset", *BOUNDS, *PLAIN, *VECTORS["center_of_mass"], *TENSOR)
"""Columns of a CSV table; only `type` and the four DH parameters are required."""

ALIASES = {
    "kind": "type",
    "jointtype": "type",
    "sigma": "type",
    "variable": "joint",
    "symbol": "joint",
    "name": "joint",
    "twist": "alpha",
    "length": "a",
    "m": "mass",
    "min": "lower",
    "max": "upper",
    "qmin": "lower",
    "qmax": "upper",
    "r": "a",
    "α": "alpha",
    "θ": "theta",
    "link": "joint",
    "j": "joint",
    "i": "joint",
    "cx": "com_x",
    "cy": "com_y",
    "cz": "com_z",
    "jm": "armature",
    "b": "damping",
}
"""Alternative column names."""


@dataclass
class DHTable:
    """DH table as read from a file, all values as text."""

    convention: str = ""
    name: str = ""
    description: str = ""
    rows: list[dict[str, str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    gravity: tuple[str, str, str] | None = None
    base: Pose = Pose()
    tool: Pose = Pose()


def column_name(heading: str) -> str | None:
    """Return the native name of a column; None if it is unknown."""
    plain = heading.strip().strip("\"'").lower().replace(" ", "_").replace("-", "_")
    plain = ALIASES.get(plain, plain)
    return plain if plain in COLUMNS else None


def suggest_similar_columns(heading: str) -> str:
    """Return a remedy that names the columns most similar to an unknown one."""
    return suggest_names(heading.lower(), COLUMNS)


def read_convention(word: str, source: Source, where_to_write: str, line: int | None = 1) -> str:
    """Return the DH convention, "standard" or "modified". Raises FileError if it is missing or unknown."""
    found = CONVENTIONS.get(word.strip().strip("\"'").lower())
    if found is None:
        what = f"'{word[:40]}' is not a DH convention." if word else "The table does not give its DH convention."
        raise FileError(
            what,
            where="convention",
            file=source.file,
            line=line,
            remedy=f"Write {where_to_write}, standard or modified (Craig).",
        )
    return found


def convert_table(table: DHTable, source: Source) -> ReadResult:
    """Convert a table to a model. Raises FileError naming the row's line and field."""
    if not table.rows:
        raise FileError("The table has no rows.", file=source.file, remedy="Add one row per joint.")
    build = _TableConverter(table, source)
    try:
        return ReadResult(build.build_model())
    except ModelError as error:
        raise FileError(error.what, where=error.where, remedy=error.remedy, file=source.file) from None


class _TableConverter:
    """Converter from the rows of a table as text to the rows of a chain."""

    def __init__(self, table: DHTable, source: Source) -> None:
        self.table = table
        self.source = source

    def row_error(self, number: int, column: str, error: KinetostatError) -> FileError:
        return FileError(
            error.what,
            where=f"joint {number}, {column}",
            remedy=error.remedy,
            file=self.source.file,
            line=self.table.lines[number - 1],
        )

    def parse_formula(self, number: int, column: str, default: str = "0") -> str:
        text = self.table.rows[number - 1].get(column, "").strip() or default
        try:
            return format_formula(parse(text))
        except ExpressionError as error:
            comma = "," in text
            hint = "Use a decimal point, not a comma." if comma else error.remedy
            raise self.row_error(number, column, ExpressionError(error.what, remedy=hint)) from None

    def build_model(self) -> Model:
        table = self.table
        texts = [self.parse_row(number) for number in range(1, len(table.rows) + 1)]
        variables = self.choose_joint_variables(texts)
        rows = tuple(
            self.build_dh_row(text, variable, number)
            for number, (text, variable) in enumerate(zip(texts, variables, strict=True), 1)
        )
        name = table.name or self.source.stem or "robot"
        chain = DHChain(name="arm", convention=table.convention, rows=rows, base=table.base, tool=table.tool)
        known = [parameter.name for parameter in table.parameters]
        formulas = _chain_formulas(chain) + [text for text in table.gravity or () if names_in_formula(parse(text))]
        parameters = (*table.parameters, *assumed_parameters(formulas, known))
        world = World(gravity=Gravity(acceleration=table.gravity)) if table.gravity else World()
        return Model(
            name=name,
            description=table.description,
            world=world,
            parameters=parameters,
            chains=(chain,),
            origin=self.source.file,
        )

    def parse_row(self, number: int) -> RowText:
        word = self.table.rows[number - 1].get("type", "")
        kind = {"0": "revolute", "1": "prismatic"}.get(word.strip()) or joint_kind_from_word(word)
        if kind is None:
            what = f"'{word[:40]}' is not a joint type." if word.strip() else "The joint's type is missing."
            raise self.row_error(number, "type", ModelError(what, remedy="Write revolute or prismatic."))
        return RowText(kind, *(self.parse_formula(number, entry) for entry in ENTRIES))

    def choose_joint_variables(self, rows: list[RowText]) -> list[str]:
        """Return the joint variable of each row: the symbol in column `joint` if the row's formula contains it, else
        the recognised one."""
        elsewhere = [parameter.name for parameter in self.table.parameters]
        for number, row in enumerate(self.table.rows, 1):
            elsewhere += [self.parse_formula(number, key) for key in row if key in COLUMNS[6:]]
        try:
            found = joint_variables(rows, elsewhere)
        except ExpressionError as error:
            number = next(n for n, text in enumerate(rows, 1) if f"'{text.variable_entry}'" in error.what)
            raise self.row_error(number, "theta" if rows[number - 1].kind == "revolute" else "d", error) from None
        for number, variable in enumerate(found, 1):
            if variable and variable in found[: number - 1]:
                what = f"'{variable}' is already the variable of another joint."
                raise self.row_error(number, "theta", ModelError(what, remedy="Give each joint its own variable."))
        return found

    def build_dh_row(self, row: RowText, variable: str, number: int) -> DHRow:
        fields = build_row_fields(row, variable, number)
        if (offset := self.parse_formula(number, "offset")) != "0":
            own = "theta" if row.kind == "revolute" else "d"
            constant = fields[own]
            fields[own] = offset if constant in (0.0, "0") else _formula_sum(str(constant), offset)
        present = self.table.rows[number - 1]
        fields |= {key: self.parse_formula(number, key) for key in PLAIN if present.get(key, "").strip()}
        for key, columns in VECTORS.items():
            fields[key] = tuple(self.parse_formula(number, column) for column in columns)
        fields["inertia"] = Inertia(**{key: self.parse_formula(number, key) for key in TENSOR})
        bounds = {key: self.parse_formula(number, key) for key in BOUNDS if present.get(key, "").strip()}
        if bounds:
            fields["limit"] = Limit(**bounds)
        if not variable:
            label = _variable_symbol(present.get("joint", ""))
            fields["variable"] = "" if label == f"q{number}" else label
        try:
            return DHRow(**fields)
        except (ModelError, ExpressionError) as error:
            raise self.row_error(number, error.where.rpartition(", ")[2], error) from None


def _formula_sum(first: str, second: str) -> str:
    return format_formula(Binary("+", parse(first), parse(second)))


def _variable_symbol(text: str) -> str:
    """Return the text of column `joint` if it is a symbol (neither a number nor a generated name such as joint1), else
    ""."""
    text = text.strip()
    return text if text.isidentifier() and not text.lower().startswith(("joint", "link")) else ""


def _chain_formulas(chain: DHChain) -> list[str]:
    """Return all formulas in a chain's numbers."""
    return [found.text for element in nested_elements(chain) for found in list_formulas(element)]


def single_chain(model: Model, format: str) -> DHChain:
    """Return the single DH chain that makes up the whole model. Raises FileError for any other model."""
    if len(model.chains) != 1 or model.bodies or model.joints or model.frames:
        raise FileError(
            f"A {format} can only contain one DH chain.",
            where=f"model '{model.name}'",
            remedy="Save it as .kst, or describe the robot by one DH chain.",
        )
    if not model.chains[0].rows:
        raise FileError("The chain has no joints.", where=f"chain '{model.chains[0].name}'", remedy="Add a row.")
    return model.chains[0]


def find_losses(model: Model, chain: DHChain, format: str, other_losses: list[str]) -> tuple[Finding, ...]:
    """Return findings about the parts of a model that a DH table cannot represent."""
    lost = list(other_losses)
    if chain.base_shapes or any(row.shapes for row in chain.rows) or model.materials:
        lost.append("shapes and colours")
    if chain.parent or chain.prefix:
        lost.append("parent and prefix of the chain")
    if model.world.gravity.kind == "point":
        lost.append("the point gravity field")
    if not lost:
        return ()
    text = f"A {format} cannot contain {', '.join(lost)}; they are left out."
    return (Finding("warning", text, "Keep the .kst file too.", "chains", chain.name),)


def non_default_columns(row: DHRow, variable: str) -> Mapping[str, Any]:
    """Return the columns of a row that differ from their defaults, in the order of `COLUMNS`."""
    values: dict[str, Any] = {"joint": variable, "type": row.kind}
    values |= {entry: getattr(row, entry) for entry in ENTRIES}
    if row.limit is not None:
        values |= {key: value for key in BOUNDS if (value := getattr(row.limit, key)) is not None}
    values |= {key: value for key in PLAIN if (value := getattr(row, key)) not in (0.0, None)}
    if any(x != 0.0 for x in row.center_of_mass):
        values |= dict(zip(VECTORS["center_of_mass"], row.center_of_mass, strict=True))
    if row.inertia != Inertia():
        values |= {key: getattr(row.inertia, key) for key in TENSOR}
    return values
