"""Services that the window offers to commands, dialogs and panels, as protocols with the methods that callers use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtGui import QAction, QImage
from PySide6.QtWidgets import QMainWindow

if TYPE_CHECKING:
    from app.background.jobs import Jobs
    from app.document.opening import Opened
    from app.document.picture_settings import PictureSettings
    from app.document.revision import Ref
    from app.document.run_tree import Record
    from app.document.session import Session
    from app.playback.clock import Player
    from app.playback.sequence import Sequence
    from app.preferences.settings import Settings
    from app.preferences.theme import Theme
    from app.runs.answers import Answers
    from app.runs.films import Films
    from app.runs.job import Simulation
    from app.viewport.stage import Stage
    from core.simulation import Run


class RunService(Protocol):
    """Compute runs, update them as sliders move, run in real time, and keep runs."""

    keeps: str
    """Setting for when runs are saved with the document: one of `run_keeper.KEEPS`."""

    @property
    def simulation(self) -> Simulation:
        """The settings of the next run, and the run being computed."""
        ...

    @property
    def films(self) -> Films:
        """The films, rendered in the background."""
        ...

    @property
    def follows(self) -> bool:
        """True if the whole run is recomputed as the sliders move."""
        ...

    @property
    def live(self) -> bool:
        """True if the machine runs in real time, or that run is paused."""
        ...

    @property
    def damping(self) -> str:
        """The damping of the machine that runs in real time: one of `interactive.DAMPINGS`."""
        ...

    def follow(self, on: bool) -> None:
        """Turn recomputing of the whole run as the sliders move on or off."""
        ...

    def start_live(self) -> None:
        """Start running the machine in real time, or end it."""
        ...

    def toggle_live(self) -> None:
        """Pause or resume the machine that runs in real time."""
        ...

    def stop_live(self) -> None:
        """End the real-time run and keep the recorded motion as a run."""
        ...

    def damp(self, damping: str) -> None:
        """Set the damping of the machine that runs in real time."""
        ...


class FileService(Protocol):
    """Open, save, export and recover files."""

    @property
    def source(self) -> Path | None:
        """The file that was opened, of any format; None if there is none."""
        ...

    @property
    def recoverable(self) -> bool:
        """True if an earlier program that ended unexpectedly left work that the user has not yet recovered or
        discarded."""
        ...

    def new(self) -> None:
        """Start an empty model."""
        ...

    def ask_open(self) -> None:
        """Ask for a file and open it."""
        ...

    def start_example(self, path: Path) -> None:
        """Open an example."""
        ...

    def replace(self, opened: Opened) -> None:
        """Show a model that was read, after asking about unsaved work."""
        ...

    def open_run(self, run: Run, path: Path) -> None:
        """Show a run of a machine that is not open."""
        ...

    def reload(self) -> None:
        """Read the open file again."""
        ...

    def compare(self) -> None:
        """Show how the machine differs from its file."""
        ...

    def recover(self) -> None:
        """Offer to recover work left by programs that ended unexpectedly."""
        ...

    def save(self) -> bool:
        """Save to the model's file."""
        ...

    def ask_save_as(self) -> bool:
        """Ask for a file and save to it."""
        ...

    def ask_export(self, suffix: str) -> bool:
        """Ask for a file of another format and write the machine to it."""
        ...

    def ask_picture(self) -> None:
        """Ask for a file and write the picture of the view to it."""
        ...

    def copy_picture(self) -> None:
        """Copy the picture of the view to the clipboard."""
        ...


class DialogService(Protocol):
    """Open the dialogs of the window."""

    def examples(self) -> None:
        """Open the gallery of examples."""
        ...

    def start_page(self) -> None:
        """Show the start page over the open document."""
        ...

    def leave_start_page(self) -> bool:
        """Close the start page; returns False if it was not visible."""
        ...

    def palette(self) -> None:
        """Open the command palette, which finds a command, function, element or example."""
        ...

    def help(self, topic: str = "") -> None:
        """Show help on a topic; without a topic, on the item under the pointer."""
        ...

    def tour(self, name: str) -> None:
        """Start a tour, or continue it."""
        ...

    def film(self) -> None:
        """Open the dialog that makes a film of the run or sequence on the timeline."""
        ...

    def keyboard(self) -> None:
        """Show all keys and mouse gestures."""
        ...

    def about(self) -> None:
        """Show the program's version and the system."""
        ...

    def licences(self) -> None:
        """Show the licences of the program and its libraries."""
        ...


class DerivationService(Protocol):
    """Step through a derivation."""

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
    """The sheet of plots."""

    def add(self, channels: tuple[str, ...]) -> None:
        """Draw channels in the active plot."""
        ...

    def add_plot(self) -> None:
        """Add a plot to the sheet."""
        ...

    def ask_export(self) -> None:
        """Ask for a file and write the plots to it."""
        ...


