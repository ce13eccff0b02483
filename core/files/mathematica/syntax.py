"""Parser for the language of Robotica's command line and torque files, the part of Mathematica that its manual uses.

    RElp[{{q1, 0, 90 Degree}, {d2, 3, 8}}, {scale}]      d3 = 5      tau[[1]] = k1 (q1r - q1[t]) - k2 q1'[t]

Precedence, lowest first:  =  ->  ==  + −  * / and implied products  unary −  . (of matrices)  ^  brackets and primes.
Nothing is evaluated here; size and depth are bounded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import NamedTuple

from core.errors import ExpressionError, KinetostatError
from core.later import dataclass

MAX_LENGTH = 100_000
MAX_DEPTH = 100


class Place(NamedTuple):
    """Position in the text, line and column counted from 1."""

    line: int
    column: int


def _unplaced() -> Place | None:
    return field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Number:
    """Number; integers are written without a decimal point."""

    value: float
    at: Place | None = _unplaced()


@dataclass(frozen=True, slots=True)
class Text:
    """Text in quotation marks."""

    value: str
    at: Place | None = _unplaced()


@dataclass(frozen=True, slots=True)
class Name:
    """Symbol, with the number of primes after it: q1'."""

    name: str
    primes: int = 0
    at: Place | None = _unplaced()


@dataclass(frozen=True, slots=True)
class Call:
    """Call head[arguments]; M[1,2] and M[[1,2]] are equivalent."""

    head: Name
    arguments: tuple[Tree, ...]
    at: Place | None = _unplaced()


@dataclass(frozen=True, slots=True)
class Part:
    """Part [[indices]] of a matrix that already has indices: T[0,2][[1,4]]; single brackets are equivalent."""

    of: Tree
    indices: tuple[Tree, ...]
    at: Place | None = _unplaced()


@dataclass(frozen=True, slots=True)
class Items:
    """List {a, b, …}."""

    items: tuple[Tree, ...]
    at: Place | None = _unplaced()


@dataclass(frozen=True, slots=True)
class Pair:
    """Left and right side of one of the operators = -> ==."""

    operator: str
    left: Tree
    right: Tree
    at: Place | None = _unplaced()


@dataclass(frozen=True, slots=True)
class Binary:
    """Operation left operator right, with one of + - * / . ^."""

    operator: str
    left: Tree
    right: Tree
    at: Place | None = _unplaced()


@dataclass(frozen=True, slots=True)
class Negative:
    """Negated operand."""

    operand: Tree
    at: Place | None = _unplaced()


FUNCTIONS = {
    "Sin": "sin",
    "Cos": "cos",
    "Tan": "tan",
    "ArcSin": "asin",
    "ArcCos": "acos",
    "ArcTan": "atan",
    "Sinh": "sinh",
    "Cosh": "cosh",
    "Tanh": "tanh",
    "Sqrt": "sqrt",
    "Exp": "exp",
    "Log": "log",
    "Abs": "fabs",
    "Sign": "sign",
    "Floor": "floor",
    "Ceiling": "ceil",
    "Min": "fmin",
    "Max": "fmax",
}
"""Mathematica's elementary functions → our names."""
_ORDINARY = {"asin": "ArcSin", "acos": "ArcCos", "atan": "ArcTan", "atan2": "ArcTan", "ceil": "Ceiling"}
FUNCTION_NAMES = {
    **{name: name for name in FUNCTIONS},
    **{name.lower(): name for name in FUNCTIONS if name.lower() not in ("arcsin", "arccos", "arctan", "ceiling")},
    **_ORDINARY,
}
"""Spellings of elementary functions, Mathematica's and the usual ones → Mathematica's name."""


Tree = Number | Text | Name | Call | Part | Items | Pair | Binary | Negative


