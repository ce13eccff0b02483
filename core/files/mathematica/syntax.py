"""Parser for the language of Robotica's command line and torque files: the part of Mathematica that Robotica's manual
uses.

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
from core.model.formula.precedence_parser import Grammar, Infix, PrecedenceParser, Prefix, Token, tokenise

MAX_LENGTH = 100_000
MAX_DEPTH = 100


class TextPosition(NamedTuple):
    """Position in the text, line and column counted from 1."""

    line: int
    column: int


def _no_position() -> TextPosition | None:
    return field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Number:
    """Number; integers are written without a decimal point."""

    value: float
    at: TextPosition | None = _no_position()


@dataclass(frozen=True, slots=True)
class QuotedString:
    """Text in quotation marks."""

    value: str
    at: TextPosition | None = _no_position()


@dataclass(frozen=True, slots=True)
class Name:
    """Symbol, with the number of primes after it: q1'."""

    name: str
    primes: int = 0
    at: TextPosition | None = _no_position()


@dataclass(frozen=True, slots=True)
class Call:
    """Call head[arguments]; M[1,2] and M[[1,2]] are equivalent."""

    head: Name
    arguments: tuple[Tree, ...]
    at: TextPosition | None = _no_position()


@dataclass(frozen=True, slots=True)
class IndexedPart:
    """Part [[indices]] of a matrix that already has indices: T[0,2][[1,4]]; single brackets are equivalent."""

    of: Tree
    indices: tuple[Tree, ...]
    at: TextPosition | None = _no_position()


@dataclass(frozen=True, slots=True)
class ListExpression:
    """List {a, b, …}."""

    items: tuple[Tree, ...]
    at: TextPosition | None = _no_position()


@dataclass(frozen=True, slots=True)
class LeftRightPair:
    """Left and right side of one of the operators = -> ==."""

    operator: str
    left: Tree
    right: Tree
    at: TextPosition | None = _no_position()


@dataclass(frozen=True, slots=True)
class Binary:
    """Operation left operator right, with one of + - * / . ^."""

    operator: str
    left: Tree
    right: Tree
    at: TextPosition | None = _no_position()


@dataclass(frozen=True, slots=True)
class Negative:
    """Negated operand."""

    operand: Tree
    at: TextPosition | None = _no_position()


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


Tree = Number | QuotedString | Name | Call | IndexedPart | ListExpression | LeftRightPair | Binary | Negative


def replace_names(tree: Tree, values: Mapping[str, Tree]) -> Tree:
    """Return the tree with names replaced by other trees, except heads of calls and left sides of = and ->."""
    if isinstance(tree, Name):
        return values.get(tree.name, tree) if not tree.primes else tree
    if isinstance(tree, ListExpression):
        return replace(tree, items=tuple(replace_names(each, values) for each in tree.items))
    if isinstance(tree, Call):
        return replace(tree, arguments=tuple(replace_names(each, values) for each in tree.arguments))
    if isinstance(tree, IndexedPart):
        indices = tuple(replace_names(each, values) for each in tree.indices)
        return replace(tree, of=replace_names(tree.of, values), indices=indices)
    if isinstance(tree, Negative):
        return replace(tree, operand=replace_names(tree.operand, values))
    if isinstance(tree, LeftRightPair | Binary):
        keeps = isinstance(tree, LeftRightPair) and tree.operator != "=="
        left = tree.left if keeps else replace_names(tree.left, values)
        return replace(tree, left=left, right=replace_names(tree.right, values))
    return tree


@dataclass(frozen=True, slots=True)
class Statement:
    """Statement with the line on which it begins; `silent` if it ends in a semicolon."""

    tree: Tree
    line: int
    silent: bool = False


def error_at(tree: Tree, message: str, remedy: str = "") -> ExpressionError:
    """Return an error about a part of the text, with its position."""
    error = ExpressionError(message, remedy=remedy)
    set_error_position(error, tree)
    return error


