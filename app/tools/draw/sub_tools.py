"""Sub-tools of the Draw tool: one object each that turns clicks into edits of `core.design.linkage`."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from app.tools.draw.hand import ChainAnchor, DrawController
from app.tools.draw.snapping import SnappedPoint
from app.tools.draw.typed_numbers import NOTHING, parse_gear_ratio
from app.widgets.quantities.quantity_text import Measure, evaluate_value, read
from core.design import linkage
from core.design.linkage import Point
from core.design.linkage.drawing import End, PointOnBody
from core.design.linkage.drawn_links import carrier_of_element
from core.design.linkage.linkage_types import FourBar
from core.design.linkage.reshaping import distinct_ground_pins
from core.model import WORLD, Model

if TYPE_CHECKING:
    from app.viewport.gestures import PointerState

Edit = Callable[[Model], Model]
Segment = tuple[Point, Point]


class SubTool(ABC):
    """Base class of the sub-tools of Draw. key : letter that chooses it; short : title in one word; words : its
    prompts, one after the other"""

    key: str
    title: str
    short: str
    icon: str
    help: str
    words: tuple[str, ...]
    also: tuple[str, ...] = ()
    """Synonyms of what the sub-tool draws, for searching."""
    goes_on = False
    """True if the sub-tool can continue an open chain."""
    measures = True
    """True if length and angle to the pointer belong to the element that a click makes."""
    in_plane = True
    """True if clicks are points of the working plane; otherwise the sub-tool picks in space, see `preview_pick`."""

    def preview_pick(self, controller: DrawController, pointer: PointerState | None) -> None:
        """Preview what a click in space would pick."""
        controller.view.show_hint(self.prompt(controller))

    def prompt(self, controller: DrawController) -> str:
        """Return the prompt for the hint line."""
        words = self.words[min(len(controller.picks), len(self.words) - 1)]
        return f"{self.title}: {words}"

    def asks_direction(self, controller: DrawController) -> bool:
        """Return True if the next click only sets a direction."""
        return False

    @abstractmethod
    def click(self, controller: DrawController, snap: SnappedPoint, pointer: PointerState) -> None:
        """Handle a click at a snapped point."""

    def loop_closing_edit(self, controller: DrawController) -> Edit | None:
        """Return the edit that a click would make, if it would close a loop; its mobility is then previewed. Otherwise
        None."""
        return None

    def probable_next_edit(self, controller: DrawController) -> Edit | None:
        """Return the probable edit of the next click, whose code is compiled in the background; None if unknown."""
        return None

    def preview_segments(self, controller: DrawController) -> tuple[Segment, ...]:
        """Return the preview line segments from clicked points to the pointer."""
        if controller.picks and controller.snap is not None:
            return ((controller.picks[-1].point, controller.snap.point),)
        return ()


class LinkSubTool(SubTool):
    """Sub-tool that draws chains of links from click to click."""

    key, title = "l", "Link"
    short = "Link"
    icon = "link"
    also = ("linkage bar", "crank link")
    goes_on = True
    help = "Click from pin to pin: every click after the first draws a link. Double click ends with a ground pin."
    words = ("click where it begins: in empty space it is pinned to the ground, on a pin or link it is joined to that",)

    def prompt(self, controller: DrawController) -> str:
        """Return the prompt for the hint line."""
        if controller.pin_under_pointer is not None:
            return "Link: click to begin here · drag or arrow keys: move this pin · V: other branch"
        if not controller.chain:
            return super().prompt(controller)
        return (
            "Click the next pin · double click: on the ground · Enter: free end · Backspace: back"
            " · type length < angle · Shift: third pin"
        )

    def click(self, controller: DrawController, snap: SnappedPoint, pointer: PointerState) -> None:
        """Start a chain, or draw a link to the clicked point."""
        if pointer.shift:
            self._add_plate_corner(controller, snap)
        elif not controller.chain:
            point = controller.typed.point
            begin_chain(controller, snap if point is None else SnappedPoint(point, point))
        elif (
            len(controller.chain) == 1 or controller.typed != NOTHING or _is_far_from_start(controller, snap)
        ):  # else a double click begins
            draw_link_to(controller, snap)

    def _add_plate_corner(self, controller: DrawController, snap: SnappedPoint) -> None:
        body = (controller.chain[-1].body if controller.chain else "") or controller.hovered_body
        if not body:
            controller.view.session.message.emit("hint", "Draw a link first: Shift+click adds a third pin to it.")
            return
        plane, poses = controller.plane, controller.drawing.poses
        controller.commit(f"Point of {body}", lambda m: linkage.corner(m, body, snap.point, plane=plane, poses=poses))

    def loop_closing_edit(self, controller: DrawController) -> Edit | None:
        """Return the edit that connects the chain to the pin or link under the pointer."""
        snap = controller.snap
        if not controller.chain or snap is None or not snap.is_on_element or not _is_far_from_start(controller, snap):
            return None
        return link_edit(controller, snap.end)

    def probable_next_edit(self, controller: DrawController) -> Edit | None:
        """Return the edit that draws a link with a free end."""
        if not controller.chain:
            return None
        u, v = controller.chain[-1].point
        return link_edit(controller, (u + 100.0 * controller.metres_per_pixel, v))

    def preview_segments(self, controller: DrawController) -> tuple[Segment, ...]:
        """Return the segment to the pointer, or to the typed end point."""
        if not controller.chain or controller.snap is None:
            return ()
        return ((controller.chain[-1].point, link_end_point(controller, controller.snap)),)


def begin_chain(controller: DrawController, snap: SnappedPoint) -> None:
    """Start a chain at a point; nothing is committed yet."""
    controller.chain, controller.typed = [ChainAnchor(snap.end, snap.point)], NOTHING
    controller.field.close_field()
    controller.redraw()


def _is_far_from_start(controller: DrawController, snap: SnappedPoint) -> bool:
    return math.dist(controller.chain[-1].point, snap.point) > 1e-9


def link_end_point(controller: DrawController, snap: SnappedPoint) -> Point:
    """Return the end point of the link to the pointer, with typed length and angle taken into account."""
    typed, start = controller.typed, controller.chain[-1].point
    if typed.point is not None:
        return typed.point
    if typed == NOTHING:
        return snap.point
    values = controller.drawing.values
    span = math.dist(start, snap.point) if typed.length is None else evaluate_value(typed.length, values) or 0.0
    angle = math.atan2(snap.point[1] - start[1], snap.point[0] - start[0])
    if (given := _typed_angle(controller)) is not None:
        angle = evaluate_value(given, values) or 0.0
    return start[0] + span * math.cos(angle), start[1] + span * math.sin(angle)


def _typed_angle(controller: DrawController) -> float | str | None:
    """Return the typed angle from the first axis of the plane, converted if it was given relative to the previous
    link."""
    if controller.typed.bend is None:
        return controller.typed.angle
    return (controller.previous_angle or 0.0) + (
        evaluate_value(controller.typed.bend, controller.drawing.values) or 0.0
    )


def link_edit(controller: DrawController, end: End) -> Edit:
    """Return the edit that draws a link from the end of the chain, with typed length and angle taken into account."""
    start, plane, poses, typed = controller.chain[-1].end, controller.plane, controller.drawing.poses, controller.typed
    angle, radius = _typed_angle(controller), controller.first_bar_radius

    def edit(model: Model) -> Model:
        return linkage.link(
            model, [start, end], plane=plane, poses=poses, length=typed.length, angle=angle, radius=radius
        )

    return edit


def draw_link_to(controller: DrawController, snap: SnappedPoint) -> None:
    """Draw a link to a point; the chain ends if the link is joined to an element there."""
    typed = controller.typed
    locked = typed.length is not None or _typed_angle(controller) is not None
    if typed.point is not None:
        snap = SnappedPoint(typed.point, typed.point)
    elif locked:
        snap = SnappedPoint(snap.point, snap.point)
    point = link_end_point(controller, snap)
    if not controller.commit("Draw link", link_edit(controller, snap.end), adopt_present_pose=snap.is_on_element):
        return
    made = controller.view.session.model.bodies[-1].name
    controller.chain = [] if snap.is_on_element else [*controller.chain, ChainAnchor(made, point, made)]
    controller.redraw()


class GroundPinSubTool(SubTool):
    """Sub-tool that pins free ends to the ground, and releases ground pins."""

    key, title = "g", "Ground pin"
    short = "Ground"
    icon = "ground"
    also = ("pivot on the ground", "grounded pin", "fix a point")
    help = "Click a free end to pin it to the ground. Click a ground pin to release it."
    words = ("click a free end to pin it to the ground, or a ground pin to release it",)

    def click(self, controller: DrawController, snap: SnappedPoint, pointer: PointerState) -> None:
        """Pin or release the clicked end."""
        if not snap.is_on_element:
            controller.view.session.message.emit("hint", "There is no link end here.")
            return
        controller.commit("Ground pin", self._ground_pin_edit(controller, snap), adopt_present_pose=True)

    def _ground_pin_edit(self, controller: DrawController, snap: SnappedPoint) -> Edit:
        plane, poses, end = controller.plane, controller.drawing.poses, snap.end
        return lambda model: linkage.ground_pin(model, end, plane=plane, poses=poses)

    def loop_closing_edit(self, controller: DrawController) -> Edit | None:
        """Return the edit for the end under the pointer."""
        return (
            self._ground_pin_edit(controller, controller.snap)
            if controller.snap is not None and controller.snap.is_on_element
            else None
        )


class SliderSubTool(SubTool):
    """Sub-tool that draws a block on a guide, at the end of an open chain or anywhere."""

    key, title = "s", "Slider"
    short = "Slider"
    icon = "prismatic"
    also = ("slider block", "crosshead")
    goes_on = True
    help = "Click the position of its pin, then the direction in which it slides. An open chain is connected to it."
    words = ("click the position of its pin", "click the direction in which it slides, or type its angle")

    def click(self, controller: DrawController, snap: SnappedPoint, pointer: PointerState) -> None:
        """Take the first click as position, the second as direction."""
        if not controller.picks:
            point = controller.typed.point
            if controller.chain and controller.typed != NOTHING:
                point = link_end_point(controller, snap)
            controller.picks = [snap if point is None else SnappedPoint(point, point)]
            controller.redraw()
            return
        if math.dist(controller.picks[0].point, snap.point) < 1e-9 and controller.typed.angle is None:
            controller.view.session.message.emit("hint", "Click farther from the pin to set the direction.")
            return
        if controller.commit("Draw slider", self._slider_edit(controller, snap), adopt_present_pose=True):
            controller.chain, controller.picks = [], []
            controller.redraw()

    def _slider_edit(self, controller: DrawController, snap: SnappedPoint) -> Edit:
        place, plane, poses, radius = (
            controller.picks[0],
            controller.plane,
            controller.drawing.poses,
            controller.first_bar_radius,
        )
        start = controller.chain[-1].end if controller.chain else None
        typed = controller.typed.angle if controller.typed.angle is not None else controller.typed.length
        angle: float | str = _slider_direction(place.point, snap.point) if typed is None else typed

        def edit(model: Model) -> Model:
            end, standing = place.end, poses
            if start is not None and not place.is_on_element:
                model = linkage.link(model, [start, place.end], plane=plane, poses=poses, radius=radius)
                end = model.bodies[-1].name
                standing = linkage.with_link(model, plane, poses)
            return linkage.slider(model, end, angle, plane=plane, poses=standing)

        return edit

    def asks_direction(self, controller: DrawController) -> bool:
        """Return True once the position is clicked."""
        return bool(controller.picks)

    def loop_closing_edit(self, controller: DrawController) -> Edit | None:
        """Return the edit, once the position is clicked."""
        if (
            not controller.picks
            or controller.snap is None
            or math.dist(controller.picks[0].point, controller.snap.point) < 1e-9
        ):
            return None
        return self._slider_edit(controller, controller.snap)

    def preview_segments(self, controller: DrawController) -> tuple[Segment, ...]:
        """Return the link to the block, and the guide through it."""
        if controller.snap is None:
            return ()
        place = controller.picks[0].point if controller.picks else controller.snap.point
        link: tuple[Segment, ...] = ((controller.chain[-1].point, place),) if controller.chain else ()
        if not controller.picks or math.dist(place, controller.snap.point) < 1e-9:
            return link
        u, v = controller.snap.point[0] - place[0], controller.snap.point[1] - place[1]
        return (*link, ((place[0] - u, place[1] - v), controller.snap.point))


def _slider_direction(start: Point, end: Point) -> float:
    """Return the angle of a line, turned by 180° if necessary, so that the slider's coordinate increases to the right
    or upwards."""
    angle = math.atan2(end[1] - start[1], end[0] - start[0])
    if angle > math.pi / 2.0 + 1e-9:
        return angle - math.pi
    return angle + math.pi if angle <= -math.pi / 2.0 + 1e-9 else angle


class SlotSubTool(SubTool):
    """Sub-tool that lets a pin slide along a link."""

    key, title = "b", "Pin in slot"
    short = "Slot"
    icon = "cylindrical"
    measures = False
    also = ("slot", "slotted link", "quick return", "scotch yoke")
    help = "Click a pin or free end, then the link along which it slides."
    words = ("click a pin or free end", "click the link along which it slides")

    def click(self, controller: DrawController, snap: SnappedPoint, pointer: PointerState) -> None:
        """Take the first click as pin, the second as link."""
        if not controller.picks:
            if not snap.is_on_element:
                controller.view.session.message.emit("hint", "There is no pin or free end here.")
                return
            controller.picks = [snap]
            controller.redraw()
        elif (edit := self._slot_edit(controller, snap)) is None:
            controller.view.session.message.emit("hint", "There is no other link here.")
        elif controller.commit("Pin in slot", edit, adopt_present_pose=True):
            controller.picks = []
            controller.redraw()

    def _slot_edit(self, controller: DrawController, snap: SnappedPoint) -> Edit | None:
        body, pin = _moving_body(controller, snap), controller.picks[0]
        if not body:
            return None
        plane, poses, end = controller.plane, controller.drawing.poses, pin.end
        return lambda model: linkage.slot(model, end, body, plane=plane, poses=poses)

    def loop_closing_edit(self, controller: DrawController) -> Edit | None:
        """Return the edit, once the pin is clicked."""
        return (
            self._slot_edit(controller, controller.snap) if controller.picks and controller.snap is not None else None
        )


def _moving_body(controller: DrawController, snap: SnappedPoint) -> str:
    """Return the link at a snapped point; for a ground pin, the link that turns about it; '' if there is none."""
    model = controller.view.session.model
    stands = carrier_of_element(model, controller.plane.parent)
    if snap.body and snap.body != stands:
        return snap.body
    joint = next((pin.joint for pin in controller.drawing.pins if pin.name == snap.name), None)
    return carrier_of_element(model, joint.child) if joint is not None else ""


class GearPairSubTool(SubTool):
    """Sub-tool that adds a pair of gears on two pins of one carrier."""

    key, title = "u", "Gear pair"
    short = "Gears"
    icon = "gearwheel"
    also = ("gears", "gear train", "planetary gear")
    help = "Click two pins, then type z1 : z2 or the ratio (negative: external gears)."
    words = ("click the first pin", "click the second pin", "type z1 : z2 or the ratio, negative for external gears")

    def click(self, controller: DrawController, snap: SnappedPoint, pointer: PointerState) -> None:
        """Take two clicks as pins, then ask for the ratio."""
        if snap.kind != "pin":
            controller.view.session.message.emit(
                "hint",
                "There is no pin here: draw the planet as a link first, then click its pin.",
            )
            return
        if len(controller.picks) >= 2:
            return
        controller.picks = [*controller.picks, snap]
        controller.redraw()
        if len(controller.picks) == 2:
            place = pointer.x / pointer.scale, pointer.y / pointer.scale
            controller.field.open_field(
                "z1 : z2",
                "-1",
                place,
                lambda text: self._add_gears(controller, text),
                on_cancel=controller.discard_element,
            )

    def _add_gears(self, controller: DrawController, text: str) -> None:
        ratio, (first, second) = parse_gear_ratio(text), (pick.name for pick in controller.picks)
        plane, poses = controller.plane, controller.drawing.poses
        if controller.commit(
            "Gear pair",
            lambda m: linkage.gears(m, first, second, ratio, plane=plane, poses=poses),
            adopt_present_pose=True,
        ):
            controller.picks = []
            controller.redraw()


class MassPointSubTool(SubTool):
    """Sub-tool that adds a point mass to a link."""

    key, title = "i", "Mass point"
    short = "Mass"
    icon = "com"
    also = ("point mass",)
    help = "Click a pin or a point of a link, then type the mass."
    words = ("click a pin or a point of a link", "type its mass")

    def click(self, controller: DrawController, snap: SnappedPoint, pointer: PointerState) -> None:
        """Take the click as position, then ask for the mass."""
        if not snap.is_on_element:
            controller.view.session.message.emit("hint", "There is no link here.")
            return
        controller.picks = [snap]
        controller.redraw()
        place = pointer.x / pointer.scale, pointer.y / pointer.scale
        controller.field.open_field(
            "Mass", "1 kg", place, lambda text: self._add_mass(controller, text), on_cancel=controller.discard_element
        )

    def _add_mass(self, controller: DrawController, text: str) -> None:
        mass = read(text, Measure("mass"), controller.view.settings, controller.drawing.values)
        plane, poses, end = controller.plane, controller.drawing.poses, controller.picks[0].end
        if controller.commit("Mass point", lambda m: linkage.mass_point(m, end, mass, plane=plane, poses=poses)):
            controller.picks = []
            controller.redraw()


class SpringSubTool(SubTool):
    """Sub-tool that adds a spring with damper between two points."""

    key, title = "n", "Spring and damper"
    short = "Spring"
    icon = "spring_damper"
    help = "Click two points: on links, at pins, or on the ground."
    words = ("click its first end", "click its second end")

    def click(self, controller: DrawController, snap: SnappedPoint, pointer: PointerState) -> None:
        """Take two clicks as ends."""
        if not controller.picks:
            controller.picks = [snap]
            controller.redraw()
            return
        plane, poses, a, b = controller.plane, controller.drawing.poses, controller.picks[0].end, snap.end
        if controller.commit("Draw spring", lambda m: linkage.spring(m, a, b, plane=plane, poses=poses)):
            controller.picks = []
            controller.redraw()


class TracerPointSubTool(SubTool):
    """Sub-tool that adds a point whose path is drawn."""

    key, title = "p", "Tracer point"
    short = "Tracer"
    icon = "trace"
    also = ("coupler point", "trace point")
    help = (
        "Click on a link. A click in empty space adds the point to the selected link, or else to the link that was "
        "last under the pointer."
    )
    words = ("click on a link; in empty space the point is added to the selected or last pointed link",)

    def click(self, controller: DrawController, snap: SnappedPoint, pointer: PointerState) -> None:
        """Add the point; its path is drawn from now on."""
        body = _moving_body(controller, snap) if snap.is_on_element else self._link_for_tracer(controller)
        if not body:
            controller.view.session.message.emit("hint", "Point at a link first: the tracer point belongs to it.")
            return
        plane, poses, point = controller.plane, controller.drawing.poses, snap.point
        if controller.commit("Tracer point", lambda m: linkage.tracer(m, body, point, plane=plane, poses=poses)):
            name = controller.view.session.model.frames[-1].name
            controller.view.scene.follow_frames(*controller.view.scene.tracks.followed_frames, name)
            controller.redraw()

    def preview_segments(self, controller: DrawController) -> tuple[Segment, ...]:
        """Return a thin line to the link to which the point will belong."""
        owner = self._link_for_tracer(controller)
        if controller.snap is None or controller.snap.is_on_element or owner not in controller.drawing.poses:
            return ()
        return ((controller.drawing.point(PointOnBody(owner)), controller.snap.point),)

    @staticmethod
    def _link_for_tracer(controller: DrawController) -> str:
        """Return the link to which a clicked point outside all links will belong."""
        ref = controller.view.session.selection
        chosen = ref.name if ref is not None and ref.collection == "bodies" else ""
        return chosen if chosen in controller.drawing.poses and chosen != WORLD else controller.hovered_body


class MotorSubTool(SubTool):
    """Sub-tool that adds a motor to a pin or guide."""

    key, title = "a", "Motor"
    short = "Motor"
    icon = "driver"
    also = ("crank input", "rotary input")
    help = "Click a pin or guide: a motor turns it once a second. Click again to remove the motor."
    words = ("click a pin or guide; an existing motor is removed",)

    def click(self, controller: DrawController, snap: SnappedPoint, pointer: PointerState) -> None:
        """Add a motor, or remove the existing one."""
        if snap.kind != "pin":
            controller.view.session.message.emit("hint", "There is no pin or guide here.")
            return
        toggle_motor(controller, snap.name)


def toggle_motor(controller: DrawController, joint: str) -> None:
    """Add a motor to a pin or guide, or remove the existing one."""
    plane = controller.plane
    driven = {driver.joint for driver in controller.view.session.model.drivers}
    words = f"Motor added to {joint}: press F5 to run the machine." + _rotation_warning(controller, joint)
    if controller.commit(f"Motor in {joint}", lambda m: linkage.motor(m, joint, plane=plane), adopt_present_pose=True):
        controller.view.session.message.emit("hint", f"Motor removed from {joint}." if joint in driven else words)


def _rotation_warning(controller: DrawController, joint: str) -> str:
    """Return a note if the link at a motor's ground pin in a four-bar or slider-crank cannot turn fully; otherwise
    ""."""
    found = controller.mobility.type if controller.mobility is not None else None
    pins = [pin.name for pin in distinct_ground_pins(controller.drawing)]
    if isinstance(found, FourBar) and joint in pins[1:]:
        found = FourBar(found.rocker, found.coupler, found.crank, found.ground)
    if found is None or joint not in pins or found.can_crank_turn:
        return ""
    which = f"As a {found.grashof_type} it" if isinstance(found, FourBar) else "It"
    return f" {which} cannot turn fully; the run ends where the loop no longer closes. Make this link shorter."


SUB_TOOLS: Mapping[str, SubTool] = MappingProxyType(
    {
        each.key: each
        for each in (
            LinkSubTool(),
            GroundPinSubTool(),
            SliderSubTool(),
            SlotSubTool(),
            GearPairSubTool(),
            MassPointSubTool(),
            SpringSubTool(),
            TracerPointSubTool(),
            MotorSubTool(),
        )
    }
)
"""Sub-tools by key, in the order of the bar."""
