"""What the window offers to commands, dialogs and panels: services, each with the verbs that they use."""

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
    from app.document.run_tree import Record
    from app.document.session import Ref, Session
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
    """Computing runs, following the hand, keeping them."""

    keeps: str
    """When runs are kept beside the document: one of `run_keeper.KEEPS`."""

    @property
    def simulation(self) -> Simulation:
        """What the next run will be, and the one that is computed."""
        ...

    @property
    def films(self) -> Films:
        """Films, made beside the window."""
        ...

    @property
    def follows(self) -> bool:
        """Whether the whole run follows the sliders."""
        ...

    @property
    def live(self) -> bool:
        """Whether the machine runs in real time, or is held meanwhile."""
        ...

    @property
    def damping(self) -> str:
        """How the machine that runs in real time is slowed down: one of `interactive.DAMPINGS`."""
        ...

    def follow(self, on: bool) -> None:
        """Let the whole run follow the sliders, or not."""
        ...

    def start_live(self) -> None:
        """Let the machine run in real time, or end it."""
        ...

    def toggle_live(self) -> None:
        """Hold the machine that runs in real time, or go on."""
        ...

    def stop_live(self) -> None:
        """End it; what moved is kept as a run."""
        ...

    def damp(self, damping: str) -> None:
        """Slow the machine that runs in real time down."""
        ...


class FileService(Protocol):
    """The open file and others."""

    @property
    def source(self) -> Path | None:
        """The file that was opened, of whatever format."""
        ...

    @property
    def recoverable(self) -> bool:
        """Whether a program that ended unexpectedly left something behind that was not answered for."""
        ...

    def new(self) -> None:
        """An empty model."""
        ...

    def ask_open(self) -> None:
        """Choose a file and open it."""
        ...

    def start_example(self, path: Path) -> None:
        """Open an example."""
        ...

    def replace(self, opened: Opened) -> None:
        """Show what was read, after asking for unsaved work."""
        ...

    def open_run(self, run: Run, path: Path) -> None:
        """Show a run of a machine that is not open."""
        ...

    def reload(self) -> None:
        """Read the open file again."""
        ...

    def compare(self) -> None:
        """Show how the machine differs from what its file says."""
        ...

    def recover(self) -> None:
        """Offer what programs that ended unexpectedly left behind."""
        ...

    def save(self) -> bool:
        """Save to the file of the model."""
        ...

    def ask_save_as(self) -> bool:
        """Choose a file and save there."""
        ...

    def ask_export(self, suffix: str) -> bool:
        """Ask for a file of another format, and write the machine there."""
        ...

    def ask_picture(self) -> None:
        """Choose a file and write there what the view shows."""
        ...

    def copy_picture(self) -> None:
        """Put what the view shows on the clipboard."""
        ...


class DialogService(Protocol):
    """The dialogs."""

    def examples(self) -> None:
        """The gallery of examples."""
        ...

    def start_page(self) -> None:
        """What one can begin with, over whatever is open."""
        ...

    def leave_start_page(self) -> bool:
        """Put it away; False if it is not seen."""
        ...

    def palette(self) -> None:
        """Find a command, function, element or example."""
        ...

    def help(self, topic: str = "") -> None:
        """Help on a topic; without one on what is under the pointer."""
        ...

    def tour(self, name: str) -> None:
        """Begin a tour, or go on with it."""
        ...

    def film(self) -> None:
        """A film of what the timeline plays."""
        ...

    def keyboard(self) -> None:
        """All keys and mouse gestures."""
        ...

    def about(self) -> None:
        """Version and system."""
        ...

    def licences(self) -> None:
        """Licences of the program and its libraries."""
        ...


class DerivationService(Protocol):
    """The derivation that is stepped through."""

    def begin(self) -> None:
        """Begin, at the first step."""
        ...

    def step(self, count: int) -> None:
        """So many steps on."""
        ...

    def end(self) -> None:
        """Take its arrows out of the scene."""
        ...


class PlotService(Protocol):
    """The sheet of plots."""

    def add(self, channels: tuple[str, ...]) -> None:
        """Draw channels in the active plot."""
        ...

    def add_plot(self) -> None:
        """One more plot."""
        ...

    def ask_export(self) -> None:
        """Choose a file and write the plots there."""
        ...


