"""Channels of a run that the user can choose from: a tree grouped by element, with titles and units. Does not use
Qt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from app.preferences.element_icons import joint_icon
from app.widgets.quantities.quantity_text import Measure, Units, measure_of
from core.errors import ExpressionError
from core.later import dataclass
from core.model.formula.expression import parse
from core.model.formula.formula_units import numbers_without_unit
from core.model.units import UNITS
from core.simulation.run.channels import FRAME
from core.simulation.run.run import Run

TITLES = {
    "q": "coordinate",
    "v": "speed",
    "a": "acceleration",
    "tau": "joint force",
    "reaction": "reaction",
    "position": "position",
    "orientation": "orientation",
    "velocity": "velocity",
    "omega": "angular velocity",
    "acceleration": "acceleration",
    "alpha": "angular acceleration",
    "force": "force",
    "length": "length",
    "rate": "rate",
    "power": "power",
    "kinetic": "kinetic",
    "potential": "potential",
    "total": "total",
    "linear": "linear momentum",
    "angular": "angular momentum",
    "residual": "constraint residual",
    "mode": "friction or contact state",
    "loss": "dissipated energy",
    "stored": "stored energy",
}
"""Titles of quantities."""
ENERGIES = {
    "friction": "dissipated by friction",
    "stops": "dissipated in stops",
    "in_stops": "stored in stops",
    "dampers": "dissipated in dampers",
    "motors": "work of motors",
    "drivers": "work of drivers",
    "controllers": "work of controllers",
    "balance": "energy balance",
}
"""Titles of the terms of the energy balance."""


@dataclass(frozen=True)
class ChannelRow:
    """Row of the tree: a group (without a channel), or a channel with its components below it."""

    text: str
    channel: str = ""
    icon: str = ""
    children: tuple[ChannelRow, ...] = ()


# ------------------------------------------------------------------------------- names


def split_component(run: Run, name: str) -> tuple[str, str]:
    """Split a name into (channel, component): "tool.position.x" is component x of "tool.position"."""
    if name in run.channels:
        return name, ""
    head, _, tail = name.rpartition(".")
    return (head, tail) if head in run.channels else (name, "")


def component_names(run: Run, channel: str) -> tuple[str, ...]:
    """Return the scalar channels that make up a channel: the channel itself, or "tool.position.x" …"""
    values = run[channel]
    if values.ndim == 1:
        return (channel,)
    count = int(values.reshape(len(values), -1).shape[1])
    return tuple(f"{channel}.{suffix}" for suffix in run.computed_channels.components(channel, count))


# ------------------------------------------------------------------------------- units


def physical_dimension(run: Run, name: str) -> Measure:
    """Return the physical dimension of a channel or formula."""
    dimension = run.dimension(name)
    if dimension == "none" and name not in run.channels:
        return Measure("none", run.computed_channels.formula_dimension(name).unit)
    return measure_of(dimension)


def plain_number_notes(run: Run, name: str, units: Units) -> list[str]:
    """Return notes about numbers without a unit in a formula, next to quantities that are not displayed in SI units:
    "180 - elbow.q" is in radians, although its curve is drawn in degrees."""
    if name in run.channels:
        return []
    try:
        found = list(numbers_without_unit(parse(name), run.computed_channels.name_dimension))
    except ExpressionError:
        return []
    notes = []
    for number, dimension in found:
        shown = measure_of(dimension.kind).display_unit(units)
        if shown.symbol != dimension.unit:
            written = {"°": "deg"}.get(shown.symbol, shown.symbol)
            remedy = f"write {number.value:g} {written} for {shown.symbol}" if written in UNITS else "write a unit"
            notes.append(f"In '{name}', the number {number.value:g} is taken in {dimension.unit}; {remedy}.")
    return list(dict.fromkeys(notes))


# ------------------------------------------------------------------------------- the tree


def build_channel_tree(run: Run) -> tuple[ChannelRow, ...]:
    """Return all channels of a run, grouped by the element they belong to."""
    mech, model = run.mech, run.model.expanded
    by_owner: dict[str, list[str]] = {}
    for channel in run.channels:
        owner = channel.rpartition(".")[0]
        by_owner.setdefault(owner, []).append(channel)
    bodies = {body.name for body in model.bodies}
    constraining: tuple[Any, ...] = (*model.constraints, *model.drivers)
    elements = {
        "Sensors": ("sensor", [s.name for s in model.sensors]),
        "Forces": ("force", [f.name for f in model.forces]),
        "Constraints and drivers": ("constraint", [c.name for c in constraining]),
    }
    special = {name for _, names in elements.values() for name in names}
    frames = {
        "Bodies": [n for n in mech.frame_names if n in bodies],
        "Frames": [n for n in mech.frame_names if n not in bodies],
    }
    acting: dict[str, list[str]] = {}
    """Joints with contact states, and force elements with friction."""
    for name, (k, _) in run.computed_channels.modes.contact_elements.items():
        acting.setdefault(run.computed_channels.modes.rows[k].owner, []).append(name)
    joints = [
        owner
        for owner in by_owner
        if owner and owner not in special and any(c.rpartition(".")[2] in ("q", "reaction") for c in by_owner[owner])
    ]
    groups = [_group_row("Joints", "joint", [_joint_row(run, n, by_owner, acting) for n in joints], joints)]
    for title, (drawing, names) in elements.items():
        rows = [_element_row(run, name, by_owner, drawing) for name in names]
        groups.append(_group_row(title, drawing, [row for row in rows if row is not None], names))
    for title, names in frames.items():
        drawing = "body" if title == "Bodies" else "frame"
        of_frames = {n: [c for c in by_owner.get(n, []) if c.rpartition(".")[2] in FRAME] for n in names}
        groups.append(_group_row(title, drawing, [_owner_row(run, n, of_frames[n], drawing) for n in names], names))
    whole = [c for c in run.channels if c.partition(".")[0] in ("energy", "momentum", "constraint")]
    groups.append(_group_row("Machine", "model", [_channel_row(run, channel) for channel in whole], whole))
    return tuple(group for group in groups if group.children)


def _group_row(title: str, icon: str, rows: list[ChannelRow], _names: list[str]) -> ChannelRow:
    return ChannelRow(title, "", icon, tuple(rows))


def _owner_row(run: Run, name: str, channels: list[str], icon: str) -> ChannelRow:
    drawings = {joint.name: joint_icon(joint.kind) for joint in run.model.expanded.joints}
    return ChannelRow(name, "", drawings.get(name, icon), tuple(_channel_row(run, channel) for channel in channels))


def _joint_row(run: Run, name: str, by_owner: dict[str, list[str]], acting: dict[str, list[str]]) -> ChannelRow:
    """Return the row of a joint with its quantities, and below them its friction, stops and limits."""
    entry = _owner_row(run, name, by_owner[name], "joint")
    things = (
        ChannelRow(
            thing.removeprefix(f"{name}.").replace("_", " "),
            "",
            "plot",
            tuple(
                _channel_row(run, channel) for channel in sorted(by_owner[thing], key=lambda c: not c.endswith(".mode"))
            ),
        )
        for thing in acting.get(name, ())
    )
    return replace(entry, children=(*entry.children, *things))


def _element_row(run: Run, name: str, by_owner: dict[str, list[str]], icon: str) -> ChannelRow | None:
    """Return the row of an element: a sensor shows its value, with its time derivatives below; other elements have only
    rows of quantities."""
    own = [name] if name in run.channels else []
    found = own + by_owner.get(name, [])
    return ChannelRow(name, "", icon, tuple(_channel_row(run, channel) for channel in found)) if found else None


_PARTS = {
    **dict.fromkeys(
        ("position", "velocity", "omega", "acceleration", "alpha", "linear", "angular"), ("x", "y", "z", "magnitude")
    ),
    "orientation": ("qx", "qy", "qz", "qw"),
    "reaction": ("force", "fx", "fy", "fz", "torque", "tx", "ty", "tz"),
}


def _channel_row(run: Run, channel: str) -> ChannelRow:
    """Return the row of a channel, with its components below it if it has several."""
    owner, _, what = channel.rpartition(".")
    title = TITLES.get(what, what) if owner else "value"
    if channel in run.model.expanded.index("sensor"):
        parts: tuple[str, ...] = tuple(filter(None, run.model.expanded.find("sensors", channel).info.components))
        return ChannelRow("value", channel, "plot", tuple(ChannelRow(p, f"{channel}.{p}", "plot") for p in parts))
    if what in ("length", "force") and (turned := run.dimension(channel)) in ("angle", "torque"):
        title = turned
    if owner in ("energy", "momentum", "constraint"):
        title = ENERGIES.get(what, f"{title} energy") if owner == "energy" else title
    parts = tuple(_PARTS.get(what, ()) if owner not in ("energy",) else ())
    if what in ("q", "v", "a", "tau") and not parts:
        names = run.mech.q_names if what == "q" else run.mech.v_names
        parts = tuple(n[len(owner) + 1 :] for n in names if n.startswith(f"{owner}."))
    return ChannelRow(title, channel, "plot", tuple(ChannelRow(p, f"{channel}.{p}", "plot") for p in parts))


def iterate_channel_rows(rows: tuple[ChannelRow, ...]) -> Iterator[ChannelRow]:
    """Iterate over all rows with a channel, depth first."""
    for row in rows:
        if row.channel:
            yield row
        yield from iterate_channel_rows(row.children)


# ------------------------------------------------------------------------------- proposals


def suggest_plots(run: Run) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return plots that the user probably wants to see: title → (x axis, channels)."""
    from core.analysis.tool_frame import tool_frame

    moving = [name for name in run.mech.joint_names if f"{name}.q" in run.channels][:6]
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    if moving:
        found["Joint coordinates"] = "time", tuple(f"{name}.q" for name in moving)
        found["Joint speeds"] = "time", tuple(f"{name}.v" for name in moving)
    sensors = tuple(sensor.name for sensor in run.model.expanded.sensors if sensor.name in run.channels)[:6]
    if sensors:
        found["Sensors"] = "time", sensors
    things = tuple(run.computed_channels.modes.contact_elements)
    if modes := tuple(f"{name}.mode" for name in things)[:6]:
        found["Friction and contact states"] = "time", modes
    taken = ((".friction", "energy.friction"), (".stop", "energy.stops"))
    lost = tuple(energy for ending, energy in taken if any(name.endswith(ending) for name in things))
    found["Energies"] = "time", ("energy.kinetic", "energy.potential", "energy.total", *lost)
    tool = tool_frame(run.model)
    if f"{tool}.position" in run.channels:  # not where there is no body
        found[f"Position of {tool}"] = "time", tuple(f"{tool}.position.{axis}" for axis in "xyz")
        spread = {axis: float(run[f"{tool}.position"][:, k].std()) for k, axis in enumerate("xyz")}
        across, up = sorted(sorted(spread, key=lambda axis: -spread[axis])[:2])
        found[f"Path of {tool}"] = f"{tool}.position.{across}", (f"{tool}.position.{up}",)
    if len(moving) == 1:
        found["Phase portrait"] = f"{moving[0]}.q", (f"{moving[0]}.v",)
    driving = tuple(f"{each.name}.force" for each in run.model.expanded.drivers if f"{each.name}.force" in run.channels)
    if driving:
        found["Driving forces"] = "time", driving[:6]
    if loaded := tuple(f"{name}.reaction.force" for name in _moving_joints(run)[:6]):
        found["Forces in joints"] = "time", loaded
    if run.mech.constrained:
        found["Constraint residual"] = "time", ("constraint.residual",)
    return found


def _moving_joints(run: Run) -> list[str]:
    """Return the joints that move, and the loop-closing joints whose reactions are recorded by the run."""
    moving = [joint.name for joint in run.model.expanded.joints if joint.info.nv]
    return [name for name in moving if f"{name}.reaction" in run.channels]
