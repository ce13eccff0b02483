"""Export of generated C as an FMU for Co-Simulation, Functional Mock-up Interface 2.0 (modelica.org, FMI 2.0.4):
NAME.fmu.

Inputs are joint forces, outputs coordinates, speeds and what else was asked for, parameters are tunable. Instances come
from a pool of fixed size; states can be kept, restored and serialised. Sources are always inside, a binary for this
computer if there is a compiler.
"""

from __future__ import annotations

import hashlib
import platform
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from core.c_code.companions import decode_output, find_compiler, ran
from core.c_code.fmu_source import TEXT
from core.c_code.plan import ExportPlan
from core.model.formula.formula_units import PURE, Dimension, dimension_by_name

PLAIN = str.maketrans({"·": ".", "²": "2", "³": "3", "⁴": "4", "⁻": "-", "¹": "1"})
"""Unit symbols in the notation of the standard: kg.m2."""
INSTANCES = 16
"""Largest number of simultaneous instances."""
PLATFORMS = {"linux": ("linux", ".so"), "darwin": ("darwin", ".dylib"), "win32": ("win", ".dll")}


class FmuVariable(NamedTuple):
    """Scalar variable of an FMU: `place` is its C expression, `measured` its dimension."""

    name: str
    causality: str
    variability: str
    place: str
    start: float | None
    help: str
    measured: Dimension


def list_variables(plan: ExportPlan) -> list[FmuVariable]:
    """Return all variables, each once; the index in the list is the variable's value reference."""
    m, found = plan.machine, list[FmuVariable]()
    compiled = m.compiled
    speeds = list(zip(compiled.v_names, compiled.coordinates.speed_dimensions, strict=True))
    for k, (name, dimension) in enumerate(speeds):
        force = dimension_by_name("force" if dimension == "velocity" else "torque")
        words = f"joint force along '{name}', positive in the direction of its speed"
        found.append(FmuVariable(f"{name}.tau", "input", "continuous", f"c->input.u[{k}]", 0.0, words, force))
    for k, each in enumerate(compiled.coordinates.table):
        words, place = f"coordinate '{each.name}'", f"c->state.q[{k}]"
        measured = PURE if each.dimension == "none" else dimension_by_name(each.dimension)
        found.append(FmuVariable(each.name, "output", "continuous", place, None, words, measured))
    for k, (name, dimension) in enumerate(speeds):
        words, place = f"speed '{name}'", f"c->state.v[{k}]"
        found.append(FmuVariable(f"{name}.v", "output", "continuous", place, None, words, dimension_by_name(dimension)))
    same = {f"{name}.q" for name in compiled.q_names} | {each.name for each in found if each.causality == "output"}
    for k, (name, measured) in enumerate(zip(plan.output_names, plan.output_measures, strict=True)):
        if name not in same:
            own, place = _unique_name(name, "output", found), f"c->output.y[{k}]"
            found.append(FmuVariable(own, "output", "continuous", place, None, f"the value of {name}", measured))
            same.add(name)
    known = {parameter.name: parameter for parameter in compiled.model.expanded.parameters}
    for k, name in enumerate(plan.parameters):
        own, place = _unique_name(name, "parameter", found), f"c->state.p[{k}]"
        words, measured = known[name].description or f"parameter '{name}'", dimension_by_name(known[name].dimension)
        found.append(FmuVariable(own, "parameter", "tunable", place, float(m.p[k]), words, measured))
    return found


def _unique_name(name: str, suffix: str, taken: Sequence[FmuVariable]) -> str:
    """Return a variable name that is not yet taken."""
    return f"{suffix} {name}" if any(each.name == name for each in taken) else name


def unit_name(dimension: Dimension) -> str:
    """Return a unit in the standard's notation: N.m, rad/s, 1; empty if unknown."""
    if dimension.powers is None:
        return ""
    return dimension.unit.translate(PLAIN) if dimension.unit else "1" if not any(dimension.powers) else ""


def _add_units(root: ElementTree.Element, variables_listed: Sequence[FmuVariable]) -> None:
    """Add the variables' units, each by its powers of base units."""
    powers = {unit_name(each.measured): each.measured.powers for each in variables_listed if unit_name(each.measured)}
    definitions = ElementTree.SubElement(root, "UnitDefinitions")
    for name, own in powers.items():
        unit = ElementTree.SubElement(definitions, "Unit", name=name)
        if own is not None and all(power.denominator == 1 for power in own):
            base = zip(("kg", "m", "s", "rad"), own, strict=True)
            ElementTree.SubElement(unit, "BaseUnit", {symbol: str(power) for symbol, power in base if power})


