"""A process that computes chunks of a study: objects come on the input stream, answers go on the output stream."""

from __future__ import annotations

import contextlib

from core.apart.piped_process import receive, send, serve
from core.files.sent_model import register_packed
from core.studies.backends import compute
from core.studies.declaration import read_declaration
from core.studies.sample_rows import Machine


def main() -> None:
    """Until the input ends."""
    questions, answers = serve()
    machine = None
    with contextlib.suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        text, kinds = receive(questions)
        while True:
            chunk = receive(questions)
            try:
                if machine is None:
                    register_packed(kinds)
                    machine = Machine(read_declaration(text))
                send(answers, compute(machine, chunk))
            except Exception as error:
                send(answers, error)


if __name__ == "__main__":
    main()
