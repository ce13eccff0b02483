"""The model tree: the machine from the ground outward, forces, sensors, constraints, parameters, materials."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QEvent,
    QPoint,
    QSize,
    Qt,
    QTimer,
)
from PySide6.QtGui import QAction, QBrush, QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QMenu,
    QToolButton,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.background.signals import Lifetime
from app.commands import element_edits
from app.document.analyses import PanelFindings
from app.document.implied import assembly_of
from app.document.revision import DocumentState, ElementRef
from app.document.session import Session
from app.panels.tree.tree_nodes import Node, build_nodes
from app.panels.tree.tree_rows import (
    NODE,
    RenameDelegate,
    TreeView,
    create_row_menu,
    fill_add_menu,
    offer_ground_to_tool,
)
from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.preferences.settings import convert_angles
from app.widgets.fields.field_dialogs import remove
from app.widgets.fields.text_editors import color_swatch
from app.widgets.label import SEVERITY_MARKS, Note, severity_color
from app.widgets.plain_keys import TextFieldKeyFilter
from app.widgets.quantities.quantity_text import SIUnits, Units
from core.errors import KinetostatError, escape_control_characters
from core.model import WORDS, Finding
from core.model.edits import edits

if TYPE_CHECKING:
    from app.workbench import Workbench

NAMES_SHARE = 0.72
"""Largest fraction of the tree's width used for names."""


LOCKED = "Locked: it stays in place while you drag, draw, connect and edit. K unlocks it."


