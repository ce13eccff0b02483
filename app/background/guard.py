"""Turns unhandled errors in the window into messages, with details in a log file, so that the user can go on
working."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import Any

import platformdirs

from core.errors import KinetostatError

_log = logging.getLogger("kinetostat")


def log_path() -> Path:
    """Return the path of the log file."""
    return Path(platformdirs.user_log_dir("kinetostat", appauthor=False)) / "kinetostat.log"


class Guard:
    """Turns exceptions into messages shown by the callback `tell(severity, text)`."""

    def __init__(self, tell: Callable[[str, str], object]) -> None:
        self._tell = tell
        self._before = sys.excepthook

    def install(self) -> None:
        """Also handle exceptions that reach the event loop."""
        if sys.excepthook != self._handle_uncaught:
            self._before = sys.excepthook
            sys.excepthook = self._handle_uncaught

    def remove(self) -> None:
        """Undo `install`."""
        if sys.excepthook == self._handle_uncaught:
            sys.excepthook = self._before

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function and return its result; after an error, report the error and return None."""
        try:
            return function(*arguments)
        except Exception as error:
            self.report(error)
            return None

    def report(self, error: BaseException) -> None:
        """Report an error: a KinetostatError with its own message, any other error as unexpected with its details in
        the log."""
        if isinstance(error, KinetostatError):
            self._tell("error", str(error))
            return
        details = "".join(traceback.format_exception(error))
        place = _log_location()
        _log.error(details)
        self._tell(
            "error",
            f"Unexpected error ({error or type(error).__name__}). "
            f"The open document is unchanged. Details are in {place}.",
        )

    def _handle_uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._before(kind, error, trace)
            return
        if threading.current_thread() is threading.main_thread():
            self.report(error)
        else:  # widgets belong to the window's thread
            _log_location()
            _log.error("".join(traceback.format_exception(error)))


class _LogFileHandler(RotatingFileHandler):
    """Handler of the log file that ignores errors of writing to it."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Ignore errors of writing the log."""


def _log_location() -> str:
    """Return where details are logged: the log file, opened on first use, or the terminal if there is no file."""
    if not _log.handlers:
        try:
            log_path().parent.mkdir(parents=True, exist_ok=True)
            handler: logging.Handler = _LogFileHandler(log_path(), maxBytes=1_000_000, backupCount=2, encoding="utf-8")
        except OSError:
            handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        _log.addHandler(handler)
    return str(log_path()) if isinstance(_log.handlers[0], _LogFileHandler) else "the terminal"
