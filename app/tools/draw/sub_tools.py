"""Sub-tools of Draw: one object each that turns clicks into edits of `core.design.linkage`."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from app.tools.draw.hand import Anchor, Hand
from app.tools.draw.snapping import Snap
from app.tools.draw.typed_numbers import NOTHING, typed_ratio
from app.widgets.quantities.quantity_text import Measure, read, value_in
from core.design import linkage
from core.design.linkage import Point
from core.design.linkage.drawing import End, Place
from core.design.linkage.drawn_links import carrier_of
from core.design.linkage.linkage_types import FourBar
from core.design.linkage.reshaping import ground_pins
from core.model import WORLD, Model

if TYPE_CHECKING:
    from app.viewport.gestures import Pointer

Edit = Callable[[Model], Model]
Segment = tuple[Point, Point]


class SubTool(ABC):
    """A sub-tool of Draw. key : the letter that chooses it; short : its title in one word; words : its prompts, one
    after another"""

    key: str
    title: str
    short: str
    icon: str
    help: str
    words: tuple[str, ...]
    also: tuple[str, ...] = ()
    """Synonyms of what it draws, for searching."""
    goes_on = False
    """True if an open chain can continue with the sub-tool."""
    measures = True
    """True if length and angle to the pointer belong to the element that a click makes."""
    in_plane = True
    """True if clicks are points of the working plane; else the sub-tool picks in space, see `point`."""

    def point(self, hand: Hand, pointer: Pointer | None) -> None:
        """Show what a click in space would pick."""
        hand.view.say(self.expects(hand))

    def expects(self, hand: Hand) -> str:
        """Return the text of the hint line."""
        words = self.words[min(len(hand.picks), len(self.words) - 1)]
        return f"{self.title}: {words}"

    def asks_direction(self, hand: Hand) -> bool:
        """Return True if the next click only sets a direction."""
        return False

    @abstractmethod
    def click(self, hand: Hand, snap: Snap, pointer: Pointer) -> None:
        """Handle a click at a snapped point."""

    def closing(self, hand: Hand) -> Edit | None:
        """Return the edit that a click would make if it closes a loop, for which the mobility is previewed;
        else None."""
        return None

    def ahead(self, hand: Hand) -> Edit | None:
        """Return the probable edit of the next click, for which code is compiled in the background; None if unknown."""
        return None

    def band(self, hand: Hand) -> tuple[Segment, ...]:
        """Return the line segments drawn from clicked points to the pointer."""
        if hand.picks and hand.snap is not None:
            return ((hand.picks[-1].point, hand.snap.point),)
        return ()


class Link(SubTool):
    """Sub-tool that draws chains of links from click to click."""

    key, title = "l", "Link"
    short = "Link"
    icon = "link"
    also = ("linkage bar", "crank link")
    goes_on = True
    help = "Click from pin to pin: every click after the first draws a link. Double click ends it on the ground."
    words = ("click where it begins: on the plane it is pinned to the ground, on a pin or link joined to that",)

    def expects(self, hand: Hand) -> str:
        """Return the text of the hint line."""
        if hand.pin_under_pointer is not None:
            return "Link: click to begin here · drag or arrow keys: move this pin · V: other branch"
        if not hand.chain:
            return super().expects(hand)
        return (
            "Click the next pin · double click: on the ground · Enter: free end · Backspace: back"
            " · type length < angle · Shift: third point"
        )

    def click(self, hand: Hand, snap: Snap, pointer: Pointer) -> None:
        """Start a chain, or draw a link to the clicked point."""
        if pointer.shift:
            self._add_plate_corner(hand, snap)
        elif not hand.chain:
            point = hand.typed.point
            begin_chain(hand, snap if point is None else Snap(point, point))
        elif (
            len(hand.chain) == 1 or hand.typed != NOTHING or _is_far_from_start(hand, snap)
        ):  # else a double click begins
            link_to(hand, snap)

    def _add_plate_corner(self, hand: Hand, snap: Snap) -> None:
        body = (hand.chain[-1].body if hand.chain else "") or hand.hovered_body
        if not body:
            hand.view.session.message.emit("hint", "Draw a link first: Shift+click gives it a further point.")
            return
        plane, poses = hand.plane, hand.drawing.poses
        hand.commit(f"Point of {body}", lambda m: linkage.corner(m, body, snap.point, plane=plane, poses=poses))

    def closing(self, hand: Hand) -> Edit | None:
        """Return the edit that links the chain to the pin or link under the pointer."""
        snap = hand.snap
        if not hand.chain or snap is None or not snap.joins or not _is_far_from_start(hand, snap):
            return None
        return link_edit(hand, snap.end)

    def ahead(self, hand: Hand) -> Edit | None:
        """Return the edit that draws a link with a free end."""
        if not hand.chain:
            return None
        u, v = hand.chain[-1].point
        return link_edit(hand, (u + 100.0 * hand.pixel, v))

    def band(self, hand: Hand) -> tuple[Segment, ...]:
        """Return the segment to the pointer, or to the typed end point."""
        if not hand.chain or hand.snap is None:
            return ()
        return ((hand.chain[-1].point, reached(hand, hand.snap)),)


def begin_chain(hand: Hand, snap: Snap) -> None:
    """Start a chain at a point, without committing anything."""
    hand.chain, hand.typed = [Anchor(snap.end, snap.point)], NOTHING
    hand.field.close_field()
    hand.refresh()


def _is_far_from_start(hand: Hand, snap: Snap) -> bool:
    return math.dist(hand.chain[-1].point, snap.point) > 1e-9


def reached(hand: Hand, snap: Snap) -> Point:
    """Return the end point of the link to the pointer, given the typed numbers."""
    typed, start = hand.typed, hand.chain[-1].point
    if typed.point is not None:
        return typed.point
    if typed == NOTHING:
        return snap.point
    values = hand.drawing.values
    span = math.dist(start, snap.point) if typed.length is None else value_in(typed.length, values) or 0.0
    angle = math.atan2(snap.point[1] - start[1], snap.point[0] - start[0])
    if (given := _typed_angle(hand)) is not None:
        angle = value_in(given, values) or 0.0
    return start[0] + span * math.cos(angle), start[1] + span * math.sin(angle)


def _typed_angle(hand: Hand) -> float | str | None:
    """Return the typed angle from the first axis, converted if it was given from the link before."""
    if hand.typed.bend is None:
        return hand.typed.angle
    return (hand.previous_angle or 0.0) + (value_in(hand.typed.bend, hand.drawing.values) or 0.0)


def link_edit(hand: Hand, end: End) -> Edit:
    """Return the edit that draws the link from the chain's end, given the typed numbers."""
    start, plane, poses, typed = hand.chain[-1].end, hand.plane, hand.drawing.poses, hand.typed
    angle, radius = _typed_angle(hand), hand.thickness

    def edit(model: Model) -> Model:
        return linkage.link(
            model, [start, end], plane=plane, poses=poses, length=typed.length, angle=angle, radius=radius
        )

    return edit


