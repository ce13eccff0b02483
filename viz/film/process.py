"""Filming in a subprocess, so that neither the window nor its graphics wait for the rendering of frames."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from fractions import Fraction

from core.apart.talk import Line, Progress, Task
from core.apart.work_process import Left, Lost, WorkProcess
from core.errors import KinetostatError
from core.files.sent_model import pack_kinds, register_packed_kinds
from core.later import dataclass
from viz.film.film import Footage, shoot
from viz.look import LookName

ENDING = 5.0
"""Time that a cancelled film may take to finish its frame and delete its file, s."""


@dataclass(frozen=True, eq=False)
class FilmTask(Task):
    """Film task of a subprocess. kinds : packed user-defined kinds; path : absolute; footage : unpacked after the kinds
    are registered"""

    kinds: bytes
    footage: bytes
    path: str
    fps: float | Fraction
    size: tuple[int, int]
    look: LookName
    patience: float = ENDING

    def done(self, line: Line) -> int:
        register_packed_kinds(self.kinds)
        footage: Footage = pickle.loads(self.footage)
        try:
            return shoot(
                footage,
                self.path,
                fps=self.fps,
                size=self.size,
                look=self.look,
                progress=lambda part: line.tell(Progress(part)),
                cancelled=line.asked,
            )
        except KinetostatError:
            raise
        except Exception as error:
            raise KinetostatError(f"The film cannot be drawn: {type(error).__name__}: {error}.") from None


def film(
    footage: Footage,
    path: str | os.PathLike[str],
    *,
    fps: float | Fraction = 30,
    size: tuple[int, int] = (1280, 720),
    look: LookName = "light",
    progress: Callable[[float], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> int:
    """Run `viz.film.film.shoot` in a subprocess. The calling thread waits without holding the interpreter lock.

    Raises KindError if the machine has kinds of people that another process cannot import.
    """
    place = os.path.abspath(path)
    task = FilmTask(pack_kinds(footage.model), pickle.dumps(footage), place, fps, size, look)
    process = WorkProcess()
    try:
        found = process.ask(
            task, cancelled or (lambda: False), lambda line: progress(line.fraction) if progress is not None else None
        )
    except OSError as error:
        raise KinetostatError(f"The film process cannot be started: {error.strerror or error}.") from None
    finally:
        process.close()
    if isinstance(found, Left):
        return 0
    if isinstance(found, Lost):
        raise KinetostatError(
            f"The film cannot be finished: its process {found.how}.", remedy="Try a smaller size, or fewer frames."
        )
    return int(found)
