"""Forms written as text: Robotica's notation, LaTeX, Mathematica, Python, C, SymPy.

C12 means cos(q1 + q2), S1 sin(q1), Dq1 the speed of q1 and DDq1 its acceleration.

Factors with long denominators are multiplied into sums as plain decimals, exact all the same; `number` writes a number
with few digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, Inexact, localcontext
from fractions import Fraction
from keyword import kwlist
from typing import Any, NamedTuple

from core.model.formula.numerals import format_readable
from core.symbolic.forms import (
    ONE,
    Form,
    Function,
    Number,
    Power,
    Product,
    Quotient,
    SineOrCosine,
    Sum,
    Symbol,
    make_product,
    make_sum,
    split_sign,
    subexpressions,
    with_subexpressions,
)

SHORT_DENOMINATOR, SHORT_NUMERATOR = 64, 99_999
"""Largest denominator and numerator of a number that is written as a fraction."""
DIGITS = 6

_MADE_OF_PARTS = (Quotient, Function)
Kept = dict[tuple[int, Fraction], tuple[Form, Form]]
"""Cache of legible sums: (id of the sum, factor) → (legible form, the sum itself)."""
_NUMBERED = re.compile(r"[A-Za-z]+_?(\d)")
_PARTS = re.compile(r"(?P<rate>D{0,2})(?P<stem>[A-Za-zα-ωΑ-Ω]+)_?(?P<index>[0-9]*[a-z]{0,2})")
PRIME = "_prime"
"""Suffix in the name of a derivative with respect to the independent coordinate."""
GREEK = {
    "alpha",
    "beta",
    "gamma",
    "delta",
    "theta",
    "phi",
    "psi",
    "omega",
    "rho",
    "sigma",
    "tau",
    "lambda",
    "mu",
    "eta",
    "kappa",
    "xi",
    "chi",
}
_JOINED = {Product, Number, Power}
"""Types of forms that need brackets when raised to a power."""
_OF_C = """auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while"""
_USED = ("array", "cos", "sin", "sqrt", "tan", "arctan2", "atan2", "out", "Matrix", "Rational", "symbols")
_RESERVED = {*kwlist, *_OF_C.split(), *_USED}
"""Keywords of Python and C, and names used by generated code."""


def is_short_fraction(x: Fraction) -> bool:
    """Return True if a number is short enough to be written as a fraction."""
    return x.denominator <= SHORT_DENOMINATOR and abs(x.numerator) <= SHORT_NUMERATOR


def make_legible(form: Form, factor: Fraction = ONE.value, cache: Kept | None = None) -> Form:
    """Return the form times a factor; unwieldy numbers in front of sums are multiplied into them.

    cache : remembers sums, for forms that have some in common (they stay in common)
    """
    if isinstance(form, Number):
        return form if factor is ONE.value else Number(form.value * factor)
    if isinstance(form, Sum):
        cache = {} if cache is None else cache
        key = id(form), factor
        if key not in cache:
            cache[key] = make_sum([make_legible(term, factor, cache) for term in form.terms]), form
        return cache[key][0]
    if isinstance(form, Power):
        return make_product(Number(factor), Power(make_legible(form.base, cache=cache), form.exponent))
    if isinstance(form, _MADE_OF_PARTS):
        inner = with_subexpressions(form, [make_legible(part, cache=cache) for part in subexpressions(form)])
        return inner if factor == 1 else make_product(Number(factor), inner)
    if not isinstance(form, Product):
        return form if factor == 1 else make_product(Number(factor), form)
    number, rest = factor, []
    for part in form.factors:
        if isinstance(part, Number):
            number = part.value if number is ONE.value else number * part.value
        else:
            rest.append(part)
    at = next((k for k, part in enumerate(rest) if isinstance(part, Sum)), None)
    if at is None or is_short_fraction(number):
        return (
            make_product(Number(number), *(make_legible(part, cache=cache) for part in rest))
            if rest
            else Number(number)
        )
    inside = [make_legible(part, number if k == at else ONE.value, cache) for k, part in enumerate(rest)]
    return make_product(*inside) if inside else ONE


def format_number(x: Fraction) -> str:
    """Write a number as a decimal with few digits."""
    return format_readable(f"{float(x):.{DIGITS}g}")


class _TrigStyle:
    """Setting of the user for how sines and cosines are written."""

    short = True


def uses_short_trig() -> bool:
    """Return True if cos(q1 + q2) is written C12."""
    return _TrigStyle.short


def set_short_trig(short: bool) -> None:
    """Select C12 or Cos[q1 + q2] for all formulas (text, LaTeX, pictures) written from now on."""
    _TrigStyle.short = short


def short_angle_name(angle: tuple[tuple[str, int], ...]) -> str:
    """Return the digits of a sum of numbered angles ("12" for q1 + q2); empty if there is no short name or long names
    are selected."""
    if not _TrigStyle.short:
        return ""
    digits = [short_angle_digit(name) for name, _ in angle]
    return "" if not all(digits) or any(k != 1 for _, k in angle) else "".join(digits)


def short_angle_digit(name: str) -> str:
    """Return the digit of an angle in C12 and S12 ("1" for q1); empty if it has none."""
    match = _NUMBERED.fullmatch(name)
    return match.group(1) if match else ""


_CALLS: dict[str, Callable[..., str]] = {
    "sqrt": lambda x: f"sqrt({x})",
    "sin": lambda x: f"sin({x})",
    "cos": lambda x: f"cos({x})",
    "atan2": lambda y, x: f"atan2({y}, {x})",
}


@dataclass(frozen=True)
class OutputLanguage:
    """Rules for writing the parts of a form in a language."""

    number: Callable[[Fraction], str]
    symbol: Callable[[str], str]
    trig: Callable[[SineOrCosine], str]
    power: Callable[[str, int], str]
    times: str
    minus: str = " - "
    plus: str = " + "
    brackets: tuple[str, str] = ("(", ")")
    fraction: Callable[[str, str], str] | None = None
    """Function that writes a quotient; None to use a slash."""
    functions: Mapping[str, Callable[..., str]] = field(default_factory=lambda: dict(_CALLS))

    def write(self, form: Form) -> str:
        """Write the whole form."""
        return _WRITERS[type(form)](self, form)

    def _write_number(self, form: Number) -> str:
        return f"-{self.number(-form.value)}" if form.value.numerator < 0 else self.number(form.value)

    def _write_symbol(self, form: Symbol) -> str:
        return self.symbol(form.name)

    def _write_trig(self, form: SineOrCosine) -> str:
        return self.trig(form)

    def _write_power(self, form: Power) -> str:
        return self.power(self._write_operand(form.base), form.exponent)

    def _write_product(self, form: Product) -> str:
        negative, positive = split_sign(form)
        if negative:
            return "-" + self._write_operand(positive, in_product=True)
        return self.times.join([self._write_operand(factor, in_product=True) for factor in form.factors])

    def _write_function(self, form: Function) -> str:
        return self.functions[form.name](*map(self.write, form.arguments))

    def _write_quotient(self, form: Quotient) -> str:
        if self.fraction is not None:
            return self.fraction(self.write(form.top), self.write(form.bottom))
        top = self._write_operand(form.top, in_product=True)
        return f"{top}/{self._write_operand(form.bottom, in_product=not isinstance(form.bottom, Product | Power))}"

    def _write_sum(self, form: Sum) -> str:
        parts: list[str] = []
        for term in form.terms:
            negative, positive = split_sign(term)
            parts.append((self.minus if negative else self.plus) if parts else "-" if negative else "")
            parts.append(self._write_operand(positive) if type(positive) is Sum else self.write(positive))
        return "".join(parts)

    def _write_operand(self, form: Form, *, in_product: bool = False) -> str:
        """Write the form as a factor or base, in brackets if needed."""
        kind, inner = type(form), self.write(form)
        needs = (
            kind is Sum
            or (not in_product and kind in _JOINED)
            or (kind is Quotient and (self.fraction is None or not in_product))
            or (isinstance(form, Number) and form.value.numerator < 0)
        )
        return f"{self.brackets[0]}{inner}{self.brackets[1]}" if needs else inner


_WRITERS: dict[type, Callable[[OutputLanguage, Any], str]] = {
    Number: OutputLanguage._write_number,
    Symbol: OutputLanguage._write_symbol,
    SineOrCosine: OutputLanguage._write_trig,
    Power: OutputLanguage._write_power,
    Product: OutputLanguage._write_product,
    Quotient: OutputLanguage._write_quotient,
    Function: OutputLanguage._write_function,
    Sum: OutputLanguage._write_sum,
}


def _angle_writer(write_symbol: Callable[[str], str], product_sign: str) -> Callable[[SineOrCosine], str]:
    def write_angle(trig: SineOrCosine) -> str:
        text = ""
        for name, k in trig.angle:
            sign = ("-" if k < 0 else "") if not text else (" - " if k < 0 else " + ")
            text += sign + (f"{abs(k)}{product_sign}" if abs(k) != 1 else "") + write_symbol(name)
        return text

    return write_angle


def _format_fraction(x: Fraction) -> str:
    return str(x.numerator) if x.denominator == 1 else f"{x.numerator}/{x.denominator}"


def _format_readable_number(x: Fraction) -> str:
    """Write a number as a simple fraction, or as a decimal number that is exact if it has up to 17 digits."""
    if is_short_fraction(x):
        return _format_fraction(x)
    with localcontext(prec=17) as context:
        decimal = Decimal(x.numerator) / Decimal(x.denominator)
        if context.flags[Inexact]:
            return repr(float(x))
        return f"{decimal:f}" if abs(decimal.adjusted()) < 7 else str(decimal).replace("E+", "e").replace("E", "e")


def _format_code_number(x: Fraction) -> str:
    """Write a number for floating-point code: a decimal number, or a quotient of floats."""
    if x.denominator == 1:
        return f"{x.numerator}.0"
    decimal = repr(float(x))
    return decimal if Fraction(decimal) == x else f"({x.numerator}.0/{x.denominator}.0)"


def to_identifier(name: str) -> str:
    """Convert a name to a valid identifier of Python and C: other characters become underscores, and keywords get a
    trailing underscore."""
    plain = re.sub(r"\W", "_", name)
    plain = plain if plain[:1].isalpha() or plain[:1] == "_" else f"_{plain}"
    return f"{plain}_" if plain in _RESERVED else plain


def _code_identifier(name: str) -> str:
    """Write a symbol of a form in code."""
    root = re.fullmatch(r"sqrt\((\d+)\)", name)
    return f"sqrt({root.group(1)}.0)" if root else to_identifier(name)


def _write_repeated_product(base: str, exponent: int) -> str:
    return "*".join([base] * exponent)


_plain_angle = _angle_writer(str, " ")


def _format_trig(trig: SineOrCosine) -> str:
    short = short_angle_name(trig.angle)
    return f"{trig.function[0].upper()}{short}" if short else f"{trig.function.title()}[{_plain_angle(trig)}]"


def _mathematica_name(name: str) -> str:
    root = re.fullmatch(r"sqrt\((\d+)\)", name)
    return f"Sqrt[{root.group(1)}]" if root else mathematica_name(name)


def mathematica_name(name: str) -> str:
    """Convert a name to a valid Mathematica name, without special characters and different from built-in single letters
    (E is 2.718…)."""
    plain = re.sub(r"[\W_]", "", name)
    return f"{plain}$" if plain in ("C", "D", "E", "I", "K", "N", "O", "Pi", "Degree") else plain


_mathematica_angle = _angle_writer(_mathematica_name, " ")
_code_angle = _angle_writer(_code_identifier, "*")


class NameParts(NamedTuple):
    """Parts of a symbol's name: Dq1 has the stem q, the index 1 and one dot."""

    stem: str
    below: str
    dots: int


