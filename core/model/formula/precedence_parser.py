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
    """Token of a text. kind : name of the group of the grammar's pattern that matches it; "end" after the last one, or
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


def tokens_of(text: str, grammar: Grammar) -> list[Token]:
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
    def operand(self) -> Tree:
        """Parse an operand without a prefix operator, with all that belongs to it: unit, index, arguments."""

    @abstractmethod
    def prefixed(self, name: str, minimum: int, sign: Token) -> Tree:
        """Parse the operand of a prefix operator, `self.expression(minimum)`, and return the operation's tree."""

    @abstractmethod
    def joined(self, name: str, left: Tree, right: Tree) -> Tree:
        """Return the tree of the operation left name right."""

    @abstractmethod
    def depth_error(self) -> ExpressionError:
        """Return the error for a text that is nested too deeply."""

    def grouping_error(self) -> ExpressionError:
        """Return the error for a second operator in a row that does not group."""
        return ExpressionError(f"'{self.now.text}' needs parentheses here.", remedy="Put one operation in parentheses.")

    def is_prefix(self) -> bool:
        """Return True if the spelling of a prefix operator at the current position is meant as one."""
        return True

    # ------------------------------------------------------------------------------- tokens

    def advance(self) -> Token:
        """Go to the next token and return the one at the current position."""
        token = self.now
        self.index += 1
        self.now = self.tokens[self.index]
        return token

    def take(self, sign: str) -> bool:
        """Go on if this sign is at the current position."""
        taken = self.now.text == sign
        if taken:
            self.advance()
        return taken

    # ------------------------------------------------------------------------------- expressions

    def expression(self, minimum: int = 0) -> Tree:
        """Parse operands joined by operators of at least the precedence `minimum`."""
        self.depth += 1
        if self.depth > self.grammar.max_depth:
            raise self.depth_error()
        prefix = self.grammar.prefix.get(self.now.text)
        left = self.operand() if prefix is None else self._prefixed_operand(prefix, minimum)
        ungrouped = 0
        while (infix := self.operator()) and infix.precedence >= minimum:
            if infix.precedence == ungrouped:
                raise self.grouping_error()
            if infix is not self.grammar.implied:
                self.advance()
            right = self.expression(infix.precedence + (infix.grouping != "right"))
            left = self.joined(infix.name, left, right)
            ungrouped = infix.precedence if infix.grouping == "none" else 0
        self.depth -= 1
        return left

    def _prefixed_operand(self, prefix: Prefix, minimum: int) -> Tree:
        if (prefix.after_tighter == "refused" and minimum > prefix.precedence) or not self.is_prefix():
            return self.operand()
        own = prefix.after_tighter == "own"
        return self.prefixed(prefix.name, prefix.precedence if own else max(minimum, prefix.precedence), self.advance())

    def operator(self) -> Infix | None:
        """Return the infix operator at the current position, the implied one before an operand, or None."""
        infix = self.grammar.infix.get(self.now.text)
        if infix is None and (self.now.kind in _OPERANDS or self.now.text in self.grammar.openings):
            return self.grammar.implied
        return infix

    def comma_separated(self) -> list[Tree]:
        """Parse one or more expressions with commas between them."""
        items = [self.expression()]
        while self.take(","):
            items.append(self.expression())
        return items
