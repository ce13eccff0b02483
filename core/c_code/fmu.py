"""The generated C behind the Functional Mock-up Interface 2.0 for Co-Simulation (modelica.org, FMI 2.0.4): NAME.fmu.

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

from core.c_code.compilers import compiler, ran, text_of
from core.c_code.fmu_source import TEXT
from core.c_code.plan import Plan

INSTANCES = 16
"""How many can be there at a time."""
PLATFORMS = {"linux": ("linux", ".so"), "darwin": ("darwin", ".dylib"), "win32": ("win", ".dll")}


class Variable(NamedTuple):
    """A scalar variable: `place` is where it lies in C."""

    name: str
    causality: str
    variability: str
    place: str
    start: float | None
    help: str


def variables(plan: Plan) -> list[Variable]:
    """All of them; their place in the list is their value reference."""
    m, found = plan.machine, list[Variable]()
    compiled = m.compiled
    for k, name in enumerate(compiled.v_names):
        found.append(Variable(f"{name}.tau", "input", "continuous", f"c->input.u[{k}]", 0.0, "joint force"))
    for letter, names in (("q", compiled.q_names), ("v", [f"{name}.v" for name in compiled.v_names])):
        for k, name in enumerate(names):
            found.append(Variable(name, "output", "continuous", f"c->state.{letter}[{k}]", None, ""))
    taken = {each.name for each in found}
    for k, name in enumerate(plan.output_names):
        own = name if name not in taken else f"output {name}"
        found.append(Variable(own, "output", "continuous", f"c->output.y[{k}]", None, ""))
    for k, name in enumerate(plan.parameters):
        found.append(Variable(name, "parameter", "tunable", f"c->state.p[{k}]", float(m.p[k]), ""))
    return found


def description(plan: Plan, guid: str) -> bytes:
    """modelDescription.xml."""
    root = ElementTree.Element(
        "fmiModelDescription",
        fmiVersion="2.0",
        modelName=plan.title,
        guid=guid,
        description="; ".join(plan.notes),
        generationTool="Kinetostat",
        variableNamingConvention="flat",
    )
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
    ElementTree.SubElement(root, "DefaultExperiment", startTime="0", stepSize=repr(plan.h))
    listed = ElementTree.SubElement(root, "ModelVariables")
    outputs = []
    for k, each in enumerate(variables(plan)):
        facts = {"name": each.name, "valueReference": str(k), "causality": each.causality}
        scalar = ElementTree.SubElement(listed, "ScalarVariable", facts, variability=each.variability)
        if each.help:
            scalar.set("description", each.help)
        if each.causality == "output":
            scalar.set("initial", "calculated")
            outputs.append(str(k + 1))
        real = ElementTree.SubElement(scalar, "Real")
        if each.start is not None:
            real.set("start", repr(each.start))
    structure = ElementTree.SubElement(root, "ModelStructure")
    for word in ("Outputs", "InitialUnknowns"):
        unknowns = ElementTree.SubElement(structure, word)
        for index in outputs:
            ElementTree.SubElement(unknowns, "Unknown", index=index)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def wrapper(plan: Plan, guid: str) -> str:
    """NAME_fmu.c."""
    listed = variables(plan)
    writable = [k for k, each in enumerate(listed) if each.causality != "output"]
    words = {
        "@name@": plan.name,
        "@NAME@": plan.upper,
        "@guid@": guid,
        "@instances@": str(INSTANCES),
        "@step@": plan.precision.number(plan.h),
        "@real@": plan.precision.type,
        "@get@": "\n".join(_cases(listed, range(len(listed)), "*value = (fmi2Real){0};")),
        "@set@": "\n".join(_cases(listed, writable, "{0} = (@real@)value;")),
    }
    text = TEXT
    for _ in range(2):  # cases hold words, too
        for word, value in words.items():
            text = text.replace(word, value)
    return text


def _cases(listed: Sequence[Variable], which: Sequence[int], statement: str) -> Iterator[str]:
    for k in which:
        yield f"    case {k}U:\n        {statement.format(listed[k].place)}\n        break;"


def binary_folder() -> str:
    """Of this computer, as the standard names it."""
    system, _ = PLATFORMS.get(sys.platform, ("linux", ".so"))
    return f"{system}{'64' if platform.architecture()[0] == '64bit' else '32'}"


class Packed(NamedTuple):
    """A unit: whether it has a binary for this computer, and what there is to say."""

    file: str
    binary: bool
    words: str


def write_fmu(plan: Plan, room: Path, texts: dict[str, str], progress: Callable[[str], None]) -> Packed:
    """NAME.fmu in a folder; texts : NAME.h and NAME.c."""
    guid = "{" + hashlib.sha256("".join(texts.values()).encode()).hexdigest()[:32] + "}"
    own = {**texts, f"{plan.name}_fmu.c": wrapper(plan, guid)}
    library, words = _built(plan, room, own, progress)
    with zipfile.ZipFile(room / f"{plan.name}.fmu", "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "modelDescription.xml", description(plan, guid))
        for name, text in own.items():
            _add(archive, f"sources/{name}", text.encode())
        if library is not None:
            suffix = PLATFORMS.get(sys.platform, ("", ".so"))[1]
            _add(archive, f"binaries/{binary_folder()}/{plan.name}{suffix}", library)
    return Packed(f"{plan.name}.fmu", library is not None, words)


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """The same content gives the same archive."""
    archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)


def _built(plan: Plan, room: Path, texts: dict[str, str], progress: Callable[[str], None]) -> tuple[bytes | None, str]:
    """The library for this computer."""
    command = compiler()
    if command is None:
        return None, "The FMU holds its sources alone: there is no C compiler here (pip install ziglang brings one)."
    folder = room / "fmu"
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    library = folder / "library"
    files = [name for name in texts if name.endswith(".c")]
    flags = ["-std=c99", "-O2", "-fPIC", "-fvisibility=hidden", "-shared"]
    try:
        built = ran([*command, *flags, *files, "-o", str(library), "-lm"], folder, progress)
        content = library.read_bytes() if built.code == 0 else None
        words = "" if content is not None else f"The FMU holds its sources alone: {text_of(built.errors)[-500:]}"
    except OSError as error:
        content, words = None, f"The FMU holds its sources alone: {error}"
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    return content, words
