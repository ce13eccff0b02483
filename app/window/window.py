"""The main window: creates and connects session, viewport, panels and commands. It depends on all of them; none of them
depends on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QSize, QTimer
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDropEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QMainWindow, QVBoxLayout, QWidget

from app.background.guard import Guard
from app.background.jobs import Jobs
from app.background.signals import Lifetime
from app.background.slices import shared_slices
from app.dialogs.messages import MessageCard
from app.document.kept import recovery_copies
from app.document.kept.run_keeper import RunSaver
from app.document.motion_plans import motion_plans_of
from app.document.picture_settings import PictureSettings
from app.document.revision import ElementRef
from app.document.run_pose import RunPoseFollower
from app.document.session import Session
from app.plain_text import escape_title
from app.playback.clock import Player
from app.playback.scene_results import SceneResults
from app.playback.sequence import PosePlayback
from app.playback.timeline import Timeline
from app.preferences.icons import icon
from app.preferences.settings import Settings, recovery_folder
from app.preferences.theme import Theme
from app.runs.answers import ResultUpdater
from app.runs.films import FilmQueue
from app.runs.interactive import InteractiveDynamics
from app.runs.job import Simulation
from app.runs.run_preparation import RunPreparation
from app.runs.what_if import WhatIf
from app.tools import TOOLS
from app.tools.draw.bar import DrawOptionBar
from app.viewport.ellipsoids import LiveEllipsoid
from app.viewport.ghost_hand import DemonstrationHand
from app.viewport.mobility_layer import MobilityLayer, MobilityLegend
from app.viewport.run_scene import RunDisplay, VectorLegend
from app.viewport.viewport import Viewport
from app.window.actions import Actions, add_file_menus, add_panel_entries, add_saved_views_menu
from app.window.dialog_opener import DialogOpener, help_topic_under_pointer
from app.window.docks import Docks, PanelAttribute
from app.window.files import FileCommands
from app.window.notices import Notices
from app.window.older_run import OutdatedRunNotice
from app.window.outside_changes import ExternalChangeWatcher
from app.window.recovery import CrashRecovery
from app.window.services import Panels, ResultMotions, Runs, SceneDisplay
from app.window.status import MessageOutlets, StatusLine
from app.window.view_state import SavedViews, ViewState

if TYPE_CHECKING:
    from app.panels.configurations.panel import ConfigurationsPanel
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
    from app.panels.state.panel import StatePanel
    from app.panels.tree.panel import ModelTree
    from app.window.start_page import StartPage
    from app.workbench import Workbench
    from core.functions.results import Result

SIZE = (1480, 920)
MOST_STOPS = 2000
"""Largest number of hidden widgets that Tab skips."""
FRAME = QSize(16, 40)
"""Initial allowance, in pixels, for the desktop's window frame."""


