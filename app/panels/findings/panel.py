"""The Findings panel: all problems of the model with their remedies, worst first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QStackedLayout,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.background.signals import Lifetime
from app.document.analyses import PanelFindings, model_analysis_of
from app.document.revision import DocumentState, ElementRef
from app.document.session import Session
from app.plain_text import escape_tip
from app.preferences.element_icons import collection_icon
from app.preferences.icons import icon
from app.preferences.settings import convert_finding_angles
from app.widgets.label import Label, severity_color
from app.widgets.panel_parts import RowHighlighter
from app.widgets.quantities.quantity_text import Units
from core.model import Finding, Model

if TYPE_CHECKING:
    from app.workbench import Workbench

GROUPS = {
    "error": ("Errors", "must be corrected before use"),
    "warning": ("Warnings", "can be used, but please check"),
    "hint": ("Hints", "for your information"),
}
FINDING = Qt.ItemDataRole.UserRole


class _WrappingDelegate(QStyledItemDelegate):
    """Delegate that makes cells as tall as their wrapped text needs at the current column width."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        hint = super().sizeHint(option, index)
        tree = self.parent()
        if isinstance(tree, QTreeWidget) and index.column() > 0 and index.parent().isValid():
            width = tree.columnWidth(index.column()) - 8
            box = option.fontMetrics.boundingRect(
                0, 0, max(width, 40), 10000, Qt.TextFlag.TextWordWrap, str(index.data())
            )
            hint.setHeight(max(hint.height(), box.height() + 6))
            hint.setWidth(40)
        return hint


