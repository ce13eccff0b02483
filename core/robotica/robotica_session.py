"""Robotica's command line: runs calls, assignments and expressions on the open machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from core.errors import ExpressionError, KinetostatError, near_misses
from core.files.mathematica.meaning import CONSTANTS, number, said, shown
from core.files.mathematica.syntax import (
    FUNCTION_NAMES,
    FUNCTIONS,
    Call,
    Items,
    Name,
    Pair,
    Statement,
    Tree,
    place,
    refused,
    statements,
    with_names_replaced,
)
from core.functions.context import Cancelled
from core.functions.results import Message, Result
from core.robotica.animations import animation_of
from core.robotica.commands import COMMANDS
from core.robotica.workspace import Host, Workspace


class Session(Workspace):
    """Command-line session that runs statements and keeps the state between them."""

    def __init__(self, host: Host) -> None:
        super().__init__(host, COMMANDS)

    def run(self, source: str) -> list[Result]:
        """Run the statements of a text; return their results in order.

        Raises KinetostatError (what came before has been done).
        """
        return list(self.results(source))

    def results(self, source: str, cancelled: Callable[[], bool] = lambda: False) -> Iterator[Result]:
        """Run the statements of a text and yield their results one by one; the error of the first mistake states its
        position.

        cancelled : asked before each statement. Raises KinetostatError.
        """
        try:
            for statement in statements(source):
                if cancelled():
                    raise Cancelled
                result = self.statement(statement)
                if result is not None:
                    yield result
        except KinetostatError as error:
            if "\n" not in source.strip() and not error.file:
                error.line = None  # there is but one
            raise

    def statement(self, statement: Statement) -> Result | None:
        """Run one statement; return its result, None if a semicolon suppresses it."""
        try:
            result = self.tree(statement.tree)
        except Cancelled:
            raise
        except KinetostatError as error:
            if error.line is None and not error.file:
                error.line = statement.line
            raise
        return None if statement.silent else result

    def tree(self, tree: Tree) -> Result:
        """Evaluate a call, an assignment or an expression."""
        named = isinstance(tree, Name) and tree.name in self.state.lists
        if self.state.lists and not (isinstance(tree, Call) and tree.head.name in _OF_NAMES):
            label, tree = shown(tree), with_names_replaced(tree, self.state.lists)
            if named:
                return Message(title="List", text=f"{label} = {shown(tree)}")
        if isinstance(tree, Pair) and tree.operator == "=":
            return self.assign(tree)
        if isinstance(tree, Call) and tree.head.name in COMMANDS and not tree.head.primes:
            command = COMMANDS[tree.head.name]
            return self.keep_animation(command.run(self, *command.given(tree)))
        if isinstance(tree, Call) and tree.head.name not in _SHOWN and tree.head.name not in FUNCTIONS:
            from core.robotica.expressions import refuse_unknown_name

            refuse_unknown_name(self, tree.head)
            if tree.head.name[:1].isupper():
                raise refused(tree, f"There is no function '{tree.head.name}'.", near_misses(tree.head.name, COMMANDS))
        return self.shown(tree)

    def keep_animation(self, result: Result) -> Result:
        """Keep an animation in the result for ShowAnim and SaveAnim; return the result."""
        self.state.animation = animation_of(result) or self.state.animation
        return result

    def assign(self, tree: Pair) -> Result:
        """Assign a value to a symbol, d3 = 5, or a name to a list, simlist = {q1, q2}."""
        if not isinstance(tree.left, Name) or tree.left.primes:
            raise refused(tree, f"'{said(tree.left)}' cannot be given a value.", "Write name = number.")
        if tree.left.name in _PROTECTED and tree.left.name not in self.own_symbols:
            raise refused(
                tree, f"'{tree.left.name}' is a reserved name and cannot be given a value.", "Use another name."
            )
        if isinstance(tree.right, Items):
            self.state.lists[tree.left.name] = tree.right
            return Message(title="List", text=f"{tree.left.name} = {shown(tree.right)}")
        amount = number(tree.right, self.value_of)
        self.state.lists.pop(tree.left.name, None)
        self.state.given[tree.left.name] = self.state.valued[tree.left.name] = amount
        return Message(title="Value", text=f"{tree.left.name} = {amount:g}")

    def shown(self, tree: Tree) -> Result:
        """Return a matrix or entry such as T[0,1], M, M[1,1], else the short form or value of an expression."""
        from core.functions.results import Formulas
        from core.robotica.expressions import forms_of, is_printed_sine, matrix_of

        found = matrix_of(self, tree)
        if found is not None:
            return found
        if isinstance(tree, Name) and not tree.primes and not is_printed_sine(self, tree):
            return Message(title="Value", text=self._value_in_words(tree))
        return Formulas(title=shown(tree), label=shown(tree), entries=forms_of(self, tree))

    def _value_in_words(self, tree: Name) -> str:
        """Describe the value of a symbol, marked if it is only assumed. Raises ExpressionError."""
        name = tree.name
        try:
            amount = CONSTANTS[name] if name in CONSTANTS else self.value_of(name)
        except ExpressionError as error:
            from core.robotica.expressions import refuse_unknown_name

            refuse_unknown_name(self, tree)
            place(error, tree)
            raise
        assumed = name not in self.state.given and name in self.host.context().assumed
        return f"{name} = {amount:g}" + (" (assumed)" if assumed else "")


_OF_NAMES = ("Clear", "Help")
"""Functions whose arguments are the names themselves, not the lists assigned to them."""
_RESULTS = ("A", "T", "J", "M", "MU", "CM", "C", "G", "c", "Jvc", "Jwc", "tau", "K", "P", "R", "z", "o")
_SHOWN = {*_RESULTS, "Transpose"}
"""Names that are not functions of Robotica but can be displayed or computed."""
_PROTECTED = {*_RESULTS, *CONSTANTS, *FUNCTION_NAMES, "t", "Transpose"}
"""Reserved names, besides those of Robotica's functions."""