def split_name(name: str) -> NameParts:
    """Split a name into stem, index and dots; a name that does not have these parts becomes the stem."""
    match = _PARTS.fullmatch(name)
    return NameParts(match["stem"], match["index"], len(match["rate"])) if match else NameParts(name, "", 0)


def format_latex_symbol(name: str) -> str:
    r"""Write a symbol in LaTeX: m1 → m_{1}, Dq1 → \dot{q}_{1}, alpha2 → \alpha_{2}, I2xx → I_{2xx}."""
    root = re.fullmatch(r"sqrt\((\d+)\)", name)
    if root:
        return rf"\sqrt{{{root.group(1)}}}"
    if name.endswith(PRIME):
        return format_latex_symbol(name.removesuffix(PRIME)) + "'"
    match = _PARTS.fullmatch(name)
    if match is None:
        return r"\mathrm{" + name.replace("_", r"\_") + "}"
    stem, index = match["stem"], match["index"]
    stem = "\\" + stem if stem in GREEK else stem if len(stem) == 1 else rf"\mathrm{{{stem}}}"
    stem = {"D": rf"\dot{{{stem}}}", "DD": rf"\ddot{{{stem}}}"}.get(match["rate"], stem)
    return f"{stem}_{{{index}}}" if index else stem


_latex_angle = _angle_writer(format_latex_symbol, "")


