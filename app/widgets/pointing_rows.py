"""Highlighting of elements by table rows: those of the row under the pointer, or of the current one, are highlighted in
the scene; a click selects the first of them, and all stay highlighted while it is selected."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QEvent, QModelIndex, QObject
from PySide6.QtWidgets import QAbstractItemView

from app.document.revision import Ref, exists
from app.document.session import Session


class PointingRows(QObject):
    """Watches a view whose rows refer to the elements `elements_of(index)`."""

    def __init__(
        self, view: QAbstractItemView, session: Session, elements_of: Callable[[QModelIndex], Iterable[Ref]]
    ) -> None:
        super().__init__(view)
        self._view, self._session, self._elements_of = view, session, elements_of
        self._clicked_ones: tuple[Ref, ...] = ()
        view.setMouseTracking(True)
        view.viewport().installEventFilter(self)
        view.entered.connect(self._on_row_entered)
        view.clicked.connect(self._clicked)
        view.selectionModel().currentChanged.connect(lambda now, _: self._on_row_entered(now))

    def _on_row_entered(self, index: QModelIndex) -> None:
        self._session.point_out(self._elements_of(index))

    def _clicked(self, index: QModelIndex) -> None:
        """Select the first element that still exists."""
        self._clicked_ones = tuple(ref for ref in self._elements_of(index) if exists(self._session.model, ref))
        if self._clicked_ones:
            self._session.select(self._clicked_ones[0])
            self._session.point_out(self._clicked_ones)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Remove the highlight when the pointer leaves the rows."""
        if event.type() == QEvent.Type.Leave:
            selected = self._session.selection
            self._session.point_out(self._clicked_ones if selected in self._clicked_ones else ())
        return False
