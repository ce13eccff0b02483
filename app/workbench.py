"""Protocols of the services that the window offers to commands, dialogs and panels, with the methods that these use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtGui import QAction, QImage
from PySide6.QtWidgets import QMainWindow

if TYPE_CHECKING:
    from app.background.jobs import Jobs
    from app.document.opening import OpenedFile
    from app.document.picture_settings import PictureSettings
    from app.document.revision import ElementRef
    from app.document.run_tree import RunRecord
    from app.document.session import Session
    from app.playback.clock import Player
    from app.playback.sequence import PosePlayback
    from app.preferences.settings import Settings
    from app.preferences.theme import Theme
    from app.runs.answers import ResultUpdater
    from app.runs.films import FilmQueue
    from app.runs.job import Simulation
    from app.viewport.stage import Stage
    from core.simulation import Run


class RunService(Protocol):
    """Computes and stores runs, recomputes them as sliders move, and simulates in real time."""

    save_policy: str
    """Setting that determines when runs are saved with the document: one of `run_keeper.KEEPS`."""

    @property
    def simulation(self) -> Simulation:
        """Settings of the next run, and the run being computed."""
        ...

    @property
    def films(self) -> FilmQueue:
        """Films, which are rendered in the background."""
        ...

    @property
    def recomputes_on_change(self) -> bool:
        """True if the run is recomputed as the sliders move."""
        ...

    @property
    def is_live(self) -> bool:
        """True while the machine is simulated in real time, also while paused."""
        ...

    @property
    def damping(self) -> str:
        """Artificial damping of the real-time simulation: one of `interactive.DAMPINGS`."""
        ...

    def set_recompute_on_change(self, on: bool) -> None:
        """Turn on or off the recomputation of the run as the sliders move."""
        ...

    def start_or_end_live(self) -> None:
        """Start the real-time simulation; if it is running, end it."""
        ...

    def pause_or_resume_live(self) -> None:
        """Pause or resume the real-time simulation."""
        ...

    def end_live(self) -> None:
        """End the real-time simulation and keep the recorded motion as a run."""
        ...

    def set_damping(self, damping: str) -> None:
        """Set the artificial damping of the real-time simulation."""
        ...


class FileService(Protocol):
    """Opens, saves, exports and recovers files."""

    @property
    def source(self) -> Path | None:
        """File that was opened, of any format; None if there is none."""
        ...

    @property
    def recoverable(self) -> bool:
        """True if a program that ended unexpectedly left work that the user has neither recovered nor discarded."""
        ...

    def new_model(self) -> None:
        """Start an empty model."""
        ...

    def open_with_dialog(self) -> None:
        """Ask for a file and open it."""
        ...

    def open_example(self, path: Path) -> None:
        """Open an example."""
        ...

    def replace_document(self, opened: OpenedFile) -> None:
        """Show a model that has been read, after asking about unsaved work."""
        ...

    def open_run(self, run: Run, path: Path) -> None:
        """Show a run of a machine that is not open."""
        ...

    def reload(self) -> None:
        """Read the open file again."""
        ...

    def compare_with_file(self) -> None:
        """Show the differences between the machine and its file."""
        ...

    def offer_recovery(self) -> None:
        """Offer to recover work left by programs that ended unexpectedly."""
        ...

    def save(self) -> bool:
        """Save to the file of the model."""
        ...

    def save_with_dialog(self) -> bool:
        """Ask for a file name and save the model to that file."""
        ...

    def export_with_dialog(self, suffix: str) -> bool:
        """Ask for a file name and export the machine to another format."""
        ...

    def save_picture_with_dialog(self) -> None:
        """Ask for a file name and write a picture of the view to that file."""
        ...

    def copy_picture(self) -> None:
        """Copy a picture of the view to the clipboard."""
        ...


class DialogService(Protocol):
    """Opens the dialogs of the window."""

    def open_examples(self) -> None:
        """Open the gallery of examples."""
        ...

    def show_start_page(self) -> None:
        """Show the start page over the open document."""
        ...

    def close_start_page(self) -> bool:
        """Close the start page; returns False if it was not visible."""
        ...

    def open_palette(self) -> None:
        """Open the command palette, which finds a command, function, element or example."""
        ...

    def open_help(self, topic: str = "") -> None:
        """Show help on a topic; without a topic, on the item under the pointer."""
        ...

    def start_tour(self, name: str) -> None:
        """Start a tour, or continue it."""
        ...

    def open_film_dialog(self) -> None:
        """Open the dialog that exports a film of the run or sequence on the timeline."""
        ...

    def open_keyboard_map(self) -> None:
        """Show the keyboard shortcuts and mouse gestures."""
        ...

    def open_about(self) -> None:
        """Show the program's version and the system."""
        ...

    def open_licences(self) -> None:
        """Show the licences of the program and its libraries."""
        ...


class DerivationService(Protocol):
    """Steps through a derivation."""

    def begin(self) -> None:
        """Start at the first step."""
        ...

    def step(self, count: int) -> None:
        """Move by a number of steps."""
        ...

    def end(self) -> None:
        """End the derivation and remove its arrows from the scene."""
        ...


class PlotService(Protocol):
    """Sheet of plots."""

    def add(self, channels: tuple[str, ...]) -> None:
        """Draw channels in the active plot."""
        ...

    def add_plot(self) -> None:
        """Add a plot to the sheet."""
        ...

    def ask_export(self) -> None:
        """Ask for a file name and write the plots to that file."""
        ...


