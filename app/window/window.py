"""The main window: creates and connects session, viewport, panels and commands. It knows all of them; none of them
knows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QSize, QTimer
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDropEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QMainWindow, QVBoxLayout, QWidget

from app.background.guard import Guard
from app.background.jobs import Jobs
from app.background.signals import Lifetime
from app.background.slices import slices
from app.dialogs.messages import MessageCard
from app.document.kept import recovery_copies
from app.document.kept.run_keeper import RunKeeper
from app.document.picture_settings import PictureSettings
from app.document.revision import Ref
from app.document.run_pose import RunPose
from app.document.session import Session
from app.plain_text import as_title
from app.playback.clock import Player
from app.playback.scene_results import SceneResults
from app.playback.sequence import Sequence
from app.playback.timeline import Timeline
from app.preferences.icons import icon
from app.preferences.settings import Settings, recovery_folder
from app.preferences.theme import Theme
from app.runs.answers import Answers
from app.runs.films import Films
from app.runs.interactive import Interactive
from app.runs.job import Simulation
from app.runs.run_preparation import RunPreparation
from app.runs.what_if import WhatIf
from app.tools import TOOLS
from app.tools.draw.bar import DrawBar
from app.viewport.ellipsoids import LiveEllipsoid
from app.viewport.ghost_hand import GhostHand
from app.viewport.mobility_layer import MobilityLayer, MobilityLegend
from app.viewport.run_scene import RunScene, VectorLegend
from app.viewport.viewport import Viewport
from app.window.actions import Actions, add_files, add_panels, add_views
from app.window.dialog_opener import Dialogs, help_topic_under_pointer
from app.window.docks import Docks, PanelOf
from app.window.files import Documents
from app.window.notices import Notices
from app.window.older_run import OlderRun
from app.window.outside_changes import OutsideChanges
from app.window.recovery import Recovery
from app.window.services import MotionKeeper, Panels, Runs, Scenery
from app.window.status import MessagePlaces, StatusLine
from app.window.view_state import SavedViews, Surroundings

if TYPE_CHECKING:
    from app.panels.console.panel import ConsolePanel
    from app.panels.derivation.panel import DerivationPanel
    from app.panels.findings.panel import FindingsPanel
    from app.panels.functions.panel import FunctionPanel
    from app.panels.log.panel import LogPanel
    from app.panels.output.panel import OutputPanel
    from app.panels.plots.panel import PlotsPanel
    from app.panels.properties.panel import PropertyEditor
    from app.panels.robotica.panel import RoboticaPanel
    from app.panels.simulation.panel import SimulationPanel
    from app.panels.sliders.panel import SlidersPanel
    from app.panels.tree.panel import ModelTree
    from app.window.start_page import StartPage
    from app.workbench import Workbench
    from core.functions.results import Result

SIZE = (1480, 920)
MOST_STOPS = 2000
"""Largest number of widgets that Tab may skip."""
FRAME = QSize(16, 40)
"""Initial allowance for the window frame of the desktop."""


class Window(QMainWindow):
    """The main window, which implements `Workbench`.

    at_once : make all panels; else those behind others are made when they are seen or asked for (`docks`)
    """

    functions: PanelOf[FunctionPanel] = PanelOf("functions")
    tree: PanelOf[ModelTree] = PanelOf("tree")
    simulation_panel: PanelOf[SimulationPanel] = PanelOf("simulation")
    properties: PanelOf[PropertyEditor] = PanelOf("properties")
    sliders: PanelOf[SlidersPanel] = PanelOf("sliders")
    output: PanelOf[OutputPanel] = PanelOf("output")
    plots: PanelOf[PlotsPanel] = PanelOf("plots")
    derivation: PanelOf[DerivationPanel] = PanelOf("derivation")
    findings: PanelOf[FindingsPanel] = PanelOf("findings")
    log: PanelOf[LogPanel] = PanelOf("log")
    console: PanelOf[ConsolePanel] = PanelOf("console")
    robotica: PanelOf[RoboticaPanel] = PanelOf("robotica")

    def __init__(
        self, session: Session | None = None, settings: Settings | None = None, *, at_once: bool = True
    ) -> None:
        super().__init__()
        bench: Workbench = self
        self._life = Lifetime()
        self.session = session or Session()
        self.settings = settings or Settings()
        self._life.callback(self.settings.flush)
        self.guard = Guard(self.session.message.emit)
        self._life.callback(self.guard.remove)
        self.theme = self._life.own(Theme(self.settings))
        self.jobs = Jobs(self)
        self.setWindowIcon(icon("kinetostat"))
        self._make_view()
        self.messages = MessageCard(self.viewport, self.settings.in_display_units)
        self.status = self._life.own(StatusLine(self.session, self.settings, self.jobs))
        self.setStatusBar(self.status)
        self._make_runs()
        self.views = self._life.own(SavedViews(self.viewport))
        self.scenery = Scenery(self.viewport, self.run_scene, self.views)
        self.ellipsoid = self._life.own(LiveEllipsoid(self.viewport))
        self.mobility = self._life.own(MobilityLayer(self.viewport))
        self.mobility_legend = self._life.own(MobilityLegend(self.viewport, self.mobility))
        self.docks = Docks(self, bench)
        self._life.callback(self.docks.close)
        self._life.callback(slices().drop, self)
        self.panels = Panels(self.docks)
        self._make_files(bench)
        self.dialogs = self._life.own(
            Dialogs(bench, self.messages, lambda: help_topic_under_pointer(bench, self.functions))
        )
        self.motions = MotionKeeper(self.viewport, self.player, lambda: self.plots, lambda: self.docks.show("plots"))
        self.actions_ = Actions(self, bench, self.guard)
        self._fill_menus()
        self._connect_signals()
        if at_once:
            self.docks.complete()
            self.dialogs.page = self.start_page
        self.theme.put_on()
        self.setAcceptDrops(True)
        self.resize(QSize(*SIZE).boundedTo(self.screen().availableSize() - FRAME))
        self.docks.recall()
        self.status.expect(self.viewport.gestures.tool.expects)
        self._retitle()

    # ----------------------------------------------------------------------------- assembling

    def _make_view(self) -> None:
        """Create the viewport, playback, its additional drawings, and the bars around it."""
        session, own = self.session, self._life.own
        self.viewport = own(Viewport(session, self.settings, self.theme, TOOLS, self))
        self.player = own(Player(session.runs, self))
        self.sequence = Sequence(session)
        self.pictures = PictureSettings(session, self.settings)
        self.answers = own(Answers(session, self.jobs, self.pictures.context))
        self.results = own(SceneResults(self.viewport, self.player, self.sequence, self.pictures))
        own(GhostHand(self.viewport))
        self.run_pose = own(RunPose(session))
        self.run_scene = own(RunScene(self.viewport))
        self.legend = own(VectorLegend(self.viewport, self.run_scene))
        self.timeline = own(Timeline(session, self.player, self.sequence, self.theme))
        self.setCentralWidget(self._central_widget())

    def _make_runs(self) -> None:
        """Create the services that compute and keep runs."""
        session, own = self.session, self._life.own
        self.simulation = own(Simulation(session, self.settings, self.jobs, self))
        self.films = Films(self.viewport, self.run_scene, self)
        self.what_if = own(WhatIf(self.viewport, self.player, self.sequence, self.simulation, self))
        self.run_preparation = own(RunPreparation(session, self.simulation, self.jobs, self))
        self.interactive = own(Interactive(self.viewport, self.player, self.simulation, self.jobs, self))
        self.viewport.interactive = self.interactive
        self._copy = recovery_copies.new_copy(recovery_folder())
        self.run_keeper = RunKeeper(session, self.settings, self.jobs, recovery_copies.runs_of(self._copy))
        self.runs = Runs(self.simulation, self.what_if, self.interactive, self.films, self.run_keeper)

    def _make_files(self, bench: Workbench) -> None:
        """Create the services for the open file, changes by other programs, and recovery copies."""
        telling = MessagePlaces(self.messages, self.notices, self.status, self.guard)
        self.surroundings = Surroundings(self.viewport, self.run_scene, self.views, lambda: self.plots)
        self.files = Documents(bench, telling, self.run_keeper, self.surroundings)
        self.outside = OutsideChanges(bench, self.files, telling)
        self._life.own(OlderRun(bench, self.messages))
        self.recovery = Recovery(self.session, self.files, self.run_keeper, self.surroundings, self.notices, self._copy)
        self._keep_copy = False
        self._life.callback(lambda: self.recovery.close(keep=self._keep_copy))
        for each in (self.outside, self.films, self.jobs, self.files):
            self._life.callback(each.close)

    def _central_widget(self) -> QWidget:
        """Return the widget with the notices, the viewport and the timeline below one another."""
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.notices = Notices()
        column.addWidget(self.notices)
        column.addWidget(self._life.own(DrawBar(self.viewport)))
        column.addWidget(self.viewport, 1)
        column.addWidget(self.timeline)
        middle.setFocusProxy(self.viewport)
        return middle

    def _fill_menus(self) -> None:
        actions = self.actions_
        add_panels(actions, self.docks)
        add_files(actions, self.files, self.settings)
        add_views(actions, self.views)
        self.dialogs.make_page = lambda: self.start_page
        self.timeline.fill(actions.by_id)
        self.docks.when_made("simulation", lambda panel: panel.fill(actions.by_id))
        self.viewport.overlay.fill(actions.by_id, actions.menu("View/Manipulability"))
        self.viewport.open_menu_at = self._open_menu

    def _connect_signals(self) -> None:
        refresh = lambda *_: self.actions_.refresh()  # noqa: E731
        self._life.listen(
            (self.session.changed, refresh),
            (self.session.changed, self.messages.hide_outdated_error),
            (self.session.selected, refresh),
            (self.session.saved_changed, self._retitle),
            (self.session.message, self.messages.tell),
            (self.messages.shown, lambda *message: self.log.add(*message)),
            (self.session.produced, self._result_produced),
            (self.answers.changed, lambda: self.results.keep_if_live(self.answers.answers)),
            (self.settings.changed, refresh),
            (self.run_scene.changed, refresh),
            (self.viewport.gestures.chosen, refresh),
            (self.viewport.viewpoint.looked, self._camera_moved),
            (self.viewport.expects, self.status.expect),
            (self.viewport.place, self.status.point),
            (self.sequence.changed, refresh),
            (self.player.changed, self._run_played),
            (self.session.runs.changed, refresh),
            (self.session.runs.changed, self._retitle),
            (self.files.awaited, self._document_awaited),
            (self.recovery.restored, self.outside.look),
            (self.simulation.changed, refresh),
            (self.what_if.changed, refresh),
            (self.interactive.changed, refresh),
            (self.simulation.began, lambda _: self.player.present(self.simulation.run_settings.duration)),
        )
        made = self.docks.when_made
        made("robotica", self._listen_to_robotica)
        made("derivation", lambda panel: panel.changed.connect(refresh))
        made("derivation", lambda panel: self.docks.docks["derivation"].visibilityChanged.connect(panel.set_seen))
        made("output", lambda panel: panel.added.connect(self._bring_output))
        made("findings", lambda panel: self.docks.retitle("findings", panel.title))
        self.guard.install()
        self.actions_.refresh()

    def _listen_to_robotica(self, panel: RoboticaPanel) -> None:
        panel.running.connect(self.functions.show_robotica)
        self.functions.abort_wanted.connect(panel.abort)

    def _run_played(self) -> None:
        self.actions_.refresh()
        self.timeline.refresh()

    def _document_awaited(self, coming: bool) -> None:
        """Handle that a document is about to be shown, or failed to open."""
        if not coming:
            self.start_page.refresh()
        elif self.dialogs.page is not None:
            self.dialogs.page.hide()

    def _camera_moved(self) -> None:
        action = self.actions_.by_id["view.ortho"]
        if action.isChecked() != self.viewport.viewpoint.ortho:
            self.actions_.refresh()

    def _retitle(self) -> None:
        name = self.session.path.name if self.session.path is not None else ""
        if not name and self.files.source is not None:
            name = self.files.source.name
        self.setWindowTitle(f"{as_title(name or self.session.model.name or 'untitled')}[*] — Kinetostat")
        self.setWindowModified(self.recovery.needed)

    def _open_menu(self, ref: Ref | None, place: QPoint) -> None:
        self.actions_.refresh()
        menu = self.actions_.context_menu(ref, self)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(place)

    def _result_produced(self, result: Result) -> None:
        if not result.live:
            self.messages.hide_outdated_error()
        self.guard.call(self.motions.keep, result)
        self.guard.call(self.results.show_result, result)

    def _bring_output(self) -> None:
        """Bring a new result to the front, unless it was requested from a command line, which shows it itself."""
        made = self.docks.panels
        if not (
            ("console" in made and self.console.interpreter.answering)
            or ("robotica" in made and self.robotica.answering)
        ):
            self.docks.show("output")

    # ----------------------------------------------------------------------------- verbs

    @cached_property
    def start_page(self) -> StartPage:
        """The start page, created at first need."""
        from app.window.start_page import StartPage

        self.dialogs.page = page = self._life.own(StartPage(self))
        return page

    def complete_soon(self) -> None:
        """Create missing panels in the background, between other events."""
        slices().add(self, self._make_next)

    def _make_next(self, seconds: float) -> bool:
        if self.docks.make_next():
            return False
        _ = self.start_page
        return True

    def run(self, command: str) -> None:
        """Run a command by its id."""
        self.actions_.run(command)

    def tell(self, severity: str, text: str, choices: dict[str, Callable[[], object]] | None = None) -> None:
        """Show a message; `choices` maps the titles of buttons to their callbacks."""
        self.messages.tell(severity, text, choices)

    def commands(self) -> Mapping[str, QAction]:
        """Menu actions by command id, enabled as they apply now."""
        self.actions_.refresh()
        return self.actions_.by_id

    @property
    def stage(self) -> Viewport:
        """The 3-D view."""
        return self.viewport

    @property
    def widget(self) -> QMainWindow:
        """The window that is the parent of dialogs."""
        return self

    @property
    def full_screen(self) -> bool:
        """True if the window fills the screen."""
        return self.isFullScreen()

    def fill_screen(self, on: bool) -> None:
        """Turn full screen on or off."""
        self.showFullScreen() if on else self.showNormal()

    def leave(self) -> None:
        """Close the program, after asking about unsaved work."""
        self.close()

    # ----------------------------------------------------------------------------- files dropped, closing

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files that are dragged into the window."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the first file dropped."""
        files = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if files:
            event.acceptProposedAction()
            self.files.open(files[0])

    def showEvent(self, event: QShowEvent) -> None:
        """Give the panels their sizes when the window is first shown."""
        super().showEvent(event)
        if not event.spontaneous() and not self._was_shown:
            self._was_shown = True
            QTimer.singleShot(0, self.docks.settle)

    _was_shown = False
    _over = False

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Let Tab skip panels hidden behind others."""
        for _ in range(MOST_STOPS):
            gone, focus = super().focusNextPrevChild(forward), self.focusWidget()
            if not gone or focus is None or not self.docks.focus.is_behind(focus):
                return gone
        return True

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Narrow the panels in favour of the viewport in a narrow window."""
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self.docks.make_room)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask about unsaved work, save the panel layout, stop all work."""
        if not self.files.may_close_document():
            event.ignore()
            return
        self.files.leave()
        self.docks.remember()
        self.dispose()
        event.accept()

    def end_by_force(self) -> None:
        """End the program at once, leaving unsaved work to be offered at the next start."""
        self.interactive.stop()
        self.simulation.finish()
        self.dispose(keep=True)

    def changeEvent(self, event: QEvent) -> None:
        """Check the files for changes when the user returns from another program."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow() and not self._over:
            self.outside.look()

    def dispose(self, *, keep: bool = False) -> None:
        """Stop threads and timers and disconnect; `keep`: unsaved work stays in its recovery copy. The window is
        unusable afterwards."""
        self._over, self._keep_copy = True, keep
        self._life.close()
