"""What a function of Robotica's language takes: the one declaration behind its checks, help, completion and sheet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from core.errors import near_misses
from core.later import dataclass
from core.mathematica import meaning
from core.mathematica.syntax import Call, Items, Name, Number, Pair, Text, Tree, refused

if TYPE_CHECKING:
    from core.functions.results import Result

Kind = Literal["text", "read", "write", "entry", "list", "number", "names", "options"]
"""text: label or name; read, write: a file; entry: matrix, entry or variable as it is; list: braces are added;
names: several arguments, separated by commas; options: words and rules."""
QUOTED = ("text", "read", "write")
_NOTHING = (Items(()), Text(""))
_KINDS = {"text": "file", "number": "number"}


@dataclass(frozen=True)
class Word:
    """A word of an option list: `scale`; a rule `file -> "m.txt"` if `value` is text or number; a number alone if
    `bare`. `default` is what the manual says happens without it."""

    name: str
    help: str
    value: Literal["", "text", "number"] = ""
    bare: bool = False
    default: str = ""

    def written(self, chosen: str | bool) -> str:
        """How it stands in the list; "" if it is not chosen."""
        if not chosen:
            return ""
        if self.value == "":
            return self.name
        text = quoted(str(chosen)) if self.value == "text" else str(chosen).strip()
        return text if self.bare else f"{self.name} -> {text}"


@dataclass(frozen=True)
class Argument:
    """One argument: `default` stands in the sheet at first, `example` as a hint where it may stay empty."""

    id: str
    title: str
    kind: Kind
    help: str = ""
    needed: bool = False
    default: str = ""
    example: str = ""
    words: tuple[Word, ...] = ()

    def written(self, chosen: Any) -> str:
        """How it stands in the call; "" if it is left out. `chosen` is text, for options a mapping word → value."""
        if self.kind == "options":
            found = [word.written(chosen.get(word.name, "")) for word in self.words] if chosen else []
            return "{" + ", ".join(text for text in found if text) + "}" if any(found) else ""
        text = str(chosen or "").strip()
        if not text or self.kind not in (*QUOTED, "list"):
            return text
        return braced(text) if self.kind == "list" else quoted(text)

    @property
    def empty(self) -> str:
        """What stands for it when a later argument is given."""
        return '""' if self.kind in QUOTED else "{}"


@dataclass(frozen=True)
class Command:
    """A function of Robotica's command line. `usage` is an example as the manual writes it."""

    name: str
    usage: str
    help: str
    run: Callable[..., Result]
    arguments: tuple[Argument, ...] = ()

    @property
    def fewest(self) -> int:
        """Arguments it needs."""
        return sum(argument.needed for argument in self.arguments)

    @property
    def most(self) -> float:
        """Arguments it can take."""
        return float("inf") if any(a.kind == "names" for a in self.arguments) else len(self.arguments)

    @property
    def counts(self) -> str:
        """How many arguments it takes, in words."""
        few, most = self.fewest, self.most
        if most == 0:
            return "no argument"
        if most == float("inf"):
            return f"{few} or more arguments"
        return f"{few} argument{'s' * (few != 1)}" if few == most else f"{few} to {most} arguments"

    @property
    def signature(self) -> str:
        """RElp[ranges, options], what may be left out in angle brackets."""
        return f"{self.name}[{', '.join(a.id if a.needed else f'‹{a.id}›' for a in self.arguments)}]"

    @property
    def words(self) -> tuple[Word, ...]:
        """The words of its option list."""
        return tuple(word for argument in self.arguments for word in argument.words)

    @property
    def manual(self) -> str:
        """Everything there is to say about it."""
        lines = [self.help, f"For example  {self.usage}"]
        for argument in self.arguments:
            lines += [f"  {argument.id:10s} {argument.title}. {argument.help}".rstrip()]
            lines += [f"    {word.name:10s} {word.help}" for word in argument.words]
        return "\n".join([self.signature, *lines])

    def line(self, chosen: Mapping[str, Any]) -> str:
        """The call that a sheet stands for, braces and quotation marks added; `chosen` by id of the argument."""
        parts = [argument.written(chosen.get(argument.id, "")) for argument in self.arguments]
        while parts and not parts[-1]:
            parts.pop()
        filled = [part or argument.empty for part, argument in zip(parts, self.arguments, strict=False)]
        return f"{self.name}[{', '.join(filled)}]"

    def given(self, call: Call) -> tuple[Tree | None, ...]:
        """The arguments of a call as the function takes them, None for {} and "" where nothing is needed.

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
        """Every word of an option list must be one of the function's."""
        known = {word.name: word for word in argument.words}
        bare = any(word.bare and word.value == "number" for word in argument.words)
        for item in meaning.items(tree):
            name = _word(item)
            if (name is not None and name not in known) or (isinstance(item, Number) and not bare):
                raise refused(
                    item, f"{self.name} has no option '{meaning.said(item)}'.", near_misses(name or "", sorted(known))
                )
            if name is not None:
                self._check_value(item, known[name])

    def _check_value(self, item: Tree, word: Word) -> None:
        """A rule must have the kind of value its word takes; xprint has a file of its own without one."""
        value = item.right if isinstance(item, Pair) else None
        example = {"text": '"name"', "number": "0.5", "": ""}[word.value]
        if word.value == "" and value is not None:
            raise refused(item, f"'{word.name}' takes no value.", f"Write {word.name} alone.")
        lacking = value is None and word.value != "" and word.name != "xprint"
        if lacking or (word.value == "text" and value is not None and not isinstance(value, Text | Name)):
            raise refused(
                item, f"'{meaning.said(item)}' names no {_KINDS[word.value]}.", f"Write {word.name} -> {example}."
            )


def _word(item: Tree) -> str | None:
    if isinstance(item, Pair):
        item = item.left
    return item.name if isinstance(item, Name) else None


def quoted(text: str) -> str:
    """A text in quotation marks, unless it stands in them already."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def braced(text: str) -> str:
    """A list with its outer braces, unless they are there: "{1, 2}, {3, 4}" has none around it."""
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return text if letter == "}" and k == len(text) - 1 else "{" + text + "}"
    return "{" + text + "}"


def text_of(tree: Tree) -> str:
    """A file name or label: in quotation marks or a plain word."""
    if isinstance(tree, Text):
        return tree.value
    if isinstance(tree, Name):
        return tree.name
    raise refused(tree, f"'{meaning.said(tree)}' is no text.", 'Write it in quotation marks: "name".')
