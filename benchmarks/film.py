"""Films at 720p: `python -m benchmarks.film [EXAMPLE …]`.

Pictures a second on the clock; processor time of a picture in ms, of all threads, and of the threads that set up the
scene, draw, read pixels and encode.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measure import once
from core.files import load
from core.simulation import simulate
from resources import EXAMPLES
from viz.film import encoders, film
from viz.film.footage import footage_of_run
from viz.pictures import picture_files
from viz.scene.scene import Scene

SECONDS = 4.0
PARTS = {
    "scene": (film.FilmStage, "show_frame"),
    "drawing": (Scene, "render"),
    "pixels": (picture_files, "read_pixels"),
    "encoding": (encoders.VideoEncoder, "add_frame"),
}


def main() -> None:
    """Film the examples and print the times."""
    warnings.simplefilter("ignore")
    spent = dict.fromkeys(PARTS, 0.0)
    for name, (owner, function) in PARTS.items():
        setattr(owner, function, _timed(name, getattr(owner, function), spent))
    for example in sys.argv[1:] or ("engine_v6", "puma560"):
        run = simulate(load(EXAMPLES / f"{example}.kst"), SECONDS, output=0.01)
        footage = footage_of_run(run)
        count = len(footage.times)
        spent.update(dict.fromkeys(PARTS, 0.0))
        with tempfile.TemporaryDirectory() as folder:
            began = time.process_time()
            seconds = once(partial(film.render_film, footage, Path(folder) / "film.mp4"))
            whole = time.process_time() - began
        parts = ", ".join(f"{name} {1e3 * each / count:.1f}" for name, each in spent.items())
        print(
            f"{example:12s} {count / seconds:6.1f} a second; processor {1e3 * whole / count:.1f} ms a picture: {parts}"
        )


def _timed(name: str, function: Callable[..., Any], spent: dict[str, float]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        began = time.thread_time()
        try:
            return function(*arguments, **options)
        finally:
            spent[name] += time.thread_time() - began

    return call


if __name__ == "__main__":
    main()
