"""Safe use of the library xacro: its expression evaluation and file reading are replaced.

The library keeps what it does well: macros, scopes, properties, includes, conditions. `install` changes the library
for the whole process, which is one of its own (`core.files.xacro.process`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from importlib import metadata
from typing import Any

import xacro
from xacro import substitution_args

from core.errors import FileError, join_words
from core.files.xacro.bounds import MAX_WEIGHT, BarredError, EvaluationBudget, TooLargeError, text_size
from core.files.xacro.callables import FUNCTIONS, MATHEMATICS, TYPES
from core.files.xacro.expressions import NameMapping, evaluate
from core.files.xacro.sources import SourceTexts, parse_xml, parse_yaml
from core.files.xacro.values import AllowedFunction, DottedDict, Namespace, with_dot_access

MAX_ELEMENTS = 100_000
"""Maximum number of elements created on the way; a humanoid takes some ten thousand."""
MAX_TEXT = 100_000_000
"""Maximum characters of all evaluated texts together."""
MAX_INCLUDES = 100
"""Maximum depth of nested includes."""

_REPLACED = {
    xacro: ("_global_symbols", "eval_all", "eval_text", "load_yaml", "parse", "safe_eval"),
    substitution_args: ("_eval", "_eval_find"),
}
"""Private names of the library that are replaced; tested with version 2.1.1, which `pyproject.toml` requires."""


def check_library_names() -> None:
    """Raise FileError if the library lacks a name that will be replaced."""
    if missing := [name for module, names in _REPLACED.items() for name in names if not hasattr(module, name)]:
        raise FileError(
            f"xacro {metadata.version('xacro')} has no {join_words(missing)}, which Kinetostat replaces.",
            remedy='Install a tested version: pip install "kinetostat[xacro]".',
        )


DOLLAR = "\ue000"
"""Placeholder for a literal $; expansion is repeated and would otherwise take the $ for the start of an expression."""
_ESCAPED = re.compile(r"\$(\$+[{(])")
_PIECE = re.compile(r"\$(?P<escaped>\$+[{(])|\$\{(?P<expression>[^}]*)\}|\$\((?P<command>[^)]*)\)|[^$]+|\$[^{($]+|\$$")


def keep_escapes() -> None:
    """Keep escape sequences as text in the library's own evaluation."""
    usual = xacro.eval_text

    def eval_text(text: str, symbols: Any) -> Any:
        return usual(_ESCAPED.sub(lambda found: found[1].replace("$", DOLLAR), text), symbols)

    xacro.eval_text = eval_text


class RefusedExpressionError(Exception):
    """Raised for an expression that is not evaluated, with its location."""

    def __init__(self, expression: str, error: BarredError | TooLargeError) -> None:
        self.expression, self.error = expression, error
        super().__init__(str(error))


