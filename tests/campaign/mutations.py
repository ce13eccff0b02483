"""Ways to spoil a file: its bytes, its words, its lines."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

NUMBERS = (
    "1e308",
    "-1e308",
    "1e-320",
    "1e400",
    "-1e400",
    "nan",
    "-nan",
    "inf",
    "-inf",
    "-0",
    "0",
    "-1",
    "1",
    "1" + "0" * 400,
    "0." + "0" * 400 + "1",
    "",
    "true",
    "yes",
    "30 deg",
    "50 mm",
    "3 kg",
    "1/0",
    "0/0",
    "9^9^9^9",
    "-pi/1e-320",
    "sqrt(-1)",
    "asin(2)",
    "0x1F",
    "1_000",
    "١٢٣",
    "½",
    "1,5",
    "1e",
    ".5",
    "5.",
    "--1",
    "1 2",
    "[]",
    "{}",
    "2147483648",
    "-9223372036854775809",
    "1e15",
    "1e-15",
    "1e154",
    "1e-154",
    "1e200",
    "None",
    "t",
    "e",
    "if(t < 1, 2, 3)",
)
"""What stands where a number is expected."""
NAMES = (
    "",
    " ",
    "ü",
    "名前",
    "𝔘𝔫",
    "\u202egnp",
    "\u2028",
    "\ufeff",
    "é" * 50,
    "a\tb",
    "a\\nb",
    "\x07",
    "\x00",
    "\x7f",
    "\ud7ff",
    "<b>x</b>",
    "&lt;i&gt;",
    "&amp;",
    "&x;",
    "<img src='x'>",
    "'",
    '"',
    "`",
    "%s%n",
    "{0}",
    "${x}",
    "$(find x)",
    "#",
    "//",
    "../../etc/passwd",
    "/dev/null",
    "/",
    ".",
    "..",
    "~",
    "C:\\x",
    "file:///x",
    "package://x/y",
    "a" * 5000,
    "a b",
    "a.b",
    "a.b.c.q",
    ".a",
    "a.",
    "world",
    "base",
    "name",
    "t",
    "pi",
    "e",
    "if",
    "and",
    "not",
    "true",
    "null",
    "-",
    "- a",
    "a: b",
    "0",
    "1.5",
    "!!python/object:os.system",
    "&anchor",
    "*alias",
    "<<",
    "@",
    "|",
    ">",
    "%",
    "?",
    "__class__",
)
"""What stands where a name is expected."""
BYTES = (
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x80",
    b"\r",
    b"\n\n",
    b"\t",
    b"[[[[",
    b"}}",
    b"<!--",
    b"-->",
    b"]]>",
    b"<![CDATA[",
    b"&#0;",
    b"<!ENTITY a 'b'>",
    b"(" * 100,
    b"'",
    b'"',
    b"\\",
    b"---\n",
    b"<?x?>",
    b"%",
)
"""What stands anywhere."""

PIECES = tuple(
    piece.encode()
    for piece in (
        *("9", "a", ".", "1.", "-", "1e", "1_", "a1", "a.", "_", "1,", "1 ", " ", "\t", "\n", "(", "[", "{", "((", "'"),
        *('"', "*", "/", "//", ":", "1:", "#", "+", "1+", "kg", "kg·", "^", "%", "$", "${", "<!--a-->", "<!-- ", "(*"),
        *("(* *)", "&amp;", "\\", "a b", "a=", "é", "²", "10²", "·"),
    )
)
"""What long words are made of."""
_GAP = re.compile(rb"[ \t\n]+")
_WORD = re.compile(rb"[\w.+\-]+")
_NUMBER = re.compile(rb"(?<![\w.])[-+]?(?:\d++\.?\d*+|\.\d++)(?:[eE][-+]?\d++)?+(?![\w.])")

Mutation = Callable[[random.Random, bytes], bytes]


def _span(luck: random.Random, data: bytes, longest: int = 200) -> tuple[int, int]:
    first = luck.randrange(len(data) + 1)
    return first, min(first + luck.randint(1, longest), len(data))


def flip(luck: random.Random, data: bytes) -> bytes:
    """A bit is another."""
    if not data:
        return data
    out = bytearray(data)
    out[luck.randrange(len(out))] ^= 1 << luck.randrange(8)
    return bytes(out)


def truncate(luck: random.Random, data: bytes) -> bytes:
    """The end is missing."""
    return data[: luck.randrange(len(data) + 1)]


def cut(luck: random.Random, data: bytes) -> bytes:
    """A piece is missing."""
    first, last = _span(luck, data)
    return data[:first] + data[last:]


def repeat(luck: random.Random, data: bytes) -> bytes:
    """A piece stands somewhere else once more."""
    first, last = _span(luck, data)
    at = luck.randrange(len(data) + 1)
    return data[:at] + data[first:last] * luck.choice((1, 1, 1, 3)) + data[at:]


def insert(luck: random.Random, data: bytes) -> bytes:
    """Something that does not belong there."""
    at = luck.randrange(len(data) + 1)
    return data[:at] + luck.choice(BYTES) + data[at:]


def _replaced(luck: random.Random, data: bytes, pattern: re.Pattern[bytes], new: bytes) -> bytes:
    found = list(pattern.finditer(data))
    if not found:
        return data + new
    match = luck.choice(found)
    return data[: match.start()] + new + data[match.end() :]


def number(luck: random.Random, data: bytes) -> bytes:
    """A number is one that nobody writes."""
    return _replaced(luck, data, _NUMBER, luck.choice(NUMBERS).encode())


def digit(luck: random.Random, data: bytes) -> bytes:
    """A number is another of any size."""
    value = luck.choice((luck.uniform(-10, 10), 10.0 ** luck.uniform(-300, 300), float(luck.randint(-5, 5))))
    return _replaced(luck, data, _NUMBER, repr(value).encode())


def word(luck: random.Random, data: bytes) -> bytes:
    """A word is a name that nobody gives."""
    return _replaced(luck, data, _WORD, luck.choice(NAMES).encode("utf-8", "surrogatepass"))


def long_word(luck: random.Random, data: bytes) -> bytes:
    """A word, a number or a gap is the same letters again and again: what reads it must take as long as it is, not its
    square."""
    pattern = luck.choice((_WORD, _NUMBER, _GAP))
    return _replaced(luck, data, pattern, luck.choice(PIECES) * luck.choice((10_000, 30_000, 100_000)))


def exchange(luck: random.Random, data: bytes) -> bytes:
    """A word is another word of the file: a reference to something else, a key that is taken."""
    found = _WORD.findall(data)
    return _replaced(luck, data, _WORD, luck.choice(found)) if found else data


def lines(luck: random.Random, data: bytes) -> bytes:
    """Lines are missing, doubled, exchanged, indented."""
    rows = data.split(b"\n")
    first = luck.randrange(len(rows))
    last = min(first + luck.choice((1, 1, 2, 5)), len(rows))
    match luck.randrange(5):
        case 0:
            del rows[first:last]
        case 1:
            rows[first:first] = rows[first:last]
        case 2:
            other = luck.randrange(len(rows))
            rows[first], rows[other] = rows[other], rows[first]
        case 3:
            rows[first] = luck.choice((b"  ", b" ", b"\t", b"    ")) + rows[first]
        case _:
            rows[first] = rows[first].strip()
    return b"\n".join(rows)


MUTATIONS: dict[Mutation, int] = {
    flip: 1,
    truncate: 1,
    cut: 1,
    repeat: 1,
    insert: 1,
    number: 3,
    digit: 4,
    word: 2,
    long_word: 1,
    exchange: 2,
    lines: 2,
}
"""Mutations and how often each is drawn beside the others."""


def spoiled(luck: random.Random, data: bytes) -> bytes:
    """The file after a few mutations, mostly one or two."""
    for _ in range(luck.choice((1, 1, 1, 1, 2, 2, 3, 5))):
        data = luck.choices(list(MUTATIONS), list(MUTATIONS.values()))[0](luck, data)
    return data
