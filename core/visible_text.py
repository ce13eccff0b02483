"""Display of untrusted text: control characters and direction marks are made visible, so that they cannot affect the
surrounding text."""

from __future__ import annotations

import re

_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters (terminals take them as commands) but tab and new line
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # change the direction of writing
    "\u2028\u2029\ufeff"  # break lines or are nothing
    "\ud800-\udfff"  # bytes of file names that no encoding knows
    "]"
)


def visible(text: str) -> str:
    """Return the text with control characters and direction marks as escapes such as `\\u001b`, as in JSON."""
    return _UNSEEN.sub(_escape_sequence, text.replace("\r\n", "\n"))


def _escape_sequence(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