def model_description(plan: ExportPlan, guid: str) -> bytes:
    """Return the content of modelDescription.xml."""
    root = ElementTree.Element(
        "fmiModelDescription",
        fmiVersion="2.0",
        modelName=plan.title,
        guid=guid,
        description="; ".join(plan.notes),
        generationTool="Kinetostat",
        variableNamingConvention="flat",
    )
    listed = list_variables(plan)
    simulation = ElementTree.SubElement(
        root,
        "CoSimulation",
        modelIdentifier=plan.name,
        canHandleVariableCommunicationStepSize="true",
        canNotUseMemoryManagementFunctions="true",
        canGetAndSetFMUstate="true",
        canSerializeFMUstate="true",
    )
    files = ElementTree.SubElement(simulation, "SourceFiles")
    for name in (f"{plan.name}.c", f"{plan.name}_fmu.c"):
        ElementTree.SubElement(files, "File", name=name)
    _add_units(root, listed)
    ElementTree.SubElement(root, "DefaultExperiment", startTime="0", stepSize=repr(plan.h))
    entries = ElementTree.SubElement(root, "ModelVariables")
    outputs = []
    for k, each in enumerate(listed):
        facts = {"name": each.name, "valueReference": str(k), "causality": each.causality}
        scalar = ElementTree.SubElement(entries, "ScalarVariable", facts, variability=each.variability)
        scalar.set("description", each.help)
        if each.causality == "output":
            scalar.set("initial", "calculated")
            outputs.append(str(k + 1))
        real = ElementTree.SubElement(scalar, "Real")
        if unit := unit_name(each.measured):
            real.set("unit", unit)
        if each.start is not None:
            real.set("start", repr(each.start))
    structure = ElementTree.SubElement(root, "ModelStructure")
    for word in ("Outputs", "InitialUnknowns"):
        unknowns = ElementTree.SubElement(structure, word)
        for index in outputs:
            ElementTree.SubElement(unknowns, "Unknown", index=index)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def write_wrapper(plan: ExportPlan, guid: str) -> str:
    """Return the text of NAME_fmu.c."""
    listed = list_variables(plan)
    writable = [k for k, each in enumerate(listed) if each.causality != "output"]
    words = {
        "@name@": plan.name,
        "@NAME@": plan.upper,
        "@guid@": guid,
        "@instances@": str(INSTANCES),
        "@step@": plan.precision.format_number(plan.h),
        "@real@": plan.precision.type,
        "@get@": "\n".join(_switch_cases(listed, range(len(listed)), "*value = (fmi2Real){0};")),
        "@set@": "\n".join(_switch_cases(listed, writable, "{0} = (@real@)value;")),
    }
    text = TEXT
    for _ in range(2):  # cases hold words, too
        for word, value in words.items():
            text = text.replace(word, value)
    return text


def _switch_cases(variables_listed: Sequence[FmuVariable], indices: Sequence[int], statement: str) -> Iterator[str]:
    for k in indices:
        yield f"    case {k}U:\n        {statement.format(variables_listed[k].place)}\n        break;"


def binary_folder() -> str:
    """Return the standard's name of the binary folder of this platform."""
    system, _ = PLATFORMS.get(sys.platform, ("linux", ".so"))
    return f"{system}{'64' if platform.architecture()[0] == '64bit' else '32'}"


class WrittenFmu(NamedTuple):
    """Written FMU: True if it has a binary for this platform, and remarks for the user."""

    file: str
    binary: bool
    words: str


def write_fmu(plan: ExportPlan, folder: Path, sources: dict[str, str], progress: Callable[[str], None]) -> WrittenFmu:
    """Write NAME.fmu to a folder; sources : NAME.h and NAME.c."""
    guid = "{" + hashlib.sha256("".join(sources.values()).encode()).hexdigest()[:32] + "}"
    own = {**sources, f"{plan.name}_fmu.c": write_wrapper(plan, guid)}
    library, words = _compile_library(plan, folder, own, progress)
    with zipfile.ZipFile(folder / f"{plan.name}.fmu", "w", zipfile.ZIP_DEFLATED) as archive:
        _add_file(archive, "modelDescription.xml", model_description(plan, guid))
        for name, text in own.items():
            _add_file(archive, f"sources/{name}", text.encode())
        if library is not None:
            suffix = PLATFORMS.get(sys.platform, ("", ".so"))[1]
            _add_file(archive, f"binaries/{binary_folder()}/{plan.name}{suffix}", library)
    return WrittenFmu(f"{plan.name}.fmu", library is not None, words)


def _add_file(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Add a file to the archive reproducibly: equal content gives an equal archive."""
    archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)


def _compile_library(
    plan: ExportPlan, room: Path, sources: dict[str, str], progress: Callable[[str], None]
) -> tuple[bytes | None, str]:
    """Compile the shared library for this platform."""
    command = find_compiler()
    if command is None:
        return (
            None,
            "The FMU contains only sources: there is no C compiler here (pip install ziglang provides one).",
        )
    folder = room / "fmu"
    folder.mkdir()
    for name, text in sources.items():
        (folder / name).write_text(text, encoding="utf-8")
    library = folder / "library"
    files = [name for name in sources if name.endswith(".c")]
    flags = ["-std=c99", "-O2", "-fPIC", "-fvisibility=hidden", "-shared"]
    try:
        built = ran([*command, *flags, *files, "-o", str(library), "-lm"], folder, progress)
        content = library.read_bytes() if built.code == 0 else None
        words = "" if content is not None else f"The FMU contains only sources: {decode_output(built.errors)[-500:]}"
    except OSError as error:
        content, words = None, f"The FMU contains only sources: {error}"
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    return content, words
