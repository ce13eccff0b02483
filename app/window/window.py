"""The main window: puts together session, viewport, panels and commands. Knows all of them; none knows it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QPoint, QSize, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QMainWindow, QVBoxLayout, QWidget

from app.background.guard import Guard
from app.background.jobs import Jobs
from app.dialogs.messages import MessageCard
from app.document.kept import recovery_copies
from app.document.kept.run_keeper import RunKeeper
from app.document.session import Ref, Session
from app.panels.console.panel import ConsolePanel
from app.panels.derivation.panel import DerivationPanel
from app.panels.findings.panel import FindingsPanel
from app.panels.functions.panel import FunctionPanel
from app.panels.output.panel import OutputPanel
from app.panels.plots.panel import PlotsPanel
from app.panels.properties.panel import PropertyEditor
from app.panels.robotica.panel import RoboticaPanel
from app.panels.simulation.panel import SimulationPanel
from app.panels.sliders.panel import SlidersPanel
from app.panels.tree.panel import ModelTree
from app.plain_text import as_title
from app.playback.timeline import Timeline
from app.preferences.icons import icon
from app.preferences.settings import Settings, recovery_folder
from app.preferences.theme import Theme
from app.runs.films import Films
from app.runs.interactive import Interactive
from app.runs.job import Simulation
from app.runs.what_if import WhatIf
from app.tools import TOOLS
from app.viewport.ellipsoids import LiveEllipsoid
from app.viewport.viewport import Viewport
from app.window.actions import Actions
from app.window.dialog_opener import Dialogs
from app.window.docks import Docks
from app.window.files import Documents
from app.window.menus import add_files, add_panels, add_views
from app.window.motions import MotionKeeper
from app.window.notices import Notices
from app.window.outside_changes import OutsideChanges
from app.window.recovery import Recovery
from app.window.saved_views import SavedViews
from app.window.status import StatusLine
from app.window.view_state import Surroundings
from app.window.welcome import Welcome

if TYPE_CHECKING:
    from core.functions.results import Result

SIZE = (1480, 920)
MOST_STOPS = 2000
"""Places that Tab may go past."""
FRAME = QSize(16, 40)
"""Room for the frame that the desktop draws, at first."""


class Window(QMainWindow):
    """The workbench."""

    session: Session
    settings: Settings
    theme: Theme
    viewport: Viewport
    documents: Documents
    dialogs: Dialogs
    docks: Docks
    functions: FunctionPanel
    output: OutputPanel
    simulation: Simulation
    simulation_panel: SimulationPanel
    what_if: WhatIf
    interactive: Interactive
    ellipsoid: LiveEllipsoid
    plots: PlotsPanel
    derivation: DerivationPanel
    films: Films
    motions: MotionKeeper
    run_keeper: RunKeeper
    views: SavedViews
    outside: OutsideChanges
    recovery: Recovery

    def __init__(self, session: Session | None = None, settings: Settings | None = None) -> None:
        super().__init__()
        self.session = session or Session()
        self.settings = settings or Settings()
        self.theme = Theme(self.settings)
        self.guard = Guard(self.session.message.emit)
        self.jobs: Jobs = Jobs(self)
        self.setWindowIcon(icon("kinetostat"))
        self.viewport = Viewport(self.session, self.settings, self.theme, TOOLS, self)
        self.timeline = Timeline(self.viewport)
        self.setCentralWidget(self._middle())
        self.simulation = Simulation(self.session, self.settings, self.jobs, self)
        self.films = Films(self.viewport, self)
        self.messages = MessageCard(self.viewport, self.settings.in_display_units)
        self.status = StatusLine(self.session, self.settings, self.jobs)
        self.setStatusBar(self.status)
        self.what_if = WhatIf(self.viewport, self.simulation, self)
        self.interactive = Interactive(self.viewport, self.simulation, self.jobs, self)
        self.viewport.interactive = self.interactive
        copy = recovery_copies.new_copy(recovery_folder())
        self.run_keeper = RunKeeper(self.session, self.settings, self.jobs, recovery_copies.runs_of(copy))
        self.views = SavedViews(self.viewport)
        self.surroundings = Surroundings(self)
        self.documents = Documents(self)
        self.outside = OutsideChanges(self)
        self.dialogs = Dialogs(self)
        self.recovery = Recovery(self, copy)
        self.ellipsoid = LiveEllipsoid(self.viewport)
        self.docks = Docks(self, self._panels())
        self.motions = MotionKeeper(self.viewport, self.plots, self.docks)
        self.actions_ = Actions(self)
        self._fill_menus()
        self._listen()
        self.setAcceptDrops(True)
        self.resize(QSize(*SIZE).boundedTo(self.screen().availableSize() - FRAME))
        self.docks.recall()
        self.status.expect(self.viewport.gestures.tool.expects)
        self._retitle()

    # ----------------------------------------------------------------------------- assembling

    def _middle(self) -> QWidget:
        """The viewport with the timeline below it and what waits for an answer above."""
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.notices = Notices()
        column.addWidget(self.notices)
        column.addWidget(self.viewport, 1)
        column.addWidget(self.timeline)
        return middle

    def _panels(self) -> dict[str, QWidget]:
        session, settings = self.session, self.settings
        self.functions = FunctionPanel(session, self.jobs, settings)
        self.tree = ModelTree(session, settings)
        self.properties = PropertyEditor(session, settings)
        self.findings = FindingsPanel(session, self.settings)
        self.output = OutputPanel(session, settings)
        self.sliders = SlidersPanel(session, settings)
        self.plots = PlotsPanel(session, settings, self.theme)
        self.derivation = DerivationPanel(self.viewport, self.jobs)
        self.simulation_panel = SimulationPanel(session, settings, self.jobs, self.simulation)
        self.console = ConsolePanel(session, settings)
        self.robotica = self._robotica()
        return {
            "functions": self.functions,
            "tree": self.tree,
            "simulation": self.simulation_panel,
            "properties": self.properties,
            "sliders": self.sliders,
            "output": self.output,
            "plots": self.plots,
            "derivation": self.derivation,
            "findings": self.findings,
            "console": self.console,
            "robotica": self.robotica,
        }

    def _robotica(self) -> RoboticaPanel:
        """Robotica's command line; what it reads is opened."""
        panel = RoboticaPanel(self.session, self.settings, self.jobs)
        panel.opened.connect(self.documents.replace)
        panel.running.connect(self.functions.show_robotica)
        panel.resized.connect(self.viewport.viewpoint.keep_in_view)
        self.functions.abort_wanted.connect(panel.abort)
        self.functions.line_wanted.connect(self._enter_line)
        return panel

    def _enter_line(self, line: str) -> None:
        """Have Robotica's command line run a line, and show it."""
        self.docks.show("robotica")
        self.robotica.enter(line)

    def _fill_menus(self) -> None:
        actions = self.actions_
        add_panels(actions, self.docks)
        add_files(actions, self.documents, self.settings)
        add_views(actions, self.views)
        self.welcome = Welcome(self.viewport, actions.by_id)
        self.timeline.fill(actions.by_id)
        self.simulation_panel.fill(actions.by_id)
        self.viewport.overlay.fill(actions.by_id, actions.menu("View/Manipulability"))
        self.viewport.open_menu_at = self._open_menu

    def _listen(self) -> None:
        refresh = lambda *_: self.actions_.refresh()  # noqa: E731
        self._pairs = (
            (self.session.changed, refresh),
            (self.session.changed, self.messages.outdate_error),
            (self.session.selected, refresh),
            (self.session.saved_changed, self._retitle),
            (self.session.message, self.messages.tell),
            (self.session.produced, self._produced),
            (self.settings.changed, refresh),
            (self.viewport.run_scene.changed, refresh),
            (self.viewport.gestures.chosen, refresh),
            (self.viewport.viewpoint.looked, self._looked),
            (self.viewport.expects, self.status.expect),
            (self.viewport.place, self.status.point),
            (self.viewport.playback.changed, refresh),
            (self.viewport.player.changed, self._played),
            (self.session.runs.changed, refresh),
            (self.session.runs.changed, self._retitle),
            (self.simulation.changed, refresh),
            (self.what_if.changed, refresh),
            (self.interactive.changed, refresh),
            (self.simulation.began, lambda _: self.viewport.player.present(self.simulation.run_settings.duration)),
        )
        for signal, slot in self._pairs:
            signal.connect(slot)
        self.simulation_panel.runs.stranger.connect(self.documents.open_run)
        self.functions.help_wanted.connect(self.dialogs.help)
        self.derivation.help_wanted.connect(self.dialogs.help)
        self.derivation.changed.connect(refresh)
        self.docks.docks["derivation"].visibilityChanged.connect(self.derivation.set_seen)
        self.output.added.connect(self._bring_output)
        self.findings.counted.connect(lambda title: self.docks.retitle("findings", title))
        self.findings.field_wanted.connect(self._go_to_field)
        self.findings.proposal_accepted.connect(lambda: self.actions_.run("edit.isostatic"))
        self.docks.retitle("findings", self.findings.title)
        self.guard.install()
        self.actions_.refresh()

    def _played(self) -> None:
        self.actions_.refresh()
        self.timeline.refresh()

    def _go_to_field(self, field: str) -> None:
        self.docks.show("properties")
        self.properties.focus_field(field)

    def _looked(self) -> None:
        action = self.actions_.by_id["view.ortho"]
        if action.isChecked() != self.viewport.viewpoint.ortho:
            self.actions_.refresh()

    def _retitle(self) -> None:
        name = self.session.path.name if self.session.path is not None else ""
        if not name and self.documents.source is not None:
            name = self.documents.source.name
        self.setWindowTitle(f"{as_title(name or self.session.model.name or 'untitled')}[*] — Kinetostat")
        self.setWindowModified(self.recovery.needed)

    def _open_menu(self, ref: Ref | None, place: QPoint) -> None:
        self.actions_.refresh()
        menu = self.actions_.context_menu(ref, self)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(place)

    def _produced(self, result: Result) -> None:
        if not result.live:
            self.messages.outdate_error()
        self.guard.call(self.motions.keep, result)
        self.guard.call(self.viewport.playback.show_result, result)

    def _bring_output(self) -> None:
        """Bring a new result to the front; who typed at a command line reads it there."""
        if not (self.console.interpreter.answering or self.robotica.answering):
            self.docks.show("output")

    # ----------------------------------------------------------------------------- verbs

    def run(self, command: str) -> None:
        """Run a command by its id."""
        self.actions_.run(command)

    def choose_function(self, function: str) -> None:
        """Open a catalogue function in its panel."""
        self.docks.show("functions")
        self.functions.choose(function)

    def rename_selected(self) -> None:
        """Rename the selected element in the model tree."""
        self.docks.show("tree")
        self.tree.rename_selected()

    def toggle_full_screen(self) -> None:
        """Fill the screen, or not."""
        self.showNormal() if self.isFullScreen() else self.showFullScreen()

    # ----------------------------------------------------------------------------- files dropped, closing

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files may be dropped."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the first file dropped."""
        files = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if files:
            event.acceptProposedAction()
            self.documents.open(files[0])

    def showEvent(self, event: QShowEvent) -> None:
        """The panels take their sizes when the window is first seen."""
        super().showEvent(event)
        if not event.spontaneous() and not self._was_shown:
            self._was_shown = True
            QTimer.singleShot(0, self.docks.settle)

    _was_shown = False
    _pairs: tuple[tuple[Any, Any], ...] = ()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes past panels that stand behind others."""
        for _ in range(MOST_STOPS):
            gone, focus = super().focusNextPrevChild(forward), self.focusWidget()
            if not gone or focus is None or not self.docks.focus.is_behind(focus):
                return gone
        return True

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window the panels leave room for the picture."""
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self.docks.make_room)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask for unsaved work, remember the panels, stop all work."""
        if not self.documents.may_go():
            event.ignore()
            return
        self.documents.leave()
        self.docks.remember()
        self.dispose()
        event.accept()

    def end_by_force(self) -> None:
        """The program is told to end at once: what is unsaved stays behind, to be offered at the next start."""
        self.interactive.stop()
        self.simulation.finish()
        self.dispose(keep=True)

    def changeEvent(self, event: QEvent) -> None:
        """Whoever comes back from another program may have changed the file there."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow() and self._pairs:
            self.outside.look()

    def dispose(self, *, keep: bool = False) -> None:
        """Stop threads and timers, listen no more; `keep`: unsaved work stays in its recovery copy. The window is of no
        use afterwards."""
        if self._pairs == ():
            return
        for signal, slot in self._pairs:
            signal.disconnect(slot)
        self._pairs = ()
        self.documents.close()
        self.jobs.close()
        self.films.close()
        self.dialogs.close()
        self.outside.close()
        self.views.close()
        self.recovery.close(keep=keep)
        self.ellipsoid.close()
        for panel in self.docks.panels.values():
            getattr(panel, "close_panel", lambda: None)()
        self.interactive.close()
        self.what_if.close()
        self.simulation.close()
        self.timeline.close_timeline()
        self.welcome.close_welcome()
        self.viewport.close_view()
        self.status.close_line()
        self.theme.close()
        self.guard.remove()
        self.settings.flush()
