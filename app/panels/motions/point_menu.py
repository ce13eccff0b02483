"""Menu of a point of a motion, and of the segment that leads to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtWidgets import QInputDialog, QLineEdit, QMenu, QWidget

from app.document.motion_plans import MotionPlans
from app.document.revision import ElementRef
from app.plain_text import escape_title
from core.model import Model
from core.model.motions import LAW_NAMES, Motion, Segment
from core.motions import keyframes

PATHS = {"joint": "Joint motion", "line": "Straight line", "arc": "Arc through"}
"""Kinds of segments that lead to a pose or target, with their titles."""


def build_point_menu(plans: MotionPlans, motion: Motion, point: int, parent: QWidget) -> QMenu:
    """Return the menu of a point."""
    menu, place = QMenu(parent), keyframes.place_at(motion, point)
    if place:
        menu.addAction(f"Go to {escape_title(place)}", partial(plans.go_to_place, place))
        menu.addAction("Overwrite with the present pose", partial(plans.overwrite_place, place))
        menu.addSeparator()
    if point:
        _add_segment_entries(plans, motion.segments[point - 1], point, menu, parent)
    menu.addAction("Wait after it…", partial(_ask_wait, plans, point, parent))
    menu.addSeparator()
    menu.addAction("All fields", partial(_show_fields, plans, motion.name))
    menu.addAction("Remove the point", partial(remove_point, plans, point))
    menu.aboutToHide.connect(menu.deleteLater)
    return menu


def remove_point(plans: MotionPlans, point: int) -> None:
    """Remove a point from the motion, as one undo step; its pose stays."""
    plans.change("Remove a point", lambda model, name: keyframes.remove_point(model, name, point))


def _show_fields(plans: MotionPlans, name: str) -> None:
    plans.session.select(ElementRef("motions", name))


def _segment_changer(plans: MotionPlans, label: str, point: int, **fields: Any) -> Callable[[], object]:
    def edit(model: Model, name: str) -> Model:
        return keyframes.change_segment(model, name, point, **fields)

    return lambda: plans.change(label, edit)


def _add_segment_entries(plans: MotionPlans, segment: Segment, point: int, menu: QMenu, parent: QWidget) -> None:
    if segment.to:
        paths = menu.addMenu("Path")
        for kind in ("joint", "line"):
            action = paths.addAction(PATHS[kind], _segment_changer(plans, PATHS[kind], point, kind=kind, via=""))
            action.setCheckable(True)
            action.setChecked(segment.kind == kind)
        arcs = paths.addMenu(PATHS["arc"])
        for via in keyframes.places_of(plans.session.model):
            change = _segment_changer(plans, f"Arc through {via}", point, kind="arc", via=via)
            arcs.addAction(escape_title(via), change)
        laws = menu.addMenu("Law")
        for law in LAW_NAMES:
            action = laws.addAction(law, _segment_changer(plans, f"Law {law}", point, law=law))
            action.setCheckable(True)
            action.setChecked(segment.law == law)
    menu.addAction("Duration…", partial(_ask_duration, plans, segment, point, parent))


def _ask_duration(plans: MotionPlans, segment: Segment, point: int, parent: QWidget) -> None:
    now = "" if segment.duration is None else str(segment.duration)
    text, agreed = QInputDialog.getText(
        parent, "Duration", "Duration (s); empty: as short as the limits permit", QLineEdit.EchoMode.Normal, now
    )
    if agreed and text.strip() != now:
        plans.change(
            "Duration",
            lambda model, name: keyframes.change_segment(model, name, point, duration=text.strip() or None),
        )


def _ask_wait(plans: MotionPlans, point: int, parent: QWidget) -> None:
    text, agreed = QInputDialog.getText(parent, "Wait", "Duration (s)", QLineEdit.EchoMode.Normal, "0.5")
    if agreed and text.strip():

        def edit(model: Model, name: str) -> Model:
            segments = model.find("motions", name).segments
            wait = Segment(kind="wait", duration=text.strip())
            return keyframes.change_segments(model, name, (*segments[:point], wait, *segments[point:]))

        plans.change("Wait", edit)
