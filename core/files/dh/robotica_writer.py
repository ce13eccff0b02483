"""Writer of Robotica data files in the exact form of the manual: one blank after "=", no blank lines between joints,
Mathematica expressions."""

from __future__ import annotations

import re

from core.errors import FileError
from core.files.dh.rows import variable_entry
from core.files.source import Writing
from core.model import DHChain, DHRow, Finding, Model, Pose
from core.model.chains import negative
from core.model.fields import Value
from core.model.formula.expression import CONSTANTS, Name, Node, parse, substitute, text_of
from core.model.parameters import parameters_in_order

_UNABLE = (
    ("limit", "limits"),
    ("rest", "rest positions"),
    ("shapes", "shapes"),
    ("armature", "rotor inertias"),
    ("damping", "damping"),
    ("friction", "friction"),
)
_TAKEN = {"Pi", "E", "I", "Degree", "C", "D", "N", "O", "K", *CONSTANTS}
"""Names that already have a meaning in Mathematica or in this writer."""


def write_robotica(model: Model) -> Writing:
    """Return the data file of a model that is a single standard DH chain. Raises FileError for any other model."""
    chain = _single_standard_chain(model)
    findings: list[Finding] = []
    rename = _Symbols(model, chain, findings)
    lines = [model.name.replace("\n", " ") or "robot", f"DOF={len(chain.rows)}", "Forward kinematics:"]
    for number, (row, variable) in enumerate(zip(chain.rows, chain.variables(), strict=True), 1):
        lines += _row_lines(row, variable, number, rename)
    if _has_dynamics(model, chain):
        lines += ["", "Inertial data:", "DYNAMICS", "Gravity and links:"]
        lines += [f"gravity vector = {rename.vector([negative(x) for x in _gravity_vector(model)])}"]
        for number, row in enumerate(chain.rows, 1):
            lines += _link_lines(row, number, rename)
    findings += _loss_findings(model, chain)
    return Writing("\n".join(lines) + "\n", tuple(findings))


def _single_standard_chain(model: Model) -> DHChain:
    if len(model.chains) != 1 or model.bodies or model.joints or model.frames:
        raise FileError(
            "A Robotica file holds one DH chain and nothing else.",
            where=f"model '{model.name}'",
            remedy="Write it as .kst, or describe the robot by one DH chain.",
        )
    chain = model.chains[0]
    if chain.convention != "standard":
        raise FileError(
            "A Robotica file holds standard DH tables; this one is modified.",
            where=f"chain '{chain.name}', convention",
            remedy="Write it as .kst, CSV or TOML.",
        )
    if not chain.rows:
        raise FileError("The chain has no joints.", where=f"chain '{chain.name}'", remedy="Add a row.")
    return chain


class _Symbols:
    """Conversion of formulas to Mathematica's notation, with names that Mathematica allows (letters and digits)."""

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
                        "Mathematica's names consist of letters and digits only.",
                    )
                )
        self._inline_dependent_parameters(model)

    def _inline_dependent_parameters(self, model: Model) -> None:
        """Replace parameters that depend on other parameters by their formulas."""
        for parameter in parameters_in_order(model.parameters):
            if isinstance(parameter.value, str) and not parameter.independent:
                self.map[parameter.name] = substitute(parse(parameter.value), self.map)

    def text(self, value: Value) -> str:
        """Return a number or formula in Mathematica's notation."""
        node = parse(value) if isinstance(value, str) else parse(repr(float(value) or 0.0))
        return text_of(substitute(node, self.map), "mathematica")

    def vector(self, values: list[Value]) -> str:
        """Return a vector in Mathematica's notation, {…}."""
        return "{" + ", ".join(map(self.text, values)) + "}"


def _mathematica_name(name: str) -> str:
    plain = re.sub(r"[\W_]+", "", name) or "x"
    if plain[0].isdigit():
        plain = "x" + plain
    return plain + "x" if plain in _TAKEN else plain


def _row_lines(row: DHRow, variable: str, number: int, rename: _Symbols) -> list[str]:
    own = rename.text(variable_entry(row, variable))
    d, theta = (rename.text(row.d), own) if row.kind == "revolute" else (own, rename.text(row.theta))
    values = (row.kind, rename.text(row.a), rename.text(row.alpha), d, theta)
    labels = ("joint", "a", "alpha", "d", "theta")
    return [f"{label}{number} = {value}" for label, value in zip(labels, values, strict=True)]


def _link_lines(row: DHRow, number: int, rename: _Symbols) -> list[str]:
    i = row.inertia
    return [
        f"mass{number} = {rename.text(row.mass)}",
        f"center of mass = {rename.vector(list(row.center_of_mass))}",
        f"inertia matrix = {rename.vector([i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz])}",
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
    text = f"A Robotica file cannot hold {', '.join(lost)}; they are left out."
    return [Finding("warning", text, "Keep the .kst file too.", "chains", chain.name)]
