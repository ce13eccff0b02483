"""`kinetostat robotica`: run statements of the Robotica language from the command line, a script, or typed input."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from app.cli.terminal import say
from core.errors import KinetostatError
from core.files.regular_file import SCRIPT, read_text

if TYPE_CHECKING:
    from core.robotica.robotica_session import Session

PROMPT = "Robotica> "


@click.command("robotica")
@click.argument("model_file", metavar="[FILE]", required=False, type=click.Path(dir_okay=False))
@click.option("-c", "calls", multiple=True, metavar="STATEMENTS", help='What to run, e.g. "FKin[]" (repeat).')
@click.option("-s", "--script", type=click.Path(dir_okay=False), help="A text file of statements, run after -c.")
@click.option("--json", "as_json", is_flag=True, help="Each result as JSON on a line of its own, SI units.")
def command(model_file: str | None, calls: tuple[str, ...], script: str | None, as_json: bool) -> int | None:
    """Run Robotica calls in the notation of its manual.

    FILE is the robot (as DataFile["FILE"]). Without -c and --script statements are read from the terminal or the
    input stream, a line each; an error there is told and the next line goes on. Help[] lists all functions.
    """
    from core.files.named import find_model_file
    from core.robotica.robotica_session import Session
    from core.robotica.workspace import ScriptHost

    session = Session(ScriptHost(find_model_file(model_file).file if model_file else ""))
    if calls or script:
        for text in calls:
            _run_statements(session, text, as_json)
        if script:
            _run_script(session, script, as_json)
        return None
    return _run_prompt(session, as_json)


def _run_script(session: Session, path: str, as_json: bool) -> None:
    """Run a script until its first error, which is reported with the script's name, line and column."""
    try:
        _run_statements(session, read_text(path, SCRIPT), as_json)
    except KinetostatError as error:
        raise error.at(file=path) from None


def _run_prompt(session: Session, as_json: bool) -> int:
    """Run lines until the end of the input or Quit[]; return exit code 1 if a line of non-interactive input failed."""
    asked = sys.stdin.isatty()
    failed = False
    for line in _typed_lines() if asked else sys.stdin:
        if line.strip() in ("Quit", "Quit[]", "Exit", "Exit[]"):
            break
        try:
            _run_statements(session, line, as_json)
        except KinetostatError as error:
            failed = True
            say(f"Error: {error}", err=True)
        except KeyboardInterrupt:
            say("Stopped.", err=True)
    return int(failed and not asked)


def _typed_lines() -> Iterator[str]:
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  # history and editing of the typed line
    while True:
        try:
            yield input(PROMPT)
        except EOFError:
            say()
            return
        except KeyboardInterrupt:
            say()


def _run_statements(session: Session, text: str, as_json: bool) -> None:
    """Run statements one by one, so that results before an error are shown."""
    for result in session.iterate_results(text):
        show_results([result], session, as_json)


def show_results(results: Iterable[Any], session: Session, as_json: bool) -> None:
    """Print results and write the pictures they contain."""
    import json

    from app.panels.output.result_pictures import write_pictures
    from core.functions.results import leaf_results, to_json
    from viz.system_libraries import require_libraries

    for result in results:
        write_pictures(result, session.context())
        for part in leaf_results(result):
            if (motion := part.scene_parts().motion) is not None and motion.files:
                require_libraries("chart")
                from app.plotting.headless import write_motion_plots

                write_motion_plots(motion)
        say(json.dumps(to_json(result), ensure_ascii=False) if as_json else result.to_text(degrees=True))
