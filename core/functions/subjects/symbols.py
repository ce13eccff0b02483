"""Functions that derive equations in symbolic form; results appear while they are computed, and a time limit keeps
those that are finished."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from core.errors import KinetostatError
from core.functions.context import Cancelled, Context
from core.functions.function import Function, needs_motion
from core.functions.options import Choice, Flag, FrameName, Integer, Number, OutputFile, Text
from core.functions.results import Formulas, Message, Report, Result
from core.functions.subjects.robot_formulas import (
    NAMES,
    compute_formulas,
    describe_formulas,
    needs_open_chain,
    symbolic_robot,
)

if TYPE_CHECKING:
    from core.symbolic.robot import Robot

SHOW_EVERY = 0.3
"""Least time in seconds between two updates of the partial report."""
WAITING = "…"
"""Placeholder of an entry that is not computed yet."""


class TimeLimitReached(KinetostatError):
    """Raised when the time limit has passed."""

    def __init__(self) -> None:
        super().__init__("The time limit has passed.")


class GrowingReport:
    """Report that collects symbolic results of a robot one by one and shows them as they are computed.

    seconds : time for all of it; total : how many results there will be
    """

    def __init__(self, context: Context, robot: Robot, title: str, seconds: float, total: int) -> None:
        self._context, self._robot = context, robot
        self._title, self._seconds, self._total = title, seconds, total
        self._until = time.monotonic() + seconds
        self._shown = time.monotonic()
        self.parts: list[Result] = []
        self.out_of_time = False
        robot.chain.watch = self._check_time_limit

    def _check_time_limit(self) -> None:
        """Stop the computation between two entries if it is cancelled or the time limit has passed."""
        if self._context.cancelled():
            raise Cancelled
        if time.monotonic() > self._until:
            raise TimeLimitReached

    def add(self, what: str, *indices: int, done: int = 0) -> Formulas | None:
        """Compute one more result and append it to the report; `done_count` results precede it. Returns None once the
        time limit has passed."""
        if self.out_of_time:
            return None
        self._context.step(done, self._total, f"{what} …")
        rows: list[tuple[Any, ...]] = []
        count = self._robot.height(what)
        try:
            for row in self._robot.rows(what, *indices):
                rows.append(row)
                self._report_finished_rows(what, indices, rows, count, done)
            found = compute_formulas(self._robot, what, *indices)
        except TimeLimitReached:
            self._keep_unfinished(what, indices, rows, count)
            return None
        self.parts.append(found)
        self._show_progress(done + 1)
        return found

    def _report_finished_rows(
        self, result_name: str, indices: tuple[int, ...], rows: list[tuple[Any, ...]], count: int, done: int
    ) -> None:
        """Report the progress of a result, and show its finished rows from time to time."""
        self._context.step(
            round(100 * (done + len(rows) / count)), 100 * self._total, f"{result_name} {len(rows)}/{count}"
        )
        if len(rows) < count and time.monotonic() > self._shown + SHOW_EVERY:
            self._show_progress(done, self._unfinished_formulas(result_name, indices, rows, count))

    def _unfinished_formulas(
        self, result_name: str, indices: tuple[int, ...], rows: list[tuple[Any, ...]], count: int
    ) -> Formulas:
        from core.symbolic.forms import Symbol

        missing = (Symbol(WAITING),) * len(rows[0]) if rows else (Symbol(WAITING),)
        return describe_formulas(self._robot, result_name, indices, (*rows, *[missing] * (count - len(rows))))

    def _show_progress(self, done_count: int, *further_results: Result) -> None:
        self._shown = time.monotonic()
        if done_count < self._total:
            self._context.show(Report(title=self._title, parts=(*self.parts, *further_results)))

    def _keep_unfinished(
        self, result_name: str, indices: tuple[int, ...], rows: list[tuple[Any, ...]], count: int
    ) -> None:
        self.out_of_time = True
        if rows:
            self.parts.append(self._unfinished_formulas(result_name, indices, rows, count))
        words = (
            f"The time limit of {self._seconds:g} s passed in {result_name}, after {len(rows)} of {count} rows. "
            f"Allow more "
            "time (finished results are kept, so it continues from here), use fewer symbols, or write the recursion as "
            "code (Write equations)."
        )
        self.parts.append(Message(text=words, severity="warning"))

    def build_report(self) -> Report:
        """Return a report of everything computed so far."""
        return Report(title=self._title, parts=tuple(self.parts))

    def final_result(self) -> Result:
        """Return the single result itself, or a report if there are several or the time limit has passed."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Formulas):
            return self.parts[0]
        return self.build_report()