def with_names_replaced(tree: Tree, values: Mapping[str, Tree]) -> Tree:
    """Return the tree with some names replaced by trees, except heads of calls and left sides of = and ->."""
    if isinstance(tree, Name):
        return values.get(tree.name, tree) if not tree.primes else tree
    if isinstance(tree, Items):
        return replace(tree, items=tuple(with_names_replaced(each, values) for each in tree.items))
    if isinstance(tree, Call):
        return replace(tree, arguments=tuple(with_names_replaced(each, values) for each in tree.arguments))
    if isinstance(tree, Part):
        indices = tuple(with_names_replaced(each, values) for each in tree.indices)
        return replace(tree, of=with_names_replaced(tree.of, values), indices=indices)
    if isinstance(tree, Negative):
        return replace(tree, operand=with_names_replaced(tree.operand, values))
    if isinstance(tree, Pair | Binary):
        keeps = isinstance(tree, Pair) and tree.operator != "=="
        left = tree.left if keeps else with_names_replaced(tree.left, values)
        return replace(tree, left=left, right=with_names_replaced(tree.right, values))
    return tree


@dataclass(frozen=True, slots=True)
class Statement:
    """Statement with the line on which it begins; `silent` if it ends in a semicolon."""

    tree: Tree
    line: int
    silent: bool = False


def refused(tree: Tree, what: str, remedy: str = "") -> ExpressionError:
    """Return an error about a part of the text, with its position."""
    error = ExpressionError(what, remedy=remedy)
    place(error, tree)
    return error


def place(error: KinetostatError, tree: Tree) -> None:
    """Set the position of an error to that of a tree, unless it has one."""
    if tree.at is not None and error.line is None and not error.file:
        error.at(line=tree.at.line, where=f"column {tree.at.column}")


_TOKEN = re.compile(
    r"[ \t\r]*(?:(?P<comment>\(\*.*?\*\))"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+|\*\^-?\d+)?)"
    r"|(?P<name>[^\W\d_]\w*)"
    r'|(?P<text>["“”„](?:[^"“”„\\\n]|\\.)*["“”])'
    r"|(?P<operator>->|→|==|\[\[|\]\]|:=|\?\??|[-−–+*/.^=(){}\[\],;'′’°])"
    r"|(?P<newline>\n))",
    re.DOTALL,
)
_LIKE = {"−": "-", "–": "-", "’": "'", "′": "'", "→": "->", ":=": "=", "??": "?"}
"""Typographic characters from word processors and our own tables → the characters they stand for."""
_PRECEDENCE = {"=": 1, "->": 2, "==": 3, "+": 4, "-": 4, "*": 5, "/": 5, ".": 7, "^": 8}
_SIGN = 6
_CLOSING = {"(": ")", "[": "]"}
_DEPTHS = {"[": 1, "{": 1, "(": 1, "[[": 2, "]": -1, "}": -1, ")": -1, "]]": -2}
"""Change of bracket depth by each operator."""


@dataclass(frozen=True, slots=True)
class _Token:
    """Token of the text, with its position."""

    kind: str
    text: str
    line: int
    column: int

    @property
    def place(self) -> Place:
        return Place(self.line, self.column)


def _tokens(source: str) -> Iterator[_Token]:
    if len(source) > MAX_LENGTH:
        raise ExpressionError(f"The text has {len(source)} characters; {MAX_LENGTH} is the limit.", remedy="Split it.")
    position, line, start, depth = 0, 1, 0, 0
    end = len(source.rstrip())
    while position < end:
        match = _TOKEN.match(source, position)
        if match is None or match.lastgroup is None:
            at = position + len(source[position:]) - len(source[position:].lstrip(" \t\r"))
            raise _unknown_token_error(source, at, line, at - start + 1)
        kind, text = match.lastgroup, match.group(match.lastgroup)
        if text == "(" and source.startswith("(*", match.start(kind)):
            raise _unknown_token_error(source, match.start(kind), line, match.start(kind) - start + 1)
        text = _LIKE.get(text, text)
        column = match.start(kind) - start + 1
        position = match.end()
        if kind == "newline" or kind == "comment":
            line += text.count("\n")
            start = position if kind == "newline" else start
            if kind == "newline" and depth == 0:
                yield _Token("newline", "the end of the line", line - 1, column)
            continue
        depth += _DEPTHS.get(text, 0) if kind == "operator" else 0
        yield _Token(kind, text, line, column)
    yield _Token("end", "the end", line, end - start + 1)


