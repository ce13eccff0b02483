"""Parser for the language of Robotica's command line and torque files, the part of Mathematica that its manual uses.

    RElp[{{q1, 0, 90 Degree}, {d2, 3, 8}}, {scale}]      d3 = 5      tau[[1]] = k1 (q1r - q1[t]) - k2 q1'[t]

Precedence, lowest first:  =  ->  ==  + −  * / and implied products  unary −  . (of matrices)  ^  brackets and primes.
Nothing is evaluated here; size and depth are bounded.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import NamedTuple

from core.errors import ExpressionError, KinetostatError
from core.later import dataclass
from core.model.formula import nodes as formula_nodes
from core.model.formula.precedence_parser import Grammar, Infix, PrecedenceParser, Prefix, Token, tokens_of

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
    theirs: formula_nodes.FUNCTIONS[ours][0]
    for theirs, ours in formula_nodes.MATHEMATICA_FUNCTIONS.items()
    if theirs not in ("UnitStep", "If", "Not")
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
    r"[ \t\r]*(?:(?P<comment>\(\*.*?(?:\*\)|\Z))"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+|\*\^-?\d+)?)"
    r"|(?P<name>[^\W\d_]\w*)"
    r'|(?P<text>["“”„](?:[^"“”„\\\n]|\\.)*["“”])'
    r"|(?P<operator>->|→|==|\[\[|\]\]|:=|\?\??|[-−–+*/.^=(){}\[\],;'′’°])"
    r"|(?P<newline>\n))",
    re.DOTALL,
)
_LIKE = {"−": "-", "–": "-", "’": "'", "′": "'", "→": "->", ":=": "=", "??": "?"}
"""Typographic characters from word processors and our own tables → the characters they mean."""
_IMPLIED = Infix("*", 5)
"""Product of operands without a sign between them."""
_GRAMMAR = Grammar(
    _TOKEN,
    {
        "=": Infix("=", 1, "right"),
        "->": Infix("->", 2, "right"),
        "==": Infix("==", 3),
        "+": Infix("+", 4),
        "-": Infix("-", 4),
        "*": Infix("*", 5),
        "/": Infix("/", 5),
        ".": Infix(".", 7),
        "^": Infix("^", 8, "right"),
    },
    {"-": Prefix("-", 6, "own"), "+": Prefix("+", 6, "own")},
    MAX_DEPTH,
    " \t\r",
    _IMPLIED,
    ("(", "{", "°"),
)
_CLOSING = {"(": ")", "[": "]"}
_DEPTHS = {"[": 1, "{": 1, "(": 1, "[[": 2, "]": -1, "}": -1, ")": -1, "]]": -2}
"""Change of bracket depth by each operator."""


def _tokens(source: str) -> Iterator[Token]:
    """Yield the tokens of a text without comments, and without ends of lines in brackets."""
    depth = 0
    for token in tokens_of(source, _GRAMMAR):
        if token.kind == "comment" and (len(token.text) < 4 or not token.text.endswith("*)")):  # it has no end
            yield Token("unknown", "(*", token.at)
            return
        if token.kind == "comment" or (token.kind == "newline" and depth):
            continue
        text = _LIKE.get(token.text, token.text)
        depth += _DEPTHS.get(text, 0)
        yield token._replace(text=text)


def parse(source: str) -> Tree:
    """Parse one statement. Raises ExpressionError naming line and column."""
    statements = parse_all(source)
    if not statements:
        raise ExpressionError("The text contains no statement.", remedy="Write a call such as FKin[].")
    if len(statements) > 1:
        raise _error("A second statement begins here", Place(statements[1].line, 1))
    return statements[0].tree


def parse_all(source: str) -> list[Statement]:
    """Parse the statements of a text: one per line (open brackets continue a line) or separated by semicolons."""
    return list(statements(source))


def statements(source: str) -> Iterator[Statement]:
    """Yield the statements of a text one by one; those before a mistake come before its error is raised."""
    if len(source) > MAX_LENGTH:
        raise ExpressionError(f"The text has {len(source)} characters; {MAX_LENGTH} is the limit.", remedy="Split it.")
    yield from _Parser(source).statements()


def _error(what: str, place: Place) -> ExpressionError:
    where = f"column {place.column}"
    return ExpressionError(f"{what}.", where=where, line=place.line, remedy="Correct the text there.")


class _Parser(PrecedenceParser[Tree]):
    def __init__(self, source: str) -> None:
        super().__init__(_GRAMMAR, list(_tokens(source)))
        self.line_starts = [0, *(match.end() for match in re.finditer("\n", source))]

    def place(self, token: Token) -> Place:
        line = bisect_right(self.line_starts, token.at)
        return Place(line, token.at - self.line_starts[line - 1] + 1)

    def statements(self) -> Iterator[Statement]:
        while self.now.kind != "end":
            if self.now.kind == "newline" or self.now.text == ";":
                self.advance()
                continue
            line = self.place(self.now).line
            tree = self.expression()
            if self.now.kind not in ("end", "newline") and self.now.text != ";":
                raise self.unexpected("An operator or the end of the line")
            yield Statement(tree, line, self.now.text == ";")

    # ------------------------------------------------------------------------------- operators

    def joined(self, name: str, left: Tree, right: Tree) -> Tree:
        """Return the tree of an operation; its place is that of its left operand."""
        return (Pair if name in ("=", "->", "==") else Binary)(name, left, right, left.at)

    def prefixed(self, name: str, minimum: int, sign: Token) -> Tree:
        """Parse the operand of a sign."""
        operand = self.expression(minimum)
        return Negative(operand, self.place(sign)) if name == "-" else operand

    # ------------------------------------------------------------------------------- operands

    def operand(self) -> Tree:
        """Parse a number, name, text, list, parenthesis, or question."""
        begin, kind, sign = self.place(self.now), self.now.kind, self.now.text
        if kind == "number":
            return self.amount(self.advance(), begin)
        if kind == "text":
            return Text(re.sub(r"\\(.)", r"\1", self.advance().text[1:-1]), begin)
        if kind == "name":
            return self.named(self.advance().text, begin)
        if sign not in ("?", "°", "(", "{"):
            raise self.unexpected("A number, a name or a list")
        self.advance()
        if sign == "?":
            return self.help_call(begin)
        if sign == "°":
            return Name("Degree", at=begin)
        if sign == "{":
            return Items(self.listed("}", "{", begin), begin)
        inner = self.expression()
        self.expect(")", "(", begin)
        return inner if isinstance(inner, Name) else self.indexed(inner, begin)

    def amount(self, token: Token, begin: Place) -> Tree:
        """Parse a number; "deg" after it means Degree."""
        amount = float(token.text.replace("*^", "e"))
        if math.isinf(amount):
            raise _error(f"'{token.text[:20]}' is too large a number", begin)
        if self.now.text == "deg":
            self.now = self.now._replace(text="Degree")
        return Number(amount, begin)

    def named(self, name: str, begin: Place) -> Tree:
        """Parse a name with its primes and indices; a function's argument may be in parentheses: cos(q1) means
        Cos[q1]."""
        if name in FUNCTION_NAMES and (call := self.function(name, begin)) is not None:
            return call
        primes = 0
        while self.take("'"):
            primes += 1
        return self.indexed(Name(name, primes, begin), begin)

    def function(self, spelling: str, begin: Place) -> Tree | None:
        """Parse the call of an elementary function; None for a symbol of the same name. Raises ExpressionError if its
        argument has no brackets."""
        name, sign = FUNCTION_NAMES[spelling], self.now.text
        if sign not in _CLOSING:
            if self.operator() is not _IMPLIED:
                return None
            raise ExpressionError(
                f"'{spelling}' is a function; its argument goes in square brackets.",
                where=f"column {begin.column}",
                line=begin.line,
                remedy=f"Write {name}[…].",
            )
        opened = self.place(self.advance())
        arguments = self.listed(_CLOSING[sign], sign, opened)
        if spelling == "atan2":
            arguments = arguments[::-1]  # atan2(y, x) is ArcTan[x, y]
        return Call(Name(name, at=begin), arguments, begin)

    def indexed(self, found: Tree, begin: Place) -> Tree:
        """Parse the brackets after a name or an expression in parentheses."""
        while self.now.text in ("[", "[["):
            sign = self.now.text
            opened = self.place(self.advance())
            inside = self.listed("]" * len(sign), sign, opened)
            found = Call(found, inside, begin) if isinstance(found, Name) else Part(found, inside, begin)
        return found

    def help_call(self, begin: Place) -> Tree:
        """Parse ?FKin as Help[FKin]."""
        asked = (Name(self.now.text, at=self.place(self.now)),) if self.now.kind == "name" else ()
        if asked:
            self.advance()
        return Call(Name("Help", at=begin), asked, begin)

    def listed(self, closing: str, opening: str, begin: Place) -> tuple[Tree, ...]:
        """Parse expressions up to a closing bracket."""
        if self.take(closing):
            return ()
        items = self.comma_separated()
        self.expect(closing, opening, begin)
        return tuple(items)

    def expect(self, text: str, opened: str, begin: Place) -> None:
        """Go past a closing bracket."""
        if self.now.text == "]]" and text == "]":  # "]]" closes two single brackets
            self.now = Token("operator", "]", self.now.at + 1)
        elif not self.take(text):
            where = f"line {begin.line}, " if begin.line != self.place(self.now).line else ""
            raise self.unexpected(f"'{text}' for the '{opened}' of {where}column {begin.column}")

    # ------------------------------------------------------------------------------- errors

    def unexpected(self, wanted: str) -> ExpressionError:
        """Return the error for a token in place of what was wanted."""
        met = {"end": "the end", "newline": "the end of the line"}.get(self.now.kind, f"'{self.now.text}'")
        return self.error_here(f"{wanted} was expected, not {met}")

    def depth_error(self) -> ExpressionError:
        """Return the error for a text that is nested too deeply."""
        return self.error_here(f"The text is nested more than {MAX_DEPTH} levels deep")

    def error_here(self, what: str) -> ExpressionError:
        """Return an error at the current position; an unclosed text or comment or an unknown character comes first."""
        if self.now.kind == "unknown":
            what = f"'{self.now.text}' is not part of the language"
            if self.now.text in '"“”„':
                what = "The text that begins here has no closing quotation mark"
            elif self.now.text == "(*":
                what = "The comment that begins here has no closing '*)'"
        return _error(what, self.place(self.now))
