"""Filming in a process of its own, so that neither a window nor its graphics wait for the drawing of frames."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Callable
from fractions import Fraction
from multiprocessing.connection import Connection
from typing import Any

from core.errors import KinetostatError
from core.kinds import for_other_processes, register
from core.model.unknown_kinds import own_kinds_of
from viz.film.film import Footage, shoot
from viz.look import LookName

LOOK_EVERY = 0.05
"""Seconds between two looks at what the other process tells."""


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
    """As `viz.film.film.shoot`, in another process. The caller's thread waits, without holding the interpreter.

    Raises KindError if the machine has kinds of people that another process cannot import.
    """
    kinds = for_other_processes(own_kinds_of(footage.model.expanded))
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    work = context.Process(target=_work, args=(there, kinds, footage, os.fspath(path), fps, size, look), daemon=True)
    work.start()
    there.close()
    asked_to_stop = False
    try:
        while True:
            if not asked_to_stop and cancelled is not None and cancelled():
                here.send("cancel")
                asked_to_stop = True
            if not here.poll(LOOK_EVERY):
                continue
            kind, value = here.recv()
            if kind == "progress" and progress is not None:
                progress(value)
            elif kind == "done":
                return int(value)
            elif kind == "failed":
                raise value
    except (EOFError, BrokenPipeError, ConnectionResetError):
        raise KinetostatError(
            "The film ended unexpectedly while it was drawn.", remedy="Try a smaller size, or fewer frames."
        ) from None
    finally:
        here.close()
        work.join(5.0)
        if work.is_alive():
            work.terminate()
            work.join(5.0)


def _work(
    wire: Connection,
    kinds: tuple[type[Any], ...],
    footage: Footage,
    path: str,
    fps: Any,
    size: tuple[int, int],
    look: LookName,
) -> None:
    """In the other process: draw, tell how far it is; stop when asked_to_stop, or when the first process is gone."""

    def progress(part: float) -> None:
        with contextlib.suppress(OSError):
            wire.send(("progress", part))

    def cancelled() -> bool:
        try:
            return wire.poll()
        except OSError:
            return True

    try:
        for kind in kinds:
            register(kind)
        wire.send(("done", shoot(footage, path, fps=fps, size=size, look=look, progress=progress, cancelled=cancelled)))
    except KinetostatError as error:
        wire.send(("failed", error))
    except Exception as error:
        wire.send(("failed", KinetostatError(f"The film cannot be drawn: {type(error).__name__}: {error}.")))
    finally:
        wire.close()