def set_error_position(error: KinetostatError, tree: Tree) -> None:
    """Set the position of an error to that of a tree, unless it already has one."""
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
"""Typographic characters from word processors and from our own tables, with the characters that they represent."""
_IMPLIED = Infix("*", 5)
"""Implicit product: operands without an operator between them."""
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
"""Change of bracket depth caused by each token."""


def _tokenise(source: str) -> Iterator[Token]:
    """Yield the tokens of a text, without comments and without line ends inside brackets."""
    depth = 0
    for token in tokenise(source, _GRAMMAR):
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
        raise _error_at_position("A second statement begins here", TextPosition(statements[1].line, 1))
    return statements[0].tree


def parse_all(source: str) -> list[Statement]:
    """Parse the statements of a text: one per line (open brackets continue a line) or separated by semicolons."""
    return list(iterate_statements(source))


def iterate_statements(source: str) -> Iterator[Statement]:
    """Yield the statements of a text one by one; statements before a syntax error are yielded before the error is
    raised."""
    if len(source) > MAX_LENGTH:
        raise ExpressionError(f"The text has {len(source)} characters; {MAX_LENGTH} is the limit.", remedy="Split it.")
    yield from _Parser(source).parse_statements()


def _error_at_position(message: str, position: TextPosition) -> ExpressionError:
    where = f"column {position.column}"
    return ExpressionError(f"{message}.", where=where, line=position.line, remedy="Correct the text there.")


