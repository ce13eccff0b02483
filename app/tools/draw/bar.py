"""Option bar of the Draw tool above the viewport: working plane (also on a flat face), sub-tools, grid, snapping, and
degrees of freedom."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLineEdit, QMenu, QToolButton, QVBoxLayout

from app.background.signals import Lifetime
from app.plain_text import escape_tip, format_tip
from app.preferences.icons import icon
from app.tools.candidates import FlatFace, flat_face_under_pointer
from app.tools.draw.freedoms import LinkageMobility
from app.tools.draw.hand import DrawController
from app.tools.draw.snapping import SnappedPoint, grid_step
from app.tools.draw.sub_tools import SUB_TOOLS, SubTool
from app.tools.draw.tool import click_with_numbers, draw_controller
from app.tools.draw.typed_numbers import LENGTH, parse_typed_numbers
from app.viewport.annotations import AnnotationLine, annotation_line
from app.widgets.label import ElidedLabel
from app.widgets.quantities.quantity_text import format_quantity, read
from core.design.linkage import PLANES, plane_at, plane_through
from core.design.linkage.linkage_types import FourBar
from core.errors import KinetostatError
from core.model import WORLD
from viz.camera import metres_per_pixel
from viz.placement import inverse_pose

if TYPE_CHECKING:
    from app.viewport.gestures import MouseTool, PointerState
    from app.viewport.stage import Stage


NO_FACE = "There is no flat face here: click the side of a box, the end of a cylinder, or a flat part of a mesh."
AXIS_PIXELS = 46.0
"""Length of the axes drawn in a face, in pixels (at 100 %)."""


class FacePlaneSubTool(SubTool):
    """Sub-tool that makes a flat face the working plane on a click; afterwards the Link sub-tool is active again."""

    key, title = "", "Working plane on a face"
    short = "Face"
    icon = "shape"
    in_plane = False
    help = "Point at a flat face of a shape to preview it as working plane; click to use it."
    words = ("click a flat face of a shape · drag to orbit · Esc keeps the former plane",)

    def click(self, controller: DrawController, snap: SnappedPoint, pointer: PointerState) -> None:
        """Make the face under the pointer the working plane."""
        use_face_as_plane(controller, flat_face_under_pointer(controller.view, pointer))

    def preview_pick(self, controller: DrawController, pointer: PointerState | None) -> None:
        """Preview the plane that a click would make the working plane."""
        view = controller.view
        face = flat_face_under_pointer(view, pointer) if pointer is not None else None
        view.annotations.clear()
        if face is None or pointer is None:
            view.scene.working_plane.hide_grid()
        else:
            view.annotations.lines = _face_lines(controller, face)
            view.annotations.show_value_at_pointer(f"face of {face.body}", pointer.x, pointer.y)
            local = np.vstack(face.outlines) - face.X_WF[:3, 3]
            flat, step = (local @ face.X_WF[:3, :3])[:, :2], grid_step(controller.metres_per_pixel)
            view.scene.working_plane.show_grid(face.X_WF, flat.min(axis=0), flat.max(axis=0), step, view.scene.palette)
        view.update()


def use_face_as_plane(controller: DrawController, face: FlatFace | None) -> None:
    """Make a face the working plane."""
    if face is None:
        controller.view.session.message.emit("hint", NO_FACE)
        return
    X_BF = inverse_pose(controller.drawing.poses[face.body]) @ face.X_WF
    controller.draw_in_new_plane(lambda model: plane_at(model, face.body, X_BF[:3, 3], X_BF[:3, :3]))


def _face_lines(controller: DrawController, face: FlatFace) -> tuple[AnnotationLine, ...]:
    """Return the lines that outline a face, and its axes."""
    place, scene = face.X_WF[:3, 3], controller.view.scene
    reach = AXIS_PIXELS * metres_per_pixel(scene.view, scene.size, place) * scene.pixel_ratio
    around = [annotation_line(a, b) for outline in face.outlines for a, b in pairwise(outline)]
    axes = [annotation_line(place, place + reach * face.X_WF[:3, k]) for k in range(2)]
    return (*around, *axes)


WIDE, NARROW = 760, 560
"""Pixels from which there is room for the names of the sub-tools, and from which for plane, grid and snapping: below
they are in the menu."""
LONGEST_PLANE = 130
"""Largest width of the name of a plane, in pixels."""
FIELD, ICONS = 76, 580
"""Pixels of the fields of length and angle, and of all else without names."""
ICON, SMALLER = 18, 0.88
"""Pixels of the icon of a sub-tool, and its name beside other texts."""

PLANAR = "Degrees of freedom, computed by rank. “planar”: redundant constraints that every planar loop has"


class SubToolButton(QToolButton):
    """Button of a sub-tool: its icon, its shortcut letter next to the icon, and its name below if there is room."""

    def __init__(self, sub: SubTool) -> None:
        super().__init__(autoRaise=True, checkable=True, icon=icon(sub.icon), text=sub.short)
        self._letter = sub.key.upper()
        font = self.font()
        font.setPointSizeF(SMALLER * font.pointSizeF())
        self.setFont(font)
        self.setIconSize(QSize(ICON, ICON))
        self.setToolTip(format_tip(sub.title, self._letter, sub.help))
        self.setAccessibleName(sub.title)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    @property
    def _shows_name(self) -> bool:
        return self.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextUnderIcon

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._shows_name:
            painter = QPainter(self)
            painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
            beside = QRect(self.width() // 2 + ICON // 2 + 3, 2, ICON, ICON)
            painter.drawText(beside, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, self._letter)
            painter.end()


class DrawOptionBar(QFrame):
    """Option bar shown while the Draw tool is active."""

    def __init__(self, view: Stage) -> None:
        super().__init__()
        self.setObjectName("notice")
        self._view, self._hand = view, draw_controller(view)
        self.plane = QComboBox(toolTip="The working plane: before the first click, Tab switches to the next one")
        self.plane.setAccessibleName("Working plane")
        self.plane.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plane.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.plane.activated.connect(self._on_plane_chosen)
        self.subs = {key: SubToolButton(sub) for key, sub in SUB_TOOLS.items()}
        for key, button in self.subs.items():
            button.clicked.connect(lambda _on, sub=SUB_TOOLS[key]: self._hand.choose_sub_tool(sub))
        self.grid = self._build_switch_button("Grid", "Show the grid and snap to it")
        self.snapping = self._build_switch_button(
            "Snap", "Snap to directions and the grid (pins always snap); hold Ctrl to suspend"
        )
        self.more = self._build_plane_menu()
        self.length = self._build_number_field(
            "Length", "Length of the link being drawn: a number or a formula; Enter draws it"
        )
        self.angle = self._build_number_field(
            "Angle", "Angle from the first axis of the plane; <30: from the previous link"
        )
        self.freedoms = ElidedLabel()
        self.freedoms.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.freedoms.setToolTip("Degrees of freedom, computed by rank, and the type of the linkage")
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 3, 10, 3)
        row.setSpacing(2)
        row.addWidget(self.plane)
        row.addWidget(self.more)
        row.addSpacing(10)
        for button in self.subs.values():
            row.addWidget(button)
        row.addSpacing(10)
        switches = QVBoxLayout()
        switches.setSpacing(1)
        switches.addWidget(self.grid)
        switches.addWidget(self.snapping)
        row.addLayout(switches)
        row.addSpacing(6)
        row.addWidget(self.length)
        row.addWidget(self.angle)
        row.addWidget(self.freedoms, 1)
        self._life = Lifetime()
        self._life.listen((view.gestures.chosen, self._on_tool_chosen), (self._hand.changed, self.refresh))
        for widget in (self.plane, self.grid, self.snapping):
            widget.setMinimumWidth(widget.sizeHint().width())
        self.setMinimumWidth(1)  # what is told shall not move the panels
        self.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the names of the buttons, and options that are also in the menu, in a narrow window."""
        style = Qt.ToolButtonStyle
        wide = self.width() >= WIDE
        for button in self.subs.values():
            button.setToolButtonStyle(style.ToolButtonTextUnderIcon if wide else style.ToolButtonIconOnly)
        for widget in (self.plane, self.grid, self.snapping):
            widget.setVisible(self.width() >= NARROW)
        self._update_number_fields()
        super().resizeEvent(event)

    def close(self) -> bool:
        """Disconnect from the viewport."""
        self._life.close()
        self._hand.close()
        return super().close()

    def _build_plane_menu(self) -> QToolButton:
        """Build the menu of world planes, planes derived from the present one, grid and snapping."""
        tip = "World planes, or planes derived from this one: offset, turned or flipped; grid and snapping"
        button = QToolButton(autoRaise=True, text="…", toolTip=escape_tip(tip))
        button.setAccessibleName("Other planes")
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        menu = QMenu(button)
        menu.addAction("Offset…", self._ask_offset)
        menu.addAction("Turn by 90°", lambda: self._hand.draw_in_derived_plane(turns=1))
        menu.addAction("Flip", lambda: self._hand.draw_in_derived_plane(flipped=True))
        self.through = menu.addAction("Through the selected joint", self._use_plane_through_joint)
        menu.aboutToShow.connect(lambda: self.through.setEnabled(self._selected_joint() is not None))
        menu.addAction("On a face…", lambda: self._hand.choose_sub_tool(FacePlaneSubTool()))
        menu.addSeparator()
        for title, plane in PLANES.items():
            menu.addAction(f"Plane {title}", partial(self._hand.set_plane, plane))
        menu.addSeparator()
        for switch in (self.grid, self.snapping):
            action = menu.addAction(switch.text(), switch.click)
            action.setCheckable(True)
            menu.aboutToShow.connect(lambda action=action, switch=switch: action.setChecked(switch.isChecked()))
        button.setMenu(menu)
        return button

    def _selected_joint(self) -> str | None:
        ref = self._view.session.selection
        return ref.name if ref is not None and ref.collection == "joints" else None

    def _use_plane_through_joint(self) -> None:
        joint = self._selected_joint()
        if joint is not None:
            self._hand.draw_in_new_plane(lambda model: plane_through(model, joint))

    def _ask_offset(self) -> None:
        hand = self._hand

        def accept(text: str) -> None:
            hand.draw_in_derived_plane(read(text, LENGTH, hand.view.settings, hand.drawing.values))

        zero = format_quantity(0.0, LENGTH, hand.view.settings)
        hand.field.open_field("Offset along the normal", zero, (40.0, 20.0), accept)

    def _build_switch_button(self, title: str, tip: str) -> QToolButton:
        button = QToolButton(autoRaise=True, checkable=True, text=title, toolTip=escape_tip(tip))
        button.setObjectName("small")
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.clicked.connect(self._on_options_switched)
        return button

    def _build_number_field(self, title: str, tip: str) -> QLineEdit:
        """Build an input field for a number of the link being drawn; it is visible only while a link is drawn."""
        line = QLineEdit(placeholderText=title, toolTip=escape_tip(tip))
        line.setAccessibleName(title)
        line.setFixedWidth(FIELD)
        line.textEdited.connect(lambda _text: self._on_numbers_typed())
        line.returnPressed.connect(self._draw_typed_link)
        line.hide()
        return line

    def _on_numbers_typed(self) -> None:
        """Apply typed length and angle immediately; errors are reported only when Enter is pressed."""
        with suppress(KinetostatError):
            self._apply_typed_numbers()

    def _apply_typed_numbers(self) -> None:
        hand, angle = self._hand, self.angle.text().strip()
        text = f"{self.length.text()} <{angle}" if angle else self.length.text()
        hand.typed = parse_typed_numbers(text, hand.view.settings, hand.drawing.values)
        hand.view.annotations.update()

    def _draw_typed_link(self) -> None:
        """Draw the link with the typed length and angle, as a click would."""
        try:
            self._apply_typed_numbers()
            click_with_numbers(self._hand)
        except KinetostatError as error:
            self._hand.field.report_error(error)
            return
        for field in (self.length, self.angle):
            field.clear()
        self._view.widget.setFocus()

    def _update_number_fields(self) -> None:
        """Show the fields for the next link while a chain is open."""
        room = self.width() - 2 * FIELD - (WIDE if self.width() >= WIDE else ICONS)
        drawn = bool(self._hand.chain) and self._hand.sub is SUB_TOOLS["l"] and room >= 0
        for field in (self.length, self.angle):
            if not drawn:
                field.clear()
            field.setVisible(drawn)

    def _on_options_switched(self) -> None:
        self._hand.grid, self._hand.snapping = self.grid.isChecked(), self.snapping.isChecked()
        self._hand.redraw()

    def _on_plane_chosen(self, index: int) -> None:
        self._hand.set_plane(PLANES[self.plane.itemData(index)])

    def _on_tool_chosen(self, tool: MouseTool[Stage]) -> None:
        self.setVisible(tool.id == "draw")
        self.refresh()

    def refresh(self) -> None:
        """Update the bar to the present state of the tool."""
        hand = self._hand
        if not hand.on:
            return
        titles = [plane.title for plane in PLANES.values()]
        if hand.plane.parent != WORLD:
            titles.append(hand.plane.title)
        if [self.plane.itemText(k) for k in range(self.plane.count())] != titles:
            self.plane.clear()
            for title in titles:
                self.plane.addItem(title, title if title in PLANES else hand.plane.axes)
            self.plane.setFixedWidth(min(self.plane.sizeHint().width(), LONGEST_PLANE))
        self.plane.setCurrentIndex(titles.index(hand.plane.title))
        for key, button in self.subs.items():
            button.setChecked(hand.sub is SUB_TOOLS[key])
        self.grid.setChecked(hand.grid)
        self.snapping.setChecked(hand.snapping)
        self._update_number_fields()
        self._show_mobility()

    def _show_mobility(self) -> None:
        hand = self._hand
        if not hand.view.session.model.bodies:
            self.freedoms.setText("M −")
            return
        now, coming = hand.mobility, hand.mobility_after_click
        if now is None:
            return
        kind, *below = self._linkage_type_and_notes(now) if now.type is not None else ("",)
        head = [f"M {_mobility_text(now)}" + (f" → {_mobility_text(coming)}" if coming is not None else "")]
        head += [kind] if kind else []
        below = [f"dead position at {', '.join(hand.pins_at_dead_point)}"] * bool(hand.pins_at_dead_point) + below
        below += ["planar"] if now.planar and not now.others else []
        self.freedoms.setText("\n".join((" · ".join(head), " · ".join(below))).strip())
        self.freedoms.setToolTip(escape_tip("\n".join((self.freedoms.text(), *(now.others or (PLANAR,))))))

    def _linkage_type_and_notes(self, mobility: LinkageMobility) -> tuple[str, ...]:
        """Return the type of the linkage, followed by notes about it."""
        shown, linkage = self._view.settings.format_value, mobility.type
        assert linkage is not None
        angle = linkage.transmission_angle
        transmission = (f"transmission angle ≥ {shown(angle, 'angle')}",) if angle is not None else ()
        if isinstance(linkage, FourBar):
            return linkage.grashof_type, *transmission
        stroke = linkage.stroke
        travel = f"stroke {shown(stroke, 'length')}" if stroke is not None else "the crank does not turn fully"
        return "slider–crank", travel, f"offset {shown(linkage.offset, 'length')}", *transmission


def _mobility_text(mobility: LinkageMobility) -> str:
    return "?" if mobility.degrees is None else str(mobility.degrees)
