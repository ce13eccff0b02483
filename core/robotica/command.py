"""Declaration of a function of Robotica's language, from which its checks, help, completion and input form are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from core.errors import near_misses
from core.files.mathematica import meaning
from core.files.mathematica.syntax import Call, Items, Name, Number, Pair, Text, Tree, refused
from core.later import dataclass

if TYPE_CHECKING:
    from core.functions.results import Result

Kind = Literal["text", "read", "write", "entry", "list", "number", "names", "options"]
"""Kind of an argument. text: label or name; read, write: a file; entry: matrix, entry or variable as written; list:
braces are added; names: several arguments, separated by commas; options: words and rules."""
QUOTED = ("text", "read", "write")
_NOTHING = (Items(()), Text(""))
_KINDS = {"text": "file", "number": "number"}


@dataclass(frozen=True)
class Word:
    """Word of an option list: `scale`; a rule `file -> "m.txt"` if `value` is text or number; only a number if `bare`.
    `default` describes the behaviour without it, according to the manual."""

    name: str
    help: str
    value: Literal["", "text", "number"] = ""
    bare: bool = False
    default: str = ""

    def written(self, chosen: str | bool) -> str:
        """Return the text of the option in the list; "" if it is not chosen."""
        if not chosen:
            return ""
        if self.value == "":
            return self.name
        text = quoted(str(chosen)) if self.value == "text" else str(chosen).strip()
        return text if self.bare else f"{self.name} -> {text}"


@dataclass(frozen=True)
class Argument:
    """Argument of a function: `default` is the initial text in the input form, `example` a hint where it may stay
    empty."""

    id: str
    title: str
    kind: Kind
    help: str = ""
    needed: bool = False
    default: str = ""
    example: str = ""
    words: tuple[Word, ...] = ()

    def written(self, chosen: Any) -> str:
        """Return the text of the argument in the call; "" if it is omitted. `chosen` is text, for options a mapping
        word → value."""
        if self.kind == "options":
            found = [word.written(chosen.get(word.name, "")) for word in self.words] if chosen else []
            return "{" + ", ".join(text for text in found if text) + "}" if any(found) else ""
        text = str(chosen or "").strip()
        if not text or self.kind not in (*QUOTED, "list"):
            return text
        return braced(text) if self.kind == "list" else quoted(text)

    @property
    def empty(self) -> str:
        """Placeholder for an omitted argument before a later one."""
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
    def fewest(self) -> int:
        """Smallest number of arguments."""
        return sum(argument.needed for argument in self.arguments)

    @property
    def most(self) -> float:
        """Largest number of arguments."""
        return float("inf") if any(a.kind == "names" for a in self.arguments) else len(self.arguments)

    @property
    def counts(self) -> str:
        """Allowed number of arguments, in words."""
        few, most = self.fewest, self.most
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
    def words(self) -> tuple[Word, ...]:
        """Words of the option list."""
        return tuple(word for argument in self.arguments for word in argument.words)

    @property
    def manual(self) -> str:
        """Complete help text."""
        lines = [self.help, f"For example  {self.usage}"]
        for argument in self.arguments:
            lines += [f"  {argument.id:10s} {argument.title}. {argument.help}".rstrip()]
            lines += [f"    {word.name:10s} {word.help}" for word in argument.words]
        return "\n".join([self.signature, *lines])

    def line(self, chosen: Mapping[str, Any]) -> str:
        """Return the call for the values of the input form, with braces and quotation marks added; `chosen` by id of
        the argument."""
        parts = [argument.written(chosen.get(argument.id, "")) for argument in self.arguments]
        while parts and not parts[-1]:
            parts.pop()
        filled = [part or argument.empty for part, argument in zip(parts, self.arguments, strict=False)]
        return f"{self.name}[{', '.join(filled)}]"

    def given(self, call: Call) -> tuple[Tree | None, ...]:
        """Convert the arguments of a call for the function; {} and "" become None for optional arguments.

        Raises ExpressionError if they are too few or too many, or an option is not known.
        """
        trees = call.arguments
        if not self.fewest <= len(trees) <= self.most:
            raise refused(call, f"{self.name} takes {self.counts}, {len(trees)} given.", f"Write {self.usage}.")
        for argument, tree in zip(self.arguments, trees, strict=False):
            if argument.kind == "options":
                self._check_options(argument, tree)
        optional = [not argument.needed for argument in self.arguments] + [False] * len(trees)
        return tuple(None if leave and tree in _NOTHING else tree for leave, tree in zip(optional, trees, strict=False))

    def _check_options(self, argument: Argument, tree: Tree) -> None:
        """Check that the function has every word of an option list."""
        known = {word.name: word for word in argument.words}
        bare = any(word.bare and word.value == "number" for word in argument.words)
        for item in meaning.items(tree):
            name = _option_word(item)
            if (name is not None and name not in known) or (isinstance(item, Number) and not bare):
                raise refused(
                    item, f"{self.name} has no option '{meaning.said(item)}'.", near_misses(name or "", sorted(known))
                )
            if name is not None:
                self._check_value(item, known[name])

    def _check_value(self, item: Tree, word: Word) -> None:
        """Check that a rule has the kind of value its word takes; xprint may omit it, since it has a default file."""
        value = item.right if isinstance(item, Pair) else None
        example = {"text": '"name"', "number": "0.5", "": ""}[word.value]
        if word.value == "" and value is not None:
            raise refused(item, f"'{word.name}' takes no value.", f"Write only {word.name}.")
        lacking = value is None and word.value != "" and word.name != "xprint"
        if lacking or (word.value == "text" and value is not None and not isinstance(value, Text | Name)):
            raise refused(
                item, f"'{meaning.said(item)}' is not a {_KINDS[word.value]}.", f"Write {word.name} -> {example}."
            )


def _option_word(item: Tree) -> str | None:
    if isinstance(item, Pair):
        item = item.left
    return item.name if isinstance(item, Name) else None


def quoted(text: str) -> str:
    """Add quotation marks to a text that has none."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def braced(text: str) -> str:
    """Add outer braces to a list that has none, such as "{1, 2}, {3, 4}"."""
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return text if letter == "}" and k == len(text) - 1 else "{" + text + "}"
    return "{" + text + "}"


def text_of(tree: Tree) -> str:
    """Return a file name or label, given in quotation marks or as a plain word."""
    if isinstance(tree, Text):
        return tree.value
    if isinstance(tree, Name):
        return tree.name
    raise refused(tree, f"'{meaning.said(tree)}' is not a string.", 'Write it in quotation marks: "name".')