class _Parser(PrecedenceParser[Tree]):
    def __init__(self, source: str) -> None:
        super().__init__(_GRAMMAR, list(_tokenise(source)))
        self.line_starts = [0, *(match.end() for match in re.finditer("\n", source))]

    def token_position(self, token: Token) -> TextPosition:
        line = bisect_right(self.line_starts, token.at)
        return TextPosition(line, token.at - self.line_starts[line - 1] + 1)

    def parse_statements(self) -> Iterator[Statement]:
        while self.now.kind != "end":
            if self.now.kind == "newline" or self.now.text == ";":
                self.advance()
                continue
            line = self.token_position(self.now).line
            tree = self.expression()
            if self.now.kind not in ("end", "newline") and self.now.text != ";":
                raise self.unexpected_token_error("An operator or the end of the line")
            yield Statement(tree, line, self.now.text == ";")

    # ------------------------------------------------------------------------------- operators

    def build_operation(self, name: str, left: Tree, right: Tree) -> Tree:
        """Return the tree of a binary operation; its position is that of its left operand."""
        return (LeftRightPair if name in ("=", "->", "==") else Binary)(name, left, right, left.at)

    def parse_prefixed(self, name: str, minimum: int, sign: Token) -> Tree:
        """Parse the operand of a prefix operator."""
        operand = self.expression(minimum)
        return Negative(operand, self.token_position(sign)) if name == "-" else operand

    # ------------------------------------------------------------------------------- operands

    def parse_operand(self) -> Tree:
        """Parse a number, name, string, list, parenthesis, or help request (?name)."""
        begin, kind, sign = self.token_position(self.now), self.now.kind, self.now.text
        if kind == "number":
            return self.parse_number(self.advance(), begin)
        if kind == "text":
            return QuotedString(re.sub(r"\\(.)", r"\1", self.advance().text[1:-1]), begin)
        if kind == "name":
            return self.parse_name(self.advance().text, begin)
        if sign not in ("?", "°", "(", "{"):
            raise self.unexpected_token_error("A number, a name or a list")
        self.advance()
        if sign == "?":
            return self.parse_help_call(begin)
        if sign == "°":
            return Name("Degree", at=begin)
        if sign == "{":
            return ListExpression(self.parse_list_items("}", "{", begin), begin)
        inner = self.expression()
        self.expect_closing_bracket(")", "(", begin)
        return inner if isinstance(inner, Name) else self.parse_indices(inner, begin)

    def parse_number(self, token: Token, start: TextPosition) -> Tree:
        """Parse a number; a following "deg" is read as Degree."""
        amount = float(token.text.replace("*^", "e"))
        if math.isinf(amount):
            raise _error_at_position(f"'{token.text[:20]}' is too large a number", start)
        if self.now.text == "deg":
            self.now = self.now._replace(text="Degree")
        return Number(amount, start)

    def parse_name(self, name: str, start: TextPosition) -> Tree:
        """Parse a name with its primes and indices; a function's argument may be in parentheses: cos(q1) means
        Cos[q1]."""
        if name in FUNCTION_NAMES and (call := self.parse_function_call(name, start)) is not None:
            return call
        primes = 0
        while self.accept("'"):
            primes += 1
        return self.parse_indices(Name(name, primes, start), start)

    def parse_function_call(self, spelling: str, start: TextPosition) -> Tree | None:
        """Parse the call of an elementary function; None for a symbol of the same name. Raises ExpressionError if its
        argument has no brackets."""
        name, sign = FUNCTION_NAMES[spelling], self.now.text
        if sign not in _CLOSING:
            if self.current_operator() is not _IMPLIED:
                return None
            raise ExpressionError(
                f"'{spelling}' is a function; its argument goes in square brackets.",
                where=f"column {start.column}",
                line=start.line,
                remedy=f"Write {name}[…].",
            )
        opened = self.token_position(self.advance())
        arguments = self.parse_list_items(_CLOSING[sign], sign, opened)
        if spelling == "atan2":
            arguments = arguments[::-1]  # atan2(y, x) is ArcTan[x, y]
        return Call(Name(name, at=start), arguments, start)

    def parse_indices(self, base: Tree, start: TextPosition) -> Tree:
        """Parse the brackets after a name or an expression in parentheses."""
        while self.now.text in ("[", "[["):
            sign = self.now.text
            opened = self.token_position(self.advance())
            inside = self.parse_list_items("]" * len(sign), sign, opened)
            base = Call(base, inside, start) if isinstance(base, Name) else IndexedPart(base, inside, start)
        return base

    def parse_help_call(self, start: TextPosition) -> Tree:
        """Parse ?FKin as Help[FKin]."""
        asked = (Name(self.now.text, at=self.token_position(self.now)),) if self.now.kind == "name" else ()
        if asked:
            self.advance()
        return Call(Name("Help", at=start), asked, start)

    def parse_list_items(self, closing: str, opening: str, start: TextPosition) -> tuple[Tree, ...]:
        """Parse expressions up to a closing bracket."""
        if self.accept(closing):
            return ()
        items = self.parse_comma_separated()
        self.expect_closing_bracket(closing, opening, start)
        return tuple(items)

    def expect_closing_bracket(self, text: str, opened: str, start: TextPosition) -> None:
        """Consume a closing bracket. Raises ExpressionError if there is none."""
        if self.now.text == "]]" and text == "]":  # "]]" closes two single brackets
            self.now = Token("operator", "]", self.now.at + 1)
        elif not self.accept(text):
            where = f"line {start.line}, " if start.line != self.token_position(self.now).line else ""
            raise self.unexpected_token_error(f"'{text}' for the '{opened}' of {where}column {start.column}")

    # ------------------------------------------------------------------------------- errors

    def unexpected_token_error(self, expected: str) -> ExpressionError:
        """Return the error for an unexpected token."""
        met = {"end": "the end", "newline": "the end of the line"}.get(self.now.kind, f"'{self.now.text}'")
        return self.error_here(f"{expected} was expected, not {met}")

    def depth_error(self) -> ExpressionError:
        """Return the error for text that is nested too deeply."""
        return self.error_here(f"The text is nested more than {MAX_DEPTH} levels deep")

    def error_here(self, message: str) -> ExpressionError:
        """Return an error at the current position. An unclosed string or comment or an unknown character takes
        precedence."""
        if self.now.kind == "unknown":
            message = f"'{self.now.text}' is not part of the language"
            if self.now.text in '"“”„':
                message = "The text that begins here has no closing quotation mark"
            elif self.now.text == "(*":
                message = "The comment that begins here has no closing '*)'"
        return _error_at_position(message, self.token_position(self.now))