def derive(
    context: Context,
    what: str,
    i: int,
    j: int,
    k: int,
    symbols: str,
    tip: str,
    recognise: bool,
    seconds: float,
    notation: str,
) -> Result:
    """Derive one result in symbolic form."""
    set_notation(notation)
    robot = symbolic_robot(context, tip, symbols, recognise)
    growing = GrowingReport(context, robot, NAMES[what], seconds, 1)
    growing.add(what, *select_indices(robot, what, i, j, k))
    return growing.final_result()


def select_indices(robot: Robot, what: str, i: int, j: int, k: int) -> tuple[int, ...]:
    """Return the indices that a result takes; T(1, 1) means T(0, n)."""
    if what == "T" and (i, j) == (1, 1):
        return 0, robot.n
    return (i, j, k)[: INDEXED.get(what, 0)]


def forward_kinematics(context: Context, symbols: str, tip: str, recognise: bool, notation: str) -> Result:
    """Derive all A_i, T(0, i) and the Jacobian."""
    set_notation(notation)
    robot = symbolic_robot(context, tip, symbols, recognise)
    growing = GrowingReport(context, robot, "Forward kinematics in symbols", math.inf, 2 * robot.n + 1)
    for index in range(1, robot.n + 1):
        growing.add("A", index, done=2 * index - 2)
        growing.add("T", 0, index, done=2 * index - 1)
    growing.add("J", done=2 * robot.n)
    return growing.build_report()


def euler_lagrange(
    context: Context, symbols: str, christoffel: bool, tip: str, recognise: bool, seconds: float, notation: str
) -> Result:
    """Derive potential energy, M, C and G, and the Christoffel symbols if requested."""
    set_notation(notation)
    robot = symbolic_robot(context, tip, symbols, recognise)
    wanted: list[tuple[Any, ...]] = [("P",), ("M",), ("C",), ("G",)]
    if christoffel:
        n = robot.n
        wanted += [("c", a, b, c) for c in range(1, n + 1) for a in range(1, n + 1) for b in range(1, a + 1)]
    growing = GrowingReport(context, robot, "Euler–Lagrange equations", seconds, len(wanted))
    for done, (what, *indices) in enumerate(wanted):
        part = growing.add(what, *indices, done=done)
        if what == "c" and part is not None and _is_zero(part):
            growing.parts.pop()
    return growing.build_report()


def _is_zero(entry: Formulas) -> bool:
    from core.symbolic.forms import ZERO

    return all(form == ZERO for row in entry.entries for form in row)


def write_equations(
    context: Context,
    what: str,
    i: int,
    j: int,
    k: int,
    language: str,
    label: str,
    file: str,
    symbols: str,
    tip: str,
    notation: str,
) -> Result:
    """Write a result in a programming or typesetting language, appended to a file if one is named."""
    from core.symbolic.export import export

    set_notation(notation)
    robot = symbolic_robot(context, tip, symbols, True)
    indices = select_indices(robot, what, i, j, k)
    if language in ("recursion in Python", "recursion in C"):
        from core.symbolic.recursion_code import build_recursion, write_code

        text = write_code(build_recursion(robot, what), "c" if language.endswith("C") else "python", label)
    else:
        text = export(robot, what, *indices, language=language, label=label)
    if file:
        append_to_file(file, text)
        return Message(title="Write equations", text=f"Appended {what} to {file}.")
    return Message(title="Write equations", text=text, severity="done")