class RunListService(Protocol):
    """List of runs."""

    def load(self) -> None:
        """Ask for a file and load the run in it."""
        ...

    def load_from(self, path: Path) -> None:
        """Load the run in a file."""
        ...

    def take(self, run: Run, path: Path) -> None:
        """Add a run that has been read from a file."""
        ...

    def save(self) -> None:
        """Ask for a file name and save the current run to that file."""
        ...

    def annotate(self, record: RunRecord) -> None:
        """Ask for a note about a run."""
        ...

    def clear(self) -> None:
        """Remove all runs from the list."""
        ...


class PanelService(Protocol):
    """Panels around the viewport."""

    @property
    def panel_titles(self) -> Mapping[str, str]:
        """Current titles of the panels, by id."""
        ...

    @property
    def is_output_empty(self) -> bool:
        """True if the output panel is visible and empty."""
        ...

    @property
    def derivation(self) -> DerivationService:
        """Service that steps through a derivation."""
        ...

    @property
    def is_derivation_open(self) -> bool:
        """True while a derivation is open."""
        ...

    @property
    def has_plotted_channels(self) -> bool:
        """True if any channel is plotted."""
        ...

    @property
    def plots(self) -> PlotService:
        """Sheet of plots."""
        ...

    @property
    def run_list(self) -> RunListService:
        """List of runs."""
        ...

    def show_panel(self, panel: str) -> None:
        """Bring a panel to the front."""
        ...

    def restore_initial_layout(self) -> None:
        """Restore the initial layout of the panels."""
        ...

    def set_panel_title(self, panel: str, title: str) -> None:
        """Change the title of a panel, e.g. to one with a count."""
        ...

    def focus_property_field(self, field: str) -> None:
        """Move the keyboard focus to a field of the selected element in the properties panel."""
        ...

    def open_function(self, function: str) -> None:
        """Open the form of a catalogue function or a Robotica command."""
        ...

    def run_function(self, function: str, options: Mapping[str, Any]) -> None:
        """Run a catalogue function in the background and show its result."""
        ...

    def rename_selected_element(self) -> None:
        """Rename the selected element in the model tree."""
        ...

    def apply_pending_input(self) -> bool:
        """Apply pending input in the properties and the run settings; return False if some input is invalid."""
        ...

    def run_robotica_line(self, line: str) -> None:
        """Run a command in the Robotica console and show the console."""
        ...


class SceneService(Protocol):
    """Vectors, paths and saved views that are shown in the scene in addition to the machine."""

    @property
    def has_visible_vectors(self) -> bool:
        """True if any vectors are shown."""
        ...

    @property
    def path_frames(self) -> tuple[str, ...]:
        """Frames whose paths are drawn."""
        ...

    @property
    def context_menu_point(self) -> tuple[float, float, float] | None:
        """The point (m, world) at which the context menu was last opened; None if there is none."""
        ...

    def shows_vectors(self, kind: str, ref: ElementRef | None = None) -> bool:
        """Return True if the vectors of a kind are shown: those of all elements, or that of one element."""
        ...

    def toggle_vectors(self, kind: str, ref: ElementRef | None = None) -> None:
        """Show or hide the vectors of a kind: those of all elements, or that of one element."""
        ...

    def hide_vectors(self) -> None:
        """Hide all vectors."""
        ...

    def draw_paths(self, *frames: str) -> None:
        """Draw the paths of these frames only."""
        ...

    def draw_point_path(self, frame: str, point: tuple[float, float, float]) -> None:
        """Also draw the path of a point (m, in a frame)."""
        ...

    def restart_paths(self) -> None:
        """Clear all paths and start recording them again."""
        ...

    def render_picture(self, scale: int = 1) -> QImage:
        """Return a picture of the view at `scale` times its resolution, without handles and buttons."""
        ...

    def save_view_with_dialog(self) -> None:
        """Ask for a name and save the current view under it."""
        ...


class Workbench(Protocol):
    """Interface of the window for commands, dialogs and panels."""

    session: Session
    settings: Settings
    theme: Theme
    jobs: Jobs
    pictures: PictureSettings
    answers: ResultUpdater
    player: Player
    sequence: PosePlayback

    @property
    def runs(self) -> RunService:
        """Service that computes and stores runs."""
        ...

    @property
    def files(self) -> FileService:
        """Service that opens and saves files."""
        ...

    @property
    def dialogs(self) -> DialogService:
        """Service that opens dialogs."""
        ...

    @property
    def panels(self) -> PanelService:
        """Service for the panels around the viewport."""
        ...

    @property
    def stage(self) -> Stage:
        """The 3-D viewport."""
        ...

    @property
    def scenery(self) -> SceneService:
        """Service for vectors, paths and saved views in the 3-D viewport."""
        ...

    @property
    def widget(self) -> QMainWindow:
        """The window that is the parent of dialogs."""
        ...

    @property
    def is_full_screen(self) -> bool:
        """True if the window fills the screen."""
        ...

    def set_full_screen(self, on: bool) -> None:
        """Turn full screen on or off."""
        ...

    def close_program(self) -> None:
        """Close the program, after asking about unsaved work."""
        ...

    def command_actions(self) -> Mapping[str, QAction]:
        """QActions of the menus by command id, enabled if they are available now."""
        ...

    def show_message(self, severity: str, text: str, choices: dict[str, Callable[[], object]] | None = None) -> None:
        """Show a message; `choices` maps the titles of buttons to their callbacks."""
        ...

    def run_command(self, command_id: str) -> None:
        """Run a command by its id."""
        ...