def link_to(hand: Hand, snap: Snap) -> None:
    """Draw a link to a point; the chain ends if the link is joined to an element there."""
    typed = hand.typed
    locked = typed.length is not None or _typed_angle(hand) is not None
    if typed.point is not None:
        snap = Snap(typed.point, typed.point)
    elif locked:
        snap = Snap(snap.point, snap.point)
    point = reached(hand, snap)
    if not hand.commit("Draw link", link_edit(hand, snap.end), here=snap.joins):
        return
    made = hand.view.session.model.bodies[-1].name
    hand.chain = [] if snap.joins else [*hand.chain, Anchor(made, point, made)]
    hand.refresh()


class Ground(SubTool):
    """Sub-tool that fixes free ends to the ground by a pin, and releases ground pins."""

    key, title = "g", "Ground pin"
    short = "Ground"
    icon = "ground"
    also = ("pivot on the ground", "grounded pin", "fix a point")
    help = "Click a free end: it is held by a pin on the ground. Click a ground pin: it is released."
    words = ("click a free end to hold it there, or a pin on the ground to release it",)

    def click(self, hand: Hand, snap: Snap, pointer: Pointer) -> None:
        """Fix or release the clicked end."""
        if not snap.joins:
            hand.view.session.message.emit("hint", "There is no end of a link here.")
            return
        hand.commit("Ground pin", self._edit(hand, snap), here=True)

    def _edit(self, hand: Hand, snap: Snap) -> Edit:
        plane, poses, end = hand.plane, hand.drawing.poses, snap.end
        return lambda model: linkage.ground_pin(model, end, plane=plane, poses=poses)

    def closing(self, hand: Hand) -> Edit | None:
        """Return the edit for the end under the pointer."""
        return self._edit(hand, hand.snap) if hand.snap is not None and hand.snap.joins else None


