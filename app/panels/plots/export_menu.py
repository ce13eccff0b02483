"""Export of plots: menu entries that write or copy them, and the file dialog."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from app.background.jobs import Jobs
from app.document.session import Session
from app.plotting import formats
from app.preferences.icons import icon
from app.preferences.settings import Settings
from core.errors import KinetostatError
from core.files.source import write_whole

if TYPE_CHECKING:
    from app.plotting.chart import Chart


def fill_exports(menu: QMenu, charts: Callable[[], list[Chart]], ask: Callable[[list[Chart]], None]) -> None:
    """Add menu entries that copy charts, or ask for a file to write them to."""

    def copy() -> None:
        from app.plotting import export

        export.copy(charts())

    menu.addAction(icon("copy"), "Copy", copy)
    menu.addAction(icon("export"), "Export…", lambda: ask(charts()))


def ask_export(
    parent: QWidget, folder: Path | None, settings: Settings, title: str, write: Callable[[str], object]
) -> None:
    """Ask for a file, starting in the document's folder, and write the plots."""
    proposed = formats.FORMATS[0].suffix
    start = str((folder or Path(settings.value("folders/plots", str(Path.home())))) / f"plot{proposed}")
    path, chosen = QFileDialog.getSaveFileName(parent, title, start, formats.filters())
    if path:
        if formats.format_of(path) is None:
            path += chosen[chosen.rfind("*") + 1 :].rstrip(")") or proposed
        settings.remember("folders/plots", str(Path(path).parent))
        write(path)


def write_plots(session: Session, jobs: Jobs, charts: Sequence[Chart], path: str | Path) -> None:
    """Write plots to a file: pictures are drawn immediately, the file is written in the background. The outcome is
    reported."""
    try:
        content = formats.content(charts, path)
    except KinetostatError as error:
        session.message.emit("error", str(error))
        return
    job = jobs.start(f"Writing {Path(path).name}", lambda _progress, _cancelled: write_whole(str(path), content))
    job.succeeded.connect(lambda _: session.message.emit("done", f"Wrote {path}"))
    job.failed.connect(lambda error: session.message.emit("error", str(error)))
