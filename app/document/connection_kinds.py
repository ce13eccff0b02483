"""Kinds of elements that are added by picking points, each with the picks it needs: forces, sensors, constraints,
drivers, joints."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from app.document.connection_draft import PickedItem, carrying_joint_axis, measure_surroundings
from app.document.joining import add_joint_in_place
from app.document.revision import ElementRef
from app.document.session import Session
from app.preferences.element_icons import joint_icon
from core.errors import KinetostatError
from core.later import dataclass
from core.model import JOINT_KINDS, SENSOR_KINDS, WORDS, Model, new_elements
from core.model.edits import edits
from core.model.fields import Element
from core.synonyms import get_synonyms
from viz.drawlist.elements import find_look

Make = Callable[[Session, Model, tuple[PickedItem, ...]], Element | Model]
"""make(session, model with the picked frames, picks) → the new element, or a model with several new elements."""


@dataclass(frozen=True)
class ConnectionKind:
    """A kind of element that is added by picking points.

    wants: what is to be pointed at, in this order: "point" (body, frame, junction or ground), "frame" (no junction),
    "joint" or "sensor"
    also: what others call it
    """

    id: str
    title: str
    icon: str
    menu: str
    wants: tuple[str, ...]
    make: Make
    help: str
    joint: str = ""
    """The kind of joint, if the element is a joint: its two points then may be brought together."""
    makes_own_frames: bool = False
    """True if the element creates its own frames: picks then refer to the bodies themselves."""
    also: tuple[str, ...] = ()

    def build_element(self, session: Session, picks: tuple[PickedItem, ...]) -> bool:
        """Add the element as one undo step and select it; returns False after reporting the error if that fails."""
        model = session.model
        picks = tuple(pick.as_body_pick for pick in picks) if self.makes_own_frames else picks
        try:
            for pick in picks:
                model = edits.add(model, pick.frame) if pick.frame is not None else model
            made = self.make(session, model, picks)
            new = made if isinstance(made, Model) else edits.add(model, made)
        except KinetostatError as error:
            session.message.emit("error", str(error))
            return False
        element: Any = _newest_element(model, new)
        ref = ElementRef(edits.collection_of(element), element.name)
        return session.apply(f"Add {WORDS[ref.collection]} {ref.name}", lambda _m: new, select=ref)


def _newest_element(old: Model, new: Model) -> Element:
    known = {(collection, element.name) for collection, element in old.elements()}
    return next(element for collection, element in new.elements() if (collection, element.name) not in known)


def _line_force_maker(kind: str) -> Make:
    return lambda session, model, picks: new_elements.line_force(
        model, kind, picks[0].name, picks[1].name, measure_surroundings(session, picks)
    )


def _rod_maker(kind: str) -> Make:
    return lambda session, model, picks: new_elements.rod(
        model, kind, picks[0].name, picks[1].name, measure_surroundings(session, picks)
    )


def _add_junction(session: Session, model: Model, picks: tuple[PickedItem, ...]) -> Model:
    return new_elements.add_junction(
        model, [p.name for p in picks], [p.place for p in picks], measure_surroundings(session, picks)
    )


def _sensor_maker(kind: str) -> Make:
    def make_sensor(session: Session, model: Model, picks: tuple[PickedItem, ...]) -> Element:
        sensor = new_elements.sensor(model, kind, [pick.name for pick in picks])
        return dataclasses.replace(sensor, axis=carrying_joint_axis(session, picks)) if sensor.info.turns else sensor

    return make_sensor


def _joint_maker(kind: str) -> Make:
    return lambda session, model, picks: add_joint_in_place(session, model, kind, picks)


_TWO = ("point", "point")
_FORCES = (
    ConnectionKind(
        "spring_damper",
        "Spring and damper",
        "spring_damper",
        "Add/Force",
        _TWO,
        _line_force_maker("spring_damper"),
        "A spring and a damper in parallel between two points; the spring is relaxed in the present pose.",
    ),
    ConnectionKind(
        "spring",
        "Spring",
        "spring",
        "Add/Force",
        _TWO,
        _line_force_maker("spring"),
        "A spring between two points, relaxed in the present pose.",
        also=("elastic",),
    ),
    ConnectionKind(
        "damper",
        "Damper",
        "damper",
        "Add/Force",
        _TWO,
        _line_force_maker("damper"),
        "A damper between two points.",
        also=("dashpot",),
    ),
    ConnectionKind(
        "series",
        "Spring and damper in series",
        "series",
        "Add/Force",
        _TWO,
        _line_force_maker("series"),
        "A spring and a damper in series, without a mass between them.",
    ),
    ConnectionKind(
        "line_force",
        "Force along a line",
        "line_force",
        "Add/Force",
        _TWO,
        _line_force_maker("line_force"),
        "A force that pulls two points together, given by a formula of length, rate, time and state.",
        also=("rubber band", "muscle", "tendon"),
    ),
    ConnectionKind(
        "junction",
        "Springs at a junction",
        "junction",
        "Add/Force",
        _TWO,
        _add_junction,
        "A massless point between two points, held by springs; further elements can be attached to it.",
    ),
    ConnectionKind(
        "force",
        "Force",
        "force",
        "Add/Force",
        ("frame",),
        lambda _s, m, p: new_elements.wrench(m, "force", p[0].name),
        "A force on a body or frame, in the axes of any frame, as numbers or formulas.",
    ),
    ConnectionKind(
        "torque",
        "Torque",
        "torque",
        "Add/Force",
        ("frame",),
        lambda _s, m, p: new_elements.wrench(m, "torque", p[0].name),
        "A torque on a body, in the axes of any frame, as numbers or formulas.",
    ),
    ConnectionKind(
        "contact",
        "Contact of shapes",
        "contact",
        "Add/Force",
        ("frame", "frame"),
        lambda _s, m, p: new_elements.contact(m, p[0].name, p[1].name),
        "Keeps the shapes of two bodies, or of a body and the ground, out of each other, with friction.",
        makes_own_frames=True,
        also=("collision", "floor", "touch", "bounce", "friction", "rolling"),
    ),
    ConnectionKind(
        "joint_spring",
        "Spring in a joint",
        "torsion_spring",
        "Add/Force",
        ("joint",),
        lambda s, m, p: new_elements.joint_spring(m, p[0].name, measure_surroundings(s, p)),
        "A spring and damper acting on a joint coordinate; the spring is relaxed in the present pose.",
    ),
)
_CONSTRAINTS = (
    ConnectionKind(
        "rod",
        "Rod",
        "rod",
        "Add/Constraint",
        ("frame", "frame"),
        _rod_maker("rod"),
        "A massless rod with a ball joint at each end: keeps the distance between two points constant.",
        also=("wire", "cable", "rope", "string", "strut"),
    ),
    ConnectionKind(
        "universal_rod",
        "Rod with a universal joint",
        "rod",
        "Add/Constraint",
        ("frame", "frame"),
        _rod_maker("universal_rod"),
        "A massless rod with a universal joint at its first point, so that it cannot spin about its own axis.",
    ),
    ConnectionKind(
        "gear",
        "Gear",
        "gear",
        "Add/Constraint",
        ("joint", "joint"),
        lambda s, m, p: new_elements.gear(m, p[0].name, p[1].name, measure_surroundings(s, p)),
        "Couples the second joint to the first with a fixed ratio, as gears do.",
        also=("belt", "chain", "pulley", "timing", "transmission"),
    ),
    ConnectionKind(
        "clutch",
        "Clutch",
        "clutch",
        "Add/Force",
        ("joint", "joint"),
        lambda s, m, p: new_elements.clutch(m, p[0].name, p[1].name, measure_surroundings(s, p)),
        "Dry friction between two joints: it slips until both have the same speed, then sticks.",
        also=("dry friction", "coupling", "slip"),
    ),
    ConnectionKind(
        "hold",
        "Hold a sensor value",
        "lock",
        "Add/Constraint",
        ("sensor",),
        lambda s, m, p: new_elements.hold_sensor_value(m, p[0].name, measure_surroundings(s, p)),
        "Constraint that keeps the value of a sensor at its present value.",
    ),
    ConnectionKind(
        "driver",
        "Driver",
        "driver",
        "Add",
        ("joint",),
        lambda s, m, p: new_elements.driver(m, p[0].name, measure_surroundings(s, p)),
        "Moves a joint by a formula of time, a table or a recorded signal, starting at its present value.",
        also=(
            "motor",
            "actuator",
            "input",
            "drive",
            "crank",
            "servo",
            "trajectory",
            "waypoints",
            "keyframes",
            "motion profile",
        ),
    ),
)


def _sensor_connection(kind: str) -> ConnectionKind:
    info = SENSOR_KINDS[kind]
    if "joint" in info.uses:
        wants: tuple[str, ...] = ("joint",)
    else:
        wants = ("frame", "frame") if info.is_geometric else ("frame",)
    return ConnectionKind(
        f"sensor_{kind}",
        info.title,
        find_look("sensors", kind).kind_icon,
        "Add/Sensor",
        wants,
        _sensor_maker(kind),
        f"{info.title}: shown in the scene and available in plots, formulas, constraints and drivers.",
    )


_SENSORS = tuple(_sensor_connection(kind) for kind in SENSOR_KINDS)
_JOINTS = tuple(
    ConnectionKind(
        f"joint_{kind}",
        f"{info.title} joint",
        joint_icon(kind),
        "Add/Joint between two points",
        ("frame", "frame"),
        _joint_maker(kind),
        f"Connect two bodies by a {kind} joint: move two points together, or join the bodies where they are.",
        joint=kind,
        makes_own_frames=True,
        also=get_synonyms(kind),
    )
    for kind, info in JOINT_KINDS.items()
)

CONNECTIONS: dict[str, ConnectionKind] = {each.id: each for each in (*_FORCES, *_CONSTRAINTS, *_SENSORS, *_JOINTS)}
"""All kinds of elements added by picking."""