class Slider(SubTool):
    """Sub-tool that draws a block on a guide, at the end of an open chain or anywhere."""

    key, title = "s", "Slider"
    short = "Slider"
    icon = "prismatic"
    also = ("slider block", "crosshead")
    goes_on = True
    help = "Click the place of its pin, then the direction in which it slides. A chain that hangs is drawn to it."
    words = ("click the place of its pin", "click the direction in which it slides, or type its angle")

    def click(self, hand: Hand, snap: Snap, pointer: Pointer) -> None:
        """Take the position, then the direction."""
        if not hand.picks:
            point = hand.typed.point
            if hand.chain and hand.typed != NOTHING:
                point = reached(hand, snap)
            hand.picks = [snap if point is None else Snap(point, point)]
            hand.refresh()
            return
        if math.dist(hand.picks[0].point, snap.point) < 1e-9 and hand.typed.angle is None:
            hand.view.session.message.emit("hint", "Click the direction apart from the pin.")
            return
        if hand.commit("Draw slider", self._edit(hand, snap), here=True):
            hand.chain, hand.picks = [], []
            hand.refresh()

    def _edit(self, hand: Hand, snap: Snap) -> Edit:
        place, plane, poses, radius = hand.picks[0], hand.plane, hand.drawing.poses, hand.thickness
        start = hand.chain[-1].end if hand.chain else None
        typed = hand.typed.angle if hand.typed.angle is not None else hand.typed.length
        angle: float | str = _slider_direction(place.point, snap.point) if typed is None else typed

        def edit(model: Model) -> Model:
            end, standing = place.end, poses
            if start is not None and not place.joins:
                model = linkage.link(model, [start, place.end], plane=plane, poses=poses, radius=radius)
                end = model.bodies[-1].name
                standing = linkage.with_link(model, plane, poses)
            return linkage.slider(model, end, angle, plane=plane, poses=standing)

        return edit

    def asks_direction(self, hand: Hand) -> bool:
        """Return True once the position is known."""
        return bool(hand.picks)

    def closing(self, hand: Hand) -> Edit | None:
        """Return the edit once the position is known."""
        if not hand.picks or hand.snap is None or math.dist(hand.picks[0].point, hand.snap.point) < 1e-9:
            return None
        return self._edit(hand, hand.snap)

    def band(self, hand: Hand) -> tuple[Segment, ...]:
        """Return the link to the block, and the guide through it."""
        if hand.snap is None:
            return ()
        place = hand.picks[0].point if hand.picks else hand.snap.point
        link: tuple[Segment, ...] = ((hand.chain[-1].point, place),) if hand.chain else ()
        if not hand.picks or math.dist(place, hand.snap.point) < 1e-9:
            return link
        u, v = hand.snap.point[0] - place[0], hand.snap.point[1] - place[1]
        return (*link, ((place[0] - u, place[1] - v), hand.snap.point))


def _slider_direction(start: Point, end: Point) -> float:
    """Return the angle of a line, within a quarter turn of the first axis, so that a slider counts to the right or
    upwards."""
    angle = math.atan2(end[1] - start[1], end[0] - start[0])
    if angle > math.pi / 2.0 + 1e-9:
        return angle - math.pi
    return angle + math.pi if angle <= -math.pi / 2.0 + 1e-9 else angle