def _unknown_token_error(source: str, at: int, line: int, column: int) -> ExpressionError:
    """Return the error for characters that begin no token: an unclosed text or comment, or an unknown character."""
    if source[at] in '"“”„':
        return _error("The text that begins here has no closing quotation mark", line, column)
    if source.startswith("(*", at):
        return _error("The comment that begins here has no closing '*)'", line, column)
    return _error(f"'{source[at]}' is not part of the language", line, column)


def _error(what: str, line: int, column: int) -> ExpressionError:
    return ExpressionError(f"{what}.", where=f"column {column}", line=line, remedy="Correct the text there.")


def parse(source: str) -> Tree:
    """Parse one statement. Raises ExpressionError naming line and column."""
    statements = parse_all(source)
    if not statements:
        raise ExpressionError("The text contains no statement.", remedy="Write a call such as FKin[].")
    if len(statements) > 1:
        raise _error("A second statement begins here", statements[1].line, 1)
    return statements[0].tree


def parse_all(source: str) -> list[Statement]:
    """Parse the statements of a text: one per line (open brackets continue a line) or separated by semicolons."""
    return list(statements(source))


def statements(source: str) -> Iterator[Statement]:
    """Yield the statements of a text one by one; those before a mistake come before its error is raised."""
    return _Parser(_tokens(source)).statements()


