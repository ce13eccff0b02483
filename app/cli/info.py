"""kinetostat info FILE: list what a model consists of."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import click

from app.cli.machine import FILE, build_context, pose_options, read, reading_options
from app.cli.terminal import say

if TYPE_CHECKING:
    from core.functions import Context


@click.command("info")
@FILE
@click.option("--json", "as_json", is_flag=True, help="Output everything as JSON.")
@pose_options
@reading_options
def command(model_file: str, as_json: bool, sets: tuple[str, ...], pose: tuple[str, ...], **reading: Any) -> None:
    """Show bodies, joints, degrees of freedom, mass and coordinates."""
    result = read(model_file, **reading)
    facts = machine_facts(build_context(result.model, sets, pose), model_file)
    facts["findings"] = len(result.findings)
    if as_json:
        say(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        _print_facts(facts)


def machine_facts(machine: Context, file: str) -> dict[str, Any]:
    """Return the properties of a machine as data for JSON, in SI units."""
    from core.analysis.inverse_kinematics import coordinates_at_limits

    model, mech = machine.model, machine.mech
    plain = model.expanded
    masses = body_masses(machine)
    mass = sum(masses.values())
    center = mech.center_of_mass(machine.q) if 0.0 < mass < math.inf else None
    kinds: dict[str, int] = {}
    for joint in plain.joints:
        kinds[joint.kind] = kinds.get(joint.kind, 0) + 1
    return {
        "file": file,
        "name": model.name,
        "description": model.description,
        "bodies": len(plain.bodies),
        "frames": len(plain.frames),
        "joints": len(plain.joints),
        "joint_kinds": kinds,
        "nq": mech.nq,
        "nv": mech.nv,
        "loops": [{"joints": list(loop.joints), "cut": loop.cut} for loop in mech.loops],
        "constraints": [{"name": each.name, "kind": each.kind} for each in plain.constraints],
        "drivers": [each.name for each in plain.drivers],
        "signals": [{"name": each.name, "kind": each.kind} for each in plain.signals],
        "mass": _finite_or_none(mass),
        "center_of_mass": None if center is None else [float(x) for x in center],
        "tool": machine.tool,
        "chains": [{"name": c.name, "convention": c.convention, "rows": len(c.rows)} for c in model.chains],
        "parameters": {name: _finite_or_none(value) for name, value in machine.values.items()},
        "gravity": _gravity_facts(machine),
        "coordinates": [
            {
                "name": c.name,
                "joint": c.joint,
                "dimension": c.dimension,
                "value": float(x),
                "lower": c.lower,
                "upper": c.upper,
            }
            for c, x in zip(mech.coordinates, machine.q, strict=True)
        ],
        "at_limits": list(coordinates_at_limits(mech, machine.q)),
        "speeds": list(mech.v_names),
        "body_masses": {name: _finite_or_none(value) for name, value in masses.items()},
    }


def _finite_or_none(value: float) -> float | None:
    """Return a number for JSON; None for infinity and NaN, which JSON cannot represent."""
    return float(value) if math.isfinite(value) else None


def body_masses(machine: Context) -> dict[str, float]:
    """Return the mass (kg) of every body by name."""
    from core.functions.subjects.description import mass_properties

    table: Any = mass_properties(machine)
    return dict(zip(table.column("Body"), table.column("Mass"), strict=True))


def _gravity_facts(machine: Context) -> Any:
    from core.model.parameters import evaluate_field

    gravity = machine.model.world.gravity
    if gravity.kind != "uniform":
        return gravity.kind
    return [float(evaluate_field(x, machine.values)) for x in gravity.acceleration]


def _amount_text(value: float | None, unit: str = "") -> str:
    return "not finite" if value is None else f"{value:.6g}{unit}"


def _print_facts(facts: dict[str, Any]) -> None:
    from core.functions.results import Table
    from core.functions.text import Amount, Column

    chains = ", ".join(f"{c['name']} ({c['convention']}, {c['rows']} joints)" for c in facts["chains"])
    parameters = ", ".join(f"{name} = {_amount_text(value)}" for name, value in facts["parameters"].items())
    kinds = ", ".join(f"{n} {kind}" for kind, n in facts["joint_kinds"].items())
    say(f"{facts['name']}  ({facts['file']})")
    if facts["description"]:
        say(facts["description"].strip())
    lines = [
        ("Bodies", f"{facts['bodies']} (and {facts['frames']} frame{'s' * (facts['frames'] != 1)})"),
        ("Joints", f"{facts['joints']}" + (f": {kinds}" if kinds else "")),
        ("Coordinates", f"{facts['nq']}, speeds {facts['nv']}"),
        ("Loops", "; ".join(f"closed by {loop['cut']}" for loop in facts["loops"]) or "none"),
        ("Constraints", ", ".join(f"{each['name']} ({each['kind']})" for each in facts["constraints"]) or "none"),
        ("Drivers", ", ".join(facts["drivers"]) or "none"),
        ("Signals", ", ".join(f"{each['name']} ({each['kind']})" for each in facts["signals"]) or "none"),
        ("Mass", _amount_text(facts["mass"], " kg")),
        ("Tool", facts["tool"]),
        ("DH chains", chains or "none"),
        ("Parameters", parameters or "none"),
    ]
    width = max(len(name) for name, _ in lines)
    for name, text in lines:
        say(f"  {name.ljust(width)}  {text}")
    if facts["coordinates"]:
        rows = tuple(
            (
                c["name"],
                Amount(c["value"], c["dimension"]),
                Amount(c["lower"], c["dimension"]),
                Amount(c["upper"], c["dimension"]),
            )
            for c in facts["coordinates"]
        )
        titles = ("Coordinate", "Value", "Lower", "Upper")
        say(Table(title="", columns=tuple(map(Column, titles)), rows=rows).to_text(degrees=True))
