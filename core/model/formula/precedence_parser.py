"""Parsing by precedence climbing: a grammar lists the operators of a language; a class derived from `PrecedenceParser`
parses the language's operands and builds its trees."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Container, Mapping
from typing import Generic, Literal, NamedTuple, TypeVar

from core.errors import ExpressionError

Tree = TypeVar("Tree")


class Token(NamedTuple):
    """Token of a text. kind : name of the group in the grammar's pattern that matched; "end" after the last token, or
    "unknown" for a character that begins no token; at : index of its first character"""

    kind: str
    text: str
    at: int


class Infix(NamedTuple):
    """Operator between two operands. name : the operator it means (** is ^); grouping : "left" (a - b - c is
    (a - b) - c), "right", or "none" (a < b < c is an error)"""

    name: str
    precedence: int
    grouping: Literal["left", "right", "none"] = "left"


class Prefix(NamedTuple):
    """Operator before its operand. precedence : smallest precedence of the operators in its operand

    after_tighter : its operand after an operator of higher precedence: "narrow" (2^-x*y is (2^-x)*y), "own" (its own
    precedence holds there too: 2^-A.B is 2^(-(A.B))), or "refused" (2^!x is an error)
    """

    name: str
    precedence: int
    after_tighter: Literal["narrow", "own", "refused"] = "narrow"


class Grammar(NamedTuple):
    """Operators and tokens of a language; operators are listed by their spelling, precedences are positive.

    pattern : matches one token, in a named group, with the blanks before it
    blanks : characters between tokens; None: all white space
    implied : operator between two operands without a sign between them (2 x); None if the language has none
    openings : signs other than numbers, names and texts that begin an operand (after the sign of an implied operator)
    max_depth : largest number of expressions inside one another
    """

    pattern: re.Pattern[str]
    infix: Mapping[str, Infix]
    prefix: Mapping[str, Prefix]
    max_depth: int
    blanks: str | None = None
    implied: Infix | None = None
    openings: Container[str] = ()


_OPERANDS = ("number", "name", "text")
"""Kinds of tokens that begin an operand."""


def tokenise(text: str, grammar: Grammar) -> list[Token]:
    """Return the tokens of a text; the last one is of kind "end", or "unknown" where the text is not of the grammar."""
    found: list[Token] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = grammar.pattern.match(text, position)
        if match is None:
            rest = text[position:].lstrip(grammar.blanks)
            found.append(Token("unknown", rest[0], len(text) - len(rest)))
            return found
        kind = match.lastgroup or ""
        found.append(Token(kind, match[kind], match.start(kind)))
        position = match.end()
    found.append(Token("end", "", end))
    return found


class PrecedenceParser(ABC, Generic[Tree]):
    """Parser of the infix notation of one grammar; time and memory grow linearly with the number of tokens."""

    def __init__(self, grammar: Grammar, tokens: list[Token]) -> None:
        self.grammar = grammar
        self.tokens = tokens
        self.index = 0
        self.now = tokens[0]
        """Token at the current position."""
        self.depth = 0

    # ------------------------------------------------------------------------------- parts of a language

    @abstractmethod
    def parse_operand(self) -> Tree:
        """Parse an operand without a prefix operator, including what belongs to it: unit, index, arguments."""

    @abstractmethod
    def parse_prefixed(self, name: str, minimum: int, sign: Token) -> Tree:
        """Parse the operand of a prefix operator with `self.parse_expression(minimum)` and return the tree of the
        operation."""

    @abstractmethod
    def build_operation(self, name: str, left: Tree, right: Tree) -> Tree:
        """Return the tree of the operation left name right."""

    @abstractmethod
    def depth_error(self) -> ExpressionError:
        """Return the error for a text that is nested too deeply."""

    def grouping_error(self) -> ExpressionError:
        """Return the error for a second consecutive operator of a kind that cannot be chained."""
        return ExpressionError(f"'{self.now.text}' needs parentheses here.", remedy="Put one operation in parentheses.")

    def is_prefix(self) -> bool:
        """Return True if the token at the current position is used as a prefix operator."""
        return True

    # ------------------------------------------------------------------------------- tokens

    def advance(self) -> Token:
        """Return the token at the current position and move to the next one."""
        token = self.now
        self.index += 1
        self.now = self.tokens[self.index]
        return token

    def accept(self, symbol: str) -> bool:
        """Consume a symbol if it is at the current position; return True if it was."""
        taken = self.now.text == symbol
        if taken:
            self.advance()
        return taken

    # ------------------------------------------------------------------------------- expressions

    def expression(self, min_precedence: int = 0) -> Tree:
        """Parse operands connected by operators whose precedence is at least `min_precedence`."""
        self.depth += 1
        if self.depth > self.grammar.max_depth:
            raise self.depth_error()
        prefix = self.grammar.prefix.get(self.now.text)
        left = self.parse_operand() if prefix is None else self._parse_prefix_operation(prefix, min_precedence)
        ungrouped = 0
        while (infix := self.current_operator()) and infix.precedence >= min_precedence:
            if infix.precedence == ungrouped:
                raise self.grouping_error()
            if infix is not self.grammar.implied:
                self.advance()
            right = self.expression(infix.precedence + (infix.grouping != "right"))
            left = self.build_operation(infix.name, left, right)
            ungrouped = infix.precedence if infix.grouping == "none" else 0
        self.depth -= 1
        return left

    def _parse_prefix_operation(self, prefix: Prefix, min_precedence: int) -> Tree:
        if (prefix.after_tighter == "refused" and min_precedence > prefix.precedence) or not self.is_prefix():
            return self.parse_operand()
        own = prefix.after_tighter == "own"
        return self.parse_prefixed(
            prefix.name, prefix.precedence if own else max(min_precedence, prefix.precedence), self.advance()
        )

    def current_operator(self) -> Infix | None:
        """Return the infix operator at the current position, the implicit one before an operand, or None."""
        infix = self.grammar.infix.get(self.now.text)
        if infix is None and (self.now.kind in _OPERANDS or self.now.text in self.grammar.openings):
            return self.grammar.implied
        return infix

    def parse_comma_separated(self) -> list[Tree]:
        """Parse one or more expressions with commas between them."""
        items = [self.expression()]
        while self.accept(","):
            items.append(self.expression())
        return items
