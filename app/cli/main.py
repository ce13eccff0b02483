"""The `kinetostat` command: sub-commands by name, imported when used, and the examples in their help.

Exit code 0: done (warnings allowed); 1: errors found; 2: wrong usage. Errors are one message on the error stream.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import click

from app.cli.terminal import say
from core.errors import KinetostatError, escape_control_characters, find_likely_names

if TYPE_CHECKING:
    from core.functions import Function


HELP_ENDING = """\b
Numbers take units and formulas: --pose joint1="30 deg", --set l1="50 mm"; without a unit they are SI (rad, m, s, N).
Exit code 0: done, warnings allowed; 1: errors found; 2: wrong usage.
"""
"""Text at the end of `kinetostat --help`."""

HELP_EXAMPLES = {
    "check": ("check arm.urdf --package my_robot=../my_robot", "check arm.urdf --strict --json"),
    "info": ('info arm.urdf --pose joint1="30 deg"', "info arm.urdf --json"),
    "render": ("render arm.urdf -o arm.png --view front --transparent",),
    "convert": ("convert arm.urdf arm.kst", "convert robot.rob robot.urdf --force"),
    "run": (
        'run arm.kst --duration 2 --q0 joint1="30 deg" --torque joint2="40*cos(t)" -o arm.h5',
        "run four_bar.kst --channels crank_pin.v,energy.total -o - | head",
    ),
    "plot": (
        "plot arm.h5",
        "plot arm.h5 joint1.q tool.position.x -o arm.pdf",
        "plot a.h5 joint1.q --with b.h5 -o ab.csv",
    ),
    "study": (
        "study arm.kst --grid l1=0.3:0.5:21 --record 'w=max(abs(joint2.v))' --duration 2 -o arm.h5",
        "study arm.kst --sample 'm=normal(2, 0.05)' -n 1000 --seed 7 --record 'e=at(tool.position, end)' --cores all",
        "study arm.kst --kind poses --grid joint1=0:1:20 --record 'w=tool.manipulability' -o w.csv",
    ),
    "film": (
        "film arm.h5 -o arm.mp4 --arrows force --trace tool",
        "film four_bar.kst --duration 2 --speed 0.25 -o slow.gif",
    ),
    "robotica": ('robotica stanford.rob -c "FKin[]; MPrint[T[0,2]]"', "robotica arm.rob --script calls.txt"),
    "examples": ("examples", "examples four_bar -o work"),
    "fit_dh_table": ("fit-dh-table arm.urdf --tip tool0 --file arm.kst",),
    "inverse_kinematics": ("inverse-kinematics arm.kst --position 0.4,0.1,0.6 --show all",),
    "manipulability": ('ellipsoid arm.rob --ranges joint1=0:"90 deg" --scale',),
    "response": ('response arm.rob --torques circle.tau --set k1=400 --initial q1="30 deg" --end 10',),
    "identify": (
        "identify arm.kst measured.csv --save better.kst",
        'identify arm.kst log.csv --columns "joint1.q=angle [deg], joint1.tau=torque" --cutoff "10 Hz"',
    ),
    "fit_run": ("fit-run pendulum.kst swing.csv --vary k --vary c=0:5",),
    "excitation": ("excitation arm.kst --period 8 --speed 1.5 --save motion.csv",),
    "derive": ("derive two_link.rob --what M -o M.tex", "derive two_link.rob --what T --i 0 --j 2"),
    "write_equations": ("write-equations two_link.rob --what M --language latex --file M.tex",),
    "simplify_expression": ('simplify-expression arm.rob --expression "Cos[q1]^2 + Sin[q1]^2"',),
    "picture": ("picture arm.kst --file arm.png --width 2400 --height 1600",),
    "show_robot": ('show-robot arm.rob --ranges q1=0:"90 deg":4',),
    "show_in_sequence": ('show-in-sequence arm.rob --sequence q1=0:"90 deg":4 --sequence q2=0:1:4',),
}
"""Example lines without the program's name, by command or function."""


def help_ending(name: str, invoked_as: str) -> str:
    """Return the example lines at the end of the help of the command or function `name`, invoked as `invoked_as`."""
    lines = HELP_EXAMPLES.get(name, (f'{invoked_as} arm.kst --pose joint1="30 deg" --json',))
    return "\n".join(["\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  kinetostat {line}" for line in lines)])


COMMANDS = {
    "check": "Report errors and doubtful values in a model.",
    "info": "Show bodies, joints, degrees of freedom, mass and coordinates.",
    "render": "Draw a model to a PNG file.",
    "convert": "Write a model in another format.",
    "run": "Simulate a machine and write its motion.",
    "study": "Run a machine many times with varying numbers, on all cores or a cluster.",
    "plot": "Plot channels of runs as PNG, SVG, PDF or CSV.",
    "film": "Film a run, or a model in motion.",
    "robotica": "Run calls of Robotica's command line, a script of them, or type them.",
    "examples": "List the example models, or copy them.",
}
"""Sub-commands with a module in `app.cli`; the functions of the catalogue are added to them."""

ALIASES = {"ellipsoid": "manipulability"}
"""Alternative names of functions."""