class RunListService(Protocol):
    """The list of runs."""

    def load(self) -> None:
        """Ask for a file and load its run."""
        ...

    def load_from(self, path: Path) -> None:
        """Load the run of a file."""
        ...

    def take(self, run: Run, path: Path) -> None:
        """Add a run that was read from a file."""
        ...

    def save(self) -> None:
        """Ask for a file and save the current run to it."""
        ...

    def annotate(self, record: Record) -> None:
        """Ask for the note of a run."""
        ...

    def clear(self) -> None:
        """Remove all runs from the list."""
        ...


class PanelService(Protocol):
    """The panels around the view."""

    @property
    def titles(self) -> Mapping[str, str]:
        """The current titles of the panels, by id."""
        ...

    @property
    def output_idle(self) -> bool:
        """True if the output panel is visible and empty."""
        ...

    @property
    def derivation(self) -> DerivationService:
        """The derivation that the user steps through."""
        ...

    @property
    def deriving(self) -> bool:
        """True while a derivation is open."""
        ...

    @property
    def plotting(self) -> bool:
        """True if any channel is plotted."""
        ...

    @property
    def plots(self) -> PlotService:
        """The sheet of plots."""
        ...

    @property
    def runs(self) -> RunListService:
        """The list of runs."""
        ...

    def show(self, panel: str) -> None:
        """Bring a panel to the front."""
        ...

    def reset(self) -> None:
        """Restore the initial layout of all panels."""
        ...

    def retitle(self, panel: str, title: str) -> None:
        """Change the title of a panel, e.g. to one with a count."""
        ...

    def focus_field(self, field: str) -> None:
        """Move the focus to a field in the properties of the selected element."""
        ...

    def choose_function(self, function: str) -> None:
        """Open a catalogue function or a Robotica call with its options."""
        ...

    def ask_function(self, function: str, options: Mapping[str, Any]) -> None:
        """Run a catalogue function in the background and show its result."""
        ...

    def rename_selected(self) -> None:
        """Rename the selected element in the model tree."""
        ...

    def finish_typing(self) -> bool:
        """Apply unfinished input in the properties and the run settings; returns False if some input is invalid."""
        ...

    def enter_line(self, line: str) -> None:
        """Run a line in the Robotica console and show it."""
        ...


class SceneService(Protocol):
    """Vectors, paths and saved views shown in the scene with the machine."""

    @property
    def vectors_shown(self) -> bool:
        """True if any vectors are shown."""
        ...

    @property
    def paths(self) -> tuple[str, ...]:
        """Frames whose paths are drawn."""
        ...

    @property
    def pointed(self) -> tuple[float, float, float] | None:
        """The point (m, world) at which the context menu was last opened; None if there is none."""
        ...

    def shows_vectors(self, kind: str, ref: Ref | None = None) -> bool:
        """Return True if all vectors of a kind, or the one of an element, are shown."""
        ...

    def toggle_vectors(self, kind: str, ref: Ref | None = None) -> None:
        """Show or hide all vectors of a kind, or the one of an element."""
        ...

    def hide_vectors(self) -> None:
        """Hide all vectors."""
        ...

    def follow(self, *frames: str) -> None:
        """Draw the paths of these frames only."""
        ...

    def follow_point(self, frame: str, point: tuple[float, float, float]) -> None:
        """Also draw the path of a point (m, in a frame)."""
        ...

    def forget_paths(self) -> None:
        """Clear all paths and start them again."""
        ...

    def picture(self, scale: int = 1) -> QImage:
        """Return an image of the view at `scale` times its resolution, without handles and buttons."""
        ...

    def keep_view(self) -> None:
        """Ask for a name and save the current view under it."""
        ...


class Workbench(Protocol):
    """The window, as seen by commands, dialogs and panels."""

    session: Session
    settings: Settings
    theme: Theme
    jobs: Jobs
    pictures: PictureSettings
    answers: Answers
    player: Player
    sequence: Sequence

    @property
    def runs(self) -> RunService:
        """The service that computes and keeps runs."""
        ...

    @property
    def files(self) -> FileService:
        """The service that opens and saves files."""
        ...

    @property
    def dialogs(self) -> DialogService:
        """The service that opens dialogs."""
        ...

    @property
    def panels(self) -> PanelService:
        """The service for the panels around the view."""
        ...

    @property
    def stage(self) -> Stage:
        """The 3-D view."""
        ...

    @property
    def scenery(self) -> SceneService:
        """The service for vectors, paths and saved views in the 3-D view."""
        ...

    @property
    def widget(self) -> QMainWindow:
        """The window that is the parent of dialogs."""
        ...

    @property
    def full_screen(self) -> bool:
        """True if the window fills the screen."""
        ...

    def fill_screen(self, on: bool) -> None:
        """Turn full screen on or off."""
        ...

    def leave(self) -> None:
        """Close the program, after asking about unsaved work."""
        ...

    def commands(self) -> Mapping[str, QAction]:
        """Menu actions by command id, enabled as they apply now."""
        ...

    def tell(self, severity: str, text: str, choices: dict[str, Callable[[], object]] | None = None) -> None:
        """Show a message; `choices` maps the titles of buttons to their callbacks."""
        ...

    def run(self, command: str) -> None:
        """Run a command by its id."""
        ...
