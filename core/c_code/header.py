"""Generation of the C header NAME.h."""

from __future__ import annotations

from collections.abc import Sequence

from core.c_code.machine_functions import LETTERS
from core.c_code.plan import ExportPlan, PublicFunction, to_distinct_identifiers
from core.c_code.stepper import STATUS
from core.codegen.c_text import COUNTED
from core.model.units import DERIVED, SI


def write_header(plan: ExportPlan) -> str:
    """Return the text of NAME.h."""
    lines = [
        *_header_beginning(plan),
        *_size_constants(plan),
        *_structure_declarations(plan),
        *_function_declarations(plan),
    ]
    return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""])


def _header_beginning(plan: ExportPlan) -> list[str]:
    return [
        f"/* {escape_comment(plan.title)}: a machine as C99, made by Kinetostat.",
        " * Units are SI: m, rad, s, kg, N, N*m. The generated code belongs to whoever generated it.",
        f" * {plan.method.title}, steps of {plan.h:.9g} s." + _closing_note(plan),
        *(f" * {escape_comment(note)}" for note in plan.notes),
        " *",
        " * Operations of one call (" + ", ".join(COUNTED) + "):",
        *(f" *   {key}: {', '.join(str(f.operations[kind]) for kind in COUNTED)}" for key, f in plan.written.items()),
        " */",
        f"#ifndef {plan.upper}_H",
        f"#define {plan.upper}_H",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        f"typedef {plan.precision.type} {plan.name}_real;",
        "",
    ]


def _size_constants(plan: ExportPlan) -> list[str]:
    """Return constants for sizes, for the index of each quantity by name, and for status bits."""
    up, m = plan.upper, plan.machine
    compiled = m.compiled
    words = list(STATUS.items())
    return [
        "enum",
        "{",
        f"    {up}_NQ = {m.nq}, /* coordinates */",
        f"    {up}_NV = {m.nv}, /* speeds, and joint forces */",
        f"    {up}_NX = {m.nx}, /* states of force elements */",
        f"    {up}_NP = {len(plan.parameters)}, /* parameters */",
        f"    {up}_NY = {len(plan.output_names)} /* outputs */",
        "};",
        "",
        *_index_constants(f"{up}_Q", compiled.q_names, [si_unit(c.dimension) for c in compiled.coordinates.table]),
        *_index_constants(
            f"{up}_V", compiled.v_names, [si_unit(each) for each in compiled.coordinates.speed_dimensions]
        ),
        *_index_constants(f"{up}_X", compiled.x_names, [""] * m.nx),
        *_index_constants(f"{up}_P", plan.parameters, _parameter_units(plan)),
        *_index_constants(f"{up}_Y", plan.output_names, [each.unit for each in plan.output_measures]),
        "/* Status bits that a step returns. If one of the first two is set, the state is left unchanged. */",
        "enum",
        "{",
        f"    {up}_OK = 0,",
        *(f"    {up}_{word} = {bit}{',' if k + 1 < len(words) else ''}" for k, (word, bit) in enumerate(words)),
        "};",
        "",
    ]


def _structure_declarations(plan: ExportPlan) -> list[str]:
    up, name, real, m = plan.upper, plan.name, plan.precision.type, plan.machine
    values = _structure_member(real, "y", f"{up}_NY", len(plan.output_names), "outputs")
    return [
        "typedef struct",
        "{",
        f"    {real} time; /* s */",
        f"    {real} begin; /* s: time from which steps are counted */",
        "    unsigned long steps;",
        *_structure_member(real, "q", f"{up}_NQ", m.nq, "coordinates"),
        *_structure_member(real, "v", f"{up}_NV", m.nv, "speeds"),
        *_structure_member(real, "x", f"{up}_NX", m.nx, "states of force elements"),
        *_structure_member(
            real, "p", f"{up}_NP", len(plan.parameters), "parameters; they may be changed between steps"
        ),
        f"}} {name}_state;",
        "",
        "typedef struct",
        "{",
        f"    {real} u[{up}_NV]; /* joint forces along the speeds, N*m or N */",
        f"}} {name}_input;",
        "",
        "typedef struct",
        "{",
        *(values or [f"    {real} time; /* s: no other outputs were requested */"]),
        f"}} {name}_output;",
        "",
    ]


def _function_declarations(plan: ExportPlan) -> list[str]:
    name = plan.name
    lines = [
        "/* Sets the initial pose and speeds of the model, and its parameters. */",
        f"void {name}_start({name}_state *state);",
        "",
        "/* Takes one step with constant joint forces; outputs are those at its end. Returns the status bits above. */",
        f"int {name}_step({name}_state *state, const {name}_input *input, {name}_output *output);",
        "",
        "/* Computes the outputs at a state. */",
        f"void {name}_outputs(const {name}_state *state, const {name}_input *input, {name}_output *output);",
        "",
    ]
    for public in plan.public:
        lines += [f"/* {public.help} */", f"{_function_prototype(plan, public)};", ""]
    return lines


def _closing_note(plan: ExportPlan) -> str:
    if plan.functions.closed is not None:
        return " Loops are closed analytically; where two branches meet, by the following iteration."
    if plan.functions.positions is not None:
        how = f" Loops are closed by {plan.closing} Gauss-Newton steps in the metric of the mass matrix"
        return how + (
            ", assuming independent rows (Cholesky)." if plan.machine.certain else "; redundant rows omitted."
        )
    return ""


def _index_constants(prefix: str, names: Sequence[str], units: Sequence[str]) -> list[str]:
    if not names:
        return []
    lines = ["enum", "{"]
    for k, (name, own, unit) in enumerate(zip(to_distinct_identifiers(names), names, units, strict=True)):
        comma = "," if k + 1 < len(names) else ""
        lines.append(f"    {prefix}_{name} = {k}{comma} /* {escape_comment(own)}{', ' + unit if unit else ''} */")
    return [*lines, "};", ""]


def si_unit(dimension: str) -> str:
    """Return the SI unit of a dimension; empty for pure numbers."""
    return SI.get(dimension) or DERIVED.get(dimension, "")


def escape_comment(text: str) -> str:
    return text.replace("*/", "* /").replace("\n", " ")


def _parameter_units(plan: ExportPlan) -> list[str]:
    model = plan.machine.compiled.model
    known = {p.name: p.dimension for p in model.parameters}
    return [si_unit(known.get(name, "none")) for name in plan.parameters]


def _structure_member(real: str, letter: str, count: str, size: int, help_: str) -> list[str]:
    return [f"    {real} {letter}[{count}]; /* {help_} */"] if size else []


def _function_prototype(plan: ExportPlan, public: PublicFunction) -> str:
    real, written = plan.precision.type, plan.written[public.name]
    letters = [LETTERS[public.traced.arguments[i]] for i in written.used]
    arguments = [*(f"const {real} {letter}[]" for letter in letters), f"{real} y[]"]
    return f"void {plan.name}_{public.name}({', '.join(arguments)})"
