"""A process that computes chunks of a study: objects come on the input stream, answers go on the output stream."""

from __future__ import annotations

import contextlib
import os
import signal
import sys

from core.studies.backends import compute, receive, send
from core.studies.declaration import read_declaration
from core.studies.sample_rows import Machine


def main() -> None:
    """Until the input ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # words of libraries are no answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever began it says when it ends
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)
    machine = None
    with contextlib.suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        text = receive(sys.stdin.buffer)
        while True:
            chunk = receive(sys.stdin.buffer)
            try:
                machine = machine or Machine(read_declaration(text))
                send(answers, compute(machine, chunk))
            except Exception as error:
                send(answers, error)


if __name__ == "__main__":
    main()