class Window(QMainWindow):
    """The main window, which implements `Workbench`.

    at_once : create all panels; else panels hidden behind others are created when first shown or requested (`docks`)
    """

    functions: PanelAttribute[FunctionPanel] = PanelAttribute("functions")
    tree: PanelAttribute[ModelTree] = PanelAttribute("tree")
    simulation_panel: PanelAttribute[SimulationPanel] = PanelAttribute("simulation")
    properties: PanelAttribute[PropertyEditor] = PanelAttribute("properties")
    sliders: PanelAttribute[SlidersPanel] = PanelAttribute("sliders")
    output: PanelAttribute[OutputPanel] = PanelAttribute("output")
    plots: PanelAttribute[PlotsPanel] = PanelAttribute("plots")
    derivation: PanelAttribute[DerivationPanel] = PanelAttribute("derivation")
    findings: PanelAttribute[FindingsPanel] = PanelAttribute("findings")
    log: PanelAttribute[LogPanel] = PanelAttribute("log")
    console: PanelAttribute[ConsolePanel] = PanelAttribute("console")
    robotica: PanelAttribute[RoboticaPanel] = PanelAttribute("robotica")

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
        self._create_view()
        self.messages = MessageCard(self.viewport, self.settings.in_display_units)
        self.status = self._life.own(StatusLine(self.session, self.settings, self.jobs))
        self.setStatusBar(self.status)
        self._create_run_services()
        self.views = self._life.own(SavedViews(self.viewport))
        self.scenery = SceneDisplay(self.viewport, self.run_scene, self.views)
        self.ellipsoid = self._life.own(LiveEllipsoid(self.viewport))
        self.mobility = self._life.own(MobilityLayer(self.viewport))
        self.mobility_legend = self._life.own(MobilityLegend(self.viewport, self.mobility))
        self.docks = Docks(self, bench)
        self._life.callback(self.docks.close)
        self._life.callback(shared_slices().drop, self)
        self.panels = Panels(self.docks)
        self._create_file_services(bench)
        self.dialogs = self._life.own(
            DialogOpener(bench, self.messages, lambda: help_topic_under_pointer(bench, self.functions))
        )
        self.motions = ResultMotions(
            self.viewport, self.player, lambda: self.plots, lambda: self.docks.show_panel("plots")
        )
        self.actions_ = Actions(self, bench, self.guard)
        self._fill_menus()
        self._connect_signals()
        if at_once:
            self.docks.create_missing_panels()
            self.dialogs.page = self.start_page
        self.theme.apply_style_sheet()
        self.setAcceptDrops(True)
        self.resize(QSize(*SIZE).boundedTo(self.screen().availableSize() - FRAME))
        self.docks.restore_saved_layout()
        self.status.show_hint(self.viewport.gestures.tool.expects)
        self._update_title()

    # ----------------------------------------------------------------------------- assembling

    def _create_view(self) -> None:
        """Create the viewport, the playback, the results drawn in the scene, and the bars around the viewport."""
        session, own = self.session, self._life.own
        self.viewport = own(Viewport(session, self.settings, self.theme, TOOLS, self))
        self.player = own(Player(session.runs, self))
        self.sequence = PosePlayback(session)
        self.pictures = PictureSettings(session, self.settings)
        self.answers = own(ResultUpdater(session, self.jobs, self.pictures.context))
        self.results = own(SceneResults(self.viewport, self.player, self.sequence, self.pictures))
        own(DemonstrationHand(self.viewport))
        self.run_pose = own(RunPoseFollower(session))
        self.run_scene = own(RunDisplay(self.viewport))
        self.legend = own(VectorLegend(self.viewport, self.run_scene))
        own(motion_plans_of(session))
        self.timeline = own(Timeline(session, self.player, self.sequence, self.theme))
        self.setCentralWidget(self._create_central_widget())

    def _create_run_services(self) -> None:
        """Create the services that compute and store runs."""
        session, own = self.session, self._life.own
        self.simulation = own(Simulation(session, self.settings, self.jobs, self))
        self.films = FilmQueue(self.viewport, self.run_scene, self)
        self.what_if = own(WhatIf(self.viewport, self.player, self.sequence, self.simulation, self))
        self.run_preparation = own(RunPreparation(session, self.simulation, self.jobs, self))
        self.interactive = own(InteractiveDynamics(self.viewport, self.player, self.simulation, self.jobs, self))
        self.viewport.interactive = self.interactive
        self._copy = recovery_copies.new_copy_path(recovery_folder())
        self.run_keeper = RunSaver(session, self.settings, self.jobs, recovery_copies.runs_folder_of(self._copy))
        self.runs = Runs(self.simulation, self.what_if, self.interactive, self.films, self.run_keeper)

    def _create_file_services(self, bench: Workbench) -> None:
        """Create the services for the open file, for changes by other programs, and for recovery copies."""
        telling = MessageOutlets(self.messages, self.notices, self.status, self.guard)
        self.surroundings = ViewState(self.viewport, self.run_scene, self.views, lambda: self.plots)
        self.files = FileCommands(bench, telling, self.run_keeper, self.surroundings)
        self.outside = ExternalChangeWatcher(bench, self.files, telling)
        self._life.own(OutdatedRunNotice(bench, self.messages))
        self.recovery = CrashRecovery(
            self.session, self.files, self.run_keeper, self.surroundings, self.notices, self._copy
        )
        self._keep_copy = False
        self._life.callback(lambda: self.recovery.close(keep=self._keep_copy))
        for each in (self.outside, self.films, self.jobs, self.files):
            self._life.callback(each.close)

    def _create_central_widget(self) -> QWidget:
        """Return the widget that contains notices, viewport and timeline, from top to bottom."""
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.notices = Notices()
        column.addWidget(self.notices)
        column.addWidget(self._life.own(DrawOptionBar(self.viewport)))
        column.addWidget(self.viewport, 1)
        column.addWidget(self.timeline)
        middle.setFocusProxy(self.viewport)
        return middle

    def _fill_menus(self) -> None:
        actions = self.actions_
        add_panel_entries(actions, self.docks)
        add_file_menus(actions, self.files, self.settings)
        add_saved_views_menu(actions, self.views)
        self.dialogs.make_page = lambda: self.start_page
        self.timeline.create_buttons(actions.by_id)
        self.docks.when_created("simulation", lambda panel: panel.create_buttons(actions.by_id))
        self.viewport.overlay.create_buttons(actions.by_id, actions.find_or_create_menu("View/Manipulability"))
        self.viewport.open_menu_at = self._open_context_menu

    def _connect_signals(self) -> None:
        refresh = lambda *_: self.actions_.refresh()  # noqa: E731
        self._life.listen(
            (self.session.changed, refresh),
            (self.session.changed, self.messages.hide_outdated_error),
            (self.session.selected, refresh),
            (self.session.saved_changed, self._update_title),
            (self.session.message, self.messages.show_message),
            (self.messages.shown, lambda *message: self.log.add_message(*message)),
            (self.session.produced, self._on_result_produced),
            (self.answers.changed, lambda: self.results.remove_if_not_live(self.answers.can_update)),
            (self.settings.changed, refresh),
            (self.run_scene.changed, refresh),
            (self.viewport.gestures.chosen, refresh),
            (self.viewport.viewpoint.looked, self._on_camera_moved),
            (self.viewport.expects, self.status.show_hint),
            (self.viewport.place, self.status.show_point),
            (self.sequence.changed, refresh),
            (self.player.changed, self._on_run_played),
            (self.session.runs.changed, refresh),
            (self.session.runs.changed, self._update_title),
            (self.files.awaited, self._on_document_awaited),
            (self.recovery.restored, self.outside.check_files),
            (self.simulation.changed, refresh),
            (self.what_if.changed, refresh),
            (self.interactive.changed, refresh),
            (self.simulation.began, lambda _: self.player.play_new_run(self.simulation.run_settings.duration)),
        )
        made = self.docks.when_created
        made("robotica", self._connect_robotica_panel)
        made("derivation", lambda panel: panel.changed.connect(refresh))
        made("derivation", lambda panel: self.docks.docks["derivation"].visibilityChanged.connect(panel.set_in_front))
        for name in ("configurations", "motions", "state"):
            made(name, partial(self._check_with_dock, name))
        made("output", lambda panel: panel.added.connect(self._show_output_panel))
        made("findings", lambda panel: self.docks.set_panel_title("findings", panel.tab_title))
        self.guard.install()
        self.actions_.refresh()

    def _check_with_dock(self, name: str, panel: ConfigurationsPanel | StatePanel) -> None:
        """Let a panel check if it can be seen when its dock comes to the front or leaves it."""
        self.docks.docks[name].visibilityChanged.connect(panel.check_visibility)

    def _connect_robotica_panel(self, panel: RoboticaPanel) -> None:
        panel.running.connect(self.functions.show_robotica_running)
        self.functions.abort_wanted.connect(panel.abort)

    def _on_run_played(self) -> None:
        self.actions_.refresh()
        self.timeline.refresh_all()

    def _on_document_awaited(self, is_coming: bool) -> None:
        """Handle that a document is about to be shown, or failed to open."""
        if not is_coming:
            self.start_page.update_visibility()
        elif self.dialogs.page is not None:
            self.dialogs.page.hide()

    def _on_camera_moved(self) -> None:
        action = self.actions_.by_id["view.ortho"]
        if action.isChecked() != self.viewport.viewpoint.is_parallel:
            self.actions_.refresh()

    def _update_title(self) -> None:
        name = self.session.path.name if self.session.path is not None else ""
        if not name and self.files.source is not None:
            name = self.files.source.name
        self.setWindowTitle(f"{escape_title(name or self.session.model.name or 'untitled')}[*] — Kinetostat")
        self.setWindowModified(self.recovery.has_unsaved_work)

    def _open_context_menu(self, ref: ElementRef | None, position: QPoint) -> None:
        self.actions_.refresh()
        menu = self.actions_.context_menu(ref, self)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(position)

    def _on_result_produced(self, result: Result) -> None:
        if not result.live:
            self.messages.hide_outdated_error()
        self.guard.call(self.motions.add_motions, result)
        self.guard.call(self.results.show_result, result)

    def _show_output_panel(self) -> None:
        """Bring the output panel to the front for a new result, unless a command line requested the result and shows it
        itself."""
        made = self.docks.panels
        if not (
            ("console" in made and self.console.interpreter.answering)
            or ("robotica" in made and self.robotica.answering)
        ):
            self.docks.show_panel("output")

    # ----------------------------------------------------------------------------- verbs

    @cached_property
    def start_page(self) -> StartPage:
        """The start page, created when first needed."""
        from app.window.start_page import StartPage

        self.dialogs.page = page = self._life.own(StartPage(self))
        return page

    def create_missing_panels_soon(self) -> None:
        """Create missing panels in the background, between the processing of events."""
        shared_slices().add(self, self._create_next_panel)

    def _create_next_panel(self, seconds: float) -> bool:
        if self.docks.create_next_panel():
            return False
        _ = self.start_page
        return True

    def run_command(self, command_id: str) -> None:
        """Run a command by its id."""
        self.actions_.run(command_id)

    def show_message(self, severity: str, text: str, choices: dict[str, Callable[[], object]] | None = None) -> None:
        """Show a message; `choices` maps the titles of buttons to their callbacks."""
        self.messages.show_message(severity, text, choices)

    def command_actions(self) -> Mapping[str, QAction]:
        """QActions of the menus by command id, enabled if they are available now."""
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
    def is_full_screen(self) -> bool:
        """True if the window fills the screen."""
        return self.isFullScreen()

    def set_full_screen(self, on: bool) -> None:
        """Turn full screen on or off."""
        self.showFullScreen() if on else self.showNormal()

    def close_program(self) -> None:
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
        """Apply the panel sizes when the window is first shown."""
        super().showEvent(event)
        if not event.spontaneous() and not self._was_shown:
            self._was_shown = True
            QTimer.singleShot(0, self.docks.apply_initial_sizes)

    _was_shown = False
    _over = False

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Let Tab skip panels hidden behind others."""
        for _ in range(MOST_STOPS):
            gone, focus = super().focusNextPrevChild(forward), self.focusWidget()
            if not gone or focus is None or not self.docks.focus.is_in_hidden_panel(focus):
                return gone
        return True

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Narrow the side panels in favour of the viewport if the window is narrow."""
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self.docks.narrow_side_columns)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask about unsaved work, save the layout of the panels, and stop all work."""
        if not self.files.may_close_document():
            event.ignore()
            return
        self.files.prepare_to_close()
        self.docks.save_layout()
        self.dispose()
        event.accept()

    def terminate(self) -> None:
        """End the program immediately; unsaved work is offered at the next start."""
        self.interactive.stop()
        self.simulation.stop_and_wait()
        self.dispose(keep=True)

    def changeEvent(self, event: QEvent) -> None:
        """Check the files for changes when the window becomes active again."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow() and not self._over:
            self.outside.check_files()

    def dispose(self, *, keep: bool = False) -> None:
        """Stop threads and timers, and disconnect all signals; the window is unusable afterwards. If `keep` is true,
        unsaved work stays in its recovery copy."""
        self._over, self._keep_copy = True, keep
        self._life.close()