class RunListService(Protocol):
    """The list of runs."""

    def load(self) -> None:
        """Choose a file and load the run in it."""
        ...

    def load_from(self, path: Path) -> None:
        """Load the run of a file."""
        ...

    def take(self, run: Run, path: Path) -> None:
        """Add a run that was read from a file."""
        ...

    def save(self) -> None:
        """Choose a file and save the current run there."""
        ...

    def annotate(self, record: Record) -> None:
        """Ask what is to be said of a run."""
        ...

    def clear(self) -> None:
        """Take all runs out of the list."""
        ...


class PanelService(Protocol):
    """The panels around the view."""

    @property
    def titles(self) -> Mapping[str, str]:
        """Their titles as now shown, by id."""
        ...

    @property
    def output_idle(self) -> bool:
        """Whether the output is in view with nothing in it."""
        ...

    @property
    def derivation(self) -> DerivationService:
        """The derivation that is stepped through."""
        ...

    @property
    def deriving(self) -> bool:
        """Whether one is."""
        ...

    @property
    def plotting(self) -> bool:
        """Whether anything is plotted."""
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
        """Put all panels where they were at first."""
        ...

    def retitle(self, panel: str, title: str) -> None:
        """Another title, e.g. with a count."""
        ...

    def focus_field(self, field: str) -> None:
        """Go to a field of the selected element in its properties."""
        ...

    def choose_function(self, function: str) -> None:
        """Open a catalogue function, or a call of Robotica, with its options."""
        ...

    def ask_function(self, function: str, options: Mapping[str, Any]) -> None:
        """Run a catalogue function beside the window, and show what it gives."""
        ...

    def rename_selected(self) -> None:
        """Rename the selected element in the model tree."""
        ...

    def finish_typing(self) -> bool:
        """Take what is being typed, in properties and as settings of the next run; False if it cannot be taken."""
        ...

    def enter_line(self, line: str) -> None:
        """Have Robotica's command line run a line, and show it."""
        ...


class SceneService(Protocol):
    """Vectors, paths and views beside the machine."""

    @property
    def vectors_shown(self) -> bool:
        """Whether there are any."""
        ...

    @property
    def paths(self) -> tuple[str, ...]:
        """The frames whose points' paths are drawn."""
        ...

    @property
    def pointed(self) -> tuple[float, float, float] | None:
        """The point (m, world) on which the context menu was opened last."""
        ...

    def shows_vectors(self, kind: str, ref: Ref | None = None) -> bool:
        """Whether all vectors of a kind, or that of one element, are shown."""
        ...

    def toggle_vectors(self, kind: str, ref: Ref | None = None) -> None:
        """Show or hide all vectors of a kind, or that of one element."""
        ...

    def hide_vectors(self) -> None:
        """No vectors."""
        ...

    def follow(self, *frames: str) -> None:
        """Draw the paths of these frames, and of no others."""
        ...

    def follow_point(self, frame: str, point: tuple[float, float, float]) -> None:
        """Draw the path of a point (m, in a frame), too."""
        ...

    def forget_paths(self) -> None:
        """Begin all paths anew."""
        ...

    def picture(self, scale: int = 1) -> QImage:
        """What is seen, `scale` times as fine, without handles and buttons."""
        ...

    def keep_view(self) -> None:
        """Ask for a name, and keep the present view under it."""
        ...


class Workbench(Protocol):
    """The window, as far as commands, dialogs and panels know it."""

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
        """Computing and keeping runs."""
        ...

    @property
    def files(self) -> FileService:
        """The open file and others."""
        ...

    @property
    def dialogs(self) -> DialogService:
        """The dialogs."""
        ...

    @property
    def panels(self) -> PanelService:
        """The panels around the view."""
        ...

    @property
    def stage(self) -> Stage:
        """The 3-D view."""
        ...

    @property
    def scenery(self) -> SceneService:
        """What stands beside the machine in it."""
        ...

    @property
    def widget(self) -> QMainWindow:
        """The window that dialogs belong to."""
        ...

    @property
    def full_screen(self) -> bool:
        """Whether the window fills the screen."""
        ...

    def fill_screen(self, on: bool) -> None:
        """Fill the whole screen, or not."""
        ...

    def leave(self) -> None:
        """Close the program, after asking for unsaved work."""
        ...

    def commands(self) -> Mapping[str, QAction]:
        """What menus are made of, by the ids of commands, as they apply now."""
        ...

    def tell(self, severity: str, text: str, choices: dict[str, Callable[[], object]] | None = None) -> None:
        """Show a message; `choices` are buttons: title → what it does."""
        ...

    def run(self, command: str) -> None:
        """Run a command by its id."""
        ...