class _ProposalLine(QWidget):
    """Line above the findings that proposes how to remove all redundant constraints, with a button that applies it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.text = Label(parent=self)
        self.text.setWordWrap(True)
        self.button = QPushButton(icon("check"), "Apply", self)
        self.button.setToolTip("Replace these joints in one undo step; the changed machine is checked first.")
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 6, 10, 6)
        row.addWidget(self.text, 1)
        row.addWidget(self.button)
        self.hide()

    def show_advice(self, advice: str) -> None:
        """Show the proposal; '' hides the line."""
        self.text.setText(f"Overconstrained. {advice} The motion stays the same.")
        self.setVisible(bool(advice))


class FindingsPanel(QWidget):
    """List of findings; a click selects the element, a double click goes to the field (signal `field_wanted`)."""

    counted = Signal(str)
    """Emitted with the new title of the tab, e.g. "Findings (2)"."""
    field_wanted = Signal(str)
    """Emitted when a field of the selected element should get the cursor."""
    proposal_accepted = Signal()
    """Emitted when the proposed remedy for redundant constraints should be applied."""

    def __init__(self, session: Session, settings: Units | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session, self.settings = session, settings
        self.diagnosis = PanelFindings(self)
        self.diagnosis.ready.connect(self.refresh)
        self.mobility = model_analysis_of(session)
        self.mobility.ready.connect(self.refresh)
        self.found: tuple[Finding, ...] = ()
        self.list = self._build_table()
        self.empty = Label("No findings: masses, inertias, limits, axes and files of this model are plausible.", self)
        self.empty.setWordWrap(True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setProperty("muted", True)
        self.empty.setMargin(16)
        self.proposal = _ProposalLine(self)
        self.proposal.button.clicked.connect(self.proposal_accepted)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.proposal)
        self.pages = QStackedLayout()
        column.addLayout(self.pages, 1)
        self.pages.addWidget(self.empty)
        self.pages.addWidget(self.list)
        self._life = Lifetime()
        self._life.listen((session.changed, self._on_document_changed))
        self.refresh()

    def close(self) -> None:
        """Disconnect from all signals."""
        self._life.close()

    def _build_table(self) -> QTreeWidget:
        table = QTreeWidget(self)
        table.setColumnCount(3)
        table.setHeaderLabels(["Element", "Finding", "What to do"])
        table.setFrameShape(QFrame.Shape.NoFrame)
        table.setWordWrap(True)
        table.setIndentation(14)
        table.setIconSize(QSize(16, 16))
        table.setItemDelegate(_WrappingDelegate(table))
        table.setAllColumnsShowFocus(True)
        header = table.header()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        header.sectionResized.connect(lambda *_: table.scheduleDelayedItemsLayout())
        RowHighlighter(table, self.session, self._row_elements)
        table.itemClicked.connect(self._on_clicked)
        table.itemDoubleClicked.connect(self._on_double_clicked)
        table.itemActivated.connect(self._on_double_clicked)
        return table

    @property
    def tab_title(self) -> str:
        """Return the tab's title with the number of findings that need attention."""
        serious = sum(finding.severity != "hint" for finding in self.found)
        return f"Findings ({serious})" if serious else "Findings"

    def refresh(self) -> None:
        """Show the findings of the model and those reported when its file was read."""
        model = self.session.model
        now = (*self.diagnosis.findings_for(model), *self.mobility.findings_for(model))
        degrees = self.settings is None or self.settings.degrees
        self.found = tuple(
            convert_finding_angles(each, degrees) for each in gather_findings(model, now, self.session.findings)
        )
        self.list.clear()
        for severity, (title, meaning) in GROUPS.items():
            rows = [finding for finding in self.found if finding.severity == severity]
            if rows:
                self._add_group(severity, f"{title} ({len(rows)})", meaning, rows)
        self.pages.setCurrentWidget(self.list if self.found else self.empty)
        mobility = self.mobility.mobility_of(model)
        self.proposal.show_advice(mobility.advice if mobility is not None and mobility.proposal else "")
        self.counted.emit(self.tab_title)

    def _add_group(self, severity: str, title: str, meaning: str, rows: list[Finding]) -> None:
        group = QTreeWidgetItem([title, meaning])
        group.setIcon(0, icon(severity))
        color = QBrush(severity_color(severity, QGuiApplication.palette()))
        group.setForeground(0, color)
        group.setForeground(1, QBrush(severity_color("", QGuiApplication.palette())))
        group.setFlags(Qt.ItemFlag.ItemIsEnabled)
        self.list.addTopLevelItem(group)
        for finding in rows:
            item = QTreeWidgetItem([finding.place or "model", finding.text, finding.remedy])
            item.setData(0, FINDING, finding)
            item.setIcon(0, icon(collection_icon(finding.collection)))
            for column in range(3):
                item.setToolTip(column, escape_tip(str(finding)))
                item.setTextAlignment(column, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
            group.addChild(item)
        group.setExpanded(True)

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        if old.model is not new.model:
            self.refresh()

    def changeEvent(self, event: QEvent) -> None:
        """Update the colours of the headings after a change of theme."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.ApplicationPaletteChange, QEvent.Type.PaletteChange):
            QTimer.singleShot(0, self, self.refresh)

    def _row_elements(self, index: QModelIndex) -> tuple[ElementRef, ...]:
        """Return the elements that a row refers to."""
        finding = index.siblingAtColumn(0).data(FINDING)
        if not isinstance(finding, Finding) or not finding.name:
            return ()
        return (ElementRef(finding.collection, finding.name), *(ElementRef(*other) for other in finding.others))

    def _on_clicked(self, item: QTreeWidgetItem) -> None:
        finding = item.data(0, FINDING)
        if isinstance(finding, Finding):
            ref = ElementRef(finding.collection, finding.name)
            self.session.select(ref if finding.name and element_exists(self.session.model, ref) else None)

    def _on_double_clicked(self, item: QTreeWidgetItem) -> None:
        finding = item.data(0, FINDING)
        if isinstance(finding, Finding):
            self._on_clicked(item)
            if finding.field:
                self.field_wanted.emit(finding.field)


def element_exists(model: Model, ref: ElementRef) -> bool:
    """Return True if the element of a finding still exists (findings from reading a file may outlive it)."""
    holders = (model, model.expanded)
    return any(element.name == ref.name for held in holders for element in getattr(held, ref.collection, ()))


def gather_findings(model: Model, current: Iterable[Finding], from_reader: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the current findings of the model, then those from reading its file that concern existing elements;
    duplicates are dropped."""
    found = {(f.severity, f.text, f.collection, f.name): f for f in current}
    for finding in from_reader:
        key = (finding.severity, finding.text, finding.collection, finding.name)
        if key not in found and (
            not finding.name or element_exists(model, ElementRef(finding.collection, finding.name))
        ):
            found[key] = finding
    return tuple(found.values())


def create_panel(bench: Workbench) -> FindingsPanel:
    """Create the Findings panel of a window."""
    panel = FindingsPanel(bench.session, bench.settings)
    panel.counted.connect(lambda title: bench.panels.set_panel_title("findings", title))
    panel.field_wanted.connect(lambda field: _go_to_field(bench, field))
    panel.proposal_accepted.connect(lambda: bench.run_command("edit.isostatic"))
    return panel


def _go_to_field(bench: Workbench, field: str) -> None:
    bench.panels.show_panel("properties")
    bench.panels.focus_property_field(field)
