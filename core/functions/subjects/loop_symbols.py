"""Functions that solve loops symbolically: positions, velocity ratios, reduced equations of motion."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.errors import ModelError
from core.files.followed_files import content_fingerprints
from core.functions.context import Cancelled, Context
from core.functions.function import Function, needs_motion
from core.functions.options import Choice, OutputFile, Text
from core.functions.results import Formulas, Message, Report, Result, Table
from core.functions.subjects.symbols import NOTATION, RECOGNISE, append_to_file, set_notation
from core.functions.text import Cell, Column

if TYPE_CHECKING:
    from core.symbolic.linkage import Linkage

WHAT = {
    "all": ("positions", "ratios", "derivatives", "dynamics"),
    "positions": ("positions",),
    "ratios": ("positions", "ratios"),
    "equations of motion": ("positions", "ratios", "derivatives", "dynamics"),
}
"""Sections that must be derived, by choice of the option `what`."""
SHOWN = {
    "all": WHAT["all"],
    "positions": ("positions",),
    "ratios": ("ratios",),
    "equations of motion": ("derivatives", "dynamics"),
}
TITLES = {"ratios": "Velocity ratios", "derivatives": "Derivatives of the ratios", "dynamics": "Equations of motion"}

_kept: dict[str, Any] = {}
"""Cache of the last linkage, so that later functions share its lazily computed results."""


def symbolic_linkage(context: Context, symbols: str, recognise: bool) -> Linkage:
    """Return the machine's loops in symbolic form; cached for the next call."""
    from core.symbolic import linkage

    chosen: Any = symbols.strip() or "masses"
    if chosen not in ("masses", "named", "all", "none"):
        chosen = tuple(name.strip() for name in chosen.split(",") if name.strip())
    key = (context.model, content_fingerprints(context.model), chosen, recognise)
    kept = _kept.get("linkage")
    if kept is None or kept[0] != key:
        kept = _kept["linkage"] = (key, linkage(context.model, symbols=chosen, recognise=recognise))

    def raise_if_cancelled() -> None:
        if context.cancelled():
            raise Cancelled

    kept[1].watch = raise_if_cancelled
    return kept[1]


def _refusal_message(text: str) -> Message:
    """Return a warning with the reason why the loops of a machine cannot be solved symbolically."""
    return Message(title="Loops in symbols", text=text, severity="warning")


def _reason_not_solvable(context: Context) -> str:
    """Return the reason why the loops cannot be solved symbolically; '' if they can."""
    from core.symbolic.linkage import find_obstacle

    kept = _kept.get("linkage")
    return "" if kept is not None and kept[0][0] == context.model else find_obstacle(context.model)


def needs_loop(context: Context) -> str:
    """Require a loop, a rod or a gear; returns the reason if there is none, else ''."""
    model = context.model.expanded
    if context.mech.loops or model.constraints:
        return ""
    return "The model has no closed loop; use “Derive in symbols” for open chains."


def loop_symbols(context: Context, what: str, symbols: str, recognise: bool, notation: str) -> Result:
    """Derive the chosen sections in symbolic form and compare each with the compiled kernel."""
    from core.symbolic.proof import check_sections

    set_notation(notation)
    context.step(0, 4, "Analytic loop closure …")
    if reason := _reason_not_solvable(context):
        return _refusal_message(reason)
    linkage = symbolic_linkage(context, symbols, recognise)
    writer = _SectionWriter(context, linkage)
    parts: list[Result] = [writer.coordinate_table()] if what != "equations of motion" else []
    made: dict[str, list[Formulas]] = {}
    sections: list[str] = []
    for k, section in enumerate(WHAT[what]):
        context.step(k, 4, f"{section.capitalize()} …")
        try:
            getattr(linkage, section)
        except ModelError as error:
            parts.append(_refusal_message(str(error)))
            break
        sections.append(section)
        if section in SHOWN[what]:
            made[section] = writer.write_section(section)
    context.step(3, 4, "Comparing with the kernel …")
    found = check_sections(linkage, sections)
    for section, formulas in made.items():
        if formulas:
            formulas[-1] = dataclasses.replace(formulas[-1], **_comparison_fields(found[section]))
        parts += formulas
    return Report(title=f"Loops of {context.model.name or 'the machine'} in symbols", parts=tuple(parts))


def _comparison_fields(comparison: Any) -> dict[str, Any]:
    """Return the outcome of a comparison with the kernel as fields of `Formulas`."""
    if not comparison.states:
        return {
            "proof": "Not compared with the kernel: the loops could not be closed accurately at any pose tried.",
            "proved": None,
        }
    return {"proof": str(comparison), "proved": comparison.passed}


