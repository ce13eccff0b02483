"""Sections of the model tree beneath the machine: forces, sensors, constraints, drivers, parameters, materials, and
analyses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from app.document.chain_members import assembled
from app.document.revision import Ref
from app.panels.tree.machine_nodes import Machine, Node, walk
from app.preferences.element_icons import collection_icon, icon_of
from app.widgets.quantities.quantity_text import Measure, Units, quantity, value_in
from core.model import QUESTIONS, WORLD, Constraint, Driver, Force, Model, Parameter, Sensor
from core.model.forces import JOINT, SENSOR, STRANDS


def nodes(model: Model, cut: Collection[str], units: Units) -> list[Node]:
    """Return the rows of the tree. `cut` names the joints that close loops."""
    machine = Machine(model, frozenset(cut))
    found = [machine.ground()]
    for collection, title, drawing in SECTIONS:
        rows = [_element_row(collection, element) for element in getattr(model, collection)]
        if rows:
            found.append(Node(f"#{collection}", title, str(len(rows)), drawing, children=rows))
    for assembly in model.assemblies:
        shown = {node.ref for node in walk(machine.assembly_row(assembly).children)}
        machine.assembly_row(assembly).children += _assembly_rows(model, assembled(assembly), shown)
    values = model.values()
    if model.parameters:
        rows = [_parameter_row(p, values.get(p.name), units) for p in model.parameters]
        found.append(Node("#parameters", "Parameters", str(len(rows)), "parameter", children=rows))
    if model.materials:
        materials = [
            Node(f"materials:{m.name}", m.name, icon="material", ref=Ref("materials", m.name), color=m.color)
            for m in model.materials
        ]
        found.append(Node("#materials", "Materials", str(len(materials)), "material", children=materials))
    for collection in QUESTIONS:
        if rows := [_analysis_row(collection, element) for element in getattr(model, collection)]:
            title = collection.replace("_", " ").capitalize()
            found.append(Node(f"#{collection}", title, str(len(rows)), collection_icon(collection), children=rows))
    if model.expanded.bodies:
        found.append(_energy_row())
    return found


SECTIONS = (
    ("junctions", "Junctions", "junction"),
    ("forces", "Forces", "force"),
    ("sensors", "Sensors", "sensor"),
    ("constraints", "Constraints", "constraint"),
    ("drivers", "Drivers", "driver"),
)
"""(collection, title, icon) of the sections; one without rows is not shown."""


def _element_row(collection: str, element: Any, derived: bool = False) -> Node:
    drawing = icon_of(collection, element)
    return Node(
        f"{collection}:{element.name}",
        element.name,
        _details[collection](element),
        drawing,
        Ref(collection, element.name),
        derived,
        help=element.description,
        channels=_channel_names(collection, element),
    )


def _analysis_row(collection: str, element: Any) -> Node:
    """Return the row of an analysis (an operating point, study or design)."""
    key, drawing = f"{collection}:{element.name}", icon_of(collection, element)
    return Node(key, element.name, element.summary, drawing, Ref(collection, element.name), help=element.description)


def _assembly_rows(model: Model, refs: Iterable[Ref], shown: Collection[Ref | None]) -> list[Node]:
    """Return rows of the elements that a sub-assembly contributes, other than bodies and joints."""
    kinds = {collection for collection, _, _ in SECTIONS}
    return [
        _element_row(ref.collection, model.expanded.find(ref.collection, ref.name), True)
        for ref in refs
        if ref.collection in kinds and ref not in shown
    ]


def _channel_names(collection: str, element: Any) -> tuple[str, ...]:
    name = element.name
    if collection == "junctions":
        return (f"{name}.position",)
    if collection == "sensors":
        return (name,)
    return (f"{name}.friction.force",) if collection == "forces" and element.is_clutch else (f"{name}.force",)


def _force_details(force: Force) -> str:
    if force.info.along == SENSOR:
        return f"along {force.sensor}"
    if force.is_clutch:
        return f"{force.joint} – {force.leader}"
    if force.info.along == JOINT:
        return f"in {force.joint}"
    if force.info.along == STRANDS:
        return f"over {', '.join(strand.joint or strand.sensor for strand in force.strands)}"
    return f"{force.a or WORLD} – {force.b}"


def _sensor_details(sensor: Sensor) -> str:
    kind = sensor.kind.replace("_", " ")
    if "b" in sensor.info.uses:
        return f"{kind}, {sensor.a or WORLD} – {sensor.b}"
    return f"{kind}, {sensor.joint or sensor.force}"


def _constraint_details(constraint: Constraint) -> str:
    if "sensor" in constraint.info.uses:
        return f"holds {constraint.sensor}"
    if constraint.joints:
        return " follows ".join(constraint.joints)
    return f"{constraint.a or WORLD} – {constraint.b}"


def _driver_details(driver: Driver) -> str:
    coordinate = f".{driver.coordinate}" if driver.coordinate else ""
    motion = "" if driver.motion == "position" else f"{driver.motion} of "
    return f"{motion}{driver.joint or driver.sensor}{coordinate}"


_details: dict[str, Callable[[Any], str]] = {
    "junctions": lambda _junction: "massless point",
    "forces": _force_details,
    "sensors": _sensor_details,
    "constraints": _constraint_details,
    "drivers": _driver_details,
}
"""Functions that return the details shown next to an element's name, by collection."""


def _parameter_row(parameter: Parameter, worth: float | None, units: Units) -> Node:
    value = value_in(parameter.value, {}) if parameter.independent else worth
    shown = "" if value is None else quantity(value, Measure(parameter.dimension), units, 5)
    detail = shown if parameter.independent else f"{parameter.value} = {shown}"
    words = (
        "The file gives no value for this symbol; this one is assumed." if parameter.assumed else parameter.description
    )
    return Node(
        f"parameters:{parameter.name}",
        parameter.name,
        detail + (" ?" if parameter.assumed else ""),
        "parameter",
        Ref("parameters", parameter.name),
        help=words,
    )


def _energy_row() -> Node:
    """Return the row of the energies of the whole machine, which can be dragged onto a plot."""
    rows = [
        Node(f"#energy.{kind}", title, icon="energy", channels=(f"energy.{kind}",), help="Drag it onto a plot")
        for kind, title in (("kinetic", "Kinetic energy"), ("potential", "Potential energy"), ("total", "Total energy"))
    ]
    rows.append(
        Node(
            "#residual",
            "Constraint residual",
            icon="constraint",
            channels=("constraint.residual",),
            help="Violation of the constraints; drag it onto a plot",
        )
    )
    return Node("#whole", "Whole machine", icon="energy", children=rows, folded=True)
