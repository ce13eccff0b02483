"""Python interpreter of the console: completes the typed text and runs one command at a time in a separate thread.

What touches the session is done in the window's thread: `session` in the console is a stand-in that hands every call
over and waits for it. Output of the thread, and only of it, goes to the console.
"""

from __future__ import annotations

import ast
import ctypes
import dataclasses
import re
import rlcompleter
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, TextIO

from PySide6.QtCore import QObject, Qt, Signal

from app.document.picture_settings import PictureSettings
from app.document.session import Session
from app.panels.output.result_pictures import write_pictures
from core.errors import KinetostatError
from core.functions import FUNCTIONS, Context, call
from core.functions.options import Choice, ElementName, Flag, FrameName, FrameNames
from core.functions.results import Result

FILE = "<console>"
WAIT = 3.0
"""Time to wait for a stopped command when the console closes, s."""


class Interpreter(QObject):
    """Python interpreter of the console: `run(text)` executes a command; the signals `wrote(text, kind)` (kind "" or
    "error") and `ended()` report output and completion."""

    wrote = Signal(str, str)
    ended = Signal()
    _wanted = Signal(object, object)

    def __init__(self, session: Session, pictures: PictureSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._pictures = session, pictures
        self._names: dict[str, Any] = {"__name__": "__console__", "__builtins__": __builtins__}
        self._offered: dict[str, Any] = {}
        self._thread: threading.Thread | None = None
        self._stopping = False
        self.answering = False
        """True if output produced now is shown here."""
        self._wanted.connect(self._run_in_window, Qt.ConnectionType.QueuedConnection)
        self.ended.connect(self._join_thread, Qt.ConnectionType.QueuedConnection)

    # ----------------------------------------------------------------------------- names

    def namespace(self) -> dict[str, Any]:
        """Return the names that commands can use: the built-in ones with their current values, except those the user
        has reassigned."""
        import numpy

        import kinetostat

        session = self._session
        now: dict[str, Any] = {
            "ks": kinetostat,
            "np": numpy,
            "model": session.model,
            "mech": session.mech,
            "q": session.q.copy(),
            "p": dict(session.p),
            "session": _SessionProxy(session, self.in_window),
        }
        now |= {function: self._catalogue_function(function) for function in FUNCTIONS}
        for name, value in now.items():
            if name not in self._names or self._names[name] is self._offered.get(name):
                self._names[name] = value
                self._offered[name] = value
        return self._names

    def _catalogue_function(self, id: str) -> Callable[..., Result]:
        if id in self._offered:
            return self._offered[id]

        def function(**options: Any) -> Result:
            result = call(id, self.context(), **options)
            write_pictures(result, self.context())
            self.in_window(lambda: self._emit_result(result))
            return result

        function.__name__ = function.__qualname__ = id
        function.__doc__ = FUNCTIONS[id].help
        return function

    def _emit_result(self, result: Result) -> None:
        self.answering = True
        try:
            self._session.produced.emit(result)
        finally:
            self.answering = False

    def context(self) -> Context:
        """Return the machine as currently shown, for catalogue functions; these end when the running command is
        stopped."""

        def read_context() -> Context:
            return dataclasses.replace(self._pictures.context(), cancelled=lambda: self._stopping)

        return self.in_window(read_context)

    # ----------------------------------------------------------------------------- running

    @property
    def is_running(self) -> bool:
        """True while a command runs."""
        return self._thread is not None

    def run(self, text: str) -> None:
        """Execute a command in the background."""
        names = self.namespace()
        self._stopping = False
        self._thread = threading.Thread(target=self._execute, args=(text, names), name="console", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Interrupt the running command."""
        thread = self._thread
        if thread is not None and thread.ident is not None and thread.is_alive():
            self._stopping = True
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident), ctypes.py_object(KeyboardInterrupt)
            )

    def wait(self) -> bool:
        """Wait for the command to end; return True if it has ended."""
        thread = self._thread
        if thread is not None:
            thread.join(WAIT)
            return not thread.is_alive()
        return True

    def _execute(self, text: str, names: dict[str, Any]) -> None:
        with _CapturedOutput(self.wrote.emit):
            try:
                _run_command(text, names, self._show)
            except KinetostatError as error:
                self.wrote.emit(f"{error}\n", "error")
            except KeyboardInterrupt:
                self.wrote.emit("Stopped.\n", "error")
            except SystemExit:
                self.wrote.emit("The console stays open; close the window to leave.\n", "")
            except BaseException as error:  # whatever the person's text raises is shown to the person
                self.wrote.emit(_short_traceback(error), "error")
        self.ended.emit()

    def _show(self, value: object) -> None:
        """Print the value of an expression as Python does; results of functions are printed as text."""
        if value is None:
            return
        self._names["_"] = value
        text = value.to_text(degrees=True) if isinstance(value, Result) else repr(value)
        self.wrote.emit(text + "\n", "")

    def _join_thread(self) -> None:
        if self._thread is not None:
            self._thread.join(WAIT)
            self._thread = None

    # ----------------------------------------------------------------------------- the window's thread

    def in_window(self, action: Callable[[], Any]) -> Any:
        """Run an action in the window's thread and return its result."""
        if threading.current_thread() is not self._thread:
            return action()
        answer: Future[Any] = Future()
        self._wanted.emit(action, answer)
        while True:
            try:
                return answer.result(timeout=0.05)
            except TimeoutError:
                if self._stopping:
                    raise KeyboardInterrupt from None

    def _run_in_window(self, action: Callable[[], Any], future: Future[Any]) -> None:
        try:
            future.set_result(action())
        except BaseException as error:  # goes on in the console's thread
            future.set_exception(error)


def _run_command(text: str, names: dict[str, Any], show: Callable[[object], None]) -> None:
    """Execute a command and show the value of its last expression."""
    tree = ast.parse(text, FILE)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, FILE, "exec"), names)
    if isinstance(last, ast.Expr):
        show(eval(compile(ast.Expression(last.value), FILE, "eval"), names))


