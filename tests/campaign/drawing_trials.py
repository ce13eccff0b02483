"""Linkages drawn at random: whatever is drawn, dragged, dimensioned and undone, the document is valid, its loops are
closed, and undoing it all leads back to where it began."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np

from app.document.session import Session
from core.design import linkage
from core.design.linkage import Drawing, On, Plane, ground
from core.design.linkage.drawing import End
from core.errors import KinetostatError
from core.files import dumps, loads
from core.mechanism import Mechanism
from core.model import Model
from tests.campaign.trials import Unexpected, message

STEPS = 9
REACH = 0.3
"""Size of the part of the plane that is drawn on, m."""
CLOSED_GAP = 1e-10
"""m and rad"""


class DrawingTrials:
    """Sequences of verbs, through a session."""

    patience = 240.0
    long = 60.0

    def __init__(self, folder: Path) -> None:
        pass

    def trial(self, luck: random.Random, folder: Path) -> str:
        """One sequence."""
        session = Session(Model(name="drawn"))
        messages: list[tuple[str, str]] = []
        session.message.connect(lambda severity, text: messages.append((severity, text)))
        plane = linkage.PLANES[luck.choice(list(linkage.PLANES))]
        first, done = session.model, list[str]()
        refused = 0
        for _ in range(luck.randint(2, STEPS)):
            verb = luck.choice(VERBS)
            done.append(verb.__name__)
            (folder / "drawing.txt").write_text("\n".join(done), encoding="utf-8")
            before = session.model
            try:
                new = verb(luck, before, plane)
            except KinetostatError as error:
                message(error)
                refused += 1
                continue
            if not session.apply(verb.__name__, lambda _model, new=new: new):
                refused += 1
                if session.model is not before:
                    raise Unexpected("A refused edit changed the document")
                continue
            (folder / "drawing.kst").write_text(dumps(session.model), encoding="utf-8")
            examined(session.model)
        while session.undo_label:
            session.undo()
        if session.model != first or dict(session.state.pose):
            raise Unexpected("Undoing it all does not lead back")
        return "refused" if refused == len(done) else "drawn"

    def close(self) -> None:
        """Nothing is open."""


TRIALS = DrawingTrials


def examined(model: Model) -> None:
    """The document is read as it was written, and its loops are closed where it was drawn."""
    if loads(dumps(model)) != model:
        raise Unexpected("The document is read otherwise than it was written")
    mech = Mechanism(model)
    if mech.constrained:
        gap = float(np.max(np.abs(mech.constraint_residual(mech.rest())), initial=0.0))
        if not gap < CLOSED_GAP:
            raise Unexpected("Loops are not closed")


# ------------------------------------------------------------------------------- hands


def _point(luck: random.Random) -> tuple[float, float]:
    return round(luck.uniform(-REACH, REACH), 2), round(luck.uniform(-REACH, REACH), 2)


def _end(luck: random.Random, model: Model, plane: Plane) -> End:
    """A new point, or something that is there."""
    if not model.joints or luck.random() < 0.35:
        return _point(luck)
    drawing = Drawing(model, plane)
    return luck.choice(
        (
            lambda: luck.choice([joint.name for joint in model.joints]),
            lambda: luck.choice([body.name for body in model.bodies]),
            lambda: ground(*_point(luck)),
            lambda: (
                On(luck.choice([body.name for body in model.bodies]), luck.choice(drawing.pins or (None,)).point)
                if drawing.pins
                else _point(luck)
            ),
            lambda: On(luck.choice([body.name for body in model.bodies]), _point(luck)),
        )
    )()


def draw_links(luck: random.Random, model: Model, plane: Plane) -> Model:
    """A chain."""
    points = [_end(luck, model, plane), *(_point(luck) for _ in range(luck.randint(0, 2))), _end(luck, model, plane)]
    return linkage.link(model, points, plane=plane)


def draw_slider(luck: random.Random, model: Model, plane: Plane) -> Model:
    """A slider somewhere."""
    return linkage.slider(model, _end(luck, model, plane), luck.choice((0.0, "90 deg", 0.4)), plane=plane)


def draw_slot(luck: random.Random, model: Model, plane: Plane) -> Model:
    """A pin in a slot."""
    return linkage.slot(model, _end(luck, model, plane), _body(luck, model), plane=plane)


def hold_or_release(luck: random.Random, model: Model, plane: Plane) -> Model:
    """A ground pin."""
    return linkage.ground_pin(model, _end(luck, model, plane), plane=plane)


def mesh_wheels(luck: random.Random, model: Model, plane: Plane) -> Model:
    """A gear pair."""
    ratio = luck.choice((-1.0, -2.0, (20, 30), (-60, 20), 0.0, 1.0))
    return linkage.gears(model, _joint(luck, model), _joint(luck, model), ratio, plane=plane)


def add_mass(luck: random.Random, model: Model, plane: Plane) -> Model:
    """A mass point."""
    return linkage.mass_point(model, _end(luck, model, plane), luck.choice((1.0, 0.0, "2 kg")), plane=plane)


def add_spring(luck: random.Random, model: Model, plane: Plane) -> Model:
    """A spring."""
    return linkage.spring(model, _end(luck, model, plane), _end(luck, model, plane), plane=plane)


def add_point(luck: random.Random, model: Model, plane: Plane) -> Model:
    """A tracer point, or a corner."""
    add: Callable[..., Model] = luck.choice((linkage.tracer, linkage.corner))
    return add(model, _body(luck, model), _point(luck), plane=plane)


def drive(luck: random.Random, model: Model, plane: Plane) -> Model:
    """A motor, or none any more."""
    return linkage.motor(model, _joint(luck, model), plane=plane)


def change_dimension(luck: random.Random, model: Model, plane: Plane) -> Model:
    """A length, an angle, a distance."""
    names = [parameter.name for parameter in model.parameters] or ["l1"]
    value: float | str = luck.choice((round(luck.uniform(0.01, 0.5), 3), "2*l1", "l1", -0.1, 0.0))
    if luck.random() < 0.7:
        return linkage.dimension(model, luck.choice(names), value)
    if luck.random() < 0.5:
        return linkage.link_angle(model, _joint(luck, model), luck.uniform(-3.0, 3.0), plane=plane)
    return linkage.ground_distance(
        model, _joint(luck, model), _joint(luck, model), luck.uniform(0.05, 0.4), plane=plane
    )


def drag_pin(luck: random.Random, model: Model, plane: Plane) -> Model:
    """A pin goes elsewhere."""
    drawing = Drawing(model, plane)
    start = luck.choice(drawing.pins).point if drawing.pins else (0.0, 0.0)
    locked = [parameter.name for parameter in model.parameters if luck.random() < 0.2]
    return linkage.moved_pin(model, start, _point(luck), plane=plane, locked=locked)


def flip(luck: random.Random, model: Model, plane: Plane) -> Model:
    """The other branch."""
    return linkage.flipped(model, _joint(luck, model), plane=plane)


def _joint(luck: random.Random, model: Model) -> str:
    return luck.choice([joint.name for joint in model.joints] or ["A"])


def _body(luck: random.Random, model: Model) -> str:
    return luck.choice([body.name for body in model.bodies] or ["link1"])


VERBS = (
    *(draw_links,) * 4,
    draw_slider,
    draw_slot,
    hold_or_release,
    mesh_wheels,
    add_mass,
    add_spring,
    add_point,
    drive,
    *(change_dimension,) * 2,
    *(drag_pin,) * 2,
    flip,
)
