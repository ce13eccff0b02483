"""Conversion of names of a machine to C identifiers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

KEYWORDS = frozenset(
    """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    and and_eq asm bitand bitor bool catch class compl delete explicit export false friend mutable namespace new not
    operator or private protected public template this throw true try typename using virtual xor
    """.split()  # noqa: SIM905
)
"""Keywords of C and of C++, because C++ compilers read the header, too."""


def identifier(name: str, otherwise: str = "machine") -> str:
    """Convert a name to letters, digits and underscores, without diacritics."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    found = re.sub(r"\W+", "_", plain).strip("_") or otherwise
    if found[0].isdigit():
        found = f"{otherwise}_{found}"
    return f"{found}_" if found in KEYWORDS else found


def identifiers(names: Iterable[str]) -> list[str]:
    """Convert names to distinct identifiers; later duplicates get a number."""
    taken: set[str] = set()
    result = []
    for name in names:
        first = found = identifier(name, "n")
        count = 2
        while found in taken:
            found, count = f"{first}_{count}", count + 1
        taken.add(found)
        result.append(found)
    return result