def _short_traceback(error: BaseException) -> str:
    """Return a traceback reduced to the lines that the user typed."""
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return "".join(traceback.format_exception_only(error))
    own = [entry for entry in traceback.extract_tb(error.__traceback__) if entry.filename == FILE]
    lines = [f"line {entry.lineno}, in {entry.name}\n" for entry in own] if len(own) > 1 else []
    return "".join([*lines, *traceback.format_exception_only(error)])


class _SessionProxy:
    """Proxy of the session for the console: attributes are read and methods called in the window's thread."""

    def __init__(self, target: Any, in_window: Callable[[Callable[[], Any]], Any]) -> None:
        object.__setattr__(self, "_target", target)
        object.__setattr__(self, "_in_window", in_window)

    def __getattr__(self, name: str) -> Any:
        value = self._in_window(lambda: getattr(self._target, name))
        if not callable(value):
            return value

        def call_in_window(*arguments: Any, **keywords: Any) -> Any:
            return self._in_window(lambda: value(*arguments, **keywords))

        call_in_window.__doc__ = value.__doc__
        return call_in_window

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("Change the machine with methods of the session, such as session.pose or session.apply.")

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._target) if not name.startswith("_")]

    def __repr__(self) -> str:
        return f"<session of {self._target.model.name}>"


class _CapturedOutput:
    """Context manager that sends everything printed by the current thread to `write(text, kind)`."""

    def __init__(self, write: Callable[[str, str], None]) -> None:
        self._write = write

    def __enter__(self) -> None:
        for name, kind in (("stdout", ""), ("stderr", "error")):
            stream = getattr(sys, name)
            if not isinstance(stream, _RoutedStream):
                stream = _RoutedStream(stream)
                setattr(sys, name, stream)
            stream.routes[threading.get_ident()] = partial(self._send, kind)

    def _send(self, kind: str, text: str) -> None:
        self._write(text, kind)

    def __exit__(self, *_: object) -> None:
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if isinstance(stream, _RoutedStream):
                stream.routes.pop(threading.get_ident(), None)
                if not stream.routes:
                    setattr(sys, name, stream.original)


class _RoutedStream:
    """Output stream that routes the text of selected threads elsewhere."""

    def __init__(self, original: TextIO | None) -> None:
        self.original = original
        self.routes: dict[int, Callable[[str], None]] = {}

    def write(self, text: str) -> int:
        """Send the text of a routed thread to its own target, other text to the original stream."""
        route = self.routes.get(threading.get_ident())
        if route is not None:
            route(text)
        elif self.original is not None:
            self.original.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the original stream."""
        if self.original is not None:
            self.original.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)


_WORD = re.compile(r"[\w.]*$")
_CALL = re.compile(r"(\w+)\(([^()]*)$")
_VALUE = re.compile(r"""(\w+)\s*=\s*["']([^"']*)$""")
MOST_COMPLETIONS = 200


def find_completions(before: str, namespace: dict[str, Any]) -> tuple[str, list[str]]:
    """Return the word before the cursor and its possible completions, for the text of a line up to the cursor."""
    called = _CALL.search(before)
    function = FUNCTIONS.get(called.group(1)) if called else None
    if called and function is not None:
        value = _VALUE.search(called.group(2))
        if value:
            return value.group(2), _option_values(function.option(value.group(1)), namespace, value.group(2)) if any(
                o.id == value.group(1) for o in function.options
            ) else []
        stem = _last_word(called.group(2))
        options = [f"{o.id}=" for o in function.options if o.id.startswith(stem)]
        if options and "." not in stem:
            return stem, options
    stem = _last_word(before)
    completer = rlcompleter.Completer(namespace)
    found: list[str] = []
    for state in range(MOST_COMPLETIONS):
        word = completer.complete(stem, state)
        if word is None:
            break
        found.append(word)
    public = [word for word in found if not word.rpartition(".")[2].startswith("_")]
    return stem, sorted(dict.fromkeys(public or found))


def _last_word(text: str) -> str:
    match = _WORD.search(text)
    return match.group() if match else ""


def _option_values(option: Any, namespace: dict[str, Any], stem: str) -> list[str]:
    """Return the names or words that an option accepts and that begin with `stem`."""
    words: tuple[str, ...] = ()
    if isinstance(option, Choice):
        words = option.choices
    elif isinstance(option, Flag):
        words = ("yes", "no")
    elif isinstance(option, ElementName | FrameName | FrameNames):
        words = option.selectable_names(Context(namespace["model"], namespace["mech"], namespace["q"]))
    return [word for word in words if word.startswith(stem)]
