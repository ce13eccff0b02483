"""Help on the parts of the window and on the elements of a model, the latter generated from their declared fields."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from app.panels.panel import panels
from app.tools.draw.sub_tools import SUB_TOOLS
from app.widgets.fields.titles import title_of, type_title
from core.model import COLLECTIONS, JOINT_KINDS, SENSOR_KINDS, Limit, Model
from core.model.constraints import CONSTRAINT_KINDS
from core.model.element_kinds import ElementKind
from core.model.fields import Element, fields_of
from core.model.forces import FORCE_KINDS

PARTS = {
    "scene": (
        "3-D view",
        "Left drag orbits, middle drag or Shift+drag pans, the wheel zooms to the pointer; a double click sets the "
        "centre of orbits. A click selects; with the pointer at rest on a link its joint's handle appears: drag its "
        "ring or arrow. A right click offers the actions for the item under the pointer. The cube turns the view, "
        "the buttons beside it choose what is drawn.",
    ),
    "timeline": (
        "Timeline",
        "Plays a run or a sequence of poses. Drag the slider, Space plays and pauses, ← and → step, Home and End go "
        "to the ends. ✓ keeps the pose that is shown, ✕ goes back to the pose before. Flags above the track mark where "
        "joints slipped, stuck or met a stop or a limit: rest on one to read it, click it to go there. The "
        "lanes below show the friction and contact states of each joint; a click goes to the instant, near a change "
        "of colour exactly there. The words beneath the lanes name the colours; beside them all lanes are unfolded.",
    ),
    "status": (
        "Status line",
        "What the chosen tool does, the computation in progress (with a button that stops it), and the degrees "
        "of freedom of the machine; the function Mobility says which motions they are.",
    ),
}
"""Title and description of each part of the window that is not a panel."""

_MEANT = {
    "parameters": "A named number. It can stand in every formula of the model, and has a slider.",
    "materials": "A named colour of shapes.",
    "bodies": "A rigid body: mass, centre of mass, inertia about it, and shapes. Without shapes a plain link is drawn.",
    "frames": "A named place on a body: for tools, sensors, ends of springs.",
    "joints": "Joins two bodies, or a body and the world. A joint that closes a loop is an ordinary joint.",
    "chains": "A Denavit–Hartenberg table, standard or modified: a row makes a joint and a link.",
    "assemblies": "The machine of another file, with values of its own for that file's parameters.",
    "junctions": "A point without mass at which forces along lines meet; it stands where they balance.",
    "sensors": "Something measured: distances, angles, velocities, forces; for plots, formulas, drivers.",
    "forces": "Springs, dampers, and forces by formulas or tables.",
    "constraints": "Holds a sensor at a value, couples two joints as gears do, or joins two points by a rod.",
    "drivers": "Moves a joint or a sensor as a function of time; its force is what that needs.",
}
"""Description of an element by its collection; functions of the machine describe themselves."""


def _kinds() -> dict[str, list[tuple[str, str]]]:
    """Return the kinds of elements with their descriptions, by collection."""
    of_elements: dict[str, Mapping[str, type[ElementKind]]] = {"forces": FORCE_KINDS, "constraints": CONSTRAINT_KINDS}
    return {
        "joints": [
            (kind.name, f"{kind.help[:-1]} ({kind.nv} degree{'s' * (kind.nv != 1)} of freedom)")
            for kind in JOINT_KINDS.values()
        ],
        "sensors": [(kind.name, kind.title) for kind in SENSOR_KINDS.values()],
        **{
            collection: [(kind.name, f"{kind.title}. {kind.help}".rstrip(". ") + ".") for kind in kinds.values()]
            for collection, kinds in of_elements.items()
        },
    }


_DRAWING = (
    ("Double click", "ends on the ground; Enter or a right click ends free"),
    ("Shift+click", "adds a third point to a link, which becomes a plate"),
    ("Digits, signs, =", "a length, length < angle, or u, v of a point, with units and formulas; Enter takes it"),
    ("Backspace", "takes the last link back; Esc drops what hangs at the pointer, a second Esc leaves Draw"),
    ("Arrow keys", "move the pin under the pointer by a step of the grid"),
    ("Tab", "another plane, before the first click; 0 looks at it obliquely, 1 flat again"),
    (
        "… beside the plane",
        "a plane: offset, turned, through the selected joint, or on a face (Shift+D: under the pointer)",
    ),
    ("V", "the other branch of the two links at the pin under the pointer"),
    ("Alt", "a new point even on an existing one; Ctrl: no snapping to grid and directions"),
)
"""Rules that apply to all drawing tools."""


_LAWS = """
<h4>Friction</h4>
<p>At rest friction is whatever holds the joint, at most F<sub>s</sub> (friction at rest). While it slides with the
speed v it acts against the motion with F<sub>k</sub> + (F<sub>s</sub> − F<sub>k</sub>) e<sup>−(v/v<sub>s</sub>)²</sup>
(F<sub>k</sub>: friction while it slides, v<sub>s</sub>: Stribeck speed), besides the viscous damping d v. Without a
friction at rest both are the same. What sticks does not creep. In a ball joint, and in the plane of a planar joint,
friction is one vector opposite to the speed, at most of that length, however the axes are turned.</p>
<p>A <b>brake</b> is a joint whose friction is a formula of time, coordinates and speeds, such as min(40*t, 12); where
it is zero the joint is free. A <b>clutch</b> is a force element: the same friction between two joints, against
v − ratio · v of the leader. It slips until both turn alike, then holds what its friction at rest can carry. Formulas
of friction must not become negative.</p>
<h4>Stops</h4>
<p>An <b>elastic</b> stop that is pushed in by p presses with k p + d ṗ; it never pulls. Without a damping of its own
d = 2 ζ √(k m) follows from the restitution e and the inertia m that is met: ζ = cos α, e = exp(−2 α cot α), at any
speed. The law <b>hunt_crossley</b>, k p (1 + c ṗ), begins without a jump of the force; there e holds at the speed v
that the limits are made for: (1 + e) δ = ln((1 + δ)/(1 − e δ)) with δ = c v. What hardly swings in its stop any more,
less than the tolerance of the run, is held until its load changes. Where no stiffness is given, k = m (v/p)² with the
inertia m that the machine shows at the joint when it first meets the stop, and a thousandth of the way between the
limits as p; a note of the run tells it. A <b>rigid</b> stop throws back at once: the speed after an impact is −e
times the one before; bounces that become ever shorter end at rest.</p>
<h4>Modes</h4>
<p>Runs record the state of each of them, as channels like <i>elbow.friction.mode</i>: stick, slide+, slide- (onward,
backward; slide of a ball joint), saturated (at rest with all the friction there is, because others hold it), free (of a
brake or clutch that has none); open, closed, leaving (of an
elastic stop, on its way out without a force); free, at limit; overrun (loads are faster than the speed limit);
saturated+, saturated- (the command of a motor is more than its effort limit).</p>
"""
"""Description of friction and stops of joints."""


def drawing_keys() -> str:
    """Return the keys of the drawing tools and further mouse actions (HTML)."""
    rows = [(each.key.upper(), f"{each.title}: {each.help}") for each in SUB_TOOLS.values()]
    listed = "".join(
        f"<tr><td><b>{escape(key)}</b></td><td>{escape(meant)}</td></tr>" for key, meant in (*rows, *_DRAWING)
    )
    return f"<h4>In Draw</h4><table cellspacing='0' cellpadding='4'>{listed}</table>"


def window_topics() -> dict[str, tuple[str, str]]:
    """Return title and text (HTML) by topic id: "panel.<id>" and "element.<collection>"."""
    parts = {**PARTS, **{panel.id: (panel.title, panel.help) for panel in panels()}}
    found = {f"panel.{name}": (title, f"<h2>{title}</h2><p>{text}</p>") for name, (title, text) in parts.items()}
    found["element.model"] = (
        "Whole model",
        _element_text("Whole model", "What holds for the machine as a whole.", Model, []),
    )
    kinds = _kinds()
    for collection, element in COLLECTIONS.items():
        title = type_title(element)
        title = title[:1].upper() + title[1:]
        text = _element_text(title, _MEANT.get(collection) or element.meaning, element, kinds.get(collection, []))
        found[f"element.{collection}"] = (title, text + _AFTER.get(collection, ""))
    return found


def _field_rows(element: type[Element]) -> str:
    """Return a table row per field; the field's name is the row's anchor."""
    return "".join(
        f'<tr><td><a name="{field.name}"></a><b>{escape(title_of(field, element))}</b></td>'
        f"<td>{escape(field.help)}</td></tr>"
        for field in fields_of(element)
        if element is not Model or field.name in ("name", "description", "world")
    )


_AFTER = {"joints": f"<h4>Limits</h4><table cellspacing='0' cellpadding='4'>{_field_rows(Limit)}</table>{_LAWS}"}
"""Text after the table of fields, by collection."""


def _element_text(title: str, meaning: str, element: type[Element], kinds: list[tuple[str, str]]) -> str:
    """Return heading, meaning, kinds, and a table row per field; a field's name is the anchor of its row."""
    rows, table = _field_rows(element), "<table cellspacing='0' cellpadding='4'>"
    listed = "".join(f"<tr><td><b>{escape(name)}</b></td><td>{escape(meant)}</td></tr>" for name, meant in kinds)
    said = f"<h4>Kinds</h4>{table}{listed}</table>" if kinds else ""
    return f"<h2>{escape(title)}</h2><p>{escape(meaning)}</p>{said}<h4>Fields</h4>{table}{rows}</table>"