class ModelTree(QWidget):
    """Tree of the elements of the document; the user selects, renames, adds, duplicates and deletes them here."""

    def __init__(
        self,
        session: Session,
        settings: Units | None = None,
        parent: QWidget | None = None,
        commands: Callable[[], Mapping[str, QAction]] | None = None,
    ) -> None:
        super().__init__(parent)
        self.session = session
        self.commands = commands
        """Commands of the window's menus by id; None without a window."""
        self.settings: Units = settings or SIUnits()
        self.diagnosis = PanelFindings(self)
        self.diagnosis.ready.connect(self.refresh)
        self.items: dict[str, QTreeWidgetItem] = {}
        self._folded: set[str] = set()
        self._met: set[str] = set()
        self._shown: tuple[list[Node], dict[ElementRef, Finding], frozenset[str]] | None = None
        self._updating = False
        self._hovered: QTreeWidgetItem | None = None
        self._build()
        self._life = Lifetime()
        self._life.listen(
            (session.changed, self._on_document_changed),
            (session.selected, self._show_selection),
            (session.hovered, self._show_hover),
        )
        if settings is not None and hasattr(settings, "changed"):
            self._life.listen((settings.changed, self._on_setting_changed))
        self.refresh()

    def close(self) -> None:
        """Disconnect from all signals."""
        self._life.close()

    @property
    def widget(self) -> QWidget:
        """Return the parent widget for menus and dialogs."""
        return self

    def _build(self) -> None:
        self.search = QLineEdit(self, placeholderText="Search", clearButtonEnabled=True)
        self.search.addAction(icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        TextFieldKeyFilter(self.search, self.search.isUndoAvailable)
        self.search.textChanged.connect(self._filter_rows)
        self.add_button = QToolButton(self, icon=icon("add"), toolTip="Add to the model")
        self.add_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.add_menu = QMenu(self)
        self.add_menu.aboutToShow.connect(lambda: fill_add_menu(self, self.add_menu))
        self.add_button.setMenu(self.add_menu)
        self.view = TreeView(self)
        view = self.view
        view.setColumnCount(2)
        view.setHeaderHidden(True)
        view.setUniformRowHeights(True)
        view.setIndentation(14)
        view.setIconSize(QSize(16, 16))
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.setItemDelegate(RenameDelegate(self, self.rename))
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.header().setStretchLastSection(False)  # a hidden header would keep its width: fit_columns gives it
        view.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.pointed.connect(self.session.set_hovered_element)
        view.resized.connect(self.fit_columns)
        view.rename_wanted.connect(self.rename_selected)
        view.remove_wanted.connect(self.remove_selected)
        view.customContextMenuRequested.connect(self._context_menu)
        view.currentItemChanged.connect(self._on_chosen)
        view.itemClicked.connect(lambda item: offer_ground_to_tool(self, item.data(0, NODE)))
        view.itemCollapsed.connect(lambda item: self._set_folded(item, True))
        view.itemExpanded.connect(lambda item: self._set_folded(item, False))
        self.note = Note(self)
        self.note.setContentsMargins(8, 2, 8, 4)
        top = QHBoxLayout()
        top.setContentsMargins(8, 6, 8, 4)
        top.addWidget(self.search, 1)
        top.addWidget(self.add_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(self.view, 1)
        column.addWidget(self.note)

    # --------------------------------------------------------------------------- showing

    def fit_columns(self) -> None:
        """Give names the width they need, but leave part of the tree's width to the details."""
        width = self.view.viewport().width()
        self.view.setColumnWidth(0, min(self.view.sizeHintForColumn(0) + 6, int(NAMES_SHARE * width)))
        self.view.setColumnWidth(1, width - self.view.columnWidth(0))

    def refresh(self) -> None:
        """Show the current model; expanded rows, selection and scroll position are kept."""
        model = self.session.model
        cut = {loop.cut for loop in self.session.mech.loops}
        marks = _worst_findings(self.diagnosis.findings_for(model))
        rows = build_nodes(model, cut, self.settings)
        if (rows, marks, self.session.locked_bodies) == self._shown:
            return
        self._shown = (rows, marks, self.session.locked_bodies)
        self._updating = True
        position = self.view.verticalScrollBar().value()
        self.view.setUpdatesEnabled(False)
        self.view.clear()
        self.items.clear()
        self._hovered = None
        self._add_rows(self.view.invisibleRootItem(), rows, marks)
        self.view.setUpdatesEnabled(True)
        self._updating = False
        self._filter_rows(self.search.text())
        self._show_selection(self.session.selection)
        self.fit_columns()
        self.view.verticalScrollBar().setValue(position)

    def _add_rows(self, parent: QTreeWidgetItem, rows: list[Node], marks: dict[ElementRef, Finding]) -> None:
        for node in rows:
            item = QTreeWidgetItem([escape_control_characters(node.text), escape_control_characters(node.detail)])
            item.setData(0, NODE, node)
            self._style_item(item, node, marks.get(node.ref) if node.ref else None)
            parent.addChild(item)
            self.items[node.key] = item
            self._add_rows(item, node.children, marks)
            if node.folded and node.key not in self._met:
                self._folded.add(node.key)
            self._met.add(node.key)
            item.setExpanded(node.key not in self._folded)

    def _style_item(self, item: QTreeWidgetItem, node: Node, finding: Finding | None) -> None:
        item.setIcon(0, color_swatch(node.color) if node.color is not None else icon(node.icon))
        muted = severity_color("", QGuiApplication.palette())
        item.setForeground(1, QBrush(muted))
        words = node.help
        if node.derived:
            font = item.font(0)
            font.setItalic(True)
            item.setFont(0, font)
            words = "Defined by a DH chain or another file; edit that to change it."
        elif node.ref is not None:
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
        item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsDropEnabled)
        if not node.channels:
            item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsDragEnabled)
        if finding is not None:
            item.setText(1, escape_control_characters(f"{SEVERITY_MARKS[finding.severity]} {node.detail}".strip()))
            item.setForeground(1, QBrush(severity_color(finding.severity, QGuiApplication.palette())))
            words = convert_angles(f"{finding.text} {finding.remedy}".strip(), self.settings.degrees)
        if node.ref is not None and node.ref.collection == "bodies" and node.ref.name in self.session.locked_bodies:
            item.setIcon(1, icon("lock"))
            words = f"{words}\n{LOCKED}".strip()
        item.setToolTip(0, escape_tip(words or node.text))
        item.setToolTip(1, escape_tip(words or node.detail))

    def _set_folded(self, item: QTreeWidgetItem, folded: bool) -> None:
        if self._updating or self.search.text():
            return
        self.fit_columns()
        key = item.data(0, NODE).key
        self._folded.add(key) if folded else self._folded.discard(key)

    def _filter_rows(self, text: str) -> None:
        wanted = text.strip().casefold()

        def show_if_matching(item: QTreeWidgetItem) -> bool:
            fits = wanted in f"{item.text(0)} {item.text(1)}".casefold()
            inside = [show_if_matching(item.child(i)) for i in range(item.childCount())]
            shown = not wanted or fits or any(inside)
            item.setHidden(not shown)
            if wanted and any(inside):
                item.setExpanded(True)
            return shown

        for i in range(self.view.topLevelItemCount()):
            show_if_matching(self.view.topLevelItem(i))
        if not wanted:
            for key, item in self.items.items():
                item.setExpanded(key not in self._folded)

    def _show_selection(self, ref: ElementRef | None) -> None:
        key = "#world" if ref is None else f"{ref.collection}:{ref.name}"
        item = self.items.get(key)
        if item is self.view.currentItem() and item is not None:
            return
        self._updating = True
        if item is None or (ref is None and not self.view.hasFocus()):
            self.view.setCurrentItem(None)
            self.view.clearSelection()
        else:
            self.view.setCurrentItem(item)
            self.view.scrollToItem(item)
        self._updating = False

    def _show_hover(self, ref: ElementRef | None) -> None:
        if self._hovered is not None:
            self._hovered.setBackground(0, QBrush())
            self._hovered.setBackground(1, QBrush())
            self._hovered = None
        item = self.items.get(f"{ref.collection}:{ref.name}") if ref is not None else None
        if item is not None:
            color = self.palette().highlight().color()
            color.setAlpha(45)
            item.setBackground(0, QBrush(color))
            item.setBackground(1, QBrush(color))
            self._hovered = item

    # --------------------------------------------------------------------------- hearing

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        if old.model is not new.model or old.locked != new.locked:
            self.note.show_text("")
            self.refresh()

    def _on_setting_changed(self, key: str) -> None:
        if key.startswith("units/"):
            self.refresh()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.ApplicationPaletteChange, QEvent.Type.PaletteChange) and self.items:
            QTimer.singleShot(0, self, self._update_colors)  # once the palette of this panel is the new one

    def _update_colors(self) -> None:
        """Update the colours of the rows after a change of theme; a name being typed is kept."""
        marks = self._shown[1] if self._shown is not None else {}
        for item in self.items.values():
            node = item.data(0, NODE)
            self._style_item(item, node, marks.get(node.ref) if node.ref else None)

    def _on_chosen(self, item: QTreeWidgetItem | None, _before: QTreeWidgetItem | None) -> None:
        if self._updating or item is None:
            return
        node = item.data(0, NODE)
        if node.ref is not None or node.selects_model:
            self.session.select(node.ref)

    # --------------------------------------------------------------------------- editing

    def rename_selected(self) -> None:
        """Begin renaming the selected row in place."""
        item = self.view.currentItem()
        if self.view.state() == QAbstractItemView.State.EditingState:
            return
        if item is not None and item.flags() & Qt.ItemFlag.ItemIsEditable:
            self.view.setFocus()
            self.view.scrollToItem(item)
            self.view.editItem(item, 0)

    def rename(self, ref: ElementRef, new: str) -> bool:
        """Rename an element and all references to it; if that is not possible, show the reason beneath the tree."""
        new = new.strip()
        if new == ref.name:
            return True
        try:
            model = edits.rename(self.session.model, ref.collection, ref.name, new)
        except KinetostatError as error:
            self.note.show_text(f"{error.what} {error.remedy}".strip(), "error")
            return False
        select = ElementRef(ref.collection, new) if self.session.selection in (None, ref) else None
        return self.session.apply(f"Rename {WORDS[ref.collection]} {ref.name}", lambda _m: model, select=select)

    def remove_selected(self) -> None:
        """Delete the selected element, after listing the elements that depend on it."""
        ref = self.session.selection
        if ref is None:
            return
        if element_edits.is_document_element(self.session, ref):
            remove(self.session, ref, self)
        else:
            whole = assembly_of(self.session.model, ref)
            what = "a DH chain. Edit or delete the chain" if whole is None else f"another file. Delete “{whole.name}”"
            self.note.show_text(f"“{ref.name}” comes from {what} instead.", "hint")

    # --------------------------------------------------------------------------- menus

    def _context_menu(self, point: QPoint) -> None:
        menu = self.create_row_menu(self.view.itemAt(point))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.view.viewport().mapToGlobal(point))

    def create_row_menu(self, item: QTreeWidgetItem | None) -> QMenu:
        """Create the menu of actions on a row."""
        if item is not None:
            self.view.setCurrentItem(item)
        node = item.data(0, NODE) if item is not None else None
        return create_row_menu(self, node if isinstance(node, Node) else None)

    def fold_all(self, folded: bool) -> None:
        """Collapse or expand every row except the ground."""
        for key, item in self.items.items():
            if item.childCount() and key != "#world":
                item.setExpanded(not folded)


def _worst_findings(findings: tuple[Finding, ...]) -> dict[ElementRef, Finding]:
    """Return the worst warning or error of each element."""
    worst: dict[ElementRef, Finding] = {}
    for finding in findings:
        ref = ElementRef(finding.collection, finding.name)
        if finding.severity != "hint" and (ref not in worst or finding.severity == "error"):
            worst[ref] = finding
    return worst


def create_panel(bench: Workbench) -> ModelTree:
    """Create the model tree of a window."""
    return ModelTree(bench.session, bench.settings, commands=bench.command_actions)