def _format_latex_trig(trig: SineOrCosine) -> str:
    short = short_angle_name(trig.angle)
    return f"{trig.function[0].upper()}_{{{short}}}" if short else rf"\{trig.function}({_latex_angle(trig)})"


def _format_latex_fraction(x: Fraction) -> str:
    if is_short_fraction(x):
        return str(x.numerator) if x.denominator == 1 else rf"\frac{{{x.numerator}}}{{{x.denominator}}}"
    digits, _, exponent = _format_readable_number(x).partition("e")
    return digits + (rf" \cdot 10^{{{int(exponent)}}}" if exponent else "")


LANGUAGES: dict[str, OutputLanguage] = {
    "text": OutputLanguage(
        _format_readable_number, lambda name: name.replace(PRIME, "′"), _format_trig, lambda base, n: f"{base}^{n}", " "
    ),
    "latex": OutputLanguage(
        _format_latex_fraction,
        format_latex_symbol,
        _format_latex_trig,
        lambda base, n: f"{base}^{{{n}}}",
        r"\,",
        fraction=lambda top, bottom: rf"\frac{{{top}}}{{{bottom}}}",
        functions={
            "sqrt": lambda x: rf"\sqrt{{{x}}}",
            "sin": lambda x: rf"\sin({x})",
            "cos": lambda x: rf"\cos({x})",
            "atan2": lambda y, x: rf"\operatorname{{atan2}}({y},\, {x})",
        },
    ),
    "mathematica": OutputLanguage(
        _format_fraction,
        _mathematica_name,
        lambda trig: f"{trig.function.title()}[{_mathematica_angle(trig)}]",
        lambda base, n: f"{base}^{n}",
        " ",
        functions={
            "sqrt": lambda x: f"Sqrt[{x}]",
            "sin": lambda x: f"Sin[{x}]",
            "cos": lambda x: f"Cos[{x}]",
            "atan2": lambda y, x: f"ArcTan[{x}, {y}]",
        },
    ),
    "python": OutputLanguage(
        _format_code_number,
        _code_identifier,
        lambda trig: f"{trig.function}({_code_angle(trig)})",
        lambda base, n: f"{base}**{n}",
        "*",
        functions=_CALLS | {"atan2": lambda y, x: f"arctan2({y}, {x})"},
    ),
    "c": OutputLanguage(
        _format_code_number,
        _code_identifier,
        lambda trig: f"{trig.function}({_code_angle(trig)})",
        _write_repeated_product,
        "*",
    ),
    "sympy": OutputLanguage(
        lambda x: f"Rational({x.numerator}, {x.denominator})" if x.denominator != 1 else str(x),
        lambda name: name if name.startswith("sqrt(") else _code_identifier(name),
        lambda trig: f"{trig.function}({_code_angle(trig)})",
        lambda base, n: f"{base}**{n}",
        "*",
    ),
}
"""Languages in which a form can be written."""


