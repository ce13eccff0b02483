"""Robotica's command line: executes calls, assignments and expressions on the open machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from core.errors import ExpressionError, KinetostatError, suggest_names
from core.files.mathematica.meaning import CONSTANTS, evaluate_number, format_for_message, format_tree
from core.files.mathematica.syntax import (
    FUNCTION_NAMES,
    FUNCTIONS,
    Call,
    LeftRightPair,
    ListExpression,
    Name,
    Statement,
    Tree,
    error_at,
    iterate_statements,
    replace_names,
    set_error_position,
)
from core.functions.context import Cancelled
from core.functions.results import Message, Result
from core.robotica.animations import find_animation
from core.robotica.commands import COMMANDS
from core.robotica.workspace import SessionHost, Workspace


class Session(Workspace):
    """Command-line session that executes statements and keeps the state between them."""

    def __init__(self, host: SessionHost) -> None:
        super().__init__(host, COMMANDS)

    def run(self, source: str) -> list[Result]:
        """Run the statements of a text; return their results in order.

        Raises KinetostatError (what came before has been done).
        """
        return list(self.iterate_results(source))

    def iterate_results(self, source: str, is_cancelled: Callable[[], bool] = lambda: False) -> Iterator[Result]:
        """Run the statements of a text and yield their results one by one. At the first mistake an error is raised that
        states its position.

        is_cancelled : asked before each statement. Raises KinetostatError.
        """
        try:
            for statement in iterate_statements(source):
                if is_cancelled():
                    raise Cancelled
                result = self.run_statement(statement)
                if result is not None:
                    yield result
        except KinetostatError as error:
            if "\n" not in source.strip() and not error.file:
                error.line = None  # there is but one
            raise

    def run_statement(self, statement: Statement) -> Result | None:
        """Run one statement; return its result, None if a semicolon suppresses it."""
        try:
            result = self.evaluate_tree(statement.tree)
        except Cancelled:
            raise
        except KinetostatError as error:
            if error.line is None and not error.file:
                error.line = statement.line
            raise
        return None if statement.silent else result

    def evaluate_tree(self, tree: Tree) -> Result:
        """Evaluate a call, an assignment or an expression."""
        named = isinstance(tree, Name) and tree.name in self.state.lists
        if self.state.lists and not (isinstance(tree, Call) and tree.head.name in _OF_NAMES):
            label, tree = format_tree(tree), replace_names(tree, self.state.lists)
            if named:
                return Message(title="List", text=f"{label} = {format_tree(tree)}")
        if isinstance(tree, LeftRightPair) and tree.operator == "=":
            return self.assign(tree)
        if isinstance(tree, Call) and tree.head.name in COMMANDS and not tree.head.primes:
            command = COMMANDS[tree.head.name]
            return self.keep_animation(command.run(self, *command.convert_arguments(tree)))
        if isinstance(tree, Call) and tree.head.name not in _SHOWN and tree.head.name not in FUNCTIONS:
            from core.robotica.expressions import check_misspelt_function

            check_misspelt_function(self, tree.head)
            if tree.head.name[:1].isupper():
                raise error_at(
                    tree, f"There is no function '{tree.head.name}'.", suggest_names(tree.head.name, COMMANDS)
                )
        return self.show_expression(tree)

    def keep_animation(self, result: Result) -> Result:
        """Store an animation contained in the result for ShowAnim and SaveAnim; return the result."""
        self.state.animation = find_animation(result) or self.state.animation
        return result

    def assign(self, tree: LeftRightPair) -> Result:
        """Assign a value to a symbol (d3 = 5) or a list to a name (simlist = {q1, q2})."""
        if not isinstance(tree.left, Name) or tree.left.primes:
            raise error_at(tree, f"'{format_for_message(tree.left)}' cannot be given a value.", "Write name = number.")
        if tree.left.name in _PROTECTED and tree.left.name not in self.machine_symbols:
            raise error_at(
                tree, f"'{tree.left.name}' is a reserved name and cannot be given a value.", "Use another name."
            )
        if isinstance(tree.right, ListExpression):
            self.state.lists[tree.left.name] = tree.right
            return Message(title="List", text=f"{tree.left.name} = {format_tree(tree.right)}")
        amount = evaluate_number(tree.right, self.symbol_value)
        self.state.lists.pop(tree.left.name, None)
        self.state.given[tree.left.name] = self.state.valued[tree.left.name] = amount
        return Message(title="Value", text=f"{tree.left.name} = {amount:g}")

    def show_expression(self, tree: Tree) -> Result:
        """Show a matrix or entry such as T[0,1], M, M[1,1], or else the short form or value of an expression."""
        from core.functions.results import Formulas
        from core.robotica.expressions import find_matrix, is_printed_sine, short_forms

        found = find_matrix(self, tree)
        if found is not None:
            return found
        if isinstance(tree, Name) and not tree.primes and not is_printed_sine(self, tree):
            return Message(title="Value", text=self._describe_value(tree))
        return Formulas(title=format_tree(tree), label=format_tree(tree), entries=short_forms(self, tree))

    def _describe_value(self, tree: Name) -> str:
        """Describe the value of a symbol and whether it is only assumed. Raises ExpressionError."""
        name = tree.name
        try:
            amount = CONSTANTS[name] if name in CONSTANTS else self.symbol_value(name)
        except ExpressionError as error:
            from core.robotica.expressions import check_misspelt_function

            check_misspelt_function(self, tree)
            set_error_position(error, tree)
            raise
        assumed = name not in self.state.given and name in self.host.context().assumed
        return f"{name} = {amount:g}" + (" (assumed)" if assumed else "")


_OF_NAMES = ("Clear", "Help")
"""Functions whose arguments are names, which are not replaced by the lists assigned to them."""
_RESULTS = ("A", "T", "J", "M", "MU", "CM", "C", "G", "c", "Jvc", "Jwc", "tau", "K", "P", "R", "z", "o")
_SHOWN = {*_RESULTS, "Transpose"}
"""Names that are not functions of Robotica but can be displayed or computed."""
_PROTECTED = {*_RESULTS, *CONSTANTS, *FUNCTION_NAMES, "t", "Transpose"}
"""Reserved names, besides those of Robotica's functions."""