class _SectionWriter:
    """Writer of the sections of a linkage as results."""

    def __init__(self, context: Context, linkage: Linkage) -> None:
        self.linkage = linkage
        known = linkage.model.values()
        own = {p.name for p in linkage.model.parameters if p.independent}
        given = {name: float(x) for name, x in context.p.items() if name in own}
        values = linkage.model.values({**{name: known[name] for name in own}, **given, **linkage.given})
        at = {v.symbol: float(context.q[v.q]) for v in linkage.variables}
        self.branches = linkage.branch_signs({**{n: float(values[n]) for n in linkage.values}, **at})

    def coordinate_table(self) -> Table:
        """Table of the joint symbols, with how each coordinate is determined."""
        linkage = self.linkage
        how = {joint: step.kind for step in linkage.steps for joint in step.joints}
        rows: list[tuple[Cell, ...]] = [
            (v.symbol, v.coordinate, "independent" if v in linkage.independent else how.get(v.joint, ""))
            for v in linkage.variables
        ]
        rows += [(name, joint, "cut joint: its angle or displacement") for name, joint in linkage.cut_symbols.items()]
        return Table(
            title="Coordinates",
            columns=(Column("Symbol"), Column("Joint"), Column("How")),
            rows=tuple(rows),
        )

    def write_section(self, section: str) -> list[Formulas]:
        """Write a section as formulas; positions step by step."""
        if section != "positions":
            return self._definition_formulas(TITLES[section], getattr(self.linkage, section), section)
        made: list[Formulas] = []
        for step in self.linkage.steps:
            made += self._definition_formulas(f"{step.kind}: {', '.join(step.joints)}", step.positions, section)
        return made

    def _definition_formulas(self, title: str, definitions: Sequence[Any], section: str) -> list[Formulas]:
        from core.symbolic.linkage_words import convention_sentences, describe_symbols, symbol_owners

        if not definitions:
            return []
        return [
            Formulas(
                title=title,
                label=section,
                names=tuple(each.name for each in definitions),
                entries=tuple((self._form_with_branch_sign(each),) for each in definitions),
                rows=tuple(self._describe_definition(each) for each in definitions),
                symbols=describe_symbols(self.linkage, section),
                owners=symbol_owners(self.linkage),
                conventions=convention_sentences(self.linkage, section),
                recognised=tuple(
                    f"{r.where}: {r.given:g} was read as {r.meaning}" for r in self.linkage.recognised_numbers
                ),
            )
        ]

    def _form_with_branch_sign(self, definition: Any) -> Any:
        from fractions import Fraction

        from core.symbolic.forms import Number

        return definition.form if definition.side is None else Number(Fraction(int(self.branches[definition.name])))

    def _describe_definition(self, definition: Any) -> str:
        from core.symbolic.notation import format_form

        if definition.side is None:
            return str(definition.about)
        return f"±1, branch: here the sign of {format_form(definition.side)}"


def write_loop_equations(
    context: Context, what: str, language: str, label: str, file: str, symbols: str, notation: str
) -> Result:
    """Write equations in a language, appended to a file if one is named; the branch signs are arguments."""
    from core.symbolic.conventions import to_ascii
    from core.symbolic.equation_export import format_equations
    from core.symbolic.linkage_words import convention_sentences

    set_notation(notation)
    if reason := _reason_not_solvable(context):
        return _refusal_message(reason)
    linkage = symbolic_linkage(context, symbols, True)
    found = [each for section in WHAT[what] for each in getattr(linkage, section) if each.side is None]
    code = language not in ("text", "latex")
    notes = [linkage.model.name, *(to_ascii(line) for line in convention_sentences(linkage, *WHAT[what], code=code))]
    name = label or "loops"
    text = format_equations([each.name for each in found], [each.form for each in found], language, name, notes)
    if file:
        append_to_file(file, text)
        return Message(title="Write equations of loops", text=f"Appended {what} to {file}.")
    return Message(title="Write equations of loops", text=text, severity="done")


_WHAT = Choice(
    "what",
    "Result",
    "positions of the dependent joints; ratios: their speeds divided by the independent ones; equations "
    "of motion in the independent coordinates, with the derivatives of the ratios",
    "all",
    tuple(WHAT),
)
SYMBOLS = Text(
    "symbols",
    "Symbols",
    "masses: the model's parameters, and mass, centre of mass and inertia of every body; named: the "
    "model's parameters only; all: lengths as well; none; or names separated by commas",
    "masses",
    joined=", ",
)

FUNCTIONS = (
    Function(
        "loop_symbols",
        "Loops in symbols",
        "Symbols",
        "Equations of a linkage in textbook form: positions of all joints in terms of the independent ones, "
        "velocity ratios, and the reduced equation of motion.\n\n"
        "The steps are those in which the kernel closes the loops (function Loops). Each step is one "
        "equation of a standard type: P cos q + Q sin q = R (a four-bar: Freudenstein's equation), the "
        "distance between two points (a slider-crank), a direction, a sum of angles. The sign σ = ±1 is the "
        "branch in which the linkage is assembled. Ratios are k = dq/dq1. With one degree of freedom the "
        "equation is I q̈ + ½ I′ q̇² + G = τ with the reduced inertia I; with several, M q̈ + C q̇ + G = τ. "
        "All results are compared with the compiled kernel over random poses, speeds and parameters. Loops "
        "that are closed by iteration, and joints with quaternions, have no such form and are reported.",
        loop_symbols,
        (_WHAT, SYMBOLS, RECOGNISE, NOTATION),
        (needs_motion, needs_loop),
        apart=True,
        also=(
            "Freudenstein",
            "transmission ratio",
            "reduced inertia",
            "loop closure equations",
            "kinematic coefficients",
        ),
    ),
    Function(
        "write_loop_equations",
        "Write equations of loops",
        "Symbols",
        "Positions, velocity ratios or equations of motion of a linkage as plain text, LaTeX, Mathematica, a "
        "Python or C function, or SymPy source; appended to a file if one is given.\n\n"
        "The branch signs σ are arguments of the function.",
        write_loop_equations,
        (
            _WHAT,
            Choice(
                "language",
                "Language",
                "Language in which the result is written",
                "text",
                ("text", "latex", "mathematica", "python", "c", "sympy"),
                {"latex": "LaTeX", "sympy": "SymPy"},
            ),
            Text("label", "Label", "Name of the Python or C function; empty: loops"),
            OutputFile(
                "file",
                "File",
                "File to which the result is appended; empty: none",
                suffixes=(".txt", ".tex", ".py", ".c", ".m", ".nb"),
            ),
            SYMBOLS,
            NOTATION,
        ),
        (needs_motion, needs_loop),
        apart=True,
        reads="machine",
    ),
)
