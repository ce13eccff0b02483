"""Reader and writer of Robotica data files (Robotica manual; Mathematica expressions).

    comments … / DOF=n / one line skipped / per joint: type, a, alpha, d, theta
    comments … / DYNAMICS / one line skipped / gravity vector / per link: mass, center of mass, inertia matrix

Only the order of the lines counts in reading; text left of "=" is ignored, extra blanks and line breaks are
tolerated. Files are written in the exact form of the manual: one blank after "=", no blank lines between joints. The
file's gravity vector points against the pull; ours is the acceleration: it is negated.
Inertia {e1 … e6} = [[e1 e2 e3] [e2 e4 e5] [e3 e5 e6]].
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from core.errors import ExpressionError, FileError, KinetostatError
from core.files.dh.table import (
    RowText,
    assumed_parameters,
    build_row_fields,
    format_variable_entry,
    joint_kind_from_word,
    joint_variables,
)
from core.files.source import ReadOptions, ReadResult, Source, WriteResult
from core.model import DHChain, DHRow, Finding, Gravity, Inertia, Model, Pose, World
from core.model.chains import negate
from core.model.fields import Value
from core.model.formula.expression import CONSTANTS, Name, Node, format_formula, names_in_formula, parse, substitute
from core.model.parameters import sort_parameters

MAX_DOF = 200
_DOF = re.compile(r"^\s*DOF\s*=\s*(\S*)", re.IGNORECASE)
_DYNAMICS = re.compile(r"^\s*DYNAMICS\b", re.IGNORECASE)
_ENTRIES = ("joint type", "a", "alpha", "d", "theta")
_LINK_ENTRIES = (("mass", 1), ("center of mass", 3), ("inertia matrix", 6))
_CONSTANT = re.compile(rf"(?<![\w.])({'|'.join(CONSTANTS)})(?![\w\[])")


class _FileEntry(NamedTuple):
    """One `label = value` of the file."""

    line: int
    value: str


def read_robotica(source: Source, options: ReadOptions) -> ReadResult:
    """Return a model with one standard DH chain. Raises FileError naming line and field."""
    return _RoboticaParser(source).parse_file()


class _RoboticaParser:
    """Parser that reads the lines of a Robotica file in one pass."""

    def __init__(self, source: Source) -> None:
        self.file = source.file
        self.name = source.stem or "robot"
        self.lines = source.text.splitlines()
        self.at = 0
        self.findings: list[Finding] = []

    def error(self, message: str, where: str = "", remedy: str = "", line: int | None = None) -> FileError:
        return FileError(
            message, where=where, remedy=remedy, file=self.file, line=line or min(self.at, len(self.lines))
        )

    # ------------------------------------------------------------------------------- lines

    def find_line(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Advance past the next line that matches a pattern; return the match, or None."""
        for index in range(self.at, len(self.lines)):
            if (match := pattern.match(self.lines[index])) is not None:
                self.at = index + 1
                return match
        return None

    def skip_title_line(self, is_data_line: Callable[[str], bool]) -> None:
        """Skip the title line after DOF or DYNAMICS; the file may omit it."""
        ahead = next((line for line in self.lines[self.at :] if line.strip()), "")
        first = self.lines[self.at] if self.at < len(self.lines) else ""
        if not (first.strip() and is_data_line(ahead.partition("=")[2])):
            self.at += 1

    def next_entry(self, where: str) -> _FileEntry:
        """Read the next `label = value`; a list in braces may span several lines."""
        while self.at < len(self.lines) and not self.lines[self.at].strip():
            self.at += 1
        if self.at >= len(self.lines):
            raise self.error("The file ends unexpectedly.", where, "Add the missing lines.", max(len(self.lines), 1))
        start = self.at + 1
        label, equals, value = self.lines[self.at].partition("=")
        self.at += 1
        if not equals:
            raise self.error(
                f"'{label.strip()[:40]}' is not of the form label = value.", where, "Write e.g. a1 = 0.5.", start
            )
        while value.count("{") > value.count("}") and self.at < len(self.lines) and self.at - start < 20:
            value += " " + self.lines[self.at]
            self.at += 1
        if not value.strip():
            raise self.error("There is no value after '='.", where, "Write a number or a formula.", start)
        return _FileEntry(start, value.strip())

    # ------------------------------------------------------------------------------- values

    def parse_formula(self, text: str, where: str, line: int) -> str:
        """Convert a Mathematica expression to the native notation; symbols named like native constants get a trailing
        underscore."""
        try:
            node = parse(_CONSTANT.sub(r"\1_", text), "mathematica")
            return format_formula(_check_symbol_names(node))
        except ExpressionError as error:
            raise self.error(error.what, where, error.remedy, line) from None

    def parse_vector(self, entry: _FileEntry, count: int, where: str) -> list[str]:
        """Return the formulas in {…}."""
        inner = entry.value.strip()
        if not (inner.startswith("{") and inner.endswith("}")):
            raise self.error(f"'{inner[:40]}' is not of the form {{x, y, …}}.", where, "Put it in braces.", entry.line)
        parts = _split_at_commas(inner[1:-1])
        if len(parts) != count:
            raise self.error(
                f"{count} values are needed in braces, {len(parts)} given.",
                where,
                f"Give {count} values separated by commas.",
                entry.line,
            )
        return [self.parse_formula(part, where, entry.line) for part in parts]

    # ------------------------------------------------------------------------------- sections

    def parse_file(self) -> ReadResult:
        count = self.read_joint_count()
        self.skip_title_line(lambda value: joint_kind_from_word(value) is not None)
        found = [self.read_joint_row(number) for number in range(1, count + 1)]
        rows, lines = [row for row, _ in found], [line for _, line in found]
        gravity, links = self.read_dynamics(count)
        more = [*gravity, *(text for link in links for text in link)]
        try:
            variables = joint_variables(rows, more)
        except ExpressionError as error:
            raise self.joint_variable_error(error, rows, lines) from None
        self.check_unique(variables, lines)
        for number, variable in enumerate(variables, 1):
            if not variable:
                self.findings.append(
                    Finding(
                        "hint",
                        f"Joint {number} has no symbol for its variable; it is called q{number}.",
                        file=self.file,
                        line=lines[number - 1],
                    )
                )
        texts = [text for row in rows for text in (row.a, row.alpha, row.d, row.theta)]
        parameters = assumed_parameters([*texts, *more], [v for v in variables if v])
        try:
            chain = DHChain(name="arm", rows=self.build_dh_rows(rows, variables, links))
            model = Model(
                name=self.name,
                world=world_from_gravity_vector(gravity),
                parameters=parameters,
                chains=(chain,),
                origin=self.file,
            )
        except KinetostatError as error:
            raise self.error(error.what, error.where, error.remedy, lines[0] if lines else 1) from None
        return ReadResult(model, tuple(self.findings))

    def read_joint_count(self) -> int:
        match = self.find_line(_DOF)
        if match is None:
            raise self.error("There is no line 'DOF=…'.", "DOF", "Give the number of joints, e.g. DOF=2.", 1)
        text = match.group(1)
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= MAX_DOF):
            raise self.error(
                f"'{text[:20]}' is not a valid number of joints.", "DOF", f"Give a whole number from 1 to {MAX_DOF}."
            )
        return int(text)

    def read_joint_row(self, number: int) -> tuple[RowText, int]:
        where = f"joint {number}"
        entry = self.next_entry(f"{where}, joint type")
        kind = joint_kind_from_word(entry.value)
        if kind is None:
            raise self.error(
                f"'{entry.value[:40]}' is not a joint type.",
                f"{where}, joint type",
                "Write revolute or prismatic.",
                entry.line,
            )
        texts = []
        for field in _ENTRIES[1:]:
            value = self.next_entry(f"{where}, {field}")
            texts.append(self.parse_formula(value.value, f"{where}, {field}", value.line))
        return RowText(kind, *texts), entry.line

    def joint_variable_error(self, error: ExpressionError, rows: list[RowText], lines: list[int]) -> FileError:
        for number, row in enumerate(rows, 1):
            if f"'{row.variable_entry}'" in error.what:
                field = "theta" if row.kind == "revolute" else "d"
                return self.error(error.what, f"joint {number}, {field}", error.remedy, lines[number - 1])
        return self.error(error.what, "joints", error.remedy, lines[0])

    def check_unique(self, variables: list[str], lines: list[int]) -> None:
        for number, variable in enumerate(variables, 1):
            if variable and variable in variables[: number - 1]:
                raise self.error(
                    f"'{variable}' is already the variable of another joint.",
                    f"joint {number}",
                    "Give each joint its own variable.",
                    lines[number - 1],
                )

    def read_dynamics(self, count: int) -> tuple[list[str], list[list[str]]]:
        """Return the gravity vector and ten formulas per link (mass, centre of mass, inertia); both empty if the file
        has no dynamics section."""
        if self.find_line(_DYNAMICS) is None:
            return [], []
        self.skip_title_line(lambda value: value.strip().startswith("{"))
        gravity = self.parse_vector(self.next_entry("gravity vector"), 3, "gravity vector")
        links = []
        for number in range(1, count + 1):
            texts: list[str] = []
            for field, size in _LINK_ENTRIES:
                where = f"link {number}, {field}"
                entry = self.next_entry(where)
                one = size == 1
                texts += (
                    [self.parse_formula(entry.value, where, entry.line)]
                    if one
                    else self.parse_vector(entry, size, where)
                )
            links.append(texts)
        return gravity, links

    def build_dh_rows(self, rows: list[RowText], variables: list[str], links: list[list[str]]) -> tuple[DHRow, ...]:
        made = []
        for number, (row, variable) in enumerate(zip(rows, variables, strict=True), 1):
            fields = build_row_fields(row, variable, number)
            if links:
                mass, x, y, z, e1, e2, e3, e4, e5, e6 = links[number - 1]
                fields["mass"] = mass
                fields["center_of_mass"] = (x, y, z)
                fields["inertia"] = Inertia(ixx=e1, ixy=e2, ixz=e3, iyy=e4, iyz=e5, izz=e6)
            made.append(DHRow(**fields))
        return tuple(made)


