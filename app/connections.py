"""What was pointed at to connect it, and what the machine around it is like now."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.session import Session
from core.errors import KinetostatError
from core.kernel.reading import Numbers
from core.model import WORLD, Frame, Joint
from core.model.connections import Surroundings
from viz.dimensions import Readings, in_si
from viz.junctions import guesses, in_balance
from viz.placement import inverse, numbers

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Pick:
    """Something pointed at: its name, where it is (m, world), and the frame that is to be made there, if one is."""

    name: str
    place: tuple[float, float, float] = (0.0, 0.0, 0.0)
    frame: Frame | None = None
    what: str = "point"


def poses(session: Session) -> dict[str, Array]:
    """(4, 4) world ← every body, frame and junction, as they now stand."""
    found: dict[str, Array] = {WORLD: np.eye(4), **guesses(session.model, session.model.values(session.p))}
    arrays = np.asarray(session.mech.poses(session.q, p=session.p), dtype=float)
    found.update(zip(session.mech.frame_names, arrays, strict=True))
    found.update(in_balance(session.mech, session.q, session.p))
    return found


def surroundings(session: Session, picks: tuple[Pick, ...]) -> Surroundings:
    """Distance of the picked points, mass of the machine, present values of picked joints or of a picked sensor."""
    points = [pick.place for pick in picks if pick.what == "point"]
    distance = math.dist(points[0], points[1]) if len(points) == 2 else 0.0
    values: tuple[float, ...] = ()
    for pick in picks:
        if pick.what == "joint":
            values += tuple(float(x) for x in session.mech.coordinate(session.q, pick.name)[:1])
        elif pick.what == "sensor":
            values += measured(session, pick.name)
    return Surroundings(distance, total_mass(session), values)


def measured(session: Session, sensor: str) -> tuple[float, ...]:
    """What a geometric sensor of one component measures now, SI; () for others."""
    found = session.model.expanded.find("sensors", sensor)
    value = Readings(session.model, session.model.values(session.p), in_si).value(found, poses(session))
    return (value,) if math.isfinite(value) else ()


def total_mass(session: Session) -> float:
    """Mass of all bodies, kg; 1 where none can be found."""
    values, total = session.model.values(session.p), 0.0
    for body in session.model.expanded.bodies:
        try:
            total += float(Numbers(values, session.model.origin).inertia(body).mass)
        except KinetostatError:
            continue
    return total if total > 0.0 else 1.0


def pick_of(session: Session, name: str, known: dict[str, Array] | None = None) -> Pick:
    """A body, frame, junction or the ground as pointed at by its origin; `known` are the poses, if they are at hand."""
    x, y, z = (known or poses(session))[name][:3, 3].tolist()
    return Pick(name, (x, y, z))


def frame_at(session: Session, body: str, place: Array, taken: tuple[str, ...] = ()) -> Pick:
    """A point on a body (or the ground), with a new frame that is to be fixed there."""
    from core.model import Pose, edits

    local = inverse(poses(session)[body]) @ np.array([*place, 1.0])
    name = edits.unused_name(session.model, "frames", f"{body}_point" if body != WORLD else "ground_point")
    while name in taken:
        name += "_b"
    a, b, c = (round(float(x), 6) + 0.0 for x in local[:3])
    x, y, z = map(float, place)
    return Pick(name, (x, y, z), Frame(name=name, parent=body, pose=Pose(position=(a, b, c))))


def place_joint(session: Session, picks: tuple[Pick, ...], joint: Joint) -> Joint:
    """The joint at the first point, so that nothing moves: frame a there, frame b where it now is in the child."""
    from app.commands.elements import posed

    X_WP, X_WC = (_pose(session, pick) for pick in picks)
    point = np.eye(4)
    point[:3, 3] = picks[0].place
    return dataclasses.replace(joint, a=posed(inverse(X_WP) @ point), b=posed(inverse(X_WC) @ point))


def _pose(session: Session, pick: Pick) -> Array:
    if pick.frame is None:
        return poses(session)[pick.name]
    parent = poses(session)[pick.frame.parent].copy()
    parent[:3, 3] += parent[:3, :3] @ numbers(pick.frame.pose.position, {})
    return parent
