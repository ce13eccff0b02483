"""Pipe protocol of worker processes: pickled objects on standard input, answers on standard output.

Both sides are this program, so that objects go as pickles; what files hold goes as text, which carries no code. Such a
process has a low priority and one thread of linear algebra, and ends when its input does.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import struct
import sys
from typing import IO, Any

LENGTH = struct.Struct("<Q")
BROKEN = (OSError, EOFError, ValueError, pickle.UnpicklingError)
"""Errors that `send` and `receive` raise if the other side has ended."""


def serve() -> tuple[IO[bytes], IO[bytes]]:
    """Input and output streams of a worker process, for use inside it."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # words of libraries are no answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever began it says when it ends
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)
    return sys.stdin.buffer, answers


def send(stream: IO[bytes], what: Any) -> None:
    """Write an object. Raises OSError if the other side has ended."""
    content = pickle.dumps(what)
    stream.write(LENGTH.pack(len(content)) + content)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read an object. Raises EOFError if the other side has ended."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return pickle.loads(content)
