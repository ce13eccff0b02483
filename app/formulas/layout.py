"""Typesetting of expressions (core.symbolic.forms) with Qt: tokens that know their symbols, arranged in lines.

Typesetting is lazy (`TypesetForm.typeset_until` works for a few milliseconds), so that long formulas never stall the
window; painting
draws letters of a font, so it is crisp at every size.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Collection, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QPainter

from core.symbolic.forms import Form, Function, Number, Power, Product, Quotient, SineOrCosine, Sum, Symbol, split_sign
from core.symbolic.notation import GREEK, PRIME, format_number, is_short_fraction, short_angle_name, split_name
from resources import FORMULA_FONT

SMALL = 0.68
"""Relative size of indices and exponents."""
WIDEST_FRACTION = 30.0
"""Largest width of fractions and roots, in letter sizes; wider ones are written inline, where they can be broken."""
_GREEK_LETTERS = dict(
    zip(
        (
            "alpha",
            "beta",
            "gamma",
            "delta",
            "eta",
            "theta",
            "kappa",
            "lambda",
            "mu",
            "xi",
            "rho",
            "sigma",
            "tau",
            "phi",
            "chi",
            "psi",
            "omega",
        ),
        "αβγδηθκλμξρστφχψω",
        strict=True,
    )
)


_TITLE = re.compile(r"(?P<stem>[^\\_{}()]++)(?:_(?:\{(?P<index>[^{}]*+)\}|(?P<letter>\w)))?(?:\((?P<argument>\w++)\))?")
"""Pattern of a matrix name in LaTeX: letters, an index, an argument."""


class GlyphPiece(NamedTuple):
    """Text at a position relative to the left end of the token's baseline; a piece with a bar is a horizontal line of
    that width."""

    text: str
    x: float
    y: float
    small: bool = False
    bar: float = 0.0


class Token(NamedTuple):
    """Smallest unit of a typeset formula; lines are broken only between tokens."""

    pieces: tuple[GlyphPiece, ...]
    width: float
    ascent: float
    descent: float
    symbols: tuple[str, ...] = ()
    breaks: bool = False
    """True if a line may end before the token."""
    inner: tuple[tuple[float, float, Token], ...] = ()
    """Tokens that it is composed of, with their positions."""


class PlacedToken(NamedTuple):
    """Token with its position in the typeset formula."""

    x: float
    line: int
    token: Token


@lru_cache(maxsize=1)
def formula_font_family() -> str:
    """Return the font family of formulas; if Qt cannot load the font, that of the program."""
    number = QFontDatabase.addApplicationFont(str(FORMULA_FONT))
    return QFontDatabase.applicationFontFamilies(number)[0] if number >= 0 else QFont().family()


class Typesetter:
    """Typesets formulas as tokens at one font size (pixels)."""

    def __init__(self, size: float) -> None:
        self.size = size
        self.fonts = tuple(_formula_font(size * share) for share in (1.0, SMALL))
        self._metrics = tuple(QFontMetricsF(font) for font in self.fonts)
        self._advances: dict[tuple[str, bool], float] = {}
        self._made: dict[Form | str, Token] = {}
        self.ascent, self.descent = 0.74 * size, 0.24 * size
        self.axis = 0.25 * size

    def text_width(self, text: str, small: bool = False) -> float:
        """Return the width of a text, pixels."""
        key = text, small
        if key not in self._advances:
            self._advances[key] = self._metrics[small].horizontalAdvance(text)
        return self._advances[key]

    # ------------------------------------------------------------------------------- tokens

    def upright_token(self, text: str, *, breaks: bool = False) -> Token:
        """Return a token of upright letters, brackets or signs."""
        key = f"{breaks} {text}"
        if key not in self._made:
            self._made[key] = Token(
                (GlyphPiece(text, 0.0, 0.0),), self.text_width(text), self.ascent, self.descent, (), breaks
            )
        return self._made[key]

    def single_token(self, form: Form) -> Token:
        """Return the token of a number, a symbol, or a sine or cosine with an abbreviation such as S1."""
        if form not in self._made:
            if isinstance(form, Number):
                self._made[form] = self._number_token(form.value)
            elif isinstance(form, Symbol):
                self._made[form] = self.symbol_token(form.name)
            else:
                assert isinstance(form, SineOrCosine)
                names = tuple(name for name, _ in form.angle)
                self._made[form] = self.letter_token(form.function[0].upper(), short_angle_name(form.angle), 0, names)
        return self._made[form]

    def symbol_token(self, name: str) -> Token:
        """Return the token of a symbol with its index and dots."""
        if name.startswith("sqrt("):
            return self.upright_token("√" + name[5:-1])
        stem, index, dots = split_name(name.removesuffix(PRIME))
        made = self.letter_token(
            _GREEK_LETTERS[stem] if stem in GREEK and stem in _GREEK_LETTERS else stem, index, dots, (name,)
        )
        if not name.endswith(PRIME):
            return made
        at = made.width + 0.02 * self.size
        pieces = (*made.pieces, GlyphPiece("′", at, 0.0))
        return made._replace(pieces=pieces, width=at + self.text_width("′"))

    def title_tokens(self, latex: str) -> list[Token]:
        r"""Return the tokens of a matrix name in LaTeX, such as A_{1} or M(q); other LaTeX is shown as plain text."""
        match = _TITLE.fullmatch(latex)
        if match is None:
            return [self.upright_token(latex)]
        index = (match["index"] or match["letter"] or "").replace("\\,", " ").replace("\\_", "_")
        name = self.letter_token(match["stem"], index, 0, ())
        argument = match["argument"]
        return (
            [name, self.upright_token("("), self.symbol_token(argument), self.upright_token(")")]
            if argument
            else [name]
        )

    def letter_token(self, stem: str, index: str, dots: int, symbols: tuple[str, ...]) -> Token:
        """Return the token of a letter (italic; longer names upright) with an index below and dots above it."""
        letter = italic(stem) if len(stem) == 1 else stem
        width = self.text_width(letter)
        pieces = [GlyphPiece(letter, 0.0, 0.0)]
        if dots:
            row = "." * dots
            pieces.append(
                GlyphPiece(row, (width - self.text_width(row)) / 2.0 + 0.04 * self.size, -self._dots_height(letter))
            )
        if index:
            pieces.append(GlyphPiece(index, width + 0.02 * self.size, 0.22 * self.size, True))
            width += self.text_width(index, True) + 0.03 * self.size
        descent = self.descent + (0.1 * self.size if index else 0.0)
        return Token(tuple(pieces), width, self.ascent + (0.1 * self.size if dots else 0.0), descent, symbols)

    def _dots_height(self, letter: str) -> float:
        """Return the height above the baseline at which dots over a letter are drawn."""
        return -self._metrics[0].tightBoundingRect(letter).top() + 0.1 * self.size

    def _number_token(self, value: Fraction) -> Token:
        if value.denominator == 1 or not is_short_fraction(value):
            text = str(value.numerator).replace("-", "−") if is_short_fraction(value) else format_number(value)
            return Token((GlyphPiece(text, 0.0, 0.0),), self.text_width(text), self.ascent, self.descent)
        front = "−" if value < 0 else ""
        top, bottom = str(abs(value.numerator)), str(value.denominator)
        left = self.text_width(front) if front else 0.0
        wide = max(self.text_width(top, True), self.text_width(bottom, True)) + 0.12 * self.size
        pieces = [GlyphPiece(front, 0.0, 0.0)] if front else []
        pieces += [
            GlyphPiece("", left, -self.axis, bar=wide),
            GlyphPiece(top, left + (wide - self.text_width(top, True)) / 2.0, -self.axis - 0.14 * self.size, True),
            GlyphPiece(
                bottom, left + (wide - self.text_width(bottom, True)) / 2.0, -self.axis + 0.58 * self.size, True
            ),
        ]
        return Token(tuple(pieces), left + wide + 0.04 * self.size, 0.92 * self.size, 0.42 * self.size)

    def with_exponent(self, token: Token, exponent: int) -> Token:
        """Return a token with an exponent."""
        text = str(exponent)
        has_index = any(piece.small and piece.y > 0.0 for piece in token.pieces)
        at = next(p.x for p in token.pieces if p.small and p.y > 0.0) if has_index else token.width
        width = max(token.width, at + self.text_width(text, True) + 0.04 * self.size)
        pieces = (*token.pieces, GlyphPiece(text, at + 0.03 * self.size, -0.36 * self.size, True))
        return token._replace(pieces=pieces, width=width, ascent=max(token.ascent, 0.86 * self.size))

    # ------------------------------------------------------------------------------- forms

    def form_tokens(self, form: Form) -> Iterator[Token]:
        """Yield the tokens of an expression from left to right."""
        negative, positive = split_sign(form)
        if negative:
            yield self.upright_token("−")
            yield from self._bracketed_tokens(positive) if isinstance(positive, Sum) else self.form_tokens(positive)
        elif isinstance(form, Number | Symbol) or (isinstance(form, SineOrCosine) and short_angle_name(form.angle)):
            yield self.single_token(form)
        elif isinstance(form, SineOrCosine):
            yield from self._trig_tokens(form)
        elif isinstance(form, Power):
            yield from self._power_tokens(form)
        elif isinstance(form, Quotient):
            yield from self._quotient_tokens(form)
        elif isinstance(form, Function):
            yield from self._function_tokens(form)
        elif isinstance(form, Product):
            for k, factor in enumerate(form.factors):
                if k:
                    yield self._space_token(0.14)
                yield from self._bracketed_tokens(factor) if isinstance(factor, Sum) else self.form_tokens(factor)
        elif isinstance(form, Sum):
            yield from self._sum_tokens(form)

    def _sum_tokens(self, form: Sum) -> Iterator[Token]:
        for k, term in enumerate(form.terms):
            negative, positive = split_sign(term)
            if k:
                yield self.upright_token(" − " if negative else " + ", breaks=True)
            elif negative:
                yield self.upright_token("−")
            yield from self._bracketed_tokens(positive) if isinstance(positive, Sum) else self.form_tokens(positive)

    def _bracketed_tokens(self, form: Form) -> Iterator[Token]:
        yield self.upright_token("(")
        yield from self.form_tokens(form)
        yield self.upright_token(")")

    def _power_tokens(self, form: Power) -> Iterator[Token]:
        base = form.base
        plain = isinstance(base, Symbol) or (isinstance(base, SineOrCosine) and short_angle_name(base.angle))
        parts = list(self.form_tokens(base) if plain else self._bracketed_tokens(base))
        yield from parts[:-1]
        yield self.with_exponent(parts[-1], form.exponent)

    def _trig_tokens(self, form: SineOrCosine) -> Iterator[Token]:
        yield self.upright_token(f"{form.function}(")
        for k, (name, times) in enumerate(form.angle):
            if k or times < 0:
                yield self.upright_token((" − " if k else "−") if times < 0 else " + ")
            if abs(times) != 1:
                yield self.upright_token(f"{abs(times)}")
            yield self.single_token(Symbol(name))
        yield self.upright_token(")")

    def _quotient_tokens(self, form: Quotient) -> Iterator[Token]:
        """Yield the tokens of a fraction, or of an inline quotient if the fraction would be too wide."""
        top, bottom = list(self.form_tokens(form.top)), list(self.form_tokens(form.bottom))
        wide = max(sum(token.width for token in row) for row in (top, bottom))
        if wide > WIDEST_FRACTION * self.size:
            yield from self._bracketed_tokens(form.top) if isinstance(form.top, Sum) else top
            yield self.upright_token(" / ", breaks=True)
            plain = isinstance(form.bottom, Symbol | Number | SineOrCosine)
            yield from bottom if plain else self._bracketed_tokens(form.bottom)
            return
        wide += 0.3 * self.size
        gap = 0.1 * self.size
        up, down = max(token.descent for token in top), max(token.ascent for token in bottom)
        places = [
            *self._centred_row(top, wide, -self.axis - gap - up),
            *self._centred_row(bottom, wide, -self.axis + gap + down),
        ]
        made = self._composite_token(places, wide)
        bar = GlyphPiece("", 0.05 * self.size, -self.axis, bar=wide - 0.1 * self.size)
        yield made._replace(pieces=(bar, *made.pieces), width=wide + 0.08 * self.size)

    def _function_tokens(self, form: Function) -> Iterator[Token]:
        """Yield the tokens of a root, with a bar if it is narrow and low enough, or of atan2(y, x)."""
        if form.name == "sqrt":
            inside = list(self.form_tokens(form.arguments[0]))
            wide, up = sum(token.width for token in inside), max(token.ascent for token in inside)
            if wide <= WIDEST_FRACTION * self.size and up <= self.size:
                sign = self.upright_token("√")
                made = self._composite_token(
                    [(0.0, 0.0, sign), *self._centred_row(inside, wide, 0.0, sign.width)], sign.width + wide
                )
                bar = GlyphPiece("", sign.width - 0.02 * self.size, -0.9 * self.size, bar=wide + 0.06 * self.size)
                height = max(made.ascent, 0.98 * self.size)
                yield made._replace(pieces=(bar, *made.pieces), ascent=height, width=made.width + 0.08 * self.size)
                return
        yield self.upright_token("√(" if form.name == "sqrt" else f"{form.name}(")
        for k, argument in enumerate(form.arguments):
            if k:
                yield self.upright_token(", ", breaks=False)
            yield from self.form_tokens(argument)
        yield self.upright_token(")")

    def _centred_row(
        self, tokens: list[Token], width: float, y: float, left: float = 0.0
    ) -> Iterator[tuple[float, float, Token]]:
        """Yield the positions of tokens in a row centred in the given width."""
        x = left + (width - sum(token.width for token in tokens)) / 2.0
        for token in tokens:
            yield x, y, token
            x += token.width

    def _composite_token(self, placed_tokens: list[tuple[float, float, Token]], width: float) -> Token:
        """Return one token composed of placed tokens."""
        pieces = tuple(p._replace(x=x + p.x, y=y + p.y) for x, y, token in placed_tokens for p in token.pieces)
        ascent = max(token.ascent - y for _, y, token in placed_tokens)
        descent = max(token.descent + y for _, y, token in placed_tokens)
        symbols = tuple(dict.fromkeys(name for _, _, token in placed_tokens for name in token.symbols))
        return Token(pieces, width, ascent, descent, symbols, False, tuple(placed_tokens))

    def _space_token(self, share: float) -> Token:
        return Token((), share * self.size, 0.0, 0.0)

    def paint_token(self, painter: QPainter, token: Token, x: float, baseline: float) -> None:
        """Paint a token in the painter's pen colour."""
        for piece in token.pieces:
            if piece.bar:
                line = QRectF(x + piece.x, baseline + piece.y, piece.bar, max(1.0, self.size / 18.0))
                painter.fillRect(line, painter.pen().color())
            elif piece.text.strip():
                painter.setFont(self.fonts[piece.small])
                painter.drawText(QPointF(x + piece.x, baseline + piece.y), piece.text)