class SafeLibrary:
    """Functions that replace the library's during one expansion, with their counters.

    file    : the file that is expanded
    find    : package → its folder
    sources : the texts read
    place   : file and line of the first expression that failed
    """

    def __init__(self, file: str, find: Callable[[str], str]) -> None:
        check_library_names()
        self.file, self.find = file, find
        self.sources = SourceTexts()
        self.place: tuple[str, int | None] | None = None
        self._budget = EvaluationBudget()
        self._elements = self._characters = 0
        self._eval_all = xacro.eval_all
        self._symbols = self._restrict_names(xacro._global_symbols, {**FUNCTIONS, **TYPES, **MATHEMATICS})

    def install(self) -> None:
        """Replace the library's functions by these."""
        ours: dict[Any, tuple[Any, ...]] = {
            xacro: (self._symbols, self.eval_all, self.eval_text, self.load_yaml, self.parse, self.safe_eval),
            substitution_args: (self.eval_command, self.find),
        }
        for module, names in _REPLACED.items():
            for name, replacement in zip(names, ours[module], strict=True):
                setattr(module, name, replacement)

    # ------------------------------------------------------------------------------- what names mean

    def _restrict_names(self, table: Any, safe_values: dict[str, Any]) -> dict[str, Any]:
        """Return the library's table of names with safe values; names without a safe value are forbidden."""
        own = {"math": MATHEMATICS, "xacro": self._xacro_namespace(), "python": {**FUNCTIONS, **TYPES}}
        closed: dict[str, Any] = {"True": True, "False": False}
        for name, meaning in table.items():
            if isinstance(meaning, xacro.NameSpace):
                closed[name] = xacro.NameSpace()
                closed[name].update(self._restrict_names(meaning, own.get(name, {})))
            elif name not in closed:
                closed[name] = safe_values.get(name, own["xacro"].get(name, _barred_function))
        return closed

    def _xacro_namespace(self) -> dict[str, Any]:
        """Return the content of the namespace `xacro.`."""
        functions: dict[str, Callable[..., Any]] = {
            "abs_filename": lambda name: xacro.abs_filename_spec(_check_is_string(name)),
            "arg": lambda name: xacro.substitution_args_context["arg"][name],
            "dotify": DottedDict,
            "fatal": _raise_fatal,
            "load_yaml": lambda filename: self.load_yaml(_check_is_string(filename)),
            "tokenize": lambda s, sep=",; ", skip_empty=True: xacro.tokenize(
                _check_is_string(s), _check_is_string(sep), skip_empty
            ),
            **dict.fromkeys(("error", "message", "print_location", "warning"), lambda *_, **__: ""),
        }
        return {name: AllowedFunction(name, run) for name, run in functions.items()}

    # ------------------------------------------------------------------------------- expressions

    def safe_eval(self, expression: str, names: Any, local: Any = None) -> Any:
        """Return the value of an expression."""
        return evaluate(expression, names if local is None else local, self._budget)

    def eval_text(self, text: str, symbols: Any) -> Any:
        """Return a text with its expressions and commands replaced by their values; a single expression keeps its
        type."""
        pieces: list[Any] = []
        position = size = 0
        while position < len(text):
            found = _PIECE.match(text, position)
            if found is None:
                raise xacro.XacroException("invalid expression: " + text[position:])
            pieces.append(self._evaluate_substitution(found, symbols))
            size += text_size(pieces[-1])
            position = found.end()
        self._characters += size
        if (len(pieces) > 1 and size > MAX_WEIGHT) or self._characters > MAX_TEXT:
            self._raise_with_expression(text, TooLargeError("the expression's text becomes too long"))
        return pieces[0] if len(pieces) == 1 else "".join(map(str, pieces))

    def _evaluate_substitution(self, match: re.Match[str], symbols: Any) -> Any:
        try:
            if (expression := match["expression"]) is not None:
                return self.safe_eval(self.eval_text(expression, symbols), symbols)
            if (command := match["command"]) is not None:
                return xacro.eval_extension(f"$({self.eval_text(command, symbols)})")
        except Exception as error:
            self._raise_with_expression(match[0], error)
        return match["escaped"].replace("$", DOLLAR) if match["escaped"] else match[0]

    def _raise_with_expression(self, expression: str, error: Exception) -> None:
        """Raise the error again, adding the expression and, the first time, its location."""
        within = error.exc if isinstance(error, xacro.XacroException) and error.exc is not None else error
        if self.place is None:
            self.place = self._find_location(expression)
        if isinstance(within, RefusedExpressionError | FileError | RecursionError | MemoryError):
            raise within
        if isinstance(within, BarredError | TooLargeError):
            raise RefusedExpressionError(expression, within) from None
        if expression.startswith("$("):
            raise error
        raise xacro.XacroException(exc=error, suffix=f"\nwhen evaluating expression '{expression[2:-1]}'") from None

    def _find_location(self, expression: str) -> tuple[str, int | None]:
        files = [macro.history[-1][-1] for macro in (xacro.macrostack or ())[-1:]] + (xacro.filestack or [])[-1:]
        named = [file or self.file for file in files] or [self.file]
        lines = ((file, self.sources.line(file, expression)) for file in named)
        return next(((file, line) for file, line in lines if line is not None), (named[-1], None))

    def eval_command(self, expression: str, context: Any) -> str:
        """Evaluate $(eval …), an expression in which the file's arguments are names."""
        if "__" in expression:
            raise BarredError("the expression contains a double underscore")
        return str(evaluate(expression, _ArgumentNames(context.get("arg", {}), self.find), self._budget))

    # ------------------------------------------------------------------------------- elements and files

    def eval_all(self, node: Any, macros: Any, symbols: Any) -> None:
        """Expand an element and its content."""
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise FileError(
                f"The file expands into more than {MAX_ELEMENTS:,} elements.",
                file=self.file,
                remedy="Look for macros that call each other again and again.",
            )
        self._eval_all(node, macros, symbols)

    def parse(self, text: Any, filename: str | None = None) -> Any:
        """Return the XML document of a text, or of an included file."""
        if text is not None:
            self.sources.store_text(self.file, text)
            return parse_xml(text, self.file)
        file = str(filename)
        if len(xacro.filestack) > MAX_INCLUDES:
            raise FileError(
                f"Files include each other more than {MAX_INCLUDES} deep.",
                file=file,
                remedy="Look for a file that includes itself.",
            )
        try:
            return parse_xml(self.sources.text(file), file)
        except FileError as error:
            if _file_exists(file):
                raise
            xacro.filestack.pop()  # as the library does, which passes over optional files
            raise xacro.XacroException(f"{file}: {error.what}", exc=OSError()) from None

    def load_yaml(self, filename: str) -> Any:
        """Return the content of a YAML file, accessible with dots."""
        file = xacro.abs_filename_spec(filename)
        units = {
            each.value.tag: partial(self._convert_to_si, each.value.conversion_constant)
            for each in xacro.ConstructUnits
        }
        xacro.filestack.append(file)
        found = with_dot_access(parse_yaml(self.sources.text(file), units, file))
        xacro.filestack.pop()
        xacro.all_includes.append(file)
        return found

    def _convert_to_si(self, factor: float, text: str) -> float:
        return float(self.safe_eval(text, self._symbols)) * factor