def append_to_file(file: str, text: str) -> None:
    """Append text to a file. Raises FileError if the file cannot be written."""
    from core.files.source import append_atomically

    append_atomically(file, text if text.endswith("\n") else text + "\n")


def simplify(context: Context, expression: str, notation: str) -> Result:
    """Simplify a typed expression."""
    set_notation(notation)
    from core.symbolic.factoring import simplify_text

    form = simplify_text(expression)
    return Formulas(title="Simplified expression", label="result", entries=((form,),))


def set_notation(notation: str) -> None:
    """Set how sines and cosines are written in all later results: "short" C12, "full" cos(q1 + q2); "as set" changes
    nothing."""
    from core.symbolic.notation import set_short_trig

    if notation != "as set":
        set_short_trig(notation == "short")


def trig_notation(context: Context, notation: str) -> Result:
    """Choose how sines and cosines are written in all later results."""
    from core.symbolic.notation import uses_short_trig

    set_notation(("full" if uses_short_trig() else "short") if notation == "the other" else notation)
    shown = "C1 for cos(q1), S12 for sin(q1 + q2)" if uses_short_trig() else "cos(q1), sin(q1 + q2) in full"
    return Message(title="Notation of sines and cosines", text=f"From now on results show {shown}.")


NOTATION = Choice(
    "notation",
    "Notation",
    "short: C12; full: cos(q1 + q2); also applies to later results",
    "as set",
    ("as set", "short", "full"),
)
SYMBOLS = Text(
    "symbols",
    "Symbols",
    "named: the model's parameters stay symbols; all: every length, mass, centre of mass and inertia "
    "becomes a symbol; none; or names separated by commas",
    "named",
    joined=", ",
)
TIP = FrameName("tip", "Tip", "Body or frame at the end of the chain; empty: the tool")
SECONDS = Number(
    "seconds", "Time limit", "Time limit, s; results computed by then are shown", 120.0, "time", minimum=0.01
)
RECOGNISE = Flag(
    "recognise",
    "Recognise numbers",
    "Replace numbers that are close to multiples of π or to simple fractions by these",
    True,
)
INDEXED = {"A": 1, "T": 2, "Jvc": 1, "Jwc": 1, "c": 3, "Ki": 1, "Pi": 1}
"""Names of the indices, by result that has indices."""


def _index_option(name: str, order: int, help: str) -> Integer:
    takers = tuple(what for what, count in INDEXED.items() if count >= order)
    words = f"{help}; of {', '.join(takers)}"
    return Integer(name, f"Index {name}", words, 1, minimum=0, maximum=99, only=("what", takers))


_I = _index_option("i", 1, "First index: joint or link, counted from 1, or frame, counted from 0")
_J = _index_option("j", 2, "Second index")
_K = _index_option("k", 3, "Third index")
_TITLES = {name: f"{name}: {title}" for name, title in NAMES.items()} | {"bias": "bias: C q̇ + G"}
_WHAT = Choice("what", "Result", "; ".join(f"{n}: {t}" for n, t in NAMES.items()), "M", tuple(NAMES), _TITLES)
LANGUAGES = (
    "text",
    "elements",
    "latex",
    "mathematica",
    "python",
    "c",
    "sympy",
    "recursion in Python",
    "recursion in C",
)

