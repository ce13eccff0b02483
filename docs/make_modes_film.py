"""Films of modes in the real window: a belt that sticks and slips, a pendulum that bounces off its stop:
`python -m docs.make_modes_film FOLDER`, on the present screen (also a virtual one)."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np

from app.document.session import ElementRef
from app.window.screenshots import open_example, process_events
from app.window.window import Window
from docs.make_drawing_film import height_of, hide_panels, picture, stage
from viz.film.encoders import create_encoder

SIZE = (760, 520)
WIDTH = 700
"""Of a film, pixels."""
RATE = 12
"""Pictures a second."""
PATIENCE = 30.0


class Film(NamedTuple):
    """An example, until when it is filmed (s), from where, and the body that fills the picture; none: all of it."""

    example: str
    end: float
    view: str
    body: str


FILMS = (Film("belt_oscillator", 3.76, "view.iso", "stand"), Film("bouncing_pendulum", 5.2, "view.front", ""))


def shoot(window: Window, film: Film, path: Path) -> None:
    """Run the example, and film its instants one after another."""
    open_example(window, film.example)
    window.run("simulation.run")
    process_events(lambda: window.session.runs.current is not None and window.player.is_playing, PATIENCE)
    if not window.player.is_playing:
        raise SystemExit(f"No run of {film.example} in {PATIENCE:g} s: {window.statusBar().currentMessage()}")
    window.run("play.toggle")
    hide_panels(window)
    window.run(film.view)
    process_events(seconds=1.0)
    window.viewport.viewpoint.fit_view(ElementRef("bodies", film.body) if film.body else None)
    process_events(seconds=1.5)
    frames = create_encoder(path, Fraction(RATE), (WIDTH, height_of(window.centralWidget(), WIDTH)))
    for t in np.arange(0.0, film.end, 1.0 / RATE):
        window.session.runs.seek(float(t))
        process_events(seconds=0.05)
        frames.add_frame(picture(window.centralWidget(), WIDTH))
    frames.finish()


def main(arguments: list[str]) -> int:
    """The command."""
    if len(arguments) != 1:
        print(f"Usage: python -m {__package__}.make_modes_film FOLDER", file=sys.stderr)
        return 2
    with stage(SIZE) as window:
        for film in FILMS:
            path = Path(arguments[0]) / f"{film.example}.gif"
            shoot(window, film, path)
            print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