class _Parser:
    def __init__(self, source: Iterator[_Token]) -> None:
        self.source = source
        self.tokens: list[_Token] = []
        self.at = 0
        self.depth = 0

    @property
    def now(self) -> _Token:
        while len(self.tokens) <= self.at:
            self.tokens.append(next(self.source))
        return self.tokens[self.at]

    def is_operator(self, *texts: str) -> bool:
        return self.now.kind == "operator" and self.now.text in texts

    def take(self, text: str) -> bool:
        if self.is_operator(text):
            self.at += 1
            return True
        return False

    def expect(self, text: str, opened: str, begin: Place) -> None:
        if self.is_operator("]]") and text == "]":  # "]]" closes two single brackets
            self.tokens[self.at] = _Token("operator", "]", self.now.line, self.now.column + 1)
            return
        if not self.take(text):
            where = f"line {begin.line}, " if begin.line != self.now.line else ""
            raise self.unexpected(f"'{text}' for the '{opened}' of {where}column {begin.column}")

    def unexpected(self, wanted: str) -> ExpressionError:
        return _error(f"{wanted} was expected, not {self._token_text()}", self.now.line, self.now.column)

    def _token_text(self) -> str:
        return self.now.text if self.now.kind in ("end", "newline") else f"'{self.now.text}'"

    def statements(self) -> Iterator[Statement]:
        while self.now.kind != "end":
            if self.now.kind == "newline" or self.take(";"):
                self.at += self.now.kind == "newline"
                continue
            line = self.now.line
            tree = self.expression(0)
            if self.now.kind not in ("end", "newline") and not self.is_operator(";"):
                raise self.unexpected("An operator or the end of the line")
            yield Statement(tree, line, self.is_operator(";"))

    def expression(self, minimum: int) -> Tree:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _error(f"The text is nested more than {MAX_DEPTH} levels deep", self.now.line, self.now.column)
        left = self.operand()
        while (symbol := self.operator()) and _PRECEDENCE[symbol.strip() or "*"] >= minimum:
            name = symbol.strip() or "*"
            if symbol != " ":
                self.at += 1
            level = _PRECEDENCE[name]
            right = self.expression(level if name in ("^", "=", "->") else level + 1)
            left = self.joined(name, left, right)
        self.depth -= 1
        return left

    @staticmethod
    def joined(name: str, left: Tree, right: Tree) -> Tree:
        if name in ("=", "->", "=="):
            return Pair(name, left, right, left.at)
        return Binary(name, left, right, left.at)

    def operator(self) -> str:
        """Return the operator at the current position; a blank for an implied product; nothing at an end."""
        if self.now.kind == "operator" and self.now.text in _PRECEDENCE:
            return self.now.text
        begins = self.now.kind in ("number", "name", "text") or self.is_operator("(", "{", "°")
        return " " if begins else ""

    def operand(self) -> Tree:
        token = self.now
        begin = token.place
        if self.take("-"):
            return Negative(self.expression(_SIGN), begin)
        if self.take("+"):
            return self.expression(_SIGN)
        if self.take("?"):
            return self.help_call(begin)
        self.at += 1
        if token.kind == "number":
            return self.amount(token)
        if token.kind == "text":
            return Text(re.sub(r"\\(.)", r"\1", token.text[1:-1]), begin)
        if token.text == "°":
            return Name("Degree", at=begin)
        if token.kind == "name":
            return self.named(token)
        if token.text == "(":
            inner = self.expression(0)
            self.expect(")", "(", begin)
            return inner if isinstance(inner, Name) else self.indexed(inner, begin)
        if token.text == "{":
            return Items(self.listed("}", "{", begin), begin)
        self.at -= 1
        raise self.unexpected("A number, a name or a list")

    def amount(self, token: _Token) -> Tree:
        """Parse a number; "deg" after it means Degree."""
        amount = float(token.text.replace("*^", "e"))
        if math.isinf(amount):
            raise _error(f"'{token.text[:20]}' is too large a number", token.line, token.column)
        if self.now.kind == "name" and self.now.text == "deg":
            self.tokens[self.at] = replace(self.now, text="Degree")
        return Number(amount, token.place)

    def named(self, token: _Token) -> Tree:
        """Parse a name with its primes and indices; a function's argument may be in parentheses: cos(q1) means
        Cos[q1]."""
        if token.text in FUNCTION_NAMES and (call := self.function(token)) is not None:
            return call
        primes = 0
        while self.take("'"):
            primes += 1
        begin = token.place
        return self.indexed(Name(token.text, primes, begin), begin)

    def function(self, token: _Token) -> Tree | None:
        """Parse the call of an elementary function; None for a symbol of the same name. Raises ExpressionError if its
        argument has no brackets."""
        name = FUNCTION_NAMES[token.text]
        if self.operator() == " " and not self.is_operator("("):
            raise ExpressionError(
                f"'{token.text}' is a function; its argument goes in square brackets.",
                where=f"column {token.column}",
                line=token.line,
                remedy=f"Write {name}[…].",
            )
        if not self.is_operator("(", "["):
            return None
        opened, sign = self.now.place, self.now.text
        self.at += 1
        arguments = self.listed(_CLOSING[sign], sign, opened)
        if token.text == "atan2":
            arguments = arguments[::-1]  # atan2(y, x) is ArcTan[x, y]
        return Call(Name(name, at=token.place), arguments, token.place)

    def indexed(self, found: Tree, begin: Place) -> Tree:
        """Parse the brackets after a name or an expression in parentheses."""
        while self.is_operator("[", "[["):
            opened, sign = self.now.place, self.now.text
            self.at += 1
            inside = self.listed("]" * len(sign), sign, opened)
            found = Call(found, inside, begin) if isinstance(found, Name) else Part(found, inside, begin)
        return found

    def help_call(self, begin: Place) -> Tree:
        """Parse ?FKin as Help[FKin]."""
        asked = (Name(self.now.text, at=self.now.place),) if self.now.kind == "name" else ()
        self.at += len(asked)
        return Call(Name("Help", at=begin), asked, begin)

    def listed(self, closing: str, opening: str, begin: Place) -> tuple[Tree, ...]:
        items: list[Tree] = []
        if self.take(closing):
            return ()
        while True:
            items.append(self.expression(0))
            if not self.take(","):
                break
        self.expect(closing, opening, begin)
        return tuple(items)