class Slot(SubTool):
    """Sub-tool for a pin that slides along a link."""

    key, title = "b", "Pin in slot"
    short = "Slot"
    icon = "cylindrical"
    measures = False
    also = ("slot", "slotted link", "quick return", "scotch yoke")
    help = "Click a pin or free end, then the link along which it slides."
    words = ("click a pin or free end", "click the link along which it slides")

    def click(self, hand: Hand, snap: Snap, pointer: Pointer) -> None:
        """Take the pin, then the link."""
        if not hand.picks:
            if not snap.joins:
                hand.view.session.message.emit("hint", "There is no pin or free end here.")
                return
            hand.picks = [snap]
            hand.refresh()
        elif (edit := self._edit(hand, snap)) is None:
            hand.view.session.message.emit("hint", "There is no other link here.")
        elif hand.commit("Pin in slot", edit, here=True):
            hand.picks = []
            hand.refresh()

    def _edit(self, hand: Hand, snap: Snap) -> Edit | None:
        body, pin = _moving_body(hand, snap), hand.picks[0]
        if not body:
            return None
        plane, poses, end = hand.plane, hand.drawing.poses, pin.end
        return lambda model: linkage.slot(model, end, body, plane=plane, poses=poses)

    def closing(self, hand: Hand) -> Edit | None:
        """Return the edit once the pin is known."""
        return self._edit(hand, hand.snap) if hand.picks and hand.snap is not None else None


def _moving_body(hand: Hand, snap: Snap) -> str:
    """Return the link at a snapped point, for a ground pin the link that turns there; '' if there is none."""
    model = hand.view.session.model
    stands = carrier_of(model, hand.plane.parent)
    if snap.body and snap.body != stands:
        return snap.body
    joint = next((pin.joint for pin in hand.drawing.pins if pin.name == snap.name), None)
    return carrier_of(model, joint.child) if joint is not None else ""


class Gears(SubTool):
    """Sub-tool for two gear wheels on two pins of one carrier."""

    key, title = "u", "Gear pair"
    short = "Gears"
    icon = "gearwheel"
    also = ("gears", "gear train", "planetary gear")
    help = "Click two pins, then type z1 : z2 or the ratio (negative: outer mesh)."
    words = ("click the first pin", "click the second pin", "type z1 : z2 or the ratio, negative of an outer mesh")

    def click(self, hand: Hand, snap: Snap, pointer: Pointer) -> None:
        """Take the two pins, then ask for the ratio."""
        if snap.kind != "pin":
            hand.view.session.message.emit(
                "hint",
                "There is no pin here: draw the planet as a link first, then click its pin.",
            )
            return
        if len(hand.picks) >= 2:
            return
        hand.picks = [*hand.picks, snap]
        hand.refresh()
        if len(hand.picks) == 2:
            place = pointer.x / pointer.scale, pointer.y / pointer.scale
            hand.field.ask("z1 : z2", "-1", place, lambda text: self._add_gears(hand, text), left=hand.drop)

    def _add_gears(self, hand: Hand, text: str) -> None:
        ratio, (first, second) = typed_ratio(text), (pick.name for pick in hand.picks)
        plane, poses = hand.plane, hand.drawing.poses
        if hand.commit(
            "Gear pair", lambda m: linkage.gears(m, first, second, ratio, plane=plane, poses=poses), here=True
        ):
            hand.picks = []
            hand.refresh()


class MassPoint(SubTool):
    """Sub-tool for a mass at a point of a link."""

    key, title = "i", "Mass point"
    short = "Mass"
    icon = "com"
    also = ("point mass",)
    help = "Click a pin or a point of a link, then type the mass."
    words = ("click a pin or a point of a link", "type its mass")

    def click(self, hand: Hand, snap: Snap, pointer: Pointer) -> None:
        """Take the position, then ask for the mass."""
        if not snap.joins:
            hand.view.session.message.emit("hint", "There is no link here.")
            return
        hand.picks = [snap]
        hand.refresh()
        place = pointer.x / pointer.scale, pointer.y / pointer.scale
        hand.field.ask("Mass", "1 kg", place, lambda text: self._add_mass(hand, text), left=hand.drop)

    def _add_mass(self, hand: Hand, text: str) -> None:
        mass = read(text, Measure("mass"), hand.view.settings, hand.drawing.values)
        plane, poses, end = hand.plane, hand.drawing.poses, hand.picks[0].end
        if hand.commit("Mass point", lambda m: linkage.mass_point(m, end, mass, plane=plane, poses=poses)):
            hand.picks = []
            hand.refresh()


