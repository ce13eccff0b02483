"""From the command to the first picture with the machine.

    python -m benchmarks.startup [FILE]

Starts the program on a file (or the first example) and tells for each step the wall time since the command and the
processor time of the program. First with what the disk's cache holds; an empty machine-code cache changes nothing
until the first run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.window.window import Window

BEGAN = "KINETOSTAT_BEGAN"
"""Where the program is told when the command was given, s."""
TIMES = 3


def tell(words: str) -> None:
    """A step is done."""
    print(f"{time.time() - float(os.environ[BEGAN]):8.2f} {time.process_time():10.2f}  {words}", flush=True)


def watched() -> None:
    """In the program: tell the steps, and end after the first picture of the machine."""
    tell("Python")
    from app.window import start
    from app.window.window import Window

    tell("modules")
    made = Window.__init__

    def make(window: Window, *arguments: Any, **keywords: Any) -> None:
        made(window, *arguments, **keywords)
        tell("window")
        window.viewport.drawn.connect(lambda: look(window))

    Window.__init__ = make  # type: ignore[method-assign]
    start.start(sys.argv[2] if len(sys.argv) > 2 else "", ["kinetostat"])


def look(window: Window) -> None:
    """Whether the picture shows the machine."""
    model = window.session.model
    if model.joints or model.chains or model.bodies:
        tell("picture of the machine")
        os._exit(0)


def main() -> None:
    """Start the program a few times."""
    if sys.argv[1:2] == ["--watched"]:
        watched()
        return
    print("    wall  processor  s after the command")
    for _ in range(TIMES):
        os.environ[BEGAN] = str(time.time())
        subprocess.run([sys.executable, "-m", "benchmarks.startup", "--watched", *sys.argv[1:]], check=True)


if __name__ == "__main__":
    main()