def _barred_function(*_: Any, **__: Any) -> Any:
    """Substitute for library functions that expressions may not call; raises BarredError."""
    raise BarredError("the expression calls a function that is not allowed")


def _environment_variable(name: str) -> str:
    """Return an environment variable, which must exist."""
    try:
        return os.environ[name]
    except KeyError:
        raise substitution_args.SubstitutionException(f"environment variable {name!r} is not set") from None


class _ArgumentNames(NameMapping):
    """Mapping of names in $(eval …) to values."""

    def __init__(self, arguments: Any, find: Callable[[str], str]) -> None:
        self._arguments = arguments
        self._functions = {
            "true": True,
            "false": False,
            **FUNCTIONS,
            **TYPES,
            **MATHEMATICS,
            "arg": AllowedFunction("arg", lambda name: substitution_args.convert_value(arguments[name], "auto")),
            "env": AllowedFunction("env", _environment_variable),
            "find": AllowedFunction("find", find),
            "optenv": AllowedFunction("optenv", lambda name, default="": os.environ.get(name, default)),
        }

    def __getitem__(self, name: str) -> Any:
        if name in self._functions:
            return self._functions[name]
        return substitution_args.convert_value(self._arguments[name], "auto")


def _raise_fatal(*words: Any) -> None:
    raise xacro.XacroException(" ".join(map(str, words)))


def _check_is_string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a string is needed, not {type(value).__name__}")
    return value


def _file_exists(file: str) -> bool:
    from pathlib import Path

    try:
        return Path(file).exists()
    except (OSError, ValueError):
        return False


Namespace.register(xacro.NameSpace)
