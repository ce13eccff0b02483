"""Declaration of a function of Robotica's language, from which argument checks, help, completion and input form are
generated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from core.errors import suggest_names
from core.files.mathematica import meaning
from core.files.mathematica.syntax import (
    Call,
    LeftRightPair,
    ListExpression,
    Name,
    Number,
    QuotedString,
    Tree,
    error_at,
)
from core.later import dataclass

if TYPE_CHECKING:
    from core.functions.results import Result

Kind = Literal["text", "read", "write", "entry", "list", "number", "names", "options"]
"""Kind of an argument. text: label or name; read, write: a file; entry: matrix, entry or variable as written; list:
braces are added; names: several arguments, separated by commas; options: words and rules."""
QUOTED = ("text", "read", "write")
_NOTHING = (ListExpression(()), QuotedString(""))
_KINDS = {"text": "file", "number": "number"}


@dataclass(frozen=True)
class OptionWord:
    """Word in an option list: plain (`scale`); a rule `file -> "m.txt"` if `value` is text or number; a bare number if
    `bare`. `default` describes the behaviour without it, according to the manual."""

    name: str
    help: str
    value: Literal["", "text", "number"] = ""
    bare: bool = False
    default: str = ""

    def written(self, value: str | bool) -> str:
        """Format the option for the option list; "" if it is not chosen."""
        if not value:
            return ""
        if self.value == "":
            return self.name
        text = add_quotes(str(value)) if self.value == "text" else str(value).strip()
        return text if self.bare else f"{self.name} -> {text}"


@dataclass(frozen=True)
class Argument:
    """Argument of a function. `default` is the initial text in the input form; `example` is a hint for an argument that
    may stay empty."""

    id: str
    title: str
    kind: Kind
    help: str = ""
    needed: bool = False
    default: str = ""
    example: str = ""
    words: tuple[OptionWord, ...] = ()

    def written(self, value: Any) -> str:
        """Format the argument for the call; "" if it is omitted. `value` is text or, for options, a mapping word →
        value."""
        if self.kind == "options":
            found = [word.written(value.get(word.name, "")) for word in self.words] if value else []
            return "{" + ", ".join(text for text in found if text) + "}" if any(found) else ""
        text = str(value or "").strip()
        if not text or self.kind not in (*QUOTED, "list"):
            return text
        return add_braces(text) if self.kind == "list" else add_quotes(text)

    @property
    def empty_placeholder(self) -> str:
        """Placeholder for an argument that is omitted before a later one."""
        return '""' if self.kind in QUOTED else "{}"


@dataclass(frozen=True)
class Command:
    """Function of Robotica's command line. `usage` is an example as written in the manual."""

    name: str
    usage: str
    help: str
    run: Callable[..., Result]
    arguments: tuple[Argument, ...] = ()

    @property
    def min_arguments(self) -> int:
        """Smallest number of arguments."""
        return sum(argument.needed for argument in self.arguments)

    @property
    def max_arguments(self) -> float:
        """Largest number of arguments."""
        return float("inf") if any(a.kind == "names" for a in self.arguments) else len(self.arguments)

    @property
    def argument_count_text(self) -> str:
        """Allowed number of arguments in words."""
        few, most = self.min_arguments, self.max_arguments
        if most == 0:
            return "no argument"
        if most == float("inf"):
            return f"{few} or more arguments"
        return f"{few} argument{'s' * (few != 1)}" if few == most else f"{few} to {most} arguments"

    @property
    def signature(self) -> str:
        """Signature such as RElp[ranges, options], optional arguments in angle brackets."""
        return f"{self.name}[{', '.join(a.id if a.needed else f'‹{a.id}›' for a in self.arguments)}]"

    @property
    def option_words(self) -> tuple[OptionWord, ...]:
        """Words that the option list may contain."""
        return tuple(word for argument in self.arguments for word in argument.words)

    @property
    def help_text(self) -> str:
        """Complete help text."""
        lines = [self.help, f"For example  {self.usage}"]
        for argument in self.arguments:
            lines += [f"  {argument.id:10s} {argument.title}. {argument.help}".rstrip()]
            lines += [f"    {word.name:10s} {word.help}" for word in argument.words]
        return "\n".join([self.signature, *lines])

    def line(self, values: Mapping[str, Any]) -> str:
        """Return the call for values entered in the input form (`values`: by id of the argument), with braces and
        quotation marks added."""
        parts = [argument.written(values.get(argument.id, "")) for argument in self.arguments]
        while parts and not parts[-1]:
            parts.pop()
        filled = [part or argument.empty_placeholder for part, argument in zip(parts, self.arguments, strict=False)]
        return f"{self.name}[{', '.join(filled)}]"

    def convert_arguments(self, call: Call) -> tuple[Tree | None, ...]:
        """Convert the arguments of a call to those of the function; {} and "" become None for optional arguments.

        Raises ExpressionError if they are too few or too many, or an option is not known.
        """
        trees = call.arguments
        if not self.min_arguments <= len(trees) <= self.max_arguments:
            raise error_at(
                call, f"{self.name} takes {self.argument_count_text}, {len(trees)} given.", f"Write {self.usage}."
            )
        for argument, tree in zip(self.arguments, trees, strict=False):
            if argument.kind == "options":
                self._check_options(argument, tree)
        optional = [not argument.needed for argument in self.arguments] + [False] * len(trees)
        return tuple(None if leave and tree in _NOTHING else tree for leave, tree in zip(optional, trees, strict=False))

    def _check_options(self, argument: Argument, tree: Tree) -> None:
        """Check that the function accepts every word of an option list."""
        known = {word.name: word for word in argument.words}
        bare = any(word.bare and word.value == "number" for word in argument.words)
        for item in meaning.list_items(tree):
            name = _option_name(item)
            if (name is not None and name not in known) or (isinstance(item, Number) and not bare):
                raise error_at(
                    item,
                    f"{self.name} has no option '{meaning.format_for_message(item)}'.",
                    suggest_names(name or "", sorted(known)),
                )
            if name is not None:
                self._check_rule_value(item, known[name])

    def _check_rule_value(self, item: Tree, option: OptionWord) -> None:
        """Check that a rule has the kind of value that its word takes; xprint may omit it, since it has a default
        file."""
        value = item.right if isinstance(item, LeftRightPair) else None
        example = {"text": '"name"', "number": "0.5", "": ""}[option.value]
        if option.value == "" and value is not None:
            raise error_at(item, f"'{option.name}' takes no value.", f"Write only {option.name}.")
        lacking = value is None and option.value != "" and option.name != "xprint"
        if lacking or (option.value == "text" and value is not None and not isinstance(value, QuotedString | Name)):
            raise error_at(
                item,
                f"'{meaning.format_for_message(item)}' is not a {_KINDS[option.value]}.",
                f"Write {option.name} -> {example}.",
            )


def _option_name(item: Tree) -> str | None:
    if isinstance(item, LeftRightPair):
        item = item.left
    return item.name if isinstance(item, Name) else None


def add_quotes(text: str) -> str:
    """Enclose a string in quotation marks unless it has them."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def add_braces(text: str) -> str:
    """Enclose a list in outer braces unless it has them, such as "{1, 2}, {3, 4}"."""
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return text if letter == "}" and k == len(text) - 1 else "{" + text + "}"
    return "{" + text + "}"


def string_value(tree: Tree) -> str:
    """Return a file name or label that is given in quotation marks or as a plain word."""
    if isinstance(tree, QuotedString):
        return tree.value
    if isinstance(tree, Name):
        return tree.name
    raise error_at(
        tree, f"'{meaning.format_for_message(tree)}' is not a string.", 'Write it in quotation marks: "name".'
    )