USAGE = """Design, study and teach robots and mechanisms.

\b
kinetostat [FILE]             open the window (on FILE, or on its start page)
kinetostat COMMAND FILE …     work without a window; COMMAND --help lists its options

FILE is a path, or the name of an example (kinetostat examples).
"""


_XACRO_ARGUMENT = re.compile(r"[^\W\d]\w*:=")


class LazyGroup(click.Group):
    """A click group that imports a command when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands, then the functions, in their order of declaration."""
        from core.functions import FUNCTIONS

        return [*COMMANDS, *(function.command for function in FUNCTIONS.values())]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import and return the command of this name; None if there is none."""
        if name in COMMANDS:
            command: click.Command = importlib.import_module(f"{__package__}.{name}").command
            command.epilog = help_ending(name, name)
            return command
        from core.functions import FUNCTIONS

        function = FUNCTIONS.get(ALIASES.get(name, name).replace("-", "_"))
        if function is None:
            return None
        from app.cli.function_command import build_command

        command = build_command(function)
        command.epilog = help_ending(function.id, function.command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lists of commands and of functions without importing them."""
        from core.functions import FUNCTIONS
        from core.functions.catalogue import GROUPS

        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        for group in GROUPS:
            with formatter.section(f"Functions: {group}"):
                formatter.write_dl([(_name_with_aliases(f), f.summary) for f in FUNCTIONS.values() if f.group == group])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command for a name; for an unknown name, suggest similar ones."""
        name = args[0]
        if self.get_command(ctx, name) is None:
            from resources import examples

            close = find_likely_names(name, [*self.list_commands(ctx), *(example.name for example in examples())])
            hint = f"Did you mean {', '.join(close)}?" if close else "See kinetostat --help."
            ctx.fail(f"There is no command, file or example named '{name}'. {hint}")
        found, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            _refuse_lost_words(click.Context(command, parent=ctx, info_name=found), rest)
        return found, command, rest


def _refuse_lost_words(ctx: click.Context, arguments: list[str]) -> None:
    """Raise a usage error if an option that takes one value is given twice, as the last value would silently be used,
    or for arguments of a Xacro, which only the window and scripts take."""
    try:
        given, left, order = ctx.command.make_parser(ctx).parse_args(list(arguments))
    except click.UsageError:
        return  # the command itself says it
    found = [given.get(each.name) for each in ctx.command.params if isinstance(each, click.Argument) and each.name]
    words = [word for value in found for word in (value if isinstance(value, tuple) else (value,))]
    for word in (*left, *words):
        if _XACRO_ARGUMENT.match(str(word)):
            text = f"Commands take no arguments of a Xacro ({word}). Open the file with them (kinetostat FILE {word}), "
            raise click.UsageError(text + "save the model as .kst, and give that to the command.", ctx)
    options = [each for each in order if isinstance(each, click.Option) and not each.multiple and not each.is_eager]
    for option in options:
        if options.count(option) > 1:
            raise click.UsageError(f"{max(option.opts, key=len)} is given twice. Give it once.", ctx)


def _name_with_aliases(function: Function) -> str:
    """Return a function's name followed by its aliases."""
    return ", ".join([function.command, *(alias for alias, meant in ALIASES.items() if meant == function.id)])


def command_names() -> tuple[str, ...]:
    """Return the names of all sub-commands; with these the entry point tells a command from a file."""
    from core.functions import FUNCTIONS

    return (*COMMANDS, *ALIASES, *(function.command for function in FUNCTIONS.values()), *FUNCTIONS)


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from kinetostat import __version__

        say(f"Kinetostat {__version__}")
        ctx.exit()


def _register(ctx: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from app.cli.register import register, unregister

        (register if option.name == "register" else unregister)()
        ctx.exit()


@click.group(
    cls=LazyGroup,
    help=USAGE,
    epilog=HELP_ENDING,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
@click.option(
    "--register",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_register,
    help="Add Kinetostat to the desktop menu and open .kst files with it (for this user only).",
)
@click.option(
    "--unregister",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_register,
    help="Undo --register.",
)
def group() -> None:
    """Kinetostat on the command line."""


def cli(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code. Never shows a traceback."""
    _replace_unprintable_characters()
    try:
        code = group.main(arguments, prog_name="kinetostat", standalone_mode=False)
    except click.ClickException as error:
        error.message = escape_control_characters(error.message)
        error.show()
        return error.exit_code
    except click.exceptions.Abort:
        say("Stopped.", err=True)
        return 1
    except KinetostatError as error:
        say(f"Error: {error}", err=True)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, MemoryError, RecursionError) as error:
        say(f"Error: {error or type(error).__name__}", err=True)
        return 1
    except ImportError as error:
        if os.environ.get("KINETOSTAT_DEBUG"):
            raise
        from kinetostat import import_error_message

        say(f"Error: {import_error_message(error)}", err=True)
        return 1
    except Exception as error:
        if os.environ.get("KINETOSTAT_DEBUG"):
            raise
        say(
            f"Error: unexpected {type(error).__name__}: {error}. Please report this; KINETOSTAT_DEBUG=1 shows details.",
            err=True,
        )
        return 1
    return code if isinstance(code, int) else 0


def _replace_unprintable_characters() -> None:
    """Let output streams replace characters that the terminal cannot show instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
