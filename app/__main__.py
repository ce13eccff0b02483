"""The program: `kinetostat [FILE or NAME]` opens the window; `kinetostat <verb> …` works without one."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

from resources import example_named

GARBAGE = 100_000
"""Number of new objects after which a command-line command collects garbage; loading modules creates many objects but
no garbage."""
SELDOM = ("check", "convert", "examples", "info", "render")
"""Commands that evaluate so few expressions that compiling them would not pay."""

_WITHOUT = "Without a display, use: kinetostat render FILE -o picture.png"


def main() -> int:
    """Run the `kinetostat` command."""
    given = sys.argv[1:]
    if not given or is_model_argument(given[0]):
        return open_window(given[0] if given else "")
    from app.cli.main import cli

    gc.set_threshold(GARBAGE)
    if given[0] in SELDOM:
        from core.codegen import background

        background.delay_compilation()
    return cli(given)


def is_model_argument(word: str) -> bool:
    """Return True if the first argument on the command line names a model to open, rather than an option or a
    subcommand."""
    if word.startswith("-"):
        return False
    return Path(word).suffix != "" or Path(word).is_file() or example_named(word) is not None or _is_robot(word)


def _is_robot(word: str) -> bool:
    """Return True if an argument is the name of a robot in the package `robot_descriptions` and that package is
    installed."""
    if not word.endswith("_description"):
        return False
    from core.files.named import is_model_name

    return is_model_name(word)


def open_window(file: str = "", arguments: list[str] | None = None) -> int:
    """Open the window on a file or on a named model, or on the start page if neither is given. Returns the exit
    status."""
    if obstacle := obstacle_to_window():
        print(obstacle, file=sys.stderr)
        return 1
    gc.disable()  # of what is loaded nothing is garbage; then the window's collector looks
    given = sys.argv if arguments is None else arguments
    chosen = file or next((each for each in given[1:] if not each.startswith("-")), "")
    if chosen:
        from core.errors import KinetostatError

        try:
            chosen = _find_model_file(chosen, [each for each in given[1:] if each != chosen])
        except KinetostatError as error:
            print(f"Error: {error}", file=sys.stderr)
            return 1
    from app.window.start import run_program

    return run_program(chosen, given)


def _find_model_file(word: str, arguments: list[str]) -> str:
    """Return the file of a model given by path or name, and store the Xacro arguments `name:=value` that follow it.
    Raises KinetostatError."""
    pairs = [each.partition(":=") for each in arguments]
    wrong = next((each for each, (name, mark, _) in zip(arguments, pairs, strict=True) if not (mark and name)), None)
    if wrong is not None:
        from core.errors import FileError

        raise FileError(
            f"The window opens one model; the argument '{wrong}' after it is not understood.",
            file=word,
            remedy="Give Xacro arguments as name:=value; put options after a command, as in: kinetostat run FILE …",
        )
    from core.files.named import ModelFile, find_model_file

    place = ModelFile(word)
    if not os.path.lexists(word):
        if (example := example_named(word)) is not None:
            place = ModelFile(str(example.path))
        elif _is_robot(word):
            place = find_model_file(word)
    place = place._replace(arguments={**place.arguments, **{name: value for name, _, value in pairs}})
    if place.packages or place.arguments:
        from app.document.opening import remember_import_options

        remember_import_options(place)
    return place.file


def obstacle_to_window() -> str:
    """Return the reason why no window can be opened here, with a remedy; "" if it can. Called before Qt is loaded."""
    from app.platforms import unknown_platforms
    from core.errors import KinetostatError
    from viz.system_libraries import require_libraries

    if (problem := unknown_platforms()) or not sys.platform.startswith("linux"):
        return problem
    platform, on_wayland = os.environ.get("QT_QPA_PLATFORM", ""), bool(os.environ.get("WAYLAND_DISPLAY"))
    if not (platform or on_wayland or os.environ.get("DISPLAY")):
        return f"There is no display. {_WITHOUT}"
    try:
        require_libraries("window" if platform.startswith("xcb") or not (platform or on_wayland) else "chart")
    except KinetostatError as error:
        return str(error)
    return _unreachable_display_message(platform)


def _unreachable_display_message(platform: str) -> str:
    """Return an error message if none of the display servers that Qt would try can be reached, which would end the
    program; otherwise "".

    platform : platforms that Qt is to try, as in QT_QPA_PLATFORM; "": those of the session
    """
    tests = {"wayland": ("WAYLAND_DISPLAY", _wayland_answers), "xcb": ("DISPLAY", _x11_answers)}
    tried = [each for each in platform.split(";") if each] or [
        each for each, (variable, _) in tests.items() if os.environ.get(variable)
    ]
    silent = []
    for each in tried:
        variable, answers = tests.get(each.partition(":")[0].partition("-")[0], ("", bool))
        if not variable or answers():
            return ""
        silent.append(f"{variable}={os.environ.get(variable, '')}")
    return f"The display does not respond ({', '.join(silent)}). Start from a terminal on the desktop. {_WITHOUT}"


def _x11_answers() -> bool:
    """Return True if the X server named by DISPLAY accepts a connection."""
    import ctypes

    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True  # nobody can say
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(None, None))
    silent = bool(xcb.xcb_connection_has_error(connection))
    xcb.xcb_disconnect(connection)
    return not silent


def _wayland_answers() -> bool:
    """Return True if the compositor named by WAYLAND_DISPLAY accepts a connection."""
    import socket

    if os.environ.get("WAYLAND_SOCKET"):
        return True  # it is open already
    place = Path(os.environ.get("XDG_RUNTIME_DIR", ""), os.environ.get("WAYLAND_DISPLAY", "") or "wayland-0")
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(place))
    except OSError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