def _formula_font(size: float) -> QFont:
    font = QFont(formula_font_family())
    font.setPixelSize(max(1, round(size)))
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


def italic(letter: str) -> str:
    """Return the mathematical italic character for a Latin or Greek letter."""
    if letter == "h":
        return "\u210e"
    for first, last, start in (("A", "Z", 0x1D434), ("a", "z", 0x1D44E), ("α", "ω", 0x1D6FC)):
        if first <= letter <= last:
            return chr(start + ord(letter) - ord(first))
    return letter


class TypesetForm:
    """Expression that is being typeset in lines of limited width; it can be painted before it is complete."""

    def __init__(self, form: Form, hand: Typesetter, width: float) -> None:
        self.hand, self.limit = hand, width
        self.done = False
        self.placed: list[PlacedToken] = []
        self.lines: list[tuple[float, float]] = [(hand.ascent, hand.descent)]
        self.starts = [0]
        """Number of the first token of each line."""
        self.width = 0.0
        self._tokens = hand.form_tokens(form)
        self._x = 0.0
        self._chunk: list[Token] = []

    def typeset_until(self, deadline: float) -> bool:
        """Continue typesetting until a time of `time.perf_counter`; return True when done."""
        while not self.done:
            for _ in range(50):
                token = next(self._tokens, None)
                if token is None or token.breaks:
                    self._place_tokens()
                if token is None:
                    self.done = True
                    break
                self._chunk.append(token)
            if time.perf_counter() > deadline:
                break
        return self.done

    def _place_tokens(self) -> None:
        """Place the tokens since the last possible line break on the current line, or on the next if they do not
        fit."""
        wide = sum(token.width for token in self._chunk)
        if self._x > 0.0 and self._x + wide > self.limit:
            self._x = 1.2 * self.hand.size
            self.lines.append((self.hand.ascent, self.hand.descent))
            self.starts.append(len(self.placed))
        for token in self._chunk:
            self.placed.append(PlacedToken(self._x, len(self.lines) - 1, token))
            up, down = self.lines[-1]
            self.lines[-1] = max(up, token.ascent), max(down, token.descent)
            self._x += token.width
        self.width = max(self.width, self._x)
        self._chunk = []

    @property
    def line_gap(self) -> float:
        """Return the vertical gap between lines, pixels."""
        return 0.25 * self.hand.size

    @property
    def height(self) -> float:
        """Return the total height of all lines, pixels."""
        return sum(up + down for up, down in self.lines) + self.line_gap * (len(self.lines) - 1)

    def baselines(self) -> list[float]:
        """Return the baselines of the lines, measured from the top."""
        y, found = 0.0, []
        for up, down in self.lines:
            found.append(y + up)
            y += up + down + self.line_gap
        return found

    def paint(
        self,
        painter: QPainter,
        x: float,
        top: float,
        visible: tuple[float, float],
        marked: Collection[str],
        colors: tuple[QColor, QColor],
    ) -> None:
        """Paint the lines between two heights; tokens with a marked symbol are highlighted (colors: of letters, of the
        highlight)."""
        letters, tint = colors
        painter.setPen(letters)
        for k, baseline in enumerate(self.baselines()):
            up, down = self.lines[k]
            if top + baseline + down < visible[0] or top + baseline - up > visible[1]:
                continue
            for placed in self.line_tokens(k):
                if marked and any(name in marked for name in placed.token.symbols):
                    for left, drop, token in _marked_tokens(placed.token, marked):
                        high, low = (token.ascent, token.descent) if placed.token.inner else (up, down)
                        place = QRectF(
                            x + placed.x + left - 1.0, top + baseline + drop - high, token.width + 2.0, high + low
                        )
                        painter.fillRect(place, tint)
                self.hand.paint_token(painter, placed.token, x + placed.x, top + baseline)

    def line_tokens(self, index: int) -> list[PlacedToken]:
        """Return the placed tokens of a line."""
        end = self.starts[index + 1] if index + 1 < len(self.starts) else len(self.placed)
        return self.placed[self.starts[index] : end]

    def find_token(self, x: float, y: float) -> Token | None:
        """Return the token at a position; None if there is none."""
        for k, baseline in enumerate(self.baselines()):
            up, down = self.lines[k]
            if baseline - up <= y <= baseline + down + self.line_gap:
                line = self.line_tokens(k)
                number = bisect_right([placed.x for placed in line], x) - 1
                found = line[number] if number >= 0 else None
                if found is None or x > found.x + found.token.width:
                    return None
                return _innermost_token(found.token, x - found.x, y - baseline)
        return None


def _marked_tokens(
    token: Token, marked: Collection[str], x: float = 0.0, y: float = 0.0
) -> Iterator[tuple[float, float, Token]]:
    """Yield the innermost tokens with a marked symbol and their positions."""
    if not any(name in marked for name in token.symbols):
        return
    if not token.inner:
        yield x, y, token
    for left, drop, each in token.inner:
        yield from _marked_tokens(each, marked, x + left, y + drop)


def _innermost_token(token: Token, x: float, y: float) -> Token:
    """Return the innermost token of a composite token at a position."""
    for left, drop, each in token.inner:
        if left <= x <= left + each.width and drop - each.ascent <= y <= drop + each.descent:
            return _innermost_token(each, x - left, y - drop)
    return token._replace(symbols=()) if token.inner else token
