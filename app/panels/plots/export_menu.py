"""What writes or copies plots: entries of menus, and the question for a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog, QMenu

from app.document.session import Session
from app.plotting import export
from app.plotting.chart import Chart
from app.preferences.icons import icon
from core.errors import KinetostatError

if TYPE_CHECKING:
    from app.panels.plots.panel import PlotsPanel


def fill_exports(panel: PlotsPanel, menu: QMenu, indices: Sequence[int] | None = None) -> None:
    """Entries that write or copy plots; default: all."""

    def chosen() -> list[Chart]:
        panel.complete()
        return [panel.charts[k] for k in indices] if indices is not None else panel.charts

    menu.addAction(icon("copy"), "Copy", lambda: attempt(panel.session, lambda: export.copy(chosen())))
    menu.addAction(icon("export"), "Export…", lambda: ask_export(panel, chosen()))


def ask_export(panel: PlotsPanel, charts: Sequence[Chart] | None = None) -> None:
    """Ask for a file and write the plots."""
    title = "Export plots" if charts is None or len(charts) > 1 else "Export plot"
    filters = "Picture (*.png);;Drawing (*.svg);;Drawing (*.pdf);;Numbers (*.csv)"
    start = str(Path(panel.settings.value("folders/plots", str(Path.home()))) / "plot.png")
    path, chosen = QFileDialog.getSaveFileName(panel, title, start, filters)
    if path:
        if Path(path).suffix.lower() not in export.SUFFIXES:
            path += chosen[chosen.rfind("*") + 1 :].rstrip(")") or ".png"
        panel.settings.remember("folders/plots", str(Path(path).parent))
        panel.export(path, charts)


def attempt(session: Session, work: Callable[[], None], words: str = "") -> bool:
    """Do something, then say these words, or why it failed; whether it was done."""
    try:
        work()
    except KinetostatError as error:
        session.message.emit("error", str(error))
        return False
    if words:
        session.message.emit("done", words)
    return True
