"""Result card: title, call that produced the result, machine and pose, validity, content, and buttons."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.background.slices import shared_slices
from app.document import provenance
from app.document.session import Session
from app.panels.output import frame_table_part, map_part, parts  # noqa: F401  (they register widgets of results)
from app.panels.output.formulas_part import COPIES, append_formulas
from app.panels.output.parts import CardContext, CardPart, create_part, register_part_creator
from app.panels.output.tables import TableView
from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.runs.answers import ResultUpdater
from app.widgets.label import ElidedLabel, Label, Note, set_accessible_panel_names
from core.functions import FUNCTIONS, Context
from core.functions.diagrams import Diagram
from core.functions.results import Formulas, Result
from core.functions.text import Units
from core.later import lazy_function

EVERY = 1000
PATIENCE = 0.4
"""Time to wait for an update of the result before its card is marked as outdated, s."""
GONE = "The machine of this result is no longer open."
AT_ONCE = 0.005
"""Time for which widgets of a new card are created at once; the rest follow in time slices, s."""


register_part_creator(Diagram)(
    lazy_function(__package__, "diagram_part.DiagramPart")
)  # reads what draws charts when there is one


class ResultCard(QFrame):
    """Card that shows a result; partial and live results are replaced in place by `show_result`."""

    removed = Signal()

    def __init__(self, result: Result, session: Session, answers: ResultUpdater, settings: Settings) -> None:
        super().__init__()
        self.result = result
        self._session, self._answers, self._settings = session, answers, settings
        self._came = session.document, provenance.machine_name(session.model)
        """The document that was open when the result came, and its machine."""
        self._renewing = False
        self._since = 0.0
        """Time at which the card was first seen to be behind the machine that it follows, s; 0.0 if it is not."""
        self._place = CardContext(session, settings, lambda: self.result, self._recompute)
        self.setObjectName("overlay")
        self._parts: list[QWidget] = []
        self._waiting: list[Result] = []
        """Parts that have no widget yet."""
        self._begun: Callable[[], bool] | None = None
        """Makes more of the last one."""
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(12, 8, 10, 10)
        self._layout.setSpacing(6)
        self._layout.addLayout(self._build_title_line())
        self._layout.addLayout(self._build_origin_lines())
        self._fill_parts()

    def _build_title_line(self) -> QHBoxLayout:
        self._title = Label()
        font = self._title.font()
        font.setBold(True)
        self._title.setFont(font)
        self._call = Label()
        self._call.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._call.setProperty("muted", True)
        self._call.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._call.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        copy = QToolButton()
        copy.setIcon(icon("copy"))
        copy.setToolTip("Copy")
        copy.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        copy.setMenu(self._build_copy_menu(copy))
        close = QToolButton()
        close.setIcon(icon("close"))
        close.setToolTip("Remove this result")
        close.clicked.connect(self.removed)
        self.live = QToolButton()
        self.live.setText("Live")
        self.live.setCheckable(True)
        self.live.setToolTip("Update the result whenever pose, parameters or model change, also while dragging")
        self.live.clicked.connect(self._set_live)
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self._title)
        row.addWidget(self._call, 1)
        row.addWidget(self.live)
        row.addWidget(copy)
        row.addWidget(close)
        return row

    def _build_origin_lines(self) -> QVBoxLayout:
        """Build the lines that name the machine and pose, and what has changed since."""
        self.origin = ElidedLabel()
        self.origin.setProperty("muted", True)
        self.note = Note()
        self.update_button = QPushButton("Update")
        self.update_button.setToolTip("Compute the result again for the current machine")
        self.update_button.clicked.connect(lambda: self._recompute())
        row = QHBoxLayout()
        row.addWidget(self.note, 1)
        row.addWidget(self.update_button)
        column = QVBoxLayout()
        column.setSpacing(4)
        column.addWidget(self.origin)
        column.addLayout(row)
        return column

    def _build_copy_menu(self, owner: QWidget) -> QMenu:
        menu = QMenu(owner)
        menu.addAction("Text", lambda: _copy_to_clipboard(self.format_text()))
        menu.addAction("LaTeX", lambda: _copy_to_clipboard(self.format_latex()))
        menu.addAction("Python", lambda: _copy_to_clipboard(self.result.to_python()))
        if self.formulas():
            for language in ("mathematica", "c", "sympy"):
                menu.addAction(
                    COPIES[language], lambda language=language: _copy_to_clipboard(self.format_formulas(language))
                )
            menu.addAction("One entry per line", lambda: _copy_to_clipboard(self.format_formulas("elements")))
        table = menu.addAction("CSV (tables)", lambda: _copy_to_clipboard(self.format_csv()))
        menu.addSeparator()
        menu.addAction("Call", lambda: _copy_to_clipboard(self.result.call))
        if self.formulas():
            menu.addAction("Append to a file…", self._ask_append_to_file)
        menu.aboutToShow.connect(lambda: table.setEnabled(bool(self.format_csv())))
        return menu

    # ----------------------------------------------------------------------------- content

    def show_result(self, result: Result) -> None:
        """Show a newer value of the same kind of result."""
        old, self.result = self.result, result
        self._since = 0.0
        before, after = old.shown(), result.shown()
        same = 0
        while same < min(len(self._parts), len(after)) and type(before[same]) is type(after[same]):
            same += 1
        self._update_header()
        for part, widget in zip(after, self._parts[:same], strict=False):
            cast(CardPart, widget).show_part(part)
        if same < len(self._parts):
            self._begun = None
        self._drop_parts_after(same)
        self._waiting = list(after[same:])
        self._begin_creating_parts()

    def _begin_creating_parts(self) -> None:
        """Create some widgets at once and the rest in time slices, so that a long report never blocks the window."""
        if not self._create_parts(AT_ONCE):
            shared_slices().add(self, self._create_parts)

    def _create_parts(self, seconds: float) -> bool:
        """Create widgets for the given time; return True once every part has one."""
        until = time.perf_counter() + seconds
        while not self.is_complete:
            self._create_next_part()
            if time.perf_counter() > until:
                break
        return self.is_complete

    def _create_next_part(self) -> None:
        """Create the next widget, or continue the last one."""
        if self._begun is not None:
            if self._begun():
                self._begun = None
            return
        part = create_part(self._waiting.pop(0), self._place)
        self._begun = getattr(part, "create_next_piece", None)
        set_accessible_panel_names(part, self._title.text())
        self._parts.append(part)
        self._layout.addWidget(part)

    @property
    def is_complete(self) -> bool:
        """True once every part has its widget."""
        return not self._waiting and self._begun is None

    def close(self) -> None:
        """Disconnect from all signals."""
        shared_slices().drop(self)
        for widget in self._parts:
            widget.close()

    def refresh(self) -> None:
        """Update the card after a change of units."""
        self._update_header()
        for widget in self._parts:
            if isinstance(widget, parts.TextPart):
                widget.show_part(widget.part)
            if isinstance(widget, map_part.MapPart):
                widget.refresh()
            for table in widget.findChildren(TableView):
                table.refresh()

    @property
    def _display_units(self) -> Units:
        return {"degrees": self._settings.degrees, "millimetres": self._settings.millimetres}

    def format_text(self) -> str:
        """Return the result as text in display units, with its origin and validity."""
        head = " · ".join(filter(None, (self.origin.text(), self.note.words)))
        return f"{head}\n{self.result.to_text(**self._display_units)}"

    def format_latex(self) -> str:
        """Return the result as LaTeX in display units."""
        return self.result.to_latex(**self._display_units)

    def formulas(self) -> list[Formulas]:
        """Return the formulas on the card."""
        return [found for part in self.result.shown() if (found := part.to_formulas()) is not None]

    def format_formulas(self, language: str, label: str = "") -> str:
        """Return the formulas in one of the languages of `core.symbolic.export`."""
        from core.symbolic.export import EXPORTS

        write = EXPORTS[language][2]
        return "\n".join(write(part.entries, label or part.label or "result") for part in self.formulas())

    def _ask_append_to_file(self) -> None:
        own = self.formulas()[0].label if len(self.formulas()) == 1 else ""
        append_formulas(self, self.format_formulas, own, self._session, self._settings)

    def format_csv(self) -> str:
        """Return the card's tables as CSV; '' if there are none."""
        found = (part.to_table() for part in self.result.shown())
        return "\n".join(table.to_csv(**self._display_units) for table in found if table is not None)

    def _update_header(self) -> None:
        self._title.setText(self.result.title or "Result")
        self._call.setText(self.result.call)
        self._call.setToolTip(escape_tip(self.result.call))
        self.origin.setText(self._origin_text(provenance.MOST))
        self.origin.setToolTip(escape_tip(self._origin_text(EVERY)))
        self.update_validity(self._session.context())

    # ----------------------------------------------------------------------------- whether it holds

    @property
    def _dependency_text(self) -> str:
        function = FUNCTIONS.get(self.result.function)
        return function.reads if function is not None else "nothing"

    def _origin_text(self, most: int) -> str:
        """Return machine and pose as text in display units; most: largest number of values listed."""
        asked = self.result.asked
        if asked is None:
            return self._came[1]
        pose = provenance.describe_pose(asked, self._dependency_text, self._settings, most)
        return ", ".join(filter(None, (provenance.machine_name(asked.context.model), pose)))

    @property
    def is_machine_closed(self) -> bool:
        """True if the result's machine is no longer open."""
        asked = self.result.asked
        if asked is None:
            return self._came[0] != self._session.document
        return provenance.is_from_closed_document(asked, self._session)

    def update_validity(self, context: Context) -> bool:
        """Show what has changed since the result was computed and offer an update; return True while an update is
        expected."""
        asked, function = self.result.asked, FUNCTIONS.get(self.result.function)
        gone, follows = self.is_machine_closed, self._answers.is_live(self.result.card)
        problem = self._answers.update_problem(self.result.card)
        changed = (
            ""
            if asked is None or gone
            else provenance.describe_changes(asked, self._dependency_text, context, self._settings)
        )
        awaited = bool(changed) and follows and not problem
        self._since = (self._since or time.monotonic()) if awaited else 0.0
        if gone:
            self.note.show_text(GONE, "hint")
        elif problem:
            self.note.show_text(
                f"Outdated: {changed or 'options have changed'}. It cannot be updated: {problem}", "warning"
            )
        elif awaited:
            late = time.monotonic() - self._since > PATIENCE
            self.note.show_text(f"Outdated: {changed}. Computing …" if late else "", "hint")
        else:
            self.note.show_text(f"Outdated: {changed}." if changed else "", "hint")
        self.update_button.setVisible(bool(changed) and not follows and provenance.is_repeatable(function))
        self.update_button.setEnabled(not self._renewing)
        self.live.setVisible(function is not None and function.live and asked is not None and not gone)
        self.live.setChecked(follows)
        return awaited

    def _set_live(self, on: bool) -> None:
        """Start or stop updating the result live."""
        asked = self.result.asked
        if not on or asked is None:
            self._answers.stop_live_updates(self.result.card)
            return
        options = provenance.options_for_repeat(self.result.function, asked, self._session.model)
        self._answers.start_live_updates(FUNCTIONS[self.result.function], options, self.result.card)

    def _recompute(self, changed: Mapping[str, Any] | None = None) -> None:
        """Compute the result again, optionally with some options changed."""
        if self._renewing:
            return
        job = self._answers.recompute(self.result, changed or {})
        if job is not None:
            self._renewing = True
            self.update_button.setEnabled(False)
            job.ended.connect(self._on_recomputed)

    def _on_recomputed(self) -> None:
        self._renewing = False
        self.update_validity(self._session.context())

    # ----------------------------------------------------------------------------- inside

    def _fill_parts(self) -> None:
        self._update_header()
        self._waiting = list(self.result.shown())
        self._begin_creating_parts()

    def _drop_parts_after(self, count: int) -> None:
        """Remove the widgets of all parts except the first `count`."""
        for widget in self._parts[count:]:
            widget.close()
            widget.hide()
            widget.deleteLater()
        del self._parts[count:]


def _copy_to_clipboard(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
