"""Latency of the live what-if: from the movement of a slider to the new run of 10 s in the session.

    python -m benchmarks.what_if

Prints the median and the largest of the latencies for the four-bar linkage and two arms.
"""

from __future__ import annotations

import os
import statistics
import sys
import time

MOVES = 30


def latencies(name: str) -> list[float]:
    """Seconds for each of some movements of the first joint's slider."""
    from PySide6.QtCore import QCoreApplication

    from app.session import Session
    from app.start import application
    from app.window import Window
    from core.files import load
    from resources import examples

    application(sys.argv)
    session = Session(load(next(example.path for example in examples() if example.name == name)))
    window = Window(session)
    window.show()
    heard: list[float] = []
    window.what_if.made.connect(heard.append)

    def wait(count: int) -> None:
        while len(heard) < count:
            QCoreApplication.processEvents()
            time.sleep(0.001)

    window.what_if.switch(True)
    wait(1)
    coordinate = session.mech.q_names[0]
    first = float(session.q[0])
    for k in range(MOVES):
        session.preview_coordinates({coordinate: first + 0.01 * k})
        wait(k + 2)
    session.cancel()
    window.dispose()
    return heard[1:]


def main() -> None:
    """Print the figures."""
    os.environ.setdefault("QT_QPA_PLATFORM", "xcb")
    for name in ("four_bar", "panda", "puma560"):
        taken = latencies(name)
        print(f"{name:10}  median {1e3 * statistics.median(taken):6.1f} ms   largest {1e3 * max(taken):6.1f} ms")


if __name__ == "__main__":
    main()