def format_form(form: Form, language: str = "text", cache: Kept | None = None) -> str:
    """Write the form in one of `LANGUAGES`; numbers are made legible in human-readable languages (cache: as in
    `make_legible`)."""
    return LANGUAGES[language].write(make_legible(form, cache=cache) if language in ("text", "latex") else form)


def to_sympy(form: Form, symbols: Callable[[str], Any]) -> Any:
    """Convert the form to a SymPy expression; `symbols(name)` gives the symbols."""
    import sympy

    if isinstance(form, Number):
        return sympy.Rational(form.value.numerator, form.value.denominator)
    if isinstance(form, Symbol):
        root = re.fullmatch(r"sqrt\((\d+)\)", form.name)
        return sympy.sqrt(int(root.group(1))) if root else symbols(form.name)
    if isinstance(form, SineOrCosine):
        return getattr(sympy, form.function)(sympy.Add(*(k * symbols(name) for name, k in form.angle)))
    if isinstance(form, Power):
        return to_sympy(form.base, symbols) ** form.exponent
    if isinstance(form, Quotient):
        return to_sympy(form.top, symbols) / to_sympy(form.bottom, symbols)
    if isinstance(form, Function):
        return getattr(sympy, form.name)(*(to_sympy(part, symbols) for part in form.arguments))
    kind, parts = (sympy.Mul, form.factors) if isinstance(form, Product) else (sympy.Add, form.terms)
    return kind(*(to_sympy(part, symbols) for part in parts))