FUNCTIONS = (
    Function(
        "derive",
        "Derive in symbols",
        "Symbols",
        "One symbolic result of the robot: A, T, Jacobian, mass matrix, Christoffel symbols, C, gravity, "
        "equations of motion or an energy.\n\n"
        "The recursive algorithms of the numerical kernel are evaluated with exact polynomials; angle sums "
        "of parallel axes are combined (C12) and common factors are extracted. Each result is compared with "
        "the compiled kernel over random states. T(0, n) is shown for i = j = 1.",
        derive,
        (_WHAT, _I, _J, _K, SYMBOLS, TIP, RECOGNISE, SECONDS, NOTATION),
        (needs_motion, needs_open_chain),
        robotica="FKin, ELDynamics",
        reads="machine",
    ),
    Function(
        "symbolic_kinematics",
        "Forward kinematics in symbols",
        "Symbols",
        "All A matrices, the T matrices from frame 0, and the Jacobian, in symbols.\n\nRows of J are [v; ω] of the tip "
        "in the axes of frame 0, as in Robotica.",
        forward_kinematics,
        (SYMBOLS, TIP, RECOGNISE, NOTATION),
        (needs_motion, needs_open_chain),
        robotica="FKin",
        reads="machine",
    ),
    Function(
        "symbolic_dynamics",
        "Euler–Lagrange dynamics in symbols",
        "Symbols",
        "Potential energy, mass matrix M, C matrix from Christoffel symbols, and gravity vector G, simplified.\n\n"
        "M q̈ + C q̇ + G = τ; Ṁ − 2C is skew-symmetric.",
        euler_lagrange,
        (
            SYMBOLS,
            Flag("christoffel", "Christoffel symbols", "Also list the Christoffel symbols that are not zero", False),
            TIP,
            RECOGNISE,
            SECONDS,
            NOTATION,
        ),
        (needs_motion, needs_open_chain),
        robotica="ELDynamics",
        reads="machine",
        also=("equations of motion", "EOM", "Lagrange", "Coriolis", "Christoffel"),
    ),
    Function(
        "write_equations",
        "Write equations",
        "Symbols",
        "A result as plain text, LaTeX, Mathematica, a Python or C function, or SymPy source; appended to a "
        "file if one is given.\n\n"
        "For robots with many joints the recursion is much shorter code; it is available for tau, M, G and "
        "bias.",
        write_equations,
        (
            Choice("what", "Result", "Result to write", "M", (*NAMES, "bias"), _TITLES),
            _I,
            _J,
            _K,
            Choice(
                "language",
                "Language",
                "Language in which the result is written",
                "text",
                LANGUAGES,
                {"latex": "LaTeX", "sympy": "SymPy"},
            ),
            Text("label", "Label", "Name given to the result; empty: its own name"),
            OutputFile(
                "file",
                "File",
                "File to which the result is appended; empty: none",
                suffixes=(".txt", ".tex", ".py", ".c", ".m", ".nb"),
            ),
            SYMBOLS,
            TIP,
            NOTATION,
        ),
        (needs_motion, needs_open_chain),
        robotica="MPrint, EPrint, CPrint, APrint, TPrint",
        reads="machine",
    ),
    Function(
        "simplify_expression",
        "Simplify expression",
        "Symbols",
        "The short form of a typed expression: angle sums combined, s² + c² = 1 applied, common factors "
        "extracted.\n\n"
        "Sin[q1] Cos[q2] + Cos[q1] Sin[q2] becomes S12.",
        simplify,
        (
            Text("expression", "Expression", "Expression in Robotica's or ordinary notation", "Sin[q1]^2 + Cos[q1]^2"),
            NOTATION,
        ),
        robotica="SimplifyExpression",
        reads="nothing",
    ),
    Function(
        "trig_notation",
        "Notation of sines and cosines",
        "Symbols",
        "Notation of results: C1 and S12, or cos(q1) and sin(q1 + q2).\n\n"
        "It applies to all later results: on cards, as text, as LaTeX and in files. Code is always written "
        "in full.",
        trig_notation,
        (
            Choice(
                "notation",
                "Notation",
                "short: C12; full: cos(q1 + q2); the other: switch between these two",
                "the other",
                ("the other", "short", "full"),
            ),
        ),
        robotica="SimplifyTrigNotation",
        reads="nothing",
    ),
)