def world_from_gravity_vector(gravity: list[str]) -> World:
    """Return the world with the file's gravity vector converted to the native sign convention."""
    if not gravity:
        return World()
    x, y, z = (negate(_parse_number(text)) for text in gravity)
    return World(gravity=Gravity(acceleration=(x, y, z)))


def _parse_number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _check_symbol_names(node: Node) -> Node:
    """Return the formula unchanged; raises ExpressionError if one of its symbols is not a valid parameter name."""
    for name in names_in_formula(node):
        if "." in name:
            raise ExpressionError(f"'{name}' is not a valid symbol.", remedy="Use letters and digits.")
    return node


def _split_at_commas(text: str) -> list[str]:
    """Split a string at the commas that are outside brackets."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += (character in "[{(") - (character in "]})")
        if character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


_UNABLE = (
    ("limit", "limits"),
    ("rest", "rest positions"),
    ("shapes", "shapes"),
    ("armature", "rotor inertias"),
    ("damping", "damping"),
    ("friction", "friction"),
)
_TAKEN = {"Pi", "E", "I", "Degree", "C", "D", "N", "O", "K", *CONSTANTS}
"""Names reserved by Mathematica or by this writer."""


def write_robotica(model: Model) -> WriteResult:
    """Return the data file of a model that is a single standard DH chain. Raises FileError for any other model."""
    chain = _single_standard_chain(model)
    findings: list[Finding] = []
    rename = _MathematicaFormatter(model, chain, findings)
    lines = [model.name.replace("\n", " ") or "robot", f"DOF={len(chain.rows)}", "Forward kinematics:"]
    for number, (row, variable) in enumerate(zip(chain.rows, chain.variables(), strict=True), 1):
        lines += _format_joint_lines(row, variable, number, rename)
    if _has_dynamics(model, chain):
        lines += ["", "Inertial data:", "DYNAMICS", "Gravity and links:"]
        lines += [f"gravity vector = {rename.format_vector([negate(x) for x in _gravity_vector(model)])}"]
        for number, row in enumerate(chain.rows, 1):
            lines += _format_link_lines(row, number, rename)
    findings += _loss_findings(model, chain)
    return WriteResult("\n".join(lines) + "\n", tuple(findings))


def _single_standard_chain(model: Model) -> DHChain:
    if len(model.chains) != 1 or model.bodies or model.joints or model.frames:
        raise FileError(
            "A Robotica file can only contain one DH chain.",
            where=f"model '{model.name}'",
            remedy="Save it as .kst, or describe the robot by one DH chain.",
        )
    chain = model.chains[0]
    if chain.convention != "standard":
        raise FileError(
            "Robotica files use the standard DH convention; this chain uses the modified one.",
            where=f"chain '{chain.name}', convention",
            remedy="Save it as .kst, CSV or TOML.",
        )
    if not chain.rows:
        raise FileError("The chain has no joints.", where=f"chain '{chain.name}'", remedy="Add a row.")
    return chain


class _MathematicaFormatter:
    """Formatter of numbers and formulas in Mathematica's notation, with names that Mathematica allows (letters and
    digits)."""

    def __init__(self, model: Model, chain: DHChain, findings: list[Finding]) -> None:
        self.map: dict[str, Node] = {}
        used = set()
        for name in (*chain.variables(), *(parameter.name for parameter in model.parameters)):
            new, number = _mathematica_name(name), 2
            stem = new
            while new in used:
                new, number = f"{stem}n{number}", number + 1
            used.add(new)
            self.map[name] = Name(new)
            if new != name:
                findings.append(
                    Finding(
                        "hint",
                        f"The symbol '{name}' is written '{new}'.",
                        "Names in Mathematica consist of letters and digits only.",
                    )
                )
        self._inline_dependent_parameters(model)

    def _inline_dependent_parameters(self, model: Model) -> None:
        """Replace parameters that depend on other parameters by their formulas."""
        for parameter in sort_parameters(model.parameters):
            if isinstance(parameter.value, str) and not parameter.independent:
                self.map[parameter.name] = substitute(parse(parameter.value), self.map)

    def format_value(self, value: Value) -> str:
        """Return a number or formula in Mathematica's notation."""
        node = parse(value) if isinstance(value, str) else parse(repr(float(value) or 0.0))
        return format_formula(substitute(node, self.map), "mathematica")

    def format_vector(self, values: list[Value]) -> str:
        """Return a vector in Mathematica's notation, {…}."""
        return "{" + ", ".join(map(self.format_value, values)) + "}"