class Spring(SubTool):
    """Sub-tool for a spring and damper between two points."""

    key, title = "n", "Spring and damper"
    short = "Spring"
    icon = "spring_damper"
    help = "Click two points: of links, pins, or of the ground."
    words = ("click its first end", "click its second end")

    def click(self, hand: Hand, snap: Snap, pointer: Pointer) -> None:
        """Take both ends."""
        if not hand.picks:
            hand.picks = [snap]
            hand.refresh()
            return
        plane, poses, a, b = hand.plane, hand.drawing.poses, hand.picks[0].end, snap.end
        if hand.commit("Draw spring", lambda m: linkage.spring(m, a, b, plane=plane, poses=poses)):
            hand.picks = []
            hand.refresh()


class Tracer(SubTool):
    """Sub-tool for a point whose path is drawn."""

    key, title = "p", "Tracer point"
    short = "Tracer"
    icon = "trace"
    also = ("coupler point", "trace point")
    help = (
        "Click on a link. A click in free space adds the point to the selected link, or else to the link that was "
        "last under the pointer."
    )
    words = ("click on a link; in free space the point joins the selected link, or the last one under the pointer",)

    def click(self, hand: Hand, snap: Snap, pointer: Pointer) -> None:
        """Add the point and draw its path from now on."""
        body = _moving_body(hand, snap) if snap.joins else self._link_for_tracer(hand)
        if not body:
            hand.view.session.message.emit("hint", "Point at a link first: the tracer point belongs to it.")
            return
        plane, poses, point = hand.plane, hand.drawing.poses, snap.point
        if hand.commit("Tracer point", lambda m: linkage.tracer(m, body, point, plane=plane, poses=poses)):
            name = hand.view.session.model.frames[-1].name
            hand.view.scene.follow(*hand.view.scene.tracks.frames, name)
            hand.refresh()

    def band(self, hand: Hand) -> tuple[Segment, ...]:
        """Return a thin line to the link that the point will belong to."""
        owner = self._link_for_tracer(hand)
        if hand.snap is None or hand.snap.joins or owner not in hand.drawing.poses:
            return ()
        return ((hand.drawing.point(Place(owner)), hand.snap.point),)

    @staticmethod
    def _link_for_tracer(hand: Hand) -> str:
        """Return the link to which a point off all links belongs."""
        ref = hand.view.session.selection
        chosen = ref.name if ref is not None and ref.collection == "bodies" else ""
        return chosen if chosen in hand.drawing.poses and chosen != WORLD else hand.hovered_body


class Motor(SubTool):
    """Sub-tool for a motor in a pin or guide."""

    key, title = "a", "Motor"
    short = "Motor"
    icon = "driver"
    also = ("crank input", "rotary input")
    help = "Click a pin or guide: a motor turns it once a second. Click again to remove the motor."
    words = ("click a pin or guide; an existing motor is removed",)

    def click(self, hand: Hand, snap: Snap, pointer: Pointer) -> None:
        """Add a motor, or remove it."""
        if snap.kind != "pin":
            hand.view.session.message.emit("hint", "There is no pin or guide here.")
            return
        drive(hand, snap.name)


def drive(hand: Hand, joint: str) -> None:
    """Put a motor into a pin or guide, or remove it."""
    plane = hand.plane
    driven = {driver.joint for driver in hand.view.session.model.drivers}
    words = f"{joint} has a motor: F5 lets the machine run." + _rotation_warning(hand, joint)
    if hand.commit(f"Motor in {joint}", lambda m: linkage.motor(m, joint, plane=plane), here=True):
        hand.view.session.message.emit("hint", f"The motor in {joint} is gone." if joint in driven else words)


def _rotation_warning(hand: Hand, joint: str) -> str:
    """Return a note about a motor in a ground pin of a four-bar or slider-crank whose link cannot turn fully;
    else ""."""
    found = hand.freedoms.type if hand.freedoms is not None else None
    pins = [pin.name for pin in ground_pins(hand.drawing)]
    if isinstance(found, FourBar) and joint in pins[1:]:
        found = FourBar(found.rocker, found.coupler, found.crank, found.ground)
    if found is None or joint not in pins or found.turns:
        return ""
    which = f"As a {found.type} it" if isinstance(found, FourBar) else "It"
    return f" {which} cannot turn fully, the run ends where the loop no longer closes: make this link shorter."


SUB_TOOLS: Mapping[str, SubTool] = MappingProxyType(
    {each.key: each for each in (Link(), Ground(), Slider(), Slot(), Gears(), MassPoint(), Spring(), Tracer(), Motor())}
)
"""Sub-tools by their key, in the order of the bar."""