def _mathematica_name(name: str) -> str:
    plain = re.sub(r"[\W_]+", "", name) or "x"
    if plain[0].isdigit():
        plain = "x" + plain
    return plain + "x" if plain in _TAKEN else plain


def _format_joint_lines(row: DHRow, variable: str, number: int, formatter: _MathematicaFormatter) -> list[str]:
    own = formatter.format_value(format_variable_entry(row, variable))
    d, theta = (
        (formatter.format_value(row.d), own) if row.kind == "revolute" else (own, formatter.format_value(row.theta))
    )
    values = (row.kind, formatter.format_value(row.a), formatter.format_value(row.alpha), d, theta)
    labels = ("joint", "a", "alpha", "d", "theta")
    return [f"{label}{number} = {value}" for label, value in zip(labels, values, strict=True)]


def _format_link_lines(row: DHRow, number: int, formatter: _MathematicaFormatter) -> list[str]:
    i = row.inertia
    return [
        f"mass{number} = {formatter.format_value(row.mass)}",
        f"center of mass = {formatter.format_vector(list(row.center_of_mass))}",
        f"inertia matrix = {formatter.format_vector([i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz])}",
    ]


def _gravity_vector(model: Model) -> tuple[Value, ...]:
    gravity = model.world.gravity
    return gravity.acceleration if gravity.kind == "uniform" else (0.0, 0.0, 0.0)


def _has_dynamics(model: Model, chain: DHChain) -> bool:
    """Return True if the model defines any mass, inertia or gravity of its own."""
    return model.world != type(model.world)() or any(
        row.mass != 0.0 or row.inertia != type(row.inertia)() for row in chain.rows
    )


def _loss_findings(model: Model, chain: DHChain) -> list[Finding]:
    lost = [word for field, word in _UNABLE if any(getattr(row, field) for row in chain.rows)]
    if chain.base != Pose() or chain.parent:
        lost.append("the pose of the base")
    if chain.tool != Pose():
        lost.append("the pose of the tool")
    if chain.base_shapes or model.materials:
        lost.append("shapes and colours of the base")
    if any(not parameter.assumed for parameter in model.parameters):
        lost.append("the values of parameters")
    if model.world.gravity.kind == "point":
        lost.append("the point gravity field")
    if not lost:
        return []
    text = f"A Robotica file cannot contain {', '.join(lost)}; they are left out."
    return [Finding("warning", text, "Keep the .kst file too.", "chains", chain.name)]
